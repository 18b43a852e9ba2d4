"""Who of several elements at rest begins to move, decided in machine code."""

import numpy as np
import pytest
from benches import few, wire, wired
from benches.parts import assert_same
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import library.rotational as ro
import library.translational as tr
from blocks import quantity, sin
from blocks.machine.signatures import run_code
from blocks.native.equations import equations_of
from blocks.nonsmooth.complementarity import Status, choose, solve
from library.mechanisms import LossyGear
from library.planar import Body, Circle, Contact, Force, Ground, Line, Revolute, RigidOffset
from library.signal import Sine


def at_rest(d, drive, most, less, moved):
    """Who moves of elements whose bounds are even."""
    none = np.zeros(len(d))
    return choose(d, drive, np.array([-most, most, -less, less]), None, slides=none, moved=moved,
                  near=none, noise=none)


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_ones_move_as_by_the_complementarity_problem(n, seed):
    random = np.random.default_rng([n, seed])
    half = random.normal(size=(n, n + 3))
    d, drive, most = half @ half.T, 3 * random.normal(size=n) * n, random.uniform(0.5, 2, n)
    found = at_rest(d, drive, most, most, np.zeros(n))
    expected = solve(d, drive, -most, most)
    assert found.status is Status.SOLVED and not found.unclear.any() and expected.converged
    assert (found.state == expected.state).all()
    assert_allclose(found.effort, expected.effort, atol=1e-9 * np.abs(most).max())


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("seed", range(3))
def test_joints_of_a_long_arm_move_as_by_the_complementarity_problem(n, seed):
    """Of some of which block pivoting goes round in circles."""
    random = np.random.default_rng([n, seed])
    half = np.tril(np.ones((n, n)))
    d = np.linalg.inv(half @ half.T + 1e-2 * np.eye(n))
    load = random.normal(size=n)
    found = at_rest(d, d @ load, np.ones(n), np.ones(n), np.zeros(n))
    expected = solve(d, d @ load, -np.ones(n), np.ones(n))
    assert found.status is Status.SOLVED and not found.unclear.any() and expected.converged
    assert (found.state == expected.state).all()
    assert_allclose(found.effort, expected.effort, atol=1e-7)


def test_less_holds_what_moves_and_so_others_move_in_turn():
    d = np.array([[2.0, 1.0], [1.0, 2.0]])
    drive = d @ [1.1, 0.9]  # at rest the second one would hold
    found = at_rest(d, drive, np.ones(2), np.full(2, 0.5), np.zeros(2))
    assert found.status is Status.SOLVED and not found.unclear.any()
    assert_allclose(found.state, [1.0, 1.0])
    assert_allclose(found.effort, [0.5, 0.5])


def test_what_holds_with_no_room_is_told_to_be_unclear():
    found = at_rest(np.eye(2), np.array([1.0, 0.2]), np.ones(2), np.ones(2), np.zeros(2))
    assert found.unclear.any()


def sliding_on_each_other(n):
    return wired("stack", "wall.V spring[0].C friction[0].C push.C",
                 "mass.M spring.R friction.R", "mass[:-1].M spring[1:].C friction[1:].C",
                 "push.R mass[-1].M", wall=tr.Reference(), mass=tr.Mass(count=n, mass="1 kg"),
                 push=tr.ForceSource(force=lambda t: quantity("20 N") * sin(
                     t * quantity("6 rad/s"))), spring=tr.Spring(count=n, stiffness="1000 N/m"),
                 friction=tr.TranslationalFriction(count=n, law="coulomb", coulomb_force="1 N",
                                                   breakaway_force="1.2 N"))


def pendulums(n):
    return wired("chain", "frame.W friction.C", "hinge.A friction.R", "ground.P hinge[0].B",
                 "link[:-1].F hinge[1:].B", "hinge.F body.P link.B", ground=Ground(),
                 frame=ro.RotationalReference(), hinge=Revolute(count=n, drive=True),
                 body=Body(count=n, mass="1 kg", inertia="0.01 kg*m^2", center_x="0.5 m"),
                 link=RigidOffset(count=n, dx="1 m"), friction=ro.RotationalFriction(
                     count=n, law="coulomb", coulomb_torque="0.5 N*m", breakaway_torque="0.6 N*m"))


