"""A function in Python as a block: controllers, filters and logic that are written as programs."""

from __future__ import annotations

from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from blocks import Component, Discrete, Input, Option, Output, Parameter, every, quantity
from blocks.exceptions import ParameterError, SimulationError, brief


def _units(text):
    return [part.strip() for part in text.split(",")]


class PythonFunction(Component):
    """Outputs that a function in Python works out at every sampling instant, and that hold.

    Without states, y = function(t, u); with states, y, x = function(t, u, x). Here t is the time
    in s as a float, u and x are arrays of numbers, u in the units of ``inputs``; y has as many
    numbers in the units of ``outputs`` (a single number where there is one). The function must
    not remember anything by itself: what it has to remember are the states x, which are kept in
    the result, saved and restored. It may be called several times for one instant, where its
    outputs act back on its inputs at once. Initial values: ``PythonFunction(x1=0.5)``; the outputs
    are 0 before the first sample.

    Raises
    ------
    SimulationError
        Where the function fails, or gives another number of values, or none that is finite.

    Examples
    --------
    >>> def limited(t, u, x):
    ...     error = 20.0 - u[0]
    ...     volts = min(max(0.5 * error + x[0], -12.0), 12.0)
    ...     return volts, [x[0] + 0.01 * error]
    >>> controller = PythonFunction(function=limited, inputs="rad/s", outputs="V", states=1)
    """

    function = Option(None, doc="What is called: function(t, u) or function(t, u, x)")
    inputs = Option("1", doc='Units of the inputs, separated by commas: "N, A"')
    outputs = Option("1", doc='Units of the outputs, separated by commas: "N, A"')
    states = Option(0, minimum=0, doc="Number of states")
    sample_time = Parameter("1 ms", above=0, doc="Time between samples")
    offset = Parameter("0 s", doc="Instant of the first sample")
    u = Input(lambda c: _units(c.inputs))
    y = Output(lambda c: _units(c.outputs))
    asked = Discrete(lambda c: _units(c.inputs), 0, doc="Inputs at the last sample")
    held = Discrete(lambda c: _units(c.outputs), 0, doc="Outputs since the last sample")
    x = Discrete(lambda c: [""] * c.states, 0, doc="What the function remembers")

    def verify(self):
        if not callable(self.function):
            yield f"has no function to call, but {self.function!r}."

    def equations(self):
        assigned: dict[Any, Any] = dict(zip(self.asked, self.u, strict=True))
        assigned |= {one: one for one in [*self.held, *self.x]}  # at_samples says what
        yield every(self.sample_time, assigned, start=self.offset)
        for y, held in zip(self.y, self.held, strict=True):
            yield y == held

    def at_samples(self, t, instance, now, before):
        """What the function gives, in SI units by name."""
        def refuse(said, advice):
            raise SimulationError(self.path, f"at t = {t:.9g} s its function gave {said}", advice,
                                  time=t, variables=(self.path,), code="simulation.function")

        asked = np.array([now[f"asked{k + 1}"] / s for k, s in enumerate(_sizes(self.inputs))])
        if self.states:
            given = self.function(t, asked, np.array(
                [before[f"x{k + 1}"] for k in range(self.states)]))
            if not (isinstance(given, (tuple, list)) and len(given) == 2):
                refuse(f"{given!r} instead of two things, outputs and states.",
                       "Let it end with: return y, x.")
        else:
            given = self.function(t, asked), []
        sizes = _sizes(self.outputs)
        y, x = ([*one] if isinstance(one, (list, tuple, np.ndarray)) and np.ndim(one) else [one]
                for one in given)
        for one in (*y, *x):
            if not isinstance(one, (Real, np.bool_, np.ndarray)):
                refuse(f"{brief(one)}, which is no number.", "Let it return numbers in the units "
                       "of its outputs, of a quantity value.to('m').magnitude.")
        for what, found, wanted in (("outputs", y, len(sizes)), ("states", x, self.states)):
            if len(found) != wanted or any(np.ndim(one) for one in found):
                refuse(f"{np.size(found)} {what} instead of {wanted}.", "Let it return y, x with "
                       "as many numbers as there are outputs and states.")
        return {**{f"held{k + 1}": float(v) * s for k, (v, s) in enumerate(
            zip(y, sizes, strict=True))}, **{f"x{k + 1}": float(v) for k, v in enumerate(x)}}


@cache
def _sizes(texts):
    return [_size(quantity(1.0, text)) for text in _units(texts)]


def _size(one):
    """A unit in SI; of temperatures only K, as degC has another zero."""
    base = one.to_base_units()
    if quantity(0.0, one.units).to_base_units().magnitude:
        raise ParameterError("PythonFunction", f"has a signal in {one.units:~P}.",
                             "Give temperatures in K.")
    return float(base.magnitude)
