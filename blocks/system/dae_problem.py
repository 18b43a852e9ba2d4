"""The initial value problem as a semi-explicit DAE, for methods that solve such."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Indices
from .problem import Problem

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["DaeProblem"]


class DaeProblem(Problem):
    """The semi-explicit DAE: algebraic unknowns belong to the solver, not to Newton's method.

    Attributes
    ----------
    inner, scale_y : number and nominal values of the unknowns that have a derivative
    """

    def tie(self, tied: Indices) -> None:
        super().tie(tied)
        self.inner = self.size
        self.size = self.size + self.algebraic
        self.differential = np.arange(self.size) < self.inner
        self.scale_y = self.scale
        self.scale = np.concatenate([self.scale_y, self.scale_w])

    def place(self, y: Array) -> None:
        """Make the present point the given one."""
        values = y * self.scale
        self.x[self.free] = values[: self.inner]
        self.x[self.tied] = values[self.inner : self.inner + len(self.tied)]
        self.z[:] = values[self.inner + len(self.tied):]

    def start_vector(self) -> Array:
        return np.concatenate([self.x[self.free], self.x[self.tied], self.z]) / self.scale

    def solve(self, t: float, y: Array) -> tuple[Array, Array]:
        if len(y) == self.size:
            self.place(y)
            if self.algebraic:
                self.solve_algebraic(t)
        return self.x, self.z

    def slope(self, t: float, y: Array) -> Array:
        self.place(y)
        out = np.zeros(self.size)
        out[: self.inner] = self.system.slope(*self.arguments(t))[self.free] / self.scale_y
        return out

    def residual(self, t: float, y: Array, slope: Array) -> Array:
        self.place(y)
        args = self.arguments(t)
        f = self.system.slope(*args)[self.free] / self.scale_y - slope[: self.inner]
        return np.concatenate([f, self.system.residual(*args)])

    def residual_jacobian(self, t: float, y: Array, slope: Array, c: float) -> csc_matrix:
        from scipy.sparse import bmat, csc_matrix, diags, hstack, identity

        self.place(y)
        args = self.arguments(t)
        fx = self.system.slope_x.sparse(*args)
        left = diags(1 / self.scale_y)
        top = hstack([fx[self.free][:, self.free], fx[self.free][:, self.tied],
                      self.system.slope_z.sparse(*args)[self.free]])
        rows = [left @ top]
        if self.algebraic:
            rx = self.system.residual_x.sparse(*args)
            rows.append(hstack([rx[:, self.free], rx[:, self.tied],
                                self.system.residual_z.sparse(*args)]))
        j = bmat([[r] for r in rows]) @ diags(self.scale)
        shift = bmat([[identity(self.inner), None],
                      [None, csc_matrix((self.algebraic, self.algebraic))]])
        return csc_matrix(j - c * shift)
