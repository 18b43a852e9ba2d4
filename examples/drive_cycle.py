r"""Drive cycle: what power does a car need to follow a speed table?

    speed table -- controller -- force -- car (1200 kg, air, rolling) -- road

A proportional-integral driver follows the table. Watch the power peak at the end of
the accelerations, and become negative while braking.
"""

from _show import show

from blocks import Model
from library.signal import PID, Subtract, TimeTable
from library.translational import ForceSource, MotionSensor, PowerSensor, Reference, VehicleBody

model = Model("drive cycle")
model.cycle = TimeTable(
    times=["0 s", "5 s", "15 s", "40 s", "50 s", "60 s", "80 s", "95 s", "110 s"],
    values=["0 m/s", "0 m/s", "14 m/s", "14 m/s", "22 m/s", "22 m/s", "10 m/s", "0 m/s", "0 m/s"],
)
model.error = Subtract(unit="m/s")
model.driver = PID(input="m/s", proportional="4000 N*s/m", integral="2 kN/m",
                   derivative="0 N*s^2/m")
model.drive = ForceSource()
model.power = PowerSensor()
model.car = VehicleBody(mass="1200 kg")
model.speed = MotionSensor()
model.road = Reference()

model.connect(model.cycle.y, model.error.u1)
model.connect(model.speed.V, model.error.u2)
model.connect(model.error.y, model.driver.u)
model.connect(model.driver.y, model.drive.S)
model.connect(model.drive.R, model.power.R)
model.connect(model.power.C, model.car.H, model.speed.R)
model.connect(model.drive.C, model.speed.C, model.road.V)

result = model.simulate("110 s", rtol=1e-7)

# By hand: at a steady 14 m/s the drive balances air and rolling resistance.
force = 1.18 / 2 * 0.4 * 3 * 14**2 + 0.01 * 1200 * 9.81
shown = result["drive.f"].at("39 s").to("N").magnitude
print(f"Drive at a steady 14 m/s: {-shown:.1f} N, by hand {force:.1f} N")
print(result.energy())

show(result.plot("cycle.y", "car.v", "power.P", units={"cycle.y": "km/hour", "car.v": "km/hour",
                 "power.P": "kW"}, events=False), "drive_cycle")
