"""What does a periodic signal consist of?"""

import numpy as np

from blocks import (
    Component,
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    Variable,
    arctan2,
    cos,
    der,
    every,
    sin,
    sqrt,
    time,
    where,
)

from ._units import product


class HarmonicEstimator(Component):
    """Amplitude and phase of one harmonic of a signal, over its last full period.

    Equations, with f = frequency and n = harmonic: real + i imaginary = 2 f times the integral over
    the last period of u (sin + i cos)(2 pi n f t), renewed at the end of every period; 0 during the
    first. So u = a sin(2 pi n f t + phase) has the amplitude a, the phase that it is written with,
    real = a cos(phase) and imaginary = a sin(phase). (That the phase is counted from a sine is our
    choice; Simscape's was not verified.)
    """

    unit = Option("1", doc="Unit of the signal")
    harmonic = Option(1, minimum=1, doc="Number of the harmonic")
    frequency = Parameter("60 Hz", above=0, doc="Periods per time")
    minimum_amplitude = Parameter(0.001, unit=lambda c: c.unit, minimum=0,
                                  doc="Below it the phase is 0")
    u = Input(lambda c: c.unit)
    amplitude = Output(lambda c: c.unit)
    phase = Output("rad")
    real = Output(lambda c: c.unit)
    imaginary = Output(lambda c: c.unit)
    sines = Variable(lambda c: product(c.unit, "s"), 0, priority="high",
                     doc="Integral with the sine, less its mean in the period before")
    cosines = Variable(lambda c: product(c.unit, "s"), 0, priority="high",
                       doc="Integral with the cosine, less its mean in the period before")
    re = Discrete(lambda c: c.unit, 0, doc="Of the last full period")
    im = Discrete(lambda c: c.unit, 0, doc="Of the last full period")

    def equations(self):
        period, angle = 1 / self.frequency, 2 * np.pi * self.harmonic * self.frequency * time
        # less what is known at its start an integral is that over one period at the end of each,
        # and does not grow: what grows loses digits
        yield der(self.sines) == self.u * sin(angle) - self.re / 2
        yield der(self.cosines) == self.u * cos(angle) - self.im / 2
        yield every(period, {self.re: 2 * self.sines / period,
                             self.im: 2 * self.cosines / period}, start=period)
        yield self.real == self.re
        yield self.imaginary == self.im
        yield self.amplitude == sqrt(self.re**2 + self.im**2)
        yield self.phase == where(self.amplitude > self.minimum_amplitude,
                                  arctan2(self.im, self.re), 0, events=False)
