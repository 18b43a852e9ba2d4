"""What CVODE in machine code keeps of an episode: a polynomial for every step.

The rows of its Nordsieck array are the polynomial by which CVODE itself interpolates; reading is
evaluating it, and solves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..numerics.arrays import Array, Indices
from ..solvers.base import Step
from ..solvers.interpolation import chebyshev_nodes
from ..solvers.pieces import Pieces
from ..solvers.trajectory import refuse_outside
from .cvode import Record, values_between

__all__ = ["CvodeCourse", "is_full"]

CHUNK = 1 << 21  # numbers gathered at a time by a query
ALL = slice(None)
NODES = 6  # of the polynomials of steps that are put together: as of the highest order


def is_full(record: Record, taken: int) -> bool:
    """Whether the room for rows is so full that a course keeps it as it is."""
    return bool(2 * record.first[taken] > record.values.size)


class CvodeCourse:
    """The steps of an episode, as a :class:`~blocks.solvers.Trajectory` is asked.

    After :meth:`thin`, pairs of steps, and of what pairs have become, are one polynomial.

    Parameters
    ----------
    t, x : the start, in units of the model
    scale : of the solver's unknowns
    order : which unknown of the model stands where in the steps
    places : of the solver's unknowns among those of the model
    solved : solves for what is carried along with them, in rows of points at times; or None
    """

    def __init__(self, t: float, x: Array, scale: Array, order: Indices, places: Any = ALL,
                 solved: Callable[[Array, Array], Array] | None = None) -> None:
        self.start, self._scale, self._order = float(t), scale, order
        self._places, self._solve, self._width = places, solved, x.size
        self._first_values = x.copy()
        self._thinned: Pieces | None = None  # before the steps, in units of the model
        self._together = 1  # steps in its pieces
        self.nbytes = 2 * x.nbytes  # memory of what is kept
        self._ends = [np.array([self.start])]
        self._centres: list[Array] = []
        self._sizes: list[Array] = []
        self._blocks: list[tuple[Array, Indices]] = []  # rows of steps, and where each begins
        self._counts: list[int] = []  # steps of a block

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self._scale.size

    @property
    def solved(self) -> Any:
        """States and algebraic unknowns at times, (n, k), where these are carried along."""
        return None if self._solve is None else self._solved

    def _solved(self, times: Array) -> Array:
        assert self._solve is not None
        return self._solve(times, self._at(times)).T

    @property
    def end(self) -> float:
        return float(self._ends[-1][-1])

    @property
    def t(self) -> Array:
        """Start and the end of every step, or of every piece where the course was thinned."""
        self._gather()
        if self._thinned is None:
            return self._ends[0].copy()
        return np.concatenate([self._thinned.starts, self._ends[0]])

    @property
    def y(self) -> Array:
        """(n, k) values at ``t``."""
        return self(self.t)

    def extend(self, record: Record, taken: int) -> None:
        """Add the first steps of a record, which is given away where they fill most of it."""
        self._ends.append(record.ends[:taken].copy())
        self._centres.append(record.centres[:taken].copy())
        self._sizes.append(record.sizes[:taken].copy())
        self._counts.append(taken)
        first = record.first[: taken + 1].copy()
        values = record.values[: first[-1]]
        if not is_full(record, taken):
            values = values.copy()
        self._blocks.append((values, first))
        self.nbytes += 3 * record.ends[:taken].nbytes + first.nbytes + (
            values.nbytes if values.base is None else values.base.nbytes)

    def thin(self) -> float:
        """Put pairs of steps together; returns by how much values between are off at most."""
        self._gather()
        ends = self._ends[0]
        width = self._width
        pieces = Pieces(width, NODES) if self._thinned is None else self._thinned
        length = max(1, CHUNK // max(1, width * NODES))
        nodes = (chebyshev_nodes(NODES) + 1.0) / 2.0
        for k in range(0, len(ends) - 1, length):
            low, high = ends[:-1][k : k + length], ends[1:][k : k + length]
            at = low[:, None] + (high - low)[:, None] * nodes
            at[:, -1] = high
            rows = self._of_steps(at.ravel())
            pieces.append(low, high, rows.reshape(len(low), NODES, width))
        last = self._of_steps(ends[-1:])[0]
        self._together *= 2
        thinned, off = pieces.thinned(self._together)
        self._begin_anew(last)
        self._thinned = thinned
        self.nbytes += thinned.nbytes
        return float((off[..., self._places] / self._scale).max(initial=0.0))

    def forget(self) -> None:
        """Keep the end alone: steps go on from there."""
        self._begin_anew(self._of_steps(np.array([self.end]))[0])
        self._thinned = None

    def _begin_anew(self, last: Array) -> None:
        """Without steps, at the end."""
        self._first_values, self._ends = last, [np.array([self.end])]
        self._centres, self._sizes, self._blocks, self._counts = [], [], [], []
        self.nbytes = 2 * last.nbytes

    def hold(self, until: float, x: Array) -> None:
        """Add a step over a few units in the last place of time, in which nothing moves."""
        values = x if not self._order.size else x[self._order]
        one = np.array([until])
        self.extend(Record(one, one, np.ones(1), np.array([0, x.size]), values.copy()), 1)

    def append(self, step: Step, until: float | None = None) -> None:
        """End the course inside its last step, if ``until`` is given; the step stands in it."""
        if step.failure:
            raise ValueError(f"a failed step has no course to keep: {step.failure}")
        if until is not None:
            self._ends[-1][-1] = float(until)

    def inside_last(self, t: Any) -> Array:
        """The last step's own dense output."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        steps = np.full(times.size, sum(self._counts) - 1)
        return self._shown(self._inside(times, steps)).reshape((self.size, *np.shape(t)))

    def __call__(self, t: Any) -> Array:
        """Values at times ``t``, (n, k); a scalar time gives (n,)."""
        asked = np.asarray(t, dtype=float)
        return self._shown(self._at(asked.reshape(-1))).reshape((self.size, *asked.shape))

    # -- within ------------------------------------------------------------------------
    def _gather(self) -> None:
        """Times of all steps in one array each."""
        for kept in (self._ends, self._centres, self._sizes):
            if len(kept) > 1:
                kept[:] = [np.concatenate(kept)]

    def _at(self, times: Array) -> Array:
        """(k, n) values at times, in units and order of the model."""
        self._gather()
        border = float(self._ends[0][0])
        begins = border if self._thinned is None else float(self._thinned.times[0])
        refuse_outside(times, begins, self.end)
        out = np.empty((times.size, self._width))
        early = times < border
        if self._thinned is not None and early.any():
            out[early] = self._thinned(times[early])
        out[~early] = self._of_steps(times[~early])
        return out

    def _of_steps(self, times: Array) -> Array:
        """(k, n) values from the first of the steps on, in units and order of the model."""
        # an end belongs to the step before it
        steps = np.searchsorted(self._ends[0], times, side="left") - 1
        out = np.empty((times.size, self._width))
        out[steps < 0] = self._first_values
        inner = np.flatnonzero(steps >= 0)
        part = max(1, CHUNK // max(self._width, 1))
        for k in range(0, inner.size, part):
            some = inner[k : k + part]
            out[some] = self._inside(times[some], steps[some])
        return out

    def _shown(self, rows: Array) -> Array:
        return (rows[:, self._places] / self._scale).T

    def _inside(self, times: Array, steps: Indices) -> Array:
        """(k, n) values inside steps, in units and order of the model."""
        self._gather()
        parts = (times - self._centres[0][steps]) / self._sizes[0][steps]
        out = np.empty((times.size, self._width))
        begins = np.concatenate([[0], np.cumsum(self._counts)])
        of_block = np.searchsorted(begins, steps, side="right") - 1
        for b in np.unique(of_block):
            here = np.flatnonzero(of_block == b)
            rows = np.empty((here.size, self._width))
            values_between(*self._blocks[b], steps[here] - begins[b], parts[here], rows)
            if self._order.size:
                out[here[:, None], self._order] = rows
            else:
                out[here] = rows
        return out
