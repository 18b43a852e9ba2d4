"""Which states of a cluster are integrated, and which follow from the constraints?

References
----------
Mattsson, Olsson and Elmqvist, Dynamic selection of states in Dymola, Modelica Workshop 2000.
Goreinov et al., How to find a good submatrix, in: Matrix Methods, World Scientific 2010, 247-256.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Array, Flags, Indices, Matrix, Vector
from .evaluator import Arguments
from .system import System

__all__ = ["exchange", "tied_states"]

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
    chosen, tied = np.zeros(n, dtype=np.int64), np.zeros(columns)
    tied[present] = 1.0
    if len(present) == n and np.isfinite(block).all() and exchange(
            block.copy(), tied, rank.astype(np.int64), chosen):
        return chosen
    weight = np.where(rank < 0, PREFERRED, 1.0)
    best: Indices = qr(block / weight, mode="r", pivoting=True)[1][:n]
    return best


@machine_code
def exchange(matrix: Matrix, tied: Vector, rank: Indices, chosen: Indices) -> bool:
    """Exchange columns while that is worth it; False where the chosen ones depend.

    Those are chosen first that are ``tied``, 1 where a column is; ``chosen`` is filled with the
    column by row, and the matrix with coordinates by these. Entries of the others are what the
    determinant gains. Those of the least ``rank`` leave first.
    """
    n, m = matrix.shape[0], matrix.shape[1]
    for i in range(n):
        chosen[i] = -1
    for j in range(m):
        if tied[j] > 0.0:
            best, most = -1, 0.0
            for i in range(n):
                if chosen[i] < 0 and abs(matrix[i, j]) > most:
                    best, most = i, abs(matrix[i, j])
            if best < 0:
                return False
            _eliminate(matrix, best, j)
            chosen[best] = j
    for _ in range(m):
        into, out, most = -1, -1, WORTH
        for j in range(m):
            for k in range(n):
                if abs(matrix[k, j]) > most:
                    into, most = j, abs(matrix[k, j])
        if into < 0:
            return True
        for k in range(n):
            gain = abs(matrix[k, into])
            if gain > WORTH and (out < 0 or rank[chosen[k]] < rank[chosen[out]] or (
                    rank[chosen[k]] == rank[chosen[out]] and gain > abs(matrix[out, into]))):
                out = k
        _eliminate(matrix, out, into)
        chosen[out] = into
    return False


def _eliminate(matrix: Matrix, row: int, column: int) -> None:
    """Make a column that of the unit matrix with 1 in a row."""
    pivot = matrix[row, column]
    for j in range(matrix.shape[1]):
        matrix[row, j] /= pivot
    for i in range(matrix.shape[0]):
        factor = matrix[i, column]
        for j in range(matrix.shape[1]):
            if i != row:
                matrix[i, j] -= factor * matrix[row, j]
