"""From a consistent start to the end time, event by event.

Advances a method step by step, ends it at zero crossings, switches relations to a fixpoint,
applies state changes, steps onto known discontinuity times and records. Knows no component by
name except to say which one chatters.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..exceptions import SimulationError
from ..nonsmooth.timestepping.reversals import forget_reversals
from ..solvers import Method, Step, Trajectory, Work, method_named
from ..solvers.trouble import is_singular
from ..system.finite_values import FiniteValues
from ..system.system import AlgebraicFailure, Problem, System
from .event_log import EventLog
from .interrupts import interruptible
from .recording import Episode, RunRecording
from .switching import Switching
from .time_events import Requirements, Resets, Samples, Stops
from .zero_crossings import Crossings

__all__ = ["Driver", "Settings"]

HALVINGS = 50  # of a step in which tied states cannot be followed
FOLLOWS = 0.1  # part of its way by which a tied state may miss its prediction
SMALL = 1e-3  # of its nominal value: what it may miss anyway
GROWS = 1.5  # a step after contacts were closed, against the one before
STANDSTILL = 1000  # episodes in a row that do not advance
LOOK_FOR_STIFFNESS = 100  # steps between looks
AT_THE_LIMIT = 3.0  # step times fastest rate near the stability bound of an explicit method
WITH_LAWS = 2.0  # times that, where the implicit method is one-step, and costs more a step
LONG = 500  # steps after which it is asked how many are left
SOLVES = 30  # times the work of a step whose slopes need an algebraic solution
ENDLESS = "its values grow beyond all numbers"
SINGULAR = "the equations that are solved together there do not determine their unknowns"


@dataclass(frozen=True)
class Settings:
    """How a run is made; all in SI units."""

    t_start: float
    t_end: float
    method: type[Method]
    rtol: float
    atol: np.ndarray  # per scaled unknown, made for the present choice of states by `tolerances`
    max_step: float
    first_step: float | None
    step: float | None
    may_switch: bool = False  # to an implicit method, where the explicit one is held back


class Driver:
    """Runs one problem and fills a recording."""

    def __init__(self, system: System, problem: Problem, recording: RunRecording,
                 settings: Settings, tolerances: Callable[[Problem], np.ndarray],
                 progress: Callable[[float], None] | None = None) -> None:
        self.system, self.problem, self.recording = system, problem, recording
        self.settings, self.tolerances, self.progress = settings, tolerances, progress
        self.stops = Stops(system, problem.p, settings.t_start, settings.t_end)
        self.resets = Resets(system)
        self.requirements = Requirements(system)
        self.samples = Samples(system, self.stops)
        self.delays = problem.delays
        self.standing = 0
        self.steps = 0
        self.judged = 0  # steps at the last look for stiffness
        self.struck: tuple[tuple[int, int], ...] = ()
        self.watched = bool(system.nm or (problem.laws is not None and problem.laws.watched))
        self.work: dict[str, int] = {}
        self.crossings = Crossings(problem, self.stops)
        self.log = EventLog(recording, settings.t_end - settings.t_start)
        self.switching = Switching(problem, self.stops, self.resets, self.samples, self.crossings,
                                   self.log, settings.t_end)
        self.functions = self.stops.functions
        self.longest = settings.max_step  # as far as tied states can be followed
        self.pace = settings.first_step  # the step to go on with after contacts were closed
        self.method: Any = None  # of the present episode
        closed = problem.laws is not None and not problem.laws.recorded
        self.contacts: Any = _contacts(problem.laws.set_valued) if closed else None
        self.behind: Any = None  # these and their slopes at the end of the step

    # -- the loop ------------------------------------------------------------------------
    @np.errstate(invalid="ignore", over="ignore", divide="ignore")  # told as an error of the run
    def run(self) -> None:
        """Integrate to the end; the recording always holds what was computed."""
        started = clock.perf_counter()
        t = self.settings.t_start
        if self.delays is not None:
            self.delays.start(t, self.settings.t_end, self.settings.method.order,
                              self.settings.rtol)
        try:
            with interruptible():
                self._march(t)
        except AlgebraicFailure as failure:  # at an event
            self.problem.failure = failure
            self._fail(Step.failed(failure.t, self.problem.start_vector(), str(failure)))
        except SimulationError as error:
            if self.recording.status not in ("failed", "interrupted"):
                self.recording.status, self.recording.message = "failed", str(error)
            raise
        except KeyboardInterrupt:
            self.recording.status = "interrupted"
            self.recording.message = f"interrupted at t = {self._reached():.6g} s"
        except (RuntimeError, ValueError, OverflowError) as error:
            endless = isinstance(error, OverflowError)
            if not endless and not is_singular(error):
                raise
            t = self._reached()
            self._fail(Step.failed(t, self.problem.start_vector(), ENDLESS if endless else SINGULAR,
                                   cause=error))
        finally:
            if not self.recording.episodes:
                self._open(t)
            if self.settings.method.steps_over_events:
                forget_reversals(self.recording)
            self.recording.statistics.update(self.work)
            self.recording.statistics["events"] = len(self.recording.events)
            self.recording.statistics["time integrating"] = clock.perf_counter() - started

    def begin(self, t: float) -> None:
        """Bring relations and modes in line with the start; refuse a start that cannot be."""
        self.switching.begin(t)
        if self.problem.laws is not None:
            if self.contacts is not None:
                self.contacts.refuse_impossible(self.problem, t)
            self.problem.laws.start(self.problem, t)
            self.switching.begin(t)  # relations may look at the sticking efforts
        self._require(t)

    def _march(self, t: float) -> None:
        """From episode to episode."""
        self.begin(t)
        self.problem.choose_states(t)
        while t < self.settings.t_end:
            before, t = t, self._episode(t)
            self._refuse_standstill(before, t)
        FiniteValues.of(self.system).refuse_lost(self.recording)
        self._refuse_undetermined(t)

    def _refuse_undetermined(self, t: float) -> None:
        """A run whose last values are no numbers is not finished."""
        from ..diagnostics.start import undetermined

        found = undetermined(self.system, self.problem, t)
        if found is not None:
            paths, problem, advice = found
            self.recording.status, self.recording.message = "failed", problem
            raise SimulationError("", problem, advice, code="simulation.undetermined", time=t,
                                  variables=tuple(paths))

    def _refuse_standstill(self, before: float, t: float) -> None:
        """Episode after episode without progress in time is our fault; do not go on for ever."""
        moved = t - before > 1e-12 * (self.settings.t_end - self.settings.t_start)
        self.standing = 0 if moved else self.standing + 1
        if self.standing > STANDSTILL:
            self.recording.status, self.recording.message = "failed", "no progress in time"
            names = list(dict.fromkeys(e.component for e in self.recording.events[-20:]))
            raise SimulationError(
                "", f"the run makes no progress at t = {t:.12g} s: {STANDSTILL} events in a row "
                f"at one instant{', the last of ' + ', '.join(names) if names else ''}.",
                "A condition that switches the quantity it looks at needs a hysteresis.",
                time=t, variables=tuple(names),
            )  # fmt: skip

    def _reached(self) -> float:
        return self.recording.episodes[-1].end if self.recording.episodes else self.settings.t_start

    def _open(self, t: float, trajectory: Any = None) -> None:
        """Begin an episode, with the record of its steps."""
        problem = self.problem
        if self.delays is not None:
            self.delays.begin(problem, t)
        if trajectory is None:
            trajectory = Trajectory(t, problem.start_vector())
        self.recording.episodes.append(Episode(
            trajectory, problem.m.copy(), problem.d.copy(), problem.tied.copy(),
            problem.x.copy(), problem.z.copy(),
            None if problem.laws is None else problem.laws.modes.copy(), self.struck,
        ))  # fmt: skip
        self.struck = ()

    def _episode(self, t: float) -> float:
        """Integrate until the next event; returns the time reached."""
        s, problem = self.settings, self.problem
        y = reached = problem.start_vector()
        method = self.method = self._method_at(t, y)
        trajectory = method.course
        if trajectory is None:
            trajectory = Trajectory(t, y, order=method.order)
        self._open(t, trajectory)
        looks_itself = method.looks_itself
        self.pace = s.first_step
        self.longest = min(2 * self.longest, s.max_step)
        follows = bool(self.system.clusters) and not method.carries
        problem.anchor = self._tied(t) if follows else None
        stop = self.stops.after(t) if self.delays is None else min(
            self.stops.after(t), self.delays.after(t))
        method_steps_over = problem.laws is not None and method.steps_over_events
        modes: Any = problem.laws.modes.copy() if method_steps_over else None
        self.crossings.begin(t)
        try:
            while t < stop:
                step = method.advance(self._limit(t, stop))
                if step.failure:
                    self._fail(step)
                if method_steps_over:
                    self._keep(trajectory, step, step.t)
                    t, reached = step.t, step.y
                    turned = self._turned(t, step.y, stop)
                    if len(turned) or not np.array_equal(problem.laws.modes, modes):
                        self._enter(t, step.y)
                        self._note_modes(t, problem.laws.changes(modes))
                        if len(turned):
                            self._switch(t, turned)
                        return t
                    continue
                until = self._followed(step) if follows else step.t
                cut = until < step.t
                if cut:
                    step = replace(step, t=until, y=step.dense(until))
                found = None if step.crossed is None else (step.t, step.crossed)
                if self.watched and not step.clear and found is None:
                    if looks_itself and step.t_old > trajectory.start:
                        self.crossings.look_back(step)
                    found = self.crossings.first(step, self.functions.count(step.t_old, step.t)
                                                 if s.method.fixed_step else 0)
                if found is not None:
                    at, which = found
                    self._keep(trajectory, step, at)
                    if looks_itself and problem.laws is not None:
                        problem.laws.notice(method.largest[self.system.nm:])
                    self._enter(at, step.y if at == step.t else trajectory(at, side="left"))
                    self._switch(at, which)
                    return at
                if cut:
                    self.longest = until - step.t_old
                    self._keep(trajectory, step, until)
                    self._enter(until, step.y)
                    problem.choose_states(until)
                    return until
                if follows:
                    self.problem.anchor = self.behind
                self._keep(trajectory, step, step.t)
                t, reached = step.t, step.y
                if self.progress is not None:
                    self.progress(t)
                if t >= stop:
                    break  # what is known to happen now comes first
                if self.contacts is not None and self._has_drifted(step):
                    return t
                if method.unsure:  # it may be no method for what comes
                    self._enter(t, step.y)
                    problem.choose_states(t)
                    return t
                if self.system.clusters and self._worth_reselecting(t, step.y):
                    return t
                if self.settings.may_switch and (
                        self._has_become_stiff(step) or self._is_long(step)):
                    return t
        finally:
            self._count(method)
        self._enter(t, reached)
        if t < s.t_end:
            self._switch(t, self.stops.at(t))
        return t

    def _limit(self, t: float, stop: float) -> float:
        """How far the method may go before it is asked again."""
        if self.delays is not None:
            stop = min(stop, t + self.delays.shortest)
        if self.method.looks_itself:  # it looks at the pieces itself
            self.method.pieces = self.functions.around(t)
            return min(stop, self.functions.end)
        return stop if self.settings.method.fixed_step else min(stop, self.functions.limit(t))

    def _method_at(self, t: float, y: np.ndarray) -> Any:
        """The method for the next episode."""
        s, problem = self.settings, self.problem
        if problem.size == 0:
            return Quasistatic(problem, t, y, t_end=s.t_end, rtol=s.rtol, atol=np.zeros(0),
                               max_step=self.longest)
        kind = s.method
        if not kind.fits(problem, t):
            kind = method_named("DOP853")
            self.work["stretches in Python"] = self.work.get("stretches in Python", 0) + 1
        if type(self.method) is kind and kind.looks_itself and np.array_equal(
                self.method.free, problem.free):  # made to be started again
            self.method.first_step, self.method.max_step = self.pace, self.longest
            self.method.work = Work()
            self._watch(self.method)
            self.method.restart(t, y)
            return self.method
        method: Any = kind(
            problem, t, y, t_end=s.t_end, rtol=s.rtol, atol=self.tolerances(problem),
            first_step=self.pace, max_step=self.longest, step=s.step,
        )  # fmt: skip
        if kind.looks_itself:
            self._watch(method)
        return method

    def _watch(self, method: Any) -> None:
        method.watch(self.stops.timed & ~self.stops.curved, self.stops.curved,
                     self.crossings.slack)

    def _turned(self, t: float, y: np.ndarray, stop: float) -> np.ndarray:
        """Relations that no longer hold at the end of a step, known instants apart."""
        if not self.system.nm or t >= stop:
            return np.zeros(0, dtype=int)
        g = self.problem.crossings(t, y)
        wrong = np.where(self.problem.m > 0.5, g, -g) < 0
        return np.flatnonzero(wrong & ~self.stops.timed)

    def _has_become_stiff(self, step: Step) -> bool:
        """Whether stability, not accuracy, limits the explicit method: take an implicit one."""
        self.steps += 1
        many = self.method.many  # steps that cost next to nothing
        taken = self.work.get("steps", 0) + self.method.work.steps
        if taken - self.judged < LOOK_FOR_STIFFNESS:
            return False
        self.judged = taken
        if self.problem.bulky:
            return False
        left = (self.settings.t_end - step.t) / max(step.t - step.t_old, 1e-300)
        if left < (5 * LOOK_FOR_STIFFNESS if many is None else many(self.problem.size)):
            return False
        rate = self.problem.fastest_rate(step.t, step.y)
        limit = AT_THE_LIMIT if self.problem.laws is None else WITH_LAWS * AT_THE_LIMIT
        if rate * (step.t - step.t_old) < limit:
            return False
        name = "Radau" if self.problem.laws is not None else "cvode"
        self.settings = replace(self.settings, method=method_named(name), may_switch=False)
        self.recording.statistics.update({
            "method": f"{self.recording.statistics['method']}, then {name}",
            "why": f"it became stiff at t = {step.t:.4g} s (fastest rate {rate:.3g} 1/s)",
        })  # fmt: skip
        return True

    def _keep(self, trajectory: Trajectory, step: Step, until: float) -> None:
        trajectory.append(step, until=until)
        if self.delays is not None:
            self.delays.keep(self.problem, step, until)

    def _is_long(self, step: Step) -> bool:
        """Whether so many steps are left that machine code is worth loading."""
        problem = self.problem
        weight = SOLVES if problem.algebraic else 1
        if self.steps != LONG // weight or self.settings.method.many:
            return False
        from .. import native

        left = (self.settings.t_end - step.t) / max(step.t - step.t_old, 1e-300)
        if native.why_not(self.system, problem.laws) or not native.pays_off(
                weight * left, problem.size, self.settings.rtol) or native.unwritable(problem):
            return False
        self.settings = replace(self.settings, method=native.compiled_method())
        self.recording.statistics.update({
            "method": f"{self.recording.statistics['method']}, then dopri5",
            "why": f"in machine code, as about {left:.2g} steps were left after {self.steps}",
        })
        return True

    def _count(self, method: Any) -> None:
        for name in ("steps", "rejected", "residuals", "jacobians", "factorizations"):
            self.work[name] = self.work.get(name, 0) + getattr(method.work, name)

    def _enter(self, t: float, y: np.ndarray) -> None:
        """Make the problem's point the given one."""
        self.problem.solve(t, np.asarray(y))

    def _worth_reselecting(self, t: float, y: np.ndarray) -> bool:
        self._enter(t, y)
        return self.problem.choose_states(t)

    def _has_drifted(self, step: Step) -> bool:
        """Whether closed contacts had to be closed anew at the end of a step."""
        self._enter(step.t, step.y)
        if not self.contacts.close(self.problem, step.t):
            return False
        self.problem.choose_states(step.t)
        self.pace = min(GROWS * (step.t - step.t_old), self.settings.t_end - step.t) or None
        return True

    def _tied(self, t: float) -> Any:
        """Time, states that constraints determine at the present point, and their slopes."""
        tied, problem = self.problem.tied, self.problem
        return t, problem.x[tied].copy(), self.system.slope(*problem._arguments(t))[tied]

    def _followed(self, step: Step) -> float:
        """How far into a step tied states can be followed without taking another branch for theirs.

        No error estimate watches them: where all motion is prescribed (a driven linkage),
        the states that are integrated allow any step.
        """
        _, x, slope = self.problem.anchor
        t = step.t
        for _ in range(HALVINGS):
            h = t - step.t_old
            self._enter(t, step.dense(t))
            self.behind = self._tied(t)
            _, found, later = self.behind
            missed = np.abs(found - x - h * (slope + later) / 2)
            way = h * (np.abs(slope) + np.abs(later)) / 2
            if np.all(missed <= FOLLOWS * way + SMALL * self.problem.scale_x[self.problem.tied]):
                break
            t = step.t_old + h / 2
        return t

    def _fail(self, step: Step) -> None:
        problem, system = self.problem, self.system
        names: list[str] = [problem.name_of(i) for i in step.worst[:3]]
        reason = step.failure
        if problem.failure is not None:
            names = list(problem.failure.worst)
            reason = str(problem.failure)
        if not names:
            names = self._suspects(step)
        self.recording.status = "failed"
        self.recording.message = reason
        from ..diagnostics.breakdown import breakdown

        broken = None if problem.failure is not None else breakdown(
            system, problem, step.t, step.y, self.settings.t_start)
        owners = ", ".join(dict.fromkeys(n.rpartition(".")[0].removeprefix("der(") for n in names))
        advice = ("Look for a value that grows without bound there; a smaller max_step, a looser "
                  "rtol or nominal values that fit may help.")
        if broken is not None:
            advice = (f"There  {broken[1]}  has no finite value: look for a division by zero, or a "
                      "root or logarithm of a negative number.")
        raise SimulationError(
            broken[0] if broken else "",
            f"the run stopped at t = {step.t:.9g} s: {reason.rstrip('.')}. "
            f"Unsolved: {', '.join(names)} (of {owners}).",
            f"{advice} Everything before is in error.result.",
            time=step.t, variables=tuple(names), system=system.network.root._name,
        ) from step.cause  # fmt: skip

    def _suspects(self, step: Step) -> list[str]:
        slope = np.abs(self.problem.slope(step.t, step.y))
        order = np.argsort(-np.nan_to_num(slope, nan=np.inf, posinf=np.inf))
        return [self.problem.name_of(int(i)) for i in order[:3]]

    # -- events --------------------------------------------------------------------------
    def _switch(self, t: float, which: np.ndarray) -> None:
        """What happens at an event: relations first, then what sticks and touches."""
        problem = self.problem
        if self.delays is not None:
            self.delays.select(t)
        nm = self.system.nm
        self.switching.flip(t, which[which < nm])
        if problem.laws is not None:
            self._note_modes(t, problem.laws.decide(problem, t, which[which >= nm] - nm))
        self._require(t)
        problem.failure = None
        problem.choose_states(t)

    def _require(self, t: float) -> None:
        try:
            self.requirements.check(self.problem, t)
        except SimulationError as error:
            self.recording.status, self.recording.message = "failed", str(error)
            if not self.recording.episodes:
                self._open(t)
            raise

    def _note_modes(self, t: float, changes: list[Any]) -> None:
        laws = self.problem.laws
        self.struck = tuple(laws.owners[c.element] for c in changes if c.impact)
        for change in changes:
            told = self.recording.catalog.elements.told(change.element, change.before, change.after)
            self.log.remember(t, laws.name(change.element), laws.words(change), not self.struck,
                              **told)
        self.log.refuse_chatter(t)

def _contacts(laws: Any) -> Any:
    from ..nonsmooth.modes.drift_correction import Contacts

    return Contacts(laws)


class Quasistatic(Method):
    """A model without states: walks through time in equal parts."""

    name, order = "quasistatic", 1
    problem: Any  # the system's own

    def __init__(self, problem: Any, t: float, y: np.ndarray, **options: Any) -> None:
        super().__init__(problem, t, y, **options)
        self.h = min(self.max_step, (self.t_end - t) / 200) or np.inf

    def restart(self, t: float, y: np.ndarray) -> None:
        self.t, self.y = t, y

    def advance(self, t_stop: float) -> Step:
        old, self.t = self.t, t_stop if self.t + 1.5 * self.h >= t_stop else self.t + self.h
        self.work.steps += 1
        try:
            self.problem.solve(self.t, self.y)
        except AlgebraicFailure as failure:
            self.problem.failure = failure
            return Step.failed(old, self.y, str(failure))
        return Step(old, self.t, self.y, lambda t: np.zeros((0, *np.shape(t))))
