"""Discs in a row that touch without force: blows go through, rounding moves nothing."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, SimulationError, quantity
from library.planar import Body, Circle, Contact, Gravity, Ground, Line

G = 9.81


def row(restitution, hit, degrees):
    """Five discs along a straight guide, without gravity; the first ones come with 1 m/s."""
    model = wired("row", "gravity.P ground.P", ground=Ground(), gravity=Gravity(strength="0 m/s^2"))
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    guide = Line(quantity(degrees, "deg"), x=quantity(0.1 * s, "m"), y=quantity(-0.1 * c, "m"))
    before = None
    for k in range(5):
        way, speed = 0.2 * k - (0.3 if k < hit else 0.0), float(k < hit)
        body = Body(x=quantity(way * c, "m"), y=quantity(way * s, "m"), inertia="5 g*m^2",
                    vx=quantity(speed * c, "m/s"), vy=quantity(speed * s, "m/s"))  # fmt: skip
        on = Contact(curve=Circle("0.1 m"), base=guide, smooth=True)
        model.add(f"body{k}", body)
        model.add(f"on{k}", on)
        model.connect(model.ground.P, on.B)
        model.connect(body.P, on.F)
        if before is not None:
            next_to = model.add(f"pair{k}", Contact(
                curve=Circle("0.1 m"), base=Circle("0.1 m"), smooth=True, restitution=restitution))
            model.connect(before.P, next_to.B)
            model.connect(body.P, next_to.F)
        before = body
    return model


@pytest.mark.parametrize("degrees", [0.0, 30.0, 123.0])
@pytest.mark.parametrize(("restitution", "hit", "after"), [
    (1.0, 1, [0, 0, 0, 0, 1]),
    (1.0, 2, [0, 0, 0, 1, 1]),
    (0.0, 1, [0.2] * 5),
    (0.0, 2, [0.4] * 5),
])  # fmt: skip
def test_a_row_of_discs_passes_a_blow_on_or_goes_on_together(degrees, restitution, hit, after):
    run = row(restitution, hit, degrees).simulate("0.6 s", rtol=1e-9)
    speeds = [np.hypot(run[f"body{k}.vx"].final.m, run[f"body{k}.vy"].final.m) for k in range(5)]
    assert_allclose(speeds, after, atol=1e-12)


def between_walls(friction, spin):
    model = Model("between walls")
    model.ground = Ground()
    model.disc = Body(inertia="5 g*m^2", x="0 m", y="0.1 m", w=quantity(spin, "rad/s"))
    for name, base in {"floor": Line(), "left": Line("-90 deg", x="-0.1 m"),
                       "right": Line("90 deg", x="0.1 m")}.items():  # fmt: skip
        touch = model.add(name, Contact(curve=Circle("0.1 m"), base=base, friction=friction))
        model.connect(model.ground.P, touch.B)
        model.connect(model.disc.P, touch.F)
    return model


def test_a_disc_that_just_fits_between_walls_without_friction_spins_on():
    run = between_walls(0.0, 50.0).simulate("0.5 s", rtol=1e-9)
    assert run["disc.w"].final.m == 50.0
    assert_allclose(run["floor.N"].final.m, G, rtol=1e-12)


def test_a_disc_that_spins_wedged_between_rough_walls_has_no_determined_motion():
    """Any force of the walls against each other obeys the laws, and friction depends on it."""
    with pytest.raises(SimulationError, match="wedged") as caught:
        between_walls(0.3, 50.0).simulate("0.5 s")
    assert caught.value.code == "simulation.paradox"
    assert {"left", "right"} <= set(caught.value.where.split(", "))
