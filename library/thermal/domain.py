"""Which variables meet at a thermal port, and what every two-port shares."""

from __future__ import annotations

from blocks import Branch, Domain

__all__ = ["TwoPort", "thermal"]

thermal = Domain(
    "thermal",
    across={"T": "K"},
    through={"Q": "W"},
    typical={"T": "293.15 K"},
    reference="TemperatureSource",
    alone="it exchanges heat with no surroundings",
    storage="a thermal mass",
    resistance="a thermal resistance",
    colour="tab:orange",
    doc="T is the absolute temperature of the port, Q the heat flow into the component.",
    power=lambda port: port.Q,
)


class TwoPort(Branch, domain=thermal, ports=("A", "B")):
    """Base of thermal components with the ports A and B.

    Gives the variables T = T_A - T_B (K) and Q, the heat flow from A to B through the
    component (W): A.Q = Q and B.Q = -Q. A subclass states one equation more.
    """
