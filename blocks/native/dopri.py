"""The Dormand-Prince pair of order 5(4), compiled: steps, crossings in them, dense output.

Compiled by numba when first needed and kept on disk from then on. The equations
come as the address of machine code ``f(t, x, p, q, out)`` (pointers to doubles), so
this module is compiled once for all models.

J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math.
6(1), 1980; step control and continuous extension as in E. Hairer, S. P. Norsett and G. Wanner,
"Solving Ordinary Differential Equations I", 2nd ed., sec. II.4-6, but with the largest error of
all unknowns instead of its mean: the accuracy of one must not depend on how many others are at
rest. Crossings are looked for where :mod:`blocks.simulation.zero_crossings` says, as for other
methods; the bracket is shrunk as in I. F. D. Oliveira and R. H. C. Takahashi, "An Enhancement of
the Bisection Method Average Performance Preserving Minmax Optimality", ACM Trans. Math. Softw.
47(1), 2020.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from ..solvers.looks import MOST_LOOKS
from ..solvers.looks import next_look as _next_look
from .disk_cache import compiled
from .stages import ATOL, NEW, STAGE_TIMES, WORK

__all__ = ["CROSSED", "FULL", "LARGEST", "LOCATED", "LOOK_ROWS", "NOT_FINITE", "REACHED",
           "TOO_SMALL", "advance", "between", "call"]  # fmt: skip

REACHED, FULL, CROSSED, TOO_SMALL, NOT_FINITE, LOCATED = range(6)
TIMES, STEP, LAST_ERROR, LOOKED = 0, 1, 2, 3  # entries of ``state``

SAFETY, SLOWEST, FASTEST, BETA = 0.9, 0.2, 10.0, 0.04  # of the step control
LOOKS = (0.25, 0.5, 0.75, 1.0)  # parts of a step at which relations are looked at
#: Rows of ``looks`` after those of a step: the largest so far, and two of work space.
LARGEST, SPARE, LOOK_ROWS = MOST_LOOKS, MOST_LOOKS + 1, MOST_LOOKS + 3
GRAIN = 2.220446049250313e-16  # of the time: instants that are told apart
CLOSE = 1e-6  # of its size before: a margin that counts as crossed

next_look = compiled(_next_look)


@intrinsic
def _call(context, address, t, x, p, q, out):  # type: ignore[no-untyped-def]
    """Call machine code by its address."""
    from llvmlite import ir

    def generate(context, builder, signature, given):  # type: ignore[no-untyped-def]
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 5)
        function = builder.inttoptr(given[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(g, pointer) for g in given[1:]])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


@compiled
def call(function, t, x, p, q, out):
    """Machine code at the address ``function``, on arrays."""
    _call(function, t.ctypes.data, x.ctypes.data, p.ctypes.data, q.ctypes.data, out.ctypes.data)


@compiled
def _stages(code, slope, p, q, at, t, h, x, k, size, step):
    """Stages 2 to 7 of a step from k1 = f(t, x); the end of the step goes into its row."""
    here, rows, work = x.ctypes.data, k.ctypes.data, k[WORK].ctypes.data
    moment, n, pair = at.ctypes.data, size.ctypes.data, step.ctypes.data
    step[0] = h
    for j in range(6):
        out = k[NEW].ctypes.data if j == 5 else work
        _call(code[j], here, rows, out, n, pair)
        at[0] = t + STAGE_TIMES[j] * h
        _call(slope, moment, out, p, q, k[j + 1].ctypes.data)


@compiled
def _error(code, h, rtol, x, k, size, step, pair):
    """The largest error of all unknowns in units of their tolerance; nan if one is nan."""
    step[0], step[1] = h, rtol
    _call(code[6], x.ctypes.data, k.ctypes.data, pair.ctypes.data, size.ctypes.data,
          step.ctypes.data)
    return pair[0] if np.isfinite(pair[1]) else np.nan


@compiled
def _inside(code, theta, h, x, k, size, step, out):
    """The continuous extension at the part ``theta`` of a step."""
    step[0], step[1] = h, theta
    _call(code[7], x.ctypes.data, k.ctypes.data, out.ctypes.data, size.ctypes.data,
          step.ctypes.data)


@compiled
def _first_step(slope, p, q, at, t, x, k, rtol, limit):
    """Hairer's starting step."""
    k1, k2, work, atol = k[0], k[1], k[WORK], k[ATOL]
    d0 = d1 = 0.0
    for i in range(x.size):
        size = atol[i] + rtol * abs(x[i])
        d0 = max(d0, abs(x[i]) / size)
        d1 = max(d1, abs(k1[i]) / size)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, limit)
    for i in range(x.size):
        work[i] = x[i] + h * k1[i]
    at[0] = t + h
    _call(slope, at.ctypes.data, work.ctypes.data, p, q, k2.ctypes.data)
    d2 = 0.0
    for i in range(x.size):
        d2 = max(d2, abs(k2[i] - k1[i]) / (atol[i] + rtol * abs(x[i])))
    d2 /= h
    most = max(d1, d2)
    later = max(1e-6, h * 1e-3) if most <= 1e-15 else (0.01 / most) ** 0.2
    return min(100 * h, later, limit)


