"""Exponential diodes that hand a current over to each other, with nothing beside their node."""

from functools import cache

import numpy as np
import pytest
from benches import few, values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import library.electrical as el
from blocks import quantity
from library.signal import Pulse

SATURATION, THERMAL, LARGEST, OHMIC = 1e-6, 0.04, 15.0, 1e8


def current(v):
    """Shockley's law, continued by its tangent."""
    exponent = min(v / THERMAL, LARGEST)
    return SATURATION * (np.exp(exponent) * (1 + v / THERMAL - exponent) - 1) + v / OHMIC


def doubler():
    """Coil and capacitor feed a node between two diodes: one charges them, one the store."""
    return circuit("doubler", "source.p coil.p", "coil.n link.p", "link.n lower.n upper.p",
                   "upper.n store.p load.p", "source.n lower.p store.n load.n ground.V",
                   source=el.ACVoltageSource(amplitude="17.77 V", frequency="328.4 Hz"),
                   coil=el.Inductor(inductance="0.3774 mH", series_resistance="1.17 mohm"),
                   link=el.Capacitor(capacitance="1.689 uF"), lower=el.Diode(model="exponential"),
                   upper=el.Diode(model="exponential"), store=el.Capacitor(capacitance="1.689 uF"),
                   load=el.Resistor(resistance="1.839 kohm"))


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_the_voltage_between_two_diodes_is_the_root_of_their_laws(method):
    run = doubler().simulate("10 ms", method=method)
    times = np.linspace(0.3e-3, 9.9e-3, 60)
    coil, store, node = (values(run, path, unit, times) for path, unit in (
        ("coil.i_L", "A"), ("store.vc", "V"), ("upper.p.v", "V")))
    exact = [brentq(lambda v: current(v - high) - current(-v) - i, -300, 300,  # noqa: B023
                    xtol=1e-13) for i, high in zip(coil, store, strict=True)]
    # where both block, rounding of the currents counts 1e8 ohm
    assert_allclose(node, exact, rtol=1e-7, atol=1e-6)
    assert run.energy().relative_residual < 1e-4


def peak_rectifier(amplitude, frequency, capacitance):
    """A store that is charged at the tops of a sine."""
    return circuit("peak", "source.p wire.p", "wire.n diode.p", "diode.n store.p load.p",
                   "source.n store.n load.n ground.V",
                   source=el.ACVoltageSource(amplitude=quantity(amplitude, "V"),
                                             frequency=quantity(frequency, "Hz")),
                   wire=el.Resistor(resistance="0.1 ohm"), diode=el.Diode(model="exponential"),
                   store=el.Capacitor(capacitance=quantity(capacitance, "F")),
                   load=el.Resistor(resistance="13 kohm"))


@cache
def charged(amplitude, frequency, capacitance):
    """The store at twelve times in three periods."""
    def slope(t, store):
        over = amplitude * np.sin(2 * np.pi * frequency * t) - store[0]
        i = brentq(lambda i: current(over - 0.1 * i) - i, -1.0, 4000.0, xtol=1e-14)
        return [(i - store[0] / 13e3) / capacitance]

    times = np.linspace(0, 3 / frequency, 13)[1:]
    return times, solve_ivp(slope, (0, times[-1]), [0.0], method="Radau", t_eval=times, rtol=1e-9,
                            atol=1e-9, max_step=0.01 / frequency).y[0]


@few(3, ("circuit_of", "method"), [
    ((15, 290, 26e-6), "auto"), ((15, 290, 26e-6), "Radau"), ((15, 290, 260e-6), "rodas4"),
    ((15, 290, 260e-6), "ode45"), ((325, 50, 1e-3), "auto"), ((325, 50, 1e-3), "DOP853")])
def test_short_pulses_that_charge_a_store_are_not_stepped_over(method, circuit_of):
    times, exact = charged(*circuit_of)
    run = peak_rectifier(*circuit_of).simulate(quantity(times[-1], "s"), method=method)
    assert len(run.events) == 0
    assert_allclose(values(run, "store.vc", "V", times), exact, atol=3e-5 * circuit_of[0])


