"""How fast do massless nodes move between dry frictions?

A node without mass has no acceleration to decide; its force balance is an
equation among efforts and its velocity is free. Both follow from one convex
problem on velocity level::

    minimise over v   sum_i S_i(w_i'v + c_i) + ½ v'Cv - g'v
    S_i(x) = max(lower_i x, upper_i x)      (F_i |x| for dry friction)

whose efforts balance, W'lambda + C v = g, and lie in the normal cone:
lambda_i = upper_i where the flow w_i'v + c_i > 0, and so on.

Two frictions in series: the weaker slides, the node goes with the stronger.
Where both are equally strong the velocity of the node is not determined (the
dissipation is); of all answers the one with the smallest sum of squared flows
is taken, i.e. the slip is shared. (A rule on v itself would depend on the
frame of reference.)

References
----------
Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898 (proximal points).
Mangasarian, Meyer, SIAM J. Control Optim. 17 (1979) 745-752: a small
quadratic term picks the least-norm solution of a linear program exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import (
    BOUND_BAND,
    BOUND_ROUNDING,
    DAMPED,
    LEAST_NORM,
    PSEUDO_INVERSE,
    RANK,
    SLIPPING,
    TIGHT_ROW,
    TINY,
)
from .scaling import as_bounds
from .solving import solve

__all__ = ["NodeVelocity", "solve_velocity"]

SHARES = 1e-7, 1e-9, 1e-11, 1e-13
"""Weights of the quadratic term that decides between equal answers, tried in turn."""


@dataclass(frozen=True)
class NodeVelocity:
    """Velocities of massless nodes and the efforts that balance there.

    Attributes
    ----------
    velocity : (m,) array
    flow : (n,) array
        W velocity + c; exactly 0.0 where an element sticks.
    effort : (n,) array
    unique : bool
        False where other velocities give the same efforts and dissipation.
    converged : bool
        False where no velocity balances the nodes: a node is pulled harder
        than all its frictions and dampers can hold.
    residual : float
        Worst error of balance and of the laws, relative to the largest term.
    imbalance : (m,) array
        g - W'effort - C velocity.
    """

    velocity: Array
    flow: Array
    effort: Array
    unique: bool
    converged: bool
    residual: float
    imbalance: Array


def solve_velocity(
    W: ArrayLike,
    c: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    damping: ArrayLike | None = None,
    force: ArrayLike | None = None,
    tol: float = 1e-10,
    judge: bool = True,
    shares: tuple[float, ...] = SHARES,
) -> NodeVelocity:
    """Solve the velocity problem of massless nodes; small and dense.

    Parameters
    ----------
    W : (n, m) array_like
        Flows of the n elements per velocity of the m nodes.
    c : (n,) array_like
        Flows with the nodes at rest (moving ends).
    lower, upper : array_like
        Finite bounds of the efforts.
    damping : (m, m) array_like, optional
        Symmetric positive semi-definite C; zero by default.
    force : (m,) array_like, optional
        Other forces g on the nodes; zero by default.
    tol : float
    shares : tuple of float
        Weights to try; larger ones where resistances differ by many powers of ten.
    judge : bool
        Whether to say if other velocities do as well; else ``unique`` is False.

    Returns
    -------
    NodeVelocity

    Examples
    --------
    Frictions of 1 N and 2 N in series between ends at 1 m/s and at rest:

    >>> node = solve_velocity([[-1], [1]], [1, 0], [-1, -2], [1, 2])
    >>> node.velocity.tolist(), node.effort.tolist(), node.unique
    ([0.0], [1.0, 1.0], True)
    """
    W = np.atleast_2d(np.array(W, dtype=float))
    n, m = W.shape
    c = np.array(c, dtype=float).reshape(n)
    low, high = as_bounds(lower, upper, n)
    if not (np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        raise ValueError("efforts at massless nodes need finite bounds")
    C = np.zeros((m, m)) if damping is None else np.array(damping, dtype=float).reshape(m, m)
    g = np.zeros(m) if force is None else np.array(force, dtype=float).reshape(m)

    force_size = max(
        np.max(np.abs(g), initial=0.0), np.max(np.abs(np.concatenate([low, high])), initial=0.0)
    )
    speed = np.max(np.abs(c), initial=0.0)
    best: NodeVelocity | None = None
    unit = _stiffness(C, W, force_size, speed)
    for share in shares:
        trial = _regularised(W, c, low, high, C, g, share * unit, tol, judge)
        if best is None or trial.residual < best.residual:
            best = trial
        if trial.converged:
            break
    assert best is not None
    return best


def _stiffness(C: Array, W: Array, force: float, speed: float) -> float:
    """Resistance (effort per flow) that the problem itself sets."""
    own = force / speed if speed > 0 else 1.0
    damper = float(np.max(np.abs(C), initial=0.0)) / max(float(np.max(W**2, initial=0.0)), TINY)
    return max(min(own, damper) if damper > 0 else own, TINY)


def _regularised(
    W: Array, c: Array, low: Array, high: Array, C: Array, g: Array, share: float, tol: float,
    judge: bool,
) -> NodeVelocity:
    """Dual box problem with share/2 |Wv + c|² added, then the exact active set."""
    inverse = np.linalg.pinv(C + share * W.T @ W, rcond=PSEUDO_INVERSE, hermitian=True)
    h = g - share * W.T @ c
    dual = W @ inverse @ W.T
    dual = (dual + dual.T) / 2
    # Refined about the efforts found: the first loads are flows that a small
    # share multiplied, and modes are told from flows of ordinary size.
    held = np.clip(np.zeros(len(c)), low, high)
    for _ in range(3):
        down, up = low - held, high - held
        box = solve(dual, c + W @ (inverse @ (h - W.T @ held)), down, up)
        top, bottom = box.effort >= up, box.effort <= down
        held = np.where(top, high, np.where(bottom, low, np.clip(held + box.effort, low, high)))
    # Elements of fixed effort slide; they decide nothing.
    known = (box.state != 0) | box.fixed
    rest = np.flatnonzero(~known)
    push = g - W[known].T @ held[known]
    velocity, gap = _balance(W, c, C, push, rest)
    effort = held.copy()
    # Any share of the resting elements that balances, near the dual answer.
    short = g - W.T @ held - C @ velocity
    effort[rest] += np.linalg.lstsq(W[rest].T, short, rcond=LEAST_NORM)[0]
    effort = np.clip(effort, low, high)
    flow = W @ velocity + c
    pace = max(_top(np.abs(W) @ np.abs(velocity), c), TINY)
    flow[rest] = np.where(gap <= 1e-2 * tol * pace, 0.0, flow[rest])

    imbalance = g - W.T @ effort - C @ velocity
    # Rounding of the bounds is no error, even where all efforts are near zero.
    weight = _top(g, W.T * effort, np.abs(C) @ np.abs(velocity))
    weight = weight + BOUND_ROUNDING / tol * _top(low, high)
    weight = max(weight, TINY)
    law = np.abs(effort - np.clip(effort + flow * (weight / pace), low, high))
    residual = max(_top(imbalance), _top(law)) / weight
    return NodeVelocity(
        velocity,
        flow,
        effort,
        judge and _unique(W, C, flow, effort, low, high),
        bool(residual <= tol),
        float(residual),
        imbalance,
    )


def _balance(
    W: Array, c: Array, C: Array, push: Array, rest: Indices
) -> tuple[Array, Array]:
    """Velocity with no flow at rest, balance elsewhere, least sum of squared flows.

    Returns it with the flows that the elements at rest could not avoid.
    """
    velocity = np.linalg.lstsq(W[rest], -c[rest], rcond=LEAST_NORM)[0]
    gap = np.abs(W[rest] @ velocity + c[rest])
    free = _kernel(W[rest])
    values, vectors = np.linalg.eigh(free.T @ C @ free)
    firm = values > DAMPED * max(_top(C), TINY)
    damped, loose = free @ vectors[:, firm], free @ vectors[:, ~firm]
    velocity = velocity + damped @ ((damped.T @ (push - C @ velocity)) / values[firm])
    # Directions in which no element slips (|W d| ~ 0) must not be amplified.
    left, slip, right = np.linalg.svd(W @ loose, full_matrices=False)
    real = slip > SLIPPING * max(_top(W), TINY)
    turn = (left[:, real].T @ (W @ velocity + c)) / slip[real]
    return velocity - loose @ (right[real].T @ turn), gap


def _unique(W: Array, C: Array, flow: Array, effort: Array, low: Array, high: Array) -> bool:
    """Whether no direction d leaves the convex objective unchanged.

    Those directions are a cone: C d = 0; for elements at rest w'd = 0, or of
    one sign where the effort already is at that bound.
    """
    from scipy.optimize import linprog  # takes long to load, and is seldom needed

    rest = flow == 0
    slack = BOUND_BAND * np.maximum(high - low, TINY)
    top, bottom = rest & (effort >= high - slack), rest & (effort <= low + slack)
    strict = rest & ~top & ~bottom
    basis = _kernel(np.vstack([_unit(C), _unit(W[strict])]))
    if basis.shape[1] == 0:
        return True
    # w'd >= 0 at the upper bound, <= 0 at the lower, free at both (no force at all).
    ahead, back = W[top & ~bottom] @ basis, W[bottom & ~top] @ basis
    one_sided = np.vstack([-ahead, back])
    if not len(one_sided):
        return False
    for k in range(basis.shape[1]):
        for sign in (1.0, -1.0):
            cost = np.zeros(basis.shape[1])
            cost[k] = sign
            best = linprog(cost, one_sided, np.zeros(len(one_sided)), bounds=(-1, 1))
            if best.x is not None and best.fun < -TIGHT_ROW:
                return False
    return True


def _unit(A: Array) -> Array:
    top = np.max(np.abs(A), initial=0.0)
    return A / top if top > 0 else A


def _kernel(A: Array) -> Array:
    _, values, right = np.linalg.svd(A)
    return right[int(np.sum(values > RANK)) :].T


def _top(*arrays: Array) -> float:
    return max(float(np.max(np.abs(a), initial=0.0)) for a in arrays)
