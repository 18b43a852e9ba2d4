r"""A heat pump in a p-h diagram: from brine of 8 degC to water of 34 degC, with R134a.

              heated water  <------------------------
       +-----------> condenser, 10 segments ---------+
       |                                             |
   compressor                                expansion valve
       |                                             |
       +------------ evaporator, 10 segments <-------+
              brine         ------------------------>

A compressor takes in vapour and presses it into the condenser, where it heats water from
30 degC to 34 degC. The condensate goes through a narrow valve, boils at a low pressure in
the evaporator, and takes its heat from brine. Both exchangers are pipes in counterflow, ten
segments each, with the metal of the wall between them. Only flows, the temperatures of water
and brine and the width of the valve are prescribed. The pressures follow, and so do the places
where the fluid boils and condenses.

The picture shows the cycle in the p-h diagram. The coefficient of performance (heat to the water
over work of the compressor) is printed beside that of the ideal cycle between the same pressures.
"""

import matplotlib.pyplot as pyplot
import numpy as np
from _show import show

from blocks import Component, Model, Parameter, Port
from library.thermal import ThermalMass
from library.thermal_liquid import FlowRateSource as Pump
from library.thermal_liquid import Pipe as WaterPipe
from library.thermal_liquid import Reservoir as Tank
from library.thermal_liquid import thermal_liquid
from library.two_phase import (
    FlowRateSource,
    LocalRestriction,
    Pipe,
    Reservoir,
    SaturationPropertiesSensor,
    ThermodynamicPropertiesSensor,
    TwoPhaseFluidProperties,
    table,
    two_phase,
)


class Exchanger(Component):
    """Refrigerant from A to B, water from C to D the other way, a wall of metal between them."""

    A = Port(two_phase, doc="refrigerant in")
    B = Port(two_phase, doc="refrigerant out")
    C = Port(thermal_liquid, doc="water in")
    D = Port(thermal_liquid, doc="water out")
    length = Parameter("20 m", above=0, doc="Length")
    pressure = Parameter("1 MPa", above=0, doc="Pressure of the refrigerant at the start")
    enthalpy = Parameter("250 kJ/kg", doc="Specific enthalpy of the refrigerant at the start")

    def compose(self):
        n = 10
        self.refrigerant = Pipe(count=n, length=self.length / n, area="0.8 cm^2",
                                hydraulic_diameter="5 mm", p_I=self.pressure, h_I=self.enthalpy)
        self.wall = ThermalMass(count=n, mass="0.5 kg", specific_heat="390 J/(kg*K)", T="290 K")
        self.water = WaterPipe(count=n, length=self.length / n, area="2 cm^2",
                               hydraulic_diameter="4 mm", dynamic_compressibility=False)
        self.connect(self.A, self.refrigerant[0].A)
        self.connect(self.refrigerant[:-1].B, self.refrigerant[1:].A)
        self.connect(self.refrigerant[-1].B, self.B)
        self.connect(self.C, self.water[-1].A)
        self.connect(self.water[1:].B, self.water[:-1].A)
        self.connect(self.water[0].B, self.D)
        self.connect(self.refrigerant.H, self.wall.M, self.water.H)


model = Model("heat pump")
model.fluid = TwoPhaseFluidProperties(medium="R134a")
model.condenser = Exchanger(pressure="0.55 MPa", enthalpy="255 kJ/kg")
model.evaporator = Exchanger(pressure="0.5 MPa", enthalpy="290 kJ/kg")
model.compressor = FlowRateSource(flow_type="volumetric", port_area="0.8 cm^2", volume_flow=table(
    ["0 s", "60 s", "1000 s"], ["0.05 l/s", "0.7 l/s", "0.7 l/s"]))  # fmt: skip
