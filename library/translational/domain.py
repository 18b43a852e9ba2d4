"""Which variables meet at a translational port, and what every two-port shares."""

from blocks import Branch, Domain

translational = Domain(
    "translational",
    across={"v": "m/s"},
    through={"f": "N"},
    reference="Reference",
    alone="it moves freely as a whole",
    storage="a mass",
    resistance="a damper",
    colour="tab:blue",
    doc="v is the velocity of the port, f the force into the component, both along one axis.",
)


class TwoPort(Branch, domain=translational):
    """Base of translational components with the ports R and C.

    Gives the variables v = v_R - v_C (m/s) and f, the force carried from R to C
    (N): R.f = f and C.f = -f. A subclass states one equation more.
    """
