"""How does machine code read what signals were a while ago, and keep what they are?

Before anything is evaluated, delayed signals are brought up to date among the discrete values: from
the polynomials of :class:`blocks.system.past.Past`, found by search, or from what was said of the
time before the run. Steps, which are no longer than the shortest delay, add to the polynomials what
the signals are.
"""

from __future__ import annotations

import casadi as ca

from ..language.expression import TIME
from ..machine.compiling import compiled, name_of_code
from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Indices, Vector
from ..numerics.instants import same_instant as _same_instant
from ..numerics.tolerances import HANDED_ON
from ..system import System
from ..system.delays import (
    BETWEEN,
    DIFFERENT,
    DIFFERENT_LAGS,
    FORGETS,
    HALVINGS,
    LAGS,
    LARGEST,
    LEAST_TIME_APART,
    LIMITS,
    NODES,
    NOW,
    OFF,
    PIECES,
    PLAN,
    POINTS,
    PROBES,
    ROUGHEST,
    SIGNALS,
    SLOTS,
    TERMS,
    UNTIL,
    WEIGHTS,
    delayed_signals,
)
from ..system.past import BORDERS, COUNT, LEVELS, PLACES, ROOM, SHOWN, STARTS, VALUES
from ..system.past import may_miss as _may_miss
from .expressions import Writer
from .nodes import last_not_above
from .stages import WORK
from .step_kinds import values_inside
from .steps import Code, Workspace, values_at
from .text import Beginning

__all__ = ["begin_piece", "bend_before", "fill_past", "forget_past", "is_kept_up_to", "keep_step",
           "read_from", "reading_of_past"]  # fmt: skip

LOOKS = PROBES.size  # in a step, between its nodes
LIMIT_COUNT = 4
may_miss, same_instant = machine_code(_may_miss), machine_code(_same_instant)


@machine_code
def fill_past(now: int, discrete: int, plan: int, origin: int) -> int:
    """Bring the delayed ones among the discrete values at an address up to date.

    Parameters
    ----------
    now : address of the time
    plan : address of :attr:`blocks.system.delays.Delays.plan`
    origin : address of the time just after which what is read begins
    """
    told = indices_at(plan, PLAN)
    count, nodes, pieces = told[SIGNALS], told[NODES], indices_at(told[PIECES], SHOWN)
    slots, places = indices_at(told[SLOTS], count), indices_at(pieces[PLACES], pieces[ROOM])
    lags, at = vector_at(told[LAGS], count), vector_at(now, 1)
    terms, before, first, chosen = vector_at(told[TERMS], nodes), -1.0, 0, -1
    begun, least = vector_at(origin, 1)[0], vector_at(told[LIMITS], LIMIT_COUNT)[LEAST_TIME_APART]
    since = begun + 4 * same_instant(begun, least)
    for k in range(count):
        if lags[k] != before:
            before = lags[k]
            chosen = last_not_above(pieces[STARTS], pieces[COUNT], since - before) - 1
            if chosen >= 0:
                piece = indices_at(places[chosen], SHOWN)
                step = weigh(plan, piece[BORDERS], piece[COUNT], at[0] - before)
                first = step * nodes * count
        if chosen >= 0:
            piece = indices_at(places[chosen], SHOWN)
            values = vector_at(piece[VALUES], piece[COUNT] * nodes * count)
            total = 0.0
            for j in range(nodes):
                total += terms[j] * values[first + j * count + k]
            out = vector_at(discrete, slots[k] + 1)
            out[slots[k]] = total
    return 0


@machine_code
def weigh(plan: int, borders: int, count: int, t: float) -> int:
    """Find the step of a time; what its values are multiplied with there goes into the terms."""
    told = indices_at(plan, PLAN)
    nodes, ends = told[NODES], vector_at(borders, count + 1)
    points, weights = vector_at(told[POINTS], nodes), vector_at(told[WEIGHTS], nodes)
    terms = vector_at(told[TERMS], nodes)
    t = min(max(t, ends[0]), ends[count])
    step = min(max(last_not_above(borders, count + 1, t) - 1, 0), count - 1)
    x = ((t - ends[step]) - (ends[step + 1] - t)) / (ends[step + 1] - ends[step])
    total, hit = 0.0, -1
    for j in range(nodes):
        gap = x - points[j]
        if gap == 0.0:
            hit = j
        else:
            terms[j] = weights[j] / gap
            total += terms[j]
    for j in range(nodes):
        if hit < 0:
            terms[j] /= total
        elif j == hit:
            terms[j] = 1.0
        else:
            terms[j] = 0.0
    return step


