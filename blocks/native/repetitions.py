"""Which patterns repeat in a long list of expressions, and how do they read as loops?

What a thousand equal components contribute to a function differs by the entries it reads and
fills alone. Operations that serve one result, or one value that several others need, are a
pattern; equal patterns that do not need each other are one loop over their entries. Those that
follow from each other all along a row of components are one loop, too, within a loop over turns. So
code has the size of what differs in a network, whatever formed its expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import casadi as ca
import numpy as np

from ..machine.operations import number
from ..numerics.arrays import Indices
from .expressions import Unwritable, Writer
from .loop_text import BASES, Body, LoopText, entries_of
from .places import OUT, Q

__all__ = ["Repetitions"]

IN_TURN = 3  # loops for each form of patterns from which these are taken in turn, if
BRIEF = 16  # instances of each are fewer: such loops are not worth code of their own

Form: TypeAlias = tuple[object, ...]


@dataclass
class _Pattern:
    """Operations that lead to one value."""

    # nodes, each after those that it needs; the last one is the value
    operations: list[int] = field(default_factory=list)
    # inputs and values of other patterns that are read, numbered
    leaves: dict[int, int] = field(default_factory=dict)
    form: list[Form] = field(default_factory=list)  # the same for equal patterns
    level: int = 0  # of those that it needs, the highest, and one more


class Repetitions:
    """The operations of a function of SX expressions, to be written as loops.

    Its result is filled in as a dense column.
    """

    def __init__(self, function: ca.Function) -> None:
        given = function.sx_in()
        self.function = ca.Function(
            function.name(), given, [ca.densify(r) for r in function.call(given)],
            {"live_variables": False})  # every operation has a place of its own: its node
        self._kind: list[int] = []
        self._needs: list[tuple[int, ...]] = []
        self._number: list[int] = []  # of the instruction
        self._result: dict[int, int] = {}  # by entries, their nodes
        self._read()

    def _read(self) -> None:
        f = self.function
        name, needs = f.instruction_id, f.instruction_input
        for k in range(f.n_instructions()):
            kind, given = name(k), needs(k)
            if kind == ca.OP_OUTPUT:
                self._result[f.instruction_output(k)[1]] = given[0]
                continue
            if kind == ca.OP_CALL and len(f.instruction_output(k)) > 1:
                raise Unwritable("a function of several results")
            self._kind.append(kind)
            self._needs.append(tuple(given))  # which the collector of garbage does not visit
            self._number.append(k)

    def write(self, text: LoopText, places: Mapping[int, tuple[str, int]], scratch: int,
              room: int = Q, entries: Sequence[int] | None = None) -> int:
        """Append the text of the result, into ``%out``; the first entry of ``q`` that is free.

        ``places`` say in which array, and from which entry on, an argument stands; ``scratch`` is
        the first entry of ``q`` that may be used, or of another array: ``room``; ``entries``, of
        ``%out``, are where the result's go, if not in their order.
        """
        wanted = self._result
        if entries is not None:
            wanted = {entries[entry]: node for entry, node in wanted.items()}
        patterns = self._patterns(set(wanted.values()))
        base = np.full(len(self._kind), Q)
        index = np.zeros(len(self._kind), dtype=np.int64)
        for node, kind in enumerate(self._kind):
            if kind == ca.OP_INPUT:
                argument, entry = self._needs[node]
                name, first = places[argument]
                base[node], index[node] = BASES.index(name), first + entry
        copies = []
        for entry, node in wanted.items():
            if node in patterns and base[node] != OUT:
                base[node], index[node] = OUT, entry
            else:
                copies.append((entry, node))
        groups: dict[tuple[int, tuple[Form, ...]], list[int]] = {}
        for node, pattern in patterns.items():
            groups.setdefault((pattern.level, tuple(pattern.form)), []).append(node)
        in_order = sorted(groups.items(), key=lambda item: item[0][0])
        for _, nodes in in_order:
            values = np.array(nodes)
            inner = values[base[values] != OUT]
            base[inner], index[inner] = room, scratch + np.arange(len(inner))
            scratch += len(inner)
        forms: dict[tuple[Form, ...], list[int]] = {}
        for (_, form), nodes in in_order:
            forms.setdefault(form, []).extend(nodes)
        in_turn = len(groups) > max(IN_TURN * len(forms), len(patterns) / BRIEF)
        loops = []
        for nodes in forms.values() if in_turn else (nodes for _, nodes in in_order):
            leaves = np.array([list(patterns[node].leaves) for node in nodes], dtype=np.int64)
            operands = [entries_of(base[leaf], index[leaf]) for leaf in leaves.T]
            levels = np.array([patterns[node].level for node in nodes])
            loops.append((levels, operands, entries_of(base[nodes], index[nodes]),
                          self._body(patterns[nodes[0]])))
        if in_turn:
            text.add_in_turn(1 + max(level for level, _ in groups), loops)
        else:
            for _, operands, target, body in loops:
                text.add(operands, [target], body)
        self._write_copies(text, copies, base, index)
        return scratch

    # -- patterns ------------------------------------------------------------------------------
    def _owners(self, values: set[int]) -> list[int]:
        """The value that each node serves; its own, where there are several; -1 where none."""
        needs, kinds = self._needs, self._kind
        owner = [-1] * len(kinds)
        for node in values:
            owner[node] = node
        for node in range(len(kinds) - 1, -1, -1):
            mine = owner[node]
            if mine < 0 or kinds[node] == ca.OP_INPUT:
                continue
            for other in needs[node]:
                if owner[other] < 0:
                    owner[other] = mine
                elif owner[other] != mine:
                    owner[other] = other
        return owner

    def _patterns(self, values: set[int]) -> dict[int, _Pattern]:
        """Patterns by the node of their value, each after those that it needs."""
        kinds, owner = self._kind, self._owners(values)
        growing: dict[int, _Pattern] = {}
        patterns: dict[int, _Pattern] = {}
        places = [0] * len(kinds)  # of operations in their patterns
        for node, kind in enumerate(kinds):
            mine = owner[node]
            if mine < 0 or kind in (ca.OP_INPUT, ca.OP_CONST):
                continue
            pattern = growing.get(mine)
            if pattern is None:
                pattern = growing[mine] = _Pattern()
            places[node] = len(pattern.operations)
            pattern.operations.append(node)
            form: list[object] = [kind]
            for other in self._needs[node]:
                if kinds[other] == ca.OP_CONST:
                    form.append(number(self._constant(other)))
                elif kinds[other] != ca.OP_INPUT and owner[other] == mine:
                    form.append(places[other])
                else:
                    form.append(-1 - pattern.leaves.setdefault(other, len(pattern.leaves)))
                    if other in patterns:
                        pattern.level = max(pattern.level, patterns[other].level + 1)
            if kind == ca.OP_CALL:
                called = self.function.instructions_sx()[self._number[node]].which_function()
                form.append(called.name())
            pattern.form.append(tuple(form))
            if mine == node:
                patterns[node] = growing.pop(node)
        return patterns

    def _constant(self, node: int) -> float:
        return self.function.instruction_constant(self._number[node])

    # -- text ----------------------------------------------------------------------------------
    def _body(self, pattern: _Pattern) -> Body:
        """What writes a pattern, with a function that reads a leaf."""

        def body(writer: Writer, read: Callable[[int], str]) -> list[str]:
            values = {leaf: read(k) for leaf, k in pattern.leaves.items()}
            conditions: dict[int, str] = {}
            for node in pattern.operations:
                for other in self._needs[node]:
                    if other not in values:  # only numbers are neither read nor calculated before
                        values[other] = writer.constant(self._constant(other))
                writer.operate(self.function, self._number[node], self._needs[node], [node],
                               values, conditions)
            return [values[pattern.operations[-1]]]

        return body

    def _write_copies(self, text: LoopText, copies: list[tuple[int, int]], base: Indices,
                      index: Indices) -> None:
        """Append results that are inputs, numbers, or equal to others."""
        numbers: dict[str, tuple[float, list[int]]] = {}  # by their text: -0.0 is not 0.0
        moved = []
        for entry, node in copies:
            if self._kind[node] == ca.OP_CONST:
                value = self._constant(node)
                numbers.setdefault(number(value), (value, []))[1].append(entry)
            else:
                moved.append((entry, node))
        for value, entries in numbers.values():
            text.fill(entries_of(OUT, np.array(entries)), value)
        if moved:
            at, nodes = np.array(moved).T
            text.copy(entries_of(base[nodes], index[nodes]), entries_of(OUT, at))
