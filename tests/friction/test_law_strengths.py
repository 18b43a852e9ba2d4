"""Friction laws with a normal force, and the energy that every law accounts for."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import loaded, missing_energy, moved, pulled, value, values
from numpy.testing import assert_allclose

from blocks import Output, Parameter, ParameterError, Variable, contact, der, quantity, sin
from blocks.exceptions import BlocksError
from library.frictionlaws import LAWS
from library.rotational import Inertia, RotationalFriction, RotationalReference
from library.signal import Ramp, Sine
from library.translational import ForceSource, Mass, Reference, TranslationalFriction, TwoPort


def rubbing(law, **more):
    """A law with coefficients 0.3 and 0.5."""
    kind = LAWS[law]
    if "breakaway" in kind.uses:
        more["breakaway_coefficient"] = 0.5
    return TranslationalFriction(law=law, normal=True, coulomb_coefficient=0.3, **more)


@pytest.mark.parametrize("law", [
    "coulomb", "viscous", "tanh", "quinn", "karnopp", "karnopp_1985", "awrejcewicz", "kikuuwe",
    "dahl", "lugre", "maxwell_slip",
])  # fmt: skip
def test_sliding_friction_is_a_coefficient_times_the_normal_force(law):
    friction = rubbing(law, normal_force="20 N")
    run = moved(friction, lambda t: 1 + 0 * t).simulate("0.1 s", rtol=1e-8, method="rodas4")
    expected = 0.3 * 20
    if law == "lugre":
        expected += 0.2 * 20 * np.exp(-((1 / 0.1) ** 2))
    assert_allclose(value(run, "friction.f"), expected, rtol=1e-6)


@pytest.mark.parametrize("law", ["coulomb", "quinn", "kikuuwe"])
def test_a_body_breaks_loose_where_the_normal_force_no_longer_holds_it(law):
    # 0.5 N(t) against 6 N, N falling by 2 N/s from 20 N: at 4 s
    friction = rubbing(law, normal_force=lambda t: quantity("20 N") - quantity("2 N/s") * t,
                       **({} if law == "coulomb" else {"band": "1 um/s"}))  # fmt: skip
    run = loaded(friction, lambda t: 6 + 0 * t).simulate("5 s", rtol=1e-9, method="rodas4")
    assert_allclose(value(run, "body.v", 3.99), 0, atol=1e-6)
    # then (6 - 0.3 N) over 1 kg
    assert_allclose(value(run, "body.v"), 6 - 0.3 * (12 + 10) / 2, rtol=1e-4)


def test_the_normal_force_may_be_a_signal():
    model = moved(rubbing("quinn"), lambda t: 1 + 0 * t)
    wire(model, "press.y friction.N", press=Sine(amplitude="5 N", frequency="1 Hz", bias="20 N"))
    run = model.simulate("1 s", rtol=1e-8, max_step="10 ms")
    t = np.linspace(0, 1, 21)
    assert_allclose(values(run, ["friction.f"], t)[0], 0.3 * (20 + 5 * np.sin(2 * np.pi * t)),
                    rtol=1e-9)  # fmt: skip


class Floor(TwoPort):
    """A floor that carries R and reports the force."""

    gap = Variable("m", "0 m", priority="high")
    r = Variable("N")
    N = Output("N")

    def equations(self):
        yield der(self.gap) == self.v
        yield contact(self.r, self.gap, -self.v)
        yield self.f == -self.r
        yield self.r == self.N


@pytest.mark.parametrize("law", ["quinn", "tanh", "lugre"])
def test_the_normal_force_may_be_that_of_a_contact(law):
    model = wired("pressed", "up.M floor.R weight.R", "along.M friction.R",
                  "floor.C weight.C friction.C ground.V", "floor.N friction.N",
                  up=Mass(), along=Mass(v="3 m/s"), ground=Reference(), floor=Floor(),
                  weight=ForceSource(force=lambda t: quantity("-10 N") - quantity("4 N/s") * t),
                  friction=rubbing(law, **({"damping": "0 N*s/m"} if law == "lugre" else {})))
    run = model.simulate("0.5 s", rtol=1e-8, method="rodas4")
    assert_allclose(value(run, "along.v"), 3 - 0.3 * (10 * 0.5 + 2 * 0.25), rtol=1e-4)


def test_a_surface_that_is_pulled_off_does_not_rub():
    model = moved(rubbing("coulomb"), lambda t: 1 + 0 * t)
    wire(model, "press.y friction.N", press=Ramp(initial="1 N", slope="-2 N/s"))
    run = model.simulate("1 s", rtol=1e-8)
    assert_allclose(value(run, "friction.f", 0.2), 0.3 * (1 - 2 * 0.2), rtol=1e-9)
    assert value(run, "friction.f", 0.9) == 0


def test_turning_friction_acts_at_a_radius():
    model = wired("brake", "disc.I brake.R", "brake.C wall.W",
                  disc=Inertia(w="10 rad/s", inertia="1 kg*m^2"), wall=RotationalReference(),
                  brake=RotationalFriction(law="coulomb", normal=True, coulomb_coefficient=0.3,
                                           breakaway_coefficient=0.3, normal_force="20 N",
                                           radius="0.5 m"))
    run = model.simulate("2 s")
    assert_allclose(value(run, "brake.t"), 3, rtol=1e-12)
    assert_allclose(value(run, "disc.w"), 10 - 3 * 2, rtol=1e-9)


def test_a_coefficient_at_rest_below_that_of_sliding_is_refused():
    friction = TranslationalFriction(law="quinn", normal=True, breakaway_coefficient=0.2)
    with pytest.raises(BlocksError, match="breakaway_coefficient is 0.2"):
        loaded(friction, lambda t: t).simulate("1 s")


def test_a_table_of_forces_takes_no_normal_force():
    with pytest.raises(BlocksError, match="Leave normal out"):
        loaded(TranslationalFriction(law="table", normal=True), lambda t: t).simulate("1 s")


def test_time_stepping_names_the_laws_that_it_does_not_know():
    with pytest.raises(ParameterError, match="no laws that look at the load"):
        pulled("quinn", 1e-3).simulate("1 s", method="moreau_jean", step="1 ms")


@pytest.mark.parametrize("law", [name for name in LAWS if name != "bristle"])
def test_every_law_accounts_for_all_energy(law):
    friction = TranslationalFriction(law=law)
    run = loaded(friction, lambda t: 30 * sin(40 * t)).simulate("0.2 s", rtol=1e-7, method="rodas4")
    assert missing_energy(run) < 1e-5
    if not LAWS[law].memory:
        sliding = np.abs(values(run, ["friction.v"], run.recording.times)[0]) > 0.2
        power = values(run, ["friction.power_dissipated"], run.recording.times)[0]
        assert np.all(power[sliding] > 0)


@pytest.mark.parametrize("law", [name for name in LAWS if name not in ("bristle", "table")])
def test_every_law_opposes_sliding_with_its_kinetic_strength(law):
    friction = TranslationalFriction(law=law)
    for way in (1, -1):
        run = moved(friction if way > 0 else TranslationalFriction(law=law),
                    lambda t, way=way: way * 2 + 0 * t).simulate(
                        "0.1 s", rtol=1e-8, method="rodas4")  # fmt: skip
        expected = 20.0 + 100 * 2 if law == "simscape" else 20.0
        if law == "reset_integrator":
            expected = 1e5 * 1e-4
        assert_allclose(value(run, "friction.f"), way * expected, rtol=1e-6)


def test_bristles_account_for_the_energy_of_every_snap():
    friction = TranslationalFriction(law="bristle", least_offset=-1.0, largest_offset=0.9)
    run = moved(friction, lambda t: 1e-3 * sin(9 * t)).simulate("0.5 s", rtol=1e-10)
    assert missing_energy(run) < 1e-8


class Slow(Mass):
    """A body with another default."""

    mass = Parameter("3 kg", above=0)


def test_friction_of_any_law_works_between_two_moving_bodies():
    for law in ("quinn", "lugre", "karnopp_1985"):
        model = wired("two bodies", "a.M friction.R", "b.M friction.C",
                      a=Slow(v="2 m/s"), b=Mass(v="0 m/s"), friction=TranslationalFriction(law=law),
                      ground=Reference())
        run = model.simulate("1 s", rtol=1e-8, method="rodas4")
        assert_allclose([value(run, "a.v"), value(run, "b.v")], 1.5, rtol=1e-4)
