"""Sampled signals: held, delayed, counted, random, and averages over periods.

Samplers of one instant act together: what a block reads is the value its input has
once all of them have acted, so a chain of holds passes a value on without delay.
"""

import numpy as np

from blocks import (
    Component,
    Discrete,
    Input,
    Output,
    Parameter,
    Variable,
    abs_,
    cos,
    der,
    every,
    initially,
    log,
    maximum,
    mod,
    sqrt,
    time,
    when,
    where,
)

from ._units import OneUnit, power, product


class Sampled(Component):
    """Base of blocks that sample."""

    sample_time = Parameter("1 s", above=0, doc="Time between samples")
    offset = Parameter("0 s", doc="Instant of the first sample")

    def at_every_sample(self, assignments):
        return every(self.sample_time, assignments, start=self.offset)


class ZeroOrderHold(Sampled, OneUnit):
    """A signal sampled periodically and held in between.

    Equation: y = u at the instants offset + k sample_time, constant in between. Value before the
    first sample: ``held="1 N"``, 0 by default.
    """

    held = Discrete(lambda c: c.unit, 0, doc="The last sample")

    def equations(self):
        yield self.at_every_sample({self.held: self.u})
        yield self.y == self.held


class UnitDelay(Sampled, OneUnit):
    """A signal sampled periodically and given out one period later.

    Equation: y = u(t_k) during t_(k+1) <= t < t_(k+2), with t_k = offset + k sample_time. Value
    during the first period: ``stored="1 N"``, 0 by default.
    """

    stored = Discrete(lambda c: c.unit, 0, doc="The last sample, given out next")
    held = Discrete(lambda c: c.unit, 0, doc="The sample before, given out now")

    def equations(self):
        yield initially({self.held: self.stored})
        yield self.at_every_sample({self.held: self.stored, self.stored: self.u})
        yield self.y == self.held


class SampleAndHold(OneUnit):
    """A signal sampled whenever a trigger rises.

    Equation: y = u at the instants at which the trigger rises above the threshold, constant in
    between. Value before the first sample: ``held="1 N"``, 0 by default.
    """

    threshold = Parameter("0.5", unit="any", doc="Trigger value that takes a sample")
    trigger = Input(lambda c: c.threshold.units)
    held = Discrete(lambda c: c.unit, 0, doc="The last sample")

    def equations(self):
        yield when(self.trigger > self.threshold, {self.held: self.u})
        yield self.y == self.held


class Counter(Component):
    """Counts periods.

    Equation: y rises by one every sample_time, from 0 up to limit, then starts again from 0.
    """

    sample_time = Parameter("1 s", above=0, doc="Time between counts")
    limit = Parameter(1000, minimum=1, doc="Largest count")
    y = Output()
    n = Discrete(doc="The count")

    def equations(self):
        following = where(self.n + 1.5 > self.limit + 1, 0, self.n + 1, events=False)
        yield every(self.sample_time, {self.n: following}, start=self.sample_time)
        yield self.y == self.n


MODULUS, MULTIPLIER = 2147483647, 16807


def _following(state):
    """The next state of the generator; exact in floating point, as 16807 (2^31 - 1) < 2^53."""
    return mod(MULTIPLIER * state, MODULUS)


class _Generator(Component):
    """Multiplicative congruential generator of Park and Miller, sampled periodically.

    state <- 16807 state mod (2^31 - 1), started with the seed and three idle steps.
    """

    seed = Parameter(1, minimum=1, maximum=MODULUS - 1, doc="Start of the random sequence")
    sample_time = Parameter("1 s", above=0, doc="Time between random numbers")
    state = Discrete(doc="State of the generator, 0 before the first number")

    def verify(self):
        if self.seed.magnitude % 1:
            yield f"the seed {self.seed.magnitude:g} is not a whole number."

    def _first(self):
        idle = _following(_following(_following(self.seed)))
        return _following(where(self.state > 0.5, self.state, idle, events=False))


class UniformRandomNumber(_Generator):
    """Random numbers, evenly distributed and held between samples.

    The same seed gives the same numbers, on every machine and with every solver.

    Give blocks that are to be independent different seeds.

    References
    ----------
    Park and Miller, Random number generators: good ones are hard to find, Comm. ACM
    31 (1988) 1192-1201.
    """

    maximum = Parameter("1", unit="any", doc="Upper end of the distribution")
    minimum = Parameter(0, unit=lambda c: c.maximum.units, doc="Lower end of the distribution",
                        advice="It has the unit of 'maximum'.")
    y = Output(lambda c: c.maximum.units)

    def verify(self):
        yield from super().verify()
        if not self.minimum < self.maximum:
            yield f"the minimum {self.minimum:~P} is not below the maximum {self.maximum:~P}."

    def equations(self):
        yield every(self.sample_time, {self.state: self._first()})
        share = self.state / MODULUS
        yield self.y == self.minimum + share * (self.maximum - self.minimum)


class RandomNumber(_Generator):
    """Random numbers, normally distributed and held between samples.

    Two numbers r1, r2 of the generator give y = mean + deviation sqrt(-2 ln r1)
    cos(2 pi r2) (Box and Muller). The same seed gives the same numbers.

    Give blocks that are to be independent different seeds.

    References
    ----------
    Park and Miller, Comm. ACM 31 (1988) 1192-1201; Box and Muller, Annals of
    Mathematical Statistics 29 (1958) 610-611.
    """

    deviation = Parameter("1", unit="any", minimum=0, doc="Standard deviation")
    mean = Parameter(0, unit=lambda c: c.deviation.units, doc="Mean value",
                     advice="It has the unit of 'deviation'.")
    y = Output(lambda c: c.deviation.units)
    normal = Discrete(doc="The present number, of mean 0 and deviation 1")

    def equations(self):
        first = self._first()
        second = _following(first)
        normal = sqrt(-2 * log(first / MODULUS)) * cos(2 * np.pi * second / MODULUS)
        yield every(self.sample_time, {self.state: second, self.normal: normal})
        yield self.y == self.mean + self.deviation * self.normal


class RunningRMS(OneUnit):
    """The root mean square of a signal since the start of the run.

    Equation: y = sqrt(integral of u^2 / (t - t_start)); at the start y = abs(u).
    """

    square = Variable(lambda c: product(power(c.unit, 2), "s"), 0, priority="high",
                      doc="Integral of the square")
    begin = Discrete("s", doc="Start of the run")

    def equations(self):
        elapsed = time - self.begin
        yield initially({self.begin: time})
        yield der(self.square) == self.u**2
        mean = self.square / elapsed
        yield self.y == where(mean > 0, sqrt(mean), abs_(self.u), events=False)


class PeriodicRMS(OneUnit):
    """The root mean square of a signal over its last full period.

    Equation: y = sqrt(integral of u^2 over the last period / period), renewed at the
    end of every period; 0 during the first. A period that follows a far larger one is
    known to the tolerance of that one, the next to its own.
    """

    frequency = Parameter("1 Hz", above=0, doc="Periods per time")
    square = Variable(lambda c: product(power(c.unit, 2), "s"), 0, priority="high",
                      doc="Integral of the square, less its mean in the period before")
    rms = Discrete(lambda c: c.unit, 0, doc="Of the last full period")

    def equations(self):
        period = 1 / self.frequency
        # less what is known at its start it is the integral over one period at the end of each,
        # and does not grow: what grows loses digits
        yield der(self.square) == self.u**2 - self.rms**2
        mean = maximum(self.square, 0 * self.square) / period
        yield every(period, {self.rms: sqrt(mean)}, start=period)
        yield self.y == self.rms
