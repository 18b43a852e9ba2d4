"""What are values between samples, where only these are known?

A cubic polynomial through the four nearest samples of the same stretch without event, fewer where
the stretch has fewer; what is held keeps its value until the next event. Two equal times are the
sides of an event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...numerics.arrays import Array, Flags, Indices

__all__ = ["MOST_ROUNDS", "SampledCurves", "refined"]

POINTS = 4  # of a polynomial
MOST_ROUNDS = 6  # in which samples are added
MOST_ADDED = 4  # times as many samples as there were


class SampledCurves:
    """Rows of values at ascending times, (variables, times), read at any time between; those that
    are ``held`` keep their value between events."""

    def __init__(self, times: Array, rows: Array, held: Flags) -> None:
        self.times, self.rows, self.held = times, rows, held
        ends = np.append(np.flatnonzero(np.diff(times) == 0), len(times) - 1)
        lengths = np.diff(ends, prepend=-1)
        self._last = np.repeat(ends, lengths)  # of the stretch that a sample is in
        self._first = np.repeat(ends - lengths + 1, lengths)

    def at(self, indices: Sequence[int], times: Array, side: str) -> Array:
        """Values of some variables at times within the samples; ``side`` is that of an event."""
        known = self.times
        if side == "left":
            k = np.minimum(np.searchsorted(known, times, side="left"), len(known) - 1)
            before = np.where(known[k] == times, k, np.maximum(k - 1, 0))
        else:
            before = np.maximum(np.searchsorted(known, times, side="right") - 1, 0)
        out = self.rows[np.ix_(np.asarray(indices, dtype=int), before)]
        moving = np.flatnonzero(~self.held[np.asarray(indices, dtype=int)])
        inner = np.flatnonzero((known[before] != times) & (before < self._last[before]))
        if len(inner) and len(moving):
            chosen = np.asarray(indices, dtype=int)[moving]
            out[np.ix_(moving, inner)] = self._between(chosen, times[inner], before[inner])
        return out

    def _between(self, chosen: Indices, times: Array, before: Indices) -> Array:
        """Values inside stretches, after the samples with the numbers ``before``."""
        out = np.empty((len(chosen), len(times)))
        first, last = self._first[before], self._last[before]
        count = np.minimum(last - first + 1, POINTS)
        for points in np.unique(count).tolist():
            mine = np.flatnonzero(count == points)
            start = np.clip(before[mine] - 1, first[mine], last[mine] - points + 1)
            nodes = start[:, None] + np.arange(points)
            t = self.times[nodes]
            weight = np.empty(t.shape)
            for i in range(points):
                others = np.delete(t, i, axis=1)
                weight[:, i] = ((times[mine, None] - others) / (t[:, [i]] - others)).prod(axis=1)
            out[:, mine] = np.einsum("vtp,tp->vt", self.rows[np.ix_(chosen, nodes.ravel())].reshape(
                len(chosen), len(mine), points), weight)
        return out


def refined(times: Array, evaluate: Callable[[Array | None], Array], held: Flags, sizes: Callable[
        [Array], Array], tolerance: float) -> tuple[SampledCurves, float]:
    """Samples so close that what is between them is known, and how far off that still is.

    ``times`` ascend, two equal ones at events; ``evaluate`` gives all variables at times, of None
    at these, with both sides of events; those ``held`` keep their value between events.
    ``tolerance`` is the largest error as a part of the ``sizes`` of the variables for given rows.
    """
    curves = SampledCurves(times, evaluate(None), held)
    fresh = np.flatnonzero(np.diff(times) > 0)  # intervals whose middle has not been looked at
    everything, worst, most = list(range(len(held))), 0.0, MOST_ADDED * len(times)
    for _ in range(MOST_ROUNDS):
        t = curves.times
        middle = t[fresh] + (t[fresh + 1] - t[fresh]) / 2
        inside = (middle > t[fresh]) & (middle < t[fresh + 1])
        fresh, middle = fresh[inside], middle[inside]
        if not len(fresh) or not len(everything):
            break
        exact = evaluate(middle)
        size = sizes(curves.rows)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.where(size > 0, np.abs(
                curves.at(everything, middle, "right") - exact) / size, 0.0)
        error[~np.isfinite(error)] = 0.0
        off = error.max(axis=0)
        bad = off > tolerance
        worst = float(off.max())
        if not bad.any() or len(t) + bad.sum() > most + len(times):
            break
        after = fresh[bad] + 1
        new = after + np.arange(len(after))  # places of the added samples
        curves = SampledCurves(np.insert(t, after, middle[bad]),
                               np.insert(curves.rows, after, exact[:, bad], axis=1), held)
        fresh = np.sort(np.concatenate([new - 1, new]))
    return curves, worst
