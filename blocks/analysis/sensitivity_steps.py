"""Small changes of the states along a run of the explicit pair, stepped in machine code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Indices

if TYPE_CHECKING:
    from ..native.growth import Growth
    from ..native.method import Course, Retaken

__all__ = ["SteppedCourse"]

LOOKS = np.arange(2) / 2  # parts of a step


@dataclass
class TakenSteps:
    """Steps over all episodes.

    Attributes
    ----------
    start, end, which : of the steps, and the numbers of their episodes
    first : the step of the episode's course in which each begins
    rows : (steps, states * parameters) changes where they begin
    """

    start: Array
    end: Array
    which: Indices
    first: Indices
    rows: Array

    def __len__(self) -> int:
        return len(self.start)

    def looks(self) -> tuple[Array, Indices]:
        """Times within all steps, and the numbers of their episodes."""
        times = self.start[:, None] + (self.end - self.start)[:, None] * LOOKS
        return times.ravel(), np.repeat(self.which, len(LOOKS))


class SteppedCourse:
    """Small changes of the states over a run; as :class:`.sensitivity_courses.Course`.

    Parameters
    ----------
    growth : carries changes along courses
    courses : of all episodes
    x, d : changes of states and discrete values at the start
    over : carries them over an event

    Raises
    ------
    NotFollowed
    """

    def __init__(self, growth: Growth, courses: list[Course], x: Array, d: Array,
                 over: Callable[[int, Array, Array], tuple[Array, Array]]) -> None:
        self._growth = growth
        self._courses: list[Retaken] = [course.retaken() for course in courses]
        found, discrete = [], []
        for k, course in enumerate(self._courses):
            if k:
                x, d = over(k - 1, x, d)
            discrete.append(d)
            start, first, rows, x = growth.along(course, x, d)
            found.append((start, np.append(start[1:], course.ends[-1:])[: len(start)],
                          np.full(len(start), k), first, rows))
        self.end, self.discrete = x, np.array(discrete).reshape(len(courses), *d.shape)
        self.steps = TakenSteps(*(np.concatenate(k) for k in zip(*found, strict=True)))
        self._last = np.searchsorted(self.steps.which, np.arange(len(courses)), side="right")

    def at(self, t: Array, which: Indices) -> Array:
        """At times in episodes, which stand together, (times, states, parameters)."""
        steps = self.steps
        first = np.append(0, self._last)[which]
        place = np.clip(np.searchsorted(steps.start, t, side="right") - 1, first,
                        np.maximum(self._last[which] - 1, first))
        place = np.minimum(place, len(steps) - 1)
        out = np.empty((len(t), *self._growth.shape))
        for k in np.unique(which):
            mine = which == k
            some = place[mine]
            out[mine] = self._growth.inside(self._courses[k], steps.start[some], steps.first[some],
                                            steps.rows[some], self.discrete[k], t[mine])
        return out
