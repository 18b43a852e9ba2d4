"""Hundreds of contacts with friction at once: which efforts end a step?

The problem of :func:`blocks.nonsmooth.complementarity.solve` for many elements and sparse
matrices: efforts within bounds that are affine in the efforts, their rates in the normal
cone. A semismooth Newton method on the natural map x - P(x + rate), from the efforts of the
last step: while no contact changes its mode it ends after one sparse solve. Where its pieces
repeat themselves the corners of the projection are rounded off and sharpened step by step,
and where that does not lead to the end either, proximal points with falling weights do.
Contacts of bodies that hold each other in several ways make the matrix singular; proximal
points keep the systems regular, and of all answers one near the last efforts is found.

References
----------
Alart, Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375.
Chen, Mangasarian, Comput. Optim. Appl. 5 (1996) 97-138 (smoothing).
Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import PROXIMAL_POINT, SHARPEST, SMOOTHING, UNIT_PIVOT
from .scaling import EPS, Matrix, components, times
from .solution import Solution, Status

__all__ = ["by_newton"]

METHODS = "semismooth Newton", "smoothing", "proximal points"
FAINT = 1e-3  # of the largest rate of all: a part with less is measured by this
PIVOT = 0.1  # of the largest entry in its column: a diagonal entry that is taken
POINTS = 3  # proximal points after the first, of one factorisation
DIRECT = 12  # linear systems before corners are rounded off
ROUNDS = 90  # while they are
SHARPER = 0.5  # each rounding by the one before
INNER = 8  # for one rounding
HEAVY = 0.3  # weight of the first proximal point
OUTER = 25  # proximal points
MOST_FAILED = 5  # of them


class _Pressed:
    """The problem in equal units: x within low + L x and high + H x, rate b - D x."""

    def __init__(self, D: Matrix, b: Array, low: Array, high: Array, L: Matrix, H: Matrix,
                 faint: float = 0.0) -> None:
        diagonal = np.asarray(D.diagonal(), dtype=float)
        self.d = d = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        self.faint = faint  # rates below this are noise of what moves elsewhere
        self.dense = not sp.issparse(D)
        self.b, self.low, self.high = d * b, low / d, high / d
        self.D, self.L, self.H = (times(left, m, d) for left, m in ((d, D), (1 / d, L), (1 / d, H)))
        finite = np.maximum(np.where(np.isfinite(self.low), np.abs(self.low), 0.0),
                            np.where(np.isfinite(self.high), np.abs(self.high), 0.0))
        self.floor = 4 * EPS * (abs(self.D) @ finite)
        self.size = len(b)
        self.groups, self.group = components(
            abs(self.D) + abs(self.L) + abs(self.H) if self.dense else self._noted_pattern())

    def _noted_pattern(self) -> Matrix:
        """All three matrices in one; notes where their entries stand in :meth:`matrix`."""
        n, parts = self.size, [m.tocoo() for m in (self.D, self.L, self.H)]
        self._rows = [m.row for m in parts]
        self._data = [m.data for m in parts]
        places = [m.col.astype(np.int64) * n + m.row for m in parts]
        places.append(np.arange(n) * (n + 1))
        found, self._place = np.unique(np.concatenate(places), return_inverse=True)
        self._pattern = found % n, np.searchsorted(found, np.arange(n + 1) * n)
        sizes = np.abs(np.concatenate([*self._data, np.zeros(n)]))
        every = sp.csc_array((np.bincount(self._place, sizes), *self._pattern), shape=(n, n))
        every.eliminate_zeros()
        return every

    def parts(self, bad: Flags) -> list[Indices]:
        """Elements of every connected part that has some ``bad`` ones."""
        mine = np.isin(self.group, self.group[bad])
        order = np.flatnonzero(mine)[np.argsort(self.group[mine], kind="stable")]
        return np.split(order, np.flatnonzero(np.diff(self.group[order])) + 1)

    def of(self, index: Indices, faint: float) -> _Pressed:
        """The problem of a connected part."""
        D, L, H = (m[index][:, index] for m in (self.D, self.L, self.H))
        return _Pressed(D, self.b[index], self.low[index], self.high[index], L, H, faint)

    def matrix(self, diagonal: Array, by_rate: Array, by_low: Array, by_high: Array) -> Matrix:
        """diag(diagonal) + diag(by_rate) D - diag(by_low) L - diag(by_high) H."""
        factors = (by_rate, -by_low, -by_high)
        if self.dense:
            matrices = (self.D, self.L, self.H)
            return np.diag(diagonal) + sum(
                f[:, None] * m for f, m in zip(factors, matrices, strict=True))
        values = [f[r] * v for f, r, v in zip(factors, self._rows, self._data, strict=True)]
        data = np.bincount(self._place, np.concatenate([*values, diagonal]))
        return sp.csc_array((data, *self._pattern), shape=(self.size, self.size))

    def rate(self, x: Array) -> Array:
        return self.b - self.D @ x

    def bounds(self, x: Array) -> tuple[Array, Array]:
        low = self.low + self.L @ x
        return low, np.maximum(self.high + self.H @ x, low)

    def natural(self, x: Array, w: Array) -> Array:
        return np.abs(x - np.clip(x + w, *self.bounds(x)))

    def pieces(self, x: Array) -> Array:
        """Per element: does the natural map hold it at a bound (-1, 1) or inside (0)?"""
        low, high = self.bounds(x)
        z = x + self.rate(x)
        return np.where(z > high, 1, np.where(z < low, -1, 0)).astype(np.int8)

    def rounded(self, x: Array, mu: float) -> tuple[Array, Array, Array, Array]:
        """x - P(x + rate) with rounded corners; derivatives of P by x + rate, low and high."""
        low, high = self.low + self.L @ x, self.high + self.H @ x
        z = x + self.rate(x)
        below, above = np.isfinite(low), np.isfinite(high)
        a, b = np.where(below, z - low, 0.0), np.where(above, z - high, 0.0)
        ra, rb = np.hypot(a, 2 * mu), np.hypot(b, 2 * mu)
        p = np.where(below, np.where(below, low, 0.0) + (a + ra) / 2, z)
        p = p - np.where(above, (b + rb) / 2, 0.0)
        by_a = np.where(below, (1 + a / ra) / 2, 1.0)
        by_b = np.where(above, (1 + b / rb) / 2, 0.0)
        return x - p, by_a - by_b, np.where(below, 1 - by_a, 0.0), by_b

    def residual(self, x: Array, tol: float) -> Array:
        """|x - P(x + rate)| in units of the largest rate of the connected part.

        A part that hardly moves is measured by a share of what moves elsewhere: its rates
        are differences of the same velocities.
        """
        w = self.rate(x)
        top = np.zeros(self.groups)
        np.maximum.at(top, self.group, np.maximum(np.abs(self.b), np.abs(self.b - w)))
        top = np.maximum(top, max(self.faint, FAINT * top.max(initial=0.0)))
        natural, unit = self.natural(x, w), top[self.group] + self.floor / tol
        return np.divide(natural, unit, out=np.where(natural > 0, np.inf, 0.0), where=unit > 0)


def by_newton(D: Matrix, b: ArrayLike, lower: ArrayLike, upper: ArrayLike, by_lower: Matrix,
              by_upper: Matrix, *, start: ArrayLike | None = None, tol: float = 1e-10,
              quick: bool = False) -> Solution:
    """The problem of :func:`.solving.solve`; D is positive semi-definite.

    Matrices are all dense or all sparse. ``quick``: only as long as Newton's method leads on.
    ``converged`` says whether the natural residual is within ``tol`` everywhere. Uniqueness
    is not looked into.
    """
    load = np.array(b, dtype=float)
    low, high = np.array(lower, dtype=float), np.array(upper, dtype=float)
    problem = _Pressed(D, load, low, high, by_lower, by_upper)
    x = np.zeros(len(load)) if start is None else np.array(start, dtype=float) / problem.d
    x, rounds, method = _search(problem, np.clip(x, *problem.bounds(x)), tol, quick)
    residual = problem.residual(x, tol)
    bad = residual > tol
    w = problem.rate(x)
    down, up = problem.bounds(x)
    # told as the natural map does: at a bound, and pushed against it
    state = np.where(x + w > up, 1, np.where(x + w < down, -1, 0)).astype(np.int8)
    idle = (down == up) & (w == 0)
    state[idle] = 0
    effort = x * problem.d
    rate = np.where((state == 0) & ~bad, 0.0, w / problem.d)
    return Solution(
        effort=effort, rate=rate, state=state, fixed=low == high, grazing=(state == 0) & (
            (x <= down) | (x >= up)), converged=not bad.any(),
        residual=float(residual.max(initial=0.0)),
        status=Status.WORK_BOUND if bad.any() else Status.SOLVED, unique=None,
        suspects=np.flatnonzero(bad), method=method, iterations=rounds,
    )  # fmt: skip


def _search(problem: _Pressed, x: Array, tol: float, quick: bool
            ) -> tuple[Array, int, str]:
    """The best point found, the number of linear systems, and what found it.

    All connected parts at once while Newton's method leads on, then those it has not solved
    one by one.
    """
    best = _Best(problem, x, tol)
    best.direct(x)
    if best.done or quick:
        return best.x, best.rounds, METHODS[0]
    solved, w = best.x.copy(), problem.rate(best.x)
    faint = FAINT * float(np.maximum(np.abs(problem.b), np.abs(problem.b - w)).max())
    rounds, worst = best.rounds, 0
    parts = problem.parts(problem.residual(best.x, tol) > tol)
    alone = len(parts) == 1 and len(parts[0]) == problem.size
    for index in parts:
        part = problem.of(index, faint)
        solved[index], more, method = _search_part(
            part, x[index] / part.d, solved[index] / part.d, tol, alone)
        solved[index] *= part.d
        rounds, worst = rounds + more, max(worst, method)
    return solved, rounds, METHODS[worst]


def _search_part(problem: _Pressed, x: Array, tried: Array, tol: float, alone: bool
                 ) -> tuple[Array, int, int]:
    """The same for one connected part, from ``x`` and from what has been ``tried`` so far.

    Where it is ``alone`` Newton's method has been tried from ``x``.
    """
    best = _Best(problem, tried, tol)
    nothing = np.clip(np.zeros(problem.size), *problem.bounds(np.zeros(problem.size)))
    attempts: list[tuple[int, Callable[[], None]]] = [
        (0, lambda: best.direct(x) if not alone else None),
        (1, lambda: _follow(problem, best.x, best)),
        (0, lambda: best.direct(nothing)),
        (2, lambda: _approach(problem, x, best)),
    ]
    method = 0
    for kind, attempt in attempts:
        if not best.done:
            method = kind
            attempt()
    return best.x, best.rounds, method


class _Best:
    """The point with the least residual so far."""

    def __init__(self, problem: _Pressed, x: Array, tol: float) -> None:
        self.problem, self.tol, self.rounds = problem, tol, 0
        self.x, self.least = x, float(problem.residual(x, tol).max(initial=0.0))

    def look(self, x: Array) -> bool:
        """Whether a point, or the best so far, solves the problem."""
        here = float(self.problem.residual(x, self.tol).max(initial=0.0))
        if here < self.least:
            self.x, self.least = x, here
        return self.least <= self.tol

    @property
    def done(self) -> bool:
        return self.least <= self.tol

    def direct(self, x: Array, most: int = DIRECT) -> None:
        """Newton's method until its pieces repeat themselves."""
        tried: set[bytes] = set()
        while not self.done and len(tried) < most:
            pieces = self.problem.pieces(x).tobytes()
            new = None if pieces in tried else self.newton(x)
            if new is None:
                return
            tried.add(pieces)
            x = new

    def newton(self, x: Array) -> Array | None:
        self.rounds += 1
        new = _newton(self.problem, x)
        if new is not None:
            self.look(new)
        return new


