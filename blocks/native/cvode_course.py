"""What CVODE in machine code keeps of an episode: a polynomial for every step.

The rows of its Nordsieck array are the polynomial by which CVODE itself interpolates; reading is
evaluating it, and solves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..machine.functions import Kept
from ..machine.signatures import address_of
from ..numerics.arrays import Array, Indices
from ..solvers.base import Step
from ..solvers.interpolation import chebyshev_nodes
from ..solvers.pieces import Pieces, chunks
from ..solvers.trajectory import refuse_outside
from .courses import BetweenEvents, MachineCourse
from .cvode import Record, values_between
from .own_events import PassedEvents
from .steps import Code, workspace

__all__ = ["CvodeCourse", "CvodeForm", "PassedPolynomials"]

WORTH = 32  # steps between two events that are worth putting together


@dataclass(frozen=True, eq=False)
class CvodeForm:
    """What the courses of one method have in common.

    Attributes
    ----------
    scale : of the solver's unknowns
    places : of these among all that a step moves
    carries : whether there is more than these, which is solved for
    torn : unknowns that slopes are solved for with
    code : that solves for all this, with
    p : its parameters
    order : the highest one of the polynomials
    size : number of all that a step moves
    """

    scale: Array
    places: Any
    carries: bool
    torn: int
    code: Code
    p: Array
    order: int
    size: int

    @cached_property
    def work(self) -> Kept:
        """Room for that."""
        return Kept(workspace(self.size))

    def code_at(self, q: Array) -> Code:
        """Code that reads what is constant from an array."""
        return self.code._replace(q=address_of(q))


class CvodeCourse(MachineCourse):
    """The steps of an episode, as a :class:`~blocks.solvers.Trajectory` is asked.

    After :meth:`thin`, pairs of steps, and of what pairs have become, are one polynomial.

    Parameters
    ----------
    form : CvodeForm
    t, x : the start, in units of the model
    q : what is constant in it, where something is solved for along with the unknowns
    """

    def __init__(self, form: CvodeForm, t: float, x: Array, q: Array) -> None:
        self._form: CvodeForm = form
        self._code, self._alive = form.code_at(q), q
        self.start, self._width = float(t), x.size
        self._first_values = x.copy()
        self._thinned: Pieces | None = None  # before the steps, in units of the model
        self._together = 1  # steps in its pieces
        self.nbytes = 2 * x.nbytes  # memory of what is kept
        self._ends = [np.array([self.start])]
        self._centres: list[Array] = []
        self._sizes: list[Array] = []
        self._blocks: list[tuple[Array, Indices]] = []  # rows of steps, and where each begins
        self._counts: list[int] = []  # steps of a block

    @property
    def end(self) -> float:
        return float(self._ends[-1][-1])

    @property
    def t(self) -> Array:
        """Start and the end of every step, or of every piece where the course was thinned."""
        self._gather()
        if self._thinned is None:
            return self._ends[0].copy()
        return np.concatenate([self._thinned.starts, self._ends[0]])

    def extend(self, record: Record, first: int, taken: int) -> None:
        """Add steps of a record, from one number up to another."""
        steps = slice(first, taken)
        self.add(record.ends[steps].copy(), record.centres[steps].copy(),
                 record.sizes[steps].copy(), record.first[first : taken + 1], record.values)

    def add(self, ends: Array, centres: Array, sizes: Array, first: Indices, values: Array) -> None:
        """Add steps, whose polynomials stand where they begin in ``values``."""
        self._ends.append(ends)
        self._centres.append(centres)
        self._sizes.append(sizes)
        self._counts.append(len(ends))
        rows = values[first[0] : first[-1]].copy()
        self._blocks.append((rows, first - first[0]))
        self.nbytes += 3 * ends.nbytes + first.nbytes + rows.nbytes

    def thin(self) -> float:
        """Put pairs of steps together; returns by how much values between are off at most."""
        self._gather()
        ends = self._ends[0]
        width, count = self._width, self._form.order + 1
        pieces = Pieces(width, count) if self._thinned is None else self._thinned
        nodes = (chebyshev_nodes(count) + 1.0) / 2.0
        for some in chunks(len(ends) - 1, width * count):
            low, high = ends[:-1][some], ends[1:][some]
            at = low[:, None] + (high - low)[:, None] * nodes
            at[:, -1] = high
            rows = self._of_steps(at.ravel())
            pieces.append(low, high, rows.reshape(len(low), count, width))
        last = self._of_steps(ends[-1:])[0]
        self._together *= 2
        thinned, off = pieces.thinned(self._together)
        self._begin_anew(last)
        self._thinned = thinned
        self.nbytes += thinned.nbytes
        return float(self._shown(off[None, :]).max(initial=0.0))

    def forget(self) -> None:
        """Keep the end alone: steps go on from there."""
        self._begin_anew(self._of_steps(np.array([self.end]))[0])
        self._thinned = None

    def _begin_anew(self, last: Array) -> None:
        """Without steps, at the end."""
        self._first_values, self._ends = last, [np.array([self.end])]
        self._centres, self._sizes, self._blocks, self._counts = [], [], [], []
        self.nbytes = 2 * last.nbytes

    def append(self, step: Step, until: float | None = None) -> None:
        """End the course inside its last step, if ``until`` is given; the step stands in it."""
        self._refuse_failed(step)
        if until is not None:
            self._ends[-1][-1] = float(until)

    def _inside_last(self, times: Array) -> Array:
        return self._inside(times, np.full(times.size, sum(self._counts) - 1))

    # -- within ------------------------------------------------------------------------
    def _gather(self) -> None:
        """Times of all steps in one array each."""
        for kept in (self._ends, self._centres, self._sizes):
            if len(kept) > 1:
                kept[:] = [np.concatenate(kept)]

    def rows(self, times: Array) -> Array:
        """(k, n) values at times, in units and order of the model."""
        self._gather()
        border = float(self._ends[0][0])
        begins = border if self._thinned is None else float(self._thinned.times[0])
        refuse_outside(times, begins, self.end)
        out = np.empty((times.size, self._width))
        early = times < border
        if self._thinned is not None and early.any():
            out[early] = self._thinned(times[early])
        out[~early] = self._of_steps(times[~early])
        return out

    def _of_steps(self, times: Array) -> Array:
        """(k, n) values from the first of the steps on, in units and order of the model."""
        # an end belongs to the step before it
        steps = np.searchsorted(self._ends[0], times, side="left") - 1
        out = np.empty((times.size, self._width))
        out[steps < 0] = self._first_values
        inner = np.flatnonzero(steps >= 0)
        for part in chunks(inner.size, self._width):
            some = inner[part]
            out[some] = self._inside(times[some], steps[some])
        return out

    def _inside(self, times: Array, steps: Indices) -> Array:
        """(k, n) values inside steps, in units and order of the model."""
        self._gather()
        parts = (times - self._centres[0][steps]) / self._sizes[0][steps]
        out = np.empty((times.size, self._width))
        begins = np.concatenate([[0], np.cumsum(self._counts)])
        of_block = np.searchsorted(begins, steps, side="right") - 1
        for b in np.unique(of_block):
            here = np.flatnonzero(of_block == b)
            rows = np.empty((here.size, self._width))
            values_between(*self._blocks[b], steps[here] - begins[b], parts[here], rows)
            out[here] = rows
        return out


class PassedPolynomials(BetweenEvents):
    """Courses of CVODE that begin at events which were carried out in machine code.

    After :meth:`thin` each of them is a course by itself, and thinned, where steps are many.

    Parameters
    ----------
    form : CvodeForm
    events : PassedEvents
    record : of the steps, from the one with the number
    first : after the first of these events, to that with the number
    last : before the last one
    """

    def __init__(self, form: CvodeForm, events: PassedEvents, record: Record, first: int,
                 last: int) -> None:
        super().__init__(form, events, record.ends[first:last].copy())
        some = slice(first, last)
        self._centres, self._sizes = record.centres[some].copy(), record.sizes[some].copy()
        begin = record.first[first]
        self._first: Indices = record.first[first : last + 1] - begin
        self._values = record.values[begin : record.first[last]].copy()
        self._thinned: list[CvodeCourse] = []
        self.last = self._begun(len(events) - 1)

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        e = self.events
        return sum(c.nbytes for c in self._thinned) + sum(a.nbytes for a in (
            self._ends, self._centres, self._sizes, self._first, self._values, e.times, e.marks,
            e.q, e.x))

    def thin(self) -> float:
        """Put pairs of steps together; returns by how much values between are off at most.

        Where events follow each other closely orders are low, and nothing would be gained.
        """
        if len(self._ends) < WORTH * len(self):
            return 0.0
        if not self._thinned:
            self._thinned = [self.finished(k) for k in range(len(self) - 1)]
            self._values = self._values[:0].copy()
        return max((course.thin() for course in self._thinned), default=0.0)

    def finished(self, number: int) -> CvodeCourse:
        """The course between an event and the next one."""
        if self._thinned:
            return self._thinned[number]
        course = self._begun(number)
        first, last = self._marks[number : number + 2].tolist()
        if last > first:
            steps = slice(first, last)
            course.add(self._ends[steps], self._centres[steps], self._sizes[steps],
                       self._first[first : last + 1], self._values)
        return course

    def values(self, times: Array, number: Indices) -> Array:
        """(k, n) values at times between the event with a number and the next one."""
        out = self.events.x[number]
        if self._thinned:
            for one in np.unique(number):
                here = np.flatnonzero(number == one)
                out[here] = self._thinned[one].rows(times[here])
            return out
        step, begins = self._places(times, number)
        inner = np.flatnonzero(~begins)
        if len(inner):
            step, rows = step[inner], np.empty((len(inner), out.shape[1]))
            parts = (times[inner] - self._centres[step]) / self._sizes[step]
            values_between(self._values, self._first, step, parts, rows)
            out[inner] = rows
        return out

    def _reader(self) -> tuple[Code, Array]:
        q = self.events.constants(0)
        return self._form.code_at(q), q[: self.events.q.shape[1]]

    def _begun(self, number: int) -> CvodeCourse:
        events = self.events
        return CvodeCourse(self._form, float(events.times[number]), events.x[number],
                           events.constants(number))
