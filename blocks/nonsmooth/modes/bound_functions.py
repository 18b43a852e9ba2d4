"""How do bounds such as ``mu N`` depend on efforts? Derivatives and structure, compiled once."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...language.lookup import jacobian
from ...numerics import sparse as sp
from ...numerics.arrays import Flags
from ...numerics.rewriting import symbols_in
from ...system import Problem, System
from .delassus import Matrix, through_loops
from .elements import Elements, elements_of
from .law_expressions import expressions_of

__all__ = ["DENSE", "BoundFunctions", "bounds_by_taken", "followed_efforts"]

DENSE = 80  # elements up to which slopes of bounds are dense


class BoundFunctions:
    """Derivatives of lower and upper static, lower and upper kinetic bounds by efforts."""

    def __init__(self, system: System, elements: Elements, bounds: ca.SX) -> None:
        tape, size = system.tape, elements.size
        self.elements = elements
        fast = ca.vertcat(tape.u, tape.z)
        by_fast = jacobian(bounds, fast)
        by_u, by_z = by_fast[:, : system.nu], by_fast[:, system.nu :]
        # by_u, by_z: derivatives by inputs and by unknowns of algebraic loops
        self.by_u = system.function("jacobian", by_u)
        self.few = size <= DENSE
        self.by_z = system.function("jacobian", by_z) if system.nz else None
        # whether the slopes depend on parameters only
        self.constant = not system.nz and symbols_in(by_fast) <= symbols_in(tape.p)
        # whether they change with efforts (``abs_(N)`` and the like)
        self.pieces = any(ca.which_depends(bounds, fast, 2, True))
        pattern = by_fast.sparsity()
        rows = np.array(pattern.row(), dtype=int) % max(size, 1)
        # elements whose bounds move with some effort
        self.dependent: Flags = np.zeros(size, dtype=bool)
        self.dependent[rows] = True
        # whether what slides may load itself, by way of others that slide; not sought in many
        self.in_a_circle = not self.few or _loads_itself(system, elements, bounds) or bool(
            by_z.nnz())  # unknowns of loops may follow any effort

    def slopes(self, problem: Problem, t: float) -> list[Matrix]:
        """d bound / d what elements take of lower, upper static, lower, upper kinetic bounds.

        Dense for few elements, sparse for many.
        """
        n, args = self.elements.size, problem.arguments(t)
        if self.few and self.by_z is None:
            return list(self.elements.columns_of(self.by_u.dense(*args)).reshape(4, n, n))
        by_u = through_loops(self.by_u, self.by_z, problem.system.residual_u, problem, t)
        by_taken = sp.csr_matrix(by_u)[:, self.elements.column].multiply(
            self.elements.unit[None, :]).tocsr()
        parts = [by_taken[k * n : (k + 1) * n] for k in range(4)]
        return [part.toarray() for part in parts] if self.few else parts


def bounds_by_taken(system: System) -> BoundFunctions:
    """Derivatives of static and kinetic bounds by efforts, in a network with massless nodes."""
    return system.once("bounds by what is taken", lambda: BoundFunctions(
        system, elements_of(system), expressions_of(system).bounds))


def followed_efforts(system: System, elements: Elements, bounds: ca.SX) -> Flags:
    """(elements, elements) whose bounds follow whose efforts at once."""
    by_u = ca.DM(ca.jacobian_sparsity(bounds, system.tape.u), 1).sparse()[:, elements.column]
    rows, columns = by_u.nonzero()
    follows = np.zeros((elements.size, elements.size), dtype=bool)
    follows[rows % elements.size, columns] = True
    return follows


def _loads_itself(system: System, elements: Elements, bounds: ca.SX) -> bool:
    """Whether bounds of some element depend on its own effort, by way of other bounds."""
    reach = followed_efforts(system, elements, bounds)
    for _ in range(elements.size.bit_length()):
        reach |= reach @ reach
    return bool(reach.diagonal().any())
