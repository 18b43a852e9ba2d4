"""Long tables are found by search, and say what short ones say that are written out."""

import casadi as ca
import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.interpolate import (
    Akima1DInterpolator,
    CubicSpline,
    PchipInterpolator,
    RegularGridInterpolator,
)

import blocks
from blocks import Component, Input, Output, Parameter, interpolate, interpolate_grid
from blocks.exceptions import EquationError, SimulationError
from blocks.language.expression import Expression
from blocks.language.specialisation import LONG
from blocks.language.tracing import kernel_of
from library.signal import Ramp

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


def test_an_expression_is_as_short_for_a_hundred_thousand_points_as_for_a_hundred():
    sizes = []
    for n in (100, 100_000):
        x = np.linspace(0, 1, n)
        made = interpolate(Expression(SYMBOLS[0]), x, np.sin(x), smooth=True).sx
        sizes.append(ca.Function("f", [SYMBOLS], [made]).n_instructions())
    assert sizes[0] == sizes[1] < 10


def test_the_integral_of_a_long_table_is_that_of_a_table_written_out():
    xs, ys = ca.SX.sym("x", len(X)), ca.SX.sym("y", len(Y))
    u = Expression(SYMBOLS[0])
    written = as_parameters(blocks.integral_of_table(u, Expression(xs), Expression(ys)).sx,
                            [xs, ys], [X, Y])
    for found, exact in zip(value_of(blocks.integral_of_table(u, X, Y).sx), value_of(written),
                            strict=True):
        assert_allclose(found, exact, rtol=1e-9, atol=1e-11 * np.abs(exact).max())


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


class Surface(Component):
    u, v = Input("1"), Input("1")
    y = Output("1")

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


class Curve(Component):
    x = Parameter([0.0, 1.0], doc="Points")
    values = Parameter([0.0, 1.0], doc="Values")
    gain = Parameter(1.0, doc="Gain")
    u, y = Input("1"), Output("1")

    def equations(self):
        yield self.y == self.gain * interpolate(self.u, self.x, self.values)


def test_arrays_of_a_long_table_are_no_parameters_of_the_equations():
    short, long = (Curve(x=np.arange(n), values=np.arange(n) ** 2) for n in (LONG, LONG + 1))
    assert [p.name for p in kernel_of(short).parameters] == ["x", "values", "gain"]
    assert [p.name for p in kernel_of(long).parameters] == ["gain"]
    (law,) = kernel_of(long).laws
    assert law.text == "y == gain*table(u)"
    assert dict(zip([a[0] for a in law.arguments], law.slopes, strict=True)) == {
        kernel_of(long).index["y"]: "constant", kernel_of(long).index["u"]: "nonlinear"}


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
