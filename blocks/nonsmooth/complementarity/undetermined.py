"""Which efforts does the motion leave open? Self-stress, or internal stress.

Where the Delassus matrix of the stuck elements is singular, internal stress can be added without
any effect on the motion: brakes in parallel, a table on four legs. How they share is told in
:mod:`.islands_at_rest`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...numerics.arrays import Array, Indices, grouped
from ...numerics.tolerances import (
    AT_BOUND,
    DELASSUS_SINGULAR,
    DEPENDENT,
    RATE_OF_STRESS,
    SAME_AS_BEFORE,
    TINY,
)
from .scaling import (
    DENSE_LIMIT,
    MatrixLike,
    as_bounds,
    as_matrix,
    components,
    dense_block,
    in_equal_units,
)

__all__ = ["kernel", "open_load", "stress_groups", "stresses", "undetermined_groups"]


class Stress(NamedTuple):
    members: Indices
    basis: Array  # columns: efforts that cause no rate


def undetermined_groups(
    D: MatrixLike, lower: ArrayLike, upper: ArrayLike, effort: ArrayLike, stuck: ArrayLike
) -> list[Indices]:
    """Groups of stuck elements whose efforts the motion does not determine: their members.

    ``effort`` is any solution within the bounds of all efforts, ``stuck`` tells elements by flags
    or numbers. Groups are ordered by first member. Elements whose effort the bounds pin down in
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
    """Split the kernel of D_II into islands that share no element."""
    n = len(low)
    mask = np.zeros(n, dtype=bool)
    mask[np.asarray(stuck) if len(np.atleast_1d(stuck)) else []] = True
    index = np.flatnonzero(mask & (low < high))
    m = len(index)
    if m == 0:
        return []
    matrix = as_matrix(D, n)[index][:, index]
    matrix, d = in_equal_units(matrix)
    diagonal = np.asarray(matrix.diagonal())
    out = []
    for island in grouped(components(matrix)[1]):
        if len(island) == 1:
            if diagonal[island[0]] == 0:
                out.append(Stress(index[island], np.ones((1, 1))))
            continue
        if len(island) > DENSE_LIMIT:
            continue
        free = kernel(dense_block(matrix, island, island))
        if free.shape[1] == 0:
            continue
        out += [Stress(index[island[here]], d[island[here], None] * basis[here])
                for here, basis in stress_groups(free)]
    return sorted(out, key=lambda s: int(s.members[0]))


def stress_groups(free: Array) -> list[tuple[Indices, Array]]:
    """Split a subspace, given by columns, into islands that share no element.

    Each is (members, orthonormal basis with a row for every element). The orthogonal projector onto
    a subspace is unique; it is block diagonal exactly where the subspace falls apart.
    """
    q, r = np.linalg.qr(free)
    projector = q @ q.T
    projector[np.abs(projector) < SAME_AS_BEFORE] = 0.0
    out = []
    for here in grouped(components(projector)[1]):
        values, vectors = np.linalg.eigh(projector[np.ix_(here, here)])
        basis = np.zeros((len(free), int(np.sum(values > 0.5))))
        basis[here] = vectors[:, values > 0.5]
        if basis.shape[1]:
            out.append((here, basis))
    return out


def _can_change(low: Array, high: Array, held: Array, basis: Array, size: float) -> bool:
    """Whether {held + basis t} within the box is more than a point.

    That depends on those at their bounds alone: some t has to leave all of them there, or lead some
    inwards and none out.
    """
    up, down = high - held <= SAME_AS_BEFORE * size, held - low <= SAME_AS_BEFORE * size
    tight = np.vstack([basis[up], -basis[down]])
    tight /= np.maximum(np.abs(tight).max(axis=1, keepdims=True), TINY)
    if np.linalg.matrix_rank(tight, tol=DEPENDENT) < basis.shape[1]:
        return True
    from scipy.optimize import nnls  # takes long to load, and is seldom needed

    return bool(nnls(tight.T, -tight.sum(axis=0))[1] > SAME_AS_BEFORE)  # Stiemke's lemma


def open_load(D: Array, through: Array, others: Array) -> bool:
    """Whether efforts that keep every element at rest can differ, and move others then.

    D + through is what efforts at rest do to their own rates, directly and through the
    friction that they press; ``others`` what they do to the rates of what slides.
    """
    size = 1 / np.sqrt(np.maximum(np.diag(D), TINY))
    basis = size[:, None] * kernel(size[:, None] * (D + through) * size)
    if not basis.shape[1] or not len(others):
        return False
    felt = np.linalg.norm(others * size, axis=1, keepdims=True)  # by efforts of which some are zero
    return bool(np.any(np.abs(others @ basis) > RATE_OF_STRESS * np.maximum(felt, TINY)))


def kernel(A: Array) -> Array:
    """Orthonormal kernel of a dense matrix of unit diagonal."""
    _, values, right = np.linalg.svd(A)
    rank = np.count_nonzero(values > DELASSUS_SINGULAR * values.max(initial=1.0))
    return np.asarray(right[rank:].T)
