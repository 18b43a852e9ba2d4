"""Linear dynamics of signals: integrals, derivatives, transfer functions, controllers.

Coefficients of transfer functions and state spaces are plain numbers: they relate
the input in its unit to the output in its unit, with time in seconds.
"""

from math import factorial

import numpy as np

from blocks import (
    Component,
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    Variable,
    abs_,
    delayed,
    der,
    initially,
    maximum,
    minimum,
    quantity,
    require,
    when,
    where,
)
from blocks.exceptions import ParameterError

from .. import symbols
from ._units import OneUnit, product, quotient


class Limited(Component):
    """Base of blocks whose output may be limited; its unit is that of ``of_output``."""

    input = Option("1", doc="Unit of the input")
    limited = Option(False, doc="Whether the output stays between limits")
    lower = Parameter(-1, unit=lambda c: c.of_output(), when="limited",
                      doc="Lower limit of the output")
    upper = Parameter(1, unit=lambda c: c.of_output(), when="limited",
                      doc="Upper limit of the output")
    u = Input(lambda c: c.input)
    y = Output(lambda c: c.of_output())

    def verify(self):
        if self.limited and not self.lower < self.upper:
            yield f"the lower limit {self.lower:~P} is not below the upper limit {self.upper:~P}."


class Integral(Limited):
    """Base of integrators."""

    def of_output(self):
        return product(self.input, "s")


class Integrator(Integral):
    """The time integral of a signal, if wanted within limits or reset.

    Equation: dx/dt = u, y = x. With ``limited=True`` x stops exactly at a limit and leaves it when
    u turns back, so it never winds up. With ``external_reset=True`` x jumps to ``reset_value``
    whenever the input ``reset`` rises above 0.5; with ``reset_on="falling"`` when it falls below,
    with ``"either"`` at both, and with ``"level"`` x stays there for as long as it is above. With
    ``external_start=True`` the input ``start`` gives the value at the start and after a reset:
    y = x + start then.

    The output has the unit of ``input`` times a second. Limits and ``external_start`` exclude each
    other. Initial value: ``Integrator(x="3 m")``; it must lie between the limits, and so must the
    value after a reset.
    """

    symbol = symbols.INTEGRATOR

    external_reset = Option(False, doc="Whether there is an input that resets x")
    reset_on = Option("rising", ("rising", "falling", "either", "level"), doc="When it is reset")
    external_start = Option(False, doc="Whether an input gives the value at the start")
    reset_value = Parameter(0, unit=lambda c: c.of_output(), when="external_reset",
                            doc="Value after a reset")
    reset = Input(when="external_reset", doc="Resets x when it rises above 0.5")
    start = Input(lambda c: c.of_output(), when="external_start",
                  doc="Value at the start and after a reset")
    x = Variable(lambda c: c.of_output(), 0, priority="high", doc="The integral")
    at_limit = Discrete(when="limited", doc="1 at the upper limit, -1 at the lower, else 0")
    beginning = Discrete(lambda c: c.of_output(), when="external_start",
                         doc="What start was at the start or at the last reset")

    def verify(self):
        if self.external_start and (self.limited or self.reset_on == "level"):
            yield ("a value at the start from a signal goes neither with limits nor with a reset "
                   "by level.")
        yield from super().verify()
        if self.limited and self.external_reset and self.lower < self.upper and not (
                self.lower <= self.reset_value <= self.upper):
            yield (f"the value after a reset, {self.reset_value:~P}, is not between the limits "
                   f"{self.lower:~P} and {self.upper:~P}.")

    def equations(self):
        anew = {self.x: self.reset_value} if self.external_reset else {}
        if self.limited:
            anew[self.at_limit] = 0
            stopped = (self.at_limit > 0.5) | (self.at_limit < -0.5)
            slope = where(stopped, 0 * self.u, self.u, events=False)
            yield from self._limits()
        else:
            slope = self.u
        if self.external_start:
            yield initially({self.beginning: self.start})
            anew[self.beginning] = self.start
        yield self.y == (self.x + self.beginning if self.external_start else self.x)
        if self.external_reset:
            if self.reset_on == "level":
                slope = where(self.reset > 0.5, 0 * self.u, slope)
            if self.reset_on != "falling":
                yield when(self.reset > 0.5, anew)
            if self.reset_on in ("falling", "either"):
                yield when(self.reset < 0.5, anew)
        yield der(self.x) == slope

    def _limits(self):
        above, below = (self.x >= self.upper) & (self.u > 0), (self.x <= self.lower) & (self.u < 0)
        side = where(above, 1, where(below, -1, 0, events=False), events=False)
        yield initially({self.at_limit: side})
        rounding = 1e-6 * (self.upper - self.lower)
        yield require((self.x <= self.upper + rounding) & (self.x >= self.lower - rounding),
                      "x is not between the limits lower and upper. Give x an initial value "
                      "between them.")
        away = abs_(self.at_limit) * (self.upper - self.lower)  # no crossing while at a limit
        yield when(self.x > self.upper + away, {self.at_limit: 1, self.x: self.upper})
        yield when(self.x < self.lower - away, {self.at_limit: -1, self.x: self.lower})
        yield when(self.at_limit * self.u < 0, {self.at_limit: 0})


