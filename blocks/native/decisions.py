"""Which mode follows for a friction? Decided without leaving machine code.

What :mod:`blocks.nonsmooth.modes.decisions` would come to, of elements whose rates follow their
efforts by a constant matrix D. One element has come to the end of its mode, all others are well
within theirs. With the modes of the others held, it has a box problem of one unknown, and the
answer is that of all where the others of its connected part stay within their bounds by it: D of
the part is symmetric and positive definite, so there is one answer. Where they do not, or several
have come to their bounds together, all that rest are decided on (:mod:`.joint_choice`). Of a
friction and a closed contact that hold one motion the friction is decided on, with the bounds of
both (:mod:`blocks.nonsmooth.modes.stopped_frictions`). Else Python decides.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Flags, Indices, Matrix, Vector
from ..numerics.tolerances import (
    ALLOWED_DRIFT,
    CLEAR_ROOM,
    CLOSED_GAP,
    FLOW_NONE,
    FLOW_TURNED,
    LEAST_TIME,
    MODE_ENDED,
    NEAR_GAP,
    REBOUND_RESTS,
    SAME_INSTANT,
)
from .held_parts import (
    BACK,
    EFFORT,
    FLOW,
    FORTH,
    GAP,
    HIGH,
    LOW,
    NOBODY,
    RATE,
    RESTITUTION,
    Elements,
    find_column,
    hold,
    is_told,
    own_entry,
    place_of,
    push_part,
    size_of,
    stop_drift,
    stop_flow,
)
from .joint_choice import DRIVE, MOVED, STATE, choose_jointly, is_positive
from .joint_choice import LOW as AT_LOW
from .one_element import NOT_SURE, mode_of_one, sense_of_release
from .steps import Code, Workspace, slope_at
from .zero_crossings import LARGEST, Relations

__all__ = ["decide_modes", "follow_leaders", "largest_effort", "largest_position", "notice_flows",
           "notice_speeds", "others_keep", "room_of", "stop_creeping", "stuck_ones_rest",
           "turn_over"]  # fmt: skip

IN_DOUBT = -1  # instead of how many elements have come to the end of their modes
SEVERAL = 3  # instead of an answer for one


@machine_code
def notice_speeds(relations: Relations, modes: Vector, contact: Flags, kinds: Indices, fast: Vector,
                  first: int) -> None:
    """Take note of the largest flows of what slid since the last event, from a margin on."""
    largest = relations.looks[LARGEST]
    for e in range(modes.size):
        if modes[e] != 0.0 and not contact[e] and np.isfinite(largest[first + e]):
            fast[kinds[e]] = max(fast[kinds[e]], largest[first + e])


@machine_code
def notice_flows(found: Matrix, kinds: Indices, fast: Vector) -> None:
    """The same of the flows at a point."""
    for e in range(kinds.size):
        fast[kinds[e]] = max(fast[kinds[e]], abs(found[FLOW, e]))


@machine_code
def decide_modes(code: Code, work: Workspace, relations: Relations, elements: Elements, t: float,
                 x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes and ``x`` changed.

    Parameters
    ----------
    x : the point; flows of what comes to rest are brought to zero
    crossed : whether margins have become negative; else a known instant has changed something
    """
    elements.struck[0] = NOBODY
    if not _decide(code, work, relations, elements, t, x, crossed):
        return False
    follow_leaders(elements.modes, elements.leader, elements.sense)
    return True


@machine_code
def follow_leaders(modes: Vector, leader: Indices, sense: Indices) -> None:
    """Modes of what moves as others do."""
    for e in range(modes.size):
        if leader[e] != NOBODY:
            modes[e] = sense[e] * modes[leader[e]]


@machine_code
def _decide(code: Code, work: Workspace, relations: Relations, elements: Elements, t: float,
            x: Vector, crossed: bool) -> bool:
    """Choose the modes of those that decide."""
    modes, found = elements.modes, elements.found
    look_at_elements(code, work, elements, t, x)
    notice_flows(found, elements.kinds, elements.fast)
    if turn_over(modes, found, elements.contact, elements.kinds, elements.fast, t):
        look_at_elements(code, work, elements, t, x)
    if elements.of_contacts != 0 and not _gaps_hold(code, work, relations, elements, x, crossed):
        return False
    touched, count = _touched(relations, elements, x, crossed)
    if count == IN_DOUBT:
        return False
    if count == 0:
        return True
    if elements.contact[touched] and modes[touched] != 0.0:
        relations.slack[relations.slack.size - modes.size + touched] = 0.0
        return count == 1 and _strike(code, work, elements, t, x, touched)
    return _decide_part(code, work, relations, elements, t, x, touched, count)


