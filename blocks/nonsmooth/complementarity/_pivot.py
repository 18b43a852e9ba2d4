"""Box problems by complementary pivoting: always ends, whatever the matrix.

Lemke's path on the box: all elements start at a bound, held there by an
artificial rate z d; z is driven to zero, one element changing its mode per
pivot. In a compact box the path cannot run off: efforts are bounded, and
z -> infinity only on the starting ray. So an end at z = 0 exists for *every*
matrix D, also where the answer is not unique. Infinite bounds are replaced by
far ones; an end on such a bound is reported as unbounded.

References
----------
Lemke, Management Science 11 (1965) 681-689.
Cao, Ferris, Math. Oper. Res. 21 (1996) 44-64 (pivoting for affine
variational inequalities over a box).
Cottle, Pang, Stone, The Linear Complementarity Problem, 1992, ch. 4.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .active_set import Trial
from .scaling import Array, ScaledBox

__all__ = ["lemke"]

FAR = 1e8
"""Stand-in for an infinite bound, in multiples of the largest finite number."""


def lemke(box: ScaledBox, limit: int) -> Trial:
    """Follow the path; dense matrices, one LU factorisation a pivot."""
    D, b = np.asarray(box.D), box.b
    n = box.size
    bounds = np.concatenate([box.lower, box.upper])
    far = FAR * np.max(np.abs(np.concatenate([b, bounds[np.isfinite(bounds)]])), initial=1e-300)
    low = np.where(np.isfinite(box.lower), box.lower, -far)
    high = np.where(np.isfinite(box.upper), box.upper, far)

    # At the bound nearer to zero; d pushes outward. Its lengths are arbitrary but
    # generic, so that two elements never reach their limit at the same z.
    at = np.where(np.abs(low) <= np.abs(high), -1, 1)
    d = -at * np.random.default_rng(7).uniform(1.0, 2.0, n)
    x = np.where(at < 0, low, high)
    need = (b - D @ x) / d
    missing = int(np.argmax(need))
    if need[missing] <= 0:
        return Trial(_ends(box, x), 0, unbounded=False)
    drive_effort, sign = True, -at[missing]

    for pivot in range(1, limit + 1):
        # Basic unknowns: efforts inside the box, rates of elements at a bound, z.
        basis = np.eye(n)
        inside = at == 0
        basis[:, inside] = D[:, inside]
        basis[:, missing] = d
        held = np.where(inside, 0.0, x)
        column = D[:, missing] if drive_effort else np.eye(n)[missing]
        lu, order, info = lapack.dgetrf(basis)
        if info != 0:
            return Trial(_ends(box, x), pivot)
        value, _ = lapack.dgetrs(lu, order, b - D @ held)
        speed, _ = lapack.dgetrs(lu, order, -sign * column)

        room = _room(value, speed, at, low, high, missing)
        own = high[missing] - low[missing] if drive_effort else np.inf
        leaving = int(np.argmin(room))
        if room[missing] <= room[leaving] * (1 + 1e-12):
            leaving = missing  # z may leave: prefer to end
        length = min(room[leaving], own)
        x = np.where(inside, value + length * speed, x)
        if own < room[leaving]:  # crosses its whole range: now held at the other bound
            at[missing] = sign
            x[missing] = high[missing] if sign > 0 else low[missing]
            drive_effort = False
            continue
        if not np.isfinite(length):
            return Trial(_ends(box, x), pivot, unbounded=True)
        if drive_effort:
            x[missing] += length * sign
            at[missing] = 0
        if leaving == missing:  # z = 0: all conditions hold
            x = np.clip(x, low, high)
            fake = ((x >= high) & ~np.isfinite(box.upper)) | ((x <= low) & ~np.isfinite(box.lower))
            return Trial(_ends(box, x), pivot, unbounded=bool(fake.any()))
        if at[leaving] == 0:  # an effort reached a bound: its rate starts to move
            side = 1 if speed[leaving] > 0 else -1
            at[leaving] = side
            x[leaving] = high[leaving] if side > 0 else low[leaving]
            drive_effort, sign = False, side
        else:  # a rate reached zero: its effort starts to move inward
            drive_effort, sign = True, -at[leaving]
        missing = leaving
    return Trial(_ends(box, x), limit)


def _room(value: Array, speed: Array, at: Array, low: Array, high: Array, missing: int) -> Array:
    """How far the driver may go before each basic unknown reaches its limit."""
    gap = np.full(len(value), np.inf)
    still = 1e-13 * max(1.0, float(np.max(np.abs(speed))))
    up, down = speed > still, speed < -still
    inside = at == 0
    gap = np.where(inside & up, high - value, gap)
    gap = np.where(inside & down, value - low, gap)
    gap = np.where((at < 0) & up, -value, gap)  # rates at the lower bound stay <= 0
    gap = np.where((at > 0) & down, value, gap)
    gap[missing] = value[missing] if down[missing] else np.inf  # z >= 0
    return np.where(np.isfinite(gap), np.maximum(gap, 0) / np.maximum(np.abs(speed), still), gap)


def _ends(box: ScaledBox, x: Array) -> Array:
    return np.clip(x, box.lower, box.upper)
