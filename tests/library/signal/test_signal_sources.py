"""Sources against their closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import signal as scipy_signal
from signal_support import at, output_of

from blocks import quantity
from library.signal import Chirp, Constant, Pulse, Ramp, Sine, Step, TimeFunction

T = np.array([0.0, 0.3, 0.999, 1.0, 1.7, 2.5, 4.321, 9.87])


def test_a_constant_has_the_value_and_unit_it_is_given():
    result = output_of(Constant(value="5 kN"))
    assert str(result["block.y"].declared_unit) == "kN"
    assert_allclose(at(result, T), 5.0, rtol=1e-15)
    assert_allclose(result["block.y"].to("N").magnitude, 5000.0, rtol=1e-15)


def test_a_step_jumps_at_its_instant_and_not_before():
    result = output_of(Step(initial="-1 N", final="3 N", start="1.5 s"))
    assert at(result, [1.5], side="left") == -1.0
    assert at(result, [1.5]) == 3.0
    assert_allclose(at(result, [0, 1.4999999, 1.5000001, 9]), [-1, -1, 3, 3])


def test_a_ramp_grows_from_its_start():
    result = output_of(Ramp(slope="2 mm/s", initial="5 mm", start="1 s"))
    assert str(result["block.y"].declared_unit) == "mm"
    assert_allclose(at(result, T), 5 + 2 * np.maximum(T - 1, 0), rtol=1e-14)


def test_a_sine_has_amplitude_bias_frequency_and_phase():
    source = Sine(amplitude="2 N", bias="300 mN", frequency="0.7 Hz", phase="30 deg")
    exact = 0.3 + 2 * np.sin(2 * np.pi * 0.7 * T + np.pi / 6)
    assert_allclose(at(output_of(source), T), exact, atol=1e-13)


def test_a_pulse_train_rises_and_falls_at_its_edges():
    source = Pulse(amplitude="4 V", bias="1 V", period="0.8 s", width=0.25, start="0.1 s")
    result = output_of(source)
    for k in range(12):
        up, down = 0.1 + 0.8 * k, 0.3 + 0.8 * k
        assert_allclose(at(result, [up, down], side="left"), [1, 5])
        assert_allclose(at(result, [up + 1e-9, down + 1e-9]), [5, 1])
    assert at(result, [0.05]) == 1.0


def test_a_chirp_is_that_of_scipy():
    result = output_of(Chirp(amplitude="3 m", initial_frequency="0.2 Hz", final_frequency="2 Hz",
                             sweep_time="5 s", phase="0.4 rad"))
    exact = 3 * scipy_signal.chirp(T, 0.2, 5.0, 2.0, phi=np.degrees(0.4))
    assert_allclose(at(result, T), exact, atol=1e-12)


def test_any_function_of_time_may_be_a_signal():
    source = TimeFunction(unit="mm", value=lambda t: quantity("3 m/s^2") * t**2 / 2)
    assert_allclose(at(output_of(source), T), 1500 * T**2, rtol=1e-13)


@pytest.mark.parametrize("start", ["0 s", "0.4 s"])
def test_a_run_may_start_after_the_source_did(start):
    result = output_of(Pulse(period="1 s", width=0.3), duration="2 s", start_time=start)
    assert at(result, [float(start.split()[0])]) == (1.0 if start == "0 s" else 0.0)
    assert_allclose(at(result, [1.1, 1.29, 1.31, 1.9]), [1, 1, 0, 0])
