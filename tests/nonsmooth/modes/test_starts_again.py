"""Is a start that was decided before decided anew where anything that it follows has changed?

By what stands at rest under a load: it sticks below its strength, and else moves off.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import library.planar as pl
import library.translational as tr
from blocks import Model, quantity


def pulled(mass=True):
    """Friction of 2 N under a force, with mass or in series with a spring."""
    m = Model("pulled")
    m.force, m.ground = tr.ForceSource(force="1 N"), tr.Reference()
    m.rub = tr.TranslationalFriction(law="coulomb", coulomb_force="2 N", breakaway_force="2 N")
    m.connect(m.rub.C, m.ground.V, m.force.C)
    if mass:
        m.block = tr.Mass(mass="1 kg", v="0 m/s")
        m.connect(m.rub.R, m.block.M, m.force.R)
    else:
        m.block, m.spring = tr.Mass(mass="1 kg", v="0 m/s"), tr.Spring(stiffness="100 N/m")
        m.connect(m.rub.R, m.spring.C)
        m.connect(m.spring.R, m.block.M, m.force.R)
    return m


@pytest.mark.parametrize("method", ["auto", "Radau", "moreau_jean"])
def test_a_block_sticks_and_slides_as_its_load_says_however_often_it_begins(method):
    model, step = pulled(), {"step": "1 ms"} if method == "moreau_jean" else {}
    for force, v in ((1, 0.0), (3, 1.0), (1, 0.0), (-4, -2.0), (3, 1.0), (2.5, 0.5), (1, 0.0)):
        model.force.force = quantity(force, "N")
        end = model.simulate("1 s", method=method, **step)["block.v"].final
        assert abs(end.to("m/s").m - v) < 1e-6  # (|f| - 2 N) / m for 1 s


@pytest.mark.parametrize("mass", [True, False])
def test_a_run_is_the_same_whatever_ran_before_it(mass):
    again = pulled(mass)
    for force, rtol in ((1, 1e-6), (3, 1e-6), (3, 1e-8), (1, 1e-6), (3, 1e-6)):
        fresh = pulled(mass)
        for model in (again, fresh):
            model.force.force = quantity(force, "N")
        runs = [m.simulate("1 s", rtol=rtol, every="0.1 s") for m in (again, fresh)]
        assert_array_equal(*(np.asarray(r["block.v"].si) for r in runs))
        assert len(runs[0].events) == len(runs[1].events)


def test_event_driven_steps_and_those_without_events_begin_each_by_its_own_laws():
    model = Model("disc")
    model.ground, model.disc = pl.Ground(), pl.Body(
        inertia="0.02 kg*m^2", x="0 m", y="0.25 m", phi="0 rad", vx="1 m/s", vy="0 m/s",
        w="0 rad/s")  # fmt: skip
    model.touch = pl.Contact(curve=pl.Circle("0.25 m"), base=pl.Line(), friction=0.1)
    model.connect(model.ground.P, model.touch.B)
    model.connect(model.disc.P, model.touch.F)
    ends = []
    for method, step in (("auto", {}), ("moreau_jean", {"step": "0.1 ms"})) * 2:
        end = model.simulate("0.1 s", method=method, **step)["disc.vx"].final
        ends.append(end.to("m/s").m)
        assert abs(ends[-1] - (1 - 0.1 * 9.80665 * 0.1)) < 1e-3  # it slides: v - mu g t
    assert ends[:2] == ends[2:]
