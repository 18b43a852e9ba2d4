"""Switches, jumps, samples: when they happen and what they leave behind."""

import numpy as np
import pytest
from benches import few, wired
from benches.parts import alone, final
from numpy.testing import assert_allclose
from scipy.special import erfinv

import blocks
from blocks import Component, Discrete, Parameter, Variable, der, every, quantity, time, when, where
from blocks.exceptions import SimulationError
from blocks.simulation.failures import on_switching
from library.signal import Pulse, Sine, Sum
from library.translational import HardStop, Mass, Reference

PER_SECOND = quantity("1 1/s")
SECOND = quantity("1 s")


class Circle(Component):
    """x = cos t, with a relation that is watched."""

    x, y = Variable("", "1", priority="high"), Variable("", "0", priority="high")
    above = Variable("")

    def equations(self):
        yield der(self.x) == -self.y * PER_SECOND
        yield der(self.y) == self.x * PER_SECOND
        yield self.above == where(self.x > 0.3, 1, 0)


@pytest.mark.parametrize("method", ["DOP853", "Radau", "ode45"])
def test_a_crossing_is_located_to_a_nanosecond(method):
    run = alone(Circle()).simulate("6 s", method=method, rtol=1e-11)
    first = np.arccos(0.3)
    assert_allclose([e.time for e in run.events], [first, 2 * np.pi - first], atol=1e-9)
    assert {e.component for e in run.events} == {"c"}
    at = run["c.above"].at
    instant = quantity(run.events[0].time, "s")
    assert [at(instant, side=s).magnitude for s in ("left", "right")] == [1, 0]


def test_an_event_that_triggers_another_at_the_same_instant():
    class Cascade(Component):
        x = Variable("", "0", priority="high")
        a, b = Discrete("", "0"), Discrete("", "0")

        def equations(self):
            yield der(self.x) == PER_SECOND
            yield when(self.x > 0.5, {self.a: 2})
            yield when(self.a > 1, {self.b: 7})

    assert alone(Cascade()).simulate("1 s")["c.b"].at("0.6 s").magnitude == 7


EVERYWAY = pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])


@EVERYWAY
def test_events_at_one_instant_are_all_counted(method):
    class Counts(Component):
        x = Variable("", "0", priority="high")
        n = Discrete("", "0")

        def equations(self):
            yield der(self.x) == PER_SECOND
            yield when(self.x > 0.5, {self.n: self.n + 1})
            yield when(time > 0.5 * SECOND, {self.n: self.n + 10})
            yield when(self.x**2 > 0.25, {self.n: self.n + 100})

    assert final(alone(Counts()).simulate("1 s", method=method), "c.n") == 111


@EVERYWAY
def test_a_counter_of_samples_may_begin_again_at_its_last(method):
    class Wraps(Component):
        x = Variable("", "0", priority="high")
        n, laps = Discrete("", "0"), Discrete("", "0")

        def equations(self):
            yield der(self.x) == PER_SECOND
            yield every("0.1 s", {self.n: self.n + 1}, start="0.1 s")
            yield when(self.n > 2.5, {self.n: 0, self.laps: self.laps + 1})

    run = alone(Wraps()).simulate("1.05 s", method=method)
    assert (final(run, "c.n"), final(run, "c.laps")) == (1, 3)  # 10 = 3 x 3 + 1


@EVERYWAY
def test_conditions_in_samples_find_own_values_as_they_were_before(method):
    class UpAndDown(Component):
        x = Variable("", "0", priority="high")
        level, way, seen = Discrete("", "0"), Discrete("", "1"), Discrete("", "0")
        double = Variable("")

        def equations(self):
            yield der(self.x) == PER_SECOND
            yield self.double == 2 * self.level
            turned = where(self.level > 2.5, -1, where(self.level < -1.5, 1, self.way))
            yield every("0.1 s", {self.level: self.level + self.way, self.way: turned,
                                  self.seen: where(self.double > 5, 1, 0)})

    level, way, expected = 0, 1, []
    for _ in range(20):
        level, way = level + way, -1 if level > 2.5 else 1 if level < -1.5 else way
        expected.append((level, way, int(2 * level > 5)))  # what follows is as it is afterwards
    run = alone(UpAndDown()).simulate("2 s", method=method)
    times = quantity((np.arange(20) + 0.5) / 10, "s")
    found = [run[f"c.{name}"].at(times).m for name in ("level", "way", "seen")]
    assert_allclose(np.transpose(found), expected, atol=0)


