"""Coulomb, viscous and static friction together."""

import numpy as np
from benches import wired
from benches.friction import dry, happened, missing_energy, push, value
from numpy.testing import assert_allclose

from blocks import where
from library.translational import Mass, Reference


def bench(kinetic, static, viscous, load=lambda t: 0 * t, **body):
    return wired("bench", "body.M friction.R load.R", "friction.C load.C ground.V",
                 body=Mass(**body), ground=Reference(),
                 friction=dry(kinetic, static, viscous_coefficient=viscous), load=push(load))


def test_a_body_on_coulomb_and_viscous_friction_stops_after_a_finite_time():
    m, f, c, v0 = 2.0, 3.0, 1.5, 4.0
    run = bench(f, 4.0, "1.5 N*s/m", mass="2 kg", v="4 m/s").simulate("6 s", rtol=1e-11)
    stop = m / c * np.log(1 + c * v0 / f)
    ((time, *_),) = happened(run)
    assert_allclose(time, stop, rtol=0, atol=1e-9)
    t = stop / 2
    assert_allclose(value(run, "body.v", t), (v0 + f / c) * np.exp(-c * t / m) - f / c, rtol=1e-9)
    assert value(run, "body.v") == 0
    assert missing_energy(run) < 1e-9


def test_static_friction_holds_to_its_bound_and_sliding_goes_on_at_the_lower_force():
    m, f, s, c, r = 1.0, 2.0, 3.0, 0.5, 1.0  # load r t
    run = bench(f, s, "0.5 N*s/m", load=lambda t: r * t).simulate("5 s", rtol=1e-11)
    ((time, _, what),) = happened(run)
    assert what == "slides forward"
    assert_allclose(time, s / r, rtol=0, atol=1e-10)
    # m v' = r t - f - c v
    t = 5.0 - s / r
    a, b = r / c, (s - f) / c - m * r / c**2
    assert_allclose(value(run, "body.v"), a * t + b * (1 - np.exp(-c * t / m)), rtol=1e-9)


def test_sliding_goes_on_under_a_load_between_kinetic_and_static_friction():
    load = 2.5
    moving = bench(2.0, 3.0, "0.5 N*s/m", load=lambda t: load + 0 * t, v="1 m/s").simulate("40 s")
    assert happened(moving) == []
    assert_allclose(value(moving, "body.v"), (load - 2.0) / 0.5, rtol=1e-5)
    resting = bench(2.0, 3.0, "0.5 N*s/m", load=lambda t: load + 0 * t).simulate("40 s")
    assert happened(resting) == []
    assert value(resting, "body.v") == 0
    assert_allclose(value(resting, "friction.f"), load, rtol=1e-14)


def test_friction_at_rest_is_symmetric():
    def load(t):
        return where(t < 2, 1.5 * t, 6 - 1.5 * t)

    run = bench(4.0, 4.0, "0 N*s/m", load=lambda t: load(t) - 1).simulate("8 s", rtol=1e-10)
    ((time, _, what),) = happened(run, "friction")
    assert what == "slides backward"
    assert_allclose(time, (6 - 1 + 4) / 1.5, rtol=1e-10)
