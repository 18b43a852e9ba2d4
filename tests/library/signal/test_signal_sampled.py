"""Sampled blocks against scipy.signal and sums by hand; functions in Python as blocks."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy import signal
from signal_support import at, polyline, response

import library.signal as si
from blocks import Interrupted, ModelError, ParameterError, SimulationError, quantity

PERIOD, COUNT = 0.25, 24
K = np.arange(COUNT)
TIMES, VALUES = [0, 1.1, 2.3, 3.7, 5, 6], [0.5, 2, -1, 3, 0, 1]
SAMPLES = np.interp(PERIOD * K, TIMES, VALUES)
RULES = {"forward": ([PERIOD], [1, -1]), "backward": ([PERIOD, 0], [1, -1]),
         "trapezoidal": ([PERIOD / 2, PERIOD / 2], [1, -1])}


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
    block = si.DiscreteIntegrator(input="N", method=method, sample_time="250 ms", x="3 N*s")
    assert_allclose(sampled(block, "N"), 3 + filtered(*RULES[method]), atol=1e-12)


def test_a_limited_integrator_rests_at_its_limit_and_leaves_it_at_once():
    block = si.DiscreteIntegrator(sample_time="250 ms", limited=True, upper="0.8 s", lower="-0.1 s")
    x, exact = 0.0, []
    for u in SAMPLES:
        exact.append(x)
        x = min(max(x + PERIOD * u, -0.1), 0.8)
    found = sampled(block)
    assert_allclose(found, exact, atol=1e-12)
    assert found.max() == 0.8 and found[4:].min() < 0.8


@pytest.mark.parametrize(("numerator", "denominator"), [
    ([1], [1, 0.5]), ([2, -0.3, 0.1], [1, -0.9, 0.2]), ([3], [2]), ([1], [1, 0, 0, 0]),
    ([0.5, 1], [2, 1, 0.4, -0.1])])
def test_a_fraction_in_z_is_scipys_filter(numerator, denominator):
    block = si.DiscreteTransferFunction(numerator=numerator, denominator=denominator,
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
        block = si.DiscreteStateSpace(A=A, B=B, C=C, sample_time="250 ms", x1=0.5, x2=-1, **given)
        assert_allclose(sampled(block, ports=("u1", "u2"), output=f"y{k + 1}"), exact[:, k],
                        atol=1e-12)


@pytest.mark.parametrize("method", RULES)
def test_a_controller_is_the_sum_of_its_three_parts(method):
    p, i, d, t = 1.5, 0.8, 0.4, 0.3
    block = si.DiscretePID(proportional=p, integral=f"{i} 1/s", derivative=f"{d} s", method=method,
                           filter_time=f"{t} s", sample_time="250 ms")
    top, bottom = (np.array(c, dtype=float) for c in RULES[method])
    top = np.concatenate([np.zeros(2 - len(top)), top])
    exact = p * SAMPLES + i * filtered(top, bottom) + d * filtered(bottom, t * bottom + top)
    assert_allclose(sampled(block), exact, atol=1e-12)


@pytest.mark.parametrize("rule", [*RULES, "none"])
def test_the_filter_of_a_controller_may_follow_a_rule_of_its_own(rule):
    i, d, t = 0.8, 0.4, 0.3
    block = si.DiscretePID(proportional=0, integral=f"{i} 1/s", derivative=f"{d} s",
                           filter_method=rule, sample_time="250 ms",
                           **({} if rule == "none" else {"filter_time": f"{t} s"}))
    top, bottom = (np.array(c, dtype=float) for c in RULES.get(rule, ([1], [1])))
    top = np.concatenate([np.zeros(len(bottom) - len(top)), top])
    slope = np.diff(SAMPLES, prepend=0) / PERIOD if rule == "none" else \
        filtered(bottom, t * bottom + top)
    assert_allclose(sampled(block), i * filtered(*RULES["forward"]) + d * slope, atol=1e-12)


def wound(anti_windup, **options):
    """The output of a controller by sums of its own whose error is 1 for 4 s, then -1."""
    block = si.DiscretePID(proportional=0.5, integral="2 1/s", sample_time="250 ms", limited=True,
                           anti_windup=anti_windup, **options)
    model = wired("windup", "error.y block.u",
                  block=block, error=si.Step(initial=1, final=-1, start="4 s"))
    return at(model.simulate("9 s"), PERIOD * np.arange(36))


def test_clamping_and_back_calculation_let_go_at_once_and_nothing_else_does():
    x, exact = 0.0, []
    for k in range(36):
        u = 1 if k < 16 else -1
        exact.append(min(max(0.5 * u + x, -1), 1))
        x += 2 * PERIOD * u
    assert_allclose(wound("none"), exact, atol=1e-12)
    assert_allclose(exact[28], 1)
    for kind, options in (("clamping", {}), ("back-calculation", {"tracking_time": "0.25 s"})):
        found = wound(kind, **options)
        assert_allclose(found[3:16], 1)
        assert found[17] < found[16] < 0.6


def test_a_sampled_loop_is_its_difference_equation():
    """Forward integrator in a loop: y_(k+1) = y_k + T g (1 - y_k)."""
    model = wired("loop", "target.y error.u1", "sum.y error.u2", "error.y gain.u", "gain.y sum.u",
                  target=si.Constant(value="1"), error=si.Subtract(), gain=si.Gain(gain="1.2 1/s"),
                  sum=si.DiscreteIntegrator(input="1/s", sample_time="0.5 s"))
    run = model.simulate("8 s")
    k = np.arange(16)
    assert_allclose(run["sum.y"].at(quantity(0.5 * k + 0.1, "s")).magnitude, 1 - 0.4**k, atol=1e-12)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: si.DiscreteTransferFunction(numerator=[1, 0, 0], denominator=[1, 1]),
     "the output would need samples to come"),
    (lambda: si.DiscreteStateSpace(B=[[1.0], [2.0]]), "B: is 2 by 1, but must be 1 by 1")])
def test_sizes_that_do_not_fit_are_refused(make, said):
    with pytest.raises(ParameterError, match=said):
        make()


def test_limits_and_filters_that_cannot_be_meant_are_told():
    model = wired("told", one=si.DiscreteIntegrator(limited=True, lower="2 s", upper="1 s"),
                  two=si.DiscretePID(limited=True, lower=2, upper=1),
                  three=si.DiscreteTransferFunction(denominator=[0, 1]),
                  four=si.DiscretePID(derivative="1 s"))
    report = str(model.check())
    assert report.count("is not below the upper limit") == 2
    assert "the first coefficient of the denominator is 0" in report
    assert "the derivative's filter grows without bound" in report


# -- a function in Python acts as the sampled block of the same law, and may fail ------------------
def measured(function, **options):
    """A function whose input is 3 sin(2 t) m/s, in mm/s."""
    return wired("measured", "wave.y block.u1",
                 wave=si.Sine(amplitude="3 m/s", frequency=f"{1 / np.pi} Hz"),
                 block=si.PythonFunction(function=function, inputs="mm/s", **options))


def total(t, u, x):
    """Forward rule with T = 10 ms: gives the sum so far."""
    return x[0], [x[0] + 0.01 * u[0]]


def count(t, u, x):
    return x[0], x + 1


def test_units_go_in_and_out_and_the_last_value_holds():
    run = measured(lambda t, u: u[0] / 10 + t, outputs="cm/s", sample_time="0.25 s").simulate("1 s")
    at = np.array([0.1, 0.3, 0.6, 0.99])
    sample = np.floor(at / 0.25) * 0.25
    assert_allclose(run["block.y1"].at(quantity(at, "s")).to("cm/s").m,
                    300 * np.sin(2 * sample) + sample, rtol=1e-9)
    assert run["block.y1"].declared_unit.text == "cm/s"


def test_states_are_those_of_the_sampled_block_of_the_same_law():
    model = measured(total, outputs="mm", states=1, sample_time="10 ms")
    wire(model, "wave.y sum.u", sum=si.DiscreteIntegrator(input="mm/s", sample_time="10 ms"))
    run = model.simulate("2 s")
    at = quantity(np.linspace(0, 2, 77), "s")
    assert_allclose(run["block.y1"].at(at).to("mm").m, run["sum.y"].at(at).to("mm").m, rtol=1e-12)
    assert np.array_equal(model.simulate("2 s")["block.x1"].m, run["block.x1"].m)  # starts anew


def test_several_inputs_and_outputs_and_instances():
    model = wired("several", "one.y block.u1", "two.y block.u2",
                  one=si.Constant(value="2 N"), two=si.Constant(value="3 m"),
                  block=si.PythonFunction(function=lambda t, u: (u[0] * u[1], u[1] / 2),
                                          inputs="N, m", outputs="J, cm"))
    run = model.simulate("10 ms")
    assert run["block.y1"].final == quantity("6 J")
    assert run["block.y2"].final.to("cm").m == pytest.approx(1.5)


def test_the_function_is_asked_once_for_each_instant_where_nothing_acts_back():
    asked = []
    measured(lambda t, u: asked.append(t) or 0.0, sample_time="10 ms").simulate("0.995 s")
    assert_allclose(asked, 0.01 * np.arange(100), atol=1e-12)


def test_its_outputs_count_for_another_function_at_the_same_instant():
    model = measured(lambda t, u: 2 * u[0], outputs="mm/s", sample_time="10 ms")
    model.after = si.PythonFunction(function=lambda t, u: u[0] + t, inputs="mm/s", outputs="mm/s",
                                 sample_time="20 ms")  # fmt: skip
    model.connect(model.block.y1, model.after.u1)
    run = model.simulate("0.1 s")
    at = 0.02 * np.arange(5) + 0.005
    assert_allclose(run["after.y1"].at(quantity(at, "s")).m,
                    6000 * np.sin(2 * (at - 0.005)) + at - 0.005, rtol=1e-9, atol=1e-9)


def test_ctrl_c_in_the_function_ends_the_run():
    def pressed(t, u):
        if t > 0.5:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(Interrupted) as told:
        measured(pressed).simulate("10 s")
    run = told.value.result
    assert run.status == "interrupted"
    assert run.time[-1].m == pytest.approx(0.5, abs=0.002)


def test_states_start_where_they_are_told_to():
    model = measured(count, states=1, sample_time="0.1 s")
    assert model.simulate("0.45 s")["block.x1"].final.m == 5
    model.block.x1 = 7.0
    assert model.simulate("0.45 s")["block.x1"].final.m == 12


def test_states_go_back_with_the_run():
    run = measured(total, outputs="mm", states=1, sample_time="10 ms").stepper(outputs=["block.x1"])
    run.advance("55 ms")
    state = run.save_state()
    first = [run.step([], 0.013)[0] for _ in range(9)]
    run.restore(state)
    assert [run.step([], 0.013)[0] for _ in range(9)] == first
    assert len(set(first)) > 5


@pytest.mark.parametrize("function,states,said", [
    (lambda t, u: 1 / (t - 0.002), 0, r"block: at t = 0\.002 s its function failed with "
                                      r"ZeroDivisionError"),
    (lambda t, u: [1.0, 2.0], 0, r"its function gave 2 outputs instead of 1"),
    (lambda t, u, x: (1.0, [1.0]), 2, r"its function gave 1 states instead of 2"),
    (lambda t, u, x: 1.0, 1, r"gave 1\.0 instead of two things, outputs and states\. Let it end"),
    (lambda t, u: None, 0, "gave None, which is no number. Let it return numbers"),
    (lambda t, u: quantity("3 mm"), 0, "which is no number. Let it return numbers in the units"),
    (lambda t, u: 1j, 0, "gave 1j, which is no number"),
    (lambda t, u, x: (1.0, ["a"]), 1, "gave 'a', which is no number"),
    (lambda t, u: np.nan, 0, r"its function gave nan for held1")])
def test_a_function_that_fails_names_component_and_time(function, states, said):
    with pytest.raises(SimulationError, match=said):
        measured(function, states=states).simulate("1 s")
    with pytest.raises(ModelError, match="block.*has no function to call"):
        measured(None).simulate("1 s")
