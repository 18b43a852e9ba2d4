"""Everything that lets go, lifts off or switches while a model is at rest is found.

No state moves, so no error estimate asks for short steps. Times come from closed forms.
"""

from itertools import cycle

import numpy as np
import pytest
from benches import few, wire, wired
from benches.analysis import newtons
from benches.friction import dry
from benches.held_at_rest import lifts, switches
from numpy.testing import assert_allclose
from scipy.special import gamma

import blocks
from blocks import Component, Discrete, Variable, abs_, der, exp, quantity, sin, time, when
from library.mechanisms import DiscClutch
from library.planar import Body, Circle, Contact, Force, Ground, Line
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Abs, Constant, Gain, MathFunction, Minimum, Ramp, Sine, Subtract
from library.translational import ForceSource, HardStop, Mass, Reference

METHODS = ["auto", "DOP853", "RK45", "RK23", "ode45", "ode23s", "Radau", "BDF", "dopri5", "rodas4"]
FIXED = {"euler": 2.5, "rk4": 0.1, "backward_euler": 2.5, "trapezoidal": 0.5, "moreau_jean": 3.0}


def held(load, *, kinetic=1, static=1):
    """A body of 1 kg on a rough floor under a load."""
    return wired("held", "body.M rub.R load.R", "floor.V rub.C load.C",
                 body=Mass(mass="1 kg"), floor=Reference(),
                 rub=dry(kinetic, static), load=ForceSource(force=load))


def swinging(amplitude, period=1.0):
    return lambda t: quantity(amplitude, "N") * sin(t * quantity(2 * np.pi / period, "rad/s"))


def modes(run, component):
    """(time, mode) of a friction's events."""
    of = {"sticks": 0, "slides forward": 1, "slides backward": -1}
    return [(e.time, of[e.description]) for e in run.events if e.component == component]


def assert_switches(run, expected, atol, component="rub"):
    found = modes(run, component)
    assert [mode for _, mode in found] == [mode for _, mode in expected]
    assert_allclose([t for t, _ in found], [t for t, _ in expected], rtol=0, atol=atol)


@pytest.mark.parametrize(("amplitude", "method"), [
    *((1.001, method) for method in METHODS), (1.1, "auto"), (3.0, "dopri5"), (3.0, "Radau")])
def test_a_body_held_by_friction_lets_go_whenever_the_load_is_larger(amplitude, method):
    run = held(swinging(amplitude)).simulate("1.6 s", method=method)
    # A speed of amplitude - 1 is known to the absolute tolerance of 1e-8 m/s.
    assert_switches(run, switches(amplitude, 1.0, 1.0, 1.0, 1.6), 1e-5 + 1e-7 / (amplitude - 1))


@pytest.mark.parametrize(("amplitude", "method"), [
    *((1.03, method) for method in FIXED), (2.0, "rk4")])
def test_methods_of_fixed_step_find_it_to_a_step(amplitude, method):
    step = 4e-3
    run = held(swinging(amplitude)).simulate("1.1 s", method=method, step=quantity(step, "s"))
    assert_switches(run, switches(amplitude, 1.0, 1.0, 1.0, 1.1), FIXED[method] * step)


@pytest.mark.parametrize(("amplitude", "static"), [(1.3, 1.25), (1.2501, 1.25), (2.9, 2.0)])
def test_breakaway_above_coulomb_friction(amplitude, static):
    model = held(swinging(amplitude), static=static)
    assert_switches(model.simulate("10 s"), switches(amplitude, 1.0, static, 1.0, 10.0), 1e-6)


@pytest.mark.parametrize(("periods", "amplitude"), [(300, 1.003), (1000, 3.0)])
def test_a_thousand_periods_have_two_thousand_break_aways(periods, amplitude):
    run = held(swinging(amplitude, 0.05)).simulate(quantity(0.05 * periods, "s"))
    expected = switches(amplitude, 1.0, 1.0, 0.05, 0.05 * periods)
    assert len(expected) == (4 if amplitude < 2 else 2) * periods
    assert_switches(run, expected, 1e-5)


@pytest.mark.parametrize(("width", "method"), [
    (1e-4, "auto"), (1e-4, "Radau"), (1e-4, "dopri5"), (1e-3, "auto"), (1e-2, "Radau")])