PERIOD = 29.1e-6  # s
SWITCHES = {"switch": (lambda: el.Switch(model="ideal"), "p", "n", "vT"),
            "transistor": (lambda: el.MOSFET(on_resistance="0 ohm"), "D", "S", "G")}


def converter(switch, boosts):
    """A coil between a source, an ideal switch and an exponential diode, with nothing beside."""
    make, p, n, gate = SWITCHES[switch]
    parts = {"coil": el.Inductor(inductance="11.24 uH"),
             "store": el.Capacitor(capacitance="1.17 uF"),
             "drive": Pulse(period=quantity(PERIOD, "s"), width=0.616),
             "load": el.Resistor(resistance="7.721 ohm")} if boosts else {
        "coil": el.Inductor(inductance="69.66 uH", parasitic=True),
        "store": el.Capacitor(capacitance="48.47 uF", series_resistance="3.926 mohm",
                           parasitic=True),
        "drive": Pulse(period=quantity(PERIOD, "s"), width=0.459),
        "load": el.Resistor(resistance="2.353 ohm")}  # fmt: skip
    nets = ["source.p coil.p", f"coil.n switch.{p} diode.p", "diode.n store.p load.p",
            f"switch.{n} ground.V"] if boosts else [
        f"source.p switch.{p}", f"switch.{n} coil.p diode.n", "coil.n store.p load.p",
        "diode.p ground.V"]  # fmt: skip
    return circuit("converter", f"drive.y switch.{gate}", "source.n load.n store.n ground.V", *nets,
                   source=el.DCVoltageSource(voltage="12 V"), switch=make(),
                   diode=el.Diode(model="exponential"), **parts)


@few(2, ("switch", "boosts", "method"), [
    ("switch", True, "auto"), ("transistor", True, "rodas4"), ("switch", False, "rodas4"),
    ("transistor", False, "auto")])
def test_ideal_switches_hand_the_current_of_a_coil_to_an_exponential_diode(switch, boosts, method):
    """Down to no current at all, where the diode leaks less than the coil's current is known to.

    The node between them has nothing that stores: its voltage is the root of the diode's law,
    or that of the switch that is closed.
    """
    run = converter(switch, boosts).simulate(quantity(12 * PERIOD, "s"), method=method)
    periods = np.arange(12) * PERIOD
    closed = np.concatenate([periods + part * PERIOD for part in (0.07, 0.2, 0.38)])
    opened = np.concatenate([periods + part * PERIOD for part in (0.617, 0.65, 0.7)])
    end = "n" if boosts else "p"
    node = lambda times: values(run, f"coil.{end}.v", "V", times)  # noqa: E731
    assert_allclose(node(closed), 0.0 if boosts else 12.0, atol=1e-9)
    coil, store = (values(run, path, unit, opened) for path, unit in (
        ("coil.i_L", "A"), ("store.vc", "V")))
    exact = [brentq(lambda v: current(v) - i, -300, 300, xtol=1e-13) for i in coil]  # noqa: B023
    conducts = coil > 1e-3  # beyond, rounding of the current counts 1e8 ohm
    assert conducts.sum() > 20
    across = node(opened) - store if boosts else -node(opened)
    assert_allclose(across[conducts], np.array(exact)[conducts], rtol=1e-6, atol=1e-6)
    assert run.energy().relative_residual < 1e-4
    assert run.statistics.steps < 12_000  # 1,000 a period


# -- switches that take a node from one source to another ------------------------------------------
SWAP = 1e-4  # s


def throws(m, **ends):
    """Ideal switches that take a node to one source for half a period, then to another."""
    for k, (name, nodes) in enumerate(ends.items()):
        p, n = nodes.split()
        wire(m, f"{name}_gate.y {name}.vT", f"{p} {name}.p", f"{name}.n {n}",
             **{name: el.Switch(model="ideal"), f"{name}_gate": Pulse(
                 period=quantity(SWAP, "s"), start=quantity(k * SWAP / 2, "s"))})