@EVERYWAY
def test_samplers_that_are_at_odds_stop_the_run(method):
    class AtOdds(Component):
        x = Variable("", "0", priority="high")
        n = Discrete("", "0")

        def equations(self):
            yield der(self.x) == PER_SECOND
            yield every("0.1 s", {self.n: self.n + 1}, start="0.1 s")
            yield every("0.2 s", {self.n: self.n + 10}, start="0.2 s")

    with pytest.raises(SimulationError) as caught:
        alone(AtOdds()).simulate("1 s", method=method)
    assert caught.value.code == "simulation.two_values" and caught.value.variables == ("c.n",)
    assert str(caught.value).startswith(
        "c.n: is given two values at t = 0.2 s by two every() statements: 2 and 11.")


def test_two_values_of_one_state_at_one_instant_stop_the_run():
    class AtOdds(Component):
        x = Variable("m", "0 m", priority="high")

        def equations(self):
            yield der(self.x) == quantity("1 m/s")
            yield when(time >= 0.5 * SECOND, {self.x: quantity("0 m")})
            yield when(time >= 0.5 * SECOND, {self.x: quantity("0.2 m")})

    with pytest.raises(SimulationError, match="two when.. statements: 0 m and 0.2 m"):
        alone(AtOdds()).simulate("1 s")


def test_a_hysteresis_relay_remembers_its_state():
    class Relay(Component):
        level = Variable("", "0", priority="high")
        on = Discrete("", "1")

        def equations(self):
            yield der(self.level) == (2 * self.on - 1) * PER_SECOND
            yield when(self.level > 1, {self.on: 0})
            yield when(self.level < 0.5, {self.on: 1})

    run = alone(Relay()).simulate("100.25 s", rtol=1e-9)
    t = np.linspace(0, 100, 401)[1:]  # up to 1 in a second, then a triangle of period 1 s
    exact = np.where(t < 1, t, 0.5 + np.abs(((t - 1) % 1.0) - 0.5))
    assert_allclose(run["c.level"].at(quantity(t, "s")).magnitude, exact, atol=1e-6)


# -- time alone ---------------------------------------------------------------------------------


class Pulses(Component):
    """On for ``width`` in every ``period``; counts its edges, integrates its output."""

    period, width, announced = Parameter("10 ms", above=0), Parameter("1 ms", above=0), Parameter(1)
    y, total = Variable(""), Variable("s", "0 s", priority="high")
    edges = Discrete("", "0")

    def equations(self):
        on = blocks.mod(time, self.period) < self.width
        yield self.y == where(on, 1, 0)
        yield der(self.total) == self.y
        yield when(on, {self.edges: self.edges + 1})


class AnnouncedPulses(Pulses):
    def equations(self):
        yield from super().equations()
        yield blocks.breakpoints("0 s", self.period)
        yield blocks.breakpoints(self.width, self.period)


class PulsesOnly(Component):
    """Pulses that nothing integrates."""

    edges, ends = Discrete("", "0"), Discrete("", "0")

    def equations(self):
        yield when(blocks.mod(time, "10 ms") < "1 ms", {self.edges: self.edges + 1})
        yield when(blocks.mod(time, "10 ms") >= "1 ms", {self.ends: self.ends + 1})
        yield blocks.breakpoints("0 s", "10 ms")
        yield blocks.breakpoints("1 ms", "10 ms")


def test_no_edge_of_a_thousand_pulses_is_missed():
    run = alone(PulsesOnly()).simulate("9.995 s")
    assert final(run, "c.edges") == 999  # the first pulse is on from the start
    exact = np.sort(np.concatenate([1e-3 + 1e-2 * np.arange(1000), 1e-2 * np.arange(1, 1000)]))
    assert_allclose([e.time for e in run.events], exact, atol=1e-12)


