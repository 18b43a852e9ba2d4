"""How do the bodies of a network move without their contacts, and under forces of these?

Slopes without any effort of set-valued laws, what contacts see of the bodies, and what forces on
these do at once.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Array, Indices
from ...system.evaluator import Evaluator
from ...system.problem import Problem
from ...system.system import System
from .bare_network import Bare

__all__ = ["FreeBodies"]



class FreeBodies:
    """The network without its set-valued laws.

    Parameters
    ----------
    system : System
    bare : Bare
        The network without the components that have such laws.
    seen : classes that contacts look at

    Attributes
    ----------
    slope_of, seen_of : functions of (t, x, p, m, d): slopes, and what is seen
    slope_x_of, slope_w_of, seen_x_of : their derivatives by states and inputs of the bare network
    gathers : from values of classes that contacts compute to these inputs
    pushed : per state, 1 for velocities
    """

    def __init__(self, system: System, bare: Bare, seen: Indices) -> None:
        tape = system.tape
        self.gathers = bare.gathers
        w0 = ca.SX.zeros(bare.w.numel())
        free = [TIME, tape.x, tape.p, tape.m, tape.d]
        slope = ca.substitute(bare.slope, bare.w, w0)
        self.slope_of = Evaluator(ca.Function("slope", free, [ca.densify(slope)]))
        self.slope_x_of = _sparse(free, ca.jacobian(slope, tape.x))
        by_w = ca.substitute(ca.jacobian(bare.slope, bare.w), bare.w, w0)
        self.slope_w_of = _sparse(free, by_w)
        self.pushed = np.zeros(system.nx)  # 1 for velocities: what forces change at once
        self.pushed[np.array(by_w.sparsity().row(), dtype=int)] = 1.0
        values = tape.values[seen.tolist()]
        self.seen_of = Evaluator(ca.Function("seen", free, [ca.densify(values)]))
        self.seen_x_of = _sparse(free, ca.jacobian(values, tape.x))

    def seen(self, problem: Problem, t: float, y: Array) -> Array:
        """Values of the classes that contacts look at."""
        if problem.delays is not None:
            problem.delays.fill(problem.d, t)
        return self.seen_of(t, y * problem.scale, problem.p, problem.m, problem.d)


def _sparse(arguments: list[ca.SX], expression: ca.SX) -> Evaluator:
    return Evaluator(ca.Function("jacobian", arguments, [expression]))
