"""Circuits in machine code: without states, behind bridges, of three levels."""

import numpy as np
import pytest
from benches import few, wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import blocks
import library.electrical as el
from blocks import Component, Discrete, Input, Model, Output, Parameter, Variable, quantity, where
from blocks import time as now
from library.signal import Constant, Delay, Product, Pulse, Relay, Sine, Sum, ZeroOrderHold


# -- models without states --------------------------------------------------------------------
def rectifier(frequency="1 kHz"):
    """A source of 10 V, an exponential diode and 10 ohm."""
    return wired("rectifier", "source.p diode.p", "diode.n load.p", "load.n source.n earth.V",
                 source=el.ACVoltageSource(amplitude="10 V", frequency=frequency),
                 diode=el.Diode(model="exponential"), load=el.Resistor(resistance="10 ohm"),
                 earth=el.ElectricalReference())


def voltage(u):
    """That of the load: u = v + 10 ohm i(v), with the diode's default values."""
    return u - brentq(lambda v: v + 10 * (1e-6 * np.expm1(v / 0.04) + v / 1e8) - u, -10.1, 0.6,
                      xtol=1e-15)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_an_exponential_rectifier_is_the_closed_form(method):
    run = rectifier().simulate("20 ms", method=method)
    expected = [voltage(u) for u in 10 * np.sin(2e3 * np.pi * run.time.m[::7])]
    assert_allclose(run["load.v"].m[::7], expected, atol=1e-9)
    assert np.abs(np.diff(run["load.v"].m)).max() < 1.5  # points enough for a picture
    assert_allclose(run["load.v"].max().m, voltage(10.0), rtol=1e-9)


@pytest.mark.parametrize("method", ["euler", "backward_euler", "trapezoidal", "moreau_jean"])
def test_fixed_steps_are_as_long_as_was_said_whatever_waves_a_source_has(method):
    model = wired("wave", "source.p load.p", "load.n source.n earth.V", "sine.y late.u",
                  earth=el.ElectricalReference(), late=Delay(delay="2 ms"),
                  sine=Sine(frequency="1 Hz"),
                  source=el.ACVoltageSource(amplitude="10 V", frequency="1.003 GHz"),
                  load=el.Resistor(resistance="10 ohm"))
    run = model.simulate("20 ms", method=method, step="1 ms")
    assert run.statistics.steps == 20
    t = 1e-3 * np.arange(21)
    expected = np.sin(2e9 * np.pi * 1.003 * t)
    assert_allclose(run["load.i"].at(quantity(t, "s")).m, expected, atol=1e-6)


@pytest.mark.parametrize("method", ["backward_euler", "trapezoidal"])
def test_a_delayed_loop_whose_unknown_stands_still_is_stepped(method):
    model = wired("loop", "product.y sum.u1", "ten.y sum.u2", "sum.y late.u", "sum.y product.u2",
                  "product.y product.u1", sum=Sum(), late=Delay(delay="2 s"), product=Product(),
                  ten=Constant(value=10.0))
    run = model.simulate("0.1 s", method=method, step="1 ms")
    assert run["sum.y"].final.m == 1.0  # y = y (y + 10), of what is not 0


class Squarer(Component):
    """y + y^3 = x, and an event whenever y rises beyond a level."""

    level = Parameter(0.5)
    seen = Output()
    x, y, rises = Variable(), Variable(), Discrete()

    def equations(self):
        yield self.seen == self.y
        yield self.x == blocks.sin(2 * np.pi * quantity("50 Hz") * now)
        yield self.y + self.y**3 == self.x
        yield blocks.when(self.y > self.level, {self.rises: self.rises + 1})


class Follower(Component):
    """der(y) = u, so that something is integrated."""

    u = Input()
    y = Variable()

    def equations(self):
        yield blocks.der(self.y) * quantity("1 s") == self.u


def test_waves_are_shown_and_events_met_where_nothing_is_integrated():
    run = wired("curve", part=Squarer()).simulate("1 s")
    crossings = np.arcsin(0.625) / (100 * np.pi) + 0.02 * np.arange(50)
    assert_allclose([e.time for e in run.events], crossings, atol=1e-9)
    y = run["part.y"].m
    assert_allclose(y + y**3, np.sin(100 * np.pi * run.time.m), atol=1e-9)
    assert np.abs(np.diff(y)).max() < 0.2


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "RK23"])
def test_an_event_of_an_unknown_acts_once(method):
    """Its last bit is another one whenever the loop is solved for anew."""
    model = wired("curve", "part.seen state.u", part=Squarer(), state=Follower())
    for level in np.linspace(-0.6, 0.6, 5 if method == "RK23" else 31):
        model.part.level = level
        assert model.simulate("0.2 s", method=method)["part.rises"].final.m == 10, level


