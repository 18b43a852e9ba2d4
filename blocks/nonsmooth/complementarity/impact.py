"""What do rigid contacts do when they close? Newton's restitution, one collision after the other.

Flows are approach velocities (positive while closing) and impulses p >= 0
change them by -D p, with D the Delassus matrix of the contacts.

The strongest approaching contact collides alone, then the next one, until nothing approaches
(pairwise propagation). That is the limit of stiff contacts that are a little apart; Newton's cradle
passes the blow to the last ball. It is not "the" truth for bodies in touch (contact stiffness
ratios decide), but it conserves momentum, fulfils gamma+ <= 0 and never gains energy.

With :class:`Friction` Coulomb's law holds for the tangential impulses: lower <= P <= upper, with
bounds proportional to the impulses of contacts; friction ends sticking (gamma+ = 0), or slipping
with the bound of the sense in which it slips then. A contact collides together with the friction
that it loads, and all end with one problem without restitution. Newton's restitution with
friction may gain energy (Kane's pendulum): where a collision would, its restitution is lowered
until it does not. Without restitution it never can: the loss is ``P'(after) + P'D P/2`` with
both terms >= 0.

References
----------
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, ch. 8.
Nguyen, Brogliato, Multiple Impacts in Dissipative Granular Chains, 2014.
Smith, Kaufman, Vouga, Tamstorf, Grinspun, ACM Trans. Graph. 31 (2012) 106
(no rule keeps all of energy, symmetry and propagation).
Kane, Levinson, Dynamics: Theory and Applications, 1985 (the paradox).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...machine.functions import machine_code
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Cube, Flags, Indices, Matrix, Vector
from ...numerics.tolerances import AT_BOUND, FLOW_NONE, ROUNDING
from .decide import ENUMERATED, FOUND, NONE, count_answers, decide
from .problem import Problem, at_efforts, connect, pose, problem_of
from .scaling import MatrixLike, as_matrix
from .sparse_lu import Factors, analyse, factors_of

__all__ = ["FULL", "ROUNDS", "Collision", "Friction", "Impact", "collide", "collision_of",
           "sequential_impact"]  # fmt: skip

FULL = 1e9  # of the impulses, as forces: those of an impact are large beside all others
ROUNDS = 25  # for impulses that depend on each other
HALVINGS = 50
"""Most bisections on the way to the restitution that gains no energy."""
EXACT = 1e-10  # of the largest flow
#: What is known of elements, and their impulses: rows.
SPEED, RESTITUTION, TOUCHES, LOWER, UPPER, PUSH = range(6)
#: What is found for the elements of a group, now and between which restitution is sought: rows.
IMPULSE, AFTER, LESS, AFTER_LESS, MORE, AFTER_MORE, REBOUND = range(7)
#: What is told of an impact: the least factor on e, and of the present problem its loss and factor.
USED, LOSS, FACTOR = range(3)


@dataclass(frozen=True)
class Impact:
    """Outcome of an impact."""

    impulse: Array  # non-negative of contacts
    flow: Array  # approach velocities afterwards; none above zero when converged
    converged: bool
    # factor on all e. Below 1 where the full e would have gained energy (friction, or a separating
    # contact hit by another), 0 where the sequence was cut at its bound and ended plastically.
    restitution_used: float


@dataclass(frozen=True)
class Friction:
    """Which elements of an impact are contacts, and bounds of the impulses of the others."""

    contact: Flags
    lower: Array  # lower, upper: 0, or infinite where an impulse has no bound on that side
    upper: Array
    by_lower: Array  # by_lower, by_upper: (n, n) bounds of impulses per impulse
    by_upper: Array


class Collision(NamedTuple):
    """Elements that may take part in an impact, as :func:`collide` takes them; and how it goes."""

    D: Matrix  # (n, n) change of flows by impulses, with its sign turned
    # (2 or more, n, n) bounds of impulses below and above, per impulse; empty of contacts alone
    by: Cube
    # (6 or more, n) SPEED before and, once it is over, after; RESTITUTION; 1 for what TOUCHES, 0
    # for what is no contact; LOWER and UPPER bounds of impulses, 0 or infinite; PUSH: impulses
    rows: Matrix
    group: Indices  # group, first: (n,) room: who collides; (n + 1,) whole numbers from 0 on
    first: Indices
    found: Matrix  # (7, n) room
    told: Vector  # (3,)


def collision_of(D: Matrix, by: Cube, rows: Matrix) -> tuple[Problem, Factors, Collision]:
    """Room for an impact of elements that stand in arrays."""
    n = len(D)
    return problem_of(n, n * n), factors_of(n, n * n), Collision(
        D, by, rows, np.zeros(n, dtype=np.int64), np.arange(n + 1), np.zeros((7, n)), np.zeros(3))


def sequential_impact(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike,
                      friction: Friction | None = None, *, limit: int | None = None) -> Impact:
    """Pairwise propagation: one collision after the other until none approaches.

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
    restitution, all that collides is one problem.

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
    problem, factors, all_ = _read(D, flow, restitution, friction)
    n = len(all_.group)
    converged = collide(problem, factors, all_, n, -1 if limit is None else limit)
    return Impact(all_.rows[PUSH], all_.rows[SPEED], converged, float(all_.told[USED]))


