"""How does a model without states go through time?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics.arrays import Array
from ..solvers import Method, Step
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem

__all__ = ["Quasistatic"]


class Quasistatic(Method):
    """A model without states: its steps are as long as they may be."""

    name, order = "quasistatic", 1
    problem: Problem

    def __init__(self, problem: Problem, t: float, y: Array, **options: Any) -> None:
        super().__init__(problem, t, y, **options)
        self.h = self.max_step or np.inf

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = t, y

    def advance(self, t_stop: float) -> Step:
        old, self.t = self.t, t_stop if self.t + 1.5 * self.h >= t_stop else self.t + self.h
        self.work.steps += 1
        try:
            self.problem.solve(self.t, self.y)
        except AlgebraicFailure as failure:
            self.problem.failure = failure
            return Step.failed(old, self.y, str(failure))
        return Step(old, self.t, self.y, lambda t: np.zeros((0, *np.shape(t))))
