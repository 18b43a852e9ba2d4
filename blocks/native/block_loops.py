"""How do blocks of equations read as machine code?

Blocks with equally many torn unknowns are solved side by side: residuals with torn unknowns of
zero, their derivatives by these (exactly: laws differentiated, not differences), elimination, and
all unknowns from the torn ones. Where equations are not linear, that is a round of Newton's method,
which starts from the unknowns in ``x``.
"""

from __future__ import annotations

from functools import reduce
from typing import Protocol

import casadi as ca
import numpy as np

from ..assembly.algebraic_loops import Block
from ..assembly.flatten import Flat
from ..assembly.tape import alike
from ..machine.compiling import compiled, name_of_code
from ..numerics.arrays import Flags, Indices, grouped
from ..numerics.tolerances import NEWTON_CONVERGES, NEWTON_STALLED, NO_SHORTER
from .loop_text import LoopText, Operand, entries_of
from .lu import factor_beside, solve_beside
from .newton import SHORTEST
from .places import Places, Q, X
from .text import Beginning, function_of

__all__ = ["Solution", "write_blocks", "write_changes"]

ROUNDS = 15  # of Newton's method, which starts from the last solution
FEW = 8  # blocks side by side that are not worth compiling well
MORE_ROUNDS = 750  # with parts of steps; down an exponential by 1 of its exponent a round


class Loops(Protocol):
    """What blocks are written with: :class:`blocks.native.instance_loops.Loops`."""

    flat: Flat
    text: LoopText
    values: Places
    starts: Indices
    magnitudes: Indices
    solutions: dict[int, Solution]

    def room(self, count: int) -> Indices: ...
    def moved(self, g: int, rows: Indices, changes: Places) -> Flags: ...
    def solve(self, g: int, rows: Indices, position: int, unknowns: Indices, target: Operand,
              tangents: Places | None, in_loop: bool, derived: Places | None) -> None: ...
    def residuals(self, equations: Indices, targets: Indices, tangents: Places | None = None,
                  derived: Places | None = None) -> None: ...
    def call(self, function: ca.Function, operands: dict[tuple[int, int], Operand],
             *targets: Operand) -> None: ...


def write_blocks(loops: Loops, blocks: list[Block]) -> None:
    """Append the solution of blocks that have the same number of torn unknowns."""
    if blocks:
        main, loops.text = loops.text, LoopText()
        _write_blocks(loops, blocks)
        own = compiled(function_of(loops.text, Beginning()), quick=len(blocks) < FEW)
        loops.text = main
        loops.text.run(name_of_code(own))


def _write_blocks(loops: Loops, blocks: list[Block]) -> None:
    count, n = len(blocks), len(blocks[0].torn)
    torn = np.stack([b.torn for b in blocks], axis=1)
    starts = loops.starts[torn]
    linear = bool((starts < 0).all())
    order = _Assignments(loops, blocks)
    unknowns = loops.room(n * count).reshape(n, count)
    for row, entries, start in zip(torn, unknowns, starts, strict=True):
        loops.values.put(row, Q, entries)
        if linear:
            _fill(loops, entries, 0.0)
        else:
            loops.text.copy(entries_of(X, start), entries_of(Q, entries))
    loops.values.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    if not n:
        order.write(loops.values)
        return
    newton = loops.solutions[int(torn[0, 0])] = Solution(loops, blocks, order, unknowns)
    if linear:
        newton.write()
        order.write(loops.values)
        return
    last, sizes = loops.room(1), loops.room(n * count)
    ending = _Ending(loops, loops.magnitudes[torn].ravel(), sizes, last)
    rounds = loops.text.begin_rounds(int(last[0]), ROUNDS)
    newton.write(ending)
    loops.text.end_rounds(rounds, sizes, NEWTON_CONVERGES)
    done = loops.text.begin_unless_numbers(unknowns.ravel())
    main, loops.text = loops.text, LoopText()  # what is rarely needed is a function of its own
    for entries, start in zip(unknowns, starts, strict=True):
        loops.text.copy(entries_of(X, start), entries_of(Q, entries))
    damped = _PartsOfSteps(newton, ending)
    rounds = loops.text.begin_rounds(int(last[0]), MORE_ROUNDS)
    damped.write()
    loops.text.end_rounds(rounds, sizes, NEWTON_CONVERGES)
    rare, loops.text = compiled(function_of(loops.text, Beginning()), quick=True), main
    loops.text.run(name_of_code(rare))
    loops.text.end_unless_numbers(done)
    order.write(loops.values)


