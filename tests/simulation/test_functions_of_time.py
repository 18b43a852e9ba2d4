"""Sawteeth, pulses and carriers: what time does, however short it is and however long the run."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry
from benches.parts import Carrier
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq

import blocks
from blocks import Component, Discrete, Parameter, Variable, der, exp, floor, quantity, time, where
from blocks.system.time_functions import TimeFunctions
from library.signal import TimeFunction
from library.translational import ForceSource, Mass, Reference, TranslationalFriction, table

# -- sawteeth ---------------------------------------------------------------------------------
PERIOD, PERIODS = 20e-6, 50
END = PERIOD * PERIODS
METHODS = ["auto", "dopri5", "rodas4"]
RATE = 2.5  # of the duty in 1/s: pulses are longer by 1 ns each
DUTIES = {"late": (1.0, -RATE), "soon": (0.0, RATE), "between": (0.3, RATE)}


def sawtooth(t):
    return blocks.mod(t, quantity(PERIOD, "s")) / quantity(PERIOD, "s")


class Modulator(Component):
    """Counts how long a sawtooth is below the duty, which is a state or a function of time."""

    of = blocks.Option("state", ("state", "time", "switched time"))
    duty = blocks.Option("late", tuple(DUTIES))
    on, moved = Variable("s", "0 s", priority="high"), Variable("1", 0.0, priority="high")

    def equations(self):
        first, rate = DUTIES[self.duty]
        rate = quantity(rate, "1/s")
        yield der(self.moved) == rate
        ramp = blocks.abs_(time) * rate
        duty = first + {"state": self.moved, "time": ramp,
                        "switched time": where(time > quantity("1 ns"), ramp, 0.0)}[self.of]
        yield der(self.on) == where(sawtooth(time) < duty, 1.0, 0.0)


def on_by_hand(duty):
    """Instants at which the level is passed, and for how long the sawtooth is below."""
    first, rate = DUTIES[duty]
    k = np.arange(PERIODS)
    at = (k + first) / (1 / PERIOD - rate)  # (t - k T)/T = first + rate t
    inside = (at > k * PERIOD) & (at < (k + 1) * PERIOD)
    return at[inside], np.sum(np.clip(at - k * PERIOD, 0.0, PERIOD))


@pytest.mark.parametrize(("duty", "of", "method"), [
    *(("late", "state", method) for method in METHODS), ("soon", "state", "auto"),
    ("between", "state", "rodas4"), ("late", "time", "dopri5"), ("between", "time", "dopri5"),
    ("soon", "switched time", "dopri5"), ("late", "switched time", "dopri5")])
def test_a_duty_that_is_a_state_or_follows_time_meets_every_tooth(duty, of, method):
    model = wired("modulator", one=Modulator(duty=duty, of=of))
    run = model.simulate(quantity(END, "s"), method=method)
    instants, on = on_by_hand(duty)
    assert_allclose([e.time for e in run.events if "falls" in e.description], instants,
                    rtol=0, atol=1e-12)  # fmt: skip
    assert_allclose(run["one.on"].final.to("s").m, on, rtol=1e-9)


class Duty(Component):
    value = Variable("1", 1.0, priority="high")
    y = blocks.Input("1")
    below = Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.value) == quantity(-RATE, "1/s")
        yield der(self.below) == where(self.y < self.value, 1.0, 0.0)


def test_a_sawtooth_may_come_from_another_component():
    model = wired("blocks", "saw.y duty.y", duty=Duty(), saw=TimeFunction(value=sawtooth))
    run = model.simulate(quantity(END, "s"))
    assert_allclose(run["duty.below"].final.to("s").m, on_by_hand("late")[1], rtol=1e-9)


class Sum(Component):
    """The integral of a staircase and of the square of a sawtooth, both of time."""

    period = Parameter("20 us")
    area = Variable("s", "0 s", priority="high", nominal="1 us")
    steps = Variable("s", "0 s", priority="high", nominal="1 us")
    wave, tilted = Variable("s", "0 s", priority="high", nominal="1 us"), Variable("1")

    def equations(self):
        yield self.tilted == blocks.mod(-time, self.period) / self.period
        yield der(self.area) == self.tilted**2
        yield der(self.steps) == floor(time / self.period)
        yield der(self.wave) == floor(3 * blocks.sin(time * quantity(1 / END,
                                                                     "1/s")))  # curved in time


@pytest.mark.parametrize(("start", "method"), [
    (0.0, "auto"), (0.0, "RK23"), (3.3 * PERIOD, "dopri5"), (3.3 * PERIOD, "rodas4")])
def test_a_sawtooth_in_an_equation_is_stepped_onto_its_jumps(method, start):
    model = wired("sum", one=Sum())
    run = model.simulate(quantity(END - start, "s"), method=method, start_time=quantity(start, "s"),
                         rtol=1e-8)
    t = np.append(start, PERIOD * np.arange(np.ceil(start / PERIOD), PERIODS + 1))
    left = -t / PERIOD - np.floor(-t / PERIOD)  # of the tooth, as a share
    left[1:] = 1.0  # a new one begins behind every jump
    after = left[:-1] - np.diff(t) / PERIOD
    assert_allclose(run["one.area"].final.to("s").m,
                    PERIOD * np.sum(left[:-1] ** 3 - after**3) / 3, rtol=2e-6)
    whole = np.floor(np.round(t / PERIOD, 6))
    assert_allclose(run["one.steps"].final.to("s").m, np.sum(whole[:-1] * np.diff(t)), rtol=2e-6)
    jumps = END * np.arcsin([1 / 3, 2 / 3])
    assert_allclose(run["one.wave"].final.to("s").m, np.sum(END - np.maximum(jumps, start)),
                    rtol=2e-6)  # fmt: skip
    times = np.unique(np.round([e.time for e in run.events], 13))
    assert_allclose(times, np.sort(np.append(t[1:-1], jumps[jumps > start])), rtol=0, atol=1e-12)


def test_at_a_jump_the_new_tooth_has_begun():
    run = wired("saw", saw=TimeFunction(value=sawtooth)).simulate(quantity(END, "s"))
    at = PERIOD * np.arange(1, PERIODS)
    assert_allclose(run["saw.y"].at(quantity(at, "s")).m, 0, atol=1e-9)
    assert_allclose(run["saw.y"].at(quantity(at - PERIOD / 4, "s")).m, 0.75, rtol=1e-9)


class Count(Component):
    y = blocks.Input("1")
    on = Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.on) == where(self.y > 0.5, 1.0, 0.0)


def test_a_burst_within_a_tooth_is_not_passed_while_all_rests():
    width = 1e-4  # s, of a bell curve in the middle of every second

    def bell(t):
        return exp(-(((blocks.mod(t, quantity("1 s")) - quantity("0.5 s")) / quantity(width,
                                                                                      "s")) ** 2))

    model = wired("bursts", "bell.y count.y", count=Count(), bell=TimeFunction(value=bell))
    run = model.simulate("20 s")
    assert_allclose(run["count.on"].final.to("s").m, 20 * 2 * width * np.sqrt(np.log(2)), rtol=1e-9)


@pytest.mark.parametrize(("kilohertz", "periods", "method"), [
    (30, 21_000, "auto"), (30, 21_000, "rodas4"), (30, 21_000, "DOP853"), (50, 35_000, "dopri5"),
    pytest.param(70, 91_000, "auto", marks=pytest.mark.slow)])
def test_instants_at_which_long_runs_are_parted_are_not_passed_over(kilohertz, periods, method):
    """Such a run is divided part by part, and its parts end at instants but for rounding."""
    model = wired("carrier", carrier=Carrier(frequency=quantity(kilohertz, "kHz")))
    seconds = periods / (1e3 * kilohertz)
    result = model.simulate(quantity(seconds, "s"), method=method)
    assert result.statistics["events"] == 2 * periods - 1
    assert_allclose(result["carrier.on"].final.m_as("s"), seconds / 2, rtol=1e-12)


class Ramp(Component):
    """Counts for how long a level has been passed."""

    level = Parameter("1 ms")
    moved, beyond = Variable("s", "0 s", priority="high"), Variable("s", "0 s", priority="high")

    def equations(self):
        yield der(self.moved) == 1.0
        yield der(self.beyond) == where(self.moved > self.level, 1.0, 0.0)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
@pytest.mark.parametrize("levels", [0, 1, 2, 5])
def test_no_instant_is_passed_over_where_no_more_events_can_be_kept(levels, method, monkeypatch):
    """Of large models few are handed over at a time, and what is crossed meanwhile counts too."""
    monkeypatch.setattr("blocks.native.own_events.MOST_EVENTS", 7)
    model = wired("carrier", carrier=Carrier())
    for k in range(levels):
        model.add(f"ramp{k}", Ramp(level=quantity(0.0101 + 0.0203 * k, "ms")))
    result = model.simulate("0.4 ms", method=method)
    assert result.statistics["events"] == 40 - 1 + levels
    assert_allclose(result["carrier.on"].final.m_as("ms"), 0.2, rtol=1e-12)
    for k in range(levels):
        assert_allclose(result[f"ramp{k}.beyond"].final.m_as("ms"), 0.3899 - 0.0203 * k)


# -- pulses far narrower than steps -----------------------------------------------------------
PASSED_AT = 0.3


class Kicked(Component):
    """What swings kicks a store each time it passes a place: y'' = -y, z' = exp(-((y-c)/eps)^2)."""

    eps = Parameter(1e-3)
    y, u = Variable("1", 1.0, priority="high"), Variable("1", 0.0, priority="high")
    z = Variable("1", 0.0, priority="high")

    def equations(self):
        per_second = quantity(1, "1/s")
        yield der(self.y) == per_second * self.u
        yield der(self.u) == -per_second * self.y
        yield der(self.z) == per_second / self.eps * exp(-(((self.y - PASSED_AT) / self.eps) ** 2))