class Derivative(Component):
    """The filtered time derivative of a signal.

    Equation: y = (u - x) / T, dx/dt = (u - x) / T, that is s / (T s + 1), with T = filter_time. A
    jump of height h in u gives a pulse h / T exp(-t / T) of area h. The pure derivative (T = 0) of
    a jump has no value, so T must be positive. Starts with y = 0. The output has the unit of
    ``input`` per second.
    """

    input = Option("1", doc="Unit of the input")
    filter_time = Parameter("1 ms", above=0, doc="Time constant of the filter; a pure derivative "
                            "of a jump has no value")
    u = Input(lambda c: c.input)
    x = Variable(lambda c: c.input, doc="Filtered input")
    rate = Variable(lambda c: quotient(c.input, "s"), 0, priority="high", doc="The derivative")
    y = Output(lambda c: quotient(c.input, "s"))

    def equations(self):
        yield self.rate == (self.u - self.x) / self.filter_time
        yield der(self.x) == (self.u - self.x) / self.filter_time
        yield self.y == self.rate


class Fraction(Component):
    """Base of rational transfer functions."""

    input = Option("1", doc="Unit of the input")
    output = Option("1", doc="Unit of the output")
    u = Input(lambda c: c.input)
    y = Output(lambda c: c.output)

    def verify(self):
        if self.denominator.magnitude[0] == 0:
            yield ("the first coefficient of the denominator is 0. Leave it out, or give the "
                   "coefficient of the highest power first.")

    def above(self, n):
        """Coefficients of the numerator, as many as the denominator has, over its first."""
        short = n + 1 - len(self.numerator)
        return [self.numerator[k - short] / self.denominator[0] if k >= short else 0
                for k in range(n + 1)]


class TransferFunction(Fraction):
    """A rational transfer function.

    Equation: Y = (b_m s^m + ... + b_0) / (a_n s^n + ... + a_0) U with m <= n, for u and
    y as numbers in their units and s in 1/s. In observer form: y is the first state
    plus the direct part.

    The first of the denominator is not 0: how many there are is the order, whatever they are.
    Starts at rest (states x1, x2, ... are 0).

    Raises
    ------
    ParameterError
        If the numerator is of higher order than the denominator: the output would
        contain derivatives of the input.
    """

    numerator = Parameter([1.0], doc="Coefficients, highest power first")
    denominator = Parameter([1.0, 1.0], doc="Coefficients, highest power first")
    x = Variable(lambda c: [""] * _order(c), 0, priority="high", doc="States")

    def equations(self):
        n = len(self.x)
        u, y = self.u / quantity(1, self.input), self.y / quantity(1, self.output)
        a = [self.denominator[k] / self.denominator[0] for k in range(n + 1)]
        b = self.above(n)
        yield y == (self.x[0] if n else 0) + b[0] * u
        for k in range(1, n + 1):
            following = self.x[k] if k < n else 0
            yield der(self.x[k - 1]) * quantity("1 s") == following - a[k] * y + b[k] * u


