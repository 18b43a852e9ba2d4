"""Which values of a network are the same, and which are always added up together?

Elements in parallel, as a spring and its damper, have one velocity, and their forces enter the same
sums with the same signs. So a velocity is found once, and forces are added up once for both ends.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..assembly.flatten import Flat, Group
from ..numerics.arrays import Array, Indices

__all__ = ["EqualValues", "pairs_of_terms"]


def pairs_of_terms(flat: Flat) -> tuple[Indices, Array]:
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


class EqualValues:
    """Values that laws of one or two variables have given, to be found again."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._given: dict[str, tuple[Indices, Indices]] = {}  # by a law: arguments, ascending, and
        # the class that followed

    def copy(self) -> EqualValues:
        """The same, to be added to."""
        new = EqualValues(self._flat)
        new._given = dict(self._given)
        return new

    def find(self, group: Group, rows: Indices, position: int, unknowns: Indices) -> Indices:
        """For some equations of a law the class that has the unknown's value already, or -1.

        Those without one are found from now on.
        """
        found = np.full(len(rows), -1)
        law = group.law
        if law is None:
            return found
        function = law.solved(position)
        used = sorted({function.instruction_input(k)[0] for k in range(function.n_instructions())
                       if function.instruction_id(k) == ca.OP_INPUT})
        if len(used) > 2 or any(k >= len(law.arguments) or law.arguments[k] not in law.unknowns
                                for k in used):
            return found
        names = [ca.SX.sym(f"a{k}", function.size_in(k)) for k in range(function.n_in())]
        text = str(function.call(names)[0])
        one = Group(group.family, law, group.instances[rows])
        key = (self._flat.argument(one, law.arguments[position])[1] > 0).astype(np.int64)
        for k in used:
            classes, signs = self._flat.argument(one, law.arguments[k])
            key = (key * self._flat.classes + classes) * 2 + (signs > 0)
        keys, results = self._given.get(text, (np.zeros(0, dtype=int), np.zeros(0, dtype=int)))
        if len(keys):
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            found = np.where(keys[at] == key, results[at], -1)
        new = found < 0
        keys, results = np.append(keys, key[new]), np.append(results, unknowns[new])
        order = np.argsort(keys, kind="stable")
        self._given[text] = keys[order], results[order]
        return found
