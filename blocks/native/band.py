"""Linear equations of an implicit method whose matrix is a band, compiled.

Unknowns stand in an order that makes the band narrow. Columns stand one after the other, with room
above for what an exchange of rows fills in [E. Anderson et al., "LAPACK Users' Guide", 3rd ed.,
sec. 5.3.3].
"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..machine.signatures import multiply_add
from ..numerics.arrays import Vector
from ..numerics.tolerances import DIAGONAL_PIVOT
from .differences import begin_at, change_of, evaluate, move_along, stand_at
from .stages import ATOL
from .steps import Code, Workspace

__all__ = ["derive_band", "factorize_band", "solve_band"]

FILLED = 2  # entry of ``band`` of a workspace: diagonals above after exchanges of rows, or
OF_THREE = -1  # that there are three in all, and those above are divided by the diagonal


@machine_code
def derive_band(code: Code, work: Workspace, t: float, x: Vector, slope: Vector,
                straight: bool) -> None:
    """The derivatives of the slopes by unknowns, near ``slope`` = f(t, x)."""
    n, linear, order, upper, lower = (
        x.size, work.linear, work.unknowns, work.band[0], work.band[1])
    begin_at(code, work, t, x)
    for first in range(min(upper + lower + 1, n)):
        stand_at(code, work, x, straight)
        for j in range(first, n, upper + lower + 1):
            move_along(code, work, x, straight, order[j])
        evaluate(code, work, t, x, straight)
        for j in range(first, n, upper + lower + 1):
            for row in range(max(0, j - upper), min(n, j + lower + 1)):
                linear[j, row - j + upper] = change_of(code, work, x, slope, straight, order[row],
                                                       order[j])


@machine_code
def factorize_band(work: Workspace, diagonal: float) -> None:
    """Triangular factors of a number on the diagonal less the derivatives.

    Pivots are kept as their reciprocals; a diagonal entry that is no tenth of its column, in units
    of the equations, is exchanged for the largest one.
    """
    factors, linear, pivots, order = work.factors, work.linear, work.order, work.unknowns
    n, upper, lower = order.size, work.band[0], work.band[1]
    unit, top = work.k[ATOL], upper + lower
    if upper == 1 and lower == 1 and _factorize_three(work, diagonal):
        work.band[FILLED] = OF_THREE
        return
    for j in range(n):
        factors[j, :lower] = 0.0
        for k in range(top + 1):
            factors[j, lower + k] = -linear[j, k]
        factors[j, top] += diagonal
    last, exchanged = 0, False  # column that the rows so far reach
    for j in range(n):
        below = min(lower, n - 1 - j)
        best, largest = 0, abs(factors[j, top]) / (unit[order[j]] * DIAGONAL_PIVOT)
        for k in range(1, below + 1):
            size = abs(factors[j, top + k]) / unit[order[j + k]]
            if size > largest:
                best, largest = k, size
        pivots[j] = best
        exchanged |= best > 0
        last = max(last, min(j + upper + best, n - 1))
        if best > 0:
            for c in range(j, last + 1):
                kept = factors[c, top + best + j - c]
                factors[c, top + best + j - c] = factors[c, top + j - c]
                factors[c, top + j - c] = kept
        inverse = 1.0 / factors[j, top]
        factors[j, top] = inverse
        for k in range(1, below + 1):
            factors[j, top + k] *= inverse
        for c in range(j + 1, last + 1):
            above = factors[c, top + j - c]
            if above != 0.0:
                for k in range(1, below + 1):
                    factors[c, top + k + j - c] -= factors[j, top + k] * above
    work.band[FILLED] = top if exchanged else upper


@machine_code
def _factorize_three(work: Workspace, diagonal: float) -> bool:
    """Factorize a matrix of three diagonals; False where rows have to be exchanged.

    What stands above the diagonal is divided by it, too, so that solutions wait for one product.
    """
    factors, linear, order, unit = work.factors, work.linear, work.unknowns, work.k[ATOL]
    n, factor, above = order.size, 0.0, 0.0
    for j in range(n):
        pivot = multiply_add(-factor, above, diagonal - linear[j, 1])
        if j + 1 < n:
            below = -linear[j, 2]
            if abs(below) * unit[order[j]] * DIAGONAL_PIVOT > abs(pivot) * unit[order[j + 1]]:
                return False
            above = -linear[j + 1, 0]
        inverse = 1.0 / pivot
        factors[j, 2] = inverse
        if j + 1 < n:
            factor = below * inverse
            factors[j, 3] = factor
            factors[j + 1, 1] = above * inverse
    return True


@machine_code
def solve_band(work: Workspace, b: Vector, room: Vector) -> None:
    """The solution takes the place of the right side ``b``."""
    factors, pivots, order = work.factors, work.order, work.unknowns
    n, top, lower, filled = order.size, work.band[0] + work.band[1], work.band[1], work.band[FILLED]
    if filled == OF_THREE:
        _solve_three(work, b, room)
        return
    for j in range(n):
        room[j] = b[order[j]]
    for j in range(n):
        if pivots[j] > 0:
            kept = room[j]
            room[j] = room[j + pivots[j]]
            room[j + pivots[j]] = kept
        for k in range(1, min(lower, n - 1 - j) + 1):
            room[j + k] -= factors[j, top + k] * room[j]
    for j in range(n - 1, -1, -1):
        room[j] = room[j] * factors[j, top]
        for k in range(1, min(filled, j) + 1):
            room[j - k] -= factors[j, top - k] * room[j]
    for j in range(n):
        b[order[j]] = room[j]


@machine_code
def _solve_three(work: Workspace, b: Vector, room: Vector) -> None:
    """Solve with three diagonals, whose rows are not exchanged; the solution replaces ``b``."""
    factors, order = work.factors, work.unknowns
    n, value, factor = order.size, 0.0, 0.0
    for j in range(n):
        value = multiply_add(-factor, value, b[order[j]])
        room[j] = value * factors[j, 2]
        factor = factors[j, 3]
    value, factor = 0.0, 0.0
    for j in range(n - 1, -1, -1):
        value = multiply_add(-factor, value, room[j])
        b[order[j]] = value
        factor = factors[j, 1]