@machine_code
def turn_over(modes: Vector, found: Matrix, contact: Flags, kinds: Indices, fast: Vector, t: float
              ) -> bool:
    """Let friction slide the way that it goes, where it has clearly turned; whether any has.

    Without strength, as a brake that is not pressed, it turned with no end of its mode to tell.
    """
    turned, instant = False, SAME_INSTANT * max(abs(t), LEAST_TIME)
    for e in range(modes.size):
        flow = found[FLOW, e]
        if modes[e] * flow < -FLOW_TURNED * fast[kinds[e]] and not contact[e] and (
                abs(flow) > instant * abs(found[RATE, e])):
            modes[e] = -modes[e]
            turned = True
    return turned


@machine_code
def _touched(relations: Relations, elements: Elements, x: Vector, crossed: bool
             ) -> tuple[int, int]:
    """An element whose mode has ended, the one that slid; and how many have, or ``IN_DOUBT``.

    Of a friction that turns where its contact closes, the contact, if the motion is there.
    """
    modes, found = elements.modes, elements.found
    first, touched, count = relations.wrong.size - modes.size, NOBODY, 0
    for e in range(modes.size):
        slow = FLOW_TURNED * elements.fast[elements.kinds[e]]
        doubtful = crossed and relations.wrong[first + e] and (
            elements.contact[e] or not modes[e] * found[FLOW, e] > slow)
        if elements.leader[e] != e:
            continue
        if elements.contact[e] and modes[e] != 0.0:
            pass  # its gap has been looked at
        elif modes[e] == 0.0:
            doubtful = doubtful or room_of(found, e) < -relations.slack[first + e]
        elif doubtful:
            if modes[e] * found[FLOW, e] < -slow:
                return NOBODY, IN_DOUBT
        elif not modes[e] * found[FLOW, e] >= slow and not (
                crossed and _is_struck(relations, elements, e)):
            return NOBODY, IN_DOUBT
        if doubtful and elements.told_by[e] != NOBODY and crossed and (
                relations.wrong[first + elements.told_by[e]]):
            doubtful = False
        if doubtful:
            if touched != NOBODY and (elements.part[touched] != elements.part[e] or (
                    modes[touched] != 0.0 and modes[e] != 0.0)):
                return NOBODY, IN_DOUBT
            if touched == NOBODY or modes[e] != 0.0:
                touched = e
            count += 1
    if touched != NOBODY and modes[touched] != 0.0:
        for k in range(elements.starts[elements.part[touched]],
                       elements.starts[elements.part[touched] + 1]):
            i = elements.members[k]
            if elements.told_by[i] == touched and elements.gaps[GAP, i] <= (
                    CLOSED_GAP * largest_position(elements.positions, elements.scale, x)):
                return i, count
    return touched, count


@machine_code
def _is_struck(relations: Relations, elements: Elements, e: int) -> bool:
    """Whether a contact closes whose motion a friction brakes."""
    first, part = relations.wrong.size - elements.modes.size, elements.part[e]
    for k in range(elements.starts[part], elements.starts[part + 1]):
        i = elements.members[k]
        if elements.told_by[i] == e and elements.modes[i] != 0.0 and relations.wrong[first + i]:
            return True
    return False


# -- contacts ------------------------------------------------------------------------------
@machine_code
def _gaps_hold(code: Code, work: Workspace, relations: Relations, elements: Elements, x: Vector,
               crossed: bool) -> bool:
    """Whether open contacts are open and closed ones closed, but for those that close now.

    Beside one that does, others have to be clear of taking part in its impact.
    """
    run_code(elements.of_contacts, work.at, x, code.p, code.q, elements.gaps)
    first = relations.wrong.size - elements.modes.size
    far = largest_position(elements.positions, elements.scale, x)
    struck = NOBODY
    for e in range(elements.modes.size):
        if elements.contact[e] and elements.modes[e] != 0.0 and crossed and (
                relations.wrong[first + e]):
            struck = elements.part[e]
    for e in range(elements.modes.size):
        gap, friction = elements.gaps[GAP, e], elements.told_by[e]
        closes = crossed and (relations.wrong[first + e] or friction != NOBODY and (
            elements.modes[friction] != 0.0 and relations.wrong[first + friction]))
        clear = NEAR_GAP if elements.part[e] == struck else CLOSED_GAP
        if not elements.contact[e]:
            continue
        if elements.modes[e] == 0.0:
            if not abs(gap) <= ALLOWED_DRIFT * far:
                return False
        elif not closes and not gap >= clear * far:
            return False
    return True


