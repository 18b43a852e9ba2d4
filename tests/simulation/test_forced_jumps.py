"""What is forced to jump is named; circuits that switch."""

from functools import cache

import numpy as np
import pytest
from benches import wire, wired
from benches.clamp import CAPACITANCE, HALF, RESISTANCE, clamps
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import wrightomega

import blocks
import library.electrical as el
import library.translational as tr
from blocks import Component, Output, Parameter, Port, SimulationError, Variable, quantity, where
from library.electrical import DCVoltageSource, ElectricalReference, HalfBridge, TwoPort, electrical
from library.mechanisms import DiscBrake, LossyGear
from library.rotational import AngularVelocitySource, Inertia, RotationalReference, rotational
from library.signal import Ramp
from library.tables import table


def step(value, unit, at=0.001):
    return lambda t: where(t < quantity(at, "s"), quantity(0, unit), quantity(value, unit))


def on_voltage(*parts, voltage):
    """A source over parts in series, with a resistor over the last one."""
    model = wired("circuit", "s.n r.n g.V",
                  s=el.ControlledVoltageSource(voltage=voltage), r=el.Resistor(),
                  g=el.ElectricalReference())
    above = model.s.p
    for k, part in enumerate(parts, 1):
        model.add(f"c{k}", part)
        model.connect(above, part.p)
        above = part.n
    model.connect(above, model.g.V)
    model.connect(parts[-1].p, model.r.p)
    return model


def refused(model, duration="2 ms", **settings):
    with pytest.raises(SimulationError) as caught:
        model.simulate(duration, **settings)
    assert caught.value.code == "simulation.jump"
    return caught.value


@pytest.mark.parametrize("method", ["auto", "ode45", "BDF"])
def test_a_capacitor_on_a_voltage_that_steps_is_named(method):
    error = refused(on_voltage(el.Capacitor(), voltage=step(5, "V")), method=method)
    assert str(error) == (
        "c1: at t = 0.001 s c1.vc would have to follow s and jump from 0 to 5 V, which takes an "
        "endless current: nothing gives way. Put a resistor between c1 and s, or prescribe a ramp "
        "instead of a step.")
    assert error.time == pytest.approx(1e-3)


def test_capacitors_in_series_on_a_voltage_that_steps_are_named_together():
    error = refused(on_voltage(el.Capacitor(), el.Capacitor(), voltage=step(5, "V")))
    assert "c1.vc" in str(error) and "c2.v" in str(error)


def test_an_inductor_behind_a_current_that_steps_is_named():
    model = wired("circuit", "s.head l.p", "s.tail l.n g.V",
                  s=el.ControlledCurrentSource(current=step(1, "A")),
                  l=el.Inductor(inductance="1 mH"), g=el.ElectricalReference())
    error = refused(model)
    assert "l.i_L would have to follow s and jump from 0 to 1 A" in str(error)
    assert "endless voltage" in str(error) and "in parallel with l" in str(error)


def pushed(source, body, ground, *more):
    model = blocks.Model("pushed")
    model.s, model.m, model.g = source, body, ground
    port = model.m.M if isinstance(body, tr.Mass) else model.m.I
    earth = model.g.V if isinstance(ground, tr.Reference) else model.g.W
    if more:
        model.k = more[0]
        model.connect(model.s.R, model.k.R)
        model.connect(model.k.C, port)
    else:
        model.connect(model.s.R, port)
    model.connect(model.s.C, earth)
    return model


@pytest.mark.parametrize(("parts", "words"), [
    ([tr.VelocitySource(velocity=step(2, "m/s")), tr.Mass(), tr.Reference()],
     ["m.v would have to follow s and jump from 0 to 2 m/s", "endless force"]),
    ([AngularVelocitySource(velocity=step(2, "rad/s")), Inertia(), RotationalReference()],
     ["endless torque"])])
def test_what_has_mass_on_a_velocity_that_steps_is_named(parts, words):
    error = str(refused(pushed(*parts)))
    assert all(some in error for some in words)


def test_a_position_that_steps_is_named():
    """The spring behind it would never know of the step."""
    error = refused(pushed(tr.PositionSource(position=step(0.1, "m")), tr.Mass(), tr.Reference(),
                           tr.Spring()))
    assert "s.x would have to jump from 0 to 0.1 m: its rate would be endless." in str(error)


