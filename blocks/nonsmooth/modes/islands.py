"""What does machine code know of islands of elements, to decide on their modes by itself?"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ...numerics.arrays import Array, Flags, Indices, Matrix

if TYPE_CHECKING:
    import casadi as ca

__all__ = ["UNLOADED", "NetworkIslands", "PredictedIslands"]

def _none(kind: type) -> Any:
    return field(default_factory=lambda: np.zeros(0, dtype=kind))

UNLOADED = 2.0  # instead of whether a switch is told: a closed diode that bears nothing


@dataclass(frozen=True)
class _OfElements:
    """What is known of elements, and how fast they were."""

    kinds: Indices  # (elements,) the number of each element's kind
    fast: Array  # (kinds,) their largest flow so far

    def is_like(self, other: object) -> bool:
        """Whether the same is known of elements, but for their speeds."""
        return type(other) is type(self) and all(
            _is_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
            if f.name != "fast")


def _is_same(one: Any, other: Any) -> bool:
    return one is other or isinstance(one, (np.ndarray, bool)) and np.array_equal(one, other)


@dataclass(frozen=True)
class PredictedIslands(_OfElements):
    """Elements whose efforts are solved for, and whose rates are affine in them."""

    moves: Flags  # (elements,) not those whose flow is always zero
    contact: Flags  # (elements,)
    holds: Flags  # (elements,) whether an element may hold states where it is stuck
    # dependent, in_a_circle: whether some bounds depend on efforts, and may on their own
    dependent: bool
    in_a_circle: bool
    bends: Flags  # (elements,) whether bounds of an element bend as efforts change
    bent_by: Matrix  # (elements, elements) 1 where they may do so with an effort, else 0
    # flow_starts, flow_states, reach: the states that the flow of an element is made of, and the
    # size of its change by each at the start; without end where it is none there
    flow_starts: Indices
    flow_states: Indices
    reach: Array
    positions: Indices  # states that gaps are made of
    scale: Array  # (states,) nominal values
    part: Indices  # (elements,) of the islands of the equations that efforts are solved from
    # (elements,) where K, or the rows that are given, have whether it is at a bound, held there by
    # others; -1 for none
    ends_at: Indices
    turns: bool  # whether the slopes that efforts change move with the states
    # starts, parted: the members of island i are ``parted[starts[i]:starts[i + 1]]``
    starts: Indices
    parted: Indices
    # (islands,) whether what rests in an island may share what it holds, without any other
    shared: Flags
    # d, push: D, and those slopes, a row of states for each element, where numbers are kept that
    # efforts follow by; else empty, as all that follows
    d: Array = _none(float)
    push: Array = _none(float)
    # (islands,) where the numbers of each begin in K: D_SS^-1 row by row, or its factors
    first: Indices = _none(np.int64)
    # (islands + 1,) where the columns of the factors of each begin; none where K is D_SS^-1
    columns: Indices = _none(np.int64)
    # (columns,) the place of a member in its island, or -1 of an acceleration
    column_of: Indices = _none(np.int64)
    # upper_starts, upper_rows: where the factors have entries, column by column
    upper_starts: Indices = _none(np.int64)
    upper_rows: Indices = _none(np.int64)
    regular: Flags = _none(bool)  # (islands,) whether D of each is symmetric and positive definite
    # those of all islands that have them, one after the other; None for none
    factors: ca.SX | None = None


@dataclass(frozen=True)
class NetworkIslands:
    """Modes that islands of a network without mass at its nodes have been in; a row each.

    Islands are elements that feel each other at once; the largest has k of them. A row is of one
    and says what its elements come to, in the order of its members. Search and machine code fill
    and read the same arrays.
    """

    # starts, members: the members of island i are ``members[starts[i]:starts[i + 1]]``
    starts: Indices
    members: Indices
    # entry_starts, entries: which of the constants belong to an island, likewise
    entry_starts: Indices
    entries: Indices
    # relation_starts, relations: those that what is kept of an island depends on, or that depend on
    # what its elements take, likewise
    relation_starts: Indices
    relations: Indices
    joint: Flags  # (all relations,) whether they do: they are decided on together with modes
    owner: Indices  # (rows,) the island that each is of; -1 where it is empty
    m: Matrix  # m, modes, constants: relations, modes, and what efforts and slopes follow by
    modes: Matrix
    constants: Matrix
    weight: Matrix  # (rows, k * k) combinations of equations that say something about the states
    move: Matrix  # (rows, nx * k) what brings these to their values
    noise: Matrix  # noise, measured: what rounding makes of margins, and whether that is known
    measured: Flags
    present: Indices  # (islands,) which row holds now; -1 where it is none of them
    kinds: Indices  # (n,) the number of each element's kind
    largest: Matrix  # (2, kinds) the largest flow and effort so far
    endless: Flags  # (n,) elements whose bounds are so on one side at least
    farthest: Array  # (all relations,) the largest crossing function so far
    noise_so_far: Matrix  # (2, n) what rounding may make of every margin, stuck and not
    drift: Array  # (1,) share of its size by which what modes hold constant may be off
    least_flow: Array  # (n,) less does not end a mode
    values: ca.SX  # flow, effort, low, high, what the equations of modes miss; slopes
    gives_flow: Flags  # gives_flow, switch: (n,) of elements, as in :class:`.elements.Elements`
    switch: Flags
    # (6 n, n) what elements give, and kinetic efforts, by what they take; rates of these
    by_inputs: Matrix
    push: Matrix  # (nx, n) how slopes follow that; no rows where rows are not to be computed
    by_relations: Flags  # (all relations,) those that these depend on
    known_m: Array  # (all relations,) with which they are