@machine_code
def largest_position(positions: Indices, scale: Vector, x: Vector) -> float:
    """What gaps are compared with: the largest of the positions that they are made of."""
    far = 0.0
    for k in range(positions.size):
        i = positions[k]
        far = max(far, max(abs(x[i]), scale[i]))
    return far


@machine_code
def _strike(code: Code, work: Workspace, elements: Elements, t: float, x: Vector, e: int) -> bool:
    """Let a contact close beside no other: it rebounds, or stays (Newton's law).

    Friction slides as velocities are afterwards; of the motion that stays it tells for the contact.
    """
    modes, found, part = elements.modes, elements.found, elements.part[e]
    flow = found[FLOW, e]
    least, friction = 0.0, elements.told_by[e]
    if friction != NOBODY:  # which may have come to rest just there
        if modes[friction] == 0.0:
            return False
        least = -FLOW_TURNED * elements.fast[elements.kinds[e]]
    if not flow > least or not _is_regular(elements, part, e):
        return False
    for k in range(elements.starts[part], elements.starts[part + 1]):
        i = elements.members[k]
        if elements.contact[i] and modes[i] == 0.0:
            return False
    here = place_of(elements, part, e)
    own = elements.d[elements.first[part] + here * (size_of(elements, part) + 1)]
    for a in range(size_of(elements, part)):
        elements.column[a] = 0.0
    elements.column[here] = (1.0 + elements.gaps[RESTITUTION, e]) * flow / own
    push_part(code, work, elements, x, part)
    elements.struck[0] = e
    look_at_elements(code, work, elements, t, x)
    stays = not abs(found[FLOW, e]) > REBOUND_RESTS * elements.fast[elements.kinds[e]]
    tells = friction if stays else NOBODY
    for k in range(elements.starts[part], elements.starts[part + 1]):
        i = elements.members[k]
        if not elements.contact[i] and elements.leader[i] != NOBODY and i != tells:
            slow = FLOW_TURNED * elements.fast[elements.kinds[i]]
            if i != friction and not abs(found[FLOW, i]) > slow:
                return False
            modes[i] = 1.0 if found[FLOW, i] > 0.0 else -1.0
    hold(code, work, elements, x, part)
    look_at_elements(code, work, elements, t, x)
    if not stays:
        return True
    if tells != NOBODY:
        modes[e] = 0.0
        e = tells
    return _decide_one(code, work, elements, t, x, part, e) == 1


@machine_code
def _is_regular(elements: Elements, part: int, e: int) -> bool:
    """Whether D of an element and those that rest beside is symmetric and positive definite."""
    if elements.regular[part]:
        return True
    if not elements.symmetric[part]:
        return False
    rests = _at_rest(elements, part, e)
    _fill_block(elements, part, rests)
    return is_positive(elements.block, elements.factor, rests)


@machine_code
def _at_rest(elements: Elements, part: int, e: int) -> int:
    """Fill in which elements of a part rest, ``e`` among them, and nobody tells for; how many."""
    still, rests = elements.still, 0
    for a in range(size_of(elements, part)):
        i = elements.members[elements.starts[part] + a]
        if (elements.modes[i] == 0.0 or i == e) and elements.leader[i] != NOBODY and (
                not is_told(elements, i)):
            still[rests] = a
            rests += 1
    return rests


@machine_code
def _fill_block(elements: Elements, part: int, rests: int) -> None:
    """D of those of a part that rest."""
    size, first, still = size_of(elements, part), elements.first[part], elements.still
    for a in range(rests):
        for b in range(rests):
            elements.block[a, b] = elements.d[first + still[a] * size + still[b]]


@machine_code
def look_at_elements(code: Code, work: Workspace, elements: Elements, t: float, x: Vector) -> None:
    """What elements come to in their present modes."""
    work.at[0] = t
    run_code(elements.values, work.at, x, code.p, code.q, elements.found)


@machine_code
def stuck_ones_rest(code: Code, work: Workspace, elements: Elements, t: float, x: Vector) -> bool:
    """Whether what sticks or is closed does not move, though states have been assigned."""
    look_at_elements(code, work, elements, t, x)
    for e in range(elements.modes.size):
        if elements.modes[e] == 0.0 and (
                not abs(elements.found[FLOW, e]) <= FLOW_TURNED * elements.fast[elements.kinds[e]]):
            return False
    return True


@machine_code
def room_of(found: Matrix, e: int) -> float:
    """How far a stuck element is from its bounds."""
    return min(found[HIGH, e] - found[EFFORT, e], found[EFFORT, e] - found[LOW, e])


