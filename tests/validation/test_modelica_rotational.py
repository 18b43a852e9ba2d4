"""Examples of the Modelica Standard Library against their published results: rotation.

A part between ``flange_a`` and ``flange_b`` has C at flange_a and R at flange_b. An
angle ``phi`` is read by an absolute motion sensor. Data, licence and tolerances:
``tests/data/validation``. Switching times are those of an independent solution given
there.
"""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from published import follow, switching_times

import blocks
import library.rotational as rot
from blocks import Input, Parameter, Variable, abs_, der, maximum, minimum, quantity, sin, where
from library.heat import Dissipative
from library.mechanisms import DiscBrake, DiscClutch, GearBox, LossyGear, OneWayClutch, RollingWheel
from library.thermal import ThermalMass
from library.translational import Mass, MotionSensor, Reference, VelocitySource
from library.translational import TwoPort as TranslationalTwoPort

UNIT_PADS = {"static_coefficient": 0.5, "kinetic_coefficient": 0.5}
UNIT_CLUTCH = {**UNIT_PADS, "surfaces": 1, "effective_radius": "1 m"}
UNIT_BRAKE = {**UNIT_PADS, "pads": 1, "mean_radius": "1 m"}


def sine(amplitude, angular):
    return lambda t: quantity(amplitude) * sin(quantity(angular, "rad/s") * t)


def step(height, at):
    return lambda t: where(t < quantity(at), 0 * quantity(height), quantity(height))


def inertia(model, name, size, **start):
    """An inertia whose angle is the output A of the sensor ``<name>_angle``."""
    body = model.add(name, rot.Inertia(inertia=size, **start))
    sensor = model.add(f"{name}_angle", rot.RotationalMotionSensor(reference="absolute"))
    model.connect(body.I, sensor.R)
    return body


def motion(*names):
    """The columns of inertias by :func:`inertia`, which are published by the same names."""
    return {column: source for n in names for column, source in (
        (f"{n}.phi", (f"{n}_angle.A", "rad")), (f"{n}.w", (f"{n}.w", "rad/s")))}


def drive(model, name, body, torque):
    source = model.add(name, rot.TorqueSource(torque=torque))
    model.connect(source.R, body.I)
    model.connect(source.C, model.fixed.W)


@pytest.mark.parametrize("name", ["rotational_first", "rotational_first_grounded"])
def test_first(name):
    model = wired("first", fixed=rot.RotationalReference())
    inertia(model, "inertia1", "0.1 kg*m^2")
    inertia(model, "inertia2", "2 kg*m^2", w="0 rad/s")
    inertia(model, "inertia3", "2 kg*m^2", w="0 rad/s")
    drive(model, "torque", model.inertia1, sine("10 N*m", 10 * np.pi))
    explicit = name == "rotational_first"
    wire(model, "inertia1.I gear.S", "gear.O inertia2.I spring.C damper.C", "spring.R inertia3.I",
         "damper.R fixed.W", gear=GearBox(ratio=10, housing=explicit),
         spring=rot.RotationalSpring(stiffness="10 kN*m/rad"),
         damper=rot.RotationalDamper(damping="10 N*m*s/rad"))
    if explicit:
        model.connect(model.gear.C, model.fixed.W)
    wire(model, "twist.R fixed.W", "twist.C inertia2.I", twist=rot.RotationalMotionSensor())
    run = follow(model, name, {"damper.phi_rel": ("twist.A", "rad"), "damper.w_rel": ("damper.w",
                                                                                      "rad/s"),
                               **motion("inertia3")})
    assert run.energy().relative_residual < 1e-8


