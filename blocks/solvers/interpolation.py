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

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array

__all__ = ["Hermite", "barycentric_weights", "basis",
           "chebyshev_nodes", "nodes_between", "unit_interval"]  # fmt: skip


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


def nodes_between(start: Array, end: Array, count: int) -> Array:
    """(k, count) the nodes of intervals, ends exact."""
    at = 0.5 * (start + end)[:, None] + 0.5 * (end - start)[:, None] * chebyshev_nodes(count)
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


class Hermite:
    """The cubic with values y0, y1 and slopes s0, s1 at the ends of [start, end]."""

    def __init__(self, start: float, end: float, y0: Array, y1: Array, s0: Array, s1: Array):
        self.start, self.end = start, end
        self.y0, self.y1, self.s0, self.s1 = y0, y1, s0, s1

    def __call__(self, t: ArrayLike) -> Array:
        h = self.end - self.start
        s = (np.asarray(t, dtype=float) - self.start) / h
        r = 1.0 - s
        outer = np.multiply.outer
        return (
            outer(self.y0, (1.0 + 2.0 * s) * r * r)
            + outer(self.y1, (1.0 + 2.0 * r) * s * s)
            + outer(h * self.s0, s * r * r)
            - outer(h * self.s1, r * s * s)
        )
