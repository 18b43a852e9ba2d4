"""Steps of CVODE, taken by machine code that calls its C functions.

CVODE gets slopes and Jacobians as functions of C that call a model's machine code, and is asked
for one step after the other. Of each step the Nordsieck array is kept, whose rows give every value
inside it; crossings are looked for with these, by the functions that serve the explicit pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Indices, Matrix, Vector
from ..numerics.tolerances import SAME_INSTANT
from .cvode_library import ONE_STEP, ROWS
from .functions import machine_code
from .loop_branch import keeps_branch
from .one_step import FULL, REACHED, Limits, watched
from .pulses import END, START, step_to_pulse
from .signatures import CFunction, indices_at, run_code, vector_at
from .stages import NEW
from .step_control import count_up_to, step_to_piece
from .steps import Code, Workspace, flush_denormals, keep_denormals
from .zero_crossings import Relations

__all__ = ["AGAIN", "FAILED", "FLAG", "LENGTH", "STOP", "USER", "Cvode", "Record", "advance",
           "jacobian_of", "projection_of", "slope_of", "values_between"]  # fmt: skip

FAILED, AGAIN = 6, 7  # beside the statuses of the explicit pair
#: Entries of ``state``; the fourth says what is known of looks, the last how far a step may go.
TIME, STOP, FLAG, LENGTH = 0, 1, 2, 4
#: Entries of what slopes and Jacobians are given: number of unknowns; addresses of machine code,
#: of what it reads, of a time, of the functions that tell where vectors and matrices stand; room
#: for unknowns and slopes in the model's order, and that order (0: as they are); room for
#: derivatives that are written row by row (0: those of the model are as SUNDIALS wants them).
SIZE, SLOPE, JACOBIAN, P, Q, AT, VECTOR, MATRIX, UNKNOWNS, SLOPES, ORDER, BY_ROWS = range(12)
#: What brings a point back onto its constraints, and room for the last such point before that.
SETTLE, EXPECTED = 12, 13
USER = 14
STUCK = -3.0  # of CVODE's answers: however short the step

one_step = CFunction("i32", "ptr", "double", "ptr", "ptr", "i32")
set_number = CFunction("i32", "ptr", "double")
get = CFunction("i32", "ptr", "ptr")
place_of = CFunction("ptr", "ptr")


class Cvode(NamedTuple):
    """Addresses of CVODE's functions and objects."""

    memory: int
    vector: int
    step: int
    set_stop: int
    last_order: int
    last_step: int
    current_time: int
    rows: Indices  # (6,) where the rows of the Nordsieck array stand
    order: Indices  # which unknown of the model stands where; empty: as they are
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
    x = vector_at(place_of(user[VECTOR], unknowns), n)
    out = vector_at(place_of(user[VECTOR], slopes), n)
    if user[ORDER] == 0:
        run_code(user[SLOPE], at, x, user[P], user[Q], out)
    else:
        order = indices_at(user[ORDER], n)
        own, inner = vector_at(user[UNKNOWNS], n), vector_at(user[SLOPES], n)
        for i in range(n):
            own[order[i]] = x[i]
        run_code(user[SLOPE], at, own, user[P], user[Q], inner)
        for i in range(n):
            out[i] = inner[order[i]]
    for i in range(n):
        if not np.isfinite(out[i]):
            return 1
    return 0


@machine_code
def jacobian_of(t: float, unknowns: int, slopes: int, matrix: int, given: int, a: int, b: int,
                c: int) -> int:
    """The derivative of the slopes; entries that are always zero are so already."""
    user = indices_at(given, USER)
    n, at = user[SIZE], vector_at(user[AT], 1)
    at[0] = t
    x = vector_at(place_of(user[VECTOR], unknowns), n)
    out = place_of(user[MATRIX], matrix)
    if user[BY_ROWS] != 0:
        by_rows, by_columns = vector_at(user[BY_ROWS], n * n), vector_at(out, n * n)
        run_code(user[JACOBIAN], at, x, user[P], user[Q], by_rows)
        for i in range(n):
            for j in range(n):
                by_columns[j * n + i] = by_rows[i * n + j]
    elif user[ORDER] == 0:
        run_code(user[JACOBIAN], at, x, user[P], user[Q], out)
    else:
        order = indices_at(user[ORDER], n)
        own = vector_at(user[UNKNOWNS], n)
        for i in range(n):
            own[order[i]] = x[i]
        run_code(user[JACOBIAN], at, own, user[P], user[Q], out)
    return 0


@machine_code
def projection_of(t: float, unknowns: int, correction: int, allowed: float, error: int, given: int
                  ) -> int:
    """How the end of a step is to be moved back onto its constraints; 1 where that is no number.

    The polynomial of the step follows, so nothing has to begin anew.
    """
    user = indices_at(given, USER)
    n, at = user[SIZE], vector_at(user[AT], 1)
    at[0] = t
    x = vector_at(place_of(user[VECTOR], unknowns), n)
    out = vector_at(place_of(user[VECTOR], correction), n)
    own, inner = vector_at(user[EXPECTED], n), vector_at(user[SLOPES], n)
    if user[ORDER] == 0:
        own[:] = x
    else:
        order = indices_at(user[ORDER], n)
        for i in range(n):
            own[order[i]] = x[i]
    run_code(user[SETTLE], at, own, user[P], user[Q], inner)
    for i in range(n):
        k = i
        if user[ORDER] != 0:
            k = indices_at(user[ORDER], n)[i]
        out[i] = inner[k] - own[k]
        if not np.isfinite(out[i]):
            return 1
    return 0


