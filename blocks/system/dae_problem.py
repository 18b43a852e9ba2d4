"""The initial value problem as a semi-explicit DAE, for methods that solve such."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
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
    implicit : the system's function of that name, in whatever way it is evaluated
    """

    implicit: Callable[..., Array] | None = None

    def tie(self, tied: Indices) -> None:
        super().tie(tied)
        self.__dict__.pop("_layout", None)
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
            self.solve_algebraic(t)
        return self.x, self.z

    def slope(self, t: float, y: Array) -> Array:
        self.place(y)
        out = np.zeros(self.size)
        out[: self.inner] = self.system.slope(*self.arguments(t))[self.free] / self.scale_y
        return out

    def exponents(self, t: float, y: Array) -> Array:
        self.place(y)
        return self.system.exponents(*self.arguments(t))

    def residual(self, t: float, y: Array, slope: Array) -> Array:
        self.place(y)
        values = (self.implicit or self.system.implicit)(*self.arguments(t))
        return np.concatenate([values[self.free] / self.scale_y - slope[: self.inner],
                               values[self.system.nx:]])

    def residual_jacobian(self, t: float, y: Array, slope: Array, c: float) -> csc_matrix:
        from scipy.sparse import csc_matrix

        self.place(y)
        kept, factors, place, rows, starts = self._layout
        values = self.system.implicit_jacobian(*self.arguments(t))[kept] * factors
        data = np.bincount(place, np.concatenate([values, np.full(self.inner, -c)]), len(rows))
        return csc_matrix((data, rows, starts), shape=(self.size, self.size))

    @cached_property
    def _layout(self) -> tuple[Indices, Array, Indices, Indices, Indices]:
        """Which derivatives count, times what, and where in the Jacobian they are added, then
        those by slopes; rows of its entries, and where its columns begin."""
        nx, function = self.system.nx, self.system.implicit_jacobian.function
        rows, columns = np.array(function.sparsity_out(0).get_triplet(), dtype=int)
        row_at, column_at = np.full(function.size1_out(0), -1), np.arange(function.size2_out(0))
        row_at[self.free], row_at[nx:] = np.arange(self.inner), np.arange(self.inner, self.size)
        column_at[np.concatenate([self.free, self.tied])] = np.arange(nx)
        kept = np.flatnonzero(row_at[rows] >= 0)
        row, column = row_at[rows[kept]], column_at[columns[kept]]
        factors = self.scale[column] / np.append(self.scale_y, np.ones(self.algebraic))[row]
        own = np.arange(self.inner) * (self.size + 1)
        keys, place = np.unique(np.append(column * self.size + row, own), return_inverse=True)
        starts = np.searchsorted(keys, np.arange(self.size + 1) * self.size)
        return kept, factors, place, keys % self.size, starts
