"""Which points of a long curve does the eye need?

The smallest and the largest value of every column of the picture, in their order in time.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array

__all__ = ["thinned"]


def thinned(times: Array, values: Array, columns: int) -> tuple[Array, Array]:
    """Times and values of at most ``2 * columns + 2`` points; short curves stay as they are."""
    if len(times) <= 2 * columns + 2:
        return times, values
    edges = np.linspace(times[0], times[-1], columns + 1)
    starts = np.unique(np.searchsorted(times, edges[:-1], side="left"))
    low = np.where(np.isnan(values), np.inf, values)
    high = np.where(np.isnan(values), -np.inf, values)
    ends = [*starts[1:], len(times)]
    smallest = [a + int(np.argmin(low[a:b])) for a, b in zip(starts, ends, strict=True)]
    largest = [a + int(np.argmax(high[a:b])) for a, b in zip(starts, ends, strict=True)]
    kept = np.unique([0, *smallest, *largest, len(times) - 1])
    return times[kept], values[kept]
