"""How is a CasADi function called many times without allocating anything?"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array, Flags, Indices
from .columnwise import Columnwise

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["Arguments", "Evaluator"]

MANY = 64  # points from which operations on arrays are quicker than a call for each

#: What every function of a system takes: ``(t, x, z, p, m, d, u)``.
Arguments: TypeAlias = tuple[float, Array, Array, Array, Array, Array, Array]


class Evaluator:
    """A CasADi function called without allocations on CasADi's side.

    Arguments are copied into fixed arrays; sparse results come back as their
    nonzeros in column order.
    """

    def __init__(self, function: ca.Function) -> None:
        self.function = function
        self.buffer, self.trigger = function.buffer()
        self.arguments = [np.zeros(function.nnz_in(i)) for i in range(function.n_in())]
        self.results = [np.zeros(function.nnz_out(i)) for i in range(function.n_out())]
        for i, a in enumerate(self.arguments):
            self.buffer.set_arg(i, a.data)  # type: ignore[call-arg]  # a view knows its size
        for i, r in enumerate(self.results):
            self.buffer.set_res(i, r.data)  # type: ignore[call-arg]
        #: Arguments that have numbers, and which they are.
        self._read = [(i, a) for i, a in enumerate(self.arguments) if a.size]

    def __call__(self, *arguments: ArrayLike) -> Array:
        if len(arguments) != len(self.arguments):
            raise TypeError(f"{self.function.name()} takes {len(self.arguments)} arguments, but "
                            f"was given {len(arguments)}")
        for i, mine in self._read:
            mine[...] = arguments[i]
        self.trigger()
        return self.results[0].copy()

    def at_columns(self, *arguments: Array) -> Array:
        """The first result at many points, (rows, points).

        Arguments are columns, (n, points); those of one dimension, or of one column, are the
        same at all points.
        """
        given = [a[:, None] if a.ndim == 1 else a for a in arguments]
        count = max(a.shape[1] for a in given)
        if count >= MANY and self._columnwise is not None:
            return self._columnwise(given, count)
        out, rows = np.zeros((self.function.size1_out(0), count)), self._pattern[0]
        for mine, a in zip(self.arguments, given, strict=True):
            if a.shape[1] == 1:
                mine[...] = a[:, 0]
        moving = [(self.arguments[i], a) for i, a in enumerate(given) if a.shape[1] > 1 and len(a)]
        for k in range(count):
            for mine, a in moving:
                mine[...] = a[:, k]
            self.trigger()
            out[rows, k] = self.results[0]
        return out

    @cached_property
    def _columnwise(self) -> Columnwise | None:
        """Return the function by operations on arrays, where these give the same numbers."""
        return Columnwise(self.function) if Columnwise.fits(self.function) else None

    def sparse(self, *arguments: ArrayLike) -> csc_matrix:
        """The first result as a CSC matrix."""
        from scipy.sparse import csc_matrix

        data = self(*arguments)
        rows, starts = self._pattern
        return csc_matrix((data, rows, starts), shape=self.function.size_out(0))

    def dense(self, *arguments: ArrayLike) -> Array:
        """The first result as a matrix, without the help of SciPy."""
        out = np.zeros(self.mask.shape)
        out[self._places] = self(*arguments)
        return out

    def row_by_row(self, *arguments: ArrayLike) -> Array:
        """The nonzeros of the first result in the order of its rows."""
        return self(*arguments)[np.argsort(self._pattern[0], kind="stable")]

    @cached_property
    def mask(self) -> Flags:
        """Where the first result may be other than zero."""
        out = np.zeros(self.function.size_out(0), dtype=bool)
        out[self._places] = True
        return out

    @cached_property
    def by_rows(self) -> tuple[Indices, Indices]:
        """Where each row of the first result begins among its entries, and their columns."""
        turned = self.function.sparsity_out(0).T
        return np.array(turned.colind(), dtype=int), np.array(turned.row(), dtype=int)

    @cached_property
    def _places(self) -> tuple[Indices, Indices]:
        """Row and column of every nonzero."""
        rows, starts = self._pattern
        return rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts))

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Row of every nonzero, and where each column begins among them."""
        sparsity = self.function.sparsity_out(0)
        return np.array(sparsity.row(), dtype=np.int32), np.array(sparsity.colind(), dtype=np.int32)
