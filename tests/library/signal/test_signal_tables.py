"""Tables against numpy and scipy."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.interpolate import Akima1DInterpolator, RegularGridInterpolator
from signal_support import at, output_of, polyline, response

from blocks import Model, ParameterError, quantity
from library import signal, tables

X, Y = np.array([-2.0, -1.0, 0.5, 1.0, 2.5, 4.0]), np.array([1.0, 3.0, 3.0, -1.0, 0.5, 2.0])
T = np.linspace(0.013, 9.93, 67)
U = -3 + 0.8 * T  # from below the table to beyond its end


def table(**options):
    block = signal.Table1D(x=quantity(X, "mm"), values=quantity(Y, "N"), **options)
    return response(block, polyline([0, 10], [-3, 5], "mm"))


def test_a_linear_table_continues_with_its_last_slopes_or_holds_its_last_values():
    slopes = np.diff(Y) / np.diff(X)
    below, above = np.minimum(U - X[0], 0), np.maximum(U - X[-1], 0)
    exact = np.interp(U, X, Y) + slopes[0] * below + slopes[-1] * above
    result = table()
    assert str(result["block.y"].declared_unit) == "N"
    assert_allclose(at(result, T), exact, atol=1e-12)
    assert_allclose(at(table(extrapolation="nearest"), T), np.interp(U, X, Y), atol=1e-12)


def test_a_smooth_table_is_scipys_modified_akima():
    akima = Akima1DInterpolator(X, Y, method="makima")
    inside = np.clip(U, X[0], X[-1])
    assert_allclose(at(table(interpolation="smooth", extrapolation="nearest"), T), akima(inside),
                    atol=1e-12)
    slope = np.where(T > 5, akima(X[-1], 1), akima(X[0], 1))
    assert_allclose(at(table(interpolation="smooth"), T), akima(inside) + slope * (U - inside),
                    atol=1e-12)
    x, y, t = np.arange(6.0), np.array([0.0, 0, 0, 0, 1, 1]), np.linspace(0.1, 4.95, 31)
    flat = response(signal.Table1D(x=x, values=y, interpolation="smooth"),
                    polyline([0, 5], [0, 5]), duration="5 s")  # passes flat parts, no overshoot
    assert_allclose(at(flat, t), Akima1DInterpolator(x, y, method="makima")(t), atol=1e-12)


def test_a_held_table_jumps_at_its_points():
    result = table(interpolation="held")
    assert_allclose(at(result, T), Y[np.clip(np.searchsorted(X, U, side="right") - 1, 0, None)])
    moments = [e.time for e in result.events if e.component == "block"]
    assert_allclose(moments, (X[1:] + 3) / 0.8, atol=1e-9)


@pytest.mark.parametrize("extrapolation", ["linear", "nearest"])
def test_a_table_of_two_signals_is_bilinear(extrapolation):
    x1, x2 = np.array([-1.0, 0.0, 2.0, 3.0]), np.array([0.0, 1.0, 4.0])
    values = np.array([[1, 2, 0], [3, -1, 2], [0, 0, 5], [2, 2, -4.0]])
    block = signal.Table2D(x1=quantity(x1, "m"), x2=quantity(x2, "s"),
                           values=quantity(values, "kN"), extrapolation=extrapolation)
    result = response(block, signal.Sine(amplitude="3 m", bias="1 m", frequency="0.2 Hz"),
                      polyline([0, 10], [-1, 5], "s"), ports=("u1", "u2"))
    u1, u2 = 1 + 3 * np.sin(2 * np.pi * 0.2 * T), -1 + 0.6 * T
    if extrapolation == "nearest":
        u1, u2 = np.clip(u1, -1, 3), np.clip(u2, 0, 4)
    reference = RegularGridInterpolator((x1, x2), values, bounds_error=False, fill_value=None)
    assert_allclose(at(result, T), reference(np.stack([u1, u2], axis=1)), atol=1e-11)
    assert_allclose(result["block.y"].final.to("N").magnitude,
                    1e3 * result["block.y"].final.magnitude)


AXES = np.array([-1.0, 0.0, 2.0, 3.0]), np.array([0.0, 1.0, 4.0]), np.array([-2.0, 1, 1.5, 3, 4])
SPACE = np.random.default_rng(5).normal(size=(4, 3, 5))


def in_space(interpolation, extrapolation="linear"):
    """Signals that cross the whole table and its surroundings, and what it gives."""
    block = signal.Table3D(x1=quantity(AXES[0], "m"), x2=quantity(AXES[1], "s"), x3=AXES[2],
                    values=quantity(SPACE, "kN"), interpolation=interpolation,
                    extrapolation=extrapolation)  # fmt: skip
    result = response(block, signal.Sine(amplitude="3 m", bias="1 m", frequency="0.2 Hz"),
                      polyline([0, 10], [-1, 5], "s"), polyline([0, 10], [4.5, -2.5]),
                      ports=("u1", "u2", "u3"))  # fmt: skip
    inputs = 1 + 3 * np.sin(2 * np.pi * 0.2 * T), -1 + 0.6 * T, 4.5 - 0.7 * T
    clipped = [np.clip(u, x[0], x[-1]) for u, x in zip(inputs, AXES, strict=True)]
    return result, np.stack(inputs if extrapolation == "linear" else clipped, axis=1)


@pytest.mark.parametrize("extrapolation", ["linear", "nearest"])
def test_a_table_of_three_signals_is_trilinear(extrapolation):
    result, inputs = in_space("linear", extrapolation)
    reference = RegularGridInterpolator(AXES, SPACE, bounds_error=False, fill_value=None)
    assert str(result["block.y"].declared_unit) == "kN"
    assert_allclose(at(result, T), reference(inputs), atol=1e-11)


def test_a_smooth_table_of_three_signals_is_akima_along_one_after_the_other():
    result, inputs = in_space("smooth", "nearest")
    exact = []
    for point in inputs:
        values = SPACE
        for x, u in zip(AXES, point, strict=True):
            values = Akima1DInterpolator(x, values, axis=0, method="makima")(u)
        exact.append(values)
    assert_allclose(at(result, T), exact, atol=1e-10)


def test_a_held_table_of_three_signals_takes_the_point_below():
    result, inputs = in_space("held")
    at_or_below = [np.clip(np.searchsorted(x, u, side="right") - 1, 0, None)
                   for x, u in zip(AXES, inputs.T, strict=True)]
    assert_allclose(at(result, T), SPACE[tuple(at_or_below)], atol=1e-14)
    third = [e.time for e in result.events if "u3" in e.description]
    assert_allclose(third, (4.5 - AXES[2][:0:-1]) / 0.7, atol=1e-9)


def test_a_grid_of_another_shape_is_refused():
    with pytest.raises(ParameterError, match="has the shape 4 x 3 x 5, but there are 4 points of "
                       r"x1, 2 of x2 and 5 of x3\. Give values\[i\]\[j\]\[k\]"):  # fmt: skip
        signal.Table3D(x1=AXES[0], x2=[0, 1], x3=AXES[2], values=SPACE)
    with pytest.raises(ParameterError, match="takes an array of 3 dimensions"):
        signal.Table3D(values=[[1, 2], [3, 4]])


@pytest.mark.parametrize("given", [
    (["0 s", "1 s", "1 s", "4 s"], ["0 N", "2 N", "-1 N", "5 N"]),
    (["1 s", "1 s", "3 s", "3 s", "3 s", "8 s", "8 s"],
     ["7 N", "0 N", "4 N", "100 N", "1 N", "1 N", "2 N"])])
def test_a_time_table_jumps_where_points_share_a_time_as_the_function_of_time_does(given):
    """From there on the last of the values holds, before it the first."""
    times, values = given
    table_block = output_of(signal.TimeTable(times=times, values=values))
    function = output_of(signal.TimeFunction(value=tables.table(times, values), unit="N"))
    some = np.setdiff1d(T, [float(t.split()[0]) for t in times])
    assert_allclose(at(table_block, some), at(function, some), atol=1e-13)
    for instant in {float(t.split()[0]) for t in times}:
        heights = [float(v.split()[0]) for t, v in zip(times, values, strict=True)
                   if float(t.split()[0]) == instant]  # fmt: skip
        assert_allclose(at(table_block, [instant]), heights[-1], atol=1e-13)
        if instant > 0:
            assert_allclose(at(table_block, [instant], side="left"), heights[0], atol=1e-13)


def test_a_time_table_may_get_and_lose_a_jump_between_runs():
    model = Model("table")
    model.block = signal.TimeTable(times=["0 s", "1 s", "2 s"], values=["0 V", "1 V", "2 V"])
    ends = []
    for second in ("1 s", "2 s", "0.5 s"):
        model.block.times = ["0 s", second, "2 s"]
        ends.append(model.simulate("4 s")["block.y"].at("1.5 s").m)
    assert_allclose(ends, [1.5, 0.75, 1 + 1 / 1.5])


def test_a_smooth_or_falling_time_table_takes_no_jump():
    for options, said in (({"times": ["0 s", "1 s", "1 s"], "interpolation": "smooth"},
                           "must increase"),
                          ({"times": ["0 s", "2 s", "1 s"]}, "must not decrease")):  # fmt: skip
        model = wired("table", block=signal.TimeTable(values=[0, 1, 2], **options))
        with pytest.raises(ParameterError, match=said):
            model.simulate("1 s")


def test_a_held_time_table_jumps_at_its_instants():
    block = signal.TimeTable(times=["1 s", "2.5 s", "7 s"], values=["2 N", "-1 N", "4 N"],
                             interpolation="held")
    result = output_of(block)
    assert_allclose(at(result, [0.5, 1, 2.4999, 2.5, 6.9, 7, 9]), [2, 2, 2, -1, -1, 4, 4])
    assert_allclose(at(result, [2.5, 7], side="left"), [2, -1])


def test_a_repeating_sequence_starts_anew_after_its_last_point():
    block = signal.RepeatingSequence(times=["0.5 s", "1 s", "2 s"], values=["1 V", "3 V", "-1 V"],
                                     start="0.25 s")
    result = output_of(block)
    exact = np.where(T < 0.25, 1, np.interp(0.5 + (T - 0.25) % 1.5, [0.5, 1, 2], [1, 3, -1]))
    assert_allclose(at(result, T), exact, atol=1e-12)
    assert_allclose(at(result, [1.75], side="left"), -1.0, atol=1e-12)
    assert_allclose(at(result, [1.75]), 1.0, atol=1e-12)


@pytest.mark.parametrize(("unit", "si"), [("deg", np.pi / 180), ("%", 0.01), ("mrad", 1e-3)])
def test_values_without_dimension_may_have_a_unit(unit, si):
    values = [f"{v} {unit}" for v in (5, 35, 20)]
    for block in (signal.TimeTable(times=["0 s", "4 s", "10 s"], values=values),
                  signal.RepeatingSequence(times=["0 s", "4 s", "10 s"], values=values)):
        run = wired("table", block=block).simulate("10 s")
        expected = si * np.interp(T, [0, 4, 10], [5, 35, 20])
        assert_allclose(run["block.y"].at(quantity(T, "s")).to("").m, expected, rtol=1e-12)
    angle = signal.Table1D(x=[f"{v} {unit}" for v in (0, 90)], values=["0 rpm", "2 rpm"])
    assert_allclose(angle.x.to("").m, [0, 90 * si], rtol=1e-12)


def test_a_part_is_shown_without_rounding():
    assert repr(signal.Constant(value="30 deg")) == "Constant(value=30 deg)"
