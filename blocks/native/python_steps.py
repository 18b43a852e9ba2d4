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
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .callbacks import Callbacks
from .events import ENTRIES, LOOKED, TIME
from .loop_branch import END as OF_STEP
from .loop_branch import SIZES, fill_sizes, keeps_branch, put_on_branch, room_for_branch
from .one_step import EARLY, FULL, watched
from .pulses import END, START, step_to_pulse
from .stages import ATOL, EXTENSION, NEW
from .steps import EXPLICIT, Code, known_of, workspace
from .zero_crossings import LARGEST, relations_of, step_within_pieces

__all__ = ["Branch", "StepLooks"]

HALVINGS = 50  # of a step in which tied states cannot be followed
FOLLOWS = 0.1  # part of its way by which a tied state may miss what is expected
SMALL = 1e-3  # of its nominal value: what it may miss anyway


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
        has not seen, or to where it passes a border of a table of the states, or a kink."""
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


class Branch:
    """The branch that tied states and torn unknowns of a problem are on, from step to step of an
    episode."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.calls, self.n = problem, Callbacks(), problem.size
        self.tied, size = problem.tied, problem.size + problem.algebraic
        work, given = workspace(size)._replace(branch=room_for_branch(np.empty(size))), (
            1, size, None, None)
        self._k, self._rows = work.k, work.branch
        fill_sizes(work.branch[SIZES], problem)
        self.code = empty(Code)._replace(
            kind=EXPLICIT, project=self.calls.address(self._solved, given, size),
            slope=self.calls.address(lambda at, x: x, given, size))  # asked whether it is finite
        self._given = Kept(self.code), Kept(work)

    def begin(self, t: float) -> list[tuple[float, Array]]:
        """Begin an episode at the present point; the list of what is solved for at ends of its
        steps."""
        self.marks = list[tuple[float, Array]]()
        self._arrive(t, self.problem.solved_for)
        self.problem.guess = self.expected
        return self.marks

    def expected(self, t: float) -> Array:
        """What is solved for, at a time of the next step."""
        return self.unknowns + (t - self.t) * self.slope

    def followed(self, step: Step) -> float:
        """How far into a step tied states move as expected.

        No error estimate watches them: where all motion is prescribed (a driven linkage), the
        states that are integrated allow any step.
        """
        problem, tied, t = self.problem, self.tied, step.t
        slope = self.slope[: len(tied)]
        for _ in range(HALVINGS if len(tied) else 0):
            h = t - step.t_old
            problem.solve(t, np.asarray(step.dense(t)))
            ahead = self._slope(t)[: len(tied)]
            missed = np.abs(problem.x[tied] - self.unknowns[: len(tied)] - h * (slope + ahead) / 2)
            way = h * (np.abs(slope) + np.abs(ahead)) / 2
            if np.all(missed <= FOLLOWS * way + SMALL * problem.scale_x[tied]):
                break
            t = step.t_old + h / 2
        return t

    def keeps(self, step: Step) -> bool:
        """Whether torn unknowns can be followed to the end of a step."""
        if len(self.tied):
            self._rows[OF_STEP, self.n :] = self.problem.solved_for
            return True
        self._k[NEW] = np.append(step.y, self.unknowns)
        return bool(self._run(keeps_branch, step.t_old, step.t, step.dense(step.t_old),
                              self.unknowns))

    def go_on(self, t: float) -> None:
        """The step that was asked for is taken: Newton's method starts from its end."""
        self._arrive(t, self._rows[OF_STEP, self.n :].copy())
        self.marks.append((t, self.unknowns))

    def put(self, here: tuple[float, Array, Array], there: tuple[float, Array, Array]) -> Array:
        """Torn unknowns at a time, from where these and the integrated ones are known: near those
        given with it."""
        found = np.append(*there[1:])
        self._run(put_on_branch, here[0], there[0], *here[1:], found)
        return found[self.n :]

    def _arrive(self, t: float, unknowns: Array) -> None:
        self.t, self.unknowns, self.slope = t, unknowns, self._slope(t)

    def _slope(self, t: float) -> Array:
        """How tied states move at the present point; torn unknowns are expected to stay."""
        out = np.zeros(self.problem.algebraic)
        if len(self.tied):
            slope = self.problem.system.slope(*self.problem.arguments(t))
            out[: len(self.tied)] = slope[self.tied]
        return out

    def _run(self, loops: MachineCode, start: float, end: float, y: Array, unknowns: Array,
             *out: Array) -> Any:
        found = loops.knowing(known_of(self.code))(
            *self._given, start, end - start, np.append(y, unknowns), *out)
        self.calls.check()
        return found

    def _solved(self, at: Array, x: Array) -> Array:
        """A point with what is solved for there; no numbers where that has no solution."""
        problem, n = self.problem, self.n
        problem.x[problem.free], problem.z[:] = x[:n] * problem.scale, x[n:]
        try:
            problem.update(float(at[0]))
        except AlgebraicFailure:
            problem.z[:] = np.nan
        return np.append(x[:n], problem.z)
