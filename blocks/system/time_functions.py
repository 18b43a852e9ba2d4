"""How finely must time be divided so that nothing a model's functions of time do is overlooked?

While nothing moves, no error estimate asks for short steps: a sine that will break a block
loose, or a burst a thousandth of the run wide, would be stepped over. Everything in a model
that depends on time alone (sources, signals made of them, functions a user wrote) is therefore
read off the equations and enclosed piece by piece in interval arithmetic, which sees also what
lies between two points. A piece is halved until every such function, and every part of its
expression, changes by no more than a part of its whole range in it. A method may not step over
more than a few pieces.

Pieces are not made shorter than a millionth of the part, or than what is one instant. Known
instants (edges of pulses, points of tables, jumps of ``floor`` and ``mod`` of time) are borders of
pieces. So are kinks: instants at which what stands in ``abs`` is zero, or both sides of ``minimum``
and ``maximum`` are equal. Across one an error estimate may see nothing. What is linear in
time needs no division. Where a run has very many periods, pieces are made for a part of it at a
time, with the jumps of ``floor`` in it. What would be more instants than a run can carry out is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..assembly.flatten import Group
from ..assembly.network import Family
from ..exceptions import ParameterError, SimulationError
from ..language.expression import TIME
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..numerics.instants import same_instant
from ..numerics.intervals import BOUNDED, Bounds, enclosure
from ..numerics.rewriting import applied, instructions, kinds, symbols_in
from ..numerics.tolerances import PIECE_EDGE, TIME_GRAIN
from .evaluator import Evaluator
from .state_tables import KINKS
from .system import System
from .time_crossings import NARROWER, crossings_of_time

__all__ = ["ACROSS", "TimeFunctions", "driven", "driven_by_time", "floor_jumps", "in_blocks",
           "relations_of_time", "together"]

CHANGE = 0.25  # part of its range by which a function may change within a piece
OF_VALUE = 0.01  # part of its largest value below which a range is no range
#: Part of the range that long pieces suggest. Where terms cancel, bounds are as narrow as pieces
#: are short, and no division would ever be fine enough.
OF_COARSE = 0.1
TURNING = {ca.OP_SQRT, ca.OP_ASIN, ca.OP_ACOS}  # where what they are of turns they may bend
ROOTS = {ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW}
COMPARISONS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE}
TRIAL = 512  # pieces in which it is looked for what is never decided, and twice as many
#: Share of the time in which a comparison is undecided that halves of pieces leave: half where
#: something crosses, all where terms cancel.
UNDECIDED = 0.75
PIECES = 16  # at first
SHORTEST = 2.0**-20  # part of what is divided at once
MOST = 1 << 16  # pieces that are made at once
CROWD = 1 << 14  # pieces of a part that is not tried twice as long where that was too many before
WORK = 1 << 21  # bounds that are found at once
BLOCK = 128  # functions that are evaluated together
MANY = 256  # functions that are not followed from part to part of a run
ACROSS = 4  # pieces that a step may reach over
TOLD = 3  # components
WITHIN = 4  # parts of a piece that are looked at, where it is asked when a function is zero
MOST_INSTANTS = 2_000_000  # in a run, of one component or of functions of time
FAR_TOO_MANY = 10 * MOST_INSTANTS  # of them, or of steps, where they are estimated
LIKELY, SEEN = 2.0, 0.02  # times and parts of them: an estimate by as many found is that good
SAMPLES = 64  # times by which the pieces of a run are estimated
#: What a derivative does not show.
JUMPS = {ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_SIGN, ca.OP_LT, ca.OP_LE,
         ca.OP_EQ, ca.OP_NE}  # fmt: skip

Instruction = tuple[int, int, Any]  # operation, place of the result, operands or constant


class RelationsOfTime(NamedTuple):
    """Flags of all relations of a system."""

    timed: Flags  # depends on time and parameters alone
    straight: Flags  # of these, linear in time


def relations_of_time(system: System) -> RelationsOfTime:
    """Which relations of a system are known beforehand, found once."""
    def found() -> RelationsOfTime:
        timed, straight = np.zeros((2, system.nm), dtype=bool)
        now = TIME.__hash__()
        for f, r, offset in system.tape.relation_layout:
            family = system.network.families[f]
            crossing, _ = family.kernel.relations[r]
            mine = slice(offset, offset + family.size)
            if symbols_in(crossing) <= family.kernel.parameter_hashes | {now}:
                slope = ca.jacobian(crossing, TIME)
                timed[mine] = True
                jumps = kinds(ca.Function("crossing", ca.symvar(crossing), [crossing])) & JUMPS
                straight[mine] = now not in symbols_in(slope) and not jumps
        return RelationsOfTime(timed, straight)

    return system.once("relations of time", found)


class TimeFunctions:
    """The functions of time in a system, and the pieces into which they divide a run.

    The run is from ``t_start`` to ``t_end``; ``known`` are instants that are stepped onto anyway.
    """

    def __init__(self, system: System, p: Array, t_start: float, t_end: float, known: Array
                 ) -> None:
        self.system, self.p = system, p
        self.tables = system.tables
        self.t_start, self.t_end = t_start, t_end
        self.least = TIME_GRAIN * (t_end - t_start)  # times about zero are known to no more
        self.known = distinct(np.append(known, self.tables.instants(t_start, t_end)))
        self.length = t_end - t_start  # of the part that was divided last
        self.crowded = False  # twice that would be too many pieces
        self.instructions = system.once(
            "functions of time", lambda: _instructions(_function(system)))
        self.longer = 1.0  # about how many times as many pieces there are as were looked at
        # ascending borders of the pieces made so far; empty where no division is needed
        self.pieces: Array = np.zeros(0)
        if self.instructions and t_end > t_start:
            self.instructions = self._decidable()
            self.pieces = self._divided(t_start)

    def with_kinks(self) -> Array:
        """Make instants at which functions of time bend borders of pieces; ascending."""
        functions = self.system.once("kinks of time", lambda: _kinks(self.system))
        if not functions or not self.t_end > self.t_start:
            return np.zeros(0)
        looks = self.looks() if len(self.pieces) else [_looks_within(np.concatenate([
            [self.t_start], self.known, [self.t_end]]))]
        kinks = together(self, crossings_of_time(
            [*map(self.at, functions)], looks, self.known, self.least))
        kinks = kinks[(kinks > self.t_start) & (kinks < self.t_end)]
        self.known = distinct(np.append(self.known, kinks))
        if len(self.pieces):
            self.pieces = self._divided(self.t_start)
        return kinks

    def at(self, some: Evaluator) -> Callable[[Array], Array]:
        """What some functions are at times, (functions, times)."""
        return lambda t: some.at_columns(t[None, :], self.p, self.tables.rows(t))

    def limit(self, t: float) -> float:
        """How far a step from ``t`` may reach."""
        pieces = self.around(t)
        k = int(np.searchsorted(pieces, t, side="right")) + ACROSS - 1
        return float(pieces[k]) if k < len(pieces) else self.end

    def around(self, t: float) -> Array:
        """Borders of the pieces around ``t`` and after it; they go as far as ``end``."""
        if self.end - t < same_instant(t, self.least):
            self.pieces = self._divided(t)
        return self.pieces

    def looks(self) -> Iterator[Array]:
        """Times at which all functions of time are known well, part of the run by part."""
        start, looked = self.t_start, 0
        while len(self.pieces) and start < self.t_end:
            pieces = self._divided(start)
            looked += len(pieces)
            left = self.pieces_left(pieces[-1])
            self.longer = 1 + left / looked
            yield _looks_within(pieces)
            steps = (len(pieces) + left) / ACROSS
            if steps > FAR_TOO_MANY:
                raise SimulationError(
                    driven(self.system), f"varies so fast with time that the run would need "
                    f"{steps:.1g} steps for {self.t_end - start:.6g} s from t = {start:.6g} s on.",
                    "Simulate a shorter time, or let what varies so fast be its mean.",
                    code="simulation.stiff", time=start, variables=())
            start = float(pieces[-1])

    def pieces_left(self, t: float) -> float:
        """About how many pieces there are from ``t`` to the end of the run, not closer than that
        some times tell."""
        some = len(self.pieces) and t < self.t_end
        return float(np.interp(t, *self._pieces_before_end)) if some else 0.0

    @cached_property
    def _pieces_before_end(self) -> tuple[Array, Array]:
        """Times, and about how many pieces there are from each to the end of the run."""
        borders = np.linspace(self.t_start, self.t_end, SAMPLES + 1)
        width = borders[1] - borders[0]  # what is known to jump does so at round parts of the run
        count = np.array([width / self._first_piece(t + NARROWER * width, self.t_end)
                          for t in borders[:-1]])
        return borders, np.append(np.cumsum(count[::-1])[::-1], 0.0)

    @cached_property
    def steep(self) -> bool:
        """Whether what a root, or a broken power, is of comes near zero within a piece: there the
        estimates of a step are a small part of its error."""
        if ROOTS.isdisjoint(op for op, *_ in self.instructions):
            return False
        borders = self.pieces if len(self.pieces) else np.concatenate([[self.t_start], self.known])
        borders = distinct(np.append(borders, self.t_end))
        return any(bool((np.maximum(given[0][0], 0.0) < OF_VALUE * given[0][1]).any())
                   for op, given, _, degree in self._enclosed(borders[:-1], borders[1:])
                   if degree > 1 and op in ROOTS and (len(given) < 2 or (given[1][0] % 1).any()))

    @property
    def parameters(self) -> list[int]:
        """Parameters that these functions depend on."""
        return [given[1] for op, _, given in self.instructions
                if op == ca.OP_INPUT and given[0] == 1]

    @property
    def end(self) -> float:
        """Up to where pieces are made; inf at the end of the run."""
        done = not len(self.pieces) or self.pieces[-1] >= self.t_end
        return np.inf if done else float(self.pieces[-1])

    # -- pieces ------------------------------------------------------------------------
    def _decidable(self) -> list[Instruction]:
        """Instructions without what follows from comparisons that no division would decide.

        Of flows that cancel nothing but rounding is left, around zero in pieces however short.
        """
        if not any(op in COMPARISONS for op, *_ in self.instructions):
            return self.instructions
        open_for = []
        for count in (TRIAL, 2 * TRIAL):
            borders = np.linspace(self.t_start, self.t_end, count + 1)
            open_for.append({
                k: float(np.mean(bounds[0] != bounds[1])) for k, (op, _, bounds, _) in enumerate(
                    self._enclosed(borders[:-1], borders[1:])) if op in COMPARISONS})
        never = {k for k, share in open_for[1].items() if share > UNDECIDED * open_for[0][k]}
        known, kept, k = set[int](), [], 0
        for op, out, given in self.instructions:
            is_given = op in (ca.OP_INPUT, ca.OP_CONST)
            sure = is_given or (k not in never and known.issuperset(given))
            k += not is_given
            known.discard(out)
            if sure:
                known.add(out)
                kept.append((op, out, given))
        return kept

    def _enclosed(self, left: Array, right: Array
                  ) -> Iterator[tuple[int, list[Bounds], Bounds, int]]:
        """Operations, bounds of operands and results in pieces, and degrees of these in time."""
        inset = PIECE_EDGE * (right - left)
        moment = (left + inset)[None, :], (right - inset)[None, :]
        rows = self.tables.rows((left + right) / 2)
        for op, given, _, found, degree in _followed(self.instructions, moment, self.p, rows):
            yield op, given, found, degree

    def _divided(self, start: float) -> Array:
        """Borders of pieces from ``start`` to the end, or as far as many pieces go."""
        end = start + 2 * self.length
        if end >= self.t_end:
            end = self.t_end
        elif self.crowded:
            end = start + (end - start) / 2
        while (pieces := self._divide(start, end)) is None:
            self.crowded = True
            end = start + min((end - start) / 2, MOST * self._first_piece(start, end))
        self.crowded &= len(pieces) > CROWD
        self.length = end - start
        return pieces

    def _first_piece(self, start: float, end: float) -> float:
        """How long the first piece of a part would be, or one instant."""
        instant = same_instant(end, self.least)
        lengths = (end - start) * 0.5 ** np.arange(max(1.0, np.log2((end - start) / instant)))
        low, high = self._bounds(np.full(len(lengths), start), start + lengths)
        with np.errstate(invalid="ignore"):
            varies = high - low > CHANGE * self._ranges(low, high)[:, None]
        return float(lengths[~varies.any(axis=0)].max(initial=instant))

    def _divide(self, start: float, end: float) -> Array | None:
        jumps = _jumps(self.instructions, self.p, start, end, MOST)
        instant = same_instant(end, self.least)
        finest = end - start < MOST * instant  # no part is made shorter
        if jumps is None and not finest:
            return None
        inner = self.known[slice(np.searchsorted(self.known, start, "right"),
                                 np.searchsorted(self.known, end))]
        inner = distinct(np.append(inner, [] if jumps is None else jumps))
        inner = inner[np.diff(inner, prepend=-np.inf) > instant]
        borders = np.unique(np.concatenate([np.linspace(start, end, PIECES + 1), inner]))
        left, right = borders[:-1], borders[1:]
        low, high = self._bounds(left, right)
        coarse = self._ranges(low, high)
        while len(low):
            if len(left) > MOST or len(left) * len(low) > WORK:
                if len(low) <= MANY and not finest:
                    return None
                break  # a table over several signals, say: as far as it goes
            allowed = CHANGE * np.maximum(self._ranges(low, high), OF_COARSE * coarse)
            with np.errstate(invalid="ignore"):
                varies = (high - low > allowed[:, None]) & np.isfinite(high - low)
            split = varies.any(axis=0) & (right - left > max(SHORTEST * (end - start), instant))
            if not split.any():
                break
            middle = (left[split] + right[split]) / 2
            halves = np.concatenate([left[split], middle]), np.concatenate([middle, right[split]])
            new_low, new_high = self._bounds(*halves)
            low = np.concatenate([low[:, ~split], new_low], axis=1)
            high = np.concatenate([high[:, ~split], new_high], axis=1)
            left = np.concatenate([left[~split], halves[0]])
            right = np.concatenate([right[~split], halves[1]])
        return np.append(np.sort(left), end) if len(low) else np.zeros(0)

    @staticmethod
    def _ranges(low: Array, high: Array) -> Array:
        """Between which values every function stays, where it is finite, or what counts as that."""
        finite = np.isfinite(low) & np.isfinite(high)
        least = np.where(finite, low, np.inf).min(axis=1, initial=np.inf)
        most = np.where(finite, high, -np.inf).max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            value = np.maximum(np.abs(least), np.abs(most))
            return np.where(np.isfinite(value), np.maximum(most - least, OF_VALUE * value), 0.0)

    def _bounds(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Bounds of everything that is curved in time, (functions, pieces) each."""
        curved = [found for *_, found, degree in self._enclosed(left, right) if degree > 1]
        low, high = np.empty((2, len(curved), len(left)))
        for k, found in enumerate(curved):
            low[k], high[k] = found
        return low, high


