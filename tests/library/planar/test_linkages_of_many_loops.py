"""Linkages of many loops: pistons on a crank, lifts of many stages, chains; arms with lossy gears.

One coordinate says where a crank with its pistons, or a lift, is. With its speed, energy is known::

    M(angle) speed^2 / 2 + V(angle) = what it was at the start - what friction has taken

M being the sum over bodies of m (d place / d angle)^2 + I (d turn / d angle)^2. Arms follow their
equations of motion, by hand.
"""

import warnings
from itertools import product

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import quantity
from library.mechanisms import LossyGear
from library.planar import Body, Gravity, Ground, Prismatic, Revolute, RigidOffset, SpringDamper
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.translational import Reference, TranslationalFriction

R, L = 0.05, 0.15  # of crank and rods, m
CRANK, ROD, TURNS, PISTON, FRICTION = 0.5, 0.4, 1e-3, 0.3, 3.0  # inertias, masses, N
MASS, TURN = 1.0, 0.08  # of a bar of a lift


def hinged(model, name, one, other):
    wire(model, f"{name}.B {one}", f"{name}.F {other}", **{name: Revolute()})


def engine(pistons, first=0.3):
    """Pistons in a row of bores along x; their cranks share out the circle."""
    model = wired("engine", "weightless.P ground.P",
                  ground=Ground(), wall=Reference(), weightless=Gravity(strength="0 m/s^2"),
                  crank=Body(mass="5 kg", inertia=f"{CRANK} kg*m^2", w="50 rad/s"))
    hinged(model, "bearing", "ground.P", "crank.P")
    for k in range(pistons):
        pin = 2 * np.pi * k / pistons + first
        x, y = R * np.cos(pin), R * np.sin(pin)
        turn = np.arcsin(-y / L)
        wire(model, f"crank.P pin{k}.B", f"rod{k}.P end{k}.B", f"bore{k}.B ground.P",
             f"bore{k}.F piston{k}.P", f"bore{k}.A rub{k}.R", f"rub{k}.C wall.V", **{
                 f"pin{k}": RigidOffset(dx=f"{x} m", dy=f"{y} m"),
                 f"rod{k}": Body(mass=f"{ROD} kg", inertia=f"{TURNS} kg*m^2", center_x=f"{L / 2} m",
                                 phi=f"{turn} rad"), f"end{k}": RigidOffset(dx=f"{L} m"),
                 f"piston{k}": Body(mass=f"{PISTON} kg", inertia=f"{TURNS} kg*m^2"),
                 f"bore{k}": Prismatic(drive=True), f"rub{k}": TranslationalFriction(
                     law="coulomb", coulomb_force=f"{FRICTION} N", breakaway_force="4 N")})
        hinged(model, f"big{k}", f"pin{k}.F", f"rod{k}.P")
        hinged(model, f"small{k}", f"end{k}.F", f"piston{k}.P")
    return model


def places(angle, pistons):
    """Of pistons, and of the middles of rods and their turns: (what, pistons, angles)."""
    pin = angle + 2 * np.pi * np.arange(pistons)[:, None] / pistons + 0.3
    turn = np.arcsin(-R * np.sin(pin) / L)
    x = R * np.cos(pin)
    return np.array([x + L * np.cos(turn), x + L / 2 * np.cos(turn),
                     R * np.sin(pin) + L / 2 * np.sin(turn), turn])


def inertia_of_engine(angle, pistons):
    ahead, behind = (places(angle + h, pistons) for h in (1e-5, -1e-5))
    piston, x, y, turn = (((ahead - behind) / 2e-5) ** 2).sum(axis=1)
    return CRANK + PISTON * piston + ROD * (x + y) + TURNS * turn


@few(1, ("pistons", "method"), [(1, "auto"), (3, "rodas4"), (6, "auto")])
def test_pistons_take_the_energy_of_their_friction_from_the_crank(pistons, method):
    run = engine(pistons).simulate("0.4 s", method=method, rtol=1e-9,
                                   times=quantity(np.linspace(0, 0.4, 41), "s"))
    angle, speed = run["bearing.phi"].to("rad").m, run["crank.w"].to("rad/s").m
    energy = inertia_of_engine(angle, pistons) * speed**2 / 2
    assert angle[-1] > 2 * np.pi
    # ways of all pistons together, from the start on: they turn round at dead centres
    fine = np.linspace(0.0, angle[-1], 200_001)
    moved = np.abs(np.diff(places(fine, pistons)[0], axis=1)).sum(axis=0)
    ways = np.interp(angle, fine, np.append(0.0, np.cumsum(moved)))
    assert_allclose(energy, energy[0] - FRICTION * ways, rtol=1e-7)
    first = 0.3 + 2 * np.pi * np.arange(pistons) / pistons
    assert len(run.events) == np.sum(np.floor((angle[-1] + first) / np.pi) - np.floor(
        first / np.pi))  # one at every dead centre
    assert run.statistics.get("stretches in Python") is None