def factorised(matrix: Matrix) -> Callable[[Array], Array]:
    """Solver with a matrix whose pattern is nearly symmetric, in an order that suits such.

    Raises
    ------
    RuntimeError
        If it is singular.
    """
    if sp.issparse(matrix):
        from scipy.sparse.linalg import splu

        return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=PIVOT,
                    options={"SymmetricMode": True}).solve  # fmt: skip
    from scipy.linalg import lapack

    factor, order, info = lapack.dgetrf(matrix)
    if info or np.abs(factor.diagonal()).min(initial=1.0) <= UNIT_PIVOT:
        raise RuntimeError("the matrix is singular")
    return lambda right: lapack.dgetrs(factor, order, right)[0]


def _newton(problem: _Pressed, x: Array) -> Array | None:
    """The point where the present pieces of the natural map are zero, near ``x``."""
    pieces = problem.pieces(x)
    top, bottom, free = pieces > 0, pieces < 0, pieces == 0
    bound = np.where(top, problem.high, problem.low)
    masks = [mask.astype(float) for mask in (free, bottom, top)]
    for weight in (0.0, PROXIMAL_POINT) if problem.dense else (PROXIMAL_POINT,):
        try:
            solved = factorised(problem.matrix(np.where(free, weight, 1.0), *masks))
            break
        except RuntimeError:
            continue
    else:
        return None
    old, new = x, solved(np.where(free, problem.b + weight * x, bound))
    for _ in range(POINTS if weight else 0):  # proximal points of the same pieces
        old, new = new, new + solved(np.where(free, weight * (new - old), 0.0))
    return new if np.isfinite(new).all() else None


