"""Random drivetrains lose no energy unaccounted for, and no momentum where they are free."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, Target, cos, quantity
from library.mechanisms import (
    DiscBrake,
    DiscClutch,
    GearBox,
    LossyGear,
    OneWayClutch,
    PlanetaryGear,
    RollingWheel,
    TorqueLimiter,
)
from library.rotational import (
    BearingFriction,
    ElastoBacklash,
    Inertia,
    RotationalReference,
    RotationalSpringDamper,
    TorqueSource,
)
from library.translational import Mass


def couplings(chance):
    """Makers of parts between two inertias, with their two ports."""
    def number(low, high, unit=""):
        return quantity(float(chance.uniform(low, high)), unit)

    return [
        lambda: (RotationalSpringDamper(stiffness=number(50, 200, "N*m/rad"),
                                        damping=number(0.1, 2, "N*m*s/rad")), "R", "C"),
        lambda: (ElastoBacklash(stiffness=number(200, 900, "N*m/rad"), backlash="0.05 rad",
                                damping=number(0.5, 3, "N*m*s/rad")), "R", "C"),
        lambda: (GearBox(ratio=number(-3, -0.5) if chance.random() < 0.5 else number(0.5, 3)),
                 "S", "O"),
        lambda: (DiscClutch(surfaces=2, normal_force=number(1, 20, "N")), "R", "C"),
        lambda: (TorqueLimiter(limit=number(3, 5, "N*m"), slip_torque=number(1, 3, "N*m")),
                 "R", "C"),
        lambda: (OneWayClutch(drag_torque=number(0, 0.5, "N*m")), "R", "C"),
    ]  # fmt: skip


def random_drivetrain(seed, size=8):
    """A tree of inertias, some of them braked, shaken at two places."""
    chance = np.random.default_rng(seed)
    model = wired("drivetrain", ground=RotationalReference())
    kinds = couplings(chance)
    for i in range(size):
        body = model.add(f"j{i}", Inertia(inertia=quantity(chance.uniform(0.2, 2), "kg*m^2")))
        body.w = Target("0 rad/s")
        if i:
            above = int(chance.integers(max(0, i - 3), i))
            part, left, right = kinds[int(chance.integers(0, len(kinds)))]()
            model.add(f"c{i}", part)
            model.connect(getattr(part, left), model[f"j{above}"].I)
            model.connect(getattr(part, right), body.I)
    for i, k in enumerate(chance.choice(size, 2, replace=False)):
        amplitude, angular = chance.uniform(5, 30), chance.uniform(1, 4)
        drive = model.add(f"t{i}", TorqueSource(
            torque=lambda t, a=amplitude, w=angular: quantity(a, "N*m")
            * cos(quantity(w, "rad/s") * t)))  # fmt: skip
        model.connect(drive.R, model[f"j{k}"].I)
        model.connect(drive.C, model.ground.W)
    wire(model, "brake.R j0.I", brake=DiscBrake(normal_force=quantity(chance.uniform(1, 10), "N")),
         bearing=BearingFriction(torques=["0.3 N*m", "0.4 N*m"], peak=1.2))
    model.connect(model.bearing.R, model[f"j{size - 1}"].I)
    model.connect(model.brake.C, model.bearing.C, model.ground.W)
    return model


@pytest.mark.parametrize("seed", range(8))
def test_a_random_drivetrain_accounts_for_all_its_energy(seed):
    run = random_drivetrain(seed).simulate("2 s", rtol=1e-11, method="DOP853")
    energy = run.energy()
    assert energy.turned_over.to("J").magnitude > 1
    assert energy.relative_residual < 1e-9, energy
    for term in energy:
        assert term.dissipated >= -1e-12
    assert run.events, "nothing slipped"


@pytest.mark.parametrize("seed", range(5))
def test_lossy_gears_on_elastic_shafts_account_for_all_their_energy(seed):
    chance = np.random.default_rng(seed)

    def shaft():
        return RotationalSpringDamper(stiffness=quantity(chance.uniform(50, 200), "N*m/rad"),
                                      damping=quantity(chance.uniform(0.1, 2), "N*m*s/rad")
                                      )  # fmt: skip

    model = Model("hoist")
    model.ground = RotationalReference()
    model.drive = TorqueSource(torque=lambda t: quantity("9 N*m") * cos(quantity("3 rad/s") * t))
    for i in range(6):
        model.add(f"j{i}", Inertia(inertia=quantity(chance.uniform(0.2, 2), "kg*m^2")))
        model[f"j{i}"].w = Target("0 rad/s", priority="low")
    for i, ratio in enumerate([2, -1.5, 0.5]):  # gear from j0 to j1, shaft from j1 to j2, …
        efficiency = chance.uniform(0.5, 0.95, 2)
        gear = model.add(f"g{i}", LossyGear(
            ratio=ratio, forward_efficiency=efficiency[0], backward_efficiency=efficiency[1],
            forward_bearing_torque=quantity(chance.uniform(0, 0.3), "N*m"),
            backward_bearing_torque=quantity(chance.uniform(0, 0.3), "N*m")))  # fmt: skip
        model.connect(model[f"j{2 * i}"].I, gear.S)
        model.connect(gear.O, model[f"j{2 * i + 1}"].I)
    for i in (1, 3):
        part = model.add(f"s{i}", shaft())
        model.connect(model[f"j{i}"].I, part.R)
        model.connect(part.C, model[f"j{i + 1}"].I)
    wire(model, "j5.I twist.R", "twist.C clutch.R", "brake_inertia.I clutch.R",
         "clutch.C flywheel.I", "drive.R j0.I", "drive.C ground.W",
         clutch=DiscClutch(normal_force="4 N"), flywheel=Inertia(inertia="1 kg*m^2"), twist=shaft(),
         brake_inertia=Inertia(inertia="0.1 kg*m^2"))
    run = model.simulate("2 s", rtol=1e-11, method="DOP853")
    energy = run.energy()
    assert energy.relative_residual < 1e-9, energy
    for i in range(3):
        assert energy[f"g{i}"].dissipated > 0
    assert any(run.events.of(f"g{i}") for i in range(3)), "nothing stuck"


def test_a_car_with_a_planetary_gear_coasts_with_the_reflected_mass():
    model = Model("car")
    model.motor, model.ground = Inertia(inertia="0.05 kg*m^2"), RotationalReference()
    model.gear, model.wheel = PlanetaryGear(ratio=2), RollingWheel(radius="0.25 m")
    model.body, model.drive = Mass(mass="800 kg"), TorqueSource(torque="90 N*m")
    model.body.v = Target("0 m/s", priority="low")
    wire(model, "drive.R motor.I gear.S", "gear.R ground.W drive.C", "gear.C wheel.A",
         "wheel.H body.M")
    run = model.simulate("4 s", rtol=1e-11, method="DOP853")
    reduction = 3 / 0.25  # rad of the motor per metre
    assert_allclose(run["body.v"].final.to("m/s").magnitude,
                    4 * 90 * reduction / (800 + 0.05 * reduction**2), rtol=1e-10)  # fmt: skip
    assert run.energy().relative_residual < 1e-9