def either():
    """The higher one of two sources, each of which is switched on for half of the time."""
    diodes = {"first": el.Diode(model="exponential"), "second": el.Diode(model="exponential")}
    m = circuit("either", low=el.DCVoltageSource(voltage="5 V"),
                high=el.DCVoltageSource(voltage="12 V"), load=el.Resistor(resistance="10 ohm"),
                leak=el.Resistor(resistance="10 kohm"),
                leaks=el.Resistor(resistance="10 kohm"), **diodes)  # fmt: skip
    throws(m, S="low.p first.p", T="high.p second.p")
    wire(m, "first.n second.n load.p", "first.p leak.p", "second.p leaks.p",
         "low.n high.n load.n leak.n leaks.n ground.V")

    def balance(nodes, early):
        first, second, out = nodes
        ends = first - 5 if early else first / 1e4 + current(first - out), (
            second / 1e4 + current(second - out) if early else second - 12)
        return [*ends, current(first - out) + current(second - out) - out / 10]

    return m, balance, ["first.p.v", "second.p.v", "load.v"], ([5, 0, 4.4], [0, 12, 11.4])


def rectified():
    """A bridge that is fed from both sides, through four switches."""
    m = circuit("rectified", source=el.DCVoltageSource(voltage="12 V"),
                load=el.Resistor(resistance="47 ohm"),
                **{name: el.Diode(model="exponential") for name in "abcd"})  # fmt: skip
    throws(m, up="source.p a.p", down="a.p ground.V")
    wire(m, "b.p left.p right.n", "left.n ground.V", "source.p right.p", "up_gate.y left.vT",
         "down_gate.y right.vT", "a.n b.n load.p", "c.n a.p", "d.n b.p", "c.p d.p load.n",
         "source.n ground.V", left=el.Switch(model="ideal"), right=el.Switch(model="ideal"))

    def balance(nodes, early):
        left, right = (12.0, 0.0) if early else (0.0, 12.0)
        top, foot = nodes
        load = (top - foot) / 47
        return [current(left - top) + current(right - top) - load,
                current(foot - left) + current(foot - right) - load]

    return m, balance, ["a.n.v", "c.p.v"], ([11.5, 0.5], [11.5, 0.5])


@pytest.mark.parametrize(("circuit_of", "method"), [
    (either, "auto"), (rectified, "rodas4"), (either, "DOP853")])
def test_a_node_that_switches_move_is_the_root_of_its_laws_in_both_halves(circuit_of, method):
    m, balance, paths, starts = circuit_of()
    run = m.simulate(quantity(3 * SWAP, "s"), method=method)
    early = SWAP * np.array([0.01, 0.49, 1.2, 2.499])
    for k, times in enumerate((early, early + SWAP / 2)):
        exact = fsolve(balance, starts[k], args=(k == 0,), xtol=1e-13)
        for path, value in zip(paths, exact, strict=True):
            assert_allclose(values(run, path, "V", times), value, rtol=1e-8, atol=1e-8)
    assert run.energy().relative_residual < 1e-9


