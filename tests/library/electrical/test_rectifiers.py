"""Ideal diodes in circuits, against piecewise closed forms."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from benches import few, values, wire, wired
from benches.electrical import between, circuit, ring
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.electrical as el
from blocks import quantity
from library.translational import HardStop, Mass, Reference

OMEGA = 2 * np.pi * 50.0
INSTANT = 1e-11  # s: 1e-9 of a period of 20 ms is 2e-11 s


def ideal(**values):
    return el.Diode(model="ideal", **values)


def instants(run):
    """Times at which something opens or closes, each once."""
    times = sorted(e.time for e in run.events if e.description.startswith(("opens", "closes")))
    return np.array([t for k, t in enumerate(times) if not k or t - times[k - 1] > 1e-9])


def mains(amplitude=10.0, shift=0.0):
    return el.ACVoltageSource(amplitude=quantity(amplitude, "V"), frequency="50 Hz",
                           phase=quantity(shift, "rad"))  # fmt: skip


def half_wave(diode, **load):
    """A source, a diode and a load in series."""
    return ring(name="half wave", source=mains(), diode=diode, **load)


def test_forward_voltage_and_resistance_of_an_ideal_diode():
    diode = ideal(forward_voltage="0.7 V", on_resistance="0.5 ohm")
    run = half_wave(diode, load=el.Resistor(resistance="5 ohm")).simulate("20 ms", rtol=1e-10)
    t = np.linspace(0, 0.02, 41)
    exact = np.maximum(10 * np.sin(OMEGA * t) - 0.7, 0) / 5.5
    assert_allclose(values(run, "load.i", "A", t), exact, rtol=0, atol=1e-12)
    first = np.arcsin(0.07) / OMEGA
    assert_allclose(instants(run), [first, 0.01 - first], rtol=0, atol=INSTANT)
    heat = values(run, "diode.power_dissipated", "W", t)
    assert_allclose(heat, exact * (0.7 + 0.5 * exact), rtol=0, atol=1e-12)
    assert run.energy().relative_residual < 1e-9


def test_an_inductive_load_keeps_the_diode_conducting_beyond_the_half_wave():
    load, coil = el.Resistor(resistance="1 ohm"), el.Inductor(inductance="10 mH")
    run = half_wave(ideal(), load=load, coil=coil).simulate("19 ms", rtol=1e-11)
    size, angle, tau = np.hypot(1, OMEGA * 0.01), np.arctan(OMEGA * 0.01), 0.01

    def current(t):
        return 10 / size * (np.sin(OMEGA * t - angle) + np.sin(angle) * np.exp(-t / tau))

    end = brentq(current, 0.011, 0.0199, xtol=1e-16)
    assert_allclose(instants(run), [end], rtol=0, atol=INSTANT)
    t = np.linspace(0, 0.019, 39)
    assert_allclose(values(run, "load.i", "A", t), (t < end) * current(t), rtol=0, atol=1e-9)


def test_a_coil_that_a_diode_blocks_does_not_chatter_beside_a_rigid_stop():
    # what leaks through it settles within 1e-10 s, and a body at a stop needs methods for events
    model = half_wave(el.Diode(), load=el.Resistor(resistance="1 ohm"),
                      coil=el.Inductor(inductance="10 mH"))
    wire(model, "body.M stop.R", "stop.C frame.V", body=Mass(mass="5 kg", v="1 m/s"),
         frame=Reference(), stop=HardStop(model="restitution", restitution=0.5, upper_bound="2 mm"))
    run = model.simulate("19 ms", rtol=1e-8)

    def slope(t, i):
        return (10 * np.sin(OMEGA * t) - 0.6 - (1 + 0.3) * i) / 0.01

    times = np.linspace(np.arcsin(0.06) / OMEGA, 0.013, 15)
    expected = solve_ivp(slope, times[[0, -1]], [0.0], "DOP853", times, rtol=1e-11, atol=1e-12)
    assert_allclose(values(run, "coil.i_L", "A", times), expected.y[0], rtol=0, atol=2e-7)
    assert [e.description.split()[1] for e in run.events.of("diode")] == ["rises", "falls"]
    assert [e.time for e in run.events.of("stop")] == [pytest.approx(0.002, rel=1e-9)]


def bridge(source, **load):
    """A diode bridge on a source, with loads in parallel behind it."""
    return circuit("bridge", "source.p bridge.A", "source.n bridge.B",
                   " ".join(["bridge.P", *(f"{name}.p" for name in load)]),
                   " ".join(["bridge.N ground.V", *(f"{name}.n" for name in load)]),
                   source=source, bridge=el.FullBridge(devices="diode"), **load)


@pytest.mark.parametrize("method", ["auto", "rodas4", "DOP853", "ode45", "BDF", "Radau"])
def test_diodes_that_hold_a_capacitor_at_zero_take_turns_by_every_method(method):
    """The voltage at which one begins is below all tolerances: it never was any larger."""
    model = wired("limiter", "source.p series.p", "series.n forth.p back.n store.p",
                  "earth.V source.n forth.n back.p store.n",
                  source=mains(), series=el.Capacitor(capacitance="100 uF"),
                  store=el.Capacitor(capacitance="1 uF"), forth=ideal(), back=ideal(),
                  earth=el.ElectricalReference())
    run = model.simulate("50 ms", method=method)
    assert_allclose(instants(run)[::2], np.arange(5e-3, 50e-3, 10e-3), rtol=0, atol=1e-8)
    t = np.arange(1e-3, 50e-3, 2e-3)
    assert_allclose(values(run, "back.i", "A", t) - values(run, "forth.i", "A", t),
                    -1e-4 * 10 * OMEGA * np.cos(OMEGA * t), rtol=0, atol=1e-6)
    assert np.abs(values(run, "store.v", "V", t)).max() < 1e-7


def test_a_bridge_commutates_in_pairs_at_one_instant():
    run = bridge(mains(), load=el.Resistor(resistance="5 ohm")).simulate("45 ms", rtol=1e-10)
    t = np.linspace(0, 0.045, 91)
    assert_allclose(values(run, "load.v", "V", t), abs(10 * np.sin(OMEGA * t)), rtol=0, atol=1e-11)
    times = instants(run)
    assert_allclose(times, [0.01, 0.02, 0.03, 0.04], rtol=0, atol=INSTANT)
    for instant in times:
        at_once = [e for e in run.events if abs(e.time - instant) < 1e-12]
        assert len({e.time for e in at_once}) == 1
        assert sorted(e.description for e in at_once) == ["closes"] * 2 + ["opens"] * 2
    assert run.energy().relative_residual < 1e-9


def test_a_bridge_with_a_capacitor_charges_it_twice_a_period():
    store, load = el.Capacitor(capacitance="1 mF"), el.Resistor(resistance="20 ohm")
    run = bridge(mains(), store=store, load=load).simulate("40 ms", rtol=1e-11)
    tau = 0.02
    opens = np.pi - np.arctan(OMEGA * tau)  # the angle at which the current has come to zero
    closes = brentq(lambda a: np.sin(a) - np.sin(opens) * np.exp(-(a + np.pi - opens)
                                                                 / (OMEGA * tau)), 0, 1.5,
                    xtol=1e-15)  # fmt: skip
    # open, then the bridge closes in the next half wave, and so on
    exact = [(k * np.pi + a) / OMEGA for k in range(4) for a in (closes, opens)][1:]
    found = instants(run)
    kept = [t for t in found if min(abs(t - np.array(exact))) < 1e-6]  # none carries any current
    assert_allclose(kept, exact, rtol=0, atol=INSTANT)
    t = np.linspace(1e-4, 0.0399, 81)
    angle = OMEGA * t % np.pi
    before = np.where(angle < closes, np.exp(-(angle + np.pi - opens) / (OMEGA * tau)),
                      np.exp(-(angle - opens) / (OMEGA * tau)))  # fmt: skip
    free = (angle > opens) | ((angle < closes) & (OMEGA * t > np.pi))
    exact_v = np.where(free, 10 * np.sin(opens) * before, 10 * np.sin(angle))
    assert_allclose(values(run, "store.v", "V", t), exact_v, rtol=0, atol=1e-8)


def test_a_bridge_on_an_inductive_load_never_stops_conducting():
    model = circuit("bridge", source=mains(), bridge=el.FullBridge(devices="diode"),
                    load=el.Resistor(resistance="1 ohm"), coil=el.Inductor(inductance="10 mH"))
    wire(model, "source.p bridge.A", "source.n bridge.B", "bridge.P load.p", "load.n coil.p",
         "coil.n bridge.N ground.V")
    run = model.simulate("40 ms", rtol=1e-11)
    assert_allclose(instants(run), [0.01, 0.02, 0.03], rtol=0, atol=INSTANT)
    size, angle, tau = np.hypot(1, OMEGA * 0.01), np.arctan(OMEGA * 0.01), 0.01
    decay, end = np.exp(-0.01 / tau), 0.0
    ends = []
    for _ in range(4):
        end = (end + 10 / size * np.sin(angle)) * decay + 10 / size * np.sin(angle)
        ends.append(end)
    assert_allclose(values(run, "coil.i", "A", [0.01, 0.02, 0.03, 0.04]), ends, rtol=1e-8)


def test_a_voltage_doubler_halves_what_it_lacks_with_every_period():
    # at every positive peak v2 -> 10 V + v2/2, beginning with 5 V
    model = circuit("doubler", source=mains(), pump=el.Capacitor(capacitance="10 uF"),
                    back=ideal(), forth=ideal(), store=el.Capacitor(capacitance="10 uF"))
    wire(model, "source.p pump.p", "pump.n back.n forth.p", "forth.n store.p",
         "back.p store.n source.n ground.V")
    run = model.simulate("0.1 s", rtol=1e-11)
    peaks = np.arange(5)
    assert_allclose(values(run, "store.v", "V", peaks * 0.02 + 0.0075), 20 - 15 / 2**peaks,
                    rtol=1e-9)


@pytest.mark.parametrize("nets", [["bridge.P load.p coil.p"], ["bridge.P coil.p", "coil.n load.p"]])
def test_a_three_phase_bridge_gives_six_pulses(nets):
    model = circuit("six pulses", "phase0.n phase1.n phase2.n", "phase0.p bridge.A",
                    "phase1.p bridge.B", "phase2.p bridge.C", "load.n bridge.N ground.V", *nets,
                    bridge=el.ThreePhaseBridge(devices="diode"),
                    **{f"phase{k}": mains(shift=-2 * np.pi * k / 3) for k in range(3)},
                    load=el.Resistor(resistance="5 ohm"), coil=el.Inductor(inductance="5 mH"))
    run = model.simulate("21 ms", rtol=1e-10)
    exact = (np.arange(6) * 60 + 30) / 360 * 0.02
    assert_allclose(instants(run)[-6:], exact[exact < 0.021][-6:], rtol=0, atol=INSTANT)
    t = np.linspace(0.0001, 0.0209, 90)
    phases = [10 * np.sin(OMEGA * t - 2 * np.pi * k / 3) for k in range(3)]
    pulses = np.max(phases, axis=0) - np.min(phases, axis=0)
    rail = values(run, "load.v", "V", t) + values(run, "coil.v", "V", t)
    assert_allclose(rail, pulses, rtol=0, atol=1e-9)
    assert run.energy().relative_residual < 1e-8


@pytest.mark.parametrize("first", ["coil", "load"])
@pytest.mark.parametrize(("in_series", "in_parallel"), [(2, 2), (3, 2), (2, 3)])
def test_diodes_in_series_before_others_in_parallel_in_any_order(in_series, in_parallel, first):
    load = {"coil": el.Inductor(inductance="10 mH"), "load": el.Resistor(resistance="1 ohm")}
    model = circuit("redundant", "source.p row[0].p", "row[:-1].n row[1:].p", "row[-1].n side.p",
                    "side.n coil.p", "coil.n load.p", "load.n source.n ground.V",
                    source=mains(), row=ideal(count=in_series), side=ideal(count=in_parallel),
                    **{first: load.pop(first)}, **load)
    assert not model.check().errors
    run = model.simulate("10 ms", rtol=1e-10)
    size, angle, tau = np.hypot(1, OMEGA * 0.01), np.arctan(OMEGA * 0.01), 0.01
    t = np.linspace(0, 0.01, 21)
    exact = 10 / size * (np.sin(OMEGA * t - angle) + np.sin(angle) * np.exp(-t / tau))
    assert_allclose(values(run, "load.i", "A", t), exact, rtol=0, atol=1e-8)
    shares = [values(run, f"side[{k}].i", "A", t) for k in range(in_parallel)]
    assert_allclose(sum(shares), exact, rtol=0, atol=1e-8)
    assert np.min(shares) > -1e-11


# -- random networks -----------------------------------------------------------------------------
def solved_by_trying(nodes, branches, diodes, sources):
    """Node potentials of resistors, sources with a resistance and diodes: all combinations."""
    for closed in product((False, True), repeat=len(diodes)):
        n, m = nodes, sum(closed)
        a, b = np.zeros((n + m, n + m)), np.zeros(n + m)
        for i, j, conductance, voltage in [(*x, 0.0) for x in branches] + sources:
            for p, q, sign in ((i, j, 1), (j, i, -1)):
                a[p, p] += conductance
                a[p, q] -= conductance
                b[p] += sign * conductance * voltage
        for k, (i, j) in enumerate([d for d, c in zip(diodes, closed, strict=True) if c]):
            a[i, n + k], a[j, n + k] = 1, -1
            a[n + k, i], a[n + k, j] = 1, -1
        a[0], b[0] = 0, 0
        a[0, 0] = 1
        if np.linalg.cond(a) > 1e10:
            continue
        x = np.linalg.solve(a, b)
        off = [x[i] - x[j] for (i, j), c in zip(diodes, closed, strict=True) if not c]
        if min([*x[n:], 1.0]) >= -1e-9 and max([*off, -1.0]) <= 1e-9:
            return x[:n]
    raise AssertionError("no combination")


@pytest.mark.parametrize("seed", range(6))
def test_random_networks_of_diodes_and_resistors_are_solved_as_by_trying_all_modes(seed):
    rng = np.random.default_rng(seed)
    nodes = 5
    pairs = [(i, j) for i in range(nodes) for j in range(i)]
    branches = [(i, j, rng.uniform(0.1, 2)) for i, j in pairs if rng.random() < 0.5 or j == 0]
    order = rng.permutation(len(pairs))[:4]
    diodes = [pairs[k] if rng.random() < 0.5 else pairs[k][::-1] for k in order]
    sources = [(*pairs[k], rng.uniform(0.5, 2), rng.uniform(-5, 5))
               for k in rng.permutation(len(pairs))[:3]]
    places = {f"r{k}": (el.Resistor(resistance=quantity(1 / conductance, "ohm")), i, j)
              for k, (i, j, conductance) in enumerate(branches)}
    places |= {f"d{k}": (ideal(), i, j) for k, (i, j) in enumerate(diodes)}
    for k, (i, j, conductance, voltage) in enumerate(sources):
        places[f"rs{k}"] = el.Resistor(resistance=quantity(1 / conductance, "ohm")), i, f"inner{k}"
        places[f"s{k}"] = el.DCVoltageSource(voltage=quantity(voltage, "V")), f"inner{k}", j
    run = between(places).simulate("1 s")
    exact = solved_by_trying(nodes, branches, diodes, sources)
    for k, (i, j) in enumerate(diodes):
        assert values(run, f"d{k}.v", "V", [0.5])[0] == pytest.approx(exact[i] - exact[j], abs=1e-9)


def test_a_bridge_behind_a_coil_waits_for_both_forward_voltages():
    model = circuit("bridge", source=mains(325.0), line=el.Resistor(resistance="0.5 ohm"),
                    coil=el.Inductor(inductance="1 mH"),
                    bridge=el.FullBridge(devices="diode", forward_voltage="0.8 V"),
                    store=el.Capacitor(capacitance="470 uF"),
                    load=el.Resistor(resistance="100 ohm"))
    wire(model, "source.p line.p", "line.n coil.p", "coil.n bridge.A", "source.n bridge.B",
         "bridge.P store.p load.p", "bridge.N store.n load.n ground.V")
    run = model.simulate("4 ms", rtol=1e-9)
    first = np.arcsin(1.6 / 325) / OMEGA

    def slope(t, y):
        return [(325 * np.sin(OMEGA * t) - 1.6 - 0.5 * y[0] - y[1]) / 1e-3,
                (y[0] - y[1] / 100) / 470e-6]

    t = np.linspace(0.5e-3, 4e-3, 8)
    exact = solve_ivp(slope, (first, 4e-3), [0, 0], method="DOP853", rtol=1e-12, atol=1e-12,
                      t_eval=t).y  # fmt: skip
    assert_allclose(values(run, "coil.i_L", "A", t), exact[0], rtol=0, atol=1e-6)
    assert_allclose(values(run, "store.v", "V", t), exact[1], rtol=0, atol=1e-6)


def multiplier(**load):
    """Cockcroft and Walton's: 100 V at 1 kHz, two stages, capacitors of 1 uF, ideal diodes."""
    model = circuit("multiplier", "source.p lift[0].p", "source.n ground.V store[0].n up[0].p",
                    "lift.n up.n over.p", "lift[0].n lift[1].p", "store.p over.n",
                    "store[0].p store[1].n up[1].p",
                    source=el.ACVoltageSource(amplitude="100 V", frequency="1 kHz"),
                    lift=el.Capacitor(count=2, capacitance="1 uF"), up=ideal(count=2),
                    store=el.Capacitor(count=2, capacitance="1 uF"), over=ideal(count=2), **load)
    if load:
        wire(model, "store[1].p load.p", "load.n ground.V")
    return model


