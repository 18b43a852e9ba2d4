"""Box problems by guessing the active set: fast, and safe where convex.

``active_set`` is the primal-dual active-set method, i.e. the semismooth Newton
method of the natural map; a few steps, but it may cycle. ``projected_newton``
decreases the convex energy at every step and cannot cycle, but creeps where D
is singular. ``proximal`` solves a few regular problems D + eps I about the last
answer instead; for a singular D each round gains three to five digits.

References
----------
Hintermueller, Ito, Kunisch, SIAM J. Optim. 13 (2002) 865-888.
Bertsekas, SIAM J. Control Optim. 20 (1982) 221-246.
Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898.
Moré, Toraldo, SIAM J. Optim. 1 (1991) 93-113.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...numerics import sparse as sp
from ...numerics.arrays import Array
from ...numerics.tolerances import PROXIMAL_POINT, SHORTEST_SEARCH
from .linear_solves import solve_block
from .scaling import ScaledBox, block

__all__ = ["Trial", "active_set", "proximal", "projected_newton", "sides"]

Sides = NDArray[np.int8]


@dataclass(frozen=True)
class Trial:
    """What a method ended with; whether it is a solution is for the caller to check."""

    x: Array
    iterations: int
    unbounded: bool = False


def sides(box: ScaledBox, x: Array | None) -> Sides:
    """-1, 0, +1: at the lower bound, inside, at the upper bound."""
    if x is None:
        return np.zeros(box.size, dtype=np.int8)
    return np.where(x >= box.upper, 1, np.where(x <= box.lower, -1, 0)).astype(np.int8)


def active_set(box: ScaledBox, at: Sides, tol: float, limit: int) -> Trial:
    """Primal-dual active set from the guess ``at``; ends at a repeated guess."""
    x = np.clip(np.zeros(box.size), box.lower, box.upper)
    seen: set[bytes] = set()
    steps = 0
    while steps < limit and at.tobytes() not in seen:
        seen.add(at.tobytes())
        steps += 1
        free = at == 0
        x = np.where(at > 0, box.upper, np.where(at < 0, box.lower, x))
        if free.any():
            rows = box.D[free]
            rest = np.where(free, 0.0, x)
            x[free] = solve_block(
                rows[:, free], box.b[free] - rows @ rest, x[free], symmetric=box.symmetric
            )
        w = box.rate(x)
        band = 0.01 * tol * box.unit(w) + box.floor
        new = at.copy()
        new[free & (x > box.upper + band)] = 1
        new[free & (x < box.lower - band)] = -1
        new[(at > 0) & (w < -band)] = 0
        new[(at < 0) & (w > band)] = 0
        x = np.clip(x, box.lower, box.upper)
        if np.array_equal(new, at):
            break
        at = new
    return Trial(x, steps)


def projected_newton(box: ScaledBox, x: Array, tol: float, limit: int) -> Trial:
    """Minimise ½ x'Dx - b'x over the box; D symmetric positive semi-definite.

    Each step: one gradient projection (finds the face), then Newton on the
    face with a backtracking search along the projected path.
    """
    bend = float(abs(box.D).sum(axis=1).max()) or 1.0  # bounds the largest eigenvalue

    def energy(y: Array) -> float:
        return float(0.5 * y @ (box.D @ y) - box.b @ y)

    steps = 0
    while steps < limit:
        w = box.rate(x)
        if box.residual(x, w, tol).max(initial=0.0) <= 0.01 * tol:
            break
        steps += 1
        x = np.clip(x + w / bend, box.lower, box.upper)
        w = box.rate(x)
        held = ((x >= box.upper) & (w > 0)) | ((x <= box.lower) & (w < 0))
        free = ~held
        if not free.any():
            continue
        move = np.zeros(box.size)
        move[free] = solve_block(
            block(box.D, free, free), w[free], np.zeros(int(free.sum())), symmetric=True
        )
        before = energy(x)
        length = 1.0
        while length > SHORTEST_SEARCH:
            trial = np.clip(x + length * move, box.lower, box.upper)
            if energy(trial) <= before - 1e-4 * (w @ (trial - x)):
                x = trial
                break
            length /= 2
    return Trial(x, steps)


def proximal(box: ScaledBox, x: Array, tol: float, limit: int) -> Trial:
    """Proximal points of ½ x'Dx - b'x on the box; D symmetric positive semi-definite.

    eps starts at 1e-3 of the unit diagonal: larger converges slowly, smaller
    makes the active sets of a singular matrix cycle. It is lowered once the
    rounds gain less than a digit.
    """
    eye = sp.eye_array(box.size, format="csr") if sp.issparse(box.D) else np.eye(box.size)
    eps, steps, last = 1e-3, 0, np.inf
    best, before = x, sides(box, x)
    while steps < 5 * limit:
        near = replace(box, D=box.D + eps * eye, b=box.b + eps * x)
        trial = active_set(near, before, tol, limit)
        steps += trial.iterations
        if near.residual(trial.x, near.rate(trial.x), tol).max() > tol:
            trial = projected_newton(near, trial.x, tol, limit)
            steps += trial.iterations
        x = trial.x
        error = float(box.residual(x, box.rate(x), tol).max())
        if error < last:
            best = x
        if error <= 0.01 * tol or (error <= tol and error > 0.5 * last):
            break
        at = sides(box, x)
        if error > 0.01 * last and np.array_equal(at, before):
            eps = max(0.1 * eps, PROXIMAL_POINT)
        before, last = at, min(last, error)
    return Trial(best, steps)
