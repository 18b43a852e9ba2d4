"""How large does a variable become, and when, between samples too?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...numerics.arrays import Array, Indices
from .rows import Rows

__all__ = ["largest", "largest_of_runs"]

FEW = 300  # variables between whose samples the largest value is looked for
CONTINUOUS = 1e-9  # part of a value by which both sides of an instant may differ, and be one
LOOKS = 20  # local maxima that are looked at, the highest first, while one may be higher


def largest(rows: Rows, sign: int = 1) -> tuple[Array, Array]:
    """The largest of ``sign`` times every variable, and its first instant; (variables,) each.

    A parabola through three samples shows where a summit is, the solver's interpolant
    how high. Where variables are very many, the largest sample is taken.
    """
    def read(variables: Indices, _: Indices, at: Array) -> Array:
        indices = [rows.indices[int(i)] for i in variables]
        found = rows.in_any_order(indices, at.ravel()).reshape(len(indices), *at.shape)
        own = np.arange(len(indices))
        return sign * found[own, :, own].T

    times, values = rows.curve()
    best, when = largest_of_runs(sign * values, times, np.zeros(1, dtype=int), read)
    return best[:, 0], when[:, 0]


def largest_of_runs(samples: Array, times: Array, first: Indices,
                    read: Callable[[Indices, Indices, Array], Array]) -> tuple[Array, Array]:
    """Return largest values and their first instants of several runs, (variables, runs) each.

    ``samples`` and ``times`` are of one run after the other, each from its ``first`` sample on;
    ``read`` gives values of variables, of runs, at times between samples: (looks, k) of k of each.
    """
    place = np.stack([a + samples[:, a:b].argmax(axis=1) for a, b in zip(
        first.tolist(), [*first[1:].tolist(), len(times)], strict=True)], axis=1)
    best, when = np.take_along_axis(samples, place, axis=1), times[place]
    if len(samples) > FEW:
        return best, when
    new = np.append(True, times[1:] != times[:-1])  # known instants and events have two samples
    new[first] = True
    left = np.flatnonzero(new)
    right, at = np.append(left[1:], len(times)) - 1, times[left]
    first = np.searchsorted(left, first)
    tops, heights = maxima((at[:-2], at[1:-1], at[2:]), (
        samples[:, right[:-2]], samples[:, left[1:-1]], samples[:, left[2:]]))
    jump = np.abs(samples[:, right] - samples[:, left])[:, 1:-1]
    heights[jump > CONTINUOUS * np.abs(samples[:, left[1:-1]])] = -np.inf
    ends = np.append(first[1:], len(at)) - 2
    for _ in range(LOOKS):  # samples close together make maxima that are none
        place, highest = np.zeros(best.shape, dtype=int), np.full(best.shape, -np.inf)
        for r, (a, b) in enumerate(zip(first.tolist(), ends.tolist(), strict=True)):
            if b > a:
                place[:, r] = a + np.argmax(heights[:, a:b], axis=1)
                highest[:, r] = np.take_along_axis(heights, place[:, [r]], axis=1)[:, 0]
        variable, run = found = np.nonzero(highest > best)
        if not len(variable):
            break
        place = place[found]
        top, before, after = tops[variable, place], at[place], at[place + 2]
        heights[variable, place] = -np.inf
        apart = (after - before) / 16
        near = np.clip(top + np.array([[-1], [0], [1]]) * apart, before, after)
        seen = read(variable, run, near)
        closer, rises = maxima(near, seen)
        last = np.where(np.isfinite(rises), closer, top)[None, :]
        looked = np.vstack([best[found], seen, read(variable, run, last)])
        higher = looked.argmax(axis=0)[None, :]
        best[found] = np.take_along_axis(looked, higher, axis=0)[0]
        when[found] = np.take_along_axis(np.vstack([when[found], near, last]), higher, axis=0)[0]
    return best, when


def maxima(times: Sequence[Array] | Array, values: Sequence[Array] | Array) -> tuple[Array, Array]:
    """Times and heights of parabolas through three values; -inf where none has its top there."""
    (t0, t1, t2), (a, b, c) = times, values
    with np.errstate(all="ignore"):
        rise, last = (b - a) / (t1 - t0), (c - b) / (t2 - t1)
        bend = (last - rise) / (t2 - t0)
        top = (t0 + t1) / 2 - rise / (2 * bend)
        height = a + (top - t0) * rise + (top - t0) * (top - t1) * bend
        there = (bend < 0) & (t0 < t1) & (t1 < t2) & (t0 <= top) & (top <= t2)
    return np.where(there, top, t1), np.where(there & np.isfinite(height), height, -np.inf)
