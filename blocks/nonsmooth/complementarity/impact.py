"""What do rigid contacts do when they close? Newton's restitution, two rules.

Flows are approach velocities (positive while closing) and impulses p >= 0
change them by -D p, with D the Delassus matrix of the contacts.

``simultaneous_impact`` (Moreau): all contacts at once,
0 <= p, gamma+ + e gamma- <= 0, complementary. One box problem; what time
stepping converges to. It treats a row of touching balls as one body that is
hit: for Newton's cradle of five with e = 1 it gives (-3/5, 2/5, 2/5, 2/5, 2/5)
of the striking velocity, since contacts that do not approach are given
gamma+ = 0, and touching balls never separate.

``sequential_impact`` (pairwise propagation): collide the strongest approaching
contact alone, go on until nothing approaches. The limit of stiff contacts
that are a little apart; Newton's cradle passes the blow to the last ball.

Neither is "the" truth for bodies in touch (contact stiffness ratios decide);
both conserve momentum, fulfil gamma+ <= 0 and never gain energy.

References
----------
Moreau, in Nonsmooth Mechanics and Applications, CISM 302, 1988, 1-82.
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, ch. 8.
Nguyen, Brogliato, Multiple Impacts in Dissipative Granular Chains, 2014.
Smith, Kaufman, Vouga, Tamstorf, Grinspun, ACM Trans. Graph. 31 (2012) 106
(no rule keeps all of energy, symmetry and propagation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import APPROACH, ENERGY_GAIN, TIE
from .box import solve_box
from .scaling import Matrix, MatrixLike, as_matrix, block

__all__ = ["Impact", "sequential_impact", "simultaneous_impact"]


@dataclass(frozen=True)
class Impact:
    """Outcome of an impact.

    Attributes
    ----------
    impulse : array
        Non-negative, per contact.
    flow : array
        Approach velocities afterwards; none above zero when converged.
    energy_loss : float
        Kinetic energy lost, ½ impulse'(flow before + flow after); >= 0.
    converged : bool
    collisions : int
        Single collisions, or 1 for the simultaneous rule.
    restitution_used : float
        Factor on all e. Below 1 where the full e would have gained energy
        (simultaneous rule, a separating contact hit by another), 0 where
        the sequence was cut at its bound and ended plastically.
    """

    impulse: Array
    flow: Array
    energy_loss: float
    converged: bool
    collisions: int
    restitution_used: float


def simultaneous_impact(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike) -> Impact:
    """Moreau's rule: one complementarity problem for all contacts.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
        Delassus matrix of the contacts, symmetric positive semi-definite.
    flow : (n,) array_like
        Approach velocities before.
    restitution : array_like
        e in [0, 1], per contact.

    Returns
    -------
    Impact

    Notes
    -----
    Restitution acts on approaching contacts only. A touching contact that
    separates and is driven together by another may then gain energy; if so,
    all e are scaled down (bisection) until the loss is not negative.

    Examples
    --------
    >>> ball = simultaneous_impact([[2.0]], [3.0], 0.5)     # 0.5 kg at 3 m/s
    >>> ball.flow.tolist(), round(float(ball.impulse[0]), 12), round(ball.energy_loss, 12)
    ([-1.5], 2.25, 1.6875)
    """
    matrix, before, e = _read(D, flow, restitution)
    full = _simultaneous_impact(matrix, before, e)
    used = 1.0
    slack = ENERGY_GAIN * float(np.abs(full.impulse) @ np.abs(before))
    if full.converged and full.energy_loss < -slack:
        used, top = 0.0, 1.0
        full = _simultaneous_impact(matrix, before, 0.0 * e)
        for _ in range(40):
            middle = (used + top) / 2
            trial = _simultaneous_impact(matrix, before, middle * e)
            if trial.energy_loss >= 0:
                used, full = middle, trial
            else:
                top = middle
    return Impact(full.impulse, full.flow, full.energy_loss, full.converged, 1, used)


def sequential_impact(
    D: MatrixLike, flow: ArrayLike, restitution: ArrayLike, *, limit: int | None = None
) -> Impact:
    """Pairwise propagation: one collision after the other until none approaches.

    Parameters
    ----------
    D, flow, restitution
        As for `simultaneous_impact`.
    limit : int, optional
        Bound on the number of collisions, 1000 + 100 n by default. With e < 1
        a sequence may be infinite (inelastic collapse); at the bound the rest
        of the approach is removed plastically, all contacts at once.

    Returns
    -------
    Impact

    Notes
    -----
    Order: the contact whose collision turns over most energy,
    gamma_i²/D_ii; contacts within 1e-9 of it collide together, so that a
    symmetric blow has a symmetric answer. Every collision loses
    ½ (1 - e²) gamma_i²/D_ii >= 0.

    Examples
    --------
    Newton's cradle, five equal balls, the first one at 1 m/s:

    >>> import numpy as np
    >>> D = 2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    >>> cradle = sequential_impact(D, [1.0, 0, 0, 0], 1.0)
    >>> cradle.flow.tolist(), cradle.impulse.tolist()
    ([0.0, 0.0, 0.0, -1.0], [1.0, 1.0, 1.0, 1.0])
    """
    matrix, before, e = _read(D, flow, restitution)
    n = len(before)
    limit = 1000 + 100 * n if limit is None else limit
    diagonal = np.asarray(matrix.diagonal(), dtype=float)
    now = before.copy()
    impulse = np.zeros(n)
    loss = 0.0
    still = APPROACH * float(np.max(np.abs(before), initial=0.0))
    weight = np.divide(1.0, diagonal, out=np.full(n, np.inf), where=diagonal > 0)
    collisions = 0
    while collisions < limit:
        closing = now > still
        if not closing.any():
            return Impact(impulse, now, loss, True, collisions, 1.0)
        if np.any(closing & (diagonal <= 0)):
            return Impact(impulse, now, loss, False, collisions, 1.0)  # nothing can give way
        turnover = np.where(closing, now, 0.0) ** 2 * np.where(closing, weight, 0.0)
        hit = np.flatnonzero(turnover >= turnover.max() * (1 - TIE))
        if len(hit) == 1:
            i = hit[0]
            p = np.array([(1 + e[i]) * now[i] / diagonal[i]])
        else:
            tied = simultaneous_impact(block(matrix, hit, hit), now[hit], e[hit])
            p = tied.impulse
            if not tied.converged:
                break
        after = now - _columns(matrix, hit) @ p
        loss += 0.5 * float(p @ (now[hit] + after[hit]))
        impulse[hit] += p
        now = after
        collisions += len(hit)
    rest = simultaneous_impact(matrix, now, 0.0)
    return Impact(
        impulse + rest.impulse, rest.flow, loss + rest.energy_loss, rest.converged, collisions, 0.0
    )


def _read(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike) -> tuple[Any, Array, Array]:
    before = np.array(flow, dtype=float).reshape(-1)
    e = np.broadcast_to(np.asarray(restitution, dtype=float), before.shape)
    if not np.all((e >= 0) & (e <= 1)):
        wrong = int(np.flatnonzero(~((e >= 0) & (e <= 1)))[0])
        raise ValueError(f"restitution {wrong} must be in 0 .. 1 (got {e[wrong]})")
    return as_matrix(D, len(before)), before, e


def _columns(matrix: Matrix, index: Indices) -> NDArray[Any]:
    part = matrix[:, index]
    return part.toarray() if sp.issparse(part) else part


def _simultaneous_impact(matrix: Matrix, before: Array, e: Array) -> Impact:
    target = e * np.maximum(before, 0.0)
    solution = solve_box(matrix, before + target, 0.0, np.inf)
    p = solution.effort
    after = solution.rate - target
    loss = 0.5 * float(p @ (before + after))
    return Impact(p, after, loss, solution.converged, 1, 1.0)
