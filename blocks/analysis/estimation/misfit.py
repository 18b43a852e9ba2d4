"""How far is a model from what was measured, and how does that change with its parameters?"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...exceptions import BlocksError, ParameterError, WrongDimension
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array
from ...results.lookup import find_one
from ...results.sensitivities import Sensitivities
from ...studies.settings import Setting, find_setting
from ...units import Unit, as_written, from_si, to_si, unit, unit_given
from ..sensitivity.sensitivities import FoundSensitivities, SensitivityWarning
from ..sensitivity.start_derivatives import given_values, moved_settings, start_derivatives, varied
from .data import Experiment, Sensor, sensors_of

__all__ = ["Misfit", "Unknown", "ends_of", "unknown_of"]

LOGARITHMIC = 10.0  # ratio of positive bounds from which a parameter is searched by its logarithm
FAILED = 1e12  # residual, in standard deviations, where a run fails


@dataclass(frozen=True)
class Unknown:
    """Something that is to be found: of the model, or an offset or delay of a sensor."""

    path: str  # for people
    setting: Setting | None  # of the model; None for those of sensors
    low: float  # in SI units, as the next two
    high: float
    guess: float
    shown: Unit  # the unit in which it was given

    @property
    def logarithmic(self) -> bool:
        return self.low > 0 and self.high / self.low >= LOGARITHMIC

    def searched(self, value: float) -> float:
        """What the search moves, from a value."""
        return float(np.log(value)) if self.logarithmic else value

    def value(self, searched: float) -> float:
        out = float(np.exp(searched)) if self.logarithmic else float(searched)
        return min(max(out, self.low), self.high)

    def slope(self, value: float) -> float:
        """Return the derivative of the value by what the search moves."""
        return value if self.logarithmic else 1.0


def ends_of(unknowns: Sequence[Unknown]) -> tuple[Array, Array]:
    """Between which a search moves."""
    low, high = np.array([[u.searched(u.low), u.searched(u.high)] for u in unknowns]).T
    return low, high


class Misfit:
    """Residuals of experiments in standard deviations of their noise, and their derivatives.

    The values of the model are changed for the time of a run; the others are as given to ``fit``.
    """

    def __init__(self, model: CompiledModel, experiments: Sequence[Experiment],
                 parameters: Mapping[str, Any], compare: Mapping[str, Any],
                 options: dict[str, Any]) -> None:
        self.model, self.experiments, self.options = model, experiments, options
        self.given = model, experiments, parameters, compare  # for one like this elsewhere
        self.sensors = sensors_of(experiments, compare)  # by experiment
        # sensors with the values of all experiments
        self.pooled = [replace(column[0], t=np.concatenate([s.t for s in column]),
                               values=np.concatenate([s.values for s in column]))
                       for column in zip(*self.sensors, strict=True)]
        settings = moved_settings(model, list(parameters), "fit(parameters=…)")
        self.unknowns = [unknown_of(s, given, "fit(parameters") for s, given in
                         zip(settings, parameters.values(), strict=True)]
        self.settings, self.count = settings, len(settings)
        self.names = list(compare)
        self.of_sensor: dict[tuple[str, str], int] = {}
        for sensor in self.pooled:
            for kind in ("offset", "delay"):
                bounds = getattr(sensor.measured, kind)
                if bounds is not None:
                    self.of_sensor[sensor.name, kind] = len(self.unknowns)
                    self.unknowns.append(_of_sensor(sensor, kind, bounds))
        self.noise = {s.name: self._noise(s) for s in self.pooled}
        self._last: tuple[Array, list[Any]] | None = None
        self.runs = 0

    def _noise(self, sensor: Sensor) -> float:
        """What is given, or a first guess: the spread of the values."""
        given = sensor.measured.noise
        if given is not None:
            where = f"noise of {sensor.name}"
            noise = to_si(given, sensor.shown, where)
            if np.ndim(noise):
                raise ParameterError(
                    where, f"is one standard deviation, but {np.size(noise)} were given.",
                    "Give that of most values, or columns of their own to values that are known "
                    "less well.")
            if not 0.0 < noise < np.inf:
                raise ParameterError(where, f"must be above 0, but is {given}.",
                                     "Left out, it is estimated.")
            return float(noise)
        return float(np.std(sensor.values)) or 1.0

    def values_of(self, searched: Array) -> Array:
        """The values of all unknowns, from what a search moves."""
        return np.array([u.value(s) for u, s in zip(self.unknowns, searched, strict=True)])

    # -- runs ------------------------------------------------------------------------------
    def _apply(self, values: Array, experiment: Experiment) -> None:
        """Give the model the values of an experiment, and those that are to be found."""
        for path, given in experiment.values.items():
            find_setting(self.model, path, (), "fit(data=…)").apply(given)
        for unknown, value in zip(self.unknowns[: self.count], values, strict=False):
            assert unknown.setting is not None
            unknown.setting.apply(from_si(value, unknown.setting.declared.unit))

    def _span(self, sensors: Sequence[Sensor]) -> tuple[float, float]:
        """When a run begins and ends, so that all that was measured is in it."""
        late = max([0.0, *(-self.unknowns[k].low for (_, kind), k in self.of_sensor.items()
                           if kind == "delay")])
        t = np.concatenate([s.t for s in sensors])
        return min(0.0, float(t.min())), float(t.max()) + late

    def results(self, values: Array) -> list[Any]:
        """A run of every experiment."""
        if self._last is not None and np.array_equal(self._last[0], values):
            return self._last[1]
        out = []
        for experiment, sensors in zip(self.experiments, self.sensors, strict=True):
            start, end = self._span(sensors)
            if not end > start:
                raise ParameterError("fit(data)", f"is of {start:g} s alone, where a run begins.",
                                     "Give rows of later times.", code="fit.time")
            with varied(self.model):
                self._apply(values, experiment)
                run = self.model.simulate(f"{end - start!r} s", start_time=f"{start!r} s",
                                          progress=False, **self.options)
            self.runs += 1
            out.append(run)
        self._last = values.copy(), out
        return out

    def _sensor_values(self, values: Array, name: str) -> tuple[float, float]:
        places = [self.of_sensor.get((name, kind)) for kind in ("offset", "delay")]
        offset, delay = (0.0 if k is None else float(values[k]) for k in places)
        return offset, delay

    def predicted(self, values: Array, run: Any, sensor: Sensor, times: Array | None = None
                  ) -> Array:
        """What a sensor would show."""
        offset, delay = self._sensor_values(values, sensor.name)
        info = find_one(run.recording.catalog, sensor.measured.variable, self.model.name)
        if info.unit.dimension != sensor.shown.dimension:
            raise WrongDimension(
                f"fit(compare={{{sensor.name!r}: …}})", f"is in "
                f"{sensor.shown.text or 'no unit'}, but {info.path} in "
                f"{info.unit.text or 'no unit'}.", "Compare it with a variable of its kind, or "
                "correct the heading.")  # fmt: skip
        t = np.maximum((sensor.t if times is None else times) - delay,
                       run.recording.episodes.starts[0])
        return np.asarray(run.recording.values([info.index], t)[0] + offset)

    # -- residuals -------------------------------------------------------------------------
    def plain(self, values: Array) -> list[list[Array]]:
        """Measured less predicted, by experiment and sensor, in SI units."""
        return [[s.values - self.predicted(values, run, s) for s in sensors]
                for run, sensors in zip(self.results(values), self.sensors, strict=True)]

    def residuals(self, values: Array) -> Array:
        """All residuals, in standard deviations; large where a run fails or is refused."""
        try:
            parts = self.plain(values)
        except BlocksError:
            return np.full(sum(len(s.t) for one in self.sensors for s in one), FAILED)
        return np.concatenate([r / self.noise[s.name] for one, sensors in
                               zip(parts, self.sensors, strict=True)
                               for r, s in zip(one, sensors, strict=True)])

    def jacobian(self, values: Array) -> Array:
        """Derivatives of the residuals by the values, (residuals, values)."""
        rows = []
        runs = self.results(values)
        for run, experiment, sensors in zip(runs, self.experiments, self.sensors, strict=True):
            with varied(self.model), warnings.catch_warnings():
                self._apply(values, experiment)
                warnings.simplefilter("ignore", SensitivityWarning)
                found = FoundSensitivities(run.recording, self.settings, start_derivatives(
                    self.model, self.settings, run.recording), "fit()", self.options["rtol"])
            rows += [self._rows(values, run, found, s) for s in sensors]
        return np.concatenate(rows)

    def _rows(self, values: Array, run: Any, found: Sensitivities, sensor: Sensor) -> Array:
        _, delay = self._sensor_values(values, sensor.name)
        info = find_one(run.recording.catalog, sensor.measured.variable, self.model.name)
        delayed = (sensor.name, "delay") in self.of_sensor
        start = run.recording.episodes.starts[0]
        by = found.values([info.index], np.maximum(sensor.t - delay, start), rates=delayed)[0]
        if delayed:
            by[-1] = np.where(sensor.t - delay < start, 0.0, by[-1])
        out = np.zeros((len(sensor.t), len(self.unknowns)))
        out[:, : self.count] = -by[: self.count].T
        for (name, kind), k in self.of_sensor.items():
            if name == sensor.name:
                out[:, k] = -1.0 if kind == "offset" else by[-1]
        return out / self.noise[sensor.name]


def unknown_of(setting: Setting, given: Any, where: str) -> Unknown:
    """What is to be found, from bounds and perhaps a guess."""
    where = f"{where}={{{setting.path!r}: …}})"
    if not (isinstance(given, (tuple, list)) and len(given) in (2, 3)):
        raise ParameterError(where, f"is {as_written(given)}.",
                             'Give bounds, ("100 N/m", "10 kN/m"), and a third value to start '
                             "from if you have one.", given=given)  # fmt: skip
    expected = setting.declared.unit
    low, high, *guess = (float(to_si(g, expected, where)) for g in given)
    finite = np.isfinite([low, high]).all()
    if not (finite and low < high):
        raise ParameterError(where, f"has the bounds {as_written(given[0])} and "
                             f"{as_written(given[1])}.", "Give the smaller one first." if finite
                             else "Give two numbers between which it is looked for.", given=given)
    for bound in given[:2]:
        setting.accept(bound)
    present = float(given_values([setting])[0])
    if guess and not low <= guess[0] <= high:
        raise ParameterError(where, f"starts from {as_written(given[2])}, which is out of its "
                             "bounds.", "Start within them.", given=given)
    if not guess:
        middle = np.sqrt(low * high) if low > 0 else (low + high) / 2
        guess = [present if low < present < high else float(middle)]
    return Unknown(setting.path, setting, low, high, guess[0], unit_given(given[0], where))


def _of_sensor(sensor: Sensor, kind: str, bounds: tuple[Any, Any]) -> Unknown:
    where, end = f"{kind} of {sensor.name}", float(sensor.t.max())
    expected = sensor.shown if kind == "offset" else unit("s")
    low, high = (float(to_si(b, expected, where)) for b in bounds)
    if not low < high:
        raise ParameterError(where, f"has the bounds {bounds[0]} and {bounds[1]}.",
                             "Give the smaller one first.")
    if kind == "delay" and low >= end - min(0.0, float(sensor.t.min())):
        raise ParameterError(where, f"is at least {bounds[0]}, but its data end at "
                             f"{end:.6g} s: the sensor shows nothing but the start.",
                             "Give data of a longer time, or a smaller delay.")
    guess = 0.0 if low < 0 < high else (low + high) / 2
    return Unknown(where, None, low, high, guess, expected)
