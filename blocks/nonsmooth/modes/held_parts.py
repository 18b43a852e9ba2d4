"""By which numbers are the elements held that stick, part by part?

K, which efforts at rest follow by, is D_SS^-1 of those of a part that stick and 0 elsewhere, entry
by entry, or has fewer entries as factors (:mod:`blocks.nonsmooth.modes.held_factors`). Where more
elements may stick than there are motions to hold, internal stress stands beside it.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ...numerics.arrays import Indices
from .held_factors import Acting, FactoredPart, factored_part

__all__ = ["MOST", "HeldParts"]

MOST = 300  # elements that act on each other, by an inverse: each of them needs all the others
MOST_FACTORED = 1000  # the same by factors


class HeldParts:
    """Elements that act on each other, and where their numbers stand in K.

    Parameters
    ----------
    size : how many elements there are
    parts : those that decide and act on each other
    acting : how they do so, where that depends on parameters only

    Attributes
    ----------
    alone : elements that act on no other, whose own entries come first
    full : parts by their inverse, and where that stands in K
    stressed : elements that may share internal stress, which stands behind that
    factored : parts by their factors, which stand behind that
    behind, entries : where these begin, and how many numbers K is
    """

    def __init__(self, size: int, parts: list[Indices], acting: Acting | None) -> None:
        self.size = size
        self.alone = np.array([part[0] for part in parts if len(part) == 1], dtype=int)
        self.full: list[tuple[Indices, Indices]] = []
        self.factored: list[FactoredPart] = []
        self.behind = len(self.alone)
        for part in (part for part in parts if len(part) > 1):
            found = None if acting is None or len(part) > MOST_FACTORED else factored_part(
                part, acting)
            if found is not None:
                self.factored.append(found)
                continue
            n = len(part)
            self.full.append((part, self.behind + np.arange(n * n).reshape(n, n)))
            self.behind += n * n
        stressed = [] if acting is None else [
            part for part, _ in self.full if len(part) <= MOST and acting.share_motions(part)]
        self.stressed = np.concatenate([np.zeros(0, dtype=int), *stressed])
        self.behind += len(self.stressed)
        self.entries = self.behind + sum(one.count for one in self.factored)

    @property
    def few(self) -> bool:
        """Whether no inverse is too large."""
        by_inverse = [len(part) for part, _ in self.full] + [1] * bool(len(self.alone))
        return max(by_inverse, default=0) <= MOST

    def factors(self, modes: ca.SX) -> ca.SX:
        """What stands in K from ``behind`` on."""
        return ca.vertcat(*(part.factors(modes) for part in self.factored))

    def efforts(self, k: ca.SX, rates: ca.SX) -> ca.SX:
        """Efforts that cancel rates, of the elements that decide."""
        out = ca.SX(self.size, 1)
        if len(self.alone):
            out[self.alone.tolist()] = k[: len(self.alone)] * rates[self.alone.tolist()]
        for part, entries in self.full:
            inverse = ca.reshape(k[entries.T.ravel().tolist()], len(part), len(part))
            out[part.tolist()] = ca.mtimes(inverse, rates[part.tolist()])
        start = self.behind
        for one in self.factored:
            out[one.members.tolist()] = one.efforts(
                k[start : start + one.count], rates[one.members.tolist()])
            start += one.count
        return out

    @property
    def stress(self) -> slice:
        """Where internal stress stands in K."""
        return slice(self.behind - len(self.stressed), self.behind)

    def with_stress(self, k: ca.SX, efforts: ca.SX) -> ca.SX:
        """Efforts of all elements, with the internal stress that K has."""
        out = ca.SX(efforts)
        if len(self.stressed):
            out[self.stressed.tolist()] += k[self.stress]
        return out

    # -- for machine code ------------------------------------------------------------------
    @cached_property
    def members(self) -> list[Indices]:
        """Of each part."""
        return [*self.alone[:, None], *(part for part, _ in self.full),
                *(one.members for one in self.factored)]

    @cached_property
    def first(self) -> Indices:
        """Where the numbers of each part begin in K."""
        counts = np.array([one.count for one in self.factored], dtype=int)
        return np.array([*range(len(self.alone)), *(entries[0, 0] for _, entries in self.full),
                         *(self.behind + np.cumsum(counts) - counts)], dtype=np.int64)

    @cached_property
    def columns(self) -> tuple[Indices, Indices, Indices, Indices]:
        """Of the factors of each part: where their columns begin, which member each is of, or -1,
        where its entries begin, and in which rows these are."""
        sizes = [0] * (1 + len(self.alone) + len(self.full)) + [
            len(one.order) for one in self.factored]
        counts = _joined([np.diff(one.starts) for one in self.factored])
        return (np.cumsum(sizes), _joined([one.order for one in self.factored]),
                np.append(0, np.cumsum(counts)), _joined([one.rows for one in self.factored]))


def _joined(parts: list[Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
