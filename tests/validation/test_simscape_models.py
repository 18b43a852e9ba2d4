"""Do Simscape models, wired by hand from their files, give what their equations give?

Circuits and numbers from ``.slx`` files of public repositories; where values come from is
said in ``tests/data/simscape`` and at every test. Ports and connections are those of the
files, blocks between Simulink and Simscape are left out.
"""

from pathlib import Path

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, Parameter, Variable, quantity, sin
from library.mechanisms import GearBox
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalHardStop,
    RotationalMotionSensor,
    RotationalReference,
    RotationalSpring,
    TorqueSource,
)
from library.rotational import TwoPort as RotationalTwoPort
from library.signal import Constant, Product
from library.translational import (
    Damper,
    ForceSensor,
    ForceSource,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)

DATA = Path(__file__).resolve().parents[1] / "data" / "simscape"


def reference(name):
    """Columns of a reference, the first being time in s."""
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=5).T


def wave(t):
    return quantity("1 N*m") * sin(quantity("1 rad/s") * t)


class PolynomialDamper(RotationalTwoPort):
    """Simscape Driveline's Nonlinear Rotational Damper, polynomial and symmetric: odd powers."""

    c1 = Parameter("0.01 N*m*s/rad")
    c3 = Parameter("1e-3 N*m*s^3/rad^3")
    c5 = Parameter("1e-4 N*m*s^5/rad^5")
    power_dissipated = Variable("W")

    def equations(self):
        w = self.w
        yield self.t == self.c1 * w + self.c3 * w**3 + self.c5 * w**5
        yield self.power_dissipated == self.t * w


def test_a_jumper_on_a_bungee():
    """msd_bungee: Spring and damper hang on a frame; the jumper's height starts at 80 m."""
    m, g, k, free = 60.0, 9.81, 20.0, 20.0
    drag = 0.5 * 1.2 * 0.5 * 1 * 21.7623  # rho/2 Cd A xdot, as in the file
    model = wired("bungee", "damper.C gravity.R mass.M position.R spring.C",
                  "damper.R frame2.V spring.R", "gravity.C frame1.V", "position.C frame3.V",
                  mass=Mass(mass=quantity(m, "kg")),
                  spring=Spring(stiffness=quantity(k, "N/m"), x=quantity(-free, "m")),
                  damper=Damper(damping=quantity(drag, "N*s/m")),
                  gravity=ForceSource(force=quantity(-m * g, "N")),
                  position=MotionSensor(offset="80 m"), frame1=Reference(), frame2=Reference(),
                  frame3=Reference())
    run = model.simulate("50 s", rtol=1e-7)
    t, *columns = reference("msd_bungee")
    for path, exact in zip(("position.P", "mass.v", "spring.x"), columns, strict=True):
        found = run[path].at(quantity(t, "s")).m
        assert_allclose(found, exact, atol=1e-4 * np.ptp(exact), rtol=0)
    assert run.energy().relative_residual < 1e-6


def test_a_scooter_at_constant_speed():
    """scooter_friction: a knob sets the speed, a sensor and a product show the power.

    Closed form of Simscape's friction law at 26.3544921875 km/h, with the file's factor.
    MathWorks-Teaching-Resources/Battery-Systems, Models/ScooterCharacteristic.slx
    (commit 6ffa187, 2024-10-10, BSD-3-Clause).
    """
    model = wired("scooter", "speed.y source.S power.u1", "sensor.F power.u2", "source.R sensor.R",
                  "sensor.C mass.M rolling.R", "source.C rolling.C ground.V",
                  speed=Constant(value=quantity(26.3544921875 * 0.277778, "m/s")),
                  source=VelocitySource(), sensor=ForceSensor(), mass=Mass(mass="90 kg"),
                  rolling=TranslationalFriction(breakaway_force="20 N",
                                                breakaway_velocity="0.1 m/s", coulomb_force="14 N",
                                                viscous_coefficient="3.1 N*s/m"),
                  power=Product(units="m/s, N"), ground=Reference())
    run = model.simulate("1 s")
    assert_allclose(run["sensor.F"].final.to("N").m, 36.6941642057, rtol=1e-9)
    assert_allclose(run["power.y"].final.to("W").m, 268.626899314, rtol=1e-9)


def test_a_shaft_with_a_damper_under_a_sine_of_torque():
    """driveline_springdamper_trivial: 1.7 w' = sin t - 0.01 w.

    jgillis/simscape2casadi, models/R2014b/driveline_springdamper_trivial.slx
    (commit e6e3899, 2018-07-24, MIT); values of the closed form.
    """
    model = wired("trivial", "drive.R shaft.I damper.R sensor.R", "drive.C damper.C ground1.W",
                  "sensor.C ground2.W",
                  drive=TorqueSource(torque=wave), shaft=Inertia(inertia="1.7 kg*m^2"),
                  damper=RotationalDamper(damping="0.01 N*m*s/rad"),
                  sensor=RotationalMotionSensor(), ground1=RotationalReference(),
                  ground2=RotationalReference())
    run = model.simulate("10 s", rtol=1e-9)
    seen = run["sensor.W"].at(["1 s", "2.5 s", "5 s", "7.5 s", "10 s"])
    exact = [0.269862684, 1.052943425, 0.400994146, 0.362177886, 1.046284119]
    assert_allclose(seen.to("rad/s").m, exact, atol=2e-9)


