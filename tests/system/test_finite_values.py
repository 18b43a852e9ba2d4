"""Laws that may lose their value, or have a huge one."""

import casadi as ca
import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import blocks
import library.electrical as el
from blocks import Component, Input, Output, Parameter, Variable, der, quantity, sqrt
from blocks.numerics.rewriting import lifted
from blocks.system.finite_values import FiniteValues
from library.signal import Constant


# -- laws that may lose their value -----------------------------------------------------------
class Root(Component):
    """A signal with a root of what it is given, and a state with one of its own."""

    u, y = Input("V"), Output("V^0.5")
    level, seen = Variable("1", 1.0, priority="high"), Variable("1")

    def equations(self):
        yield der(self.level) == quantity("-1 1/s")
        yield self.seen == sqrt(2 + self.level)
        yield self.y == sqrt(self.u)


def rooted():
    """A root of a voltage that loops and a diode decide on."""
    return wired("rooted", "source.p r.p", "r.n diode.p sensor.p exponential.p", "diode.n c.p",
                 "source.n c.n sensor.n exponential.n ground.V", "sensor.V root.u",
                 ground=el.ElectricalReference(), source=el.DCVoltageSource(voltage="5 V"),
                 r=el.Resistor(), diode=el.Diode(model="ideal"), c=el.Capacitor(),
                 exponential=el.Diode(model="exponential"), sensor=el.VoltageSensor(), root=Root())


class Approach(Component):
    """What is slower the farther it is from a wall, and values that no motion depends on."""

    x = Variable("m", "1 m", priority="high")
    near, left, far = Variable("1/m"), Variable("m^0.5"), Variable("m")

    def equations(self):
        distance = quantity("2 m") - self.x
        yield der(self.x) == -quantity("1 m^2/s") / distance
        yield self.near == 3 / distance
        yield self.left == sqrt(self.x + quantity("3 m"))
        yield self.far == sqrt(distance**2 + self.x**2)


def test_what_the_slopes_show_is_not_looked_at():
    laws = FiniteValues(wired("approach", part=Approach()).compile())
    assert {laws._named(int(k))[1].partition(" ")[0] for k in laws._all[0]} == {"left"}


def test_what_they_do_not_show_is_told():
    model = wired("approach", part=Approach(x="-2.9 m"))
    with pytest.raises(blocks.SimulationError, match=r"left == sqrt") as error:
        model.simulate("1 s")  # it is below -3 m from (5^2 - 4.9^2) / 2 s on
    assert error.value.code == "simulation.value" and error.value.time > 0.495


# -- far up an exponential --------------------------------------------------------------------
PHOTO, SATURATION, THERMAL, SHUNT = 8.0, 1e-10, 0.026, 50.0


class Cell(el.TwoPort):
    """A solar cell, which gives its current out of p."""

    light = Input("1", default="share")
    share = Parameter(1.0)

    def equations(self):
        current, saturation = quantity(PHOTO, "A"), quantity(SATURATION, "A")
        yield self.i == (saturation * (blocks.exp(self.v / quantity(THERMAL, "V")) - 1)
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
                  bank=el.Capacitor(capacitance="1 mF", vc=f"{0.6 * count} V"),
                  load=el.Resistor(resistance=f"{0.1 * count} ohm"), earth=el.ElectricalReference(),
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
