"""Gears with losses in a row: one motion, and powers of the ratio between its ends.

By hand: shafts turn as w_i = w_0 / R_i, and each gear asks at its input for what it gives at its
output, divided by its ratio and by the efficiency if power flows forward, times it if backward. So
the torque that shaft 0 needs for an acceleration follows from the last shaft to the first.
"""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import library.mechanisms as me
import library.rotational as ro
from blocks import Target, cos, quantity, sin
from library.translational import Mass

J = 0.01  # kg*m^2
DRIVE, LOAD = 1.0, 0.3  # N*m


def train(ratios, efficiencies, *, drive=None, load=None, brake=0.0, at=0, everywhere=True):
    """Gears in a row, inertia at every shaft or only at both ends, a brake at one shaft."""
    n, model = len(ratios), wired("train", ground=ro.RotationalReference())
    shafts = [f"j{i}.I" if everywhere or i in (0, n) else "" for i in range(n + 1)]
    wire(model, **{f"j{i}": ro.Inertia(inertia=quantity(J, "kg*m^2"))
                   for i, port in enumerate(shafts) if port})
    for i, (ratio, (forward, backward)) in enumerate(zip(ratios, efficiencies, strict=True)):
        wire(model, **{f"g{i}": me.LossyGear(ratio=ratio, forward_efficiency=forward,
                                             backward_efficiency=backward)})
        shafts[i] += f" g{i}.S"
        shafts[i + 1] += f" g{i}.O"
    for name, shaft, torque in (("drive", 0, drive), ("load", n, load)):
        if torque is not None:
            wire(model, f"{name}.C ground.W", **{name: ro.TorqueSource(torque=torque)})
            shafts[shaft] += f" {name}.R"
    if brake:
        wire(model, "brake.C ground.W", brake=ro.RotationalFriction(
            law="coulomb", coulomb_torque=quantity(brake, "N*m"),
            breakaway_torque=quantity(brake, "N*m")))
        shafts[at] += " brake.R"
    wire(model, *shafts)
    return model


def needed(a, ratios, efficiencies, *, load=0.0, brake=0.0, at=0, everywhere=True):
    """The torque on shaft 0 for an acceleration ``a`` while all turns forward."""
    turns, n = np.append(1.0, np.cumprod(ratios)), len(ratios)
    out = -load
    for i in range(n, -1, -1):
        inertia = J if everywhere or i in (0, n) else 0.0
        out += inertia * a / turns[i] + (brake if i == at else 0.0)
        if i:
            y, (forward, backward) = out / ratios[i - 1], efficiencies[i - 1]
            out = y / forward if y > 0 else y * backward
    return out


def acceleration(torque, *arguments, **options):
    """That of shaft 0."""
    return brentq(lambda a: needed(a, *arguments, **options) - torque, 0.0, 2 * torque / J,
                  xtol=1e-300, rtol=1e-14)


TRAINS = [(1, 5.0, True), (2, 5.0, False), (5, 5.0, False), (10, 5.0, True), (10, 5.0, False),
          (20, 5.0, False), (20, 1.3, True), (10, 0.2, False), (8, 12.0, True)]


def cases(quick, *more):
    """Those that are tried by default, and all others with one more choice."""
    others = ((*train, one) for train in TRAINS for one in more if (*train, one) not in quick)
    return [*quick, *(pytest.param(*case, marks=pytest.mark.slow) for case in others)]


@few(1, "n, ratio, everywhere, end", cases([
    (1, 5.0, True, "first"), (5, 5.0, False, "first"), (10, 0.2, False, "first"),
    (2, 5.0, False, "last"), (8, 12.0, True, "last")], "first", "last"))
