"""Elements that can act in a Moreau-Jean step, and what they do to each other, in plain loops.

Their matrix is sparse: two instances are linked where one acts on a state that the flows of the
other depend on.
"""

from __future__ import annotations

from ..machine.signatures import run_code
from ..nonsmooth.complementarity.problem import Problem
from ..nonsmooth.complementarity.sparse_lu import Factors, analyse
from ..numerics.arrays import Indices, Vector
from .free_steps import SERIES, solve_by_series, take_state, values_of
from .step_records import Bodies, Kinds, Room

__all__ = ["act", "assemble", "at_end", "at_start", "gaps", "link", "push"]

REACH = 2.0  # times the largest change of all gaps without contacts: one that may close


def _arguments(kinds: Kinds, t: float, seen: Vector, k: int, i: int) -> int:
    """Arguments of an instance at a point, and where they begin."""
    n, at = kinds.seen[k], kinds.first_argument[k] + i * kinds.width[k]
    first = kinds.first_seen[k] + i * n
    for j in range(n):
        kinds.table[at + j] = seen[kinds.seen_at[first + j]] * kinds.seen_sign[first + j]
    kinds.table[at + n + kinds.laws[k]] = t
    return at


def gaps(kinds: Kinds, t: float, seen: Vector, found: Vector) -> None:
    """Gaps of all instances."""
    at = 0
    for k in range(kinds.number.size):
        if kinds.contacts[k] > 0:
            for i in range(kinds.number[k]):
                run_code(kinds.gap[k], kinds.table[_arguments(kinds, t, seen, k, i):], found[at:])
                at += kinds.contacts[k]


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


def at_start(kinds: Kinds, room: Room, t: float, last: Vector, modes: Indices, count: int) -> None:
    """Flows at the beginning, gaps, and bounds at no effort."""
    e = 0
    for a in range(count):
        k, row = room.kind[a], room.row[a]
        n = kinds.laws[k]
        at, first = _arguments(kinds, t, room.seen, k, row), kinds.first_element[k] + row * n
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


def at_end(bodies: Bodies, kinds: Kinds, room: Room, t: float, count: int) -> bool:
    """Flows at the end without efforts, and their derivatives by the velocities."""
    values_of(bodies, room, bodies.seen_x, t, room.end, room.seen_x)
    filled = 0
    for a in range(count):
        k, row, e = room.kind[a], room.row[a], room.first[a]
        n = kinds.laws[k]
        at = _arguments(kinds, t, room.seen_ahead, k, row)
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


def push(bodies: Bodies, kinds: Kinds, room: Room, t: float, y: Vector, h: float, part: float,
          count: int) -> bool:
    """What efforts do to the end of a step, in their directions in a part of it."""
    for i in range(y.size):
        room.step[i] = y[i] + part * (room.end[i] - y[i])
    values_of(bodies, room, bodies.seen, t + part * h, room.step, room.seen_between)
    values_of(bodies, room, bodies.slope_w, t + part * h, room.step, room.slope_w)
    filled = 0
    for a in range(count):
        k, row = room.kind[a], room.row[a]
        n, c = kinds.laws[k], kinds.forces[k]
        at = _arguments(kinds, t + part * h, room.seen_between, k, row)
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
                    filled = take_state(room, i, filled, n)
                    if filled < 0:
                        return False
                    by = sign * room.slope_w[q] / bodies.scale[i]
                    for j in range(n):
                        room.push_values[j, room.slot[i]] += by * room.values[forces + j * c + f]
        filled = solve_by_series(bodies, room, h, a, filled, n)
        if filled < 0:
            return False
        for q in range(room.push_starts[a], filled):
            room.slot[room.pushed_states[q]] = -1
    room.push_starts[count] = filled
    return True


def _as_before(room: Room, count: int) -> bool:
    """Whether the same instances act as in the last step, and reach as many states."""
    same = room.counts[3] == count
    for a in range(count):
        number = (room.kind[a] * room.kind.size + room.row[a]) * (SERIES + 1) + room.terms[a]
        same = same and room.ordered[a] == number
        room.ordered[a] = number
    return same


def link(room: Room, factors: Factors, size: int, count: int) -> bool:
    """Who acts on whom: one on a state that the flows of the other depend on; whether there is room
    for that, and for what an elimination fills in.
    """
    if _as_before(room, count):
        return True
    room.counts[3] = -1
    starts, linked, filled = room.column_starts, room.linked, 0
    starts[: size + 1] = 0
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
    linked[: count * count] = False
    for a in range(count):
        linked[a * count + a] = True
        for q in range(room.flow_starts[a], room.flow_starts[a + 1]):
            i = room.flow_states[q]
            for z in range(starts[i], starts[i + 1]):
                b = room.columns[z]
                linked[a * count + b] = True
                linked[b * count + a] = True
    for a in range(count):
        room.neighbour_starts[a] = filled
        for b in range(count):
            if linked[a * count + b]:
                if filled == room.neighbours.size:
                    return False
                room.neighbours[filled] = b
                filled += 1
    room.neighbour_starts[count] = filled
    if not analyse(factors, room.neighbour_starts, room.neighbours, room.first, count):
        return False
    room.counts[3] = count
    return True


def assemble(problem: Problem, room: Room, h: float, count: int) -> bool:
    """The flows' change by the efforts, in the pattern of what is linked; whether there is room."""
    filled = 0
    for a in range(count):
        wide, e = 0, room.first[a]
        n = room.first[a + 1] - e
        for z in range(room.neighbour_starts[a], room.neighbour_starts[a + 1]):
            b = room.neighbours[z]
            room.offset[b] = wide
            wide += room.first[b + 1] - room.first[b]
        if filled + n * wide > problem.D.size:
            return False
        at = filled
        for z in range(room.neighbour_starts[a], room.neighbour_starts[a + 1]):
            b = room.neighbours[z]
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
