"""How large does a variable become, between samples too?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..numerics.arrays import Array
from .rows import Rows

__all__ = ["largest"]

FEW = 300  # variables between whose samples the largest value is looked for


def largest(rows: Rows, sign: int = 1) -> Array:
    """The largest of ``sign`` times every variable, (variables,).

    A parabola through three samples shows where a summit is, the solver's interpolant
    how high. Where variables are very many, the largest sample is taken.
    """
    samples = sign * rows.some_samples()
    best = samples.max(axis=-1)
    if samples.shape[1] < 3 or len(samples) > FEW:
        return best
    times = rows.times
    tops, heights = summits((times[:-2], times[1:-1], times[2:]),
                            (samples[:, :-2], samples[:, 1:-1], samples[:, 2:]))  # fmt: skip
    place = np.argmax(heights, axis=1)
    found = np.flatnonzero(heights[np.arange(len(samples)), place] > best)
    if not len(found):
        return best
    indices = [rows.indices[int(i)] for i in found]
    own = np.arange(len(found))
    top, place = tops[found, place[found]], place[found]

    def height(at: Array) -> Array:
        read = rows.in_any_order(indices, at.ravel()).reshape(len(found), *at.shape)
        return sign * read[own, :, own].T

    apart = (times[place + 2] - times[place]) / 16
    near = np.clip(top + np.array([[-1], [0], [1]]) * apart, times[place], times[place + 2])
    seen = height(near)
    tops, heights = summits(near, seen)
    last = height(np.where(np.isfinite(heights), tops, top)[None, :])
    best[found] = np.max([best[found], *seen, *last], axis=0)
    return best


def summits(times: Sequence[Array] | Array, values: Sequence[Array] | Array) -> tuple[Array, Array]:
    """Times and heights of parabolas through three values; -inf where none has its summit there."""
    (t0, t1, t2), (a, b, c) = times, values
    with np.errstate(all="ignore"):
        rise, last = (b - a) / (t1 - t0), (c - b) / (t2 - t1)
        bend = (last - rise) / (t2 - t0)
        top = (t0 + t1) / 2 - rise / (2 * bend)
        height = a + (top - t0) * rise + (top - t0) * (top - t1) * bend
        there = (bend < 0) & (t0 < t1) & (t1 < t2) & (t0 <= top) & (top <= t2)
    return np.where(there, top, t1), np.where(there & np.isfinite(height), height, -np.inf)
