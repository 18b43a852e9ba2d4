"""Modes of ideal elements are decided part by part: many converters side by side, against matrix
exponentials between the known instants of their switches, and the largest of many sources."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy.linalg import expm

from blocks import Model, quantity, sin
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
    Switch,
)
from library.signal import Pulse
from library.translational import PositionSource, Reference, Spring, TranslationalFriction

L, C, R, SOURCE, PERIOD, DUTY, START = 100e-6, 200e-6, 0.1, 24.0, 20e-6, 0.4, 12.0
FORWARD, CONDUCTS = 0.6, 0.3  # V and ohm of the piecewise linear diode


def side_by_side(kind, phases, diode="ideal", load=R):
    """Switches at shifted instants, diodes and coils between one source and one capacitor."""
    m = wired(f"{phases} {kind}s", "ground.V source.n store.n load.n", "store.p load.p",
              ground=ElectricalReference(), source=DCVoltageSource(voltage=quantity(SOURCE, "V")),
              store=Capacitor(capacitance=quantity(C, "F"), v=quantity(START, "V")),
              load=Resistor(resistance=quantity(load, "ohm")))
    for k in range(phases):
        switch, valve = m.add(f"switch{k}", Switch(model="ideal")), m.add(
            f"diode{k}", Diode(model=diode))
        coil = m.add(f"coil{k}", Inductor(inductance=quantity(L * (1 + k / 50), "H"), i_L="20 A"))
        pulse = m.add(f"pulse{k}", Pulse(period=quantity(PERIOD, "s"), width=DUTY,
                                         start=quantity(PERIOD * k / phases, "s")))
        m.connect(pulse.y, switch.vT)
        if kind == "buck":
            m.connect(m.source.p, switch.p)
            m.connect(switch.n, valve.n, coil.p)
            m.connect(valve.p, m.ground.V)
            m.connect(coil.n, m.store.p)
        else:
            m.connect(m.source.p, coil.p)
            m.connect(coil.n, switch.p, valve.p)
            m.connect(switch.n, m.ground.V)
            m.connect(valve.n, m.store.p)
    return m


def by_exponentials(kind, phases, diode, end):
    """Currents and voltage at the end, where no current ceases."""
    instants = [0.0, *(PERIOD * (k / phases + share + turn) for k in range(phases)
                       for share in (0.0, DUTY) for turn in range(round(end / PERIOD))), end]
    instants = np.unique(np.round([t for t in instants if t <= end], 15))
    coils = L * (1 + np.arange(phases) / 50)
    x = np.append(np.full(phases, 20.0), [START, 1.0])
    for t0, t1 in zip(instants[:-1], instants[1:], strict=True):
        since = ((t0 + t1) / 2 - PERIOD * np.arange(phases) / phases)
        closed = (since > 0) & (since % PERIOD < DUTY * PERIOD)
        a = np.zeros((phases + 2, phases + 2))
        a[phases, phases] = -1 / (R * C)
        for k in range(phases):
            feeds = 1.0 if kind == "buck" else float(not closed[k])
            drives = SOURCE if kind == "boost" or closed[k] else 0.0
            if diode != "ideal" and not closed[k]:
                drives, a[k, k] = -FORWARD, -CONDUCTS / coils[k]
            a[k, phases], a[phases, k] = -feeds / coils[k], feeds / C
            a[k, -1] = drives / coils[k]
        x = expm(a * (t1 - t0)) @ x
    return x[:-1]


@pytest.mark.parametrize(("kind", "diode"), [("buck", "piecewise linear"), ("boost", "ideal")])
def test_phases_on_one_capacitor_are_searched_for_one_by_one(kind, diode, searches):
    phases, end = 7, 5 * PERIOD  # 14 ideal elements, but for diodes with resistance
    run = side_by_side(kind, phases, diode).simulate(quantity(end, "s"), rtol=1e-9)
    assert "stretches in Python" not in run.statistics
    found = [run[f"coil{k}.i"].final.to("A").m for k in range(phases)]
    exact = by_exponentials(kind, phases, diode, end)
    assert exact[:-1].min() > 1, "no current ceases"
    assert_allclose([*found, run["store.v"].final.to("V").m], exact, rtol=2e-7)
    assert len(searches) <= 2 * phases + 2, "as often as a phase has modes, and at the start"


def test_phases_whose_currents_cease_are_searched_for_a_few_times_each(searches):
    # together they are in ever new modes
    phases = 8
    m = side_by_side("boost", phases, load=20.0)
    for k in range(phases):
        getattr(m, f"coil{k}").i_L = "0 A"
    m.store.v = "60 V"
    run = m.simulate("0.4 ms")
    assert "stretches in Python" not in run.statistics
    ceased = [e for e in run.events if e.component.startswith("diode") and e.mode == "open"]
    assert len(ceased) > 15 * phases
    assert len(searches) <= 6 * phases
    for k in range(phases):
        current = run[f"diode{k}.i"].to("A").m
        assert current.min() > -1e-6
        # from nothing up to V d T / L, each time
        assert current.max() == pytest.approx(SOURCE * DUTY * PERIOD / (L * (1 + k / 50)), rel=1e-6)
    assert run.energy().relative_residual < 1e-6


def test_diodes_that_a_capacitor_ties_at_once_are_joined():
    """The largest of fourteen sines, each behind a diode alone, drives one capacitor: what a diode
    carries then follows from the slope of its voltage, and so from what all others carry."""
    n, small, load = 14, 1e-6, 10.0
    m = wired("star", "store.p load.p", "store.n load.n ground.V",
              ground=ElectricalReference(),
              store=Capacitor(capacitance=quantity(small, "F"), v="10 V"),
              load=Resistor(resistance=quantity(load, "ohm")))
    for k in range(n):
        mains, diode = m.add(f"mains{k}", ACVoltageSource(
            amplitude="10 V", frequency="50 Hz", phase=quantity(90 - 360 * k / n, "deg"))), m.add(
                f"diode{k}", Diode(model="ideal"))
        m.connect(mains.p, diode.p)
        m.connect(diode.n, m.store.p)
        m.connect(mains.n, m.ground.V)
    run = m.simulate("10 ms", rtol=1e-8)
    assert "stretches in Python" not in run.statistics
    t = np.linspace(0.1e-3, 9.9e-3, 100)
    angle = 2 * np.pi * (50 * t[:, None] - np.arange(n) / n)
    at = quantity(t, "s")
    assert_allclose(run["store.v"].at(at).to("V").m, 10 * np.cos(angle).max(axis=1), rtol=1e-7)
    carries = np.cos(angle).argmax(axis=1)
    current = [run[f"diode{k}.i"].at(at).to("A").m for k in range(n)]
    phi = angle[np.arange(len(t)), carries]
    exact = 10 * np.cos(phi) / load - small * 10 * 2 * np.pi * 50 * np.sin(phi)
    assert_allclose(np.array(current)[carries, np.arange(len(t))], exact, rtol=1e-6)


def test_springs_in_series_with_sliders_follow_masing_each_looked_at_by_itself(monkeypatch):
    """Iwan's element [J. Appl. Mech. 33 (1966) 893-900]: whatever share of n sliders has given way,
    loops are the first loading, twice as large both ways."""
    sizes, pinv = [], np.linalg.pinv
    monkeypatch.setattr(np.linalg, "pinv", lambda a, **how: sizes.append(a.size) or pinv(a, **how))
    n, k, amplitude = 30, 10.0, 2.0
    limits = np.arange(1, n + 1) * k * 2.5 / n
    m = Model("iwan")
    m.drive = PositionSource(position=lambda t: quantity(amplitude, "m") * sin(
        t * quantity("1 rad/s")))
    m.spring = Spring(count=n, stiffness=quantity(k, "N/m"))
    m.slider = TranslationalFriction(count=n, law="coulomb", coulomb_force=quantity(limits, "N"),
                                     breakaway_force=quantity(limits, "N"))
    m.ground = Reference()
    m.connect(m.drive.R, m.spring.R)
    m.connect(m.spring.C, m.slider.R)
    m.connect(m.slider.C, m.ground.V, m.drive.C)
    run = m.simulate("7 s", rtol=1e-8)
    assert "stretches in Python" not in run.statistics
    assert max(sizes, default=0) <= 1

    def first(x):
        return np.minimum(k * x, limits).sum()

    t = np.array([0.4, 1.2, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    x, force = amplitude * np.sin(t), run["spring.f"].at(quantity(t, "s")).to("N").m
    top = first(amplitude)
    back = [top - 2 * first((amplitude - here) / 2) for here in x[2:5]]
    forth = [2 * first((here + amplitude) / 2) - top for here in x[5:]]
    exact = [first(x[0]), first(x[1]), *back, *forth]
    assert_allclose(force.sum(axis=0), exact, rtol=1e-6, atol=1e-6 * top)