def _looks_within(pieces: Array) -> Array:
    """Times within pieces, but not at their borders, where something may jump."""
    edge = PIECE_EDGE * np.diff(pieces)
    return np.linspace(pieces[:-1] + edge, pieces[1:] - edge, WITHIN + 1, axis=1).ravel()


def _followed(instructions: list[Instruction], moment: Bounds, p: Array, rows: Array
              ) -> Iterator[tuple[int, list[Bounds], list[int], Bounds, int]]:
    """Operations with bounds of what they are given and of the result, and with the degrees in
    time of both: 0, 1, or 2 for whatever is curved."""
    work: dict[int, Bounds] = {}
    degree: dict[int, int] = {}
    for op, out, given in instructions:
        if op == ca.OP_INPUT:
            argument, i = given
            work[out] = moment if argument == 0 else (
                (np.full((1, 1), p[i]),) * 2 if argument == 1 else (rows[None, i],) * 2)
            degree[out] = int(argument == 0)
        elif op == ca.OP_CONST:
            work[out], degree[out] = (np.full((1, 1), given),) * 2, 0
        else:
            operands, degrees = [work[i] for i in given], [degree[i] for i in given]
            work[out], degree[out] = enclosure(op, *operands), _degree(op, degrees)
            yield op, operands, degrees, work[out], degree[out]


