"""Which mode follows where efforts depend on each other? Predicted without leaving machine code.

What :mod:`blocks.nonsmooth.modes.decisions` would come to, of elements whose efforts are solved for
at every point and of which rates are affine (mu N, arms that move). The mode that nearly always
follows is taken where it meets all conditions with room to spare and is proved to be the only one
(:mod:`.only_modes`). Where bounds bend as efforts change (gears with losses), all modes of an
element are tried that feels no other. Else Python decides.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Vector
from ..numerics.tolerances import (
    ALLOWED_DRIFT,
    CLEAR_RATE,
    CLEAR_ROOM,
    DECIDED_AGAIN,
    EQUAL_BOUNDS,
    FLOW_NONE,
    FLOW_TURNED,
    LEAST_TIME,
    MODE_ENDED,
    NEAR_GAP,
    WITHOUT_EFFECT,
)
from .decisions import (
    IN_DOUBT,
    follow_leaders,
    largest_effort,
    largest_position,
    notice_flows,
    others_keep,
    room_of,
    stop_creeping,
    turn_over,
)
from .held_parts import NOBODY, hold_states
from .joint_choice import DRIVE, MOVED, STATE, choose_jointly, is_positive
from .joint_choice import LOW as AT_LOW
from .lu import factorize, solve
from .one_element import sense_is_told
from .only_modes import bounds_move, is_only, is_regular, part_of
from .predicted_elements import (
    BACK,
    EFFORT,
    FLOW,
    FORTH,
    GAP,
    HIGH,
    LOW,
    OWN,
    RATE,
    PredictedElements,
)
from .steps import Code, Workspace, settle_in_place, values_at
from .zero_crossings import Relations

__all__ = ["predict_modes"]


@machine_code
def predict_modes(code: Code, work: Workspace, relations: Relations, elements: PredictedElements,
                  t: float, x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes and ``x`` changed.

    Parameters
    ----------
    x : the point; flows of what comes to rest are brought to zero
    crossed : whether margins have become negative; else a known instant has changed something
    """
    modes, found = elements.modes, elements.found
    again = t - elements.last[0] <= DECIDED_AGAIN * max(abs(t), LEAST_TIME)
    for e in range(modes.size):
        if again and elements.contact[e] and modes[e] == 0.0:
            return False  # whether it pulls by rounding
        elements.slack[e] = 0.0
    settle_in_place(code, work, t, x)
    if not _look(code, work, elements, t, x):
        return False
    notice_flows(found, elements.kinds, elements.fast)
    if turn_over(modes, found, elements.contact, elements.kinds, elements.fast, t) and (
            not _look(code, work, elements, t, x)):
        return False
    e, touched, passing = _touched(relations, elements, x, crossed)
    if touched == IN_DOUBT or passing > 0 and touched > 0:
        return False
    if passing > 0 and not _pass_dead_centres(code, work, elements, t, x):
        return False
    if touched > 0:
        if elements.contact[e] and modes[e] != 0.0:
            return False  # an impact
        if not _decide_part(code, work, elements, t, x, e, touched):
            return False
    return _hold(elements, t, x)


@machine_code
def _decide_part(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
                 e: int, touched: int) -> bool:
    """Choose the modes of those that feel what has come to the end of its mode: one, or several."""
    count, before, found = part_of(elements, e), elements.modes[e], elements.found
    alone = touched == 1
    for k in range(count):
        if elements.bends[elements.members[k]]:
            return alone and count == 1 and _goes_one_way(code, work, elements, t, x, e)
    rests = _at_rest(elements, e, count)
    positive = not bounds_move(elements, count) and is_positive(
        elements.block, elements.matrix, rests)
    for k in range(count):
        touched -= elements.doubtful[elements.members[k]]
    if touched != 0:
        return False  # others have, too
    for a in range(rests):
        i = elements.still[a]
        leaves = elements.modes[i] == 0.0 and (
            room_of(found, i) <= MODE_ENDED * (found[HIGH, i] - found[LOW, i]))
        elements.rest[MOVED, a] = 1.0 if leaves else 0.0
    if alone and (positive or is_only(elements, e, count)):
        if before != 0.0:
            if _arrives(code, work, elements, t, x, e, count):
                return True
        elif _leaves(code, work, elements, t, x, e, count):
            return True
    return positive and _choose_rest(
        code, work, elements, t, x, e, count, rests, before)


