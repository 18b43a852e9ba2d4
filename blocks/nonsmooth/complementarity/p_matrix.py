"""Does a box problem have one solution for every load? (Is D a P-matrix?)

For a symmetric matrix this is positive definiteness. A Delassus matrix that
is not symmetric (a normal force that depends on the friction force it causes)
may lose the property: then the contact laws have no solution or several,
which is Painlevé's paradox.

References
----------
Tsatsomeros, Li, BIT 40 (2000) 410-414 (recursive test, 2^n operations).
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, sec. 3.3.
Painlevé, C. R. Acad. Sci. Paris 121 (1895) 112-115.
"""

from __future__ import annotations

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array
from ...numerics.tolerances import P_MATRIX
from .linear_solves import factorise
from .scaling import Matrix

__all__ = ["is_p_matrix"]

LARGEST = 10
"""Order up to which the recursive test is run."""


def is_p_matrix(matrix: Matrix) -> bool | None:
    """Whether all principal minors are positive.

    Parameters
    ----------
    matrix : (n, n) array_like or sparse

    Returns
    -------
    bool or None
        None where it was not decided: n > 10 and neither positive definite
        nor with a dominant diagonal.

    Examples
    --------
    >>> is_p_matrix([[1.0, -3.0], [1.0, 1.0]])
    True
    >>> is_p_matrix([[1.0, 3.0], [1.0, 1.0]])
    False
    """
    A = sp.csr_array(matrix, dtype=float) if sp.issparse(matrix) else np.array(matrix, float)
    diagonal = A.diagonal()
    if np.any(diagonal <= P_MATRIX * np.max(np.abs(diagonal), initial=0.0)):
        return False
    d = 1 / np.sqrt(diagonal)
    A = sp.diags_array(d) @ A @ sp.diags_array(d) if sp.issparse(A) else d[:, None] * A * d
    if factorise((A + A.T) / 2, symmetric=True) is not None:
        return True
    if _dominant(A):
        return True
    if A.shape[0] > LARGEST:
        return None
    return _minors_positive(sp.dense(A))


def _dominant(A: Matrix) -> bool:
    """Rows or columns of a unit-diagonal matrix whose rest stays below 1."""
    size = abs(A)
    return bool(size.sum(axis=1).max() < 2 - P_MATRIX or size.sum(axis=0).max() < 2 - P_MATRIX)


def _minors_positive(A: Array) -> bool:
    if A[0, 0] <= P_MATRIX:
        return False
    if len(A) == 1:
        return True
    rest = A[1:, 1:]
    return _minors_positive(rest) and _minors_positive(
        rest - np.outer(A[1:, 0], A[0, 1:]) / A[0, 0])
