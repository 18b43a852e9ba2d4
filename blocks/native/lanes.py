"""Many runs of one model at once, each in a lane of the processor's vectors.

Every lane has a time and a step of its own; a lane whose run has ended takes the
next one. Threads that march through the same runs share the count of those taken, so
that none waits for another before all are taken. The arithmetic of a run is the same
in whichever lane of whichever thread it stands.
Compiled by numba like :mod:`blocks.native.dopri`, whose step control it shares.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from .disk_cache import compiled
from .dopri import (
    BETA,
    FASTEST,
    FULL,
    LOOKS,
    NOT_FINITE,
    REACHED,
    SAFETY,
    SLOWEST,
    TOO_SMALL,
    _call,
)
from .stages import ATOL, NEW, STAGE_TIMES, WORK

__all__ = ["LANES", "march"]

LANES = 8


@intrinsic
def _take(context, address):  # type: ignore[no-untyped-def]
    """The integer at an address, which then becomes one larger, whoever else takes it."""
    from llvmlite import ir

    def generate(context, builder, signature, given):  # type: ignore[no-untyped-def]
        count = builder.inttoptr(given[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", count, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(types.intp), generate


@compiled
def _begin(lane, run, t0, x0, p0, atol0, x, p, atol, t, h, old, rejected, run_of):
    """Put a run into a lane."""
    run_of[lane] = run
    x[:, lane] = x0[run]
    p[:, lane] = p0[run]
    atol[:, lane] = atol0[run]
    t[lane] = t0
    h[lane] = 0.0
    old[lane] = 1e-4
    rejected[lane] = False


@compiled
def _next(lane, counter, t0, x0, p0, atol0, x, p, atol, t, h, old, rejected, fresh, run_of):
    """Give a lane the next run that nobody has taken; whether there was one."""
    run = _take(counter)
    if run >= x0.shape[0]:
        run_of[lane] = -1
        return False
    _begin(lane, run, t0, x0, p0, atol0, x, p, atol, t, h, old, rejected, run_of)
    fresh[lane] = True
    return True


@compiled
def _evaluate(function, at, x, p, q, out):
    _call(function, at.ctypes.data, x.ctypes.data, p.ctypes.data, q.ctypes.data, out.ctypes.data)


@compiled
def _starting_steps(slope, t, x, p, q, k, rtol, limit, fresh, h, work, at):
    """f(t, x) and Hairer's starting step of lanes that have just been filled."""
    n = x.shape[0]
    _evaluate(slope, t, x, p, q, work)
    first = np.zeros(LANES)
    for lane in range(LANES):
        if not fresh[lane]:
            continue
        d0 = d1 = 0.0
        for i in range(n):
            k[0, i, lane] = work[i, lane]
            size = k[ATOL, i, lane] + rtol * abs(x[i, lane])
            d0 = max(d0, abs(x[i, lane]) / size)
            d1 = max(d1, abs(work[i, lane]) / size)
        first[lane] = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, limit)
        h[lane] = d1  # kept for the second look
    trial = k[WORK]
    for lane in range(LANES):
        at[lane] = t[lane] + first[lane]
        for i in range(n):
            trial[i, lane] = x[i, lane] + first[lane] * k[0, i, lane]
    _evaluate(slope, at, trial, p, q, work)
    for lane in range(LANES):
        if not fresh[lane]:
            continue
        d2 = 0.0
        for i in range(n):
            size = k[ATOL, i, lane] + rtol * abs(x[i, lane])
            d2 = max(d2, abs(work[i, lane] - k[0, i, lane]) / size)
        d2 /= first[lane]
        most = max(h[lane], d2)
        later = max(1e-6, first[lane] * 1e-3) if most <= 1e-15 else (0.01 / most) ** 0.2
        h[lane] = min(100 * first[lane], later, limit)


