"""What does machine code need to know to decide on modes by itself?

Of networks whose D, and what efforts push and flows follow, depend on parameters only: the parts
that act on each other, and these matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from scipy.sparse import csr_array

from ...numerics.arrays import Array, Flags, Indices, Matrix
from ...numerics.tolerances import RATE_ROUNDING, SAFE_PIVOT, SYMMETRIC
from .evaluation import Evaluation
from .held_modes import HeldModes

if TYPE_CHECKING:
    from ...system import Problem

__all__ = ["DecisionParts", "decision_parts"]


@dataclass(frozen=True)
class DecisionParts:
    """Parts of elements that act on each other.

    Attributes
    ----------
    part : (elements,) of each element
    starts, members : the members of part i are ``members[starts[i]:starts[i + 1]]``
    first, entries : its block of K, row by row, has the entries from ``entries[first[i]]`` on
    d : D, in the order of ``entries``
    regular : (parts,) whether D of a part is symmetric and positive definite
    holds : (elements,) whether an element holds states where it is stuck
    flow_starts, flow_states, reach : the states that the flow of an element is made of, and the
        size of its change by each
    push_starts, push_states, push : the states whose slopes its effort changes, and how much
    rounding : part of the rates of states that is rounding
    values : flow, static and kinetic bounds, rate and effort, one after the other
    speed : the largest flow so far
    """

    part: Indices
    starts: Indices
    members: Indices
    first: Indices
    entries: Indices
    d: Array
    regular: Flags
    holds: Flags
    flow_starts: Indices
    flow_states: Indices
    reach: Array
    push_starts: Indices
    push_states: Indices
    push: Array
    rounding: float
    values: ca.SX
    speed: float


def decision_parts(evaluation: Evaluation, problem: Problem, t: float) -> DecisionParts | None:
    """The parts of a network in one run; None where decisions take more."""
    held, functions, elements = evaluation.held_modes, evaluation.functions, evaluation.elements
    if not isinstance(held, HeldModes) or not functions.fixed or elements.contact.any():
        return None
    n, delassus, args = elements.size, evaluation.delassus, problem.arguments(t)
    blocks = held.blocks
    members = np.concatenate([part for part, _ in blocks])
    sizes = np.array([len(part) for part, _ in blocks])
    starts = np.append(0, np.cumsum(sizes))
    part = np.empty(n, dtype=int)
    part[members] = np.repeat(np.arange(len(blocks)), sizes)
    flow_x = functions.flow_x.sparse(*args).tocsr()
    flow_x.eliminate_zeros()
    of_state = np.unique(np.column_stack([
        flow_x.indices, np.repeat(part, np.diff(flow_x.indptr))]), axis=0)[:, 0]
    if len(np.unique(of_state)) < len(of_state):  # a state that two parts may hold
        return None
    d = csr_array(delassus.matrix(problem, t))
    own = _blocks_of(d, [part for part, _ in blocks])
    push = csr_array(delassus.slope_by_efforts(problem, t, np.arange(n))).T.tocsr()
    return DecisionParts(
        part, starts, members, np.append(0, np.cumsum(sizes**2))[:-1],
        np.concatenate([entries.ravel() for _, entries in blocks]),
        np.concatenate([block.ravel() for block in own]), np.array([_is_regular(b) for b in own]),
        ~functions.flow_varies & ~delassus.immovable(problem, t),
        *_rows(flow_x.indptr, flow_x.indices, np.abs(flow_x.data)),
        *_rows(push.indptr, push.indices, push.data), RATE_ROUNDING,
        held.decided_by,
        evaluation.state.speed,
    )  # fmt: skip


def _rows(starts: Indices, columns: Indices, values: Array) -> tuple[Indices, Indices, Array]:
    """A matrix row by row, as machine code takes it."""
    return starts.astype(np.int64), columns.astype(np.int64), np.ascontiguousarray(values)


def _blocks_of(d: csr_array, parts: list[Indices]) -> list[Matrix]:
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
    if len(own) == 1:
        return True
    scaled = block / np.sqrt(np.outer(own, own))
    if np.abs(scaled - scaled.T).max() > SYMMETRIC:
        return False
    return bool(np.linalg.eigvalsh(scaled)[0] > SAFE_PIVOT)