def test_smooth_bursts_down_to_a_ten_thousandth_of_the_run_are_found(width, method):
    # two periods of exp(-(sin(pi t/6)/a)^2), at 0, 6 and 12 s; over the bound for a few widths
    a = width * 12 * np.pi / 6
    model = held(lambda t: quantity("2 N") * exp(-(sin(np.pi * t / quantity("6 s")) / a) ** 2),
                 kinetic=1.5, static=1.5)
    run = model.simulate("12 s", method=method)
    away = 6 / np.pi * np.arcsin(a * np.sqrt(np.log(2 / 1.5)))
    loose = [t for t, mode in modes(run, "rub") if mode == 1]
    assert_allclose(loose, [0, 6 - away, 12 - away][1 - (loose[0] == 0):], rtol=0, atol=1e-7)


@pytest.mark.parametrize(("power", "method"), [
    (171, "rodas4"), (601, "dopri5"), (601, "DOP853"), (601, "RK23"), (801, "ode45")])  # fmt: skip
def test_smooth_peaks_between_the_quarters_of_a_step_are_found(power, method):
    """Six peaks of 2 N sin(t)^n: each breaks the body loose once, where it comes to 1.25 N."""
    run = held(lambda t: quantity("2 N") * sin(quantity("1 rad/s") * t) ** power,
               static=1.25).simulate("20 s", method=method)
    first = np.arcsin(0.625 ** (1 / power))
    assert_allclose([(time, mode) for time, mode in modes(run, "rub") if mode],
                    [(first + np.pi * k, (-1) ** k) for k in range(6)], rtol=0, atol=1e-6)


def test_a_burst_of_two_millionths_of_the_run_is_found_among_slow_loads():
    def load(t):
        burst = exp(-(((t - quantity("6.2831 s")) / quantity("20 us")) ** 2))
        return quantity("0.5 N") * sin(t * quantity("0.7 rad/s")) + quantity("3 N") * burst

    run = held(load).simulate("10 s")
    assert [mode for _, mode in modes(run, "rub")] == [1, 0]
    assert_allclose(run.events[0].time, 6.2831, atol=1e-4)


@pytest.mark.parametrize("method", ["auto", "Radau", "dopri5", "BDF"])
def test_two_frictions_on_a_shaft_let_go_together_at_their_joint_bound(method):
    seal, bearing = (RotationalFriction(law="coulomb", coulomb_torque=t, breakaway_torque=t)
                     for t in ("0.25 N*m", "0.75 N*m"))
    model = wired("shaft", "rotor.I seal.R bearing.R drive.R", "ground.W seal.C bearing.C drive.C",
                  rotor=Inertia(inertia="1 kg*m^2"), ground=RotationalReference(), seal=seal,
                  bearing=bearing, drive=TorqueSource(
                      torque=lambda t: swinging(1.002)(t) * quantity("1 m")))
    run = model.simulate("3 s", method=method)
    for one in ("seal", "bearing"):
        assert_switches(run, switches(1.002, 1.0, 1.0, 1.0, 3.0), 5e-5, one)


@pytest.mark.parametrize(("amplitude", "method"), [
    *((1.003, method) for method in ("auto", "Radau", "dopri5", "BDF", "RK45")), (1.5, "auto")])
def test_a_body_held_at_a_stop_lifts_off_and_lands_again(amplitude, method):
    # heights of 0.1 mm are known to 1e-6 m, and speeds at landing are some mm/s
    model = wired("stop", "body.M load.R stop.R", "floor.V load.C stop.C",
                  body=Mass(mass="1 kg"), floor=Reference(), stop=HardStop(
                      model="restitution", restitution=0.0, lower_bound="0 m", upper_bound="99 m"),
                  load=ForceSource(force=lambda t: swinging(amplitude, 2 * np.pi)(t) - newtons(1)))
    run = model.simulate("20 s", method=method)
    times, words = zip(*lifts(amplitude, 1.0, 20.0), strict=True)
    assert [e.description.split()[0] for e in run.events] == [*words]
    assert_allclose([e.time for e in run.events], times, atol=1e-3, rtol=0)
    assert_allclose([e.time for e in run.events][::2], times[::2], atol=1e-8)
    assert run["stop.lower_force"].min().m > -1e-9


