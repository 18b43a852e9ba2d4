"""What becomes of contacts that close, and of what acts on them? They rebound, or stay."""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.impact import LOWER, PUSH, SPEED, TOUCHES, UPPER
from ..nonsmooth.complementarity.impact import RESTITUTION as RESTITUTION_OF
from ..numerics.arrays import Matrix, Vector
from ..numerics.tolerances import CLEAR, CLEAR_RATE, NEAR_GAP, ROUNDING, SAME_AS_BEFORE
from .elements_at_point import largest_position, look
from .elements_at_rest import ask, choose, rests_now
from .impulses import push
from .set_valued_elements import (
    EFFORT,
    FLOW,
    GAP,
    HIGH,
    LOW,
    NOBODY,
    RATE,
    RESTITUTION,
    SetValuedElements,
    part_of,
)
from .steps import Code, Workspace

__all__ = ["pose_one", "strike"]


@machine_code
def strike(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector, e: int
            ) -> bool:
    """Let the contacts of a part that close strike (:func:`.impact.collide`), with those that touch
    and the friction that they load: each rebounds, or stays.

    Friction slides as velocities are afterwards; what has none may rest where a contact stays.
    """
    modes, found, count = elements.modes, elements.found, part_of(elements, e)
    size = _pose_impact(elements, x, e, count)
    if size == 0:
        return False
    elements.striking[elements.striking_counted] = size
    run_code(elements.collides, elements.striking)
    if elements.ended[0] == 0:
        return False
    far, rests = largest_position(elements.positions, elements.scale, x), NOBODY
    elements.right[:] = 0.0
    for a in range(size):
        i = elements.still[a]
        elements.right[i], elements.slack[i] = elements.rest[PUSH, a], 0.0
        if elements.contact[i] and elements.right[i] > 0.0:
            elements.struck[i] = 1.0
    push(code, work, elements, t, x)
    if not look(code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        elements.leaves[i] = 0
        if not _is_slow(elements, i):
            modes[i] = 1.0 if found[FLOW, i] > 0.0 and not elements.contact[i] else -1.0
        elif elements.contact[i] and (
                modes[i] == 0.0 or elements.struck[i] != 0.0 or found[GAP, i] <= ROUNDING * far):
            modes[i], rests = 0.0, i
    for k in range(count):
        i = elements.members[k]
        if not elements.contact[i] and _is_slow(elements, i):
            if _has_strength(elements, i):
                modes[i], rests = 0.0, i
            elif modes[i] == 0.0:
                modes[i] = 1.0
    if rests == NOBODY:
        if not look(code, work, elements, t, x):
            return False
    else:
        if not rests_now(code, work, elements, t, x, rests, count):
            return False
        ask(elements, rests, count)
        if not choose(code, work, elements, t, x, rests, count, False):
            return False
    turned, largest = False, 0.0
    for k in range(count):
        largest = max(largest, abs(found[RATE, elements.members[k]]))
    for k in range(count):  # what holds nothing goes where it is clearly driven
        i = elements.members[k]
        if not elements.contact[i] and _is_slow(elements, i) and not _has_strength(
                elements, i) and -modes[i] * found[RATE, i] > CLEAR_RATE * largest:
            modes[i], turned = -modes[i], True
    return not turned or look(code, work, elements, t, x)


@machine_code
def _is_slow(elements: SetValuedElements, i: int) -> bool:
    """Whether an element hardly moves after an impact."""
    return abs(elements.found[FLOW, i]) <= SAME_AS_BEFORE * elements.fast[elements.kinds[i]]


@machine_code
def _has_strength(elements: SetValuedElements, i: int) -> bool:
    """Whether friction holds anything, by itself or by what rests on it now."""
    low, high = elements.found[LOW, i], elements.found[HIGH, i]
    width = high - low
    for j in range(elements.modes.size if elements.dependent[0] else 0):
        below, above = elements.bounds[0, i, j], elements.bounds[1, i, j]
        if elements.contact[j] and (below != 0.0 or above != 0.0):
            if elements.modes[j] == 0.0:
                return True
            low -= below * elements.found[EFFORT, j]
            high -= above * elements.found[EFFORT, j]
    return high - low > CLEAR * width or width == np.inf


@machine_code
def _pose_impact(elements: SetValuedElements, x: Vector, e: int, count: int) -> int:
    """Fill in who of a part takes part in an impact; how many there are, or 0 where others must
    tell."""
    modes, found, rest, still = elements.modes, elements.found, elements.rest, elements.still
    far, size = largest_position(elements.positions, elements.scale, x), 0
    for k in range(count):
        i = elements.members[k]
        ended, contact = elements.doubtful[i] != 0, elements.contact[i]
        if elements.bends[i] or ended and (modes[i] == 0.0 or contact and not (
                found[FLOW, i] > -CLEAR * elements.fast[elements.kinds[i]])):  # it may rest there
            return 0
        side = 0 if modes[i] == 0.0 else 2
        low, high = found[LOW + side, i], found[HIGH + side, i]
        takes = contact and (ended or modes[i] == 0.0 or found[GAP, i] <= NEAR_GAP * far)
        if elements.dependent[0] and not contact:
            takes = modes[i] == 0.0 and not np.isfinite(high - low)
            for j in range(modes.size):
                takes = takes or (elements.bounds[side, i, j] != 0.0
                                  or elements.bounds[side + 1, i, j] != 0.0)
        if takes:
            pose_one(rest, size, contact, found[FLOW, i], found[RESTITUTION, i], low, high)
            still[size] = i
            size += 1
    for a in range(size):
        side = 0 if modes[still[a]] == 0.0 else 2
        for b in range(size):
            elements.block[a, b] = elements.d[still[a], still[b]]
            for way in range(2 if elements.dependent[0] else 0):
                elements.by[way, a, b] = elements.bounds[side + way, still[a], still[b]]
    return size


@machine_code
def pose_one(rest: Matrix, a: int, contact: bool, flow: float, restitution: float, low: float,
             high: float) -> None:
    """Fill in one that takes part in an impact; ``low`` and ``high`` bound its effort."""
    rest[SPEED, a], rest[TOUCHES, a] = flow, 1.0 if contact else 0.0
    rest[RESTITUTION_OF, a] = restitution if contact else 0.0
    rest[LOWER, a] = 0.0 if np.isfinite(low) else low
    rest[UPPER, a] = np.inf if contact else 0.0 if np.isfinite(high) else high