def test_a_ring_of_coil_and_capacitor_on_a_node_that_a_switch_grounds_is_read():
    """What its other coil feeds a diode with is solved for, beside what the switch takes."""
    m = circuit("ring", source=el.ACVoltageSource(amplitude="15 V", frequency="10 kHz",
                                                  phase="90 deg"),
                feed=el.Resistor(resistance="2 ohm"), load=el.Resistor(resistance="80 ohm"),
                coils=el.MutualInductor(inductance_1="0.2 mH", inductance_2="0.4 mH"),
                link=el.Capacitor(vc="1 V"), back=el.Resistor(resistance="1.3 ohm"),
                diode=el.Diode(model="exponential"), leak=el.Resistor(resistance="7 kohm"),
                short=el.Switch(model="ideal"), clock=Pulse(period=quantity(SWAP, "s")))
    wire(m, "clock.y short.vT", "source.p feed.p", "feed.n short.p link.p coils.n1 load.p",
         "link.n back.p", "back.n coils.p1", "coils.p2 diode.p leak.p",
         "source.n short.n load.n coils.n2 diode.n leak.n ground.V")
    run = m.simulate(quantity(SWAP, "s"))
    mutual = 0.9 * np.sqrt(8e-8)

    def slope(t, state):
        vc, i1, i2 = state
        second = brentq(lambda v: current(v) + v / 7e3 + i2, -300, 3, xtol=1e-12)
        rates = np.linalg.solve([[2e-4, mutual], [mutual, 4e-4]], [-vc - 1.3 * i1, second])
        return [i1 / 1e-6, *rates]

    times = SWAP * np.array([0.1, 0.3, 0.7, 0.9])
    exact = solve_ivp(slope, (0, SWAP), [1.0, 0.0, 0.0], method="Radau", t_eval=times,
                      rtol=1e-7, atol=1e-9).y
    for values_of, (path, unit) in zip(exact, (
            ("link.vc", "V"), ("coils.i1", "A"), ("coils.i2", "A")), strict=True):
        assert_allclose(values(run, path, unit, times), values_of, atol=3e-5)
    supplied = 7.5 * np.cos(2 * np.pi * 1e4 * times)
    assert_allclose(values(run, "short.i", "A", times), supplied * [1, 1, 0, 0], atol=1e-9)
    assert run.energy().relative_residual < 1e-5


def test_a_circuit_of_capacitors_that_hold_no_voltage_starts():
    """All that is solved for is zero there, and rounding of it is all that is left to compare."""
    m = circuit("still", link=el.Capacitor(capacitance="3.88 uF"),
                wire=el.Resistor(resistance="214 ohm"), first=el.Diode(forward_voltage="0.3 V"),
                tie=el.Capacitor(capacitance="44.2 nF"),
                store=el.Capacitor(capacitance="56.7 nF", vc="2 V"),
                second=el.Diode(forward_voltage="0.3 V", on_resistance="50 mohm"),
                ends=el.Resistor(resistance="2.17 kohm"), far=el.Resistor(resistance="103 ohm"),
                ideal=el.Diode(model="ideal", on_resistance="50 mohm"))
    wire(m, "second.n link.p wire.p first.p", "link.n tie.p ends.p ideal.n",
         "tie.n first.n store.p", "store.n wire.n", "far.p ideal.p",
         "second.p ends.n far.n ground.V")
    run = m.simulate("1 us")
    # link and tie are in series, the store drives its 2 V through the wire along both
    rate = -2 / 214 / 56.7e-9 * (1 + 56.7e-9 * (1 / 3.88e-6 + 1 / 44.2e-9)) / 2
    assert values(run, "wire.v", "V", 1e-9)[0] == pytest.approx(2 + 1e-9 * 2 * rate, abs=1e-6)


def test_a_charge_pump_without_any_resistance_climbs_as_its_diodes_let_it():
    """Two switches take the foot of a capacitor from the source to ground at once."""
    m = circuit("pump", source=el.DCVoltageSource(voltage="5 V"), flying=el.Capacitor(),
                inlet=el.Diode(model="exponential"), outlet=el.Diode(model="exponential"),
                store=el.Capacitor(), load=el.Resistor(resistance="1 kohm"))  # fmt: skip
    throws(m, up="source.p flying.p", down="flying.p ground.V")
    wire(m, "source.p inlet.p", "inlet.n flying.n outlet.p", "outlet.n store.p load.p",
         "source.n store.n load.n ground.V")
    runs = [m.simulate(quantity(4 * SWAP, "s"), method=method) for method in ("auto", "rodas4")]

    state, foot = np.zeros(2), 5.0
    for k in range(8):
        def slope(t, y, foot=foot):
            middle = foot - y[0]
            out = current(middle - y[1])
            return [1e6 * (out - current(5 - middle)), 1e6 * (out - y[1] / 1e3)]

        end = (k + 1) * SWAP / 2
        state = solve_ivp(slope, (0, SWAP / 2), state, method="Radau", rtol=1e-9,
                          atol=1e-10).y[:, -1]
        for run in runs:
            assert_allclose([values(run, path, "V", end - 1e-12)[0] for path in (
                "flying.vc", "store.vc")], state, atol=2e-5)
        foot = 5.0 - foot
    for run in runs:
        assert run.energy().relative_residual < 1e-4


