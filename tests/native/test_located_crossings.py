"""Crossings are located where they happen, and runs go on from there with another method."""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose

import blocks
import library.isothermal_liquid as il
from benchmarks.cases.models import block_on_belt
from blocks import Component, Discrete, Parameter, Variable, abs_, der, quantity, sin, when, where
from library.signal import Sine
from library.translational import ForceSource, HardStop, Mass, Reference, TranslationalFriction

METHODS = ["dopri5", "rodas4", "DOP853"]
EXACT = 2e-14  # s: motions of constant acceleration are integrated without error


def times(run):
    return np.array([e.time for e in run.events])


class Thrown(Component):
    """x = t - 2 t^2, told when it is above 0.1 and when it is below -0.1."""

    x, v = Variable("1", "0", priority="high"), Variable("1", "1", priority="high")
    above, below = Variable("1"), Variable("1")

    def equations(self):
        per_second = quantity("1 1/s")
        yield der(self.x) == self.v * per_second
        yield der(self.v) == -4 * per_second
        yield self.above == where(self.x > 0.1, 1, 0)
        yield self.below == where(self.x < -0.1, 1, 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_short_visit_is_found_before_a_crossing_further_on_in_the_same_step(method):
    model = wired("thrown", part=Thrown())
    run = model.simulate("2 s", method=method, first_step="12 ms")  # the third one is long
    first, back = (1 - np.sqrt(0.2)) / 4, (1 + np.sqrt(0.2)) / 4
    assert_allclose(times(run), [first, back, (1 + np.sqrt(1.8)) / 4], rtol=0, atol=EXACT)


class TwoDips(Component):
    """Two parabolas that dip below zero for 20 ms, one of them 30 ms later."""

    one = Parameter(0.32, doc="when the parabola is lowest that is declared first")
    other = Parameter(0.35, doc="when the other one is")
    s, a, b = Variable("1", "0", priority="high"), Variable("1"), Variable("1")
    y = Variable("1", "0", priority="high")

    def equations(self):
        per_second = quantity("1 1/s")
        yield der(self.s) == per_second
        yield self.a == where((self.s - self.one) ** 2 < 1e-4, 1, 0)
        yield self.b == where((self.s - self.other) ** 2 < 1e-4, 1, 0)
        yield der(self.y) == (self.a + self.b) * per_second


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("one", "other"), [(0.32, 0.35), (0.35, 0.32)])
def test_of_two_short_visits_within_a_step_the_earlier_one_comes_first(method, one, other):
    run = wired("dips", part=TwoDips(one=one, other=other)).simulate("1 s", method=method)
    assert_allclose(times(run), [0.31, 0.33, 0.34, 0.36], rtol=0, atol=1e-13)
    assert_allclose(run["part.y"].final.magnitude, 0.04, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count, start", [(1, "0 s"), (1, "1000 s"), (3, "0 s")])
def test_equal_blocks_thrown_over_a_rough_floor_stop_at_once_after_v_over_a(method, count, start):
    model = wired("blocks", "blocks.M frictions.R", "frictions.C floor.V", floor=Reference(),
                  blocks=Mass(count=count, mass="2 kg", v="3 m/s"),
                  frictions=TranslationalFriction(count=count, law="coulomb", coulomb_force="7 N"))
    run = model.simulate("5 s", start_time=start, method=method)
    assert [e.description for e in run.events] == ["sticks"] * count
    late = 2e-12 if start != "0 s" else EXACT  # ten times what tells two times from each other
    assert_allclose(times(run) - float(start[:-2]), 6 / 7, rtol=0, atol=late)
    assert np.all(run["blocks.v"].final.magnitude == 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_a_body_falls_on_a_rigid_stop_as_often_as_its_flights_allow(method):
    # flights of 2 v/g, each with half the speed of the one before
    model = wired("ball", "ball.M stop.R weight.R", "stop.C weight.C ground.V",
                  ball=Mass(v="0 m/s"), weight=ForceSource(force="-10 N"),
                  stop=HardStop(model="restitution", upper_bound="1 m", lower_bound="-0.2 m",
                                restitution=0.5), ground=Reference())
    run = model.simulate("0.59 s", method=method)
    fall = np.sqrt(2 * 0.2 / 10)
    exact = fall + np.concatenate([[0], np.cumsum(2 * fall * 0.5 ** np.arange(1, 7))])
    exact = exact[exact < 0.59]
    assert len(exact) == len(times(run)) == 6
    assert_allclose(times(run), exact, rtol=0, atol=1e-13)


class Valley(Component):
    """x = t, told when it is above 0.24, and y = (t - 0.12)^2 - 0.05^2, told when it is below 0."""

    x, y, v = Variable("1", "0"), Variable("1", "0.0119"), Variable("1/s", "-0.24 1/s")
    far, low = Variable("1"), Variable("1")

    def equations(self):
        yield der(self.x) == quantity("1 1/s")
        yield der(self.y) == self.v
        yield der(self.v) == quantity("2 1/s^2")
        yield self.far == where(self.x > 0.24, 1, 0)
        yield self.low == where(self.y < 0, 1, 0)


@pytest.mark.parametrize("method", [*METHODS, "Radau"])
def test_a_short_visit_is_found_before_what_the_first_look_at_a_step_finds(method):
    run = wired("valley", part=Valley()).simulate("1 s", method=method, first_step="1 s")
    assert_allclose(times(run), [0.07, 0.17, 0.24], atol=1e-9)


@pytest.mark.parametrize("method", [*METHODS, "RK23"])
def test_a_first_step_after_a_contact_does_not_stride_over_the_way_out(method):
    """The stages of a step that is as long as one before the event all lie beyond the stop."""
    model = wired("shaken", "ball.M stop.R push.R", "wall.V stop.C push.C",
                  wall=Reference(), ball=Mass(v="1.5 m/s"),
                  stop=HardStop(upper_bound="0.1 m", lower_bound="-0.1 m", transition="0.3 mm",
                                upper_stiffness="1e5 N/m", lower_stiffness="1e5 N/m",
                                upper_damping="5 N*s/m", lower_damping="5 N*s/m"),
                  push=ForceSource(force=lambda t: quantity("10 N") * sin(quantity("5 rad/s") * t)))
    run = model.simulate("1.5 s", method=method, rtol=1e-7)
    assert len(run.events) == 20
    assert abs(run.energy().relative_residual) < 3e-6


class Sawtooth(Component):
    """x rises as 1 - exp(-t) to 0.02, and begins anew."""

    x = Variable("1", "0", priority="high")

    def equations(self):
        yield der(self.x) == (1 - self.x) * quantity("1 1/s")
        yield when(self.x > 0.02, {self.x: 0.0})


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_first_step_that_strides_over_an_event_is_followed_by_one_that_ends_there(method):
    model = wired("sawtooth", part=Sawtooth())
    run = model.simulate("2 s", method=method, rtol=1e-4, first_step="0.1 s",
                         until="part.x > 0.015")
    assert_allclose(times(run), -np.log(0.985), rtol=0, atol=1e-9)
    assert run.statistics.steps == 1


class Encoder(Component):
    """A place that moves evenly, and how often it has entered the middle 30 % of a stretch."""

    x, v = Variable("1", "0", priority="high"), Variable("1/s", "1 1/s", priority="high")
    entered = Discrete("1", 0.0)

    def equations(self):
        place = blocks.mod(self.x + 0.5,
                           1.0) - 0.5  # jumps at the end of a stretch, which is an event
        yield der(self.x) == self.v
        yield der(self.v) == 0 * self.v / quantity("1 s")
        yield when(abs_(place) < 0.15, {self.entered: self.entered + 1})


@few(5, "method", [*METHODS, "Radau", "RK23", "ode45"])
def test_a_step_that_an_event_cuts_short_is_looked_at_as_one_that_is_whole(method):
    """Two steps of the exact method are longer than all of the fifty stretches."""
    model = wired("encoder", part=Encoder())
    assert model.simulate("50.2 s", method=method)["part.entered"].final.m == 50
    model.part.x = 0.3  # not within
    assert_allclose(times(model.simulate("1 s", method=method)), [0.2, 0.55], atol=1e-9)


# -- runs that begin with one method and go on with another -----------------------------------
def filled_chamber(volume):
    """Through a resistance whose root law is steepest where the chamber is full."""
    return wired("filled", "oil.A tank.A pump.A", "pump.B way.A", "way.B chamber.A",
                 oil=il.IsothermalLiquidProperties(), tank=il.Reservoir(),
                 pump=il.PressureSource(pressure_difference="18 MPa"), way=il.FlowResistance(),
                 chamber=il.ConstantVolumeChamber(volume=volume))


def two_chambers():
    """One relaxes into the other through a wide opening."""
    return wired("two", "oil.A full.A way.A", "way.B chamber.A",
                 oil=il.IsothermalLiquidProperties(),
                 chamber=il.ConstantVolumeChamber(volume="0.5 l"),
                 full=il.ConstantVolumeChamber(volume="0.5 l", p_I="5 MPa"),
                 way=il.LocalRestriction(restriction_type="fixed"))


@pytest.mark.parametrize(("model", "duration"), [
    (filled_chamber("1 l"), "5 ms"), (filled_chamber("1 l"), "1 s"),
    (filled_chamber("0.01 l"), "5 ms"), (two_chambers(), "5 ms"), (two_chambers(), "1 s")])
def test_explicit_steps_do_not_stay_where_liquid_would_still_flow(model, duration):
    """They stayed at 0.02 kg/s for good, a point that is no solution but within the tolerance."""
    run = model.simulate(duration)
    assert run["way.mdot"].max().to("kg/s").m > 1
    assert abs(run["way.mdot"].final.to("kg/s").m) < 1e-9
    assert abs(run.energy().relative_residual) < 1e-4


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_stiff_root_laws_pass_what_is_driven_through_them(rtol):
    """By BDF any flow would do that needs less pressure than its tolerance, 0.03 kg/s at 1e-6."""
    model = two_chambers()
    model.full.p_I = "0.101325 MPa"
    wire(model, "wave.y pump.M", "tank.A pump.A", "pump.B full.A", pump=il.FlowRateSource(),
         tank=il.Reservoir(), wave=Sine(amplitude="0.1 kg/s", frequency="10 Hz"))
    run = model.simulate("0.1 s", rtol=rtol)
    assert run.statistics["method"] == "rodas4"
    # both chambers are alike, and the way between them is far faster: half of what comes goes on
    times = np.linspace(0.0, 0.1, 101)[1:]
    expected = 0.05 * np.sin(2 * np.pi * 10 * times)
    flow = run["way.mdot"].at(quantity(times, "s")).to("kg/s").m
    assert flow == pytest.approx(expected, abs=1e-4)
    assert abs(run.energy().relative_residual) < 1e-3


def test_rk45_is_the_pair_that_machine_code_has():
    run = block_on_belt().simulate("4 s", method="RK45")
    assert run.statistics["method"] == "RK45"
    assert run.statistics["why"].endswith("in machine code")
    # the belt lets go at 25 N, 250 mm, where the block has 0.2 m/s; 5 N hold it around 50 mm
    assert run["spring.x"].max().to("m").m == pytest.approx(0.05 + np.hypot(0.2, 0.02), rel=1e-7)
