"""Many runs of one model at once, each in a lane of the processor's vectors.

Every lane has a time and a step of its own; a lane whose run has ended takes the
next one. Threads that march through the same runs share the count of those taken, so
that none waits for another before all are taken. The arithmetic of a run is the same
in whichever lane of whichever thread it stands.
Single runs (:mod:`blocks.native.one_step`) have the same step control.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import address_of, run_code, take
from ..numerics.arrays import Cube, Flags, IndexMatrix, Indices, Matrix, Vector
from ..numerics.tolerances import LEAST_ERROR, ROUNDING
from .one_step import (
    DAMPS,
    FAR_LONGER,
    FULL,
    NOT_FINITE,
    PERSISTS,
    REACHED,
    SELDOM,
    TOO_SMALL,
    fitted,
    length_of_first,
)
from .pulses import EXPONENT_ROWS, INSIDE_ROWS, see_peaks, step_to_pulse
from .stages import ATOL, BACK, ERROR_NORM, EXTENSION, FLUSH, NEW, ROWS, STAGE_TIMES, WORK
from .step_control import (
    count_up_to,
    damped,
    is_any,
    is_too_small,
    next_step,
    shortened_step,
    step_to_piece,
    told_error,
)
from .steps import (
    EXPLICIT,
    ROOTS,
    Code,
    Workspace,
    goes_nowhere,
    known_of,
    rate_of_error,
    slope_at,
    workspace,
)

__all__ = ["LANES", "Filled", "Runs", "march"]

ROOT = ROOTS[EXPLICIT]
LANES = 32  # of four of the widest vectors: some compute while others wait for a result


class Runs(NamedTuple):
    """What is to be run, a row each."""

    counter: Indices  # (1,) how many runs have been taken
    x0: Matrix
    p0: Matrix
    atol0: Matrix
    rtol: float
    t0: float
    t_end: float
    max_step: float
    pieces: Vector  # borders of pieces of time
    across: int  # how many of them a step may reach over
    most: int  # steps of a run
    between: int  # steps, after which it is asked whether it is stiff
    left: float  # steps that stability limits, from which on it is


class Filled(NamedTuple):
    """What is filled, a row for each run."""

    finals: Matrix  # states at the end
    lows: Matrix  # of outputs
    highs: Matrix
    courses: Cube  # (runs, times, outputs)
    status: Indices  # ``FULL``: given up
    counts: IndexMatrix  # steps, rejected, evaluations


class _Lanes(NamedTuple):
    """Where every lane is; lanes come last."""

    run: Indices  # -1 where there is none
    t: Vector
    h: Vector
    old_error: Vector
    x: Matrix
    p: Matrix
    rejected: Flags
    pressed: Flags  # stability limits its step
    fresh: Flags  # has just been given a run
    taken: Flags  # its present step is accepted
    last: Flags  # its present step ends the run
    pending: Indices  # number of the next time at which outputs are wanted
    nowhere: Indices  # steps in a row that went nowhere


class _Work(NamedTuple):
    """Addresses of machine code, and the arrays that it reads and fills."""

    arithmetic: Indices
    slope: int
    outputs: int
    exponents: int
    q: Vector  # (constants * lanes,)
    k: Cube  # (10, n, lanes) rows of stages
    size: Indices
    at: Vector  # (lanes,) times
    step: Matrix  # (2, lanes) lengths of steps, and tolerance or part of the step
    error: Matrix  # (5, lanes) as in :class:`~blocks.native.steps.Workspace`; once judged, what is
    # told of the step comes first
    spare: Matrix  # (n, lanes)
    seen: Matrix  # (outputs, lanes)
    looks: Cube  # (5, outputs, lanes) at the start of a step, and in it
    processor: Vector  # (2,) its state before denormals were flushed
    known: Cube  # (3, exponents, lanes) at the start of a step, in its middle and at its end
    peaks: Matrix  # (EXPONENT_ROWS, exponents) of one lane, work space of :mod:`.pulses`
    inside: Matrix  # (INSIDE_ROWS, n) of the same
    x: Vector  # (n,) the point where the step of that lane begins
    p: Vector  # its parameters


def _work(arithmetic: Indices, functions: tuple[int, int, int], q: Vector, runs: Runs,
          results: int, exponents: int) -> _Work:
    """Work space of a thread."""
    width, n, parameters = max(results, 1), runs.x0.shape[1], runs.p0.shape[1]
    return _Work(
        arithmetic, *functions, np.repeat(q, LANES), np.zeros((len(ROWS), n, LANES)), np.array([n]),
        np.zeros(LANES), np.zeros((2, LANES)), np.zeros((5, LANES)), np.zeros((n, LANES)),
        np.zeros((width, LANES)), np.zeros((5, width, LANES)), np.empty(2),
        np.empty((3, exponents, LANES)), np.empty((EXPONENT_ROWS, exponents)),
        np.empty((INSIDE_ROWS, n)), np.empty(n), np.empty(parameters))


def _no_lanes(runs: Runs) -> _Lanes:
    """Lanes without runs: until they are given one, they repeat the last one's start."""
    x, p = (np.repeat(rows[-1:].T, LANES, axis=1) for rows in (runs.x0, runs.p0))
    h, old_error = np.zeros((2, LANES))
    rejected, pressed, fresh, taken, last = np.zeros((5, LANES), dtype=np.bool_)
    pending, nowhere = np.zeros((2, LANES), dtype=np.int64)
    return _Lanes(np.full(LANES, -1), np.full(LANES, runs.t0), h, old_error, x, p, rejected,
                  pressed, fresh, taken, last, pending, nowhere)


