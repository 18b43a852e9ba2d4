"""How far does a step follow the solution that it began on: of a nonlinear loop, of tied states?

Unknowns of loops are followed in parts, as by :mod:`blocks.native.loop_branch` in machine code, but
along what the method says of the states, and down to the instant at which a branch ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics import tolerances
from ..numerics.arrays import Array
from ..numerics.tolerances import ANOTHER_SOLUTION, AS_PREDICTED, HALF_AS_FAR, HALF_OF_ALL
from ..solvers import Step
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem, Tangent
from .episode import Episode

__all__ = ["LoopBranch", "TiedBranch", "follows_branches", "torn_at"]

HALVINGS = 50  # of a step in which tied states cannot be followed
MOST_PARTS = 200  # of a step: loops that take more are followed nowhere
FOLLOWS = 0.1  # part of its way by which a tied state may miss its prediction
SMALL = 1e-3  # of its nominal value: what it may miss anyway


def follows_branches(problem: Problem) -> bool:
    """Whether it has nonlinear loops that Newton's method solves at every point."""
    system, laws = problem.system, problem.laws
    return (bool(system.tape.followed.any()) and not system.clusters
            and problem.size == len(problem.free) and (laws is None or not laws.massless))


def torn_at(problem: Problem, episode: Episode, t: float) -> Array:
    """Torn unknowns at a time of an episode, between its marks."""
    (t0, before), (t1, after) = episode.marks_around(t)
    if t1 == t0:
        return before
    near = before + (t - t0) / (t1 - t0) * (after - before)
    branch = LoopBranch(problem, t0, before, tolerances.TIME_GRAIN * (t1 - t0))
    problem.guess_z = None

    def states(at: float) -> Array:  # that are integrated, scaled
        return episode.trajectory(at)[: problem.size]

    try:
        found = branch.solved(t, states(t), near)
    except AlgebraicFailure:
        found = np.full(len(near), np.nan)
    if np.all(np.abs(found - near) <= HALF_AS_FAR * np.abs(after - before)
              + HALF_OF_ALL * np.abs(near) + ANOTHER_SOLUTION * branch.sizes):
        return found
    branch.follow(t, states)
    return branch.z


class LoopBranch:
    """The branch that torn unknowns are on, from step to step of an episode.

    Times about zero that differ by less than ``least`` are one instant.
    """

    def __init__(self, problem: Problem, t: float, z: Array, least: float) -> None:
        # as far as it has been followed, and torn unknowns there
        self.problem, self.t, self.z, self.least = problem, t, z.copy(), least
        self.ended = False  # whether it was seen to end
        # marks: times and torn unknowns on the way, at ends of steps or nearer to each other
        self.marks: list[tuple[float, Array]] = []
        self._passed: list[tuple[float, Array]] = []  # of the step that was looked at
        #: Nominal values; what a linear loop gives, or a flow carries, is on no branch.
        self.sizes = np.where(problem.system.tape.followed, problem.scale_z, np.inf)
        problem.guess_z = self.z.copy()

    def followed(self, step: Step) -> float:
        """How far into a step they can be followed; not at all where it has points beyond."""
        self.t, self.z, self._passed = step.t_old, np.array(self.problem.guess_z), []
        t = self.follow(step.t, lambda at: step.y if at == step.t else step.dense(at))
        self.ended = t < step.t
        return t

    def is_at(self, t: float) -> bool:
        """Whether there is no time between."""
        return abs(t - self.t) <= tolerances.SAME_INSTANT * abs(t) + self.least

    def go_on(self) -> None:
        """The step is taken: Newton's method starts from its end."""
        self.problem.guess_z = self.z.copy()
        self.marks += self._passed

    def follow(self, end: float, states: Callable[[float], Array]) -> float:
        """Go on along the integrated ``states`` (scaled), to ``end`` or to where a branch ends."""
        start, length = (self.t, self.z), end - self.t
        for _ in range(MOST_PARTS):
            ahead = end if length >= end - self.t else self.t + length
            found = self._kept(ahead, states)
            if found is not None:
                self.t, self.z = ahead, found
                self._passed.append((ahead, found))
                length *= 2
            elif self.is_at(ahead):  # a step itself is tried, however short
                return self.t
            else:
                length = min(length, end - self.t) / 2
            if not self.t < end:
                return self.t
        self.t, self.z = start  # where every part leads to another solution there is no branch
        return self.t

    def _kept(self, ahead: float, states: Callable[[float], Array]) -> Array | None:
        """Unknowns at a time, if they are on this branch; None if not."""
        middle, here = (self.t + ahead) / 2, self.z
        if not np.isfinite(between := states(middle)).all():
            return None
        try:
            there = self.solved(ahead, states(ahead), here)
            half = self.solved(middle, between, here)
            least, change = ANOTHER_SOLUTION * (np.abs(here) + self.sizes), np.abs(there - here)
            found = half if np.all(change <= least) else self.solved(middle, between, there)
        except AlgebraicFailure:
            return None
        even = np.abs(half - (here + there) / 2) <= (
            HALF_AS_FAR * change + HALF_OF_ALL * np.abs(here) + least)
        same = np.abs(half - found) <= AS_PREDICTED * change + least
        return there if np.all(even & same) else None

    def solved(self, t: float, y: Array, guess: Array) -> Array:
        """Unknowns at a point, sought from a guess."""
        problem = self.problem
        problem.x[problem.free] = y * problem.scale
        problem.z[:] = guess
        problem.update(t)
        return problem.z.copy()


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
