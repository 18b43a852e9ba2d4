"""How do rates follow from efforts? The Delassus operator D = - d rate / d effort.

What it solves, which elements act on themselves alone or on nothing at all, and how efforts push
states. Dense for few elements and sparse for many; made once where it depends on parameters only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import DELASSUS_SINGULAR, NOTHING_AT_ALL, OWN_RATE_NONE, PROXIMAL_WEIGHT
from ...system import Evaluator, Problem
from ..complementarity import components
from .elements import Elements
from .memory import Memory

__all__ = ["DENSE", "Components", "Delassus", "Matrix", "dense_inverses", "is_singular",
           "pseudo_inverse", "stopping_effort", "through_loops", "torn_by"]

CROWD = 256  # elements up to which a singular matrix is inverted densely
DENSE = 80  # elements, and unknowns of algebraic loops, up to which matrices are dense

Matrix: TypeAlias = Any  #: a NumPy array, or a sparse matrix of SciPy
Components: TypeAlias = NDArray[np.int32]  #: number of the island of every element


class RateFunctions(Protocol):
    """What is evaluated of :class:`~blocks.nonsmooth.modes.law_functions.LawFunctions`."""

    elements: Elements
    constant: bool
    few: bool
    flow_varies: Flags
    rate_u: Evaluator
    rate_z: Evaluator | None
    slope_u: Evaluator
    flow_x: Evaluator


class Delassus:
    """The Delassus operator of a system in one run; ``memory`` knows it where it is constant."""

    def __init__(self, functions: RateFunctions, memory: Memory) -> None:
        self.functions, self.memory = functions, memory
        self.elements, self.constant = functions.elements, functions.constant
        self._here: tuple[Any, ...] = ()  # the point that the last matrix belongs to
        self._last: Matrix

    def matrix(self, problem: Problem, t: float) -> Matrix:
        """D = -d rate / d effort: dense for few elements, sparse for many."""
        if self.constant:
            self.memory.recall(problem.p)
            return self.memory.once("D", lambda: self._matrix(problem, t))
        here = (t, *(a.tobytes() for a in problem.arguments(t)[1:]))
        if self._here != here:
            self._here, self._last = here, self._matrix(problem, t)
        return self._last

    def _matrix(self, problem: Problem, t: float) -> Matrix:
        functions, elements, nz = self.functions, self.elements, problem.system.nz
        args, few = problem.arguments(t), elements.size <= DENSE
        if few and nz <= DENSE:
            by_u = functions.rate_u.dense(*args)
            if functions.rate_z is not None:
                by_u = by_u + functions.rate_z.dense(*args) @ torn_by(
                    problem.system.residual_u, problem, t)
            return -elements.columns_of(by_u)
        by_u = through_loops(functions.rate_u, functions.rate_z, problem.system.residual_u, problem,
                             t)
        d = -by_u[:, elements.column].multiply(elements.unit[None, :]).tocsc()
        d.eliminate_zeros()
        return d.toarray() if few else d

    # -- what efforts push -----------------------------------------------------------------
    def slope_by_efforts(self, problem: Problem, t: float, index: Indices) -> Matrix:
        """Change of the states' slopes per effort of some elements."""
        functions, elements = self.functions, self.elements
        if functions.few:
            return self.memory.once_simple(problem.p, "push", lambda: elements.columns_of(
                functions.slope_u.dense(*problem.arguments(t))))[:, index]
        system = problem.system
        by_u = through_loops(functions.slope_u, system.slope_z if system.nz else None,
                             system.residual_u, problem, t)
        return by_u[:, elements.column[index]].multiply(elements.unit[index][None, :]).tocsc()

    # -- its structure ---------------------------------------------------------------------
    def immovable(self, problem: Problem, t: float) -> Flags:
        """Elements across a rigid path or a prescribed motion: their effort moves nothing."""
        d = self.matrix(problem, t)
        return self.memory.once("immovable", lambda: without_effect(d))

    def at_rest_for_good(self, problem: Problem, t: float) -> Flags:
        """Immovable elements whose flow is zero whatever moves: those across a rigid path."""
        functions, dead = self.functions, self.immovable(problem, t)
        if not self.constant or not dead.any():
            return np.zeros(len(dead), dtype=bool)

        def found() -> Flags:
            by_x = functions.flow_x.sparse(*problem.arguments(t))
            size = np.ravel(abs(by_x).sum(axis=1))
            return dead & ~functions.flow_varies & (size <= NOTHING_AT_ALL * size.max())

        return self.memory.once("at rest for good", found)

    def components(self, problem: Problem, t: float) -> Components:
        """Number of the island of every element: efforts act within an island only."""
        d = self.matrix(problem, t)

        def found() -> Components:
            return components(d)[1]

        return self.memory.once("parts", found)

    # -- what it solves --------------------------------------------------------------------
    def solve(self, d: Matrix, which: Flags, rate: Array) -> Array:
        """Efforts of some elements that cancel their rates."""
        return self.memory.once(("solve", which.tobytes()), lambda: pseudo_inverse(
            d[which][:, which]))(rate)


