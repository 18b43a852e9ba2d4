"""Every planar component against its closed form; what stays between two bodies."""

import numpy as np
import pytest
from benches import wire, wired
from benches.planar import final
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import library.planar as pl
import library.rotational as ro
from blocks import Target
from library.translational import HardStop, Reference, Spring

G = 9.81


def test_a_body_thrown_with_spin_about_its_centre_of_mass_flies_a_parabola():
    # the frame is 0.2 m from the centre, which alone moves on the parabola
    m = wired("planar", body=pl.Body(mass="3 kg", inertia="0.4 kg*m^2", center_x="0.2 m", x="1 m",
                                     y="2 m", phi="0 rad", vx="1.5 m/s", vy="3 m/s", w="4 rad/s"))
    run = m.simulate("0.7 s", rtol=1e-11)
    t = 0.7
    x, y, phi = final(run, "body.x", "body.y", "body.phi")
    assert_allclose(phi, 4 * t, rtol=1e-10)
    assert_allclose(x + 0.2 * np.cos(phi), 1.2 + 1.5 * t, rtol=1e-9)
    assert_allclose(y + 0.2 * np.sin(phi), 2 + (3 + 0.2 * 4) * t - G * t**2 / 2, rtol=1e-9)


COS, DOWN = np.cos(np.pi / 6), G * 0.5 / 1.5  # a wheel takes half its mass more down a slope
STILL = {"strength": "0 m/s^2"}
MOVED = {
    "gravity of the mechanism it is connected to, and of the earth elsewhere": (
        "2 s", ["moon.P falling.P"],
        {"moon": pl.Gravity(strength="1.62 m/s^2", direction="-60 deg"), "falling": pl.Body(),
         "earth": pl.Body()},
        {"falling.vx": 1.62, "falling.vy": -2 * 1.62 * np.sqrt(0.75), "earth.vx": 0,
         "earth.vy": -2 * G}),
    "gravity through joints": (
        "1 s", ["ground.P hinge.B still.P", "hinge.F bar.P"],
        {"ground": pl.Ground(), "still": pl.Gravity(**STILL), "bar": pl.Body(center_x="1 m"),
         "hinge": pl.Revolute(phi="1 rad")}, {"hinge.w": 0}),
    "a relative sensor along the axes of its base": (
        "0.1 s", ["base.P seen.B", "other.P seen.F"],
        {"base": pl.Ground(x="1 m", y="1 m", phi="90 deg"), "other": pl.Ground(x="1 m", y="4 m"),
         "seen": pl.RelativeSensor(), "body": pl.Body()},
        {"seen.X": 3, "seen.Y": 0, "seen.PHI": -np.pi / 2}),
    "an offset that turns its frame": (
        "0.1 s", ["ground.P arm.B", "arm.F tip.P"],
        {"ground": pl.Ground(phi="20 deg"), "arm": pl.RigidOffset(dx="1 m", angle="40 deg"),
         "tip": pl.MotionSensor(), "body": pl.Body()},
        {"tip.X": np.cos(np.pi / 9), "tip.Y": np.sin(np.pi / 9), "tip.PHI": np.pi / 3}),
    "force and torque": (
        "2 s", ["body.P push.P twist.P"],
        {"body": pl.Body(mass="2 kg", inertia="0.5 kg*m^2"), "twist": pl.Torque(torque="1 N*m"),
         "push": pl.Force(fx="4 N", fy="19.62 N")}, {"body.x": 4, "body.y": 0, "body.phi": 4}),
    # constant along its own x axis, spin w: |v| = 2 F/(m w) sin(w t/2)
    "a force that turns with the body drives it in a circle": (
        "1 s", ["body.P thrust.P still.P"],
        {"body": pl.Body(mass="1 kg", w="2 rad/s", vx="0 m/s", vy="0 m/s", phi="0 rad"),
         "thrust": pl.Force(fx="1 N", turns=True), "still": pl.Gravity(**STILL)},
        {"body.vx": np.sin(2) / 2, "body.vy": (1 - np.cos(2)) / 2}),
    "a rolling wheel": (
        "1 s", ["slope.P wheel.B", "wheel.F body.P"],
        {"slope": pl.Ground(phi="-30 deg"), "wheel": pl.RollingWheel(radius="0.3 m"),
         "body": pl.Body(mass="2 kg", inertia="0.09 kg*m^2")},
        {"wheel.s": DOWN / 2, "wheel.v": DOWN, "wheel.normal": 2 * G * COS,
         "wheel.traction": -2 * G * 0.5 / 3, "body.w": -DOWN / 0.3}),
    "a slide": (
        "1 s", ["ground.P slide.B seen.B", "slide.F sensor.B", "sensor.F block.P seen.F"],
        {"ground": pl.Ground(), "slide": pl.Prismatic(angle="30 deg"), "sensor": pl.ForceSensor(),
         "block": pl.Body(mass="2 kg"), "seen": pl.RelativeSensor()},
        {"slide.s": -G / 4, "slide.v": -G / 2, "sensor.FX": -G * COS, "sensor.FY": 2 * G * COS**2,
         "seen.X": -G / 4 * COS, "seen.Y": -G / 8, "seen.PHI": 0}),
    "friction of the rotational library across a bridge": (
        "1 s", ["ground.P hinge.B bridge.B", "hinge.F body.P bridge.F twist.P", "bridge.A brake.R",
                "brake.C case.W"],
        {"ground": pl.Ground(), "hinge": pl.Revolute(), "bridge": pl.RotationalBridge(),
         "body": pl.Body(inertia="0.5 kg*m^2"), "twist": pl.Torque(torque="2 N*m"),
         "brake": ro.RotationalFriction(law="coulomb", coulomb_torque="1 N*m",
                                        breakaway_torque="1 N*m"),
         "case": ro.RotationalReference()}, {"body.phi": 1, "body.w": 2}),
    "a bridge that feels one component of the motion, and carries the weight": (
        "1 s", ["ground.P bridge.B", "bridge.F body.P", "bridge.A frame.V"],  # along y only
        {"ground": pl.Ground(), "bridge": pl.TranslationalBridge(angle="90 deg"),
         "body": pl.Body(vx="1 m/s", vy="0 m/s", w="0 rad/s"), "frame": Reference()},
        {"body.x": 1, "body.y": 0, "bridge.A.f": G}),
    "a motor in a hinge pushes back on the base": (  # their angular momenta stay opposite
        "1 s", ["base.P hinge.B", "hinge.F arm.P", "hinge.A motor.R", "motor.C case.W"],
        {"base": pl.Body(inertia="2 kg*m^2", phi="0 rad", w="-0.6 rad/s"),
         "hinge": pl.Revolute(drive=True), "arm": pl.Body(inertia="0.5 kg*m^2"),
         "motor": ro.AngularVelocitySource(velocity="3 rad/s"), "case": ro.RotationalReference()},
        {"base.w": -0.6, "arm.w": 2.4})}


