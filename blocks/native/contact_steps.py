"""Moreau-Jean steps in plain loops: smooth forces, elements that can act, their efforts.

Smooth forces by the theta rule with theta = 1/2; efforts of friction and contact act over the whole
step, in the directions that they have in its middle, such that the flows at its end obey the laws
[Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257]. Equations are functions that are
given by address. What efforts do is led through smooth forces as far as it is felt, and so the
matrix of the elements that act is sparse. Where no efforts are found the step is halved; where none
are at all, efforts are accepted that are nearly right.
"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..nonsmooth.complementarity.decide import proved
from ..nonsmooth.complementarity.problem import FEW, INFINITE, Problem, connect, piece, pose
from ..nonsmooth.complementarity.sparse_lu import Factors
from ..numerics.arrays import Indices, Vector
from ..numerics.tolerances import IMPACT_REPEATED, SETTLED, STEP_RESIDUAL
from .contact_matrix import act, assemble, at_end, at_start, gaps, link, push
from .free_steps import NOT_CONVERGED, NOT_FINITE, SINGULAR, SMOOTH, smooth, values_of
from .step_records import Bodies, Kinds, Record, Room

__all__ = ["CHANGED", "NOT_CONVERGED", "NOT_FINITE", "NO_EFFORTS", "NO_ROOM", "SINGULAR",
           "UNSETTLED", "advance"]

TAKEN = SMOOTH
NO_EFFORTS, UNSETTLED, NO_ROOM, CHANGED, FULL, REACHED = range(NOT_CONVERGED + 1, NOT_CONVERGED + 7)
HALVED = 4  # how often a step is halved for which no efforts are found
LOADED = 25  # repetitions for bounds that are no affine functions of efforts


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
    """Flow of an effort's element at the end of the step."""
    rate = 0.0 if _holds(problem, i) == 0 else problem.rate[i] / problem.unit[i]
    return rate - room.rebound[i]


def _decide(kinds: Kinds, problem: Problem, room: Room, modes: Indices, n: int) -> None:
    """Modes at the end; what is less than a solution tells leaves them as they are."""
    exact = SETTLED if n <= FEW else STEP_RESIDUAL
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
             modes: Indices, count: int, loose: bool) -> int:
    """Efforts over the step, flows at its end and modes, where efforts are proved."""
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
    pushed, found, change, largest = False, False, 0.0, 0.0
    for _ in range(LOADED):
        _bound(problem, room, kinds, count)
        connect(problem, n)
        found = proved(problem, factors, n, loose)
        if not found and not bent:  # bounds that bend may cross where these efforts are not
            return NO_EFFORTS
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
        if found and not pushed and (not bent or change <= SETTLED * largest):
            _decide(kinds, problem, room, modes, n)
            return TAKEN
        if bent:  # bounds at the efforts that were found
            for i in range(n):
                room.last[room.element[i]] = room.effort[i]
            at_start(kinds, room, t, room.last, modes, count)
    if pushed or not change <= IMPACT_REPEATED * largest:
        return UNSETTLED
    if not found:
        return NO_EFFORTS
    _decide(kinds, problem, room, modes, n)
    return TAKEN


def _contacts(bodies: Bodies, kinds: Kinds, problem: Problem, factors: Factors, room: Room,
              t: float, y: Vector, h: float, last: Vector, modes: Indices, efforts: Vector,
              loose: bool) -> int:
    """Add the efforts of the elements that can act to the end of the step; why it could not."""
    values_of(bodies, room, bodies.seen, t + h, room.end, room.seen_ahead)
    gaps(kinds, t + h, room.seen_ahead, room.ahead)
    values_of(bodies, room, bodies.seen, t, y, room.seen)
    gaps(kinds, t, room.seen, room.behind)
    count, n = act(kinds, room.behind, room.ahead, room.kind, room.row), 0
    for a in range(count):
        n += kinds.laws[room.kind[a]]
    if n > room.element.size:
        return NO_ROOM
    at_start(kinds, room, t, last, modes, count)
    if not at_end(bodies, kinds, room, t + h, count):
        return NO_ROOM
    part, result = 0.5, NO_EFFORTS
    while result != TAKEN:
        if not (push(bodies, kinds, room, t, y, h, part, count)
                and link(room, factors, y.size, count) and assemble(problem, room, h, count)):
            return NO_ROOM
        result = _efforts(kinds, problem, factors, room, t, h, modes, count, loose)
        if result != TAKEN and part == 1.0:
            return result
        if result != TAKEN:
            part = 1.0  # crowds may have forces in symmetric directions only
            at_start(kinds, room, t, last, modes, count)
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
            record: Record, when: Vector, most: Indices, y: Vector, last: Vector, modes: Indices,
            begun: Indices) -> tuple[int, int]:
    """Steps until a mode changes, the time is reached or there are as many as asked for.

    ``when`` is present time, step, and the time to stop at, ``most`` how many steps; ``y``,
    ``last`` and ``modes`` are states, efforts of the step before and modes of all elements, gone on
    with; ``begun`` are modes that end with a call. Returns why it ends, and how many there are.
    """
    t, step, t_stop, taken = when[0], when[1], when[2], 0
    while taken < most[0]:
        whole = step if t + 1.000001 * step < t_stop else t_stop - t
        h, result, tries, again = whole, NO_EFFORTS, 0, True
        while again and tries <= 2 * HALVED + 1:
            result = smooth(bodies, room, t, y, h)
            if result == SMOOTH:
                result = _contacts(bodies, kinds, problem, factors, room, t, y, h, last, modes,
                                   record.efforts[taken], tries > HALVED)
            again = NO_EFFORTS <= result <= UNSETTLED
            if again:  # others are needed for a shorter step, or none are better
                h = whole if tries == HALVED else 0.5 * h
                tries += 1
        if result != TAKEN:
            return result, taken
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
