"""CVODE in machine code, under the contract of all methods.

One call of :meth:`CompiledCvode.advance` takes as many steps as it may; all of them stand in its
:class:`~blocks.native.cvode_course.CvodeCourse`. The model's slopes and its Jacobian are machine
code that CVODE calls, as is what brings the end of a step back onto its constraints; Python is
asked at events only.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Array
from ..numerics.tolerances import LEAST_RTOL
from ..solvers.base import Method, Step
from ..solvers.sundials import failure_of
from ..solvers.trouble import is_sliver
from ..system.time_functions import ACROSS
from . import cvode
from .cvode_course import CvodeCourse, is_full
from .cvode_library import ROWS, Integration, loaded_sundials
from .equations import equations_of
from .forms import MOST_STATES, is_solved_for
from .functions import Kept
from .loop_branch import SIZES, fill_sizes, may_lose_branch, room_for_branch
from .matrices import LinearAlgebra, linear_algebra_of
from .one_step import CROSSED, LOCATED, Limits
from .pulses import EXPONENT_ROWS, INSIDE_ROWS
from .stages import ATOL, nordsieck_arithmetic
from .steps import IMPLICIT, Code, settle_in_place, settle_rows, workspace
from .zero_crossings import LARGEST, LOOK_ROWS, Relations

if TYPE_CHECKING:
    from ..system import Problem

__all__ = ["CompiledCvode"]

BLOCK = 1 << 19  # numbers of a block of rows
ROUGHLY = 1e-3  # of nominal values
AT_ONCE = 1e9  # times that, which nothing exceeds, and differences of slopes still stand
MOST_STEPS = 512  # of a call: Ctrl-C is heard between calls


class CompiledCvode(Method):
    """Variable-order BDF of SUNDIALS, as :class:`blocks.solvers.sundials.CVODE`.

    The relations of the model are looked at in every step; a step in which one crosses is the
    last one of a call and ends there.
    """

    name, order = "cvode", 5
    implicit = True
    looks_itself = True
    course: CvodeCourse

    @staticmethod
    def can_run(problem: Problem) -> bool:
        """Whether SUNDIALS can be reached, and the problem is of a form that is served here."""
        system, laws = problem.system, problem.laws
        if loaded_sundials() is None:
            return False
        return linear_algebra_of(system, laws) is not None

    @classmethod
    def fits(cls, problem: Any, t: float) -> bool:
        return problem.laws is None or problem.laws.runs_compiled(problem, t)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        problem: Any = self.problem
        self.scale, self.free = np.asarray(problem.scale), np.array(problem.free)
        self.p = np.array(problem.p, dtype=float)
        self.equations = equations_of(problem.system, self.p, problem.laws)
        count = self.equations.relations
        #: Without the reserve of solved equations, which is watched with them.
        self.relations = count - self.equations.reserve
        #: Whether states that constraints tie, and unknowns, are followed, too.
        self.carries = self.equations.carried is not None
        self.places: Any = self.free if self.carries else slice(None)
        self.known, self.hints, self.timed, self.crossed = np.zeros((4, count), dtype=bool)
        self.instant = np.full(1, np.inf)
        self.hints[self.relations :] = True
        self.held, self.slack, self.looks = np.ones(count), np.zeros(count), np.empty(
            (LOOK_ROWS, count))
        self.watched = Relations(self.held, self.known, self.hints, self.slack, self.timed,
                                 self.instant, self.looks, np.empty(LOOK_ROWS), self.crossed,
                                 np.empty((EXPONENT_ROWS, problem.system.tape.exponents.numel())),
                                 np.empty((INSIDE_ROWS, len(self._point()))))
        self.pieces: Array = np.zeros(0)
        self.x = self._point()
        self.branch = room_for_branch(np.empty(
            self.x.size if self.carries and may_lose_branch(problem.system) else 0))
        if self.branch.size:
            fill_sizes(self.branch[SIZES], problem)
        self.work_space = workspace(self.x.size)._replace(branch=self.branch)
        self.work_space.k[ATOL] = self._tolerances()
        #: Whether anything is solved for within a slope, or efforts are part of it.
        self.together = problem.laws is not None or is_solved_for(problem.system)
        # written first: they need room among the constants
        jacobian = None
        if self.together:
            by_rows = problem.system.nx <= MOST_STATES and not self.equations.large
            jacobian = self.equations.linear(IMPLICIT) if by_rows else 0
        self.equations.exponents  # noqa: B018
        self.q = self.equations.constants(problem, self.t)
        self.record: cvode.Record | None = None
        self._connect(jacobian)
        self.restart(self.t, self.y)

    def _point(self) -> Array:
        """All that a step moves."""
        problem: Any = self.problem
        if not self.carries:
            return np.asarray(self.y * self.scale)
        x = np.append(problem.x, self.equations.carried_values(problem))
        x[self.places] = self.y * self.scale
        return x

    def _tolerances(self) -> Array:
        """Absolute ones; of what is solved for at every point it only matters that that works."""
        problem: Any = self.problem
        atol = self.atol * self.scale
        if not self.carries:
            return atol
        sizes = np.concatenate([problem.scale_x, problem.scale_z, problem.scale_u])
        followed = ROUGHLY * sizes[: self.x.size]
        followed[self.places] = atol
        followed[len(problem.x) :] *= AT_ONCE  # torn unknowns may change at once
        return followed

    def _connect(self, jacobian: int | None) -> None:
        """Make CVODE's objects, and tell machine code where everything stands.

        ``jacobian`` is the address of derivatives row by row; None for those of the matrix that
        suits the system.
        """
        problem: Any = self.problem
        sundials, matrices = loaded_sundials(), LinearAlgebra(np.zeros(0, dtype=np.int64))
        if not jacobian:
            matrices = linear_algebra_of(problem.system, problem.laws) or matrices
        by_rows = bool(jacobian)
        if jacobian is None:
            jacobian = self.equations.jacobian(matrices.order, matrices.band)
        assert sundials is not None
        n, order = self.x.size, matrices.order
        if order.size:  # what is carried along acts on none
            order = np.concatenate([order, np.arange(order.size, n)])
        self.unknowns_order = order
        self.rows = np.zeros((n + 1, n) if by_rows else 0)
        self.user = np.zeros(cvode.USER, dtype=np.int64)
        self.room = np.empty((3, n))
        self.at = np.empty(1)
        shown = {
            cvode.SIZE: n, cvode.SLOPE: self.equations.slope, cvode.JACOBIAN: jacobian,
            cvode.P: self.p.ctypes.data, cvode.AT: self.at.ctypes.data,
            cvode.VECTOR: sundials.address("N_VGetArrayPointer"),
            cvode.MATRIX: sundials.address(
                "SUNBandMatrix_Data" if matrices.band else "SUNDenseMatrix_Data"),
            cvode.UNKNOWNS: self.room[0].ctypes.data, cvode.SLOPES: self.room[1].ctypes.data,
            cvode.ORDER: order.ctypes.data if order.size else 0,
            cvode.BY_ROWS: self.rows.ctypes.data if by_rows else 0,
            cvode.SETTLE: self.equations.settle, cvode.EXPECTED: self.room[2].ctypes.data,
        }  # fmt: skip
        for place, value in shown.items():
            self.user[place] = value
        there: Any = order if order.size else slice(None)
        share = 1.0 / np.sqrt(max(n, 1))
        atol = np.ascontiguousarray((self.work_space.k[ATOL] * share)[there])
        self.integration = Integration(
            sundials, self.t, np.ascontiguousarray(self.x[there]), cvode.slope_of.callback,
            max(self.rtol * share, LEAST_RTOL), atol, matrices.band,
            cvode.jacobian_of.callback if jacobian else 0,
            cvode.projection_of.callback if self.equations.settle else 0, self.user)  # fmt: skip
        function = sundials.address
        self.cvode = cvode.Cvode(
            self.integration.memory, self.integration.vector, function("CVode"),
            function("CVodeSetStopTime"), function("CVodeGetLastOrder"),
            function("CVodeGetLastStep"), function("CVodeGetCurrentTime"),
            self.integration.row_addresses(), order, self.room[2], np.zeros(1, dtype=np.int64))

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        problem: Any = self.problem
        self.x, self.unsure = self._point(), False
        self.q = constants = self.equations.constants(problem, self.t)
        self.equations.settle_always(self.q)
        self.user[cvode.Q] = self.q.ctypes.data
        self.code = self.equations.code(self.p, self.q)._replace(
            arithmetic=nordsieck_arithmetic(ROWS - 1))
        self.held[: len(problem.m)] = problem.m
        self.looks[LARGEST] = 0.0
        self._begin_at(self.t, self.first_step or 0.0)
        self.course = CvodeCourse(self.t, self.x, self.scale, self.unknowns_order, self.places,
                                  partial(_solved, self.code, (self.p, constants))
                                  if self.carries else None)

    def _begin_at(self, t: float, first_step: float) -> None:
        """CVODE begins anew from the present point."""
        order = self.unknowns_order
        self.integration.y[:] = self.x[order] if order.size else self.x
        farthest = max(abs(t), abs(self.t_end))
        # otherwise CVODE goes on for ever with steps that leave the time where it is
        least = 4.0 * np.finfo(float).eps * farthest
        self.integration.restart(t, first_step, least, self.max_step)
        self.state = np.array([t, np.nan, 0.0, 0.0, 0.0])
        self.counted = np.zeros(6, dtype=int)

    def watch(self, known: Array, hints: Array, slack: Array, instant: float) -> None:
        for row, values in ((self.known, known), (self.hints, hints), (self.timed, hints),
                            (self.slack, slack)):
            row[: len(values)] = values
        problem: Any = self.problem
        if problem.laws is not None:  # whether what has rebounded is within the error, others tell
            open_ = problem.laws.contact & (problem.laws.modes != 0)
            self.hints[problem.system.nm :][: len(open_)] = open_
        self.instant[0] = instant

    @property
    def largest(self) -> Array:
        """The largest margins of the relations since the restart."""
        return self.looks[LARGEST, : self.relations]

    def advance(self, t_stop: float) -> Step:
        t_stop = float(t_stop)
        if is_sliver(self.t, t_stop):
            self.course.hold(t_stop, self.x)
            before, self.t = self.t, t_stop
            self.state[cvode.TIME] = t_stop
            self.work.steps += 1
            return Step(before, self.t, self.y.copy(), self.course.inside_last)
        record = self.record = self.record or self._empty_record()
        status, taken = cvode.AGAIN, 0
        while status == cvode.AGAIN and not taken:
            status, taken = cvode.advance(
                self.cvode, self.code, self.work_space, self.watched,
                Limits(t_stop, self.rtol, self.max_step, self.pieces, ACROSS), record, self.x,
                self.state)
            self._count(taken)
            if status == cvode.AGAIN:
                self._begin_at(float(self.state[cvode.TIME]), float(self.state[cvode.LENGTH]))
        before = self.t
        if taken:
            self.course.extend(record, taken)
            if is_full(record, taken):
                self.record = None
            before = self.t if taken == 1 else float(record.ends[taken - 2])
            self.t = float(record.ends[taken - 1])
            if not (self.held.size or self.code.exponents or self.branch.size):
                order = self.unknowns_order
                self.x[order if order.size else slice(None)] = self.integration.y
            if self.carries:
                settle_in_place(self.code, self.work_space, self.t, self.x)
                self.equations.give_back(self.problem, self.x)  # type: ignore[arg-type]
            self.y = self.x[self.places] / self.scale
        if status == cvode.FAILED and self.equations.reserve and self.t > self.course.start:
            self.unsure = True  # perhaps with another choice of states
            return Step(before, self.t, self.y.copy(), self.course.inside_last, clear=True)
        if status == cvode.FAILED:
            return self._failure()
        if status == CROSSED and self.equations.reserve:
            self.unsure = bool(self.crossed[-1])
        return Step(before, self.t, self.y.copy(), self.course.inside_last,
                    clear=status not in (CROSSED, LOCATED),
                    crossed=np.flatnonzero(self.crossed) if status == LOCATED else None)

    def _empty_record(self) -> cvode.Record:
        n = self.x.size
        room = max(min(BLOCK, MOST_STEPS * ROWS * n), 2 * ROWS * n)
        capacity = min(max(room // n, 2), MOST_STEPS)
        return cvode.Record(np.empty(capacity), np.empty(capacity), np.empty(capacity),
                            np.empty(capacity + 1, dtype=np.int64), np.empty(room))

    def _count(self, taken: int) -> None:
        counts = np.array(self.integration.counts())
        slopes, for_jacobians, jacobians, factorizations, errors, stuck = (
            int(k) for k in counts - self.counted)
        self.counted = counts
        self.work.steps += taken
        self.work.residuals += slopes + for_jacobians
        self.work.jacobians += jacobians
        self.work.factorizations += factorizations
        self.work.rejected += errors + stuck

    def _failure(self) -> Step:
        problem: Any = self.problem
        reason = failure_of(int(self.state[cvode.FLAG]))
        slope = problem.slope(self.t, self.y)
        return Step.failed(self.t, self.y, f"{self.name} stopped at t = {self.t:.9g}: {reason}",
                           np.flatnonzero(~np.isfinite(slope)))


def _solved(code: Code, alive: tuple[Array, Array], times: Array, rows: Array) -> Array:
    """Points with what is carried along solved for; the code points into what is kept ``alive``."""
    out = np.empty_like(rows)
    settle_rows(code, Kept(workspace(rows.shape[1])), times, rows, out)
    return out
