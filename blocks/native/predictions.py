"""Which mode follows? Predicted without leaving machine code.

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
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.impact import LOWER, PUSH, SPEED, TOUCHES, UPPER
from ..nonsmooth.complementarity.impact import RESTITUTION as RESTITUTION_OF
from ..nonsmooth.complementarity.islands_at_rest import (
    END,
    GIVEN,
    LOOSE,
    PRESS,
    PRESSED,
    WEIGHT,
    give_rows,
)
from ..nonsmooth.complementarity.moving import (
    AT_FIRST,
    CREEPS,
    DOWN,
    DRIVE,
    KNOWN,
    LET_GO,
    MOVED,
    NOISE,
    SHARED,
    STATE,
    SURE,
    UP,
)
from ..nonsmooth.complementarity.moving import EFFORT as SHARED_EFFORT
from ..nonsmooth.complementarity.moving import LOW as AT_LOW
from ..nonsmooth.complementarity.p_matrix import is_positive
from ..nonsmooth.complementarity.problem import weigh_ranges
from ..nonsmooth.modes.held_states import hold_states
from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import (
    ALLOWED_DRIFT,
    ANOTHER_SOLUTION,
    AT_BOUND,
    CLEAR,
    CLEAR_RATE,
    DECIDED_AGAIN,
    FLOW_NONE,
    MODE_ENDED,
    NEAR_GAP,
    NOTHING_AT_ALL,
    PROXIMAL_POINT,
    ROUNDING,
    SAFE_PIVOT,
    SAME_AS_BEFORE,
    SAME_INSTANT,
    SHORT_TIME,
)
from .impulses import drifts, push, stop_island
from .kept_factors import keep_factors, share_load
from .predicted_elements import (
    EFFORT,
    FLOW,
    GAP,
    HIGH,
    LOW,
    NOBODY,
    RATE,
    RESTITUTION,
    PredictedElements,
    bounds_move,
    is_held,
    is_regular,
    is_shared,
    no_flow,
    part_of,
)
from .steps import Code, Workspace, are_finite, project_in_place, values_at
from .zero_crossings import LARGEST, Relations

__all__ = ["notice_speeds", "predict_modes", "stuck_ones_rest"]

ROUNDS = 10  # in which bounds that bend are found
FAR_AWAY = 1e3  # times the largest effort: where others are sought
IN_DOUBT = -1  # instead of how many elements have come to the end of their modes


@machine_code
def predict_modes(code: Code, work: Workspace, relations: Relations, elements: PredictedElements,
                  t: float, x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes and ``x`` changed.

    ``x`` is the point: flows of what comes to rest are brought to zero. ``crossed``: whether
    margins have become negative; else a known instant has changed something.
    """
    modes, found = elements.modes, elements.found
    again = t - elements.last[0] <= DECIDED_AGAIN * max(abs(t), SHORT_TIME)
    elements.struck[:] = 0.0
    elements.known[:] = modes[: elements.known.size]
    for e in range(modes.size):
        if again and elements.contact[e] and modes[e] == 0.0:
            return False  # whether it pulls by rounding
        if (elements.contact[e] or elements.k.size == 0) and not is_held(elements, e):
            elements.slack[e] = 0.0
    project_in_place(code, work, t, x)
    if not _look(code, work, elements, t, x):
        return False
    for e in range(modes.size):
        fast = elements.kinds[e]
        elements.fast[fast] = max(elements.fast[fast], abs(found[FLOW, e]))
    if _turn_over(work, elements, t, x) and not _look(code, work, elements, t, x):
        return False
    e, touched, passing = _touched(relations, elements, x, crossed)
    if touched == IN_DOUBT or passing > 0 and touched > 0:
        return False
    if passing > 0 and not _pass_dead_centres(code, work, elements, t, x):
        return False
    while e != NOBODY:  # part by part
        count, ended = part_of(elements, e), 0
        for k in range(count):
            if elements.doubtful[elements.members[k]] != 0:
                ended += 1
        if elements.contact[e] and modes[e] != 0.0:
            if not _strike(code, work, elements, t, x, e):
                return False
        elif not _decide_part(code, work, elements, t, x, e, ended == 1):
            return False
        for k in range(part_of(elements, e)):
            elements.doubtful[elements.members[k]] = 0
        e = NOBODY
        for i in range(modes.size):
            if elements.doubtful[i] != 0 and (e == NOBODY or modes[i] != 0.0):
                e = i
    return _hold(work, relations, elements, t, x)


