"""What does machine code know of elements, to decide on their modes by itself?"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ...numerics.arrays import Array, Flags, Indices, Matrix

if TYPE_CHECKING:
    import casadi as ca

__all__ = ["UNLOADED", "NetworkParts", "PredictedParts"]

def _none(kind: type) -> Any:
    return field(default_factory=lambda: np.zeros(0, dtype=kind))

UNLOADED = 2.0  # instead of whether a switch is told: a closed diode that bears nothing


@dataclass(frozen=True)
class _OfElements:
    """What is known of elements, and how fast they were.

    Attributes
    ----------
    kinds : (elements,) the number of each element's kind
    fast : (kinds,) their largest flow so far
    """

    kinds: Indices
    fast: Array

    def is_like(self, other: object) -> bool:
        """Whether the same is known of elements, but for their speeds."""
        return type(other) is type(self) and all(
            _is_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
            if f.name != "fast")


def _is_same(one: Any, other: Any) -> bool:
    return one is other or isinstance(one, (np.ndarray, bool)) and np.array_equal(one, other)


@dataclass(frozen=True)
class PredictedParts(_OfElements):
    """Elements whose efforts are solved for, and whose rates are affine in them.

    Attributes
    ----------
    leader, sense : (elements,) who decides, or -1 where nothing ever moves, and whether that one's
        flow has the same sign
    contact : (elements,)
    holds : (elements,) whether an element may hold states where it is stuck
    dependent, in_a_circle : whether some bounds depend on efforts, and may on their own
    bends : (elements,) whether bounds of an element, or of its group, bend as efforts change
    bent_by : (elements, elements) 1 where they may do so with an effort, else 0
    flow_starts, flow_states, reach : the states that the flow of an element is made of, and the
        size of its change by each at the start; without end where it is none there
    positions : states that gaps are made of
    scale : (states,) nominal values
    part : (elements,) of the parts of the equations that efforts are solved from
    turns : whether the slopes that efforts change move with the states
    d, push : D, and those slopes, a row of states for each element, where numbers are kept that
        efforts follow by; else empty, as all that follows
    starts, parted : the members of part i are ``parted[starts[i]:starts[i + 1]]``
    first : (parts,) where the numbers of each begin in K: D_SS^-1 row by row, or its factors
    columns : (parts + 1,) where the columns of the factors of each begin; none where K is D_SS^-1
    column_of : (columns,) the place of a member in its part, or -1 of an acceleration
    upper_starts, upper_rows : where the factors have entries, column by column
    regular : (parts,) whether D of a part is symmetric and positive definite
    shared : (parts,) whether what rests in a part may share what it holds, without any other
    ends_at : (elements,) where K has whether it is at a bound, held there by others; -1 for none
    factors : those of all parts that have them, one after the other; None for none
    """

    leader: Indices
    sense: Indices
    contact: Flags
    holds: Flags
    dependent: bool
    in_a_circle: bool
    bends: Flags
    bent_by: Matrix
    flow_starts: Indices
    flow_states: Indices
    reach: Array
    positions: Indices
    scale: Array
    part: Indices
    turns: bool
    d: Array = _none(float)
    push: Array = _none(float)
    starts: Indices = _none(np.int64)
    parted: Indices = _none(np.int64)
    first: Indices = _none(np.int64)
    columns: Indices = _none(np.int64)
    column_of: Indices = _none(np.int64)
    upper_starts: Indices = _none(np.int64)
    upper_rows: Indices = _none(np.int64)
    regular: Flags = _none(bool)
    shared: Flags = _none(bool)
    ends_at: Indices = _none(np.int64)
    factors: ca.SX | None = None


@dataclass(frozen=True)
class NetworkParts:
    """Modes that parts of a network without mass at its nodes have been in; a row each.

    Parts are elements that feel each other at once; the largest has k of them. A row is of one part
    and says what its elements come to, in the order of its members. Search and machine code fill
    and read the same arrays.

    Attributes
    ----------
    starts, members : the members of part i are ``members[starts[i]:starts[i + 1]]``
    entry_starts, entries : which of the constants belong to a part, likewise
    relation_starts, relations : those that what is kept of a part depends on, or that depend on
        what its elements take, likewise
    joint : (all relations,) whether they do: they are decided on together with modes
    owner : (rows,) the part that each is of; -1 where it is empty
    m, modes, constants : relations, modes, and what efforts and slopes follow by
    weight : (rows, k * k) combinations of equations that say something about the states
    move : (rows, nx * k) what brings these to their values
    noise, measured : what rounding makes of margins, and whether that is known
    present : (parts,) which row holds now; -1 where it is none of them
    kinds : (n,) the number of each element's kind
    largest : (2, kinds) the largest flow and effort so far
    endless : (n,) elements whose bounds are so on one side at least
    farthest : (all relations,) the largest crossing function so far
    noise_so_far : (2, n) what rounding may make of every margin, stuck and not
    drift : (1,) share of its size by which what modes hold constant may be off
    least_flow : (n,) less does not end a mode
    values : flow, effort, low, high, what the equations of modes miss; slopes
    gives_flow, switch : (n,) of elements, as in :class:`.elements.Elements`
    by_inputs : (6 n, n) what elements give, and kinetic efforts, by what they take; rates of these
    push : (nx, n) how slopes follow that; no rows where rows are not to be computed
    by_relations : (all relations,) those that these depend on
    known_m : (all relations,) with which they are
    corrected : (n * nx,) of the constants, which states the errors of an element's equation move
    """

    starts: Indices
    members: Indices
    entry_starts: Indices
    entries: Indices
    relation_starts: Indices
    relations: Indices
    joint: Flags
    owner: Indices
    m: Matrix
    modes: Matrix
    constants: Matrix
    weight: Matrix
    move: Matrix
    noise: Matrix
    measured: Flags
    present: Indices
    kinds: Indices
    largest: Matrix
    endless: Flags
    farthest: Array
    noise_so_far: Matrix
    drift: Array
    least_flow: Array
    values: ca.SX
    gives_flow: Flags
    switch: Flags
    by_inputs: Matrix
    push: Matrix
    by_relations: Flags
    known_m: Array
    corrected: Flags
