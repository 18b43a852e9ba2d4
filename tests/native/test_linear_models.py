"""Linear models: matrix exponentials and closed forms that runs must meet, switches among them."""

import numpy as np
import pytest
from benches import wire, wired
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm

import library.electrical as el
import library.translational as tr
from benchmarks.cases.models import alone
from blocks import Component, Discrete, Model, Variable, der, quantity, sin, time, when
from blocks.native.step_control import count_up_to
from library.signal import Gain, Step

PER_SECOND = quantity("1 1/s")


def at(run, name, times):
    return run[name].at(quantity(times, "s")).magnitude


# -- smooth motions -----------------------------------------------------------------------------
def oscillator(stiffness="1 kN/m", damping="10 N*s/m", force=None):
    model = wired("oscillator", "block.M spring.R damper.R", "spring.C damper.C ground.V",
                  block=tr.Mass(mass="1 kg", v="1 m/s"), spring=tr.Spring(stiffness=stiffness),
                  damper=tr.Damper(damping=damping), ground=tr.Reference())
    if force is not None:
        wire(model, "push.R block.M", "push.C ground.V", push=tr.ForceSource(force=force))
    return model


@pytest.mark.parametrize("stiff", [1.0, 1e6])
def test_a_chain_is_the_exponential_of_its_matrix(stiff):
    n, d = 12, 0.5
    k = 1e3 * np.where(np.arange(n) % 2, stiff, 1.0)
    model = wired(
        "chain", "springs.R dampers.R masses.M", "springs[1:].C dampers[1:].C masses[:-1].M",
        "springs[0].C dampers[0].C ground.V push.C", "push.R masses[-1].M", masses=tr.Mass(count=n),
        ground=tr.Reference(), springs=tr.Spring(count=n, stiffness=quantity(k, "N/m")),
        dampers=tr.Damper(count=n, damping=f"{d} N*s/m"), push=tr.ForceSource(force="1 N"))
    run = model.simulate("0.5 s", rtol=1e-10)
    ends = np.eye(n) - np.eye(n, k=-1)  # strain rates by velocities
    a = np.zeros((2 * n + 1, 2 * n + 1))
    a[:n, n:-1] = ends
    a[n:-1, :n], a[n:-1, n:-1] = -ends.T * k, -d * ends.T @ ends
    a[2 * n - 1, -1] = 1.0
    for t in (0.1234, 0.5):
        expected = expm(a * t)[:-1, -1]
        v = np.array([at(run, f"masses[{i}].v", t) for i in range(n)])
        assert_allclose(v, expected[n:], rtol=0, atol=2e-8 * abs(expected[n:]).max())


class Bell(Component):
    """Rings at 2^20 1/s once it is struck, and counts how often it passes half of its swing."""

    x, v = Variable("1", 0, priority="high"), Variable("1", 0, priority="high")
    slow = Variable("1", 1, priority="high")
    number, struck = Discrete("1", 0), Discrete("1", 0)

    def equations(self):
        w = 2 * np.pi * 2.0**20 * PER_SECOND
        yield der(self.x) == w * self.v
        yield der(self.v) == -w * self.x
        yield der(self.slow) == -PER_SECOND * self.slow
        yield when(time > quantity("0.5 s"), {self.v: 1.0})
        yield when(self.x > 0.5, {self.number: self.number + 1})


def test_what_swings_exactly_as_often_as_it_is_looked_at_is_seen():
    """Before, nothing moves but a slow decay, and a step takes many thousand of its periods."""
    run = alone(Bell()).simulate(quantity(0.5 + 40.5 * 2.0**-20, "s"), method="rodas4")
    assert run["part.number"].final.magnitude == 41
    assert run.statistics["steps"] < 3000


# -- many unknowns, many modes --------------------------------------------------------------------
def test_more_than_300_unknowns_have_the_derivatives_of_their_few_states():
    """An oscillator pushed through 400 gains of one, and held back through 400 others."""
    model = wired("many unknowns", mass=tr.Mass(mass="1 kg"), frame=tr.Reference(),
                  sensor=tr.MotionSensor(), push=tr.ForceSource(), held=tr.ForceSource(),
                  step=Step(final="10 N", start="1 s"), force=Gain(count=400, input="N", gain=1.0),
                  way=Gain(count=400, input="m", gain=1.0),
                  stiffness=Gain(input="m", gain="-100 N/m"))
    for chain, first, last in ((model.force, model.step.y, model.push.S),
                               (model.way, model.sensor.P, model.stiffness.u)):
        model.connect(first, chain[0].u)
        model.connect(chain[:-1].y, chain[1:].u)
        model.connect(chain[-1].y, last)
    wire(model, "stiffness.y held.S", "mass.M push.R held.R sensor.R",
         "frame.V push.C held.C sensor.C")
    run = model.simulate("3 s", rtol=1e-10)
    times = np.linspace(1, 3, 9)
    assert_allclose(at(run, "sensor.x", times), 0.1 * (1 - np.cos(10 * (times - 1))), atol=1e-9)


@pytest.mark.parametrize("peak", [1.0001, 1.01, 1.2, 1.4])
def test_a_break_away_by_a_sine_is_not_missed_while_everything_rests(peak):
    # twice in a period it slips: what sticks again is at rest
    model = Model("at rest")
    model.body, model.floor = tr.Mass(mass="1 kg"), tr.Reference()
    model.rub = tr.TranslationalFriction(law="coulomb", coulomb_force="1 N", breakaway_force="1 N")
    model.load = tr.ForceSource(force=lambda t: quantity(peak, "N") * sin(t * quantity("2 rad/s")))
    model.connect(model.body.M, model.rub.R, model.load.R)
    model.connect(model.floor.V, model.rub.C, model.load.C)
    run = model.simulate(quantity(40 * np.pi, "s"), rtol=1e-8)
    slips = [e.time for e in run.events if e.previous == "stuck"]
    assert_allclose(slips, np.arcsin(1 / peak) / 2 + np.pi / 2 * np.arange(80), rtol=0, atol=1e-9)


def test_sines_in_an_algebraic_loop_are_followed():
    # 1 ohm and 2 ohm in series from a source of 3 V, 1 mF across the second: tau = 2/3 ms
    model = wired("divider", "mains.p first.p", "first.n second.p third.p", "third.n store.p",
                  "second.n store.n mains.n ground.V",
                  mains=el.ACVoltageSource(amplitude="3 V", frequency="200 Hz"),
                  ground=el.ElectricalReference(), first=el.Resistor(resistance="1 ohm"),
                  second=el.Resistor(resistance="2 ohm"), third=el.Resistor(resistance="4 ohm"),
                  store=el.Capacitor(capacitance="1 mF"))
    run = model.simulate("10 ms", rtol=1e-10)
    # seen from the capacitor: 2/3 of the source behind 4 + 2/3 ohm
    w, tau = 400 * np.pi, 1e-3 * (4 + 2 / 3)
    gain = 2 / (1 + 1j * w * tau)
    t = np.linspace(0, 10e-3, 333)
    expected = (gain * np.exp(1j * w * t)).imag - gain.imag * np.exp(-t / tau)
    assert_allclose(at(run, "store.vc", t), expected, rtol=0, atol=1e-8)


@given(st.lists(st.floats(-5, 5), max_size=40), st.floats(-6, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_not_after_a_time_is_counted_from_wherever_it_was_before(values, t, data):
    ascending = np.sort(np.array(values, dtype=float))
    count = int(np.searchsorted(ascending, t, side="right"))
    before = data.draw(st.integers(0, count))
    assert count_up_to(ascending, t, before) == count_up_to.python(ascending, t, before) == count