@pytest.mark.parametrize("pulses", [Pulses, AnnouncedPulses])
def test_the_integral_of_pulses_is_that_of_their_widths(pulses):
    count = 100
    run = alone(pulses()).simulate(quantity(10 * count - 5, "ms"), rtol=1e-6)
    assert final(run, "c.edges") == count - 1  # the first pulse is on from the start
    exact = np.sort(np.append(1e-3 + 1e-2 * np.arange(count), 1e-2 * np.arange(1, count)))
    assert_allclose([e.time for e in run.events], exact, rtol=0, atol=1e-12)
    assert final(run, "c.total") == pytest.approx(count * 1e-3, abs=1e-9)
    middle = 10e-3 * np.arange(count) + 0.5e-3
    assert np.all(run["c.y"].at(quantity(middle, "s")).magnitude == 1)
    assert np.all(run["c.y"].at(quantity(middle + 1e-3, "s")).magnitude == 0)


class Dosed(Component):
    """What decays gets a dose at regular instants."""

    period = Parameter("0.7 s", above=0)
    x = Variable("", "1", priority="high")

    def equations(self):
        yield der(self.x) == -self.x * PER_SECOND
        yield when(blocks.mod(time, self.period) < self.period / 2, {self.x: self.x + 0.5})


def test_what_is_integrated_jumps_at_regular_instants():
    run = alone(Dosed()).simulate("8 s", rtol=1e-9)
    instants = 0.7 * np.arange(1, 12)
    assert_allclose([e.time for e in run.events], instants, rtol=1e-12)
    expected = np.exp(-8) + 0.5 * np.exp(-(8 - instants)).sum()  # each dose decays by itself
    assert final(run, "c.x") == pytest.approx(expected, rel=1e-8)


def test_a_relation_of_a_sine_of_time_switches_at_every_half_period():
    class Square(Component):
        y, total = Variable(""), Variable("s", "0 s", priority="high")

        def equations(self):
            yield self.y == where(blocks.sin(quantity("10 rad/s") * time) > 0, 1, 0)
            yield der(self.total) == self.y

    run = alone(Square()).simulate("10 s")
    half = np.pi / 10
    assert_allclose([e.time for e in run.events], half * np.arange(1, 32), atol=1e-10)
    assert final(run, "c.total") == pytest.approx(16 * half, abs=1e-9)


def test_a_rounded_state_changes_at_located_instants():
    class Stairs(Component):
        """A state that rises to 3.3 and falls back, in whole steps and modulo 0.7."""

        x = Variable("", "0.3", priority="high")
        steps, teeth = Variable("s", "0 s", priority="high"), Variable("s", "0 s", priority="high")
        sampled = Discrete("")

        def equations(self):
            yield der(self.x) == 3 * PER_SECOND * blocks.sin(2 * PER_SECOND * time)
            yield der(self.steps) == blocks.floor(self.x)
            yield der(self.teeth) == blocks.mod(self.x, 0.7)
            yield every("0.3 s",
                        {self.sampled: blocks.floor(10 * self.x)})  # looked at then, no events

    def x(t):
        return 1.8 - 1.5 * np.cos(2 * t)

    rising = np.arccos((1.8 - np.array([1, 2, 3, 0.7, 1.4, 2.1, 2.8])) / 1.5) / 2
    jumps = np.sort(np.concatenate([rising, np.pi - rising]))
    edges = np.concatenate([[0], jumps, [3]])
    middles, lengths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    whole, teeth = np.floor(x(middles)), np.floor(x(middles) / 0.7)
    area = np.diff(1.8 * edges - 0.75 * np.sin(2 * edges))
    run = alone(Stairs()).simulate("3 s", rtol=1e-8, method="dopri5")
    assert max([min(abs(e.time - t) for e in run.events) for t in jumps]) < 1e-7
    assert len({round(e.time, 6) for e in run.events}) == len(jumps)
    assert final(run, "c.steps") == pytest.approx(whole @ lengths, abs=2e-7)
    assert final(run, "c.teeth") == pytest.approx(np.sum(area - 0.7 * teeth * lengths), abs=2e-7)
    at = 0.3 * np.arange(1, 10)
    seen = run["c.sampled"].at(quantity(at + 1e-6, "s")).magnitude
    assert_allclose(seen, np.floor(10 * x(at)), atol=0)


