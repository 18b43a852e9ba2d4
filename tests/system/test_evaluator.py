"""Functions that a system is evaluated by, values that may be lost, and which states are taken."""

import casadi as ca
import numpy as np
import pytest
from benches import few, wired
from benches.parts import Pendulum, alone, final
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import blocks
import library.electrical as el
from blocks import Component, Input, Output, Parameter, Variable, cos, der, quantity, sin, sqrt
from blocks.language.lookup import Choice, lookup
from blocks.native.sparse_factors import is_mostly_zeros
from blocks.system import Problem
from blocks.system.block_factors import BlockFactors, plan_of
from blocks.system.columnwise import EXACT, Columnwise
from blocks.system.evaluator import MANY, Evaluator
from blocks.system.failure import AlgebraicFailure
from blocks.system.state_selection import exchange
from library.planar import Body, Gravity, Ground, Prismatic, Revolute, RigidOffset
from library.signal import Constant

x, nothing, p = ca.SX.sym("x", 2), ca.SX.sym("nothing", 0), ca.SX.sym("p")
product = Evaluator(ca.Function("product", [x, nothing, p], [p * x]))


def test_arguments_without_numbers_are_passed_over():
    assert product([2.0, 3.0], np.zeros(0), 4.0).tolist() == [8.0, 12.0]
    assert product([5.0, -1.0], [], 2.0).tolist() == [10.0, -2.0]


@pytest.mark.parametrize("given", [([1.0, 2.0], []), ([1.0, 2.0], [], 1.0, 1.0)])
def test_an_argument_too_few_or_too_many_is_told(given):
    with pytest.raises(TypeError, match=f"product takes 3 arguments, but was given {len(given)}"):
        product(*given)


# -- many points at once ----------------------------------------------------------------------
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-310, 1e308, np.inf, -np.inf, np.nan]


#: Operations that libraries round in their own ways; then those of two operands.
ROUNDED = {
    ca.OP_EXP, ca.OP_LOG, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_SIN, ca.OP_COS, ca.OP_TAN, ca.OP_ASIN,
    ca.OP_ACOS, ca.OP_ATAN, ca.OP_ATAN2, ca.OP_SINH, ca.OP_COSH, ca.OP_TANH, ca.OP_ASINH,
    ca.OP_ACOSH, ca.OP_ATANH, ca.OP_ERF, ca.OP_FMOD, ca.OP_COPYSIGN, ca.OP_LOG1P, ca.OP_EXPM1,
    ca.OP_HYPOT,
}
TWO = {ca.OP_POW, ca.OP_CONSTPOW, ca.OP_ATAN2, ca.OP_FMOD, ca.OP_COPYSIGN, ca.OP_HYPOT}


def _every_operation() -> ca.Function:
    """Of two columns that move and one that does not, all operations that arrays can carry out."""
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p", 1)
    a, b = x[0], x[1]
    rows = [a + b, a - b, a * p, a / b, -a, a * a, 2 * b, 1 / b, ca.sqrt(a), ca.fabs(b),
            ca.floor(a), ca.ceil(b), ca.sign(a), ca.fmin(a, b), ca.fmax(a, p), a < b, a <= p,
            a == b, a != b, ca.logic_not(a < p), ca.logic_and(a, b), ca.logic_or(a, p),
            ca.if_else(a > b, a * b, p / 3), ca.SX(7), ca.SX(1, 1),
            *(ca.SX.unary(op, a) for op in ROUNDED - TWO), *(ca.SX.binary(op, a, b) for op in TWO),
            a**1.5, ca.exp(p), ca.atan2(p, b)]  # fmt: skip
    return ca.Function("every", [x, p], [ca.vertcat(*rows)])


def test_arrays_give_the_numbers_of_single_points_to_the_last_bit() -> None:
    function = _every_operation()
    carried_out = {function.instruction_id(k) for k in range(function.n_instructions())}
    assert (EXACT.keys() | ROUNDED) - carried_out <= {ca.OP_ASSIGN}
    x = np.concatenate([np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1),
                        np.random.default_rng(7).normal(size=(2, 5 * MANY))], axis=1)
    found = Columnwise(function)([x, np.array([[0.3]])], x.shape[1])
    one = Evaluator(function)
    rows = function.sparsity_out(0).row()
    expected = np.zeros_like(found)
    for k in range(x.shape[1]):
        expected[rows, k] = one(x[:, k], [0.3])
    assert ((found == expected) | np.isnan(found) & np.isnan(expected)).all()


