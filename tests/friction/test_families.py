"""Frictions that share what they hold, from one to hundreds: laws, who decides, and how much work.

Rows and trees that rub on the floor and on each other, rings of clutches, boxes on a belt, brakes
on the shafts of a gear train, seals beside stops.
"""

import numpy as np
import pytest
from benches import wired
from benches.friction import dry, happened, values
from numpy.testing import assert_allclose

from blocks import quantity
from library.mechanisms import GearBox
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Sine
from library.translational import ForceSource, HardStop, Mass, Reference, Spring

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
    driven(model, ForceSource(), quantity(force, "N"), port, model.ground.V)


def bodies(n):
    model = wired("bodies", ground=Reference())
    return model, [model.add(f"mass{k}", Mass(mass=quantity(1 + 0.1 * (k % 5), "kg"))).M
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
    model.belt = Mass(mass="5 kg")
    found = [rub(model, f"box{k}", port, model.belt.M) for k, port in enumerate(ports)]
    for k, port in enumerate(ports):
        spring = model.add(f"spring{k}", Spring(stiffness=quantity(20 + k % 7, "N/m")))
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
        stop = model.add(f"stop{k}", HardStop(
            model="restitution", restitution=0.0, upper_bound=quantity(0.1 + 0.01 * (k % 3), "m"),
            lower_bound="-0.1 m"))
        model.connect(stop.R, port)
        model.connect(stop.C, model.ground.V)
        if k:
            spring = model.add(f"spring{k}", Spring(stiffness="100 N/m"))
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


def train(n):
    """Brakes on the shafts of gears: one motion."""
    model, ports = shafts(n, lambda k: 0.1)
    found = [hold(model, f"brake{k}", port, model.frame.W) for k, port in enumerate(ports)]
    for k in range(n - 1):
        gear = model.add(f"gear{k}", GearBox(ratio=1.05 if k % 2 else 0.95))
        model.connect(gear.S, ports[k])
        model.connect(gear.O, ports[k + 1])
    turned(model, ports[0], 2.0 + 1.5 * n)
    return model, found


FAMILIES = {f.__name__: f for f in (row, tree, ring, belt, train, seals)}
SIZES = [1, 3, 12, *(pytest.param(n, marks=pytest.mark.slow) for n in (40, 100, 200))]


@pytest.mark.parametrize("size", SIZES)
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
    # a stop that is reached just as another lets go may be left to Python
    assert run.statistics.get("events in Python", 0) <= (family == "seals")
    assert run.statistics["residuals"] < 2000 + 200 * len(happened(run))
