"""Moreau-Jean steps in plain loops: smooth forces, elements that can act, their efforts.

The arithmetic of :mod:`blocks.nonsmooth.timestepping.moreau_jean`, step after step. Equations are
the functions that it evaluates, given by address. States that act on each other without set-valued
laws are a block: what efforts do is worked out block by block, and so is the matrix of the elements
that act. A step for which no efforts are found (:mod:`blocks.native.step_efforts`) is left to
Python.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from ..nonsmooth.timestepping.moreau_jean import (
    FEW,
    HALVED,
    LOADED,
    NEWTON,
    REACH,
    SIMPLIFIED,
    THETA,
)
from ..numerics.arrays import Flags, Indices, Matrix, Vector
from ..numerics.tolerances import NO_CHANGE, STEP_CORRECTION, STEP_EXACT, STEP_RESIDUAL
from .functions import machine_code
from .lu import factorize, solve
from .signatures import run_code
from .sparse_lu import Factors, analyse
from .step_efforts import proved
from .step_problem import INFINITE, Problem, connect, piece, pose

__all__ = ["CHANGED", "FULL", "NOT_SOLVED", "REACHED", "Bodies", "Kinds", "Record", "Room", "act",
           "advance", "gaps"]

REACHED, CHANGED, FULL, NOT_SOLVED = range(4)  # why a call has ended
TAKEN, NO_EFFORTS, NO_ROOM = range(3)  # what has become of a step


class Bodies(NamedTuple):
    """The network without its set-valued laws: functions of (t, x, p, m, d).

    Attributes
    ----------
    slope, seen : what bodies do, and what contacts see of them
    slope_x, seen_x, slope_w : nonzeros of derivatives: of slopes by states, column by column; of
        what is seen by states, row by row; of slopes by inputs, column by column
    slope_starts, ... : where columns or rows begin among them, and the numbers of what they hold
    input_starts, inputs, input_signs : per force that contacts compute, the inputs it adds to
    block, block_starts, block_states, row : per state, its block; the states of blocks, and per
        state where it stands among these
    pushed : 1 for velocities, which forces change at once
    """

    slope: int
    slope_x: int
    seen: int
    seen_x: int
    slope_w: int
    slope_starts: Indices
    slope_rows: Indices
    seen_starts: Indices
    seen_columns: Indices
    slope_w_starts: Indices
    slope_w_rows: Indices
    input_starts: Indices
    inputs: Indices
    input_signs: Vector
    block: Indices
    block_starts: Indices
    block_states: Indices
    row: Indices
    pushed: Vector
    scale: Vector
    p: Vector
    m: Vector
    d: Vector


class Kinds(NamedTuple):
    """Components with set-valued laws, kind by kind; what is of instances stands end to end.

    Attributes
    ----------
    gap, law : functions of a row of the table of arguments: gaps, and all else
    number, seen, laws, contacts, forces, width, results : per kind, how many instances it has, what
        an instance sees, its laws, those with a gap, forces, arguments, and values of ``law``
    alone, bent : whether instances act without a contact that presses, and whether bounds are no
        affine functions of efforts
    seen_at, seen_sign, force_at, force_sign, element : of instances
    first_seen, first_force, first_element, first_argument, first_gap : where a kind's begin
    is_contact : of elements
    table : arguments of all instances
    """

    gap: Indices
    law: Indices
    number: Indices
    seen: Indices
    laws: Indices
    contacts: Indices
    forces: Indices
    width: Indices
    results: Indices
    alone: Indices
    bent: Indices
    seen_at: Indices
    seen_sign: Vector
    force_at: Indices
    force_sign: Vector
    element: Indices
    first_seen: Indices
    first_force: Indices
    first_element: Indices
    first_argument: Indices
    first_gap: Indices
    is_contact: Flags
    table: Vector


class Room(NamedTuple):
    """Where a step is worked out.

    ``kind`` and ``row`` are those of the instances that act, ``first`` is the first element of
    each, ``flow_states`` and ``pushed_states`` are the velocities that its flows depend on and the
    states that it acts on, with values law by law; ``columns`` say who acts on a state. What is of
    elements that act has their number: the ``element``, its ``flow`` before and at the end, its
    gap, bounds at no effort and so on. ``ordered`` are the instances of the last order of
    elimination.
    """

    at: Vector
    x: Vector
    end: Vector
    start: Vector
    slope: Vector
    step: Vector
    work: Vector
    ones: Vector
    order: Indices
    jacobian: Vector
    matrix: Matrix
    seen: Vector
    seen_between: Vector
    seen_ahead: Vector
    seen_x: Vector
    slope_w: Vector
    behind: Vector
    ahead: Vector
    kind: Indices
    row: Indices
    values: Vector
    first: Indices
    flow_starts: Indices
    flow_states: Indices
    flow_values: Matrix
    push_starts: Indices
    pushed_states: Indices
    push_values: Matrix
    slot: Indices
    column_starts: Indices
    columns: Indices
    entries: Indices
    offset: Indices
    ordered: Indices
    element: Indices
    flow_before: Vector
    flow: Vector
    gap: Vector
    restitution: Vector
    rebound: Vector
    low: Vector
    high: Vector
    by_low: Matrix
    by_high: Matrix
    effort: Vector
    last: Vector
    closed: Flags
    apart: Flags
    modes: Indices
    counts: Indices


class Record(NamedTuple):
    """Ends of steps, and efforts of all elements over them."""

    ends: Vector
    rows: Matrix
    efforts: Matrix


def _see(bodies: Bodies, room: Room, t: float, y: Vector, seen: Vector) -> None:
    """What contacts see at a point."""
    for i in range(y.size):
        room.x[i] = y[i] * bodies.scale[i]
    room.at[0] = t
    run_code(bodies.seen, room.at, room.x, bodies.p, bodies.m, bodies.d, seen)


def _look(kinds: Kinds, t: float, seen: Vector, k: int, i: int) -> int:
    """Arguments of an instance at a point, and where they begin."""
    n, at = kinds.seen[k], kinds.first_argument[k] + i * kinds.width[k]
    first = kinds.first_seen[k] + i * n
    for j in range(n):
        kinds.table[at + j] = seen[kinds.seen_at[first + j]] * kinds.seen_sign[first + j]
    kinds.table[at + n + kinds.laws[k]] = t
    return at


@machine_code
def gaps(kinds: Kinds, t: float, seen: Vector, found: Vector) -> None:
    """Gaps of all instances."""
    at = 0
    for k in range(kinds.number.size):
        if kinds.contacts[k] > 0:
            for i in range(kinds.number[k]):
                run_code(kinds.gap[k], kinds.table[_look(kinds, t, seen, k, i):], found[at:])
                at += kinds.contacts[k]


@machine_code
def act(kinds: Kinds, behind: Vector, ahead: Vector, kind: Indices, row: Indices) -> int:
    """Which instances can have an effort in a step; their number."""
    largest = 0.0
    for j in range(behind.size):
        largest = max(largest, behind[j] - ahead[j])
    reach = REACH * largest
    number = 0
    for k in range(kinds.number.size):
        contacts = kinds.contacts[k]
        for i in range(kinds.number[k]):
            near, first = kinds.alone[k] > 0, kinds.first_gap[k] + i * contacts
            for j in range(contacts):
                near |= behind[first + j] <= reach
            if near:
                kind[number] = k
                row[number] = i
                number += 1
    return number


def _slope(bodies: Bodies, room: Room, t: float, y: Vector, out: Vector) -> None:
    for i in range(y.size):
        room.x[i] = y[i] * bodies.scale[i]
    room.at[0] = t
    run_code(bodies.slope, room.at, room.x, bodies.p, bodies.m, bodies.d, out)
    for i in range(y.size):
        out[i] = out[i] / bodies.scale[i]
    room.counts[0] += 1


def _factorise(bodies: Bodies, room: Room, t: float, h: float) -> None:
    """Factors of 1 - h theta J at the end."""
    n = room.end.size
    for i in range(n):
        room.x[i] = room.end[i] * bodies.scale[i]
    room.at[0] = t + h
    run_code(bodies.slope_x, room.at, room.x, bodies.p, bodies.m, bodies.d, room.jacobian)
    for i in range(n):
        for j in range(room.matrix.shape[1]):
            room.matrix[i, j] = 0.0
    for j in range(n):
        first = bodies.block_starts[bodies.block[j]]
        room.matrix[bodies.row[j], bodies.row[j] - first] = 1.0
        for q in range(bodies.slope_starts[j], bodies.slope_starts[j + 1]):
            i = bodies.slope_rows[q]
            room.matrix[bodies.row[i], bodies.row[j] - first] -= (
                h * THETA * room.jacobian[q] * bodies.scale[j] / bodies.scale[i])
    for k in range(bodies.block_starts.size - 1):
        first, last = bodies.block_starts[k], bodies.block_starts[k + 1]
        factorize(room.matrix[first:last], room.ones[first:last], room.order[first:last])
    room.counts[1] += 1


def _solve_block(bodies: Bodies, room: Room, k: int, right: Vector) -> None:
    """Solve for the states of a block; the solution takes the place of the right side."""
    first, last = bodies.block_starts[k], bodies.block_starts[k + 1]
    solve(room.matrix[first:last], room.order[first:last], right, room.work)


def _smooth(bodies: Bodies, room: Room, t: float, y: Vector, h: float) -> bool:
    """End of the step without set-valued efforts; whether Newton's method has found it."""
    n = y.size
    _slope(bodies, room, t, y, room.start)
    for i in range(n):
        room.end[i] = y[i] + h * room.start[i]
    for iteration in range(NEWTON):
        if iteration == 0 or iteration >= SIMPLIFIED:
            _factorise(bodies, room, t, h)
        _slope(bodies, room, t + h, room.end, room.slope)
        for i in range(n):
            room.step[bodies.row[i]] = room.end[i] - y[i] - h * (
                THETA * room.slope[i] + (1.0 - THETA) * room.start[i])
        for k in range(bodies.block_starts.size - 1):
            _solve_block(bodies, room, k,
                         room.step[bodies.block_starts[k] : bodies.block_starts[k + 1]])
        largest, size = 0.0, 0.0
        for i in range(n):
            step = room.step[bodies.row[i]]
            if not isfinite(step):
                return False
            room.end[i] -= step
            largest = max(largest, abs(step))
            size = max(size, abs(room.end[i]))
        if largest <= STEP_CORRECTION * (1.0 + size):
            return True
    return False


