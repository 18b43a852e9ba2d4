"""Do circles of signals leave their values open, whichever pieces of their laws hold?

``y == maximum(u, y)`` does: its gain is 1 wherever y is above u, and every such y fulfils it.
"""

from __future__ import annotations

from functools import partial

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import NEWTON_STALLED
from ..system.problem import Problem
from ..system.system import System
from .findings import Finding
from .singular import MOST_TOGETHER, dependence, dependent_rows, in_terms_of
from .words import Names

__all__ = ["open_circle"]

TRIALS = 64  # points from which solutions are looked for
SIZES = -6.0, 6.0  # of unknowns there, as powers of ten
ROUNDS = 6  # of Newton's method: it ends at once where it comes to the right piece
BESIDE = 1e-3  # of the largest unknown: so far beside a solution there may be another one


def open_circle(problem: Problem, code: str, anyhow: bool = False) -> Finding | None:
    """A circle with solutions beside a solution, for what enters it at a point.

    ``anyhow`` is whatever conditions hold that do not depend on the circle.
    """
    system = problem.system
    flat = system.flat
    for k, step in enumerate(system.tape.steps):
        if step.group >= 0 or len(step.equations) > MOST_TOGETHER:
            continue
        groups = [flat.groups[g] for g in set(flat.groups_of(step.equations).tolist())]
        if any(of.law is None or of.law.kernel.ports for of in groups):
            continue
        circle = system.once(f"circle {k}", partial(
            _Circle, system, step.equations, step.unknowns, {of.family for of in groups}))
        if chosen := circle.left_open(problem, anyhow):
            return dependence(Names(flat), code, chosen, "in a branch of its laws", True)
    return None


class _Circle:
    """Residuals of equations that are solved together, by their unknowns and conditions."""

    def __init__(self, system: System, equations: Indices, unknowns: Indices, families: set[int]
                 ) -> None:
        writer, v = in_terms_of(system, unknowns.tolist())
        residual, kinds, crossings = writer.residuals_of(equations), system.network.families, []
        conditions = list[int]()
        for f, relation, first in writer.relation_layout:
            if f in families:
                conditions += range(first, first + kinds[f].size)
                crossings.append(writer.kernel_row(f, kinds[f].kernel.relations[relation][0]).T)
        crossing, matrix = ca.vertcat(ca.SX(0, 1), *crossings), ca.jacobian(residual, v)
        self.equations, self.conditions = equations.tolist(), np.array(conditions, dtype=int)
        self.own = np.array(ca.which_depends(crossing, v, 1, True), dtype=bool)
        self.branches = bool(conditions) or ca.depends_on(matrix, v)
        self.function = ca.Function("circle", [*system.arguments, v], [
            residual, ca.densify(matrix), crossing])

    def left_open(self, problem: Problem, anyhow: bool) -> list[int]:
        """Equations that do not determine their unknowns near a solution."""
        n, chance = len(self.equations), np.random.default_rng(0)
        t, x, z, p, held, d, u = problem.arguments(0.0)
        m, own, free = held.copy(), self.conditions[self.own], self.conditions[~self.own]

        def at(v: Array) -> tuple[Array, Array]:
            for _ in range(2):  # with the conditions that hold at that point
                residual, matrix, crossing = map(np.array, self.function(t, x, z, p, m, d, u, v))
                m[own] = crossing.ravel()[self.own] > 0
            return residual.ravel(), matrix

        for _ in range(TRIALS if self.branches and (len(free) or not anyhow) else 0):
            v = chance.choice([-1.0, 1.0], n) * 10.0 ** chance.uniform(*SIZES, n)
            m[free] = chance.integers(0, 2, len(free)) if anyhow else held[free]
            for _ in range(ROUNDS):
                residual, matrix = at(v)
                if not (np.isfinite(residual).all() and np.isfinite(matrix).all()):
                    break
                v = v - np.linalg.pinv(matrix) @ residual
            else:
                beside = BESIDE * (1.0 + np.abs(v).max()) * np.linalg.svd(matrix)[2][-1]
                for side in (v + beside, v - beside):
                    residual, matrix = at(side)
                    if np.abs(residual).max() <= NEWTON_STALLED * np.abs(beside).max() and (
                            chosen := dependent_rows(self.equations, matrix)):
                        return chosen
        return []
