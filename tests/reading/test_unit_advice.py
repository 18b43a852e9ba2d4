"""Advice on units is made from what was given: near names, slips, and what it measures."""

import numpy as np
import pandas as pd
import pytest
from benches import wired
from numpy.testing import assert_allclose

import blocks
import library.signal as sig
import library.translational as tr
from blocks import Component, Domain, Input, Model, Parameter, Port, Variable, exceptions, quantity
from blocks.exceptions import ParameterError, UnitError, UnknownName, UnknownUnit, WrongDimension
from blocks.language.replaceable import Replacement
from blocks.units import registry, to_si, unit
from library.planar import Prismatic, Revolute, RollingWheel
from library.rotational import Inertia, RotationalDamper, RotationalSpring, TorqueSource
from library.tables import table
from library.thermal import ThermalResistance


@pytest.mark.parametrize(("slip", "meant"), [
    ("Kgs", "kg"), ("kilogramm", "kilogram"), ("Metres", "metres"), ("metter", "meter"),
    ("secnds", "second"), ("Newton", "newton"), ("kNm", "kN*m"), ("Nmm", "N*mm"), ("Nms", "N*m*s"),
    ("Nm/rad", "N*m/rad"), ("Nms/rad", "N*m*s/rad"), ("kgm^2", "kg*m^2"), ("kg*m2", "kg*m^2"),
    ("mm3", "mm^3"), ("As", "A*s"), ("RPM", "rpm"), ("revs", "turn"), ("KOhm", "kohm"),
    ("Volts", "volts"), ("pascl", "pascal"), ("s-1", "1/s"), ("Kelvin", "K"), ("mtr/s", "m/s"),
    ("kg.m2", "kg*m^2"), ("N-s/m", "N*s/m"), ("m per s", "m/s"), ("kmph", "km/hour"),
    ("kpa", "kPa"), ("kilo gram", "kilogram")])  # fmt: skip
def test_a_slip_in_a_unit_is_answered_with_the_unit_meant(slip, meant):
    with pytest.raises(UnknownUnit) as caught:
        to_si(f"2 {slip}", unit("N"), "box.load")
    assert caught.value.advice == f"Did you mean '{meant}'?"
    assert unit(meant).dimension is not None


def test_instances_share_one_function_of_time():
    with pytest.raises(ParameterError, match="force: takes N.* list of functions"):
        tr.ForceSource(count=2, force=[lambda t: quantity("1 N"), lambda t: quantity("2 N")])
    model = wired("pushed", "s.R m.M", "s.C g.V", g=tr.Reference(), m=tr.Mass(count=2),
                  s=tr.ForceSource(count=2, force=lambda t: quantity([1, 2], "N")))
    with pytest.raises(exceptions.EquationError, match=r"s\.force: .*returns 2 values"):
        model.compile()


@pytest.mark.parametrize(("text", "unit_", "choices"), [
    ("2 ton", "kg", {"t": 1000.0, "short_ton": 2000 * 0.45359237}),
    ("2 kilotons", "kg", {"t": 1000.0, "short_ton": 2000 * 0.45359237}),
    ("3 mil", "m", {"thou": 0.0254e-3}), ("3 mil", "rad", {"mrad": 1e-3}),
    ("2 ton_force", "N", {"tf": 9806.65, "kip": 1000 * 0.45359237 * 9.80665}),
    ("3 barrels/day", "m^3/s", {"oil_bbl": 42 * 231 * 0.0254**3, "dry_barrel": 7056 * 0.0254**3}),
])  # fmt: skip
def test_units_that_are_others_elsewhere_are_to_be_told_apart(text, unit_, choices):
    with pytest.raises(UnknownUnit, match="may be ") as caught:
        to_si(text, unit(unit_), "load")
    for name, factor in choices.items():
        assert f"{name} (" in caught.value.advice
        assert_allclose(unit(name).factor, factor, rtol=1e-12)



