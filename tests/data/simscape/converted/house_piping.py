"""Converted from house_piping.slx, R2023a.

The model asks to start from steady state; here it starts from its initial targets, unless
simulate() is given start_from='steady state'.

Instruction:
The washer was added, and should fill up as the shower are running.
Simulate for 30 seconds.
Use the Simscape Results in the REVIEW RESULTS toolstrip above to check the mass flow and
temperature of the shower while the washer fills up.
"""

import numpy as np

from blocks import Component, Input, Model, Output, Parameter, Port, quantity
from library.signal import Constant, Gain, Maximum, Minimum, Ramp, Sum
from library.thermal import PerfectInsulator, thermal

# values: model workspace
D_pipe = 0.5


class ReservoirTL(Component):
    """A gap: foundation.thermal_liquid.elements.reservoir has no counterpart here."""

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for foundation.thermal_liquid.elements.reservoir, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class ElbowTL(Component):
    """A gap: fluids.thermal_liquid.pipes_fittings.elbow has no counterpart here."""

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.pipes_fittings.elbow, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class FlowRateSensorTL(Component):
    """A gap: foundation.thermal_liquid.sensors.flow_sensor has no counterpart here."""

    M = Output("")

    def equations(self):
        yield self.M == 0

    def advise(self):
        yield (
            "stands for foundation.thermal_liquid.sensors.flow_sensor, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class PressureTemperatureSensorTL(Component):
    """A gap: foundation.thermal_liquid.sensors.pressure_temperature_sensor has no counterpart
    here.
    """

    Pa = Output("")
    T = Output("")

    def equations(self):
        yield self.Pa == 0
        yield self.T == 0

    def advise(self):
        yield (
            "stands for foundation.thermal_liquid.sensors.pressure_temperature_sensor, which "
            "has no counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class OrificeTL(Component):
    """A gap: fluids.thermal_liquid.valves.orifice has no counterpart here."""

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.valves.orifice, which has no counterpart here: it "
            "lets next to nothing pass, and its outputs are 0."
        )


class PipeTL(Component):
    """A gap: fluids.thermal_liquid.pipes_fittings.pipe has no counterpart here."""

    H = Port(thermal)
    thermal_leak = Parameter("1e-6 W/K")

    def equations(self):
        yield self.thermal_leak * (self.H.T - quantity("293.15 K")) == self.H.Q

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.pipes_fittings.pipe, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class PressureSourceTL(Component):
    """A gap: foundation.thermal_liquid.sources.pressure_source has no counterpart here."""

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for foundation.thermal_liquid.sources.pressure_source, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class LocalRestrictionTL(Component):
    """A gap: foundation.thermal_liquid.elements.local_restriction has no counterpart here."""

    area_in = Input("in^2")

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for foundation.thermal_liquid.elements.local_restriction, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class TJunctionTL(Component):
    """A gap: fluids.thermal_liquid.pipes_fittings.t_junction has no counterpart here."""

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.pipes_fittings.t_junction, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class ThermalLiquidSettingsTL(Component):
    """A gap: foundation.thermal_liquid.utilities.thermal_liquid_settings has no counterpart here.
    """

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for foundation.thermal_liquid.utilities.thermal_liquid_settings, which has "
            "no counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class FirstFloorShower(Component):
    """First Floor Shower."""

    def compose(self):
        self.drain = ReservoirTL()
        self.flow_rate_sensor_tl_1 = FlowRateSensorTL()  # Flow Rate Sensor (TL)1
        # Pressure & Temperature Sensor (TL)1
        self.pressure_temperature_sensor_tl_1 = PressureTemperatureSensorTL()
        self.shower_head_orifice = OrificeTL()


class SecondFloorShower(Component):
    """Second Floor Shower."""

    def compose(self):
        self.drain = ReservoirTL()
        self.flow_rate_sensor_tl_1 = FlowRateSensorTL()  # Flow Rate Sensor (TL)1
        # Pressure & Temperature Sensor (TL)1
        self.pressure_temperature_sensor_tl_1 = PressureTemperatureSensorTL()
        self.shower_head_orifice = OrificeTL()


class ControlValve(Component):
    """Control Valve."""

    AR = Output("in^2")

    def compose(self):
        self.ps_add = Sum()
        self.ps_constant = Constant(value=1)
        self.ps_constant1 = Constant(value=-1)
        self.ps_constant2 = Constant(value=1.0e-6)
        self.ps_gain = Gain(gain=quantity(0.1 * np.pi * D_pipe**2 / 4, "in^2"))
        self.ps_max = Maximum()
        self.ps_max1 = Maximum()
        self.ps_min = Minimum()
        self.ps_ramp = Ramp(slope="-1 1/s", start="8 s")
        self.ps_ramp1 = Ramp(slope="1 1/s", start="2 s")

        self.connect(self.ps_constant1.y, self.ps_max.u1)
        self.connect(self.ps_ramp.y, self.ps_max.u2)
        self.connect(self.ps_constant.y, self.ps_min.u1)
        self.connect(self.ps_ramp1.y, self.ps_min.u2)
        self.connect(self.ps_max.y, self.ps_add.u1)
        self.connect(self.ps_min.y, self.ps_add.u2)
        self.connect(self.ps_add.y, self.ps_max1.u2)
        self.connect(self.ps_constant2.y, self.ps_max1.u1)
        self.connect(self.ps_max1.y, self.ps_gain.u)
        self.connect(self.ps_gain.y, self.AR)


class Subsystem(Component):
    """Subsystem."""

    def compose(self):
        self.control_valve = ControlValve()
        self.local_restriction_tl = LocalRestrictionTL()  # Local Restriction (TL)
        self.wd = ReservoirTL()

        self.connect(self.control_valve.AR, self.local_restriction_tl.area_in)


def build() -> Model:
    """The model house_piping."""
    model = Model("house_piping")
    model.cold_water_main = ReservoirTL()
    model.ec1 = ElbowTL()
    model.ec2 = ElbowTL()
    model.ec3 = ElbowTL()
    model.eh1 = ElbowTL()
    model.eh2 = ElbowTL()
    model.first_floor_shower = FirstFloorShower()
    model.hot_water_main = ReservoirTL()
    model.perfect_insulator = PerfectInsulator()
    model.perfect_insulator1 = PerfectInsulator()
    model.perfect_insulator2 = PerfectInsulator()
    model.perfect_insulator3 = PerfectInsulator()
    model.perfect_insulator4 = PerfectInsulator()
    model.pipe_tl = PipeTL()  # Pipe (TL)
    model.pipe_tl_1 = PipeTL()  # Pipe (TL)1
    model.pipe_tl_2 = PipeTL()  # Pipe (TL)2
    model.pipe_tl_3 = PipeTL()  # Pipe (TL)3
    model.pipe_tl_4 = PipeTL()  # Pipe (TL)4
    model.pressure_source_tl = PressureSourceTL()  # Pressure Source (TL)
    model.second_floor_shower = SecondFloorShower()
    model.subsystem = Subsystem()
    model.tc1 = TJunctionTL()
    model.tc2 = TJunctionTL()
    model.th1 = TJunctionTL()
    model.tm1 = TJunctionTL()
    model.tm2 = TJunctionTL()
    model.water = ThermalLiquidSettingsTL()

    model.connect(model.pipe_tl_3.H, model.perfect_insulator3.A)
    model.connect(model.perfect_insulator2.A, model.pipe_tl_2.H)
    model.connect(model.perfect_insulator.A, model.pipe_tl.H)
    model.connect(model.perfect_insulator1.A, model.pipe_tl_1.H)
    model.connect(model.perfect_insulator4.A, model.pipe_tl_4.H)
    return model


if __name__ == "__main__":
    result = build().simulate("30 s")
    figure = result.plot(
        "first_floor_shower.flow_rate_sensor_tl_1.M",
        "first_floor_shower.pressure_temperature_sensor_tl_1.Pa",
        "first_floor_shower.pressure_temperature_sensor_tl_1.T",
        "second_floor_shower.flow_rate_sensor_tl_1.M",
        "second_floor_shower.pressure_temperature_sensor_tl_1.Pa",
        "second_floor_shower.pressure_temperature_sensor_tl_1.T",
    )
    figure.savefig("house_piping.png", bbox_inches="tight")
    table = result.table(
        "first_floor_shower.flow_rate_sensor_tl_1.M",
        "first_floor_shower.pressure_temperature_sensor_tl_1.Pa",
        "first_floor_shower.pressure_temperature_sensor_tl_1.T",
        "second_floor_shower.flow_rate_sensor_tl_1.M",
        "second_floor_shower.pressure_temperature_sensor_tl_1.Pa",
        "second_floor_shower.pressure_temperature_sensor_tl_1.T",
        every="3 s",
    )
    print(table.to_string())
