"""Arithmetic, truth and vectors of signals: values, instants, and the units that follow."""

import itertools

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from signal_support import at, polyline, response

import library.signal as si
from blocks import Model

T = np.linspace(0.03, 9.9, 40)
WAVE = 3 * np.sin(2 * np.pi * 0.31 * T + 0.2)


def wave(unit=""):
    return si.Sine(amplitude=f"3 {unit}", frequency="0.31 Hz", phase="0.2 rad")


@pytest.mark.parametrize(("block", "inputs", "value", "unit"), [
    (lambda: si.Gain(gain="2 kN/m", input="mm"), ["5 mm"], 10, "N"),
    (lambda: si.Sum(unit="N", signs="+-+"), ["7 N", "2 kN", "500 mN"], 7 - 2000 + 0.5, "N"),
    (lambda: si.Subtract(unit="m"), ["3 m", "5 m"], -2, "m"),
    (lambda: si.Product(units="N, m/s, 1"), ["2 kN", "3 m/s", "0.5"], 3000, "W"),
    (lambda: si.Divide(units="N, mm"), ["8 N", "2 mm"], 4000, "N/m"),
    (lambda: si.MathFunction(function="sqrt", unit="m^2"), ["9 m^2"], 3, "m"),
    (lambda: si.MathFunction(function="reciprocal", unit="ms"), ["4 ms"], 250, "Hz"),
    (lambda: si.Sign(), ["0"], 0, "")],
    ids=["gain", "sum", "difference", "product", "quotient", "root", "inverse", "sign of zero"])
def test_values_and_units_of_arithmetic(block, inputs, value, unit):
    ports = ("u",) if len(inputs) == 1 else [f"u{k}" for k in range(1, len(inputs) + 1)]
    result = response(block(), *(si.Constant(value=v) for v in inputs), ports=ports)
    assert_allclose(result["block.y"].final.to(unit).magnitude, value, rtol=1e-14)


@pytest.mark.parametrize(("name", "function"), [
    ("exp", np.exp), ("sin", np.sin), ("cos", np.cos), ("tan", np.tan), ("arctan", np.arctan),
    ("sinh", np.sinh), ("cosh", np.cosh), ("tanh", np.tanh), ("square", np.square),
    ("cube", lambda u: u**3)])
def test_a_function_of_a_number_is_that_of_numpy(name, function):
    result = response(si.MathFunction(function=name), wave())
    assert_allclose(at(result, T), function(WAVE), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("name", "function"), [
    ("log", np.log), ("log10", np.log10), ("sqrt", np.sqrt), ("reciprocal", np.reciprocal)])
def test_a_function_of_a_positive_number_is_that_of_numpy(name, function):
    source = si.Sine(amplitude="1", bias="2", frequency="0.3 Hz")
    exact = function(2 + np.sin(2 * np.pi * 0.3 * T))
    assert_allclose(at(response(si.MathFunction(function=name), source), T), exact, rtol=1e-12,
                    atol=1e-14)


@pytest.mark.parametrize(("block", "exact"), [
    (si.Abs(unit="N"), np.abs(WAVE)), (si.Sign(unit="N"), np.sign(WAVE)),
    (si.Saturation(lower="-1 N", upper="2 N"), np.clip(WAVE, -1, 2)),
    (si.DeadZone(lower="-0.5 N", upper="1 N"), WAVE - np.clip(WAVE, -0.5, 1))],
    ids=["absolute value", "sign", "limits", "dead zone"])
def test_a_wave_through_a_law_with_corners(block, exact):
    assert_allclose(at(response(block, wave("N")), T), exact, atol=1e-13)


def test_extremes_of_several_signals():
    frequencies = (0.3, 0.5, 0.8)
    values = [np.sin(2 * np.pi * f * T + f) for f in frequencies]
    for block, extreme in ((si.Minimum, np.min), (si.Maximum, np.max)):
        parts = [si.Sine(amplitude="1 N", frequency=f"{f} Hz",
                         phase=f"{f} rad") for f in frequencies]
        result = response(block(unit="N", inputs=3), *parts, ports=("u1", "u2", "u3"))
        assert_allclose(at(result, T), extreme(values, axis=0), atol=1e-13)


# -- truth tables, and the instants at which truth changes -----------------------------------------
@pytest.mark.parametrize("inputs", list(itertools.product((0, 1), repeat=3)))
def test_truth_tables(inputs):
    sources = [si.Constant(value=str(v)) for v in inputs]
    ports = ("u1", "u2", "u3")
    assert response(si.And(inputs=3), *sources, ports=ports)["block.y"].final == all(inputs)
    sources = [si.Constant(value=str(v)) for v in inputs]
    assert response(si.Or(inputs=3), *sources, ports=ports)["block.y"].final == any(inputs)
    assert response(si.Not(), si.Constant(value=str(inputs[0])))["block.y"].final == (not inputs[0])


