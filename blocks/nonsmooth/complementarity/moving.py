"""Which elements at rest begin to move? The problem of those that feel each other.

Once an element moves less holds it, and others may move in turn.
:func:`blocks.nonsmooth.complementarity.decide.decide` finds the solution of each of these problems,
which is the only one where D is symmetric and positive semi-definite and bounds move with no
effort, or else, of few, where all combinations of modes tell so. Decisions in machine code and in
Python pose it; where rounding tells who moves it is said so.
"""

from __future__ import annotations

import numpy as np

from ...machine.functions import machine_code
from ...numerics.arrays import Indices, Matrix, Vector
from ...numerics.tolerances import AT_BOUND, CLEAR, CLEAR_RATE, GRAZES, NOTHING_AT_ALL, ROUNDING
from .decide import FOUND, NONE, NOT_FOUND, count_answers, decide
from .problem import Problem, connect, pose
from .sparse_lu import Factors, analyse

__all__ = ["AT_FIRST", "AT_REST", "BACK", "CREEPS", "DOWN", "DRIVE", "EFFORT", "FORTH", "HIGH",
           "KNOWN", "LET_GO", "LOW", "MOVED", "NOISE", "RATE", "SHARED", "STATE", "SURE",
           "UNCLEAR", "UNSURE", "UP", "choose_anew", "choose_jointly"]

#: What is known of elements and found for them: rows of a matrix.
(DRIVE, LOW, HIGH, BACK, FORTH, MOVED, EFFORT, RATE, STATE, SIZE, AT_FIRST, KNOWN, DOWN, UP,
 SURE, SHARED, OWN, NOISE, GRAIN, UNSURE) = range(20)  # fmt: skip
AT_REST = 20  # rows
CREEPS = 2.0  # as what is SHARED: all that rests creeps a little, and modes are not asked for
LET_GO = 2.0  # of what has MOVED, where it moves at its bound and no rate tells so yet
EXACT = 1e-12  # of the largest rate
UNCLEAR = 3  # FOUND, but rounding tells what moves


@machine_code
def choose_anew(problem: Problem, factors: Factors, d: Vector, by: Matrix, rows: Matrix,
                first: Indices, count: int, rests: bool) -> int:
    """Analyse the pattern of the problem, and choose; as :func:`choose_jointly`.

    ``first`` are whole numbers from 0 on.
    """
    if not analyse(factors, problem.starts, problem.columns, first, count):
        return NOT_FOUND
    creeps = rows[SHARED, 0] == CREEPS  # from rest: who shares a load knows of no past
    return choose_jointly(problem, factors, d, by, rows, count, rests or creeps)


@machine_code
def choose_jointly(problem: Problem, factors: Factors, d: Vector, by: Matrix, rows: Matrix,
                   count: int, rests: bool) -> int:
    """Find efforts and states of elements at rest; FOUND, UNCLEAR, or as :func:`.decide.decide`.

    Parameters
    ----------
    problem, factors : room, with the pattern of the entries of matrices, analysed
    d : entries of the change of rates by efforts, with its sign turned
    by : (4, ...) entries of the change of the bounds by efforts, or none
    rows : DRIVE (rates without efforts), bounds at rest and in motion without efforts, efforts to
        begin with, NOISE of rates, which elements have MOVED, in STATE those that slide for sure,
        and first in SURE whether no loads have several answers, and in SHARED whether efforts at
        rest are open are given; EFFORT, RATE, STATE (1 and -1 where it moves), MOVED, and for whom
        rounding tells that, UNSURE, are found
    count : how many elements there are
    rests : whether rest is tried first
    """
    rows[KNOWN, :count] = rows[STATE, :count]
    for i in range(count):
        rows[OWN, i] = rows[UNSURE, i] = 0.0
        for q in range(problem.starts[i], problem.starts[i + 1]):
            if problem.columns[q] == i:
                rows[OWN, i] = d[q]
    clear = True
    for _ in range(count + 1):
        found = _balance(problem, factors, d, by, rows, count, rests)
        if rows[SHARED, 0] == CREEPS:
            return found
        _tell(problem, d, by, rows, count)
        if found != FOUND and found != UNCLEAR:
            return found
        more = False
        for i in range(count):
            if found == UNCLEAR or _is_unsure(rows, i):
                rows[UNSURE, i], clear = 1.0, False
            if rows[STATE, i] != 0.0 and rows[MOVED, i] == 0.0 and rows[KNOWN, i] == 0.0:
                rows[MOVED, i] = 1.0
                more = True
        if not more:
            return FOUND if clear else UNCLEAR
    return NOT_FOUND


