"""The language in which components are written and given values."""

import io
import re
import sys

import numpy as np
import pytest
from benches import wired
from benches.parts import Capacitor, Ground, Inductor, Resistor, VoltageSource, alone, final
from numpy.testing import assert_allclose

import blocks
import library.translational as tr
from blocks import Component, Model, Option, Parameter, Port, Variable, der, exceptions, quantity

TIGHT = {"rtol": 1e-10}


class Decay(Component):
    rate = Parameter("2 1/s", minimum=0)
    x = Variable("", "1", priority="high")

    def equations(self):
        yield der(self.x) == -self.rate * self.x


# -- inheritance ---------------------------------------------------------------------------


def test_a_subclass_adds_equations_to_those_of_its_base():
    class WithIntegral(Decay):
        total = Variable("s", "0 s", priority="high")

        def equations(self):
            yield from super().equations()
            yield der(self.total) == self.x

    run = alone(WithIntegral()).simulate("1 s", **TIGHT)
    assert final(run, "c.x") == pytest.approx(np.exp(-2), rel=1e-8)
    assert final(run, "c.total") == pytest.approx((1 - np.exp(-2)) / 2, rel=1e-8)


def test_a_subclass_replaces_a_law_and_a_default():
    class Growth(Decay):
        rate = Parameter("0.5 1/s", minimum=0)

        def equations(self):
            yield der(self.x) == self.rate * self.x

    assert final(alone(Growth()).simulate("2 s", **TIGHT), "c.x") == pytest.approx(np.e, rel=1e-8)
    assert final(alone(Decay()).simulate("2 s", **TIGHT), "c.x") == pytest.approx(
        np.exp(-4), rel=1e-7)


def test_a_class_written_again_under_the_same_name_has_its_new_law():
    def cell(sign):
        class Motion(Component):
            x = Variable("m", "1 m", priority="high")

            def equations(self):
                yield der(self.x) == sign * quantity("1 m/s")

        return Motion

    first, second = cell(1), cell(-1)
    run = wired("notebook", a=first(), b=second()).simulate("3 s")
    assert final(run, "a.x") == pytest.approx(4)
    assert final(run, "b.x") == pytest.approx(-2)


# -- options -------------------------------------------------------------------------------


class Leaky(Component):
    """A port that exists only with a leak, and a law chosen by name."""

    leak = Option(False)
    law = Option("linear", ("linear", "square"))
    rate = Parameter("1 1/s")
    loss = blocks.Output("1/s", when="leak")
    x = Variable("", "1", priority="high")

    def equations(self):
        power = self.x if self.law == "linear" else self.x**2
        yield der(self.x) == -self.rate * power
        if self.leak:
            yield self.loss == self.rate * power


@pytest.mark.parametrize(("law", "exact"), [("linear", np.exp(-3)), ("square", 1 / 4)])
def test_an_option_chooses_the_equations(law, exact):
    run = alone(Leaky(law=law)).simulate("3 s", **TIGHT)
    assert final(run, "c.x") == pytest.approx(exact, rel=1e-7)
    assert "c.loss" not in run


def test_a_conditional_port_exists_with_its_option_only():
    run = alone(Leaky(leak=True)).simulate("1 s", **TIGHT)
    assert_allclose(run["c.loss"].magnitude, run["c.x"].magnitude, rtol=1e-12)
    with pytest.raises(exceptions.ConnectionRefused, match="exists only with other options"):
        _ = Leaky().loss


def test_an_option_may_change_between_runs():
    model = alone(Leaky())
    model.simulate("1 s")
    model.c.law = "square"
    assert final(model.simulate("3 s", **TIGHT), "c.x") == pytest.approx(0.25, rel=1e-7)


# -- functions of time ---------------------------------------------------------------------


def pushed(force):
    return wired("pushed", "body.M push.R", "push.C ground.V",
                 body=tr.Mass(mass="2 kg"), push=tr.ForceSource(force=force), ground=tr.Reference())


@pytest.mark.parametrize(("force", "speed"), [
    (lambda t: quantity("6 N") * np.sin(quantity("3 rad/s") * t), (1 - np.cos(3))),
    (lambda t: quantity("6 N") * np.exp(-t / quantity("1 s")), 3 * (1 - np.exp(-1))),
    (lambda t: np.sqrt(t / quantity("1 s")) * quantity("6 N"), 2.0),
    (lambda t: quantity("6 N"), 3.0),
    (lambda t: "6 N", 3.0),
    (lambda t: quantity("6 N") * np.maximum(t / quantity("1 s"), 0.5), 3 * (0.25 + 0.375)),
    (lambda t: blocks.where(t > "0.25 s", "6 N", "0 N"), 2.25),
    (lambda t: quantity([6, 2], "N")[0] * (t / quantity("1000 ms")) ** 2, 1.0),
    (lambda t: quantity("6 N") * np.hypot(3.0, 4.0 * t / t), 15.0)])
