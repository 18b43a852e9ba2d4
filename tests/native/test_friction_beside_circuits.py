"""Exact friction whose lever changes with the motion, beside ideal diodes: closed forms."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import Model, quantity
from library.electrical import (
    ACVoltageSource,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    FullBridge,
    Inductor,
    Resistor,
    Switch,
)
from library.electromechanical import DCMotor
from library.mechanisms import DiscBrake, GearBox, OneWayClutch, RackAndPinion, SliderCrank
from library.rotational import (
    BearingFriction,
    Inertia,
    RotationalFriction,
    RotationalHardStop,
    RotationalReference,
    TorqueSource,
)
from library.signal import Pulse
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    Reference,
    TranslationalFriction,
    table,
)

CRANK, ROD, INERTIA, SPEED = 0.05, 0.2, 0.01, 12.0
SLIDES, HOLDS, RAMP = 20.0, 25.0, 2.0  # N, N, N m/s


def crank_beside_a_rectifier():
    """A flywheel turns a crank whose slider rubs, until it rests; a torque grows from 1 s on."""
    return wired("crank", "wheel.I crank.A push.R", "push.C base.W", "crank.P guide.R",
                 "guide.C frame.V", "mains.p diode.p", "diode.n coil.p", "coil.n load.p",
                 "load.n mains.n ground.V",
                 wheel=Inertia(inertia=f"{INERTIA} kg*m^2", w=f"{SPEED} rad/s"), frame=Reference(),
                 crank=SliderCrank(crank=f"{CRANK} m", rod=f"{ROD} m", phi="0.3 rad"),
                 guide=TranslationalFriction(law="coulomb", coulomb_force=f"{SLIDES} N",
                                             breakaway_force=f"{HOLDS} N"),
                 push=TorqueSource(torque=table(["0 s", "1 s", "2 s"],
                                                quantity([0, 0, RAMP], "N*m"))),
                 base=RotationalReference(),
                 mains=ACVoltageSource(amplitude="10 V", frequency="3 Hz"), diode=Diode(),
                 coil=Inductor(inductance="50 mH"), load=Resistor(resistance="5 ohm"),
                 ground=ElectricalReference())


def place(phi):
    """Distance of the slider from the shaft."""
    return CRANK * np.cos(phi) + np.sqrt(ROD**2 - (CRANK * np.sin(phi)) ** 2)


def lever(phi):
    """Its change with the angle."""
    side = CRANK * np.sin(phi)
    return -side - side * CRANK * np.cos(phi) / np.sqrt(ROD**2 - side**2)


def rests_at():
    """Where the way of the slider has taken up the energy of the wheel."""
    way = INERTIA * SPEED**2 / 2 / SLIDES
    assert way < place(0.3) - place(np.pi)  # on the way in, to the inner dead centre
    return brentq(lambda phi: place(0.3) - place(phi) - way, 0.3, np.pi)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_slider_rests_where_its_friction_has_taken_up_the_energy(method):
    model = crank_beside_a_rectifier()
    result = model.simulate("2 s", method=method, rtol=1e-9)
    phi = rests_at()
    assert_allclose(result["crank.phi"].at("1 s").m, phi, rtol=1e-8)
    assert abs(result["wheel.w"].at("1 s").m) < 1e-9
    tears = [e.time for e in result.events if e.component == "guide" and e.previous == "stuck"]
    assert_allclose(tears, [1 + HOLDS * abs(lever(phi)) / RAMP], rtol=1e-9)
    assert "stretches in Python" not in result.statistics


def servo(*frictions, brake=False):
    """A motor on a bridge of ideal switches and diodes at 20 kHz, held by frictions.

    Of each: strength at rest and in motion in N*m, and the ratio of the gear before it.
    """
    model = Model("servo")
    model.supply, model.ground = DCVoltageSource(voltage="24 V"), ElectricalReference()
    model.bridge, model.frame = FullBridge(), RotationalReference()
    model.on = Pulse(period="50 us", width=0.7)
    model.off = Pulse(period="50 us", width=0.3, start="35 us")
    model.motor = DCMotor(resistance="1 ohm", inductance="1 mH", back_emf_constant="0.01 V*s/rad",
                          inertia="1e-5 kg*m^2")
    for k, (rest, motion, ratio) in enumerate(frictions):
        part, shaft = RotationalFriction(law="coulomb", breakaway_torque=f"{rest} N*m",
                                         coulomb_torque=f"{motion} N*m"), model.motor.R
        setattr(model, f"friction_{k}", part)
        if ratio != 1:
            gear = GearBox(ratio=ratio)
            setattr(model, f"gear_{k}", gear)
            model.connect(model.motor.R, gear.S)
            shaft = gear.O
        model.connect(shaft, part.R)
        model.connect(part.C, model.frame.W)
    if brake:  # 0.03 N*m, let go every 2 ms for 2 ms
        wire(model, "press.y brake.N", "motor.R brake.R", "brake.C frame.W",
             brake=DiscBrake(static_coefficient=0.5, kinetic_coefficient=0.5, pads=1,
                             mean_radius="60 mm"),
             press=Pulse(period="4 ms", width=0.5, amplitude="1 N"))
    wire(model, "supply.p bridge.P", "supply.n bridge.N ground.V",
         "on.y bridge.upper_A bridge.lower_B", "off.y bridge.lower_A bridge.upper_B",
         "bridge.A motor.p", "bridge.B motor.n", "motor.C frame.W")
    return model


@pytest.mark.parametrize(("frictions", "method"), [
    ([(0.02, 0.01, 1), (0.04, 0.03, 1)], "auto"),
    ([(0.01, 0.005, 1), (0.02, 0.015, 1), (0.03, 0.02, 1)], "rodas4"),
    ([(0.02, 0.01, 1), (0.08, 0.06, 2)], "auto"),
])  # fmt: skip
def test_frictions_that_share_a_load_break_away_with_all_their_strength(frictions, method):
    # however they share what the motor gives at every edge: 0.06 N*m at rest, 0.04 in motion
    run = servo(*frictions).simulate("4 ms", method=method, rtol=1e-9)
    one = servo((0.06, 0.04, 1)).simulate("4 ms", method=method, rtol=1e-9)
    breaks = [r.events.of("friction_0")[0].time for r in (run, one)]
    assert_allclose(*breaks, rtol=1e-9)
    assert run["motor.w"].final.m > 10
    t = np.linspace(0, 4e-3, 81)
    assert_allclose(*([r["motor.w"].at(f"{s} s").m for s in t] for r in (run, one)),
                    rtol=1e-8, atol=1e-8)
    assert "stretches in Python" not in run.statistics


def test_a_brake_that_is_pressed_in_turn_shares_the_load_of_a_bearing():
    # 0.08 N*m of the motor against 0.06 of the bearing, and 0.03 of the brake while it is pressed
    run = servo((0.06, 0.04, 1), brake=True).simulate("4 ms", rtol=1e-9)
    free = servo((0.06, 0.04, 1)).simulate("4 ms", rtol=1e-9)
    assert abs(run["motor.w"].at("1.999 ms").m) < 1e-12
    assert free["motor.w"].at("1.999 ms").m > 1.0
    breaks = [e.time for e in run.events.of("friction_0") if e.previous == "stuck"]
    assert_allclose(breaks, [2e-3], rtol=1e-12)  # 0.064 N*m by then, and let go at once
    assert "stretches in Python" not in run.statistics


def chopper(**parts):
    """24 V switched at 1 kHz, with a freewheeling diode; parts stand between its output and n."""
    model = Model("chopper")
    model.supply, model.ground = DCVoltageSource(voltage="24 V"), ElectricalReference()
    model.switch, model.diode = Switch(model="ideal"), Diode(model="ideal", forward_voltage="0.6 V")
    model.pulse = Pulse(period="1 ms", width=0.5)
    for name, part in parts.items():
        setattr(model, name, part)
    wire(model, "supply.p switch.p", "pulse.y switch.vT", "switch.n diode.n",
         "supply.n diode.p ground.V")
    return model


@pytest.mark.parametrize(("force", "method"), [(1e3, "rodas4"), (1e9, "auto"), (1e12, "rodas4")])
def test_a_coil_is_not_interrupted_however_large_a_force_is_elsewhere(force, method):
    # 1 mA are not small because a press beside them bears 1e9 N: the diode takes them over
    model = chopper(coil=Inductor(inductance="24 H"), load=Resistor(resistance="10 kohm"))
    wire(model, "switch.n coil.p", "coil.n load.p", "load.n supply.n", "push.R guide.R ram.M",
         "push.C guide.C frame.V",
         ram=Mass(mass="1 t"), frame=Reference(), push=ForceSource(force=f"{force} N"),
         guide=TranslationalFriction(law="coulomb", coulomb_force=f"{2 * force} N",
                                     breakaway_force=f"{2 * force} N"))
    run = model.simulate("5 ms", method=method, rtol=1e-9)
    i, found = 0.0, []
    for volts in [24.0, -0.6] * 5:
        i = volts / 1e4 + (i - volts / 1e4) * np.exp(-0.5e-3 / 2.4e-3)
        found.append(i)
    at = 0.5e-3 * np.arange(1, 11)
    assert_allclose([run["coil.i"].at(f"{t} s").m for t in at], found, rtol=1e-7)
    assert run.energy().relative_residual < 1e-7


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_coil_is_not_interrupted_where_a_clutch_of_any_strength_holds_its_motor(method):
    # a rack on its stop, with friction: the room a clutch of 1e6 N*m has is no effort
    model = chopper(motor=DCMotor(resistance="1 ohm", inductance="1 mH", inertia="1e-3 kg*m^2",
                                  back_emf_constant="0.2 V*s/rad"))
    wire(model, "switch.n motor.p", "motor.n supply.n", "motor.C base.W", "motor.R clutch.C",
         "clutch.R rack.P", "rack.R load.M guide.R stop.R", "guide.C stop.C frame.V",
         base=RotationalReference(), frame=Reference(), clutch=OneWayClutch(),
         rack=RackAndPinion(radius="20 mm"), load=Mass(mass="0.1 kg"),
         guide=TranslationalFriction(law="coulomb", coulomb_force="0.3 N", breakaway_force="0.4 N"),
         stop=HardStop(model="restitution", restitution=0, lower_bound="-1 mm", upper_bound="1 mm"))
    run = model.simulate("30 ms", method=method, rtol=1e-9)
    assert run.energy().relative_residual < 1e-8
    # at rest: the steady current of both halves of a period, by hand
    on, off, decay = 24.0, -0.6, np.exp(-0.5)
    highest = (on * (1 - decay) + off * decay * (1 - decay)) / (1 - decay**2)
    assert_allclose(run["motor.i"].at("29.5 ms").m, highest, rtol=1e-8)
    assert "stretches in Python" not in run.statistics


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_motor_presses_on_a_stop_beside_its_friction_until_a_load_tears_it_off(method):
    # 1 kN*m/s against 0.2 N*m/A of a current that rises and falls: whatever friction and stop
    # share, friction holds 0.4 N*m the other way when the stop bears nothing any more
    model = chopper(motor=DCMotor(resistance="1 ohm", inductance="1 mH", inertia="1e-3 kg*m^2",
                                  back_emf_constant="0.2 V*s/rad"))
    wire(model, "switch.n motor.p", "motor.n supply.n", "motor.R friction.R stop.R load.R",
         "motor.C friction.C stop.C load.C base.W",
         base=RotationalReference(),
         friction=RotationalFriction(law="coulomb", breakaway_torque="0.4 N*m",
                                     coulomb_torque="0.3 N*m"),
         stop=RotationalHardStop(model="restitution", restitution=0, lower_bound="-1 rad",
                                 upper_bound="0 rad"),
         load=TorqueSource(torque=lambda t: quantity("-1 kN*m/s") * t))
    run = model.simulate("2.5 ms", method=method, rtol=1e-9)
    i, start = 0.0, 0.0
    for volts in [24.0, -0.6] * 2 + [24.0]:
        first, i, start = i, volts + (i - volts) * np.exp(-0.5), start + 0.5e-3
        if 0.2 * i + 0.4 < 1e3 * start:
            break
    begun = start - 0.5e-3
    torn = brentq(lambda t: 0.2 * (volts + (first - volts) * np.exp((begun - t) / 1e-3))
                  + 0.4 - 1e3 * t, begun, start)
    tears = [e.time for e in run.events.of("friction") if e.description == "slides backward"]
    assert_allclose(tears, [torn], rtol=1e-9)
    bears = 0.2 * run["motor.i"].at("0.4 ms").m - 0.4
    assert_allclose(run["stop.t"].at("0.4 ms").m + run["friction.t"].at("0.4 ms").m, bears,
                    rtol=1e-9)
    assert "stretches in Python" not in run.statistics


def test_a_bearing_by_a_bent_table_costs_circuits_beside_it_nothing(searches):
    """More diodes than are solved for at every point, joined to nothing of a flywheel."""
    model, inertia, count = Model("wheel"), 1e-4, 25
    speeds, torques, start = np.array([0, 5, 50]), np.array([20e-3, 12e-3, 24e-3]), 10.0
    wire(model, "wheel.I bearing.R", "bearing.C frame.W",
         wheel=Inertia(inertia=f"{inertia} kg*m^2", w=f"{start} rad/s"),
         bearing=BearingFriction(speeds=quantity(speeds, "rad/s"),
                                 torques=quantity(torques, "N*m")), frame=RotationalReference(),
         ground=ElectricalReference())
    for k in range(count):
        mains = model.add(f"mains{k}", ACVoltageSource(amplitude=f"{10 + k} V", frequency="50 Hz"))
        diode = model.add(f"diode{k}", Diode(model="ideal"))
        load = model.add(f"load{k}", Resistor(resistance="5 ohm"))
        model.connect(mains.p, diode.p)
        model.connect(diode.n, load.p)
        model.connect(load.n, mains.n, model.ground.V)
    run = model.simulate("0.1 s", rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    assert len(searches) <= 4, "what followed once follows without a search"

    rise, fall = np.diff(torques)[::-1] / np.diff(speeds)[::-1]
    slows = inertia / rise * np.log1p(rise * (start - speeds[1]) / torques[1])
    rests = slows + inertia / fall * np.log(torques[1] / torques[0])
    found = [e.time for e in run.events if e.component == "bearing" and e.time > 0]
    assert_allclose(found[-1], rests, rtol=1e-7)
    early = np.linspace(0, slows, 5)
    level = torques[1] - rise * speeds[1]
    assert_allclose(run["wheel.w"].at(quantity(early, "s")).m,
                    (start + level / rise) * np.exp(-rise * early / inertia) - level / rise,
                    rtol=1e-7)
    t = np.linspace(0, 0.1, 38)[1:-1]
    for k in (0, count - 1):
        assert_allclose(run[f"load{k}.v"].at(quantity(t, "s")).m,
                        (10 + k) * np.maximum(np.sin(100 * np.pi * t), 0), atol=1e-6)
