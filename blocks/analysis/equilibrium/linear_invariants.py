"""Which sums of positions never change, wherever a model moves?

Springs in parallel differ in length by as much as they did at the start, whatever sticks or
touches in between; what sticks stays where it is.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from ...numerics.arrays import Array, Flags
from ..linear.derivatives import DerivativesAt, elements_of_system
from ..linear.point import Point
from ..linear.reduction import positional_states
from .solve_in_mode import held_rows, mode_rows

__all__ = ["intersection", "linear_invariants", "split_off_axes"]

RANK = 1e-9  # of the largest, below which a row says nothing new
SAME = 1e-7  # by which directions may differ that are the same


def linear_invariants(point: Point, at: DerivativesAt, scale: Array, held: Flags) -> Array:
    """Sums of states that do not change next to a point, as orthonormal rows over all unknowns.

    Parameters
    ----------
    scale : of the unknowns, in parts of which rows are
    held : the elements that keep their modes; of the others efforts are anything
    """
    position = positional_states(point.system)
    slope = at.whole("slope")[position] * scale
    rows = [at.whole("residual"), at.whole("constraints")]
    if elements_of_system(point.system) is not None:
        _, by = mode_rows(point, at)
        rows += [np.column_stack(list(by.values()))[held], held_rows(point, at, held)[1]]
    whole, found, last = np.concatenate(rows) * scale, np.zeros((0, len(scale))), -1
    if not np.isfinite(np.concatenate([whole, slope])).all():  # beyond what a law is made for
        return found
    met, places = _rows_of(whole), np.flatnonzero(position)
    while len(found) > last:  # what follows from sums that do not change may not change, either
        last = len(found)
        left = slope - slope @ met.T @ met
        size = np.abs(slope).max(axis=1, initial=0.0)
        left = left / np.where(size > 0, size, 1.0)[:, None]
        u, s, _ = np.linalg.svd(qr(left.T, mode="r")[0].T)
        rank = int(np.count_nonzero(s > RANK))
        sums = np.zeros((len(places) - rank, len(scale)))
        sums[:, places] = u[:, rank:].T / np.where(size > 0, size, 1.0) * scale[places]
        found = _rows_of(sums)
        met = _rows_of(np.concatenate([met, found]))
    return found


def intersection(one: Array, other: Array) -> Array:
    """The directions that two sets of orthonormal rows share."""
    u, s, _ = np.linalg.svd(one - one @ other.T @ other)
    return np.asarray(u[:, int(np.count_nonzero(s > SAME)) :].T @ one)


def split_off_axes(rows: Array) -> tuple[Array, Flags]:
    """Orthonormal rows without the unknowns that they contain by themselves, and which these are.
    """
    single = np.asarray((rows**2).sum(axis=0) > 1 - SAME)
    _, _, vt = np.linalg.svd(np.where(single, 0.0, rows), full_matrices=False)
    return vt[: len(rows) - int(single.sum())], single


def _rows_of(matrix: Array) -> Array:
    """Orthonormal rows that span those of a matrix."""
    size = np.abs(matrix).max(axis=1, initial=0.0)
    if not size.any():
        return matrix[:0]
    q, r, _ = qr((matrix[size > 0] / size[size > 0, None]).T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    return np.asarray(q[:, : int(np.count_nonzero(sizes > RANK * sizes.max()))].T)