def _before(kinds: Kinds, room: Room, t: float, last: Vector, modes: Indices, count: int) -> None:
    """Flows at the beginning, gaps, and bounds at no effort."""
    e = 0
    for a in range(count):
        k, row = room.kind[a], room.row[a]
        n = kinds.laws[k]
        at, first = _look(kinds, t, room.seen, k, row), kinds.first_element[k] + row * n
        for j in range(n):
            kinds.table[at + kinds.seen[k] + j] = last[kinds.element[first + j]]
        run_code(kinds.law[k], kinds.table[at:], room.values)
        slopes, gap = (6 + kinds.seen[k]) * n, kinds.first_gap[k] + row * kinds.contacts[k]
        for j in range(n):
            i = e + j
            room.element[i] = kinds.element[first + j]
            room.flow_before[i] = room.values[j]
            stuck = modes[room.element[i]] == 0
            below, above = 0 if stuck else 2, 1 if stuck else 3
            room.low[i] = room.values[n + below * n + j]
            room.high[i] = room.values[n + above * n + j]
            for other in range(n):
                own = kinds.table[at + kinds.seen[k] + other]
                by_low = room.values[slopes + (4 * other + below) * n + j]
                by_high = room.values[slopes + (4 * other + above) * n + j]
                room.low[i] -= by_low * own
                room.high[i] -= by_high * own
                room.by_low[i, other], room.by_high[i, other] = by_low, by_high
            room.effort[i] = last[room.element[i]]
            room.gap[i] = 0.0
            if kinds.is_contact[room.element[i]]:
                room.gap[i] = room.behind[gap]
                gap += 1
        room.first[a] = e
        e += n
    room.first[count] = e