@compiled
def _margins(crossings, p, q, at, t, x, held, known, slack, out):
    """Look at the relations: True if one that is not known beforehand is violated."""
    at[0] = t
    _call(crossings, at.ctypes.data, x.ctypes.data, p, q, out.ctypes.data)
    violated = False
    for r in range(out.size):
        if held[r] <= 0.5:
            out[r] = -out[r]
        out[r] += slack[r]
        if known[r]:
            out[r] = 1.0
        elif not out[r] >= 0.0:
            violated = True
    return violated


@compiled
def _least(margins, wrong):
    """The smallest margin of some relations."""
    least = np.inf
    for r in range(margins.size):
        if wrong[r] and margins[r] < least:
            least = margins[r]
    return least


@compiled
def _margins_inside(code, crossings, p, q, at, t, start, h, x, k, size, step, held, known, slack,
                    out):
    """Look at the relations at a time within a step; the values there are left in ``work``."""
    _inside(code, (t - start) / h, h, x, k, size, step, k[WORK])
    return _margins(crossings, p, q, at, t, k[WORK], held, known, slack, out)


@compiled
def _locate(code, crossings, p, q, at, low, high, start, h, x, k, size, step, held, known, slack,
            seen, wrong):
    """The far side of the first crossing between two times of a step.

    Parameters
    ----------
    low, high : a margin of the relations ``wrong`` is negative at the end alone
    seen : margins at ``high``; on return those at the crossing
    wrong : on return the relations that have crossed

    Returns
    -------
    time; the values there are in ``work``
    """
    margins, grain = np.empty(seen.size), GRAIN * max(abs(low), abs(high))
    near, far, below = low, high, _least(seen, wrong)
    _margins_inside(code, crossings, p, q, at, low, start, h, x, k, size, step, held, known,
                    slack, margins)
    above = _least(margins, wrong)
    while not above > 0.0 and near < 0.5 * (near + far) < far:  # begins where another mode ended
        guess = 0.5 * (near + far)
        _margins_inside(code, crossings, p, q, at, guess, start, h, x, k, size, step, held, known,
                        slack, margins)
        value = _least(margins, wrong)
        if value < 0.0:
            far, below = guess, value
        else:
            near, above = guess, value
    whole = reserve = far - near
    # until there is no time between them, or none that matters
    while near < 0.5 * (near + far) < far and far - near > 0.25 * grain:
        width, middle = far - near, 0.5 * (near + far)
        guess = near + width * above / (above - below)
        away = middle - guess
        shift = 0.2 * width * width / whole
        guess = guess + np.copysign(shift, away) if shift < abs(away) else middle
        reach = reserve - 0.5 * width
        if abs(guess - middle) > reach:
            guess = middle - np.copysign(reach, away)
        if not near < guess < far or reach <= 0.0:
            guess = middle
        reserve *= 0.5
        _margins_inside(code, crossings, p, q, at, guess, start, h, x, k, size, step, held, known,
                        slack, margins)
        value = _least(margins, wrong)
        if value < 0.0:
            far, below = guess, value
        else:
            near, above = guess, value
    if far == high:
        margins[:] = seen
        _inside(code, (far - start) / h, h, x, k, size, step, k[WORK])
    else:
        _margins_inside(code, crossings, p, q, at, far, start, h, x, k, size, step, held, known,
                        slack, margins)
    closest, least, several = 0, np.inf, False
    for r in range(seen.size):
        if wrong[r]:
            left = margins[r] / (abs(seen[r]) + 1e-300)
            wrong[r] = left <= CLOSE
            several |= wrong[r]
            if left < least:
                closest, least = r, left
    if not several:
        wrong[closest] = True
    seen[:] = margins
    return far


