"""Exact friction and rigid contacts beside ideal diodes and switches, in machine code."""

import numpy as np
import pytest
from benches import few, meets, wire, wired
from benches.friction import dry
from benches.mechanisms import CRANK, ROD, lever, place
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.electrical as el
import library.mechanisms as me
import library.rotational as ro
import library.translational as tr
from blocks import InitialisationError, Model, cos, quantity, sin
from library.electromechanical import DCMotor, VoiceCoil
from library.planar import Body, Circle, Contact, Ground
from library.signal import Abs, Pulse


def chopper(model=None, **parts):
    """24 V switched at 1 kHz, with a freewheeling diode; parts stand between its output and n."""
    model = model or Model("chopper")
    wire(model, "supply.p switch.p", "pulse.y switch.vT", "switch.n diode.n",
         "supply.n diode.p ground.V",
         supply=el.DCVoltageSource(voltage="24 V"), ground=el.ElectricalReference(),
         switch=el.Switch(model="ideal"), diode=el.Diode(model="ideal", forward_voltage="0.6 V"),
         pulse=Pulse(period="1 ms", width=0.5), **parts)
    return model


def rigid(low, high, *, restitution=0.0, **more):
    return tr.HardStop(model="restitution", restitution=restitution, lower_bound=low,
                       upper_bound=high, **more)


def with_chopper(model):
    """Such a converter at 50 Hz onto 10 ohm through a coil, beside what there is."""
    chopper(model, coil=el.Inductor(inductance="1 mH"), load=el.Resistor(resistance="10 ohm"))
    model.pulse.period = "20 ms"
    wire(model, "switch.n coil.p", "coil.n load.p", "load.n supply.n")
    return model


# -- friction ---------------------------------------------------------------------------------
INERTIA, SPEED = 0.01, 12.0
SLIDES, HOLDS, RAMP = 20.0, 25.0, 2.0  # N, N, N m/s


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_slider_rests_where_its_friction_has_taken_up_the_energy(method):
    """A flywheel turns a crank whose slider rubs, until it rests; a torque grows from 1 s on."""
    model = wired(
        "crank", "wheel.I crank.A push.R", "push.C base.W", "crank.P guide.R", "guide.C frame.V",
        "mains.p diode.p", "diode.n coil.p", "coil.n load.p", "load.n mains.n ground.V",
        wheel=ro.Inertia(inertia=f"{INERTIA} kg*m^2", w=f"{SPEED} rad/s"), frame=tr.Reference(),
        crank=me.SliderCrank(crank=f"{CRANK} m", rod=f"{ROD} m", phi="0.3 rad"),
        guide=dry(SLIDES, HOLDS),
        push=ro.TorqueSource(torque=tr.table(["0 s", "1 s", "2 s"], quantity([0, 0, RAMP], "N*m"))),
        base=ro.RotationalReference(), mains=el.ACVoltageSource(amplitude="10 V", frequency="3 Hz"),
        diode=el.Diode(), coil=el.Inductor(inductance="50 mH"),
        load=el.Resistor(resistance="5 ohm"), ground=el.ElectricalReference())
    result = model.simulate("2 s", method=method, rtol=1e-9)
    way = INERTIA * SPEED**2 / 2 / SLIDES  # on which the slider takes up the energy of the wheel
    assert way < place(0.3) - place(np.pi)  # on the way in, to the inner dead centre
    phi = brentq(lambda phi: place(0.3) - place(phi) - way, 0.3, np.pi)
    assert_allclose(result["crank.phi"].at("1 s").m, phi, rtol=1e-8)
    assert abs(result["wheel.w"].at("1 s").m) < 1e-9
    tears = [e.time for e in result.events if e.component == "guide" and e.previous == "stuck"]
    assert_allclose(tears, [1 + HOLDS * abs(lever(phi)) / RAMP], rtol=1e-9)
    assert "stretches in Python" not in result.statistics


