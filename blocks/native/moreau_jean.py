"""Moreau-Jean time stepping: set-valued laws on velocity level, without events.

A method of the solvers' contract that knows set-valued laws. Friction that sticks has zero flow at
the end of every step, exactly, so it does not drift; any number of contacts may open and close in a
step. Of second order while the modes last, of first order across their changes; a static bound
above the kinetic one makes the instant of break-away uncertain by a step. Steps are those of
:mod:`blocks.native.contact_steps`: many in a call of machine code, or one by one, slowly, in Python
where there is no LLVM.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..exceptions import ParameterError, SimulationError
from ..machine.functions import Kept
from ..nonsmooth.complementarity import Solution, Status, solve
from ..nonsmooth.complementarity.problem import FEW, problem_of
from ..nonsmooth.complementarity.sparse_lu import factors_of
from ..nonsmooth.modes.load_laws import LoadLaws, laws_of
from ..nonsmooth.modes.massless_nodes import MasslessLaws
from ..nonsmooth.timestepping.step_laws import StepLaws, step_laws
from ..nonsmooth.unsettled import unsettled
from ..numerics.arrays import Array, Indices
from ..solvers import Method, Step
from ..solvers.interpolation import straight
from ..solvers.trajectory import Trajectory
from ..system.system import System
from .callbacks import Callbacks
from .contact_steps import CHANGED, NO_ROOM, NOT_CONVERGED, NOT_FINITE, SINGULAR, UNSETTLED, advance
from .front_lists import room_of
from .step_equations import ComponentSteps, WholeSteps
from .step_records import Record, Room

__all__ = ["CompiledMoreauJean", "MoreauJean"]

NUMBERS = 1 << 20  # that the steps of a call fill
MOST = 3000  # elements that act at once, and
ENTRIES = 250_000  # of their matrix, and of what they do to states: room to begin with,
MORE = 4  # and times as much where it is not enough
FILLED = 4  # times so many entries of factors
FAINT = 1e-3  # of the largest flow of all: elements with less are measured by this


class MoreauJean(Method):
    """Fixed steps of ``step``; needs masses on both sides of every set-valued element."""

    name: ClassVar[str] = "moreau_jean"
    order: ClassVar[int] = 2
    implicit: ClassVar[bool] = True
    fixed_step: ClassVar[bool] = True
    steps_over_events: ClassVar[bool] = True  # of set-valued laws; the driver need not look
    course: Trajectory
    problem: Any  # the system's own problem, with set-valued laws and their efforts

    def __init__(self, problem: Any, t: float, y: Array, **options: Any) -> None:
        super().__init__(problem, t, y, **options)
        if self.step_size is None:
            raise ParameterError("simulate(step=…)", "method 'moreau_jean' takes fixed steps.",
                                 "Give the step, such as step='1 ms'.")
        laws = problem.laws
        if isinstance(laws, LoadLaws):
            raise ParameterError(
                "simulate(method=…)", "'moreau_jean' knows exact friction and contacts, but no "
                "laws that look at the load.", "Take another method, or law='coulomb'.")
        if isinstance(laws, MasslessLaws):
            raise ParameterError(
                "simulate(method=…)", "'moreau_jean' needs a mass at every node that friction acts "
                "on.", "Leave the method out: the event-driven solver handles massless nodes.")
        heated = next((f for f in problem.system.network.families
                       if f.kernel.carried and f.kernel.set_valued), None)
        if heated is not None:  # work over a step is not followed to the end
            raise ParameterError(
                "simulate(method=…)", "'moreau_jean' does not follow the heat of exact friction "
                f"and of impacts, which leaves {heated.path(0)} through a port.",
                "Leave the method out, or the port.")
        self.course = Trajectory(self.t, self.y, order=1)

    @staticmethod
    def laws_of(system: System) -> Any:
        """The set-valued laws of a system as this method needs them."""
        return step_laws(system) or laws_of(system)

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self.course = Trajectory(self.t, self.y, order=1)

    @cached_property
    def stepper(self) -> _Stepper:
        """Kept by the problem from episode to episode."""
        kept = self.problem.stepper
        if kept is None or kept.problem is not self.problem:
            kept = self.problem.stepper = _Stepper(self.problem)
        return kept

    def advance(self, t_stop: float) -> Step:
        assert self.step_size is not None
        steps, t, y = self.stepper, self.t, self.y
        why, taken = steps(t, y, self.step_size, t_stop)
        self.work.residuals += int(steps.room.counts[0])
        self.work.jacobians += int(steps.room.counts[1])
        self.work.factorizations += int(steps.room.counts[2])
        if taken:
            return self._taken(taken, why)
        if why == NOT_FINITE:
            return Step.failed(t, y, "the slope is not finite")
        if why == SINGULAR:
            raise np.linalg.LinAlgError("singular matrix")
        if why == NOT_CONVERGED:
            return Step.failed(t, y, "Newton's method does not converge over a step of "
                               f"{self.step_size:g} s; take a smaller step")
        raise self._refused(why)

    def _taken(self, taken: int, why: int) -> Step:
        steps, laws = self.stepper, self.problem.laws
        ends, rows, efforts = (a[:taken] for a in steps.record)
        self.work.steps += taken
        t, y = (self.t, self.y) if taken == 1 else (float(ends[-2]), rows[-2].copy())
        self.course.extend(ends[:-1], rows[:-1])
        if isinstance(laws, StepLaws):
            laws.keep(self.problem, ends, efforts)
        if why == CHANGED:
            laws.modes = steps.modes.astype(laws.modes.dtype)
        self.t, self.y = float(ends[-1]), rows[-1].copy()
        # positions move by constant velocities
        return Step(t, self.t, self.y, straight(t, self.t, y, self.y))

    def _refused(self, why: int) -> Exception:
        """What is said where a step has no efforts."""
        laws, steps, t = self.problem.laws, self.stepper, self.t
        n = int(steps.unknowns.systems[1])
        acting = steps.room.element[:n]
        if why == UNSETTLED:
            return unsettled((laws.elements.name(int(i)) for i in acting), t, "impulses")
        solution = steps.posed(n) if n <= FEW else None
        if solution is not None and laws.load is not None:
            laws.painleve.refuse(t, solution, acting)
        suspects = acting if solution is None else acting[solution.suspects]
        names = tuple(dict.fromkeys(laws.elements.name(int(i)) for i in suspects))
        status = Status.WORK_BOUND if solution is None else solution.status
        return SimulationError(
            ", ".join(names[:5]), f"no efforts were found at t = {t:.9g} s that obey the laws of "
            f"friction and contact at the end of the step ({status}).",
            "Take a smaller step, or leave the method out.", time=t, variables=names)


class CompiledMoreauJean(MoreauJean):
    """The Moreau-Jean method where all that a step evaluates is machine code."""


class _Stepper:
    """The arrays of a run's steps, and the call that takes them."""

    def __init__(self, problem: Any) -> None:
        laws, n = problem.laws, problem.size
        self.problem, self.callbacks = problem, Callbacks()
        self.apart = isinstance(laws, StepLaws)
        self.equations = (ComponentSteps if self.apart else WholeSteps)(problem, self.callbacks)
        size = 0 if laws is None else laws.size
        self.y, self.last = np.zeros(n), np.zeros(size)
        if size and not self.apart:
            self.last[:] = laws.elements.efforts_of(problem.u)
        # modes: at the end of the last step
        self.modes, self.begun = np.zeros((2, size), dtype=np.int64)
        self.when, self.most = np.zeros(3), np.ones(1, dtype=np.int64)
        steps = min(self.equations.most, 1 + NUMBERS // max(n + size, 1))
        # record, room, unknowns: of the last call
        self.record = Record(np.empty(steps), np.empty((steps, n)), np.empty((steps, size)))
        self.make_room(min(size, MOST) + 1, ENTRIES)

    def make_room(self, elements: int, entries: int) -> None:
        """Make room for so many elements that act at once, and entries of matrices."""
        self.elements, self.entries = elements, entries
        entries = min(elements * elements, entries)
        self.unknowns = problem_of(elements, entries, FAINT)
        self.room = self._room(elements)
        self.given = (  # what the call takes
            Kept(self.equations.bodies), Kept(self.equations.kinds), Kept(self.unknowns),
            Kept(factors_of(elements, FILLED * entries)), Kept(self.room), Kept(self.record),
            self.when, self.most, self.y, self.last, self.modes, self.begun)

    def __call__(self, t: float, y: Array, step: float, t_stop: float) -> tuple[int, int]:
        """Some steps: why they have ended, and how many there are."""
        problem, laws = self.problem, self.problem.laws
        self.y[:], self.when[:], self.most[0] = y, (t, step, t_stop), len(self.record.ends)
        self.room.counts[:3] = 0
        if self.apart:
            self.last[:] = laws.efforts.last
        if laws is not None:
            self.modes[:] = self.begun[:] = laws.modes
        try:
            problem.laws = laws if self.apart else None
            self.equations.begin(problem, t, y)
            with np.errstate(all="ignore"):
                why, taken = advance(*self.given)
            self.callbacks.check()
        finally:
            if not self.apart:
                problem.laws, problem.u[:] = laws, 0.0
        if why == NO_ROOM and not taken:
            self.make_room(min(MORE * self.elements, len(self.last) + 1), MORE * self.entries)
            return self(t, y, step, t_stop)
        return why, taken

    def _room(self, most: int) -> Room:
        """Where steps are worked out, with so many elements that act at once."""
        kinds, bodies = self.equations.kinds, self.equations.bodies
        n, laws = len(self.y), int(kinds.laws.max(initial=1))
        instances = int(kinds.number.sum())
        acting = min(instances, most) + 1
        acted = min(acting * n, self.entries)  # states that instances act on
        gaps = int(kinds.number @ kinds.contacts)
        jacobian = len(bodies.slope_rows)

        def whole(size: int) -> Indices:
            return np.zeros(size, dtype=np.int64)

        return Room._make([
            np.zeros(1), *np.zeros((6, n)), *np.zeros((2, jacobian)), np.full(1, np.nan),
            np.zeros(room_of(bodies.front_lists)[1]), *np.zeros((3, laws, n)), whole(acting),
            *np.zeros((3, len(bodies.seen_starts) - 1)), np.zeros(len(bodies.seen_columns)),
            np.zeros(len(bodies.slope_w_rows)), *np.zeros((2, gaps)), whole(instances),
            whole(instances), np.zeros(int(kinds.results.max(initial=0))), whole(acting + 1),
            whole(acting + 1), whole(acted), np.zeros((laws, acted)), whole(acting + 1),
            whole(acted), np.zeros((laws, acted)), np.full(n, -1), whole(n + 1), whole(acted),
            whole(acted), np.zeros(acting * acting, dtype=bool), whole(acting + 1),
            whole(min(acting * acting, self.entries)), whole(acting), whole(acting), whole(most),
            *np.zeros((7, most)),
            *np.zeros((2, most, laws)), np.zeros(most), np.zeros(len(self.last)),
            *np.zeros((2, most), dtype=bool), whole(most), np.array([0, 0, 0, -1])])

    def posed(self, n: int) -> Solution:
        """What the problem that is posed comes to, for words where no efforts were found."""
        problem = self.unknowns
        rows = np.repeat(np.arange(n), np.diff(problem.starts[: n + 1]))
        D, L, H = np.zeros((3, n, n))
        for matrix, values in ((D, problem.D), (L, problem.L), (H, problem.H)):
            matrix[rows, problem.columns[: len(rows)]] = values[: len(rows)]
        bounds = (L, H) if L.any() or H.any() else ()
        return solve(D, problem.b[:n], problem.low[:n], problem.high[:n], *bounds)