def test_a_parameter_may_be_a_function_of_time_made_with_numpy(force, speed):
    run = pushed(force).simulate("1 s", method="DOP853", rtol=1e-10)
    assert final(run, "body.v") == pytest.approx(speed, rel=1e-7)


def test_a_course_of_another_run_is_told_to_be_a_table():
    course = pushed(lambda t: quantity("6 N") * t / quantity("1 s")).simulate("1 s")["push.f"]
    with pytest.raises(exceptions.ParameterError,
                       match=r"takes a single value.*table\(times, values\)"):
        pushed(course)


def test_a_function_of_time_may_be_replaced_by_a_constant_and_back():
    model = pushed(lambda t: quantity("6 N") * t / quantity("1 s"))
    assert final(model.simulate("1 s", **TIGHT), "body.v") == pytest.approx(1.5, rel=1e-8)
    model.push.force = "6 N"
    assert final(model.simulate("1 s", **TIGHT), "body.v") == pytest.approx(3.0, rel=1e-8)
    model.push.force = lambda t: quantity("2 N")
    assert final(model.simulate("1 s", **TIGHT), "body.v") == pytest.approx(1.0, rel=1e-8)


# -- values --------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "kind", "words"), [
    (lambda: tr.Mass().vv, exceptions.UnknownName, "Did you mean 'v'?"),
    (lambda: tr.Spring(law=3), exceptions.UnknownName, "The choices are: linear, table."),
    (lambda: Leaky(leak=1), exceptions.ParameterError, "Give True or False"),
    (lambda: tr.Mass(v=blocks.Target(nominal="1 kg")), exceptions.WrongDimension, "takes m/s"),
    (lambda: tr.Mass(count=True), exceptions.ParameterError, "at least 1"),
    (lambda: tr.Mass(v=quantity([1, 2], "m/s")), exceptions.ParameterError, "takes a single value"),
    (lambda: tr.Mass(count=3, v=quantity([1, 2], "m/s")), exceptions.ParameterError,
     "3 instances")])
def test_a_value_that_does_not_fit_is_refused_where_it_is_given(make, kind, words):
    with pytest.raises(kind) as caught:
        make()
    assert words in str(caught.value)


def test_numbers_of_numpy_are_taken_as_numbers():
    assert len(tr.Mass(count=np.int64(3))) == 3
    assert tr.Damper(thermal_port=np.bool_(True)).H
    model = wired("one", block=tr.Mass(v="1 m/s"))
    run = model.simulate("1 s", rtol=np.float32(1e-5), every=np.str_("0.5 s"))
    assert_allclose(run["block.v"].m, [1, 1, 1])


def test_a_target_that_is_taken_back_leaves_the_default():
    model = wired("one", block=tr.Mass())
    model.block.v = blocks.Target("3 m/s", nominal="1 mm/s")
    model.block.v = None
    assert model.simulate("1 s")["block.v"].final.m == 0
    assert repr(model.block) == repr(tr.Mass())


def test_a_component_is_shown_with_its_parameters_and_what_else_is_not_the_default():
    friction = tr.TranslationalFriction(law="coulomb", coulomb_force="3 N")
    assert repr(friction) == ("TranslationalFriction(law='coulomb', breakaway_force=25 N, "
                              "coulomb_force=3 N, viscous_coefficient=0 N·s/m)")
    assert repr(tr.Mass(v="36 km/h")) == "Mass(mass=1 kg, v=10 m/s)"
    assert repr(tr.Mass(mass=["1 kg", "2 kg"], count=2)) == "Mass(mass=…, count=2)"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_is_shown_at_the_prompt_has_signs_that_the_output_takes(encoding, monkeypatch):
    model = wired("Größe Ω", resistor=Resistor(), damper=tr.Damper())
    page = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(page, encoding))
    for shown in (model, model.resistor, model.damper, model.damper[:], model.check()):
        print(repr(shown))
    with pytest.raises(exceptions.WrongDimension) as told:
        model.damper.damping = "3 Ω"
    print(told.value)
    sys.stdout.flush()
    printed = page.getvalue().decode(encoding)
    assert "Resistor(resistance=1 kohm)" in printed and r"was given 3 \u03a9" in printed


def test_some_of_an_array_are_shown_and_completed_as_all_of_it():
    model = wired("row", springs=tr.Spring(count=3))
    assert repr(model.springs[0]) == f"<springs[0]: 1 of {model.springs!r}>"
    assert {"R", "C", "f", "x", "stiffness", "path"} <= set(dir(model.springs[1:]))


