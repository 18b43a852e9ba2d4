"""Where does a loop of a linear model and one element oscillate, as first harmonics say?

The element acts against the input of the linear model, driven by its output: 1 + N(A) G(i omega)
= 0. An estimate: higher harmonics are left out, and a motion that sticks for long has none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import root

from ...exceptions import BlocksError, ParameterError, told_how_to_call
from ...language.compiled_model import CompiledModel
from ...language.component import Component
from ...numerics.arrays import Array, Indices
from ...results.plots.figures import bare_figure, finished_figure
from ...results.sheet import Sheet, Tabulated
from ...units import from_si, quantity
from ..limit_cycles import LimitCycle, find_limit_cycle
from ..linear.linear_model import LinearModel
from ..linear.pictures import around_poles, shown_range
from .elements import Bench

__all__ = ["Crossing", "Prediction", "predict_limit_cycles"]

AMPLITUDES = 12
FREQUENCIES = 400
DECADES = 1.5  # beyond the slowest and fastest pole
SAME = 1e-6
SOLVED = 1e-9
RUN = 60  # predicted periods
DRAWN = 30  # amplitudes
ROOM = 1.8  # distances of a crossing from zero, that are shown
ESTIMATE = ("This is only an estimate by first harmonics: check it, "
            "prediction.check(model, variable).")
NO_PROOF = ("No crossing, which does not prove that there is no limit cycle where an element can "
            "stick or the range of amplitudes is short: check with a run.")


@dataclass(frozen=True)
class Crossing:
    """A predicted oscillation: its frequency, and the amplitude at the element."""

    frequency: Any
    amplitude: Any


class Prediction(Tabulated):
    """Crossings of the loop with the describing function of its element."""

    def __init__(self, title: str, crossings: list[Crossing], linear: LinearModel,
                 loop: Callable[[Any], Any], bench: Bench) -> None:
        self.title, self.crossings = title, crossings
        self._linear, self._loop, self._bench = linear, loop, bench

    def plot(self, save: Any = None) -> Any:
        """Draw the linear part over frequency, -1/N over amplitude: they meet where it oscillates.

        -1/N is that at the predicted frequency (at 1 rad/s where there is none).
        """
        figure = bare_figure("A prediction's picture", figsize=(6.4, 4.4), layout="constrained")
        axes, bench = figure.subplots(), self._bench
        gain = self._loop(shown_range(self._linear))
        (at, *_) = [c.frequency.to("rad/s").m for c in self.crossings] or [1.0]
        low, high = bench.si
        amplitudes = np.geomspace(low, high, DRAWN)
        inverse = np.array([-1 / n if (n := bench.value(a, at)) else np.nan for a in amplitudes])
        met = [self._loop(c.frequency.to("rad/s").m)[0] for c in self.crossings]
        axes.plot(gain.real, gain.imag, label="linear part, over frequency")
        axes.plot(inverse.real, inverse.imag, ".-", label="-1/N of the element, over amplitude")
        axes.plot(np.real(met), np.imag(met), "o", color="tab:red", fillstyle="none",
                  label="; ".join(f"{c.frequency:.4g~P}, {c.amplitude:.4g~P}"
                                  for c in self.crossings) or "no crossing")
        reach = ROOM * np.max(np.abs(met)) if met else np.nanmedian(np.abs(inverse))
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)
        axes.set_xlabel("real part [SI units]")
        axes.set_ylabel("imaginary part [SI units]")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        return finished_figure(figure, save, self.title)

    def table(self) -> Sheet:
        return Sheet(self.title, {
            "frequency": [f"{c.frequency:.8g~P}" for c in self.crossings],
            "amplitude at the element": [f"{c.amplitude:.8g~P}" for c in self.crossings],
        }, ESTIMATE if self.crossings else NO_PROOF)  # fmt: skip

    def check(self, model: CompiledModel, variable: str, duration: Any = None) -> Sheet:
        """Compare with what the model does: its limit cycle, by a run and by shooting.

        Parameters
        ----------
        model : Model
            With the element in its loop. The run starts at its initial state, which must not be
            at rest; for an unstable cycle, near to it.
        variable : str
            What drives the element.
        duration : str or quantity, optional
            Of the run; by default 60 of the predicted periods.

        Returns
        -------
        Sheet
            Predicted and found periods and amplitudes, a row per crossing.
        """
        if duration is None and not self.crossings:
            raise ParameterError("Prediction.check()", "has no predicted period to run for.",
                                 "Give a duration: a limit cycle may be there all the same.")
        notes, rows = [], []
        predicted: list[tuple[Any, Any]] = [
            (quantity(2 * np.pi / one.frequency.to("rad/s").m, "s"), one.amplitude)
            for one in self.crossings] or [(None, None)]
        for period, amplitude in predicted:
            cycle, why = _found(model, duration or period * RUN, period)
            notes += [why] if why else []
            found = ("none", "none", "-") if cycle is None else (
                _beside(cycle.period, period), _beside(cycle.amplitude(variable), amplitude),
                "die out" if cycle.is_stable else "grow")
            rows.append((_text(period), found[0], _text(amplitude), *found[1:]))
        names = ("predicted period", "period found", "predicted amplitude", "amplitude found",
                 "disturbances")
        return Sheet(f"{self.title}, against {model.name}", {
            name: [row[k] for row in rows] for k, name in enumerate(names)}, " ".join(notes))

    _sheet = table

    def __repr__(self) -> str:
        return super().__repr__() if self.crossings else f"{self.title}: none\n{NO_PROOF}"


def _found(model: CompiledModel, duration: Any, period: Any) -> tuple[LimitCycle | None, str]:
    """The limit cycle that a run comes to, or one near the initial state; or why there is none."""
    try:
        return find_limit_cycle(model, model.simulate(duration, progress=False)), ""
    except (BlocksError, ValueError) as error:
        why = str(error)
    if period is None:
        return None, why
    try:
        return find_limit_cycle(model, period=period), ""
    except (BlocksError, ValueError):
        return None, f"{why} Nor is there one near the initial state."


def _text(value: Any) -> str:
    return "none" if value is None else f"{value:.6g~P}"


def _beside(value: Any, predicted: Any) -> str:
    """A value, and by how much the prediction is off."""
    if predicted is None:
        return _text(value)
    return f"{_text(value)} ({100 * (predicted / value - 1).to('').m:+.2f} %)"


@told_how_to_call
def predict_limit_cycles(linear: LinearModel, element: Component, amplitudes: tuple[Any, Any], *,
                         input: str | None = None, output: str | None = None) -> Prediction:
    """Limit cycles of a linear model with an element from its output back to its input.

    Parameters
    ----------
    linear : LinearModel
        Without the element: its input is where the element acts (a force), its output what
        drives it (a velocity).
    element : Component
        As in :func:`describing_function`; its effort counts against the input, as friction does.
    amplitudes : pair
        Between which amplitudes at the element oscillations are looked for.
    input, output : str, optional
        Where the linear model has several.
    """
    i, o = linear.pair(input, output)
    bench = Bench(element, list(amplitudes))
    low, high = bench.si
    inp, out = linear.inputs[i].unit, linear.outputs[o].unit
    if out.dimension != bench.input_unit.dimension:
        raise ParameterError("predict_limit_cycles()", f"the element is driven by "
                             f"{bench.input_unit}, but the output {linear.outputs[o].path} is in "
                             f"{out}.", "Take the output that drives it.")  # fmt: skip
    if not high > low:
        raise ParameterError("predict_limit_cycles(amplitudes=…)", "takes a lower and a higher "
                             "amplitude.", "Write for example ('1 mm/s', '1 m/s').")
    grid = np.geomspace(low, high, AMPLITUDES)
    gain = out.factor / inp.factor

    def loop(omega: Any) -> Any:
        return linear.transfer(1j * np.atleast_1d(omega))[:, o, i] * gain

    known: list[Array] = []
    for at in _candidates(linear, bench, grid, loop):
        solved = _exact(bench, loop, at)
        if solved is not None and low * (1 - SAME) <= solved[1] <= high * (1 + SAME) and not any(
                np.abs(solved / other - 1).max() < SAME for other in known):
            known.append(solved)
    return Prediction(f"Limit cycles of {linear.title} with {type(element).__name__}", [
        Crossing(quantity(float(omega), "rad/s"), from_si(float(amplitude), bench.input_unit))
        for omega, amplitude in known], linear, loop, bench)


def _candidates(linear: LinearModel, bench: Bench, grid: Array, loop: Any) -> Iterator[Array]:
    """Places near which the loop closes, by a spline of the describing function."""
    omega = np.geomspace(*around_poles(linear, DECADES), FREQUENCIES)
    middle = float(np.exp(np.log(omega).mean()))
    values = np.array([bench.value(float(a), middle) for a in grid])
    spline = CubicSpline(np.log(grid), np.column_stack([values.real, values.imag]))
    fine = np.linspace(np.log(grid[0]), np.log(grid[-1]), 8 * len(grid))
    n = spline(fine) @ np.array([1.0, 1j])
    rest = 1 + loop(omega)[:, None] * n
    for i, k in _changes(rest):
        start = np.array([np.log(omega[i]), fine[k]])

        def missed(y: Array) -> Array:
            there = np.clip(y[1], fine[0] - 1, fine[-1] + 1)
            r = 1 + loop(np.exp(np.clip(y[0], -50, 50)))[0] * (spline(there) @ np.array([1.0, 1j]))
            return np.array([r.real, r.imag])

        solved = root(missed, start, tol=1e-12)
        if np.abs(missed(solved.x)).max() < 1e-6:
            yield np.exp(solved.x)


def _changes(rest: Array) -> Indices:
    """Cells of a grid in which both parts change their sign, one a row."""
    corners = np.stack([rest[:-1, :-1], rest[1:, :-1], rest[:-1, 1:], rest[1:, 1:]])
    real, imaginary = ((part.min(axis=0) <= 0) & (part.max(axis=0) >= 0)
                       for part in (corners.real, corners.imag))
    return np.argwhere(real & imaginary)


def _exact(bench: Bench, loop: Any, at: Array) -> Array | None:
    """Frequency and amplitude of the crossing with the element's own values, if there is one."""
    def missed(y: Array) -> Array:
        omega, amplitude = np.exp(y)
        r = 1 + loop(omega)[0] * bench.value(float(amplitude), float(omega))
        return np.array([r.real, r.imag])

    solved = root(missed, np.log(at), tol=1e-13)
    return np.exp(solved.x) if np.abs(missed(solved.x)).max() < SOLVED else None
