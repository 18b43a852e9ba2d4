"""Dense output of compiled one-step methods: what they keep of their steps, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..machine.functions import Kept
from ..machine.signatures import address_of
from ..numerics.arrays import Array, Indices, distinct
from ..solvers.base import KeptCourse, Step
from ..solvers.polynomials import RowBlocks, chunks
from ..solvers.trajectory import refuse_outside
from . import one_step
from .equations import Equations, HeldConstants
from .loop_branch import room_for_branch
from .own_events import KeptRows, PassedEvents
from .stages import ATOL
from .steps import Code, Sparse, known_of, workspace

__all__ = ["BLOCK", "Course", "CourseData", "PassedCourses", "joined", "points_of"]

BLOCK = 1 << 19  # numbers of a block of rows
LARGE, APART = 20_000, 8  # unknowns of which values are kept at some points alone: so many apart
AT_START = np.zeros(1, dtype=np.int64)
NOTHING_HELD = KeptRows(np.empty((1, 0)))


@dataclass(eq=False)
class CourseData:
    """What the courses of one method have in common."""

    equations: Equations
    places: Any  # of the integrated states among all that a step moves
    scale: Array
    atol: Array  # of all that a step moves
    kind: int  # of steps
    p: Array  # to which the code points
    matrix: Sparse | None
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

    @cached_property
    def work(self) -> Kept:
        """Room for the steps that are taken again, with the tolerances as units of unknowns."""
        work_space = workspace(self.atol.size, self.kind, self.matrix)
        work_space.k[ATOL], work_space.rtol[0] = self.atol, self.rtol
        return Kept(work_space._replace(branch=room_for_branch(self.loops)))


class Course(KeptCourse):
    """The steps of a compiled method, as a :class:`~blocks.solvers.Trajectory` is asked.

    They begin once, or anew at every event; then the episodes between are numbered. Kept are the
    points where steps begin and end, and the values there; of a large model, and after
    :meth:`thin`, at some of them: all else is found by taking steps again, and is the same.

    Parameters
    ----------
    form, code : of the method
    constants : which the code reads; the first of them are those of an episode
    first : (episodes,) the point where each begins
    points : (2, k) times, and sizes of the whole steps that end there
    values : (k, n) there, which become its own
    held : (episodes, m) constants from there on; None where they stay
    run : (episodes,) which run each is of, where there are several

    Attributes
    ----------
    starts : when each episode begins
    count : number of points
    """

    def __init__(self, common: CourseData, code: Code, constants: Array, first: Indices,
                 points: Array, values: Array, held: KeptRows | None = None,
                 run: Indices | None = None) -> None:
        self.common, self._code, self._alive, self.run = common, code, constants, run
        self.carries = common.carries
        self.starts, self.start, self._first = points[0, first], float(points[0, 0]), first
        self.held = held or NOTHING_HELD
        #: So many steps from one point whose values are kept to the next.
        self._apart = APART if common.size >= LARGE else 1
        self._fill(points, np.arange(len(values)), values)

    @classmethod
    def begun(cls, common: CourseData, code: Code, constants: Array, t: float, x: Array) -> Course:
        """One that begins at a point."""
        return Course(common, code._replace(q=address_of(constants)), constants, AT_START,
                      np.array([[t], [0.0]]), np.array([x]))

    def _fill(self, points: Array, kept: Indices, values: Array) -> None:
        """Keep these points: times, and the size of the step that ends there; values of some."""
        self._points, self._kept, self.count = [points], [kept], points.shape[1]
        self.end = float(points[0, -1])
        self._rows = RowBlocks(values)

    @property
    def t(self) -> Array:
        """Start and the end of every step."""
        return self._gathered()[0][0].copy()

    @property
    def nbytes(self) -> int:
        return (self._rows.nbytes + 8 * self._rows.count + 16 * self.count + self.held.nbytes
                + self._first.nbytes)

    @property
    def size(self) -> int:
        return self.common.scale.size

    def steps(self) -> tuple[Array, Array, Indices]:
        times, last = self._gathered()[0][0], self._last
        begins = np.ones(len(times), dtype=bool)
        begins[last] = last == self._first
        here = np.flatnonzero(begins)
        which = np.searchsorted(self._first, here, side="right") - 1
        return times[here], times[np.minimum(here + 1, last[which])], which

    # -- as it goes on -----------------------------------------------------------------------
    def extend(self, ends: Array, sizes: Array, rows: Array) -> None:
        """Add steps; ``sizes`` are those of the whole steps."""
        some = slice((len(ends) - 1) % self._apart, None, self._apart)  # steps go on from the last
        self._points.append(np.array([ends, sizes]))
        self._kept.append(np.arange(self.count, self.count + len(ends))[some])
        self._rows.append(ends[some], rows[some])
        self.count += len(ends)
        self.end = float(ends[-1])

    def append(self, step: Step, until: float | None = None) -> None:
        """End the course inside its last step, if ``until`` is given; the step stands in it."""
        self._refuse_failed(step)
        if until is not None and until != self.end:
            at, size = np.array([until], dtype=float), self._points[-1][1, -1:].copy()
            row = self.values(at, np.zeros(1, dtype=int))
            self._cut(self.count - 1)
            self.extend(at, size, row)

    def thin(self) -> float:
        """Keep the values at half as many points. Nothing is lost: steps are taken again."""
        self._apart *= 2
        points, kept = self._gathered()
        ends = np.isin(kept, np.append(self._first, self._last))
        some = np.flatnonzero(ends | (np.arange(len(kept)) % 2 == 0))
        before, self._rows = self._rows, RowBlocks(np.empty((0, self.common.size)))
        for part in chunks(len(some), self.common.size):
            self._rows.append(points[0, kept[some[part]]], before.take(some[part]))
            before.drop_before(int(some[part][-1]))
        self._kept = [kept[some]]
        return 0.0

    def forget(self) -> None:
        self._fill(self._gathered()[0][:, -1:], np.zeros(1, dtype=int), self._end_values)

    def go_back(self, most: int) -> Array:
        """Drop so many of the last steps, or some more, but the first; the values there."""
        kept = self._gathered()[1]
        place = np.searchsorted(kept, self.count - most) - 1
        self._cut(int(kept[np.clip(place, 1, len(kept) - 1)]) + 1)
        values: Array = self._end_values[0]
        return values

    @property
    def _end_values(self) -> Array:
        return self._rows.take(np.array([self._rows.count - 1]))

    def _cut(self, count: int) -> None:
        """Keep so many points, the last of which has its values."""
        points, kept = self._gathered()
        kept = kept[kept < count]
        self._fill(points[:, :count], kept, self._rows.take(np.arange(len(kept))))

    # -- read --------------------------------------------------------------------------------
    def values(self, times: Array, number: Indices) -> Array:
        """(k, n) values of what a step moves, at times of the episodes with some numbers."""
        (ends, sizes), kept = self._gathered()
        at, first = self._places(times, number), self._first[number]
        exact = (at == first) | (ends[at] == times)
        place = at if len(kept) == self.count else np.searchsorted(kept, at)
        known = exact & (kept[place] == at)
        out = np.empty((len(times), self.common.size))
        out[known] = self._rows.take(place[known])
        inner = np.flatnonzero(~known)
        inner = inner[np.argsort(at[inner], kind="stable")]
        for part in chunks(len(inner), self.common.size):
            some = inner[part]
            step = at[some] - 1
            theta = np.where(exact[some], 1.0, (times[some] - ends[step]) / sizes[at[some]])
            out[some] = self._taken_again(step, theta)
        return out

    def states(self, times: Array, number: Indices) -> Array:
        rows = self.values(times, number)
        if not self.carries:
            return rows
        return self.common.equations.evaluated(
            self._code.project, rows.shape[1], times, rows, self.constants(number))

    def constants(self, number: Indices) -> HeldConstants:
        """What functions of the equations read at points in the episodes with some numbers."""
        return HeldConstants(self._alive, *self.held.take(number),
                             self.common.p if self.run is None else None)

    def _values_at(self, times: Array) -> Array:
        refuse_outside(times, float(self._gathered()[0][0, 0]), self.end)
        rows = self.values(times, np.zeros(len(times), dtype=int))
        return rows[:, self.common.places] / self.common.scale

    @property
    def q(self) -> Array:
        """(episodes, m) constants from each on."""
        return self.held.take(np.arange(self.held.shape[0]))[1]

    @property
    def _last(self) -> Indices:
        """The last point of each episode."""
        return np.append(self._first[1:], self.count) - 1

    def _gathered(self) -> tuple[Array, Indices]:
        """All points, and the numbers of those whose values are kept."""
        if len(self._points) > 1:
            self._points = [np.concatenate(self._points, axis=1)]
            self._kept = [np.concatenate(self._kept)]
        return self._points[0], self._kept[0]

    def _places(self, times: Array, number: Indices) -> Indices:
        """The points of some episodes at times, or else those at which the steps there end."""
        points, (first, last) = self._points[0][0], (self._first, self._last)
        if self.run is None:
            at = np.searchsorted(points, times)
        else:  # times begin anew with each: complex numbers are ordered by their real parts first
            at = np.searchsorted(np.repeat(self.run, last - first + 1) + 1j * points,
                                 self.run[number] + 1j * times)
        return np.clip(at, first[number], last[number])

    def _taken_again(self, step: Indices, theta: Array) -> Array:
        """(k, n) values inside steps, by the points where they begin, in order."""
        (times, sizes), kept = self._gathered()
        near = distinct(np.searchsorted(kept, step, side="right") - 1)
        steps = one_step.Steps(
            times, sizes[1:], kept[near], self._rows.take(near),
            *self.held.take(np.searchsorted(self._first, kept[near], side="right") - 1))
        out, x = np.empty((len(theta), self.common.size)), np.empty(self.common.size)
        one_step.between.knowing(known_of(self._code))(
            self._code, self.common.work, steps, step, theta, self._alive[: self.held.shape[1]], x,
            np.zeros(5, dtype=np.int64), out)
        return out


def points_of(times: Array, marks: Indices, x: Array, ends: Array, sizes: Array, rows: Array
              ) -> tuple[Indices, Array, Array]:
    """The first points of episodes, all points, and the values there.

    Parameters
    ----------
    times, marks, x : of each episode: when it begins, after how many steps, and the values
    ends, sizes, rows : of the steps, and the values at their ends
    """
    first, count = marks + np.arange(len(marks)), len(marks) + len(ends)
    begins = np.zeros(count, dtype=bool)
    begins[first] = True
    inner = np.flatnonzero(~begins)
    points, values = np.zeros((2, count)), np.empty((count, x.shape[1]))
    points[0, first], values[first] = times, x
    points[0, inner], points[1, inner], values[inner] = ends, sizes, rows
    return first, points, values


class PassedCourses(Course):
    """Steps between events that a method has carried out itself.

    Parameters
    ----------
    form, code : of the method
    events : what was carried out
    ends, sizes, rows : of the steps from the first of them to the last
    """

    def __init__(self, common: CourseData, code: Code, events: PassedEvents, ends: Array,
                 sizes: Array, rows: Array) -> None:
        self.events = events
        q, most = events.constants(0), max(len(events) - 1, 1)
        super().__init__(common, code._replace(q=address_of(q)), q, *points_of(
            events.times[:most], events.marks[:most] - events.marks[0], events.x[:most], ends,
            sizes, rows), events.q)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def nbytes(self) -> int:
        events = self.events
        return super().nbytes + sum(a.nbytes for a in (events.times, events.marks, events.x))

    @cached_property
    def last(self) -> Course:
        """The course that begins at the last event, and goes on."""
        return self._begun(len(self.events) - 1)

    def finished(self, number: int) -> Course:
        """The course between an event and the next one."""
        course = self._begun(number)
        points, kept = self._gathered()
        low, high = int(self._first[number]), int(self._last[number]) + 1
        a, b = np.searchsorted(kept, [low, high]).tolist()
        course._fill(points[:, low:high].copy(), kept[a:b] - low, self._rows.take(np.arange(a, b)))
        course._apart = self._apart
        return course

    def _begun(self, number: int) -> Course:
        events = self.events
        return Course.begun(self.common, self._code, events.constants(number),
                            float(events.times[number]), events.x[number])


def joined(courses: Sequence[Course]) -> Course:
    """The courses of several runs of one system, with the same kind of steps.

    The start of a run is an event like others, at which its parameters become those that machine
    code reads: they stand before what is constant between two events.
    """
    common, code = courses[-1].common, courses[-1]._code
    before = np.cumsum([0] + [one.count for one in courses])
    first = np.concatenate([one._first + k for one, k in zip(courses, before, strict=False)])
    number = np.repeat(np.arange(len(courses)), [one.held.shape[0] for one in courses])
    held = np.hstack([np.array([one.common.p for one in courses])[number],
                      np.concatenate([one.q for one in courses])])
    room = common.equations.with_room(held[0])
    at = address_of(room)
    return Course(
        common, code._replace(p=at, q=at + common.p.nbytes), room, first,
        np.concatenate([one._gathered()[0] for one in courses], axis=1),
        np.concatenate([one._rows.take(np.arange(one.count)) for one in courses]), KeptRows(held),
        number)
