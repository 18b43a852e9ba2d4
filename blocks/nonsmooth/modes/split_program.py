"""Which split of stuck efforts takes the smallest largest share of the bounds, in large groups?

A sparse linear program. Where it is asked for again as efforts change, the internal stress of the
last splits makes another one, which is an upper bound of the share; and what the program's dual
variables come to is a lower one, whatever the efforts. Often that is enough.
"""

from __future__ import annotations

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags
from ...numerics.tolerances import CLEAR_ROOM, SPLIT_FEASIBLE, SPLIT_SAME, SPLIT_TIGHT
from ..complementarity.minimax import half_range
from .delassus import Matrix

__all__ = ["SplitProgram", "shares"]


def shares(effort: Array, low: Array, high: Array) -> Array:
    """Share of the bounds that efforts take: 1 at a bound, 0 in the middle."""
    return 1 - np.minimum(high - effort, effort - low) / half_range(low, high)


class SplitProgram:
    """The linear program of some elements.

    Changes y of efforts, in units of half the range: ``d half y = 0``, and the share of every bound
    is no more than s, which is made as small as possible.

    Parameters
    ----------
    d : change of their rates by their efforts, with its sign turned
    low, high : their bounds

    Attributes
    ----------
    tight : which efforts were at the share in every split that takes the smallest, at the last look
    """

    def __init__(self, d: Matrix, low: Array, high: Array) -> None:
        from scipy.sparse import hstack, vstack

        n = len(low)
        d = sp.csc_matrix(d)
        self.low, self.high, self._half = low, high, half_range(low, high)
        self._up, self._down = np.isfinite(high), np.isfinite(low)
        size, eye = 1 / np.sqrt(d.diagonal()), sp.diags_array(np.ones(n)).tocsr()
        self._same = hstack([sp.diags_array(size) @ d @ sp.diags_array(self._half),
                             sp.csc_matrix((n, 1))]).tocsr()
        self._rows = vstack([hstack([eye[self._up], -np.ones((self._up.sum(), 1))]),
                             hstack([-eye[self._down], -np.ones((self._down.sum(), 1))])]).tocsr()
        self._found: list[tuple[Array, Array, Array]] = []  # efforts, stress and prices, lately
        self.tight: Flags = np.ones(n, dtype=bool)

    def fits(self, low: Array, high: Array) -> bool:
        """Whether these are the bounds."""
        return np.array_equal(low, self.low) and np.array_equal(high, self.high)

    def known(self, effort: Array) -> tuple[float, Array]:
        """A share that is on the same side of 1 as the smallest largest one, or the same but for
        rounding, and efforts that take it, if it is less; nan where neither is known.

        Stress changes with the efforts on a straight line, where the same bounds hold it.
        """
        if not self._found:
            return np.nan, effort
        (before, early, _), (last, stress, _) = self._found[0], self._found[-1]
        trials = [effort + stress]
        way = last - before
        if way.any():
            part = (effort - before) @ way / (way @ way)
            trials.append(effort + early + part * (stress - early))
        most = [float(shares(trial, self.low, self.high).max()) for trial in trials]
        best, right = int(np.argmin(most)), self._right(effort)
        least = max(float(right @ prices) for *_, prices in self._found)
        if most[best] < 1 - CLEAR_ROOM or most[best] - least <= SPLIT_SAME:
            return most[best], trials[best]
        return (least if least > 1 + CLEAR_ROOM else np.nan), effort

    def best(self, effort: Array) -> tuple[float, Array]:
        """The smallest largest share of the bounds, and efforts that take it, of the same effect.
        """
        from scipy.optimize import linprog

        n = len(effort)
        found = linprog(np.append(np.zeros(n), 1.0), self._rows, self._right(effort), self._same,
                        np.zeros(n), bounds=(None, None), method="highs", options={
                            "primal_feasibility_tolerance": SPLIT_FEASIBLE,
                            "dual_feasibility_tolerance": SPLIT_FEASIBLE})  # fmt: skip
        if found.x is None:
            self.tight = np.ones(n, dtype=bool)
            return float(shares(effort, self.low, self.high).max()), effort
        owner = np.concatenate([np.flatnonzero(self._up), np.flatnonzero(self._down)])
        prices, stress = found.ineqlin.marginals, self._half * found.x[:-1]
        self._found = [*self._found[-1:], (effort.copy(), stress, prices)]
        self.tight = np.zeros(n, dtype=bool)
        self.tight[owner[np.abs(prices) > SPLIT_TIGHT]] = True
        return float(found.x[-1]), effort + stress

    def _right(self, effort: Array) -> Array:
        """What the rows may come to."""
        return np.concatenate([((self.high - effort) / self._half - 1)[self._up],
                               ((effort - self.low) / self._half - 1)[self._down]])