# -- which run a lane makes ---------------------------------------------------------------------
@machine_code
def _begin(runs: Runs, lanes: _Lanes, work: _Work, lane: int, run: int) -> None:
    """Put a run into a lane."""
    lanes.run[lane] = run
    for i in range(lanes.x.shape[0]):
        lanes.x[i, lane] = runs.x0[run, i]
        work.k[ATOL, i, lane] = runs.atol0[run, i]
    for i in range(lanes.p.shape[0]):
        lanes.p[i, lane] = runs.p0[run, i]
    lanes.t[lane] = runs.t0
    lanes.old_error[lane] = LEAST_ERROR
    lanes.rejected[lane] = lanes.pressed[lane] = False
    lanes.nowhere[lane] = 0


@machine_code
def _fill(runs: Runs, lanes: _Lanes, work: _Work) -> bool:
    """Give lanes without a run the next one that nobody has taken; whether any lane has one."""
    busy = False
    for lane in range(LANES):
        if lanes.run[lane] < 0:
            run = take(runs.counter)
            lanes.fresh[lane] = run < runs.x0.shape[0]
            if lanes.fresh[lane]:
                _begin(runs, lanes, work, lane, run)
        busy |= lanes.run[lane] >= 0
    return busy


@machine_code
def _put_alone(lanes: _Lanes, work: _Work, alone: Workspace, lane: int) -> None:
    """Put the present step of a lane where the step of a single run is."""
    for i in range(work.x.size):
        work.x[i] = lanes.x[i, lane]
        for row in range(work.k.shape[0]):
            alone.k[row, i] = work.k[row, i, lane]
    for i in range(work.p.size):
        work.p[i] = lanes.p[i, lane]


# -- the start of a run ---------------------------------------------------------------------------
@machine_code
def _start_runs(runs: Runs, lanes: _Lanes, work: _Work, filled: Filled, times: Vector, code: Code,
                alone: Workspace) -> None:
    """First steps, and outputs at the start, of lanes that have just been filled."""
    seen, pending = work.seen, lanes.pending
    run_code(work.outputs, lanes.t, lanes.x, lanes.p, work.q, seen)
    for lane in range(LANES):
        if not lanes.fresh[lane]:
            continue
        run = lanes.run[lane]
        filled.counts[run, 2] += 2
        lanes.fresh[lane] = False
        _put_alone(lanes, work, alone, lane)
        slope_at(code, alone, runs.t0, work.x, alone.k[0])
        for i in range(work.x.size):
            work.k[0, i, lane] = alone.k[0, i]
        lanes.h[lane] = length_of_first(code, alone, runs.t0, work.x, runs.rtol,
                                        min(runs.max_step, runs.t_end - runs.t0))
        pending[lane] = 0
        for j in range(filled.lows.shape[1]):
            filled.lows[run, j] = filled.highs[run, j] = seen[j, lane]
            work.looks[0, j, lane] = seen[j, lane]
        while pending[lane] < times.size and times[pending[lane]] <= runs.t0:
            for j in range(filled.lows.shape[1]):
                filled.courses[run, pending[lane], j] = seen[j, lane]
            pending[lane] += 1