def test_a_course_of_a_run_is_named_where_one_number_belongs():
    model = wired("one", block=tr.Mass(v="1 m/s"))
    with pytest.raises(exceptions.WrongDimension,
                       match=r"Mass.mass: takes kg .* given block.v \[m/s\]"):
        tr.Mass(mass=model.simulate("1 s")["block.v"])


def test_bounds_hold_for_every_element_and_after_building():
    class Limited(Component):
        share = Parameter(0.5, minimum=0, maximum=1)
        gap = Parameter("1 mm", above="0.1 mm", below="1 cm")

    part = Limited(share=1.0, gap="9.99 mm")
    for name, value in [("share", 1.01), ("share", -1e-9), ("gap", "0.1 mm"), ("gap", "10 mm")]:
        with pytest.raises(exceptions.ParameterError):
            setattr(part, name, value)
    assert part.share.magnitude == 1.0
    assert part.gap.to("mm").magnitude == pytest.approx(9.99)
    with pytest.raises(exceptions.ParameterError):
        Limited(count=2, share=[0.5, 1.5])


def test_a_value_is_read_back_in_the_declared_unit():
    class Stiff(Component):
        stiffness = Parameter("1 kN/mm")

    given = Stiff(stiffness="2 N/m").stiffness
    assert given.units == quantity("1 kN/mm").units
    assert given.magnitude == pytest.approx(2e-6)


# -- what authors get wrong -------------------------------------------------------------------


@pytest.mark.parametrize(("declare", "words"), [
    (lambda: type("X", (Component,), {"count": Option(1)}), "reserved"),
    (lambda: Variable("m/z"), "is not a unit"),
    (lambda: Variable("m", "1 s"), "takes m"),
    (lambda: Parameter("1 m", minimum="1 s"), "takes m"),
    (lambda: Parameter("1 m", minimum=1), "takes m")])
def test_a_declaration_that_cannot_be_meant_is_refused(declare, words):
    with pytest.raises((exceptions.NamingError, ValueError, exceptions.UnknownName)) as caught:
        declare()
    assert words in str(caught.value)


def test_an_input_whose_default_is_no_parameter_is_explained():
    class Follower(Component):
        u = blocks.Input("N", default="forse")
        force = Parameter("1 N")
        y = blocks.Output("N")

        def equations(self):
            yield self.y == self.u

    with pytest.raises(exceptions.EquationError, match="'forse' is no parameter"):
        alone(Follower()).compile()


# -- a user's own domains ------------------------------------------------------------------


def rlc(resistance, inductance, capacitance, voltage="0 V", charge="0 V"):
    return wired("rlc", "source.R r.R", "r.C l.R", "l.C c.R", "c.C source.C ground.P",
                 source=VoltageSource(voltage=voltage), r=Resistor(resistance=resistance),
                 l=Inductor(inductance=inductance), c=Capacitor(capacitance=capacitance, v=charge),
                 ground=Ground())


def test_an_RLC_circuit_rings_with_its_damped_frequency():
    r, l, c = 20.0, 10e-3, 4e-6
    run = rlc("20 ohm", "10 mH", "4 uF", charge="10 V").simulate("4 ms", **TIGHT)
    t = run.time.to("s").magnitude
    decay, w0 = r / (2 * l), 1 / np.sqrt(l * c)
    w = np.sqrt(w0**2 - decay**2)
    exact = 10 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    assert_allclose(run["c.v"].to("V").magnitude, exact, atol=1e-6)
    assert [run[path].units for path in ("c.v", "l.i")] == [quantity(1, u).units for u in "VA"]


def test_a_transformer_written_by_a_user_conserves_power():
    """Two electrical ports: v1 = n v2, i2 = -n i1; the load is seen n² times larger."""
    from benches.parts import electrical

    class Transformer(Component):
        P, S, G = Port(electrical), Port(electrical), Port(electrical)
        ratio = Parameter(3.0)

        def equations(self):
            yield self.P.v - self.G.v == self.ratio * (self.S.v - self.G.v)
            yield self.S.i == -self.ratio * self.P.i
            yield self.P.i + self.S.i + self.G.i == 0

    model = wired("transformer", "source.R t.P", "t.S load.R", "source.C load.C t.G ground.P",
                  source=VoltageSource(voltage="12 V"), t=Transformer(),
                  load=Resistor(resistance="2 ohm"), ground=Ground())
    run = model.simulate("1 s", times=["1 s"])
    assert final(run, "load.v") == pytest.approx(4.0)
    assert final(run, "source.i") == pytest.approx(-12 / (9 * 2))
    powers = [final(run, f"t.{p}.v") * final(run, f"t.{p}.i") for p in "PSG"]
    assert sum(powers) == pytest.approx(0, abs=1e-12)


