"""Linear models of random drives against differences of runs, and rows of the reference book."""

import numpy as np
import pytest
from benches import few, wire, wired
from benches.analysis import assert_poles, block, chain, oscillator, stribeck
from scipy.linalg import expm
from scipy.optimize import brentq

import library.rotational as rot
import library.thermal as th
import library.translational as tr
from blocks import Component, Model, Variable, abs_, der, quantity, sqrt
from blocks.analysis import free
from blocks.exceptions import ParameterError
from blocks.simulation.run import run
from blocks.simulation.settings import Options
from library.electrical import Capacitor, DCVoltageSource, ElectricalReference, Inductor, Resistor
from library.electromechanical import RotationalElectromechanicalConverter
from library.mechanisms import WheelAndAxle
from library.translational import Damper, Reference, Spring, TranslationalFriction
from tests.analysis.test_linear_models import motor
from tests.analysis.test_operating_points import Crank, SnapThrough, carried

APART = 1e-3  # of the input, to each side
TOLERANCE = 1e-5  # of what the step does; the differences leave APART² and the runs 1e-10/APART


class Dice:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def value(self, middle, unit, decades=0.4):
        return quantity(float(middle * 10 ** self.random.uniform(-decades, decades)), unit)

    def often(self, probability):
        return self.random.random() < probability


def drive(seed):
    """A random drive; with even seeds its frictions are strong and hold, else they are weak."""
    dice, model = Dice(seed), Model(f"drive {seed}")
    wire(model, "source.p wire.p", "wire.n coil.p", "coil.n motor.p", "motor.n source.n earth.V",
         source=DCVoltageSource(voltage=dice.value(20, "V")),
         coil=Inductor(inductance=dice.value(5e-3, "H")),
         wire=Resistor(resistance=dice.value(1, "ohm")), earth=ElectricalReference(),
         motor=RotationalElectromechanicalConverter(constant=dice.value(0.2, "V*s/rad")))
    if dice.often(0.5):
        wire(model, "filter.p wire.n", "filter.n earth.V",
             filter=Capacitor(capacitance=dice.value(1e-4, "F")))
    wire(model, "motor.C frame.W", frame=rot.RotationalReference(), ground=tr.Reference())
    node, torque = model.motor.R, 200 if seed % 2 == 0 else 0.1
    for k in range(int(dice.random.integers(1, 4))):
        inertia = model.add(f"inertia{k}", rot.Inertia(inertia=dice.value(1e-3, "kg*m^2")))
        drag = model.add(f"drag{k}", rot.RotationalDamper(damping=dice.value(5e-3, "N*m*s/rad")))
        model.connect(node, inertia.I, drag.R)
        model.connect(drag.C, model.frame.W)
        shaft = model.add(f"shaft{k}", rot.RotationalSpringDamper(
            stiffness=dice.value(50, "N*m/rad"), damping=dice.value(0.02, "N*m*s/rad")))
        model.connect(inertia.I, shaft.R)
        node = shaft.C
    rub = dice.value(torque, "N*m")
    model.brake = rot.RotationalFriction(law="coulomb" if dice.often(0.5) else "stribeck",
                                         coulomb_torque=rub, breakaway_torque=1.2 * rub)
    model.rack = WheelAndAxle(radius=dice.value(0.05, "m", 0.2))
    model.connect(node, model.brake.R, model.rack.A)
    model.connect(model.brake.C, model.frame.W)
    place = model.rack.P
    for k in range(int(dice.random.integers(1, 3))):
        mass = model.add(f"mass{k}", tr.Mass(mass=dice.value(1, "kg")))
        air = model.add(f"air{k}", tr.QuadraticSpeedDependentForce(
            nominal_force=dice.value(0.5, "N"), nominal_velocity="1 m/s"))
        link = model.add(f"link{k}", tr.SpringDamper(stiffness=dice.value(2e3, "N/m"),
                                                     damping=dice.value(4, "N*s/m")))
        model.connect(place, link.R)
        model.connect(link.C, mass.M, air.R)
        model.connect(air.C, model.ground.V)
        place = mass.M
    force = dice.value(1, "N")
    model.rail = tr.TranslationalFriction(law="coulomb", coulomb_force=force, breakaway_force=force)
    model.connect(place, model.rail.R)
    model.connect(model.rail.C, model.ground.V)
    return model, "source.voltage", ["wire.i", "inertia0.w", "mass0.v", "brake.t", "link0.f"]


