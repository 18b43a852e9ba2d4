"""Sparse linear equations of an implicit method, compiled.

The matrix is a number on the diagonal less the Jacobian. Unknowns are eliminated in an order of
least degree, those with the same neighbours together, each group of them in a small full matrix,
its front, to which what is left of earlier fronts is added [I. S. Duff and J. K. Reid, "The
Multifrontal Solution of Indefinite Sparse Symmetric Linear Equations", ACM Trans. Math. Softw. 9
(1983) 302-325]. All inner loops run over neighbouring numbers. Patterns are taken as symmetric and
pivots stay on the diagonal, which short steps make large; where a step is too long for that, its
error says so. Where all unknowns stand in a chain, no fronts are needed.
"""

from __future__ import annotations

from ..machine.functions import machine_code, vector_code
from ..machine.signatures import CFunction, indices_at, multiply_add, vector_at
from ..numerics.arrays import Indices, Vector
from .front_lists import (
    AT,
    BEHIND,
    BEHIND_STARTS,
    BORDERED,
    CHILD_STARTS,
    CHILDREN,
    COLUMN_ROWS,
    ENTRIES,
    ENTRIES_OF,
    ENTRY_PLACES,
    ENTRY_STARTS,
    FACTORIZE,
    FACTORS_AT,
    FIRST,
    FRONT,
    FRONTS,
    HEAD,
    IN_PARENT,
    LEFT,
    LEFT_AT,
    NUMBERS,
    SIZE,
    SOLVE,
    UNKNOWNS,
)

__all__ = ["factorize_code", "factorize_fronts", "lists_with", "solve_code", "solve_fronts"]

#: The lists, entries or nothing, a number on the diagonal; factors, vectors: called by address.
factorize_code = CFunction("i32", "ptr", "ptr", "double", "ptr")
solve_code = CFunction("i32", "ptr", "ptr", "ptr")


def lists_with(lists: Indices, size: int) -> Indices:
    """Return the lists for vectors of ``size`` numbers, of which nothing acts on the last ones."""
    out = lists.copy()
    codes = (factorize_fronts, solve_fronts) if lists[FRONTS] else (factorize_chain, solve_chain)
    if lists[FRONTS] == BORDERED:
        from .bordered import factorize_bordered, solve_bordered

        codes = factorize_bordered, solve_bordered
    out[SIZE], out[FACTORIZE], out[SOLVE] = size, *(code.callback for code in codes)
    return out


@machine_code
def factorize_chain(of: int, entries: int, diagonal: float, of_factors: int) -> int:
    """Triangular factors where each unknown acts on its neighbours alone.

    What stands above the diagonal is divided by it, too, so that solutions wait for one product.
    """
    lists = indices_at(of, HEAD)
    lists = indices_at(of, lists[COLUMN_ROWS])
    values, numbers = vector_at(entries, lists[ENTRIES]), vector_at(of_factors, lists[NUMBERS])
    numbers[lists[NUMBERS] - 1] = 1.0 / diagonal
    places, factor, above = lists[lists[ENTRIES_OF]:], 0.0, 0.0
    for j in range(lists[UNKNOWNS]):
        pivot, below, beside = diagonal, 0.0, 0.0
        if places[3 * j] >= 0:
            pivot -= values[places[3 * j]]
        if places[3 * j + 1] >= 0:
            below = -values[places[3 * j + 1]]
        if places[3 * j + 2] >= 0:
            beside = -values[places[3 * j + 2]]
        inverse = 1.0 / multiply_add(-factor, above, pivot)
        factor, above = below * inverse, beside
        numbers[3 * j], numbers[3 * j + 1], numbers[3 * j + 2] = inverse, factor, above * inverse
    return 0


@machine_code
def solve_chain(of: int, of_factors: int, of_b: int) -> int:
    """The solution takes the place of the right side."""
    lists = indices_at(of, HEAD)
    lists = indices_at(of, lists[COLUMN_ROWS])
    numbers = vector_at(of_factors, lists[NUMBERS])
    n, at, value, factor = lists[UNKNOWNS], lists[lists[AT]:], 0.0, 0.0
    b, room = vector_at(of_b, lists[SIZE]), numbers[lists[NUMBERS] - 1 - n :]
    for j in range(n):
        value = multiply_add(-factor, value, b[at[j]])
        room[j] = value * numbers[3 * j]
        factor = numbers[3 * j + 1]
    value = 0.0
    for j in range(n - 1, -1, -1):
        value = multiply_add(-numbers[3 * j + 2], value, room[j])
        b[at[j]] = value
    for i in range(n, lists[SIZE]):
        b[i] *= numbers[lists[NUMBERS] - 1]
    return 0


@vector_code
def factorize_fronts(of: int, entries: int, diagonal: float, of_factors: int) -> int:
    """Triangular factors of a number on the diagonal less the matrix of these entries."""
    lists = indices_at(of, HEAD)
    lists = indices_at(of, lists[COLUMN_ROWS])
    values, numbers = vector_at(entries, lists[ENTRIES]), vector_at(of_factors, lists[NUMBERS])
    numbers[lists[NUMBERS] - 1] = 1.0 / diagonal
    first, behind_starts = lists[lists[FIRST]:], lists[lists[BEHIND_STARTS]:]
    factors_at, left_at = lists[lists[FACTORS_AT]:], lists[lists[LEFT_AT]:]
    front, left = numbers[lists[FRONT]:], numbers[lists[LEFT]:]
    for s in range(lists[FRONTS]):
        pivots = first[s + 1] - first[s]
        behind = behind_starts[s + 1] - behind_starts[s]
        _assemble(lists, values, diagonal, front, left, s, pivots, pivots + behind)
        factors = numbers[factors_at[s]:]
        _eliminate(front, factors, pivots, behind)
        _update(front, factors, left[left_at[s]:], pivots, behind)
    return 0


