"""Many runs of one model at once, each in a lane of the processor's vectors.

Every lane has a time and a step of its own; a lane whose run has ended takes the
next one. Threads that march through the same runs share the count of those taken, so
that none waits for another before all are taken. The arithmetic of a run is the same
in whichever lane of whichever thread it stands.
Compiled by numba; single runs (:mod:`blocks.native.dopri`) have the same step control.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from ..numerics.tolerances import EXTREME_ROUNDING, LEAST_ERROR
from .disk_cache import compiled
from .dopri import FULL, NOT_FINITE, REACHED, TOO_SMALL
from .stages import ATOL, BACK, ERROR_NORM, EXTENSION, FLUSH, NEW, ROWS, STAGE_TIMES, WORK
from .step_control import (
    first_step,
    is_too_small,
    next_step,
    shortened_step,
    step_to_piece,
    trial_step,
)
from .steps import call, run_code

__all__ = ["LANES", "march"]

LANES = 8
LOOKS = (0.25, 0.5, 0.75, 1.0)  # parts of a step at which outputs are looked at


#: Where a lane is.
_LANE = np.dtype([
    ("run", np.int64),  # -1 where there is none
    ("t", np.float64), ("step", np.float64), ("old_error", np.float64),
    ("rejected", np.bool_),  # the try before this one
    ("ended", np.bool_),  # waits for another run
    ("fresh", np.bool_),  # has just been given one
    ("taken", np.bool_),  # its present step is accepted
    ("last", np.bool_),  # its present step ends the run
    ("pending", np.int64),  # number of the next time at which outputs are wanted
])  # fmt: skip


class _Limits(NamedTuple):
    """What all steps obey."""

    t0: float
    t_end: float
    rtol: float
    max_step: float
    across: int  # borders of pieces of time that a step may reach over


@intrinsic
def _take(context, address):  # type: ignore[no-untyped-def]
    """The integer at an address, which then becomes one larger, whoever else takes it."""
    from llvmlite import ir

    def generate(context, builder, signature, given):  # type: ignore[no-untyped-def]
        count = builder.inttoptr(given[0], ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", count, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(types.intp), generate


# -- the start of a run ---------------------------------------------------------------------------
@compiled
def _refill(counter, limits, lanes, x0, p0, atol0, x, p, k):
    """Give lanes whose run has ended the next that nobody has taken; how many got none."""
    idle, runs = 0, x0.shape[0]
    for i in range(LANES):
        lane = lanes[i]
        if not lane.ended:
            continue
        lane.ended = False
        run = _take(counter)
        lane.run, lane.fresh = run, run < runs
        if run >= runs:  # it repeats the last one's start
            lane.run = -1
            run = runs - 1
            idle += 1
        x[:, i] = x0[run]
        p[:, i] = p0[run]
        k[ATOL, :, i] = atol0[run]
        lane.t = limits.t0
        lane.step = 0.0
        lane.old_error = LEAST_ERROR
        lane.rejected = False
    return idle


@compiled
def _choose_first_steps(slope, limits, lanes, x, p, q, k, at, spare):
    """f(t, x) and Hairer's starting step of lanes that have just been filled."""
    n, rtol, longest = x.shape[0], limits.rtol, min(limits.max_step, limits.t_end - limits.t0)
    call(slope, at, x, p, q, spare)
    first, trial, moved = np.zeros(LANES), np.zeros(LANES), k[WORK]
    for i in range(LANES):
        if not lanes[i].fresh:
            continue
        d0 = d1 = 0.0
        for j in range(n):
            k[0, j, i] = spare[j, i]
            size = k[ATOL, j, i] + rtol * abs(x[j, i])
            d0 = max(d0, abs(x[j, i]) / size)
            d1 = max(d1, abs(spare[j, i]) / size)
        trial[i] = trial_step(d0, d1, longest)
        first[i] = d1
    for i in range(LANES):
        at[i] = lanes[i].t + trial[i]
        for j in range(n):
            moved[j, i] = x[j, i] + trial[i] * k[0, j, i]
    call(slope, at, moved, p, q, spare)
    for i in range(LANES):
        if not lanes[i].fresh:
            continue
        d2 = 0.0
        for j in range(n):
            size = k[ATOL, j, i] + rtol * abs(x[j, i])
            d2 = max(d2, abs(spare[j, i] - k[0, j, i]) / size)
        d2 /= trial[i]
        lanes[i].step = first_step(trial[i], first[i], d2, longest)


