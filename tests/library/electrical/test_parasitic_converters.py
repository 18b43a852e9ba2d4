"""Ideal diodes and switches beside Simscape's parasitic resistances: 1e-6 ohm and 1e-9 S."""

from itertools import product

import numpy as np
import pytest
from benches import few, values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.optimize import brentq

import library.electrical as el
from blocks import SimulationError, quantity
from library.signal import Pulse

SOURCE, PERIOD, C, G, r = 24.0, 20e-6, 100e-6, 1e-9, 1e-6


def ohm(value):
    return el.Resistor(resistance=quantity(value, "ohm"))


def converter(kind, parasitic=True, load=20.0, duty=0.5, coil=100e-6, switch="ideal",
              diode="ideal"):
    """A switch to ground behind a coil, and what follows it."""
    def inductor():
        return el.Inductor(inductance=quantity(coil, "H"), parasitic=parasitic)

    def capacitor(farad):
        return el.Capacitor(capacitance=quantity(farad, "F"), parasitic=parasitic)

    m = circuit(kind, "pulse.y switch.vT", "switch.n store.n load.n ground.V",
                switch=el.Switch(model=switch), diode=el.Diode(model=diode), coil=inductor(),
                load=ohm(load), pulse=Pulse(period=quantity(PERIOD, "s"), width=duty),
                store=capacitor(C))
    if kind == "pfc":
        wire(m, "source.p bridge.A", "source.n bridge.B", "bridge.P coil.p", "bridge.N ground.V",
             source=el.ACVoltageSource(amplitude="100 V", frequency="500 Hz"),
             bridge=el.FullBridge(devices="diode"))
    else:
        wire(m, "source.p coil.p", "source.n ground.V",
             source=el.DCVoltageSource(voltage=quantity(SOURCE, "V")))
    if kind in ("boost", "pfc"):
        wire(m, "coil.n switch.p diode.p", "diode.n store.p load.p")
    else:
        out, earthed = ("second.n", "diode.n") if kind == "cuk" else ("diode.n", "second.n")
        wire(m, "coil.n switch.p link.p", "link.n diode.p second.p", f"store.p load.p {out}",
             f"{earthed} ground.V", second=inductor(), link=capacitor(10e-6))
    return m


def state(run, kind, times):
    names = {"coil.i_L": "A", "store.vc": "V"}
    if kind in ("cuk", "sepic"):
        names |= {"second.i_L": "A", "link.vc": "V"}
    return np.array([values(run, path, unit, times) for path, unit in names.items()])


# -- a boost converter against its modes, one after the other ------------------------------------
def boost_modes(load, coil):
    """x -> A x + b of (current, voltage): closed switch, closed diode, neither."""
    share = 1 + r * G + r / load
    out = np.array([r / share, 1 / share])  # voltage of the load, beside the source's part
    own = r * G * SOURCE / share
    through = np.array([1.0, 0.0]) - (G + 1 / load) * out  # into the capacitance
    leak = [0, -1 / (C * (load + r))]
    return {
        "switch": (np.array([[0, 0], leak]), np.array([SOURCE / coil, 0])),
        "diode": (np.array([-out / coil, through / C]), np.array(
            [(SOURCE - own) / coil, (G * SOURCE - (G + 1 / load) * own) / C])),
        "none": (np.array([[-1 / (coil * G), 0], leak]), np.zeros(2)),
    }, lambda x: x[0] + G * (SOURCE - out @ x - own)  # and the current of the diode


def later(mode, x, dt):
    a, b = mode
    return (expm(np.block([[a, b[:, None]], [np.zeros((1, 3))]]) * dt) @ np.append(x, 1.0))[:2]


def boost_exactly(load, duty, coil, periods):
    modes, current = boost_modes(load, coil)
    x, seen = np.zeros(2), []
    for _ in range(periods):
        x, rest = later(modes["switch"], x, duty * PERIOD), (1 - duty) * PERIOD
        seen.append(x)
        end = later(modes["diode"], x, rest)
        if current(end) < 0:
            dt = brentq(lambda dt: current(later(modes["diode"], x, dt)), 0, rest,  # noqa: B023
                        xtol=1e-20)
            x = later(modes["diode"], x, dt)
            end = np.array([0.0, later(modes["none"], [0.0, x[1]], rest - dt)[1]])
        x = end
        seen.append(x)
    return np.array(seen).T


def test_a_boost_converter_follows_its_modes_whether_its_current_ceases_or_not():
    model = converter("boost")
    for load, duty, coil in product([4.0, 20.0, 100.0, 500.0], [0.3, 0.5, 0.7], [100e-6, 30e-6]):
        model.load.resistance, model.pulse.width = quantity(load, "ohm"), duty
        model.coil.inductance = quantity(coil, "H")
        run = model.simulate(quantity(8 * PERIOD, "s"), rtol=1e-8)
        times = [(k + d) * PERIOD for k in range(8) for d in (duty, 1)]
        exact = boost_exactly(load, duty, coil, 8)
        assert_allclose(state(run, "boost", times), exact, rtol=0, atol=1e-7 * np.abs(exact).max())


