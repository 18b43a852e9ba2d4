"""Do other values of parameters suit the order in which a system's unknowns are solved for?

Which equation gives which unknown is chosen by the coefficients that a model has when it is
compiled: none that is zero, and no chain of assignments that loses many digits. Other values
may ask for another order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.blas_threads import threads_for
from ..numerics.sparse_solves import factored
from .algebraic_loops import MOST, Block, BlockIncidence, amplify, coefficients_at, equilibrated
from .flatten import Flat, Group, Parameters

__all__ = ["PivotValidity", "is_well_conditioned"]

TRIALS = 8  # choices of conditions: none, all, and some of them
MANY = 300  # unknowns left to solve for, from which nothing is looked at
ALIKE = 4.0  # values that differ by no more than this factor need no second look
FAR = 5.0  # such factors from which on what was chosen by values is chosen anew


class PivotValidity:
    """Parameters by whose values, as kernels take them, something was chosen.

    ``layout`` is by family and name offset and width in ``p``; ``solved`` are groups,
    the position of the argument that they are solved for, and which rows. ``pairs`` gives pairs and
    coefficients of the torn blocks for other values; ``groups`` are their equations; ``regular``
    says whether blocks torn by conditions keep their digits, ``by_values`` whether inputs were
    chosen by values.
    """

    def __init__(self, values: Parameters, layout: dict[tuple[int, str], tuple[int, int]],
                 solved: list[tuple[Group, int, Indices]], blocks: list[Block],
                 pairs: Callable[[Parameters], BlockIncidence],
                 regular: Callable[[Parameters], bool], groups: list[Group],
                 by_values: bool) -> None:
        self._suits: dict[bytes, bool] = {}  # by how many such factors values are away
        self._solved = [(group, k, rows) for group, k, rows in solved
                        if group.law is not None and group.law.slopes[k] == "parameter"]
        self._blocks, self._pairs, self._layout = blocks, pairs, layout
        self._regular, self._by_values = regular, by_values
        self._sizes = [p[0].shape[1] if p else 0 for p in values]
        deciding = {group.family for group, _, _ in self._solved} | {
            group.family for group in groups
            if group.law is not None and (
                "parameter" in group.law.slopes or any(group.law.conditional))}
        inside = [np.arange(offset, offset + width * self._sizes[f])
                  for (f, _), (offset, width) in layout.items() if f in deciding]
        self._entries = np.concatenate([np.zeros(0, dtype=int), *inside])
        #: Whether any values do.
        self.decide = bool(len(self._entries))
        flat = [np.asarray(block).T.ravel() for family in values for block in family]
        self._known = np.concatenate([np.zeros(0), *flat])[self._entries]

    def still_valid(self, p: Array) -> Flags:
        """Whether a system solved as it is keeps its digits, per row of parameters."""
        now = p[:, self._entries]
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.log(now / self._known) / np.log(ALIKE)  # not a number: of another sign
        away[now == self._known] = 0.0
        found: Flags = (np.abs(away) < 1.0).all(axis=1)
        others = np.flatnonzero(~found)
        if self._by_values:
            far = np.isfinite(away) & (np.abs(away) > FAR)
            others = others[~far[others].any(axis=1)]
        others = others[self._have_pivots(p[others])]
        if not self._blocks:
            found[others] = True
            return found
        for k, steps in zip(others, np.round(away[others]), strict=True):
            kind = steps.tobytes()
            if kind not in self._suits:
                self._suits[kind] = self._keep_digits(self._values(p[k : k + 1]))
            found[k] = self._suits[kind]
        return found

    def _values(self, p: Array) -> Parameters:
        """Parameters as kernels take them, instances of one row behind those of the other."""
        values: Parameters = [[] for _ in self._sizes]
        for (f, _), (offset, width) in self._layout.items():
            size = self._sizes[f]
            values[f].append(p[:, offset : offset + width * size].reshape(len(p) * size, width).T)
        return values

    def _have_pivots(self, p: Array) -> Flags:
        found = np.ones(len(p), dtype=bool)
        values = self._values(p)
        for group, k, rows in self._solved if len(p) else ():
            assert group.law is not None
            every = (np.arange(len(p))[:, None] * self._sizes[group.family]
                     + group.instances[rows]).ravel()
            slope = np.broadcast_to(
                group.law.slopes_at(k, [v[:, every] for v in values[group.family]]), every.shape)
            found &= (np.isfinite(slope) & (slope != 0)).reshape(len(p), -1).all(axis=1)
        return found

    def _keep_digits(self, values: Parameters) -> bool:
        pairs = self._pairs(values)
        found = {(e, c): at >= 0 for e, c, at in zip(*pairs.pairs[:3].tolist(), strict=True)}
        return all(found[pair] for block in self._blocks for pair in zip(
            block.solved.tolist(), block.assigned.tolist(), strict=True)) and not amplify(
                self._blocks, pairs).any() and self._regular(values)


def is_well_conditioned(flat: Flat, block: Block, parameters: Parameters) -> bool:
    """Whether what is left of a torn block is regular, and of about one size, for all choices."""
    groups = [flat.groups[g] for g in set(flat.groups_of(block.equations).tolist())]
    laws = [group.law for group in groups if group.law is not None]
    if len(block.torn) > MANY or not all(
            law.slopes[k] in ("constant", "parameter") or law.conditional[k]
            for law in laws for k, _ in law.open_arguments):
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
        left *= np.divide(equilibrated(largest), largest, out=np.zeros(largest.shape),
                          where=largest > 0)
        with threads_for(len(largest)):
            inverse = np.linalg.inv(left)
            return bool(np.linalg.norm(left, axis=(1, 2)).max()
                        * np.linalg.norm(inverse, axis=(1, 2)).max() <= MOST)
    except (RuntimeError, np.linalg.LinAlgError):  # singular
        return False


def _left_over(flat: Flat, groups: list[Group], block: Block, parameters: Parameters, choice: int,
               chance: np.random.Generator) -> Array:
    """Coefficients of torn unknowns in the equations that are left, for a choice of conditions."""
    from scipy.sparse import coo_matrix

    place = np.full(flat.classes, -1)
    place[np.concatenate([block.assigned, block.torn])] = np.arange(len(block.unknowns))
    row_of = np.full(flat.equations, -1)
    row_of[np.concatenate([block.solved, block.leftover])] = np.arange(len(block.equations))
    ones = np.ones(flat.classes)  # none matters
    rows, columns, values = (np.concatenate(found) for found in zip(*(
        coefficients_at(flat, group, np.arange(group.size), parameters, ones, choice, chance)
        for group in groups), strict=True))
    rows, columns = row_of[rows], place[columns]
    inside = (rows >= 0) & (columns >= 0)
    matrix = coo_matrix((values[inside], (rows[inside], columns[inside])),
                        shape=(len(block.equations),) * 2).tocsc()
    n = len(block.solved)
    left: Array = matrix[n:, n:].toarray()
    if n:
        left -= matrix[n:, :n] @ factored(matrix[:n, :n])(matrix[:n, n:].toarray())
    return left