def test_a_train_breaks_away_where_its_brake_gives_way_and_runs_on_by_hand(
        n, ratio, everywhere, end):
    """The brake holds 0.3 N m of a torque of 1 N m/s, at either end."""
    ratios, efficiencies, at = [ratio] * n, [(0.9, 0.8)] * n, 0 if end == "first" else n
    brake = LOAD * (1.0 if at == 0 else (0.9 * ratio) ** n)
    run = train(ratios, efficiencies, drive=lambda t: quantity(DRIVE, "N*m/s") * t, brake=brake,
                at=at, everywhere=everywhere).simulate("1 s", rtol=1e-9, progress=False)
    away = [e for e in run.events if e.component == "brake"]
    assert [e.description for e in away] == ["slides forward"]
    assert away[0].time == pytest.approx(LOAD, rel=1e-12)
    # acceleration in proportion to what the torque exceeds the brake by
    fast = acceleration(1.0, ratios, efficiencies, everywhere=everywhere)
    assert_allclose(run["j0.w"].final.m, fast * (1 - LOAD) ** 2 / 2, rtol=1e-8)


@few(1, "n, ratio, everywhere, method", cases([
    (1, 5.0, True, "DOP853"), (5, 5.0, False, "auto"), (10, 0.2, False, "DOP853"),
    (8, 12.0, True, "auto"), (20, 5.0, False, "DOP853")], "auto", "DOP853"))
def test_a_train_starts_under_a_constant_torque_whatever_its_ratios(n, ratio, everywhere, method):
    ratios, efficiencies = [ratio] * n, [(0.9, 0.8)] * n
    run = train(ratios, efficiencies, drive=quantity(DRIVE, "N*m"), everywhere=everywhere
                ).simulate("1 s", method=method, progress=False)
    fast = acceleration(DRIVE, ratios, efficiencies, everywhere=everywhere)
    assert_allclose(run["j0.w"].final.m, fast, rtol=1e-9)
    assert not list(run.events)


@pytest.mark.parametrize("n, ratio", [(5, 5.0), *(
    pytest.param(*long, marks=pytest.mark.slow) for long in ((10, 5.0), (20, 1.3)))])
def test_an_overhauling_load_drives_a_train_backward_and_a_worm_within_holds_it(n, ratio):
    """A load pulls by sin(6 t) against a torque of 0.3 N m: sticks where both meet."""
    turns, back = ratio**n, 0.8**n
    pull = turns / back  # worth 1 N m at the first shaft where it drives
    model = train([ratio] * n, [(0.9, 0.8)] * n, load=lambda t: quantity(-pull, "N*m") * sin(
        quantity("6 rad/s") * t), brake=LOAD)
    run = model.simulate("0.2 s", rtol=1e-9, progress=False)
    (away,) = (e for e in run.events if e.component == "brake")
    assert away.time == pytest.approx(np.arcsin(LOAD) / 6, rel=1e-9)
    assert away.description == "slides backward"
    worm = train([ratio] * n, [(0.9, 0.8)] * (n - 1) + [(0.5, 1e-9)], load=quantity(-1.0, "N*m"),
                 brake=1e-3, everywhere=False)
    assert worm.simulate("1 s", progress=False)["j0.w"].final.m == 0.0


def test_many_gears_that_each_lose_half_are_no_jam():
    """What is left of a torque behind twenty of them is a millionth."""
    n = 20
    ratios, efficiencies = [-2.0] * n, [(0.5, 0.6)] * n
    run = train(ratios, efficiencies, drive=quantity(DRIVE, "N*m"), everywhere=False).simulate(
        "1 s", progress=False)
    left = J / 4.0**n / 0.5**n  # of the last inertia, seen from the first shaft
    assert_allclose(run["j0.w"].final.m, DRIVE / (J + left), rtol=1e-9)


def test_gears_without_losses_follow_a_brake():
    """They have no strength of their own, and hold nothing."""
    run = train([-2.0] * 3, [(1.0, 1.0)] * 3, drive=lambda t: quantity(DRIVE, "N*m/s") * t,
                brake=2.4, at=3).simulate("1 s", rtol=1e-9, progress=False)
    (away,) = (e for e in run.events if e.component == "brake")
    assert away.time == pytest.approx(0.3, rel=1e-12)
    inertia = J * sum(4.0**-i for i in range(4))
    assert_allclose(run["j0.w"].final.m, 0.7**2 / 2 / inertia, rtol=1e-8)


