"""What holds the elements that rest, where that lasts as long as modes do?

K of :mod:`blocks.nonsmooth.modes.kept_factors`, by which efforts follow from rates, is made anew
here, island by island, as modes change; and rates or flows are taken away by it.
"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.shares import EFFORT as SHARED_EFFORT
from ..nonsmooth.complementarity.shares import ENDS, LOOSE
from ..nonsmooth.complementarity.shares import HIGH as SHARED_HIGH
from ..nonsmooth.complementarity.shares import LOW as SHARED_LOW
from ..nonsmooth.complementarity.shares import RATE as SHARED_RATE
from ..numerics.arrays import Vector
from ..numerics.tolerances import AT_BOUND, SAFE_PIVOT
from .set_valued_elements import EFFORT, HIGH, LOW, NOBODY, RATE, SetValuedElements
from .steps import Code, Workspace

__all__ = ["keep_factors", "share_load", "solve_kept"]


@machine_code
def keep_factors(code: Code, work: Workspace, elements: SetValuedElements, x: Vector) -> bool:
    """Make the numbers of islands whose modes have changed anew; whether their D is regular."""
    starts, members, modes, known = elements.starts, elements.parted, elements.modes, elements.known
    made = True
    for island in range(starts.size - 1):
        changed = False
        for k in range(starts[island], starts[island + 1]):
            changed |= modes[members[k]] != known[members[k]]
        if not changed:
            continue
        if elements.columns[island + 1] > elements.columns[island]:
            if made:
                run_code(elements.factors, work.at, x, code.p, code.q, elements.made)
                made = False
            elements.k[elements.k.size - elements.made.size:] = elements.made
        elif elements.shared[island]:
            if share_load(elements, island, AT_BOUND, False) < 0:
                return False
            elements.fresh[island] = 1
        elif not _invert(elements, island):
            return False
    known[:] = modes
    return True


@machine_code
def solve_kept(elements: SetValuedElements, island: int, y: Vector) -> None:
    """Put D_SS^-1 times a column, of the members of an island, in its place."""
    size, first = elements.starts[island + 1] - elements.starts[island], elements.first[island]
    k, right = elements.k, elements.column
    start, count = elements.columns[island], elements.columns[island + 1] - elements.columns[island]
    if count == 0:
        right[:size] = y[:size]
        for a in range(size):
            value = 0.0
            for b in range(size):
                value += k[first + a * size + b] * right[b]
            y[a] = value
        return
    starts, rows, places = elements.upper_starts, elements.upper_rows, elements.column_of
    upper, pivots = first - starts[start], first + starts[start + count] - starts[start]
    for c in range(count):
        a = places[start + c]
        right[c] = 0.0
        if a != NOBODY:
            right[c] = y[a]
        for j in range(starts[start + c], starts[start + c + 1]):
            right[c] -= k[upper + j] * right[rows[j]]
    for c in range(count):
        right[c] *= k[pivots + c]
    for c in range(count - 1, -1, -1):
        for j in range(starts[start + c], starts[start + c + 1]):
            right[rows[j]] -= k[upper + j] * right[c]
        if places[start + c] != NOBODY:
            y[places[start + c]] = right[c]


@machine_code
def _invert(elements: SetValuedElements, island: int) -> bool:
    """K = D_SS^-1 of the members S that stick, and 0 elsewhere; whether pivots are positive."""
    start, size = elements.starts[island], elements.starts[island + 1] - elements.starts[island]
    members, d, stuck, k = elements.parted, elements.d, elements.stuck, elements.k
    first, count = elements.first[island], 0
    for a in range(size):
        e = members[start + a]
        if elements.modes[e] == 0.0 and elements.moves[e]:
            stuck[count] = a
            count += 1
    k[first : first + size * size] = 0.0
    for a in range(count):
        row = first + stuck[a] * size
        for b in range(count):
            k[row + stuck[b]] = d[members[start + stuck[a]], members[start + stuck[b]]]
    for a in range(count):
        row, e = first + stuck[a] * size, members[start + stuck[a]]
        pivot = k[row + stuck[a]]
        if not pivot > SAFE_PIVOT * d[e, e]:
            return False
        k[row + stuck[a]] = 1.0
        for c in range(size):
            k[row + c] /= pivot
        for b in range(count):
            other = first + stuck[b] * size
            factor = k[other + stuck[a]]
            if b != a and factor != 0.0:
                k[other + stuck[a]] = 0.0
                for c in range(size):
                    k[other + c] -= factor * k[row + c]
    return True


@machine_code
def share_load(elements: SetValuedElements, island: int, near: float, loaded: bool) -> int:
    """Make K of an island whose elements share what they hold; how many of them are about to move,
    which are ``loose``, or -1.

    ``near``, of the largest effort, is what is at a bound; ``loaded``: whether loads are those of
    the last look, which was in these modes; else there are none.
    """
    start, size = elements.starts[island], elements.starts[island + 1] - elements.starts[island]
    rows, k, count, loose = elements.portions, elements.first[island], 0, 0
    members, stuck, found = elements.parted, elements.stuck, elements.found
    elements.k[k : k + size * size] = 0.0
    for a in range(size):
        e = members[start + a]
        elements.k[elements.ends_at[e]] = 0.0
        elements.loose[e] = 0
        if elements.modes[e] == 0.0 and elements.moves[e]:
            stuck[count] = a
            count += 1
    if count == 0:
        return 0
    for a in range(count):
        e = members[start + stuck[a]]
        rows[SHARED_RATE, a] = found[RATE, e] if loaded else 0.0
        rows[SHARED_LOW, a], rows[SHARED_HIGH, a] = found[LOW, e], found[HIGH, e]
        rows[SHARED_EFFORT, a] = 0.0
        for b in range(count):
            j = members[start + stuck[b]]
            elements.of_portions[a, b] = elements.d[e, j]
            if loaded:
                rows[SHARED_RATE, a] += elements.d[e, j] * found[EFFORT, j]
    elements.near[0], elements.portioned[elements.portioned_count] = near, count
    run_code(elements.shares, elements.portioned)
    if elements.told[0] == 0:
        return -1
    for a in range(count):
        e = members[start + stuck[a]]
        elements.k[elements.ends_at[e]] = rows[ENDS, a]
        if rows[LOOSE, a] != 0.0:
            elements.loose[e] = 1
            loose += 1
        for b in range(count):
            elements.k[k + stuck[a] * size + stuck[b]] = elements.by_rates[a, b]
    return loose
