"""What holds the elements of a part that stick, and what states do they hold?

K, by which efforts follow from rates while modes are held, is changed here as modes change: what
sticks comes to rest by impulses along it, and states that are all of a flow that rests are held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Flags, Indices, Matrix, Vector
from .steps import Code, Workspace

__all__ = ["BACK", "EFFORT", "FLOW", "FORTH", "GAP", "HIGH", "LOW", "NOBODY", "OF_CONTACTS", "RATE",
           "RESTITUTION", "VALUES", "Elements", "find_column", "hold", "hold_states",
           "is_told", "own_entry", "place_of", "push_part", "size_of", "stop_drift",
           "stop_flow"]  # fmt: skip

FLOW, LOW, HIGH, BACK, FORTH, RATE, EFFORT = range(7)  # what elements come to
VALUES = 7  # of an element, one row each
GAP, RESTITUTION = range(2)
OF_CONTACTS = 2
NOBODY = -1  # instead of the number of an element


class Elements(NamedTuple):
    """Elements of set-valued laws, as machine code decides on them."""

    modes: Vector  # which machine code reads
    k: Vector  # numbers of K, which machine code reads
    free: Vector  # 0 for states that stuck elements hold, which machine code reads
    values: int  # address of what gives the rows of ``found``
    factors: int  # address of what gives the factors of all parts that have them; 0 for none
    part: Indices  # (elements,) connected part of each
    starts: Indices  # (parts + 1,) where the members of a part begin
    members: Indices  # (elements,) part by part
    first: Indices  # (parts,) where its block of D begins
    held_first: Indices  # (parts,) where its numbers begin in K: D_SS^-1 row by row, or factors
    d: Vector  # D, block by block, row by row
    columns: Indices  # (parts + 1,) where the columns of the factors of a part begin, if it has any
    column_of: Indices  # (columns,) the place of a member in its part, or NOBODY
    upper_starts: Indices  # (columns + 1,) where their entries begin
    upper_rows: Indices  # (entries,) in which rows these are
    regular: Flags  # (parts,) whether D of a part is symmetric and positive definite
    symmetric: Flags  # (parts,) whether it is symmetric
    leader: Indices  # (elements,) who decides; NOBODY where nothing ever moves
    sense: Indices  # (elements,) 1, or -1 where a leader's flow has the other sign
    contact: Flags  # (elements,)
    told_by: Indices  # (elements,) of a contact the friction of the same motion, or NOBODY
    of_contacts: int  # address of what gives the rows of ``gaps``; 0 where there are none
    positions: Indices  # states that gaps are made of
    scale: Vector  # (states,) nominal values
    holds: Flags  # (elements,) whether it holds states where it is stuck
    flow_starts: Indices  # (elements + 1,) where the states of a flow begin
    flow_states: Indices  # states that a flow depends on
    reach: Vector  # size of the change of the flow by each of them
    push_starts: Indices  # (elements + 1,) where the states that an effort pushes begin
    push_states: Indices  # these states
    push: Vector  # change of the slope of each
    pushed: int  # address of what gives these where they move with the states; 0 where none does
    before: Vector  # (states,) room
    rounding: float  # part of the rates of states that is rounding
    kinds: Indices  # (elements,) who are compared with each other
    fast: Vector  # (kinds,) their largest flow so far
    struck: Indices  # (1,) the contact that was struck at the last event, or NOBODY
    found: Matrix  # (VALUES, elements) room
    gaps: Matrix  # (OF_CONTACTS, elements) room
    slope: Vector  # (states,) room
    factor: Matrix  # room for the factors of a block
    stuck: Indices  # room for the members of a part that stick
    column: Vector  # room for a right-hand side, or what comes of it
    made: Vector  # room for factors
    block: Matrix  # room for D of what rests in a part
    rest: Matrix  # (AT_REST, …) room for what is known of it
    still: Indices  # room for the members of a part that rest
    taken: Indices  # room, as what follows
    order: Indices
    own: Vector
    right: Vector


@machine_code
def size_of(elements: Elements, part: int) -> int:
    """How many elements a part has."""
    return elements.starts[part + 1] - elements.starts[part]


@machine_code
def place_of(elements: Elements, part: int, e: int) -> int:
    """Where an element stands among the members of its part."""
    here = 0
    while elements.members[elements.starts[part] + here] != e:
        here += 1
    return here


@machine_code
def is_told(elements: Elements, e: int) -> bool:
    """Whether a contact is closed beside a friction at rest that tells for both."""
    friction = elements.told_by[e]
    return friction != NOBODY and elements.modes[e] == 0.0 and elements.modes[friction] == 0.0


@machine_code
def own_entry(elements: Elements, part: int, e: int) -> float:
    """The entry of D_SS^-1 of an element that is stuck."""
    here = place_of(elements, part, e)
    find_column(elements, part, here)
    return elements.column[here]


@machine_code
def find_column(elements: Elements, part: int, here: int) -> None:
    """The column of D_SS^-1 of a member of a part, or zeros where it slides.

    Contacts that a friction tells for move as it does, and what they take is counted with it.
    """
    start, size, column = elements.starts[part], size_of(elements, part), elements.column
    for a in range(size):
        column[a] = 1.0 if a == here else 0.0
        if is_told(elements, elements.members[start + a]) and (
                elements.told_by[elements.members[start + a]] == elements.members[start + here]):
            column[a] = _ratio(elements, part, a, here)
    _solve(elements, part)
    for a in range(size):
        e = elements.members[start + a]
        if is_told(elements, e):
            friction = place_of(elements, part, elements.told_by[e])
            column[friction] += _ratio(elements, part, a, friction) * column[a]
            column[a] = 0.0


@machine_code
def _ratio(elements: Elements, part: int, a: int, b: int) -> float:
    """Of the flow of a member of a part to that of one with the same motion."""
    first, size = elements.first[part], size_of(elements, part)
    return elements.d[first + a * size + b] / elements.d[first + b * size + b]


@machine_code
def _solve(elements: Elements, part: int) -> None:
    """Put D_SS^-1 times a column in its place."""
    size, first, y = size_of(elements, part), elements.held_first[part], elements.column
    k, right = elements.k, elements.right
    start, count = elements.columns[part], elements.columns[part + 1] - elements.columns[part]
    if count == 0:
        for a in range(size):
            right[a] = y[a]
        for a in range(size):
            value = 0.0
            for b in range(size):
                value += k[first + a * size + b] * right[b]
            y[a] = value
        return
    starts, rows, places = elements.upper_starts, elements.upper_rows, elements.column_of
    upper, pivots = first - starts[start], first + starts[start + count] - starts[start]
    for c in range(count):
        a = places[start + c]
        right[c] = 0.0
        if a != NOBODY:
            right[c] = y[a]
        for j in range(starts[start + c], starts[start + c + 1]):
            right[c] -= k[upper + j] * right[rows[j]]
    for c in range(count):
        right[c] *= k[pivots + c]
    for c in range(count - 1, -1, -1):
        for j in range(starts[start + c], starts[start + c + 1]):
            right[rows[j]] -= k[upper + j] * right[c]
        if places[start + c] != NOBODY:
            y[places[start + c]] = right[c]


@machine_code
def stop_flow(code: Code, work: Workspace, elements: Elements, x: Vector, part: int, e: int,
              flow: float) -> None:
    """Bring the flow of an element that sticks now to zero, those of others that stick kept."""
    find_column(elements, part, place_of(elements, part, e))
    for a in range(size_of(elements, part)):
        elements.column[a] *= flow
    push_part(code, work, elements, x, part)


@machine_code
def stop_drift(code: Code, work: Workspace, elements: Elements, x: Vector, part: int) -> bool:
    """Bring to zero what the error of steps has made of the flows of those that stick; whether any
    was not. What is let go would be off by that, and may be beyond the end of what comes."""
    drifted, start = False, elements.starts[part]
    for a in range(size_of(elements, part)):
        e = elements.members[start + a]
        sticks = elements.modes[e] == 0.0 and elements.leader[e] != NOBODY
        elements.column[a] = elements.found[FLOW, e] if sticks else 0.0
        drifted |= elements.column[a] != 0.0
    if drifted:
        _solve(elements, part)
        push_part(code, work, elements, x, part)
    return drifted


@machine_code
def push_part(code: Code, work: Workspace, elements: Elements, x: Vector, part: int) -> None:
    """Change the states as impulses of the members of a part do, which stand in ``column``.

    What follows work, such as a temperature, does so at the mean of the flows before and after, as
    in :mod:`blocks.nonsmooth.modes.impacts`.
    """
    if elements.pushed != 0:
        for i in range(x.size):
            elements.before[i] = x[i]
        run_code(elements.pushed, work.at, x, code.p, code.q, elements.push)
        _push(elements, x, part, 0.5)
        run_code(elements.pushed, work.at, x, code.p, code.q, elements.push)
        for i in range(x.size):
            x[i] = elements.before[i]
    _push(elements, x, part, 1.0)


@machine_code
def _push(elements: Elements, x: Vector, part: int, share: float) -> None:
    """Change the states as a share of these impulses does, by the pushes that are known."""
    for a in range(size_of(elements, part)):
        e, impulse = elements.members[elements.starts[part] + a], share * elements.column[a]
        if impulse != 0.0:
            for j in range(elements.push_starts[e], elements.push_starts[e + 1]):
                x[elements.push_states[j]] += impulse * elements.push[j]


@machine_code
def _hold_last_state(flow_starts: Indices, flow_states: Indices, free: Vector, e: int) -> bool:
    """Hold the state of an element's flow that alone is free still; whether there is one."""
    count, last = 0, 0
    for j in range(flow_starts[e], flow_starts[e + 1]):
        if free[flow_states[j]] != 0.0:
            count += 1
            last = flow_states[j]
    if count == 1:
        free[last] = 0.0
    return count == 1


