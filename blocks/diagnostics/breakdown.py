"""Which component's equation has no finite value, where a run broke down?"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System
from .not_finite import not_finite
from .words import Names

__all__ = ["breakdown"]

AHEAD = np.concatenate([[0.0], np.logspace(-9, -1.5, 16)])  # of the time since the start, or 1 s


def breakdown(system: System, problem: Problem, t: float, y: Array, since: float
              ) -> tuple[str, str] | None:
    """(component, equation) that ceases to be finite just after a point of a run.

    The motion is continued in a straight line, until an equation has no value.
    """
    span = (t - since) or 1.0
    x, z = problem.x.copy(), problem.z.copy()
    try:
        with np.errstate(all="ignore"):
            slope = problem.slope(t, y)
            slope = np.where(np.isfinite(slope), slope, 0.0)
            for h in AHEAD * span:
                try:
                    problem.solve(t + h, y + h * slope)
                except AlgebraicFailure:
                    return None
                equations, _ = not_finite(system, problem, t + h)
                if equations:
                    return _first_with_owner(Names(system.flat), equations)
    finally:
        problem.x[:], problem.z[:] = x, z
    return None


def _first_with_owner(names: Names, equations: list[int]) -> tuple[str, str] | None:
    owned = [e for e in equations if names.owner(e)]
    return (names.owner(owned[0]), names.equation(owned[0])) if owned else None
