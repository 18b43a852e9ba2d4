"""Rosenbrock steps of more states than derivatives are written for: 60 that act on each other."""

import numpy as np
from benches import wired
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from blocks import quantity
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
    return wired("star", "source.p wire.p", "wire.n switch.p", "switch.n load.p arms.p",
                 "arms.n stores.p", "stores.n load.n source.n ground.V", "gate.y switch.vT",
                 source=DCVoltageSource(voltage="10 V"), ground=ElectricalReference(),
                 wire=Resistor(resistance="1 ohm"), load=Cubic(), switch=Switch(model="ideal"),
                 gate=Step(initial=1.0, final=0.0, start="2 ms"),
                 arms=Resistor(count=COUNT, resistance=quantity(OHM, "ohm")),
                 stores=Capacitor(count=COUNT, capacitance=quantity(FARAD, "F")))


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
