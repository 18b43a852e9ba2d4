"""Moreau-Jean on curved paths: of second order while the modes last."""

import numpy as np
import pytest
from benches.planar import touching
from scipy.integrate import solve_ivp

from blocks import Target, cos, quantity
from blocks.machine import compiling
from blocks.native import contact_steps
from library.planar import Body, Circle, Line, ParametricCurve

G = 9.81


def errors(model, end, truth, steps, name):
    """Of a variable at the end, for two step sizes, and the energy that is missing."""
    runs = [model.simulate(end, method="moreau_jean", step=h) for h in steps]
    return [abs(run[name].final.m - truth) for run in runs], [
        run.energy().relative_residual for run in runs]


def fallen(seconds):
    """x of a point mass on a circle of 0.9 m, without spin: a pendulum from the horizontal."""
    swing = solve_ivp(lambda t, y: [y[1], -G / 0.9 * np.cos(y[0])], (0, seconds), [0, 0],
                      rtol=1e-12, atol=1e-12, method="DOP853")
    return 0.9 * np.cos(swing.y[0, -1])


def test_a_disc_that_slides_round_a_bowl_without_friction_keeps_its_energy():
    model = touching(Circle("0.1 m"), Circle("1 m", inside=True),
                     Body(inertia="4 g*m^2", x="0.9 m", y="0 m"), smooth=True)  # fmt: skip
    error, missing = errors(model, "1 s", fallen(1), ("4 ms", "2 ms"), "body.x")
    assert max(error) < 1e-5
    assert missing[0] < 4e-6  # of a swing that turns 9 J over
    assert missing[1] == pytest.approx(missing[0] / 4, rel=0.2)


def test_forces_act_along_the_normals_of_the_end_where_none_along_others_are_found(monkeypatch):
    prove, calls = contact_steps.proved, []

    def fails_first(*given):
        calls.append(given)
        return prove(*given) and len(calls) % 2 == 0

    monkeypatch.setattr(contact_steps, "proved", fails_first)
    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    model = touching(Circle("0.1 m"), Circle("1 m", inside=True),
                     Body(inertia="4 g*m^2", x="0.9 m", y="0 m"), smooth=True)  # fmt: skip
    error, _ = errors(model, "0.3 s", fallen(0.3), ("2 ms", "1 ms"), "body.x")
    assert error[1] < 3e-3
    assert error[1] == pytest.approx(error[0] / 2, rel=0.2)


def rolling(turn, w):
    """Angular acceleration of a disc whose centre of mass lies 0.15 m outside, about the rim."""
    r, a, m, j = 0.3, 0.15, 2.0, 0.04
    inertia = m * (r**2 + 2 * r * a * np.sin(turn) + a**2) + j
    return -(m * G * a * np.cos(turn) + m * r * a * np.cos(turn) * w**2) / inertia


def test_a_disc_with_a_weight_in_it_rolls_with_an_error_that_quarters_with_half_the_step():
    exact = solve_ivp(lambda t, y: [y[1], rolling(*y)], (0, 1), [np.pi / 2, -2], rtol=1e-12,
                      atol=1e-12, method="DOP853")  # fmt: skip
    body = Body(mass="2 kg", inertia="0.04 kg*m^2", center_x="0.15 m", x="0 m", y="0.3 m",
                phi="90 deg", vx="0.6 m/s", w="-2 rad/s")  # fmt: skip
    model = touching(Circle("0.3 m"), Line(), body, friction=2.0)
    error, missing = errors(model, "1 s", exact.y[0, -1], ("4 ms", "2 ms"), "body.phi")
    assert error[1] < 3e-5
    assert error[1] == pytest.approx(error[0] / 4, rel=0.2)
    assert max(missing) < 1e-5


def test_the_nearest_point_of_a_general_curve_is_followed_to_second_order_as_well():
    metre = quantity("1 m")
    hill = ParametricCurve(lambda s: (metre * s, 0.2 * metre * cos(np.pi * s)), -2, 2,
                           closed=False, free="left")  # fmt: skip
    body = Body(inertia="20 mg*m^2", x="50 mm", y=Target("0.22 m", priority="low"), vx="0 m/s",
                phi="0 rad", w="0 rad/s")  # fmt: skip
    model = touching(Circle("20 mm"), hill, body, smooth=True)
    model.touch.gap = "0 m"
    model.touch.xi_B = Target("0.05 rad", priority="none")
    exact = model.simulate("0.8 s", rtol=1e-10)
    # energy gives the speed at the place where the disc is
    x, y = (exact[k].final.m for k in ("body.x", "body.y"))
    speed = np.hypot(exact["body.vx"].final.m, exact["body.vy"].final.m)
    assert speed**2 / 2 == pytest.approx(G * (exact["body.y"].initial.m - y), rel=1e-8)
    run = model.simulate("0.8 s", method="moreau_jean", step="4 ms")
    assert run["body.x"].final.m == pytest.approx(x, abs=1e-4)
    assert run.energy().relative_residual < 1e-4
