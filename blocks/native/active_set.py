"""Which mode follows? The active set after an event, decided without leaving machine code.

What :mod:`blocks.nonsmooth.modes.decisions` would come to, of elements whose rates are affine in
the efforts, where D is constant or moves. Of the part in which modes have come to their ends all
that rest are decided on together, beside what slides with a force that follows theirs
(:mod:`blocks.nonsmooth.complementarity.moving`); the mode that nearly always follows is where the
search begins. Where bounds bend as efforts change (gears with losses) it is repeated, and other
efforts are sought far away. Where more rest than there are motions, they share what they hold. Else
Python decides.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..nonsmooth.modes.held_states import hold_states
from ..numerics.arrays import Vector
from ..numerics.tolerances import (
    ALLOWED_DRIFT,
    ANOTHER_SOLUTION,
    CLEAR,
    FLOW_NONE,
    MODE_ENDED,
    NOTHING_AT_ALL,
    ROUNDING,
    SAME_AS_BEFORE,
    SAME_INSTANT,
    SHORT_TIME,
)
from .elements_at_point import largest_effort, largest_position, look, moves, room_of
from .elements_at_rest import ask, choose, others_keep, rests_now
from .impulses import drifts, stop_island
from .set_valued_elements import (
    EFFORT,
    FLOW,
    GAP,
    HIGH,
    LOW,
    NOBODY,
    RATE,
    SetValuedElements,
    is_held,
    is_regular,
    is_shared,
    no_flow,
    part_of,
)
from .shared_loads import share
from .steps import Code, Workspace, project_in_place, values_at
from .strikes import strike
from .zero_crossings import LARGEST, Relations

__all__ = ["decide_modes", "notice_speeds", "stuck_ones_rest"]

ROUNDS = 10  # in which bounds that bend are found
FAR_AWAY = 1e3  # times the largest effort, and at least 1: where others are sought
IN_DOUBT = -1  # instead of how many elements have come to the end of their modes


@machine_code
def decide_modes(code: Code, work: Workspace, relations: Relations, elements: SetValuedElements,
                  t: float, x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes and ``x`` changed.

    ``x`` is the point: flows of what comes to rest are brought to zero. ``crossed``: whether
    margins have become negative; else a known instant has changed something.
    """
    modes, found = elements.modes, elements.found
    elements.known[:] = modes[: elements.known.size]
    for e in range(modes.size):
        if elements.contact[e] and not is_held(elements, e):
            elements.slack[e] = 0.0
    project_in_place(code, work, t, x)
    if not look(code, work, elements, t, x):
        return False
    for e in range(modes.size):
        fast = elements.kinds[e]
        elements.fast[fast] = max(elements.fast[fast], abs(found[FLOW, e]))
    if _turn_over(work, elements, t, x) and not look(code, work, elements, t, x):
        return False
    e, touched, passing = _touched(relations, elements, x, crossed)
    if touched == IN_DOUBT:
        return False
    if passing > 0 and not _pass_dead_centres(code, work, elements, t, x):
        return False
    while e != NOBODY:  # part by part
        count, ended = part_of(elements, e), 0
        for k in range(count):
            if elements.doubtful[elements.members[k]] != 0:
                ended += 1
        if elements.contact[e] and modes[e] != 0.0:
            if not strike(code, work, elements, t, x, e):
                return False
        elif not _decide_part(code, work, elements, t, x, e, ended == 1):
            return False
        for k in range(part_of(elements, e)):
            elements.doubtful[elements.members[k]] = 0
        e = NOBODY
        for i in range(modes.size):
            if elements.doubtful[i] != 0 and (e == NOBODY or modes[i] != 0.0):
                e = i
    for part in range(elements.fresh.size):
        e = elements.parted[elements.starts[part]]
        if elements.fresh[part] != 0 and share(
                code, work, elements, t, x, e, part_of(elements, e)) < 0:
            return False
    return _hold(work, relations, elements, t, x)


@machine_code
def notice_speeds(relations: Relations, elements: SetValuedElements) -> None:
    """Take note of the largest flows of what slid since the last event; nobody is struck yet."""
    elements.struck[:] = 0.0
    largest, fast = relations.looks[LARGEST], elements.fast
    first = relations.wrong.size - elements.modes.size - elements.reserve
    for e in range(elements.modes.size):
        if elements.modes[e] != 0.0 and not elements.contact[e] and np.isfinite(largest[first + e]):
            fast[elements.kinds[e]] = max(fast[elements.kinds[e]], largest[first + e])


@machine_code
def stuck_ones_rest(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector
                    ) -> bool:
    """Whether what sticks or is closed does not move, though states have been assigned."""
    values_at(code, work, elements.present, t, x, elements.room)
    for e in range(elements.modes.size):
        if elements.modes[e] == 0.0 and not abs(elements.found[FLOW, e]) <= (
                CLEAR * elements.fast[elements.kinds[e]]):
            return False
    return True