def test_friction():
    model = wired("friction", fixed=rot.RotationalReference())
    inertia(model, "inertia3", "1 kg*m^2", w="100 rad/s")
    inertia(model, "inertia2", "0.05 kg*m^2", w="90 rad/s")
    inertia(model, "inertia1", "1 kg*m^2", w="90 rad/s")
    drive(model, "torque", model.inertia3, lambda t: where(
        t < quantity("0.5 s"), quantity("200 N*m") * sin(quantity("100 rad/s") * t),
        quantity("0 N*m")))  # fmt: skip
    wire(model, "inertia3.I clutch.C slip.C", "clutch.R slip.R inertia2.I spring.C",
         "spring.R brake.R inertia1.I", "brake.C fixed.W",
         clutch=DiscClutch(normal_force="160 N", **UNIT_CLUTCH),
         spring=rot.RotationalSpringDamper(stiffness="160 N*m/rad", damping="1 N*m*s/rad"),
         brake=DiscBrake(normal_force=step("1600 N", "0.5 s"), **UNIT_BRAKE),
         slip=rot.RotationalMotionSensor())
    run = follow(model, "rotational_friction", {**motion("inertia3"), "clutch.phi_rel": ("slip.A",
                                                                                         "rad"),
                                                "clutch.w_rel": ("clutch.w", "rad/s"),
                                                "spring.phi_rel": ("spring.phi", "rad"),
                                                "spring.w_rel": ("spring.w", "rad/s"),
                                                "clutch.mode": "clutch", "brake.mode": "brake"})
    assert_allclose(switching_times(run, "clutch"),
                    [0.00678, 0.05934, 0.10929, 0.53425, 1.66364], atol=6e-6)  # fmt: skip
    assert_allclose(switching_times(run, "brake"), [0.64061], atol=6e-6)
    assert run.energy().relative_residual < 1e-8


def test_friction_elements():
    model = wired("friction_elements", fixed=rot.RotationalReference())
    torque = sine("10 N*m", 2 * np.pi)
    engaging = step("100 N", "0.5 s")
    for i in ["", "1", "2", "3", "4", "5"]:
        inertia(model, f"inertia{i}", "1 kg*m^2", w="0 rad/s")
    for i, body in enumerate(["inertia", "inertia1", "inertia2", "inertia4"]):
        drive(model, f"torque{i}", model[body], torque)
    wire(model, "inertia.I bearing.R", "inertia1.I brake.R", "bearing.C brake.C fixed.W",
         "inertia2.I clutch.C slip.C", "inertia3.I clutch.R slip.R",
         "inertia4.I one_way.R overrun.R", "inertia5.I one_way.C overrun.C",
         bearing=rot.BearingFriction(speeds=["0 rad/s", "1 rad/s"], torques=["1 N*m", "1 N*m"]),
         brake=DiscBrake(normal_force=engaging, **UNIT_BRAKE),
         clutch=DiscClutch(normal_force=engaging, **UNIT_CLUTCH),
         one_way=OneWayClutch(drag_torque="0.5 N*m", peak=1.0001, engagement=step("100", "0.5 s")),
         slip=rot.RotationalMotionSensor(), overrun=rot.RotationalMotionSensor())
    run = follow(model, "rotational_friction_elements", {
        **motion("inertia", "inertia1", "inertia2", "inertia5"),
        "clutch.phi_rel": ("slip.A", "rad"),
        "clutch.w_rel": ("clutch.w", "rad/s"),
        "oneWayClutch.phi_rel": ("overrun.A", "rad"),
        "oneWayClutch.w_rel": ("one_way.w", "rad/s"),
        "bearingFriction.mode": "bearing",
        "brake.mode": "brake",
        "clutch.mode": "clutch"})  # fmt: skip
    assert_allclose(switching_times(run, "bearing"), [0.015942, 0.830285], atol=3e-6)
    assert_allclose(switching_times(run, "brake")[-1], 0.561328, atol=1e-6)
    assert_allclose(switching_times(run, "clutch")[-1], 0.531520, atol=1e-6)
    assert_allclose(switching_times(run, "one_way")[-1], 0.531520, atol=1e-6)
    assert run.energy().relative_residual < 1e-8


