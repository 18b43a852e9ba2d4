"""A component follows one of many laws, which bring their own parameters."""

import pickle

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
from blocks import BlocksError, NamingError, Parameter, ParameterError, Replacement, Variable
from library.frictionlaws import FrictionLaw, LoadLaw, shift, velocity
from library.rotational import RotationalFriction
from library.translational import Mass, Reference, TranslationalFriction, translational


class Rational(FrictionLaw):
    """F_C v/(|v| + half)."""

    half = Parameter(1e-3, velocity, above=0, doc="Velocity of half the force")

    def force(self, c):
        return c.coulomb * c.flow / (abs(c.flow) + c.half)


class Trail(FrictionLaw):
    """Viscous, and remembers how far it went."""

    way = Variable(shift, 0, priority="high")

    def equations(self, c):
        yield blocks.der(c.way) == c.flow
        yield c.effort == c.coulomb * c.flow / c.breakaway_velocity

    uses = ("coulomb", "breakaway_velocity")


def sliding(friction, **body):
    model = blocks.Model("sliding")
    model.body, model.friction, model.ground = Mass(**body), friction, Reference()
    model.connect(model.body.M, model.friction.R)
    model.connect(model.friction.C, model.ground.V)
    return model


def test_a_law_of_ones_own_is_given_as_it_is_or_with_values():
    for friction in (TranslationalFriction(law=Rational, half="0.5 m/s", coulomb_force="2 N"),
                     TranslationalFriction(law=Rational(half="0.5 m/s", coulomb_force="2 N")),
                     TranslationalFriction(law=Rational(half="9 m/s"), half="0.5 m/s",
                                           coulomb_force="2 N")):  # fmt: skip
        assert friction.half.to("m/s").magnitude == 0.5
        run = sliding(friction, v="1.5 m/s").simulate("1 us", method="rk4", step="1 us")
        assert_allclose(run["friction.f"].at("0 s").to("N").magnitude, 2 * 1.5 / 2.0)


def test_a_law_has_units_of_force_or_torque():
    assert str(TranslationalFriction(law="quinn").band.units) == "meter / second"
    assert str(RotationalFriction(law="quinn").band.units) == "radian / second"
    assert RotationalFriction(law="lugre").stiffness.check("[torque]")


def test_variables_of_a_law_are_in_the_result_and_have_targets():
    friction = TranslationalFriction(law=Trail, coulomb_force="0 N", way="3 m")
    run = sliding(friction, v="2 m/s").simulate("1 s", rtol=1e-9)
    assert_allclose(run["friction.way"].final.to("m").magnitude, 5.0, rtol=1e-9)


def test_values_of_a_law_change_between_runs_without_a_new_assembly():
    model = sliding(TranslationalFriction(law=Rational, coulomb_force="2 N"), v="1 m/s")
    before = model.compile()
    model.friction.half = "2 m/s"
    assert model.compile() is before
    table = model.sweep({"friction.half": ["1 m/s", "3 m/s"]}, "1 us",
                        outputs={"f": "initial(friction.f)"})  # fmt: skip
    assert_allclose(table["f"].values, [1.0, 0.5])


def test_another_law_brings_other_parameters_and_takes_the_old_ones_away():
    friction = TranslationalFriction(law=Rational, half="1 cm/s", coulomb_force="2 N")
    friction.law = "quinn"
    assert friction.band.to("mm/s").magnitude == 1.0
    assert friction.coulomb_force.to("N").magnitude == 2.0
    with pytest.raises(blocks.UnknownName, match="half"):
        _ = friction.half
    friction.law = Rational(half="3 cm/s")
    assert friction.half.to("cm/s").magnitude == pytest.approx(3)


def test_laws_can_be_swept():
    model = sliding(TranslationalFriction(law="coulomb", coulomb_force="2 N"), v="1 m/s")
    table = model.sweep({"friction.law": ["coulomb", "quinn", "karnopp"]}, "0.2 s",
                        outputs={"v": "final(body.v)"})  # fmt: skip
    assert_allclose(table["v"].values, 1 - 2 * 0.2, rtol=1e-6)


def test_a_model_with_a_law_can_be_pickled():
    model = sliding(TranslationalFriction(law=Rational, half="1 m/s", coulomb_force="2 N"),
                    v="1 m/s")  # fmt: skip
    twin = pickle.loads(pickle.dumps(model))
    runs = [m.simulate("1 s", rtol=1e-9)["body.v"].final.magnitude for m in (model, twin)]
    assert runs[0] == runs[1]
    assert twin.friction.law is Rational