class Flash(Component):
    """A store that a bell of time fills: z' = exp(-((t-3.3 s)/w)^2)/w."""

    width = Parameter("0.1 ms")
    z = Variable("1", 0.0, priority="high")

    def equations(self):
        late = time - quantity(3.3, "s")
        yield self.width * der(self.z) == exp(-((late / self.width) ** 2))


def run_of(part, end, **options):
    m = blocks.Model("pulses")
    m.a = part
    return m.simulate(end, **options)


EVERY = ["auto", "dopri5", "rodas4", "Radau", "DOP853", "ode45"]


@pytest.mark.parametrize(("method", "eps", "rtol", "off"), [
    *((method, 3e-5, 1e-6, 5e-5) for method in EVERY), ("auto", 1e-3, 1e-6, 5e-5),
    ("Radau", 1e-3, 1e-6, 5e-5), *((method, 1e-3, rtol, 100 * rtol + 2e-6)
                                   for method in ("dopri5", "rodas4") for rtol in (1e-4, 1e-8))])
def test_every_pulse_of_a_state_is_added_up(method, eps, rtol, off):
    run = run_of(Kicked(eps=eps), "12 s", method=method, rtol=rtol)
    times = np.linspace(0.0, 12.0, 25)
    first = np.arccos(PASSED_AT)
    instants = np.sort([s + 2 * np.pi * k for k in range(2) for s in (first, 2 * np.pi - first)])
    one = np.sqrt(np.pi) / np.sin(first)  # eps / |y'| of the bell's area; by eps^2 less
    exact = one * np.searchsorted(instants, times)
    # what swings is late by some 1e-6, and so is faster or slower there by as much
    assert_allclose(run["a.z"].at(quantity(times, "s")).magnitude, exact, atol=off * exact[-1])


