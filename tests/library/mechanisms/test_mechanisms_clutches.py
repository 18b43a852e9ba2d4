"""Clutches and brakes: closed forms of slipping, locking and heat, and a train of clutches."""

import numpy as np
import pytest
from benches import seconds, signal, values, wire, wired
from benches.mechanisms import TIGHT
from numpy.testing import assert_allclose

import library.mechanisms as me
import library.rotational as ro
from benchmarks.cases.drivetrain import RATIOS, ByHand, drivetrain
from blocks import BlocksError, SimulationError, quantity, sin, where
from library.signal import Ramp


def pair(clutch, *, w=("10 rad/s", "0 rad/s"), sizes=("2 kg*m^2", "3 kg*m^2"), torque="0 N*m"):
    """Two inertias joined by a clutch, with a torque on the one at R."""
    return wired("pair", "a.I clutch.R drive.R", "b.I clutch.C", "drive.C ground.W",
                 a=ro.Inertia(inertia=sizes[0], w=w[0]), b=ro.Inertia(inertia=sizes[1], w=w[1]),
                 clutch=clutch, drive=ro.TorqueSource(torque=torque),
                 ground=ro.RotationalReference())


def braked(brake, *, w="10 rad/s", torque="0 N*m"):
    """An inertia of 2 kg m² with a brake and a torque."""
    return wired("braked", "body.I brake.R drive.R", "brake.C drive.C ground.W",
                 body=ro.Inertia(inertia="2 kg*m^2", w=w), drive=ro.TorqueSource(torque=torque),
                 brake=brake, ground=ro.RotationalReference())


def clutch_of(torque, **parameters):
    """A clutch with the given sliding torque in N m and twice that at rest."""
    return me.DiscClutch(normal_force=quantity(torque, "N"), surfaces=1, effective_radius="1 m",
                      static_coefficient=2.0, kinetic_coefficient=1.0, **parameters)  # fmt: skip


def test_a_clutch_locks_two_bodies_at_their_common_speed_and_heats_up_by_the_rest():
    run = pair(clutch_of(4.0)).simulate("5 s", **TIGHT)
    lock = 10 / (4 * (1 / 2 + 1 / 3))
    (event,) = run.events.of("clutch")
    assert event.time == pytest.approx(lock, rel=1e-11)
    assert event.description == "sticks"
    common = 2 * 10 / 5
    assert_allclose(values(run, "a.w", "rad/s", [4.0, 5.0]), common, rtol=1e-11)
    assert_allclose(values(run, "b.w", "rad/s", [4.0, 5.0]), common, rtol=1e-11)
    assert_allclose(values(run, "b.w", "rad/s", [1.0]), 4 / 3, rtol=1e-11)
    energy = run.energy()
    assert energy["clutch"].dissipated == pytest.approx(2 * 3 / 5 * 10**2 / 2, rel=1e-9)
    assert energy.relative_residual < 1e-9


def test_a_locked_clutch_holds_up_to_its_static_torque():
    model = pair(clutch_of(1.0), w=("0 rad/s", "0 rad/s"), torque=lambda t: quantity("1 N*m/s") * t)
    run = model.simulate("6 s", **TIGHT)
    (event,) = run.events.of("clutch")
    slip = 2.0 / (3 / 5)  # the clutch carries 3/5 of the torque
    assert event.time == pytest.approx(slip, rel=1e-11)
    assert event.description == "slides forward"
    before = np.linspace(0, slip - 1e-9, 5)
    assert_allclose(values(run, "clutch.t", "N*m", before), 0.6 * before, atol=1e-12)
    assert_allclose(values(run, "clutch.t", "N*m", [slip + 1e-6]), 1.0, rtol=1e-12)
    # 3 dw_b/dt = 1 from there on
    assert_allclose(values(run, "b.w", "rad/s", [6.0]), slip**2 / 10 + (6 - slip) / 3, rtol=1e-10)


def test_an_annular_lining_counts_at_two_thirds_of_the_cubes_over_the_squares():
    clutch = me.DiscClutch(geometry="annulus", outer_radius="150 mm", inner_radius="100 mm",
                        normal_force="1 kN", surfaces=2)  # fmt: skip
    run = pair(clutch).simulate("1 ms", **TIGHT)
    radius = 2 / 3 * (0.15**3 - 0.1**3) / (0.15**2 - 0.1**2)
    assert_allclose(values(run, "clutch.t", "N*m"), 0.3 * 1000 * 2 * radius, rtol=1e-12)


