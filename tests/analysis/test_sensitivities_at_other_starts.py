"""Derivatives of runs that start with an impact, or just where a condition changes."""

import warnings

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    Variable,
    der,
    floor,
    quantity,
    when,
    where,
)
from blocks.analysis.sensitivity.sensitivities import SensitivityWarning
from library.electrical import Capacitor, DCVoltageSource, Diode, ElectricalReference, Resistor
from library.signal import Constant, Integrator, Step
from library.translational import ForceSource, HardStop, Mass, Reference

GRAVITY = 9.81


def thrown(gap="0 m"):
    """A ball that is thrown at the floor from where it lies: h = e v0 t - g t^2/2."""
    m = Model("thrown")
    m.ball, m.floor = Mass(mass="2 kg", v="-2 m/s"), Reference()
    m.weight = ForceSource(force=quantity(-2 * GRAVITY, "N"))
    m.stop = HardStop(model="restitution", lower_bound="0 m", upper_bound="9 m", restitution=0.3)
    m.stop.x = gap
    wire(m, "ball.M weight.R stop.R", "weight.C stop.C floor.V")
    return m


def test_an_impact_at_the_start_counts():
    paths = ["stop.restitution", "ball.v", "ball.mass", "weight.force"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = thrown().simulate("50 ms", sensitivities=paths, rtol=1e-9)
    t = 0.05
    fall = -2 * GRAVITY * t**2 / 2
    known = [2 * t, -0.3 * t, -fall / 4, t**2 / 4]  # the acceleration is -2 g / mass
    assert_allclose([run.sensitivities["stop.x", path].final.m for path in paths], known, rtol=1e-7)


def test_masses_that_meet_at_the_start_share_their_impulse():
    m = wired("meeting", "a.M stop.R", "b.M stop.C",
              a=Mass(mass="2 kg", v="1 m/s"), b=Mass(mass="1 kg", v="-1 m/s"),
              stop=HardStop(model="restitution", lower_bound="-9 m", upper_bound="0 m",
                            restitution=0.3))
    run = m.simulate("0.5 s", sensitivities=["a.mass", "stop.restitution"], rtol=1e-9)
    # a.v = 1 - (1 + e) 2 b / (a + b), b.v = -1 + (1 + e) 2 a / (a + b)
    found = [run.sensitivities[v, p].final.m for v in ("a.v", "b.v")
             for p in ("a.mass", "stop.restitution")]
    assert_allclose(found, [2.6 / 9, -2 / 3, 2.6 / 9, 4 / 3], rtol=1e-7)


def test_no_derivative_is_made_up_by_a_place_from_which_the_impact_comes_later():
    with pytest.warns(SensitivityWarning, match="By stop.x derivatives .* decides otherwise"):
        run = thrown().simulate("50 ms", sensitivities=["stop.x"])
    assert np.isnan(run.sensitivities["ball.v", "stop.x"].final.m)


class Edge(Component):
    """x rises from 0, where ``y`` begins to be counted otherwise."""

    law = Parameter(0.0)
    x = Variable("1", 0.0, priority="high")
    y, z = Variable("1", 0.0, priority="high"), Variable("1", 0.0, priority="high")
    n = Discrete("1", 0)
    rate = Parameter("1 1/s")

    def equations(self):
        yield der(self.x) == self.rate
        yield der(self.y) == self.rate * self.counted()
        yield der(self.z) == self.rate * self.n
        yield when(self.x > 2, {self.n: 3})


class Chosen(Edge):
    def counted(self):
        return where(self.x > 0, 5, 1)


class Floored(Edge):
    def counted(self):
        return floor(self.x)


class Told(Edge):
    def counted(self):
        return self.n

    def equations(self):
        yield from super().equations()
        yield when(self.x > 0, {self.n: 5})


class Bent(Edge):
    def counted(self):
        return where(self.x > 0, 5 * self.x, self.x)


@pytest.mark.parametrize(("part", "sides"), [(Chosen, (4, 0)), (Told, (5,)), (Floored, (1, 2))])
def test_a_start_just_where_a_condition_changes_is_told(part, sides):
    model = Model("edge")
    model.part = part()
    with pytest.warns(SensitivityWarning, match="part.x"):
        run = model.simulate("1.5 s", sensitivities=["part.x"], rtol=1e-9)
    assert_allclose(min(abs(run.sensitivities["part.y", "part.x"].final.m - s) for s in sides), 0,
                    atol=1e-7)


def test_a_start_where_both_sides_of_a_condition_agree_is_none():
    model = wired("bent", part=Bent())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate("1.5 s", sensitivities=["part.x"], rtol=1e-9)
    assert_allclose(run.sensitivities["part.y", "part.x"].final.m, 7.5, rtol=1e-7)


def test_a_step_at_the_start_that_comes_later_is_told():
    model = wired("step", "step.y sum.u",
                  step=Step(start="0 s", final=3), sum=Integrator(input="1"))
    with pytest.warns(SensitivityWarning, match="derivatives by step.start hold for one side"):
        model.simulate("1 s", sensitivities=["step.start", "step.final"])


def test_what_conducts_or_rests_well_within_its_bounds_is_at_no_edge():
    pressed = thrown()
    pressed.ball.v = "0 m/s"
    charged = wired("charged", "source.p diode.p", "diode.n resistor.p", "resistor.n store.p",
                    "source.n store.n ground.V",
                    source=DCVoltageSource(voltage="5 V"), diode=Diode(model="ideal"),
                    resistor=Resistor(resistance="2 ohm"),
                    store=Capacitor(capacitance="1 mF", v="2 V"), ground=ElectricalReference())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pressed.simulate("10 ms", sensitivities=["weight.force", "ball.mass"])
        run = charged.simulate("1 ms", sensitivities=["source.voltage", "store.v"], rtol=1e-9)
    left = np.exp(-0.5)
    assert_allclose([run.sensitivities["store.v", path].final.m
                     for path in ("source.voltage", "store.v")], [1 - left, left], rtol=1e-7)


def test_a_limited_integrator_that_starts_at_its_limit_has_no_derivative_by_that():
    model = wired("limited", "source.y sum.u",
                  source=Constant(value=1.0),
                  sum=Integrator(input="1", limited=True, lower="-1 s", upper="0.2 s", x="0.2 s"))
    with pytest.warns(SensitivityWarning, match="By sum.upper derivatives .* decides otherwise"):
        run = model.simulate("1 s", sensitivities=["sum.upper", "source.value"])
    assert np.isnan(run.sensitivities["sum.y", "sum.upper"].final.m)
    assert run.sensitivities["sum.y", "source.value"].final.m == 0


class Kicked(Component):
    """What decays is kicked as soon as x, which rises, is above its level."""

    kick, level = Parameter(2.0), Parameter(0.0)
    x, y = Variable("1", 0.0, priority="high"), Variable("1", 1.0, priority="high")

    def equations(self):
        yield der(self.x) == quantity("1 1/s")
        yield der(self.y) == quantity("-0.5 1/s") * self.y
        yield when(self.x > self.level, {self.y: self.kick * self.y + self.x})


def test_a_state_that_is_assigned_at_the_start_counts():
    """y = (kick y0 + level) exp(-t/2); what makes the kick come later has its other side."""
    m = wired("kicked", part=Kicked())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = m.simulate("50 ms", sensitivities=["part.kick", "part.y"], rtol=1e-9)
    left = np.exp(-0.025)
    assert_allclose([run.sensitivities["part.y", path].final.m for path in ("part.kick", "part.y")],
                    [left, 2 * left], rtol=1e-7)
    with pytest.warns(SensitivityWarning, match="part.level hold for one side only"):
        run = m.simulate("50 ms", sensitivities=["part.level"], rtol=1e-9)
    # later by a little: kicked from where it has decayed to, to where x is
    assert_allclose(run.sensitivities["part.y", "part.level"].final.m, left, rtol=1e-7)
