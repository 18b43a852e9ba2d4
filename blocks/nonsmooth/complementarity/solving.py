"""Which set-valued elements stick, which move, and with what effort? One problem, one solver.

Knows matrices, vectors and bounds only. Everything set-valued ends here: dry friction,
unilateral contacts, ideal diodes and one-way clutches, on acceleration level (at events), on
velocity level (time stepping) and for impulses. With efforts ``lambda`` within
``low = lower + L lambda`` and ``high = upper + H lambda``, and flow rates
``rate = b - D lambda``::

    lambda_i = high_i            =>  rate_i >= 0      (starts to move forward)
    low_i < lambda_i < high_i    =>  rate_i  = 0      (sticks, stays closed)
    lambda_i = low_i             =>  rate_i <= 0      (starts to move backward, opens)

Signs: lambda is carried from R to C and flow = R minus C, so friction that slides forward has
lambda = +F. A unilateral contact has lambda in [0, inf) and a flow that is positive while it
*approaches*; rate < 0 opens it.

References
----------
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.tolerances import AT_BOUND, NOTHING_AT_ALL, ROUNDING, SEMIDEFINITE, TINY
from .decide import ENUMERATED, FOUND, NONE, SEVERAL
from .moving import (
    AT_FIRST,
    AT_REST,
    DOWN,
    DRIVE,
    EFFORT,
    FORTH,
    GRAIN,
    HIGH,
    LOW,
    MOVED,
    NOISE,
    OWN,
    RATE,
    STATE,
    SURE,
    UNCLEAR,
    UNSURE,
    UP,
    choose_jointly,
)
from .problem import FEW, problem_of
from .scaling import Matrix, MatrixLike, as_bounds, as_matrix, components
from .sparse_lu import Factors, analyse, factors_of

__all__ = ["Solution", "Status", "choose", "solve"]

FILLED = 20  # entries of factors, each by one of a matrix: to begin with


class Status(StrEnum):
    """How the search ended."""

    SOLVED = "solved"
    NOT_UNIQUE = "no unique solution (Painlevé)"
    NO_SOLUTION = "no solution: an effort would have to be infinite"
    WORK_BOUND = "not solved within the bound on work"


GOES_ON = (FOUND, UNCLEAR)
STATUS = {FOUND: Status.SOLVED, SEVERAL: Status.NOT_UNIQUE, NONE: Status.NO_SOLUTION}


class Solution(NamedTuple):
    """Efforts, rates and modes of all elements."""

    # the efforts, within their bounds. Where D is singular other efforts may give the same rates:
    # see `undetermined_groups`, `shares`.
    effort: Array
    rate: Array  # b - D effort; exactly 0.0 for every element whose state is 0
    # +1 at the upper bound and moving forward, -1 at the lower bound and moving backward, 0 at
    # rest. For an element of fixed effort (equal bounds) the sign of its rate.
    state: Indices
    moved: Array  # 0, 1, or LET_GO
    low: Array  # low, high: bounds at these efforts
    high: Array
    grain: Array  # efforts that rounding may make of none
    status: Status
    suspects: Indices  # elements of islands that are unsolved or not unique
    unclear: Flags  # elements of which rounding tells whether they move
    iterations: int  # linear systems

    @property
    def converged(self) -> bool:
        """Whether the efforts obey all laws, be they the only ones that do or not."""
        return self.status in (Status.SOLVED, Status.NOT_UNIQUE)

    @property
    def grazing(self) -> Flags:
        """At rest with the effort at a bound: the next derivative decides."""
        size = np.abs(self.effort)
        band = AT_BOUND * size + self.grain + NOTHING_AT_ALL * size.max(initial=0.0)
        room = np.minimum(self.high - self.effort, self.effort - self.low)
        return np.asarray((self.state == 0) & (room <= band))


def solve(
    D: MatrixLike,
    b: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    by_lower: MatrixLike | None = None,
    by_upper: MatrixLike | None = None,
    *,
    guess: ArrayLike | None = None,
    noise: ArrayLike = 0.0,
) -> Solution:
    """Find efforts within bounds whose rates b - D effort lie in the bounds' normal cone.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
        Delassus matrix -d rate/d effort. Symmetric positive semi-definite in
        passive networks, any rank; not symmetric where a controlled source or
        a normal force depends on an effort.
    b : (n,) array_like
        Rates without the efforts.
    lower, upper : array_like
        Bounds at no effort; may be infinite, and equal where an element slides and its
        effort is known.
    by_lower, by_upper : (n, n) array_like or scipy.sparse, optional
        Derivatives of the bounds by the efforts (mu N); both or none.
    guess : (n,) array_like, optional
        Efforts of an earlier solution: where efforts are not determined those found are near.
    noise : array_like
        Rates that are noise of the caller's evaluation, per element. Decides
        whether an element across a rigid or prescribed path (D_ii = 0) rests.

    Returns
    -------
    Solution
        ``status`` NOT_UNIQUE or NO_SOLUTION names Painlevé's paradox.

    Notes
    -----
    Part by part of what acts on each other, by :func:`.decide.decide`. Of efforts that have one
    effect those are found that have the least sum of effort**2 sqrt(D_ii) / range, as long as none
    of them comes to a bound. Where a small island may have several motions (its matrix is no
    P-matrix), all combinations of modes are tried.

    Examples
    --------
    Two frictions of 1 N and 3 N side by side hold a load of 3.5 N on 1 kg:

    >>> held = solve([[1, 1], [1, 1]], [3.5, 3.5], [-1, -3], [1, 3])
    >>> [float(r) for r in held.rate], held.effort.round(9).tolist()
    ([0.0, 0.0], [0.875, 2.625])
    >>> moved = solve([[1, 1], [1, 1]], [4.5, 4.5], [-1, -3], [1, 3])
    >>> [float(r) for r in moved.rate], [float(f) for f in moved.effort]
    ([0.5, 0.5], [1.0, 3.0])

    A contact pressed with 10 N and its friction, mu = 0.5, pulled with 4 N, then 6 N:

    >>> mu = np.array([[0, 0], [0.5, 0]])
    >>> none, endless = [0, 0], [np.inf, 0]
    >>> held = solve(np.eye(2), [10, 4], none, endless, -mu, mu)
    >>> held.effort.tolist(), held.state.tolist()
    ([10.0, 4.0], [0, 0])
    >>> moved = solve(np.eye(2), [10, 6], none, endless, -mu, mu)
    >>> moved.effort.tolist(), moved.state.tolist(), moved.rate.tolist()
    ([10.0, 5.0], [0, 1], [0.0, 1.0])
    """
    load = np.array(b, dtype=float).reshape(-1)
    n = len(load)
    if not np.all(np.isfinite(load)):
        raise ValueError(f"rate {int(np.flatnonzero(~np.isfinite(load))[0])} of b is not finite")
    matrix, slopes = as_matrix(D, n), None
    if by_lower is not None and by_upper is not None:
        bounds = [np.array(lower, dtype=float), np.array(upper, dtype=float)]
        slopes = 2 * [as_matrix(given, n) for given in (by_lower, by_upper)]
    else:
        bounds = list(as_bounds(lower, upper, n))
    none = np.zeros(n)
    return choose(matrix, load, np.array(2 * bounds), slopes, slides=none, moved=none,
                  near=none if guess is None else np.array(guess, dtype=float),
                  noise=np.broadcast_to(np.asarray(noise, dtype=float), (n,)))


def choose(D: Matrix, drive: Array, bounds: Array, slopes: Sequence[Matrix] | None, *,
           slides: Array | Indices, moved: Array, near: Array, noise: Array) -> Solution:
    """Find which elements at rest begin to move, part by part of what acts on each other.

    Parameters
    ----------
    D : (n, n) change of rates by efforts, with its sign turned
    drive : (n,) rates without efforts
    bounds : (4, n) at rest and in motion, low, high, back, forth, without efforts
    slopes : of these by efforts, if they follow any
    slides : (n,) 1 and -1 for what slides for sure
    moved : (n,) which ones less holds from the beginning
    near : (n,) efforts to begin with
    noise : (n,) rates that are rounding

    Examples
    --------
    A mass on a floor that holds 4 N at rest and 3 N in motion, pulled with 5 N:

    >>> bounds = np.array([[-4.0], [4.0], [-3.0], [3.0]])
    >>> none = np.zeros(1)
    >>> found = choose(np.eye(1), np.array([5.0]), bounds, None, slides=none, moved=none,
    ...                near=none, noise=none)
    >>> found.state.tolist(), found.effort.tolist(), found.rate.tolist()
    ([1], [3.0], [2.0])
    """
    n, by = len(drive), [] if slopes is None else list(slopes)
    rows = np.zeros((AT_REST, n))
    rows[DRIVE], rows[LOW : FORTH + 1], rows[MOVED], rows[STATE] = drive, bounds, moved, slides
    rows[AT_FIRST], rows[NOISE] = near, noise
    _, label = components(sum(map(abs, by), abs(D)))
    systems, status, suspects = 0, Status.SOLVED, [np.zeros(0, dtype=int)]
    for here in grouped(label):
        found, rows[:, here], more = _choose_part(rows, D, by, here)
        systems += more
        if found not in GOES_ON:
            status = STATUS.get(found, Status.WORK_BOUND)
            suspects.append(here)
    lost = np.concatenate(suspects)
    state = rows[STATE].astype(int)
    rate = np.where(state == 0, 0.0, rows[RATE])
    rate[lost] = rows[RATE, lost]
    grain = np.divide(rows[GRAIN], rows[OWN], out=np.zeros(n), where=rows[OWN] > 0)
    return Solution(rows[EFFORT], rate, state, rows[MOVED], rows[DOWN], rows[UP], grain, status,
                    lost, rows[UNSURE] != 0, systems)


def _choose_part(rows: Matrix, D: Matrix, by: Sequence[Matrix], here: Indices
                 ) -> tuple[int, Array, int]:
    """Choose among the elements ``here``: how that ended, their rows, and systems that it took."""
    if len(here) < rows.shape[1]:
        D, by = D[here][:, here], [m[here][:, here] for m in by]
    n, mine = len(here), np.ascontiguousarray(rows[:, here])
    free = mine[LOW] < mine[HIGH]
    for slope in by:
        free |= np.ravel(abs(slope).sum(axis=1)) > 0
    passive = bool(free.sum() > ENUMERATED) or _is_passive(D)
    mine[SURE] = passive and not (by and mine[STATE].any())  # what slides may follow
    rests = bool(by) or passive
    starts, columns, (d, *slopes) = _entries_of([D, *by])
    problem = problem_of(n, len(columns))
    problem.starts[:], problem.columns[:] = starts, columns
    found = choose_jointly(problem, _analysed(starts, columns), d, np.array(
        slopes or np.empty((4, 0))), mine, n, rests)
    return found, mine, int(problem.systems[0])


def _is_passive(D: Matrix) -> bool:
    """Whether no loads have several answers: D is symmetric, and positive semi-definite."""
    d = sp.dense(D)
    unit = np.sqrt(np.maximum(d.diagonal(), TINY))
    d = d / np.outer(unit, unit)
    return bool((abs(d - d.T) <= ROUNDING).all() and np.linalg.eigvalsh(d)[0] > -SEMIDEFINITE)


def _entries_of(matrices: Sequence[Matrix]) -> tuple[Indices, Indices, list[Array]]:
    """One pattern for some matrices, and the entries of each."""
    n = matrices[0].shape[0]
    made, unit = (sp.dense, np.eye) if n <= FEW else (sp.csr_array, sp.eye_array)
    rows = [made(m) for m in matrices]
    linked = sum(map(abs, rows)) + unit(n)
    owner, columns = (linked + linked.T).nonzero()
    order = np.lexsort((columns, owner))
    owner, columns = owner[order], columns[order].astype(np.int64)
    return np.searchsorted(owner, np.arange(n + 1)), columns, [
        np.asarray(m[owner, columns], dtype=float).ravel() for m in rows]


def _analysed(starts: Indices, columns: Indices) -> Factors:
    """The order and pattern of factors of matrices of a pattern."""
    n = len(starts) - 1
    entries = FILLED * len(columns)
    while True:
        factors = factors_of(n, entries)
        if analyse(factors, starts, columns, np.arange(n + 1), n):
            return factors
        entries *= 2
