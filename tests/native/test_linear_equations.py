"""Linear equations in machine code, against NumPy: full, chains and fronts; runs that use them."""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose
from scipy.sparse import csc_matrix, eye_array, kron, random

from benchmarks.cases import domains
from blocks import Model, Parameter, mod, quantity, time, where
from blocks.machine.signatures import address_of
from blocks.native import lu
from blocks.native.front_lists import FACTORIZE, SOLVE, lists_of, room_of
from blocks.native.fronts import factorize_code, lists_with, solve_code
from library.electrical import Capacitor, ElectricalReference, Resistor, TwoPort
from library.signal import Integrator, RunningRMS, Sine


# -- a few equations --------------------------------------------------------------------------
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 40])
def test_solution_and_determinant_whatever_the_units(n):
    random = np.random.default_rng(n)
    room, right, order = np.full((40, 40), np.nan), np.full(40, np.nan), np.zeros(40, dtype=int)
    a, b, units = random.normal(size=(n, n)), random.normal(size=n), 10.0**random.integers(-9, 9, n)
    if n > 1:
        a[0, 0] = 0.0  # rows have to change places
    room[:n, :n], right[:n] = units[:, None] * a / units, units * b
    assert_allclose(lu.factorize(room, units, order), np.linalg.det(a), rtol=1e-11)
    lu.solve(room, order, right[:n], np.empty(n))
    assert_allclose(right[:n] / units, np.linalg.solve(a, b), rtol=1e-10)


def test_a_singular_matrix_has_no_determinant_and_no_finite_solution():
    factors, order, right = np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros(2, int), np.ones(2)
    assert lu.factorize(factors, np.ones(2), order) == 0.0
    lu.solve(factors, order, right, np.empty(2))
    assert not np.isfinite(right).any()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_full_matrices_are_solved_as_by_lapack(n):
    random = np.random.default_rng(n)
    matrix, right = random.normal(size=(n, n)), random.normal(size=n)
    matrix[0, 0] = 0.0 if n > 1 else 2.0  # rows have to change places
    columns, order, found = matrix.T.copy(), np.zeros(n, dtype=np.int64), right.copy()
    given = address_of(columns), address_of(order), n
    assert lu.factor_columns(*given) == 0
    assert lu.solve_columns(*given, address_of(found)) == 0
    assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-11)
    assert lu.factor_columns(address_of(np.zeros((n, n))), address_of(order), n) == 1


# -- runs ------------------------------------------------------------------------------------
def test_values_between_the_steps_of_a_chain_are_those_of_the_run():
    model = domains.rod(300)
    result = model.simulate("600 s")
    assert result.statistics["method"] == "rodas4"
    exact = model.simulate("600 s", method="Radau", rtol=1e-10)
    times = np.linspace(1.0, 599.0, 13)
    both = [r["cells.T"].at(quantity(times, "s")).m for r in (result, exact)]
    assert np.abs(both[0] - both[1]).max() < 2e-3  # K, of 700 K


def test_a_law_that_ends_at_the_start_leaves_a_matrix_by_differences_finite():
    """Means over no time, 0/0: the next value of what they are of makes them infinite."""
    n = 60
    model = wired("means", "wave.y mean.u",
                  wave=Sine(frequency="1 Hz"), mean=RunningRMS(count=n), total=Integrator(count=n))
    for k in range(n):
        model.connect(model.mean[k].y, model.total[k].u)
    result = model.simulate("0.5 s", method="rodas4", rtol=1e-8)
    assert_allclose(result["mean[59].y"].final.m, np.sqrt(0.5), rtol=1e-6)
    assert result.statistics.steps > 10


class Tapped(TwoPort):
    """A resistor whose conductance trebles in the second half of every millisecond."""

    resistance = Parameter("50 ohm", above=0)

    def equations(self):
        late = mod(time, quantity("1 ms")) > quantity("0.5 ms")
        yield self.i == self.v / self.resistance * where(late, 3.0, 1.0)


def tapped(n):
    """A ladder of n sections behind a sine, with such a resistor at its end."""
    model = domains.ladder(n)
    wire(model, "capacitors[-1].p tap.p", "ground.V tap.n", tap=Tapped())
    return model


@few(1, "n", [60, 310])  # of more unknowns than 300, by loops
def test_derivatives_that_events_change_are_found_anew_after_them(n):
    model = tapped(n)
    runs = [model.simulate("2.2 ms", method=method, rtol=rtol)
            for method, rtol in (("rodas4", 1e-7), ("Radau", 1e-9))]
    assert len(runs[0].events) == 4
    t = quantity(np.linspace(0, 2.2e-3, 67), "s")
    values = [run["capacitors.vc"].at(t).m for run in runs]
    assert_allclose(values[0], values[1], rtol=0, atol=3e-6)
    # steps that are taken again for a reader end where they ended
    ends = runs[0]["capacitors.vc"].at(runs[0].time[[5, 20, 50]]).m
    assert_allclose(ends, runs[0]["capacitors.vc"].m[:, [5, 20, 50]], rtol=0, atol=1e-13)


# -- fronts -----------------------------------------------------------------------------------
def five_points(n):
    line = csc_matrix(np.tri(n, k=1) - np.tri(n, k=-2))
    return kron(line, eye_array(n)) + kron(eye_array(n), line)


def chain(rng, share):
    """Unknowns in any order, of which neighbours act on each other; a share of all entries."""
    order = rng.permutation(40)
    return csc_matrix((np.tri(40, k=1) - np.tri(40, k=-2))[order][:, order]
                      * (rng.random((40, 40)) < share))


