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
from ..numerics.tolerances import CLEAR
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
    PAST,
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
from ..system.past import (
    BEGINS,
    COUNT,
    ENDS,
    FIRSTS,
    LEVELS,
    ROOM,
    ROOM_OF_STEPS,
    SHOWN,
    STARTS,
    STEPS,
    VALUES,
)
from ..system.past import may_miss as _may_miss
from .called_functions import last_not_above
from .expressions import Writer
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

    ``now`` is the address of the time, ``plan`` that of :attr:`blocks.system.delays.Delays.plan`,
    ``origin`` that of the time just after which what is read begins.
    """
    told = indices_at(plan, PLAN)
    count, nodes, past = told[SIGNALS], told[NODES], indices_at(told[PAST], SHOWN)
    slots, firsts = indices_at(told[SLOTS], count), indices_at(past[FIRSTS], past[COUNT])
    begins, ends = vector_at(past[BEGINS], past[STEPS]), vector_at(past[ENDS], past[STEPS])
    lags, at = vector_at(told[LAGS], count), vector_at(now, 1)
    terms, before, first, chosen = vector_at(told[TERMS], nodes), -1.0, 0, -1
    begun, least = vector_at(origin, 1)[0], vector_at(told[LIMITS], LIMIT_COUNT)[LEAST_TIME_APART]
    since = begun + 4 * same_instant(begun, least)
    values = vector_at(past[VALUES], past[STEPS] * nodes * count)
    for k in range(count):
        if lags[k] != before:
            before = lags[k]
            chosen = last_not_above(past[STARTS], past[COUNT], since - before) - 1
            if chosen >= 0:
                last = past[STEPS]
                if chosen + 1 < past[COUNT]:
                    last = firsts[chosen + 1]
                first = weigh(told, past[BEGINS], begins, ends, firsts[chosen], last,
                              at[0] - before) * nodes * count
        if chosen >= 0:
            total = 0.0
            for j in range(nodes):
                total += terms[j] * values[first + j * count + k]
            out = vector_at(discrete, slots[k] + 1)
            out[slots[k]] = total
    return 0


@machine_code
def weigh(told: Indices, place: int, begins: Vector, ends: Vector, first: int, last: int, t: float
          ) -> int:
    """Find the step of a time among those of a piece, which begin at an address; what its values
    are multiplied with there goes into the terms."""
    nodes = told[NODES]
    points, weights = vector_at(told[POINTS], nodes), vector_at(told[WEIGHTS], nodes)
    terms = vector_at(told[TERMS], nodes)
    t = min(max(t, begins[first]), ends[last - 1])
    step = first - 1 + last_not_above(place + 8 * first, last - first, t)
    x = ((t - begins[step]) - (ends[step] - t)) / (ends[step] - begins[step])
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
def _plan(code: Code) -> int:
    """Address of what is told of all that is delayed."""
    return indices_at(code.q, code.plan + 1)[code.plan]


@machine_code
def keep_step(code: Code, work: Workspace, t: float, end: float, h: float, x: Vector) -> bool:
    """Add what is delayed to its past, as it was up to the end of the step from (t, x) that has
    just been taken, in halves where it is no polynomial; False where there is no room for more.
    """
    told = indices_at(_plan(code), PLAN)
    past, one, other, halvings = indices_at(told[PAST], SHOWN), t, end, 0
    begins = vector_at(past[BEGINS], past[ROOM_OF_STEPS])
    ends = vector_at(past[ENDS], past[ROOM_OF_STEPS])
    if not is_kept_up_to(code, t):
        return False
    while one < end and past[STEPS] < past[ROOM_OF_STEPS]:
        middle = 0.5 * (one + other)
        follows = _follows(code, work, told, past, t, h, x, one, other)
        if follows or halvings == HALVINGS or not one < middle < other:
            begins[past[STEPS]], ends[past[STEPS]] = one, other
            past[STEPS] += 1
            one, other, halvings = other, end, 0
        else:
            other = middle
            halvings += 1
    return past[STEPS] < past[ROOM_OF_STEPS]


@machine_code
def _follows(code: Code, work: Workspace, told: Indices, past: Indices, t: float, h: float,
             x: Vector, start: float, end: float) -> bool:
    """Fill in what is delayed at the nodes of a part of a step; whether it is that polynomial."""
    count, nodes = told[SIGNALS], told[NODES]
    first, follows = past[STEPS] * nodes * count, True
    values, points = vector_at(past[VALUES], first + nodes * count), vector_at(
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
                follows &= abs(missed) <= may_miss(off, largest[k], high - low, start, end)
    return follows


@machine_code
def forget_past(code: Code, t: float) -> bool:
    """Forget what nothing reads after ``t``, where that is allowed; whether the past is known up
    to then."""
    told = indices_at(_plan(code), PLAN)
    limits, past = vector_at(told[LIMITS], LIMIT_COUNT), indices_at(told[PAST], SHOWN)
    if limits[FORGETS] == 0.0:
        return True
    size, longest = told[SIGNALS] * told[NODES], vector_at(
        told[DIFFERENT_LAGS], told[DIFFERENT])[told[DIFFERENT] - 1]
    since, gone = t - longest - 8 * same_instant(t, limits[LEAST_TIME_APART]), 0
    starts, levels = vector_at(past[STARTS], past[COUNT]), indices_at(past[LEVELS], past[COUNT])
    firsts, begins = indices_at(past[FIRSTS], past[COUNT]), vector_at(past[BEGINS], past[STEPS])
    ends, values = vector_at(past[ENDS], past[STEPS]), vector_at(past[VALUES], past[STEPS] * size)
    while gone + 1 < past[COUNT] and starts[gone + 1] < since:
        gone += 1
    first = firsts[gone]
    while first < past[STEPS] and ends[first] < since and (
            gone + 1 == past[COUNT] or first < firsts[gone + 1]):
        first += 1
    firsts[gone] = first
    for i in range(gone, past[COUNT]):
        starts[i - gone], levels[i - gone], firsts[i - gone] = starts[i], levels[i], (
            firsts[i] - first)
    for i in range(first, past[STEPS]):
        begins[i - first], ends[i - first] = begins[i], ends[i]
    values[: (past[STEPS] - first) * size] = values[first * size : past[STEPS] * size]
    past[COUNT] -= gone
    past[STEPS] -= first
    return is_kept_up_to(code, t)


@machine_code
def is_kept_up_to(code: Code, t: float) -> bool:
    """Whether the past is known up to a time."""
    past = indices_at(indices_at(_plan(code), PLAN)[PAST], SHOWN)
    last, steps = past[COUNT] - 1, past[STEPS]
    known = vector_at(past[STARTS], last + 1)[last]
    if steps > indices_at(past[FIRSTS], last + 1)[last]:
        known = vector_at(past[ENDS], steps)[steps - 1]
    return known == t


@machine_code
def read_from(code: Code, t: float) -> None:
    """From now on read what belongs to the time just after ``t``."""
    vector_at(code.q, code.plan + 2)[code.plan + 1] = t


@machine_code
def bend_before(code: Code, t: float, stop: float) -> float:
    """The next instant at which something delayed jumps or bends, before ``stop``; or that.

    It may be ``t``, where steps have ended without reading what is beyond.
    """
    told = indices_at(_plan(code), PLAN)
    past, lags = indices_at(told[PAST], SHOWN), vector_at(told[DIFFERENT_LAGS], told[DIFFERENT])
    limits, starts = vector_at(told[LIMITS], LIMIT_COUNT), vector_at(past[STARTS], past[COUNT])
    tiny, found = same_instant(t, limits[LEAST_TIME_APART]), stop
    last = limits[UNTIL] - 4 * same_instant(limits[UNTIL], limits[LEAST_TIME_APART])
    read = vector_at(code.q, code.plan + 2)[code.plan + 1]
    for k in range(told[DIFFERENT]):
        after = max(read + 4 * tiny, t - 2 * tiny) - lags[k]
        following = last_not_above(past[STARTS], past[COUNT], after)
        if following < past[COUNT]:
            at = max(starts[following] + lags[k], t)
            if at < found and at < stop - tiny and at < last:
                found = at
    return found


@machine_code
def begin_piece(code: Code, work: Workspace, t: float, x: Vector) -> bool:
    """Begin a piece of the past at an event, as :meth:`blocks.system.delays.Delays.begin` does;
    False where there is no room."""
    told = indices_at(_plan(code), PLAN)
    count, nodes, past = told[SIGNALS], told[NODES], indices_at(told[PAST], SHOWN)
    begun, room, steps = past[COUNT], past[ROOM], past[STEPS]
    starts, levels = vector_at(past[STARTS], room), indices_at(past[LEVELS], room)
    if begun == room:
        return False
    if t <= starts[begun - 1]:
        return True
    lags, now = vector_at(told[DIFFERENT_LAGS], told[DIFFERENT]), vector_at(told[NOW], count)
    limits, level = vector_at(told[LIMITS], LIMIT_COUNT), -1
    near = 4 * same_instant(t, limits[LEAST_TIME_APART])
    for k in range(told[DIFFERENT]):
        i = min(last_not_above(past[STARTS], begun, t - lags[k] - near), begun - 1)
        if abs(starts[i] + lags[k] - t) <= near and (level < 0 or levels[i] < level):
            level = levels[i]
    level += 1
    values_at(code, work, code.past, t, x, now)
    if level > 0 and steps > 0:
        end = (steps * nodes - 1) * count
        values, largest = vector_at(past[VALUES], end + count), vector_at(told[LARGEST], count)
        for k in range(count):
            if abs(now[k] - values[end + k]) > CLEAR * largest[k]:
                level = 0  # a jump that is only handed on stays a jump
    if level > told[ROUGHEST]:
        return True
    starts[begun], levels[begun] = t, level
    indices_at(past[FIRSTS], room)[begun] = steps
    past[COUNT] = begun + 1
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
