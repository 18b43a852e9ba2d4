"""Closed loops of joints against their loop equations, open chains against their energy."""

import json
import random
import warnings

import numpy as np
import pytest
from benches import few, meets, wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import library.rotational as ro
from blocks import InitialisationError, SimulationError, Target, load, quantity, where
from blocks.simulation.forced_jumps import ForcedJumps
from blocks.simulation.run_start import RunStart
from library.planar import Body, Ground, Prismatic, Revolute, RigidOffset
from library.signal import Sine, ZeroOrderHold


def bar(model, name, length, mass="1 kg", inertia="0.1 kg*m^2"):
    """A body with its frame ``name.P`` at one end and a frame ``name_end.F`` at the other."""
    wire(model, f"{name}.P {name}_end.B", **{
        name: Body(mass=mass, inertia=inertia, center_x=f"{length / 2} m"),
        f"{name}_end": RigidOffset(dx=f"{length} m")})


def motor(model, speed):
    wire(model, "motor.R a.A", "motor.C case.W",
         motor=ro.AngularVelocitySource(velocity=speed), case=ro.RotationalReference())


def rubbed(model):
    wire(model, "a.A rub.R", "rub.C case.W",
         rub=ro.RotationalFriction(law="coulomb", coulomb_torque="2 N*m", breakaway_torque="3 N*m"),
         case=ro.RotationalReference())


def braked(model):
    wire(model, "a.A push.R brake.R", "push.C brake.C case.W",
         push=ro.TorqueSource(torque="20 N*m"), case=ro.RotationalReference(),
         brake=ro.RotationalFriction(law="coulomb", coulomb_torque="30 N*m",
                                     breakaway_torque="40 N*m"))


def four_bar(driven, drives=lambda model: motor(model, "2 rad/s"), **ground):
    model = wired("four-bar linkage", left=Ground(), right=Ground(**(ground or {"x": "4 m"})))
    bar(model, "crank", 1.0)
    bar(model, "coupler", 3.5, "3 kg", "1 kg*m^2")
    bar(model, "rocker", 3.0, "2 kg", "1 kg*m^2")
    wire(model, "left.P a.B", "a.F crank.P", "crank_end.F b.B", "b.F coupler.P", "right.P d.B",
         "d.F rocker.P", "rocker_end.F c.B", "c.F coupler_end.F",
         a=Revolute(phi="1 rad", drive=driven), b=Revolute(phi=Target("-0.5 rad", "low")),
         c=Revolute(phi=Target("2 rad", "none")), d=Revolute(phi=Target("2 rad", "low")))
    if driven:
        drives(model)
    return model


def test_a_linkage_that_rubs_in_a_joint_loses_the_work_of_its_friction():
    """What the bodies gain or lose is its work: the forces in the loop follow it at once."""
    model = four_bar(True, rubbed)
    model.a.w = "1 rad/s"
    run, python = (model.simulate("0.5 s", rtol=1e-9, method=m) for m in ("auto", "Radau"))
    assert run.statistics.method == "DOP853"
    turns, = [e.time for e in run.events]
    first, middle, last = run["a.phi"].at(quantity([0, turns, 0.5], "s")).m
    energy = sum(run[f"{name}.energy_stored"].at(quantity([0, 0.5], "s")).to("J").m
                 for name in ("crank", "coupler", "rocker"))
    assert_allclose(energy[0] - energy[1], 2 * (middle - first + middle - last), rtol=1e-7)
    assert_allclose(turns, python.events[0].time, rtol=1e-6)
    assert_allclose(last, python["a.phi"].final.m, rtol=1e-6)


def misfit(run):
    crank, coupler, rocker = (run[f"{n}.phi"].magnitude for n in ("crank", "coupler", "rocker"))
    x = np.cos(crank) + 3.5 * np.cos(coupler) - 4 - 3 * np.cos(rocker)
    return np.max(np.hypot(x, np.sin(crank) + 3.5 * np.sin(coupler) - 3 * np.sin(rocker)))


