"""The implicit methods of scipy.integrate under our contract.

SciPy's solvers clip a step at their ``t_bound``; here that bound is moved to
``t_stop`` before every step, so one solver object serves the whole run.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..numerics.arrays import Array
from .base import Method, Step, is_singular
from .ode23s import AdaptiveDifferences

__all__ = ["BDF", "Radau"]

MOST_SHORTER = 6  # tries at a step, each a quarter as long
FEW = 50  # unknowns, of which each may act on every other


class ScipyMethod(Method):
    """Common part: a scipy.integrate.OdeSolver made when the first step is asked for.

    It finds derivatives by differences, which are finite where a root begins. They are exact where
    differences would show how well efforts are known that are solved for at every point.
    """

    scipy_name: ClassVar[str]
    implicit = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._solver: Any = None
        self._iterates = getattr(self.problem, "iterates", False)
        self._differences = AdaptiveDifferences(self.atol)
        self._slope_now: Array = np.zeros(self.problem.size)

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self._solver = None

    def advance(self, t_stop: float) -> Step:
        for _ in range(MOST_SHORTER):
            step, length = self._advanced(t_stop)
            if not length:
                break
            self.work.rejected += 1
            self.first_step = length / 4
            self.restart(self.t, self.y)
        return step

    def _advanced(self, t_stop: float) -> tuple[Step, float]:
        """A step, and its length where a shorter one may fare better."""
        try:
            if self._solver is None:
                if not np.isfinite(self._slope(self.t, self.y)).all():
                    return self._failure("the equations are not finite"), 0.0
                self._solver, self._counted = self._make(t_stop), (0, 0)
            self._aim_at(t_stop)
            message = self._solver.step()
            before, self._counted = self._counted, (int(self._solver.njev), int(self._solver.nlu))
            self.work.add(0, 0, 0, *(now - old for now, old in zip(
                self._counted, before, strict=True)))
            dense: Any = None if message else self._solver.dense_output()
        except Exception as error:  # raised by the problem: a failure of this step
            length = is_singular(error) and self._solver is not None and self._solver.h_abs
            return self._failure("the equations failed", error), float(length)
        if message or not self._solver.t > self.t:
            return self._failure(message or "the step has shrunk to nothing"), 0.0
        step = Step(self.t, float(self._solver.t), np.array(self._solver.y), dense)
        self.t, self.y = step.t, step.y.copy()
        self.work.steps += 1
        return step, 0.0

    def _make(self, t_stop: float) -> Any:
        from scipy import integrate

        first = self.first_step
        # a mean square is below one only where every error is, however many unknowns rest
        share = 1.0 / np.sqrt(max(self.problem.size, 1))
        return getattr(integrate, self.scipy_name)(
            self._slope, self.t, self.y.copy(), t_bound=max(self.t_end, t_stop),
            rtol=max(self.rtol * share, 100 * np.finfo(float).eps),
            atol=self.atol * share, max_step=self.max_step,
            **self._derivatives(),
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

    def _derivatives(self) -> dict[str, Any]:
        """What the solver is told of derivatives: them all, or which unknowns act on which where
        these are many."""
        if self.problem.size <= FEW or self._iterates:
            return {"jac": self._jacobian}
        pattern = self.problem.slope_jacobian(self.t, self.y).copy()
        pattern.data[:] = 1.0
        return {"jac_sparsity": pattern}

    def _jacobian(self, t: float, y: Array) -> Any:
        """Derivatives at a point in one of two ways, in the other one where they are not finite."""
        def differences() -> Any:
            from scipy.sparse import csc_matrix

            return csc_matrix(self._differences(
                lambda moved: self._slope(t, moved), y, self._slope(t, y)))

        exact = partial(self.problem.slope_jacobian, t, y)
        matrix = exact() if self._iterates else differences()
        if np.isfinite(matrix.data).all():
            return matrix
        return differences() if self._iterates else exact()

    def _failure(self, text: str, cause: Exception | None = None) -> Step:
        self._solver = None  # the next attempt starts afresh from the last accepted point
        worst = np.flatnonzero(~np.isfinite(self._slope_now))
        if worst.size and (cause is None or is_singular(cause)):
            text, cause = "the equations are not finite", None
        elif "spacing between numbers" in text:
            text = "the error stays above the tolerance however small the step"
        return self._stopped(text, worst, cause)


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
    beside_bends = 0.003
