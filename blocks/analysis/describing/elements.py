"""How does an element answer a sine, as far as the first harmonic says?

The element is driven by A sin(omega t) in a model of its own, events and all, until its answer
repeats; the describing function N = (b1 + i a1)/A has b1 with the sine and a1 with the cosine of
the answer. Elements that delay have Im N < 0.

References
----------
A. Gelb, W. E. Vander Velde, Multiple-Input Describing Functions and Nonlinear System Design,
McGraw-Hill, 1968.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np

from ...exceptions import ParameterError, SimulationError, told_how_to_call
from ...language.assignment import refuse_as_part
from ...language.branch import Branch
from ...language.component import Component, Part
from ...language.declarations import Input, Output, Parameter, Port, Variable, declarations
from ...language.domain import Domain
from ...language.expression import cos, sin, time
from ...numerics.arrays import Array
from ...results.plots.figures import bare_figure, finished_figure
from ...results.recording import Recording
from ...results.sheet import Sheet, Tabulated
from ...results.values.quadrature import integrals
from ...results.values.rows import smooth_intervals
from ...units import Unit, as_unit, from_si, quantity, to_si, unit_given
from ..linear.frequency import angular_frequency
from ..linear.signals import ratio_unit

__all__ = ["Bench", "DescribingFunction", "describing_function", "first_harmonic"]

TOLERANCE = 1e-11
REPEATS = 1e-9  # relative change from one period to the next
MOST_PERIODS = 1024
NOTHING = 1e-9  # of a value: a part that is shown as zero
RESOLVED = 1e-12  # of all that is integrated
WHERE = "describing_function()"


class DescribingFunction(Tabulated):
    """First harmonic of an element over the amplitude of a sine.

    Attributes
    ----------
    amplitudes : ndarray, in ``input_unit``
    values : complex ndarray, N(A) in ``unit``
    frequency : float, in rad/s; matters for elements with memory of time, as bristles have
    """

    def __init__(self, name: str, amplitudes: Array, values: Array, input_unit: Unit,
                 output_unit: Unit, frequency: float) -> None:
        self.name, self.amplitudes, self.values = name, amplitudes, values
        self.input_unit, self.unit = input_unit, ratio_unit(output_unit, input_unit)
        self.frequency = frequency

    def table(self) -> Sheet:
        """Amplitudes and values, with units."""
        columns = {f"amplitude [{self.input_unit}]": list(map(float, self.amplitudes))}
        for part, values in self._parts():
            columns[f"{part} part [{self.unit}]"] = list(map(float, values))
        return Sheet(self._title, columns)

    @property
    def _title(self) -> str:
        return f"Describing function of {self.name} at {self.frequency:.6g} rad/s"

    def _parts(self) -> Iterator[tuple[str, Array]]:
        """Real and imaginary parts, with zeros where there is rounding alone."""
        for part, values in (("real", self.values.real), ("imaginary", self.values.imag)):
            yield part, np.where(np.abs(values) > NOTHING * np.abs(self.values), values, 0.0)

    _sheet = table

    def plot(self, save: Any = None) -> Any:
        """Real and imaginary part over the amplitude; ``save`` to a file."""
        figure = bare_figure("A describing function's picture", figsize=(6.4, 4.4),
                             layout="constrained")
        panels = figure.subplots(2, 1, sharex=True)
        for axes, (part, values) in zip(panels, self._parts(), strict=True):
            axes.semilogx(self.amplitudes, values, "o-", markersize=3)
            axes.set_ylabel(f"{part} part [{self.unit.text or '1'}]")
            axes.grid(which="both", alpha=0.3)
        panels[1].set_xlabel(f"amplitude [{self.input_unit}]")
        return finished_figure(figure, save, self._title)


@told_how_to_call
def describing_function(element: Component, amplitudes: Any, *, frequency: Any = "1 rad/s"
                        ) -> DescribingFunction:
    """Find the describing function of a component with two ports, or a signal in and out.

    Parameters
    ----------
    element : Component
        One that belongs to no model yet, or a copy of one that does.
    amplitudes : quantity, text, or sequence of these
        Of the signal, or of the across variable between the ports (a velocity); also of its
        integral (a displacement), as their unit says.
    frequency : str or quantity
        Of the sine.

    Returns
    -------
    DescribingFunction
    """
    omega = float(angular_frequency(frequency, f"{WHERE}: frequency"))
    bench = Bench(element, amplitudes)
    values = np.array([bench.value(a, omega) for a in bench.si])
    factor = bench.input_unit.factor / bench.output_unit.factor
    return DescribingFunction(type(element).__name__, bench.si / bench.input_unit.factor,
                              values * factor, bench.input_unit, bench.output_unit, omega)


class Bench:
    """An element and what drives it."""

    def __init__(self, element: Component, amplitudes: Any) -> None:
        if not isinstance(element, Part):
            refuse_as_part(WHERE, "element", element)
        self.element = element
        self.ports = _ports(element)
        self.is_signal = not self.ports
        given = unit_given(amplitudes, WHERE)
        self.input, self.output, natural, self.output_unit = self._ends()
        self.swept = as_unit((from_si(1.0, natural) * quantity("1 s")).to_base_units().units)
        self.displacement = not self.is_signal and given.dimension == self.swept.dimension
        self.input_unit = self.swept if self.displacement else natural
        self.si = np.atleast_1d(np.asarray(to_si(amplitudes, self.input_unit, WHERE), dtype=float))
        if not (self.si > 0).all():
            raise ParameterError(WHERE, "takes amplitudes above 0: at 0 an element that can stick "
                                 "has no describing function.", given=amplitudes)  # fmt: skip

    def _ends(self) -> tuple[str, str, Unit, Unit]:
        """Names and units of what goes in and what comes out."""
        element = self.element
        if not self.is_signal:
            domain = declarations(element)[self.ports[0]].domain
            across, through = next(iter(domain.across)), next(iter(domain.through))
            return across, through, domain.across[across], domain.through[through]
        declared = {n: d for n, d in declarations(element).items() if d.exists(element)}
        inputs = [n for n, d in declared.items() if type(d).__name__ == "Input"]
        outputs = [n for n, d in declared.items() if type(d).__name__ == "Output"]
        if len(inputs) != 1 or len(outputs) != 1:
            raise ParameterError(
                WHERE, f"takes a component with two ports, or with one signal in and one out; "
                f"{type(element).__name__} has {len(inputs)} inputs and {len(outputs)} outputs.",
                "Wrap what you mean in a component of your own.")  # fmt: skip
        return (inputs[0], outputs[0], _unit_of(declared[inputs[0]], element),
                _unit_of(declared[outputs[0]], element))

    def value(self, amplitude: float, omega: float) -> complex:
        """N(A): what the answer comes to over a period, once it repeats."""
        periods, last = 2, np.nan + 0j
        while True:
            run = self._run(amplitude, omega, periods)
            (answer,) = run["drive.answered"].rows.indices
            before, found = (
                first_harmonic(run.recording, answer, omega, k * 2 * np.pi / omega)[0] / amplitude
                for k in (periods - 1, periods))
            largest = 2 * np.abs(run["drive.answered"].m).max() / amplitude
            # an even law has no answer but for rounding
            if max(abs(found), abs(before)) <= NOTHING * largest or abs(
                    found - before) <= REPEATS * abs(found) or abs(found - last) <= (
                    0.1 * REPEATS * abs(found)):
                return found
            last, periods = found, 2 * periods
            if periods > MOST_PERIODS:
                raise SimulationError(
                    WHERE, f"the answer to the amplitude "
                    f"{from_si(amplitude, self.input_unit):.6g~P} does not repeat within "
                    f"{MOST_PERIODS} periods.", "Take a lower frequency, or an element that "
                    "forgets its start.")  # fmt: skip

    def _run(self, amplitude: float, omega: float, periods: int) -> Any:
        """The element driven by so many periods of the sine."""
        model = self.model
        model.drive.amplitude = amplitude * (omega if self.displacement else 1.0)
        model.drive.omega = quantity(omega, "rad/s")
        if not self.is_signal:  # bristles bend by as much
            reach = amplitude / (1.0 if self.displacement else omega)
            model.nominal_values(from_si(reach, self.swept))
        return model.simulate(quantity(periods * 2 * np.pi / omega, "s"), rtol=TOLERANCE,
                              max_step=quantity(np.pi / 8 / omega, "s"), progress=False)

    @cached_property
    def model(self) -> Any:
        """The element with what drives it; made once for all amplitudes."""
        from ...model import Model

        model: Any = Model("describing function")
        model.element = deepcopy(self.element)
        if self.is_signal:
            model.drive = _signal_bench(self.input_unit, self.output_unit)()
            model.connect(model.drive.sine, getattr(model.element, self.input))
            model.connect(getattr(model.element, self.output), model.drive.answer)
            return model
        first, second = (getattr(model.element, n) for n in self.ports)
        model.drive = _port_bench(first.port.domain, self.displacement)()
        model.connect(first, model.drive.P)
        model.connect(second, model.drive.N)
        return model


def first_harmonic(recording: Recording, index: int, omega: float, end: float
                   ) -> tuple[complex, float]:
    """First harmonic of a period of a run, with the sine and the cosine, and what else is in it as
    a part of it.

    Integrated from knot to knot: at equal distances a jump would be up to one of them too late.
    """
    knots, period = np.asarray(recording.knots, dtype=float), 2 * np.pi / omega
    end = min(end, float(knots[-1]))
    inner = knots[(knots > end - period) & (knots < end)]
    inside = smooth_intervals(np.concatenate([[end - period], inner, [end]]))

    def mean(rows: Callable[[Array, Array], Array]) -> Array:
        return integrals(lambda t: rows(recording.values([index], t)[0], omega * t), *inside,
                         negligible=RESOLVED)[0] / period

    middle, of_sine, of_cosine = mean(lambda y, a: np.array([y, 2 * y * np.sin(a),
                                                             2 * y * np.cos(a)]))
    rest = mean(lambda y, a: (y - middle - of_sine * np.sin(a) - of_cosine * np.cos(a))[None] ** 2)
    size = np.hypot(of_sine, of_cosine)
    return complex(of_sine, of_cosine), float(np.sqrt(2 * rest[0]) / (size or 1.0))


class _Drive(Component):
    """Drives with a sine."""

    amplitude, omega = Parameter(1.0), Parameter("1 rad/s")
    answered = Variable("1")


def _signal_bench(given: Unit, answered: Unit) -> type[Component]:
    one_in, one_out = (quantity(1.0, as_unit(_si(u))) for u in (given, answered))

    class SignalBench(_Drive):
        sine, answer = Output(_si(given)), Input(_si(answered))

        def equations(self) -> Iterator[Any]:
            yield self.sine == one_in * self.amplitude * sin(self.omega * time)
            yield self.answered == self.answer / one_out

    return SignalBench


def _port_bench(domain: Domain, displacement: bool) -> type[Component]:
    across, through = next(iter(domain.across)), next(iter(domain.through))
    one_in, one_out = (quantity(1.0, as_unit(_si(u))) for u in (
        domain.across[across], domain.through[through]))
    wave = cos if displacement else sin

    class PortBench(_Drive):
        grounds = True
        P, N = Port(domain), Port(domain)

        def equations(self) -> Iterator[Any]:
            first, second = (getattr(p, across) for p in (self.P, self.N))
            yield first == one_in * self.amplitude * wave(self.omega * time)
            yield second == 0 * one_in
            yield self.answered == -getattr(self.P, through) / one_out

    return PortBench


def _ports(element: Component) -> tuple[str, ...]:
    """Return the names of two ports of one domain; none of an element of signals."""
    if isinstance(element, Branch):
        return element._branch_ports
    declared = {n: d for n, d in declarations(element).items() if d.exists(element)}
    ports = {n: d.domain for n, d in declared.items() if isinstance(d, Port)}
    signals = any(isinstance(d, (Input, Output)) for d in declared.values())
    return tuple(ports) if len(ports) == 2 and len({*ports.values()}) == 1 and not signals else ()


def _unit_of(declared: Any, element: Component) -> Unit:
    found = declared.unit
    return as_unit(found(element) if callable(found) else found)


def _si(u: Unit) -> str:
    """The SI unit of a dimension."""
    return f"{from_si(1.0, u).to_base_units().units:~C}" or ""
