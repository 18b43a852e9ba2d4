"""Discs that slide into a corner, and onto each other, come to rest there: contacts that touch and
carry nothing stay as they are."""

import pytest
from friction_bench import value
from numpy.testing import assert_allclose

from blocks import Model
from library.planar import Body, Circle, Contact, Ground, Line


def in_a_corner(count):
    """Discs of 1 kg and 0.25 m that move at 1 m/s towards a wall, 50 mm apart."""
    model, before = Model("discs"), None
    model.ground = Ground()
    for k in range(count):
        disc = model.add(f"disc{k}", Body(
            mass="1 kg", inertia="0.03 kg*m^2", x=f"{0.3 + 0.55 * k} m", y="0.25 m", phi="0 rad",
            vx="-1 m/s", vy="0 m/s", w="0 rad/s"))  # fmt: skip
        _touch(model, f"floor{k}", disc, Line(), model.ground.P, 0.3)
        if before is None:
            _touch(model, "wall", disc, Line("-90 deg"), model.ground.P, 0.3)
        else:
            _touch(model, f"touch{k}", disc, Circle("0.25 m"), before.P, 0.1)
        before = disc
    return model


def _touch(model, name, disc, base, other, friction):
    contact = model.add(name, Contact(curve=Circle("0.25 m"), base=base, friction=friction))
    model.connect(contact.F, disc.P)
    model.connect(contact.B, other)


@pytest.mark.parametrize("count", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_they_rest_side_by_side(count):
    run = in_a_corner(count).simulate("2 s")
    for k in range(count):
        assert_allclose(value(run, f"disc{k}.x"), 0.25 + 0.5 * k, atol=1e-8)
        assert_allclose([value(run, f"disc{k}.{v}") for v in ("vx", "vy", "w")], 0, atol=1e-9)
    assert run.energy().relative_residual < 1e-9
