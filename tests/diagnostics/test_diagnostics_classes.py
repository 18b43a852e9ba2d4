"""Mistakes in a user's own component class are told with its name and its equations."""

import linecache
import re
import runpy

import benches.wrong_models as wrong
import numpy as np
import pytest
from benches import wired
from benches.wrong_models import AssignsWhatFollows, Bounded, DryFriction, Misspelt, only, says

import library.electrical as el
from blocks import Component, Parameter, Port, Variable, der, exceptions, quantity
from library.translational import ForceSource, translational


def check_of(*parts):
    """Findings of a sound model with further two-ports beside the damper."""
    model = wrong.sound()
    for number, part in enumerate(parts, 1):
        model.add(f"part{number}", part)
        if "R" in part.ports:
            model.connect(part.R, model.block.M)
            model.connect(part.C, model.ground.V)
    return model.check()


def before_line(text):
    """A message without its last line, which says where the mistake is written."""
    rest, _, line = text.rpartition("\n")
    file, number, code = re.fullmatch(r"(.+\.py), line (\d+): (.+)", line).groups()
    assert linecache.getline(file, int(number)).strip() == code
    return rest


WRITTEN = [
    ("yield self.f == self.damping * self.v", "name.unknown", "'damping'"),  # not declared
    ("yield self.f == dampin * self.v", "equation", "dampin"),
    ("yield self.f == self.k * time", "equation", "as by  from blocks import time."),
    ("yield self.f == self.d * self.P.v", "name.unknown", "'P'"),  # no such port
    ("yield self.f == self.d * self.R.w", "name.unknown", "'w'"),
    ("yield self.f == self.d * self.v + quantity('1 m')", "unit.dimension", ""),
    ("yield self.f == self.k * self.x + 1", "unit.dimension", "they have different dimensions"),
    ("yield self.f == 3", "unit.dimension", ""),
    ("yield self.f == maximum(self.v)", "equation", ""),
    ("yield self.f == self.d * math.sin(self.v)", "equation", ""),
    ("yield self.f == np.sin(self.x) * self.k", "unit.dimension",
     "Divide it by a reference value"),
    ("yield self.f == self.k * max(self.x, 0)", "equation", "Use where(condition"),
    ("yield self.f == (self.k * self.x if self.x == 0 else 0)", "equation",
     "which has no truth value"),
    ("yield self.f == self.k * self.x / 1 + 0 * (1 / 0)", "equation", "ZeroDivisionError"),
    ("yield self.f == quantity([1, 2], 'N')", "equation", "Write one equation for every variable"),
    ("yield self.x != self.v", "equation", "x != 0 is abs_(x) > 0"),
    ("yield True", "equation", "which is no equation"),
    ("yield self.x", "equation", "which is no equation"),
    ("yield self.v == 0, self.f == 0", "equation", "which is no equation"),
    ("yield 0 == self.f == self.d * self.v", "equation", ""),
    ("self.f = self.d * self.v; yield self.f == 0", "equation",
     "State the law as an equation: yield self.f == …"),
    ("if self.v > 0: yield self.f == 0", "equation", "Use where(condition, a, b)"),
    ("return self.f == self.d * self.v", "equation",
     "Write it as a generator: yield left == right"),
    ("return None", "equation", "returns nothing"),
    ("yield reset(self.x, 0)", "equation", "yields assignments alone. Say when they are made"),
    ("yield reset(self.x > quantity('1 m'), {self.x: 0})", "equation",
     "reset() takes a variable and its new value"),
    ("yield when(self.v > 0, {self.f * 2: 0})", "equation", ""),
    ("yield when(self.x > quantity('1 m'), {'x': 0})", "equation",
     "assignments are {'x': 0}. Give variables with their new values"),
    ("yield when(self.x > quantity('1 m'), self.x == 0)", "equation",
     "Give variables with their new values"),
    ("yield every(0.1, {self.x: 0})", "unit.dimension",
     "the period of every() is a time, but is 0.1 [dimensionless]"),
    ("yield self.v == der(self.x); self.f == self.k * self.x", "equation",
     "makes an equation that it does not yield"),
    ("yield self.f == self.k * self.x; when(self.x < 0, {self.x: 0})", "equation",
     "makes a when() that it does not yield"),
    ("initially({self.n: 1}); yield self.f == self.k * self.x", "equation",
     "not yield: it would count for nothing. Write")]  # fmt: skip