def _read(D: MatrixLike, flow: ArrayLike, restitution: ArrayLike, friction: Friction | None
          ) -> tuple[Problem, Factors, Collision]:
    before = np.array(flow, dtype=float).reshape(-1)
    e = np.broadcast_to(np.asarray(restitution, dtype=float), before.shape)
    if not np.all((e >= 0) & (e <= 1)):
        wrong = int(np.flatnonzero(~((e >= 0) & (e <= 1)))[0])
        raise ValueError(f"restitution {wrong} must be in 0 .. 1 (got {e[wrong]})")
    rows = np.array([before, e, np.ones_like(before), 0 * before, np.full_like(before, np.inf),
                     0 * before])
    by = np.zeros((2, 0, 0))
    if friction is not None:
        rows[TOUCHES:PUSH] = friction.contact, friction.lower, friction.upper
        by = np.array([friction.by_lower, friction.by_upper], dtype=float, order="C")
    dense = np.array(sp.dense(as_matrix(D, len(before))), dtype=float, order="C")
    return collision_of(dense, by, rows)


@machine_code
def collide(problem: Problem, factors: Factors, all_: Collision, n: int, limit: int) -> bool:
    """One collision after the other, as :func:`sequential_impact` has them; whether it ends.

    PUSH and SPEED afterwards are found, and what is told of it. A ``limit`` below zero is the
    usual one.
    """
    D, rows, told, index = all_.D, all_.rows, all_.told, all_.group
    fastest, rebounds, collisions, loads = 0.0, False, 0, all_.by.size > 0
    rows[PUSH, :n] = 0.0
    for i in range(n):
        fastest = max(fastest, abs(rows[SPEED, i]))
        rebounds |= rows[TOUCHES, i] != 0.0 and rows[RESTITUTION, i] > 0.0
    still, ends = FLOW_NONE * fastest, True
    noise = still if loads else 0.0
    if limit < 0:
        limit = 20 * n + 20 if loads else 1000 + 100 * n
    told[USED] = 1.0
    while rebounds and collisions < limit:  # else the last problem does all
        most = 0.0
        for i in range(n):
            if _closes(all_, i, still):
                most = max(most, rows[SPEED, i] * rows[SPEED, i] / D[i, i])
        if most == 0.0:
            break
        hit, m, least = 0, 0, most * (1 - AT_BOUND)
        for i in range(n):
            strikes = _strikes(all_, i, still, least)
            hit += 1 if strikes else 0
            if strikes or rows[TOUCHES, i] == 0.0 and (
                    _is_endless(all_, i) or _is_loaded(all_, i, still, least, n)):
                index[m] = i
                m += 1
        if not _strike(problem, factors, all_, m, noise):
            break
        told[USED] = min(told[USED], told[FACTOR])
        _take(all_, m, n)
        collisions += 1 if loads else hit
    moves = False
    for i in range(n):
        index[i] = i
        moves |= rows[TOUCHES, i] != 0.0 and rows[SPEED, i] > still or _is_endless(
            all_, i) and abs(rows[SPEED, i]) > still
    if moves:
        if not loads:
            told[USED] = 0.0
        all_.found[REBOUND, :n] = 0.0
        ends = _solve(problem, factors, all_, n, 1.0, noise)
        _take(all_, n, n)
    return ends


