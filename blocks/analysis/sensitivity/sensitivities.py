"""How do the variables of a run change with its parameters?

Forward sensitivities of a finished run: linear equations along its course, exact derivatives, and
at events the saltation that counts their moving instants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import ModelError, ParameterError, brief, warn_user
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array, Indices
from ...results import Result
from ...results.sensitivities import Sensitivities
from ...simulation.next_branch import GOES_ON
from ...simulation.recording import RunRecording
from ...simulation.run import run
from ...simulation.settings import HANDED_ON, Options, options_named, refuse_unknown_options
from ...studies.settings import Setting
from ...system.points import Points
from .equations import Derivatives, SensitivityEquations
from .events import Saltation
from .instants import relations_of_end
from .saltation import Changes
from .stages import Coefficients, Entries, Steps
from .start_derivatives import StartDerivatives, moved_settings, start_derivatives
from .variational import VariationalSolution, solve_variational

__all__ = ["FoundSensitivities", "SensitivityWarning", "refuse_no_count",
           "refuse_other_options", "run_with_sensitivities"]

WHERE = "simulate(sensitivities=…)"
AT_ONCE = 2e7  # entries of matrices with all their zeros


class SensitivityWarning(UserWarning):
    """A run whose derivatives do not exist somewhere, or are those of one side."""


def refuse_other_options(options: Mapping[str, Any], function: Callable[..., Any],
                         handed_on: Iterable[str] = HANDED_ON) -> None:
    """Refuse options that neither a function takes nor the runs that it makes."""
    refuse_unknown_options(options, [*options_named(function), *handed_on],
                           f"{function.__name__}(…, {{0}})")


def refuse_no_count(given: object, function: str, name: str, least: int) -> None:
    """Refuse what is no number of things, or too small a one."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
        raise ParameterError(f"{function}({name}=…)", f"is {brief(given)}, but takes a whole number"
                             f" of {name}, {least} or more.", f"Write {name}=4.", given=given)


def run_with_sensitivities(model: CompiledModel, duration: Any, options: Options,
                           paths: Sequence[str], where: str = WHERE) -> Result:
    """Run a model, and differentiate the run."""
    settings = moved_settings(model, paths, where)
    if options.record is not None:
        raise ParameterError(where, "needs all steps of the run, but record=… keeps some variables "
                             "only.", "Leave out record=….")
    result = run(model, duration, options)
    recording: Any = result.recording
    for event in result.events:
        if event.description.endswith(GOES_ON):
            raise ModelError(
                event.component, f"at t = {event.time:.9g} s its {event.description}: how the "
                "instant moves at which a solution ends is not known.", "Ask for a run that ends "
                "before, or give the nodes there a small mass or capacitance.",
                code="sensitivities.fold", time=float(event.time))
    start = start_derivatives(model, settings, recording)
    result.sensitivities = found = FoundSensitivities(recording, settings, start, where,
                                                 options.rtol)
    if found.notes:
        warn_user("Sensitivities: " + " ".join(found.notes[:3]), SensitivityWarning)
    return result