@pytest.mark.parametrize("method", EVERY)
def test_a_pulse_of_time_is_added_up(method):
    run = run_of(Flash(), "10 s", method=method)
    assert_allclose(run["a.z"].at(quantity(10, "s")).magnitude, np.sqrt(np.pi), rtol=1e-4)


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("of", [
    lambda m, a: m.maximum(m.sin(a), 0), lambda m, a: m.minimum(abs(m.sin(a)), 0.5),
    lambda m, a: m.arcsin(m.sin(a)), lambda m, a: m.sqrt(m.sin(a) ** 2)])
def test_what_bends_in_time_is_as_exact_as_all_else(of, method):
    """z' = f(t) - z."""
    class Bent(Component):
        z = Variable("1", 0.0, priority="high")

        def equations(self):
            yield quantity("1 s") * der(self.z) == of(blocks, quantity("2 1/s") * time) - self.z

    exact, _ = quad(lambda t: of(np, 2 * t) * np.exp(t - 10), 0, 10,
                    points=np.arange(1, 39) * np.pi / 12, limit=200)
    assert run_of(Bent(), "10 s", method=method)["a.z"].final.m == pytest.approx(exact, abs=3e-6)


@pytest.mark.parametrize(("method", "rtol"), [
    ("dopri5", 1e-6), ("dopri5", 1e-9), ("rodas4", 1e-6), ("DOP853", 1e-9)])
