"""Sparse linear equations in fronts, against NumPy; grids against closed forms and SciPy."""

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose
from scipy.sparse import csc_matrix, eye_array, kron, random

from benchmarks import domains
from blocks import Model, quantity
from blocks.native.front_lists import (
    COLUMN_GROUPS,
    FACTORIZE,
    GROUP_STARTS,
    GROUPS,
    SOLVE,
    lists_of,
    room_of,
)
from blocks.native.fronts import factorize_code, lists_with, solve_code
from blocks.native.linearity import has_steady_derivatives
from library.electrical import Capacitor, ElectricalReference, Resistor


def five_points(n):
    line = csc_matrix(np.tri(n, k=1) - np.tri(n, k=-2))
    return kron(line, eye_array(n)) + kron(eye_array(n), line)


PATTERNS = {
    "one unknown": lambda rng: eye_array(1),
    "nothing acts on anything": lambda rng: csc_matrix((7, 7)),
    "one way": lambda rng: csc_matrix(np.tri(30, k=0)),
    "all on all": lambda rng: csc_matrix(np.ones((20, 20))),
    "one on all": lambda rng: eye_array(40) + csc_matrix(np.eye(1, 40, 3).T @ np.ones((1, 40))),
    "here and there": lambda rng: random(150, 150, 0.02, rng=rng),
    "two parts": lambda rng: kron(eye_array(2), five_points(5)),
    "grid": lambda rng: five_points(20),
}


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
    solve_code(int(lists[SOLVE]), lists, factors, b, np.empty(n))
    assert_allclose(b[:n], np.linalg.solve(diagonal * np.eye(n) - matrix.toarray(), right[:n]),
                    rtol=1e-12, atol=1e-14)
    assert_allclose(b[n:], right[n:] / diagonal, rtol=1e-15)


@pytest.mark.parametrize("which", PATTERNS)
def test_columns_of_a_group_share_no_row(which):
    matrix = csc_matrix(PATTERNS[which](np.random.default_rng(1)))
    matrix.sort_indices()
    lists = lists_of(matrix)
    starts, columns = lists[lists[GROUP_STARTS]:], lists[lists[GROUPS]:]
    every = []
    for g in range(lists[COLUMN_GROUPS]):
        members = columns[starts[g]:starts[g + 1]]
        every += members.tolist()
        assert (matrix[:, members] != 0).sum(axis=1).max() <= 1
    assert sorted(every) == list(range(matrix.shape[0]))


def plate(n, at):
    """Nodes with a capacitor each, between neighbours and to ground all around."""
    model, number = Model("plate"), np.arange(n * n).reshape(n, n)
    around = np.pad(number, 1, constant_values=-1)
    pairs = np.concatenate([
        np.column_stack([around[1:-1, :-1].ravel(), around[1:-1, 1:].ravel()]),
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
    model = plate(n, slow + 0.5 * fast)
    run = model.simulate("20 ms", method="rodas4", rtol=1e-6)
    assert has_steady_derivatives(run.recording.problem.system)
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


@pytest.mark.parametrize("n", [60, 120])
def test_a_column_of_capacitors_that_all_act_on_each_other_discharges_as_its_closed_form(n):
    """A resistor at every node: what flows there comes through all capacitors below it."""
    model = Model("column")
    model.ground, model.column = ElectricalReference(), Capacitor(
        count=n, capacitance="1 uF", v="1 V")
    model.loads = Resistor(count=n, resistance="1 kohm")
    model.connect(model.column[0].n, model.loads.n, model.ground.V)
    model.connect(model.column[1:].n, model.column[:-1].p)
    model.connect(model.column.p, model.loads.p)
    run = model.simulate("0.3 s", method="rodas4", rtol=1e-8)
    below = np.tri(n)  # of which voltages at nodes are sums
    rates, modes = np.linalg.eigh(1e3 * below.T @ below)
    for t in (1e-3, 0.05, 0.3):
        exact = modes @ (np.exp(-rates * t) * (modes.T @ np.ones(n)))
        assert_allclose(run["column.v"].at(quantity(t, "s")).m, exact, rtol=0, atol=1e-6)