def test_tables_are_searched_for_all_points_together_and_give_the_numbers_of_one_search() -> None:
    rng = np.random.default_rng(3)
    breaks, points = np.sort(rng.normal(size=30)), np.sort(rng.normal(size=5))
    table = lookup(breaks, rng.normal(size=(5, 31, 4)), (Choice(points, 1),))
    x = ca.SX.sym("x", 2)
    function = ca.Function("read", [x], [ca.sin(table(x[0], x[1])) * x[0]])
    at = np.concatenate([2 * rng.normal(size=(2, MANY)), [breaks, np.resize(points, 30)]], axis=1)
    assert Columnwise.fits(function)
    one = Evaluator(function)
    assert (Columnwise(function)([at], at.shape[1])[0]
            == [one(at[:, k])[0] for k in range(at.shape[1])]).all()


# -- blocks of linear equations ---------------------------------------------------------------
def factors_of(matrix, rows, columns=None):
    """Of a full matrix, of which some rows and columns are of what flows carry."""
    n = len(matrix)
    plan = plan_of(ca.Sparsity.dense(n, n), carried=(rows, rows if columns is None else columns))
    return BlockFactors(plan, matrix.ravel(order="F").copy())


def equations(chance, n, rank):
    """A matrix of a rank, some columns without any entry, and a right side that agrees."""
    matrix = np.zeros((n, n))
    columns = chance.permutation(n)[:rank]
    matrix[:, columns] = chance.normal(size=(n, rank)) @ chance.normal(size=(rank, rank))
    return matrix, matrix @ chance.normal(size=n), np.setdiff1d(np.arange(n), columns)


@pytest.mark.parametrize("seed", range(20))
def test_what_no_equation_names_does_not_change(seed):
    chance = np.random.default_rng(seed)
    n = int(chance.integers(1, 7))
    rank = int(chance.integers(0, n + 1))
    matrix, right, unnamed = equations(chance, n, rank)
    factors = factors_of(matrix, np.ones(n, dtype=bool))
    assert not factors.singular and len(factors.says_nothing) == n - rank
    step = factors.solve(right)
    assert_allclose(matrix @ step, right, atol=1e-9)
    assert_allclose(step[unnamed], 0, atol=0)
    several = factors.solve(np.stack([right, 2 * right], axis=1))
    assert_allclose(several, np.stack([step, 2 * step], axis=1), rtol=1e-12)


def test_rows_that_contradict_others_are_told():
    matrix, right = np.array([[1.0, 0], [1, 0]]), np.array([1.0, 2.0])
    factors = factors_of(matrix, np.ones(2, dtype=bool))
    assert len(factors.says_nothing) == 1
    missed = matrix @ factors.solve(right) - right
    assert abs(missed[factors.says_nothing[0]]) == 1.0


def test_only_what_a_flow_carries_may_be_left_open():
    singular = np.array([[1.0, 0], [1, 0]])
    assert factors_of(singular, np.zeros(2, dtype=bool)).singular
    assert factors_of(singular, np.array([False, True]), np.array([True, False])).singular
    assert not factors_of(singular, np.array([False, True])).singular


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_what_a_flow_carries_follow_from_those_of_flows_and_not_they_from_them(seed):
    """Before any flow is known: H == m * h says of m what it says of h when m is found."""
    chance = np.random.default_rng(seed)
    flows, carried = 4, 3
    n = flows + carried
    may = np.arange(n) >= flows
    matrix = np.zeros((n, n))
    matrix[:flows, :flows] = chance.normal(size=(flows, flows)) * 10.0 ** chance.uniform(-3, 0)
    matrix[flows:, :flows] = chance.normal(size=(carried, flows)) * 1e5
    solution = np.append(chance.normal(size=flows), np.zeros(carried))
    factors = factors_of(matrix, may)
    assert not factors.singular and sorted(factors.says_nothing) == [4, 5, 6]
    assert_allclose(factors.solve(matrix @ solution), solution, atol=1e-9)


def test_a_block_counts_its_entries_beside_those_of_whole_rows():
    """H == m * h: beside h, by which H changes with m, a flow of rounding is none."""
    pattern, may = ca.Sparsity.lower(2), np.array([False, True])
    for flow, left_open in ((1e-18, 1), (1e-3, 0)):
        factors = BlockFactors(plan_of(pattern, carried=(may, may)), np.array([1.0, 300.0, flow]))
        assert len(factors.says_nothing) == left_open


