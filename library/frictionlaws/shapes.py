"""Curves that join -1 to 1 (or 0 to 1) smoothly, by which some laws are rounded.

All take a ratio and, the splines, a weight w in [0, 1/2].
"""

from math import pi

from blocks import abs_, arcsin, log, maximum, minimum, sin, sinh, sqrt, where

from .base import sgn


def sine(r):
    """sin(pi r/2)."""
    return sin(pi / 2 * r)


def even_cubic(r):
    """r² (3 - 2 |r|): 0 in the middle, 1 at both ends, zero slopes."""
    return r**2 * (3 - 2 * abs_(r))


def cubic(r):
    """:func:`even_cubic` with the sign of r."""
    return even_cubic(r) * sgn(r)


def bell(s, w):
    """3 u² - 2 u³ at the u where 3 w u + (3 - 9 w) u² + (6 w - 2) u³ = s, for s in [0, 1].

    A Bezier curve whose inner control points are w and 1 - w along; w = 1/3 gives
    3 s² - 2 s³. With q = u - 1/2 it is (6 w - 2) q³ + 3/2 (1 - w) q = s - 1/2, which
    the triple angle solves.
    """
    a, b = 2 - 6 * w, maximum(1.5 * (1 - w), 1e-12)
    size = maximum(abs_(a), 1e-12)
    reach = 2 * sqrt(b / (3 * size))
    target = 3 * (s - 0.5) / (b * reach)
    root = where(a > 0, sin(arcsin(maximum(minimum(target, 1), -1)) / 3),
                 sinh(_arsinh(target) / 3), events=False)  # fmt: skip
    u = minimum(maximum(0.5 + reach * root, 0), 1)
    return (3 - 2 * u) * u**2


def _arsinh(x):
    size = abs_(x)
    return sgn(x) * log(size + sqrt(size**2 + 1))


def spline(r, w):
    """Clamped cubic spline through -1 and 1, control points at ±(1 - 2 w); w = 0 is a line."""
    return 2 * bell((r + 1) / 2, w) - 1


def even_spline(r, w):
    """Clamped cubic spline from 0 in the middle to 1 at both ends."""
    return bell(abs_(r), 2 * w)
