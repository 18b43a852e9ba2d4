"""Arms whose joints are driven through gears with losses, against equations of motion by hand."""

from itertools import product

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import quantity
from library.mechanisms import LossyGear
from library.planar import Body, Gravity, Ground, Revolute, RigidOffset
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource

MASS, CENTRE, LENGTH, INERTIA = (3.0, 2.0), 0.2, 0.4, 0.05
ROTOR, RATIO, TORQUE = 1e-4, 20.0, (1.6, 0.4)
FORWARD, BACKWARD, BEARING = 0.85, 0.7, 0.02
LAWS = (1 - FORWARD, BEARING), (1 - 1 / BACKWARD, BEARING)  # what is lost going forward
RUBS = 10.0


def arm(rubs=0.0):
    """Two links in gravity, with a motor and a gear at each joint; the first rests if it rubs."""
    model = wired("arm", ground=Ground(), gravity=Gravity(), frame=RotationalReference())
    connect = model.connect
    connect(model.gravity.P, model.ground.P)
    base = model.ground.P
    for k in (0, 1):
        rests = k == 0 and rubs > 0
        joint = model.add(f"joint{k}", Revolute(
            drive=True, phi="0.3 rad", w="0 rad/s" if rests else "1 rad/s"))
        body = model.add(f"body{k}", Body(mass=quantity(MASS[k], "kg"), center_x="0.2 m",
                                          inertia=quantity(INERTIA, "kg*m^2")))
        end = model.add(f"end{k}", RigidOffset(dx="0.4 m"))
        rotor = model.add(f"rotor{k}", Inertia(inertia=quantity(ROTOR, "kg*m^2")))
        drive = model.add(f"drive{k}", TorqueSource(torque=quantity(TORQUE[k], "N*m")))
        gear = model.add(f"gear{k}", LossyGear(
            ratio=RATIO, forward_efficiency=FORWARD, backward_efficiency=BACKWARD,
            forward_bearing_torque=quantity(BEARING, "N*m"),
            backward_bearing_torque=quantity(BEARING, "N*m")))
        connect(base, joint.B)
        connect(joint.F, body.P, end.B)
        connect(drive.R, rotor.I, gear.S)
        connect(drive.C, model.frame.W)
        connect(gear.O, joint.A)
        if rests:
            torque = quantity(rubs, "N*m")
            model.rub = RotationalFriction(law="coulomb", coulomb_torque=torque,
                                           breakaway_torque=torque)
            connect(model.rub.R, joint.A)
            connect(model.rub.C, model.frame.W)
        base = end.F
    return model


def motion(q, w):
    """Of both joints, its matrix and what has to be overcome."""
    b, d = MASS[1] * LENGTH * CENTRE, INERTIA + MASS[1] * CENTRE**2
    a = 2 * INERTIA + MASS[0] * CENTRE**2 + MASS[1] * (LENGTH**2 + CENTRE**2)
    s, c = np.sin(q[1]), np.cos(q[1])
    weight = 9.81 * MASS[1] * CENTRE * np.cos(q[0] + q[1])
    return np.array([[a + 2 * b * c, d + b * c], [d + b * c, d]]), np.array([
        -b * s * (2 * w[0] * w[1] + w[1] ** 2) + weight
        + 9.81 * (MASS[0] * CENTRE + MASS[1] * LENGTH) * np.cos(q[0]), b * s * w[0] ** 2 + weight])


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
    # both are at the same share of their ranges
    at = quantity(0.1, "s")
    loss, rub = run["gear0.loss"].at(at).m, run["rub.t"].at(at).m
    low, high = (sign * max(sign * f * TORQUE[0] + g for f, g in LAWS) for sign in (-1, 1))
    assert (loss - low) / (high - low) == pytest.approx((rub + RUBS) / (2 * RUBS), rel=1e-9)


@pytest.mark.parametrize("rubs", [0.0, RUBS])
def test_joints_that_stop_and_turn_round_are_decided_in_machine_code(rubs):
    run = arm(rubs).simulate("1.5 s", rtol=1e-9)
    assert len(run.events) >= 7 and not run.statistics.get("events in Python")
    assert run.energy().relative_residual < 1e-8
