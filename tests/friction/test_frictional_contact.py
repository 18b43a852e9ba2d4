"""Contacts with friction: normal and tangential forces decided together, against closed forms.

The falling rod is Painlevé's (1895): with slope angle a, J = m l^2/3 and slip of sense s,
N (1/m + l^2 cos a (cos a + s mu sin a)/J) = g - l w^2 sin a, which has the wrong sign of the
bracket for s = -1 and mu above (1 + 3 cos^2 a)/(3 sin a cos a).
"""

import numpy as np
import pytest
from benches import few, wired
from benches.friction import happened, times_of, value, values
from benches.rigid_bodies import Box, G, Rod
from numpy.testing import assert_allclose

import blocks
from blocks import Component, Model, SimulationError, Variable, contact, der, quantity, time


def rod(angle, mu, *, slip=0.0, static=None, w=0.0, drop=0.0, fall=0.0, restitution=0.0, **more):
    """A rod of 2 m and 1 kg whose end touches the floor or hangs ``drop`` above it."""
    model, a = Model("rod on the floor"), np.deg2rad(angle)
    model.rod = Rod(
        angle=quantity(angle, "deg"), friction=mu, static_friction=static or mu,
        w=quantity(w, "rad/s"), y=quantity(np.sin(a) + drop, "m"), restitution=restitution,
        vx=quantity(slip - w * np.sin(a), "m/s"), vy=quantity(w * np.cos(a) - fall, "m/s"),
        **more)  # fmt: skip
    return model


def critical(angle):
    a = np.deg2rad(angle)
    return (1 + 3 * np.cos(a) ** 2) / (3 * np.sin(a) * np.cos(a))


def effective(angle, tangent=0.0):
    """Accelerations per force of the end of the rod: normal, mixed, tangential."""
    s, c = np.sin(np.deg2rad(angle)), np.cos(np.deg2rad(angle))
    return 1 + 3 * c * c, 3 * s * c, 1 + 3 * s * s


# -- forces at an instant ------------------------------------------------------------------
@pytest.mark.parametrize("angle, mu", [(60, 0.1), (60, 0.5), (30, 0.2), (75, 1.0)])
@pytest.mark.parametrize("sense", [1, -1])
def test_a_sliding_end_carries_the_force_that_its_own_friction_leaves_it(angle, mu, sense):
    run = rod(angle, mu, slip=2.0 * sense).simulate("10 ms", rtol=1e-10)
    normal, mixed, _ = effective(angle)
    expected = G / (normal + sense * mu * mixed)
    assert_allclose([value(run, "rod.N", 0), value(run, "rod.T", 0)],
                    [expected, sense * mu * expected], rtol=1e-12)  # fmt: skip


class PressedBlock(Component):
    """A block of 1 kg that slides on a floor, and 1 g pressed onto it by 100 N and a stiff leg."""

    z, vz = Variable("m", "1 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
    v, N, T = Variable("m/s", "10 m/s", priority="high"), Variable("N"), Variable("N")

    def equations(self):
        yield der(self.z) == self.vz
        below = self.z - quantity("1 m")
        yield quantity("1 g") * der(self.vz) == (
            self.N - quantity("100 N") - quantity("1e8 N/m") * below)
        yield quantity("1 kg") * der(self.v) == -self.T
        yield contact(self.N, below, restitution=0)
        yield blocks.dry_friction(self.T, self.v, static=0.1 * self.N, kinetic=0.1 * self.N)


class LoweredBlock(PressedBlock):
    def equations(self):
        yield from super().equations()
        yield blocks.when(time > quantity("0.2 s"), blocks.reset(self.z, quantity("0.9999991 m")))


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "Radau"])
@pytest.mark.parametrize("kind, height", [(PressedBlock, "0.9999991 m"), (LoweredBlock, "1 m")])
def test_a_floor_bears_what_presses_on_it_from_the_first_step_on(kind, height, method):
    # 0.9 um below the floor the leg carries 90 N of the 100 N that brake by a tenth
    run = wired("block", block=kind(z=height)).simulate("0.5 s", method=method)
    assert_allclose(value(run, "block.v"), 10.0 - 0.1 * 100.0 * 0.5, rtol=1e-9)
    assert_allclose(value(run, "block.N", 0), 100.0, rtol=1e-9)


