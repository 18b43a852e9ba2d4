"""Which of several elements at rest begin to move? Compiled, for those that feel each other.

What :class:`blocks.nonsmooth.modes.decisions.Decisions` comes to by its problem at rest: once an
element moves less holds it, and others may move in turn. D is symmetric and positive definite and
bounds move with no effort, so each of these problems has one solution, which
:func:`blocks.nonsmooth.complementarity.decide.decide` finds. Where rounding might tell who moves,
others decide.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import BoundCall, Kept, machine_code
from ..nonsmooth.complementarity.decide import FOUND, decide
from ..nonsmooth.complementarity.problem import Problem, connect, pose, problem_of
from ..nonsmooth.complementarity.sparse_lu import Factors, analyse, factors_of
from ..numerics.arrays import Indices, Matrix
from ..numerics.tolerances import CLEAR_RATE, CLEAR_ROOM, GRAZES, SAFE_PIVOT, SYMMETRIC, TIE

__all__ = ["AT_REST", "DRIVE", "LOW", "MOVED", "STATE", "choice_of", "choose_jointly",
           "is_positive"]  # fmt: skip

#: What is known of elements and found for them: rows of a matrix.
DRIVE, LOW, HIGH, BACK, FORTH, MOVED, EFFORT, RATE, STATE, SIZE = range(10)
AT_REST = 10  # rows
EXACT = 1e-12  # of the largest rate


def choice_of(d: Matrix, rows: Matrix) -> BoundCall:
    """The choice among elements whose D and rows stand in arrays, as machine code calls it."""
    n = len(d)
    return choose_jointly.bound(Kept(problem_of(n, n * n)), Kept(factors_of(n, n * n)), d,
                                     rows, np.arange(n + 1), n)


@machine_code
def is_positive(d: Matrix, factors: Matrix, count: int) -> bool:
    """Whether the first rows and columns of D are symmetric and positive definite.

    Cholesky's factors of D, its diagonal scaled to 1 and less SAFE_PIVOT, prove that no eigenvalue
    is smaller (S. M. Rump, "Verification of positive definiteness", BIT 46, 2006).
    """
    for i in range(count):
        if not d[i, i] > 0.0:
            return False
        for j in range(i + 1):
            unit = np.sqrt(d[i, i] * d[j, j])
            if not abs(d[i, j] - d[j, i]) <= SYMMETRIC * unit:
                return False
            value = d[i, j] / unit
            for k in range(j):
                value -= factors[i, k] * factors[j, k]
            if j < i:
                factors[i, j] = value / factors[j, j]
            elif value > SAFE_PIVOT:
                factors[i, j] = np.sqrt(value - SAFE_PIVOT)
            else:
                return False
    return True


@machine_code
def choose_jointly(problem: Problem, factors: Factors, d: Matrix, rows: Matrix, first: Indices,
                   count: int) -> bool:
    """Find efforts and states of elements at rest; whether they are sure.

    Parameters
    ----------
    problem, factors : room
    d : change of rates by efforts, with its sign turned
    rows : DRIVE (rates without efforts), bounds at rest and in motion, and which elements have
        MOVED are given; these, EFFORT, RATE and STATE (1 and -1 where it moves) are found
    first : whole numbers from 0 on
    count : how many elements there are
    """
    for i in range(count * count):
        factors.linked[i] = True
    if not analyse(factors, first, count):
        return False
    for _ in range(count + 1):
        if not _balanced(problem, factors, d, rows, count) or not _is_clear(d, rows, count):
            return False
        more = False
        for i in range(count):
            if rows[STATE, i] != 0.0 and rows[MOVED, i] == 0.0:
                rows[MOVED, i] = 1.0
                more = True
        if not more:
            return True
    return False


@machine_code
def _balanced(problem: Problem, factors: Factors, d: Matrix, rows: Matrix, count: int) -> bool:
    """Find efforts that hold what they can within their bounds."""
    q = 0
    for i in range(count):
        problem.starts[i], problem.b[i] = q, rows[DRIVE, i]
        for j in range(count):
            problem.columns[q], problem.D[q] = j, d[i, j]
            q += 1
    problem.starts[count] = q
    pose(problem, count)
    for i in range(count):
        low, high = _bounds(rows, i)
        problem.low[i], problem.high[i] = low / problem.unit[i], high / problem.unit[i]
        problem.new[i], problem.floor[i] = 0.0, 0.0
    connect(problem, count)
    if decide(problem, factors, EXACT, count, False) != FOUND:
        return False
    for i in range(count):
        low, high = _bounds(rows, i)
        effort = problem.x[i] * problem.unit[i]
        if np.isfinite(high) and high - effort <= TIE * abs(high):
            effort = high
        elif np.isfinite(low) and effort - low <= TIE * abs(low):
            effort = low
        rows[EFFORT, i] = effort
    for i in range(count):
        rate, size = rows[DRIVE, i], abs(rows[DRIVE, i])
        for j in range(count):
            rate -= d[i, j] * rows[EFFORT, j]
            size = max(size, abs(d[i, j] * rows[EFFORT, j]))
        rows[RATE, i], rows[SIZE, i], rows[STATE, i] = rate, size, 0.0
        low, high = _bounds(rows, i)
        if rows[EFFORT, i] == high and rate > GRAZES * size:
            rows[STATE, i] = 1.0
        elif rows[EFFORT, i] == low and rate < -GRAZES * size:
            rows[STATE, i] = -1.0
    return True


@machine_code
def _bounds(rows: Matrix, i: int) -> tuple[float, float]:
    """Bounds of an element: less holds what has moved, but for a stop."""
    low, high = rows[LOW, i], rows[HIGH, i]
    if rows[MOVED, i] != 0.0:
        if np.isfinite(high):
            high = rows[FORTH, i]
        if np.isfinite(low):
            low = min(rows[BACK, i], high)
    return low, high


@machine_code
def _is_clear(d: Matrix, rows: Matrix, count: int) -> bool:
    """Whether it is not rounding that tells what moves; what just holds at less is at rest."""
    for i in range(count):
        low, high = _bounds(rows, i)
        over, clear = abs(rows[RATE, i]), CLEAR_RATE * rows[SIZE, i]
        if rows[STATE, i] == 0.0:
            over = d[i, i] * min(high - rows[EFFORT, i], rows[EFFORT, i] - low)
            clear = CLEAR_ROOM * rows[SIZE, i]
        if not (over > clear or rows[STATE, i] == 0.0 and rows[MOVED, i] != 0.0):
            return False
    return True