def test_a_sine_without_unknowns_is_shown_by_many_points_a_period():
    model = rectifier()
    model.diode.model = "piecewise linear"
    run = model.simulate("2 s")
    assert len(run.time) > 2000 * 18
    assert_allclose(run["load.v"].max().m, 10 * (10 - 0.6) / 10.3, rtol=1e-6)


RUNGS = 40


def ladder(rungs=RUNGS, kind=el.Diode, **options):
    """1 kilohm in parts, with a diode or the like to ground behind each."""
    return wired("ladder", "source.p along[0].p", "along[:-1].n along[1:].p", "along.n diode.p",
                 "diode.n source.n earth.V",
                 source=el.ACVoltageSource(amplitude="5 V", frequency="1 kHz"),
                 along=el.Resistor(count=rungs, resistance=quantity(1000 / rungs, "ohm")),
                 diode=kind(count=rungs, **options), earth=el.ElectricalReference())


def current_of_diode(v):
    x = v / 0.04
    return 1e-6 * (np.exp(min(x, 15)) * (1 + x - min(x, 15)) - 1) + v / 1e8


def source_of_ladder(last, rungs=RUNGS, current=current_of_diode):
    """The source's voltage, from the voltage behind the last part on."""
    v, i = last, 0.0
    for _ in range(rungs):
        i += current(v)
        v += 1000 / rungs * i
    return v


class Steps(el.TwoPort):
    """A current in many steps of the voltage, each smooth: a law of some hundred operations."""

    def equations(self):
        x = self.v / quantity("1 V")
        yield self.i == quantity("0.1 mA") * sum(blocks.tanh(k * x) / k for k in range(1, MANY))


MANY = 60


def current_in_steps(v):
    k = np.arange(1, MANY)
    return 1e-4 * (np.tanh(k * v) / k).sum()


@few(1, ("rungs", "build", "current"), [
    (3, lambda: ladder(3, Steps), current_in_steps), (12, lambda: ladder(12, Steps),
                                                      current_in_steps),
    (RUNGS, lambda: ladder(model="exponential"), current_of_diode)])
def test_laws_without_states_are_solved_in_machine_code_however_many(rungs, build, current):
    run = build().simulate("0.5 ms")
    assert run.statistics["method"] == "dopri5" and "Python" not in run.statistics["why"]
    t, last = run.time.m[::20], run[f"diode[{rungs - 1}].v"].m[::20]
    expected = [brentq(lambda v, u=u: source_of_ladder(v, rungs, current) - u, -5.1, 5,
                       xtol=1e-16) for u in 5 * np.sin(2e3 * np.pi * t)]
    assert_allclose(last, expected, atol=1e-9)


# -- relays and samples behind a bridge -------------------------------------------------------
LOAD, BLEEDER, COIL, SERIES = 10.0, 20.0, 10e-3, 1e-3


def behind_a_bridge():
    """17 V at 50 Hz through 1 mH and 0.1 ohm and a bridge onto 10 ohm, with a sensor there."""
    return wired("rectifier", "source.p wire.p", "wire.n line.p", "line.n bridge[0].p bridge[2].n",
                 "source.n bridge[1].p bridge[3].n", "bridge[0].n bridge[1].n load.p sensor.p",
                 "ground.V bridge[2].p bridge[3].p load.n sensor.n",
                 ground=el.ElectricalReference(), load=el.Resistor(resistance="10 ohm"),
                 source=el.ACVoltageSource(amplitude="17 V", frequency="50 Hz"),
                 wire=el.Resistor(resistance="0.1 ohm"), line=el.Inductor(inductance="1 mH"),
                 bridge=el.Diode(count=4, model="ideal"), sensor=el.VoltageSensor())


def dimmer():
    """A relay on the voltage behind the bridge lets a coil have it, too."""
    model = behind_a_bridge()
    wire(model, "sensor.V relay.u", "relay.y switch.vT", "load.p switch.p",
         "switch.n resistor.p diode.n", "resistor.n coil.p", "coil.n diode.p ground.V",
         relay=Relay(switch_on="12 V", switch_off="6 V"), switch=el.Switch(model="ideal"),
         diode=el.Diode(model="ideal"), resistor=el.Resistor(resistance="20 ohm"),
         coil=el.Inductor(inductance="10 mH"))
    return model