def bridge_drive():
    """A coil between two legs of ideal switches, each with an exponential diode beside it."""
    gates = {name: Pulse(period=quantity(SWAP, "s"), width=0.45, start=quantity(start, "s"))
             for name, start in (("early", 0.0), ("late", SWAP / 2))}
    return circuit("drive", "early.y up.vT right.vT", "late.y left.vT over.vT",
                   "coil.p up.n left.p a.p b.n", "coil.n over.n right.p c.p d.n",
                   "source.p up.p over.p a.n c.n", "source.n b.p d.p left.n right.n ground.V",
                   source=el.DCVoltageSource(voltage="24 V"), **gates,
                   coil=el.Inductor(inductance="1 mH", series_resistance="4 ohm"),
                   **{name: el.Diode(model="exponential") for name in "abcd"},
                   **{name: el.Switch(model="ideal") for name in ("up", "left", "over", "right")})


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_coil_between_switches_that_are_all_open_finds_its_diodes(method):
    run = bridge_drive().simulate(quantity(5 * SWAP, "s"), method=method)
    times = np.concatenate([np.arange(5) + k for k in (0.453, 0.48, 0.953, 0.99)]) * SWAP
    coil, left, right = (values(run, path, unit, times) for path, unit in (
        ("coil.i_L", "A"), ("coil.p.v", "V"), ("coil.n.v", "V")))
    for i, *nodes in zip(coil, left, right, strict=True):
        for v, taken in zip(nodes, (i, -i), strict=True):
            exact = brentq(lambda v: current(v - 24) - current(-v) + taken, -50, 80,  # noqa: B023
                           xtol=1e-13)
            assert v == pytest.approx(exact, abs=1e-6)
    assert np.abs(coil).min() > 1e-3
    assert run.energy().relative_residual < 1e-6


def leaks(starts):
    """Capacitors that discharge each other, and through resistors and diodes to ground."""
    n = len(starts)
    return circuit("leaks", "c.p leak.p", "leak.n diode.p", "c[:-1].p wire.p", "c[1:].p wire.n",
                   "ground.V c.n diode.n", c=el.Capacitor(count=n, capacitance="1 uF", vc=starts),
                   leak=el.Resistor(count=n, resistance="1 kohm"),
                   diode=el.Diode(count=n, model="exponential"),
                   wire=el.Resistor(count=n - 1, resistance="1 mohm"))


def test_stiff_leaks_at_a_tight_tolerance():
    run = leaks(["1 V", "3 V"]).simulate("20 ms", rtol=1e-11)
    assert run.statistics.method == "rodas4"

    def slope(t, v):  # of both, which are equal after a nanosecond
        return [-1e6 * brentq(lambda i: current(v[0] - 1e3 * i) - i, 0, v[0] / 1e3, xtol=1e-16)]

    exact = solve_ivp(slope, (0, 2e-3), [2.0], method="DOP853", rtol=1e-9, atol=1e-10).y[0, -1]
    assert_allclose([run[f"c[{k}].vc"].at("2 ms").m for k in (0, 1)], exact, rtol=1e-7)


@few(1, "method", ["auto", "rodas4"])
def test_two_closed_switches_share_what_one_would_carry(method):
    """Between the ends of a resistor, with a diode from each of these to a source that is zero."""
    def run(switches):
        model = circuit(
            "shared", "source.n ground.V feed.n", "q.p feed.p s.p one.p", "q.n s.n two.p",
            "one.n two.n source.p", source=el.ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
            feed=el.Resistor(resistance="11 ohm"), q=el.Resistor(resistance="10 ohm"),
            s=el.Switch(count=switches, model="ideal", gate=1), one=el.Diode(model="exponential"),
            two=el.Diode(model="exponential"))
        found = model.simulate("18 ms", method=method)
        return values(found, "feed.i", "A", quantity(np.linspace(0, 18, 30), "ms"))

    one, two = run(1), run(2)
    assert_allclose(two, one, rtol=0, atol=1e-6)
    assert one.min() < -0.5
