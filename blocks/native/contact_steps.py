"""Moreau-Jean steps in plain loops: smooth forces, contacts that can act, their efforts.

The arithmetic of :mod:`blocks.nonsmooth.timestepping.moreau_jean` for few acting elements, step
after step. Equations are the functions that it evaluates, given by address; efforts are sought by
the semismooth Newton method alone (:mod:`blocks.nonsmooth.complementarity.semismooth`) and taken
where their residual proves them. A step for which it finds none is left to Python.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

from ..nonsmooth.complementarity.semismooth import DIRECT, FAINT, POINTS
from ..nonsmooth.timestepping.moreau_jean import LOADED, NEWTON, REACH, SIMPLIFIED, THETA
from ..numerics.arrays import Flags, IndexMatrix, Indices, Matrix, Vector
from ..numerics.tolerances import PROXIMAL_POINT, STEP_CORRECTION, STEP_EXACT, UNIT_PIVOT
from .functions import machine_code
from .lu import factorize, solve
from .signatures import run_code

__all__ = ["CHANGED", "DIRECT", "FULL", "MOST", "NOT_SOLVED", "REACHED", "Bodies", "Kinds",
           "Problem", "Record", "Room", "act", "advance", "gaps"]

REACHED, CHANGED, FULL, NOT_SOLVED = range(4)  # why a call has ended
MOST = 60  # elements that act at once: more are solved for by sparse methods
INFINITE = float("inf")
FOUR_ROUNDINGS = 4 * 2.0**-52


class Bodies(NamedTuple):
    """The network without its set-valued laws: functions of (t, x, p, m, d).

    Attributes
    ----------
    slope, seen : what bodies do, and what contacts see of them
    slope_x, seen_x, push : nonzeros of derivatives: of slopes by states, column by column; of what
        is seen by states, row by row; of slopes by forces, column by column
    slope_starts, ... : where columns or rows begin among them, and the numbers of what they hold
    pushed : 1 for velocities, which forces change at once
    """

    slope: int
    slope_x: int
    seen: int
    seen_x: int
    push: int
    slope_starts: Indices
    slope_rows: Indices
    seen_starts: Indices
    seen_columns: Indices
    push_starts: Indices
    push_rows: Indices
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
    alone : whether instances act without a contact that presses
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


class Problem(NamedTuple):
    """Efforts x within low + L x and high + H x, rate b - D x, in equal units; and how it goes."""

    D: Matrix
    L: Matrix
    H: Matrix
    A: Matrix
    unit: Vector
    b: Vector
    low: Vector
    high: Vector
    floor: Vector
    top: Vector
    x: Vector
    new: Vector
    best: Vector
    rate: Vector
    down: Vector
    up: Vector
    right: Vector
    room: Vector
    ones: Vector
    group: Indices
    order: Indices
    pieces: IndexMatrix


class Room(NamedTuple):
    """Where a step is worked out.

    ``kind`` and ``row`` are those of the instances that act; what is of elements that act has
    their number: the ``element``, its ``flow`` before and at the end, its gap, bounds at no
    effort, impulse by effort and so on.
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
    seen_ahead: Vector
    seen_x: Vector
    push: Vector
    behind: Vector
    ahead: Vector
    kind: Indices
    row: Indices
    values: Vector
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
    by_effort: Matrix
    effort: Vector
    flow_x: Matrix
    pushes: Matrix
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
        for j in range(n):
            room.matrix[i, j] = 0.0
    for j in range(n):
        room.matrix[j, j] = 1.0
        for q in range(bodies.slope_starts[j], bodies.slope_starts[j + 1]):
            i = bodies.slope_rows[q]
            room.matrix[i, j] -= h * THETA * room.jacobian[q] * bodies.scale[j] / bodies.scale[i]
    factorize(room.matrix, room.ones, room.order)
    room.counts[1] += 1


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
            room.step[i] = room.end[i] - y[i] - h * (
                THETA * room.slope[i] + (1.0 - THETA) * room.start[i])
        solve(room.matrix, room.order, room.step, room.work)
        largest, size = 0.0, 0.0
        for i in range(n):
            if not isfinite(room.step[i]):
                return False
            room.end[i] -= room.step[i]
            largest = max(largest, abs(room.step[i]))
            size = max(size, abs(room.end[i]))
        if largest <= STEP_CORRECTION * (1.0 + size):
            return True
    return False


