"""Which states of a cluster are integrated, and which follow from the constraints?

References
----------
Mattsson, Olsson and Elmqvist, Dynamic selection of states in Dymola, Modelica Workshop 2000.
Goreinov et al., How to find a good submatrix, in: Matrix Methods, World Scientific 2010, 247-256.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.sparse_solves import factored
from .evaluator import Arguments
from .system import System

__all__ = ["tied_states"]

PREFERRED = 4.0  # times the weight of other states, where a run begins
WORTH = 2.0  # times the determinant: for less no state is exchanged


def tied_states(system: System, arguments: Arguments, scale_x: Array, present: Indices,
                given_up: Indices, preferred: Flags) -> Indices:
    """The states that constraints determine best at a point, ascending; the others are integrated.

    The velocity-level constraints' Jacobian is factored with column pivoting: the states with
    the largest pivots are tied (solved for); levels below follow the same choice. From then on
    states are exchanged one by one, where that is worth it. Of those that are worth it the
    ``preferred`` ones are integrated first, which users have given initial targets, and last those
    that have been ``given_up`` so often before: the angle of a crank that turns round stays good.
    """
    tied: list[int] = []
    offset = system.nz
    states = system.tape.reduced.states
    jacobian = system.residual_x.sparse(*arguments)
    of_dimension, _ = system.of_dimension  # nominal values may know little of speeds
    largest = np.zeros(of_dimension.max(initial=0) + 1)
    np.maximum.at(largest, of_dimension, np.maximum(scale_x, np.abs(arguments[1])))
    size = largest[of_dimension]
    rank = given_up - preferred
    at = {int(c): i for i, c in enumerate(states)}
    for cluster in system.clusters:
        allowed: Indices | None = None
        for equations, classes in cluster.levels:
            if allowed is not None:
                classes = classes[np.isin(classes, allowed)]
            columns = np.array([at[int(c)] for c in classes])
            rows = np.arange(offset, offset + len(equations))
            offset += len(equations)
            block = jacobian[rows][:, columns].toarray() * size[columns]
            chosen = columns[_pivots(block, np.flatnonzero(np.isin(columns, present)),
                                     rank[columns])]
            tied += chosen.tolist()
            allowed = system.flat.antiderivatives(states[chosen])
    return np.array(sorted(tied), dtype=int)


def _pivots(block: Array, present: Indices, rank: Indices) -> Indices:
    """Pivot columns; the present ones while no other would gain much in the place of one."""
    from scipy.linalg import qr

    n, columns = block.shape
    if columns == n:
        return np.arange(n)
    if len(present) == n and (found := _exchanged(block, present, rank)) is not None:
        return found
    weight = np.where(rank < 0, PREFERRED, 1.0)
    best: Indices = qr(block / weight, mode="r", pivoting=True)[1][:n]
    return best


def _exchanged(block: Array, chosen: Indices, rank: Indices) -> Indices | None:
    """Columns after exchanges that gain much each; None from where the chosen ones depend.

    An entry of the others' coordinates is what the determinant becomes larger by. Those of the
    least ``rank`` leave first.
    """
    from scipy.sparse import csc_matrix

    chosen, every = chosen.copy(), np.arange(block.shape[1])
    for _ in every:
        others = np.setdiff1d(every, chosen)
        try:
            gains = np.abs(factored(csc_matrix(block[:, chosen]))(block[:, others]))
        except RuntimeError:
            return None
        into = int(np.argmax(gains.max(axis=0)))
        gain = gains[:, into]
        if not gain.max() > WORTH:
            return chosen if np.isfinite(gains).all() else None
        worth = np.flatnonzero(gain > WORTH)
        out = min(worth, key=lambda k: (rank[chosen[k]], -gain[k]))
        chosen[out] = others[into]
    return None
