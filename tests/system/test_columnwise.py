"""Functions at many points: the numbers are those of one point after the other, to the last bit."""

import casadi as ca
import numpy as np

from blocks.language.lookup import Choice, lookup
from blocks.system.columnwise import EXACT, ROUNDED, Columnwise
from blocks.system.evaluator import MANY, Evaluator

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
    rng = np.random.default_rng(7)
    x = np.concatenate([np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1),
                        rng.normal(size=(2, 5 * MANY))], axis=1)
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