@pytest.mark.parametrize(("make", "advice"), [
    (lambda: tr.Spring(stiffness="3 kN*mm"),
     "That is a torque or an energy. Did you mean 'kN/mm'?"
     " A torsional stiffness belongs to RotationalSpring(stiffness=…)."),
    (lambda: tr.Spring(stiffness="3 N*m/deg"),
     "A torsional stiffness belongs to RotationalSpring(stiffness=…)."),
    (lambda: tr.Spring(stiffness="3 kg/s"), "A damping belongs to Damper(damping=…)."),
    (lambda: tr.Spring(stiffness="3 W"), "Give it in N/m."),
    (lambda: tr.Damper(damping="20 N/(m*s)"), "Did you mean 'N*s/m'?"),
    (lambda: tr.Damper(damping="20 N*m/s"), "That is a power. Did you mean 'N*s/m'?"),
    (lambda: tr.Damper(damping="20 N/mm"), "A stiffness belongs to Spring(stiffness=…)."),
    (lambda: tr.Damper(damping="20 N*m*s"),
     "That is an angular momentum. Did you mean 'N*s/m'? A torsional damping belongs to "
     "RotationalDamper(damping=…)."),
    (lambda: RotationalSpring(stiffness="2 N/mm"),
     "A stiffness along an axis belongs to Spring(stiffness=…)."),
    (lambda: RotationalDamper(damping="2 kN*m/rad"),
     "A stiffness belongs to RotationalSpring(stiffness=…)."),
    (lambda: Inertia(inertia="2 kg/m^2"), "Did you mean 'kg*m^2'?"),
    (lambda: Inertia(inertia="2 t"), "A mass belongs to Mass(mass=…)."),
    (lambda: tr.Mass(mass="2 g*cm^2"), "A moment of inertia belongs to Inertia(inertia=…)."),
    (lambda: tr.ForceSource(force="2 kN*m"), "A torque belongs to "
     "TorqueSource(torque=…)."),
    (lambda: TorqueSource(torque="2 kN"), "A force belongs to ForceSource(force=…)."),
    (lambda: tr.VelocitySource(velocity="2 m*s"), "Did you mean 'm/s'?"),
    (lambda: tr.VelocitySource(velocity="2 m/s^2"),
     "That is an acceleration. Did you mean 'm/s'?"),
    (lambda: tr.Spring(stiffness="2 N/M"), "Did you mean 'N/m'?"),
    (lambda: ThermalResistance(resistance="3 W/K"),
     "Did you mean 'K/W'? Give the reciprocal of the conductance."),
    (lambda: tr.ForceSource(force="2 kn"), "Did you mean 'kN'?"),
    (lambda: tr.VelocitySource(velocity="2 s/m"), "Did you mean 'm/s'?"),
    (lambda: Heater(start="20 C"), "Did you mean 'degC'?"),
    (lambda: Heater(start="20 deg F"), "Did you mean 'degF'?")])  # fmt: skip
def test_a_wrong_dimension_is_answered_from_the_one_that_was_given(make, advice):
    with pytest.raises(WrongDimension) as caught:
        make()
    assert caught.value.advice == advice


@pytest.mark.parametrize("given", ["7 rad/s", "100 deg/s", "33 rpm"])
def test_the_frequency_advised_for_an_angular_value_is_the_exact_one(given):
    with pytest.raises(exceptions.AngleFrequencyError) as caught:
        sig.Sine(frequency=given)
    advised = caught.value.advice.split("'")[1]
    exact = quantity(given).to("rad/s").magnitude / (2 * np.pi)
    assert_allclose(to_si(advised, unit("Hz")), exact, rtol=1e-15)


@pytest.mark.parametrize(("given", "slope", "arc"), [
    ("30 deg", "0.57735", "0.523599"), (quantity(45, "deg"), "1", "0.785398"),
    ("-20 mrad", "-0.0200027", "-0.02")])
def test_an_angle_is_no_plain_number_unless_in_radians(given, slope, arc):
    with pytest.raises(exceptions.AngleFrequencyError,
                       match=f"Write '{slope}' if a slope .* '{arc}' if the"):
        to_si(given, unit(""))
    assert to_si("0.3 rad", unit("")) == 0.3


# -- temperatures and their differences ---------------------------------------------------


class Heater(Component):
    """Of every kind of temperature one."""

    start, rise = Parameter("20 degC", minimum="-273.15 degC"), Parameter("5 delta_degC", minimum=0)
    either, conductance = Parameter("5 K"), Parameter("2 W/K")
    T = Variable("degC", "20 degC", nominal="10 delta_degC")


