"""What is a run by time stepping, once it has left Python?

Moreau-Jean steps are machine code that ends its call at every change of a mode. Here they are one
function with the record and the events of other methods, so that what runs an image need not know
them apart. All that a step moves are the states and, behind them, the efforts over that step.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from ..language.expression import TIME as TIME_SYMBOL
from ..machine.functions import empty, machine_code
from ..machine.signatures import run_code
from ..native import one_step
from ..native.contact_steps import CHANGED, NO_ROOM, NOT_FINITE
from ..native.contact_steps import advance as steps_to_change
from ..native.events import Passed
from ..native.next_branch import Switches
from ..native.one_step import Limits, Steps
from ..native.one_step import Record as Taken
from ..native.own_events import Ahead
from ..native.step_equations import written
from ..native.step_records import Bodies, Kinds, Record, Room
from ..native.zero_crossings import LOOK_ROWS, Relations
from ..nonsmooth.complementarity.problem import Problem
from ..nonsmooth.complementarity.sparse_lu import Factors
from ..numerics.arrays import Indices, Matrix, Vector
from .image import Prepared

__all__ = ["TIME_STEPS", "TimeSteps"]

STEPS_KEPT, EVENTS_KEPT = 64, 256  # of one call; the next call goes on
LOOKS = 64  # into one step at a time
TIME_STEPS = -1  # a kind of method, beside those of :mod:`blocks.native.steps`
TIME, STEP = one_step.TIME, one_step.STEP
FULL, REACHED = one_step.FULL, one_step.REACHED
WITHOUT_END, UNSURE, TOO_SMALL = one_step.NOT_FINITE, one_step.UNSURE, one_step.TOO_SMALL


@machine_code
def advance(bodies: Bodies, kinds: Kinds, problem: Problem, factors: Factors, room: Room,
            course: Record, when: Vector, most: Indices, y: Vector, last: Vector, modes: Indices,
            before: Indices, relations: Relations, limits: Limits, record: Taken,
            switches: Switches, passed: Passed, x: Vector, state: Vector, begun: Indices,
            held: Indices) -> tuple[int, int, int]:
    """Steps up to ``t_stop``, as those of :func:`blocks.native.one_step.advance`, or until a record
    is full.

    The first arguments are those of the steps, whose ``course`` is filled up to every change. What
    is told first is an event of its own.

    ``held`` is per entry of the table of arguments the discrete value that it holds; -1 for another
    one.
    """
    n, taken, events = y.size, begun[0], begun[1]
    when[0], when[1], when[2] = state[TIME], state[STEP], limits.t_stop
    if switches.times.size:
        for j in range(switches.slots.size):
            switches.d[switches.slots[j]] = switches.rows[0, j]
        for i in range(held.size):
            if held[i] >= 0:
                kinds.table[i] = switches.d[held[i]]
        _pass(passed, events, taken, when[0], x, modes)
        events += 1
    while when[0] < when[2]:
        most[0] = min(course.ends.size, record.ends.size - taken)
        if most[0] == 0 or events == passed.times.size:
            return FULL, taken, events
        before[:] = modes
        why, count = steps_to_change(bodies, kinds, problem, factors, room, course, when, most, y,
                                     last, modes, before)
        for k in range(count):
            record.ends[taken], record.sizes[taken] = course.ends[k], course.ends[k] - when[0]
            for i in range(n):
                record.rows[taken, i] = course.rows[k, i] * bodies.scale[i]
            for i in range(last.size):
                record.rows[taken, n + i] = course.efforts[k, i]
            when[0] = course.ends[k]
            taken += 1
        state[TIME] = when[0]
        if count == 0:
            return (WITHOUT_END if why == NOT_FINITE else UNSURE if why == NO_ROOM
                    else TOO_SMALL), taken, events
        x[:] = record.rows[taken - 1]
        if why == CHANGED:
            for i in range(n):
                y[i] = x[i] / bodies.scale[i]  # rounded, as where Python begins anew
            _pass(passed, events, taken, when[0], x, modes)
            events += 1
    return REACHED, taken, events


@machine_code
def _pass(passed: Passed, k: int, taken: int, t: float, x: Vector, modes: Indices) -> None:
    """Write an event down."""
    passed.marks[k], passed.times[k], passed.x[k] = taken, t, x
    for i in range(modes.size):
        passed.q[k, i] = modes[i]


@machine_code
def look(bodies: Bodies, reads: int, at: Vector, point: Vector, slope: Vector, margins: Vector,
         values: Vector) -> None:
    """Variables at a point, by the function at an address."""
    if values.size:
        run_code(reads, at, point, bodies.p, bodies.m, bodies.d, values)


@machine_code
def inside(record: Taken, steps: Steps, states: int, which: Indices, theta: Vector,
           out: Matrix) -> None:
    """Points inside the step of the record that begins then; efforts are those over the step."""
    k = 0
    while record.ends[k] <= steps.starts[0]:
        k += 1
    for j in range(theta.size):
        out[j] = record.rows[k]
        for i in range(states):
            start = steps.values[0, i]
            out[j, i] = start + theta[j] * (record.rows[k, i] - start)


class TimeSteps:
    """A method as a program knows it: arrays, and functions that are bound to them.

    ``trial`` is the stepper of a run like it; ``now`` is what it is told in its course, ``slots``
    where that stands among discrete values.
    """

    keeps_step, kind = True, TIME_STEPS

    def __init__(self, method: Any, trial: Any, now: Ahead, slots: Indices) -> None:
        problem, stepper = method.problem, method.stepper
        laws, n = problem.laws, problem.size
        self.name, self.problem = method.name, problem
        stepper.make_room(trial.elements, trial.entries)
        stepper.y[:], stepper.modes[:], stepper.when[1] = method.y, laws.modes, method.step_size
        stepper.last[:] = laws.efforts.last
        stepper.equations.begin(problem, method.t, method.y)
        bodies = stepper.equations.bodies
        self.p, self.x = bodies.p, np.append(method.y * bodies.scale, stepper.last)
        self.q, self.held, self.places = stepper.modes.astype(float), np.zeros(0), slice(0, n)
        self.bodies, width = bodies, len(self.x)
        steps, events = STEPS_KEPT, EVENTS_KEPT
        self.record = Taken(np.zeros(steps), np.zeros(steps), np.zeros((steps, width)))
        passed = empty(Passed)._replace(
            marks=np.zeros(events, dtype=np.int64), times=np.zeros(events),
            struck=np.zeros((events, len(self.q))), q=np.zeros((events, len(self.q))),
            x=np.zeros((events, width)), changed=np.zeros((events, 0)),
            given=np.zeros((events, 0)), present=self.q)
        self.state = np.zeros(6)
        self.state[TIME], self.state[STEP] = method.t, method.step_size
        self.table = stepper.equations.kinds.table
        told = empty(Switches)._replace(times=now.times, holds=now.holds, until=now.until,
                                        rows=now.rows, slots=slots, d=bodies.d)
        self.given = (*stepper.given, empty(Relations)._replace(looks=np.zeros((LOOK_ROWS, 0))),
                      empty(Limits), self.record, told, passed, self.x, self.state,
                      np.zeros(2, dtype=np.int64), self._held(stepper.equations, slots))
        self.own_events = SimpleNamespace(
            passed=passed, rules=SimpleNamespace(islands=laws, resets=None))
        self.equations = SimpleNamespace(large=False, span_of=lambda part: slice(
            0, len(self.q) * (part == "modes")))
        #: What a start comes to: states and what follows parameters; modes; nothing decided anew.
        kept = [self.x, stepper.y, stepper.last, bodies.scale, self.table]
        self.arrays: Any = kept, [self.q, stepper.modes.view(float)], []

    def _held(self, equations: Any, slots: Indices) -> Indices:
        """Which discrete value, of those that are told, each entry of the table holds."""
        held = np.full(self.table.size, -1)
        for slot in slots.tolist():
            marked = equations.d.copy()
            marked[slot] = np.nan
            equations.hold(equations.m, marked)
            held[np.isnan(self.table)] = slot
            equations.hold(equations.m, equations.d)
        return held

    def functions(self, expression: ca.SX, at: Any, point: Any, values: Any) -> dict[str, Prepared]:
        """What advances, what gives variables at a point, and what gives points inside a step."""
        system, elements = self.problem.system, self.problem.laws.elements
        moved = ca.SX.sym("x", len(self.x))
        states, efforts = moved[: system.nx], moved[system.nx :]
        u = ca.SX(system.nu, 1)
        for k, (column, unit) in enumerate(zip(elements.column, elements.unit, strict=True)):
            u[int(column)] = efforts[k] * float(unit)
        tape = system.tape
        shown = ca.substitute([expression], [tape.x, tape.u], [states, u])[0]
        reads = written(ca.Function("reads", [TIME_SYMBOL, moved, tape.p, tape.m, tape.d], [shown]))
        steps = empty(Steps)._replace(starts=np.zeros(1), sizes=np.zeros(1),
                                      values=np.zeros((1, len(self.x))))
        return {
            "advance": Prepared(advance.bound(*self.given)),
            "look": Prepared(look.bound(self.bodies, reads, at, point, np.zeros_like(point),
                                        self.held, values)),
            "inside": Prepared(inside.bound(self.record, steps, system.nx,
                                            np.zeros(LOOKS, dtype=np.int64), np.zeros(LOOKS),
                                            np.zeros((LOOKS, len(self.x)))))}
