"""Where does an event function, the margin of a relation, cross zero within a step? Compiled.

Crossings are looked for where :mod:`blocks.simulation.zero_crossings` says, in steps of all
methods; the bracket is shrunk as in I. F. D. Oliveira and R. H. C. Takahashi, "An Enhancement of
the Bisection Method Average Performance Preserving Minmax Optimality", ACM Trans. Math. Softw.
47(1), 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Flags, Matrix, Vector
from ..numerics.tolerances import TIME_GRAIN, TINY, ZERO_MARGIN
from ..solvers.looks import FARTHEST, MOST_LOOKS, MOST_PARTS, SAME, SCATTER, TURN
from ..solvers.looks import next_look as _next_look
from .pulses import EXPONENT_ROWS, INSIDE_ROWS
from .stages import ATOL, NEW, WORK
from .step_control import is_too_small
from .step_kinds import about_inside, values_inside
from .steps import Code, Workspace, values_at

if TYPE_CHECKING:
    from ..system import Problem

__all__ = ["FAR", "LARGEST", "LOOK_ROWS", "Relations", "comes_back", "find_crossing",
           "forget_slack", "is_reserve_alone", "keep_largest", "locate",
           "look_at_start", "look_between", "margins_at", "name_crossed",
           "parts_by_angles", "relations_of", "step_within_pieces"]  # fmt: skip

LOOKS = (0.25, 0.5, 0.75, 1.0)  # parts of a step at which relations are looked at
#: Rows of ``looks`` after those of a step: the largest so far, and four of work space.
FAR = 10.0  # times the slack of a margin that has left zero for good
NEAR_KINK = 1e-6  # of the way that looks at a step go: how far beyond a kink it may end
LARGEST, SPARE, LOOK_ROWS = MOST_LOOKS, MOST_LOOKS + 1, MOST_LOOKS + 5
#: Rows of ``places``: at the start of a step, the borders beside it, at a look, once that has moved
#: by tolerances, how far it has gone, which border is above.
START, BELOW, ABOVE, HERE, MOVED, SPAN, PIECE, PLACE_ROWS = range(8)

next_look = machine_code(_next_look)


class Relations(NamedTuple):
    """What is watched in a step: margins that are negative where a relation has crossed."""

    held: Vector  # 1 where a relation holds, 0 where it does not: then its sign is turned
    known: Flags  # that are not searched for
    hints: Flags  # whose margin only says that somebody else must look
    slack: Vector  # what margins may be below zero by
    timed: Flags  # of time alone: known, too, at the instant that ends an episode
    instant: Vector  # (1,) just before it
    looks: Matrix  # (LOOK_ROWS, relations): margins at the looks of a step, the last one first
    times: Vector  # (MOST_LOOKS,) of the looks of a step
    wrong: Flags  # filled with the relations that have crossed
    alone: Flags  # those that conditions of ``when`` look at, and no law
    leeway: Vector  # what margins may be below zero by within a step, where that says nothing
    exponents: Matrix  # (EXPONENT_ROWS, exponents) work space of :mod:`~blocks.native.pulses`
    inside: Matrix  # (INSIDE_ROWS, n) of the same
    angles: Matrix  # (2, angles) of what is periodic in the states, work space
    places: Matrix  # (PLACE_ROWS, tables) where tables of the states are read, work space
    ways: Matrix  # (MOST_LOOKS, 2 tables) at the looks of a step, how far it is to their borders
    borders: Matrix  # of them, as :meth:`~blocks.system.state_tables.StateTables.borders` says


def relations_of(problem: Problem, count: int, n: int, exponents: int) -> Relations:
    """So many relations, and exponents, watched in steps of so many values; all hold as yet."""
    borders = problem.system.state_tables.borders(problem.p)
    known, hints, timed, wrong, alone = np.zeros((5, count), dtype=bool)
    return Relations(
        np.ones(count), known, hints, np.zeros(count), timed, np.full(1, np.inf),
        np.zeros((LOOK_ROWS, count)), np.empty(LOOK_ROWS), wrong, alone, np.zeros(count),
        np.empty((EXPONENT_ROWS, exponents)), np.empty((INSIDE_ROWS, n)),
        np.empty((2, problem.system.angles.numel())), np.zeros((PLACE_ROWS, len(borders))),
        np.empty((MOST_LOOKS, 2 * len(borders))), borders)


@machine_code
def margins_at(code: Code, relations: Relations, at: Vector, t: float, x: Vector, margins: Vector
               ) -> bool:
    """Fill in the margins at a point: whether one that is not known beforehand is negative.

    At a known instant they are those before what jumps there, as ``mod`` of time does.
    """
    at[0] = min(t, relations.instant[0])
    run_code(code.crossings, at, x, code.p, code.q, margins)
    held, known, slack = relations.held, relations.known, relations.slack
    arrived = t >= relations.instant[0]
    violated = False
    for r in range(margins.size):
        margin = slack[r] + (margins[r] if held[r] > 0.5 else -margins[r])
        if known[r]:
            margin = 1.0
        elif arrived and relations.timed[r]:
            margin = np.nan  # nothing that a parabola should go through
        elif not margin >= 0.0:
            violated = True
        margins[r] = margin
    return violated


@machine_code
def margins_inside(code: Code, relations: Relations, work: Workspace, t: float, start: float,
                   h: float, x: Vector, margins: Vector) -> bool:
    """Fill in the margins within a step: whether one is negative; leaves the point in row WORK."""
    values_inside(code, work, start, (t - start) / h, h, x, work.k[WORK])
    return margins_at(code, relations, work.at, t, work.k[WORK], margins)


@machine_code
def seen_inside(code: Code, relations: Relations, work: Workspace, t: float, start: float,
                h: float, x: Vector, margins: Vector) -> bool:
    """Fill in margins within a step where few are near zero, about unless one seems negative:
    whether one is so by more than what is read there may be wrong."""
    about = about_inside(code, work, start, (t - start) / h, h, x, work.k[WORK])
    violated = margins_at(code, relations, work.at, t, work.k[WORK], margins)
    if violated and about:
        violated = margins_inside(code, relations, work, t, start, h, x, margins)
    if violated:
        violated = False
        for r in range(margins.size):
            if -relations.leeway[r] <= margins[r] < 0.0:
                margins[r] = np.nan
            else:
                violated |= not margins[r] >= 0.0
    return violated


@machine_code
def comes_back(code: Code, relations: Relations, work: Workspace, t: float, x: Vector, end: float
               ) -> bool:
    """Whether a condition that is wrong within a step is right at its end, which has been weighed
    against tolerances: fill in what these make of it, by which what is read between may be wrong.

    Laws are not asked: what they take part in, if briefly, may be large.
    """
    here, there, leeway, some = relations.looks[SPARE], relations.looks[SPARE + 1], (
        relations.leeway), False
    for r in range(leeway.size):
        some |= relations.wrong[r] and relations.alone[r]
    if not some:
        return False
    some = False
    margins_at(code, relations, work.at, end, work.k[NEW], there)
    for r in range(leeway.size):
        leeway[r] = 1.0 if relations.wrong[r] and relations.alone[r] and there[r] >= 0.0 else 0.0
        some |= leeway[r] > 0.0
    if not some:
        return False
    moved = work.k[WORK]
    for i in range(x.size):
        moved[i] = x[i] + (work.k[ATOL, i] if work.k[ATOL, i] < np.inf else 0.0)
    margins_at(code, relations, work.at, t, x, here)
    margins_at(code, relations, work.at, t, moved, there)
    moved[:] = x
    for r in range(leeway.size):
        leeway[r] *= FAR * abs(there[r] - here[r])
    return True


@machine_code
def look_at_start(code: Code, relations: Relations, at: Vector, t: float, x: Vector) -> None:
    """Look at the start of the first step after a restart."""
    first = relations.looks[0]
    margins_at(code, relations, at, t, x, first)
    for r in range(first.size):
        back = relations.wrong[r] and first[r] == 0.0  # what has crossed was put onto its zero
        if not (first[r] > 0.0 or back):  # what begins at zero says nothing yet
            first[r] = np.nan


@machine_code
def forget_slack(relations: Relations, count: int, far: float) -> None:
    """A margin that was so far from zero in a look may no longer be below it by rounding."""
    looks, slack = relations.looks, relations.slack
    for r in range(slack.size):
        away = False
        for k in range(count if slack[r] > 0.0 else 0):
            away |= looks[k, r] > far * slack[r]
        if away:
            for k in range(count):
                looks[k, r] -= slack[r]
            slack[r] = 0.0


@machine_code
def parts_by_angles(code: Code, relations: Relations, work: Workspace, x: Vector, start: float,
                    end: float, h: float) -> int:
    """In how many equal parts a step is looked at, so that between two looks no angle turns by
    more than ``TURN``, as its quarters tell."""
    angles, row, widest = relations.angles, work.k[WORK], 0.0
    values_at(code, work, code.angles, start, x, angles[0])
    for j in range(4):
        t = end
        if j == 3:
            row = work.k[NEW]
        else:
            t = start + LOOKS[j] * (end - start)
            about_inside(code, work, start, (t - start) / h, h, x, row)
        values_at(code, work, code.angles, t, row, angles[1])
        for r in range(angles.shape[1]):
            widest = max(widest, abs(angles[1, r] - angles[0, r]))
        angles[0, :] = angles[1, :]
    return 1 + int(min(widest, FARTHEST) / TURN)


@machine_code
def step_within_pieces(code: Code, relations: Relations, work: Workspace, x: Vector, t: float,
                       h: float) -> float:
    """The length of a step that ends where it passes a border of a table of the states, or a kink
    of theirs that is not within what tolerances allow.

    It is looked at as relations are, also for what it passes there and back.
    """
    ways, times, row, parts = relations.ways, relations.times, work.k[WORK], 1
    if code.angles != 0:
        parts = min(parts_by_angles(code, relations, work, x, t, t + h, h), MOST_PARTS)
    values_at(code, work, code.places, t, x, relations.places[START])
    _find_pieces(relations)
    row[:], times[0] = x, 0.0
    _look_at_borders(code, relations, work, t, ways[0])
    for part in range(parts):
        count, at = 1, (part + LOOKS[0]) / parts
        while at < np.inf and count < MOST_LOOKS:
            row[:] = work.k[NEW]
            if at < 1.0:
                about_inside(code, work, t, at, h, x, row)
            j = _make_room(times, ways, count, at)
            if _look_at_borders(code, relations, work, t + at * h, ways[j]):
                length = 1.0
                for c in range(ways.shape[1]):
                    if ways[j, c] < 0.0:
                        length = min(length, _reached(code, relations, work, x, t, h, j, c))
                return h if is_too_small(length * h, t) else length * h
            count += 1
            at = (part + LOOKS[count - 1]) / parts if count < 5 else next_look(times, ways, count)
        times[0], ways[0, :] = times[count - 1], ways[count - 1]
    return h


@machine_code
def _find_pieces(relations: Relations) -> None:
    """Between which borders tables are read at the start; what begins at one has passed it."""
    places, borders = relations.places, relations.borders
    for r in range(places.shape[1]):
        start, near, above = places[START, r], 2.0 * borders[r, 0], max(int(places[PIECE, r]), 1)
        while borders[r, above] <= start:  # it is where it was before
            above += 1
        while above > 1 and borders[r, above - 1] > start:
            above -= 1
        places[PIECE, r], places[SPAN, r], below = above, 0.0, above - 1
        if borders[r, 0] > 0.0 and below > 0 and start <= borders[r, below] + near:
            below -= 1
        if borders[r, 0] > 0.0 and start >= borders[r, above] - near:
            above += 1
        places[BELOW, r], places[ABOVE, r] = borders[r, below] if below > 0 else -np.inf, (
            borders[r, above])


@machine_code
def _look_at_borders(code: Code, relations: Relations, work: Workspace, t: float, ways: Vector
                     ) -> bool:
    """Fill in how far it is, at a point in row WORK, to what is near the borders, below and above;
    whether one has been passed."""
    places, passed, moved = relations.places, False, False
    values_at(code, work, code.places, t, work.k[WORK], places[HERE])
    for c in range(ways.size):
        r = c // 2
        start, here, near = places[START, r], places[HERE, r], relations.borders[r, 0]
        kink, border = near == 0.0, places[BELOW + c % 2, r]
        if kink:
            places[SPAN, r] = max(places[SPAN, r], abs(here - start))
            near = NEAR_KINK * places[SPAN, r]
        ways[c] = near + (here - border if c % 2 == 0 else border - here)
        if kink and ways[c] < 0.0:
            if not moved:
                _move(code, work, t, places[MOVED])
                moved = True
            if abs(here) <= abs(places[MOVED, r] - here):
                ways[c] = np.nan
        passed |= ways[c] < 0.0
    return passed


@machine_code
def _move(code: Code, work: Workspace, t: float, moved: Vector) -> None:
    """Where tables are read once the point in row WORK has moved by the tolerances of states."""
    row = work.k[WORK]
    for i in range(row.size):  # no two by the same part: what is read may be their difference
        part, allowed = 1.0 + SCATTER * i - np.floor(SCATTER * i), work.k[ATOL, i]
        row[i] += part * (allowed + work.rtol[0] * abs(row[i])) if allowed < np.inf else 0.0
    values_at(code, work, code.places, t, row, moved)


@machine_code
def _reached(code: Code, relations: Relations, work: Workspace, x: Vector, t: float, h: float,
             j: int, c: int) -> float:
    """At which part of a step a border is reached, or passed by what is near, before look ``j``."""
    places, ways, row, r = relations.places, relations.ways, work.k[WORK], c // 2
    low, high, count, border = relations.times[j - 1], relations.times[j], 0, (
        places[BELOW + c % 2, r])
    near = 0.5 * max(relations.borders[r, 0], NEAR_KINK * places[SPAN, r])  # kinks alone span
    below, above = ways[j - 1, c] - near, ways[j, c] - near
    while abs(above) > near and low < 0.5 * (low + high) < high:
        part, count = 0.5 * (low + high), count + 1
        if count % 3 != 0 and below < np.inf:
            part = min(max(low + (high - low) * below / (below - above), low), high)
        about_inside(code, work, t, part, h, x, row)
        values_at(code, work, code.places, t + part * h, row, places[HERE])
        value = near + (places[HERE, r] - border if c % 2 == 0 else border - places[HERE, r])
        if value <= near:
            high, above = part, value
        else:
            low, below = part, value
    return high


@machine_code
def find_crossing(code: Code, relations: Relations, work: Workspace, x: Vector, low: float,
                  end: float, start: float, h: float, last: bool, pieces: Vector, behind: int
                  ) -> tuple[bool, int]:
    """Look at the relations in a part of a step, the first look being known.

    ``low`` and ``end`` are those of the part, which may be the ``last`` one of the step, ``start``
    and ``h`` those of the step; ``pieces`` are borders of pieces of time, which are looked at
    beside the quarters of the part, as far as there is room; ``behind`` of them are not after the
    start of the step. Returns whether one has crossed at the last look, and the number of looks.
    """
    looks, times = relations.looks, relations.times
    times[0] = low
    crossed, count, j, near = False, 1, 0, SAME * (end - low)
    while j < 4:
        times[count] = end if j == 3 else low + LOOKS[j] * (end - low)
        while behind < pieces.size and pieces[behind] <= times[count - 1] + near:
            behind += 1
        if behind < pieces.size and pieces[behind] < times[count] - near and count < MOST_LOOKS - 4:
            times[count] = pieces[behind]
            crossed = seen_inside(code, relations, work, times[count], start, h, x, looks[count])
            j -= 1
        elif j == 3 and last:
            crossed = margins_at(code, relations, work.at, end, work.k[NEW], looks[count])
        else:
            crossed = seen_inside(code, relations, work, times[count], start, h, x, looks[count])
        count += 1
        j += 1
        if crossed:
            return True, count
    crossed, count = look_between(code, relations, work, x, start, h, count)
    return crossed, count


@machine_code
def look_between(code: Code, relations: Relations, work: Workspace, x: Vector, start: float,
                 h: float, count: int) -> tuple[bool, int]:
    """Look between so many looks, which may end before a step does, for what crosses there.

    Returns whether a relation has crossed at the last look, and the number of looks.
    """
    looks, times = relations.looks, relations.times
    while count < MOST_LOOKS:
        place = next_look(times, looks, count)
        if not place < np.inf:
            break
        j = _make_room(times, looks, count, place)
        count += 1
        if seen_inside(code, relations, work, place, start, h, x, looks[j]):
            return True, j + 1
    return False, count


@machine_code
def _make_room(times: Vector, looks: Matrix, count: int, place: float) -> int:
    """Put a time among those of the looks; its row."""
    j = count
    while times[j - 1] > place:
        times[j] = times[j - 1]
        looks[j, :] = looks[j - 1, :]
        j -= 1
    times[j] = place
    return j


@machine_code
def keep_largest(looks: Matrix, count: int) -> None:
    """Take the looks of a step into the largest margins so far."""
    for j in range(1, count):
        for r in range(looks.shape[1]):
            looks[LARGEST, r] = max(looks[LARGEST, r], looks[j, r])


@machine_code
def name_crossed(relations: Relations, margins: Vector) -> bool:
    """Fill in which relations have crossed; whether that is sure, and not for others to judge."""
    wrong, some, judged = relations.wrong, False, False
    for r in range(margins.size):
        wrong[r] = margins[r] < 0.0
        some |= wrong[r]
        judged |= wrong[r] and relations.hints[r]
    return some and not judged


@machine_code
def is_reserve_alone(relations: Relations) -> bool:
    """Whether all that is wrong is the reserve of solved equations, the last of all margins."""
    wrong, last = relations.wrong, relations.wrong.size - 1
    for r in range(last):
        if wrong[r]:
            return False
    return wrong[last] and relations.hints[last] and not relations.timed[last]


@machine_code
def _least(margins: Vector, wrong: Flags) -> float:
    """The smallest margin of some relations."""
    least = np.inf
    for r in range(margins.size):
        if wrong[r] and margins[r] < least:
            least = margins[r]
    return least


@machine_code
def _narrowed(code: Code, relations: Relations, work: Workspace, t: float, start: float, h: float,
              x: Vector, margins: Vector, near: float, far: float, above: float, below: float
              ) -> tuple[float, float, float, float]:
    """The bracket of a crossing once ``t`` has been looked at: its ends, and the margins there."""
    margins_inside(code, relations, work, t, start, h, x, margins)
    value = _least(margins, relations.wrong)
    if value < 0.0:
        return near, t, above, value
    return t, far, value, below


@machine_code
def _guess(near: float, far: float, above: float, below: float, whole: float, reserve: float
           ) -> float:
    """Where to look next: regula falsi, moved toward the middle and kept near it."""
    width, middle = far - near, 0.5 * (near + far)
    guess = near + width * above / (above - below)
    away = middle - guess
    shift = 0.2 * width * width / whole
    guess = guess + np.copysign(shift, away) if shift < abs(away) else middle
    reach = reserve - 0.5 * width
    if abs(guess - middle) > reach:
        guess = middle - np.copysign(reach, away)
    return guess if near < guess < far and not reach <= 0.0 else middle


@machine_code
def _bracketed(code: Code, relations: Relations, work: Workspace, x: Vector, low: float,
               high: float, start: float, h: float, seen: Vector, fraction: float) -> float:
    """The far side of the first crossing of what is wrong at ``high``; margins are left there."""
    wrong, margins = relations.wrong, relations.looks[SPARE]
    grain = 0.25 * TIME_GRAIN * max(abs(low), abs(high))
    near, far, below = low, high, _least(seen, wrong)
    margins_inside(code, relations, work, low, start, h, x, margins)
    above = _least(margins, wrong)
    # what begins where another mode ended
    while not above > 0.0 and _is_open(near, far, max(grain, fraction * (far - start))):
        near, far, above, below = _narrowed(code, relations, work, 0.5 * (near + far), start, h, x,
                                            margins, near, far, above, below)
    whole = reserve = far - near
    while _is_open(near, far, max(grain, fraction * (far - start))):
        guess = _guess(near, far, above, below, whole, reserve)
        reserve *= 0.5
        near, far, above, below = _narrowed(code, relations, work, guess, start, h, x, margins,
                                            near, far, above, below)
    if far == high:
        margins[:] = seen
        values_inside(code, work, start, (far - start) / h, h, x, work.k[WORK])
    else:
        margins_inside(code, relations, work, far, start, h, x, margins)
    return far


@machine_code
def _is_open(near: float, far: float, grain: float) -> bool:
    """Whether there is time between the ends of a bracket, and more than does not matter."""
    return near < 0.5 * (near + far) < far and far - near > grain


@machine_code
def locate(code: Code, relations: Relations, work: Workspace, x: Vector, low: float, high: float,
           start: float, h: float, seen: Vector, fraction: float) -> float:
    """The far side of the first crossing between two times of a step.

    From ``low`` to ``high`` a margin of the relations ``wrong`` is negative at the end alone; on
    return these are the relations that have crossed, and ``seen``, margins at ``high``, are those
    at the crossing. ``fraction`` of the way to the crossing does not matter; 0 to find it as
    well as can be. Returns the time; the values there are in the row of work.
    """
    margins = relations.looks[SPARE]
    far = _bracketed(code, relations, work, x, low, high, start, h, seen, fraction)
    while _crossed_before(relations, margins):
        seen[:] = margins
        far = _bracketed(code, relations, work, x, low, far, start, h, seen, fraction)
    _keep_closest(relations.wrong, seen, margins)
    seen[:] = margins
    return far


@machine_code
def _crossed_before(relations: Relations, margins: Vector) -> bool:
    """Whether others have crossed at a crossing, that have crossed back beyond it: name them."""
    wrong = relations.wrong
    others = False
    for r in range(margins.size):
        others |= margins[r] < 0.0 and not wrong[r] and not relations.hints[r]
    if others:
        for r in range(margins.size):
            wrong[r] = margins[r] < 0.0
    return others


@machine_code
def _keep_closest(wrong: Flags, before: Vector, margins: Vector) -> None:
    """Leave of wrong relations those that are past zero at the crossing, or else the closest."""
    closest, least, several = 0, np.inf, False
    for r in range(margins.size):
        if wrong[r]:
            left = margins[r] / (abs(before[r]) + TINY)
            wrong[r] = left <= ZERO_MARGIN
            several |= wrong[r]
            if left < least:
                closest, least = r, left
    if not several:
        wrong[closest] = True
