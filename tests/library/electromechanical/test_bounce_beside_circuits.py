"""A rigid stop in one model with ideal switches: the closed form of the bouncing body."""

import numpy as np
import pytest
from benches import wired
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
    return wired("bounce", "body.M stop.R push.R", "stop.C push.C wall.V", "source.p switch.p",
                 "switch.n coil.p diode.n", "coil.n load.p", "load.n diode.p source.n ground.V",
                 wall=Reference(), body=Mass(mass="60 g"),
                 stop=HardStop(model="restitution", restitution=E, x="2 mm", lower_bound="0.1 mm",
                               upper_bound="5 mm"), push=ForceSource(force="-3 N"),
                 source=DCVoltageSource(voltage="110 V"), ground=ElectricalReference(),
                 switch=Switch(model="ideal", gate=1.0), diode=Diode(model="ideal"),
                 coil=Inductor(inductance="10 mH"), load=Resistor())


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
