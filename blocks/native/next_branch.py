"""Where a solution of switched equations ends: which one lies beyond? Compiled.

Of a loop with several solutions (a limited amplifier that feeds back on itself) the one that the
run has followed may end: with the relation that has crossed switched, the equations have a solution
on the other side of the instant only. Its pieces join into a path all the same: going back in time
along the second piece, then forward along the third, one comes to the instant again, on another
branch. That is where the path leads that was interrupted, and where the run goes on.

References
----------
J. Katzenelson, "An algorithm for solving nonlinear resistor networks", Bell Syst. Tech. J. 44
(1965) 1605-1620. L. O. Chua and A. Ushida, "A switching-parameter algorithm for finding multiple
solutions of nonlinear resistive circuits", Int. J. Circuit Theory Appl. 4 (1976) 215-239.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Flags, Indices, Matrix, Vector
from ..numerics.tolerances import TINY, ZERO_MARGIN
from .stages import ATOL
from .steps import Code, Workspace, project_in_place, slope_at, values_at
from .zero_crossings import SPARE, Relations

__all__ = ["OF_TOLERANCE", "Switches", "is_on_next_branch"]

HERE, THERE, FOUND, LEFT = range(SPARE, SPARE + 4)  # of ``looks``
OF_TOLERANCE = 1e4  # times its absolute tolerance: a state counts as no smaller than this
MOST_MOVES = 1000  # along a path
LITTLE = 1e-6  # of the time in which a state changes by its size: what slopes are taken over
FAR = 1e9  # of that time: nothing ends a piece any more
CROSSED, NOBODY = -1, -2  # instead of the relation that was switched last on a path


class Switches(NamedTuple):
    """The relations that may switch, and the instants at which it is known which do."""

    m: Vector  # 1 where a relation holds, which machine code reads
    at_zero: Flags  # relations that hold where their crossing function is zero
    timed: Flags  # those of time alone
    acting: Flags  # those at whose change others act
    joint: Flags  # those that are decided on together with modes
    indirect: Flags  # those that are judged once modes are decided
    resting: Flags  # those of them that wait for modes that end as they cross
    times: Vector  # known instants ahead
    holds: Matrix  # (times, m) what relations of time come to after each
    until: Vector  # (times,) just before the next instant
    d: Vector  # the discrete values, which machine code reads
    slots: Indices  # places of the rows of tables of time among them
    rows: Matrix  # (times, slots) which rows hold after each instant
    loops: Indices  # a number for each, the same of those that feel each other through unknowns
    duration: float  # of the run
    before: Vector  # (m,) room: what held before
    frozen: Flags  # (m,) room: what has just crossed,
    turns: Flags  # (m,) room: and what switches in turn
    first: Vector  # (relations,) room: crossing functions as the event was reached
    now: Vector  # (relations,) room: and now
    required: int  # address of conditions that must hold, where there are any
    conditions: Vector  # (conditions,) room: what they come to; 0 where one does not hold


@machine_code
def is_on_next_branch(code: Code, work: Workspace, relations: Relations, switches: Switches,
                      t: float, x: Vector) -> bool:
    """Switch relations as they are on the branch on which the path comes back to an instant; False,
    with all as they were, where none is found.

    Those that are frozen have crossed. One path is followed for each loop, with the relations of
    others as they are, and those of time alone.
    """
    m, found, left = switches.m, relations.looks[FOUND], relations.looks[LEFT]
    left[:] = m
    m[:] = found[:] = switches.before
    slope_at(code, work, t, x, work.k[0])
    fastest = TINY
    for i in range(x.size):
        fastest = max(fastest, abs(work.k[0, i]) / max(abs(x[i]), OF_TOLERANCE * work.k[ATOL, i]))
    unit, other = min(1.0 / fastest, switches.duration), False
    for r in range(m.size):
        loop, first = switches.loops[r], switches.frozen[r]
        for s in range(r):
            first = first and not (switches.frozen[s] and switches.loops[s] == loop)
        if first:
            if not (_comes_back(code, work, relations, switches, t, x, unit, loop, CROSSED) or
                    _comes_back(code, work, relations, switches, t, x, unit, loop, NOBODY)):
                m[:] = left
                return False
            for s in range(m.size):
                if switches.loops[s] == loop:
                    found[s] = m[s]
                    other |= m[s] != switches.before[s]
    m[:] = left
    if other:
        m[:] = found
    return other


@machine_code
def _comes_back(code: Code, work: Workspace, relations: Relations, switches: Switches, t: float,
                x: Vector, unit: float, loop: int, last: int) -> bool:
    """Whether the path of a loop comes back to the instant going forward in time; then relations
    are as they are there. It begins with those switched that have ``CROSSED``, or with
    ``NOBODY``."""
    m, here, there = switches.m, relations.looks[HERE], relations.looks[THERE]
    at, h, sense, is_new = 0.0, LITTLE * unit, -1.0, last == CROSSED
    for r in range(m.size):
        turned = _was_switched(switches, loop, last, r)
        m[r] = 1.0 - switches.before[r] if turned else switches.before[r]
    for _ in range(MOST_MOVES):
        if not (_are_known(code, work, switches, t, x, loop, at, here)
                and _are_known(code, work, switches, t, x, loop, at + h, there)):
            return False
        if is_new:  # what was switched last holds later on the piece, or earlier
            later = earlier = True
            for r in range(m.size):
                if _was_switched(switches, loop, last, r):
                    later &= there[r] > here[r]
                    earlier &= there[r] < here[r]
            if later == earlier:
                return False
            sense = 1.0 if later else -1.0
        if sense > 0.0 and at >= 0.0:
            return True
        nearest, which, size = np.inf, NOBODY, 0.0
        for r in range(m.size):
            falls = here[r] < np.inf and sense * (there[r] - here[r]) < 0.0
            if falls and not _was_switched(switches, loop, last, r):
                distance = here[r] / abs(there[r] - here[r]) * h
                if distance < nearest:
                    nearest, which, size = distance, r, abs(here[r]) + abs(there[r]) + TINY
        if not nearest <= FAR * unit:
            return sense > 0.0
        at += sense * nearest
        if sense > 0.0 and at > 0.0:
            return True
        if not _are_known(code, work, switches, t, x, loop, at, here):
            return False
        is_new = abs(here[which]) <= ZERO_MARGIN * size
        if is_new:
            m[which], last = 1.0 - m[which], which
    return False


@machine_code
def _was_switched(switches: Switches, loop: int, last: int, r: int) -> bool:
    """Whether a relation of a loop is what was switched last on its path."""
    return r == last or last == CROSSED and switches.frozen[r] and switches.loops[r] == loop


@machine_code
def _are_known(code: Code, work: Workspace, switches: Switches, t: float, x: Vector, loop: int,
               at: float, margins: Vector) -> bool:
    """Fill in the crossing functions of a loop on the line on which time and states have been
    moving, positive where its relations hold; whether they are numbers."""
    point, known = work.k[1], True
    for i in range(x.size):
        point[i] = x[i] + at * work.k[0, i]
    project_in_place(code, work, t + at, point)
    values_at(code, work, code.crossings, t + at, point, margins)
    for r in range(margins.size):
        if switches.timed[r] or switches.loops[r] != loop:
            margins[r] = np.inf
        elif switches.m[r] <= 0.5:
            margins[r] = -margins[r]
        known &= not np.isnan(margins[r])
    return known
