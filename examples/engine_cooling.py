r"""A thermostat keeps an engine at its temperature.

    pump --> jacket ----+---- bypass ------------+--> back to the pump
               |        |                        |
             engine     +---- valve -- radiator -+---- expansion tank
                                         |
                                        air

An engine gives 12 kW to its coolant, a mixture of water and glycol, which a pump moves at
0.5 kg/s. Below 80 degC nearly all of it takes the bypass; up to 90 degC the thermostat opens the
way through the radiator, which loses 400 W/K to the air of 20 degC, and closes the bypass. The
engine warms at a constant rate, and then stays where the radiator takes what it gives.
"""

from _show import show

from blocks import Model, quantity
from library.signal import Table1D
from library.thermal import (
    HeatFlowRateSource,
    TemperatureSource,
    ThermalMass,
    ThermalReference,
    ThermalResistance,
)
from library.thermal_liquid import (
    FlowRateSource,
    LocalRestriction,
    Pipe,
    PressureTemperatureSensor,
    Reservoir,
    ThermalLiquidProperties,
)

model = Model("engine cooling")
model.air, model.ground = TemperatureSource(temperature="20 degC"), ThermalReference()
model.fire = HeatFlowRateSource(heat_flow="12 kW")
model.engine = ThermalMass(mass="60 kg", specific_heat="500 J/(kg*K)", T="20 degC")
model.fins = ThermalResistance(resistance="2.5e-3 K/W")
model.coolant, model.tank = ThermalLiquidProperties(liquid="glycol 50"), Reservoir()
model.pump = FlowRateSource(mass_flow="0.5 kg/s")
channel = {"area": "5 cm^2", "hydraulic_diameter": "5 mm", "dynamic_compressibility": False}
model.jacket, model.radiator = Pipe(length="2 m", **channel), Pipe(length="4 m", **channel)
model.bypass = LocalRestriction(maximum_area="3 cm^2", minimum_area="0.01 cm^2")
model.valve = LocalRestriction(maximum_area="3 cm^2", minimum_area="0.01 cm^2")
model.feel = PressureTemperatureSensor(reference="absolute")
points = {"x": quantity([353.15, 363.15], "K"), "extrapolation": "nearest"}
model.opens = Table1D(values=["0.01 cm^2", "3 cm^2"], **points)
model.closes = Table1D(values=["3 cm^2", "0.01 cm^2"], **points)

model.connect(model.fire.A, model.ground.H)
model.connect(model.fire.B, model.engine.M, model.jacket.H)
model.connect(model.air.A, model.fins.A)
model.connect(model.fins.B, model.radiator.H)
model.connect(model.pump.B, model.jacket.A, model.coolant.A)
model.connect(model.jacket.B, model.bypass.A, model.valve.A, model.feel.A)
model.connect(model.valve.B, model.radiator.A)
model.connect(model.radiator.B, model.bypass.B, model.tank.A, model.pump.A)
model.connect(model.feel.T, model.opens.u, model.closes.u)
model.connect(model.opens.y, model.valve.AR)
model.connect(model.closes.y, model.bypass.AR)

result = model.simulate("1200 s")
print(result.energy())
print(f"coolant at the end: {result['feel.T'].final.to('degC'):.1f~P}, through the radiator "
      f"{result['valve.mdot'].final:.3f~P}")

# By hand: 30 kJ/K of engine and 5 kJ/K of coolant warm by 12 kW / 35 kJ/K = 0.34 K/s.
show(result.plot("engine.T", "feel.T", "valve.mdot", units={"engine.T": "degC", "feel.T": "degC"}),
     "engine_cooling")