def test_at_a_dead_centre_the_crank_starts_with_the_speed_that_it_is_given():
    """pi is not quite met, and a rod's angle of 4e-17 rad says nothing of how large angles are."""
    model = engine(2, first=0.0)
    model.piston0.x, model.piston1.x = f"{L + R} m", f"{L - R} m"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = model.stepper()
    assert_allclose(start["crank.w"].to("rad/s").m, 50, rtol=1e-12)
    assert_allclose(start["rod1.w"].to("rad/s").m, 50 * R / L, rtol=1e-12)


def lift(stages, angle=0.4):
    """Bars in pairs that cross in their middles; one foot stands, a spring pulls at the other."""
    model = wired("lift", "foot.B ground.P", "spring.B ground.P", "spring.F foot.F",
                  ground=Ground(), foot=Prismatic(),
                  spring=SpringDamper(stiffness=f"{stages} kN/m", free_length="0.5 m"))
    left, right = "ground.P", "foot.F"
    for k in range(stages):
        for name, turn in ((f"up{k}", angle), (f"down{k}", np.pi - angle)):
            wire(model, f"{name}.P middle_of_{name}.B end_of_{name}.B", **{
                name: Body(mass=f"{MASS} kg", inertia=f"{TURN} kg*m^2", center_x="0.5 m",
                           phi=f"{turn} rad"), f"middle_of_{name}": RigidOffset(dx="0.5 m"),
                f"end_of_{name}": RigidOffset(dx="1 m")})
        hinged(model, f"left{k}", left, f"up{k}.P")
        hinged(model, f"right{k}", right, f"down{k}.P")
        hinged(model, f"cross{k}", f"middle_of_up{k}.F", f"middle_of_down{k}.F")
        left, right = f"end_of_down{k}.F", f"end_of_up{k}.F"
    return model


@few(1, "stages", [1, 3, 6])
def test_a_lift_starts_at_the_angle_that_it_is_given(stages):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        start = lift(stages).stepper()
    assert_allclose(start["foot.s"].to("m").m, np.cos(0.4), rtol=1e-12)
    for k in range(stages):
        assert_allclose(start[f"up{k}.phi"].to("rad").m, 0.4, rtol=1e-12)


@few(1, ("stages", "method"), [(3, "rodas4"), (6, "auto")])
def test_a_lift_moves_as_its_one_angle_does(stages, method):
    run = lift(stages).simulate("0.5 s", method=method, rtol=1e-9,
                                 times=quantity(np.linspace(0, 0.5, 51), "s"))
    angle, speed = run["up0.phi"].to("rad").m, run["up0.w"].to("rad/s").m
    height, middle = (np.arange(stages) + 0.5)[:, None] * np.sin(angle), 0.5 * np.cos(angle)
    up, along = (np.arange(stages) + 0.5)[:, None] * np.cos(angle), -0.5 * np.sin(angle)
    inertia = 2 * (MASS * (up**2 + along**2) + TURN).sum(axis=0)
    energy = inertia * speed**2 / 2 + 2 * MASS * 9.81 * height.sum(axis=0) + 500 * stages * (
        2 * middle - 0.5) ** 2
    assert np.ptp(angle) > 0.05
    assert_allclose(energy, energy[0], rtol=1e-8)


