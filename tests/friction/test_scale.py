"""Chains of blocks on springs, dragged over dry friction: many elements, many events."""

import numpy as np
import pytest
from benches import wired
from benches.friction import happened, push, values
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource


def blocks_on_springs(n):
    """Burridge-Knopoff: each block pulled by a drive and by its neighbours."""
    kinetic = 1 + 0.2 * np.random.default_rng(5).random(n)
    model = wired("chain", "drive.C ground.V",
                  ground=Reference(), drive=VelocitySource(velocity="0.1 m/s"), mass=Mass(count=n),
                  pull=Spring(count=n, stiffness="1 N/m"),
                  link=Spring(count=n - 1, stiffness="1 N/m"),
                  friction=TranslationalFriction(count=n, law="coulomb",
                                                 coulomb_force=quantity(kinetic, "N"),
                                                 breakaway_force=quantity(1.5 * kinetic, "N")))
    for i in range(n):
        model.connect(model.mass[i].M, model.friction[i].R, model.pull[i].C)
        model.connect(model.pull[i].R, model.drive.R)
        model.connect(model.friction[i].C, model.ground.V)
    for i in range(n - 1):
        model.connect(model.mass[i].M, model.link[i].C)
        model.connect(model.mass[i + 1].M, model.link[i].R)
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


@pytest.mark.parametrize("n, end", [(10, 30.0), (100, 17.0)])
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


@pytest.mark.slow
def test_a_thousand_blocks_obey_every_friction_law():
    model, kinetic = blocks_on_springs(1000)
    run = model.simulate("20 s", rtol=1e-6)
    assert len(happened(run)) > 1000
    check(run, 1000, kinetic, 20.0)


@pytest.mark.parametrize("n", [20, 60, pytest.param(200, marks=pytest.mark.slow)])
def test_a_row_of_blocks_that_rub_on_each_other_and_the_ground_breaks_away_as_one(n):
    # n velocities, 2n - 1 frictions: what each carries at rest is not determined
    model = Model("row")
    model.ground, model.mass = Reference(), Mass(count=n)
    model.floor = TranslationalFriction(count=n, law="coulomb", coulomb_force="1 N",
                                        breakaway_force="1 N")  # fmt: skip
    model.side = TranslationalFriction(count=n - 1, law="coulomb", breakaway_force=f"{2 * n} N",
                                       coulomb_force=f"{2 * n} N")  # fmt: skip
    model.load = push(lambda t: n * t)
    for i in range(n):
        model.connect(model.mass[i].M, model.floor[i].R)
        model.connect(model.floor[i].C, model.ground.V)
    for i in range(n - 1):
        model.connect(model.mass[i].M, model.side[i].C)
        model.connect(model.mass[i + 1].M, model.side[i].R)
    model.connect(model.load.R, model.mass[n // 3].M)
    model.connect(model.load.C, model.ground.V)
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