@machine_code
def keep_step(code: Code, work: Workspace, t: float, end: float, h: float, x: Vector) -> bool:
    """Add what is delayed to its past, as it was up to the end of the step from (t, x) that has
    just been taken, in halves where it is no polynomial; False where there is no room for more.
    """
    told = indices_at(indices_at(code.q, code.plan + 1)[code.plan], PLAN)
    piece, from_, to, halvings = indices_at(last_piece(code), SHOWN), t, end, 0
    borders = vector_at(piece[BORDERS], piece[ROOM] + 1)
    if borders[piece[COUNT]] != t:
        return False
    while from_ < end and piece[COUNT] < piece[ROOM]:
        middle = 0.5 * (from_ + to)
        if halvings < HALVINGS and from_ < middle < to and not _follows(
                code, work, told, piece, t, h, x, from_, to):
            to = middle
            halvings += 1
            continue
        if not halvings < HALVINGS:
            _follows(code, work, told, piece, t, h, x, from_, to)
        borders[piece[COUNT] + 1] = to
        piece[COUNT] += 1
        from_, to, halvings = to, end, 0
    return piece[COUNT] < piece[ROOM]


@machine_code
def _follows(code: Code, work: Workspace, told: Indices, piece: Indices, t: float, h: float,
             x: Vector, start: float, end: float) -> bool:
    """Fill in what is delayed at the nodes of a part of a step; whether it is that polynomial."""
    count, nodes = told[SIGNALS], told[NODES]
    first = piece[COUNT] * nodes * count
    values, points = vector_at(piece[VALUES], first + nodes * count), vector_at(
        told[POINTS], nodes + LOOKS)
    largest, now = vector_at(told[LARGEST], count), vector_at(told[NOW], count)
    between = vector_at(told[BETWEEN], LOOKS * nodes)
    off = vector_at(told[LIMITS], LIMIT_COUNT)[OFF]
    for j in range(nodes + LOOKS):
        at = 0.5 * (start + end) + 0.5 * (end - start) * points[j]
        if j == 0:
            at = start
        elif j == nodes - 1:
            at = end
        values_inside(code, work, t, (at - t) / h, h, x, work.k[WORK])
        values_at(code, work, code.past, at, work.k[WORK], now)
        for k in range(count):
            if j < nodes:
                values[first + j * count + k] = now[k]
                largest[k] = max(largest[k], abs(now[k]))
            else:
                missed, low, high = now[k], values[first + k], values[first + k]
                for i in range(nodes):
                    value = values[first + i * count + k]
                    missed -= between[(j - nodes) * nodes + i] * value
                    low, high = min(low, value), max(high, value)
                if not abs(missed) <= may_miss(off, largest[k], high - low, start, end):
                    return False
    return True


@machine_code
def forget_past(code: Code, t: float) -> bool:
    """Forget what no signal is read from after ``t``, where others let it; whether the past is
    known up to then."""
    told = indices_at(indices_at(code.q, code.plan + 1)[code.plan], PLAN)
    limits, pieces = vector_at(told[LIMITS], LIMIT_COUNT), indices_at(told[PIECES], SHOWN)
    if limits[FORGETS] == 0.0:
        return True
    size, room, gone = told[SIGNALS] * told[NODES], pieces[ROOM], 0
    starts, levels = vector_at(pieces[STARTS], room), indices_at(pieces[LEVELS], room)
    places = indices_at(pieces[PLACES], room)
    since = t - vector_at(told[DIFFERENT_LAGS], told[DIFFERENT])[told[DIFFERENT] - 1]
    since -= 8 * same_instant(t, limits[LEAST_TIME_APART])
    while gone + 1 < pieces[COUNT] and starts[gone + 1] < since:
        gone += 1
    for _ in range(gone):  # the first goes behind all others
        first = places[0]
        indices_at(first, SHOWN)[COUNT] = 0
        for i in range(room - 1):
            starts[i], levels[i], places[i] = starts[i + 1], levels[i + 1], places[i + 1]
        places[room - 1] = first
        pieces[COUNT] -= 1
    piece = indices_at(places[0], SHOWN)
    borders = vector_at(piece[BORDERS], piece[ROOM] + 1)
    values, gone = vector_at(piece[VALUES], piece[ROOM] * size), 0
    while gone < piece[COUNT] and borders[gone + 1] < since:
        gone += 1
    if gone > 0:
        piece[COUNT] -= gone
        for i in range(piece[COUNT] + 1):
            borders[i] = borders[i + gone]
        for i in range(piece[COUNT] * size):
            values[i] = values[i + gone * size]
    return is_kept_up_to(code, t)


@machine_code
def last_piece(code: Code) -> int:
    """Address of what is told of the piece that grows."""
    told = indices_at(indices_at(code.q, code.plan + 1)[code.plan], PLAN)
    pieces = indices_at(told[PIECES], SHOWN)
    return indices_at(pieces[PLACES], pieces[COUNT])[pieces[COUNT] - 1]


