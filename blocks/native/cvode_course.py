"""What CVODE in machine code keeps of an episode: a polynomial for every step.

The rows of its Nordsieck array are the polynomial by which CVODE itself interpolates; reading is
evaluating it, and solves nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np

from ..numerics.arrays import Array, Indices
from ..solvers.base import Step
from ..solvers.interpolation import chebyshev_nodes
from .cvode import Record, values_between

__all__ = ["CvodeCourse", "is_full"]

CHUNK = 1 << 21  # numbers gathered at a time by a query
MOST_BYTES = 1 << 30  # of polynomials of full degree
CUBIC = 4  # rows of a cubic


def is_full(record: Record, taken: int) -> bool:
    """Whether the room for rows is so full that a course keeps it as it is."""
    return bool(2 * record.first[taken] > record.values.size)


@cache
def _to_cubic(count: int) -> Array:
    """What makes rows of a cubic of ``count`` rows of a polynomial, over the step before 0."""
    nodes = (chebyshev_nodes(CUBIC) - 1.0) / 2.0
    powers = nodes[:, None] ** np.arange(count)
    cubic: Array = np.asarray(np.linalg.solve(nodes[:, None] ** np.arange(CUBIC), powers), float)
    return cubic


def _as_cubics(values: Array, first: Indices, n: int) -> tuple[Array, Indices]:
    """Rows of steps of which none has more than four, and where each step begins."""
    steps = [values[a:b].reshape(-1, n) for a, b in zip(first[:-1], first[1:], strict=True)]
    short = [rows if len(rows) <= CUBIC else _to_cubic(len(rows)) @ rows for rows in steps]
    return np.concatenate([rows.ravel() for rows in short]), np.cumsum(
        [0, *(rows.size for rows in short)])


class CvodeCourse:
    """The steps of an episode, as a :class:`~blocks.solvers.Trajectory` is asked.

    Once the polynomials take more than :data:`MOST_BYTES`, those of later steps are cubics through
    both ends and two points between, as of other methods; ``coarse_from`` is the time from which.

    Parameters
    ----------
    t, x : the start, in units of the model
    scale : of the solver's unknowns
    order : which unknown of the model stands where in the steps
    """

    solved = None  # nothing is carried along

    def __init__(self, t: float, x: Array, scale: Array, order: Indices) -> None:
        self._start, self._scale, self._order = float(t), scale, order
        self._first_values = x.copy()
        self.coarse_from: float | None = None
        self._ends = [np.array([self._start])]
        self._centres: list[Array] = []
        self._sizes: list[Array] = []
        self._blocks: list[tuple[Array, Indices]] = []  # rows of steps, and where each begins
        self._counts: list[int] = []  # steps of a block

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self._scale.size

    @property
    def start(self) -> float:
        return self._start

    @property
    def end(self) -> float:
        return float(self._ends[-1][-1])

    @property
    def t(self) -> Array:
        """Start and the end of every step."""
        self._gather()
        return self._ends[0].copy()

    @property
    def y(self) -> Array:
        """(n, k) values at ``t``."""
        return self(self.t)

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        return sum(a.nbytes for a in (*self._ends, *self._centres, *self._sizes)) + sum(
            values.nbytes + first.nbytes for values, first in self._blocks)

    def extend(self, record: Record, taken: int) -> None:
        """Add the first steps of a record, which is given away where they fill most of it."""
        self._ends.append(record.ends[:taken].copy())
        self._centres.append(record.centres[:taken].copy())
        self._sizes.append(record.sizes[:taken].copy())
        self._counts.append(taken)
        first = record.first[: taken + 1].copy()
        values = record.values[: first[-1]]
        if self.coarse_from is not None or self.nbytes + values.nbytes > MOST_BYTES:
            if self.coarse_from is None:
                self.coarse_from = float(self._ends[-2][-1])
            values, first = _as_cubics(values, first, self.size)
        elif not is_full(record, taken):
            values = values.copy()
        self._blocks.append((values, first))

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

    def __call__(self, t: Any, side: Literal["left", "right"] = "right") -> Array:
        """Values at times ``t``, (n, k); a scalar time gives (n,)."""
        asked = np.asarray(t, dtype=float)
        times = asked.reshape(-1)
        outside = ~((times >= self.start) & (times <= self.end))
        if outside.any():
            raise ValueError(f"t = {times[outside][0]:.9g} is outside the run, "
                             f"which goes from {self.start:.9g} to {self.end:.9g}")
        self._gather()
        # an end belongs to the step before it
        steps = np.searchsorted(self._ends[0], times, side="left") - 1
        out = np.empty((times.size, self.size))
        out[steps < 0] = self._first_values
        inner = np.flatnonzero(steps >= 0)
        part = max(1, CHUNK // max(self.size, 1))
        for k in range(0, inner.size, part):
            some = inner[k : k + part]
            out[some] = self._inside(times[some], steps[some])
        return self._shown(out).reshape((self.size, *asked.shape))

    # -- within ------------------------------------------------------------------------
    def _gather(self) -> None:
        """Times of all steps in one array each."""
        for kept in (self._ends, self._centres, self._sizes):
            if len(kept) > 1:
                kept[:] = [np.concatenate(kept)]

    def _shown(self, rows: Array) -> Array:
        return (rows / self._scale).T

    def _inside(self, times: Array, steps: Indices) -> Array:
        """(k, n) values inside steps, in units and order of the model."""
        self._gather()
        parts = (times - self._centres[0][steps]) / self._sizes[0][steps]
        out = np.empty((times.size, self.size))
        begins = np.concatenate([[0], np.cumsum(self._counts)])
        of_block = np.searchsorted(begins, steps, side="right") - 1
        for b in np.unique(of_block):
            here = np.flatnonzero(of_block == b)
            rows = np.empty((here.size, self.size))
            values_between(*self._blocks[b], steps[here] - begins[b], parts[here], rows)
            if self._order.size:
                out[here[:, None], self._order] = rows
            else:
                out[here] = rows
        return out