@machine_code
def _assemble(lists: Indices, values: Vector, diagonal: float, front: Vector, left: Vector, s: int,
              pivots: int, size: int) -> None:
    """A front: its entries of the matrix, and what is left of the fronts that lead to it."""
    starts, entries = lists[lists[ENTRY_STARTS]:], lists[lists[ENTRIES_OF]:]
    places, behind_starts = lists[lists[ENTRY_PLACES]:], lists[lists[BEHIND_STARTS]:]
    child_starts, children = lists[lists[CHILD_STARTS]:], lists[lists[CHILDREN]:]
    in_parent, left_at = lists[lists[IN_PARENT]:], lists[lists[LEFT_AT]:]
    front[: size * size] = 0.0
    for k in range(pivots):
        front[k * size + k] = diagonal
    for q in range(starts[s], starts[s + 1]):
        front[places[q]] -= values[entries[q]]
    for q in range(child_starts[s], child_starts[s + 1]):
        child = children[q]
        begin = behind_starts[child]
        count = behind_starts[child + 1] - begin
        for a in range(count):
            row = in_parent[begin + a] * size
            source = left_at[child] + a * count
            for b in range(count):
                front[row + in_parent[begin + b]] += left[source + b]


@machine_code
def _eliminate(front: Vector, factors: Vector, pivots: int, behind: int) -> None:
    """The factors of a front: among pivots, whose reciprocals are kept; rows to the right of
    these; and, column by column, what is below."""
    size, right = pivots + behind, pivots * pivots
    below = right + pivots * behind
    for k in range(pivots):
        for c in range(pivots):
            factors[k * pivots + c] = front[k * size + c]
        for c in range(behind):
            factors[right + k * behind + c] = front[k * size + pivots + c]
    for r in range(behind):
        for k in range(pivots):
            factors[below + k * behind + r] = front[(pivots + r) * size + k]
    for k in range(pivots):
        inverse = 1.0 / factors[k * pivots + k]
        factors[k * pivots + k] = inverse
        for r in range(k + 1, pivots):
            factor = factors[r * pivots + k] * inverse
            factors[r * pivots + k] = factor
            for c in range(k + 1, pivots):
                factors[r * pivots + c] -= factor * factors[k * pivots + c]
    for k in range(pivots):
        for j in range(k):
            left, upper = factors[k * pivots + j], factors[j * pivots + k]
            for c in range(behind):
                factors[right + k * behind + c] -= left * factors[right + j * behind + c]
            for r in range(behind):
                factors[below + k * behind + r] -= upper * factors[below + j * behind + r]
        inverse = factors[k * pivots + k]
        for r in range(behind):
            factors[below + k * behind + r] *= inverse


@machine_code
def _update(front: Vector, factors: Vector, left: Vector, pivots: int, behind: int) -> None:
    """What is left of a front without its pivots."""
    size, right = pivots + behind, pivots * pivots
    below = right + pivots * behind
    for r in range(behind):
        for c in range(behind):
            left[r * behind + c] = front[(pivots + r) * size + pivots + c]
        for k in range(pivots):
            a = factors[below + k * behind + r]
            for c in range(behind):
                left[r * behind + c] -= a * factors[right + k * behind + c]


@vector_code
def solve_fronts(of: int, of_factors: int, of_b: int) -> int:
    """The solution takes the place of the right side."""
    lists = indices_at(of, HEAD)
    lists = indices_at(of, lists[COLUMN_ROWS])
    numbers = vector_at(of_factors, lists[NUMBERS])
    n, fronts, at, rows = lists[UNKNOWNS], lists[FRONTS], lists[lists[AT]:], lists[lists[BEHIND]:]
    b, room = vector_at(of_b, lists[SIZE]), numbers[lists[NUMBERS] - 1 - n :]
    first, behind_starts = lists[lists[FIRST]:], lists[lists[BEHIND_STARTS]:]
    factors_at, near = lists[lists[FACTORS_AT]:], numbers[lists[FRONT]:]
    for i in range(n):
        room[i] = b[at[i]]
    for s in range(fronts):
        pivots, begin = first[s + 1] - first[s], behind_starts[s]
        behind = behind_starts[s + 1] - begin
        factors = numbers[factors_at[s]:]
        below = pivots * (pivots + behind)
        near[:behind] = 0.0
        for k in range(pivots):
            value = room[first[s] + k]
            for j in range(k + 1, pivots):
                room[first[s] + j] -= factors[j * pivots + k] * value
            for r in range(behind):
                near[r] += factors[below + k * behind + r] * value
        for r in range(behind):
            room[rows[begin + r]] -= near[r]
    for s in range(fronts - 1, -1, -1):
        pivots, begin = first[s + 1] - first[s], behind_starts[s]
        behind = behind_starts[s + 1] - begin
        factors = numbers[factors_at[s]:]
        for r in range(behind):
            near[r] = room[rows[begin + r]]
        for k in range(pivots - 1, -1, -1):
            value = room[first[s] + k] - _product(
                factors[pivots * pivots + k * behind:], near, behind)
            for j in range(k + 1, pivots):
                value -= factors[k * pivots + j] * room[first[s] + j]
            room[first[s] + k] = value * factors[k * pivots + k]
    for i in range(n):
        b[at[i]] = room[i]
    for i in range(n, lists[SIZE]):
        b[i] *= numbers[lists[NUMBERS] - 1]
    return 0


@machine_code
def _product(a: Vector, b: Vector, count: int) -> float:
    """The sum of products."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total