def _before(kinds: Kinds, room: Room, t: float, last: Vector, modes: Indices, count: int,
            elements: int) -> None:
    """Flows at the beginning, gaps, and bounds at no effort."""
    for i in range(elements):
        for j in range(elements):
            room.by_low[i, j], room.by_high[i, j] = 0.0, 0.0
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
                room.by_low[i, e + other], room.by_high[i, e + other] = by_low, by_high
            room.effort[i] = last[room.element[i]]
            room.gap[i] = 0.0
            if kinds.is_contact[room.element[i]]:
                room.gap[i] = room.behind[gap]
                gap += 1
        e += n


def _at_end(bodies: Bodies, kinds: Kinds, room: Room, t: float, count: int) -> None:
    """Flows at the end without efforts, and their derivatives by the velocities."""
    for i in range(room.end.size):
        room.x[i] = room.end[i] * bodies.scale[i]
    room.at[0] = t
    run_code(bodies.seen_x, room.at, room.x, bodies.p, bodies.m, bodies.d, room.seen_x)
    e = 0
    for a in range(count):
        k, row = room.kind[a], room.row[a]
        n = kinds.laws[k]
        at = _look(kinds, t, room.seen_ahead, k, row)
        first = kinds.first_seen[k] + row * kinds.seen[k]
        for j in range(n):
            kinds.table[at + kinds.seen[k] + j] = 0.0
        run_code(kinds.law[k], kinds.table[at:], room.values)
        for j in range(n):
            room.flow[e + j], room.restitution[e + j] = room.values[j], room.values[5 * n + j]
            for i in range(room.end.size):
                room.flow_x[e + j, i] = 0.0
            for s in range(kinds.seen[k]):
                by = room.values[6 * n + s * n + j] * kinds.seen_sign[first + s]
                c = kinds.seen_at[first + s]
                if by != 0.0:
                    for q in range(bodies.seen_starts[c], bodies.seen_starts[c + 1]):
                        i = bodies.seen_columns[q]
                        room.flow_x[e + j, i] += by * room.seen_x[q] * bodies.pushed[i]
        e += n


def _push(bodies: Bodies, kinds: Kinds, room: Room, t: float, y: Vector, h: float, part: float,
          count: int) -> None:
    """What efforts do to the end of a step, in their directions in a part of it."""
    size = y.size
    for i in range(size):
        room.step[i] = y[i] + part * (room.end[i] - y[i])
    _see(bodies, room, t + part * h, room.step, room.seen)
    run_code(bodies.push, room.at, room.x, bodies.p, bodies.m, bodies.d, room.push)
    e = 0
    for a in range(count):
        k, row = room.kind[a], room.row[a]
        n, c = kinds.laws[k], kinds.forces[k]
        at, first = _look(kinds, t + part * h, room.seen, k, row), kinds.first_force[k] + row * c
        for j in range(n):
            kinds.table[at + kinds.seen[k] + j] = 0.0
        run_code(kinds.law[k], kinds.table[at:], room.values)
        forces = (6 + kinds.seen[k] + 4 * n) * n
        for j in range(n):
            for i in range(size):
                room.pushes[e + j, i] = 0.0
            for f in range(c):
                by = room.values[forces + j * c + f] * kinds.force_sign[first + f]
                column = kinds.force_at[first + f]
                if by != 0.0:
                    for q in range(bodies.push_starts[column], bodies.push_starts[column + 1]):
                        i = bodies.push_rows[q]
                        room.pushes[e + j, i] += by * room.push[q] / bodies.scale[i]
            solve(room.matrix, room.order, room.pushes[e + j], room.work)
        e += n
    for i in range(e):
        for j in range(e):
            value = 0.0
            for s in range(size):
                value -= room.flow_x[i, s] * bodies.scale[s] * room.pushes[j, s]
            room.by_effort[i, j] = h * value


# -- efforts --------------------------------------------------------------------------------
def _pose(problem: Problem, room: Room, n: int) -> None:
    """The problem of the elements that act, in equal units."""
    for i in range(n):
        size = room.by_effort[i, i]
        problem.unit[i] = 1.0 / sqrt(size) if size > 0.0 else 1.0
    for i in range(n):
        d = problem.unit[i]
        problem.b[i] = d * (room.flow[i] + room.rebound[i])
        problem.group[i] = i
        for j in range(n):
            problem.D[i, j] = d * room.by_effort[i, j] * problem.unit[j]
            problem.L[i, j] = room.by_low[i, j] / d * problem.unit[j]
            problem.H[i, j] = room.by_high[i, j] / d * problem.unit[j]
    changed = True
    while changed:
        changed = False
        for i in range(n):
            for j in range(n):
                if (problem.group[j] > problem.group[i]) and (
                        problem.D[i, j] != 0.0 or problem.L[i, j] != 0.0
                        or problem.H[i, j] != 0.0 or problem.D[j, i] != 0.0
                        or problem.L[j, i] != 0.0 or problem.H[j, i] != 0.0):
                    problem.group[j] = problem.group[i]
                    changed = True


