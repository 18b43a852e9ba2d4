"""Which states of a cluster are integrated, and which follow from the constraints?

References
----------
Mattsson, Olsson and Elmqvist, Dynamic selection of states in Dymola, Modelica Workshop 2000.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Indices
from .evaluator import Arguments
from .system import System

__all__ = ["tied_states"]

KEEPS = 0.5  # of the best determinant: the present choice is not given up for less


def tied_states(system: System, arguments: Arguments, scale_x: Array, present: Indices) -> Indices:
    """The states that constraints determine best at a point, ascending; the others are integrated.

    The velocity-level constraints' Jacobian is factored with column pivoting: the states with
    the largest pivots are tied (solved for); levels below follow the same choice.
    """
    tied: list[int] = []
    offset = system.nz
    states = system.tape.reduced.states
    jacobian = system.residual_x.sparse(*arguments)
    at = {int(c): i for i, c in enumerate(states)}
    for cluster in system.clusters:
        allowed: Indices | None = None
        for equations, classes in cluster.levels:
            if allowed is not None:
                classes = classes[np.isin(classes, allowed)]
            columns = np.array([at[int(c)] for c in classes])
            rows = np.arange(offset, offset + len(equations))
            offset += len(equations)
            block = jacobian[rows][:, columns].toarray() * scale_x[columns]
            chosen = columns[_pivots(block, np.flatnonzero(np.isin(columns, present)))]
            tied += chosen.tolist()
            allowed = system.flat.antiderivatives(states[chosen])
    return np.array(sorted(tied), dtype=int)


def _pivots(block: Array, present: Indices) -> Indices:
    """Pivot columns; the present ones while they are not much worse."""
    from scipy.linalg import qr

    n = block.shape[0]
    r, order = qr(block, mode="r", pivoting=True)
    if len(present) == n:
        mine = abs(np.linalg.det(block[:, present]))
        if mine > KEEPS * abs(np.prod(np.diag(r)[:n])):
            return present
    best: Indices = order[:n]
    return best
