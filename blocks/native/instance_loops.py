"""How does a large network read as machine code?

The steps of the evaluation order, each one loop over the instances of a law: code
whose size depends on the number of different laws, not of components. Entries
that follow each other in memory are addressed directly, others through tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import casadi as ca
import numpy as np

from ..assembly.flatten import Group
from ..numerics.arrays import Array, Flags, Indices
from .expressions import Unwritable, Writer
from .machine import table

if TYPE_CHECKING:
    from ..system import System

__all__ = ["Loops"]

MOST_RUNS = 8  # stretches of regular addresses that are written as loops of their own
PARALLEL = """
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
"""


#: Writes the body of a loop, with a function that reads an operand by number; its value's name.
Body: TypeAlias = Callable[[Writer, Callable[[int], str]], str]


@dataclass
class Operand:
    """One value per instance: entries ``index`` of an array, with coefficients."""

    base: Indices  # number of the array, see Loops.BASES
    index: Indices
    factor: Array


class Loops:
    """Writes what a system's outputs need, step by step.

    Parameters
    ----------
    system : System
    p : present parameters; those equal for all instances of a family are read once
    offsets : of z, m, d in ``q``; scratch follows at ``scratch``
    """

    BASES = ("%x", "%q", "%p", "%out", "%t")
    X, Q, P, OUT, T = range(5)

    def __init__(self, system: System, uniform: Flags, offsets: Sequence[int], scratch: int
                 ) -> None:
        self.system, self.uniform = system, uniform
        self.tape, self.flat, self.writer = system.tape, system.flat, system.tape.writer
        self.m, self.d = int(offsets[1]), int(offsets[2])
        self.scratch = scratch
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0
        flat = self.flat
        self.base = np.full(flat.classes, -1)
        self.place = np.zeros(flat.classes, dtype=int)
        self.flip = np.ones(flat.classes)
        states = self.tape.reduced.states
        self.base[states], self.place[states] = self.X, np.arange(len(states))
        self.firsts = np.array([g.first for g in flat.groups])

    # -- what is needed ------------------------------------------------------------------
    def slope(self) -> None:
        """x' into ``%out``."""
        states = self.tape.reduced.states
        wanted = self.flat.derivative[states]
        signs = self.flat.derivative_sign[states].astype(float)
        needed, plain = self._needed(wanted), np.bincount(wanted, minlength=self.flat.classes) == 1
        inner = self._read_by(needed)
        at = np.full(self.flat.classes, -1)
        at[wanted] = np.arange(len(wanted))
        direct = plain & ~inner & (self.base < 0)  # needed for nothing but x'
        self._run(needed, at, direct, dict(zip(wanted.tolist(), signs.tolist(), strict=True)))
        rest = np.flatnonzero(~direct[wanted])
        if len(rest):
            c = wanted[rest]
            if (self.base[c] < 0).any():
                raise Unwritable("a derivative is not computed by a step")
            value = Operand(self.base[c], self.place[c], self.flip[c] * signs[rest])
            self._loop([value], Operand(np.full(len(rest), self.OUT), rest, np.ones(len(rest))),
                       lambda writer, read: read(0))

    def crossings(self) -> None:
        """Crossing functions into ``%out``."""
        rows = []
        offset = 0
        wanted: list[np.ndarray] = []
        for f, family in enumerate(self.flat.network.families):
            for crossing, _ in family.kernel.relations:
                function, keys = self._row(f, crossing)
                instances = np.arange(family.size)
                rows.append((f, function, keys, instances, offset))
                group = Group(f, None, instances)
                for key in keys:
                    if family.kernel.variables[key[0]].kind != "discrete":
                        wanted.append(self.flat.argument(group, key)[0])
                offset += family.size
        classes = np.unique(np.concatenate(wanted)) if wanted else np.zeros(0, dtype=int)
        none = np.zeros(self.flat.classes, dtype=bool)
        self._run(self._needed(classes), np.full(self.flat.classes, -1), none, {})
        for f, function, keys, instances, offset in rows:
            at = Operand(np.full(len(instances), self.OUT), offset + instances,
                         np.ones(len(instances)))
            self._kernel(function, f, keys, instances, at)

    def _row(self, f: int, sx: Any) -> tuple[ca.Function, list[tuple[int, int]]]:
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

    def _inputs(self, step: Any) -> list[np.ndarray]:
        """Classes that the equations of a step read or give."""
        group = self.flat.groups[step.group]
        rows = step.equations - group.first
        if group.law is None:
            counts = np.diff(group.starts)[rows]
            at = np.repeat(group.starts[rows] - np.cumsum(counts) + counts, counts)
            return [group.classes[at + np.arange(counts.sum())]]
        one = Group(group.family, group.law, group.instances[rows])
        kinds = group.law.kernel.variables
        return [self.flat.argument(one, key)[0] for key in group.law.arguments
                if kinds[key[0]].kind != "discrete"]

    def _needed(self, wanted: np.ndarray) -> np.ndarray:
        """Per step which of its rows lead to the wanted classes, as one mask per class."""
        need = np.zeros(self.flat.classes, dtype=bool)
        need[wanted] = True
        for step in reversed(self.tape.steps):
            mine = need[step.unknowns]
            if not mine.any():
                continue
            if step.group < 0:
                raise Unwritable("a large model with algebraic loops")
            for classes in self._inputs(step):
                if len(classes) == len(mine):
                    need[classes[mine]] = True
                else:
                    need[classes] = True
        return need

    def _read_by(self, need: np.ndarray) -> np.ndarray:
        """Classes that are read by a step that is run, beside the one that gives them."""
        reads = np.zeros(self.flat.classes, dtype=int)
        for step in self.tape.steps:
            if step.group < 0 or not need[step.unknowns].any():
                continue
            for classes in self._inputs(step):
                np.add.at(reads, classes, 1)
            np.add.at(reads, step.unknowns, -1)
        return reads > 0

    # -- steps -----------------------------------------------------------------------------
    def _run(self, need: np.ndarray, at: np.ndarray, direct: np.ndarray, sign: dict[int, float]
             ) -> None:
        for step in self.tape.steps:
            mine = np.flatnonzero(need[step.unknowns])
            if not len(mine):
                continue
            unknowns, equations = step.unknowns[mine], step.equations[mine]
            for part in (direct[unknowns], ~direct[unknowns]):
                if part.any():
                    self._assign(step, equations[part], unknowns[part], at, direct, sign)

    def _assign(self, step: Any, equations: np.ndarray, unknowns: np.ndarray, at: np.ndarray,
                direct: np.ndarray, sign: dict[int, float]) -> None:
        n = len(unknowns)
        factor = np.ones(n)
        if direct[unknowns[0]]:
            base, place = self.OUT, at[unknowns]
            factor = np.array([sign[int(c)] for c in unknowns])
        else:
            base, place = self.Q, self.scratch + np.arange(n)
            self.scratch += n
        target = Operand(np.full(n, base), place, factor)
        group = self.flat.groups[step.group]
        rows = equations - group.first
        if group.law is None:
            self._sums(group, rows, unknowns, target)
        else:
            instances = group.instances[rows]
            law = group.law
            one = Group(group.family, law, instances)
            _, signs = self.flat.argument(one, law.arguments[step.position])
            target.factor = target.factor * signs
            self._kernel(law.solved(step.position), group.family, law.arguments, instances, target)
        self.base[unknowns], self.place[unknowns] = base, place
        self.flip[unknowns] = factor if base == self.OUT else 1.0

    def _sums(self, group: Group, rows: np.ndarray, unknowns: np.ndarray, target: Operand) -> None:
        """Node balances, those with the same number of terms together."""
        terms: dict[int, list[tuple[int, list[int], list[float]]]] = {}
        for k, row in enumerate(rows):
            span = slice(group.starts[row], group.starts[row + 1])
            classes, signs = group.classes[span], group.signs[span]
            mine = classes == unknowns[k]
            own = float(signs[mine].sum())
            others: dict[int, float] = {}
            for c, s in zip(classes[~mine].tolist(), signs[~mine].tolist(), strict=True):
                others[c] = others.get(c, 0.0) - s / own
            terms.setdefault(len(others), []).append(
                (k, list(others), list(others.values())))
        for count, found in terms.items():
            picked = np.array([k for k, *_ in found])
            classes = np.array([c for _, c, _ in found]).reshape(len(found), count)
            factors = np.array([s for *_, s in found]).reshape(len(found), count)
            operands = [self._value(classes[:, j], factors[:, j]) for j in range(count)]

            def total(writer: Writer, read: Callable[[int], str], count: int = count) -> str:
                value = read(0) if count else writer.constant(0.0)
                for j in range(1, count):
                    value = writer.binary("fadd", value, read(j))
                return value

            self._loop(operands, Operand(target.base[picked], target.index[picked],
                                         target.factor[picked]), total)

    def _value(self, classes: np.ndarray, factors: np.ndarray) -> Operand:
        if (self.base[classes] < 0).any():
            raise Unwritable("a value is needed before it is known")
        return Operand(self.base[classes], self.place[classes], self.flip[classes] * factors)

    def _kernel(self, function: ca.Function, f: int, keys: list[tuple[int, int]],
                instances: np.ndarray, target: Operand) -> None:
        """A kernel function on some instances."""
        family = self.flat.network.families[f]
        kernel, n = family.kernel, len(instances)
        used = {tuple(function.instruction_input(k)) for k in range(function.n_instructions())
                if function.instruction_id(k) == ca.OP_INPUT}
        group = Group(f, None, instances)
        ones = np.ones(n)
        operands: dict[tuple[int, int], Operand] = {}
        relations = {r: o for g, r, o in self.tape.relation_layout if g == f}
        discrete = {i: o for g, i, o in self.tape.discrete_layout if g == f}
        layout = [(o, w) for g, _, o, w in self.tape.parameter_layout if g == f]
        for a, i in used:
            if a < len(keys):
                key = keys[a]
                if kernel.variables[key[0]].kind == "discrete":
                    operands[a, i] = Operand(np.full(n, self.Q),
                                             self.d + discrete[key[0]] + instances, ones)
                else:
                    classes, signs = self.flat.argument(group, key)
                    operands[a, i] = self._value(classes, signs.astype(float))
                continue
            b = a - len(keys)
            if b == 0:
                operands[a, i] = Operand(np.full(n, self.T), np.zeros(n, dtype=int), ones)
            elif b <= len(relations):
                operands[a, i] = Operand(np.full(n, self.Q),
                                         self.m + relations[b - 1] + instances, ones)
            else:
                offset, width = layout[b - 1 - len(relations)]
                index = offset + width * instances + i
                if self.uniform[index].all():
                    index = np.full(n, index[0])
                operands[a, i] = Operand(np.full(n, self.P), index, ones)
        order = sorted(operands)
        number = {place: k for k, place in enumerate(order)}

        def body(writer: Writer, read: Callable[[int], str]) -> str:
            result = [writer.constant(0.0)]
            writer.write(function, lambda a, i: read(number[a, i]),
                         lambda _, i, value: result.__setitem__(0, value))
            return result[0]

        self._loop([operands[k] for k in order], target, body)

    # -- loops -----------------------------------------------------------------------------
    def _loop(self, operands: list[Operand], target: Operand,
              body: Body) -> None:
        """Write ``target[i] = body(operands[i])``, as few loops as the addresses allow."""
        everything = [*operands, target]
        kinds = np.stack([o.base for o in everything]
                         + [o.factor.view(np.int64) for o in everything])
        _, part = np.unique(kinds, axis=1, return_inverse=True)
        part = part.ravel()
        for k in range(part.max(initial=-1) + 1):
            mine = np.flatnonzero(part == k)
            index = np.stack([o.index[mine] for o in everything])
            first = mine[0]
            bases = [int(o.base[first]) for o in everything]
            factors = [float(o.factor[first]) for o in everything]
            for span, steps in _runs(index):
                self._write(index[:, span], steps, bases, factors, body)

    def _write(self, index: Indices, steps: Indices | None, bases: list[int],
               factors: list[float], body: Body) -> None:
        """One loop over operands and, last, what they give."""
        self.count += 1
        loop = _Loop(f"loop{self.count}", index, steps, [self.BASES[b] for b in bases], factors)
        self.lines += loop.lines(body)
        self.declared |= loop.writer.declared


