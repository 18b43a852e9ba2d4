r"""Fifteen discs poured into a box: friction, impacts, and a heap that rests.

    | o o o o o |      every disc may touch every other one, the floor and both walls:
    | o o o o o |      105 + 45 contacts with friction, of which about 30 touch in the end
    | o o o o o |
    +-----------+

Time stepping (Moreau-Jean) takes no notice of single events. Watch the discs fall, roll
over each other and come to rest; floor and walls then carry their weight, 15 * 9.81 N.
"""

import numpy as np
from _show import show

from blocks import Model, quantity
from library.planar import Body, Circle, Contact, Ground, Line

n, ring = 15, Circle("0.1 m")
model = Model("heap of discs")
model.ground = Ground()
place = np.arange(n)
x = 0.25 * (place % 5) + np.random.default_rng(0).uniform(-0.02, 0.02, n)
model.discs = Body(count=n, inertia="5 g*m^2", x=quantity(x, "m"), phi="0 rad", vx="0 m/s",
                   y=quantity(0.15 + 0.25 * (place // 5), "m"), vy="0 m/s", w="0 rad/s")

sides = {"floor": Line(x="0.5 m", length="1.4 m"),
         "left": Line("-90 deg", x="-0.2 m", y="0.4 m", length="0.8 m"),
         "right": Line("90 deg", x="1.2 m", y="0.4 m", length="0.8 m")}
for name, side in sides.items():
    wall = model.add(name, Contact(count=n, curve=ring, base=side, friction=0.3))
    model.connect(model.ground.P, wall.B)
    model.connect(wall.F, model.discs.P)

first, second = np.triu_indices(n, 1)
model.pairs = Contact(count=len(first), curve=ring, base=ring, friction=0.3)
model.connect(model.pairs.B, model.discs[first].P)
model.connect(model.pairs.F, model.discs[second].P)

result = model.simulate("1.5 s", method="moreau_jean", step="2.5 ms", every="25 ms")

lift = -sum(result[f"{name}.F.fy"].final.to("N").m.sum() for name in sides)
fastest = np.hypot(result["discs.vx"].final.m, result["discs.vy"].final.m).max()
print(f"floor and walls carry {lift:.2f} N, the discs weigh {n * 9.81:.2f} N; "
      f"fastest disc at the end {1e3 * fastest:.1g} mm/s")
show(result.draw("0.1 s", "0.4 s", "1.5 s"), "heap_of_discs", result, fps=15)
