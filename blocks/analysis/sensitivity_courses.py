"""How do small changes of states grow between events? Linear equations along a known course.

Changes S of the states obey ``S' = A(t) S + B(t)`` with coefficients that are known along the run.
They are solved by collocation at the Radau points (Radau IIA with eight stages, order 15, L-stable
[Hairer & Wanner II, IV.5]) of several of the run's steps together, whose order is far less; all at
once, as all coefficients are known. Where the polynomial of the changes has not come to rest in its
last term, which says how good it is between the ends (these are far better), it is parted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.polynomial import legendre, polynomial

from ..native.functions import machine_code
from ..numerics.arrays import Array, Cube, Indices, Matrix

__all__ = ["Coefficients", "Course", "Steps", "balance", "fastest", "solved_course"]

STAGES = 8
ENOUGH = 2e-8  # of a step's change, the least that the last term of its polynomial is asked to be
SAMPLES = 6  # points that tell how large states are beside each other
TOGETHER = 6  # steps of the run, whose method has a far lower order
MANY = 2000  # groups of these: from that on steps of the run are short for their stability
MOST_PARTS = 8  # of a step at a time
ROUNDS = 12
NOTHING = 1e-20  # of the largest change by any parameter: what rounding leaves of zero
ROUNDED = 1e-15  # of a state, for a change of a parameter by as much as it is
MOST_ENTRIES = 2e7  # of the slopes at all stages; beyond that it is rounding that does not get less
POWERS = 4


def _radau() -> tuple[Array, Array, Array]:
    """Nodes in (0, 1]; per node the coefficients of its polynomial and of its integral."""
    one, two = np.zeros(STAGES + 1), np.zeros(STAGES)
    one[STAGES], two[STAGES - 1] = 1.0, 1.0
    nodes = np.sort(np.real(legendre.legroots(np.append(two, 0.0) - one)))  # P_s - P_{s-1}
    nodes = (nodes + 1) / 2
    nodes[-1] = 1.0
    basis = np.array([_lagrange(nodes, j) for j in range(STAGES)])
    return nodes, basis, np.array([polynomial.polyint(b) for b in basis])


def _lagrange(nodes: Array, j: int) -> Array:
    others = np.delete(nodes, j)
    return np.asarray(polynomial.polyfromroots(others) / np.prod(nodes[j] - others))


def _halved() -> tuple[Array, Array, Array]:
    """Eigenvalues of the method's matrix, its eigenvectors and their inverse; one of each pair."""
    values, vectors = np.linalg.eig(MATRIX)
    half = values.imag > 0
    return values[half], vectors[:, half], np.linalg.inv(vectors)[half]


NODES, BASIS, INTEGRALS = _radau()
MATRIX = np.array([[polynomial.polyval(c, i) for i in INTEGRALS] for c in NODES])
EIGENVALUES, FROM_EIGEN, TO_EIGEN = _halved()
#: What the values at the nodes give of the last Legendre polynomial.
LAST_TERM = BASIS[:, -1] / comb(2 * STAGES - 2, STAGES - 1)


@dataclass(frozen=True)
class Coefficients:
    """A and B at points, (points, states, …), and B of what is constant between events."""

    a: Array
    b: Array
    d: Array


