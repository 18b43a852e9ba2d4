"""Expressions: their values, their dimensions, and how they are written for people."""

import casadi as ca
import numpy as np
import pytest
from benches.parts import alone, final

import blocks
from blocks import Component, Parameter, Variable, der, exp, floor, quantity, sin, time, where
from blocks.exceptions import AngleFrequencyError, WrongDimension
from blocks.language.expression import Expression
from blocks.language.readable import readable
from blocks.units import unit

METRE = quantity("1 m")


def value(law, x=0.7):
    """What a law gives for a length x."""
    class Law(Component):
        x, table = Parameter("1 m", varying=False), Parameter(["0 m", "1 m", "3 m"])
        y = Variable("")

        def equations(self):
            yield self.y == law(self, self.x / METRE)

    return final(alone(Law(x=quantity(x, "m"))).simulate("1 s", times=["1 s"]), "c.y")


@pytest.mark.parametrize("x", [0.7, -1.3, 2.0])
@pytest.mark.parametrize(("law", "exact"), [
    (lambda s, x: x**3 - 2 / (x + 4) + 5 % (x + 4), lambda x: x**3 - 2 / (x + 4) + 5 % (x + 4)),
    (lambda s, x: 2.0 ** x * exp(-x), lambda x: 2.0**x * np.exp(-x)),
    (lambda s, x: blocks.sqrt(x * x) - blocks.abs_(x) + abs(x), abs),
    (lambda s, x: blocks.minimum(x, 0.5) + blocks.maximum(0.5, x), lambda x: x + 0.5),
    (lambda s, x: floor(x) + blocks.mod(x, 0.3), lambda x: np.floor(x) + x % 0.3),
    (lambda s, x: np.ceil(x) + floor(-x), lambda x: np.ceil(x) + np.floor(-x)),
    (lambda s, x: blocks.sign(x) * blocks.tanh(x), lambda x: np.sign(x) * np.tanh(x)),
    (lambda s, x: blocks.arctan2(x, -1), lambda x: np.arctan2(x, -1)),
    (lambda s, x: blocks.log(x + 4) + np.log10(x + 4),
     lambda x: np.log(x + 4) + np.log10(x + 4)),
    (lambda s, x: np.hypot(x, 2.0), lambda x: np.hypot(x, 2)),
    (lambda s, x: where((x > 0) & ~(x > 1) | (x < -1), 1, 2),
     lambda x: 1 if 0 < x <= 1 or x < -1 else 2),
    (lambda s, x: where(np.float64(0.5) >= x, x, 0), lambda x: x if x <= 0.5 else 0),
    (lambda s, x: where(x > 0.5, x, 0) + where(x <= 0.5, 7, 0),
     lambda x: x if x > 0.5 else 7),
    (lambda s, x: blocks.interpolate(s.x, s.table, [0, 2, 3]),
     lambda x: np.interp(x, [0, 1, 3], [0, 2, 3]) if x > 0 else 2 * x),
    (lambda s, x: blocks.interpolate(s.x, s.table, [0, 2, 3], hold=True),
     lambda x: np.interp(x, [0, 1, 3], [0, 2, 3])),
    (lambda s, x: sum(s.table[i] * i for i in range(3)) / METRE + len(s.table), lambda x: 10),
    (lambda s, x: (quantity("3 m") - s.x) / (2 * METRE) + (s.x + "30 cm") / METRE,
     lambda x: (3 - x) / 2 + x + 0.3),
    (lambda s, x: np.sin(quantity("30 deg") * x), lambda x: np.sin(np.pi / 6 * x))])
def test_a_law_has_the_value_that_numpy_gives_it(law, exact, x):
    assert value(law, x) == pytest.approx(exact(x), rel=1e-12, abs=1e-14)


def test_roots_and_powers_carry_their_dimensions():
    class Fall(Component):
        h, g = Parameter("20 m"), Parameter("10 m/s^2")
        t, v = Variable("s"), Variable("m/s")

        def equations(self):
            yield self.t == blocks.sqrt(2 * self.h / self.g)
            yield self.v**2 / 2 == self.g * self.h

    class Down(Fall):
        v = Variable("m/s", "1 m/s", priority="none")

    run = alone(Down()).simulate("1 s")
    assert final(run, "c.t") == pytest.approx(2.0)
    assert final(run, "c.v") == pytest.approx(20.0)


x, y, z = (ca.SX.sym(n) for n in "xyz")


@pytest.mark.parametrize(("expression", "text"), [
    (x - (y - z), "x - (y - z)"),
    (x - (y + z), "x - (y + z)"),
    (x / (y / z), "x/(y/z)"),
    (x * y / z, "x*y/z"),
    (-(x + y), "-(x + y)"),
    (-x * y, "-x*y"),
    (x + -(y * z), "x - y*z"),
    ((x + y) ** 2, "(x + y)^2"),
    (x**2.5, "x^2.5"),
    (1 / (x * y), "1/(x*y)"),
    (ca.if_else(x > y, 2 * x, -y), "where(y < x, 2*x, -y)"),
    (ca.if_else(x > 0, y, 0), "where(0 < x, y, 0)"),
    (ca.logic_and(x > 0, y < 1), "(0 < x) & (y < 1)"),
    (ca.fmin(x, y) / ca.sqrt(z), "minimum(x, y)/sqrt(z)"),
    (ca.exp(-x / y), "exp(-x/y)"),
    (ca.SX(2.5), "2.5")])
