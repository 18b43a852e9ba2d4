"""What values did the unknowns take at any time of a run?

Knows accepted steps only: no method, names or units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array, Indices
from .base import Step
from .interpolation import basis, chebyshev_nodes, unit_interval

__all__ = ["Trajectory"]

FEWEST_NODES = 4
CHUNK = 1 << 21  # numbers gathered at a time by a query


class Trajectory:
    """The accepted steps of a run as polynomial pieces, at events with both limits.

    Every step is stored as the values of its dense output at K Chebyshev-Lobatto
    nodes, both ends among them, and evaluated by barycentric interpolation. With
    K = order + 1 this is exact for a dense output of the method's own degree.

    Memory is n K numbers a step. Once that would exceed ``max_bytes``, later steps
    keep only four nodes, that is the cubic through them: memory still grows, but
    by four numbers an unknown and step, and inside such steps the accuracy is that
    of a cubic; at the ends of the steps nothing is lost. ``coarse_from`` is the
    time from which this holds.

    Parameters
    ----------
    t, y : the start of the run
    order : of the method; gives the number of nodes, at least four
    max_bytes : of node values kept at full accuracy

    Examples
    --------
    >>> import numpy as np
    >>> line = Step(0.0, 2.0, np.array([4.0]), lambda t: 2.0 * np.asarray(t)[None, :])
    >>> run = Trajectory(0.0, [0.0])
    >>> run.append(line)
    >>> run([0.5, 1.5])
    array([[1., 3.]])
    """

    #: Gives what was solved for beside the unknowns, where that is kept.
    solved: Callable[[Array], Array] | None = None

    def __init__(self, t: float, y: ArrayLike, *, order: int = 5, max_bytes: float = 2**30) -> None:
        y = np.array(y, dtype=float)
        self.nodes = max(FEWEST_NODES, order + 1)
        self.max_bytes = max_bytes
        self.coarse_from: float | None = None
        self._fine = _Pieces(y.size, self.nodes)
        self._coarse = _Pieces(y.size, FEWEST_NODES)
        self._ends = _Rows(1 + y.size)  # t and y of the start, every step and every restart
        self._ends.append(np.concatenate(([t], y)))

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self._ends.width - 1

    @property
    def start(self) -> float:
        return float(self._ends.rows[0, 0])

    @property
    def end(self) -> float:
        return float(self._ends.rows[-1, 0])

    @property
    def t(self) -> Array:
        """Start and the end of every step; an event time stands there twice."""
        return self._ends.rows[:, 0].copy()

    @property
    def y(self) -> Array:
        """(n, k) values at ``t``; at an event before and after it."""
        return self._ends.rows[:, 1:].T.copy()

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        return self._fine.nbytes + self._coarse.nbytes + self._ends.rows.nbytes

    def append(self, step: Step, until: float | None = None) -> None:
        """Add an accepted step, or its part up to an event at ``until``."""
        end = step.t if until is None else float(until)
        if step.failure:
            raise ValueError(f"a failed step has no course to keep: {step.failure}")
        if step.t_old != self.end:
            raise ValueError(
                f"a step from {step.t_old:.9g} "
                f"does not continue a course that ends at {self.end:.9g}"
            )
        if not end > step.t_old:
            raise ValueError(f"a step must go on from {step.t_old:.9g} (got the end {end:.9g})")
        pieces = self._fine
        if self.coarse_from is not None or pieces.nbytes + pieces.width * 8 > self.max_bytes:
            if self.coarse_from is None:
                self.coarse_from = step.t_old
            pieces = self._coarse
        middle, half = 0.5 * (step.t_old + end), 0.5 * (end - step.t_old)
        values = np.empty((pieces.nodes, self.size))
        values[1:-1] = step.dense(middle + half * chebyshev_nodes(pieces.nodes)[1:-1]).T
        values[0] = self._ends.rows[-1, 1:]
        values[-1] = step.y if end == step.t else step.dense(np.array([end]))[:, 0]
        pieces.append(step.t_old, end, values)
        self._ends.append(np.concatenate(([end], values[-1])))

    def restart(self, t: float, y: ArrayLike) -> None:
        """Go on from ``y`` after an event; the values before it stay the left limit."""
        if t != self.end:
            raise ValueError(f"an event at {t:.9g} is not at the end of the course, {self.end:.9g}")
        self._ends.append(np.concatenate(([t], np.asarray(y, dtype=float))))

    def __call__(self, t: ArrayLike, side: Literal["left", "right"] = "right") -> Array:
        """Values at times ``t``, (n, k); a scalar time gives (n,).

        Where the course jumps, ``side`` tells which limit is meant.

        Raises
        ------
        ValueError
            For a time outside the range, or another ``side``.
        """
        if side not in ("left", "right"):
            raise ValueError(f"side must be 'left' or 'right' (got {side!r})")
        asked = np.asarray(t, dtype=float)
        times = asked.reshape(-1)
        outside = ~((times >= self.start) & (times <= self.end))  # nan is outside too
        if outside.any():
            raise ValueError(
                f"t = {times[outside][0]:.9g} is outside the run, "
                f"which goes from {self.start:.9g} to {self.end:.9g}"
            )
        result = np.empty((self.size, times.size))
        # Ends of steps come from the table of ends: exact, and with both limits.
        ends = self._ends.rows
        at = np.searchsorted(ends[:, 0], times, side=side) - (side == "right")
        at = np.clip(at, 0, len(ends) - 1)
        exact = ends[at, 0] == times
        result[:, exact] = ends[at[exact], 1:].T
        inside = np.flatnonzero(~exact)
        if inside.size:
            border = np.inf if self.coarse_from is None else self.coarse_from
            for pieces, part in (
                (self._fine, inside[times[inside] < border]),
                (self._coarse, inside[times[inside] >= border]),
            ):
                pieces.evaluate(times, part, result)
        return result.reshape((self.size, *asked.shape))


class _Rows:
    """A table that grows by doubling."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._store = np.empty((16, width))

    @property
    def rows(self) -> Array:
        return self._store[: self.count]

    def append(self, row: ArrayLike) -> None:
        if self.count == len(self._store):
            larger = np.empty((2 * self.count, self.width))
            larger[: self.count] = self._store
            self._store = larger
        self._store[self.count] = row
        self.count += 1


class _Pieces:
    """Polynomial pieces with the same number of nodes, in the order of time."""

    def __init__(self, size: int, nodes: int) -> None:
        self.size, self.nodes = size, nodes
        self.width = size * nodes
        self._spans = _Rows(2)
        self._values = _Rows(self.width)

    @property
    def nbytes(self) -> int:
        return self._values.rows.nbytes

    def append(self, start: float, end: float, values: Array) -> None:
        self._spans.append((start, end))
        self._values.append(values.reshape(-1))  # node after node

    def evaluate(self, times: Array, part: Indices, out: Array) -> None:
        """Write the values at ``times[part]`` into ``out[:, part]``."""
        starts, ends = self._spans.rows.T
        length = max(1, CHUNK // max(1, self.width))
        for k in range(0, part.size, length):
            some = part[k : k + length]
            t = times[some]
            piece = np.searchsorted(starts, t, side="right") - 1
            weights = basis(unit_interval(t, starts[piece], ends[piece]), self.nodes)
            values = self._values.rows[piece].reshape(len(some), self.nodes, self.size)
            out[:, some] = np.einsum("kj,kjn->nk", weights, values)
