"""Memoryless arithmetic on signals; units are multiplied and divided as values are."""

import math
from functools import reduce

import blocks as functions
from blocks import Component, Input, Option, Output, Parameter, quantity, sqrt
from blocks.exceptions import ParameterError, WrongDimension

from ._units import OneUnit, power, product, quotient


class Gain(Component):
    """A signal times a constant.

    Equation: y = gain u. The output's unit is the product of the two, so a gain
    converts: ``Gain(gain="2 N/m", input="m")`` turns a length into a force.
    """

    input = Option("1", doc="Unit of the input")
    gain = Parameter("1", unit="any", doc="Factor")
    u = Input(lambda c: c.input)
    y = Output(lambda c: product(c.gain.units, c.input))

    def equations(self):
        yield self.y == self.gain * self.u


class Sum(OneUnit):
    """The signed sum of signals of one unit.

    Equation: y = +-u1 +-u2 ..., one input per sign.
    """

    signs = Option("++", doc="One + or - per input")
    u = Input(lambda c: [c.unit] * len(_signs(c)))

    def equations(self):
        total = 0
        for sign, u in zip(self.signs, self.u, strict=True):
            total = total + u if sign == "+" else total - u
        yield self.y == total


class Subtract(Sum):
    """The difference of two signals of one unit: y = u1 - u2 (a :class:`Sum`)."""

    signs = Option("+-", doc="One + or - per input")


def _signs(component):
    if not component.signs or set(component.signs) - {"+", "-"}:
        raise ParameterError(f"{component.path}.signs", f"is {component.signs!r}, but takes one "
                             "'+' or '-' per input.", "Write for example signs='+-'.")
    return component.signs


class Product(Component):
    """The product of signals.

    Equation: y = u1 u2 ..., with the product of their units.
    """

    units = Option("1, 1", doc='Units of the inputs, separated by commas: "N, m/s"')
    u = Input(lambda c: _listed(c))
    y = Output(lambda c: reduce(product, _listed(c)))

    def equations(self):
        yield self.y == math.prod(self.u[1:], start=self.u[0])


class Divide(Component):
    """The quotient of two signals.

    Equation: y = u1 / u2, with the quotient of their units. A run ends where the
    divisor passes through zero.
    """

    units = Option("1, 1", doc='Units of dividend and divisor: "N, m/s"')
    u = Input(lambda c: _listed(c, 2))
    y = Output(lambda c: quotient(*_listed(c, 2)))

    def equations(self):
        yield self.y == self.u[0] / self.u[1]


def _listed(component, count=None):
    units = [u.strip() for u in component.units.split(",")]
    if count is not None and len(units) != count:
        raise ParameterError(f"{component.path}.units", f"names {len(units)} units, but there are "
                             f"{count} inputs.", "Write for example units='N, m'.")
    return units


class VectorNorm(OneUnit):
    """The length of a vector of signals.

    Equation: y = sqrt(u1^2 + u2^2 + ...). It has no derivative where all are zero.
    """

    inputs = Option(3, minimum=1, doc="Number of inputs")
    u = Input(lambda c: [c.unit] * c.inputs)

    def equations(self):
        yield self.y == sqrt(sum(u**2 for u in self.u))


class Terminator(Component):
    """The end of a signal that nothing needs.

    An output may as well stay open; this component says that it is meant.
    """

    unit = Option("1", doc="Unit of the signal")
    u = Input(lambda c: c.unit)


_OF_NUMBERS = {"exp": functions.exp, "log": functions.log,
               "log10": lambda u: functions.log(u) / math.log(10), "sin": functions.sin,
               "cos": functions.cos, "tan": functions.tan, "arctan": functions.arctan,
               "sinh": functions.sinh, "cosh": functions.cosh, "tanh": functions.tanh}
_OF_QUANTITIES = {"sqrt": (sqrt, 0.5), "square": (lambda u: u**2, 2), "cube": (lambda u: u**3, 3),
                  "reciprocal": (lambda u: 1 / u, -1)}


class MathFunction(Component):
    """A function of one signal.

    Equation: y = function(u). Roots and powers change the unit accordingly; exp, log, log10 and the
    trigonometric and hyperbolic functions take a plain number or an angle and give a plain number.
    A run ends where the function has no value (the root or logarithm of a negative number).
    """

    function = Option("square", choices=[*_OF_NUMBERS, *_OF_QUANTITIES], doc="Name of the function")
    unit = Option("1", doc="Unit of the input")
    u = Input(lambda c: c.unit)
    y = Output(lambda c: _unit_of_function(c))

    def equations(self):
        if self.function in _OF_NUMBERS:
            yield self.y == _OF_NUMBERS[self.function](self.u)
        else:
            yield self.y == _OF_QUANTITIES[self.function][0](self.u)


def _unit_of_function(component):
    if component.function in _OF_QUANTITIES:
        return power(component.unit, _OF_QUANTITIES[component.function][1])
    if not quantity(1, component.unit).dimensionless:
        raise WrongDimension(
            f"{component.path}.unit", f"is {component.unit}, but {component.function}() takes a "
            "plain number or an angle.", "Divide by a reference value first, with a Gain.",
        )  # fmt: skip
    return ""
