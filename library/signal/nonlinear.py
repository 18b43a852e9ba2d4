"""Memoryless nonlinearities, and those that remember a side: relay, backlash, rounding.

Functions that are continuous (saturation, dead zone, absolute value, extremes) need
no events; those that jump switch at located instants.
"""

from functools import reduce

from blocks import (
    Component,
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    Variable,
    abs_,
    before,
    der,
    floor,
    initially,
    maximum,
    minimum,
    sign,
    when,
    where,
)

from ._units import OneUnit, quotient

ROUNDING = 1e-9  # of a play: a jump of the input by less is none


class Saturation(Component):
    """A signal kept between limits.

    Equation: y = min(max(u, lower), upper).
    """

    upper = Parameter("0.5", unit="any", doc="Upper limit")
    lower = Parameter(-0.5, unit=lambda c: c.upper.units, doc="Lower limit",
                      advice="It has the unit of 'upper'.")
    u = Input(lambda c: c.upper.units)
    y = Output(lambda c: c.upper.units)

    def verify(self):
        if not self.lower < self.upper:
            yield f"the lower limit {self.lower:~P} is not below the upper limit {self.upper:~P}."

    def equations(self):
        yield self.y == minimum(maximum(self.u, self.lower), self.upper)


class DeadZone(Component):
    """A signal that passes only beyond a zone around zero.

    Equation: y = u - upper above the zone, u - lower below it, 0 inside.
    """

    upper = Parameter("0.5", unit="any", doc="Upper end of the zone")
    lower = Parameter(-0.5, unit=lambda c: c.upper.units, doc="Lower end of the zone",
                      advice="It has the unit of 'upper'.")
    u = Input(lambda c: c.upper.units)
    y = Output(lambda c: c.upper.units)

    def verify(self):
        if not self.lower <= self.upper:
            yield f"the lower end {self.lower:~P} is above the upper end {self.upper:~P}."

    def equations(self):
        yield self.y == maximum(self.u - self.upper, 0) + minimum(self.u - self.lower, 0)


class Relay(Component):
    """A switch with hysteresis.

    Equation: y = on_value once u has risen above switch_on, off_value once it has fallen below
    switch_off, and unchanged in between. Starts off, unless u starts above switch_on.
    """

    switch_on = Parameter("0.5", unit="any", doc="Threshold of switching on")
    switch_off = Parameter(-0.5, unit=lambda c: c.switch_on.units, doc="Threshold of switching off",
                           advice="It has the unit of 'switch_on'.")
    on_value = Parameter("1", unit="any", doc="Output while on")
    off_value = Parameter(0, unit=lambda c: c.on_value.units, doc="Output while off",
                          advice="It has the unit of 'on_value'.")
    u = Input(lambda c: c.switch_on.units)
    y = Output(lambda c: c.on_value.units)
    on = Discrete(doc="1 while on, else 0")

    def verify(self):
        if not self.switch_off <= self.switch_on:
            yield (f"switch_off = {self.switch_off:~P} is above switch_on = {self.switch_on:~P}: "
                   "between the two it could neither be on nor off. For one that is on below, as a "
                   "thermostat, exchange on_value and off_value.")

    def equations(self):
        yield initially({self.on: where(self.u > self.switch_on, 1, 0, events=False)})
        yield when(self.u > self.switch_on, {self.on: 1})
        yield when(self.u < self.switch_off, {self.on: 0})
        yield self.y == self.off_value + self.on * (self.on_value - self.off_value)


class RateLimiter(OneUnit):
    """A signal that follows another no faster than allowed.

    Equation: dy/dt = (u - y) / time_constant, but not above ``rising`` nor below ``falling``;
    y starts at u. While the limits do not act y lags by the time constant: the exact limiter
    (time_constant = 0) would need du/dt.

    References
    ----------
    Modelica Standard Library, Blocks.Nonlinear.SlewRateLimiter.
    """

    rising = Parameter(1, unit=lambda c: quotient(c.unit, "s"), above=0, doc="Fastest rise")
    falling = Parameter(-1, unit=lambda c: quotient(c.unit, "s"), below=0, doc="Fastest fall")
    time_constant = Parameter("1 ms", above=0, doc="Time constant of what follows")
    x = Variable(lambda c: c.unit, 0, priority="high", doc="Change since the start")
    beginning = Discrete(lambda c: c.unit, doc="What u was at the start")

    def equations(self):
        yield initially({self.beginning: self.u})
        yield self.y == self.beginning + self.x
        wanted = (self.u - self.y) / self.time_constant
        yield der(self.x) == maximum(minimum(wanted, self.rising), self.falling)