# -- a step ---------------------------------------------------------------------------------------
@machine_code
def _propose(runs: Runs, lanes: _Lanes, work: _Work, filled: Filled) -> None:
    """The length of every lane's step."""
    t, h, last, step, counts = lanes.t, lanes.h, lanes.last, work.step, filled.counts
    for lane in range(LANES):
        h[lane] = step_to_piece(t[lane], min(h[lane], runs.max_step), runs.pieces, runs.across,
                                count_up_to(runs.pieces, t[lane], 0))
        step[0, lane], last[lane] = fitted(t[lane], h[lane], runs.t_end)
        step[1, lane] = runs.rtol
        run = lanes.run[lane]
        if run < 0:
            continue
        still = is_too_small(step[0, lane], t[lane]) and not last[lane]
        if still or counts[run, 0] + counts[run, 1] >= runs.most:
            filled.status[run], lanes.run[lane] = TOO_SMALL if still else FULL, -1


@machine_code
def _take_stages(lanes: _Lanes, work: _Work) -> None:
    """Stages 2 to 7 of all lanes, the ends of their steps, and their errors."""
    k = work.k
    for j in range(6):
        row = NEW if j == 5 else WORK
        run_code(work.arithmetic[j], lanes.x, k, k[row], work.size, work.step)
        for lane in range(LANES):
            work.at[lane] = lanes.t[lane] + STAGE_TIMES[j] * work.step[0, lane]
        run_code(work.slope, work.at, k[row], lanes.p, work.q, k[j + 1])
    run_code(work.arithmetic[ERROR_NORM], lanes.x, k, work.error, work.size, work.step)


@machine_code
def _evaluate_inside(lanes: _Lanes, work: _Work, function: int, out: Matrix) -> None:
    """What a function comes to at the part ``step[1]`` of the present steps."""
    run_code(work.arithmetic[EXTENSION], lanes.x, work.k, work.spare, work.size, work.step)
    for lane in range(LANES):
        work.at[lane] = lanes.t[lane] + work.step[1, lane] * work.step[0, lane]
    run_code(function, work.at, work.spare, lanes.p, work.q, out)


@machine_code
def _look_at_exponents(lanes: _Lanes, work: _Work) -> None:
    """Exponents at both ends of all steps, where the last stage was, and in their middle."""
    if work.peaks.shape[1]:
        run_code(work.exponents, lanes.t, lanes.x, lanes.p, work.q, work.known[0])
        run_code(work.exponents, work.at, work.k[NEW], lanes.p, work.q, work.known[2])
        work.step[1, :] = 0.5
        _evaluate_inside(lanes, work, work.exponents, work.known[1])


@machine_code
def _sees_peaks(work: _Work, lane: int) -> bool:
    """Whether exponents of a lane have a peak in its step, as far as these looks tell."""
    for m in range(3):
        for r in range(work.peaks.shape[1]):
            work.peaks[m, r] = work.known[m, r, lane]
    return see_peaks(work.peaks)


@machine_code
def _judge(runs: Runs, lanes: _Lanes, work: _Work, filled: Filled, code: Code, alone: Workspace
           ) -> None:
    """Which steps are accepted."""
    for lane in range(LANES):
        lanes.taken[lane] = False
        run, now = lanes.run[lane], work.step[0, lane]
        if run < 0:
            continue
        filled.counts[run, 2] += 6
        error = told_error(work.error[0, lane], work.error[2, lane], runs.rtol)
        work.error[0, lane] = error
        finite = np.isfinite(work.error[1, lane])
        length = now
        if not (finite and error <= 1.0):
            length = shortened_step(now, error if finite else np.nan, ROOT)
        elif _sees_peaks(work, lane):
            _put_alone(lanes, work, alone, lane)
            length = step_to_pulse(code, alone, work.peaks, work.inside, work.x, lanes.t[lane],
                                   now, runs.rtol, True, True)
        lanes.taken[lane] = not length < now
        if lanes.taken[lane]:
            continue
        filled.counts[run, 1] += 1
        lanes.rejected[lane] = True
        lanes.h[lane] = length
        if is_too_small(lanes.h[lane], lanes.t[lane]):
            filled.status[run], lanes.run[lane] = TOO_SMALL if finite else NOT_FINITE, -1