@pytest.mark.parametrize("method", ["auto", "dopri5"])
def test_a_disc_on_a_line_is_not_pulled(method):
    model = wired("disc", "ground.P touch.B", "disc.P touch.F pull.P",
                  ground=Ground(), disc=Body(mass="1 kg", inertia="20 g*m^2", x="0 m", y="0.2 m",
                                             vx="0 m/s", vy="0 m/s", w="0 rad/s", phi="0 rad"),
                  touch=Contact(curve=Circle("0.2 m"), base=Line(), friction=0.3),
                  pull=Force(fy=lambda t: quantity("9.83 N") * sin(t * quantity("2 rad/s"))))
    run = model.simulate("12 s", method=method)
    lifted = [e.time for e in run.events if e.description == "opens"]
    assert_allclose(lifted, np.arcsin(9.81 / 9.83) / 2 + np.pi * np.arange(4), atol=2e-5)
    t = np.random.default_rng(3).uniform(0, 12, 300)
    pressed, rubbed = (run[f"touch.{n}"].at(quantity(t, "s")).to("N").m for n in ("N", "T"))
    assert pressed.min() > -1e-9
    assert (np.abs(rubbed) - 0.3 * pressed).max() < 1e-9


@pytest.mark.parametrize("method", ["auto", "Radau", "dopri5"])
def test_a_clutch_slips_while_a_signal_presses_it_too_little(method):
    # capacity 0.5 N m per N against 2 N m, pressed by 5 N + 1.01 N sin(2 pi t): below 4 N slips
    model = wired("clutch", "rotor.I clutch.R drive.R", "ground.W clutch.C drive.C",
                  "press.y clutch.N",
                  rotor=Inertia(inertia="100 kg*m^2"), ground=RotationalReference(),
                  clutch=DiscClutch(static_coefficient=0.5, kinetic_coefficient=0.5, surfaces=1.0,
                                    effective_radius="1 m"),
                  press=Sine(amplitude="1.01 N", bias="5 N", frequency="1 Hz"),
                  drive=TorqueSource(torque="2 N*m"))
    run = model.simulate("4 s", method=method)
    slips = [e.time for e in run.events if e.description == "slides forward"]
    assert_allclose(slips, 0.5 + np.arcsin(1 / 1.01) / (2 * np.pi) + np.arange(4), atol=1e-6)


@pytest.mark.parametrize("method", ["auto", "Radau", "dopri5", "ode45", "RK45"])
def test_relations_of_resting_states_are_found(method):
    """Conditions on a state that rests and a function of time that only just reaches it."""

    class Watch(Component):
        x = Variable("1", 1.0, priority="high")
        seen = Discrete("1", 0.0)

        def equations(self):
            yield quantity("1 s") * der(self.x) == 0
            yield when(1.0005 * sin(time * quantity("1 rad/s")) > self.x, {
                self.seen: self.seen + 1})  # fmt: skip

    run = wired("watch", watch=Watch()).simulate("60 s", method=method)
    assert run["watch.seen"].final.m == 10
    times = np.arcsin(1 / 1.0005) + 2 * np.pi * np.arange(10)
    assert_allclose([e.time for e in run.events], times, atol=1e-9)


def test_conditions_on_time_alone_are_found_however_short_they_hold():
    class Pulses(Component):
        seen = Discrete("1", 0.0)

        def equations(self):
            yield when(sin(time * quantity("50 rad/s")) > 0.99999999, {self.seen: self.seen + 1})

    run = wired("pulses", pulses=Pulses()).simulate(quantity(2 * np.pi, "s"))
    assert run["pulses.seen"].final.m == 50


# -- functions of time with kinks --------------------------------------------------------------
def seconds(value):
    return quantity(value, "s")


#: Loads of 1.3 N at their kinks, ends of a run, and when 1.25 N is passed upwards.
KINKED = {
    "1 - |sin t|": (
        lambda t: newtons(1.3) * (1 - abs_(sin(quantity("1 rad/s") * t + 0.3))), 100.0,
        np.pi * np.arange(1, 32) - 0.3 - np.arcsin(0.05 / 1.3)),
    "triangle": (
        lambda t: newtons(1.3) * blocks.maximum(1 - abs_(t - seconds(170.928)) / seconds(10), 0),
        1000.0, [170.928 - 10 * 0.05 / 1.3]),
    "exp(-|t|)": (
        lambda t: newtons(1.3) * exp(-abs_(t - seconds(51.23)) / seconds(0.5)), 100.0,
        [51.23 - 0.5 * np.log(1.3 / 1.25)]),
    "minimum": (
        lambda t: newtons(1.3) - newtons(2.6) * abs_(
            blocks.minimum(t, seconds(81.7) - t) / seconds(50) - 0.8), 70.0,
        [40.0 - 50 * 0.05 / 2.6])}  # fmt: skip


