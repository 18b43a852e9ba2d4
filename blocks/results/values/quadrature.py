"""What is the integral of something over time, and how far may that be off?

Gauss quadrature with six nodes on every interval. The same six values give the first six Legendre
coefficients: where the last two have not died away, the interval is halved and looked at again.

References
----------
L. N. Trefethen, "Approximation Theory and Approximation Practice", SIAM, 2013, ch. 8 and 19.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.tolerances import UNRESOLVED

__all__ = ["NODES", "integrals", "rates_at_nodes"]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
#: From values at the nodes to Legendre coefficients.
COEFFICIENTS = (np.polynomial.legendre.legvander(NODES, 5) * WEIGHTS[:, None]
                * (np.arange(6) + 0.5))  # fmt: skip
#: From values at the nodes to derivatives there, of the polynomial through them.
DERIVATIVES = np.polynomial.legendre.legval(NODES, np.polynomial.legendre.legder(COEFFICIENTS.T))
SMOOTH = 1e-3  # to this part of the largest: the integral is then exact to about its cube
MOST_HALVINGS = 10
STAYS = 0.6  # part of a tail that two halvings leave where values are noisy: a kink leaves less


def integrals(values: Callable[[Array], Array], starts: Array, ends: Array,
              negligible: float = UNRESOLVED, least: float = 0.0) -> tuple[Array, Array, Array]:
    """Integrals over intervals, those of the magnitudes, and estimates of the errors, (n,) each,
    summed over the intervals, (k,) in the order of time.

    ``values`` of times (k,) are (n, k) rows. No interval has to know better than a ``negligible``
    part of all that is integrated: values of a run are no smoother than its tolerance. An error of
    ``least`` is none in any interval, where all that is integrated may be rounding.
    """
    total = moved = error = np.zeros(0)
    allowed: Any = None
    before = last = np.full((1, len(starts)), np.inf)  # tails two halvings ago, and one
    for halving in range(MOST_HALVINGS + 1):
        half = (ends - starts) / 2
        at = (starts[:, None] + half[:, None] * (NODES + 1)).ravel()
        found = np.asarray(values(at), dtype=float)
        rows, k = len(found), len(half)
        nodes = found.reshape(rows * k, len(NODES)).T
        means, magnitudes = (np.reshape(WEIGHTS @ n, (rows, k)) for n in (nodes, np.abs(nodes)))
        sizes = np.abs(COEFFICIENTS.T @ nodes)
        tail = (sizes[-2] + sizes[-1]).reshape(rows, k)
        largest = np.maximum.reduce(sizes).reshape(rows, k)
        if allowed is None:
            total, moved, error = np.zeros((3, rows))
            allowed = max(negligible * (magnitudes @ half).sum(), least)
        fine = (tail <= SMOOTH * largest) | (tail * half <= allowed)
        fine = (fine | (tail > STAYS * before)).all(axis=0) | (halving == MOST_HALVINGS)
        known = np.where(fine, half, 0.0)
        total = total + means @ known
        moved = moved + magnitudes @ known
        with np.errstate(divide="ignore", invalid="ignore"):
            missing = np.where(tail > 0, tail * np.minimum(1.0, tail / largest) ** 2, 0.0)
        error = error + missing @ known
        if fine.all():
            break
        before, last = (np.repeat(of[:, ~fine], 2, axis=1) for of in (last, tail))
        middle = starts[~fine] + half[~fine]
        starts, ends = (np.column_stack(pair).ravel() for pair in
                        ((starts[~fine], middle), (middle, ends[~fine])))  # fmt: skip
    return total, moved, error


def rates_at_nodes(rows: Array, at: Array) -> Array:
    """Derivatives of values, (n, k), at the times at which :func:`integrals` asks for values, (k,),
    six of every interval."""
    times = at.reshape(-1, len(NODES))
    half = (times[:, -1] - times[:, 0]) / (NODES[-1] - NODES[0])
    found = rows.reshape(len(rows), -1, len(NODES)) @ DERIVATIVES / half[:, None]
    return found.reshape(len(rows), -1)