@compiled
def _keep_start(lanes, seen, looks, times, lows, highs, courses, counts):
    """Outputs at the start of lanes that have just been filled."""
    for i in range(LANES):
        lane = lanes[i]
        if not lane.fresh:
            continue
        run = lane.run
        counts[run, 2] += 2
        lane.fresh = False
        lane.pending = 0
        for j in range(lows.shape[1]):
            lows[run, j] = highs[run, j] = looks[0, j, i] = seen[j, i]
        while lane.pending < times.size and times[lane.pending] <= lane.t:
            for j in range(lows.shape[1]):
                courses[run, lane.pending, j] = seen[j, i]
            lane.pending += 1


# -- a step ---------------------------------------------------------------------------------------
@compiled
def _propose(limits, pieces, most, lanes, step, status, counts):
    """The length of every lane's step; whether some run is given up instead."""
    any_ended = False
    for i in range(LANES):
        lane = lanes[i]
        lane.step = step_to_piece(lane.t, min(lane.step, limits.max_step), pieces, limits.across)
        rest = limits.t_end - lane.t
        lane.last = 1.001 * lane.step >= rest
        step[0, i] = rest if lane.last else lane.step
        if not lane.last and 2 * lane.step > rest:
            step[0, i] = 0.5 * rest
        step[1, i] = limits.rtol
        if lane.run < 0:
            continue
        still = is_too_small(step[0, i], lane.t, limits.t_end) and not lane.last
        if still or counts[lane.run, 0] + counts[lane.run, 1] >= most:
            status[lane.run] = TOO_SMALL if still else FULL
            lane.ended = any_ended = True
    return any_ended


@compiled
def _take_stages(arithmetic, slope, lanes, x, p, q, k, size, at, step, error):
    """Stages 2 to 7 of all lanes, the ends of their steps, and their errors."""
    here, rows, n, pairs = x.ctypes.data, k.ctypes.data, size.ctypes.data, step.ctypes.data
    for j in range(6):
        row = NEW if j == 5 else WORK
        run_code(arithmetic[j], here, rows, k[row].ctypes.data, n, pairs)
        for i in range(LANES):
            at[i] = lanes[i].t + STAGE_TIMES[j] * step[0, i]
        call(slope, at, k[row], p, q, k[j + 1])
    run_code(arithmetic[ERROR_NORM], here, rows, error.ctypes.data, n, pairs)


@compiled
def _judge(limits, lanes, step, error, status, counts):
    """Which steps are accepted; whether there are any."""
    any_taken = False
    for i in range(LANES):
        lane = lanes[i]
        lane.taken = False
        run = lane.run
        if run < 0:
            continue
        counts[run, 2] += 6
        finite = np.isfinite(error[1, i])
        if finite and error[0, i] <= 1.0:
            lane.taken = any_taken = True
            continue
        counts[run, 1] += 1
        lane.rejected = True
        lane.step = shortened_step(step[0, i], error[0, i] if finite else np.nan)
        if is_too_small(lane.step, lane.t, limits.t_end):
            status[run] = TOO_SMALL if finite else NOT_FINITE
            lane.ended = True
    return any_taken


@compiled
def _move_on(limits, lanes, x, k, step, error, finals, status, counts):
    """Go to the ends of accepted steps."""
    for i in range(LANES):
        lane = lanes[i]
        if not lane.taken:
            continue
        run, now = lane.run, step[0, i]
        lane.step = next_step(now, lane.step, error[0, i], lane.old_error, lane.rejected)
        lane.old_error = max(error[0, i], LEAST_ERROR)
        lane.rejected = False
        counts[run, 0] += 1
        lane.t = limits.t_end if lane.last else lane.t + now
        for j in range(x.shape[0]):
            x[j, i] = k[NEW, j, i]
            k[0, j, i] = k[6, j, i]
        if lane.last:
            finals[run] = x[:, i]
            status[run] = REACHED
            lane.ended = True


# -- outputs in a step ----------------------------------------------------------------------------
@compiled
def _look_inside(arithmetic, outputs, lanes, x, p, q, k, size, at, step, spare, seen):
    """Outputs at the part ``step[1]`` of the present steps."""
    run_code(arithmetic[EXTENSION], x.ctypes.data, k.ctypes.data, spare.ctypes.data,
             size.ctypes.data, step.ctypes.data)
    for i in range(LANES):
        at[i] = lanes[i].t + step[1, i] * step[0, i]
    call(outputs, at, spare, p, q, seen)


@compiled
def _widen(lanes, seen, lows, highs):
    """Take outputs into the ranges of the runs that have taken a step."""
    for i in range(LANES):
        if lanes[i].taken:
            run = lanes[i].run
            for j in range(lows.shape[1]):
                lows[run, j] = min(lows[run, j], seen[j, i])
                highs[run, j] = max(highs[run, j], seen[j, i])


