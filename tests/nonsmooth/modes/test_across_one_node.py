"""A closed switch across one node carries what nothing tells: none of it, and never nan."""

import numpy as np

import library.electrical as electrical
from blocks import Model, quantity
from library.signal import Constant


def test_a_closed_switch_across_one_node_carries_nothing():
    model = Model("shorted")
    model.ground, model.source = electrical.ElectricalReference(), electrical.DCVoltageSource(
        voltage="2 V")
    model.load, model.on = electrical.Resistor(resistance="4 ohm"), Constant(value=quantity(1, ""))
    model.closed = electrical.MOSFET(on_resistance="0 ohm")
    model.across = electrical.MOSFET(on_resistance="0 ohm")
    model.connect(model.on.y, model.closed.G, model.across.G)
    model.connect(model.source.p, model.load.p)
    model.connect(model.load.n, model.closed.D)
    model.connect(model.closed.S, model.across.D, model.across.S, model.source.n, model.ground.V)
    result = model.simulate("10 ms")
    times = np.linspace(0, 0.01, 5)
    np.testing.assert_array_equal(result["across.i"].at(quantity(times, "s")).magnitude, 0.0)
    np.testing.assert_allclose(result["closed.i"].at(quantity(times, "s")).to("A").magnitude, 0.5)