def _bound(problem: Problem, room: Room, kinds: Kinds, n: int) -> None:
    """Its bounds at no effort, and a start within them."""
    for i in range(n):
        low, high = room.low[i], room.high[i]
        if kinds.is_contact[room.element[i]]:
            low, high = 0.0, INFINITE if room.closed[i] or room.apart[i] else 0.0
        problem.low[i], problem.high[i] = low / problem.unit[i], high / problem.unit[i]
    for i in range(n):
        problem.floor[i] = 0.0
        for j in range(n):
            low, high = abs(problem.low[j]), abs(problem.high[j])
            size = max(low if isfinite(low) else 0.0, high if isfinite(high) else 0.0)
            problem.floor[i] += FOUR_ROUNDINGS * abs(problem.D[i, j]) * size
        problem.new[i] = room.effort[i] / problem.unit[i]
    _at(problem, problem.new, n)
    for i in range(n):
        problem.x[i] = min(max(problem.new[i], problem.down[i]), problem.up[i])


def _at(problem: Problem, x: Vector, n: int) -> None:
    """Rates and bounds at efforts."""
    for i in range(n):
        rate, low, high = problem.b[i], problem.low[i], problem.high[i]
        for j in range(n):
            rate -= problem.D[i, j] * x[j]
            low += problem.L[i, j] * x[j]
            high += problem.H[i, j] * x[j]
        problem.rate[i], problem.down[i], problem.up[i] = rate, low, max(high, low)


def _residual(problem: Problem, x: Vector, n: int) -> float:
    """The largest natural residual, in units of the largest rate of each connected part."""
    _at(problem, x, n)
    largest, worst = 0.0, 0.0
    for i in range(n):
        problem.top[i] = 0.0
    for i in range(n):
        size = max(abs(problem.b[i]), abs(problem.b[i] - problem.rate[i]))
        g = problem.group[i]
        problem.top[g] = max(problem.top[g], size)
        largest = max(largest, size)
    for i in range(n):
        natural = abs(x[i] - min(max(x[i] + problem.rate[i], problem.down[i]), problem.up[i]))
        unit = max(problem.top[problem.group[i]], FAINT * largest) + problem.floor[i] / STEP_EXACT
        if not natural <= worst * unit:
            worst = natural / unit if unit > 0.0 else INFINITE
    return worst


def _piece(problem: Problem, x: Vector, i: int) -> int:
    """Whether the natural map holds an element at a bound (-1, 1) or inside (0)."""
    z = x[i] + problem.rate[i]
    return 1 if z > problem.up[i] else (-1 if z < problem.down[i] else 0)


def _newton(problem: Problem, tried: int, n: int) -> bool:
    """The point where the present pieces of the natural map are zero, near ``x``."""
    weight, regular = 0.0, False
    while not regular:
        for i in range(n):
            piece = problem.pieces[tried, i]
            problem.right[i] = problem.low[i] if piece < 0 else problem.high[i]
            if piece == 0:
                problem.right[i] = problem.b[i] + weight * problem.x[i]
            for j in range(n):
                if piece == 0:
                    problem.A[i, j] = problem.D[i, j]
                else:
                    problem.A[i, j] = -problem.L[i, j] if piece < 0 else -problem.H[i, j]
            problem.A[i, i] += weight if piece == 0 else 1.0
        factorize(problem.A, problem.ones[:n], problem.order)
        least = 1.0
        for i in range(n):
            pivot = abs(problem.A[i, i])
            least = min(least, pivot) if isfinite(pivot) else 0.0
        regular = least > UNIT_PIVOT
        if not regular:
            if weight > 0.0:
                return False
            weight = PROXIMAL_POINT
    solve(problem.A, problem.order, problem.right[:n], problem.room)
    for i in range(n):
        problem.new[i] = problem.right[i]
    if weight > 0.0:
        for i in range(n):
            problem.best[i] = problem.x[i]  # the point before
        for _ in range(POINTS):
            for i in range(n):
                problem.right[i] = 0.0
                if problem.pieces[tried, i] == 0:
                    problem.right[i] = weight * (problem.new[i] - problem.best[i])
                problem.best[i] = problem.new[i]
            solve(problem.A, problem.order, problem.right[:n], problem.room)
            for i in range(n):
                problem.new[i] += problem.right[i]
    finite = True
    for i in range(n):
        finite &= isfinite(problem.new[i])
    return finite


