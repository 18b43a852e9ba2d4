"""Steps of CVODE, taken by machine code that calls its C functions.

CVODE gets slopes and Jacobians as functions of C that call a model's machine code, and is asked
for one step after the other. Of each step the Nordsieck array is kept, whose rows give every value
inside it; crossings are looked for with these, by the functions that serve the explicit pair, and
events are carried out by those of one-step methods. After an event CVODE begins anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import CFunction, indices_at, run_code, vector_at
from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import SAME_INSTANT, SMALLEST_STEP, TIME_GRAIN, TINY
from ..solvers.trouble import SLIVER, STEEPER
from .cvode_library import ONE_STEP
from .events import CROSSING, STEP, TIME, Passed, pass_event
from .loop_branch import keeps_branch
from .network_modes import NetworkModes
from .one_step import EARLY, FULL, LOCATED, REACHED, Limits, watched
from .predicted_elements import PredictedElements
from .pulses import END, START, step_to_pulse
from .resets import Resets
from .samples import Samples
from .stages import NEW, NORDSIECK_ROWS
from .step_control import count_up_to, step_to_piece
from .steps import Code, Workspace, flush_denormals, keep_denormals
from .switches import Switches
from .zero_crossings import Relations

__all__ = ["COUNTERS", "FAILED", "FLAG", "STATE", "STOP", "USER", "Cvode", "Record", "advance",
           "jacobian_of", "projection_of", "slope_of", "values_between"]

FAILED = 7  # beside the statuses of one-step methods
#: Entries of ``state`` after those of one-step methods: the time at which CVODE has been told to
#: stop (nan: none), and its last answer.
STOP, FLAG, STATE = 5, 6, 7
#: Which of the counts of :class:`~blocks.native.event_method.EventMethod` each of CVODE's adds to.
COUNTERS = (2, 2, 3, 4, 1, 1)
#: Entries of what slopes and Jacobians are given: number of unknowns; addresses of machine code,
#: of what it reads, of a time, of the functions that tell where vectors and matrices stand; room
#: for unknowns and slopes in the model's order, and that order; room for derivatives that are
#: written row by row (0: those of the model are as SUNDIALS wants them).
SIZE, SLOPE, JACOBIAN, P, Q, AT, VECTOR, MATRIX, UNKNOWNS, SLOPES, ORDER, BY_ROWS = range(12)
#: What brings a point back onto its constraints, and room for the last such point before that.
SETTLE, EXPECTED = 12, 13
#: Numbers in a matrix, and the tolerances of what is integrated, in the model's order.
LENGTH, NEAR = 14, 15
#: Room for the matrix at a point itself, beside that a tolerance away.
HERE = 16
USER = 17
STUCK = -3.0  # of CVODE's answers: however short the step

one_step = CFunction("i32", "ptr", "double", "ptr", "ptr", "i32")
begin = CFunction("i32", "ptr", "double", "ptr")
set_number = CFunction("i32", "ptr", "double")
get = CFunction("i32", "ptr", "ptr")
place_of = CFunction("ptr", "ptr")


class Cvode(NamedTuple):
    """Addresses of CVODE's functions and objects."""

    memory: int
    vector: int
    step: int
    begin: int
    set_first: int
    set_least: int
    set_stop: int
    last_order: int
    last_step: int
    current_time: int
    counters: Indices  # functions that tell what it has cost since it began,
    counted: Indices  # and how much of that is counted
    rows: Indices  # (highest order + 1,) where the rows of the Nordsieck array stand
    order: Indices  # which unknown of the model stands where
    present: Vector  # (n,) the point that it begins from, in that order
    expected: Vector  # (n,) the last end of a step before it was brought onto its constraints
    number: Indices  # (1,) scrap


class Record(NamedTuple):
    """What is filled with the steps."""

    ends: Vector  # (steps,)
    centres: Vector  # (steps,) times about which the rows are, and
    sizes: Vector  # (steps,) the steps by which they are scaled
    first: Indices  # (steps + 1,) where the rows of a step begin in
    values: Vector


