"""Is the mode that machine code predicts the one that the joint problem finds?"""

import numpy as np
import pytest
from benches import wired
from benches.rigid_bodies import sliding_disc
from numpy.testing import assert_allclose
from test_solved_modes import MODELS, told

from blocks import quantity
from blocks.native.method import OneStep
from library.planar import Body, Circle, Contact, Ground


def disc_on_top(friction):
    """Let go on top of a circle of 1 m, 0.1 rad off: it rolls, slips and leaves."""
    return wired("disc on top", "ground.P touch.B", "disc.P touch.F",
                 ground=Ground(),
                 disc=Body(inertia=quantity(0.25**2 / 2, "kg*m^2"), phi="0 rad", vx="0 m/s",
                           vy="0 m/s", w="0 rad/s", x=quantity(1.25 * np.sin(0.1), "m"),
                           y=quantity(1.25 * np.cos(0.1), "m")),
                 touch=Contact(curve=Circle("0.25 m"), base=Circle("1 m"), friction=friction))


CASES = {
    "in a circle": MODELS["disc"],
    "on top": (lambda: disc_on_top(0.2), 1.4, ["disc.x", "disc.w"]),
    "thrown": (lambda: sliding_disc(0.6, 0.3, np.pi / 4), 1.0, ["disc.x", "disc.w"]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_machine_code_predicts_is_what_the_joint_problem_decides(name, monkeypatch):
    build, end, paths = CASES[name]
    predicted = build().simulate(f"{end} s", rtol=1e-9)
    monkeypatch.setattr(OneStep, "carries_out_events", False)
    jointly = build().simulate(f"{end} s", rtol=1e-9)
    (times, words), (times_too, words_too) = told(predicted), told(jointly)
    assert words == words_too
    assert_allclose(times, times_too, rtol=0, atol=1e-10)
    for path in paths:
        a, b = predicted[path].final.m, jointly[path].final.m
        assert_allclose(a, b, atol=1e-8 * max(1.0, abs(b)), err_msg=path)


@pytest.mark.parametrize(("static", "mode"), [(0.0, "slides backward"), (0.6, "sticks")])
def test_friction_that_is_stronger_at_rest_is_asked_with_its_strength_at_rest(static, mode):
    """Rolling on a slope of 45 deg takes tan(45 deg)/3 = 0.33 of the normal force."""
    run = sliding_disc(static, 0.3, np.pi / 4).simulate("0.6 s", rtol=1e-10)
    # slip 2 - (g sin + mu g cos) t and spin mu g cos m r^2/J t meet at
    slower = 9.81 * np.sqrt(0.5) * (1 + 0.3 + 0.3 * 0.01 / 0.005)
    assert_allclose(run.events[0].time, 2 / slower, rtol=1e-9)
    assert [e.description for e in run.events] == [mode]