def test_a_rounded_input_may_jump_over_many_steps_and_be_rounded_again():
    class Coarse(Component):
        """Whole steps of halves, within a period, of a sine that pulses lift by 7.3."""

        u = blocks.Input("")
        twice, inside, high = Variable(""), Variable(""), Discrete("", "0")

        def equations(self):
            yield self.twice == blocks.floor(blocks.floor(2 * self.u) / 2 + 0.1 * self.u)
            yield self.inside == where(blocks.mod(self.u, 1.0) < 0.3, 1, 0)
            yield when(blocks.floor(self.u) > 2.5, {self.high: self.high + 1})

    def u(t):
        return 0.4 + 7.3 * ((t >= 0.1) & ((t - 0.1) % 0.5 < 0.2)) + 1.7 * np.sin(2.6 * np.pi * t)

    model = wired("rounded", "pulses.y sum.u1", "sine.y sum.u2", "sum.y c.u",
                  c=Coarse(), sum=Sum(),
                  pulses=Pulse(amplitude=7.3, bias=0.4, period="0.5 s", width=0.4, start="0.1 s"),
                  sine=Sine(amplitude=1.7, frequency="1.3 Hz"))
    run = model.simulate("2 s")
    t = np.linspace(0.0012, 1.9987, 500)
    at = quantity(t, "s")
    twice = np.floor(np.floor(2 * u(t)) / 2 + 0.1 * u(t))
    assert_allclose(run["c.twice"].at(at).magnitude, twice, atol=0)
    assert_allclose(run["c.inside"].at(at).magnitude, u(t) % 1 < 0.3, atol=0)
    fine = u(np.linspace(0, 2, 200_001)) >= 3
    assert final(run, "c.high") == np.sum(fine[1:] & ~fine[:-1])


def test_relations_hold_at_the_ends_of_a_run_as_written():
    class Steps(Component):
        x = Variable("m", "0 m", priority="high")

        def equations(self):
            one = quantity("1 m/s")
            yield der(self.x) == where(time >= "0 s", one, 0) + where(time <= "1 s", one, 0)

    assert final(alone(Steps()).simulate("2 s"), "c.x") == pytest.approx(3.0, abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "DOP853"])
def test_nothing_becomes_true_at_the_start_and_nothing_happens_at_the_last_instant(method):
    class Ends(Component):
        x = Variable("1", 0.0, priority="high")
        samples, odd, late, far, more = (Discrete("1", 0.0) for _ in range(5))

        def equations(self):
            yield der(self.x) == quantity("1 1/s")
            yield every("0.5 s", {self.samples: self.samples + 1})
            yield when(self.samples % 2 > 0.5, {self.odd: self.odd + 1})
            yield when(time >= quantity("2 s"), {self.late: self.late + 1})
            yield when(self.x >= 2, {self.far: self.far + 1})
            yield when(time >= quantity("0 s"), {self.more: self.more + 1})

    names = "samples", "odd", "late", "far", "more"
    run = alone(Ends()).simulate("2 s", method=method)
    assert [final(run, f"c.{name}") for name in names] == [4, 1, 0, 0, 0]
    run = alone(Ends()).simulate("2.001 s", method=method)
    assert [final(run, f"c.{name}") for name in names] == [5, 2, 1, 1, 0]


def test_parameters_that_are_equal_are_neither_greater_nor_smaller():
    class Asked(Component):
        n = Parameter(2.0)
        a, b, c, d, both = (Variable("") for _ in range(5))

        def equations(self):
            for variable, condition in ((self.a, self.n >= 2), (self.b, self.n <= 2),
                                        (self.c, self.n > 2), (self.d, self.n < 2),
                                        (self.both, (self.n >= 2) & (self.n <= 2))):
                yield variable == where(condition, 1, 0)

    for n in (1.5, 2.0, 2.5):
        run = alone(Asked(n=n)).simulate("1 s")
        assert [final(run, f"c.{name}") for name in ("a", "b", "c", "d", "both")] == [
            n >= 2, n <= 2, n > 2, n < 2, n == 2]