class _Loop:
    """A loop over instances; of one instance, its body alone.

    Parameters
    ----------
    tag : its name
    index : (operand, instance), entries of their arrays
    steps : by which the entries go on, where all go on by constant steps
    bases, factors : of the operands, arrays and what their values are multiplied by
    """

    def __init__(self, tag: str, index: Indices, steps: Indices | None, bases: list[str],
                 factors: list[float]) -> None:
        self.tag, self.index, self.steps = tag, index, steps
        self.bases, self.factors = bases, factors
        self.count = index.shape[1]
        self.writer = Writer(prefix=f"{tag}.", inline=True)
        self.group = ", !llvm.access.group !0" if self.count > 1 else ""

    def lines(self, body: Body) -> list[str]:
        """The loop's text."""
        writer, tag, last = self.writer, self.tag, len(self.bases) - 1
        value = self._scaled(body(writer, self._read), last)
        at = self._address(last)
        writer.lines.append(f"  store double {value}, ptr {at}, align 8{self.group}")
        if self.count == 1:
            return writer.lines
        return [
            f"  br label %{tag}.head", f"{tag}.head:", f"  br label %{tag}", f"{tag}:",
            f"  %{tag}.i = phi i64 [ 0, %{tag}.head ], [ %{tag}.n, %{tag} ]",
            *writer.lines,
            f"  %{tag}.n = add nuw nsw i64 %{tag}.i, 1",
            f"  %{tag}.c = icmp ult i64 %{tag}.n, {self.count}",
            f"  br i1 %{tag}.c, label %{tag}, label %{tag}.end, !llvm.loop !1", f"{tag}.end:",
        ]  # fmt: skip

    def _read(self, j: int) -> str:
        address = self._address(j)
        return self._scaled(
            self.writer.new(f"load double, ptr {address}, align 8{self.group}"), j)

    def _scaled(self, value: str, j: int) -> str:
        """A value times the factor of an operand."""
        factor = self.factors[j]
        if factor == 1.0:
            return value
        if factor == -1.0:
            return self.writer.new(f"fneg double {value}")
        return self.writer.binary("fmul", value, self.writer.constant(factor))

    def _address(self, j: int) -> str:
        """Where an operand of the present instance stands."""
        new, tag, first = self.writer.new, self.tag, self.index[j, 0]
        step = None if self.steps is None else self.steps[j]
        at = str(first)
        if self.count > 1 and step is None:
            entries = table(np.ascontiguousarray(self.index[j], dtype=np.int32))
            self.writer.declared.add(f"{entries} = external global i32")
            entry = new(f"getelementptr inbounds i32, ptr {entries}, i64 %{tag}.i")
            short = new(f"load i32, ptr {entry}, align 4{self.group}")
            at = new(f"sext i32 {short} to i64")
        elif self.count > 1 and step != 0:
            at = f"%{tag}.i"
            if step != 1:
                at = new(f"mul nsw i64 {at}, {step}")
            at = new(f"add nsw i64 {at}, {first}")
        return new(f"getelementptr inbounds double, ptr {self.bases[j]}, i64 {at}")


def _runs(index: Indices) -> list[tuple[slice, Indices | None]]:
    """Stretches in which all addresses go on by constant steps; one without, where too many."""
    n = index.shape[1]
    if n == 1:
        return [(slice(0, 1), None)]
    steps = np.diff(index, axis=1)
    found: list[tuple[slice, Indices | None]] = []
    start = 0
    changes = np.flatnonzero(np.any(steps[:, 1:] != steps[:, :-1], axis=0)) + 1
    if len(changes) > 4 * MOST_RUNS:
        return [(slice(0, n), None)]
    for end in [*(changes + 1).tolist(), n]:
        if end <= start:
            continue
        length = end - start
        found.append((slice(start, end), steps[:, start] if length > 1 else None))
        start = end
    if len(found) > MOST_RUNS:
        return [(slice(0, n), None)]
    return found