@machine_code
def _decide_part(code: Code, work: Workspace, relations: Relations, elements: Elements, t: float,
                 x: Vector, e: int, touched: int) -> bool:
    """Choose the modes of those that feel what has come to the end of its mode: one, or several.
    """
    modes, found, part = elements.modes, elements.found, elements.part[e]
    before = modes[e]
    powerless = found[LOW, e] == found[HIGH, e]
    if not found[LOW, e] <= found[HIGH, e] or powerless and (before != 0.0 or touched > 1) or (
            not _is_regular(elements, part, e)):
        return False
    if stop_drift(code, work, elements, x, part):
        look_at_elements(code, work, elements, t, x)
    rests = _at_rest(elements, part, e)
    for a in range(rests):
        i = elements.members[elements.starts[part] + elements.still[a]]
        width = found[HIGH, i] - found[LOW, i]
        if not np.isfinite(width):
            width = abs(found[EFFORT, i])
        leaves = modes[i] == 0.0 and room_of(found, i) <= MODE_ENDED * width
        elements.rest[MOVED, a] = 1.0 if leaves else 0.0
        if leaves or i == e:
            relations.slack[relations.slack.size - modes.size + i] = 0.0
    for k in range(elements.starts[part], elements.starts[part + 1]):
        if is_told(elements, elements.members[k]):
            relations.slack[relations.slack.size - modes.size + elements.members[k]] = 0.0
    if touched == 1:
        answer = _decide_one(code, work, elements, t, x, part, e)
        if answer != SEVERAL or powerless:
            return answer == 1
    modes[e] = 0.0
    hold(code, work, elements, x, part)
    if before != 0.0 and touched > 1:
        stop_flow(code, work, elements, x, part, e, found[FLOW, e])
    look_at_elements(code, work, elements, t, x)
    if not _choose_rest(code, work, elements, t, x, part, rests):
        return False
    stop_creeping(elements.modes, elements.kinds, elements.fast, elements.flow_starts,
                  elements.flow_states, elements.reach, elements.free, x)
    return True


@machine_code
def _choose_rest(code: Code, work: Workspace, elements: Elements, t: float, x: Vector, part: int,
                 rests: int) -> bool:
    """Choose the modes of all in a part that rest, where one of them does not keep its own."""
    modes, found, rest, start = elements.modes, elements.found, elements.rest, elements.starts[part]
    _fill_block(elements, part, rests)
    for a in range(rests):
        i = elements.members[start + elements.still[a]]
        for side in range(4):
            rest[AT_LOW + side, a] = found[LOW + side, i]
        rest[DRIVE, a] = 0.0
        for b in range(rests):
            rest[DRIVE, a] += elements.block[a, b] * found[
                EFFORT, elements.members[start + elements.still[b]]]
    if not choose_jointly(elements.block, rest, elements.factor, elements.own, elements.right,
                          elements.column, elements.taken, elements.order, rests):
        return False
    for a in range(rests):
        i = elements.members[start + elements.still[a]]
        modes[i] = rest[STATE, a]
        if elements.contact[i] and modes[i] != 0.0:
            return False
        _let_open(elements, part, i)
    hold(code, work, elements, x, part)
    look_at_elements(code, work, elements, t, x)
    for a in range(rests):
        i = elements.members[start + elements.still[a]]
        if modes[i] != 0.0 and not modes[i] * found[RATE, i] > _rounding(
                code, work, elements, t, x, i):
            return False
    return others_keep(found, modes, elements.members, start, elements.starts[part + 1], NOBODY)


@machine_code
def stop_creeping(modes: Vector, kinds: Indices, fast: Vector, flow_starts: Indices,
                  flow_states: Indices, reach: Vector, free: Vector, x: Vector) -> None:
    """Bring what stuck elements hold, but for rounding, to rest."""
    for e in range(modes.size):
        if modes[e] == 0.0:
            for j in range(flow_starts[e], flow_starts[e + 1]):
                i = flow_states[j]
                if free[i] == 0.0 and reach[j] * abs(x[i]) <= FLOW_NONE * fast[kinds[e]]:
                    x[i] = 0.0


