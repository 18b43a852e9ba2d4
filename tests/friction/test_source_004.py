"""Coulomb, viscous and static friction together; friction with memory.

LuGre, Dahl, elasto-plastic, bristles, reset integrator, Maxwell, Leuven. Numbers without a closed
form are from independent solutions of the equations by two stiff integrators that agree (Radau,
LSODA). LuGre has the parameters of C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, IEEE
Trans. Autom. Control 40(3), 1995."""

import numpy as np
import pytest
from benches import wired
from benches.friction import (
    dry,
    happened,
    loaded,
    missing_energy,
    moved,
    oscillator,
    place,
    push,
    value,
    values,
)
from numpy.testing import assert_allclose
from scipy.integrate import simpson
from scipy.optimize import brentq

from blocks import cos as cosine
from blocks import quantity, sin, where
from library.frictionlaws import Bristle
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource


# -- Coulomb, viscous and static --------------------------------------------------------------
def bench(kinetic, static, viscous, load=lambda t: 0 * t, **body):
    return wired("bench", "body.M friction.R load.R", "friction.C load.C ground.V",
                 body=Mass(**body), ground=Reference(),
                 friction=dry(kinetic, static, viscous_coefficient=viscous), load=push(load))


def test_a_body_on_coulomb_and_viscous_friction_stops_after_a_finite_time():
    m, f, c, v0 = 2.0, 3.0, 1.5, 4.0
    run = bench(f, 4.0, "1.5 N*s/m", mass="2 kg", v="4 m/s").simulate("6 s", rtol=1e-11)
    stop = m / c * np.log(1 + c * v0 / f)
    ((time, *_),) = happened(run)
    assert_allclose(time, stop, rtol=0, atol=1e-9)
    t = stop / 2
    assert_allclose(value(run, "body.v", t), (v0 + f / c) * np.exp(-c * t / m) - f / c, rtol=1e-9)
    assert value(run, "body.v") == 0
    assert missing_energy(run) < 1e-9


def test_static_friction_holds_to_its_bound_and_sliding_goes_on_at_the_lower_force():
    m, f, s, c, r = 1.0, 2.0, 3.0, 0.5, 1.0  # load r t
    run = bench(f, s, "0.5 N*s/m", load=lambda t: r * t).simulate("5 s", rtol=1e-11)
    ((time, _, what),) = happened(run)
    assert what == "slides forward"
    assert_allclose(time, s / r, rtol=0, atol=1e-10)
    # m v' = r t - f - c v
    t = 5.0 - s / r
    a, b = r / c, (s - f) / c - m * r / c**2
    assert_allclose(value(run, "body.v"), a * t + b * (1 - np.exp(-c * t / m)), rtol=1e-9)


def test_sliding_goes_on_under_a_load_between_kinetic_and_static_friction():
    load = 2.5
    moving = bench(2.0, 3.0, "0.5 N*s/m", load=lambda t: load + 0 * t, v="1 m/s").simulate("40 s")
    assert happened(moving) == []
    assert_allclose(value(moving, "body.v"), (load - 2.0) / 0.5, rtol=1e-5)
    resting = bench(2.0, 3.0, "0.5 N*s/m", load=lambda t: load + 0 * t).simulate("40 s")
    assert happened(resting) == []
    assert value(resting, "body.v") == 0
    assert_allclose(value(resting, "friction.f"), load, rtol=1e-14)


def test_friction_at_rest_is_symmetric():
    def load(t):
        return where(t < 2, 1.5 * t, 6 - 1.5 * t)

    run = bench(4.0, 4.0, "0 N*s/m", load=lambda t: load(t) - 1).simulate("8 s", rtol=1e-10)
    ((time, _, what),) = happened(run, "friction")
    assert what == "slides backward"
    assert_allclose(time, (6 - 1 + 4) / 1.5, rtol=1e-10)


# -- laws with memory -------------------------------------------------------------------------
S0, S1, S2 = 1e5, np.sqrt(1e5), 0.4


def published(law="lugre", **more):
    """F_C = 1 N, F_S = 1.5 N, v_s = 1 mm/s and the three sigmas."""
    bending = {"stiffness": "1e5 N/m", "damping": quantity(S1, "N*s/m")}
    return TranslationalFriction(
        law=law, coulomb_force="1 N", breakaway_force="1.5 N", breakaway_velocity="1 mm/s",
        viscous_coefficient="0.4 N*s/m", **(more or bending))  # fmt: skip


