"""What moves by less than its tolerance tells crosses nothing, unless its sides lead elsewhere.

A push at one end of a chain of masses reaches the other through as many springs: there speeds are
1e-38 m/s at first, of either sign.
"""

from collections import Counter

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import (
    Component,
    Discrete,
    Model,
    Variable,
    abs_,
    der,
    quantity,
    sign,
    sin,
    time,
    when,
    where,
)
from library.electrical import DCVoltageSource, Diode, ElectricalReference, Resistor
from library.signal import Backlash, Relay
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
)

STIFFNESS, STRENGTH = 1e5, 0.1  # of the law
LAWS = {"dahl": {"coulomb_force": "0.1 N"},
        "lugre": {"coulomb_force": "0.1 N", "breakaway_force": "0.15 N"}}


def chain(n, part):
    """Masses of 1 kg with springs of 1 kN/m and dampers of 1 N s/m, pushed at the last one."""
    m = wired("chain", "springs.R dampers.R masses.M", "springs[1:].C dampers[1:].C masses[:-1].M",
              "springs[0].C dampers[0].C ground.V push.C", "push.R masses[-1].M",
              ground=Reference(), masses=Mass(count=n), springs=Spring(count=n, stiffness="1 kN/m"),
              dampers=Damper(count=n, damping="1 N*s/m"),
              push=ForceSource(force=lambda t: quantity("1 N") * sin(quantity("10 rad/s") * t)))
    if part in LAWS:
        wire(m, "rub.R masses.M", "rub.C ground.V",
             rub=TranslationalFriction(count=n, law=part, **LAWS[part]))
        return m
    wire(m, "sensor.R masses.M", "sensor.C ground.V", sensor=MotionSensor(count=n))
    m.block = (Backlash(count=n, width="1 mm") if part == "backlash" else
               Relay(count=n, switch_on="0.1 mm", switch_off="-0.1 mm"))
    m.connect(m.sensor.P, m.block.u)
    return m


def by_hand(n, end):
    """Positions and speeds of the chain with Dahl's friction by SciPy, and when speeds turn."""
    def slope(t, y):
        x, v, f = y.reshape(3, n)
        pull = np.append(1000 * np.diff(x, prepend=0) + np.diff(v, prepend=0), np.sin(10 * t))
        return np.concatenate([v, np.diff(pull) - f, STIFFNESS * (v - np.abs(v) * f / STRENGTH)])

    return solve_ivp(slope, (0, end), np.zeros(3 * n), method="LSODA", rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "Radau"])
def test_a_push_through_masses_on_dahls_friction_switches_where_it_has_arrived(method):
    """Two conditions tell of each reversal, of being set in motion one."""
    n, end = 12, 0.25
    run = chain(n, "dahl").simulate(f"{end} s", method=method)
    reference = by_hand(n, end)
    v = reference.y[n : 2 * n]
    assert_allclose(run["masses.v"].final.m, v[:, -1], rtol=0, atol=1e-6)
    told, most = Counter(event.component for event in run.events), 0
    for k in range(n):
        seen = v[k][np.abs(v[k]) > 1e-6]  # hundred absolute tolerances
        turns = np.count_nonzero(np.diff(np.sign(seen)))
        assert told[f"rub[{k}]"] >= turns
        most += 2 * turns + 3
    assert run.statistics["events"] <= most


def test_a_hundred_masses_on_dahls_friction_have_few_events_each():
    assert chain(100, "dahl").simulate("0.3 s").statistics["events"] <= 300


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_unknowns_of_a_loop_beside_the_chain_add_no_events(method):
    m = chain(12, "dahl")
    alone = m.simulate("0.3 s", method=method).statistics["events"]
    wire(m, "source.p resistor.p", "resistor.n diode.p", "diode.n source.n earth.V",
         earth=ElectricalReference(), source=DCVoltageSource(voltage="1 V"), resistor=Resistor(),
         diode=Diode(model="exponential"))
    assert m.simulate("0.3 s", method=method).statistics["events"] <= 1.2 * alone <= 60


@pytest.mark.parametrize(("part", "method"), [
    ("lugre", "auto"), ("backlash", "rodas4"), ("relay", "auto"), ("relay", "rodas4")])
