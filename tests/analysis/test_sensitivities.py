"""Derivatives of runs against exact ones, through impacts, sticking and slipping."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from benches import few, wire, wired
from benches.analysis import block, derivatives
from benches.electrical import ring
from benches.friction import dry
from benches.parts import alone
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import blocks
import library.translational as tr
from blocks import Component, Discrete, Parameter, Variable, der, every, quantity, time, when, where
from blocks.analysis.sensitivity.sensitivities import SensitivityWarning
from blocks.exceptions import ParameterError, UnknownName
from library.electrical import ACVoltageSource, Diode, Inductor, Resistor
from library.signal import Abs, Backlash, Constant, Integrator, Ramp, Rounding, Step, ZeroOrderHold
from library.signal import Pulse as Pulses

CASES = json.loads((Path(__file__).parents[1] / "data/analysis/sensitivities.json").read_text())


def results(case):
    return CASES[case]["results"]


def oscillator():
    return wired("oscillator", "block.M spring.R damper.R push.R",
                 "spring.C damper.C ground.V push.C", block=tr.Mass(mass="2 kg", v="-0.4 m/s"),
                 spring=tr.Spring(stiffness="150 N/m", x="50 mm"), ground=tr.Reference(),
                 damper=tr.Damper(damping="3 N*s/m"), push=tr.ForceSource(force="20 N"))


OSCILLATOR = {"m": "block.mass", "d": "damper.damping", "k": "spring.stiffness", "F": "push.force",
              "x0": "spring.x", "v0": "block.v"}


@pytest.mark.parametrize("method", ["auto", "DOP853"])
def test_an_oscillator_has_the_derivatives_of_its_closed_form(method):
    run = oscillator().simulate("1.7 s", rtol=1e-11, method=method,
                                sensitivities=list(OSCILLATOR.values()))
    for name, path in OSCILLATOR.items():
        exact = results("D1 oscillator")["derivatives"][name]
        assert_allclose(run.sensitivities["spring.x", path].final.to_base_units().m, exact["dx"],
                        rtol=1e-8)
        assert_allclose(run.sensitivities["block.v", path].final.to_base_units().m, exact["dv"],
                        rtol=1e-8)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_several_steps_taken_at_once_are_as_good_as_the_run_between_their_ends(rtol):
    """dx/dF = (1 - exp(-a t) (cos w t + a/w sin w t)) / k, looked at within steps."""
    run = oscillator().simulate("10 s", rtol=rtol, method="dopri5", sensitivities=["push.force"])
    t = np.linspace(0, 10, 1777)
    found = run.sensitivities["spring.x", "push.force"].at(t * quantity("1 s")).to("m/N").m
    a, k = 3 / 4, 150
    w = np.sqrt(k / 2 - a**2)
    exact = (1 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))) / k
    assert_allclose(found, exact, atol=rtol / k)
    solved, steps = (len(one) for one in (run.sensitivities._course.steps,
                                          run.recording.episodes.steps.starts))
    assert solved < steps / 3  # work, never seconds


class Chased(Component):
    """What follows a cosine within a microsecond."""

    rate, amplitude = Parameter("1e6 1/s"), Parameter("2 m")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        wave = blocks.cos(quantity("1 1/s") * time)
        yield der(self.x) == self.rate * (self.amplitude * wave - self.x)


def test_what_dies_out_at_once_is_not_followed():
    """x = a k (k cos t + sin t) / (k^2 + 1) after the first microseconds."""
    model = wired("chased", part=Chased())
    run = model.simulate("10 s", method="rodas4", rtol=1e-8, sensitivities=["part.amplitude"])
    k, t = 1e6, 10.0
    assert_allclose(run.sensitivities["part.x", "part.amplitude"].final.m,
                    (k * np.cos(t) + np.sin(t)) * k / (k**2 + 1), rtol=1e-8)
    assert len(run.sensitivities._course.steps) < len(run.recording.episodes.steps.starts)


class Pulse(Component):
    """A free mass under a short and smooth push."""

    height, width = Parameter("3 m/s^2"), Parameter("5 ms")
    v = Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.v) == self.height * blocks.exp(-((time - quantity("5 s")) / self.width) ** 2)


def test_a_short_push_is_not_stepped_over():
    """v = sqrt(pi) height width: nothing else tells how long a step may be."""
    model = wired("pulse", part=Pulse())
    found = derivatives(model, "10 s", "part.v", "part.height", "part.width", max_step="20 ms",
                        rtol=1e-8)
    assert_allclose(found, [np.sqrt(np.pi) * 5e-3, np.sqrt(np.pi) * 3.0], rtol=1e-8)


def test_a_derivative_is_a_series_with_a_unit():
    run = oscillator().simulate("1.7 s", rtol=1e-9, sensitivities=["spring.stiffness"])
    by_k = run.sensitivities["spring.x", "spring.stiffness"]
    assert by_k.final.check("[length]/([force]/[length])")
    assert by_k.at("0 s").m == 0 and abs(by_k.at("1 s")) > quantity("1e-6 m^2/N")
    force = run.sensitivities["spring.f", "spring.stiffness"]  # f = k x: df/dk = x + k dx/dk
    assert_allclose(force.final.to("m").m,
                    (run["spring.x"].final + quantity("150 N/m") * by_k.final).to("m").m,
                    rtol=1e-12)
    assert "m²/N" in str(run.sensitivities.table("spring.x"))


class BallByWhen(Component):
    gravity, restitution = Parameter("9.81 m/s^2"), Parameter(0.7)
    h, v = Variable("m", "1 m", priority="high"), Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.h) == self.v
        yield der(self.v) == -self.gravity
        yield when((self.h < 0) & (self.v < 0), {self.v: -self.restitution * self.v})


class BallByContact(BallByWhen):
    f = Variable("N")

    def equations(self):
        yield der(self.h) == self.v
        yield quantity("1 kg") * (der(self.v) + self.gravity) == self.f
        yield blocks.contact(self.f, self.h, -self.v, restitution=self.restitution)


@pytest.mark.parametrize("ball", [BallByWhen, BallByContact])
def test_a_bouncing_ball_is_differentiated_through_its_impacts(ball):
    names = {"h0": "ball.h", "v0": "ball.v", "g": "ball.gravity", "e": "ball.restitution"}
    model, exact = wired("ball", ball=ball()), results("D2 bouncing ball")
    run = model.simulate("1.5 s", sensitivities=list(names.values()))
    times, moved = run.sensitivities.event_times
    for k, (name, path) in enumerate(names.items()):
        by = exact["derivatives"][name]
        assert_allclose(run.sensitivities["ball.h", path].final.m, by["dh"], rtol=1e-10)
        assert_allclose(run.sensitivities["ball.v", path].final.m, by["dv"], rtol=1e-10)
        for t, dt in zip(exact["t"][:2], by["dt"], strict=False):
            assert_allclose(moved[np.argmin(abs(times - t)), k], dt, atol=1e-11)


class Rig(Component):
    """The belt, and a block that moves with it at the start."""

    speed = Parameter("0.1 m/s")

    def compose(self):
        self.block = tr.Mass(mass="1 kg", v=self.speed)
        self.spring, self.damper = tr.Spring(stiffness="100 N/m"), tr.Damper(damping="0.5 N*s/m")
        self.friction = dry(20, 25)
        self.belt, self.ground = tr.VelocitySource(velocity=self.speed), tr.Reference()
        self.connect(self.block.M, self.spring.R, self.damper.R, self.friction.R)
        self.connect(self.friction.C, self.belt.R)
        self.connect(self.spring.C, self.damper.C, self.ground.V, self.belt.C)


STICK_SLIP = {"m": "rig.block.mass", "k": "rig.spring.stiffness", "d": "rig.damper.damping",
              "FG": "rig.friction.breakaway_force", "FC": "rig.friction.coulomb_force",
              "V": "rig.speed", "x0": "rig.spring.x"}


@pytest.mark.parametrize(("end", "case"), [("5 s", "D3a stick-slip, T while stuck"),
                                           ("5.25 s", "D3b stick-slip, T while slipping")])
def test_stick_slip_is_differentiated_through_its_events(end, case):
    model, exact = wired("belt", rig=Rig()), results(case)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate(end, sensitivities=list(STICK_SLIP.values()), rtol=1e-11)
    assert run.sensitivities.notes == []
    for k, (name, path) in enumerate(STICK_SLIP.items()):
        by = exact["derivatives"][name]
        assert_allclose(run.sensitivities["rig.spring.x", path].final.m, by["dx"], rtol=1e-8)
        assert_allclose(run.sensitivities["rig.block.v", path].final.m, by["dv"], rtol=1e-8,
                        atol=1e-9)
        assert_allclose(run.sensitivities.event_times[1][:, k], by["dt"], rtol=1e-8, atol=1e-9)
    assert "s/N" in str(run.sensitivities.events())
    # and the model is as it was
    assert model.rig.speed.to("m/s").m == model.rig.belt.velocity.to("m/s").m == 0.1


class Shared(Component):
    """A sliding block; its parts take what they are given as it is, halved, and backwards."""

    mass, speed, viscosity = Parameter("4 kg"), Parameter("3 m/s"), Parameter("0.5 N*s/m")

    def compose(self):
        self.block, self.ground = tr.Mass(mass=self.mass / 2, v=-self.speed), tr.Reference()
        self.damper = tr.Damper(damping=self.viscosity)
        self.connect(self.block.M, self.damper.R)
        self.connect(self.damper.C, self.ground.V)


class Struck(Component):
    """A body of 1 kg under a stop at 1 m, that its weight or a spring pulls back."""

    weight, stiffness, restitution = Parameter("0 N"), Parameter("0 N/m"), Parameter(0.5)
    x, v = Variable("m", "0 m", priority="high"), Variable("m/s", "1 m/s", priority="high")
    f = Variable("N")

    def equations(self):
        yield der(self.x) == self.v
        yield quantity("1 kg") * der(self.v) == -self.weight - self.stiffness * self.x - self.f
        yield blocks.contact(self.f, quantity("1 m") - self.x, self.v, restitution=self.restitution)


def below_a_ceiling(speed):
    return wired("ceiling", ball=Struck(weight="9.81 N", restitution=0.6, v=f"{speed!r} m/s"))


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "DOP853", "RK23", "ode45", "BDF"])
def test_a_touch_without_speed_is_told_by_every_method(method):
    case = results("D4a grazing a ceiling")
    with pytest.warns(SensitivityWarning, match="ball is touched without speed: .* one side"):
        run = below_a_ceiling(case["v0_grazing"]).simulate("0.8 s", sensitivities=["ball.v"],
                                                           rtol=1e-9, method=method)
    assert_allclose(run.sensitivities["ball.x", "ball.v"].final.m, case["left_derivative"])
    wall = wired("wall", ball=Struck(stiffness="1 N/m"))
    with pytest.warns(SensitivityWarning, match="ball is touched without speed"):
        wall.simulate("3 s", sensitivities=["ball.v"], method=method)
    sliding = block(0, dry(0.5, 0.8), mass=1, v="1 m/s")
    sliding.push.force = lambda t: quantity("2 N/s") * t - quantity("1.5 N")  # v = (1 - t / s)²
    with pytest.warns(SensitivityWarning, match="friction is touched without speed"):
        sliding.simulate("2 s", sensitivities=["block.v"], method=method)
    wall.ball.v = "0.95 m/s"
    for model, end in ((wall, "3 s"), (below_a_ceiling(4.4), "0.8 s")):
        assert not model.simulate(end, sensitivities=["ball.v"], method=method).sensitivities.notes


@few(3, "method", ["auto", "dopri5", "DOP853", "RK23", "rodas4", "BDF", "ode23s",
                                    "rk4"])
def test_a_stop_with_stiffness_that_is_touched_without_speed_is_told_by_every_method(method):
    """A mass of 1 kg on 16 N/m that is let go at -0.2 m turns back at 0.2 m, where the stop is."""
    model = wired("touch", "block.M stop.R spring.R", "stop.C spring.C ground.V",
                  block=tr.Mass(mass="1 kg"), spring=tr.Spring(stiffness="16 N/m", x="-0.2 m"),
                  stop=tr.HardStop(model="full", upper_bound="0.2 m", lower_bound="-5 m",
                                   x="-0.2 m"), ground=tr.Reference())
    keys = {"step": "1 ms"} if method == "rk4" else {}
    with pytest.warns(SensitivityWarning, match="stop: x - upper_bound > 0 is touched without"):
        model.simulate("1.3 s", sensitivities=["spring.x"], method=method, **keys)


class Counted(Component):
    """From where a sine passes 1, y rises with 1/s."""

    height = Parameter(1.0)
    x, y = Variable("1", 0, priority="high"), Variable("1", 0, priority="high")
    passed = Discrete("1", 0)

    def equations(self):
        rate = quantity("1 rad/s")
        yield der(self.x) == self.height * blocks.cos(time * rate) * rate
        yield when(self.x > 1, {self.passed: 1})
        yield der(self.y) == self.passed * quantity("1 1/s")


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "DOP853"])
def test_a_when_that_is_touched_without_speed_is_told(method):
    """y = t - arcsin(1/h) of a height h above 1, so that dy/dh = 1/(h sqrt(h**2 - 1))."""
    model = wired("count", sine=Counted())
    with pytest.warns(SensitivityWarning, match="sine: x - 1 > 0 is touched without speed"):
        model.simulate("3 s", sensitivities=["sine.height"], method=method)
    with pytest.warns(SensitivityWarning, match=r"t = 1\.57\S* s, and 2 more up to 14\."):
        model.simulate("15 s", sensitivities=["sine.height"], method=method)
    model.sine.height = 1.25
    found = model.simulate("3 s", sensitivities=["sine.height"], rtol=1e-9, method=method)
    assert found.sensitivities.notes == []
    assert_allclose(found.sensitivities["sine.y", "sine.height"].final.m, 1 / (1.25 * 0.75),
                    rtol=1e-6)


def test_a_load_at_break_away_is_told():
    model = block(10, dry(8, 10), mass=2)
    with pytest.warns(SensitivityWarning, match="friction is at the end of its mode"):
        model.simulate("3 s", sensitivities=["push.force"])
    model.push.force = "11 N"
    run = model.simulate("3 s", sensitivities=["push.force"])
    assert_allclose(run.sensitivities["block.v", "push.force"].final.m, 1.5)  # T / m


@pytest.mark.parametrize(("load", "told"), [(4.5, 1), (-4.5, 1), (3.9, 0)])
def test_a_start_that_holds_more_than_it_slides_at_is_told_of_what_would_move_it(load, told):
    """Pushed by less than 4 N it comes to rest again; by more, it slides on."""
    model = block(load, dry(4, 5), mass=1, v="0 m/s")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SensitivityWarning)
        found = model.simulate("1 s", sensitivities=["block.v", "push.force"]).sensitivities
    assert sum("motion begun by a little of block.v" in note for note in found.notes) == told
    assert len(found.notes) == told
    assert found["block.v", "push.force"].final.m == found["block.v", "block.v"].final.m == 0


def test_a_run_that_ends_at_an_event_has_derivatives_of_one_side_and_says_so():
    """Of x they are the same before and after (v does not jump); where v bends they are not."""
    model, path = wired("belt", rig=Rig()), "rig.friction.breakaway_force"
    sticks = results("D3b stick-slip, T while slipping")["events"][1]
    with pytest.warns(SensitivityWarning, match="rig.friction changes just where the run ends"):
        at = model.simulate(f"{sticks!r} s", sensitivities=[path]).sensitivities
    beside = [model.simulate(f"{sticks + s!r} s", sensitivities=[path]).sensitivities
              for s in (-1e-6, 1e-6)]
    assert [one.notes for one in beside] == [[], []]
    for one in beside:
        assert_allclose(one["rig.spring.x", path].final.m, at["rig.spring.x", path].final.m,
                        rtol=1e-4)
    before, after = (one["rig.block.v", path].final.m for one in beside)
    assert after == pytest.approx(0, abs=1e-9) and abs(before) > 0.1


class Released(Component):
    """A block that is held until an instant, then slides down."""

    release, acceleration = Parameter("0.5 s"), Parameter("2 m/s^2")
    v, x = Variable("m/s", "0 m/s", priority="high"), Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.v) == where(time > self.release, self.acceleration, 0)
        yield der(self.x) == self.v


class Sampled(Component):
    """A first-order plant under a sampled proportional controller."""

    gain, period, offset = Parameter("2 1/s"), Parameter("0.1 s"), Parameter("0 s")
    x = Variable("m", "1 m", priority="high")
    u = Discrete("m/s", "0 m/s")

    def equations(self):
        yield der(self.x) == -self.u
        yield every(self.period, {self.u: self.gain * self.x}, start=self.offset)


@pytest.mark.parametrize("method", ["auto", "BDF"])
def test_a_sampled_controller_and_its_instants_carry_derivatives(method):
    k, h, n, end = 2.0, 0.1, 9, 0.95  # x(end) = (1 - k h)^n (1 - k (end - offset - n h))
    model = wired("sampled", loop=Sampled(offset="10 ms"))
    paths = ["loop.period", "loop.offset", "loop.gain", "loop.x"]
    run = model.simulate("0.95 s", method=method, sensitivities=paths, rtol=1e-9)
    factor, left = 1 - k * h, end - 0.01 - n * h
    assert_allclose(run["loop.x"].final.m, factor**n * (1 - k * left), rtol=1e-9)
    exact = [-n * k * factor**(n - 1) * (1 - k * left) + n * k * factor**n, k * factor**n,
             -n * h * factor**(n - 1) * (1 - k * left) - left * factor**n,
             factor**n * (1 - k * left)]
    found = [run.sensitivities["loop.x", path].final.m for path in paths]
    assert run.sensitivities.notes == []
    assert_allclose(found, exact, rtol=1e-7)
    times, moved = run.sensitivities.event_times
    assert_allclose(moved, np.outer((times - 0.01) / h, [1, 0, 0, 0]) + [0, 1, 0, 0], atol=1e-9)


def held(signal, **hold):
    """The integral of a signal that is sampled every 50 ms."""
    return wired("held", "source.y hold.u", "hold.y sum.u",
                 source=signal, hold=ZeroOrderHold(**hold), sum=Integrator())


def test_what_happens_just_at_a_sample_has_no_derivative():
    with pytest.warns(SensitivityWarning, match=r"t = 0.1 s.*start.*samples of hold"):
        held(Step(start="0.1 s"), sample_time="50 ms").simulate(
            "1 s", sensitivities=["source.start"])
    with pytest.warns(SensitivityWarning, match=r"t = 1 s.*ends.*by hold.sample_time"):
        held(Ramp(), sample_time="50 ms").simulate("1 s", sensitivities=["hold.sample_time"])


def test_a_sample_at_the_start_can_only_be_taken_later():
    model = wired("sampled", loop=Sampled())
    with pytest.warns(SensitivityWarning, match="starts with a sample.*by loop.offset"):
        run = model.simulate("0.95 s", sensitivities=["loop.offset"])
    assert_allclose(run.sensitivities["loop.x", "loop.offset"].final.m, 2 * 0.8**9, rtol=1e-9)


def test_samplers_of_one_instant_move_together_or_have_no_derivative():
    model = held(Ramp(), sample_time="0.3 s")
    wire(model, "hold.y again.u", "again.y sum2.u",
         again=ZeroOrderHold(sample_time="0.3 s"), sum2=Integrator())
    with pytest.warns(SensitivityWarning, match="samples of hold and samples of again happen"):
        model.simulate("1 s", sensitivities=["again.sample_time"])
    assert_allclose(derivatives(model, "1 s", "sum2.y", "source.slope"), [3 * 0.3 - 6 * 0.3**2])


class Emptied(Component):
    """What is filled steadily, and emptied by a sample."""

    period, rate = Parameter("0.3 s"), Parameter("1 m/s")
    x, area = Variable("m", "0 m", priority="high"), Variable("m*s", "0 m*s", priority="high")
    full = Discrete()

    def equations(self):
        yield der(self.x) == self.rate
        yield der(self.area) == self.x
        yield every(self.period, {self.full: 1 - self.full}, start=self.period)
        yield when(self.full > 0.5, {self.x: 0 * self.x})


def test_a_step_just_at_a_sample_has_no_derivative_from_there_on():
    model = wired("met", "step.y hold.u", "hold.y sum.u", step=Step(start="0.3 s"),
                  hold=ZeroOrderHold(sample_time="0.1 s"), sum=Integrator(input="1"))
    with pytest.warns(SensitivityWarning, match="at once.* step.start are nan from there on"):
        run = model.simulate("0.4 s", sensitivities=["step.start"])
    assert np.isnan(run.sensitivities["sum.y", "step.start"].final.m)


class SharedPeriod(Component):
    """A sampled state, and a controller that looks at every other sample, as it was before."""

    gain, period = Parameter("2 1/s"), Parameter("0.1 s")
    x = Variable("m", "1 m", priority="high")
    sample, u = Discrete("m", "0 m"), Discrete("m/s", "0 m/s")

    def equations(self):
        yield der(self.x) == -self.u
        yield every(self.period, {self.sample: self.x})
        yield every(2 * self.period, {self.u: self.gain * self.sample})


def test_samplers_of_several_rates_follow_one_parameter():
    model = wired("rates", loop=SharedPeriod())
    h, x, sample, u = 0.1 + 1e-20j, 1.0, 0.0, 0.0
    for k in range(10):
        if k % 2 == 0:
            u = 2.0 * sample  # the one before
        sample = x
        x = x - u * (h if k < 9 else 0.95 - 9 * h)
    assert_allclose(derivatives(model, "0.95 s", "loop.x", "loop.period", rtol=1e-9),
                    [x.imag / 1e-20], rtol=1e-8)


class Stairs(Component):
    """Grows by a rate, and counts how often it has grown by a step."""

    rate, step = Parameter("2 1/s"), Parameter(1.0)
    x, area = Variable("1", 0, priority="high"), Variable("s", "0 s", priority="high")
    n = Discrete()

    def equations(self):
        yield der(self.x) == self.rate
        yield der(self.area) == self.n
        yield when(self.x > (self.n + 1) * self.step, {self.n: self.n + 1})


def test_a_condition_that_what_it_assigns_takes_back_moves_its_instant():
    model = wired("stairs", part=Stairs())  # n becomes k at t = k step / rate
    run = model.simulate("1.7 s", sensitivities=["part.rate", "part.step"])
    found = [run.sensitivities["part.area", path].final.m for path in run.sensitivities.parameters]
    assert_allclose(found, [(1 + 2 + 3) / 4, -(1 + 2 + 3) / 2], rtol=1e-9)
    assert_allclose(run.sensitivities.event_times[1], [[-k / 4, k / 2] for k in (1, 2, 3)])
    assert run.sensitivities.notes == []


class Relayed(Component):
    """A condition whose action lets another one act, which keeps what there is then."""

    rate, limit = Parameter("2 1/s"), Parameter(1.0)
    x, area = Variable("1", 0, priority="high"), Variable("s", "0 s", priority="high")
    passed, kept = Discrete(), Discrete()

    def equations(self):
        yield der(self.x) == self.rate
        yield der(self.area) == self.kept
        yield when(self.x > self.limit, {self.passed: self.passed + 1})
        yield when(self.passed > 0.5, {self.kept: self.x**2 + time / quantity("1 s")})


class Dropped(Component):
    """Rises, and falls at once at 1 s."""

    rate, level = Parameter("2 1/s"), Parameter(1.2)
    y = blocks.Output()

    def equations(self):
        yield self.y == where(time < quantity("1 s"), self.rate * time, self.level)


class Halved(Component):
    """Grows steadily, and is halved once a period."""

    rate, period = Parameter("2 1/s"), Parameter("0.3 s")
    x, area = Variable("1", 0, priority="high"), Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.x) == self.rate
        yield der(self.area) == self.x
        yield when(blocks.mod(time, self.period) < self.period / 2, {self.x: self.x / 2})


def test_a_reset_once_a_period_moves_with_it():
    model = wired("halved", part=Halved())
    period, x, area = 0.3 + 1e-20j, 0.0, 0.0
    for left in [period] * 5 + [1.7 - 5 * period]:
        area += x * left + left**2
        x = (x + 2 * left) / 2
    assert_allclose(derivatives(model, "1.7 s", "part.area", "part.period", rtol=1e-9),
                    [area.imag / 1e-20])


class Modulated(Component):
    """A sawtooth of time against a state that grows, and the sawtooth itself."""

    period, rate = Parameter("0.3 s"), Parameter(0.4)
    x, on = Variable("s", "0 s", priority="high"), Variable("s", "0 s", priority="high")
    area = Variable("s^2", "0 s^2", priority="high")

    def equations(self):
        saw = blocks.mod(time, self.period)
        yield der(self.x) == self.rate
        yield der(self.on) == where(saw < self.x, 1, 0)
        yield der(self.area) == saw


CLOSED_FORMS = {
    # v = -s exp(-2 d t / m)
    "parts follow what a whole is given": (alone(Shared()), "2 s", "c.block.v", {
        f"c.{name}": by * np.exp(-0.5)
        for name, by in (("mass", -3 / 8), ("speed", -1), ("viscosity", 3))}),
    # x = a (T - t0)^2 / 2
    "an instant that is a parameter": (alone(Released()), "2 s", "c.x", {
        "c.release": -3.0, "c.acceleration": 1.5**2 / 2}),
    # 3 T - 6 T^2 at 1 s
    "what is sampled later": (held(Ramp(), sample_time="0.3 s"), "1 s", "sum.y", {
        "hold.sample_time": 3 - 12 * 0.3}),
    # 1 - offset - 2 T at 1 s
    "a step between samples moves nothing": (
        held(Step(start="0.08 s"), sample_time="50 ms"), "1 s", "sum.y", {
            "hold.sample_time": -2, "hold.offset": -1, "source.start": 0}),
    # emptied at t = 0.3 and 3 t: the area is rate (t^2 + (2 t)^2 + (1 - 3 t)^2) / 2
    "what a sample resets": (alone(Emptied()), "1 s", "c.area", {
        "c.period": 5 * 0.3 - 3 * 0.1, "c.rate": (5 * 0.3**2 + 0.1**2) / 2}),
    "an integrator at its limit": (
        wired("limited", "rate.y sum.u", rate=Constant(),
              sum=Integrator(limited=True, upper="0.5 s", lower="-1 s")), "1 s", "sum.y", {
            "sum.upper": 1, "rate.value": 0}),
    # (1.7 - t) (limit^2 + t) from t = limit / rate = 0.5 on
    "what one action lets another assign": (alone(Relayed()), "1.7 s", "c.area", {
        "c.rate": 0.25 * 0.3, "c.limit": -0.3 / 2 + 2 * 1.2}),
    # y = a t - 1/2 from 1/4 s on; then a - 1/2, or the level and 1/2 where that is less
    **{f"before a jump to {level}": (
        wired("dropped", "drop.y play.u", "play.y area.u", drop=Dropped(level=level),
              play=Backlash(), area=Integrator()), "2 s", "area.y", {
            "drop.rate": by_rate, "drop.level": by_level})
       for level, by_rate, by_level in ((1.2, 1.46875, 0), (0.5, 0.46875, 1))},
    # three pulses of width T, and the beginning of one at start + 3 T
    "all edges of pulses": (
        wired("pulses", "source.y sum.u", sum=Integrator(),
              source=Pulses(period="1 s", width=0.4, start="0.1 s")), "3.2 s", "sum.y", {
            "source.period": 3 * 0.4 - 3, "source.start": -1, "source.width": 3}),
    # on from k T until the sawtooth, t - k T, comes to rate t; at 0.8 s it is still on
    "both edges of a sawtooth that a state passes": (alone(Modulated()), "0.8 s", "c.on", {
        "c.period": 1 / (1 - 0.4) - 1 - 2, "c.rate": 0.3 / (1 - 0.4) ** 2}),
    # the teeth of T^2 / 2, and the part of one that has begun
    "teeth": (alone(Modulated()), "0.8 s", "c.area", {"c.period": 2 * 0.3 - 2 * (0.8 - 2 * 0.3)}),
    # a step of 0.5 where slope t is (k + 1/2) 0.5
    "steps of a rounded signal": (
        wired("rounded", "source.y round.u", "round.y sum.u", source=Ramp(slope="2 1/s"),
              round=Rounding(step=0.5), sum=Integrator()), "0.8 s", "sum.y", {
            "source.slope": sum((k + 0.5) * 0.5**2 / 2**2 for k in range(3))}),
    # of |a t - c|, whose slopes bend just after a step begins
    "a bend": (wired("bent", "one.y place.u", "place.y far.u", "far.y sum.u", one=Constant(),
                     place=Integrator(y="-0.3 s"), far=Abs(unit="s"), sum=Integrator(input="s")),
               "1 s", "sum.y", {"one.value": 0.41})}


@pytest.mark.parametrize("method", ["auto", "BDF"])
@few(3, "case", CLOSED_FORMS)
def test_derivatives_are_those_of_closed_forms(case, method):
    model, end, variable, exact = CLOSED_FORMS[case]
    found = derivatives(model, end, variable, *exact, rtol=1e-11, method=method)
    assert_allclose(found, list(exact.values()), rtol=1e-9, atol=1e-12)


class String(Component):
    """A pendulum in Cartesian coordinates: two states are tied."""

    length, gravity = Parameter("2 m"), Parameter("9.81 m/s^2")
    x, y = Variable("m", "0.6 m", priority="high"), Variable("m", "-1.9 m", priority="low")
    vx, vy, pull = Variable("m/s", "0 m/s", priority="high"), Variable("m/s"), Variable("1/s^2")

    def equations(self):
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield der(self.vx) == -self.pull * self.x
        yield der(self.vy) == -self.pull * self.y - self.gravity
        yield self.x**2 + self.y**2 == self.length**2


@pytest.mark.parametrize("path", ["string.gravity", "string.length", "string.x"])
def test_constraints_are_differentiated_with_the_rest(path):
    model = wired("pendulum", string=String())
    run = model.simulate("3 s", rtol=1e-10, sensitivities=[path])
    value = {"string.gravity": 9.81, "string.length": 2.0, "string.x": 0.6}[path]
    unit, ends = ("m/s^2" if "gravity" in path else "m"), []
    for step in (1e-3, -1e-3, 5e-4, -5e-4):
        setattr(model.string, path.partition(".")[2], f"{value + step!r} {unit}")
        end = model.simulate("3 s", rtol=1e-11)
        ends.append([end["string.x"].final.m, end["string.vy"].final.m])
    ends = np.array(ends)
    wide, near = (ends[0] - ends[1]) / 2e-3, (ends[2] - ends[3]) / 1e-3
    exact = near + (near - wide) / 3
    assert len(run.sensitivities._course.end) == 2  # one degree of freedom
    found = [run.sensitivities[v, path].final.m for v in ("string.x", "string.vy")]
    assert_allclose(found, exact, rtol=1e-7, atol=1e-7)


def chain(mass="2 kg", friction="2 N"):
    """Two blocks with friction; the second runs into a rigid stop."""
    return wired("chain", "first.M inner.R outer.C friction.R", "second.M outer.R stop.R",
                 "inner.C friction.C stop.C ground.V",
                 first=tr.Mass(mass=mass, v="0.8 m/s"), second=tr.Mass(mass="1 kg", v="-0.5 m/s"),
                 inner=tr.Spring(stiffness="120 N/m", x="30 mm"),
                 outer=tr.Spring(stiffness="90 N/m"),
                 friction=tr.TranslationalFriction(law="stribeck", coulomb_force=friction,
                                                   breakaway_force="4 N"), ground=tr.Reference(),
                 stop=tr.HardStop(upper_bound="60 mm", lower_bound="-60 mm", model="restitution",
                                  restitution=0.5))


def test_friction_and_impacts_of_a_network_agree_with_differences_of_runs():
    run = chain().simulate("1.5 s", rtol=1e-10, sensitivities=["first.mass",
                                                               "friction.coulomb_force"])
    assert run.sensitivities.notes == [] and len(run.events) > 4
    for path, make, value, unit in (
            ("first.mass", lambda q: chain(mass=q), 2.0, "kg"),
            ("friction.coulomb_force", lambda q: chain(friction=q), 2.0, "N")):
        up, down = (make(f"{value + h!r} {unit}").simulate("1.5 s", rtol=1e-12)
                    for h in (1e-6, -1e-6))
        for variable in ("second.v", "outer.x"):
            slope = (up[variable].final - down[variable].final).m / 2e-6
            assert_allclose(run.sensitivities[variable, path].final.m, slope, rtol=1e-5, atol=1e-6)


def test_what_cannot_be_differentiated_is_said():
    model = oscillator()
    with pytest.raises(UnknownName, match="Did you mean 'spring.stiffness'"):
        model.simulate("1 s", sensitivities=["spring.stifness"])
    with pytest.raises(ParameterError, match="record"):
        model.simulate("1 s", sensitivities=["spring.stiffness"], record=["block.v"])
    run = model.simulate("1 s", sensitivities=["spring.stiffness"])
    with pytest.raises(UnknownName, match=r"damper\.damping"):
        run.sensitivities["block.v", "damper.damping"]
    with pytest.raises(UnknownName, match=r"block\.w"):
        run.sensitivities["block.w", "spring.stiffness"]


class TwoRates(Component):
    """A plant under a fast loop, whose target a slow one sets from what the fast one remembers."""

    gain, slow = Parameter("2 1/s"), Parameter(0.5)
    x = Variable("m", "1 m", priority="high")
    u, total, target = Discrete("m/s", "0 m/s"), Discrete("m", "0 m"), Discrete("m", "0.3 m")

    def equations(self):
        yield der(self.x) == -self.u
        yield every("0.1 s", {self.u: self.gain * (self.x - self.target),
                              self.total: self.total + self.x})
        yield every("0.2 s", {self.target: self.slow * self.x + 0.2 * self.target
                              + 0.3 * self.total})


@pytest.mark.parametrize("path", ["loop.gain", "loop.slow", "loop.x"])
def test_loops_of_two_rates_see_each_other(path):
    run = wired("rates", loop=TwoRates()).simulate("0.95 s", sensitivities=[path])

    def end(change):
        """The same recursion as plain numbers, made of complex steps."""
        gain, slow, x = (v + change * (path == n) for v, n in (
            (2.0, "loop.gain"), (0.5, "loop.slow"), (1.0, "loop.x")))
        u, total, target = 0.0, 0.0, 0.3
        for k in range(10):
            old = u, total, target
            u, total = gain * (x - old[2]), old[1] + x
            if k % 2 == 0:
                target = slow * x + 0.2 * old[2] + 0.3 * old[1]
            x -= u * (0.1 if k < 9 else 0.05)
        return x

    assert_allclose(run["loop.x"].final.m, end(0.0), rtol=1e-9)
    assert_allclose(run.sensitivities["loop.x", path].final.m, end(1e-20j).imag / 1e-20, rtol=1e-8)


def test_a_smooth_stop_is_touched_and_left():
    def struck(stiffness=300.0, bound=0.02):
        return wired("struck", "block.M stop.R", "stop.C ground.V",
                     block=tr.Mass(mass="1 kg", v="0.5 m/s"), ground=tr.Reference(),
                     stop=tr.HardStop(upper_bound=quantity(bound, "m"), lower_bound="-1 m",
                                      upper_stiffness=quantity(stiffness, "N/m"), transition="5 mm",
                                      upper_damping="4 N*s/m"))

    found = derivatives(struck(), "0.4 s", "stop.x", "stop.upper_stiffness", "stop.upper_bound",
                        rtol=1e-10)
    for by, name, value in zip(found, ("stiffness", "bound"), (300.0, 0.02), strict=True):
        up, down = (struck(**{name: value * (1 + h)}).simulate("0.4 s", rtol=1e-12)["stop.x"].final
                    for h in (1e-5, -1e-5))
        assert_allclose(by, (up - down).to("m").m / (2e-5 * value), rtol=1e-6)


def rectified_current(t, r, inductance):
    """While it flows, from a start at zero."""
    w = 2 * np.pi * 50
    decay, wanted = np.exp(-r / inductance * t), r * np.sin(w * t) - w * inductance * np.cos(w * t)
    return 24 * (wanted + w * inductance * decay) / (r**2 + (w * inductance) ** 2)


def test_changes_of_a_coil_behind_an_ideal_diode():
    """While the diode is open only the rates say what its voltage is: no current flows."""
    run = ring(supply=ACVoltageSource(amplitude="24 V", frequency="50 Hz"),
               diode=Diode(model="ideal"), load=Resistor(resistance="1 ohm"),
               coil=Inductor(inductance="10 mH", parasitic=False)).simulate(
                   "39 ms", rtol=1e-10, sensitivities=["load.resistance", "coil.inductance"])
    h = 1e-30  # a derivative along the imaginary axis, which rounds nothing away
    for t in (0.004, 0.013):
        by_r = rectified_current(t, 1.0 + h * 1j, 0.01).imag / h
        by_l = rectified_current(t, 1.0, 0.01 + h * 1j).imag / h
        for later in (0.0, 0.02):  # the same in every period
            at = f"{t + later} s"
            assert run.sensitivities["coil.i_L", "load.resistance"].at(at).to(
                "A/ohm").magnitude == pytest.approx(by_r, rel=1e-8)
            assert run.sensitivities["coil.i_L", "coil.inductance"].at(at).to(
                "A/H").magnitude == pytest.approx(by_l, rel=1e-8)
    for variable in ("coil.i_L", "diode.v"):
        for parameter in ("load.resistance", "coil.inductance"):
            assert abs(run.sensitivities[variable, parameter].at("19 ms").magnitude) < 1e-9
    assert not run.sensitivities.notes
    # the current ends where the closed form does: i(t, R) = 0
    end = brentq(lambda t: rectified_current(t, 1.0, 0.01), 0.012, 0.0199, xtol=1e-15)
    slope = rectified_current(end + h * 1j, 1.0, 0.01).imag / h
    moved = -rectified_current(end, 1.0 + h * 1j, 0.01).imag / h / slope
    times, by = run.sensitivities.event_times
    first = np.argmin(np.abs(times - end))
    assert times[first] == pytest.approx(end, abs=1e-10)
    assert by[first, 0] == pytest.approx(moved, rel=1e-6)


def test_changes_of_friction_at_a_point_without_mass():
    """A spring behind friction (Jenkin's element): while that slides the rate alone tells how
    fast, as the force stays what it is."""
    model = wired("jenkin", "body.M spring.R other.R", "spring.C friction.R",
                  "friction.C other.C ground.V",
                  body=tr.Mass(mass="1 kg", v="0.5 m/s"), spring=tr.Spring(stiffness="500 N/m"),
                  friction=dry(2), other=tr.Spring(stiffness="100 N/m"), ground=tr.Reference())
    run = model.simulate("0.1 s", rtol=1e-10, sensitivities=["body.mass", "spring.stiffness"])

    def velocity(t, m, k):
        w, slow = np.sqrt((k + 100) / m), np.sqrt(100 / m)
        begins = np.arcsin(2 * w / (k * 0.5)) / w  # to slide
        t, v = t - begins, 0.5 * np.cos(w * begins)
        return v * np.cos(slow * t) - (2 / k + 0.02) * slow * np.sin(slow * t)

    h = 1e-30
    for t in (0.02, 0.05, 0.1):
        by = run.sensitivities["body.v", "body.mass"].at(f"{t} s").to_base_units().magnitude
        assert by == pytest.approx(velocity(t, 1 + h * 1j, 500).imag / h, rel=1e-8)
        for variable in ("body.v", "friction.v"):
            by = run.sensitivities[variable, "spring.stiffness"].at(f"{t} s")
            assert by.to_base_units().magnitude == pytest.approx(
                velocity(t, 1, 500 + h * 1j).imag / h, rel=1e-7)


def test_frictions_that_share_a_load_let_go_when_their_sum_is_reached():
    """Pulled by a spring at 10 N/s two of 2 and 3 N hold for 0.5 s: 0.1 s more for every newton of
    either, however they share the load."""
    model = wired("pulled", "body.M spring.R first.R second.R", "spring.C pull.R",
                  "first.C second.C pull.C ground.V",
                  body=tr.Mass(), spring=tr.Spring(stiffness="100 N/m"), ground=tr.Reference(),
                  first=dry(1, 2), second=dry(1, 3), pull=tr.VelocitySource(velocity="0.1 m/s"))
    run = model.simulate("0.7 s", rtol=1e-10, sensitivities=[
        "first.breakaway_force", "second.breakaway_force"])
    times, moved = run.sensitivities.event_times
    assert_allclose(times, 0.5, rtol=1e-9)
    assert_allclose(moved, 0.1, rtol=1e-9)
    assert not run.sensitivities.notes
    # from 0.5 s on m x'' = 5 N + 10 N/s t - 2 N - k x, and begins with 1 N more for each newton
    t, w = 0.2, 10.0
    by_time = 3.0 * np.cos(w * t) + 1.0 * np.sin(w * t)  # x''
    by_force = np.sin(w * t) / w - 0.1 * by_time
    for one in ("first", "second"):
        by = run.sensitivities["body.v", f"{one}.breakaway_force"].final.to_base_units().magnitude
        assert by == pytest.approx(by_force, rel=1e-7)


class Boiler(Component):
    """A heated boiler whose valve, open from 50 K on, fills a chamber at once."""

    loss, valve = Parameter("10 W/K"), Parameter("1e6 1/s")
    T = Variable("K", "0 K", priority="high")
    p = Variable("Pa", "1e5 Pa", priority="high", nominal="1e5 Pa")

    def equations(self):
        yield quantity("1 kJ/K") * der(self.T) == quantity("1 kW") - self.loss * self.T
        yield der(self.p) == where(quantity("50 K") < self.T, self.valve * (
            quantity("2e5 Pa") - self.p), quantity("0 Pa/s"))


@pytest.mark.parametrize("method", ["auto", "rodas4"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("rate", [1e6, 1e9])
def test_changes_die_out_with_what_settles_at_once_after_an_event(rate, rtol, method):
    # T = P/loss (1 - exp(-loss t / C)) opens the valve; p moves with that instant, by its slope
    # valve 1e5 Pa exp(-valve t), and is 2e5 Pa whatever the loss, soon after
    model = wired("boiler", boiler=Boiler(valve=quantity(rate, "1/s")))
    run = model.simulate("100 s", method=method, rtol=rtol, sensitivities=["boiler.loss"])
    series = run.sensitivities["boiler.p", "boiler.loss"]
    times, by = run.sensitivities.event_times
    c, loss, part = 1e3, 10.0, 0.5  # of the 100 K at the end
    moves = (c / loss**2) * (np.log(1 - part) + part / (1 - part))
    assert_allclose(by[:1], [[moves]], rtol=10 * rtol)
    assert not by[1:].any()  # where auto goes on by another method, which nothing moves
    for after in (5.0, 10.0, 20.0, 40.0, 100.0, 1e3):
        t = times[0] + after / rate
        exact = -rate * 1e5 * np.exp(-rate * (t - times[0])) * by[0, 0]
        # in parts of 1e5 Pa for 10 W/K, and of what is there
        assert_allclose(series.at(quantity(t, "s")).to_base_units().m, exact,
                        rtol=10 * rtol, atol=10 * rtol * 1e4)