def test_who_does_not_call_the_inherited_init_is_told_so():
    class Forgetful(Component):
        def __init__(self):
            self.part = tr.Mass()

    class Own(Model):
        def __init__(self):
            self.part = tr.Mass()

    for made in (Forgetful, Own):
        with pytest.raises(exceptions.ModelError,
                           match=rf"{made.__name__}: its __init__\(\) does not call "
                           r"the one that it inherits\. Call super\(\).__init__\(\) there first"):
            made()
    with pytest.raises(exceptions.EquationError, match="is a model, which has no compose"):
        class Composed(Model):
            def compose(self):
                self.part = tr.Mass()


# -- slips of a first component ------------------------------------------------------------------


class Slip(Component):
    """What equations may be written with, wrongly."""

    quadratic = Option(False)
    k, ks = Parameter("1 N"), Parameter(["1 N", "2 N", "3 N"])
    matrix, q = Parameter([[1.0, 2.0], [3.0, 4.0]]), Parameter("2 N", when="quadratic")
    z = Variable("N", when="quadratic")
    n = blocks.Discrete("1", 1)
    x = Variable("N")


@pytest.mark.parametrize(("law", "words"), [
    (lambda c: c.x.der == c.k, r"x .* has no \.der\. Its time derivative is der\(x\)"),
    (lambda c: c.x == c.k.magnitude * quantity("1 N"),
     r"no \.magnitude\. Calculate with it as it is"),
    (lambda c: c.x == c.k.to("N"), r"no \.to\. Calculate with it as it is"),
    (lambda c: c.x == c.ks[3], r"entry 3 of 3: \[ks_0, ks_1, ks_2\]"),
    (lambda c: c.x == c.matrix[0, 2] * c.k, r"entry \(0, 2\) of 2 x 2"),
    (lambda c: c.x == blocks.where(c.n == 1, c.k, 0),
     r"n == 1 is an equation, no condition.*n > 0\.5"),
    (lambda c: c.x == c.k + c.q, r"q exists only with quadratic=True.*under 'if'"),
    (lambda c: c.z == c.k, r"z exists only with quadratic=True"),
    (lambda c: c.x == c.q / quantity("1 N") * c.k, r"q exists only with quadratic=True"),
])  # fmt: skip
def test_a_slip_in_an_equation_is_answered_with_what_to_write(law, words):
    def equations(self):
        yield law(self)

    kind = type("Slip", (Slip,), {"equations": equations})
    with pytest.raises(exceptions.ModelError, match=rf"Slip, equation 1: .*{words}"):
        alone(kind()).simulate("1 s")


def test_what_an_option_switches_on_is_there_with_it():
    class Right(Slip):
        def equations(self):
            yield self.x == (self.k + self.q if self.quadratic else self.k)
            if self.quadratic:
                yield self.z == self.ks[2] * self.matrix[1, 0] + self.ks[-1]

    assert final(alone(Right()).simulate("1 s"), "c.x") == pytest.approx(1)
    run = alone(Right(quadratic=True)).simulate("1 s")
    assert (final(run, "c.x"), final(run, "c.z")) == pytest.approx((3, 12))


def test_an_option_is_one_of_its_choices_by_default_too():
    with pytest.raises(exceptions.UnknownName, match=r"Wrong\.law \(default\): there is no 'quad'"):
        class Wrong(Component):
            law = Option("quad", ("linear", "table"))


@pytest.mark.parametrize(("verify", "words"), [
    (lambda c: c.k > quantity("2 N"), r"its verify\(\) returns False, but is a generator: yield"),
    (lambda c: "k is odd", r"its verify\(\) returns 'k is odd', but is a generator: yield"),
])  # fmt: skip
def test_a_verify_that_yields_nothing_is_told_what_to_yield(verify, words):
    kind = type("Checked", (Decay,), {"k": Parameter("1 N"), "verify": verify})
    findings = alone(kind()).check().errors
    assert len(findings) == 1 and re.search(words, findings[0].problem)


def test_before_in_an_equation_is_refused_by_its_line():
    class Looking(Decay):
        def equations(self):
            yield der(self.x) == -self.rate * blocks.before(self.x)

    with pytest.raises(exceptions.EquationError,
                       match=r"before\(\) stands in an equation(?s:.)*before\(self"):
        alone(Looking()).simulate("1 s")


def test_entries_of_a_list_are_scaled_together_and_floor_division_is_floor():
    class Scaled(Component):
        gains, rate = Parameter([1.0, 2.0]), Parameter("1 1/s")
        x, steps = Variable("", "1", priority="high"), Variable("")

        def equations(self):
            yield der(self.x) == sum(self.gains * self.rate) - (self.rate * self.gains)[1] * self.x
            yield self.steps == self.x // 0.3

    run = alone(Scaled()).simulate("1 s", **TIGHT)
    x = 1.5 - 0.5 * np.exp(-2)
    assert_allclose([final(run, "c.x"), final(run, "c.steps")], [x, x // 0.3], rtol=1e-8)
