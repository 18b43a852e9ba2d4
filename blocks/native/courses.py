"""What compiled one-step methods keep of the steps they took, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..machine.functions import Kept
from ..machine.signatures import address_of
from ..numerics.arrays import Array, Flags, Indices
from ..solvers.base import Step
from ..solvers.pieces import chunks
from ..solvers.trajectory import KeptCourse, refuse_outside
from . import one_step
from .equations import Equations
from .loop_branch import room_for_branch
from .stages import ATOL
from .steps import (
    Banded,
    Code,
    Sparse,
    known_of,
    settle_after_events,
    unknowns_after_events,
    workspace,
)

__all__ = ["BLOCK", "Course", "CourseForm", "PassedCourses",
           "Retaken", "WholeRun"]  # fmt: skip

BLOCK = 1 << 19  # numbers of a block of rows
ONE_EVENT = np.zeros(0, dtype=np.int64), np.zeros((0, 0))


def _unknowns(form: CourseForm, code: Code, times: Array, x: Array, number: Indices,
              constants: Array, q: Array) -> Array | None:
    """Torn unknowns where slopes are solved for with them, by times and states there, (n, k).

    Parameters
    ----------
    number : of the constants that hold at each time; these come to stand in
    q : from which the code reads them
    """
    if not form.torn:
        return None
    out = np.empty((len(times), form.torn))
    unknowns_after_events(code, form.work, times, np.ascontiguousarray(x.T), number, constants, q,
                          out)
    return out.T


def _settled(form: CourseForm, code: Code, times: Array, rows: Array, number: Indices,
             constants: Array, q: Array) -> Array:
    """Points at times, with what is carried along solved for; the others as there."""
    out = np.empty_like(rows)
    settle_after_events(code, form.work, times, rows, number, constants, q, out)
    return out


@dataclass(eq=False)
class CourseForm:
    """What the courses of one method have in common."""

    equations: Equations
    places: Any  # of the integrated states among all that a step moves
    scale: Array
    atol: Array  # of all that a step moves
    kind: int  # of steps
    p: Array
    matrix: Banded | Sparse | None
    rtol: float
    loops: Array  # nominal values of unknowns of nonlinear loops, infinite for others; or empty

    @property
    def size(self) -> int:
        """Number of all that a step moves."""
        return self.atol.size

    @property
    def carries(self) -> bool:
        """Whether more than the integrated states is solved for, and carried along."""
        return self.equations.carried is not None

    @property
    def torn(self) -> int:
        """Unknowns that slopes are solved for with."""
        return self.equations.torn

    @cached_property
    def work(self) -> Kept:
        """Room for the steps that are taken again, with the tolerances as units of unknowns."""
        work_space = workspace(self.atol.size, self.kind, self.matrix)
        work_space.k[ATOL], work_space.rtol[0] = self.atol, self.rtol
        self.equations.tell_of_slopes(work_space.steady, self.kind, self.matrix is not None)
        return Kept(work_space._replace(branch=room_for_branch(self.loops)))


@dataclass(frozen=True)
class Retaken:
    """Steps of courses, and what takes them again.

    ``constants`` are what the code points into, first those that are ``held`` between two events.
    """

    code: Code
    work: Kept
    steps: one_step.Steps
    held: Array
    constants: Array


class Course(KeptCourse):
    """The steps of a compiled method, as a :class:`~blocks.solvers.Trajectory` is asked.

    Kept are the ends of steps alone, of fewer of them after :meth:`thin`: what lies between is
    found by taking those steps again, and is the same.
    """

    def __init__(self, form: CourseForm, t: float, x: Array, code: Code, constants: Array) -> None:
        self.form = form
        self._code = code
        self._alive = constants  # into which the code points
        self._apart = 1  # so many steps from one end that is kept to the next
        self.start = float(t)
        self.nbytes = 2 * x.nbytes  # memory of what is kept
        self._times: list[Array] = [np.array([t])]
        self._sizes: list[Array] = []
        self._kept: list[Any] = [np.array([0])]  # steps whose start is known; the end counts
        self._rows: list[Array] = [x[None, :].copy()]
        self._steps = 0

    @property
    def end(self) -> float:
        return float(self._times[-1][-1])

    @property
    def t(self) -> Array:
        """Start and the end of every step."""
        self._gather()
        return self._times[0].copy()

    @property
    def size(self) -> int:
        """Number of integrated unknowns."""
        return self.form.scale.size

    @property
    def solved(self) -> Any:
        """States and algebraic unknowns at times, (n, k), where the method carries them."""
        return self._solved if self.form.carries else None

    def _solved(self, times: Array) -> Array:
        held = self._alive[:0]
        return _settled(self.form, self._code, times, self.rows(times),
                        np.zeros(len(times), dtype=np.int64), held[None, :], held).T

    def unknowns(self, times: Array, x: Array, number: Indices) -> Array | None:
        """Torn unknowns where slopes are solved for with them, by times and states there, (n, k).
        """
        held = self._alive[: self.form.torn]
        return _unknowns(self.form, self._code, times, x, number, held[None, :].copy(), held)

    def _values_at(self, times: Array) -> Array:
        return self._shown(self.rows(times))

    def inside_last(self, t: Any) -> Array:
        """The last step's own dense output."""
        return self._read(lambda times: self._shown(self._inside_last(times)), t)

    def _shown(self, rows: Array) -> Array:
        return rows[:, self.form.places] / self.form.scale

    def extend(self, ends: Array, sizes: Array, rows: Array) -> None:
        """Add steps; ``sizes`` are those of the whole steps."""
        numbers = np.arange(self._steps + 1, self._steps + len(ends) + 1)
        self._rows.append(rows.copy())
        self._kept.append(numbers)
        self._steps += len(ends)
        self._times.append(ends.copy())  # without the rest of their blocks
        self._sizes.append(sizes.copy())
        self.nbytes += 2 * ends.nbytes + numbers.nbytes + rows.nbytes

    def thin(self) -> float:
        """Keep the ends of half as many steps. Nothing is lost: the others are taken again."""
        self._gather()
        self._apart *= 2
        chosen = self._kept[0] % self._apart == 0
        chosen[[0, -1]] = True
        rows: list[Array] = []
        before, wanted = 0, np.flatnonzero(chosen)
        for block in self._rows:
            here = wanted[(wanted >= before) & (wanted < before + len(block))] - before
            rows.append(block if len(here) == len(block) else block[here])
            before += len(block)
        self._rows = [block for block in rows if len(block)]
        self._kept = [self._kept[0][wanted]]
        self._count_bytes()
        return 0.0

    def forget(self) -> None:
        """Keep the end alone: steps go on from there."""
        last = self._rows[-1][-1].copy()
        self._times, self._sizes = [np.array([self.end])], []
        self._kept, self._rows = [np.array([0])], [last[None, :]]
        self._steps = 0
        self._count_bytes()

    def go_back(self, most: int) -> Array:
        """Drop so many of the last steps, but the first; the values there."""
        self._gather()
        if 0 < self._steps == len(self._kept[0]) - 1:
            count = self._steps = max(self._steps - most, 1)
            self._rows = [self._numbered(np.arange(count + 1))]
            self._times, self._kept = [self._times[0][: count + 1]], [self._kept[0][: count + 1]]
            self._sizes = [self._sizes[0][:count]]
            self._count_bytes()
        values: Array = self._rows[-1][-1]
        return values

    def _count_bytes(self) -> None:
        arrays = (*self._times, *self._sizes, *self._kept, *self._rows)
        self.nbytes = self._rows[-1][-1].nbytes + sum(a.nbytes for a in arrays)

    def append(self, step: Step, until: float | None = None) -> None:
        """End the course inside its last step, if ``until`` is given; the step stands in it."""
        self._refuse_failed(step)
        if until is not None and until != self.end:
            last = self._inside_last(np.array([until], dtype=float))
            self._times[-1] = np.append(self._times[-1][:-1], float(until))
            self._rows[-1] = np.concatenate([self._rows[-1][:-1], last])

    def _inside_last(self, times: Array) -> Array:
        self._gather()
        return self._inside(times, np.full(times.size, self._times[0].size - 2))

    def rows(self, times: Array) -> Array:
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
        for part in chunks(inner.size, width):
            piece = inner[part]
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
        theta = (times - starts[steps]) / sizes[steps]
        theta[times == self._times[0][steps + 1]] = 1.0
        theta[(steps == len(sizes) - 1) & (times == self.end)] = np.minimum(
            1.0, (self.end - starts[-1]) / sizes[-1])
        return _between(
            self._code, self.form.work, one_step.Steps(starts, sizes, known, values, *ONE_EVENT),
            steps, theta, np.zeros(0))


