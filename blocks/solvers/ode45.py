"""The Dormand-Prince pair under the step control of Shampine and Reichelt.

A twin of a published algorithm, kept to reproduce published step counts. For
other work take `dopri5`, or a tighter tolerance here: errors are measured in the
maximum norm against max(|y|, atol / rtol).

References
----------
J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae",
J. Comp. Appl. Math. 6(1), 1980, 19-26.
L. F. Shampine and M. W. Reichelt, "The MATLAB ODE Suite", SIAM J. Sci. Comput.
18(1), 1997, 1-22.
L. F. Shampine, "Interpolation for Runge-Kutta methods", SIAM J. Numer. Anal.
22(5), 1985 (the interpolant, of order 4).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .base import Array, Method, Step

__all__ = ["ERROR", "STAGES", "STAGE_TIMES", "Ode45", "PublishedControl", "within"]

EPS = float(np.finfo(float).eps)
#: Of the pair: when its stages after the first are, how these and the end add up, and the error.
STAGE_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def within(t: float, h: float, of_fraction: Callable[[Array], Array]
           ) -> Callable[[ArrayLike], Array]:
    """The dense output of a step from ``t``, told by the part of it that has passed."""
    return lambda at: of_fraction((np.asarray(at, dtype=float) - t) / h)


class PublishedControl(Method):
    """The loop that both published methods share.

    The largest step is a tenth of the interval from start or restart to ``t_end``
    unless ``max_step`` is given; the smallest is 16 units in the last place of t.
    A step is stretched onto ``t_stop`` where this is at most 1.1 steps away.
    After a success, and only if no try failed, the step grows by
    (rtol / err)^exponent / 1.25, fivefold at most.
    """

    exponent: ClassVar[float]
    as_published = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.restart(self.t, self.y)

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self._threshold = self.atol / self.rtol
        self._h = 0.0  # not chosen yet
        self._h_max = self.max_step
        if np.isinf(self.max_step):
            self._h_max = 0.1 * (self.t_end - self.t) or np.inf
        self._slope: Array = np.empty(0)

    def advance(self, t_stop: float) -> Step:
        try:
            if self._h == 0.0:
                self._begin(t_stop)
            return self._advance(float(t_stop))
        except Exception as error:  # raised by the problem: a failure of this step
            return self._stopped("the equations failed", (), error)

    def _begin(self, t_stop: float) -> None:
        self._slope = self._slope_at(self.t, self.y)
        longest = min(self._h_max, max(self.t_end, t_stop) - self.t)
        h = self.first_step if self.first_step else self._first_h(longest)
        self._h = max(float(h), 16.0 * np.spacing(abs(self.t)))

    def _advance(self, t_stop: float) -> Step:
        h_min = 16.0 * np.spacing(abs(self.t))
        h = min(self._h_max, max(h_min, self._h))
        lands = 1.1 * h >= t_stop - self.t
        if lands:
            h = t_stop - self.t
        self._prepare()
        failed = False
        while True:
            t_new = t_stop if lands else self.t + h
            y_new, error, dense = self._try(t_new, h)
            if error <= self.rtol:
                break
            self.work.rejected += 1
            if not h > h_min:
                return self._given_up(y_new)
            h, lands = max(h_min, h * self._shrink(error, failed)), False
            failed = True
        if not failed:
            h /= max(0.2, 1.25 * (error / self.rtol) ** self.exponent)
        self._h = h
        step = Step(self.t, t_new, y_new, dense)
        self.t, self.y = t_new, y_new.copy()
        self.work.steps += 1
        return step

    def _given_up(self, y_new: Array) -> Step:
        bad = np.flatnonzero(~np.isfinite(y_new))
        reason = "the equations are not finite"
        if not bad.size:
            reason = "the error stays above the tolerance however small the step"
        return self._stopped(reason, bad)

    def _first_h(self, longest: float) -> float:
        """The length of the first step."""
        scale = np.maximum(np.abs(self.y), self._threshold)
        rate = np.max(np.abs(self._slope) / scale, initial=0.0) / (0.8 * self.rtol**self.exponent)
        return 1.0 / rate if longest * rate > 1.0 else longest

    def _prepare(self) -> None:
        """What all tries at a step share."""

    @abstractmethod
    def _try(self, t_new: float, h: float) -> tuple[Array, float, Callable[[ArrayLike], Array]]:
        """New unknowns, relative error and dense output of one try."""

    def _shrink(self, error: float, failed: bool) -> float:
        """The factor on a step that is rejected, for the first time or again."""
        return max(0.1, 0.8 * (self.rtol / error) ** self.exponent)

    def _slope_at(self, t: float, y: Array) -> Array:
        self.work.residuals += 1
        return np.asarray(self.problem.slope(t, y), dtype=float)

    def _relative(self, error: Array, y_new: Array) -> float:
        """The published norm; nan counts as a large error."""
        scale = np.maximum(np.maximum(np.abs(self.y), np.abs(y_new)), self._threshold)
        norm = float(np.max(np.abs(error) / scale, initial=0.0))
        return norm if norm < np.inf else np.inf


class Ode45(PublishedControl):
    """Dormand-Prince 5(4) as published: six evaluations a try, the last one kept."""

    name, order, exponent = "ode45", 5, 1.0 / 5.0

    stages = [np.array(row) for row in STAGES[:-1]]
    weights = np.array(STAGES[-1])
    error_weights = np.array(ERROR)
    interpolant = np.array(  # of s, s^2, s^3, s^4, by stage
        [
            [1, -183 / 64, 37 / 12, -145 / 128],
            [0, 0, 0, 0],
            [0, 1500 / 371, -1000 / 159, 1000 / 371],
            [0, -125 / 32, 125 / 12, -375 / 64],
            [0, 9477 / 3392, -729 / 106, 25515 / 6784],
            [0, -11 / 7, 11 / 3, -55 / 28],
            [0, 3 / 2, -4, 5 / 2],
        ]
    )

    def _try(self, t_new: float, h: float) -> tuple[Array, float, Callable[[ArrayLike], Array]]:
        t, y = self.t, self.y
        sums = np.einsum  # threads of BLAS wait for work longer than they add up
        k = np.empty((7, y.size))
        k[0] = self._slope
        for i, (node, row) in enumerate(zip(STAGE_TIMES, self.stages, strict=False), start=1):
            k[i] = self._slope_at(t + h * node, y + sums("i,ij", h * row, k[:i]))
        h = t_new - t
        y_new = y + sums("i,ij", h * self.weights, k[:6])
        k[6] = self._slope_at(t_new, y_new)
        error = self._relative(h * sums("i,ij", self.error_weights, k), y_new)
        if error <= self.rtol:
            self._slope = k[6]
        b = sums("ki,kj->ij", self.interpolant, k)

        def quartic(s: Array) -> Array:
            square = s * s
            powers = np.array([s, square, s * square, square * square])
            return (y + h * (powers.T @ b)).T  # type: ignore[no-any-return]

        return y_new, error, within(t, h, quartic)

    def _shrink(self, error: float, failed: bool) -> float:
        return 0.5 if failed else super()._shrink(error, failed)
