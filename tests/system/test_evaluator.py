"""CasADi functions that are called without allocations: what they are given, and how much of it."""

import casadi as ca
import numpy as np
import pytest

from blocks.system.evaluator import Evaluator

x, nothing, p = ca.SX.sym("x", 2), ca.SX.sym("nothing", 0), ca.SX.sym("p")
product = Evaluator(ca.Function("product", [x, nothing, p], [p * x]))


def test_arguments_without_numbers_are_passed_over():
    assert product([2.0, 3.0], np.zeros(0), 4.0).tolist() == [8.0, 12.0]
    assert product([5.0, -1.0], [], 2.0).tolist() == [10.0, -2.0]


@pytest.mark.parametrize("given", [([1.0, 2.0], []), ([1.0, 2.0], [], 1.0, 1.0)])
def test_an_argument_too_few_or_too_many_is_told(given):
    with pytest.raises(TypeError, match=f"product takes 3 arguments, but was given {len(given)}"):
        product(*given)
