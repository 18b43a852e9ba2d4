"""Moreau-Jean time stepping: set-valued laws on velocity level, without events.

A method of the solvers' contract that knows set-valued laws. Smooth forces by the
theta rule with theta = 1/2; efforts of friction and contact act over the whole step,
in the directions that they have in its middle, such that the flows at its end obey the
laws [Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257]. Friction that
sticks has zero flow at the end of every step, exactly, so it does not drift; any number
of contacts may open and close in a step. Of second order while the modes last, of first
order across their changes; a static bound above the kinetic one makes the instant of
break-away uncertain by a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csc_matrix, diags, identity, issparse

from ...exceptions import ParameterError, SimulationError
from ...numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    NO_CHANGE,
    SAME_IMPULSES,
    SERIES_TERM,
    STEP_CORRECTION,
    STEP_EXACT,
    STEP_RESIDUAL,
)
from ...solvers import Method, Step
from ...solvers.linear_course import LinearCourse
from ...system.system import System
from ..modes.choice import set_valued_laws
from ..modes.load_laws import LoadLaws, with_loads
from ..modes.massless_nodes import MasslessLaws
from ..unsettled import unsettled
from .active_contacts import Active
from .step_laws import StepLaws, step_laws

__all__ = ["MoreauJean"]

THETA = 0.5
NEWTON = 40
SIMPLIFIED = 4  # iterations with the first Jacobian
DENSE = 200  # elements up to which the smooth forces' inverse is applied exactly
FEW = 60  # elements up to which their matrix is dense, and their efforts are exact
SERIES = 12
HALVED = 4  # how often a step is halved for which no efforts are found
REACH = 2.0  # times the largest change of all gaps without contacts: one that may close
LOADED = 25  # repetitions for bounds that depend on efforts


class MoreauJean(Method):
    """Fixed steps of ``step``; needs masses on both sides of every set-valued element."""

    name: ClassVar[str] = "moreau_jean"
    order: ClassVar[int] = 2
    implicit: ClassVar[bool] = True
    fixed_step: ClassVar[bool] = True
    steps_over_events: ClassVar[bool] = True  # of set-valued laws; the driver need not look
    course: LinearCourse
    problem: Any  # the system's own problem, with set-valued laws and their efforts

    def __init__(self, problem: Any, t: float, y: np.ndarray, **options: Any) -> None:
        super().__init__(problem, t, y, **options)
        if self.step_size is None:
            raise ParameterError("simulate(step=…)", "method 'moreau_jean' takes fixed steps.",
                                 "Give the step, such as step='1 ms'.")
        laws = problem.laws
        self.few = isinstance(laws, StepLaws)  # of all elements only those that can act
        if isinstance(laws, LoadLaws):
            raise ParameterError(
                "simulate(method=…)", "'moreau_jean' knows exact friction and contacts, but no "
                "laws that look at the load.", "Take another method, or law='coulomb'.",
            )  # fmt: skip
        if laws is not None and isinstance(laws, MasslessLaws):
            raise ParameterError(
                "simulate(method=…)", "'moreau_jean' needs a mass at every node that friction acts "
                "on.", "Leave the method out: the event-driven solver handles massless nodes.",
            )  # fmt: skip
        heated = next((f for f in problem.system.network.families
                       if f.kernel.carried and f.kernel.set_valued), None)
        if heated is not None:  # work over a step is not followed to the end
            raise ParameterError(
                "simulate(method=…)", "'moreau_jean' does not follow the heat of exact friction "
                f"and of impacts, which leaves {heated.path(0)} through a port.",
                "Leave the method out, or the port.",
            )  # fmt: skip
        self._smoothed: Callable[[Any], Any]  # solves with 1 - h theta J
        self._factored: tuple[float, Any] | None = None  # h and J of it
        self.course = LinearCourse(self.t, self.y)
        self._effort = np.zeros(0) if laws is None else laws.elements.efforts_of(problem.u)

    @staticmethod
    def laws_of(system: System) -> Any:
        """The set-valued laws of a system as this method needs them."""
        return step_laws(system) or with_loads(system, set_valued_laws(system))

    def restart(self, t: float, y: np.ndarray) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self.course = LinearCourse(self.t, self.y)

    def advance(self, t_stop: float) -> Step:
        assert self.step_size is not None
        h = self.step_size if self.t + 1.000001 * self.step_size < t_stop else t_stop - self.t
        if not self.few:
            return self._advance(h)
        for _ in range(HALVED):
            try:
                return self._advance(h)
            except SimulationError:  # no efforts were found: others are needed for a shorter step
                h /= 2
        return self._advance(h)

    def _advance(self, h: float) -> Step:
        problem, t, y = self.problem, self.t, self.y
        laws, problem.laws = problem.laws, None
        try:
            before = self._look(laws, t, y) if laws is not None and not self.few else None
            problem.u[:] = 0.0
            end, failure = self._smooth(laws, t, y, h)
            if failure:
                return Step.failed(t, y, failure)
            if self.few:
                end = self._with_few(laws, t, y, end, h)
            elif laws is not None:
                end = self._with_efforts(laws, before, t, y, end, h)
        finally:
            problem.laws = laws
        self.t, self.y = t + h, end
        self.work.steps += 1
        self.course.extend(np.array([self.t]), end[None, :])
        return Step(t, self.t, end, self.course)

    def _look(self, laws: Any, t: float, y: np.ndarray) -> Any:
        self.problem.solve(t, y)
        return laws.look(self.problem, t)

    def _slope(self, laws: Any, t: float, y: np.ndarray) -> np.ndarray:
        self.work.residuals += 1
        return laws.bodies.slope(self.problem, t, y) if self.few else self.problem.slope(t, y)

    def _smooth(self, laws: Any, t: float, y: np.ndarray, h: float) -> tuple[np.ndarray, str]:
        """End of the step without set-valued efforts."""
        start = self._slope(laws, t, y)
        end = y + h * start
        for iteration in range(NEWTON):
            if iteration == 0 or iteration >= SIMPLIFIED:  # slow: take the Jacobian anew
                self.jacobian = (laws.bodies.jacobian(self.problem, t + h, end) if self.few
                                 else csc_matrix(self.problem.slope_jacobian(t + h, end)))
                self.work.jacobians += 1
                self._factorise(h)
            r = end - y - h * (THETA * self._slope(laws, t + h, end) + (1 - THETA) * start)
            if not np.isfinite(r).all():
                return end, "the slope is not finite"
            step = self._smoothed(r)
            end = end - step
            if np.max(np.abs(step)) <= STEP_CORRECTION * (1 + np.max(np.abs(end))):
                return end, ""
        return end, f"Newton's method does not converge over a step of {h:g} s; take a smaller step"

    def _factorise(self, h: float) -> None:
        """Take the factors of 1 - h theta J, unless they are those of the last step."""
        j = self.jacobian
        if self._factored is not None and h == self._factored[0] and _same(j, self._factored[1]):
            return
        self._factored = h, j
        self.work.factorizations += 1
        if issparse(j):
            from scipy.sparse.linalg import splu

            self._smoothed = splu(csc_matrix(identity(j.shape[0]) - h * THETA * j)).solve
            return
        inverse = np.linalg.inv(np.eye(len(j)) - h * THETA * j)
        self._smoothed = lambda right: inverse @ right

    def _through_smooth(self, push: Any, h: float) -> Any:
        """(1 - h theta J)^-1 applied to the directions of the efforts.

        Exactly for few elements; for many by its series, which stays sparse.
        """
        if not issparse(push):
            return self._smoothed(push)
        if push.shape[1] <= DENSE:
            return csc_matrix(self._smoothed(push.toarray()))
        term = total = push
        for _ in range(SERIES):
            term = self.jacobian @ (h * THETA * term)
            total = total + term
            if not term.nnz or np.abs(term.data).max() <= SERIES_TERM * np.abs(total.data).max():
                return total
        return csc_matrix(self._smoothed(push.toarray()))  # it converges too slowly

    def _with_efforts(self, laws: Any, before: Any, t: float, y: np.ndarray, end: np.ndarray,
                      h: float) -> np.ndarray:
        """Add the efforts that make the flows at the end obey their laws."""
        from ..complementarity import moreau_step

        problem = self.problem
        problem.solve(t + h / 2, (y + end) / 2)
        push = csc_matrix(laws.delassus.slope_by_efforts(
            problem, t + h / 2, np.arange(laws.size)))[problem.free]
        push = _rows_by(1 / problem.scale, push)
        problem.solve(t + h, end)
        args = problem.arguments(t + h)
        free = laws.look(problem, t + h).flow
        push = self._through_smooth(csc_matrix(push), h)
        flow_x = csc_matrix(laws.functions.flow_x.sparse(*args))[:, problem.free] @ diags(
            problem.scale)
        d = -(flow_x @ push)
        d = d.toarray() if laws.size <= FEW else d
        stuck = laws.modes == 0
        low = np.where(stuck, before.low, before.back)
        high = np.where(stuck, before.high, before.forth)
        touching = before.gap - 0.5 * h * np.maximum(before.flow, free) <= 0
        closed = laws.contact & touching
        low = np.where(laws.contact, 0.0, low)
        high = np.where(laws.contact, np.where(closed, np.inf, 0.0), high)
        restitution = np.where(closed, laws.functions.restitution(*args), 0.0)
        if laws.load is None:
            solved = moreau_step(d, free, low, high, h, flow_before=before.flow,
                                 restitution=restitution)
        else:
            solved = self._loaded(laws, t, y, d, free, h, before, closed, restitution)
        if not solved.converged:
            self._refuse(laws, solved.solution, t)
        end = end + h * np.asarray(push @ solved.effort).ravel()
        laws.modes = np.where(
            laws.contact, np.where(closed & (solved.effort > 0), 0, -1),
            np.where(solved.solution.state == 0, 0, np.sign(solved.flow)),
        ).astype(int)  # fmt: skip
        return end

    def _with_few(self, laws: StepLaws, t: float, y: np.ndarray, end: np.ndarray, h: float
                  ) -> np.ndarray:
        """Add the efforts of the elements that can act in this step."""
        problem = self.problem
        last, contacts = laws.efforts.last, laws.contacts
        which = self._candidates(laws, t, y, end, h)
        before = contacts.active(which, last[contacts.elements_of(which)])
        gaps = contacts.gaps_of(which)
        contacts.look_at(problem, t + h, end)
        now = contacts.active(which)
        index, contact = now.elements, laws.contact[now.elements]
        closed = contact & (gaps - 0.5 * h * np.maximum(before.flow, now.flow) <= 0)
        # what does not rebound comes no nearer than to touch
        apart = contact & ~closed & (now.restitution == 0)
        flow_x = contacts.flow_by_velocity(problem, t + h, end, which, now)
        for part in (0.5, 1.0):  # crowds may have forces in symmetric directions only
            push = self._through_smooth(_rows_by(1 / problem.scale, contacts.push(
                problem, t + part * h, y + part * (end - y), which)), h)
            d = -(flow_x @ _rows_by(problem.scale, push))
            solved, shut = self._efforts_of_few(
                laws, t, y, h, which, before, now, d, gaps, closed, apart, last[index])
            if solved.converged or solved.solution.residual <= ACCEPTED_RESIDUAL:
                break
        else:
            self._refuse(laws, solved.solution, t, index)
        effort = solved.effort
        modes = np.where(laws.contact, -1, laws.modes)
        exact = STEP_EXACT if len(index) <= FEW else STEP_RESIDUAL
        told = np.abs(solved.flow) > exact * np.abs(now.flow).max(initial=0.0)
        pressed = effort > exact * np.abs(effort).max(initial=0.0)
        told |= np.where(contact, ~(shut | apart) | pressed, solved.solution.state == 0)
        modes[index] = np.where(told, np.where(
            contact, np.where((shut | apart) & (effort > 0), 0, -1),
            np.where(solved.solution.state == 0, 0, np.sign(solved.flow))), laws.modes[index])
        laws.modes = modes.astype(np.int8)
        efforts = np.zeros((1, laws.size))
        efforts[0, index] = effort
        laws.keep(problem, np.array([t + h]), efforts)
        return end + h * np.asarray(push @ effort).ravel()

    def _candidates(self, laws: StepLaws, t: float, y: np.ndarray, end: np.ndarray, h: float
                    ) -> list[np.ndarray]:
        """Per kind, the instances that can act in a step; contacts are at its start then."""
        contacts = laws.contacts
        contacts.look_at(self.problem, t + h, end)
        ahead = contacts.gaps()
        contacts.look_at(self.problem, t, y)
        behind = contacts.gaps()
        reach = REACH * max(float((gap - then).max(initial=0.0))
                            for gap, then in zip(behind, ahead, strict=True))
        return contacts.acting([gap <= reach for gap in behind])

    def _efforts_of_few(self, laws: StepLaws, t: float, y: np.ndarray, h: float,
                        which: list[np.ndarray], before: Active, now: Active, d: Any,
                        gaps: np.ndarray, closed: np.ndarray, apart: np.ndarray,
                        effort: np.ndarray) -> tuple[Any, np.ndarray]:
        """Their efforts over the step, and which contacts are closed in the end."""
        from ..complementarity import moreau_step

        dense = len(now.elements) <= FEW
        if issparse(d) == dense:
            d = d.toarray() if issparse(d) else csc_matrix(d)
        contact, stuck = laws.contact[now.elements], laws.modes[now.elements] == 0
        for _ in range(LOADED):
            low = np.where(stuck, before.bounds[0], before.bounds[2])
            high = np.where(stuck, before.bounds[1], before.bounds[3])
            low = np.where(contact, 0.0, low)
            high = np.where(contact, np.where(closed | apart, np.inf, 0.0), high)
            by = [before.slopes(stuck, k, k + 2, dense) if before.loaded else None
                  for k in range(2)]
            solved = moreau_step(
                d, now.flow, low, high, h,
                flow_before=before.flow, restitution=np.where(closed, now.restitution, 0.0),
                allowed=np.where(apart, np.maximum(2 * gaps / h - before.flow, 0.0), 0.0),
                by_lower=by[0], by_upper=by[1], start=effort, tol=STEP_RESIDUAL,
            )  # fmt: skip
            change = np.abs(solved.effort - effort).max(initial=0.0)
            effort = solved.effort
            pushed = contact & ~closed & ~apart & (solved.flow > 0) & (
                gaps - 0.5 * h * np.maximum(before.flow, solved.flow) <= 0)
            if pushed.any():  # together, by others that are closed
                closed = closed | pushed
            elif not laws.contacts.bent or change <= NO_CHANGE * np.abs(effort).max(initial=0.0):
                break
            if laws.contacts.bent:
                laws.contacts.look_at(self.problem, t, y)
                before = laws.contacts.active(which, effort)
        else:
            if pushed.any() or change > SAME_IMPULSES * np.abs(effort).max(initial=0.0):
                raise unsettled((laws.name(int(i)) for i in now.elements), t, "impulses")
        return solved, closed

    def _loaded(self, laws: Any, t: float, y: np.ndarray, d: Any, free: np.ndarray, h: float,
                before: Any, closed: np.ndarray, restitution: np.ndarray) -> Any:
        """The same with bounds that follow the efforts of this step, at its beginning."""
        from ..complementarity import moreau_step

        problem, effort = self.problem, self._effort
        problem.solve(t, y)
        laws.painleve.refuse_jam(problem, t, np.ones(laws.size, dtype=bool))
        for _ in range(LOADED):
            laws.elements.put(problem.u, effort)
            problem.solve(t, y)
            now, stuck = laws.look(problem, t), laws.modes == 0
            by_low, by_high = laws.load.bounds(problem, t, stuck)
            low = np.where(stuck, now.low, now.back) - by_low @ effort
            high = np.where(stuck, now.high, now.forth) - by_high @ effort
            low = np.where(laws.contact, 0.0, low)
            high = np.where(laws.contact, np.where(closed, np.inf, 0.0), high)
            solved = moreau_step(d, free, low, high, h, flow_before=before.flow, by_lower=by_low,
                                 by_upper=by_high, restitution=restitution, start=effort)
            change = np.abs(solved.effort - effort).max()
            effort = solved.effort
            if not laws.load.pieces or change <= NO_CHANGE * np.abs(effort).max():
                break
        else:
            if change > SAME_IMPULSES * np.abs(effort).max():
                raise unsettled((laws.name(i) for i in range(laws.size)), t, "impulses")
        self._effort = effort
        problem.u[:] = 0.0
        return solved

    def _refuse(self, laws: Any, solution: Any, t: float, index: Any = None) -> None:
        """Say why a step has no solution; ``index`` are the elements it was sought for."""
        if laws.load is not None:
            laws.painleve.refuse(t, solution, np.arange(laws.size))
        suspects = solution.suspects if index is None else index[solution.suspects]
        names = tuple(dict.fromkeys(laws.name(int(i)) for i in suspects))
        raise SimulationError(
            ", ".join(names[:5]), f"no efforts were found at t = {t:.9g} s that obey the laws of "
            f"friction and contact at the end of the step ({solution.status}).",
            "Take a smaller step, or leave the method out.", time=t, variables=names,
        )  # fmt: skip


def _same(one: Any, other: Any) -> bool:
    """Whether two matrices of one structure are equal."""
    if issparse(one):
        return bool(np.array_equal(one.data, other.data)
                    and np.array_equal(one.indices, other.indices))
    return bool(np.array_equal(one, other))


def _rows_by(factors: np.ndarray, matrix: Any) -> Any:
    """Every row of a matrix times a number of its own."""
    if not issparse(matrix):
        return factors[:, None] * matrix
    return csc_matrix((factors[matrix.indices] * matrix.data, matrix.indices, matrix.indptr),
                      shape=matrix.shape)
