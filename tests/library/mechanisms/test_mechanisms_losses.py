"""Lossy gears and lead screws: efficiency, sticking and self-locking."""

import numpy as np
import pytest
from benches import few, seconds, values, wire, wired
from benches.mechanisms import TIGHT, loaded
from numpy.testing import assert_allclose

import library.rotational as ro
from blocks import BlocksError, ParameterError, maximum, quantity
from blocks.nonsmooth.modes import bound_functions
from library.mechanisms import LeadScrew, LossyGear
from library.translational import ForceSource, Reference, TranslationalFriction

GEAR = {"ratio": 3, "forward_efficiency": 0.8, "backward_efficiency": 0.6}
TORQUES = quantity([0.5, 2.5], "N*m")
BEARING = {"law": "table", "speeds": quantity([0, 10], "rad/s"), "forward_efficiencies": [1, 1],
           "backward_efficiencies": [1, 1], "forward_bearing_torques": TORQUES,
           "backward_bearing_torques": TORQUES}  # fmt: skip


@pytest.mark.parametrize("sense", [1, -1])
def test_a_driving_side_loses_its_mesh_efficiency(sense):
    run = loaded(LossyGear(**GEAR), "SO", sizes=[2, 9], drives=[sense * 5, 0]).simulate(
        "1 s", **TIGHT)
    fast = 5 / (2 + 9 / 9 / 0.8)  # rad/s² of the input
    assert_allclose(values(run, "body_S.w", "rad/s", [1.0]), sense * fast, rtol=1e-10)
    assert_allclose(values(run, "body_O.w", "rad/s", [1.0]), sense * fast / 3, rtol=1e-10)
    assert_allclose(values(run, "part.O.t", "N*m"), -0.8 * 3 * values(run, "part.S.t", "N*m"),
                    rtol=1e-9)
    run = loaded(LossyGear(**GEAR), "SO", sizes=[2, 9], drives=[0, sense * 5]).simulate(
        "1 s", **TIGHT)
    slow = 5 / (9 + 2 * 9 / 0.6)  # rad/s² of the output
    assert_allclose(values(run, "body_O.w", "rad/s", [1.0]), sense * slow, rtol=1e-10)
    # what enters at O leaves at S, less the loss
    power_in, power_out = (values(run, f"part.{port}.t", "N*m") * values(run, f"part.{port}.w",
                                                                         "rad/s") for port in "OS")
    assert_allclose(-power_out, 0.6 * power_in, rtol=1e-9, atol=1e-15)


def test_bearing_friction_follows_its_table_and_holds_at_rest():
    model = loaded(LossyGear(ratio=3, **BEARING), "SO", sizes=[1, 9])
    model.drive_S.torque = lambda t: quantity("0.25 N*m/s") * t
    run = model.simulate("6 s", **TIGHT)
    (event,) = run.events.of("part")
    assert event.time == pytest.approx(2.0, rel=1e-11)
    assert event.description == "slides forward"
    assert_allclose(values(run, "body_S.w", "rad/s", [1.0, 1.9]), 0.0, atol=0)
    w = values(run, "part.w", "rad/s")
    moving = seconds(run) > 2
    assert_allclose(values(run, "part.loss", "N*m")[moving], 0.5 + 0.2 * w[moving], rtol=1e-10)
    # 2 dw/dt = 0.25 s - 0.2 w with s = t - 2:  w = 1.25 (s - 10 (1 - exp(-s/10)))
    s = 4.0
    exact = 1.25 * (s - 10 * (1 - np.exp(-s / 10)))
    assert_allclose(values(run, "body_S.w", "rad/s", [6.0]), exact, rtol=1e-9)