class Backlash(Component):
    """Play between input and output.

    Equation: y follows u at half the width while it is pushed, y = u - width/2 upwards
    and y = u + width/2 downwards, and rests in between. Starts in the middle of the
    play, or with ``given_start=True`` at ``initial_output``, as far as the play lets it.

    The instant at which pushing ends is where the derivative of u changes sign, so the
    equations that give u are differentiated; or where u jumps back: the output is then
    that of before, as far as the play lets it.
    """

    given_start = Option(False, doc="Whether the output at the start is given")
    width = Parameter("1", unit="any", above=0, doc="Width of the play")
    initial_output = Parameter(0, unit=lambda c: c.width.units, when="given_start",
                               doc="Output at the start")
    u = Input(lambda c: c.width.units)
    y = Output(lambda c: c.width.units)
    rate = Variable(lambda c: quotient(c.width.units, "s"), doc="Derivative of the input")
    side = Discrete(doc="1 while pushed upwards, -1 downwards, else 0")
    rest = Discrete(lambda c: c.width.units, 0, doc="Where the output rests")

    def equations(self):
        up, down = self.u - self.width / 2, self.u + self.width / 2
        pushed = where(self.side > 0, up, where(self.side < 0, down, self.rest, events=False),
                       events=False)
        yield self.y == pushed
        yield self.rate == der(self.u)
        start = minimum(maximum(self.initial_output, up), down) if self.given_start else self.u
        yield initially({self.rest: start})
        yield when((self.side < 0.5) & (up > self.rest), {self.side: 1})
        yield when((self.side > -0.5) & (down < self.rest), {self.side: -1})
        was = before(self.y)
        kept = minimum(maximum(was, up), down)
        back = self.side * (was - self.y) > ROUNDING * self.width  # at once, by a jump
        yield when((self.side > 0.5) & ((self.rate < 0) | back), {
            self.side: where(was > down, -1, 0, events=False),
            self.rest: where(back, kept, up, events=False)})
        yield when((self.side < -0.5) & ((self.rate > 0) | back), {
            self.side: where(was < up, 1, 0, events=False),
            self.rest: where(back, kept, down, events=False)})


class Abs(OneUnit):
    """The absolute value of a signal: y = abs(u), in the unit of u."""

    def equations(self):
        yield self.y == abs_(self.u)


class Sign(OneUnit):
    """The sign of a signal, a plain number: y = -1, 0 or 1, switched where u passes zero."""

    unit = Option("1", doc="Unit of the input")
    y = Output()

    def equations(self):
        yield self.y == sign(self.u)


class Minimum(OneUnit):
    """The smallest of several signals of one unit: y = min(u1, u2, ...)."""

    inputs = Option(2, minimum=1, doc="Number of inputs")
    u = Input(lambda c: [c.unit] * c.inputs)

    _pick = staticmethod(minimum)

    def equations(self):
        yield self.y == reduce(self._pick, self.u)


class Maximum(Minimum):
    """The largest of several signals: y = max(u1, u2, ...); else as :class:`Minimum`."""

    _pick = staticmethod(maximum)


class Switch(Component):
    """One of two signals, chosen by a third.

    Equation: y = u1 while control >= threshold, else u2; switched at the located instant.
    """

    unit = Option("1", doc="Unit of the signals that are chosen from")
    threshold = Parameter("0.5", unit="any", doc="Control value from which u1 is taken")
    u1 = Input(lambda c: c.unit)
    u2 = Input(lambda c: c.unit)
    control = Input(lambda c: c.threshold.units)
    y = Output(lambda c: c.unit)

    def equations(self):
        yield self.y == where(self.control >= self.threshold, self.u1, self.u2)


class MultiportSwitch(OneUnit):
    """One of several signals, chosen by number.

    Equation: y = u1 while control < 1.5, u2 while 1.5 <= control < 2.5, and so on; the last input
    beyond. Switched at the located instant.
    """

    inputs = Option(3, minimum=1, doc="Number of signals to choose from")
    u = Input(lambda c: [c.unit] * c.inputs)
    control = Input(doc="Number of the signal that is given out, from 1 on")

    def equations(self):
        value = self.u[0]
        for k in range(1, self.inputs):
            value = where(self.control >= k + 0.5, self.u[k], value)
        yield self.y == value


class Rounding(Component):
    """A signal rounded to multiples of a step.

    Equation: y = step function(u / step), with function floor (down), ceil (up), round
    (to the nearest, half upwards) or fix (towards zero). Every jump is an event.
    """

    function = Option("round", choices=["round", "floor", "ceil", "fix"], doc="How to round")
    step = Parameter("1", unit="any", above=0, doc="Distance of the values of the output")
    u = Input(lambda c: c.step.units)
    y = Output(lambda c: c.step.units)

    def equations(self):
        u = self.u / self.step
        side = where(u > 0, 1, -1, events=False)
        yield self.y == self.step * {"floor": lambda: floor(u), "ceil": lambda: -floor(-u),
                                     "round": lambda: floor(u + 0.5),
                                     "fix": lambda: side * floor(side * u)}[self.function]()
