"""Where a solution of smooth equations ends: which one lies beyond?

A curve that falls, as a tunnel diode's, gives a loop several solutions, which join in folds. At a
fold the one that the run has followed ends. The curve of solutions goes on all the same: back in
time, along what no run can follow, to another fold, and forward again, until it comes to the
instant on another branch. That is where the run goes on, as it does through the pieces of a law
(:mod:`blocks.simulation.next_branch`).
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..numerics.continuation import curve
from ..numerics.tolerances import AT_FOLD, DIRECTION_STEP, TINY
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem

__all__ = ["beyond_fold", "loop_sign"]

FARTHEST = 1e3  # times in which the states change: nothing comes back from there


def loop_sign(problem: Problem, t: float) -> float:
    """The sign of the determinant of all loops at the present point.

    It stays the same along a branch, and changes at a fold.
    """
    return float(np.linalg.slogdet(_by_z(problem, t))[0])


def _by_z(problem: Problem, t: float) -> Array:
    function, nz = problem.system.residual_z, problem.system.nz
    by_z: Array = function.sparse(*problem.arguments(t))[:nz].toarray()
    return by_z


def beyond_fold(problem: Problem, t: float, y: Array, z: Array, sign: float, duration: float
                ) -> Array | None:
    """Torn unknowns on the branch on which the curve of solutions comes back to ``t``.

    None where it has no fold there, or does not come back.

    Parameters
    ----------
    problem : of the run, without set-valued laws and tied states; its point is moved
    t, y : at the fold, but for rounding
    z : torn unknowns there
    sign : of the determinant on the branch that ends
    duration : of the run
    """
    line = _Line(problem, t, y, z, duration)
    before = line.start
    forward = loop_sign(problem, t) == sign  # rounding may have put it behind the fold
    sense = line.sense if forward else -line.sense
    for point, direction in curve(line.residual, line.jacobian, line.start, sense):
        if forward and direction[-1] <= 0 and point[-1] <= AT_FOLD:
            forward = False
        if (forward and point[-1] > AT_FOLD) or point[-1] < -FARTHEST:
            return None
        if not forward and direction[-1] > 0 and point[-1] >= 0 > before[-1]:
            share = before[-1] / (before[-1] - point[-1])
            return line.solved(before + share * (point - before))
        before = point
    return None


class _Line:
    """The equations of torn unknowns along the line on which time and states have been moving."""

    def __init__(self, problem: Problem, t: float, y: Array, z: Array, duration: float) -> None:
        self.problem, self.t, self.scale = problem, t, problem.scale_z
        problem.x[problem.free] = y[: len(problem.free)] * problem.scale_x[problem.free]
        problem.z[:] = z
        self.x, self.slope = problem.x.copy(), problem.system.slope(*problem.arguments(t))
        speed = np.max(np.abs(self.slope) / (np.abs(self.x) + problem.scale_x), initial=0.0)
        self.unit = min(1.0 / max(float(speed), TINY), duration)
        self.start = np.append(z / self.scale, 0.0)
        self.sense = np.append(np.zeros(len(z)), 1.0)

    def _at(self, point: Array) -> float:
        """Make it the present point of the problem; its time."""
        dt = float(point[-1]) * self.unit
        self.problem.x[:] = self.x + dt * self.slope
        self.problem.z[:] = point[:-1] * self.scale
        return self.t + dt

    def residual(self, point: Array) -> Array:
        t = self._at(point)
        return self.problem.system.residual(*self.problem.arguments(t))[: len(self.scale)]

    def jacobian(self, point: Array) -> Array:
        change = DIRECTION_STEP * self.sense
        by_time = (self.residual(point + change) - self.residual(point - change)) / (
            2 * DIRECTION_STEP)
        return np.column_stack([_by_z(self.problem, self._at(point)) * self.scale, by_time])

    def solved(self, near: Array) -> Array | None:
        """Torn unknowns at the instant, by Newton's method from near there."""
        t = self._at(np.append(near[:-1], 0.0))
        self.problem.unknowns.forget()
        try:
            self.problem.solve_algebraic(t)
        except AlgebraicFailure:
            return None
        return self.problem.z.copy()
