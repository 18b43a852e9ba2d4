"""How do small changes of states grow between events? Linear equations along a known course.

Changes S of the states obey ``S' = A(t) S + B(t)`` with coefficients that are known along the run.
They are solved by collocation of high order (:mod:`.stages`) over several of the run's
steps together, whose order is far less. Where the polynomial of the changes has not come to rest in
its last term, which says how good it is between the ends (these are far better), it is parted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import polynomial

from ...numerics.arrays import Array, Indices
from .saltation import Changes
from .stages import (
    INTEGRALS,
    LAST_TERM,
    STAGES,
    Coefficients,
    Steps,
    Stretches,
    full,
    steps_along,
    weighted,
)

if TYPE_CHECKING:
    from ...native.courses import Retaken
    from ...native.growth import Growth
    from .events import Saltation

__all__ = ["SteppedCourse", "VariationalSolution", "balance", "fastest", "solve_variational"]

MANY_TIMES = 20  # times in a step, from which they are read from a polynomial
NODES = (1 - np.cos(np.pi * np.arange(10) / 9)) / 2  # through this many points of it
ENOUGH = 2e-8  # of a step's change, the least that the last term of its polynomial is asked to be
SAMPLES = 6  # points that tell how large states are beside each other
TOGETHER = 6  # steps of the run, whose method has a far lower order
UNEVEN = 4  # times as long as its steps are, if all were as the shortest
MANY = 2000  # groups of these: from that on steps of the run are short for their stability
MOST_PARTS = 8  # of a step at a time
ROUNDS = 12
NOTHING = 1e-20  # of the largest change by any parameter: what rounding leaves of zero
ROUNDED = 1e-15  # of a state, for a change of a parameter by as much as it is
MOST_ENTRIES = 2e7  # that steps are made of; beyond that it is rounding that does not get less
POWERS = 4


class VariationalSolution:
    """Small changes of the states over a run, by the parameters.

    Attributes
    ----------
    steps : what was solved in one step each
    begin : (steps, states, parameters) where each step begins
    end : (states, parameters) where the last one ends
    discrete : per episode, changes of discrete values
    """

    def __init__(self, steps: Steps, episodes: int, x: Array, d: Array,
                 over: Callable[[int, Array, Array], tuple[Array, Array]]) -> None:
        self.steps = Stretches(steps.start, steps.length, steps.which)
        self.begin = np.empty((len(steps), *x.shape))
        self._slopes = np.empty((len(steps), STAGES, *x.shape))
        discrete = []
        self.last = np.searchsorted(steps.which, np.arange(episodes), side="right")
        k = 0
        for episode in range(episodes):
            if episode:
                x, d = over(episode - 1, x, d)
            discrete.append(d)
            x = steps.along(slice(k, int(self.last[episode])), x, d, self.begin, self._slopes)
            k = int(self.last[episode])
        self.end, self.discrete = x, np.array(discrete).reshape(episodes, *d.shape)

    def errors(self, scale: Array, whole: Array, rounded: float) -> Array:
        """The last term of every step's polynomial, in parts of the change of the state itself.

        That is the largest within the step, or so far, up to ``whole``: where an event moves what
        settles at once, the change is as steep as the course just after it, and soon nothing.
        Against the largest of all, by each parameter, ``rounded`` of it is rounding.
        """
        length, unit = self.steps.length[:, None, None], scale[:, None]
        change = length[..., None] * np.abs(self._slopes)
        largest = np.maximum(np.abs(self.begin), change.max(axis=1, initial=0.0)) / unit
        so_far = np.maximum.accumulate(largest, axis=0)
        whole = whole / unit
        size = np.maximum(largest, np.minimum(so_far, whole))
        of_all = np.maximum(so_far.max(axis=1, keepdims=True, initial=0.0), np.maximum(
            np.where(np.isfinite(whole), whole, 0.0).max(axis=0, initial=0.0),
            NOTHING / rounded * largest.max(initial=0.0)))
        size = np.maximum(size, rounded * of_all)
        last = length * np.tensordot(self._slopes, LAST_TERM, ([1], [0])) / unit
        return np.asarray((np.abs(last) / np.where(size > 0, size, 1.0)).max(
            axis=(1, 2), initial=0.0))

    def at(self, t: Array, which: Indices) -> Array:
        """At times in episodes, (times, states, parameters)."""
        steps = self.steps
        place = np.searchsorted(steps.start, t, side="right") - 1
        first = np.append(0, self.last)[which]
        place = np.clip(place, first, np.maximum(self.last[which] - 1, first))
        place = np.minimum(place, len(steps) - 1)
        part = np.clip((t - steps.start[place]) / steps.length[place], 0.0, 1.0)
        weights = np.array([polynomial.polyval(part, i) for i in INTEGRALS])
        weights = weights * steps.length[place]
        return self.begin[place] + weighted(weights.T, self._slopes[place])


def solve_variational(starts: Array, ends: Array, which: Indices,
                      coefficients: Callable[[Array, Indices], Coefficients],
                      course_of: Callable[[Steps], VariationalSolution], rtol: float, whole: Array
                      ) -> VariationalSolution:
    """The steps of a run, several as one, parted until their polynomials follow.

    What is much faster than the run's own steps has died out in the changes as in the run: only
    what is there has to be followed.

    Parameters
    ----------
    starts, ends, which : of the run's steps, and the numbers of their episodes
    coefficients : at times, in order within each episode
    course_of : changes along steps
    rtol : of the run, which knows its course no better
    whole : (states, parameters) changes by as much as a state is, for one by as much as a
        parameter is, without end where that is nothing
    """
    enough = max(ENOUGH, 10 * rtol)
    kept = ends > starts
    starts, ends, which = starts[kept], ends[kept], which[kept]
    some = np.unique(np.linspace(0, len(starts) - 1, SAMPLES).astype(int))
    sizes = full(coefficients(ends[some], which[some]).a)
    first, last = _grouped(starts, ends, which)
    steps = steps_along(starts[first], ends[last] - starts[first], which[first], coefficients)
    scale = balance(np.abs(sizes).max(axis=0)) if len(sizes) else np.ones(sizes.shape[1])
    for number in range(ROUNDS):
        course = course_of(steps)
        error = course.errors(scale, whole, ROUNDED / enough)
        good = ~(error > enough)  # what is no number does not become one
        if good.all() or (steps.size > MOST_ENTRIES and len(steps) > len(starts)):
            return course
        coarse = np.flatnonzero(~good)
        if number:
            finer = _parted(steps, coarse, error[coarse] / enough)
        else:  # the run's own steps are long where little happens, and short where much does
            of = np.concatenate([np.arange(first[k], last[k] + 1) for k in coarse])
            finer = starts[of], ends[of] - starts[of], which[of]
        steps = steps.some(np.flatnonzero(good)).joined(steps_along(*finer, coefficients))
    return course_of(steps)


def _parted(steps: Steps, coarse: Indices, error: Array) -> tuple[Array, Array, Indices]:
    """Starts, lengths and episodes of equal parts of some steps, by errors in what is allowed."""
    parts = np.clip(np.ceil(error ** (1 / STAGES)), 2, MOST_PARTS).astype(int)
    of = np.repeat(coarse, parts)
    number = np.arange(len(of)) - np.repeat(np.cumsum(parts) - parts, parts)
    length = steps.length[of] / np.repeat(parts, parts)
    return steps.start[of] + number * length, length, steps.which[of]


def fastest(a: Array) -> float:
    """The largest of the eigenvalues of several matrices, about, by powers of them."""
    size = float(np.abs(a).max(initial=0.0)) or 1.0
    a = a / size
    for _ in range(POWERS):
        a = a @ a
    return size * float(np.linalg.norm(a, axis=(1, 2)).max(initial=0.0)) ** (0.5**POWERS)


def _grouped(starts: Array, ends: Array, which: Indices) -> tuple[Indices, Indices]:
    """The first and the last of the run's steps that are solved together, of one episode each.

    Where some are far shorter than others, something happens in them that others would not see.
    """
    number = np.arange(len(which))
    begins = np.append(True, np.diff(which) != 0)[: len(which)]  # of episodes
    number -= np.maximum.accumulate(np.where(begins, number, 0))
    together = max(TOGETHER, len(which) // MANY)
    begins = number % together == 0
    first = np.flatnonzero(begins)
    if len(first):
        last = np.append(first[1:], len(which)) - 1
        shortest = np.minimum.reduceat(ends - starts, first)
        uneven = UNEVEN * together * shortest < ends[last] - starts[first]
        begins |= np.repeat(uneven, last - first + 1)
        first = np.flatnonzero(begins)
    return first, np.append(first[1:], len(which))[: len(first)] - 1


def balance(sizes: Array) -> Array:
    """Units of the states in which rows and columns of a matrix are about equally large."""
    from scipy.linalg.lapack import dgebal

    _, _, _, units, _ = dgebal(sizes, scale=1)
    return np.asarray(units)


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
        inner = (looks >= MANY_TIMES)[place]
        out = np.empty((len(t), *self._growth.shape))
        out[~inner] = self._inside(t[~inner], place[~inner])
        if inner.any():
            out[inner] = self._by_polynomials(t[inner], place[inner], looks)
        return out

    def _by_polynomials(self, t: Array, place: Indices, looks: Indices) -> Array:
        """In steps in which there are many times, which lie in order: through some others there."""
        many, steps = np.flatnonzero(looks >= MANY_TIMES), self.steps
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