@machine_code
def _closes(all_: Collision, i: int, still: float) -> bool:
    """Whether a contact closes; one that cannot give way is left to the last problem."""
    return all_.rows[TOUCHES, i] != 0.0 and all_.rows[SPEED, i] > still and all_.D[i, i] > 0.0


@machine_code
def _strikes(all_: Collision, i: int, still: float, least: float) -> bool:
    """Whether a contact that closes turns over so much energy."""
    flow = all_.rows[SPEED, i]
    return _closes(all_, i, still) and flow * flow >= least * all_.D[i, i]


@machine_code
def _is_endless(all_: Collision, i: int) -> bool:
    """Whether it is no contact and holds whatever comes."""
    return all_.rows[TOUCHES, i] == 0.0 and not (
        abs(all_.rows[LOWER, i]) < np.inf and abs(all_.rows[UPPER, i]) < np.inf)


@machine_code
def _is_loaded(all_: Collision, i: int, still: float, least: float, n: int) -> bool:
    """Whether a contact that strikes moves the bounds of an element."""
    for j in range(n if all_.by.size > 0 else 0):
        if (all_.by[0, i, j] != 0.0 or all_.by[1, i, j] != 0.0) and _strikes(all_, j, still, least):
            return True
    return False


@machine_code
def _take(all_: Collision, m: int, n: int) -> None:
    """Add what a group of elements has come to."""
    for a in range(m):
        j, p = all_.group[a], all_.found[IMPULSE, a]
        all_.rows[PUSH, j] += p
        for i in range(n):
            all_.rows[SPEED, i] -= all_.D[i, j] * p


@machine_code
def _strike(problem: Problem, factors: Factors, all_: Collision, m: int, noise: float) -> bool:
    """The collision of a group: with full restitution, or as much as gains no energy."""
    found, told, rebounds = all_.found, all_.told, False
    for a in range(m):
        i = all_.group[a]
        found[REBOUND, a] = all_.rows[RESTITUTION, i] * max(all_.rows[SPEED, i], 0.0)
        rebounds |= found[REBOUND, a] > 0.0
    if not _solve(problem, factors, all_, m, 1.0, noise):
        return False
    if not (rebounds and told[LOSS] < -_rounding(all_, m)):
        return True
    return _without_gain(problem, factors, all_, m, noise)