def test_friction_from_a_table_depends_on_the_slip():
    clutch = me.DiscClutch(law="table", speeds=quantity([0, 4, 8], "rad/s"),
                        coefficients=[0.3, 0.2, 0.1], surfaces=1, effective_radius="1 m",
                        normal_force="10 N")  # fmt: skip
    run = pair(clutch).simulate("9 s", **TIGHT)
    slip = values(run, "clutch.w", "rad/s")
    expected = 10 * np.clip(0.3 - slip / 40, 0.1, None)
    sliding = slip > 1e-9
    assert_allclose(values(run, "clutch.t", "N*m")[sliding], expected[sliding], rtol=1e-10)
    assert slip.max() > 8 > 4 > slip.min()


def test_a_clutch_follows_the_normal_force_of_a_signal():
    model = pair(clutch_of(99.0))
    wire(model, "press.y clutch.N", press=signal("N", lambda t: quantity("2 N/s") * t))
    run = model.simulate("2 s", **TIGHT)
    t = seconds(run)
    assert_allclose(values(run, "clutch.t", "N*m"), 2 * t, atol=1e-12)
    assert_allclose(values(run, "b.w", "rad/s"), t**2 / 3, atol=1e-11)


def test_an_open_clutch_transmits_nothing():
    run = pair(clutch_of(0.0)).simulate("1 s", **TIGHT)
    assert_allclose(values(run, "a.w", "rad/s"), 10.0, rtol=1e-14)
    assert_allclose(values(run, "clutch.t", "N*m"), 0.0, atol=0)


@pytest.mark.parametrize("sense", [1, -1])
def test_a_disc_brake_stops_a_shaft_evenly_and_holds_it(sense):
    brake = me.DiscBrake(normal_force="5 N", pads=2, mean_radius="1 m", static_coefficient=0.5,
                      kinetic_coefficient=0.4)  # fmt: skip
    run = braked(brake, w=quantity(sense * 10, "rad/s"), torque="-3 N*m").simulate("30 s", **TIGHT)
    stop = 10 / ((4 + sense * 3) / 2)
    late = [stop + 1e-6, 25.0]
    assert_allclose(values(run, "body.w", "rad/s", [stop / 2]), sense * 5, rtol=1e-10)
    assert_allclose(values(run, "body.w", "rad/s", late), 0.0, atol=0)
    assert_allclose(values(run, "brake.t", "N*m", late), -3.0, rtol=1e-12)


def test_a_band_brake_multiplies_its_tension_by_the_rope_law():
    band = {"tension": "10 N", "drum_radius": "0.2 m", "wrap": "270 deg",
            "static_coefficient": 0.3, "kinetic_coefficient": 0.25}  # fmt: skip
    run = braked(me.BandBrake(**band)).simulate("1 ms", **TIGHT)
    grip = np.exp(0.25 * 1.5 * np.pi) - 1
    assert_allclose(values(run, "brake.t", "N*m"), grip * 2, rtol=1e-12)
    held = braked(me.BandBrake(**band), w="0 rad/s", torque=lambda t: quantity("1 N*m/s") * t)
    (event,) = held.simulate("8 s", **TIGHT).events.of("brake")
    assert event.time == pytest.approx(2 * (np.exp(0.3 * 1.5 * np.pi) - 1), rel=1e-11)


def test_a_torque_limiter_slips_at_its_limit_and_then_carries_less():
    limiter = me.TorqueLimiter(limit="6 N*m", slip_torque="5 N*m")
    model = pair(limiter, w=("0 rad/s", "0 rad/s"), torque=lambda t: quantity("2 N*m/s") * t)
    run = model.simulate("7 s", **TIGHT)
    (event,) = run.events.of("clutch")
    assert event.time == pytest.approx(5.0, rel=1e-11)
    assert_allclose(values(run, "clutch.t", "N*m", [4.0, 6.0]), [4.8, 5.0], rtol=1e-11)


# -- dog clutch -----------------------------------------------------------------------------
def test_a_dog_clutch_engages_once_the_slip_is_small_enough():
    run = pair(me.DogClutch(engagement_speed="4 rad/s", torque_capacity="600 N*m"),
               torque="-4 N*m").simulate("5 s", **TIGHT)
    # 2 dw/dt = -4 from 10 to 4 rad/s; the teeth then take up the slip
    assert_allclose(values(run, "b.w", "rad/s", [2.9]), 0.0, atol=0)
    engaged = seconds(run)[1:][np.diff(values(run, "clutch.engaged", "1")) != 0]
    assert_allclose(engaged, 3.0, rtol=1e-11)
    assert_allclose(values(run, "clutch.w", "rad/s", [3.1, 5.0]), 0.0, atol=1e-12)
    momentum = 2 * 4 - 4 * 2.0  # of both, two seconds after engagement
    assert_allclose(values(run, "b.w", "rad/s", [5.0]), momentum / 5, atol=1e-9)


