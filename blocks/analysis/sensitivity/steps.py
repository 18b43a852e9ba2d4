"""Small changes of the states along a run of the explicit pair, stepped in machine code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array, Indices
from .saltation import Changes

if TYPE_CHECKING:
    from ...native.courses import Retaken
    from ...native.growth import Growth
    from .events import Saltation

__all__ = ["SteppedCourse"]

MANY = 20  # times in a step, from which they are read from a polynomial
NODES = (1 - np.cos(np.pi * np.arange(10) / 9)) / 2  # through this many points of it
WEIGHTS = (-1.0) ** np.arange(10) * np.where(np.isin(NODES, (0.0, 1.0)), 0.5, 1.0)


@dataclass
class TakenSteps:
    """Steps over all episodes.

    Attributes
    ----------
    start, end, which : of the steps, and the numbers of their episodes
    track, first, last : the track in which each is, and in it its first step, and the last one of
        its episode
    rows : (steps, states * parameters) changes where they begin
    """

    start: Array
    end: Array
    which: Indices
    track: Indices
    first: Indices
    last: Indices
    rows: Array

    def __len__(self) -> int:
        return len(self.start)


class SteppedCourse:
    """Small changes of the states over a run; as :class:`.variational.Course`.

    Parameters
    ----------
    growth : carries changes along tracks
    tracks : the steps of all episodes
    saltation : carries them over events
    start : changes at the start

    Raises
    ------
    NotFollowed
    """

    def __init__(self, growth: Growth, tracks: list[Retaken], saltation: Saltation, start: Changes
                 ) -> None:
        self._growth, self._tracks, self._saltation = growth, tracks, saltation
        counts = [len(track.track.marks) - 1 for track in tracks]
        self.discrete = np.zeros((sum(counts), *start.d.shape))
        episode, found, now = 0, list[TakenSteps](), start
        for number, count in enumerate(counts):
            if episode:
                now = saltation.over(episode - 1, now)
            steps, now = self._along(number, episode, now)
            found += steps
            episode += count
        self.end = now.x
        self.steps = TakenSteps(*(np.concatenate([getattr(one, name) for one in found])
                                  for name in TakenSteps.__dataclass_fields__))
        self._last = np.searchsorted(self.steps.which, np.arange(episode), side="right")

    def _along(self, number: int, episode: int, now: Changes) -> tuple[list[TakenSteps], Changes]:
        """Steps along a track, whose first episode has a number; changes at its end."""
        from ...native.variations import Crossings

        track, growth, saltation = self._tracks[number], self._growth, self._saltation
        marks, course = track.track.marks, 0
        count, found = len(marks) - 1, list[TakenSteps]()
        mine = slice(episode, episode + count - 1)  # events between its courses
        assigned = saltation.assigned[mine]
        crossings = Crossings(saltation.simple[mine], saltation.instants.followed[mine],
                              saltation.kinks[mine], assigned.reshape(
                                  len(assigned), assigned.shape[1] * assigned.shape[2]),
                              saltation.moved[mine], np.empty((count, now.d.size)))
        while True:
            crossings.discrete[course] = now.d.ravel()
            growth.begin(now.x, now.d)
            course, (start, first, rows) = growth.along(track, crossings, course)
            of = track.course[first]
            last = marks[of + 1] - 1
            goes_on = np.append(of[1:] == of[:-1], False)[: len(of)]
            end = np.where(goes_on, np.append(start[1:], 0.0)[: len(of)], track.track.ends[last])
            found.append(TakenSteps(start, end, episode + of, np.full(len(of), number), first,
                                    last, rows))
            now = Changes(growth.now, crossings.discrete[course].reshape(now.d.shape))
            if course == count - 1:
                self.discrete[episode : episode + count] = crossings.discrete.reshape(
                    count, *now.d.shape)
                return found, now
            now = saltation.over(episode + course, now)
            course += 1

    def at(self, t: Array, which: Indices) -> Array:
        """At times in episodes, which stand together, (times, states, parameters)."""
        steps = self.steps
        first = np.append(0, self._last)[which]
        place = np.clip(np.searchsorted(steps.start, t, side="right") - 1, first,
                        np.maximum(self._last[which] - 1, first))
        place = np.minimum(place, len(steps) - 1)
        looks = np.bincount(place, minlength=len(steps))
        inner = (looks >= MANY)[place]
        out = np.empty((len(t), *self._growth.shape))
        out[~inner] = self._inside(t[~inner], place[~inner])
        if inner.any():
            out[inner] = self._by_polynomials(t[inner], place[inner], looks)
        return out

    def _by_polynomials(self, t: Array, place: Indices, looks: Indices) -> Array:
        """In steps in which there are many times, which lie in order: through some others there."""
        many, steps = np.flatnonzero(looks >= MANY), self.steps
        start, length = steps.start[many], (steps.end - steps.start)[many]
        nodes = self._inside((start[:, None] + length[:, None] * NODES).ravel(),
                             np.repeat(many, len(NODES))).reshape(len(many), len(NODES), -1)
        number = np.searchsorted(many, place)
        away = (t - start[number])[:, None] / length[number][:, None] - NODES
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = WEIGHTS / away  # barycentric [Berrut & Trefethen, SIAM Rev. 46(3), 2004]
            weights /= weights.sum(axis=1, keepdims=True)
        weights = np.where((away == 0).any(axis=1)[:, None], away == 0, weights)
        ends = np.cumsum(looks[many])
        return np.concatenate([weights[a:b] @ values for a, b, values in zip(
            ends - looks[many], ends, nodes, strict=True)]).reshape(len(t), *self._growth.shape)

    def _inside(self, t: Array, place: Indices) -> Array:
        """At times in steps that stand together."""
        steps = self.steps
        out = np.empty((len(t), *self._growth.shape))
        for number, track in enumerate(self._tracks):
            mine = np.flatnonzero(steps.track[place] == number)
            some = place[mine]
            out[mine] = self._growth.inside(
                track, steps.start[some], steps.first[some], steps.last[some], steps.rows[some],
                self.discrete[steps.which[some]], t[mine])
        return out
