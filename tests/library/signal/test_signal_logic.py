"""Truth tables, and the instants at which truth changes."""

import itertools

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose
from signal_support import at, response

from blocks import Model
from library.signal import And, Compare, Constant, Counter, Not, Or, Sine


@pytest.mark.parametrize("inputs", list(itertools.product((0, 1), repeat=3)))
def test_truth_tables(inputs):
    sources = [Constant(value=str(v)) for v in inputs]
    ports = ("u1", "u2", "u3")
    assert response(And(inputs=3), *sources, ports=ports)["block.y"].final == all(inputs)
    sources = [Constant(value=str(v)) for v in inputs]
    assert response(Or(inputs=3), *sources, ports=ports)["block.y"].final == any(inputs)
    assert response(Not(), Constant(value=str(inputs[0])))["block.y"].final == (not inputs[0])


@pytest.mark.parametrize(("relation", "equal"), [(">", 0), (">=", 1), ("<", 0), ("<=", 1)])
def test_comparisons_of_a_wave_with_a_level_and_at_equality(relation, equal):
    wave, level = Sine(amplitude="2 N", frequency="0.5 Hz"), Constant(value="1 N")
    result = response(Compare(relation=relation, unit="N"), wave, level, duration="2 s",
                      ports=("u1", "u2"))
    up, down = 1 / 6, 5 / 6  # 2 sin(pi t) = 1
    t = np.array([0.1, up - 1e-7, up + 1e-7, down - 1e-7, down + 1e-7, 1.5])
    greater = np.array([0, 0, 1, 1, 0, 0])
    assert_allclose(at(result, t), greater if ">" in relation else 1 - greater)
    same = response(Compare(relation=relation), Constant(value="2"), Constant(value="2"),
                    ports=("u1", "u2"))
    assert same["block.y"].final == equal


@pytest.mark.parametrize(("relation", "exact"), [
    (">", [0, 0, 0, 1]), (">=", [0, 0, 1, 1]), ("<", [1, 1, 0, 0]), ("<=", [1, 1, 1, 0]),
])  # fmt: skip
def test_a_count_that_becomes_equal_to_its_limit_is_seen(relation, exact):
    model = Model()
    wire(model, "count.y compare.u1", "limit.y compare.u2",
         count=Counter(), limit=Constant(value="2"), compare=Compare(relation=relation))
    result = model.simulate("4 s")
    assert_allclose(at(result, [0.5, 1.5, 2.5, 3.5], "compare.y"), exact)
