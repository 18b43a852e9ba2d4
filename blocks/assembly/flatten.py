"""Which scalar unknowns and equations, laws and Kirchhoff's, does a network have, aliases removed?

Every variable (and used derivative) of every instance has a *slot*. Equations of the form a == ±b
merge slots into signed *classes*, the unknowns of all that follows: ports of a node, two-port
signs, joined signals, ``der(x) == v``. Structure lives in integer arrays; Python loops run over
classes of components only.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..language.declarations import Port
from ..language.domain import Domain
from ..language.kernel import Key, Law, Local
from ..numerics.arrays import Array, Flags, Indices, distinct
from .aliases import Alias, Link, merged
from .matching import Matching, connected, match
from .network import Family, Network
from .redundant_constraints import End, redundant_constraints

__all__ = ["Base", "Flat", "Group", "Parameters", "Slot", "flatten"]

Parameters: TypeAlias = list[list[Array]]  # per family, of each parameter: (its size, instances)
Base: TypeAlias = list[dict[Key, int]]  # per family, the first slot of every variable, derivative

class Slot(NamedTuple):
    """The variable, or derivative of one, that a slot holds."""

    number: int  # of the family
    family: Family
    instance: int
    local: Local
    order: int  # of the derivative

    @property
    def name(self) -> str:
        name = f"{self.family.path(self.instance)}.{self.local.name}"
        return "der(" * self.order + name + ")" * self.order


@dataclass
class Group:
    """Equations of one law for some instances of one family.

    A group without a law holds node balances: row k says that the signed sum
    of ``classes[starts[k]:starts[k+1]]`` is zero.
    """

    family: int
    law: Law | None
    instances: Indices
    first: int = 0  # number of the first equation
    classes: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    signs: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    starts: Indices = field(default_factory=lambda: np.zeros(1, dtype=int))
    nodes: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    order: int = 0  # how often a node balance has been differentiated

    @property
    def size(self) -> int:
        return len(self.instances) if self.law is not None else len(self.starts) - 1

    @property
    def numbers(self) -> Indices:
        """Numbers of its equations."""
        return np.arange(self.first, self.first + self.size)

    @classmethod
    def sums(cls, classes: Indices, signs: Indices, lengths: Indices | list[int], nodes: Indices,
             order: int = 0) -> Group:
        """Sums of so many terms each, of all classes one behind the other."""
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return cls(-1, None, np.zeros(0, dtype=int), 0, classes, signs, starts, nodes, order)

    def terms(self, rows: Indices) -> tuple[Indices, Indices, Indices]:
        """Which of some node balances, class and sign of every term in them."""
        lengths = np.diff(self.starts)[rows]
        which = np.repeat(np.arange(len(rows)), lengths)
        at = np.arange(len(which)) + (self.starts[rows] - np.cumsum(lengths) + lengths)[which]
        return which, self.classes[at], self.signs[at]


@dataclass
class Flat:
    """The flat system on signed classes."""

    network: Network
    class_of: Indices  # of each slot
    sign_of: Indices
    derivative: Indices  # of each class that of its time derivative (-1: none)
    derivative_sign: Indices
    groups: list[Group]  # equations
    base: Base  # per family, per (variable, order) key, its first slot
    slots: int  # unknowns before alias elimination
    equations_before: int  # the same of equations
    _matched: tuple[Indices, Indices, Matching] | None = field(default=None, repr=False)

    @property
    def classes(self) -> int:
        return len(self.derivative)

    @property
    def equations(self) -> int:
        return self.groups[-1].first + self.groups[-1].size if self.groups else 0

    def grow(self, count: int) -> Indices:
        """Add classes (for new derivatives); returns their numbers."""
        first = self.classes
        self.derivative = np.concatenate([self.derivative, np.full(count, -1)])
        self.derivative_sign = np.concatenate([self.derivative_sign, np.ones(count, dtype=int)])
        return np.arange(first, first + count)

    def argument(self, group: Group, key: Key, create: bool = False) -> tuple[Indices, Indices]:
        """Classes and signs of an argument (variable, order) for a group's instances."""
        i, order = key
        slots = self.base[group.family][i, 0] + group.instances
        return self.follow(self.class_of[slots], self.sign_of[slots], order, create)

    def follow(self, classes: Indices, signs: Indices, order: int, create: bool = False
               ) -> tuple[Indices, Indices]:
        """The ``order``-th derivatives of signed classes."""
        for _ in range(order):
            if create:
                lacking = distinct(classes[self.derivative[classes] < 0])
                if len(lacking):
                    self.derivative[lacking] = self.grow(len(lacking))
            signs = signs * self.derivative_sign[classes]
            classes = self.derivative[classes]
        return classes, signs

    def antiderivatives(self, classes: Indices) -> Indices:
        """All classes whose derivative is among the given ones (parallel springs share one)."""
        return np.flatnonzero((self.derivative >= 0) & np.isin(self.derivative, classes))

    def chains(self) -> Indices:
        """Per class, a label shared by all classes linked by differentiation."""
        has = np.flatnonzero(self.derivative >= 0)
        return connected(has, self.derivative[has], self.classes)

    def heights(self) -> Indices:
        """How many derivatives of each class exist above it."""
        height = np.zeros(self.classes, dtype=int)
        has = np.flatnonzero(self.derivative >= 0)
        while True:
            above = height[self.derivative[has]] + 1
            if np.array_equal(above, height[has]):
                return height
            height[has] = above

    def add(self, group: Group) -> Group:
        group.first = self.equations
        self.groups.append(group)
        return group

    def incidence(self, group: Group) -> tuple[Indices, Indices]:
        """(equation number, class) pairs of a group; exactly repeated pairs may occur."""
        if group.law is None:
            sums = np.repeat(np.arange(group.size), np.diff(group.starts))
            return sums + group.first, group.classes
        columns = [self.argument(group, key)[0] for key in group.law.unknowns]
        return (np.tile(group.numbers, len(columns)),
                np.concatenate([np.zeros(0, dtype=int), *columns]))

    def incidence_of(self, equations: Indices) -> tuple[Indices, Indices]:
        """(equation number, class) pairs of some equations."""
        none = np.zeros(0, dtype=int)
        rows, columns = map(np.concatenate, zip(
            (none, none), *map(self.incidence, self.groups), strict=True))
        chosen = np.zeros(self.equations, dtype=bool)
        chosen[equations] = True
        inside = chosen[rows]
        return rows[inside], columns[inside]

    def compact_incidence(self, equations: Indices, classes: Indices, elements: Any = None
                          ) -> tuple[Indices, Indices]:
        """Pairs of equations, ``elements`` behind them, and classes, by their places here."""
        rows, columns = self.incidence_of(equations)
        row_of = np.full(self.equations, -1)
        row_of[equations] = np.arange(len(equations))
        rows = row_of[rows]
        if elements is not None:
            rows, columns = map(np.concatenate, zip(
                (rows, columns), elements.incidence(len(equations)), strict=True))
        column_of = np.full(self.classes, -1)
        column_of[classes] = np.arange(len(classes))
        inside = column_of[columns] >= 0
        return rows[inside], column_of[columns[inside]]

    def matching(self, equations: Indices, classes: Indices) -> Matching:
        """Which of some equations determines which of some classes; the last answer is kept."""
        if self._matched is None or not (np.array_equal(self._matched[0], equations)
                                         and np.array_equal(self._matched[1], classes)):
            rows, columns = self.compact_incidence(equations, classes)
            self._matched = (equations, classes, match(rows, columns, len(equations), len(classes)))
        return self._matched[2]

    def groups_of(self, equations: Indices) -> Indices:
        """The number of the group that each equation is in."""
        firsts = [g.first for g in self.groups]
        return np.searchsorted(firsts, equations, side="right") - 1

    def group_of(self, equation: int) -> tuple[Group, int]:
        """The group an equation is in, and its row there."""
        group = self.groups[bisect_right(self.groups, equation, key=attrgetter("first")) - 1]
        return group, equation - group.first

    def owner(self, equation: int) -> str:
        """Path of the component that states an equation; empty for the balance of a node."""
        group, row = self.group_of(equation)
        family = None if group.law is None else self.network.families[group.family]
        return "" if family is None else family.path(int(group.instances[row]))

    @cached_property
    def slot_runs(self) -> list[tuple[int, int, int, Key]]:
        """(first slot, count, family, key) of every run of slots, ascending."""
        return sorted((base, self.network.families[f].size, f, key)
                      for f, table in enumerate(self.base) for key, base in table.items())

    def at_slot(self, slot: int) -> Slot:
        """What a slot holds."""
        runs = self.slot_runs
        base, _, f, (i, order) = runs[bisect_right(runs, slot, key=itemgetter(0)) - 1]
        family = self.network.families[f]
        return Slot(f, family, slot - base, family.kernel.variables[i], order)