@compiled
def advance(code, slope, crossings, settle, p, q, x, k, state, counts, t_stop, rtol, max_step,
            pieces, across, held, known, hints, slack, looks, wrong, ends, sizes, rows, every):
    """Accepted steps until ``t_stop``, a crossing, trouble, or until the rows are full.

    Parameters
    ----------
    code : addresses of :func:`~blocks.native.stages.arithmetic`
    slope, crossings, p, q : addresses
    settle : address of what brings the end of a step back onto its constraints, or 0
    pieces, across : borders of pieces of time, and how many of them a step may reach over
    held, known, hints, slack : the relations that hold, that are not searched for, those whose
        margin only says that somebody else must look (such a step is not shortened), and what
        margins may be below zero by
    x : (n,) the present point; moved on
    k : (10, n) rows of stages; the first holds f(t, x) on entry and on return
    state : time, next step (0: to be found), last error, 1 if ``looks`` holds a look at t
    counts : steps, rejected, evaluations; counted up
    looks : (LOOK_ROWS, relations) work space; the first row is the last look, LARGEST
        holds the largest margins that were seen
    wrong : filled with the relations that have crossed
    ends, sizes : filled with the end and the size of every step
    rows : filled with the values at the end of every step whose number, counted from 1, is
        a multiple of ``every``

    Returns
    -------
    status, number of steps
    """
    work, new = k[WORK], k[NEW]
    size = np.array([x.size])
    step, pair = np.empty(2), np.empty(2)
    at = np.empty(1)
    when = np.empty(MOST_LOOKS)
    t, h = state[TIMES], state[STEP]
    if h <= 0.0:
        h = _first_step(slope, p, q, at, t, x, k, rtol, min(max_step, t_stop - t))
        counts[2] += 1
    old_error = state[LAST_ERROR]
    processor = np.empty(2)
    scrap = np.empty(1)
    _call(code[8], processor.ctypes.data, scrap.ctypes.data, scrap.ctypes.data, p, q)
    rejected = False
    taken = 0
    status = FULL
    while taken < ends.size:
        if t >= t_stop:
            status = REACHED
            break
        proposed = min(h, max_step)
        if pieces.size:
            ahead = np.searchsorted(pieces, t, side="right") + across - 1
            if ahead < pieces.size:
                proposed = min(proposed, pieces[ahead] - t)
        last = t + 1.001 * proposed >= t_stop
        now = t_stop - t if last else proposed
        if not last and t + 2 * proposed > t_stop:
            now = 0.5 * (t_stop - t)
        if not now > 4e-16 * max(abs(t), abs(t_stop)) and not last:  # or not a number
            status = TOO_SMALL
            break
        _stages(code, slope, p, q, at, t, now, x, k, size, step)
        counts[2] += 6
        error = _error(code, now, rtol, x, k, size, step, pair)
        if not error <= 1.0:
            counts[1] += 1
            rejected = True
            if np.isnan(error):
                h = 0.2 * now
                if h <= 1e-14 * max(abs(t), abs(t_stop)) + 1e-300:
                    status = NOT_FINITE
                    break
            else:
                h = now / min(1 / SLOWEST, error**0.2 / SAFETY)
                if h <= 4e-16 * max(abs(t), abs(t_stop)):
                    status = TOO_SMALL
                    break
            continue
        factor = error ** (0.2 - 0.75 * BETA) / old_error**BETA / SAFETY
        factor = max(1 / FASTEST, min(1 / SLOWEST, factor))
        following = now / factor
        if rejected:
            following = min(following, now)
        if now < 0.999 * proposed:  # shortened to end here: that says nothing of the next
            following = max(following, proposed)
        old_error = max(error, 1e-4)
        rejected = False
        end = t_stop if last else t + now
        crossed, count = False, 1
        if held.size:
            when[0] = t
            if state[LOOKED] != 1.0:
                _margins(crossings, p, q, at, t, x, held, known, slack, looks[0])
                for r in range(held.size):
                    if not looks[0, r] > 0.0:  # what begins at zero says nothing yet
                        looks[0, r] = np.nan
            for j in range(4):
                when[count] = end if j == 3 else t + LOOKS[j] * (end - t)
                if j < 3:
                    _inside(code, LOOKS[j], now, x, k, size, step, work)
                else:
                    work[:] = new
                crossed = _margins(crossings, p, q, at, when[count], work, held, known, slack,
                                   looks[count])
                count += 1
                if crossed:
                    break
            while count < MOST_LOOKS:  # between the looks comes first
                place = next_look(when, looks, count, looks[SPARE], looks[SPARE + 1])
                if not place < np.inf:
                    break
                j = count
                while when[j - 1] > place:
                    when[j] = when[j - 1]
                    looks[j, :] = looks[j - 1, :]
                    j -= 1
                when[j] = place
                count += 1
                if _margins_inside(code, crossings, p, q, at, place, t, now, x, k, size, step, held,
                                   known, slack, looks[j]):
                    crossed, count = True, j + 1
            for j in range(1, count - 1 if crossed else count):
                for r in range(held.size):
                    if looks[j, r] > looks[LARGEST, r]:
                        looks[LARGEST, r] = looks[j, r]
        counts[0] += 1
        if crossed:
            status = CROSSED
            state[LOOKED] = 2.0
            sure, seen = False, looks[count - 1]
            for r in range(held.size):
                wrong[r] = seen[r] < 0.0
                sure |= wrong[r]
            for r in range(held.size):
                if wrong[r] and hints[r]:
                    sure = False
            if sure:
                status = LOCATED
                high = _locate(code, crossings, p, q, at, when[count - 2], when[count - 1], t, now,
                               x, k, size, step, held, known, slack, seen, wrong)
                if high < end:
                    new[:] = work
                    end = high
        ends[taken], sizes[taken] = end, now
        taken += 1
        x[:] = new
        k[0, :] = k[6]
        if settle != 0 and not crossed:
            at[0] = end
            _call(settle, at.ctypes.data, new.ctypes.data, p, q, x.ctypes.data)
            if not np.array_equal(x, new):
                _call(slope, at.ctypes.data, x.ctypes.data, p, q, k[0].ctypes.data)
                counts[2] += 1
        if taken % every == 0:
            rows[taken // every - 1, :] = x
        t, h = end, following
        if crossed:
            break
        if held.size:
            looks[0, :] = looks[count - 1, :]
            state[LOOKED] = 1.0
    _call(code[9], processor.ctypes.data, scrap.ctypes.data, scrap.ctypes.data, p, q)
    if status == FULL and t >= t_stop:
        status = REACHED
    state[TIMES], state[STEP], state[LAST_ERROR] = t, h, old_error
    return status, taken


@compiled
def between(code, slope, p, q, starts, sizes, kept, values, which, theta, out):
    """Values inside steps and at their ends, by taking those steps again.

    Parameters
    ----------
    starts, sizes : (m,) all steps
    kept, values : (j,), (j, n) steps whose start is known, the first among them, and the values
    which, theta : (k,) step and place in it (0 to 1) for every time, steps in order
    out : (k, n) filled
    """
    n = values.shape[1]
    k = np.empty((10, n))
    size = np.array([n])
    step, at = np.empty(2), np.empty(1)
    x = np.empty(n)
    present = -1  # the step whose stages are in k
    for j in range(which.size):
        i = which[j]
        if i != present:
            nearest = np.searchsorted(kept, i, side="right") - 1
            if present < 0 or kept[nearest] > present:
                present = kept[nearest]
                x[:] = values[nearest]
            else:
                x[:] = k[NEW]
                present += 1
            while True:
                at[0] = starts[present]
                _call(slope, at.ctypes.data, x.ctypes.data, p, q, k[0].ctypes.data)
                _stages(code, slope, p, q, at, starts[present], sizes[present], x, k, size, step)
                if present == i:
                    break
                x[:] = k[NEW]
                present += 1
        if theta[j] == 1.0:
            out[j, :] = k[NEW]
        else:
            _inside(code, theta[j], sizes[i], x, k, size, step, out[j])
