"""Which values of a network are always added up together?

Forces of elements in parallel, as a spring and its damper, enter the same sums with the same signs.
So they are added up once for both ends.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..assembly.flatten import Flat, Group
from ..assembly.tape import Step
from ..numerics.arrays import Array, Flags, Indices, distinct
from .loop_text import Operand
from .places import Q

if TYPE_CHECKING:
    from .instance_loops import Loops

__all__ = ["Pairs"]


class Pairs:
    """Terms that stand in the same two sums, of which one value is made.

    Laws that give such terms alone are put off: the loop that adds them up evaluates them.

    Attributes
    ----------
    unsettled : classes of a block that is being solved, which are written more than once
    """

    def __init__(self, loops: Loops) -> None:
        self._loops, classes = loops, loops.flat.classes
        self._partner, self._ratio = _pairs_of_terms(loops.flat)
        self._entry = np.full(classes, -1)  # of ``q``, with the sum; by the first class of a pair
        self._put_off: list[tuple[int, int]] = []  # groups and positions
        self._late, self._row = np.full((2, classes), -1)  # by class: which of them, and equation
        self.unsettled: Flags = np.zeros(classes, dtype=bool)
        self._here: Flags = np.zeros(classes, dtype=bool)  # of the terms that are looked at

    def copy(self, loops: Loops) -> Pairs:
        """The same for other functions, in which all is written that has not been put off."""
        new = copy.copy(self)
        new._loops, new._entry, new._put_off = loops, self._entry.copy(), []
        new._late, new._row = self._late.copy(), self._row.copy()
        return new

    def put_off(self, step: Step, rows: Indices, unknowns: Indices, may: Flags) -> Flags:
        """Which of some unknowns of a step are written where they are asked for."""
        late = may & (self._partner[unknowns] >= 0) & (
            self._loops.flat.groups[step.group].law is not None)
        self._late[unknowns[late]], self._row[unknowns[late]] = len(self._put_off), rows[late]
        self._put_off.append((step.group, step.position))
        return late

    def write_late(self, classes: Indices) -> None:
        """Write those of some values that have been put off."""
        late = distinct(classes[self._late[classes] >= 0])
        for k in distinct(self._late[late]).tolist():
            now = late[self._late[late] == k]
            g, position = self._put_off[k]
            self._late[now] = -1
            self._loops.give(g, self._row[now], position, now, self._loops.values)

    def terms(self, which: Indices, classes: Indices, factors: Array) -> tuple[Indices, Operand]:
        """Terms of sums, one where two make a pair; ``which`` says to which sum one belongs."""
        values, partner = self._loops.values, self._partner[classes]
        settled = (values.known[classes] | (self._late[classes] >= 0)) & ~self.unsettled[classes]
        self._here[classes] = settled  # but for those that the sums give
        paired = settled & (partner >= 0) & self._here[partner]
        self._here[classes] = False
        self._add(classes[paired & (classes < partner)])
        once = ~paired | (classes < partner)
        which, classes, factors = which[once], classes[once], factors[once]
        alone = np.flatnonzero(~paired[once])
        self.write_late(classes[alone])
        terms = Operand(np.full(len(classes), Q), self._entry[classes], factors)
        rest = values.operand(classes[alone], factors[alone])
        terms.base[alone], terms.index[alone], terms.factor[alone] = (
            rest.base, rest.index, rest.factor)
        return which, terms

    def _add(self, classes: Indices) -> None:
        """Write what pairs add up to, where that has not been done."""
        loops, new = self._loops, distinct(classes[self._entry[classes] < 0])
        self._entry[new] = loops.room(len(new))
        late = self._late[np.stack([new, self._partner[new]], axis=1)]
        for kind in np.unique(late, axis=0):
            mine = new[(late == kind).all(axis=1)]
            if kind.min() >= 0:
                self._add_late(mine, kind.tolist())
                continue
            both = np.stack([mine, self._partner[mine]], axis=1)
            ratio = np.stack([np.ones(len(mine)), self._ratio[mine]], axis=1)
            loops.text.add_sums(np.repeat(np.arange(len(mine)), 2), loops.read(
                both.ravel(), ratio.ravel()), self._target(mine))

    def _add_late(self, classes: Indices, kind: list[int]) -> None:
        """The same of two laws that have been put off, in one loop."""
        flat = self._loops.flat
        symbols: list[ca.SX] = []
        operands: dict[tuple[int, int], Operand] = {}
        results, signs = [], []
        for k, own in zip(kind, (classes, self._partner[classes]), strict=True):
            g, position = self._put_off[k]
            group = flat.groups[g]
            law, instances = group.law, group.instances[self._row[own]]
            assert law is not None
            function = law.solved(position)
            one = Group(group.family, law, instances)
            signs.append(flat.argument(one, law.arguments[position])[1].astype(float))
            operands |= {(a + len(symbols), i): operand for (a, i), operand in self._loops.operands(
                function, group.family, law.arguments, instances).items()}
            given = [ca.SX.sym("given", function.size_in(a)) for a in range(function.n_in())]
            symbols += given
            results.append(function.call(given)[0])
        ratio = self._ratio[classes] * signs[0] * signs[1]
        for sign in np.unique(ratio).tolist():
            mine = np.flatnonzero(ratio == sign)
            both = ca.Function("both", symbols, [results[0] + sign * results[1]])
            self._loops.call(both, {a: operand.part(mine) for a, operand in operands.items()},
                             self._target(classes[mine], signs[0][mine]))

    def _target(self, classes: Indices, factors: Array | float = 1.0) -> Operand:
        return Operand(np.full(len(classes), Q), self._entry[classes],
                       factors * np.ones(len(classes)))


def _pairs_of_terms(flat: Flat) -> tuple[Indices, Array]:
    """Per class another one that stands in the same two sums, or -1; and their ratio there."""
    partner, ratio = np.full(flat.classes, -1), np.ones(flat.classes)
    sums = [(g.first, g.terms(np.arange(g.size))) for g in flat.groups if g.law is None]
    if not sums:
        return partner, ratio
    sum_of = np.concatenate([first + which for first, (which, _, _) in sums])
    classes, signs = (np.concatenate([terms[k] for _, terms in sums]) for k in (1, 2))
    twice = np.flatnonzero(np.bincount(classes, minlength=flat.classes)[classes] == 2)
    at = twice[np.lexsort([sum_of[twice], classes[twice]])].reshape(-1, 2)  # a class in each row
    at = at[sum_of[at[:, 0]] != sum_of[at[:, 1]]]
    if not len(at):
        return partner, ratio
    place = np.column_stack([sum_of[at], signs[at].prod(axis=1)])
    order = np.lexsort(place.T)
    at, place = at[order], place[order]
    begins = np.concatenate([[True], (np.diff(place, axis=0) != 0).any(axis=1)])
    number = np.arange(len(at)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    first = np.flatnonzero(~begins[1:] & (number[:-1] % 2 == 0))
    one, other = at[first, 0], at[first + 1, 0]
    partner[classes[one]], partner[classes[other]] = classes[other], classes[one]
    ratio[classes[one]] = ratio[classes[other]] = signs[one] * signs[other]
    return partner, ratio
