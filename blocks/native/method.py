"""Compiled one-step methods under the contract of all methods.

They look for crossings and carry out events. One call of :meth:`OneStep.advance` takes as many
steps, and passes as many events, as it may, and returns the last step; all of them stand in its
:class:`~blocks.native.courses.Course`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..machine.functions import BoundCall, Kept, MachineCode, empty
from ..machine.signatures import address_of, run_code
from ..numerics.arrays import Array
from ..numerics.tolerances import ABSOLUTE_SHARE, LAST_DIGITS, LEAST_ERROR
from ..solvers.base import Method, Step
from ..system.evaluator import Evaluator
from ..system.time_functions import ACROSS
from . import one_step
from .courses import BLOCK, Course, CourseData, PassedCourses, points_of
from .equations import equations_of
from .events import ENTRIES, LAST_ERROR, NOWHERE, STEP, TIME
from .fronts import lists_with
from .loop_branch import SIZES, fill_sizes, may_lose_branch, room_for_branch
from .matrices import bordered_matrix, sparse_lists
from .newton_steps import TOO_FAR
from .one_step import CROSSED, LOCATED, NO_REVIEW, REACHED, UNSURE, Limits
from .own_events import NOTHING, EventRules, Given, KeptRows, OwnEvents, PassedEvents
from .stages import ATOL
from .steps import (
    BACKWARD_EULER,
    EULER,
    EXPLICIT,
    HIGH_ORDER,
    IMPLICIT,
    RUNGE_KUTTA,
    THIRD_ORDER,
    TRAPEZOIDAL,
    Code,
    Sparse,
    known_of,
    solves_with_derivatives,
    workspace,
)
from .zero_crossings import LARGEST, relations_of

__all__ = ["METHODS", "OneStep"]

LEAST_ROWS, MOST_ROWS = 8, 2048  # so soon it is asked whether another method had better go on
SMALL = 64  # unknowns up to which a method is kept for the next run: what it holds is small
SHOWN = 1e-3  # relative tolerance of steps that only show what is solved for at every point
LATELY = 20  # steps: at the bound of stability they wiggle from one to the next
MOSTLY = 2  # tries in vain for each step: its own errors hold it
AHEAD = 10.0 ** np.arange(0, 9, 2)  # steps that failed, after which the reason is looked for


class OneStep(Method):
    """A one-step method in machine code, steps controlled by the largest error.

    The relations of the model are looked at in every step; one in which a relation crosses that
    others must judge is the last one of a call and ends there.

    Attributes
    ----------
    record : what is filled with the steps, whose ``ends`` are their times
    state : the time, the next step and what else machine code goes on from
    x : the present point, with all that a step moves
    """

    #: Of steps, as :mod:`~blocks.native.steps` names them.
    kind: ClassVar[int] = EXPLICIT
    looks_itself = True
    #: After how many steps the next call returns, where more than so many are left then.
    review: tuple[int, float] = NO_REVIEW
    carries_out_events = True
    #: Whether an episode begins with the step that the last one would have gone on with.
    keeps_step: ClassVar[bool] = False
    #: Of what machine code returns: why no further step could be taken.
    failures: ClassVar[dict[int, str]] = {
        one_step.TOO_SMALL: "the error stays above the tolerance however small the step",
        one_step.NOT_FINITE: "the equations are not finite"}
    course: Course
    code: Code = empty(Code)
    own_events: OwnEvents | None = None
    _taken = 0  # steps that stand in the record
    _call: BoundCall | None = None  # machine code with all that it takes
    _made: tuple[Any, Any] = None, None  # the last one, behind the code and events it was made for

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        problem: Any = self.problem
        self.scale, self.free = np.asarray(problem.scale), np.array(problem.free)
        self.p = np.array(problem.p, dtype=float)
        self.equations = equations_of(problem.system, problem.laws)
        #: Whether states that constraints tie, and unknowns, are followed by the method itself.
        self.carries = self.equations.carried is not None
        #: Where the integrated states stand among all that a step moves.
        self.places: Any = self.free if self.carries else slice(None)
        n = len(self.free)
        if self.carries:
            n = len(problem.x) + len(self.equations.carried_values(problem))
        self.x = np.zeros(n)
        self.branch = room_for_branch(
            np.empty(n if self.carries and may_lose_branch(problem.system) else 0))
        count = self.equations.relations
        #: Without the reserve of solved equations, which is watched with them.
        self.relations = count - self.equations.reserve
        watched = relations_of(problem, count, n, problem.system.tape.exponents.numel())
        # margins of laws have their sign already: they hold
        (self.held, self.known, self.hints, self.slack, self.timed, self.instant, self.looks, _,
         self.crossed, self.alone, *_, self.borders) = watched
        self.hints[self.relations :] = True
        self.watched = Kept(watched)
        self.pieces: Array = np.zeros(0)
        self._last_events: OwnEvents | None = None
        matrix = self._matrix()
        work_space = workspace(n, self.kind, matrix)._replace(branch=self.branch)
        self.work_space, self.k = Kept(work_space), work_space.k
        self.capacity = min(max(BLOCK // max(n, 1), LEAST_ROWS), MOST_ROWS)
        self.record = one_step.Record(np.empty(self.capacity), np.empty(self.capacity),
                                      np.empty((self.capacity, n)))
        self.filled = Kept(self.record)
        self.state = np.zeros(ENTRIES)
        #: What machine code has cost since it was asked last; steps and events that it has kept.
        self.counts, self.begun = np.zeros(5, dtype=np.int64), np.zeros(2, dtype=np.int64)
        self._status = REACHED
        self._readers: dict[Evaluator, Callable[[], Array] | None] = {}
        self._begin(matrix)

    @classmethod
    def fits(cls, problem: Any, t: float) -> bool:
        """Whether the time up to the next event can be run in machine code."""
        return problem.laws is None or problem.laws.runs_compiled(problem, t)

    def _begin(self, matrix: Sparse | None) -> None:
        """Begin the run of the present problem."""
        problem: Any = self.problem
        self.scale, self.p = np.asarray(problem.scale), np.array(problem.p, dtype=float)
        atol = self.atol * self.scale
        if self.carries:  # what is only carried along has no error of its own
            atol = np.full(self.x.size, np.inf)
            atol[: len(problem.x)] = np.max(self.atol, initial=0.0) * problem.scale_x
            atol[self.free] = self.atol * self.scale
            if not len(self.free):  # unless nothing else tells how long a step may be
                self.rtol = max(self.rtol, SHOWN)
                scale = np.append(problem.scale_x, problem.scale_z)
                atol[: len(scale)] = self.rtol * ABSOLUTE_SHARE * scale
        self.k[ATOL] = atol
        if self.branch.size:
            fill_sizes(self.branch[SIZES], problem)
        self.work_space.record.rtol[0] = self.rtol  # type: ignore[attr-defined]
        self.borders[:] = problem.system.state_tables.borders(self.p)
        self.own_events = None
        self.common = CourseData(self.equations, self.places, self.scale, atol, self.kind, self.p,
                                 matrix, self.rtol, self.branch[SIZES].copy())
        self.restart(self.t, self.y)

    def _matrix(self) -> Sparse | None:
        """The sparse matrix of an implicit method, or all of a small one that is found by
        differences of slopes; None for a full one."""
        problem: Any = self.problem
        if not solves_with_derivatives(self.kind):
            return None
        bordered = bordered_matrix(problem.system, problem.laws)
        lists = bordered.lists(problem.tied) if bordered is not None else sparse_lists(
            problem.system, problem.laws)
        if lists is None:
            if not self.equations.differences:
                return None
            from scipy.sparse import csc_matrix

            from .front_lists import lists_of

            lists = lists_of(csc_matrix(np.ones((len(problem.x),) * 2)))
        nx, nz = len(problem.x), len(problem.z) * self.carries
        n = nx + len(self.equations.carried_values(problem))
        sizes = np.ones(n)  # of what is carried along slopes are zero, and it acts on none
        sizes[:nx], sizes[nx : nx + nz] = problem.scale_x, problem.scale_z[:nz]
        return Sparse(lists_with(lists, n), sizes)

    def fill_constants(self) -> Array:
        """Fill in what machine code reads from here on; a copy that stays as it is."""
        problem: Any = self.problem
        constants = self.equations.constants(problem, self.t)
        if self.own_events is None:
            self.q = kept = constants
        else:  # machine code changes its own constants at events
            self.q, kept = self.own_events.q, constants
            if self.equations.keeps_factors and self.own_events.set_valued.modes.size:
                k = self.equations.span_of("K")
                largest = np.abs(constants[k]).max(initial=0.0)
                if np.abs(self.q[k] - constants[k]).max(initial=0.0) <= LAST_DIGITS * largest:
                    constants[k] = self.q[k]  # but for last digits: as machine code has them
            self.q[:] = constants[: len(self.q)]  # room for what has come since is not needed
        self.held[: len(problem.m)] = problem.m
        self.looks[LARGEST] = 0.0
        return kept

    def restart(self, t: float, y: Array) -> None:
        problem: Any = self.problem
        self.t, self.y, self.unsure = float(t), np.array(y, dtype=float), False
        if self.carries:
            self.x[:] = np.append(problem.x, self.equations.carried_values(problem))
        self.x[self.places] = self.y * self.scale
        # written first: they need room among the constants
        self.equations.linear(self.kind), self.equations.exponents, self.equations.past
        self.equations.angles, self.equations.places  # noqa: B018
        kept = self.fill_constants()
        code = self.equations.code(self.p, self.q, self.kind)
        if code.places and not np.isfinite(self.borders[:, 1:]).any():
            code = code._replace(places=0)
        self.code, self._call = code, None
        self.keeps_past = self.code.past != 0
        step = self.first_step or (self.state[STEP] if self.keeps_step else 0.0)
        if self.fixed_step:  # the one that was given, or the longest one
            step = min(self.step_size or np.inf, self.longest)
        self.state[:] = 0.0
        self.state[[TIME, STEP, LAST_ERROR]] = self.t, step, LEAST_ERROR
        self.course = Course.begun(self.common, self.code, kept, self.t, self.x)

    def watch(self, known: Array, hints: Array, alone: Array, slack: Array, instant: float) -> None:
        for row, values in ((self.known, known), (self.hints, hints), (self.timed, hints),
                            (self.alone, alone), (self.slack, slack)):
            row[: len(values)] = values
        self.instant[0] = instant

    def carry_out(self, rules: EventRules) -> None:
        problem: Any = self.problem
        if problem.delays is not None and not self.keeps_past:
            return
        own = self._last_events
        if own is None or own.q.size != self.q.size or not own.serves(rules):
            own = OwnEvents(self.equations, rules, self.equations.held(problem, self.t),
                            len(self.x), self.held.size, not self.keeps_step)
        self.own_events = self._last_events = own
        if own.q.size != self.q.size:  # more room is needed for code that has come
            self.restart(self.t, self.y)
            return
        own.q[:] = self.q
        self.q = own.q
        self.code, self._call = self.code._replace(q=address_of(own.q)), None

    @property
    def longest(self) -> float:
        """The longest step: what is delayed is known so far ahead."""
        delays = self.problem.delays  # type: ignore[attr-defined]
        return self.max_step if delays is None else min(self.max_step, delays.shortest)

    @property
    def largest(self) -> Array:
        """The largest margins of the relations, and of the modes of laws, since the restart."""
        return self.looks[LARGEST, : self.relations]

    @property
    def following(self) -> float:
        """How long the next step is to be, 0 where that is to be found."""
        return self.state.item(STEP)

    def usual_step(self, last: Step) -> float:
        ends = self.record.ends[max(self._taken - LATELY, 0) : self._taken]
        if len(ends) < 2:
            return super().usual_step(last)
        steps = np.sort(ends[1:] - ends[:-1])  # of many that end with events little is left
        passed = np.cumsum(steps)
        return float(steps[np.searchsorted(passed, passed[-1] / 2)])

    @property
    def holds_itself(self) -> bool:  # more tries failed than before events
        return self.work.rejected > MOSTLY * self.work.steps

    def go_back(self, most: int) -> None:
        """Drop so many of the last steps, back to an event: the point there is the present one."""
        self.x[:] = self.course.go_back(most)
        self._arrive(self.course.end)

    def _arrive(self, t: float) -> None:
        """The present point is ``x`` at a time."""
        self.t, self.y = t, self.x[self.places] / self.scale
        if self.carries:
            self.equations.give_back(self.problem, self.x)  # type: ignore[arg-type]

    def advance(self, t_stop: float) -> Step:
        self.go(t_stop)
        return self.reached()

    def go(self, t_stop: float, anew: bool = False) -> bool:
        """Let machine code go on to a time, beside what it has done since :meth:`reached`; whether
        it got there, and nothing is left to others.

        ``anew``: whether the length of the next step is found anew.
        """
        own, t = self.own_events, self.state.item(TIME)
        call = self._call = self._call or self._bound()
        if own is not None:
            t_stop = own.announce(call, t, t_stop)
        if anew and not self.keeps_step:
            self.state[STEP] = 0.0
        place, numbers = call.place, call.numbers
        numbers[place["limits.t_stop"]], numbers[place["limits.max_step"]] = t_stop, self.longest
        call.table[place["limits.review"]], numbers[place["limits.far"]] = self.review
        call.put("limits.pieces", self.pieces)
        call()
        self._status, self.begun[0], self.begun[1] = call.results.tolist()
        t, self.review = self.state.item(TIME), NO_REVIEW
        # what is left to others they carry out before anything else
        left = own is not None and self.instant[0] <= t and own.is_known(t)
        self.waits = self._status == REACHED and (left or t < t_stop)
        return self._status == REACHED and not self.waits

    @property
    def time(self) -> float:
        """The time that machine code has reached."""
        return self.state.item(TIME)

    @property
    def full(self) -> bool:
        """Whether no further step or event can be kept before :meth:`reached`."""
        return self._status == one_step.FULL

    def reached(self) -> Step:
        """Make the steps and events of machine code those of this method; the last step."""
        (taken, events), status = self.begun.tolist(), self._status
        counts, self.begun[:], self._status = self.counts.tolist(), 0, REACHED
        self.counts[:] = 0
        self.goes_nowhere = self.state.item(NOWHERE) == one_step.PERSISTS
        self.work.add(*counts)
        self._taken = taken
        before, ends, first = self.t, self.record.ends, 0
        if events:
            assert self.own_events is not None
            passed = PassedEvents(self.own_events, events)
            first = int(passed.marks[-1])
            self._pass(passed, int(passed.marks[0]), first)
        if taken > first:
            self._extend(first, taken)
        if taken or events:
            if taken:
                before = self.t if taken == 1 else float(ends[taken - 2])
            self._arrive(float(ends[taken - 1]) if taken else self.t)
        if status in self.failures:
            if self.equations.reserve and self.t > self.course.start:
                self.unsure = True  # perhaps with another choice of states
                return Step(before, self.t, self.y.copy(), self.course, clear=True)
            return self._failure(self.failures[status])
        if status in (CROSSED, UNSURE) and self.equations.reserve:
            self.unsure = bool(self.crossed[-1])
        crossed = np.flatnonzero(self.crossed) if status == LOCATED else None
        return Step(before, self.t, self.y.copy(), self.course,
                    clear=status not in (CROSSED, LOCATED), crossed=crossed)

    def arguments(self, given: Given) -> tuple[Any, ...]:
        """What machine code takes to go on from the present point."""
        limits = Limits(self.t, self.rtol, self.longest, self.pieces, ACROSS, self.t_end,
                        *NO_REVIEW)
        return (self.code, self.work_space, self.watched, limits, self.filled, *given, self.x,
                self.state, self.counts, self.begun)

    def machine_code(self, given: Given) -> MachineCode:
        """What advances with such steps, where these decide at events.

        All of it would take two to four times as long to compile.
        """
        deciding = [(given.set_valued.record, "modes"), (given.set_valued.record, "k"),
                    (given.network.record, "modes")]
        return one_step.advance.knowing(known_of(self.code) | {
            (type(one).__name__, field): 0 for one, field in deciding if not getattr(
                one, field).size})

    def _bound(self) -> BoundCall:
        """Machine code with all that it takes, bound anew where its code or events are others."""
        self._readers.clear()
        code, own = self.code, self.own_events
        needed = (*code._replace(p=0, q=0), own)
        if needed != self._made[0]:
            if own is not None:
                own.announced = None
            given = NOTHING if own is None else own.given
            self._made = needed, self.machine_code(given).bound(*self.arguments(given))
        call: BoundCall = self._made[1]
        place, numbers = call.place, call.numbers
        call.table[place["code.p"]], call.table[place["code.q"]] = code.p, code.q
        numbers[place["limits.rtol"]], numbers[place["limits.t_end"]] = self.rtol, self.t_end
        return call

    def reader(self, function: Evaluator, needs_efforts: bool) -> Callable[[], Array] | None:
        """What evaluates a function of the present point of machine code that carries out events;
        None where more has to be solved."""
        problem: Any = self.problem
        if function not in self._readers:
            from ..nonsmooth.modes.solved_modes import SolvedModes  # loaded with what it is for

            own: Any = self.own_events
            states = self.x[: len(problem.x)]  # behind them stands what is carried along
            given = (self.state[TIME : TIME + 1], states, 0.0, self.p, own.values_of("relations"),
                     own.values_of("discrete values"))
            self._readers[function] = None
            held = problem.laws and problem.laws.held_modes
            if not needs_efforts:
                self._readers[function] = partial(function, *given, 0.0)
            elif isinstance(held, SolvedModes) and held.kept is not None:
                self._readers[function] = partial(
                    Evaluator(held.with_efforts(function.function)),
                    *given, own.values_of("modes"), own.values_of("K"))
        if self.code.past:  # slopes bring what is delayed up to date, which functions read
            run_code(self.code.slope, self.state[TIME : TIME + 1], self.x, self.p, self.q,
                     np.empty_like(self.x))
        return self._readers[function]

    # -- runs one after the other ------------------------------------------------------------
    @classmethod
    def for_run(cls, problem: Any, t: float, y: Array, **options: Any) -> Method:
        """A method at the start of a run: one that has served another run of the system, or a new
        one. What comes of it is the same to the last bit."""
        used = problem.system.cache.pop(cls._place(), None)  # nobody else has it now
        return used if used is not None and used.serves(problem, t, y, options) else cls(
            problem, t, y, **options)

    @classmethod
    def _place(cls) -> str:
        return f"method that has served: {cls.name}"

    def serves(self, problem: Any, t: float, y: Array, options: dict[str, Any]) -> bool:
        """Begin another run as if made for it; False where it needs another method."""
        equations = equations_of(problem.system, problem.laws)
        if equations is not self.equations or bytes(problem.free) != bytes(self.free):
            return False
        Method.__init__(self, problem, t, y, **options)
        self.state[:], self.slack[:] = 0.0, 0.0
        self.passed, self.waits = None, False
        self._begin(self.common.matrix)
        return True

    def rest(self) -> None:
        if self.x.size <= SMALL and self.common.matrix is None:
            system = self.problem.system  # type: ignore[attr-defined]
            self.problem = self.course = self.passed = None  # type: ignore[assignment]  # the run's
            system.cache[self._place()] = self

    def run_whole(self, t_stop: float) -> Course | None:
        """The run up to a time; None where machine code does not get there by itself."""
        if (own := self.own_events) is None:
            return None
        t, q, x = self.t, own.passed.present.copy(), self.x.copy()
        done, (taken, events) = self.go(t_stop), self.begun.tolist()
        self.begun[:], self.counts[:] = 0, 0
        if not done or self.state[TIME] < t_stop:
            return None
        passed, record = own.passed, self.record
        return Course(
            self.common, self.code, q, *points_of(
                np.append(t, passed.times[:events]), np.append(0, passed.marks[:events]),
                np.vstack([x, passed.x[:events]]), *(part[:taken] for part in record)),
            KeptRows(np.vstack([q, passed.q[:events]])))

    # -- steps that were taken ---------------------------------------------------------------
    def _extend(self, first: int, taken: int) -> None:
        self.course.extend(*(part[first:taken] for part in self.record))

    def _pass(self, passed: PassedEvents, first: int, last: int) -> None:
        if first:
            self._extend(0, first)
        self.passed = PassedCourses(self.common, self.code, passed, *(
            part[first:last] for part in self.record))
        self.course = self.passed.last

    def _failure(self, text: str) -> Step:
        problem: Any = self.problem
        slope = problem.slope(self.t, self.y)
        for h in self.state[one_step.STEP] * AHEAD if self.carries else ():
            if problem.failure is None:  # which tells what cannot be solved for
                problem.slope(self.t + h, self.y + h * slope)
        return self._stopped(text, np.flatnonzero(~np.isfinite(slope)))


def _method(name: str, order: int, kind: int, told: str, **traits: Any) -> type[OneStep]:
    """The method that takes steps of a kind."""
    return type(name, (OneStep,), {"__module__": __name__, "__doc__": told, "name": name,
                                   "order": order, "kind": kind, **traits})


ON_A_GRID = {"fixed_step": True, "keeps_step": True}
BY_NEWTON = ON_A_GRID | {
    "implicit": True, "failures": OneStep.failures | {one_step.TOO_SMALL: TOO_FAR}}
METHODS = {one.name: one for one in (
    _method("dopri5", 5, EXPLICIT, "Dormand-Prince 5(4): explicit, for what is not stiff."),
    _method("RK45", 5, EXPLICIT, "Dormand-Prince 5(4) under the name that SciPy gives it."),
    _method("DOP853", 8, HIGH_ORDER, "Dormand-Prince 8(5,3): explicit, for tight tolerances and "
            "what is not stiff."),
    _method("RK23", 3, THIRD_ORDER, "Bogacki-Shampine 3(2): explicit, for rough tolerances.",
            beside_bends=0.01),
    _method("rk4", 4, RUNGE_KUTTA, "The classical Runge-Kutta method with a fixed step.",
            **ON_A_GRID),
    _method("backward_euler", 1, BACKWARD_EULER, "Backward Euler with a fixed step.", **BY_NEWTON),
    _method("trapezoidal", 2, TRAPEZOIDAL, "The trapezoidal rule with a fixed step.", **BY_NEWTON),
    _method("euler", 1, EULER, "Forward Euler with a fixed step.", **ON_A_GRID),
    _method("rodas4", 4, IMPLICIT, "Rodas4P, order 4(3), linearly implicit and L-stable: for what "
            "is stiff and full of events.", implicit=True, keeps_step=True))}
