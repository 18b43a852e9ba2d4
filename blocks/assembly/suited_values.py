"""Do other values of parameters suit the order in which a system's unknowns are solved for?

Which equation gives which unknown is chosen by the coefficients that a model has when it is
compiled: none that is zero, and no chain of assignments that loses many digits. Other values
may ask for another order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics.arrays import Array, Indices
from .algebraic_loops import Block, Pairs, amplify
from .flatten import Group, Parameters

__all__ = ["SuitedValues"]

ALIKE = 4.0  # values that differ by no more than this factor need no second look


class SuitedValues:
    """Parameters by whose values something was chosen.

    Parameters
    ----------
    values : per family, parameter values as kernel arguments, (size, n) each
    layout : family, name, offset and width of every parameter in ``p``
    solved : groups, the position of the argument that they are solved for, and which rows
    blocks : torn blocks
    pairs : gives their pairs and coefficients for other values
    """

    def __init__(self, values: Parameters, layout: list[tuple[int, str, int, int]],
                 solved: list[tuple[Group, int, Indices]], blocks: list[Block],
                 pairs: Callable[[Parameters], Pairs], groups: list[Group]) -> None:
        self._solved = [(group, k, rows) for group, k, rows in solved
                        if group.law is not None and group.law.slopes[k] == "parameter"]
        self._blocks, self._pairs, self._layout = blocks, pairs, layout
        self._sizes = [p[0].shape[1] if p else 0 for p in values]
        deciding = {group.family for group, _, _ in self._solved} | {
            group.family for group in groups
            if group.law is not None and "parameter" in group.law.slopes}
        inside = [np.arange(offset, offset + width * self._sizes[f])
                  for f, _, offset, width in layout if f in deciding]
        self._entries = np.concatenate([np.zeros(0, dtype=int), *inside])
        #: Whether any values do.
        self.decide = bool(len(self._entries))
        flat = [np.asarray(block).T.ravel() for family in values for block in family]
        self._known = np.concatenate([np.zeros(0), *flat])[self._entries]

    def suit(self, p: Array) -> bool:
        """Whether a system solved as it is keeps its digits with these parameters."""
        now = p[self._entries]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = now / self._known
            alike = (now == self._known) | (ratio > 1 / ALIKE) & (ratio < ALIKE)
        return bool(alike.all()) or self._is_solvable(p)

    def _is_solvable(self, p: Array) -> bool:
        values: Parameters = [[] for _ in self._sizes]
        for f, _, offset, width in self._layout:
            n = self._sizes[f]
            values[f].append(p[offset : offset + width * n].reshape(n, width).T)
        for group, k, rows in self._solved:
            assert group.law is not None
            mine = [v[:, group.instances[rows]] for v in values[group.family]]
            slope = np.asarray(group.law.slopes_at(k, mine))
            if not (np.isfinite(slope) & (slope != 0)).all():
                return False
        if not self._blocks:
            return True
        pairs = self._pairs(values)
        found = {(e, c): at >= 0 for e, c, at in zip(*pairs.pairs[:3].tolist(), strict=True)}
        return all(found[pair] for block in self._blocks for pair in zip(
            block.solved.tolist(), block.assigned.tolist(), strict=True)) and not amplify(
                self._blocks, pairs).any()
