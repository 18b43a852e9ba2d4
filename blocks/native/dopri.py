"""The Dormand-Prince pair of order 5(4), compiled: steps, crossings in them, dense output.

Compiled by numba when first needed and kept on disk from then on. The equations
come as addresses of machine code, so this module is compiled once for all models.

J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math.
6(1), 1980; continuous extension as in E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary
Differential Equations I", 2nd ed., sec. II.6.
"""

from __future__ import annotations

import numpy as np

from ..numerics.tolerances import LEAST_ERROR, SMALLEST_TRIAL, TINY
from .disk_cache import compiled
from .stages import ATOL, BACK, FLUSH, NEW, ROWS, WORK
from .step_control import (
    first_step,
    is_too_small,
    next_step,
    shortened_step,
    step_to_piece,
    trial_step,
)
from .steps import (
    addresses,
    call,
    error_of_step,
    settle_at,
    slope_at,
    take_stages,
    values_inside,
    workspace,
)
from .zero_crossings import find_crossing, locate, look_at_start, name_crossed

__all__ = ["CROSSED", "FULL", "LAST_ERROR", "LOCATED", "NOT_FINITE", "REACHED", "STEP",
           "TOO_SMALL", "advance", "between", "call"]  # fmt: skip

REACHED, FULL, CROSSED, TOO_SMALL, NOT_FINITE, LOCATED = range(6)
TIME, STEP, LAST_ERROR, LOOKED = 0, 1, 2, 3  # entries of ``state``


