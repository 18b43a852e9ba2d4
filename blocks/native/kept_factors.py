"""What holds the elements that rest, where that lasts as long as modes do?

K of :mod:`blocks.nonsmooth.modes.kept_factors`, by which efforts follow from rates, is made anew
here, island by island, as modes change; and rates or flows are taken away by it.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.islands_at_rest import END, GIVEN, OWN, PRESS, WEIGHT, give_rows
from ..nonsmooth.complementarity.problem import weigh_ranges
from ..numerics.arrays import Vector
from ..numerics.tolerances import SAFE_PIVOT
from .lu import factorize, solve
from .set_valued_elements import HIGH, LOW, SetValuedElements
from .steps import Code, Workspace

__all__ = ["invert_shared", "keep_factors", "solve_kept", "weigh"]


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
            if not divide_freely(elements, island):
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
        right[c] = y[places[start + c]]
        for j in range(starts[start + c], starts[start + c + 1]):
            right[c] -= k[upper + j] * right[rows[j]]
    for c in range(count):
        right[c] *= k[pivots + c]
    for c in range(count - 1, -1, -1):
        for j in range(starts[start + c], starts[start + c + 1]):
            right[rows[j]] -= k[upper + j] * right[c]
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
def divide_freely(elements: SetValuedElements, island: int) -> bool:
    """Make K of an island whose elements share what they hold, as if none of them had bounds;
    whether that can be.

    Rates without efforts, which tell who is at its bound, are the same however they share.
    """
    rests = 0
    for k in range(elements.starts[island], elements.starts[island + 1]):
        e = elements.parted[k]
        elements.k[elements.ends_at[e]] = 0.0
        if elements.modes[e] == 0.0 and elements.moves[e]:
            elements.still[rests] = e
            rests += 1
    for a in range(rests):
        for b in range(rests):
            elements.given_d[a, b] = elements.d[elements.still[a], elements.still[b]]
    weigh(elements, rests)
    give_rows(elements.given_d, elements.given_told, elements.given_rows, elements.matrix, rests)
    return invert_shared(elements, island, rests)


@machine_code
def weigh(elements: SetValuedElements, rests: int) -> None:
    """Weigh efforts of those that are ``still`` by their ranges; all are inside these as yet."""
    told, still = elements.given_told, elements.still
    for a in range(rests):
        i, own, follows = still[a], elements.given_d[a, a], False
        for b in range(rests if elements.dependent[0] else 0):
            for side in range(2):
                follows |= elements.bounds[side, i, still[b]] != 0.0
        unit = np.sqrt(own) if own > 0.0 else 1.0
        told[END, a] = 0.0 if follows else elements.found[LOW, i] * unit
        told[PRESS, a] = 0.0 if follows else elements.found[HIGH, i] * unit
    weigh_ranges(told[END], told[PRESS], told[WEIGHT], rests)
    for a in range(rests):
        told[WEIGHT, a] *= elements.given_d[a, a]
        told[END, a] = told[PRESS, a] = 0.0


@machine_code
def invert_shared(elements: SetValuedElements, island: int, rests: int) -> bool:
    """Make K by the equations of shares, in equal units; whether they are regular."""
    start, first = elements.starts[island], elements.first[island]
    size, inside, place = elements.starts[island + 1] - start, 0, 0
    told, still, stuck, matrix, k, right = (
        elements.given_told, elements.still, elements.stuck, elements.matrix, elements.k,
        elements.column)
    k[first : first + size * size] = 0.0
    for a in range(rests):
        k[elements.ends_at[still[a]]] = told[END, a]
        while elements.parted[start + place] != still[a]:
            place += 1
        if told[END, a] != 0.0:
            continue
        stuck[inside], c = place, 0
        for b in range(rests):
            if told[END, b] == 0.0:
                value = elements.given_rows[a, b]
                if told[GIVEN, a] == 0.0:
                    value = elements.given_d[a, b] / told[OWN, a]
                matrix[inside, c] = value / told[OWN, b]
                c += 1
        inside += 1
    factorize(matrix, elements.unit[:inside], elements.order)
    c, regular = 0, True
    for b in range(rests):
        if told[END, b] != 0.0:
            continue
        right[:inside] = 0.0
        right[c] = 1.0
        if told[GIVEN, b] == 0.0:
            solve(matrix, elements.order, right[:inside], elements.work)
            r = 0
            for a in range(rests):
                if told[END, a] == 0.0:
                    k[first + stuck[r] * size + stuck[c]] = right[r] / (told[OWN, a] * told[OWN, b])
                    regular &= np.isfinite(right[r])
                    r += 1
        c += 1
    return regular
