"""Which elements at rest stay there, and with what efforts? One problem for all of them.

With ``rate = b - D effort`` and bounds on the efforts it is the problem of
:func:`blocks.nonsmooth.complementarity.solve`; it is repeated where efforts depend on each other
nonlinearly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...exceptions import SimulationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import FOUR_LAST_BITS, NOTHING_AT_ALL, SAME_AS_BEFORE, SETTLED
from ...system import Problem
from ..complementarity import Solution, solve
from ..complementarity.scaling import dense_block
from ..unsettled import unsettled
from .delassus import Matrix, at_dead_centres, stopping_effort, without
from .efforts import ROUNDS
from .elements import LawValues
from .evaluation import Evaluation
from .painleve import Painleve

__all__ = ["JointProblem", "Solved"]


@dataclass(frozen=True)
class Solved:
    """Efforts and motion of elements that were at rest, and their bounds there.

    Loads up to ``unseen`` are none beside the bounds of others.
    """

    solution: Solution
    low: Array
    high: Array
    unseen: float = 0.0

    @property
    def moving(self) -> Flags:
        """Elements that start to move for certain."""
        return (self.solution.state != 0) & ~self.solution.grazing


class JointProblem:
    """The problem of all elements at rest.

    ``painleve`` is what is refused, where bounds depend on efforts.
    """

    def __init__(self, evaluation: Evaluation, painleve: Painleve | None) -> None:
        self.evaluation, self.painleve = evaluation, painleve
        self.elements, self.state = evaluation.elements, evaluation.state

    def solve(self, problem: Problem, t: float, index: Indices, moved: Flags) -> Solved:
        """Efforts of elements at rest, in the problem too; those that ``moved`` are kinetic.

        Raises SimulationError if no motion, or more than one, obeys the laws.
        """
        evaluation, load = self.evaluation, self.evaluation.load
        noise, parts = evaluation.rounding.of_rates(problem, t), evaluation.components(problem, t)
        here = np.flatnonzero(np.isin(parts, parts[index]))
        at = np.searchsorted(here, index)
        of_part = _PartBounds(self.state.modes[here], here, at, moved)
        affine = not evaluation.functions.nonlinear if load is None else load.affine
        previous, none, expected, settled = np.inf, 0.0, np.zeros(0), affine
        for again in range(ROUNDS):
            now, effort = evaluation.values(problem, t), evaluation.efforts(problem)[here]
            low, high, by_low, by_high = of_part.linearised(
                now, None if load is None else load.slopes(problem, t), effort)
            d = evaluation.delassus.matrix(problem, t)[here][:, here]
            d = d if load is None else sp.dense(d)
            there = at_dead_centres(d) & ~self.elements.contact[here]
            own = np.where(d.diagonal() > 0, d.diagonal(), np.inf)

            def bounds_at(effort: Array, low: Array = low, high: Array = high,
                          by: tuple[Array, Array] = (by_low, by_high)) -> tuple[Array, Array]:
                if load is None:
                    return low, high
                return low + by[0] @ effort, high + by[1] @ effort

            told = np.nan_to_num([*bounds_at(effort), np.where(there, 0.0, now.rate[here] / own)])
            if again:  # what the motion leaves open may be other efforts each time
                change, largest = np.abs(told - expected).max(), np.abs(effort).max()
                settled = change <= none + SAME_AS_BEFORE * largest
                if settled and (change > 2 * previous or change <= none + SETTLED * largest):
                    break
                previous = change
            b, bounds = now.rate[here] + d @ effort, np.abs([low, high])
            d, b = without(d, there), np.where(there, 0.0, b)
            if load is not None:
                none = FOUR_LAST_BITS * bounds[np.isfinite(bounds)].max(initial=0.0)
                if (np.abs(b) <= none * d.diagonal()).all():  # no load, but for rounding
                    b = np.zeros(len(here))
            solution = solve(d, b, low, high, *([] if load is None else [by_low, by_high]),
                             known=of_part.known, guess=None if load is None else effort,
                             noise=noise[here])
            if load is not None:
                none = max(none, NOTHING_AT_ALL * stopping_effort(d, b))
            full = evaluation.efforts(problem)
            full[here] = solution.effort
            self.elements.put(problem.u, full)
            problem.solve_algebraic(t)
            if affine:
                break
            expected = np.nan_to_num([*bounds_at(full[here]), (b - d @ full[here]) / own])
        if self.painleve is not None:
            self.painleve.refuse(t, solution, here)
        if not settled or not solution.converged:
            raise unsettled(self.elements.names(
                here if solution.converged else here[solution.suspects]), t, "efforts")
        low, high = bounds_at(solution.effort)
        of_elements = replace(solution, effort=solution.effort[at], rate=solution.rate[at],
                              state=solution.state[at], grazing=solution.grazing[at])
        return Solved(of_elements, low[at], high[at], none)

    def refuse_no_bounds(self, problem: Problem, t: float) -> None:
        """Stop at a law whose bounds are no numbers, such as a strength that overflows."""
        now = self.evaluation.values(problem, t)
        bounds = np.stack([now.low, now.high, now.back, now.forth])
        wrong = np.flatnonzero(np.isnan(bounds).any(axis=0))
        if len(wrong):
            path = self.elements.name(int(wrong[0]))
            raise SimulationError(
                path, f"the bounds of its law have no value at t = {t:.9g} s.",
                "Look for a strength that grows without bound, a division by zero, or a root or "
                "logarithm of a negative number in them.", time=t, variables=(path,),
                code="simulation.value",
            )  # fmt: skip


class _PartBounds:
    """Bounds of the elements ``here`` of connected parts, as affine functions of their efforts.

    The elements ``at`` are at rest and sought, with kinetic bounds where they ``moved``; all
    others of the parts keep their modes: what is stuck its effort, what slides its law.
    """

    def __init__(self, modes: Indices, here: Indices, at: Indices, moved: Flags) -> None:
        self.modes, self.here = modes, here
        self.known = np.ones(len(here), dtype=bool)
        self.known[at] = False
        self.loose = np.zeros(len(here), dtype=bool)
        self.loose[at] = moved

    def linearised(self, now: LawValues, slopes: list[Matrix] | None, effort: Array
                   ) -> tuple[Array, Array, Array, Array]:
        """Lower and upper bounds without any effort, and their slopes, at present efforts."""
        here, known, modes = self.here, self.known, self.modes
        constant = values = [v[here] for v in (now.low, now.high, now.back, now.forth)]
        if slopes is None:
            slopes = [np.zeros((len(here), 1))] * 4
        else:
            slopes = [dense_block(s, here, here) for s in slopes]
            constant = [v - s @ effort for v, s in zip(values, slopes, strict=True)]
        held = known & (modes == 0)  # at rest elsewhere, in no doubt
        back = self.loose & np.isfinite(values[0]) | (known & (modes < 0))
        low = _choose(back, constant[2], constant[0])
        by_low = _choose(back, slopes[2], slopes[0])
        forth = self.loose & np.isfinite(values[1])
        high, by_high = _choose(forth, constant[3], constant[1]), _choose(
            forth, slopes[3], slopes[1])
        ahead = known & (modes > 0)
        low, by_low = _choose(ahead, constant[3], low), _choose(ahead, slopes[3], by_low)
        low, by_low = np.where(held, effort, low), np.where(held[:, None], 0.0, by_low)
        return low, _choose(known, low, high), by_low, _choose(known, by_low, by_high)


def _choose(mask: Flags, one: Array, other: Array) -> Array:
    """Entries or rows of the one where the mask is set, else of the other."""
    return np.where(mask if one.ndim == 1 else mask[:, None], one, other)