def torn_by(residuals: Evaluator, problem: Problem, t: float) -> Array:
    """How the torn unknowns follow something, by the derivatives of their residuals by it."""
    system, args, n = problem.system, problem.arguments(t), problem.system.nz
    if n <= DENSE:
        return np.asarray(np.linalg.solve(system.residual_z.dense(*args)[:n],
                                          -residuals.dense(*args)[:n]))
    from scipy.sparse.linalg import splu

    by = residuals.sparse(*args)[:n].toarray()
    return np.asarray(-splu(system.residual_z.sparse(*args)[:n].tocsc()).solve(by))


def through_loops(direct: Evaluator, by_z: Evaluator | None, residuals: Evaluator,
                  problem: Problem, t: float) -> sp.csc_matrix:
    """Derivatives by something, which torn unknowns follow, too, by those of their residuals."""
    args = problem.arguments(t)
    if by_z is None:
        return direct.sparse(*args)
    return sp.csc_matrix(direct.sparse(*args) + by_z.sparse(*args) @ sp.csc_matrix(
        torn_by(residuals, problem, t)))


def stopping_effort(d: Matrix, rate: Array) -> float:
    """The largest effort that alone would stop its element: loads are differences of such."""
    own = np.asarray(d.diagonal())
    moves = ~without_effect(d)
    return float(np.abs(rate[moves] / own[moves]).max(initial=0.0))


def without_effect(d: Matrix) -> Flags:
    """Elements whose effort does not change their own rate."""
    diagonal = np.asarray(d.diagonal())
    return diagonal <= NOTHING_AT_ALL * diagonal.max(initial=0.0)


def at_dead_centres(d: Matrix) -> Flags:
    """Elements without effect that have one but for a lever which is zero here, up to rounding.

    Only beside others that have an effect: by itself none can be told.
    """
    diagonal = np.asarray(d.diagonal())
    return without_effect(d) & (diagonal != 0) & (diagonal.max(initial=0.0) > 0)


def without(d: Matrix, elements: Flags) -> Matrix:
    """The matrix as if some elements moved nothing, and nothing moved them."""
    if not elements.any():
        return d
    left = sp.diags_array((~elements).astype(float))
    return left @ d @ left


def pseudo_inverse(d: Matrix) -> Callable[[Array], Array]:
    """Efforts that cancel given rates, as a function; least norm where they are not determined.

    ``d`` is dense for few elements and sparse for many.
    """
    if sp.issparse(d):
        d = sp.csc_matrix(d)
        diagonal = d.diagonal()
        if d.count_nonzero() == np.count_nonzero(diagonal):
            inverse = np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0)
            return lambda r: (inverse * r.T).T
        from scipy.sparse.linalg import splu

        if not is_singular(d):
            return splu(d).solve
        if len(diagonal) > CROWD:
            weights = sp.diags_array(PROXIMAL_WEIGHT * (diagonal + (diagonal == 0)))
            near = splu(sp.csc_matrix(d + weights))

            def proximal(rate: Array) -> Array:
                x = near.solve(rate)
                for _ in range(3):
                    x += near.solve(rate - d @ x)
                return x

            return proximal
        d = d.toarray()
    if d.shape == (1, 1):
        inverse = 1.0 / d[0, 0] if d[0, 0] > 0 else 0.0
        return lambda r: inverse * r
    matrix = dense_inverses(d[None])[0]
    return lambda r: matrix @ r


def dense_inverses(d: Array) -> Array:
    """Pseudo-inverses of a stack of dense Delassus matrices, (matrices, elements, elements)."""
    size = np.sqrt(np.maximum(np.diagonal(d, axis1=1, axis2=2), 0.0))
    size = np.where(size > OWN_RATE_NONE * size.max(axis=1, initial=0.0)[:, None], size, np.inf)
    sizes = size[:, :, None] * size[:, None, :]
    scaled = d / sizes
    known = np.isfinite(scaled).all(axis=(1, 2))  # else of trial points without finite values
    scaled[~known] = 0.0
    full = np.linalg.matrix_rank(scaled, tol=DELASSUS_SINGULAR) == d.shape[1]
    out = np.empty_like(d)
    out[full] = np.linalg.inv(scaled[full])
    out[~full] = np.linalg.pinv(scaled[~full], rcond=DELASSUS_SINGULAR)
    out[~known] = np.nan
    return out / sizes


def is_singular(d: sp.csc_matrix) -> bool:
    """Whether a sparse matrix is singular up to rounding."""
    from scipy.sparse.linalg import splu

    try:
        u = np.abs(splu(d).U.diagonal())
    except RuntimeError:
        return True
    return bool(u.min() <= DELASSUS_SINGULAR * u.max())