@machine_code
def advance(cvode: Cvode, code: Code, work: Workspace, relations: Relations, limits: Limits,
            record: Record, x: Vector, state: Vector) -> tuple[int, int]:
    """Steps until ``t_stop``, a crossing, trouble, or until the record is full.

    Parameters
    ----------
    cvode, code : addresses
    work, relations, limits, record : what is watched, what is obeyed, what is filled
    x : (n,) the present point in the model's order; moved on where steps are looked at
    state : time, the time at which CVODE has been told to stop (nan: none), its last answer,
        1 if a look at the time is known, the length of a step that is to be taken again: up to a
        pulse, or to where loops keep to their branch

    Returns
    -------
    status, number of steps
    """
    n, t = x.size, state[TIME]
    taken, behind, status, looked = 0, 0, FULL, False
    watches = relations.held.size > 0 or code.exponents != 0 or work.branch.size > 0
    record.first[0] = 0
    flush_denormals(code, work)
    while (taken < record.ends.size and record.first[taken] + ROWS * n <= record.values.size
           and status == FULL):
        if t >= limits.t_stop:
            status = REACHED
            break
        left = limits.t_stop - t
        behind = count_up_to(limits.pieces, t, behind)
        now = step_to_piece(t, left, limits.pieces, limits.across, behind)
        stop = t + now if now < left else limits.t_stop
        if stop != state[STOP]:
            set_number(cvode.set_stop, cvode.memory, stop)
            state[STOP] = stop
        state[FLAG] = one_step(cvode.step, cvode.memory, stop, cvode.vector, work.at, ONE_STEP)
        if state[FLAG] < 0.0:
            status = FAILED
            break
        end = work.at[0]
        if state[FLAG] > 0.0:  # it has stopped there, and forgets it
            state[STOP] = np.nan
        if end <= t:
            continue
        _keep(cvode, record, taken, end, n)
        if watches:
            _unpacked(cvode, work, (record.first[taken + 1] - record.first[taken]) // n)
        if work.branch.size > 0 and not _keeps_branch(cvode, code, work, t, end - t, x):
            state[LENGTH] = 0.5 * (end - t)
            status = AGAIN
            if state[LENGTH] <= SAME_INSTANT * max(abs(t), abs(limits.t_stop)):
                state[FLAG], status = STUCK, FAILED
            break
        if code.exponents != 0:
            length = step_to_pulse(code, work, relations.exponents, relations.inside, x, t,
                                   end - t, limits.rtol, looked, False)
            looked = True
            if length < end - t:
                state[LENGTH] = length
                status = AGAIN
                break
            relations.exponents[START, :] = relations.exponents[END, :]
        if relations.held.size:
            status, end = watched(code, relations, work, x, t, end, record.sizes[taken], state,
                                  0.0, limits.t_stop)
        if watches:
            x[:] = work.k[NEW]
        record.ends[taken] = end
        taken += 1
        t = end
    keep_denormals(code, work)
    if status == FULL and t >= limits.t_stop:
        status = REACHED
    state[TIME] = t
    return status, taken


@machine_code
def _keeps_branch(cvode: Cvode, code: Code, work: Workspace, t: float, h: float, x: Vector) -> bool:
    """Whether unknowns of loops at the end of a step follow from those at its start, ``x``."""
    work.k[NEW, :] = cvode.expected
    keeps = keeps_branch(code, work, t, h, x)
    work.k[NEW, :] = work.k[0]
    return keeps


@machine_code
def _keep(cvode: Cvode, record: Record, taken: int, end: float, n: int) -> None:
    """Copy the rows of the last step, which ends at ``end``."""
    cvode.number[0] = 0
    get(cvode.last_order, cvode.memory, cvode.number)
    degree, begin = cvode.number[0], record.first[taken]
    get(cvode.last_step, cvode.memory, record.sizes[taken:])
    get(cvode.current_time, cvode.memory, record.centres[taken:])
    for j in range(degree + 1):
        record.values[begin:begin + n] = vector_at(cvode.rows[j], n)
        begin += n
    record.first[taken + 1] = begin


@machine_code
def _unpacked(cvode: Cvode, work: Workspace, count: int) -> None:
    """The rows of the last step in the model's order, for looks inside it."""
    k = work.k
    n = k.shape[1]
    for j in range(ROWS):
        row = vector_at(cvode.rows[j], n)
        if j >= count:
            k[j, :] = 0.0
        elif cvode.order.size:
            for i in range(n):
                k[j, cvode.order[i]] = row[i]
        else:
            k[j, :] = row
    k[NEW, :] = k[0]


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