@pytest.mark.parametrize(("law", "code", "words"), WRITTEN, ids=[law for law, *_ in WRITTEN])
def test_a_mistake_in_a_class_is_told_with_its_file_and_line(
    law, code, words, tmp_path, monkeypatch):
    file = tmp_path / "own.py"
    file.write_text("import math, numpy as np\nfrom blocks import *\n"
                    "from library.translational import TwoPort\n\nclass Own(TwoPort):\n"
                    "    d, k, n = Parameter('1 N*s/m'), Parameter('1 N/m'), Discrete()\n"
                    "    x = Variable('m', '0 m', priority='high')\n"
                    f"    def equations(self):\n        {law}\n")  # fmt: skip
    monkeypatch.chdir(tmp_path)
    finding = only(check_of(runpy.run_path(str(file), run_name="own")["Own"]()))
    assert finding.code == code
    assert words in str(finding) and "Own" in finding.problem
    line = 8 if law.startswith("return") else 9
    assert f"\nown.py, line {line}: " in finding.advice


def test_missing_equations_are_counted_and_unused_variables_named():
    says(only(check_of(wrong.TwoMissing(), wrong.TwoMissing())), "equation.missing",
         ["part1", "part2"],
         "6 unknowns (v, f, w, q, one of port R and one of port C) but 4 equations (3 of them from "
         "its base TwoPort): 2 equations are missing … in no equation: q. It is used by part1 and "
         "part2. … Yield 2 more equations from TwoMissing.equations()")


def test_a_component_with_three_unknowns_and_two_equations_lacks_one():
    class Foo(Component):
        M = Port(translational)
        v, momentum = Variable("m/s", "0 m/s", priority="high"), Variable("N*s")

        def equations(self):
            yield self.v == self.M.v
            yield quantity("1 kg") * der(self.v) == self.M.f

    says(only(check_of(Foo()).errors), "equation.missing", ["part1"],
         "Foo has 3 unknowns (v, momentum and one of port M) but 2 equations … no equation: mom")


def test_surplus_equations_are_counted_and_listed():
    says(only(check_of(wrong.OneSurplus())), "equation.surplus", ["part1"],
         "4 unknowns (v, f, one of port R and one of port C) but 5 equations … one equation is too "
         "many … \n    v == 1\n    f == 3*v\n    R.f == f\n    C.f == -f\n    v == R.v - C.v\n … "
         "Remove it from OneSurplus.equations(), or declare")


def test_equations_that_determine_the_same_twice_are_found_though_the_count_is_right():
    says(only(check_of(wrong.Misplaced())), "equation.unbalanced", ["part1"],
         "Misplaced has as many equations as unknowns … \n    der(w) == v\n    der(w) == 2*v\n … "
         "nothing determines q. … Check for an equation stated twice")


def test_a_set_valued_law_counts_as_an_equation():
    class Rub(DryFriction):
        def equations(self):
            yield from super().equations()
            yield self.f == quantity("1 N*s/m") * self.v

    assert len(check_of(DryFriction())) == 0
    finding = only(check_of(Rub()))
    assert finding.code == "equation.surplus"
    assert "\n    f by a set-valued law of v\n" in finding.problem


def test_units_that_do_not_fit_are_told_with_both_sides():
    findings = check_of(wrong.WrongUnits())
    says(only(findings), "unit.dimension", ["part1"],
         "WrongUnits, equation 1: … f == (stiffness*v) … N on the left, kg*m/s**3 on the right.")
    with pytest.raises(exceptions.WrongDimension) as caught:
        findings.raise_errors()
    assert (caught.value.left, caught.value.right) == ("N", "kg*m/s**3")


def test_a_misspelt_variable_in_an_equation_gets_the_nearest_name():
    findings = check_of(Misspelt())
    assert "Misspelt: there is no 'sped' among its names" in before_line(str(only(findings)))
    with pytest.raises(exceptions.UnknownName) as caught:
        findings.raise_errors()
    assert caught.value.nearest == ["speed"]


def test_every_class_that_cannot_be_read_is_told_in_one_check():
    findings = check_of(Misspelt(), wrong.WrongUnits())
    assert [f.code for f in findings] == ["name.unknown", "unit.dimension"]


