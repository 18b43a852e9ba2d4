"""What does a class do to its ports: hold them, prescribe them, conserve through them?

Read off the row space of the Jacobian of the class's laws, with internal unknowns eliminated: a
statement such as ``v_R - v_C = given`` is in it or not. Coefficients that are neither numbers nor
parameters are given random values, so a statement that needs a special value of them is never
reported. The laws are joined by their derivatives: a prescribed position prescribes the velocity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..assembly.matching import match
from ..language.domain import Domain
from ..language.kernel import Kernel, Law, LocalParameter
from ..numerics.arrays import Array, Flags
from ..numerics.rewriting import symbols_in
from ..numerics.tolerances import DEPENDENT, OUTSIDE

__all__ = ["Tie", "Traits", "traits_of"]

_known: WeakKeyDictionary[Kernel, Traits] = WeakKeyDictionary()  # as long as the kernel lives


@dataclass(frozen=True)
class Tie:
    """Two ports (or one and the ground) whose across difference a class prescribes."""

    ports: tuple[str, ...]  # one or two port names
    variable: str  # across variable
    given: bool  # by a parameter, an input or time; not just rigid
    value: ca.Function | None = field(default=None, compare=False)  # of parameters alone, if so


@dataclass
class Traits:
    """What a class does to its conserving ports and signals."""

    ties: list[Tie] = field(default_factory=list)  # across differences it prescribes
    #: Names of domains whose through variables sum to zero over its ports.
    conserves: set[str] = field(default_factory=set)
    #: Of (port, through variable): whether it is given by a parameter, an input or time.
    prescribes: dict[tuple[str, str], bool] = field(default_factory=dict)
    feeds: list[tuple[str, str]] = field(default_factory=list)  # inputs to outputs, directly
    #: Ports of one domain that the class joins to one circuit; two sides of a transformer
    #: are two, as either may be shifted against the other.
    circuits: list[tuple[str, ...]] = field(default_factory=list)


def traits_of(kernel: Kernel) -> Traits:
    """The traits of a class (found once per kernel)."""
    if kernel not in _known:
        _known[kernel] = _Reader(kernel).traits()
    return _known[kernel]


class _Reader:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        known = {i for i, v in enumerate(kernel.variables)
                 if v.kind in ("input", "discrete", "domain")}  # fmt: skip
        laws = [*kernel.laws, *(law.derivative for law in kernel.laws)]
        self.keys = sorted({a for law in laws for a in law.arguments if a[0] not in known}
                           | {(i, 0) for _, table in kernel.ports.values()
                              for i in table.values()})  # fmt: skip
        self.column = {key: k for k, key in enumerate(self.keys)}
        matrix = np.zeros((len(laws), len(self.keys)))
        chance = Random(0)
        values = [_typical(p, chance) for p in kernel.parameters]
        for row, law in enumerate(laws):
            for position, key in enumerate(law.arguments):
                if key in self.column:
                    matrix[row, self.column[key]] = _slope(law, position, values, chance)
        self.matrix, self.by_law = matrix, np.ones(len(laws))
        of_ports = [i for _, table in kernel.ports.values() for i in table.values()]
        self.joined = _joined(matrix, np.isin([i for i, _ in self.keys], of_ports))
        self.by_law[self.joined], self.by_key = _scales(matrix[self.joined])
        u, s, vt = np.linalg.svd(
            (self.by_law[:, None] * matrix * self.by_key)[self.joined], full_matrices=False)
        rank = int(np.sum(s > DEPENDENT * max(1.0, s[0] if len(s) else 0.0)))
        self.u, self.s, self.vt = u[:, :rank], s[:rank], vt[:rank]
        own = {s.__hash__() for s in kernel.symbols.values()}
        own |= {s.__hash__() for s in kernel.relation_symbols}
        own -= {kernel.symbols[i, 0].__hash__() for i in known}
        self.gives = np.tile(np.array([not symbols_in(law.residual) <= own
                                       for law in kernel.laws], dtype=bool), 2)

    def weights(self, terms: dict[int, float], order: int = 0) -> Array | None:
        """The scaled laws' combination that says sum(terms) == given, None if there is none."""
        target = np.zeros(len(self.keys))
        for i, coefficient in terms.items():
            if (i, order) not in self.column:
                return None
            target[self.column[i, order]] = coefficient
        target *= self.by_key
        inside = self.vt @ target
        if np.linalg.norm(target - self.vt.T @ inside) > OUTSIDE * np.linalg.norm(target):
            return None
        weights = np.zeros(len(self.matrix))
        weights[self.joined] = self.u @ (inside / self.s)
        return weights

    def difference(self, terms: dict[int, float]) -> Array | None:
        """Return the weights of a sum of across variables or, failing that, of its derivative."""
        w = self.weights(terms)
        return self.weights(terms, 1) if w is None else w

    def given(self, weights: Array) -> bool:
        return bool(np.any(self.gives & (np.abs(weights) > DEPENDENT)))

    def traits(self) -> Traits:
        traits = Traits()
        domains: dict[str, list[tuple[str, Domain, dict[str, int]]]] = {}
        for name, (domain, table) in self.kernel.ports.items():
            domains.setdefault(domain.name, []).append((name, domain, table))
        for domain_name, ports in domains.items():
            domain = ports[0][1]
            for a in domain.across:
                self._ties(traits, ports, a)
            for t in domain.through:
                if self.weights({table[t]: 1.0 for _, _, table in ports}) is not None:
                    traits.conserves.add(domain_name)
                for name, _, table in ports:
                    w = self.weights({table[t]: 1.0})
                    if w is not None:
                        traits.prescribes[name, t] = self.given(w)
            traits.circuits += self._circuits(ports, domain_name in traits.conserves)
        traits.feeds = _feedthrough(self.kernel) if not self.kernel.ports else []
        return traits

    def _circuits(self, ports: list[tuple[str, Domain, dict[str, int]]], conserves: bool
                  ) -> list[tuple[str, ...]]:
        """The fewest ports each whose across variables may be shifted together."""
        names = tuple(name for name, _, _ in ports)
        if len(names) < 3 or not conserves:
            return [names]
        across = next(iter(ports[0][1].across))
        column = {name: self.column[table[across], 0] for name, _, table in ports}
        found: list[tuple[str, ...]] = []
        left = names
        for some in (c for n in range(1, len(names)) for c in combinations(names, n)):
            part = self.matrix[:, [column[name] for name in some]]
            if set(some) <= set(left) and np.all(
                    abs(part.sum(axis=1)) <= OUTSIDE * abs(part).max(axis=1)):
                found.append(some)
                left = tuple(name for name in left if name not in some)
        return [*found, left] if left else found

    def _ties(self, traits: Traits, ports: list[tuple[str, Domain, dict[str, int]]],
              across: str) -> None:
        group = {name: name for name, _, _ in ports}  # ports that ties join, or the ground ("")
        for name, _, table in ports:
            w = self.difference({table[across]: 1.0})
            if w is not None:
                group[name] = ""
                traits.ties.append(Tie((name,), across, self.given(w)))
        for (a, _, first), (b, _, second) in combinations(ports, 2):
            w = None if group[a] == group[b] else self.difference(
                {first[across]: 1.0, second[across]: -1.0})
            if w is not None:
                group = {n: group[a] if g == group[b] else g for n, g in group.items()}
                traits.ties.append(Tie((a, b), across, self.given(w), self._constant(w)))

    def _constant(self, weights: Array) -> ca.Function | None:
        """What a combination of laws gives, where that depends on parameters alone."""
        count = len(self.kernel.laws)
        if not self.given(weights) or np.abs(weights[count:]).max(initial=0) > DEPENDENT:
            return None
        total = sum((w * r * law.residual
                     for w, r, law in zip(weights, self.by_law, self.kernel.laws, strict=False)
                     if abs(w) > DEPENDENT), ca.SX(0))
        unknowns = ca.vertcat(*(self.kernel.symbols[key] for key in self.keys))
        value = -ca.substitute(ca.SX(total), unknowns, ca.SX.zeros(unknowns.shape))
        if not symbols_in(value) <= self.kernel.parameter_hashes:
            return None
        return ca.Function("given", self.kernel.parameter_symbols, [value])


