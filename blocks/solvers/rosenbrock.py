"""Rodas4P in Python: for stiff models that machine code cannot run.

A Rosenbrock method of order 4(3) with six stages, stiffly accurate and L-stable, of the family of
RODAS [E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II", 2nd ed., sec. IV.7 and
IV.10], with the coefficients of G. Steinebach ["Order-reduction of ROW-methods for DAEs and method
of lines applications", preprint 1741, TH Darmstadt, 1995]. They keep the order where what is fast
is driven, as a ladder or a rectifier by its source, where those of RODAS fall to less than 2. For
y' = f(t, y), J = df/dy, and U_i the stages in its transformed form::

    (1/(gamma h) - J) U_i = f(t + c_i h, y + sum_j a_ij U_j) + sum_j C_ij U_j / h + d_i h df/dt
    new = y + sum_j a_5j U_j + U_5 + U_6, and U_6 is the error

Algebraic unknowns that a model solves for have rows of their own in J: what is full without them is
sparse with them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.sparse_solves import factored
from .base import Array
from .ode45 import EPS, PublishedControl, within
from .trouble import finite_derivatives

__all__ = ["BETWEEN", "BETWEEN_TIMES_S", "COUPLINGS", "GAMMA", "POINTS", "STAGE_TIMES",
           "TIME_WEIGHTS", "Rodas4"]  # fmt: skip

GAMMA = 0.25
STAGE_TIMES = (0.75, 0.21, 0.63, 1.0, 1.0)  # of stages 2 to 6
TIME_WEIGHTS = (0.25, -0.5, -0.023504, -0.0362, 0.0, 0.0)
#: Rows of a_ij for stages 2 to 6, and for the new point.
FOURTH = (2.304376582692669, -0.05249275245743001, -1.176798761832782)
FIFTH = (-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401)
POINTS = ((3.0,), (1.831036793486759, 0.4955183967433795), FOURTH, FIFTH, (*FIFTH, 1.0),
          (*FIFTH, 1.0, 1.0))
#: Rows of C_ij for stages 2 to 6.
COUPLINGS = (
    (-12.0,), (-8.791795173947035, -2.207865586973518),
    (10.81793056857153, 6.780270611428266, 19.5348594464241),
    (34.19095006749676, 15.49671153725963, 54.7476087596413, 14.16005392148534),
    (34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095,
     -5.714285714285717),
)  # fmt: skip
#: The polynomial between the ends of a step: with s the part of it,
#: x (1 - s) + s (new + (1 - s) (c + s d)), and c and d the sums of the stages 1 to 5 by these.
BETWEEN = (25.09876703708589, 11.62013104361867, 28.49148307714626, -5.664021568594133, 0.0)
BETWEEN_TIMES_S = (1.638054557396973, -0.7373619806678748, 8.47791821923899, 15.9925314877952,
                   -1.882352941176471)


class LinearlyImplicit(PublishedControl):
    """What methods share that linearise at the start of a step, for all tries at it."""

    implicit = True

    def restart(self, t: float, y: Array) -> None:
        super().restart(t, y)
        self._linear_at: float | None = None

    def _prepare(self) -> None:
        if self._linear_at != self.t:
            self._linearize(self._h)

    def _linearize(self, h: float) -> None:
        """d slope / d y and, by a difference, d slope / d t."""
        t, y = self.t, self.y
        self.work.jacobians += 1
        self._jacobian = self._derivatives(t, y)
        dt = (t + min(np.sqrt(EPS) * max(abs(t), abs(t + h)), h)) - t
        self._time_slope = (self._slope_at(t + dt, y) - self._slope) / dt
        self._linear_at = t

    @abstractmethod
    def _derivatives(self, t: float, y: Array) -> Any:
        """d slope / d y."""


class Rodas4(LinearlyImplicit):
    """Rosenbrock method of order 4(3), L-stable: for what is stiff.

    G. Steinebach, "Order-reduction of ROW-methods for DAEs and method of lines applications",
    preprint 1741, TH Darmstadt, 1995.
    """

    name, order, exponent = "rodas4", 4, 1.0 / 4.0

    def restart(self, t: float, y: Array) -> None:
        super().restart(t, y)
        self._h_max = self.max_step

    def _derivatives(self, t: float, y: Array) -> Any:
        jacobian = getattr(self.problem, "whole_jacobian", self.problem.slope_jacobian)
        return finite_derivatives(jacobian, self._slope_at, t, y, self.atol)

    def _solver(self, a: float) -> Callable[[Array], Array]:
        """What solves with ``a`` less the derivatives of slopes."""
        from scipy.sparse import diags_array

        n, size = self.y.size, self._jacobian.shape[0]
        self.work.factorizations += 1
        solve = factored((diags_array(a * (np.arange(size) < n)) - self._jacobian).tocsc())
        return lambda r: solve(np.append(r, np.zeros(size - n)))[:n]  # type: ignore[no-any-return]

    def _try(self, t_new: float, h: float) -> tuple[Array, float, Callable[[ArrayLike], Array]]:
        t, y = self.t, self.y
        solve = self._solver(1.0 / (GAMMA * h))
        by_time = h * self._time_slope
        stages = [solve(self._slope + TIME_WEIGHTS[0] * by_time)]
        for j, (point, row) in enumerate(zip(POINTS, COUPLINGS, strict=False)):
            inner = y + sum(a * u for a, u in zip(point, stages, strict=True))
            coupled = sum(c * u for c, u in zip(row, stages, strict=True)) / h
            slope = self._slope_at(t + STAGE_TIMES[j] * h, inner)
            stages.append(solve(slope + coupled + TIME_WEIGHTS[j + 1] * by_time))
        y_new = inner + stages[5]
        error = self._relative(stages[5], y_new)
        if error <= self.rtol:
            slope = self._slope_at(t_new, y_new)
            error = error if np.isfinite(slope).all() else np.inf
            self._slope = slope if error < np.inf else self._slope
        c, d = (sum(b * u for b, u in zip(weights, stages, strict=False))
                for weights in (BETWEEN, BETWEEN_TIMES_S))

        def cubic(s: Array) -> Array:
            shares = 1.0 - s, s, s * (1.0 - s), s * s * (1.0 - s)
            return sum(map(np.multiply.outer, (y, y_new, c, d), shares))  # type: ignore

        return y_new, error, within(t, t_new - t, cubic)
