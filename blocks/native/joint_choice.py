"""Which of several elements at rest begin to move? Compiled, for those that feel each other.

What :class:`blocks.nonsmooth.modes.decisions.Decisions` comes to by its problem at rest: once an
element moves less holds it, and others may move in turn. D is symmetric and positive definite and
bounds move with no effort, so each of these problems has one solution. It is found by block
principal pivoting (J. J. Judice, F. M. Pires, "A block principal pivoting algorithm for large-scale
strictly monotone linear complementarity problems", Computers & Operations Research 21, 1994), and
where that does not end, as along an arm of many joints, by steps within the bounds that lower
½ e'De - drive'e (P. B. Stark, R. L. Parker, "Bounded-variable least squares", Computational
Statistics 10, 1995). Where rounding might tell who moves, others decide.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import CLEAR_RATE, CLEAR_ROOM, GRAZES, SAFE_PIVOT, SYMMETRIC
from .lu import factorize, solve

__all__ = ["AT_REST", "DRIVE", "LOW", "MOVED", "STATE", "choose_jointly",
           "is_positive"]  # fmt: skip

#: What is known of elements and found for them: rows of a matrix.
DRIVE, LOW, HIGH, BACK, FORTH, MOVED, EFFORT, RATE, STATE, SIZE, WITHIN = range(11)
AT_REST = 11  # rows
BLOCKS = 10  # rounds in which all elements change that are wrong
SINGLY = 10  # rounds an element, after these


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
def choose_jointly(d: Matrix, rows: Matrix, factors: Matrix, own: Vector, right: Vector,
                   work: Vector, taken: Indices, order: Indices, count: int) -> bool:
    """Find efforts and states of elements at rest; whether they are sure.

    Parameters
    ----------
    d : change of rates by efforts, with its sign turned
    rows : DRIVE (rates without efforts), bounds at rest and in motion, and which elements have
        MOVED are given; these, EFFORT, RATE and STATE (1 and -1 where it moves) are found
    factors, own, right, work, taken, order : room
    count : how many elements there are
    """
    for _ in range(count + 1):
        if not _balanced(d, rows, factors, own, right, work, taken, order, count):
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
def _balanced(d: Matrix, rows: Matrix, factors: Matrix, own: Vector, right: Vector, work: Vector,
              taken: Indices, order: Indices, count: int) -> bool:
    """Find efforts that hold what they can within their bounds; whether it is sure what moves."""
    rows[STATE, :] = 0.0
    for _ in range(BLOCKS):
        _at_states(d, rows, factors, own, right, work, taken, order, count)
        wrong = 0
        for i in range(count):
            low, high = _bounds(rows, i)
            state, over = rows[STATE, i], GRAZES * rows[SIZE, i]
            new = state
            if state != 0.0:
                if state * rows[RATE, i] < -over:
                    new = 0.0
            elif d[i, i] * (rows[EFFORT, i] - high) > over:
                new = 1.0
            elif d[i, i] * (low - rows[EFFORT, i]) > over:
                new = -1.0
            if new != state:
                rows[STATE, i] = new
                wrong += 1
        if wrong == 0:
            return _is_clear(d, rows, count)
    return _descended(d, rows, factors, own, right, work, taken, order, count)


@machine_code
def _descended(d: Matrix, rows: Matrix, factors: Matrix, own: Vector, right: Vector, work: Vector,
               taken: Indices, order: Indices, count: int) -> bool:
    """The same, from efforts within their bounds: towards those of its states, or as far as the
    first bound on the way; there the bound that holds most wrongly is left."""
    for i in range(count):
        low, high = _bounds(rows, i)
        rows[WITHIN, i] = max(low, min(rows[EFFORT, i], high))
        rows[STATE, i] = 0.0
        if rows[EFFORT, i] >= high:
            rows[STATE, i] = 1.0
        elif rows[EFFORT, i] <= low:
            rows[STATE, i] = -1.0
    for _ in range(SINGLY * count):
        _at_states(d, rows, factors, own, right, work, taken, order, count)
        share, first, worst = 1.0, -1, 0.0
        for i in range(count):
            low, high = _bounds(rows, i)
            over, at, way = GRAZES * rows[SIZE, i], rows[WITHIN, i], rows[EFFORT, i]
            part = share
            if rows[STATE, i] == 0.0 and d[i, i] * (way - high) > over:
                part = (high - at) / (way - at)
            elif rows[STATE, i] == 0.0 and d[i, i] * (low - way) > over:
                part = (at - low) / (at - way)
            if part < share:
                share, first = part, i
        for i in range(count):
            rows[WITHIN, i] += share * (rows[EFFORT, i] - rows[WITHIN, i])
        if first != -1:
            rows[STATE, first] = 1.0 if rows[EFFORT, first] > rows[WITHIN, first] else -1.0
            continue
        for i in range(count):
            wrong = -rows[STATE, i] * rows[RATE, i] - GRAZES * rows[SIZE, i]
            if wrong > worst * np.sqrt(d[i, i]):
                first, worst = i, wrong / np.sqrt(d[i, i])
        if first == -1:
            return _is_clear(d, rows, count)
        rows[STATE, first] = 0.0
    return False


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
def _at_states(d: Matrix, rows: Matrix, factors: Matrix, own: Vector, right: Vector,
               work: Vector, taken: Indices, order: Indices, count: int) -> None:
    """Efforts at which what is at rest has no rate, and the rates of what moves."""
    rests = 0
    for i in range(count):
        low, high = _bounds(rows, i)
        if rows[STATE, i] == 0.0:
            taken[rests] = i
            rests += 1
        else:
            rows[EFFORT, i] = high if rows[STATE, i] > 0.0 else low
    for a in range(rests):
        i = taken[a]
        own[a], right[a] = d[i, i], rows[DRIVE, i]
        for j in range(count):
            if rows[STATE, j] != 0.0:
                right[a] -= d[i, j] * rows[EFFORT, j]
        for b in range(rests):
            factors[a, b] = d[i, taken[b]]
    factorize(factors, own[:rests], order)
    solve(factors, order, right[:rests], work)
    for a in range(rests):
        rows[EFFORT, taken[a]] = right[a]
    for i in range(count):
        rate, size = rows[DRIVE, i], abs(rows[DRIVE, i])
        for j in range(count):
            rate -= d[i, j] * rows[EFFORT, j]
            size = max(size, abs(d[i, j] * rows[EFFORT, j]))
        rows[RATE, i], rows[SIZE, i] = rate, size


@machine_code
def _is_clear(d: Matrix, rows: Matrix, count: int) -> bool:
    """Whether it is not rounding that tells what moves; what just holds at less is at rest."""
    for i in range(count):
        low, high = _bounds(rows, i)
        over, clear = abs(rows[RATE, i]), CLEAR_RATE * rows[SIZE, i]
        if rows[STATE, i] == 0.0:
            over = d[i, i] * min(high - rows[EFFORT, i], rows[EFFORT, i] - low)
            clear = CLEAR_ROOM * rows[SIZE, i]
        elif rows[MOVED, i] != 0.0 and over <= GRAZES * rows[SIZE, i]:
            rows[STATE, i] = 0.0
        if not (over > clear or rows[STATE, i] == 0.0 and rows[MOVED, i] != 0.0):
            return False
    return True
