"""A leg of a three-level inverter, whose parts could share its current in any way."""

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from blocks import Model, mod, quantity, where
from library.electrical import (
    IGBT,
    MOSFET,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
)

VOLTS, HENRY, OHM, DEPTH, PERIOD = 200.0, 5e-3, 5.0, 0.8, 20e-6


def carrier(t):
    phase = mod(t, quantity(PERIOD, "s")) / quantity(PERIOD, "s")
    return where(phase < 0.5, 2 * phase, 2 - 2 * phase)


def leg():
    """Four transistors between three rails, and two diodes to the middle one."""
    model = Model("leg")
    parts = {"upper": (DCVoltageSource(voltage=quantity(VOLTS, "V")), "P", "0"),
             "lower": (DCVoltageSource(voltage=quantity(VOLTS, "V")), "0", "N"),
             "s1": (MOSFET(), "P", "x"), "s2": (MOSFET(), "x", "out"),
             "s3": (MOSFET(), "out", "y"), "s4": (MOSFET(), "y", "N"),
             "k1": (Diode(model="ideal"), "0", "x"), "k2": (Diode(model="ideal"), "y", "0"),
             "coil": (Inductor(inductance=quantity(HENRY, "H")), "out", "z"),
             "load": (Resistor(resistance=quantity(OHM, "ohm")), "z", "0")}
    model.ground = ElectricalReference()
    nodes = {"0": [model.ground.V]}
    for name, (part, *ends) in parts.items():
        model.add(name, part)
        for port, node in zip(("D", "S") if isinstance(part, MOSFET) else ("p", "n"), ends,
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


@pytest.mark.parametrize("method", ["rodas4", "DOP853"])
def test_the_last_microampere_finds_its_diode(method):
    """A leg of two transistors to the rails and two to the middle one, back to back (T-type).

    What is left of a current that freewheels lasts 1e-12 s in the diode that takes it over.
    """
    model = Model("T-type leg")
    model.upper, model.lower = (DCVoltageSource(voltage=quantity(VOLTS, "V")) for _ in range(2))
    model.s1, model.s2, model.s3, model.s4 = (IGBT() for _ in range(4))
    wire(model, "upper.p s1.C", "lower.n s4.E", "upper.n lower.p ground.V s2.C load.n", "s2.E s3.E",
         "s1.E s4.C s3.C coil.p", "coil.n load.p",
         coil=Inductor(inductance="200 uH", i_L="1 uA"),
         load=Resistor(resistance=quantity(OHM, "ohm")), ground=ElectricalReference())
    model.s3.gate = 1
    model.s2.gate = lambda t: where(t < quantity("1 us"), 1, 0)
    model.s4.gate = lambda t: where(t > quantity("3 us"), 1, 0)
    run = model.simulate("5 us", method=method, rtol=1e-8)
    exact = -VOLTS / OHM * (1 - np.exp(-2e-6 * OHM / 200e-6))
    assert_allclose(run["coil.i_L"].final.to("A").m, exact, rtol=1e-7)
    assert abs(run["coil.i_L"].at("2 us").to("A").m) < 1e-15
