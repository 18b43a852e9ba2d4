"""How far does a step follow the solution that it began on: of a nonlinear loop, of tied states?

Unknowns of loops are followed by the plain loops of :mod:`blocks.native.loop_branch`, whose method
ever takes the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array
from ..solvers import Step
from ..system.problem import Problem, Tangent
from .episode import Episode

if TYPE_CHECKING:
    from ..native.python_steps import LoopBranch

__all__ = ["TiedBranch", "follows_branches", "torn_at"]

HALVINGS = 50  # of a step in which tied states cannot be followed
FOLLOWS = 0.1  # part of its way by which a tied state may miss its prediction
SMALL = 1e-3  # of its nominal value: what it may miss anyway


def follows_branches(problem: Problem) -> bool:
    """Whether it has nonlinear loops that Newton's method solves at every point."""
    system, laws = problem.system, problem.laws
    return (bool(system.tape.followed.any()) and not system.clusters
            and problem.size == len(problem.free) and (laws is None or not laws.massless))


def torn_at(loops: LoopBranch, episode: Episode, t: float) -> Array:
    """Torn unknowns at a time of an episode, between its marks."""
    (t0, before), (t1, after) = episode.marks_around(t)
    if t1 == t0:
        return before
    y0, y = (episode.trajectory(at)[: loops.n] for at in (t0, t))
    return loops.put((t0, y0, before), (t, y, before + (t - t0) / (t1 - t0) * (after - before)))


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
