"""Moreau-Jean steps of bodies alone, in plain loops: smooth forces by the theta rule."""

from __future__ import annotations

from math import isfinite

from ..machine.signatures import run_code
from ..numerics.arrays import Vector
from ..numerics.tolerances import CANCELLATION, SETTLED
from .front_lists import FACTORIZE, SOLVE
from .fronts import factorize_code, solve_code
from .step_records import Bodies, Room

__all__ = ["NOT_CONVERGED", "NOT_FINITE", "SERIES", "SINGULAR", "SMOOTH", "smooth",
           "solve_by_series", "take_state", "values_of"]

SMOOTH, NOT_FINITE, SINGULAR, NOT_CONVERGED = range(4)  # what has become of a step
THETA = 0.5
NEWTON = 40
SIMPLIFIED = 4  # iterations with the first Jacobian
SERIES = 12  # terms of the inverse, from which on all of it is taken


def values_of(bodies: Bodies, room: Room, function: int, t: float, y: Vector, out: Vector) -> None:
    """What a function of the bodies, at an address, comes to at a point."""
    for i in range(y.size):
        room.x[i] = y[i] * bodies.scale[i]
    room.at[0] = t
    run_code(function, room.at, room.x, bodies.p, bodies.m, bodies.d, out)


def _slope(bodies: Bodies, room: Room, t: float, y: Vector, out: Vector) -> None:
    values_of(bodies, room, bodies.slope, t, y, out)
    for i in range(y.size):
        out[i] = out[i] / bodies.scale[i]
    room.counts[0] += 1


def _factorise(bodies: Bodies, room: Room, t: float, h: float) -> bool:
    """Factors of 1 - h theta J at the end, unless they are those of the last step; whether J is
    finite."""
    n, same, finite = room.end.size, room.length[0] == h, True
    values_of(bodies, room, bodies.slope_x, t + h, room.end, room.new_jacobian)
    room.counts[1] += 1
    for j in range(n):
        for q in range(bodies.slope_starts[j], bodies.slope_starts[j + 1]):
            value = room.new_jacobian[q] * bodies.scale[j] / bodies.scale[bodies.slope_rows[q]]
            same &= value == room.jacobian[q]
            finite &= isfinite(value)
            room.jacobian[q] = value
    if same:
        return finite
    room.length[0] = h
    room.counts[2] += 1
    lists = bodies.front_lists
    factorize_code(lists[FACTORIZE], lists, room.jacobian, 1.0 / (h * THETA), room.fronts)
    return finite


def _solve(bodies: Bodies, room: Room, h: float, right: Vector) -> None:
    """Solve for all states; the solution takes the place of the right side."""
    for i in range(right.size):
        right[i] = right[i] / (h * THETA)
    solve_code(bodies.front_lists[SOLVE], bodies.front_lists, room.fronts, right)


def take_state(room: Room, i: int, filled: int, n: int) -> int:
    """Have a state among those that are pushed, of which ``filled`` are, or -1 for no room."""
    if room.slot[i] >= 0 or filled < 0:
        return filled
    if filled == room.pushed_states.size:
        return -1
    room.slot[i], room.pushed_states[filled] = filled, i
    for j in range(n):
        room.push_values[j, filled] = 0.0
    return filled + 1


def solve_by_series(bodies: Bodies, room: Room, h: float, a: int, filled: int, n: int) -> int:
    """Lead what an instance pushes through smooth forces.

    By the series of the inverse, whose terms reach few states; exactly, and to all states, where
    it converges too slowly. Gives what is filled then, or -1 for no room.
    """
    first = room.push_starts[a]
    begun = filled - first
    for q in range(begun):
        for j in range(n):
            room.given[j, q] = room.term[j, q] = room.push_values[j, first + q]
    for number in range(SERIES):
        before = filled - first
        for q in range(before):
            for j in range(n):
                room.next_term[j, q] = 0.0
        for q in range(before):
            i = room.pushed_states[first + q]
            for z in range(bodies.slope_starts[i], bodies.slope_starts[i + 1]):
                grown = take_state(room, bodies.slope_rows[z], filled, n)
                if grown < 0:
                    return -1
                at, by = room.slot[bodies.slope_rows[z]] - first, h * THETA * room.jacobian[z]
                if grown > filled:
                    filled = grown
                    for j in range(n):
                        room.next_term[j, at] = 0.0
                for j in range(n):
                    room.next_term[j, at] += by * room.term[j, q]
        largest, size = 0.0, 0.0
        for q in range(filled - first):
            for j in range(n):
                room.term[j, q] = room.next_term[j, q]
                room.push_values[j, first + q] += room.term[j, q]
                largest = max(largest, abs(room.term[j, q]))
                size = max(size, abs(room.push_values[j, first + q]))
        if largest <= CANCELLATION * size:
            room.terms[a] = number
            return filled
    room.terms[a] = SERIES
    for i in range(room.end.size):
        filled = take_state(room, i, filled, n)
    if filled < 0:
        return -1
    for j in range(n):
        room.work[:] = 0.0
        for q in range(begun):
            room.work[room.pushed_states[first + q]] = room.given[j, q]
        _solve(bodies, room, h, room.work)
        for i in range(room.end.size):
            room.push_values[j, room.slot[i]] = room.work[i]
    return filled


def smooth(bodies: Bodies, room: Room, t: float, y: Vector, h: float) -> int:
    """End of the step without set-valued efforts; what has become of it."""
    n = y.size
    _slope(bodies, room, t, y, room.start)
    for i in range(n):
        room.end[i] = y[i] + h * room.start[i]
    for iteration in range(NEWTON):
        if (iteration == 0 or iteration >= SIMPLIFIED) and not _factorise(bodies, room, t, h):
            return SINGULAR
        _slope(bodies, room, t + h, room.end, room.slope)
        for i in range(n):
            room.step[i] = room.end[i] - y[i] - h * (
                THETA * room.slope[i] + (1.0 - THETA) * room.start[i])
            if not isfinite(room.step[i]):
                return NOT_FINITE
        _solve(bodies, room, h, room.step)
        largest, size = 0.0, 0.0
        for i in range(n):
            step = room.step[i]
            if not isfinite(step):
                return SINGULAR
            room.end[i] -= step
            largest = max(largest, abs(step))
            size = max(size, abs(room.end[i]))
        if largest <= SETTLED * (1.0 + size):
            return SMOOTH
    return NOT_CONVERGED
