"""Wrong statements raise at once; findings are chosen, shown, raised and catalogued."""

import pickle
import re
from pathlib import Path

import pytest
from benches import wired
from benches.wrong_models import Gain, Inertia, Shell, pattern, sound

import blocks
import library.electrical as el
import library.translational as tr
from blocks import Component, Input, Parameter, SimulationError, Variable, der, exceptions, quantity
from blocks.analysis import optimise
from blocks.diagnostics import SEVERITIES, Finding, Findings
from blocks.exceptions import CheckError, StructureError
from library.electromechanical import DCMotor
from library.magnetic import ElectromagneticConverter
from library.tables import table
from library.translational import Damper, ForceSource, Mass, Reference, Spring


def three_mistakes():
    return sound("a.R b.R damper.R", "a.C b.C ground.V", "push.R block.M",
                 "short.R short.C block.M",
                 a=tr.VelocitySource(velocity="0 m/s"), b=tr.VelocitySource(velocity="0 m/s"),
                 push=tr.ForceSource(force="1 N"), spring=tr.Spring(), short=tr.Spring())


def test_one_check_names_all_mistakes_errors_first():
    findings = three_mistakes().check()
    assert [f.code for f in findings] == [
        "conflict.across", "conflict.through", "reference.missing", "network.shorted",
        "network.unconnected", "network.unconnected"]  # fmt: skip


def test_of_many_findings_of_one_kind_the_rest_is_counted():
    loops = [f"s{k}.R s{k}.C block.M" for k in range(20)]
    findings = sound(*loops, **{f"s{k}": tr.Spring() for k in range(20)}).check()
    assert [f.problem for f in findings.filter("network.shorted")][12:] == [
        "8 more like these: network.shorted."]


def test_findings_are_chosen_by_code_family_and_severity():
    findings = three_mistakes().check()
    assert [f.code for f in findings.filter("conflict")] == ["conflict.across", "conflict.through"]
    assert len(findings.filter("conflict.across", "error")) == 1
    assert len(findings.warnings) == 1
    assert "network.shorted" in findings
    assert "signal.loop" not in findings
    assert findings[0] in findings
    assert len(findings[1:]) == 5


def test_several_errors_are_raised_together_and_carry_all_findings():
    findings = three_mistakes().check()
    with pytest.raises(CheckError) as caught:
        findings.raise_errors()
    assert caught.value.code == "check"
    assert caught.value.findings == findings
    text = str(caught.value)
    assert text.startswith("demo: 3 mistakes prevent a run:\n  1. a and b both prescribe ")
    assert "\n  3. The translational circuit of spring has no Reference" in text
    assert pickle.loads(pickle.dumps(caught.value)).findings == findings


def test_a_single_error_is_raised_as_itself():
    model = sound("push.R block.M", push=tr.ForceSource(force="1 N"))
    with pytest.raises(StructureError) as caught:
        model.simulate("1 s")
    assert caught.value.code == "conflict.through"
    assert caught.value.where == "push.C, push"
    assert caught.value.findings == model.check()
    assert str(caught.value) == str(model.check().errors[0])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.where, str(copy)) == ("push.C, push", str(caught.value))


def test_compiling_a_singular_network_says_the_same_as_the_check():
    model = three_mistakes()
    with pytest.raises(StructureError) as caught:
        model.compile()
    assert [f.code for f in caught.value.findings.errors] == [
        "conflict.across", "conflict.through", "reference.missing"]  # fmt: skip


def test_nothing_is_raised_where_there_are_no_errors():
    model = sound()
    model.loose = tr.Mass()
    model.check().raise_errors()


def test_the_printed_check_shows_severity_code_problem_and_repair():
    model = sound("push.R block.M", push=tr.ForceSource(force="1 N"))
    assert str(model.check()) == (
        "demo: 1 error\n"
        "error   conflict.through\n"
        "        push.C is connected to nothing, so the force that push prescribes has nothing to "
        "act on.\n"
        "        -> Connect push.C to a component or to a Reference.")
    assert repr(model.check()) == str(model.check())


def test_notebooks_get_a_table_with_escaped_text():
    finding = Finding("signal.loop", "warning", ("a",), "a < b", "break & repair")
    page = Findings([finding], "demo")._repr_html_()
    assert "<p>demo: 1 warning</p>" in page
    assert "a &lt; b" in page
    assert "break &amp; repair" in page


