"""Methods of constant step: forward Euler, RK4, backward Euler, trapezoidal rule.

The grid is t0 + k h, computed as such, so no error piles up in t. The step that
would pass ``t_stop`` is shortened to land on it, and the grid goes on from there.
Dense output is the cubic Hermite interpolant; algebraic unknowns, of which no
slope is known, go along a straight line.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..numerics.tolerances import SAME_COEFFICIENT, STEP_REST, TINY
from .base import Array, Method, Step
from .interpolation import Hermite
from .trouble import finite_derivatives

__all__ = ["BackwardEuler", "Euler", "RungeKutta4", "Trapezoidal", "factorize", "shifted"]

MAX_NEWTON = 20
NOT_CONVERGED = f"Newton's method has not converged in {MAX_NEWTON} iterations"
NEWTON_TOLERANCE = 1e-3  # last correction, in units of the tolerance
FINEST = 1e3 * float(np.finfo(float).eps)  # of a value: the finest tolerance
SLOW = 0.3  # contraction above which the Jacobian is made anew
FEW = 4  # iterations up to which the factors serve the next step too
NAMED = 5  # unknowns that a failure names at most


class FixedStep(Method):
    """Common part: the grid and the report."""

    fixed_step = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        step = self.step_size
        if step is None or not 0.0 < step < np.inf:
            raise ValueError(f"{self.name} has a fixed step and needs step > 0 (got {step})")
        self._h = float(step)
        self.restart(self.t, self.y)

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self._grid_start, self._grid_index = self.t, 0
        self._slope: Array = np.empty(0)  # at (t, y), once known
        self._slope_is_known = False

    def advance(self, t_stop: float) -> Step:
        h = self._h
        t_new = self._grid_start + (self._grid_index + 1) * h
        lands = t_new + STEP_REST * h >= t_stop
        if lands:
            t_new = float(t_stop)
            if abs(t_new - self.t - h) > STEP_REST * h:
                h = t_new - self.t
        try:
            if not self._slope_is_known:
                self._slope = self._slope_at(self.t, self.y)
                self._slope_is_known = True
            y_new, slope_new = self._leap(t_new, h)
            self._check_finite(t_new, y_new, slope_new)
        except _Trouble as trouble:
            return self._stopped(str(trouble), trouble.worst)
        except Exception as error:  # raised by the problem: a failure of this step
            return self._stopped("the equations failed", (), error)
        dense = self._hermite(t_new, y_new, slope_new)
        step = Step(self.t, t_new, y_new, dense)
        self._grid_index += 1
        if lands:
            self._grid_start, self._grid_index = t_new, 0
        self.t, self.y, self._slope = t_new, y_new.copy(), slope_new
        self.work.steps += 1
        return step

    @abstractmethod
    def _leap(self, t_new: float, h: float) -> tuple[Array, Array]:
        """Unknowns and slopes at ``t_new``."""

    def _slope_at(self, t: float, y: Array) -> Array:
        self.work.residuals += 1
        return np.array(self.problem.slope(t, y), dtype=float)

    def _hermite(self, t_new: float, y_new: Array, slope_new: Array) -> Hermite:
        start, end = self._slope, slope_new
        differential = np.asarray(self.problem.differential)
        if not differential.all():
            secant = (y_new - self.y) / (t_new - self.t)
            start = np.where(differential, start, secant)
            end = np.where(differential, end, secant)
        return Hermite(self.t, t_new, self.y, y_new, start, end)

    def _check_finite(self, t: float, y: Array, slope: Array) -> None:
        bad = np.flatnonzero(~(np.isfinite(y) & np.isfinite(slope)))
        if bad.size:
            raise _Trouble(f"the values at t = {t:.9g} are not finite", bad[:NAMED])


class Euler(FixedStep):
    """Forward Euler, order 1. To show what goes wrong; stable only for h |lambda| < 2."""

    name, order = "euler", 1

    def _leap(self, t_new: float, h: float) -> tuple[Array, Array]:
        y_new = self.y + h * self._slope
        return y_new, self._slope_at(t_new, y_new)


class RungeKutta4(FixedStep):
    """The classical Runge-Kutta method, order 4. For smooth systems and known steps.

    W. Kutta, "Beitrag zur naeherungsweisen Integration totaler
    Differentialgleichungen", Z. Math. Phys. 46, 1901.
    """

    name, order = "rk4", 4

    def _leap(self, t_new: float, h: float) -> tuple[Array, Array]:
        t, y, k1 = self.t, self.y, self._slope
        k2 = self._slope_at(t + 0.5 * h, y + 0.5 * h * k1)
        k3 = self._slope_at(t + 0.5 * h, y + 0.5 * h * k2)
        k4 = self._slope_at(t_new, y + h * k3)
        y_new = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return y_new, self._slope_at(t_new, y_new)


class ImplicitFixedStep(FixedStep):
    """Newton's method on one step.

    With ``y' = a (y - y_old) + b`` put in, a step is a system for y alone: in
    slope form (all unknowns differential) y' - slope(t, y) = 0, else
    residual(t, y, y') = 0, algebraic equations holding at the end of the step.
    The factors of the matrix are kept over the steps while Newton contracts well.
    """

    implicit = True
    solves_dae = True

    def restart(self, t: float, y: Array) -> None:
        super().restart(t, y)
        self._factors: Any = None
        self._factors_for = 0.0  # the coefficient a they were made with

    @abstractmethod
    def _derivative(self, h: float) -> tuple[float, Array]:
        """The coefficients a and b of y' = a (y - y_old) + b."""

    def _leap(self, t_new: float, h: float) -> tuple[Array, Array]:
        a, b = self._derivative(h)
        differential = np.asarray(self.problem.differential)
        explicit = bool(differential.all())
        rate = a * differential  # algebraic unknowns have no slope

        def slope_of(y: Array) -> Array:
            return rate * (y - self.y) + b

        def residual(y: Array) -> Array:
            self.work.residuals += 1
            if explicit:
                return slope_of(y) - self.problem.slope(t_new, y)
            return np.asarray(self.problem.residual(t_new, y, slope_of(y)))

        def factors(y: Array) -> Any:
            self.work.jacobians += 1
            self.work.factorizations += 1
            if explicit:
                return factorize(shifted(finite_derivatives(
                    self.problem.slope_jacobian, t_new, y, self.atol), a))
            return factorize(finite_derivatives(
                self.problem.residual_jacobian, t_new, y, self.atol, slope_of(y), a))

        guess = self.y + h * self._slope * differential
        if not np.isclose(self._factors_for, a, rtol=SAME_COEFFICIENT, atol=0.0):
            self._factors = None
        weight = self.atol + self.rtol * np.maximum(np.abs(self.y), np.abs(guess))
        weight = np.maximum(weight, FINEST * np.abs(guess) + TINY)
        y, lu, iterations = _newton(residual, factors, guess, weight, self._factors)
        self._factors = lu if iterations <= FEW else None
        self._factors_for = a
        return y, slope_of(y)


class BackwardEuler(ImplicitFixedStep):
    """Backward Euler, order 1, L-stable. Damps everything, oscillations too.

    E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II",
    2nd ed., sec. IV.3.
    """

    name, order = "backward_euler", 1

    def _derivative(self, h: float) -> tuple[float, Array]:
        return 1.0 / h, np.zeros(self.problem.size)


class Trapezoidal(ImplicitFixedStep):
    """Trapezoidal rule, order 2, A-stable. Damps nothing: stiff parts ring.

    Differential unknowns follow y = y_old + h (y'_old + y') / 2; algebraic
    equations hold at the end of the step.

    E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II",
    2nd ed., sec. IV.3 and VI.1.
    """

    name, order = "trapezoidal", 2

    def _derivative(self, h: float) -> tuple[float, Array]:
        return 2.0 / h, -self._slope * np.asarray(self.problem.differential)


class _Trouble(Exception):
    """A step that cannot be taken; never leaves this module."""

    def __init__(self, text: str, worst: Any = ()) -> None:
        super().__init__(text)
        self.worst = worst


def _newton(
    residual: Callable[[Array], Array],
    factors: Callable[[Array], Any],
    y: Array,
    weight: Array,
    lu: Any,
) -> tuple[Array, Any, int]:
    """Newton's method that renews its Jacobian where it contracts slowly.

    Returns
    -------
    solution, factors of the last Jacobian, iterations
    """
    before, correction = np.inf, np.zeros_like(y)
    for iteration in range(1, MAX_NEWTON + 1):
        value = residual(y)
        bad = np.flatnonzero(~np.isfinite(value))
        if bad.size:
            raise _Trouble("the equations are not finite", bad[:NAMED])
        if lu is None:
            lu, before = factors(y), np.inf
        correction = lu.solve(value)
        y = y - correction
        size = float(np.max(np.abs(correction) / weight, initial=0.0))
        if size <= NEWTON_TOLERANCE:
            return y, lu, iteration
        if size > SLOW * before:
            lu = None
        before = size
    worst = np.argsort(-np.abs(correction) / weight)[:NAMED]
    raise _Trouble(NOT_CONVERGED, worst)


def shifted(jacobian: Any, a: float) -> Any:
    """a I - jacobian."""
    from scipy import sparse

    return a * sparse.identity(jacobian.shape[0], format="csc") - jacobian


def factorize(matrix: Any) -> Any:
    """Sparse LU factors; trouble is told with the unknowns it comes from."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    matrix = csc_matrix(matrix)
    bad = np.unique(matrix.indices[~np.isfinite(matrix.data)])
    if bad.size:
        raise _Trouble("the Jacobian is not finite", bad[:NAMED])
    try:
        return splu(matrix)
    except RuntimeError:  # SuperLU: exactly singular
        empty = np.flatnonzero(np.asarray(abs(matrix).sum(axis=0)).ravel() == 0.0)
        raise _Trouble("the matrix of Newton's method is singular", empty[:NAMED]) from None
