"""How do elements at rest share what the motion does not divide among them?

Brakes in parallel, the legs of a table, frictions in a loop: where the matrix D of what sticks is
singular, many efforts have the same effect. Those are taken that have the least sum of
``effort**2 * sqrt(D_ii) / range``, as if each element crept viscously, all with one creep of the
bodies, until it comes to a bound and is held there by the others. So brakes in parallel share a
load in proportion to their strength, and what bears as good as anything one way (a one-way clutch,
a contact) bears it.

As long as the same elements are at their bounds, efforts are a linear function of what is shared:
:func:`within` of those inside. Elements hold as long as what is inside its bounds can hold every
motion, which is as long as any efforts within all bounds do.

Bounds may follow efforts (``mu N``): then who is at a bound takes more of what presses it
(:func:`followed`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...machine.functions import BoundCall, Kept, machine_code
from ...numerics.arrays import Array, Flags, Indices, Matrix, Vector
from ...numerics.tolerances import AT_BOUND, BLOCK_SINGULAR, CONSISTENT, PROXIMAL_POINT, TINY
from .decide import FOUND, decide
from .problem import (
    FEW,
    INFINITE,
    LEAST_SHARE,
    Problem,
    at_efforts,
    connect,
    pose,
    problem_of,
    weigh,
)
from .solving import solve
from .sparse_lu import Factors, analyse, factors_of

__all__ = ["BOUND", "EFFORT", "ENDS", "HIGH", "LOOSE", "LOW", "RATE", "ROWS", "Part", "Shares",
           "at_ends", "followed", "given_rows", "kept", "share", "share_of", "shares",
           "shares_at_times", "sharing_of", "weights", "within"]  # fmt: skip

#: What is known of elements and found for them: rows of a matrix.
RATE, LOW, HIGH, EFFORT, ENDS, LOOSE, BOUND, OVER, SWEPT = range(9)
ROWS = 9
EXACT = 1e-12  # of the largest rate


class Shares(NamedTuple):
    """Efforts that have one effect.

    Attributes
    ----------
    effort : those of the least weighted sum of squares within their bounds
    ends : 1 and -1 at an upper or lower bound, held by others; 0 inside. What is inside can hold
        every motion
    loose : elements at their bounds that nothing else holds: they are about to move
    by : efforts of what is inside by the rates that they cancel
    """

    effort: Array
    ends: Indices
    loose: Flags
    by: Array


def weights(D: Array, low: Array, high: Array) -> Array:
    """What squares of efforts count, in units of D: the least range by their own.

    Examples
    --------
    >>> weights(np.ones((2, 2)), np.array([-1.0, -3.0]), np.array([1.0, 3.0])).round(6).tolist()
    [1.0, 0.333333]
    """
    own = np.maximum(D.diagonal(), TINY)
    span = (high - low) * np.sqrt(own)
    least = span[span > 0].min(initial=np.inf)
    if not np.isfinite(least):
        return own
    with np.errstate(divide="ignore"):
        share = np.where(span > 0, np.maximum(least / span, LEAST_SHARE), 1.0)
    return share * own


def within(D: Array, weight: Array, inside: Flags) -> Array:
    """Efforts by the rates that they cancel, of some elements; those of the others are 0.

    Of efforts with one effect they have the least weighted sum of squares.

    Examples
    --------
    >>> by = within(np.ones((2, 2)), np.array([3.0, 1.0]), np.array([True, True]))
    >>> (by @ [4.0, 4.0]).round(9).tolist()
    [1.0, 3.0]
    """
    n, own = len(D), np.sqrt(np.maximum(D.diagonal(), TINY))
    scaled, rows, by = D / np.outer(own, own), np.zeros((ROWS, n)), np.empty((n, n))
    rows[BOUND], rows[ENDS] = np.where(inside, 0.0, 1.0), np.where(inside, 0.0, 1.0)
    _held(scaled, weight / own**2, rows, by, np.empty((n, n)), np.empty((n, n)),
          np.zeros(n, dtype=np.int64), n)
    return by / np.outer(own, own)


class Part(NamedTuple):
    """Elements that share what they hold: rates are rate - D effort, bounds low + L effort and
    high + H effort; at many times ``rate``, ``low`` and ``high`` have a column for each.
    """

    D: Array
    rate: Array
    low: Array
    high: Array
    L: Array
    H: Array

    @property
    def follows(self) -> Flags:
        """Elements whose bounds follow efforts."""
        return np.asarray(self.L.any(axis=1) | self.H.any(axis=1))

    def bounds(self, effort: Array) -> tuple[Array, Array]:
        """Bounds at efforts."""
        return self.low + self.L @ effort, self.high + self.H @ effort

    @property
    def weights(self) -> Array:
        """What squares of efforts count; what has no range of its own counts as the least."""
        follows = self.follows
        return weights(self.D, np.where(follows, 0.0, self.low), np.where(follows, 0.0, self.high))


def followed(part: Part, near: Array | None = None) -> Shares:
    """Share what holds elements at rest whose bounds follow efforts; D may be any matrix.

    Who is at a bound is told where each creeps a little. ``by`` is that of :func:`kept`.

    Examples
    --------
    A body of 10 N on two feet, mu = 0.5, pulled by 4 N between them (N1, T1, N2, T2):

    >>> D = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1.0]])
    >>> H = np.zeros((4, 4)); H[1, 0] = H[3, 2] = 0.5
    >>> feet = np.array([np.inf, 0, np.inf, 0])
    >>> found = followed(Part(D, np.array([10, 4, 10, 4.0]), np.zeros(4), feet, -H, H))
    >>> found.effort.round(6).tolist(), bool(found.loose.any())
    ([5.0, 2.0, 5.0, 2.0], False)
    """
    weight, (D, rate, low, high, L, H) = part.weights, part
    crept = solve(D + np.diag(PROXIMAL_POINT * weight), rate, low, high, L, H, start=near,
                  tol=EXACT)
    x, over = crept.effort, crept.state * crept.rate / weight
    ends = np.zeros(len(D), dtype=int)
    for allowed in (AT_BOUND, *[-AT_BOUND] * len(D), AT_BOUND):
        lowest, highest = part.bounds(x)
        up, down = highest - x, x - lowest
        there = (ends == 0) & (np.minimum(up, down) <= allowed * np.abs(x).max(initial=0.0))
        if there.any() or x is crept.effort:
            ends = np.where(there, np.where(up <= down, 1, -1), ends)
            inside, loose = _with_enough(part, ends, over)
            bound, by = kept(part, inside, weight)
            x = bound + by @ rate
    lowest, highest = part.bounds(x)
    x = np.clip(x, np.minimum(lowest, highest), highest)
    if not loose.any() and np.abs(rate - D @ x).max() > CONSISTENT * np.abs(rate).max():
        loose[:] = True  # no efforts hold that
    return Shares(x, inside, loose, by)


def kept(part: Part, ends: Indices, weight: Array) -> tuple[Array, Array]:
    """Efforts, without rates and by rates, as long as the same elements are at their bounds."""
    n, own = len(ends), np.sqrt(np.maximum(part.D.diagonal(), TINY))
    given, all_by, inside = _at_bounds(part, ends)
    left, size, right = _decomposed(part, all_by, inside, own)
    rank = len(size)
    # what the rates of those inside tell, and of efforts with one effect the least
    matrix = np.vstack([size[:, None] * right[:rank],
                        left[:, rank:].T * (weight / own**2)[inside]])
    by_rates = np.linalg.solve(matrix, np.vstack(
        [left[:, :rank].T, np.zeros((len(own[inside]) - rank, len(own[inside])))]))
    by_rates = by_rates / np.outer(own[inside], own[inside])
    by = np.zeros((n, n))
    by[:, inside] = all_by @ by_rates
    return given - by @ (part.D @ given), by


def given_rows(part: Part, ends: Indices) -> tuple[Array, Array]:
    """Equations that take the place of those that others imply, ``rows @ effort = right``."""
    own, inside = np.sqrt(np.maximum(part.D.diagonal(), TINY)), ends == 0
    _, all_by, _ = _at_bounds(part, ends)
    left, size, _ = _decomposed(part, all_by, inside, own)
    open_ = left[:, len(size):].T * (part.weights / own)[inside]
    even = np.zeros((len(open_), len(ends)))
    even[:, inside] = open_ / np.abs(open_).max(axis=1, initial=TINY)[:, None]
    slope = np.where((ends > 0)[:, None], part.H, part.L)
    return np.vstack([(np.eye(len(ends)) - slope)[~inside], even]), np.append(
        at_ends(ends, part.low, part.high)[~inside], np.zeros(len(even)))


def _at_bounds(part: Part, ends: Indices) -> tuple[Array, Array, Flags]:
    """All efforts without those inside their bounds and by them, and who is inside."""
    n, inside = len(ends), ends == 0
    slope = np.where((ends > 0)[:, None], part.H, np.where((ends < 0)[:, None], part.L, 0.0))
    back = np.linalg.inv(np.eye(n) - np.where(inside, 0.0, slope))
    by = back @ np.where(np.outer(~inside, inside), slope, np.eye(n))
    return back @ at_ends(ends, part.low, part.high), by[:, inside], inside


def _decomposed(part: Part, all_by: Array, inside: Flags, own: Array
                ) -> tuple[Array, Array, Array]:
    """The singular values that are none but rounding of what rates of those inside tell of their
    efforts, in equal units, and the bases."""
    told = (part.D @ all_by)[inside] / np.outer(own[inside], own[inside])
    left, size, right = np.linalg.svd(told)
    return left, size[size > BLOCK_SINGULAR * size.max(initial=0.0)], right


def _with_enough(part: Part, ends: Indices, over: Array) -> tuple[Indices, Flags]:
    """Who is at its bound where what is inside can hold every motion, and who else would move."""
    own = np.sqrt(np.maximum(part.D.diagonal(), TINY))
    motions, ends, first = part.D / np.outer(own, own), ends.copy(), np.zeros(len(ends), dtype=bool)
    for again in range(len(ends) + 1):
        _, size, right = np.linalg.svd(motions[ends == 0])
        held = right[: np.count_nonzero(size > BLOCK_SINGULAR * size.max(initial=0.0))]
        loose = (ends != 0) & (np.abs(motions - motions @ held.T @ held).max(axis=1) > CONSISTENT)
        first = first if again else loose
        if not loose.any():
            break
        ends[np.flatnonzero(loose)[np.argmin(over[loose])]] = 0
    return ends, first


def shares(D: Array, rate: Array, low: Array, high: Array, near: Array | None = None) -> Shares:
    """Share what holds elements at rest.

    Parameters
    ----------
    D : (n, n) array
        Symmetric and positive semi-definite, with a positive diagonal.
    rate : (n,) array
        Rates without the efforts.
    low, high : (n,) array
    near : (n,) array, optional
        Efforts that they had a little before.

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
    rows, by = np.zeros((ROWS, n)), np.empty((n, n))
    rows[RATE], rows[LOW], rows[HIGH] = rate, low, high
    rows[EFFORT] = 0.0 if near is None else near
    share(problem_of(n, n * n), factors_of(n, n * n), np.ascontiguousarray(D, dtype=float), rows,
          by, np.empty((n, n)), np.empty((n, n)), np.arange(n + 1), n, np.array([AT_BOUND]))
    return Shares(rows[EFFORT], rows[ENDS].astype(int), rows[LOOSE] != 0.0, by)


