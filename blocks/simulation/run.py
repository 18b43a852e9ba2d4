"""From what a user asks of a run to its result: options, start, method, driver."""

from __future__ import annotations

import logging
import time as clock
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics import check_model
from ..exceptions import Interrupted, ParameterError, SimulationError
from ..initialisation.initial_values import warn_of_compromises
from ..language.python_calls import told_why
from ..numerics.arrays import python_number
from ..numerics.tolerances import CLOSES_AT_BEST
from ..solvers import Method
from ..units import SECOND, to_si
from .auto import begins_with
from .driver import Driver, IslandsJoin
from .given_values import GivenValues
from .interrupts import forget_interrupt, interruptible
from .method_choice import chosen_method, refuse_fixed_steps, refuse_full_jacobian, running_method
from .progress import Progress
from .run_start import Decided, RunStart
from .settings import Options, Settings, end_of_run, positive_time, record_options, sample_times
from .tolerances import Tolerances

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel
    from ..results import Result

__all__ = ["PreparedRun", "prepared", "run"]

LOG = logging.getLogger("blocks.simulation")
LEDGER = 100.0  # relative tolerances that the residual of an energy balance may have
COARSE = 0.05  # the same in all for a fixed step, which has no tolerance


@dataclass
class PreparedRun:
    """A run that has been checked and has its start and its method, and has not begun."""

    driver: Driver
    progress: bool | None
    #: The same run of the model compiled with parts joined.
    anew: Callable[[], PreparedRun] | None = None
    #: Held while that is compiled.
    lock: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def result(self) -> Result:
        """Integrate; the ``result`` of a SimulationError holds everything before."""
        from ..results.result import Result

        driver, settings = self.driver, self.driver.settings
        recording, counts = driver.recording, driver.recording.statistics
        LOG.debug("%s: from %g s to %g s by %s (%s)", recording.name, settings.t_start,
                  settings.t_end, counts["method"], counts["why"])
        try:
            with Progress(self.progress, settings.t_start, settings.t_end) as progress:
                driver.run(progress)
        except SimulationError as error:
            LOG.info("%s: %s", recording.name, error)
            error.data["result"] = Result(recording)
            raise
        except IslandsJoin:
            assert self.anew is not None  # whoever prepares a run says so
            with self.lock:
                again = self.anew()
            return again.result()
        LOG.info("%s: %s, %d steps of %s and %d events in %.3g s", recording.name,
                 recording.message or recording.status, counts.get("steps", 0), counts["method"],
                 counts["events"], counts["time integrating"])
        return Result(recording)


def run(model: CompiledModel, duration: object, options: Options) -> Result:
    """Run a model.

    Raises ModelError for mistakes found before integration, SimulationError for a run that failed
    and, after Ctrl-C, Interrupted, so that a loop of runs ends as well; ``result`` of these two
    holds everything before.
    """
    result = ready = None
    try:
        with interruptible():
            ready = prepared(model, duration, options)
            result = ready.result()
    except KeyboardInterrupt:
        forget_interrupt()
        if result is None and ready is not None and ready.driver.recording.episodes:
            from ..results.result import Result

            result = Result(ready.driver.recording)
        raise Interrupted(result) from None
    if result.status == "interrupted":
        raise Interrupted(result)
    return result


@told_why()
def prepared(model: CompiledModel, duration: object, options: Options) -> PreparedRun:
    """All that comes before the first step of a run.

    Raises ModelError for mistakes found before integration.
    """
    options = Options._make(map(python_number, options))

    def anew() -> PreparedRun:
        from ..nonsmooth.modes.mode_equations import JOINED

        model.compiled.anew(JOINED)
        return _prepared(model, duration, options)

    ready = _prepared(model, duration, options)
    ready.anew = anew
    return anew() if ready.driver.islands_join else ready


def _prepared(model: CompiledModel, duration: object, options: Options) -> PreparedRun:
    began = clock.perf_counter()
    asked: Hashable = (duration, options)
    try:
        hash(asked)
    except TypeError:  # the next one cannot be told to be asked the same
        asked = None
    known = None if asked is None else RunStart.known(model, asked)
    if known is not None:
        known[0].driven = options.driven
        return _begun(*known, options, began, clock.perf_counter())
    t0 = float(to_si(options.start_time, SECOND, "simulate(start_time=…)"))
    t1 = end_of_run(t0, positive_time(duration, "duration"))

    def start_of(laws: Any = None) -> RunStart:
        made = RunStart(model, t0, t1, laws, options.initial)
        made.driven = options.driven
        return made

    starting = start_of()
    given = GivenValues(model, duration, options)
    with suppress(SimulationError):  # the run says it again, and has a result
        own = t0 == 0 and options.initial is None
        check_model(model, starting if own else RunStart(model)).raise_errors()
    system = model.compile()
    checked = clock.perf_counter()
    chosen, why = chosen_method(options.method, options.step)
    if chosen is not None and chosen.fixed_step and options.step is None:
        raise ParameterError("simulate(step=…)", f"method {chosen.name!r} takes fixed steps.",
                             "Give the step, such as step='1 ms'.")
    if chosen is not None and chosen.laws_of is not None:
        starting = start_of(chosen.laws_of)
    problem = starting.problem()
    tolerances = Tolerances(system, options.rtol, options.atol)
    if options.method == "auto":
        problem = starting.moving_off()  # samples and relations decide how fast it is
    if chosen is None:
        chosen, why = begins_with(problem, t0, t1, options.rtol)
    refuse_fixed_steps(chosen, problem)
    refuse_full_jacobian(running_method(chosen, problem, options.rtol)[0], problem)
    decided = Decided(_settings(options, t0, t1, chosen), why, tolerances, given,
                      model.compiled.findings or ())
    if asked is not None:
        starting.keep(asked, decided)
    starting.forget_trials()
    return _begun(starting, decided, options, began, checked)


def _begun(starting: RunStart, decided: Decided, options: Options, began: float, checked: float
           ) -> PreparedRun:
    """A run that is ready to go, at its start."""
    problem, start = starting.consistent()
    system, settings, tolerances = problem.system, decided.settings, decided.tolerances
    problem.choose_states(settings.t_start)  # how many are integrated says which method can
    if options.initial is None:
        warn_of_compromises(start)
    opening = starting.opening()
    initialised = clock.perf_counter()
    recording, chosen = opening.recording, settings.method
    recording.samples = sample_times(options.every, options.times, settings.t_start, settings.t_end)
    recording.energy_tolerance = COARSE if chosen.fixed_step else max(
        LEDGER * options.rtol, CLOSES_AT_BEST)
    recording.statistics.update({
        "method": chosen.name, "why": decided.why, "states": system.nx,
        "algebraic unknowns": system.nz, "time compiling": system.seconds,
        "time checking": checked - began, "time initialising": initialised - checked,
    })  # fmt: skip
    recording.start, recording.given, recording.findings = start, decided.given, decided.findings
    if not chosen.fixed_step:
        recording.accuracy = options.rtol, tolerances
    kept = record_options(options)
    if kept is not None:
        recording.keep_only(kept, options.rtol)
    return PreparedRun(Driver(opening, settings, tolerances), options.progress)


def _settings(options: Options, t0: float, t1: float, chosen: type[Method]) -> Settings:
    def time(name: str) -> float | None:
        value = getattr(options, name)
        return None if value is None else positive_time(value, name)

    longest = time("max_step")
    return Settings(
        t0, t1, chosen, options.rtol, np.inf if longest is None else longest,
        time("first_step"), time("step"), options.method == "auto",
    )  # fmt: skip