@machine_code
def _balance(problem: Problem, factors: Factors, d: Vector, by: Matrix, rows: Matrix, count: int,
             rests: bool) -> int:
    """Find efforts that hold what they can within their bounds."""
    starts, columns = problem.starts, problem.columns
    problem.b[:count], problem.D[: starts[count]] = rows[DRIVE, :count], d[: starts[count]]
    pose(problem, count)
    for i in range(count):
        below, above = _sides(rows, i)
        unit = problem.unit[i]
        problem.low[i], problem.high[i] = rows[below, i] / unit, rows[above, i] / unit
        problem.new[i], problem.floor[i] = rows[AT_FIRST, i] / unit, rows[NOISE, i] * unit
        for q in range(starts[i], starts[i + 1]):
            problem.L[q] = problem.H[q] = 0.0
            if by.size > 0:
                scale = problem.unit[columns[q]] / unit
                problem.L[q], problem.H[q] = by[below - LOW, q] * scale, by[above - LOW, q] * scale
    connect(problem, count)
    found = decide(problem, factors, EXACT, count, rests)
    rows[EFFORT, :count] = problem.x[:count]
    if rows[SURE, 0] == 0.0 or found != FOUND:
        answers = count_answers(problem, factors, EXACT, count)
        if found == FOUND:
            problem.x[:count] = rows[EFFORT, :count]
        if found == FOUND and answers == NONE or found != FOUND and answers == FOUND:
            found = UNCLEAR
        elif answers != NOT_FOUND:
            found = answers
    for i in range(count):
        rows[EFFORT, i] = problem.x[i] * problem.unit[i]
        none = problem.floor[i] + NOTHING_AT_ALL * problem.top[problem.group[i]]
        rows[GRAIN, i] = none / problem.unit[i]  # and what rounding of bounds leaves
    for i in range(count):
        below, above = _sides(rows, i)
        low, high = rows[below, i], rows[above, i]
        for q in range(starts[i], starts[i + 1] if by.size > 0 else 0):
            low += by[below - LOW, q] * rows[EFFORT, columns[q]]
            high += by[above - LOW, q] * rows[EFFORT, columns[q]]
        rows[DOWN, i], rows[UP, i] = low, high
    for i in range(count):
        effort, low, high = rows[EFFORT, i], rows[DOWN, i], rows[UP, i]
        if low <= high:
            effort = min(max(effort, low), high)
        if np.isfinite(high) and high - effort <= AT_BOUND * abs(high):
            effort = high
        elif np.isfinite(low) and effort - low <= AT_BOUND * abs(low):
            effort = low
        rows[EFFORT, i] = effort
    return found


@machine_code
def _tell(problem: Problem, d: Vector, by: Matrix, rows: Matrix, count: int) -> None:
    """Tell rates and who moves, where efforts are found."""
    starts, columns = problem.starts, problem.columns
    for i in range(count):
        rate, size = rows[DRIVE, i], abs(rows[DRIVE, i])
        for q in range(starts[i], starts[i + 1]):
            part = d[q] * rows[EFFORT, columns[q]]
            rate -= part
            size = max(size, abs(part))
        rows[RATE, i], rows[SIZE, i], rows[STATE, i] = rate, size, rows[KNOWN, i]
        if rows[MOVED, i] != 0.0:
            rows[MOVED, i] = 1.0
        if rows[KNOWN, i] != 0.0:
            continue
        none = GRAZES * size + rows[GRAIN, i]
        near = rows[GRAIN, i] / rows[OWN, i] if rows[OWN, i] > 0.0 else 0.0
        up, down = rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i]
        if up <= near and rate > none:
            rows[STATE, i], rows[EFFORT, i] = 1.0, rows[UP, i]
        elif down <= near and rate < -none:
            rows[STATE, i], rows[EFFORT, i] = -1.0, rows[DOWN, i]
        elif rows[MOVED, i] != 0.0:
            sense = _nearer(rows, i)
            for q in range(starts[i], starts[i + 1]):  # what moves as it does tells
                j = columns[q]
                if sense == 0.0 and rows[MOVED, j] != 0.0 and rows[KNOWN, j] == 0.0 and (
                        d[q] ** 2 >= (1.0 - ROUNDING) * rows[OWN, i] * rows[OWN, j]):
                    sense = _nearer(rows, j) * (1.0 if d[q] > 0.0 else -1.0)
            if rows[OWN, i] > 0.0 and _is_no_less(problem, by, rows, i, sense) and (
                    rows[OWN, i] * min(up, down) <= CLEAR * size + rows[GRAIN, i]):
                rows[STATE, i], rows[MOVED, i] = sense, LET_GO  # at rest if no bound tells a sense


@machine_code
def _nearer(rows: Matrix, i: int) -> float:
    """The sense of the bound that is nearer; 0 where there is no width to tell it from."""
    up, down = rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i]
    if rows[OWN, i] * max(up, down) <= CLEAR * abs(rows[DRIVE, i]) + rows[GRAIN, i]:
        return 0.0
    return 1.0 if up <= down else -1.0


@machine_code
def _is_no_less(problem: Problem, by: Matrix, rows: Matrix, i: int, sense: float) -> bool:
    """Whether motion takes no less effort than is needed to begin it."""
    at_rest = HIGH if sense > 0.0 else LOW
    in_motion = FORTH if sense > 0.0 else BACK
    rest, motion = rows[at_rest, i], rows[in_motion, i]
    for q in range(problem.starts[i], problem.starts[i + 1] if by.size > 0 else 0):
        rest += by[at_rest - LOW, q] * rows[EFFORT, problem.columns[q]]
        motion += by[in_motion - LOW, q] * rows[EFFORT, problem.columns[q]]
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
def _is_unsure(rows: Matrix, i: int) -> bool:
    """Whether rounding tells if an element moves; what just holds at less is at rest."""
    if rows[STATE, i] == 0.0 and rows[MOVED, i] == LET_GO:
        return True
    if rows[STATE, i] == 0.0 and rows[SHARED, 0] == 1.0:
        return False
    over, clear = abs(rows[RATE, i]), CLEAR_RATE * rows[SIZE, i]
    if rows[STATE, i] == 0.0:
        over = rows[OWN, i] * min(rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i])
        width = rows[UP, i] - rows[DOWN, i]
        clear = rows[GRAIN, i] + rows[OWN, i] * AT_BOUND * width if width < np.inf else (
            CLEAR * rows[SIZE, i])
    return not (over > clear or rows[STATE, i] == 0.0 and rows[MOVED, i] != 0.0 or rows[
        KNOWN, i] != 0.0 or rows[MOVED, i] == LET_GO)
