"""The implicit methods of scipy.integrate under our contract.

SciPy's solvers clip a step at their ``t_bound``; here that bound is moved to
``t_stop`` before every step, so one solver object serves the whole run.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..numerics.arrays import Array, Indices
from .base import Method, Step
from .trouble import finite, finite_derivatives

__all__ = ["BDF", "Radau"]

LARGEST_DEFECT = 100.0  # at the end of a step, in tolerances: smooth ones stay below 60
MOST_HALVINGS = 6
LITTLE = 1e-3  # of a step: what a slope is told from


class ScipyMethod(Method):
    """Common part: a scipy.integrate.OdeSolver made when the first step is asked for.

    It takes our sparse Jacobian. By derivatives of where laws were far steeper Newton's method
    hardly moves, and counts as having converged. Such a step, whose end does not move by the slopes
    there, is taken again.
    """

    scipy_name: ClassVar[str]
    implicit = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._solver: Any = None
        self._slope_now: Array = np.zeros(self.problem.size)

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self._solver = None

    def advance(self, t_stop: float) -> Step:
        for _ in range(MOST_HALVINGS):
            t, y = self.t, self.y
            step = self._advanced(t_stop)
            if step.failure or not len(off := self._off(step)):
                return step
            self.work.steps, self.work.rejected = self.work.steps - 1, self.work.rejected + 1
            self.first_step = (step.t - t) / 4
            self.restart(t, y)
        return self._stopped("steps stay at points that are no solution", off)

    def _advanced(self, t_stop: float) -> Step:
        try:
            if self._solver is None:
                self._solver, self._factorizations_seen = self._make(t_stop), 0
            self._aim_at(t_stop)
            message = self._solver.step()
            seen, self._factorizations_seen = self._factorizations_seen, int(self._solver.nlu)
            self.work.factorizations += self._factorizations_seen - seen
            dense: Any = None if message else self._solver.dense_output()
        except Exception as error:  # raised by the problem: a failure of this step
            return self._failure("the equations failed", error)
        if message or not self._solver.t > self.t:
            return self._failure(self._reason(message))
        step = Step(self.t, float(self._solver.t), np.array(self._solver.y), dense)
        self.t, self.y = step.t, step.y.copy()
        self.work.steps += 1
        return step

    def _make(self, t_stop: float) -> Any:
        from scipy import integrate

        finite(self.t, self._slope(self.t, self.y))
        first = self.first_step
        return getattr(integrate, self.scipy_name)(
            self._slope, self.t, self.y.copy(), t_bound=max(self.t_end, t_stop),
            rtol=max(self.rtol * self.tolerance_factor, 100 * np.finfo(float).eps),
            atol=self.atol * self.tolerance_factor, max_step=self.max_step, jac=self._jacobian,
            first_step=None if first is None else min(first, abs(self.t_end - self.t)))

    @property
    def holds_itself(self) -> bool:
        solver = self._solver
        return solver is not None and solver.t < solver.t_bound and bool(
            solver.step_size < self.max_step)

    def _aim_at(self, t_stop: float) -> None:
        self._solver.t_bound = float(t_stop)
        self._solver.status = "running"

    def _slope(self, t: float, y: Array) -> Array:
        self.work.residuals += 1
        self._slope_now = self.problem.slope(t, y)
        return self._slope_now

    def _jacobian(self, t: float, y: Array) -> Any:
        self.work.jacobians += 1
        return finite_derivatives(self.problem.slope_jacobian, self._slope, t, y, self.atol)

    @np.errstate(divide="ignore", invalid="ignore")
    def _off(self, step: Step) -> Indices:
        """Which values do not move by the slopes at the end of a step; none where times are one."""
        dense: Any = step.dense
        h = step.t - step.t_old
        times = step.t_old + h * (1.0 + LITTLE * np.array([-1, 0, 1]))
        before, y, after = dense(times).T
        defect = h * ((after - before) / (times[2] - times[0]) - self._slope(times[1], y))
        size = np.abs(defect) / (self.atol + self.rtol * np.abs(step.y))
        off = np.linalg.norm(size) > LARGEST_DEFECT * np.sqrt(len(size))
        return np.flatnonzero(off & (size > LARGEST_DEFECT))

    def _failure(self, text: str, cause: Exception | None = None) -> Step:
        self._solver = None  # the next attempt starts afresh from the last accepted point
        return self._stopped(text, np.flatnonzero(~np.isfinite(self._slope_now)), cause)

    def _reason(self, message: str | None) -> str:
        if not np.isfinite(self._slope_now).all():
            return "the equations are not finite"
        if message and "spacing between numbers" in message:
            return "the error stays above the tolerance however small the step"
        return message or "the step has shrunk to nothing"


class Radau(ScipyMethod):
    """Radau IIA of order 5, cubic dense output. For stiff systems, one-step: cheap restarts.

    E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II",
    2nd ed., sec. IV.8.
    """

    name, order, scipy_name = "Radau", 5, "Radau"

    def _aim_at(self, t_stop: float) -> None:
        super()._aim_at(t_stop)
        if self._solver.t + self._solver.h_abs > t_stop:
            # SciPy would go on with the factors of the step it did not shorten.
            self._solver.LU_real = self._solver.LU_complex = None


class BDF(ScipyMethod):
    """Quasi-constant step BDF/NDF of order 1 to 5. For stiff systems.

    L. F. Shampine and M. W. Reichelt, "The MATLAB ODE Suite", SIAM J. Sci.
    Comput. 18(1), 1997.
    """

    name, order, scipy_name = "BDF", 5, "BDF"
    beside_tables = 0.003
