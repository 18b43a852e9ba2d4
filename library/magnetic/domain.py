"""Which variables meet at a magnetic port, and what every two-port shares."""

from math import pi

from blocks import Branch, Domain, Variable, der, quantity

VACUUM = quantity(4e-7 * pi, "H/m")  # permeability; Simscape's domain has the same value

magnetic = Domain(
    "magnetic",
    across={"mmf": "A"},
    through={"phi": "Wb"},
    reference="MagneticReference",
    alone="its potential is measured against nothing",
    resistance="a reluctance",
    colour="tab:olive",
    doc="mmf is the magnetic potential of the port, phi the flux into the component.",
    power=lambda port: port.mmf * der(port.phi),
)


class TwoPort(Branch, domain=magnetic, ports=("N", "S")):
    """Base of magnetic components with the ports N and S.

    Gives the variables mmf = mmf_N - mmf_S (A) and phi, the flux from N to S through the
    component (Wb): N.phi = phi and S.phi = -phi. A subclass states one equation more.
    """

    phi = Variable("Wb", nominal="1 mWb", doc="flux from N to S")
