"""Linear models of random drives against differences of runs, friction stuck and sliding.

A drive: voltage, coil, motor, shafts with friction and drag, a rack that pushes masses with
friction and drag in the square of the speed, or a heated chain with radiation. At its operating
point the voltage is moved by a little to both sides; half the difference of both runs is what the
linear model says a step does after that time.
"""

import numpy as np
import pytest
from benches import wire
from scipy.linalg import expm

import library.rotational as rot
import library.thermal as th
import library.translational as tr
from blocks import Model, quantity
from blocks.simulation.run import run
from blocks.simulation.settings import Options
from library.electrical import Capacitor, DCVoltageSource, ElectricalReference, Inductor, Resistor
from library.electromechanical import RotationalElectromechanicalConverter
from library.mechanisms import WheelAndAxle

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


@pytest.mark.parametrize(("make", "seed", "t"), [
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