def test_slopes_of_joints_that_stick_and_slide_are_those_of_the_interpreted_equations():
    problem = pendulums(6).simulate("1 ms", method="dopri5").recording.problem
    laws, random = problem.laws, np.random.default_rng(4)
    equations = equations_of(problem.system, laws)
    q, p = equations.constants(problem, 0.0), np.array(problem.p, dtype=float)
    place, nx = equations.span_of("modes"), len(problem.x)
    q[place.stop + 6 : place.stop + 6 + nx] = 1.0  # behind guesses: all states are free
    for _ in range(4):
        problem.x[:] = random.normal(size=nx)
        q[place] = modes = random.integers(-1, 2, 6)
        x, out = np.append(problem.x, problem.z), np.empty(nx + len(problem.z))
        run_code(equations.slope, np.zeros(1), x, p, q, out)
        laws.modes = modes
        laws.apply(problem, 0.0)
        slope = problem.system.slope(*problem.arguments(0.0))
        assert_allclose(out[:nx], slope, rtol=1e-9, atol=1e-9)


def wheels(count):
    """Wheels in a row on a floor, pinned to each other, the first one pushed and pulled."""
    model = wired("wheels", "wave.y push.SX",
                  ground=Ground(), push=Force(), wave=Sine(amplitude="14 N", frequency="0.7 Hz"))
    for k in range(count):
        wire(model, f"touch{k}.F body{k}.P", f"touch{k}.B ground.P", **{
            f"body{k}": Body(mass="1 kg", inertia="0.005 kg*m^2", x=f"{0.3 * k} m", y="0.1 m",
                             phi="0 rad", vx="0 m/s", vy="0 m/s", w="0 rad/s"),
            f"touch{k}": Contact(curve=Circle("0.1 m"), base=Line(), friction=0.4,
                                 static_friction=0.5)})
        if k:
            wire(model, f"arm{k}.B body{k - 1}.P", f"arm{k}.F pin{k}.B", f"pin{k}.F body{k}.P",
                 **{f"arm{k}": RigidOffset(dx="0.3 m"), f"pin{k}": Revolute()})
    wire(model, "push.P body0.P")
    return model


@few(1, ("build", "end", "rtol", "left", "most", "within"), [
    pytest.param(lambda: sliding_on_each_other(5), "1 s", 1e-9, 1, 10, 1e-8, id="masses"),
    pytest.param(lambda: pendulums(4), "0.8 s", 1e-8, 0, 7, 1e-8, id="joints"),
    pytest.param(lambda: wheels(2), "2 s", 1e-8, 0, 2, 1e-7, id="contacts")])
def test_what_feels_each_other_is_decided_on_in_machine_code(
        build, end, rtol, left, most, within, in_python):
    model = build()
    run = model.simulate(end, method="dopri5", rtol=rtol)
    assert len(in_python) <= left
    assert len(run.events) > most
    assert run.energy().relative_residual < 1e-7
    assert_same(run, model.simulate(end, method="ode45", rtol=rtol), [], within)


# -- gears with losses ------------------------------------------------------------------------
J, OUT, RATIO, FORWARD, BACKWARD, BRAKE = 0.01, 0.02, 2.0, 0.9, 0.8, 0.3
END = 4.0


def torque(t):
    return np.sin(6 * t) + 0.2


def braked_gear():
    """A torque on a shaft with a brake, whose gear turns a load."""
    return wired(
        "braked", "motor.I gear.S brake.R drive.R", "gear.O load.I", "brake.C drive.C ground.W",
        ground=ro.RotationalReference(), motor=ro.Inertia(inertia=quantity(J, "kg*m^2")),
        load=ro.Inertia(inertia=quantity(OUT, "kg*m^2")),
        gear=LossyGear(ratio=RATIO, forward_efficiency=FORWARD, backward_efficiency=BACKWARD),
        brake=ro.RotationalFriction(law="coulomb", coulomb_torque=quantity(BRAKE, "N*m"),
                                    breakaway_torque=quantity(BRAKE, "N*m")),
        drive=ro.TorqueSource(torque=lambda t: quantity("1 N*m") * sin(
            quantity("6 rad/s") * t) + quantity("0.2 N*m")))


