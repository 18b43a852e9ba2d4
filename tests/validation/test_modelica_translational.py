"""Examples of the Modelica Standard Library against their published results: bodies that slide.

The examples are position-based: connectors carry positions, bodies have lengths,
springs an unstretched length. Here positions are integrals of velocities, so

* a part between ``flange_a`` and ``flange_b`` has C at flange_a and R at flange_b, and
  its deformation starts at x = s_rel - s_rel0;
* lengths of masses and rods only enter those start values;
* a position ``s`` is read by an absolute motion sensor that starts at s.

The parts with dry friction are written here as a user would write them. Data, licence and
tolerances: ``tests/data/validation``. Switching times are those of an independent solution
given there.
"""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from published import cases, follow, published, switching_times

import library.translational as tr
from blocks import Input, Parameter, abs_, dry_friction, exp, interpolate, quantity, sin, where


def position(model, name, port, start="0 m"):
    """Watch the position of a port that starts at ``start``."""
    model.connect(model.add(name, tr.MotionSensor(reference="absolute", offset=start)).R, port)


def push(model, name, body, force):
    source = model.add(name, tr.ForceSource(force=force))
    model.connect(source.R, body.M)
    model.connect(source.C, model.fixed.V)


def test_oscillator():
    model = wired("oscillator", fixed=tr.Reference())
    omega = quantity(2 * np.pi * 15.9155, "rad/s")
    for i in "12":  # s_rel = s_rel0 = 1
        wire(model, f"mass{i}.M spring{i}.C", f"spring{i}.R fixed.V", **{
            f"mass{i}": tr.Mass(mass="1 kg", v="0 m/s"),
            f"spring{i}": tr.Spring(stiffness="10 kN/m", x="0 m")})
        push(model, f"force{i}", model[f"mass{i}"], lambda t: quantity("1 N") * sin(omega * t))
    wire(model, "damper1.C mass2.M", "damper1.R fixed.V", damper1=tr.Damper(damping="10 N*s/m"))
    position(model, "place", model.mass1.M, "-0.5 m")
    follow(model, "translational_oscillator", {
        "mass1.s": ("place.P", "m"), "mass1.v": ("mass1.v", "m/s"),
        "damper1.s_rel": ("spring2.x", "m", 1.0), "damper1.v_rel": ("damper1.v", "m/s")
    })  # fmt: skip


def test_accelerate():
    model = wired("accelerate", "accelerate.R mass.M", "accelerate.C ground.V",
                  accelerate=tr.AccelerationSource(acceleration="1 m/s^2"),
                  mass=tr.Mass(mass="1 kg"), ground=tr.Reference())
    follow(model, "translational_accelerate", {"accelerate.s": ("accelerate.x", "m"),
                                               "accelerate.v": ("accelerate.v", "m/s")})


def test_damper():
    model = wired("damper", fixed=tr.Reference())
    for i in "123":
        model.add(f"mass{i}", tr.Mass(mass="1 kg", v="10 m/s"))
    # s_rel starts at 4.5 - (3 + 0.5) = 1, the unstretched length
    wire(model, "mass1.M damper1.C place1.C", "mass2.M damper2.C spring2.C",
         "mass3.M springDamper3.C",
         "damper1.R place1.R damper2.R spring2.R springDamper3.R fixed.V",
         damper1=tr.Damper(damping="25 N*s/m"), damper2=tr.Damper(damping="25 N*s/m"),
         spring2=tr.Spring(stiffness="1 N/m", x="0 m"),
         springDamper3=tr.SpringDamper(stiffness="1 N/m", damping="25 N*s/m", x="0 m"),
         place1=tr.MotionSensor(offset="1 m"))
    follow(model, "translational_damper", {"damper1.s_rel": ("place1.P", "m"),
                                           "damper1.v_rel": ("damper1.v", "m/s"),
                                           "damper2.s_rel": ("spring2.x", "m", 1.0),
                                           "damper2.v_rel": ("damper2.v", "m/s"),
                                           "springDamper3.s_rel": ("springDamper3.x", "m", 1.0),
                                           "springDamper3.v_rel": ("springDamper3.v", "m/s")})


