"""Rosenbrock steps of more states than derivatives are written for: 60 that act on each other."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from blocks import Model, quantity
from library.electrical import (
    Capacitor,
    DCVoltageSource,
    ElectricalReference,
    Resistor,
    Switch,
    TwoPort,
)
from library.signal import Step

COUNT, OHM, FARAD = 60, np.geomspace(0.1, 100.0, 60), 1e-4


class Cubic(TwoPort):
    """i = v + v^3, in SI units."""

    def equations(self):
        v = self.v / quantity("1 V")
        yield self.i == quantity("1 A") * (v + v**3)


def star():
    model = Model("star")
    model.source, model.ground = DCVoltageSource(voltage="10 V"), ElectricalReference()
    model.wire, model.load = Resistor(resistance="1 ohm"), Cubic()
    model.switch = Switch(model="ideal")
    model.gate = Step(initial=1.0, final=0.0, start="2 ms")
    model.arms = Resistor(count=COUNT, resistance=quantity(OHM, "ohm"))
    model.stores = Capacitor(count=COUNT, capacitance=quantity(FARAD, "F"))
    model.connect(model.source.p, model.wire.p)
    model.connect(model.wire.n, model.switch.p)
    model.connect(model.switch.n, model.load.p, model.arms.p)
    model.connect(model.arms.n, model.stores.p)
    model.connect(model.stores.n, model.load.n, model.source.n, model.ground.V)
    model.connect(model.gate.y, model.switch.vT)
    return model


def by_hand(t, v):
    def left(node):
        source = 10.0 - node if t < 2e-3 else 0.0
        return source - node - node**3 - np.sum((node - v) / OHM)

    node = brentq(left, -10.0, 10.0, xtol=1e-14)
    return (node - v) / OHM / FARAD


def test_states_that_all_act_on_each_other_behind_a_nonlinear_node():
    v = np.zeros(COUNT)
    for span in ((0.0, 2e-3), (2e-3, 20e-3)):
        shifted = span[0] + 1e-12, span[1] - 1e-12 * (span[1] < 5e-3)
        v = solve_ivp(by_hand, shifted, v, method="Radau", rtol=1e-9, atol=1e-10).y[:, -1]
    run = star().simulate("20 ms", method="rodas4", rtol=1e-7)
    assert run.statistics["steps"] < 2000
    found = np.ravel(run["stores.v"].final.m)
    assert np.abs(found - v).max() < 1e-5
