"""Dense output: polynomials on one interval, by which a step tells the values inside it.

Chebyshev-Lobatto nodes are x_j = -cos(j pi/(K - 1)), j = 0..K-1, with both ends
among them. The interpolant is evaluated by the second (true) barycentric
formula, which is stable for these nodes.

References
----------
J.-P. Berrut and L. N. Trefethen, "Barycentric Lagrange Interpolation",
SIAM Review 46(3), 2004, 501-517.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array

__all__ = ["barycentric_weights", "basis", "chebyshev_nodes", "places_between", "straight",
           "unit_interval"]  # fmt: skip


@lru_cache(maxsize=32)
def chebyshev_nodes(count: int) -> Array:
    """``count`` Chebyshev-Lobatto nodes on [-1, 1], ends exact, ascending."""
    j = np.arange(count)
    nodes = np.sin(np.pi * (2 * j - (count - 1)) / (2 * (count - 1)))
    nodes.setflags(write=False)
    return nodes


@lru_cache(maxsize=32)
def barycentric_weights(count: int) -> Array:
    """Weights of so many Chebyshev points in the barycentric formula."""
    weights = np.where(np.arange(count) % 2, -1.0, 1.0)
    weights[[0, -1]] *= 0.5
    return weights


def unit_interval(t: Array, start: Array | float, end: Array | float) -> Array:
    """Map [start, end] to [-1, 1] so that both ends come out exactly."""
    return ((t - start) - (end - t)) / (end - start)


def places_between(start: Array, end: Array, places: Array) -> Array:
    """(k, places) times in intervals at places of [-1, 1], ascending, ends exact."""
    at = 0.5 * (start + end)[:, None] + 0.5 * (end - start)[:, None] * places
    at[:, 0], at[:, -1] = start, end
    return at


def basis(x: Array, count: int) -> Array:
    """(k, count) values at ``x`` of the Lagrange polynomials of the nodes."""
    gap = x[:, None] - chebyshev_nodes(count)
    on_node = gap == 0.0
    gap[on_node] = 1.0
    terms = barycentric_weights(count) / gap
    hit = on_node.any(axis=1)
    terms[hit] = on_node[hit]
    return terms / terms.sum(axis=1, keepdims=True)


def straight(start: float, end: float, first: Array, last: Array) -> Callable[[ArrayLike], Array]:
    """The straight line between values at both ends of [start, end]."""
    def line(t: ArrayLike) -> Array:
        s = (np.asarray(t, dtype=float) - start) / (end - start)
        found: Array = np.multiply.outer(first, 1.0 - s) + np.multiply.outer(last, s)
        return found

    return line