def test_elastic_bearing():
    model = wired("elastic_bearing", fixed=rot.RotationalReference())
    inertia(model, "shaft", "1 kg*m^2", w="0 rad/s")
    inertia(model, "load", "50 kg*m^2", w="0 rad/s")
    model.housing = rot.Inertia(inertia="5 kg*m^2")
    drive(model, "torque", model.shaft, lambda t: where(
        t < quantity("5 s"), quantity("20 N*m/s") * t, quantity("100 N*m")))  # fmt: skip
    wire(model, "shaft.I gear.S", "gear.O spring.C", "spring.R load.I", "fixed.W mount.C",
         "mount.R sensor.C", "sensor.R housing.I gear.C",
         gear=GearBox(ratio=3, housing=True), spring=rot.RotationalSpring(stiffness="1 kN*m/rad"),
         mount=rot.RotationalSpringDamper(stiffness="1e5 N*m/rad", damping="5 N*m*s/rad"),
         sensor=rot.MultiSensor())
    follow(model, "rotational_elastic_bearing", {**motion("shaft", "load"),
                                                 "springDamper.phi_rel": ("mount.phi", "rad"),
                                                 "springDamper.w_rel": ("mount.w", "rad/s")})


def test_lossy_gear():
    model = wired("lossy_gear", fixed=rot.RotationalReference())
    inertia(model, "inertia1", "1 kg*m^2")
    inertia(model, "inertia2", "1.5 kg*m^2", w="0 rad/s")
    model.gear = LossyGear(ratio=2, forward_efficiency=0.5, backward_efficiency=0.5)
    drive(model, "torque1", model.inertia1, sine("10 N*m", 2 * np.pi))
    drive(model, "torque2", model.inertia2,
          lambda t: quantity("-10 N*m") + quantity("2.5 N*m/s") * t)
    wire(model, "inertia1.I gear.S", "gear.O inertia2.I")
    run = follow(model, "rotational_lossy_gear_1", {
        "Inertia2.phi": ("inertia2_angle.A", "rad"), "Inertia2.w": ("inertia2.w", "rad/s"),
        "gear.mode": "gear"})  # fmt: skip
    switched = switching_times(run, "gear")
    assert_allclose(switched, [0.080477, 0.199520, 0.371343, 0.464539], atol=6e-7)
    still = run["inertia2.w"].at(["0.1 s", "0.15 s", "0.19 s", "0.4 s", "0.46 s"]).magnitude
    assert_allclose(still, 0.0, atol=1e-12)
    assert run.energy().relative_residual < 1e-8


def test_one_way_clutch():
    model = wired("one_way_clutch", fixed=rot.RotationalReference())
    inertia(model, "inertia_in", "1 kg*m^2", w="-0.5 rad/s")
    inertia(model, "inertia_out", "1 kg*m^2", w="0 rad/s")
    drive(model, "torque", model.inertia_in, sine("10 N*m", 6 * np.pi))

    def pulse(t):
        first = where(t < quantity("0.3 s"), 0.0, 1.0) - where(t < quantity("0.95 s"), 0.0, 1.0)
        return first + where(t < quantity("1.6 s"), 0.0, 1.0)

    wire(model, "inertia_in.I clutch.C overrun.C", "inertia_out.I clutch.R overrun.R",
         clutch=OneWayClutch(drag_torque="1.5 N*m", peak=25, engagement=pulse),
         overrun=rot.RotationalMotionSensor())
    run = follow(model, "rotational_one_way_clutch", {
        "inertiaIn.phi": ("inertia_in_angle.A", "rad"), "inertiaIn.w": ("inertia_in.w", "rad/s"),
        "oneWayClutch.phi_rel": ("overrun.A", "rad"), "oneWayClutch.w_rel": ("clutch.w", "rad/s")
    }, method="DOP853")  # fmt: skip
    switched = switching_times(run, "clutch")
    for known in [0.080280, 0.166668, 0.430677, 0.95, 1.05, 1.166668, 1.756204]:
        assert np.abs(switched - known).min() < 2e-6, known
    assert run.energy().relative_residual < 1e-8


class QuadraticDrag(TranslationalTwoPort):
    """Force 10 N at 5 m/s that grows with the square of the velocity."""

    def equations(self):
        yield self.f == quantity("0.4 N*s^2/m^2") * self.v * abs_(self.v)


