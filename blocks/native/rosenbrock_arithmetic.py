"""The arithmetic of Rodas4P over all unknowns as machine code.

Coefficients and formulae are those of :mod:`blocks.solvers.rosenbrock`. The rows of ``k``
(:data:`~blocks.native.stages.ROWS`) hold f(t, x) and then the stages U_1 to U_6.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..numerics.arrays import Indices
from ..solvers.rosenbrock import COUPLINGS, POINTS
from .stages import addresses, weighted_sum

__all__ = ["COUPLED", "rosenbrock_arithmetic"]

COUPLED = 10  # the first entry of the table that couples a stage to those before it


@cache
def rosenbrock_arithmetic() -> Indices:
    """Addresses as :func:`blocks.native.stages.arithmetic` has them for the explicit pair, and what
    couples each stage to those before it."""
    sums = [(0.0, *row) for row in POINTS]  # the first row is f(t, x)
    coupled = [weighted_sum((0.0, *row), by_step="fdiv") for row in COUPLINGS]
    return np.append(addresses(sums, (0.0,) * 6 + (1.0,), 0, per_time=False), coupled)