@machine_code
def is_kept_up_to(code: Code, t: float) -> bool:
    """Whether the past is known up to a time."""
    piece = indices_at(last_piece(code), SHOWN)
    return vector_at(piece[BORDERS], piece[COUNT] + 1)[piece[COUNT]] == t


@machine_code
def read_from(code: Code, t: float) -> None:
    """From now on read what belongs to the time just after ``t``."""
    vector_at(code.q, code.plan + 2)[code.plan + 1] = t


@machine_code
def bend_before(code: Code, t: float, stop: float) -> float:
    """The next instant at which something delayed jumps or bends, before ``stop``; or that."""
    told = indices_at(indices_at(code.q, code.plan + 1)[code.plan], PLAN)
    pieces, lags = indices_at(told[PIECES], SHOWN), vector_at(
        told[DIFFERENT_LAGS], told[DIFFERENT])
    limits, starts = vector_at(told[LIMITS], LIMIT_COUNT), vector_at(
        pieces[STARTS], pieces[COUNT])
    tiny, found = same_instant(t, limits[LEAST_TIME_APART]), stop
    last = limits[UNTIL] - 4 * same_instant(limits[UNTIL], limits[LEAST_TIME_APART])
    for k in range(told[DIFFERENT]):
        following = last_not_above(pieces[STARTS], pieces[COUNT], t + tiny - lags[k])
        if following < pieces[COUNT]:
            at = starts[following] + lags[k]
            if at < found and at < stop - tiny and at < last:
                found = at
    return found


@machine_code
def begin_piece(code: Code, work: Workspace, t: float, x: Vector) -> bool:
    """Begin a piece of the past at an event, as :meth:`blocks.system.delays.Delays.begin` does;
    False where there is no room."""
    told = indices_at(indices_at(code.q, code.plan + 1)[code.plan], PLAN)
    count, nodes, pieces = told[SIGNALS], told[NODES], indices_at(told[PIECES], SHOWN)
    begun, room, before = pieces[COUNT], pieces[ROOM], last_piece(code)
    starts, levels = vector_at(pieces[STARTS], room), indices_at(pieces[LEVELS], room)
    if begun == room:
        return False
    if t <= starts[begun - 1]:
        return True
    lags, now = vector_at(told[DIFFERENT_LAGS], told[DIFFERENT]), vector_at(told[NOW], count)
    limits, level = vector_at(told[LIMITS], LIMIT_COUNT), -1
    near = 4 * same_instant(t, limits[LEAST_TIME_APART])
    for k in range(told[DIFFERENT]):
        i = min(last_not_above(pieces[STARTS], begun, t - lags[k] - near), begun - 1)
        if abs(starts[i] + lags[k] - t) <= near and (level < 0 or levels[i] < level):
            level = levels[i]
    level += 1
    values_at(code, work, code.past, t, x, now)
    piece = indices_at(before, SHOWN)
    if level > 0 and piece[COUNT] > 0:
        end = (piece[COUNT] * nodes - 1) * count
        values, largest = vector_at(piece[VALUES], end + count), vector_at(told[LARGEST], count)
        for k in range(count):
            if abs(now[k] - values[end + k]) > HANDED_ON * largest[k]:
                level = 0  # a jump that is only handed on stays a jump
    if level > told[ROUGHEST]:
        return True
    starts[begun], levels[begun] = t, level
    piece = indices_at(indices_at(pieces[PLACES], room)[begun], SHOWN)
    vector_at(piece[BORDERS], 1)[0] = t
    pieces[COUNT] = begun + 1
    return True


def reading_of_past(system: System, discrete: int) -> Beginning:
    """What brings delayed signals up to date.

    ``discrete`` is the entry of ``q`` where discrete values begin; behind them stand the address
    of a plan, and the time just after which what is read begins.
    """
    signals = delayed_signals(system)
    w, p = Writer(), system.tape.p
    values = w.values(ca.Function("before", [TIME, p], [signals.lagged]),
                      {0: ("%t", 0), 1: ("%p", 0)})
    for slot, value in zip(signals.slots.tolist(), values, strict=True):
        w.store(value, "%q", discrete + slot)
    address = w.new(f"load i64, ptr {w.pointer('%q', discrete + system.nd)}, align 8")
    plan = w.new(f"inttoptr i64 {address} to ptr")
    w.call(fill_past, "%t", w.pointer("%q", discrete), plan,
           w.pointer("%q", discrete + system.nd + 1))
    text = "\n".join([*sorted(w.declared), "define void @main(ptr %t, ptr %p, ptr %q) {",
                      *w.lines, "  ret void", "}", ""])  # fmt: skip
    own = name_of_code(compiled(text, parallel=False))
    return Beginning((f"  call void {own}(ptr %t, ptr %p, ptr %q)",),
                     (f"declare void {own}(ptr, ptr, ptr)",))