def test_what_occurs_in_no_equation_at_all_is_left_open_where_a_flow_carries_it():
    for carried in (True, False):
        plan = plan_of(ca.Sparsity(1, 1), carried=np.full((2, 1), carried))
        factors = BlockFactors(plan, np.zeros(0))
        assert factors.singular != carried and len(factors.says_nothing) == carried


def ladder(n):
    """A band with corners, rows and columns in disorder: one block, hardly filled in."""
    chance = np.random.default_rng(n)
    entries = {(i, (i + d) % n): chance.normal() for i in range(n) for d in (-7, -1, 0, 1, 7)}
    rows, columns = chance.permutation(n), chance.permutation(n)
    found = {(int(columns[j]), int(rows[i])): value for (i, j), value in entries.items()}
    places = sorted(found)
    pattern = ca.Sparsity.triplet(n, n, [i for _, i in places], [j for j, _ in places])
    return pattern, np.array([found[place] for place in places])


@pytest.mark.parametrize("n", [40, 300])
def test_a_large_block_that_is_mostly_zeros_is_solved(n):
    pattern, values = ladder(n)
    right = np.arange(1.0, n + 1)
    solution = BlockFactors(plan_of(pattern), values).solve(right)
    assert_allclose(np.array(ca.DM(pattern, values)) @ solution, right, atol=1e-8 * n)
    assert is_mostly_zeros(pattern) == (n == 300)  # a band fills a large part of a small matrix


# -- what signals were ------------------------------------------------------------------------
# -- the fastest rate -------------------------------------------------------------------------
# -- lost values ------------------------------------------------------------------------------
# -- laws that may lose their value -----------------------------------------------------------
class Root(Component):
    """A signal with a root of what it is given, and a state with one of its own."""

    u, y = Input("V"), Output("V^0.5")
    level, seen = Variable("1", 1.0, priority="high"), Variable("1")

    def equations(self):
        yield der(self.level) == quantity("-1 1/s")
        yield self.seen == sqrt(2 + self.level)
        yield self.y == sqrt(self.u)


def rooted():
    """A root of a voltage that loops and a diode decide on."""
    return wired("rooted", "source.p r.p", "r.n diode.p sensor.p exponential.p", "diode.n c.p",
                 "source.n c.n sensor.n exponential.n ground.V", "sensor.V root.u",
                 ground=el.ElectricalReference(), source=el.DCVoltageSource(voltage="5 V"),
                 r=el.Resistor(), diode=el.Diode(model="ideal"), c=el.Capacitor(),
                 exponential=el.Diode(model="exponential"), sensor=el.VoltageSensor(), root=Root())


class Approach(Component):
    """What is slower the farther it is from a wall, and values that no motion depends on."""

    x = Variable("m", "1 m", priority="high")
    near, left, far = Variable("1/m"), Variable("m^0.5"), Variable("m")

    def equations(self):
        distance = quantity("2 m") - self.x
        yield der(self.x) == -quantity("1 m^2/s") / distance
        yield self.near == 3 / distance
        yield self.left == sqrt(self.x + quantity("3 m"))
        yield self.far == sqrt(distance**2 + self.x**2)


def test_what_they_do_not_show_is_told():
    model = wired("approach", part=Approach(x="-2.9 m"))
    with pytest.raises(blocks.SimulationError, match=r"left == sqrt") as error:
        model.simulate("1 s")  # it is below -3 m from (5^2 - 4.9^2) / 2 s on
    assert error.value.code == "simulation.value" and error.value.time > 0.495


# -- far up an exponential --------------------------------------------------------------------
PHOTO, SATURATION, THERMAL, SHUNT = 8.0, 1e-10, 0.026, 50.0


class Cell(el.TwoPort):
    """A solar cell, which gives its current out of p."""

    light = Input("1", default="share")
    share = Parameter(1.0)

    def equations(self):
        current, saturation = quantity(PHOTO, "A"), quantity(SATURATION, "A")
        yield self.i == (saturation * (blocks.exp(self.v / quantity(THERMAL, "V")) - 1)
                         + self.v / quantity(SHUNT, "ohm") - self.light * current)