def _between(code: Code, work: Kept, steps: one_step.Steps, which: Indices, theta: Array,
             held: Array) -> Array:
    """(k, n) values inside steps, by taking these again."""
    n = steps.values.shape[1]
    out, x = np.empty((len(theta), n)), np.empty(n)
    one_step.between.knowing(known_of(code))(
        code, work, steps, which, theta, held, x, np.zeros(5, dtype=np.int64), out)
    return out


def _starts(events: Any, marks: Indices, ends: Array) -> tuple[Array, Indices, Indices]:
    """When each step between events begins, after which event it is, and the how many-th."""
    event = np.repeat(np.arange(len(events) - 1), np.diff(marks))
    place = np.arange(len(ends)) - marks[event]
    return np.where(place == 0, events.times[event], np.append(0.0, ends[:-1])[: len(ends)]
                    ), event, place


class _Steps:
    """The steps of courses that begin at events, as they are looked up.

    Attributes
    ----------
    event, place : after which event each is, and the how many-th
    starts : when it begins
    known, values : steps whose start is kept, and the values there
    arrivals : values at the end of the last step before the next event
    """

    def __init__(self, events: Any, marks: Indices, ends: Array, rows: Array) -> None:
        self.starts, self.event, self.place = _starts(events, marks, ends)
        first = self.place == 0
        self.known = np.arange(len(ends))
        self.values = np.where(first[:, None], events.x[self.event],
                               np.concatenate([rows[:1], rows[:-1]]))
        self.arrivals = rows[np.maximum(marks[1:] - 1, 0)] if len(rows) else rows

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        return sum(a.nbytes for a in vars(self).values())


