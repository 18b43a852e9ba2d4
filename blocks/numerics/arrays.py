"""Types of arrays, as signatures name them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Cube", "Flags", "IndexMatrix", "Indices", "Matrix", "Vector"]

Array: TypeAlias = NDArray[np.float64]
Vector: TypeAlias = Array  # of one dimension; machine code asks for it by this name
Matrix: TypeAlias = Array  # of two
Cube: TypeAlias = Array  # of three
Indices: TypeAlias = NDArray[np.int_]
IndexMatrix: TypeAlias = Indices  # of two dimensions
Flags: TypeAlias = NDArray[np.bool_]
