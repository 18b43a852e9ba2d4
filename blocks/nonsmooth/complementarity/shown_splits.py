"""Which split is shown at many times, where bounds depend on efforts?

What :func:`.internal_stress.loaded_split` finds at one time is linear in the load as long as the
same bounds decide: those that the smallest room is told by, and those that keep the smallest
efforts from being smaller. So few of these problems are solved, and each answer is taken wherever
it is proven to hold.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import FLAT_ROW, NO_EFFORT, TIGHT_ROW
from .internal_stress import least_distance, open_efforts
from .minimax import minimise_rows

__all__ = ["loaded_splits"]

MOST_PIECES = 100  # of the way that loads take; what is left then is not found


def loaded_splits(D: Array, efforts: Array, low: Array, high: Array, L: Array, H: Array,
                  others: Array) -> tuple[Array, Flags]:
    """Find them for one connected part of which no bounds are constant.

    Parameters
    ----------
    D, L, H, others
        As for :func:`loaded_split`, at all times the same.
    efforts, low, high : (n, k) array
        A column per time.

    Returns
    -------
    efforts, and at which times they are found

    Examples
    --------
    Bodies of 10 and 30 N on two feet, see :func:`loaded_split`:

    >>> D = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1.0]])
    >>> H = np.zeros((4, 4)); H[1, 0] = H[3, 2] = 0.5
    >>> feet = np.array([np.inf, 0, np.inf, 0])[:, None].repeat(2, axis=1)
    >>> loads = np.array([[10, 4, 0, 0.0], [30, -3, 0, 0]]).T
    >>> found, done = loaded_splits(D, loads, np.zeros((4, 2)), feet, -H, H, np.zeros((0, 4)))
    >>> found.T.round(6).tolist(), done.all()
    ([[5.0, 2.0, 5.0, 2.0], [15.0, -1.5, 15.0, -1.5]], True)
    """
    size, basis = open_efforts(D, others)
    done = np.zeros(efforts.shape[1], dtype=bool)
    bounded = np.isfinite(high - low) & (high > low)
    constant = bounded.any(axis=1) & ~L.any(axis=1) & ~H.any(axis=1)
    if not basis.shape[1] or constant.any():
        return efforts, done
    unit, out = size[:, None], efforts.copy()
    held = efforts - basis @ ((basis / unit).T @ (efforts / unit))  # the least ones
    scale = np.abs(held / unit).max(axis=0)
    scale[scale <= NO_EFFORT] = 1.0
    held = held / scale
    with np.errstate(invalid="ignore"):
        to_high, to_low = high / scale + H @ held - held, held - low / scale - L @ held
    eye = np.eye(len(size))
    up, down = (np.flatnonzero(np.isfinite(room).all(axis=1)) for room in (to_high, to_low))
    owner = size[np.concatenate([up, down])]
    at = np.concatenate([to_high[up], to_low[down]]) / owner[:, None]
    shape = unit * np.linalg.qr(basis / unit)[0]
    turn = np.concatenate([(H - eye)[up], (eye - L)[down]]) @ shape / owner[:, None]
    left = np.arange(len(done))
    for _ in range(MOST_PIECES):
        if not len(left):
            break
        room, known = _rooms(at[:, left], turn)
        step, alike = _smallest(np.where(room > 0, room / 2, room) - FLAT_ROW - at[:, left], turn)
        known &= alike
        some = left[known]
        out[:, some] = scale[some] * (held[:, some] + shape @ step[:, known])
        done[some] = True
        known[0] = True  # or is left to others
        left = left[~known]
    return out, done


def _rooms(at: Array, turn: Array) -> tuple[Array, Flags]:
    """The largest smallest rooms ``at + turn t``, no larger than 1, by what decides for the first.
    """
    free = turn.shape[1]
    least, first, weight = minimise_rows(
        np.append(-at[:, 0], -1.0), np.vstack([-turn, np.zeros(free)]))
    tight, change = weight[:-1] > TIGHT_ROW, at - at[:, :1]
    if weight[-1] > TIGHT_ROW:
        step, room = np.zeros((free, at.shape[1])), np.ones(at.shape[1])
    else:  # those that decide rise together
        matrix = np.column_stack([turn[tight], -np.ones(np.count_nonzero(tight))])
        step = -(np.linalg.pinv(matrix) @ change[tight])[:-1]
        room = weight[:-1][tight] @ at[tight] / weight[:-1][tight].sum()
    rooms, missing = at + turn @ (first[:, None] + step), FLAT_ROW * (1 + np.abs(room))
    known: Flags = (rooms >= room - missing).all(axis=0) & (room <= 1.0)
    known[0], room[0] = True, -least
    return room, known


def _smallest(needed: Array, turn: Array) -> tuple[Array, Flags]:
    """The smallest steps t with ``turn t >= needed``, by what bounds that of the first; where they
    are proven to be these."""
    first = least_distance(turn, needed[:, 0])
    if first is None:
        return np.zeros((turn.shape[1], needed.shape[1])), np.zeros(needed.shape[1], dtype=bool)
    active = np.flatnonzero(turn @ first - needed[:, 0] <= TIGHT_ROW * (1 + np.abs(needed[:, 0])))
    active = _pushing(active, turn, first)
    bound = turn[active]
    step = np.linalg.pinv(bound) @ needed[active] if len(active) else np.zeros(
        (turn.shape[1], needed.shape[1]))
    push = np.linalg.pinv(bound.T) @ step if len(active) else np.zeros((0, needed.shape[1]))
    short = turn @ step < needed - FLAT_ROW * (1 + np.abs(needed))
    proven = np.asarray(~np.concatenate([short, push < -FLAT_ROW]).any(axis=0))
    step[:, 0], proven[0] = first, True
    return step, proven


def _pushing(active: Indices, turn: Array, step: Array) -> Indices:
    """Of the rows that a step meets, those that it is made of."""
    from scipy.optimize import nnls

    if not len(active):
        return active
    weight, _ = nnls(turn[active].T, step)
    return active[weight > TIGHT_ROW * weight.max(initial=0.0)]
