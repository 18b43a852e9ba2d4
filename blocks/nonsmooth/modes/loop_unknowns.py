"""How do the unknowns of algebraic loops follow what elements take, the states, and time?

By the implicit function theorem at one point. Second derivatives of nonlinear loops are left out:
they change how fast Newton's method converges, not what it comes to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Array
from ...numerics.tolerances import BESIDE_ZERO
from ...system import AlgebraicFailure, Problem, System
from .elements import Elements

__all__ = ["Followed", "LoopUnknowns"]


@dataclass(frozen=True)
class Followed:
    """Derivatives of the unknowns of loops, and of their own rates."""

    rate: Array  # time derivative
    by_taken: Array  # by_taken, by_x: by what the elements take, and by the states
    by_x: Array
    rate_by_taken: Array  # rate_by_taken, rate_by_x: the same of the rate
    rate_by_x: Array
    # what Newton's method would take them on by, 0 but for rounding where they are solved
    missed: Array


class LoopUnknowns:
    """The unknowns of the algebraic loops of a system with elements."""

    def __init__(self, system: System, elements: Elements) -> None:
        self.system, self.elements, tape = system, elements, system.tape
        self._by_time = system.function("residual_t", ca.densify(ca.jacobian(tape.residual, TIME)))
        self._at: tuple[Any, ...] | None = None  # the last point
        self._last: Followed

    def at(self, problem: Problem, t: float) -> Followed:
        """Derivatives of the unknowns of loops at the present point.

        Raises AlgebraicFailure where the equations of the loops are singular.
        """
        args = problem.arguments(t)
        key = t, *(a.tobytes() for a in args[1:])
        if key != self._at:
            self._last, self._at = self._found(args, t, problem.scale_z), key
        return self._last

    def _found(self, args: tuple[Any, ...], t: float, scale: Array) -> Followed:
        system, elements = self.system, self.elements
        by_z = system.residual_z.dense(*args)[: system.nz]
        by_x = system.residual_x.dense(*args)[: system.nz]
        by_u, slope_u = (elements.columns_of(by.dense(*args))
                         for by in (system.residual_u, system.slope_u))
        slope_x, slope_z = system.slope_x.dense(*args), system.slope_z.dense(*args)
        by_time = self._by_time(*args).reshape(-1, 1)
        right = np.hstack([by_x @ system.slope(*args)[:, None] + by_time, by_u[: system.nz], by_x,
                           system.residual(*args)[: system.nz, None]])
        follows = -self._solved(args, t, scale, by_z, right)
        n = elements.size
        taken, states, missed = np.split(follows[:, 1:], [n, n + system.nx], axis=1)
        return Followed(follows[:, 0], taken, states, states @ (slope_u + slope_z @ taken),
                        states @ (slope_x + slope_z @ states), missed[:, 0])

    def _solved(self, args: tuple[Any, ...], t: float, scale: Array, by_z: Array, right: Array
                ) -> Array:
        """What the matrix of the loops has to be multiplied by to give a right side.

        A law that rises with the square of an unknown has no slope where it is zero; beside, it
        has.
        """
        for beside in (0.0, BESIDE_ZERO, -BESIDE_ZERO):
            if beside:
                moved = (*args[:2], args[2] + beside * scale, *args[3:])
                by_z = self.system.residual_z.dense(*moved)[: self.system.nz]
            try:
                return np.array(np.linalg.solve(by_z, right), dtype=float)
            except np.linalg.LinAlgError:
                continue
        raise AlgebraicFailure(t, [self.system.torn_name(0)], "its loop is singular there", True)
