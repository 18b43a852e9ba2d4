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
from ..solvers.looks import FARTHEST, MOST_LOOKS, SAME, SCATTER, TURN
from ..solvers.looks import next_look as _next_look
from .pulses import EXPONENT_ROWS, INSIDE_ROWS
from .stages import ATOL, NEW, WORK
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
NEAR_KINK = 1e-3  # of the way in a step: how far beyond a kink it may end
LARGEST, SPARE, LOOK_ROWS = MOST_LOOKS, MOST_LOOKS + 1, MOST_LOOKS + 5
#: Rows of ``places`` after those at the quarters of a step: between two, which border is above.
SEARCHED, PIECE, PLACE_ROWS = 5, 6, 7

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
    borders: Matrix  # of them, as :meth:`~blocks.system.state_tables.StateTables.borders` says


def relations_of(problem: Problem, count: int, n: int, exponents: int) -> Relations:
    """So many relations, and exponents, watched in steps of so many values; all hold as yet."""
    borders = problem.system.state_tables.borders(problem.p)
    known, hints, timed, wrong, alone = np.zeros((5, count), dtype=bool)
    return Relations(
        np.ones(count), known, hints, np.zeros(count), timed, np.full(1, np.inf),
        np.zeros((LOOK_ROWS, count)), np.empty(LOOK_ROWS), wrong, alone, np.zeros(count),
        np.empty((EXPONENT_ROWS, exponents)), np.empty((INSIDE_ROWS, n)),
        np.empty((2, problem.system.angles.numel())), np.zeros((PLACE_ROWS, len(borders))), borders)


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
    of theirs that is not within what tolerances allow."""
    places, borders, row, length = relations.places, relations.borders, work.k[WORK], 1.0
    values_at(code, work, code.places, t, x, places[0])
    values_at(code, work, code.places, t + h, work.k[NEW], places[4])
    for j in range(3):
        about_inside(code, work, t, LOOKS[j], h, x, row)
        values_at(code, work, code.places, t + LOOKS[j] * h, row, places[j + 1])
    for r in range(places.shape[1]):
        near, above, kink = borders[r, 0], _next_border(relations, r), borders[r, 0] == 0.0
        for j in range(4 if kink else 0):
            near = max(near, NEAR_KINK * abs(places[j + 1, r] - places[0, r]))
        low, high = borders[r, above - 1] if above > 1 else -np.inf, borders[r, above]
        if places[0, r] <= low + 2.0 * near:  # what begins at one has passed it
            low = borders[r, above - 2] if above > 2 else -np.inf
        if places[0, r] >= high - 2.0 * near:
            high = borders[r, above + 1]
        for j in range(4):
            there = places[j + 1, r]
            if 0.25 * j >= length or low - near < there < high + near:
                continue
            if kink and abs(there) <= _allowed(code, relations, work, x, t, r):
                continue
            target = high + 0.5 * near if there > high else low - 0.5 * near
            length = min(length, _reached(code, relations, work, x, t, h, r, j, target, near))
    return length * h


@machine_code
def _allowed(code: Code, relations: Relations, work: Workspace, x: Vector, t: float, r: int
             ) -> float:
    """By how much tolerances of the states may move where a table is read."""
    places, moved = relations.places, work.k[WORK]
    for i in range(x.size):  # no two by the same part: what is read may be their difference
        part, allowed = 1.0 + SCATTER * i - np.floor(SCATTER * i), work.k[ATOL, i]
        moved[i] = x[i] + (part * (allowed + work.rtol[0] * abs(x[i])) if allowed < np.inf else 0.0)
    values_at(code, work, code.places, t, moved, places[SEARCHED])
    return abs(places[SEARCHED, r] - places[0, r])


@machine_code
def _next_border(relations: Relations, r: int) -> int:
    """Which border of a table is above where it is read at the start; it is where it was before."""
    places, borders = relations.places, relations.borders
    above = max(int(places[PIECE, r]), 1)
    while borders[r, above] <= places[0, r]:
        above += 1
    while above > 1 and borders[r, above - 1] > places[0, r]:
        above -= 1
    places[PIECE, r] = above
    return above


@machine_code
def _reached(code: Code, relations: Relations, work: Workspace, x: Vector, t: float, h: float,
             r: int, j: int, target: float, near: float) -> float:
    """At which part of a step a table is read at a target, or beyond it by what is near, in its
    quarter ``j``."""
    places, row, near = relations.places, work.k[WORK], 0.5 * near
    low, high, count = LOOKS[j] - 0.25, LOOKS[j], 0
    below, above = places[j, r] - target, places[j + 1, r] - target
    while abs(above) > near and low < 0.5 * (low + high) < high:
        part, count = 0.5 * (low + high), count + 1
        if count % 3 != 0:
            part = min(max(low + (high - low) * below / (below - above), low), high)
        about_inside(code, work, t, part, h, x, row)
        values_at(code, work, code.places, t + part * h, row, places[SEARCHED])
        value = places[SEARCHED, r] - target
        if abs(value) <= near or (value > 0.0) == (above > 0.0):
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
