"""Which scalar unknowns and equations does a network have, aliases removed?

Every variable (and used derivative) of every instance has a *slot*. Equations
of the form a == ±b merge slots into signed *classes*, the unknowns of all that
follows: ports of a node, two-port signs, joined signals, ``der(x) == v``.
Structure lives in integer arrays; Python loops run over classes of components
only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..language.kernel import Law
from .matching import connected, distinct
from .network import Network

__all__ = ["Flat", "Group", "flatten"]

Ints = np.ndarray


@dataclass
class Group:
    """Equations of one law for some instances of one family.

    A group without a law holds node balances: row k says that the signed sum
    of ``classes[starts[k]:starts[k+1]]`` is zero.
    """

    family: int
    law: Law | None
    instances: Ints
    first: int = 0  # number of the first equation
    classes: Ints = field(default_factory=lambda: np.zeros(0, dtype=int))
    signs: Ints = field(default_factory=lambda: np.zeros(0, dtype=int))
    starts: Ints = field(default_factory=lambda: np.zeros(1, dtype=int))
    nodes: Ints = field(default_factory=lambda: np.zeros(0, dtype=int))
    order: int = 0  # how often a node balance has been differentiated

    @property
    def size(self) -> int:
        return len(self.instances) if self.law is not None else len(self.starts) - 1

    def terms(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """Which of some node balances, class and sign of every term in them."""
        lengths = np.diff(self.starts)[rows]
        which = np.repeat(np.arange(len(rows)), lengths)
        at = np.arange(len(which)) + (self.starts[rows] - np.cumsum(lengths) + lengths)[which]
        return which, self.classes[at], self.signs[at]


@dataclass
class Flat:
    """The flat system on signed classes.

    Attributes
    ----------
    class_of, sign_of : per slot, its class and sign
    derivative, derivative_sign : per class, the class of its time derivative (-1: none)
    groups : equations
    slots : unknowns before alias elimination
    equations_before : equations before alias elimination
    base : per family, per (variable, order) key, its first slot
    """

    network: Network
    class_of: Ints
    sign_of: Ints
    derivative: Ints
    derivative_sign: Ints
    groups: list[Group]
    base: list[dict[tuple[int, int], int]]
    slots: int
    equations_before: int

    @property
    def classes(self) -> int:
        return len(self.derivative)

    @property
    def equations(self) -> int:
        return self.groups[-1].first + self.groups[-1].size if self.groups else 0

    def grow(self, count: int) -> Ints:
        """Add classes (for new derivatives); returns their numbers."""
        first = self.classes
        self.derivative = np.concatenate([self.derivative, np.full(count, -1)])
        self.derivative_sign = np.concatenate([self.derivative_sign, np.ones(count, dtype=int)])
        return np.arange(first, first + count)

    def argument(self, group: Group, key: tuple[int, int], create: bool = False
                 ) -> tuple[Ints, Ints]:
        """Classes and signs of an argument (variable, order) for a group's instances."""
        i, order = key
        slots = self.base[group.family][i, 0] + group.instances
        return self.follow(self.class_of[slots], self.sign_of[slots], order, create)

    def follow(self, classes: Ints, signs: Ints, order: int, create: bool = False
               ) -> tuple[Ints, Ints]:
        """The ``order``-th derivatives of signed classes."""
        for _ in range(order):
            if create:
                lacking = distinct(classes[self.derivative[classes] < 0])
                if len(lacking):
                    self.derivative[lacking] = self.grow(len(lacking))
            signs = signs * self.derivative_sign[classes]
            classes = self.derivative[classes]
        return classes, signs

    def antiderivatives(self, classes: Ints) -> Ints:
        """All classes whose derivative is among the given ones (parallel springs share one)."""
        return np.flatnonzero((self.derivative >= 0) & np.isin(self.derivative, classes))

    def chains(self) -> Ints:
        """Per class, a label shared by all classes linked by differentiation."""
        has = np.flatnonzero(self.derivative >= 0)
        return connected(has, self.derivative[has], self.classes)

    def heights(self) -> Ints:
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

    def incidence(self, group: Group) -> tuple[Ints, Ints]:
        """(equation number, class) pairs of a group; exactly repeated pairs may occur."""
        if group.law is None:
            sums = np.repeat(np.arange(group.size), np.diff(group.starts))
            return sums + group.first, group.classes
        rows: list[Ints] = []
        columns: list[Ints] = []
        numbers = np.arange(group.first, group.first + group.size)
        for key in group.law.unknowns:
            classes, _ = self.argument(group, key)
            rows.append(numbers)
            columns.append(classes)
        if not rows:
            return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
        return np.concatenate(rows), np.concatenate(columns)

    def groups_of(self, equations: Ints) -> Ints:
        """The number of the group that each equation is in."""
        firsts = [g.first for g in self.groups]
        return np.searchsorted(firsts, equations, side="right") - 1

    def group_of(self, equation: int) -> tuple[Group, int]:
        """The group an equation is in, and its row there."""
        group = self.groups[int(self.groups_of(np.array([equation]))[0])]
        return group, equation - group.first

    def slot_names(self) -> list[tuple[int, int, int, tuple[int, int]]]:
        """(first slot, count, family, key) of every run of slots, ascending."""
        runs = [
            (base, self.network.families[f].size, f, key)
            for f, table in enumerate(self.base)
            for key, base in table.items()
        ]
        return sorted(runs)

    def name_of_slot(self, slot: int) -> str:
        for base, size, f, (i, order) in self.slot_names():
            if base <= slot < base + size:
                family = self.network.families[f]
                name = f"{family.path(slot - base)}.{family.kernel.variables[i].name}"
                return "der(" * order + name + ")" * order
        raise IndexError(slot)


