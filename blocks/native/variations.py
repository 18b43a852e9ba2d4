"""How do small changes of the states grow along steps that have been taken? Compiled.

Changes S obey the linear equations ``S' = df/dx S + df/dp dp + df/dd dd`` along the run, whose
steps are taken again for the states between their ends. S is stepped by the explicit method of
order 8 of Dormand and Prince with its own error control [Hairer, Norsett & Wanner I, II.5, II.10].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Indices, Matrix, Vector
from .functions import machine_code
from .one_step import Steps, between
from .signatures import run_code
from .steps import Code, Workspace

__all__ = ["DONE", "FULL", "GIVEN_UP", "NODES", "STAGES", "Changes", "Equations", "Tableau",
           "grow", "grow_to"]  # fmt: skip

STAGES, NODES = 12, 12
SAFETY, LEAST, MOST = 0.9, 0.2, 5.0
TOGETHER = 8  # steps of the run that one may reach over: where these are short, something happens
SMALLEST = 1e-12  # step, in parts of the track
FULL, DONE, GIVEN_UP = range(3)


class Tableau(NamedTuple):
    """The method.

    Attributes
    ----------
    sums : addresses of weighted sums: of all stages but the first, of the end, of two errors
    parts : (nodes,) of the step at which equations are looked at, in the order of time
    node : (stages + 1,) which of them a stage is at
    """

    sums: Indices
    parts: Vector
    node: Indices


class Equations(NamedTuple):
    """Entries of the derivatives of slopes that are not always zero.

    Attributes
    ----------
    address : of what fills them in
    row, column : where they stand; columns by states, parameters, discrete values
    scale : (n,) units of the states
    tolerance : of a step's error, in parts of the largest change so far
    """

    address: int
    row: Indices
    column: Indices
    scale: Vector
    tolerance: float


class Changes(NamedTuple):
    """The present changes, per parameter, and room.

    Attributes
    ----------
    now : (rows * parameters) of states, parameters and discrete values; states are moved on
    inner : the same at a stage
    slopes : (stages + 1, n * parameters)
    x, entries : (nodes, …) states and derivatives there
    largest : (parameters,) so far, in units of the states
    clock : time, next step
    nothing, errors : (n * parameters) zeros, and (2, …) room
    length, size : of the step (2,), and n * parameters
    which, theta, work, at, none, counts : room
    """

    now: Vector
    inner: Vector
    slopes: Matrix
    x: Matrix
    entries: Matrix
    largest: Vector
    clock: Vector
    which: Indices
    theta: Vector
    work: Vector
    at: Vector
    none: Vector
    nothing: Vector
    errors: Matrix
    length: Vector
    size: Indices
    counts: Indices


@machine_code
def look(code: Code, work: Workspace, steps: Steps, ends: Vector, equations: Equations,
         method: Tableau, changes: Changes, h: float, first: int) -> None:
    """Derivatives at all nodes of a step of length ``h``, which begins in one of the run."""
    i, t = first, changes.clock[0]
    for j in range(NODES):
        at = t + method.parts[j] * h
        while i < ends.size - 1 and ends[i] < at:
            i += 1
        changes.which[j] = i
        changes.theta[j] = min((at - steps.starts[i]) / steps.sizes[i], 1.0)
    between(code, work, steps, changes.which, changes.theta, changes.none, changes.work,
            changes.counts, changes.x)
    for j in range(NODES):
        changes.at[0] = t + method.parts[j] * h
        run_code(equations.address, changes.at, changes.x[j], code.p, code.q, changes.entries[j])


@machine_code
def rate(equations: Equations, changes: Changes, given: Vector, node: int, stage: int) -> None:
    """The slopes of the changes at a stage."""
    count, out, entries = changes.largest.size, changes.slopes[stage], changes.entries[node]
    for k in range(out.size):
        out[k] = 0.0
    for e in range(equations.row.size):
        value, to, of = entries[e], equations.row[e] * count, equations.column[e] * count
        for k in range(count):
            out[to + k] += value * given[of + k]


@machine_code
def take_stages(equations: Equations, method: Tableau, changes: Changes, h: float) -> None:
    """All stages of a step; its end stands in ``inner``."""
    changes.length[0] = h
    rate(equations, changes, changes.now, 0, 0)
    for stage in range(1, STAGES + 1):
        run_code(method.sums[stage - 1], changes.now, changes.slopes, changes.inner, changes.size,
                 changes.length)
        rate(equations, changes, changes.inner, method.node[stage], stage)


@machine_code
def error_of(equations: Equations, method: Tableau, changes: Changes) -> float:
    """The largest error of a step in units of the tolerance; nan if one is nan."""
    for k in range(2):
        run_code(method.sums[STAGES + k], changes.nothing, changes.slopes, changes.errors[k],
                 changes.size, changes.length)
    count, worst, total = changes.largest.size, 0.0, 0.0
    for c in range(count):
        fifth, third, largest = 0.0, 0.0, changes.largest[c]
        for i in range(equations.scale.size):
            k, unit = i * count + c, equations.scale[i]
            fifth = max(fifth, abs(changes.errors[0, k]) / unit)
            third = max(third, abs(changes.errors[1, k]) / unit)
            largest = max(largest, abs(changes.inner[k]) / unit)
            total += abs(changes.errors[0, k]) + abs(changes.inner[k])
        if fifth > 0.0:
            error = fifth * fifth / np.sqrt(fifth * fifth + 0.01 * third * third)
            worst = max(worst, error / (equations.tolerance * largest))
    return worst if np.isfinite(total) else np.nan


@machine_code
def grow_to(code: Code, work: Workspace, steps: Steps, ends: Vector, equations: Equations,
            method: Tableau, changes: Changes, first: int, t: float) -> None:
    """One step to a time ``t`` within a length that has proved good."""
    h = t - changes.clock[0]
    if h > 0.0:
        look(code, work, steps, ends, equations, method, changes, h, first)
        take_stages(equations, method, changes, h)
        for k in range(changes.slopes.shape[1]):
            changes.now[k] = changes.inner[k]


@machine_code
def grow(code: Code, work: Workspace, steps: Steps, ends: Vector, equations: Equations,
         method: Tableau, changes: Changes, times: Vector, first: Indices, rows: Matrix
         ) -> tuple[int, int]:
    """Steps up to the end of the track, or until the record is full.

    Parameters
    ----------
    times, first, rows : filled with where steps begin, and with the changes there

    Returns
    -------
    number of steps, and why it ends
    """
    taken, i, last = 0, 0, ends.size - 1
    rejected = False
    while i < last and ends[i] <= changes.clock[0]:
        i += 1
    while taken < times.size:
        t = changes.clock[0]
        if t >= ends[last]:
            return taken, DONE
        while i < last and ends[i] <= t:
            i += 1
        farthest = ends[min(i + TOGETHER - 1, last)]
        h = changes.clock[1]
        if h <= 0.0:
            h = ends[i] - t
        if t + 1.01 * h >= farthest:
            h = farthest - t
        look(code, work, steps, ends, equations, method, changes, h, i)
        take_stages(equations, method, changes, h)
        error = error_of(equations, method, changes)
        factor = MOST
        if error > 0.0:
            factor = min(MOST, max(LEAST, SAFETY * error ** -0.125))
        if not error <= 1.0:
            if h <= SMALLEST * (ends[last] - steps.starts[0]):
                return taken, GIVEN_UP
            changes.clock[1] = h * min(factor, 1.0)
            if np.isnan(error):
                changes.clock[1] = h * LEAST
            rejected = True
            continue
        if rejected:
            factor = min(factor, 1.0)
        rejected = False
        times[taken], first[taken] = t, i
        for k in range(rows.shape[1]):
            rows[taken, k] = changes.now[k]
        taken += 1
        for c in range(changes.largest.size):
            for s in range(equations.scale.size):
                changes.largest[c] = max(changes.largest[c], abs(
                    changes.inner[s * changes.largest.size + c]) / equations.scale[s])
        for k in range(rows.shape[1]):
            changes.now[k] = changes.inner[k]
        changes.clock[0] = ends[last] if h == ends[last] - t else t + h
        changes.clock[1] = h * factor
    return taken, FULL
