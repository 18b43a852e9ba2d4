"""Blocks of several signals, and what harmonics a signal has."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from signal_support import at, polyline, response

from blocks import Model
from library.signal import (
    Constant,
    HarmonicEstimator,
    MultiportSwitch,
    PeriodicRMS,
    Product,
    Sine,
    Step,
    Sum,
    Terminator,
    VectorNorm,
)


def test_the_norm_of_a_vector_is_its_length():
    model = wired("norm", "pieces.y norm.u",
                  pieces=Constant(count=3, value=["2 N", "-3 N", "6 N"]), norm=VectorNorm(unit="N"))
    assert_allclose(model.simulate("1 s")["norm.y"].final.to("N").magnitude, 7)


def test_a_terminator_takes_a_signal_and_does_nothing():
    run = response(Terminator(unit="N"), polyline([0, 1], [0, 2], "N"), duration="1 s")
    assert_allclose(at(run, [0.5], "block.u"), 1)


def test_a_number_chooses_one_of_several_signals():
    block = MultiportSwitch(unit="N", inputs=3)
    values = [polyline([0, 10], [v, v], "N") for v in (5, 7, 9)]
    run = response(block, *values, polyline([0, 10], [0, 5]), ports=("u1", "u2", "u3", "control"))
    assert_allclose(at(run, [0.5, 2.9, 3.1, 4.9, 5.1, 9.9]), [5, 5, 7, 7, 9, 9])
    assert_allclose(at(run, [3, 5], side="left"), [5, 7])


@pytest.mark.parametrize(("harmonic", "amplitude", "phase"), [(1, 2.0, 0.7), (3, 0.5, -2.1)])
def test_harmonics_are_those_of_the_sines_in_a_signal(harmonic, amplitude, phase):
    model = wired("harmonics", "first.y sum.u1", "third.y sum.u2", "sum.y estimator.u",
                  first=Sine(amplitude="2 V", frequency="5 Hz", phase="0.7 rad", bias="3 V"),
                  third=Sine(amplitude="0.5 V", frequency="15 Hz", phase="-2.1 rad"),
                  sum=Sum(unit="V"),
                  estimator=HarmonicEstimator(unit="V", frequency="5 Hz", harmonic=harmonic))
    run = model.simulate("1 s", rtol=1e-10)
    times = [0.1, 0.3, 0.55, 0.9]
    found = [at(run, times, f"estimator.{name}")
             for name in ("amplitude", "phase", "real", "imaginary")]
    exact = [amplitude, phase, amplitude * np.cos(phase), amplitude * np.sin(phase)]
    for values, value in zip(found, exact, strict=True):
        assert_allclose(values, [0, value, value, value], atol=1e-7)


def test_harmonics_forget_what_was_large_before():
    model = wired("forgets", "wave.y product.u1", "factor.y product.u2", "product.y estimator.u",
                  wave=Sine(amplitude="1 V", frequency="5 Hz"),
                  factor=Step(initial=1e6, final=1.0, start="10 s"), product=Product(units="V, 1"),
                  estimator=HarmonicEstimator(unit="V", frequency="5 Hz"))
    for method in ("auto", "rodas4"):
        run = model.simulate("20 s", method=method)
        assert_allclose(at(run, [10.1, 10.5, 19.9], "estimator.amplitude"), [1e6, 1, 1], rtol=1e-4)


def test_what_is_smaller_than_the_least_amplitude_has_no_phase():
    block = HarmonicEstimator(frequency="1 Hz", harmonic=2, minimum_amplitude=0.1)
    run = response(block, Sine(amplitude=0.05, frequency="2 Hz", phase="1 rad"), duration="3 s")
    assert_allclose(at(run, [2.5], "block.amplitude"), 0.05, atol=1e-7)
    assert at(run, [2.5], "block.phase") == 0


@pytest.mark.parametrize("method", ["auto", "ode23s"])
def test_an_instant_that_only_rounding_puts_before_the_end_is_the_end(method):
    model = Model("rounded")
    model.wave, model.rms = Sine(frequency="7 Hz"), PeriodicRMS(frequency="60 Hz")  # 6/60 < 0.1
    model.connect(model.wave.y, model.rms.u)
    assert model.simulate("0.1 s", method=method).status == "finished"
