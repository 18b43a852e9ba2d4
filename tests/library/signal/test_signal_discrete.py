"""Sampled blocks: when they sample, what they read, and that they repeat."""

import re

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from signal_support import at, output_of, polyline, response

import blocks
import library.signal as si
from blocks import Component, Discrete, Model, Option, Output, Parameter, Variable, der, quantity
from blocks.exceptions import BlocksError, SimulationError

T = np.linspace(0.017, 9.93, 57)


def wave(t):
    return 2 * np.sin(2 * np.pi * 0.31 * t + 0.4)


def source():
    return si.Sine(amplitude="2 N", frequency="0.31 Hz", phase="0.4 rad")


@pytest.mark.parametrize(("block", "exact"), [
    (si.ZeroOrderHold(unit="N", sample_time="0.3 s"), lambda t: wave(0.3 * np.floor(t / 0.3))),
    (si.ZeroOrderHold(unit="N", sample_time="1 s", offset="0.4 s", held="9 N"),
     lambda t: np.where(t < 0.4, 9, wave(np.floor(t - 0.4) + 0.4))),
    (si.UnitDelay(unit="N", sample_time="0.3 s", stored="5 N"),
     lambda t: np.where(t < 0.3, 5, wave(0.3 * (np.floor(t / 0.3) - 1))))],
    ids=["last sample", "start before the first one", "sample before"])
def test_a_hold_and_a_delay_keep_samples(block, exact):
    t = np.append(0.0, T)
    assert_allclose(at(response(block, source()), t), exact(t), atol=1e-13)


def chain(*parts, duration="3 s", source=None):
    model = wired("model", source=source or si.Sine(frequency="0.31 Hz", phase="0.4 rad"))
    for k, block in enumerate(parts, 1):
        wire(model, f"{f'block{k - 1}' if k > 1 else 'source'}.y block{k}.u",
             **{f"block{k}": block})
    return model.simulate(duration, rtol=1e-9)


def test_holds_of_one_rate_in_series_add_no_delay_and_unit_delays_their_number():
    result = chain(*(si.ZeroOrderHold(sample_time="0.1 s") for _ in range(4)))
    t = np.array([0.05, 0.1, 0.15, 2.71])
    assert_allclose(at(result, t, "block4.y"), at(result, t, "block1.y"), rtol=1e-15)
    assert_allclose(at(result, [0.15], "block4.y"), wave(0.1) / 2, atol=1e-14)
    hold, t = si.ZeroOrderHold(sample_time="0.1 s"), np.array([0.55, 1.25, 2.95])
    result = chain(hold, *(si.UnitDelay(sample_time="0.1 s") for _ in range(3)))
    assert_allclose(at(result, t, "block4.y"), wave(np.floor(t / 0.1 + 1e-9) * 0.1 - 0.3) / 2,
                    atol=1e-13)


def test_a_delay_reads_what_a_hold_of_the_same_instant_has_just_taken():
    """The order in which the two are written must not matter."""
    for flipped in (False, True):
        model = Model()
        parts = {"hold": si.ZeroOrderHold(sample_time="1 s"),
                 "delay": si.UnitDelay(sample_time="1 s")}
        for name in sorted(parts, reverse=flipped):
            model.add(name, parts[name])
        wire(model, "one.y ramp.u", "ramp.y scale.u", "scale.y source.u", "source.y hold.u",
             "hold.y delay.u", source=si.Gain(gain="1"), ramp=si.Integrator(),
             one=si.Constant(value="1"), scale=si.Gain(gain="1 1/s", input="s"))
        result = model.simulate("5 s", rtol=1e-9)
        assert_allclose(at(result, [0.5, 1.5, 2.5, 3.5], "delay.y"), [0, 0, 1, 2], atol=1e-8)


def test_a_feedback_through_a_unit_delay_is_a_geometric_sequence():
    model = wired("model", "delay.y factor.u", "factor.y delay.u",
                  delay=si.UnitDelay(sample_time="0.1 s", stored="1"), factor=si.Gain(gain="-0.8"))
    result = model.simulate("3 s")
    k = np.arange(30)
    assert_allclose(at(result, 0.1 * k + 0.05, "delay.y"), (-0.8) ** k, rtol=1e-12)