@pytest.mark.parametrize("links", [6, 24])
def test_a_chain_that_hangs_at_both_ends_keeps_its_energy(links):
    """Of 24 links more than 100 states and forces are solved for together, in machine code."""
    angles = np.linspace(-1.2, 1.2, links)
    model = wired("chain", near=Ground(), far=Ground(x=f"{np.cos(angles).sum()} m",
                                                     y=f"{np.sin(angles).sum()} m"))
    end = "near.P"
    for k, angle in enumerate(angles):
        wire(model, f"link{k}.P tip{k}.B", **{
            f"link{k}": Body(mass="1 kg", inertia="0.1 kg*m^2", center_x="0.5 m",
                             phi=f"{angle} rad"), f"tip{k}": RigidOffset(dx="1 m")})
        hinged(model, f"hinge{k}", end, f"link{k}.P")
        end = f"tip{k}.F"
    hinged(model, "last", "far.P", end)
    run = model.simulate("1 s", method="dopri5", rtol=1e-8)
    mine = [(run[f"link{k}.phi"].to("rad").m, run[f"link{k}.w"].to("rad/s").m)
            for k in range(links)]
    phi, w = (np.array(values) for values in zip(*mine, strict=True))
    steps = np.array([np.cos(phi), np.sin(phi)])
    speeds = np.array([-np.sin(phi) * w, np.cos(phi) * w])
    middles = np.cumsum(steps, axis=1) - steps / 2
    moving = np.cumsum(speeds, axis=1) - speeds / 2
    energy = 0.5 * (moving**2).sum(axis=(0, 1)) + 0.05 * (w**2).sum(axis=0) + 9.81 * (
        middles[1].sum(axis=0))
    assert np.abs(w).max() > 0.5
    assert_allclose(energy, energy[0], atol=1e-5 * links)
    assert_allclose(steps.sum(axis=1).T, np.tile([np.cos(angles).sum(), np.sin(angles).sum()], (
        phi.shape[1], 1)), atol=1e-9)


# -- arms whose joints are driven through gears with losses ----------------------------------------
LINKS, CENTRE, LENGTH, INERTIA = (3.0, 2.0), 0.2, 0.4, 0.05
ROTOR, RATIO, TORQUE = 1e-4, 20.0, (1.6, 0.4)
FORWARD, BACKWARD, BEARING = 0.85, 0.7, 0.02
LAWS = (1 - FORWARD, BEARING), (1 - 1 / BACKWARD, BEARING)  # what is lost going forward
RUBS = 10.0


def arm(rubs=0.0):
    """Two links in gravity, with a motor and a gear at each joint; the first rests if it rubs."""
    model = wired("arm", "gravity.P ground.P",
                  ground=Ground(), gravity=Gravity(), frame=RotationalReference())
    base = "ground.P"
    for k in (0, 1):
        rests = k == 0 and rubs > 0
        wire(model, f"{base} joint{k}.B", f"joint{k}.F body{k}.P end{k}.B",
             f"drive{k}.R rotor{k}.I gear{k}.S", f"drive{k}.C frame.W", f"gear{k}.O joint{k}.A",
             **{f"joint{k}": Revolute(drive=True, phi="0.3 rad",
                                      w="0 rad/s" if rests else "1 rad/s"),
                f"body{k}": Body(mass=quantity(LINKS[k], "kg"), center_x="0.2 m",
                                 inertia=quantity(INERTIA, "kg*m^2")),
                f"end{k}": RigidOffset(dx="0.4 m"),
                f"rotor{k}": Inertia(inertia=quantity(ROTOR, "kg*m^2")),
                f"drive{k}": TorqueSource(torque=quantity(TORQUE[k], "N*m")), f"gear{k}": LossyGear(
                    ratio=RATIO, forward_efficiency=FORWARD, backward_efficiency=BACKWARD,
                    forward_bearing_torque=quantity(BEARING, "N*m"),
                    backward_bearing_torque=quantity(BEARING, "N*m"))})
        if rests:
            torque = quantity(rubs, "N*m")
            wire(model, "rub.R joint0.A", "rub.C frame.W", rub=RotationalFriction(
                law="coulomb", coulomb_torque=torque, breakaway_torque=torque))
        base = f"end{k}.F"
    return model


def motion(q, w):
    """Of both joints, its matrix and what has to be overcome."""
    b, d = LINKS[1] * LENGTH * CENTRE, INERTIA + LINKS[1] * CENTRE**2
    a = 2 * INERTIA + LINKS[0] * CENTRE**2 + LINKS[1] * (LENGTH**2 + CENTRE**2)
    s, c = np.sin(q[1]), np.cos(q[1])
    weight = 9.81 * LINKS[1] * CENTRE * np.cos(q[0] + q[1])
    return np.array([[a + 2 * b * c, d + b * c], [d + b * c, d]]), np.array([
        -b * s * (2 * w[0] * w[1] + w[1] ** 2) + weight + 9.81
        * (LINKS[0] * CENTRE + LINKS[1] * LENGTH) * np.cos(q[0]), b * s * w[0] ** 2 + weight])


