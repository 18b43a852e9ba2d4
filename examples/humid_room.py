r"""A cooling coil dries the air of a room with four people.

         +--> fan --> coil (9 degC) --+
         |              |             |
        room <----------|-------------+        outside, 32 degC
       /    \        condensate                   |
    people  walls --------------------------------+-- gap of a door

On a hot and humid day the coil starts. Each person breathes and sweats 60 g of water an hour and
gives 75 W. The air that leaves the coil is saturated. In the end the coil drains the water that
the people give.
"""

from __future__ import annotations

from _show import show

from blocks import Model
from library.moist_air import (
    ConstantVolumeChamber,
    DewPointSensor,
    FlowRateSource,
    FlowResistance,
    MoistAirProperties,
    MoistureSource,
    Pipe,
    Reservoir,
)
from library.thermal import (
    HeatFlowRateSource,
    TemperatureSource,
    ThermalReference,
    ThermalResistance,
)

model = Model("humid room")
model.air, model.outside = MoistAirProperties(), Reservoir(temperature="32 degC", humidity=0.5)
model.room = ConstantVolumeChamber(volume="60 m^3", num_ports=3, T_I="30 degC", RH_I=0.6)
model.door = FlowResistance(pressure_drop="10 Pa", mass_flow="0.05 kg/s")
model.fan = FlowRateSource(mass_flow="0.15 kg/s", power_spec="none")
model.coil = Pipe(length="0.3 m", area="0.2 m^2", hydraulic_diameter="3 mm", T_I="30 degC",
                  RH_I=0.6)  # fmt: skip
model.people, model.bodies = MoistureSource(mass_flow="240 g/hr", temperature="34 degC"), (
    HeatFlowRateSource(heat_flow="300 W"))  # fmt: skip
model.water, model.fins = TemperatureSource(temperature="9 degC"), ThermalResistance(
    resistance="1e-3 K/W")  # fmt: skip
model.sun, model.walls = TemperatureSource(temperature="32 degC"), ThermalResistance(
    resistance="0.01 K/W")  # fmt: skip
model.zero, model.feel = ThermalReference(), DewPointSensor()

model.connect(model.outside.A, model.door.A, model.air.A)
model.connect(model.door.B, model.room.A)
model.connect(model.room.B, model.fan.A)
model.connect(model.fan.B, model.coil.A)
model.connect(model.coil.B, model.room.C)
model.connect(model.people.S, model.room.S)
model.connect(model.room.F, model.feel.A)
model.connect(model.zero.H, model.bodies.A)
model.connect(model.bodies.B, model.walls.B, model.room.H)
model.connect(model.sun.A, model.walls.A)
model.connect(model.water.A, model.fins.A)
model.connect(model.fins.B, model.coil.H)

result = model.simulate("2 hours")
print(result.energy())
end = {name: result[name].final for name in ("room.T_I", "room.RH_I", "coil.T_I", "coil.W")}
print(f"room: {end['room.T_I'].to('degC'):.1f~P}, {end['room.RH_I'].m:.0%}; dew point "
      f"{result['feel.T'].final.to('degC'):.1f~P}; the coil has drained "
      f"{result['coil.condensate'].final:.2f~P}")

# By hand: the coil takes what the people give, which is what 0.15 kg/s of air lose on its way.
drained = end["coil.W"].to("g/hour").m
before, behind = (result[f"{name}.x_w_I"].final.m for name in ("room", "coil"))
lost = 0.15 * (before - behind) / (1 - behind) * 3.6e6
print(f"the coil drains {drained:.0f} g/h, people give 240 g/h, the air loses {lost:.0f} g/h")

show(result.plot("room.T_I", "feel.T", "room.RH_I", "coil.W", "coil.condensate",
                 units={"room.T_I": "degC", "feel.T": "degC", "coil.W": "g/hour"}), "humid_room")
