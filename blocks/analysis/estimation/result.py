"""What does a fit say? Values, intervals, what cannot be told apart, residuals per sensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...results.plots.figures import Figure, bare_figure, finished_figure
from ...results.sheet import DataFrame, Sheet, Tabulated, pandas
from ...units import Quantity, from_si
from .misfit import Misfit

__all__ = ["Fit"]

POINTS = 1000  # of the predicted curve
OPEN = 1.0  # standard error, in sizes of the parameters, from which a combination is not told
SMALL = 0.02  # part of a combination that is not mentioned
AT_BOUND = 1e-6  # of the distance of the bounds
ENOUGH = 30  # residuals, from which their history is looked at
RELATED = 0.7  # correlation of one with the next, from which they are no noise
EXACT = 1e-5  # of what was measured: rounding and errors of the run are no noise, either
APART = 6.0  # standard deviations between what two experiments ask for alone
ROUNDING = 1e-10  # singular values below this part of the largest are zero


class Fit(Tabulated):
    """Parameters found, how sure they are, and what is left of the data.

    Attributes
    ----------
    status : ``"finished"`` or ``"interrupted"``
    names : of what was found: paths, and offsets and delays of sensors
    notes : what the data cannot tell, and what stands at a bound
    runs : how many runs it took
    """

    def __init__(self, misfit: Misfit, values: Array, weights: Array, status: str,
                 notes: Sequence[str] = ()) -> None:
        self._misfit, self._values, self.status = misfit, values, status
        self.names = [u.path for u in misfit.unknowns]
        self._residuals = misfit.residuals(values)
        self._plain = misfit.plain(values)
        self._runs = misfit.results(values)
        root = np.sqrt(weights)[:, None]
        self._jacobian = misfit.jacobian(values) * root
        self._weighted = self._residuals * root[:, 0]
        self.runs = misfit.runs
        absent = [f"Experiment {k + 1} has no values of {sensor.name}, which is compared in others."
                  for k, sensors in enumerate(misfit.sensors) for sensor in sensors
                  if not len(sensor.t)]
        self.notes = [*notes, *absent, *self._identifiability(), *self._bounds(),
                      *self._history(), *self._disagreement()]

    # -- numbers ---------------------------------------------------------------------------
    @property
    def values(self) -> dict[str, Quantity]:
        """What was found, in the units of the bounds."""
        return {u.path: from_si(v, u.shown) for u, v in
                zip(self._misfit.unknowns, self._values, strict=True)}

    @property
    def degrees_of_freedom(self) -> int:
        """Measured values less parameters."""
        return max(len(self._residuals) - len(self._values), 0)

    @property
    def reduced_chi_square(self) -> float:
        """Mean square of the residuals in standard deviations; about 1 for noise as given.

        nan where there are no more values than parameters.
        """
        free = self.degrees_of_freedom
        return float(self._weighted @ self._weighted) / free if free else np.nan

    @property
    def _knows_noise(self) -> bool:
        """Whether the noise of every sensor was given, so that errors follow from it alone."""
        return all(s.measured.noise is not None for s in self._misfit.pooled)

    @property
    def _misfit_size(self) -> float:
        """Standard deviation of the noise, in units of what is given or guessed."""
        if self._knows_noise or not self.degrees_of_freedom:
            return 1.0
        return float(np.sqrt(self.reduced_chi_square))

    @cached_property
    def _scale(self) -> Array:
        """What changes of the parameters are compared with, which may be zero themselves."""
        room = np.array([u.high - u.low for u in self._misfit.unknowns])
        return np.where(np.abs(self._values) > 1e-6 * room, np.abs(self._values), room)

    @cached_property
    def _directions(self) -> tuple[Array, Array]:
        """Singular values of the relative Jacobian, and their directions as rows."""
        rows, columns = self._jacobian.shape  # fewer rows leave directions out
        _, singular, directions = np.linalg.svd(np.pad(
            self._jacobian * self._scale, ((0, max(columns - rows, 0)), (0, 0))),
            full_matrices=False)
        singular = np.where(singular > ROUNDING * singular.max(initial=0.0), singular, 0.0)
        return singular, directions

    @property
    def relative_singular_values(self) -> Array:
        """Singular values of the derivatives by relative changes; a large one is well told."""
        return self._directions[0]

    @property
    def null_directions(self) -> list[dict[str, float]]:
        """Relative changes of parameters together that the data do not notice."""
        singular, directions = self._directions
        return [dict(zip(self.names, row.tolist(), strict=True))
                for row in directions[singular * OPEN < self._misfit_size]]

    @cached_property
    def _covariance(self) -> Array:
        """Covariances in SI units, (values, values); inf for what the data do not tell."""
        singular, directions = self._directions
        told = singular * OPEN >= self._misfit_size
        part = directions[told] / singular[told][:, None]
        out = part.T @ part * self._misfit_size**2
        open_ = np.abs(directions[~told]).max(axis=0, initial=0.0) > SMALL
        open_ |= not (self._knows_noise or self.degrees_of_freedom)
        out[open_, open_] = np.inf
        return np.asarray(out * np.outer(self._scale, self._scale))

    @property
    def standard_errors(self) -> dict[str, Quantity]:
        """Standard deviations of the values; inf for what the data cannot tell.

        Where the noise of every sensor is given they follow from it, as SciPy's by
        ``absolute_sigma=True``; else from what the fit leaves of the data.
        """
        return {u.path: from_si(e, u.shown.as_difference) for u, e in
                zip(self._misfit.unknowns, np.sqrt(np.diag(self._covariance)), strict=True)}

    def intervals(self, level: float = 0.95) -> dict[str, tuple[Quantity, Quantity]]:
        """Confidence intervals."""
        from scipy.stats import t

        free = np.inf if self._knows_noise else self.degrees_of_freedom
        reach = t.ppf((1 + level) / 2, free) * np.sqrt(np.diag(self._covariance))
        return {u.path: (from_si(v - r, u.shown), from_si(v + r, u.shown)) for u, v, r in
                zip(self._misfit.unknowns, self._values, reach, strict=True)}

    @property
    def correlation(self) -> DataFrame:
        """Correlations of the values, as a pandas table."""
        c = np.where(np.isfinite(self._covariance), self._covariance, np.nan)
        error = np.sqrt(np.diag(c))
        return pandas("correlations").DataFrame(c / np.outer(error, error), self.names, self.names)

    def residuals(self) -> dict[str, Quantity]:
        """Measured less predicted per sensor, in its unit; of all experiments together."""
        out = {}
        for k, sensor in enumerate(self._misfit.pooled):
            mine = np.concatenate([one[k] for one in self._plain])
            out[sensor.name] = from_si(mine, sensor.shown.as_difference)
        return out

    # -- words -----------------------------------------------------------------------------
    def _identifiability(self) -> list[str]:
        """What the data cannot tell, by name."""
        notes: list[str] = []
        if not (self._knows_noise or self.degrees_of_freedom):
            notes.append("There are no more measured values than parameters: what is found meets "
                         "them whatever the noise, so that no error can be told unless noise= of "
                         "every sensor is given.")
        silent = np.abs(self._jacobian * self._scale).max(axis=0, initial=0.0) == 0
        for k in np.flatnonzero(silent):
            notes.append(f"{self.names[k]} has no influence on what was measured: leave it out, or "
                         "measure something that it moves.")
        for direction in self.null_directions:
            largest = max(map(abs, direction.values()))
            parts = {n: v / largest for n, v in direction.items() if abs(v) > SMALL * largest}
            if set(parts) <= {self.names[k] for k in np.flatnonzero(silent)}:
                continue
            notes.append(_combination(parts))
        return notes

    def _bounds(self) -> list[str]:
        notes = []
        for u, v in zip(self._misfit.unknowns, self._values, strict=True):
            for word, bound in (("lower", u.low), ("upper", u.high)):
                if abs(u.searched(v) - u.searched(bound)) <= AT_BOUND * (
                        u.searched(u.high) - u.searched(u.low)):
                    notes.append(f"{u.path} stands at its {word} bound, "
                                 f"{from_si(bound, u.shown):.6g~P}: the data want it beyond. Widen "
                                 "the bounds, or look for what the model lacks; its interval says "
                                 "nothing.")
        return notes

    def _history(self) -> list[str]:
        """Residuals that are no noise."""
        notes = []
        for k, sensor in enumerate(self._misfit.pooled):
            pairs = [(r[:-1], r[1:]) for r in (one[k] for one in self._plain)]
            first, second = (np.concatenate(part) for part in zip(*pairs, strict=True))
            power = float(np.sqrt(np.sum(first**2) * np.sum(second**2)))
            related = float(first @ second) / power if power > 0 else 0.0
            if len(first) >= ENOUGH and related > RELATED and power > len(first) * (
                    EXACT * float(np.ptp(sensor.values))) ** 2:
                notes.append(f"What is left of {sensor.name} is no noise: each residual is as the "
                             f"one before, with correlation {related:.2f}. The model lacks "
                             "something, or this is a false minimum: look at plot(), try "
                             "guesses=10. Intervals are too narrow.")
        return notes

    def _disagreement(self) -> list[str]:
        """Parameters that some experiments alone want to be smaller, and others larger."""
        sizes = [sum(len(s.t) for s in sensors) for sensors in self._misfit.sensors]
        if len(sizes) < 2 or min(sizes) <= len(self.names):
            return []
        steps, errors = np.array([self._step_alone(slice(end - size, end)) for size, end in
                                  zip(sizes, np.cumsum(sizes), strict=True)]).swapaxes(0, 1)
        notes = []
        for k, name in enumerate(self.names):
            low, high = int(np.argmin(steps[:, k])), int(np.argmax(steps[:, k]))
            if steps[high, k] - steps[low, k] > APART * np.hypot(errors[low, k], errors[high, k]):
                notes.append(
                    f"Experiments {low + 1} and {high + 1} disagree about {name}: by itself, "
                    f"{low + 1} asks for less of it than {high + 1}. Fit each of them alone, or "
                    "say what else was different: Experiment(data, {…}).")
        return notes

    def _step_alone(self, rows: slice) -> tuple[Array, Array]:
        """Relative changes of the parameters that some of the residuals ask for, and errors."""
        j, r = self._jacobian[rows] * self._scale, self._weighted[rows]
        inverse = np.linalg.pinv(j, rcond=ROUNDING)
        step = -inverse @ r
        left = float(np.sum((r + j @ step) ** 2)) / (len(r) - len(step))
        return step, np.sqrt(left * np.sum(inverse**2, axis=1))

    def _sheets(self) -> tuple[Sheet, Sheet]:
        errors, intervals = self.standard_errors, self.intervals()
        sheet = Sheet(f"Fit of {self._misfit.model.name}, {self.status}",
                      {"parameter": self.names,
                       "value": [f"{v:.7g~P}" for v in self.values.values()],
                       "standard error": [_told(e) for e in errors.values()],
                       "95 % interval": [_told(a, b) for a, b in intervals.values()]})
        residuals = Sheet("Residuals", {
            "sensor": list(self.residuals()),
            "values": [len(r.m) for r in self.residuals().values()],
            "rms": [f"{np.sqrt(np.mean(r.m**2)):.5g} {r.units:~P}"
                    for r in self.residuals().values()],
            "in standard deviations": [
                f"{np.sqrt(np.mean(np.concatenate([o[k] for o in self._plain])**2)) / size:.4g}"
                for k, size in enumerate(self._misfit.noise[s.name] for s in self._misfit.pooled)],
        }, "\n".join(self.notes))  # fmt: skip
        return sheet, residuals

    def _sheet(self) -> Sheet:
        return self._sheets()[0]

    def apply(self) -> None:
        """Give the model the values that were found."""
        for u, v in zip(self._misfit.unknowns, self._values, strict=True):
            if u.setting is not None:
                u.setting.apply(from_si(v, u.setting.declared.unit))

    def plot(self, save: Any = None, experiment: int = 0) -> Figure:
        """Measured and predicted, and what is left, one row of pictures per sensor."""
        misfit = self._misfit
        shown = [(sensor, rest) for sensor, rest in zip(
            misfit.sensors[experiment], self._plain[experiment], strict=True) if len(sensor.t)]
        figure = bare_figure("A picture of a fit", figsize=(9, 2.6 * len(shown) + 0.6),
                             layout="constrained")
        axes = figure.subplots(len(shown), 2, sharex=True, squeeze=False, width_ratios=[2, 1])
        for (left, right), (sensor, rest) in zip(axes, shown, strict=True):
            times = np.linspace(sensor.t[0], sensor.t[-1], POINTS)
            curve = misfit.predicted(self._values, self._runs[experiment], sensor, times)
            left.plot(sensor.t, from_si(sensor.values, sensor.shown).m, ".", color="0.6", ms=4,
                      label="measured")
            left.plot(times, from_si(curve, sensor.shown).m, color="C0", lw=1.5, label="model")
            left.set_ylabel(sensor.name)
            left.legend(frameon=False, loc="best")
            left_over, noise = (from_si(one, sensor.shown.as_difference).m
                                for one in (rest, misfit.noise[sensor.name]))
            right.plot(sensor.t, left_over, ".", color="C3", ms=3)
            right.axhline(0, color="0.4", lw=0.8)
            right.axhspan(-2 * noise, 2 * noise, color="C3", alpha=0.12, lw=0,
                          label="± 2 standard deviations")
            right.set_ylabel(f"residual [{sensor.shown.text or '1'}]")
            right.legend(frameon=False, loc="upper right", fontsize="small")
        for axis in axes[-1]:
            axis.set_xlabel("time [s]")
        return finished_figure(figure, save, f"{misfit.model.name}: measured and fitted")


def _told(*values: Any) -> str:
    if not all(np.isfinite(v.m) for v in values):
        return "not told by the data"
    return " … ".join(f"{v:.6g~P}" for v in values)


def _combination(parts: dict[str, float]) -> str:
    """Words for parameters of which the data tell only combinations."""
    names = list(parts)
    if len(names) == 1:
        return (f"{names[0]} cannot be told from these data: any value of its size does as well. "
                "Fix it, or measure where it matters.")
    *others, first = names
    told = []
    for name in others:
        power = parts[name] / parts[first]
        whole = round(2 * power) / 2
        power = whole if abs(power - whole) < 0.01 * max(abs(power), 0.5) else power
        word = "" if abs(power) == 1 else f"^{abs(power):.3g}"
        told.append(f"{name} {'/' if power > 0 else '*'} {first}{word}")
    together = ", ".join(names)
    return (f"{together} can be told only up to a common change: of these the data tell "
            f"{' and '.join(told)}. Fix one of them, or measure something else (a force, say).")
