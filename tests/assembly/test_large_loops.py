"""Large algebraic loops: sheets of dampers and springs without masses, in closed form."""

import casadi as ca
import numpy as np
import pytest

from blocks import Model, quantity
from blocks.assembly.algebraic_loops import GROWTH, Elimination, cramer, tear
from blocks.exceptions import ParameterError
from blocks.system.newton import MANY
from library.translational import Damper, FreeEnd, Reference, Spring, VelocitySource

N = 40
SPEED, DAMPING, RATE = 0.2, 3.0, 100.0  # m/s, N*s/m of the first row, 1/s: stiffness by damping


def _sheet() -> tuple[Model, float]:
    """N x N nodes joined by dampers and springs; left edge pulled, right edge held.

    Each row is stiffer than the one before. All nodes of a column move alike, columns
    share the pull's speed evenly, and nothing is carried across the rows.
    """
    number = np.arange(N * N).reshape(N, N)
    along = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    across = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    of_row = DAMPING * (1 + np.arange(N) / 7)
    damping = np.concatenate([np.repeat(of_row, N - 1), np.full(len(across), 2.0)])
    ends = np.concatenate([along, across])
    model = Model("sheet")
    model.ground, model.pull = Reference(), VelocitySource(velocity=f"{SPEED} m/s")
    model.nodes = FreeEnd(count=N * N)
    model.dampers = Damper(count=len(ends), damping=quantity(damping, "N*s/m"))
    model.springs = Spring(count=len(ends), stiffness=quantity(RATE * damping, "N/m"))
    for parts in (model.springs, model.dampers):
        model.connect(parts.R, model.nodes[ends[:, 0]].V)
        model.connect(parts.C, model.nodes[ends[:, 1]].V)
    model.connect(model.pull.R, model.nodes[number[:, 0]].V)
    model.connect(model.pull.C, model.ground.V, model.nodes[number[:, -1]].V)
    return model, float(of_row.sum())


def _force(total: float, t: float) -> float:
    """Of all rows together, with damping ``total`` per element."""
    return total * SPEED / (N - 1) * (1 + RATE * t)


def test_a_pulled_sheet_carries_the_sum_of_its_rows_and_nothing_across():
    model, total = _sheet()
    system = model.compile()
    assert system.linear and system.nz > MANY
    result = model.simulate("20 ms", rtol=1e-9)
    assert abs(result["pull.f"].final.to("N").magnitude) == pytest.approx(
        _force(total, 0.02), rel=1e-7)
    pulled = SPEED / (N - 1)
    assert result["dampers[0].f"].final.to("N").magnitude == pytest.approx(DAMPING * pulled)
    last = f"dampers[{N * (N - 1) - 1}].f"  # of the last row
    assert result[last].final.to("N").magnitude == pytest.approx(
        DAMPING * (1 + (N - 1) / 7) * pulled)
    across = result[f"dampers[{N * (N - 1) + 5}].f"].final.to("N").magnitude
    assert abs(across) < 1e-9 * DAMPING * pulled
    # where dampers and springs stand in one ratio, that is the only rate there is
    assert "fastest rate 100 1/s" in result.statistics["why"]


def test_a_long_pull_of_a_sheet_is_stiff_and_solved_with_sparse_matrices():
    model, total = _sheet()
    result = model.simulate("40 s", rtol=1e-6)
    assert result.statistics["method"] == "rodas4"
    assert abs(result["pull.f"].final.to("N").magnitude) == pytest.approx(
        _force(total, 40.0), rel=1e-6)


def test_a_method_that_needs_a_full_matrix_too_large_is_refused_with_its_size(monkeypatch):
    model, _ = _sheet()
    monkeypatch.setattr("blocks.simulation.method_choice.HOPELESS", 1e6)
    with pytest.raises(ParameterError, match=r"3,120 x 3,120 entries \(0\.0779 GB\)") as caught:
        model.simulate("20 ms", method="Radau")
    assert caught.value.data["method"] == "Radau"
    assert "'rodas4'" in str(caught.value)
    model.simulate("1 ms", method="rodas4")
    with pytest.raises(ParameterError, match="cannot run this model: more than .* unknowns"):
        model.simulate("20 ms", step="1 ms")


def _matrix(size: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = np.where(rng.random((size, size)) < 3 / size, rng.uniform(0.5, 2, (size, size)), 0)
    return a[:, rng.permutation(size)] + np.diag(rng.uniform(4, 8, size))[rng.permutation(size)]


@pytest.mark.parametrize("deepest", [1, 3, 20])
@pytest.mark.parametrize("seed", range(5))
def test_torn_unknowns_give_all_others_one_after_the_other(deepest: int, seed: int):
    size = 60
    a = _matrix(size, seed)
    rows, columns = np.nonzero(a)
    torn = tear(rows, columns, np.abs(a[rows, columns]) > 0.7, size, np.zeros(size, bool),
                GROWTH**deepest)
    assert len(torn.torn) == len(torn.leftover) < size
    known = {int(c): 0 for c in torn.torn}
    for pair, depth in zip(torn.pairs, torn.depth, strict=True):
        e, c = int(rows[pair]), int(columns[pair])
        assert c not in known
        assert abs(a[e, c]) > 0.7
        inputs = [known[int(k)] for k in columns[rows == e] if k != c]  # all known before
        known[c] = 1 + max(inputs, default=0)
        assert known[c] == depth <= deepest
        assert e not in torn.leftover
    assert len(known) == size


@pytest.mark.parametrize("size", [1, 2, 3])
def test_cramers_rule_agrees_with_elimination(size: int):
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((size, size)), rng.standard_normal(size)
    found = cramer([[ca.SX(e) for e in row] for row in a.tolist()], [ca.SX(e) for e in b.tolist()])
    assert [float(x) for x in found] == pytest.approx(np.linalg.solve(a, b).tolist())


@pytest.mark.parametrize("branches", [3, 20, 100])
def test_branches_of_a_star_are_eliminated_before_its_middle(branches: int):
    """Whose row would be full at once: as many operations as entries, however large the star."""
    rng = np.random.default_rng(branches)
    n = branches + 1
    a = np.diag(1.0 + rng.random(n))
    a[0, 1:], a[1:, 0] = -rng.random(branches), -0.9 / branches
    b = rng.standard_normal(n)
    elimination = Elimination(ca.sparsify(ca.SX(a)), a)
    assert elimination.operations < 8 * n
    found = elimination.solution(ca.SX(b.tolist()))
    assert [float(x) for x in ca.vertsplit(found)] == pytest.approx(np.linalg.solve(a, b).tolist())


@pytest.mark.parametrize("size", [4, 12, 30])
def test_elimination_of_a_full_matrix_agrees_with_lapack(size: int):
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((size, size)), rng.standard_normal(size)
    found = Elimination(ca.SX(a), a).solution(ca.SX(b.tolist()))
    assert [float(x) for x in ca.vertsplit(found)] == pytest.approx(
        np.linalg.solve(a, b).tolist(), rel=1e-9)


def test_elimination_of_what_is_singular_at_present_has_no_number():
    k = ca.SX.sym("k")
    matrix = ca.vertcat(ca.horzcat(1, 1), ca.horzcat(1, k))
    at = ca.Function("at", [k], [Elimination(matrix, np.ones((2, 2))).solution(ca.SX([1.0, 2.0]))])
    assert not np.isfinite(at(1.0).full()).any()
    assert at(3.0).full()[:, 0] == pytest.approx(np.linalg.solve([[1, 1], [1, 3]], [1, 2]))
