"""Sources against closed forms, and linear dynamics against scipy.signal."""

import numpy as np
import pytest
from benches import few
from numpy.testing import assert_allclose
from scipy import signal as scipy_signal
from signal_support import at, output_of, polyline, response

import library.signal as si
from blocks import ParameterError, quantity

T = np.array([0.0, 0.3, 0.999, 1.0, 1.7, 2.5, 4.321, 9.87])


@pytest.mark.parametrize(("source", "exact"), [
    (si.Constant(value="5 kN"), lambda t: 5 + 0 * t),
    (si.Ramp(slope="2 mm/s", initial="5 mm", start="1 s"), lambda t: 5 + 2 * np.maximum(t - 1, 0)),
    (si.Sine(amplitude="2 N", bias="300 mN", frequency="0.7 Hz", phase="30 deg"),
     lambda t: 0.3 + 2 * np.sin(2 * np.pi * 0.7 * t + np.pi / 6)),
    (si.Chirp(amplitude="3 m", initial_frequency="0.2 Hz", final_frequency="2 Hz",
              sweep_time="5 s", phase="0.4 rad"),
     lambda t: 3 * scipy_signal.chirp(t, 0.2, 5.0, 2.0, phi=np.degrees(0.4))),
    (si.TimeFunction(unit="mm", value=lambda t: quantity("3 m/s^2") * t**2 / 2),
     lambda t: 1500 * t**2)], ids=["constant", "ramp", "sine", "chirp of scipy", "function"])
def test_a_source_follows_its_closed_form_in_the_unit_that_it_is_given(source, exact):
    assert_allclose(at(output_of(source), T), exact(T), rtol=1e-14, atol=1e-13)


def test_a_step_jumps_at_its_instant_and_not_before():
    result = output_of(si.Step(initial="-1 N", final="3 N", start="1.5 s"))
    assert at(result, [1.5], side="left") == -1.0
    assert at(result, [1.5]) == 3.0
    assert_allclose(at(result, [0, 1.4999999, 1.5000001, 9]), [-1, -1, 3, 3])


def test_a_pulse_train_rises_and_falls_at_its_edges():
    source = si.Pulse(amplitude="4 V", bias="1 V", period="0.8 s", width=0.25, start="0.1 s")
    result = output_of(source)
    for k in range(12):
        up, down = 0.1 + 0.8 * k, 0.3 + 0.8 * k
        assert_allclose(at(result, [up, down], side="left"), [1, 5])
        assert_allclose(at(result, [up + 1e-9, down + 1e-9]), [5, 1])
    assert at(result, [0.05]) == 1.0


@pytest.mark.parametrize("start", ["0 s", "0.4 s"])
def test_a_run_may_start_after_the_source_did(start):
    result = output_of(si.Pulse(period="1 s", width=0.3), duration="2 s", start_time=start)
    assert at(result, [float(start.split()[0])]) == (1.0 if start == "0 s" else 0.0)
    assert_allclose(at(result, [1.1, 1.29, 1.31, 1.9]), [1, 1, 0, 0])


# -- linear dynamics -------------------------------------------------------------------------------
KNOTS = ([0, 1, 2, 2.5, 6, 10], [0, 2, -1, -1, 3, 0])
GRID = np.linspace(0, 10, 20001)  # contains all knots; lsim is then exact
INPUT = np.interp(GRID, *KNOTS)
LOOK = np.arange(100, 20001, 500)
TOLERANCE = 2e-7  # a few hundred times rtol = 1e-9, in units of the largest value


def lsim(system, u=INPUT):
    return scipy_signal.lsim(system, u, GRID)[1]


@pytest.mark.parametrize(("numerator", "denominator"), [
    ([1], [1, 1]), ([3], [2, 0.5, 4]), ([2, 1], [1, 0.4, 2]), ([1, 0, 5], [1, 3, 7]),
    ([2], [4]), ([1, 2, 3], [2, 1, 4, 3, 1]), ([-2, 1], [0.5, 1])])
def test_a_transfer_function_answers_as_in_scipy(numerator, denominator):
    block = si.TransferFunction(numerator=numerator, denominator=denominator)
    result = response(block, polyline(*KNOTS))
    if len(denominator) == 1:
        exact = INPUT * numerator[0] / denominator[0]
    else:
        exact = lsim((numerator, denominator))
    assert_allclose(at(result, GRID[LOOK]), exact[LOOK], atol=TOLERANCE * np.max(np.abs(exact)))


