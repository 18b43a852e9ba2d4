"""How does a large network read as machine code?

The steps of the evaluation order, each one loop over the instances of a law: code
whose size depends on the number of different laws, not of components. Blocks of linear
equations are solved side by side (:mod:`blocks.native.block_loops`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import casadi as ca
import numpy as np

from ..assembly.algebraic_loops import Block
from ..assembly.flatten import Group
from ..assembly.tape import Step
from ..language.kernel import Kernel, Key
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..numerics.rewriting import instructions
from .block_loops import Solution, write_blocks, write_changes
from .expressions import Unwritable, Writer
from .forms import MOST_TORN
from .loop_text import LoopText, Operand, entries_of
from .places import OUT, P, Places, Q, T, X

if TYPE_CHECKING:
    from ..system import Problem, System

__all__ = ["Loops", "NominalValues"]

#: A law that is solved for an argument, or blocks that are solved side by side.
Evaluation: TypeAlias = Step | list[Block]


@dataclass(frozen=True)
class NominalValues:
    """Nominal values of unknowns that Newton's method solves for, from an entry of ``q`` on."""

    first: int

    def fill(self, q: Array, problem: Problem) -> None:
        """Put the nominal values of a problem's unknowns into ``q``."""
        q[self.first : self.first + len(problem.scale_z)] = problem.scale_z

    @staticmethod
    def values(problem: Problem) -> Array:
        """What is carried along behind the states."""
        return problem.z

    @staticmethod
    def give_back(problem: Problem, values: Array) -> None:
        """Make these the values of the problem."""
        problem.z[:] = values