class FoundSensitivities(Sensitivities):
    """Sensitivities along the course of a run, through its events.

    ``start`` says how the start follows the settings; derivatives are found to the run's ``rtol``
    between its events.
    """

    def __init__(self, recording: RunRecording, settings: Sequence[Setting],
                 start: StartDerivatives, where: str = WHERE, rtol: float = 0.0) -> None:
        super().__init__(recording, settings, where)
        entries = np.flatnonzero(np.any(start.p != 0, axis=1))
        self._dp = start.p[entries]
        self._equations = SensitivityEquations.of(recording.problem, entries, where)
        self._saltation = Saltation(recording, self._equations, self._dp, self.parameters)
        self._constraints = Constraints(self._saltation) if recording.system.clusters else None
        self._kinks = start.kinks
        changes = self._saltation.at_start(start)
        start = replace(start, x=changes.x, d=changes.d)
        self._course = self._solved(start, rtol)

    @cached_property
    def event_times(self) -> tuple[Array, Array]:
        times, moved = self._saltation.times, self._saltation.moved
        relations = relations_of_end(self._recording.system)
        if not len(relations) or not self._recording.status.startswith("until"):
            return times, moved
        t, which = self._saltation.ends[-1:], np.array([len(times)])
        points, x, d = self._points(t, which), self._course.at(t, which), self._course.discrete[-1]
        if self._constraints:
            x = self._constraints.all(points, which, x, d[None])
        guards = self._equations.rows("crossings", self._recording.system.tape.crossings, points)
        rates = guards.in_time(points.values(self._recording.system.slope).T)[0]
        first = relations[np.argmin(np.abs(guards.value[0] / rates)[relations])]
        change = guards.along(0, x[0], self._dp, d)[first]
        return np.append(times, t), np.vstack([moved, -change / rates[first]])

    # -- looking ---------------------------------------------------------------------------
    @cached_property
    def notes(self) -> list[str]:
        self._saltation.check_between(self._guards)
        lost = np.asarray(~np.isfinite(self._course.end).all(axis=0))
        told = [f"By {path} derivatives become infinite, as that of a square root does at zero or "
                "where the start decides otherwise on either side: none is known from there on."
                for path, one in zip(self.parameters, lost, strict=True) if one]
        told += [f"The start decides otherwise with a little more or less of {path}: derivatives "
                 "hold for one side only." for path in self._kinks
                 if not lost[self.parameters.index(path)]]
        return [*told, *dict.fromkeys(self._saltation.notes + self._saltation.jumps.notes)]

    def values(self, indices: Sequence[int], times: Array, side: str = "right",
               rates: bool = False) -> Array:
        recording = self._recording
        order = np.argsort(times, kind="stable")
        t = np.asarray(times, dtype=float)[order]
        which = recording._episode_numbers(t, side)
        points = self._points(t, which)
        derivatives = self._equations.rows(f"outputs {tuple(indices)}",
                                           recording.functions.expression(tuple(indices)), points)
        x, d = self._course.at(t, which), self._course.discrete[which]
        if self._constraints:
            x = self._constraints.all(points, which, x, d)
        out = (np.einsum("tij,tjp->ipt", derivatives.x, x)
               + np.einsum("tij,tjp->ipt", derivatives.d, d)
               + np.einsum("tij,jp->ipt", derivatives.p, self._dp))
        if rates:
            slope = points.values(self._recording.system.slope)
            rate = np.einsum("tij,jt->it", derivatives.x, slope) + derivatives.t.T
            out = np.concatenate([out, rate[:, None, :]], axis=1)
        back = np.empty_like(out)
        back[:, :, order] = out
        return back

    def _points(self, t: Array, which: Indices) -> Points:
        return self._recording.replay.whole(self._within(t, which), which)

    def _within(self, t: Array, which: Indices) -> Array:
        """Times in their episodes, but for rounding."""
        episodes = self._saltation
        return np.clip(t, episodes.starts[which], episodes.ends[which])

    # -- solving ---------------------------------------------------------------------------
    def _solved(self, start: StartDerivatives, rtol: float) -> VariationalSolution:
        """The linear equations of all steps, solved for a run of any method."""
        episodes = self._recording.episodes
        x = self._constraints.free(0, start.x) if self._constraints else start.x

        def course_of(steps: Steps) -> VariationalSolution:
            return VariationalSolution(steps, len(episodes), x, start.d, self._over)

        table = episodes.steps
        return solve_variational(table.starts, table.ends, table.which, self._coefficients,
                                 course_of, rtol, self._whole_changes())

    def _whole_changes(self) -> Array:
        """Changes by as much as a state is, for one by as much as a parameter is."""
        p = np.abs(self._recording.p[self._equations.entries])[:, None]
        sizes = np.divide(p, np.abs(self._dp), out=np.zeros_like(self._dp), where=self._dp != 0)
        sizes = sizes.max(axis=0, initial=0.0)
        each = np.divide(1.0, sizes, out=np.full_like(sizes, np.inf), where=sizes > 0)
        whole = np.asarray(self._recording.problem.scale_x)[:, None] * each
        return self._constraints.free(0, whole) if self._constraints else whole

    def _coefficients(self, t: Array, which: Indices) -> Coefficients:
        count = max(1, int(AT_ONCE / (1 + self._recording.system.nx) ** 2))
        parts = [slice(k, k + count) for k in range(0, max(1, len(t)), count)]
        return Coefficients.joined([self._some_coefficients(t[k], which[k]) for k in parts])

    def _some_coefficients(self, t: Array, which: Indices) -> Coefficients:
        points = self._points(t, which)
        slopes = self._equations.slopes(points)
        if self._constraints:
            return self._constraints.coefficients(points, which, slopes)
        return Coefficients(Entries.of(slopes.x), slopes.p @ self._dp, slopes.d.copy())

    def _guards(self, t: Array, which: Indices) -> Array:
        """What says when an event happens, (guards, points)."""
        return self._equations.guard_values(self._points(t, which))

    def _over(self, event: int, x: Array, d: Array) -> tuple[Array, Array]:
        tied = self._constraints
        if tied:
            x = tied.before(event, x, d)
        after = self._saltation.apply(event, Changes(x, d))
        return tied.free(event + 1, after.x) if tied else after.x, after.d