# -- all methods, and what the parasitic parts change: nearly nothing ----------------------------
RESISTING = {"load": 2.0, "switch": "resistances", "diode": "piecewise linear"}


@few(3, ("kind", "given", "periods", "method", "near"), [
    *((kind, {"load": 2.0}, 20, method, 1e-5) for kind, method in (
        ("boost", "dopri5"), ("cuk", "rodas4"), ("sepic", "dopri5"), ("pfc", "rodas4"))),
    # whose current ceases, which is left to the parasitic conductance
    *((kind, {"load": load}, 40, method, 2e-5) for kind, load in (
        ("cuk", 200.0), ("sepic", 200.0), ("pfc", 2000.0)) for method in ("auto", "rodas4")),
    # no voltage may follow from a current through 1e-9 S, ideal elements or not
    *((kind, RESISTING, 6, method, 1e-5) for kind in ("boost", "cuk", "sepic")
      for method in ("auto", "rodas4"))])
def test_converters_run_as_they_do_without_parasitic_parts(kind, given, periods, method, near):
    times = np.arange(1, 9) / 8 * periods * PERIOD
    ideal = converter(kind, parasitic=False, **given).simulate(quantity(times[-1], "s"), rtol=1e-9)
    run = converter(kind, **given).simulate(quantity(times[-1], "s"), method=method, rtol=1e-7)
    exact = state(ideal, kind, times)
    assert_allclose(state(run, kind, times), exact, rtol=0, atol=near * np.abs(exact).max())
    assert run.energy().relative_residual < 1e-5


def test_an_explicit_method_that_parasitic_parts_hold_up_says_so():
    with pytest.raises(SimulationError, match="coil.i_L settles within 1e-13 s") as error:
        converter("boost", load=500.0).simulate("1 ms", method="dopri5")
    assert error.value.variables == ("coil.i_L",)
    assert "Take method='auto' or 'rodas4'" in str(error.value)
    assert error.value.code == "simulation.stiff"


# -- bridges whose diodes lie beside closed switches, or end together ----------------------------
def test_a_bridge_whose_legs_are_driven_apart_hands_its_current_from_diode_to_diode():
    """h1 ends on a high level as h2 begins: diodes lie beside switches that conduct."""
    m = circuit("bridge", source=el.DCVoltageSource(voltage="24 V"), one=el.HalfBridge(),
                other=el.HalfBridge(), coil=el.Inductor(inductance="100 uH"), load=ohm(3.0))
    wire(m, "source.p one.P other.P", "source.n one.N other.N ground.V", "one.A coil.p",
         "coil.n load.p", "load.n other.A")
    gates = {"one.upper": (0.0, 0.4), "one.lower": (0.5, 0.45), "other.upper": (0.3, 0.3),
             "other.lower": (0.65, 0.5)}
    for name, (start, width) in gates.items():
        pulse = f"gate_{name.replace('.', '_')}"
        wire(m, f"{pulse}.y {name}", **{
            pulse: Pulse(period="20 us", start=quantity(start * 20, "us"), width=width)})
    run = m.simulate("100 us", rtol=1e-9)
    assert run.energy().relative_residual < 1e-9
    for leg, side in product(("one", "other"), ("high", "low")):
        i, u = (values(run, f"{leg}.{side}.diode_{q}", unit)
                for q, unit in (("current", "A"), ("voltage", "V")))
        assert i.min() > -1e-9
        assert u.max() < 1e-9


def test_three_phases_on_a_bridge_that_pauses_leave_their_star_point_to_one_diode():
    """No diode conducts between the pulses, and two end at one instant, behind coils."""
    m = circuit("three phases", store=el.Capacitor(capacitance="200 uF"), load=ohm(100.0),
                **{f"d{k}": el.Diode(model="ideal") for k in range(6)})
    for k in range(3):
        wire(m, f"v{k}.p l{k}.p", f"l{k}.n d{k}.p d{k + 3}.n",
             **{f"v{k}": el.ACVoltageSource(amplitude="100 V", frequency="400 Hz",
                                            phase=quantity(-120 * k, "deg")),
                f"l{k}": el.Inductor(inductance=quantity(5e-6 * (k + 1), "H"), parasitic=True)})
    wire(m, "v0.n v1.n v2.n", "d0.n d1.n d2.n store.p load.p",
         "d3.p d4.p d5.p store.n load.n ground.V")
    found = []
    for rtol in (1e-6, 1e-9):
        run = m.simulate("5 ms", rtol=rtol)
        assert run.energy().relative_residual < 1e-6
        assert min(values(run, f"d{k}.i", "A").min() for k in range(6)) > -1e-6
        found.append(values(run, "store.v", "V", np.linspace(1, 5, 9) * 1e-3))
    assert_allclose(*found, rtol=1e-5)


