"""Expressions in machine code have the values that CasADi gives: operations, tables, loops."""

import ctypes

import casadi as ca
import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from benchmarks.cases.models import blocks_on_belt
from blocks import interpolate, interpolate_grid, quantity
from blocks.language.expression import Expression
from blocks.machine.compiling import compiled
from blocks.machine.signatures import run_code
from blocks.native import is_large
from blocks.native.equations import equations_of, written
from blocks.native.expressions import Writer
from blocks.native.loop_text import LoopText
from blocks.native.repetitions import Repetitions
from blocks.native.text import Beginning, _own_function
from library.signal import Integrator, Table1D, TimeTable
from library.translational import ForceSource, Mass, MotionSensor, Reference, Spring
from tests.nonsmooth.modes.test_kept_factors import pairs_on_floors, shaken_masses

# -- operations -------------------------------------------------------------------------------
ONE = {
    "sqrt": lambda x: ca.sqrt(ca.fabs(x)), "exp": ca.exp, "log": lambda x: ca.log(x * x + 0.1),
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": lambda x: ca.asin(x / 10),
    "acos": lambda x: ca.acos(x / 10), "atan": ca.atan, "sinh": ca.sinh, "cosh": ca.cosh,
    "tanh": ca.tanh, "erf": ca.erf, "floor": ca.floor, "ceil": ca.ceil, "abs": ca.fabs,
    "sign": ca.sign, "square": lambda x: x * x, "inverse": lambda x: 1 / x, "minus": lambda x: -x,
    "expm1": ca.expm1, "log1p": lambda x: ca.log1p(x * x), "cube": lambda x: x**3}
TWO = {
    "sum": lambda x, y: x + y, "difference": lambda x, y: x - y, "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y, "power": lambda x, y: ca.fabs(x) ** y, "minimum": ca.fmin,
    "maximum": ca.fmax, "atan2": ca.atan2, "fmod": ca.fmod, "copysign": ca.copysign,
    "hypot": ca.hypot, "less": lambda x, y: x < y, "less or equal": lambda x, y: x <= y,
    "equal": lambda x, y: ca.eq(x, y), "not equal": lambda x, y: ca.ne(x, y),
    "and": lambda x, y: ca.logic_and(x > 0, y > 0), "or": lambda x, y: ca.logic_or(x > 0, y),
    "not": lambda x, y: ca.logic_not(x > y), "choice": lambda x, y: ca.if_else(x > y, x, y * y),
    "product with a condition": lambda x, y: (x > 0) * y}


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
    odd = [710, -750, np.inf, -np.inf, np.nan, 0, -0.0, 1000]
    points = np.concatenate([-size, size, np.linspace(-1, 1, 2000), odd]).reshape(-1, 1, 8)
    found = np.concatenate([evaluate(p) for p in points]).ravel()
    with np.errstate(over="ignore"):
        assert_allclose(found, getattr(np, name)(points.ravel()), rtol=1e-15, atol=0)


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


def test_a_sum_of_many_operations_agrees_with_the_expression_graph():
    x = ca.SX.sym("x", 6)
    value = ca.vertcat(*(ca.sin(x[i]) * ca.exp(-x[(i + 1) % 6]) + ca.if_else(x[i] > x[0], 2, x[i])
                         for i in range(6)))  # fmt: skip
    function = ca.Function("f", [x], [value])
    point = np.random.default_rng(1).normal(size=6)
    assert_allclose(machine(function, 1)(point), np.array(function(point)).ravel(), rtol=2e-15)
    assert_allclose(machine(function, 1, inline=True)(point), np.array(function(point)).ravel(),
                    rtol=4e-15)


# -- long tables ------------------------------------------------------------------------------
RNG = np.random.default_rng(8)
U = ca.SX.sym("u", 2)
AXES = np.sort(RNG.uniform(0, 1, 40)), np.sort(RNG.uniform(0, 1, 7))
VALUES = RNG.normal(size=(40, 7))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_compiled_tables_and_their_derivatives_are_the_reference(lanes, smooth, order):
    line = interpolate(Expression(U[0]), AXES[0], VALUES[:, 0], smooth=smooth).sx
    grid = interpolate_grid([Expression(U[k]) for k in range(2)], AXES, VALUES.ravel(),
                            smooth=smooth).sx
    what = ca.vertcat(line, grid)
    for _ in range(order):
        what = ca.vec(ca.densify(ca.jacobian(what, U)))
    function = ca.Function("f", [U], [what])
    evaluate = machine(function, lanes)
    for x in RNG.uniform(-0.3, 1.3, size=(50, 2, 8)):
        given = x if lanes == 8 else x[:, :1]
        exact = np.array(function.map(given.shape[1])(given))
        assert_allclose(evaluate(given if lanes == 8 else given[:, 0]).reshape(exact.shape), exact,
                        rtol=1e-9, atol=1e-11 * (1 + np.abs(exact).max()))