@compiled
def _aim_at_vertices(m, j, lanes, looks, step, lows, highs):
    """Parts of steps at which parabolas through three looks from the m-th on leave the range of
    the j-th output; whether there are any."""
    asked = False
    for i in range(LANES):
        step[1, i] = 0.0
        if lanes[i].taken:
            run = lanes[i].run
            part = _vertex(looks[m, j, i], looks[m + 1, j, i], looks[m + 2, j, i], lows[run, j],
                           highs[run, j])
            if part > 0.0:
                step[1, i] = 0.25 * (m + part)
                asked = True
    return asked


@compiled
def _aim_at_times(limits, lanes, step, times):
    """Parts of steps at which outputs are wanted next; whether there are any."""
    asked = False
    for i in range(LANES):
        lane = lanes[i]
        step[1, i] = 0.0
        if lane.taken and lane.pending < times.size:
            end = limits.t_end if lane.last else lane.t + step[0, i]
            if times[lane.pending] <= end:
                step[1, i] = min((times[lane.pending] - lane.t) / step[0, i], 1.0)
                asked = True
    return asked


@compiled
def _keep_courses(lanes, step, seen, courses):
    """Outputs at the times just looked at."""
    for i in range(LANES):
        lane = lanes[i]
        if step[1, i] > 0.0:
            for j in range(courses.shape[2]):
                courses[lane.run, lane.pending, j] = seen[j, i]
            lane.pending += 1


@compiled
def _vertex(a, b, c, low, high):
    """Where a parabola through three looks leaves the range: 0 to 2 from the first; or -1."""
    bend = a - 2.0 * b + c
    if bend == 0.0:
        return -1.0
    away = 0.5 * (a - c) / bend
    if not -1.0 <= away <= 1.0:
        return -1.0
    value = b - 0.25 * (a - c) * away
    grain = EXTREME_ROUNDING * (abs(a) + abs(b) + abs(c))
    return 1.0 + away if value > high + grain or value < low - grain else -1.0


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
    n, results = x0.shape[1], lows.shape[1]
    width = max(results, 1)
    limits = _Limits(t0, t_end, rtol, max_step, across)
    lanes = np.zeros(LANES, dtype=_LANE)
    for i in range(LANES):
        lanes[i].ended = True
    x, p, q = np.zeros((n, LANES)), np.zeros((p0.shape[1], LANES)), np.repeat(q, LANES)
    k, size, at = np.zeros((len(ROWS), n, LANES)), np.array([n]), np.zeros(LANES)
    step, error = np.zeros((2, LANES)), np.zeros((2, LANES))
    spare, seen = np.zeros((n, LANES)), np.zeros((width, LANES))
    looks = np.zeros((5, width, LANES))  # at the start of a step, and in it
    processor, scrap = np.empty(2), np.empty(2)
    call(code[FLUSH], processor, scrap, scrap, scrap, scrap)
    busy = LANES
    while True:
        busy -= _refill(taken_runs.ctypes.data, limits, lanes, x0, p0, atol0, x, p, k)
        if not busy:
            break
        if lanes.fresh.any():
            at[:] = lanes.t
            _choose_first_steps(slope, limits, lanes, x, p, q, k, at, spare)
            if extremes or times.size:
                at[:] = lanes.t
                call(outputs, at, x, p, q, seen)
            _keep_start(lanes, seen, looks, times, lows, highs, courses, counts)
        if _propose(limits, pieces, most, lanes, step, status, counts):
            continue
        _take_stages(code, slope, lanes, x, p, q, k, size, at, step, error)
        if not _judge(limits, lanes, step, error, status, counts):
            continue
        if extremes:
            for m in range(4):
                step[1, :] = LOOKS[m]
                _look_inside(code, outputs, lanes, x, p, q, k, size, at, step, spare, seen)
                looks[m + 1] = seen
                _widen(lanes, seen, lows, highs)
            for m in range(3):
                for j in range(results):
                    if _aim_at_vertices(m, j, lanes, looks, step, lows, highs):
                        _look_inside(code, outputs, lanes, x, p, q, k, size, at, step, spare, seen)
                        _widen(lanes, seen, lows, highs)
            for i in range(LANES):
                if lanes[i].taken:
                    looks[0, :, i] = looks[4, :, i]
        while _aim_at_times(limits, lanes, step, times):
            _look_inside(code, outputs, lanes, x, p, q, k, size, at, step, spare, seen)
            _keep_courses(lanes, step, seen, courses)
        _move_on(limits, lanes, x, k, step, error, finals, status, counts)
    call(code[BACK], processor, scrap, scrap, scrap, scrap)
