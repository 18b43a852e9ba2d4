r"""Six gears: a controller shifts a car up to 145 km/h, and down again under the brake.

                                     +-- clutch 1 -- gear 1 --+
    pedal -- map -- torque -- engine |          ...           |-- shaft -- final drive
              |                  |   +-- clutch 6 -- gear 6 --+                |
              +-- engine speed --+            | forces                    half shafts
                                         controller -- speed -- car -- wheels, brake

The controller is a component of its own: it remembers the gear, and chooses the next one
with hysteresis. Watch the engine's speed fall at every shift while the clutches slip, and
follow the car exactly where they do not.
"""

from _show import show

from blocks import (
    Component,
    Discrete,
    Input,
    Model,
    Output,
    initially,
    maximum,
    minimum,
    quantity,
    time,
    when,
    where,
)
from library.mechanisms import DiscBrake, DiscClutch, GearBox, RollingWheel
from library.rotational import (
    Inertia,
    RotationalMotionSensor,
    RotationalReference,
    RotationalSpringDamper,
    TorqueSource,
)
from library.signal import Table2D, TimeTable
from library.translational import MotionSensor, Reference, VehicleBody


class Controller(Component):
    """Forces on six clutches: 4 s to start off; in a shift of 0.4 s one hands over to the next."""

    v = Input("km/hour", doc="speed of the car")
    N = Output(lambda c: ["N"] * 6, doc="forces on the clutches")
    gear = Discrete("1", 1)
    last = Discrete("1", 0, doc="the gear before")
    since = Discrete("s", doc="when the last shift began")

    def equations(self):
        step = quantity("20 km/hour")
        up, down = self.gear * step + step / 2, (self.gear - 1) * step
        shift = {self.last: self.gear, self.since: time}
        yield initially({self.since: time})
        yield when((self.v > up) & (self.gear < 5.5), {self.gear: self.gear + 1, **shift})
        yield when((self.v < down) & (self.gear > 1.5), {self.gear: self.gear - 1, **shift})
        duration = where(self.last < 0.5, quantity("4 s"), quantity("0.4 s"))
        done = minimum(maximum((time - self.since) / duration, 0), 1)
        for k, force in enumerate(self.N, 1):
            closing = where(abs(self.gear - k) < 0.5, done, 0)
            opening = where(abs(self.last - k) < 0.5, 1 - done, 0)
            yield force == quantity("4 kN") * (closing + opening)


model = Model("six speeds")
model.pedal = TimeTable(times=["0 s", "4 s", "6 s", "25 s", "25.5 s"],
                        values=[0.25, 0.5, 1, 1, 0])
model.brake_force = TimeTable(times=["26 s", "27 s", "37 s", "38 s"],
                              values=["0 kN", "12 kN", "12 kN", "0 kN"])
model.map = Table2D(
    x1=[0, 0.5, 1],  # pedal
    x2=quantity([0, 1000, 2000, 3000, 4000, 5000, 6000, 7000], "rpm"),
    values=quantity([[40, 0, -15, -25, -35, -45, -55, -70],
                     [90, 120, 140, 145, 130, 105, 70, 0],
                     [110, 190, 230, 250, 250, 235, 200, 60]], "N*m"), extrapolation="nearest",
)
model.torque = TorqueSource()
model.engine = Inertia(inertia="0.2 kg*m^2", w="1000 rpm")
model.engine_speed = RotationalMotionSensor()
model.clutches = DiscClutch(count=6, static_coefficient=0.35, kinetic_coefficient=0.3)
model.gears = GearBox(count=6, ratio=[3.8, 2.3, 1.55, 1.15, 0.9, 0.72])
model.shaft = Inertia(inertia="0.05 kg*m^2")
model.final = GearBox(ratio=3.5)
model.half_shafts = RotationalSpringDamper(stiffness="12 kN*m/rad", damping="120 N*m*s/rad")
model.wheels = Inertia(inertia="3 kg*m^2")
model.brake = DiscBrake()
model.tyres = RollingWheel(radius="0.3 m")
model.car = VehicleBody(mass="1400 kg", frontal_area="2.2 m^2", drag_coefficient=0.35)
model.speed = MotionSensor()
model.controller = Controller()
model.housing, model.road = RotationalReference(), Reference()

model.connect(model.pedal.y, model.map.u1)
model.connect(model.engine_speed.W, model.map.u2)
model.connect(model.map.y, model.torque.S)
model.connect(model.torque.R, model.engine.I, model.engine_speed.R, model.clutches.C)
model.connect(model.clutches.R, model.gears.S)
model.connect(model.gears.O, model.shaft.I, model.final.S)
model.connect(model.final.O, model.half_shafts.R)
model.connect(model.half_shafts.C, model.wheels.I, model.brake.R, model.tyres.A)
model.connect(model.tyres.H, model.car.H, model.speed.R)
model.connect(model.speed.V, model.controller.v)
for k in range(6):
    model.connect(getattr(model.controller, f"N{k + 1}"), model.clutches[k].N)
model.connect(model.brake_force.y, model.brake.N)
model.connect(model.torque.C, model.engine_speed.C, model.brake.C, model.housing.W)
model.connect(model.speed.C, model.road.V)

result = model.simulate("40 s")
print(result.events)

# By hand: in sixth gear at full throttle the engine turns 0.72 * 3.5 / 0.3 m times as fast
# as the car, because its clutch does not slip at all.
engine, car = result["engine.w"].at("24 s"), result["car.v"].at("24 s")
print(f"\nEngine {engine.to('rpm'):.0f~P} at {car.to('km/hour'):.1f~P}, by hand "
      f"{(car * quantity('1 rad') / quantity('0.3 m') * 0.72 * 3.5).to('rpm'):.0f~P}")

show(result.plot("engine.w", "car.v", "controller.gear", "clutches[1].t", "brake.t",
                 units={"engine.w": "rpm", "car.v": "km/hour"}, events=False), "six_speed")
