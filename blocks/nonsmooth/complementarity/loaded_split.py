"""Stuck efforts that the motion leaves open, where bounds depend on the efforts.

A body that rests on two feet with friction, a brake on the shaft of a gear that loses
more the more it carries. Efforts lambda + N p have the same effect for every p in the
kernel of the matrix; bounds are affine in them. ``room`` is the largest t for which some
split keeps every element t of its size away from both its bounds: the elements hold as
long as room >= 0. The split shown is the smallest one among those that have that room
(but no more than half of it: far from the bounds it is the smallest of all).

This differs from :func:`blocks.nonsmooth.complementarity.minimal_split` where bounds are constant,
whose shares have no meaning if the bounds themselves depend on the split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .internal_stress import least_distance
from .minimax import kernel
from .scaling import Array

__all__ = ["LoadedSplit", "loaded_split", "open_load"]

NOTHING = 1e-200  # efforts that are rounding only, whose share of each other says nothing


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
    first: NDArray[np.intp]
    free: bool


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
    n = len(effort)
    size = 1 / np.sqrt(np.maximum(np.diag(D), 1e-300))
    basis = size[:, None] * kernel(size[:, None] * D * size)[0]
    if others is not None and others.size and basis.shape[1]:
        effect = others @ basis
        felt = np.abs(others) @ np.abs(basis)
        effect = effect / np.maximum(felt.max(axis=1, initial=0.0), 1e-300)[:, None]
        basis = basis @ kernel(effect.T @ effect)[0]
    lower, upper = low + L @ effort, high + H @ effort
    # an element of constant bounds is measured by them, others by the largest effort
    largest = float(np.abs(effort / size).max(initial=0.0))
    unit = size * (largest if largest > NOTHING else 1.0)
    constant = np.isfinite(high - low) & (high > low) & ~np.any(L, axis=1) & ~np.any(H, axis=1)
    typical = np.where(constant, np.where(constant, high - low, 1.0) / 2, unit)
    eye = np.eye(n)
    rows = np.vstack([(H - eye)[np.isfinite(high)], (eye - L)[np.isfinite(low)]])
    at = np.concatenate([(upper - effort)[np.isfinite(high)], (effort - lower)[np.isfinite(low)]])
    owner = np.concatenate([np.flatnonzero(np.isfinite(high)), np.flatnonzero(np.isfinite(low))])
    weight = typical[owner]
    if not len(rows):
        return LoadedSplit(np.inf, effort, np.zeros(0, dtype=np.intp), basis.shape[1] > 0)
    rows, at = rows / weight[:, None], at / weight
    turn = rows @ basis
    if not basis.shape[1]:
        least = float(at.min())
        return LoadedSplit(least, effort, np.unique(owner[at <= least + 1e-9]), False)
    # most t with at + turn p >= t
    scale = 1 / np.maximum(np.abs(turn).max(axis=0), 1e-300)
    found = linprog(np.append(np.zeros(basis.shape[1]), -1.0),
                    np.hstack([-turn * scale, np.ones((len(rows), 1))]), at,
                    bounds=[(None, None)] * basis.shape[1] + [(None, 1.0)], method="highs",
                    options={"primal_feasibility_tolerance": 1e-10,
                             "dual_feasibility_tolerance": 1e-10})  # fmt: skip
    if found.x is None:
        least = float(at.min())
        return LoadedSplit(least, effort, np.unique(owner[at <= least + 1e-9]), True)
    room, p = float(found.x[-1]), scale * found.x[:-1]
    tight = np.unique(owner[np.abs(found.ineqlin.marginals) > 1e-9])
    best = effort + basis @ p
    return LoadedSplit(room, _small(best, basis, rows, at + turn @ p, room, typical), tight, True)


def open_load(D: Array, through: Array, others: Array) -> bool:
    """Whether efforts that keep every element at rest can differ, and move others then.

    D + through is what efforts at rest do to their own rates, directly and through the
    friction that they press; ``others`` what they do to the rates of what slides.
    """
    size = 1 / np.sqrt(np.maximum(np.diag(D), 1e-300))
    basis = size[:, None] * kernel(size[:, None] * (D + through) * size)[0]
    if not basis.shape[1] or not len(others):
        return False
    felt = np.abs(others) @ np.abs(basis)
    return bool(np.any(np.abs(others @ basis) > 1e-8 * np.maximum(felt, 1e-300)))


def _small(best: Array, basis: Array, rows: Array, at: Array, room: float, typical: Array
           ) -> Array:
    """The smallest efforts, in units of their size, with half of the room."""
    q, _ = np.linalg.qr(basis / typical[:, None])
    shape = typical[:, None] * q
    toward = -q.T @ (best / typical)
    turn = rows @ shape
    keep = room / 2 if room > 0 else room
    p = least_distance(turn, keep - 1e-12 - at - turn @ toward)
    if p is None:
        return best
    out = best + shape @ (toward + p)
    return out if np.all(at + turn @ (toward + p) >= keep - 1e-9) else best