def servo(*frictions, brake=False):
    """A motor on a bridge of ideal switches and diodes at 20 kHz, held by frictions.

    Of each: strength at rest and in motion in N*m, and the ratio of the gear before it.
    """
    model = wired("servo", "supply.p bridge.P", "supply.n bridge.N ground.V",
                  "on.y bridge.upper_A bridge.lower_B", "off.y bridge.lower_A bridge.upper_B",
                  "bridge.A motor.p", "bridge.B motor.n", "motor.C frame.W",
                  supply=el.DCVoltageSource(voltage="24 V"), ground=el.ElectricalReference(),
                  bridge=el.FullBridge(), frame=ro.RotationalReference(),
                  on=Pulse(period="50 us", width=0.7),
                  off=Pulse(period="50 us", width=0.3, start="35 us"),
                  motor=DCMotor(resistance="1 ohm", inductance="1 mH", inertia="1e-5 kg*m^2",
                                back_emf_constant="0.01 V*s/rad"))
    for k, (rest, motion, ratio) in enumerate(frictions):
        shaft = "motor.R" if ratio == 1 else f"gear_{k}.O"
        if ratio != 1:
            wire(model, f"motor.R gear_{k}.S", **{f"gear_{k}": me.GearBox(ratio=ratio)})
        wire(model, f"{shaft} friction_{k}.R", f"friction_{k}.C frame.W", **{
            f"friction_{k}": ro.RotationalFriction(law="coulomb", breakaway_torque=f"{rest} N*m",
                                                   coulomb_torque=f"{motion} N*m")})
    if brake:  # 0.03 N*m, let go every 2 ms for 2 ms
        wire(model, "press.y brake.N", "motor.R brake.R", "brake.C frame.W",
             brake=me.DiscBrake(static_coefficient=0.5, kinetic_coefficient=0.5, pads=1,
                                mean_radius="60 mm"),
             press=Pulse(period="4 ms", width=0.5, amplitude="1 N"))
    return model


@few(2, ("frictions", "method"), [
    ([(0.02, 0.01, 1), (0.04, 0.03, 1)], "auto"),
    ([(0.01, 0.005, 1), (0.02, 0.015, 1), (0.03, 0.02, 1)], "rodas4"),
    ([(0.02, 0.01, 1), (0.08, 0.06, 2)], "auto")])
def test_frictions_that_share_a_load_break_away_with_all_their_strength(frictions, method):
    # however they share what the motor gives at every edge: 0.06 N*m at rest, 0.04 in motion
    run = servo(*frictions).simulate("4 ms", method=method, rtol=1e-9)
    one = servo((0.06, 0.04, 1)).simulate("4 ms", method=method, rtol=1e-9)
    assert_allclose(*[r.events.of("friction_0")[0].time for r in (run, one)], rtol=1e-9)
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


@pytest.mark.parametrize(("force", "method"), [(1e3, "rodas4"), (1e9, "auto"), (1e12, "rodas4")])
def test_a_coil_is_not_interrupted_however_large_a_force_is_elsewhere(force, method):
    # 1 mA are not small because a press beside them bears 1e9 N: the diode takes them over
    model = chopper(coil=el.Inductor(inductance="24 H"), load=el.Resistor(resistance="10 kohm"))
    wire(model, "switch.n coil.p", "coil.n load.p", "load.n supply.n", "push.R guide.R ram.M",
         "push.C guide.C frame.V", ram=tr.Mass(mass="1 t"), frame=tr.Reference(),
         push=tr.ForceSource(force=f"{force} N"), guide=dry(2 * force))
    run = model.simulate("5 ms", method=method, rtol=1e-9)
    i = 0.0
    for k, volts in enumerate([24.0, -0.6] * 5, start=1):
        i = volts / 1e4 + (i - volts / 1e4) * np.exp(-0.5e-3 / 2.4e-3)
        assert_allclose(run["coil.i"].at(f"{0.5 * k} ms").m, i, rtol=1e-7)
    assert run.energy().relative_residual < 1e-7


