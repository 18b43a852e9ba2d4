"""Converters of many ideal elements: against models written by hand and equivalent circuits."""

from functools import cache

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.electrical as el
from blocks import quantity
from library.signal import Pulse

RAIL, ARM, CELL, ON = 1e3, 5e-3, 5e-3, 1e-3  # V, H, F, ohm
PERIOD, END = 1e-3, 1.2e-3  # s


def modular_leg(n, parasitic=False):
    """Two arms of half bridges, each with its capacitor, whose gates follow each other.

    Until the first pulse of a module its diodes alone decide: most are idle at first.
    """
    coil = {"inductance": quantity(ARM, "H"), "parasitic": parasitic}
    if parasitic:
        coil["series_resistance"] = "0 ohm"
    model = wired(
        "leg", "top.n bottom.p ground.V", "upper.n lower.p out.p", "out.n load.p",
        "load.n ground.V", ground=el.ElectricalReference(), load=el.Resistor(resistance="10 ohm"),
        **{name: el.DCVoltageSource(voltage=quantity(RAIL, "V")) for name in ("top", "bottom")},
        **{name: el.Inductor(**coil) for name in ("upper", "lower", "out")})
    for arm, node, end in (("u", "top.p", "upper.p"), ("l", "lower.n", "bottom.n")):
        for k in range(n):
            wire(model, f"{arm}_c{k}.p {arm}_hi{k}.D", f"{arm}_hi{k}.S {arm}_lo{k}.D {node}",
                 f"{arm}_lo{k}.S {arm}_c{k}.n",
                 **{f"{arm}_c{k}": el.Capacitor(capacitance=quantity(CELL, "F"),
                                                vc=quantity(2 * RAIL / n, "V"))},
                 **{f"{arm}_{name}{k}": el.MOSFET(on_resistance=quantity(ON, "ohm"),
                                                  diode_resistance=quantity(ON, "ohm"))
                    for name in ("hi", "lo")})
            for name in ("hi", "lo"):
                wire(model, f"{arm}_of_{name}{k}.y {arm}_{name}{k}.G", **{
                    f"{arm}_of_{name}{k}": Pulse(period=quantity(PERIOD, "s"), width=0.5,
                                                 start=quantity(start(arm, name, k, n), "s"))})
            node = f"{arm}_c{k}.n"
        wire(model, f"{node} {end}")
    return model


def start(arm, device, k, n):
    """When the pulses of a device begin."""
    return (k / n + 0.5 * (arm == "l") + 0.5 * (device == "lo")) % 1.0 * PERIOD


@cache
def by_hand(n):
    """Currents of both arms and voltages of all capacitors at the end.

    A diode's choice is a steep function of the current of its arm: 20 mA are its width.
    """
    names = [(arm, k) for arm in ("u", "l") for k in range(n)]
    begins = {(arm, k, device): start(arm, device, k, n)
              for arm, k in names for device in ("hi", "lo")}
    times = {0.0, END}
    for begin in begins.values():
        times |= {t for j in range(8) if 0 < (t := begin + 0.5 * j * PERIOD) < END}
    times = sorted(times)
    y = np.concatenate([np.zeros(2), np.full(2 * n, 2 * RAIL / n)])
    # upper + out, lower + out
    inverse = np.linalg.inv(ARM * np.array([[2.0, -1.0], [-1.0, 2.0]]))
    for a, b in zip(times, times[1:], strict=False):
        if b - a < 1e-12:
            continue
        middle = 0.5 * (a + b)
        on = {key: middle > begin and (middle - begin) % PERIOD < 0.5 * PERIOD
              for key, begin in begins.items()}

        def slope(t, y, on=on):
            currents, cells = y[:2], y[2:].reshape(2, n)
            way = 0.5 * (1 + np.tanh(currents / 10e-3))  # 1 where it charges
            inserted, ohmic = np.empty((2, n)), np.empty((2, n))
            for a, k in np.ndindex(2, n):
                arm, forward = "ul"[a], way[a]
                if on[arm, k, "hi"]:  # beside its diode where it charges
                    inserted[a, k], ohmic[a, k] = 1.0, ON * (1 - 0.5 * forward)
                elif on[arm, k, "lo"]:
                    inserted[a, k], ohmic[a, k] = 0.0, ON * (0.5 + 0.5 * forward)
                else:
                    inserted[a, k], ohmic[a, k] = forward, ON
            drops = (inserted * cells).sum(axis=1) + ohmic.sum(axis=1) * currents
            out = 10.0 * (currents[0] - currents[1])
            rates = inverse @ np.array([RAIL - drops[0] - out, RAIL - drops[1] + out])
            return np.concatenate([rates, (inserted * currents[:, None] / CELL).ravel()])

        y = solve_ivp(slope, (a, b), y, method="LSODA", rtol=1e-8, atol=1e-8).y[:, -1]
    return y