PATTERNS = {
    "a chain": lambda rng: chain(rng, 1.0),
    "chains in which some entries lack": lambda rng: chain(rng, 0.7),
    "one unknown": lambda rng: eye_array(1),
    "nothing acts on anything": lambda rng: csc_matrix((7, 7)),
    "one way": lambda rng: csc_matrix(np.tri(30, k=0)),
    "all on all": lambda rng: csc_matrix(np.ones((20, 20))),
    "one on all": lambda rng: eye_array(40) + csc_matrix(np.eye(1, 40, 3).T @ np.ones((1, 40))),
    "here and there": lambda rng: random(150, 150, 0.02, rng=rng),
    "two parts": lambda rng: kron(eye_array(2), five_points(5)),
    "grid": lambda rng: five_points(20)}


@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize("which", PATTERNS)
def test_fronts_solve_what_numpy_solves(which, more):
    rng = np.random.default_rng(1)
    matrix = csc_matrix(PATTERNS[which](rng))
    matrix.sort_indices()
    matrix.data = rng.normal(size=matrix.nnz)
    n = matrix.shape[0]
    lists = lists_with(lists_of(matrix), n + more)
    entries, numbers = room_of(lists)
    values, factors = np.append(matrix.data, np.zeros(entries - matrix.nnz)), np.empty(numbers)
    diagonal = 2.0 + abs(matrix).sum(axis=1).max()
    factorize_code(int(lists[FACTORIZE]), lists, values, diagonal, factors)
    right = rng.normal(size=n + more)
    b = right.copy()
    solve_code(int(lists[SOLVE]), lists, factors, b)
    assert_allclose(b[:n], np.linalg.solve(diagonal * np.eye(n) - matrix.toarray(), right[:n]),
                    rtol=1e-12, atol=1e-14)
    assert_allclose(b[n:], right[n:] / diagonal, rtol=1e-15)


def plate(n, at):
    """Nodes with a capacitor each, between neighbours and to ground all around."""
    model, number = Model("plate"), np.arange(n * n).reshape(n, n)
    around = np.pad(number, 1, constant_values=-1)
    pairs = np.concatenate([np.column_stack([around[1:-1, :-1].ravel(), around[1:-1, 1:].ravel()]),
                            np.column_stack([around[:-1, 1:-1].ravel(), around[1:, 1:-1].ravel()])])
    inner, edge = pairs[(pairs >= 0).all(axis=1)], pairs[(pairs < 0).any(axis=1)].max(axis=1)
    model.ground, model.nodes = domains.Ground(), domains.Node(count=n * n)
    model.links = domains.Resistor(count=len(inner), resistance="1 kohm")
    model.edges = domains.Resistor(count=len(edge), resistance="1 kohm")
    model.capacitors = domains.Capacitor(count=n * n, capacitance="1 uF", vc=quantity(at, "V"))
    model.connect(model.links.p, model.nodes[inner[:, 0]].V)
    model.connect(model.links.n, model.nodes[inner[:, 1]].V)
    model.connect(model.edges.p, model.nodes[edge].V)
    wire(model, "capacitors.p nodes.V", "edges.n ground.V", "capacitors.n ground.V")
    return model


def test_modes_of_a_plate_decay_as_their_closed_form():
    n, places = 20, np.arange(1, 21) * np.pi / 21
    slow, fast = (np.outer(np.sin(i * places), np.sin(j * places)).ravel()
                  for i, j in ((1, 1), (7, 4)))
    rates = [4e3 * sum(np.sin(k * np.pi / 42) ** 2 for k in pair) for pair in ((1, 1), (7, 4))]
    run = plate(n, slow + 0.5 * fast).simulate("20 ms", method="rodas4", rtol=1e-6)
    for t in (0.5e-3, 20e-3):
        exact = slow * np.exp(-rates[0] * t) + 0.5 * fast * np.exp(-rates[1] * t)
        assert_allclose(run["capacitors.vc"].at(quantity(t, "s")).m, exact, atol=3e-6)


def test_a_grid_of_resistors_and_diodes_meets_the_one_by_ida():
    model = domains.grid(14, 5)
    run = model.simulate("0.6 ms", method="rodas4", rtol=1e-5)
    exact = model.simulate("0.6 ms", method="BDF", rtol=1e-8)
    times = quantity(np.linspace(0.05, 0.6, 7), "ms")
    both = [r["nodes.V.v"].at(times).m for r in (run, exact)]
    assert np.abs(both[0] - both[1]).max() < 1e-4  # V, of 5 V


@few(1, "n", [60, 120])
def test_a_column_of_capacitors_that_all_act_on_each_other_discharges_as_its_closed_form(n):
    """A resistor at every node: what flows there comes through all capacitors below it."""
    model = wired("column", "column[0].n loads.n ground.V", "column[1:].n column[:-1].p",
                  "column.p loads.p", ground=ElectricalReference(),
                  column=Capacitor(count=n, capacitance="1 uF", v="1 V"),
                  loads=Resistor(count=n, resistance="1 kohm"))
    run = model.simulate("0.3 s", method="rodas4", rtol=1e-8)
    below = np.tri(n)  # of which voltages at nodes are sums
    rates, modes = np.linalg.eigh(1e3 * below.T @ below)
    for t in (1e-3, 0.05, 0.3):
        exact = modes @ (np.exp(-rates * t) * (modes.T @ np.ones(n)))
        assert_allclose(run["column.v"].at(quantity(t, "s")).m, exact, rtol=0, atol=1e-6)
