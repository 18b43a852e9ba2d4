"""Exact friction in the library against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from library.translational import (
    ForceSource,
    FrictionRing,
    Mass,
    PositionSource,
    Reference,
    Spring,
    TranslationalFriction,
)


def test_a_mass_on_a_spring_stops_where_coulomb_friction_holds_it():
    model = Model("oscillator")
    model.mass = Mass(mass="1 kg")
    model.spring = Spring(stiffness="1 N/m", x="2.5 m")
    model.friction = TranslationalFriction(law="coulomb", coulomb_force="1 N",
                                           breakaway_force="1 N")  # fmt: skip
    model.ground = Reference()
    model.connect(model.mass.M, model.spring.R, model.friction.R)
    model.connect(model.spring.C, model.friction.C, model.ground.V)
    run = model.simulate("1000 s", rtol=1e-10)
    assert_allclose(run["spring.x"].final.to("m").m, -0.5, atol=1e-9)
    later = run["spring.x"].at([f"{t} s" for t in np.linspace(4, 1000, 40)]).to("m").m
    assert np.ptp(later) <= 1e-14  # it sticks: no creep at all
    (stop,) = run.events.of("friction").to_pandas()["time [s]"]
    assert_allclose(stop, np.pi, atol=1e-9)


def test_friction_at_rest_carries_the_load_and_breaks_away_at_its_bound():
    model = Model("loaded")
    model.mass = Mass(mass="2 kg")
    model.friction = TranslationalFriction(law="coulomb", coulomb_force="3 N",
                                           breakaway_force="5 N")  # fmt: skip
    model.push = ForceSource(force=lambda t: quantity("2 N/s") * t)
    model.ground = Reference()
    model.connect(model.mass.M, model.friction.R, model.push.R)
    model.connect(model.friction.C, model.push.C, model.ground.V)
    run = model.simulate("4 s", rtol=1e-10)
    assert_allclose(run["friction.f"].at("1.5 s").to("N").m, 3.0, rtol=1e-12)
    (slip,) = run.events.of("friction").to_pandas()["time [s]"]
    assert_allclose(slip, 2.5, atol=1e-9)
    after = 1.5  # s of sliding under 2 t - 3 N
    assert_allclose(run["mass.v"].final.to("m/s").m, (2 * after + after**2) / 2, rtol=1e-9)
    assert run.sticking()["friction"].breakaways == 1


def test_stribeck_friction_slides_with_the_force_of_its_curve():
    model = Model("driven")
    model.drive = PositionSource(position=lambda t: quantity("0.05 m/s") * t)
    model.friction = TranslationalFriction(
        law="stribeck", coulomb_force="20 N", breakaway_force="25 N",
        breakaway_velocity="0.1 m/s", viscous_coefficient="3 N*s/m",
    )  # fmt: skip
    model.ground = Reference()
    model.connect(model.drive.R, model.friction.R)
    model.connect(model.drive.C, model.friction.C, model.ground.V)
    force = model.simulate("1 s")["friction.f"].final.to("N").m
    assert_allclose(force, 20 + 5 * np.exp(-0.25) + 3 * 0.05, rtol=1e-12)


def test_a_friction_ring_loads_on_one_line_and_unloads_on_another():
    k, preload, ring, amplitude = 1000.0, 50.0, 8.0, 0.02
    model = Model("buffer")
    model.press = PositionSource(
        position=lambda t: quantity(amplitude, "m") * sin(t * quantity("1 1/s"))
    )
    model.ring = FrictionRing(stiffness="1 kN/m", preload="50 N", ring_friction="8 N")
    model.ground = Reference()
    model.connect(model.press.R, model.ring.R)
    model.connect(model.press.C, model.ring.C, model.ground.V)
    run = model.simulate(f"{2 * np.pi} s", rtol=1e-10)
    for t in (0.7, 2.4, 4.0, 5.9):
        x = amplitude * np.sin(t)
        expected = preload + k * x + ring * np.sign(np.cos(t))
        assert_allclose(run["ring.f"].at(f"{t} s").to("N").m, expected, rtol=1e-9)
    assert_allclose(run.energy()["ring"].dissipated, 4 * ring * amplitude, rtol=1e-9)


@pytest.mark.parametrize("parameters, text", [
    ({"law": "coulom"}, "Did you mean 'coulomb'?"),
    ({"law": "coulomb", "breakaway_velocity": "1 m/s"}, "has no meaning with law='coulomb'"),
    ({"coulomb_force": "-1 N"}, "must be at least 0 N, but is -1 N"),
])  # fmt: skip
def test_a_wrong_law_or_parameter_is_refused_by_name(parameters, text):
    with pytest.raises(ValueError if "Did" not in text else AttributeError, match=".") as caught:
        TranslationalFriction(**parameters)
    assert text in str(caught.value) and "TranslationalFriction." in str(caught.value)
