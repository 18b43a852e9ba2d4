"""Expressions and long tables: their values, dimensions and texts."""

import casadi as ca
import numpy as np
import pytest
from benches import wired
from benches.parts import alone, final
from numpy.testing import assert_allclose
from scipy.interpolate import (
    Akima1DInterpolator,
    CubicSpline,
    PchipInterpolator,
    RegularGridInterpolator,
)

import blocks
from blocks import Parameter, Variable, interpolate, interpolate_grid, quantity, sin, time
from blocks.exceptions import AngleFrequencyError, EquationError, SimulationError, WrongDimension
from blocks.language.expression import Expression
from blocks.language.readable import readable
from blocks.language.specialisation import LONG
from blocks.language.tracing import kernel_of
from blocks.units import unit
from library.signal import Ramp

METRE = quantity("1 m")


def value(law, x=0.7):
    """What a law gives for a length x."""
    class Law(blocks.Component):
        x, table = Parameter("1 m", varying=False), Parameter(["0 m", "1 m", "3 m"])
        y = Variable("")

        def equations(self):
            yield self.y == law(self, self.x / METRE)

    return final(alone(Law(x=quantity(x, "m"))).simulate("1 s", times=["1 s"]), "c.y")


@pytest.mark.parametrize("x", [0.7, -1.3, 2.0])
@pytest.mark.parametrize(("law", "exact"), [
    (lambda s, x: x**3 - 2 / (x + 4) + 5 % (x + 4), lambda x: x**3 - 2 / (x + 4) + 5 % (x + 4)),
    (lambda s, x: 2.0 ** x * blocks.exp(-x), lambda x: 2.0**x * np.exp(-x)),
    (lambda s, x: blocks.sqrt(x * x) - blocks.abs_(x) + abs(x), abs),
    (lambda s, x: blocks.minimum(x, 0.5) + blocks.maximum(0.5, x), lambda x: x + 0.5),
    (lambda s, x: blocks.floor(x) + blocks.mod(x, 0.3), lambda x: np.floor(x) + x % 0.3),
    (lambda s, x: np.ceil(x) + blocks.floor(-x), lambda x: np.ceil(x) + np.floor(-x)),
    (lambda s, x: blocks.sign(x) * blocks.tanh(x), lambda x: np.sign(x) * np.tanh(x)),
    (lambda s, x: blocks.arctan2(x, -1), lambda x: np.arctan2(x, -1)),
    (lambda s, x: blocks.log(x + 4) + np.log10(x + 4),
     lambda x: np.log(x + 4) + np.log10(x + 4)),
    (lambda s, x: np.hypot(x, 2.0), lambda x: np.hypot(x, 2)),
    (lambda s, x: blocks.where((x > 0) & ~(x > 1) | (x < -1), 1, 2),
     lambda x: 1 if 0 < x <= 1 or x < -1 else 2),
    (lambda s, x: blocks.where(np.float64(0.5) >= x, x, 0), lambda x: x if x <= 0.5 else 0),
    (lambda s, x: blocks.where(x > 0.5, x, 0) + blocks.where(x <= 0.5, 7, 0),
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
    class Fall(blocks.Component):
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
    class Turning(blocks.Component):
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
        yield blocks.der(c.phi) == c.w


@pytest.mark.parametrize(("law", "known"), [
    (lambda c: c.v == c.f, "v"),
    (lambda c: c.v - c.f == 0, "v"),
    (lambda c: c.v == blocks.where(time > quantity("1 s"), c.f, c.w), "v"),
    (lambda c: c.v == blocks.maximum(c.f, c.w), "v"),
    (lambda c: c.v == "5 Hz", "v"),
    (lambda c: blocks.der(c.phi) == -c.f, "phi"),
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
    lambda T: blocks.exp(-(T - quantity("20 degC")) / quantity("40 degC")),
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
    (lambda c: blocks.exp(-c.f * time), np.exp(-2 * 0.3)),
    (lambda c: c.f / c.w + (c.f - c.g) / c.g, 2 / 6 - 1 / 3)])  # fmt: skip
def test_frequencies_that_are_converted_or_no_angles_are_taken(law, exact):
    def laws(c):
        yield c.y == law(c)
        yield from others(c, "y")

    assert final(turning(laws).simulate("0.3 s", rtol=1e-9), "c.y") == pytest.approx(exact)


# -- long tables ------------------------------------------------------------------------------
RNG = np.random.default_rng(3)
X, Y = np.sort(RNG.uniform(0, 1, 60)), RNG.normal(size=60)
AXES = [np.sort(RNG.uniform(0, 1, n)) for n in (3, 5, 4)]
SPACE = RNG.normal(size=(3, 5, 4))
POINTS = RNG.uniform(-0.4, 1.4, size=(80, 3))
SYMBOLS = ca.SX.sym("u", 3)


def value_of(expression):
    """The value at points, and the derivatives there."""
    gradient = ca.gradient(expression, SYMBOLS)
    function = ca.Function("f", [SYMBOLS], [expression, gradient, ca.jacobian(gradient, SYMBOLS)])
    return [np.stack([np.array(function(point)[k]) for point in POINTS]) for k in range(3)]


def as_parameters(expression, symbols, numbers):
    """The value of an expression whose points are symbols, with numbers in their place."""
    return ca.substitute(expression, ca.vertcat(*symbols), ca.vertcat(*numbers))


def searched(hold, smooth):
    return interpolate(Expression(SYMBOLS[0]), X, Y, hold=hold, smooth=smooth).sx


def written_out(hold, smooth):
    xs, ys = ca.SX.sym("x", len(X)), ca.SX.sym("y", len(Y))
    made = interpolate(Expression(SYMBOLS[0]), Expression(xs), Expression(ys), hold=hold,
                       smooth=smooth)
    return as_parameters(made.sx, [xs, ys], [X, Y])


def of_grid(hold, smooth, numbers):
    at = [Expression(SYMBOLS[k]) for k in range(3)]
    if numbers:
        return interpolate_grid(at, AXES, SPACE.ravel(), hold=hold, smooth=smooth).sx
    axes, values = [ca.SX.sym("x", len(a)) for a in AXES], ca.SX.sym("y", SPACE.size)
    made = interpolate_grid(at, [Expression(a) for a in axes], Expression(values), hold=hold,
                            smooth=smooth)
    return as_parameters(made.sx, [*axes, values], [*AXES, SPACE.ravel()])


@pytest.mark.parametrize(("hold", "smooth", "grid"), [
    *((hold, smooth, False) for hold in (False, True) for smooth in (False, True, "cubic")),
    (False, False, True), (True, False, True), (True, True, True), (False, "cubic", True)])
def test_a_search_finds_what_a_table_written_out_says_and_its_derivatives(hold, smooth, grid):
    one, other = (searched(hold, smooth), written_out(hold, smooth)) if not grid else (
        of_grid(hold, smooth, numbers) for numbers in (True, False))
    for found, exact in zip(value_of(one), value_of(other), strict=True):
        assert_allclose(found, exact, rtol=1e-9, atol=1e-10 * np.abs(exact).max())


def test_long_tables_are_those_of_numpy_and_scipy():
    u = POINTS[:, 0]
    assert_allclose(value_of(searched(True, False))[0].ravel(), np.interp(u, X, Y), rtol=1e-13)
    akima = Akima1DInterpolator(X, Y, method="makima")
    assert_allclose(value_of(searched(True, True))[0].ravel(), akima(np.clip(u, X[0], X[-1])),
                    rtol=1e-12)
    grid = RegularGridInterpolator(AXES, SPACE, bounds_error=False, fill_value=None)
    assert_allclose(value_of(of_grid(False, False, True))[0].ravel(), grid(POINTS), rtol=1e-12)


@pytest.mark.parametrize(("shape", "curve"), [("cubic", CubicSpline),
                                              ("monotone", PchipInterpolator)])
@pytest.mark.parametrize("count", [3, 4, 7, 60])
def test_curves_are_those_of_scipy_written_out_and_searched(shape, curve, count):
    x, y = X[:count], np.round(Y[:count], 1)  # equal neighbours, too
    y[1] = y[0]
    at, symbol = np.linspace(x[0], x[-1], 200), SYMBOLS[0]
    xs, ys = ca.SX.sym("x", count), ca.SX.sym("y", count)
    written = as_parameters(interpolate(Expression(symbol), Expression(xs), Expression(ys),
                                        smooth=shape).sx, [xs, ys], [x, y])
    for made in (written, interpolate(Expression(symbol), x, y, smooth=shape).sx):
        function = ca.Function("f", [symbol], [made])
        found = np.array([float(function(u)) for u in at])
        assert_allclose(found, curve(x, y)(at), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("numbers", [True, False])
def test_a_cubic_grid_is_the_tensor_spline_of_scipy_and_twice_differentiable(numbers):
    made = of_grid(False, "cubic", numbers)
    slopes = ca.gradient(made, SYMBOLS)
    function = ca.Function("f", [SYMBOLS], [made, slopes[1], ca.gradient(slopes[2], SYMBOLS)[2]])
    for share in RNG.uniform(size=(9, 3)):
        point = [a[0] + u * (a[-1] - a[0]) for a, u in zip(AXES, share, strict=True)]
        for found, by in zip(function(point), ((0, 0, 0), (0, 1, 0), (0, 0, 2)), strict=True):
            exact = SPACE
            for a, u, order in zip(AXES, point, by, strict=True):
                exact = CubicSpline(a, exact)(u, order)
            assert_allclose(float(found), exact, rtol=1e-9, atol=1e-9)


def test_a_curve_of_another_name_is_refused():
    with pytest.raises(EquationError, match="knows no smooth='spline'. Take one of 'akima'"):
        interpolate(Expression(SYMBOLS[0]), X, Y, smooth="spline")
    with pytest.raises(EquationError, match="_grid.. knows no smooth='monotone'. Take one of 'aki"):
        interpolate_grid([Expression(SYMBOLS[k]) for k in range(3)], AXES, SPACE, smooth="monotone")


def test_the_integral_of_a_long_table_is_that_of_a_table_written_out():
    xs, ys = ca.SX.sym("x", len(X)), ca.SX.sym("y", len(Y))
    u = Expression(SYMBOLS[0])
    written = as_parameters(blocks.integral_of_table(u, Expression(xs), Expression(ys)).sx,
                            [xs, ys], [X, Y])
    for found, exact in zip(value_of(blocks.integral_of_table(u, X, Y).sx), value_of(written),
                            strict=True):
        assert_allclose(found, exact, rtol=1e-9, atol=1e-11 * np.abs(exact).max())


def test_points_may_be_a_list_of_expressions():
    x, a, b = (Expression(SYMBOLS[k]) for k in range(3))
    line = interpolate(x, [b, b + 1.0], (a, 3.0 * a))  # through two points
    for found, exact in zip(value_of(line.sx), value_of((a + 2.0 * a * (x - b)).sx), strict=True):
        assert_allclose(found, exact, atol=1e-12)


def test_points_that_do_not_increase_are_refused():
    with pytest.raises(EquationError, match="must increase, but 19 is followed by 1"):
        interpolate(Expression(SYMBOLS[0]), np.append(np.arange(LONG), 1.0), np.zeros(LONG + 1))
    with pytest.raises(EquationError, match="must increase, but 3 is followed by 2"):
        interpolate(Expression(SYMBOLS[0]), [3.0, 2.0, 1.0], [1.0, 2.0, 0.0])
    with pytest.raises(EquationError, match="must increase, but 3 is followed by 2"):
        interpolate_grid([Expression(SYMBOLS[k]) for k in range(2)], [[1.0, 2.0], [3.0, 2.0]],
                         np.zeros((2, 2)))
    with pytest.raises(EquationError, match=r"A list has one unit: quantity\(\[0, 1.5\], 'N'\)"):
        interpolate(Expression(SYMBOLS[0]), [0, 1],
                    [blocks.quantity("0 N"), blocks.quantity("3 N")])
    with pytest.raises(EquationError, match="at least three points and as many y as x, but was "
                       "given 2 x and 2 y"):
        interpolate(Expression(SYMBOLS[0]), np.arange(2.0), np.arange(2.0), smooth=True)
    with pytest.raises(EquationError, match="was given 2 x 3 points and 5 entries"):
        interpolate_grid([Expression(SYMBOLS[k]) for k in range(2)], [np.arange(2.0),
                         np.arange(3.0)], np.zeros(5))


class Surface(blocks.Component):
    u, v = blocks.Input("1"), blocks.Input("1")
    y = blocks.Output("1")

    def equations(self):
        yield self.y == interpolate_grid([self.u, self.v], [[0, 1], [0, 2]], [[0, 1], [2, 3]],
                                         stop="the map ends here.")


@pytest.mark.parametrize(("of_u", "of_v", "end"), [("1/s", "1/s", 1), ("0.1/s", "4/s", 0.5)])
def test_a_run_that_leaves_a_table_of_two_values_is_stopped(of_u, of_v, end):
    model = wired("surface", "u.y part.u", "v.y part.v",
                  part=Surface(), u=Ramp(slope=of_u), v=Ramp(slope=of_v))
    with pytest.raises(SimulationError, match="the map ends here") as caught:
        model.simulate("2 s")
    assert caught.value.time == pytest.approx(end, abs=1e-6)


class Curve(blocks.Component):
    x = Parameter([0.0, 1.0], doc="Points")
    values = Parameter([0.0, 1.0], doc="Values")
    gain = Parameter(1.0, doc="Gain")
    u, y = blocks.Input("1"), blocks.Output("1")

    def equations(self):
        yield self.y == self.gain * interpolate(self.u, self.x, self.values)


def test_other_numbers_in_a_long_table_make_other_equations():
    curve, same = (Curve(x=np.arange(30), values=np.arange(30)) for _ in range(2))
    before = kernel_of(curve)
    assert kernel_of(same) is before
    curve.gain = 2.0
    assert kernel_of(curve) is before
    curve.values = np.arange(30) ** 2
    assert kernel_of(curve) is not before
    curve.values = np.arange(30)
    assert kernel_of(curve) is before
