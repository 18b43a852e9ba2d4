"""What do set-valued laws need, instance by instance, when only a few of many take part?

Of every component with set-valued laws: flows, bounds, gaps and forces as functions of
what it sees of the rest of the network and of its own efforts. One function for all
instances that are solved in the same way, evaluated for as many of them as are asked
for; the cost does not depend on who is connected to whom. Knows no modes and no steps.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ...assembly.flatten import Group
from ...language.expression import TIME
from ...numerics.arrays import Array, grouped
from ...numerics.rewriting import contained, symbols_in
from ...system.evaluator import Evaluator
from ...system.problem import Problem
from ...system.system import System

__all__ = ["Kind", "kinds_of"]


class Kind:
    """Instances of a family whose equations are solved in the same way."""

    def __init__(self, system: System, f: int, instances: np.ndarray, steps: list[Any],
                 elements: np.ndarray) -> None:
        # instances: of the family; elements: (instance, law), numbers of the set-valued elements
        self.family, self.instances, self.elements = f, instances, elements
        kernel = system.network.families[f].kernel
        known = _Variables(system, f, instances, steps)
        self.efforts = known.efforts
        rows = [[ca.SX(0) if sx is None else known.placed(sx) for sx in one.expressions]
                for one in kernel.set_valued]
        # per law, whether it has a gap
        self.contact = np.array([one.is_contact for one in kernel.set_valued])
        flow = ca.vertcat(*(r[0] for r in rows))
        bounds = ca.vertcat(*(ca.vertcat(*(r[k] for r in rows)) for k in range(1, 5)))
        gaps = ca.vertcat(ca.SX(0, 1), *(
            r[5] for r, has in zip(rows, self.contact, strict=True) if has))
        restitution = ca.vertcat(*(r[6] for r in rows))
        computed = list(known.value)
        force = ca.vertcat(*known.value.values())
        idle = ca.substitute(force, self.efforts, ca.SX.zeros(self.efforts.numel()))
        # per variable that the equations compute, whether it is something without efforts
        self.own = np.array([not one.is_zero() for one in ca.vertsplit(idle)], dtype=bool)
        # (instance, variable), classes that the equations compute
        self.forces, self.force_sign = known.classes[computed].T, known.signs[computed].T
        seen = known.read_by(ca.vertcat(flow, bounds, gaps, restitution, force))
        # (instance, variable), classes that the laws look at
        self.seen, self.seen_sign = known.classes[seen].T, known.signs[seen].T
        self.seen_at = self.seen  # where they stand among all that is looked at
        seen_values = ca.vertcat(*(known.symbol[k] for k in seen)) if seen else ca.SX(0, 1)
        by_effort = ca.jacobian(bounds, self.efforts)
        self.loaded = by_effort.nnz() > 0  # whether they depend on efforts at all
        # per law, whether it has no effort unless others of its component have one
        self.follows = ~self.contact & self._vanish_at_rest(bounds)
        # whether the bounds are no affine functions of the efforts
        self.bent = bool(contained(self.efforts, by_effort).any())
        self.suited = not any(ca.which_depends(ca.vertcat(flow, gaps, restitution), self.efforts,
                                               1, True)) and not any(
            ca.which_depends(force, self.efforts, 2, True))
        self._inputs(system, f, kernel, seen_values)
        # gap_of, laws_of: functions of a row of arguments: gaps; and, end to end and column by
        # column, flows, bounds (low, high, back, forth), restitution, derivatives of flows by what
        # is seen, of bounds by the own efforts, and of forces by these
        self.gap_of = self._function(ca.vec(gaps))
        self.laws_of = self._function(ca.vertcat(*map(ca.vec, (
            flow, bounds, restitution, ca.jacobian(flow, seen_values), by_effort,
            ca.jacobian(force, self.efforts)))))  # fmt: skip

    def _vanish_at_rest(self, bounds: ca.SX) -> np.ndarray:
        """Per law, whether all its bounds are zero without any effort."""
        n = self.efforts.numel()
        at_rest = ca.substitute(bounds, self.efforts, ca.SX.zeros(n))
        return np.array([all(at_rest[b * n + k].is_zero() for b in range(4)) for k in range(n)])

    def _inputs(self, system: System, f: int, kernel: Any, seen_values: Any) -> None:
        """Columns of the table of arguments: seen, efforts, time, relations, discrete, p."""
        family = system.network.families[f]
        columns = [seen_values, self.efforts, TIME]
        self.held: list[tuple[str, int]] = []  # in m or d, first place
        for symbol, (_, _, offset) in zip(
                kernel.relation_symbols, (r for r in system.tape.relation_layout if r[0] == f),
                strict=True):
            columns.append(symbol)
            self.held.append(("m", offset))
        for i in kernel.discrete:
            columns.append(kernel.symbols[i, 0])
            self.held.append(("d", system.tape.discrete_layout[f, i]))
        places = []
        for symbol, one in zip(kernel.parameter_symbols, kernel.parameters, strict=True):
            offset, width = system.tape.parameter_layout[f, one.name]
            columns.append(symbol)
            places.append(offset + width * np.arange(family.size)[self.instances][:, None]
                          + np.arange(width))
        self.p_places = np.concatenate(places, axis=1) if places else np.zeros(
            (len(self.instances), 0), dtype=int)
        self.arguments = ca.vertcat(*(ca.vec(c) for c in columns))

    def _function(self, value: ca.SX) -> Evaluator:
        return Evaluator(ca.Function("of_component", [self.arguments], [ca.densify(ca.cse(value))]))

    def table_at(self, p: np.ndarray) -> np.ndarray:
        """A table of arguments, with parameters alone."""
        table = np.zeros((len(self.instances), self.arguments.numel()))
        width = self.p_places.shape[1]
        if width:
            table[:, -width:] = p[self.p_places]
        return table

    def hold(self, table: np.ndarray, m: np.ndarray, d: np.ndarray, instances: np.ndarray) -> None:
        """Write relations and discrete values into a table of arguments."""
        first = self.seen.shape[1] + self.efforts.numel() + 1
        for j, (kind, offset) in enumerate(self.held):
            table[:, first + j] = (m if kind == "m" else d)[offset + instances]

    def gaps_and_flows(self, problem: Problem, t: float, seen: Array) -> tuple[Array, Array]:
        """Gaps and flows of all instances, from what is seen of the rest of the network."""
        table, n = self.table_at(problem.p), self.seen.shape[1]
        table[:, :n] = seen[self.seen_at] * self.seen_sign
        table[:, n + self.efforts.numel()] = t
        self.hold(table, problem.m, problem.d, self.instances)
        gaps, values = (f.at_columns(table.T) for f in (self.gap_of, self.laws_of))
        return gaps.T, values[: len(self.contact)].T


class _Variables:
    """Variables of instances whose equations are solved in the same way, as expressions."""

    def __init__(self, system: System, f: int, instances: np.ndarray, steps: list[Any]) -> None:
        kernel = self.kernel = system.network.families[f].kernel
        keys = [k for k in system.flat.base[f] if k in kernel.symbols]
        # (variable, instance)
        self.classes, self.signs = _classes(system.flat, Group(f, None, instances), keys)
        of_all = _pattern(self.classes[:, :1], self.signs[:, :1])[:, 0]  # which instances share
        self._first, self._sign = np.abs(of_all) - 1, np.sign(of_all)
        at = {k: n for n, k in enumerate(keys)}
        self.efforts = ca.SX.sym("e", len(kernel.set_valued))  # symbols of the set-valued efforts
        # value: expressions of variables that are computed, by the first variable of their class
        self.value: dict[int, Any] = {}
        for n, one in enumerate(kernel.set_valued):
            self._assign(at[one.effort, 0], self.efforts[n])
        # symbols of all first variables
        self.symbol = {k: kernel.symbols[keys[k]] for k in set(self._first.tolist())}
        context = [TIME, *kernel.relation_symbols, *kernel.parameter_symbols]
        for law, position in steps:
            given = [self._of(at[k]) if k in at else kernel.symbols[k] for k in law.arguments]
            self._assign(at[law.arguments[position]],
                         law.solved(position).call([*given, *context], True)[0])
        self._symbols = ca.vertcat(*(kernel.symbols[k] for k in keys))
        self._values = ca.vertcat(*(self._of(k) for k in range(len(keys))))

    def _assign(self, k: int, value: Any) -> None:
        self.value[self._first[k]] = self._sign[k] * value

    def _of(self, k: int) -> Any:
        first = self._first[k]
        return self._sign[k] * self.value.get(first, self.symbol[first])

    def placed(self, sx: Any) -> Any:
        """An expression of the component's variables as one of what is seen and of the efforts."""
        return ca.substitute(self.kernel.unfolded(sx), self._symbols, self._values)

    def read_by(self, expressions: Any) -> list[int]:
        """Variables that are not computed and stand in expressions."""
        inside = symbols_in(expressions)
        return [k for k, symbol in self.symbol.items()
                if k not in self.value and symbol.__hash__() in inside]


