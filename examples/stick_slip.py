r"""Stick-slip: a block is dragged over a rough floor through a spring.

    pull (0.1 m/s) --/\/\/-- block (1 kg)
                     spring    |
                            friction
                               |
    ---------------------------+----------- floor

Watch the friction force climb to breakaway (25 N), drop, and climb again. The law
is Simscape's continuous one: the block does not quite stick, it creeps.
"""

from _show import show

from blocks import Model
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource

model = Model("stick-slip")
model.pull = VelocitySource(velocity="0.1 m/s")
model.spring = Spring(stiffness="1 kN/m")
model.block = Mass(mass="1 kg")
model.friction = TranslationalFriction(
    breakaway_force="25 N", coulomb_force="20 N", breakaway_velocity="1 cm/s",
    viscous_coefficient="10 N*s/m",
)  # fmt: skip
model.floor = Reference()

model.connect(model.pull.R, model.spring.R)
model.connect(model.spring.C, model.block.M, model.friction.R)
model.connect(model.friction.C, model.pull.C, model.floor.V)

print(model.check())
result = model.simulate("2 s")

print(result.table("spring.f", "friction.f", "block.v", every="0.25 s",
                   units={"block.v": "mm/s"}).round(3))  # fmt: skip
print()
print(result.energy())

# By hand: friction peaks at the breakaway velocity, where it is F_brk + viscous part.
peak = result["friction.f"].max()
print(f"\nLargest friction {peak:.2f~P}, by hand 25 N + 10 N*s/m * 0.01 m/s = 25.10 N")

show(result.plot("friction.f", "block.v", units={"block.v": "mm/s"}), "stick_slip")