def test_a_when_must_assign_an_integrated_variable():
    says(only(check_of(AssignsWhatFollows())), "event.target", ["part1.y"],
         "AssignsWhatFollows assigns part1.y … Assign a variable whose der() … or declare y as Dis")
    with pytest.raises(exceptions.EquationError):
        check_of(AssignsWhatFollows()).raise_errors()


def test_relations_between_parameters_are_checked_for_every_instance():
    model = wired("relations",
                  one=Bounded(low="3 m"), many=Bounded(count=3, low=["1 m", "4 m", "2 m"]))
    findings = model.check()
    assert [f.code for f in findings] == ["parameter.relation"] * 2
    assert "one: low (3.0 m) must not exceed high (2.0 m)" in str(findings[0])
    assert findings[1].where == ("many[1]",)
    model.many.low = "1 m"
    with pytest.raises(exceptions.ParameterError) as caught:
        model.check().raise_errors()
    assert caught.value.code == "parameter.relation"


def test_a_verify_that_fails_does_not_hide_other_findings():
    class Careless(Component):
        x = Variable("m", "0 m", priority="high")

        def verify(self):
            if self.limit:
                yield "never"

        def equations(self):
            yield der(self.x) == quantity("0 m/s")

    findings = check_of(Careless(), wrong.OneSurplus())
    assert [f.code for f in findings] == ["parameter.relation", "equation.surplus"]
    assert "part1: its verify() raised UnknownName: part1: there is no 'lim" in findings[0].problem


@pytest.mark.parametrize(("written", "said"), [
    (lambda self: gone(self.v), "Define gone where the class is, or import it."),  # noqa: F821
    (lambda self: abs_(self.v), "Import it, as by  from blocks import abs_."),  # noqa: F821
    (lambda self: level * self.v, "Write self.level."),  # noqa: F821
    (lambda self: self.place * self.level, "in the class, such as  place = Variable('m')."),
    (lambda self: self.levle * self.v, "Did you mean 'level'?"),
    (lambda self: quantity("1 N/s") * re, "Write  from blocks import time  after  import time."),
])  # fmt: skip
def test_a_name_that_equations_lack_is_answered_with_where_it_comes_from(written, said):
    class Lacking(Component):
        level = Parameter("1 N*s/m")
        v = Variable("m/s")

        def equations(self):
            yield written(self) == quantity("1 N")

    assert said in check_of(Lacking())[0].advice


@pytest.mark.parametrize(("force", "code", "text"), [
    (lambda t: t * quantity("1 m"), "unit.dimension",
     "part1.force: … returns m*s, but N is needed. … such as quantity('1 N') * sin(…)."),
    (lambda t: 2.0, "unit.dimension", "part1.force: … returns dimensionless, but N is needed"),
    (lambda t: quantity("1 N") * np.sin(t), "unit.dimension",
     "part1.force … sin() takes a dimensionless value or an angle"),
    (lambda t: quantity("1 N") if t > "1 s" else quantity("0 N"), "equation",
     "part1.force … Use where(condition"),
    (lambda t: undefined_name * t, "equation", "part1.force: … undefined_name"),  # noqa: F821
    (lambda t: 1 / 0, "equation",
     "part1.force: … failed: division by zero. It is called once … where() instead of 'if'."),
    (lambda t: None, "equation",
     "part1.force: … returns nothing. Let it end with return and a value.")])  # fmt: skip
def test_a_function_of_time_that_cannot_be_read_is_told_with_its_parameter(force, code, text):
    finding = only(check_of(ForceSource(force=force)))
    assert finding.code == code
    assert re.search(wrong.pattern(text), before_line(str(finding)))


@pytest.mark.parametrize("slope", ["1e-12 S", "1 S", "1e12 S"])
def test_a_small_number_in_a_law_is_no_statement_about_its_ports(slope):
    """A conductance however small joins two nodes: neither carries no current nor ties them."""

    class Leak(Component):
        p, n = Port(el.electrical), Port(el.electrical)
        i = Variable("A")

        def equations(self):
            yield quantity(slope) * (self.p.v - self.n.v) == self.i
            yield self.p.i == self.i
            yield self.n.i == -self.i

    for source in (el.DCCurrentSource, el.DCVoltageSource):
        model = wired("leak", "source.p leak.p", "source.n leak.n earth.V",
                      leak=Leak(), source=source(), earth=el.ElectricalReference())
        assert not model.check()
