"""Which elements stick, slide, touch or open where bounds depend on other efforts?

Friction of strength mu N beside the contact that carries N, losses that grow with the
load of a brake: bounds are affine in the efforts, ``low + L effort`` and
``high + H effort``. With ``rate = b - D effort`` every element obeys the law of
:func:`blocks.nonsmooth.complementarity.solve`, all of them at once:

* efforts that are known (an element that slides) are eliminated. What is left has a
  matrix that is not symmetric, and may have no solution or several (Painlevé);
* rest is tried first: if all that are at rest can stay, they do. Then modes are changed
  where they are violated, until none is;
* then Lemke's path decides, which starts from no effort at all (all contacts open). Where
  nothing slides yet it ends at a solution, whatever the coefficients of friction;
* where the matrix left is no P-matrix, all combinations of modes are tried (parts of up
  to six elements), and more than one motion is reported as such.

References
----------
Glocker, Pfeiffer, Nonlinear Dynamics 7 (1995) 471-497.
Stewart, Trinkle, Int. J. Numer. Meth. Engng. 39 (1996) 2673-2691.
Génot, Brogliato, Eur. J. Mech. A/Solids 18 (1999) 653-677 (Painlevé).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.tolerances import (
    BOUND_BAND,
    ENUMERATED_ERROR,
    GUESSED_MODE,
    NO_INERTIA,
    OWN_ROUNDING,
    RANK,
    SAME_RATES,
    SELF_CARRYING,
    SYMMETRIC,
    TERMS_ROUNDING,
    TINY,
)
from .lemke import lemke_lcp
from .linear_solves import is_convex, signed_pivot
from .p_matrix import is_p_matrix
from .scaling import Matrix, MatrixLike, components, dense_block
from .solution import Solution, Status

__all__ = ["within_affine"]

STEPS = 40
ENUMERATED = 6
"""Largest part of which all combinations of modes are tried."""


@dataclass(frozen=True)
class _Part:
    """Elements in equal units; bounds are low + L x and high + H x."""

    D: Array
    b: Array
    low: Array
    high: Array
    L: Array
    H: Array
    floor: Array

    def rate(self, x: Array) -> Array:
        return self.b - self.D @ x

    def lower(self, x: Array) -> Array:
        return self.low + self.L @ x

    def upper(self, x: Array) -> Array:
        return self.high + self.H @ x

    def unit(self, w: Array) -> float:
        return float(np.max([np.abs(self.b), np.abs(self.b - w)], initial=0.0))

    def residual(self, x: Array, tol: float) -> Array:
        """|x - clip(x + rate)| in units of the largest rate; solved when <= tol."""
        w = self.rate(x)
        low = self.lower(x)
        natural = np.abs(x - np.clip(x + w, low, np.maximum(self.upper(x), low)))
        unit = self.unit(w) + self.floor / tol
        return np.divide(natural, unit, out=np.where(natural > 0, np.inf, 0.0), where=unit > 0)


def within_affine(D: MatrixLike, b: ArrayLike, lower: ArrayLike, upper: ArrayLike,
                  by_lower: MatrixLike, by_upper: MatrixLike, *, known: ArrayLike | None = None,
                  start: ArrayLike | None = None, tol: float, noise: ArrayLike = 0.0) -> Solution:
    """The problem of :func:`.solving.solve` for bounds that depend on efforts, dense."""
    D, L, H = _rows_of(D), _rows_of(by_lower), _rows_of(by_upper)
    b = np.array(b, dtype=float)
    n = len(b)
    low, high = np.array(lower, dtype=float), np.array(upper, dtype=float)
    floor = np.broadcast_to(np.asarray(noise, dtype=float), (n,))
    fixed = np.zeros(n, dtype=bool) if known is None else np.array(known, dtype=bool)
    fixed |= (low == high) & (np.asarray(abs(L - H).sum(axis=1)).ravel() == 0)
    near = np.zeros(n) if start is None else np.array(start, dtype=float)

    effort, iterations = near.copy(), 0
    trouble: list[tuple[Status, Indices]] = []
    count, label = components(abs(D) + abs(L) + abs(H))
    for here in grouped(label):
        own, by_low, by_high = (dense_block(given, here, here) for given in (D, L, H))
        one = _solve_part(own, b[here], low[here], high[here], by_low, by_high, fixed[here],
                          near[here], floor[here], tol)
        effort[here] = one.effort
        iterations += one.iterations
        if one.status is not Status.SOLVED:
            trouble.append((one.status, here))
    # constant bounds hold exactly, not to rounding
    for bound, slope, inward in ((low, L, np.maximum), (high, H, np.minimum)):
        constant = np.asarray(abs(slope).sum(axis=1)).ravel() == 0
        effort = np.where(constant, inward(effort, bound), effort)
    force = D @ effort
    rate = b - force
    size = np.zeros(count)
    np.maximum.at(size, label, np.maximum(np.abs(b), np.abs(force)))
    state, rest, at_bound = _modes_told(effort, rate, low + L @ effort, high + H @ effort, fixed,
                                        size[label], tol, floor, D.diagonal())
    return Solution(effort, rate, state, rest & at_bound,
                    trouble[-1][0] if trouble else Status.SOLVED,
                    np.concatenate([np.zeros(0, dtype=np.intp), *(part for _, part in trouble)]),
                    iterations)


def _rows_of(given: MatrixLike) -> Matrix:
    """A matrix as it is given: an array, or in compressed rows."""
    matrix: Matrix = given
    return matrix.tocsr() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def _modes_told(effort: Array, rate: Array, low: Array, high: Array, fixed: Flags, size: Array,
                tol: float, noise: Array, diagonal: Array
                ) -> tuple[NDArray[np.int8], Flags, Flags]:
    """Modes, which elements rest, and which efforts are at a bound; rates at rest become 0.

    ``size`` are the largest rates of the parts that elements belong to.
    """
    moving = np.abs(rate) > tol * size + noise
    own = np.maximum(diagonal, TINY)  # rounding of an effort that should be zero
    band = BOUND_BAND * np.abs(effort) + OWN_ROUNDING * size / own
    floor = (effort <= low) | (effort <= low + band)
    top = (effort >= high) | (effort >= high - band)
    state = np.where(top & moving & (rate > 0), 1, np.where(floor & moving & (rate < 0), -1, 0))
    state = np.where(fixed, np.where(moving, np.sign(rate), 0), state).astype(np.int8)
    rest = (state == 0) & ~fixed
    rate[rest & (np.abs(rate) <= np.maximum(tol * size + noise, BOUND_BAND * size))] = 0.0
    return state, rest, floor | top


@dataclass(frozen=True)
class _Answer:
    effort: Array
    status: Status
    iterations: int


def _solve_part(D: Array, b: Array, low: Array, high: Array, L: Array, H: Array, fixed: Flags,
                near: Array, noise: Array, tol: float) -> _Answer:
    """Eliminate what slides, scale, and search."""
    free, gone = np.flatnonzero(~fixed), np.flatnonzero(fixed)
    effort = near.copy()
    back = np.zeros((len(gone), len(free)))
    if len(gone):
        own = np.eye(len(gone)) - L[np.ix_(gone, gone)]
        if signed_pivot(own) <= SELF_CARRYING:  # friction that carries itself
            return _Answer(effort, Status.NOT_UNIQUE, 0)
        inverse = np.linalg.inv(own)
        held, back = inverse @ low[gone], inverse @ L[np.ix_(gone, free)]
        mixed = np.ix_(free, gone)
        low, high = low[free] + L[mixed] @ held, high[free] + H[mixed] @ held
        inner = np.ix_(free, free)
        L, H = L[inner] + L[mixed] @ back, H[inner] + H[mixed] @ back
        b, D = b[free] - D[mixed] @ held, D[inner] + D[mixed] @ back
        noise = noise[free]
        effort[gone] = held
    if not len(free):
        return _Answer(effort, Status.SOLVED, 0)
    size = np.abs(D).max(axis=1)
    diagonal = np.where(np.diag(D) > NO_INERTIA * size.max(), np.diag(D), size)
    live = diagonal > NO_INERTIA * diagonal.max()
    d = np.where(live, 1 / np.sqrt(np.where(live, diagonal, 1.0)), 1.0)
    scaled = d[:, None] * D * d
    ratio = d[None, :] / d[:, None]
    part = _Part(scaled, d * b, low / d, high / d, L * ratio, H * ratio, d * noise)
    x, status, iterations = _search(part, near[free] / d, tol)
    effort[free] = x * d
    effort[gone] += back @ effort[free]
    return _Answer(effort, status, iterations)


def _search(part: _Part, near: Array, tol: float) -> tuple[Array, Status, int]:
    x, used = _by_modes(part, np.zeros(len(near), dtype=int), near, tol)
    found = part.residual(x, tol).max() <= tol
    if not found:
        z, ended, pivots = _pivoted(part, near)
        used += pivots
        x = z
        for _ in range(2):
            trial, more = _by_modes(part, _modes(part, x, GUESSED_MODE), x, tol)
            used += more
            if part.residual(trial, tol).max() <= part.residual(x, tol).max():
                x = trial
            found = part.residual(x, tol).max() <= tol
            if found:
                break
            x = z
    passive = np.abs(part.D - part.D.T).max() <= SYMMETRIC and is_convex(part.D)
    sure = passive or is_p_matrix(part.D) is True
    if found and (sure or len(near) > ENUMERATED):
        return x, Status.SOLVED, used
    if len(near) <= ENUMERATED:
        rates, answers = _all_answers(part, tol)
        if not len(answers):
            return x, Status.NO_SOLUTION, used
        if not sure and len(rates) > 1:
            return answers[0], Status.NOT_UNIQUE, used
        return (x if found else answers[0]), Status.SOLVED, used
    return x, Status.NO_SOLUTION if not ended else Status.WORK_BOUND, used


def _modes(part: _Part, x: Array, slack: float) -> Indices:
    w = part.rate(x)
    band = slack * max(part.unit(w), TINY)
    at = np.zeros(len(x), dtype=int)
    at[(x >= part.upper(x) - band) & (w > band)] = 1
    at[(x <= part.lower(x) + band) & (w < -band)] = -1
    return at


def _of_modes(part: _Part, at: Indices, near: Array) -> Array | None:
    """Efforts of given modes; nearest to ``near`` where they are not determined."""
    bound = np.where((at > 0)[:, None], part.H, part.L)
    matrix = np.where((at == 0)[:, None], part.D, np.eye(len(at)) - bound)
    right = np.where(at == 0, part.b, np.where(at > 0, part.high, part.low))
    if not np.isfinite(right).all():
        return None
    step, _, rank, _ = np.linalg.lstsq(matrix, right - matrix @ near, rcond=RANK)
    x = near + step
    if rank == len(at):
        x += np.linalg.solve(matrix, right - matrix @ x)
    return x


def _by_modes(part: _Part, at: Indices, near: Array, tol: float) -> tuple[Array, int]:
    """Change modes where they are violated, until none is or a guess repeats."""
    x, seen, steps = near, set(), 0
    while steps < STEPS and at.tobytes() not in seen:
        seen.add(at.tobytes())
        steps += 1
        trial = _of_modes(part, at, x)
        if trial is None:
            break
        x = trial
        w = part.rate(x)
        band = 0.01 * tol * part.unit(w) + part.floor
        low, high = part.lower(x), part.upper(x)
        new = at.copy()
        new[(at == 0) & (x > high + band)] = 1
        new[(at == 0) & (x < low - band)] = -1
        new[(at > 0) & (w < -band)] = 0
        new[(at < 0) & (w > band)] = 0
        if np.array_equal(new, at):
            break
        at = new
    return x, steps


def _pivoted(part: _Part, near: Array) -> tuple[Array, bool, int]:
    """Lemke's path; efforts split into x = start + plus - minus, as Stewart and Trinkle.

    plus  >= 0, complementary to above - rate >= 0    above >= 0, to upper - start - plus >= 0
    minus >= 0, complementary to below + rate >= 0    below >= 0, to start - lower - minus >= 0
    """
    n = len(near)
    low, high = part.lower(near), part.upper(near)
    begin = np.clip(0.0, low, np.maximum(low, high))
    shut = ~np.any(part.L, axis=1) & (part.low >= begin)  # cannot go lower
    minus = np.flatnonzero(~shut)
    above = np.flatnonzero(np.isfinite(part.high))
    below = np.flatnonzero(~shut & np.isfinite(part.low))
    eye = np.eye(n)
    S = np.hstack([eye, -eye[:, minus]])  # efforts from plus and minus
    m, na, nb = S.shape[1], len(above), len(below)
    M = np.zeros((m + na + nb, m + na + nb))
    M[:m, :m] = S.T @ part.D @ S
    M[:n, m : m + na] = eye[:, above]
    M[n:m, m + na :] = eye[np.ix_(minus, below)]
    M[m : m + na, :m] = (part.H @ S)[above] - np.hstack([eye, 0 * eye[:, minus]])[above]
    M[m + na :, :m] = -(part.L @ S)[below] - np.hstack([0 * eye, eye[:, minus]])[below]
    w = part.rate(begin)
    with np.errstate(invalid="ignore"):
        q = np.concatenate([-(S.T @ w), (part.upper(begin) - begin)[above],
                            (begin - part.lower(begin))[below]])  # fmt: skip
    z, ended, pivots = lemke_lcp(M, q, 50 + 20 * len(q))
    return begin + S @ z[:m], ended, pivots


def _all_answers(part: _Part, tol: float) -> tuple[list[Array], list[Array]]:
    """Distinct rates, and efforts with them, over all combinations of modes."""
    n = len(part.b)
    rates: list[Array] = []
    efforts: list[Array] = []
    for at in product((0, -1, 1), repeat=n):
        x = _of_modes(part, np.array(at), np.zeros(n))
        if x is None or part.residual(x, tol).max() > max(tol, ENUMERATED_ERROR):
            continue
        w = part.rate(x)
        same = SAME_RATES * part.unit(w) + part.floor + TERMS_ROUNDING * (
            np.abs(part.D) @ np.abs(x)) + TINY
        if all(np.any(np.abs(w - other) > same) for other in rates):
            rates.append(w)
            efforts.append(x)
    return rates, efforts
