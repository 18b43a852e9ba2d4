"""What are the relations of a system called, and which of them are told when they switch?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import casadi as ca
import numpy as np

from ..assembly.network import Family
from ..language.kernel import Kernel
from ..language.readable import crossing, readable
from ..numerics.arrays import Flags, Indices
from ..numerics.rewriting import dependent_pairs, symbols_in
from ..system.system import System
from ..units import SECOND

__all__ = ["Relations"]


class Relations:
    """The relations of all components, numbered as the crossing functions of the system."""

    def __init__(self, system: System) -> None:
        self.system = system
        #: (family, relation of its kernel, number of its first instance)
        self.rows: list[tuple[int, int, int]] = system.tape.relation_layout
        self._described: dict[tuple[int, bool], tuple[str, str]] = {}
        #: Those that hold where their crossing function is zero.
        self.at_zero: Flags = np.zeros(system.nm, dtype=bool)
        #: Those that are the sign of what is rooted: where the opposite one holds, too, it is free.
        self.signs: Flags = np.zeros(system.nm, dtype=bool)
        for f, r, offset in self.rows:
            family = system.network.families[f]
            kernel, mine = family.kernel, slice(offset, offset + family.size)
            self.at_zero[mine] = kernel.relations[r][1]
            self.signs[mine] = kernel.relation_symbols[r].__hash__() in kernel.free_signs

    def describe(self, relation: int, holds: bool) -> tuple[str, str]:
        """(component, what happened) of a relation that switched."""
        key = relation, holds
        if key not in self._described:
            family, instance, sx = self._find(relation)
            units = {"time": SECOND, **{v.name: v.unit for v in family.kernel.variables}}
            self._described[key] = family.path(instance), crossing(
                sx, holds, family.kernel.parameter_hashes, units)
        return self._described[key]

    def condition(self, relation: int) -> str:
        """Component and text of a relation."""
        family, instance, sx = self._find(relation)
        return f"{family.path(instance)}: {readable(sx)} > 0"

    def of(self, family: Family, instance: int) -> Indices:
        """The relations of a component."""
        return np.array([offset + instance for f, _, offset in self.rows
                         if self.system.network.families[f] is family], dtype=int)

    def _find(self, relation: int) -> tuple[Family, int, ca.SX]:
        for f, r, offset in self.rows:
            family = self.system.network.families[f]
            if offset <= relation < offset + family.size:
                kernel = family.kernel
                return family, relation - offset, kernel.free_signs.get(
                    kernel.relation_symbols[r].__hash__(), kernel.relations[r][0])
        raise IndexError(relation)

    @property
    def loops(self) -> Indices:
        """A number for each, the same of those that feel each other through unknowns."""
        return self.system.once("loops of relations", lambda: _loops(self.system))

    @cached_property
    def told(self) -> Flags:
        """Relations whose switching is an event by itself.

        Not those of discrete values, which tell what an event has done already, nor those
        of ``when`` alone: what such a statement assigns is told where it acts.
        """
        told = np.ones(self.system.nm, dtype=bool)
        symbols: dict[int, tuple[set[int], set[int]]] = {}  # of laws and conditions, by family
        for f, r, offset in self.rows:
            family = self.system.network.families[f]
            kernel = family.kernel
            held = {kernel.symbols[i, 0].__hash__() for i in kernel.discrete
                    if i not in kernel.followed}
            free = symbols_in(kernel.relations[r][0])
            mine = kernel.relation_symbols[r].__hash__()
            if f not in symbols:
                symbols[f] = symbols_in(ca.veccat(ca.SX(), *_laws_of(kernel))), symbols_in(
                    ca.veccat(ca.SX(), *(condition for condition, _ in kernel.resets)))
            used, asked = symbols[f]
            consequence = bool(free & held) and free <= held | kernel.parameter_hashes
            told[offset : offset + family.size] = not consequence and (
                mine in used or mine not in asked)
        return told


def _laws_of(kernel: Kernel) -> Iterator[ca.SX]:
    """All expressions of a kernel that act between events."""
    yield from (law.residual for law in kernel.laws)
    yield from kernel.observed.values()
    yield from (value for *_, pairs in kernel.samplings for _, value in pairs)
    yield from (sx for law in kernel.set_valued for sx in law.given)
    yield from (condition for condition, _ in kernel.requirements)
    yield from (value for _, value, *_ in kernel.delays)


def _loops(system: System) -> Indices:
    """A number for each relation, the same of those that feel each other through unknowns."""
    tape, nm, nz, nu = system.tape, system.nm, system.nz, system.nu
    row, column = dependent_pairs(ca.vertcat(tape.crossings, tape.residual),
                                  ca.vertcat(tape.m, tape.z, tape.u))
    first = nm + nz  # of efforts, which may all feel each other
    one = np.concatenate([column, np.arange(first, first + nu)])
    other = np.concatenate([np.where(row < nm, row, row + nz + nu), np.full(nu, first)])
    loop, before = np.arange(first + nu + nz), np.zeros(0, dtype=int)
    while not np.array_equal(loop, before):
        before, lowest = loop.copy(), np.minimum(loop[one], loop[other])
        np.minimum.at(loop, before[one], lowest)
        np.minimum.at(loop, before[other], lowest)
        loop = loop[loop]
    return loop[:nm]
