"""How is a CasADi function called many times without allocating anything?"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array, Flags

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["Arguments", "Evaluator"]

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

    def __call__(self, *arguments: ArrayLike) -> Array:
        for mine, given in zip(self.arguments, arguments, strict=True):
            mine[...] = given
        self.trigger()
        return self.results[0].copy()

    def sparse(self, *arguments: ArrayLike) -> csc_matrix:
        """The first result as a CSC matrix."""
        from scipy.sparse import csc_matrix

        data = self(*arguments)
        rows, starts = self._pattern
        return csc_matrix((data, rows, starts), shape=self.function.size_out(0))

    def dense(self, *arguments: ArrayLike) -> Array:
        """The first result as a matrix, without the help of SciPy."""
        rows, starts = self._pattern
        out = np.zeros(self.function.size_out(0))
        out[rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = self(*arguments)
        return out

    @cached_property
    def mask(self) -> Flags:
        """Where the first result may be other than zero."""
        rows, starts = self._pattern
        out = np.zeros(self.function.size_out(0), dtype=bool)
        out[rows, np.repeat(np.arange(len(starts) - 1), np.diff(starts))] = True
        return out

    @cached_property
    def _pattern(self) -> tuple[np.ndarray, np.ndarray]:
        """Row of every nonzero, and where each column begins among them."""
        sparsity = self.function.sparsity_out(0)
        return np.array(sparsity.row(), dtype=np.int32), np.array(sparsity.colind(), dtype=np.int32)
