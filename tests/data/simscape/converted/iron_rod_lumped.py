"""Converted from iron_rod_lumped.slx, R2024b.

1. Look underneath the Rod subsystem.
3. Run the model and check the rod's temperature and heat flow rate.
Do their dynamics match your expectations?
"""

import numpy as np

from blocks import Component, Input, Model, Output, Port, quantity
from library.signal import Gain
from library.thermal import (
    ConductiveHeatTransfer,
    ConvectiveHeatTransfer,
    HeatFlowRateSensor,
    TemperatureSensor,
    TemperatureSource,
    ThermalMass,
    thermal,
)

# values: PreLoadFcn
D = 0.025  # [m]
L = 0.2  # [m]
A = np.pi * D**2 / 4  # [m^2]
A_cyl = np.pi * D * L  # [m^2]
k = 80.2  # [W/(K*m)]
h = 32.1  # [W/(K*m)]
m = 7800 * A * L  # [kg]
c = 447  # [J/kg/K]
T_air = 20  # [degC]
T_base = 100  # [degC]
T_init = 20  # [degC]


class FromC(Component):
    """The number of a temperature in degC."""

    u = Input("K")
    y = Output("")

    def equations(self):
        yield self.y == self.u / quantity(1, "K") - 273.15


class TemperatureSensor2(Component):
    """Temperature Sensor."""

    A = Port(thermal)
    T_L = Output("")

    def compose(self):
        self.temperature_sensor = TemperatureSensor(reference="absolute")
        self.pss = FromC()

        self.connect(self.temperature_sensor.A, self.A)
        self.connect(self.temperature_sensor.T, self.pss.u)
        self.connect(self.pss.y, self.T_L)


class Rod(Component):
    """Rod.

    2. Does this model match your nodal model of the system?
    """

    Base = Port(thermal)
    Cyl = Port(thermal)
    Tip = Port(thermal)
    T_L = Output("")

    def compose(self):
        self.conduction1a = ConductiveHeatTransfer(
            area=quantity(A, "m^2"),
            thickness=quantity(L / 2, "m"),
            thermal_conductivity=quantity(k, "W/(m*K)"),
        )
        self.conduction1b = ConductiveHeatTransfer(
            area=quantity(A, "m^2"),
            thickness=quantity(L / 2, "m"),
            thermal_conductivity=quantity(k, "W/(m*K)"),
        )
        self.convection_cyl = ConvectiveHeatTransfer(
            area=quantity(A_cyl, "m^2"),
            heat_transfer_coefficient=quantity(h, "W/(m^2*K)"),
        )
        self.convection_end = ConvectiveHeatTransfer(
            area=quantity(A, "m^2"),
            heat_transfer_coefficient=quantity(h, "W/(m^2*K)"),
        )
        self.temperature_sensor = TemperatureSensor2()
        self.thermal_mass = ThermalMass(
            mass=quantity(m, "kg"),
            specific_heat=quantity(c, "J/kg/K"),
            T=quantity(T_init, "degC"),
        )

        self.connect(self.conduction1a.A, self.Base)
        self.connect(self.convection_cyl.B, self.Cyl)
        self.connect(self.conduction1b.B, self.convection_end.A)
        self.connect(
            self.conduction1a.B,
            self.conduction1b.A,
            self.thermal_mass.M,
            self.convection_cyl.A,
            self.temperature_sensor.A,
        )
        self.connect(self.convection_end.B, self.Tip)
        self.connect(self.temperature_sensor.T_L, self.T_L)


class Sensor(Component):
    """Sensor."""

    A = Port(thermal)
    B = Port(thermal)
    Q_B = Output("")

    def compose(self):
        self.heat_flow_rate_sensor = HeatFlowRateSensor()
        self.pss = Gain(input="W", gain="1 1/W")

        self.connect(self.heat_flow_rate_sensor.A, self.A)
        self.connect(self.heat_flow_rate_sensor.B, self.B)
        self.connect(self.heat_flow_rate_sensor.H, self.pss.u)
        self.connect(self.pss.y, self.Q_B)


def build() -> Model:
    """The model iron_rod_lumped."""
    model = Model("iron_rod_lumped")
    model.ambient_temperature = TemperatureSource(temperature=quantity(T_air, "degC"))
    model.base_temperature = TemperatureSource(temperature=quantity(T_base, "degC"))
    model.rod = Rod()
    model.sensor = Sensor()

    model.connect(model.ambient_temperature.A, model.rod.Cyl, model.rod.Tip)
    model.connect(model.sensor.B, model.rod.Base)
    model.connect(model.sensor.A, model.base_temperature.A)
    return model


if __name__ == "__main__":
    result = build().simulate("2500 s", max_step="100 s")
    figure = result.plot("rod.temperature_sensor.pss.y", "sensor.pss.y")
    figure.savefig("iron_rod_lumped.png", bbox_inches="tight")
    table = result.table("rod.temperature_sensor.pss.y", "sensor.pss.y", every="250 s")
    print(table.to_string())
