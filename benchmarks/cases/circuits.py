"""Large circuits of the library's components: a ladder of RC sections, a grid with diodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Model, Parameter, exp, quantity
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    ElectricalReference,
    OpenCircuit,
    Resistor,
    TwoPort,
)

__all__ = ["Junction", "diode_nodes", "grid_with_diodes", "rc_ladder"]


class Junction(TwoPort):
    """An exponential diode without series resistance: i = saturation (exp(v / thermal) - 1)."""

    saturation = Parameter("1 pA", above=0, doc="Saturation current")
    thermal = Parameter("25 mV", above=0, doc="Thermal voltage")

    def equations(self) -> Iterator[Any]:
        yield self.i == self.saturation * (exp(self.v / self.thermal) - 1)


def rc_ladder(n: int) -> Model:
    """n sections of R in series and C to ground, 1 kohm and 1 uF in all, behind 5 V at 1 kHz."""
    model = Model(f"RC ladder of {n:,} sections")
    model.ground = ElectricalReference()
    model.source = ACVoltageSource(amplitude="5 V", frequency="1 kHz")
    model.resistors = Resistor(count=n, resistance=quantity(1000 / n, "ohm"))
    model.capacitors = Capacitor(count=n, capacitance=quantity(1e-6 / n, "F"))
    model.connect(model.source.p, model.resistors[0].p)
    model.connect(model.resistors[:-1].n, model.resistors[1:].p)
    model.connect(model.resistors.n, model.capacitors.p)
    model.connect(model.capacitors.n, model.source.n, model.ground.V)
    return model


def diode_nodes(n: int, diodes: int) -> list[int]:
    """Where the diodes of a grid stand: nodes without a capacitor, strewn by a fixed rule."""
    found: list[int] = []
    i = 0
    for _ in range(diodes):
        i = (i + 1999) % n**2
        while (i // n + i % n) % 2 == 0 or i in found:
            i = (i + 1999) % n**2
        found.append(i)
    return found


def grid_with_diodes(n: int = 100, diodes: int = 50) -> Model:
    """n x n nodes joined by 100 ohm, the first column fed through 100 ohm by 5 V at 1 kHz.

    1 nF to ground where row plus column is even; the other nodes have no state, and some of
    them a diode to ground.
    """
    model = Model(f"grid of {n} x {n} nodes")
    number = np.arange(n * n).reshape(n, n)
    ends = np.concatenate([
        np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
        np.column_stack([number[:-1].ravel(), number[1:].ravel()]),
    ])  # fmt: skip
    even = number[np.add.outer(np.arange(n), np.arange(n)) % 2 == 0]
    model.ground = ElectricalReference()
    model.source = ACVoltageSource(amplitude="5 V", frequency="1 kHz")
    model.nodes = OpenCircuit(count=n * n)  # a node with a name
    model.feeders = Resistor(count=n, resistance="100 ohm")
    model.resistors = Resistor(count=len(ends), resistance="100 ohm")
    model.capacitors = Capacitor(count=len(even), capacitance="1 nF")
    model.junctions = Junction(count=diodes)
    model.connect(model.source.p, model.feeders.p)
    model.connect(model.feeders.n, model.nodes[number[:, 0]].V)
    model.connect(model.resistors.p, model.nodes[ends[:, 0]].V)
    model.connect(model.resistors.n, model.nodes[ends[:, 1]].V)
    model.connect(model.capacitors.p, model.nodes[even].V)
    model.connect(model.junctions.p, model.nodes[np.array(diode_nodes(n, diodes))].V)
    for grounded in (model.source.n, model.capacitors.n, model.junctions.n):
        model.connect(grounded, model.ground.V)
    return model