def _at_end(bodies: Bodies, kinds: Kinds, room: Room, t: float, count: int) -> bool:
    """Flows at the end without efforts, and their derivatives by the velocities."""
    for i in range(room.end.size):
        room.x[i] = room.end[i] * bodies.scale[i]
    room.at[0] = t
    run_code(bodies.seen_x, room.at, room.x, bodies.p, bodies.m, bodies.d, room.seen_x)
    filled = 0
    for a in range(count):
        k, row, e = room.kind[a], room.row[a], room.first[a]
        n = kinds.laws[k]
        at = _look(kinds, t, room.seen_ahead, k, row)
        first = kinds.first_seen[k] + row * kinds.seen[k]
        for j in range(n):
            kinds.table[at + kinds.seen[k] + j] = 0.0
        run_code(kinds.law[k], kinds.table[at:], room.values)
        room.flow_starts[a] = filled
        for s in range(kinds.seen[k]):
            c = kinds.seen_at[first + s]
            if filled + bodies.seen_starts[c + 1] - bodies.seen_starts[c] > room.flow_states.size:
                return False
            for q in range(bodies.seen_starts[c], bodies.seen_starts[c + 1]):
                i = bodies.seen_columns[q]
                if bodies.pushed[i] > 0.0:
                    if room.slot[i] < 0:
                        room.slot[i], room.flow_states[filled] = filled, i
                        for j in range(n):
                            room.flow_values[j, filled] = 0.0
                        filled += 1
                    by = room.seen_x[q] * kinds.seen_sign[first + s] * bodies.scale[i]
                    for j in range(n):
                        room.flow_values[j, room.slot[i]] += by * room.values[6 * n + s * n + j]
        for q in range(room.flow_starts[a], filled):
            room.slot[room.flow_states[q]] = -1
        for j in range(n):
            room.flow[e + j], room.restitution[e + j] = room.values[j], room.values[5 * n + j]
    room.flow_starts[count] = filled
    return True


