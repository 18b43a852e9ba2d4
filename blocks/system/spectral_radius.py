"""How fast is the fastest motion? The largest modulus of an eigenvalue, by power iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics.arrays import Array, length

__all__ = ["spectral_radius"]

ROUNDS = 24  # of the power iteration; the second half counts
ALIKE, SETTLED = 8, 1e-3  # so many rounds in a row that have grown alike are enough


def spectral_radius(product: Callable[[Array], Array], n: int) -> float:
    """About the largest modulus of an eigenvalue of an n x n matrix, given as its product with
    a vector; inf where it is not finite."""
    v = np.random.default_rng(0).standard_normal(n)
    growth = []
    for _ in range(ROUNDS):
        v = product(v)
        size = length(v)
        if not (np.isfinite(size) and size > 0):
            return np.inf if not np.isfinite(size) else 0.0
        v /= size
        growth.append(np.log(size))
        if len(growth) >= ALIKE and np.ptp(growth[-ALIKE:]) <= SETTLED:
            break
    return float(np.exp(np.mean(growth[len(growth) // 2:])))