def floor_jumps(system: System, searched: Flags, p: Array, t_start: float, t_end: float) -> Array:
    """Instants at which floors of time jump that some relations contain."""
    tape, which = system.tape, np.flatnonzero(searched).tolist()
    instructions = system.once("floors of time", lambda: _instructions(
        _function_of_time(system, tape.writer.of_time(tape.crossings[which]))))
    found = _jumps(instructions, p, t_start, t_end, MOST_INSTANTS)
    if found is None:
        raise _too_many(system, "still more")
    return found


def together(functions: TimeFunctions, parts: Iterable[Array]) -> Array:
    """The instants of all parts of a run, ascending, if they are not too many, nor far too many by
    the part of the run that was looked at."""
    found, count = [np.zeros(0)], 0
    for part in parts:
        found.append(part)
        count += len(part)
        seen, about = count > SEEN * MOST_INSTANTS, count * functions.longer
        if count > MOST_INSTANTS or about > (LIKELY * MOST_INSTANTS if seen else FAR_TOO_MANY):
            raise _too_many(functions.system, f"about {about:.2g}")
    return distinct(np.concatenate(found))


def _too_many(system: System, times: str) -> ParameterError:
    return ParameterError(
        driven(system), f"jumps, bends or switches with time {times} times in the run; no more "
        f"than {MOST_INSTANTS:,} such instants are carried out.",
        "Give it a longer period, or simulate a shorter time.", code="parameter.instants")


