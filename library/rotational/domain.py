"""Which variables meet at a rotational port, and what every two-port shares."""

from blocks import Branch, Domain

rotational = Domain(
    "rotational",
    across={"w": "rad/s"},
    through={"t": "N*m"},
    reference="RotationalReference",
    alone="it turns freely as a whole",
    storage="an inertia",
    resistance="a damper",
    colour="tab:green",
    doc="w is the angular velocity of the port, t the torque into the component, about one axis.",
)


class TwoPort(Branch, domain=rotational):
    """Base of rotational components with the ports R and C.

    Gives the variables w = w_R - w_C (rad/s) and t, the torque carried from R to C
    (N*m): R.t = t and C.t = -t. A subclass states one equation more.
    """