def share_of(part: Part, near: Array | None = None) -> Shares:
    """Share what holds elements at rest, whether bounds follow efforts or not."""
    if part.follows.any():
        return followed(part, near)
    return shares(part.D, part.rate, part.low, part.high, near)


def shares_at_times(part: Part) -> Array:
    """The efforts at many times, as columns.

    What is found at one is taken wherever the same elements are at their bounds.

    Examples
    --------
    >>> loads, strength = np.array([[3.5, 1.0], [3.5, 1.0]]), np.array([[1.0, 1.0], [3.0, 3.0]])
    >>> none = np.zeros((2, 2))
    >>> part = Part(np.ones((2, 2)), loads, -strength, strength, none, none)
    >>> shares_at_times(part).round(9).tolist()
    [[0.875, 0.25], [2.625, 0.75]]
    """
    follows, left, out = part.follows, np.arange(part.rate.shape[1]), np.empty(part.rate.shape)
    while len(left):
        at = part._replace(rate=part.rate[:, left], low=part.low[:, left], high=part.high[:, left])
        now = at._replace(rate=at.rate[:, 0], low=at.low[:, 0], high=at.high[:, 0])
        first, weight = share_of(now), now.weights[:, None]
        bound, by = kept(at, first.ends, now.weights)
        found = bound + by @ at.rate
        _, all_by, inside = _at_bounds(at, first.ends)
        drag, moved = weight * found, part.D @ all_by
        creep = moved @ np.linalg.lstsq(moved[inside], drag[inside], rcond=BLOCK_SINGULAR)[0]
        over = np.where(inside[:, None], 0.0, first.ends[:, None] * (creep - drag) / weight)
        low, high = at.bounds(found)
        band = AT_BOUND * np.abs(found).max(axis=0, initial=0.0)
        same = np.maximum(np.maximum(found - high, low - found), -over).max(axis=0) <= band
        for bounds in (at.low[~follows], at.high[~follows]):
            same &= (bounds == bounds[:, :1]).all(axis=0)
        out[:, left[same]] = np.clip(found[:, same], low[:, same], high[:, same])
        out[:, left[0]], same[0] = first.effort, True
        left = left[~same]
    return out


