"""Sampled control: integrators, transfer functions, state spaces and controllers in steps.

At every sampling instant a block reads its inputs and its memory, gives out a new value and
remembers a new one; in between its output is held. What depends on memory alone (an integrator by
the forward rule, a fraction whose numerator is of lower order) needs no present input, so it may
stand in a loop. All samplers of one instant act together, see :mod:`library.signal.discrete`.

References
----------
Åström and Wittenmark, Computer-Controlled Systems, 3rd ed., Prentice Hall 1997, sections 8.2, 8.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blocks import (
    Component,
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    every,
    maximum,
    minimum,
    quantity,
    where,
)

from ._units import product
from .continuous import Controller, _order, _sizes

__all__ = ["DiscreteIntegrator", "DiscretePID", "DiscreteStateSpace", "DiscreteTransferFunction"]

#: How much of the present sample a rule counts: none, all, or half of it.
RULES = {"forward": 0.0, "backward": 1.0, "trapezoidal": 0.5}


class _Sampled(Component):
    """What all have that sample."""

    sample_time = Parameter("1 s", above=0, doc="Time between samples")
    offset = Parameter("0 s", doc="Instant of the first sample")

    def _at_samples(self, assignments: dict[Any, Any]) -> Any:
        return every(self.sample_time, assignments, start=self.offset)


class DiscreteIntegrator(_Sampled):
    """The sum of samples times the time between them.

    Equations, with the sample time T: "forward" y_k = x_k; "backward" y_k = x_k + T u_k;
    "trapezoidal" y_k = x_k + T u_k / 2; and x_(k+1) = x_k + T u_k. With ``limited=True`` x and y
    stay between the limits.

    Parameters: input, method, sample_time (s) = T, offset (s), limited, lower, upper. The output
    has the unit of ``input`` times a second; with "forward" it does not depend on the present u.
    Ports: input u, output y. Initial value: ``DiscreteIntegrator(x="3 m")``; y is 0 before the
    first sample.
    """

    input = Option("1", doc="Unit of the input")
    method = Option("forward", choices=tuple(RULES), doc="Which samples count")
    limited = Option(False, doc="Whether x stays between limits")
    lower = Parameter(-1, unit=lambda c: product(c.input, "s"), when="limited", doc="Lower limit")
    upper = Parameter(1, unit=lambda c: product(c.input, "s"), when="limited", doc="Upper limit")
    u = Input(lambda c: c.input)
    y = Output(lambda c: product(c.input, "s"))
    x = Discrete(lambda c: product(c.input, "s"), 0, doc="The sum so far")
    held = Discrete(lambda c: product(c.input, "s"), 0, doc="The last output")

    def verify(self):
        if self.limited and not self.lower < self.upper:
            yield f"the lower limit {self.lower:~P} is not below the upper limit {self.upper:~P}."

    def equations(self):
        area = self.sample_time * self.u
        now = self.x + RULES[self.method] * area if RULES[self.method] else self.x
        following = self.x + area
        if self.limited:
            now, following = (minimum(maximum(v, self.lower), self.upper) for v in (now, following))
        yield self._at_samples({self.held: now, self.x: following})
        yield self.y == self.held


class DiscreteTransferFunction(_Sampled):
    """A rational transfer function in z.

    Equation: Y = (b_m z^m + ... + b_0) / (a_n z^n + ... + a_0) U with m <= n, for u and y as
    numbers in their units. A delay of three samples is ``numerator=[1],
    denominator=[1, 0, 0, 0]``.

    Parameters: numerator, denominator, whose first is not 0, input, output, sample_time (s), offset
    (s).
    Ports: input u, output y. Starts at rest (x1, x2, ... are 0).

    Raises
    ------
    ParameterError
        If the numerator is of higher order than the denominator: the output would need samples
        to come.
    """

    input = Option("1", doc="Unit of the input")
    output = Option("1", doc="Unit of the output")
    numerator = Parameter([1.0], doc="Coefficients, highest power of z first")
    denominator = Parameter([1.0, 0.5], doc="Coefficients, highest power of z first")
    u = Input(lambda c: c.input)
    y = Output(lambda c: c.output)
    x = Discrete(lambda c: [""] * _order(c, "need samples to come"), 0, doc="Memory")
    held = Discrete(doc="The last output, in its unit")

    def verify(self):
        if self.denominator.magnitude[0] == 0:
            yield ("the first coefficient of the denominator is 0. Leave it out, or give the "
                   "coefficient of the highest power first.")

    def equations(self):
        n, lead = len(self.x), self.denominator[0]
        u = self.u / quantity(1, self.input)
        short = n + 1 - len(self.numerator)
        b = [self.numerator[k - short] / lead if k >= short else 0 for k in range(n + 1)]
        now = (self.x[0] if n else 0) + (b[0] * u if short == 0 else 0)
        assigned = {self.held: now}
        for k in range(1, n + 1):
            following = self.x[k] if k < n else 0
            assigned[self.x[k - 1]] = following - self.denominator[k] / lead * now + b[k] * u
        yield self._at_samples(assigned)
        yield self.y == self.held * quantity(1, self.output)


class DiscreteStateSpace(_Sampled):
    """A linear difference equation with any number of inputs and outputs.

    Equations: y_k = C x_k + D u_k, x_(k+1) = A x_k + B u_k, for u and y as numbers in their units.

    Parameters: A (n by n), B (n by inputs), C (outputs by n), D (outputs by inputs; without it y
    depends on memory alone), input, output, units of all inputs and outputs, sample_time (s),
    offset (s).
    Ports: inputs u1, u2, ..., outputs y1, y2, .... Initial memory: ``x1=...``.
    """

    input = Option("1", doc="Unit of the inputs")
    output = Option("1", doc="Unit of the outputs")
    A = Parameter([[0.5]], doc="State matrix")
    B = Parameter([[1.0]], doc="Input matrix")
    C = Parameter([[1.0]], doc="Output matrix")
    D = Parameter(np.zeros((0, 0)), doc="Direct part")
    u = Input(lambda c: [c.input] * _sizes(c)[1])
    y = Output(lambda c: [c.output] * _sizes(c)[2])
    x = Discrete(lambda c: [""] * _sizes(c)[0], 0, doc="Memory")
    held = Discrete(lambda c: [""] * _sizes(c)[2], 0, doc="The last outputs")

    def equations(self):
        u = [u / quantity(1, self.input) for u in self.u]
        assigned = {x: _row(self.A, i, self.x) + _row(self.B, i, u) for i, x in enumerate(self.x)}
        for i, held in enumerate(self.held):
            assigned[held] = _row(self.C, i, self.x) + (_row(self.D, i, u) if len(self.D) else 0)
        yield self._at_samples(assigned)
        for y, held in zip(self.y, self.held, strict=True):
            yield y == held * quantity(1, self.output)


def _row(matrix: Any, i: int, values: Any) -> Any:
    return sum((matrix[i, k] * v for k, v in enumerate(values)), start=0)


class DiscretePID(Controller, _Sampled):
    """A sampled parallel PID controller with filtered derivative and anti-windup.

    Equations at every sample, with the sample time T, the filter time T_f and w = 0 ("forward"), 1
    ("backward") or 1/2 ("trapezoidal"), w_f of the filter: r = (u - f) / (T_f + w_f T),
    v = P u + x + w I T u + D r, then x increases by I T u and f by T r. Without limits y = v; with
    ``limited=True`` y is v between ``lower`` and ``upper``, and the integral is kept from winding
    up.

    Parameters: input, proportional = P, integral = I, derivative = D, filter_time (ms) = T_f
    (Simulink's filter coefficient is 1 / T_f), sample_time (s) = T, offset (s), method of integral
    and filter, filter_method ("none": the derivative is the difference of two samples, r = (u - f)
    / T), limited, anti_windup ("clamping": the integral rests while it drives the output further
    beyond a limit; "back-calculation": it follows by (y - v) T / T_t), lower, upper, tracking_time
    (s) = T_t. The output has the unit of P times that of the input, I and D that of P per second
    and times a second.
    Ports: input u, output y. Starts with x = 0 and f = 0, as Simulink's: a control error at the
    start counts as a jump.

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
    x = Discrete(lambda c: product(c.proportional.units, c.input), 0, doc="Integral part")
    f = Discrete(lambda c: c.input, 0, doc="Filtered error")
    held = Discrete(lambda c: product(c.proportional.units, c.input), 0, doc="The last output")

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
        yield self._at_samples({self.held: given, self.x: self.x + growth,
                                self.f: self.f + period * rate})
        yield self.y == self.held