def flatten(network: Network) -> Flat:
    """Number all slots, merge aliases into classes and list the equations."""
    base, slots = _number_slots(network)
    plain, links = _alias_edges(network, base)
    node_groups, node_edges, node_count = _nodes(network, base)
    plain += node_edges + _rate_edges(network, base) + _shared_edges(network, base)
    parents, children = _derivative_slots(network, base)
    class_of, sign_of, zero, links = _merge(slots, plain, links, parents, children)

    count = int(class_of.max()) + 1 if slots else 0
    derivative = np.full(count, -1)
    derivative_sign = np.ones(count, dtype=int)
    derivative[class_of[parents]] = class_of[children]
    derivative_sign[class_of[parents]] = sign_of[parents] * sign_of[children]

    flat = Flat(network, class_of, sign_of, derivative, derivative_sign, [], base, slots, 0)
    _list_equations(flat, links)
    if len(zero):
        _add_sums(flat, [np.array([c]) for c in zero], [np.ones(1, dtype=int)] * len(zero),
                  np.full(len(zero), -1))
    members, nodes = node_groups
    if len(nodes):
        slots_cat = np.concatenate(members)
        starts = np.concatenate([[0], np.cumsum([len(m) for m in members])])
        flat.add(Group(-1, None, np.zeros(0, dtype=int), classes=class_of[slots_cat],
                       signs=sign_of[slots_cat], starts=starts, nodes=np.array(nodes)))
    flat.equations_before = sum(
        len(f.kernel.laws) * f.size for f in network.families
    ) + node_count
    return flat


def _number_slots(network: Network) -> tuple[list[dict[tuple[int, int], int]], int]:
    base: list[dict[tuple[int, int], int]] = []
    count = 0
    for family in network.families:
        kernel = family.kernel
        table = {}
        highest = kernel.highest_orders()
        for key in sorted(kernel.symbols):
            i, order = key
            if i in kernel.observed or kernel.variables[i].kind == "discrete":
                continue
            if order > highest.get(i, 0):
                continue  # a symbol made for a differentiated law of another model
            table[key] = count
            count += family.size
        base.append(table)
    return base, count


def _alias_edges(network: Network, base: list[dict[tuple[int, int], int]]) -> Any:
    """Edges (a, b, sign) of kernel aliases; those to a derivative are apart, with their law."""
    plain: list[tuple[Ints, Ints, int]] = []
    links: list[tuple[Ints, Ints, int, int, Law]] = []
    for f, family in enumerate(network.families):
        n = np.arange(family.size)
        for law in family.kernel.laws:
            if law.alias is None:
                continue
            a, b, sign = law.alias
            edge = (base[f][a] + n, base[f][b] + n, sign)
            if a[1] == b[1] == 0:
                plain.append(edge)
            else:
                links.append((*edge, f, law))
    return plain, links


