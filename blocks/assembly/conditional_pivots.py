"""Does a loop keep its digits where unknowns follow by coefficients that conditions choose?

``v == Vf + where(s > 0, R, 1) * s`` gives s, whichever condition holds: of many diodes at one node
nothing but its voltage is left to solve for. But where nodes are tied to the rest by what blocks
only, large currents between them cancel, and their voltages are lost in rounding: there it is s
that has to be solved for, which is large on either line. What is left to solve for is looked at
for many choices of conditions. Of a passive network it is largest where all conducts and smallest
where all blocks, which are among these.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..language.kernel import Law
from ..numerics.arrays import Array, Indices
from ..numerics.blas_threads import threads_for
from ..numerics.sparse_solves import factored
from .algebraic_loops import MOST, Block, made_even
from .flatten import Flat, Group, Parameters

__all__ = ["keeps_digits"]

TRIALS = 8  # choices of conditions: none, all, and some of them
MANY = 300  # unknowns left to solve for, from which nothing is looked at


def keeps_digits(flat: Flat, block: Block, parameters: Parameters) -> bool:
    """Whether what is left of a torn block is regular, and of about one size, for all choices.

    Parameters
    ----------
    flat, block : the system, and a block of it
    parameters : per family, values of the kernel's parameters, (size, n) each
    """
    groups = [flat.groups[g] for g in set(flat.groups_of(block.equations).tolist())]
    if len(block.torn) > MANY or not all(group.law is None or _is_known(group.law)
                                         for group in groups):
        return False
    if not len(block.torn):
        return True
    chance = np.random.default_rng(7)
    try:
        left = np.array([_left_over(flat, groups, block, parameters, choice, chance)
                         for choice in range(TRIALS)])
        if not np.isfinite(left).all():
            return False
        largest = np.abs(left).max(axis=0)
        left *= np.divide(made_even(largest), largest, out=np.zeros(largest.shape),
                          where=largest > 0)
        with threads_for(len(largest)):
            inverse = np.linalg.inv(left)
            return bool(np.linalg.norm(left, axis=(1, 2)).max()
                        * np.linalg.norm(inverse, axis=(1, 2)).max() <= MOST)
    except (RuntimeError, np.linalg.LinAlgError):  # singular
        return False


def _is_known(law: Law) -> bool:
    """Whether its coefficients are those of parameters and conditions alone."""
    return all(slope in ("constant", "parameter") or conditional
               for key, slope, conditional in zip(
                   law.arguments, law.slopes, law.conditional, strict=True)
               if law.kernel.variables[key[0]].kind != "discrete")


def _left_over(flat: Flat, groups: list[Group], block: Block, parameters: Parameters, choice: int,
               chance: np.random.Generator) -> Array:
    """Coefficients of torn unknowns in the equations that are left, for a choice of conditions."""
    from scipy.sparse import coo_matrix

    place = np.full(flat.classes, -1)
    place[np.concatenate([block.assigned, block.torn])] = np.arange(len(block.unknowns))
    row_of = np.full(flat.equations, -1)
    row_of[np.concatenate([block.solved, block.leftover])] = np.arange(len(block.equations))
    rows, columns, values = (np.concatenate(found) for found in zip(*(
        entry for group in groups
        for entry in _coefficients(flat, group, parameters, choice, chance)), strict=True))
    rows, columns = row_of[rows], place[columns]
    inside = (rows >= 0) & (columns >= 0)
    matrix = coo_matrix((values[inside], (rows[inside], columns[inside])),
                        shape=(len(block.equations),) * 2).tocsc()
    n = len(block.solved)
    left: Array = matrix[n:, n:].toarray()
    if n:
        left -= matrix[n:, :n] @ factored(matrix[:n, :n])(matrix[:n, n:].toarray())
    return left


def _coefficients(flat: Flat, group: Group, parameters: Parameters, choice: int,
                  chance: np.random.Generator) -> list[tuple[Indices, Indices, Array]]:
    """Equations of a group, classes, and their coefficients."""
    numbers, law = np.arange(group.first, group.first + group.size), group.law
    if law is None:
        which, classes, signs = group.terms(np.arange(group.size))
        return [(numbers[which], classes, signs.astype(float))]
    kernel = law.kernel
    shape = len(kernel.relation_symbols), group.size
    holds = np.full(shape, choice) if choice < 2 else chance.integers(0, 2, shape)
    given = [ca.DM(row[None].astype(float)) for row in holds]
    given += [ca.DM(p[:, group.instances]) for p in parameters[group.family]]
    found = []
    for key, partial in zip(law.arguments, law.partials, strict=True):
        if kernel.variables[key[0]].kind != "discrete":
            classes, signs = flat.argument(group, key)
            slope = ca.Function("slope", [*kernel.relation_symbols, *kernel.parameter_symbols],
                                [ca.densify(partial)])
            values = np.array(slope.map(group.size).call(given)[0]).ravel()
            found.append((numbers, classes, signs * values))
    return found
