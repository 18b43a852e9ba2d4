"""The start of a run: targets of every priority, guesses, and constraints."""

import warnings

import numpy as np
import pytest
from benches import wired
from benches.parts import Pendulum, alone, final

from blocks import Component, Target, Variable, der, quantity, time
from blocks.exceptions import InitialisationError
from blocks.initialisation.initial_values import InitialWarning
from library.signal import Constant, Gain, MathFunction, Sum
from library.thermal import TemperatureSource
from library.translational import Mass, Reference, Spring, VelocitySource
from library.two_phase import ConstantVolumeChamber


def started(model, *paths):
    """Values at the start, with the warnings given on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = model.simulate("1 ms")
    found = [str(w.message) for w in caught if issubclass(w.category, InitialWarning)]
    return [run[p].at("0 s").magnitude for p in paths], found


def joined(a, b):
    return wired("joined", "a.M b.M", a=Mass(mass="1 kg", v=a), b=Mass(mass="3 kg", v=b))


@pytest.mark.parametrize(
    ("a", "b", "speed"),
    [
        (Target("2 m/s", "low"), "4 m/s", 4.0),
        ("2 m/s", Target("4 m/s", "low"), 2.0),
        (Target("2 m/s", "low"), Target("4 m/s", "low"), 3.0),
        ("2 m/s", Target("4 m/s", "none"), 2.0),
        ("2 m/s", "2 m/s", 2.0),
        (Target("2 m/s", "low"), Target(nominal="1 m/s"), 2.0),  # b keeps its default, 0 m/s high
    ],
)
def test_the_stronger_target_wins_and_equals_meet_in_the_middle(a, b, speed):
    (v,), warned = started(joined(a, b), "a.v")
    assert v == pytest.approx(speed, abs=1e-12)
    assert not warned


def test_conflicting_high_targets_are_a_warning_and_a_compromise():
    (v,), warned = started(joined("2 m/s", "4 m/s"), "a.v")
    assert v == pytest.approx(3.0)
    (text,) = warned
    assert "a.v = 3 m/s (target 2 m/s), b.v = 3 m/s (target 4 m/s)" in text
    assert "priority='low'" in text


def test_the_compromise_is_that_of_least_squares_in_nominal_units():
    model = joined(Target("2 m/s", nominal="1 m/s"), Target("4 m/s", nominal="10 m/s"))
    (v,), _ = started(model, "a.v")
    assert v == pytest.approx((2 + 4 / 100) / (1 + 1 / 100), rel=1e-9)


def test_a_target_against_the_equations_is_a_warning_and_the_equations_hold():
    model = wired("driven", "body.M drive.R", "drive.C ground.V",
                  body=Mass(v="2 m/s"), drive=VelocitySource(velocity="1 m/s"), ground=Reference())
    (v,), warned = started(model, "body.v")
    assert v == pytest.approx(1.0)
    assert "body.v = 1 m/s (target 2 m/s)" in warned[0]


def test_a_target_on_a_force_finds_the_deformation_that_gives_it():
    model = wired("spring", "body.M spring.R", "spring.C ground.V",
                  body=Mass(), spring=Spring(stiffness="10 N/m", f="5 N"), ground=Reference())
    (x, f), warned = started(model, "spring.x", "spring.f")
    assert (x, f) == (pytest.approx(0.5), pytest.approx(5.0))
    assert not warned


class Cubic(Component):
    """(y - 1)(y - 2)(y - 4) = 0."""

    y = Variable("")

    def equations(self):
        yield self.y**3 - 7 * self.y**2 + 14 * self.y == 8


@pytest.mark.parametrize(("guess", "root"), [(0.5, 1), (2.1, 2), (5.0, 4)])
def test_a_guess_decides_which_root_a_loop_starts_from(guess, root):
    run = alone(Cubic(y=Target(guess, "none"))).simulate("1 s")
    assert final(run, "c.y") == pytest.approx(root, rel=1e-9)


def test_a_guess_changed_between_runs_is_used():
    model = alone(Cubic())
    for guess, root in [(5.0, 4), (2.1, 2), (0.5, 1)]:
        model.c.y = Target(guess, "none")
        assert final(model.simulate("1 s"), "c.y") == pytest.approx(root, rel=1e-9)


def test_a_guess_of_any_unknown_of_a_loop_is_used():
    class Circle(Component):
        a = Variable("")
        b = Variable("")
        s = Variable("")

        def equations(self):
            yield self.a**2 + self.b**2 == 5
            yield self.a * self.b == 2
            yield self.s == self.a + self.b

    for a, b in [(1, 2), (2, 1), (-1, -2), (-2, -1)]:
        run = alone(Circle(a=Target(1.1 * a, "none"), b=Target(0.9 * b, "none"))).simulate("1 s")
        assert final(run, "c.a") == pytest.approx(a, rel=1e-9)
        assert final(run, "c.b") == pytest.approx(b, rel=1e-9)


def test_a_loop_without_a_root_is_an_error_that_names_it():
    class NoRoot(Component):
        y = Variable("")

        def equations(self):
            yield self.y**2 == -1

    with pytest.raises(InitialisationError, match="c.y could not be solved for"):
        alone(NoRoot()).simulate("1 s")


def fed_back(function, constant, gain=1.0):
    """a = constant + gain function(a)."""
    return wired("loop", "constant.y sum.u1", "gain.y sum.u2", "sum.y function.u",
                 "function.y gain.u",
                 constant=Constant(value=constant), sum=Sum(),
                 function=MathFunction(function=function), gain=Gain(gain=gain))


@pytest.mark.parametrize(("function", "constant", "gain", "root"), [
    ("reciprocal", 2.0, 1.0, 1 + np.sqrt(2)),  # beside its pole steps are little
    ("reciprocal", 1.0, 6.0, 3.0),
    ("sqrt", 6.0, 1.0, 9.0),  # from where it begins, and is infinitely steep
])  # fmt: skip
def test_a_loop_finds_its_root_from_beside_a_pole_or_the_beginning_of_a_root(
        function, constant, gain, root):
    run = fed_back(function, constant, gain).simulate("1 s")
    assert final(run, "sum.y") == pytest.approx(root, rel=1e-9)


@pytest.mark.parametrize(("function", "constant", "gain"), [
    ("reciprocal", 1.0, -1.0),  # a^2 - a + 1 > 0
    ("sqrt", -1.0, 1.0),  # sqrt(a) < 1 + a
    ("exp", 0.0, 1.0),  # exp(a) > a
])  # fmt: skip
def test_a_loop_of_signals_without_a_root_says_how_to_give_a_guess(function, constant, gain):
    with pytest.raises(InitialisationError, match=(
            "sum.y could not be solved for: .*guesses with priority='none'")):
        fed_back(function, constant, gain).simulate("1 s")


# -- constraints -------------------------------------------------------------------------------


def pendulum(**targets):
    (x, y, vx, vy), warned = started(alone(Pendulum(**targets)), "c.x", "c.y", "c.vx", "c.vy")
    assert np.hypot(x, y) == pytest.approx(1, abs=1e-9)
    assert x * vx + y * vy == pytest.approx(0, abs=1e-9)
    return (x, y, vx, vy), warned


@pytest.mark.parametrize("side", [-1, 1])
def test_a_guess_of_the_height_decides_on_which_side_a_pendulum_hangs(side):
    (x, y, *_), warned = pendulum(x="0.6 m", y=Target(quantity(0.5 * side, "m"), "none"))
    assert (x, y) == (pytest.approx(0.6), pytest.approx(0.8 * side))
    assert not warned


def test_low_targets_off_the_circle_start_at_its_nearest_point():
    (x, y, *_), warned = pendulum(x=Target("3 m", "low"), y=Target("4 m", "low"))
    assert (x, y) == (pytest.approx(0.6, abs=1e-6), pytest.approx(0.8, abs=1e-6))
    assert not warned


def test_a_pendulum_told_nothing_of_its_height_starts_somewhere_on_its_circle():
    (x, y, vx, vy), _ = pendulum(x="0 m", vx="1 m/s")
    assert abs(y) == pytest.approx(1)
    assert (vx, vy) == (pytest.approx(1.0), pytest.approx(0, abs=1e-9))
    pendulum()


def test_a_high_target_out_of_reach_is_a_warning():
    (x, *_), warned = pendulum(x="2 m")
    assert abs(x) == pytest.approx(1)
    assert "c.x = 1 m (target 2 m)" in warned[0]


def test_an_impossible_constraint_is_an_error_that_names_its_variables():
    class Impossible(Component):
        x = Variable("m", "1 m", priority="high")
        y = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == quantity("1 m/s") + 0 * der(self.y)
            yield self.x**2 + self.y**2 == quantity("-1 m^2")

    with pytest.raises(InitialisationError, match=r"c\.[xy]"):
        alone(Impossible()).simulate("1 s")


def test_the_table_of_the_start_says_what_became_of_every_target():
    model = joined(Target("2 m/s", "low"), "4 m/s")
    text = str(model.initial_values())
    for words in ("not met", "a.v", "low", "2 m/s", "b.v", "high", "4 m/s"):
        assert words in text


def test_a_run_may_start_at_another_time():
    class Follow(Component):
        x = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x) == quantity("2 m/s^2") * time

    run = alone(Follow()).simulate("1 s", start_time="3 s", rtol=1e-10)
    assert final(run, "c.x") == pytest.approx(1 + 16 - 9, rel=1e-8)


def test_a_long_equation_that_cannot_be_met_is_told_by_its_variables():
    """At 8550 K its vapour would have an energy that nobody has measured."""
    model = wired("superheated", "hot.A tank.H", hot=TemperatureSource(temperature="8550 K"),
                  tank=ConstantVolumeChamber())
    with pytest.raises(InitialisationError, match="an equation of p_I, u_I, T_I of tank") as stop:
        model.simulate("1 ms")
    assert len(str(stop.value)) < 300 and "position" not in str(stop.value)