def test_an_expression_is_written_as_a_person_would(expression, text):
    assert readable(expression) == text


def test_a_long_expression_is_cut_instead_of_growing_without_bound():
    grown = x
    for _ in range(200):
        grown = grown * grown + y
    assert len(readable(grown)) < 2000


def test_functions_of_other_tools_are_answered_with_their_names_here():
    with pytest.raises(ImportError, match="It is called arctan here: from blocks import arctan"):
        from blocks import atan  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute 'atn'"):
        blocks.atn  # noqa: B018


# -- turns and radians -----------------------------------------------------------------------


def turning(law, **rates):
    """A component that may mix what turns in Hz and in rad/s."""
    class Turning(Component):
        f, g, w = Parameter("2 Hz"), Parameter("3 1/s"), Parameter("6 rad/s", varying=True)
        phase = Parameter("30 deg")
        y, v, phi = Variable(""), Variable("rad/s"), Variable("rad", "0 rad", priority="high")

        def equations(self):
            yield from law(self)

    return alone(Turning(**rates))


def others(c, *known):
    """Equations for what a law leaves open."""
    for name, value in (("y", 0), ("v", c.w)):
        if name not in known:
            yield getattr(c, name) == value
    if "phi" not in known:
        yield der(c.phi) == c.w


@pytest.mark.parametrize(("law", "known"), [
    (lambda c: c.v == c.f, "v"),
    (lambda c: c.v - c.f == 0, "v"),
    (lambda c: c.v == where(time > quantity("1 s"), c.f, c.w), "v"),
    (lambda c: c.v == blocks.maximum(c.f, c.w), "v"),
    (lambda c: c.v == "5 Hz", "v"),
    (lambda c: der(c.phi) == -c.f, "phi"),
    (lambda c: c.phi == c.f * time, "phi"),
    (lambda c: c.y == sin(c.f * time), "y"),
    (lambda c: c.y == np.cos(time * c.f + 0), "y"),
    (lambda c: c.y == sin(c.f * time + c.phase), "y")])  # fmt: skip
def test_hertz_where_radians_are_meant_is_refused(law, known):
    def laws(c):
        yield law(c)
        yield from others(c, known)

    with pytest.raises(AngleFrequencyError, match=r"Turning.*counts turns.*2 \* pi"):
        turning(laws).simulate("1 s")


@pytest.mark.parametrize("law", [
    lambda T: exp(-(T - quantity("20 degC")) / quantity("40 degC")),
    lambda T: T / "20 degC",
    lambda T: quantity("68 degF") / T,
    lambda T: quantity("1 degC") * T])  # fmt: skip
def test_a_temperature_with_a_zero_of_its_own_is_no_factor(law):
    """40 degC would be 313.15 K below the line; pint refuses such products, too."""
    with pytest.raises(WrongDimension, match="a temperature that does not count from absolute"):
        law(Expression.in_unit(ca.SX.sym("T"), unit("K")))


def test_differences_of_temperatures_are_factors():
    law = (Expression.in_unit(ca.SX(333.15), unit("K")) - "20 degC") / quantity("40 delta_degC")
    assert float(law.sx) == pytest.approx(1.0)


def test_a_function_of_time_in_hertz_is_no_angular_velocity():
    with pytest.raises(AngleFrequencyError, match="counts turns"):
        turning(others, w=lambda t: "50 Hz" + 0 * t).simulate("1 s")


@pytest.mark.parametrize(("law", "exact"), [
    (lambda c: sin(2 * np.pi * c.f * time), np.sin(2 * np.pi * 2 * 0.3)),
    (lambda c: sin(2 * np.pi * quantity("2 Hz") * time), np.sin(2 * np.pi * 2 * 0.3)),
    (lambda c: (c.w - 2 * np.pi * quantity("1 Hz")) / c.g, (6 - 2 * np.pi) / 3),
    (lambda c: sin(c.w * time + c.phase), np.sin(6 * 0.3 + np.pi / 6)),
    (lambda c: sin(c.g * time), np.sin(3 * 0.3)),
    (lambda c: sin(c.f * quantity("1 turn") * time), np.sin(2 * 2 * np.pi * 0.3)),
    (lambda c: exp(-c.f * time), np.exp(-2 * 0.3)),
    (lambda c: c.f / c.w + (c.f - c.g) / c.g, 2 / 6 - 1 / 3)])  # fmt: skip
def test_frequencies_that_are_converted_or_no_angles_are_taken(law, exact):
    def laws(c):
        yield c.y == law(c)
        yield from others(c, "y")

    assert final(turning(laws).simulate("0.3 s", rtol=1e-9), "c.y") == pytest.approx(exact)