def _push(bodies: Bodies, kinds: Kinds, room: Room, t: float, y: Vector, h: float, part: float,
          count: int) -> bool:
    """What efforts do to the end of a step, in their directions in a part of it."""
    for i in range(y.size):
        room.step[i] = y[i] + part * (room.end[i] - y[i])
    _see(bodies, room, t + part * h, room.step, room.seen_between)
    run_code(bodies.slope_w, room.at, room.x, bodies.p, bodies.m, bodies.d, room.slope_w)
    filled = 0
    for a in range(count):
        k, row = room.kind[a], room.row[a]
        n, c = kinds.laws[k], kinds.forces[k]
        at = _look(kinds, t + part * h, room.seen_between, k, row)
        first = kinds.first_force[k] + row * c
        for j in range(n):
            kinds.table[at + kinds.seen[k] + j] = 0.0
        run_code(kinds.law[k], kinds.table[at:], room.values)
        forces = (6 + kinds.seen[k] + 4 * n) * n
        room.push_starts[a] = filled
        for f in range(c):
            column = kinds.force_at[first + f]
            for z in range(bodies.input_starts[column], bodies.input_starts[column + 1]):
                w = bodies.inputs[z]
                sign = kinds.force_sign[first + f] * bodies.input_signs[z]
                for q in range(bodies.slope_w_starts[w], bodies.slope_w_starts[w + 1]):
                    i = bodies.slope_w_rows[q]
                    if room.slot[i] < 0:  # with all that its block holds
                        low = bodies.block_starts[bodies.block[i]]
                        high = bodies.block_starts[bodies.block[i] + 1]
                        if filled + high - low > room.pushed_states.size:
                            return False
                        for b in range(low, high):
                            room.slot[bodies.block_states[b]] = filled
                            room.pushed_states[filled] = bodies.block_states[b]
                            for j in range(n):
                                room.push_values[j, filled] = 0.0
                            filled += 1
                    by = sign * room.slope_w[q] / bodies.scale[i]
                    for j in range(n):
                        room.push_values[j, room.slot[i]] += by * room.values[forces + j * c + f]
        q = room.push_starts[a]
        while q < filled:
            b = bodies.block[room.pushed_states[q]]
            size = bodies.block_starts[b + 1] - bodies.block_starts[b]
            for j in range(n):
                _solve_block(bodies, room, b, room.push_values[j, q : q + size])
            q += size
        for q in range(room.push_starts[a], filled):
            room.slot[room.pushed_states[q]] = -1
    room.push_starts[count] = filled
    return True


