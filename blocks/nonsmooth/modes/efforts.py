"""Which efforts belong to the present modes?

With inertia at both sides, efforts that slide follow from the states, and those that stick from
``rate == 0``. Where a network has :mod:`held modes <blocks.nonsmooth.modes.held_modes>` these give
them; here is what holds for every network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array, Flags
from ...numerics.tolerances import EFFORTS_EXACT, EFFORTS_SETTLED, EFFORTS_STALLED
from .elements import LawValues
from .evaluation import Evaluation

if TYPE_CHECKING:
    from ...system import Problem

__all__ = ["Efforts", "ROUNDS"]

ROUNDS = 25  # for efforts that depend on each other nonlinearly


class Efforts:
    """Efforts of the present modes.

    Attributes
    ----------
    restless : an element whose effort did not settle at the last point; empty where all did
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.elements = evaluation, evaluation.elements
        self.nonlinear = evaluation.functions.nonlinear
        self.restless = ""

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's inputs to the efforts of the present modes."""
        held, evaluation = self.evaluation.held_modes, self.evaluation
        self.restless = ""
        if held is not None and held.apply(problem, t, evaluation.state.modes, evaluation.delassus):
            return
        values = self._settle(problem, t)
        if held is not None:
            held.slope = evaluation.system.slope(*problem.arguments(t))
        elif evaluation.load is None and not problem.algebraic:
            evaluation.remember(values, problem, t)

    def _settle(self, problem: Problem, t: float) -> LawValues:
        """Bring efforts to those of the modes; returns the last values looked at."""
        elements, last = self.elements, np.inf
        for _ in range(ROUNDS if self.nonlinear else 1):
            now = self.evaluation.values(problem, t)
            effort = self.evaluation.efforts(problem)
            step = self._step(problem, t, now, effort)
            elements.put(problem.u, effort + step)
            if problem.algebraic:
                problem.solve_algebraic(t)
            size, whole = np.abs(step).max(), np.abs(effort).max()
            if size <= EFFORTS_EXACT * whole or (
                    size > 0.5 * last and size < EFFORTS_STALLED * whole):
                break
            last = size
        else:
            if self.nonlinear and size > EFFORTS_SETTLED * whole:
                self.restless = elements.label(int(np.abs(step).argmax()))
        return now

    def _step(self, problem: Problem, t: float, now: LawValues, effort: Array) -> Array:
        """Change of the present efforts towards those of the modes."""
        delassus, modes = self.evaluation.delassus, self.evaluation.state.modes
        stuck = modes == 0
        if self.evaluation.load is not None:
            return self._loaded_step(problem, t, now, effort, stuck)
        step = np.where(stuck, 0.0, now.sliding(modes) - effort)
        if stuck.any():
            d = delassus.matrix(problem, t)
            rate = now.rate - d @ step if step.any() else now.rate
            step[stuck] = delassus.solve(d, stuck, rate[stuck])
        return step

    def _loaded_step(self, problem: Problem, t: float, now: LawValues, effort: Array,
                     stuck: Flags) -> Array:
        """The same where kinetic efforts depend on other efforts."""
        load = self.evaluation.load
        assert load is not None
        residual = np.where(stuck, now.rate, now.sliding(self.evaluation.state.modes) - effort)
        step = load.newton(problem, t, residual)
        explicit = ~stuck & ~load.dependent  # such as no effort of an open contact, exactly
        return np.where(explicit, residual, step)

    def inputs_at(self, problem: Problem, t: Array, x: Array) -> Array | None:
        """Inputs at many times of one episode at once, or None where that is not possible."""
        evaluation, elements, system = self.evaluation, self.elements, self.evaluation.system
        delassus, modes = evaluation.delassus, evaluation.state.modes
        if self.nonlinear or not delassus.constant or problem.algebraic or problem.delays:
            return None
        d, stuck = delassus.matrix(problem, t[0] if len(t) else 0.0), modes == 0
        nothing, held = np.zeros(system.nu), (problem.p, problem.m, problem.d)
        rates = np.zeros((elements.size, len(t)))
        effort = np.zeros((elements.size, len(t)))
        for k, at in enumerate(t):
            now = LawValues(*evaluation.functions.values(
                at, x[:, k], problem.z, *held, nothing).reshape(7, elements.size))
            rates[:, k], effort[:, k] = now.rate, now.sliding(modes)
        if stuck.any():
            effort[stuck] = delassus.solve(d, stuck, (rates - d @ effort)[stuck])
        u = np.zeros((system.nu, len(t)))
        u[elements.column] = effort * elements.sign[:, None]
        return u
