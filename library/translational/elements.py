"""Bodies, springs, dampers and rigid links along one axis."""

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
)

from .. import symbols
from ..heat import Dissipative, Resisting
from ..tables import table_faults
from .domain import TwoPort, translational


class Mass(Component):
    """Rigid body that moves along the axis.

    Equation: mass dv/dt = f, with v the velocity of port M and f the force into it.
    The body has no length, no weight and no friction.
    """

    symbol = symbols.MASS

    M = Port(translational, doc="the body")
    mass = Parameter("1 kg", above=0, doc="Mass", advice={
        "kg*m^2": "A moment of inertia belongs to Inertia(inertia=…)."})  # fmt: skip
    v = Variable("m/s", "0 m/s", priority="high", doc="velocity")
    f = Variable("N", doc="force that accelerates the body")
    energy_stored = Variable("J", doc="kinetic energy")

    def equations(self):
        yield self.v == self.M.v
        yield self.f == self.M.f
        yield self.mass * der(self.v) == self.f
        yield self.energy_stored == self.mass * self.v**2 / 2


class Reference(Component):
    """Ground: a port that does not move and takes any force.

    Equation: V.v = 0; V.f is the force the circuit puts on the ground.
    """

    symbol = symbols.WALL
    grounds = True

    V = Port(translational, doc="the ground")

    def equations(self):
        yield self.V.v == 0


class FreeEnd(Component):
    """A free end: a port that moves as it likes and takes no force.

    Equation: f = 0. An unconnected port means the same; this component says that
    it is meant, and shows the end's velocity v.
    """

    symbol = symbols.END

    V = Port(translational, doc="the free end")
    v = Variable("m/s", doc="velocity of the end")

    def equations(self):
        yield self.V.f == 0
        yield self.v == self.V.v


class Spring(TwoPort):
    """Spring between R and C.

    Equations: dx/dt = v; f = preload + stiffness x, or, with ``law="table"``, f
    interpolated linearly in a table of forces over deformations, which its end
    segments continue. x > 0 and f > 0 when R has moved further than C.
    Stores the integral of f dx; has no mass and no damping.

    Which x is compression depends on the direction R and C are placed in.

    Examples
    --------
    >>> from blocks import quantity
    >>> soft_start = Spring(
    ...     law="table", deformations=quantity([-1, 0, 1, 2], "mm"),
    ...     forces=quantity([-2, 0, 2, 8], "N"))
    """

    symbol = symbols.SPRING

    law = Option("linear", ("linear", "table"), doc="how the force follows from x")
    stiffness = Parameter("1000 N/m", above=0, when=lambda c: c.law == "linear", doc="Stiffness",
                          advice={"N*s/m": "A damping belongs to Damper(damping=…).",
                                  "N*m/rad": "A torsional stiffness belongs to "
                                  "RotationalSpring(stiffness=…)."})
    preload = Parameter("0 N", when=lambda c: c.law == "linear", doc="Force at x = 0")
    deformations = Parameter(["-1 m", "1 m"], when=lambda c: c.law == "table",
                             doc="Deformations of the table, increasing")  # fmt: skip
    forces = Parameter(["-1000 N", "1000 N"], when=lambda c: c.law == "table",
                       doc="Forces of the table")  # fmt: skip
    x = Variable("m", "0 m", priority="high", doc="deformation, R against C")
    energy_stored = Variable("J", doc="elastic energy")

    def verify(self):
        if self.law == "table":
            yield from table_faults(("deformations", self.deformations), forces=self.forces)

    def equations(self):
        yield der(self.x) == self.v
        if self.law == "table":
            yield self.f == interpolate(self.x, self.deformations, self.forces)
            yield self.energy_stored == integral_of_table(self.x, self.deformations, self.forces)
        else:
            yield self.f == self.preload + self.stiffness * self.x
            yield self.energy_stored == (self.preload + self.stiffness * self.x / 2) * self.x


class Damper(Resisting, TwoPort):
    """Viscous damper between R and C.

    Equation: f = damping v. Dissipates f v >= 0; has no mass, no state and no
    friction at rest.
    """

    symbol = symbols.DAMPER

    damping = Parameter("100 N*s/m", minimum=0, doc="Damping coefficient",
                        advice={"N/m": "A stiffness belongs to Spring(stiffness=…).",
                                "N*m*s/rad": "A torsional damping belongs to "
                                "RotationalDamper(damping=…)."})

    def equations(self):
        yield self.f == self.damping * self.v


