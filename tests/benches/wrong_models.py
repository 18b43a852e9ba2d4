"""Models with one mistake each, and user-written classes for them."""

import re

import blocks
from benches import wire, wired
from blocks import Component, Domain, Input, Model, Output, Parameter, Port, Variable, der, quantity
from blocks.language.statements import dry_friction
from library.translational import Damper, Mass, Reference, TwoPort, translational

rotational = Domain("rotational", across={"w": "rad/s"}, through={"t": "N*m"},
                    reference="RotationalReference")  # fmt: skip


class Inertia(Component):
    I = Port(rotational)
    w = Variable("rad/s", "0 rad/s", priority="high")

    def equations(self):
        yield self.w == self.I.w
        yield quantity("1 kg*m^2") * der(self.w) == self.I.t


class Gear(Component):
    A, B = Port(translational), Port(translational)
    ratio = Parameter("2", above=0)

    def equations(self):
        yield self.A.v == self.ratio * self.B.v
        yield self.B.f == -self.ratio * self.A.f


class UnboundedMass(Component):
    M = Port(translational)
    mass = Parameter("1 kg", minimum=0)
    v = Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield self.v == self.M.v
        yield self.mass * der(self.v) == self.M.f


class DryFriction(TwoPort):
    def equations(self):
        yield dry_friction(self.f, self.v, static=quantity("2 N"), kinetic=quantity("1 N"))


class Gain(Component):
    u = Input("N")
    y = Output("N")
    k = Parameter("0.5")

    def equations(self):
        yield self.y == self.k * self.u


class Lag(Component):
    u = Input("N")
    y = Output("N")
    x = Variable("N", "0 N", priority="high")

    def equations(self):
        yield der(self.x) * quantity("1 s") == self.u - self.x
        yield self.y == self.x


class Memory(Component):
    """Its output is itself the state."""

    u = Input("N")
    y = Output("N")

    def equations(self):
        yield der(self.y) * quantity("1 s") == self.u - self.y


class Shell(Component):
    """A composite that passes its input on."""

    u = Input("N")

    def compose(self):
        self.inner = Gain()
        self.connect(self.u, self.inner.u)


class TwoMissing(TwoPort):
    w, q = Variable("m"), Variable("N")

    def equations(self):
        yield self.f == quantity("3 N/m") * self.w


class OneSurplus(TwoPort):
    def equations(self):
        yield self.f == quantity("3 N*s/m") * self.v
        yield self.v == quantity("1 m/s")


class Misplaced(TwoPort):
    w, q = Variable("m"), Variable("m")

    def equations(self):
        yield der(self.w) == self.v
        yield der(self.w) == 2 * self.v
        yield self.w * quantity("1 N/m") == self.f


class WrongUnits(TwoPort):
    stiffness = Parameter("1 N/m")

    def equations(self):
        yield self.f == self.stiffness * self.v


class Misspelt(Component):
    speed = Variable("m/s")

    def equations(self):
        yield self.sped == quantity("1 m/s")


class Pole(Component):
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == quantity("1 m^2/s") / self.x


class Split(Component):
    x, y = Variable("m"), Variable("m")

    def equations(self):
        yield self.x + self.y == quantity("1 m")
        yield self.x + self.y == quantity("2 m")


class Bounded(Component):
    low, high = Parameter("1 m"), Parameter("2 m")
    x = Variable("m", "0 m", priority="high")

    def verify(self):
        if self.low > self.high:
            yield f"low ({self.low:~P}) must not exceed high ({self.high:~P})"

    def equations(self):
        yield der(self.x) == quantity("0 m/s")


class AssignsWhatFollows(Component):
    x, y = Variable("m", "0 m", priority="high"), Variable("m")

    def equations(self):
        yield der(self.x) == quantity("1 m/s")
        yield self.y == 2 * self.x
        yield blocks.when(self.x > quantity("1 m"), {self.y: quantity("0 m")})


def pattern(told):
    """Of a text that says all of this in this order; " … " stands for any words between."""
    return "(?s)" + ".*".join(map(re.escape, told.split(" … ")))


def says(finding, code, where, told):
    """A finding has this code, names these parts, and says what is told."""
    assert (finding.code, set(finding.where)) == (code, set(where))
    assert re.search(pattern(told), str(finding)), str(finding)


def only(found, severity=None):
    """The one finding of a model, or among its findings, and of a severity."""
    findings = found.check() if isinstance(found, Model) else found
    chosen = [finding for finding in findings if severity in (None, finding.severity)]
    assert len(chosen) == 1, str(findings)
    return chosen[0]


def sound(*nets, **parts):
    """A mass on a damper, nothing wrong with it; and what else there is beside it."""
    model = wired("demo", "block.M damper.R", "damper.C ground.V",
                  block=Mass(), damper=Damper(), ground=Reference())
    wire(model, *nets, **parts)
    return model
