"""Methods serve one run after another, many states too, with factors of mostly empty matrices."""

import gc
import weakref

import casadi as ca
import numpy as np
import pytest
from benches import few, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.electrical as el
from benchmarks.cases import models, planar
from blocks import Model, quantity
from blocks.exceptions import SimulationError
from blocks.native.sparse_factors import SparseFactors
from blocks.results import Result
from blocks.system.block_factors import factorize_blocks, room_for, solve_blocks
from library.signal import Step

CASES = {
    "explicit": (lambda: models.chain_of_arrays(3), "springs.stiffness", "3 kN/m", "dopri5"),
    "implicit": (lambda: models.chain_of_arrays(3), "springs.stiffness", "3 kN/m", "rodas4"),
    "exact friction": (models.block_on_belt, "spring.stiffness", "300 N/m", "auto"),
    "friction under a load": (planar.disc, "touch.friction", "0.3", "auto"),
    "known instants": (lambda: models.alone(models.Positioning()), "part.period", "2 ms", "auto")}


def _set(model: Model, path: str, value: str) -> None:
    part, name = path.split(".")
    setattr(getattr(model, part), name, value)


def _seen(result: Result) -> list[bytes]:
    """All variables, also between the ends of steps, to the last bit."""
    times = np.linspace(0.0, 0.3, 101)
    count = len(list(result.variables))
    return [result.recording.times.tobytes(),
            result.recording.values(range(count), times).tobytes(),
            str([*result.recording.events]).encode()]


@few(3, "case", CASES)
def test_a_run_is_as_if_it_were_the_first_and_stays_what_it_was_while_it_is_read(case: str) -> None:
    build, path, other, method = CASES[case]
    model = build()
    runs = [model.simulate("0.3 s", method=method)]
    _set(model, path, other)
    model.simulate("0.1 s", method=method, rtol=1e-3)  # another one in between
    runs += [model.simulate("0.3 s", method=method) for _ in range(3)]
    first = _seen(build().simulate("0.3 s", method=method))
    changed = build()
    _set(changed, path, other)
    second = _seen(changed.simulate("0.3 s", method=method))
    assert first != second
    assert [_seen(run) for run in runs] == [first, second, second, second]
    courses = [weakref.ref(run.recording.episodes[-1].trajectory) for run in runs]
    runs.clear()
    gc.collect()
    assert not any(course() for course in courses), "the method between two runs keeps a record"


def test_a_run_that_fails_leaves_nothing_to_the_next_one() -> None:
    model = models.block_on_belt()
    expected = _seen(model.simulate("0.3 s"))
    model.simulate("0.3 s")
    model.spring.stiffness = "1e300 N/m"
    with pytest.raises(SimulationError):
        model.simulate("0.3 s", method="dopri5")
    model.spring.stiffness = "100 N/m"
    assert _seen(model.simulate("0.3 s")) == expected


# -- Rosenbrock steps of more states than derivatives are written for: 60 on each other -----------
COUNT, OHM, FARAD = 60, np.geomspace(0.1, 100.0, 60), 1e-4


class Cubic(el.TwoPort):
    """i = v + v^3, in SI units."""

    def equations(self):
        v = self.v / quantity("1 V")
        yield self.i == quantity("1 A") * (v + v**3)


def star():
    return wired("star", "source.p wire.p", "wire.n switch.p", "switch.n load.p arms.p",
                 "arms.n stores.p", "stores.n load.n source.n ground.V", "gate.y switch.vT",
                 source=el.DCVoltageSource(voltage="10 V"), ground=el.ElectricalReference(),
                 wire=el.Resistor(resistance="1 ohm"), load=Cubic(),
                 switch=el.Switch(model="ideal"), gate=Step(initial=1.0, final=0.0, start="2 ms"),
                 arms=el.Resistor(count=COUNT, resistance=quantity(OHM, "ohm")),
                 stores=el.Capacitor(count=COUNT, capacitance=quantity(FARAD, "F")))


def by_hand(t, v):
    def left(node):
        source = 10.0 - node if t < 2e-3 else 0.0
        return source - node - node**3 - np.sum((node - v) / OHM)

    node = brentq(left, -10.0, 10.0, xtol=1e-14)
    return (node - v) / OHM / FARAD


def test_states_that_all_act_on_each_other_behind_a_nonlinear_node():
    v = np.zeros(COUNT)
    for span in ((0.0, 2e-3), (2e-3, 20e-3)):
        shifted = span[0] + 1e-12, span[1] - 1e-12 * (span[1] < 5e-3)
        v = solve_ivp(by_hand, shifted, v, method="Radau", rtol=1e-9, atol=1e-10).y[:, -1]
    run = star().simulate("20 ms", method="rodas4", rtol=1e-7)
    assert run.statistics["steps"] < 2000
    assert np.abs(np.ravel(run["stores.v"].final.m) - v).max() < 1e-5