def test_a_multiplier_of_two_stages_gives_four_times_the_amplitude_less_its_regulation():
    """Drop and ripple of N stages: I/(f C) (2 N^3/3 + N^2/2 - N/6) and I/(f C) N (N + 1)/2.

    E. Kuffel, W. S. Zaengl, J. Kuffel, High Voltage Engineering, 2nd ed., section 2.1.
    """
    run = multiplier(load=el.Resistor(resistance="1 Mohm")).simulate("60 ms")
    charge = 400 / 1e6 / 1e3  # a period's
    t = np.linspace(0.058, 0.06, 201)[:-1]
    mean = 400 - 7 * charge / 1e-6 - 3 * charge / 1e-6 / 2
    assert_allclose(values(run, "load.v", "V", t).mean(), mean, rtol=1e-3)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_multiplier_without_load_comes_to_four_times_the_amplitude(rtol):
    run = multiplier().simulate("80 ms", rtol=rtol)
    total = sum(values(run, f"store[{k}].v", "V")[-1] for k in (0, 1))
    assert total == pytest.approx(400.0, rel=max(5 * rtol, 1e-4))


def test_a_bridge_of_simscapes_diodes_behind_a_coil_charges_as_one_path_of_two_diodes():
    """While it blocks the coil's current is that of a path of 1e8 ohm, as if there were none."""
    model = circuit("bridge", "source.p line.p", "line.n coil.p", "coil.n a.p b.n",
                    "source.n ground.V c.p d.n", "a.n c.n store.p load.p", "b.p d.p store.n load.n",
                    source=mains(325.0), line=el.Resistor(resistance="0.5 ohm"),
                    coil=el.Inductor(inductance="1 mH"), store=el.Capacitor(capacitance="470 uF"),
                    load=el.Resistor(resistance="100 ohm"),
                    **{name: el.Diode(forward_voltage="0.7 V") for name in "abcd"})
    run = model.simulate("50 ms", rtol=1e-6)

    def push(t, v):
        return abs(325 * np.sin(OMEGA * t)) - 1.4 - v

    def conducts(t, y):
        return [(push(t, y[1]) - 1.1 * y[0]) / 1e-3, (y[0] - y[1] / 100) / 470e-6]

    def empty(t, y):
        return y[0] if y[0] != 0 else 1.0

    def begins(t, y):
        return push(t, y[1])

    empty.terminal = begins.terminal = True
    empty.direction, begins.direction = -1, 1
    t, y, on = 0.0, [0.0, 0.0], False
    while t < 0.05:
        laws = (conducts, empty) if on else (lambda t, y: [0.0, -y[1] / 100 / 470e-6], begins)
        found = solve_ivp(laws[0], (t, 0.05), y, events=laws[1], method="DOP853", rtol=1e-11,
                          atol=1e-12, max_step=1e-4)  # fmt: skip
        t, y, on = found.t[-1], [0.0, found.y[1, -1]], not on
    assert values(run, "store.v", "V")[-1] == pytest.approx(y[1], abs=5e-3)


