"""Sampled blocks against scipy.signal's difference equations, and against sums by hand."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy import signal
from signal_support import at, polyline, response

from blocks import Model, quantity
from blocks.exceptions import ParameterError
from library.signal import (
    Constant,
    DiscreteIntegrator,
    DiscretePID,
    DiscreteStateSpace,
    DiscreteTransferFunction,
    Gain,
    Step,
    Subtract,
)

PERIOD, COUNT = 0.25, 24
K = np.arange(COUNT)
TIMES, VALUES = [0, 1.1, 2.3, 3.7, 5, 6], [0.5, 2, -1, 3, 0, 1]
SAMPLES = np.interp(PERIOD * K, TIMES, VALUES)
FORWARD, BACKWARD = ([PERIOD], [1, -1]), ([PERIOD, 0], [1, -1])
TRAPEZOIDAL = ([PERIOD / 2, PERIOD / 2], [1, -1])
RULES = {"forward": FORWARD, "backward": BACKWARD, "trapezoidal": TRAPEZOIDAL}


def sampled(block, unit="", ports=("u",), output="y"):
    """The outputs of a block just after its samples, and just before the next ones."""
    sources = [polyline(TIMES, VALUES, unit), polyline(TIMES, VALUES[::-1], unit)][: len(ports)]
    run = response(block, *sources, duration="6 s", ports=ports)
    after = at(run, PERIOD * K, f"block.{output}")
    assert_allclose(at(run, PERIOD * (K + 0.97), f"block.{output}"), after, atol=1e-14)
    return after


def filtered(numerator, denominator, samples=SAMPLES):
    """scipy's output of a fraction in z."""
    short = len(denominator) - len(numerator)
    return signal.lfilter([*[0] * short, *numerator], denominator, samples)


@pytest.mark.parametrize("method", RULES)
def test_an_integrator_sums_by_its_rule(method):
    block = DiscreteIntegrator(input="N", method=method, sample_time="250 ms", x="3 N*s")
    assert_allclose(sampled(block, "N"), 3 + filtered(*RULES[method]), atol=1e-12)


def test_a_limited_integrator_rests_at_its_limit_and_leaves_it_at_once():
    block = DiscreteIntegrator(sample_time="250 ms", limited=True, upper="0.8 s", lower="-0.1 s")
    x, exact = 0.0, []
    for u in SAMPLES:
        exact.append(x)
        x = min(max(x + PERIOD * u, -0.1), 0.8)
    found = sampled(block)
    assert_allclose(found, exact, atol=1e-12)
    assert found.max() == 0.8 and found[4:].min() < 0.8


@pytest.mark.parametrize(("numerator", "denominator"), [
    ([1], [1, 0.5]), ([2, -0.3, 0.1], [1, -0.9, 0.2]), ([3], [2]), ([1], [1, 0, 0, 0]),
    ([0.5, 1], [2, 1, 0.4, -0.1]),
])  # fmt: skip
def test_a_fraction_in_z_is_scipys_filter(numerator, denominator):
    block = DiscreteTransferFunction(numerator=numerator, denominator=denominator,
                                     sample_time="250 ms", input="N", output="V")
    assert_allclose(sampled(block, "N"), filtered(numerator, denominator), atol=1e-12)


A, B = np.array([[0.6, 0.2], [-0.3, 0.5]]), np.array([[1.0, 0.0], [0.4, -1.0]])
C, D = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, -1.0]]), np.array([[0.0, 1], [0.5, 0], [0, 0]])


@pytest.mark.parametrize("direct", [None, D])
def test_a_difference_equation_is_scipys(direct):
    given = {} if direct is None else {"D": direct}
    other = np.interp(PERIOD * K, TIMES, VALUES[::-1])
    system = (A, B, C, np.zeros_like(D) if direct is None else D, PERIOD)
    _, exact, _ = signal.dlsim(system, np.column_stack([SAMPLES, other]), x0=[0.5, -1])
    for k in range(3):
        block = DiscreteStateSpace(A=A, B=B, C=C, sample_time="250 ms", x1=0.5, x2=-1, **given)
        assert_allclose(sampled(block, ports=("u1", "u2"), output=f"y{k + 1}"), exact[:, k],
                        atol=1e-12)


