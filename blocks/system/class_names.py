"""How is an unknown of the reduced system called?"""

from __future__ import annotations

import numpy as np

from ..assembly.flatten import Flat

__all__ = ["ClassNames"]


class ClassNames:
    """The most telling variable path of every class, made when asked for."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        rank = np.empty(flat.slots, dtype=int)
        for base, size, f, (i, order) in flat.slot_runs:
            kind = flat.network.families[f].kernel.variables[i].kind
            of_port = kind in ("across", "through", "shared")
            rank[base : base + size] = order * 4 + of_port * 2 + (kind == "input")
        ranked = np.lexsort((np.arange(flat.slots), rank, flat.class_of))
        first = np.unique(flat.class_of[ranked], return_index=True)
        #: The slot that names a class.
        self.slot: dict[int, int] = dict(
            zip(first[0].tolist(), ranked[first[1]].tolist(), strict=True))

    def __getitem__(self, c: int) -> str:
        if c in self.slot:
            return self.flat.at_slot(self.slot[c]).name
        parents = np.flatnonzero(self.flat.derivative == c)
        if len(parents):
            return f"der({self[int(parents[0])]})"
        raise KeyError(c)