def write_changes(loops: Loops, blocks: list[Block], changes: Places) -> None:
    """Append how the unknowns of blocks that have been solved change with those before them.

    The implicit function theorem, with the matrix of the solution.
    """
    if not blocks:
        return
    count, n = len(blocks), len(blocks[0].torn)
    torn = np.stack([b.torn for b in blocks], axis=1)
    order = _Assignments(loops, blocks)
    entries = loops.room(n * count).reshape(n, count)
    for row, places in zip(torn, entries, strict=True):
        changes.put(row, Q, places)
        _fill(loops, places, 0.0)
    changes.put(order.unknowns, Q, loops.room(len(order.unknowns)))
    order.write(changes, changes)
    if not n:
        return
    solution = loops.solutions[int(torn[0, 0])]
    loops.residuals(solution.leftover, solution.residual, changes)
    _solve(loops, solution.factors, solution.residual, n)
    _put(loops, entries.ravel(), -ca.SX.sym("r"), r=solution.residual)
    order.write(changes, changes)


class _Ending:
    """By what it is told whether a round was the last one.

    A step that is no shorter than the one before is rounding, where it is little.
    """

    def __init__(self, loops: Loops, magnitudes: Indices, sizes: Indices, last: Indices) -> None:
        # magnitudes: entries of ``q``, nominal values of unknowns
        # sizes: filled with changes of the unknowns, per value; 0 where they are rounding
        # last: one entry, no number in the last round that there may be
        self.magnitudes, self.sizes, self.last = magnitudes, sizes, last
        self.before = loops.room(len(sizes))
        _fill(loops, self.before, np.inf)

    @staticmethod
    def change(now: ca.SX) -> ca.SX:
        """What a change comes to, by the one ``before``."""
        rounding = ca.logic_and(now <= NEWTON_STALLED, now > NO_SHORTER * ca.SX.sym("before"))
        return ca.if_else(rounding, 0.0, now)


class Solution:
    """Rounds of Newton's method, and where their residuals and matrices stand in ``q``.

    Of a matrix the factors take its place; behind these stand the rows that change places.
    """

    def __init__(self, loops: Loops, blocks: list[Block], order: _Assignments, unknowns: Indices
                 ) -> None:
        n, count = unknowns.shape
        self.loops, self.order, self.unknowns = loops, order, unknowns
        self.leftover = np.stack([b.leftover for b in blocks], axis=1).ravel()
        self.residual = loops.room(n * count)
        zero, one = loops.room(2)
        _fill(loops, np.array([zero]), 0.0)
        _fill(loops, np.array([one]), 1.0)
        torn = np.stack([b.torn for b in blocks], axis=1)
        #: Changes with all torn unknowns, and with each of them alone.
        self.tangents, *self.columns = (Places(loops.flat.classes, int(zero)) for _ in range(n + 1))
        entries = loops.room(len(order.unknowns))
        for row, column in zip(torn, self.columns, strict=True):
            for places in (self.tangents, column):
                places.put(row, Q, np.full(count, one))
            order.follow(column, entries)
        self.tangents.put(order.unknowns, Q, entries)
        self.factors, self.lost = loops.room(2 * n * n * count), loops.room(count)

    def write(self, ending: _Ending | None = None) -> None:
        """Append a round; without ``ending`` equations are linear, and unknowns are zero.

        Unknowns that still change in the last round are no solution, and become no numbers.
        """
        self.derive()
        self.factor()
        _solve(self.loops, self.factors, self.residual, len(self.unknowns))
        if ending is None:
            _put(self.loops, self.unknowns.ravel(), -ca.SX.sym("r"), r=self.residual)
            return
        r, z, lost, size, last = (ca.SX.sym(name) for name in ("r", "z", "lost", "size", "last"))
        found = lost - r
        now = ca.fabs(found) / (ca.fabs(z + found) + size)
        change, unknowns = ending.change(now), self.unknowns.ravel()
        new = z + found + ca.if_else(change <= NEWTON_CONVERGES, 0.0, last)
        _put_all(self.loops, {"change": change, "before": now, "z": new}, {
            "change": ending.sizes, "before": ending.before, "z": unknowns, "r": self.residual,
            "lost": self.every(self.lost), "size": ending.magnitudes,
            "last": np.full(len(unknowns), ending.last[0])})

    def derive(self) -> None:
        """Append residuals at the torn unknowns, and the matrices there."""
        loops, n = self.loops, len(self.unknowns)
        self.tangents.slopes = {}
        self.order.write(loops.values, derived=self.tangents)
        loops.residuals(self.leftover, self.residual, derived=self.tangents)
        for column, entries in zip(self.columns, np.split(self.factors, 2 * n)[:n], strict=True):
            column.slopes = self.tangents.slopes
            self.order.write(column, column)
            loops.residuals(self.leftover, entries, column)

    def factor(self) -> None:
        """Append the factors of the matrices; no numbers for those that hold some."""
        self.loops.text.call(factor_beside, (self.factors[0], self.lost[0]), *self.unknowns.shape)

    def every(self, of_blocks: Indices) -> Indices:
        """What is the same for all unknowns of a block."""
        return np.tile(of_blocks, len(self.unknowns))


