"""Signals that are known functions of time.

The output of every source has the unit of the value it is given:
``Constant(value="5 N")`` is a force. Jumps and kinks are relations of time
alone, so a run steps exactly onto them.
"""

import numpy as np

from blocks import Component, Option, Output, Parameter, breakpoints, mod, sin, time, where

from .. import symbols
from ._units import product


class Constant(Component):
    """A constant signal.

    Equation: y = value, at all times and in its unit.
    """

    value = Parameter("1", unit="any", doc="Value of the output")
    y = Output(lambda c: c.value.units)

    def equations(self):
        yield self.y == self.value


class Step(Component):
    """A signal that jumps once.

    Equation: y = initial for t < start, final for t >= start. The run steps onto the jump.
    """

    final = Parameter("1", unit="any", doc="Value after the jump")
    initial = Parameter(0, unit=lambda c: c.final.units, doc="Value before the jump",
                        advice="It has the unit of 'final'.")
    start = Parameter("1 s", doc="Instant of the jump")
    y = Output(lambda c: c.final.units)

    def equations(self):
        yield self.y == where(time >= self.start, self.final, self.initial)


class Ramp(Component):
    """A signal that grows at a constant rate from some instant on.

    Equation: y = initial + slope max(t - start, 0), for a slope in any unit, such as "2 N/s".
    """

    slope = Parameter("1 1/s", unit="any", doc="Rate of change")
    initial = Parameter(0, unit=lambda c: product(c.slope.units, "s"), doc="Value before the start",
                        advice="It has the unit of 'slope' times a second.")
    start = Parameter("0 s", doc="Instant at which the ramp starts")
    y = Output(lambda c: product(c.slope.units, "s"))

    def equations(self):
        grown = where(time > self.start, self.slope * (time - self.start), 0)
        yield self.y == self.initial + grown


class Sine(Component):
    """A sine wave.

    Equation: y = bias + amplitude sin(2 pi frequency t + phase). An angular frequency is refused.
    """

    amplitude = Parameter("1", unit="any", doc="Amplitude")
    bias = Parameter(0, unit=lambda c: c.amplitude.units, doc="Mean value",
                     advice="It has the unit of 'amplitude'.")
    frequency = Parameter("1 Hz", minimum=0, doc="Turns per time")
    phase = Parameter("0 rad", doc="Angle at time 0")
    y = Output(lambda c: c.amplitude.units)

    def equations(self):
        angle = 2 * np.pi * self.frequency * time + self.phase
        yield self.y == self.bias + self.amplitude * sin(angle)


class Pulse(Component):
    """A rectangular pulse train.

    Equation: y = bias + amplitude during the first ``width`` of every period
    after ``start``, bias otherwise. The run steps onto every edge.
    """

    symbol = symbols.WAVE

    amplitude = Parameter("1", unit="any", doc="Height of the pulses")
    bias = Parameter(0, unit=lambda c: c.amplitude.units, doc="Value between pulses",
                     advice="It has the unit of 'amplitude'.")
    period = Parameter("1 s", above=0, doc="Time between rising edges")
    width = Parameter(0.5, above=0, below=1, doc="Part of the period that a pulse lasts")
    start = Parameter("0 s", doc="Instant of the first rising edge")
    y = Output(lambda c: c.amplitude.units)

    def equations(self):
        yield breakpoints(self.start, self.period)
        yield breakpoints(self.start + self.width * self.period, self.period)
        inside = mod(time - self.start, self.period) < self.width * self.period
        on = where((time >= self.start) & inside, self.amplitude, 0)
        yield self.y == self.bias + on


class Chirp(Component):
    """A sine whose frequency changes linearly with time.

    Equation: y = amplitude cos(2 pi (f0 t + (f1 - f0) t^2 / (2 T)) + phase), with f0 the initial
    frequency and f1 the final one, reached at the sweep time T. The sweep goes on after T.
    """

    amplitude = Parameter("1", unit="any", doc="Amplitude")
    initial_frequency = Parameter("0.1 Hz", minimum=0, doc="Frequency at time 0")
    final_frequency = Parameter("1 Hz", minimum=0, doc="Frequency at the sweep time")
    sweep_time = Parameter("10 s", above=0, doc="When the final frequency is reached")
    phase = Parameter("0 rad", doc="Angle at time 0")
    y = Output(lambda c: c.amplitude.units)

    def equations(self):
        rate = (self.final_frequency - self.initial_frequency) / self.sweep_time
        turns = self.initial_frequency * time + 0.5 * rate * time**2
        yield self.y == self.amplitude * sin(2 * np.pi * turns + self.phase + np.pi / 2)


class TimeFunction(Component):
    """Any function of time.

    Equation: y = value(t), called once, with time as an expression:
    ``TimeFunction(unit="N", value=lambda t: quantity("5 N") * sin(t / quantity("1 s")))``.
    Use ``where`` instead of ``if`` in it.
    """

    unit = Option("1", doc="Unit of the output")
    value = Parameter(0, unit=lambda c: c.unit, varying=True, doc="The function")
    y = Output(lambda c: c.unit)

    def equations(self):
        yield self.y == self.value