@pytest.mark.parametrize("case", MOVED)
def test_what_moves_freely_or_evenly_is_where_its_formula_says(case):
    duration, nets, parts, expected = MOVED[case]
    run = wired("planar", *nets, **parts).simulate(duration, rtol=1e-10)
    assert_allclose(final(run, *expected), [*expected.values()], rtol=1e-9, atol=1e-12)
    assert run.energy().relative_residual < 1e-9


def test_a_physical_pendulum_swings_with_the_period_of_its_reduced_length():
    mass, inertia, arm = 2.0, 0.3, 0.4
    m = wired("planar", "ground.P hinge.B", "hinge.F bar.P",
              ground=pl.Ground(x="1 m"), hinge=pl.Revolute(phi="-89.99 deg"),
              bar=pl.Body(mass="2 kg", inertia="0.3 kg*m^2", center_x="0.4 m"))
    period = 2 * np.pi * np.sqrt((inertia + mass * arm**2) / (mass * G * arm))
    run = m.simulate(f"{period / 4} s", rtol=1e-11)
    angle, speed = final(run, "hinge.phi", "hinge.w")
    assert abs(angle + np.pi / 2) < 1e-9
    assert_allclose(speed, -np.radians(0.01) * 2 * np.pi / period, rtol=1e-6)
    assert_allclose(final(run, "bar.x", "bar.y"), [1, 0], atol=1e-15)


