"""Which split has the most room to all bounds, as a linear function of what is split?

The rooms of a split are affine in the efforts. The smallest one is made as large as possible (but
no larger than ``AMPLE_ROOM``), then, of what the deciding bounds leave open, the next, until there
is room to spare; of changes, what is open still bears more the more room it has. As long as the
same bounds decide, the split is a linear function of the efforts that it has the effect of:
multiparametric linear programming (Gal, Nedoma, Management Science 18(7), 1972, 406-422).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import TIGHT_ROW
from .internal_stress import Stress, rooms_of
from .minimax import half_range, kernel, minimise_rows, open_sides, rows_of

__all__ = ["LinearSplit", "linear_split", "loaded_linear_split"]

AMPLE = 2.0  # times the least room to a bound
AMPLE_ROOM = 1.0  # of half a range, or of the largest effort: no more is sought


class LinearSplit(NamedTuple):
    """A split of the efforts e of some ``members``: ``e + change @ e + level``, whatever e is.

    Attributes
    ----------
    room : the smallest one, in its units
    """

    members: Indices
    room: float
    change: Array
    level: Array


def linear_split(stress: Stress, lower: Array, upper: Array, efforts: Array) -> LinearSplit:
    """That of a group of elements, by the directions of its internal stress; see above."""
    members, basis = stress
    held = efforts[members]
    low, high = open_sides(lower[members], upper[members])
    half = half_range(low, high, held)
    bounds = rows_of(low, high, half)
    rows = np.zeros((len(bounds.element), len(held)))
    rows[np.arange(len(rows)), bounds.element] = -bounds.slope
    even = half[:, None] * np.linalg.qr(basis / half[:, None])[0]
    room, change, split = _most_room(rows, 1 - bounds.ratios(held), held, even)
    return LinearSplit(members, room, change, split - held - change @ held)


def loaded_linear_split(D: Array, effort: Array, low: Array, high: Array, L: Array, H: Array,
                        others: Array) -> tuple[LinearSplit, Array]:
    """That of a part of which bounds depend on efforts; what it leaves open stays as it is.

    Parameters
    ----------
    D, effort, low, high, L, H, others
        As for :func:`loaded_split`.

    Returns
    -------
    split, and a basis of efforts without effect, as columns
    """
    given = rooms_of(D, effort, low, high, L, H, others)
    room, change, split = _most_room(given.rows, given.at, effort, given.basis)
    q = np.linalg.qr(given.basis)[0]
    change = change - (np.eye(len(effort)) + change) @ q @ q.T
    return LinearSplit(np.arange(len(effort)), room, change,
                       split - effort - change @ effort), given.basis


def _most_room(rows: Array, rooms: Array, held: Array, even: Array
               ) -> tuple[float, Array, Array]:
    """The split of efforts ``held`` by the columns of ``even``.

    Parameters
    ----------
    rows : changes of rooms by efforts
    rooms : what they are

    Returns
    -------
    smallest room, change of the split by the efforts, and the split
    """
    unit, left, first = np.eye(len(held)), np.arange(len(rows)), np.inf
    split, change = held.copy(), np.zeros_like(unit)
    while even.shape[1]:
        lowers = -rows[left] @ even
        now = -rooms[left] - rows[left] @ (split - held)
        least, step, weight = minimise_rows(
            np.append(now, -AMPLE_ROOM), np.vstack([lowers, np.zeros(even.shape[1])]))
        tight = weight[:-1] > TIGHT_ROW
        moves = 0.0 if weight[-1] > TIGHT_ROW else 1.0  # the room itself
        matrix = np.column_stack([lowers[tight], np.full(np.count_nonzero(tight), -moves)])
        change = change + even @ (np.linalg.pinv(matrix)[:-1] @ (
            rows[left[tight]] @ (unit + change)))
        split = split + even @ step
        first = min(first, -least)
        even, left = even @ kernel(lowers[tight])[0], left[~tight]
        if -least > AMPLE * first or not tight.any():
            break
    if first > 0:
        shares = rows / (rooms + rows @ (split - held))[:, None]
        change = change - even @ (np.linalg.pinv(shares @ even) @ (shares @ (unit + change)))
    return first, change, split