@pytest.mark.parametrize("make", [TranslationalFriction, RotationalFriction])
@pytest.mark.parametrize(("wrong", "words"), [
    ({"law": "quin"}, ["law", "'quinn'"]),
    ({"law": 3}, ["law", "takes the name of a law or a law object", "3", "lugre"]),
    ({"law": "coulomb", "band": "1 mm"}, ["band", "has no meaning with law='coulomb'", "'quinn'"]),
    ({"law": "quinn", "weight": 0.3}, ["weight", "law='quinn'", "'quinn_3'"]),
    ({"law": "quinn", "bnad": "1 mm"}, ["'bnad'", "'band'"]),
    ({"law": "quinn_3", "weight": 0.6}, ["weight", "at most 0.5", "0.6"]),
    ({"law": "quinn", "band": "1 N"}, ["band", "/s", "1 N"]),
    ({"normal_force": "3 N"}, ["normal_force", "normal=False"])])  # fmt: skip
def test_what_a_law_does_not_have_is_refused_by_name(make, wrong, words):
    with pytest.raises(BlocksError) as error:
        make(**wrong)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("law", ["viscous", "tanh", "karnopp", "quinn", "kikuuwe", "awrejcewicz"])
def test_a_band_of_no_width_is_refused(law):
    for band in ("0 m/s", "-1 mm/s"):
        with pytest.raises(ParameterError, match=r"band: must be greater than 0 m/s, but is"):
            TranslationalFriction(law=law, band=band)


@pytest.mark.parametrize("law", ["simscape", "stribeck", "lugre", "elasto_plastic", "gms",
                                 "leuven"])  # fmt: skip
def test_a_negative_stribeck_velocity_is_refused(law):
    with pytest.raises(ParameterError, match=r"breakaway_velocity: must be greater than 0 m/s"):
        TranslationalFriction(law=law, breakaway_velocity="-1 mm/s")


@pytest.mark.parametrize("law", ["coulomb", "quinn", "karnopp_1985", "lugre", "gms"])
def test_less_friction_at_rest_than_in_motion_is_refused(law):
    model = sliding(TranslationalFriction(law=law, breakaway_force="9 N", coulomb_force="10 N"))
    with pytest.raises(BlocksError, match="friction: breakaway_force is 9.0 N and thus below "
                                          "coulomb_force, which is 10.0 N"):  # fmt: skip
        model.simulate("1 s")


def test_springs_and_sliders_of_different_number_are_refused():
    model = sliding(TranslationalFriction(law="maxwell_slip", shares=[0.5, 0.5]))
    with pytest.raises(BlocksError, match="4 values but shares has 2"):
        model.simulate("1 s")


def test_a_law_must_not_hide_what_the_component_has():
    class Hiding(FrictionLaw):
        coulomb_force = Parameter("1 N")

        def force(self, c):
            return c.coulomb

    with pytest.raises(NamingError, match="coulomb_force"):
        TranslationalFriction(law=Hiding)
    with pytest.raises(NamingError, match="ports or options"):
        class Ported(Replacement):
            port = blocks.Port(translational)


def test_a_law_may_bring_what_the_component_has_for_other_laws_only():
    class Warm(Replacement):
        heat = Variable("W", doc="of the law")

        def equations(self, c):
            yield c.heat == blocks.quantity("3 W")

    class Cold(Replacement):
        def equations(self, c):
            yield c.heat == blocks.quantity("1 W")

    class Part(blocks.Component):
        law = blocks.Replaceable("cold", {"cold": Cold, "warm": Warm})
        heat = Variable("W", when=lambda c: c.law == "cold", doc="of the component")

        def equations(self):
            yield from type(self).law.named[self.law]().equations(self)

    for law, watts in (("cold", 1), ("warm", 3)):
        assert wired("part", part=Part(law=law)).simulate("1 s")["part.heat"].final.m == watts


def test_arrays_of_friction_have_one_value_of_a_law_for_each():
    model = wired("array", "bodies.M frictions.R", "frictions.C ground.V",
                  bodies=Mass(count=3, v="1 m/s"),
                  frictions=TranslationalFriction(law=Rational, count=3, coulomb_force="2 N",
                                                  half=["1 m/s", "3 m/s", "1 um/s"]),
                  ground=Reference())
    run = model.simulate("1 us")
    forces = [run[f"frictions[{k}].f"].at("0 s").magnitude for k in range(3)]
    assert_allclose(forces, [1.0, 0.5, 2.0], rtol=1e-5)


def test_a_law_of_the_load_of_ones_own_needs_one_method():
    class Half(LoadLaw):
        """Holds half of the load."""

        def force(self, c):
            return c.load / 2

    run = sliding(TranslationalFriction(law=Half), v="1 m/s").simulate("1 s", rtol=1e-9)
    assert_allclose(run["body.v"].final.magnitude, 1.0)
    assert np.all(run["friction.load"].to("N").magnitude == 0)