def test_the_force_in_a_hinge_is_weight_and_centripetal_force():
    m = wired("planar", "ground.P sensor.B", "sensor.F hinge.B", "hinge.F bar.P",
              ground=pl.Ground(), sensor=pl.ForceSensor(), hinge=pl.Revolute(phi="0 rad"),
              bar=pl.Body(mass="2 kg", inertia="1 g*m^2", center_x="0.5 m"))
    run = m.simulate("1 s", rtol=1e-11)
    phi, w = run["hinge.phi"].magnitude, run["hinge.w"].magnitude
    j = 0.001 + 2 * 0.25
    assert_allclose(j * w**2 / 2, -2 * G * 0.5 * np.sin(phi), atol=1e-8)
    along = -2 * 0.5 * w**2 + 2 * G * np.sin(phi)
    alpha = -2 * G * 0.5 * np.cos(phi) / j
    across = 2 * 0.5 * alpha + 2 * G * np.cos(phi)
    fx = along * np.cos(phi) - across * np.sin(phi)
    fy = along * np.sin(phi) + across * np.cos(phi)
    assert_allclose(run["sensor.FX"].magnitude, fx, atol=1e-7)
    assert_allclose(run["sensor.FY"].magnitude, fy, atol=1e-7)
    assert_allclose(run["sensor.T"].magnitude, 0, atol=1e-12)


def test_an_offset_carries_force_and_its_moment():
    m = wired("planar", "body.P arm.B", "arm.F push.P tip.P",
              body=pl.Body(mass="2 kg", inertia="0.5 kg*m^2"), arm=pl.RigidOffset(dy="0.25 m"),
              push=pl.Force(fx="4 N", fy="19.62 N"), tip=pl.MotionSensor())
    run = m.simulate("10 ms", rtol=1e-10)  # the body has hardly turned
    assert_allclose(final(run, "body.vx", "body.w"), [0.02, -0.25 * 4 * 0.01 / 0.5], rtol=1e-3)
    phi, w = final(run, "body.phi", "body.w")
    assert_allclose(final(run, "tip.VX"), final(run, "body.vx")[0] - 0.25 * w * np.cos(phi),
                    rtol=1e-12)


