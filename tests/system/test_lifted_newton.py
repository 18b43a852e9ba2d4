"""Unknowns that Newton's method looks for far up an exponential."""

import casadi as ca
import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import Input, Parameter, exp, quantity
from blocks.numerics.rewriting import lifted
from library.electrical import Capacitor, ElectricalReference, Resistor, TwoPort
from library.signal import Constant

PHOTO, SATURATION, THERMAL, SHUNT = 8.0, 1e-10, 0.026, 50.0


class Cell(TwoPort):
    """A solar cell, which gives its current out of p."""

    light = Input("1", default="share")
    share = Parameter(1.0)

    def equations(self):
        current, saturation = quantity(PHOTO, "A"), quantity(SATURATION, "A")
        yield self.i == (saturation * (exp(self.v / quantity(THERMAL, "V")) - 1)
                         + self.v / quantity(SHUNT, "ohm") - self.light * current)


def current_of(v, light):
    return light * PHOTO - SATURATION * np.expm1(v / THERMAL) - v / SHUNT


def voltage_of(i, light):
    return brentq(lambda v: current_of(v, light) - i, -600.0, 1.0, xtol=1e-14)


@pytest.mark.parametrize("count", [2, 8, 40])
def test_a_string_of_cells_shares_the_voltage_it_starts_at(count):
    """All of it over one cell would be e^46 to e^920, which is no number."""
    model = wired("string", "sun.y cells[1:].light", "shade.y cells[0].light",
                  "cells[0].p bank.p load.p", "cells[1:].p cells[:-1].n",
                  "cells[-1].n bank.n load.n earth.V",
                  cells=Cell(count=count),
                  bank=Capacitor(capacitance="1 mF", vc=f"{0.6 * count} V"),
                  load=Resistor(resistance=f"{0.1 * count} ohm"), earth=ElectricalReference(),
                  sun=Constant(value=1.0), shade=Constant(value=0.9))
    run = model.simulate("1 ms")
    lights = np.array([0.9] + [1.0] * (count - 1))

    def missing(i):
        return sum(voltage_of(i, light) for light in lights) - 0.6 * count

    i = brentq(missing, 0.0, 7.199, xtol=1e-13)
    assert_allclose(run["cells.i"].at("0 s").to("A").m, -i, rtol=1e-7)
    assert_allclose(run["cells.v"].at("0 s").to("V").m, [voltage_of(i, light) for light in lights],
                    rtol=1e-7)


def test_exponents_are_symbols_of_their_own():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    product = x * y
    (out,), symbols, exponents = lifted([ca.vertcat(ca.exp(product) + ca.exp(product) * x,
                                                    ca.exp(ca.exp(y)))])
    assert len(symbols) == 3
    meant = ca.Function("meant", [x, y], [ca.vertcat(*exponents)])(0.3, 0.7)
    whole = ca.Function("whole", [x, y, *symbols], [out])(0.3, 0.7, *ca.vertsplit(meant))
    assert_allclose(np.array(whole)[:, 0], [np.exp(0.21) * 1.3, np.exp(np.exp(0.7))], rtol=1e-15)
