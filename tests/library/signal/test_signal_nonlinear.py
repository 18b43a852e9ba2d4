"""Nonlinear blocks, against closed forms and simulations that need no events."""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.optimize import brentq
from signal_support import at, polyline, response

import library.signal as si
from blocks import Model

T = np.linspace(0.033, 9.87, 60)


def test_a_relay_switches_at_its_two_thresholds():
    block = si.Relay(switch_on="1 m", switch_off="-0.5 m", on_value="7 N", off_value="-2 N")
    result = response(block, si.Sine(amplitude="2 m", frequency="0.5 Hz"))
    on = np.arcsin(0.5) / np.pi + 2 * np.arange(5)  # 2 sin(pi t) = 1 on the way up
    off = (np.pi + np.arcsin(0.25)) / np.pi + 2 * np.arange(5)  # = -0.5 on the way down
    moments = np.unique([e.time for e in result.events])
    switched = moments[at(result, moments, side="left") != at(result, moments)]
    assert_allclose(switched, np.sort(np.concatenate([on, off])), atol=1e-9)
    assert_allclose(at(result, on + 1e-6), 7.0)
    assert_allclose(at(result, off + 1e-6), -2.0)
    assert_allclose(at(result, [0.0]), -2.0)


def test_a_relay_starts_as_its_input_says_and_switches_with_a_jump():
    for value, state in (("2", 1), ("0", 0)):
        assert_allclose(at(response(si.Relay(), si.Constant(value=value)), [0.0, 5.0]), state)
    result = response(si.Relay(), si.Pulse(amplitude="2", bias="-1", period="2 s", start="1 s"))
    assert_allclose(at(result, [0.5, 1.5, 2.5, 3.5]), [0, 1, 0, 1])


@pytest.mark.parametrize("start", [None, 0.3, -2, 7])
def test_backlash_is_the_play_operator(start):
    """The play operator on a fine grid: clip the last output to the input plus minus half."""
    knots, values = [0, 1, 2, 3, 5, 6, 8, 10], [0, 2, 0.5, 1.8, -3, -2.5, 1, -1]
    given = {} if start is None else {"given_start": True, "initial_output": f"{start} mm"}
    result = response(si.Backlash(width="1 mm", **given), polyline(knots, values, "mm"))
    grid = np.linspace(0, 10, 20001)
    u = np.interp(grid, knots, values)
    exact = np.empty_like(u)
    exact[0] = np.clip(start or 0.0, -0.5, 0.5)
    for k in range(1, len(u)):
        exact[k] = np.clip(exact[k - 1], u[k] - 0.5, u[k] + 0.5)
    look = np.arange(50, 20001, 333)
    assert_allclose(at(result, grid[look]), exact[look], atol=1e-9)


@few(2, "method", ["dopri5", "rodas4", "RK45"])
def test_backlash_on_an_input_that_jumps_is_the_play_operator(method):
    """Jumps from rest, onwards, back within the play and through it, with a slope behind them."""
    times = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9]
    levels = [0, 2, -3, -2, -4, -4.2, 0.5, 1, 3, 3.5, 3.2, 2.9, 2.95, 3.3, -1, -1, 5]
    model = wired("model", "source.y block.u", "block.y area.u",
                  source=polyline(times, levels), block=si.Backlash(), area=si.Integrator())
    result = model.simulate("9 s", method=method, rtol=1e-9)
    grid, u = (np.concatenate([np.linspace(*ends, 1001) for ends in zip(of, of[1:], strict=False)])
               for of in (times, levels))  # both sides of each jump are among them
    exact = np.zeros_like(u)
    for k in range(1, len(u)):
        exact[k] = np.clip(exact[k - 1], u[k] - 0.5, u[k] + 0.5)
    look = np.flatnonzero(np.diff(grid) > 0)[50::77]
    assert_allclose(at(result, grid[look]), exact[look], atol=1e-8)
    assert_allclose(at(result, [9.0], "area.y"), np.trapezoid(exact, grid), atol=1e-5)


def test_a_rate_limiter_climbs_and_then_approaches_exponentially():
    """From 1 to 4 at 2 per second until 0.2 is left, which is 2 per second times 0.1 s."""
    limiter = si.RateLimiter(rising="2 1/s", falling="-2 1/s", time_constant="0.1 s")
    result = response(limiter, si.Step(initial=1, final=4, start="1 s"))
    t = np.array([0.5, 1.7, 2.4, 2.5, 3.0])
    exact = np.where(t < 2.4, 1 + 2 * np.maximum(t - 1, 0), 4 - 0.2 * np.exp(-(t - 2.4) / 0.1))
    assert_allclose(at(result, t), exact, rtol=1e-6)


@pytest.mark.parametrize(("function", "reference"), [
    ("floor", np.floor), ("ceil", np.ceil), ("fix", np.fix),
    ("round", lambda u: np.floor(u + 0.5))])
def test_rounding_is_that_of_numpy_also_beyond_a_jump(function, reference):
    source = si.Sine(amplitude="3.3 V", bias="0.2 V", frequency="0.23 Hz")
    result = response(si.Rounding(function=function, step="0.5 V"), source)
    u = 0.2 + 3.3 * np.sin(2 * np.pi * 0.23 * T)
    assert_allclose(at(result, T), 0.5 * reference(u / 0.5), atol=1e-12)
    result = response(si.Rounding(function=function), si.Step(initial="0.2", final="-5.7",
                                                              start="1 s"))
    assert_allclose(at(result, [0.5, 1.5]), reference([0.2, -5.7] * np.ones(2)))