def first_period_of_the_dimmer():
    """Currents of line and coil after 9 ms, piece by piece; and when the relay switched.

    While it is off the load has |i| and the coil's current runs down through the diode; on, the
    load has |i| - j while that is positive. The line's current keeps its sign up to then.
    """
    def off(t, y):
        return [(17 * np.sin(100 * np.pi * t) - 0.1 * y[0] - LOAD * y[0]) / SERIES,
                -BLEEDER * y[1] / COIL]

    def on(t, y):
        v = LOAD * (y[0] - y[1])
        return [(17 * np.sin(100 * np.pi * t) - 0.1 * y[0] - v) / SERIES,
                (v - BLEEDER * y[1]) / COIL]

    def above(t, y):
        return LOAD * y[0] - 12.0

    def below(t, y):
        return LOAD * (y[0] - y[1]) - 6.0

    above.terminal, above.direction, below.terminal, below.direction = True, 1, True, -1
    tight = {"rtol": 1e-12, "atol": 1e-14}
    first = solve_ivp(off, (0, 9e-3), [0, 0], events=above, **tight)
    second = solve_ivp(on, (first.t[-1], 9e-3), first.y[:, -1], events=below, **tight)
    third = solve_ivp(off, (second.t[-1], 9e-3), second.y[:, -1], **tight)
    return third.y[:, -1], first.t[-1], second.t[-1]


@few(1, ("method", "waves"), [("dopri5", 10), ("ode45", 3)])
def test_a_relay_behind_a_bridge_switches_where_its_voltage_says(method, waves, searches):
    run = dimmer().simulate(quantity(10 * waves, "ms"), rtol=1e-9, method=method)
    end, on, off = first_period_of_the_dimmer()
    assert_allclose([run[path].at("9 ms").m for path in ("line.i", "coil.i")], end, rtol=1e-7)
    times = np.unique([float(e.time) for e in run.events if e.component == "relay"])
    assert_allclose(times[:2], [on, off], rtol=1e-9)
    assert len(times) == 2 * waves  # each half a period of the mains
    assert method == "ode45" or len(searches) < 40  # those of the first periods alone


def test_a_sample_behind_a_bridge_is_the_rectified_voltage(searches):
    """10 ohm times the line's current, whichever diodes have it."""
    model = behind_a_bridge()
    wire(model, "sensor.V hold.u", "hold.y output.vT", "output.p ohm.p", "ohm.n store.p",
         "store.n output.n ground.V",
         hold=ZeroOrderHold(sample_time="0.1 ms", unit="V"), output=el.ControlledVoltageSource(),
         ohm=el.Resistor(resistance="1 kohm"), store=el.Capacitor(capacitance="10 uF"))
    run = model.simulate("0.1 s", rtol=1e-9)
    t = 1e-4 * np.arange(1, 999, 7)
    held = np.array([run["hold.y"].at(quantity(x + 2e-5, "s")).m for x in t])
    line = np.array([run["line.i"].at(quantity(x, "s")).m for x in t])
    assert_allclose(held, LOAD * np.abs(line), atol=1e-7)
    assert len(searches) < 20


def test_a_sample_at_the_instant_of_a_switch_sees_what_the_switch_has_done(searches):
    """12 V over a switch onto a coil with a diode: its voltage jumps with the switch."""
    model = wired("chopper", "source.p switch.p", "switch.n diode.n coil.p sensor.p",
                  "coil.n load.p", "ground.V source.n diode.p load.n sensor.n", "pulse.y switch.vT",
                  "sensor.V hold.u", ground=el.ElectricalReference(),
                  source=el.DCVoltageSource(voltage="12 V"), switch=el.Switch(model="ideal"),
                  diode=el.Diode(model="ideal"), coil=el.Inductor(inductance="1 mH"),
                  load=el.Resistor(resistance="2 ohm"), pulse=Pulse(period="100 us", width=0.5),
                  sensor=el.VoltageSensor(), hold=ZeroOrderHold(sample_time="50 us", unit="V"))
    run = model.simulate("10 ms")
    held = [run["hold.y"].at(f"{50 * k + 20} us").m for k in range(4, 190)]
    assert_allclose(held, np.tile([12.0, 0.0], 93), atol=1e-9)
    assert len(searches) < 10


# -- a three-level leg ------------------------------------------------------------------------
VOLTS, HENRY, OHM, DEPTH, PERIOD = 200.0, 5e-3, 5.0, 0.8, 20e-6


def carrier(t):
    phase = blocks.mod(t, quantity(PERIOD, "s")) / quantity(PERIOD, "s")
    return where(phase < 0.5, 2 * phase, 2 - 2 * phase)