@machine_code
def slope_of(t: float, unknowns: int, slopes: int, given: int) -> int:
    """Slopes as CVODE asks for them; 1 where they are not finite and a smaller step may help."""
    user = indices_at(given, USER)
    n, at = user[SIZE], vector_at(user[AT], 1)
    at[0] = t
    order, own = indices_at(user[ORDER], n), vector_at(user[UNKNOWNS], n)
    inner, out = vector_at(user[SLOPES], n), vector_at(place_of(user[VECTOR], slopes), n)
    _take(user, unknowns, own)
    run_code(user[SLOPE], at, own, user[P], user[Q], inner)
    for i in range(n):
        out[i] = inner[order[i]]
        if not np.isfinite(out[i]):
            return 1
    return 0


@machine_code
def _take(user: Indices, unknowns: int, own: Vector) -> None:
    """Put a vector of CVODE's into the model's order."""
    x, order = vector_at(place_of(user[VECTOR], unknowns), own.size), indices_at(
        user[ORDER], own.size)
    for i in range(own.size):
        own[order[i]] = x[i]


@machine_code
def jacobian_of(t: float, unknowns: int, slopes: int, matrix: int, given: int, a: int, b: int,
                c: int) -> int:
    """The derivative of the slopes, as :func:`~blocks.solvers.trouble.finite_derivatives` takes it;
    1 where derivatives are no numbers."""
    user = indices_at(given, USER)
    n, at = user[SIZE], vector_at(user[AT], 1)
    at[0] = t
    own, near = vector_at(user[UNKNOWNS], n), vector_at(user[NEAR], n)
    out = place_of(user[MATRIX], matrix)
    written, here = vector_at(out, user[LENGTH]), vector_at(user[HERE], user[LENGTH])
    _take(user, unknowns, own)
    for k in range(3):
        for i in range(n):  # ahead, behind, there
            own[i] += near[i] if k != 1 else -2.0 * near[i]
        _derivatives_at(user, at, own, out)
        finite = True
        for i in range(written.size):
            finite &= abs(written[i]) < np.inf
        if finite:
            break
    if finite and k < 2:
        for i in range(n):
            own[i] -= near[i] if k == 0 else -near[i]
        _derivatives_at(user, at, own, user[HERE])
        for i in range(written.size):
            if abs(here[i]) <= STEEPER * abs(written[i]):
                written[i] = here[i]
    return 0 if finite else 1


@machine_code
def _derivatives_at(user: Indices, at: Vector, own: Vector, out: int) -> None:
    """Write the derivatives at a point; entries that are always zero are so already."""
    n = own.size
    if user[BY_ROWS] == 0:
        run_code(user[JACOBIAN], at, own, user[P], user[Q], out)
        return
    by_rows, written = vector_at(user[BY_ROWS], n * n), vector_at(out, n * n)
    run_code(user[JACOBIAN], at, own, user[P], user[Q], by_rows)
    for i in range(n):
        for j in range(n):
            written[j * n + i] = by_rows[i * n + j]


@machine_code
def projection_of(t: float, unknowns: int, correction: int, allowed: float, error: int, given: int
                  ) -> int:
    """How the end of a step is to be moved back onto its constraints; 1 where that is no number.

    The polynomial of the step follows, so nothing has to begin anew.
    """
    user = indices_at(given, USER)
    n, at = user[SIZE], vector_at(user[AT], 1)
    at[0] = t
    order, out = indices_at(user[ORDER], n), vector_at(place_of(user[VECTOR], correction), n)
    own, inner = vector_at(user[EXPECTED], n), vector_at(user[SLOPES], n)
    _take(user, unknowns, own)
    run_code(user[SETTLE], at, own, user[P], user[Q], inner)
    for i in range(n):
        out[i] = inner[order[i]] - own[order[i]]
        if not np.isfinite(out[i]):
            return 1
    return 0


