"""Which component's equation has no finite value, where a run broke down?"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System
from .not_finite import first_equations, not_finite
from .words import Names

__all__ = ["breakdown", "slope_equation"]

AHEAD = np.concatenate([[0.0], np.logspace(-9, -1.5, 16)])  # of the time since the start, or 1 s
BEFORE = 1e-6  # of that time
POLE = 1e3  # by which a value grows in it on its way to a pole


def breakdown(system: System, problem: Problem, t: float, y: Array, since: float
              ) -> tuple[str, str] | None:
    """(component, equation) that ceases to be finite just after a point of a run.

    The motion is continued in a straight line, until an equation has no value. Steps end short of
    a pole of a function of time: its value there is large, by time alone.
    """
    span = (t - since) or 1.0
    names = Names(system.flat)
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
                    return _first_with_owner(names, equations)
    finally:
        problem.x[:], problem.z[:] = x, z
    with np.errstate(all="ignore"):
        near, before = (np.abs(system.values(*problem.arguments(at)))
                        for at in (t, t - BEFORE * span))
    grown = (before > 0) & (near > POLE * before)
    return _first_with_owner(names, first_equations(system, grown)[0])


def slope_equation(system: System, state: str) -> str:
    """The equation that a state's slope is solved from; empty where several are solved together."""
    for step in system.tape.steps if state else ():
        for e, c in zip(step.equations, step.unknowns, strict=True):
            if step.group >= 0 and system.class_names[int(c)] == f"der({state})":
                return Names(system.flat).equation(int(e))
    return ""


def _first_with_owner(names: Names, equations: list[int]) -> tuple[str, str] | None:
    owned = [e for e in equations if names.owner(e)]
    return (names.owner(owned[0]), names.equation(owned[0])) if owned else None