def _link(room: Room, factors: Factors, size: int, count: int) -> None:
    """Which instances act on each other: one on a state that the flows of the other depend on."""
    starts, linked = room.column_starts, factors.linked
    for i in range(size + 1):
        starts[i] = 0
    for q in range(room.push_starts[count]):
        starts[room.pushed_states[q] + 1] += 1
    for i in range(size):
        starts[i + 1] += starts[i]
    for a in range(count):
        for q in range(room.push_starts[a], room.push_starts[a + 1]):
            i = room.pushed_states[q]
            room.columns[starts[i]], room.entries[starts[i]] = a, q
            starts[i] += 1
    for i in range(size, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = 0
    for q in range(count * count):
        linked[q] = False
    for a in range(count):
        linked[a * count + a] = True
        for q in range(room.flow_starts[a], room.flow_starts[a + 1]):
            i = room.flow_states[q]
            for z in range(starts[i], starts[i + 1]):
                b = room.columns[z]
                linked[a * count + b] = True
                linked[b * count + a] = True


def _matrix(problem: Problem, factors: Factors, room: Room, h: float, count: int) -> bool:
    """The flows' change by the efforts, in the pattern of what is linked; whether there is room."""
    filled = 0
    for a in range(count):
        wide, e = 0, room.first[a]
        n = room.first[a + 1] - e
        for b in range(count):
            if factors.linked[a * count + b]:
                room.offset[b] = wide
                wide += room.first[b + 1] - room.first[b]
        if filled + n * wide > problem.D.size:
            return False
        at = filled
        for b in range(count):
            if factors.linked[a * count + b]:
                for other in range(room.first[b], room.first[b + 1]):
                    problem.columns[at] = other
                    at += 1
        for j in range(n):
            problem.starts[e + j] = filled + j * wide
            for k in range(wide):
                at = filled + j * wide + k
                problem.columns[at] = problem.columns[filled + k]
                problem.D[at], problem.L[at], problem.H[at] = 0.0, 0.0, 0.0
        for q in range(room.flow_starts[a], room.flow_starts[a + 1]):
            i = room.flow_states[q]
            for z in range(room.column_starts[i], room.column_starts[i + 1]):
                b = room.columns[z]
                size, at = room.first[b + 1] - room.first[b], filled + room.offset[b]
                for j in range(n):
                    by = h * room.flow_values[j, q]
                    for k in range(size):
                        problem.D[at + j * wide + k] -= by * room.push_values[k, room.entries[z]]
        filled += n * wide
    problem.starts[room.first[count]] = filled
    return True


def _ordered(factors: Factors, room: Room, count: int) -> bool:
    """Have an order of elimination; whether there is room for what is filled in."""
    same = room.counts[2] == count
    for a in range(count):
        number = room.kind[a] * room.behind.size + room.row[a]
        same = same and room.ordered[a] == number
        room.ordered[a] = number
    if not same:
        room.counts[2] = count if analyse(factors, room.first, count) else -1
    return room.counts[2] == count


# -- efforts --------------------------------------------------------------------------------
def _bound(problem: Problem, room: Room, kinds: Kinds, count: int) -> None:
    """Bounds at no effort and by efforts, and where to start."""
    for a in range(count):
        for i in range(room.first[a], room.first[a + 1]):
            low, high, unit = room.low[i], room.high[i], problem.unit[i]
            if kinds.is_contact[room.element[i]]:
                low, high = 0.0, INFINITE if room.closed[i] or room.apart[i] else 0.0
            problem.low[i], problem.high[i] = low / unit, high / unit
            problem.new[i] = room.effort[i] / unit
            for q in range(problem.starts[i], problem.starts[i + 1]):
                other = problem.columns[q]
                if room.first[a] <= other < room.first[a + 1]:
                    k = other - room.first[a]
                    problem.L[q] = room.by_low[i, k] / unit * problem.unit[other]
                    problem.H[q] = room.by_high[i, k] / unit * problem.unit[other]


def _holds(problem: Problem, i: int) -> int:
    """At which bound an effort is (-1, 1), or inside (0)."""
    if problem.down[i] == problem.up[i] and problem.rate[i] == 0.0:
        return 0
    return piece(problem, problem.x, i)


def _flow(problem: Problem, room: Room, i: int) -> float:
    """At the end of the step."""
    rate = 0.0 if _holds(problem, i) == 0 else problem.rate[i] / problem.unit[i]
    return rate - room.rebound[i]


def _decide(kinds: Kinds, problem: Problem, room: Room, modes: Indices, n: int) -> None:
    """Modes at the end; what is less than a solution tells leaves them as they are."""
    exact = STEP_EXACT if n <= FEW else STEP_RESIDUAL
    fastest, largest = 0.0, 0.0
    for i in range(n):
        fastest, largest = max(fastest, abs(room.flow[i])), max(largest, abs(room.effort[i]))
    for i in range(n):
        flow, mode = _flow(problem, room, i), 0
        told = abs(flow) > exact * fastest
        if kinds.is_contact[room.element[i]]:
            shut = room.closed[i] or room.apart[i]
            mode = 0 if shut and room.effort[i] > 0.0 else -1
            told = told or not shut or room.effort[i] > exact * largest
        elif _holds(problem, i) == 0:
            told = True
        else:
            mode = 1 if flow > 0.0 else -1
        room.modes[i] = mode if told else modes[room.element[i]]


def _efforts(kinds: Kinds, problem: Problem, factors: Factors, room: Room, t: float, h: float,
             modes: Indices, count: int) -> bool:
    """Efforts over the step, flows at its end and modes; whether they are proved."""
    n, bent = room.first[count], False
    for a in range(count):
        bent |= kinds.bent[room.kind[a]] > 0
    for i in range(n):
        contact, before = kinds.is_contact[room.element[i]], room.flow_before[i]
        room.closed[i] = contact and room.gap[i] - 0.5 * h * max(before, room.flow[i]) <= 0.0
        room.apart[i] = contact and not room.closed[i] and room.restitution[i] == 0.0
        room.rebound[i] = -max(2.0 * room.gap[i] / h - before, 0.0) if room.apart[i] else 0.0
        if room.closed[i]:
            room.rebound[i] += room.restitution[i] * max(before, 0.0)
        problem.b[i] = room.flow[i] + room.rebound[i]
    pose(problem, n)
    for _ in range(LOADED):
        _bound(problem, room, kinds, count)
        connect(problem, n)
        if not proved(problem, factors, n):
            return False
        pushed, change, largest = False, 0.0, 0.0
        for i in range(n):
            effort = problem.x[i] * problem.unit[i]
            change, largest = max(change, abs(effort - room.effort[i])), max(largest, abs(effort))
            room.effort[i] = effort
            flow = _flow(problem, room, i)
            if (kinds.is_contact[room.element[i]] and not room.closed[i] and not room.apart[i]
                    and flow > 0.0
                    and room.gap[i] - 0.5 * h * max(room.flow_before[i], flow) <= 0.0):
                room.closed[i] = True
                pushed = True  # together, by others that are closed
                size = room.restitution[i] * max(room.flow_before[i], 0.0)
                room.rebound[i] = size
                problem.b[i] = problem.unit[i] * (room.flow[i] + size)
        if not pushed and (not bent or change <= NO_CHANGE * largest):
            _decide(kinds, problem, room, modes, n)
            return True
        if bent:  # bounds at the efforts that were found
            for i in range(n):
                room.last[room.element[i]] = room.effort[i]
            _before(kinds, room, t, room.last, modes, count)
    return False


def _contacts(bodies: Bodies, kinds: Kinds, problem: Problem, factors: Factors, room: Room,
              t: float, y: Vector, h: float, last: Vector, modes: Indices, efforts: Vector) -> int:
    """Add the efforts of the elements that can act to the end of the step; why it could not."""
    _see(bodies, room, t + h, room.end, room.seen_ahead)
    gaps(kinds, t + h, room.seen_ahead, room.ahead)
    _see(bodies, room, t, y, room.seen)
    gaps(kinds, t, room.seen, room.behind)
    count, n = act(kinds, room.behind, room.ahead, room.kind, room.row), 0
    for a in range(count):
        n += kinds.laws[room.kind[a]]
    if n > room.element.size:
        return NO_ROOM
    _before(kinds, room, t, last, modes, count)
    if not _at_end(bodies, kinds, room, t + h, count):
        return NO_ROOM
    part = 0.5
    while True:
        if not _push(bodies, kinds, room, t, y, h, part, count):
            return NO_ROOM
        _link(room, factors, y.size, count)
        if not (_matrix(problem, factors, room, h, count) and _ordered(factors, room, count)):
            return NO_ROOM
        if _efforts(kinds, problem, factors, room, t, h, modes, count):
            break
        if n <= FEW:  # for Python to tell whether there are any
            return NO_ROOM
        if part == 1.0:
            return NO_EFFORTS
        part = 1.0  # crowds may have forces in symmetric directions only
        _before(kinds, room, t, last, modes, count)
    for e in range(efforts.size):
        efforts[e] = 0.0
        if kinds.is_contact[e]:
            modes[e] = -1
    for a in range(count):
        for i in range(room.first[a], room.first[a + 1]):
            efforts[room.element[i]] = room.effort[i]
            modes[room.element[i]] = room.modes[i]
            by = h * room.effort[i]
            for q in range(room.push_starts[a], room.push_starts[a + 1]):
                room.end[room.pushed_states[q]] += by * room.push_values[i - room.first[a], q]
    return TAKEN


@machine_code
def advance(bodies: Bodies, kinds: Kinds, problem: Problem, factors: Factors, room: Room,
            record: Record, t: float, step: float, t_stop: float, y: Vector, last: Vector,
            modes: Indices, begun: Indices) -> tuple[int, int]:
    """Steps until a mode changes, the time is reached or the record is full.

    Parameters
    ----------
    y, last, modes : states, efforts of the step before and modes of all elements; gone on with
    begun : modes that end with a call

    Returns
    -------
    why it ends, and how many steps there are
    """
    taken = 0
    while taken < record.ends.size:
        h = step if t + 1.000001 * step < t_stop else t_stop - t
        result, halved = NO_EFFORTS, 0
        while result == NO_EFFORTS and halved <= HALVED:
            if not _smooth(bodies, room, t, y, h):
                return NOT_SOLVED, taken
            result = _contacts(bodies, kinds, problem, factors, room, t, y, h, last, modes,
                               record.efforts[taken])
            if result == NO_EFFORTS:  # others are needed for a shorter step
                h *= 0.5
                halved += 1
        if result != TAKEN:
            return NOT_SOLVED, taken
        t += h
        y[:] = room.end
        record.ends[taken] = t
        record.rows[taken] = y
        changed = False
        for e in range(last.size):
            changed |= modes[e] != begun[e]
        last[:] = record.efforts[taken]
        taken += 1
        if changed:
            return CHANGED, taken
        if t >= t_stop:
            return REACHED, taken
    return FULL, taken