def motor():
    return DCMotor(resistance="1 ohm", inductance="1 mH", inertia="1e-3 kg*m^2",
                   back_emf_constant="0.2 V*s/rad")


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_coil_is_not_interrupted_where_a_clutch_of_any_strength_holds_its_motor(method):
    # a rack on its stop, with friction: the room a clutch of 1e6 N*m has is no effort
    model = chopper(motor=motor())
    wire(model, "switch.n motor.p", "motor.n supply.n", "motor.C base.W", "motor.R clutch.C",
         "clutch.R rack.P", "rack.R load.M guide.R stop.R", "guide.C stop.C frame.V",
         base=ro.RotationalReference(), frame=tr.Reference(), clutch=me.OneWayClutch(),
         rack=me.RackAndPinion(radius="20 mm"), load=tr.Mass(mass="0.1 kg"),
         guide=dry(0.3, 0.4), stop=rigid("-1 mm", "1 mm"))
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
    model = chopper(motor=motor())
    wire(model, "switch.n motor.p", "motor.n supply.n", "motor.R friction.R stop.R load.R",
         "motor.C friction.C stop.C load.C base.W", base=ro.RotationalReference(),
         friction=ro.RotationalFriction(law="coulomb", breakaway_torque="0.4 N*m",
                                        coulomb_torque="0.3 N*m"),
         stop=ro.RotationalHardStop(model="restitution", restitution=0, lower_bound="-1 rad",
                                    upper_bound="0 rad"),
         load=ro.TorqueSource(torque=lambda t: quantity("-1 kN*m/s") * t))
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
         wheel=ro.Inertia(inertia=f"{inertia} kg*m^2", w=f"{start} rad/s"),
         bearing=ro.BearingFriction(speeds=quantity(speeds, "rad/s"),
                                    torques=quantity(torques, "N*m")),
         frame=ro.RotationalReference(), ground=el.ElectricalReference())
    for k in range(count):
        wire(model, f"mains{k}.p diode{k}.p", f"diode{k}.n load{k}.p",
             f"load{k}.n mains{k}.n ground.V", **{
                 f"mains{k}": el.ACVoltageSource(amplitude=f"{10 + k} V", frequency="50 Hz"),
                 f"diode{k}": el.Diode(model="ideal"), f"load{k}": el.Resistor(resistance="5 ohm")})
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
    assert_allclose(run["wheel.w"].at(quantity(early, "s")).m, (start + level / rise)
                    * np.exp(-rise * early / inertia) - level / rise, rtol=1e-7)
    t = np.linspace(0, 0.1, 38)[1:-1]
    for k in (0, count - 1):
        assert_allclose(run[f"load{k}.v"].at(quantity(t, "s")).m,
                        (10 + k) * np.maximum(np.sin(100 * np.pi * t), 0), atol=1e-6)


# -- contacts ---------------------------------------------------------------------------------
G = 9.81


def ball(restitution, force="-9.81 N", height="1 m"):
    return wired("ball", "body.M stop.R weight.R", "floor.V stop.C weight.C", floor=tr.Reference(),
                 body=tr.Mass(mass="1 kg"), weight=tr.ForceSource(force=force),
                 stop=rigid("0 m", "10 m", restitution=restitution, x=height))


def told(run, *names):
    return [(float(e.time), e.component, e.description) for e in run.events if e.component in names]


@pytest.mark.parametrize(("restitution", "height", "duration", "method"), [
    (0.7, 1.0, "0.6 s", "auto"), (0.7, 1.0, "0.6 s", "dopri5"), (0.4, 0.04, "0.24 s", "ode45")])
def test_a_ball_bounces_beside_a_converter(restitution, height, duration, method):
    run = with_chopper(ball(restitution, height=f"{height} m")).simulate(
        duration, rtol=1e-9, method=method)
    fall, speed = np.sqrt(2 * height / G), np.sqrt(2 * G * height)
    times = fall + np.append(0.0, np.cumsum(2 * speed / G * restitution ** np.arange(1, 40)))
    events, k = told(run, "stop"), int(np.sum(times < run.time[-1].m))
    if restitution == 0.4:  # at rest once what is left of the speed is 1e-4 of it
        k = len(events)
        assert k >= 10 and events.pop()[2] == "closes (lower_force)"
        assert_allclose(run["stop.lower_force"].final.m, G, rtol=1e-9)
    else:
        speed_left = speed * restitution**k - G * (run.time[-1].m - times[k - 1])
        assert_allclose(run["body.v"].final.m, speed_left, rtol=1e-7)
    assert [e[2] for e in events] == ["rebounds (lower_force)"] * len(events)
    assert_allclose([e[0] for e in events], times[: len(events)], rtol=1e-9)
    assert k - len(events) <= 1 and "events in Python" not in run.statistics
    assert abs(run.energy().relative_residual) < 1e-8


