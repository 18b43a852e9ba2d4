"""Which elements with a load exactly at a bound does the next instant break loose?"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import AT_BOUND, INSTANT, LONGEST_INSTANT, SHORTEST_INSTANT, TINY
from ...system import Problem
from .efforts import Efforts
from .evaluation import Evaluation
from .indeterminacy import Indeterminacy
from .joint_problem import JointProblem

__all__ = ["LookAhead"]



class LookAhead:
    """A look at the instant that follows, with the present modes held."""

    def __init__(self, evaluation: Evaluation, efforts: Efforts, indeterminacy: Indeterminacy,
                 joint_problem: JointProblem) -> None:
        self.evaluation, self.efforts = evaluation, efforts
        self.indeterminacy, self.joint_problem = indeterminacy, joint_problem
        self.state = evaluation.state

    def release(self, problem: Problem, t: float, still: Flags) -> None:
        """Let those at a bound slide whose reserve is less an instant later."""
        still = still & (self.state.modes == 0)
        if not still.any():
            return
        self.efforts.apply(problem, t)
        margin, sign = self._reserve(problem, t)
        at_bound = still & (margin <= AT_BOUND) & (sign != 0)
        if not at_bound.any():
            return
        with put_back(problem.x, problem.u, problem.z):
            h = self._step(problem, t)
            later, _ = self._reserve(problem, t + h)
        leaves = at_bound & (later < np.minimum(margin, 0.0))  # else it sticks until it gets there
        self.state.modes[leaves] = sign[leaves]

    def senses(self, problem: Problem, t: float, index: Indices, moved: Flags) -> Indices:
        """Senses in which elements at rest would start to move an instant later."""
        with put_back(problem.x, problem.u, problem.z):
            self.efforts.apply(problem, t)
            h = self._step(problem, t)
            state = self.joint_problem.solve(problem, t + h, index, moved).solution.state
        return state.astype(int)

    def _step(self, problem: Problem, t: float) -> float:
        """Move on by an instant, with the present modes; returns how long it is."""
        slope = self.evaluation.system.slope(*problem.arguments(t))
        scale = np.abs(slope).max(initial=0.0)
        far = np.abs(problem.x).max(initial=0.0)
        h = min(max(INSTANT * (far / scale if scale > 0 else 1.0), SHORTEST_INSTANT),
                LONGEST_INSTANT)
        problem.x += h * slope
        problem.update(t + h)
        return h

    def _reserve(self, problem: Problem, t: float) -> tuple[Array, Indices]:
        """Share of the bounds that stuck elements have left, and the direction they would go."""
        now, effort = self.evaluation.present(problem, t), self.evaluation.efforts(problem)
        width = now.high - now.low
        width = np.where(np.isfinite(width), width, np.maximum(np.abs(effort), TINY))
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = (now.high - effort) / width, (effort - now.low) / width
        margin, sign = np.minimum(up, down), np.where(up <= down, 1, -1)
        margin[now.idle] = np.inf
        dead, open_ = self.indeterminacy.elements_of(problem, t, self.state.modes == 0)
        margin[dead] = np.inf
        if len(open_):
            joint, first = self.indeterminacy.margins(problem, t, open_, now)
            margin[open_] = joint[open_]
            sign[open_[~first[open_]]] = 0
            if (margin[open_] <= AT_BOUND).any():
                self.indeterminacy.split(problem, t)
                effort = self.evaluation.efforts(problem)
                ahead = now.high - effort <= effort - now.low
                sign[open_] = np.where(sign == 0, 0, np.where(ahead, 1, -1))[open_]
        return margin, sign