def test_elasto_gap():
    held = {"stiffness": "10 N/m", "damping": "1.5 N*s/m"}
    # rods of 2 m from the ground to the walls at -2 m and +2 m, both masses at s = 2 m: s_rel
    # starts at 4 and 0, unstretched lengths are 1 (spring-damper) and 1.5 m (gap)
    model = wired("elasto_gap", "fixed.V rod1.R rod2.C", "rod1.C springDamper1.C elastoGap1.C",
                  "rod2.R springDamper2.R elastoGap2.R", "mass1.M springDamper1.R springDamper2.C",
                  "mass2.M elastoGap1.R elastoGap2.C",
                  fixed=tr.Reference(), rod1=tr.Rod(), rod2=tr.Rod(), mass1=tr.Mass(mass="1 kg"),
                  mass2=tr.Mass(mass="1 kg"), springDamper1=tr.SpringDamper(**held, x="3 m"),
                  springDamper2=tr.SpringDamper(**held, x="-1 m"),
                  elastoGap1=tr.ElastoGap(**held, free_length="1.5 m", x="4 m"),
                  elastoGap2=tr.ElastoGap(**held, free_length="1.5 m", x="0 m"))
    run = follow(model, "translational_elastogap", {
        "elastoGap1.v_rel": ("elastoGap1.v", "m/s"),
        "elastoGap2.s_rel": ("elastoGap2.x", "m"),
        "springDamper1.v_rel": ("springDamper1.v", "m/s"),
        "springDamper2.s_rel": ("springDamper2.x", "m", 1.0)})  # fmt: skip
    switched = [quantity(e.time, "s").to("s").magnitude for e in run.events]
    assert_allclose(switched, cases()["translational_elastogap"]["event_times"], atol=1e-4)


def test_sensors():
    def pushed(t):
        return quantity("10 N") * sin(quantity(8 * np.pi, "rad/s") * t)

    model = wired("sensors", "force.C fixed.V", "force.R forceSensor.R",
                  "forceSensor.C multiSensor.R", "multiSensor.C mass.M",
                  mass=tr.Mass(mass="1 kg", v="0 m/s"), fixed=tr.Reference(),
                  force=tr.ForceSource(force=pushed), forceSensor=tr.ForceSensor(),
                  multiSensor=tr.MultiSensor())
    position(model, "place", model.mass.M)
    position(model, "flange_a", model.mass.M, "-0.5 m")
    run = follow(model, "translational_sensors", {
        "mass.s": ("place.P", "m"), "mass.v": ("mass.v", "m/s")})  # fmt: skip
    t, w = run.time.to("s").magnitude, 8 * np.pi
    force, speed = 10 * np.sin(w * t), 10 / w * (1 - np.cos(w * t))
    assert_allclose(run["forceSensor.F"].to("N").magnitude, force, atol=1e-9)
    assert_allclose(run["multiSensor.P"].to("W").magnitude, force * speed, atol=1e-5)
    assert_allclose(run["flange_a.P"].to("m").magnitude,
                    10 / w * (t - np.sin(w * t) / w) - 0.5, atol=1e-6)  # fmt: skip


