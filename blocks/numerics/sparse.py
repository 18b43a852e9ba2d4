"""SciPy's sparse matrices, imported when the first is made: that takes as long as NumPy itself."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def issparse(matrix: object) -> bool:
    """Whether this is a sparse matrix of SciPy, which nothing is before one was made."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(matrix))


def dense(matrix: Any) -> Any:
    """A matrix as an array, whichever kind it is."""
    return matrix.toarray() if issparse(matrix) else matrix


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # what is asked of every module
        raise AttributeError(name)
    found = globals()[name] = getattr(importlib.import_module("scipy.sparse"), name)
    return found
