"""How do small changes of the states grow along steps that have been taken? Compiled.

Changes S obey the linear equations ``S' = df/dx S + df/dp dp + df/dd dd`` along the run, whose
steps are taken again for the states between their ends. S is stepped by the explicit method of
order 8 of Dormand and Prince with its own error control [Hairer, Norsett & Wanner I, II.5, II.10].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Flags, Indices, Matrix, Vector
from .one_step import Steps, between
from .steps import Code, Workspace

__all__ = ["DONE", "FULL", "GIVEN_UP", "LANES", "NODES", "STAGES", "WAITS", "Changes", "Crossings",
           "Equations", "Tableau", "Track", "grow", "grow_inside"]  # fmt: skip

STAGES, NODES = 12, 12
LANES = 4  # nodes at which derivatives are evaluated together
SAFETY, LEAST, MOST = 0.9, 0.2, 5.0
TOGETHER = 8  # steps of the run that one may reach over: where these are short, something happens
SHORTEST = 1e-3  # parts of the run's step: in shorter ones errors are those of rounding
SMALLEST = 1e-12  # step, in parts of the course
FULL, DONE, GIVEN_UP, WAITS = range(4)


class Tableau(NamedTuple):
    """The method.

    Attributes
    ----------
    sums : addresses of weighted sums: of all stages but the first, of the end, of two errors
    parts : (nodes,) of the step at which equations are looked at, in the order of time
    node : (stages,) which of them a stage is at
    """

    sums: Indices
    parts: Vector
    node: Indices


class Equations(NamedTuple):
    """Entries of the derivatives of slopes that are not always zero.

    Attributes
    ----------
    address : of what fills them in
    product : of what multiplies them with changes
    weight : (n,) one by the units of the states
    tolerance : of a step's error, in parts of the largest change so far
    """

    address: int
    product: int
    weight: Vector
    tolerance: float


class Track(NamedTuple):
    """Steps that were taken, those of several courses one after the other.

    Attributes
    ----------
    ends : of the steps
    marks : (courses + 1,) the first step of each, and one past the last
    held : what is constant in a course, where there are several
    """

    ends: Vector
    marks: Indices
    held: Vector


class Crossings(NamedTuple):
    """The events between courses.

    Attributes
    ----------
    simple : whether a change is carried over by what follows
    followed : (events, rows) instants by states, parameters and discrete values
    kinks : (events, n) changes of states by moving instants
    assigned : (events, discrete values * rows) what these are after by all that is before; or empty
    moved : (events, parameters) filled with how instants move
    discrete : (courses, discrete values * parameters) filled with changes of discrete values
    """

    simple: Flags
    followed: Matrix
    kinks: Matrix
    assigned: Matrix
    moved: Matrix
    discrete: Matrix


class Changes(NamedTuple):
    """The present changes, per parameter, and room.

    Attributes
    ----------
    now : (rows * parameters) of states, parameters and discrete values; states are moved on
    inner : the same at a stage
    slopes : (stages, n * parameters)
    x : (nodes, …) states there
    inside, at : (… * lanes) states and times of several nodes
    entries, places : (nodes / lanes, … * lanes) derivatives there, and where those of a node stand
    largest, reached : (parameters,) so far, in units of the states, and with the present step
    clock : time, next step
    nothing, errors : (n * parameters) zeros, and (2, …) room
    length, size, columns : of the step (2,), n * parameters, and parameters
    which, theta, work, counts : room
    taken : the last step that was taken again
    """

    now: Vector
    inner: Vector
    slopes: Matrix
    x: Matrix
    inside: Vector
    entries: Matrix
    places: Indices
    largest: Vector
    reached: Vector
    clock: Vector
    which: Indices
    theta: Vector
    work: Vector
    at: Vector
    nothing: Vector
    errors: Matrix
    length: Vector
    size: Indices
    columns: Indices
    counts: Indices
    taken: Indices


@machine_code
def look(code: Code, work: Workspace, steps: Steps, track: Track, equations: Equations,
         method: Tableau, changes: Changes, h: float, first: int, last: int) -> None:
    """Derivatives at all nodes of a step of length ``h``, from one of the run to at most another.
    """
    i, t = first, changes.clock[0]
    for j in range(NODES):
        at = t + method.parts[j] * h
        while i < last and track.ends[i] < at:
            i += 1
        changes.which[j] = i
        changes.theta[j] = min((at - steps.starts[i]) / steps.sizes[i], 1.0)
    between(code, work, steps, changes.which, changes.theta, track.held, changes.work,
            changes.counts, changes.taken, changes.x)
    for group in range(NODES // LANES):
        for lane in range(LANES):
            j = group * LANES + lane
            changes.at[lane] = t + method.parts[j] * h
            for k in range(changes.x.shape[1]):
                changes.inside[k * LANES + lane] = changes.x[j, k]
        run_code(equations.address, changes.at, changes.inside, code.p, code.q,
                 changes.entries[group])


@machine_code
def take_stages(equations: Equations, method: Tableau, changes: Changes, h: float) -> None:
    """All stages of a step; its end stands in ``inner``."""
    changes.length[0] = h
    run_code(equations.product, changes.places[0], changes.now, changes.slopes[0], changes.columns,
             changes.length)
    for stage in range(1, STAGES + 1):
        run_code(method.sums[stage - 1], changes.now, changes.slopes, changes.inner, changes.size,
                 changes.length)
        if stage < STAGES:
            run_code(equations.product, changes.places[method.node[stage]], changes.inner,
                     changes.slopes[stage], changes.columns, changes.length)


@machine_code
def error_of(equations: Equations, method: Tableau, changes: Changes) -> float:
    """The largest error of a step in units of the tolerance; nan if one is nan."""
    for k in range(2):
        run_code(method.sums[STAGES + k], changes.nothing, changes.slopes, changes.errors[k],
                 changes.size, changes.length)
    count, worst, total = changes.largest.size, 0.0, 0.0
    for c in range(count):
        fifth, third, largest = 0.0, 0.0, changes.largest[c]
        for i in range(equations.weight.size):
            k, weight = i * count + c, equations.weight[i]
            fifth = max(fifth, abs(changes.errors[0, k]) * weight)
            third = max(third, abs(changes.errors[1, k]) * weight)
            largest = max(largest, abs(changes.inner[k]) * weight)
            total += abs(changes.errors[0, k]) + abs(changes.inner[k])
        changes.reached[c] = largest
        if fifth > 0.0:
            error = fifth * fifth / np.sqrt(fifth * fifth + 0.01 * third * third)
            worst = max(worst, error / (equations.tolerance * largest))
    return worst if np.isfinite(total) else np.nan


@machine_code
def grow_inside(code: Code, work: Workspace, steps: Steps, track: Track, equations: Equations,
                method: Tableau, changes: Changes, begin: Vector, first: Indices, last: Indices,
                rows: Matrix, discrete: Matrix, times: Vector, out: Matrix) -> None:
    """Changes inside steps, by one step each within a length that has proved good.

    Parameters
    ----------
    begin, first, last : of the steps, and the steps of the run from the first to the last
    rows, discrete : changes where they begin
    times, out : and where they are asked for
    """
    size = rows.shape[1]
    changes.taken[0] = -1
    for j in range(times.size):
        changes.clock[0] = begin[j]
        for k in range(size):
            changes.now[k] = rows[j, k]
        held = changes.now.size - discrete.shape[1]
        for k in range(discrete.shape[1]):
            changes.now[held + k] = discrete[j, k]
            changes.inner[held + k] = discrete[j, k]
        h = times[j] - begin[j]
        if h > 0.0:
            look(code, work, steps, track, equations, method, changes, h, first[j], last[j])
            take_stages(equations, method, changes, h)
            for k in range(size):
                out[j, k] = changes.inner[k]
        else:
            for k in range(size):
                out[j, k] = rows[j, k]


@machine_code
def cross(crossings: Crossings, changes: Changes, event: int) -> None:
    """Carry changes over an event at which nothing jumps but slopes and discrete values."""
    count = changes.largest.size
    held, size = changes.now.size - crossings.discrete.shape[1], crossings.discrete.shape[1]
    rows = changes.now.size // count
    for k in range(size):
        value = changes.now[held + k]
        if crossings.assigned.shape[1] > 0:
            value, target = 0.0, k // count
            for j in range(rows):
                value += crossings.assigned[event, target * rows + j] * changes.now[
                    j * count + k % count]
        crossings.discrete[event + 1, k] = value
    for c in range(count):
        moved = 0.0
        for k in range(crossings.followed.shape[1]):
            moved += crossings.followed[event, k] * changes.now[k * count + c]
        crossings.moved[event, c] = moved
        for i in range(crossings.kinks.shape[1]):
            changes.now[i * count + c] += crossings.kinks[event, i] * moved
    for k in range(size):
        changes.now[held + k] = crossings.discrete[event + 1, k]
        changes.inner[held + k] = crossings.discrete[event + 1, k]


@machine_code
def grow(code: Code, work: Workspace, steps: Steps, track: Track, crossings: Crossings,
         equations: Equations, method: Tableau, changes: Changes, begun: Indices, times: Vector,
         first: Indices, rows: Matrix) -> tuple[int, int]:
    """Steps through all courses, until an event that is not simple, or until the record is full.

    Parameters
    ----------
    begun : the present course, moved on
    times, first, rows : filled with where steps begin, and with the changes there

    Returns
    -------
    number of steps, and why it ends
    """
    taken = 0
    changes.taken[0] = -1
    while True:
        course = begun[0]
        low, high = track.marks[course], track.marks[course + 1]
        if high > low:
            if begun[1] == 0:
                changes.clock[0] = steps.starts[low]
                begun[1] = 1
            why, taken = grow_along(code, work, steps, track, equations, method, changes, low,
                                    high - 1, times, first, rows, taken)
            if why != DONE:
                return taken, why
        if course == track.marks.size - 2:
            return taken, DONE
        if not crossings.simple[course]:
            return taken, WAITS
        cross(crossings, changes, course)
        begun[0], begun[1] = course + 1, 0


@machine_code
def grow_along(code: Code, work: Workspace, steps: Steps, track: Track, equations: Equations,
               method: Tableau, changes: Changes, low: int, last: int, times: Vector,
               first: Indices, rows: Matrix, taken: int) -> tuple[int, int]:
    """Steps up to the end of one course."""
    i, ends, count = low, track.ends, changes.largest.size
    rejected = False
    while taken < times.size:
        t = changes.clock[0]
        if t >= ends[last]:
            return DONE, taken
        while i < last and ends[i] <= t:
            i += 1
        farthest = ends[min(i + TOGETHER - 1, last)]
        h = changes.clock[1]
        if h <= 0.0:
            h = ends[i] - t
        proposed = h
        if t + 1.01 * h >= farthest:
            h = farthest - t
        look(code, work, steps, track, equations, method, changes, h, i, last)
        take_stages(equations, method, changes, h)
        error = error_of(equations, method, changes)
        factor = MOST
        if error > 0.0:
            factor = min(MOST, max(LEAST, SAFETY * error ** -0.125))
        forced = error > 1.0 and h <= SHORTEST * (ends[i] - steps.starts[i])
        if not error <= 1.0 and not forced:
            if h <= SMALLEST * (ends[last] - steps.starts[low]):
                return GIVEN_UP, taken
            changes.clock[1] = h * min(factor, 1.0)
            if np.isnan(error):
                changes.clock[1] = h * LEAST
            rejected = True
            continue
        if forced:
            factor = 1.0
        elif rejected:
            factor = min(factor, 1.0)
        rejected = False
        times[taken], first[taken] = t, i
        for k in range(rows.shape[1]):
            rows[taken, k] = changes.now[k]
            changes.now[k] = changes.inner[k]
        taken += 1
        for c in range(count):
            changes.largest[c] = changes.reached[c]
        changes.clock[0] = ends[last] if h == ends[last] - t else t + h
        changes.clock[1] = h * factor
        if h < proposed:  # cut where it had to end; what has proved good before is tried again
            changes.clock[1] = max(h * factor, proposed)
    return FULL, taken
