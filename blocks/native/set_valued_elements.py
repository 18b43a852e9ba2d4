"""Elements whose modes machine code decides: what it knows of them, and room for the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..machine.functions import Kept, filled, machine_code
from ..nonsmooth.complementarity.impact import collide, collision_of
from ..nonsmooth.complementarity.islands_at_rest import TOLD
from ..nonsmooth.complementarity.moving import AT_REST, choose_anew
from ..nonsmooth.complementarity.problem import problem_of
from ..nonsmooth.complementarity.sparse_lu import factors_of
from ..numerics.arrays import Array, Cube, Flags, Indices, Matrix, Vector
from ..numerics.tolerances import (
    FAR_FROM_PARADOX,
    FOUR_LAST_BITS,
    LEAST_ERROR,
    NOTHING_AT_ALL,
    PARADOX,
    SAFE_PIVOT,
)
from .stages import ATOL
from .steps import Workspace

if TYPE_CHECKING:
    from ..nonsmooth.modes.islands import IslandsWithMass
    from .equations import Equations

__all__ = ["BACK", "EFFORT", "FLOW", "FORTH", "GAP", "HIGH", "LOW", "NOBODY",
           "RATE", "RESTITUTION", "VALUES", "SetValuedElements", "act", "bounds_move",
           "is_held", "is_regular", "is_shared", "no_flow", "part_of",
           "set_valued_elements"]  # fmt: skip

FLOW, LOW, HIGH, BACK, FORTH, RATE, EFFORT, GAP, RESTITUTION = range(9)
VALUES = 9  # of an element, one row each
NOBODY = -1  # instead of the number of an element


class SetValuedElements(NamedTuple):
    """Elements of set-valued laws whose efforts depend on each other.

    Numbers by which efforts follow are kept while modes last, or there are none of them and efforts
    are solved for at every point.
    """

    modes: Vector  # which machine code reads
    guess: Vector  # efforts that a solution begins with, which it reads
    free: Vector  # 0 for states that stuck elements hold, which it reads
    whole: Vector  # (2 parts + 1,) determinants, of all and of what slides, and the allowed gap
    slack: Vector  # by how much what rests may be beyond its bounds, likewise
    k: Vector  # numbers that are kept, which it reads
    reserve: int  # margins behind those of the elements
    present: int  # address of what fills ``room``
    room: Vector  # everything that elements come to: what follows are parts of it
    found: Matrix  # (VALUES, elements)
    d: Matrix  # change of rates, by efforts, with its sign turned
    bounds: Cube  # (4, …) change of the bounds low, high, back, forth, by efforts
    push: Matrix  # (elements, states) change of slopes by efforts
    turns: Flags  # (1,) whether that moves with the states
    share: Vector  # (3 parts,) those at the present modes, or pivots, and of what sticks
    part: Indices  # (elements,) of the parts of the equations that efforts are solved from
    starts: Indices  # (parts + 1,) where the members of a part begin
    parted: Indices  # (elements,) these members, part by part
    first: Indices  # (parts,) where its numbers begin in ``k``: D_SS^-1 row by row, or factors
    columns: Indices  # (parts + 1,) where the columns of the factors of a part begin, if it has any
    column_of: Indices  # (columns,) the place of a member in its part, or NOBODY
    upper_starts: Indices  # (columns + 1,) where their entries begin
    upper_rows: Indices  # (entries,) in which rows these are
    factors: int  # address of what gives the factors of all parts that have them; 0 for none
    regular: Flags  # (parts,) whether D of a part is symmetric and positive definite
    shared: Flags  # (parts,) whether what rests in a part may share what it holds
    # (elements,) where ``k``, or what is given, has who is held by others at a bound, or NOBODY
    ends_at: Indices
    given: Vector  # which rows are given, their right sides, and the rows, part by part
    given_starts: Indices  # (parts,) where those of a part begin, of those that share
    given_count: int  # elements that may have such a row
    given_d: Matrix  # given_d, given_rows: (elements, elements) room for D and these
    given_rows: Matrix
    given_told: Matrix  # (TOLD, elements) room
    asked_now: Indices  # (elements,) room: 1 for those that rest, or may
    loose: Indices  # (elements,) room: 1 for those that nothing holds at their bounds
    fresh: Indices  # (parts,) room: 1 where what rests shares what it holds as if without bounds
    moves: Flags  # (elements,) not those whose flow is always zero
    contact: Flags
    holds: Flags  # elements that hold states where they are stuck
    dependent: Flags  # (1,) whether some bounds depend on efforts
    in_a_circle: Flags  # (1,) whether what slides may load itself
    bends: Flags  # (elements,) whether bounds bend as efforts change
    bent_by: Matrix  # (elements, elements) 1 where they may do so with an effort
    flow_starts: Indices  # (elements + 1,) where the states of a flow begin
    flow_states: Indices  # states that a flow depends on
    reach: Vector  # size of the change of the flow by each of them
    positions: Indices  # states that gaps are made of
    scale: Vector  # (states,) nominal values
    kinds: Indices  # (elements,) who are compared with each other
    fast: Vector  # (kinds,) their largest flow so far
    struck: Vector  # (elements,) 1 for contacts that were struck at the last event
    known: Vector  # (elements,) room: the modes that ``k`` is of
    made: Vector  # room for factors
    stuck: Indices  # room for the members of a part that stick
    column: Vector  # room
    before: Vector  # (states,) room
    members: Indices  # (elements,) room: those of the part that is decided on
    matrix: Matrix  # (elements, elements) room
    right: Vector  # (elements,) room
    unit: Vector  # (elements,) ones
    order: Indices  # (elements,) room: the order of the matrix's rows
    work: Vector  # (elements,) room
    near_starts: Indices  # (elements + 1,) where those begin that may act on each element at once
    near: Indices  # who these are
    # row_starts, row_columns, entries, slopes: room: rows of what rests in a part, their D, and how
    # their bounds follow efforts
    row_starts: Indices
    row_columns: Indices
    entries: Vector
    slopes: Matrix
    place: Indices  # (elements,) room: where each stands among what rests, or -1
    block: Matrix  # (elements, elements) room: d of what rests in a part that is not regular
    by: Cube  # (4, elements, elements) room: how their bounds follow efforts, if any do
    rest: Matrix  # (AT_REST, elements) room: what rests
    still: Indices  # (elements,) room: which these are
    leaves: Indices  # (elements,) room: 1 for those at a bound that let go, 2 if not driven
    doubtful: Indices  # (elements,) room: 1 for those that have come to the end of their modes
    passing: Indices  # (elements,) room: 1 for those that pass a dead centre
    chooses: int  # address of what chooses among those at rest,
    asked: Indices  # what it takes, of which
    counted: int  # place says how many they are,
    answer: Indices  # (1,) and whether that is sure
    collides: int  # address of what tells impulses; 0 without contacts,
    striking: Indices  # what it takes, of which
    striking_counted: int  # place says how many there are,
    ended: Indices  # (1,) and whether they are found
    own: Vector  # (elements,) room


def set_valued_elements(parts: IslandsWithMass, q: Array, equations: Equations, states: int
                       ) -> tuple[Any, ...]:
    """Elements as machine code decides on them, and calls that they refer to.

    ``q`` is what is constant between two events, ``equations`` are whose part of ``q`` that is;
    ``states`` is the number of values that a step moves.
    """
    n, nx, count = len(parts.contact), len(parts.scale), int(parts.part.max()) + 1
    keeps, most = len(parts.d) > 0, n
    held = q[int(equations.offsets[3]):]
    if keeps:
        most, given = int(np.diff(parts.starts).max()), np.empty(0)
        k_end = int(equations.offsets[5] - equations.offsets[3])
        modes, k, free, slack, _ = np.split(held, [n, k_end, k_end + nx, k_end + nx + n])
        guess, whole, share = np.empty(n), np.empty(2 * count + 1), np.empty(3 * count)
        room, d, bounds = np.empty(VALUES * n + parts.turns * n * nx), parts.d, np.zeros((4, n, n))
        push = room[VALUES * n :] if parts.turns else parts.push
    else:
        modes, guess, free, whole, slack, given = np.split(
            held, np.cumsum([n, n, nx, 2 * count + 1, n]))
        sizes, k = [VALUES * n, n * n, 4 * n * n, n * nx, 3 * count], np.empty(0)
        room = np.empty(sum(sizes))
        _, d, bounds, push, share = np.split(room, np.cumsum(sizes)[:-1])

    block, rest = np.empty((most, most)), np.empty((AT_REST, n))
    by = np.zeros((4, most, most) if parts.dependent else (4, 0, 0))
    acts = parts.part[:, None] == parts.part
    if keeps:
        acts &= ~parts.regular[parts.part][:, None] | (d != 0.0) | (d.T != 0.0)
    owner, near = map(np.ascontiguousarray, np.nonzero(acts))
    problem = problem_of(most, len(near))
    entries, slopes = np.empty(len(near)), np.empty((4, len(near) * parts.dependent))
    choice = choose_anew.bound(problem, factors_of(most, most * most), entries, slopes, rest,
                               np.arange(most + 1), most, False)
    collision = [] if not parts.contact.any() else [collide.bound(
        *map(Kept, collision_of(block, by, rest)), most, -1)]
    who_shares = np.where(parts.shared, np.diff(parts.starts), 0)
    given_count = 0 if keeps else int(who_shares.sum())
    several = most * bool(parts.shared.any())
    rooms = {
        "struck right work own asked_now stuck members order still place": n,
        "leaves doubtful passing loose": n, "known": n * keeps, "fresh": count, "before": states,
        "given_d given_rows": (several, several), "given_told": (TOLD, several),
        "made": 0 if parts.factors is None else parts.factors.numel(),
        "matrix": (most, most), "column": max(n, *np.diff(parts.columns), 0)}
    calls = choice.told("chooses asked counted answer", "count")
    for call in collision:
        calls |= call.told("collides striking striking_counted ended", "n")
    return filled(
        SetValuedElements, parts, rooms, modes=modes, guess=guess, free=free, whole=whole,
        slack=slack, k=k, reserve=int(equations.reserve), present=equations.present, room=room,
        found=room[: VALUES * n].reshape(VALUES, n), d=d.reshape(n, n),
        bounds=bounds.reshape(4, n, n), push=push.reshape(n, nx), share=share,
        turns=np.array([parts.turns]), dependent=np.array([parts.dependent]),
        in_a_circle=np.array([parts.in_a_circle]), fast=parts.fast.copy(),
        factors=equations.at_decisions("factors", parts.factors), given=given,
        given_count=given_count, unit=np.ones(n), near=near,
        near_starts=np.searchsorted(owner, np.arange(n + 1)), row_starts=problem.starts,
        row_columns=problem.columns, entries=entries, slopes=slopes, block=block, by=by, rest=rest,
        given_starts=2 * given_count + np.cumsum(who_shares**2) - who_shares**2,
        **calls,
    ), choice, *collision


@machine_code
def part_of(elements: SetValuedElements, e: int) -> int:
    """Fill in the elements that act on ``e``, by rates or bounds; how many."""
    index, n = elements.members, elements.modes.size
    if elements.k.size > 0:
        part, count = elements.part[e], 0
        for k in range(elements.starts[part], elements.starts[part + 1]):
            i = elements.parted[k]
            if elements.moves[i]:
                index[count] = i
                count += 1
        return count
    index[0] = e
    count, k = 1, 0
    while k < count:
        i = index[k]
        k += 1
        for j in range(n):
            new = act(elements, i, j)
            for a in range(count):
                new = new and index[a] != j
            if new:
                index[count] = j
                count += 1
    return count


@machine_code
def act(elements: SetValuedElements, i: int, j: int) -> bool:
    """Whether two elements act on each other."""
    d, bounds = elements.d, elements.bounds
    acts = d[i, j] != 0.0 or d[j, i] != 0.0 or (
        elements.bent_by[i, j] != 0.0 or elements.bent_by[j, i] != 0.0)
    for side in range(4):
        acts = acts or bounds[side, i, j] != 0.0 or bounds[side, j, i] != 0.0
    return acts


@machine_code
def bounds_move(elements: SetValuedElements, count: int) -> bool:
    """Whether bounds in a part depend on efforts."""
    if elements.dependent[0]:
        for a in range(count):
            for b in range(count):
                for side in range(4):
                    if elements.bounds[side, elements.members[a], elements.members[b]] != 0.0:
                        return True
    return False


@machine_code
def is_shared(elements: SetValuedElements, e: int) -> bool:
    """Whether what rests in the part of an element may share what it holds."""
    return elements.shared[elements.part[e]]


@machine_code
def is_held(elements: SetValuedElements, e: int) -> bool:
    """Whether an element that rests is at a bound, held there by others."""
    if elements.ends_at[e] == NOBODY:
        return False
    return abs(elements.given[elements.ends_at[e]]) > 1.0 if elements.k.size == 0 else (
        elements.k[elements.ends_at[e]] != 0.0)


@machine_code
def no_flow(work: Workspace, elements: SetValuedElements, x: Vector, e: int) -> float:
    """A flow that rounding may give to an element, or errors that no step is shortened for."""
    flow = 0.0
    for j in range(elements.flow_starts[e], elements.flow_starts[e + 1]):
        i = elements.flow_states[j]
        none = FOUR_LAST_BITS * max(abs(x[i]), elements.scale[i])
        if work.k[ATOL, i] < np.inf:
            none = max(none, LEAST_ERROR * work.k[ATOL, i])
        if elements.reach[j] < np.inf:
            flow += elements.reach[j] * none
    return flow


@machine_code
def is_regular(elements: SetValuedElements) -> bool:
    """Whether what sticks has no undetermined efforts, and what slides is far from a paradox."""
    for part in range(elements.share.size // 3):  # noqa: SIM110
        if not _is_regular_part(elements, part):
            return False
    return True


@machine_code
def _is_regular_part(elements: SetValuedElements, part: int) -> bool:
    """Whether in a part no efforts are undetermined, and what slides is far from a paradox."""
    d, parts = elements.d, elements.share.size // 3
    share, alone = elements.share[part], elements.share[2 * parts + part]
    if alone < 0.0 and elements.shared[part]:  # by the order of rows that are given
        share, alone = -share, -alone
    held, largest = np.inf, 0.0
    for e in range(elements.modes.size):
        if elements.moves[e] and elements.part[e] == part:
            largest = max(largest, d[e, e])
            if elements.modes[e] == 0.0:
                held = min(held, d[e, e])
    if not held > NOTHING_AT_ALL * largest:
        return False
    if not elements.dependent[0]:
        return share > SAFE_PIVOT
    if not alone > PARADOX:
        return False
    left = share / alone
    if elements.in_a_circle[0]:
        sliding = elements.share[parts + part]
        if not sliding > FAR_FROM_PARADOX:
            return False
        left = min(sliding, left / sliding)
    return left > FAR_FROM_PARADOX
