"""Where a solution of smooth equations ends: which one lies beyond?

A curve that falls, as a tunnel diode's, gives a loop several solutions, which join in folds. At a
fold the one that the run has followed ends. The curve of solutions goes on all the same: with what
drives the loop reversed, along what no run can follow, to another fold, and forward again, until it
comes to the drive of that instant on another branch. That is where the run goes on, as it does
through the pieces of a law (:mod:`blocks.native.next_branch`).
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..numerics.continuation import curve, passes
from ..numerics.tolerances import AT_FOLD, DIRECTION_STEP, TINY
from ..system.failure import AlgebraicFailure
from ..system.newton import TOLD
from ..system.problem import Problem

__all__ = ["GOES_ON", "beyond_fold", "derivatives_of_loops"]

GOES_ON = "goes on from another solution"  # what is told of a variable as an event
FARTHEST = 1e6  # nominal values: nothing comes back from there


def beyond_fold(problem: Problem, t: float, before: Array, duration: float) -> Array | None:
    """Torn unknowns where the curve of solutions comes back to the present point.

    None where it has no fold there. An AlgebraicFailure where it has one, and does not come back.
    ``problem`` is without set-valued laws and tied states, at a fold but for rounding; ``before``
    are derivatives of loops by torn unknowns, anywhere on the branch that ends: the sign of their
    determinant stays the same along a branch, and changes at a fold; ``duration`` is of the run.
    """
    driven = _Driven(problem, t, duration, np.abs(before * problem.scale_z).max())
    matrices = before, derivatives_of_loops(problem, t)
    if not (np.isfinite(matrices).all() and np.isfinite(driven.drive).all()):
        return None
    signs = [np.linalg.slogdet(matrix)[0] for matrix in matrices]
    forward = bool(signs[0] == signs[1])  # rounding may have put it behind the fold
    start = last = np.append(problem.z / driven.scale, 0.0)
    sense = np.zeros(len(start))
    sense[-1] = 1.0 if forward else -1.0
    for point, direction in curve(driven.residual, driven.jacobian, start, sense):
        forward &= bool(direction[-1] > 0)
        if forward and point[-1] > AT_FOLD:
            return None
        if not forward and direction[-1] > 0:
            if point[-1] >= 0 > last[-1]:
                share = last[-1] / (last[-1] - point[-1])
                return driven.solved(last + share * (point - last))
            if passes(driven.residual, driven.jacobian, last, point, start):
                break  # it is closed
        if np.abs(point).max() > FARTHEST:
            break
        last = point
    if forward:
        return None
    moved = np.linalg.lstsq(before * driven.scale, driven.drive, rcond=None)[0]
    worst = np.argsort(-np.abs(moved))[:TOLD]  # in nominal values
    raise AlgebraicFailure(
        t, [problem.system.torn_name(int(i)) for i in worst],
        "the solution that they have followed ends there, and from its end none is reached that "
        "goes on", advice="What is small and was left out decides where they go: give the nodes "
        "there a small mass, capacitance or compressibility.")


def derivatives_of_loops(problem: Problem, t: float) -> Array:
    """The derivatives of all loops by their torn unknowns, at the present point."""
    function, nz = problem.system.residual_z, problem.system.nz
    by_z: Array = function.sparse(*problem.arguments(t))[:nz].toarray()
    return by_z


class _Driven:
    """The equations of torn unknowns at an instant, and a drive added to them.

    It goes where time and states have been driving them; 1 is about what a nominal value does.
    """

    def __init__(self, problem: Problem, t: float, duration: float, size: float) -> None:
        self.problem, self.t, self.scale = problem, t, problem.scale_z
        x, slope = problem.x.copy(), problem.system.slope(*problem.arguments(t))
        speed = float(np.max(np.abs(slope) / (np.abs(x) + problem.scale_x), initial=0.0))
        unit, changes = min(1.0 / max(speed, TINY), duration), []
        for h in (DIRECTION_STEP * unit, -DIRECTION_STEP * unit):
            problem.x[:] = x + h * slope
            changes.append(self._of_loops(t + h))
        problem.x[:] = x
        drive = changes[0] - changes[1]
        self.drive = drive * size / max(float(np.abs(drive).max()), TINY)

    def _of_loops(self, t: float) -> Array:
        values: Array = self.problem.system.residual(*self.problem.arguments(t))
        return values[: len(self.scale)]

    def residual(self, point: Array) -> Array:
        self.problem.z[:] = point[:-1] * self.scale
        return self._of_loops(self.t) + point[-1] * self.drive

    def jacobian(self, point: Array) -> Array:
        self.problem.z[:] = point[:-1] * self.scale
        by_z = derivatives_of_loops(self.problem, self.t) * self.scale
        return np.column_stack([by_z, self.drive])

    def solved(self, near: Array) -> Array | None:
        """Torn unknowns without the drive, by Newton's method from near there."""
        self.problem.z[:] = near[:-1] * self.scale
        self.problem.unknowns.forget()
        try:
            self.problem.solve_algebraic(self.t)
        except AlgebraicFailure:
            return None
        return self.problem.z.copy()
