"""Solve a principal block, regular or not, dense or sparse; is it positive?

Works on blocks of a scaled box (unit diagonal), so one absolute pivot
tolerance holds for all of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array
from ...numerics.tolerances import LEAST_NORM, PROXIMAL_BLOCK, SEMIDEFINITE, UNIT_PIVOT
from .scaling import Matrix

__all__ = ["factorise", "is_convex", "signed_pivot", "solve_block"]

Solve = Callable[[Array], Array]


def factorise(A: Matrix, *, symmetric: bool) -> Solve | None:
    """Solver of A x = r, or None where A is singular to UNIT_PIVOT.

    For symmetric matrices "singular" includes "not positive definite".
    """
    if sp.issparse(A):
        return _factorise_sparse(A, symmetric=symmetric)
    from scipy.linalg import lapack  # loaded where it is needed, as it takes long

    if symmetric:
        factor, info = lapack.dpotrf(A, lower=1)
        if info != 0 or np.min(np.diag(factor), initial=1.0) ** 2 <= UNIT_PIVOT:
            return None
        return lambda r: lapack.dpotrs(factor, r, lower=1)[0]
    lu, pivots, info = lapack.dgetrf(A)
    if info != 0 or np.min(np.abs(np.diag(lu)), initial=1.0) <= UNIT_PIVOT:
        return None
    return lambda r: lapack.dgetrs(lu, pivots, r)[0]


def _factorise_sparse(A: Matrix, *, symmetric: bool) -> Solve | None:
    from scipy.sparse.linalg import splu

    try:
        if symmetric:
            lu = splu(
                sp.csc_array(A), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )  # fmt: skip
            if np.any(lu.perm_r != lu.perm_c):
                return None  # a diagonal pivot was exactly zero
            worst = lu.U.diagonal().min()
        else:
            lu = splu(sp.csc_array(A))
            worst = np.abs(lu.U.diagonal()).min()
    except RuntimeError:  # SuperLU: "Factor is exactly singular"
        return None
    return lu.solve if worst > UNIT_PIVOT else None


def solve_block(A: Matrix, r: Array, near: Array, *, symmetric: bool) -> Array:
    """Solve A x = r; where A is singular, the solution nearest to ``near``.

    On a singular symmetric block the proximal points of ½ x'Ax - r'x are taken
    (Rockafellar 1976). If r is outside the range of A they run off along the
    kernel, in the direction in which a bound has to stop them.
    """
    solve = factorise(A, symmetric=symmetric)
    if solve is not None:
        return solve(r)
    if not symmetric and not sp.issparse(A):
        return near + np.linalg.lstsq(A, r - A @ near, rcond=LEAST_NORM)[0]
    n = A.shape[0]
    eye = sp.eye_array(n, format="csr") if sp.issparse(A) else np.eye(n)
    solve = factorise(A + PROXIMAL_BLOCK * eye, symmetric=symmetric)
    if solve is None:
        return near
    x = near
    for _ in range(3):
        x = x + solve(r - A @ x)
    return x


def signed_pivot(A: Array) -> float:
    """The smallest pivot of a matrix, with the sign of the determinant; 0 where it is singular.

    Unlike a determinant it does not fade where many elements each lose a share.
    """
    from scipy.linalg import lapack

    if not len(A):
        return 1.0
    lu, pivots, _ = lapack.dgetrf(A)
    own = lu.diagonal()
    turned = np.count_nonzero(own < 0) + np.count_nonzero(pivots != np.arange(len(own)))
    return float(np.abs(own).min()) * (-1 if turned % 2 else 1)


def is_convex(A: Matrix) -> bool:
    """True if the symmetric matrix A is positive semi-definite up to rounding."""
    n = A.shape[0]
    eye = sp.eye_array(n, format="csr") if sp.issparse(A) else np.eye(n)
    return factorise(A + SEMIDEFINITE * eye, symmetric=True) is not None