@machine_code
def hold_states(flow_starts: Indices, flow_states: Indices, free: Vector, modes: Vector,
                holds: Flags, members: Indices) -> None:
    """Hold the states of what sticks: alone, or from one element to the next."""
    again = True
    while again:
        again = False
        for k in range(members.size):
            e = members[k]
            if modes[e] == 0.0 and holds[e]:
                again |= _hold_last_state(flow_starts, flow_states, free, e)


@machine_code
def hold(code: Code, work: Workspace, elements: Elements, x: Vector, part: int) -> None:
    """K of a part, and the states that it holds, for its present modes."""
    if elements.columns[part + 1] > elements.columns[part]:
        run_code(elements.factors, work.at, x, code.p, code.q, elements.made)
        behind = elements.k.size - elements.made.size
        for j in range(elements.made.size):
            elements.k[behind + j] = elements.made[j]
    else:
        _invert(elements, part)
    members = elements.members[elements.starts[part] : elements.starts[part + 1]]
    for k in range(members.size):
        e = members[k]
        for j in range(elements.flow_starts[e], elements.flow_starts[e + 1]):
            elements.free[elements.flow_states[j]] = 1.0
    hold_states(elements.flow_starts, elements.flow_states, elements.free, elements.modes,
                elements.holds, members)