def level(v):
    return 1 + 0.5 * np.exp(-((v / 1e-3) ** 2))


# -- LuGre ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("v", [1e-6, 1e-4, 5e-4, 1e-3, 2e-3, 0.01, 1.0])
def test_lugre_at_a_steady_speed_is_on_the_stribeck_curve(v):
    end = 80 * level(v) / (S0 * v)
    run = moved(published(), lambda t: v + 0 * t).simulate(
        quantity(end, "s"), rtol=1e-12, atol=1e-15, max_step=quantity(end / 400, "s"))
    assert_allclose(value(run, "friction.f"), level(v) + S2 * v, rtol=1e-12)


def test_lugre_at_a_constant_speed_rises_exponentially():
    v = 1e-4
    run = moved(published(), lambda t: v + 0 * t).simulate("0.3 s", rtol=1e-13, atol=1e-15,
                                                            max_step="2 ms")
    t = np.array([0.05, 0.1, 0.2, 0.3])
    left = np.exp(-S0 * v * t / level(v))
    force = level(v) * (1 - left) + S1 * v * left + S2 * v
    assert_allclose(values(run, ["friction.f"], t)[0], force, rtol=0, atol=1e-12)
    assert_allclose(force[1:3], [0.745394201396, 1.111024080676], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("rate", "peak"), [
    (0.5, 1.457043778), (1, 1.432415027), (2, 1.394415947), (5, 1.313208596), (10, 1.219951806),
    (20, 1.098614138), (30, 1.024484811), (50, 1.007469478)])  # fmt: skip
def test_lugre_breaks_away_earlier_the_faster_the_load_grows(rate, peak):
    run = loaded(published(), lambda t: rate * t).simulate(
        quantity(2 / rate, "s"), rtol=1e-9, method="rodas4")
    f = values(run, ["friction.f"], np.linspace(0, 2 / rate, 20001))[0]
    k = int(np.flatnonzero((f[1:-1] > f[:-2]) & (f[1:-1] >= f[2:]))[0]) + 1
    a, b, c = f[k - 1 : k + 2]
    assert_allclose(b + (a - c) ** 2 / (8 * (2 * b - a - c)), peak, rtol=0, atol=1e-6)


def test_lugre_slides_a_little_before_it_breaks_away_and_does_not_come_back():
    def load(t):
        return where(t < 2.85, t / 2, where(t < 8.55, 2.85 - t / 2, t / 2 - 5.7))

    run = loaded(published(), load).simulate("14.25 s", rtol=1e-10, method="rodas4")
    x = [value(run, "sensor.x", t) for t in (2.85, 5.7, 8.55, 11.4, 14.25)]
    assert_allclose(x, [4.478183837e-5, 3.587271e-5, -8.924966e-6, -1.58e-8, 4.478183837e-5],
                    rtol=0, atol=1e-9)
    assert missing_energy(run) < 1e-6


@pytest.mark.parametrize(("w", "area"), [
    (1, 1.515230e-5), (10, 1.149806e-4), (25, 1.740142e-4), (100, 1.553275e-4)])  # fmt: skip
def test_lugre_friction_lags_behind_a_varying_speed(w, area):
    period = 2 * np.pi / w
    run = moved(published(), lambda t: 2e-3 * (1 + 0.9 * sin(w * t))).simulate(
        quantity(5 * period, "s"), rtol=1e-9, method="rodas4")
    t = np.linspace(4 * period, 5 * period, 4001)
    f, v = values(run, ["friction.f", "friction.v"], t)
    assert_allclose(abs(np.trapezoid(f, v)), area, rtol=1e-4)


def pulled_by_spring(friction):
    model = wired("stick-slip", "drive.R spring.R", "spring.C body.M friction.R",
                  "drive.C friction.C ground.V",
                  body=Mass(), friction=friction, ground=Reference(),
                  drive=VelocitySource(velocity="0.1 m/s"), spring=Spring(stiffness="2 N/m"))
    place(model, "sensor", model.body.M)
    return model


def test_lugre_stick_slip_has_the_reference_period():
    run = pulled_by_spring(published()).simulate("40 s", rtol=1e-8, method="rodas4")
    t = np.linspace(0, 40, 40001)
    v = values(run, ["body.v"], t)[0]
    starts = [brentq(lambda s: value(run, "body.v", s) - 0.02, t[k], t[k + 1], xtol=1e-10)
              for k in np.flatnonzero((v[:-1] < 0.02) & (v[1:] >= 0.02))]  # fmt: skip
    assert_allclose(starts[:3], [7.4785478, 13.8412676, 20.2039875], rtol=0, atol=1e-5)
    assert_allclose(np.diff(starts), 6.3627198, rtol=0, atol=1e-5)
    x = [value(run, "sensor.x", s) for s in (10, 20, 40)]
    assert_allclose(x, [0.62758313, 1.27259641, 3.30680105], rtol=0, atol=1e-6)


