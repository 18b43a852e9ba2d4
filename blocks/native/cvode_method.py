"""CVODE in machine code, under the contract of all methods.

One call of :meth:`CompiledCvode.advance` takes as many steps as it may; all of them stand in its
:class:`~blocks.native.cvode_course.CvodeCourse`. The model's slopes and its Jacobian are machine
code that CVODE calls, as is what brings the end of a step back onto its constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..machine.functions import Kept
from ..numerics.arrays import Array
from ..numerics.tolerances import LEAST_RTOL
from ..solvers.base import Step
from ..solvers.sundials import failure_of
from . import cvode
from .courses import BLOCK
from .cvode_course import CvodeCourse, CvodeForm, PassedPolynomials
from .cvode_library import ADAMS, BDF, Integration, loaded_sundials
from .equations import equations_of
from .event_method import EventMethod
from .forms import MOST_STATES, is_solved_for
from .loop_branch import SIZES, fill_sizes
from .matrices import LinearAlgebra, linear_algebra_of
from .own_events import PassedEvents
from .stages import ATOL, nordsieck_arithmetic
from .steps import HIGH_ORDER, IMPLICIT, settle_in_place, workspace

if TYPE_CHECKING:
    from ..system import Problem

__all__ = ["CompiledAdams", "CompiledBDF", "CompiledCvode"]

ROUGHLY = 1e-3  # of nominal values
AT_ONCE = 1e9  # times that, which nothing exceeds, and differences of slopes still stand
MOST_STEPS = 1024  # of a call: Ctrl-C is heard between calls


class CompiledCvode(EventMethod):
    """Variable-order BDF of SUNDIALS, as :class:`blocks.solvers.sundials.CVODE`."""

    name, order = "cvode", 5
    implicit = True
    formula: ClassVar[int] = BDF
    advances = cvode.advance
    failures = {cvode.FAILED: ""}  # CVODE tells why
    course: CvodeCourse

    @staticmethod
    def can_run(problem: Problem) -> bool:
        """Whether SUNDIALS can be reached, and the problem is of a form that is served here."""
        return loaded_sundials() is not None and (
            linear_algebra_of(problem.system, problem.laws) is not None)

    @classmethod
    def can_keep_to(cls, problem: Problem) -> bool:
        """Whether the formulae can be brought back onto constraints, where there are."""
        return cls.formula == BDF or not equations_of(problem.system, problem.p,
                                                      problem.laws).settle

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        problem: Any = self.problem
        self._begin_from(self.t, self.y)
        if self.branch.size:
            fill_sizes(self.branch[SIZES], problem)
        work_space = workspace(self.x.size, HIGH_ORDER)._replace(branch=self.branch)
        work_space.k[ATOL] = self.followed_within = self._tolerances()
        self.work_space = Kept(work_space)
        # written first: they need room among the constants
        jacobian = None
        # where anything is solved for within a slope, or efforts are part of it
        if problem.laws is not None or is_solved_for(problem.system):
            by_rows = problem.system.nx <= MOST_STATES and not self.equations.large
            jacobian = self.equations.linear(IMPLICIT) if by_rows else 0
        self.equations.exponents, self.equations.angles  # noqa: B018
        self.q = self.equations.constants(problem, self.t)
        self.record = self._empty_record()
        self.filled = Kept(self.record)
        self.state = np.zeros(cvode.STATE)
        self._connect(jacobian)
        self.restart(self.t, self.y)

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
        n, sundials = self.x.size, loaded_sundials()
        matrices = LinearAlgebra(np.arange(n))
        if not jacobian:
            matrices = linear_algebra_of(problem.system, problem.laws) or matrices
        by_rows = bool(jacobian)
        if jacobian is None:
            jacobian = self.equations.jacobian(matrices.order, matrices.band)
        assert sundials is not None
        # what is carried along acts on none
        order = np.concatenate([matrices.order, np.arange(matrices.order.size, n)])
        self.rows = np.zeros((n + 1, n) if by_rows else 0)
        self.user = np.zeros(cvode.USER, dtype=np.int64)
        self.room = np.empty((3, n))
        self.at = np.empty(1)
        self.near = np.zeros(n)
        self.near[self.places] = self.atol * self.scale
        band = matrices.band
        length = n if band is None else min(n - 1, band.upper + band.lower) + band.lower + 1
        self.here = np.zeros(length * n)
        shown = {
            cvode.SIZE: n, cvode.SLOPE: self.equations.slope, cvode.JACOBIAN: jacobian,
            cvode.P: self.p.ctypes.data, cvode.AT: self.at.ctypes.data,
            cvode.VECTOR: sundials.address("N_VGetArrayPointer"),
            cvode.MATRIX: sundials.address(
                "SUNBandMatrix_Data" if matrices.band else "SUNDenseMatrix_Data"),
            cvode.UNKNOWNS: self.room[0].ctypes.data, cvode.SLOPES: self.room[1].ctypes.data,
            cvode.ORDER: order.ctypes.data,
            cvode.BY_ROWS: self.rows.ctypes.data if by_rows else 0,
            cvode.SETTLE: self.equations.settle, cvode.EXPECTED: self.room[2].ctypes.data,
            cvode.LENGTH: length * n, cvode.NEAR: self.near.ctypes.data,
            cvode.HERE: self.here.ctypes.data,
        }  # fmt: skip
        for place, value in shown.items():
            self.user[place] = value
        share = 1.0 / np.sqrt(max(n, 1))
        atol = np.ascontiguousarray((self.followed_within * share)[order])
        self.integration = Integration(
            sundials, self.t, self.x[order], cvode.slope_of.callback,
            max(self.rtol * share, LEAST_RTOL), atol, matrices.band,
            cvode.jacobian_of.callback if jacobian else 0,
            cvode.projection_of.callback if self.equations.settle else 0, self.user,
            self.formula)  # fmt: skip
        function = sundials.address
        self.cvode = cvode.Cvode(
            self.integration.memory, self.integration.vector, function("CVode"),
            function("CVodeReInit"), function("CVodeSetInitStep"), function("CVodeSetMinStep"),
            function("CVodeSetStopTime"), function("CVodeGetLastOrder"),
            function("CVodeGetLastStep"), function("CVodeGetCurrentTime"),
            sundials.counter_addresses, np.zeros(len(cvode.COUNTERS), dtype=np.int64),
            self.integration.row_addresses(), order, self.integration.y, self.room[2],
            np.zeros(1, dtype=np.int64))

    def restart(self, t: float, y: Array) -> None:
        self._begin_from(t, y)
        kept = self.fill_constants()
        self.equations.settle_always(self.q)
        self.equations.settle_always(kept)
        code = self.equations.code(self.p, self.q)
        self.code = code._replace(arithmetic=nordsieck_arithmetic(self.order))
        self._read_from(self.q)
        self._begin_at(self.t, self.first_step or 0.0)
        self.form = CvodeForm(self.scale, self.places, self.carries, self.equations.torn,
                              self.code, self.p, self.order, self.x.size)
        self.course = CvodeCourse(self.form, self.t, self.x, kept)

    def _read_from(self, q: Array) -> None:
        super()._read_from(q)
        self.user[cvode.Q] = q.ctypes.data

    def _begin_at(self, t: float, first_step: float) -> None:
        """CVODE begins anew from the present point."""
        self.integration.y[:] = self.x[self.cvode.order]
        self.integration.restart(t, first_step, self.max_step)
        self.state[:] = t, first_step, 0.0, 0.0, 0.0, np.nan, 0.0
        self.cvode.counted[:] = 0

    @property
    def _addresses(self) -> tuple[Any, ...]:
        return self.cvode, self.code

    def _arrive(self) -> None:
        if self.carries:
            settle_in_place(self.code, self.work_space, self.t, self.x)

    def _extend(self, first: int, taken: int) -> None:
        self.course.extend(self.record, first, taken)

    def _pass(self, passed: PassedEvents, first: int, last: int) -> None:
        if first:
            self._extend(0, first)
        self.passed = PassedPolynomials(self.form, passed, self.record, first, last)
        self.course = self.passed.last

    def _empty_record(self) -> cvode.Record:
        n = self.x.size
        rows = self.order + 1
        room = max(min(BLOCK, MOST_STEPS * rows * n), 2 * rows * n)
        capacity = min(max(room // n, 2), MOST_STEPS)
        return cvode.Record(np.empty(capacity), np.empty(capacity), np.empty(capacity),
                            np.empty(capacity + 1, dtype=np.int64), np.empty(room))

    def _failure(self, text: str) -> Step:
        problem: Any = self.problem
        reason = text or failure_of(int(self.state[cvode.FLAG]))
        slope = problem.slope(self.t, self.y)
        return self._stopped(reason, np.flatnonzero(~np.isfinite(slope)))


class CompiledBDF(CompiledCvode):
    """The same under the name that SciPy gives the formulae."""

    name = "BDF"


class CompiledAdams(CompiledCvode):
    """Variable-order Adams-Moulton of SUNDIALS, as :class:`blocks.solvers.sundials.Adams`.

    CVODE moves the end of a step onto constraints for BDF only.
    """

    name, order = "adams", 12
    formula = ADAMS
