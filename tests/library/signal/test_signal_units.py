"""Units through signal lines, and what is said where they do not fit."""

import re

import numpy as np
import pytest
from benches import meets, wire, wired
from numpy.testing import assert_allclose

import blocks
import library.signal as si
from blocks import Component, ConnectionRefused, Input, Output, Parameter, ParameterError, quantity
from blocks.exceptions import AngleFrequencyError, CheckError, UnknownUnit, WrongDimension


class ForcedMass(Component):
    """A mass pushed by a signal: force in newtons."""

    mass = Parameter("2 kg", above=0)
    force = Input("N")
    v = blocks.Variable("m/s", "0 m/s", priority="high")
    speed = Output("m/s")

    def equations(self):
        yield self.mass * blocks.der(self.v) == self.force
        yield self.speed == self.v


class Turned(Component):
    """Reads an angular velocity, a displacement per turn, and a current."""

    speed, displacement, current = Input("rad/s"), Input("cm^3/turn"), Input("A")
    sum = blocks.Variable("1")

    def equations(self):
        yield self.sum == (self.speed * quantity("1 s") + self.displacement / quantity("1 cm^3")
                           + self.current / quantity("1 A"))  # fmt: skip


@pytest.mark.parametrize(("value", "name", "fits"), [
    ("50 Hz", "speed", False), ("30 cm^3", "displacement", False), ("100 A*turn", "current", False),
    ("3000 rpm", "speed", True), ("50 1/s", "speed", True), ("5 cm^3/rad", "displacement", True)])
def test_signals_of_angles_are_joined_in_any_unit_and_those_of_turns_are_none(value, name, fits):
    """Taken in SI units, each of these would be off by 2 pi in silence."""
    model = wired("model", source=si.Constant(value=value), reader=Turned())
    if fits:
        wire(model, f"source.y reader.{name}")
    else:
        with pytest.raises(ConnectionRefused, match="and a turn is 2π rad. Give the signal in"):
            wire(model, f"source.y reader.{name}")


def test_values_keep_their_meaning_through_prefixes_along_a_line():
    model = wired("model", "stroke.y rate.u", "rate.y body.force", "body.speed distance.u",
                  stroke=si.Constant(value="5 mm"), rate=si.Gain(gain="2 kN/m", input="m"),
                  body=ForcedMass(), distance=si.Integrator(input="km/hour"))
    result = model.simulate("3 s", rtol=1e-9)
    meets(result, {"body.v m/s": (10 / 2 * 3, 1e-9), "distance.y m": (10 / 2 * 9 / 2, 1e-7)})


@pytest.mark.parametrize(("block", "inputs", "output"), [
    (lambda: si.Gain(gain="2 N/m", input="m"), ["m"], "N"),
    (lambda: si.Product(units="N, m/s, s"), ["N", "m/s", "s"], "N*m"),
    (lambda: si.Divide(units="m, s"), ["m", "s"], "m/s"),
    (lambda: si.Integrator(input="m/s"), ["m/s"], "m"),
    (lambda: si.Derivative(input="m"), ["m"], "m/s"),
    (lambda: si.PID(input="m", proportional="3 N/m"), ["m"], "N"),
    (lambda: si.MathFunction(function="sqrt", unit="m^2/s^2"), ["m^2/s^2"], "m/s"),
    (lambda: si.Relay(switch_on="1 m", switch_off="0 m", on_value="5 N"), ["m"], "N"),
    (lambda: si.Table1D(x=["0 m", "1 m"], values=["0 N", "2 N"]), ["m"], "N"),
    (lambda: si.TransferFunction(input="V", output="rpm"), ["V"], "rpm")])
def test_the_unit_of_an_output_follows_from_the_block(block, inputs, output):
    made = block()
    names = ["u"] if len(inputs) == 1 else [f"u{k + 1}" for k in range(len(inputs))]
    for name, text in zip(names, inputs, strict=True):
        assert getattr(made, name).port.unit.dimension == quantity(1, text).dimensionality
    assert made.y.port.unit.dimension == quantity(1, output).dimensionality


def test_lines_of_different_dimension_are_refused_naming_both_ends():
    model = wired("model", push=si.Constant(value="5 N"), rate=si.Gain(gain="2 N/m", input="m"))
    with pytest.raises(ConnectionRefused, match='push.y is in N.*rate.u in m.*"1 m/N"') as caught:
        model.connect(model.push.y, model.rate.u)
    model.sum = si.Sum()
    with pytest.raises(ConnectionRefused, match='Give sum unit="N"'):  # it has none of its own
        model.connect(model.push.y, model.sum.u1)
    advised = si.Gain(gain="1 m/N", input="N")
    assert model.connect(model.push.y, model.add("turned", advised).u) is None
    assert model.connect(advised.y, model.rate.u) is None
    assert caught.value.code == "connection.unit"


