"""Dense output of a run: what values did the unknowns take at any time?

Knows accepted steps only: no method, names or units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array
from .base import KeptCourse, Step
from .interpolation import chebyshev_nodes, places_between
from .polynomials import Polynomials

__all__ = ["Trajectory", "refuse_outside"]

FEWEST_NODES = 4


def refuse_outside(times: Array, start: float, end: float) -> None:
    """Refuse times, or nan, at which a course has no values."""
    outside = ~((times >= start) & (times <= end))
    if outside.any():
        raise ValueError(f"t = {times[outside][0]:.9g} is outside the run, "
                         f"which goes from {start:.9g} to {end:.9g}")


class Trajectory(KeptCourse):
    """The accepted steps of an episode as polynomial pieces.

    Every step is stored as the values of its dense output at K Chebyshev-Lobatto
    nodes, both ends among them, and evaluated by barycentric interpolation. With
    K = order + 1 this is exact for a dense output of the method's own degree.

    Memory is n (K - 1) numbers a step, until :meth:`thin` puts steps together.

    Parameters
    ----------
    t, y : the start
    order : of the method; gives the number of nodes, at least four, or two for straight lines

    Examples
    --------
    >>> import numpy as np
    >>> line = Step(0.0, 2.0, np.array([4.0]), lambda t: 2.0 * np.asarray(t)[None, :])
    >>> run = Trajectory(0.0, [0.0])
    >>> run.append(line)
    >>> run([0.5, 1.5])
    array([[1., 3.]])
    """

    def __init__(self, t: float, y: ArrayLike, *, order: int = 5) -> None:
        self.start = self._from = self.end = float(t)
        self._last = np.array(y, dtype=float)
        self.nodes = 2 if order == 1 else max(FEWEST_NODES, order + 1)
        self._polynomials = Polynomials(self._last.size, self.nodes)
        self._together = 1  # steps that became one piece where the course was thinned

    @property
    def size(self) -> int:
        return self._last.size

    @property
    def t(self) -> Array:
        """Start and the end of every step, or of every piece where the course was thinned."""
        return np.append(self._from, self._polynomials.ends)

    @property
    def nbytes(self) -> int:
        return self._polynomials.nbytes + self._last.nbytes

    def append(self, step: Step, until: float | None = None) -> None:
        end = step.t if until is None else float(until)
        self._refuse_failed(step)
        if step.t_old != self.end:
            raise ValueError(
                f"a step from {step.t_old:.9g} "
                f"does not continue a course that ends at {self.end:.9g}"
            )
        if not end > step.t_old:
            raise ValueError(f"a step must go on from {step.t_old:.9g} (got the end {end:.9g})")
        span = np.array([step.t_old]), np.array([end])
        inner = places_between(*span, chebyshev_nodes(self.nodes))[0, 1:-1]
        values = np.empty((self.nodes, self.size))
        values[0], values[1:-1] = self._last, step.dense(inner).T
        values[-1] = step.y if end == step.t else step.dense(span[1])[:, 0]
        self._polynomials.append(*span, values[None])
        self.end, self._last = end, values[-1].copy()

    def extend(self, ends: Array, rows: Array) -> None:
        """Add steps by their ends and the values there, between which are straight lines."""
        if len(ends):
            values = np.stack([np.vstack([self._last, rows[:-1]]), rows], axis=1)
            self._polynomials.append(np.append(self.end, ends[:-1]), ends, values)
            self.end, self._last = float(ends[-1]), rows[-1].copy()

    def _values_at(self, times: Array) -> Array:
        refuse_outside(times, self._from, self.end)
        if not len(self._polynomials):
            return np.repeat(self._last[None, :], times.size, axis=0)
        rows = self._polynomials(times)
        rows[times == self.end] = self._last
        return rows

    def thin(self) -> float:
        """Put pairs of steps together; returns by how much values between are off at most."""
        self._together *= 2
        self._polynomials, off = self._polynomials.thinned(self._together)
        return float(off.max(initial=0.0))

    def forget(self) -> None:
        self._from, self._polynomials = self.end, Polynomials(self.size, self.nodes)
