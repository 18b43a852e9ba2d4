"""Moreau-Jean steps of bodies alone, in plain loops: smooth forces by the theta rule.

States that act on each other are a block, whose matrix is full.
"""

from __future__ import annotations

from math import isfinite

from ..nonsmooth.timestepping.moreau_jean import NEWTON, SIMPLIFIED, THETA
from ..numerics.arrays import Vector
from ..numerics.tolerances import STEP_CORRECTION
from .lu import factorize, solve
from .signatures import run_code
from .step_records import Bodies, Room

__all__ = ["see", "smooth", "solve_block"]


def see(bodies: Bodies, room: Room, t: float, y: Vector, seen: Vector) -> None:
    """What contacts see at a point."""
    for i in range(y.size):
        room.x[i] = y[i] * bodies.scale[i]
    room.at[0] = t
    run_code(bodies.seen, room.at, room.x, bodies.p, bodies.m, bodies.d, seen)


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


def solve_block(bodies: Bodies, room: Room, k: int, right: Vector) -> None:
    """Solve for the states of a block; the solution takes the place of the right side."""
    first, last = bodies.block_starts[k], bodies.block_starts[k + 1]
    solve(room.matrix[first:last], room.order[first:last], right, room.work)


def smooth(bodies: Bodies, room: Room, t: float, y: Vector, h: float) -> bool:
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
            solve_block(bodies, room, k,
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
