"""How do small changes of states grow between events? Linear equations along a known course.

Changes S of the states obey ``S' = A(t) S + B(t)`` with coefficients that are known along the run.
They are solved by collocation of high order (:mod:`.stages`) over several of the run's
steps together, whose order is far less. Where the polynomial of the changes has not come to rest in
its last term, which says how good it is between the ends (these are far better), it is parted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import polynomial
from scipy.linalg.lapack import dgebal

from ...numerics.arrays import Array, Indices
from .stages import (
    BEGIN,
    INTEGRALS,
    LAST_TERM,
    NODES,
    STAGES,
    Coefficients,
    Steps,
    Stretches,
    steps_along,
    weighted,
)

__all__ = ["VariationalSolution", "solve_variational"]

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


class VariationalSolution:
    """Small changes of the states over a run, by the parameters."""

    def __init__(self, steps: Steps, episodes: int, x: Array, d: Array,
                 over: Callable[[int, Array, Array], tuple[Array, Array]]) -> None:
        # what was solved in one step each
        self.steps = Stretches(steps.start, steps.length, steps.which)
        # (steps, states, parameters) where each step begins
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
        # (states, parameters) where the last one ends; of discrete values per episode
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
        last = np.abs(np.tensordot(self._slopes, LAST_TERM, ([1], [0])))
        # a bend before the first node shows in where slopes begin, against those of the step before
        bend = np.tensordot(self._slopes[1:], BEGIN, ([1], [0])) - self._slopes[:-1, -1]
        bend[np.diff(self.steps.which) != 0] = 0.0
        last[1:] = np.maximum(last[1:], NODES[0] * np.abs(bend))
        return np.asarray((length * last / unit / np.where(size > 0, size, 1.0)).max(
            axis=(1, 2), initial=0.0))

    def at(self, t: Array, which: Indices) -> Array:
        """Changes of the states at times in episodes, (times, states, parameters)."""
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
    what is there has to be followed, as well as the run knows its course, ``rtol``.

    ``which`` numbers the episodes of the run's steps, within each of which ``coefficients`` are
    asked in order; ``whole`` are changes by as much as a state is, (states, parameters), for one by
    as much as a parameter is, without end where that is nothing.
    """
    enough = max(ENOUGH, 10 * rtol)
    kept = ends > starts
    starts, ends, which = starts[kept], ends[kept], which[kept]
    some = np.unique(np.linspace(0, len(starts) - 1, SAMPLES).astype(int))
    sizes = coefficients(ends[some], which[some]).a.largest()
    first, last = _grouped(starts, ends, which)
    steps = steps_along(starts[first], ends[last] - starts[first], which[first], coefficients)
    scale = np.ones(len(sizes))
    if sizes.size:  # units in which rows and columns are about equally large
        scale = np.asarray(dgebal(sizes, scale=1)[3])
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
    # lengths are those between times as they are rounded, which counts for what is fast
    start, end = (steps.start[of] + steps.length[of] * (k / np.repeat(parts, parts))
                  for k in (number, number + 1))
    return start, end - start, steps.which[of]


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