def test_diodes_that_commutate_almost_at_one_instant():
    """Phases of six digits: opposite diodes take over within nanoseconds of each other."""
    shifts = np.round(np.pi / 2 * np.arange(4), 5)
    model = circuit("star", sources=el.ACVoltageSource(
        count=4, amplitude="10 V", frequency="50 Hz", phase=quantity(shifts, "rad")),
        feeders=el.Resistor(count=4, resistance="0.1 ohm"), upper=ideal(count=4),
        lower=ideal(count=4), coil=el.Inductor(inductance="10 mH"),
        load=el.Resistor(resistance="10 ohm"))  # fmt: skip
    wire(model, "sources.n ground.V", "sources.p feeders.p", "feeders.n upper.p lower.n",
         "upper.n coil.p", "coil.n load.p", "load.n lower.p")
    run = model.simulate("15 ms", rtol=1e-9)

    def terminal(v, i):  # currents of all that conduct add up to the coil's
        return brentq(lambda p: np.maximum((v - p) / 0.1, 0).sum() - i, -30, 30, xtol=1e-13)

    def slope(t, i):
        v = 10 * np.sin(OMEGA * t + shifts)
        return (terminal(v, i[0]) + terminal(-v, i[0]) - 10 * i) / 10e-3

    exact = solve_ivp(slope, (0, 15e-3), [1e-12], rtol=1e-9, atol=1e-10, max_step=1e-4).y[0, -1]
    assert run["coil.i"].final.m == pytest.approx(exact, rel=1e-7)


