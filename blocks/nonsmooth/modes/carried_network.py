"""What do elements at nodes without mass come to, where laws are curves, or beside loops?

While no mode changes, what they take has as many equations as there are elements
(:mod:`blocks.nonsmooth.modes.mode_equations`), which are not linear there, or contain the unknowns
of algebraic loops. They are solved by Newton's method at every point, together with the loops,
from values that are carried along with the states: so the branch of a curve that falls and rises
is followed until it ends.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Indices
from ...system import Problem, System
from .elements import MOST_INVERTED, MOST_TOGETHER, MOST_WRITTEN, Elements
from .held_network import HeldNetwork, filled
from .law_expressions import LawExpressions
from .mode_equations import ModeEquations

__all__ = ["CarriedNetwork", "held_network"]


def held_network(system: System, elements: Elements, laws: LawExpressions,
                 equations: ModeEquations) -> HeldNetwork | None:
    """Efforts and slopes in held modes; None for too many elements, or beside tied states."""
    size = elements.size
    kind, most = (HeldNetwork, MOST_INVERTED) if equations.constant else (
        CarriedNetwork, MOST_WRITTEN)
    if system.clusters or size != system.nu or size > MOST_TOGETHER:
        return None
    islands = [np.arange(size)] if system.nz else equations.islands  # loops may tie all of them
    if max(map(len, islands)) > most or system.tape.carried.any():
        return None
    return kind(system, elements, laws, equations, islands)


class CarriedNetwork(HeldNetwork):
    """Efforts, flows, bounds and slopes, as functions of modes and of what elements take."""

    def _pose(self) -> None:
        self.symbols = [*self.symbols, self.taken]
        mine = self.residual[self.system.nz :]
        self.length = ca.Function("elements", self.symbols, [
            ca.densify(ca.jacobian(mine, self.taken)), mine]).n_instructions()

    def _miss(self, matrices: list[ca.SX], missed: list[ca.SX], loops: ca.SX) -> None:
        by_value, by_rate = (ca.mtimes(filled(self.together, entries), given)
                             for entries, given in zip(matrices, missed, strict=True))
        # what is zero; equations of elements are combined by the constants
        self.residual = ca.vertcat(loops, by_value + by_rate)

    # -- constants -------------------------------------------------------------------------
    def fits(self, problem: Problem, t: float, modes: Indices) -> bool:
        """Whether the equations of some modes determine what is taken, wherever the states are."""
        made = self.equations.matrices(problem, t, modes)
        return bool(np.isfinite(made.matrix).all() and not made.null.shape[1]
                    and self.keeps_apart(problem, t, modes) and self.decides(modes, made.weight))

    def by_rows(self, problem: Problem, t: float, modes: Indices) -> tuple[Array, Array]:
        """Which combinations of values and of rates of the equations are zero."""
        made = self.equations.matrices(problem, t, modes)
        free = made.free[:, None]
        return np.where(free, 0.0, made.combine), np.where(free, made.combine, 0.0)
