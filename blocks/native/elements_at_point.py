"""What do set-valued elements come to in their present modes? Looked at, and posed as a problem."""

from __future__ import annotations

from ..machine.functions import machine_code
from ..nonsmooth.complementarity.moving import AT_FIRST, DRIVE, MOVED, NOISE, SHARED, STATE, SURE
from ..nonsmooth.complementarity.moving import LOW as AT_LOW
from ..nonsmooth.complementarity.p_matrix import is_positive
from ..nonsmooth.modes.held_states import next_instant
from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import CLEAR_RATE, SAFE_PIVOT
from .kept_factors import keep_factors
from .set_valued_elements import EFFORT, HIGH, LOW, RATE, SetValuedElements, act, bounds_move
from .steps import Code, Workspace, are_finite, project_in_place, slope_at, values_at

__all__ = ["largest_effort", "largest_position", "look", "look_ahead", "moves", "pose", "room_of"]


@machine_code
def pose(elements: SetValuedElements, e: int, count: int, resting: bool) -> int:
    """Fill in who of a part rests, or may unless only what is ``resting`` counts, and what slides
    beside it with a force that follows efforts; their D, bounds and rates without efforts. How many
    there are, or 0 where D is not symmetric and positive definite."""
    modes, found, rest, still = elements.modes, elements.found, elements.rest, elements.still
    size, asked, follows = 0, 0, bounds_move(elements, count)
    for known in range(2 if follows else 1):
        for k in range(count):
            i = elements.members[k]
            if (modes[i] == 0.0 if resting else elements.asked_now[i] != 0) == (known == 0):
                rest[STATE, size] = modes[i] if known == 1 else 0.0
                rest[MOVED, size] = elements.leaves[i]
                still[size] = i
                size += 1
        asked = size if known == 0 else asked
    regular, q = elements.k.size > 0 and elements.regular[elements.part[e]], 0
    elements.place[:] = -1  # of those that do not take part
    for a in range(size):
        elements.place[still[a]] = a
    for a in range(size):
        i = still[a]
        for side in range(4):
            rest[AT_LOW + side, a] = found[LOW + side, i]
        rest[DRIVE, a], rest[AT_FIRST, a], rest[NOISE, a] = found[RATE, i], found[EFFORT, i], 0.0
        elements.row_starts[a] = q
        for k in range(elements.near_starts[i], elements.near_starts[i + 1]):
            j, b = elements.near[k], elements.place[elements.near[k]]
            if b < 0:
                continue
            rest[DRIVE, a] += elements.d[i, j] * found[EFFORT, j]
            if not regular:
                elements.block[a, b] = elements.d[i, j]
            for side in range(4 if elements.dependent[0] else 0):
                by = elements.bounds[side, i, j]
                elements.by[side, a, b] = elements.slopes[side, q] = by
                if by != 0.0:
                    rest[AT_LOW + side, a] -= by * found[EFFORT, j]
            if i == j or act(elements, i, j):
                elements.row_columns[q], elements.entries[q] = b, elements.d[i, j]
                q += 1
    elements.row_starts[size] = q
    rest[SURE, 0] = 0.0 if follows else 1.0
    shared = elements.shared[elements.part[e]]
    rest[SHARED, 0] = 1.0 if shared else 0.0
    return size if regular or shared or is_positive(
        elements.block, elements.matrix, asked, SAFE_PIVOT) else 0


@machine_code
def look(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector) -> bool:
    """What elements come to in their present modes; whether there are such efforts."""
    if elements.k.size > 0 and not keep_factors(code, work, elements, x):
        return False
    values_at(code, work, elements.present, t, x, elements.room)
    return are_finite(elements.found[EFFORT])


@machine_code
def look_ahead(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector
               ) -> float:
    """Move on by an instant, with the present modes; the time then."""
    slope = work.k[0]
    slope_at(code, work, t, x, slope)
    h = next_instant(slope, x)
    for i in range(x.size):
        x[i] += h * slope[i]
    project_in_place(code, work, t + h, x)
    return t + h


@machine_code
def largest_position(positions: Indices, scale: Vector, x: Vector) -> float:
    """What gaps are compared with: the largest of the positions that they are made of."""
    far = 0.0
    for k in range(positions.size):
        i = positions[k]
        far = max(far, max(abs(x[i]), scale[i]))
    return far


@machine_code
def room_of(found: Matrix, e: int) -> float:
    """How far a stuck element is from its bounds."""
    return min(found[HIGH, e] - found[EFFORT, e], found[EFFORT, e] - found[LOW, e])


@machine_code
def largest_effort(elements: SetValuedElements, count: int) -> float:
    """The largest effort in a part."""
    largest = 0.0
    for k in range(count):
        largest = max(largest, abs(elements.found[EFFORT, elements.members[k]]))
    return largest


@machine_code
def moves(elements: SetValuedElements, e: int, sense: float) -> bool:
    """Whether it is driven that way, by more than rounding of the other efforts."""
    drive = 0.0
    for i in range(elements.modes.size):
        drive += abs(elements.d[e, i] * elements.found[EFFORT, i])
    return sense * elements.found[RATE, e] > CLEAR_RATE * drive