@machine_code
def _move_on(runs: Runs, lanes: _Lanes, work: _Work, filled: Filled, alone: Workspace) -> None:
    """Go to the ends of accepted steps."""
    k = work.k
    for lane in range(LANES):
        if not lanes.taken[lane]:
            continue
        run = lanes.run[lane]
        now = work.step[0, lane]
        error = work.error[0, lane]
        proposed = lanes.h[lane]
        lanes.h[lane] = next_step(now, proposed, error, lanes.old_error[lane],
                                  lanes.rejected[lane], ROOT)
        reviewed = (lanes.nowhere[lane] > 0 or filled.counts[run, 0] % SELDOM == 0
                    or lanes.h[lane] > FAR_LONGER * proposed)
        if reviewed or lanes.pressed[lane]:
            rate = rate_of_error(work.error[3, lane], work.error[4, lane])
            lanes.h[lane], lanes.pressed[lane] = damped(
                proposed, lanes.h[lane], rate, DAMPS, lanes.pressed[lane])
        if reviewed:
            _put_alone(lanes, work, alone, lane)
            lanes.nowhere[lane] += 1
            if not goes_nowhere(alone, work.x, now, runs.rtol):
                lanes.nowhere[lane] = 0
        lanes.old_error[lane] = max(error, LEAST_ERROR)
        lanes.rejected[lane] = False
        filled.counts[run, 0] += 1
        lanes.t[lane] = runs.t_end if lanes.last[lane] else lanes.t[lane] + now
        for i in range(lanes.x.shape[0]):
            lanes.x[i, lane] = k[NEW, i, lane]
            k[0, i, lane] = k[6, i, lane]
        if lanes.last[lane]:
            for i in range(lanes.x.shape[0]):
                filled.finals[run, i] = lanes.x[i, lane]
            filled.status[run], lanes.run[lane] = REACHED, -1
        elif lanes.nowhere[lane] == PERSISTS or (
                lanes.pressed[lane] and filled.counts[run, 0] % runs.between == 0
                and runs.t_end - lanes.t[lane] > runs.left * lanes.h[lane]):
            filled.status[run], lanes.run[lane] = FULL, -1


# -- outputs in a step ----------------------------------------------------------------------------
@machine_code
def _widen(lanes: _Lanes, work: _Work, filled: Filled) -> None:
    """Take outputs into the ranges of the runs that have taken a step."""
    lows, highs, seen = filled.lows, filled.highs, work.seen
    for lane in range(LANES):
        if lanes.taken[lane]:
            run = lanes.run[lane]
            for j in range(lows.shape[1]):
                lows[run, j] = min(lows[run, j], seen[j, lane])
                highs[run, j] = max(highs[run, j], seen[j, lane])


@machine_code
def _find_extremes(lanes: _Lanes, work: _Work, filled: Filled) -> None:
    """Ranges of outputs over the steps taken: at four looks, and where parabolas leave them."""
    looks, step = work.looks, work.step
    for m in range(4):
        step[1, :] = 0.25 * (m + 1)
        _evaluate_inside(lanes, work, work.outputs, work.seen)
        looks[m + 1, :] = work.seen
        _widen(lanes, work, filled)
    for m in range(3):
        for j in range(filled.lows.shape[1]):
            asked = False
            for lane in range(LANES):
                step[1, lane] = 0.0
                if lanes.taken[lane]:
                    run = lanes.run[lane]
                    part = _vertex(looks[m, j, lane], looks[m + 1, j, lane],
                                   looks[m + 2, j, lane], filled.lows[run, j],
                                   filled.highs[run, j])
                    if part > 0.0:
                        step[1, lane] = 0.25 * (m + part)
                        asked = True
            if asked:
                _evaluate_inside(lanes, work, work.outputs, work.seen)
                _widen(lanes, work, filled)
    for lane in range(LANES):
        if lanes.taken[lane]:
            for j in range(looks.shape[1]):
                looks[0, j, lane] = looks[4, j, lane]


