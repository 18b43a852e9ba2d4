"""Does a box problem have one solution for every load?

It has where D is symmetric and positive definite. A Delassus matrix that
is not symmetric (a normal force that depends on the friction force it causes)
may lose the property: then the contact laws have no solution or several,
which is Painlevé's paradox.

References
----------
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, sec. 3.3.
Painlevé, C. R. Acad. Sci. Paris 121 (1895) 112-115.
"""

from __future__ import annotations

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Array, Matrix
from ...numerics.tolerances import ROUNDING

__all__ = ["is_positive", "signed_pivot"]


def signed_pivot(A: Array) -> float:
    """The smallest pivot of a matrix, with the sign of the determinant; 0 where it is singular.

    Unlike a determinant it does not fade where many elements each lose a share.
    """
    from scipy.linalg import lapack  # loaded where it is needed, as it takes long

    if not len(A):
        return 1.0
    lu, pivots, _ = lapack.dgetrf(A)
    own = lu.diagonal()
    turned = np.count_nonzero(own < 0) + np.count_nonzero(pivots != np.arange(len(own)))
    return float(np.abs(own).min()) * (-1 if turned % 2 else 1)


@machine_code
def is_positive(d: Matrix, factors: Matrix, count: int, least: float) -> bool:
    """Whether the first rows and columns of D are symmetric and positive definite.

    Cholesky's factors of D, its diagonal scaled to 1 and less the ``least`` eigenvalue that it may
    have, prove that none is smaller (S. M. Rump, "Verification of positive definiteness", BIT 46,
    2006).
    """
    for i in range(count):
        if not d[i, i] > 0.0:
            return False
        begins = i  # left of its first entry a row has no factors
        for j in range(i + 1):
            if d[i, j] != 0.0:
                begins = min(begins, j)
            unit = np.sqrt(d[i, i] * d[j, j])
            if not abs(d[i, j] - d[j, i]) <= ROUNDING * unit:
                return False
            value = d[i, j] / unit
            for k in range(begins, j):
                value -= factors[i, k] * factors[j, k]
            if j < i:
                factors[i, j] = value / factors[j, j]
            elif value > least:
                factors[i, j] = np.sqrt(value - least)
            else:
                return False
    return True