def driven(system: System) -> str:
    """The components that say something that depends on time."""
    paths = [path for family in driven_by_time(system) for path in family.paths]
    return ", ".join(paths[:TOLD] + ["…"] * (len(paths) > TOLD))


def _jumps(instructions: list[Instruction], p: Array, t_start: float, t_end: float, most: int
           ) -> Array | None:
    """Where what stands in a floor is linear in time and passes a whole number; None where these
    are more than so many."""
    ends = np.array([[t_start, t_end]])
    rows = max((given[1] + 1 for op, _, given in instructions
                if op == ca.OP_INPUT and given[0] == 2), default=0)
    unknown = np.full((rows, 1), np.nan)
    found = [np.zeros(0)]
    for op, operands, degrees, *_ in _followed(instructions, (ends, ends), p, unknown):
        if op not in (ca.OP_FLOOR, ca.OP_CEIL) or degrees[0] != 1:
            continue
        first, last = np.broadcast_to(operands[0][0], ends.shape)[0]
        if abs(last - first) > most:
            return None
        if last != first:
            whole = np.arange(np.ceil(min(first, last)), np.floor(max(first, last)) + 1)
            found.append(t_start + (whole - first) * ((t_end - t_start) / (last - first)))
    times = distinct(np.concatenate(found))
    return times[(times > t_start) & (times < t_end)]


