"""Derivatives of random models that stick, slip, clutch and strike, by all that can be varied.

Every parameter, source and start value of each is compared with differences on both sides. Where
these differ from each other there is no derivative, and a warning has to say so.
"""

import warnings

import numpy as np
import pytest

import library.rotational as rot
import library.translational as tr
from blocks import Model, quantity
from blocks.analysis.sensitivity.sensitivities import SensitivityWarning

SHARE = 2e-3  # of the largest derivative: what differences of runs may be off by
STEPS = 1e-5, 1e-6, 1e-7  # of a value, one after the other where events lie between its sides


class Values:
    """Random numbers as quantities."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def __call__(self, low, high, unit):
        return quantity(self.random.uniform(low, high), unit)

    def strengths(self, low, high, unit):
        """Of friction in motion and at rest."""
        kinetic = self(low, high, unit)
        return kinetic, kinetic * self.random.uniform(1.02, 1.6)

    def or_rest(self, low, high, unit):
        return self(low, high, unit) * self.random.integers(2)


def on_a_belt(value):
    """A train of boxes on a moving belt, each on a spring to the one before."""
    m, count = Model("belt"), value.random.integers(1, 4)
    m.ground, m.belt = tr.Reference(), tr.VelocitySource(velocity=value(0.05, 0.3, "m/s"))
    m.connect(m.belt.C, m.ground.V)
    before, starts = m.ground.V, []
    for k in range(count):
        kinetic, static = value.strengths(2, 8, "N")
        box = m.add(f"box{k}", tr.Mass(mass=value(0.5, 3, "kg"), v=value.or_rest(-0.3, 0.3, "m/s")))
        rub = m.add(f"rub{k}", tr.TranslationalFriction(
            law="coulomb", coulomb_force=kinetic, breakaway_force=static,
            viscous_coefficient=value(0.05, 3, "N*s/m")))
        spring = m.add(f"spring{k}", tr.Spring(stiffness=value(20, 90, "N/m"),
                                               x=value(-0.05, 0.05, "m")))
        m.connect(rub.R, m.belt.R)
        m.connect(rub.C, box.M, spring.R)
        m.connect(spring.C, before)
        before = box.M
        starts += [f"box{k}.v", f"spring{k}.x"]
    m.push = tr.ForceSource(force=value.or_rest(1, 8, "N"))
    m.connect(m.push.R, before)
    m.connect(m.push.C, m.ground.V)
    return m, starts, starts


def clutched(value):
    """Discs in a row that clutches join, driven at one end, on a spring at the other."""
    m, count = Model("clutches"), value.random.integers(2, 4)
    m.frame, before, starts = rot.RotationalReference(), None, ["spring.phi"]
    for k in range(count):
        disc = m.add(f"disc{k}", rot.Inertia(inertia=value(0.3, 3, "kg*m^2"),
                                             w=value.or_rest(-3, 3, "rad/s")))
        if before is None:
            first = disc.I
        else:
            kinetic, static = value.strengths(1, 6, "N*m")
            clutch = m.add(f"clutch{k}", rot.RotationalFriction(
                law="coulomb", coulomb_torque=kinetic, breakaway_torque=static,
                viscous_coefficient=value(0.01, 0.5, "N*m*s/rad")))
            m.connect(before, clutch.R)
            m.connect(clutch.C, disc.I)
        before = disc.I
        starts.append(f"disc{k}.w")
    m.drive = rot.TorqueSource(torque=value(-6, 6, "N*m"))
    m.spring = rot.RotationalSpring(stiffness=value(2, 30, "N*m/rad"), phi=value(-0.5, 0.5, "rad"))
    m.damper = rot.RotationalDamper(damping=value(0.1, 1, "N*m*s/rad"))
    m.connect(m.drive.R, first)
    m.connect(before, m.spring.R, m.damper.R)
    m.connect(m.drive.C, m.spring.C, m.damper.C, m.frame.W)
    return m, starts, starts


def between_stops(value):
    """Balls on springs, each between stops of one kind or another on the one before."""
    m, count = Model("stops"), value.random.integers(1, 3)
    m.ground = tr.Reference()
    before, watched, starts = m.ground.V, [], []
    for k in range(count):
        kind = str(value.random.choice(["restitution", "full", "undamped rebound", "smooth"]))
        more = {"restitution": value(0.2, 0.9, "1")} if kind == "restitution" else {
            "upper_stiffness": value(1, 10, "kN/m"), "lower_stiffness": value(1, 10, "kN/m"),
            "upper_damping": value(5, 50, "N*s/m"), "lower_damping": value(5, 50, "N*s/m")}
        if kind == "smooth":
            more["transition"] = value(1, 5, "mm")
        ball = m.add(f"ball{k}", tr.Mass(mass=value(0.5, 3, "kg"), v=value(-2, 2, "m/s")))
        stop = m.add(f"stop{k}", tr.HardStop(model=kind, upper_bound=value(0.05, 0.3, "m"),
                                             lower_bound=value(-0.3, -0.05, "m"), **more))
        spring = m.add(f"spring{k}", tr.Spring(stiffness=value(5, 100, "N/m")))
        damper = m.add(f"damper{k}", tr.Damper(damping=value(0.05, 1, "N*s/m")))
        m.connect(ball.M, stop.R, spring.R, damper.R)
        m.connect(stop.C, spring.C, damper.C, before)
        before = ball.M
        starts.append(f"ball{k}.v")
        watched += [f"ball{k}.v", f"stop{k}.x"]
    m.push = tr.ForceSource(force=value(-10, 10, "N"))
    m.connect(m.push.R, before)
    m.connect(m.push.C, m.ground.V)
    return m, watched, starts


def ends(model, duration, watched, path, value):
    """What is watched, at the end of a run with another value."""
    with model.values({path: value}):
        run = model.simulate(duration, rtol=1e-11)
    return np.array([run[one].final.to_base_units().m for one in watched])


def varied(model, starts, run):
    """All that has a number: path and value at first."""
    for path in model.parameters:
        given = model[path]
        if hasattr(given, "to_base_units"):
            yield path, given.to_base_units()
    for path in starts:
        yield path, run[path].at("0 s").to_base_units()


@pytest.mark.parametrize("seed", [
    pytest.param(k, marks=[] if k in (0, 1, 2, 11) else [pytest.mark.slow]) for k in range(42)])
def test_derivatives_by_all_that_can_be_varied_are_those_of_both_sides(seed):
    value = Values(seed)
    model, watched, starts = (on_a_belt, clutched, between_stops)[seed % 3](value)
    duration = value(0.3, 2.5, "s")
    numbers = dict(varied(model, starts, model.simulate(duration)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = model.simulate(duration, sensitivities=list(numbers), rtol=1e-9)
    said = any(issubclass(one.category, SensitivityWarning) for one in said)
    size = np.abs([run[one].final.to_base_units().m for one in watched]).max()
    for path, number in numbers.items():
        found = np.array([run.sensitivities[one, path].final.to_base_units().m for one in watched])
        for part in STEPS:
            step = part * max(abs(number.m), 0.1 if path in starts else 0.0) or part
            left2, left, right, right2 = (
                ends(model, duration, watched, path, number + quantity(shift, number.units))
                for shift in (-2 * step, -step, step, 2 * step))
            sides = np.array([left - left2, right2 - right]) / step
            allowed = SHARE * (np.abs(sides).max() + 1e-2 * size) + 1e-10 * size / step
            good = np.abs(sides - found).max() < allowed
            if good:
                break
        kink = np.abs(sides[0] - sides[1]).max() > 2 * allowed
        assert good or kink and said, (path, found, sides)
