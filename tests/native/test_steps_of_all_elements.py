"""Time stepping of whatever has set-valued laws: machine code against Python, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.native import costs
from library.mechanisms import OneWayClutch
from library.rotational import Inertia, RotationalReference, RotationalSpring
from library.translational import (
    FrictionRing,
    HardStop,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)


def pulled(stop: bool = False, moving: bool = False) -> Model:
    """A block that a spring pulls over a floor, which may move, and against a stop."""
    model = Model("pulled")
    model.ground, model.block = Reference(), Mass(mass="1 kg", v="1 m/s")
    model.spring, model.pull = Spring(stiffness="1 kN/m"), VelocitySource(velocity="0.1 m/s")
    model.friction = TranslationalFriction(law="coulomb", coulomb_force="20 N",
                                           breakaway_force="25 N")  # fmt: skip
    model.connect(model.pull.R, model.spring.R)
    model.connect(model.spring.C, model.block.M, model.friction.R)
    model.connect(model.pull.C, model.ground.V)
    model.connect(model.friction.C, model.pull.R if moving else model.ground.V)
    if stop:
        model.stop = HardStop(model="restitution", upper_bound="20 mm", lower_bound="-5 mm",
                              restitution=0.5)  # fmt: skip
        model.connect(model.stop.R, model.block.M)
        model.connect(model.stop.C, model.ground.V)
    return model


def chain(n: int = 8) -> Model:
    """Masses between springs, each on a floor of its own."""
    model = Model("chain")
    model.ground = Reference()
    model.mass = Mass(count=n, mass="1 kg", v=quantity(np.linspace(-1, 1, n), "m/s"))
    model.friction = TranslationalFriction(count=n, law="coulomb", coulomb_force="2 N",
                                           breakaway_force="2 N")  # fmt: skip
    model.link = Spring(count=n - 1, stiffness="200 N/m")
    for i in range(n):
        model.connect(model.mass[i].M, model.friction[i].R)
        model.connect(model.friction[i].C, model.ground.V)
    for i in range(n - 1):
        model.connect(model.mass[i].M, model.link[i].R)
        model.connect(model.mass[i + 1].M, model.link[i].C)
    return model


def freewheel() -> Model:
    """A swinging shaft that drives another in one direction."""
    model = Model("freewheel")
    model.ground = RotationalReference()
    model.a = Inertia(inertia="1 kg*m^2", w="2 rad/s")
    model.b = Inertia(inertia="1 kg*m^2", w="0 rad/s")
    model.wheel = OneWayClutch(drag_torque="0.2 N*m")
    model.spring = RotationalSpring(stiffness="30 N*m/rad")
    model.connect(model.a.I, model.wheel.C, model.spring.R)
    model.connect(model.b.I, model.wheel.R)
    model.connect(model.spring.C, model.ground.W)
    return model


def ring() -> Model:
    """A mass against a ring spring, which has a force without friction, too."""
    model = Model("ring")
    model.ground, model.ring = Reference(), FrictionRing()
    model.block = Mass(mass="1 kg", v="1 m/s")
    model.connect(model.block.M, model.ring.R)
    model.connect(model.ring.C, model.ground.V)
    return model


CASES = {
    "friction alone": (pulled, ["block.v", "spring.x", "friction.f"]),
    "a floor that moves": (lambda: pulled(moving=True), ["block.v", "spring.x", "friction.f"]),
    "friction beside a stop": (lambda: pulled(stop=True), ["block.v", "spring.x", "stop.x"]),
    "frictions that act on each other": (chain, ["mass.v", "friction.f", "link.f"]),
    "freewheel": (freewheel, ["a.w", "b.w", "wheel.t"]),
    "friction and a spring in one": (ring, ["block.v", "ring.x", "ring.f"]),
}


@pytest.mark.parametrize("case", CASES)
def test_whatever_has_modes_is_stepped_in_machine_code_as_in_python(case, monkeypatch):
    make, names = CASES[case]
    model = make()
    compiled = model.simulate("0.5 s", method="moreau_jean", step="5 ms")
    assert "machine code" in str(compiled.statistics)
    monkeypatch.setattr(costs, "is_installed", lambda: False)
    interpreted = model.simulate("0.5 s", method="moreau_jean", step="5 ms")
    assert compiled.statistics["steps"] == interpreted.statistics["steps"] == 100
    assert str(compiled.events) == str(interpreted.events)
    times = quantity(np.linspace(0, 0.5, 40), "s")
    for name in names:
        a, b = (run[name].at(times).m for run in (compiled, interpreted))
        assert_allclose(a, b, rtol=0, atol=1e-9 * max(1.0, np.abs(b).max()))


def test_a_ring_spring_swings_as_its_lines_say():
    """Loading: m x'' = -(k x + r) from v0; the work of both forces takes the energy of motion."""
    run = ring().simulate("0.2 s", method="moreau_jean", step="0.1 ms")
    k, r, m, v = 1000.0, 10.0, 1.0, 1.0
    deepest = (-r + np.sqrt(r * r + k * m * v * v)) / k
    found = run["ring.x"].at(quantity(np.linspace(0, 0.2, 2001), "s")).to("m").m.max()
    assert_allclose(found, deepest, rtol=1e-3)
