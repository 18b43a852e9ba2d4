"""What does machine code need to know to decide on modes by itself?

Of networks whose D, and what flows follow, depend on parameters only: the parts that act on each
other, these matrices, and what efforts push.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices, Matrix
from ...numerics.tolerances import RATE_ROUNDING, SAFE_PIVOT, SYMMETRIC
from ...system import Problem
from .evaluation import Evaluation
from .gaps import gap_states
from .held_modes import HeldModes
from .parts import DecisionParts, PredictedParts
from .solved_modes import SolvedModes

__all__ = ["decision_parts"]


def decision_parts(evaluation: Evaluation, problem: Problem, t: float
                   ) -> DecisionParts | PredictedParts | None:
    """The parts of a network in one run; None where decisions take more."""
    held, functions, elements = evaluation.held_modes, evaluation.functions, evaluation.elements
    if isinstance(held, SolvedModes):
        known = held.affine or held.affine_rates and not elements.contact.any()
        return _predicted_parts(evaluation, held, problem, t) if known else None
    if not isinstance(held, HeldModes) or functions.turns or not held.parts.members:
        return None
    pushed = functions.pushed
    if pushed is not None and ca.depends_on(pushed, evaluation.system.tape.u):
        return None
    n, delassus, args = elements.size, evaluation.delassus, problem.arguments(t)
    kinds, fast = elements.kinds, evaluation.state.by_kind(evaluation.state.fast)
    parts, members = held.parts.members, np.concatenate(held.parts.members)
    sizes = np.array([len(part) for part in parts])
    starts = np.append(0, np.cumsum(sizes))
    part = np.zeros(n, dtype=int)
    part[members] = np.repeat(np.arange(len(parts)), sizes)
    part = part[held.companions.leader]
    flow_starts, flow_states, flow_values = _rows(
        (functions.flow_x.dense if functions.few else functions.flow_x.sparse)(*args))
    of_state = np.unique(np.column_stack([
        flow_states, np.repeat(part, np.diff(flow_starts))]), axis=0)[:, 0]
    if len(np.unique(of_state)) < len(of_state):  # a state that two parts may hold
        return None
    own = _blocks_of(delassus.matrix(problem, t), parts)
    still = delassus.at_rest_for_good(problem, t)
    moving = [block[np.ix_(~still[part], ~still[part])] for block, part in zip(
        own, parts, strict=True)] if still.any() else own
    return DecisionParts(
        kinds, fast, part, starts, members, np.append(0, np.cumsum(sizes**2))[:-1],
        held.parts.first, np.concatenate([block.ravel() for block in own]), *held.parts.columns,
        np.array([_is_regular(b) for b in moving]), np.array([_is_symmetric(b) for b in moving]),
        np.where(still, -1, held.companions.leading(problem.p)), held.companions.sense(problem.p),
        elements.contact, held.stopped.told_by(n),
        functions.contacts if elements.contact.any() else None,
        gap_states(evaluation.system), np.array(problem.scale_x, dtype=float),
        ~functions.flow_varies & ~delassus.immovable(problem, t),
        flow_starts, flow_states, np.abs(flow_values),
        *_pushes(evaluation, problem, t), pushed, RATE_ROUNDING,
        held.decided_by, held.factors if held.parts.factored else None,
    )  # fmt: skip


def _predicted_parts(evaluation: Evaluation, held: SolvedModes, problem: Problem, t: float
                     ) -> PredictedParts | None:
    """Those of elements whose efforts are solved for."""
    flow_x, state = evaluation.functions.flow_x, evaluation.state
    starts, states = flow_x.by_rows
    reach = np.abs(flow_x.sparse(*problem.arguments(t)).tocsr().data)
    companions, part = evaluation.functions.companions, np.empty(held.size, dtype=int)
    bends = held.dependent & (not held.affine)
    for group in companions.groups:
        bends[group[0]] = bends[group].any()
    for k, block in enumerate(held.blocks):
        part[block] = k
    return PredictedParts(
        evaluation.elements.kinds, state.by_kind(state.fast),
        companions.leading(problem.p), companions.sense(problem.p),
        evaluation.elements.contact, ~evaluation.functions.flow_varies,
        bool(held.dependent.any()), held.in_a_circle, bends,
        held.bent_by(), starts, states, np.where(reach > 0, reach, np.inf),
        gap_states(evaluation.system), np.array(problem.scale_x, dtype=float), part)


def _pushes(evaluation: Evaluation, problem: Problem, t: float
            ) -> tuple[Indices, Indices, Array]:
    """How efforts change slopes, element by element; numbers only where they are constant."""
    moved = evaluation.functions.pushed
    if moved is not None:
        return np.array(moved.colind()), np.array(moved.row()), np.zeros(moved.nnz())
    every = np.arange(evaluation.elements.size)
    return _rows(evaluation.delassus.slope_by_efforts(problem, t, every).T)


def _rows(matrix: Matrix) -> tuple[Indices, Indices, Array]:
    """What is not zero row by row, as machine code takes it: starts, columns, values."""
    if sp.issparse(matrix):
        found = sp.csr_array(matrix)
        found.eliminate_zeros()
        return found.indptr.astype(np.int64), found.indices.astype(np.int64), found.data
    rows, columns = map(np.ascontiguousarray, np.nonzero(matrix))
    return np.searchsorted(rows, np.arange(len(matrix) + 1)), columns, matrix[rows, columns]


def _blocks_of(d: Matrix, parts: list[Indices]) -> list[Matrix]:
    """The rows and columns of parts of elements, full."""
    rows = np.concatenate([np.repeat(part, len(part)) for part in parts])
    columns = np.concatenate([np.tile(part, len(part)) for part in parts])
    ends = np.cumsum([len(part) ** 2 for part in parts])
    entries = np.split(np.asarray(d[rows, columns]).ravel(), ends[:-1])
    return [block.reshape(len(part), -1) for block, part in zip(entries, parts, strict=True)]


def _is_regular(block: Array) -> bool:
    """Whether a block of D, and so every block within it, is safely positive definite."""
    own = block.diagonal()
    if not (own > 0).all():
        return False
    if len(own) <= 1:
        return True
    if not _is_symmetric(block):
        return False
    try:
        np.linalg.cholesky(_scaled(block) - SAFE_PIVOT * np.eye(len(own)))
    except np.linalg.LinAlgError:
        return False
    return True


def _is_symmetric(block: Array) -> bool:
    """Whether a block of D, of elements that move something, is symmetric."""
    if len(block) <= 1:
        return bool((block > 0).all())
    scaled = _scaled(block)
    return bool((block.diagonal() > 0).all() and np.abs(scaled - scaled.T).max() <= SYMMETRIC)


def _scaled(block: Array) -> Array:
    """A block with units in its diagonal, where that is positive."""
    size = np.sqrt(np.where(block.diagonal() > 0, block.diagonal(), 1.0))
    return block / np.outer(size, size)
