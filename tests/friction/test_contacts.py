"""Unilateral contacts: impacts, rest, release, and friction beside them."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry, happened, missing_energy, place, push, times_of, value, values
from numpy.testing import assert_allclose

from blocks import Parameter, Target, Variable, contact, der, dry_friction, quantity, sin, where
from library.mechanisms import SliderCrank
from library.rotational import Inertia
from library.translational import ForceSource, HardStop, Mass, Reference, Spring, TwoPort

G = 9.81


class Bumper(TwoPort):
    """Contact that keeps R above C: gap x, force ``load`` >= 0 pressing them apart."""

    x, load = Variable("m", "1 m", priority="high"), Variable("N")
    restitution = Parameter(0.5, minimum=0, maximum=1)
    power_dissipated = Variable("W")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == -self.load
        yield contact(self.load, self.x, -self.v, restitution=self.restitution)
        yield self.power_dissipated == self.f * self.v


class RubbingBumper(Bumper):
    """A contact and a dry friction of 0.3 N in one component."""

    strength = Parameter("0.3 N")
    rub = Variable("N")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == -self.load + self.rub
        yield contact(self.load, self.x, -self.v, restitution=self.restitution)
        yield dry_friction(self.rub, self.v, static=self.strength, kinetic=self.strength)
        yield self.power_dissipated == self.f * self.v


def ball(restitution, height=1.0, load=lambda t: -G + 0 * t):
    return wired("ball", "ball.M floor.R weight.R", "floor.C weight.C ground.V",
                 ball=Mass(), ground=Reference(),
                 floor=Bumper(x=quantity(height, "m"), restitution=restitution), weight=push(load))


def row(gaps, masses, speeds, restitution):
    """Bodies in a row along x, body i+1 ahead of body i."""
    model = wired("row", ground=Reference())
    for i, (m, v) in enumerate(zip(masses, speeds, strict=True)):
        body = model.add(f"m{i}", Mass(mass=quantity(m, "kg"), v=quantity(v, "m/s")))
        place(model, f"x{i}", body.M)
    for i, gap in enumerate(gaps):
        bumper = model.add(f"s{i}", Bumper(x=quantity(gap, "m"), restitution=restitution))
        model.connect(bumper.R, model[f"m{i + 1}"].M)
        model.connect(bumper.C, model[f"m{i}"].M)
    return model


# -- a bouncing ball ---------------------------------------------------------------------
@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_rebounds_below_the_error_of_the_run_do_not_go_on_without_end(method, rtol):
    e = 0.5
    run = ball(e).simulate("3 s", rtol=rtol, method=method)
    rest = np.sqrt(2 / G) * (1 + 2 * e / (1 - e))
    # a rebound that is as high as the error takes about its square root
    assert_allclose(times_of(run, "closes"), [rest], rtol=0, atol=2 * np.sqrt(2 * rtol / G))
    assert len(run.events) < 60
    assert (value(run, "ball.v"), value(run, "floor.load")) == (0, pytest.approx(G, rel=1e-12))


@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
def test_the_energy_of_a_bouncing_ball_never_grows_and_is_all_accounted_for(e):
    run = ball(e).simulate("2 s", rtol=1e-11)
    v, x = values(run, ["ball.v", "floor.x"], np.linspace(0, 2, 400))
    energy = v**2 / 2 + G * x
    assert np.diff(energy).max() < 1e-9
    assert x.min() > -1e-9
    assert missing_energy(run) < 1e-9
    (lost,) = [k.dissipated for k in run.recording.energy_terms() if k.component == "floor"]
    assert_allclose(lost, energy[0] - energy[-1], rtol=0, atol=1e-8)


# -- impacts of several bodies -----------------------------------------------------------
@pytest.mark.parametrize(("gaps", "before", "after"), [
    ([0.5, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]),
    ([0, 0.5, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1])])
def test_newtons_cradle_sends_away_as_many_balls_as_come(gaps, before, after):
    run = row(gaps, [1] * 5, before, 1.0).simulate("1 s", rtol=1e-10)
    assert_allclose([value(run, f"m{i}.v", 0.7) for i in range(5)], after, atol=1e-14)
    assert_allclose(value(run, "x4.x"), 0.5, rtol=0, atol=1e-9)
    assert missing_energy(run) < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_body_that_is_struck_from_both_sides_at_once_stays(e):
    run = row([0.5, 0.5], [1, 3, 1], [1, 0, -1], e).simulate("1 s", rtol=1e-10)
    assert_allclose([value(run, f"m{i}.v") for i in range(3)], [-e, 0, e], atol=1e-12)
    assert_allclose({t for t, *_ in happened(run)}.pop(), 0.5, rtol=0, atol=1e-12)
    assert missing_energy(run) < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_impacts_of_unequal_bodies_keep_momentum_and_lose_what_newton_says(e):
    m, v = np.array([2.0, 0.5]), np.array([1.0, -2.0])
    run = row([0.3], m, v, e).simulate("0.2 s", rtol=1e-11)
    after = np.array([value(run, f"m{i}.v") for i in range(2)])
    assert_allclose(m @ after, m @ v, rtol=1e-12)
    assert_allclose(after[1] - after[0], e * (v[0] - v[1]), atol=1e-12)
    lost = m @ (v**2 - after**2) / 2
    assert_allclose(lost, (1 - e**2) * m.prod() / m.sum() * 9 / 2, rtol=1e-9, atol=1e-12)
    (heat,) = [k.dissipated for k in run.recording.energy_terms() if k.component == "s0"]
    assert_allclose(heat, lost, rtol=0, atol=1e-9)


# -- rest and release --------------------------------------------------------------------
def test_a_stack_at_rest_carries_the_weight_of_all_above():
    model = row([0, 0], [1, 2, 3], [0, 0, 0], 0.0)
    wire(model, "floor.R m0.M", "floor.C ground.V", floor=Bumper(x="0 m", restitution=0.0))
    for i, m in enumerate([1, 2, 3]):
        weight = model.add(f"w{i}", push(lambda t, m=m: -m * G + 0 * t))
        model.connect(weight.R, model[f"m{i}"].M)
        model.connect(weight.C, model.ground.V)
    run = model.simulate("2 s", rtol=1e-9)
    assert happened(run) == []
    loads = values(run, ["floor.load", "s0.load", "s1.load"], [0.0, 1.0, 2.0])
    assert_allclose(loads, np.outer([6 * G, 5 * G, 3 * G], np.ones(3)), rtol=1e-12)
    assert_allclose([value(run, f"m{i}.v") for i in range(3)], 0, atol=0)


def test_a_body_pressed_by_a_spring_leaves_the_stop_and_comes_back():
    # pressed with 1 N at first; the load pulls it off during half of a period
    run = ball(0.0, height=0.0, load=lambda t: 2 * sin(t) - 1).simulate("12 s", rtol=1e-11)
    words = [e[2] for e in happened(run)]
    assert words[:2] == ["opens", "rebounds"] or words[:2] == ["opens", "closes"]
    assert_allclose(happened(run)[0][0], np.pi / 6, rtol=0, atol=1e-9)
    x, f = values(run, ["floor.x", "floor.load"], np.linspace(0, 12, 500))
    assert x.min() > -1e-9
    assert f.min() >= 0
    assert np.abs(x * f).max() < 1e-8
    assert missing_energy(run) < 1e-9


def test_a_hard_stop_beside_friction_holds_the_rest_of_the_load():
    # the body slides against friction into the stop, plastically, and rests on both
    model = ball(0.0, height=1.0, load=lambda t: where(t < 3, -5 + 0 * t, 5 + 0 * t))
    wire(model, "friction.R ball.M", "friction.C ground.V", friction=dry(2.0))
    run = model.simulate("4 s", rtol=1e-11)
    assert_allclose(times_of(run, "closes", "rebounds"), [np.sqrt(2 / 3)], rtol=0, atol=1e-10)
    # at rest 5 N press: anything the friction does not hold; it holds what it held at the
    # impact or less, and never more than its bound
    load, friction = value(run, "floor.load", 2), value(run, "friction.f", 2)
    assert_allclose(load - friction, 5.0, rtol=1e-12)
    assert abs(friction) <= 2
    assert load >= 0
    assert_allclose(times_of(run, "opens"), [3.0], rtol=0, atol=1e-10)
    assert_allclose(value(run, "floor.x"), (5 - 2) / 2, rtol=1e-9)
    assert missing_energy(run) < 1e-9
    assert any(set(s.components) == {"floor", "friction"} for s in run.sticking().undetermined)


def test_a_sliding_row_of_blocks_on_friction_collides_and_stops():
    model = row([0.2, 0.3], [1, 1, 2], [2, 0, 0], 0.6)
    for i in range(3):
        friction = model.add(f"f{i}", dry(0.8, 1.0))
        model.connect(friction.R, model[f"m{i}"].M)
        model.connect(friction.C, model.ground.V)
    run = model.simulate("5 s", rtol=1e-11)
    assert_allclose([value(run, f"m{i}.v") for i in range(3)], 0, atol=0)
    assert_allclose(sum(t.dissipated for t in run.recording.energy_terms()), 2.0, rtol=1e-9)
    assert missing_energy(run) < 1e-9
    # the first impact: 2 m/s slowed by 0.8 m/s2 over 0.2 m
    assert_allclose(times_of(run, "rebounds")[0], (2 - np.sqrt(4 - 0.32)) / 0.8, rtol=0, atol=1e-10)


def test_friction_in_a_stop_and_the_stop_itself_work_in_one_component():
    model = wired("rubbing", "body.M floor.R weight.R", "floor.C weight.C ground.V",
                  body=Mass(), ground=Reference(), floor=RubbingBumper(x="1 m"),
                  weight=push(lambda t: -1 + 0 * t))
    run = model.simulate("20 s", rtol=1e-11)
    assert value(run, "body.v") == 0
    assert_allclose(times_of(run, "rebounds")[0], np.sqrt(2 / 0.7), rtol=0, atol=1e-9)
    assert missing_energy(run) < 1e-9


def test_a_spring_loaded_body_between_two_stops_settles_on_one():
    model = wired("between", "body.M low.R high.C spring.R friction.R",
                  "low.C high.R spring.C friction.C ground.V",
                  body=Mass(v="3 m/s"), ground=Reference(), low=Bumper(x="0.5 m"),
                  high=Bumper(x="0.5 m"), spring=Spring(stiffness="1 N/m", x="2 m"),
                  friction=dry(0.3))
    run = model.simulate("20 s", rtol=1e-11)
    x, y = values(run, ["low.x", "high.x"], np.linspace(0, 20, 300))
    assert min(x.min(), y.min()) > -1e-9
    assert abs(value(run, "body.v")) == 0
    assert abs(value(run, "low.x")) < 1e-9  # pulled down by 1.5 N
    assert missing_energy(run) < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_a_slider_on_a_crank_strikes_a_stop_with_the_inertia_of_the_crank_behind_it(e):
    model = wired("press", "crank.A shaft.I", "crank.P slider.M stop.C", "stop.R ground.V",
                  crank=SliderCrank(phi="60 deg"),
                  shaft=Inertia(inertia="0.01 kg*m^2", w="-5 rad/s"),
                  slider=Mass(mass="2 kg", v=Target("0 m/s", "none")), ground=Reference(),
                  stop=Bumper(x="10 mm", restitution=e))
    run = model.simulate("0.3 s", rtol=1e-10)
    hit = times_of(run, "rebounds", "closes")[0]
    before, after = (np.array([value(run, p, hit, side) for p in ("shaft.w", "slider.v")])
                     for side in ("left", "right"))  # fmt: skip
    assert_allclose(after, -e * before, rtol=0, atol=1e-9)
    assert before[1] > 0.01
    assert missing_energy(run) < 1e-8


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-6, 1e-8])
@pytest.mark.parametrize("floor", [0.0, 5.0])
def test_a_ball_comes_to_rest_by_steps_that_overlap_by_their_error(rtol, floor):
    """A multistep method's first polynomial after a rebound begins off the floor, or in it."""
    g, h, e = 10.0, 0.2, 0.5
    model = wired("ball", "ball.M weight.R stop.R", "weight.C stop.C ground.V",
                  ball=Mass(mass="1 kg"), ground=Reference(), weight=ForceSource(force="-10 N"),
                  stop=HardStop(model="restitution", restitution=e, lower_bound=f"{floor} m",
                                upper_bound="100 m", x=f"{floor + h} m"))
    run = model.simulate("1 s", method="rodas4", rtol=rtol)
    rests = np.sqrt(2 * h / g) * (1 + e) / (1 - e)
    # flights that are lower than some rtol of a place are not told apart
    assert times_of(run, "closes")[0] == pytest.approx(rests, abs=10 * np.sqrt(rtol))
    assert run["stop.x"].final.magnitude == pytest.approx(floor, abs=10 * rtol)
