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
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.tolerances import AT_BOUND, CANCELLATION, NOTHING_AT_ALL, PIVOT_NONE, SEMIDEFINITE
from .decide import ENUMERATED, FOUND, NONE, SEVERAL, count_answers, decide
from .p_matrix import is_p_matrix, signed_pivot
from .problem import FEW, connect, problem_of
from .scaling import Matrix, MatrixLike, ScaledBox, as_bounds, as_matrix, components, scale
from .sparse_lu import Factors, analyse, factors_of

__all__ = ["MANY_PARTS", "STATUS", "Solution", "Status", "analysed", "entries_of", "solve"]

MANY_PARTS = 16
"""From this many islands on, all are tried in one problem first."""
FILLED = 20  # entries of factors, each by one of a matrix: to begin with


class Status(StrEnum):
    """How the search ended."""

    SOLVED = "solved"
    NOT_UNIQUE = "no unique solution (Painlevé)"
    NO_SOLUTION = "no solution: an effort would have to be infinite"
    WORK_BOUND = "not solved within the bound on work"


STATUS = {FOUND: Status.SOLVED, SEVERAL: Status.NOT_UNIQUE, NONE: Status.NO_SOLUTION}


@dataclass(frozen=True)
class Solution:
    """Efforts, rates and modes of all elements."""

    # the efforts, within their bounds. Where D is singular other efforts may give the same rates:
    # see `undetermined_groups`, `shares`.
    effort: Array
    rate: Array  # b - D effort; exactly 0.0 for every element whose state is 0
    # +1 at the upper bound and moving forward, -1 at the lower bound and moving backward, 0 at
    # rest. For an element of fixed effort (equal bounds) the sign of its rate.
    state: NDArray[np.int8]
    grazing: Flags  # at rest with the effort at a bound: the next derivative decides
    status: Status
    suspects: Indices  # elements of islands that are unsolved or not unique
    iterations: int  # steps of all methods, mostly one linear system each; the closed form is one

    @property
    def converged(self) -> bool:
        """Whether the efforts obey all laws, be they the only ones that do or not."""
        return self.status in (Status.SOLVED, Status.NOT_UNIQUE)