def furnace(seed):
    """Masses heated in a row, which conduct to each other and radiate to the surroundings."""
    dice, model = Dice(seed), Model(f"furnace {seed}")
    model.heat, model.ground = th.HeatFlowRateSource(heat_flow=dice.value(400, "W")), \
        th.ThermalReference()
    last = model.heat.B
    model.connect(model.heat.A, model.ground.H)
    for k in range(3):
        mass = model.add(f"mass{k}", th.ThermalMass(mass=dice.value(0.1, "kg")))
        away = model.add(f"away{k}", th.RadiativeHeatTransfer(area=dice.value(0.02, "m^2")))
        model.connect(last, mass.M, away.A)
        model.connect(away.B, model.ground.H)
        if k < 2:
            rod = model.add(f"rod{k}", th.ConductiveHeatTransfer(area=dice.value(1e-3, "m^2")))
            model.connect(mass.M, rod.A)
            last = rod.B
    return model, "heat.heat_flow", ["mass0.T", "mass2.T", "away1.Q"]


def step(linear, t):
    """Change of the outputs per change of the input, a time after it changed."""
    n = len(linear.states)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n:] = linear.dense_a, linear.B
    return (linear.C @ expm(whole * t)[:n, n:] + linear.D)[:, 0]


def moved(model, path, op, t):
    """The same by two runs."""
    part, name = path.split(".")
    value, point, ends = getattr(getattr(model, part), name), op.point, []
    for sign in (1, -1):
        setattr(getattr(model, part), name, value * (1 + sign * APART))
        end = run(model, quantity(t, "s"), Options(
            rtol=1e-10, progress=False, initial=(
                point.x, point.z, point.m, np.full(len(point.d), np.nan))))
        ends.append(end)
    setattr(getattr(model, part), name, value)
    return ends, 2 * APART * value