@pytest.mark.parametrize(("relation", "equal"), [(">", 0), (">=", 1), ("<", 0), ("<=", 1)])
def test_comparisons_of_a_wave_with_a_level_and_at_equality(relation, equal):
    wave, level = si.Sine(amplitude="2 N", frequency="0.5 Hz"), si.Constant(value="1 N")
    result = response(si.Compare(relation=relation, unit="N"), wave, level, duration="2 s",
                      ports=("u1", "u2"))
    up, down = 1 / 6, 5 / 6  # 2 sin(pi t) = 1
    t = np.array([0.1, up - 1e-7, up + 1e-7, down - 1e-7, down + 1e-7, 1.5])
    greater = np.array([0, 0, 1, 1, 0, 0])
    assert_allclose(at(result, t), greater if ">" in relation else 1 - greater)
    same = response(si.Compare(relation=relation), si.Constant(value="2"), si.Constant(value="2"),
                    ports=("u1", "u2"))
    assert same["block.y"].final == equal


@pytest.mark.parametrize(("relation", "exact"), [
    (">", [0, 0, 0, 1]), (">=", [0, 0, 1, 1]), ("<", [1, 1, 0, 0]), ("<=", [1, 1, 1, 0])])
def test_a_count_that_becomes_equal_to_its_limit_is_seen(relation, exact):
    model = wired("model", "count.y compare.u1", "limit.y compare.u2", count=si.Counter(),
                  limit=si.Constant(value="2"), compare=si.Compare(relation=relation))
    assert_allclose(at(model.simulate("4 s"), [0.5, 1.5, 2.5, 3.5], "compare.y"), exact)


# -- blocks of several signals, and what harmonics a signal has ------------------------------------
def test_the_norm_of_a_vector_is_its_length():
    model = wired("norm", "pieces.y norm.u",
                  pieces=si.Constant(count=3, value=["2 N", "-3 N", "6 N"]),
                  norm=si.VectorNorm(unit="N"))
    assert_allclose(model.simulate("1 s")["norm.y"].final.to("N").magnitude, 7)


def test_a_terminator_takes_a_signal_and_does_nothing():
    run = response(si.Terminator(unit="N"), polyline([0, 1], [0, 2], "N"), duration="1 s")
    assert_allclose(at(run, [0.5], "block.u"), 1)


def test_a_number_chooses_one_of_several_signals():
    block = si.MultiportSwitch(unit="N", inputs=3)
    values = [polyline([0, 10], [v, v], "N") for v in (5, 7, 9)]
    run = response(block, *values, polyline([0, 10], [0, 5]), ports=("u1", "u2", "u3", "control"))
    assert_allclose(at(run, [0.5, 2.9, 3.1, 4.9, 5.1, 9.9]), [5, 5, 7, 7, 9, 9])
    assert_allclose(at(run, [3, 5], side="left"), [5, 7])


@pytest.mark.parametrize(("harmonic", "amplitude", "phase"), [(1, 2.0, 0.7), (3, 0.5, -2.1)])
def test_harmonics_are_those_of_the_sines_in_a_signal(harmonic, amplitude, phase):
    model = wired("harmonics", "first.y sum.u1", "third.y sum.u2", "sum.y estimator.u",
                  first=si.Sine(amplitude="2 V", frequency="5 Hz", phase="0.7 rad", bias="3 V"),
                  third=si.Sine(amplitude="0.5 V", frequency="15 Hz", phase="-2.1 rad"),
                  sum=si.Sum(unit="V"),
                  estimator=si.HarmonicEstimator(unit="V", frequency="5 Hz", harmonic=harmonic))
    run = model.simulate("1 s", rtol=1e-10)
    times = [0.1, 0.3, 0.55, 0.9]
    found = [at(run, times, f"estimator.{name}")
             for name in ("amplitude", "phase", "real", "imaginary")]
    exact = [amplitude, phase, amplitude * np.cos(phase), amplitude * np.sin(phase)]
    for values, value in zip(found, exact, strict=True):
        assert_allclose(values, [0, value, value, value], atol=1e-7)


def test_harmonics_forget_what_was_large_before():
    model = wired("forgets", "wave.y product.u1", "factor.y product.u2", "product.y estimator.u",
                  wave=si.Sine(amplitude="1 V", frequency="5 Hz"),
                  factor=si.Step(initial=1e6, final=1.0, start="10 s"),
                  product=si.Product(units="V, 1"),
                  estimator=si.HarmonicEstimator(unit="V", frequency="5 Hz"))
    for method in ("auto", "rodas4"):
        run = model.simulate("20 s", method=method)
        assert_allclose(at(run, [10.1, 10.5, 19.9], "estimator.amplitude"), [1e6, 1, 1], rtol=1e-4)


def test_what_is_smaller_than_the_least_amplitude_has_no_phase():
    block = si.HarmonicEstimator(frequency="1 Hz", harmonic=2, minimum_amplitude=0.1)
    run = response(block, si.Sine(amplitude=0.05, frequency="2 Hz", phase="1 rad"), duration="3 s")
    assert_allclose(at(run, [2.5], "block.amplitude"), 0.05, atol=1e-7)
    assert at(run, [2.5], "block.phase") == 0


@pytest.mark.parametrize("method", ["auto", "ode23s"])
def test_an_instant_that_only_rounding_puts_before_the_end_is_the_end(method):
    model = Model("rounded")
    model.wave, model.rms = si.Sine(frequency="7 Hz"), si.PeriodicRMS(
        frequency="60 Hz")  # 6/60 < 0.1
    model.connect(model.wave.y, model.rms.u)
    assert model.simulate("0.1 s", method=method).status == "finished"