@machine_code
def _invert(elements: Elements, part: int) -> None:
    """K = D_SS^-1 of the members S that stick, by Cholesky's factors, and 0 elsewhere.

    A contact that a friction tells for takes half of the load.
    """
    start, size = elements.starts[part], size_of(elements, part)
    first, stuck, l, y = elements.first[part], elements.stuck, elements.factor, elements.column
    k = elements.held_first[part]
    count = 0
    for a in range(size):
        e = elements.members[start + a]
        if elements.modes[e] == 0.0 and elements.leader[e] != NOBODY and not is_told(elements, e):
            stuck[count] = a
            count += 1
    for j in range(size * size):
        elements.k[k + j] = 0.0
    for a in range(count):
        for b in range(a + 1):
            value = elements.d[first + stuck[a] * size + stuck[b]]
            for c in range(b):
                value -= l[a, c] * l[b, c]
            l[a, b] = np.sqrt(value) if a == b else value / l[b, b]
    for column in range(count):
        for a in range(count):
            value = 1.0 if a == column else 0.0
            for c in range(a):
                value -= l[a, c] * y[c]
            y[a] = value / l[a, a]
        for a in range(count - 1, -1, -1):
            for c in range(a + 1, count):
                y[a] -= l[c, a] * y[c]
            y[a] = y[a] / l[a, a]
            elements.k[k + stuck[a] * size + stuck[column]] = y[a]
    for a in range(size):
        e = elements.members[start + a]
        if is_told(elements, e):
            friction = place_of(elements, part, elements.told_by[e])
            ratio = _ratio(elements, part, a, friction)
            for b in range(size):
                half = 0.5 * elements.k[k + friction * size + b]
                elements.k[k + friction * size + b] = half
                elements.k[k + a * size + b] = half / ratio