@pytest.mark.parametrize(("name", "given", "si"), [
    ("start", "30 °C", 303.15), ("start", "50 degF", 283.15), ("start", "300 K", 300),
    ("rise", "30 delta_degC", 30), ("rise", "18 delta_degF", 10), ("rise", "30 K", 30),
    ("either", "30 degC", 303.15), ("either", "30 delta_degC", 30), ("either", "30 K", 30),
    ("conductance", "3 W/degC", 3), ("conductance", "9 W/delta_degF", 9 * 1.8)])  # fmt: skip
def test_temperatures_and_differences_that_fit_are_taken(name, given, si):
    assert_allclose(to_si(getattr(Heater(**{name: given}), name), getattr(Heater, name).unit),
                    si, rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize(("give", "text"), [
    (lambda: Heater(rise="12 degC"), "Heater.rise: is a difference of temperatures in "
     "delta_degC, but was given 12 degC, a temperature. Write '12 delta_degC' if that is what "
     "you mean."),
    (lambda: Heater(rise="54 °F"), "Write '54 delta_degF'"),
    (lambda: Heater(rise=quantity(12, "degC")), "Write '12 delta_degC'"),
    (lambda: Heater(start="12 delta_degC"), "Heater.start: is a temperature in degC, but was "
     "given 12 delta_degC, a difference of temperatures. Write '12 degC' if that is what you "
     "mean."),
    (lambda: Heater(start=["12 delta_degF"]), "Write '12 degF'"),
    (lambda: Heater(T="12 delta_degC"), "Heater.T: is a temperature"),
    (lambda: setattr(Heater(), "rise", "0 degC"), "Write '0 delta_degC'")])  # fmt: skip
def test_a_temperature_is_not_taken_for_a_difference_nor_the_reverse(give, text):
    with pytest.raises(WrongDimension) as caught:
        give()
    assert text in str(caught.value)


def test_a_size_of_temperatures_is_a_difference():
    model = Model("heated")
    for give in (lambda: Heater(T=blocks.Target("30 degC", nominal="2 degC")),
                 lambda: model.nominal_values("2 degC")):
        with pytest.raises(WrongDimension, match=r"nominal.* in (delta_)?degC, .*'2 delta_degC'"):
            give()


@pytest.mark.parametrize("typed", ["degC", "°C", "degF", "°F"])
def test_the_unit_of_a_difference_is_named_as_one(typed):
    difference = unit(typed).as_difference
    assert difference == unit(f"delta_{typed.replace('°', 'deg')}")
    assert difference.as_difference is difference


def test_a_tolerance_is_a_difference_of_temperatures():
    class Cooling(Component):
        T = Variable("degC", "20 degC", priority="high")

        def equations(self):
            from blocks import der

            yield der(self.T) * quantity("1 s") == quantity("300 K") - self.T

    model = wired("cooling", body=Cooling())
    model.simulate("1 s", atol="1e-3 delta_degC")
    with pytest.raises(WrongDimension, match=r"simulate\(atol=…\): is a difference .*'0.001 delta"):
        model.simulate("1 s", atol="1e-3 degC")


def test_a_line_does_not_join_a_temperature_and_a_difference():
    class Sensor(Component):
        u = Input("degC")

    class Rise(Component):
        u = Input("delta_degC")

    model = wired("line", source=sig.Gain(gain="2", input="degC"), kelvin=sig.Gain(),
                  sensor=Sensor(), rise=Rise())
    model.connect(model.source.y, model.sensor.u)  # a product of temperatures is in K
    with pytest.raises(exceptions.ConnectionRefused,
                       match="degC and line.rise.u|degC and rise.u|in delta"):
        model.connect(model.sensor.u, model.rise.u)


def test_products_of_signals_are_in_familiar_units():
    assert str(sig.Product(units="kN, mm/s").y.port.unit) == "W"
    assert str(sig.Gain(gain="3 A", input="V").y.port.unit) == "W"
    assert str(sig.Gain(gain="3 N*m", input="rad/s").y.port.unit) == "W"
    assert str(sig.Gain(gain="3 m", input="N").y.port.unit) == "N*m"
    assert str(sig.Integrator(input="degC").y.port.unit) == "K*s"
    assert str(sig.Gain(gain="3 N*m/rad", input="1").y.port.unit) == "N*m/rad"


@pytest.mark.parametrize("text", ["3 dB", "3 dBm", "3 Np", "3 dB/s", "3 m*dB^2"])
def test_logarithmic_units_are_refused(text):
    with pytest.raises(UnknownUnit, match="is a logarithmic unit. Give the plain ratio"):
        to_si(text, unit(""), "box.gain")


# -- what the author of a class wrote -----------------------------------------------------


@pytest.mark.parametrize(("base", "declaration", "kind", "told"), [
    ("Component", "Parameter('5 m', maximum='3 kg')", WrongDimension,
     "(maximum): takes m or any unit convertible to it, but was given 3 kg. Give it in m."),
    ("Component", "Parameter('5 metters')", UnknownUnit,
     "(default): 'metters' is not a unit. Did you mean 'meter'?"),
    ("Component", "Parameter('m')", UnknownUnit,
     "(default): 'm' is a unit without a number. Write '1 m' if that is what you mean."),
    ("Component", "Parameter('5 m', above=0, below='4 m')", ParameterError,
     "(default): must be less than 4 m, but is 5 m."),
    ("Component", "Variable('Nm')", UnknownUnit, ": 'Nm' is not a unit. Did you mean 'N*m'?"),
    ("Component", "Variable('m', '1 s')", WrongDimension, "(initial): takes m or any unit"),
    ("Component", "Discrete('m', nominal='1 s')", WrongDimension, "(nominal): takes m or any unit"),
    ("Replacement", "Parameter('5 m', minimum='3 kg')", WrongDimension,
     "(minimum): takes m or any unit")])
def test_a_wrong_declaration_names_class_and_parameter(base, declaration, kind, told):
    with pytest.raises(kind) as caught:
        exec(f"class Crate({base}):\n    side = {declaration}", {
            one.__name__: one for one in (Component, blocks.Discrete, Parameter, Replacement,
                                          Variable)})
    assert str(caught.value).startswith(f"Crate.side{'' if told[0] == ':' else ' '}{told}")


def test_a_wrong_declaration_outside_a_class_is_refused_where_it_is_made():
    with pytest.raises(WrongDimension, match=r"^minimum: takes kg"):
        Parameter("2 kg", minimum="2 m")
    with pytest.raises(UnknownUnit, match="Domain ropes.f: 'Nm' is not a unit"):
        Domain("ropes", across={"v": "m/s"}, through={"f": "Nm"})


# -- numbers that are none, and tables that are numbers -----------------------------------


@pytest.mark.parametrize(
    "given", [10**400, -(10**320), 10**5000, quantity(10**400, "kg"), [10**400], "1e310 kg"],
    ids=range(6))
def test_a_number_too_large_for_a_float_is_refused_in_few_words(given):
    with pytest.raises((ParameterError, UnitError), match="too large") as caught:
        tr.Spring(stiffness=given)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("given", "kind"),
    [(registry().Quantity(1 + 2j, "kg"), UnknownUnit), (np.True_, UnitError),
     ({"kg": 1}, UnknownUnit), (b"5 kg", UnknownUnit), (object(), UnknownUnit),
     (np.array(["5 kgs"]), UnknownUnit),
     ([["5 kg"], ["5 kg", "6 kg"]], ParameterError), ([object()] * 100000, UnknownUnit)],
    ids=range(8))  # fmt: skip
