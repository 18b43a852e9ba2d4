r"""Quarter car: does the wheel leave the road behind a bump?

    body (300 kg)          weight
      |
    suspension: spring and damper
      |
    wheel (40 kg)          weight
      |
    tyre: pushes only
      |
    road, with a bump of 80 mm that takes 0.12 s

Everything starts at rest, carried by the preloaded suspension and the compressed
tyre. Watch the tyre force: where it is zero the wheel flies.
"""

from math import pi

from _show import show

from blocks import Model, cos, quantity, where
from library.translational import (
    ElastoGap,
    ForceSource,
    Mass,
    PositionSource,
    Reference,
    SpringDamper,
)

g = quantity("9.81 m/s^2")
body, wheel = quantity("300 kg"), quantity("40 kg")
stiffness_of_tyre = quantity("180 kN/m")
height, start, length = quantity("80 mm"), quantity("0.5 s"), quantity("0.12 s")


def bump(t):
    """A smooth hump: the road over time, seen from the car."""
    hump = height * (1 - cos(2 * pi * (t - start) / length)) / 2
    return where((t > start) & (t < start + length), hump, 0)


model = Model("quarter car")
model.body = Mass(mass=body)
model.suspension = SpringDamper(stiffness="20 kN/m", damping="1.5 kN*s/m", preload=body * g)
model.wheel = Mass(mass=wheel)
model.tyre = ElastoGap(stiffness=stiffness_of_tyre, damping="50 N*s/m",
                       free_length=(body + wheel) * g / stiffness_of_tyre)  # fmt: skip
model.road = PositionSource(position=bump)
model.weight_of_body = ForceSource(force=-body * g)
model.weight_of_wheel = ForceSource(force=-wheel * g)
model.ground = Reference()

model.connect(model.body.M, model.suspension.C, model.weight_of_body.R)
model.connect(model.wheel.M, model.suspension.R, model.tyre.R, model.weight_of_wheel.R)
model.connect(model.tyre.C, model.road.R)
model.connect(model.road.C, model.weight_of_body.C, model.weight_of_wheel.C, model.ground.V)

result = model.simulate("5 s")

load = -result["tyre.f"].at(["0.4 s", "5 s"]).to("N")
print(result.events)
print(f"\nTyre load at rest {load[0]:.1f~P}, long after the bump {load[1]:.1f~P}, "
      "by hand 340 kg * 9.81 m/s^2 = 3335.4 N")  # fmt: skip

show(result.plot("tyre.f", "road.x", "suspension.x", "body.v",
                 every="5 ms", units={"tyre.f": "kN", "road.x": "mm", "suspension.x": "mm"}),
     "quarter_car")  # fmt: skip
