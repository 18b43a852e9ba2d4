"""Friction whose strength depends on other efforts: bounds linearised in the efforts.

A bound such as ``mu N`` is linearised at the present efforts, with the algebraic unknowns
following; pieces (``abs_(N)``, ``maximum``) are found by repetition. The joint problem at an event
is that of :mod:`blocks.nonsmooth.modes.decisions`, impacts are struck by
:mod:`blocks.nonsmooth.modes.impacts`, static indeterminacy is the business of
:mod:`blocks.nonsmooth.modes.indeterminacy`, and what has no motion, or several, that of
:mod:`blocks.nonsmooth.modes.painleve`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.sparse_solves import inverse_by_parts
from ...numerics.tolerances import UNIT_PIVOT
from ...system import Problem
from ..complementarity import components
from ..complementarity.scaling import dense_block
from ..mode_state import ModeState
from .bound_functions import BoundFunctions
from .delassus import Components, Delassus, Matrix

__all__ = ["LoadDependence"]

T = TypeVar("T")


class LoadDependence:
    """Bounds of set-valued elements as functions of efforts, at the present point of a run.

    ``bounds`` are their derivatives; ``affine``: whether rates and bounds are known to be linear in
    the efforts.
    """

    def __init__(self, bounds: BoundFunctions, delassus: Delassus, state: ModeState,
                 affine: bool) -> None:
        self.functions, self.delassus, self.state, self.affine = bounds, delassus, state, affine
        self.elements, self.size = delassus.elements, delassus.elements.size
        # elements whose bounds move with efforts, and whether slopes of bounds change with these
        self.dependent, self.pieces = bounds.dependent, bounds.pieces
        self._known: dict[Hashable, Any] = {}
        self._here: Any = None  # what these belong to: a point, or parameters

    def once_here(self, problem: Problem, t: float, key: Hashable, make: Callable[[], T]) -> T:
        """A value that is made once, as long as nothing moves that it depends on."""
        here: tuple[Any, ...] = (id(problem.p),)
        if not (self.functions.constant and self.delassus.constant):
            moving = [problem.x, problem.z, problem.m, problem.d]
            moving += [] if self.affine else [problem.u]
            here = (t, *(a.tobytes() for a in moving))
        if self._here != here:
            self._here, self._known = here, {}
        if key not in self._known:
            self._known[key] = make()
        value: T = self._known[key]
        return value

    # -- slopes of bounds ----------------------------------------------------------------
    def slopes(self, problem: Problem, t: float) -> list[Matrix]:
        """d bound / d effort of lower, upper static, lower, upper kinetic bounds.

        Dense for few elements, sparse for many.
        """
        return self.once_here(problem, t, "slopes", lambda: self.functions.slopes(problem, t))

    def kinetic(self, problem: Problem, t: float) -> Matrix:
        """d sliding effort / d effort at the present modes, 0 for elements at rest."""
        back, forth = self.slopes(problem, t)[2:]
        modes = self.state.modes
        return _masked_rows(modes > 0, forth) + _masked_rows(modes < 0, back)

    @staticmethod
    def following(kinetic: Matrix, slides: Indices, rests: Indices) -> Array:
        """How efforts of some elements that slide follow those of some at rest."""
        return np.asarray(np.linalg.solve(
            np.eye(len(slides)) - dense_block(kinetic, slides, slides),
            dense_block(kinetic, slides, rests)), dtype=float)

    # -- the equations of held modes -------------------------------------------------------
    def matrix(self, problem: Problem, t: float) -> Matrix:
        """Rows: rates of elements at rest, efforts of sliding ones less what they slide with."""
        rests = self.state.modes == 0
        own = np.eye(self.size) if self.functions.few else sp.identity(self.size, format="csr")
        return _masked_rows(rests, self.delassus.matrix(problem, t)) + _masked_rows(
            ~rests, own - self.kinetic(problem, t))

    def newton(self, problem: Problem, t: float, residual: Array) -> Array:
        """Solve with :meth:`matrix`; least change where it is singular."""
        key = "solve", self.state.modes.tobytes()
        out: Array = self.once_here(problem, t, key, lambda: self._solver(problem, t))(residual)
        return out

    def _solver(self, problem: Problem, t: float) -> Callable[[Array], Any]:
        matrix = self.matrix(problem, t)
        if self.functions.few:
            return np.linalg.pinv(matrix, rcond=UNIT_PIVOT).dot
        inverse = inverse_by_parts(sp.csr_matrix(matrix), UNIT_PIVOT)
        return lambda r: inverse @ r

    def components(self, problem: Problem, t: float) -> Components:
        """Number of the island of every element, links by bounds included."""
        return self.once_here(problem, t, "components", lambda: self._components(problem, t))

    def _components(self, problem: Problem, t: float) -> Components:
        links = abs(self.delassus.matrix(problem, t))
        for slopes in self.slopes(problem, t):
            links = links + abs(slopes)
        return components(links)[1]


def _masked_rows(mask: Flags, matrix: Matrix) -> Matrix:
    """The rows of a mask, zero elsewhere."""
    if sp.issparse(matrix):
        return sp.diags_array(mask.astype(float)).tocsr() @ matrix
    return np.where(mask[:, None], matrix, 0.0)
