"""What does machine code know of islands of elements, to decide on their modes by itself?"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...numerics.arrays import Array, Cube, Flags, Indices, Matrix, Vector

if TYPE_CHECKING:
    import casadi as ca

__all__ = ["LEAST_SHARE", "UNLOADED", "NetworkModes", "IslandsWithMass"]

def _none(kind: type) -> Any:
    return field(default_factory=lambda: np.zeros(0, dtype=kind))

LEAST_SHARE = 1e-3  # of its nominal value: what a state counts for at least
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
class IslandsWithMass(_OfElements):
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
    # (columns,) the place of a member in its island
    column_of: Indices = _none(np.int64)
    # upper_starts, upper_rows: where the factors have entries, column by column
    upper_starts: Indices = _none(np.int64)
    upper_rows: Indices = _none(np.int64)
    regular: Flags = _none(bool)  # (islands,) whether D of each is symmetric and positive definite
    # those of all islands that have them, one after the other; None for none
    factors: ca.SX | None = None


class NetworkModes(NamedTuple):
    """Modes of a network without mass at its nodes, as machine code decides on them.

    Islands are elements that feel each other at once; the largest has k of them. A row is of modes
    that one of them has been in, and says what its elements come to, in the order of its members.
    Search and machine code fill and read the same arrays.
    """

    modes: Vector  # which machine code reads
    constants: Vector  # what efforts and slopes follow by, which it reads
    m: Vector  # relations, which it reads
    values: int  # address of what fills ``found``
    found: Vector  # what elements come to, then the slopes
    starts: Indices  # (islands + 1,) where the members of an island begin
    members: Indices  # (elements,) island by island
    entry_starts: Indices  # (islands + 1,) where the constants of an island begin
    entries: Indices  # which these are
    relation_starts: Indices  # (islands + 1,) where the relations of an island begin
    relations: Indices  # those that what is kept depends on, or that depend on what is taken
    joint: Flags  # all relations: whether they do, and are decided on with modes
    owner: Indices  # (rows,) whose modes are kept in it; -1 for nobody's
    kept_m: Matrix  # of an island's modes that are kept: these relations
    kept_modes: Matrix
    kept_constants: Matrix
    weight: Matrix  # combinations of equations that say something about states
    move: Matrix  # what brings these to their values
    noise: Matrix  # what rounding makes of margins
    measured: Flags  # (rows,) whether that is known
    present: Indices  # (islands,) which row holds now
    kinds: Indices  # (elements,) who are compared with each other
    largest: Matrix  # (2, kinds) their largest flow and effort so far
    endless: Flags  # (elements,) whose bounds are so on one side at least
    farthest: Vector  # (all relations,) the largest crossing function so far
    noise_so_far: Matrix  # what rounding may make of every margin, stuck and not
    drift: Vector  # (1,) share of its size by which what modes hold constant may be off
    least_flow: Vector  # less does not end a mode
    sizes_of_given: int  # address of what tells, from sizes of states, how large what is given is,
    at_sizes: Vector  # (elements + states,) where it does so, and is told these
    largest_now: Matrix  # the same as ``largest`` with what is at the point that is looked at
    room: Matrix  # (3, elements): margins, what is large beside each, and what its mode holds
    exact: Vector  # (parameters,) room
    gives_flow: Flags  # (elements,) what modes come to is found from these
    switch: Flags  # (elements,) told by a condition
    contact: Flags  # (elements,)
    # who bears impulses, (b,): contacts first, what they load and what holds whatever comes; none
    # without contacts, or where what contacts load bends as impulses grow, beside loops
    bears: Indices
    follows: Matrix  # (b, b) 1 where bounds follow efforts
    at_impacts: int  # address of what fills ``impact``: see ``held_network.at_impacts``
    impact: Vector
    impact_by: Matrix  # its part: how rates, bounds, slopes and residuals of loops follow
    by_loops: Matrix  # (z, z) room: residuals of loops by their unknowns
    loop_side: Matrix  # (3, z) room
    loop_order: Indices  # (z,) room
    collides: int  # address of what tells impulses,
    striking: Indices  # what it takes, of which
    striking_counted: int  # place says how many there are,
    impulses_found: Indices  # (1,) and whether they are found
    block: Matrix  # (b, b) room: d of those that take part
    by: Cube  # (2, b, b) room: how their bounds follow efforts
    rest: Matrix  # (7, b) room: what is known of them
    takes_part: Indices  # (b,) room: which these are
    positions: Indices  # states that gaps are made of
    scale: Vector  # (states,) nominal values
    approach: Vector  # (1,) the fastest impact so far
    struck: Vector  # (elements,) 1 for contacts that were struck at the last event
    hit: Flags  # (elements,) whose mode an impact says,
    hit_mode: Vector  # (elements,) and which that is
    # equations and their rates, (6 elements, …), slopes, and residuals of loops, by what is taken,
    # and by states and unknowns of loops where it depends on them
    by_taken: Matrix
    by_relations: Flags  # (all relations,) those that this depends on
    known_m: Vector  # with which it is so
    curved: Flags  # (1,) whether it depends on states, too
    known: Flags  # (2,) whether it is known at the point, and could be told
    alike: Matrix  # (3, elements) 1 where what is given, or moves, follows states by constants
    coefficients: int  # address of what tells it at a point, where it is not always the same
    changing: Vector  # its entries that are not always zero,
    changing_at: Indices  # and where they stand
    row: Indices  # (islands,) which row is tried
    turn: Indices  # (1,) which row was given up last
    entered: Flags  # (1,) whether modes in a row that is new have been taken
    ended: Flags  # (islands,) whether the mode of an element has come to its end
    holds: Flags  # (islands,) whether the row that is tried obeys all laws
    searched: Flags  # (islands,) whether all rows of the present relations are tried, of any modes
    # (islands,) where guessed modes leave something open: whose other mode is tried next; else -1
    other: Indices
    yields: Vector  # (elements,) modes that follow where all yields a little, or ones have ended,
    yielding: Flags  # (islands,) and whether they are to be tried
    unloads: Flags  # (elements,) guessed closed, and as good as that in the row where it is open
    friction: Flags  # (elements,)
    idles: Flags  # (elements,) friction that slides in the row that is tried, but does not move
    last_row: Indices  # (islands,) room
    idle: Flags  # (elements,) whose equations say nothing there that others do not say
    before: Vector  # (all relations,) as they are at the event
    guess: Vector  # (elements,) modes that are tried
    guess_m: Vector  # and relations
    against: Flags  # (elements,) who breaks its law in these, or is about to
    turned: Flags  # (all relations,) which of them do
    own: Matrix  # (k, k) room: equations of an island by what is taken,
    by_value: Matrix  # by their values without it,
    by_rate: Matrix  # by the rates of these,
    by_missed: Matrix  # and by what combinations of them miss
    sizes: Vector  # (k,) room
    taken: Vector  # (k,) room: impulses,
    given: Matrix  # (2, k) room: and the flows and efforts that follow
    pivot: Indices  # (k,) room: the row that gives what a member takes, or -1
    place: Indices  # (k,) room: which member's a row gives, or -1
    combined: Indices  # (k,) room: which combination gives way to its rate in a row, or -1
