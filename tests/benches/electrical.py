"""Small circuits for tests of electrical components."""

from benches import wired
from library.electrical import ControlledVoltageSource, ElectricalReference

TIGHT = {"rtol": 1e-12, "method": "DOP853"}


def circuit(name="circuit", /, *nets, **parts):
    """A model of these parts and a reference ``ground``, joined net by net."""
    return wired(name, *nets, **parts, ground=ElectricalReference())


def ring(*parts, name="ring"):
    """Two-ports in a loop, named part1, part2, …; n of the last one is grounded.

    The first one, the source, stands the other way round: from ground up.
    """
    model = circuit(name, **{f"part{k}": p for k, p in enumerate(parts, 1)})
    made = [getattr(model, f"part{k}") for k in range(1, len(parts) + 1)]
    model.connect(made[0].p, made[1].p)
    for a, b in zip(made[1:], made[2:], strict=False):
        model.connect(a.n, b.p)
    model.connect(made[-1].n, made[0].n, model.ground.V)
    return model


def across(part, voltage, source=None):
    """A source over a part: v of the part is the source's voltage."""
    return circuit("across", "source.p part.p", "source.n part.n ground.V",
                   source=source or ControlledVoltageSource(voltage=voltage), part=part)
