"""Why do constraints have no solution at the start, or more than one?"""

from __future__ import annotations

import numpy as np

from ..assembly.flatten import Group
from ..exceptions import InitialisationError
from ..language.kernel import Law
from ..numerics.arrays import Array
from ..numerics.tolerances import CONSTRAINT_MET, DEPENDENT, INVOLVED, LEAST_SQUARES
from ..system.problem import Problem
from ..system.system import System
from ..units import unit

__all__ = ["refuse_dependent", "unclosed_constraints"]

ENDLESS = 1e150  # of a constraint: one without a finite value
ALL_IN_ONE = 1e3  # weight of the constraints that are not to be open


def unclosed_constraints(system: System, problem: Problem, t: float) -> InitialisationError:
    """The error for constraints without a solution: how near they come, and which."""
    from scipy.optimize import least_squares

    nz = system.nz

    def residual(y: Array) -> Array:
        problem.x[:] = y * problem.scale_x
        return np.nan_to_num(system.residual(*problem.arguments(t))[nz:], nan=ENDLESS)

    equations = [int(e) for cluster in system.clusters
                 for level, _ in cluster.levels for e in level]  # fmt: skip
    owners = [_owner(system, e) for e in equations]
    start = problem.x / problem.scale_x
    endless = np.flatnonzero(~(np.abs(residual(start)) < ENDLESS))
    if len(endless):
        paths = list(dict.fromkeys(owners[k] for k in endless))
        return InitialisationError(
            " and ".join(paths[:3]), f"{_equation(system.flat.group_of(equations[endless[0]])[0])} "
            "has no finite value at the start.",
            "Look for two ports of it that are connected to one and the same body, or give "
            "initial targets elsewhere.", variables=paths,
        )  # fmt: skip
    near = least_squares(residual, start, max_nfev=200, xtol=LEAST_SQUARES,
                         ftol=LEAST_SQUARES, gtol=LEAST_SQUARES).x
    worst = int(np.argmax(np.abs(residual(near))))
    where = owners[worst]
    mine = np.array([o == owners[worst] for o in owners])
    weight = np.where(mine, 1.0, ALL_IN_ONE)  # all of the gap in one place
    near = least_squares(lambda y: weight * residual(y), near, max_nfev=400).x
    gap = float(np.linalg.norm(residual(near)[mine]))
    if gap <= CONSTRAINT_MET:  # they can be met, but not solved for
        refuse_dependent(system, problem, t)
        return InitialisationError(
            where, "no start was found: positions that meet all constraints, those of "
            f"{where} among them, exist, but initial targets and guesses lead elsewhere.",
            "Look for guesses that contradict each other, such as angles that differ by a whole "
            "turn, and give initial targets closer to a possible position.", variables=[where],
        )  # fmt: skip
    group, _ = system.flat.group_of(equations[worst])
    size = f"{1e3 * gap:.4g} mm" if _is_length(group.law) else f"{gap:.4g} (SI)"
    return InitialisationError(
        where, "no position meets all constraints: where they come nearest to it, "
        f"{_equation(group)} of {where} is {size} from being met.",
        "Check the lengths and places of the parts around it, or give initial targets that are "
        "closer to a possible position.", variables=[where], gap=gap,
    )  # fmt: skip


def _owner(system: System, equation: int) -> str:
    """Path of the component that states an equation."""
    group, row = system.flat.group_of(equation)
    if group.law is None:
        return ""
    return system.network.families[group.family].path(int(group.instances[row]))


def _equation(group: Group) -> str:
    return "a balance" if group.law is None else group.law.text


def _is_length(law: Law | None) -> bool:
    """Whether the residual of a law is a length, by the variable it is linear in."""
    return law is not None and any(
        kind == "constant" and law.kernel.variables[i].unit.dimension == unit("m").dimension
        for (i, order), kind in zip(law.arguments, law.slopes, strict=True) if order == 0)


def refuse_dependent(system: System, problem: Problem, t: float) -> None:
    """Constraints that repeat each other leave forces open and cannot be solved."""
    if not system.clusters:
        return
    at = {int(c): i for i, c in enumerate(system.tape.reduced.states)}
    jacobian = system.residual_x.sparse(*problem.arguments(t))
    offset = system.nz
    for cluster in system.clusters:
        equations, classes = cluster.levels[0]
        columns = np.array([at[int(c)] for c in classes])
        rows = np.arange(offset, offset + len(equations))
        offset += sum(len(e) for e, _ in cluster.levels)
        u, s, _ = np.linalg.svd(jacobian[rows][:, columns].toarray() * problem.scale_x[columns])
        if s[-1] > DEPENDENT * s[0]:
            continue
        named = [system.flat.group_of(int(e)) for e in equations[np.abs(u[:, -1]) > INVOLVED]]
        paths = list(dict.fromkeys(
            system.network.families[g.family].path(int(g.instances[k])) for g, k in named
            if g.law is not None))  # fmt: skip
        raise InitialisationError(
            " and ".join(paths), f"demand{'s' if len(paths) == 1 else ''} the same thing twice: "
            "one of their constraints follows from the others, so that forces are not determined.",
            "Remove one of these joints or make it free in one direction; at a dead point, start "
            "elsewhere.", variables=paths, code="initial.redundant",
        )  # fmt: skip