def _follow(problem: _Pressed, x: Array, best: _Best) -> None:
    """Solve smooth problems, each nearer to the true one than the one before.

    The corners of the bounds are rounded off by ``mu``, as by Chen, Harker, Kanzow and
    Smale; contacts that press keep pressing on the way.
    """
    mu = max(float(problem.natural(x, problem.rate(x)).max()), SMOOTHING * float(
        np.abs(problem.b).max()))
    one_sided = np.isfinite(problem.low) & ~np.isfinite(problem.high)
    lost = 0
    smallest, goal = SHARPEST * mu, np.sqrt(problem.size)
    last = best.rounds + ROUNDS
    while best.rounds < last and mu > smallest:
        steps = 0
        x = np.where(one_sided, np.maximum(x, problem.low + mu / 2), x)
        while steps < INNER:
            r, by_z, by_low, by_high = problem.rounded(x, mu)
            size = float(np.linalg.norm(r))
            if size <= 0.1 * mu * goal:
                break
            try:
                matrix = problem.matrix(1 - by_z + PROXIMAL_POINT, by_z, by_low, by_high)
                way = -factorised(matrix)(r)
            except RuntimeError:
                return
            best.rounds, steps = best.rounds + 1, steps + 1
            least = np.where(one_sided, 0.9 * problem.low + 0.1 * x, -np.inf)
            part = 1.0
            while part > 1e-3 and not np.linalg.norm(problem.rounded(
                    np.maximum(x + part * way, least), mu)[0]) < (1 - 1e-4 * part) * size:
                part *= 0.5
            x = np.maximum(x + part * way, least)
        lost = lost + 1 if steps == INNER else 0
        if lost > 2 or not np.isfinite(x).all() or best.look(np.clip(x, *problem.bounds(x))):
            return
        best.newton(x)
        if best.done:
            return
        mu *= SHARPER


def _approach(problem: _Pressed, x: Array, best: _Best) -> None:
    """Proximal points with weights that fall: near the last point there is one answer."""
    weight, failed = HEAVY, 0
    eye = sp.eye_array(problem.size, format="csr")
    for _ in range(OUTER):
        near = _Pressed(sp.csr_array(problem.D + weight * eye), problem.b + weight * x,
                        problem.low, problem.high, problem.L, problem.H)
        inner = _Best(near, np.clip(x / near.d, *near.bounds(x / near.d)), 10 * best.tol)
        inner.direct(inner.x)
        if not inner.done:
            _follow(near, inner.x, inner)
        best.rounds += inner.rounds
        if inner.done:
            weight *= 0.3
        else:
            weight, failed = 4 * weight, failed + 1
        if inner.least < 1e-4:
            x = inner.x * near.d
        if not best.look(x) and weight < 0.1 * HEAVY:
            best.direct(x, 3)
        if best.done or failed > MOST_FAILED:
            return
