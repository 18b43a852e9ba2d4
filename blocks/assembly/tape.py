"""In which order are the unknowns evaluated, and by which expressions?

Block-triangular order, tearing, and the CasADi expressions that follow from
them. Equations of one law solved for the same argument on the same level are
evaluated as one vector; that list of steps is kept (``Tape.steps``), so another
evaluator can stand behind it.

Small linear blocks are solved symbolically; larger or nonlinear ones keep their
torn unknowns ``z`` with residuals: a semi-explicit DAE of index one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ..expression import TIME
from ..matching import distinct, match
from .flatten import Flat, Group
from .index import Reduced, Singular

__all__ = ["Step", "Tape", "write_tape"]

DEEPEST = 20  # explicit assignments in a row: longer chains amplify rounding errors
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
        self.guessed = _classes_with_guesses(flat)
        self.z: list[Any] = []
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

    def residual_of(self, equation: int) -> Any:
        group, row = self.flat.group_of(equation)
        if group.law is None:
            span = slice(group.starts[row], group.starts[row + 1])
            return ca.sum2(self.gather(group.classes[span], group.signs[span]))
        return self.call(group.law.value, group.family, group.law.arguments,
                         group.instances[row : row + 1])

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
        counts = np.diff(group.starts)[rows]
        which = np.repeat(np.arange(len(rows)), counts)
        at = np.concatenate([np.arange(group.starts[r], group.starts[r + 1]) for r in rows])
        classes, signs = group.classes[at], group.signs[at]
        mine = classes == unknowns[which]
        own_sign = np.zeros(len(rows), dtype=int)
        np.add.at(own_sign, which[mine], signs[mine])
        r, c, s = which[~mine], classes[~mine], -(signs / own_sign[which])[~mine]
        used, local = np.unique(c, return_inverse=True)
        if not len(used):
            _put(self.values, unknowns, ca.SX.zeros(len(rows), 1))
            return
        # a class may occur more than once in a sum: add its coefficients up
        place, which = np.unique(r * len(used) + local, return_inverse=True)
        r, local = np.divmod(place, len(used))
        s = np.bincount(which, weights=s)
        matrix = ca.DM.triplet(r.tolist(), local.tolist(), ca.DM(s), len(rows), len(used))
        _put(self.values, unknowns, ca.mtimes(ca.SX(matrix), _take(self.values, used)))

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
        level = _levels(column_block[columns], block_of[rows], len(sizes))
        for blocks in _by_level(level):
            easy = blocks[~hard[blocks]]
            local = m.block_equations[starts[easy]]
            self._assign_level(equations[local], unknowns[m.unknown_of[local]],
                               self.position[local])
            for b in blocks[hard[blocks]]:
                span = slice(starts[b], starts[b + 1])
                self._solve_block(equations[m.block_equations[span]],
                                  unknowns[m.block_unknowns[span]])

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
            kind = law.slopes[k]
            if kind == "parameter" and mine.any():
                values = [p[:, group.instances] for p in self.parameters[group.family]]
                slopes = law.slopes_at(k, values)
                mine = mine & (slopes != 0) & np.isfinite(slopes)
            if kind in ("constant", "parameter"):
                position[mine] = k
        position[hits != 1] = -1
        return position

    def _assign_level(self, equations: np.ndarray, unknowns: np.ndarray, position: np.ndarray
                      ) -> None:
        """Vector evaluation of independent explicit equations."""
        firsts = np.array([g.first for g in self.flat.groups])
        group_of = np.searchsorted(firsts, equations, side="right") - 1
        key = group_of * 1000 + position
        for k in distinct(key):
            mine = np.flatnonzero(key == k)
            g = int(k // 1000)
            group = self.flat.groups[g]
            self.assign(group, equations[mine] - group.first, int(k % 1000), unknowns[mine])
            self.steps.append(Step(g, int(k % 1000), equations[mine], unknowns[mine]))

    # -- blocks -------------------------------------------------------------------------
    def _solve_block(self, equations: np.ndarray, unknowns: np.ndarray) -> None:
        order, torn, leftover = self._tear(equations, unknowns)
        z = [ca.SX.sym(f"z{len(self.z) + i}") for i in range(len(torn))]
        residuals = self._evaluate_torn(order, torn, leftover, z)
        column = ca.vertcat(*z)
        jacobian = ca.jacobian(residuals, column)
        free = {s.__hash__() for s in ca.symvar(jacobian)}
        linear = not any(s.__hash__() in free for s in z)
        solvable = linear and len(z) <= LARGEST_SYMBOLIC
        if solvable:
            at_zero = ca.substitute(residuals, column, ca.SX.zeros(len(z)))
            solution = _solve_small(ca.densify(jacobian), -at_zero)
            self._evaluate_torn(order, torn, leftover, ca.vertsplit(solution))
        else:
            self.z += z
            self.z_classes += [int(c) for c in torn]
            self.residuals.append(residuals)
            constant = linear and all(
                s.__hash__() in self._parameter_hashes for s in ca.symvar(jacobian)
            )
            self.all_linear = self.all_linear and constant
        self.steps.append(Step(-1, -1, equations, unknowns, 0 if solvable else len(z), linear))

    @property
    def _parameter_hashes(self) -> set[int]:
        if not hasattr(self, "_hashes"):
            self._hashes = {s.__hash__() for s in ca.symvar(self.p)}
        return self._hashes

    def _evaluate_torn(self, order: list[tuple[int, int, int]], torn: list[int],
                       leftover: list[int], z: list[Any]) -> Any:
        for c, symbol in zip(torn, z, strict=True):
            self.values[c] = symbol
        for equation, position, c in order:
            group, row = self.flat.group_of(equation)
            self.assign(group, np.array([row]), position, np.array([c]))
        return ca.vertcat(*(self.residual_of(e) for e in leftover))

    def _tear(self, equations: np.ndarray, unknowns: np.ndarray
              ) -> tuple[list[tuple[int, int, int]], list[int], list[int]]:
        """Explicit assignments, torn unknowns and residual equations of a block.

        Greedy: whenever no equation has a single open unknown it can be solved
        for, the unknown in most open equations is torn [Elmqvist & Otter 1994].
        Chains of assignments are kept short, since errors grow along them.
        """
        inside = set(unknowns.tolist())
        open_of: dict[int, set[int]] = {}
        solve: dict[tuple[int, int], int] = {}
        uses: dict[int, list[int]] = {c: [] for c in inside}
        for e in equations.tolist():
            mine = self._unknowns_in(e, inside)
            open_of[e] = set(mine)
            for c, position in mine.items():
                uses[c].append(e)
                if position >= 0:
                    solve[e, c] = position
        degree = {c: len(es) for c, es in uses.items()}
        order: list[tuple[int, int, int]] = []
        torn: list[int] = []
        ready = deque(e for e in open_of if len(open_of[e]) == 1)
        done: set[int] = set()
        depth: dict[int, int] = {}
        inputs = {e: set(cs) for e, cs in open_of.items()}

        def close(c: int) -> None:
            for e in uses[c]:
                if e in open_of and c in open_of[e]:
                    open_of[e].discard(c)
                    if len(open_of[e]) == 1:
                        ready.append(e)
            done.add(c)

        def tear(c: int) -> None:
            depth[c] = 0
            torn.append(c)
            close(c)

        by_degree = sorted(inside, key=lambda c: (c not in self.guessed, -degree[c], c))
        pointer = 0
        while len(done) < len(inside):
            while ready:
                e = ready.popleft()
                if e not in open_of or len(open_of[e]) != 1:
                    continue
                (c,) = open_of[e]
                if (e, c) in solve:
                    depth[c] = 1 + max((depth[k] for k in inputs[e] if k != c), default=0)
                    if depth[c] > DEEPEST:
                        tear(c)
                        continue
                    del open_of[e]
                    order.append((e, solve[e, c], c))
                    close(c)
            if len(done) == len(inside):
                break
            while by_degree[pointer] in done:
                pointer += 1
            tear(by_degree[pointer])
        return order, torn, list(open_of)

    def _unknowns_in(self, equation: int, inside: set[int]) -> dict[int, int]:
        """Unknowns of a block in an equation, with the position it is solvable at (or -1)."""
        group, row = self.flat.group_of(equation)
        out: dict[int, int] = {}
        if group.law is None:
            for k in range(group.starts[row], group.starts[row + 1]):
                c = int(group.classes[k])
                if c in inside:
                    out[c] = -1 if c in out else 0
            return out
        one = Group(group.family, group.law, group.instances[row : row + 1])
        for k, key in enumerate(group.law.arguments):
            if group.law.kernel.variables[key[0]].kind == "discrete":
                continue
            c = int(self.flat.argument(one, key)[0][0])
            if c in inside:
                kind = group.law.slopes[k]
                good = kind == "constant" or (kind == "parameter" and self._slope(one, k) != 0)
                out[c] = -1 if c in out or not good else k
        return out

    def _slope(self, one: Group, position: int) -> float:
        assert one.law is not None
        values = [p[:, one.instances] for p in self.parameters[one.family]]
        return float(np.ravel(one.law.slopes_at(position, values))[0])

    # -- results ----------------------------------------------------------------------
    def tape(self) -> Tape:
        reduced, flat = self.reduced, self.flat
        states = reduced.states
        signs = flat.derivative_sign[states]
        slope = self.gather(flat.derivative[states], signs).T if len(states) else ca.SX(0, 1)
        constraints = [
            self.residual_of(int(e))
            for cluster in reduced.clusters for equations, _ in cluster.levels for e in equations
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


def _classes_with_guesses(flat: Flat) -> set[int]:
    """Classes that users gave a value to start from: the best unknowns to iterate on."""
    found: set[int] = set()
    for f, family in enumerate(flat.network.families):
        for start, m in zip(family.starts, family.members, strict=True):
            for name in m._targets:
                base = flat.base[f].get((family.kernel.index.get(name, -1), 0))
                if base is not None:
                    found.update(flat.class_of[base + start : base + start + m.size].tolist())
    return found


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
    from .index import _all_incidence

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


def _solve_small(a: Any, b: Any) -> Any:
    """Cramer's rule: at most three unknowns, no pivot to choose at run time."""
    n = a.shape[0]
    if n == 1:
        return b / a
    determinant = ca.det(a)
    columns = []
    for j in range(n):
        replaced = ca.SX(a)
        replaced[:, j] = b
        columns.append(ca.det(replaced) / determinant)
    return ca.vertcat(*columns)