class NonlinearDamper(Resisting, TwoPort):
    """Damper whose coefficient depends on direction, or with a force table.

    Equations: with ``law="asymmetric"`` f = damping_forward v for v > 0 and
    damping_backward v for v < 0; with ``law="table"`` f interpolated linearly in
    a table of forces over velocities, which its end segments continue.
    Dissipates f v; the signs in a table are the user's.
    """

    symbol = symbols.DAMPER

    law = Option("asymmetric", ("asymmetric", "table"), doc="how the force follows from v")
    damping_forward = Parameter("100 N*s/m", minimum=0, when=lambda c: c.law == "asymmetric",
                                doc="Coefficient for v > 0")
    damping_backward = Parameter("100 N*s/m", minimum=0, when=lambda c: c.law == "asymmetric",
                                 doc="Coefficient for v < 0")
    velocities = Parameter(["-1 m/s", "1 m/s"], when=lambda c: c.law == "table",
                           doc="Velocities of the table, increasing")  # fmt: skip
    forces = Parameter(["-100 N", "100 N"], when=lambda c: c.law == "table",
                       doc="Forces of the table")  # fmt: skip

    def verify(self):
        if self.law == "table":
            yield from table_faults(("velocities", self.velocities), forces=self.forces)

    def equations(self):
        v = self.v
        if self.law == "table":
            yield self.f == interpolate(v, self.velocities, self.forces)
        else:
            forward, backward = maximum(v, 0), minimum(v, 0)
            yield self.f == self.damping_forward * forward + self.damping_backward * backward


class SpringDamper(Dissipative, TwoPort):
    """Spring and damper in parallel between R and C.

    Equations: dx/dt = v; f = preload + stiffness x + damping v.
    """

    symbol = symbols.SPRING_DAMPER

    stiffness = Parameter("1000 N/m", above=0, doc="Stiffness")
    damping = Parameter("100 N*s/m", minimum=0, doc="Damping coefficient")
    preload = Parameter("0 N", doc="Force at x = 0 and rest")
    x = Variable("m", "0 m", priority="high", doc="deformation, R against C")
    energy_stored = Variable("J", doc="elastic energy")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == self.preload + self.stiffness * self.x + self.damping * self.v
        yield self.energy_stored == (self.preload + self.stiffness * self.x / 2) * self.x
        yield self.power_dissipated == self.damping * self.v**2


class Inerter(TwoPort):
    """Two-port whose force is proportional to the relative acceleration.

    Equation: f = inertance dv/dt. Stores inertance v**2 / 2; its own mass is neglected. A mass
    against ground is the same as an inerter. The bodies at its ends usually decide how it starts.
    """

    symbol = symbols.INERTER

    inertance = Parameter("1 kg", above=0, doc="Inertance")
    v = Variable("m/s", "0 m/s", priority="low", doc="velocity of R minus that of C")
    energy_stored = Variable("J", doc="kinetic energy")

    def equations(self):
        yield self.f == self.inertance * der(self.v)
        yield self.energy_stored == self.inertance * self.v**2 / 2


class Rod(TwoPort):
    """Rigid massless link between R and C.

    Equation: v = 0; f is the force in the rod, positive from R to C.
    Velocity-based mechanics knows no places, so a rod has no length: both of its
    ends move alike, however far apart they are. Joining the two nodes directly
    gives the same motion; a rod shows the force between them.
    """

    symbol = symbols.ROD

    def equations(self):
        yield self.v == 0


class QuadraticSpeedDependentForce(TwoPort):
    """Resistance that grows with the square of the velocity: air or water drag.

    Equation: f = nominal_force (v / nominal_velocity) |v / nominal_velocity|. Dissipates
    f v >= 0: the energy of the flow behind it is neglected. A body in still air of density rho has
    nominal_force = rho/2 c_w A nominal_velocity^2.

    References
    ----------
    Modelica Standard Library 4, Mechanics.Translational.Sources.QuadraticSpeedDependentForce, whose
    force counts in the direction of motion: f_nominal = -nominal_force.
    """

    symbol = symbols.DRAG

    nominal_force = Parameter("1 N", minimum=0, doc="Force at the nominal velocity")
    nominal_velocity = Parameter("1 m/s", above=0, doc="Nominal velocity")
    power_dissipated = Variable("W", doc="power given to the flow")

    def equations(self):
        u = self.v / self.nominal_velocity
        yield self.f == self.nominal_force * u * abs_(u)
        yield self.power_dissipated == self.f * self.v
