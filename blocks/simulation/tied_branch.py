"""How far can tied states be followed without mistaking another branch for theirs?"""

from __future__ import annotations

import numpy as np

from ..solvers import Step
from ..system.problem import Problem, Tangent

__all__ = ["TiedBranch"]

HALVINGS = 50  # of a step in which tied states cannot be followed
FOLLOWS = 0.1  # part of its way by which a tied state may miss its prediction
SMALL = 1e-3  # of its nominal value: what it may miss anyway


class TiedBranch:
    """The branch that the tied states of a problem are on, from step to step of an episode.

    No error estimate watches them: where all motion is prescribed (a driven linkage),
    the states that are integrated allow any step.
    """

    def __init__(self, problem: Problem, t: float) -> None:
        self.problem = problem
        self.last: Tangent = problem.tangent(t)
        self.ahead = self.last  # at the end of the step that was looked at
        problem.predictor = self.last

    def followed(self, step: Step) -> float:
        """How far into a step they move as predicted."""
        start = self.last
        t = step.t
        for _ in range(HALVINGS):
            h = t - step.t_old
            self.problem.solve(t, np.asarray(step.dense(t)))
            self.ahead = self.problem.tangent(t)
            missed = np.abs(self.ahead.x - start.x - h * (start.slope + self.ahead.slope) / 2)
            way = h * (np.abs(start.slope) + np.abs(self.ahead.slope)) / 2
            if np.all(missed <= FOLLOWS * way + SMALL * self.problem.scale_x[self.problem.tied]):
                break
            t = step.t_old + h / 2
        return t

    def go_on(self) -> None:
        """The step is taken: predictions start from its end."""
        self.problem.predictor = self.last = self.ahead
