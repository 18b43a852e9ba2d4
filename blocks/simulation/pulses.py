"""Does a step of a method in Python go over a pulse that the method has not seen?

As :mod:`blocks.native.pulses` says, whose arithmetic this is.
"""

from __future__ import annotations

import numpy as np

from ..native.pulses import (
    ABOUT,
    BEFORE,
    LASTS,
    LEAST,
    NEAR,
    NEAREST,
    OUTSIDE,
    PART,
    WIDEST,
    peak,
)
from ..numerics.arrays import Array
from ..solvers import Method, Step
from ..system.problem import Problem

__all__ = ["Pulses"]


class Pulses:
    """Looks for them in steps, one after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._last: tuple[float, Array] = np.nan, np.zeros(0)  # time and exponents

    def step_to_pulse(self, step: Step, method: Method, y: Array) -> float:
        """How long a step from ``y`` may be: as it was, or up to the foot of a pulse within it."""
        start, h = step.t_old, step.t - step.t_old

        def exponents(part: float) -> Array:
            t = start + part * h
            return self.problem.exponents(t, step.dense(t))

        first = self._last[1] if self._last[0] == start else self.problem.exponents(start, y)
        middle, last = exponents(0.5), self.problem.exponents(step.t, step.y)
        length = 1.0
        for r, (a, b, c) in enumerate(zip(first, middle, last, strict=True)):
            at, width = peak.python(0.5, 0.5, a, b, c)
            highest, lowest = b + 0.5 * ((at - 0.5) / width) ** 2, min(a, b, c)
            if not (-OUTSIDE < at < 1.0 + OUTSIDE and width < WIDEST
                    and highest + ABOUT * (highest - lowest) > LEAST):
                continue
            value = highest
            for near in NEAR:
                here = min(max(at, near), 1.0 - near)
                before, value, after = (float(exponents(here + k)[r]) for k in (-near, 0, near))
                at, narrower = peak.python(here, near, before, value, after)
                at = min(max(at, here - near), here + near) if at < np.inf else here
                if narrower < near:
                    width = narrower
            if 0.0 < at < length and value > LEAST and self._is_overlooked(
                    step, method, y, at, width):
                length = min(length, max(at - BEFORE * width, width))
        if length == 1.0:
            self._last = step.t, last
        return h * length

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
