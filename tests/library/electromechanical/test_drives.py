"""Bridges, drivers, motors and actuators: closed forms, every edge, and what flows back."""

import numpy as np
import pytest
from benches import final, meets, wire, wired
from benches.machines import TIGHT, fed
from numpy.testing import assert_allclose

import library.electrical as el
import library.electromechanical as em
from benchmarks.cases.machines import DRIVE_ENDS, SOLENOID_ENDS, drive, solenoid
from blocks import SimulationError, quantity
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Constant, Sine
from library.translational import Damper, Mass, Reference, VelocitySource


def test_ten_thousand_edges_of_a_motor_with_a_load_that_sticks():
    run = drive().simulate("1 s", rtol=1e-7)
    for path, expected in DRIVE_ENDS.items():
        assert_allclose(run[path].final.to_base_units().m, expected, atol=1e-8)
    assert run.statistics["events"] == 9999


def test_pull_in_and_drop_out_of_a_solenoid():
    run = solenoid().simulate("100 ms", rtol=1e-9)
    for path, (half, end, scale) in SOLENOID_ENDS.items():
        found = run[path].at(["50 ms", "100 ms"]).to_base_units().m / scale
        assert_allclose(found, [half / scale, end / scale], atol=1e-10)
    assert run.energy().relative_residual < 1e-9


# -- bridges ---------------------------------------------------------------------------------------
def bridged(bridge, resistance="2 ohm", inductance=None):
    """24 V, a bridge, and a resistor (with an inductance) between a and b."""
    model = wired("bridged", "supply.p bridge.p", "supply.n bridge.n earth.V", "bridge.a load.p",
                  supply=el.DCVoltageSource(voltage="24 V"), earth=el.ElectricalReference(),
                  bridge=bridge, load=el.Resistor(resistance=resistance))
    if inductance is None:
        model.connect(model.load.n, model.bridge.b)
    else:
        wire(model, "load.n coil.p", "coil.n bridge.b", coil=el.Inductor(inductance=inductance))
    return model


@pytest.mark.parametrize("duty", [-1, -0.3, 0, 0.6, 1])
def test_the_mean_is_the_duty_and_power_balances(duty):
    run = bridged(em.HBridge(duty=duty, on_resistance="0.1 ohm")).simulate("1 ms")
    current = duty * 24 / 2.2
    assert_allclose(final(run, "load.i", "A"), current, rtol=1e-12, atol=1e-14)
    assert_allclose(final(run, "supply.i", "A"), -duty * current, rtol=1e-12, atol=1e-14)
    assert_allclose(final(run, "bridge.power_dissipated", "W"), 0.2 * current**2, rtol=1e-12,
                    atol=1e-14)
    assert run.energy().relative_residual < 1e-12


def test_a_leaking_bridge_is_what_its_four_switches_are():
    on, off, duty = 0.5, 1e-2, 1.0
    run = bridged(em.HBridge(duty=duty, on_resistance="0.5 ohm",
                             off_conductance="1e-2 S")).simulate("1 ms")
    nodes = np.array([[1 / on + off + 0.5, -0.5], [-0.5, 1 / on + off + 0.5]])
    a, b = np.linalg.solve(nodes, [24 / on, 24 * off])
    meets(run, {"bridge.a.v V": (a, 1e-13), "bridge.b.v V": (b, 1e-13),
                "supply.i A": (-((24 - a) / on + (24 - b) * off), 1e-12)})
    assert run.energy().relative_residual < 1e-12


def test_ripple_of_a_current():
    """Closed form of the steady state: exponentials between two currents."""
    duty, period, rate, end = 0.4, 1 / 5e3, 2.2 / 1e-3, 24 / 2.2
    run = bridged(em.HBridge(model="switched", duty=duty, frequency="5 kHz",
                             on_resistance="0.1 ohm"),
                  inductance="1 mH").simulate("16 ms", rtol=1e-10)  # fmt: skip
    high = (1 + duty) / 2 * period
    a, b = np.exp(-rate * high), np.exp(-rate * (period - high))
    low = end * (2 * b - a * b - 1) / (1 - a * b)  # i -> end + (low - end) a -> -end + …
    top = end + (low - end) * a
    t = np.array([14e-3, 14e-3 + high, 15e-3])
    assert_allclose(run["load.i"].at(quantity(t, "s")).to("A").m, [low, top, low], rtol=1e-9)
    assert run.energy().relative_residual < 1e-8