@pytest.mark.parametrize(("kind", "method"), [*zip(KINKED, cycle(["auto", "rodas4"]))])
def test_a_body_lets_go_at_the_kinked_peak_of_its_load(kind, method):
    load, end, times = KINKED[kind]
    run = held(load, static=1.25).simulate(seconds(end), method=method)
    assert_allclose([t for t, mode in modes(run, "rub") if mode == 1], times, rtol=0, atol=1e-9)
    assert run["rub.f"].max().m <= 1.25 * (1 + 1e-9)


@pytest.mark.parametrize(("bound", "end", "method", "nets", "parts", "loose"), [
    # exp(-(300 sin(pi t/4))^2) 0.3 N: over 0.2 N within 1.6 ms of every multiple of 4 s
    (0.2, "11 s", "BDF",
     "wave.y square.u, square.y minus.u, minus.y burst.u, burst.y force.u, force.y load.S",
     lambda: {"wave": Sine(amplitude=300.0, frequency="0.125 Hz"), "square": MathFunction(),
              "minus": Gain(gain=-1.0), "burst": MathFunction(function="exp"),
              "force": Gain(gain="0.3 N")},
     [(t - 4 / np.pi * np.arcsin(np.sqrt(np.log(0.3 / 0.2)) / 300), 1) for t in (4, 8)]),
    # 1.3 N at every kink of |sin|
    (1.25, "100 s", "auto",
     "wave.y rectify.u, top.y rest.u1, rectify.y rest.u2, rest.y load.S",
     lambda: {"wave": Sine(amplitude="1.3 N", frequency="0.15 Hz"), "rectify": Abs(unit="N"),
              "top": Constant(value="1.3 N"), "rest": Subtract(unit="N")},
     [((k - np.arcsin(0.05 / 1.3) / np.pi) / 0.3, 1) for k in range(1, 31)]),
    # 1.3 N where a ramp from 3 s on meets one that falls, at 13 s; then ever more backwards
    *((1.25, "200 s", method,
       "rise.y fall.u2 least.u1, top.y fall.u1, fall.y least.u2, least.y load.S",
       lambda: {"rise": Ramp(slope="0.13 N/s", start="3 s"), "top": Constant(value="2.6 N"),
                "fall": Subtract(unit="N"), "least": Minimum(unit="N")},
       [(3 + 1.25 / 0.13, 1), (3 + 3.85 / 0.13, -1)]) for method in ("auto", "rodas4"))])
def test_bursts_and_kinks_of_signals_made_of_blocks_are_found(bound, end, method, nets, parts,
                                                              loose):
    model = held(lambda t: 0 * t * quantity("1 N/s"), kinetic=min(bound, 1), static=bound)
    wire(model, *nets.split(", "), **parts())
    run = model.simulate(end, method=method)
    found = [(t, mode) for t, mode in modes(run, "rub") if mode and t > 0]
    assert_allclose(found, loose, rtol=0, atol=1e-8 if method == "BDF" else 1e-9)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
@pytest.mark.parametrize("condition", [
    lambda t, w: abs_(t) < w,
    lambda t, w: blocks.minimum(t + w, w - t) > 0,
    lambda t, w: blocks.maximum(-w - t, t - w) < 0,
    lambda t, w: abs_(sin(t * quantity("3 mrad/s"))) < sin(w * quantity("3 mrad/s"))])  # fmt: skip
def test_a_brief_condition_on_time_with_a_kink_is_found(condition, method):
    class Watch(Component):
        x = Variable("1", 0.5, priority="high")
        seen = Discrete("1", 0.0)

        def equations(self):
            yield der(self.x) == quantity("0 1/s") * self.x
            there = condition(time - seconds(246.903), seconds(0.01))
            yield when(there, {self.seen: self.seen + 1})

    run = wired("watch", watch=Watch()).simulate("1000 s", method=method)
    assert run["watch.seen"].final.m == 1
    assert_allclose([e.time for e in run.events], [246.893], rtol=1e-12)