def shaken(law, end, **more):
    def load(t):
        return where(t < 0.5, 2 * t, 1.0) + 0.3 * sin(20 * np.pi * t)

    return loaded(published(law, **more), load).simulate(quantity(end, "s"), rtol=1e-7,
                                                         method="rodas4")  # fmt: skip


def test_a_load_that_oscillates_below_breakaway_makes_lugre_drift():
    run = shaken("lugre", 2.5)
    drift = value(run, "sensor.x", 2.5) - value(run, "sensor.x", 1.5)
    assert_allclose(drift, 8.74610e-3 - 4.34298e-3, rtol=1e-3)


def test_the_elasto_plastic_law_and_exact_friction_do_not_drift_under_that_load():
    run = shaken("elasto_plastic", 2.5, stiffness="1e5 N/m", damping=quantity(S1, "N*s/m"),
                 elastic_share=0.9)  # fmt: skip
    assert abs(value(run, "sensor.x", 2.5) - value(run, "sensor.x", 1.5)) < 1e-9
    exact = dry(1, 1.5)
    held = loaded(exact, lambda t: 1 + 0.3 * sin(20 * np.pi * t)).simulate("2.5 s")
    assert value(held, "sensor.x") == 0


def test_the_elasto_plastic_law_slides_on_the_stribeck_curve():
    v = 2e-3
    run = moved(published("elasto_plastic", stiffness="1e5 N/m", damping="300 N*s/m"),
                lambda t: v + 0 * t).simulate("0.5 s", rtol=1e-10, method="rodas4")  # fmt: skip
    # alpha is 1 from z_max = g/sigma_0 on, so the deflection ends there
    assert_allclose(value(run, "friction.f"), level(v) + S2 * v, rtol=1e-6)


# -- Dahl -----------------------------------------------------------------------------------------


def dahl(stiffness, exponent=1.0):
    return TranslationalFriction(law="dahl", coulomb_force="1 N",
                                 stiffness=quantity(stiffness, "N/m"), exponent=exponent)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_a_deflection_of_micrometres_is_as_exact_as_the_tolerance(method):
    run = moved(dahl(1e5), lambda t: 1e-3 + 0 * t).simulate("50 ms", method=method)
    t = np.linspace(0, 0.05, 51)
    assert_allclose(values(run, ["friction.f"], t)[0], 1 - np.exp(-100 * t), rtol=0, atol=1e-5)


def test_a_dahl_loop_has_the_closed_forms_tip_and_area():
    amplitude, stiffness = 1e-4, 1e4
    run = moved(dahl(stiffness), lambda t: amplitude * cosine(t)).simulate(
        quantity(16.5 * np.pi, "s"), rtol=1e-12)
    tip = np.tanh(stiffness * amplitude)
    assert_allclose(values(run, ["friction.f"], np.array([14.5, 15.5]) * np.pi)[0], [tip, -tip],
                    rtol=0, atol=1e-10)  # fmt: skip
    t = np.linspace(14.5, 16.5, 4001) * np.pi
    f, v = values(run, ["friction.f", "friction.v"], t)
    assert_allclose(simpson(f * v, x=t), 4 * (amplitude - tip / stiffness), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("exponent", "time", "x"), [
    (1.0, 3.124243622, -0.500666519), (0.5, 3.126980890, -0.500444379),
    (2.0, 3.110467896, -0.505329516)])  # fmt: skip
def test_an_oscillator_on_dahl_friction_turns_where_the_reference_does(exponent, time, x):
    run = oscillator(friction=dahl(1e3, exponent)).simulate("3.5 s", rtol=1e-10, method="DOP853")
    turn = brentq(lambda t: value(run, "body.v", t), 3.05, 3.2, xtol=1e-12)
    assert_allclose([turn, value(run, "spring.x", turn)], [time, x], rtol=0, atol=1e-7)