@machine_code
def _at_rest(elements: PredictedElements, e: int, count: int) -> int:
    """Fill in which elements of a part rest, ``e`` among them, and their D; how many."""
    still, rests = elements.still, 0
    for k in range(count):
        i = elements.members[k]
        if elements.modes[i] == 0.0 or i == e:
            still[rests] = i
            rests += 1
    for a in range(rests):
        for b in range(rests):
            elements.block[a, b] = elements.d[still[a], still[b]]
    return rests


@machine_code
def _choose_rest(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
                 e: int, count: int, rests: int, before: float) -> bool:
    """Choose the modes of all in a part that rest, where one of them does not keep its own."""
    modes, found, rest, still = elements.modes, elements.found, elements.rest, elements.still
    modes[e] = 0.0
    if not _look(code, work, elements, t, x):
        return False
    _at_rest(elements, e, count)  # D is that of the states as they are now
    for a in range(rests):
        for side in range(4):
            rest[AT_LOW + side, a] = found[LOW + side, still[a]]
        rest[DRIVE, a] = found[RATE, still[a]]
        for b in range(rests):
            rest[DRIVE, a] += elements.block[a, b] * found[EFFORT, still[b]]
    if not choose_jointly(elements.block, rest, elements.matrix, elements.own, elements.right,
                          elements.work, elements.taken, elements.order, rests):
        return False
    for a in range(rests):
        modes[still[a]] = rest[STATE, a]
        if elements.contact[still[a]] and modes[still[a]] != 0.0:
            return False
    if before != 0.0 and modes[e] * found[FLOW, e] < 0.0:
        return False  # as in _arrives
    if before != 0.0 and not _stop(elements, x, count) or not _look(code, work, elements, t, x):
        return False
    for a in range(rests):
        i = still[a]
        if modes[i] != 0.0 and not _moves(elements, i, modes[i]):
            return False
    return others_keep(found, modes, elements.members, 0, count, NOBODY)


@machine_code
def _look(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector) -> bool:
    """What elements come to in their present modes; whether there are such efforts."""
    follow_leaders(elements.modes, elements.leader, elements.sense)
    values_at(code, work, elements.present, t, x, elements.room)
    for e in range(elements.modes.size):  # noqa: SIM110
        if not np.isfinite(elements.found[EFFORT, e]):
            return False
    return True


@machine_code
def _touched(relations: Relations, elements: PredictedElements, x: Vector, crossed: bool
             ) -> tuple[int, int, int]:
    """An element whose mode has ended, the one that slid; how many have, or ``IN_DOUBT``; and how
    many others pass a dead centre."""
    modes, found = elements.modes, elements.found
    first, touched = relations.wrong.size - modes.size - 1, NOBODY
    far = largest_position(elements.positions, elements.scale, x)
    count = passing = 0
    for e in range(modes.size):
        fast = elements.fast[elements.kinds[e]]
        doubtful = crossed and relations.wrong[first + e] and (
            elements.contact[e] or not modes[e] * found[FLOW, e] > FLOW_TURNED * fast)
        elements.doubtful[e] = elements.passing[e] = 0
        if elements.leader[e] != e:
            continue
        if doubtful:
            if modes[e] * found[FLOW, e] < -FLOW_TURNED * fast and not elements.contact[e]:
                return NOBODY, IN_DOUBT, 0
            if modes[e] != 0.0 and _is_at_dead_centre(elements, e):
                elements.passing[e] = 1
                passing += 1
                doubtful = False
        elif modes[e] == 0.0:
            doubtful = room_of(found, e) < 0.0
        elif elements.contact[e]:
            if not found[GAP, e] >= NEAR_GAP * far:
                return NOBODY, IN_DOUBT, 0
        elif not modes[e] * found[FLOW, e] > FLOW_NONE * fast:
            if not _is_at_dead_centre(elements, e):
                return NOBODY, IN_DOUBT, 0
            elements.passing[e] = 1  # as another does
            passing += 1
        if doubtful:
            if touched != NOBODY and modes[touched] != 0.0 and modes[e] != 0.0:
                return NOBODY, IN_DOUBT, 0
            if touched == NOBODY or modes[e] != 0.0:
                touched = e
            elements.doubtful[e] = 1
            count += 1
    return touched, count, passing


