r"""Exact dry friction: when does a pushed block start, how fast, and where does it stop?

    push: 10 N/s * t, off at 3 s
        |
      block (1 kg)
        |
      friction: holds up to 25 N, slides with 20 N
        |
      floor

A law of this kind has no formula at rest: the force is whatever keeps the block
still. It is a statement of the component language, and nothing creeps.
"""

from _show import show

from blocks import Model, Parameter, Variable, dry_friction
from library.translational import ForceSource, Mass, MotionSensor, Reference, TwoPort, table


class DryFriction(TwoPort):
    """Dry friction between R and C, with a larger force at rest than in motion."""

    static = Parameter("25 N", minimum=0, doc="largest force at rest")
    kinetic = Parameter("20 N", minimum=0, doc="force while sliding")
    power_dissipated = Variable("W", doc="heat")

    def equations(self):
        yield dry_friction(self.f, self.v, static=self.static, kinetic=self.kinetic)
        yield self.power_dissipated == self.f * self.v


model = Model("dry friction")
model.block = Mass(mass="1 kg")
model.push = ForceSource(force=table(["0 s", "3 s", "3 s"], ["0 N", "30 N", "0 N"]))
model.friction = DryFriction()
model.place = MotionSensor()
model.floor = Reference()

model.connect(model.block.M, model.push.R, model.friction.R, model.place.R)
model.connect(model.push.C, model.friction.C, model.place.C, model.floor.V)

result = model.simulate("4 s")

print(result.events)
start, stop = (e.time for e in result.events.of("friction"))
speed = result["block.v"].at("3 s")
print(f"starts at {start:.6f} s, by hand 25 N / (10 N/s) = 2.5 s")
print(f"speed at 3 s {speed:.6f~P}, by hand 5 * (3^2 - 2.5^2) - 20 * 0.5 = 3.75 m/s")
print(f"stops at {stop:.6f} s, by hand 3 + 3.75/20 = 3.1875 s, and then stays: "
      f"{result['block.v'].final:~P}")  # fmt: skip

show(result.plot("push.S", "friction.f", "block.v", "place.x"), "dry_friction")
