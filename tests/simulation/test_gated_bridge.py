"""IGBTs on a machine that turns: many events, and closed devices that share a current."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Output,
    Parameter,
    Port,
    Variable,
    abs_,
    der,
    mod,
    quantity,
    sin,
    time,
    where,
)
from library.electrical import DCVoltageSource, ElectricalReference, HalfBridge, electrical
from library.mechanisms import DiscBrake, LossyGear
from library.rotational import Inertia, RotationalReference, rotational
from library.signal import Ramp


class Machine(Component):
    """One coil of a machine, whose voltage and torque turn with the rotor."""

    p, n = Port(electrical), Port(electrical)
    R, C = Port(rotational), Port(rotational)
    resistance, inductance = Parameter("0.1 ohm"), Parameter("1 mH")
    flux, shift = Parameter("0.1 Wb"), Parameter("0 deg")
    angle = Variable("rad", "0.3 rad", priority="high")
    i = Variable("A", "0 A", priority="low")
    energy_stored, power_dissipated = Variable("J"), Variable("W")

    def equations(self):
        k = self.flux * sin(self.angle - self.shift)
        w = self.R.w - self.C.w
        yield der(self.angle) == w
        yield self.p.v - self.n.v == self.resistance * self.i + self.inductance * der(
            self.i) + k * w
        yield self.p.i == self.i
        yield self.n.i == -self.i
        yield self.R.t == -k * self.i
        yield self.C.t == k * self.i
        yield self.energy_stored == self.inductance * self.i**2 / 2
        yield self.power_dissipated == self.resistance * self.i**2


class Gates(Component):
    """Complementary gates of a leg, from a triangle."""

    duty = Parameter(0.5)
    period = Parameter("100 us")
    upper, lower = Output("1"), Output("1")

    def equations(self):
        triangle = abs_(2 * mod(time / self.period, 1) - 1)
        yield self.upper == where(self.duty > triangle, 1, 0)
        yield self.lower == where(self.duty > triangle, 0, 1)


def drive(*duties):
    """Coils in a star on a bridge, gated with these duties."""
    model = wired("drive",
                  supply=DCVoltageSource(voltage="48 V"), earth=ElectricalReference(),
                  rotor=Inertia(inertia="1e-3 kg*m^2"), brake=DiscBrake(mean_radius="100 mm"),
                  press=Ramp(slope="20 N/s", initial="0.4 N"), frame=RotationalReference())
    connect = model.connect
    connect(model.rotor.I, model.brake.R)
    connect(model.brake.C, model.frame.W)
    connect(model.supply.n, model.earth.V)
    connect(model.press.y, model.brake.N)
    for k, duty in enumerate(duties):
        leg, gates, coil = HalfBridge(devices="IGBT"), Gates(duty=duty), Machine(
            shift=f"{120 * k} deg")
        model.add(f"leg{k}", leg)
        model.add(f"gates{k}", gates)
        model.add(f"coil{k}", coil)
        connect(model.supply.p, leg.P)
        connect(model.supply.n, leg.N)
        connect(gates.upper, leg.upper)
        connect(gates.lower, leg.lower)
        connect(leg.A, coil.p)
        if k:
            connect(coil.n, model.coil0.n)  # a star that floats
        connect(coil.R, model.rotor.I)
        connect(coil.C, model.frame.W)
    return model


@pytest.fixture(scope="module")
def run():
    return drive(0.7, 0.4, 0.5).simulate("10 ms", rtol=1e-8)


def test_many_events_are_machine_code(run):
    assert run.statistics["method"].endswith("dopri5")


def test_energy_closes_where_closed_devices_share_a_current(run):
    assert run.energy().relative_residual < 1e-9


def test_transistor_and_diode_take_the_current_each_in_its_direction(run):
    seconds = np.linspace(0, 10e-3, 4001)[1:-1] + 3.1e-7  # between edges
    times = quantity(seconds, "s")
    i = run["coil0.i"].at(times).m
    assert np.ptp(i) > 1.0
    up = run["gates0.upper"].at(times).m > 0.5
    channel = run["leg0.high.channel_current"].at(times).m
    diode = run["leg0.high.diode_current"].at(times).m
    assert_allclose(channel, np.where(up, np.maximum(i, 0), 0), rtol=0, atol=1e-9)
    assert_allclose(diode, np.where(up, np.maximum(-i, 0), 0), rtol=0, atol=1e-9)
    low = run["leg0.low.channel_current"].at(times).m
    assert_allclose(low, np.where(up, 0, np.maximum(-i, 0)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["rodas4", "DOP853"])
def test_methods_agree(run, method):
    other = drive(0.7, 0.4, 0.5).simulate("0.5 ms", method=method, rtol=1e-8)
    for name in ("coil0.i", "rotor.w"):
        expected = run[name].at("0.5 ms").m
        assert other[name].final.m == pytest.approx(expected, rel=1e-7), name


def test_a_bridge_that_drives_nothing_runs():
    model = drive(0.5, 0.5, 0.5)
    wire(model, "rotor.I gear.S", "gear.O load.I",
         gear=LossyGear(forward_bearing_torque="0.2 N*m"), load=Inertia())
    idle = model.simulate("0.3 ms")
    assert abs(idle["coil0.i"].final.m) < 1e-12
