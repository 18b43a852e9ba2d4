"""Which variables meet at a thermal port, and what every two-port shares."""

from blocks import Branch, Domain
from blocks.units import unit

# "20 degC" is a temperature, "20 delta_degC" a difference: in K a declaration has to say which
ABSOLUTE, DIFFERENCE = unit("K").as_temperature, unit("K").as_difference

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