def at_ends(ends: Indices, low: Array, high: Array) -> Array:
    """Efforts of what is at its bounds; 0 of others."""
    ends = ends if low.ndim == 1 else ends[:, None]
    return np.where(ends > 0, high, np.where(ends < 0, low, 0.0))


def sharing_of(d: Matrix, rows: Matrix, by: Matrix, allowed: Vector) -> BoundCall:
    """The shares of elements whose D and rows stand in arrays, as machine code calls it."""
    n = len(d)
    return share.bound(Kept(problem_of(n, n * n)), Kept(factors_of(n, n * n)), d, rows, by,
                       np.empty((n, n)), np.empty((n, n)), np.arange(n + 1), n, allowed)


@machine_code
def share(problem: Problem, factors: Factors, d: Matrix, rows: Matrix, by: Matrix, swept: Matrix,
          kernel: Matrix, first: Indices, count: int, allowed: Vector) -> bool:
    """Share what holds elements at rest; whether that is found.

    Who is at a bound is told where each creeps a little, as in :mod:`.decide`.

    Parameters
    ----------
    problem, factors, swept, kernel : room
    d : change of rates by efforts, with its sign turned
    rows : RATE without efforts, bounds and, as EFFORT, where to begin; EFFORT, ENDS and LOOSE are
        found
    by : efforts of what is inside by the rates that they cancel, which is found
    first : whole numbers from 0 on
    count : how many elements there are
    allowed : (1,) of the largest effort: what is so near to a bound is there
    """
    n, q = count, 0
    if problem.systems[1] != n or n > FEW:
        for i in range(n):
            for j in range(n):
                factors.linked[i * n + j] = n <= FEW or d[i, j] != 0.0
        if not analyse(factors, first, n):
            return False
    for i in range(n):
        problem.starts[i], problem.b[i] = q, rows[RATE, i]
        for j in range(n):
            if n <= FEW or d[i, j] != 0.0:
                problem.columns[q], problem.D[q] = j, d[i, j]
                problem.L[q] = problem.H[q] = 0.0
                q += 1
    problem.starts[n] = q
    pose(problem, n)
    for i in range(n):
        unit = problem.unit[i]
        problem.low[i], problem.high[i] = rows[LOW, i] / unit, rows[HIGH, i] / unit
        problem.new[i], problem.floor[i] = rows[EFFORT, i] / unit, 0.0
    connect(problem, n)
    weigh(problem, n)
    _creep(problem, PROXIMAL_POINT, n)
    found = decide(problem, factors, EXACT, n, n <= FEW) == FOUND
    at_efforts(problem, problem.x, n)
    _creep(problem, -PROXIMAL_POINT, n)
    _bring_to_bounds(problem, rows, allowed[0], n)
    for i in range(n):
        rows[OVER, i] = rows[ENDS, i] * problem.rate[i] / problem.share[i]
    again = beyond = True
    while again:
        beyond = again = False
        largest = _at_ends(problem, rows, by, swept, kernel, n)
        for i in range(n):
            if max(problem.x[i] - problem.high[i], problem.low[i] - problem.x[i]) > (
                    allowed[0] * largest):
                beyond = True
                if rows[ENDS, i] == 0.0:
                    rows[ENDS, i] = 1.0 if problem.x[i] > problem.high[i] else -1.0
                    again = True
    if not beyond and _bring_to_bounds(problem, rows, allowed[0], n):
        _at_ends(problem, rows, by, swept, kernel, n)
    missing = top = most = 0.0
    for i in range(n):
        problem.x[i] = min(max(problem.x[i], problem.low[i]), problem.high[i])
        rows[EFFORT, i] = min(max(problem.x[i] * problem.unit[i], rows[LOW, i]), rows[HIGH, i])
        rows[ENDS, i] = rows[BOUND, i]
        most = max(most, rows[LOOSE, i])
        for j in range(n):
            by[i, j] *= problem.unit[i] * problem.unit[j]
    at_efforts(problem, problem.x, n)
    for i in range(n):
        missing, top = max(missing, abs(problem.rate[i])), max(top, abs(problem.b[i]))
    if most == 0.0 and missing > CONSISTENT * top:  # no efforts hold that
        for i in range(n):
            rows[LOOSE, i] = 1.0
    return found


