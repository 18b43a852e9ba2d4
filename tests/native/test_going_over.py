"""Runs that begin in Python and go on in machine code."""

from __future__ import annotations

import numpy as np
import pytest

from blocks import Model, quantity
from library.electrical import ACVoltageSource, Diode, ElectricalReference, Inductor, Resistor

pytest.importorskip("llvmlite")


def rectifier():
    """Three phases behind inductors, six ideal diodes and a load."""
    model = Model("rectifier")
    model.earth, model.load = ElectricalReference(), Resistor(resistance="10 ohm")
    up, down, star = [model.load.p], [model.load.n], [model.earth.V]
    for k in range(3):
        source = model.add(f"source{k}", ACVoltageSource(
            amplitude="100 V", frequency="50 Hz", phase=quantity(2 * np.pi * k / 3, "rad")))
        coil = model.add(f"coil{k}", Inductor(inductance="1 mH"))
        upper = model.add(f"upper{k}", Diode(model="ideal"))
        lower = model.add(f"lower{k}", Diode(model="ideal"))
        model.connect(source.p, coil.p)
        model.connect(coil.n, upper.p, lower.n)
        star.append(source.n)
        up.append(upper.n)
        down.append(lower.p)
    for nodes in (up, down, star):
        model.connect(*nodes)
    return model


def test_soon_where_every_step_has_modes_to_decide(monkeypatch):
    monkeypatch.setattr("blocks.native.costs.MOMENT_OF_MODES", -1)  # as if it took long to write
    run = rectifier().simulate("0.2 s", rtol=1e-8)
    assert run.statistics["why"].endswith("were left after 16")
    # the mean of six pulses, less what commutation takes: 3 w L I / pi
    periods = run["load.v"].at(quantity(np.linspace(0.1, 0.2, 60_001)[:-1], "s")).m
    mean = 3 * np.sqrt(3) * 100 / np.pi
    assert periods.mean() == pytest.approx(mean / (1 + 3 * 100 * np.pi * 1e-3 / np.pi / 10),
                                           rel=2e-3)
