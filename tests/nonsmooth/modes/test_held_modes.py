"""Do the efforts of held modes come out the same in one evaluation as step by step?"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from library.mechanisms import DiscClutch, GearBox, OneWayClutch
from library.rotational import Inertia, RotationalReference, RotationalSpring, TorqueSource
from library.translational import (
    ForceSource,
    HardStop,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
)


def shaken_masses():
    """Three masses on springs over rough floors, the last between rigid stops."""
    model = Model("masses")
    model.ground = Reference()
    model.masses = Mass(count=3, mass=["1 kg", "2 kg", "3 kg"])
    model.springs = Spring(count=3, stiffness="900 N/m")
    model.floors = TranslationalFriction(count=3, law="coulomb", breakaway_force="12 N",
                                         coulomb_force="9 N", viscous_coefficient="1 N*s/m")
    model.stop = HardStop(model="restitution", upper_bound="15 mm", lower_bound="-15 mm")
    model.shake = ForceSource(force=lambda t: quantity("60 N") * sin(quantity("9 rad/s") * t))
    model.connect(model.springs.R, model.masses.M, model.floors.R)
    model.connect(model.springs[1:].C, model.masses[:-1].M)
    model.connect(model.springs[0].C, model.floors.C, model.ground.V, model.stop.C, model.shake.C)
    model.connect(model.masses[2].M, model.stop.R, model.shake.R)
    return model


def clutched_shafts():
    """Two clutches and a freewheel between three shafts and a gear."""
    model = Model("shafts")
    model.housing = RotationalReference()
    model.a, model.b, model.c = Inertia(w="30 rad/s"), Inertia(inertia="0.02 kg*m^2"), Inertia()
    model.first, model.second = DiscClutch(normal_force="5 N"), DiscClutch(normal_force="8 N")
    model.free, model.gear = OneWayClutch(), GearBox(ratio=-2)
    model.shaft = RotationalSpring(stiffness="4 N*m/rad")
    model.drive = TorqueSource(torque=lambda t: quantity("2 N*m") * sin(quantity("5 rad/s") * t))
    model.connect(model.drive.R, model.a.I, model.first.C, model.free.C)
    model.connect(model.first.R, model.free.R, model.b.I, model.second.C)
    model.connect(model.second.R, model.gear.S)
    model.connect(model.gear.O, model.c.I, model.shaft.R)
    model.connect(model.shaft.C, model.drive.C, model.housing.W)
    return model


@pytest.mark.parametrize(("build", "paths"), [
    (shaken_masses, ["masses[0].v", "masses[2].v", "floors[1].f", "stop.f"]),
    (clutched_shafts, ["a.w", "b.w", "first.t", "second.t", "free.t"]),
])
def test_one_evaluation_gives_what_the_general_way_gives(build, paths, monkeypatch):
    fast = build().simulate("1.5 s", rtol=1e-8)
    monkeypatch.setattr("blocks.nonsmooth.modes.law_functions.MOST", 0)
    slow = build().simulate("1.5 s", rtol=1e-8)
    assert len(fast.events) > 6
    assert [e.description for e in fast.events] == [e.description for e in slow.events]
    times = [[e.time for e in run.events] for run in (fast, slow)]
    assert_allclose(*times, rtol=1e-7, atol=1e-9)
    t = quantity(np.linspace(0, 1.5, 31), "s")
    for path in paths:
        a, b = (run[path].at(t).m for run in (fast, slow))
        assert_allclose(a, b, atol=1e-6 * max(1.0, np.abs(b).max()), err_msg=path)