def _nodes(network: Network, base: list[dict[tuple[int, int], int]]) -> Any:
    """Across variables of a node are aliases; through variables sum to zero.

    Signals are nodes whose members are all equal. Balances of two are aliases.
    """
    edges: list[tuple[Ints, Ints, int]] = []
    balances: list[Ints] = []
    balance_nodes: list[int] = []
    equal: dict[Any, list[tuple[Ints, Ints]]] = {}
    through: dict[Any, list[tuple[Ints, Ints]]] = {}
    for f, family in enumerate(network.families):
        n = np.arange(family.size)
        for name, (domain, indices) in family.kernel.ports.items():
            nodes = network.balance_of[network.port_numbers(f, name)]
            for variable, i in indices.items():
                table = equal if variable in domain.across else through
                table.setdefault((id(domain), variable), []).append((nodes, base[f][i, 0] + n))
        for i, v in enumerate(family.kernel.variables):
            if v.kind in ("input", "output"):
                nodes = network.node_of[network.port_numbers(f, v.name)]
                equal.setdefault("signal", []).append((nodes, base[f][i, 0] + n))
    count = 0
    for pairs in equal.values():
        nodes, slots = _sorted_by_node(pairs)
        same = np.flatnonzero(nodes[1:] == nodes[:-1])
        count += len(same)
        edges.append((slots[same], slots[same + 1], 1))
    for pairs in through.values():
        nodes, slots = _sorted_by_node(pairs)
        _, starts, sizes = np.unique(nodes, return_index=True, return_counts=True)
        count += len(starts)
        two = starts[sizes == 2]
        edges.append((slots[two], slots[two + 1], -1))
        for start, size in zip(starts[sizes != 2], sizes[sizes != 2], strict=True):
            balances.append(slots[start : start + size])
            balance_nodes.append(int(nodes[start]))
    return (balances, balance_nodes), edges, count


def _rate_edges(network: Network, base: list[dict[tuple[int, int], int]]) -> list[Any]:
    """At every port, the derivatives of positions are the velocities (of a node: the same)."""
    return [
        (base[f][position, 1] + np.arange(family.size),
         base[f][velocity, 0] + np.arange(family.size), 1)
        for f, family in enumerate(network.families) for position, velocity in family.kernel.rates
    ]  # fmt: skip


def _shared_edges(network: Network, base: list[dict[tuple[int, int], int]]) -> list[Any]:
    """Parameters of a domain are equal throughout a circuit."""
    edges = []
    for pairs in _shared(network, base).values():
        circuits, slots, *_ = pairs
        same = np.flatnonzero(circuits[1:] == circuits[:-1])
        edges.append((slots[same], slots[same + 1], 1))
    return edges


