"""The modified Rosenbrock pair of order 2 and 3 of Shampine and Reichelt.

A twin of a published algorithm, kept to reproduce published step counts.
Linearly implicit and L-stable: no Newton iteration, one factorization a try.
Take `Radau` where accuracy matters.

As in the published runs the Jacobian is made by differences; this shows in the
counts where a law jumps. Systems of more than 50 unknowns use the exact one, where it is finite.

The end of a step hangs on the slope in its middle alone. Where a law that jumps without
an event lets the body rest behind the jump, a step that starts just before it ends where
it began, with an error within the tolerance: the published algorithm repeats it for ever.
Here the twentieth of such steps ends at the pair's value of order 3, which moves.

References
----------
L. F. Shampine and M. W. Reichelt, "The MATLAB ODE Suite", SIAM J. Sci. Comput.
18(1), 1997, 1-22, section 3.1 (the method) and section 6 (differences).
D. E. Salane, "Adaptive routines for forming Jacobians numerically",
SAND86-1319, Sandia National Laboratories, 1986.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .base import Array
from .ode45 import EPS, PublishedControl, within

__all__ = ["AdaptiveDifferences", "Ode23s"]

D = 1.0 / (2.0 + np.sqrt(2.0))
E32 = 6.0 + np.sqrt(2.0)
DIFFERENCES_UP_TO = 50  # unknowns
HOPELESS, SMALL, LARGE = EPS**0.875, EPS**0.75, EPS**0.25  # changes, relative to the slope
LEAST, MOST = EPS**0.78, 0.1  # increments, relative to the unknown
REPEATED = 20  # steps over one jump, of which none has moved; the published runs take fewer


class Ode23s(PublishedControl):
    """Modified Rosenbrock 2(3) as published, Jacobian and time derivative every step."""

    name, order, exponent = "ode23s", 2, 1.0 / 3.0
    implicit = True
    beside_bends = 0.01

    def _first_h(self, longest: float) -> float:
        t, y = self.t, self.y
        scale = np.maximum(np.abs(y), self._threshold)
        safety = 1.25 / self.rtol**self.exponent
        rate = safety * np.max(np.abs(self._slope) / scale, initial=0.0)
        h = max(1.0 / rate if longest * rate > 1.0 else longest, 16.0 * np.spacing(abs(t)))
        # Refined by the second derivative, h^2 |y''| / 2 being the error of order one.
        self._linearize(h)
        second = self._time_slope + self._jacobian @ self._slope
        rate = safety * np.sqrt(0.5 * np.max(np.abs(second) / scale, initial=0.0))
        return 1.0 / rate if longest * rate > 1.0 else longest

    def restart(self, t: float, y: Array) -> None:
        super().restart(t, y)
        self._linear_at: float | None = None
        self._jumps = 0  # steps in a row with one slope at both ends, another in the middle
        self._differences = AdaptiveDifferences(self.atol)

    def _prepare(self) -> None:
        if self._linear_at != self.t:
            self._linearize(self._h)

    def _linearize(self, h: float) -> None:
        """d slope / d y and, by a difference, d slope / d t, for all tries at a step."""
        t, y = self.t, self.y
        self.work.jacobians += 1
        self._jacobian = self._derivatives(t, y)
        dt = (t + min(np.sqrt(EPS) * max(abs(t), abs(t + h)), h)) - t
        self._time_slope = (self._slope_at(t + dt, y) - self._slope) / dt
        self._linear_at = t

    def _derivatives(self, t: float, y: Array) -> Any:
        if y.size > DIFFERENCES_UP_TO:
            matrix = self.problem.slope_jacobian(t, y)
            if np.isfinite(matrix.data).all():  # no root begins here
                return matrix
        from scipy.sparse import csc_matrix

        matrix = self._differences(lambda moved: self._slope_at(t, moved), y, self._slope)
        return csc_matrix(matrix)

    def _try(self, t_new: float, h: float) -> tuple[Array, float, Callable[[ArrayLike], Array]]:
        from scipy import sparse
        from scipy.sparse.linalg import splu

        t, y, f0 = self.t, self.y, self._slope
        self.work.factorizations += 1
        identity = sparse.identity(y.size, format="csc")
        solve = splu(sparse.csc_matrix(identity - h * D * self._jacobian)).solve
        drift = h * D * self._time_slope
        k1 = solve(f0 + drift)
        f1 = self._slope_at(t + 0.5 * h, y + 0.5 * h * k1)
        k2 = solve(f1 - k1) + k1
        h = t_new - t
        y_new = y + h * k2
        f2 = self._slope_at(t_new, y_new)
        k3 = solve(f2 - E32 * (k2 - f1) - 2.0 * (k1 - f0) + drift)
        error = self._relative(h / 6.0 * (k1 - 2.0 * k2 + k3), y_new)
        if error <= self.rtol:
            ends, bend, damped = (self._relative(h * f, y_new)
                                  for f in (f2 - f0, f0 - 2.0 * f1 + f2, k2 - f1))
            over_a_jump = error > 0.1 * self.rtol and max(ends, damped) < 0.01 * bend
            self._jumps = self._jumps + 1 if over_a_jump else 0
            if self._jumps >= REPEATED:
                y_new = y + h / 6.0 * (k1 + 4.0 * k2 + k3)
                f2 = self._slope_at(t_new, y_new)
            self._slope = f2

        def quadratic(s: Array) -> Array:
            part1 = np.multiply.outer(k1, s * (1.0 - s))
            part2 = np.multiply.outer(k2, s * (s - 2.0 * D))
            return y.reshape(y.shape + (1,) * s.ndim) + h * (part1 + part2) / (1 - 2 * D)

        return y_new, error, within(t, h, quadratic)


class AdaptiveDifferences:
    """d slope / d y by forward differences, whose increments learn from call to call.

    Needed where a published run is to be repeated: a law with a jump has no useful exact Jacobian,
    and what the differences see decides the steps. ``threshold``, (n,), is the size below which an
    unknown does not scale its increment.
    """

    def __init__(self, threshold: Array) -> None:
        self.threshold = threshold
        self.factors = np.full(threshold.size, np.sqrt(EPS))

    def __call__(self, slope: Callable[[Array], Array], y: Array, base: Array) -> Array:
        """The (n, n) Jacobian at ``y``, where the slope is ``base``."""
        scale = np.maximum(np.abs(y), self.threshold)
        return np.column_stack([self._column(slope, y, base, i, scale[i]) for i in range(y.size)])

    def _column(
        self, slope: Callable[[Array], Array], y: Array, base: Array, i: int, scale: float
    ) -> Array:
        def change(factor: float) -> tuple[Array, float]:
            increment = abs((y[i] + factor * scale) - y[i])
            if base[i] < 0.0:
                increment = -increment  # go where the solution goes
            moved = y.copy()
            moved[i] += increment
            return slope(moved) - base, increment

        factor = self.factors[i]
        while y[i] + factor * scale == y[i] and factor < MOST:
            factor = min(100.0 * factor, MOST)
        difference, increment = change(factor)
        column = difference / increment
        largest, size, telling = self._compare(difference, base)
        if telling and largest <= HOPELESS * size:
            larger = min(np.sqrt(factor), MOST)
            if larger == factor:
                return column
            difference, increment = change(larger)
            if larger * np.max(np.abs(difference / increment)) < np.max(np.abs(column)):
                return column
            column, factor = difference / increment, larger
            largest, size, _ = self._compare(difference, base)
        if telling and largest <= SMALL * size:
            factor = min(10.0 * factor, MOST)
        elif telling and largest > LARGE * size:
            factor = max(0.1 * factor, LEAST)
        self.factors[i] = factor
        return column

    @staticmethod
    def _compare(difference: Array, base: Array) -> tuple[float, float, bool]:
        """The largest change, what to measure it by, and whether that tells anything."""
        row = int(np.argmax(np.abs(difference)))
        largest, before = abs(difference[row]), abs(base[row])
        after = abs(base[row] + difference[row])
        telling = largest == 0.0 or (before != 0.0 and after != 0.0)
        return float(largest), float(max(before, after)), telling