def test_a_feedback_through_holds_alone_is_refused_by_name():
    model = wired("model", "one.y sum.u1", "hold.y sum.u2", "sum.y hold.u",
                  hold=si.ZeroOrderHold(), sum=si.Sum(), one=si.Constant(value="1"))
    with pytest.raises(SimulationError, match="hold") as caught:
        model.simulate("3 s")
    assert "contradict" in str(caught.value)


def test_sampling_instants_do_not_drift_over_many_periods():
    result = output_of(si.Counter(sample_time="0.1 s", limit=100000), duration="300 s")
    k = np.array([1, 17, 1000, 2999])
    assert_allclose(at(result, 0.1 * k - 1e-9), k - 1)
    assert_allclose(at(result, 0.1 * k + 1e-9), k)


@pytest.mark.parametrize(("method", "options"), [
    ("BDF", {}), ("rodas4", {}), ("DOP853", {}), ("Radau", {}), ("ode23s", {}),
    ("rk4", {"step": "30 ms"}), ("trapezoidal", {"step": "10 ms"})])
def test_every_method_steps_onto_the_samples(method, options):
    model = wired("model", "source.y hold.u", "hold.y sum.u",
                  hold=si.ZeroOrderHold(sample_time="0.25 s"), sum=si.Integrator(),
                  source=si.Sine(frequency="0.31 Hz"))
    result = model.simulate("4 s", method=method, **options)
    exact = 0.25 * np.sum(np.sin(2 * np.pi * 0.31 * 0.25 * np.arange(16)))
    assert_allclose(result["sum.y"].final.magnitude, exact, atol=1e-12)


def test_an_array_of_holds_samples_each_at_its_own_rate():
    periods = np.array([0.3, 0.5, 0.7])
    model = wired("model", "source.y holds.u",
                  source=si.Sine(amplitude="2", frequency="0.31 Hz", phase="0.4 rad"),
                  holds=si.ZeroOrderHold(sample_time=quantity(periods, "s"), count=3))
    result = model.simulate("10 s")
    for k, period in enumerate(periods):
        assert_allclose(at(result, T, f"holds[{k}].y"), wave(period * np.floor(T / period)),
                        atol=1e-12)


def test_a_run_that_starts_later_samples_on_the_same_grid():
    result = response(si.ZeroOrderHold(unit="N", sample_time="0.4 s", held="9 N"), source(),
                      start_time="1 s", duration="1 s")
    assert_allclose(at(result, [1.0, 1.19, 1.21, 1.7]), [9, 9, wave(1.2), wave(1.6)], atol=1e-13)


class Sampler(Component):
    """Assigns what it is told, as often as it is told."""

    period = Parameter("1 s")
    target = Option("n")
    n = Discrete("m")
    x = Variable("m", "0 m", priority="high")
    y = Output("m")

    def equations(self):
        yield self.y == self.n
        yield der(self.x) == quantity("1 m/s")
        yield blocks.every(self.period, {getattr(self, self.target): quantity("2 m")})


@pytest.mark.parametrize(("options", "text"), [
    ({"period": "0 s"}, "block: samples every 0 s. The period of every() must be positive."),
    ({"target": "x"}, "every() assigns to x, which is not a Discrete of the component. Assign to a "
     "Discrete. What is integrated is given new values by when(mod(time, period) < period / 2, ")])
def test_sampling_that_makes_no_sense_is_refused(options, text):
    model = wired("model", block=Sampler(**options))
    with pytest.raises(BlocksError, match=re.escape(text)):
        model.simulate("3 s")


def test_a_counter_starts_again_after_its_limit():
    result = output_of(si.Counter(sample_time="1 s", limit=3))
    assert_allclose(at(result, np.arange(10) + 0.5), [0, 1, 2, 3, 0, 1, 2, 3, 0, 1])


def test_a_triggered_hold_samples_on_rising_edges_only():
    result = response(si.SampleAndHold(unit="N", held="7 N"), source(),
                      si.Pulse(period="2 s", width=0.3, start="1 s"), ports=("u", "trigger"))
    t = np.array([0.5, 1.2, 1.8, 2.9, 3.5, 9.5])
    exact = np.where(t < 1, 7, wave(1 + 2 * np.floor((t - 1) / 2)))
    assert_allclose(at(result, t), exact, atol=1e-12)


