r"""Mass, spring and damper: how fast does a pulled mass come to rest?

             +--/\/\/-- spring --+
    ground --|                   |-- block (2 kg), let go 10 mm from its place
             +--[=--- damper ----+

Watch the oscillation lose the same fraction of its amplitude in every period.
"""

from math import exp, pi, sqrt

from _show import show

from blocks import Model
from library.translational import Damper, Mass, Reference, Spring

model = Model("mass, spring and damper")
model.ground = Reference()
model.spring = Spring(stiffness="200 N/m", x="10 mm")
model.damper = Damper(damping="4 N*s/m")
model.block = Mass(mass="2 kg", v="0 m/s")

model.connect(model.ground.V, model.spring.C, model.damper.C)
model.connect(model.spring.R, model.damper.R, model.block.M)

result = model.simulate("3 s")

# By hand: angular frequency sqrt(k/m) = 10 rad/s, damping ratio d/(2 sqrt(k m)) = 0.1.
ratio = 0.1
period = 2 * pi / (10 * sqrt(1 - ratio**2))
expected = 10 * exp(-ratio * 10 * period)
after = result["spring.x"].at(f"{period} s").to("mm")

print(result.table("spring.x", "block.v", "damper.f", every="0.5 s", units={"spring.x": "mm"}))
print(f"\nAfter one period of {period:.4f} s: {after:.4f~P}, by hand {expected:.4f} mm")

show(result.plot("spring.x", "spring.f", "damper.f", units={"spring.x": "mm"}),
     "mass_spring_damper")  # fmt: skip
