"""How is a large sparse Jacobian of linear equations found without writing its entries down?

References
----------
Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices, IMA Journal of Applied
Mathematics 13 (1974) 117-119.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .evaluator import Arguments, Evaluator

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["CompressedJacobian"]

HUGE = 2.0**200  # beside it nothing else in an equation counts; a power of two is exact


class CompressedJacobian:
    """The Jacobian of linear equations, a group of columns at a time.

    Columns without a common row are found together, by unknowns so large that what else is in
    the equations is lost in rounding.

    Parameters
    ----------
    residual : linear in the torn unknowns ``z``, with coefficients of parameters only
    """

    def __init__(self, residual: Evaluator) -> None:
        self.residual = residual
        pattern = residual.function.jac_sparsity(0, 2)
        self.shape: tuple[int, int] = pattern.shape
        self.rows, self.starts = np.array(pattern.row()), np.array(pattern.colind())
        groups = pattern.uni_coloring()
        self.colour = np.empty(self.shape[1], dtype=int)  # group of every column
        self.colour[np.array(groups.row())] = np.repeat(
            np.arange(groups.shape[1]), np.diff(groups.colind()))

    def sparse(self, *arguments: *Arguments) -> csc_matrix:
        """The Jacobian at a point, as a CSC matrix."""
        from scipy.sparse import csc_matrix

        t, x, _, *others = arguments
        columns = np.repeat(self.colour, np.diff(self.starts))
        data = np.empty(len(self.rows))
        for k in range(self.colour.max(initial=-1) + 1):
            found = self.residual(t, x, HUGE * (self.colour == k), *others)
            mine = columns == k
            data[mine] = found[self.rows[mine]] / HUGE
        return csc_matrix((data, self.rows, self.starts), shape=self.shape)
