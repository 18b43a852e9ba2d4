"""Small circuits for tests of electrical components."""

from itertools import pairwise

from benches import wired
from library.electrical import ControlledVoltageSource, ElectricalReference

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


def circuit(name="circuit", /, *nets, **parts):
    """A model of these parts and a reference ``ground``, joined net by net."""
    return wired(name, *nets, **parts, ground=ElectricalReference())


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
                   source=source or ControlledVoltageSource(voltage=voltage), part=part)