def test_what_rests_in_a_train_takes_the_same_share_of_its_range():
    """A brake of 0.3 N m and a gear of efficiency 0.5 hold 0.4 N m, behind it a brake of 0.2 N m.

    With s from -1 to 1: 0.3 s at the first shaft, 0.2 s at the other, and at the gear, which has no
    range of its own, a loss within what it may take, between -1 and 0.5 of what is behind it.
    """
    model = train([1.0], [(0.5, 0.5)], drive=quantity(0.4, "N*m"), brake=0.3)
    wire(model, "far.R j1.I", "far.C ground.W", far=ro.RotationalFriction(
        law="coulomb", coulomb_torque="0.2 N*m", breakaway_torque="0.2 N*m"))
    run = model.simulate("0.1 s", progress=False)
    first, far, loss = (run[name].final.m for name in ("brake.t", "far.t", "g0.loss"))
    taken = far + loss
    low, high = sorted((0.5 * taken, -1.0 * taken))
    assert first + taken == pytest.approx(0.4, rel=1e-12)
    assert first / 0.3 == pytest.approx(far / 0.2, rel=1e-9)
    assert low * (1 + 1e-12) <= loss <= high * (1 + 1e-12)


def test_many_gears_apart_from_each_other_are_solved_for_in_machine_code():
    """Each gear moves its own load, by hand: what each loses is no jam of all together."""
    n, out = 26, 0.02
    rng = np.random.default_rng(n)
    torque, ratio, forward = rng.uniform(1, 2, n), rng.uniform(1, 4, n), 0.6
    model = wired("gears", "drive.R motor.I gear.S", "gear.O load.I", "drive.C ground.W",
                  ground=ro.RotationalReference(),
                  motor=ro.Inertia(count=n, inertia=quantity(J, "kg*m^2")),
                  load=ro.Inertia(count=n, inertia=quantity(out, "kg*m^2")),
                  gear=me.LossyGear(count=n, ratio=ratio, forward_efficiency=forward,
                                    backward_efficiency=0.5),
                  drive=ro.TorqueSource(count=n, torque=quantity(torque, "N*m")))
    run = model.simulate("1 s", method="dopri5", progress=False)
    assert_allclose(run["motor.w"].final.m, torque / (J + out / (ratio**2 * forward)), rtol=1e-9)
    assert not list(run.events)


def test_gears_between_springs_start_from_rest_one_after_the_other():
    """Far from the torque there is next to no motion at first, 1e-60 rad/s and less of it.

    By hand, while all go forward: J a (1 + 1/(r^2 e)) = torque of the spring before, less that of
    the spring behind divided by r e.
    """
    n, ratio, forward, stiffness, end = 8, 1.3, 0.9, 5.0, 0.15
    model = wired("springs", "j[::2].I g.S", "j[1::2].I g.O", "j[1:-1:2].I s.R", "j[2::2].I s.C",
                  "drive.R j[0].I", "drive.C ground.W", ground=ro.RotationalReference(),
                  j=ro.Inertia(count=2 * n, inertia=quantity(J, "kg*m^2")),
                  g=me.LossyGear(count=n, ratio=ratio, forward_efficiency=forward,
                                 backward_efficiency=0.8),
                  s=ro.RotationalSpring(count=n - 1, stiffness=quantity(stiffness, "N*m/rad")),
                  drive=ro.TorqueSource(torque=quantity(DRIVE, "N*m")))
    run = model.simulate(quantity(end, "s"), rtol=1e-9, progress=False)

    keeps = ratio * forward
    pushes = stiffness * (np.eye(n, k=-1) / ratio - np.diag(np.arange(n) > 0).astype(float))
    asks = stiffness * (np.diag(np.arange(n) < n - 1) / ratio - np.eye(n, k=1)) / keeps
    by_angle = (pushes - asks) / (J * (1 + 1 / (ratio * keeps)))
    first = np.zeros((2 * n + 1, 2 * n + 1))
    first[:n, n : 2 * n], first[n : 2 * n, :n] = np.eye(n), by_angle
    first[n, -1] = DRIVE / (J * (1 + 1 / (ratio * keeps)))
    start = np.append(np.zeros(2 * n), 1.0)
    speeds = [(expm(first * t) @ start)[n:-1] for t in np.linspace(0, end, 31)[1:]]
    assert np.min(speeds) > 0
    assert_allclose(run["j.w"].final.m[::2], speeds[-1], rtol=1e-7, atol=1e-10)
    assert len(run.events) < 10 * n  # some to and fro where there is no motion yet