@few(1, "rtol", [1e-10, 1e-6])
def test_a_chain_of_diodes_at_their_forward_voltage_does_not_switch_by_rounding(rtol):
    """Charged in turn, diodes end within the last digit of their forward voltage."""
    duration, amplitude, omega, capacitance, count = 4e-3, 10.0, 2 * np.pi * 100.0, 1e-6, 30
    model = circuit(
        "chain", "source.n ground.V store.n", "source.p diode[0].p", "diode.n store.p",
        "diode[:-1].n diode[1:].p", source=el.ACVoltageSource(amplitude="10 V", frequency="100 Hz"),
        diode=el.Diode(count=count), store=el.Capacitor(count=count, capacitance="1 uF"))

    def slope(t, v):
        across = -np.diff(v, prepend=amplitude * np.sin(omega * t))
        i = np.where(across > 0.6, (across - 0.6) / 0.3 + 0.6e-8, 1e-8 * across)
        return (i - np.append(i[1:], 0.0)) / capacitance

    by_hand = solve_ivp(slope, (0, duration), np.zeros(count), method="Radau", rtol=1e-7, atol=1e-9)
    run = model.simulate(quantity(duration, "s"), method="rodas4", rtol=rtol)
    end = run["store.v"].at(quantity(duration, "s")).m_as("V")
    assert_allclose(np.ravel(end), by_hand.y[:, -1], atol=2e-5)
    assert len(run.events) < 10 * count