def test_friction_that_rises_before_the_motion_turns_is_not_stepped_over(method, rtol):
    (turn,) = turned().simulate("1 s", method=method, rtol=rtol).events
    assert turn.time == pytest.approx(turns_after(), abs=0.1 * rtol)


def turned():
    """dv/dt = 12 + exp(-(v / 0.1)^2), where constant friction lets steps grow."""
    return wired("turned", "body.M floor.R push.R", "ground.V floor.C push.C",
                 body=Mass(v="-1.2 m/s"), ground=Reference(),
                 floor=TranslationalFriction(law="stribeck", breakaway_force="3 N",
                                             coulomb_force="2 N"), push=ForceSource(force="10 N"))


def turns_after():
    """When that turns, by a quadrature."""
    return quad(lambda v: 1 / (12 + np.exp(-(v / 0.1) ** 2)), -1.2, 0, points=[-0.3, -0.1],
                epsabs=1e-13)[0]


# -- however long the run is --------------------------------------------------------------------
@pytest.mark.parametrize(("method", "end"), [
    ("auto", "20 s"), ("auto", "1e6 s"), ("dopri5", "1000 s"), ("dopri5", "1e6 s"),
    ("rodas4", "1e6 s")])
def test_a_pulse_of_a_nanosecond_kicks_a_body_however_long_the_run_is(method, end):
    model, off = blocks.Model("kick"), 10 + 1e-9
    model.body, model.ground = Mass(mass="1 kg"), Reference()
    force = quantity(1 / (off - 10), "N")
    wire(model, "body.M push.R", "ground.V push.C",
         push=ForceSource(force=table(["0 s", "10 s", "10 s", quantity(off, "s"),
                                       quantity(off, "s")], ["0 N", "0 N", force, force, "0 N"])))
    assert_allclose(model.simulate(end, method=method)["body.v"].final.m, 1.0, rtol=1e-6)


class Echo(Component):
    """A pulse of a nanosecond, a store that it fills, and another that it fills later."""

    z, later = Variable("1", 0.0, priority="high"), Variable("1", 0.0, priority="high")
    pulse = Variable("1")
    seen = Discrete("1", 0.0)

    def equations(self):
        on, off = quantity(10, "s"), quantity(10 + 1e-9, "s")
        yield self.pulse == where((time > on) & (time < off), 1 / quantity(10 + 1e-9 - 10, "1"), 0)
        yield quantity("1 s") * der(self.z) == self.pulse
        yield quantity("1 s") * der(self.later) == blocks.delayed(self.pulse, quantity("3 s"))
        yield blocks.when(self.later > 0.5, {self.seen: self.seen + 1})


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853"])
def test_a_pulse_of_a_nanosecond_arrives_later(method):
    run = run_of(Echo(), "1e4 s", method=method)
    assert_allclose([run["a.z"].final.m, run["a.later"].final.m], 1.0, rtol=1e-5)
    assert run["a.seen"].final.m == 1


