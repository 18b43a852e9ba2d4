"""Which efforts does the motion leave open, and which split is reported?

Where the Delassus matrix of the stuck elements is singular, internal stress
can be added without any effect on the motion: brakes in parallel, a table on
four legs. How they share is told in :mod:`.shares`, and, for given directions
of internal stress, here: the split with the smallest largest ratio
|lambda_i|/F_i, then of least norm of the ratios.

Where bounds depend on the efforts (a body that rests on two feet with friction, a brake on the
shaft of a gear that loses more the more it carries) shares of bounds have no meaning: there
:func:`loaded_split` looks for the split with the most room. Efforts lambda + N p have the same
effect for every p in the kernel of the matrix; bounds are affine in them. ``room`` is the largest
t for which some split keeps every element t of its size away from both its bounds: the elements
hold as long as room >= 0. The split shown is the smallest one among those that have that room
(but no more than half of it: far from the bounds it is the smallest of all), with the least sum of
effort^2 / range, so that frictions share in proportion to their ranges, and what bears as good as
anything one way (a one-way clutch) bears it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices, grouped
from ...numerics.tolerances import (
    AT_BOUND,
    FLAT_ROW,
    LINEAR_PROGRAM,
    MOVED_BY_STRESS,
    NO_EFFORT,
    NO_LAST_ENTRY,
    NO_RESIDUAL,
    NO_STRESS,
    STRESS_RANK,
    TIGHT_ROW,
    TINY,
)
from .minimax import half_range, kernel, minimise_rows, open_sides, rows_of
from .scaling import DENSE_LIMIT, MatrixLike, as_bounds, as_matrix, block, components, scale

__all__ = ["LoadedSplit", "even_on_line", "even_split", "largest_share", "least_efforts",
           "least_share", "loaded_split", "open_load", "stress_groups",
           "stresses", "undetermined_groups"]  # fmt: skip


class Stress(NamedTuple):
    members: Indices
    basis: Array  # columns: efforts that cause no rate


def undetermined_groups(
    D: MatrixLike, lower: ArrayLike, upper: ArrayLike, effort: ArrayLike, stuck: ArrayLike
) -> list[Indices]:
    """Groups of stuck elements whose efforts the motion does not determine: their members.

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
    list of int arrays
        Ordered by first member. Elements whose effort the bounds pin down in
        spite of the singular matrix are left out.

    Examples
    --------
    >>> pair, = undetermined_groups([[1, 1], [1, 1]], [-1, -3], [1, 3], [1.0, 2.5], [0, 1])
    >>> pair.tolist()
    [0, 1]
    """
    low, high = as_bounds(lower, upper, np.shape(D)[0])
    held, groups = np.array(effort, dtype=float), []
    for stress in stresses(D, low, high, stuck):
        i = stress.members
        size = np.maximum(TINY, np.max(np.abs(held[i]), initial=0.0))
        free = np.minimum(high[i] - held[i], held[i] - low[i]).min() > AT_BOUND * size
        if free or _can_change(low[i], high[i], held[i], stress.basis, size):
            groups.append(i)
    return groups


def stresses(D: MatrixLike, low: Array, high: Array, stuck: ArrayLike) -> list[Stress]:
    """Split the kernel of D_II into parts that share no element."""
    n = len(low)
    mask = np.zeros(n, dtype=bool)
    mask[np.asarray(stuck) if len(np.atleast_1d(stuck)) else []] = True
    index = np.flatnonzero(mask & (low < high))
    m = len(index)
    if m == 0:
        return []
    matrix = block(as_matrix(D, n), index, index)
    box, d = scale(matrix, np.zeros(m), low[index], high[index], np.zeros(m))
    diagonal = np.asarray(box.D.diagonal())
    out = []
    for part in grouped(box.group):
        if len(part) == 1:
            if diagonal[part[0]] == 0:
                out.append(Stress(index[part], np.ones((1, 1))))
            continue
        if len(part) > DENSE_LIMIT:
            continue
        free, _ = kernel(sp.dense(block(box.D, part, part)))
        if free.shape[1] == 0:
            continue
        out += [Stress(index[part[here]], d[part[here], None] * basis[here])
                for here, basis in stress_groups(free)]
    return sorted(out, key=lambda s: int(s.members[0]))


def stress_groups(free: Array) -> list[tuple[Indices, Array]]:
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
    projector[np.abs(projector) < NO_STRESS] = 0.0
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
    return float(rows_of(low, high, half_range(low, high)).ratios(held).max(initial=-np.inf))


def least_share(low: Array, high: Array, held: Array, basis: Array) -> float:
    """The smallest largest share of the bounds over held + basis t: 1 at a bound."""
    half = half_range(low, high)
    rows = rows_of(low, high, half)
    if not len(rows.element):
        return -np.inf
    ratios, G = rows.ratios(held), rows.slope[:, None] * basis[rows.element]
    if basis.shape[1] == 1:
        return float(_lowest(ratios[:, None], G)[0])
    return minimise_rows(ratios, G)[0]


def _lowest(a: Array, g: Array) -> Array:
    """min over t of max(a + g t) of every column, t a number: where rising lines meet falling ones.

    -inf where all of them can be lowered for ever.
    """
    lowest: Array = np.where(np.abs(g) <= FLAT_ROW, a, -np.inf).max(axis=0)
    for rise, up in zip(a, g, strict=True):
        with np.errstate(invalid="ignore"):
            meet = np.where((up > FLAT_ROW) & (g < -FLAT_ROW), (up * a - g * rise) / (up - g),
                            -np.inf)
        lowest = np.maximum(lowest, meet.max(axis=0))
    return lowest


def even_split(low: Array, high: Array, held: Array, basis: Array) -> Array:
    """The efforts held + basis t of smallest largest share of the bounds, then of least norm."""
    if basis.shape[1] == 1:
        return even_on_line(low[:, None], high[:, None], held[:, None], basis)[:, 0]
    (low, high), held = open_sides(low, high), _without(held, basis)
    half = half_range(low, high, held)
    basis = half[:, None] * np.linalg.qr(basis / half[:, None])[0]
    rows = rows_of(low, high, half)
    value, start = 1.0, held
    if len(rows.element):
        G = rows.slope[:, None] * basis[rows.element]
        least, t, weight = minimise_rows(rows.ratios(held), G)
        if np.isfinite(least):
            # Rows of positive weight are at that value in every optimal split.
            value, start = min(least, 1.0), held + basis @ t
            basis = basis @ _kernel(G[weight > TIGHT_ROW])
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


def _without(held: Array, basis: Array) -> Array:
    """Efforts with as little internal stress as can be, whose digits a large one would take."""
    q = np.linalg.qr(basis)[0]
    out: Array = held - q @ (q.T @ held)
    return out


def even_on_line(low: Array, high: Array, held: Array, direction: Array) -> Array:
    """:func:`even_split` where one direction is open: efforts and bounds of many times, as columns.
    """
    (low, high), held = open_sides(low, high), _without(held, direction)
    half = half_range(low, high, held)
    along = direction / half
    along /= np.linalg.norm(along, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        a = np.concatenate([1 + (held - high) / half, 1 + (low - held) / half])
        g = np.concatenate([along, -along])
        value = _lowest(a, g)
        value = np.where(np.isfinite(value), value, 1.0)
        # what keeps all rows at most at that value, and of it the least norm
        room = (value - a) / g
        most = np.where(g > FLAT_ROW, room, np.inf).min(axis=0)
        least = np.where(g < -FLAT_ROW, room, -np.inf).max(axis=0)
        centre = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2,
                          np.clip(0.0, low, high))
    step = (along * (centre - held) / half).sum(axis=0)
    step = np.clip(step, np.minimum(least, most), np.maximum(least, most))
    return np.clip(held + half * along * step, low, high)


def _can_change(low: Array, high: Array, held: Array, basis: Array, size: float) -> bool:
    """Whether {held + basis t} within the box is more than a point.

    That depends on those at their bounds alone: some t has to leave all of them there, or lead some
    inwards and none out.
    """
    up, down = high - held <= NO_STRESS * size, held - low <= NO_STRESS * size
    tight = np.vstack([basis[up], -basis[down]])
    tight /= np.maximum(np.abs(tight).max(axis=1, keepdims=True), TINY)
    if np.linalg.matrix_rank(tight, tol=STRESS_RANK) < basis.shape[1]:
        return True
    from scipy.optimize import linprog  # takes long to load, and is seldom needed

    inwards = linprog(tight.sum(axis=0), np.vstack([tight, -tight]),
                      np.repeat([0.0, 1.0], len(tight)), bounds=(None, None))
    return bool(inwards.fun < -NO_STRESS)


def _least_norm(start: Array, shape: Array, bottom: Array, top: Array) -> Array:
    """Smallest y in start + range(shape) and in a box."""
    q, _ = np.linalg.qr(shape)
    fixed = start - q @ (q.T @ start)
    # y = fixed + q p:  G p >= h
    G = np.vstack([q, -q])
    h = np.concatenate([bottom - fixed, fixed - top])
    real = np.isfinite(h) & (np.abs(G).max(axis=1) > FLAT_ROW)  # what nothing moves stays
    p = least_distance(G[real], h[real])
    if p is None:  # no room: start already is the answer
        return start
    y = fixed + q @ p
    rounding = TIGHT_ROW * max(1.0, np.abs(start).max())
    return y if np.all(y >= bottom - rounding) and np.all(y <= top + rounding) else start


def least_distance(G: Array, h: Array) -> Array | None:
    """The smallest p with G p >= h, None where there is none.

    By non-negative least squares: Lawson, Hanson, Solving Least Squares Problems, 1974,
    ch. 23.
    """
    if np.all(h <= FLAT_ROW):
        return np.zeros(G.shape[1])
    E = np.vstack([G.T, h])
    aim = np.zeros(len(E))
    aim[-1] = 1.0
    from scipy.optimize import nnls  # takes long to load, and is seldom needed

    weight, _ = nnls(E, aim)
    residual = E @ weight - aim
    if np.max(np.abs(residual)) < NO_RESIDUAL or abs(residual[-1]) < NO_LAST_ENTRY:
        return None
    return -residual[:-1] / residual[-1]


def _kernel(A: Array) -> Array:
    _, values, right = np.linalg.svd(A)
    return right[int(np.sum(values > STRESS_RANK)) :].T


# -- bounds that depend on the efforts -----------------------------------------------------------
@dataclass(frozen=True)
class LoadedSplit:
    """The split with the most room.

    Attributes
    ----------
    room : float
        Negative where no split is within the bounds.
    effort : array
    first : int array
        Elements that no split can keep further from their bounds.
    free : bool
        Whether there is any choice.
    """

    room: float
    effort: Array
    first: Indices
    free: bool


class Rooms(NamedTuple):
    """How far efforts are from their bounds, where these depend on efforts.

    Attributes
    ----------
    size : what it takes to move each element by itself
    basis : efforts without effect, as columns
    half : half the range of each, where that is constant, or the largest effort
    rows, at : change of rooms by efforts, and what they are, one per finite bound
    owner : whose these are
    """

    size: Array
    basis: Array
    half: Array
    rows: Array
    at: Array
    owner: Indices


def rooms_of(D: Array, effort: Array, low: Array, high: Array, L: Array, H: Array,
             others: Array | None = None) -> Rooms:
    """Those of a connected part, as of :func:`loaded_split`."""
    n = len(effort)
    size, basis = open_efforts(D, others)
    lower, upper = low + L @ effort, high + H @ effort
    # an element of constant bounds is measured by them, others by the largest effort that is
    # needed; so is a range that is endless beside it, as of a one-way clutch
    largest = float(np.abs(_least(effort, size, basis) / size).max(initial=0.0))
    unit = size * (largest if largest > NO_EFFORT else 1.0)
    constant = np.isfinite(high - low) & (high > low) & ~np.any(L, axis=1) & ~np.any(H, axis=1)
    half = np.where(constant, np.where(constant, high - low, 1.0) / 2, unit)
    one_sided = np.isinf(np.subtract(*open_sides(np.where(constant, low, 0.0),
                                                 np.where(constant, high, 0.0))))
    typical = np.where(one_sided, unit, half)
    eye = np.eye(n)
    rows = np.vstack([(H - eye)[np.isfinite(high)], (eye - L)[np.isfinite(low)]])
    at = np.concatenate([(upper - effort)[np.isfinite(high)], (effort - lower)[np.isfinite(low)]])
    owner = np.concatenate([np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))])
    weight = typical[owner]
    return Rooms(size, basis, half, rows / weight[:, None], at / weight, owner)


def loaded_split(D: Array, effort: Array, low: Array, high: Array, L: Array, H: Array,
                 others: Array | None = None) -> LoadedSplit:
    """Find it for one connected part.

    Parameters
    ----------
    D : (n, n) array
    effort : (n,) array
        Any efforts with the right effect.
    low, high : (n,) array
        Constant parts of the bounds.
    L, H : (n, n) array
        Their derivatives by the efforts.
    others : (m, n) array, optional
        What the efforts do to the rates of other elements: no split may change that.

    Examples
    --------
    A body of 10 N on two feet, mu = 0.5, pulled by 4 N between them (N1, T1, N2, T2):

    >>> D = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1.0]])
    >>> H = np.zeros((4, 4)); H[1, 0] = H[3, 2] = 0.5
    >>> feet = np.array([np.inf, 0, np.inf, 0])
    >>> found = loaded_split(D, np.array([10, 4, 0, 0.0]), np.zeros(4), feet, -H, H)
    >>> found.effort.round(6).tolist(), found.room > 0
    ([5.0, 2.0, 5.0, 2.0], True)
    """
    size, basis, half, rows, at, owner = rooms_of(D, effort, low, high, L, H, others)
    if not len(rows):
        return LoadedSplit(np.inf, effort, np.zeros(0, dtype=np.intp), basis.shape[1] > 0)
    turn = rows @ basis
    if not basis.shape[1]:
        least = float(at.min())
        return LoadedSplit(least, effort, np.unique(owner[at <= least + TIGHT_ROW]), False)
    # most t with at + turn p >= t
    scale = 1 / np.maximum(np.abs(turn).max(axis=0), TINY)
    from scipy.optimize import linprog  # takes long to load, and is seldom needed

    found = linprog(np.append(np.zeros(basis.shape[1]), -1.0),
                    np.hstack([-turn * scale, np.ones((len(rows), 1))]), at,
                    bounds=[(None, None)] * basis.shape[1] + [(None, 1.0)], method="highs",
                    options=LINEAR_PROGRAM)
    if found.x is None:
        least = float(at.min())
        return LoadedSplit(least, effort, np.unique(owner[at <= least + TIGHT_ROW]), True)
    room, p = float(found.x[-1]), scale * found.x[:-1]
    tight = np.unique(owner[np.abs(found.ineqlin.marginals) > TIGHT_ROW])
    best = effort + basis @ p
    small = _small(best, basis, rows, at + turn @ p, room, np.sqrt(half * size))
    return LoadedSplit(room, small, tight, True)


def least_efforts(D: Array, effort: Array, others: Array | None = None) -> Array:
    """Efforts without internal stress: of those with the same effect the least ones.

    Parameters
    ----------
    D, effort, others : as of :func:`loaded_split`

    Notes
    -----
    Each is measured by what it takes to move its own element, so that units and the order of
    elements do not matter.

    Examples
    --------
    >>> least_efforts(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([5.0, 0.0])).round(6).tolist()
    [2.5, 1.25]
    """
    return _least(effort, *open_efforts(D, others))


def open_efforts(D: Array, others: Array | None) -> tuple[Array, Array]:
    """Sizes of efforts, and a basis of those without effect, orthonormal in units of them."""
    size = 1 / np.sqrt(np.maximum(np.diag(D), TINY))
    basis = kernel(size[:, None] * D * size)[0]
    if others is not None and others.size and basis.shape[1]:
        clean = np.where(np.abs(basis) < NO_STRESS, 0.0, basis)  # of rounding, whose effect is none
        effect = others * size @ clean
        felt = np.abs(others * size) @ np.abs(clean)
        effect = effect / np.maximum(felt.max(axis=1, initial=0.0), TINY)[:, None]
        basis = basis @ kernel(effect.T @ effect)[0]
    return size, size[:, None] * basis


def _least(effort: Array, size: Array, basis: Array) -> Array:
    """Efforts without what the basis can take away."""
    even = basis / size[:, None]
    out: Array = effort - basis @ (even.T @ (effort / size))
    return out


def open_load(D: Array, through: Array, others: Array) -> bool:
    """Whether efforts that keep every element at rest can differ, and move others then.

    D + through is what efforts at rest do to their own rates, directly and through the
    friction that they press; ``others`` what they do to the rates of what slides.
    """
    size = 1 / np.sqrt(np.maximum(np.diag(D), TINY))
    basis = size[:, None] * kernel(size[:, None] * (D + through) * size)[0]
    if not basis.shape[1] or not len(others):
        return False
    felt = np.linalg.norm(others * size, axis=1, keepdims=True)  # by efforts of which some are zero
    return bool(np.any(np.abs(others @ basis) > MOVED_BY_STRESS * np.maximum(felt, TINY)))


def _small(best: Array, basis: Array, rows: Array, at: Array, room: float, typical: Array
           ) -> Array:
    """The smallest efforts, in units of what is typical of them, with half of the room."""
    q, _ = np.linalg.qr(basis / typical[:, None])
    shape = typical[:, None] * q
    toward = -q.T @ (best / typical)
    turn = rows @ shape
    keep = room / 2 if room > 0 else room
    p = least_distance(turn, keep - FLAT_ROW - at - turn @ toward)
    if p is None:
        return best
    out = best + shape @ (toward + p)
    return out if np.all(at + turn @ (toward + p) >= keep - TIGHT_ROW) else best