@machine_code
def _keep_courses(runs: Runs, lanes: _Lanes, work: _Work, filled: Filled, times: Vector) -> None:
    """Outputs at the wanted times in the steps taken."""
    step, pending = work.step, lanes.pending
    while times.size:
        asked = False
        for lane in range(LANES):
            step[1, lane] = 0.0
            if lanes.taken[lane] and pending[lane] < times.size:
                t = lanes.t[lane]
                end = runs.t_end if lanes.last[lane] else t + step[0, lane]
                if times[pending[lane]] <= end:
                    step[1, lane] = min((times[pending[lane]] - t) / step[0, lane], 1.0)
                    asked = True
        if not asked:
            break
        _evaluate_inside(lanes, work, work.outputs, work.seen)
        for lane in range(LANES):
            if step[1, lane] > 0.0:
                for j in range(filled.lows.shape[1]):
                    filled.courses[lanes.run[lane], pending[lane], j] = work.seen[j, lane]
                pending[lane] += 1


@machine_code
def _vertex(a: float, b: float, c: float, low: float, high: float) -> float:
    """Where a parabola through three looks leaves the range: 0 to 2 from the first; or -1."""
    bend = a - 2.0 * b + c
    if bend == 0.0:
        return -1.0
    away = 0.5 * (a - c) / bend
    if not -1.0 <= away <= 1.0:
        return -1.0
    value = b - 0.25 * (a - c) * away
    grain = ROUNDING * (abs(a) + abs(b) + abs(c))
    return 1.0 + away if value > high + grain or value < low - grain else -1.0


def march(arithmetic: Indices, functions: tuple[int, int, int], code: Code, exponents: int,
          q: Vector, runs: Runs, times: Vector, extremes: bool, filled: Filled) -> None:
    """Make all runs that no other thread takes.

    A run that needs more than ``most`` steps is given up: it may never end, and nothing but
    its own end would stop it. So is one that is stiff: every ``between`` steps it is asked whether
    stability limits them, with more than ``left`` of this length to go; and one whose steps go
    nowhere, as single runs ask.

    ``arithmetic`` are addresses of :func:`~blocks.native.stages.arithmetic`, ``functions`` of
    slopes, outputs and exponents, all for several lanes; ``code`` is that of single runs, and there
    are so many ``exponents``; ``q`` is what is constant during all runs; ``runs`` and ``filled``
    are shared by threads; ``times``, ascending, are those at which outputs are wanted,
    ``extremes``: whether their range is.
    """
    work = _work(arithmetic, functions, q, runs, filled.lows.shape[1], exponents)
    code = code._replace(p=address_of(work.p), q=address_of(q))
    _march.knowing(known_of(code))(
        runs, _no_lanes(runs), work, filled, times, extremes, code, workspace(work.x.size))


@machine_code
def _march(runs: Runs, lanes: _Lanes, work: _Work, filled: Filled, times: Vector,
           extremes: bool, code: Code, alone: Workspace) -> None:
    run_code(work.arithmetic[FLUSH], work.processor, work.at, work.at, work.at, work.at)
    while _fill(runs, lanes, work):
        if is_any(lanes.fresh):
            _start_runs(runs, lanes, work, filled, times, code, alone)
        _propose(runs, lanes, work, filled)
        _take_stages(lanes, work)
        _look_at_exponents(lanes, work)
        _judge(runs, lanes, work, filled, code, alone)
        if extremes:
            _find_extremes(lanes, work, filled)
        _keep_courses(runs, lanes, work, filled, times)
        _move_on(runs, lanes, work, filled, alone)
    run_code(work.arithmetic[BACK], work.processor, work.at, work.at, work.at, work.at)
