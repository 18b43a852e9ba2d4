"""Which rows of the tables of time hold now?

A table over time is a straight line or a cubic between two of its points. The present one stands
among the discrete values, found by search where a run begins and at every point; to the equations
it is a few numbers. Knows no method.
"""

from __future__ import annotations

import numpy as np

from ..assembly import Tape
from ..assembly.network import Network
from ..numerics.arrays import Array, Indices, distinct

__all__ = ["TimeTables"]


class TimeTables:
    """The tables of time of a system.

    Attributes
    ----------
    slots : places of their rows among the discrete values
    continuous : those of tables without steps
    """

    def __init__(self, network: Network, tape: Tape) -> None:
        offset = {(f, i): o for f, i, o in tape.discrete_layout}
        self._tables = [(f, table) for f, family in enumerate(network.families)
                        for table in family.kernel.tables]
        self._sizes = [network.families[f].size for f, _ in self._tables]
        places = [np.concatenate([offset[f, i] + np.arange(size) for i in table.row])
                  for (f, table), size in zip(self._tables, self._sizes, strict=True)]
        self.slots: Indices = np.concatenate([np.zeros(0, dtype=int), *places])
        smooth = [at for at, (_, table) in zip(places, self._tables, strict=True)
                  if table.is_continuous]
        self.continuous: Indices = np.concatenate([np.zeros(0, dtype=int), *smooth])

    def rows(self, t: Array) -> Array:
        """What holds from times on, (slots, times)."""
        found = [np.repeat(table(t), size, axis=0)
                 for (_, table), size in zip(self._tables, self._sizes, strict=True)]
        return np.concatenate([np.zeros((0, len(t))), *found])

    def fill(self, d: Array, t: float) -> None:
        """Bring the discrete values in line with what holds from ``t`` on."""
        if self._tables:
            d[self.slots] = self.rows(np.array([t]))[:, 0]

    def instants(self, start: float, end: float) -> Array:
        """Times between two others at which another row begins to hold."""
        every = distinct(np.concatenate(
            [np.zeros(0), *(table.starts for _, table in self._tables)]))
        return every[(every > start) & (every < end)]
