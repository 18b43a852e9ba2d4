"""Which efforts does the motion leave open, and which split is reported?

Where the Delassus matrix of the stuck elements is singular, internal stress
can be added without any effect on the motion: brakes in parallel, a table on
four legs. The documented split is the one with the smallest largest ratio
|lambda_i|/F_i, then of least norm of the ratios. Brakes in parallel share a
load in proportion to their strength, which is also the limit of every
regularised law with one common slip speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog, nnls

from .minimax import half_range, kernel, minimise_rows, rows_of
from .scaling import DENSE_LIMIT, Array, Index, as_bounds, as_matrix, block, components, scale

__all__ = ["Group", "even_split", "largest_share", "least_distance", "least_share", "minimal_split",
           "stress_groups", "undetermined_groups"]  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Elements that share internal stress.

    Attributes
    ----------
    members : int array
    freedom : int
        Number of independent internal stresses.
    low, high : arrays
        Smallest and largest effort each member can have without any change of
        the motion.
    """

    members: Index
    freedom: int
    low: Array
    high: Array


@dataclass(frozen=True)
class _Stress:
    members: Index
    basis: Array  # columns: efforts that cause no rate


def undetermined_groups(
    D: Any, lower: ArrayLike, upper: ArrayLike, effort: ArrayLike, stuck: ArrayLike
) -> list[Group]:
    """Groups of stuck elements whose efforts the motion does not determine.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
    lower, upper : array_like
        Bounds of all efforts.
    effort : (n,) array_like
        Any solution.
    stuck : (n,) bool or index array_like

    Returns
    -------
    list of Group
        Ordered by first member. Elements whose effort the bounds pin down in
        spite of the singular matrix are left out.

    Examples
    --------
    >>> D = [[1, 1], [1, 1]]
    >>> pair, = undetermined_groups(D, [-1, -3], [1, 3], [1.0, 2.5], [0, 1])
    >>> pair.low.round(12).tolist(), pair.high.round(12).tolist()
    ([0.5, 2.5], [1.0, 3.0])
    """
    low, high, held = _read(D, lower, upper, effort)
    groups = []
    for stress in _stresses(D, low, high, stuck):
        i = stress.members
        least, most = _span(low[i], high[i], held[i], stress.basis)
        size = np.maximum(1e-300, np.max(np.abs(held[i]), initial=0.0))
        if np.any(most - least > 1e-9 * size):
            groups.append(Group(i, stress.basis.shape[1], least, most))
    return groups


def minimal_split(
    D: Any,
    lower: ArrayLike,
    upper: ArrayLike,
    effort: ArrayLike,
    stuck: ArrayLike,
    *,
    scale: ArrayLike | None = None,
) -> Array:
    """The efforts of smallest largest ratio, then least norm, with the same motion.

    Parameters
    ----------
    D, lower, upper, effort, stuck
        As for `undetermined_groups`.
    scale : array_like, optional
        Effort that means 1 for elements with a one-sided bound; 1 by default.

    Returns
    -------
    array
        All efforts; those that are determined are returned unchanged.

    Notes
    -----
    Ratios are measured as in `MarginProblem`, so that the largest ratio of a
    group reaches 1 exactly when the group can hold no more. Each group has its
    own smallest largest ratio.

    Examples
    --------
    >>> minimal_split([[1, 1], [1, 1]], [-1, -3], [1, 3], [1.0, 2.6], [0, 1]).round(9).tolist()
    [0.9, 2.7]
    """
    low, high, held = _read(D, lower, upper, effort)
    half = half_range(low, high, scale)
    for stress in _stresses(D, low, high, stuck):
        i = stress.members
        held[i] = _split(low[i], high[i], held[i], half[i], stress.basis)
    return held


def _read(
    D: Any, lower: ArrayLike, upper: ArrayLike, effort: ArrayLike
) -> tuple[Array, Array, Array]:
    low, high = as_bounds(lower, upper, np.shape(D)[0])
    return low, high, np.array(effort, dtype=float)