class _PartsOfSteps:
    """Rounds in which a block takes no more of a step than makes the next one shorter.

    By the matrix that the step was found with, as :mod:`blocks.native.newton` does: a round
    looks at where the last one has led, and goes on from there, or half the way back.
    """

    def __init__(self, newton: Solution, ending: _Ending) -> None:
        self.newton, self.ending, self.loops = newton, ending, newton.loops
        room, (n, count) = self.loops.room, newton.unknowns.shape
        of_unknowns = {name: room(n * count) for name in ("from_here", "step", "found", "part")}
        of_blocks = {name: room(count) for name in ("share", "size", "back", "ahead")}
        self.before = room(2 * n * n * count)
        for entries, value in ((of_unknowns["step"], 0.0), (of_blocks["share"], 1.0),
                               (of_blocks["size"], np.inf), (self.before, 0.0)):
            _fill(self.loops, entries, value)
        diagonal = self.before.reshape(2 * n, n, count)[range(n), range(n)]
        _fill(self.loops, diagonal.ravel(), 1.0)
        of_blocks["lost"] = newton.lost
        self.places = of_unknowns | {"z": newton.unknowns.ravel(), "r": newton.residual,
                                     "change": ending.sizes, "nominal": ending.magnitudes,
                                     "before": ending.before}
        self.places["last"] = np.full(n * count, ending.last[0])
        self.blocks = of_blocks

    def write(self) -> None:
        """Append a round."""
        newton = self.newton
        s = {name: ca.SX.sym(name) for name in [*self.places, *self.blocks]}

        each = self.places | {name: newton.every(entries) for name, entries in self.blocks.items()}

        def put(target: str, value: ca.SX) -> None:
            given = self.blocks if target in self.blocks else each
            _put(self.loops, given[target], value, **given)

        def length(target: str, step: str, at: str) -> None:
            put("part", ca.fabs(s[step]) / (ca.fabs(s[at]) + s["nominal"]))
            n, count = newton.unknowns.shape
            terms = self.places["part"].reshape(n, count).T.ravel()
            self.loops.text.add_sums(np.repeat(np.arange(count), n), entries_of(Q, terms),
                                     entries_of(Q, self.blocks[target]))

        newton.derive()
        put("found", s["r"])
        _solve(self.loops, self.before, self.places["found"], len(newton.unknowns))
        length("ahead", "found", "from_here")
        little = ca.logic_and(s["size"] <= NEWTON_CONVERGES, s["ahead"] < np.inf)
        goes_on = reduce(ca.logic_or, (
            ca.logic_not(s["size"] < np.inf), little,
            s["ahead"] <= (1.0 - 0.5 * s["share"]) * s["size"], s["share"] < SHORTEST))
        put("back", ca.if_else(goes_on, 0.0, 1.0))
        newton.factor()
        _solve(self.loops, newton.factors, newton.residual, len(newton.unknowns))
        put("found", s["lost"] - s["r"])
        length("ahead", "found", "z")
        now = ca.if_else(s["back"], 1.0, ca.fabs(s["found"]) / (
            ca.fabs(s["z"] + s["found"]) + s["nominal"]))
        _put_all(self.loops, {"change": self.ending.change(now), "before": now}, each)
        put("size", ca.if_else(s["back"], s["size"], s["ahead"]))
        put("from_here", ca.if_else(s["back"], s["from_here"], s["z"]))
        put("step", ca.if_else(s["back"], s["step"], s["found"]))
        factors = len(self.before) // len(newton.lost)
        _put(self.loops, self.before, ca.if_else(s["back"], s["r"], s["z"]), r=self.before,
             z=newton.factors, back=np.tile(self.blocks["back"], factors))
        put("share", ca.if_else(s["back"], 0.5 * s["share"], 1.0))
        put("z", s["from_here"] + s["share"] * s["step"]
            + ca.if_else(s["change"] <= NEWTON_CONVERGES, 0.0, s["last"]))


