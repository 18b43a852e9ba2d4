"""Small circuits for tests of electrical components."""

from itertools import pairwise

import library.electrical as el
from benches import wired
from blocks import quantity
from library.signal import Pulse

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


def circuit(name="circuit", /, *nets, **parts):
    """A model of these parts and a reference ``ground``, joined net by net."""
    return wired(name, *nets, **parts, ground=el.ElectricalReference())


def ring(*parts, name="ring", **named):
    """Two-ports in a loop, named part1, part2, … or by keywords; n of the last one is grounded.

    The first one, the source, stands the other way round: from ground up.
    """
    named = {f"part{k}": p for k, p in enumerate(parts, 1)} | named
    first, *others = named
    return circuit(name, f"{first}.p {others[0]}.p", *(f"{a}.n {b}.p" for a, b in pairwise(others)),
                   f"{others[-1]}.n {first}.n ground.V", **named)


def between(places, name="circuit"):
    """Parts by name, each (part, nodes of p, n and perhaps out); the node ``"0"`` is the ground."""
    nodes = {"0": "ground.V"}
    for part, (_, *ends) in places.items():
        for port, node in zip(("p", "n", "out"), map(str, ends), strict=False):
            nodes[node] = f"{nodes.get(node, '')} {part}.{port}"
    return circuit(name, *nodes.values(), **{k: part for k, (part, *_) in places.items()})


def across(part, voltage, source=None):
    """A source over a part: v of the part is the source's voltage."""
    return circuit("across", "source.p part.p", "source.n part.n ground.V",
                   source=source or el.ControlledVoltageSource(voltage=voltage), part=part)


def buck(load, switch="ideal", diode="ideal", i_L="0 A", vc="0 V"):
    """24 V over a switch at 50 kHz, a diode and a coil onto a capacitor and a load in ohm."""
    return circuit("buck", "source.p switch.p", "switch.n diode.n coil.p", "coil.n store.p load.p",
                   "diode.p store.n load.n source.n ground.V", "pulse.y switch.vT",
                   source=el.DCVoltageSource(voltage="24 V"), switch=el.Switch(model=switch),
                   diode=el.Diode(model=diode), coil=el.Inductor(inductance="100 uH", i_L=i_L),
                   store=el.Capacitor(capacitance="100 uF", vc=vc),
                   load=el.Resistor(resistance=quantity(load, "ohm")),
                   pulse=Pulse(period="20 us", width=0.4))