def test_diodes_that_share_a_capacitor_with_closing_switches_open():
    # switch and diode of either leg would short the capacitor: which carries how much is open
    m = circuit("interleaved", source=el.DCVoltageSource(voltage="11 V"), load=ohm(1200),
                store=el.Capacitor(capacitance="20 uF", parasitic=True),
                pulse=Pulse(period="19 us", width=0.66))
    wire(m, "source.n store.n load.n ground.V", "store.p load.p")
    for leg, (henry, snubber, farad) in enumerate(((129e-6, 11.634, 1.61e-9),
                                                   (232e-6, 118.62, 27.8e-9))):
        wire(m, f"source.p coil{leg}.p", f"coil{leg}.n switch{leg}.p diode{leg}.p damper{leg}.p",
             f"damper{leg}.n small{leg}.p", f"switch{leg}.n small{leg}.n ground.V",
             f"diode{leg}.n store.p", f"pulse.y switch{leg}.vT",
             **{f"coil{leg}": el.Inductor(inductance=quantity(henry, "H"), parasitic=True),
                f"switch{leg}": el.Switch(model="ideal"), f"diode{leg}": el.Diode(model="ideal"),
                f"damper{leg}": ohm(snubber),
                f"small{leg}": el.Capacitor(capacitance=quantity(farad, "F"), parasitic=True)})
    run = m.simulate("19.5 us")  # the switches have just closed again
    assert values(run, "store.vc", "V")[-1] > 0.1
    for leg in "01":
        assert values(run, f"diode{leg}.i", "A").min() > -1e-6


def test_diodes_that_short_a_capacitor_of_a_multiplier_take_steps_that_stiffness_does_not_limit():
    # two diodes in series lie across c5 alone: 1e-11 s, between events that follow each other
    ends = {}
    for parasitic in (False, True):
        capacitors = {f"c{k}": el.Capacitor(capacitance=quantity(farad, "F"), parasitic=parasitic)
                      for k, farad in ((1, 12.2e-6), (3, 44.4e-6), (4, 35.6e-6), (5, 10.5e-6))}
        m = circuit("multiplier", source=el.ACVoltageSource(amplitude="10 V", frequency="113 Hz"),
                    inner=ohm(0.125), load=ohm(325.0), far=ohm(2087.0), **capacitors,
                    d1=el.Diode(model="ideal", on_resistance="1 mohm"),
                    d2=el.Diode(model="ideal", on_resistance="7.4 mohm"),
                    d3=el.Diode(model="ideal"), d4=el.Diode(model="ideal"))  # fmt: skip
        wire(m, "source.p inner.p", "inner.n c1.p", "c1.n d1.n d2.p c4.p",
             "d2.n c3.p load.p d3.p c5.n", "c4.n d3.n d4.p", "d4.n c5.p far.p",
             "source.n d1.p c3.n load.n far.n ground.V")
        run = m.simulate("2.6 ms", method="rodas4")
        ends[parasitic] = [values(run, f"c{k}.vc", "V")[-1] for k in (1, 3, 4, 5)]
    assert_allclose(ends[True], ends[False], rtol=0, atol=1e-4)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_transistor_beside_a_blocking_diode_has_no_voltage_by_rounding(method):
    # what its channel and its diode leave of 7 A flows through 1e-8 S, and tells their voltage
    m = circuit("sepic", "source.p first.p", "first.n switch.D link.p", "link.n second.p diode.p",
                "diode.n store.p load.p", "source.n switch.S second.n store.n load.n ground.V",
                "pulse.y switch.G", source=el.DCVoltageSource(voltage="20.88 V"),
                switch=el.MOSFET(), first=el.Inductor(inductance="53.59 uH", parasitic=True),
                link=el.Capacitor(capacitance="34.7 uF", parasitic=True),
                second=el.Inductor(inductance="17.65 uH", parasitic=True), diode=el.Diode(),
                store=el.Capacitor(capacitance="844.7 uF", parasitic=True,
                                   series_resistance="13.08 mohm"), load=ohm(8.733),
                pulse=Pulse(period="21 us", width=0.774))
    run = m.simulate("0.5 ms", method=method)
    assert run.energy().relative_residual < 1e-6
    rises = values(run, "first.i_L", "A", 21e-6 * np.arange(10) + 1e-6)
    falls = values(run, "first.i_L", "A", 21e-6 * np.arange(10) + 16e-6)
    assert_allclose(falls - rises, 20.88 / 53.59 * 15, rtol=1e-6)