def _degree(op: int, degrees: list[int]) -> int:
    """How an operation's result depends on time: not at all (0), linearly (1), else (2)."""
    if not any(degrees):
        return 0
    if op in (ca.OP_ADD, ca.OP_SUB, ca.OP_NEG, ca.OP_TWICE, ca.OP_ASSIGN):
        return max(degrees)
    if op == ca.OP_MUL:
        return min(2, sum(degrees))
    if op == ca.OP_DIV and not degrees[1]:
        return degrees[0]
    return 2


def _instructions(function: ca.Function | None) -> list[Instruction]:
    """Return instructions that depend on time, parameters and tables of time alone."""
    found: list[Instruction] = []
    if function is None:
        return found
    known: dict[int, bool] = {}
    given: Any
    for op, given, results, k in instructions(function):
        if op == ca.OP_OUTPUT:
            continue
        (out,) = results
        if op == ca.OP_CONST:
            given, known[out] = function.instruction_constant(k), True
        elif op == ca.OP_INPUT:
            known[out] = given[0] < 3
        else:
            known[out] = op in BOUNDED and all(known[i] for i in given)
        if known[out]:
            found.append((op, out, given))
    return found


def driven_by_time(system: System) -> list[Family]:
    """The classes that say something that depends on time explicitly, or hold a table of it."""
    return system.once("driven by time", lambda: [
        f for f in system.network.families if f.kernel.tables or f.kernel.says_time])


def _kinks(system: System) -> list[Evaluator]:
    """What is zero where a function of time bends, at a time, parameters and rows of tables."""
    function, room, rows = _function(system, switching=True), dict[int, ca.SX](), list[ca.SX]()
    if function is None:
        return []
    given = TIME, system.tape.p, system.tape.d[system.tables.slots.tolist()]
    for op, out, taken in _instructions(function):
        if op == ca.OP_INPUT:
            room[out] = given[taken[0]][taken[1]]
        elif op == ca.OP_CONST:
            room[out] = ca.SX(taken)
        else:
            operands = [room[i] for i in taken]
            room[out] = applied(op, operands)
            if op in KINKS:
                rows.append(operands[0] - operands[1] if len(operands) > 1 else operands[0])
            elif op in TURNING:
                rows.append(ca.jtimes(operands[0], TIME, ca.SX(1)))
    row = ca.vertcat(*rows)
    moving = distinct(np.array(ca.jacobian_sparsity(row, TIME).row(), dtype=int))
    return in_blocks(system, row[moving.tolist()])


def in_blocks(system: System, rows: ca.SX) -> list[Evaluator]:
    """Some functions of time each: one that is asked for at times of its own is not with all."""
    given = [TIME, system.tape.p, system.tape.d[system.tables.slots.tolist()]]
    return [Evaluator(ca.Function("rows", given, [ca.densify(some)]))
            for some in ca.vertsplit(rows, BLOCK)]