def test_a_driven_four_bar_linkage_goes_round_on_one_branch():
    run = four_bar(True).simulate("10 s", rtol=1e-9, every="5 ms")
    assert misfit(run) < 1e-12
    crank, coupler, rocker = (run[f"{n}.phi"].magnitude for n in ("crank", "coupler", "rocker"))
    # by hand: the diagonal of the quadrilateral gives the rocker's angle
    diagonal = np.array([4 - np.cos(crank), -np.sin(crank)])
    length = np.hypot(*diagonal)
    inner = np.arccos((length**2 + 3.0**2 - 3.5**2) / (2 * length * 3.0))
    back = np.arctan2(-diagonal[1], -diagonal[0])
    sign = np.sign(np.sin(rocker[0] - back[0]))  # the branch of the start
    assert_allclose(np.cos(rocker), np.cos(back + sign * inner), atol=1e-9)
    assert_allclose(np.sin(rocker), np.sin(back + sign * inner), atol=1e-9)
    w = 2.0 * np.sin(crank - coupler) / (3.0 * np.sin(rocker - coupler))
    assert_allclose(run["rocker.w"].magnitude, w, atol=1e-9)
    assert run.energy().relative_residual < 1e-9


@few(2, "seed", range(4))
def test_a_linkage_is_solved_in_whatever_order_it_is_written(tmp_path, seed):
    """Which equations of the loop give its frames, and which states are tied, follows the order."""
    file, order = tmp_path / "linkage.json", random.Random(seed)
    four_bar(False).save(file)
    text = json.loads(file.read_text())
    nodes = [line.split(", ") for line in text["connections"]]
    for lines in (nodes, *nodes):
        order.shuffle(lines)
    text["connections"] = [", ".join(ports) for ports in nodes]
    text["parts"] = dict(order.sample(list(text["parts"].items()), len(text["parts"])))
    file.write_text(json.dumps(text))
    run = load(file).simulate("1 s", rtol=1e-9)
    assert misfit(run) < 1e-11
    assert run.energy().relative_residual < 1e-8


def slider_crank(driven):
    model = wired("slider-crank", ground=Ground())
    bar(model, "crank", 0.1)
    bar(model, "rod", 0.3)
    wire(model, "ground.P a.B guide.B", "a.F crank.P", "crank_end.F b.B", "b.F rod.P",
         "rod_end.F c.B", "c.F piston.P guide.F", piston=Body(mass="0.5 kg"),
         guide=Prismatic(s=Target("0.39 m", "low")), a=Revolute(phi="0.2 rad", drive=driven),
         b=Revolute(phi=Target("-0.3 rad", "low")), c=Revolute())
    if driven:
        motor(model, "10 rad/s")
    return model


def test_a_driven_slider_crank_moves_as_its_loop_equation_says():
    run = slider_crank(True).simulate("1 s", rtol=1e-9, every="2 ms")
    phi = run["crank.phi"].magnitude
    root = np.sqrt(0.09 - 0.01 * np.sin(phi) ** 2)
    assert_allclose(run["guide.s"].magnitude, 0.1 * np.cos(phi) + root, atol=1e-12)
    v = -10 * 0.1 * np.sin(phi) * (1 + 0.1 * np.cos(phi) / root)
    assert_allclose(run["guide.v"].magnitude, v, atol=1e-11)


def test_a_linkage_that_a_brake_holds_stays_at_its_operating_point():
    """Before the brake is decided, what it bears has to be taken out of all forces."""
    model = four_bar(True, braked)
    op = model.operating_point()
    run = model.simulate("0.1 s", initial=op)
    assert op.modes == {"brake": "stuck"} and run["brake.mode"].final == 0
    meets(run, {"brake.t": (op["brake.t"].m, 1e-9), "crank.phi": (1.0, 1e-12)})


def test_a_linkage_starts_with_what_its_brake_is_asked_to_bear():
    op = four_bar(True, braked).operating_point()
    model = four_bar(True, braked)
    model.brake.t = op["brake.t"]
    run = model.simulate("1 us")
    assert run.recording.start.unmet == []
    assert_allclose([run["brake.t"].initial.m, run["crank.phi"].initial.m],
                    [op["brake.t"].m, 1.0], rtol=1e-9)


def test_a_loop_that_cannot_close_says_how_far_it_stays_open():
    # crank, coupler and rocker together reach 7.5 m
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InitialisationError, match="1500 mm"):
            four_bar(False, x="9 m").simulate("1 s")