# -- factors of matrices that are mostly zeros solve as those of LAPACK do --------------------
def factors(matrix, columns=None):
    """What is told of a matrix, or of some columns of one: whether it is singular, its factors."""
    dense = ca.DM(matrix)
    pattern = ca.sparsify(dense).sparsity()
    values = np.array(ca.project(dense, pattern).nz[:], dtype=float).ravel()
    plan = SparseFactors(pattern, 0).plan(columns)
    room = np.zeros(room_for(len(matrix), matrix.size))
    given = [a.ctypes.data for a in (values, plan, room)]
    return factorize_blocks(*given), given, (values, plan, room)


def random_matrix(n, rng):
    matrix = np.where(rng.random((n, n)) < 4 / n, rng.standard_normal((n, n)), 0.0)
    matrix[np.arange(n), rng.permutation(n)] += 1 + rng.random(n)  # hardly any on the diagonal
    return matrix


@pytest.mark.parametrize("n", [1, 2, 35, 60])
def test_solutions_and_pivots_are_those_of_the_matrix(n):
    rng = np.random.default_rng(n)
    matrix, right = random_matrix(n, rng), rng.standard_normal(n)
    singular, given, (_, _, room) = factors(matrix)
    x = right.copy()
    solve_blocks(*given, x.ctypes.data)
    assert singular == 0
    assert_allclose(x, np.linalg.solve(matrix, right), rtol=1e-8)
    assert_allclose(np.prod(np.abs(room[:n])), abs(np.linalg.det(matrix)), rtol=1e-9)


def test_any_columns_of_a_wider_matrix_may_be_chosen():
    rng = np.random.default_rng(7)
    wide = np.hstack([random_matrix(40, rng), rng.standard_normal((40, 5))])
    columns = np.array([*range(3, 40), 44, 41, 42])
    singular, given, _ = factors(wide, columns)
    x = np.ones(40)
    solve_blocks(*given, x.ctypes.data)
    assert singular == 0
    assert_allclose(wide[:, columns] @ x, 1, rtol=1e-8)


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_what_is_singular_or_no_number_has_none(wrong):
    matrix = np.eye(4) + np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    matrix[2, 1:] = matrix[1, 1:]
    matrix[2, 0], matrix[1, 0] = 1.0, 1.0
    if np.isnan(wrong):
        matrix[2, 2] = wrong
    assert factors(matrix)[0] == 1


@pytest.mark.parametrize("miss", [0.0, 1e-3])
@pytest.mark.parametrize("still", [(), (4,), (2, 3), (0, 1, 2, 3, 4, 5)])
def test_what_flows_carry_keeps_its_value_where_nothing_flows(still, miss):
    """Of mixing nodes in a row, each of which takes from both neighbours: m (h - h') sums to zero.

    Where flows of some of them have ceased, nothing changes these, nor do they change others, and
    a row of nothing is met but for what it misses.
    """
    n, rng = 6, np.random.default_rng(5)
    flow, right = 1 + rng.random((2, n)), rng.standard_normal(n)
    for k in still:
        flow[:, k] = flow[0, k + 1 : k + 2] = flow[1, max(k - 1, 0) : k] = 0.0
    matrix = np.diag(flow.sum(axis=0) + 0.5 * (flow[0] > 0))
    matrix -= np.diag(flow[0, 1:], -1) + np.diag(flow[1, :-1], 1)
    right[list(still)] = miss
    pattern = ca.Sparsity.banded(n, 1)
    told = SparseFactors(pattern, 0, carried=np.ones((2, n), dtype=bool))
    values, plan = matrix[pattern.row(), pattern.get_col()], told.plan()
    room, x = np.zeros(room_for(n, n * n)), right.copy()
    given = [a.ctypes.data for a in (values, plan, room)]
    assert factorize_blocks(*given) == 0
    solve_blocks(*given, x.ctypes.data)
    flows = np.setdiff1d(np.arange(n), still)
    assert_allclose(x[list(still)], 0.0, atol=0)
    assert_allclose(matrix[flows][:, flows] @ x[flows], right[flows], atol=1e-12)
    assert room[7 * n + 1] == (miss if still else 0.0)


def string_of_cells(switch, n=32):
    """Sources behind 1 ohm, each with 3 ohm beside it, in series: they charge 1 mF."""
    return wired("string", "emf.p inner.n", "inner.p beside.p", "beside.n emf.n",
                 "beside[:-1].p beside[1:].n", "beside[-1].p main.p", "main.n store.p",
                 "store.n beside[0].n ground.V",
                 emf=el.DCVoltageSource(count=n, voltage="2 V"), inner=el.Resistor(count=n),
                 beside=el.Resistor(count=n, resistance="3 ohm"), ground=el.ElectricalReference(),
                 store=el.Capacitor(capacitance="1 mF"), main=switch)


@pytest.mark.parametrize("ideal", [False, True])
def test_a_large_loop_of_a_string_of_cells_charges_as_one_source(ideal):
    own, switch = (0, el.Switch(model="ideal", gate=1)) if ideal else (1, el.Resistor())
    run = string_of_cells(switch).simulate("30 ms", method="rodas4", rtol=1e-9)
    assert run.statistics["algebraic unknowns"] >= 30
    t = run.time.to("s").m
    exact = 48 * (1 - np.exp(-t / (1e-3 * (24 + own))))  # 32 times 1.5 V behind 0.75 ohm
    assert_allclose(run["store.v"].to("V").m, exact, atol=1e-6)