# -- many diodes at one node ----------------------------------------------------------------------
VF, RON, GOFF = 0.6, 0.3, 1e-8  # Simscape's diode


def bank(n, resistance, amplitude="20 V"):
    """A source behind a resistor that charges n batteries through a diode each."""
    return circuit("bank", "source.p resistor.p", "resistor.n diode.p", "diode.n battery.p",
                   "source.n battery.n ground.V",
                   source=el.ACVoltageSource(amplitude=amplitude, frequency="50 Hz"),
                   resistor=el.Resistor(resistance=quantity(resistance, "ohm")),
                   diode=el.Diode(count=n),
                   battery=el.DCVoltageSource(count=n, voltage=quantity(np.arange(n) * 0.5, "V")))


def current_into(batteries, v):
    """Through all diodes of a bank, at a voltage of their node."""
    ahead = v - batteries
    return np.sum(np.where(ahead > VF, (ahead - VF) / RON + GOFF * VF, GOFF * ahead))


def node_of_bank(batteries, resistance, source):
    return brentq(lambda v: (source - v) / resistance - current_into(batteries, v), -40.0, 40.0,
                  xtol=1e-15, rtol=1e-15)


@pytest.mark.parametrize("n", [3, 25])
def test_diodes_at_one_node_conduct_from_their_batteries_voltages_on(n):
    run = bank(n, 1.0).simulate("20 ms")
    assert run.statistics["algebraic unknowns"] <= 1
    batteries = np.arange(n) * 0.5
    for t in np.linspace(0.3e-3, 19.7e-3, 25):
        v = node_of_bank(batteries, 1.0, 20.0 * np.sin(OMEGA * t))
        assert_allclose(run["resistor.n.v"].at(quantity(t, "s")).m, v, rtol=1e-9)
    wanted = np.array([v + current_into(batteries, v) for v in batteries + VF])  # of the source
    wanted = np.arcsin(wanted[wanted < 20.0] / 20.0) / OMEGA
    times = np.array(sorted(e.time for e in run.events))
    assert_allclose(times, np.concatenate([wanted, 0.01 - wanted[::-1]]), atol=1e-9)


