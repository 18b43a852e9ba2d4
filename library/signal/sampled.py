"""Sampled control: integrators, transfer functions, state spaces and controllers in steps.

At every sampling instant a block reads its inputs and its memory, gives out a new value and
remembers a new one; in between its output is held. What depends on memory alone (an integrator by
the forward rule, a fraction whose numerator is of lower order) needs no present input, so it may
stand in a loop. All samplers of one instant act together, see :mod:`library.signal.discrete`.

References
----------
Åström and Wittenmark, Computer-Controlled Systems, 3rd ed., Prentice Hall 1997, sections 8.2, 8.5.
"""

from blocks import Discrete, Option, Parameter, maximum, minimum, quantity, where

from .continuous import Controller, Fraction, Integral, LinearSystem, _order, _sizes
from .discrete import Sampled

#: How much of the present sample a rule counts: none, all, or half of it.
RULES = {"forward": 0.0, "backward": 1.0, "trapezoidal": 0.5}


class DiscreteIntegrator(Integral, Sampled):
    """The sum of samples times the time between them.

    Equations, with the sample time T: "forward" y_k = x_k; "backward" y_k = x_k + T u_k;
    "trapezoidal" y_k = x_k + T u_k / 2; and x_(k+1) = x_k + T u_k. With ``limited=True`` x and y
    stay between the limits. The output has the unit of ``input`` times a second; with "forward" it
    does not depend on the present u. Initial value: ``DiscreteIntegrator(x="3 m")``; y is 0 before
    the first sample.
    """

    method = Option("forward", choices=tuple(RULES), doc="Which samples count")
    x = Discrete(lambda c: c.of_output(), 0, doc="The sum so far")
    held = Discrete(lambda c: c.of_output(), 0, doc="The last output")

    def equations(self):
        area = self.sample_time * self.u
        now = self.x + RULES[self.method] * area if RULES[self.method] else self.x
        following = self.x + area
        if self.limited:
            now, following = (minimum(maximum(v, self.lower), self.upper) for v in (now, following))
        yield self.at_every_sample({self.held: now, self.x: following})
        yield self.y == self.held


class DiscreteTransferFunction(Fraction, Sampled):
    """A rational transfer function in z.

    Equation: Y = (b_m z^m + ... + b_0) / (a_n z^n + ... + a_0) U with m <= n, for u and y as
    numbers in their units. A delay of three samples is ``numerator=[1], denominator=[1, 0, 0, 0]``.
    The first of the denominator is not 0. Starts at rest (x1, x2, ... are 0).

    Raises
    ------
    ParameterError
        If the numerator is of higher order than the denominator: the output would need samples
        to come.
    """

    numerator = Parameter([1.0], doc="Coefficients, highest power of z first")
    denominator = Parameter([1.0, 0.5], doc="Coefficients, highest power of z first")
    x = Discrete(lambda c: [""] * _order(c, "need samples to come"), 0, doc="Memory")
    held = Discrete(doc="The last output, in its unit")

    def equations(self):
        n, lead = len(self.x), self.denominator[0]
        u, b = self.u / quantity(1, self.input), self.above(n)
        now = (self.x[0] if n else 0) + (b[0] * u if len(self.numerator) > n else 0)
        assigned = {self.held: now}
        for k in range(1, n + 1):
            following = self.x[k] if k < n else 0
            assigned[self.x[k - 1]] = following - self.denominator[k] / lead * now + b[k] * u
        yield self.at_every_sample(assigned)
        yield self.y == self.held * quantity(1, self.output)