def _stresses(D: Any, low: Array, high: Array, stuck: ArrayLike) -> list[_Stress]:
    """Split the kernel of D_II into parts that share no element.

    The orthogonal projector onto a subspace is unique; it is block diagonal
    exactly where the subspace falls apart.
    """
    n = len(low)
    mask = np.zeros(n, dtype=bool)
    mask[np.asarray(stuck) if len(np.atleast_1d(stuck)) else []] = True
    index = np.flatnonzero(mask & (low < high))
    m = len(index)
    if m == 0:
        return []
    matrix = block(as_matrix(D, n), index, index)
    box, d = scale(matrix, np.zeros(m), low[index], high[index], np.zeros(m))
    order = np.argsort(box.group, kind="stable")
    ends = np.cumsum(np.bincount(box.group))
    diagonal = np.asarray(box.D.diagonal())
    out = []
    for part in np.split(order, ends[:-1]):
        if len(part) == 1:
            if diagonal[part[0]] == 0:
                out.append(_Stress(index[part], np.ones((1, 1))))
            continue
        if len(part) > DENSE_LIMIT:
            continue
        A = block(box.D, part, part)
        free, _ = kernel(A if isinstance(A, np.ndarray) else A.toarray())
        if free.shape[1] == 0:
            continue
        out += [_Stress(index[part[here]], d[part[here], None] * basis[here])
                for here, basis in stress_groups(free)]
    return sorted(out, key=lambda s: int(s.members[0]))


def stress_groups(free: Array) -> list[tuple[Index, Array]]:
    """Split a subspace, given by columns, into parts that share no element.

    Returns
    -------
    list of (members, orthonormal basis with a row for every element)

    Notes
    -----
    The orthogonal projector onto a subspace is unique; it is block diagonal exactly where
    the subspace falls apart.
    """
    q, r = np.linalg.qr(free)
    projector = q @ q.T
    projector[np.abs(projector) < 1e-9] = 0.0
    count, label = components(projector)
    out = []
    for k in range(count):
        here = np.flatnonzero(label == k)
        values, vectors = np.linalg.eigh(projector[np.ix_(here, here)])
        basis = np.zeros((len(free), int(np.sum(values > 0.5))))
        basis[here] = vectors[:, values > 0.5]
        if basis.shape[1]:
            out.append((here, basis))
    return out


def largest_share(low: Array, high: Array, held: Array) -> float:
    """The largest share of the bounds that efforts take: 1 at a bound."""
    return float(rows_of(low, high, half_range(low, high, None)).ratios(held).max(initial=-np.inf))


def least_share(low: Array, high: Array, held: Array, basis: Array) -> float:
    """The smallest largest share of the bounds over held + basis t: 1 at a bound."""
    half = half_range(low, high, None)
    rows = rows_of(low, high, half)
    if not len(rows.element):
        return -np.inf
    ratios, G = rows.ratios(held), rows.slope[:, None] * basis[rows.element]
    if basis.shape[1] == 1:
        return _lowest(ratios, G[:, 0])
    return minimise_rows(ratios, G)[0]


def _lowest(a: Array, g: Array) -> float:
    """min over t of max(a + g t), a number t: where a rising line meets a falling one."""
    up, down, flat = g > 1e-12, g < -1e-12, np.abs(g) <= 1e-12
    if not (up.any() and down.any()):
        return float(np.max(a[flat], initial=-np.inf))
    rise, fall = g[up][:, None], -g[down][None, :]
    meet = (a[up][:, None] * fall + a[down][None, :] * rise) / (rise + fall)
    return float(max(meet.max(), np.max(a[flat], initial=-np.inf)))


def even_split(low: Array, high: Array, held: Array, basis: Array) -> Array:
    """The efforts held + basis t of smallest largest share of the bounds, then of least norm."""
    return _split(low, high, held, half_range(low, high, None), basis)


