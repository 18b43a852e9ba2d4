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

With :class:`Friction` Coulomb's law holds for the tangential impulses: lower <= P <= upper, with
bounds proportional to the impulses of contacts; friction ends sticking (gamma+ = 0), or slipping
with the bound of the sense in which it slips then. A contact collides together with the friction
that it loads, and all end with one problem without restitution. Newton's restitution with
friction may gain energy (Kane's pendulum): where a collision would, its restitution is lowered
until it does not. Without restitution it never can: the loss is ``P'(after) + P'D P/2`` with
both terms >= 0.

References
----------
Moreau, in Nonsmooth Mechanics and Applications, CISM 302, 1988, 1-82.
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, ch. 8.
Nguyen, Brogliato, Multiple Impacts in Dissipative Granular Chains, 2014.
Smith, Kaufman, Vouga, Tamstorf, Grinspun, ACM Trans. Graph. 31 (2012) 106
(no rule keeps all of energy, symmetry and propagation).
Kane, Levinson, Dynamics: Theory and Applications, 1985 (the paradox).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import APPROACH, ENERGY_GAIN, TIE
from .scaling import Matrix, MatrixLike, as_matrix
from .solving import solve

__all__ = ["Friction", "Impact", "sequential_impact", "simultaneous_impact"]


HALVINGS = 50
"""Most bisections on the way to the restitution that gains no energy."""


@dataclass(frozen=True)
class Impact:
    """Outcome of an impact.

    Attributes
    ----------
    impulse : array
        Non-negative of contacts.
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


@dataclass(frozen=True)
class Friction:
    """Which elements of an impact are contacts, and bounds of the impulses of the others.

    Attributes
    ----------
    contact : bool array
    lower, upper : array
        0, or infinite where an impulse has no bound on that side.
    by_lower, by_upper : (n, n) array
        Bounds of impulses per impulse.
    """

    contact: Flags
    lower: Array
    upper: Array
    by_lower: Array
    by_upper: Array

    def of(self, index: Indices) -> Friction:
        """That of some elements."""
        inner = np.ix_(index, index)
        return Friction(self.contact[index], self.lower[index], self.upper[index],
                        self.by_lower[inner], self.by_upper[inner])

    def loaded_by(self, hit: Indices) -> Indices:
        """These elements, and those whose bounds they move or that have none."""
        loads = np.any((self.by_lower != 0)[:, hit] | (self.by_upper != 0)[:, hit], axis=1)
        mine = ~self.contact & loads | self.endless
        mine[hit] = True
        return np.flatnonzero(mine)

    @property
    def endless(self) -> Flags:
        """What is no contact and holds whatever comes."""
        return ~self.contact & ~np.isfinite(self.upper - self.lower)


def simultaneous_impact(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike,
                        friction: Friction | None = None, *, noise: float = 0.0) -> Impact:
    """Moreau's rule: one complementarity problem for all contacts.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
        Delassus matrix, symmetric positive semi-definite.
    flow : (n,) array_like
        Velocities before: of approach for contacts, of slip for friction.
    restitution : array_like
        e in [0, 1], per contact.
    friction : Friction, optional
        Without it all are contacts.
    noise : float
        Flows that are noise.

    Returns
    -------
    Impact

    Notes
    -----
    Restitution acts on approaching contacts only. A touching contact that
    separates and is driven together by another may then gain energy, and so may friction; if so,
    all e are scaled down (bisection) until the loss is not negative.

    Examples
    --------
    >>> ball = simultaneous_impact([[2.0]], [3.0], 0.5)     # 0.5 kg at 3 m/s
    >>> ball.flow.tolist(), round(float(ball.impulse[0]), 12), round(ball.energy_loss, 12)
    ([-1.5], 2.25, 1.6875)
    """
    matrix, before, e = _read(D, flow, restitution)
    rebound = e * np.maximum(before, 0.0)

    def trial(factor: float) -> Impact:
        target = factor * rebound
        load = before + target
        found = solve(matrix, load, 0.0, np.inf, noise=noise) if friction is None else solve(
            matrix, load, friction.lower, friction.upper, friction.by_lower, friction.by_upper,
            noise=noise)
        p, after = found.effort, found.rate - target
        loss = 0.5 * float(p @ (before + after))
        return Impact(p, after, loss, found.converged, 1, factor)

    full = trial(1.0)
    gains = rebound.any() and full.energy_loss < -_rounding(full, before)
    if not (full.converged and gains):
        return full
    return _without_gain(trial, trial(0.0), full, before)


def _without_gain(trial: Callable[[float], Impact], best: Impact, top: Impact, before: Array
                  ) -> Impact:
    """The impact between two that neither loses nor gains energy; ``top`` gains.

    While no element changes its mode impulses are linear in the restitution, and the loss is a
    parabola: its root is the answer as soon as both ends have the same modes, which bisection
    brings about.
    """
    for turn in range(2 * HALVINGS):
        share = 0.5 if turn % 2 else _share_without_gain(best, top)
        low, high = best.restitution_used, top.restitution_used
        between = trial(low + share * (high - low))
        if abs(between.energy_loss) <= _rounding(between, before):
            return between
        if between.energy_loss > 0:
            best = between
        else:
            top = between
    return best


def _share_without_gain(best: Impact, top: Impact) -> float:
    """Where on the way from one impact to another the loss ends, if impulses are linear on it."""
    bend = 0.5 * float((top.impulse - best.impulse) @ (top.flow - best.flow))
    fall = best.energy_loss + bend - top.energy_loss
    pivot = fall + sqrt(max(fall**2 - 4 * bend * best.energy_loss, 0.0))
    return min(max(2 * best.energy_loss / pivot, 0.0), 1.0) if pivot > 0 else 0.0


def _rounding(impact: Impact, before: Array) -> float:
    """What rounding makes of the energy of an impact."""
    return ENERGY_GAIN * float(np.abs(impact.impulse) @ np.abs(before))


def sequential_impact(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike,
                      friction: Friction | None = None, *, limit: int | None = None) -> Impact:
    """Pairwise propagation: one collision after the other until none approaches.

    Parameters
    ----------
    D, flow, restitution, friction
        As for `simultaneous_impact`.
    limit : int, optional
        Bound on the number of collisions, 1000 + 100 n by default, 20 n + 20 with friction.
        With e < 1 a sequence may be infinite (inelastic collapse); at the bound the rest
        of the approach is removed plastically, all contacts at once.

    Returns
    -------
    Impact

    Notes
    -----
    Order: the contact whose collision turns over most energy,
    gamma_i²/D_ii; contacts within 1e-9 of it collide together, so that a
    symmetric blow has a symmetric answer. Every collision without friction loses
    ½ (1 - e²) gamma_i²/D_ii >= 0. Where no contact has any
    restitution, all that collides is one problem, as of `simultaneous_impact`.

    Examples
    --------
    Newton's cradle, five equal balls, the first one at 1 m/s:

    >>> import numpy as np
    >>> D = 2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    >>> cradle = sequential_impact(D, [1.0, 0, 0, 0], 1.0)
    >>> cradle.flow.tolist(), cradle.impulse.tolist()
    ([0.0, 0.0, 0.0, -1.0], [1.0, 1.0, 1.0, 1.0])

    1 kg lands at 2 m/s while it slides at 3 m/s, mu = 0.5, e = 0: it loses 0.5 times 2 m/s

    >>> mu = np.array([[0, 0], [0.5, 0]])
    >>> rough = Friction(np.array([True, False]), np.zeros(2), np.array([np.inf, 0]), -mu, mu)
    >>> land = sequential_impact(np.eye(2), [2.0, 3.0], 0.0, rough)
    >>> land.flow.tolist(), land.impulse.tolist()
    ([0.0, 2.0], [2.0, 1.0])
    """
    matrix, now, e = _read(D, flow, restitution)
    n = len(now)
    if limit is None:
        limit = 1000 + 100 * n if friction is None else 20 * n + 20
    touches, endless = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    if friction is not None:
        touches, endless = friction.contact, friction.endless
    diagonal = np.asarray(matrix.diagonal(), dtype=float)
    gives = diagonal > 0  # others cannot give way: the last problem says so
    still = APPROACH * float(np.max(np.abs(now), initial=0.0))
    impulse, loss, used, collisions = np.zeros(n), 0.0, 1.0, 0
    if not (e[touches] > 0).any():
        limit = 0  # nothing rebounds: the last problem does all
    while collisions < limit:
        closing = touches & (now > still) & gives
        if not closing.any():
            break
        turnover = np.divide(now**2, diagonal, out=np.zeros(n), where=closing)
        hit = np.flatnonzero(turnover >= turnover.max() * (1 - TIE))
        group = hit if friction is None else friction.loaded_by(hit)
        blow = _blow(matrix, now, np.where(turnover[group] > 0, e[group], 0.0), group,
                     None if friction is None else friction.of(group), still)
        if not blow.converged:
            break
        used = min(used, blow.restitution_used)
        loss += blow.energy_loss
        impulse[group] += blow.impulse
        now = now - sp.dense(matrix[:, group]) @ blow.impulse
        collisions += len(hit) if friction is None else 1
    moves = touches & (now > still) | endless & (np.abs(now) > still)
    if not moves.any():
        return Impact(impulse, now, loss, True, collisions, used)
    if friction is None:
        used = 0.0
    rest = simultaneous_impact(matrix, now, 0.0, friction, noise=still if friction else 0.0)
    return Impact(impulse + rest.impulse, rest.flow, loss + rest.energy_loss, rest.converged,
                  collisions, used)


def _blow(matrix: Matrix, now: Array, e: Array, group: Indices, friction: Friction | None,
          noise: float) -> Impact:
    """The collision of a few contacts."""
    if len(group) > 1:
        return simultaneous_impact(matrix[group][:, group], now[group], e, friction,
                                   noise=0.0 if friction is None else noise)
    i = group[0]
    p = np.array([(1 + e[0]) * now[i] / matrix.diagonal()[i]])
    after = -e[0] * now[i]
    return Impact(p, np.array([after]), 0.5 * float(p[0] * (now[i] + after)), True, 1, 1.0)


def _read(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike) -> tuple[Matrix, Array, Array]:
    before = np.array(flow, dtype=float).reshape(-1)
    e = np.broadcast_to(np.asarray(restitution, dtype=float), before.shape)
    if not np.all((e >= 0) & (e <= 1)):
        wrong = int(np.flatnonzero(~((e >= 0) & (e <= 1)))[0])
        raise ValueError(f"restitution {wrong} must be in 0 .. 1 (got {e[wrong]})")
    return as_matrix(D, len(before)), before, e
