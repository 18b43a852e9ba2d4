"""Efforts and flows of elements of mixed causality: some take their effort, others their flow.

Between what elements take and what they give the network is affine, ``given = offset + matrix
taken``; each law asks that the flow is in the normal cone of the bounds of the effort. It is the
problem of :func:`.solving.solve` for efforts that are taken, and for flows: one of a diode lies on
one side of zero and its effort is complementary to it; one of a friction is free, with the effort
as a further unknown.

References
----------
Acary, Bonnefon, Brogliato, Nonsmooth Modeling and Simulation for Switched Circuits, 2011.
Camlibel, Heemels, Schumacher, IEEE Trans. Circuits Syst. I 49(3), 2002 (passive networks).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.arrays import Array, Flags
from .solving import solve

__all__ = ["Mixed", "solve_mixed"]


@dataclass(frozen=True)
class Mixed:
    """Efforts and flows, exactly 0.0 where the law makes them so, and whether they were found."""

    effort: Array
    flow: Array
    converged: bool


def solve_mixed(matrix: Array, offset: Array, gives_flow: Flags, low: Array, high: Array) -> Mixed:
    """Solve the laws of all elements together.

    ``matrix`` and ``offset`` are what the elements give by what they take, and without it;
    ``gives_flow``: which of them take the effort from the network and give the flow; ``low`` and
    ``high`` are bounds of the efforts, which may be endless.

    Examples
    --------
    A diode between 1 V and a resistor of 2 ohm, ``v == 1 - 2 i``, and one the other way round:

    >>> found = solve_mixed(np.diag([-2.0, -2.0]), np.array([1.0, -1.0]),
    ...                     np.array([False, False]), np.zeros(2), np.full(2, np.inf))
    >>> found.effort.tolist(), found.flow.tolist()
    ([0.5, 0.0], [0.0, -1.0])
    """
    n = len(offset)
    valve = gives_flow & (np.isfinite(low) != np.isfinite(high))
    above = np.isfinite(low)  # of a valve: its flow is not positive
    sense = np.where(valve & above, -1.0, 1.0)  # flow = sense * unknown
    base = np.where(valve, np.where(above, low, high), 0.0)
    free = np.flatnonzero(gives_flow & ~valve)  # flows, with their efforts as further unknowns
    further = n + np.arange(len(free))
    D, b = np.zeros((n + len(free),) * 2), np.zeros(n + len(free))
    D[:n, :n], b[:n] = -sense[:, None] * matrix * sense, sense * (offset - base)
    D[free, further], D[further, free] = 1.0, -1.0
    lower = np.where(valve, 0.0, np.where(gives_flow, -np.inf, low))
    upper = np.where(gives_flow, np.inf, high)
    found = solve(D, b, np.append(lower, low[free]), np.append(upper, high[free]))
    x, rate = found.effort[:n], found.rate
    x = np.where(found.grazing[:n] & (lower == 0.0), 0.0, x)
    effort = np.where(gives_flow, base + sense * rate[:n], x)
    flow = np.where(gives_flow, sense * x, rate[:n])
    effort[free] = found.effort[further]
    flow[free] = np.where(found.state[further] == 0, 0.0, x[free])
    return Mixed(effort, flow, found.converged)
