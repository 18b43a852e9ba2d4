"""Which constraints follow from several sums together, though each of them determines something?

Two capacitors side by side say the same difference of two potentials; incidence sees two
equations for two unknowns, but the potentials cancel, and a relation of the two voltages is left.
Currents cancel in the balances of a part between two inductors. Sums with whole numbers as
coefficients are eliminated without rounding, within one block of equations.

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

from ..language.kernel import Law
from ..numerics.arrays import Flags, Indices
from .flatten import Flat, Group
from .matching import Matching

__all__ = ["hidden_constraints"]

LARGE = 5000  # equations of a block from which none is looked for
MOST_ROUNDS = 100  # of looking for unknowns that one sum has alone; the rest is eliminated

Sum: TypeAlias = dict[int, Fraction]  # coefficients by class


def hidden_constraints(flat: Flat, top: Indices, classes: Indices, m: Matching
                       ) -> dict[int, Group]:
    """Sums to be replaced, and the one that each is replaced by: none of the block's unknowns.

    Parameters
    ----------
    flat : Flat
    top, classes : equations and unknowns
    m : which determines which, completely; set-valued laws count as equations behind ``top``,
        of their effort and flow, so that what is found holds in every mode
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
    inside = block_of_class[columns] == block_of[rows]
    undecided = np.flatnonzero(_may_depend(rows, columns, inside))
    by_block: dict[int, dict[int, Sum]] = {}
    for k in undecided[np.argsort(place[rows[undecided]], kind="stable")].tolist():
        e, c = int(rows[k]), int(columns[k])
        by_block.setdefault(int(block_of[e]), {}).setdefault(e, {})[c] = Fraction(int(factors[k]))
    found: dict[int, Group] = {}
    for b, sums in by_block.items():
        unknowns = m.block_unknowns[slice(*m.block_starts[[b, b + 1]])]
        for e, rest in _left(sums, set(classes[unknowns].tolist())).items():
            found[e] = _group(rest)
    return found


def _sums(flat: Flat, wanted: Flags) -> tuple[Indices, Indices, Indices]:
    """Equation, class and coefficient of what is added in sums with whole numbers."""
    found = [np.zeros((3, 0), dtype=int)]
    for group in flat.groups:
        numbers = np.arange(group.first, group.first + group.size)
        if not wanted[numbers].any():
            continue
        if group.law is None:
            which, classes, signs = group.terms(np.arange(group.size))
            found.append(np.stack([numbers[which], classes, signs]))
        elif _is_sum(group.law):
            for key, slope in zip(group.law.arguments, group.law.partials, strict=True):
                classes, signs = flat.argument(group, key)
                found.append(np.stack([numbers, classes, round(float(slope)) * signs]))
    rows, columns, factors = np.concatenate([f[:, wanted[f[0]]] for f in found], axis=1)
    keys, which = np.unique(rows * flat.classes + columns, return_inverse=True)
    total = np.zeros(len(keys), dtype=int)
    np.add.at(total, which, factors)
    rows, columns = np.divmod(keys[total != 0], max(flat.classes, 1))
    return rows, columns, total[total != 0]


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


def _is_sum(law: Law) -> bool:
    """Whether a law is a sum of unknowns times whole numbers."""
    if set(law.slopes) != {"constant"} or len(law.unknowns) != len(law.arguments):
        return False
    if any(float(slope) != round(float(slope)) for slope in law.partials):
        return False
    symbols = ca.vertcat(*law.symbols)
    rest = ca.substitute(law.residual, symbols, ca.SX.zeros(symbols.numel()))
    return bool(rest.is_constant()) and float(rest) == 0


def _left(sums: dict[int, Sum], inside: set[int]) -> dict[int, Sum]:
    """What is left of sums from which others have taken all unknowns of the block."""
    rows: dict[int, Sum] = {}  # by the unknown that they give
    left: dict[int, Sum] = {}
    for equation, given in sums.items():
        rest = dict(given)
        while (pivot := next((c for c in rest if c in inside and c in rows), None)) is not None:
            factor = rest[pivot] / rows[pivot][pivot]
            for c, value in rows[pivot].items():
                new = rest.get(c, Fraction(0)) - factor * value
                if new:
                    rest[c] = new
                else:
                    rest.pop(c, None)
        pivot = next((c for c in rest if c in inside), None)
        if pivot is not None:
            for row in rows.values():  # none of the others has it any longer
                if pivot in row:
                    factor = row[pivot] / rest[pivot]
                    for c, value in rest.items():
                        new = row.get(c, Fraction(0)) - factor * value
                        if new:
                            row[c] = new
                        else:
                            row.pop(c, None)
            rows[pivot] = rest
        elif rest:
            left[equation] = rest
    return left


def _group(rest: Sum) -> Group:
    """A sum as an equation of its own, like the balance of a node."""
    scale = lcm(*(value.denominator for value in rest.values()))
    counts = {c: int(value * scale) for c, value in rest.items()}
    classes = np.repeat(list(counts), np.abs(list(counts.values())))
    signs = np.sign([counts[int(c)] for c in classes]).astype(int)
    return Group(-1, None, np.zeros(0, dtype=int), classes=classes, signs=signs,
                 starts=np.array([0, len(classes)]), nodes=np.array([-1]))