# -- what follows ----------------------------------------------------------------------------
@machine_code
def _arrives(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
             e: int, count: int) -> bool:
    """What slid has come to rest: it sticks, or is not held and slides the other way."""
    elements.modes[e] = 0.0
    if not _look(code, work, elements, t, x):
        return False
    room = room_of(elements.found, e)
    enough = CLEAR_ROOM * largest_effort(elements.found, elements.members, 0, count)
    if room > enough:
        return _stop(elements, x, count) and _look(code, work, elements, t, x) and others_keep(
            elements.found, elements.modes, elements.members, 0, count, e)
    sense = 1.0 if elements.found[EFFORT, e] > elements.found[HIGH, e] else -1.0
    # beside others at rest, less effort in motion may allow several modes
    if not room < -enough or not (_rests_alone(elements, e, count) or _is_same(
            elements, e, sense)) or sense * elements.found[FLOW, e] < 0.0:
        return False  # what has not turned at a dead point cannot be stopped
    elements.modes[e] = sense
    return _look(code, work, elements, t, x) and _moves(elements, e, sense) and others_keep(
        elements.found, elements.modes, elements.members, 0, count, e)


@machine_code
def _is_at_dead_centre(elements: PredictedElements, e: int) -> bool:
    """Whether an element moves nothing just now, beside others that do, but for rounding."""
    largest = 0.0
    for i in range(elements.modes.size):
        largest = max(largest, elements.d[i, i])
    own = abs(elements.d[e, e])
    return 0.0 < own <= WITHOUT_EFFECT * largest and not elements.contact[e]


@machine_code
def _pass_dead_centres(code: Code, work: Workspace, elements: PredictedElements, t: float,
                       x: Vector) -> bool:
    """What others move through a dead centre turns round: nothing could hold it there."""
    modes, passing = elements.modes, elements.passing
    for e in range(modes.size):
        elements.members[e] = e
        if passing[e] != 0:
            modes[e] = -modes[e]
    if not _look(code, work, elements, t, x):
        return False
    for e in range(modes.size):
        if passing[e] != 0 and not _moves(elements, e, modes[e]):
            return False
    return others_keep(elements.found, modes, elements.members, 0, modes.size, NOBODY)


@machine_code
def _leaves(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
            e: int, count: int) -> bool:
    """What stuck was pushed over a bound: it slides that way; a contact opens."""
    found, largest = elements.found, 0.0
    for i in range(elements.modes.size):
        largest = max(largest, abs(found[EFFORT, i]))
    low, high, effort = found[LOW, e], found[HIGH, e], found[EFFORT, e]
    if not sense_is_told(effort, low, high, largest):
        return False
    sense = 1.0 if high - effort < effort - low else -1.0
    elements.modes[e] = sense
    return _look(code, work, elements, t, x) and others_keep(
        found, elements.modes, elements.members, 0, count, e) and (
            _is_same(elements, e, sense) or _moves(elements, e, sense))


