r"""Exact dry friction: when does a pushed block start, how fast, and where does it stop?

    push: 10 N/s * t, off at 3 s
        |
      block (1 kg)
        |
      friction: holds up to 25 N, slides with 20 N
        |
      floor

Simscape's law (law="simscape") would creep at any force. This one sticks exactly: the
force at rest is whatever keeps the block still, and nothing moves before breakaway.
"""

from _show import show

from blocks import Model
from library.translational import (
    ForceSource,
    Mass,
    MotionSensor,
    Reference,
    TranslationalFriction,
    table,
)

model = Model("dry friction")
model.block = Mass(mass="1 kg")
model.push = ForceSource(force=table(["0 s", "3 s", "3 s"], ["0 N", "30 N", "0 N"]))
model.friction = TranslationalFriction(
    law="coulomb", breakaway_force="25 N", coulomb_force="20 N")  # fmt: skip
model.place = MotionSensor()
model.floor = Reference()

model.connect(model.block.M, model.push.R, model.friction.R, model.place.R)
model.connect(model.push.C, model.friction.C, model.place.C, model.floor.V)

result = model.simulate("4 s")

print(result.events)
print(result.sticking())
start, stop = (e.time for e in result.events.of("friction"))
speed = result["block.v"].at("3 s")
print(f"starts at {start:.6f} s, by hand 25 N / (10 N/s) = 2.5 s")
print(f"speed at 3 s {speed:.6f~P}, by hand 5 * (3^2 - 2.5^2) - 20 * 0.5 = 3.75 m/s")
print(f"stops at {stop:.6f} s, by hand 3 + 3.75/20 = 3.1875 s, and then stays: "
      f"{result['block.v'].final:~P}")  # fmt: skip

show(result.plot("push.S", "friction.f", "block.v", "place.x"), "dry_friction")