def test_a_ball_bounces_beside_a_converter_and_a_screw_whose_friction_it_does_not_load():
    model = with_chopper(ball(0.5, height="0.1 m"))
    wire(model, "drive.R axis.I screw.S", "drive.C frame.W", "screw.N table.M", axis=ro.Inertia(),
         table=tr.Mass(mass="5 kg"), frame=ro.RotationalReference(),
         drive=ro.TorqueSource(torque="0.5 N*m"),
         screw=me.LeadScrew(lead="5 mm", diameter="20 mm", friction=0.1))
    run = model.simulate("0.2 s", rtol=1e-9)
    falls, end = np.sqrt(2 * 0.1 / G), run.time[-1].m
    assert_allclose([e[0] for e in told(run, "stop")], [falls], rtol=1e-9)
    assert_allclose(run["body.v"].final.m, 0.5 * G * falls - G * (end - falls), rtol=1e-7)
    travel, lead, grip = 5e-3 / (2 * np.pi), np.arctan(5e-3 / (np.pi * 20e-3)), np.arctan(0.1)
    inertia = model.axis.inertia.to("kg*m^2").m + 5 * travel * 10e-3 * np.tan(lead + grip)
    assert_allclose(run["table.v"].final.m, travel * 0.5 / inertia * end, rtol=1e-7)


@pytest.mark.parametrize("restitution", [0.4, 0.9])
def test_a_table_rebounds_from_its_stop_through_a_screw_with_friction(restitution):
    # J w' = T - F d/2 tan(a +- r), m v' = F, v = w l / 2 pi: raised on the way there, lowered back
    model = with_chopper(Model("axis"))
    wire(model, "drive.R axis.I screw.S", "drive.C frame.W", "screw.N table.M stop.R",
         "stop.C wall.V", axis=ro.Inertia(w="30 rad/s"), table=tr.Mass(mass="5 kg"),
         screw=me.LeadScrew(lead="20 mm", diameter="20 mm", friction=0.1),
         drive=ro.TorqueSource(torque="0.3 N*m"), frame=ro.RotationalReference(),
         wall=tr.Reference(), stop=rigid("-1 m", "10 mm", restitution=restitution))
    run = model.simulate("0.3 s", rtol=1e-9)
    travel, lead, grip = 20e-3 / (2 * np.pi), np.arctan(1 / np.pi), np.arctan(0.1)
    raised, lowered = (0.3 / (model.axis.inertia.to("kg*m^2").m + 5 * travel * 10e-3 * np.tan(a))
                       for a in (lead + grip, lead - grip))
    there = np.sqrt(30.0**2 + 2 * raised * 10e-3 / travel)
    at = (there - 30.0) / raised
    assert told(run, "stop") == [(pytest.approx(at, rel=1e-9), "stop", "rebounds (upper_force)")]
    assert_allclose(run["axis.w"].final.m, -restitution * there + lowered * (0.3 - at), rtol=1e-7)