@machine_code
def _without_gain(problem: Problem, factors: Factors, all_: Collision, m: int, noise: float
                  ) -> bool:
    """The impact between two that neither loses nor gains energy; the present one gains.

    While no element changes its mode impulses are linear in the restitution, and the loss is a
    parabola: its root is the answer as soon as both ends have the same modes, which bisection
    brings about.
    """
    found, told = all_.found, all_.told
    top, gain = 1.0, told[LOSS]
    found[MORE, :m], found[AFTER_MORE, :m] = found[IMPULSE, :m], found[AFTER, :m]
    ends = _solve(problem, factors, all_, m, 0.0, noise)
    best, loss = 0.0, told[LOSS]
    found[LESS, :m], found[AFTER_LESS, :m] = found[IMPULSE, :m], found[AFTER, :m]
    for turn in range(2 * HALVINGS):
        share = 0.5
        if turn % 2 == 0:  # where the loss ends, if impulses are linear on the way
            bend = 0.0
            for a in range(m):
                bend += 0.5 * (found[MORE, a] - found[LESS, a]) * (
                    found[AFTER_MORE, a] - found[AFTER_LESS, a])
            fall = loss + bend - gain
            pivot = fall + sqrt(max(fall * fall - 4 * bend * loss, 0.0))
            share = min(max(2 * loss / pivot, 0.0), 1.0) if pivot > 0 else 0.0
        ends = _solve(problem, factors, all_, m, best + share * (top - best), noise)
        if abs(told[LOSS]) <= _rounding(all_, m):
            return ends
        if told[LOSS] > 0:
            best, loss = told[FACTOR], told[LOSS]
            found[LESS, :m], found[AFTER_LESS, :m] = found[IMPULSE, :m], found[AFTER, :m]
        else:
            top, gain = told[FACTOR], told[LOSS]
            found[MORE, :m], found[AFTER_MORE, :m] = found[IMPULSE, :m], found[AFTER, :m]
    return _solve(problem, factors, all_, m, best, noise)


@machine_code
def _rounding(all_: Collision, m: int) -> float:
    """What rounding makes of the energy of an impact."""
    energy = 0.0
    for a in range(m):
        energy += abs(all_.found[IMPULSE, a] * all_.rows[SPEED, all_.group[a]])
    return ROUNDING * energy


@machine_code
def _solve(problem: Problem, factors: Factors, all_: Collision, m: int, factor: float,
           noise: float) -> bool:
    """Impulses of a group and flows after them, with a share of its restitution; whether they are
    found."""
    D, by, rows, index, found, q = all_.D, all_.by, all_.rows, all_.group, all_.found, 0
    for a in range(m):
        i = index[a]
        problem.starts[a], problem.b[a] = q, rows[SPEED, i] + factor * found[REBOUND, a]
        for c in range(m):
            problem.columns[q], problem.D[q] = c, D[i, index[c]]
            problem.L[q] = problem.H[q] = 0.0
            if by.size > 0:
                problem.L[q], problem.H[q] = by[0, i, index[c]], by[1, i, index[c]]
            q += 1
    problem.starts[m], q = q, 0
    pose(problem, m)
    for a in range(m):
        i, unit = index[a], problem.unit[a]
        problem.low[a], problem.high[a] = rows[LOWER, i] / unit, rows[UPPER, i] / unit
        problem.new[a], problem.floor[a] = 0.0, unit * noise
        for c in range(m):
            problem.L[q] *= problem.unit[c] / unit
            problem.H[q] *= problem.unit[c] / unit
            q += 1
    connect(problem, m)
    if problem.systems[1] != m and not analyse(
            factors, problem.starts, problem.columns, all_.first, m):
        return False
    ends = decide(problem, factors, EXACT, m, True) == FOUND or m <= ENUMERATED and count_answers(
        problem, factors, EXACT, m) != NONE
    at_efforts(problem, problem.x, m)
    loss = 0.0
    for a in range(m):
        i, p = index[a], problem.x[a] * problem.unit[a]
        target, rate = factor * found[REBOUND, a], problem.rate[a] / problem.unit[a]
        if abs(problem.rate[a]) <= EXACT * problem.top[problem.group[a]] + problem.floor[a]:
            rate = 0.0
        if rows[TOUCHES, i] != 0.0:
            p = max(p, 0.0) if rate == 0.0 else 0.0
        found[IMPULSE, a] = p
        found[AFTER, a] = rate - target
        loss += 0.5 * found[IMPULSE, a] * (rows[SPEED, i] + found[AFTER, a])
    all_.told[LOSS], all_.told[FACTOR] = loss, factor
    return ends
