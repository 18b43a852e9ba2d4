"""Machine code gives what the expression says, for one point and for several at once."""

import ctypes

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.machine.compiling import compiled
from blocks.native.expressions import Writer

ONE = {
    "sqrt": lambda x: ca.sqrt(ca.fabs(x)), "exp": ca.exp, "log": lambda x: ca.log(x * x + 0.1),
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": lambda x: ca.asin(x / 10),
    "acos": lambda x: ca.acos(x / 10), "atan": ca.atan, "sinh": ca.sinh, "cosh": ca.cosh,
    "tanh": ca.tanh, "erf": ca.erf, "floor": ca.floor, "ceil": ca.ceil, "abs": ca.fabs,
    "sign": ca.sign, "square": lambda x: x * x, "inverse": lambda x: 1 / x, "minus": lambda x: -x,
    "expm1": ca.expm1, "log1p": lambda x: ca.log1p(x * x), "cube": lambda x: x**3,
}  # fmt: skip
TWO = {
    "sum": lambda x, y: x + y, "difference": lambda x, y: x - y, "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y, "power": lambda x, y: ca.fabs(x) ** y, "minimum": ca.fmin,
    "maximum": ca.fmax, "atan2": ca.atan2, "fmod": ca.fmod, "copysign": ca.copysign,
    "hypot": ca.hypot, "less": lambda x, y: x < y, "less or equal": lambda x, y: x <= y,
    "equal": lambda x, y: ca.eq(x, y), "not equal": lambda x, y: ca.ne(x, y),
    "and": lambda x, y: ca.logic_and(x > 0, y > 0), "or": lambda x, y: ca.logic_or(x > 0, y),
    "not": lambda x, y: ca.logic_not(x > y), "choice": lambda x, y: ca.if_else(x > y, x, y * y),
    "product with a condition": lambda x, y: (x > 0) * y,
}  # fmt: skip


def machine(function: ca.Function, lanes: int, inline: bool = False):
    """A function of one vector argument, evaluated by machine code."""
    writer = Writer(lanes, inline=inline)
    kept = {}
    writer.write(function, lambda _, i: writer.load("%x", i),
                 lambda _, i, value: kept.__setitem__(i, value))
    for i, value in kept.items():
        writer.store(value, "%out", i)
    address = compiled("\n".join([
        *sorted(writer.declared), "define void @main(ptr noalias %x, ptr noalias %out) {",
        *writer.lines, "  ret void", "}", ""]))  # fmt: skip
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)

    def evaluate(x: np.ndarray) -> np.ndarray:
        x = np.ascontiguousarray(x, dtype=float)
        out = np.zeros((function.size1_out(0), *x.shape[1:]))
        call(x.ctypes.data, out.ctypes.data)
        return out

    return evaluate


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_an_operation_has_the_value_that_casadi_gives(name, lanes):
    x = ca.SX.sym("x", 2)
    value = ONE[name](x[0]) if name in ONE else TWO[name](x[0], x[1])
    function = ca.Function("f", [x], [ca.densify(value)])
    evaluate = machine(function, lanes)
    rng = np.random.default_rng(0)
    for points in (rng.uniform(-9, 9, (2, 8)), np.array([[0.5, -2, 0, 0, 3, -3, 1, 1e-9],
                                                         [0.5, 3, 0, 1, -3, -3, 1, 1e-9]])):
        expected = np.array(function(points)).reshape(1, 8)
        found = (evaluate(points) if lanes == 8 else np.array([evaluate(p) for p in points.T]).T)
        assert_allclose(found, expected, rtol=1e-15 if lanes == 1 else 4e-15, atol=1e-300)


@pytest.mark.parametrize("name", ["exp", "tanh"])
def test_exponentials_of_lanes_are_right_to_the_last_digits_everywhere(name):
    x = ca.SX.sym("x", 1)
    evaluate = machine(ca.Function("f", [x], [ONE[name](x)]), 8)
    size = np.logspace(-300, np.log10(700), 4000)
    points = np.concatenate([-size, size, np.linspace(-1, 1, 2000)]).reshape(-1, 1, 8)
    found = np.concatenate([evaluate(p) for p in points]).ravel()
    expected = getattr(np, name)(points.ravel())
    assert_allclose(found, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("exponent", [0.25, -0.25, 0.5, 0.75, -1.5, 3.0, 3.25, 4.0, -4.0, 0.3, 5.0])
def test_powers_are_right_to_the_last_digits_whether_by_roots_or_not(exponent, lanes):
    x = ca.SX.sym("x")
    evaluate = machine(ca.Function("power", [x], [x**exponent]), lanes)
    points = np.geomspace(1e-60, 1e60, 64).reshape(1, -1, lanes)
    found = np.array([evaluate(points[:, k]) for k in range(points.shape[1])])
    assert_allclose(found.ravel(), points.ravel() ** exponent, rtol=2e-15)
    edges = np.array([0.0, np.inf, -2.0]).repeat(lanes).reshape(3, 1, lanes)
    with np.errstate(all="ignore"):
        assert_allclose([evaluate(e).ravel()[0] for e in edges], edges[:, 0, 0] ** exponent,
                        rtol=1e-15)


def test_exponentials_of_lanes_overflow_underflow_and_keep_nan():
    x = ca.SX.sym("x", 1)
    points = np.array([[710, -750, np.inf, -np.inf, np.nan, 0, -0.0, 1000]])
    with np.errstate(over="ignore"):
        for name in ("exp", "tanh"):
            found = machine(ca.Function("f", [x], [ONE[name](x)]), 8)(points)
            assert_allclose(found[0], getattr(np, name)(points[0]), rtol=1e-15)


def test_a_sum_of_many_operations_agrees_with_the_expression_graph():
    x = ca.SX.sym("x", 6)
    value = ca.vertcat(*(ca.sin(x[i]) * ca.exp(-x[(i + 1) % 6]) + ca.if_else(x[i] > x[0], 2, x[i])
                         for i in range(6)))  # fmt: skip
    function = ca.Function("f", [x], [value])
    point = np.random.default_rng(1).normal(size=6)
    assert_allclose(machine(function, 1)(point), np.array(function(point)).ravel(), rtol=2e-15)
    assert_allclose(machine(function, 1, inline=True)(point), np.array(function(point)).ravel(),
                    rtol=4e-15)