def test_a_signal_is_read_at_the_start_of_each_period():
    model = bridged(em.HBridge(model="switched", control="signal", frequency="1 kHz"))
    wire(model, "wave.y bridge.D", wave=Sine(amplitude=0.8, frequency="50 Hz"))
    run = model.simulate("20 ms", rtol=1e-8)
    for k in range(20):
        share = (1 + 0.8 * np.sin(2 * np.pi * k / 20)) / 2
        edge = (k + share) * 1e-3
        at = quantity([k * 1e-3 + 1e-9, edge - 1e-9, edge + 1e-9], "s")
        assert_allclose(run["bridge.share"].at(at).m, [1, 1, 0])


def test_a_duty_beyond_one_is_limited():
    model = bridged(em.HBridge(control="signal", on_resistance="0 ohm"))
    wire(model, "wish.y bridge.D", wish=Constant(value=3))
    assert_allclose(final(model.simulate("1 ms"), "bridge.v", "V"), 24, rtol=1e-14)


def test_a_motor_that_brakes_feeds_the_supply():
    model = wired(
        "braking", "supply.p meter.p", "meter.n bridge.p", "supply.n bridge.n earth.V",
        "bridge.a motor.p", "bridge.b motor.n", "motor.R drive.R", "motor.C drive.C ground.W",
        supply=el.DCVoltageSource(voltage="24 V"), earth=el.ElectricalReference(),
        meter=el.CurrentSensor(), bridge=em.HBridge(duty=0.25),
        motor=em.DCMotor(resistance="1 ohm", inductance="1 mH", back_emf_constant="0.1 V*s/rad",
                         inertia="1e-3 kg*m^2", w_rotor="100 rad/s"),
        drive=AngularVelocitySource(velocity="100 rad/s"), ground=RotationalReference())
    run = model.simulate("50 ms", rtol=1e-9)
    current = (6 - 10) / 1.02
    meets(run, {"motor.i A": (current, 1e-8), "meter.I A": (0.25 * current, 1e-8)})


# -- a driver and the PWM voltage before it give the means of their pulses -------------------------
def driven(reference, reverse="0 V", brake="0 V", source=None, **options):
    """A PWM voltage of 5 V before a bridge of 12 V on 2 ohm, with 3 V in series."""
    model = wired(
        "driven", "earth.V bridge.REF bridge.b emf.n pwm.n2 reverse.n brake.n", "pwm.p2 bridge.PWM",
        "reverse.p bridge.REV", "brake.p bridge.BRK", "bridge.a load.p", "load.n emf.p",
        earth=el.ElectricalReference(), pwm=source or em.PWMVoltage(maximum_voltage="4 V"),
        reverse=el.DCVoltageSource(voltage=reverse), brake=el.DCVoltageSource(voltage=brake),
        bridge=em.BridgeDriver(on_resistance="0.4 ohm", diode_resistance="0.3 ohm", **options),
        load=el.Resistor(resistance="2 ohm"), emf=el.DCVoltageSource(voltage="3 V"))
    if source is None:
        wire(model, "reference.p pwm.p1", "reference.n pwm.n1 earth.V",
             reference=el.DCVoltageSource(voltage=reference))
    else:
        wire(model, "reference.y pwm.u", reference=Constant(value=reference))
    return model


SHORTED = 0.2 + 0.2 * 0.3 / (0.2 + 0.3)


@pytest.mark.parametrize(("reference", "reverse", "brake", "current"), [
    ("1 V", "0 V", "0 V", (0.25 * 12 - 3) / 2.4), ("3 V", "0 V", "0 V", (0.75 * 12 - 3) / 2.4),
    ("9 V", "0 V", "0 V", (12 - 3) / 2.4), ("-1 V", "0 V", "0 V", -3 / 2.4),
    ("3 V", "5 V", "0 V", (-0.75 * 12 - 3) / 2.4), ("3 V", "5 V", "5 V", -3 / (2 + SHORTED)),
], ids=["quarter", "three quarters", "beyond", "below", "reversed", "braking"])
def test_a_driver_gives_the_share_of_its_supply(reference, reverse, brake, current):
    run = driven(reference, reverse, brake).simulate("1 ms")
    assert_allclose(run["load.i"].final.to("A").m, current, rtol=1e-12, atol=1e-14)
    assert_allclose(run["pwm.i"].final.to("A").m, 0, atol=1e-14)
    resistance = SHORTED if brake == "5 V" else 0.4
    assert_allclose(run["bridge.power_dissipated"].final.to("W").m, resistance * current**2,
                    rtol=1e-12, atol=1e-14)
    assert run.energy().relative_residual < 1e-12