def test_a_switch_takes_the_first_input_from_the_threshold_on():
    result = response(
        si.Switch(unit="N", threshold="1 s"), si.Constant(value="5 N"), si.Constant(value="-3 N"),
        polyline([0, 10], [0, 10], "s"), ports=("u1", "u2", "control"))
    assert_allclose(at(result, [0.999, 1.001]), [-3, 5])
    (event,) = [e for e in result.events if e.component == "block"]
    assert_allclose(event.time, 1.0, atol=1e-9)


def _regulated_integrator(p, i, tracking, setpoint, times):
    """Integrator under a limited PI controller, solved region by region with expm.

    States (plant y, integral x); v = p (r - y) + x, output clipped to [-1, 1].
    """
    def region(mode):
        v_row, v_const = np.array([-p, 1.0]), p * setpoint
        if mode == 0:
            a = np.array([v_row, [-i, 0.0]])
            b = np.array([v_const, i * setpoint])
        else:
            a = np.array([[0.0, 0.0], [-i, 0.0] - v_row / tracking])
            b = np.array([mode, i * setpoint + (mode - v_const) / tracking])
        full = np.zeros((3, 3))
        full[:2, :2], full[:2, 2] = a, b
        return full

    def v_of(z):
        return p * (setpoint - z[0]) + z[1]

    def mode_of(v):
        return 0 if abs(v) < 1 else int(np.sign(v))

    z, t, out = np.array([0.0, 0.0, 1.0]), 0.0, []
    mode, end = mode_of(v_of(z)), times[-1]
    pieces = []
    while t < end:
        a = region(mode)

        def margin(state, mode=mode):
            return 1 - abs(v_of(state)) if mode == 0 else mode * v_of(state) - 1

        h = (end - t) / 800
        stride, state, k = expm(a * h), expm(a * h) @ z, 1
        while k < 800 and margin(stride @ state) >= 0:
            state, k = stride @ state, k + 1
        if k == 800:
            pieces.append((t, end, a, z))
            break
        s = brentq(lambda s, a=a, z=z: margin(expm(a * s) @ z), k * h, (k + 1) * h, xtol=1e-15)
        pieces.append((t, t + s, a, z))
        z, t = expm(a * s) @ z, t + s
        mode = 0 if mode else int(np.sign(v_of(z)))
    for time in times:
        start, _, a, z = next(q for q in pieces if time <= q[1])
        out.append((expm(a * (time - start)) @ z)[0])
    return np.array(out)


@pytest.mark.parametrize("tracking", [0.4, 1e9])
def test_a_limited_pi_controller_matches_the_event_exact_solution(tracking):
    p, i, setpoint = 2.0, 1.5, 4.0
    model = Model()
    wire(model, "setpoint.y error.u1", "plant.y error.u2", "error.y pi.u", "pi.y plant.u",
         setpoint=si.Constant(value=f"{setpoint} m"), error=si.Subtract(unit="m"),
         pi=si.PID(input="m", proportional=f"{p} 1/s", integral=f"{i} 1/s^2", limited=True,
                   lower="-1 m/s", upper="1 m/s", tracking_time=f"{tracking} s"),
         plant=si.Integrator(input="m/s"))
    result = model.simulate("20 s", rtol=1e-10)
    times = np.linspace(0.5, 20, 40)
    exact = _regulated_integrator(p, i, tracking, setpoint, times)
    assert_allclose(at(result, times, "plant.y"), exact, atol=2e-7)
    overshoot = np.max(exact) - setpoint
    assert overshoot < 0.3 if tracking == 0.4 else overshoot > 2  # wind-up is what it prevents


def test_a_clamped_integral_comes_to_rest_at_a_limit_and_returns_at_once():
    """Beyond the limit x' = i u - (v - 1) / T: it rests at v = 1 + T i u, and leaves with u < 0."""
    p, i, u, wait, change = 0.25, 0.5, 3.0, 0.1, 2.0
    block = si.PID(proportional=p, integral=f"{i} 1/s", limited=True, anti_windup="clamping",
                   tracking_time=f"{wait} s")
    result = response(block, si.Step(initial=u, final=-u, start=f"{change} s"), duration="2.4 s",
                      rtol=1e-10)
    times = np.linspace(0.05, 2.4, 48)
    begin, limit = (1 - p * u) / (i * u), 1 - p * u
    resting = limit + wait * i * u * (1 - np.exp(-(np.minimum(times, change) - begin) / wait))
    exact = np.where(times < begin, i * u * times, resting) - i * u * np.maximum(times - change, 0)
    assert_allclose(at(result, times, "block.x"), exact, atol=1e-8)
    assert_allclose(at(result, times), np.minimum(np.where(times < change, p, -p) * u + exact, 1),
                    atol=1e-8)


def test_without_anti_windup_the_integral_grows_with_the_error_alone():
    block = si.PID(integral="2 1/s", limited=True, upper="1", lower="-1", anti_windup=False)
    result = response(block, si.Constant(value="3"), duration="5 s")
    assert_allclose(at(result, [5.0], "block.x"), 30.0, rtol=1e-9)
    assert_allclose(at(result, [5.0]), 1.0)
