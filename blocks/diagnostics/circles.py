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
from .singular import dependence, dependent_rows, in_terms_of
from .words import Names

__all__ = ["open_circle"]

LARGEST, MOST = 60, 100  # equations together, and loops, that are looked at
TRIALS = 64  # points from which solutions are looked for
SIZES = -6.0, 6.0  # of unknowns there, as powers of ten
ROUNDS = 6  # of Newton's method: it ends at once where it comes to the right piece
BESIDE = 1e-3  # of the largest unknown: so far beside a solution there may be another one


def open_circle(problem: Problem, code: str, anyhow: bool = False) -> Finding | None:
    """A circle with solutions beside a solution, for what enters it at a point.

    ``anyhow`` is whatever conditions hold that do not depend on the circle.
    """
    system = problem.system
    flat, loops = system.flat, [step for step in system.tape.steps if step.group < 0]
    for k, step in enumerate(loops[:MOST]):
        if len(step.equations) > LARGEST:
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

    @np.errstate(all="ignore")
    def left_open(self, problem: Problem, anyhow: bool) -> list[int]:
        """Equations that do not determine their unknowns near a solution."""
        n, chance = len(self.equations), np.random.default_rng(0)
        t, x, z, p, held, d, u = problem.arguments(0.0)
        own, free = self.conditions[self.own], self.conditions[~self.own]
        if not self.branches or anyhow and not len(free):
            return []
        m = np.tile(held[:, None], TRIALS)  # a column for every point
        m[free] = chance.integers(0, 2, (len(free), TRIALS)) if anyhow else m[free]

        def at(v: Array) -> tuple[Array, Array]:
            for _ in range(2):  # with the conditions that hold there
                residual, matrix, crossing = map(np.array, self.function(t, x, z, p, m, d, u, v))
                m[own] = crossing[self.own] > 0
            matrix = matrix.reshape(n, TRIALS, n).transpose(1, 0, 2)
            return residual, np.where(np.isfinite(matrix), matrix, 0.0)

        v = chance.choice([-1.0, 1.0], (n, TRIALS)) * 10.0 ** chance.uniform(*SIZES, (n, TRIALS))
        for _ in range(ROUNDS):
            residual, matrix = at(v)
            residual = np.where(np.isfinite(residual), residual, 0.0)
            v = v - np.einsum("kij,jk->ik", np.linalg.pinv(matrix), residual)
        beside = BESIDE * (1.0 + np.abs(v).max(axis=0)) * np.linalg.svd(matrix)[2][:, -1].T
        for side in (v + beside, v - beside):
            residual, matrix = at(side)
            met = np.abs(residual).max(axis=0) <= NEWTON_STALLED * np.abs(beside).max(axis=0)
            for k in np.flatnonzero(met):
                if chosen := dependent_rows(self.equations, matrix[k]):
                    return chosen
        return []