def test_a_step_at_a_known_time_is_stepped_onto_exactly():
    class Step(Component):
        at = Parameter("0.3 s")
        x = Variable("m", "0 m", priority="high")

        def equations(self):
            yield der(self.x) == where(time > self.at, quantity("1 m/s"), 0)

    model = alone(Step())
    for at in (0.3, 0.7123456789):
        model.c.at = quantity(at, "s")
        run = model.simulate("1 s")
        (event,) = run.events
        assert event.time == pytest.approx(at, abs=1e-15)
        assert final(run, "c.x") == pytest.approx(1 - at, abs=1e-12)


# -- what cannot go on ---------------------------------------------------------------------------


class SelfDefeating(Component):
    x, a = Variable("", "0", priority="high"), Variable("")

    def equations(self):
        yield der(self.x) == PER_SECOND
        yield self.a == where(self.a + self.x > 0.7, self.x - 1, self.x)


class SelfDefeatingSampler(Component):
    """A sampled switch that undoes the reason for which it has closed."""

    x, u, on = Variable("", "0", priority="high"), Variable(""), Discrete("", 0)

    def equations(self):
        yield der(self.x) == PER_SECOND
        yield self.u == 1 - 0.5 * self.on
        yield every("1 s", {self.on: where(self.u > 0.6, 1, 0)})


def test_a_sampler_that_reads_what_it_has_set_is_told_to_hand_it_on_later():
    with pytest.raises(SimulationError, match=r"c: u - 0.6 > 0 contradicts.*by a UnitDelay or a"):
        alone(SelfDefeatingSampler()).simulate("3 s")


def test_a_condition_undone_by_its_own_consequence_is_an_error_at_that_time():
    # a = x until 2x = 0.7, then a = x - 1 undoes the condition
    with pytest.raises(SimulationError, match="contradicts itself") as caught:
        alone(SelfDefeating()).simulate("1 s")
    assert caught.value.time == pytest.approx(0.35, abs=1e-6)
    assert "c: a + x - 0.7" in str(caught.value)
    assert caught.value.result.status == "failed"
    assert caught.value.result["c.x"].final.magnitude == pytest.approx(0.35, abs=1e-6)


def test_a_contradiction_at_the_start_names_the_component():
    class Liar(Component):
        a = Variable("")

        def equations(self):
            yield self.a == where(self.a > 0.5, 0, 1)

    with pytest.raises(SimulationError, match="c: a - 0.5"):
        alone(Liar()).simulate("1 s")


def test_who_has_contacts_that_switch_for_ever_is_told_of_time_stepping():
    model = wired("box at a stop", "mass.M stop.R", "stop.C ground.V",
                  ground=Reference(), mass=Mass(mass="1 kg", v="1 m/s"),
                  stop=HardStop(model="restitution", restitution=0.5, lower_bound="-1 m",
                                upper_bound="1 m"))
    run = model.simulate("1.5 s")
    assert "moreau_jean" in on_switching(run.recording, ["mass", "stop"], "a hysteresis")
    assert on_switching(run.recording, ["mass"], "a hysteresis") == "a hysteresis"


class Slide(Component):
    """Slides to zero, and on by what drives it."""

    x = Variable("", "0.5", priority="high")
    drive = Parameter(0.0)

    def equations(self):
        yield der(self.x) == (self.drive - blocks.sign(self.x)) * PER_SECOND


@pytest.mark.parametrize("method", ["auto", "rodas4", "DOP853", "Radau"])
def test_what_a_sign_alone_drives_rests_at_zero(method):
    run = alone(Slide()).simulate("2 s", method=method)
    assert run["c.x"].at("0.4 s").m == pytest.approx(0.1, abs=1e-9)
    assert run["c.x"].final.m == 0.0
    assert len(run.events) < 20


@few(1, "method", ["DOP853", "Radau"])
@pytest.mark.parametrize("drive", [0.3, -0.8])
def test_chattering_ends_with_an_error_that_names_the_component(method, drive):
    """Dry friction under load, by its sign: no value of that holds it."""
    with pytest.raises(SimulationError, match="^c: switches back and forth") as caught:
        alone(Slide(drive=drive)).simulate("1 s", method=method)
    assert caught.value.time == pytest.approx(0.5 / (1 - drive), abs=1e-3)
    assert caught.value.variables == ("c",)
    assert caught.value.result["c.x"].final.magnitude == pytest.approx(0, abs=1e-6)
    assert "root" not in caught.value.advice


