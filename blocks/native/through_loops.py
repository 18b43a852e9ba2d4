"""How do equations follow what elements take, through the unknowns of algebraic loops?

By the implicit function theorem at one point: where these are solved for, they move so that their
residuals stay. Second derivatives of loops are left out, as
:mod:`blocks.nonsmooth.modes.loop_unknowns` does.
"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Matrix
from .lu import factorize, solve

__all__ = ["eliminate_loops", "follow_loops"]


@machine_code
def eliminate_loops(network: NetworkModes, by: Matrix) -> bool:
    """Let rows follow what their first columns are of, through unknowns, which the last ones are
    of; False where these are not determined.

    The last rows are residuals, and become how unknowns follow.
    """
    loops, side, order = network.by_loops, network.loop_side, network.loop_order
    size = loops.shape[0]
    rows, count = by.shape[0] - size, by.shape[1] - size
    for k in range(size):
        side[0, k] = 1.0
        for i in range(size):
            loops[k, i] = by[rows + k, count + i]
    if size > 0 and not abs(factorize(loops, side[0], order)) > 0.0:
        return False
    for j in range(count if size > 0 else 0):
        for k in range(size):
            side[1, k] = -by[rows + k, j]
        solve(loops, order, side[1], side[2])
        for k in range(size):
            by[rows + k, j] = side[1, k]
            for i in range(rows):
                by[i, j] += by[i, count + k] * side[1, k]
    return True


@machine_code
def follow_loops(network: NetworkModes) -> bool:
    """Let equations, their rates, and slopes follow what elements take through unknowns of loops;
    whether that is told.

    ``by_taken`` has rows of equations, of rates, of slopes and of residuals, and columns of what is
    taken, of states and of unknowns.
    """
    by, n, states = network.by_taken, network.modes.size, network.scale.size
    rates, slopes = 3 * n, 6 * n
    if not eliminate_loops(network, by):
        return False
    for k in range(network.by_loops.shape[0]):
        for j in range(n):  # how the rate of an unknown follows
            rate = 0.0
            for i in range(states):
                rate += by[slopes + states + k, n + i] * by[slopes + i, j]
            for i in range(rates):
                by[rates + i, j] += by[i, n + states + k] * rate
    return True