def test_an_oscillator_on_dahl_friction_drifts_while_it_rings():
    run = oscillator(friction=dahl(1e3)).simulate("40 s", rtol=1e-11, method="DOP853")
    # scipy's LSODA and DOP853 with the events of v = 0 agree on ten digits
    assert_allclose(value(run, "spring.x"), -0.489931696, rtol=0, atol=2e-9)
    assert value(run, "spring.x") > value(run, "spring.x", 3.2) + 0.008


# -- bristles -------------------------------------------------------------------------------------


class Brush(Bristle):
    bristles = 40


@pytest.mark.parametrize(("least", "largest", "mean", "end"), [
    (0.0, 0.0, 1 / 2, 1.0),
    pytest.param(0.0, 1 - 1e-9, 2 / 3, 8.0, marks=pytest.mark.slow),
    pytest.param(-1.0, 1 - 1e-9, 1 / 3, 20.0, marks=pytest.mark.slow)])  # fmt: skip
def test_bristles_rub_with_the_mean_force_of_their_offsets(least, largest, mean, end):
    brush = TranslationalFriction(
        law=Brush, stiffness="1e4 N/m", reach="0.1 mm", seed=3.0, least_offset=least,
        largest_offset=largest)  # fmt: skip
    run = moved(brush, lambda t: 1e-3 + 0 * t).simulate(quantity(end, "s"), max_step="50 ms")
    # force times speed is all heat, but for what the bristles hold at the end
    t = np.linspace(min(1.0, end / 5), end, 40001)
    assert_allclose(values(run, ["friction.f"], t).mean(), mean, rtol=0.01)


def test_bristles_are_the_same_for_the_same_seed_and_others_for_another():
    def run(seed):
        brush = TranslationalFriction(law=Brush, seed=seed, largest_offset=0.9, reach="0.1 mm")
        done = moved(brush, lambda t: 1e-3 + 0 * t).simulate("0.3 s")
        return values(done, ["friction.f"], np.linspace(0, 0.3, 31))[0]

    assert np.array_equal(run(3.0), run(3.0))
    assert np.abs(run(3.0) - run(4.0)).max() > 0.01


def test_of_a_snap_the_record_keeps_what_has_changed():
    brushes = TranslationalFriction(count=10, law=Brush, seed=np.arange(1.0, 11.0))
    run = moved(brushes, lambda t: 5e-3 + 0 * t).simulate("0.5 s")
    assert run.statistics["record bytes"] < 600 * run.statistics["events"]


# -- springs that slip ----------------------------------------------------------------------------


def reset(**more):
    return TranslationalFriction(law="reset_integrator", stiffness="1e4 N/m", damping="20 N*s/m",
                                 reach="0.1 mm", bonding=0.5, **more)  # fmt: skip


def test_the_reset_integrator_falls_to_the_kinetic_force_at_break_away():
    v = 1e-3
    run = moved(reset(), lambda t: v + 0 * t).simulate("0.2 s", rtol=1e-10)
    t = np.array([0.05, 0.1 - 1e-12, 0.1 + 1e-12, 0.2])
    assert_allclose(values(run, ["friction.f"], t)[0], [0.77, 1.52, 1.0, 1.0], rtol=0, atol=1e-9)
    slow = moved(reset(), lambda t: 1e-9 + 0 * t).simulate("1.1e5 s", rtol=1e-12)
    assert_allclose(value(slow, "friction.f", 1e5 * (1 - 1e-12)), 1.5, rtol=0, atol=1e-7)


def test_a_step_of_load_on_the_reset_integrator_swings_to_the_reference_peak():
    run = loaded(reset(), lambda t: 0.6 + 0 * t).simulate("40 ms", rtol=1e-12)
    turn = brentq(lambda t: value(run, "body.v", t), 0.02, 0.03, xtol=1e-15)
    assert_allclose(value(run, "friction.p", turn), 7.092330651687701e-5, rtol=0, atol=1e-12)


def test_the_largest_step_that_does_not_break_the_bond_is_the_reference_one():
    for share, breaks in ((1 - 1e-9, False), (1 + 1e-9, True)):
        force = 0.8459842461762468 * share
        run = loaded(reset(), lambda t, u=force: u + 0 * t).simulate("30 ms", rtol=1e-12)
        assert any("reach" in e.description for e in run.events) == breaks


SPRINGS = quantity([4e4, 2e4, 1e4, 5e3], "N/m")


def maxwell(law="maxwell_slip", **more):
    more = {"stiffnesses": SPRINGS, "shares": [0.2, 0.3, 0.3, 0.2], **more}
    return TranslationalFriction(law=law, coulomb_force="1 N", **more)


