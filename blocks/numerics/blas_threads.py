"""How many threads work on a small matrix?

BLAS shares out a matrix from some 50 rows on, and its threads wait for each other in a loop: beside
other work the singular values of 64 x 64 entries take ten times as long on two threads as on one.
"""

from __future__ import annotations

import contextlib
import sys
from functools import cache
from typing import Any

__all__ = ["threads_for"]

SMALL, LARGE = 32, 500  # rows that one thread has done before others have begun
AS_MANY: contextlib.nullcontext[None] = contextlib.nullcontext()


def threads_for(rows: int) -> contextlib.AbstractContextManager[Any]:
    """One thread of BLAS inside, where matrices have so many rows that more of them hinder."""
    if not SMALL < rows < LARGE:
        return AS_MANY
    limits: contextlib.AbstractContextManager[Any] = _libraries(
        "scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries(with_scipy: bool) -> Any:  # which has a BLAS of its own
    """Return the loaded BLAS libraries: to find them takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