def current_of(v, light):
    return light * PHOTO - SATURATION * np.expm1(v / THERMAL) - v / SHUNT


def voltage_of(i, light):
    return brentq(lambda v: current_of(v, light) - i, -600.0, 1.0, xtol=1e-14)


@pytest.mark.parametrize("count", [2, 8, 40])
def test_a_string_of_cells_shares_the_voltage_it_starts_at(count):
    """All of it over one cell would be e^46 to e^920, which is no number."""
    model = wired("string", "sun.y cells[1:].light", "shade.y cells[0].light",
                  "cells[0].p bank.p load.p", "cells[1:].p cells[:-1].n",
                  "cells[-1].n bank.n load.n earth.V",
                  cells=Cell(count=count),
                  bank=el.Capacitor(capacitance="1 mF", vc=f"{0.6 * count} V"),
                  load=el.Resistor(resistance=f"{0.1 * count} ohm"), earth=el.ElectricalReference(),
                  sun=Constant(value=1.0), shade=Constant(value=0.9))
    run = model.simulate("1 ms")
    lights = np.array([0.9] + [1.0] * (count - 1))

    def missing(i):
        return sum(voltage_of(i, light) for light in lights) - 0.6 * count

    i = brentq(missing, 0.0, 7.199, xtol=1e-13)
    assert_allclose(run["cells.i"].at("0 s").to("A").m, -i, rtol=1e-7)
    assert_allclose(run["cells.v"].at("0 s").to("V").m, [voltage_of(i, light) for light in lights],
                    rtol=1e-7)


# -- which states are integrated --------------------------------------------------------------
def pendulum(given_up=None, preferred=None):
    """A problem of a bob on a rod, and what it integrates at an angle from below."""
    system = alone(Pendulum()).compile()
    problem = Problem(system, system.parameters(), np.ones(system.nx), np.ones(system.nz))
    names = [system.class_names[int(c)].split(".")[-1] for c in system.tape.reduced.states]
    if preferred is not None:
        problem.preferred = np.isin(names, preferred)
    if given_up is not None:
        problem.given_up = np.array([given_up.get(name, 0) for name in names])

    def integrated(angle):
        x, y = np.sin(angle), -np.cos(angle)
        for name, value in (("x", x), ("y", y), ("vx", -y), ("vy", x)):
            problem.x[names.index(name)] = value
        problem.choose_states(0.0)
        return {names[i] for i in problem.free}

    return problem, names, integrated


def test_what_moves_most_is_integrated_and_kept_while_no_other_is_worth_it():
    problem, names, integrated = pendulum()
    assert integrated(0.1) == {"x", "vx"}
    assert integrated(1.0) == {"x", "vx"}  # y moves 1.6 times as fast
    assert integrated(1.3) == {"y", "vy"}
    assert problem.given_up[names.index("vx")] == 1
    assert integrated(0.9) == {"y", "vy"}


def test_a_preferred_state_is_integrated_first():
    assert pendulum()[2](1.2) == {"y", "vy"}
    _, _, integrated = pendulum(preferred=["x", "vx"])
    assert integrated(1.2) == {"x", "vx"}  # y moves 2.6 times as fast
    assert integrated(1.3) == {"y", "vy"}


def test_of_those_that_are_worth_it_the_one_given_up_least_often_is_taken():
    """Three coordinates of one motion: the one integrated hardly moves, both others do."""
    block = np.array([[1.0, 0.2, 0.0], [1.0, 0.0, 0.25]])  # moves by -1, 5 and 4
    tied, chosen = np.array([0.0, 1.0, 1.0]), np.zeros(2, dtype=int)
    assert exchange(block.copy(), tied, np.zeros(3, dtype=int), chosen)
    assert set(chosen) == {0, 2}
    assert exchange(block.copy(), tied, np.array([0, 1, 0]), chosen)
    assert set(chosen) == {0, 1}


def test_a_choice_that_depends_is_made_anew():
    some = np.array([[0.0, 1.0]]), np.array([1.0, 0.0]), np.zeros(2, dtype=int)
    assert not exchange(*some, np.zeros(1, dtype=int))


