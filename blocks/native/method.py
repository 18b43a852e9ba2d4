"""Compiled one-step methods under the contract of all methods.

One call of :meth:`OneStep.advance` takes as many steps as it may and returns the
last one; all of them stand in its :class:`Course`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import LEAST_ERROR
from ..solvers.base import Method, Step
from ..solvers.trajectory import refuse_outside
from ..system.time_functions import ACROSS
from . import one_step
from .costs import most_steps
from .equations import Equations, equations_of
from .events import STEP, TIME
from .functions import Kept
from .kept_matrices import READS
from .matrices import band_of
from .own_events import NOTHING, EventRules, Given, OwnEvents, PassedEvents
from .signatures import address_of
from .stages import ATOL
from .steps import EXACT, EXPLICIT, IMPLICIT, Banded, Code, settle_at, slope_at, workspace
from .variations import Track
from .zero_crossings import LARGEST, LOOK_ROWS, Relations

__all__ = ["Course", "CourseForm", "Dopri5", "Exact", "OneStep", "PassedCourses", "Retaken",
           "Rodas4", "WholeRun"]  # fmt: skip

BLOCK = 1 << 19  # numbers of a block of rows
MOST_ROWS = 2048  # so soon it is asked whether another method had better go on
FEW = 20_000  # unknowns up to which the end of every step is kept
AHEAD = 10.0 ** np.arange(0, 9, 2)  # steps that failed, after which the reason is looked for
COUNTED = "steps", "rejected", "residuals", "jacobians", "factorizations"
RECALL = 1 << 21  # numbers gathered at a time by a query
ONE_EVENT = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
NO_CONSTANTS = np.zeros(0)


class WholeRun(NamedTuple):
    """What a method has kept of a run that machine code has carried out whole.

    Attributes
    ----------
    form, code : of the method
    p : parameters
    t, q, x : start, what is constant from there on, values
    times, marks, held, values : of the events, the steps before each, and the same from each on
    ends, sizes, rows : of the steps
    """

    form: CourseForm
    code: Code
    p: Array
    t: float
    q: Array
    x: Array
    times: Array
    marks: Indices
    held: Array
    values: Array
    ends: Array
    sizes: Array
    rows: Array


class OneStep(Method):
    """A one-step method in machine code, steps controlled by the largest error.

    Many steps are taken in one call. The relations of the model are looked at in every
    step; a step in which one crosses is the last one of a call and ends there.
    """

    looks_itself = True
    carries_out_events = True
    #: Whether an episode begins with the step that the last one would have gone on with.
    keeps_step: ClassVar[bool] = False
    #: Of steps, as :mod:`~blocks.native.steps` names them.
    kind: ClassVar[int] = EXPLICIT
    course: Course

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        problem: Any = self.problem
        self.scale, self.free = np.asarray(problem.scale), np.array(problem.free)
        self.p = np.array(problem.p, dtype=float)
        self.equations = equations_of(problem.system, self.p, problem.laws)
        count = self.equations.relations
        self.crossed = np.zeros(count, dtype=bool)
        #: Without the reserve of solved equations, which is watched with them.
        self.relations = count - self.equations.reserve
        self.known, self.hints, self.timed = np.zeros((3, count), dtype=bool)
        self.instant = np.full(1, np.inf)
        self.hints[self.relations :] = True
        self.held = np.ones(count)  # margins of laws have their sign already
        self.slack = np.zeros(count)
        self.looks = np.empty((LOOK_ROWS, count))
        self.watched = Kept(Relations(
            self.held, self.known, self.hints, self.slack, self.timed, self.instant, self.looks,
            np.empty(LOOK_ROWS), self.crossed))
        self.pieces: Array = np.zeros(0)
        atol = self.atol * self.scale
        #: Whether states that constraints tie are followed by the method itself.
        self.carries = self.equations.carried is not None
        if self.carries:  # what is only carried along has no error of its own
            atol = np.concatenate([np.max(self.atol) * problem.scale_x, np.full(
                len(problem.z), np.inf)])  # fmt: skip
            atol[self.free] = self.atol * self.scale
        #: Where the integrated states stand among all that a step moves.
        self.places: Any = self.free if self.carries else slice(None)
        #: So many steps from one end that is kept to the next; events may end any of them.
        self.every = every = 8 if atol.size >= FEW and problem.laws is None else 1
        n = atol.size
        banded = self._banded()
        work_space = workspace(n, self.kind, banded)
        self.work_space, self.k = Kept(work_space), work_space.k
        self.k[ATOL] = atol
        self.capacity = min(max(every * BLOCK // n, every), MOST_ROWS) // every * every
        self.record = one_step.Record(np.empty(self.capacity), np.empty(self.capacity),
                                      np.empty((self.capacity // every, n)), every)
        self.filled = Kept(self.record)
        self.few: int | None = None  # steps after which the next call is to return
        self.own_events: OwnEvents | None = None
        self.form = CourseForm(self.equations, self.places, self.scale, atol, self.kind, every,
                               self.p, banded)
        self.state, self.x = np.zeros(4), np.zeros(n)
        self.restart(self.t, self.y)

    def _banded(self) -> Banded | None:
        """The narrow band of an implicit method's large matrix."""
        problem: Any = self.problem
        matrices = band_of(problem.system) if self.kind == IMPLICIT else None
        if matrices is None:
            return None
        assert matrices.band is not None
        order, sizes = matrices.order, self.scale
        if self.carries:  # their slopes are zero, and they act on none
            sizes = np.concatenate([problem.scale_x, problem.scale_z])
            order = np.concatenate([order, np.arange(len(order), len(sizes))])
        return Banded(matrices.band.upper, matrices.band.lower, order, sizes)

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        problem: Any = self.problem
        if self.carries:
            self.x[:] = np.concatenate([problem.x, problem.z])
        self.x[self.places] = self.y * self.scale
        constants = self.equations.constants(problem, self.t)
        if self.own_events is None:
            self.q = kept = constants
        else:  # machine code changes its own constants at events
            self.q, kept = self.own_events.q, constants
            self.q[:] = constants
            self.own_events.begin(self.t)
        self.code = self.equations.code(self.p, self.q, self.kind)
        self.held[: len(problem.m)] = problem.m
        self.looks[LARGEST] = 0.0
        self.unsure = False
        step = self.state[STEP] if self.keeps_step else 0.0
        self.state[:] = self.t, self.first_step or step, LEAST_ERROR, 0.0
        self.course = Course(self.form, self.t, self.x, self.code._replace(q=address_of(kept)),
                             kept)
        self.fresh = True

    @classmethod
    def fits(cls, problem: Any, t: float) -> bool:
        """Whether the time up to the next event can be run in machine code."""
        return problem.laws is None or problem.laws.runs_compiled(problem, t)

    def watch(self, known: Array, hints: Array, slack: Array, instant: float) -> None:
        for row, values in ((self.known, known), (self.hints, hints), (self.timed, hints),
                            (self.slack, slack)):
            row[: len(values)] = values
        self.instant[0] = instant

    def carry_out(self, rules: EventRules) -> None:
        problem: Any = self.problem
        if self.every > 1 or self.carries and problem.laws is not None or (
                rules.parts is None and self.equations.reserve and rules.samplers is None):
            return
        self.own_events = own = OwnEvents(
            self.equations, rules, self.equations.held(problem, self.t), len(self.x),
            self.held.size, not self.keeps_step)
        if own.q.size != self.q.size:  # more room is needed for code that has come
            self.restart(self.t, self.y)
            return
        own.q[:] = self.q
        own.begin(self.t)
        self.q, self.code = own.q, self.code._replace(q=address_of(own.q))

    @property
    def largest(self) -> Array:
        """The largest margins of the relations, and of the modes of laws, since the restart."""
        return self.looks[LARGEST, : self.relations]

    def advance(self, t_stop: float) -> Step:
        if not self.starts():
            return self._failure("the equations are not finite")
        counts, given = np.zeros(5, dtype=np.int64), NOTHING
        if self.own_events is not None:
            given, t_stop = self.own_events.before(self.t, t_stop)
        status, taken, events = self._advanced(given, t_stop, counts)
        return self.reached(status, taken, events, counts, t_stop)

    def _advanced(self, given: Given, t_stop: float, counts: Indices) -> tuple[int, int, int]:
        """Steps and events up to a time: the status, and how many there are."""
        found: tuple[int, int, int] = one_step.advance(
            self.code, self.work_space, self.watched,
            one_step.Limits(float(t_stop), self.rtol, self.max_step, self.pieces, ACROSS),
            self._room(), *given, self.x, self.state, counts, np.zeros(2, dtype=np.int64))
        return found

    # -- runs one after the other ------------------------------------------------------------
    def begin_run(self, problem: Any, t: float, atol: Array, speed: float) -> None:
        """Begin another run of the same system, as if made for it.

        Parameters
        ----------
        problem : at the start, with parameters of its own
        atol : absolute tolerances of the states in SI units
        speed : the largest flow of set-valued elements
        """
        assert self.own_events is not None
        self.own_events.elements.speed[0] = speed
        self.problem, self.scale = problem, np.asarray(problem.scale)
        self.p[:], self.k[ATOL] = problem.p, atol
        self.state[:], self.slack[:] = 0.0, 0.0
        self.work_space.record.present[:] = 0  # type: ignore[attr-defined]  # no matrix is kept
        self.restart(t, problem.start_vector())

    def run_whole(self, t_stop: float) -> WholeRun | None:
        """The run up to a time; None where machine code does not get there by itself."""
        own = self.own_events
        if own is None or not self.starts():
            return None
        t, q, x = self.t, own.passed.present.copy(), self.x.copy()
        given, stop = own.before(t, t_stop)
        status, taken, events = self._advanced(given, stop, np.zeros(5, dtype=np.int64))
        if status != one_step.REACHED or self.state[TIME] < t_stop:
            return None
        passed, record = own.passed, self.record
        return WholeRun(
            self.form, self.code, self.p.copy(), t, q, x, passed.times[:events].copy(),
            passed.marks[:events].copy(), passed.q[:events].copy(), passed.x[:events].copy(),
            record.ends[:taken].copy(), record.sizes[:taken].copy(), record.rows[:taken].copy(),
        )  # fmt: skip

    def _room(self) -> Kept | one_step.Record:
        """Where the steps of a call are recorded."""
        few, self.few = self.few, None
        if few is None:
            return self.filled
        ends, sizes, rows, every = self.record
        return one_step.Record(ends[:few], sizes[:few], rows, every)

    def starts(self) -> bool:
        """Whether the equations are finite where steps begin, which is looked at once."""
        if self.fresh:
            # one call, which is quicker than what it takes to call machine code with all its arrays
            slope_at.python(self.code, self.work_space.record, self.t, self.x, self.k[0])
            self.work.residuals += 1
            self.fresh = not np.isfinite(self.k[0]).all()
        return not self.fresh

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
        ends, sizes, rows, every = self.record
        for name, count in zip(COUNTED, counts.tolist(), strict=True):
            setattr(self.work, name, getattr(self.work, name) + count)
        before = self.t
        first = self._pass(events, ends, sizes, rows) if events else 0
        if taken > first:
            self.course.extend(ends[first:taken], sizes[first:taken],
                               rows[first // every : taken // every], self.x)
        if taken or events:
            if taken:
                before = self.t if taken == 1 else float(ends[taken - 2])
                self.t = float(ends[taken - 1])
            self.y = self.x[self.places] / self.scale
            if self.carries:
                problem.x[:], problem.z[:] = np.split(self.x, [len(problem.x)])
        self.waits = status == one_step.REACHED and self.t < t_stop
        if status in (one_step.TOO_SMALL, one_step.NOT_FINITE):
            if self.equations.reserve and self.t > self.course.start:
                self.unsure = True  # perhaps with another choice of states
                return Step(before, self.t, self.y, self.course.inside_last, clear=True)
            small = status == one_step.TOO_SMALL
            return self._failure("the error stays above the tolerance however small the step"
                                 if small else "the equations are not finite")
        if status == one_step.CROSSED and self.equations.reserve:
            self.unsure = bool(self.crossed[-1])
        return Step(before, self.t, self.y, self.course.inside_last,
                    clear=status not in (one_step.CROSSED, one_step.LOCATED),
                    crossed=np.flatnonzero(self.crossed) if status == one_step.LOCATED else None)

    def _pass(self, events: int, ends: Array, sizes: Array, rows: Array) -> int:
        """End a course at every event, and begin another; the number of steps in them."""
        assert self.own_events is not None
        passed = PassedEvents(self.own_events, events)
        before = self.course
        first, last = int(passed.marks[0]), int(passed.marks[-1])
        if first:
            before.extend(ends[:first], sizes[:first], rows[:first], self.x)
        self.passed = PassedCourses(self.form, self.code, passed, ends[first:last].copy(),
                                    sizes[first:last].copy(), rows[first:last].copy())
        self.course = self.passed.last
        return last

    def _failure(self, text: str) -> Step:
        problem: Any = self.problem
        slope = problem.slope(self.t, self.y)
        for h in self.state[one_step.STEP] * AHEAD if self.carries else ():
            if problem.failure is None:  # which tells what cannot be solved for
                problem.slope(self.t + h, self.y + h * slope)
        return Step.failed(self.t, self.y, f"{self.name} stopped at t = {self.t:.9g}: {text}",
                           np.flatnonzero(~np.isfinite(slope)))


class Dopri5(OneStep):
    """Dormand-Prince 5(4): explicit, for what is not stiff."""

    name, order = "dopri5", 5
    many = staticmethod(most_steps)  # type: ignore[assignment]  # called on the class


class Rodas4(OneStep):
    """RODAS 4(3), linearly implicit and L-stable: for what is stiff and full of events."""

    name, order = "rodas4", 4
    implicit = True
    keeps_step = True
    kind = IMPLICIT


class Exact(OneStep):
    """Matrix exponentials: for equations that are linear with constant coefficients."""

    name, order = "exact", 4  # of its defect: there is no error
    implicit = True  # stiffness does not matter
    keeps_step = True
    kind = EXACT


@dataclass(eq=False)
class CourseForm:
    """What the courses of one method have in common."""

    equations: Equations
    places: Any  # of the integrated states among all that a step moves
    scale: Array
    atol: Array  # of all that a step moves
    kind: int  # of steps
    every: int  # so many steps from one end that is kept to the next
    p: Array
    banded: Banded | None

    @property
    def size(self) -> int:
        """Number of all that a step moves."""
        return self.atol.size

    @property
    def follows_states(self) -> bool:
        """Whether steps are the explicit pair's or exact, and of states alone."""
        return self.kind in (EXPLICIT, EXACT) and self.every == 1 and not (
            self.equations.settle or self.equations.reserve)  # more than slopes is solved for

    @property
    def is_exact(self) -> bool:
        """Whether steps have no error, and may be long beside what is fast."""
        return self.kind == EXACT

    @cached_property
    def work(self) -> Kept:
        """Room for the steps that are taken again, with the tolerances as units of unknowns."""
        work_space = workspace(self.atol.size, self.kind, self.banded)
        work_space.k[ATOL] = self.atol
        work_space.present[READS] = 1
        return Kept(work_space)


@dataclass(frozen=True)
class Retaken:
    """Steps of courses, and what takes them again; ``constants`` are what the code points into."""

    code: Code
    work: Kept
    steps: one_step.Steps
    track: Track
    constants: Array

    @property
    def course(self) -> Indices:
        """In which of the courses each step is."""
        marks = self.track.marks
        return np.repeat(np.arange(len(marks) - 1), np.diff(marks))


class Course:
    """The steps of a compiled method, as a :class:`~blocks.solvers.Trajectory` is asked.

    Kept are the ends of steps alone, of a large model only of every eighth, and of fewer after
    :meth:`thin`: what lies between is found by taking those steps again, and is the same.
    """

    def __init__(self, form: CourseForm, t: float, x: Array, code: Code, constants: Array) -> None:
        self._form, self._code = form, code
        self._alive = constants  # into which the code points
        self.every = self._apart = form.every
        self.start = float(t)
        self.nbytes = 2 * x.nbytes  # memory of what is kept
        self._reached: tuple[int, Array] | None = None  # where the last look between steps ended
        self._times: list[Array] = [np.array([t])]
        self._sizes: list[Array] = []
        self._kept: list[Any] = [np.array([0])]  # steps whose start is known; the end counts
        self._rows: list[Array] = [x[None, :].copy()]
        self._steps = 0

    @property
    def size(self) -> int:
        """Number of integrated unknowns."""
        return self._form.scale.size

    @property
    def end(self) -> float:
        return float(self._times[-1][-1])

    @property
    def end_values(self) -> Array:
        """What was kept of the end."""
        return self._rows[-1][-1]

    @property
    def t(self) -> Array:
        """Start and the end of every step."""
        self._gather()
        return self._times[0].copy()

    @property
    def y(self) -> Array:
        """(n, k) values at ``t``."""
        return self(self.t)

    def extend(self, ends: Array, sizes: Array, rows: Array, last: Array) -> None:
        """Add steps; ``sizes`` are those of the whole steps, ``last`` the values at the end."""
        taken = len(ends)
        numbers = self._steps + self.every * np.arange(1, len(rows) + 1)
        self._rows.append(rows.copy())
        if taken % self.every:
            numbers = np.append(numbers, self._steps + taken)
            self._rows.append(last[None, :].copy())
        self._kept.append(numbers)
        self._steps += taken
        self._times.append(ends.copy())  # without the rest of their blocks
        self._sizes.append(sizes.copy())
        self.nbytes += 2 * ends.nbytes + numbers.nbytes + len(numbers) * last.nbytes

    def thin(self) -> float:
        """Keep the ends of half as many steps. Nothing is lost: the others are taken again."""
        self._gather()
        self._apart *= 2
        kept, chosen = self._kept[0], [0]
        for place, number in enumerate(kept.tolist()):
            if number - kept[chosen[-1]] >= self._apart:
                chosen.append(place)
        if chosen[-1] != len(kept) - 1:
            chosen.append(len(kept) - 1)
        rows: list[Array] = []
        before, wanted = 0, np.array(chosen)
        for block in self._rows:
            here = wanted[(wanted >= before) & (wanted < before + len(block))] - before
            rows.append(block if len(here) == len(block) else block[here])
            before += len(block)
        self._rows = [block for block in rows if len(block)]
        self._kept = [kept[wanted]]
        self._count_bytes()
        return 0.0

    def forget(self) -> None:
        """Keep the end alone: steps go on from there."""
        last = self.end_values.copy()
        self._times, self._sizes = [np.array([self.end])], []
        self._kept, self._rows = [np.array([0])], [last[None, :]]
        self._steps, self._reached = 0, None
        self._count_bytes()

    def _count_bytes(self) -> None:
        arrays = (*self._times, *self._sizes, *self._kept, *self._rows)
        self.nbytes = self._rows[-1][-1].nbytes + sum(a.nbytes for a in arrays)

    def append(self, step: Step, until: float | None = None) -> None:
        """End the course inside its last step, if ``until`` is given; the step stands in it."""
        if step.failure:
            raise ValueError(f"a failed step has no course to keep: {step.failure}")
        if until is not None and until != self.end:
            last = self._last(np.array([until], dtype=float))
            self._times[-1] = np.append(self._times[-1][:-1], float(until))
            self._rows[-1] = np.concatenate([self._rows[-1][:-1], last])

    def inside_last(self, t: Any) -> Array:
        """The last step's own dense output."""
        rows = self._last(np.atleast_1d(np.asarray(t, dtype=float)))
        return self._shown(rows).T.reshape((self.size, *np.shape(t)))

    def _shown(self, rows: Array) -> Array:
        return rows[:, self._form.places] / self._form.scale

    def _last(self, t: Array) -> Array:
        self._gather()
        return self._inside(t, np.full(t.size, self._times[0].size - 2))

    def __call__(self, t: Any, side: Literal["left", "right"] = "right") -> Array:
        """Values at times ``t``, (n, k); a scalar time gives (n,)."""
        asked = np.asarray(t, dtype=float)
        return self._shown(self._at(asked.reshape(-1))).T.reshape((self.size, *asked.shape))

    @property
    def form(self) -> CourseForm:
        """What courses of the method have in common."""
        return self._form

    def retaken(self) -> Retaken:
        """What takes its steps again."""
        self._gather()
        times, rows = self._times[0], self._rows
        steps = one_step.Steps(times[:-1].copy(), np.concatenate([*self._sizes, np.zeros(0)]),
                               self._kept[0], np.concatenate(rows), *ONE_EVENT)
        return Retaken(self._code, self._form.work, steps, Track(
            times[1:].copy(), np.array([0, len(times) - 1]), NO_CONSTANTS), self._alive)

    @property
    def solved(self) -> Any:
        """States and algebraic unknowns at times, (n, k), where the method carries them."""
        return self._solved if self._form.equations.carried is not None else None

    def _solved(self, times: Array) -> Array:
        rows = self._at(times)
        out = np.empty_like(rows)
        for t, row, place in zip(times, rows, out, strict=True):
            settle_at(self._code, self._form.work, t, row, place)
        return out.T

    def _at(self, times: Array) -> Array:
        """(k, n) rows of unknowns at times."""
        self._gather()
        all_times = self._times[0]
        refuse_outside(times, float(all_times[0]), self.end)
        at = np.searchsorted(all_times, times, side="right") - 1
        whole = len(self._kept[0]) == len(all_times)  # the end of every step is kept
        place = at if whole else np.searchsorted(self._kept[0], at)
        known = (all_times[at] == times) & (
            self._kept[0][np.minimum(place, len(self._kept[0]) - 1)] == at)
        width = self._rows[0].shape[1]
        out = np.empty((times.size, width))
        out[known] = self._numbered(place[known])
        at = np.where(all_times[at] == times, at - 1, at)  # an end belongs to the step before it
        inner = np.flatnonzero(~known)
        inner = inner[np.argsort(at[inner], kind="stable")]
        part = max(1, RECALL // max(width, 1))
        for k in range(0, inner.size, part):
            piece = inner[k : k + part]
            out[piece] = self._inside(times[piece], at[piece])
        return out

    # -- within ------------------------------------------------------------------------
    def _gather(self) -> None:
        """What belongs to all steps in one array each."""
        if len(self._times) > 1:
            self._times = [np.concatenate(self._times)]
            self._sizes = [np.concatenate(self._sizes)]
            self._kept = [np.concatenate(self._kept)]
            if sum(r.size for r in self._rows) < BLOCK:
                self._rows = [np.concatenate(self._rows)]

    def _numbered(self, numbers: Indices) -> Array:
        """(k, n) known values by their numbers."""
        if len(self._rows) == 1:
            return self._rows[0][numbers]
        out = np.empty((len(numbers), self._rows[0].shape[1]))
        ends = np.cumsum([len(rows) for rows in self._rows])
        blocks = np.searchsorted(ends, numbers, side="right")
        for block in np.unique(blocks):
            rows, here = self._rows[block], blocks == block
            out[here] = rows[numbers[here] - (ends[block] - len(rows))]
        return out

    def _inside(self, times: Array, steps: Any) -> Array:
        """(k, n) values inside steps, which come in order."""
        starts, sizes, kept = self._times[0][:-1], self._sizes[0], self._kept[0]
        low = int(np.searchsorted(kept, steps[0], side="right")) - 1
        high = int(np.searchsorted(kept, steps[-1], side="right"))
        rows = (self._rows[0][low:high] if len(self._rows) == 1
                else self._numbered(np.arange(low, high)))  # fmt: skip
        known, values = kept[low:high], np.ascontiguousarray(rows)
        if self._reached is not None and known[0] < self._reached[0] <= steps[0]:
            later = int(np.searchsorted(known, self._reached[0], side="right"))
            known = np.concatenate([[self._reached[0]], known[later:]])
            values = np.concatenate([self._reached[1][None, :], values[later:]])
        out = np.empty((times.size, rows.shape[1]))
        theta = (times - starts[steps]) / sizes[steps]
        theta[times == self._times[0][steps + 1]] = 1.0
        theta[(steps == len(sizes) - 1) & (times == self.end)] = np.minimum(
            1.0, (self.end - starts[-1]) / sizes[-1])
        x = np.empty(out.shape[1])
        one_step.between(
            self._code, self._form.work, one_step.Steps(starts, sizes, known, values, *ONE_EVENT),
            steps, theta, NO_CONSTANTS, x, np.zeros(5, dtype=np.int64), out)
        if self._apart > self.every:  # the next look may go on from here
            self._reached = int(steps[-1]), x
        return out


class PassedCourses:
    """Courses that begin at events which a method has carried out itself.

    Parameters
    ----------
    form, code : of the method
    events : what was carried out, :class:`~blocks.native.own_events.PassedEvents` or alike
    ends, sizes, rows : of the steps from the first of them to the last
    """

    def __init__(self, form: CourseForm, code: Code, events: Any, ends: Array,
                 sizes: Array, rows: Array) -> None:
        self._form, self._code, self.events = form, code, events
        self._steps = ends, sizes
        self._marks = events.marks - events.marks[0]  # steps before each event
        self._event = np.repeat(np.arange(len(events) - 1), np.diff(self._marks))
        #: Place of every step after its event.
        self._place = np.arange(len(ends)) - self._marks[self._event]
        self._starts = np.where(self._place == 0, events.times[self._event],
                                np.append(0.0, ends[:-1])[: len(ends)])
        self._apart = 1  # so many steps from one start that is kept to the next
        self._known = np.arange(len(ends))
        self._values = np.where((self._place == 0)[:, None], events.x[self._event],
                                np.concatenate([rows[:1], rows[:-1]]))
        #: At the end of the last step before the next event.
        self._arrivals = rows[np.maximum(self._marks[1:] - 1, 0)] if len(rows) else rows

    @cached_property
    def last(self) -> Course:
        """The course that begins at the last event, and goes on."""
        return self._begun(len(self.events) - 1)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        events = self.events
        return sum(a.nbytes for a in (
            *self._steps, self._starts, self._event, self._place, self._known, self._values,
            self._arrivals, events.times, events.marks, events.q, events.x))

    def thin(self) -> float:
        """Keep the starts of half as many steps. Nothing is lost: the others are taken again."""
        self._apart *= 2
        kept = self._place[self._known] % self._apart == 0
        self._known, self._values = self._known[kept], self._values[kept]
        return 0.0

    def finished(self, number: int) -> Course:
        """The course between an event and the next one."""
        course = self._begun(number)
        steps = slice(*self._marks[number : number + 2].tolist())
        if steps.stop > steps.start:
            ends, sizes = (values[steps] for values in self._steps)
            rows = self.values(ends, np.full(len(ends), number))
            course.extend(ends, sizes, rows, rows[-1])
        return course

    def steps(self) -> tuple[Array, Array, Indices]:
        """Starts and ends of the steps between events, and after which event they are.

        Where two events have no step between them stands one of no length.
        """
        taken = np.diff(self._marks)
        which = np.repeat(np.arange(len(taken)), np.maximum(taken, 1))
        idle = (taken == 0)[which]
        starts, ends = np.empty((2, len(which)))
        starts[~idle], starts[idle] = self._starts, self.events.times[which[idle]]
        ends[~idle], ends[idle] = self._steps[0], self.events.times[which[idle]]
        return starts, ends, which

    def values(self, times: Array, number: Indices) -> Array:
        """(k, n) values at times between the event with a number and the next one."""
        ends, sizes = self._steps
        if not len(ends):
            return self.events.x[number]
        low, high = self._marks[number], self._marks[number + 1]
        step = np.clip(self._first_end(times, low, high), low, high - 1)
        out = np.empty((len(times), self._form.size))
        begins = (times <= self.events.times[number]) | (high == low)
        out[begins] = self.events.x[number[begins]]
        at_end = ~begins & (times == ends[step])
        arrives = at_end & (step == high - 1)
        out[arrives] = self._arrivals[number[arrives]]
        inner = np.flatnonzero(~begins & ~arrives)
        place = np.searchsorted(self._known, step[inner] + 1)
        known = at_end[inner] & (np.append(self._known, -1)[place] == step[inner] + 1)
        out[inner[known]] = self._values[place[known]]
        inner = inner[~known]
        inner = inner[np.argsort(step[inner], kind="stable")]
        if len(inner):
            found, again = np.empty((len(inner), self._form.size)), self.retaken()
            theta = (times[inner] - self._starts[step[inner]]) / sizes[step[inner]]
            theta[at_end[inner]] = 1.0
            one_step.between(
                again.code, again.work, again.steps, step[inner], theta, again.track.held,
                np.empty(self._form.size), np.zeros(5, dtype=np.int64), found)
            out[inner] = found
        return out

    def _first_end(self, times: Array, low: Indices, high: Indices) -> Indices:
        """The first steps, of those between two numbers, that end at times or later."""
        return np.searchsorted(self._steps[0], times, side="left")

    def solved(self, times: Array, number: Indices) -> Array:
        """The same; what is carried along is solved for, as it is in every course."""
        rows, form = self.values(times, number), self._form
        if form.equations.carried is None:
            return rows
        out = np.empty_like(rows)
        for after in np.unique(number):
            q = self.events.constants(after)
            code = self._code._replace(q=address_of(q))
            for k in np.flatnonzero(number == after):
                settle_at(code, form.work, times[k], rows[k], out[k])
        return out

    @property
    def form(self) -> CourseForm:
        """What courses of the method have in common."""
        return self._form

    def retaken(self) -> Retaken:
        """What takes the steps of all courses but the last again."""
        q = self.events.constants(0)
        return self._taken_again(self._code._replace(q=address_of(q)), q)

    def _taken_again(self, code: Code, constants: Array) -> Retaken:
        """The same by code that reads what is constant at an address that others fill."""
        q = self.events.q
        steps = one_step.Steps(self._starts, self._steps[1], self._known, self._values,
                               self._event, q)
        return Retaken(code, self._form.work, steps, Track(
            self._steps[0], self._marks, constants[: q.shape[1]]), constants)

    def _begun(self, number: int) -> Course:
        events = self.events
        q = events.constants(number)
        code = self._code._replace(q=address_of(q))
        return Course(self._form, float(events.times[number]), events.x[number], code, q)