def test_a_screw_holds_its_table_at_a_stop_beside_a_diode():
    # of T = F d/2 tan(a) + loss nobody tells the shares: the stop bears no less than what it takes
    # to raise F, no more than to lower it, and lets go when the torque turns at pi/200
    model = wired(
        "axis", "source.p diode.p", "diode.n load.p", "earth.V source.n load.n",
        "drive.R axis.I screw.S", "drive.C frame.W", "screw.N table.M stop.R", "stop.C wall.V",
        earth=el.ElectricalReference(), source=el.DCVoltageSource(voltage="24 V"),
        diode=el.Diode(model="ideal"), load=el.Resistor(resistance="10 ohm"), axis=ro.Inertia(),
        table=tr.Mass(), screw=me.LeadScrew(lead="20 mm"), frame=ro.RotationalReference(),
        wall=tr.Reference(), drive=ro.TorqueSource(torque=lambda t: quantity("0.3 N*m")
                                                   * cos(quantity("100 rad/s") * t)),
        stop=tr.HardStop(model="restitution", upper_bound="0 m", lower_bound="-1 m"))
    run = model.simulate("17 ms")
    lead, grip = np.arctan(1 / np.pi), np.arctan(0.1)
    for t in (0.002, 0.01, 0.015):
        torque, force = 0.3 * np.cos(100 * t), run["stop.upper_force"].at(quantity(t, "s")).m
        loss = run["screw.loss"].at(quantity(t, "s")).m
        assert_allclose(torque, force * 10e-3 / np.pi + loss, rtol=1e-6)
        room = 1e-9 * torque
        assert np.tan(lead - grip) * force * 10e-3 <= torque + room
        assert torque - room <= np.tan(lead + grip) * force * 10e-3
    opens = [e[0] for e in told(run, "stop") if "opens" in e[2]]
    assert opens == [pytest.approx(np.pi / 200, rel=1e-6)]


@pytest.mark.parametrize(("mu", "restitution"), [(0.05, 0.5), (0.5, 0.0)])
def test_a_disc_lands_with_a_slip_beside_a_converter(mu, restitution):
    # all that the floor gives upwards is m g t in the end, and friction mu times that at most;
    # what holds without slip is a v with (J + m r^2) v = m r^2 v_0
    model = with_chopper(Model("disc"))
    wire(model, "floor.P touch.B", "body.P touch.F", floor=Ground(),
         body=Body(mass="1 kg", inertia="5 g*m^2", x="0 m", y="0.2 m", phi="0 rad", vx="1 m/s",
                   vy="0 m/s", w="0 rad/s"),
         touch=Contact(curve=Circle("0.1 m"), friction=mu, restitution=restitution))
    run = model.simulate("0.45 s", rtol=1e-9)
    speed = max(1 - mu * G * 0.45, 0.01 / (0.005 + 0.01))
    meets(run, {"body.vx": (speed, 1e-7), "body.w": (-0.1 * (1 - speed) / 0.005, 1e-7)})
    assert told(run, "touch")[0][0] == pytest.approx(np.sqrt(2 * 0.1 / G), rel=1e-9)
    assert abs(run.energy().relative_residual) < 1e-7


def test_a_contact_that_presses_a_brake_without_mass_is_refused_by_the_names_of_both():
    model = wired(
        "ball", "body.M stop.R weight.R", "stop.C scale.R", "floor.V scale.C weight.C",
        "scale.F amount.u", "amount.y brake.N", "wheel.I shaft.R", "shaft.C brake.R",
        "brake.C frame.W", floor=tr.Reference(), body=tr.Mass(),
        weight=tr.ForceSource(force="-10 N"), stop=rigid("0 m", "10 m", x="1 m"),
        scale=tr.ForceSensor(), amount=Abs(unit="N"), wheel=ro.Inertia(),
        shaft=ro.RotationalSpring(), frame=ro.RotationalReference(), brake=me.DiscBrake())
    finding, = model.check().errors
    assert finding.code == "structure.massless"
    assert finding.where == ("stop",)
    assert "may load brake, friction at a node without mass" in finding.problem


def test_what_rests_beside_a_converter_lifts_off_when_it_is_pulled_hard_enough():
    """A force of 20 N sin(2 t) on 1 kg, from when it is 0, downwards first with the weight."""
    def force(t):
        return quantity("20 N") * sin(2 * t * quantity("1 rad/s")) - quantity(G, "N")

    run = with_chopper(ball(0.0, force, "0 m")).simulate("0.6 s", rtol=1e-9)
    lifts = np.arcsin(G / 20) / 2
    assert told(run, "stop") == [(pytest.approx(lifts, rel=1e-9), "stop", "opens (lower_force)")]
    v = 10 * (np.cos(2 * lifts) - np.cos(1.2)) - G * (0.6 - lifts)
    assert_allclose(run["body.v"].final.m, v, rtol=1e-7)
    assert_allclose(run["stop.lower_force"].at("0.1 s").m, G - 20 * np.sin(0.2), rtol=1e-9)