def test_pandas_shows_every_finding():
    pytest.importorskip("pandas")
    frame = three_mistakes().check().to_pandas()
    assert list(frame.columns) == ["code", "severity", "where", "problem", "advice"]
    assert frame["where"][0] == "a, b"


def test_a_check_is_kept_until_values_or_structure_change():
    model = sound()
    first = model.check()
    assert model.check() is first
    model.block.mass = "3 kg"
    assert model.check() is not first
    model.loose = tr.Mass()
    assert "network.unconnected" in model.check()


def test_a_mistake_in_a_chain_of_thousands_is_still_named():
    n = 3000
    model = wired("chain", "s.C m.M", "s[1:].R m[:-1].M", "s[0].R ground.V", "pull.R m[1234].M",
                  "pull.C ground.V", ground=tr.Reference(), m=tr.Mass(count=n),
                  s=tr.Spring(count=n), pull=tr.VelocitySource(count=2, velocity="1 m/s"))
    assert [f.where for f in model.check().errors] == [("pull[0]", "pull[1]")]


# -- the catalogue -------------------------------------------------------------------------------
def catalogue():
    page = Path(__file__).parents[2] / "docs" / "messages.md"
    rows = re.findall(r"^\| (`[^|]+`) \|(.*)\|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {code: cells for codes, cells in rows for code in re.findall(r"`([a-z.]+)`", codes)}


def test_every_code_is_in_the_catalogue_and_every_entry_is_a_code():
    used = set(SEVERITIES)
    for file in Path(blocks.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        used |= set(re.findall(r"\bcode(?:: ClassVar\[str\])? ?= ?\"([a-z]+(?:\.[a-z]+)*)\"", text))
    assert set(catalogue()) == used


def test_the_catalogue_gives_the_severity_of_every_finding():
    for code, cells in catalogue().items():
        if code in SEVERITIES and code != "parameter":
            assert cells.split("|")[0].strip() == SEVERITIES[code], code


# -- a run that breaks down is reported against the component whose equation has no value -----
class Bristle(tr.TwoPort):
    """A force that has no value beyond a limit."""

    limit = Parameter("0.5 m")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("1 N/m^(1/2)") * blocks.sqrt(self.limit - self.x)


class Vapour(Bristle):
    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("1 N") * blocks.log(1 - self.x / self.limit)


@pytest.mark.parametrize("method", ["auto", "Radau", "rk4"])
@pytest.mark.parametrize(("part", "equation"), [
    (Bristle, "rail.f == sqrt(rail.limit - rail.x)"),
    (Vapour, "rail.f == log(1 - rail.x/rail.limit)")])
def test_a_root_or_logarithm_of_a_negative_number_is_laid_at_its_components_door(
    method, part, equation):
    model = wired("broken", "block.M rail.R", "rail.C ground.V",
                  block=tr.Mass(v="1.5 m/s"), rail=part(), ground=tr.Reference())
    step = "1 ms" if method == "rk4" else None
    with pytest.raises(SimulationError) as caught:
        model.simulate("3 s", method=method, step=step)
    assert caught.value.where == "rail"
    assert equation in str(caught.value)
    assert "a root or logarithm of a negative number" in caught.value.advice
    assert caught.value.result["block.v"].final.m > 0


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_a_pole_of_a_source_is_laid_at_the_sources_door(method):
    model = wired("pole", "block.M push.R", "push.C ground.V",
                  block=tr.Mass(), ground=tr.Reference(),
                  push=tr.ForceSource(force=lambda t: quantity("1 N*s") / (t - quantity("0.5 s"))))
    with pytest.raises(SimulationError, match=r"push\.S == 1/\(time - 0\.5\)") as caught:
        model.simulate("1 s", method=method)
    assert caught.value.where == "push"
    assert caught.value.time == pytest.approx(0.5, abs=1e-9)


def test_an_unknown_name_is_an_attribute_of_the_error():
    with pytest.raises(blocks.UnknownName) as caught:
        tr.Mass().masss  # noqa: B018
    assert caught.value.name == "masss"
    assert caught.value.nearest == ["mass"]


@pytest.mark.parametrize(("law", "words", "where", "time"), [
    (lambda v: quantity("1 N*s^2/m^2") * v**2, "grows without bound", "",
     pytest.approx(1.0, abs=1e-6)),  # v = 1/(1 - t): no component's fault
    (lambda v: quantity("1 kN*s/m") * v, r"^block: .* block\.v has grown to .*: look for what "
     "feeds it, such as a source, or a damper or a resistor of the wrong sign", "block",
     pytest.approx(0.7, abs=0.02))])  # v = exp(1000 t): beyond all numbers from 0.71 s on
def test_a_motion_that_feeds_itself_is_no_division_by_zero(law, words, where, time):
    class Fed(tr.TwoPort):
        def equations(self):
            yield self.f == -law(self.v)

    model = wired("fed", "block.M fed.R", "fed.C ground.V",
                  block=tr.Mass(v="1 m/s"), fed=Fed(), ground=tr.Reference())
    with pytest.raises(SimulationError, match=words) as caught:
        model.simulate("2 s")
    assert (caught.value.where, caught.value.time) == (where, time)


# -- wrong statements -------------------------------------------------------------------------
class Turner(Component):
    """Signal in another unit than Gain's."""

    u = Input("m")


def demo():
    model = sound()
    model.wheel, model.a, model.b = Inertia(), Gain(), Gain()
    model.three, model.two, model.turner = Mass(count=3), Damper(count=2), Turner()
    return model


def declare_reserved():
    class Wrong(Component):
        path = Variable("m")


def hide():
    class Base(Component):
        x = Variable("m")

    class Derived(Base):
        x = 3


def parts_of_a_leaf(model):
    model.block.part = Mass()


STATEMENTS = [
    # connections
    (lambda m: m.connect(m.block.M, m.wheel.I), "connection.domain",
     "block.M is translational … wheel.I is rotational … converts one domain into the other"),
    (lambda m: m.connect(m.block.M, m.a.u), "connection.kind",
     "a.u is a signal … block.M a conserving port. Sources turn … sensors the reverse"),
    (lambda m: m.connect(m.a.y, m.turner.u), "connection.unit",
     "a.y is in N … turner.u in m. Gain(gain=\"1 m/N\", input=\"N\")"),
    (lambda m: m.connect(m.a.y, m.b.y), "connection.signal",
     "exactly one output … 2 (a.y, b.y). Give the output first"),
    (lambda m: m.connect(m.block.M, m.block.M), "connection.self", "block.M: … given twice"),
    (lambda m: m.connect(m.three.M, m.two.R), "connection.size",
     "three.M (3) and two.R (2) … such as model.masses[1:].M"),
    (lambda m: m.connect(m.three[1:].M, m.two[:1].R, m.three.M), "connection.size",
     "three.M (2) and two.R (1) and three.M (3): … such as"),
    (lambda m: m.connect(Mass().M, m.block.M), "connection.foreign",
     "Mass.M: … not part of the model … to block.M. First write model.name = Component(…)"),
    (lambda m: m.connect(m.block, m.damper.R), "connection.ports", "block. Its ports are: M."),
    (lambda m: m.connect(m.block.mass, m.damper.R), "connection.ports",
     "1.0 kg. … is no port … input, such as vT of a Switch"),
    (lambda m: m.connect(m.damper.R), "connection.ports", "at least two ports. … (a.R, b.C)"),
    (lambda m: setattr(m.block, "M", 1), "connection.assigned", "block.M: … model.connect(a, b)"),
    (lambda m: DCMotor(R="3 ohm"), "connection.assigned", "DCMotor.R: … belongs to resistance=…."),
    (lambda m: ElectromagneticConverter(N=300), "connection.assigned",
     "ElectromagneticConverter.N: … belongs to turns=…."),
    (lambda m: el.VariableResistor(R="3 ohm"), "connection.assigned",
     "VariableResistor.R: is a signal … model.connect(a, b) … belongs to resistance=…."),
    (lambda m: el.Switch(gate=True), "unit.missing", "Switch.gate: … given True. Write 1."),
    (lambda m: el.Switch(closed_resistance="0 ohm"), "parameter.bounds",
     "Switch.closed_resistance: … greater than 0 ohm … is 0 ohm. … none with model='ideal'"),
    # names
    (lambda m: setattr(m, "block", Mass()), "name.taken", "block: … a Mass of this name. … del "),
    (lambda m: el.ThreePhaseBridge().upper_a, "name.unknown",
     "ThreePhaseBridge: … 'upper_a' among its parts. Did you mean 'upper_A'?"),
    (lambda m: setattr(m, "check", Mass()), "name.reserved", "check: … reserved by Model."),
    (lambda m: declare_reserved(), "name.reserved", "Wrong.path: … reserved by Component."),
    (lambda m: hide(), "name.taken", "Derived.x: hides the variable 'x' of a base. Rename"),
    (lambda m: m.add("2nd", Mass()), "name.invalid", "2nd: … Names are Python identifiers"),
    (lambda m: setattr(m, "again", m.block), "name.used",
     "again: … already part of the model 'demo' as 'block'. Make a second one"),
    (parts_of_a_leaf, "name.parts", "block.part: Mass is not a composite … to the model instead"),
    (lambda m: setattr(m, "row", [Mass(), Mass()]), "name.parts",
     "row: a list … such as Mass(count=3) … model.add('first', Mass())"),
    (lambda m: setattr(m, "second", Mass), "name.parts", "second: Mass is a class … Write Mass()"),
    (lambda m: setattr(m.block, "part", Mass), "name.parts",
     "block.part: Mass is a class … Write Mass()"),
    (lambda m: m.add("second", Mass), "name.parts", "second: Mass is a class … Write Mass()"),
    (lambda m: setattr(m, "block", "3 kg"), "name.parts",
     "block: … such as Mass() … '3 kg' is none. … (model.mass.mass = '3 kg')"),
    (lambda m: m.add("second", None), "name.parts", "second: … such as Mass() … None is none."),
    (lambda m: setattr(m, "inner", blocks.Model("inner")), "name.parts",
     "inner: … Write a composite"),
    (lambda m: Mass(mas="1 kg"), "name.unknown",
     "Mass: … 'mas' among its parameters and variables. Did you mean 'mass'?"),
    (lambda m: Reference(position="1 m"), "name.unknown",
     "Reference: … 'position' among … There are no parameters and variables here."),
    (lambda m: m.blok, "name.unknown", "'blok' among its parts. Did you mean 'block'?"),
    (lambda m: Spring(law="lineer"), "name.unknown",
     "Spring.law: … 'lineer' among its choices. Did you mean 'linear'?"),
    (lambda m: blocks.Target("1 m", priority="hgh"), "name.unknown",
     "Target.priority: … 'hgh' among its priorities. Did you mean 'high'?"),
    (lambda m: m.three[7], "name.unknown", "three: … '7' among its instances. … 0 to 2."),
    # values
    (lambda m: Mass(mass="0 kg"), "parameter.bounds",
     "Mass.mass: … greater than 0 kg, but is 0 kg. Check the sign, the size and the unit of mass"),
    (lambda m: setattr(m.damper, "damping", "-5 N*s/m"), "parameter.bounds",
     "damper.damping: … at least 0 N*s/m, but is -5 N*s/m. … of damping (Damping coefficient)"),
    (lambda m: Mass(mass=blocks.quantity(float("nan"), "kg")), "parameter.finite",
     "Mass.mass: is nan kg … Give a value in kg."),
    (lambda m: Mass(v="inf m/s"), "parameter.finite",
     "Mass.v: has the initial target inf m/s … Give a value in m/s."),
    (lambda m: Mass(count=3, mass=["1 kg", "2 kg"]), "parameter.size",
     "Mass.mass: … 2 values … 3 instances. Give one value, or as many as count says."),
    (lambda m: Mass(mass=["1 kg", "2 kg"]), "parameter.size",
     "Mass.mass: … 2 values, but takes a single value."),
    (lambda m: Mass(count=0), "parameter.count", "Mass.count: … at least 1, but is 0."),
    (lambda m: Mass(mass=lambda t: t), "parameter.function",
     "Mass.mass: takes a constant, but was given a function. … sources whose value may vary"),
    (lambda m: ForceSource(force=3 * blocks.time), "parameter.function",
     "ForceSource.force: … <(3*time) in s> … Give a function of time, lambda t: …, instead."),
    # units
    (lambda m: Damper(damping="100 N/m"), "unit.dimension",
     "Damper.damping: takes N*s/m … given 100 N/m. A stiffness belongs to Spring(stiffness=…)."),
    (lambda m: Damper(damping=100), "unit.missing",
     "Damper.damping: takes N*s/m … bare number 100. Write '100 N*s/m'"),
    (lambda m: Damper(damping="100 Ns/m"), "unit.unknown",
     "Damper.damping: … 'Ns/m' is not a unit. Did you mean 'N*s/m'?"),
    (lambda m: Inertia(w="1 Hz"), "unit.hertz",
     "Inertia.w: … in rad/s, but was given 1 Hz. One turn is 2π rad: write '1 turn/s'"),
    (lambda m: Inertia(w="1500 1/min"), "unit.hertz",
     "Inertia.w: … in rad/s … 1500 1/min … Write '1500 rpm' if turns are meant."),
    (lambda m: Mass(v="1 m"), "unit.dimension", "Mass.v: takes m/s … given 1 m. Give it in m/s.")]


@pytest.mark.parametrize(("statement", "code", "told"), STATEMENTS,
                         ids=[f"{k}-{s[1]}" for k, s in enumerate(STATEMENTS)])
def test_a_wrong_statement_raises_at_once_and_says_what_to_do(statement, code, told):
    with pytest.raises(exceptions.BlocksError) as caught:
        statement(demo())
    assert caught.value.code == code
    assert re.search(pattern(told), str(caught.value)), str(caught.value)


def test_facts_are_attributes_and_survive_pickling():
    with pytest.raises(exceptions.BlocksError) as caught:
        Damper(damping="-5 N*s/m")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.rule == "minimum"
    assert copy.bound.to("N*s/m").magnitude == 0
    assert (copy.code, str(copy)) == (caught.value.code, str(caught.value))


@pytest.mark.parametrize(("call", "text"), [
    (lambda m: m.sweep({"block.mass": ["1 kg"]}, "1 s"),
     r"sweep\(\): missing a required argument: 'outputs'\. It is called as "
     r"sweep\(over, duration, \*, outputs, every=None"),
    (lambda m: m.operating_point(block_v="1 m/s"),
     r"operating_point\(\): got an unexpected keyword argument 'block_v'\. It is called as "
     r"operating_point\(targets=None, \*, at_rest=True, modes=None\)"),
    *((call, rf"there is no option '\w+'\. Did you mean '{meant}'") for call, meant in (
        (lambda m: m.linearise(point=3), "at"), (lambda m: m.draw(value=True), "values"),
        (lambda m: m.linearise([], ["block.v"]).bode(titel="one"), "title"),
        (lambda m: Parameter("1 N", min=0), "minimum"))),
    (lambda m: blocks.Model("a", "b"), r"Model\(\): too many .* called as Model\(name='model'"),
    (lambda m: m.values(block_mass="3 kg"), r"It is called as values\(given\)"),
    (lambda m: m.check("a"), r"It is called as check\(\)"),
    (lambda m: optimise("m", "max(block.v)", {}, "1 s"), r"takes a model first, but was given"),
    (lambda m: m.simulate("10 ms").save(), r"save\(\): missing .* It is called as save\(file"),
    (lambda m: table("run.csv", "t [s]", "F [N]"),
     r"It is called as table\(times, values=None, \*, time=None, value=None"),
    (lambda m: m.add(Mass()), r"It is called as add\(name, component\)"),
    (lambda m: float(m.block.v), r"block\.v: is a variable .* Write model\.simulate\('4 s'\)\["),
    (lambda m: blocks.load(), r"It is called as load\(file\)")])  # fmt: skip
def test_a_call_that_python_refuses_shows_how_it_is_written(call, text):
    with pytest.raises(exceptions.WrongCall, match=text) as caught:
        call(sound())
    assert caught.value.code == "call"


def test_a_mistake_inside_a_call_is_no_wrong_call():
    def output(run):
        return divmod(run["block.v"].final.m)

    with pytest.raises(TypeError) as caught:
        exceptions.told_how_to_call(output)(sound().simulate("10 ms"))
    assert not isinstance(caught.value, exceptions.WrongCall)


def test_a_port_that_needs_another_option_says_so():
    class Optional(Component):
        wide = Parameter("1 m")
        u = Input("N", when=lambda c: False)

    with pytest.raises(exceptions.BlocksError) as caught:
        _ = Optional().u
    assert caught.value.code == "connection.absent"
    assert "Optional.u: this port exists only with other options" in str(caught.value)


def test_a_domain_and_a_composite_can_be_made_without_a_model():
    assert blocks.Domain("d", across={"v": "m/s"}, through={"f": "N"}).reference == ""
    assert Shell().inner.path == "inner"