def acceleration(t, way):
    """Of the shaft; the load drives the gear while it slows down."""
    left = torque(t) - way * BRAKE
    keeps = FORWARD if way * left > 0 else 1 / BACKWARD
    return left / (J + OUT / (RATIO**2 * keeps))


def gives_way(t, y, way):
    return abs(torque(t)) - BRAKE


def stops(t, y, way):
    return way * y[0]


gives_way.terminal = stops.terminal = True
gives_way.direction, stops.direction = 1, -1


def slope(t, y, way):
    return [acceleration(t, way) if way else 0.0]


def by_hand():
    """Instants at which the brake takes another mode, and the speed at the end."""
    t, speed, way, times = 0.0, 0.0, 0.0, []
    while t < END:
        run = solve_ivp(slope, (t, END), [speed], args=(way,), events=stops if way else gives_way,
                        rtol=1e-11, atol=1e-13, max_step=0.05)
        t, speed = run.t[-1], run.y[0, -1]
        if t < END:
            times.append(t)
            rests = way and abs(torque(t)) <= BRAKE
            speed, way = 0.0, 0.0 if rests else np.sign(torque(t))
    return times, speed


def test_a_gear_and_a_brake_stick_and_slide_together_without_python(in_python):
    times, speed = by_hand()
    run = braked_gear().simulate(quantity(END, "s"), method="dopri5", rtol=1e-10, progress=False)
    assert not in_python
    assert len(times) > 5
    assert_allclose([e.time for e in run.events.of("brake")], times, rtol=1e-8)
    assert_allclose([e.time for e in run.events.of("gear")], times, rtol=1e-8)
    assert_allclose(run["motor.w"].final.m, speed, rtol=1e-7)
    # at rest both are at the same share of their ranges, and the gear has none
    assert_allclose(run["gear.loss"].at("10 ms").m, 0.0, atol=1e-12)
    assert_allclose(run["brake.t"].at("10 ms").m, torque(0.01), rtol=1e-9)


@pytest.mark.parametrize("brakes", [[], ["load"], ["motor", "load", "load"]])
def test_trains_of_gears_with_losses_and_brakes_share_loads_in_machine_code(brakes, in_python):
    n, efficiency, held = 5, 0.98, 0.4
    model = wired("train", "drive.R motor.I", "drive.C ground.W", ground=ro.RotationalReference(),
                  motor=ro.Inertia(), load=ro.Inertia(), drive=ro.TorqueSource(
                      torque=lambda t: quantity("3 N*m") * sin(quantity("9 rad/s") * t)))
    for k in range(n):
        wire(model, f"gear{k}.S {f'gear{k - 1}.O' if k else 'motor.I'}", **{
            f"gear{k}": LossyGear(ratio=1.0, forward_efficiency=efficiency,
                                  backward_efficiency=efficiency)})
    wire(model, f"gear{n - 1}.O load.I")
    for k, shaft in enumerate(brakes):
        wire(model, f"brake{k}.R {shaft}.I", f"brake{k}.C ground.W", **{
            f"brake{k}": ro.RotationalFriction(law="coulomb", coulomb_torque=quantity(held, "N*m"),
                                               breakaway_torque=quantity(held, "N*m"))})
    run = model.simulate("1 s", method="dopri5", rtol=1e-9)
    assert not in_python
    # from rest, as long as it goes forward: what the load takes is more by all gears before it
    whole = efficiency**-n
    far, near = (held * brakes.count(shaft) for shaft in ("load", "motor"))
    start = np.arcsin((near + far * whole) / 3) / 9
    t, inertia = np.linspace(start, np.pi / 9, 20), 0.01 * (1 + whole)
    speed = ((np.cos(9 * start) - np.cos(9 * t)) / 3 - (near + far * whole) * (t - start)) / inertia
    assert_allclose(run["motor.w"].at(quantity(t, "s")).m, speed, atol=1e-7 * speed.max())


