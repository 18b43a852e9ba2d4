"""Units of signals that follow from other units, and blocks that have one."""

from blocks import Component, Input, Option, Output, quantity

__all__ = ["OneUnit", "power", "product", "quotient"]


class OneUnit(Component):
    """Base of blocks whose output has the unit of their input."""

    unit = Option("1", doc="Unit of inputs and output")
    u = Input(lambda c: c.unit)
    y = Output(lambda c: c.unit)


def product(a, b):
    """The unit of a product, in few symbols: ``N/m`` times ``m`` is ``N``."""
    return (1 * _units(a) * _units(b)).to_reduced_units().units


def quotient(a, b):
    """The unit of a quotient."""
    return (1 * _units(a) / _units(b)).to_reduced_units().units


def power(a, exponent):
    """The unit of a power."""
    return _units(a) ** exponent


def _units(given):
    """pint's unit from a text or a pint unit; a temperature is multiplied in K."""
    units = quantity(0, given).units
    return units if quantity(0, units).to_base_units().magnitude == 0 else quantity(0, "K").units