def test_initial_conditions():
    model = wired("initial_conditions", fixed=tr.Reference())
    # chain 1: s1.s_rel = 0.5 (unstretched 1), sd1.s_rel = 1 = unstretched, sd1.v_rel = 0
    wire(model, "fixed.V s1.C", "s1.R m1.M sd1.C", "sd1.R m2.M",
         s1=tr.Spring(stiffness="1 kN/m", x="-0.5 m"), m1=tr.Mass(mass="1 kg", v="0 m/s"),
         m2=tr.Mass(mass="1 kg"),
         sd1=tr.SpringDamper(stiffness="111 N/m", damping="1 N*s/m", x="0 m", v="0 m/s"))
    # chain 2 is in equilibrium: m3.s = 4.5 makes s2.s_rel = 2, m4.s = 12.5 makes sd2.s_rel = 4
    wire(model, "fixed.V s2.C", "s2.R m3.M sd2.C", "sd2.R m4.M",
         s2=tr.Spring(stiffness="1 kN/m", x="0 m"), m3=tr.Mass(mass="1 kg", v="0 m/s"),
         m4=tr.Mass(mass="1 kg", v="0 m/s"),
         sd2=tr.SpringDamper(stiffness="111 N/m", damping="1 N*s/m", x="0 m"))
    position(model, "place1", model.m1.M)  # -1 + 0.5 + half of 1
    position(model, "place3", model.m3.M, "4.5 m")
    follow(model, "translational_initial_conditions", {
        "m1.s": ("place1.P", "m"), "m1.v": ("m1.v", "m/s"), "m3.s": ("place3.P", "m"),
        "m3.v": ("m3.v", "m/s"), "sd1.s_rel": ("sd1.x", "m", 1.0), "sd1.v_rel": ("sd1.v", "m/s"),
        "sd2.s_rel": ("sd2.x", "m", 4.0), "sd2.v_rel": ("sd2.v", "m/s")})  # fmt: skip


def test_the_missing_initial_value_follows_from_the_given_ones():
    model = wired("follows", "sd1.C m1.M", "sd1.R m2.M", m1=tr.Mass(mass="1 kg", v="3 m/s"),
                  m2=tr.Mass(mass="1 kg"), sd1=tr.SpringDamper(x="0 m", v="0 m/s"))
    run = model.simulate("1 ms", rtol=1e-8)
    assert_allclose(run["m2.v"].initial.to("m/s").magnitude, 3.0, rtol=1e-10)


def test_sign_convention():
    model = wired("sign_convention", fixed=tr.Reference())
    columns = {}
    for i in "123":  # whichever flange is pushed: a body has one node
        body = model.add(f"mass{i}", tr.Mass(mass="1 kg", v="0 m/s"))
        push(model, f"force{i}", body, "1 N")
        position(model, f"place{i}", body.M)
        columns[f"mass{i}.s"] = (f"place{i}.P", "m")
        columns[f"mass{i}.v"] = (f"mass{i}.v", "m/s")
    follow(model, "translational_sign_convention", columns)


class Brake(tr.TwoPort):
    """Friction 0.5 N that follows a normal force."""

    normal_force = Parameter("0 N", varying=True)
    N = Input("N", default="normal_force")

    def equations(self):
        yield dry_friction(self.f, self.v, static=0.5 * self.N, kinetic=0.5 * self.N)


class TableFriction(tr.TwoPort):
    """Friction from a table of speeds."""

    speeds, forces = Parameter(["0 m/s", "1 m/s"]), Parameter(["1 N", "1 N"])

    def equations(self):
        kinetic = interpolate(abs_(self.v), self.speeds, self.forces)
        yield dry_friction(self.f, self.v, static=self.forces[0], kinetic=kinetic)


class StribeckFriction(tr.TwoPort):
    """Friction that falls exponentially with the speed, and sticks a little better."""

    coulomb, drop = Parameter("5 N"), Parameter("10 N")

    def equations(self):
        speed = abs_(self.v)
        kinetic = (quantity("1 N*s/m") * speed + self.coulomb
                   + self.drop * exp(-quantity("2 s/m") * speed))  # fmt: skip
        yield dry_friction(self.f, self.v, static=1.001 * (self.coulomb + self.drop),
                           kinetic=kinetic)  # fmt: skip