def test_a_node_that_leakage_alone_would_hold_keeps_its_digits():
    model = bank(4, 1.0)
    for resistance in (1.0, 1e9):
        model.resistor.resistance = quantity(resistance, "ohm")
        run = model.simulate("20 ms")
        for t in (3e-3, 12e-3):
            v = node_of_bank(np.arange(4) * 0.5, resistance, 20.0 * np.sin(OMEGA * t))
            assert_allclose(run["resistor.n.v"].at(quantity(t, "s")).m, v, rtol=1e-9)


def test_steps_know_how_steep_a_blocked_coil_is():
    """What a bridge leaves to its leakage settles a billion times as fast as all else."""
    model = circuit("blocked", "coil.p bridge.P", "coil.n bridge.C pair.n1",
                    "bridge.B pair.p2 load.p", "pair.n2 load.n", "bridge.A pair.p1 diode.p",
                    "bridge.N diode.n ground.V", coil=el.Inductor(inductance="1 uH", i="10 mA"),
                    pair=el.MutualInductor(i2="-2 A"), load=el.Resistor(resistance="1 ohm"),
                    bridge=el.ThreePhaseBridge(devices="diode", on_resistance="0.0376 ohm"),
                    diode=el.Diode())
    at = np.linspace(0, 1e-3, 21)
    runs = [model.simulate("1 ms", method=method) for method in ("BDF", "rodas4")]
    assert runs[0].statistics["steps"] < 200
    assert_allclose(*(values(run, "load.v", "V", at) for run in runs), rtol=1e-5)