def test_the_crank_of_a_piston_is_found_out_to_be_good_all_the_way_round():
    pytest.importorskip("llvmlite")
    model = wired("piston", "weightless.P ground.P bearing.B bore.B",
                  "bearing.F crank.P wheel.P pin.B", "pin.F big.B", "big.F rod.P end.B",
                  "end.F small.B", "small.F piston.P bore.F",
                  ground=Ground(), weightless=Gravity(strength="0 m/s^2"),
                  crank=Body(mass="1 kg", inertia="1 g*m^2"),
                  wheel=Body(mass="1 kg", inertia="0.5 kg*m^2", w="50 rad/s"),
                  pin=RigidOffset(dx="30 mm", dy="40 mm"),
                  rod=Body(mass="0.4 kg", inertia="1 g*m^2", center_x="75 mm", phi="-0.27 rad"),
                  end=RigidOffset(dx="150 mm"), piston=Body(mass="0.3 kg", inertia="1 g*m^2"),
                  bearing=Revolute(), big=Revolute(), small=Revolute(), bore=Prismatic())
    run = model.simulate("1 s", method="dopri5", rtol=1e-6)
    assert abs(run["bearing.phi"].final.m) > 6 * np.pi
    assert run.statistics["steps"] < 400  # where states change all the time, three times as many
    moving = run["wheel.w"].to("rad/s").m
    assert_allclose(moving.min(), moving.max(), rtol=0.01)


# -- closed loops -----------------------------------------------------------------------------
G = 9.81


def swung(duration, method="auto", rtol=1e-9, **targets):
    given = targets or {"x": "1 m", "y": blocks.Target("0 m", "low"), "vy": "-6 m/s"}
    return alone(Pendulum(**given)).simulate(duration, method=method, rtol=rtol)


@few(1, ("method", "tolerance"), [("DOP853", 1e-7), ("Radau", 1e-7)])
def test_the_angle_is_that_of_the_equation_in_the_angle(method, tolerance):
    run = swung("1 s", method)
    angle = solve_ivp(lambda t, s: [s[1], -G * np.sin(s[0])], (0, 1), [np.pi / 2, -6.0],
                      method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert final(run, "c.x") == pytest.approx(np.sin(angle[0]), abs=tolerance)
    assert final(run, "c.y") == pytest.approx(-np.cos(angle[0]), abs=tolerance)
    pull = G * np.cos(angle[0]) + angle[1] ** 2
    assert final(run, "c.tension") == pytest.approx(pull, rel=10 * tolerance)


def test_values_that_cannot_be_solved_for_are_no_numbers(monkeypatch):
    def fails(self, t):
        raise AlgebraicFailure(t, ["c.y"], "Newton's method does not converge")

    run = swung("0.1 s", "Radau")
    monkeypatch.setattr(Problem, "update", fails)
    assert np.isnan(run["c.y"].magnitude).all()


def test_a_pendulum_is_structurally_of_index_three():
    assert alone(Pendulum(x="1 m")).structure().index == 3


class SliderCrank(Component):
    """A crank turning steadily, a connecting rod, and a slider on the x axis."""

    crank, rod, speed = Parameter("0.1 m"), Parameter("0.3 m"), Parameter("10 rad/s")
    phi = Variable("rad", "0 rad", priority="high", doc="crank angle")
    psi = Variable("rad", doc="rod angle")
    x = Variable("m", doc="slider")
    v, a = Variable("m/s"), Variable("m/s^2")

    def equations(self):
        yield der(self.phi) == self.speed
        yield self.x == self.crank * cos(self.phi) + self.rod * cos(self.psi)
        yield self.crank * sin(self.phi) == self.rod * sin(self.psi)
        yield self.v == der(self.x)
        yield self.a == der(self.v)


def test_a_slider_crank_moves_as_its_loop_equations_say():
    run = alone(SliderCrank()).simulate("1 s", rtol=1e-9)
    phi = 10 * run.time.to("s").magnitude
    r, l, w = 0.1, 0.3, 10.0
    root = np.sqrt(l**2 - (r * np.sin(phi)) ** 2)
    x = r * np.cos(phi) + root
    v = -w * r * np.sin(phi) - w * r**2 * np.sin(phi) * np.cos(phi) / root
    assert_allclose(run["c.x"].magnitude, x, atol=1e-8)
    assert_allclose(run["c.v"].magnitude, v, atol=1e-7)
    bend = np.cos(2 * phi) / root + (r * np.sin(phi) * np.cos(phi)) ** 2 / root**3
    a = -(w**2) * (r * np.cos(phi) + r**2 * bend)
    assert_allclose(run["c.a"].magnitude, a, atol=1e-6)