def _solved(problem: Problem, n: int) -> bool:
    """Efforts ``x`` that the residual proves, by Newton's method until its pieces repeat."""
    if _residual(problem, problem.x, n) <= STEP_EXACT:
        return True
    for tried in range(DIRECT):
        for i in range(n):
            problem.pieces[tried, i] = _piece(problem, problem.x, i)
        for k in range(tried):
            i = 0
            while i < n and problem.pieces[k, i] == problem.pieces[tried, i]:
                i += 1
            if i == n:
                return False
        if not _newton(problem, tried, n):
            return False
        for i in range(n):
            problem.x[i] = problem.new[i]
        if _residual(problem, problem.x, n) <= STEP_EXACT:
            return True
    return False


def _efforts(kinds: Kinds, problem: Problem, room: Room, h: float, n: int) -> bool:
    """Efforts over the step, flows at its end and modes; whether they are proved."""
    for i in range(n):
        contact, before = kinds.is_contact[room.element[i]], room.flow_before[i]
        room.closed[i] = contact and room.gap[i] - 0.5 * h * max(before, room.flow[i]) <= 0.0
        room.apart[i] = contact and not room.closed[i] and room.restitution[i] == 0.0
        room.rebound[i] = -max(2.0 * room.gap[i] / h - before, 0.0) if room.apart[i] else 0.0
        if room.closed[i]:
            room.rebound[i] += room.restitution[i] * max(before, 0.0)
    _pose(problem, room, n)
    for _ in range(LOADED):
        _bound(problem, room, kinds, n)
        if not _solved(problem, n):
            return False
        pushed = False
        for i in range(n):
            piece = _piece(problem, problem.x, i)
            if problem.down[i] == problem.up[i] and problem.rate[i] == 0.0:
                piece = 0
            room.modes[i] = piece
            room.effort[i] = problem.x[i] * problem.unit[i]
            rate = 0.0 if piece == 0 else problem.rate[i] / problem.unit[i]
            if kinds.is_contact[room.element[i]]:
                if not room.closed[i] and not room.apart[i]:
                    flow = rate - room.rebound[i]
                    if flow > 0.0 and room.gap[i] - 0.5 * h * max(room.flow_before[i], flow) <= 0.0:
                        room.closed[i] = True
                        pushed = True  # together, by others that are closed
                        size = room.restitution[i] * max(room.flow_before[i], 0.0)
                        room.rebound[i] = size
                        problem.b[i] = problem.unit[i] * (room.flow[i] + size)
                shut = room.closed[i] or room.apart[i]
                room.modes[i] = 0 if shut and room.effort[i] > 0.0 else -1
            elif piece != 0:
                flow = rate - room.rebound[i]
                room.modes[i] = 1 if flow > 0.0 else (-1 if flow < 0.0 else 0)
        if not pushed:
            return True
    return False


def _contacts(bodies: Bodies, kinds: Kinds, problem: Problem, room: Room, t: float, y: Vector,
              h: float, last: Vector, modes: Indices, efforts: Vector) -> bool:
    """Add the efforts of the elements that can act to the end of the step; whether it could."""
    _see(bodies, room, t + h, room.end, room.seen_ahead)
    gaps(kinds, t + h, room.seen_ahead, room.ahead)
    _see(bodies, room, t, y, room.seen)
    gaps(kinds, t, room.seen, room.behind)
    count, n = act(kinds, room.behind, room.ahead, room.kind, room.row), 0
    for a in range(count):
        n += kinds.laws[room.kind[a]]
    if n > MOST:
        return False
    _before(kinds, room, t, last, modes, count, n)
    _at_end(bodies, kinds, room, t + h, count)
    _push(bodies, kinds, room, t, y, h, 0.5, count)
    if not _efforts(kinds, problem, room, h, n):
        return False
    for e in range(efforts.size):
        efforts[e] = 0.0
        if kinds.is_contact[e]:
            modes[e] = -1
    for i in range(n):
        efforts[room.element[i]] = room.effort[i]
        modes[room.element[i]] = room.modes[i]
        for s in range(y.size):
            room.end[s] += h * room.pushes[i, s] * room.effort[i]
    return True


@machine_code
def advance(bodies: Bodies, kinds: Kinds, problem: Problem, room: Room, record: Record, t: float,
            step: float, t_stop: float, y: Vector, last: Vector, modes: Indices, begun: Indices
            ) -> tuple[int, int]:
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
        if not _smooth(bodies, room, t, y, h):
            return NOT_SOLVED, taken
        if not _contacts(bodies, kinds, problem, room, t, y, h, last, modes, record.efforts[taken]):
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
