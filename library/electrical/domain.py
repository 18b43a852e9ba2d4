"""Which variables meet at an electrical port, and what every two-port shares."""

from blocks import Branch, Domain

electrical = Domain(
    "electrical",
    across={"v": "V"},
    through={"i": "A"},
    reference="ElectricalReference",
    alone="its potential is measured against nothing",
    storage="a capacitor",
    resistance="a resistor",
    colour="tab:red",
    doc="v is the potential of the port, i the current into the component.",
)


class TwoPort(Branch, domain=electrical, ports=("p", "n")):
    """Base of electrical components with the ports p and n.

    Gives the variables v = v_p - v_n (V) and i, the current from p to n through the
    component (A): p.i = i and n.i = -i. A subclass states one equation more.
    """