# -- random numbers ----------------------------------------------------------------------
def park_miller(seed, count):
    """The generator in whole numbers."""
    out = []
    for _ in range(count):
        seed = 16807 * seed % (2**31 - 1)
        out.append(seed)
    return np.array(out)


def test_the_generator_passes_park_and_millers_check():
    """From seed 1 the state after 10,000 steps is 1043618065 (Park & Miller 1988, p. 1195)."""
    result = output_of(si.UniformRandomNumber(sample_time="1 ms"), duration="10 s")
    assert at(result, [9.9965], "block.state") == 1043618065  # three idle steps come before


def test_uniform_numbers_lie_between_their_limits_and_repeat_with_the_seed():
    t = np.arange(50) * 0.1 + 0.05
    made = [at(output_of(si.UniformRandomNumber(minimum="-1 N", maximum="3 N", sample_time="0.1 s",
                                                seed=s), duration="5 s"), t) for s in (42, 42, 43)]
    assert_allclose(made[0], -1 + 4 * park_miller(42, 53)[3:] / (2**31 - 1), rtol=1e-13)
    assert np.array_equal(made[0], made[1])
    assert not np.any(made[0] == made[2])


def test_normal_numbers_have_the_mean_and_deviation_asked_for():
    result = output_of(si.RandomNumber(mean="5 m", deviation="2 m", sample_time="2 ms", seed=7),
                       duration="8 s")
    values = at(result, np.arange(4000) * 2e-3 + 1e-3)
    r = park_miller(7, 8003)[3:].reshape(-1, 2) / (2**31 - 1)
    exact = 5 + 2 * np.sqrt(-2 * np.log(r[:, 0])) * np.cos(2 * np.pi * r[:, 1])
    assert_allclose(values, exact, rtol=1e-12, atol=1e-12)
    assert abs(np.mean(values) - 5) < 3 * 2 / np.sqrt(4000)
    assert abs(np.std(values) / 2 - 1) < 3 / np.sqrt(2 * 4000)


# -- averages ------------------------------------------------------------------------------
def test_the_running_rms_of_a_sine_follows_its_closed_form_and_that_of_a_constant_is_its_size():
    result = response(si.RunningRMS(unit="V"), si.Sine(amplitude="3 V", frequency="0.5 Hz"))
    exact = 3 * np.sqrt(0.5 - np.sin(2 * np.pi * T) / (4 * np.pi * T))
    assert_allclose(at(result, T[1:]), exact[1:], rtol=1e-6)
    assert at(result, [0.0]) == 0.0
    result = response(si.RunningRMS(unit="V"), si.Constant(value="-2 V"))
    assert_allclose(at(result, [0.0, 0.001, 5.0]), 2.0, rtol=1e-9)


def test_the_periodic_rms_is_renewed_after_every_period():
    result = response(si.PeriodicRMS(unit="V", frequency="0.5 Hz"), polyline([0, 10], [0, 10], "V"))
    k = np.floor(T / 2)
    exact = np.where(k < 1, 0, np.sqrt(((2 * k) ** 3 - (2 * k - 2) ** 3) / 6))
    assert_allclose(at(result, T), exact, rtol=1e-7)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_the_periodic_rms_forgets_what_was_large_before(method):
    result = wired("forgets", "large.y sum.u1", "small.y sum.u2", "sum.y rms.u",
                   large=si.Step(initial="1000 V", final="0 V", start="10 s"),
                   small=si.Sine(amplitude="1 V", frequency="5 Hz"), sum=si.Sum(unit="V"),
                   rms=si.PeriodicRMS(unit="V", frequency="5 Hz")).simulate("20 s", method=method)
    exact = np.sqrt([1000**2 + 0.5, 0.5, 0.5, 0.5])
    assert_allclose(at(result, [10.1, 10.5, 15.0, 19.9], "rms.y"), exact, rtol=3e-5)


def test_the_periodic_rms_of_a_constant_rests():
    model = wired("constant", "source.y block.u",
                  source=si.Constant(value="-2 V"), block=si.PeriodicRMS(unit="V"))
    assert_allclose(model.operating_point()["block.y"].m, 2.0, rtol=1e-9)