@machine_code
def notice_speeds(relations: Relations, elements: PredictedElements) -> None:
    """Take note of the largest flows of what slid since the last event."""
    largest, fast = relations.looks[LARGEST], elements.fast
    first = relations.wrong.size - elements.modes.size - elements.reserve
    for e in range(elements.modes.size):
        if elements.modes[e] != 0.0 and not elements.contact[e] and np.isfinite(largest[first + e]):
            fast[elements.kinds[e]] = max(fast[elements.kinds[e]], largest[first + e])


@machine_code
def stuck_ones_rest(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector
                    ) -> bool:
    """Whether what sticks or is closed does not move, though states have been assigned."""
    values_at(code, work, elements.present, t, x, elements.room)
    for e in range(elements.modes.size):
        if elements.modes[e] == 0.0 and not abs(elements.found[FLOW, e]) <= (
                CLEAR * elements.fast[elements.kinds[e]]):
            return False
    return True


@machine_code
def _turn_over(work: Workspace, elements: PredictedElements, t: float, x: Vector) -> bool:
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
def _decide_part(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
                 e: int, alone: bool) -> bool:
    """Choose the modes of those that feel what has come to the end of its mode: one, or several."""
    count, found, modes = part_of(elements, e), elements.found, elements.modes
    rests, shared = modes[e] == 0.0, is_shared(elements, e)
    bends = False
    for k in range(count):
        bends |= elements.bends[elements.members[k]]
    if elements.k.size > 0 and not found[LOW, e] <= found[HIGH, e]:
        return False
    if found[LOW, e] == found[HIGH, e] and not alone and not shared:
        return False
    if drifts(elements, count) and stop_island(code, work, elements, t, x, e, count) and not _look(
            code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        width = found[HIGH, i] - found[LOW, i]
        if not np.isfinite(width):
            width = abs(found[EFFORT, i])
        elements.leaves[i] = 0
        if modes[i] == 0.0 and not alone and not shared and _room_of(
                found, i) <= MODE_ENDED * width:
            elements.leaves[i] = 1
        if elements.leaves[i] != 0 or i == e:
            elements.slack[i] = 0.0
    if rests and shared:  # others may hold it
        loose = _share(code, work, elements, t, x, e, count)
        if loose <= 0:
            return loose == 0 and (elements.k.size > 0 or _others_keep(elements, count))
        for k in range(count):
            elements.leaves[elements.members[k]] = elements.loose[elements.members[k]]
    elif rests and alone:  # what nearly always follows is where the search begins
        low, high, effort = found[LOW, e], found[HIGH, e], found[EFFORT, e]
        if not _sense_is_told(effort, low, high, _largest_effort(elements, count)):
            return False
        modes[e] = 1.0 if high - effort < effort - low else -1.0
        elements.leaves[e] = 1
        if not _look(code, work, elements, t, x):
            return False
    for k in range(count):  # several may come to rest at once
        i = elements.members[k]
        if elements.doubtful[i] != 0 and not elements.contact[i]:
            modes[i] = 0.0
    if not rests and (elements.k.size > 0 or not shared) and not _rests_now(
            code, work, elements, t, x, e, count):
        return False
    _ask(elements, e, count)
    for _ in range(ROUNDS if bends else 1):
        if _choose(code, work, elements, t, x, e, count, rests):
            return not bends or _is_alone(code, work, elements, t, x, count)
    return False


@machine_code
def _ask(elements: PredictedElements, e: int, count: int) -> None:
    """Note which of a part are decided on together: those that rest, or may."""
    for k in range(count):
        i = elements.members[k]
        rests = elements.modes[i] == 0.0 or i == e or elements.leaves[i] != 0
        elements.asked_now[i] = 1 if rests else 0


@machine_code
def _pose(elements: PredictedElements, e: int, count: int, resting: bool) -> int:
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
    for a in range(size):
        i = still[a]
        for side in range(4):
            rest[AT_LOW + side, a] = found[LOW + side, i]
        rest[DRIVE, a], rest[AT_FIRST, a], rest[NOISE, a] = found[RATE, i], found[EFFORT, i], 0.0
        for b in range(size):
            j = still[b]
            elements.block[a, b] = elements.d[i, j]
            rest[DRIVE, a] += elements.d[i, j] * found[EFFORT, j]
            for side in range(4 if elements.dependent[0] else 0):
                by = elements.bounds[side, i, j]
                elements.by[side, a, b] = by
                if by != 0.0:
                    rest[AT_LOW + side, a] -= by * found[EFFORT, j]
    rest[SURE, 0] = 0.0 if follows else 1.0
    shared = is_shared(elements, e)
    rest[SHARED, 0] = 1.0 if shared else 0.0
    regular = elements.k.size > 0 and elements.regular[elements.part[e]] or is_positive(
        elements.block, elements.matrix, asked, SAFE_PIVOT)
    return size if regular or shared else 0


@machine_code
def _choose(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
            e: int, count: int, rested: bool) -> bool:
    """Choose the modes of all in a part that rest, as efforts are now that modes are guessed."""
    modes, rest, still, size = elements.modes, elements.rest, elements.still, _pose(
        elements, e, count, False)
    elements.asked[elements.counted] = size
    if size == 0:
        return False
    run_code(elements.chooses, elements.asked)
    if elements.answer[0] == 0:
        return False
    changed = False
    for a in range(size):
        i = still[a]
        changed |= modes[i] != rest[STATE, a]
        modes[i] = rest[STATE, a]
        elements.leaves[i] = 0
        if rest[MOVED, a] != 0.0:
            elements.leaves[i] = 2 if rest[MOVED, a] == LET_GO else 1
        if not rested and elements.k.size == 0 and (i == e or elements.doubtful[i] != 0) and (
                modes[i] * elements.found[FLOW, i] < 0.0):
            return False  # it has not turned, and cannot be stopped
        if modes[i] == 0.0 and _is_powerless(elements, a, size):
            modes[i], elements.leaves[i], changed = 1.0, 2, True
    shared = elements.k.size == 0 and is_shared(elements, e)
    if shared and _share(code, work, elements, t, x, e, count) != 0:
        return False
    if not rested and elements.k.size == 0:  # now that what rests has efforts
        changed = True
        if not stop_island(code, work, elements, t, x, e, count) or shared and _share(
                code, work, elements, t, x, e, count) != 0:
            return False
    if not shared and changed and not _look(code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        if modes[i] != 0.0 and elements.asked_now[i] != 0 and (
                elements.leaves[i] != 2) and not _moves(elements, i, modes[i]):
            return False
        if modes[i] == 0.0 and elements.loose[i] != 0:
            return False
    return _others_keep(elements, count)


@machine_code
def _is_powerless(elements: PredictedElements, a: int, size: int) -> bool:
    """Whether what presses friction is open: it holds nothing, not even by rounding."""
    rest, is_open = elements.rest, False
    for b in range(size if elements.dependent[0] else 0):
        if elements.by[0, a, b] != 0.0 or elements.by[1, a, b] != 0.0:
            if rest[STATE, b] == 0.0 or not elements.contact[elements.still[b]]:
                return False
            is_open = True
    return is_open and rest[UP, a] <= rest[DOWN, a]


@machine_code
def _share(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector, e: int,
           count: int) -> int:
    """Look at a part that shares what it holds; how many of it nothing holds, or -1."""
    found, told, still = elements.found, elements.given_told, elements.still
    if elements.k.size > 0:
        loose = share_load(elements, elements.part[e], AT_BOUND, True)
        return loose if loose != 0 or _look(code, work, elements, t, x) else -1
    rests = _creep(elements, e, count)
    for _ in range(ROUNDS + rests):
        loose = _give_rows(elements, e, rests)
        if loose != 0 or elements.dependent[0] and _is_wedged(elements, rests):
            return loose if loose != 0 else -1
        if not _look(code, work, elements, t, x):
            return -1
        elements.guess[:] = found[EFFORT]  # from where bounds go on
        near, again = AT_BOUND * _largest_effort(elements, count), False
        for a in range(rests):
            i = still[a]
            up, down = found[HIGH, i] - found[EFFORT, i], found[EFFORT, i] - found[LOW, i]
            if told[END, a] != 0.0:
                again |= abs(up if told[END, a] > 0.0 else down) > near
            elif min(up, down) <= near:
                told[END, a], again = 1.0 if up <= down else -1.0, True
        if not again:
            return 0
    return -1


@machine_code
def _is_wedged(elements: PredictedElements, rests: int) -> bool:
    """Whether what slides moves otherwise where efforts at rest are others that are as good: its
    own follow them."""
    told, rows, d, rest = elements.given_told, elements.given_rows, elements.given_d, elements.rest
    size, change = elements.asked[elements.counted], elements.own
    for a in range(rests):
        for c in range(size):
            change[c] = rows[a, c] / told[WEIGHT, c] if c < rests else 0.0
        for _ in range(size - rests if told[GIVEN, a] != 0.0 else 0):  # one after the other
            for b in range(rests, size):
                side, change[b] = 3 if rest[KNOWN, b] > 0.0 else 2, 0.0
                for c in range(size):
                    by, i, j = elements.by[side, b, c], elements.still[b], elements.still[c]
                    if by == 0.0 and change[c] != 0.0 and elements.bent_by[i, j] != 0.0:
                        return True  # without any load nothing tells which way a bound will turn
                    change[b] += by * change[c]
        for b in range(rests, size if told[GIVEN, a] != 0.0 else 0):
            moved = largest = 0.0
            for c in range(size):
                moved += d[b, c] * change[c]
                largest = max(largest, abs(d[b, c] * change[c]))
            if abs(moved) > SAME_AS_BEFORE * largest:
                return True
    return False


@machine_code
def _creep(elements: PredictedElements, e: int, count: int) -> int:
    """Tell who in a part comes to its bounds where what rests creeps a little, each by its effort;
    how many rest."""
    rest, told, block = elements.rest, elements.given_told, elements.block
    for k in range(count):
        i = elements.members[k]
        elements.given[elements.ends_at[i]] = elements.slack[i] = 0.0
        elements.loose[i] = 0
    size = _pose(elements, e, count, True)
    for a in range(size):
        own, follows = block[a, a], False
        for b in range(size):
            elements.given_d[a, b] = block[a, b]
            for side in range(2 if elements.dependent[0] else 0):
                follows |= elements.by[side, a, b] != 0.0
        unit = np.sqrt(own) if own > 0.0 else 1.0
        told[END, a] = 0.0 if follows else rest[AT_LOW, a] * unit
        told[PRESS, a] = 0.0 if follows else rest[AT_LOW + 1, a] * unit
    weigh_ranges(told[END], told[PRESS], told[WEIGHT], size)
    _press(elements, size)
    for a in range(size):
        told[WEIGHT, a] *= elements.given_d[a, a]
        if rest[STATE, a] == 0.0:
            block[a, a] += PROXIMAL_POINT * told[WEIGHT, a]
            rest[DRIVE, a] += PROXIMAL_POINT * told[PRESS, a]
    rest[SURE, 0], rest[SHARED, 0] = 1.0, CREEPS
    elements.asked[elements.counted] = size
    if size > 0:
        run_code(elements.chooses, elements.asked)
    largest, rests = 0.0, 0
    for a in range(size):
        largest = max(largest, abs(rest[SHARED_EFFORT, a]))
        rests += 1 if rest[KNOWN, a] == 0.0 else 0
    for a in range(size):
        elements.guess[elements.still[a]] = rest[SHARED_EFFORT, a]
    for a in range(rests):
        up, down = rest[UP, a] - rest[SHARED_EFFORT, a], rest[SHARED_EFFORT, a] - rest[DOWN, a]
        told[END, a] = 0.0
        if min(up, down) <= AT_BOUND * largest:
            told[END, a] = 1.0 if up <= down else -1.0
    return rests


@machine_code
def _press(elements: PredictedElements, size: int) -> None:
    """Let contacts that friction follows creep into each other by about the load of those at rest,
    as it may be needed."""
    rest, told, d, largest = elements.rest, elements.given_told, elements.given_d, 0.0
    for a in range(size):
        if rest[STATE, a] != 0.0:
            continue
        rate = rest[DRIVE, a]  # with no effort of what rests
        for b in range(size):
            if rest[STATE, b] != 0.0:
                rate -= d[a, b] * rest[AT_LOW + (3 if rest[STATE, b] > 0.0 else 2), b]
        largest = max(largest, abs(rate))
    for a in range(size):
        followed = follows = False
        for b in range(size if rest[STATE, a] == 0.0 and elements.dependent[0] else 0):
            for side in range(2):
                followed |= rest[STATE, b] == 0.0 and elements.by[side, b, a] != 0.0
                follows |= elements.by[side, a, b] != 0.0
        presses = followed and not follows and not np.isfinite(
            rest[AT_LOW + 1, a] - rest[AT_LOW, a])
        told[PRESS, a] = PRESSED * largest if presses else 0.0


@machine_code
def _give_rows(elements: PredictedElements, e: int, rests: int) -> int:
    """Let what rests in a part share what it holds, by equations in the place of those that others
    imply; how many of it nothing holds, which are ``loose``."""
    still, told, n, island = (
        elements.still, elements.given_told, elements.given_count, elements.part[e])
    loose = give_rows(elements.given_d, told, elements.given_rows, elements.matrix, rests)
    width = elements.starts[island + 1] - elements.starts[island]
    first = elements.ends_at[elements.parted[elements.starts[island]]]
    for a in range(rests):
        i = still[a]
        place = elements.ends_at[i]
        at = elements.given_starts[island] + place - first
        elements.loose[i] = 1 if told[LOOSE, a] != 0.0 else 0
        if loose == 0:
            elements.given[place], elements.given[n + place] = told[GIVEN, a], 0.0
            for b in range(rests if told[GIVEN, a] == 1.0 else 0):
                elements.given[n + place] += (
                    elements.given_rows[a, b] / told[WEIGHT, b] * told[PRESS, b])
            elements.slack[i] = np.inf if told[END, a] != 0.0 else 0.0
            for c in range(width):
                elements.given[at + c * width] = 0.0
            for b in range(rests):
                c = elements.ends_at[still[b]] - first
                elements.given[at + c * width] = elements.given_rows[a, b]
    return loose


@machine_code
def _look(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector) -> bool:
    """What elements come to in their present modes; whether there are such efforts."""
    if elements.k.size > 0 and not keep_factors(code, work, elements, x):
        return False
    values_at(code, work, elements.present, t, x, elements.room)
    for part in range(elements.fresh.size):
        if elements.fresh[part] != 0:
            elements.fresh[part] = 0
            if share_load(elements, part, CLEAR, True) < 0:
                return False
            values_at(code, work, elements.present, t, x, elements.room)
    return are_finite(elements.found[EFFORT])


@machine_code
def _touched(relations: Relations, elements: PredictedElements, x: Vector, crossed: bool
             ) -> tuple[int, int, int]:
    """An element whose mode has ended, the one that slid; how many have, or ``IN_DOUBT``; and how
    many others pass a dead centre.

    Of what acts on a contact that closes, what has come to rest there is told after the impact.
    """
    modes, found = elements.modes, elements.found
    first, touched = relations.wrong.size - modes.size - elements.reserve, NOBODY
    far = largest_position(elements.positions, elements.scale, x)
    count, passing, struck, turned = 0, 0, NOBODY, NOBODY
    for e in range(modes.size):
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
            if not elements.contact[e] and modes[e] * found[FLOW, e] < (
                    -CLEAR * fast - 2.0 * relations.slack[first + e]):
                return NOBODY, IN_DOUBT, 0
            if modes[e] != 0.0 and _is_at_dead_centre(elements, e):
                elements.passing[e] = 1
                passing += 1
                doubtful = False
        elif modes[e] == 0.0:
            doubtful = _room_of(found, e) < -elements.slack[e]
            if crossed and relations.wrong[first + e] and not doubtful and (
                    elements.k.size == 0 and elements.ends_at[e] != NOBODY):
                return NOBODY, IN_DOUBT, 0  # others move what a row that is given does not hold
        elif elements.contact[e]:
            if elements.part[e] != turned and elements.part[e] != struck and not (
                    found[GAP, e] >= ROUNDING * far):
                return NOBODY, IN_DOUBT, 0
        elif not modes[e] * found[FLOW, e] > FLOW_NONE * fast and elements.part[e] != struck and (
                not _moves(elements, e, modes[e])):
            if _is_at_dead_centre(elements, e):
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
def largest_position(positions: Indices, scale: Vector, x: Vector) -> float:
    """What gaps are compared with: the largest of the positions that they are made of."""
    far = 0.0
    for k in range(positions.size):
        i = positions[k]
        far = max(far, max(abs(x[i]), scale[i]))
    return far


@machine_code
def _room_of(found: Matrix, e: int) -> float:
    """How far a stuck element is from its bounds."""
    return min(found[HIGH, e] - found[EFFORT, e], found[EFFORT, e] - found[LOW, e])


@machine_code
def _largest_effort(elements: PredictedElements, count: int) -> float:
    """The largest effort in a part."""
    largest = 0.0
    for k in range(count):
        largest = max(largest, abs(elements.found[EFFORT, elements.members[k]]))
    return largest


@machine_code
def _others_keep(elements: PredictedElements, count: int) -> bool:
    """Whether those of a part that rest are well within their bounds, or held."""
    enough = CLEAR * _largest_effort(elements, count)
    for k in range(count):
        i = elements.members[k]
        if elements.modes[i] == 0.0 and not is_held(elements, i) and not (
                _room_of(elements.found, i) > enough):
            return False
    return True


@machine_code
def _sense_is_told(effort: float, low: float, high: float, largest: float) -> bool:
    """Whether the bound that is nearer tells the sense of what lets go there.

    Not where bounds are near to each other, compared with the ``largest`` effort, unless it is
    clearly beyond both: what has lost its strength, as a brake that is pressed no longer.
    """
    return max(high - low, effort - high, low - effort) > CLEAR * largest


# -- impacts ---------------------------------------------------------------------------------
@machine_code
def _strike(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector, e: int
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
    if not _look(code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        elements.leaves[i] = 0
        if not _is_slow(elements, i):
            modes[i] = 1.0 if found[FLOW, i] > 0.0 and not elements.contact[i] else -1.0
        elif elements.contact[i]:
            if modes[i] == 0.0 or elements.struck[i] != 0.0 or found[GAP, i] <= ROUNDING * far:
                modes[i], rests = 0.0, i
        elif modes[i] == 0.0:
            modes[i] = 1.0  # unless it has strength
    if not _look(code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        if not elements.contact[i] and _is_slow(elements, i) and _has_strength(elements, i):
            modes[i], rests = 0.0, i
    if rests != NOBODY:
        if not _rests_now(code, work, elements, t, x, rests, count):
            return False
        _ask(elements, rests, count)
        if not _choose(code, work, elements, t, x, rests, count, False):
            return False
    turned, largest = False, 0.0
    for k in range(count):
        largest = max(largest, abs(found[RATE, elements.members[k]]))
    for k in range(count):  # what holds nothing goes where it is clearly driven
        i = elements.members[k]
        if not elements.contact[i] and _is_slow(elements, i) and not _has_strength(
                elements, i) and -modes[i] * found[RATE, i] > CLEAR_RATE * largest:
            modes[i], turned = -modes[i], True
    return not turned or _look(code, work, elements, t, x)


@machine_code
def _is_slow(elements: PredictedElements, i: int) -> bool:
    """Whether an element hardly moves after an impact."""
    return abs(elements.found[FLOW, i]) <= SAME_AS_BEFORE * elements.fast[elements.kinds[i]]


@machine_code
def _has_strength(elements: PredictedElements, i: int) -> bool:
    """Whether friction holds anything, by itself or by what rests on it."""
    if elements.found[LOW, i] < elements.found[HIGH, i]:
        return True
    for j in range(elements.modes.size if elements.dependent[0] else 0):
        if elements.contact[j] and elements.modes[j] == 0.0 and (
                elements.bounds[0, i, j] != 0.0 or elements.bounds[1, i, j] != 0.0):
            return True
    return False


@machine_code
def _pose_impact(elements: PredictedElements, x: Vector, e: int, count: int) -> int:
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
            rest[SPEED, size], rest[TOUCHES, size] = found[FLOW, i], 1.0 if contact else 0.0
            rest[RESTITUTION_OF, size] = found[RESTITUTION, i] if contact else 0.0
            rest[LOWER, size] = 0.0 if np.isfinite(low) else low
            rest[UPPER, size] = np.inf if contact else 0.0 if np.isfinite(high) else high
            still[size] = i
            size += 1
    for a in range(size):
        side = 0 if modes[still[a]] == 0.0 else 2
        for b in range(size):
            elements.block[a, b] = elements.d[still[a], still[b]]
            for way in range(2 if elements.dependent[0] else 0):
                elements.by[way, a, b] = elements.bounds[side + way, still[a], still[b]]
    return size


# -- what follows ----------------------------------------------------------------------------
@machine_code
def _rests_now(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
               e: int, count: int) -> bool:
    """Let an element rest that has come to a stop; whether there are such efforts.

    What is left of its flow, by the error of steps, is taken away where D is constant; at a dead
    point (a piston's) that would take all motion there is.
    """
    elements.modes[e] = 0.0
    if elements.k.size > 0 and not (keep_factors(code, work, elements, x) and stop_island(
            code, work, elements, t, x, e, count)):
        return False
    return _look(code, work, elements, t, x)


@machine_code
def _is_at_dead_centre(elements: PredictedElements, e: int) -> bool:
    """Whether an element moves nothing just now, beside others that do, but for rounding."""
    largest = 0.0
    for i in range(elements.modes.size):
        largest = max(largest, elements.d[i, i])
    own = abs(elements.d[e, e])
    return 0.0 < own <= NOTHING_AT_ALL * largest and not elements.contact[e]


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
    return _others_keep(elements, modes.size)


@machine_code
def _is_alone(code: Code, work: Workspace, elements: PredictedElements, t: float, x: Vector,
              count: int) -> bool:
    """Whether laws that bend as efforts change hold in these modes by no other efforts, which are
    sought from far away, as :class:`blocks.nonsmooth.modes.painleve.Painleve` does."""
    modes, found, alone = elements.modes, elements.found, True
    largest = _largest_effort(elements, count)
    elements.right[:] = found[EFFORT]
    for sign in range(-1, 2, 2):
        for e in range(modes.size):
            elements.guess[e] = elements.right[e]
            if modes[e] != 0.0 and elements.bends[e]:
                elements.guess[e] = FAR_AWAY * sign * largest
        if alone and _look(code, work, elements, t, x):
            near, differs, holds = ANOTHER_SOLUTION * _largest_effort(elements, count), False, True
            for k in range(count):
                i = elements.members[k]
                differs |= not abs(found[EFFORT, i] - elements.right[i]) <= near
                holds &= modes[i] != 0.0 or _room_of(found, i) >= -near
            alone = not (differs and holds)
    elements.guess[:] = elements.right
    return _look(code, work, elements, t, x) and alone


@machine_code
def _moves(elements: PredictedElements, e: int, sense: float) -> bool:
    """Whether it is driven that way, by more than rounding of the other efforts."""
    drive = 0.0
    for i in range(elements.modes.size):
        drive += abs(elements.d[e, i] * elements.found[EFFORT, i])
    return sense * elements.found[RATE, e] > CLEAR_RATE * drive


# -- what is constant until the next event -----------------------------------------------------
@machine_code
def _hold(work: Workspace, relations: Relations, elements: PredictedElements, t: float, x: Vector
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
    elements.last[0] = t
    return True