def _joined(matrix: Array, kept: Flags) -> Flags:
    """The laws that a statement of columns to be ``kept`` may join: no other column is in one
    alone."""
    given, joined = matrix != 0, np.ones(len(matrix), dtype=bool)
    while (lone := given[:, ~kept & (given.sum(axis=0) == 1)].any(axis=1)).any():
        joined[lone], given[lone] = False, False
    return joined


def _scales(matrix: Array) -> tuple[Array, Array]:
    """Factors of rows and columns that bring coefficients near one: those of laws have units."""
    rows, columns = np.nonzero(matrix)
    m, n = matrix.shape
    places = np.zeros((len(rows), m + n))
    places[np.arange(len(rows)), rows] = places[np.arange(len(rows)), m + columns] = 1
    powers = np.linalg.lstsq(places, -np.log2(abs(matrix[rows, columns])), rcond=None)[0]
    return np.exp2(powers[:m]), np.exp2(powers[m:])


def _typical(parameter: LocalParameter, chance: Random) -> Array:
    """A value of size one that is nothing special (no ratio of exactly one)."""
    if parameter.size != 1:
        return np.resize(np.asarray(parameter.declared.default, dtype=float).ravel(),
                         parameter.size)[:, None]
    return np.array([[chance.uniform(1.05, 1.95)]])


def _slope(law: Law, position: int, values: list[Array], chance: Random) -> float:
    kind = law.slopes[position]
    if kind == "constant" or (kind == "parameter" and values):
        slope = float(np.ravel(law.slopes_at(position, values))[0])
        if np.isfinite(slope):
            return slope
    return chance.uniform(0.5, 1.5) * chance.choice([-1, 1])


def _feedthrough(kernel: Kernel) -> list[tuple[str, str]]:
    """Pairs of input and output where the output follows the input at once."""
    inputs = [i for i, v in enumerate(kernel.variables) if v.kind == "input"]
    outputs = [i for i, v in enumerate(kernel.variables) if v.kind == "output"]
    if not inputs or not outputs:
        return []
    order: dict[int, int] = {}
    for law in kernel.laws:
        for i, k in law.arguments:
            order[i] = max(order.get(i, 0), k)
    unknown = {i: n for n, i in enumerate(
        i for i, v in enumerate(kernel.variables)
        if v.kind in ("variable", "output") and i not in kernel.observed)}  # fmt: skip
    places = [(row, unknown[i]) for row, law in enumerate(kernel.laws)
              for i, k in law.arguments if i in unknown and k == order[i]]
    rows, columns = np.array(places, dtype=int).reshape(-1, 2).T
    m = match(rows, columns, len(kernel.laws), len(unknown))
    needs = {i: [j for j, k in kernel.laws[m.equation_of[n]].arguments if k == order[j]]
             for i, n in unknown.items() if m.equation_of[n] >= 0}  # lower ones are states
    pairs = []
    for out in outputs:
        seen = {out} if order.get(out, 0) == 0 else set[int]()
        while wider := {j for i in seen for j in needs.get(i, ())} - seen:
            seen |= wider
        pairs += [(kernel.variables[i].name, kernel.variables[out].name)
                  for i in inputs if i in seen]
    return pairs