def test_where_positions_exist_but_are_not_found_guesses_are_suspected(monkeypatch):
    # a search that fails
    monkeypatch.setattr("blocks.initialisation.initial_values.FULFILLED", -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(InitialisationError, match="(?s)exist, but.*angles that differ by a wh"):
            four_bar(False).simulate("1 s")


def door(*pins):
    """A leaf that hangs on one ground by several hinges; True: its frames are exchanged."""
    model = wired("door", ground=Ground(), leaf=Body(mass="2 kg", inertia="0.5 kg*m^2",
                                                    center_x="0.4 m", phi="-80 deg"))
    for k, exchanged in enumerate(pins):
        near, far = "FB" if exchanged else "BF"
        wire(model, f"ground.P pin{k}.{near}", f"leaf.P pin{k}.{far}", **{f"pin{k}": Revolute()})
    return model


@pytest.mark.parametrize("pins", [(False, False), (False, True), (False, False, True)])
def test_hinges_that_repeat_each_other_move_as_one_and_share_its_force(pins):
    one, more = door(False), door(*pins)
    (finding,) = more.check().filter("network.repeated")
    assert (finding.code, finding.severity) == ("network.repeated", "info")
    assert finding.where == tuple(f"pin{k}" for k in range(len(pins)))
    assert "share the force (fx and fy)" in finding.problem
    assert f"pin1.{'F' if pins[1] else 'B'}.fx == pin0.B.fx" in str(more.equations())
    at = more.operating_point(at_rest=True)
    swing = np.sqrt(2 * 9.81 * 0.4 / (0.5 + 2 * 0.4**2))  # of a physical pendulum
    assert_allclose(np.sort_complex(more.linearise(at=at).poles()), [-1j * swing, 1j * swing],
                    rtol=1e-12, atol=1e-12)  # fmt: skip
    single, result = (m.simulate("1 s", rtol=1e-10, atol=1e-12) for m in (one, more))
    assert_allclose(result["leaf.phi"].final.m, single["leaf.phi"].final.m, rtol=1e-9)
    for k, exchanged in enumerate(pins):
        for force in ("fx", "fy"):
            share = result[f"pin{k}.{'B' if exchanged else 'F'}.{force}"].final
            assert_allclose(share.m, single[f"pin0.F.{force}"].final.m / len(pins), rtol=1e-9)
    assert result.energy().relative_residual < 1e-9


def test_friction_in_one_hinge_of_two_brakes_as_in_one_alone():
    ends = []
    for beside in (False, True):
        model = wired("rubbed door",
                      ground=Ground(), leaf=Body(center_x="0.4 m"), a=Revolute(drive=True))
        rubbed(model)
        wire(model, "ground.P a.B", "leaf.P a.F")
        if beside:
            wire(model, "ground.P b.B", "leaf.P b.F", b=Revolute())
        ends.append(model.simulate("2 s", rtol=1e-10, atol=1e-12)["leaf.phi"].final.m)
    assert_allclose(ends[1], ends[0], rtol=1e-9)


def test_hinges_at_two_places_and_slides_side_by_side_are_refused_by_name():
    model = door(False)
    wire(model, "elsewhere.P pin.B", "leaf.P pin.F", elsewhere=Ground(x="1 m"), pin=Revolute())
    (finding,) = model.check().errors
    assert {"ground", "elsewhere", "pin0", "pin"} == set(finding.where)
    model = wired("slides", "ground.P a.B b.B", "arm.P a.F b.F",
                  ground=Ground(), arm=Body(), a=Prismatic(), b=Prismatic())
    (finding,) = model.check().errors
    assert finding.code == "conflict.across"
    assert "a and b are both rigid" in finding.problem


def parallelogram(cranks, angle):
    turn = np.radians(angle)
    model = wired("parallelogram",
                  bar=Body(x=f"{np.cos(turn)} m", y=f"{np.sin(turn)} m", phi="0 rad"))
    for i in range(cranks):
        bar(model, f"crank{i}", 1.0)
        wire(model, f"ground{i}.P foot{i}.B", f"foot{i}.F crank{i}.P", f"crank{i}_end.F head{i}.B",
             f"head{i}.F place{i}.F", f"place{i}.B bar.P", **{
                 f"ground{i}": Ground(x=f"{i} m"), f"foot{i}": Revolute(phi=f"{angle} deg"),
                 f"head{i}": Revolute(phi=Target(f"{-angle} deg", "low")),
                 f"place{i}": RigidOffset(dx=f"{i} m")})
    return model


def test_cranks_of_a_parallelogram_repeat_each_other_or_stand_at_a_dead_point():
    """A third crank is one too many wherever they stand; two lie flat at one place alone."""
    for cranks, angle, word in ((3, 60, "repeat each other"), (3, 0, "repeat each other"),
                                (2, 0, "stand at a dead point")):
        (finding,) = parallelogram(cranks, angle).check().errors
        assert finding.code == "initial.redundant" and word in finding.problem
    assert "Start a little beside it" in finding.advice
    assert not parallelogram(2, 0.5).check().errors


@few(1, ("count", "options"), [
    (2, {}), pytest.param(4, {"rtol": 1e-8}, marks=pytest.mark.slow),
    (2, {"method": "rodas4", "rtol": 1e-9}), (2, {"method": "Radau"})])
def test_parallelograms_go_through_the_places_where_they_lie_flat(count, options):
    """Unit rods of 1 kg: all cranks turn alike, inertia * der(w) = -weight * cos(phi)."""
    rods = {"mass": "1 kg", "inertia": f"{1 / 12} kg*m^2", "center_x": "0.5 m"}
    model = wired(
        "parallelograms in a row", "ground.P foot.B", "foot.F crank.P head.B",
        "bar.P end.B", "head[:-1].F left.B", "left.F bar.P", "head[1:].F right.B", "end.F right.F",
        ground=Ground(count=count + 1, x=[f"{i} m" for i in range(count + 1)]),
        crank=Body(count=count + 1, phi="90 deg", w="-1 rad/s", **rods),
        bar=Body(count=count, phi="0 deg", **rods), head=RigidOffset(count=count + 1, dx="1 m"),
        end=RigidOffset(count=count, dx="1 m"), foot=Revolute(count=count + 1),
        left=Revolute(count=count), right=Revolute(count=count))
    run = model.simulate("3 s", **options)

    def slope(t, y):
        weight = 9.81 * ((count + 1) / 2 + count)
        return y[1], -weight * np.cos(y[0]) / ((count + 1) / 3 + count)

    exact = solve_ivp(slope, (0, 3), (np.pi / 2, -1), rtol=1e-11, atol=1e-12, dense_output=True,
                      events=lambda t, y: np.sin(y[0]))
    flat = exact.t_events[0]
    assert len(flat) == 3
    for times in (np.linspace(0, 3, 31), flat - 1e-3, flat + 1e-3):
        for k in range(count + 1):
            turned = run[f"crank[{k}].phi"].at(quantity(times, "s")).m
            assert_allclose(turned, exact.sol(times)[0], atol=2e-5)
    assert_allclose(run["bar[0].phi"].m, 0, atol=1e-6)


def test_a_sampled_torque_on_a_linkage_lets_nothing_jump_but_a_sampled_speed_does():
    """Places follow from places: only what prescribes one of them could make them jump."""
    model = slider_crank(False)
    model.a.drive = True
    wire(model, "wave.y hold.u", "hold.y push.S", "push.R a.A", "push.C case.W",
         push=ro.TorqueSource(), case=ro.RotationalReference(), wave=Sine(amplitude="2 N*m"),
         hold=ZeroOrderHold(unit="N*m", sample_time="5 ms"))
    assert not ForcedJumps.of(RunStart(model).problem().system).watched
    run = model.simulate("0.5 s", rtol=1e-9)
    held = 2 * np.sin(2 * np.pi * 5e-3 * np.arange(100))
    turned = np.diff(run["crank.phi"].at(quantity(5 * np.arange(101.0), "ms")).magnitude)
    assert_allclose(run.energy().supplied.to("J").magnitude, held @ turned, rtol=1e-8)

    stepped = slider_crank(True)
    stepped.motor.velocity = lambda t: where(
        t < quantity("0.1 s"), quantity("5 rad/s"), quantity("10 rad/s"))
    with pytest.raises(SimulationError) as caught:
        stepped.simulate("0.2 s")
    assert caught.value.code == "simulation.jump"


def test_instants_that_are_solved_alone_are_as_those_between_known_states():
    model = four_bar(True, rubbed)
    model.a.w = "1 rad/s"
    run = model.simulate("1 s", rtol=1e-8)
    replay = run.recording.replay
    t = np.linspace(0.05, 0.95, 30)
    which = np.searchsorted(run.recording.episodes.ends, t)
    points, missing = replay.interpolated(t, which)
    points = replay.with_modes(points, which)
    every = replay.solved(points, which, ~missing)  # each by itself
    missing[[3, 20]] = True
    some = replay.solved(points, which, missing)
    assert_allclose(some.u, every.u, rtol=1e-7)