def test_a_signal_may_be_the_reference_and_bounds_in_the_wrong_order_are_told():
    source = em.PWMVoltage(control="signal", minimum_signal=-1, maximum_signal=3)
    run = driven(2, source=source, pwm_amplitude="6 V").simulate("1 ms")
    meets(run, {"pwm.v V": (3.75, 1e-12), "load.i A": ((3.75 / 6 * 12 - 3) / 2.4, 1e-12)})
    report = str(driven(1, source=em.PWMVoltage(control="signal", minimum_signal=1)).check())
    assert "minimum_signal is 1.0, not below maximum_signal, which is 1.0." in report


# -- actuators on a line ---------------------------------------------------------------------------
MU0 = 4e-7 * np.pi


def held(machine, voltage="10 V", velocity="0 m/s"):
    """A machine whose rod moves as prescribed."""
    model = fed(machine, voltage)
    wire(model, "hold.R machine.R", "hold.C machine.C frame.V",
         hold=VelocitySource(velocity=velocity), frame=Reference())
    return model


@pytest.mark.parametrize(("machine", "voltage", "ohm", "henry", "force"), [
    (em.VoiceCoil(), 10, 2.86, 5.1e-3, lambda i, henry: -3.88 * i),
    (em.Solenoid(x="1 mm"), 12, 20, 1000**2 / (1e-3 / (MU0 * 1e-4) + 2e6),
     lambda i, henry: (henry * i / 1000) ** 2 / (2 * MU0 * 1e-4))], ids=["coil", "solenoid"])
def test_a_machine_that_is_held_is_an_inductance(machine, voltage, ohm, henry, force):
    run = held(machine, f"{voltage} V").simulate("20 ms", **TIGHT)
    t = np.linspace(0, 0.02, 9)
    current = voltage / ohm * (1 - np.exp(-t * ohm / henry))
    assert_allclose(run["machine.i"].at(quantity(t, "s")).to("A").m, current, atol=1e-10)
    assert_allclose(run["machine.f"].at(quantity(t, "s")).to("N").m, force(current, henry),
                    atol=1e-9)
    assert_allclose(final(run, "machine.energy_stored", "J"), henry * current[-1] ** 2 / 2,
                    rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


def test_a_solenoid_with_rigid_stops_holds():
    run = solenoid(rigid=True).simulate("100 ms", rtol=1e-9)
    assert run["machine.x"].min().to("mm").m >= 0.2 - 1e-9
    assert_allclose(run["machine.x"].at("30 ms").to("mm").m, 0.2, atol=1e-9)
    assert run.energy().relative_residual < 1e-7


def test_an_armature_without_a_stop_goes_through_and_a_stator_that_nothing_holds_is_told():
    model = fed(em.Solenoid(), "12 V")
    wire(model, "machine.R armature.M", armature=Mass(mass="20 g"))
    (error,) = model.check().errors
    assert error.code == "reference.missing"
    wire(model, "machine.C frame.V", frame=Reference())
    with pytest.raises(SimulationError, match="gone through the stator: put a HardStop"):
        model.simulate("0.2 s")


SLOW = el.table(["0 s", "10 ms"], ["0 V", "150 V"])


def test_a_piezo_stack_extends_freely_and_pushes_where_it_is_held():
    model = fed(em.PiezoStack(), SLOW)
    wire(model, "machine.R tip.M damper.R", "machine.C damper.C frame.V",
         frame=Reference(), tip=Mass(mass="10 g"), damper=Damper(damping="5 kN*s/m"))
    run = model.simulate("30 ms", rtol=1e-10)
    assert_allclose(final(run, "machine.x", "um"), 30, rtol=1e-8)
    assert run.energy().relative_residual < 1e-8
    blocked = held(em.PiezoStack(), SLOW).simulate("20 ms", rtol=1e-10)
    assert_allclose(final(blocked, "machine.f", "N"), -800, rtol=1e-12)  # pushes R away


def test_charge_of_a_piezo_stack_free_and_clamped():
    coupling, stiffness = 800 / 150, 800 / 30e-6
    for machine, capacitance in ((held(em.PiezoStack(), SLOW), 1.8e-6),
                                 (fed(em.PiezoStack(), SLOW), 1.8e-6 + coupling**2 / stiffness)):
        if capacitance > 1.8e-6:
            wire(machine, "machine.R tip.M damper.R", "machine.C damper.C frame.V",
                 tip=Mass(mass="1 mg"), frame=Reference(), damper=Damper(damping="100 N*s/m"))
        run = machine.simulate("5 ms", rtol=1e-9)
        assert_allclose(final(run, "machine.i", "A"), capacitance * 15e3, rtol=1e-6)