@pytest.mark.parametrize("power", [0.2, 0.5, 1.5])
@pytest.mark.parametrize("method", ["auto", "rodas4", "DOP853", "RK23", "BDF", "Radau", "ode45"])
def test_what_is_steep_at_a_kink_of_time_is_added_up_as_exactly_as_anything(method, power):
    class Rectified(Component):
        x = Variable("1", 0.0, priority="high")

        def equations(self):
            rate = quantity("1 rad/s")
            yield der(self.x) == abs_(sin(time * rate)) ** power * rate

    run = wired("steep", wave=Rectified()).simulate(quantity(3 * np.pi, "s"), method=method)
    exact = 3 * np.sqrt(np.pi) * gamma((power + 1) / 2) / gamma(power / 2 + 1)
    assert_allclose(run["wave.x"].final.m, exact, rtol=1e-5)


# -- what states hide -------------------------------------------------------------------------
def test_what_the_guide_says_of_features_in_states():
    """A function of a state is looked at in four places a step, not analysed as one of time."""

    class Gate(Component):
        at, width = blocks.Parameter("0.6 m"), blocks.Parameter("1 mm", above=0)
        x = Variable("m", "0 m", priority="high")
        passed = Discrete("1", 0.0)

        def equations(self):
            yield der(self.x) == quantity("1 m/s")
            yield when(exp(-(((self.x - self.at) / self.width) ** 2)) > 0.5, {
                self.passed: self.passed + 1})  # fmt: skip

    model = wired("gate", gate=Gate(width="0.1 m"))
    assert model.simulate("1 s")["gate.passed"].final.m == 1
    model.gate.width = "1 mm"
    assert model.simulate("1 s")["gate.passed"].final.m == 0
    assert model.simulate("1 s", max_step="4 ms")["gate.passed"].final.m == 1


@pytest.mark.parametrize("method", ["auto", "DOP853", "RK23", "ode45", "Radau", "dopri5", "rodas4"])
def test_a_sine_of_an_angle_is_seen_however_often_it_comes_again_in_a_step(method):
    """A disc that turns evenly asks for no short steps, and a condition moves nothing."""

    class Marks(Component):
        angle, speed = Variable("rad", "0 rad", priority="high"), Variable("rad/s", "1 rad/s")
        seen = Discrete("1", 0.0)

        def equations(self):
            yield der(self.angle) == self.speed
            yield der(self.speed) == quantity("0 rad/s^2")
            yield when(sin(60 * self.angle) > 0.95, {self.seen: self.seen + 1})

    run = wired("disc", marks=Marks()).simulate("5 s", method=method)
    first, period = np.arcsin(0.95) / 60, 2 * np.pi / 60
    assert_allclose([e.time for e in run.events], np.arange(first, 5, period), rtol=0, atol=1e-6)
    assert run["marks.seen"].final.m == len(run.events) == 48


@pytest.mark.parametrize("method", ["dopri5", "ode45"])
def test_a_step_over_very_many_turns_is_taken_in_parts(method):
    """A thousand turns in which nothing crosses, and one of a slow angle that does."""

    class Marks(Component):
        angle = Variable("rad", "0 rad", priority="high")
        slow, seen = Discrete("s", "-1 s"), Discrete("1", 0.0)

        def equations(self):
            yield der(self.angle) == quantity("1 rad/s")
            yield when(sin(1e3 * self.angle) > 2, {self.seen: self.seen + 1})
            yield when(sin(self.angle) > 0.5, {self.slow: time})

    run = wired("disc", marks=Marks()).simulate("6 s", method=method)
    assert run["marks.seen"].final.m == 0
    assert_allclose(run["marks.slow"].final.m, np.pi / 6, rtol=0, atol=1e-6)


# -- bounds hold whenever one looks -----------------------------------------------------------
@pytest.mark.parametrize("method", ["auto", "ode45", "dopri5"])
def test_friction_stays_within_its_bounds_at_every_instant(method):
    run = held(swinging(1.3, 0.7), static=1.25).simulate("7 s", method=method)
    t = np.random.default_rng(5).uniform(0, 7, 2000)
    force = np.abs(run["rub.f"].at(quantity(t, "s")).to("N").m)
    speed = np.abs(run["body.v"].at(quantity(t, "s")).to("m/s").m)
    assert force.max() <= 1.25 * (1 + 1e-9)
    assert_allclose(force[speed > 1e-9], 1.0, rtol=1e-9)


