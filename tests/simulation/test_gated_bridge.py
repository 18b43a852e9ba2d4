"""Circuits that switch: IGBTs on a machine that turns, sources that jump across junctions."""

from functools import cache

import numpy as np
import pytest
from benches import wire, wired
from benches.clamp import CAPACITANCE, HALF, RESISTANCE, clamps
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import wrightomega

import blocks
from blocks import Component, Output, Parameter, Port, Variable, abs_, der, exp, quantity, where
from library.electrical import DCVoltageSource, ElectricalReference, HalfBridge, TwoPort, electrical
from library.mechanisms import DiscBrake, LossyGear
from library.rotational import Inertia, RotationalReference, rotational
from library.signal import Ramp


class Machine(Component):
    """One coil of a machine, whose voltage and torque turn with the rotor."""

    p, n, R, C = Port(electrical), Port(electrical), Port(rotational), Port(rotational)
    resistance, inductance = Parameter("0.1 ohm"), Parameter("1 mH")
    flux, shift = Parameter("0.1 Wb"), Parameter("0 deg")
    angle, i = Variable("rad", "0.3 rad", priority="high"), Variable("A", "0 A", priority="low")
    energy_stored, power_dissipated = Variable("J"), Variable("W")

    def equations(self):
        k = self.flux * blocks.sin(self.angle - self.shift)
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

    duty, period = Parameter(0.5), Parameter("100 us")
    upper, lower = Output("1"), Output("1")

    def equations(self):
        triangle = abs_(2 * blocks.mod(blocks.time / self.period, 1) - 1)
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
        assert other[name].final.m == pytest.approx(run[name].at("0.5 ms").m, rel=1e-7), name


def test_a_bridge_that_drives_nothing_runs():
    model = drive(0.5, 0.5, 0.5)
    wire(model, "rotor.I gear.S", "gear.O load.I",
         gear=LossyGear(forward_bearing_torque="0.2 N*m"), load=Inertia())
    assert abs(model.simulate("0.3 ms")["coil0.i"].final.m) < 1e-12


# -- junctions --------------------------------------------------------------------------------
SATURATION, THERMAL = 1e-12, 0.025


class Junction(TwoPort):
    """Shockley's law, whatever the exponent."""

    def equations(self):
        yield self.i == quantity(SATURATION, "A") * (exp(self.v / quantity(THERMAL, "V")) - 1)


def node(source, store):
    """The voltage of a junction between two resistors: Wright's omega function."""
    middle = (source + store + SATURATION * RESISTANCE) / 2
    share = SATURATION * RESISTANCE / (2 * THERMAL)
    return middle - THERMAL * wrightomega(np.log(share) + middle / THERMAL).real


TIMES = np.arange(0.5, 30) * 1e-4


@cache
def stores(amplitude):
    """The voltage of the capacitors, half period by half period."""
    times, voltage, begun, out = TIMES, 0.0, 0.0, []
    for k in range(round(times[-1] / HALF)):
        source = amplitude * (-1) ** (k + 1)
        mine = times[(times > begun - 1e-12) & (times < begun + HALF - 1e-12)]
        found = solve_ivp(
            lambda t, v, source=source: (node(source, v) - v) / (RESISTANCE * CAPACITANCE),
            (begun, begun + HALF), [voltage], t_eval=[*mine, begun + HALF], method="Radau",
            rtol=1e-10, atol=1e-12)
        out.extend(found.y[0, :-1])
        begun, voltage = begun + HALF, found.y[0, -1]
    return np.array(out)


@pytest.mark.parametrize("amplitude, count, method", [
    (10, 3, "auto"), (10, 3, "DOP853"), (325, 3, "dopri5"), (325, 3, "rodas4"), (325, 30, "auto"),
    (325, 30, "rodas4")])
def test_junctions_clamp_a_source_that_jumps(amplitude, count, method):
    pytest.importorskip("llvmlite")  # of which most methods are
    run = clamps(Junction, count, amplitude).simulate("3 ms", rtol=1e-7, method=method)
    at = quantity(TIMES, "s")
    store, clamp, source = (np.array(run[path].at(at).m)
                            for path in ("store.vc", "clamp.v", "source.v"))
    assert_allclose(store, np.tile(stores(amplitude), (count, 1)), rtol=1e-5, atol=1e-6 * amplitude)
    assert_allclose(clamp, node(source, store), rtol=1e-8)
