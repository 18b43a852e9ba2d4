"""Are SI's units, which are read without pint, those that pint knows?"""

import pint
import pytest

from blocks.units import quantity, unit

NAMES = ["m", "s", "A", "K", "rad", "Hz", "N", "Pa", "J", "W", "V", "ohm", "F", "H", "T", "Wb"]


def test_a_unit_of_si_is_pints():
    wrong = []
    for text in ("kg", *(p + n for n in NAMES for p in ("", "m", "k")), "", "kN/mm", "N*s/m",
                 "m**0.5", "kg*m^2/s^3", "Hz/V", "mrad/s"):
        read, pints = unit(text), pint.Unit(text.replace("^", "**"))
        factor = pint.Quantity(1.0, pints).to_base_units().magnitude
        dimension = dict(pints.dimensionality)
        found = (read.factor, read.offset, read.dimension, dict(read.pint.dimensionality),
                 read.pint, quantity(f"2 {text}").to(pints).magnitude)
        wanted = pytest.approx(factor, rel=1e-15), 0, dimension, dimension, pints, 2
        wrong += [(text, found, wanted)] * (found != wanted)
    assert wrong == []


@pytest.mark.parametrize("text, angular, frequency", [
    ("rad/s", True, False), ("krad", True, False), ("kHz", False, True), ("1/s", False, False)])
def test_angles_and_frequencies_are_told_apart(text, angular, frequency):
    assert (unit(text).angular, unit(text).frequency) == (angular, frequency)