def test_a_spring_with_a_damper_between_points_rings_along_its_line():
    m = wired("planar", "ground.P ring.B still.P", "ring.F body.P", ground=pl.Ground(),
              ring=pl.SpringDamper(stiffness="100 N/m", damping="3 N*s/m", free_length="0.5 m"),
              body=pl.Body(mass="2 kg", x="0.6 m", y="0.8 m", vx="0 m/s", vy="0 m/s"),
              still=pl.Gravity(strength="0 m/s^2"))
    run = m.simulate("1 s", rtol=1e-10)
    exact = solve_ivp(lambda t, y: [y[1], -(100 * (y[0] - 0.5) + 3 * y[1]) / 2], (0, 1), [1, 0],
                      rtol=1e-12, atol=1e-12).y[:, -1]  # fmt: skip
    length, v, f = final(run, "ring.length", "ring.v", "ring.f")
    assert_allclose([length, v], exact, rtol=1e-8)
    assert_allclose(f, 100 * (exact[0] - 0.5) + 3 * exact[1], rtol=1e-8)
    assert_allclose(final(run, "body.x", "body.y"), [0.6 * length, 0.8 * length], rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


def test_a_slide_feels_a_hard_stop_of_the_translational_library():
    m = wired("planar", "ground.P slide.B", "slide.F body.P", "slide.A stop.R", "stop.C frame.V",
              ground=pl.Ground(), slide=pl.Prismatic(angle="90 deg", drive=True), body=pl.Body(),
              stop=HardStop(upper_bound="0.1 m", lower_bound="-0.1 m", model="full",
                            lower_damping="2 kN*s/m"), frame=Reference())
    run = m.simulate("3 s", rtol=1e-9)
    assert_allclose(final(run, "slide.s"), -0.1 - G / 1e6, rtol=1e-9)  # its stiffness is 1 N/um
    assert run.energy().relative_residual < 1e-6


@pytest.mark.parametrize("wrong", [{"mass": "0 kg"}, {"inertia": "-1 kg*m^2"}])
def test_a_body_without_mass_or_inertia_is_refused(wrong):
    with pytest.raises(ValueError, match="must be greater than 0"):
        pl.Body(**wrong)


# -- two free bodies and a component between them --------------------------------------------------
BETWEEN = {
    "Revolute": lambda: pl.Revolute(),
    "Prismatic": lambda: pl.Prismatic(angle="40 deg", v="0.7 m/s"),
    "RollingWheel": lambda: pl.RollingWheel(radius="0.3 m", v="0.5 m/s"),
    "RigidOffset": lambda: pl.RigidOffset(dx="0.4 m", dy="0.1 m", angle="20 deg"),
    "ForceSensor": lambda: pl.ForceSensor(),
    "SpringDamper": lambda: pl.SpringDamper(stiffness="50 N/m", free_length="0.2 m"),
    "TranslationalBridge": lambda: pl.TranslationalBridge(angle="30 deg"),
    "RotationalBridge": lambda: pl.RotationalBridge(),
    "Contact": lambda: pl.Contact(curve=pl.Circle("0.3 m"), base=pl.Circle("0.4 m"), friction=0.3,
                                  restitution=0.5),
    "Contact of an ellipse": lambda: pl.Contact(
        curve=pl.Ellipse("0.3 m", "0.2 m"), base=pl.Circle("0.4 m"), friction=0.3, restitution=0.5,
        xi_F=Target("180 deg", "none"))}
FLYING = ("SpringDamper", "TranslationalBridge", "RotationalBridge", "Contact",
          "Contact of an ellipse")  # fmt: skip


def pair(name):
    free = {"x": "1 m", "y": "0 m", "vx": "-0.8 m/s", "vy": "0.1 m/s", "w": "1.5 rad/s"}
    model = wired(name, "first.P between.B still.P", "second.P between.F",
                  first=pl.Body(mass="2 kg", inertia="0.3 kg*m^2", center_x="0.1 m", x="0 m",
                                y="0 m",
                                phi="0.3 rad", vx="0.2 m/s", vy="-0.1 m/s", w="-1.1 rad/s"),
                  second=pl.Body(mass="1.5 kg", inertia="0.2 kg*m^2", center_y="-0.05 m",
                                 **(free if name in FLYING else {})), between=BETWEEN[name](),
                  still=pl.Gravity(strength="0 m/s^2"))
    if name == "TranslationalBridge":
        wire(model, "between.A spring.R", "spring.C frame.V",
             spring=Spring(stiffness="40 N/m"), frame=Reference())
    if name == "RotationalBridge":
        wire(model, "between.A spring.R", "spring.C frame.W",
             spring=ro.RotationalSpring(stiffness="2 N*m/rad"), frame=ro.RotationalReference())
    return model


def momenta(run, name, mass, inertia, cx, cy):
    x, y, phi, vx, vy, w = (run[f"{name}.{v}"].magnitude for v in ("x", "y", "phi", "vx", "vy",
                                                                   "w"))  # fmt: skip
    rx, ry = np.cos(phi) * cx - np.sin(phi) * cy, np.sin(phi) * cx + np.cos(phi) * cy
    ux, uy = mass * (vx - w * ry), mass * (vy + w * rx)
    return np.array([ux, uy, inertia * w + (x + rx) * uy - (y + ry) * ux])


@pytest.mark.parametrize("name", BETWEEN)
def test_what_acts_between_two_free_bodies_changes_neither_momentum_nor_energy(name):
    run = pair(name).simulate("1.5 s", rtol=1e-10)
    total = momenta(run, "first", 2, 0.3, 0.1, 0) + momenta(run, "second", 1.5, 0.2, 0, -0.05)
    assert_allclose(total - total[:, :1], 0, atol=1e-8)
    assert abs(run.energy().residual.to("J").m) < 1e-8
    one = momenta(run, "second", 1.5, 0.2, 0, -0.05)
    assert np.ptp(one, axis=1).max() > 0.05  # something has happened
