"""What the audit of a friction law finds, against closed forms; what check() says of laws."""

from functools import cache
from math import atanh, pi

import pytest
from benches import wired
from benches.friction import loaded
from numpy.testing import assert_allclose

from blocks import tanh
from library.friction_studies import audit as audit_anew
from library.friction_studies import compared
from library.frictionlaws import FrictionLaw
from library.rotational import RotationalFriction
from library.translational import Reference, TranslationalFriction, VelocitySource

audit = cache(audit_anew)


def test_the_audit_of_a_creeping_law_gives_its_closed_form():
    found = audit("tanh", band="2 mm/s")
    assert_allclose(found.creep, [atanh(p) for p in (0.25, 0.5, 0.75)], rtol=1e-5)
    assert (found.stop, found.active, found.slope) == ("creeps", 0.0, None)
    assert found.jump < 1e-8
    assert found.verdict == "creeps under any load"


def test_the_audit_finds_laws_that_creep_against_the_load():
    found = audit("quinn_1")
    assert_allclose(found.creep[1], -0.3738, atol=1e-4)
    assert_allclose(found.slope, pi**2 / 4, rtol=1e-3)  # d sin(pi/2 sin(pi/2 p))/dp at 0
    assert found.drift.to("um").magnitude < 0
    assert found.verdict == "active: creeps against the load"


@pytest.mark.parametrize(("law", "stop", "verdict"), [
    ("coulomb", "rests", "rests"), ("quinn", "rests", "rests"),
    ("karnopp", "glides", "neutral: glides on in the band"),
    ("karnopp_1985", "rests", "rests"),
    ("awrejcewicz", "as 1/t", "creeps as the logarithm of time"),
    ("lugre", "rests", "drifts under vibration"), ("elasto_plastic", "rests", "rests"),
])  # fmt: skip
def test_the_audit_says_what_becomes_of_a_body_that_arrives(law, stop, verdict):
    found = audit(law)
    assert (found.stop, found.verdict) == (stop, verdict)
    assert found.creep == (0.0, 0.0, 0.0) or max(map(abs, found.creep)) < 1e-7


def test_the_audit_measures_jumps():
    assert audit("coulomb").jump == pytest.approx(2)
    assert audit("coulomb", breakaway_force="20 N").jump == pytest.approx(1)  # 2 F_C over F_G
    assert audit("quinn").jump == pytest.approx(0, abs=1e-6)


def test_a_law_of_ones_own_is_audited_beside_others_in_one_table():
    class Lazy(FrictionLaw):
        """Drives."""

        uses = ("coulomb", "breakaway_velocity")

        def force(self, c):
            return -c.coulomb * tanh(c.flow / c.breakaway_velocity)

    lazy = audit(Lazy)
    text = repr(compared([audit("viscous"), lazy]))
    assert "Lazy" in text and "viscous" in text and "creep 0.5" in text
    assert lazy.active > 0.9


# -- check ----------------------------------------------------------------------------------------


def advice(friction):
    return [f for f in loaded(friction, lambda t: t).check() if f.code == "parameter.advice"]


@pytest.mark.parametrize(("options", "words"), [
    ({"law": "viscous", "band": "10 cm/s"}, ["friction", "'viscous'", "creeps at 0.05 m/s"]),
    ({"law": "tanh", "band": "10 cm/s"}, ["0.0549 m/s"]),
    ({"law": "simscape", "breakaway_velocity": "1 m/s"}, ["'simscape'", "never sticks"]),
    ({"law": "karnopp"}, ["'karnopp'", "glides on", "karnopp_1985"]),
    ({"law": "quinn_1", "band": "1 cm/s"}, ["against the load", "0.00374 m/s"])])  # fmt: skip
def test_a_law_that_does_not_hold_is_named_by_check(options, words):
    (finding,) = advice(TranslationalFriction(**options))
    assert finding.severity == "warning"
    for word in words:
        assert word in str(finding)


@pytest.mark.parametrize("law", ["simscape", "coulomb", "quinn", "kikuuwe", "karnopp_1985",
                                 "viscous", "awrejcewicz", "lugre"])  # fmt: skip
def test_a_law_that_holds_or_hardly_creeps_is_not_mentioned(law):
    assert advice(TranslationalFriction(law=law)) == []
    RotationalFriction(law=law)


def test_the_creep_that_check_announces_is_the_creep_of_a_run():
    friction = TranslationalFriction(law="viscous", band="10 cm/s", coulomb_force="10 N")
    run = loaded(friction, lambda t: 5 + 0 * t).simulate("2 s", rtol=1e-8)
    assert_allclose(run["body.v"].final.to("m/s").magnitude, 0.05, rtol=1e-6)


# -- after a run ----------------------------------------------------------------------------------


def held(law, **more):
    friction = TranslationalFriction(law=law, coulomb_force="10 N", **more)
    if "breakaway" in friction.kind.uses:
        friction.breakaway_force = "10 N"
    return loaded(friction, lambda t: 5 + 0 * t).simulate("2 s", rtol=1e-9, method="rodas4")


def test_a_run_reports_how_far_a_law_crept_where_exact_friction_would_have_held():
    run = held("viscous", band="1 mm/s")
    (term,) = run.sticking()
    assert_allclose(term.crept, 0.5e-3 * 2, rtol=1e-3)
    assert_allclose(term.dissipated, 5 * 0.5e-3 * 2, rtol=1e-3)
    assert (term.gave, term.fraction) == (0.0, 1.0)
    assert "crept" in repr(run.sticking())


def test_a_run_reports_energy_that_a_friction_gave():
    (term,) = held("quinn_1", band="1 mm/s").sticking()
    speed = 0.3738e-3
    assert_allclose(term.crept, -speed * 2, rtol=1e-3)
    assert_allclose(term.gave, 5 * speed * 2, rtol=2e-3)
    assert_allclose(term.dissipated, -term.gave, rtol=2e-3)


def test_a_run_reports_no_creep_of_laws_that_hold():
    (term,) = held("quinn", band="1 mm/s").sticking()
    assert abs(term.crept) < 1e-10
    assert_allclose(term.fraction, 1.0)
    (exact,) = held("coulomb").sticking()
    assert (exact.crept, exact.fraction) == (None, 1.0)


@pytest.mark.parametrize("law", ["lugre", "elasto_plastic"])
@pytest.mark.parametrize(("speed", "share"), [("20 mm/s", 0.06), ("0.1 mm/s", 1.0)])
def test_bristles_that_a_steady_motion_has_bent_slide_however_slow_it_is(law, speed, share):
    """They bend by 25 N / (1e5 N/m) = 0.25 mm, in e-folds of that of the way."""
    model = wired("dragged", pull=VelocitySource(velocity=speed), ground=Reference())
    model.friction = TranslationalFriction(
        law=law, coulomb_force="20 N", breakaway_force="25 N", breakaway_velocity="0.1 m/s",
        viscous_coefficient="0 N*s/m")
    model.connect(model.pull.R, model.friction.R)
    model.connect(model.pull.C, model.friction.C, model.ground.V)
    assert_allclose(model.simulate("1 s").sticking()["friction"].fraction, share, atol=0.06)
