"""How do elements at rest share what they hold, where more rest than there are motions?

As :mod:`blocks.nonsmooth.complementarity.islands_at_rest` tells: each creeps a little, which tells
who comes to a bound, and of what those inside theirs bear the weighted squares are least. These are
equations in the place of those that others imply.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.islands_at_rest import (
    END,
    GIVEN,
    LOOSE,
    PRESS,
    PRESSED,
    WEIGHT,
    give_rows,
)
from ..nonsmooth.complementarity.moving import CREEPS, DOWN, DRIVE, KNOWN, SHARED, STATE, SURE, UP
from ..nonsmooth.complementarity.moving import EFFORT as SHARED_EFFORT
from ..nonsmooth.complementarity.moving import LOW as AT_LOW
from ..numerics.arrays import Vector
from ..numerics.tolerances import AT_BOUND, PROXIMAL_POINT, SAME_AS_BEFORE
from .elements_at_point import largest_effort, look, pose
from .kept_factors import invert_shared, weigh
from .set_valued_elements import EFFORT, HIGH, LOW, NOBODY, SetValuedElements
from .steps import Code, Workspace

__all__ = ["share"]

ROUNDS = 10  # in which bounds that bend are found


@machine_code
def share(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector, e: int,
           count: int) -> int:
    """Look at a part that shares what it holds; how many of it nothing holds, or -1."""
    found, told, still = elements.found, elements.given_told, elements.still
    elements.fresh[elements.part[e]] = 0
    rests = _creep(elements, e, count)
    for _ in range(ROUNDS + rests):
        loose = _divide(elements, elements.part[e], rests)
        if loose < 0 or elements.dependent[0] and _is_wedged(elements, rests) or not look(
                code, work, elements, t, x):
            return -1
        if loose > 0:
            return loose
        elements.guess[:] = found[EFFORT]  # from where bounds go on
        near, again = AT_BOUND * largest_effort(elements, count), False
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
def _is_wedged(elements: SetValuedElements, rests: int) -> bool:
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
def _creep(elements: SetValuedElements, e: int, count: int) -> int:
    """Tell who in a part comes to its bounds where what rests creeps a little, each by its effort;
    how many rest."""
    rest, told, block = elements.rest, elements.given_told, elements.block
    for k in range(count):
        i = elements.members[k]
        if elements.k.size == 0:
            elements.given[elements.ends_at[i]] = 0.0
        elements.slack[i], elements.loose[i] = 0.0, 0
    size = pose(elements, e, count, True)
    for a in range(size):
        for b in range(size):
            elements.given_d[a, b] = block[a, b]
    weigh(elements, size)
    _press(elements, size)
    for a in range(size):
        if rest[STATE, a] == 0.0:
            block[a, a] += PROXIMAL_POINT * told[WEIGHT, a]
            for q in range(elements.row_starts[a], elements.row_starts[a + 1]):
                if elements.row_columns[q] == a:
                    elements.entries[q] = block[a, a]
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
def _press(elements: SetValuedElements, size: int) -> None:
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
def _divide(elements: SetValuedElements, island: int, rests: int) -> int:
    """Let what rests in an island share what it holds, by equations in the place of those that
    others imply; how many of it nothing holds, which are ``loose``, or -1."""
    told, still = elements.given_told, elements.still
    loose, left = 0, 1
    while left > 0:
        left = give_rows(elements.given_d, told, elements.given_rows, elements.matrix, rests)
        least = NOBODY
        for a in range(rests):
            if loose == 0:
                elements.loose[still[a]] = 1 if told[LOOSE, a] != 0.0 else 0
            if told[LOOSE, a] != 0.0 and (
                    least == NOBODY or _creep_beyond(elements, a) < _creep_beyond(elements, least)):
                least = a
        loose = max(loose, left)
        if left > 0:
            told[END, least] = 0.0
    for a in range(rests):
        elements.slack[still[a]] = np.inf if told[END, a] != 0.0 else 0.0
    if elements.k.size > 0:
        return loose if invert_shared(elements, island, rests) else -1
    _give_rows(elements, island, rests)
    return loose


@machine_code
def _creep_beyond(elements: SetValuedElements, a: int) -> float:
    """How fast one of those at rest creeps that is at a bound, by its weight."""
    rate = elements.rest[DRIVE, a]
    for b in range(elements.asked[elements.counted]):
        rate -= elements.block[a, b] * elements.rest[SHARED_EFFORT, b]
    return abs(rate) / elements.given_told[WEIGHT, a]


@machine_code
def _give_rows(elements: SetValuedElements, island: int, rests: int) -> None:
    """Put these equations where those that are solved at every point have them."""
    still, told, n = elements.still, elements.given_told, elements.given_count
    width = elements.starts[island + 1] - elements.starts[island]
    first = elements.ends_at[elements.parted[elements.starts[island]]]
    for a in range(rests):
        place = elements.ends_at[still[a]]
        at = elements.given_starts[island] + place - first
        elements.given[place], elements.given[n + place] = told[GIVEN, a], 0.0
        for b in range(rests if told[GIVEN, a] == 1.0 else 0):
            elements.given[n + place] += (
                elements.given_rows[a, b] / told[WEIGHT, b] * told[PRESS, b])
        for c in range(width):
            elements.given[at + c * width] = 0.0
        for b in range(rests):
            c = elements.ends_at[still[b]] - first
            elements.given[at + c * width] = elements.given_rows[a, b]