def mass_with_stops(model, name, reach, friction, **start):
    """A body with friction between two stops that stop it dead."""
    wire(model, f"{name}.M {name}_friction.R {name}_stop.R",
         f"{name}_friction.C {name}_stop.C fixed.V", **{
             name: tr.Mass(mass="1 kg", **start), f"{name}_friction": friction,
             f"{name}_stop": tr.HardStop(model="restitution", restitution=0.0, upper_bound=reach,
                                         lower_bound=f"-{reach}")})


def test_brake():
    model = wired("brake", fixed=tr.Reference())
    for i in "12":
        wire(model, f"mass{i}.M brake{i}.R", f"brake{i}.C fixed.V", **{
            f"mass{i}": tr.Mass(mass="1 kg", v="1 m/s"),
            f"brake{i}": Brake(normal_force=lambda t: where(
                t < quantity("0.1 s"), quantity("0 N"), quantity("2 N")))})
        position(model, f"place{i}", model[f"mass{i}"].M)
    run = follow(model, "translational_brake", {
        "mass1.s": ("place1.P", "m"), "mass1.v": ("mass1.v", "m/s"), "mass2.s": ("place2.P", "m"),
        "mass2.v": ("mass2.v", "m/s"), "brake.mode": "brake1", "brake1.mode": "brake2"
    })  # fmt: skip
    assert_allclose(switching_times(run, "brake1"), [1.1], rtol=1e-9)
    assert_allclose(run["place1.P"].final.magnitude, 0.6, rtol=1e-9)


def test_friction():
    model = wired("friction", fixed=tr.Reference())
    mass_with_stops(model, "stop1", "24.5 m", StribeckFriction())
    mass_with_stops(model, "stop2", "0.4 m", StribeckFriction(coulomb="3 N", drop="5 N"),
                    v="-5 m/s")  # fmt: skip
    w = 12 * np.arange(50) / 49

    def force(t):
        return quantity("25 N") * sin(quantity(0.5 * np.pi, "rad/s") * t)

    wire(model, "stop1.M force.R", "stop2.M spring.R", "mass.M friction.R force2.R",
         "force.C force2.C friction.C spring.C fixed.V", mass=tr.Mass(mass="1 kg"),
         force=tr.ForceSource(force=force), force2=tr.ForceSource(force=force),
         spring=tr.Spring(stiffness="500 N/m", x="0.25 m"),  # its force is 500 (s + 0.25)
         friction=TableFriction(speeds=quantity(w, "m/s"),
                                forces=quantity(5 + w + 10 * np.exp(-2 * w), "N")))
    position(model, "place", model.mass.M)
    run = follow(model, "translational_friction", {
        "stop1.s": ("stop1_stop.x", "m"), "stop1.v": ("stop1.v", "m/s"),
        "stop2.s": ("stop2_stop.x", "m"), "stop2.v": ("stop2.v", "m/s"), "mass.s": ("place.P", "m"),
        "mass.v": ("mass.v", "m/s"), "stop1.mode": "stop1_friction", "stop2.mode": "stop2_friction",
        "supportFriction.mode": "friction"}, method="DOP853")  # fmt: skip
    for path, known in [
        ("stop1_friction", [0.41014, 2.44269, 4.44194]),
        ("stop2_friction",
         [0.06060, 0.20111, 0.34162, 0.48214, 0.62269, 0.76333, 0.90420, 1.04597])]:
        assert_allclose(np.unique(np.round(switching_times(run, path), 9)), known, atol=6e-6)
    slips = np.unique(np.round(switching_times(run, "friction"), 9))
    assert_allclose(slips, [0.40967, 2.44223, 4.44155], atol=6e-6)


@pytest.mark.parametrize("name", cases())
def test_every_copied_reference_is_complete(name):
    case, columns = cases()[name], published(name)
    assert set(columns) == {"time", *case["signals"]}
    assert len(columns["time"]) == case["rows"]
    assert columns["time"][-1] == case["stop_time"]
