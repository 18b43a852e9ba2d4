"""In which order are the unknowns evaluated, and by which expressions?

Block-triangular order, tearing, and the CasADi expressions that follow from
them. Equations of one law solved for the same argument on the same level are
evaluated as one vector; that list of steps is kept (``Tape.steps``), so another
evaluator can stand behind it.

Small linear blocks are solved symbolically; larger or nonlinear ones keep their
torn unknowns ``z`` with residuals: a semi-explicit DAE of index one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..language.expression import TIME
from .algebraic_loops import (
    Block,
    classes_with_guesses,
    cramer,
    entries,
    pairs_within,
    solvable,
    torn_block,
)
from .flatten import Flat, Group
from .index_reduction import Reduced, Singular
from .matching import distinct, match

__all__ = ["Step", "Tape", "write_tape"]

LARGEST_SYMBOLIC = 3  # unknowns of a torn linear block that are solved for symbolically


@dataclass(frozen=True)
class Step:
    """One vector evaluation: a law of a group solved for an argument, or a block."""

    group: int  # -1 for a torn block
    position: int
    equations: np.ndarray
    unknowns: np.ndarray
    torn: int = 0  # torn unknowns of a block that stay in z
    linear: bool = True


@dataclass
class Tape:
    """CasADi expressions of the reduced system.

    All in SI units: ``x`` states, ``z`` torn unknowns, ``p`` parameters, ``m``
    held relations, ``d`` discrete values, ``u`` inputs of set-valued laws.
    """

    reduced: Reduced
    x: Any
    z: Any
    p: Any
    m: Any
    d: Any
    u: Any
    values: Any  # per class
    slope: Any  # d x / d t
    residual: Any  # 0 == residual(z)
    constraints: Any  # residuals of the clusters' equations, level by level
    crossings: Any
    z_classes: np.ndarray
    steps: list[Step]
    linear: bool  # residual is linear in z with coefficients of parameters only
    parameter_layout: list[tuple[int, str, int, int]]  # family, name, offset, width
    relation_layout: list[tuple[int, int, int]]  # family, relation, offset
    discrete_layout: list[tuple[int, int, int]]  # family, variable, offset
    writer: Any = field(repr=False, default=None)


def write_tape(reduced: Reduced, parameters: list[list[np.ndarray]]) -> Tape:
    """Order the equations of a reduced system and write its expressions.

    Parameters
    ----------
    reduced : Reduced
    parameters : per family, values of the kernel's parameters, (size, n) each
    """
    writer = _Writer(reduced, parameters)
    writer.run()
    return writer.tape()


class _Writer:
    def __init__(self, reduced: Reduced, parameters: list[list[np.ndarray]]) -> None:
        self.reduced, self.flat, self.parameters = reduced, reduced.flat, parameters
        inputs = self.inputs = reduced.inputs
        flat = self.flat
        self.values = ca.SX.nan(flat.classes, 1) if flat.classes else ca.SX(0, 1)
        self.x = ca.SX.sym("x", len(reduced.states))
        self.u = ca.SX.sym("u", len(inputs))
        if len(reduced.states):
            self.values[reduced.states.tolist()] = self.x
        if len(inputs):
            self.values[inputs.tolist()] = self.u
        self._lay_out()
        self.z: list[Any] = []  # columns
        self.z_classes: list[int] = []
        self.residuals: list[Any] = []
        self.steps: list[Step] = []
        self.all_linear = True

    def _lay_out(self) -> None:
        """Symbols of parameters, relations and discrete values, family by family."""
        self.parameter_layout: list[tuple[int, str, int, int]] = []
        self.relation_layout: list[tuple[int, int, int]] = []
        self.discrete_layout: list[tuple[int, int, int]] = []
        self.p_blocks: list[list[Any]] = []
        self.m_blocks: list[list[Any]] = []
        self.d_blocks: list[dict[int, Any]] = []
        p, m, d = [], [], []
        sizes = [0, 0, 0]
        for f, family in enumerate(self.flat.network.families):
            kernel, n = family.kernel, family.size
            blocks = []
            for parameter in kernel.parameters:
                symbol = ca.SX.sym("p", parameter.size, n)
                blocks.append(symbol)
                p.append(ca.vec(symbol))
                self.parameter_layout.append((f, parameter.name, sizes[0], parameter.size))
                sizes[0] += parameter.size * n
            self.p_blocks.append(blocks)
            rows = []
            for r in range(len(kernel.relations)):
                symbol = ca.SX.sym("m", 1, n)
                rows.append(symbol)
                m.append(symbol.T)
                self.relation_layout.append((f, r, sizes[1]))
                sizes[1] += n
            self.m_blocks.append(rows)
            table = {}
            for i in kernel.discrete:
                symbol = ca.SX.sym("d", 1, n)
                table[i] = symbol
                d.append(symbol.T)
                self.discrete_layout.append((f, i, sizes[2]))
                sizes[2] += n
            self.d_blocks.append(table)
        self.p, self.m, self.d = (ca.vertcat(*s) if s else ca.SX(0, 1) for s in (p, m, d))

    # -- evaluation of laws ---------------------------------------------------------
    def gather(self, classes: np.ndarray, signs: np.ndarray) -> Any:
        """Signed values of classes as a row."""
        row = _take(self.values, classes).T
        if (signs > 0).all():
            return row
        if (signs < 0).all():
            return -row
        return row * ca.DM(signs).T

    def arguments(self, f: int, keys: list[tuple[int, int]], instances: np.ndarray,
                  memory: dict[int, Any] | None = None) -> list[Any]:
        """Rows for a kernel function: variables, time, relations, parameters.

        ``memory`` are other symbols for the component's own discrete variables.
        """
        group = Group(f, None, instances)
        kernel = self.flat.network.families[f].kernel
        n = len(instances)
        # in order, since a level may list all instances in another one
        every = np.array_equal(instances, np.arange(self.flat.network.families[f].size))
        rows = []
        for key in keys:
            if kernel.variables[key[0]].kind == "discrete":
                block = (memory or self.d_blocks[f])[key[0]]
                rows.append(block if every else block[0, instances.tolist()])
            else:
                rows.append(self.gather(*self.flat.argument(group, key)))
        rows.append(ca.repmat(TIME, 1, n))
        for block in (*self.m_blocks[f], *self.p_blocks[f]):
            rows.append(block if every else block[:, instances.tolist()])
        return rows

    def call(self, function: ca.Function, f: int, keys: list[tuple[int, int]],
             instances: np.ndarray, memory: dict[int, Any] | None = None) -> Any:
        """A kernel function on some instances, as a row."""
        rows = self.arguments(f, keys, instances, memory)
        if len(instances) == 1:
            return function.call(rows, True, False)[0]
        return function.map(len(instances)).call(rows, True, False)[0]

    def residuals_of(self, equations: np.ndarray) -> Any:
        """Residuals of any equations as a column."""
        out = ca.SX(len(equations), 1)
        group_of = self.flat.groups_of(equations)
        for g in distinct(group_of):
            group = self.flat.groups[int(g)]
            mine = np.flatnonzero(group_of == g)
            rows = equations[mine] - group.first
            if group.law is None:
                column = self._sums(*self._terms(group, rows), len(rows))
            else:
                column = self.call(group.law.value, group.family, group.law.arguments,
                                   group.instances[rows]).T
            _put(out, mine, column)
        return ca.densify(out)

    def _terms(self, group: Group, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Terms of some node balances: which balance, class and sign."""
        return group.terms(rows)

    def _sums(self, which: np.ndarray, classes: np.ndarray, factors: np.ndarray, count: int) -> Any:
        """``count`` sums of factors times values of classes, as a column."""
        if not len(classes):
            return ca.SX.zeros(count, 1)
        used, local = np.unique(classes, return_inverse=True)
        # a class may occur more than once in a sum: add its coefficients up
        place, term = np.unique(which * len(used) + local, return_inverse=True)
        row, column = np.divmod(place, len(used))
        factors = np.bincount(term, weights=factors)
        matrix = ca.DM.triplet(row.tolist(), column.tolist(), ca.DM(factors), count, len(used))
        return ca.densify(ca.mtimes(ca.SX(matrix), _take(self.values, used)))

    def assign(self, group: Group, rows: np.ndarray, position: int, unknowns: np.ndarray) -> None:
        """Solve rows of a group for one argument (a position) and store the values."""
        if group.law is None:
            self._assign_sums(group, rows, unknowns)
            return
        instances = group.instances[rows]
        law = group.law
        rest = list(law.arguments)
        value = self.call(law.solved(position), group.family, rest, instances)
        one = Group(group.family, law, instances)
        _, signs = self.flat.argument(one, law.arguments[position])
        if not (signs > 0).all():
            value = value * ca.DM(signs).T
        _put(self.values, unknowns, value.T)

    def _assign_sums(self, group: Group, rows: np.ndarray, unknowns: np.ndarray) -> None:
        which, classes, signs = self._terms(group, rows)
        mine = classes == unknowns[which]
        own_sign = np.zeros(len(rows), dtype=int)
        np.add.at(own_sign, which[mine], signs[mine])
        factors = -(signs / own_sign[which])[~mine]
        _put(self.values, unknowns, self._sums(which[~mine], classes[~mine], factors, len(rows)))

    # -- order ------------------------------------------------------------------------
    def run(self) -> None:
        reduced, flat = self.reduced, self.flat
        equations, unknowns = reduced.equations, reduced.unknowns
        rows, columns = _incidence(flat, equations, unknowns)
        m = match(rows, columns, len(equations), len(unknowns))
        if not m.perfect:
            raise Singular(equations[m.over_equations], unknowns[m.over_unknowns],
                           equations[m.under_equations], unknowns[m.under_unknowns], "index")
        reduced.matching = m
        self.position = self._explicit_positions(equations, unknowns[m.unknown_of])
        starts = m.block_starts
        sizes = np.diff(starts)
        block_of = np.empty(len(equations), dtype=int)
        block_of[m.block_equations] = np.repeat(np.arange(len(sizes)), sizes)
        column_block = np.empty(len(unknowns), dtype=int)
        column_block[m.block_unknowns] = np.repeat(np.arange(len(sizes)), sizes)
        hard = (sizes > 1) | (self.position[m.block_equations[starts[:-1]]] < 0)
        wanted = classes_with_guesses(flat)
        pairs = pairs_within(reduced, self.parameters, block_of, column_block, hard)
        level = _levels(column_block[columns], block_of[rows], len(sizes))
        for blocks in _by_level(level):
            easy = blocks[~hard[blocks]]
            local = m.block_equations[starts[easy]]
            self._assign_level(equations[local], unknowns[m.unknown_of[local]],
                               self.position[local])
            self._solve_blocks([
                torn_block(equations[m.block_equations[starts[b] : starts[b + 1]]],
                           unknowns[m.block_unknowns[starts[b] : starts[b + 1]]],
                           pairs.of_block(b), wanted)
                for b in blocks[hard[blocks]]
            ])  # fmt: skip

    def _explicit_positions(self, equations: np.ndarray, unknown_of: np.ndarray) -> np.ndarray:
        """Per equation the argument it can be solved for explicitly, -1 where it cannot."""
        wanted = np.full(self.flat.equations, -1)
        wanted[equations] = unknown_of
        position = np.full(self.flat.equations, -1)
        for group in self.flat.groups:
            numbers = np.arange(group.first, group.first + group.size)
            want = wanted[numbers]
            if group.law is None:
                which = np.repeat(np.arange(group.size), np.diff(group.starts))
                hits = np.zeros(group.size, dtype=int)
                np.add.at(hits, which, (group.classes == want[which]).astype(int))
                position[numbers[(want >= 0) & (hits == 1)]] = 0
                continue
            position[numbers] = self._law_positions(group, want)
        return position[equations]

    def _law_positions(self, group: Group, want: np.ndarray) -> np.ndarray:
        law = group.law
        assert law is not None
        position = np.full(group.size, -1)
        hits = np.zeros(group.size, dtype=int)
        for k, key in enumerate(law.arguments):
            if law.kernel.variables[key[0]].kind == "discrete":
                continue
            mine = (self.flat.argument(group, key)[0] == want) & (want >= 0)
            hits += mine
            if mine.any():
                position[mine] = solvable(group, k, self.parameters)[0][mine]
        position[hits != 1] = -1
        return position

    def _assign_level(self, equations: np.ndarray, unknowns: np.ndarray, position: np.ndarray
                      ) -> None:
        """Vector evaluation of independent explicit equations."""
        for g, k, mine in self._alike(equations, position):
            self.assign(self.flat.groups[g], equations[mine] - self.flat.groups[g].first, k,
                        unknowns[mine])
            self.steps.append(Step(g, k, equations[mine], unknowns[mine]))

    def _alike(self, equations: np.ndarray, position: np.ndarray
               ) -> Iterator[tuple[int, int, np.ndarray]]:
        """Equations of one group that are solved for the same argument."""
        key = self.flat.groups_of(equations) * 1000 + position
        order = np.argsort(key, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(key) else ():
            g, k = divmod(int(key[mine[0]]), 1000)
            yield g, k, mine

    # -- blocks -------------------------------------------------------------------------
    def _solve_blocks(self, blocks: list[Block]) -> None:
        """Independent blocks: evaluated side by side, the small linear ones solved."""
        if not blocks:
            return
        counts = [len(b.torn) for b in blocks]
        ends = np.cumsum(counts)
        torn = np.concatenate([b.torn for b in blocks])
        z = ca.SX.sym("z", len(torn))
        residuals = self._evaluate_torn(blocks, torn, z)
        spans = [np.arange(e - n, e) for e, n in zip(ends, counts, strict=True)]
        unsure = [i for i, b in enumerate(blocks) if not b.linear]
        linear = np.array([b.linear for b in blocks])
        constant = linear.copy()
        for i in unsure:
            linear[i], constant[i] = self._linearity(residuals[spans[i].tolist()],
                                                     z[spans[i].tolist()])
        small = [i for i, n in enumerate(counts) if linear[i] and n <= LARGEST_SYMBOLIC]
        if small:
            self._solve_small([blocks[i] for i in small], residuals, z, [spans[i] for i in small])
        kept = np.setdiff1d(np.arange(len(blocks)), small)
        if len(kept):
            rows = np.concatenate([spans[i] for i in kept])
            self.z.append(z[rows.tolist()])
            self.z_classes += torn[rows].tolist()
            self.residuals.append(residuals[rows.tolist()])
            self.all_linear = self.all_linear and bool(constant[kept].all())
        for i, b in enumerate(blocks):
            self.steps.append(Step(-1, -1, b.equations, b.unknowns, counts[i] * int(i in kept),
                                   bool(linear[i])))

    def _linearity(self, residuals: Any, z: Any) -> tuple[bool, bool]:
        """Whether residuals are linear in z, and whether with coefficients of parameters only."""
        free = {s.__hash__() for s in ca.symvar(ca.jacobian(residuals, z))}
        linear = not any(s.__hash__() in free for s in ca.vertsplit(z))
        return linear, linear and free <= self._parameter_hashes

    def _solve_small(self, blocks: list[Block], residuals: Any, z: Any, spans: list[np.ndarray]
                     ) -> None:
        """Cramer's rule for all blocks at once that have the same number of torn unknowns."""
        for n in sorted({len(span) for span in spans} - {0}):
            mine = [i for i, span in enumerate(spans) if len(span) == n]
            places = np.stack([spans[i] for i in mine])  # block, unknown
            r, unknown = residuals[places.ravel().tolist()], z[places.ravel().tolist()]
            jacobian = ca.jacobian(r, unknown)
            at_zero = ca.substitute(r, unknown, ca.SX.zeros(places.size))
            base = np.arange(len(mine)) * n
            entry = [[entries(jacobian, base + i, base + j) for j in range(n)] for i in range(n)]
            solution = ca.SX.zeros(places.size)
            for j, column in enumerate(cramer(entry, [-at_zero[i::n] for i in range(n)])):
                solution[j::n] = column
            self._evaluate_torn([blocks[i] for i in mine],
                                np.concatenate([blocks[i].torn for i in mine]), solution)

    @cached_property
    def _parameter_hashes(self) -> set[int]:
        return {s.__hash__() for s in ca.symvar(self.p)}

    def _evaluate_torn(self, blocks: list[Block], torn: np.ndarray, z: Any) -> Any:
        """All values of some blocks from their torn unknowns; the residuals that are left."""
        _put(self.values, torn, z)
        equations, unknowns, position, depth = (
            np.concatenate([getattr(b, name) for b in blocks])
            for name in ("solved", "assigned", "position", "depth"))
        for now in _by_level(depth):
            for g, k, mine in self._alike(equations[now], position[now]):
                at = now[mine]
                group = self.flat.groups[g]
                self.assign(group, equations[at] - group.first, k, unknowns[at])
        return self.residuals_of(np.concatenate([b.leftover for b in blocks]))

    # -- results ----------------------------------------------------------------------
    def tape(self) -> Tape:
        reduced, flat = self.reduced, self.flat
        states = reduced.states
        signs = flat.derivative_sign[states]
        slope = self.gather(flat.derivative[states], signs).T if len(states) else ca.SX(0, 1)
        constraints = [
            self.residuals_of(equations)
            for cluster in reduced.clusters for equations, _ in cluster.levels
        ]
        crossings = []
        for f, family in enumerate(flat.network.families):
            for crossing, _ in family.kernel.relations:
                crossings.append(self.kernel_row(f, crossing).T)
        return Tape(
            reduced, self.x, ca.vertcat(*self.z) if self.z else ca.SX(0, 1), self.p, self.m,
            self.d, self.u, self.values, slope,
            ca.vertcat(*self.residuals) if self.residuals else ca.SX(0, 1),
            ca.vertcat(*constraints) if constraints else ca.SX(0, 1),
            ca.vertcat(*crossings) if crossings else ca.SX(0, 1),
            np.array(self.z_classes, dtype=int), self.steps, self.all_linear,
            self.parameter_layout, self.relation_layout, self.discrete_layout, self,
        )  # fmt: skip

    def kernel_row(self, f: int, sx: Any, instances: np.ndarray | None = None,
                   memory: dict[int, Any] | None = None) -> Any:
        """A kernel expression (crossing, observed variable, …) on all instances of a family."""
        kernel = self.flat.network.families[f].kernel
        inside = {s.__hash__() for s in ca.symvar(sx)}
        keys = [k for k, s in kernel.symbols.items() if s.__hash__() in inside]
        observed = [k for k in keys if k[0] in kernel.observed]
        if observed:
            sx = ca.substitute(sx, ca.vertcat(*(kernel.symbols[k] for k in observed)),
                               ca.vertcat(*(kernel.observed[k[0]] for k in observed)))
            return self.kernel_row(f, sx, instances, memory)
        function = kernel.function("row", [kernel.symbols[k] for k in keys], sx)
        every = np.arange(self.flat.network.families[f].size)
        return self.call(function, f, keys, every if instances is None else instances, memory)


def _take(values: Any, index: np.ndarray) -> Any:
    n = len(index)
    if n and index[-1] - index[0] == n - 1 and (np.diff(index) == 1).all():
        return values[int(index[0]) : int(index[-1]) + 1]
    return values[index.tolist()]


def _put(values: Any, index: np.ndarray, column: Any) -> None:
    n = len(index)
    if n and index[-1] - index[0] == n - 1 and (np.diff(index) == 1).all():
        values[int(index[0]) : int(index[-1]) + 1] = column
    else:
        values[index.tolist()] = column


def _incidence(flat: Flat, equations: np.ndarray, unknowns: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray]:
    from .index_reduction import _all_incidence

    rows, columns = _all_incidence(flat, equations)
    row_of = np.full(flat.equations, -1)
    row_of[equations] = np.arange(len(equations))
    column_of = np.full(flat.classes, -1)
    column_of[unknowns] = np.arange(len(unknowns))
    keep = column_of[columns] >= 0
    return row_of[rows[keep]], column_of[columns[keep]]


def _levels(source: np.ndarray, target: np.ndarray, count: int) -> np.ndarray:
    """Longest path to each block, by peeling blocks that need nothing open (Kahn)."""
    cross = source != target
    edges = distinct(source[cross].astype(np.int64) * count + target[cross])
    source, target = edges // max(count, 1), edges % max(count, 1)
    waiting = np.bincount(target, minlength=count)
    start = np.searchsorted(source, np.arange(count + 1))
    level = np.zeros(count, dtype=int)
    front = np.flatnonzero(waiting == 0)
    depth = 0
    while len(front):
        level[front] = depth
        lengths = start[front + 1] - start[front]
        reach = np.repeat(start[front] - np.cumsum(lengths) + lengths, lengths) + np.arange(
            lengths.sum()
        )
        hit, times = np.unique(target[reach], return_counts=True)
        waiting[hit] -= times
        front = hit[waiting[hit] == 0]
        depth += 1
    return level


def _by_level(level: np.ndarray) -> list[np.ndarray]:
    order = np.argsort(level, kind="stable")
    cuts = np.flatnonzero(np.diff(level[order])) + 1
    return np.split(order, cuts) if len(order) else []