def test_a_wave_in_a_chain_of_gears_with_losses_has_no_events_but_their_starts():
    n = 6
    model = wired("chain", "drive.R wheels[0].I", "drive.C ground.W", "wheels[:-1].I gears.S",
                  "gears.O springs.R", "springs.C wheels[1:].I", ground=ro.RotationalReference(),
                  drive=ro.TorqueSource(torque=lambda t: quantity("3 N*m")
                                        * sin(quantity("9 rad/s") * t)),
                  wheels=ro.Inertia(count=n + 1),
                  gears=LossyGear(count=n, ratio=1.0, forward_efficiency=FORWARD,
                                  backward_efficiency=BACKWARD),
                  springs=ro.RotationalSpring(count=n, stiffness="500 N*m/rad"))
    run = model.simulate("0.5 s", progress=False)
    starts = [e.component for e in run.events if "slides forward" in e.description]
    assert sorted(starts) == [f"gears[{k}]" for k in range(1, n)]  # the first one at once
    assert len(run.events) == n - 1


# -- Iwan's elements --------------------------------------------------------------------------
AMPLITUDE, RATE = 0.02, 2 * np.pi


def iwan(n):
    """A plate moved to and fro, and n springs to it, each held by dry friction at its other end."""
    stiffness = 50.0 + 10.0 * np.arange(n) * min(1.0, 30 / n)
    strength = 0.3 + 0.05 * np.arange(n) * min(1.0, 30 / n)
    force = quantity(strength, "N")
    model = wired(  # a damper, so that there is a state to integrate
        "iwan", "plate.R lag.R springs.R", "lag.C damper.R", "springs.C sliders.R",
        "plate.C damper.C sliders.C ground.V", ground=tr.Reference(),
        plate=tr.VelocitySource(velocity=lambda t: quantity(AMPLITUDE * RATE, "m/s") * sin(
            quantity(RATE, "rad/s") * t)), damper=tr.Damper(damping="1 N*s/m"),
        lag=tr.Spring(stiffness="100 N/m"),
        springs=tr.Spring(count=n, stiffness=quantity(stiffness, "N/m")),
        sliders=tr.TranslationalFriction(count=n, law="coulomb", coulomb_force=force,
                                         breakaway_force=force))  # fmt: skip
    return model, stiffness, strength


def carried(t, stiffness, strength):
    """Forces of Jenkins elements: each follows its spring until it slides, and again from there.

    W. D. Iwan, J. Appl. Mech. 33(4), 1966. Between two turns all move one way, so steps of any
    length between them are exact.
    """
    x = AMPLITUDE * (1.0 - np.cos(RATE * t))
    force = np.zeros((len(t), len(stiffness)))
    for k in range(1, len(t)):
        force[k] = np.clip(force[k - 1] + stiffness * (x[k] - x[k - 1]), -strength, strength)
    return force


@few(2, ("n", "end"), [(1, 3.0), (3, 3.0), (12, 3.0), (30, 3.0), (420, 0.3)])
def test_an_iwan_model_of_any_size_is_decided_on_in_machine_code(n, end, searches, monkeypatch):
    sizes, pinv = [], np.linalg.pinv
    monkeypatch.setattr(np.linalg, "pinv", lambda a, **how: sizes.append(a.size) or pinv(a, **how))
    model, stiffness, strength = iwan(n)
    run = model.simulate(quantity(end, "s"), rtol=1e-9)
    assert not [t for t in searches if t > 0]
    assert max(sizes, default=0) <= 1  # each is looked at by itself
    assert "events in Python" not in run.statistics
    t = np.linspace(0, end, 601)  # the turns are among them
    force = carried(t, stiffness, strength)
    for k in {0, n // 2, n - 1}:
        found = run[f"sliders[{k}].f"].at(quantity(t, "s")).m
        assert_allclose(found, force[:, k], rtol=0, atol=1e-7)