def test_a_dog_clutch_lets_go_when_it_is_shifted_out():
    shift = lambda t: where(t < quantity("1 s"), 1.0, 0.0)  # noqa: E731
    model = pair(me.DogClutch(engagement=shift), w=("3 rad/s", "3 rad/s"), torque="5 N*m")
    run = model.simulate("3 s", **TIGHT)
    assert_allclose(values(run, "b.w", "rad/s", [1.0, 3.0]), 4.0, rtol=1e-10)
    assert_allclose(values(run, "a.w", "rad/s", [3.0]), 4 + 5, rtol=1e-10)


# -- one-way clutch ---------------------------------------------------------------------------
def test_a_one_way_clutch_drives_in_one_direction_and_overruns_in_the_other():
    model = wired("freewheel", "drive.R input.I clutch.C", "output.I clutch.R", "drive.C ground.W",
                  input=ro.Inertia(inertia="1 kg*m^2"), output=ro.Inertia(inertia="1 kg*m^2"),
                  clutch=me.OneWayClutch(), ground=ro.RotationalReference(), drive=ro.TorqueSource(
                      torque=lambda t: quantity("4 N*m") - quantity("4 N*m/s") * t))
    run = model.simulate("3 s", **TIGHT)
    t = np.array([0.5, 1.0, 1.5, 2.5])
    together = 2 * t - t**2
    assert_allclose(values(run, "input.w", "rad/s", t[:2]), together[:2], rtol=1e-10)
    assert_allclose(values(run, "output.w", "rad/s", t), [*together[:2], 1, 1], rtol=1e-10)
    # alone from 1 s on: dw/dt = 4 - 4 t
    alone = 1 + 4 * (t - 1) - 2 * (t**2 - 1)
    assert_allclose(values(run, "input.w", "rad/s", t[2:]), alone[2:], rtol=1e-10)
    assert_allclose(values(run, "clutch.t", "N*m", [0.5, 2.0]), [-1.0, 0.0], atol=1e-10)


def test_a_one_way_clutch_grips_a_faster_input_with_its_capacity():
    clutch = me.OneWayClutch(torque_capacity="6 N*m")
    run = pair(clutch, w=("0 rad/s", "10 rad/s"), sizes=("3 kg*m^2", "2 kg*m^2")
               ).simulate("4 s", **TIGHT)  # fmt: skip
    lock = 10 / (6 * (1 / 2 + 1 / 3))
    assert_allclose(values(run, "a.w", "rad/s", [lock / 2]), lock, rtol=1e-10)
    assert_allclose(values(run, "a.w", "rad/s", [4.0]), 4.0, rtol=1e-10)
    assert_allclose(values(run, "b.w", "rad/s", [4.0]), 4.0, rtol=1e-10)


# -- mistakes -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("make", "words"), [
    (lambda: me.DiscClutch(normal_force="-3 N"), ["DiscClutch.normal_force", "at least 0", "-3"]),
    (lambda: me.DiscBrake(normal_force="-3 N"), ["DiscBrake.normal_force", "at least 0", "-3"]),
    (lambda: me.BandBrake(tension="-3 N"), ["BandBrake.tension", "at least 0", "-3"]),
    (lambda: me.DiscClutch(kinetic_coefficient=-0.1), ["kinetic_coefficient", "at least 0"]),
    (lambda: me.DiscClutch(static_coefficient=0.2, kinetic_coefficient=0.3),
     ["clutch", "static_coefficient is 0.2", "kinetic_coefficient", "0.3", "raise"]),
    (lambda: me.DiscClutch(law="table", speeds=["0 rad/s", "2 rad/s", "2 rad/s"],
                           coefficients=[0.3, 0.2, 0.1]),
     ["clutch", "speeds", "strictly increasing"]),
    (lambda: me.DiscClutch(law="table", coefficients=[0.5, 0.2]),
     ["clutch", "static_coefficient is 0.35", "coefficients, which starts at 0.5"]),
    (lambda: me.DiscClutch(geometry="annulus", outer_radius="50 mm"),
     ["clutch", "outer_radius is 50", "inner_radius 100", "larger"]),
    (lambda: me.TorqueLimiter(limit="5 N*m", slip_torque="6 N*m"),
     ["clutch", "limit is 5", "slip_torque", "6"])])
def test_clutches_that_are_pulled_or_contradict_themselves_are_refused_in_words(make, words):
    with pytest.raises(BlocksError) as error:
        pair(make()).simulate("1 s")
    assert all(word in str(error.value) for word in words)


# -- a clutch that is pulled instead of pressed ----------------------------------------------------
@pytest.mark.parametrize("given, told", [
    ("function", "normal_force is no longer at least 0.0 N, by the function given for it"),
    ("signal", "the normal force N becomes negative, but linings can only be pressed")])