@pytest.mark.parametrize("method", RULES)
def test_a_controller_is_the_sum_of_its_three_parts(method):
    p, i, d, t = 1.5, 0.8, 0.4, 0.3
    block = DiscretePID(proportional=p, integral=f"{i} 1/s", derivative=f"{d} s", method=method,
                        filter_time=f"{t} s", sample_time="250 ms")
    top, bottom = (np.array(c, dtype=float) for c in RULES[method])
    top = np.concatenate([np.zeros(2 - len(top)), top])
    exact = p * SAMPLES + i * filtered(top, bottom) + d * filtered(bottom, t * bottom + top)
    assert_allclose(sampled(block), exact, atol=1e-12)


@pytest.mark.parametrize("rule", [*RULES, "none"])
def test_the_filter_of_a_controller_may_follow_a_rule_of_its_own(rule):
    i, d, t = 0.8, 0.4, 0.3
    block = DiscretePID(proportional=0, integral=f"{i} 1/s", derivative=f"{d} s",
                        filter_method=rule, sample_time="250 ms",
                        **({} if rule == "none" else {"filter_time": f"{t} s"}))
    top, bottom = (np.array(c, dtype=float) for c in RULES.get(rule, ([1], [1])))
    top = np.concatenate([np.zeros(len(bottom) - len(top)), top])
    slope = np.diff(SAMPLES, prepend=0) / PERIOD if rule == "none" else \
        filtered(bottom, t * bottom + top)
    assert_allclose(sampled(block), i * filtered(*RULES["forward"]) + d * slope, atol=1e-12)


def wound(anti_windup, **options):
    """The output of a controller by sums of its own whose error is 1 for 4 s, then -1."""
    block = DiscretePID(proportional=0.5, integral="2 1/s", sample_time="250 ms", limited=True,
                        anti_windup=anti_windup, **options)
    model = wired("windup", "error.y block.u",
                  block=block, error=Step(initial=1, final=-1, start="4 s"))
    return at(model.simulate("9 s"), PERIOD * np.arange(36))


def test_without_anti_windup_the_output_stays_as_long_as_it_was_wound_up():
    x, exact = 0.0, []
    for k in range(36):
        u = 1 if k < 16 else -1
        exact.append(min(max(0.5 * u + x, -1), 1))
        x += 2 * PERIOD * u
    assert_allclose(wound("none"), exact, atol=1e-12)
    assert_allclose(exact[28], 1)


def test_clamping_and_back_calculation_let_go_at_once():
    for kind, options in (("clamping", {}), ("back-calculation", {"tracking_time": "0.25 s"})):
        found = wound(kind, **options)
        assert_allclose(found[3:16], 1) and found[16] < 0.6
        assert found[17] < found[16]


def test_a_sampled_loop_is_its_difference_equation():
    """Forward integrator in a loop: y_(k+1) = y_k + T g (1 - y_k)."""
    model = wired("loop", "target.y error.u1", "sum.y error.u2", "error.y gain.u", "gain.y sum.u",
                  target=Constant(value="1"), error=Subtract(), gain=Gain(gain="1.2 1/s"),
                  sum=DiscreteIntegrator(input="1/s", sample_time="0.5 s"))
    run = model.simulate("8 s")
    k = np.arange(16)
    assert_allclose(run["sum.y"].at(quantity(0.5 * k + 0.1, "s")).magnitude, 1 - 0.4**k, atol=1e-12)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: DiscreteTransferFunction(numerator=[1, 0, 0], denominator=[1, 1]),
     "the output would need samples to come"),
    (lambda: DiscreteStateSpace(B=[[1.0], [2.0]]), "B: is 2 by 1, but must be 1 by 1"),
])  # fmt: skip
def test_sizes_that_do_not_fit_are_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


def test_limits_and_filters_that_cannot_be_meant_are_told():
    model = Model("told")
    model.one = DiscreteIntegrator(limited=True, lower="2 s", upper="1 s")
    model.two = DiscretePID(limited=True, lower=2, upper=1)
    model.three = DiscreteTransferFunction(denominator=[0, 1])
    model.four = DiscretePID(derivative="1 s")
    report = str(model.check())
    assert report.count("is not below the upper limit") == 2
    assert "the first coefficient of the denominator is 0" in report
    assert "the derivative's filter grows without bound" in report