def _span(low: Array, high: Array, held: Array, basis: Array) -> tuple[Array, Array]:
    """Range of every effort over {held + basis t} within the box."""
    free = basis.shape[1]
    if free == 1:
        n = basis[:, 0]
        live = np.abs(n) > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (low - held)[live] / n[live], (high - held)[live] / n[live]
        t0 = min(0.0, float(np.max(np.minimum(one, two), initial=-np.inf)))
        t1 = max(0.0, float(np.min(np.maximum(one, two), initial=np.inf)))
        with np.errstate(invalid="ignore"):
            ends = np.array([held + n * t0, held + n * t1])
        return np.clip(ends.min(axis=0), low, high), np.clip(ends.max(axis=0), low, high)
    rows = np.vstack([basis, -basis])
    room = np.concatenate([np.maximum(high - held, 0), np.maximum(held - low, 0)])
    real = np.isfinite(room)
    out = np.array([held, held])
    for k in range(len(held)):
        for side, sign in enumerate((1.0, -1.0)):
            answer = linprog(sign * basis[k], rows[real], room[real], bounds=(None, None))
            if answer.status == 3:
                out[side, k] = -sign * np.inf
            elif answer.x is not None:
                out[side, k] = held[k] + basis[k] @ answer.x
    return np.clip(out[0], low, high), np.clip(out[1], low, high)


def _split(low: Array, high: Array, held: Array, half: Array, basis: Array) -> Array:
    basis = half[:, None] * np.linalg.qr(basis / half[:, None])[0]
    rows = rows_of(low, high, half)
    value, start = 1.0, held
    if len(rows.element):
        G = rows.slope[:, None] * basis[rows.element]
        least, t, weight = minimise_rows(rows.ratios(held), G)
        if np.isfinite(least):
            # Rows of positive weight are at that value in every optimal split.
            value, start = min(least, 1.0), held + basis @ t
            basis = basis @ _kernel(G[weight > 1e-9])
    if basis.shape[1] == 0:
        return np.clip(start, low, high)
    # Least norm of y = (effort - centre)/half with all rows at most ``value``.
    closed = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        centre = np.where(closed, (low + high) / 2, np.clip(0.0, low, high))
        bottom = (low + (1 - value) * half - centre) / half
        top = (high - (1 - value) * half - centre) / half
    y = _least_norm((start - centre) / half, basis / half[:, None], bottom, top)
    return np.clip(centre + half * y, low, high)


def _least_norm(start: Array, shape: Array, bottom: Array, top: Array) -> Array:
    """Smallest y in start + range(shape) and in a box."""
    q, _ = np.linalg.qr(shape)
    fixed = start - q @ (q.T @ start)
    # y = fixed + q p:  G p >= h
    G = np.vstack([q, -q])
    h = np.concatenate([bottom - fixed, fixed - top])
    real = np.isfinite(h)
    p = least_distance(G[real], h[real])
    if p is None:  # no room: start already is the answer
        return start
    y = fixed + q @ p
    return y if np.all(y >= bottom - 1e-9) and np.all(y <= top + 1e-9) else start


def least_distance(G: Array, h: Array) -> Array | None:
    """The smallest p with G p >= h, None where there is none.

    By non-negative least squares: Lawson, Hanson, Solving Least Squares Problems, 1974,
    ch. 23.
    """
    if np.all(h <= 1e-12):
        return np.zeros(G.shape[1])
    E = np.vstack([G.T, h])
    aim = np.zeros(len(E))
    aim[-1] = 1.0
    weight, _ = nnls(E, aim)
    residual = E @ weight - aim
    if np.max(np.abs(residual)) < 1e-12 or abs(residual[-1]) < 1e-13:
        return None
    return -residual[:-1] / residual[-1]


def _kernel(A: Array) -> Array:
    _, values, right = np.linalg.svd(A)
    return right[int(np.sum(values > 1e-9)) :].T