# -- continuous laws pass their kinks ---------------------------------------------------------
def rectifier(flat, steep, form):
    """A coil on an alternating voltage, across two diodes of opposite polarity."""

    class Bridge(Component):
        i, v = Variable("A", "0 A", priority="high"), Variable("V")

        def diode(self, v):
            knee, low, high = quantity("1 V"), quantity(flat, "S"), quantity(steep, "S")
            if form == "where":
                return blocks.where(v < knee, low * v, high * (v - knee) + low * knee)
            return low * blocks.minimum(v, knee) + high * blocks.maximum(v - knee, 0)

        def equations(self):
            source = quantity("200 V") * sin(quantity("314.159 1/s") * time)
            yield quantity("0.1 mH") * der(self.i) == source - self.v
            yield self.i == self.diode(self.v - quantity("150 V")) - self.diode(
                -self.v - quantity("150 V"))  # fmt: skip

    return wired("rectifier", bridge=Bridge())


@few(2, ("flat", "steep", "method"), [
    (0.02, 500.0, "BDF"), (0.02, 500.0, "Radau"), (1e-5, 1e4, "rodas4")])
def test_a_continuous_law_passes_its_kink_however_steep_one_side_is(flat, steep, method):
    options = {"method": method, "rtol": 1e-7}
    run = rectifier(flat, steep, "where").simulate("20 ms", **options)
    same = rectifier(flat, steep, "minimum").simulate("20 ms", max_step="20 us", **options)
    t = quantity(np.linspace(0, 20, 41), "ms")
    scale = same["bridge.i"].max().m
    assert_allclose(run["bridge.i"].at(t).m, same["bridge.i"].at(t).m, atol=2e-5 * scale, rtol=0)
    # each crossing of +-151 V in each direction, once
    assert len(run.events) == 4


class FallThrough(Component):
    """x falls through zero, where a force changes; shortly before, it came within 1e-4 of it."""

    x, turns = Variable("1", 1.0, priority="high"), Variable("1", 0.0, priority="high")
    seen = Discrete("s", "-1 s")

    def equations(self):
        yield der(self.x) == quantity("-1 1/s")
        yield der(self.turns) == blocks.where(self.x > 0, 1.0, 2.0) / quantity("1 s")
        yield when(abs_(self.x) <= 1e-4, {self.seen: time})


@pytest.mark.parametrize("method", METHODS)
def test_what_crosses_and_crosses_back_just_before_another_crossing_is_found(method):
    run = wired("falling through", part=FallThrough()).simulate("1.9 s", method=method)
    assert_allclose(run["part.seen"].final.m, 1 - 1e-4, rtol=0, atol=1e-9)
    assert_allclose(run["part.turns"].final.m, 1 + 2 * 0.9, rtol=0, atol=1e-8)


@pytest.mark.parametrize("near", [
    lambda x, at: abs_(x - at) < 1e-6, lambda x, at: ~(abs_(at - x) >= 1e-6),
    lambda x, at: (abs_(x - at) <= 1e-6) & (x > 0)])
@pytest.mark.parametrize("method", ["auto", "RK45", "rodas4"])
def test_a_window_about_a_place_is_found_however_fast_it_is_passed(near, method):
    """A magnitude is two relations, each of which crosses once: the window of 2 um takes 20 ns."""

    class Switch(Component):
        x, seen = Variable("1", 0.0, priority="high"), Variable("1", 0.0, priority="high")
        passed = Discrete("1", 0)
        rate = blocks.Parameter("100 1/s")

        def equations(self):
            there = near(self.x, 60)
            yield der(self.x) == self.rate
            yield der(self.seen) == blocks.where(there, self.rate * 1e4, 0)
            yield when(there, {self.passed: self.passed + 1})

    run = wired("switch", switch=Switch()).simulate("1 s", method=method)
    assert run["switch.passed"].final.m == 1
    assert_allclose(run["switch.seen"].final.m, 0.02, rtol=1e-4)