def leg():
    """Four transistors between three rails, and two diodes to the middle one."""
    model = Model("leg")
    parts = {"upper": (el.DCVoltageSource(voltage=quantity(VOLTS, "V")), "P", "0"),
             "lower": (el.DCVoltageSource(voltage=quantity(VOLTS, "V")), "0", "N"),
             "s1": (el.MOSFET(), "P", "x"), "s2": (el.MOSFET(), "x", "out"),
             "s3": (el.MOSFET(), "out", "y"), "s4": (el.MOSFET(), "y", "N"),
             "k1": (el.Diode(model="ideal"), "0", "x"), "k2": (el.Diode(model="ideal"), "y", "0"),
             "coil": (el.Inductor(inductance=quantity(HENRY, "H")), "out", "z"),
             "load": (el.Resistor(resistance=quantity(OHM, "ohm")), "z", "0")}
    model.ground = el.ElectricalReference()
    nodes = {"0": [model.ground.V]}
    for name, (part, *ends) in parts.items():
        model.add(name, part)
        for port, node in zip(("D", "S") if isinstance(part, el.MOSFET) else ("p", "n"), ends,
                              strict=True):
            nodes.setdefault(node, []).append(getattr(part, port))
    for ports in nodes.values():
        model.connect(*ports)

    def wave(t):
        return DEPTH * np.sin(t * quantity(100 * np.pi, "rad/s"))

    for name, level, above in (("s1", 0, 1), ("s3", 0, 0), ("s2", -1, 1), ("s4", -1, 0)):
        getattr(model, name).gate = lambda t, level=level, above=above: where(
            wave(t) > carrier(t) + level, above, 1 - above)
    return model


def current_by_hand(end):
    """The coil's current: exact between instants at which a carrier meets the sine."""
    def margin(t, level):
        phase = t / PERIOD % 1.0
        return DEPTH * np.sin(100 * np.pi * t) - level - min(2 * phase, 2 - 2 * phase)

    borders = np.arange(1, round(2 * end / PERIOD) + 1) * PERIOD / 2
    instants, t = {end}, 0.0
    for border in borders:
        for level in (0, -1):
            a, b = t + 1e-15, border - 1e-15
            if margin(a, level) * margin(b, level) < 0:
                instants.add(brentq(margin, a, b, args=(level,), xtol=1e-18))
        t = border
    i, t = 0.0, 0.0
    for at in sorted(instants):
        middle = (t + at) / 2
        volts = VOLTS * (float(margin(middle, 0) > 0) - float(margin(middle, -1) < 0))
        i = volts / OHM + (i - volts / OHM) * np.exp(-OHM / HENRY * (at - t))
        t = at
    return i


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_a_three_level_leg_runs_in_machine_code(method):
    """While its current freewheels, as few as can carry it."""
    end = 0.2e-3
    run = leg().simulate(quantity(end, "s"), method=method, rtol=1e-8)
    assert "stretches in Python" not in run.statistics
    assert_allclose(run["coil.i_L"].final.to("A").m, current_by_hand(end), rtol=1e-7)
    assert run.energy().relative_residual < 1e-7


@pytest.mark.parametrize("method", ["rodas4", "ode45"])
def test_the_last_microampere_finds_its_diode(method):
    """A leg of two transistors to the rails and two to the middle one, back to back (T-type).

    What is left of a current that freewheels lasts 1e-12 s in the diode that takes it over.
    """
    model = Model("T-type leg")
    model.upper, model.lower = (el.DCVoltageSource(voltage=quantity(VOLTS, "V")) for _ in range(2))
    model.s1, model.s2, model.s3, model.s4 = (el.IGBT() for _ in range(4))
    wire(model, "upper.p s1.C", "lower.n s4.E", "upper.n lower.p ground.V s2.C load.n", "s2.E s3.E",
         "s1.E s4.C s3.C coil.p", "coil.n load.p",
         coil=el.Inductor(inductance="200 uH", i_L="1 uA"),
         load=el.Resistor(resistance=quantity(OHM, "ohm")), ground=el.ElectricalReference())
    model.s3.gate = 1
    model.s2.gate = lambda t: where(t < quantity("1 us"), 1, 0)
    model.s4.gate = lambda t: where(t > quantity("3 us"), 1, 0)
    run = model.simulate("5 us", method=method, rtol=1e-8)
    exact = -VOLTS / OHM * (1 - np.exp(-2e-6 * OHM / 200e-6))
    assert_allclose(run["coil.i_L"].final.to("A").m, exact, rtol=1e-7)
    assert abs(run["coil.i_L"].at("2 us").to("A").m) < 1e-15