def _shared(network: Network, base: list[dict[tuple[int, int], int]]) -> dict[Any, Any]:
    """Per domain parameter: circuit, slot, family, variable, instance and whether it is set."""
    rows: dict[Any, list[Any]] = {}
    circuits: dict[int, Ints] = {}
    for f, family in enumerate(network.families):
        for i in family.kernel.shared:
            local = family.kernel.variables[i]
            domain = family.kernel.ports[local.port][0]
            if id(domain) not in circuits:
                circuits[id(domain)] = network.circuits(domain)
            circuit = circuits[id(domain)]
            nodes = network.node_of[network.port_numbers(f, local.port)]
            n = np.arange(family.size)
            sets = np.full(family.size, local.declared.sets)  # type: ignore[attr-defined]
            rows.setdefault((id(domain), local.name.partition(".")[2]), []).append(
                (circuit[nodes], base[f][i, 0] + n, np.full(family.size, f),
                 np.full(family.size, i), n, sets))
    out = {}
    for key, parts in rows.items():
        columns = [np.concatenate(c) for c in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        out[key] = [c[order] for c in columns]
    return out


def _sorted_by_node(pairs: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    nodes = np.concatenate([p[0] for p in pairs])
    slots = np.concatenate([p[1] for p in pairs])
    order = np.argsort(nodes, kind="stable")
    return nodes[order], slots[order]


def _derivative_slots(network: Network, base: list[dict[tuple[int, int], int]]
                      ) -> tuple[Ints, Ints]:
    parents, children = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for f, family in enumerate(network.families):
        n = np.arange(family.size)
        for (i, order), start in base[f].items():
            if order > 0:
                parents.append(base[f][i, order - 1] + n)
                children.append(start + n)
    return np.concatenate(parents), np.concatenate(children)


def _merge(slots: int, plain: list[Any], links: list[Any], parents: Ints, children: Ints) -> Any:
    """Signed classes, closed under differentiation and free of derivative cycles."""
    edges = list(plain) + [e[:3] for e in links]
    kept = list(links)
    while True:
        class_of, sign_of, zero = _signed_components(slots, edges)
        new = _derivatives_of_aliases(class_of, sign_of, zero, parents, children)
        if new is not None:
            edges.append(new)
            continue
        cyclic = _cyclic_classes(class_of, parents, children)
        if not len(cyclic):
            aliases = {id(e) for e in kept}
            return class_of, sign_of, zero, [e for e in links if id(e) not in aliases]
        # x' == x (or a ring of such) is an equation of motion, not an alias
        bad = {id(e) for e in kept if np.isin(class_of[e[0]], cyclic).any()
               or np.isin(class_of[e[1]], cyclic).any()}
        kept = [e for e in kept if id(e) not in bad]
        edges = list(plain) + [e[:3] for e in kept]


def _signed_components(slots: int, edges: list[Any]) -> tuple[Ints, Ints, Ints]:
    """Union of slots under a == ±b; a class that equals its own negative is zero."""
    a = np.concatenate([np.zeros(0, dtype=int), *(e[0] for e in edges)])
    b = np.concatenate([np.zeros(0, dtype=int), *(e[1] for e in edges)])
    sign = np.concatenate([np.zeros(0, dtype=int), *(
        np.broadcast_to(np.asarray(e[2]), e[0].shape) for e in edges)])
    flip = np.where(sign > 0, 0, slots)
    rows = np.concatenate([a, a + slots])
    columns = np.concatenate([b + flip, np.where(sign > 0, b + slots, b)])
    label = connected(rows, columns, 2 * slots)
    plus, minus = label[:slots], label[slots:]
    low = np.minimum(plus, minus)
    unique, class_of = np.unique(low, return_inverse=True)
    first = np.full(len(unique), slots)
    np.minimum.at(first, class_of, np.arange(slots))  # the class has its first slot's sign
    reference = plus[first][class_of]
    sign_of = np.where(plus == reference, 1, -1)
    zero = distinct(class_of[plus == minus])
    return class_of, sign_of, zero


def _derivatives_of_aliases(class_of: Ints, sign_of: Ints, zero: Ints, parents: Ints,
                            children: Ints) -> Any:
    """New edges where aliases have derivatives that are not yet aliases of the same sign."""
    if not len(parents):
        return None
    order = np.argsort(class_of[parents], kind="stable")
    p, c = parents[order], children[order]
    same = np.flatnonzero(class_of[p][1:] == class_of[p][:-1])
    a, b = c[same], c[same + 1]
    sign = sign_of[p[same]] * sign_of[p[same + 1]]
    fresh = class_of[a] != class_of[b]
    fresh |= (sign_of[a] * sign_of[b] != sign) & ~np.isin(class_of[a], zero)  # both signs: zero
    return (a[fresh], b[fresh], sign[fresh]) if fresh.any() else None


def _cyclic_classes(class_of: Ints, parents: Ints, children: Ints) -> Ints:
    """Classes that are their own derivative of some order."""
    count = int(class_of.max()) + 1 if len(class_of) else 0
    step = np.full(count + 1, count)
    step[class_of[parents]] = class_of[children]
    jump = step.copy()
    for _ in range(max(1, int(np.ceil(np.log2(count + 2))))):
        jump = jump[jump]
    inside = np.flatnonzero(jump[:count] != count)
    return distinct(jump[inside]) if len(inside) else inside


def _list_equations(flat: Flat, unmerged: list[Any]) -> None:
    kept = {(e[3], id(e[4])) for e in unmerged}
    network = flat.network
    fed = _fed(network)
    for f, family in enumerate(network.families):
        for law in family.kernel.laws:
            if law.alias is None or (f, id(law)) in kept:
                flat.add(Group(f, law, np.arange(family.size)))
        for i in family.kernel.defaults:
            nodes = network.node_of[network.port_numbers(f, family.kernel.variables[i].name)]
            lonely = np.unique(nodes, return_index=True)[1]  # one default a node
            lonely = lonely[~fed[nodes[lonely]]]
            fed[nodes[lonely]] = True
            if len(lonely):
                flat.add(Group(f, family.kernel.default_law(i), lonely))
    for circuits, _, families, variables, instances, sets in _shared(network, flat.base).values():
        for k in np.unique(circuits, return_index=True)[1]:
            if not sets[circuits == circuits[k]].any():
                law = network.families[families[k]].kernel.default_law(int(variables[k]))
                flat.add(Group(int(families[k]), law, instances[k : k + 1]))


def _fed(network: Network) -> Ints:
    """Per node, whether an output feeds it."""
    fed = np.zeros(int(network.node_of.max(initial=-1)) + 1, dtype=bool)
    for f, family in enumerate(network.families):
        for v in family.kernel.variables:
            if v.kind == "output":
                fed[network.node_of[network.port_numbers(f, v.name)]] = True
    return fed


def _add_sums(flat: Flat, classes: list[Ints], signs: list[Ints], nodes: Ints) -> None:
    starts = np.concatenate([[0], np.cumsum([len(c) for c in classes])])
    flat.add(Group(-1, None, np.zeros(0, dtype=int), classes=np.concatenate(classes),
                   signs=np.concatenate(signs), starts=starts, nodes=nodes))
