"""Arithmetic of signals: values and the units that follow."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from signal_support import at, response

from library.signal import (
    Abs,
    Constant,
    Divide,
    Gain,
    MathFunction,
    Maximum,
    Minimum,
    Product,
    Saturation,
    Sign,
    Sine,
    Subtract,
    Sum,
)

T = np.linspace(0.03, 9.9, 40)
WAVE = 3 * np.sin(2 * np.pi * 0.31 * T + 0.2)


def wave(unit=""):
    return Sine(amplitude=f"3 {unit}", frequency="0.31 Hz", phase="0.2 rad")


def test_a_gain_multiplies_values_and_units():
    result = response(Gain(gain="2 kN/m", input="mm"), Constant(value="5 mm"))
    assert result["block.y"].declared_unit.dimension == {"[mass]": 1, "[length]": 1, "[time]": -2}
    assert_allclose(result["block.y"].final.to("N").magnitude, 10.0, rtol=1e-14)


def test_a_sum_takes_every_input_with_its_sign():
    result = response(Sum(unit="N", signs="+-+"), Constant(value="7 N"), Constant(value="2 kN"),
                      Constant(value="500 mN"), ports=("u1", "u2", "u3"))
    assert_allclose(result["block.y"].final.to("N").magnitude, 7 - 2000 + 0.5, rtol=1e-14)


def test_a_subtraction_is_first_minus_second():
    result = response(Subtract(unit="m"), Constant(value="3 m"), Constant(value="5 m"),
                      ports=("u1", "u2"))
    assert_allclose(result["block.y"].final.magnitude, -2.0)


def test_a_product_multiplies_all_inputs_and_units():
    result = response(Product(units="N, m/s, 1"), Constant(value="2 kN"), Constant(value="3 m/s"),
                      Constant(value="0.5"), ports=("u1", "u2", "u3"))
    assert_allclose(result["block.y"].final.to("W").magnitude, 3000.0, rtol=1e-14)


def test_a_quotient_divides_first_by_second():
    result = response(Divide(units="N, mm"), Constant(value="8 N"), Constant(value="2 mm"),
                      ports=("u1", "u2"))
    assert_allclose(result["block.y"].final.to("N/m").magnitude, 4000.0, rtol=1e-14)


@pytest.mark.parametrize(("name", "function"), [
    ("exp", np.exp), ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("arctan", np.arctan),
    ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh), ("square", np.square),
    ("cube", lambda u: u**3),
])  # fmt: skip
def test_a_function_of_a_number_is_that_of_numpy(name, function):
    result = response(MathFunction(function=name), wave())
    assert_allclose(at(result, T), function(WAVE), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("name", "function"), [
    ("log", np.log), ("log10", np.log10), ("sqrt", np.sqrt), ("reciprocal", np.reciprocal),
])  # fmt: skip
def test_a_function_of_a_positive_number_is_that_of_numpy(name, function):
    source = Sine(amplitude="1", bias="2", frequency="0.3 Hz")
    result = response(MathFunction(function=name), source)
    u = 2 + np.sin(2 * np.pi * 0.3 * T)
    assert_allclose(at(result, T), function(u), rtol=1e-12, atol=1e-14)


def test_roots_and_powers_change_the_unit():
    root = response(MathFunction(function="sqrt", unit="m^2"), Constant(value="9 m^2"))
    assert_allclose(root["block.y"].final.to("m").magnitude, 3.0)
    inverse = response(MathFunction(function="reciprocal", unit="ms"), Constant(value="4 ms"))
    assert_allclose(inverse["block.y"].final.to("Hz").magnitude, 250.0)


def test_absolute_value_and_sign_of_a_wave():
    assert_allclose(at(response(Abs(unit="N"), wave("N")), T), np.abs(WAVE), atol=1e-13)
    assert_allclose(at(response(Sign(unit="N"), wave("N")), T), np.sign(WAVE))


def test_the_sign_of_zero_is_zero():
    assert response(Sign(), Constant(value="0"))["block.y"].final.magnitude == 0.0


def test_extremes_of_several_signals():
    frequencies = (0.3, 0.5, 0.8)
    values = [np.sin(2 * np.pi * f * T + f) for f in frequencies]
    for block, extreme in ((Minimum, np.min), (Maximum, np.max)):
        parts = [Sine(amplitude="1 N", frequency=f"{f} Hz", phase=f"{f} rad") for f in frequencies]
        result = response(block(unit="N", inputs=3), *parts, ports=("u1", "u2", "u3"))
        assert_allclose(at(result, T), extreme(values, axis=0), atol=1e-13)


def test_saturation_keeps_a_wave_between_its_limits():
    result = response(Saturation(lower="-1 N", upper="2 N"), wave("N"))
    assert_allclose(at(result, T), np.clip(WAVE, -1, 2), atol=1e-13)
