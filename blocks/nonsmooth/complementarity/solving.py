"""Which set-valued elements stick, which move, and with what effort? One problem, one solver.

Knows matrices, vectors and bounds only. Everything set-valued ends here: dry friction,
unilateral contacts, ideal diodes and one-way clutches, on acceleration level (at events), on
velocity level (time stepping) and for impulses. With efforts ``lambda`` within
``low = lower + L lambda`` and ``high = upper + H lambda``, and flow rates
``rate = b - D lambda``::

    lambda_i = high_i            =>  rate_i >= 0      (starts to move forward)
    low_i < lambda_i < high_i    =>  rate_i  = 0      (sticks, stays closed)
    lambda_i = low_i             =>  rate_i <= 0      (starts to move backward, opens)

Signs: lambda is carried from R to C and flow = R minus C, so friction that slides forward has
lambda = +F. A unilateral contact has lambda in [0, inf) and a flow that is positive while it
*approaches*; rate < 0 opens it.

References
----------
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from .affine_bounds import within_affine
from .box import within_box
from .scaling import MatrixLike
from .solution import Solution

__all__ = ["solve"]


def solve(
    D: MatrixLike,
    b: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    by_lower: MatrixLike | None = None,
    by_upper: MatrixLike | None = None,
    *,
    known: ArrayLike | None = None,
    start: ArrayLike | None = None,
    tol: float = 1e-10,
    noise: ArrayLike = 0.0,
) -> Solution:
    """Find efforts within bounds whose rates b - D effort lie in the bounds' normal cone.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
        Delassus matrix -d rate/d effort. Symmetric positive semi-definite in
        passive networks, any rank; not symmetric where a controlled source or
        a normal force depends on an effort.
    b : (n,) array_like
        Rates without the efforts.
    lower, upper : array_like
        Bounds at no effort; may be infinite, and equal where an element slides and its
        effort is known.
    by_lower, by_upper : (n, n) array_like or scipy.sparse, optional
        Derivatives of the bounds by the efforts (mu N); both or none.
    known : (n,) bool array_like, optional
        Elements that slide: their effort is their lower bound, whatever their rate. For bounds
        that depend on efforts; constant ones are equal then.
    start : (n,) array_like, optional
        Efforts of an earlier solution; only guides the search, and where efforts are not
        determined says which are near.
    tol : float
        Bound of the scaled natural residual.
    noise : array_like
        Rates that are noise of the caller's evaluation, per element. Decides
        whether an element across a rigid or prescribed path (D_ii = 0) rests.

    Returns
    -------
    Solution
        ``status`` NOT_UNIQUE or NO_SOLUTION names Painlevé's paradox.

    Notes
    -----
    From the quickest to the surest, part by part of what acts on each other:

    ====================  ================================================================
    one element           closed form
    constant bounds       active set; proximal Newton; pivoting
    affine bounds         active set; Lemke's path; all combinations where in doubt
    ====================  ================================================================

    Examples
    --------
    Two frictions of 1 N and 3 N side by side hold a load of 3.5 N on 1 kg:

    >>> held = solve([[1, 1], [1, 1]], [3.5, 3.5], [-1, -3], [1, 3])
    >>> [float(r) for r in held.rate], float(held.effort.sum())
    ([0.0, 0.0], 3.5)
    >>> moved = solve([[1, 1], [1, 1]], [4.5, 4.5], [-1, -3], [1, 3])
    >>> [float(r) for r in moved.rate], [float(f) for f in moved.effort]
    ([0.5, 0.5], [1.0, 3.0])

    A contact pressed with 10 N and its friction, mu = 0.5, pulled with 4 N, then 6 N:

    >>> mu = np.array([[0, 0], [0.5, 0]])
    >>> none, endless = [0, 0], [np.inf, 0]
    >>> held = solve(np.eye(2), [10, 4], none, endless, -mu, mu)
    >>> held.effort.tolist(), held.state.tolist()
    ([10.0, 4.0], [0, 0])
    >>> moved = solve(np.eye(2), [10, 6], none, endless, -mu, mu)
    >>> moved.effort.tolist(), moved.state.tolist(), moved.rate.tolist()
    ([10.0, 5.0], [0, 1], [0.0, 1.0])
    """
    if by_lower is None or by_upper is None:
        return within_box(D, b, lower, upper, start=start, tol=tol, noise=noise)
    return within_affine(D, b, lower, upper, by_lower, by_upper, known=known, start=start, tol=tol,
                         noise=noise)
