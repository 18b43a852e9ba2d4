"""Many frictions: who decides, that laws hold, and how much work it takes.

Rows and trees that rub on the floor and on each other, rings of clutches, boxes on a belt, brakes
on the shafts of a gear train, seals beside stops, chains of blocks on springs, trains."""

import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import dry, happened, push, train, values
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import quantity, sin
from library.mechanisms import GearBox, LossyGear
from library.rotational import (
    Inertia,
    RotationalFriction,
    RotationalReference,
    RotationalSpring,
    TorqueSource,
)
from library.signal import Sine


# -- chains of blocks -------------------------------------------------------------------------
def blocks_on_springs(n):
    """Burridge-Knopoff: each block pulled by a drive and by its neighbours."""
    kinetic = 1 + 0.2 * np.random.default_rng(5).random(n)
    model = wired("chain", "mass.M friction.R pull.C", "mass[:-1].M link.C", "mass[1:].M link.R",
                  "pull.R drive.R", "friction.C drive.C ground.V",
                  ground=tr.Reference(), drive=tr.VelocitySource(velocity="0.1 m/s"),
                  mass=tr.Mass(count=n), pull=tr.Spring(count=n, stiffness="1 N/m"),
                  link=tr.Spring(count=n - 1, stiffness="1 N/m"),
                  friction=tr.TranslationalFriction(count=n, law="coulomb",
                                                    coulomb_force=quantity(kinetic, "N"),
                                                    breakaway_force=quantity(1.5 * kinetic, "N")))
    return model, kinetic


def check(run, n, kinetic, end):
    t = np.linspace(0, end, 23)[1:-1] + 0.0123
    v = values(run, [f"friction[{i}].v" for i in range(n)], t)
    f = values(run, [f"friction[{i}].f" for i in range(n)], t)
    rests = np.abs(v) <= 1e-12
    assert rests.any()
    assert (~rests).any()
    assert np.all((np.abs(f) <= 1.5 * kinetic[:, None] + 1e-9)[rests])
    assert_allclose(f[~rests], (kinetic[:, None] * np.sign(v))[~rests], rtol=1e-12)
    assert np.all(v[rests] == 0)  # what sticks does not creep


@pytest.mark.parametrize("n, end", [(10, 30.0), (100, 17.0), pytest.param(
    1000, 20.0, marks=pytest.mark.slow)])
def test_a_chain_of_blocks_obeys_every_friction_law(n, end):
    model, kinetic = blocks_on_springs(n)
    run = model.simulate(quantity(end, "s"), rtol=1e-7)
    assert len(happened(run)) > n / 2
    check(run, n, kinetic, end)


def test_the_work_per_event_does_not_grow_with_the_number_of_blocks():
    each = []
    for n in (10, 40, 160):
        run = blocks_on_springs(n)[0].simulate("17 s", rtol=1e-6)
        each.append(run.statistics["residuals"] / len(happened(run)))
    assert max(each) < 60
    assert each[-1] <= each[0]


@few(1, "n", [20, 60, pytest.param(200, marks=pytest.mark.slow)])
def test_a_row_of_blocks_that_rub_on_each_other_and_the_ground_breaks_away_as_one(n):
    # n velocities, 2n - 1 frictions: what each carries at rest is not determined
    model = wired("row", "mass.M floor.R", "mass[:-1].M side.C", "mass[1:].M side.R",
                  f"load.R mass[{n // 3}].M", "floor.C load.C ground.V",
                  ground=tr.Reference(), mass=tr.Mass(count=n), floor=dry(1, count=n),
                  side=dry(2 * n, count=n - 1), load=push(lambda t: n * t))
    run = model.simulate("2 s", rtol=1e-9)
    assert_allclose([e[0] for e in happened(run)], np.ones(n), rtol=0, atol=1e-7)
    v = values(run, [f"mass[{i}].v" for i in range(n)], [0.5, 2.0])
    assert np.all(v[:, 0] == 0)
    assert_allclose(v[:, 1], 0.5, rtol=0, atol=1e-7)
    t = np.array([0.4, 0.9])
    floor = values(run, [f"floor[{i}].f" for i in range(n)], t)
    side = values(run, [f"side[{i}].f" for i in range(n - 1)], t)
    assert np.abs(floor).max() <= 1 + 1e-8
    assert np.abs(side).max() <= 2 * n
    assert_allclose(floor.sum(axis=0), n * t, rtol=1e-9)
    assert len(run.sticking().undetermined[0].components) == 2 * n - 1


