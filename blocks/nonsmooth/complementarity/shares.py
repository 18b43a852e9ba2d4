"""How do elements at rest share what the motion does not divide among them?

Brakes in parallel, the legs of a table, frictions in a loop: where the matrix D of what sticks is
singular, many efforts have the same effect. Those are taken that have the least sum of
``effort**2 * sqrt(D_ii) / range``, as if each element crept viscously, all with one creep of the
bodies, until it comes to a bound and is held there by the others. So brakes in parallel share a
load in proportion to their strength, and what bears as good as anything one way (a one-way clutch,
a contact) bears it.

As long as the same elements are at their bounds, efforts are a linear function of what is shared
(:func:`.islands_at_rest.kept`). Elements hold as long as what is inside its bounds can hold every
motion, which is as long as any efforts within all bounds do.

Where bounds follow efforts the same is told in :mod:`.islands_at_rest`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...machine.functions import BoundCall, machine_code
from ...numerics.arrays import Array, Flags, Indices, Matrix, Vector
from ...numerics.tolerances import AT_BOUND, FULFILLED, PROXIMAL_POINT, SAFE_PIVOT, TINY
from .problem import INFINITE, weigh_ranges

__all__ = ["EFFORT", "ENDS", "HIGH", "LOOSE", "LOW", "RATE", "ROWS", "Shares", "share", "shares",
           "sharing_of", "weights"]  # fmt: skip

#: What is known of elements and found for them: rows of a matrix.
(RATE, LOW, HIGH, EFFORT, ENDS, LOOSE, BOUND, OVER, UNIT, DOWN, UP, WEIGHT, LEFT, CREEP, ALONG,
 LOAD, POINT, STEP, FIRST) = range(19)  # fmt: skip
ROWS = 19
BALANCED = 1e-13  # of the largest load: what efforts may miss of it
NEARLY_BALANCED = 1e-8  # the same where those at their bounds are known
ALONG_STEP = 1e-3  # of the first slope along a step: as good as the lowest point
ROUNDS = 100
NOBODY = -1


class Shares(NamedTuple):
    """Efforts that have one effect."""

    effort: Array  # those of the least weighted sum of squares within their bounds
    # 1 and -1 at an upper or lower bound, held by others; 0 inside. What is inside can hold every
    # motion
    ends: Indices
    loose: Flags  # elements at their bounds that nothing else holds: they are about to move
    crept: Array | None = None  # efforts where each creeps a little, which tell who is at a bound


def weights(D: Array, low: Array, high: Array) -> Array:
    """What squares of efforts count, in units of D: the least range by their own.

    Examples
    --------
    >>> weights(np.ones((2, 2)), np.array([-1.0, -3.0]), np.array([1.0, 3.0])).round(6).tolist()
    [1.0, 0.333333]
    """
    own, share = np.maximum(D.diagonal(), TINY), np.empty(len(D))
    weigh_ranges(np.zeros(len(D)), (high - low) * np.sqrt(own), share, len(D))
    return share * own


def shares(D: Array, rate: Array, low: Array, high: Array, near: Array | None = None) -> Shares:
    """Share what holds elements at rest.

    ``D``, (n, n), is symmetric and positive semi-definite; ``rate`` are rates without the efforts;
    ``near`` are efforts that they had a little before.

    Examples
    --------
    Brakes of 1 N and 3 N side by side:

    >>> strength = np.array([1.0, 3.0])
    >>> found = shares(np.ones((2, 2)), np.array([3.5, 3.5]), -strength, strength)
    >>> found.effort.round(9).tolist(), found.loose.tolist()
    ([0.875, 2.625], [False, False])
    >>> shares(np.ones((2, 2)), np.array([4.0, 4.0]), -strength, strength).loose.tolist()
    [True, True]
    """
    n = len(D)
    rows = np.zeros((ROWS, n))
    rows[RATE], rows[LOW], rows[HIGH] = rate, low, high
    rows[EFFORT] = 0.0 if near is None else near
    share(np.ascontiguousarray(D, dtype=float), rows, np.empty((0, 0)), *np.empty((3, n, n)),
          np.zeros(n, dtype=np.int64), n, np.array([AT_BOUND]))
    return Shares(rows[EFFORT], rows[ENDS].astype(int), rows[LOOSE] != 0.0)


def sharing_of(d: Matrix, rows: Matrix, by: Matrix, allowed: Vector) -> BoundCall:
    """The shares of elements whose D and rows stand in arrays, as machine code calls it."""
    n = len(d)
    return share.bound(d, rows, by, *np.empty((3, n, n)), np.zeros(n, dtype=np.int64), n, allowed)


@machine_code
def share(d: Matrix, rows: Matrix, by: Matrix, l: Matrix, h: Matrix, q: Matrix, order: Indices,
          count: int, allowed: Vector) -> bool:
    """Share what holds elements at rest; whether that is found.

    With D = L L' each creeps by L y where bodies creep by y, and its effort is its creep by its
    weight, but no more than its bounds: y is where these balance the load, the lowest point of a
    convex function whose slope is piecewise linear.

    ``d`` is the change of rates by efforts, with its sign turned. ``rows`` are RATE without
    efforts, bounds and, as EFFORT, where to begin; EFFORT, ENDS and LOOSE are found. ``by`` are
    efforts of what is inside by the rates that they cancel, which is found, if it has any room;
    ``l``, ``h``, ``q`` and ``order`` are room. ``allowed``, (1,), is of the largest effort: what is
    so near to a bound is there.
    """
    n = count
    for i in range(n):
        unit = 1.0 / np.sqrt(d[i, i]) if d[i, i] > 0.0 else 1.0
        rows[UNIT, i], rows[DOWN, i], rows[UP, i] = unit, rows[LOW, i] / unit, rows[HIGH, i] / unit
        rows[EFFORT, i] = rows[EFFORT, i] / unit
    weigh_ranges(rows[DOWN], rows[UP], rows[WEIGHT], n)
    rank = _decompose(d, rows, l, order, n)
    for k in range(rank):
        rows[LOAD, k] = rows[RATE, order[k]] * rows[UNIT, order[k]]
        for c in range(k):
            rows[LOAD, k] -= l[order[k], c] * rows[LOAD, c]
        rows[LOAD, k] = rows[LOAD, k] / l[order[k], k]
    found = _balance(rows, l, h, n, rank)
    _find_exactly(rows, l, h, q, allowed[0], n, rank)
    if by.size > 0:
        _spread(rows, l, h, q, by, order, n, rank)
    missing = top = most = 0.0
    for i in range(n):
        most = max(most, rows[LOOSE, i])
        top = max(top, abs(rows[RATE, i] * rows[UNIT, i]))
        rows[EFFORT, i] = min(max(rows[EFFORT, i] * rows[UNIT, i], rows[LOW, i]), rows[HIGH, i])
    for i in range(n):
        rate = rows[RATE, i]
        for j in range(n):
            rate -= d[i, j] * rows[EFFORT, j]
        missing = max(missing, abs(rate * rows[UNIT, i]))
    if most == 0.0 and missing > FULFILLED * top:  # no efforts hold that
        rows[LOOSE, :n] = 1.0
    return found


@machine_code
def _decompose(d: Matrix, rows: Matrix, l: Matrix, order: Indices, n: int) -> int:
    """L of D in equal units, and the elements that its rank is told by, in order; that rank."""
    for i in range(n):
        rows[LEFT, i] = 1.0 if d[i, i] > 0.0 else 0.0
    for k in range(n):
        best = 0
        for i in range(n):
            if rows[LEFT, i] > rows[LEFT, best]:
                best = i
        if not rows[LEFT, best] > FULFILLED:
            return k
        order[k], pivot = best, np.sqrt(rows[LEFT, best])
        for i in range(n):
            l[i, k] = d[i, best] * rows[UNIT, i] * rows[UNIT, best]
        for c in range(k):
            factor = l[best, c]
            if factor != 0.0:
                for i in range(n):
                    l[i, k] -= l[i, c] * factor
        for i in range(n):
            l[i, k] = l[i, k] / pivot
            rows[LEFT, i] -= l[i, k] * l[i, k]
        l[best, k], rows[LEFT, best] = pivot, 0.0
    return n


@machine_code
def _balance(rows: Matrix, l: Matrix, h: Matrix, n: int, rank: int) -> bool:
    """Efforts that balance the load by one creep of the bodies, which have a little inertia, if
    they are found."""
    begun = False
    for i in range(n):
        begun = begun or rows[EFFORT, i] != 0.0
        rows[BOUND, i] = 0.0
    for i in range(n):
        if begun and rows[EFFORT, i] >= rows[UP, i]:
            rows[BOUND, i] = 1.0
        elif begun and rows[EFFORT, i] <= rows[DOWN, i]:
            rows[BOUND, i] = -1.0
    top = _largest(rows, LOAD, rank)
    _factorise(rows, l, h, n, rank, PROXIMAL_POINT)
    _point_at(rows, l, h, n, rank)
    for _ in range(ROUNDS + n):
        same = _take(rows, l, n, rank)
        for c in range(rank):
            rows[STEP, c] = rows[LOAD, c] - PROXIMAL_POINT * rows[POINT, c]
        for i in range(n):
            for c in range(rank):
                rows[STEP, c] -= l[i, c] * rows[EFFORT, i]
        if _largest(rows, STEP, rank) <= (NEARLY_BALANCED if same else BALANCED) * top:
            return True
        _factorise(rows, l, h, n, rank, PROXIMAL_POINT)
        _solve(h, rows, STEP, rank)
        for i in range(n):
            rows[ALONG, i] = _product(l, i, rows, STEP, rank)
        far = _far(rows, n, rank)
        for c in range(rank):
            rows[POINT, c] += far * rows[STEP, c]
    return False


@machine_code
def _take(rows: Matrix, l: Matrix, n: int, rank: int) -> bool:
    """Efforts and who is at its bound where bodies creep as POINT says; whether these are the same
    as before."""
    same = True
    for i in range(n):
        rows[CREEP, i] = _product(l, i, rows, POINT, rank)
        asked = rows[CREEP, i] / rows[WEIGHT, i]
        rows[EFFORT, i] = min(max(asked, rows[DOWN, i]), rows[UP, i])
        rows[OVER, i], bound = abs(asked - rows[EFFORT, i]), 0.0
        if asked > rows[UP, i]:
            bound = 1.0
        elif asked < rows[DOWN, i]:
            bound = -1.0
        same = same and bound == rows[BOUND, i]
        rows[BOUND, i] = bound
    return same


@machine_code
def _far(rows: Matrix, n: int, rank: int) -> float:
    """How far along a step the load is balanced best."""
    first, own, low, high, far, most = 0.0, 0.0, 0.0, INFINITE, 1.0, 0.0
    for c in range(rank):
        first += rows[STEP, c] * (PROXIMAL_POINT * rows[POINT, c] - rows[LOAD, c])
        own += PROXIMAL_POINT * rows[STEP, c] * rows[STEP, c]
    most = first
    for i in range(n):
        most += rows[ALONG, i] * rows[EFFORT, i]
    for _ in range(ROUNDS + 2 * n):
        missing, slope = first + far * own, own
        for i in range(n):
            along, weight = rows[ALONG, i], rows[WEIGHT, i]
            asked = (rows[CREEP, i] + far * along) / weight
            missing += along * min(max(asked, rows[DOWN, i]), rows[UP, i])
            if rows[DOWN, i] < asked < rows[UP, i]:
                slope += along * along / weight
        if abs(missing) <= (0.5 if far == 1.0 else ALONG_STEP) * abs(most):
            return far
        if missing < 0.0:
            low = far
        else:
            high = far
        far -= missing / slope
        if not low < far < high:
            far = 0.5 * (low + high) if high < INFINITE else 2.0 * low
    return far


@machine_code
def _find_exactly(rows: Matrix, l: Matrix, h: Matrix, q: Matrix, allowed: float, n: int, rank: int
                  ) -> None:
    """Efforts exactly, of those that are at their bounds or come to them by that, and of others."""
    _bring_to_bounds(rows, allowed, n)
    again = beyond = True
    while again:
        beyond = again = False
        _hold(rows, l, h, q, n, rank)
        _point_at(rows, l, h, n, rank)
        largest = _largest(rows, EFFORT, n)
        for i in range(n):
            over = max(rows[EFFORT, i] - rows[UP, i], rows[DOWN, i] - rows[EFFORT, i])
            if over > allowed * largest:
                beyond = True
                if rows[ENDS, i] == 0.0:
                    rows[ENDS, i] = 1.0 if rows[EFFORT, i] > rows[UP, i] else -1.0
                    again = True
    if not beyond and _bring_to_bounds(rows, allowed, n):
        _hold(rows, l, h, q, n, rank)
        _point_at(rows, l, h, n, rank)
    rows[ENDS, :n] = rows[BOUND, :n]


@machine_code
def _bring_to_bounds(rows: Matrix, allowed: float, n: int) -> bool:
    """Who is at its bounds; whether others are than before."""
    largest, changed = _largest(rows, EFFORT, n), False
    for i in range(n):
        up, down = rows[UP, i] - rows[EFFORT, i], rows[EFFORT, i] - rows[DOWN, i]
        end = 0.0
        if min(up, down) <= allowed * largest:
            end = 1.0 if up <= down else -1.0
        changed = changed or end != rows[ENDS, i]
        rows[ENDS, i] = end
    return changed


@machine_code
def _hold(rows: Matrix, l: Matrix, h: Matrix, q: Matrix, n: int, rank: int) -> None:
    """Factors of what holds: of all inside their bounds, if these hold every motion for sure."""
    for i in range(n):
        rows[BOUND, i], rows[LOOSE, i] = rows[ENDS, i], 0.0
    if not _factorise(rows, l, h, n, rank, 0.0) > SAFE_PIVOT:
        _with_enough(rows, l, q, n, rank)
        _factorise(rows, l, h, n, rank, 0.0)


@machine_code
def _with_enough(rows: Matrix, l: Matrix, q: Matrix, n: int, rank: int) -> None:
    """Who holds: all inside their bounds, and where these do not hold every motion, others.

    Motions that are held are the span of rows of ``q``. What is then LEFT of the creep of others
    makes them LOOSE; of these those that are the least OVER their bounds have to hold. BOUND is 0
    for all that hold.
    """
    for i in range(n):
        rows[LEFT, i] = _product(l, i, l, i, rank)
    held, inside = 0, True
    while held < rank:
        best = NOBODY
        for i in range(n):
            if rows[LEFT, i] > FULFILLED and (rows[ENDS, i] == 0.0 if inside else (
                    rows[BOUND, i] != 0.0)) and (best == NOBODY or (
                    rows[LEFT, i] > rows[LEFT, best] if inside else (
                        rows[OVER, i] < rows[OVER, best]))):
                best = i
        if best == NOBODY and not inside:
            return
        if best == NOBODY:
            inside = False
            for i in range(n):
                if rows[ENDS, i] != 0.0 and rows[LEFT, i] > FULFILLED:
                    rows[LOOSE, i] = 1.0
            continue
        rows[BOUND, best] = 0.0
        q[held, :rank] = l[best, :rank]
        for _ in range(2):
            for k in range(held):
                along = _product(q, k, q, held, rank)
                for c in range(rank):
                    q[held, c] -= along * q[k, c]
        size = np.sqrt(_product(q, held, q, held, rank))
        for c in range(rank):
            q[held, c] = q[held, c] / size
        for i in range(n):
            along = _product(l, i, q, held, rank)
            rows[LEFT, i] -= along * along
        rows[LEFT, best] = 0.0
        held += 1


@machine_code
def _point_at(rows: Matrix, l: Matrix, h: Matrix, n: int, rank: int) -> None:
    """The creep of the bodies, and efforts, where those at BOUND bear that and others the rest."""
    for i in range(n):
        rows[EFFORT, i] = 0.0
        if rows[BOUND, i] != 0.0:
            rows[EFFORT, i] = rows[UP, i] if rows[BOUND, i] > 0.0 else rows[DOWN, i]
    rows[POINT, :rank] = 0.0
    for _ in range(2):  # again for what rounding left
        rows[STEP, :rank] = rows[LOAD, :rank]
        for i in range(n):
            for c in range(rank):
                rows[STEP, c] -= l[i, c] * rows[EFFORT, i]
        _solve(h, rows, STEP, rank)
        for c in range(rank):
            rows[POINT, c] += rows[STEP, c]
        for i in range(n):
            if rows[BOUND, i] == 0.0:
                rows[EFFORT, i] = _product(l, i, rows, POINT, rank) / rows[WEIGHT, i]


@machine_code
def _product(a: Matrix, i: int, b: Matrix, j: int, count: int) -> float:
    """The product of the first so many entries of two rows."""
    total = 0.0
    for c in range(count):
        total += a[i, c] * b[j, c]
    return total


@machine_code
def _largest(rows: Matrix, row: int, count: int) -> float:
    """The largest of the first so many entries of a row, whatever its sign."""
    largest = 0.0
    for i in range(count):
        largest = max(largest, abs(rows[row, i]))
    return largest


@machine_code
def _factorise(rows: Matrix, l: Matrix, h: Matrix, n: int, rank: int, least: float) -> float:
    """Cholesky's factors, below the diagonal, of loads by creep of the bodies; the least pivot."""
    smallest = 1.0
    for a in range(rank):
        h[a, : a + 1] = 0.0
    for i in range(n):
        if rows[BOUND, i] == 0.0:
            for a in range(rank):
                factor = l[i, a] / rows[WEIGHT, i]
                if factor != 0.0:
                    for b in range(a + 1):
                        h[a, b] += factor * l[i, b]
    for a in range(rank):
        h[a, a] += least
        own = least  # of all, as what is left of some may be rounding
        for i in range(n):
            own += l[i, a] * l[i, a] / rows[WEIGHT, i]
        first = 0  # elements that stand in a row feel few bodies
        while h[a, first] == 0.0 and first < a:
            first += 1
        rows[FIRST, a] = first
        for b in range(first, a + 1):
            value = h[a, b]
            for c in range(max(first, int(rows[FIRST, b])), b):
                value -= h[a, c] * h[b, c]
            if b < a:
                h[a, b] = value / h[b, b]
            else:
                smallest = min(smallest, value / own)
                h[a, a] = np.sqrt(max(value, TINY))
    return smallest