def swing(t, y, way, stiffness):
    """Speed and acceleration of a gear's input whose output of twice J winds a spring."""
    ratio, bearing, laws = 2.0, 0.02, (1 - 0.8, 1 - 1 / 0.7)
    found = []
    for share in laws:  # t_S = -J a; 2 J a / ratio = -stiffness y / ratio + ratio (t_S - loss)
        keeps = ratio * (1 - share)
        found.append(-(stiffness * y[0] / ratio + ratio * way * bearing)
                     / (2 * J / ratio + keeps * J))
    at_input = -J * np.array(found)
    larger = [int(np.argmax([way * share * torque for share in laws])) for torque in at_input]
    (k,) = {k for k in (0, 1) if larger[k] == k}
    return [y[1], found[k]]


def test_gears_that_turn_round_again_and_again_do_so_in_machine_code():
    """Each swings on its own spring until its bearing holds it; by hand, swing by swing."""
    stiffness, wound = np.array([3.0, 5.0, 8.0]), 0.5
    model = wired(
        "swings", "motor.I gear.S", "gear.O load.I spring.R", "spring.C ground.W",
        ground=ro.RotationalReference(), motor=ro.Inertia(count=3, inertia=quantity(J, "kg*m^2")),
        load=ro.Inertia(count=3, inertia=quantity(2 * J, "kg*m^2")),
        gear=me.LossyGear(count=3, ratio=2.0, forward_efficiency=0.8, backward_efficiency=0.7,
                          forward_bearing_torque="0.02 N*m", backward_bearing_torque="0.02 N*m"),
        spring=ro.RotationalSpring(count=3, stiffness=quantity(stiffness, "N*m/rad"),
                                   phi=quantity(wound / 2.0, "rad")))
    run = model.simulate("3 s", method="dopri5", rtol=1e-10, progress=False)
    assert run.statistics.get("stretches in Python", 0) <= 1
    assert run.energy().relative_residual < 1e-8

    def turned(t, y, way, c):
        return way * y[1] if t > 0 else 1.0

    turned.terminal, turned.direction = True, -1
    for k, c in enumerate(stiffness):
        y, t, times = np.array([wound, 0.0]), 0.0, []
        while abs(c * y[0] / 2.0) > 2.0 * 0.02:  # more than the bearing holds, at no acceleration
            swung = solve_ivp(swing, (0, 3.0), y, args=(-np.sign(y[0]), c), events=turned,
                              rtol=1e-10, atol=1e-12, method="DOP853")
            y, t = np.array([swung.y[0, -1], 0.0]), t + swung.t[-1]
            times.append(t)
        found = [e.time for e in run.events.of(f"gear[{k}]")]
        assert len(times) > 3
        assert_allclose(found, times, rtol=1e-7)
        assert_allclose(run[f"spring[{k}].phi"].final.m, y[0] / 2.0, rtol=0, atol=1e-8)