@machine_code
def _turn_over(work: Workspace, elements: SetValuedElements, t: float, x: Vector) -> bool:
    """Let friction slide the way that it goes, where it has clearly turned; whether any has.

    Without strength, as a brake that is not pressed, it turned with no end of its mode to tell.
    """
    modes, found = elements.modes, elements.found
    turned, instant = False, SAME_INSTANT * max(abs(t), SHORT_TIME)
    for e in range(modes.size):
        flow = found[FLOW, e]
        clear = CLEAR * elements.fast[elements.kinds[e]] + 2.0 * no_flow(work, elements, x, e)
        if modes[e] * flow < -clear and not elements.contact[e] and (
                abs(flow) > instant * abs(found[RATE, e])):
            modes[e] = -modes[e]
            turned = True
    return turned


@machine_code
def _decide_part(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector,
                 e: int, alone: bool) -> bool:
    """Choose the modes of those that feel what has come to the end of its mode: one, or several."""
    count, found, modes = part_of(elements, e), elements.found, elements.modes
    rests, shared = modes[e] == 0.0, is_shared(elements, e)
    bends = False
    for k in range(count):
        bends |= elements.bends[elements.members[k]]
    if elements.k.size > 0 and not found[LOW, e] <= found[HIGH, e]:
        return False
    near = ROUNDING * largest_position(elements.positions, elements.scale, x)
    for k in range(count):
        i = elements.members[k]
        if elements.contact[i] and found[GAP, i] <= near and abs(found[FLOW, i]) <= (
                SAME_AS_BEFORE * elements.fast[elements.kinds[i]]):
            modes[i] = 0.0  # it touches
    if drifts(elements, count) and stop_island(code, work, elements, t, x, e, count) and not look(
            code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        width = found[HIGH, i] - found[LOW, i]
        if not np.isfinite(width):
            width = abs(found[EFFORT, i])
        elements.leaves[i] = 0
        if modes[i] == 0.0 and not alone and not shared and room_of(
                found, i) + elements.slack[i] <= MODE_ENDED * width:
            elements.leaves[i] = 1
        if elements.leaves[i] != 0 or i == e:
            elements.slack[i] = 0.0
    if rests and shared:  # others may hold it
        loose = share(code, work, elements, t, x, e, count)
        if loose <= 0:
            return loose == 0 and (elements.k.size > 0 or others_keep(elements, count))
        for k in range(count):
            elements.leaves[elements.members[k]] = elements.loose[elements.members[k]]
    elif rests and alone:  # what nearly always follows is where the search begins
        low, high, effort = found[LOW, e], found[HIGH, e], found[EFFORT, e]
        elements.leaves[e] = 1
        if _sense_is_told(effort, low, high, largest_effort(elements, count)):
            modes[e] = 1.0 if high - effort < effort - low else -1.0
        if not look(code, work, elements, t, x):
            return False
    for k in range(count):  # several may come to rest at once
        i = elements.members[k]
        if elements.doubtful[i] != 0 and not elements.contact[i]:
            modes[i] = 0.0
    if not rests and (elements.k.size > 0 or not shared) and not rests_now(
            code, work, elements, t, x, e, count):
        return False
    ask(elements, e, count)
    for _ in range(ROUNDS if bends else 1):
        if choose(code, work, elements, t, x, e, count, rests):
            return not bends or _is_alone(code, work, elements, t, x, count)
    return False


@machine_code
def _touched(relations: Relations, elements: SetValuedElements, x: Vector, crossed: bool
             ) -> tuple[int, int, int]:
    """An element whose mode has ended, the one that slid; how many have, or ``IN_DOUBT``; and how
    many others pass a dead centre.

    Of what acts on a contact that closes, what has come to rest there is told after the impact.
    """
    modes, found = elements.modes, elements.found
    first, touched = relations.wrong.size - modes.size - elements.reserve, NOBODY
    far = largest_position(elements.positions, elements.scale, x)
    count, passing, struck, turned, largest = 0, 0, NOBODY, NOBODY, 0.0
    for e in range(modes.size):
        largest = max(largest, elements.d[e, e])
        if crossed and modes[e] != 0.0 and relations.wrong[first + e]:
            if elements.contact[e]:
                struck = elements.part[e]
            elif is_shared(elements, e):
                turned = elements.part[e]
    for e in range(modes.size):
        fast = elements.fast[elements.kinds[e]]
        doubtful = crossed and relations.wrong[first + e] and (
            elements.contact[e] or not modes[e] * found[FLOW, e] > CLEAR * fast)
        elements.doubtful[e] = elements.passing[e] = 0
        if not elements.moves[e]:
            continue
        if elements.contact[e] and modes[e] == 0.0 and not abs(found[GAP, e]) <= (
                ALLOWED_DRIFT * far):
            return NOBODY, IN_DOUBT, 0
        if doubtful:
            if modes[e] != 0.0 and _is_at_dead_centre(elements, e, largest):
                elements.passing[e] = 1
                passing += 1
                doubtful = False
        elif modes[e] == 0.0:
            doubtful = room_of(found, e) < -elements.slack[e]
            if crossed and relations.wrong[first + e] and not doubtful and (
                    elements.k.size == 0 and elements.ends_at[e] != NOBODY):
                return NOBODY, IN_DOUBT, 0  # others move what a row that is given does not hold
        elif not (elements.contact[e] or modes[e] * found[FLOW, e] > FLOW_NONE * fast
                  or elements.part[e] == struck or moves(elements, e, modes[e])):
            if _is_at_dead_centre(elements, e, largest):
                elements.passing[e] = 1  # as another does
                passing += 1
            else:
                doubtful = True
        if doubtful and (elements.contact[e] or elements.part[e] != struck):
            if touched == NOBODY or modes[e] != 0.0:
                touched = e
            elements.doubtful[e] = 1
            count += 1
    if turned != NOBODY and touched != NOBODY and not elements.contact[touched]:
        for e in range(modes.size):  # it turns where a contact closes
            if elements.part[e] == turned and elements.contact[e] and modes[e] != 0.0 and (
                    found[GAP, e] <= ROUNDING * far):
                return e, count, passing
    return touched, count, passing


@machine_code
def _sense_is_told(effort: float, low: float, high: float, largest: float) -> bool:
    """Whether the bound that is nearer tells the sense of what lets go there.

    Not where bounds are near to each other, compared with the ``largest`` effort, unless it is
    clearly beyond both: what has lost its strength, as a brake that is pressed no longer.
    """
    return max(high - low, effort - high, low - effort) > CLEAR * largest


@machine_code
def _is_at_dead_centre(elements: SetValuedElements, e: int, largest: float) -> bool:
    """Whether an element moves nothing just now, but for rounding, beside the ``largest`` of D: a
    motion that is prescribed, or the lever of a linkage."""
    return abs(elements.d[e, e]) <= NOTHING_AT_ALL * largest and not elements.contact[e]


@machine_code
def _pass_dead_centres(code: Code, work: Workspace, elements: SetValuedElements, t: float,
                       x: Vector) -> bool:
    """What others move through a dead centre turns round: nothing could hold it there."""
    modes, passing = elements.modes, elements.passing
    for e in range(modes.size):
        elements.members[e] = e
        if passing[e] != 0:
            modes[e] = -modes[e]
    if not look(code, work, elements, t, x):
        return False
    for e in range(modes.size):
        if passing[e] != 0 and not moves(elements, e, modes[e]):
            return False
    return True


@machine_code
def _is_alone(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector,
              count: int) -> bool:
    """Whether laws that bend as efforts change hold in these modes by no other efforts, which are
    sought from far away, as :class:`blocks.nonsmooth.modes.painleve.Painleve` does."""
    modes, found, alone = elements.modes, elements.found, True
    far = max(FAR_AWAY * largest_effort(elements, count), 1.0)
    elements.right[:] = found[EFFORT]
    for sign in range(-1, 2, 2):
        for e in range(modes.size):
            elements.guess[e] = elements.right[e]
            if modes[e] != 0.0 and elements.bends[e]:
                elements.guess[e] = far * sign
        if alone and look(code, work, elements, t, x):
            near = ANOTHER_SOLUTION * largest_effort(elements, count) + ROUNDING * far
            differs, holds = False, True
            for k in range(count):
                i = elements.members[k]
                differs |= not abs(found[EFFORT, i] - elements.right[i]) <= near
                holds &= modes[i] != 0.0 or room_of(found, i) >= -near
            alone = not (differs and holds)
    elements.guess[:] = elements.right
    return look(code, work, elements, t, x) and alone


@machine_code
def _hold(work: Workspace, relations: Relations, elements: SetValuedElements, t: float, x: Vector
          ) -> bool:
    """Take note of what is constant in the present modes; whether their equations are regular."""
    modes, found, share = elements.modes, elements.found, elements.share
    first = relations.wrong.size - modes.size - elements.reserve
    for e in range(modes.size):
        slides = modes[e] != 0.0 and not elements.contact[e]
        relations.slack[first + e] = no_flow(work, elements, x, e) if slides else 0.0
    if elements.k.size == 0:
        if not is_regular(elements):
            return False
        elements.guess[:] = found[EFFORT]
        parts = share.size // 3
        elements.whole[: 2 * parts] = share[: 2 * parts]
        elements.whole[2 * parts] = ALLOWED_DRIFT * largest_position(
            elements.positions, elements.scale, x)
    elements.free[:] = 1.0
    hold_states(elements.flow_starts, elements.flow_states, elements.free, modes, elements.holds)
    for e in range(modes.size):
        if modes[e] == 0.0:
            for j in range(elements.flow_starts[e], elements.flow_starts[e + 1]):
                i = elements.flow_states[j]
                if elements.free[i] == 0.0 and elements.reach[j] * abs(x[i]) <= (
                        FLOW_NONE * elements.fast[elements.kinds[e]]):
                    x[i] = 0.0  # but for rounding, it is at rest
    return True
