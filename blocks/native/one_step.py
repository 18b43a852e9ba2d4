"""Runs of one-step methods, compiled: their steps, crossings in them, dense output.

These methods take the steps: the explicit Dormand-Prince pair of order 5(4), that of order 3(2),
the classical Runge-Kutta method and forward Euler, these two on a grid (:mod:`.stages`), the
trapezoidal rule and backward Euler, on a grid, too (:mod:`.newton_steps`), the method of order 8 by
Dormand and Prince (:mod:`.high_order`), the Rosenbrock method Rodas4P of order 4(3)
(:mod:`.rosenbrock`). All else is the same for them. The equations come as addresses of machine
code, so this module is compiled once for all models of a kind of steps and of decisions
(:meth:`~blocks.native.method.OneStep.machine_code`), and kept on disk from then on.

J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comp. Appl. Math.
6(1), 1980; continuous extension as in E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary
Differential Equations I", 2nd ed., sec. II.6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import LEAST_ERROR, SAME_INSTANT, STEP_REST, TIME_GRAIN, TINY
from ..solvers.looks import ABOUT, BEYOND, MOST_PARTS, SEEN
from .delayed import bend_before, forget_past, keep_step
from .events import (
    BENDS,
    COUNT,
    CROSSING,
    KNOWN,
    LAST_ERROR,
    LOOKED,
    NOWHERE,
    PRESSED,
    SINCE,
    STEP,
    TIME,
    Passed,
    pass_event,
)
from .high_order import shows_what_is_between
from .loop_branch import keeps_branch, put_on_branch
from .network_modes import enters_new_modes
from .next_branch import Switches
from .pulses import END, START, error_of_exponents, step_to_pulse
from .resets import Resets
from .rosenbrock import error_at_end, step_to_transient
from .samples import Samples
from .set_valued_elements import SetValuedElements
from .stages import ATOL, NEW, WORK
from .step_control import (
    count_up_to,
    damped,
    first_step,
    is_too_small,
    least_step,
    shortened_step,
    step_to_piece,
    trial_step,
)
from .step_kinds import arrive, following_step, root_of, take_step, values_inside
from .steps import (
    EXPLICIT,
    HIGH_ORDER,
    IMPLICIT,
    Code,
    Workspace,
    error_of_step,
    flush_denormals,
    goes_nowhere,
    has_slope,
    is_explicit,
    is_fixed,
    keep_denormals,
    rate_of_error,
    slope_at,
    tells_its_limit,
)
from .zero_crossings import (
    FAR,
    SPARE,
    Relations,
    comes_back,
    find_crossing,
    forget_slack,
    is_reserve_alone,
    keep_largest,
    locate,
    look_at_start,
    look_between,
    margins_at,
    name_crossed,
    parts_by_angles,
    step_within_pieces,
)

__all__ = ["CROSSED", "DAMPS", "EARLY", "FAR_LONGER", "FULL", "LOCATED", "NOT_FINITE", "NO_REVIEW",
           "REACHED", "SELDOM", "TOO_SMALL", "UNSURE", "Limits", "Record", "Steps", "advance",
           "between", "fitted", "length_of_first", "watched"]  # fmt: skip

DAMPS = 3.0  # step times rate up to which the explicit pair damps what is fast: by half a step
DAMPS_OF_HIGH_ORDER = 5.0  # likewise; beyond, its extension shows what is fast larger than it is
BEYOND_SLOPE = 1.05  # of the way to where a straight line leads to a crossing: a first step
AT_ONCE = 1e-3  # part of a step in which nothing has left zero for good
MOST_HALVINGS = 6  # of a step of order 8 for what is between its ends
SELDOM = 8  # steps between two looks at that
FAR_LONGER = 2.0  # times a step: the next one, before which there is such a look in any case
PERSISTS = 5  # steps in a row that go nowhere: others are to judge that, once
REACHED, FULL, CROSSED, TOO_SMALL, NOT_FINITE, LOCATED, EARLY, UNSURE, AGAIN = range(9)
NO_REVIEW = -1, 0.0  # of ``review`` and ``far``


class Limits(NamedTuple):
    """What steps obey."""

    t_stop: float
    rtol: float
    max_step: float
    pieces: Vector  # borders of pieces of time
    across: int  # how many of them a step may reach over
    t_end: float  # of the run
    review: int  # steps of the record after which others are asked who goes on; -1: never
    far: float  # only where more steps than so many, as long as the last one, are left


class Record(NamedTuple):
    """What is filled with the steps."""

    ends: Vector  # (steps,)
    sizes: Vector  # (steps,) lengths of whole steps, also where a crossing ends one
    rows: Matrix  # (steps, n) values at the ends


@machine_code
def advance(code: Code, work: Workspace, relations: Relations, limits: Limits, record: Record,
            switches: Switches, samples: Samples, resets: Resets,
            set_valued: SetValuedElements, network: NetworkModes, passed: Passed, x: Vector,
            state: Vector, counts: Indices, begun: Indices) -> tuple[int, int, int]:
    """Accepted steps until ``t_stop``, trouble, or until the record is full.

    Events are carried out on the way; it ends at the first one that Python has to judge.

    Parameters
    ----------
    code : addresses
    work : the first row of its stages holds f(t, x) on return, and on entry if that is known
    relations, limits, record : what is watched, what is obeyed, what is filled
    switches, samples, resets, set_valued, network : what happens at events
    passed : filled with those that were carried out
    x : (n,) the present point; moved on
    state : time, next step (0: to be found), last error, 1 if a look at ``t`` is known, steps in a
        row that went nowhere, 1 if f(t, x) is known
    counts : steps, rejected, evaluations, derivatives, factorizations; counted up
    begun : (2,) how many steps and events the record holds already

    Returns
    -------
    status, number of steps, number of events that were carried out; those already held among them
    """
    taken, events, instant, behind = begun[0], begun[1], 0, 0
    if state[KNOWN] != 1.0:
        counts[2] += 1
        if not has_slope(code, work, state[TIME], x):
            return NOT_FINITE, taken, events
        state[KNOWN] = 1.0
    if code.past != 0 and not forget_past(code, state[TIME]):
        return UNSURE, taken, events
    while True:
        if 0 < passed.times.size == events and state[TIME] < limits.t_stop:
            return FULL, taken, events
        stop = switches.times[instant] if instant < switches.times.size else limits.t_stop
        bends = False
        if code.past != 0 and passed.times.size:
            bend = bend_before(code, state[TIME], stop)
            bends, stop = bend < stop, bend
        status, taken, behind = advance_to(code, work, relations, limits, record, x, state, counts,
                                           stop, taken, behind)
        bends = bends and status == REACHED
        known = status == REACHED and not bends and instant < switches.times.size
        event = BENDS if bends else instant if known else CROSSING
        if not (known or bends) and status != LOCATED or events == passed.times.size or (
                not pass_event(code, work, relations, switches, samples, resets, set_valued,
                               network, passed, x, state, counts, events, taken, event)):
            if not (is_explicit(code) or status == CROSSED or _goes_on(status)):
                slope_at(code, work, state[TIME], x, work.k[0])
                counts[2] += 1
            return status, taken, events
        events += 1
        if known:
            instant += 1
        if passed.broken[0]:
            return FULL, taken, events
        if enters_new_modes(network) and is_explicit(code) and not is_fixed(code):
            return FULL, taken, events  # which may be so fast that others had better go on


@machine_code
def advance_to(code: Code, work: Workspace, relations: Relations, limits: Limits, record: Record,
               x: Vector, state: Vector, counts: Indices, t_stop: float, taken: int, behind: int
               ) -> tuple[int, int, int]:
    """Take steps up to the next instant, where so many stand in the record already.

    So many borders of pieces are ``behind``. Where it has got there, or to a crossing, f(t, x)
    is only known of explicit methods: others ask for it after the event.

    A first step in which a relation crosses is taken again up to there, and a little farther, so
    that the crossing is in it. It may have strode over all that holds until then, as through a stop
    with all its stages beyond, where its error is nothing.
    """
    t, h, old_error = state[TIME], state[STEP], state[LAST_ERROR]
    if h <= 0.0 and t < t_stop:
        h = length_of_first(code, work, t, x, limits.rtol, min(limits.max_step, t_stop - t))
        counts[2] += 1
        if relations.held.size:
            h = _to_crossing(code, relations, work, t, x, h, state)
    flush_denormals(code, work)
    rejected = sought = False
    first, kept, status, halvings, begun, on_grid = state[SINCE] == 0.0, True, FULL, 0, t, 0
    while taken < record.ends.size and status == FULL and kept and t < t_stop:
        if taken == limits.review and limits.t_end - t > limits.far * record.sizes[taken - 1]:
            break
        behind = count_up_to(limits.pieces, t, behind)
        proposed = step_to_piece(t, min(h, limits.max_step), limits.pieces, limits.across, behind)
        now, last = fitted(t, proposed, t_stop)
        if is_fixed(code):
            proposed, on_grid = h, on_grid + 1
            now, last = _fitted_to_grid(t, h, begun + on_grid * h, t_stop)
        if is_too_small(now, t) and not last:
            status = TOO_SMALL
            break
        take_step(code, work, t, now, x, rejected, counts)
        error, length, sought, halvings, status = _judged(
            code, work, relations, limits, x, t, now, counts, first, sought, halvings)
        if length < now:
            counts[1] += 1
            rejected, h = True, length
            continue
        following = following_step(code, now, proposed, error, old_error, rejected)
        reviewed = (state[NOWHERE] > 0.0 or int(state[COUNT]) % SELDOM == 0
                    or following > FAR_LONGER * proposed)
        if tells_its_limit(code) and (reviewed or state[PRESSED] > 0.0):
            following, pressed = damped(
                proposed, following, rate_of_error(work.error[3], work.error[4]),
                DAMPS_OF_HIGH_ORDER if code.kind == HIGH_ORDER else DAMPS, state[PRESSED] > 0.0)
            state[PRESSED] = 1.0 if pressed else 0.0
        if code.kind == EXPLICIT and reviewed:  # of order 8 what is between its ends tells
            state[NOWHERE] += 1.0
            if not goes_nowhere(work, x, now, limits.rtol):
                state[NOWHERE] = 0.0
        end = t_stop if last else begun + on_grid * h if is_fixed(code) else t + now
        if relations.held.size:
            early = SEEN * now if first and not is_fixed(code) else 0.0
            status, end = watched(code, relations, work, x, t, end, now, state, early, t_stop,
                                  limits.pieces, behind)
            if status == EARLY:
                counts[1] += 1
                rejected, first, status = True, False, FULL
                h = BEYOND * (end - t)
                continue
        if code.exponents != 0:
            relations.exponents[START, :] = relations.exponents[END, :]
        h, old_error = following, max(error, LEAST_ERROR)
        rejected = first = False
        halvings = 0
        state[SINCE] += 1.0
        state[COUNT] += 1.0
        counts[0] += 1
        record.ends[taken], record.sizes[taken] = end, now
        taken += 1
        kept = state[NOWHERE] != PERSISTS
        if code.past != 0 and status == FULL:
            kept = keep_step(code, work, t, end, now, x) and kept
        arrive(code, work, end, x, _goes_on(status), status == CROSSED or not (
            last or status == LOCATED), counts)
        record.rows[taken - 1, :] = x
        t = end
    keep_denormals(code, work)
    if status == FULL and t >= t_stop:
        status = REACHED
    state[TIME], state[STEP], state[LAST_ERROR] = t, h, old_error
    return status, taken, behind


@machine_code
def _judged(code: Code, work: Workspace, relations: Relations, limits: Limits, x: Vector, t: float,
            now: float, counts: Indices, first: bool, sought: bool, halvings: int
            ) -> tuple[float, float, bool, int, int]:
    """The error of a step, its length or the one to try instead, and the status: ``FULL``, unless
    that is too short; also whether pulses were looked for, and how often it was halved."""
    rtol = limits.rtol
    error = error_of_step(code, work, now, rtol, x)
    if code.kind == IMPLICIT and error <= 1.0:
        if first:
            length = step_to_transient(work, now, rtol, x)
            if length < now and not is_too_small(length, t):
                return error, length, sought, halvings, FULL
        if code.exponents != 0:
            error = max(error, error_of_exponents(code, work, relations.exponents,
                                                  relations.inside, t + now))
        if error <= 1.0:
            of_slope, evaluations = error_at_end(code, work, work.k, t, now, x)
            counts[2] += evaluations
            error = of_slope if not of_slope <= error else error
    if not error <= 1.0:
        length = shortened_step(now, error, root_of(code))
        return error, length, sought, halvings, _status_of_rejected(code, error, length, t)
    if code.kind == HIGH_ORDER and halvings < MOST_HALVINGS:
        counts[2] += 4
        if not shows_what_is_between(code, work, t, now, rtol, x):
            return error, 0.5 * now, sought, halvings + 1, FULL
    if code.exponents != 0:
        length = step_to_pulse(code, work, relations.exponents, relations.inside, x, t, now, rtol,
                               sought, code.kind == IMPLICIT)
        sought = True
        if length < now:
            return error, length, sought, halvings, FULL
    if code.places != 0 and halvings < MOST_HALVINGS:
        length = step_within_pieces(code, relations, work, x, t, now)
        if length < now:
            return error, length, sought, halvings + 1, FULL
    if work.branch.size and not keeps_branch(code, work, t, now, x):
        ends = is_fixed(code) or 0.5 * now <= SAME_INSTANT * abs(t) + TINY
        return error, 0.5 * now, sought, halvings, TOO_SMALL if ends else FULL
    return error, now, sought, halvings, FULL


@machine_code
def _status_of_rejected(code: Code, error: float, h: float, t: float) -> int:
    """Whether a step whose error is too large, or no number, can be tried again with ``h``."""
    lost = np.isnan(error)
    if is_fixed(code):
        return NOT_FINITE if lost else TOO_SMALL
    if lost:
        return NOT_FINITE if h <= least_step(t) else FULL
    return TOO_SMALL if is_too_small(h, t) else FULL


@machine_code
def _goes_on(status: int) -> bool:
    """Whether a step is whole, and what it leads to is no event."""
    return status == FULL or status == UNSURE  # noqa: SIM109


@machine_code
def length_of_first(code: Code, work: Workspace, t: float, x: Vector, rtol: float, limit: float
                    ) -> float:
    """The length of the first step."""
    k, least = work.k, least_step(t)
    k1, k2, inner, atol = k[0], k[1], k[WORK], k[ATOL]
    d0 = d1 = 0.0
    for i in range(x.size):
        size = atol[i] + rtol * abs(x[i])
        d0 = max(d0, abs(x[i]) / size)
        d1 = max(d1, abs(k1[i]) / size)
    h = trial_step(d0, d1, least, limit)
    for i in range(x.size):
        inner[i] = x[i] + h * k1[i]
    slope_at(code, work, t + h, inner, k2)
    d2 = 0.0
    for i in range(x.size):
        d2 = max(d2, abs(k2[i] - k1[i]) / (atol[i] + rtol * abs(x[i])))
    return first_step(h, d1, d2 / h, least, limit, root_of(code))


@machine_code
def _to_crossing(code: Code, relations: Relations, work: Workspace, t: float, x: Vector, h: float,
                 state: Vector) -> float:
    """A first step of ``h``, or to a little beyond where the slope leads a margin to zero before,
    if not at once: what has just left zero may do so by rounding."""
    look_at_start(code, relations, work.at, t, x)
    state[LOOKED] = 1.0
    slope, ahead = work.k[0], work.k[WORK]
    for i in range(x.size):
        ahead[i] = x[i] + h * slope[i]
    start, there, part = relations.looks[0], relations.looks[SPARE], 1.0
    margins_at(code, relations, work.at, t + h, ahead, there)
    for r in range(start.size):
        if there[r] < 0.0 and start[r] > FAR * relations.slack[r]:
            part = min(part, start[r] / (start[r] - there[r]))
    there_soon = AT_ONCE < part < SEEN and not is_too_small(part * h, t)
    return BEYOND_SLOPE * part * h if there_soon else h


@machine_code
def fitted(t: float, proposed: float, t_stop: float) -> tuple[float, bool]:
    """The step that leaves no sliver before ``t_stop``, and whether it ends there."""
    if t + 1.001 * proposed >= t_stop:
        return t_stop - t, True
    if t + 2 * proposed > t_stop:
        proposed = 0.5 * (t_stop - t)
    if is_too_small(1e-3 * proposed, t):  # rounding must not hold up what grows too small
        return proposed, False
    return (t + proposed) - t, False  # between times that there are


@machine_code
def _fitted_to_grid(t: float, h: float, end: float, t_stop: float) -> tuple[float, bool]:
    """A step of fixed length to a point of the grid or, if that is not before it, to ``t_stop``."""
    if end + STEP_REST * h < t_stop:
        return h, False
    return h if abs(t_stop - t - h) <= STEP_REST * h else t_stop - t, True


@machine_code
def watched(code: Code, relations: Relations, work: Workspace, x: Vector, t: float, end: float,
            h: float, state: Vector, early: float, t_stop: float, pieces: Vector, behind: int
            ) -> tuple[int, float]:
    """Look for crossings in a step: the status, ``FULL`` where there is none, and its end.

    A step in which relations cross that others must judge is not shortened; it is whole, but
    ``UNSURE``, where only the reserve of solved equations has fallen too far. Of one that is taken
    again where a crossing is ``early``, less than so far from its start, it is only told about
    where that is.
    """
    status, found = _watched(code, relations, work, x, t, end, h, state, early, t_stop, pieces,
                             behind, True)
    if status == AGAIN:
        status, found = _watched(code, relations, work, x, t, end, h, state, early, t_stop,
                                 pieces, behind, False)
        relations.leeway[:] = 0.0
    if status == CROSSED and is_reserve_alone(relations):
        last = relations.known.size - 1
        relations.known[last] = True
        status, found = _watched(code, relations, work, x, t, end, h, state, early, t_stop,
                                 pieces, behind, False)
        relations.known[last] = False
        if status == FULL:
            return UNSURE, end
    return status, found


@machine_code
def _watched(code: Code, relations: Relations, work: Workspace, x: Vector, t: float, end: float,
             h: float, state: Vector, early: float, t_stop: float, pieces: Vector, behind: int,
             doubts: bool) -> tuple[int, float]:
    """Look at a step, the reserve as any margin; with ``doubts``, ``AGAIN`` where what is read
    within the step may be wrong by as much as has crossed.

    What a crossing leaves of a step is looked at as a step is, for what crosses before. One over
    many turns is looked at part by part; over very many, it is to be taken again as well.
    """
    looks, times = relations.looks, relations.times
    if state[LOOKED] != 1.0:
        look_at_start(code, relations, work.at, t, x)
    state[LOOKED] = 1.0
    parts, crossed, count, low, at = 1, False, 1, t, end
    if code.angles != 0:
        parts = parts_by_angles(code, relations, work, x, t, end, h)
        if parts > MOST_PARTS and not is_fixed(code):
            return EARLY, t + 0.5 * MOST_PARTS * (end - t) / parts
        parts = min(parts, MOST_PARTS)
    for part in range(parts):
        at = end if part + 1 == parts else t + (part + 1) * (end - t) / parts
        crossed, count = find_crossing(code, relations, work, x, low, at, t, h, part + 1 == parts,
                                       pieces, behind)
        if crossed:
            break
        keep_largest(looks, count)
        looks[0, :] = looks[count - 1, :]
        forget_slack(relations, 1, FAR)
        low = at
    if not crossed:
        return FULL, end
    forget_slack(relations, count, FAR**4)  # what hardly wiggles in a step has not left zero
    state[LOOKED] = 2.0
    if doubts and times[count - 1] < end and name_crossed(relations, looks[count - 1]) and (
            comes_back(code, relations, work, t, x, end)):
        return AGAIN, end
    while crossed:
        keep_largest(looks, count - 1)
        seen, low, at = looks[count - 1], times[count - 2], times[count - 1]
        if not name_crossed(relations, seen):
            return CROSSED, end
        if low - t < early:
            at = locate(code, relations, work, x, low, at, t, h, seen, ABOUT)
            if at - t < early and not is_too_small(at - t, max(abs(t), abs(t_stop))):
                return EARLY, at
            name_crossed(relations, seen)  # all that are to be looked at on the way there
        at = locate(code, relations, work, x, low, at, t, h, seen, 0.0)
        times[count - 1], looked = at, count
        crossed, count = look_between(code, relations, work, x, t, h, count)
        if count > looked and not crossed:
            values_inside(code, work, t, (at - t) / h, h, x, work.k[WORK])
            keep_largest(looks, count - 1)
    if code.past != 0:
        keep_step(code, work, t, at, h, x)
        values_inside(code, work, t, (at - t) / h, h, x, work.k[WORK])
    if at < end:
        work.k[NEW, :] = work.k[WORK]
        end = at
    new, zero, grain = work.k[NEW], work.k[WORK], TIME_GRAIN * max(abs(t), abs(end)) / (end - t)
    zero[:] = new
    rests = False
    for i in range(x.size):  # it is zero at an instant that is the same to the last digit
        moved = abs(new[i] - x[i])
        if new[i] != 0.0 and abs(new[i]) <= grain * moved and moved > LEAST_ERROR * work.k[ATOL, i]:
            zero[i], rests = 0.0, True
    if rests:
        margins_at(code, relations, work.at, end, zero, looks[SPARE])
        for r in range(relations.wrong.size):  # unless that would undo what has crossed
            rests &= not (relations.wrong[r] and looks[SPARE, r] > relations.slack[r])
    if rests:
        new[:] = zero
    return LOCATED, end


class Steps(NamedTuple):
    """Steps that were taken, by their numbers; some numbers stand for none."""

    starts: Vector
    sizes: Vector
    known: Indices  # those whose start is known
    values: Matrix  # at these starts
    event: Indices  # after which event each of these is
    q: Matrix  # what is constant from each event on


@machine_code
def between(code: Code, work: Workspace, steps: Steps, which: Indices, theta: Vector, q: Vector,
            x: Vector, counts: Indices, out: Matrix) -> None:
    """Values inside steps and at their ends, by taking those steps again.

    Parameters
    ----------
    which, theta : (k,) step and place in it (0 to 1) for every time, steps in order
    q : what the code reads that is constant from an event on
    x, counts : (n,), (5,) work space
    out : (k, n) filled
    """
    k, nearest, present = work.k, -1, -1  # the step whose stages are in k
    flush_denormals(code, work)  # as when they were taken first
    for j in range(which.size):
        i, begins = which[j], False
        if i != present:
            before = nearest
            while nearest + 1 < steps.known.size and steps.known[nearest + 1] <= i:
                nearest += 1
            if nearest > before:
                present, begins = steps.known[nearest], True
                x[:] = steps.values[nearest]
                q[:] = steps.q[steps.event[nearest]]
                slope_at(code, work, steps.starts[present], x, k[0])
            while begins or present < i:
                if not begins:
                    present += 1
                    arrive(code, work, steps.starts[present], x, True, True, counts)
                begins = False
                take_step(code, work, steps.starts[present], steps.sizes[present], x, False, counts)
                if code.kind == IMPLICIT:
                    error_at_end(code, work, k, steps.starts[present], steps.sizes[present], x)
        if theta[j] == 1.0:
            out[j, :] = k[NEW]
        else:
            values_inside(code, work, steps.starts[i], theta[j], steps.sizes[i], x, out[j])
        if work.branch.size:
            put_on_branch(code, work, steps.starts[i], theta[j] * steps.sizes[i], x, out[j])
    keep_denormals(code, work)
