"""Arms whose joints are driven through gears with losses, against equations of motion by hand."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Model, quantity
from library.mechanisms import LossyGear
from library.planar import Body, Gravity, Ground, Revolute, RigidOffset
from library.rotational import Inertia, RotationalReference, TorqueSource

MASS, CENTRE, LENGTH, INERTIA = (3.0, 2.0), 0.2, 0.4, 0.05
ROTOR, RATIO, TORQUE = 1e-4, 20.0, (1.6, 0.4)
FORWARD, BACKWARD, BEARING = 0.85, 0.7, 0.02


def arm():
    """Two links that hang in gravity, with a motor and a gear at each joint."""
    model = Model("arm")
    model.ground, model.gravity, model.frame = Ground(), Gravity(), RotationalReference()
    connect = model.connect
    connect(model.gravity.P, model.ground.P)
    base = model.ground.P
    for k in (0, 1):
        joint = model.add(f"joint{k}", Revolute(drive=True, phi="0.3 rad", w="1 rad/s"))
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
        base = end.F
    return model


def accelerations(q, w):
    """Of both joints; which side of each gear drives is found by trying."""
    b, d = MASS[1] * LENGTH * CENTRE, INERTIA + MASS[1] * CENTRE**2
    a = 2 * INERTIA + MASS[0] * CENTRE**2 + MASS[1] * (LENGTH**2 + CENTRE**2)
    s, c = np.sin(q[1]), np.cos(q[1])
    matrix = np.array([[a + 2 * b * c, d + b * c], [d + b * c, d]])
    weight = 9.81 * MASS[1] * CENTRE * np.cos(q[0] + q[1])
    forces = np.array([
        -b * s * (2 * w[0] * w[1] + w[1] ** 2) + weight
        + 9.81 * (MASS[0] * CENTRE + MASS[1] * LENGTH) * np.cos(q[0]), b * s * w[0] ** 2 + weight])
    way, torque = np.sign(w), np.array(TORQUE)
    laws = [(1 - FORWARD, BEARING), (1 - 1 / BACKWARD, BEARING)]
    for sides in product((0, 1), repeat=2):
        share, constant = np.array([laws[k] for k in sides]).T
        keeps = RATIO * (1 - share)  # of the torque at the input
        found = np.linalg.solve(matrix + np.diag(keeps * ROTOR * RATIO),
                                keeps * torque - RATIO * way * constant - forces)
        at_input = torque - ROTOR * RATIO * found
        losses = np.array([[f * at_input[k] + way[k] * g for f, g in laws] for k in (0, 1)])
        larger = np.argmax(losses * way[:, None], axis=1)
        if np.array_equal(larger, sides):
            return found
    raise AssertionError("no side drives")


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_losses_that_follow_the_motion_of_an_arm(method):
    by_hand = solve_ivp(lambda t, y: np.concatenate([y[2:], accelerations(y[:2], y[2:])]),
                        (0, 0.25), [0.3, 0.3, 1.0, 1.0], rtol=1e-10, atol=1e-12,
                        method="DOP853", dense_output=True)
    assert (by_hand.y[2:] > 0).all()  # no gear stands still
    run = arm().simulate("0.25 s", method=method, rtol=1e-9)
    assert run.statistics["method"] == ("dopri5" if method == "auto" else "rodas4")
    times = np.linspace(0, 0.25, 26)
    for k in (0, 1):
        found = run[f"joint{k}.phi"].at(quantity(times, "s")).m
        assert_allclose(found, by_hand.sol(times)[k], rtol=0, atol=1e-7)
    assert run.energy().relative_residual < 1e-8
