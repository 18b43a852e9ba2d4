"""Elastic and rigid stops, along an axis and about one: their law of force, what a body does."""

import numpy as np
import pytest
from benches import wired
from benches.axis import ROTATIONAL, TRANSLATIONAL
from numpy.testing import assert_allclose
from scipy.integrate import quad

from blocks import BlocksError, ParameterError, quantity
from library.isothermal_liquid import ConstantVolumeChamber
from library.translational import ForceSource, HardStop, Mass, Reference, TranslationalFriction

TIGHT = {"rtol": 1e-11, "method": "DOP853"}
BOUNDS = {"upper_bound": 0.02, "lower_bound": -0.01}
CONTACT = {"upper_stiffness": 2e3, "lower_stiffness": 3e3, "upper_damping": 40, "lower_damping": 50}
MASS = 2.0  # of what is thrown with a velocity of 1


def rises(p, transition):
    """The part of an elastic force that is there at a depth."""
    share = np.clip(p / transition, 0, 1) if transition else 1.0
    return 3 * share**2 - 2 * share**3


@pytest.mark.parametrize("velocity", [0.1, -0.1])
@pytest.mark.parametrize("model", ["full", "undamped rebound", "smooth"])
def test_the_stop_force_follows_the_published_law(axis, model, velocity):
    width = {"transition": 0.002} if model == "smooth" else {}
    start = -0.02 if velocity > 0 else 0.03
    stop = axis("HardStop", model=model, x=start, **BOUNDS, **CONTACT, **width)
    run = axis.driven(stop, velocity).simulate("0.5 s", **TIGHT)
    x, f = axis.read(run, "part.x"), axis.read(run, "part.f")
    up, low, v_up, v_low = x - 0.02, -0.01 - x, velocity, -velocity  # how deep, how fast
    if model == "undamped rebound":
        v_up, v_low = max(v_up, 0), max(v_low, 0)
    rise = width.get("transition", 0.0)
    exact = np.where(up > 0, rises(up, rise) * (2e3 * up + 40 * v_up), 0) - np.where(
        low > 0, rises(low, rise) * (3e3 * low + 50 * v_low), 0)
    some = np.all([np.abs(x - bound) > 1e-9 for bound in (0.02, -0.01)], axis=0)  # no jump there
    assert some.sum() > 100
    assert_allclose(f[some], exact[some], atol=1e-8)


def test_an_undamped_stop_returns_the_body_after_half_a_period(axis):
    stop = axis("HardStop", model="full", **BOUNDS, upper_stiffness=2e3, upper_damping=0)
    run = axis.thrown(stop).simulate("0.2 s", **TIGHT)
    hit, omega = 0.02, np.sqrt(2e3 / MASS)
    leave = hit + np.pi / omega
    within = np.linspace(hit, leave, 20)
    assert_allclose(axis.read(run, "part.x", within),
                    hit + np.sin(omega * (within - hit)) / omega, atol=1e-10)  # fmt: skip
    assert_allclose(axis.read(run, "body.v", [leave + 1e-3]), -1, rtol=1e-8)
    assert_allclose([e.time for e in run.events][:2], [hit, leave], rtol=1e-9)


@pytest.mark.parametrize("model", ["full", "undamped rebound"])
def test_damping_at_contact_sets_the_restitution(axis, model):
    """A damped oscillator returns to the bound after half a damped period; undamped on the way
    back, a body has the speed that its stop stores at the turning point."""
    k, decay = 2e3, 40 / (2 * MASS)
    stop = axis("HardStop", model=model, **BOUNDS, upper_stiffness=k, upper_damping=40)
    run = axis.thrown(stop).simulate("0.15 s", **TIGHT)
    omega = np.sqrt(k / MASS - decay**2)
    turn = np.arctan2(omega, decay) / omega
    depth = np.exp(-decay * turn) * np.sin(omega * turn) / omega
    back, speed = (np.pi / omega, np.exp(-decay * np.pi / omega)) if model == "full" else (
        turn + np.pi / 2 * np.sqrt(MASS / k), depth * np.sqrt(k / MASS))
    assert_allclose(axis.read(run, "body.v", [0.02 + back + 1e-3]), -speed, rtol=1e-7)


def test_bounds_in_the_wrong_order_are_refused_by_name(axis):
    with pytest.raises(BlocksError, match=r"part.*upper_bound is -0.01.*lower_bound 0.01.*must be"
                                          " above"):
        axis.thrown(axis("HardStop", upper_bound=-0.01, lower_bound=0.01)).simulate("1 s")


@pytest.mark.parametrize(("model", "width"), [
    ("full", {}), ("undamped rebound", {}), ("smooth", {"transition": 0.002}),
    ("smooth", {"transition": 1e200})])  # whose square overflows
@pytest.mark.parametrize("depth", [1e-3, 2e-3, 8e-3])  # within, at and beyond the transition
def test_a_stop_stores_the_work_of_its_elastic_force(axis, model, width, depth):
    stop = axis("HardStop", model=model, **{**BOUNDS, "lower_bound": -1}, **CONTACT, **width,
                x=0.02 + depth)
    run = axis.driven(stop, 0).simulate("1 s")
    work = quad(lambda p: 2e3 * p * rises(p, width.get("transition", 0.0)), 0, depth,
                points=[2e-3])[0]
    assert_allclose(axis.read(run, "part.energy_stored"), work, rtol=1e-10)


# -- with a coefficient of restitution -------------------------------------------------------------
G, H, E = 9.81, 1.0, 0.5