@machine_code
def _solve(h: Matrix, rows: Matrix, row: int, rank: int) -> None:
    """Solve with these factors in place."""
    for a in range(rank):
        for c in range(int(rows[FIRST, a]), a):
            rows[row, a] -= h[a, c] * rows[row, c]
        rows[row, a] = rows[row, a] / h[a, a]
    for a in range(rank - 1, -1, -1):
        rows[row, a] = rows[row, a] / h[a, a]
        for c in range(int(rows[FIRST, a]), a):
            rows[row, c] -= h[a, c] * rows[row, a]


@machine_code
def _spread(rows: Matrix, l: Matrix, h: Matrix, q: Matrix, by: Matrix, order: Indices, n: int,
            rank: int) -> None:
    """Efforts of what holds by the rates that they cancel: of those that the rank is told by."""
    for k in range(rank):
        rows[STEP, :rank] = 0.0
        rows[STEP, k] = rows[UNIT, order[k]]
        for b in range(k, rank):
            rows[STEP, b] = rows[STEP, b] / l[order[b], b]
            for c in range(b + 1, rank if rows[STEP, b] != 0.0 else 0):
                rows[STEP, c] -= l[order[c], b] * rows[STEP, b]
        _solve(h, rows, STEP, rank)
        q[k, :rank] = rows[STEP, :rank]
    for i in range(n):
        by[i, :n] = 0.0
        for c in range(rank if rows[BOUND, i] == 0.0 else 0):
            factor = l[i, c] / rows[WEIGHT, i] * rows[UNIT, i]
            for k in range(rank if factor != 0.0 else 0):
                by[i, order[k]] += factor * q[k, c]