def test_what_is_no_value_is_refused_by_name(given, kind):
    with pytest.raises(kind, match=r"^Mass\.mass(\[0\])?: ") as caught:
        tr.Mass(mass=given)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("make", "text"), [
    (lambda: sig.TransferFunction(denominator=2.5), "TransferFunction.denominator: takes a list of "
     "values, but was given a single number. Give a plain list."),
    (lambda: sig.TransferFunction(denominator=[]), "TransferFunction.denominator: takes a list of "
     "values, but was given an empty list. Give a plain list."),
    (lambda: sig.StateSpace(B=4), "StateSpace.B: takes a matrix, but was given a single number. "
     "Give a list of rows."),
    (lambda: sig.StateSpace(D=0), "StateSpace.D: takes a matrix, but was given a single number."),
    (lambda: sig.StateSpace(A=[[1, 2], [3]]), "StateSpace.A: was given rows of different lengths"),
    (lambda: sig.Table1D(values="3 N"), "Table1D.values: takes a list of values, but was given a "
     "single number."),
    (lambda: tr.Spring(law="table", forces="3 N"), "Spring.forces: takes a list of values")],
)  # fmt: skip
def test_a_number_is_not_taken_for_a_table(make, text):
    with pytest.raises(ParameterError) as caught:
        make()
    assert text in str(caught.value)
    assert caught.value.code == "parameter.size"