@dataclass
class Steps:
    """Steps with what their stages are made of.

    Attributes
    ----------
    start, length, which : of the steps, and the numbers of their episodes
    of_states, of_parameters, of_discrete : (steps, stages, states, …) slopes at the stages
    """

    start: Array
    length: Array
    which: Indices
    of_states: Array
    of_parameters: Array
    of_discrete: Array

    def __len__(self) -> int:
        return len(self.start)

    def some(self, which: Indices) -> Steps:
        """Some of them, in another order."""
        return Steps(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def and_(self, other: Steps) -> Steps:
        """Both together, in the order of time."""
        both = Steps(*(np.concatenate([getattr(self, name), getattr(other, name)])
                       for name in self.__dataclass_fields__))
        return both.some(np.lexsort([both.start, both.which]))


class Course:
    """Small changes of the states over a run, by the parameters.

    Attributes
    ----------
    steps : the linear equations
    begin : (steps, states, parameters) where each step begins
    end : (states, parameters) where the last one ends
    discrete : per episode, changes of discrete values
    """

    def __init__(self, steps: Steps, episodes: int, x: Array, d: Array,
                 over: Callable[[int, Array, Array], tuple[Array, Array]]) -> None:
        self.steps = steps
        weights = steps.length[:, None] * MATRIX[-1]
        ahead = np.eye(len(x)) + _weighted(weights, steps.of_states)
        pushed = _weighted(weights, steps.of_parameters)
        held = _weighted(weights, steps.of_discrete)
        self.begin = np.empty((len(steps), *x.shape))
        discrete = []
        self.last = np.searchsorted(steps.which, np.arange(episodes), side="right")
        k = 0
        for episode in range(episodes):
            if episode:
                x, d = over(episode - 1, x, d)
            discrete.append(d)
            mine = slice(k, int(self.last[episode]))
            x = np.array(x, dtype=float, order="C")
            carry(ahead[mine], pushed[mine] + held[mine] @ d, x, self.begin[mine])
            k = int(self.last[episode])
        self.end, self.discrete = x, np.array(discrete).reshape(episodes, *d.shape)
        d = self.discrete[steps.which]
        self._stages = (steps.of_states @ self.begin[:, None] + steps.of_parameters
                        + steps.of_discrete @ d[:, None])

    def errors(self, scale: Array, whole: Array, rounded: float) -> Array:
        """The last term of every step's polynomial, in parts of the change of the state itself.

        That is the largest within the step, or so far, up to ``whole``: where an event moves what
        settles at once, the change is as steep as the course just after it, and soon nothing.
        Against the largest of all, by each parameter, ``rounded`` of it is rounding.
        """
        length, unit = self.steps.length[:, None, None], scale[:, None]
        change = length[..., None] * np.abs(self._stages)
        largest = np.maximum(np.abs(self.begin), change.max(axis=1, initial=0.0)) / unit
        so_far = np.maximum.accumulate(largest, axis=0)
        whole = whole / unit
        size = np.maximum(largest, np.minimum(so_far, whole))
        of_all = np.maximum(so_far.max(axis=1, keepdims=True, initial=0.0), np.maximum(
            np.where(np.isfinite(whole), whole, 0.0).max(axis=0, initial=0.0),
            NOTHING / rounded * largest.max(initial=0.0)))
        size = np.maximum(size, rounded * of_all)
        last = length * np.tensordot(self._stages, LAST_TERM, ([1], [0])) / unit
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
        return self.begin[place] + _weighted(weights.T, self._stages[place])


@machine_code
def carry(ahead: Cube, pushed: Cube, x: Matrix, begin: Cube) -> None:
    """From step to step: ``x`` becomes ``ahead x + pushed``; what it was stands in ``begin``."""
    for k in range(begin.shape[0]):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                begin[k, i, j] = x[i, j]
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                total = pushed[k, i, j]
                for s in range(x.shape[0]):
                    total += ahead[k, i, s] * begin[k, s, j]
                x[i, j] = total


def _weighted(weights: Array, stages: Array) -> Array:
    """Sums over the stages of every step."""
    count, s, *shape = stages.shape
    return np.asarray(weights[:, None] @ stages.reshape(count, s, np.prod(shape, dtype=int))
                      ).reshape(count, *shape)


def solved_course(starts: Array, ends: Array, which: Indices,
                  coefficients: Callable[[Array, Indices], Coefficients],
                  course_of: Callable[[Steps], Course], rtol: float, whole: Array) -> Course:
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
    sizes = coefficients(ends[some], which[some]).a
    first, last = _grouped(which)
    steps = _stages(starts[first], ends[last] - starts[first], which[first], coefficients)
    scale = balance(np.abs(sizes).max(axis=0)) if len(sizes) else np.ones(sizes.shape[1])
    for number in range(ROUNDS):
        course = course_of(steps)
        error = course.errors(scale, whole, ROUNDED / enough)
        good = error <= enough
        slopes = steps.of_states.size + steps.of_parameters.size
        if good.all() or (slopes > MOST_ENTRIES and len(steps) > len(starts)):
            return course
        coarse = np.flatnonzero(~good)
        if number:
            finer = _parted(steps, coarse, error[coarse] / enough)
        else:  # the run's own steps are long where little happens, and short where much does
            of = np.concatenate([np.arange(first[k], last[k] + 1) for k in coarse])
            finer = starts[of], ends[of] - starts[of], which[of]
        steps = steps.some(np.flatnonzero(good)).and_(_stages(*finer, coefficients))
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


def _grouped(which: Indices) -> tuple[Indices, Indices]:
    """The first and the last of the run's steps that are solved together, of one episode each."""
    number = np.arange(len(which))
    begins = np.append(True, np.diff(which) != 0)[: len(which)]  # of episodes
    number -= np.maximum.accumulate(np.where(begins, number, 0))
    first = np.flatnonzero(number % max(TOGETHER, len(which) // MANY) == 0)
    return first, np.append(first[1:], len(which))[: len(first)] - 1


def _stages(start: Array, length: Array, which: Indices,
            coefficients: Callable[[Array, Indices], Coefficients]) -> Steps:
    """Slopes at the stages of steps, by what they begin with and by the parameters."""
    count = len(start)
    times = (start[:, None] + length[:, None] * NODES).ravel()
    given = coefficients(times, np.repeat(which, STAGES))
    n = given.a.shape[1]
    a = given.a.reshape(count, STAGES, n, n)
    right = np.concatenate([given.a, given.b, given.d], axis=2).reshape(count, STAGES, n, -1)
    constant = np.all(a == a[:, :1], axis=(1, 2, 3))
    slopes = np.empty_like(right)
    for some, solve in ((constant, _solved_apart), (~constant, _solved_together)):
        if some.any():
            slopes[some] = solve(a[some], length[some], right[some])
    cuts = np.cumsum([n, given.b.shape[2]])
    return Steps(start, length, which, *np.split(slopes, cuts, axis=3))


def _solved_together(a: Array, length: Array, right: Array) -> Array:
    """Slopes at all stages from one matrix for each step."""
    count, _, n, _ = right.shape
    matrix = np.eye(STAGES * n) - (
        (MATRIX[None, :, None, :, None] * length[:, None, None, None, None]) * a[:, :, :, None, :]
    ).reshape(count, STAGES * n, STAGES * n)
    found = np.linalg.solve(matrix, right.reshape(count, STAGES * n, -1))
    return np.asarray(found.reshape(right.shape))


def _solved_apart(a: Array, length: Array, right: Array) -> Array:
    """The same where A is constant: combinations of the stages do not see each other.

    These are the eigenvectors of the method's matrix [Hairer & Wanner II, IV.8]; of a conjugate
    pair one is solved for, twice its real part counts.
    """
    (count, _, *shape), a = right.shape, a[:, 0]
    given = (TO_EIGEN @ right.reshape(count, STAGES, -1)).reshape(count, -1, *shape)
    matrix = np.eye(a.shape[1]) - (length[:, None] * EIGENVALUES)[:, :, None, None] * a[:, None]
    found = np.linalg.solve(matrix, given).reshape(count, len(EIGENVALUES), -1)
    return np.asarray(2.0 * (FROM_EIGEN @ found).real).reshape(right.shape)


def balance(sizes: Array) -> Array:
    """Units of the states in which rows and columns of a matrix are about equally large."""
    from scipy.linalg.lapack import dgebal

    _, _, _, units, _ = dgebal(sizes, scale=1)
    return np.asarray(units)
