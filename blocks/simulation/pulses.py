"""Does a step of a method in Python go over a pulse that the method has not seen?

As :mod:`blocks.native.pulses` says, whose arithmetic this is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..native.pulses import (
    AFTER,
    BEFORE,
    END,
    EXPONENT_ROWS,
    FOOT,
    LASTS,
    MIDDLE,
    NEAR,
    NEAREST,
    PART,
    START,
    THERE,
    earliest_peak,
    look_closer,
    next_peak,
    see_peaks,
)
from ..numerics.arrays import Array
from ..solvers import Method, Step
from ..system.problem import Problem

__all__ = ["Pulses"]


class Pulses:
    """Looks for them in steps, one after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._rows = np.empty((EXPONENT_ROWS, problem.system.tape.exponents.numel()))
        self._known = np.nan  # time of the look at the start

    def step_to_pulse(self, step: Step, method: Method, y: Array) -> float:
        """How long a step from ``y`` may be: as it was, or up to the foot of a pulse within it."""
        start, h, rows = step.t_old, step.t - step.t_old, self._rows

        def look(row: int, part: float) -> None:
            t = start + part * h
            rows[row] = self.problem.exponents(t, step.dense(t))

        if self._known != start:
            rows[START] = self.problem.exponents(start, y)
            self._known = start
        look(MIDDLE, 0.5)
        rows[END] = self.problem.exponents(step.t, step.y)
        length = self._length(look, step, method, y) if see_peaks(rows) else 1.0
        if length == 1.0:
            rows[START], self._known = rows[END], step.t
        return h * length

    def _length(self, look: Callable[[int, float], None], step: Step, method: Method, y: Array
                ) -> float:
        """Up to which part of a step there is no pulse, where exponents have peaks."""
        for k, near in enumerate(NEAR):
            while (at := next_peak(self._rows, k)) < np.inf:
                for row, part in ((THERE, at), (BEFORE, at - near), (AFTER, at + near)):
                    look(row, part)
                look_closer(self._rows, at, k)
        at, width = earliest_peak(self._rows)
        while at < 1.0:
            if self._is_overlooked(step, method, y, at, width):
                return float(min(max(at - FOOT * width, width), 1.0))
            at, width = earliest_peak(self._rows)
        return 1.0

    def _is_overlooked(self, step: Step, method: Method, y: Array, at: float, width: float
                       ) -> bool:
        """Whether slopes at a part of a step are so different from the step's that it matters."""
        h, lasts = step.t - step.t_old, min(LASTS * width, 1.0)
        near = min(PART * lasts, NEAREST, at, 1.0 - at)
        before, point, after = (step.dense(step.t_old + (at + k) * h) for k in (-near, 0.0, near))
        slope = self.problem.slope(step.t_old + at * h, point)
        missed = np.abs(slope * h - (after - before) / (2.0 * near)) * lasts
        allowed = method.atol + method.rtol * np.maximum(np.abs(y), np.abs(step.y))
        return bool(np.any(missed > allowed))
