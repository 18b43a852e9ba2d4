"""Heat, work and extremes of motions that are prescribed, against closed forms.

Nothing that is integrated changes, or only slowly: what is shown must be as exact all the same.
"""

import warnings

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import EnergyWarning, Model, Variable, exp, quantity, sin
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    Reference,
    TranslationalFriction,
    TwoPort,
    VelocitySource,
)

METHODS = ["auto", "DOP853", "RK45", "RK23", "ode45", "ode23s", "Radau", "BDF", "dopri5", "rodas4"]
FIXED = ["euler", "rk4", "backward_euler", "trapezoidal"]


def shaken(rate, coasting="1 m/s"):
    """A damper between a table that shakes a load and the floor; a trolley coasts beside it."""
    model = Model("shaken")
    model.floor, model.load, model.trolley = Reference(), Mass(), Mass(v=coasting)
    model.damper = Damper(damping="7 N*s/m")
    model.table = VelocitySource(velocity=lambda t: quantity("2 m/s") * sin(
        t * quantity(rate, "rad/s")))  # fmt: skip
    model.connect(model.table.R, model.load.M, model.damper.R)
    model.connect(model.table.C, model.damper.C, model.floor.V)
    return model


def heat(rate, end):
    return 7 * 4 / 2 * (end - np.sin(2 * rate * end) / (2 * rate))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rate", [3.0, 47.0])
def test_the_heat_of_a_prescribed_motion_is_its_integral(rate, method):
    run = shaken(rate).simulate("3 s", method=method)
    energy = run.energy()
    assert_allclose(energy["damper"].dissipated, heat(rate, 3.0), rtol=1e-8)
    assert energy.relative_residual < 1e-6
    assert energy.uncertainty.to("J").m < 1e-6 * heat(rate, 3.0)


@pytest.mark.parametrize("method", FIXED)
def test_the_heat_does_not_depend_on_a_step_that_is_too_long(method):
    run = shaken(47.0).simulate("3 s", method=method, step="0.1 s")
    assert_allclose(run.energy()["damper"].dissipated, heat(47.0, 3.0), rtol=1e-8)


@pytest.mark.parametrize("method", ["auto", "Radau", "ode45"])
def test_friction_under_a_prescribed_motion_dissipates_force_times_way(method):
    model = Model("rubbed")
    model.floor, model.trolley = Reference(), Mass(v="1 m/s")
    model.rub = TranslationalFriction(law="coulomb", coulomb_force="3 N", breakaway_force="3 N")
    model.table = VelocitySource(velocity=lambda t: quantity("2 m/s") * sin(
        t * quantity("2 rad/s")))  # fmt: skip
    model.connect(model.table.R, model.rub.R)
    model.connect(model.table.C, model.rub.C, model.floor.V)
    run = model.simulate(quantity(4 * np.pi, "s"), method=method)
    # four whole periods, |v| has the mean 2 * 2/pi
    assert_allclose(run.energy()["rub"].dissipated, 3 * 4 / np.pi * 4 * np.pi, rtol=1e-6)


def test_the_work_of_a_burst_is_counted():
    # 1 kg takes the impulse of a burst, sqrt(pi) F w, and with it impulse^2/2 of energy
    model = Model("struck")
    model.body, model.floor = Mass(mass="1 kg"), Reference()
    model.hammer = ForceSource(force=lambda t: quantity("1 kN") * exp(
        -(((t - quantity("3.3 s")) / quantity("1 ms")) ** 2)))  # fmt: skip
    model.connect(model.body.M, model.hammer.R)
    model.connect(model.floor.V, model.hammer.C)
    for method in ("auto", "Radau", "RK45"):
        run = model.simulate("10 s", method=method)
        impulse = np.sqrt(np.pi)
        assert_allclose(run["body.v"].final.m, impulse, rtol=1e-5)
        assert_allclose(run.energy()["hammer"].supplied, impulse**2 / 2, rtol=1e-5)


def test_runs_that_are_made_several_at_once_find_the_burst_too():
    model = Model("struck")
    model.body, model.floor = Mass(mass="1 kg"), Reference()
    model.film = Damper(damping="0.1 N*s/m")
    model.hammer = ForceSource(force=lambda t: quantity("1 kN") * exp(
        -(((t - quantity("3.3 s")) / quantity("1 ms")) ** 2)))  # fmt: skip
    model.connect(model.body.M, model.hammer.R, model.film.R)
    model.connect(model.floor.V, model.hammer.C, model.film.C)
    mass = np.linspace(1, 2, 40)
    data = model.sweep({"body.mass": quantity(mass, "kg")}, "10 s", outputs=["final(body.v)"],
                       method="dopri5")  # fmt: skip
    assert "at once" in data.encoding["execution"]
    exact = np.sqrt(np.pi) / mass * np.exp(-0.1 / mass * 6.7)
    assert_allclose(data["final(body.v)"].values, exact, rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "ode45"])
def test_extremes_of_what_is_prescribed_lie_between_the_steps(method):
    run = shaken(47.0).simulate("3 s", method=method)
    assert_allclose(run["damper.f"].max().m, 14.0, rtol=1e-6)
    assert_allclose(run["damper.f"].min().m, -14.0, rtol=1e-6)


class Backwards(TwoPort):
    """A damper whose heat has the wrong sign."""

    power_dissipated = Variable("W")

    def equations(self):
        yield self.f == quantity("5 N*s/m") * self.v
        yield self.power_dissipated == -self.f * self.v


def test_an_energy_that_does_not_close_is_a_warning_that_names_the_component():
    model = wired("wrong", "body.M rubber.R", "floor.V rubber.C",
                  body=Mass(mass="2 kg", v="3 m/s"), floor=Reference(), rubber=Backwards())
    run = model.simulate("10 s")
    with pytest.warns(EnergyWarning, match=r"wrong does not close: 18 J .* rubber \(18 J\)"):
        run.energy()


class Silent(TwoPort):
    """A damper that does not say where its energy goes."""

    def equations(self):
        yield self.f == quantity("5 N*s/m") * self.v


def test_a_component_that_says_nothing_of_energy_is_told_to():
    model = wired("silent", "body.M rubber.R", "floor.V rubber.C",
                  body=Mass(mass="2 kg", v="3 m/s"), floor=Reference(), rubber=Silent())
    with pytest.warns(EnergyWarning, match="rubber says nothing of energy: declare a Variable"):
        model.simulate("10 s").energy()


def test_no_warning_where_it_closes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shaken(3.0).simulate("1 s").energy()