def test_a_gear_with_bearing_friction_runs_out_and_stays():
    gear = LossyGear(ratio=1, forward_efficiency=1, backward_efficiency=1,
                     forward_bearing_torque="0.5 N*m", backward_bearing_torque="0.5 N*m")
    model = loaded(gear, "SO", sizes=[1, 1], drives=[0, 0.2])
    model.body_S.w, model.body_O.w = "-3 rad/s", "-3 rad/s"
    run = model.simulate("20 s", **TIGHT)
    stop = 3 / ((0.5 + 0.2) / 2)
    assert_allclose(values(run, "body_S.w", "rad/s", [stop / 2]), -1.5, rtol=1e-9)
    assert_allclose(values(run, "body_S.w", "rad/s", [stop + 1e-6, 15, 20]), 0.0, atol=1e-12)
    assert_allclose(values(run, "part.loss", "N*m", [15.0]), 0.2, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


@pytest.mark.parametrize("sense", [1, -1])
def test_losses_from_a_table_follow_the_speed_and_the_driving_side(sense):
    gear = LossyGear(ratio=2, law="table", speeds=quantity([0, 4, 8], "rad/s"),
                     forward_efficiencies=[0.5, 0.7, 0.9], backward_efficiencies=[0.4, 0.6, 0.8],
                     forward_bearing_torques=quantity([1, 0.5, 0.1], "N*m"),
                     backward_bearing_torques=quantity([2, 1, 0.2], "N*m"))
    model = loaded(gear, "SO", sizes=[1, 4], drives=[sense * 20, 0])
    model.drive_S.torque = lambda t: quantity(sense * 20, "N*m") - quantity(sense * 20, "N*m/s") * t
    run = model.simulate("1.5 s", **TIGHT)
    w, t = sense * values(run, "part.w", "rad/s"), sense * values(run, "part.S.t", "N*m")
    loss = sense * values(run, "part.loss", "N*m")
    sliding = w > 1e-9
    w, t, loss = w[sliding], t[sliding], loss[sliding]
    by_input = (1 - np.interp(w, [0, 4, 8], [0.5, 0.7, 0.9])) * t
    by_input += np.interp(w, [0, 4, 8], [1, 0.5, 0.1])
    by_output = (1 - 1 / np.interp(w, [0, 4, 8], [0.4, 0.6, 0.8])) * t
    by_output += np.interp(w, [0, 4, 8], [2, 1, 0.2])
    assert w.max() < 8
    assert np.any(by_input > by_output + 0.1)
    assert np.any(by_output > by_input + 0.1)
    assert_allclose(loss, np.maximum(by_input, by_output), rtol=1e-9)
    # 20 (1 - t) = dw/dt + t_S and t_S - loss = 4/4 dw/dt: power is lost, never gained
    assert np.all(loss > 0)


def test_bearing_torques_that_fall_in_their_table_are_never_below_zero_beyond_it():
    falling = quantity([2, 1], "N*m")
    gear = LossyGear(ratio=1, **BEARING | {"forward_bearing_torques": falling,
                                           "backward_bearing_torques": falling})
    model = loaded(gear, "SO", sizes=[1, 1], drives=[-2, 0])
    model.body_S.w, model.body_O.w = "30 rad/s", "30 rad/s"
    run = model.simulate("20 s", **TIGHT)
    t = seconds(run)  # 2 N m - w/10 below 20 rad/s, which are reached at 10 s
    assert_allclose(values(run, "part.w", "rad/s"),
                    np.where(t < 10, 30 - t, 40 - 20 * np.exp((t - 10) / 20)), atol=1e-8)


@pytest.mark.parametrize(("part", "ports", "words"), [
    (LossyGear(ratio=0), "SO", ["part", "ratio is 0"]),
    (LossyGear(law="table", speeds=["1 rad/s", "0 rad/s"]), "SO", ["part", "speeds", "increasing"]),
    (LossyGear(law="table", speeds=["1 rad/s", "5 rad/s"]), "SO",
     ["part", "speeds starts at 1", "must be 0 rad/s"]),
    (LeadScrew(friction=5.0, lead="50 mm"), "SN", ["part", "friction is 5", "steep"])])
def test_impossible_losses_are_refused_in_words(part, ports, words):
    with pytest.raises(BlocksError) as error:
        loaded(part, ports).simulate("1 s")
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("name", ["forward_efficiency", "backward_efficiency"])
def test_an_efficiency_outside_0_to_1_is_refused_by_name(name):
    for value in (0.0, 1.2, -0.5):
        with pytest.raises(ParameterError, match=name):
            LossyGear(**{name: value})


# -- lead screws ----------------------------------------------------------------------------
# Shigley's Mechanical Engineering Design, 9th ed., example 8-1: square thread, two starts,
# pitch 4 mm, mean diameter 30 mm, friction 0.08, load 6.4 kN; torques without the collar
SHIGLEY = {"lead": "8 mm", "diameter": "30 mm", "friction": 0.08}
RAISE, LOWER = 15.94, -0.466


@pytest.mark.parametrize(("speed", "torque"), [(1.0, RAISE), (-1.0, -LOWER)])
def test_a_screw_needs_the_textbook_torque_to_raise_and_to_lower_its_load(speed, torque):
    model = wired("jack", "drive.R screw.S", "drive.C ground.W", "screw.N load.R", "load.C wall.V",
                  screw=LeadScrew(**SHIGLEY), load=ForceSource(force="-6.4 kN"),
                  drive=ro.AngularVelocitySource(velocity=quantity(speed, "rad/s")),
                  ground=ro.RotationalReference(), wall=Reference())
    run = model.simulate("1 s")
    assert_allclose(values(run, "screw.S.t", "N*m"), torque, atol=0.006 if torque > 1 else 6e-4)
    assert_allclose(values(run, "screw.N.v", "mm/s"), speed * 8 / (2 * np.pi), rtol=1e-12)


def push(force, **parameters):
    """A force on the nut; the screw has 1e-3 kg m², the nut 10 kg."""
    return loaded(LeadScrew(**parameters), "SN", sizes=[1e-3, 10], drives=[0, force])


@pytest.mark.parametrize("force", [1000.0, -1000.0])
def test_a_screw_is_turned_by_its_load_where_it_is_slippery_and_locks_itself_elsewhere(force):
    run = push(force, lead="5 mm", diameter="20 mm", friction=0.1).simulate("1 s", **TIGHT)
    assert_allclose(values(run, "body_S.w", "rad/s"), 0.0, atol=0)
    assert_allclose(values(run, "part.N.f", "N"), force, rtol=1e-12)
    run = push(force, lead="5 mm", diameter="20 mm", friction=0.05).simulate("0.1 s", **TIGHT)
    slope, per_turn = 5 / (20 * np.pi), 5e-3 / (2 * np.pi)
    arm = 0.01 * (slope - 0.05) / (1 + slope * 0.05)  # torque per force on the nut
    # 1e-3 a = arm (force - 10 per_turn a)
    a = arm * force / (1e-3 + 10 * per_turn * arm)
    assert_allclose(values(run, "body_S.w", "rad/s", [0.1]), 0.1 * a, rtol=1e-9)


def test_a_screw_that_is_driven_stops_with_its_motor_and_holds_the_load():
    model = push(-500.0, lead="5 mm", diameter="20 mm", friction=0.1)
    model.drive_S.torque = lambda t: maximum(quantity("2 N*m") - quantity("4 N*m/s") * t, 0)
    run = model.simulate("1.2 s", **TIGHT)
    assert values(run, "body_S.w", "rad/s").max() > 10
    assert_allclose(values(run, "body_S.w", "rad/s", [0.9, 1.0]), 0.0, atol=1e-12)
    assert run.energy().relative_residual < 1e-9


def test_the_thread_angle_raises_the_friction():
    flat = push(1000.0, lead="5 mm", diameter="20 mm", friction=0.075)
    steep = push(1000.0, lead="5 mm", diameter="20 mm", friction=0.075, thread_angle="30 deg")
    assert abs(values(flat.simulate("0.1 s"), "body_S.w", "rad/s")[-1]) > 1e-3
    assert_allclose(values(steep.simulate("0.1 s"), "body_S.w", "rad/s"), 0.0, atol=0)


# -- stuck together with brakes ------------------------------------------------------------
def braked(part, ports, brakes, driven):
    """The part between two inertias with a brake each; a torque that grows by 1 a second."""
    model = loaded(part, ports, sizes=[1, 1], drives=[0, 0])
    for port, strength in zip(ports, brakes, strict=True):
        wire(model, f"brake_{port}.R body_{port}.I", f"brake_{port}.C ground.W", **{
            f"brake_{port}": ro.RotationalFriction(
                law="coulomb", coulomb_torque=quantity(strength, "N*m"),
                breakaway_torque=quantity(strength, "N*m"))})
    model[f"drive_{driven}"].torque = lambda t: quantity("1 N*m/s") * t
    return model


@few(1, "brakes, driven", [
    ((1.0, 0.0), "S"), ((0.0, 1.0), "O"), ((1.0, 2.0), "S"), ((0.3, 0.7), "O")])
@pytest.mark.parametrize("ratio, first, second, bearing", [
    (1, 0.9, 0.9, 0.1), (3, 0.8, 0.6, 0.0), (-2, 0.5, 0.7, 0.25)])
def test_a_gear_and_brakes_that_are_stuck_together_give_way_at_the_sum_of_what_each_bears(
        driven, ratio, first, second, bearing, brakes):
    gear = LossyGear(ratio=ratio, forward_efficiency=first, backward_efficiency=second,
                     forward_bearing_torque=quantity(bearing, "N*m"),
                     backward_bearing_torque=quantity(bearing, "N*m"))
    here, there = brakes
    n = abs(ratio)
    limit = here + (there / n + bearing) / first if driven == "S" else (
        there + n * (here / second + bearing))
    run = braked(gear, "SO", brakes, driven).simulate(quantity(1.3 * limit, "s"), **TIGHT)
    for name in ("part", *(f"brake_{p}" for p, b in zip("SO", brakes, strict=True) if b)):
        first_event = run.events.of(name)[0]
        assert first_event.time == pytest.approx(limit, rel=1e-9)
        assert first_event.description.startswith("slides")
    w = values(run, f"body_{driven}.w", "rad/s")
    assert np.all(w[seconds(run) < limit * (1 - 1e-9)] == 0)
    assert w[-1] > 0


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853", "Radau"])
def test_a_load_that_grows_from_nothing_is_shared_though_shares_are_rounding(method):
    """A brake's share is a difference of its bounds: of 1e-8 N m, eight digits less are known."""
    gear = LossyGear(ratio=-2, forward_efficiency=0.5, backward_efficiency=0.7,
                     forward_bearing_torque="0.25 N*m", backward_bearing_torque="0.25 N*m")
    limit = 2 * (1 / 0.7 + 0.25)
    run = braked(gear, "SO", (1.0, 0.0), "O").simulate(quantity(1.3 * limit, "s"), method=method)
    assert run.events.of("part")[0].time == pytest.approx(limit, rel=1e-7)
    w = values(run, "body_O.w", "rad/s")
    assert np.all(w[seconds(run) < limit * (1 - 1e-7)] == 0)
    inertia = 1 + 2**2 / 0.7  # of both, as the drive feels it
    assert w[-1] == pytest.approx((0.3 * limit) ** 2 / 2 / inertia, rel=1e-5)


@pytest.mark.parametrize("grip", [0.05, 0.2])
def test_a_brake_on_the_screw_holds_the_nut_up_to_what_the_thread_leaves_it(grip):
    # lowering: torque on the screw F d/2 tan(a - r), held by the brake
    lead, d, strength = 0.03, 0.02, 0.5
    screw = LeadScrew(lead=quantity(lead, "m"), diameter=quantity(d, "m"), friction=grip)
    model = loaded(screw, "SN", sizes=[0.01, 1], drives=[0, 0])
    wire(model, "brake.R body_S.I", "brake.C ground.W",
         brake=ro.RotationalFriction(law="coulomb", coulomb_torque=quantity(strength, "N*m"),
                                     breakaway_torque=quantity(strength, "N*m")))
    limit = strength / (d / 2 * np.tan(np.arctan(lead / (np.pi * d)) - np.arctan(grip)))
    model.drive_N.force = lambda t: quantity(limit, "N/s") * t
    run = model.simulate("1.2 s", **TIGHT)
    assert run.events.of("part")[0].time == pytest.approx(1.0, rel=1e-9)
    assert run.events.of("brake")[0].time == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
@pytest.mark.parametrize(("sense", "rub"), [(1, 30.0), (-1, 30.0), (1, 1.0)])
def test_a_locked_screw_lets_its_load_down_where_it_goes_on_moving(sense, rub, method):
    """A guide bears a part of the load, and takes more from the thread than it holds itself.

    So breaking away, with the guide's friction as low as it is in motion, it would hold again.
    """
    lead, d, grip, load = 5e-3, 0.02, 0.1, 1000.0
    turn, k = d / 2 * np.tan(np.arctan(grip) - np.arctan(lead / (np.pi * d))), lead / (2 * np.pi)
    model = loaded(LeadScrew(lead=quantity(lead, "m"), diameter=quantity(d, "m"), friction=grip),
                   "SN", sizes=[1e-3, 20], drives=[0, -sense * load])
    wire(model, "guide.R body_N.M", "guide.C wall.V", guide=TranslationalFriction(
        law="coulomb", coulomb_force=quantity(rub, "N"), breakaway_force=quantity(1.3 * rub, "N")))
    begins, rise = turn * (load - rub), 0.5
    model.drive_S.torque = lambda t: quantity(-sense * rise, "N*m/s") * t
    run = model.simulate(quantity(begins / rise + 0.2, "s"), method=method, rtol=1e-9)
    for part in ("part", "guide"):
        assert [e.time for e in run.events.of(part)] == pytest.approx([begins / rise], rel=1e-9)
    # the faster it goes down, the less presses on the thread
    w = values(run, "body_S.w", "rad/s")
    assert w[-1] == pytest.approx(-sense * rise * 0.2**2 / 2 / (1e-3 - turn * 20 * k), rel=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_gears_in_a_row_start_together_however_their_efforts_are_solved_for(sparse, monkeypatch):
    """Pushed by a torque that grows from nothing; every gear passes on a part of what it takes.

    More than 80 are solved for by sparse matrices, which are singular where several change at once.
    """
    if sparse:
        monkeypatch.setattr(bound_functions, "DENSE", 0)
    count, efficiency = 5, 0.9
    model = wired("row", "push.R wheel[0].I", "push.C frame.W", "wheel[:-1].I gear.S",
                  "wheel[1:].I gear.O", push=ro.TorqueSource(torque=lambda t: quantity("5 N*m/s")
                                                             * t), frame=ro.RotationalReference(),
                  gear=LossyGear(count=count, ratio=1, forward_efficiency=efficiency,
                                 backward_efficiency=efficiency),
                  wheel=ro.Inertia(count=count + 1, inertia="0.01 kg*m^2"))
    run = model.simulate("0.4 s", method="DOP853")
    behind = sum(efficiency**-k for k in range(count + 1))
    assert_allclose(run["wheel.w"].final.m, 2.5 * 0.4**2 / (0.01 * behind), rtol=1e-7)