class PassedCourses:
    """Courses of a one-step method that begin at events which it has carried out itself.

    Parameters
    ----------
    form, code : of the method
    events : what was carried out, :class:`~blocks.native.own_events.PassedEvents` or alike
    ends, sizes, rows : of the steps from the first of them to the last
    """

    def __init__(self, form: CourseForm, code: Code, events: Any, ends: Array,
                 sizes: Array, rows: Array) -> None:
        self.form, self._code = form, code
        self.events, self._ends, self._sizes = events, ends, sizes
        self._marks = events.marks - events.marks[0]  # steps before each event
        self._rows: Array | None = rows  # until somebody looks
        self._apart = 1  # so many steps from one start that is kept to the next

    def __len__(self) -> int:
        return len(self.events)

    def solved(self, times: Array, number: Indices) -> Array:
        """The same; what is carried along is solved for, as it is in every course."""
        rows = self.values(times, number)
        if not self.form.carries:
            return rows
        again = self.retaken()
        return _settled(self.form, again.code, times, rows, number, self.events.q, again.held)

    def unknowns(self, times: Array, x: Array, number: Indices) -> Array | None:
        """Torn unknowns, as of every course."""
        again = self.retaken()
        return _unknowns(self.form, again.code, times, x, number, self.events.q,
                         again.held)

    def steps(self) -> tuple[Array, Array, Indices]:
        """Starts and ends of the steps between events, and after which event they are.

        Where two events have no step between them stands one of no length.
        """
        taken = np.diff(self._marks)
        which = np.repeat(np.arange(len(taken)), np.maximum(taken, 1))
        idle = (taken == 0)[which]
        starts, ends = np.empty((2, len(which)))
        starts[~idle] = _starts(self.events, self._marks, self._ends)[0]
        starts[idle] = self.events.times[which[idle]]
        ends[~idle], ends[idle] = self._ends, self.events.times[which[idle]]
        return starts, ends, which

    def _places(self, times: Array, number: Indices) -> tuple[Indices, Flags]:
        """In which steps times between the event with a number and the next one are, and whether
        they are at that event."""
        low, high = self._marks[number], self._marks[number + 1]
        step = np.clip(self._first_end(times, number), low, high - 1)
        return step, (times <= self.events.times[number]) | (high == low)

    def _first_end(self, times: Array, number: Indices) -> Indices:
        """The first steps, of those after the event with a number, that end at times or later."""
        return np.searchsorted(self._ends, times, side="left")

    @cached_property
    def _steps(self) -> _Steps:
        """What is looked up, found with the first look."""
        assert self._rows is not None
        found, self._rows = _Steps(self.events, self._marks, self._ends, self._rows), None
        return found

    @cached_property
    def last(self) -> Course:
        """The course that begins at the last event, and goes on."""
        return self._begun(len(self.events) - 1)

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        events = self.events
        steps = self._steps.nbytes if self._rows is None else (
            self._rows.nbytes + 4 * self._ends.nbytes + events.x[1:].nbytes)
        return steps + sum(a.nbytes for a in (
            self._ends, self._sizes, events.times, events.marks, events.q, events.x))

    def thin(self) -> float:
        """Keep the starts of half as many steps. Nothing is lost: the others are taken again."""
        self._apart *= 2
        steps = self._steps
        kept = steps.place[steps.known] % self._apart == 0
        steps.known, steps.values = steps.known[kept], steps.values[kept]
        return 0.0

    def finished(self, number: int) -> Course:
        """The course between an event and the next one."""
        course = self._begun(number)
        steps = slice(*self._marks[number : number + 2].tolist())
        if steps.stop > steps.start:
            ends, sizes = self._ends[steps], self._sizes[steps]
            rows = self.values(ends, np.full(len(ends), number))
            course.extend(ends, sizes, rows)
        return course

    def values(self, times: Array, number: Indices) -> Array:
        """(k, n) values at times between the event with a number and the next one."""
        ends, sizes, steps = self._ends, self._sizes, self._steps
        if not len(ends):
            return self.events.x[number]
        step, begins = self._places(times, number)
        out = np.empty((len(times), self.form.size))
        out[begins] = self.events.x[number[begins]]
        at_end = ~begins & (times == ends[step])
        arrives = at_end & (step == self._marks[number + 1] - 1)
        out[arrives] = steps.arrivals[number[arrives]]
        inner = np.flatnonzero(~begins & ~arrives)
        place = np.searchsorted(steps.known, step[inner] + 1)
        known = at_end[inner] & (np.append(steps.known, -1)[place] == step[inner] + 1)
        out[inner[known]] = steps.values[place[known]]
        inner = inner[~known]
        inner = inner[np.argsort(step[inner], kind="stable")]
        if len(inner):
            again = self.retaken()
            theta = (times[inner] - steps.starts[step[inner]]) / sizes[step[inner]]
            theta[at_end[inner]] = 1.0
            out[inner] = _between(again.code, again.work, again.steps, step[inner], theta,
                                  again.held)
        return out

    def retaken(self) -> Retaken:
        """What takes the steps of all courses but the last again."""
        q = self.events.constants(0)
        return self._taken_again(self._code._replace(q=address_of(q)), q)

    def _taken_again(self, code: Code, constants: Array) -> Retaken:
        """The same by code that reads what is constant at an address that others fill."""
        q = self.events.q
        found = self._steps
        steps = one_step.Steps(found.starts, self._sizes, found.known, found.values, found.event,
                               q)
        return Retaken(code, self.form.work, steps, constants[: q.shape[1]], constants)

    def _begun(self, number: int) -> Course:
        events = self.events
        q = events.constants(number)
        code = self._code._replace(q=address_of(q))
        return Course(self.form, float(events.times[number]), events.x[number], code, q)


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