def test_chattering_about_the_beginning_of_a_root_is_told_that_it_is_steep():
    class Levelling(Component):
        """Reaches zero in finite time, and has an infinite slope there."""

        x = Variable("", "0.01", priority="high")

        def equations(self):
            push = blocks.sign(self.x) * (blocks.sqrt(abs(self.x)) + 1e-3) + 5e-4
            yield der(self.x) == -push * PER_SECOND

    with pytest.raises(SimulationError, match="^c: switches back and forth") as caught:
        alone(Levelling()).simulate("1 s", method="DOP853")
    assert "A root or a power is infinitely steep where it begins" in caught.value.advice


def test_an_explicit_method_that_wiggles_about_a_fast_part_is_told_to_be_implicit():
    class Follower(Component):
        """Settles on a slow decay from either side, at another rate, within 50 ns."""

        x, goal = Variable("", "1", priority="high"), Variable("", "1", priority="high")

        def equations(self):
            rate = where(self.x > self.goal, quantity("3e7 1/s"), quantity("2e7 1/s"))
            yield der(self.x) == rate * (self.goal - self.x)
            yield der(self.goal) == -self.goal * PER_SECOND

    with pytest.raises(SimulationError, match="^c: switches back and forth") as caught:
        alone(Follower()).simulate("1 s", method="dopri5")
    assert "an explicit method wiggle about it: take method='rodas4'" in caught.value.advice
    run = alone(Follower()).simulate("1 s", method="rodas4")
    assert_allclose(final(run, "c.x"), np.exp(-1), rtol=1e-5)
    assert len(run.events) <= 1


@pytest.mark.parametrize("method", ["auto", "rodas4", "RK45"])
def test_an_encoder_that_counts_fast_does_not_chatter(method):
    class Encoder(Component):
        """Turns by 240.5 marks within a millisecond: by erf((t - t0) / w)."""

        x, marks = Variable("", "0.25", priority="high"), Variable("")

        def equations(self):
            w = quantity("0.2 ms")
            yield der(self.x) == 240.5 / np.sqrt(np.pi) / w * blocks.exp(
                -(((time - quantity("0.5 s")) / w) ** 2))
            yield self.marks == blocks.floor(self.x)

    run = alone(Encoder()).simulate("1 s", method=method)
    assert final(run, "c.marks") == 240
    half = erfinv(2 * (100 - 0.25) / 240.5 - 1) * 0.2e-3 + 0.5
    assert_allclose(run.events[99].time, half, atol=1e-9)


def test_a_switch_is_one_event_and_says_what_it_did():
    class Thermostat(Component):
        x = Variable("K", "0 K", priority="high")
        limit = Parameter("2 K")
        heat = Discrete("W", "10 W")

        def equations(self):
            yield der(self.x) == self.heat * quantity("0.1 K/J")
            yield when(self.x > self.limit, {self.heat: "-5 W"})
            yield when(self.x < self.limit / 2, {self.heat: "10 W"})

    run = alone(Thermostat()).simulate("6.5 s")
    assert_allclose([e.time for e in run.events], [2, 4, 5], atol=1e-9)
    assert [e.description for e in run.events] == [
        "heat becomes -5 W", "heat becomes 10 W", "heat becomes -5 W"]  # fmt: skip


@pytest.mark.parametrize(("condition", "words"), [
    (lambda s: s.x > s.limit, "x rises above limit"),
    (lambda s: s.x > 0.5, "x rises above 0.5"),
    (lambda s: s.x < 0.5, "x rises above 0.5"),
    (lambda s: s.limit < s.x, "x rises above limit"),
    (lambda s: time / SECOND >= s.limit, "time reaches limit"),
    (lambda s: s.limit > s.x, "x rises above limit")])
def test_a_crossing_is_told_in_words(condition, words):
    class Choice(Component):
        x = Variable("", "0", priority="high")
        limit = Parameter(0.5)
        y = Variable("")

        def equations(self):
            yield der(self.x) == PER_SECOND
            yield self.y == where(condition(self), 1, 2)

    (event,) = alone(Choice()).simulate("1 s").events
    assert (event.time, event.description) == (pytest.approx(0.5), words)
