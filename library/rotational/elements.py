"""Bodies, springs and dampers about one axis."""

from blocks import (
    Component,
    Option,
    Parameter,
    Port,
    Variable,
    abs_,
    der,
    integral_of_table,
    interpolate,
    maximum,
    minimum,
    quantity,
)

from .. import symbols
from ..heat import Dissipative, Resisting
from ..tables import table_faults
from .domain import TwoPort, rotational


class Inertia(Component):
    """Rigid body that turns about the axis.

    Equation: inertia dw/dt = t, with w the angular velocity of port I and t the
    torque into it. Has no friction; unbalance is neglected.
    """

    symbol = symbols.INERTIA

    I = Port(rotational, doc="the body")
    inertia = Parameter("0.01 kg*m^2", above=0, doc="Moment of inertia", advice={
        "kg": "A mass belongs to Mass(mass=…)."})  # fmt: skip
    w = Variable("rad/s", "0 rad/s", priority="high", doc="angular velocity")
    t = Variable("N*m", doc="torque that accelerates the body")
    energy_stored = Variable("J", doc="kinetic energy")

    def equations(self):
        yield self.w == self.I.w
        yield self.t == self.I.t
        yield self.inertia * der(self.w) == self.t
        yield self.energy_stored == self.inertia * self.w**2 / 2


class RotationalReference(Component):
    """Ground: a port that does not turn and takes any torque.

    Equation: W.w = 0; W.t is the torque the circuit puts on the ground.
    """

    symbol = symbols.WALL
    grounds = True

    W = Port(rotational, doc="the ground")

    def equations(self):
        yield self.W.w == 0


class RotationalFreeEnd(Component):
    """A free end: a port that turns as it likes and takes no torque.

    Equation: t = 0. An unconnected port means the same; this component says that
    it is meant, and shows the end's angular velocity w.
    """

    symbol = symbols.END

    W = Port(rotational, doc="the free end")
    w = Variable("rad/s", doc="angular velocity of the end")

    def equations(self):
        yield self.W.t == 0
        yield self.w == self.W.w


class RotationalSpring(TwoPort):
    """Torsion spring between R and C.

    Equations: dphi/dt = w; t = preload + stiffness phi, or, with ``law="table"``, t
    interpolated linearly in a table of torques over deformations, which its end
    segments continue. phi > 0 and t > 0 when R has turned further than C.
    Stores the integral of t dphi; has no inertia and no damping.
    """

    symbol = symbols.SPRING

    law = Option("linear", ("linear", "table"), doc="how the torque follows from phi")
    stiffness = Parameter("10 N*m/rad", above=0, when=lambda c: c.law == "linear", doc="Stiffness",
                          advice={"N*m*s/rad": "A damping belongs to RotationalDamper(damping=…).",
                                  "N/m": "A stiffness along an axis belongs to "
                                  "Spring(stiffness=…)."})
    preload = Parameter("0 N*m", when=lambda c: c.law == "linear", doc="Torque at phi = 0")
    deformations = Parameter(["-1 rad", "1 rad"], when=lambda c: c.law == "table",
                             doc="Deformations of the table, increasing")  # fmt: skip
    torques = Parameter(["-10 N*m", "10 N*m"], when=lambda c: c.law == "table",
                        doc="Torques of the table")  # fmt: skip
    phi = Variable("rad", "0 rad", priority="high", doc="deformation, R against C")
    energy_stored = Variable("J", doc="elastic energy")

    def verify(self):
        if self.law == "table":
            yield from table_faults(("deformations", self.deformations), torques=self.torques)

    def equations(self):
        yield der(self.phi) == self.w
        if self.law == "table":
            yield self.t == interpolate(self.phi, self.deformations, self.torques)
            yield self.energy_stored == integral_of_table(self.phi, self.deformations, self.torques)
        else:
            yield self.t == self.preload + self.stiffness * self.phi
            yield self.energy_stored == (self.preload + self.stiffness * self.phi / 2) * self.phi


class RotationalDamper(Resisting, TwoPort):
    """Viscous damper between R and C.

    Equation: t = damping w. Dissipates t w >= 0; has no inertia, no state and no
    friction at rest.
    """

    symbol = symbols.DAMPER

    damping = Parameter("0.001 N*m*s/rad", minimum=0, doc="Damping coefficient",
                        advice={"N*m/rad": "A stiffness belongs to RotationalSpring(stiffness=…).",
                                "N*s/m": "A damping along an axis belongs to "
                                "Damper(damping=…)."})

    def equations(self):
        yield self.t == self.damping * self.w