@pytest.mark.parametrize(("times", "values", "text"), [
    (["0 s", "1 secnd"], ["1 N", "2 N"], "'secnd' is not a unit. Did you mean 'second'?"),
    (["0 s", "1 kg"], ["1 N", "2 N"], "table(): was given 1.0 kg among values in s."),
    (["0 s", "1 s"], ["1 N", "2 m"], "table(): was given 2.0 m among values in N."),
    ("0 s", ["1 N", "2 N"], "table(): takes lists, but was given '0 s'."),
    (["0 s"], ["1 N", "2 N"], "table(): takes two or more times and as many values, but was "
     "given 1 times and 2 values."),
    (["1 s", "0 s"], ["1 N", "2 N"], "table(): takes times that do not decrease.")])  # fmt: skip
def test_a_table_of_typed_values_says_what_is_wrong_with_it(times, values, text):
    with pytest.raises((UnitError, ParameterError)) as caught:
        table(times, values)
    assert text in str(caught.value)


def test_a_text_in_an_equation_names_class_and_equation():
    class Rub(tr.TwoPort):
        def equations(self):
            yield self.f == self.v * quantity("2 N*s/m") + "3 N.."

    model = wired("rubbing", "body.M rub.R", "floor.V rub.C",
                  body=tr.Mass(), rub=Rub(), floor=tr.Reference())
    with pytest.raises(UnknownUnit, match=r"Rub, equation 1: 'N\.\.' is not a unit: '\.\.' is no"):
        model.simulate("1 s")


@pytest.mark.parametrize(("make", "text"), [
    (lambda: sig.Product(units="m," * 10**5), "Product.u: would be 100,001 of a kind."),
    (lambda: sig.Sum(signs="+" * 10**6), "Sum.u: would be 1,000,000 of a kind."),
    (lambda: sig.Product(units=5), "Product.units: takes a text, but was given 5."),
    (lambda: sig.Gain(input=["m"]), "Gain.input: takes a text, but was given ['m']."),
    (lambda: sig.Gain(input="7**7**7*m"), "Gain.input: '7**7**7*m' is not a unit"),
    (lambda: sig.Gain(input="5 m"), "Gain.input: '5 m' is not a unit. Give a unit without a"),
    (lambda: tr.Mass(count=10**30),
     "Mass.count: is 1000000000000000000000000000000, but may be"),
    (lambda: tr.Spring(law="x" * 10**6), "Spring.law: there is no 'xxx"),
    (lambda: tr.Mass(**{"m" * 10**6: "1 kg"}), "Mass: there is no 'mmm")])  # fmt: skip
def test_an_option_of_any_length_is_answered_in_few_words(make, text):
    with pytest.raises(exceptions.BlocksError) as caught:
        make()
    assert text in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_path_of_any_length_is_looked_up_in_no_time():
    result = wired("free", bodies=tr.Mass(count=3)).simulate("0.1 s")
    for path in ("a." * 10**6, "[" * 10**6, "bodies[" + "9" * 5000 + "].v", "bodies[²].v",
                 "bodies[" + "9" * 5000 + ":].v", "bodies[-" + "9" * 5000 + "].v"):  # fmt: skip
        with pytest.raises(UnknownName) as caught:
            result[path]
        assert len(str(caught.value)) < 500


def test_a_parameter_declared_in_the_order_of_a_variable_is_told_its_own():
    with pytest.raises(UnknownUnit, match=r"Sampled\.interval: '10 ms' is not a unit\. The default "
                       r"of a parameter comes first, and shows its unit: Parameter\('10 ms'\)\."):
        class Sampled(Component):
            interval = Parameter("s", "10 ms")


