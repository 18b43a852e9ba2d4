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
from ..numerics.arrays import Indices
from .flatten import Flat, Group
from .matching import Matching

__all__ = ["hidden_constraints"]

LARGE = 5000  # equations of a block from which none is looked for

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
    found: dict[int, Group] = {}
    known: dict[Law, bool] = {}
    ends = np.append(m.block_starts[1:], len(m.block_equations))
    for start, end in zip(m.block_starts.tolist(), ends.tolist(), strict=True):
        if not 2 <= end - start <= LARGE:
            continue
        inside = set(classes[m.block_unknowns[start:end]].tolist())
        rows = m.block_equations[start:end]
        sums = {e: s for e in top[rows[rows < len(top)]].tolist()  # others: set-valued laws
                if (s := _sum(flat, e, known))}  # fmt: skip
        for e, rest in _left(sums, inside).items():
            found[e] = _group(rest)
    return found


def _sum(flat: Flat, equation: int, known: dict[Law, bool]) -> Sum | None:
    """Coefficients of an equation that is a sum with whole numbers, and nothing else."""
    group, row = flat.group_of(equation)
    out: Sum = {}
    if group.law is None:
        for k in range(group.starts[row], group.starts[row + 1]):
            c = int(group.classes[k])
            out[c] = out.get(c, Fraction(0)) + int(group.signs[k])
    else:
        law = group.law
        if law not in known:
            known[law] = _is_sum(law)
        if not known[law]:
            return None
        one = Group(group.family, law, group.instances[row : row + 1])
        for key, slope in zip(law.arguments, law.partials, strict=True):
            (c,), (sign,) = flat.argument(one, key)
            out[int(c)] = out.get(int(c), Fraction(0)) + round(float(slope)) * int(sign)
    return {c: value for c, value in out.items() if value}


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
