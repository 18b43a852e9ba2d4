"""How does a model answer a sine, found by runs, events and all?

Where a linear model holds, both agree; where they do not, the amplitude matters.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from ...exceptions import ParameterError, SimulationError, told_how_to_call
from ...language.compiled_model import CompiledModel
from ...language.expression import sin
from ...numerics.arrays import Array, Complexes
from ...results.lookup import find_one
from ...results.plots.figures import bare_figure, finished_figure
from ...results.sheet import Sheet, Tabulated
from ...studies.settings import find_setting
from ...units import Unit, from_si, quantity, to_si
from ..linear.frequency import angular_frequency
from ..linear.linear_model import LinearModel
from ..linear.signals import ratio_unit, signals_of
from .elements import first_harmonic

__all__ = ["SweptResponse", "swept_response"]

WHERE = "swept_response()"
LOOKS = 2048  # in a period
FIRST = 4  # periods
MOST_PERIODS = 512
REPEATS = 1e-4  # of the answer, by which two periods may differ


class SweptResponse(Tabulated):
    """First harmonic of an answer over the frequency of a sine.

    Attributes
    ----------
    frequencies : ndarray, in Hz
    values : complex ndarray, answer over sine in ``unit``
    distortion : ndarray, what else is in the answer, as a part of it: 0 where it is a sine
    """

    def __init__(self, title: str, names: tuple[str, str], unit: Unit, omega: Array,
                 values: Complexes, distortion: Array) -> None:
        self.title, self.names, self.unit = title, names, unit
        self.frequencies, self.values, self.distortion = omega / (2 * np.pi), values, distortion

    def table(self) -> Sheet:
        """Gain, phase and distortion, a row per frequency."""
        return Sheet(self.title, {
            "frequency [Hz]": [f"{f:.6g}" for f in self.frequencies],
            f"gain [{self.unit.text or '1'}]": [f"{abs(v):.6g}" for v in self.values],
            "phase [deg]": [f"{np.degrees(np.angle(v)):.2f}" for v in self.values],
            "distortion": [f"{100 * d:.2g} %" for d in self.distortion]})

    _sheet = table

    def plot(self, linear: LinearModel | None = None, save: Any = None) -> Any:
        """Gain and phase, beside those of a linear model; ``save`` to a file."""
        figure = bare_figure("A sine sweep's picture", figsize=(6.4, 4.4), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True)

        def draw(hertz: Array, values: Complexes, style: str, label: str) -> None:
            upper.semilogx(hertz, 20 * np.log10(np.abs(values)), style, label=label)
            lower.semilogx(hertz, np.degrees(np.unwrap(np.angle(values))), style)

        if linear is not None:
            i, o = linear.pair(self.names[0], self.names[1])
            fine = np.geomspace(self.frequencies[0], self.frequencies[-1], 400)
            draw(fine, linear.transfer(2j * np.pi * fine)[:, o, i], "-", "linear model")
        draw(self.frequencies, self.values, "o", "runs")
        upper.set_ylabel(f"gain [dB re 1 {self.unit.text}]".replace(" ]", "]"))
        lower.set_ylabel("phase [deg]")
        lower.set_xlabel("frequency [Hz]")
        upper.legend(frameon=False)
        if self.frequencies.max() < 10 * self.frequencies.min():  # numbers, not powers of ten
            from matplotlib.ticker import ScalarFormatter

            for formatter in (lower.xaxis.set_major_formatter, lower.xaxis.set_minor_formatter):
                formatter(ScalarFormatter())
        for axis in (upper, lower):
            axis.grid(which="both", alpha=0.3)
        return finished_figure(figure, save, self.title)


@told_how_to_call
def swept_response(model: CompiledModel, input: str, output: str, frequencies: Any, amplitude: Any,
                   *, rtol: float = 1e-8) -> SweptResponse:
    """Drive an input with sines about its present value, until the answer repeats.

    Parameters
    ----------
    model : Model
        Is not changed.
    input : str
        A parameter that may vary with time, ``"push.force"``.
    output : str
        A variable, ``"spring.x"``.
    frequencies : quantity, or sequence of these
        In Hz or rad/s.
    amplitude : str or quantity
        Of the sine.
    rtol : float
        As in :meth:`~blocks.Model.simulate`.

    Raises
    ------
    SimulationError
        If the answer does not repeat with the period of the sine.
    """
    signals = signals_of(model.compile())
    (given,), (looked,) = signals.inputs([input], WHERE), signals.outputs([output], WHERE)
    varying = list(signals.parameters(varying=True))
    if input not in varying:
        raise ParameterError(WHERE, f"drives {input}, which is a fixed number.",
                             "Name what may vary with time: "
                             f"{', '.join(varying[:6]) or 'this model has nothing'}.")
    omega = np.sort(np.atleast_1d(angular_frequency(frequencies, f"{WHERE}: frequencies")))
    size = float(to_si(amplitude, given.unit.as_difference, f"{WHERE}: amplitude"))
    if not size > 0:
        raise ParameterError(f"{WHERE}: amplitude", "is not above 0.", given=amplitude)
    driven = deepcopy(model)
    setting = find_setting(driven, input, (), WHERE)
    middle = to_si(getattr(setting.component, setting.declared.name), given.unit, input)
    found = []
    for w in omega.tolist():
        setting.apply(lambda t, w=w: from_si(float(middle), given.unit) + sin(
            quantity(w, "1/s") * t) * from_si(size, given.unit.as_difference))
        found.append(_answer(driven, output, w, rtol))
    values, distortion = np.array(found, dtype=complex).T
    ratio = ratio_unit(looked.unit, given.unit)
    return SweptResponse(f"{output} by {input} = {from_si(size, given.unit.as_difference):.4g~P} "
                         f"sin(2 pi f t), runs of {model.name}", (input, output), ratio, omega,
                         values / size * given.unit.factor / looked.unit.factor, distortion.real)


def _answer(model: CompiledModel, output: str, omega: float, rtol: float) -> tuple[complex, float]:
    """First harmonic of the answer in SI units, and the part of it that is something else."""
    period, periods = 2 * np.pi / omega, FIRST
    while True:
        run = model.simulate(quantity(periods * period, "s"), rtol=rtol, progress=False,
                             max_step=quantity(period / 8, "s"))
        t = (periods - 2 + np.arange(2 * LOOKS) / LOOKS) * period
        info = find_one(run.recording.catalog, output, model.name)
        before, last = run.recording.values([info.index], t)[0].reshape(2, LOOKS)
        if np.abs(last - before).max() <= REPEATS * np.ptp(last):
            return first_harmonic(run.recording, info.index, omega, periods * period)
        periods *= 2
        if periods > MOST_PERIODS:
            raise SimulationError(
                WHERE, f"{output} does not repeat within {MOST_PERIODS} periods of "
                f"{omega / 2 / np.pi:.6g} Hz.", "It may drift away or oscillate by itself; look at "
                "a run. Where it only settles slowly, start nearer to rest; where it is sampled, "
                "take frequencies of whose period the sample time is a whole part.")  # fmt: skip
