"""Steps of methods in Python, looked into by the plain loops that look into those of machine code.

What these ask of a model, and of a step's own dense output, is called back by address.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..machine.functions import Kept, MachineCode, empty
from ..numerics.arrays import Array, Indices
from ..solvers.base import Step
from ..system.problem import Problem
from .callbacks import Callbacks
from .events import ENTRIES, LOOKED, TIME
from .one_step import EARLY, FULL, watched
from .pulses import END, START, step_to_pulse
from .stages import ATOL, EXTENSION, NEW
from .steps import EXPLICIT, Code, known_of, workspace
from .zero_crossings import LARGEST, relations_of, step_within_pieces

__all__ = ["StepLooks"]


class StepLooks:
    """Looks into steps of ``n`` unknowns of a problem.

    ``count`` is the number of relations and modes, ``margins`` are of these at a time and unknowns,
    negative where one no longer holds; without what it may be below zero by.
    """

    def __init__(self, problem: Problem, n: int, count: int,
                 margins: Callable[[float, Array], Array]) -> None:
        self.n, self.step, self.calls = n, Step(0.0, 0.0, np.zeros(n), np.zeros_like), Callbacks()
        system, exponents = problem.system, problem.system.tape.exponents.numel()
        #: What is watched, as the loops are given it.
        self.relations = relations_of(problem, count, n, exponents)
        work, arithmetic = workspace(n), np.zeros(EXTENSION + 1, dtype=np.int64)
        work.k[:] = 0.0
        arithmetic[EXTENSION] = self.calls.address(lambda part: self.step.dense(
            self.step.t_old + part[1] * part[0]), (None,) * 4 + (2,), n, 2)
        self.k, self._x, self._state = work.k, np.zeros(n), np.zeros(ENTRIES)
        self._seen = np.nan  # up to where exponents are known
        self.code = empty(Code)._replace(
            arithmetic=arithmetic, kind=EXPLICIT, crossings=self._at_point(margins, count),
            angles=self._at_point(partial(problem.values, system.angles_now),
                                  self.relations.angles.shape[1]),
            places=self._at_point(partial(problem.values, system.places_now),
                                  len(self.relations.borders)),
            exponents=self._at_point(partial(problem.values, system.exponents), exponents),
            slope=self._at_point(problem.slope, n))
        self._code, self._relations, self._work = map(Kept, (self.code, self.relations, work))

    def _at_point(self, function: Callable[[float, Array], Any], size: int) -> int:
        """The address of a function of a time and unknowns; none where it gives nothing."""
        return self.calls.address(lambda at, y: function(float(at[0]), y.copy()),
                                  (1, self.n, None, None), size) if size else 0

    def begin(self) -> None:
        """Begin an episode: nothing is known of the margins."""
        self._state[LOOKED], self._seen, self.largest[:] = 0.0, np.nan, 0.0

    @property
    def largest(self) -> Array:
        """The largest margins since then."""
        found: Array = self.relations.looks[LARGEST]
        return found

    def _run(self, loops: MachineCode, step: Step, *given: Any) -> Any:
        self.step, self._x[:] = step, step.dense(step.t_old)
        self.k[NEW] = step.y
        found = loops.knowing(known_of(self.code))(self._code, *given)
        self.calls.check()
        return found

    def length(self, step: Step, atol: Array, rtol: float) -> float:
        """How long a step may be: as it was, or up to the foot of a pulse within it that its method
        has not seen, or no farther than where a table of the states has passed a whole piece."""
        h, relations, exponents = step.t - step.t_old, self.relations, self.relations.exponents
        if self.code.exponents:
            self.k[ATOL] = atol
            length = float(self._run(
                step_to_pulse, step, self._work, exponents, relations.inside, self._x, step.t_old,
                h, rtol, bool(self._seen == step.t_old), False))
            if length < h:
                return length
            exponents[START], self._seen = exponents[END], step.t
        return float(self._run(step_within_pieces, step, self._relations, self._work, self._x,
                               step.t_old, h)) if self.code.places else h

    def first(self, step: Step, early: float, atol: Array, pieces: Array
              ) -> tuple[float, Indices, bool, Array] | None:
        """The first crossing in a step, what has crossed, and whether it is ``early``: less than so
        far from the start, where it is found about; and the unknowns there."""
        state, self.k[ATOL] = self._state, atol if len(atol) == self.n else 0.0
        if state[TIME] != step.t_old:
            state[LOOKED] = 0.0
        behind = int(np.searchsorted(pieces, step.t_old, side="right"))
        status, at = self._run(watched, step, self._relations, self._work, self._x, step.t_old,
                               step.t, step.t - step.t_old, state, early, step.t, pieces, behind)
        state[TIME] = step.t if status == FULL else np.nan
        if status == FULL:
            return None
        return at, np.flatnonzero(self.relations.wrong), status == EARLY, self.k[NEW].copy()