def test_at_a_point_both_take_the_piece_on_its_right():
    x, y = np.arange(30.0), np.arange(30.0) % 2
    function = ca.Function("f", [U], [ca.jacobian(interpolate(Expression(U[0]), x, y).sx, U)[0]])
    evaluate = machine(function, 1)
    for k in range(1, 29):
        point = np.array([float(k), 0.0])
        assert evaluate(point)[0] == float(function(point)) == (1 if k % 2 == 0 else -1)


def oscillator(points, interpolation="linear"):
    """1 kg held by a spring of 100 N/m, which a table of so many points says."""
    model = wired("oscillator", mass=Mass(mass="1 kg", v="1 m/s"), ground=Reference(),
                  sensor=MotionSensor(position_port=True), force=ForceSource())
    x = np.linspace(-0.3, 0.3, points)
    wire(model, "mass.M sensor.R force.R", "force.C ground.V sensor.C", "sensor.P table.u",
         "table.y force.S", table=Table1D(x=quantity(x, "m"), values=quantity(-100 * x, "N"),
                                          interpolation=interpolation))
    return model


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "ode45"])
@pytest.mark.parametrize("points, interpolation", [(30, "linear"), (1000, "smooth")])
def test_a_body_on_a_spring_from_a_long_table_swings_as_on_a_spring(method, points, interpolation):
    result = oscillator(points, interpolation).simulate("2 s", method=method, rtol=1e-8, atol=1e-10)
    t = np.linspace(0.1, 2, 20)
    assert result.statistics.method == method
    assert_allclose([result["mass.v"].at(f"{s} s").magnitude for s in t], np.cos(10 * t), atol=2e-5)
    assert_allclose([result["table.y"].at(f"{s} s").magnitude for s in t], -10 * np.sin(10 * t),
                    atol=2e-4)


def test_other_values_of_a_long_table_are_those_of_the_next_run():
    model = oscillator(50)
    model.simulate("1 s", method="dopri5", rtol=1e-8)
    model.table.values = quantity(-25 * np.linspace(-0.3, 0.3, 50), "N")
    result = model.simulate("1 s", method="dopri5", rtol=1e-9, atol=1e-11)
    assert_allclose(result["mass.v"].final.magnitude, np.cos(5.0), atol=1e-6)


def test_a_large_network_reads_long_tables_in_its_loops():
    """Bodies on stiffening springs of a table, alone and among so many that loops are written."""
    x = np.linspace(-1, 1, 400)
    finals = []
    for count in (1, 200):
        model = wired("field", "masses.M springs.R", "springs.C ground.V",
                      ground=Reference(), masses=Mass(count=count, mass="1 kg", v="1 m/s"),
                      springs=Spring(count=count, law="table", deformations=quantity(x, "m"),
                                     forces=quantity(50 * x + 30 * x**3, "N")))
        assert is_large(model.compile()) == (count > 1)
        result = model.simulate("1 s", method="dopri5", rtol=1e-11)
        finals.append(np.ravel(result["masses.v"].final.magnitude))
        kept = np.ravel(result["springs.energy_stored"].final.magnitude) + finals[-1] ** 2 / 2
        assert_allclose(kept, 0.5, rtol=1e-6)
    assert_allclose(finals[1], np.full(200, finals[0][0]), rtol=1e-7)


def test_a_long_table_of_time_is_stepped_onto_and_has_the_integral_of_numpy():
    t, y = np.linspace(0, 1, 2001), RNG.normal(size=2001)
    model = wired("ramp", "source.y sum.u",
                  source=TimeTable(times=quantity(t, "s"), values=y), sum=Integrator())
    assert model.simulate("1 s")["sum.y"].final.magnitude == pytest.approx(np.trapezoid(y, t),
                                                                           abs=1e-12)


# -- loops over equal patterns ----------------------------------------------------------------
PLACES = {0: ("%x", 0), 1: ("%p", 0)}


def in_loops(function, which, x, p):
    """A result of a function of x and p, by machine code in loops; and the number of its lines."""
    text, given = LoopText(), function.sx_in()
    one = ca.Function("one", given, [function.call(given)[which]])
    room = Repetitions(one).write(text, PLACES, 0)
    out = np.full(function.numel_out(which), np.nan)
    run_code(written(text, Beginning()), np.zeros(1), x, p, np.zeros(room + 1), out)
    return out, len(text.lines)


