r"""Hoist and jack: what holds a load when the motor is switched off?

    motor -- rotor -- gear (20 : 1) -- drum ---- load (30 kg), weight
               |
             brake

    motor -- rotor -- screw (lead 5 mm, self-locking) -- load (30 kg), weight

Both motors give 2 N*m for 1 s. The drum is then held by a brake, until this opens after
6 s. The screw coasts, and needs no brake: its thread is flatter than friction is steep.
Watch the load on the drum stop, hang, and fall; and the one on the screw stop and stay.
"""

from _show import show

from blocks import Model
from library.mechanisms import DiscBrake, GearBox, LeadScrew, WheelAndAxle
from library.rotational import Inertia, RotationalReference, TorqueSource, table
from library.translational import ForceSource, Mass, MotionSensor, Reference

model = Model("hoist and jack")
model.housing, model.ground = RotationalReference(), Reference()
for name in ("drum", "screw"):  # what both have in common
    motor = model.add(f"{name}_motor", TorqueSource(
        torque=table(["0 s", "1 s", "1 s"], ["2 N*m", "2 N*m", "0 N*m"])))
    rotor = model.add(f"{name}_rotor", Inertia(inertia="0.01 kg*m^2"))
    load = model.add(f"{name}_load", Mass(mass="30 kg"))
    weight = model.add(f"{name}_weight", ForceSource(force="-294.3 N"))  # 30 kg * 9.81 m/s^2
    height = model.add(f"{name}_height", MotionSensor())
    model.connect(motor.R, rotor.I)
    model.connect(motor.C, model.housing.W)
    model.connect(load.M, weight.R, height.R)
    model.connect(weight.C, height.C, model.ground.V)

model.gear = GearBox(ratio=20)
model.drum = WheelAndAxle(radius="0.1 m")
model.brake = DiscBrake(normal_force=table(["1 s", "1 s", "6 s", "6 s"],
                                           ["0 N", "100 N", "100 N", "0 N"]))
model.connect(model.drum_rotor.I, model.brake.R, model.gear.S)
model.connect(model.brake.C, model.housing.W)
model.connect(model.gear.O, model.drum.A)
model.connect(model.drum.P, model.drum_load.M)

model.screw = LeadScrew(lead="5 mm", diameter="20 mm", friction=0.1)
model.connect(model.screw_rotor.I, model.screw.S)
model.connect(model.screw.N, model.screw_load.M)

result = model.simulate("7 s", rtol=1e-8, every="10 ms")
print(result.events, result.sticking(), sep="\n")

# By hand: the drum pulls with 2 N*m * 20 / 0.1 m = 400 N, and the rotor counts as
# 0.01 kg*m^2 * (20 / 0.1 m)^2 = 400 kg of the load. In the end the load falls for 1 s.
speeds = [result["drum_load.v"].at(t) for t in ("1 s", "7 s")]
by_hand = [(400 - 294.3) / (400 + 30), -294.3 / (400 + 30)]
for when, speed, exact in zip(("risen for 1 s", "fallen for 1 s"), speeds, by_hand, strict=True):
    print(f"Load on the drum, {when}: {speed:.4f~P}, by hand {exact:.4f} m/s")

show(result.plot("drum_height.P", "screw_height.P", "brake.t", "screw.loss",
                 units={"drum_height.P": "m", "screw_height.P": "m"}, events=False), "hoist")