class DiscreteStateSpace(LinearSystem, Sampled):
    """A linear difference equation with any number of inputs and outputs.

    Equations: y_k = C x_k + D u_k, x_(k+1) = A x_k + B u_k, for u and y as numbers in their units.
    Without D y depends on memory alone. Initial memory: ``x1=...``.
    """

    A = Parameter([[0.5]], doc="State matrix, n by n")
    x = Discrete(lambda c: [""] * _sizes(c)[0], 0, doc="Memory")
    held = Discrete(lambda c: [""] * _sizes(c)[2], 0, doc="The last outputs")

    def equations(self):
        following, values = self.growth()
        yield self.at_every_sample(dict(zip((*self.x, *self.held), (*following, *values),
                                            strict=True)))
        for y, held in zip(self.y, self.held, strict=True):
            yield y == held * quantity(1, self.output)


class DiscretePID(Controller, Sampled):
    """A sampled parallel PID controller with filtered derivative and anti-windup.

    Equations at every sample, with the sample time T, the filter time T_f and w = 0 ("forward"), 1
    ("backward") or 1/2 ("trapezoidal"), w_f of the filter: r = (u - f) / (T_f + w_f T),
    v = P u + x + w I T u + D r, then x increases by I T u and f by T r. Without limits y = v; with
    ``limited=True`` y is v between ``lower`` and ``upper``, and the integral is kept from winding
    up.

    P is proportional, I integral, D derivative, 1 / T_f Simulink's filter coefficient. With
    ``filter_method="none"`` the derivative is the difference of two samples, r = (u - f) / T. By
    "clamping" the integral rests while it drives the output further beyond a limit, by
    "back-calculation" it follows by (y - v) T / tracking_time. The output has the unit of P times
    that of the input. Starts with x = 0 and f = 0, as Simulink's: a control error at the start
    counts as a jump.

    References
    ----------
    Åström and Hägglund, Advanced PID Control, ISA 2006, section 13.4.
    """

    method = Option("forward", choices=tuple(RULES), doc="Rule of integral and filter")
    filter_method = Option("as method", choices=("as method", *RULES, "none"),
                           doc="Rule of the derivative's filter")
    filter_time = Parameter("10 ms", above=0, when=lambda c: c.filter_method != "none",
                            doc="Time constant of the derivative's filter")
    anti_windup = Option("clamping", choices=("clamping", "back-calculation", "none"),
                         doc="What keeps the integral of a limited output from winding up")
    tracking_time = Parameter("1 s", above=0, doc="Time constant of back calculation",
                              when=lambda c: c.limited and c.anti_windup == "back-calculation")
    x = Discrete(lambda c: c.of_output(), 0, doc="Integral part")
    f = Discrete(lambda c: c.input, 0, doc="Filtered error")
    held = Discrete(lambda c: c.of_output(), 0, doc="The last output")

    def _filter_rule(self):
        return self.method if self.filter_method == "as method" else self.filter_method

    def advise(self):
        if (self._filter_rule() == "forward" and self.derivative.magnitude
                and 2 * self.filter_time <= self.sample_time):
            yield (f"by the forward rule the derivative's filter grows without bound, as "
                   f"filter_time = {self.filter_time:~P} is not more than half of sample_time = "
                   f"{self.sample_time:~P}. Take filter_method='backward', or sample more often.")

    def equations(self):
        period, weight, rule = self.sample_time, RULES[self.method], self._filter_rule()
        lag = period if rule == "none" else self.filter_time + RULES[rule] * period
        rate = (self.u - self.f) / lag
        growth = self.integral * period * self.u
        wanted = self.proportional * self.u + self.x + weight * growth + self.derivative * rate
        given = wanted
        if self.limited:
            given = minimum(maximum(wanted, self.lower), self.upper)
            if self.anti_windup == "back-calculation":
                growth = growth + (given - wanted) * (period / self.tracking_time)
            elif self.anti_windup == "clamping":
                further = ((wanted > self.upper) & (growth > 0)) | (
                    (wanted < self.lower) & (growth < 0))
                growth = where(further, 0 * growth, growth, events=False)
        yield self.at_every_sample({self.held: given, self.x: self.x + growth,
                                    self.f: self.f + period * rate})
        yield self.y == self.held