@machine_code
def _decide_one(code: Code, work: Workspace, elements: Elements, t: float, x: Vector, part: int,
                e: int) -> int:
    """Choose the mode of one element, while the others keep theirs: 1 if so, or ``SEVERAL``."""
    modes, found = elements.modes, elements.found
    before = modes[e]
    if before != 0.0:
        modes[e] = 0.0
        hold(code, work, elements, x, part)
        stop_flow(code, work, elements, x, part, e, found[FLOW, e])
        look_at_elements(code, work, elements, t, x)
    low, high, effort = found[LOW, e], found[HIGH, e], found[EFFORT, e]
    # a freewheel bears any torque one way, and none the other
    clear = CLEAR_ROOM * min(high - low, _largest(elements, part))
    if not (before != 0.0 and low + clear < effort < high - clear):
        if before != 0.0 and not _others_hold_it(elements, part, e):
            return SEVERAL
        mode = _sense(code, work, elements, t, x, part, e, before != 0.0)
        if mode == NOT_SURE:
            return 0
        modes[e] = mode
        _let_open(elements, part, e)
        hold(code, work, elements, x, part)
        look_at_elements(code, work, elements, t, x)
    if modes[e] == before:
        return 0  # a mode that goes on is one for shorter steps
    if not others_keep(found, modes, elements.members, elements.starts[part],
                       elements.starts[part + 1], e):
        return SEVERAL
    stop_creeping(elements.modes, elements.kinds, elements.fast, elements.flow_starts,
                  elements.flow_states, elements.reach, elements.free, x)
    return 1


@machine_code
def _let_open(elements: Elements, part: int, e: int) -> None:
    """Open the contacts that a friction tells for, where it moves."""
    if elements.modes[e] != 0.0:
        for k in range(elements.starts[part], elements.starts[part + 1]):
            i = elements.members[k]
            if elements.told_by[i] == e:
                elements.modes[i] = -1.0


@machine_code
def _sense(code: Code, work: Workspace, elements: Elements, t: float, x: Vector, part: int, e: int,
           slid: bool) -> int:
    """The mode of an element that rest does not hold."""
    found = elements.found
    low, high, back, forth = found[LOW, e], found[HIGH, e], found[BACK, e], found[FORTH, e]
    if not slid:
        mode = sense_of_release(found[EFFORT, e], low, high, back, forth,
                                _largest(elements, part))
        if mode != NOT_SURE:
            return mode
    own = 1.0 / own_entry(elements, part, e)
    return mode_of_one(own, own * found[EFFORT, e], low, high, back, forth, slid,
                       _rounding(code, work, elements, t, x, e))


@machine_code
def _largest(elements: Elements, part: int) -> float:
    """The largest effort in a part."""
    return largest_effort(elements.found, elements.members, elements.starts[part],
                          elements.starts[part + 1])


@machine_code
def largest_effort(found: Matrix, members: Indices, start: int, stop: int) -> float:
    """The largest effort of some elements."""
    largest = 0.0
    for k in range(start, stop):
        largest = max(largest, abs(found[EFFORT, members[k]]))
    return largest


@machine_code
def others_keep(found: Matrix, modes: Vector, members: Indices, start: int, stop: int, e: int
                ) -> bool:
    """Whether those of some elements that rest, but for ``e``, are well within their bounds."""
    enough = CLEAR_ROOM * largest_effort(found, members, start, stop)
    for k in range(start, stop):
        i = members[k]
        if i != e and modes[i] == 0.0 and not room_of(found, i) > enough:
            return False
    return True


@machine_code
def _others_hold_it(elements: Elements, part: int, e: int) -> bool:
    """Whether what rests besides keeps within its bounds while ``e`` resists as much as at rest.

    It moves with less, so the others might hold what they have been torn away by: as in Python,
    friction in motion is looked at only then.
    """
    found, here, largest = elements.found, place_of(elements, part, e), _largest(elements, part)
    find_column(elements, part, here)
    over = max(found[EFFORT, e] - found[HIGH, e], 0.0) + min(found[EFFORT, e] - found[LOW, e], 0.0)
    for a in range(size_of(elements, part)):
        i = elements.members[elements.starts[part] + a]
        if i == e or elements.modes[i] != 0.0 or elements.leader[i] == NOBODY:
            continue
        effort = found[EFFORT, i] - over * elements.column[a] / elements.column[here]
        room = min(found[HIGH, i] - effort, effort - found[LOW, i])
        if not room > CLEAR_ROOM * largest:
            return False
    return True


@machine_code
def _rounding(code: Code, work: Workspace, elements: Elements, t: float, x: Vector, e: int
              ) -> float:
    """A rate of an element that is rounding only."""
    slope_at(code, work, t, x, elements.slope)
    total = 0.0
    for j in range(elements.flow_starts[e], elements.flow_starts[e + 1]):
        total += elements.reach[j] * abs(elements.slope[elements.flow_states[j]])
    return elements.rounding * total