@cache
def ladder_by_hand(n):
    """Voltages of capacitors of 1 uF behind 0.6 V + 0.3 ohm, at a ladder of resistors of 1 ohm."""
    chain = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    chain[-1, -1] = 1.0

    def slope(t, v):
        on, before, source = np.zeros(n, dtype=bool), None, 10 * np.sin(100 * np.pi * t)
        while before is None or (on != before).any():
            before, g = on, np.where(on, 1 / 0.3, 1e-8)
            fed = np.where(on, (v + 0.6) / 0.3 - 0.6e-8, 1e-8 * v)
            u = np.linalg.solve(chain + np.diag(g), fed + source * np.eye(n)[0])
            on = u - v > 0.6
        return (g * u - fed) / 1e-6

    return solve_ivp(slope, (0, 1e-3), np.zeros(n), method="Radau", rtol=1e-8, atol=1e-10,
                     max_step=1e-5).y[:, -1]


@few(2, "method", ["auto", "rodas4", "dopri5", "Radau"])
@few(2, "n", [2, 3, 7])
def test_diodes_of_a_ladder_begin_to_conduct_within_picoseconds(n, method):
    """Rounding of the source, not of the states, then tells on which side of its bend each is."""
    model = wired(
        "ladder", "source.n ground.V c.n", "source.p r[0].p", "r.n d.p", "d.n c.p",
        "r[1:].p r[:-1].n", ground=el.ElectricalReference(),
        r=el.Resistor(count=n, resistance="1 ohm"),
        source=el.ACVoltageSource(amplitude="10 V", frequency="50 Hz"), d=el.Diode(count=n),
        c=el.Capacitor(count=n, capacitance="1 uF"))
    run = model.simulate("1 ms", method=method)
    assert_allclose([run[f"c[{k}].v"].final.m for k in range(n)], ladder_by_hand(n), rtol=1e-4)
