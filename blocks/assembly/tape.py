"""In which order are the unknowns evaluated, and by which expressions?

Block-triangular order, tearing, and the CasADi expressions that follow from them. Equations of one
law solved for the same argument on the same level are evaluated as one vector; that list of steps
is kept (``Tape.steps``), so another evaluator can stand behind it.

Small linear blocks are solved symbolically; larger or nonlinear ones keep their
torn unknowns ``z`` with residuals: a semi-explicit DAE of index one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np

from ..numerics.arrays import Flags, Indices, distinct, grouped
from ..numerics.rewriting import symbols_in
from ..numerics.tolerances import CEASED_FLOW
from .algebraic_loops import (
    Block,
    BlockIncidence,
    amplify,
    classes_with_guesses,
    cramer,
    entries,
    pairs_within,
    solvable,
    torn_block,
)
from .flatten import Flat, Group, Parameters
from .independent_inputs import LARGE, parasitic_pairs
from .pivot_validity import PivotValidity, is_well_conditioned
from .reduced import Reduced, Singular
from .stream_variables import StreamVariables
from .writer import Writer, put

__all__ = ["Step", "Tape", "alike", "write_tape"]

LARGEST_SYMBOLIC = 3  # unknowns of a torn linear block that are solved for symbolically
EASILY_SOLVED = 12  # unknowns of a torn block


@dataclass(frozen=True)
class Step:
    """One vector evaluation: a law of a group solved for an argument, or a block."""

    group: int  # -1 for a torn block
    position: int
    equations: Indices
    unknowns: Indices
    torn: int = 0  # torn unknowns of a block that stay in z
    linear: bool = True
    block: Block | None = None
    level: int = 0  # blocks of one level do not need each other


@dataclass
class Tape:
    """CasADi expressions of the reduced system.

    All in SI units: ``x`` states, ``z`` torn unknowns, ``p`` parameters, ``m``
    held relations, ``d`` discrete values, ``u`` inputs of set-valued laws.
    """

    reduced: Reduced
    x: ca.SX
    z: ca.SX
    p: ca.SX
    m: ca.SX
    d: ca.SX
    u: ca.SX
    values: ca.SX  # per class
    slope: ca.SX  # d x / d t
    residual: ca.SX  # 0 == residual(z)
    constraints: ca.SX  # residuals of the clusters' equations, level by level
    crossings: ca.SX
    exponents: ca.SX  # of all that laws say by exp(...)
    z_classes: Indices
    carried: Flags  # per torn unknown, whether its block may leave it open (stream_variables.py)
    followed: Flags  # per torn unknown, whether its block may have several solutions
    switched_loops: list[int]  # which of the loops may have a solution for each choice of pieces
    loops: list[int]  # torn unknowns of every block that stays in z, in order
    steps: list[Step]
    linear: bool  # residual is linear in z with coefficients of parameters only
    validity: PivotValidity  # parameters by whose values this order was chosen
    writer: Writer = field(repr=False)

    def __post_init__(self) -> None:
        self.parameter_layout = self.writer.parameter_layout  # offset in p, width
        self.relation_layout = self.writer.relation_layout  # family, relation, offset in m
        self.discrete_layout = self.writer.discrete_layout  # by family and variable, offset in d


def write_tape(writer: Writer) -> Tape:
    """Order the equations of a reduced system, and write its expressions as a writer does."""
    order = _Order(writer)
    order.run()
    return order.tape()


class _Order:
    """Gives the unknowns of a system their values, each from those before it."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.reduced, self.flat = writer, writer.reduced, writer.flat
        self.z: list[ca.SX] = []  # columns
        self.z_classes: list[int] = []
        self.carried: list[bool] = []
        self.followed: list[bool] = []
        self.loops: list[int] = []
        self.switched: list[int] = []
        self.residuals: list[ca.SX] = []
        self.steps: list[Step] = []
        self._streams = StreamVariables(writer.flat, writer.parameters)
        self.all_linear = True  # in z, with coefficients of parameters only

    # -- order ------------------------------------------------------------------------
    def run(self) -> None:
        reduced, flat = self.reduced, self.flat
        equations, unknowns = reduced.equations, reduced.unknowns
        rows, columns = flat.compact_incidence(equations, unknowns)
        m = flat.matching(equations, unknowns)
        if not m.perfect:
            raise Singular(equations[m.over_equations], unknowns[m.over_unknowns],
                           equations[m.under_equations], unknowns[m.under_unknowns], "index")
        self.position = self._explicit_positions(equations, unknowns[m.unknown_of])
        starts = m.block_starts
        sizes = np.diff(starts)
        block_of = np.empty(len(equations), dtype=int)
        block_of[m.block_equations] = np.repeat(np.arange(len(sizes)), sizes)
        column_block = np.empty(len(unknowns), dtype=int)
        column_block[m.block_unknowns] = np.repeat(np.arange(len(sizes)), sizes)
        hard = (sizes > 1) | (self.position[m.block_equations[starts[:-1]]] < 0)
        wanted = classes_with_guesses(flat)

        def pairs_at(parameters: Parameters) -> BlockIncidence:
            return pairs_within(reduced, parameters, block_of, column_block, hard)

        pairs = pairs_at(self.writer.parameters)
        level = _levels(column_block[columns], block_of[rows], len(sizes))
        parts = {b: (equations[m.block_equations[starts[b] : starts[b + 1]]],
                     unknowns[m.block_unknowns[starts[b] : starts[b + 1]]])
                 for b in np.flatnonzero(hard).tolist()}
        torn = self._all_torn(parts, pairs.without_conditional(), wanted)
        by_conditions = self._torn_by_conditions(parts, pairs, wanted, torn)
        torn |= by_conditions
        for depth, blocks in enumerate(grouped(level)):
            easy = blocks[~hard[blocks]]
            local = m.block_equations[starts[easy]]
            for g, k, mine in alike(flat, equations[local], self.position[local]):
                rows, taken = equations[local][mine], unknowns[m.unknown_of[local]][mine]
                self.writer.assign(flat.groups[g], rows - flat.groups[g].first, k, taken)
                self.steps.append(Step(g, k, rows, taken))
            self._solve_blocks([torn[b] for b in blocks[hard[blocks]].tolist()], depth, wanted)
        self.validity = PivotValidity(
            self.writer.parameters, self.writer.parameter_layout,
            [(flat.groups[s.group], s.position, s.equations - flat.groups[s.group].first)
             for s in self.steps if s.group >= 0], list(torn.values()), pairs_at,
            lambda p: all(is_well_conditioned(flat, b, p) for b in by_conditions.values()),
            [flat.groups[g] for g in distinct(flat.groups_of(pairs.pairs[0])).tolist()],
            bool(len(reduced.inputs)))

    def _all_torn(self, parts: dict[int, tuple[Indices, Indices]], pairs: BlockIncidence,
                  wanted: Flags) -> dict[int, Block]:
        """All blocks torn, those anew by their coefficients whose digits would be lost."""
        inside = {b: pairs.of_block(b) for b in parts}
        torn = {b: self._torn(*part, pairs.pairs[:, inside[b]], wanted)
                for b, part in parts.items()}
        lossy = amplify(list(torn.values()), pairs) if torn else ()
        for b in [b for b, lost in zip(parts, lossy, strict=True) if lost]:
            torn[b] = torn_block(*parts[b], pairs.pairs[:, inside[b]], wanted,
                                 pairs.sizes[:, inside[b]])
        return torn

    def _torn_by_conditions(self, parts: dict[int, tuple[Indices, Indices]], pairs: BlockIncidence,
                            wanted: Flags, torn: dict[int, Block]) -> dict[int, Block]:
        """Blocks torn anew where coefficients that conditions choose leave less to solve for;
        none where a value that a user gave an unknown chooses between solutions."""
        some = set(pairs.block[pairs.conditional].tolist())
        anew = self._all_torn({b: part for b, part in parts.items()
                               if b in some and not wanted[part[1]].any()}, pairs, wanted)
        return {b: block for b, block in anew.items() if len(block.torn) < len(torn[b].torn)
                and is_well_conditioned(self.flat, block, self.writer.parameters)}

    def _torn(self, equations: Indices, unknowns: Indices, pairs: Indices, wanted: Flags) -> Block:
        """A block torn; nothing follows by a parasitic coefficient as long as the block remains as
        easily solved. Large networks without ideal elements are taken for even."""
        usual = torn_block(equations, unknowns, pairs, wanted)
        if not 1 < len(equations) <= LARGE or (
                self.flat.equations > LARGE and not len(self.reduced.inputs)):
            return usual
        weak = parasitic_pairs(self.flat, equations, self.writer.parameters)
        if not weak:
            return usual
        pairs = pairs.copy()
        pairs[2, [pair in weak for pair in zip(*pairs[:2].tolist(), strict=True)]] = -1
        careful = torn_block(equations, unknowns, pairs, wanted)
        most = max(len(usual.torn), EASILY_SOLVED)
        return careful if len(careful.torn) <= most else usual

    def _explicit_positions(self, equations: Indices, unknown_of: Indices) -> Indices:
        """Per equation the argument it can be solved for explicitly, -1 where it cannot."""
        wanted = np.full(self.flat.equations, -1)
        wanted[equations] = unknown_of
        position = np.full(self.flat.equations, -1)
        for group in self.flat.groups:
            numbers = group.numbers
            want = wanted[numbers]
            if group.law is None:
                which = np.repeat(np.arange(group.size), np.diff(group.starts))
                hits = np.zeros(group.size, dtype=int)
                np.add.at(hits, which, (group.classes == want[which]).astype(int))
                position[numbers[(want >= 0) & (hits == 1)]] = 0
                continue
            position[numbers] = self._law_positions(group, want)
        return position[equations]

    def _law_positions(self, group: Group, want: Indices) -> Indices:
        law = group.law
        assert law is not None
        position = np.full(group.size, -1)
        hits = np.zeros(group.size, dtype=int)
        for k, key in law.open_arguments:
            mine = (self.flat.argument(group, key)[0] == want) & (want >= 0)
            hits += mine
            if mine.any():
                places, linear, _ = solvable(group, k, self.writer.parameters)
                position[mine] = np.where(linear, places, -1)[mine]
        position[hits != 1] = -1
        return position

    # -- blocks -------------------------------------------------------------------------
    def _is_switched(self, block: Block, residual: ca.SX, wanted: Flags) -> bool:
        """Whether the values its unknowns had, or are to start from, choose between solutions.

        So it is where pieces of its laws are relations, and where a user gave one of the unknowns
        of a block with other relations a value.
        """
        chosen = self._pieces if not wanted[block.unknowns].any() else self._relations
        return bool(chosen) and not chosen.isdisjoint(symbols_in(residual))

    @cached_property
    def _relations(self) -> set[int]:
        return symbols_in(self.writer.m)

    @cached_property
    def _pieces(self) -> set[int]:
        """Relations that choose the pieces of laws."""
        blocks = zip(self.flat.network.families, self.writer.m_blocks, strict=True)
        return {s.__hash__() for family, rows in blocks for r in family.kernel.pieces
                for s in ca.symvar(rows[r])}

    def _solve_blocks(self, blocks: list[Block], level: int, wanted: Flags) -> None:
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
            own = z[spans[i].tolist()]
            slopes = ca.jacobian(residuals[spans[i].tolist()], own)
            linear[i] = not ca.depends_on(slopes, own)
            constant[i] = linear[i] and symbols_in(slopes) <= self._parameter_hashes
        carried = [self._streams.leaves_open(b) for b in blocks]
        constant &= ~np.array(carried)  # the matrix is another where nothing flows
        switched = [self._is_switched(b, residuals[spans[i].tolist()], wanted)
                    for i, b in enumerate(blocks)]
        small = [i for i, n in enumerate(counts)
                 if linear[i] and n <= LARGEST_SYMBOLIC and not carried[i] and not switched[i]]
        if small:
            self._solve_small([blocks[i] for i in small], residuals, z, [spans[i] for i in small])
        iterated = np.setdiff1d(np.arange(len(blocks)), small)
        if len(iterated):
            rows = np.concatenate([spans[i] for i in iterated])
            self.z.append(z[rows.tolist()])
            self.z_classes += torn[rows].tolist()
            for i in iterated:
                if counts[i]:
                    self.switched += [len(self.loops)] * switched[i]
                    self.loops.append(counts[i])
            self.carried += [carried[i] for i in iterated for _ in spans[i]]
            self.followed += [not (linear[i] or carried[i]) for i in iterated for _ in spans[i]]
            self.residuals.append(residuals[rows.tolist()])
            self.all_linear = self.all_linear and bool(constant[iterated].all())
        for i, b in enumerate(blocks):
            self.steps.append(Step(-1, -1, b.equations, b.unknowns, counts[i] * int(i in iterated),
                                   bool(linear[i]), b, level))

    def _solve_small(self, blocks: list[Block], residuals: ca.SX, z: ca.SX, spans: list[Indices]
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
        return symbols_in(self.writer.p)

    def _evaluate_torn(self, blocks: list[Block], torn: Indices, z: ca.SX) -> ca.SX:
        """All values of some blocks from their torn unknowns; the residuals that are left."""
        put(self.writer.values, torn, z)
        equations, unknowns, position, depth = (
            np.concatenate([getattr(b, name) for b in blocks])
            for name in ("solved", "assigned", "position", "depth"))
        for now in grouped(depth):
            for g, k, mine in alike(self.flat, equations[now], position[now]):
                at = now[mine]
                group = self.flat.groups[g]
                self.writer.assign(group, equations[at] - group.first, k, unknowns[at], True)
        return self.writer.residuals_of(np.concatenate([b.leftover for b in blocks]))

    def _with_present_signs(self, residual: ca.SX, crossing: ca.SX, z: ca.SX
                            ) -> tuple[ca.SX, ca.SX]:
        """Residuals and crossings, with the signs of what is rooted as they are at every point.

        So it is where no state takes part: held, the root of a magnitude has a second value beyond
        where it turns over. States come to rest where it is held at zero. The values of unknowns
        see the same signs, and nothing happens where these change.
        """
        families, writer = self.flat.network.families, self.writer
        signs = [k for f, r, first in writer.relation_layout
                 if families[f].kernel.relation_symbols[r].__hash__() in families[f].kernel.
                 root_signs for k in range(first, first + families[f].size)]
        if not signs or not z.numel():
            return residual, crossing
        loop = np.repeat(np.arange(len(self.loops)), self.loops)
        moving = loop[ca.which_depends(residual, writer.x, 1, True)]
        still = np.flatnonzero(~np.isin(loop, moving)).tolist()
        some = np.flatnonzero(ca.which_depends(crossing[signs], z[still], 1, True))
        which = [signs[k] for k in some]
        held, now = writer.m[which], crossing[which] > 0
        writer.values, residual, crossing = (
            ca.substitute(of, held, now) for of in (writer.values, residual, crossing))
        crossing[which] = 1.0
        return residual, crossing

    # -- results ----------------------------------------------------------------------
    def tape(self) -> Tape:
        writer, reduced, flat = self.writer, self.reduced, self.flat
        crossings, moves_floor = [], []
        for f, family in enumerate(flat.network.families):
            kernel = family.kernel
            held = {kernel.symbols[i, 0].__hash__() for i in kernel.floors_of_time}
            for crossing, _ in kernel.relations:
                crossings.append(writer.kernel_row(f, crossing).T)
                moves_floor += family.size * [not held.isdisjoint(symbols_in(crossing))]
        residual, crossing, z = (ca.vertcat(ca.SX(0, 1), *of) for of in (
            self.residuals, crossings, self.z))
        residual, crossing = self._with_present_signs(residual, crossing, z)
        states = reduced.states
        signs = flat.derivative_sign[states]
        slope = writer.gather(flat.derivative[states], signs).T if len(states) else ca.SX(0, 1)
        constraints = [writer.residuals_of(equations)
                       for cluster in reduced.clusters for equations, _ in cluster.levels]
        exponents = [writer.kernel_row(f, exponent).T
                     for f, family in enumerate(flat.network.families)
                     for exponent in family.kernel.exponents]
        constraint, exponent = (ca.vertcat(ca.SX(0, 1), *of) for of in (constraints, exponents))
        if any(moves_floor):  # all other conditions are functions of time by them
            which = np.flatnonzero(~np.array(moves_floor)).tolist()
            crossing[which] = writer.of_time(crossing[which])
        carried = np.array(self.carried, dtype=bool)
        directions = _directions(residual, carried, writer.m)
        if directions.any():
            directions &= ca.which_depends(crossing, ca.vertcat(
                writer.x, z, writer.d, writer.u, writer.m), 1, True)
        which = np.flatnonzero(directions).tolist()
        # rounding of what does not flow decides nothing: a direction holds until it is another
        if which:
            crossing[which] += CEASED_FLOW * (2 * writer.m[which] - 1)
        return Tape(reduced, writer.x, z, writer.p, writer.m, writer.d, writer.u, writer.values,
                    slope, residual, constraint, crossing, exponent,
                    np.array(self.z_classes, dtype=int), carried,
                    np.array(self.followed, dtype=bool), self.switched, self.loops, self.steps,
                    self.all_linear, self.validity, writer)


def _directions(residual: ca.SX, carried: Flags, m: ca.SX) -> Flags:
    """Relations in the equations of what is carried."""
    found = np.zeros(m.numel(), dtype=bool)
    if carried.any() and m.numel():
        pattern = ca.jacobian_sparsity(residual[np.flatnonzero(carried).tolist()], m)
        found[pattern.get_triplet()[1]] = True
    return found


def _levels(source: Indices, target: Indices, count: int) -> Indices:
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
        reach = np.repeat(start[front] - np.cumsum(lengths) + lengths,
                          lengths) + np.arange(lengths.sum())
        hit, times = np.unique(target[reach], return_counts=True)
        waiting[hit] -= times
        front = hit[waiting[hit] == 0]
        depth += 1
    return level


def alike(flat: Flat, equations: Indices, position: Indices) -> Iterator[tuple[int, int, Indices]]:
    """Equations of one group that are solved for the same argument: both, and their places.

    They are ascending, so that what is evaluated as one vector is read from memory in its order.
    """
    key = flat.groups_of(equations) * 1000 + position
    order = np.lexsort((equations, key))
    for mine in np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(key) else ():
        g, k = divmod(int(key[mine[0]]), 1000)
        yield g, k, mine