def backlash(film=None):
    """driveline_springdamper_backlash: spring and play in series between two inertias.

    The node between the two has no inertia: while the play is open, neither determines its
    speed. A film of oil in the play, a damper a thousand times weaker than that of the
    stops, says how it moves.
    """
    model = Model("backlash")
    model.drive, model.first = TorqueSource(torque=wave), Inertia(inertia="1.7 kg*m^2")
    model.spring = RotationalSpring(stiffness="10 N*m/rad")
    model.backlash = RotationalHardStop(
        model="full", upper_bound="0.1 rad", lower_bound="-0.1 rad",
        upper_stiffness="1e3 N*m/rad", lower_stiffness="1e3 N*m/rad",
        upper_damping="0.001 N*m*s/rad", lower_damping="0.001 N*m*s/rad",
    )  # fmt: skip
    model.second, model.damper = Inertia(inertia="2 kg*m^2"), PolynomialDamper()
    model.sensor = RotationalMotionSensor()
    model.ground, model.ground1, model.ground2 = (RotationalReference() for _ in range(3))
    wire(model, "drive.R first.I spring.R", "spring.C backlash.R",
         "backlash.C second.I damper.R sensor.R")
    if film:
        wire(model, "film.R backlash.R", "film.C backlash.C", film=RotationalDamper(damping=film))
    wire(model, "damper.C ground.W", "drive.C ground1.W", "sensor.C ground2.W")
    return model


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_a_driveline_with_backlash(method):
    run = backlash(film="1e-6 N*m*s/rad").simulate("10 s", rtol=1e-7, method=method)
    t, w2, w1, twist, play, torque = reference("driveline_backlash")
    seen = {path: run[path].at(quantity(t, "s")).m for path in (
        "sensor.W", "first.w", "backlash.phi", "spring.t", "spring.phi")}  # fmt: skip
    seen["twist"] = seen.pop("spring.phi") + seen["backlash.phi"]
    for found, exact in zip(seen.values(), (w2, w1, play, torque, twist), strict=True):
        assert_allclose(found, exact, atol=1e-3 * np.ptp(exact), rtol=0)
    switches = sorted({round(e.time, 4) for e in run.events.of("backlash")})
    known = [1.024405, 2.315519, 3.547151, 6.507026, 7.234769, 8.441319, 9.218139]
    assert_allclose(switches, known, atol=2e-4)


def test_a_node_that_an_open_play_leaves_alone_is_named_with_a_remedy():
    (finding,) = backlash().check().errors
    assert finding.code == "initial.derivative"
    assert finding.advice == (
        "Nothing determines the node spring.C = backlash.R while backlash carries nothing. "
        "Give the node an inertia, or put a damper in parallel with backlash: a very small one "
        "will do.")


def test_a_driveline_with_a_gear_moves_as_its_two_equations_say():
    """driveline_springdamper_gearbox: gear 3 : 1, S driven, O to the spring; two equations.

    jgillis/simscape2casadi, models/R2016b/driveline_springdamper_gearbox.slx
    (commit e6e3899, 2018-07-24, MIT).
    """
    from scipy.integrate import solve_ivp

    model = wired("gearbox", "drive.R first.I gear.S", "gear.O spring.R",
                  "spring.C second.I damper.R", "drive.C damper.C ground.W",
                  drive=TorqueSource(torque=wave), first=Inertia(inertia="1.7 kg*m^2"),
                  gear=GearBox(ratio=3), spring=RotationalSpring(stiffness="10 N*m/rad"),
                  second=Inertia(inertia="2 kg*m^2"), damper=PolynomialDamper(),
                  ground=RotationalReference())
    run = model.simulate("10 s", rtol=1e-9)

    def slope(t, y):
        w1, w2, phi = y
        drag = 1e-2 * w2 + 1e-3 * w2**3 + 1e-4 * w2**5
        return (np.sin(t) - 10 * phi / 3) / 1.7, (10 * phi - drag) / 2, w1 / 3 - w2

    t = np.linspace(0, 10, 41)
    exact = solve_ivp(slope, (0, 10), [0, 0, 0], "DOP853", t, rtol=1e-12, atol=1e-14).y
    for path, row in zip(("first.w", "second.w", "spring.phi"), exact, strict=True):
        assert_allclose(run[path].at(quantity(t, "s")).m, row, atol=1e-7 * np.ptp(row))