def test_a_step_through_a_transfer_function_starts_at_the_step():
    block = si.TransferFunction(numerator=[2, 1], denominator=[1, 0.4, 2])
    result = response(block, si.Step(final="1", start="3 s"))
    t = np.linspace(0, 7, 71)
    _, exact = scipy_signal.step(([2, 1], [1, 0.4, 2]), T=t)
    assert_allclose(at(result, 3 + t[:-1]), exact[:-1], atol=3e-7)
    assert_allclose(at(result, [1, 2.9]), 0.0, atol=1e-15)


def test_a_transfer_function_relates_numbers_in_the_named_units():
    block = si.TransferFunction(numerator=[2], denominator=[1, 1], input="kN", output="mm")
    result = response(block, si.Constant(value="3 kN"), duration="40 s")
    assert_allclose(result["block.y"].final.to("mm").magnitude, 6.0, rtol=1e-8)


def test_a_state_space_with_two_inputs_and_outputs_answers_as_in_scipy():
    a, b = [[-0.5, 2.0], [-2.0, -0.1]], [[1.0, 0.0], [0.5, -1.0]]
    c, d = [[1.0, 0.0], [0.3, 2.0]], [[0.0, 0.4], [1.0, 0.0]]
    second = [0, 3, -2, 1, 0, 2]
    result = response(si.StateSpace(A=a, B=b, C=c, D=d), polyline(*KNOTS),
                      polyline(KNOTS[0], second), ports=("u1", "u2"))
    exact = lsim((a, b, c, d), np.stack([INPUT, np.interp(GRID, KNOTS[0], second)], axis=1))
    for k in (0, 1):
        assert_allclose(at(result, GRID[LOOK], f"block.y{k + 1}"), exact[LOOK, k],
                        atol=TOLERANCE * np.max(np.abs(exact)))


def test_a_state_space_without_direct_part_starts_where_it_is_told():
    block = si.StateSpace(A=[[0.0, 1.0], [-4.0, 0.0]], B=[[0.0], [1.0]], C=[[1.0, 0.0]], x1=3)
    result = response(block, si.Constant(value="0"), ports=("u1",))
    t = np.linspace(0.1, 9.9, 25)
    assert_allclose(at(result, t, "block.y1"), 3 * np.cos(2 * t), atol=1e-6)


def test_an_integrator_gives_the_integral_in_its_unit():
    block = si.Integrator(input="mm/s", x="5 mm")
    result = response(block, si.Sine(amplitude="2 mm/s", frequency="0.5 Hz"))
    t = np.linspace(0.1, 9.9, 25)
    assert_allclose(at(result, t, "block.y"), 5 + 2 / np.pi * (1 - np.cos(np.pi * t)), atol=1e-6)


@few(1, "method", ["DOP853", "Radau"])
def test_a_limited_integrator_stops_at_its_limits_and_never_winds_up(method):
    block = si.Integrator(limited=True, lower="-0.5 s", upper="0.5 s")
    source = si.Sine(amplitude="1", frequency=f"{1 / (2 * np.pi)!r} Hz", phase="90 deg")  # cos t
    result = response(block, source, duration="62.9 s", method=method)
    t = np.linspace(0.05, 6.45, 65)
    quarter = np.pi / 2
    exact = np.select([t < np.pi / 6, t < quarter, t < np.pi, t < 3 * quarter],
                      [np.sin(t), 0.5, np.sin(t) - 0.5, -0.5], np.minimum(np.sin(t) + 0.5, 0.5))
    assert_allclose(at(result, t), exact, atol=1e-7)
    assert_allclose(at(result, [62]), np.sin(62) + 0.5, atol=1e-6)
    assert len(result.events) <= 4 * 20  # two stops in every turn


def test_an_integrator_that_starts_at_its_limit_leaves_it_when_the_input_turns():
    block = si.Integrator(limited=True, upper="1 s", lower="0 s", x="1 s")
    result = response(block, polyline([0, 1, 3], [1, 1, -1]), duration="3 s")
    assert_allclose(at(result, [0.5, 1.9, 2.5, 2.9]), [1, 1, 1 - 0.125, 1 - 0.405], atol=1e-8)


@pytest.mark.parametrize(("when", "exact"), [  # from 1 s on, at s after the last rising edge
    ("rising", lambda t, s: s),
    ("falling", lambda t, s: np.where(t < 1.6, t - 0.25, (s - 0.6) % 2)),
    ("either", lambda t, s: s - 0.6 * (s > 0.6)), ("level", lambda t, s: np.maximum(s - 0.6, 0))],
    ids=["rising", "falling", "either", "level"])
