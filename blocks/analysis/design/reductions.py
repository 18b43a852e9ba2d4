"""One number of a run, and its derivatives: ``"max(spring.f)"``, ``"final(spring.x)"``, …"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array
from ...results import Result
from ...results.lookup import find_one
from ...results.recording import VariableInfo
from ...results.sensitivities import Sensitivities
from ...results.values.extremes import largest
from ...results.values.quadrature import integrals
from ...results.values.rows import Rows, smooth_intervals
from ...results.values.samples import OVER_TIME, reduction_of, unit_of_number
from ...simulation.catalog import Catalog
from ...units import Unit, quantity, to_si

__all__ = ["Reduction"]


@dataclass(frozen=True)
class Reduction:
    """A variable at one instant of a run, where it is largest or least, or over all of it."""

    text: str  # as it was written
    kind: str  # ``"max"``
    path: str  # ``"spring.f"``
    time: float = 0.0  # in s, of ``at``

    @classmethod
    def read(cls, text: Any, where: str) -> Reduction:
        """What a text asks for."""
        found = reduction_of(text, where) if isinstance(text, str) else None
        if found is None:
            raise ParameterError(where, f"is {text!r}.", "Write one number of a run: "
                                 "'max(spring.f)', 'final(spring.x)', 'at(spring.x, 1 s)'.",
                                 given=text)
        return cls(text, *found)

    def unit_in(self, model: CompiledModel) -> Unit:
        """The unit of the number."""
        info = find_one(Catalog.of(model.compile()), self.path, model.name)
        return unit_of_number(self.kind, info.unit)

    def info(self, run: Result) -> VariableInfo:
        """The variable in a run."""
        return find_one(run.recording.catalog, self.path, run.name)

    def instant(self, run: Result) -> tuple[float, str]:
        """When a run takes the value, and on which side of an event that may be then."""
        times = np.asarray(run.recording.times)
        if self.kind in ("initial", "final"):
            return float(times[0 if self.kind == "initial" else -1]), "right"
        if self.kind == "at":
            if not times[0] <= self.time <= times[-1]:
                raise ParameterError(
                    self.text, f"asks for {self.time:g} s, but the run goes from {times[0]:g} s to "
                    f"{times[-1]:g} s.", "Run for longer, or ask for an earlier time.")
            return self.time, "right"
        return self._extreme(run)

    def _extreme(self, run: Result) -> tuple[float, str]:
        rows = Rows(run.recording, [self.info(run).index], self.path)
        sign = 1 if self.kind == "max" else -1
        (time,) = largest(rows, sign)[1]
        before, after = (sign * rows.at(np.array(time), side, self.path)[0]
                         for side in ("left", "right"))
        return float(time), "left" if before > after else "right"

    def value(self, run: Result) -> float:
        """The number that a run gives, in SI units."""
        series, info = run[self.path], self.info(run)
        found = series.number(self.kind) if self.kind != "at" else series.at(
            quantity(self.instant(run)[0], "s"))
        return float(to_si(found, unit_of_number(self.kind, info.unit), self.text))

    def gradient(self, run: Result, by: Sensitivities) -> Array:
        """Derivatives of the number by the parameters, in SI units.

        Where a curve is largest within its course, the instant does not count; where it is at an
        event, the value goes with that. An integral grows by what is lost between the sides of an
        event, as that comes later.
        """
        if self.kind in OVER_TIME:
            return self._gradient_over_time(run, by)
        time, side = self.instant(run)
        found = by.values([self.info(run).index], np.array([time]), side, rates=True)[0, :, 0]
        events, moved = by.event_times
        same = np.flatnonzero(events == time)
        if self.kind in ("max", "min") and len(same):
            return np.asarray(found[:-1] + found[-1] * moved[same[0 if side == "left" else -1]])
        return np.asarray(found[:-1])

    def _gradient_over_time(self, run: Result, by: Sensitivities) -> Array:
        index, span = self.info(run).index, float(np.ptp(run.recording.knots))
        size = self.value(run) or 1.0  # of rms; where that is zero, so is every value
        squares = self.kind == "rms"

        def values(at: Array, side: str = "right") -> Array:
            return run.recording.values([index], at, side)[0]

        def derivatives(at: Array) -> Array:
            found = by.values([index], at)[0]
            return found * values(at) / size if squares else found

        starts, ends = smooth_intervals(run.recording.knots)
        total = integrals(derivatives, starts, ends)[0]
        times, moved = by.event_times
        times, first = np.unique(times, return_index=True)
        inside = (times > starts[0]) & (times < ends[-1])
        times, moved = times[inside], moved[first[inside]]
        before, after = (values(times, side) for side in ("left", "right"))
        lost = (before**2 - after**2) / (2 * size) if squares else before - after
        return np.asarray(total + lost @ moved) / (1.0 if self.kind == "integral" else span)
