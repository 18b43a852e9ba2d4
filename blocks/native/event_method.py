"""What methods in machine code have in common: they look for crossings and carry out events.

One call of :meth:`EventMethod.advance` takes as many steps, and passes as many events, as it may.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..machine.functions import BoundCall, Kept, MachineCode
from ..machine.signatures import address_of
from ..numerics.arrays import Array, Indices
from ..solvers.base import Method, Step
from ..system.time_functions import ACROSS
from .equations import equations_of
from .events import TIME
from .loop_branch import may_lose_branch, room_for_branch
from .one_step import CROSSED, LOCATED, NO_LOOK, REACHED, UNSURE, Limits
from .own_events import NOTHING, EventRules, Given, OwnEvents, PassedEvents
from .pulses import EXPONENT_ROWS, INSIDE_ROWS
from .steps import Code, known_of
from .zero_crossings import LARGEST, LOOK_ROWS, PLACE_ROWS, Relations

__all__ = ["EventMethod"]

LATELY = 20  # steps: at the bound of stability they wiggle from one to the next


class EventMethod(Method):
    """A method in machine code.

    The relations of the model are looked at in every step; one in which a relation crosses that
    others must judge is the last one of a call and ends there.

    Attributes
    ----------
    record : what is filled with the steps, whose ``ends`` are their times
    state : the time, the next step and what else machine code goes on from
    x : the present point, with all that a step moves
    """

    looks_itself = True
    #: After how many steps the next call returns, where more than so many are left then.
    look: tuple[int, float] = NO_LOOK
    carries_out_events = True
    #: Whether an episode begins with the step that the last one would have gone on with.
    keeps_step: ClassVar[bool] = False
    #: Of what :meth:`_advanced` returns: why no further step could be taken.
    failures: ClassVar[dict[int, str]] = {}
    #: What takes steps and passes events: of addresses, of all that is watched, obeyed and filled.
    advances: ClassVar[MachineCode]
    code: Code
    record: Any
    filled: Kept  # the same
    work_space: Kept
    state: Array
    q: Array
    _taken = 0  # steps that stand in the record

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        problem: Any = self.problem
        self.scale, self.free = np.asarray(problem.scale), np.array(problem.free)
        self.p = np.array(problem.p, dtype=float)
        self.equations = equations_of(problem.system, problem.p, problem.laws)
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
        self.known, self.hints, self.timed, self.crossed = np.zeros((4, count), dtype=bool)
        self.instant = np.full(1, np.inf)
        self.hints[self.relations :] = True
        self.held = np.ones(count)  # margins of laws have their sign already
        self.slack, self.looks = np.zeros(count), np.empty((LOOK_ROWS, count))
        self.borders = problem.system.state_tables.borders(self.p)
        self.watched = Kept(Relations(
            self.held, self.known, self.hints, self.slack, self.timed, self.instant, self.looks,
            np.empty(LOOK_ROWS), self.crossed,
            np.empty((EXPONENT_ROWS, problem.system.tape.exponents.numel())),
            np.empty((INSIDE_ROWS, n)), np.empty((2, problem.system.angles.numel())),
            np.zeros((PLACE_ROWS, self.borders.shape[0])), self.borders))
        self.pieces: Array = np.zeros(0)
        self.own_events: OwnEvents | None = None
        self._last_events: OwnEvents | None = None

    @classmethod
    def fits(cls, problem: Any, t: float) -> bool:
        """Whether the time up to the next event can be run in machine code."""
        return problem.laws is None or problem.laws.runs_compiled(problem, t)

    def _begin_from(self, t: float, y: Array) -> None:
        """Make a point the present one."""
        problem: Any = self.problem
        self.t, self.y, self.unsure = float(t), np.array(y, dtype=float), False
        if self.carries:
            self.x[:] = np.append(problem.x, self.equations.carried_values(problem))
        self.x[self.places] = self.y * self.scale

    def fill_constants(self) -> Array:
        """Fill in what machine code reads from here on; a copy that stays as it is."""
        problem: Any = self.problem
        constants = self.equations.constants(problem, self.t)
        if self.own_events is None:
            self.q = kept = constants
        else:  # machine code changes its own constants at events
            self.q, kept = self.own_events.q, constants
            self.q[:] = constants[: len(self.q)]  # room for what has come since is not needed
            self.own_events.begin(self.t)
        self.held[: len(problem.m)] = problem.m
        self.looks[LARGEST] = 0.0
        return kept

    def watch(self, known: Array, hints: Array, slack: Array, instant: float) -> None:
        for row, values in ((self.known, known), (self.hints, hints), (self.timed, hints),
                            (self.slack, slack)):
            row[: len(values)] = values
        self.instant[0] = instant

    def carry_out(self, rules: EventRules) -> None:
        problem: Any = self.problem
        if problem.delays is not None and not self.keeps_past:
            return
        if (rules.parts is None and self.equations.reserve
                and rules.samplers is None and rules.resets is None):
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
        own.begin(self.t)
        self.q = own.q
        self._read_from(own.q)

    def _read_from(self, q: Array) -> None:
        """Let machine code read its constants elsewhere."""
        self.code = self.code._replace(q=address_of(q))

    @property
    def largest(self) -> Array:
        """The largest margins of the relations, and of the modes of laws, since the restart."""
        return self.looks[LARGEST, : self.relations]

    @property
    def longest(self) -> float:
        """The longest step."""
        return self.max_step

    def advance(self, t_stop: float) -> Step:
        counts, given, own = np.zeros(5, dtype=np.int64), NOTHING, self.own_events
        if own is not None:
            given, t_stop = own.before(self.t, t_stop)
        status, taken, events = self._advanced(given, t_stop, counts)
        self.look = NO_LOOK
        t = float(self.state[TIME])
        if own is not None and own.is_known(t) and self.instant[0] <= t:
            t_stop = np.inf  # it was left to others, who carry it out before anything else
        return self.reached(status, taken, events, counts, t_stop)

    def reached(self, status: int, taken: int, events: int, counts: Indices, t_stop: float
                ) -> Step:
        """Make the record's steps and events those of this method; the last step.

        Parameters
        ----------
        status, taken, events : as machine code has returned them
        counts : what that has cost
        t_stop : up to where it was to go
        """
        problem: Any = self.problem
        self.work.add(*counts.tolist())
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
                self.t = float(ends[taken - 1])
            self._arrive()
            self.y = self.x[self.places] / self.scale
            if self.carries:
                self.equations.give_back(problem, self.x)
        self.waits = status == REACHED and self.t < t_stop
        if status in self.failures:
            if self.equations.reserve and self.t > self.course.start:  # type: ignore[union-attr]
                self.unsure = True  # perhaps with another choice of states
                return Step(before, self.t, self.y.copy(), self._inside_last, clear=True)
            return self._failure(self.failures[status])
        if status in (CROSSED, UNSURE) and self.equations.reserve:
            self.unsure = bool(self.crossed[-1])
        crossed = np.flatnonzero(self.crossed) if status == LOCATED else None
        return Step(before, self.t, self.y.copy(), self._inside_last,
                    clear=status not in (CROSSED, LOCATED), crossed=crossed)

    def usual_step(self, last: Step) -> float:
        ends = self.record.ends[max(self._taken - LATELY, 0) : self._taken]
        if len(ends) < 2:
            return super().usual_step(last)
        steps = np.sort(ends[1:] - ends[:-1])  # of many that end with events little is left
        passed = np.cumsum(steps)
        return float(steps[np.searchsorted(passed, passed[-1] / 2)])

    @property
    def _inside_last(self) -> Any:
        """The last step's own dense output."""
        course: Any = self.course
        return course.inside_last

    def _arrive(self) -> None:  # noqa: B027  # most are there
        """Solve for what is carried along at the present point."""

    def _advanced(self, given: Given, t_stop: float, counts: Indices) -> tuple[int, int, int]:
        """Steps and events up to a time: the status, and how many there are."""
        found: tuple[int, int, int] = self.machine_code(given)(
            *self._arguments(given, t_stop, counts, np.zeros(2, dtype=np.int64)))
        return found

    def bound_advance(self, given: Given, counts: Indices, begun: Indices) -> BoundCall:
        """What advances in machine code, with the arrays of the method.

        Parameters
        ----------
        given : of events
        counts : what it costs, counted up
        begun : how many steps and events the record holds already
        """
        return self.machine_code(given).bound(*self._arguments(given, self.t, counts, begun))

    def bound_arguments(self, given: Given) -> tuple[Any, ...]:
        """What machine code takes to go on from the present point."""
        return self._arguments(given, self.t, np.zeros(5, dtype=np.int64),
                               np.zeros(2, dtype=np.int64))

    def machine_code(self, given: Given) -> MachineCode:
        """What advances with such steps, where these decide at events.

        All of it would take two to four times as long to compile.
        """
        deciding = [(given.predicted.record, "modes"), (given.predicted.record, "k"),
                    (given.network.record, "modes")]
        return self.advances.knowing(known_of(self.code) | {
            (type(one).__name__, field): 0 for one, field in deciding if not getattr(
                one, field).size})

    def _arguments(self, given: Given, t_stop: float, counts: Indices, begun: Indices
                   ) -> tuple[Any, ...]:
        """What machine code takes."""
        limits = Limits(float(t_stop), self.rtol, self.longest, self.pieces, ACROSS, self.t_end,
                        *self.look)
        return (*self._addresses, self.work_space, self.watched, limits, self.filled, *given,
                self.x, self.state, counts, begun)

    @property
    def _addresses(self) -> tuple[Any, ...]:
        """Those that machine code takes."""
        return (self.code,)

    @abstractmethod
    def _extend(self, first: int, taken: int) -> None:
        """Add steps of the record to the course."""

    @abstractmethod
    def _pass(self, passed: PassedEvents, first: int, last: int) -> None:
        """End a course at every event, and begin another.

        Parameters
        ----------
        first, last : steps of the record before the first event, and before the last one
        """

    @abstractmethod
    def _failure(self, text: str) -> Step:
        """The report of steps that could not be taken any further."""
