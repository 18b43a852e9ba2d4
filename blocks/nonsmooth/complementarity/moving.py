"""Which elements at rest begin to move? The problem of those that feel each other, compiled.

What :class:`blocks.nonsmooth.modes.decisions.Decisions` comes to by its problem at rest: once an
element moves less holds it, and others may move in turn.
:func:`blocks.nonsmooth.complementarity.decide.decide` finds the solution of each of these problems,
which is the only one where D is symmetric and positive definite and bounds move with no effort, or
else, of few, where all combinations of modes tell so. Where rounding might tell who moves, others
decide.
"""

from __future__ import annotations

import numpy as np

from ...machine.functions import BoundCall, Kept, machine_code
from ...numerics.arrays import Cube, Indices, Matrix
from ...numerics.tolerances import AT_BOUND, CLEAR, CLEAR_RATE, GRAZES, ROUNDING
from .decide import ENUMERATED, FOUND, count_answers, decide
from .problem import Problem, at_efforts, connect, pose, problem_of
from .sparse_lu import Factors, analyse, factors_of

__all__ = ["AT_FIRST", "AT_REST", "CREEPS", "DRIVE", "KNOWN", "LET_GO", "LOW", "MOVED", "SHARED",
           "STATE", "SURE", "choice_of", "choose_jointly"]  # fmt: skip

#: What is known of elements and found for them: rows of a matrix.
(DRIVE, LOW, HIGH, BACK, FORTH, MOVED, EFFORT, RATE, STATE, SIZE, AT_FIRST, KNOWN, DOWN, UP,
 SURE, SHARED) = range(16)  # fmt: skip
AT_REST = 16  # rows
CREEPS = 2.0  # as what is SHARED: all that rests creeps a little, and modes are not asked for
LET_GO = 2.0  # of what has MOVED, where it moves at its bound and no rate tells so yet
EXACT = 1e-12  # of the largest rate


def choice_of(d: Matrix, by: Cube, rows: Matrix) -> BoundCall:
    """The choice among elements whose D and rows stand in arrays, as machine code calls it."""
    n = len(d)
    return choose_jointly.bound(Kept(problem_of(n, n * n)), Kept(factors_of(n, n * n)), d,
                                by, rows, np.arange(n + 1), n)


@machine_code
def choose_jointly(problem: Problem, factors: Factors, d: Matrix, by: Cube, rows: Matrix,
                   first: Indices, count: int) -> bool:
    """Find efforts and states of elements at rest; whether they are sure.

    Parameters
    ----------
    problem, factors : room
    d : change of rates by efforts, with its sign turned
    by : (4, ...) change of the bounds by efforts, or nothing
    rows : DRIVE (rates without efforts), bounds at rest and in motion without efforts, efforts to
        begin with, which elements have MOVED, in STATE those that slide for sure, and first in
        SURE whether no loads have several answers, and in SHARED whether efforts at rest are open
        are given; EFFORT, RATE, STATE (1 and -1 where
        it moves) and MOVED are found
    first : whole numbers from 0 on
    count : how many elements there are
    """
    rows[KNOWN, :count] = rows[STATE, :count]
    if problem.systems[1] != count:
        factors.linked[: count * count] = True
        if not analyse(factors, first, count):
            return False
    for _ in range(count + 1):
        if not _balanced(problem, factors, d, by, rows, count):
            return False
        if rows[SHARED, 0] == CREEPS:
            return True
        if not _is_clear(d, rows, count):
            return False
        more = False
        for i in range(count):
            if rows[STATE, i] != 0.0 and rows[MOVED, i] == 0.0 and rows[KNOWN, i] == 0.0:
                rows[MOVED, i] = 1.0
                more = True
        if not more:
            return True
    return False


