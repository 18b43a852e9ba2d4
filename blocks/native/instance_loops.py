"""How does a large network read as machine code?

The steps of the evaluation order, each one loop over the instances of a law: code
whose size depends on the number of different laws, not of components.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..assembly.flatten import Group
from ..assembly.tape import Step
from ..language.kernel import Key
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..numerics.rewriting import instructions
from .expressions import Writer
from .loop_text import LoopText, Operand, entries_of
from .places import OUT, P, Places, Q, T, X

if TYPE_CHECKING:
    from ..system import System

__all__ = ["Loops"]


class Loops:
    """Writes what a system's slopes need, step by step.

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
        self.filled = np.full(self.flat.classes, -1)  # the result that a class is, as it stands
        self.steps = self._joined_steps()

    def _joined_steps(self) -> list[Step]:
        """The tape, with what a law gives on all levels as one step unless it leads to more of it.

        So there are few long loops, over instances that follow each other in memory.
        """
        steps = self.tape.steps
        kinds: dict[tuple[int, int], list[int]] = {}
        giver = np.full(self.flat.classes, -1)
        for number, step in enumerate(steps):
            giver[step.unknowns] = number
            kinds.setdefault((step.group, step.position), []).append(number)
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

    # -- what is needed ------------------------------------------------------------------
    def slope(self) -> None:
        """x' into ``%out``."""
        states = self.tape.reduced.states
        wanted = self.flat.derivative[states]
        signs = self.flat.derivative_sign[states].astype(float)
        entries = np.arange(len(states))
        self.filled[wanted[signs > 0]] = entries[signs > 0]
        self.filled[states] = -1
        self._run(self._needed(wanted))
        moved = self.filled[wanted] != entries
        self.text.copy(self.values.operand(wanted[moved], signs[moved]),
                       entries_of(OUT, entries[moved]))

    def _inputs(self, g: int, rows: Indices) -> list[Indices]:
        """Classes that some equations of a group read or give."""
        group = self.flat.groups[g]
        if group.law is None:
            return [group.terms(rows)[1]]
        one = Group(group.family, group.law, group.instances[rows])
        return [self.flat.argument(one, key)[0] for key in group.law.unknowns]

    def _needed(self, wanted: Indices) -> Flags:
        """Which classes lead to the wanted ones."""
        need = np.zeros(self.flat.classes, dtype=bool)
        need[wanted] = True
        for step in reversed(self.steps):
            need[self._inputs_of(step, need)] = True
        return need

    def _inputs_of(self, step: Step, need: Flags) -> Indices:
        """Classes in those equations of a law that give what is needed."""
        equations = step.equations[need[step.unknowns]]
        of, inputs = self.flat.groups_of(equations), [np.zeros(0, dtype=int)]
        for g in distinct(of):
            inputs += self._inputs(int(g), equations[of == g] - self.flat.groups[g].first)
        return np.concatenate(inputs)

    # -- steps -----------------------------------------------------------------------------
    def _run(self, need: Flags) -> None:
        """Write all steps that are needed."""
        for step in self.steps:
            mine = np.flatnonzero(need[step.unknowns])
            if not len(mine):
                continue
            unknowns = step.unknowns[mine]
            result = self.filled[unknowns]
            inner = unknowns[result < 0]
            self.values.put(unknowns, OUT, result)
            self.values.put(inner, Q, self.scratch + np.arange(len(inner)))
            self.scratch += len(inner)
            rows = step.equations[mine] - self.flat.groups[step.group].first
            self._solve(step.group, rows, step.position, unknowns)

    def _solve(self, g: int, rows: Indices, position: int, unknowns: Indices) -> None:
        """Equations of a group, by their number there, solved for an argument."""
        group, target = self.flat.groups[g], self.values.operand(unknowns)
        if group.law is None:
            which, classes, signs = group.terms(rows)
            mine = classes == unknowns[which]
            own = np.bincount(which[mine], weights=signs[mine], minlength=len(rows))
            self._sums(which[~mine], classes[~mine], -(signs / own[which])[~mine], target)
            return
        law, instances = group.law, group.instances[rows]
        _, signs = self.flat.argument(Group(group.family, law, instances), law.arguments[position])
        target.factor = target.factor * signs
        self._kernel(law.solved(position), group.family, law.arguments, instances, target)

    def _sums(self, which: Indices, classes: Indices, factors: Array, target: Operand) -> None:
        """Sums of terms; ``which`` says, ascending, to which of them a term belongs."""
        key = which * self.flat.classes + classes
        _, first, same = np.unique(key, return_index=True, return_inverse=True)
        if len(first) < len(key):  # a class occurs more than once in a sum
            added = np.bincount(same.ravel(), weights=factors).astype(float)
            order = np.argsort(first)
            first, factors = first[order], added[order]
            which, classes = which[first], classes[first]
        self.text.add_sums(which, self.values.operand(classes, factors), target)

    def _kernel(self, function: ca.Function, f: int, keys: list[Key], instances: Indices,
                target: Operand) -> None:
        """A kernel function on some instances."""
        operands = self._operands(function, f, keys, instances)
        order = sorted(operands)
        number = {place: k for k, place in enumerate(order)}

        def body(writer: Writer, read: Callable[[int], str]) -> list[str]:
            found = [writer.constant(0.0)]
            writer.write(function, lambda a, i: read(number[a, i]),
                         lambda r, _, value: found.__setitem__(r, value))
            return found

        self.text.add([operands[k] for k in order], [target], body)

    def _operands(self, function: ca.Function, f: int, keys: list[Key], instances: Indices
                  ) -> dict[tuple[int, int], Operand]:
        """What a kernel function reads on some instances, by argument and entry."""
        kernel, n = self.flat.network.families[f].kernel, len(instances)
        used = {tuple(given) for kind, given, *_ in instructions(function) if kind == ca.OP_INPUT}
        group = Group(f, None, instances)
        operands: dict[tuple[int, int], Operand] = {}
        relations = {r: o for g, r, o in self.tape.relation_layout if g == f}
        layout = [self.tape.parameter_layout[f, one.name] for one in kernel.parameters]
        for a, i in used:
            if a < len(keys) and kernel.variables[keys[a][0]].kind == "discrete":
                first = self.d + self.tape.discrete_layout[f, keys[a][0]]
                operands[a, i] = entries_of(Q, first + instances)
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



def _joined(laws: list[Step]) -> Step:
    """Steps of one kind as one, in the order of their equations."""
    equations, unknowns = (np.concatenate([getattr(s, name) for s in laws])
                           for name in ("equations", "unknowns"))
    order = np.argsort(equations)
    return replace(laws[0], equations=equations[order], unknowns=unknowns[order])