@machine_code
def advance(cvode: Cvode, code: Code, work: Workspace, relations: Relations, limits: Limits,
            record: Record, switches: Switches, samples: Samples, resets: Resets,
            predicted: PredictedElements, network: NetworkModes,
            passed: Passed, x: Vector, state: Vector, counts: Indices, begun: Indices
            ) -> tuple[int, int, int]:
    """Steps until ``t_stop``, trouble, or until the record is full, as those of one-step methods.

    Parameters
    ----------
    cvode, code : addresses
    work, relations, limits, record : what is watched, what is obeyed, what is filled
    switches, samples, resets, predicted, network, passed : of events
    x : (n,) the present point in the model's order; moved on
    state : time, last step, and what else steps go on from
    counts : what it costs, counted up
    begun : (2,) how many steps and events the record holds already

    Returns
    -------
    status, number of steps, number of events that were carried out; those already held among them
    """
    taken, events, instant = begun[0], begun[1], 0
    if taken == 0:
        record.first[0] = 0
    while True:
        stop = limits.t_stop
        if instant < switches.times.size:
            stop = switches.times[instant]
        status, taken = _advance_to(cvode, code, work, relations, limits, record, x, state, counts,
                                    stop, taken)
        known = status == REACHED and instant < switches.times.size
        if not known and status != LOCATED or events == passed.times.size or not pass_event(
                code, work, relations, switches, samples, resets, predicted, network,
                passed, x, state, counts, events, taken, instant if known else CROSSING):
            _count(cvode, counts)
            return status, taken, events
        _begin_anew(cvode, x, state, counts, 0.0)
        events += 1
        if known:
            instant += 1


@machine_code
def _advance_to(cvode: Cvode, code: Code, work: Workspace, relations: Relations, limits: Limits,
                record: Record, x: Vector, state: Vector, counts: Indices, t_stop: float, taken: int
                ) -> tuple[int, int]:
    """The same up to the next instant, where so many steps stand in the record already.

    CVODE begins anew within it where a step leaves the branch of a loop, or strides over a pulse.
    """
    n, t, behind = x.size, state[TIME], 0
    room = cvode.rows.size * n
    status, looked = FULL, False
    flush_denormals(code, work)
    while (taken < record.ends.size and record.first[taken] + room <= record.values.size
           and status == FULL):
        if t >= t_stop:
            status = REACHED
            break
        left = t_stop - t
        behind = count_up_to(limits.pieces, t, behind)
        now = step_to_piece(t, left, limits.pieces, limits.across, behind)
        stop = t + now if now < left else t_stop
        if stop - t <= SLIVER * TIME_GRAIN * max(abs(t), abs(stop)):
            _stay(record, taken, stop, x)
            taken += 1
            t = stop
            continue
        if stop != state[STOP]:
            set_number(cvode.set_stop, cvode.memory, stop)
            state[STOP] = stop
        # otherwise it goes on for ever with steps that leave the time where it is
        least = min(SMALLEST_STEP * abs(t), limits.max_step)
        set_number(cvode.set_least, cvode.memory, least)
        state[FLAG] = one_step(cvode.step, cvode.memory, stop, cvode.vector, work.at, ONE_STEP)
        if state[FLAG] < 0.0:
            status = FAILED
            break
        end = work.at[0]
        if state[FLAG] > 0.0:  # it has stopped there, and forgets it
            state[STOP] = np.nan
        if end <= t:
            continue
        _keep(cvode, work, record, taken, end, n)
        length = end - t
        if work.branch.size > 0 and not _keeps_branch(cvode, code, work, t, end - t, x):
            length = 0.5 * (end - t)
            if length <= SAME_INSTANT * abs(t) + TINY:
                state[FLAG], status = STUCK, FAILED
                break
        elif code.exponents != 0:
            length = step_to_pulse(code, work, relations.exponents, relations.inside, x, t,
                                   end - t, limits.rtol, looked, False)
            looked = True
        if length < end - t:
            state[TIME] = t
            _begin_anew(cvode, x, state, counts, length)
            continue
        state[STEP] = record.sizes[taken]
        if relations.held.size:
            status, end = watched(code, relations, work, x, t, end, record.sizes[taken], state,
                                  0.0, t_stop, limits.pieces, behind)
            if status == EARLY:
                state[TIME], status = t, FULL
                _begin_anew(cvode, x, state, counts, end - t)
                continue
        if code.exponents != 0:
            relations.exponents[START, :] = relations.exponents[END, :]
        x[:] = work.k[NEW]
        record.ends[taken] = end
        taken += 1
        counts[0] += 1
        t = end
    keep_denormals(code, work)
    if status == FULL and t >= t_stop:
        status = REACHED
    state[TIME] = t
    return status, taken


