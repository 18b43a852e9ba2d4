"""How is a large sparse Jacobian found without writing its entries down?

References
----------
Curtis, Powell and Reid, On the estimation of sparse Jacobian matrices, IMA Journal of Applied
Mathematics 13 (1974) 117-119.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from .evaluator import Evaluator

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["CompressedJacobian"]


class CompressedJacobian:
    """A Jacobian, a group of columns at a time.

    Columns without a common row are found by one product with a vector.

    Parameters
    ----------
    arguments : symbols of what it is evaluated at
    expression, variable : what is differentiated, and by what
    pattern : where it may be other than zero
    """

    def __init__(self, arguments: list[ca.SX], expression: ca.SX, variable: ca.SX,
                 pattern: ca.Sparsity) -> None:
        self.shape: tuple[int, int] = pattern.shape
        self.rows, self.starts = np.array(pattern.row()), np.array(pattern.colind())
        groups = pattern.uni_coloring()
        self.colour = np.empty(variable.numel(), dtype=int)  # group of every column
        self.colour[np.array(groups.row())] = np.repeat(
            np.arange(groups.shape[1]), np.diff(groups.colind()))
        v = ca.SX.sym("v", variable.numel())
        self.product = Evaluator(ca.Function(
            "product", [*arguments, v], [ca.jtimes(expression, variable, v)]))

    def sparse(self, *arguments: ArrayLike) -> csc_matrix:
        """The Jacobian at a point, as a CSC matrix."""
        from scipy.sparse import csc_matrix

        products = np.column_stack([self.product(*arguments, self.colour == k)
                                    for k in range(self.colour.max(initial=0) + 1)])
        data = products[self.rows, np.repeat(self.colour, np.diff(self.starts))]
        return csc_matrix((data, self.rows, self.starts), shape=self.shape)