def test_diodes_whose_currents_are_rounding_do_not_end_a_run():
    # below 1.4 V nothing conducts but 1e-9 S, of which the pair without drop carries 1e-13 A
    def with_drop():
        return el.Diode(model="ideal", on_resistance="10 mohm", forward_voltage="0.7 V")

    m = circuit("bridge", "source.p first.p", "first.n up.p down.n", "source.n rise.p fall.n",
                "up.n rise.n second.p", "second.n load.p", "down.p fall.p load.n ground.V",
                source=el.ACVoltageSource(amplitude="25.68 V", frequency="1118 Hz"),
                first=el.Inductor(inductance="168.6 uH", parasitic=True), up=with_drop(),
                down=el.Diode(model="ideal"), rise=el.Diode(model="ideal"), fall=with_drop(),
                second=el.Inductor(inductance="3.34 mH", parasitic=True), load=ohm(115.6))
    run = m.simulate("5.36550743429984 ms", method="rodas4")
    assert run.energy().relative_residual < 1e-6
    assert min(values(run, f"{d}.i", "A").min() for d in ("up", "down", "rise", "fall")) > -1e-9


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_start_waits_for_modes_before_it_says_that_a_diode_contradicts_itself(method):
    m = circuit("boost", source=el.DCVoltageSource(voltage="71 V"), diode=el.Diode(), load=ohm(8.2),
                coil=el.Inductor(inductance="162.2 uH"), switch=el.MOSFET(on_resistance="4 mohm"),
                store=el.Capacitor(capacitance="7.315 uF"),
                pulse=Pulse(period="78.9 us", width=0.5))
    wire(m, "source.p coil.p", "coil.n switch.D diode.p", "diode.n store.p load.p",
         "source.n switch.S store.n load.n ground.V", "pulse.y switch.G")
    t = np.linspace(1, 39, 20) * 1e-6
    i = values(m.simulate("40 us", method=method), "coil.i", "A", t)
    assert_allclose(i, 71 / 4e-3 * -np.expm1(-4e-3 / 162.2e-6 * t), rtol=1e-6)


def doubler(source, inner, capacitance, load, **diode):
    """A pump and a store behind two diodes."""
    return circuit("doubler", "source.p inner.p", "inner.n pump.p", "pump.n low.n high.p",
                   "high.n store.p load.p", "source.n low.p store.n load.n ground.V",
                   source=source, inner=ohm(inner), low=el.Diode(**diode), high=el.Diode(**diode),
                   load=ohm(load), pump=el.Capacitor(capacitance=capacitance),
                   store=el.Capacitor(capacitance=capacitance))


def test_currents_that_settle_within_the_first_step_after_an_event_are_seen():
    # from 0 to 1.7 A within 1 us, in steps of 14 us: the run's accuracy explains 1e-4
    m = doubler(el.ACVoltageSource(amplitude="13.41 V", frequency="981.7 Hz"), 0.001653, "71.23 uF",
                1681.0, model="ideal", on_resistance="10 mohm", forward_voltage="0.7 V")
    assert m.simulate("5 ms", method="rodas4").energy().relative_residual < 1e-4


def cuk(diode, parasitic):
    """Both coils cease between a switch and a diode, some of whose leakage is all that is left."""
    return circuit("cuk", "pulse.y switch.vT", "source.p coil.p", "coil.n switch.p bridge.p",
                   "bridge.n diode.p choke.p", "choke.n store.p load.p",
                   "source.n switch.n diode.n store.n load.n ground.V",
                   source=el.DCVoltageSource(voltage="62.61 V"),
                   pulse=Pulse(period="86.6 us", width=0.533),
                   coil=el.Inductor(inductance="13.51 uH", parasitic=parasitic),
                   switch=el.Switch(model="ideal"),
                   bridge=el.Capacitor(capacitance="4.352 uF", parasitic=parasitic), diode=diode,
                   choke=el.Inductor(inductance="841.6 uH", parasitic=parasitic),
                   store=el.Capacitor(capacitance="65.04 uF", parasitic=True,
                                      series_resistance="18.02 mohm"), load=ohm(1.281))


def test_a_voltage_by_the_last_bits_of_two_currents_is_a_solution():
    """33 A less 33 A through 1e-8 S: the last bit of a current is 0.7 uV."""
    run = cuk(el.Diode(), True).simulate("2 ms", method="rodas4")
    lossless = cuk(el.Diode(model="ideal", forward_voltage="0.6 V", on_resistance="0.3 ohm"), False)
    exact = lossless.simulate("2 ms", method="rodas4", rtol=1e-9)
    paths, times = ["coil.i_L", "choke.i_L", "bridge.vc", "store.vc"], [0.7e-3, 1.3e-3, 2e-3]
    found, wanted = (np.array([r[path].at(quantity(times, "s")).m for path in paths])
                     for r in (run, exact))
    assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