def test_masses_that_nothing_has_reached_add_no_events(part, method):
    events = [chain(n, part).simulate("0.3 s", method=method).statistics["events"]
              for n in (20, 40)]
    assert events[0] == events[1] <= 20


class Oscillating(Component):
    """A motion beside one that counts, which its sign may change."""

    x, v = Variable("m", "1e-20 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
    large, side = Variable("m", "1 m", priority="high"), Variable("")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == -quantity("1e4 1/s^2") * self.x
        yield self.side == sign(self.x)
        yield der(self.large) == self.speed()

    def speed(self):
        return quantity("0.5 m/s") + quantity("1 m/s") * self.x / quantity("1 m") * self.side


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_what_swings_within_dust_switches_nothing(method):
    model = wired("dust", part=Oscillating())
    run = model.simulate("2 s", method=method, max_step="10 ms")
    assert run.statistics["events"] <= 2  # the first crossing


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_what_swings_by_its_tolerance_switches_as_ever(method):
    """200/(2 pi) periods of 100 rad/s over 2 s, two zeros each."""
    model = wired("no dust", part=Oscillating(x="1 um"))
    run = model.simulate("2 s", method=method, atol=1e-12)
    times = np.unique([event.time.to("s").m for event in run.events])  # sign is two relations
    assert_allclose(times, (np.arange(64) + 0.5) * np.pi / 100, atol=2e-5)


class Counting(Oscillating):
    """The same that moves while the other one is on its positive side."""

    def speed(self):
        return where(self.x > 0, quantity("1 m/s"), quantity("0 m/s"))


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_the_least_motion_crosses_where_its_sides_lead_elsewhere(method):
    """It is positive for a quarter of a period, and for every other half of one after that."""
    model = wired("counted", part=Counting(large="0 m"))
    run = model.simulate(quantity(20.25 * np.pi / 50, "s"), method=method, max_step="1 ms")
    assert run["part.large"].final.m == pytest.approx(10.25 * np.pi / 50, rel=1e-3)


@pytest.mark.parametrize("method", ["auto", "rodas4", "RK45"])
@pytest.mark.parametrize("more", [1e-3, 1e-4, 1e-5, 1e-6])
def test_what_slides_less_than_its_tolerance_before_it_sticks_does_stick(more, method):
    """A load a little beyond what friction bears falls: v = t (t - more) comes to rest at once,
    and the other way the body slides when the load has become 1 N."""
    model = Model("released")
    model.body, model.floor = Mass(mass="1 kg"), Reference()
    model.rub = TranslationalFriction(law="coulomb", coulomb_force="1 N", breakaway_force="1 N")
    model.load = ForceSource(force=lambda t: quantity(-1 - more, "N") + quantity("2 N/s") * t)
    model.connect(model.body.M, model.rub.R, model.load.R)
    model.connect(model.rub.C, model.load.C, model.floor.V)
    run = model.simulate("1.5 s", method=method)
    assert [event.description for event in run.events] == ["sticks", "slides forward"]
    assert_allclose([event.time for event in run.events], [more, 1 + more / 2], atol=2e-6)
    left = 0.5 - more / 2
    assert_allclose(run["body.v"].final.m, left**2, rtol=1e-5)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "DOP853", "Radau", "RK23", "ode45"])
@pytest.mark.parametrize(("start", "at", "power"), [
    ("0", 0, 8), ("0", 0, 10), ("0", 0, 12), ("-1", 1, 6), ("-1e4", 1, 10)])
def test_what_crosses_flatly_crosses_once(start, at, power, method, rtol):
    """x rises all the time, by |t - t0|^n: between the ends of a step alone it is seen to fall."""
    size = quantity(abs(float(start)) or 1.0, "")

    class Flat(Component):
        x, n = Variable("", start, priority="high"), Discrete("", "0")

        def equations(self):
            away = abs_(time / quantity("1 s") - at)
            yield der(self.x) == size * power * away ** (power - 1) / quantity("1 s")
            yield when(self.x > 0, {self.n: self.n + 1})

    run = wired("flat", part=Flat()).simulate("2 s", method=method, rtol=rtol)
    assert run["part.n"].final.m == 1
