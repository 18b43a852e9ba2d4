"""Elements of which machine code predicts modes: what it knows of them, and room for the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..machine.functions import BoundCall, filled
from ..numerics.arrays import Array, Cube, Flags, Indices, Matrix, Vector
from .joint_choice import AT_REST, choice_of

if TYPE_CHECKING:
    from ..nonsmooth.modes.parts import PredictedParts
    from .equations import Equations

__all__ = ["BACK", "EFFORT", "FLOW", "FORTH", "GAP", "HIGH", "LOW", "MOST_PREDICTED", "NOBODY",
           "OWN", "RATE", "RESTITUTION", "VALUES", "PredictedElements",
           "predicted_elements"]  # fmt: skip

FLOW, LOW, HIGH, BACK, FORTH, RATE, EFFORT, GAP, OWN, RESTITUTION = range(10)
VALUES = 10  # of an element, one row each
NOBODY = -1  # instead of the number of an element
MOST_PREDICTED = 4  # elements whose bounds move with efforts: up to 3^4 determinants


class PredictedElements(NamedTuple):
    """Elements of set-valued laws whose efforts depend on each other.

    Numbers by which efforts follow are kept while modes last, or there are none of them and efforts
    are solved for at every point.
    """

    modes: Vector  # which machine code reads
    guess: Vector  # efforts that a solution begins with, which it reads
    free: Vector  # 0 for states that stuck elements hold, which it reads
    whole: Vector  # (2 parts + 1,) determinants, of all and of what slides, and the allowed gap
    slack: Vector  # efforts that closed contacts may pull with, likewise
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
    starts: Indices  # (parts + 1,) where the members of a part begin, where numbers are kept
    parted: Indices  # (elements,) these members, part by part
    first: Indices  # (parts,) where its numbers begin in ``k``: D_SS^-1 row by row, or factors
    columns: Indices  # (parts + 1,) where the columns of the factors of a part begin, if it has any
    column_of: Indices  # (columns,) the place of a member in its part, or NOBODY
    upper_starts: Indices  # (columns + 1,) where their entries begin
    upper_rows: Indices  # (entries,) in which rows these are
    factors: int  # address of what gives the factors of all parts that have them; 0 for none
    regular: Flags  # (parts,) whether D of a part is symmetric and positive definite
    told_by: Indices  # (elements,) of a contact the friction of the same motion, or NOBODY
    leader: Indices  # (elements,) who decides; NOBODY where nothing ever moves
    sense: Indices  # (elements,) 1, or -1 where a leader's flow has the other sign
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
    last: Vector  # (1,) time of the last decision
    struck: Indices  # (1,) the contact that was struck at the last event, or NOBODY
    known: Vector  # (elements,) room: the modes that ``k`` is of
    made: Vector  # room for factors
    factor: Matrix  # room for the factors of a part
    stuck: Indices  # room for the members of a part that stick
    column: Vector  # room
    before: Vector  # (states,) room
    members: Indices  # (elements,) room: those of the part that is decided on
    sizes: Indices  # (MOST_PREDICTED,) room: how many rows there are to choose from
    chosen: Indices  # (MOST_PREDICTED,) room: which of them is taken
    rows: Cube  # (MOST_PREDICTED, 3, MOST_PREDICTED) room: these rows
    matrix: Matrix  # (elements, elements) room
    right: Vector  # (elements,) room
    unit: Vector  # (elements,) ones
    order: Indices  # (elements,) room: the order of the matrix's rows
    work: Vector  # (elements,) room
    block: Matrix  # (elements, elements) room: d of what rests in a part
    rest: Matrix  # (AT_REST, elements) room: what rests
    still: Indices  # (elements,) room: which these are
    doubtful: Indices  # (elements,) room: 1 for those that have come to the end of their modes
    passing: Indices  # (elements,) room: 1 for those that pass a dead centre
    chooses: int  # address of what chooses among those at rest,
    asked: Indices  # what it takes, of which
    counted: int  # place says how many they are,
    answer: Indices  # (1,) and whether that is sure
    own: Vector  # (elements,) room


def predicted_elements(parts: PredictedParts, q: Array, equations: Equations, states: int
                       ) -> tuple[PredictedElements, BoundCall]:
    """Elements as machine code decides on them, and a call that they refer to.

    Parameters
    ----------
    parts : what is known of them
    q : what is constant between two events
    equations : whose part of ``q`` that is
    states : number of values that a step moves
    """
    n, nx, count = len(parts.contact), len(parts.scale), int(parts.part.max()) + 1
    keeps, most = len(parts.d) > 0, n
    held = q[int(equations.offsets[3]):]
    if keeps:
        most = int(np.diff(parts.starts).max())
        k_end = int(equations.offsets[5] - equations.offsets[3])
        modes, k, free, slack, _ = np.split(held, [n, k_end, k_end + nx, k_end + nx + n])
        guess, whole, share = np.empty(n), np.empty(2 * count + 1), np.empty(3 * count)
        room, d, bounds = np.empty(VALUES * n + parts.turns * n * nx), parts.d, np.zeros((4, n, n))
        push = room[VALUES * n :] if parts.turns else parts.push
    else:
        modes, guess, free, whole, slack, _ = np.split(
            held, np.cumsum([n, n, nx, 2 * count + 1, n]))
        sizes, k = [VALUES * n, n * n, 4 * n * n, n * nx, 3 * count], np.empty(0)
        room = np.empty(sum(sizes))
        _, d, bounds, push, share = np.split(room, np.cumsum(sizes)[:-1])
    number = np.zeros(MOST_PREDICTED, dtype=np.int64)

    def whole_numbers() -> Indices:
        return np.zeros(n, dtype=np.int64)

    block, rest = np.empty((most, most)), np.empty((AT_REST, n))
    choice = choice_of(block, rest)
    return filled(
        PredictedElements, parts, modes=modes, guess=guess, free=free, whole=whole, slack=slack,
        k=k, reserve=int(equations.reserve), present=equations.present, room=room,
        found=room[: VALUES * n].reshape(VALUES, n), d=d.reshape(n, n),
        bounds=bounds.reshape(4, n, n), push=push.reshape(n, nx), share=share,
        turns=np.array([parts.turns]), dependent=np.array([parts.dependent]),
        in_a_circle=np.array([parts.in_a_circle]), fast=parts.fast.copy(),
        last=np.array([-np.inf]), struck=np.array([NOBODY]),
        factors=equations.at_decisions("factors", parts.factors),
        known=np.empty(n * keeps), made=np.empty(
            0 if parts.factors is None else parts.factors.numel()),
        factor=np.empty((most, most)), stuck=whole_numbers(), column=np.empty(
            max(n, *np.diff(parts.columns), 0)), before=np.empty(states),
        members=whole_numbers(), sizes=number, chosen=number.copy(),
        rows=np.empty((MOST_PREDICTED, 3, MOST_PREDICTED)), matrix=np.empty((most, most)),
        right=np.empty(n), unit=np.ones(n), order=whole_numbers(), work=np.empty(n),
        block=block, rest=rest, still=whole_numbers(), doubtful=whole_numbers(),
        passing=whole_numbers(), chooses=choice.address, asked=choice.table,
        counted=choice.place["count"], answer=choice.results, own=np.empty(n)), choice
