"""One Moreau-Jean step: which efforts act over the step, what flow is left?

The step is taken on velocity level, so modes, impacts and any number of
contacts need no events: gamma+ = gamma_free - h D lambda with gamma+ in the
normal cone of the bounds at lambda. Friction that sticks has gamma+ = 0 at
the end of every step: no drift.

References
----------
Jean, Moreau, Proc. Contact Mechanics Int. Symp., 1992, 31-48.
Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257.
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, ch. 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array
from .scaling import Matrix, MatrixLike
from .solution import Solution
from .solving import solve

__all__ = ["StepSolution", "moreau_step"]

@dataclass(frozen=True)
class StepSolution:
    """Efforts of a step and the flows at its end.

    Attributes
    ----------
    effort : array
        Mean efforts over the step; the start of the next one.
    impulse : array
        h effort, the quantity that stays finite in an impact.
    flow : array
        Flows at the end, exactly 0.0 where an element sticks, and
        -e flow_before where a contact bounces.
    solution : Solution
        Modes, residual, convergence; its rate is flow + e flow_before.
    """

    effort: Array
    impulse: Array
    flow: Array
    solution: Solution

    @property
    def converged(self) -> bool:
        return self.solution.converged


def moreau_step(
    D: MatrixLike,
    flow_free: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    h: float,
    *,
    flow_before: ArrayLike | None = None,
    restitution: ArrayLike = 0.0,
    allowed: ArrayLike = 0.0,
    by_lower: ArrayLike | None = None,
    by_upper: ArrayLike | None = None,
    start: ArrayLike | None = None,
    tol: float = 1e-10,
) -> StepSolution:
    """Solve gamma+ = gamma_free - h D lambda, gamma+ + e gamma- in N_box(lambda).

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
        -d flow/d impulse over the step: the Delassus matrix of the masses, or
        with implicit springs and dampers that of M + theta h C + theta² h² K.
    flow_free : (n,) array_like
        Flows at the end of the step without the set-valued efforts.
    lower, upper : array_like
        Bounds of the efforts (not of impulses); an open contact has both 0.
    h : float
        Length of the step.
    flow_before : (n,) array_like, optional
        Flows at its beginning; needed where restitution is not 0.
    restitution : array_like
        e in [0, 1] per element; acts on flows that approach (positive).
    allowed : array_like
        Approach that is left at the end to contacts that are apart: the gap by the step.
    by_lower, by_upper : (n, n) array_like, optional
        Derivatives of the bounds by the efforts of the step, where they depend on them;
        ``lower`` and ``upper`` are the bounds at no effort then.
    start : (n,) array_like, optional
        Efforts of the previous step.
    tol : float

    Returns
    -------
    StepSolution

    Examples
    --------
    2 kg at 3 m/s slide 0.1 s against a friction of 10 N, then stop:

    >>> moreau_step([[0.5]], [3.0], -10.0, 10.0, 0.1).flow.tolist()
    [2.5]
    >>> stop = moreau_step([[0.5]], [0.3], -10.0, 10.0, 0.1)
    >>> stop.flow.tolist(), stop.effort.round(12).tolist()
    ([0.0], [6.0])
    """
    if not h > 0:
        raise ValueError(f"the step h must be positive (got {h})")
    free = np.array(flow_free, dtype=float).reshape(-1)
    e = np.broadcast_to(np.asarray(restitution, dtype=float), free.shape)
    rebound = -np.broadcast_to(np.asarray(allowed, dtype=float), free.shape)
    if np.any(e != 0):
        if flow_before is None:
            raise ValueError("restitution needs the flows at the beginning of the step")
        rebound = rebound + e * np.maximum(np.asarray(flow_before, dtype=float), 0.0)
    given: Matrix = D
    matrix = h * (given if sp.issparse(given) else np.asarray(given, dtype=float))
    solution = solve(matrix, free + rebound, lower, upper, by_lower, by_upper, start=start,
                     tol=tol, passive=True)  # fmt: skip
    return StepSolution(solution.effort, h * solution.effort, solution.rate - rebound, solution)
