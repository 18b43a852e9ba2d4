"""What do many elements at nodes without mass come to while no mode changes?

Two matrices say what elements take (:mod:`blocks.nonsmooth.modes.held_network`). Written out, their
products are as many operations as they have entries, and derivatives through them many times as
many. So of many elements expressions are functions of what is taken, which whoever evaluates them
multiplies out first: machine code in loops (:mod:`blocks.native.large_networks`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Indices
from ...system import Evaluator, Problem, System
from ..mode_state import NetworkState
from .elements import Elements
from .held_network import HeldNetwork
from .law_expressions import LawExpressions
from .mode_equations import ModeEquations

__all__ = ["LargeNetwork"]


class LargeNetwork(HeldNetwork):
    """Efforts, flows, bounds and slopes, as functions of modes and of what elements take.

    Attributes
    ----------
    taken, exact : symbols of what elements take, and of states without drift, where there is any;
        the last ones of :attr:`symbols`
    """

    taken: ca.SX
    exact: ca.SX

    def __init__(self, system: System, elements: Elements, laws: LawExpressions,
                 equations: ModeEquations, parts: list[Indices]) -> None:
        self.exact = ca.SX(0, 1)
        super().__init__(system, elements, laws, equations, parts)
        given, self.symbols = self.symbols, [*self.symbols, self.taken, self.exact]
        self.slopes_by = [(ca.vertcat(*self.alone), system.tape.x), (
            self.expressions["slope"], ca.vertcat(system.tape.x, self.exact, self.taken))]
        self.length = 2 * int(self.together.sum())
        self._alone = Evaluator(ca.Function("alone", given, [ca.vertcat(*self.alone)]))

    def _taken(self, matrices: list[ca.SX]) -> ca.SX:
        self.taken = ca.SX.sym("taken", self.elements.size)
        return self.taken

    def _exact(self, correction: ca.SX) -> ca.SX:
        self.exact = ca.SX.sym("exact", self.system.nx)
        return self.exact

    def margins_at(self, problem: Problem, t: float, state: NetworkState) -> Array:
        if self._margins is None:
            self._margins = Evaluator(ca.Function("margins", self.symbols, [self.margins]))
        n, modes = self.elements.size, state.solved_modes
        at, x, *rest = problem.arguments(t)[:-1]
        rest += [state.modes.astype(float), self.constants(problem, t, state)]
        exact = x
        if self.drifts:
            weight, move = self.projection(problem, t, modes)
            exact = x - move @ (weight @ self._alone(at, x, *rest)[:n])
        value, rate = np.split(self._alone(at, exact, *rest), [n])
        by_value, by_rate, *_ = self.taken_by(problem, t, modes)
        return self._margins(at, x, *rest, by_value @ value + by_rate @ rate,
                             exact if self.drifts else np.zeros(0))