@few(3, ("make", "seed", "t"), [
    *((drive, seed, 0.02) for seed in range(4)), (furnace, 0, 200.0)],
    ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_step_of_the_linear_model_is_that_of_runs(make, seed, t):
    model, source, outputs = make(seed)
    op = model.operating_point()
    linear = model.linearise(source, outputs, at=op)
    assert not linear.remaining
    if make is drive:
        assert op.modes["brake"] == ("slides forward" if seed % 2 else "stuck")
    (up, down), apart = moved(model, source, op, t)
    apart = apart.to(str(linear.inputs[0].unit)).m
    expected = step(linear, t)
    for named, slope in zip(linear.outputs, expected, strict=True):
        found = (up[named.path].final - down[named.path].final).m / apart
        assert found == pytest.approx(slope, rel=TOLERANCE, abs=1e-9), named.path


# -- rows of the book beside its main cases ---------------------------------------------------
def test_chain_between_two_walls():
    """Poles of s^2 + (c/k) w^2 s + w^2 with w = 2 sqrt(k/m) sin(j pi / (2 (N + 1)))."""
    n, m, k, c = 5, 2.0, 300.0, 1.5
    model = chain(n)
    wire(model, "last.R drag.R wall.V",
         wall=Reference(), last=Spring(stiffness="300 N/m"), drag=Damper(damping="1.5 N*s/m"))
    model.connect(model.last.C, model.drag.C, getattr(model, f"m{n - 1}").M)
    linear = model.linearise("push.force", "sensor.x")
    w = 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    upper = -c / k * w**2 / 2 + 1j * w * np.sqrt(1 - (c / k * w / 2) ** 2)
    assert_poles(linear.poles(), [*upper, *upper.conj()])
    assert linear.dcgain()[0, 0] == pytest.approx(n / ((n + 1) * k), rel=1e-9)


def test_motor_is_hardest_to_shake_beside_its_zero():
    linear = motor().linearise("source.voltage", "rotor.w")

    def slope(omega, step=1e-3):
        low, high = (abs(linear.response(f"{omega + s!r} rad/s")) ** 2 for s in (-step, step))
        return high - low

    assert brentq(slope, 203.9, 204.1, xtol=1e-7) == pytest.approx(203.983539426, rel=1e-8)


@pytest.mark.parametrize(("border", "inside"), [(0.0005000125007813, 1), (0.2492292157593, -1)])
def test_belt_speeds_at_which_sliding_is_unstable(border, inside):
    """There d + F' is zero: both poles are on the imaginary axis."""
    for side in (1, -1):
        model = oscillator(border * (1 + 1e-7 * side))
        assert model.linearise(at=model.operating_point()).is_stable == (side != inside)


@pytest.mark.parametrize(("law", "poles"), [
    ({"law": "simscape", "breakaway_force": "25 N", "breakaway_velocity": "0.1 m/s",
      "viscous_coefficient": "0 N*s/m"},
     (-0.0480102614458, -2082.888053274)),
    ({"law": "tanh", "band": "1 mm/s"}, (-0.004999876253032, -20000.49500012))],
    ids=["simscape", "tanh"])
def test_regularised_friction_at_rest_is_a_damper(law, poles):
    friction = TranslationalFriction(coulomb_force="20 N", **law)
    assert_poles(oscillator(friction=friction).linearise().poles(), poles)


@pytest.mark.parametrize(("speed", "force"), [(0.01010258483157, 25.05025427189),
                                              (0.1679630610428, 21.97731511135)])
def test_extrema_of_a_friction_curve_are_where_the_pole_is_zero(speed, force):
    model = block(0, stribeck(20, 25, 0.1, 10), v=quantity(speed, "m/s"))
    op = model.operating_point({"block.v": quantity(speed, "m/s"), "push.force": free})
    assert op["push.force"].magnitude == pytest.approx(force, rel=1e-9)
    assert abs(model.linearise(at=op).poles()[0]) < 1e-8


def test_fold_of_a_snap_through_truss():
    y = 0.160198481093
    model = carried(SnapThrough(mass="2 kg", damping="5 N*s/m", x=quantity(y, "m")), 0)
    op = model.operating_point({"part.x": quantity(y, "m"), "push.force": free})
    assert op["push.force"].magnitude == pytest.approx(-256.9538915775, rel=1e-9)
    assert_poles([p for p in model.linearise(at=op).poles() if abs(p) > 1e-6], [-2.5])


def test_largest_torque_of_a_slider_crank():
    """The force bears 60 (t - 0.2) N*m; at the largest torque per force that is 78.6 N*m / 1500 N.
    """
    def torque(angle):
        model = wired("crank", crank=Crank(t=quantity(angle, "rad")))
        op = model.operating_point({"crank.t": quantity(angle, "rad"), "crank.force": free})
        return 1500 * 60 * (angle - 0.2) / op["crank.force"].magnitude

    top = 1.291738068761
    at, below, above = (torque(top + s) for s in (0, -1e-3, 1e-3))
    assert at == pytest.approx(78.60531576672, rel=1e-9)
    assert at > max(below, above) and below == pytest.approx(above, rel=1e-8)


class Tank(Component):
    """It empties through an orifice: the outflow goes with the root of the level."""

    level = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.level) == -quantity("0.1 m^0.5/s") * sqrt(abs_(self.level))


def test_an_orifice_without_level_is_refused_by_name():
    model = wired("basin", tank=Tank())
    with pytest.raises(ParameterError, match=r"tank.*infinite slope"):
        model.linearise()
    model.tank.level = "4 m"
    assert_poles(model.linearise().poles(), [-0.1 / (2 * 2)])