class Loops:
    """Writes what a system's outputs need, step by step.

    ``offsets`` are those of z, m, d in ``q``, ``scratch`` is the first free entry of ``q``.
    """

    def __init__(self, system: System, offsets: Sequence[int], scratch: int) -> None:
        self.system, self.tape, self.flat = system, system.tape, system.flat
        self.m, self.d = int(offsets[1]), int(offsets[2])
        self.scratch = scratch
        self.text = LoopText()
        self.values = Places(self.flat.classes)
        states = self.tape.reduced.states
        self.values.put(states, X, np.arange(len(states)))
        #: Of unknowns that stay in z, by class: where Newton's method starts in x, and nominal
        #: values in ``q``.
        z_classes, n = self.tape.z_classes, len(states)
        self.starts, self.magnitudes = np.full((2, self.flat.classes), -1)
        self.starts[z_classes] = n + np.arange(len(z_classes))
        self.magnitudes[z_classes] = self.room(len(z_classes))
        self.steps = self._joined_steps()
        #: How blocks have been solved, by their first torn unknown.
        self.solutions: dict[int, Solution] = {}

    def _joined_steps(self) -> list[Evaluation]:
        """The tape, with what a law gives on all levels as one step unless it leads to more of it.

        So there are few long loops, over instances that follow each other in memory.
        """
        steps: list[Evaluation] = []
        kinds: dict[tuple[int, int, int], list[int]] = {}
        giver = np.full(self.flat.classes, -1)
        for key, step in _side_by_side(self.tape.steps):
            for part in _parts(step):
                giver[part.unknowns] = len(steps)
            kinds.setdefault(key, []).append(len(steps))
            steps.append(step)
        kind = np.empty(len(steps), dtype=int)
        for number, members in enumerate(kinds.values()):
            kind[members] = number
        leads = np.zeros((len(kinds), len(kinds)), dtype=bool)  # to the next ones, then to all
        given = giver >= 0
        for k, step in enumerate(steps):
            before = distinct(giver[self._inputs_of(step, given)])
            leads[kind[before[(before >= 0) & (before != k)]], kind[k]] = True
        for k in range(len(kinds)):
            leads |= leads[:, k, None] & leads[k]
        follows = (leads | np.eye(len(kinds), dtype=bool)).sum(axis=0)  # equal in a circle
        first = np.array([members[0] for members in kinds.values()])
        place = np.where(leads.diagonal()[kind], np.arange(len(steps)), first[kind])
        order = np.lexsort([place, follows[kind]])
        return [_joined([steps[k] for k in together])
                for _, together in groupby(order.tolist(), key=lambda k: place[k])]

    def after(self, solved: str) -> None:
        """From now on write functions that begin with a call of one, which has left in ``q`` what
        has been written so far."""
        self.text = LoopText()
        self.text.run(solved)

    def copy(self) -> Loops:
        """Return a copy, with which to write one of these functions."""
        new = copy.copy(self)
        new.text, new.values = LoopText(), self.values.copy()
        new.text.lines += self.text.lines
        new.text.declared |= self.text.declared
        return new

    # -- what is needed ------------------------------------------------------------------
    def solve_loops(self) -> None:
        """All that algebraic loops come to, into ``q``."""
        self._run(self._needed(self.tape.z_classes))

    def slope(self) -> None:
        """x' into ``%out``."""
        states = self.tape.reduced.states
        wanted = self.flat.derivative[states]
        signs = self.flat.derivative_sign[states].astype(float)
        needed = self._needed(wanted)
        self._run(needed, self._read_once(needed, wanted))
        self.text.copy(self.values.operand(wanted, signs), entries_of(OUT, np.arange(len(states))))
        self._predict()

    def _predict(self) -> None:
        """How unknowns that stay in z change with states and time, behind x' in ``%out``.

        Newton's method starts from where this takes them, and a branch is told by it.
        """
        z_classes, states = self.tape.z_classes, self.tape.reduced.states
        entries = self.starts[z_classes]
        if not len(entries):
            return
        changes = self._no_changes(in_time=True)
        changes.put(states, OUT, np.arange(len(states)))
        needed = self._needed(z_classes)
        self._follow(changes, needed, needed)
        self.text.add([changes.operand(z_classes)], [entries_of(OUT, entries)],
                      lambda writer, read: [writer.or_zero(read(0))])

    def _no_changes(self, in_time: bool = False) -> Places:
        """Changes of classes, none of which is known yet: they are zero."""
        zero = self.room(1)
        self.text.fill(entries_of(Q, zero), 0.0)
        return Places(self.flat.classes, int(zero[0]), in_time)

    def _follow(self, changes: Places, needed: Flags, before: Flags) -> None:
        """Append how what is needed changes with what some changes are known of.

        ``before``: what has been solved for, before what is to be solved for here.
        """
        for step in self.steps:
            if isinstance(step, list):
                write_changes(self, [b for b in step if before[b.unknowns[0]]], changes)
                write_changes(self, _needed_blocks(step, needed & ~before), changes)
                continue
            mine = np.flatnonzero(needed[step.unknowns])
            unknowns = step.unknowns[mine]
            group = self.flat.groups[step.group]
            rows = step.equations[mine] - group.first
            moved = self.moved(step.group, rows, changes)
            if changes.in_time and group.law is not None:
                moved |= bool(group.law.solved(step.position).jac_sparsity(
                    0, len(group.law.arguments)).nnz())  # time stands behind them
            if moved.any():
                changes.put(unknowns[moved], Q, self.room(int(moved.sum())))
                self.solve(step.group, rows[moved], step.position, unknowns[moved],
                           changes.operand(unknowns[moved]), changes)

    def project(self) -> None:
        """Into ``%out``: states as they are, and the unknowns that stay in z solved for."""
        z_classes = self.tape.z_classes
        entries, states = self.starts[z_classes], np.arange(len(self.tape.reduced.states))
        self.text.copy(entries_of(X, states), entries_of(OUT, states))
        self._run(self._needed(z_classes))

        def unless_lost(writer: Writer, read: Callable[[int], str]) -> list[str]:
            new = read(0)
            return [writer.select(writer.compare("uno", new, new), read(1), new)]

        self.text.add([self.values.operand(z_classes), entries_of(X, entries)],
                      [entries_of(OUT, entries)], unless_lost)

    def derivatives(self) -> None:
        """The derivative of x' in the direction that stands in ``%out``, which takes its place.

        Where its first entry is no number, all values at (t, x) are put into ``q`` instead, and the
        derivatives of laws there, which those in all directions are then found from.
        """
        states, text = self.tape.reduced.states, self.text
        wanted = self.flat.derivative[states]
        needed = self._needed(wanted)
        entries = self.room(len(states))
        begin, text.lines = text.lines, []
        text.branch("fcmp uno double", OUT, "values", "changes")
        text.lines += begin
        before = self.values.known.copy()
        self._run(needed)
        first, changes = self._no_changes(), self._no_changes()
        for places in (first, changes):  # in a direction, whichever it is
            places.slopes = first.slopes
            places.put(states, Q, entries)
            self._follow(places, needed, before)
            if places is first:
                text.lines += ["  ret void", "changes:"]
                text.copy(entries_of(OUT, np.arange(len(states))), entries_of(Q, entries))
        signs = self.flat.derivative_sign[states].astype(float)
        text.copy(changes.operand(wanted, signs), entries_of(OUT, np.arange(len(states))))
        rest = self.starts[self.tape.z_classes]
        if len(rest):
            text.fill(entries_of(OUT, rest), 0.0)

    def crossings(self) -> None:
        """Crossing functions into ``%out``."""
        self._expressions(lambda kernel: [crossing for crossing, _ in kernel.relations])

    def exponents(self) -> None:
        """Exponents into ``%out``."""
        self._expressions(lambda kernel: kernel.exponents)

    def _expressions(self, of_kernel: Callable[[Kernel], list[ca.SX]]) -> None:
        """Expressions of all families into ``%out``."""
        rows = []
        offset = 0
        wanted: list[Indices] = []
        for f, family in enumerate(self.flat.network.families):
            for expression in of_kernel(family.kernel):
                function, keys = self._row(f, expression)
                instances = np.arange(family.size)
                rows.append((f, function, keys, instances, offset))
                group = Group(f, None, instances)
                wanted += [self.flat.argument(group, key)[0] for key in keys
                           if family.kernel.variables[key[0]].kind != "discrete"]
                offset += family.size
        classes = distinct(np.concatenate(wanted)) if wanted else np.zeros(0, dtype=int)
        self._run(self._needed(classes))
        for f, function, keys, instances, offset in rows:
            self._kernel(function, f, keys, instances, entries_of(OUT, offset + instances))

    def _row(self, f: int, sx: ca.SX) -> tuple[ca.Function, list[Key]]:
        """A kernel expression as a function of the variables in it."""
        kernel = self.flat.network.families[f].kernel
        while True:
            inside = {s.__hash__() for s in ca.symvar(sx)}
            keys = [k for k, s in kernel.symbols.items() if s.__hash__() in inside]
            observed = [k for k in keys if k[0] in kernel.observed]
            if not observed:
                return kernel.function("row", [kernel.symbols[k] for k in keys], sx), keys
            sx = ca.substitute(sx, ca.vertcat(*(kernel.symbols[k] for k in observed)),
                               ca.vertcat(*(kernel.observed[k[0]] for k in observed)))

    def _inputs(self, g: int, rows: Indices) -> list[Indices]:
        """Classes that some equations of a group read or give."""
        group = self.flat.groups[g]
        if group.law is None:
            return [group.terms(rows)[1]]
        one = Group(group.family, group.law, group.instances[rows])
        return [self.flat.argument(one, key)[0] for key in group.law.unknowns]

    def moved(self, g: int, rows: Indices, changes: Places) -> Flags:
        """Which equations of a group have something in them that changes."""
        group = self.flat.groups[g]
        if group.law is None:
            which, classes, _ = group.terms(rows)
            return np.bincount(which[changes.known[classes]], minlength=len(rows)) > 0
        return np.any([changes.known[classes] for classes in self._inputs(g, rows)], axis=0)

    def _needed(self, wanted: Indices) -> Flags:
        """Which classes lead to the wanted ones."""
        need = np.zeros(self.flat.classes, dtype=bool)
        need[wanted] = True
        for step in reversed(self.steps):
            need[self._inputs_of(step, need)] = True
        return need

    def _inputs_of(self, step: Evaluation, need: Flags) -> Indices:
        """Classes in those equations of a law, or of some blocks, that give what is needed."""
        equations = np.concatenate([np.zeros(0, dtype=int), *(
            part.equations if isinstance(part, Block) else part.equations[need[part.unknowns]]
            for part in (_needed_blocks(step, need) if isinstance(step, list) else [step]))])
        of, inputs = self.flat.groups_of(equations), [np.zeros(0, dtype=int)]
        for g in distinct(of):
            inputs += self._inputs(int(g), equations[of == g] - self.flat.groups[g].first)
        return np.concatenate(inputs)

    def _read_once(self, need: Flags, wanted: Indices) -> Flags:
        """Classes that are read once, or wanted, beside the step that gives them; not by blocks."""
        reads = np.bincount(wanted, minlength=self.flat.classes)
        for step in self.steps:
            np.add.at(reads, self._inputs_of(step, need), 2 if isinstance(step, list) else 1)
            if not isinstance(step, list):
                reads[step.unknowns[need[step.unknowns]]] -= 1
        return reads == 1

    # -- steps -----------------------------------------------------------------------------
    def _run(self, need: Flags, late: Flags | None = None) -> None:
        """Write all steps that are needed; what is ``late`` is found where it is read."""
        for step in self.steps:
            if isinstance(step, list):
                write_blocks(self, _needed_blocks(step, need & ~self.values.known))
                continue
            mine = np.flatnonzero(need[step.unknowns] & ~self.values.known[step.unknowns])
            if not len(mine):
                continue
            unknowns, entries = step.unknowns[mine], self.room(len(mine))
            self.values.put(unknowns, Q, entries)
            if late is not None:
                self.text.put_off(entries[late[unknowns]])
            rows = step.equations[mine] - self.flat.groups[step.group].first
            self.solve(step.group, rows, step.position, unknowns, self.values.operand(unknowns))

    def room(self, count: int) -> Indices:
        """So many new entries of ``q``."""
        self.scratch += count
        return np.arange(self.scratch - count, self.scratch)

    def solve(self, g: int, rows: Indices, position: int, unknowns: Indices, target: Operand,
              tangents: Places | None = None, in_loop: bool = False,
              derived: Places | None = None) -> None:
        """Equations of a group, solved for an argument; or the change that follows from others.

        ``g``, ``rows`` and ``position`` are the group, its equations, and the argument;
        ``unknowns`` are given a value at ``target``. ``tangents`` says where changes of other
        unknowns stand, if theirs is asked for, ``derived`` are changes that derivatives are written
        for, beside the values.
        """
        group = self.flat.groups[g]
        if group.law is None:
            which, classes, signs = group.terms(rows)
            mine = classes == unknowns[which]
            own = np.bincount(which[mine], weights=signs[mine], minlength=len(rows))
            self._sums(which[~mine], classes[~mine], -(signs / own[which])[~mine], target, tangents)
            return
        law, instances = group.law, group.instances[rows]
        _, signs = self.flat.argument(Group(group.family, law, instances), law.arguments[position])
        target.factor = target.factor * signs
        self._kernel(law.solved(position, in_loop), group.family, law.arguments, instances, target,
                     tangents, derived)

    def residuals(self, equations: Indices, targets: Indices, tangents: Places | None = None,
                  derived: Places | None = None) -> None:
        """The residuals of equations, or their changes, into entries of ``q``."""
        of = self.flat.groups_of(equations)
        for g in distinct(of):
            mine, group = np.flatnonzero(of == g), self.flat.groups[int(g)]
            if tangents is not None:
                moved = self.moved(int(g), equations[mine] - group.first, tangents)
                self.text.fill(entries_of(Q, targets[mine[~moved]]), 0.0)
                mine = mine[moved]
            rows, target = equations[mine] - group.first, entries_of(Q, targets[mine])
            if group.law is None:
                which, classes, signs = group.terms(rows)
                self._sums(which, classes, signs.astype(float), target, tangents)
            else:
                self._kernel(group.law.value, group.family, group.law.arguments,
                             group.instances[rows], target, tangents, derived)

    def _sums(self, which: Indices, classes: Indices, factors: Array, target: Operand,
              tangents: Places | None) -> None:
        """Sums of terms; ``which`` says, ascending, to which of them a term belongs."""
        if tangents is not None:
            moved = tangents.known[classes]
            which, classes, factors = which[moved], classes[moved], factors[moved]
        key = which * self.flat.classes + classes
        _, first, same = np.unique(key, return_index=True, return_inverse=True)
        if len(first) < len(key):  # a class occurs more than once in a sum
            added = np.bincount(same.ravel(), weights=factors).astype(float)
            order = np.argsort(first)
            first, factors = first[order], added[order]
            which, classes = which[first], classes[first]
        values = self.values if tangents is None else tangents
        self.text.add_sums(which, values.operand(classes, factors), target)

    def _kernel(self, function: ca.Function, f: int, keys: list[Key], instances: Indices,
                target: Operand, tangents: Places | None = None, derived: Places | None = None
                ) -> None:
        """A kernel function on some instances, or its change with those of its arguments."""
        if derived is not None:
            self._slopes(function, f, keys, instances, derived, target)
            return
        if tangents is None:
            self.call(function, self.operands(function, f, keys, instances), target)
            return
        group = Group(f, None, instances)
        symbols: list[ca.SX] = []
        operands: list[Operand] = []
        total = ca.SX(0)

        def read(operand: Operand) -> ca.SX:
            operands.append(operand)
            symbols.append(ca.SX.sym(f"given{len(symbols)}"))
            return symbols[-1]

        for a, slope in self._slopes(function, f, keys, instances, tangents).items():
            factor = slope if isinstance(slope, float) else read(entries_of(Q, slope))
            if a < len(keys):  # behind them stands time
                classes, signs = self.flat.argument(group, keys[a])
                if not tangents.known[classes].any():
                    continue
                factor *= read(tangents.operand(classes, signs.astype(float)))
            total += factor
        self.call(ca.Function("change", symbols, [total]),
                  {(k, 0): operand for k, operand in enumerate(operands)}, target)

    def _slopes(self, function: ca.Function, f: int, keys: list[Key], instances: Indices,
                tangents: Places, value: Operand | None = None) -> dict[int, Indices | float]:
        """Where a kernel function's derivatives stand in ``q``, by the number of the argument.

        They are written where they have not been yet, for these instances or more; and so is the
        function's ``value``.
        """
        written = tangents.slopes.setdefault((function.__hash__(), f), [])
        place = np.empty(self.flat.network.families[f].size, dtype=int)
        for known, places in written:
            place[:] = -1
            place[known] = np.arange(len(known))
            if value is None and (place[instances] >= 0).all():
                return {a: entries if isinstance(entries, float) else entries[place[instances]]
                        for a, entries in places.items()}
        variables, group = self.flat.network.families[f].kernel.variables, Group(f, None, instances)
        varied = [a for a, key in enumerate(keys) if variables[key[0]].kind != "discrete"
                  and tangents.known[self.flat.argument(group, key)[0]].any()]
        symbols = function.sx_in()
        (result,) = function.call(symbols)
        slopes = {a: ca.densify(ca.jacobian(result, symbols[a]))
                  for a in varied + [len(keys)] * tangents.in_time}
        places = {a: float(slope) if slope.is_constant() else self.room(len(instances))
                  for a, slope in slopes.items()}
        written.append((instances, places))
        found = {a: entries_of(Q, entries) for a, entries in places.items()
                 if not isinstance(entries, float)}
        given = [] if value is None else [(result, value)]
        if given := given + [(slopes[a], target) for a, target in found.items()]:
            results, targets = zip(*given, strict=True)
            function = ca.Function("slopes", symbols, ca.vertsplit(ca.cse(ca.vertcat(*results))))
            self.call(function, self.operands(function, f, keys, instances), *targets)
        return places

    def operands(self, function: ca.Function, f: int, keys: list[Key], instances: Indices
                 ) -> dict[tuple[int, int], Operand]:
        """What a kernel function reads on some instances, by argument and entry."""
        kernel, n = self.flat.network.families[f].kernel, len(instances)
        used = {tuple(given) for kind, given, *_ in instructions(function) if kind == ca.OP_INPUT}
        group = Group(f, None, instances)
        operands: dict[tuple[int, int], Operand] = {}
        relations = {r: o for g, r, o in self.tape.relation_layout if g == f}
        discrete = {i: o for g, i, o in self.tape.discrete_layout if g == f}
        layout = [(o, w) for g, _, o, w in self.tape.parameter_layout if g == f]
        for a, i in used:
            if a < len(keys) and kernel.variables[keys[a][0]].kind == "discrete":
                operands[a, i] = entries_of(Q, self.d + discrete[keys[a][0]] + instances)
            elif a < len(keys):
                classes, signs = self.flat.argument(group, keys[a])
                operands[a, i] = self.values.operand(classes, signs.astype(float))
            elif a == len(keys):
                operands[a, i] = entries_of(T, np.zeros(n, dtype=int))
            elif a <= len(keys) + len(relations):
                operands[a, i] = entries_of(Q, self.m + relations[a - len(keys) - 1] + instances)
            else:
                offset, width = layout[a - len(keys) - 1 - len(relations)]
                operands[a, i] = entries_of(P, offset + width * instances + i)
        return operands

    def call(self, function: ca.Function, operands: dict[tuple[int, int], Operand],
             *targets: Operand) -> None:
        """The scalar results of a function, by operands for entries of its arguments."""
        order = sorted(operands)
        number = {place: k for k, place in enumerate(order)}

        def body(writer: Writer, read: Callable[[int], str]) -> list[str]:
            found = [writer.constant(0.0)] * len(targets)
            writer.write(function, lambda a, i: read(number[a, i]),
                         lambda r, _, value: found.__setitem__(r, value))
            return found

        self.text.add([operands[k] for k in order], targets, body)


