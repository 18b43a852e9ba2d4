"""From a consistent start to the end time, episode by episode, event by event.

Knows no component by name except to say which one chatters.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakMethod

import numpy as np

from ..exceptions import SimulationError
from ..language.python_calls import told_why
from ..numerics.blas_threads import threads_for
from ..numerics.tolerances import LEAST_ERROR, SAME_INSTANT
from ..solvers import Step
from ..solvers.base import is_singular
from ..system.failure import AlgebraicFailure
from ..system.finite_values import FiniteValues
from .actions import RunEnds
from .events import Opening
from .failures import refuse_standstill, refuse_undetermined, refuse_unstable, stop_at_failed_step
from .integration import Ending, Integration
from .interrupts import forget_interrupt, interruptible
from .running_method import RunningMethod
from .settings import Settings
from .tolerances import Tolerances

if TYPE_CHECKING:
    from .driven_steps import DrivenSteps

__all__ = ["Driver", "IslandsJoin"]

STANDSTILL = 1000  # episodes in a row that do not advance
ENDLESS = "its values grow beyond all numbers"
SINGULAR = "the equations that are solved together there do not determine their unknowns"


class IslandsJoin(Exception):  # noqa: N818
    """The run has to begin anew, with elements together that modes tie."""


class Driver:
    """Runs one problem and fills a recording.

    The ``opening`` is at a consistent start; ``tolerances`` are absolute ones of a problem's
    unknowns, for its present choice of states.
    """

    def __init__(self, opening: Opening, settings: Settings, tolerances: Tolerances) -> None:
        self.opening, self.settings, self.events = opening, settings, opening.events
        self.recording, self.problem = recording, problem = opening.recording, opening.problem
        crossings = opening.crossings
        if not settings.method.fixed_step:
            crossings.nothing = LEAST_ERROR * tolerances.of_states(problem)
        if problem.laws is not None:
            problem.laws.set_valued.state.allow_error(settings.rtol)
        self.running = RunningMethod(problem, settings, tolerances, opening.time_events, crossings,
                                     recording.statistics, self.events.rules)
        relief = WeakMethod(self.running.relieves)  # which holds the events itself
        self.events.log.relief = lambda t: bool((relieves := relief()) and relieves(t))
        self.integration = Integration(recording, self.running, self.events, crossings,
                                       opening.contacts)
        self._standing = 0  # episodes in a row without progress

    @np.errstate(invalid="ignore", over="ignore", divide="ignore")  # told as an error of the run
    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """Integrate to the end; the recording always holds what was computed."""
        started = clock.perf_counter()
        settings, recording, problem = self.settings, self.recording, self.problem
        self.integration.progress = progress
        t = settings.t_start
        try:
            rows = max(problem.system.nu, problem.algebraic)
            with interruptible(), self.failures(), threads_for(rows):
                self._begin()
                self._march(t)
        except KeyboardInterrupt:
            forget_interrupt()
            recording.status = "interrupted"
            recording.message = f"interrupted at t = {self._reached():.6g} s"
        finally:
            if not recording.episodes:
                self.integration.open(t, self.events.struck)
            if self.running.kind.steps_over_events:
                from ..nonsmooth.timestepping.reversals import forget_reversals

                forget_reversals(recording)
            recording.keeper.finish(recording)
            self.count()
            self.running.tell_events()
            recording.statistics["time integrating"] = clock.perf_counter() - started

    def count(self) -> None:
        """Tell the record what the run has cost so far."""
        self.recording.statistics.update(self.running.work)
        self.recording.statistics["events"] = len(self.recording.events)

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Whatever ends a run too early becomes an error that says when and why."""
        recording, problem = self.recording, self.problem
        with told_why():
            try:
                yield
            except AlgebraicFailure as failure:  # at an event
                problem.failure = failure
                self._stop(failure.t, str(failure))
            except SimulationError as error:
                if recording.status not in ("failed", "interrupted"):
                    recording.fail(str(error))
                raise
            except (RuntimeError, ValueError, OverflowError) as error:
                endless = isinstance(error, OverflowError)
                if not endless and not is_singular(error):
                    raise
                self._stop(self._reached(), ENDLESS if endless else SINGULAR, error)

    # -- step by step ------------------------------------------------------------------------
    @np.errstate(invalid="ignore", over="ignore", divide="ignore")
    def begin_steps(self, told: DrivenSteps | None = None) -> None:
        """Begin a run that goes on when it is told to."""
        self.running.rules = partial(self.events.rules, driven=True, told=told)
        self.running.driven = True
        with self.failures():
            self._begin()

    def _begin(self) -> None:
        """Decide what is decided at the start."""
        settings, problem = self.settings, self.problem
        if problem.delays is not None:
            problem.delays.start(settings.t_start, settings.t_end, settings.method.order,
                                 settings.rtol)
        self.opening.begin()
        problem.choose_states(settings.t_start)

    def _march(self, t: float) -> None:
        """Go from episode to episode until the end of the run."""
        try:
            while t < self.settings.t_end:
                if self.islands_join:
                    raise IslandsJoin
                self.integration.begin(t, self.events.take_struck())
                t = self.carry_out(t, self.integration.go_on())
        except RunEnds as ends:
            t = ends.time
            self.recording.status = f"until {ends.told}"
            self.recording.message = f"ended at t = {t:.6g} s, where {ends.told}"
        FiniteValues.of(self.recording.system).refuse_lost(self.recording)
        self.refuse_lasting()
        refuse_undetermined(self.recording, t)
        refuse_unstable(self.recording, self.running.kind.name, self.settings.step or 0.0, t)
        self.running.rest()

    def refuse_lasting(self) -> None:
        """Raise where the condition of a ``when`` lasts though it turned the motion back."""
        if (resets := self.events.switching.resets).active:
            from .lasting_conditions import refuse_lasting

            refuse_lasting(self.recording, resets, self.events.time_events.relations)

    @property
    def islands_join(self) -> bool:
        """Whether modes tie elements that the model was compiled apart for."""
        laws = self.problem.laws
        return laws is not None and laws.set_valued.islands_join

    def carry_out(self, before: float, ending: Ending) -> float:
        """Carry out the event that ends an episode begun at ``before``; the time reached."""
        if ending.changes is not None:
            self.events.tell_modes(ending.t, ending.changes)
        if ending.switched is not None:
            self.running.leave_event()
            which = self.events.switching.look_back(ending.t, ending.switched)
            if self.events.switch(ending.t, which):
                self.running.tread_carefully(ending.t, ending.reach)
        self._refuse_standstill(before, ending.t)
        return ending.t

    def _refuse_standstill(self, before: float, t: float) -> None:
        """Episode after episode without progress in time is our fault; do not go on for ever."""
        moved = t - before > SAME_INSTANT * (self.settings.t_end - self.settings.t_start)
        self._standing = 0 if moved else self._standing + 1
        if self._standing > STANDSTILL:
            refuse_standstill(self.recording, t, STANDSTILL,
                              (e.component for e in self.recording.events[-20:]))

    def _reached(self) -> float:
        episodes = self.recording.episodes
        return episodes[-1].end if episodes else self.settings.t_start

    def _stop(self, t: float, reason: str, cause: Exception | None = None) -> None:
        """Give the run up at the present point."""
        stop_at_failed_step(self.recording,
                            Step.failed(t, self.problem.solver_vector(), reason, cause=cause),
                            self.settings.t_start)
