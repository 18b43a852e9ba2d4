"""Bounds of expressions, and the pieces of time that follow from them."""

import casadi as ca
import numpy as np
import pytest
from benches import wired
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks import exp, quantity, sin, where
from blocks.numerics.intervals import enclosed, enclosure
from blocks.system.time_functions import TimeFunctions
from library.translational import ForceSource, Mass, Reference, table

UNARY = [ca.sin, ca.cos, ca.tan, ca.exp, ca.log, ca.sqrt, ca.fabs, ca.floor, ca.ceil, ca.sign,
         ca.asin, ca.acos, ca.atan, ca.sinh, ca.cosh, ca.tanh, ca.asinh, ca.acosh, ca.atanh,
         ca.log1p, ca.expm1, ca.logic_not, lambda a: -a, lambda a: a * a, lambda a: 1 / a,
         lambda a: 2 * a, lambda a: a**3, lambda a: a**2.5, lambda a: a**-2]  # fmt: skip
BINARY = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, ca.fmin,
          ca.fmax, lambda a, b: a < b, lambda a, b: a <= b, ca.logic_and, ca.logic_or,
          lambda a, b: ca.if_else(a > 0, b, 0), ca.fmod, lambda a, b: a == b]  # fmt: skip

ends = st.floats(-5, 5)


def assert_encloses(function, *intervals):
    grid = np.meshgrid(*(np.linspace(*sorted(i), 41) for i in intervals))
    with np.errstate(all="ignore"):
        values = np.array(function(*(g.reshape(1, -1) for g in grid))).ravel()
        low, high = enclosed(function, [np.array([sorted(i)]).T for i in intervals])
    values = values[np.isfinite(values)]
    if len(values):
        size = 1e-9 * (1 + np.abs(values).max())
        assert low[0] - size <= values.min()
        assert values.max() <= high[0] + size


@pytest.mark.parametrize("operation", range(len(UNARY)))
@settings(max_examples=30, deadline=None)
@given(a=ends, b=ends)
def test_bounds_hold_every_value_of_one_argument(operation, a, b):
    x = ca.SX.sym("x")
    assert_encloses(ca.Function("f", [x], [UNARY[operation](x)]), (a, b))


@pytest.mark.parametrize("operation", range(len(BINARY)))
@settings(max_examples=30, deadline=None)
@given(a=ends, b=ends, c=ends, d=ends)
def test_bounds_hold_every_value_of_two_arguments(operation, a, b, c, d):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    assert_encloses(ca.Function("f", [x, y], [BINARY[operation](x, y)]), (a, b), (c, d))


def pieces(load, end):
    model = wired("pieces", "body.M load.R", "floor.V load.C",
                  body=Mass(), floor=Reference(), load=ForceSource(force=load))
    system = model.compile()
    return TimeFunctions(system, system.parameters(), 0.0, end, np.zeros(0))


def newtons(value):
    return quantity(value, "N")


def seconds(value):
    return quantity(value, "s")


def test_what_is_linear_in_time_needs_no_division():
    assert not len(pieces(newtons(3.0), 10.0).pieces)
    assert not len(pieces(lambda t: newtons(2.0) * t / seconds(3.0) - newtons(1.0), 10.0).pieces)
    assert not len(pieces(table([seconds(0), seconds(4)], [newtons(1), newtons(3)]), 10.0).pieces)
    assert pieces(newtons(3.0), 10.0).limit(2.0) == np.inf


@pytest.mark.parametrize("periods", [1, 30, 1000])
def test_a_period_of_a_sine_has_some_ten_to_thirty_pieces(periods):
    found = pieces(lambda t: newtons(1.0) * sin(2 * np.pi * t / seconds(1.0)), float(periods))
    assert 8 * periods <= len(found.pieces) <= 32 * periods
    assert found.pieces[0] == 0
    assert found.pieces[-1] == periods


def test_a_very_long_run_is_divided_part_by_part():
    found = pieces(lambda t: newtons(1.0) * sin(2 * np.pi * t / seconds(1.0)), 3e6)
    for _ in range(3):
        t = found.end
        assert 1000 < t < 3e6
        assert t < found.limit(t) < t + 2
        assert found.end > t


def test_no_part_of_a_long_run_is_tried_as_long_as_the_one_that_was_too_long(monkeypatch):
    divided, tried = TimeFunctions._divide, []
    monkeypatch.setattr(TimeFunctions, "_divide", lambda *given: (
        tried.append(divided(*given)), tried[-1])[1])
    found = pieces(lambda t: newtons(1.0) * sin(2 * np.pi * t / seconds(1.0)), 3e4)
    tried.clear()
    borders = np.concatenate([part[:-1] for part in _parts(found)])
    assert borders[0] == 0
    assert np.diff(borders).min() > 1 / 32
    assert np.diff(borders).max() <= 1 / 3  # about a crest: cos(60 deg) is a quarter of 2 below it
    assert len(tried) >= 7  # of 3,750 periods each, after the first
    assert sum(part is None for part in tried) <= 1


def _parts(found):
    """The pieces of a run, part by part."""
    while True:
        yield found.pieces
        if found.end == np.inf:
            return
        found.around(found.end)


def test_a_product_with_what_is_known_has_two_corners():
    factor, ends = np.array([-2.0]), (np.array([-1.0, 0.0]), np.array([3.0, np.inf]))
    low, high = enclosure(ca.OP_MUL, (factor, factor), ends)
    np.testing.assert_array_equal([low, high], [[-6.0, -np.inf], [2.0, 0.0]])
    nothing = np.array([0.0])  # times what has no bound may be anything
    low, high = enclosure(ca.OP_MUL, ends, (nothing, nothing))
    np.testing.assert_array_equal([low, high], [[0.0, -np.inf], [0.0, np.inf]])
    low, high = enclosure(ca.OP_DIV, ends, (factor, factor))
    np.testing.assert_array_equal([low, high], [[-1.5, -np.inf], [0.5, 0.0]])


def test_pieces_are_as_short_as_a_burst_where_it_is_and_long_elsewhere():
    found = pieces(lambda t: newtons(1.0) * exp(-(((t - seconds(4.0)) / seconds(1e-4)) ** 2)), 10.0)
    lengths, middles = np.diff(found.pieces), (found.pieces[1:] + found.pieces[:-1]) / 2
    assert lengths[np.abs(middles - 4) < 2e-4].max() < 1e-4
    assert lengths.max() > 0.3
    assert len(found.pieces) < 200


def test_the_branches_of_a_condition_are_looked_at_too():
    found = pieces(lambda t: where(t > seconds(5.0), newtons(1.0) * sin(t * quantity("9 rad/s")),
                                   newtons(0.0)), 10.0)  # fmt: skip
    assert np.diff(found.pieces).max() < 2 * np.pi / 9


def test_terms_that_cancel_do_not_ask_for_endless_division():
    def load(t):
        push = newtons(1.0) * (t / seconds(1.0)) ** 2
        return push * push / push - (push + newtons(1.0)) + newtons(1.0)

    assert len(pieces(load, 10.0).pieces) < 20_000


def test_beside_a_condition_that_no_division_decides_all_else_is_divided():
    """t (1 - t) - (t - t^2) is zero, but its bounds are around zero in pieces however short."""
    def load(t):
        a = t * quantity("1 N/s")
        cancelled = a * (1 - t / quantity("1 s")) - (a - a * t / quantity("1 s"))
        return where(cancelled > quantity("0 N"), 1.0, 2.0, events=False) * quantity("1 N")

    found = pieces(load, 1.0)
    assert 16 < len(found.pieces) < 1500
    assert found.end == np.inf