def _side_by_side(steps: list[Step]) -> Iterator[tuple[tuple[int, int, int], Evaluation]]:
    """Steps level by level, blocks that are solved side by side as one; and their kinds."""
    for (group, _), run in groupby(steps, lambda s: (min(s.group, 0), s.level)):
        if group == 0:
            yield from (((s.group, s.position, 0), s) for s in run)
            continue
        blocks: dict[tuple[int, int, int], list[Block]] = {}
        for step in run:
            assert step.block is not None
            if step.torn > MOST_TORN:
                raise Unwritable("a large model with large algebraic loops")
            blocks.setdefault((-1, len(step.block.torn), step.torn), []).append(step.block)
        yield from blocks.items()


def _parts(step: Evaluation) -> Sequence[Step | Block]:
    return step if isinstance(step, list) else [step]


def _joined(steps: list[Evaluation]) -> Evaluation:
    """Steps of one kind as one, in the order of their equations."""
    laws = [step for step in steps if not isinstance(step, list)]
    if not laws:
        return [block for step in steps if isinstance(step, list) for block in step]
    equations, unknowns = (np.concatenate([getattr(s, name) for s in laws])
                           for name in ("equations", "unknowns"))
    order = np.argsort(equations)
    return replace(laws[0], equations=equations[order], unknowns=unknowns[order])


def _needed_blocks(blocks: list[Block], need: Flags) -> list[Block]:
    return [b for b in blocks if need[b.unknowns].any()]