@pytest.mark.parametrize("given", [90, "90", "-0.5"])
def test_a_number_says_of_no_angle_how_it_is_counted(given):
    with pytest.raises(exceptions.MissingUnit,
                       match=rf"Sine\.phase: takes rad, but was given the bare number "
                       rf"'?{given}'?\. Write '{given} rad', or '{given} deg', if that is"):
        sig.Sine(phase=given)


def test_a_slope_in_percent_is_told_its_angle():
    with pytest.raises(exceptions.AngleFrequencyError,
                       match=r"incline: is an angle in rad, but was given "
                       r"100 %\. A slope of 100 % is '45 deg'\."):
        tr.VehicleBody(incline="100 %")
    with pytest.raises(exceptions.MissingUnit, match="Mass.mass: .* Give it in kg, not as a share"):
        tr.Mass(mass="5 %")


def test_who_asks_a_body_for_its_position_is_told_who_counts_it():
    with pytest.raises(UnknownName, match="a body has no position: .* spring .*MotionSensor"):
        tr.Mass(x="1 m")
    model = wired("free", body=tr.Mass(v="1 m/s"))
    with pytest.raises(UnknownName, match="a body has no position"):
        model.simulate("1 s")["body.x"]


@pytest.mark.parametrize("component, asked, here", [
    (Prismatic, "x", "s"), (Prismatic, "position", "s"), (RollingWheel, "displacement", "s"),
    (Revolute, "angle", "phi"), (RotationalSpring, "angle", "phi"), (sig.PID, "unit", "input"),
    (sig.Gain, "units", "input"), (sig.Sum, "input", "unit")])
def test_what_goes_by_another_name_is_told_by_which(component, asked, here):
    with pytest.raises(UnknownName, match=f"What is often called {asked} is {here} here\\."):
        component(**{asked: "0.1 m"})


@pytest.mark.parametrize("make, told", [
    (lambda: tr.ForceSource(force="10 lb"), "Did you mean 'lbf'?"),
    (lambda: tr.Mass(mass="5 lbf"), "Did you mean 'lb'?"),
    (lambda: tr.ForceSource(force="5 kg"), "Did you mean 'kgf'?"),
    (lambda: TorqueSource(torque="5 lb*ft"), "Did you mean 'lbf*ft'?"),
    (lambda: tr.Damper(damping="3 N*s/mil"), "Write thou (25.4 um)"),
    (lambda: tr.Mass(count=3, mass=["1 kg", "2 m", "3 kg"]), "Mass.mass[1]: takes kg"),
    (lambda: tr.Mass(count=2, mass=pd.Series(["1 kg", "2 m"])), "Mass.mass[1]: takes kg"),
    (lambda: tr.Mass(mass=1 + 2j), "which is a complex number")])  # fmt: skip
def test_masses_for_forces_rows_and_numbers_are_told_apart(make, told):
    with pytest.raises(UnitError) as error:
        make()
    assert told in str(error.value)


def test_a_column_of_a_table_may_hold_texts():
    masses = tr.Mass(count=2, mass=pd.Series(["1 kg", "200 g"], index=[7, 9]))
    assert_allclose([m.to("kg").magnitude for m in masses.mass], [1.0, 0.2])


def test_two_domains_of_one_name_are_told_as_such():
    class First(Component):
        A = Port(Domain("liquid", across={"p": "Pa"}, through={"q": "m^3/s"}))

    class Second(Component):
        A = Port(Domain("liquid", across={"p": "Pa"}, through={"V": "m^3/s"}))

    model = wired("two", a=First(), b=Second())
    with pytest.raises(exceptions.ConnectionRefused, match="two domains of one name"):
        model.connect(model.a.A, model.b.A)
        model.check()


def test_a_part_within_itself_is_told():
    class Nested(Component):
        def compose(self):
            self.again = Nested()

    model = Model("endless")
    with pytest.raises(exceptions.BlocksError, match="adds a part that adds such a part again"):
        model.outer = Nested()
        model.check()


def test_pythons_maximum_is_answered_with_that_of_equations():
    class Clipped(tr.TwoPort):
        def equations(self):
            yield self.f == quantity("1 N*s/m") * max(self.v, quantity("0 m/s"))

    model = wired("clipped", "block.M drag.R", "drag.C ground.V",
                  block=tr.Mass(), drag=Clipped(), ground=tr.Reference())
    assert "maximum(a, b)" in str(model.check())