@compiled
def march(taken_runs, code, slope, outputs, x0, p0, q, atol0, rtol, t0, t_end, max_step, pieces,
          across, most, times, extremes, finals, lows, highs, courses, status, counts):
    """Make all runs from ``t0`` to ``t_end`` that no other thread takes.

    A run that needs more than ``most`` steps is given up: it may never end, and nothing but
    its own end would stop it.

    Parameters
    ----------
    taken_runs : (1,) integer, how many runs have been taken; shared by threads
    code : addresses of :func:`~blocks.native.stages.arithmetic` for several lanes
    slope, outputs : addresses of machine code for several lanes
    x0, p0, atol0 : (runs, n), (runs, parameters), (runs, n) absolute tolerances
    q : what is constant during all runs
    pieces, across : borders of pieces of time, and how many of them a step may reach over
    times : ascending times at which outputs are wanted; ``extremes``: whether their range is
    finals : (runs, n) filled with the states at the end
    lows, highs : (runs, outputs) filled; courses : (runs, times, outputs) filled
    status : (runs,) filled (``FULL``: given up); counts : (runs, 3) steps, rejected, evaluations
    """
    runs, n = x0.shape
    results = lows.shape[1]
    size = np.array([n])
    k = np.zeros((10, n, LANES))
    atol = k[ATOL]
    x, p = np.zeros((n, LANES)), np.zeros((p0.shape[1], LANES))
    wide = np.repeat(q, LANES)
    t, h, old, at = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    step, pair = np.zeros((2, LANES)), np.zeros((2, LANES))
    rejected = np.zeros(LANES, dtype=np.bool_)
    fresh = np.zeros(LANES, dtype=np.bool_)
    taken = np.zeros(LANES, dtype=np.bool_)
    last = np.zeros(LANES, dtype=np.bool_)
    pending = np.zeros(LANES, dtype=np.int64)
    run_of = np.full(LANES, -1)
    spare = np.zeros((n, LANES))
    seen = np.zeros((max(results, 1), LANES))
    looks = np.zeros((5, max(results, 1), LANES))  # at the start of a step, and in it
    processor, scrap = np.empty(2), np.empty(1)
    _call(code[8], processor.ctypes.data, scrap.ctypes.data, scrap.ctypes.data,
          scrap.ctypes.data, scrap.ctypes.data)
    counter = taken_runs.ctypes.data
    busy = 0
    for lane in range(LANES):  # a lane without a run repeats the last one's start
        run = _take(counter)
        _begin(lane, min(run, runs - 1), t0, x0, p0, atol0, x, p, atol, t, h, old, rejected,
               run_of)
        if run >= runs:
            run_of[lane] = -1
        else:
            fresh[lane] = True
            busy += 1
    while busy:
        if fresh.any():
            _starting_steps(slope, t, x, p, wide, k, rtol, min(max_step, t_end - t0), fresh, h,
                            spare, at)
            if extremes or times.size:
                _evaluate(outputs, t, x, p, wide, seen)
            for lane in range(LANES):
                if not fresh[lane]:
                    continue
                run = run_of[lane]
                counts[run, 2] += 2
                fresh[lane] = False
                pending[lane] = 0
                for j in range(results):
                    lows[run, j] = highs[run, j] = looks[0, j, lane] = seen[j, lane]
                while pending[lane] < times.size and times[pending[lane]] <= t0:
                    for j in range(results):
                        courses[run, pending[lane], j] = seen[j, lane]
                    pending[lane] += 1
        for lane in range(LANES):
            h[lane] = min(h[lane], max_step)
            if pieces.size:
                ahead = np.searchsorted(pieces, t[lane], side="right") + across - 1
                if ahead < pieces.size:
                    h[lane] = min(h[lane], pieces[ahead] - t[lane])
            rest = t_end - t[lane]
            last[lane] = 1.001 * h[lane] >= rest
            step[0, lane] = rest if last[lane] else h[lane]
            if not last[lane] and 2 * h[lane] > rest:
                step[0, lane] = 0.5 * rest
            step[1, lane] = rtol
            run = run_of[lane]
            if run < 0:
                continue
            still = not step[0, lane] > 4e-16 * max(abs(t[lane]), abs(t_end)) and not last[lane]
            if still or counts[run, 0] + counts[run, 1] >= most:
                status[run] = TOO_SMALL if still else FULL
                busy -= not _next(lane, counter, t0, x0, p0, atol0, x, p, atol, t, h, old,
                                  rejected, fresh, run_of)
        if fresh.any():
            continue
        here, rows, pairs = x.ctypes.data, k.ctypes.data, step.ctypes.data
        for j in range(6):
            row = NEW if j == 5 else WORK
            _call(code[j], here, rows, k[row].ctypes.data, size.ctypes.data, pairs)
            for lane in range(LANES):
                at[lane] = t[lane] + STAGE_TIMES[j] * step[0, lane]
            _call(slope, at.ctypes.data, k[row].ctypes.data, p.ctypes.data, wide.ctypes.data,
                  k[j + 1].ctypes.data)
        _call(code[6], here, rows, pair.ctypes.data, size.ctypes.data, pairs)
        any_taken = False
        for lane in range(LANES):
            taken[lane] = False
            run = run_of[lane]
            if run < 0:
                continue
            counts[run, 2] += 6
            now = step[0, lane]
            error = pair[0, lane]
            finite = np.isfinite(pair[1, lane])
            if finite and error <= 1.0:
                taken[lane] = any_taken = True
                continue
            counts[run, 1] += 1
            rejected[lane] = True
            h[lane] = 0.2 * now
            if finite:
                h[lane] = now / min(1 / SLOWEST, error**0.2 / SAFETY)
            if not h[lane] > 4e-16 * max(abs(t[lane]), abs(t_end)):
                status[run] = TOO_SMALL if finite else NOT_FINITE
                busy -= not _next(lane, counter, t0, x0, p0, atol0, x, p, atol, t, h, old,
                                  rejected, fresh, run_of)
        if not any_taken:
            continue
        if extremes:
            for m in range(4):
                step[1, :] = LOOKS[m]
                _within(code, outputs, step, x, k, size, t, at, p, wide, spare, seen)
                looks[m + 1] = seen
                _widen(taken, run_of, seen, lows, highs)
            for m in range(3):
                for j in range(results):
                    asked = False
                    for lane in range(LANES):
                        step[1, lane] = 0.0
                        if taken[lane]:
                            run = run_of[lane]
                            part = _turn(looks[m, j, lane], looks[m + 1, j, lane],
                                         looks[m + 2, j, lane], lows[run, j], highs[run, j])
                            if part > 0.0:
                                step[1, lane] = 0.25 * (m + part)
                                asked = True
                    if asked:
                        _within(code, outputs, step, x, k, size, t, at, p, wide, spare, seen)
                        _widen(taken, run_of, seen, lows, highs)
            for lane in range(LANES):
                if taken[lane]:
                    looks[0, :, lane] = looks[4, :, lane]
        while times.size:
            asked = False
            for lane in range(LANES):
                step[1, lane] = 0.0
                if taken[lane] and pending[lane] < times.size:
                    end = t_end if last[lane] else t[lane] + step[0, lane]
                    if times[pending[lane]] <= end:
                        step[1, lane] = min((times[pending[lane]] - t[lane]) / step[0, lane], 1.0)
                        asked = True
            if not asked:
                break
            _within(code, outputs, step, x, k, size, t, at, p, wide, spare, seen)
            for lane in range(LANES):
                if step[1, lane] > 0.0:
                    for j in range(results):
                        courses[run_of[lane], pending[lane], j] = seen[j, lane]
                    pending[lane] += 1
        for lane in range(LANES):
            if not taken[lane]:
                continue
            run = run_of[lane]
            now, error = step[0, lane], pair[0, lane]
            factor = error ** (0.2 - 0.75 * BETA) / old[lane] ** BETA / SAFETY
            factor = max(1 / FASTEST, min(1 / SLOWEST, factor))
            next_step = now / factor
            if rejected[lane]:
                next_step = min(next_step, now)
            if now < 0.999 * h[lane]:
                next_step = max(next_step, h[lane])
            old[lane] = max(error, 1e-4)
            rejected[lane] = False
            counts[run, 0] += 1
            h[lane] = next_step
            t[lane] = t_end if last[lane] else t[lane] + now
            for i in range(n):
                x[i, lane] = k[NEW, i, lane]
                k[0, i, lane] = k[6, i, lane]
            if last[lane]:
                finals[run] = x[:, lane]
                status[run] = REACHED
                busy -= not _next(lane, counter, t0, x0, p0, atol0, x, p, atol, t, h, old,
                                  rejected, fresh, run_of)
    _call(code[9], processor.ctypes.data, scrap.ctypes.data, scrap.ctypes.data,
          scrap.ctypes.data, scrap.ctypes.data)