@machine_code
def _creep(problem: Problem, by: float, n: int) -> None:
    """Add creep of the elements to that of the bodies."""
    for i in range(n):
        for q in range(problem.starts[i], problem.starts[i + 1]):
            if problem.columns[q] == i:
                problem.D[q] += by * problem.share[i]


@machine_code
def _bring_to_bounds(problem: Problem, rows: Matrix, allowed: float, n: int) -> bool:
    """Who is at its bounds; whether others are than before."""
    largest, changed = 0.0, False
    for i in range(n):
        largest = max(largest, abs(problem.x[i]))
    for i in range(n):
        up, down = problem.high[i] - problem.x[i], problem.x[i] - problem.low[i]
        end = 0.0
        if min(up, down) <= allowed * largest:
            end = 1.0 if up <= down else -1.0
        changed = changed or end != rows[ENDS, i]
        rows[ENDS, i] = end
    return changed


@machine_code
def _at_ends(problem: Problem, rows: Matrix, by: Matrix, swept: Matrix, kernel: Matrix, n: int
             ) -> float:
    """Efforts where some are at their bounds, and what holds the others; the largest of them."""
    for i in range(n):
        for j in range(n):
            swept[i, j] = 0.0
        for q in range(problem.starts[i], problem.starts[i + 1]):
            swept[i, problem.columns[q]] = problem.D[q]
    _hold(swept, problem.share, rows, by, kernel, problem.waiting, n)
    largest = 0.0
    for i in range(n):
        problem.error[i] = 0.0
        if rows[BOUND, i] != 0.0:
            problem.error[i] = problem.high[i] if rows[BOUND, i] > 0.0 else problem.low[i]
    for i in range(n):
        problem.right[i] = problem.b[i]
        for q in range(problem.starts[i], problem.starts[i + 1]):
            problem.right[i] -= problem.D[q] * problem.error[problem.columns[q]]
    for i in range(n):
        problem.x[i] = problem.error[i]
        for j in range(n):
            problem.x[i] += by[i, j] * problem.right[j]
        largest = max(largest, abs(problem.x[i]))
    return largest


