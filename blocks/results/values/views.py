"""What is read like a recording and made of one: a part of a run, time itself, a formula.

A view knows of which run it is, and whose sample times it has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...exceptions import ParameterError
from ...numerics.arrays import Array
from ..formatting import SECOND, number
from ..recording import Curves, EventRecord
from .times import grid, seconds_of, within_run

__all__ = ["Stretch", "TimeAxis", "View", "both_limits", "run_of", "same_samples", "stretch",
           "samples_of"]  # fmt: skip


class View:
    """Base of what is made of other curves, and says so."""

    def __init__(self, of: Curves, times: Array, close_times: Array,
                 events: Sequence[EventRecord] = (), sampled: Curves | None = None,
                 knots: Array | None = None) -> None:
        self.name, self.times, self.events = of.name, times, events
        self.close_times = close_times
        self.knots = close_times if knots is None else knots
        self.run = run_of(of)  # the whole run at the bottom of it
        # whose samples these are: its own, where it has times of its own
        self.sampled: Curves = self if sampled is None else samples_of(sampled)

    def values(self, indices: Sequence[int], times: Array | None = None,
               side: str = "right") -> Array:
        """SI values, as those of a recording."""
        raise NotImplementedError


def run_of(curves: Curves) -> Curves:
    """The run that curves are of, or are a part of."""
    return curves.run if isinstance(curves, View) else curves


def samples_of(curves: Curves) -> Curves:
    """Whose sample times curves have."""
    return curves.sampled if isinstance(curves, View) else curves


def same_samples(a: Curves, b: Curves) -> bool:
    """Whether two are of one run, with the same samples."""
    a, b = samples_of(a), samples_of(b)
    return a is b or (run_of(a) is run_of(b) and np.array_equal(a.times, b.times))


def both_limits(curves: Curves, indices: Sequence[int], times: Array) -> Array:
    """Values at times; of two equal ones, the first is before an event and the second after."""
    rows = np.array(curves.values(indices, times), dtype=float)
    first = np.append(times[1:] == times[:-1], False)[: len(times)]
    if first.any():
        rows[:, first] = curves.values(indices, times[first], "left")
    return rows


class TimeAxis(View):
    """Time itself as a variable, with the samples of a run."""

    def __init__(self, of: Curves) -> None:
        super().__init__(of, of.times, of.close_times, sampled=of, knots=of.knots)

    def values(self, indices: Sequence[int], times: Array | None = None,
               side: str = "right") -> Array:
        return np.array([self.times if times is None else times], dtype=float)


class Stretch(View):
    """A stretch of a recording: from the right limit at its start to the left one at its end."""

    def __init__(self, whole: Curves, times: Array) -> None:
        start, end = times[0], times[-1]
        super().__init__(whole, times, _cut(np.asarray(whole.close_times), start, end), [
            e for e in whole.events if start <= e.time <= end],
            knots=_cut(np.asarray(whole.knots), start, end))
        self.whole = whole
        self.ends_early = end < whole.close_times[-1] and start < end

    def values(self, indices: Sequence[int], times: Array | None = None,
               side: str = "right") -> Array:
        if times is None:
            times, rows = self.times, both_limits(self.whole, indices, self.times)
        else:
            rows = np.array(self.whole.values(indices, times, side), dtype=float)
        last = times == self.times[-1]
        if self.ends_early and last.any():
            rows[:, last] = self.whole.values(indices, times[last], "left")
        return rows


def stretch(whole: Curves, index: slice, where: str) -> Stretch:
    """The part of a recording in a slice of time."""
    times, covered = np.asarray(whole.times), np.asarray(whole.close_times)
    ends = [None if given is None else
            float(within_run(covered, seconds_of(given, where), where))
            for given in (index.start, index.stop)]  # fmt: skip
    if not len(times):
        within_run(times, times, where)
    start, end = (float(covered[k]) if t is None else t for k, t in zip((0, -1), ends, strict=True))
    if start > end:
        raise ParameterError(where, f"begins at {number(start, SECOND, 9)}, after its end at "
                             f"{number(end, SECOND, 9)}.", "Give the earlier time first.",
                             given=index)  # fmt: skip
    if index.step is not None:
        return Stretch(whole, grid(np.array([start, end]), index.step))
    return Stretch(whole, _cut(times, start, end))


def _cut(times: Array, start: float, end: float) -> Array:
    """The times from a start to an end, and these two."""
    inside = times[(times > start) & (times < end)]
    return np.concatenate([[start], inside, [end]])
