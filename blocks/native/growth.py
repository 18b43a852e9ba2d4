"""Small changes of the states along the courses of the explicit pair."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..machine.functions import Kept
from ..numerics.arrays import Array, Indices
from . import variations
from .courses import Retaken
from .stages import sparse_product, weighted_sum

__all__ = ["Growth", "NotFollowed"]

ROWS = 256  # steps that are taken in a call


class NotFollowed(Exception):
    """The steps became too small, or the equations are not finite."""


@cache
def tableau() -> Kept:
    """The method of order 8 with its nodes in the order of time."""
    from scipy.integrate import DOP853

    c = DOP853.C
    weights = [*(DOP853.A[j, :j] for j in range(1, variations.STAGES)), DOP853.B,
               DOP853.E5, DOP853.E3]  # fmt: skip
    order = np.argsort(c, kind="stable")
    return Kept(variations.Tableau(
        np.array([weighted_sum(w.tolist()) for w in weights], dtype=np.int64), c[order],
        np.argsort(order)))


class Growth:
    """Carries changes along courses.

    Parameters
    ----------
    size : of the points of a course
    address : of the derivatives of slopes that are not always zero
    row, column : where they stand; columns by states, parameters, discrete values
    scale : units in which states are about equally large
    tolerance : of a step, in parts of the largest change so far
    dp : changes of the parameters, (parameters that move, directions)
    discrete : how many discrete values there are
    """

    def __init__(self, size: int, address: int, row: Indices, column: Indices,
                 scale: Array, tolerance: float, dp: Array, discrete: int) -> None:
        n, count, nodes, lanes = len(scale), dp.shape[1], variations.NODES, variations.LANES
        self.shape = n, count
        self._dp = dp
        self._equations = Kept(variations.Equations(
            address, sparse_product(tuple(zip(row.tolist(), column.tolist(), strict=True)), n,
                                    lanes), 1.0 / scale, tolerance))
        given = (n + len(dp) + discrete) * count
        entries = np.zeros((nodes // lanes, len(row) * lanes))
        places = entries.ctypes.data + entries.itemsize * (
            np.arange(nodes) // lanes * entries.shape[1] + np.arange(nodes) % lanes)
        self._changes = variations.Changes(
            np.zeros(given), np.zeros(given), np.zeros((variations.STAGES, n * count)),
            np.zeros((nodes, size)), np.zeros(size * lanes), entries, places, np.zeros(count),
            np.zeros(count), np.zeros(2), np.zeros(nodes, dtype=int), np.zeros(nodes),
            np.zeros(size), np.zeros(lanes), np.zeros(n * count), np.zeros((2, n * count)),
            np.zeros(2), np.array([n * count]), np.array([count]), np.zeros(5, dtype=int),
            np.array([-1]))
        self._kept = Kept(self._changes)

    def begin(self, x: Array, d: Array) -> None:
        """Changes of states and discrete values from which the next call goes on."""
        self._changes.now[:] = np.concatenate([x.ravel(), self._dp.ravel(), d.ravel()])
        self._changes.inner[:] = self._changes.now

    @property
    def now(self) -> Array:
        """Changes of states where the last call ended."""
        size = self.shape[0] * self.shape[1]
        return self._changes.now[:size].reshape(self.shape).copy()

    def along(self, track: Retaken, crossings: variations.Crossings, course: int
              ) -> tuple[int, tuple[Array, Indices, Array]]:
        """Steps from a course of a track on, up to an event that has to be carried out otherwise.

        Returns
        -------
        The last course; of all steps: starts, in which of the track's steps, changes there
        """
        begun, why, size = np.array([course, 0]), variations.FULL, self.now.size
        found: list[tuple[Array, Indices, Array]] = []
        while why == variations.FULL:
            times, first = np.empty(ROWS), np.empty(ROWS, dtype=int)
            rows = np.empty((ROWS, size))
            taken, why = variations.grow(track.code, track.work, track.steps, track.track,
                                         crossings, self._equations, tableau(), self._kept, begun,
                                         times, first, rows)
            found.append((times[:taken], first[:taken], rows[:taken]))
        if why == variations.GIVEN_UP:
            raise NotFollowed
        times, first, rows = (np.concatenate(k) for k in zip(*found, strict=True))
        return int(begun[0]), (times, first, rows)

    def inside(self, track: Retaken, begin: Array, first: Indices, last: Indices, rows: Array,
               d: Array, times: Array) -> Array:
        """Changes at times in steps, (times, n, directions); as :func:`.variations.grow_inside`.
        """
        out = np.empty((len(times), rows.shape[1]))
        self.begin(np.zeros(self.shape), np.zeros(d.shape[1:]))
        variations.grow_inside(track.code, track.work, track.steps, track.track, self._equations,
                               tableau(), self._kept, begin, first, last, rows,
                               d.reshape(len(times), d.shape[1] * d.shape[2]), times, out)
        return out.reshape(len(times), *self.shape)