def solve(
    D: MatrixLike,
    b: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    by_lower: MatrixLike | None = None,
    by_upper: MatrixLike | None = None,
    *,
    known: ArrayLike | None = None,
    guess: ArrayLike | None = None,
    tol: float = 1e-10,
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
    known : (n,) bool array_like, optional
        Elements that slide: their effort is their lower bound, whatever their rate. For bounds
        that depend on efforts; constant ones are equal then.
    guess : (n,) array_like, optional
        Efforts of an earlier solution: where efforts are not determined those found are near.
    tol : float
        Bound of the scaled natural residual.
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
    matrix = as_matrix(D, n)
    loaded = by_lower is not None and by_upper is not None
    if loaded:
        low, high = np.array(lower, dtype=float), np.array(upper, dtype=float)
        L, H = (as_matrix(given, n) for given in (by_lower, by_upper))
        linked = abs(matrix) + abs(L) + abs(H)
    else:
        (low, high), linked = as_bounds(lower, upper, n), matrix
        L = H = sp.csr_array((n, n)) if sp.issparse(matrix) else np.zeros((n, n))
    whole = _Island(matrix, load, low, high, L, H,
                    np.zeros(n, dtype=bool) if known is None else np.array(known, dtype=bool),
                    np.zeros(n) if guess is None else np.array(guess, dtype=float),
                    np.array(np.broadcast_to(np.asarray(noise, dtype=float), (n,))))
    count, label = components(linked)
    answers = [(np.arange(n), whole.answer(tol, 0 if count > 1 else ENUMERATED))] if (
        n and (count == 1 or count >= MANY_PARTS and not loaded)) else []
    left = np.ones(count, dtype=bool)
    if answers:
        left[:] = False
        left[label[answers[0][1].failed]] = count > 1
    answers += [(here, whole.island(here).answer(tol))
                for here in grouped(label) if left[label[here[0]]]]
    effort, rate, state, grazing = np.zeros(n), np.zeros(n), np.zeros(n, np.int8), np.zeros(n, bool)
    status, suspects = Status.SOLVED, np.zeros(n, dtype=bool)
    for here, one in answers:
        effort[here], rate[here], state[here] = one.effort, one.rate, one.state
        grazing[here] = one.grazing
        if one.status is not Status.SOLVED and (len(here) < n or count == 1):
            status, suspects[here] = one.status, True
    return Solution(effort, rate, state, grazing, status, np.flatnonzero(suspects),
                    sum(one.systems for _, one in answers))


class _Answer(NamedTuple):
    """What an island comes to; where its laws do not hold."""

    effort: Array
    rate: Array
    state: NDArray[np.int8]
    grazing: Flags
    status: Status
    failed: Flags
    systems: int


class _Island(NamedTuple):
    """Elements that act on each other; bounds are low + L effort and high + H effort."""

    D: Matrix
    b: Array
    low: Array
    high: Array
    L: Matrix
    H: Matrix
    known: Flags
    near: Array
    noise: Array

    def island(self, here: Indices) -> _Island:
        """The problem of some of them."""
        given: list[Any] = [m[here][:, here] if m.ndim == 2 else m[here] for m in self]
        return _Island(*given)

    def answer(self, tol: float, enumerated: int = ENUMERATED) -> _Answer:
        """Eliminate what slides, search, and tell modes."""
        gone = self.known | (self.low == self.high) & ~_rows(self.L - self.H)
        free, held, effort = np.flatnonzero(~gone), np.flatnonzero(gone), self.near.copy()
        island, back = self, None
        if len(held):
            effort[held] = self.low[held]
            if _rows(self.L)[held].any():
                own = np.eye(len(held)) - sp.dense(self.L[held][:, held])
                if signed_pivot(own) <= PIVOT_NONE:  # friction that carries itself
                    return self._told(effort, None, gone, tol, Status.NOT_UNIQUE, 0)
                inverse = np.linalg.inv(own)
                effort[held] = inverse @ self.low[held]
                back = inverse @ sp.dense(self.L[held][:, free])
            island = self._without(free, held, effort[held], back)
        if not len(free):
            return self._told(effort, None, gone, tol, Status.SOLVED, 0)
        box, d = scale(island.D, island.b, island.low, island.high, island.noise)
        x, status, systems = _searched(box, _scaled(island.L, d), _scaled(island.H, d),
                                       island.near / d, tol, enumerated)
        effort[free] = x * d
        if back is not None:
            effort[held] += back @ effort[free]
        return self._told(effort, (box, x, d), gone, tol, status, systems)

    def _without(self, free: Indices, held: Indices, effort: Array, back: Array | None) -> _Island:
        """The problem of those whose effort is not known."""
        inner = self.island(free)
        D, L, H = (m[free][:, held] for m in (self.D, self.L, self.H))
        pull = D @ effort
        # cancellation with known efforts leaves noise of this size in b
        noise = inner.noise + CANCELLATION * (np.abs(inner.b) + np.abs(pull))
        inner = inner._replace(b=inner.b - pull, low=inner.low + L @ effort,
                               high=inner.high + H @ effort, noise=noise)
        if back is None:
            return inner
        return inner._replace(D=inner.D + D @ back, L=inner.L + L @ back, H=inner.H + H @ back)

    def _told(self, effort: Array, found: tuple[ScaledBox, Array, Array] | None, gone: Flags,
              tol: float, status: Status, systems: int) -> _Answer:
        """Rates and modes at efforts; constant bounds hold exactly, not to rounding."""
        n, free = len(effort), ~gone
        for bound, slope, inward in ((self.low, self.L, np.maximum), (self.high, self.H,
                                                                      np.minimum)):
            effort = np.where(_rows(slope), effort, inward(effort, bound))
        force = self.D @ effort
        rate, size = self.b - force, np.maximum(np.abs(self.b), np.abs(force))
        moving = np.abs(rate) > tol * size.max(initial=0.0) + self.noise
        state = np.where(gone & moving, np.sign(rate), 0).astype(np.int8)
        grazing, failed = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        if found is not None:
            box, x, d = found
            w = box.rate(x)
            unit = box.unit(w)
            moving[free] = np.abs(w) > tol * unit + box.floor
            low, high = self.low + self.L @ effort, self.high + self.H @ effort
            band = AT_BOUND * np.abs(effort)
            band[free] += NOTHING_AT_ALL * unit * d
            bottom, top = effort <= low + band, effort >= high - band
            state[free] = np.where(top & moving & (rate > 0), 1,
                                   np.where(bottom & moving & (rate < 0), -1, 0))[free]
            for bound, slope, way in ((self.low, self.L, -1), (self.high, self.H, 1)):
                effort = np.where(free & (state == way) & ~_rows(slope), bound, effort)
            rate = self.b - self.D @ effort
            if status is not Status.SOLVED:
                failed[free] = box.residual(x, w, tol) > tol
            rest = free & (state == 0)
            grazing = rest & (bottom | top)
            rate[rest & ~failed] = 0.0
        return _Answer(effort, rate, state, grazing, status, failed, systems)


def _rows(matrix: Matrix) -> Flags:
    """Which rows of a matrix have entries."""
    return np.asarray(abs(matrix).sum(axis=1)).ravel() > 0


def _scaled(matrix: Matrix, d: Array) -> Matrix:
    if sp.issparse(matrix):
        return sp.csr_array(sp.diags_array(1 / d) @ matrix @ sp.diags_array(d))
    return matrix * (d / d[:, None])


def _searched(box: ScaledBox, L: Matrix, H: Matrix, near: Array, tol: float, enumerated: int
              ) -> tuple[Array, Status, int]:
    """Efforts in equal units, how sure they are, and how many linear systems that took."""
    n, loaded = box.size, bool(_rows(L).any() or _rows(H).any())
    starts, columns, values = entries_of([box.D, L, H])
    problem, factors = problem_of(n, len(columns)), analysed(starts, columns)
    problem.starts[:], problem.columns[:] = starts, columns
    for into, given in zip((problem.D, problem.L, problem.H, problem.b, problem.low, problem.high,
                            problem.floor, problem.new), (*values, box.b, box.lower, box.upper,
                                                          box.floor, near), strict=True):
        into[:] = given
    connect(problem, n)
    passive = bool(box.groups < n and box.symmetric and (box.D.diagonal() > 0).all())
    found = decide(problem, factors, tol, n, loaded or passive)
    if n <= enumerated and not (found == FOUND and (  # and has one motion for every load
            box.symmetric and np.linalg.eigvalsh(sp.dense(box.D))[0] > -SEMIDEFINITE
            or is_p_matrix(sp.dense(box.D)) is True)):
        before = problem.x.copy()
        answers = count_answers(problem, factors, tol, n)
        if found == FOUND:
            problem.x[:] = before
        found = answers if found != FOUND or answers == SEVERAL else FOUND
    return problem.x, STATUS.get(found, Status.WORK_BOUND), int(problem.systems[0])


def entries_of(matrices: Sequence[Matrix]) -> tuple[Indices, Indices, list[Array]]:
    """One pattern for some matrices, and the entries of each."""
    n = matrices[0].shape[0]
    if n <= FEW:
        return np.arange(n + 1) * n, np.tile(np.arange(n), n), [
            sp.dense(m).ravel() for m in matrices]
    rows = [sp.csr_array(m) for m in matrices]
    linked = sum(abs(m) for m in rows) + sp.eye_array(n, format="csr")
    pattern = sp.csr_array(linked + linked.T)
    pattern.sort_indices()
    owner = np.repeat(np.arange(n), np.diff(pattern.indptr))
    return pattern.indptr, pattern.indices, [
        np.asarray(m[owner, pattern.indices]).ravel() for m in rows]


def analysed(starts: Indices, columns: Indices) -> Factors:
    """The order and pattern of factors of matrices of a pattern."""
    n = len(starts) - 1
    entries = n * n if n <= FEW else FILLED * len(columns)
    while True:
        factors = factors_of(n, entries)
        factors.linked.reshape(n, n)[np.repeat(np.arange(n), np.diff(starts)), columns] = True
        if analyse(factors, np.arange(n + 1), n):
            return factors
        entries *= 2
