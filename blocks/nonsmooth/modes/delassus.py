"""Which efforts cancel given rates, where they may not be determined?

Knows a Delassus matrix only, dense for few elements and sparse for many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, diags_array, issparse

__all__ = ["singular", "solver"]

CROWD = 256  # elements up to which a singular matrix is inverted densely


def solver(d: Any) -> Any:
    """Efforts that cancel given rates; least norm where they are not determined."""
    if issparse(d):
        diagonal = d.diagonal()
        if d.count_nonzero() == np.count_nonzero(diagonal):
            inverse = np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0)
            return lambda r: (inverse * r.T).T
        from scipy.sparse.linalg import splu

        if not singular(d):
            return splu(d).solve
        if len(diagonal) > CROWD:
            near = splu(csc_matrix(d + 1e-8 * diags_array(diagonal + (diagonal == 0))))

            def proximal(rate: np.ndarray) -> np.ndarray:
                x = near.solve(rate)
                for _ in range(3):
                    x += near.solve(rate - d @ x)
                return x

            return proximal
        d = d.toarray()
    if d.shape == (1, 1):
        inverse = 1.0 / d[0, 0] if d[0, 0] > 0 else 0.0
        return lambda r: inverse * r
    size = np.sqrt(np.maximum(np.diag(d), 0.0))
    size = np.where(size > 1e-7 * size.max(initial=0.0), size, np.inf)
    scaled = d / np.outer(size, size)
    matrix = np.linalg.pinv(scaled, rcond=1e-11) if np.linalg.matrix_rank(scaled, tol=1e-11) < len(
        d) else np.linalg.inv(scaled)
    matrix = matrix / np.outer(size, size)
    return lambda r: matrix @ r


def singular(d: csc_matrix) -> bool:
    """Whether a sparse matrix is singular up to rounding."""
    from scipy.sparse.linalg import splu

    try:
        u = np.abs(splu(d).U.diagonal())
    except RuntimeError:
        return True
    return bool(u.min() <= 1e-11 * u.max())