def flatten(network: Network) -> Flat:
    """Number all slots, merge aliases into classes and list the equations."""
    base, slots = _number_slots(network)
    aliases, links = _stated_aliases(network, base)
    nodes = _nodes(network, base)
    rates = [  # at every port, derivatives of positions are the velocities (of a node: the same)
        Alias(base[f][position, 1] + np.arange(family.size),
              base[f][velocity, 0] + np.arange(family.size), 1)
        for f, family in enumerate(network.families) for position, velocity in family.kernel.rates]
    aliases += nodes.aliases + rates + _even_shares(network, base)
    of_domains = _domain_parameters(network, base)
    aliases += [_equal(one.circuits, one.slots) for one in of_domains]
    aliases += [Alias(base[f][i, 0] + np.array([k]), base[g][j, 0] + np.array([n]), 1)
                for (f, i, k), (g, j, n) in network.reads]
    parents, children = _derivative_slots(network, base)
    class_of, sign_of, zero, links = merged(slots, aliases, links, parents, children)

    count = int(class_of.max()) + 1 if slots else 0
    derivative = np.full(count, -1)
    derivative_sign = np.ones(count, dtype=int)
    derivative[class_of[parents]] = class_of[children]
    derivative_sign[class_of[parents]] = sign_of[parents] * sign_of[children]

    flat = Flat(network, class_of, sign_of, derivative, derivative_sign, [], base, slots,
                sum(len(f.kernel.laws) * f.size for f in network.families) + nodes.equations)
    _list_equations(flat, links, of_domains)
    if len(zero):
        ones = np.ones(len(zero), dtype=int)
        flat.add(Group.sums(zero, ones, ones, -ones))
    if nodes.balances:
        slots_of = np.concatenate(nodes.balances)
        flat.add(Group.sums(class_of[slots_of], sign_of[slots_of], list(map(len, nodes.balances)),
                            np.array(nodes.numbers)))
    return flat