class TiedStates(NamedTuple):
    """Changes of tied states at points by those of free states, parameters, discrete values."""

    free: Array
    p: Array
    d: Array


class Constraints:
    """Goes from all states of a run to the free ones, and back."""

    def __init__(self, saltation: Saltation) -> None:
        self._saltation, self._dp = saltation, saltation.dp
        self._equations: SensitivityEquations = saltation.equations
        nx = saltation.system.nx
        self._tied: Indices = np.array([e.tied for e in saltation.recording.episodes])
        self._free: Indices = np.array([np.delete(np.arange(nx), tied) for tied in self._tied])

    def free(self, episode: int, x: Array) -> Array:
        """Return the changes of the states that are integrated in an episode."""
        return x[self._free[episode]]

    def coefficients(self, points: Points, which: Indices, slopes: Derivatives) -> Coefficients:
        """What the changes of free states obey."""
        tied, free = self._through(points, which), self._free[which]
        x, p, d = (np.take_along_axis(one, free[:, :, None], axis=1)
                   for one in (slopes.x, slopes.p, slopes.d))
        by_free, by_tied = (np.take_along_axis(x, of[which][:, None, :], axis=2)
                            for of in (self._free, self._tied))
        return Coefficients(Entries.of(by_free + by_tied @ tied.free),
                            (p + by_tied @ tied.p) @ self._dp, d + by_tied @ tied.d)

    def all(self, points: Points, which: Indices, free: Array, d: Array) -> Array:
        """Changes of all states at points by those of the free ones, (points, states, …)."""
        return self._all(self._through(points, which), which, free, d)

    def before(self, event: int, free: Array, d: Array) -> Array:
        """Return the changes of all states just before an event, from those of the free ones."""
        at = TiedStates(*(one[[event]] for one in self._before))
        return self._all(at, np.array([event]), free[None], d[None])[0]

    @cached_property
    def _before(self) -> TiedStates:
        """How tied states follow just before every event."""
        events = np.arange(len(self._saltation.times))
        return self._through(self._saltation.jumps.before(*events), events)

    def _all(self, tied: TiedStates, which: Indices, free: Array, d: Array) -> Array:
        out = np.empty((len(free), self._saltation.system.nx, free.shape[2]))
        np.put_along_axis(out, self._free[which][:, :, None], free, axis=1)
        np.put_along_axis(out, self._tied[which][:, :, None],
                          tied.free @ free + tied.p @ self._dp + tied.d @ d, axis=1)
        return out

    def _through(self, points: Points, which: Indices) -> TiedStates:
        """How tied states follow others, by the implicit function theorem."""
        system = self._saltation.system
        by = self._equations.rows("constraints", system.tape.constraints, points)
        of_tied, of_free = (np.take_along_axis(by.x, of[which][:, None, :], axis=2)
                            for of in (self._tied, self._free))
        right = np.concatenate([of_free, by.p, by.d], axis=2)
        cuts = np.cumsum([of_free.shape[2], by.p.shape[2]])
        return TiedStates(*np.split(-np.linalg.solve(of_tied, right), cuts, axis=2))