# -- families ---------------------------------------------------------------------------------
KINETIC, STATIC = 1.0, 1.25


def between(model, name, element, one, other):
    part = model.add(name, element)
    model.connect(part.R, one)
    model.connect(part.C, other)


def driven(model, source, amplitude, port, ground):
    """A sine of a force or torque on a port."""
    between(model, "drive", source, port, ground)
    model.wave = Sine(amplitude=amplitude, frequency="0.5 Hz")
    model.connect(model.wave.y, source.S)


def rub(model, name, one, other, strength=1.0):
    between(model, name, dry(KINETIC * strength, STATIC * strength), one, other)
    return name, strength


def loaded(model, port, force):
    driven(model, tr.ForceSource(), quantity(force, "N"), port, model.ground.V)


def bodies(n):
    model = wired("bodies", ground=tr.Reference())
    return model, [model.add(f"mass{k}", tr.Mass(mass=quantity(1 + 0.1 * (k % 5), "kg"))).M
                   for k in range(n)]


def row(n):
    """Each rubs on the floor and on its neighbour."""
    model, ports = bodies(n)
    found = [rub(model, f"floor{k}", port, model.ground.V) for k, port in enumerate(ports)]
    found += [rub(model, f"side{k}", ports[k], ports[k + 1], 2.0 * n) for k in range(n - 1)]
    loaded(model, ports[n // 3], 2.0 * n)
    return model, found


def tree(n):
    """Each rubs on the floor and on the one that it branches off."""
    model, ports = bodies(n)
    found = [rub(model, f"floor{k}", port, model.ground.V) for k, port in enumerate(ports)]
    found += [rub(model, f"branch{k}", ports[k], ports[(k - 1) // 2], 3.0) for k in range(1, n)]
    loaded(model, ports[0], 1.0 + 1.5 * n)
    return model, found


def belt(n):
    """Boxes on a belt, held back by springs."""
    model, ports = bodies(n)
    model.belt = tr.Mass(mass="5 kg")
    found = [rub(model, f"box{k}", port, model.belt.M) for k, port in enumerate(ports)]
    for k, port in enumerate(ports):
        spring = model.add(f"spring{k}", tr.Spring(stiffness=quantity(20 + k % 7, "N/m")))
        model.connect(spring.R, port)
        model.connect(spring.C, model.ground.V)
    loaded(model, model.belt.M, 2.0 * n + 1.0)
    return model, found


def seals(n):
    """Pistons with a seal and a guide, that come to rest at stops."""
    model, ports = bodies(n)
    found = []
    for k, port in enumerate(ports):
        found += [rub(model, f"{kind}{k}", port, model.ground.V) for kind in ("seal", "guide")]
        stop = model.add(f"stop{k}", tr.HardStop(
            model="restitution", restitution=0.0, upper_bound=quantity(0.1 + 0.01 * (k % 3), "m"),
            lower_bound="-0.1 m"))
        model.connect(stop.R, port)
        model.connect(stop.C, model.ground.V)
        if k:
            spring = model.add(f"spring{k}", tr.Spring(stiffness="100 N/m"))
            model.connect(spring.R, port)
            model.connect(spring.C, ports[k - 1])
    loaded(model, ports[0], 4.0 + 3.0 * n)
    return model, found


def shafts(n, inertia):
    model = wired("shafts", frame=RotationalReference())
    return model, [model.add(f"shaft{k}", Inertia(inertia=quantity(inertia(k), "kg*m^2"))).I
                   for k in range(n)]


def hold(model, name, one, other, strength=1.0):
    between(model, name, RotationalFriction(
        law="coulomb", coulomb_torque=quantity(KINETIC * strength, "N*m"),
        breakaway_torque=quantity(STATIC * strength, "N*m")), one, other)
    return name, strength


def turned(model, port, torque):
    driven(model, TorqueSource(), quantity(torque, "N*m"), port, model.frame.W)


def ring(n):
    """Discs with brakes, each with a clutch to the next one, and the last one to the first."""
    model, ports = shafts(n, lambda k: 1 + 0.1 * (k % 4))
    found = [hold(model, f"brake{k}", port, model.frame.W) for k, port in enumerate(ports)]
    found += [hold(model, f"clutch{k}", ports[k], ports[(k + 1) % n], 2.0)
              for k in range(n if n > 2 else n - 1)]
    turned(model, ports[0], 2.0 + n)
    return model, found


def geared(n):
    """Brakes on the shafts of gears: one motion."""
    model, ports = shafts(n, lambda k: 0.1)
    found = [hold(model, f"brake{k}", port, model.frame.W) for k, port in enumerate(ports)]
    for k in range(n - 1):
        gear = model.add(f"gear{k}", GearBox(ratio=1.05 if k % 2 else 0.95))
        model.connect(gear.S, ports[k])
        model.connect(gear.O, ports[k + 1])
    turned(model, ports[0], 2.0 + 1.5 * n)
    return model, found


FAMILIES = {f.__name__: f for f in (row, tree, ring, belt, geared, seals)}
SIZES = [1, 3, 12, *(pytest.param(n, marks=pytest.mark.slow) for n in (40, 100, 200))]


@few(2, "size", SIZES)
@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_frictions_obey_their_laws_and_are_decided_in_machine_code(family, size):
    model, found = FAMILIES[family](size)
    run = model.simulate("2.5 s", rtol=1e-7)
    names, strength = [name for name, _ in found], np.array([[s] for _, s in found])
    t = np.linspace(0, 2.5, 83)[1:-1] + 1.7e-3
    is_turning = hasattr(model, "frame")
    f = values(run, [f"{name}.{'t' if is_turning else 'f'}" for name in names], t)
    v = values(run, [f"{name}.{'w' if is_turning else 'v'}" for name in names], t)
    mode = values(run, [f"{name}.mode" for name in names], t)
    rests = mode == 0
    room = 1e-7 * strength
    assert (np.abs(f) <= STATIC * strength + room)[rests].all()
    assert (np.abs(v[rests]) <= 1e-9).all()
    assert_allclose(f[~rests], (KINETIC * strength * mode)[~rests], rtol=1e-9)
    assert (mode * v >= -1e-9).all()
    assert len(happened(run)) > 0
    assert run.statistics.get("stretches in Python", 0) == 0
    assert run.statistics.get("events in Python", 0) == 0
    assert run.statistics["residuals"] < 2000 + 200 * len(happened(run))


def test_gears_with_losses_at_every_wheel_start_one_after_the_other_without_python():
    """At first loads are dust: the first wheel pulls the next by t**2, the k-th by t**(2k)."""
    n = 20
    run = wired("row", "drive.R wheels[0].I", "drive.C frame.W", "wheels[:-1].I gears.S",
                "gears.O springs.R", "springs.C wheels[1:].I", frame=RotationalReference(),
                drive=TorqueSource(torque=lambda t: quantity("3 N*m") * sin(
                    quantity("9 rad/s") * t)),
                wheels=Inertia(count=n + 1), gears=LossyGear(
                    count=n, ratio=1.0, forward_efficiency=0.97, backward_efficiency=0.95),
                springs=RotationalSpring(count=n, stiffness="500 N*m/rad")).simulate("0.5 s")
    assert run.statistics.get("events in Python", 0) == 0
    assert run.energy().relative_residual < 1e-5


# -- a train on rails -------------------------------------------------------------------------
def train_on_rails(n=26):
    """Wagons that roll with friction: when at rest, no one knows how much each of them bears."""
    model = train(n)
    wire(model, "wheels.R wagons.M", "wheels.C rail.V",
         wheels=tr.TranslationalFriction(count=n, law="coulomb", coulomb_force="1.5 kN",
                                         breakaway_force="2 kN"))
    return model


def test_wagons_that_come_to_rest_and_start_again_lose_no_energy():
    run = train_on_rails().simulate("1 s", rtol=1e-9)
    assert len(run.events) > 40
    assert run.energy().relative_residual < 1e-7


def test_wagons_start_where_the_force_is_more_than_all_before_can_hold():
    """A force that grows by 10 kN/s: the first k wagons start together where it is more than what
    their wheels, and the draught gear behind them, hold at most."""
    model = train_on_rails()
    model.pull.force = lambda t: quantity("10 kN/s") * t
    run = model.simulate("8 s", rtol=1e-9)
    holds = 2.0 * np.arange(1, 27) + np.append(model.gear.breakaway_force.to("kN").m, 0.0)
    first = min(e.time for e in run.events)
    assert first == pytest.approx(holds.min() / 10, abs=1e-9)
    started = {e.component for e in run.events if e.time == first}
    count = int(np.argmin(holds)) + 1
    assert started == {*(f"wheels[{k}]" for k in range(count)), f"gear[{count - 1}]"}