def test_rolling_wheel():
    model = wired("rolling_wheel", fixed=rot.RotationalReference(), road=Reference())
    inertia(model, "inertia", "1 kg*m^2", w="0 rad/s")
    drive(model, "torque", model.inertia, step("10 N*m", "0.1 s"))
    wire(model, "inertia.I wheel.A", "wheel.H mass.M drag.R", "drag.C road.V",
         wheel=RollingWheel(radius="1 m"), mass=Mass(mass="1 kg"), drag=QuadraticDrag())
    run = follow(model, "rotational_rolling_wheel", motion("inertia"))
    assert_allclose(run["inertia.w"].final.magnitude, 5 * np.tanh(4.9), rtol=1e-7)


class EddyCurrentBrake(Dissipative, rot.TwoPort):
    """Brake torque by eddy currents, in a disc whose resistance grows with its temperature."""

    e = Parameter(0.0, varying=True)
    excitation = Input("1", default="e")
    peak_speed = Parameter("10 rad/s", above=0)

    def equations(self):
        x = self.w / self.peak_speed
        yield self.t == quantity("200 N*m") * self.excitation**2 * x / (1 + x**2)
        yield self.power_dissipated == self.t * self.w


def test_eddy_current_brake():
    model = wired("eddy_current_brake", fixed=rot.RotationalReference())
    inertia(model, "inertia", "1 kg*m^2", w="20 rad/s")

    def ramp(t):
        return minimum(maximum((t - quantity("0.1 s")) / quantity("0.1 s"), 0), 1)

    model.brake = EddyCurrentBrake(
        e=ramp, thermal_port=True, peak_speed=lambda temperature: quantity("10 rad/s") * (
            1 + quantity("3.92e-3 1/K") * (temperature - quantity("293.15 K"))))
    wire(model, "inertia.I brake.R", "brake.C fixed.W", "brake.H disc.M",
         disc=ThermalMass(mass="1 kg", specific_heat="1 J/(kg*K)", T="293.15 K"))
    follow(model, "rotational_eddy_current_brake", {
        "inertia.phi": ("inertia_angle.A", "rad"),
        "eddyCurrentTorque.lossPower": ("brake.power_dissipated", "W"),
        "heatCapacitor.T": ("disc.T", "K")}, max_step="10 ms")  # fmt: skip


def filtered(port, across, unit, length):
    """A speed source that follows a step through a filter of 5 Hz."""
    class Follower(port):
        follows = Variable(unit, f"0 {unit}", priority="high")
        place = Variable(length, f"0 {length}", priority="high")

        def equations(self):
            target = where(blocks.time < quantity("0.5 s"), 0.0, 1.0) * quantity(1, unit)
            yield der(self.follows) == quantity(10 * np.pi, "1/s") * (target - self.follows)
            yield getattr(self, across) == self.follows
            yield der(self.place) == self.follows

    return Follower


def test_prescribed_speed():
    model = wired("prescribed_speed", fixed=rot.RotationalReference(), wall=Reference())
    inertia(model, "inertia1", "1 kg*m^2")
    inertia(model, "inertia2", "1 kg*m^2")
    wire(model, "speed1.R inertia1.I", "speed2.R inertia2.I", "speed3.R mass3.M",
         "speed4.R mass4.M place.R", "speed1.C speed2.C fixed.W", "speed3.C speed4.C wall.V",
         speed1=filtered(rot.TwoPort, "w", "rad/s", "rad")(),
         speed2=rot.AngularVelocitySource(velocity=sine("1 rad/s", 2 * np.pi)),
         speed3=filtered(TranslationalTwoPort, "v", "m/s", "m")(), mass3=Mass(mass="2 kg"),
         speed4=VelocitySource(velocity=sine("1 m/s", 2 * np.pi)), mass4=Mass(mass="2 kg"),
         place=MotionSensor(reference="absolute", offset="1 m"))
    follow(model, "prescribed_speed", {
        "speed1.phi": ("speed1.place", "rad"), "speed1.w": ("inertia1.w", "rad/s"),
        "speed2.phi": ("inertia2_angle.A", "rad"), "speed3.s": ("speed3.place", "m", 1.0),
        "speed3.v": ("mass3.v", "m/s"), "speed4.s": ("place.P", "m")})  # fmt: skip