@compiled
def advance(arithmetic, slope, crossings, settle, p, q, x, k, state, counts, t_stop, rtol, max_step,
            pieces, across, watched, looks, times, wrong, ends, sizes, rows, every):
    """Accepted steps until ``t_stop``, a crossing, trouble, or until the rows are full.

    Parameters
    ----------
    arithmetic : addresses of :func:`~blocks.native.stages.arithmetic`
    slope, crossings, p, q : addresses
    settle : address of what brings the end of a step back onto its constraints, or 0
    x : (n,) the present point; moved on
    k : (10, n) rows of stages; the first holds f(t, x) on entry and on return
    state : time, next step (0: to be found), last error, 1 if ``looks`` holds a look at t
    counts : steps, rejected, evaluations; counted up
    pieces, across : borders of pieces of time, and how many of them a step may reach over
    watched : (4, relations) as :mod:`blocks.native.zero_crossings` says; a step in which only
        hints cross is not shortened
    looks : (LOOK_ROWS, relations) work space; the first row is the last look, LARGEST
        holds the largest margins that were seen
    times : work space for the times of the looks
    wrong : filled with the relations that have crossed
    ends, sizes : filled with the end and the size of every step
    rows : filled with the values at the end of every step whose number, counted from 1, is
        a multiple of ``every``

    Returns
    -------
    status, number of steps
    """
    code, work = addresses(arithmetic, slope, crossings, settle, p, q), workspace(x.size)
    t, h, old_error = state[TIME], state[STEP], state[LAST_ERROR]
    if h <= 0.0:
        h = _first(code, work, t, x, k, rtol, min(max_step, t_stop - t))
        counts[2] += 1
    processor, scrap = np.empty(2), np.empty(2)
    call(arithmetic[FLUSH], processor, scrap, scrap, scrap, scrap)
    rejected = False
    taken, status = 0, FULL
    while taken < ends.size and status == FULL:
        if t >= t_stop:
            status = REACHED
            break
        proposed = step_to_piece(t, min(h, max_step), pieces, across)
        now, last = _fitted(t, proposed, t_stop)
        if is_too_small(now, t, t_stop) and not last:
            status = TOO_SMALL
            break
        take_stages(code, work, t, now, x, k)
        counts[2] += 6
        error = error_of_step(code, work, now, rtol, x, k)
        if not error <= 1.0:
            counts[1] += 1
            rejected = True
            h = shortened_step(now, error)
            status = _trouble(h, error, t, t_stop)
            continue
        h = next_step(now, proposed, error, old_error, rejected)
        old_error = max(error, LEAST_ERROR)
        rejected = False
        end = t_stop if last else t + now
        if wrong.size:
            status, end = _watch(code, work, t, end, now, x, k, state, watched, looks, times, wrong)
        counts[0] += 1
        ends[taken], sizes[taken] = end, now
        taken += 1
        x[:] = k[NEW]
        k[0, :] = k[6]
        if settle != 0 and status == FULL:
            counts[2] += _settle(code, work, end, x, k)
        if taken % every == 0:
            rows[taken // every - 1, :] = x
        t = end
    call(arithmetic[BACK], processor, scrap, scrap, scrap, scrap)
    if status == FULL and t >= t_stop:
        status = REACHED
    state[TIME], state[STEP], state[LAST_ERROR] = t, h, old_error
    return status, taken


@compiled
def _first(code, work, t, x, k, rtol, limit):
    """The length of the first step."""
    k1, k2, inner, atol = k[0], k[1], k[WORK], k[ATOL]
    d0 = d1 = 0.0
    for i in range(x.size):
        size = atol[i] + rtol * abs(x[i])
        d0 = max(d0, abs(x[i]) / size)
        d1 = max(d1, abs(k1[i]) / size)
    h = trial_step(d0, d1, limit)
    for i in range(x.size):
        inner[i] = x[i] + h * k1[i]
    slope_at(code, work, t + h, inner, k2)
    d2 = 0.0
    for i in range(x.size):
        d2 = max(d2, abs(k2[i] - k1[i]) / (atol[i] + rtol * abs(x[i])))
    return first_step(h, d1, d2 / h, limit)


@compiled
def _fitted(t, proposed, t_stop):
    """The step that leaves no sliver before ``t_stop``, and whether it ends there."""
    if t + 1.001 * proposed >= t_stop:
        return t_stop - t, True
    if t + 2 * proposed > t_stop:
        return 0.5 * (t_stop - t), False
    return proposed, False


@compiled
def _trouble(h, error, t, t_stop):
    """``FULL`` where a shorter step may do after a rejected one, else what the trouble is."""
    if np.isnan(error):
        hopeless = h <= SMALLEST_TRIAL * max(abs(t), abs(t_stop)) + TINY
        return NOT_FINITE if hopeless else FULL
    return TOO_SMALL if is_too_small(h, t, t_stop) else FULL


@compiled
def _settle(code, work, t, x, k):
    """Bring the end of a step back onto its constraints; the number of slopes evaluated."""
    settle_at(code, work, t, k[NEW], x)
    if np.array_equal(x, k[NEW]):
        return 0
    slope_at(code, work, t, x, k[0])
    return 1


@compiled
def _watch(code, work, t, end, h, x, k, state, watched, looks, times, wrong):
    """Look for crossings in a step: the status, ``FULL`` where there is none, and its end."""
    if state[LOOKED] != 1.0:
        look_at_start(code, work, t, x, watched, looks[0])
    crossed, count = find_crossing(code, work, t, end, h, x, k, watched, looks, times)
    if not crossed:
        looks[0, :] = looks[count - 1, :]
        state[LOOKED] = 1.0
        return FULL, end
    state[LOOKED] = 2.0
    seen = looks[count - 1]
    if not name_crossed(seen, watched, wrong):
        return CROSSED, end
    at = locate(code, work, times[count - 2], times[count - 1], t, h, x, k, watched, seen, wrong)
    if at < end:
        k[NEW, :] = k[WORK]
        end = at
    return LOCATED, end


@compiled
def between(arithmetic, slope, p, q, starts, sizes, known, values, which, theta, out):
    """Values inside steps and at their ends, by taking those steps again.

    Parameters
    ----------
    starts, sizes : (m,) all steps
    known, values : (j,), (j, n) steps whose start is known, the first among them, and the values
    which, theta : (k,) step and place in it (0 to 1) for every time, steps in order
    out : (k, n) filled
    """
    code = addresses(arithmetic, slope, 0, 0, p, q)
    n = values.shape[1]
    k, x, work = np.empty((len(ROWS), n)), np.empty(n), workspace(n)
    present = -1  # the step whose stages are in k
    for j in range(which.size):
        i = which[j]
        if i != present:
            nearest = np.searchsorted(known, i, side="right") - 1
            if present < 0 or known[nearest] > present:
                present = known[nearest]
                x[:] = values[nearest]
            else:
                x[:] = k[NEW]
                present += 1
            while True:
                slope_at(code, work, starts[present], x, k[0])
                take_stages(code, work, starts[present], sizes[present], x, k)
                if present == i:
                    break
                x[:] = k[NEW]
                present += 1
        if theta[j] == 1.0:
            out[j, :] = k[NEW]
        else:
            values_inside(code, work, theta[j], sizes[i], x, k, out[j])
