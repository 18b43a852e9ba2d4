"""Translational mechanics along one axis (draft)."""
from blocks.component import *
from blocks.domain import Domain
from blocks.expression import *

translational = Domain("translational", across={"v": "m/s"}, through={"f": "N"}, reference="Reference", colour="tab:blue")

class TwoPort(Branch, domain=translational):
    pass

class Mass(Component):
    M = Port(translational)
    mass = Parameter("1 kg", above=0, doc="Mass")
    v = Variable("m/s", "0 m/s", priority="high")
    f = Variable("N")
    def equations(self):
        yield self.v == self.M.v
        yield self.f == self.M.f
        yield self.mass * der(self.v) == self.f

class Spring(TwoPort):
    stiffness = Parameter("1 kN/m", above=0)
    x = Variable("m", "0 m", priority="high")
    def equations(self):
        yield der(self.x) == self.v
        yield self.f == self.stiffness * self.x

class Damper(TwoPort):
    damping = Parameter("100 N*s/m", minimum=0, doc="Damping coefficient", advice="A stiffness belongs to Spring(stiffness=...).")
    power_dissipated = Variable("W")
    def equations(self):
        yield self.f == self.damping * self.v
        yield self.power_dissipated == self.f * self.v

class Reference(Component):
    V = Port(translational)
    def equations(self):
        yield self.V.v == 0

class VelocitySource(TwoPort):
    velocity = Parameter("0 m/s", varying=True)
    def equations(self):
        yield self.v == self.velocity

class ForceSource(TwoPort):
    force = Parameter("0 N", varying=True)
    def equations(self):
        yield self.f == -self.force
