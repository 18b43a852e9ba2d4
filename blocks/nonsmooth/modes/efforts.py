"""Which efforts belong to the present modes?

With inertia at both sides, efforts that slide follow from the states, and those that stick from
``rate == 0``. In machine code and at many points
:mod:`blocks.nonsmooth.modes.solved_modes` gives them.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.tolerances import NOTHING_AT_ALL, SAME_AS_BEFORE, SETTLED
from ...system import Problem
from .delassus import stopping_effort
from .elements import LawValues
from .evaluation import Evaluation

__all__ = ["Efforts", "ROUNDS"]

ROUNDS = 25  # for efforts that depend on each other nonlinearly
FEW = 3  # rounds in which efforts settle that are no differences of large ones


class Efforts:
    """Efforts of the present modes."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.elements = evaluation, evaluation.elements
        self.nonlinear = evaluation.functions.nonlinear
        # an element whose effort did not settle at the last point; empty where all did
        self.restless = ""

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's inputs to the efforts of the present modes."""
        last, loaded = np.inf, self.evaluation.load is not None
        self.restless = ""
        noise = 0.0  # what loads are known to, as differences of what drives and what mass takes
        problem.u[~np.isfinite(problem.u)] = 0.0  # of a trial point without finite values
        if not self.nonlinear:  # from none: where many efforts do, the least ones are found
            self._put(problem, t, np.zeros(self.elements.size))
        for k in range(ROUNDS if self.nonlinear else 1):
            now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
            if loaded and k == FEW:
                noise = NOTHING_AT_ALL * stopping_effort(
                    self.evaluation.delassus.matrix(problem, t), now.rate)
            step = self._step(problem, t, now, effort)
            size, whole = (np.abs(of).max(initial=0.0) for of in (step, effort))
            moved = effort + step  # rounding of those before would stay, as internal stress
            moved[np.abs(moved) <= NOTHING_AT_ALL * np.abs(effort)] = 0.0
            self._put(problem, t, moved)
            if size <= SETTLED * whole + noise or (
                    size > 0.5 * last and size < SAME_AS_BEFORE * whole):
                break
            last = size
        else:
            if self.nonlinear and size > SAME_AS_BEFORE * whole + noise:
                self.restless = self.elements.label(int(np.abs(step).argmax()))

    def _put(self, problem: Problem, t: float, effort: Array) -> None:
        self.elements.put(problem.u, effort)
        if self.evaluation.functions.loops_follow:
            problem.solve_algebraic(t)

    def _step(self, problem: Problem, t: float, now: LawValues, effort: Array) -> Array:
        """Change of the present efforts towards those of the modes."""
        delassus, modes = self.evaluation.delassus, self.evaluation.state.modes
        stuck = modes == 0
        if (load := self.evaluation.load) is not None:  # which kinetic efforts depend on
            residual = np.where(stuck, now.rate, now.sliding(modes) - effort)
            explicit = ~stuck & ~load.dependent  # such as no effort of an open contact, exactly
            return np.where(explicit, residual, load.newton(problem, t, residual))
        holds = stuck & ~delassus.immovable(problem, t)  # at a dead centre the lever is rounding
        step = np.where(holds, 0.0, np.where(stuck, 0.0, now.sliding(modes)) - effort)
        if holds.any():
            d = delassus.matrix(problem, t)
            rate = now.rate - d @ step if step.any() else now.rate
            step[holds] = delassus.solve(d, holds, rate[holds])
        return step

    @property
    def linear(self) -> bool:
        """Whether efforts follow linearly from rates, by a matrix that never moves."""
        return not self.nonlinear and self.evaluation.delassus.constant \
            and not self.evaluation.system.clusters