@pytest.mark.parametrize(("method", "parasitic"), [("auto", False), ("rodas4", True)])
def test_a_modular_converter_starts_up_with_idle_modules(method, parasitic):
    n = 3
    run = modular_leg(n, parasitic).simulate(quantity(END, "s"), method=method)
    found = [run[f"{name}.i"].final.m for name in ("upper", "lower")]
    cells = [run[f"{arm}_c{k}.v"].final.m for arm in "ul" for k in range(n)]
    expected = by_hand(n)
    assert_allclose(found, expected[:2], rtol=1e-4)
    assert_allclose(cells, expected[2:], rtol=0, atol=1e-3)
    assert run.energy().relative_residual < 1e-7


def rectifiers(n, each):
    """Bridges side by side on a line with a filter, each with coil, capacitor and load."""
    model = wired("rectifiers", "source.n filter.n ground.V", "source.p line.p", "line.n filter.p",
                  ground=el.ElectricalReference(),
                  source=el.ACVoltageSource(amplitude="325 V", frequency="50 Hz"),
                  line=el.Inductor(inductance="0.1 mH"), filter=el.Capacitor(
                      capacitance="1 uF", parasitic=True, series_resistance="1 ohm"))
    for k in range(n):
        wire(model, f"line.n coil{k}.p", f"coil{k}.n a{k}.p b{k}.n", f"ground.V c{k}.p d{k}.n",
             f"a{k}.n c{k}.n store{k}.p load{k}.p", f"b{k}.p d{k}.p store{k}.n load{k}.n",
             **{f"coil{k}": el.Inductor(inductance=quantity(1e-3 * each, "H"), parasitic=True,
                                        series_resistance=quantity(0.1 * each, "ohm"),
                                        parallel_conductance=quantity(1e-9 / each, "S")),
                f"store{k}": el.Capacitor(capacitance=quantity(1e-3 / each, "F")),
                f"load{k}": el.Resistor(resistance=quantity(50.0 * each, "ohm"))},
             **{f"{name}{k}": el.Diode(model="ideal") for name in "abcd"})
    return model


def test_equal_rectifiers_side_by_side_are_one_of_their_size():
    n = 6
    one, many = (rectifiers(count, count).simulate("20 ms", rtol=1e-8) for count in (1, n))
    assert "in Python" not in many.statistics["why"]
    for name in ("line.i", f"load{n - 1}.v", "filter.v"):
        expected = one[name.replace(str(n - 1), "0")]
        times = quantity(np.linspace(1e-3, 20e-3, 50), "s")
        assert_allclose(many[name].at(times).m, expected.at(times).m, rtol=1e-5, atol=1e-3)


def test_few_steps_are_taken_again_beside_what_is_far_faster():
    """The voltage of a coil through which nothing flows is the difference of large numbers."""
    run = rectifiers(2, 2).simulate("20 ms", method="rodas4")
    assert run.statistics["rejected"] < 0.2 * run.statistics["steps"]