def _number_slots(network: Network) -> tuple[Base, int]:
    base: Base = []
    read, count = {(f, i) for _, (f, i, _) in network.reads}, 0
    for family in network.families:
        kernel = family.kernel
        table = {}
        highest = kernel.highest_orders()
        for key in sorted(kernel.symbols):
            i, order = key
            if i in kernel.observed and (len(base), i) not in read or (
                    kernel.variables[i].kind == "discrete"):
                continue
            if order > highest.get(i, 0):
                continue  # a symbol made for a differentiated law of another model
            table[key] = count
            count += family.size
        base.append(table)
    return base, count


def _stated_aliases(network: Network, base: Base) -> tuple[list[Alias], list[Link]]:
    """Aliases that classes state; those to a derivative are apart, with their law."""
    aliases: list[Alias] = []
    links: list[Link] = []
    for f, family in enumerate(network.families):
        n = np.arange(family.size)
        for law in family.kernel.laws:
            if law.alias is None:
                continue
            a, b, sign = law.alias
            alias = Alias(base[f][a] + n, base[f][b] + n, sign)
            if a[1] == b[1] == 0:
                aliases.append(alias)
            else:
                links.append(Link(alias, f, law))
    return aliases, links


class Nodes(NamedTuple):
    """What joined ports say: aliases, and balances of more than two through variables."""

    aliases: list[Alias]
    balances: list[Indices]  # slots in each
    numbers: list[int]  # and its node
    equations: int  # all of them, before aliases are merged


def _nodes(network: Network, base: Base) -> Nodes:
    """Across variables of a node are aliases; through variables sum to zero.

    Signals are nodes whose members are all equal. Balances of two are aliases.
    """
    aliases: list[Alias] = []
    balances: list[Indices] = []
    numbers: list[int] = []
    equal: dict[tuple[Domain | None, str], list[tuple[Indices, Indices]]] = {}  # with variable
    through: dict[tuple[Domain | None, str], list[tuple[Indices, Indices]]] = {}
    for f, family in enumerate(network.families):
        n = np.arange(family.size)
        for name, (domain, indices) in family.kernel.ports.items():
            nodes = network.balance_of[network.port_numbers(f, name)]
            for variable, i in indices.items():
                table = equal if variable in domain.across else through
                table.setdefault((domain, variable), []).append((nodes, base[f][i, 0] + n))
        for name in family.signals:
            equal.setdefault((None, "signal"), []).append(
                (network.nodes_at(f, name), base[f][family.kernel.index[name], 0] + n))
    count = 0
    for pairs in equal.values():
        aliases.append(_equal(*_sorted_by_node(pairs)))
        count += len(aliases[-1].a)
    for pairs in through.values():
        nodes, slots = _sorted_by_node(pairs)
        _, starts, sizes = np.unique(nodes, return_index=True, return_counts=True)
        count += len(starts)
        two = starts[sizes == 2]
        aliases.append(Alias(slots[two], slots[two + 1], -1))
        for start, size in zip(starts[sizes != 2], sizes[sizes != 2], strict=True):
            balances.append(slots[start : start + size])
            numbers.append(int(nodes[start]))
    return Nodes(aliases, balances, numbers, count)


