"""A box of four corners: thrown, on an edge, on a side, without anything that presses it."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.planar import Body, Contact, Corner, Ground, Line

G = 9.81
A, B = 0.2, 0.1  # half sides in m
J = (A**2 + B**2) / 3  # of 1 kg


def box(friction, restitution=0.0, **start):
    """A box of 1 kg whose four corners may touch a floor."""
    model = wired("box",
                  ground=Ground(), body=Body(mass="1 kg", inertia=quantity(J, "kg*m^2"), **start))
    for k, (x, y) in enumerate([(A, B), (-A, B), (-A, -B), (A, -B)]):
        corner = Corner(x=quantity(x, "m"), y=quantity(y, "m"))
        touch = Contact(curve=corner, base=Line(), friction=friction, restitution=restitution)
        setattr(model, f"corner{k}", touch)
        model.connect(model.ground.P, touch.B)
        model.connect(model.body.P, touch.F)
    return model


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_box_that_falls_on_a_corner_starts_to_turn_and_comes_to_rest_on_its_side(friction):
    """At the plastic impact on one corner its impulse is what Newton's and Coulomb's laws say."""
    phi = np.radians(30.0)
    run = box(friction, y="0.5 m", phi="30 deg").simulate("3 s", rtol=1e-8)
    # the lowest corner, as seen from the centre
    rx = -A * np.cos(phi) + B * np.sin(phi)
    ry = -A * np.sin(phi) - B * np.cos(phi)
    fallen = 0.5 + ry
    vn = np.sqrt(2 * G * fallen)
    # normal impulse P, tangential Q = s friction P while it slips: P (1 + rx^2/J) + ...
    k_nn, k_nt = 1 + rx**2 / J, -rx * ry / J
    k_tt = 1 + ry**2 / J
    stick = np.linalg.solve([[k_nn, k_nt], [k_nt, k_tt]], [vn, 0.0])
    if abs(stick[1]) <= friction * stick[0]:
        p, q = stick
    else:
        s = np.sign(stick[1]) * friction
        p = vn / (k_nn + s * k_nt)
        q = s * p
    struck = run.events[0].time
    assert struck == pytest.approx(vn / G, abs=1e-9)
    after = quantity(struck + 1e-7, "s")
    assert run["body.w"].at(after).m == pytest.approx((rx * p - ry * q) / J, abs=1e-5)
    assert run["body.y"].final.m == pytest.approx(B, abs=1e-10)
    assert run["body.phi"].final.m == pytest.approx(0.0, abs=1e-9)
    assert run.energy().relative_residual < 1e-8


def test_friction_of_corners_in_the_air_is_known_to_be_zero():
    """Nothing is left open of four frictions that nothing presses; two feet on a floor share."""
    run = box(0.5, y="0.5 m", phi="0 deg").simulate("1 s", rtol=1e-8)
    lands = np.sqrt(2 * G * (0.5 - B)) / G
    (shared,) = run.sticking().undetermined
    assert shared.start == pytest.approx(lands, abs=1e-9)
    assert set(shared.components) == {"corner2.N", "corner2.T", "corner3.N", "corner3.T"}
    assert np.all(np.abs(run["corner0.T"].m) < 1e-12)


@pytest.mark.parametrize("friction", [
    (0.26, 0.276, 0.205), (0.182, 0.253, 0.263), (0.104, 0.151, 0.15), (0.3, 0.2, 0.25)])
def test_the_middle_one_of_three_boxes_slides_as_far_as_friction_lets_it(friction):
    """The lowest one bears nearly what its friction holds, shared by two feet as they like."""
    model = Model("stack")
    model.ground = below = Ground()
    for i, mu in enumerate(friction):
        upper = model.add(f"box{i}", Body(
            inertia=quantity(J, "kg*m^2"), x="0 m", y=quantity((2 * i + 1) * B, "m"), phi="0 rad",
            vx="1 m/s" if i == 1 else "0 m/s"))
        for side in (-A, A):
            foot = model.add(f"foot{i}{'left' if side < 0 else 'right'}", Contact(
                curve=Corner(x=quantity(side, "m"), y=quantity(-B, "m")), friction=mu,
                base=Line(y="0 m" if i == 0 else quantity(B, "m"))))
            model.connect(foot.F, upper.P)
            model.connect(foot.B, below.P)
        below = upper
    # until the upper two move alike, then alike or each by itself
    _, lower, above = friction
    brakes = (2 * lower + above) * G, above * G
    alike = 1 / sum(brakes)
    speed = brakes[1] * alike
    way = alike - brakes[0] * alike**2 / 2
    way += speed**2 / 2 / (max(lower, 2 * lower - above) * G)
    run = model.simulate("0.4 s", rtol=1e-9)
    assert_allclose([run[f"box{i}.x"].final.m for i in range(2)], [0.0, way], rtol=0, atol=1e-9)
    assert len(run.events) <= 12
