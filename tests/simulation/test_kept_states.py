"""Readings of one run after another: what is found once is kept."""

import numpy as np
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, quantity
from blocks.native.courses import Course
from blocks.nonsmooth.modes.laws import SetValuedLaws
from library.translational import ForceSource, Mass, Reference, Spring, TranslationalFriction


def rubbed() -> Model:
    """x'' + 4 (2 pi)^2 x = -1.5 sign(x'), which loses 3/16/pi^2 m of its swing every half turn."""
    return wired("rubbed", "block.M spring.R rub.R still.R", "spring.C rub.C still.C ground.V",
                 block=Mass(mass="1 kg"),
                 spring=Spring(stiffness=quantity(16 * np.pi**2, "N/m"), x="1 m"),
                 rub=TranslationalFriction(law="coulomb", coulomb_force="1.5 N",
                                           breakaway_force="1.5 N"), still=ForceSource(force="0 N"),
                 ground=Reference())


def test_a_second_average_takes_no_steps_again(monkeypatch):
    run = rubbed().simulate("2 s", rtol=1e-10)
    asked = []
    found = Course.values
    monkeypatch.setattr(Course, "values",
                        lambda course, t, number: asked.append(len(t)) or found(course, t, number))
    centre, lost = 1.5 / (16 * np.pi**2), 3 / (16 * np.pi**2)
    swings = 1 - centre - lost * np.arange(8)  # about alternating centres, in 1/4 s each
    assert_allclose(run["block.v"].rms().m,
                    np.sqrt(np.mean((4 * np.pi * swings) ** 2 / 2)), rtol=1e-8)
    assert asked
    asked.clear()
    assert_allclose(run["spring.x"].mean().m, centre * np.mean((-1.0) ** np.arange(8)), atol=1e-9)
    assert not asked


def test_where_the_motion_leaves_nothing_open_no_time_is_looked_at_by_itself(monkeypatch):
    run = rubbed().simulate("2 s")
    monkeypatch.setattr(SetValuedLaws, "indeterminate_groups", None)
    assert run.sticking().undetermined == ()