def _even_shares(network: Network, base: Base) -> list[Alias]:
    """Where elements repeat each other, what they carry between two nodes is the same."""
    def slot(end: End, through: str) -> Indices:
        i = network.families[end.family].kernel.ports[end.port][1][through]
        return np.array([base[end.family][i, 0] + end.instance])

    return [Alias(slot(r.first, r.through), slot(r.again, r.through), 1)
            for r in redundant_constraints(network)]


def _equal(labels: Indices, slots: Indices) -> Alias:
    """Neighbours with the same label are equal."""
    same = np.flatnonzero(labels[1:] == labels[:-1])
    return Alias(slots[same], slots[same + 1], 1)


class DomainParameter(NamedTuple):
    """All places at which one parameter of a domain is read, circuit by circuit."""

    circuits: Indices
    slots: Indices
    families: Indices
    variables: Indices
    instances: Indices
    sets: Flags  # whether the component states it for the circuit


def _domain_parameters(network: Network, base: Base) -> list[DomainParameter]:
    """Per parameter of a domain, where it is."""
    rows: dict[tuple[Domain, str], list[tuple[Indices, ...]]] = {}
    circuits = cache(network.circuits)
    for f, family in enumerate(network.families):
        n, mine, at = np.arange(family.size), np.full(family.size, f), dict[str, Indices]()
        for i in family.kernel.domain_values:
            local = family.kernel.variables[i]
            assert isinstance(local.declared, Port)
            domain = family.kernel.ports[local.port][0]
            if local.port not in at:
                at[local.port] = circuits(domain)[network.nodes_at(f, local.port)]
            rows.setdefault((domain, local.name.partition(".")[2]), []).append(
                (at[local.port], base[f][i, 0] + n, mine, np.full(family.size, i), n,
                 np.full(family.size, local.declared.sets)))
    found = []
    for parts in rows.values():
        columns = [np.concatenate(c) for c in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        found.append(DomainParameter(*(c[order] for c in columns)))
    return found


def _sorted_by_node(pairs: list[tuple[Indices, Indices]]) -> tuple[Indices, Indices]:
    nodes, slots = map(np.concatenate, zip(*pairs, strict=True))
    order = np.argsort(nodes, kind="stable")
    return nodes[order], slots[order]


def _derivative_slots(network: Network, base: Base) -> tuple[Indices, Indices]:
    parents, children = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for f, family in enumerate(network.families):
        n = np.arange(family.size)
        for (i, order), start in base[f].items():
            if order > 0:
                parents.append(base[f][i, order - 1] + n)
                children.append(start + n)
    return np.concatenate(parents), np.concatenate(children)


def _list_equations(flat: Flat, links: list[Link], of_domains: list[DomainParameter]) -> None:
    """Add the equations of all components that are no aliases."""
    equations = {(link.family, id(link.law)) for link in links}
    network = flat.network
    fed = np.zeros(network.nodes, dtype=bool)  # by an output
    for f, family in enumerate(network.families):
        for v in family.kernel.variables:
            if v.kind == "output":
                fed[network.nodes_at(f, v.name)] = True
    for f, family in enumerate(network.families):
        for law in family.kernel.laws:
            if law.alias is None or (f, id(law)) in equations:
                flat.add(Group(f, law, np.arange(family.size)))
        for i in family.kernel.defaults:
            nodes = network.nodes_at(f, family.kernel.variables[i].name)
            lonely = np.unique(nodes, return_index=True)[1]  # one default a node
            lonely = lonely[~fed[nodes[lonely]]]
            fed[nodes[lonely]] = True
            if len(lonely):
                flat.add(Group(f, family.kernel.default_law(i), lonely))
    for f, i in sorted({(f, i) for _, (f, i, _) in network.reads}):
        kernel = network.families[f].kernel
        if i in kernel.observed:
            flat.add(Group(f, kernel.default_law(i), np.arange(network.families[f].size)))
    for one in of_domains:
        for k in np.unique(one.circuits, return_index=True)[1]:
            if not one.sets[one.circuits == one.circuits[k]].any():
                f = int(one.families[k])
                law = network.families[f].kernel.default_law(int(one.variables[k]))
                flat.add(Group(f, law, one.instances[k : k + 1]))
