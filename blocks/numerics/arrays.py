"""Types of arrays, as signatures name them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Flags", "Indices"]

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int_]
Flags: TypeAlias = NDArray[np.bool_]