def test_bypass_diodes_of_a_string_carry_what_shaded_modules_cannot():
    n, shunt, load = 12, 5.0, 36.0
    light = 8.0 - 0.05 * np.arange(n)
    model = wired("string", "coil.n load.p", "load.n ground.V", ground=el.ElectricalReference(),
                  coil=el.Inductor(inductance="1 mH"),
                  load=el.Resistor(resistance=quantity(load, "ohm")))
    node = "ground.V"
    for k in range(n):
        wire(model, f"{node} shunt{k}.n store{k}.n cell{k}.p bypass{k}.p",
             f"shunt{k}.p store{k}.p wire{k}.p cell{k}.n", f"wire{k}.n bypass{k}.n",
             **{f"cell{k}": el.DCCurrentSource(current=quantity(light[k], "A")),
                f"shunt{k}": el.Resistor(resistance=quantity(shunt, "ohm")),
                f"bypass{k}": el.Diode(model="ideal"),
                f"store{k}": el.Capacitor(capacitance="10 uF"),
                f"wire{k}": el.Inductor(inductance="1 uH")})
        node = f"wire{k}.n"
    wire(model, f"{node} coil.p")
    run = model.simulate("5 ms", rtol=1e-8)
    assert "in Python" not in run.statistics["why"]
    current = brentq(lambda i: np.maximum(light - i, 0.0).sum() * shunt - load * i, 0.0, 8.0)
    assert_allclose(run["load.i"].final.m, current, rtol=1e-6)
    assert_allclose([run[f"bypass{k}.i"].final.m for k in range(n)],
                    np.maximum(current - light, 0.0), atol=1e-5)


def parallel(elements, resistance="1e-4 ohm"):
    """Elements side by side in a loop of two capacitors with hardly any resistance."""
    tiny = {"parasitic": True, "series_resistance": resistance}
    names = [f"e{k}" for k in range(len(elements))]
    return wired(
        "parallel", "source.p line.p", "line.n large.p small.p",
        " ".join(["small.n load.p", *(f"{name}.p" for name in names)]),
        " ".join(["source.n ground.V large.n load.n", *(f"{name}.n" for name in names)]),
        source=el.ACVoltageSource(amplitude="40 V", frequency="60 Hz", phase="5.14 rad"),
        ground=el.ElectricalReference(), line=el.Resistor(resistance="39 ohm"),
        load=el.Resistor(resistance="1 kohm"), large=el.Capacitor(capacitance="57 uF", **tiny),
        small=el.Capacitor(capacitance="6 uF", **tiny), **dict(zip(names, elements, strict=True)))


@pytest.mark.parametrize(("resistance", "method"), [("1e-4 ohm", "auto"), ("1e-6 ohm", "rodas4")])
def test_diodes_in_parallel_are_as_one(resistance, method):
    runs = [parallel([el.Diode(model="ideal") for _ in range(n)],
                     resistance).simulate("18 ms", method=method) for n in (1, 2)]
    times = quantity(np.linspace(1.3e-3, 17.7e-3, 9), "s")
    alone, shared = (run["small.vc"].at(times).m for run in runs)
    assert_allclose(shared, alone, rtol=0, atol=2e-5 * np.abs(alone).max())


def test_closed_switches_in_parallel_are_a_wire_from_the_start():
    """They short the load: both capacitors in parallel behind the line, as phasors say."""
    run = parallel([el.Switch(model="ideal", gate=1) for _ in range(3)]).simulate("6 ms", rtol=1e-9)
    omega, tau = 2 * np.pi * 60, 39 * 63e-6
    settled = 40 * np.exp(5.14j) / (1 + 1j * omega * tau)
    times = np.array([1e-3, 3e-3, 5.9e-3])
    expected = np.imag(settled * np.exp(1j * omega * times)) - np.imag(settled) * np.exp(
        -times / tau)
    assert_allclose(run["large.vc"].at(quantity(times, "s")).m, expected, rtol=0, atol=1e-5 * 40)
