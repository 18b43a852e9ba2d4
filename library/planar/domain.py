"""Which variables meet at a planar port, and what every two-frame component shares."""

from blocks import Component, Domain, Port, cos, sin

planar = Domain(
    "planar",
    across={"vx": "m/s", "vy": "m/s", "w": "rad/s", "x": "m", "y": "m", "phi": "rad"},
    through={"fx": "N", "fy": "N", "t": "N*m"},
    rates={"x": "vx", "y": "vy", "phi": "w"},
    parameters={"gx": "0 m/s^2", "gy": "-9.81 m/s^2"},
    assumed="has the gravity of the earth, 9.81 m/s^2 against y, since no Gravity says otherwise. "
    "Connect one to any of its frames for another gravity (none: strength='0 m/s^2'), or to say "
    "that this is meant.",
    alone="it moves freely as a whole",
    storage="a body",
    resistance="a damper",
    colour="tab:purple",
    doc="x, y and phi place a frame in the world, vx, vy and w are their rates; fx, fy and t "
    "are force and torque into the component, at the frame's origin.",
)


class TwoFrame(Component):
    """Base of components between a base frame B and a follower frame F.

    A subclass states the three equations of its law. Relative quantities are those
    of F as seen from B; the force it names acts from B on F.
    """

    B = Port(planar, doc="base frame")
    F = Port(planar, doc="follower frame")

    def port_equations(self):
        B, F = self.B, self.F
        yield B.fx + F.fx == 0
        yield B.fy + F.fy == 0
        yield B.t + F.t + (F.x - B.x) * F.fy - (F.y - B.y) * F.fx == 0


def turned(phi, x, y):
    """World components of a vector (x, y) of a frame at the angle phi."""
    c, s = cos(phi), sin(phi)
    return c * x - s * y, s * x + c * y
