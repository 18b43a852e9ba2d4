"""Functions and factors that a system is evaluated by: what they are given, and what they give."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks.language.lookup import Choice, lookup
from blocks.system.block_factors import BlockFactors, plan_of
from blocks.system.columnwise import EXACT, ROUNDED, Columnwise
from blocks.system.evaluator import MANY, Evaluator
from blocks.system.past import ENDS, Past
from blocks.system.problem import spectral_radius

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


#: Of two operands.
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


def test_a_call_of_another_function_is_left_to_casadi() -> None:
    x = ca.SX.sym("x")
    inner = ca.Function("inner", [x], [ca.sin(x)], {"never_inline": True})
    assert not Columnwise.fits(ca.Function("f", [x], [inner(x)]))


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


def test_factors_of_a_ladder_have_room_by_its_length():
    """Its fill grows with n, that of a full matrix with its square."""
    small, large = (int(plan_of(ladder(n)[0])[4]) for n in (1000, 4000))
    assert large < 6 * small < 1000 * 1000


# -- what signals were ------------------------------------------------------------------------
STEPS = 20_000


def test_room_for_many_steps_is_made_few_times_and_every_value_stays():
    line = Past(1, 2)
    line.begin(0.0, 0)
    places = set()
    for k in range(STEPS):
        line.extend(np.array([k + 1.0]), np.array([[[2.0 * k], [2.0 * k + 2.0]]]))
        line.make_room(1, 1)
        places.add(int(line.shown[ENDS]))
    one = np.array([0])
    t = np.array([[0.0, 0.5, 1.0, 777.25, STEPS - 0.5, STEPS]])
    assert len(places) <= np.log2(STEPS)
    np.testing.assert_allclose(line.signals(0, t, one, one), 2 * t, rtol=1e-14)


def test_times_beyond_a_piece_are_moved_to_its_ends():
    line = Past(1, 2)
    line.begin(1.0, 0)
    line.extend(np.array([2.0, 4.0]), np.array([[[1.0], [2.0]], [[2.0], [4.0]]]))
    line.begin(4.0, 0)
    line.extend(np.array([5.0]), np.array([[[-1.0], [-2.0]]]))
    one = np.array([0])
    assert line.signals(0, np.array([[0.0, 1.0, 2.0, 4.0, 9.0]]), one, one).tolist() == [
        [1.0, 1.0, 2.0, 4.0, 4.0]]
    assert line.signals(1, np.array([[0.0, 4.5, 9.0]]), one, one).tolist() == [[-1.0, -1.5, -2.0]]


# -- the fastest rate -------------------------------------------------------------------------
def rate_and_products(diagonal):
    products = []

    def product(v):
        products.append(1)
        return diagonal * v

    return spectral_radius(product, len(diagonal)), len(products)


def test_where_all_rates_are_alike_a_few_products_tell_them():
    rate, products = rate_and_products(np.full(1000, 7.0))
    assert rate == pytest.approx(7.0, rel=1e-12)
    assert products < 12


@pytest.mark.parametrize("faster", [2.0, 3.0, 1e6])
def test_one_faster_rate_among_a_hundred_thousand_is_not_missed(faster):
    diagonal = np.ones(100_000)
    diagonal[12_345] = faster
    assert rate_and_products(diagonal)[0] == pytest.approx(faster, rel=0.05)


def test_rates_that_turn_go_on_growing_unalike_and_are_told_by_their_mean():
    assert rate_and_products(np.array([2.0, -1.9, 0.1]))[0] == pytest.approx(2.0, rel=0.05)


def test_what_stands_still_has_no_rate_and_what_is_not_finite_no_bound():
    assert rate_and_products(np.zeros(3))[0] == 0
    assert rate_and_products(np.array([1.0, np.nan]))[0] == np.inf