def _function(system: System, switching: bool = False) -> ca.Function | None:
    """Everything that depends on time explicitly, or by way of other functions of time.

    With ``switching`` also what ``where`` chooses by relations that are linear in time.
    """
    tape, families = system.tape, system.network.families
    if not any(f.kernel.says_time for f in families):
        return None
    straight = relations_of_time(system).straight & switching
    solved, mixed = _follow(system, straight)
    rows = [tape.writer.kernel_row(f, sx).T for f, family in enumerate(families)
            for sx in family.kernel.beside_laws() if ca.depends_on(sx, TIME)]
    rows += [tape.values[solved.tolist()], tape.writer.residuals_of(mixed), tape.constraints,
             tape.crossings]  # fmt: skip
    row = tape.writer.of_time(ca.vertcat(*rows))
    if straight.any():
        which = np.flatnonzero(straight).tolist()
        row = ca.substitute(row, tape.m[which], tape.crossings[which] > 0)
    return _function_of_time(system, row)


def _function_of_time(system: System, rows: ca.SX) -> ca.Function | None:
    """Rows with time in them, of time, parameters, tables of it and all the rest, if any are."""
    moving = distinct(np.array(ca.jacobian_sparsity(rows, TIME).row(), dtype=int))
    if not len(moving):
        return None
    tape = system.tape
    others = np.setdiff1d(np.arange(tape.d.numel()), system.tables.slots)
    rest = ca.vertcat(tape.x, tape.z, tape.m, tape.d[others.tolist()], tape.u)
    held = tape.d[system.tables.slots.tolist()]
    return ca.Function("functions_of_time", [TIME, tape.p, held, rest], [rows[moving.tolist()]])


def _follow(system: System, switching: Flags) -> tuple[Indices, Indices]:
    """Which unknowns follow from time, alone or mixed with others, and which equations of loops do.

    Relations that are ``switching`` by time may choose among functions of time. In the order of
    evaluation; the residual of what an equation determines is zero, and says nothing of time.
    """
    flat = system.flat
    known = np.zeros(flat.classes, dtype=bool)
    moving = np.zeros(flat.classes, dtype=bool)
    solved, mixed = list[Indices](), [np.zeros(0, dtype=int)]
    curved = np.array([  # more than a sum of its arguments with constant factors
        g.law is not None and (ca.depends_on(g.law.residual, TIME)
                               or not set(g.law.slopes) <= {"constant", "parameter"})
        for g in flat.groups], dtype=bool)
    switched = {flat.network.families[f].kernel.relation_symbols[r].__hash__(): switching[offset]
                for f, r, offset in system.tape.relation_layout}
    for step in system.tape.steps:
        if step.group < 0:
            mixed.append(step.equations[curved[flat.groups_of(step.equations)]])
            continue
        group = flat.groups[step.group]
        rows = step.equations - group.first
        sure = np.ones(len(rows), dtype=bool)
        moves = np.zeros(len(rows), dtype=bool)
        if group.law is None:
            which, classes, _ = group.terms(rows)
            other = classes != step.unknowns[which]
            np.logical_and.at(sure, which[other], known[classes[other]])
            np.logical_or.at(moves, which[other], moving[classes[other]])
        else:
            law, kernel = group.law, group.law.kernel
            inside = {s.__hash__() for s in ca.symvar(law.residual)}
            sure &= all(switched.get(s, True) for s in inside)
            moves |= (TIME.__hash__() in inside or any(switched.get(s, False) for s in inside)
                      or not kernel.floors_of_time.keys().isdisjoint(i for i, _ in law.arguments))
            one = Group(group.family, law, group.instances[rows])
            for key in law.arguments:
                if kernel.variables[key[0]].kind == "discrete":
                    sure &= key[0] in kernel.floors_of_time or any(
                        key[0] in table.row for table in kernel.tables)
                    continue
                classes = flat.argument(one, key)[0]
                own = classes == step.unknowns
                sure &= known[classes] | own
                moves |= moving[classes] & ~own
            if curved[step.group]:
                solved.append(step.unknowns[moves & ~sure])
        known[step.unknowns] = sure
        moving[step.unknowns] = moves & sure
    return np.concatenate([np.flatnonzero(known & moving), *solved]), np.concatenate(mixed)