class Timers(Component):
    """Conditions on time whose rounding is far from that of the instant at which they switch."""

    soon, late, number = Discrete("1", 0.0), Discrete("1", 0.0), Discrete("1", 0.0)

    def equations(self):
        yield blocks.when(time + quantity(1000.1, "s") > quantity(1000.6, "s"),
                          {self.soon: self.soon + 1})
        yield blocks.when(time / quantity(1000, "s") >= 3, {self.late: self.number})
        yield blocks.every(quantity(1000, "s"), {self.number: self.number + 1})


def test_conditions_on_time_switch_at_their_instants_however_their_terms_round():
    assert run_of(Timers(), "1 s")["a.soon"].final.m == 1
    run = run_of(Timers(), "3500 s")
    assert [run[f"a.{name}"].final.m for name in ("soon", "late", "number")] == [1, 4, 4]
    assert sum(abs(e.time - 3000) < 1 for e in run.events) == 1


# -- carriers for long ------------------------------------------------------------------------
CARRIER = 1e3  # Hz


def newtons(value):
    return quantity(value, "N")


def turns(t):
    return quantity(CARRIER, "Hz") * t


def shaken(force):
    """1 kg on a floor that holds 10 N, under a force."""
    return wired("shaken", "block.M load.R friction.R", "floor.V load.C friction.C",
                 block=Mass(mass="1 kg"), floor=Reference(), load=ForceSource(force=force),
                 friction=dry(10))


@pytest.mark.parametrize("start", [0.0, 3.6e6])
def test_no_period_of_a_carrier_is_stepped_over(start):
    """A load that grows while the carrier shakes the block: it slips at the first crest above
    10 N, for a few microseconds."""
    def load(t):
        return newtons(4.0) * blocks.sin(2 * np.pi * turns(t)) + quantity("1 N/s") * (
            t - quantity(start, "s"))

    result = shaken(load).simulate("1000 h", start_time=f"{start} s", until="block.v > 1 nm/s")
    slips = brentq(lambda t: 4 * np.sin(2 * np.pi * CARRIER * t) + t - 10, 6.0, 6.00025, xtol=1e-12)
    assert_allclose(float(result.events[0].time) - start, slips, rtol=0, atol=1e-8)


def test_jumps_of_a_floor_are_borders_of_pieces_at_any_time():
    """A sawtooth is 0 to 1 in every period, and its pieces end at its jumps, to the last digits."""
    system = shaken(lambda t: newtons(8.0) * (turns(t) - floor(turns(t)))).compile()
    for start in 0.0, 3.6e6:
        functions = TimeFunctions(system, system.parameters(), start, start + 3.6e6, np.zeros(0))
        pieces = functions.around(start)
        jumps = np.arange(start * CARRIER + 1, start * CARRIER + 100) / CARRIER
        nearest = pieces[np.abs(pieces[:, None] - jumps).argmin(axis=0)]
        assert_allclose(nearest, jumps, rtol=1e-15, atol=1e-12)


@pytest.mark.parametrize("force", [
    lambda t: newtons(4.0) + newtons(9.0) * (turns(t) - floor(turns(t))),
    lambda t: newtons(4.0) + where(blocks.sin(2 * np.pi * turns(t)) > 0, newtons(9.0),
                                   newtons(0.0))], ids=["floor", "condition"])
def test_more_instants_than_a_run_carries_out_are_refused_at_its_start(force):
    with pytest.raises(blocks.BlocksError, match="load: (jumps|varies)") as error:
        shaken(force).simulate("1000 h", until="block.v > 1 nm/s")
    assert "simulate a shorter time" in str(error.value).lower()
