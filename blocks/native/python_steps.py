"""Steps of methods in Python, looked into by the plain loops that look into those of machine code.

What these ask of a model, and of a step's own dense output, is called back by address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..machine.functions import Kept, empty
from ..machine.signatures import address_of
from ..numerics.arrays import Array, Indices
from ..solvers.base import Method, Step
from ..system.problem import Problem
from .callbacks import Callbacks
from .events import ENTRIES, LOOKED, TIME
from .one_step import EARLY, FULL, watched
from .pulses import END, EXPONENT_ROWS, INSIDE_ROWS, START, step_to_pulse
from .stages import ATOL, EXTENSION, NEW
from .steps import RUNGE_KUTTA, Code, known_of, workspace
from .zero_crossings import LARGEST, parts_by_angles, relations_of, step_within_pieces

__all__ = ["Crossings", "Pulses"]

OF_TIME = 1, None, None, None  # pointers: to a time, states, parameters, constants
MOVED = 1, 1, None, None  # the one state is by how many tolerances those of the step are moved
Function = Callable[[float, Array], Any]


class _Looks:
    """Looks into a step of ``n`` integrated states, as plain loops see them."""

    def __init__(self, n: int) -> None:
        self.atol: Array = np.zeros(1)  # of the states
        self.calls, self.work = Callbacks(), workspace(n)
        self.room = Kept(self.work)
        self.step = Step(0.0, 0.0, np.zeros(n), np.zeros_like)
        self._arithmetic, self._nothing = np.zeros(EXTENSION + 1, dtype=np.int64), np.zeros(1)
        nothing = address_of(self._nothing)
        self.code = empty(Code)._replace(
            arithmetic=self._arithmetic, kind=RUNGE_KUTTA, p=nothing, q=nothing)

    def states(self, t: float) -> Array:
        """Integrated states at a time of the step."""
        return self.step.y if t >= self.step.t else self.step.dense(t)

    def at_times(self, function: Function, size: int, given: tuple[int | None, ...] = OF_TIME
                 ) -> int:
        """The address of a function of time and the states then: they are as near to the step's
        own as can be told, whatever the loops have rounded on their way."""
        def called(at: Array, moved: Array | None = None) -> Any:
            t = float(at[0])
            return function(t, self.states(t) if moved is None else (
                self.states(t) + moved * self.atol))

        return self.calls.address(called, given, size) if size else 0

    def dense_by(self, function: Callable[[Array], Any], size: int) -> None:
        """What gives the states at a part of the step, from its length and that part."""
        self._arithmetic[EXTENSION] = self.calls.address(function, (None,) * 4 + (2,), size, 2)


class Crossings(_Looks):
    """Where do relations and modes no longer hold?

    ``count`` is the number of relations and modes, ``margins`` are of these, negative where one no
    longer holds; without what it may be below zero by.
    """

    def __init__(self, problem: Problem, count: int, margins: Function) -> None:
        super().__init__(1)
        # what is watched, as the loops are given it
        self.relations = relations_of(problem, count, 1, 0)
        self._state, self._x = np.zeros(ENTRIES), np.zeros(1)
        self.dense_by(lambda part: 0.0, 0)  # nobody asks for states by themselves
        self.work.k[:] = 0.0
        self.work.k[ATOL] = 1.0
        self.code = self.code._replace(crossings=self.at_times(margins, count, MOVED),
                                       angles=self.at_times(
                                           problem.angles, self.relations.angles.shape[1]),
                                       places=self.at_times(
                                           problem.places, len(self.relations.borders)))
        known = known_of(self.code)
        self._parts, self._first = parts_by_angles.knowing(known), watched.knowing(known)
        self._pieces = step_within_pieces.knowing(known)
        self._given = Kept(self.code), Kept(self.relations), self.room, self._x

    def begin(self) -> None:
        """Begin an episode: nothing is known of the margins."""
        self._state[LOOKED] = 0.0
        self.relations.looks[LARGEST] = 0.0

    @property
    def largest(self) -> Array:
        """The largest margins since then."""
        found: Array = self.relations.looks[LARGEST]
        return found

    def parts(self, step: Step) -> int:
        """In how many equal parts a step is looked at."""
        if not self.code.angles:
            return 1
        self.step = step
        found = self._parts(*self._given, step.t_old, step.t, step.t - step.t_old)
        self.calls.check()
        return int(found)

    def within_pieces(self, step: Step) -> float:
        """The length of a step that passes no whole piece of a table of the states."""
        self.step, h = step, step.t - step.t_old
        found = self._pieces(*self._given, step.t_old, h) if self.code.places else h
        self.calls.check()
        return float(found)

    def first(self, step: Step, early: float, pieces: Array) -> tuple[float, Indices, bool] | None:
        """The first crossing in a step, what has crossed, and whether it is ``early``: less than so
        far from the start, where it is found about."""
        self.step, state = step, self._state
        if state[TIME] != step.t_old:
            state[LOOKED] = 0.0
        behind = int(np.searchsorted(pieces, step.t_old, side="right"))
        status, at = self._first(*self._given, step.t_old, step.t, step.t - step.t_old, state,
                                 early, step.t, pieces, behind)
        self.calls.check()
        state[TIME] = step.t if status == FULL else np.nan
        if status == FULL:
            return None
        return at, np.flatnonzero(self.relations.wrong), status == EARLY


class Pulses(_Looks):
    """Does a step go over a pulse that its method has not seen?"""

    def __init__(self, problem: Problem, method: Method, n: int) -> None:
        super().__init__(n)
        self._method, exponents = method, problem.system.tape.exponents.numel()
        self._exponents, self._known = np.empty((EXPONENT_ROWS, exponents)), np.nan
        self._inside = np.empty((INSIDE_ROWS, n))
        self.work.k[ATOL] = method.atol
        self.dense_by(lambda part: self.step.dense(self.step.t_old + part[1] * part[0]), n)
        self.code = self.code._replace(
            exponents=self.at_times(problem.exponents, exponents),
            slope=self.at_times(problem.slope, n))

    def step_to_pulse(self, step: Step, y: Array) -> float:
        """How long a step from ``y`` may be: as it was, or up to the foot of a pulse within it."""
        self.step, h = step, step.t - step.t_old
        self.work.k[NEW] = step.y
        length = float(step_to_pulse.knowing(known_of(self.code))(
            self.code, self.room, self._exponents, self._inside, y, step.t_old, h,
            self._method.rtol, bool(self._known == step.t_old), False))
        self.calls.check()
        if length == h:
            self._exponents[START], self._known = self._exponents[END], step.t
        return length