@compiled
def _within(code, outputs, step, x, k, size, t, at, p, q, spare, seen):
    """Outputs at the part ``step[1]`` of the present steps."""
    _call(code[7], x.ctypes.data, k.ctypes.data, spare.ctypes.data, size.ctypes.data,
          step.ctypes.data)
    for lane in range(LANES):
        at[lane] = t[lane] + step[1, lane] * step[0, lane]
    _evaluate(outputs, at, spare, p, q, seen)


@compiled
def _widen(taken, run_of, seen, lows, highs):
    """Take outputs into the ranges of the runs that have taken a step."""
    for lane in range(LANES):
        if taken[lane]:
            run = run_of[lane]
            for j in range(lows.shape[1]):
                lows[run, j] = min(lows[run, j], seen[j, lane])
                highs[run, j] = max(highs[run, j], seen[j, lane])


@compiled
def _turn(a, b, c, low, high):
    """Where a parabola through three looks leaves the range: 0 to 2 from the first; or -1."""
    bend = a - 2.0 * b + c
    if bend == 0.0:
        return -1.0
    away = 0.5 * (a - c) / bend
    if not -1.0 <= away <= 1.0:
        return -1.0
    value = b - 0.25 * (a - c) * away
    grain = 1e-12 * (abs(a) + abs(b) + abs(c))
    return 1.0 + away if value > high + grain or value < low - grain else -1.0
