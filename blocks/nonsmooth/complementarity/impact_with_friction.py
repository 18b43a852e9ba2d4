"""What do rigid contacts with dry friction do when they close?

Newton's restitution along the normal and Coulomb's law for the tangential impulse:
impulses P change the flows to ``flow - D P`` such that

* a contact: P >= 0 and ``after + e before <= 0``, complementary (e acts on approach only);
* friction: lower <= P <= upper, bounds proportional to the impulses of contacts; it ends
  sticking (after = 0), or slipping with the bound of the sense in which it slips then.

Rule. As in :func:`blocks.nonsmooth.complementarity.sequential_impact` the contact that approaches
strongest collides alone, with the friction that it loads, equally strong ones at once;
so on until none approaches, and all end with one problem without restitution. Newton's
restitution with friction may gain energy (Kane's pendulum): where a collision would, its
restitution is lowered until it does not. Without restitution it never can: the loss is
``P'(after) + P'D P/2`` with both terms >= 0.

References
----------
Kane, Levinson, Dynamics: Theory and Applications, 1985 (the paradox).
Moreau, in Nonsmooth Mechanics and Applications, CISM 302, 1988, 1-82.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...numerics.arrays import Array
from ...numerics.tolerances import APPROACH, ENERGY_GAIN, TIE
from .affine_bounds import solve_coupled
from .impact import Impact
from .scaling import MatrixLike

__all__ = ["rough_impact"]


def rough_impact(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike, contact: ArrayLike,
                 lower: ArrayLike, upper: ArrayLike, by_lower: ArrayLike, by_upper: ArrayLike
                 ) -> Impact:
    """Impulses of contacts and friction together.

    Parameters
    ----------
    D : (n, n) array_like
        Delassus matrix, symmetric positive semi-definite.
    flow : (n,) array_like
        Velocities before: of approach for contacts, of slip for friction.
    restitution : (n,) array_like
        e in [0, 1]; read for contacts only.
    contact : (n,) bool array_like
    lower, upper : (n,) array_like
        0, or infinite where an impulse has no bound on that side.
    by_lower, by_upper : (n, n) array_like
        Bounds of impulses per impulse.

    Returns
    -------
    Impact

    Examples
    --------
    1 kg lands at 2 m/s while it slides at 3 m/s, mu = 0.5, e = 0: it loses 0.5 times 2 m/s

    >>> mu = np.array([[0, 0], [0.5, 0]])
    >>> land = rough_impact(np.eye(2), [2.0, 3.0], [0, 0], [True, False], [0, 0],
    ...                     [np.inf, 0], -mu, mu)
    >>> land.flow.tolist(), land.impulse.tolist()
    ([0.0, 2.0], [2.0, 1.0])
    """
    D = np.array(D, dtype=float)
    now = np.array(flow, dtype=float)
    n = len(now)
    e = np.broadcast_to(np.asarray(restitution, dtype=float), (n,))
    touches = np.asarray(contact, dtype=bool)
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    L, H = np.asarray(by_lower, dtype=float), np.asarray(by_upper, dtype=float)
    stop = np.max(np.abs(now), initial=0.0) * APPROACH
    diagonal = np.diag(D)
    impulse, loss, used, converged = np.zeros(n), 0.0, 1.0, True
    collisions = 0
    while collisions < 20 * n + 20:
        closing = touches & (now > stop) & (diagonal > 0)
        if not closing.any():
            break
        turnover = np.where(closing, now**2 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
        hit = turnover >= turnover.max() * (1 - TIE)
        if not (e[hit & touches] > 0).any():
            break  # nothing rebounds: the last problem does all
        group = np.flatnonzero(hit | ~touches & (
            np.any((L != 0)[:, hit] | (H != 0)[:, hit], axis=1) | ~np.isfinite(high - low)))
        block = np.ix_(group, group)
        bounds = low[group], high[group], L[block], H[block], stop
        collisions += 1
        p, after, factor, good = _collide(D[block], now[group], np.where(hit, e, 0.0)[group],
                                          *bounds)  # fmt: skip
        if not good:
            break
        used = min(used, factor)
        loss += 0.5 * float(p @ (now[group] + after))
        impulse[group] += p
        now = now - D[:, group] @ p
    p, after, _, converged = _collide(D, now, np.zeros(n), low, high, L, H, stop)
    loss += 0.5 * float(p @ (now + after))
    return Impact(impulse + p, after, loss, converged, collisions, used)


def _collide(D: Array, before: Array, e: Array, low: Array, high: Array, L: Array, H: Array,
             noise: float) -> tuple[Array, Array, float, bool]:
    """One problem with restitution, lowered where energy would be gained."""

    def trial(factor: float) -> tuple[Array, Array, float, bool]:
        target = factor * e * np.maximum(before, 0.0)
        found = solve_coupled(D, before + target, low, high, L, H, rate_floor=noise)
        after = found.rate - target
        return found.effort, after, 0.5 * float(found.effort @ (before + after)), found.converged

    p, after, loss, good = trial(1.0)
    slack = ENERGY_GAIN * float(np.abs(p) @ np.abs(before))
    if not good or loss >= -slack:
        return p, after, 1.0, good
    least, most = 0.0, 1.0
    for _ in range(50):
        middle = (least + most) / 2
        if trial(middle)[2] >= 0:
            least = middle
        else:
            most = middle
    p, after, _, good = trial(least)
    return p, after, least, good