@pytest.mark.parametrize("angle", [20, 45, 60, 80])
def test_an_end_at_rest_sticks_exactly_if_its_friction_can_hold_it(angle):
    normal, mixed, tangential = effective(angle)
    n = G / (normal - mixed**2 / tangential)
    t = -mixed / tangential * n  # what keeps the slip at zero
    held = rod(angle, abs(t) / n * 1.001).simulate("1 ms")
    assert_allclose([value(held, "rod.N", 0), value(held, "rod.T", 0)], [n, t], rtol=1e-12)
    assert abs(value(held, "rod.slip")) < 1e-15
    slides = rod(angle, abs(t) / n * 0.999).simulate("1 ms")
    assert value(slides, "rod.slip") < 0
    assert_allclose(value(slides, "rod.T", 0), -0.999 * abs(t) / n * value(slides, "rod.N", 0),
                    rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize("sense", [1, -1])
def test_breakaway_takes_the_static_and_motion_the_kinetic_coefficient(sense):
    # pushed at its centre while the floor holds it: breaks away at |T| = 0.6 N, slides with 0.3 N
    run = rod(90, 0.3, static=0.6, push=lambda t: quantity(4.0 * sense, "N/s") * t).simulate(
        "1.2 s", rtol=1e-10)  # fmt: skip
    ((time, _, what),) = happened(run)
    before = values(run, ["rod.T", "rod.N"], [time - 1e-9])[:, 0]
    after = [value(run, p, time) for p in ("rod.T", "rod.N")]
    assert what == f"slides {'forward' if sense > 0 else 'backward'}"
    assert_allclose(before[0] / before[1], 0.6 * sense, rtol=1e-7)
    assert_allclose(after[0] / after[1], 0.3 * sense, rtol=1e-12)


# -- Painlevé --------------------------------------------------------------------------------
@pytest.mark.parametrize("angle", [50, 63.4349488, 75])
def test_below_the_critical_friction_a_dragged_rod_has_a_force_and_above_it_the_run_stops(angle):
    mu = critical(angle)
    run = rod(angle, 0.99 * mu, slip=-3.0).simulate("1 us")
    assert_allclose(value(run, "rod.N", 0), G / (0.01 * effective(angle)[0]), rtol=1e-10)
    with pytest.raises(SimulationError) as caught:
        rod(angle, 1.01 * mu, slip=-3.0).simulate("1 s")
    error = caught.value
    assert error.code == "simulation.paradox"
    assert (error.time, error.variables, error.where) == (0.0, ("rod.N", "rod.T"), "rod")
    assert "no motion obeys" in str(error)
    assert "friction" in error.advice
    assert error.result.status == "failed"
    rod(angle, 1.01 * mu, slip=3.0).simulate("1 ms")  # pushed instead, it slides


def test_a_rod_that_may_take_off_or_jam_is_refused_for_having_two_motions():
    # rotating fast, it would leave the floor if the floor let it: g < l w^2 sin a
    with pytest.raises(SimulationError, match="several motions obey") as caught:
        rod(60, 1.1 * critical(60), slip=-3.0, w=5.0).simulate("1 s")
    assert caught.value.code == "simulation.paradox"
    assert value(rod(60, 0.9 * critical(60), slip=-3.0, w=5.0).simulate("10 ms"), "rod.gap") > 0


# -- landing -----------------------------------------------------------------------------------
@pytest.mark.parametrize("e", [0.0, 0.4])
@pytest.mark.parametrize("slip, sense", [(5.0, 1), (-3.0, -1), (0.1, 0)])
def test_a_landing_rod_slips_or_sticks_by_coulombs_law_of_impulses(slip, sense, e):
    angle, mu, fall = 60, 0.4, 2.0
    run = rod(angle, mu, slip=slip, drop=1e-3, fall=fall, restitution=e).simulate("1.2 ms",
                                                                                 rtol=1e-11)
    (hit,) = times_of(run, "rebounds", "closes")
    before = [value(run, p, hit, "left") for p in ("rod.vx", "rod.vy", "rod.w", "rod.slip")]
    after = [value(run, p, hit) for p in ("rod.vx", "rod.vy", "rod.w", "rod.slip")]
    normal, mixed, tangential = effective(angle)
    closing = np.sqrt(fall**2 + 2 * G * 1e-3)
    if sense:  # slips throughout: tangential impulse mu P against the slip
        impulse = (1 + e) * closing / (normal + sense * mu * mixed)
        drag = sense * mu * impulse
    else:  # ends sticking
        impulse, drag = np.linalg.solve(
            [[normal, mixed], [mixed, tangential]], [(1 + e) * closing, before[3]])
        assert abs(drag) < mu * impulse
    assert_allclose(after[0] - before[0], -drag, rtol=0, atol=1e-7)
    assert_allclose(after[1] - before[1], impulse, rtol=0, atol=1e-7)
    if not sense:
        assert abs(after[3]) < 1e-12


@pytest.mark.parametrize("mu, e", [(0.0, 0.7), (0.3, 0.7), (1.0, 0.9), (0.5, 1.0), (0.8, 0.0)])
def test_the_energy_of_a_bouncing_and_sliding_rod_never_grows(mu, e):
    run = rod(70, mu, slip=1.0, drop=0.3, w=-1.0, restitution=e).simulate("0.6 s", rtol=1e-10)
    assert times_of(run, "rebounds", "closes")
    times = np.linspace(0, 0.6, 200)
    energy, gap, force = values(run, ["rod.energy_stored", "rod.gap", "rod.N"], times)
    assert np.diff(energy).max() < 1e-8
    assert gap.min() > -1e-9
    assert force.min() >= 0


# -- time stepping -----------------------------------------------------------------------------
@few(1, "more", [
    {"angle": 60, "mu": 0.5, "slip": -3.0}, {"angle": 60, "mu": 0.5, "slip": 1.0},
    {"angle": 60, "mu": 0.5, "slip": 1.0, "drop": 0.05}])  # fmt: skip
def test_time_stepping_comes_to_the_same_motion_of_the_rod(more):
    exact = rod(**more).simulate("0.15 s", rtol=1e-10)
    paths = ["rod.angle", "rod.vx", "rod.vy"]
    end = [value(exact, p) for p in paths]
    errors = []
    for step in (2e-3, 2e-4):
        run = rod(**more).simulate("0.15 s", method="moreau_jean", step=quantity(step, "s"))
        errors.append(np.abs([value(run, p) for p in paths] - np.array(end)).max())
    # landing within a step costs up to the weight over that step, wherever in it that is
    assert errors[0] < G * 2e-3
    assert errors[1] < G * 2e-4
    if "drop" not in more:
        assert errors[1] < 0.15 * errors[0]  # first order


def test_a_dragged_rod_that_tips_towards_the_paradox_leaves_the_floor_before_it():
    # Genot and Brogliato (1999): the normal force vanishes before its coefficient does
    mu, model = 1.4, rod(40, 1.4, slip=-20.0, w=1.0)
    run = model.simulate("0.2 s", rtol=1e-10)
    ((time, _, what),) = happened(run)
    assert what == "opens"
    angle = np.rad2deg(value(run, "rod.angle", time))
    assert mu < critical(angle)
    assert_allclose(value(run, "rod.w", time) ** 2 * np.sin(np.deg2rad(angle)), G, rtol=1e-7)
    assert value(run, "rod.gap") > 0
    assert mu > critical(np.rad2deg(value(run, "rod.angle", time + 0.02)))


@pytest.mark.parametrize("method", ["auto", "moreau_jean"])
def test_every_method_refuses_a_rod_that_jams(method):
    more = {"step": "1 ms"} if method == "moreau_jean" else {}
    with pytest.raises(SimulationError) as caught:
        rod(60, 2.0, slip=-3.0).simulate("1 s", method=method, **more)
    assert caught.value.code == "simulation.paradox"


# -- two feet: forces that are not determined ------------------------------------------------
def ramp(newtons_per_second):
    return lambda t: quantity(newtons_per_second, "N/s") * t


def test_a_block_on_two_feet_breaks_away_when_no_split_can_hold_it():
    model = wired("block", box=Box(push=ramp(6.0)))  # 2 kg, mu = 0.5
    run = model.simulate("3 s", rtol=1e-9)
    weight = 2 * G
    assert_allclose(times_of(run, "slides"), [weight / 2 / 6] * 2, rtol=0, atol=1e-9)
    # pushed at the centre, h = 0.5 m up: the front foot carries push h/(2 a) more
    t = np.array([0.0, 0.7, 1.6, 1.64, 2.5])
    n1, n2, t1, t2 = values(run, ["box.N1", "box.N2", "box.T1", "box.T2"], t)
    drag = np.where(t < weight / 12, 6 * t, weight / 2)
    assert_allclose(n1 + n2, weight, rtol=1e-12)
    assert_allclose((n2 - n1) / 2, drag * 0.25, rtol=0, atol=1e-9)
    assert_allclose(t1 + t2, drag, rtol=0, atol=1e-9)
    assert np.all(np.abs(t1) <= 0.5 * n1 + 1e-9)
    assert np.all(np.abs(t2) <= 0.5 * n2 + 1e-9)
    assert_allclose([t1[0], t2[0]], 0, atol=1e-12)  # none where none is needed
    (shared,) = run.sticking().undetermined
    assert shared.components == ("box.N1", "box.T1", "box.N2", "box.T2")


def test_a_block_that_does_not_slip_tips_over_its_front_foot():
    model = Model("block")
    model.box = Box(push=ramp(6.0), friction=3.0, static_friction=3.0, h="1.5 m", y="1.5 m")
    run = model.simulate("2.5 s", rtol=1e-9)
    time, _, what = happened(run)[0]
    assert what == "opens (N1)"
    assert_allclose(time, 2 * G * 1.0 / 1.5 / 6, rtol=0, atol=1e-9)
    assert value(run, "box.w") < 0


@pytest.mark.parametrize("phi, e", [(0.0, 0.0), (0.3, 0.0), (0.0, 0.3), (0.3, 0.2)])
def test_a_block_that_falls_on_its_feet_comes_to_rest_and_never_gains_energy(phi, e):
    model = wired("block", box=Box(y="1 m", vx="1 m/s", phi=quantity(phi, "rad"), restitution=e))
    run = model.simulate("2 s", rtol=1e-9)
    energy, *rest = values(run, [f"box.{v}" for v in ("energy_stored", "gap1", "gap2", "N1", "N2")],
                           np.linspace(0, 2, 400))  # fmt: skip
    assert np.diff(energy).max() < 1e-8
    assert np.min(rest) > -1e-9
    assert_allclose([value(run, f"box.{v}") for v in ("vx", "vy", "w", "gap1", "gap2")], 0,
                    atol=1e-9)  # fmt: skip
    assert_allclose(energy[-1], 2 * G * 0.5, rtol=1e-9)


def test_a_flat_landing_shares_the_impulse_and_brakes_by_it():
    # both feet at once: impulses m v/2 each, friction mu m v in all, no rotation for h = 0
    run = wired("block", box=Box(y="0.2 m", vx="3 m/s", h="0 m")).simulate("0.3 s", rtol=1e-10)
    fall = np.sqrt(2 * G * 0.2)
    hit = np.sqrt(2 * 0.2 / G)
    assert_allclose(times_of(run, "closes"), [hit, hit], rtol=0, atol=1e-10)
    assert_allclose(value(run, "box.vx", hit + 1e-9), 3 - 0.5 * fall, rtol=0, atol=1e-7)
    assert_allclose(value(run, "box.vx"), 3 - 0.5 * fall - 0.5 * G * (0.3 - hit), rtol=0, atol=1e-9)
    assert abs(value(run, "box.w")) < 1e-14


@pytest.mark.parametrize("h", [0.5, 1.0, 1.5])
def test_a_rocking_block_loses_at_each_step_what_housner_says(h):
    # no slip, no bounce: angular momentum about the new foot is kept (Housner 1963)
    a, m, inertia, tilt = 0.5, 2.0, 1.0, 0.05
    s, c = np.sin(tilt), np.cos(tilt)
    model = Model("rocking")
    model.box = Box(a=quantity(a, "m"), h=quantity(h, "m"), inertia=quantity(inertia, "kg*m^2"),
                    friction=3.0, static_friction=3.0, phi=quantity(tilt, "rad"),
                    x=quantity(a * c - h * s, "m"), y=quantity(a * s + h * c, "m"))  # fmt: skip
    run = model.simulate("1 s", rtol=1e-10)
    hit = times_of(run, "closes")[0]
    before, after = (values(run, ["box.w"], [hit + d])[0, 0] for d in (-1e-9, 1e-9))
    radius = a * a + h * h
    ratio = (inertia + m * (h * h - a * a)) / (inertia + m * radius)
    assert_allclose(after / before, ratio, rtol=0, atol=1e-6)
    # the fall onto the floor keeps energy about the first foot
    fall = m * G * (a * s + h * c - h)
    assert_allclose((inertia + m * radius) * before**2 / 2, fall, rtol=1e-6)


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_a_block_rests_on_both_feet_by_an_implicit_method(rtol):
    """What is left to Python there has slopes that are rounding, and must not stop for it."""
    model = wired("block", box=Box(y="1 m", vx="1 m/s", phi=quantity(0.3, "rad"), restitution=0.0))
    run = model.simulate("2 s", rtol=rtol, method="rodas4")
    assert abs(run["box.vx"].final.m) < 1e-12
    assert abs(run["box.phi"].final.m) < 1e-5
