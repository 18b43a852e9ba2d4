"""Examples of the Modelica Standard Library against their published results: sliding masses.

The parts with dry friction are written here as a user would write them. Data, licence
and tolerances: ``tests/data/validation``. Switching times are those of an independent
solution given there.
"""

import numpy as np
from benches import wire, wired
from numpy.testing import assert_allclose
from published import compare, friction_modes, simulate, switching_times

from blocks import Input, Parameter, abs_, dry_friction, exp, interpolate, quantity, sin, where
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TwoPort,
)


class Brake(TwoPort):
    """Friction 0.5 N that follows a normal force."""

    normal_force = Parameter("0 N", varying=True)
    N = Input("N", default="normal_force")

    def equations(self):
        yield dry_friction(self.f, self.v, static=0.5 * self.N, kinetic=0.5 * self.N)


class TableFriction(TwoPort):
    """Friction from a table of speeds."""

    speeds = Parameter(["0 m/s", "1 m/s"])
    forces = Parameter(["1 N", "1 N"])

    def equations(self):
        kinetic = interpolate(abs_(self.v), self.speeds, self.forces)
        yield dry_friction(self.f, self.v, static=self.forces[0], kinetic=kinetic)


class StribeckFriction(TwoPort):
    """Friction that falls exponentially with the speed, and sticks a little better."""

    coulomb = Parameter("5 N")
    drop = Parameter("10 N")

    def equations(self):
        speed = abs_(self.v)
        kinetic = (quantity("1 N*s/m") * speed + self.coulomb
                   + self.drop * exp(-quantity("2 s/m") * speed))  # fmt: skip
        yield dry_friction(self.f, self.v, static=1.001 * (self.coulomb + self.drop),
                           kinetic=kinetic)  # fmt: skip


def mass_with_stops(model, name, reach, friction, **start):
    """A body with friction between two stops that stop it dead."""
    body = model.add(name, Mass(mass="1 kg", **start))
    part = model.add(f"{name}_friction", friction)
    stop = model.add(f"{name}_stop", HardStop(
        model="restitution", restitution=0.0, upper_bound=reach, lower_bound=f"-{reach}"
    ))  # fmt: skip
    model.connect(body.M, part.R, stop.R)
    model.connect(part.C, stop.C, model.fixed.V)


def position(model, name, port, **start):
    sensor = model.add(name, MotionSensor(reference="absolute", **start))
    model.connect(sensor.R, port)


def test_brake():
    model = wired("brake", fixed=Reference())
    for i in "12":
        body = model.add(f"mass{i}", Mass(mass="1 kg", v="1 m/s"))
        brake = model.add(f"brake{i}", Brake(normal_force=lambda t: where(
            t < quantity("0.1 s"), quantity("0 N"), quantity("2 N"))))  # fmt: skip
        model.connect(body.M, brake.R)
        model.connect(brake.C, model.fixed.V)
        position(model, f"place{i}", body.M)
    run = simulate(model, "translational_brake")
    compare("translational_brake", run, {
        "mass1.s": ("place1.P", "m"),
        "mass1.v": ("mass1.v", "m/s"),
        "mass2.s": ("place2.P", "m"),
        "mass2.v": ("mass2.v", "m/s"),
        "brake.mode": friction_modes(run, "brake1"),
        "brake1.mode": friction_modes(run, "brake2"),
    })  # fmt: skip
    assert_allclose(switching_times(run, "brake1"), [1.1], rtol=1e-9)
    assert_allclose(run["place1.P"].final.magnitude, 0.6, rtol=1e-9)


def test_friction():
    model = wired("friction", fixed=Reference())
    mass_with_stops(model, "stop1", "24.5 m", StribeckFriction())
    mass_with_stops(model, "stop2", "0.4 m", StribeckFriction(coulomb="3 N", drop="5 N"),
                    v="-5 m/s")  # fmt: skip
    model.spring = Spring(stiffness="500 N/m", x="0.25 m")  # its force is 500 (s + 0.25)
    w = 12 * np.arange(50) / 49
    model.friction = TableFriction(
        speeds=quantity(w, "m/s"), forces=quantity(5 + w + 10 * np.exp(-2 * w), "N")
    )
    model.mass = Mass(mass="1 kg")

    def force(t):
        return quantity("25 N") * sin(quantity(0.5 * np.pi, "rad/s") * t)

    wire(model, "stop1.M force.R", "stop2.M spring.R", "mass.M friction.R force2.R",
         "force.C force2.C friction.C spring.C fixed.V",
         force=ForceSource(force=force), force2=ForceSource(force=force))
    position(model, "place", model.mass.M)
    run = simulate(model, "translational_friction", method="DOP853")
    compare("translational_friction", run, {
        "stop1.s": ("stop1_stop.x", "m"),
        "stop1.v": ("stop1.v", "m/s"),
        "stop2.s": ("stop2_stop.x", "m"),
        "stop2.v": ("stop2.v", "m/s"),
        "mass.s": ("place.P", "m"),
        "mass.v": ("mass.v", "m/s"),
        "stop1.mode": friction_modes(run, "stop1_friction"),
        "stop2.mode": friction_modes(run, "stop2_friction"),
        "supportFriction.mode": friction_modes(run, "friction"),
    })  # fmt: skip
    for path, known in [
        ("stop1_friction", [0.41014, 2.44269, 4.44194]),
        ("stop2_friction",
         [0.06060, 0.20111, 0.34162, 0.48214, 0.62269, 0.76333, 0.90420, 1.04597]),
    ]:
        switched = np.unique(np.round(switching_times(run, path), 9))
        assert_allclose(switched, known, atol=6e-6)
    slips = np.unique(np.round(switching_times(run, "friction"), 9))
    assert_allclose(slips, [0.40967, 2.44223, 4.44155], atol=6e-6)
