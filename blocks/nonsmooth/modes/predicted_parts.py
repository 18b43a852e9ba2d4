"""What does machine code need to know to decide on modes by itself?"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array
from ...numerics.tolerances import SAFE_PIVOT, SEMIDEFINITE, SYMMETRIC
from ...system import Problem
from .evaluation import Evaluation
from .gaps import gap_states
from .parts import PredictedParts
from .solved_modes import SolvedModes

__all__ = ["predicted_parts"]


def predicted_parts(evaluation: Evaluation, problem: Problem, t: float) -> PredictedParts | None:
    """The parts of a network in one run; None where decisions take more."""
    held, functions, elements = evaluation.held_modes, evaluation.functions, evaluation.elements
    if not isinstance(held, SolvedModes) or not held.blocks or not (
            held.affine or held.affine_rates and not elements.contact.any()):
        return None
    starts, states = functions.flow_x.by_rows
    reach = np.abs(functions.flow_x.sparse(*problem.arguments(t)).tocsr().data)
    companions, part = functions.companions, np.zeros(held.size, dtype=int)
    bends = held.dependent & (not held.affine)
    for group in companions.groups:
        bends[group[0]] = bends[group].any()
    for k, block in enumerate(held.blocks):
        part[block] = k
    parts = PredictedParts(
        elements.kinds, evaluation.state.by_kind(evaluation.state.fast),
        companions.leading(problem.p), companions.sense(problem.p), elements.contact,
        ~functions.flow_varies, bool(held.dependent.any()), held.in_a_circle, bends,
        held.bent_by(), starts, states, np.where(reach > 0, reach, np.inf),
        gap_states(evaluation.system), np.array(problem.scale_x, dtype=float), part, held.turns)
    return parts if held.kept is None else _kept_parts(evaluation, held, problem, t, parts)


def _kept_parts(evaluation: Evaluation, held: SolvedModes, problem: Problem, t: float,
                parts: PredictedParts) -> PredictedParts | None:
    """Those of elements by whose modes numbers are kept."""
    functions, delassus, n = evaluation.functions, evaluation.delassus, held.size
    kept, pushed = held.kept, functions.pushed
    assert kept is not None
    if functions.turns or pushed is not None and ca.depends_on(pushed, evaluation.system.tape.u):
        return None
    d = np.ascontiguousarray(sp.dense(delassus.matrix(problem, t)))
    still, every = delassus.at_rest_for_good(problem, t), np.arange(n)
    columns, column_of, upper_starts, upper_rows = kept.columns
    regular = np.array([_is_regular(d[np.ix_(m, m)]) for m in (
        block[~still[block]] for block in kept.members)])
    ends_at = np.full(n, -1)
    ends_at[kept.stressed] = np.arange(kept.entries)[kept.stress]
    shared = ~regular & [bool((ends_at[m] >= 0).all()) and _is_regular(
        d[np.ix_(m, m)], -SEMIDEFINITE) for m in kept.members]
    return replace(
        parts, leader=np.where(still, -1, parts.leader),
        holds=parts.holds & ~delassus.immovable(problem, t),
        part=parts.part[functions.companions.leader], d=d,
        push=np.zeros(0) if pushed is not None else np.ascontiguousarray(sp.dense(
            delassus.slope_by_efforts(problem, t, every)).T),
        starts=np.cumsum([0, *map(len, kept.members)]), parted=np.concatenate(kept.members),
        first=kept.first, columns=columns, column_of=column_of, upper_starts=upper_starts,
        upper_rows=upper_rows, factors=held.factors if kept.factored else None,
        regular=regular, shared=shared, ends_at=ends_at)


def _is_regular(block: Array, least: float = SAFE_PIVOT) -> bool:
    """Whether a block of D, and so every block within it, is safely positive definite."""
    own = block.diagonal()
    if not (own > 0).all():
        return False
    if len(own) <= 1:
        return True
    scaled = block / np.sqrt(np.outer(own, own))
    if np.abs(scaled - scaled.T).max() > SYMMETRIC:
        return False
    try:
        np.linalg.cholesky(scaled - least * np.eye(len(own)))
    except np.linalg.LinAlgError:
        return False
    return True