def test_friction_that_turns_round_beside_a_converter_rests_where_it_can():
    """Breakaway is larger than friction in motion: both rest and motion would hold there."""
    def block():
        return wired("block", "body.M stop.R force.C spring.R", "spring.C other.M rub.R",
                     "base.V stop.C force.R rub.C", base=tr.Reference(), body=tr.Mass(mass="1 kg"),
                     other=tr.Mass(mass="1 kg"), spring=tr.Spring(stiffness="2000 N/m"),
                     force=tr.ForceSource(force=lambda t: quantity("15 N")
                                          * sin(3 * t * quantity("1 rad/s"))),
                     stop=rigid("-0.1 m", "0.5 m", restitution=0.3), rub=dry(1, 1.5))

    alone, beside = (m.simulate("1 s", rtol=1e-10) for m in (block(), with_chopper(block())))
    assert_allclose(beside["body.v"].final.m, alone["body.v"].final.m, rtol=1e-6, atol=1e-12)
    first, second = (told(run, "rub") for run in (alone, beside))
    assert [e[2] for e in first] == [e[2] for e in second]
    assert_allclose([e[0] for e in first], [e[0] for e in second], rtol=1e-8)


def course_of_the_coil(end):
    """Current, velocity and position of it, from one change of the diode or impact to the next."""
    r, inductance, k, mass, bound = 2.86, 5.1e-3, 3.88, 0.5, 5e-3

    def source(t):
        return 12 * np.sin(100 * np.pi * t)

    def conducts(t, y):
        return [(source(t) - r * y[0] - k * y[1]) / inductance, k * y[0] / mass, y[1]]

    def blocks(t, y):
        return [0.0, 0.0, y[1]]

    events = {"empty": lambda t, y: y[0], "loaded": lambda t, y: source(t) - k * y[1],
              "struck": lambda t, y: bound - y[2], "back": lambda t, y: bound + y[2]}
    for name, event in events.items():
        event.terminal, event.direction = True, 1 if name == "loaded" else -1
    t, y, closed, impacts = 0.0, [0.0, 0.0, 0.0], True, 0
    while t < end:
        names = ["empty" if closed else "loaded", "struck", "back"]
        step = solve_ivp(conducts if closed else blocks, (t, end), y, rtol=1e-12, atol=1e-14,
                         events=[events[name] for name in names])
        t, y = step.t[-1], step.y[:, -1].copy()
        if step.status == 1:
            which = names[next(k for k, found in enumerate(step.t_events) if len(found))]
            if which in ("empty", "loaded"):
                closed, y[0] = not closed, 0.0
            else:
                y[1], impacts = -0.5 * y[1], impacts + 1
                closed |= source(t) > k * y[1]
    return y, impacts


def test_a_rectified_coil_hits_its_stop():
    model = wired("rectified coil", "source.p diode.p", "diode.n coil.p", "source.n coil.n earth.V",
                  "coil.R stop.R body.M", "coil.C stop.C ground.V",
                  source=el.ACVoltageSource(amplitude="12 V", frequency="50 Hz"),
                  diode=el.Diode(model="ideal"), earth=el.ElectricalReference(), coil=VoiceCoil(),
                  ground=tr.Reference(), body=tr.Mass(mass="0.5 kg"),
                  stop=rigid("-5 mm", "5 mm", restitution=0.5))
    run = model.simulate("100 ms", rtol=1e-10)
    y, impacts = course_of_the_coil(100e-3)
    assert len(told(run, "stop")) == impacts > 1
    found = [run[path].final.m for path in ("coil.i", "body.v", "stop.x")]
    assert_allclose(found, y, rtol=1e-7, atol=1e-9)


def test_sides_that_overlap_at_the_start_are_told():
    with pytest.raises(InitialisationError, match="overlap"):
        with_chopper(ball(0.5, height="-1 mm")).simulate("1 s")