@machine_code
def _begin_anew(cvode: Cvode, x: Vector, state: Vector, counts: Indices, first_step: float) -> None:
    """CVODE begins anew from the present point; with a first step of its own choice for 0."""
    _count(cvode, counts)
    for i in range(x.size):
        cvode.present[i] = x[cvode.order[i]]
    begin(cvode.begin, cvode.memory, state[TIME], cvode.vector)
    set_number(cvode.set_first, cvode.memory, first_step)
    state[STOP] = np.nan
    for j in range(cvode.counted.size):
        cvode.counted[j] = 0


@machine_code
def _count(cvode: Cvode, counts: Indices) -> None:
    """Add what it has cost since that was counted last."""
    for j in range(cvode.counters.size):
        cvode.number[0] = 0
        get(cvode.counters[j], cvode.memory, cvode.number)
        if j == 0 and cvode.number[0] == 0:
            break  # it has just begun: some of the others are those of before
        counts[COUNTERS[j]] += cvode.number[0] - cvode.counted[j]
        cvode.counted[j] = cvode.number[0]


@machine_code
def _keeps_branch(cvode: Cvode, code: Code, work: Workspace, t: float, h: float, x: Vector) -> bool:
    """Whether unknowns of loops at the end of a step follow from those at its start, ``x``."""
    work.k[NEW, :] = cvode.expected
    keeps = keeps_branch(code, work, t, h, x)
    work.k[NEW, :] = work.k[0]
    return keeps


@machine_code
def _keep(cvode: Cvode, work: Workspace, record: Record, taken: int, end: float, n: int) -> None:
    """Copy the rows of the last step, which ends at ``end``, in the model's order."""
    cvode.number[0] = 0
    get(cvode.last_order, cvode.memory, cvode.number)
    degree, place, k = cvode.number[0], record.first[taken], work.k
    get(cvode.last_step, cvode.memory, record.sizes[taken:])
    get(cvode.current_time, cvode.memory, record.centres[taken:])
    for j in range(cvode.rows.size):
        here = NORDSIECK_ROWS[j]
        if j > degree:
            k[here, :] = 0.0
            continue
        row = vector_at(cvode.rows[j], n)
        for i in range(n):
            k[here, cvode.order[i]] = row[i]
        record.values[place:place + n] = k[here]
        place += n
    k[NEW, :] = k[0]
    record.first[taken + 1] = place
    record.ends[taken] = end


@machine_code
def _stay(record: Record, taken: int, until: float, x: Vector) -> None:
    """A step over a few units in the last place of time, in which nothing moves."""
    place = record.first[taken]
    record.values[place:place + x.size] = x
    record.first[taken + 1] = place + x.size
    record.ends[taken] = record.centres[taken] = until
    record.sizes[taken] = 1.0


@machine_code
def values_between(values: Vector, first: Indices, which: Indices, parts: Vector, out: Matrix
                   ) -> None:
    """Values in steps: ``parts`` are times from the centre of step ``which``, over its size."""
    n = out.shape[1]
    for j in range(which.size):
        last = first[which[j] + 1] - n
        out[j, :] = values[last:last + n]
        while last > first[which[j]]:
            last -= n
            for i in range(n):
                out[j, i] = out[j, i] * parts[j] + values[last + i]