# -- random drivetrains lose no energy unaccounted for, and no momentum where they are free --------
def couplings(chance):
    """Makers of parts between two inertias, with their two ports."""
    def number(low, high, unit=""):
        return quantity(float(chance.uniform(low, high)), unit)

    return [
        lambda: (ro.RotationalSpringDamper(stiffness=number(50, 200, "N*m/rad"),
                                           damping=number(0.1, 2, "N*m*s/rad")), "R", "C"),
        lambda: (ro.ElastoBacklash(stiffness=number(200, 900, "N*m/rad"), backlash="0.05 rad",
                                   damping=number(0.5, 3, "N*m*s/rad")), "R", "C"),
        lambda: (me.GearBox(ratio=number(-3, -0.5) if chance.random() < 0.5 else number(0.5, 3)),
                 "S", "O"),
        lambda: (me.DiscClutch(surfaces=2, normal_force=number(1, 20, "N")), "R", "C"),
        lambda: (me.TorqueLimiter(limit=number(3, 5, "N*m"), slip_torque=number(1, 3, "N*m")),
                 "R", "C"), lambda: (me.OneWayClutch(drag_torque=number(0, 0.5, "N*m")), "R", "C"),
        lambda: (me.LossyGear(ratio=number(-2, -0.5), forward_efficiency=number(0.5, 0.95),
                              backward_efficiency=number(0.5, 0.95),
                              forward_bearing_torque=number(0, 0.3, "N*m"),
                              backward_bearing_torque=number(0, 0.3, "N*m")), "S", "O")]


def random_drivetrain(seed, size=8):
    """A tree of inertias, some of them braked, shaken at two places."""
    chance = np.random.default_rng(seed)
    model = wired("drivetrain", ground=ro.RotationalReference())
    kinds = couplings(chance)
    for i in range(size):
        wire(model, **{f"j{i}": ro.Inertia(inertia=quantity(chance.uniform(0.2, 2), "kg*m^2"),
                                           w=Target("0 rad/s"))})
        if i:
            above = int(chance.integers(max(0, i - 3), i))
            part, left, right = kinds[int(chance.integers(0, len(kinds)))]()
            wire(model, f"c{i}.{left} j{above}.I", f"c{i}.{right} j{i}.I", **{f"c{i}": part})
    for i, k in enumerate(chance.choice(size, 2, replace=False)):
        amplitude, angular = chance.uniform(5, 30), chance.uniform(1, 4)
        wire(model, f"t{i}.R j{k}.I", f"t{i}.C ground.W", **{f"t{i}": ro.TorqueSource(
            torque=lambda t, a=amplitude, w=angular: quantity(a, "N*m")
            * cos(quantity(w, "rad/s") * t))})  # fmt: skip
    wire(model, "brake.R j0.I", f"bearing.R j{size - 1}.I", "brake.C bearing.C ground.W",
         brake=me.DiscBrake(normal_force=quantity(chance.uniform(1, 10), "N")),
         bearing=ro.BearingFriction(torques=["0.3 N*m", "0.4 N*m"], peak=1.2))
    return model


@few(2, "seed", range(8))
def test_a_random_drivetrain_accounts_for_all_its_energy(seed):
    run = random_drivetrain(seed).simulate("2 s", rtol=1e-11, method="DOP853")
    energy = run.energy()
    assert energy.throughput.to("J").magnitude > 1
    assert energy.relative_residual < 1e-9, energy
    for term in energy:
        assert term.dissipated >= -1e-12
    assert run.events, "nothing slipped"


def test_a_car_with_a_planetary_gear_coasts_with_the_reflected_mass():
    model = wired("car", "drive.R motor.I gear.S", "gear.R ground.W drive.C", "gear.C wheel.A",
                  "wheel.H body.M", motor=ro.Inertia(inertia="0.05 kg*m^2"),
                  ground=ro.RotationalReference(), gear=me.PlanetaryGear(ratio=2),
                  wheel=me.RollingWheel(radius="0.25 m"), drive=ro.TorqueSource(torque="90 N*m"),
                  body=Mass(mass="800 kg", v=Target("0 m/s", priority="low")))
    run = model.simulate("4 s", rtol=1e-11, method="DOP853")
    reduction = 3 / 0.25  # rad of the motor per metre
    assert_allclose(run["body.v"].final.to("m/s").magnitude,
                    4 * 90 * reduction / (800 + 0.05 * reduction**2), rtol=1e-10)  # fmt: skip
    assert run.energy().relative_residual < 1e-9
