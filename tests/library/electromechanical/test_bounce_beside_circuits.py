"""A rigid stop in one model with ideal switches: the closed form of the bouncing body."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model
from library.electrical import (
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
    Switch,
)
from library.translational import ForceSource, HardStop, Mass, Reference

WAY, PUSH, E = 1.9e-3, 50.0, 0.4  # m, m/s^2


def bounce() -> Model:
    """A body of 60 g that is pushed against a stop, and a circuit of 110 V beside it."""
    model = Model("bounce")
    model.wall, model.body = Reference(), Mass(mass="60 g")
    model.stop = HardStop(model="restitution", restitution=E, x="2 mm", lower_bound="0.1 mm",
                          upper_bound="5 mm")
    model.push = ForceSource(force="-3 N")
    model.connect(model.body.M, model.stop.R, model.push.R)
    model.connect(model.stop.C, model.push.C, model.wall.V)
    model.source, model.ground = DCVoltageSource(voltage="110 V"), ElectricalReference()
    model.switch, model.diode = Switch(model="ideal", gate=1.0), Diode(model="ideal")
    model.coil, model.load = Inductor(inductance="10 mH"), Resistor()
    model.connect(model.source.p, model.switch.p)
    model.connect(model.switch.n, model.coil.p, model.diode.n)
    model.connect(model.coil.n, model.load.p)
    model.connect(model.load.n, model.diode.p, model.source.n, model.ground.V)
    return model


@pytest.mark.parametrize("method", ["dopri5", "DOP853"])
def test_a_body_rebounds_beside_ideal_switches_as_it_does_alone(method):
    run = bounce().simulate("25 ms", method=method)
    times = run.events.of("stop").to_pandas()["time [s]"].to_numpy()
    first = np.sqrt(2 * WAY / PUSH)
    exact = first * (1 + 2 * np.concatenate([[0.0], np.cumsum(E ** np.arange(1, 30))]))
    assert len(times) >= 10  # what is left of the speed then is 1e-4 of it
    assert_allclose(times, exact[: len(times)], rtol=1e-6)
    assert run["stop.lower_force.mode"].final.m == 0
    assert_allclose(run["stop.x"].final.to("mm").m, 0.1, rtol=1e-6)
    assert_allclose(run["stop.lower_force"].final.to("N").m, 3.0, rtol=1e-7)