@machine_code
def _held(d: Matrix, weight: Vector, rows: Matrix, by: Matrix, swept: Matrix, kernel: Matrix,
          free: Indices, n: int) -> None:
    """:func:`_hold` as Python calls it."""
    swept[:] = d
    _hold(swept, weight, rows, by, kernel, free, n)


@machine_code
def _hold(swept: Matrix, weight: Vector, rows: Matrix, by: Matrix, kernel: Matrix,
          free: Indices, n: int) -> None:
    """What holds elements whose ENDS are 0, and all that is needed to hold every motion.

    D of unit diagonal, which stands in ``swept``, is swept by those inside their bounds [J. H.
    Goodnight, The American Statistician 33 (1979) 149-158]. What is left on the diagonal of others
    is LOOSE; of these those that are the least OVER their bounds have to hold. BOUND is 0 for all
    that hold.
    """
    for i in range(n):
        rows[BOUND, i] = rows[ENDS, i]
        rows[LOOSE, i] = rows[SWEPT, i] = 0.0
        for j in range(n):
            by[i, j] = 0.0
    k = _next_inside(swept, rows, n)
    while k >= 0:
        rows[SWEPT, k] = 1.0
        _sweep(swept, k, n)
        k = _next_inside(swept, rows, n)
    for i in range(n):
        if rows[ENDS, i] != 0.0 and swept[i, i] > CONSISTENT:
            rows[LOOSE, i] = 1.0
    k = _next_loose(swept, rows, n)
    while k >= 0:
        rows[SWEPT, k], rows[BOUND, k] = 1.0, 0.0
        _sweep(swept, k, n)
        k = _next_loose(swept, rows, n)
    count = 0
    for i in range(n):
        if rows[SWEPT, i] == 0.0 and rows[BOUND, i] == 0.0:
            free[count] = i
            count += 1
    for a in range(count):
        for c in range(count):
            kernel[a, c] = weight[free[a]] if a == c else 0.0
    for b in range(n):
        if rows[SWEPT, b] != 0.0:
            for a in range(count):
                factor = swept[b, free[a]] * weight[b]
                if factor != 0.0:
                    for c in range(count):
                        kernel[a, c] += factor * swept[b, free[c]]
    for a in range(count):
        _sweep(kernel, a, count)
    for j in range(n):
        if rows[SWEPT, j] == 0.0:
            continue
        for c in range(count):
            rows[EFFORT, c] = 0.0
        for b in range(n):
            if rows[SWEPT, b] == 0.0:
                continue
            by[b, j] = -swept[b, j]
            factor = weight[b] * swept[b, j]
            if factor != 0.0:
                for c in range(count):
                    rows[EFFORT, c] += factor * swept[b, free[c]]
        for a in range(count):
            stress = 0.0
            for c in range(count):
                stress += kernel[a, c] * rows[EFFORT, c]
            by[free[a], j] = stress
        for b in range(n):
            if rows[SWEPT, b] != 0.0:
                for a in range(count):
                    by[b, j] -= swept[b, free[a]] * by[free[a], j]


@machine_code
def _next_inside(swept: Matrix, rows: Matrix, n: int) -> int:
    """Who is inside its bounds and holds most of what nobody holds yet; -1 for nobody."""
    found, most = -1, CONSISTENT
    for i in range(n):
        if rows[ENDS, i] == 0.0 and rows[SWEPT, i] == 0.0 and swept[i, i] > most:
            found, most = i, swept[i, i]
    return found


@machine_code
def _next_loose(swept: Matrix, rows: Matrix, n: int) -> int:
    """Of those at their bounds that nobody holds, who came last; -1 for nobody."""
    found, least = -1, INFINITE
    for i in range(n):
        if rows[BOUND, i] != 0.0 and swept[i, i] > CONSISTENT and rows[OVER, i] < least:
            found, least = i, rows[OVER, i]
    return found


@machine_code
def _sweep(a: Matrix, k: int, n: int) -> None:
    """Exchange an effort and a rate."""
    pivot = a[k, k]
    for i in range(n):
        factor = a[i, k] / pivot
        if i != k and factor != 0.0:
            for j in range(n):
                a[i, j] -= factor * a[k, j]
            a[i, k] = factor
    for i in range(n):
        a[k, i] /= pivot
    a[k, k] = -1.0 / pivot
