"""Small changes of the states along the courses of the explicit pair."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..numerics.arrays import Array, Indices
from . import variations
from .functions import Kept
from .method import Retaken
from .stages import weighted_sum

__all__ = ["Growth", "NotFollowed"]

ROWS = 256  # steps that are taken in a call


class NotFollowed(Exception):
    """The steps became too small, or the equations are not finite."""


@cache
def tableau() -> Kept:
    """The method of order 8 with its nodes in the order of time."""
    from scipy.integrate import DOP853

    c, last = DOP853.C, variations.NODES - 1
    weights = [*(DOP853.A[j, :j] for j in range(1, variations.STAGES)), DOP853.B,
               DOP853.E5, DOP853.E3]  # fmt: skip
    order = np.argsort(c, kind="stable")
    return Kept(variations.Tableau(
        np.array([weighted_sum(w.tolist()) for w in weights], dtype=np.int64), c[order],
        np.append(np.argsort(order), last)))


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
        n, count, nodes = len(scale), dp.shape[1], variations.NODES
        self.shape = n, count
        self._dp = dp
        self._equations = Kept(variations.Equations(
            address, row, column, scale, tolerance))
        given = (n + len(dp) + discrete) * count
        self._changes = variations.Changes(
            np.zeros(given), np.zeros(given), np.zeros((variations.STAGES + 1, n * count)),
            np.zeros((nodes, size)), np.zeros((nodes, len(row))), np.zeros(count),
            np.zeros(2), np.zeros(nodes, dtype=int), np.zeros(nodes), np.zeros(size),
            np.zeros(1), np.zeros(0), np.zeros(n * count), np.zeros((2, n * count)), np.zeros(2),
            np.array([n * count]), np.zeros(5, dtype=int))
        self._kept = Kept(self._changes)

    def along(self, course: Retaken, x: Array, d: Array) -> tuple[Array, Indices, Array, Array]:
        """The steps to the end of a course: starts, in which of its steps, changes there; the end.
        """
        ends = course.ends
        found: list[tuple[Array, Indices, Array]] = []
        self._begin(x, d, float(course.steps.starts[0]) if len(ends) else 0.0,
                    float(self._changes.clock[1]))
        why = variations.FULL if len(ends) else variations.DONE
        while why == variations.FULL:
            times, first = np.empty(ROWS), np.empty(ROWS, dtype=int)
            rows = np.empty((ROWS, x.size))
            taken, why = variations.grow(course.code, course.work, course.steps, ends,
                                         self._equations, tableau(), self._kept, times, first,
                                         rows)
            found.append((times[:taken], first[:taken], rows[:taken]))
        if why == variations.GIVEN_UP:
            raise NotFollowed
        times, first, rows = (np.concatenate(k) for k in zip(*found, strict=True)) if found else (
            np.zeros(0), np.zeros(0, dtype=int), np.zeros((0, x.size)))
        return times, first, rows, self._changes.now[: x.size].reshape(self.shape).copy()

    def inside(self, course: Retaken, starts: Array, first: Indices, rows: Array, d: Array,
               times: Array) -> Array:
        """Changes at times in the steps that begin at ``starts``, (times, n, directions)."""
        out = np.empty((len(times), *self.shape))
        for k, (start, row, t) in enumerate(zip(starts, rows, times, strict=True)):
            self._begin(row, d, float(start))
            variations.grow_to(course.code, course.work, course.steps, course.ends,
                               self._equations, tableau(), self._kept, int(first[k]), float(t))
            out[k] = self._changes.now[: row.size].reshape(self.shape)
        return out

    def _begin(self, x: Array, d: Array, t: float, step: float = 0.0) -> None:
        self._changes.now[:] = np.concatenate([x.ravel(), self._dp.ravel(), d.ravel()])
        self._changes.inner[:] = self._changes.now
        self._changes.clock[:] = t, step