def _order(component, because="contain derivatives of the input"):
    m, n = len(component.numerator) - 1, len(component.denominator) - 1
    if m > n:
        raise ParameterError(
            f"{component.path}.numerator", f"is of order {m}, but the denominator is of order {n}: "
            f"the output would {because}.",
            "Give a denominator of at least the same order, such as a filter; leave out zeros in "
            "front of the numerator.",
        )  # fmt: skip
    return n


class LinearSystem(Component):
    """Base of state spaces: their matrices, inputs and outputs."""

    input = Option("1", doc="Unit of the inputs")
    output = Option("1", doc="Unit of the outputs")
    A = Parameter([[-1.0]], doc="State matrix, n by n")
    B = Parameter([[1.0]], doc="Input matrix, n by inputs")
    C = Parameter([[1.0]], doc="Output matrix, outputs by n")
    D = Parameter(np.zeros((0, 0)), doc="Direct part, outputs by inputs")
    u = Input(lambda c: [c.input] * _sizes(c)[1])
    y = Output(lambda c: [c.output] * _sizes(c)[2])

    def growth(self):
        """A x + B u, and C x + D u, by rows, as numbers."""
        u = [u / quantity(1, self.input) for u in self.u]
        return tuple([_row(of_x, i, self.x) + (_row(of_u, i, u) if len(of_u) else 0)
                      for i in range(len(rows))]
                     for rows, of_x, of_u in ((self.x, self.A, self.B), (self.y, self.C, self.D)))


def _row(matrix, i, values):
    return sum((matrix[i, k] * v for k, v in enumerate(values)), start=0)


class StateSpace(LinearSystem):
    """A linear state space with any number of inputs and outputs.

    Equations: dx/dt = A x + B u, y = C x + D u, for u and y as numbers in their units
    and time in seconds. Without D nothing passes through directly. Initial states: ``x1=...``.
    """

    x = Variable(lambda c: [""] * _sizes(c)[0], 0, priority="high", doc="States")

    def equations(self):
        slopes, values = self.growth()
        for x, slope in zip(self.x, slopes, strict=True):
            yield der(x) * quantity("1 s") == slope
        for y, value in zip(self.y, values, strict=True):
            yield y / quantity(1, self.output) == value


def _sizes(component):
    """Numbers of states, inputs and outputs."""
    shape = {name: np.shape(getattr(component, name)) for name in "ABCD"}
    n, inputs, outputs = shape["A"][0], shape["B"][1], shape["C"][0]
    wanted = {"A": (n, n), "B": (n, inputs), "C": (outputs, n), "D": (outputs, inputs)}
    for name, size in wanted.items():
        if shape[name] not in (size, (0, 0)):
            raise ParameterError(
                f"{component.path}.{name}", f"is {shape[name][0]} by {shape[name][1]}, but must be "
                f"{size[0]} by {size[1]} for {n} states, {inputs} inputs and {outputs} outputs.",
            )  # fmt: skip
    return n, inputs, outputs


class Controller(Limited):
    """Base of PID controllers: gains, filter and limits."""

    input = Option("1", doc="Unit of the control error")
    proportional = Parameter("1", unit="any", doc="Proportional gain")
    integral = Parameter(0, unit=lambda c: quotient(c.proportional.units, "s"), doc="Integral gain",
                         advice="It has the unit of 'proportional' per second.")
    derivative = Parameter(0, unit=lambda c: product(c.proportional.units, "s"),
                           doc="Derivative gain",
                           advice="It has the unit of 'proportional' times a second.")
    filter_time = Parameter("10 ms", above=0, doc="Time constant of the derivative's filter")

    def of_output(self):
        return product(self.proportional.units, self.input)