def test_an_integrator_is_reset_by_every_edge_or_by_level(when, exact):
    """The reset is above its threshold from 1 s to 1.6 s, from 3 s to 3.6 s, and so on."""
    block = si.Integrator(external_reset=True, reset_on=when, reset_value="0.25 s")
    result = response(block, si.Constant(value="1"), si.Pulse(period="2 s", width=0.3, start="1 s"),
                      ports=("u", "reset"))
    t = np.array([0.5, 0.99, 1.01, 1.2, 1.59, 1.7, 2.4, 2.99, 3.2, 8.9, 9.5])
    assert_allclose(at(result, t), np.where(t < 1, t, 0.25 + exact(t, (t - 1) % 2)), atol=1e-9)


def test_an_integrator_starts_anew_from_what_a_signal_is():
    """From 2 + 3 t at the start and at 1 s, where the reset rises."""
    block = si.Integrator(external_reset=True, external_start=True)
    result = response(block, si.Constant(value="1"), si.Step(start="1 s"),
                      si.Ramp(initial="2 s", slope="3"), ports=("u", "reset", "start"),
                      duration="2 s")
    assert_allclose(at(result, [0.0, 0.9, 1.1, 1.9]), [2, 2.9, 5.1, 5.9], atol=1e-9)
    limited = si.Integrator(external_start=True, limited=True)
    with pytest.raises(ParameterError, match="neither with limits nor with a reset by level"):
        response(limited, si.Constant(value="1"), si.Constant(value="0 s"), ports=("u", "start"))


def test_a_reset_frees_a_limited_integrator():
    block = si.Integrator(limited=True, upper="1 s", lower="-1 s", external_reset=True)
    result = response(block, si.Constant(value="1"), si.Step(start="3 s", final="1"),
                      duration="5 s", ports=("u", "reset"))
    assert_allclose(at(result, [0.5, 2, 2.9, 3.5, 4.5]), [0.5, 1, 1, 0.5, 1], atol=1e-9)


def test_a_filtered_derivative_is_that_of_scipy():
    result = response(si.Derivative(input="m", filter_time="50 ms"), polyline(*KNOTS, "m"))
    exact = lsim(([1, 0], [0.05, 1]))
    assert str(result["block.y"].declared_unit) == "m/s"
    assert_allclose(at(result, GRID[LOOK]), exact[LOOK], atol=1e-6)


def test_differentiating_a_step_gives_a_pulse_of_its_height_in_area():
    result = response(si.Derivative(filter_time="0.1 s"),
                      si.Step(initial="1", final="3", start="1 s"))
    t = np.linspace(0, 0.6, 13)
    assert_allclose(at(result, 1 + t), 20 * np.exp(-t / 0.1), atol=2e-6)
    assert_allclose(at(result, [0, 0.5, 0.99]), 0.0, atol=1e-12)  # starts settled at u = 1


def test_a_pid_controller_answers_as_its_transfer_function():
    block = si.PID(input="m", proportional="3 N/m", integral="2 N/(m*s)", derivative="0.5 N*s/m",
                   filter_time="0.1 s")
    result = response(block, polyline(*KNOTS, "m"))
    # 3 + 2/s + 0.5 s/(0.1 s + 1) over the common denominator s (0.1 s + 1)
    exact = lsim(([3 * 0.1 + 0.5, 3 + 2 * 0.1, 2], [0.1, 1, 0]))
    assert result["block.y"].declared_unit.dimension == result["block.x"].declared_unit.dimension
    assert_allclose(result["block.y"].at("5 s").to("N").magnitude, exact[10000], rtol=1e-6)
    assert_allclose(at(result, GRID[LOOK]), exact[LOOK], atol=TOLERANCE * np.max(np.abs(exact)))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_pade_delay_has_gain_one_and_the_phase_of_its_fraction(order):
    delay, omega = 0.3, 2.0
    source = si.Sine(amplitude="1 N", frequency=f"{omega / (2 * np.pi)!r} Hz")
    result = response(si.PadeDelay(unit="N", order=order, delay=f"{delay} s"), source,
                      duration="20 s")
    t = np.linspace(15, 19.9, 30)
    p = 1j * omega * delay
    # diagonal Padé fractions of exp(p), from tables
    fraction = {1: (2 - p) / (2 + p), 2: (12 - 6 * p + p**2) / (12 + 6 * p + p**2),
                3: (120 - 60 * p + 12 * p**2 - p**3) / (120 + 60 * p + 12 * p**2 + p**3),
                4: (1680 - 840 * p + 180 * p**2 - 20 * p**3 + p**4)
                / (1680 + 840 * p + 180 * p**2 + 20 * p**3 + p**4)}[order]  # fmt: skip
    assert_allclose(at(result, t), np.imag(fraction * np.exp(1j * omega * t)), atol=1e-6)
    if order >= 2:
        assert_allclose(at(result, t), np.sin(omega * (t - delay)), atol=2e-4)
