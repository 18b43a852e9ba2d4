"""Whole runs in machine code: their events, and what they come to, are those of runs in Python."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("llvmlite")

import test_agreement as models  # noqa: E402

from blocks import Model, quantity  # noqa: E402
from library.translational import Mass, Reference, Spring, TranslationalFriction  # noqa: E402

RUNS = {
    "springs on friction": lambda: models.springs_on_friction(3),
    "friction beside a nonlinear loop": models.friction_beside_a_loop,
    "a law of the load with a band of rest": lambda: models.pushed(TranslationalFriction(
        law="karnopp", coulomb_force="2 N", breakaway_force="3 N")),
}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_run_and_its_events_are_those_of_a_method_in_python(name):
    model = RUNS[name]()
    compiled, python = (model.simulate("2 s", rtol=1e-9, method=method)
                        for method in ("auto", "DOP853"))
    assert compiled.statistics["method"].split(",")[0] == "dopri5"
    told = [[(e.element, e.mode) for e in run.events] for run in (compiled, python)]
    assert told[0] == told[1]
    assert_allclose([e.time for e in compiled.events], [e.time for e in python.events], rtol=1e-6)
    times = quantity(np.linspace(0, 2, 21), "s")
    speeds = [run["masses.v"].at(times).m for run in (compiled, python)]
    assert_allclose(speeds[0], speeds[1], atol=1e-7 * np.abs(speeds[1]).max())


def test_a_body_that_drags_a_spring_on_friction_slides_and_then_swings_for_ever():
    k, strength, v0 = 100.0, 2.0, 1.0  # of 1 kg
    model = Model("drag")
    model.body, model.ground = Mass(mass="1 kg", v=quantity(v0, "m/s")), Reference()
    model.spring = Spring(stiffness=quantity(k, "N/m"))
    model.friction = TranslationalFriction(law="coulomb", coulomb_force=quantity(strength, "N"),
                                           breakaway_force=quantity(strength, "N"))
    model.connect(model.body.M, model.spring.R)
    model.connect(model.spring.C, model.friction.R)
    model.connect(model.friction.C, model.ground.V)
    run = model.simulate("3 s", rtol=1e-9)
    assert run.statistics["method"] == "exact"
    w = np.sqrt(k)
    slips = np.arcsin(strength * w / (k * v0)) / w
    rests = slips + v0 * np.cos(w * slips) / strength

    def speed(t):
        if t < slips:
            return v0 * np.cos(w * t)
        if t < rests:
            return v0 * np.cos(w * slips) - strength * (t - slips)
        return -strength / w * np.sin(w * (t - rests))

    assert_allclose([event.time for event in run.events], [slips, rests], rtol=1e-7)
    times = np.linspace(0, 3, 31)
    assert_allclose(run["body.v"].at(quantity(times, "s")).m, [speed(t) for t in times],
                    atol=1e-7)