def kinds_of(system: System) -> list[Kind] | None:
    """All set-valued laws of a system; None where their equations are no explicit ones."""
    flat = system.flat
    kinds, first = [], 0
    for f, family in enumerate(system.network.families):
        laws = len(family.kernel.set_valued)
        if not laws:
            continue
        size = family.size
        elements = first + np.arange(laws) * size + np.arange(size)[:, None]
        first += laws * size
        steps, members = [], []
        for step in system.tape.steps:
            if step.group < 0:
                continue
            group = flat.groups[step.group]
            if group.law is not None and group.family == f:
                member = np.zeros(size, dtype=bool)
                member[group.instances[step.equations - group.first]] = True
                if group.law.arguments[step.position] not in flat.base[f]:
                    return None  # a derivative is computed
                steps.append((group.law, step.position))
                members.append(member)
        keys = list(flat.base[f])
        alias = _pattern(*_classes(flat, Group(f, None, np.arange(size)), keys))
        marks = np.concatenate([np.array(members, dtype=int).reshape(-1, size), alias])
        _, kind = np.unique(marks, axis=1, return_inverse=True)
        for mine in grouped(kind.ravel()):
            own = [s for s, member in zip(steps, members, strict=True) if member[mine[0]]]
            kinds.append(Kind(system, f, mine, own, elements[mine]))
    return kinds if all(k.suited for k in kinds) else None


def _classes(flat: Any, group: Group, keys: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Class and sign of every key of some instances, (key, instance)."""
    slots = np.array([flat.base[group.family][k] for k in keys])[:, None] + group.instances
    return flat.class_of[slots], flat.sign_of[slots]


def _pattern(classes: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Per key and instance, the first key of the same class, negative for the other sign."""
    first = np.full(classes.shape, -1)
    relative = np.ones(classes.shape, dtype=int)
    for k in range(len(classes)):
        for j in range(k, len(classes)):
            same = (first[j] < 0) & (classes[j] == classes[k])
            first[j][same] = k
            relative[j][same] = (signs[j] * signs[k])[same]
    return (first + 1) * relative
