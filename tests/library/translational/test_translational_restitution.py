"""Hard stop with restitution against the closed form of the bouncing ball."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, ParameterError
from library.translational import ForceSource, HardStop, Mass, Reference

G, H, E = 9.81, 1.0, 0.5


def dropped(mass: str = "2 kg", restitution: float = E) -> Model:
    model = Model("dropped")
    model.ball = Mass(mass=mass)
    model.floor = HardStop(model="restitution", lower_bound="0 m", upper_bound="5 m",
                           restitution=restitution, x=f"{H} m")  # fmt: skip
    model.ground = Reference()
    model.weight = ForceSource(force=f"{-G * float(mass.split()[0])} N")
    model.connect(model.ball.M, model.floor.R, model.weight.R)
    model.connect(model.floor.C, model.weight.C, model.ground.V)
    return model


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_a_ball_rebounds_at_the_closed_form_times_and_comes_to_rest(method):
    run = dropped().simulate("3 s", rtol=1e-9, method=method)
    times = run.events.of("floor").to_pandas()["time [s]"].to_numpy()
    first = np.sqrt(2 * H / G)
    bounces = first * (1 + 2 * np.cumsum(E ** np.arange(1, 6)))
    assert_allclose(times[0], first, rtol=1e-8)
    assert_allclose(times[1:6], bounces, rtol=1e-8)
    assert_allclose(times[-1], first * (1 + 2 * E / (1 - E)), rtol=1e-7)  # sum of all bounces
    assert len(times) < 60
    assert abs(run["floor.x"].final.to("m").m) < 1e-12
    assert_allclose(run["floor.lower_force"].final.to("N").m, 2 * G, rtol=1e-12)
    assert_allclose(run["floor.f"].final.to("N").m, -2 * G, rtol=1e-12)


def test_what_the_rebounds_lose_is_dissipated_by_the_stop():
    energy = dropped().simulate("3 s", rtol=1e-10).energy()
    assert_allclose(energy["floor"].dissipated, 2 * G * H, rtol=1e-8)
    assert energy.relative_residual < 1e-9


def test_an_elastic_ball_bounces_back_to_its_height():
    run = dropped(restitution=1.0).simulate("4 s", rtol=1e-10)
    period = 2 * np.sqrt(2 * H / G)
    assert_allclose(run["floor.x"].at(f"{4 * period} s").to("m").m, H, rtol=1e-7)
    assert abs(run["floor.x"].min().to("m").m) < 1e-8


def test_the_upper_stop_holds_what_presses_up():
    model = dropped()
    model.weight.force = "7 N"
    run = model.simulate("8 s", rtol=1e-8)
    assert_allclose(run["floor.x"].final.to("m").m, 5.0, rtol=1e-12)
    assert_allclose(run["floor.upper_force"].final.to("N").m, 7.0, rtol=1e-10)
    assert_allclose(run["floor.f"].final.to("N").m, 7.0, rtol=1e-10)


def test_an_elastic_stop_has_no_coefficient_of_restitution():
    with pytest.raises(ParameterError, match="has no meaning with model='smooth'"):
        HardStop(restitution=0.5)
