r"""A brake disc heats until it fades.

    vehicle (as an inertia) --- disc brake --- caliper
                                    |
                                    H --- disc ---- convection and radiation ---- air

A car of 1200 kg rolls down a slope, 200 N*m at the axle, from 20 m/s on. Every half minute
the driver brakes for ten seconds, always with the same force. A cold brake takes off the speed
that the slope adds. But the brake's own heat warms the disc, and the coefficient of friction
falls with its temperature. So the car is faster after every braking.
"""

from _show import show

from blocks import Model, quantity
from library.mechanisms import DiscBrake
from library.rotational import Inertia, RotationalReference, TorqueSource, table
from library.thermal import (
    ConvectiveHeatTransfer,
    RadiativeHeatTransfer,
    TemperatureSource,
    ThermalMass,
)

model = Model("brake fade")
model.vehicle = Inertia(inertia="110 kg*m^2", w="66 rad/s")  # 1200 kg on wheels of 0.3 m
model.slope, model.caliper = TorqueSource(torque="200 N*m"), RotationalReference()
model.brake = DiscBrake(
    thermal_port=True, mean_radius="0.13 m", static_coefficient=0.4,
    kinetic_coefficient=lambda temperature:
        0.4 * (1 - quantity("6e-4/K") * (temperature - quantity("300 K"))),
    normal_force=table(quantity([0, 15, 16, 25, 26, 45, 46, 55, 56, 75, 76, 85, 86], "s"),
                       quantity([0, 0, 6, 6, 0, 0, 6, 6, 0, 0, 6, 6, 0], "kN")))
model.disc = ThermalMass(mass="3 kg", specific_heat="460 J/(kg*K)")
model.wind = ConvectiveHeatTransfer(area="0.15 m^2", heat_transfer_coefficient="80 W/(m^2*K)")
model.glow = RadiativeHeatTransfer(area="0.15 m^2")
model.air = TemperatureSource(temperature="300 K")

model.connect(model.slope.R, model.vehicle.I, model.brake.R)
model.connect(model.slope.C, model.brake.C, model.caliper.W)
model.connect(model.brake.H, model.disc.M, model.wind.A, model.glow.A)
model.connect(model.wind.B, model.glow.B, model.air.A)

result = model.simulate("100 s", rtol=1e-8)
print(result.energy())
for start, end in ((15, 26), (45, 56), (75, 86)):
    slower = result["vehicle.w"].at(f"{start} s") - result["vehicle.w"].at(f"{end} s")
    print(f"braked at {start} s: {slower:.1f~P} slower, then the disc is at "
          f"{result['disc.T'].at(f'{end} s').to('degC'):.0f~P} and the coefficient "
          f"{result['brake.kinetic_coefficient'].at(f'{end} s').m:.3f}")

# By hand, cold: 2 pads * 6 kN * 0.13 m * 0.4 = 624 N*m for 10 s, less the slope's 200 N*m for 11 s.
print(f"cold it would be {(624 * 10 - 200 * 11) / 110:.1f} rad/s")

show(result.plot("vehicle.w", "disc.T", "brake.kinetic_coefficient", units={"disc.T": "degC"}),
     "brake_fade")