def test_a_kink_of_a_position_is_a_jump_only_of_what_has_mass():
    kink = lambda t: where(t < quantity("1 ms"), quantity("0 m"),  # noqa: E731
                           quantity("2 m/s") * (t - quantity("1 ms")))
    assert "m.v" in str(refused(pushed(tr.PositionSource(position=kink), tr.Mass(),
                                       tr.Reference())))
    run = pushed(tr.PositionSource(position=kink), tr.Mass(), tr.Reference(),
                 tr.Spring()).simulate("3 ms")
    assert run["s.x"].final.to("mm").magnitude == pytest.approx(4)


def ramped(late=0.0):
    """2 m/s from 1 ms to 2 ms; then a place that is so much farther."""
    ramp = lambda t: quantity("2 m/s") * (t - quantity("1 ms"))  # noqa: E731
    course = lambda t: where(t < quantity("1 ms"), quantity("0 m"), where(  # noqa: E731
        t < quantity("2 ms"), ramp(t), quantity(2e-3 + late, "m")))
    return pushed(tr.PositionSource(position=course), tr.Mass(), tr.Reference(), tr.Spring())


@pytest.mark.parametrize("late", [1e-3, -1e-3])
def test_a_step_behind_a_kink_is_named(late):
    error = refused(ramped(late), "3 ms")
    assert f"s.x would have to jump from 0.002 to {2e-3 + late:g} m" in str(error)
    assert error.time == pytest.approx(2e-3)


def test_a_step_in_a_later_part_of_a_driven_run_is_named():
    run = ramped(1e-3).stepper()
    with pytest.raises(SimulationError, match="would have to jump"):
        for _ in range(300):
            run.advance("10 us")


def test_points_of_a_table_are_no_kinks_but_its_steps_are_jumps():
    smooth = table(quantity([0, 1, 2, 3], "ms"), quantity([0, 0, 1, 0], "mm"))
    run = pushed(tr.PositionSource(position=smooth), tr.Mass(), tr.Reference()).simulate("3 ms")
    assert run["m.v"].at("1.5 ms").to("m/s").magnitude == pytest.approx(1)
    held = table(quantity([0, 1, 2, 3], "ms"), quantity([0, 0, 1, 0], "m/s"), between="held")
    error = refused(pushed(tr.VelocitySource(velocity=held), tr.Mass(), tr.Reference()), "3 ms")
    assert "m.v would have to jump from 0 to 1 m/s" in str(error)


def test_with_a_resistance_in_between_the_charge_divides():
    model = wired("divider", "s.p r.p", "r.n a.p", "a.n b.p", "b.n s.n g.V",
                  s=el.ControlledVoltageSource(voltage=step(5, "V")),
                  r=el.Resistor(resistance="1 mohm"), a=el.Capacitor(), b=el.Capacitor(),
                  g=el.ElectricalReference())
    run = model.simulate("1.1 ms")
    assert_allclose([run["a.vc"].final.m, run["b.vc"].final.m], 2.5, rtol=1e-6)


def test_what_only_reads_a_rate_may_see_a_step():
    """The acceleration of a velocity that steps is read, but moves nothing."""
    model = wired("read", "s.R d.R sensor.R", "s.C d.C sensor.C g.V",
                  s=tr.VelocitySource(velocity=step(1, "m/s")), d=tr.Damper(),
                  sensor=tr.MotionSensor(acceleration_port=True), g=tr.Reference())
    assert model.simulate("2 ms")["d.f"].final.to("N").m == pytest.approx(100)


def test_a_continuous_piecewise_voltage_charges_a_capacitor():
    ramp = lambda t: where(t < quantity("1 ms"), quantity("0 V"),  # noqa: E731
                           quantity("5 V/ms") * (t - quantity("1 ms")))
    run = on_voltage(el.Capacitor(), el.Capacitor(), voltage=ramp).simulate("1.2 ms", rtol=1e-8)
    assert run["c1.vc"].final.m + run["c2.vc"].final.m == pytest.approx(1.0, rel=1e-9)
    assert run.energy().relative_residual < 1e-5


# -- circuits that switch ---------------------------------------------------------------------
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
        yield blocks.der(self.angle) == w
        yield self.p.v - self.n.v == self.resistance * self.i + self.inductance * blocks.der(
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
        triangle = blocks.abs_(2 * blocks.mod(blocks.time / self.period, 1) - 1)
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


def test_energy_closes_where_closed_devices_share_a_current(run):
    assert run.energy().relative_residual < 1e-9 and "stretches in Python" not in run.statistics


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
        yield self.i == quantity(SATURATION, "A") * (blocks.exp(self.v / quantity(THERMAL,
                                                                                  "V")) - 1)


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
