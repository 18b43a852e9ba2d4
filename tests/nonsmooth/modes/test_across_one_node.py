"""A closed switch across one node carries what nothing tells: none of it, and never nan."""

import numpy as np
from benches import wired

import library.electrical as electrical
from blocks import quantity
from library.signal import Constant


def test_a_closed_switch_across_one_node_carries_nothing():
    model = wired("shorted", "on.y closed.G across.G", "source.p load.p", "load.n closed.D",
                  "closed.S across.D across.S source.n ground.V",
                  ground=electrical.ElectricalReference(),
                  source=electrical.DCVoltageSource(voltage="2 V"),
                  load=electrical.Resistor(resistance="4 ohm"), on=Constant(value=quantity(1, "")),
                  closed=electrical.MOSFET(on_resistance="0 ohm"),
                  across=electrical.MOSFET(on_resistance="0 ohm"))
    result = model.simulate("10 ms")
    times = np.linspace(0, 0.01, 5)
    np.testing.assert_array_equal(result["across.i"].at(quantity(times, "s")).magnitude, 0.0)
    np.testing.assert_allclose(result["closed.i"].at(quantity(times, "s")).to("A").magnitude, 0.5)
