r"""A bicycle wheel runs over a bump, takes off and lands.

        ___
       / + \      wheel, 2 kg, radius 0.34 m, 5 m/s
       \___/         __
    ------------.__-'  '-.______________   road: 12 cm high, as a Gauss curve

Going up, the road pushes the wheel back and up; over the top the road falls away faster than
the wheel does, and the contact force vanishes. Friction 0.6 spins the wheel as far as it can.
"""

import numpy as np
from _show import show

from blocks import Model, Target, exp, quantity
from library.planar import Body, Circle, Contact, Ground, ParametricCurve

METRE, HEIGHT, WIDTH = quantity("1 m"), quantity("12 cm"), 0.45  # the width in m


def road(s):
    return METRE * s, HEIGHT * exp(-((s / WIDTH) ** 2))


model = Model("wheel over a bump")
model.ground = Ground()
model.wheel = Body(mass="2 kg", inertia="0.2 kg*m^2", x=Target("-1.5 m", "none"),
                   y=Target("0.34 m", "none"), phi="0 rad", vx="5 m/s", vy="0 m/s",
                   w=quantity(-5 / 0.34, "rad/s"))  # fmt: skip
model.tyre = Contact(curve=Circle("0.34 m"), friction=0.6,
                     gap="0 m", xi_B="-1.5 rad",
                     base=ParametricCurve(road, -2.2, 3.2, closed=False, free="left"))  # fmt: skip
model.connect(model.ground.P, model.tyre.B)
model.connect(model.wheel.P, model.tyre.F)

print(model.check())
result = model.simulate("0.9 s", rtol=1e-8)
print(result.events)

(takes_off, lands), *_ = [
    (a.time, b.time) for a, b in zip(result.events, result.events[1:], strict=False)
    if a.description == "opens" and b.description == "closes"
]  # fmt: skip
x = result["wheel.x"].at([f"{takes_off} s", f"{lands} s"]).to("m").m
vy = result["wheel.vy"].at(f"{takes_off} s").to("m/s").m
y = result["wheel.y"].at([f"{takes_off} s", f"{lands} s"]).to("m").m
# By hand: a throw from y0 with vy reaches y1 after (vy + sqrt(vy^2 + 2 g (y0 - y1)))/g.
fall = (vy + np.sqrt(vy**2 + 2 * 9.81 * (y[0] - y[1]))) / 9.81
print(f"flies from x = {x[0]:.3f} m to {x[1]:.3f} m in {lands - takes_off:.5f} s, by hand "
      f"{fall:.5f} s; top speed of rotation {abs(result['wheel.w'].min()):.1f~P}")  # fmt: skip

climbs, flies = takes_off - 0.02, (takes_off + lands) / 2
figure = result.draw(*(quantity(t, "s") for t in (climbs, flies, 0.8)))
show(figure, "wheel_over_bump", result, fps=20, speed=0.25)
