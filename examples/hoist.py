r"""Hoist: how fast does a motor lift a load through a gear and a drum?

    motor (2 N*m) -- rotor (0.01 kg*m^2) -- gear (20 : 1) -- drum (radius 0.1 m)
                                                               |
                                                             load (30 kg), weight

Two domains in one network: shafts on the left of the drum, a rope on its right.
Watch the load rise evenly, and the rotor take most of the effort.
"""

from _show import show

from blocks import Model
from library.mechanisms import GearBox, WheelAndAxle
from library.rotational import Inertia, RotationalReference, TorqueSource
from library.translational import ForceSource, Mass, Reference

model = Model("hoist")
model.motor = TorqueSource(torque="2 N*m")
model.rotor = Inertia(inertia="0.01 kg*m^2")
model.gear = GearBox(ratio=20)
model.drum = WheelAndAxle(radius="0.1 m")
model.load = Mass(mass="30 kg")
model.weight = ForceSource(force="-294.3 N")  # 30 kg * 9.81 m/s^2; upwards is positive
model.housing = RotationalReference()
model.ground = Reference()

model.connect(model.motor.R, model.rotor.I, model.gear.S)
model.connect(model.motor.C, model.housing.W)
model.connect(model.gear.O, model.drum.A)
model.connect(model.drum.P, model.load.M, model.weight.R)
model.connect(model.weight.C, model.ground.V)

result = model.simulate("2 s")

# By hand: the drum pulls with 2 N*m * 20 / 0.1 m = 400 N, and the rotor counts as
# 0.01 kg*m^2 * (20 / 0.1 m)^2 = 400 kg of the load.
acceleration = (400 - 294.3) / (400 + 30)
speed = result["load.v"].final
print(result.energy())
print(f"\nSpeed after 2 s {speed:.4f~P}, by hand {2 * acceleration:.4f} m/s")

show(result.plot("load.v", "rotor.w", units={"rotor.w": "rpm"}), "hoist")