@machine_code
def _balanced(problem: Problem, factors: Factors, d: Matrix, by: Cube, rows: Matrix, count: int
              ) -> bool:
    """Find efforts that hold what they can within their bounds."""
    q = 0
    for i in range(count):
        problem.starts[i], problem.b[i] = q, rows[DRIVE, i]
        for j in range(count):
            problem.columns[q], problem.D[q] = j, d[i, j]
            q += 1
    problem.starts[count] = q
    pose(problem, count)
    q = 0
    for i in range(count):
        below, above = _sides(rows, i)
        unit = problem.unit[i]
        problem.low[i], problem.high[i] = rows[below, i] / unit, rows[above, i] / unit
        problem.new[i], problem.floor[i] = rows[AT_FIRST, i] / unit, 0.0
        for j in range(count):
            problem.L[q] = problem.H[q] = 0.0
            if by.size > 0:
                problem.L[q] = by[below - LOW, i, j] * problem.unit[j] / unit
                problem.H[q] = by[above - LOW, i, j] * problem.unit[j] / unit
            q += 1
    connect(problem, count)
    creeps = rows[SHARED, 0] == CREEPS  # from rest: who shares a load knows of no past
    if decide(problem, factors, EXACT, count, creeps) != FOUND and not creeps:
        return False
    rows[EFFORT, :count] = problem.x[:count]
    if rows[SURE, 0] == 0.0 and count <= ENUMERATED and count_answers(
            problem, factors, EXACT, count) != FOUND:
        return False
    problem.x[:count] = rows[EFFORT, :count]
    at_efforts(problem, problem.x, count)
    for i in range(count):
        effort = problem.x[i] * problem.unit[i]
        low, high = problem.down[i] * problem.unit[i], problem.limit[i] * problem.unit[i]
        if np.isfinite(high) and high - effort <= AT_BOUND * abs(high):
            effort = high
        elif np.isfinite(low) and effort - low <= AT_BOUND * abs(low):
            effort = low
        rows[EFFORT, i], rows[DOWN, i], rows[UP, i] = effort, low, high
    for i in range(count):
        rate, size = rows[DRIVE, i], abs(rows[DRIVE, i])
        for j in range(count):
            rate -= d[i, j] * rows[EFFORT, j]
            size = max(size, abs(d[i, j] * rows[EFFORT, j]))
        rows[RATE, i], rows[SIZE, i], rows[STATE, i] = rate, size, rows[KNOWN, i]
        if rows[MOVED, i] != 0.0:
            rows[MOVED, i] = 1.0
        if rows[KNOWN, i] != 0.0:
            continue
        if rows[EFFORT, i] == rows[UP, i] and rate > GRAZES * size:
            rows[STATE, i] = 1.0
        elif rows[EFFORT, i] == rows[DOWN, i] and rate < -GRAZES * size:
            rows[STATE, i] = -1.0
        elif rows[MOVED, i] != 0.0:
            up, down = rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i]
            sense = _nearer(d, rows, i)
            for j in range(count if sense == 0.0 else 0):  # what moves as it does tells
                if rows[MOVED, j] != 0.0 and rows[KNOWN, j] == 0.0 and sense == 0.0 and (
                        d[i, j] ** 2 >= (1.0 - ROUNDING) * d[i, i] * d[j, j]):
                    sense = _nearer(d, rows, j) * (1.0 if d[i, j] > 0.0 else -1.0)
            if d[i, i] * min(up, down) <= CLEAR * size and _is_no_less(by, rows, i, count, sense):
                if sense == 0.0:
                    return False
                rows[STATE, i], rows[MOVED, i] = sense, LET_GO
    return True


@machine_code
def _nearer(d: Matrix, rows: Matrix, i: int) -> float:
    """The sense of the bound that is nearer; 0 where there is no width to tell it from."""
    up, down = rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i]
    if d[i, i] * max(up, down) <= CLEAR * abs(rows[DRIVE, i]):
        return 0.0
    return 1.0 if up <= down else -1.0


@machine_code
def _is_no_less(by: Cube, rows: Matrix, i: int, count: int, sense: float) -> bool:
    """Whether motion takes no less effort than is needed to begin it."""
    at_rest = HIGH if sense > 0.0 else LOW
    in_motion = FORTH if sense > 0.0 else BACK
    rest, motion = rows[at_rest, i], rows[in_motion, i]
    for j in range(count if by.size > 0 else 0):
        rest += by[at_rest - LOW, i, j] * rows[EFFORT, j]
        motion += by[in_motion - LOW, i, j] * rows[EFFORT, j]
    return sense * motion >= sense * rest - AT_BOUND * abs(rest)


@machine_code
def _sides(rows: Matrix, i: int) -> tuple[int, int]:
    """Which bounds an element has: less holds what has moved, but for a stop."""
    if rows[KNOWN, i] > 0.0:
        return FORTH, FORTH
    if rows[KNOWN, i] < 0.0:
        return BACK, BACK
    below, above = LOW, HIGH
    if rows[MOVED, i] != 0.0:
        if np.isfinite(rows[LOW, i]):
            below = BACK
        if np.isfinite(rows[HIGH, i]):
            above = FORTH
    return below, above


@machine_code
def _is_clear(d: Matrix, rows: Matrix, count: int) -> bool:
    """Whether it is not rounding that tells what moves; what just holds at less is at rest."""
    for i in range(count):
        if rows[STATE, i] == 0.0 and rows[SHARED, 0] == 1.0:
            continue
        over, clear = abs(rows[RATE, i]), CLEAR_RATE * rows[SIZE, i]
        if rows[STATE, i] == 0.0:
            over = d[i, i] * min(rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i])
            clear = CLEAR * rows[SIZE, i]
        if not (over > clear or rows[STATE, i] == 0.0 and rows[MOVED, i] != 0.0 or rows[
                KNOWN, i] != 0.0 or rows[MOVED, i] == LET_GO):
            return False
    return True