def test_a_normal_force_that_falls_below_zero_stops_the_run_and_names_the_clutch(given, told):
    if given == "function":
        model = pair(me.DiscClutch(normal_force=lambda t: quantity("10 N") - quantity("20 N/s")
                                   * t))
    else:
        model = pair(me.DiscClutch(normal_force="10 N"))
        wire(model, "press.y clutch.N", press=Ramp(initial="10 N", slope="-20 N/s"))
    with pytest.raises(SimulationError) as caught:
        model.simulate("2 s")
    error = caught.value
    assert_allclose(error.time, 0.5, atol=1e-3)
    assert error.code == "simulation.required" and error.variables == ("clutch",)
    assert told in str(error)
    assert str(error).startswith("clutch: at t = 0.5")
    assert_allclose(error.result.time.final.to("s").m, error.time)  # what was computed is kept


# -- four inertias in a row with three clutches ----------------------------------------------------
EVENTS = [1.203401153, 2.597392186, 3.199736956, 3.281821611, 5.170678442, 5.552534496,
          5.737918088, 7.779191192, 8.204391572, 8.253573952]  # fmt: skip


def disc(static, kinetic):
    """1 N on one surface of 1 m: the coefficients are torques in N m."""
    return me.DiscClutch(normal_force="1 N", surfaces=1, effective_radius="1 m",
                         static_coefficient=static, kinetic_coefficient=kinetic)


def limiter(static, kinetic):
    return me.TorqueLimiter(limit=quantity(static, "N*m"), slip_torque=quantity(kinetic, "N*m"))


@pytest.mark.parametrize("clutch", [disc, limiter])
def test_a_train_of_clutches_slips_and_sticks_at_the_known_instants(clutch):
    """The numbers were made with a separate program: events, and a quadratic programme for what
    sticks. It lists one instant more, 1.220478727 s: from 1.2034 s on the middle clutch carries
    exactly its sliding torque of 3 N m while both sides accelerate alike, so it may be called
    sliding or sticking, with the same motion.
    """
    model = wired("train", ground=ro.RotationalReference(), drive=ro.TorqueSource(
        torque=lambda t: quantity("10 N*m") * sin(quantity(0.4 * np.pi, "rad/s") * t)))
    speeds = ["0 rad/s", "0 rad/s", "0 rad/s", "10 rad/s"]
    for i, (size, w) in enumerate(zip([1, 0.5, 0.5, 1], speeds, strict=True)):
        wire(model, f"j{i}.I a{i}.R", **{f"j{i}": ro.Inertia(inertia=quantity(size, "kg*m^2"), w=w),
                                         f"a{i}": ro.RotationalMotionSensor(reference="absolute")})
    for i, (static, kinetic) in enumerate([(5, 4), (3.5, 3), (2.4, 2)]):
        wire(model, f"j{i}.I c{i}.R", f"j{i + 1}.I c{i}.C", **{f"c{i}": clutch(static, kinetic)})
    wire(model, "drive.R j0.I", "load.R j3.I", "drive.C load.C ground.W",
         load=ro.RotationalDamper(damping="0.3 N*m*s/rad"))
    run = model.simulate("10 s", rtol=1e-11)
    switched = [e.time for e in run.events if e.component != "c1"]
    switched = sorted(set(np.round(switched, 9)))
    assert_allclose(switched, EVENTS, rtol=0, atol=1e-7)
    for path, ends in (("a{}.A", [35.682863656, 36.011461769, 36.011461769, 37.769258668]),
                       ("j{}.w", [-1.510617451, 0.089919925, 0.089919925, 0.089919925])):
        found = [run[path.format(i)].final.magnitude for i in range(4)]
        assert_allclose(found, ends, rtol=0, atol=1e-7)
    assert run.energy().relative_residual < 1e-9


# -- a car with six clutches beside the one whose modes a person has written out -------------------
RTOL = 1e-7


def test_six_clutches_stick_and_slip_when_the_hand_written_ones_do():
    hand = ByHand().run(1e-10, 1e-12, "DOP853")
    result = drivetrain().simulate("60 s", rtol=RTOL, method="DOP853")
    ends = [phase.t_max for phase in hand]
    events = [e for e in result.events if e.component.startswith("clutches")]
    assert len(events) == 21  # eleven clutches close, and ten open again
    for event in events:
        assert min(abs(event.time - end) for end in ends) < 2e-5, event
    times = [2.0, 12.0, 30.0, 40.0, 47.0, 60.0]
    exact = [next(p for p in hand if t <= p.t_max)(t) for t in times]
    speed, engine = (result[n].at(quantity(times, "s")) for n in ("car.v", "engine.w"))
    assert_allclose(speed.to("m/s").m, [y[3] for y in exact], rtol=50 * RTOL)
    assert_allclose(engine.to("rad/s").m, [y[0] for y in exact], rtol=200 * RTOL)
    assert_allclose(engine.m[2] / result["shaft.w"].at("30 s").m, RATIOS[5], rtol=1e-9)
