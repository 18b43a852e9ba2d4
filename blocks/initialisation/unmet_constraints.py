"""Why do constraints have no solution at the start, or more than one?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..assembly.flatten import Group
from ..exceptions import InitialisationError
from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import CANCELLATION, CLEAR, DEPENDENT, FULFILLED
from ..system.problem import Problem
from ..system.system import System
from ..units import unit

__all__ = ["constraints_of_velocities", "refuse_dependent", "unclosed_constraints"]

ENDLESS = 1e30  # of a constraint: one without a finite value; powers of its slopes have one
BESIDE = 1e-2  # of nominal values: a step along which a dead point is left
TRIALS = 3  # directions in which one is looked for
ALL_IN_ONE = 1e3  # weight of the constraints that are not to be open


def unclosed_constraints(system: System, problem: Problem, t: float) -> InitialisationError:
    """The error for constraints without a solution: how near they come, and which."""
    residual = _misses(system, problem, t)
    equations = [int(e) for cluster in system.clusters
                 for level, _ in cluster.levels for e in level]  # fmt: skip
    owners = list(map(system.flat.owner, equations))
    guess = problem.x / problem.scale_x
    endless = np.flatnonzero(~(np.abs(residual(guess)) < ENDLESS))
    if len(endless):
        paths = list(dict.fromkeys(owners[k] for k in endless))
        return InitialisationError(
            " and ".join(paths[:3]), f"{_equation(system.flat.group_of(equations[endless[0]])[0])} "
            "has no finite value at the start.",
            "Look for two ports of it that are connected to one and the same body, or give "
            "initial targets elsewhere.", variables=paths)
    near = _nearest(residual, guess, 200)
    worst = int(np.argmax(np.abs(residual(near))))
    where = owners[worst]
    mine = np.array([o == owners[worst] for o in owners])
    weight = np.where(mine, 1.0, ALL_IN_ONE)  # all of the gap in one place
    near = _nearest(lambda y: weight * residual(y), near, 400)
    gap = float(np.linalg.norm(residual(near)[mine]))
    if gap <= FULFILLED:  # they can be met, but not solved for
        refuse_dependent(system, problem, t)
        return InitialisationError(
            where, "no start was found: positions that meet all constraints, those of "
            f"{where} among them, exist, but initial targets and guesses lead elsewhere.",
            "Look for guesses that contradict each other, such as angles that differ by a whole "
            "turn, and give initial targets closer to a possible position.", variables=[where])
    group, _ = system.flat.group_of(equations[worst])
    law = group.law  # whose residual is a length if a variable is that it is linear in
    place = law is not None and any(
        kind == "constant" and law.kernel.variables[i].unit.dimension == unit("m").dimension
        for (i, order), kind in zip(law.arguments, law.slopes, strict=True) if order == 0)
    size = f"{1e3 * gap:.4g} mm" if place else f"{gap:.4g} (SI)"
    return InitialisationError(
        where, f"no {'position' if place else 'state'} meets all constraints: nearest to it, "
        f"{_equation(group)} of {where} is {size} from being met.",
        f"Check the {'lengths and places' if place else 'values'} of the parts around it, or give "
        "initial targets that are closer to a possible one.", variables=[where], gap=gap)


def _nearest(residual: Callable[[Array], Array], guess: Array, most: int | None = None) -> Array:
    """Where a residual is least, of points near a guess; the guess where slopes overflow."""
    from scipy.optimize import least_squares

    try:
        found: Array = least_squares(residual, guess, max_nfev=most, xtol=CANCELLATION,
                                     ftol=CANCELLATION, gtol=CANCELLATION).x
    except ValueError:
        return guess
    return found


def _misses(system: System, problem: Problem, t: float) -> Callable[[Array], Array]:
    """What constraints miss at scaled states, which the problem is taken to."""
    def residual(y: Array) -> Array:
        problem.x[:] = y * problem.scale_x
        missed = system.residual(*problem.arguments(t))[system.nz:]
        return np.nan_to_num(missed, nan=ENDLESS, posinf=ENDLESS, neginf=-ENDLESS)

    return residual


def _equation(group: Group) -> str:
    """An equation; one whose text is cut by the variables in it."""
    if group.law is None or "…" not in group.law.text:
        return "a balance" if group.law is None else group.law.text
    names = [group.law.kernel.variables[i].name for i, _ in group.law.arguments]
    return f"an equation of {', '.join(names[:3])}"


def refuse_dependent(system: System, problem: Problem, t: float) -> None:
    """Constraints that repeat each other leave forces open and cannot be solved."""
    _, equations = _dependent(system, problem, t, DEPENDENT)
    if not equations:
        return
    paths = list(dict.fromkeys(filter(None, map(system.flat.owner, equations))))
    where = " and ".join(filter(None, [", ".join(paths[:-1]), *paths[-1:]]))
    stand, repeat = "stand", "repeat each other"
    if len(paths) == 1:
        stand, repeat = "stands", "has constraints that repeat each other"
    if _fewest_beside(system, problem, t) == 0:
        raise InitialisationError(
            where, f"{stand} at a dead point: from here the mechanism can go on in more than one "
            "way, so that neither forces nor motion are determined.",
            "Start a little beside it: give another initial angle or position.", variables=paths,
            code="initial.redundant")  # fmt: skip
    raise InitialisationError(
        where, f"{repeat} wherever the mechanism goes: one of the constraints follows from the "
        "others, so that nothing says how they share the force.",
        "Remove one of these joints, make it free in one direction, or let it give way (a "
        "SpringDamper in its place).", variables=paths, code="initial.redundant")


def _dependent(system: System, problem: Problem, t: float, tolerance: float
               ) -> tuple[int, list[int]]:
    """How many constraints of velocities follow from others, and all that take part."""
    count = 0
    found: list[int] = []
    if not system.clusters:
        return count, found
    jacobian = system.residual_x.sparse(*problem.arguments(t))
    if not np.isfinite(jacobian.data).all():  # it says nothing of what follows from what
        return count, found
    for equations, rows, columns in constraints_of_velocities(system):
        u, s, _ = np.linalg.svd(jacobian[rows][:, columns].toarray() * problem.scale_x[columns])
        rank = int(np.count_nonzero(s > tolerance * s[0]))
        count += len(rows) - rank
        part = np.abs(u[:, rank:]).max(axis=1, initial=0.0)
        found += [int(e) for e in equations[part > CLEAR]]
    return count, found


def constraints_of_velocities(system: System) -> Iterator[tuple[Indices, Indices, Indices]]:
    """Yield each cluster's constraints of velocities, their rows of residuals, their states."""
    at = {int(c): i for i, c in enumerate(system.tape.reduced.states)}
    offset = system.nz
    for cluster in system.clusters:
        equations, classes = cluster.levels[0]
        yield equations, np.arange(offset, offset + len(equations)), np.array(
            [at[int(c)] for c in classes])
        offset += sum(len(level) for level, _ in cluster.levels)


def _fewest_beside(system: System, problem: Problem, t: float) -> int | None:
    """The fewest dependent constraints at positions close by; None where none was reached."""
    from scipy.linalg import null_space

    kept, counts, random = problem.x.copy(), [], np.random.default_rng(0)

    residual = _misses(system, problem, t)
    jacobian = system.residual_x.sparse(*problem.arguments(t))[system.nz:].toarray()
    ways = null_space(jacobian * problem.scale_x, rcond=DEPENDENT)
    for _ in range(TRIALS if ways.shape[1] else 0):
        step = ways @ random.standard_normal(ways.shape[1])
        near = _nearest(residual, kept / problem.scale_x + BESIDE * step / np.abs(step).max())
        if np.abs(residual(near)).max() <= FULFILLED:
            counts.append(_dependent(system, problem, t, BESIDE**2)[0])
    problem.x[:] = kept
    return min(counts, default=None)
