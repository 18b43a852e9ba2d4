r"""Gear shift: two clutches hand a vehicle over from first to second gear.

                  +-- clutch1 -- gear1 (3 : 1) --+
    engine -------|                              |---- vehicle (as an inertia)
    (80 N*m)      +-- clutch2 -- gear2 (2 : 1) --+

While one clutch opens, the other closes. Both stick exactly once the speeds meet:
watch the engine's speed fall to that of the second gear and the slip become zero.
"""

from _show import show

from blocks import Model
from library.mechanisms import DiscClutch, GearBox
from library.rotational import Inertia, RotationalReference, TorqueSource, table

model = Model("two clutches")
model.torque = TorqueSource(torque="80 N*m")
model.engine = Inertia(inertia="0.2 kg*m^2", w="1000 rpm")
model.clutch1 = DiscClutch(normal_force=table(["0 s", "0.5 s", "3 s", "3.3 s"],
                                              ["0 N", "1500 N", "1500 N", "0 N"]))
model.clutch2 = DiscClutch(normal_force=table(["3 s", "3.5 s"], ["0 N", "1500 N"]))
model.gear1 = GearBox(ratio=3)
model.gear2 = GearBox(ratio=2)
model.vehicle = Inertia(inertia="10 kg*m^2")
model.housing = RotationalReference()

model.connect(model.torque.R, model.engine.I, model.clutch1.C, model.clutch2.C)
model.connect(model.torque.C, model.housing.W)
model.connect(model.clutch1.R, model.gear1.S)
model.connect(model.clutch2.R, model.gear2.S)
model.connect(model.gear1.O, model.gear2.O, model.vehicle.I)

result = model.simulate("6 s", rtol=1e-8)
print(result.events, result.sticking(), sep="\n")

# By hand: in second gear the engine turns twice as fast as the vehicle, and both
# accelerate as 80 N*m * 2 over 10 kg*m^2 + 2^2 * 0.2 kg*m^2.
gain = (result["vehicle.w"].at("6 s") - result["vehicle.w"].at("5 s")) / (1.0)
print(f"\nGain in the last second {gain.to('rad/s'):.4f~P}, by hand {160 / 10.8:.4f} rad/s")

show(result.plot("engine.w", "vehicle.w", "clutch1.t", "clutch2.t",
                 units={"engine.w": "rpm", "vehicle.w": "rpm"}), "two_clutches")
