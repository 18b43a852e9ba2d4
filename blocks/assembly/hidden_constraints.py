"""Which constraints follow from several sums together, though each of them determines something?

Two capacitors side by side say the same difference of two potentials; incidence sees two
equations for two unknowns, but the potentials cancel, and a relation of the two voltages is left.
Currents cancel in the balances of a part between two inductors. Sums with whole numbers as
coefficients are eliminated without rounding, within one block of equations. What is added to an
unknown in a law, and is none, counts as an unknown of its own: in ``i1 == f(u1 - u2)`` and
``i2 == -f(u1 - u2)``, ``f`` cancels, whatever it is.

References
----------
M. Otter, H. Elmqvist, "Transformation of Differential Algebraic Array Equations to Index One
Form", 12th International Modelica Conference, 2017.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TypeAlias

import casadi as ca
import numpy as np

from ..language.kernel import Key, Law
from ..numerics.arrays import Flags, Indices
from .flatten import Flat, Group
from .matching import Matching

__all__ = ["hidden_constraints"]

LARGE = 5000  # equations of a block from which none is looked for
FINEST = 16  # parts of one that coefficients are multiples of
MOST = 10**6  # the largest coefficient
MOST_ROUNDS = 100  # of looking for unknowns that one sum has alone; the rest is eliminated

Sum: TypeAlias = dict[int, Fraction]  # coefficients by class


def hidden_constraints(flat: Flat, top: Indices, classes: Indices, m: Matching) -> dict[int, Group]:
    """Sums to be replaced, and the one that each is replaced by: none of the block's unknowns.

    The matching determines the unknown classes by the ``top`` equations, completely; set-valued
    laws count as equations behind these, of their effort and flow, so that what is found holds in
    every mode.
    """
    sizes = np.diff(m.block_starts)
    block = np.repeat(np.where((sizes >= 2) & (sizes <= LARGE), np.arange(len(sizes)), -1), sizes)
    mine = np.flatnonzero(m.block_equations < len(top))  # others: set-valued laws
    equations = top[m.block_equations[mine]]
    block_of, place = np.full((2, flat.equations), -1)
    block_of[equations], place[equations] = block[mine], mine
    block_of_class = np.full(flat.classes, -2)
    block_of_class[classes[m.block_unknowns]] = block
    rows, columns, factors = _sums(flat, block_of >= 0)
    own = columns >= flat.classes  # terms of another form than an unknown
    inside = own | (np.append(block_of_class, -2)[np.where(own, -1, columns)] == block_of[rows])
    undecided = np.flatnonzero(_may_depend(rows, columns, inside))
    by_block: dict[int, dict[int, Sum]] = {}
    for k in undecided[np.argsort(place[rows[undecided]], kind="stable")].tolist():
        e, c = int(rows[k]), int(columns[k])
        by_block.setdefault(int(block_of[e]), {}).setdefault(e, {})[c] = Fraction(int(factors[k]))
    found: dict[int, Group] = {}
    for b, sums in by_block.items():
        unknowns = m.block_unknowns[slice(*m.block_starts[[b, b + 1]])]
        terms = {c for given in sums.values() for c in given if c >= flat.classes}
        for e, rest in _left(sums, terms.union(classes[unknowns].tolist())).items():
            found[e] = _group(rest)
    return found


def _sums(flat: Flat, wanted: Flags) -> tuple[Indices, Indices, Indices]:
    """Equation, column and whole coefficient of all that is added up in equations.

    Columns are classes, and behind these terms of another form, of each instance its own.
    """
    found = [np.zeros((3, 0), dtype=int)]
    laws: dict[int, list[Group]] = {}
    columns = flat.classes
    for group in flat.groups:
        numbers = group.numbers
        if not wanted[numbers].any():
            continue
        if group.law is None:
            which, classes, signs = group.terms(np.arange(group.size))
            found.append(np.stack([numbers[which], classes, signs]))
        else:
            laws.setdefault(group.family, []).append(group)
    for family, groups in laws.items():
        size = flat.network.families[family].size
        first: dict[int, int] = {}  # of terms, the column of the first instance
        for group, terms in zip(groups, _terms([g.law for g in groups if g.law]), strict=True):
            for term, factor in terms.items():
                if isinstance(term, tuple):
                    classes, signs = flat.argument(group, term)
                    found.append(np.stack([group.numbers, classes, factor * signs]))
                    continue
                if term not in first:
                    first[term] = columns
                    columns += size
                found.append(np.stack([group.numbers, first[term] + group.instances,
                                       np.full(group.size, factor)]))
    rows, at, factors = np.concatenate([f[:, wanted[f[0]]] for f in found], axis=1)
    keys, which = np.unique(rows * columns + at, return_inverse=True)
    total = np.zeros(len(keys), dtype=int)
    np.add.at(total, which, factors)
    rows, at = np.divmod(keys[total != 0], max(columns, 1))
    return rows, at, total[total != 0]


def _terms(laws: list[Law]) -> list[dict[Key | int, int]]:
    """What each law of a kernel adds up: unknowns, and numbers of other terms, times what."""
    shared = ca.cse(ca.vertcat(*(law.residual for law in laws)))  # a term is one node
    found = []
    for k, law in enumerate(laws):
        unknowns = {law.kernel.symbols[key].__hash__(): key for key in law.unknowns}
        total: dict[Key | int, Fraction] = {}
        left = [(shared[k], Fraction(1))]
        while left:
            sx, factor = left.pop()
            kind = sx.op() if not sx.is_constant() and not sx.is_symbolic() else None
            if kind in (ca.OP_ADD, ca.OP_SUB):
                left += [(sx.dep(0), factor), (sx.dep(1), factor if kind == ca.OP_ADD else -factor)]
            elif kind == ca.OP_NEG:
                left.append((sx.dep(0), -factor))
            elif kind == ca.OP_TWICE:
                left.append((sx.dep(0), 2 * factor))
            elif kind == ca.OP_MUL and (product := _simple(sx.dep(0), factor)):
                left.append((sx.dep(1), product))
            elif kind == ca.OP_DIV and (product := _simple(1 / sx.dep(1), factor)):
                left.append((sx.dep(0), product))
            elif not sx.is_zero():
                term = unknowns.get(sx.__hash__(), sx.__hash__())
                total[term] = total.get(term, Fraction(0)) + factor
        scale = lcm(*(factor.denominator for factor in total.values()))
        found.append({term: int(factor * scale) for term, factor in total.items() if factor})
    return found


def _simple(sx: ca.SX, factor: Fraction) -> Fraction | None:
    """A constant times a factor; None where that is not exact in a few parts of one."""
    if not sx.is_constant() or not abs(float(sx)) <= MOST:
        return None
    product = Fraction(float(sx)) * factor
    return product if product.denominator <= FINEST and abs(product) <= MOST else None


def _may_depend(rows: Indices, columns: Indices, inside: Flags) -> Flags:
    """Which entries are of sums that may follow from others.

    One with an unknown that no other sum has does not, nor does it help another one to.
    """
    follows = np.ones(int(rows.max(initial=-1)) + 1, dtype=bool)
    row, column = rows[inside], np.unique(columns[inside], return_inverse=True)[1]
    for _ in range(MOST_ROUNDS):
        alone = np.bincount(column)[column] == 1
        if not alone.any():
            break
        follows[row[alone]] = False
        left = follows[row]
        row, column = row[left], column[left]
    return follows[rows]


def _left(sums: dict[int, Sum], inside: set[int]) -> dict[int, Sum]:
    """What is left of sums from which others have taken all unknowns of the block."""
    rows: dict[int, Sum] = {}  # by the unknown that they give
    left: dict[int, Sum] = {}
    for equation, given in sums.items():
        rest = dict(given)
        for known, row in rows.items():  # in this order: none has what an earlier one gives
            if known in rest:
                _eliminate(known, rest, row)
        pivot = next((c for c in rest if c in inside), None)
        if pivot is not None:
            rows[pivot] = rest
        elif rest:
            left[equation] = rest
    return left


def _eliminate(pivot: int, row: Sum, by: Sum) -> None:
    """Take an unknown out of a sum by another one."""
    factor = row[pivot] / by[pivot]
    for c, value in by.items():
        row[c] = row.get(c, Fraction(0)) - factor * value
        if not row[c]:
            del row[c]


def _group(rest: Sum) -> Group:
    """A sum as an equation of its own, like the balance of a node."""
    scale = lcm(*(value.denominator for value in rest.values()))
    counts = {c: int(value * scale) for c, value in rest.items()}
    classes = np.repeat(list(counts), np.abs(list(counts.values())))
    signs = np.sign([counts[int(c)] for c in classes]).astype(int)
    return Group.sums(classes, signs, [len(classes)], np.array([-1]))
