"""Stacks of discs: each carries what is above it."""

from __future__ import annotations

from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.planar import Body, Circle, Contact, Ground, Line

G, R = 9.81, 0.1


def disc(model, name, x, y):
    return model.add(name, Body(inertia="5 g*m^2", x=quantity(x, "m"), y=quantity(y, "m"),
                                phi="0 rad", vx="0 m/s", vy="0 m/s", w="0 rad/s"))  # fmt: skip


def touch(model, name, lower, upper, base, **more):
    contact = model.add(name, Contact(curve=Circle("0.1 m"), base=base, **more))
    model.connect(lower.P, contact.B)
    model.connect(upper.P, contact.F)


def test_three_discs_above_each_other_carry_the_weights_above_them():
    model = Model("column")
    below, base, model.ground = None, Line(), Ground()
    for i in range(3):
        body = disc(model, f"disc{i}", 0.0, R * (2 * i + 1))
        touch(model, f"touch{i}", below or model.ground, body, base)
        below, base = body, Circle("0.1 m")
    run = model.simulate("1 s", rtol=1e-9, every="0.5 s")
    assert_allclose([run[f"touch{i}.N"].final.m for i in range(3)], [3 * G, 2 * G, G], rtol=1e-9)
    assert_allclose(run["disc2.y"].final.m, 5 * R, rtol=1e-12)