@machine_code
def _goes_one_way(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
                  e: int) -> bool:
    """The mode of an element that feels no other, where its bounds bend: all three are tried.

    It is the one that holds where both others do not, clearly.
    """
    modes, found, before, way = elements.modes, elements.found, elements.modes[e], 0.0
    largest, room = abs(found[EFFORT, e]), -np.inf
    if before != 0.0:
        modes[e] = 0.0
        if not _look(code, work, elements, t, x):
            return False
        largest, room = abs(found[EFFORT, e]), room_of(found, e)
        if not abs(room) > CLEAR_ROOM * largest:
            return False
    elif not sense_is_told(found[EFFORT, e], found[LOW, e], found[HIGH, e], largest):
        return False
    if room < 0.0:
        way = 1.0 if found[HIGH, e] - found[EFFORT, e] < found[EFFORT, e] - found[LOW, e] else -1.0
    for turn in range(2):
        modes[e] = 2.0 * turn - 1.0
        if modes[e] != way and not (_look(code, work, elements, t, x) and _moves(
                elements, e, -modes[e])):
            return False
    modes[e] = way
    if before != 0.0 and way == 0.0 and not _stop(elements, x, 1):
        return False
    if not _look(code, work, elements, t, x) or part_of(elements, e) > 1 or (
            before != 0.0 and way * found[FLOW, e] < 0.0):
        return False
    return way == 0.0 or _moves(elements, e, way) or before == 0.0 and _is_same(elements, e, way)


@machine_code
def _stop(elements: PredictedElements, x: Vector, count: int) -> bool:
    """Bring the flows of what rests in a part to zero; whether that can be."""
    index, matrix, right, modes = elements.members, elements.matrix, elements.right, elements.modes
    rests = 0
    for k in range(count):
        if modes[index[k]] == 0.0:
            right[rests] = elements.found[FLOW, index[k]]
            column = 0
            for a in range(count):
                if modes[index[a]] == 0.0:
                    matrix[rests, column] = elements.d[index[k], index[a]]
                    column += 1
            rests += 1
    if factorize(matrix, elements.unit[:rests], elements.order) == 0.0:
        return False
    solve(matrix, elements.order, right[:rests], elements.work)
    rests = 0
    for k in range(count):
        if modes[index[k]] == 0.0:
            for i in range(elements.free.size):
                x[i] += elements.push[index[k], i] * right[rests]
            rests += 1
    return True


@machine_code
def _rests_alone(elements: PredictedElements, e: int, count: int) -> bool:
    """Whether all others of a part slide."""
    for k in range(count):
        i = elements.members[k]
        if i != e and elements.modes[i] == 0.0:
            return False
    return True


@machine_code
def _is_same(elements: PredictedElements, e: int, sense: float) -> bool:
    """Whether motion takes no less effort than was needed to begin it."""
    found = elements.found
    rest, motion = found[HIGH, e], found[FORTH, e]
    if sense < 0.0:
        rest, motion = found[LOW, e], found[BACK, e]
    return sense * motion >= sense * rest - EQUAL_BOUNDS * abs(rest)


@machine_code
def _moves(elements: PredictedElements, e: int, sense: float) -> bool:
    """Whether it is driven that way, by more than rounding of the other efforts."""
    drive = 0.0
    for i in range(elements.modes.size):
        drive += abs(elements.d[e, i] * elements.found[EFFORT, i])
    return sense * elements.found[RATE, e] > CLEAR_RATE * drive


# -- what is constant until the next event -----------------------------------------------------
@machine_code
def _hold(elements: PredictedElements, t: float, x: Vector) -> bool:
    """Take note of what is constant in the present modes; whether their equations are regular."""
    modes, found, share = elements.modes, elements.found, elements.share
    if not is_regular(elements):
        return False
    for e in range(modes.size):
        elements.guess[e] = found[OWN, e]
    parts = share.size // 3
    elements.whole[: 2 * parts] = share[: 2 * parts]
    elements.whole[2 * parts] = ALLOWED_DRIFT * largest_position(
        elements.positions, elements.scale, x)
    elements.free[:] = 1.0
    for e in range(modes.size):
        elements.members[e] = e
    hold_states(elements.flow_starts, elements.flow_states, elements.free, modes, elements.holds,
                elements.members)
    stop_creeping(modes, elements.kinds, elements.fast, elements.flow_starts,
                  elements.flow_states, elements.reach, elements.free, x)
    elements.last[0] = t
    return True