class PID(Controller):
    """A parallel PID controller with filtered derivative, output limits and anti-windup.

    Equations: v = P u + x + D (u - f) / T, dx/dt = I u + (y - v) / T_t, df/dt = (u - f) / T, with
    P = proportional, I = integral, D = derivative, T = filter_time and T_t = tracking_time. Starts
    with x = 0 and f = u. Without limits y = v; with ``limited=True`` y is v between ``lower`` and
    ``upper``, and the difference drives the integral back (back calculation, so there is no
    switching and no chatter). With ``anti_windup="clamping"`` it is driven back no faster than I u
    drives it further: the integral rests, as soon as v is T_t I u beyond a limit.
    ``anti_windup=False`` leaves both out. Take tracking_time between P/I and D/P; with clamping far
    shorter. The output has the unit of P times that of the input.

    References
    ----------
    Åström and Hägglund, Advanced PID Control, ISA 2006, section 3.5.
    """

    anti_windup = Option(True, choices=(True, False, "clamping"),
                         doc="Whether the limited output drives the integral back")
    tracking_time = Parameter("1 s", above=0, when="limited", doc="Time constant of anti-windup")
    x = Variable(lambda c: c.of_output(), 0, priority="high", doc="Integral part")
    f = Variable(lambda c: c.input, doc="Filtered error")
    rate = Variable(lambda c: quotient(c.input, "s"), 0, priority="high", doc="Derivative of the "
                    "error")

    def equations(self):
        yield self.rate == (self.u - self.f) / self.filter_time
        yield der(self.f) == (self.u - self.f) / self.filter_time
        wanted = self.proportional * self.u + self.x + self.derivative * self.rate
        if not self.limited:
            yield self.y == wanted
            yield der(self.x) == self.integral * self.u
            return
        yield self.y == maximum(minimum(wanted, self.upper), self.lower)
        growth = self.integral * self.u
        back = (self.y - wanted) / self.tracking_time if self.anti_windup else 0
        if self.anti_windup == "clamping":
            back = maximum(minimum(back, maximum(-growth, 0)), minimum(-growth, 0))
        yield der(self.x) == growth + back


class Delay(OneUnit):
    """A transport delay, exact.

    Equation: y(t) = u(t - delay), and ``initial_output`` while that is before the run. The
    signal is remembered as accurately as the run is; where it jumps, the run stops one
    delay later. Steps are no longer than the delay. The derivative of y is not known: a
    delayed motion cannot be imposed on a body without a spring in between.
    """

    delay = Parameter("1 s", above=0, doc="Transport delay")
    initial_output = Parameter(0, unit=lambda c: c.unit, doc="Output until the input arrives")

    def equations(self):
        yield self.y == delayed(self.u, self.delay, initial=self.initial_output)


class PadeDelay(OneUnit):
    """A transport delay, approximated by a Padé fraction.

    Equation: Y = N(-s T) / N(s T) U with N(p) = sum of c_k p^k and c_k = (2n - k)! n! / ((2n)! k!
    (n - k)!), n the order and T the delay. The gain is exactly 1 at every frequency, the phase that
    of the delay up to about n / T rad/s; a jump of the input shows at once as ripple of either
    sign, then arrives smeared. It has a derivative and no influence on the steps; :class:`Delay` is
    exact. Starts at rest with the input 0.

    References
    ----------
    Golub and Van Loan, Matrix Computations, section 11.3 (diagonal Padé fractions).
    """

    order = Option(2, minimum=1, doc="Order of the fraction")
    delay = Parameter("1 s", above=0, doc="Transport delay")
    x = Variable(lambda c: [c.unit] * c.order, 0, priority="high", doc="States")

    def equations(self):
        n = self.order
        c = [factorial(2 * n - k) * factorial(n) / (factorial(2 * n) * factorial(k)
             * factorial(n - k)) for k in range(n, -1, -1)]  # fmt: skip
        a = [value / c[0] for value in c]
        b = [(-1) ** (n - k) * value for k, value in enumerate(a)]
        yield self.y == self.x[0] + b[0] * self.u
        for k in range(1, n + 1):
            following = self.x[k] if k < n else 0
            yield self.delay * der(self.x[k - 1]) == following - a[k] * self.y + b[k] * self.u