def accelerations(q, w, rubs=0.0, moving=(0, 1)):
    """Of joints that go forward; which side of each of their gears drives is found by trying."""
    matrix, forces = motion(q, w)
    moving, forces[0] = list(moving), forces[0] + rubs
    torque, inner = np.array(TORQUE)[moving], matrix[np.ix_(moving, moving)]
    for sides in product((0, 1), repeat=len(moving)):
        share, constant = np.array([LAWS[k] for k in sides]).T
        keeps = RATIO * (1 - share)  # of the torque at the input
        found = np.linalg.solve(inner + np.diag(keeps * ROTOR * RATIO),
                                keeps * torque - RATIO * constant - forces[moving])
        at_input = torque - ROTOR * RATIO * found
        losses = [[f * t + g for f, g in LAWS] for t in at_input]
        if np.array_equal(sides, np.argmax(losses, axis=1)):
            out = np.zeros(2)
            out[moving] = found
            return out
    raise AssertionError("no side drives")


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_losses_that_follow_the_motion_of_an_arm(method):
    by_hand = solve_ivp(lambda t, y: np.concatenate([y[2:], accelerations(y[:2], y[2:])]),
                        (0, 0.25), [0.3, 0.3, 1.0, 1.0], rtol=1e-10, atol=1e-12,
                        method="DOP853", dense_output=True)
    assert (by_hand.y[2:] > 0).all()  # no gear stands still
    run = arm().simulate("0.25 s", method=method, rtol=1e-9)
    assert run.statistics["method"] == ("DOP853" if method == "auto" else "rodas4")
    times = np.linspace(0, 0.25, 26)
    for k in (0, 1):
        found = run[f"joint{k}.phi"].at(quantity(times, "s")).m
        assert_allclose(found, by_hand.sol(times)[k], rtol=0, atol=1e-7)
    assert run.energy().relative_residual < 1e-8


def test_a_joint_whose_gear_and_friction_rest_together_gives_way_beside_one_that_moves():
    """What the swinging link asks of the resting joint, by hand, until both are overcome."""
    least = RATIO * (TORQUE[0] - max(f * TORQUE[0] + g for f, g in LAWS))

    def needed(t, y):
        """Of the resting joint, beyond what friction and loss leave of its motor's torque."""
        matrix, forces = motion(*np.split(y, 2))
        return matrix[0] @ accelerations(*np.split(y, 2), moving=[1]) + forces[0] - least + RUBS

    needed.terminal = True
    options = {"rtol": 1e-10, "atol": 1e-12, "method": "DOP853"}
    start = np.array([0.3, 0.3, 0.0, 1.0])
    first = solve_ivp(lambda t, y: np.concatenate(
        [y[2:], accelerations(*np.split(y, 2), moving=[1])]), (0, 1), start, events=needed,
        **options)
    away = first.t[-1]
    then = solve_ivp(lambda t, y: np.concatenate([y[2:], accelerations(*np.split(y, 2), RUBS)]),
                     (away, 0.25), first.y[:, -1], **options)
    assert 0.2 < away < 0.21
    run = arm(RUBS).simulate("0.25 s", rtol=1e-9)
    assert not run.statistics.get("stretches in Python") and (
        not run.statistics.get("events in Python"))
    assert sorted(e.component for e in run.events) == ["gear0", "rub"]
    assert_allclose([e.time for e in run.events], away, rtol=1e-8)
    assert_allclose([run[f"joint{k}.phi"].final.m for k in (0, 1)], then.y[:2, -1], atol=1e-7)
    loss, rub, turn, speed = (run[path].at("0.1 s").m for path in (
        "gear0.loss", "rub.t", "joint1.phi", "joint1.w"))
    low, high = (sign * max(sign * f * TORQUE[0] + g for f, g in LAWS) for sign in (-1, 1))
    assert low <= loss <= high * (1 + 1e-9) and abs(rub) < RUBS  # in any shares
    assert RATIO * (TORQUE[0] - loss) - rub == pytest.approx(
        needed(0.1, np.array([0.3, turn, 0.0, speed])) + least - RUBS, rel=1e-7)


@pytest.mark.parametrize("rubs", [0.0, RUBS])
def test_joints_that_stop_and_turn_round_are_decided_in_machine_code(rubs):
    run = arm(rubs).simulate("1.5 s", rtol=1e-9)
    assert len(run.events) >= 7 and not run.statistics.get("events in Python")
    assert run.energy().relative_residual < 1e-8