def test_a_value_may_change_within_its_dimension_and_keeps_the_compiled_model():
    model = blocks.Model()
    wire(model, "push.y gain.u", push=si.Constant(value="5 N"), gain=si.Gain(gain="3", input="N"))
    assert_allclose(model.simulate("1 s")["gain.y"].final.to("N").magnitude, 15)
    compiled = model.compile()
    model.push.value = "7 N"
    assert_allclose(model.simulate("1 s")["gain.y"].final.to("N").magnitude, 21)
    assert model.compile() is compiled
    model.push.value = "2 kN"
    assert_allclose(model.simulate("1 s")["gain.y"].final.to("N").magnitude, 6000)


def test_signs_of_a_sum_may_change_but_not_its_number_of_ports():
    model = wired("model", "a.y sum.u1", "b.y sum.u2", a=si.Constant(value="5 N"),
                  b=si.Constant(value="3 N"), sum=si.Sum(unit="N", signs="++"))
    assert_allclose(model.simulate("1 s")["sum.y"].final.magnitude, 8)
    model.sum.signs = "+-"
    assert_allclose(model.simulate("1 s")["sum.y"].final.magnitude, 2)
    with pytest.raises(ParameterError, match=r"sum\.signs: .*'u3'.* new Sum"):
        model.sum.signs = "+-+"
    assert model.sum.signs == "+-"
    assert_allclose(model.simulate("1 s")["sum.y"].final.magnitude, 2)


def test_arrays_of_blocks_take_one_value_each():
    result = wired("model", "source.y gains.u", source=si.Constant(value="2 m"), gains=si.Gain(
        gain=quantity([1.0, 2.0, 3.0], "N/m"), input="m", count=3)).simulate("1 s")
    assert_allclose([result[f"gains[{k}].y"].final.to("N").magnitude for k in range(3)], [2, 4, 6])


# -- mistakes --------------------------------------------------------------------------
@pytest.mark.parametrize(("mistake", "kind", "text"), [
    (lambda: si.Gain(gain="2 N/meter/foo"), UnknownUnit, "Gain.gain: "),
    (lambda: si.Gain(input="Nm"), UnknownUnit,
     "Gain.input: 'Nm' is not a unit. Did you mean 'N*m'?"),
    (lambda: si.Sum(signs="+x"), ParameterError,
     "Sum.signs: is '+x', but takes one '+' or '-' per input. Write for example signs='+-'."),
    (lambda: si.Sum(signs="++").u3, blocks.UnknownName, "Sum: there is no 'u3' among its names."),
    (lambda: si.Divide(units="N, m, s"), ParameterError,
     "Divide.units: names 3 units, but there are 2 inputs."),
    (lambda: si.MathFunction(function="exp", unit="N"), WrongDimension,
     "MathFunction.unit: is N, but exp() takes a plain number or an angle."),
    (lambda: si.MathFunction(function="exq"), blocks.UnknownName, "Did you mean 'exp'?"),
    (lambda: si.Saturation(upper="1 N", lower="-1 m"), WrongDimension,
     "Saturation.lower: takes N or any unit convertible to it, but was given -1 m. "
     "It has the unit of 'upper'."),
    (lambda: si.PID(proportional="2 N/m", integral="3 N/m"), WrongDimension,
     "It has the unit of 'proportional' per second."),
    (lambda: si.TransferFunction(numerator=[1, 2, 3], denominator=[1, 2]), ParameterError,
     "TransferFunction.numerator: is of order 2, but the denominator is of order 1: the output "
     "would contain derivatives of the input. Give a denominator of at least the same order, such "
     "as a filter; leave out zeros in front of the numerator."),
    (lambda: si.StateSpace(A=[[1, 2], [3, 4]], B=[[1], [2]], C=[[1, 2, 3]]), ParameterError,
     "StateSpace.C: is 1 by 3, but must be 1 by 2 for 2 states, 1 inputs and 1 outputs."),
    (lambda: si.StateSpace(A=[1, 2]), ParameterError, "StateSpace.A: takes a matrix"),
    (lambda: si.ZeroOrderHold(sample_time="0 s"), ParameterError,
     "ZeroOrderHold.sample_time: must be greater than 0 s, but is 0 s."),
    (lambda: si.RandomNumber(sample_time="-1 s"), ParameterError, "must be greater than 0 s"),
    (lambda: si.Derivative(filter_time="0 s"), ParameterError,
     "Derivative.filter_time: must be greater than 0 ms, but is 0 s."),
    (lambda: si.Table1D(x=["0 m", "1 m", "2 m"], values=["0 N", "1 N"]), ParameterError,
     "Table1D.values: has 2 values for 3 points of 'x'. Give one value per point."),
    (lambda: si.Table1D(x=["0 m", "1 s"]), WrongDimension, "Table1D.x[1]: takes m"),
    (lambda: si.Table1D(interpolation="smooth"), ParameterError,
     "Table1D.values: has 2 points, but at least 3 are needed."),
    (lambda: si.Table1D(interpolation="smoth"), blocks.UnknownName, "Did you mean 'smooth'?"),
    (lambda: si.Table2D(x1=[0, 1, 2]), ParameterError,
     "Table2D.values: has 2 rows and 2 columns, but " "there are 3 points of x1 and 2 of x2."),
    (lambda: si.Sine(frequency="3 rad/s"), AngleFrequencyError,
     "Write '0.477464829275686 Hz', which is 3/(2π) Hz"),
    (lambda: si.UniformRandomNumber(seed=0), ParameterError,
     "UniformRandomNumber.seed: must be at"),
    (lambda: setattr(si.Sum(unit="N"), "unit", "m"), ParameterError,
     "Sum.unit: would change the unit N"),
    (lambda: setattr(si.Constant(value="5 N"), "value", "2 m"), ParameterError,
     "Constant.value: would change the unit N of 'value'")])