class RotationalNonlinearDamper(Resisting, TwoPort):
    """Damper whose coefficient depends on direction or speed, or with a torque table.

    Equations: with ``law="asymmetric"`` t = damping_forward w for w > 0 and
    damping_backward w for w < 0; with ``law="table"`` t interpolated linearly in
    a table of torques over speeds, which its end segments continue; with
    ``law="polynomial"`` t = w (c1 + c2 s + c3 s² + …), the same both ways, with s the
    magnitude of w in rad/s.
    Dissipates t w; the signs in a table and of coefficients are the user's.
    """

    symbol = symbols.DAMPER

    law = Option("asymmetric", ("asymmetric", "table", "polynomial"),
                 doc="how the torque follows from w")
    damping_forward = Parameter("0.001 N*m*s/rad", minimum=0, doc="Coefficient for w > 0",
                                when=lambda c: c.law == "asymmetric")  # fmt: skip
    damping_backward = Parameter("0.001 N*m*s/rad", minimum=0, doc="Coefficient for w < 0",
                                 when=lambda c: c.law == "asymmetric")  # fmt: skip
    speeds = Parameter(["-1 rad/s", "1 rad/s"], when=lambda c: c.law == "table",
                       doc="Speeds of the table, increasing")  # fmt: skip
    torques = Parameter(["-0.001 N*m", "0.001 N*m"], when=lambda c: c.law == "table",
                        doc="Torques of the table")  # fmt: skip
    coefficients = Parameter(["0.001 N*m*s/rad"], when=lambda c: c.law == "polynomial",
                             doc="Coefficients c1, c2, … of rising powers of the speed")

    def verify(self):
        if self.law == "table":
            yield from table_faults(("speeds", self.speeds), torques=self.torques)

    def equations(self):
        w = self.w
        if self.law == "table":
            yield self.t == interpolate(w, self.speeds, self.torques)
        elif self.law == "polynomial":
            speed = abs_(w) / quantity("1 rad/s")
            coefficients = self.coefficients
            yield self.t == w * sum(coefficients[k] * speed**k for k in range(len(coefficients)))
        else:
            forward, backward = maximum(w, 0), minimum(w, 0)
            yield self.t == self.damping_forward * forward + self.damping_backward * backward


class RotationalSpringDamper(Dissipative, TwoPort):
    """Torsion spring and damper in parallel between R and C: an elastic shaft.

    Equations: dphi/dt = w; t = preload + stiffness phi + damping w.
    """

    symbol = symbols.SPRING_DAMPER

    stiffness = Parameter("10 N*m/rad", above=0, doc="Stiffness")
    damping = Parameter("0.001 N*m*s/rad", minimum=0, doc="Damping coefficient")
    preload = Parameter("0 N*m", doc="Torque at phi = 0 and rest")
    phi = Variable("rad", "0 rad", priority="high", doc="deformation, R against C")
    energy_stored = Variable("J", doc="elastic energy")

    def equations(self):
        yield der(self.phi) == self.w
        yield self.t == self.preload + self.stiffness * self.phi + self.damping * self.w
        yield self.energy_stored == (self.preload + self.stiffness * self.phi / 2) * self.phi
        yield self.power_dissipated == self.damping * self.w**2


class RotationalInerter(TwoPort):
    """Two-port whose torque is proportional to the relative angular acceleration.

    Equation: t = inertance dw/dt. Stores inertance w**2 / 2; its own inertia is neglected. An
    inertia is the same as an inerter against ground. The bodies at its ends usually decide how it
    starts.
    """

    symbol = symbols.INERTER

    inertance = Parameter("0.01 kg*m^2", above=0, doc="Rotational inertance")
    w = Variable("rad/s", "0 rad/s", priority="low", doc="angular velocity of R minus that of C")
    energy_stored = Variable("J", doc="kinetic energy")

    def equations(self):
        yield self.t == self.inertance * der(self.w)
        yield self.energy_stored == self.inertance * self.w**2 / 2


class QuadraticSpeedDependentTorque(TwoPort):
    """Resistance that grows with the square of the speed: a fan, a propeller, air drag.

    Equation: t = nominal_torque (w / nominal_speed) |w / nominal_speed|. Dissipates
    t w >= 0: the energy of the flow behind it is neglected.
    """

    symbol = symbols.TURNING_DRAG

    nominal_torque = Parameter("1 N*m", minimum=0, doc="Torque at the nominal speed")
    nominal_speed = Parameter("100 rad/s", above=0, doc="Nominal speed")
    power_dissipated = Variable("W", doc="power given to the flow")

    def equations(self):
        u = self.w / self.nominal_speed
        yield self.t == self.nominal_torque * u * abs_(u)
        yield self.power_dissipated == self.t * self.w