class _Assignments:
    """The explicit assignments of some blocks, in order."""

    def __init__(self, loops: Loops, blocks: list[Block]) -> None:
        self.loops = loops
        equations, self.unknowns, position, depth = (
            np.concatenate([getattr(b, name) for b in blocks])
            for name in ("solved", "assigned", "position", "depth"))
        self._parts: list[tuple[int, int, Indices, Indices]] = []
        for now in grouped(depth):
            for g, k, mine in alike(loops.flat, equations[now], position[now]):
                at = now[mine]
                rows = equations[at] - loops.flat.groups[g].first
                self._parts.append((g, k, rows, self.unknowns[at]))

    def follow(self, changes: Places, entries: Indices) -> None:
        """Give what changes with what is known to its place, one of ``entries`` for each."""
        first = 0
        for g, _, rows, unknowns in self._parts:
            moved = self.loops.moved(g, rows, changes)
            places = entries[first : first + len(rows)]
            changes.put(unknowns[moved], Q, places[moved])
            first += len(rows)

    def write(self, places: Places, tangents: Places | None = None, derived: Places | None = None
              ) -> None:
        """Append them; with ``tangents``, as changes of those that have a place there."""
        for g, position, rows, unknowns in self._parts:
            mine = places.known[unknowns]
            if mine.any():
                self.loops.solve(g, rows[mine], position, unknowns[mine],
                                 places.operand(unknowns[mine]), tangents, True, derived)


def _fill(loops: Loops, entries: Indices, value: float) -> None:
    """A constant in some entries of ``q``."""
    loops.text.fill(entries_of(Q, entries), value)


def _solve(loops: Loops, factors: Indices, right: Indices, n: int) -> None:
    """The solutions of blocks of n equations in place of their right sides."""
    loops.text.call(solve_beside, (factors[0], right[0]), n, len(right) // n)


def _put(loops: Loops, target: Indices, value: ca.SX, **given: Indices) -> None:
    """An expression into some entries of ``q``, by entries for the names of its symbols."""
    _put_all(loops, {"": value}, {"": target, **given})


def _put_all(loops: Loops, values: dict[str, ca.SX], places: dict[str, Indices]) -> None:
    """Expressions into the places of names, all of them by what symbols have been before."""
    symbols = ca.symvar(ca.vertcat(*values.values()))
    loops.call(ca.Function("part", symbols, [*values.values()]), {
        (k, 0): entries_of(Q, places[symbol.name()]) for k, symbol in enumerate(symbols)
    }, *(entries_of(Q, places[name]) for name in values))
