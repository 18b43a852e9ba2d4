"""Rigid contacts in one model with ideal diodes and switches: impacts, rest, and what lifts off."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import InitialisationError, Model, cos, quantity, sin
from library.electrical import (
    ACVoltageSource,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
    Switch,
)
from library.electromechanical import VoiceCoil
from library.mechanisms import DiscBrake, LeadScrew
from library.planar import Body, Circle, Contact, Ground
from library.rotational import Inertia, RotationalReference, RotationalSpring, TorqueSource
from library.signal import Abs, Pulse
from library.translational import (
    ForceSensor,
    ForceSource,
    HardStop,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
)

G = 9.81


def with_chopper(model):
    """24 V over a switch at 1 kHz, a diode and a coil onto 10 ohm, beside what there is."""
    wire(model, "source.p switch.p", "switch.n diode.n coil.p", "coil.n load.p",
         "earth.V source.n diode.p load.n", "pulse.y switch.vT",
         earth=ElectricalReference(), source=DCVoltageSource(voltage="24 V"),
         switch=Switch(model="ideal"), diode=Diode(model="ideal"), coil=Inductor(inductance="1 mH"),
         load=Resistor(resistance="10 ohm"), pulse=Pulse(period="1 ms", width=0.5))
    return model


def ball(restitution, force="-9.81 N", height="1 m"):
    return wired("ball", "body.M stop.R weight.R", "floor.V stop.C weight.C",
                 floor=Reference(), body=Mass(mass="1 kg"), weight=ForceSource(force=force),
                 stop=HardStop(model="restitution", restitution=restitution, lower_bound="0 m",
                               upper_bound="10 m", x=height))


def told(run, *names):
    return [(float(e.time), e.component, e.description) for e in run.events if e.component in names]


@pytest.mark.parametrize("method", ["auto", "dopri5"])
def test_a_ball_bounces_beside_a_converter(method):
    run = with_chopper(ball(0.7)).simulate("0.6 s", rtol=1e-9, method=method)
    fall, speed = np.sqrt(2 / G), np.sqrt(2 * G)
    times = fall + np.concatenate([[0.0], np.cumsum(2 * speed / G * 0.7 ** np.arange(1, 20))])
    times = times[times < run.time[-1].m]
    events = told(run, "stop")
    assert [e[2] for e in events] == ["rebounds (lower_force)"] * len(times)
    assert_allclose([e[0] for e in events], times, rtol=1e-9)
    last, k = run.time[-1].m - times[-1], len(times)
    assert_allclose(run["body.v"].final.m, speed * 0.7**k - G * last, rtol=1e-7)
    assert abs(run.energy().relative_residual) < 1e-8


def test_a_ball_bounces_beside_a_converter_and_a_screw_whose_friction_it_does_not_load():
    model = with_chopper(ball(0.5, height="0.1 m"))
    wire(model, "drive.R axis.I screw.S", "drive.C frame.W", "screw.N table.M",
         axis=Inertia(), table=Mass(mass="5 kg"), frame=RotationalReference(),
         drive=TorqueSource(torque="0.5 N*m"),
         screw=LeadScrew(lead="5 mm", diameter="20 mm", friction=0.1))
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
         "stop.C wall.V",
         axis=Inertia(w="30 rad/s"), table=Mass(mass="5 kg"),
         screw=LeadScrew(lead="20 mm", diameter="20 mm", friction=0.1),
         drive=TorqueSource(torque="0.3 N*m"), frame=RotationalReference(), wall=Reference(),
         stop=HardStop(model="restitution", restitution=restitution, upper_bound="10 mm",
                       lower_bound="-1 m"))
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
    model = Model("axis")
    model.earth, model.source = ElectricalReference(), DCVoltageSource(voltage="24 V")
    model.diode, model.load = Diode(model="ideal"), Resistor(resistance="10 ohm")
    model.connect(model.source.p, model.diode.p)
    model.connect(model.diode.n, model.load.p)
    model.connect(model.earth.V, model.source.n, model.load.n)
    model.axis, model.table, model.screw = Inertia(), Mass(), LeadScrew(lead="20 mm")
    model.frame, model.wall = RotationalReference(), Reference()
    model.drive = TorqueSource(
        torque=lambda t: quantity("0.3 N*m") * cos(quantity("100 rad/s") * t))
    model.stop = HardStop(model="restitution", upper_bound="0 m", lower_bound="-1 m")
    model.connect(model.drive.R, model.axis.I, model.screw.S)
    model.connect(model.drive.C, model.frame.W)
    model.connect(model.screw.N, model.table.M, model.stop.R)
    model.connect(model.stop.C, model.wall.V)
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
    wire(model, "ground.P touch.B", "body.P touch.F",
         ground=Ground(),
         body=Body(mass="1 kg", inertia="5 g*m^2", x="0 m", y="0.2 m", phi="0 rad", vx="1 m/s",
                   vy="0 m/s", w="0 rad/s"),
         touch=Contact(curve=Circle("0.1 m"), friction=mu, restitution=restitution))
    run = model.simulate("0.45 s", rtol=1e-9)
    speed = max(1 - mu * G * 0.45, 0.01 / (0.005 + 0.01))
    assert_allclose(run["body.vx"].final.m, speed, rtol=1e-7)
    assert_allclose(run["body.w"].final.m, -0.1 * (1 - speed) / 0.005, rtol=1e-7)
    falls = np.sqrt(2 * 0.1 / G)
    assert told(run, "touch")[0][0] == pytest.approx(falls, rel=1e-9)
    assert abs(run.energy().relative_residual) < 1e-7


def test_a_contact_that_presses_a_brake_without_mass_is_refused_by_the_names_of_both():
    model = wired("ball", "body.M stop.R weight.R", "stop.C scale.R", "floor.V scale.C weight.C",
                  "scale.F amount.u", "amount.y brake.N", "wheel.I shaft.R", "shaft.C brake.R",
                  "brake.C frame.W",
                  floor=Reference(), body=Mass(), weight=ForceSource(force="-10 N"),
                  stop=HardStop(model="restitution", lower_bound="0 m", upper_bound="10 m",
                                x="1 m"), scale=ForceSensor(), amount=Abs(unit="N"),
                  wheel=Inertia(), shaft=RotationalSpring(), frame=RotationalReference(),
                  brake=DiscBrake())
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
    events = told(run, "stop")
    assert [e[2] for e in events] == ["opens (lower_force)"]
    assert_allclose(events[0][0], lifts, rtol=1e-9)
    left = 0.6 - lifts
    v = 10 * (np.cos(2 * lifts) - np.cos(1.2)) - G * left
    assert_allclose(run["body.v"].final.m, v, rtol=1e-7)
    assert_allclose(run["stop.lower_force"].at("0.1 s").m, G - 20 * np.sin(0.2), rtol=1e-9)


def test_friction_that_turns_round_beside_a_converter_rests_where_it_can():
    """Breakaway is larger than friction in motion: both rest and motion would hold there."""
    def block():
        model = Model("block")
        model.ground, model.body = Reference(), Mass(mass="1 kg")
        model.force = ForceSource(
            force=lambda t: quantity("15 N") * sin(3 * t * quantity("1 rad/s")))
        model.stop = HardStop(model="restitution", restitution=0.3, lower_bound="-0.1 m",
                              upper_bound="0.5 m")
        model.spring, model.other = Spring(stiffness="2000 N/m"), Mass(mass="1 kg")
        model.rub = TranslationalFriction(law="coulomb", coulomb_force="1 N",
                                          breakaway_force="1.5 N")
        model.connect(model.body.M, model.stop.R, model.force.C, model.spring.R)
        model.connect(model.spring.C, model.other.M, model.rub.R)
        model.connect(model.ground.V, model.stop.C, model.force.R, model.rub.C)
        return model

    alone, beside = (m.simulate("1 s", rtol=1e-10) for m in (block(), with_chopper(block())))
    assert_allclose(beside["body.v"].final.m, alone["body.v"].final.m, rtol=1e-6, atol=1e-12)
    first, second = (told(run, "rub") for run in (alone, beside))
    assert [e[2] for e in first] == [e[2] for e in second]
    assert_allclose([e[0] for e in first], [e[0] for e in second], rtol=1e-8)


def rectified_coil():
    """12 V at 50 Hz over an ideal diode moves a voice coil against its stop."""
    return wired("rectified coil", "source.p diode.p", "diode.n coil.p", "source.n coil.n earth.V",
                 "coil.R stop.R body.M", "coil.C stop.C ground.V",
                 source=ACVoltageSource(amplitude="12 V", frequency="50 Hz"),
                 diode=Diode(model="ideal"), earth=ElectricalReference(), coil=VoiceCoil(),
                 ground=Reference(), body=Mass(mass="0.5 kg"),
                 stop=HardStop(model="restitution", restitution=0.5, lower_bound="-5 mm",
                               upper_bound="5 mm"))


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
    run = rectified_coil().simulate("100 ms", rtol=1e-10)
    y, impacts = course_of_the_coil(100e-3)
    assert len(told(run, "stop")) == impacts > 1
    found = [run[path].final.m for path in ("coil.i", "body.v", "stop.x")]
    assert_allclose(found, y, rtol=1e-7, atol=1e-9)


def test_sides_that_overlap_at_the_start_are_told():
    with pytest.raises(InitialisationError, match="overlap"):
        with_chopper(ball(0.5, height="-1 mm")).simulate("1 s")