def along(path, friction):
    """A run at 10 um/s through places (m), and when they are reached."""
    step = np.diff(path)
    times = np.concatenate([[0], np.cumsum(np.abs(step))]) * 1e5

    def speed(t):
        out = np.sign(step[-1]) * 1e-5 + 0 * t
        for k in range(len(step) - 2, -1, -1):
            out = where(t < times[k + 1], np.sign(step[k]) * 1e-5 + 0 * t, out)
        return out

    return moved(friction, speed).simulate(quantity(times[-1], "s"), rtol=1e-11), times


def test_maxwell_slip_follows_its_virgin_curve():
    run, _ = along([0, 5e-5], maxwell())
    x = np.array([2e-6, 1e-5, 2e-5, 5e-5])
    assert_allclose(values(run, ["friction.f"], x / 1e-5)[0], [0.15, 0.55, 0.8, 1.0], rtol=0,
                    atol=1e-10)  # fmt: skip


def test_maxwell_slip_remembers_where_the_motion_turned():
    run, times = along([0, 5e-5, 1e-5, 3e-5, 1e-5, -5e-5], maxwell())
    assert_allclose(values(run, ["friction.f"], times)[0], [0, 1, -0.6, 0.5, -0.6, -1], rtol=0,
                    atol=1e-10)  # fmt: skip
    assert missing_energy(run) < 1e-12


def test_a_maxwell_slip_loop_has_the_reference_area():
    a = 3e-5
    run, times = along([0, a, -a, a, -a, a], maxwell())
    t = np.linspace(times[3], times[5], 120001)
    f, v = values(run, ["friction.f", "friction.v"], t)
    turn = np.diff(t)[0] * 0.5 * 1e-5  # the turns are half a sample wide
    assert_allclose(np.trapezoid(f * v, t), 3.8e-5, rtol=0, atol=4 * turn)


def gms():
    return published("gms", stiffnesses=SPRINGS, shares=[0.25] * 4, attraction="10 N/s")


def test_generalised_maxwell_slip_rises_to_the_stribeck_curve_and_follows_a_step_with_a_lag():
    run = moved(gms(), lambda t: where(t < 10, 1e-4 + 0 * t, 2e-3)).simulate("10.6 s", rtol=1e-12)
    f = values(run, ["friction.f"], np.array([0.1, 0.2, 9.999999, 10.05, 10.1, 10.2, 10.5]))[0]
    assert_allclose(f, [0.723796229219, 1.04755245844, 1.49506491687, 1.30599127748, 1.19032773694,
                        1.07691709145, 1.01338352927], rtol=0, atol=1e-8)
    assert missing_energy(run) < 1e-9


def test_stuck_springs_swing_without_events():
    run = oscillator(x0=1e-5, friction=gms()).simulate("1 s")
    assert np.ptp(np.sign(run["body.v"].m)) == 2 and not run.events


def test_sliders_that_slip_in_turn_go_on_by_explicit_steps():
    model = loaded(TranslationalFriction(law="gms"), lambda t: 60 * sin(6 * t))
    run, implicit = (model.simulate("300 s", method=name) for name in ("auto", "rodas4"))
    assert run.statistics["method"] == "rodas4, then dopri5"
    assert run.statistics["steps"] < 0.6 * implicit.statistics["steps"]


@pytest.mark.parametrize(("n", "part", "breakaway", "end"), [
    *((n, part, *case) for n, part in ((1.0, lambda x: 1 - np.exp(-x)), (2.0, np.tanh))
      for case in ((1.0, 0.1), (1.5, 0.5))),
    (5.0, {1.0: 0.883022424792}.get, 1.0, 0.1)])
def test_the_leuven_law_of_one_spring_follows_its_closed_form(n, part, breakaway, end):
    """g = F_C + (F_G - F_C) exp(-(v/v_s)²) bounds F_h = g (1 - exp(-k v t/g)) of one spring."""
    friction = maxwell("leuven", stiffnesses=["1e4 N/m"], shares=[1.0], exponent=n,
                       breakaway_force=quantity(breakaway, "N"), breakaway_velocity="1 mm/s")
    run = moved(friction, lambda t: 1e-3 + 0 * t).simulate(quantity(end, "s"), rtol=1e-11)
    g = 1 + (breakaway - 1) * np.exp(-1)
    assert_allclose(value(run, "friction.f"), g * part(10 * end / g), rtol=0, atol=1e-8)