model.valve = LocalRestriction(restriction_type="fixed", area="0.5 mm^2", port_area="0.8 cm^2")
model.sucked, model.pressed = ThermodynamicPropertiesSensor(), ThermodynamicPropertiesSensor()
model.condensed, model.expanded = ThermodynamicPropertiesSensor(), ThermodynamicPropertiesSensor()
model.connect(model.evaporator.B, model.compressor.A, model.sucked.A, model.fluid.A)
model.connect(model.compressor.B, model.condenser.A, model.pressed.A)
model.connect(model.condenser.B, model.valve.A, model.condensed.A)
model.connect(model.valve.B, model.evaporator.A, model.expanded.A)
for name, side, flow, cold in (("water", model.condenser, "0.1 kg/s", "30 degC"),
                               ("brine", model.evaporator, "0.1 kg/s", "8 degC")):
    source = model.add(name, Tank(temperature=cold))
    pump = model.add(f"{name}_pump", Pump(mass_flow=flow))
    sink = model.add(f"{name}_back", Tank(temperature=cold))
    model.connect(source.A, pump.A)
    model.connect(pump.B, side.C)
    model.connect(side.D, sink.A)

result = model.simulate("1000 s")
print(result.energy())

# the ideal cycle between the two pressures: saturated vapour in, saturated liquid out
low, high = result["sucked.A.p"].final, result["pressed.A.p"].final
ideal = Model("ideal cycle")
ideal.fluid = TwoPhaseFluidProperties(medium="R134a")
ideal.vapour = Reservoir(pressure_spec="specified", pressure=low, energy_spec="quality", quality=1)
ideal.compressor = FlowRateSource(mass_flow="10 g/s")
ideal.tank = Reservoir(pressure_spec="specified", pressure=high, energy_spec="quality", quality=1)
ideal.before, ideal.behind = ThermodynamicPropertiesSensor(), ThermodynamicPropertiesSensor()
ideal.ends = SaturationPropertiesSensor()
ideal.connect(ideal.vapour.A, ideal.compressor.A, ideal.before.A, ideal.fluid.A)
ideal.connect(ideal.compressor.B, ideal.tank.A, ideal.behind.A, ideal.ends.A)
by_hand = ideal.simulate("1 s")
h = [by_hand[name].final for name in ("before.H", "behind.H", "ends.HL")]
best = ((h[1] - h[2]) / (h[1] - h[0])).m

heat = (result["pressed.H"].final - result["condensed.H"].final) * result["compressor.mdot"].final
power = result["compressor.power_supplied"].final
performance = (heat / power).to("").m
# By CoolProp: (421.3 - 248.5)/(421.3 - 399.2) = 7.82 from 0.303 MPa to 0.879 MPa.
print(f"heat to the water {heat.to('kW'):.2f~P}, compressor {power.to('W'):.0f~P}: coefficient of "
      f"performance {performance:.2f}, ideal cycle {best:.2f}")

# the dome of the diagram: saturated liquid and vapour from 0.1 MPa to 3.4 MPa
dome = Model("dome")
dome.fluid, dome.ends = TwoPhaseFluidProperties(medium="R134a"), SaturationPropertiesSensor()
pressures = [f"{p:.4f} MPa" for p in np.geomspace(0.1, 3.4, 60)]
dome.tank = Reservoir(pressure_spec="specified", energy_spec="quality",
                      pressure=table([f"{k} s" for k in range(60)], pressures))
dome.connect(dome.tank.A, dome.ends.A, dome.fluid.A)
line = dome.simulate("59 s")

figure, axes = pyplot.subplots(figsize=(8, 5))
p = line["tank.A.p"].to("MPa").m
for end in ("HL", "HV"):
    axes.plot(line[f"ends.{end}"].to("kJ/kg").m, p, color="tab:gray")
for seconds in (30, 60, 120, 1000):
    way = [f"condenser.refrigerant[{k}]" for k in range(10)]
    back = [f"evaporator.refrigerant[{k}]" for k in range(10)]
    at = f"{seconds} s"
    places = [("pressed.H", "pressed.A.p"), *((f"{x}.h_I", f"{x}.p_I") for x in way),
              ("condensed.H", "condensed.A.p"), ("expanded.H", "expanded.A.p"),
              *((f"{x}.h_I", f"{x}.p_I") for x in back), ("sucked.H", "sucked.A.p"),
              ("pressed.H", "pressed.A.p")]
    axes.plot([result[h].at(at).to("kJ/kg").m for h, _ in places],
              [result[p].at(at).to("MPa").m for _, p in places], marker=".", label=at)
axes.set(yscale="log", xlabel="specific enthalpy [kJ/kg]", ylabel="pressure [MPa]",
         title="R134a in the p-h diagram")
axes.legend()
show(figure, "heat_pump")