def springs_in_a_row(n):
    """Forces between neighbours, which two of them need; a sum of all, numbers and copies."""
    x, p = ca.SX.sym("x", n), ca.SX.sym("p", n)
    force = ca.tanh(p[1:] * ca.diff(x)) + ca.if_else(x[1:] > 0.3, ca.exp(-x[1:]), 2.0)
    pull = ca.vertcat(0, force) - ca.vertcat(force, 0)
    odd = ca.vertcat(*(ca.SX(k % 3) * x[k] - p[k] for k in range(n)))
    return ca.Function("row", [x, p], [
        pull, ca.vertcat(ca.sum1(force), force, x, 3.0, ca.SX(2, 1), pull[0], -0.0), odd])


@pytest.mark.parametrize("n", [2, 3, 40, 400])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_loops_over_equal_patterns_give_what_casadi_gives(n, which):
    function, random = springs_in_a_row(n), np.random.default_rng(n)
    x, p = random.normal(size=n), random.uniform(1, 2, n)
    out, _ = in_loops(function, which, x, p)
    assert_allclose(out, function(x, p)[which].full().ravel(), rtol=1e-13, atol=1e-13)


def arm(n):
    """Directions and places of links, each from the one before; and all in another order."""
    x, p = ca.SX.sym("x", n), ca.SX.sym("p", n)
    angle, place, found = ca.SX(0), ca.SX(0), []
    for k in range(n):
        angle = angle + x[k]
        place = place + p[k] * ca.cos(angle) + (0.5 if k % 7 == 3 else 0.0)
        found += [place, ca.if_else(angle > 1, place * p[k], -angle)]
    return ca.Function("arm", [x, p], [ca.vertcat(*found)])


@pytest.mark.parametrize("n", [3, 40, 200])
def test_patterns_that_follow_from_each_other_are_taken_in_turn(n):
    function, random = arm(n), np.random.default_rng(n)
    x, p = random.normal(size=n), random.uniform(1, 2, n)
    out, lines = in_loops(function, 0, x, p)
    assert_allclose(out, function(x, p).full().ravel(), rtol=1e-13, atol=1e-13)
    assert lines < 400  # however long the arm is


def test_results_of_a_function_of_its_own_go_where_they_are_wanted(monkeypatch):
    monkeypatch.setattr("blocks.native.text.REPEATS", 0)
    function, random = arm(40), np.random.default_rng(7)
    x, p, places = random.normal(size=40), random.uniform(1, 2, 40), random.permutation(100)[:80]
    code = _own_function(function, places.tolist(), PLACES)
    out = np.full(100, np.nan)
    run_code(code, np.zeros(1), x, p, np.zeros(1), out)
    assert_allclose(out[places], function(x, p).full().ravel(), rtol=1e-13, atol=1e-13)
    assert np.isnan(np.delete(out, places)).all()


@pytest.mark.parametrize("build", [lambda: blocks_on_belt(100), lambda: pairs_on_floors(60),
                                   shaken_masses])
def test_slopes_margins_and_values_of_held_modes_are_those_of_the_expressions(build, monkeypatch):
    """At random points and modes, with K as it follows from these."""
    monkeypatch.setattr("blocks.native.equations.REPEATS", 0)
    problem = build().simulate("1 ms", method="dopri5").recording.problem
    problem.system.cache.pop("native", None)
    laws, random = problem.laws, np.random.default_rng(3)
    equations = equations_of(problem.system, laws)
    held, n, nx = laws.held_modes, laws.size, problem.system.nx
    d = laws.delassus.matrix(problem, 0.0)
    wanted = [held.expressions["slope"],
              ca.vertcat(held.expressions["crossings"], laws.margin_expressions()), held.present]
    function = ca.Function("held", held.symbols, [ca.densify(sx) for sx in wanted])
    codes = [equations.slope, equations.crossings, equations.present]
    p = np.array(problem.p, dtype=float)
    for _ in range(5):
        modes, x = random.integers(-1, 2, n), random.normal(size=nx)
        numbers = held.kept.numbers(problem, modes, d)
        q = equations.with_room(np.concatenate([problem.z, problem.m, problem.d, modes, numbers,
                                                np.ones(nx), np.zeros(n)]))
        k = ca.DM(held.symbols[-1].sparsity(), numbers)
        exact = function(0.3, x, problem.z, p, problem.m, problem.d, modes, k)
        for code, values in zip(codes, exact, strict=True):
            out = np.full(values.numel(), np.nan)
            run_code(code, np.array([0.3]), x, p, q, out)
            assert_allclose(out, values.full().ravel(), rtol=1e-12, atol=1e-12)