def test_a_mistake_is_named_where_it_is_made(mistake, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        mistake()


@pytest.mark.parametrize(("block", "text"), [
    (lambda: si.TransferFunction(numerator=[1], denominator=[0, 2]),
     "the first coefficient of the denominator is 0."),
    (lambda: si.Table1D(x=["0 m", "2 m", "1 m"], values=["0 N", "1 N", "3 N"]),
     "the points 'x' must increase, but 2.0 m is followed by 1.0 m."),
    (lambda: si.Table1D(x=["0 m", "1 m", "1 m"], values=["0 N", "1 N", "3 N"]),
     "the points 'x' must increase, but 1.0 m is followed by 1.0 m."),
    (lambda: si.Table2D(x2=[1, 0]), "the points 'x2' must increase, but 1.0 is followed by 0.0."),
    (lambda: si.Saturation(upper="-1 N", lower="1 N"),
     "the lower limit 1.0 N is not below the upper limit -1.0 N."),
    (lambda: si.Relay(switch_on="0 m", switch_off="1 m"), "switch_off = 1.0 m is above switch_on"),
    (lambda: si.UniformRandomNumber(seed=1.5), "the seed 1.5 is not a whole number."),
    (lambda: si.UniformRandomNumber(minimum="2", maximum="1"), "the minimum 2.0 is not below"),
    (lambda: si.Integrator(limited=True, lower="1 s", upper="0 s"), "is not below the upper limit"),
    (lambda: si.PID(limited=True, lower="1", upper="0"), "is not below the upper limit")])
def test_values_that_contradict_each_other_are_found_by_the_check(block, text):
    model = wired("model", block=block())
    with pytest.raises(blocks.BlocksError, match=re.escape(text)):
        model.simulate("1 s")


def test_an_input_that_is_connected_to_nothing_is_found_by_the_check():
    model = wired("model", "one.y sum.u1", sum=si.Sum(unit="N"), one=si.Constant(value="1 N"))
    with pytest.raises((ConnectionRefused, CheckError), match="sum.u2"):
        model.simulate("1 s")


def test_a_function_of_time_of_another_dimension_is_refused():
    model = wired("model", source=si.TimeFunction(unit="N", value=lambda t: 2 * t))
    with pytest.raises(blocks.BlocksError, match="returns s, but N is needed"):
        model.simulate("1 s")


# -- the declarations themselves ---------------------------------------------------------
class Scale(Component):
    """Minimal block of a derived unit with numbered inputs, a matrix and a bounded parameter."""

    unit = blocks.Option("m")
    weights, limit = Parameter([[1.0, 2.0]]), Parameter(3, unit=lambda c: c.unit, above=0)
    u = Input(lambda c: [c.unit] * np.shape(c.weights)[1])
    y = Output(lambda c: c.unit)

    def equations(self):
        yield self.y == self.limit + sum(self.weights[0, k] * u for k, u in enumerate(self.u))


def test_defaults_and_bounds_of_a_derived_unit_are_numbers_in_that_unit():
    assert Scale(unit="kN").limit == quantity("3 kN")
    with pytest.raises(ParameterError, match="greater than 0 kN"):
        Scale(unit="kN", limit="-1 N")
    with pytest.raises(WrongDimension, match=re.escape("Scale.limit: takes kN")):
        Scale(unit="kN", limit="1 m")


def test_the_number_of_ports_may_follow_from_the_shape_of_a_matrix():
    model = wired("model", scale=Scale(unit="N", weights=[[2.0, 3.0, 4.0]]))
    for k in (1, 2, 3):
        wire(model, f"c{k}.y scale.u{k}", **{f"c{k}": si.Constant(value=f"{10**k} N")})
    result = model.simulate("1 s")
    assert_allclose(result["scale.y"].final.magnitude, 3 + 20 + 300 + 4000, rtol=1e-14)
    model.scale.weights = [[1.0, 0.0, 0.0]]
    assert_allclose(model.simulate("1 s")["scale.y"].final.magnitude, 13, rtol=1e-14)
    with pytest.raises(ParameterError, match="would remove 'u3'"):
        model.scale.weights = [[1.0, 0.0]]


def test_numbered_ports_are_listed_with_the_names_of_a_block():
    assert {"u1", "u2", "u3"} <= set(dir(si.Sum(signs="+-+")))
    assert "u4" not in dir(si.Sum(signs="+-+"))
