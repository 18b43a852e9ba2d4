"""Wrong statements raise at once, and say what to do."""

import pickle
import re

import pytest
from benches.wrong_models import Gain, Inertia, Shell, pattern, sound

import blocks
import library.electrical as el
from blocks import Component, Domain, Input, Model, Parameter, Target, Variable, exceptions, load
from library.electromechanical import DCMotor
from library.magnetic import ElectromagneticConverter
from library.tables import table
from library.translational import Damper, ForceSource, Mass, Reference, Spring


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
    (lambda m: setattr(m, "inner", Model("inner")), "name.parts", "inner: … Write a composite"),
    (lambda m: Mass(mas="1 kg"), "name.unknown",
     "Mass: … 'mas' among its parameters and variables. Did you mean 'mass'?"),
    (lambda m: Reference(position="1 m"), "name.unknown",
     "Reference: … 'position' among … There are no parameters and variables here."),
    (lambda m: m.blok, "name.unknown", "'blok' among its parts. Did you mean 'block'?"),
    (lambda m: Spring(law="lineer"), "name.unknown",
     "Spring.law: … 'lineer' among its choices. Did you mean 'linear'?"),
    (lambda m: Target("1 m", priority="hgh"), "name.unknown",
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
     r"sweep\(\): missing 1 required keyword-only argument: 'outputs'\. It is called as "
     r"sweep\(over, duration, \*, outputs, every=None"),
    (lambda m: m.operating_point(block_v="1 m/s"),
     r"operating_point\(\): got an unexpected keyword argument 'block_v'\. It is called as "
     r"operating_point\(targets=None, \*, at_rest=True, modes=None\)"),
    (lambda m: m.simulate("10 ms").save(), r"save\(\): missing .* It is called as save\(file"),
    (lambda m: table("run.csv", "t [s]", "F [N]"),
     r"It is called as table\(times, values=None, \*, time=None, value=None"),
    (lambda m: m.add(Mass()), r"It is called as add\(name, component\)"),
    (lambda m: float(m.block.v), r"block\.v: is a variable .* Write model\.simulate\('4 s'\)\["),
    (lambda m: load(), r"It is called as load\(file\)")])  # fmt: skip
def test_a_call_that_python_refuses_shows_how_it_is_written(call, text):
    with pytest.raises(exceptions.WrongCall, match=text) as caught:
        call(sound())
    assert caught.value.code == "call"


def test_a_mistake_inside_a_call_is_no_wrong_call():
    def output(run):
        return run["block.v"].max("mm/s", "1 s", "2 s", "3 s")

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
    assert Domain("d", across={"v": "m/s"}, through={"f": "N"}).reference == ""
    assert Shell().inner.path == "inner"