def dropped(axis, force=-2 * G, **given):
    """A body of 2 that falls from the height H."""
    stop = {"lower_bound": 0, "upper_bound": 5, "restitution": E, **given}
    return axis.thrown(axis("HardStop", model="restitution", x=H, **stop), velocity=0, force=force)


@pytest.mark.parametrize(("axis", "method"), [
    *((TRANSLATIONAL, method) for method in ("auto", "DOP853", "RK45", "ode45", "Radau")),
    (ROTATIONAL, "auto")], indirect=["axis"], ids=str)
def test_a_ball_rebounds_at_the_closed_form_times_to_the_heights_and_comes_to_rest(axis, method):
    run = dropped(axis).simulate("3 s", rtol=1e-9, method=method)
    times = run.events.of("part").to_pandas()["time [s]"].to_numpy()
    first = np.sqrt(2 * H / G)
    bounces = first * (1 + 2 * np.cumsum(E ** np.arange(1, 6)))
    assert_allclose(times[0], first, rtol=1e-8)
    assert_allclose(times[1:6], bounces, rtol=1e-8)
    tops = (times[:3] + times[1:4]) / 2
    assert_allclose(axis.read(run, "part.x", tops), E ** (2 * np.arange(1, 4)), rtol=1e-7)
    assert_allclose(times[-1], first * (1 + 2 * E / (1 - E)), rtol=1e-7)  # sum of all bounces
    assert len(times) < 60 and axis.read(run, "body.v")[-1] == 0
    assert abs(axis.read(run, "part.x")[-1]) < 1e-12
    assert_allclose(axis.read(run, "part.f")[-1], -2 * G, rtol=1e-12)
    energy = run.energy()
    assert_allclose(energy["part"].dissipated, 2 * G * H, rtol=1e-7)
    assert energy.relative_residual < 1e-8


def test_an_elastic_ball_bounces_back_to_its_height(axis):
    run = dropped(axis, restitution=1.0).simulate("4 s", rtol=1e-10)
    period = 2 * np.sqrt(2 * H / G)
    assert_allclose(axis.read(run, "part.x", 4 * period), H, rtol=1e-7)
    assert abs(axis.read(run, "part.x").min()) < 1e-8


def test_the_upper_stop_holds_what_presses_up(axis):
    run = dropped(axis, force=7).simulate("8 s", rtol=1e-8)
    assert_allclose(axis.read(run, "part.x")[-1], 5.0, rtol=1e-12)
    assert_allclose(axis.read(run, "part.f")[-1], 7.0, rtol=1e-10)


def test_an_elastic_stop_has_no_coefficient_of_restitution(axis):
    with pytest.raises(ParameterError, match="has no meaning with model='smooth'"):
        axis("HardStop", restitution=0.5)


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853"])
def test_low_rebounds_turn_back_whatever_else_is_in_the_model(method):
    """A gap is compared with positions: beside a pressure of 2e7 Pa 4 um were taken for none.

    With 50 N and a friction of 10 N the block approaches at 20 m/s² and is slowed down at 30.
    """
    model = wired("low rebounds", "push.R block.M rub.R stop.R", "push.C rub.C stop.C ground.V",
                  block=Mass(mass="2 kg"), ground=Reference(), push=ForceSource(force="50 N"),
                  rub=TranslationalFriction(law="coulomb", coulomb_force="10 N",
                                            breakaway_force="10 N"),
                  stop=HardStop(model="restitution", restitution=0.3, upper_bound="20 mm"),
                  aside=ConstantVolumeChamber(p_I="20 MPa"))
    run = model.simulate("0.1 s", method=method)
    speed = np.sqrt(2 * 20 * 0.02)
    time, turns, heights = speed / 20, [], []
    for _ in range(6):
        time += 0.3 * speed / 30
        turns.append(time)
        heights.append((0.3 * speed) ** 2 / (2 * 30))
        time += np.sqrt(2 * heights[-1] / 20)
        speed = np.sqrt(2 * 20 * heights[-1])
    gaps = 0.02 - run["stop.x"].at(quantity(np.array(turns), "s")).to("m").m
    assert_allclose(gaps, heights, rtol=1e-6, atol=1e-13)
    assert abs(run["stop.x"].final.to("m").m - 0.02) < 1e-12


def test_wagons_are_pulled_along_one_after_the_other():
    """Each plastic impact is told once: couplings that are taut pass it on, and close no more."""
    n, slack = 8, 0.06  # m, from 0.02 m to the upper bound
    model = wired(
        "train", "coupling.R wagon[:-1].M", "coupling.C wagon[1:].M", "pull.R wagon[0].M",
        "pull.C ground.V", ground=Reference(), wagon=Mass(count=n, mass="10 kg", v="0 m/s"),
        coupling=HardStop(count=n - 1, model="restitution", restitution=0, lower_bound="0 m",
                          upper_bound="80 mm", x="20 mm"), pull=ForceSource(force=f"{20 * n} N"))
    run = model.simulate("2 s")
    v, t, instants = 0.0, 0.0, []
    for moving in range(1, n):
        a = 2.0 * n / moving
        taken = (np.sqrt(v * v + 2 * slack * a) - v) / a
        t, v = t + taken, (v + a * taken) * moving / (moving + 1)
        instants.append(t)
    assert [e.description for e in run.events] == (n - 1) * ["closes (upper_force)"]
    assert_allclose([e.time for e in run.events], instants, rtol=1e-9)
    assert_allclose(run["wagon[0].v"].final.m, v + 2.0 * (2.0 - t), rtol=1e-9)
