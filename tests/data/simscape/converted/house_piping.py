"""Converted from house_piping.slx, R2023a.

The model asks to start from steady state; here it starts from its initial targets, unless
simulate() is given initial='steady state'.

Instruction:
The washer was added, and should fill up as the shower are running.
Simulate for 30 seconds.
Use the Simscape Results in the REVIEW RESULTS toolstrip above to check the mass flow and
temperature of the shower while the washer fills up.
"""

import numpy as np

from blocks import Component, Model, Output, Parameter, Port, quantity
from library.signal import Constant, Gain, Maximum, Minimum, Ramp, Sum
from library.thermal import PerfectInsulator, thermal
from library.thermal_liquid import (
    FlowRateSensor,
    LocalRestriction,
    PressureSource,
    PressureTemperatureSensor,
    Reservoir,
    ThermalLiquidSettings,
    thermal_liquid,
)

# values: model workspace
D_pipe = 0.5


class ElbowTL(Component):
    """A gap: fluids.thermal_liquid.pipes_fittings.elbow has no counterpart here.

    It holds as well: elbow_type = fluids.thermal_liquid.pipes_fittings.enum.ElbowType.Smooth.

    A component of yours takes its place:
    library.simscape.add_counterpart('fluids.thermal_liquid.pipes_fittings.elbow',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    A = Port(thermal_liquid)
    B = Port(thermal_liquid)
    thermal_liquid_leak = Parameter("1e-6 kg/s/MPa")
    diameter_elbow = Parameter(quantity(D_pipe, "in"))
    angle_elbow = Parameter("90 deg")
    Re_c = Parameter(150)

    def equations(self):
        yield self.thermal_liquid_leak * (self.A.p - quantity("0.101325 MPa")) == self.A.mdot
        yield quantity("1e-3 W/K") * (self.A.T - quantity("293.15 K")) == self.A.Phi
        yield self.thermal_liquid_leak * (self.B.p - quantity("0.101325 MPa")) == self.B.mdot
        yield quantity("1e-3 W/K") * (self.B.T - quantity("293.15 K")) == self.B.Phi

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.pipes_fittings.elbow, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class OrificeTL(Component):
    """A gap: fluids.thermal_liquid.valves.orifice has no counterpart here.

    It holds as well: orifice_type = foundation.enum.constant_variable.constant;
    constant_orifice_spec = fluids.thermal_liquid.valves.enum.ConstantOrificeSpec.Area;
    variable_orifice_spec = fluids.thermal_liquid.valves.enum.orifice_spec.linear;
    open_orientation = fluids.thermal_liquid.valves.enum.orifice_orientation.positi …;
    pressure_recovery = simscape.enum.onoff.off.

    A component of yours takes its place:
    library.simscape.add_counterpart('fluids.thermal_liquid.valves.orifice', YourComponent,
    parameters={…}, ports={…}) in the module of repairs.
    """

    A = Port(thermal_liquid)
    B = Port(thermal_liquid)
    thermal_liquid_leak = Parameter("1e-6 kg/s/MPa")
    orifice_area_constant = Parameter(quantity(75 * np.pi * 0.2**2, "mm^2"))
    p_diff_TLU_constant = Parameter(quantity([-4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4], "MPa"))
    vol_flow_TLU_constant = Parameter(
        quantity([-0.00244, -0.0021200000000000004, -0.00168, -0.00122, -0.00084, 0, 0.00085,
            0.00121, 0.0017, 0.00209, 0.0024100000000000002], "m^3/s"),
    )
    mdot_TLU_constant = Parameter(
        quantity([-2.44, -2.12, -1.68, -1.22, -0.84, 0, 0.85, 1.21, 1.7, 2.09, 2.41], "kg/s"),
    )
    S_min = Parameter("0 m")
    del_S = Parameter("5e-3 m")
    area_max = Parameter("1e-4 m^2")
    area_leak = Parameter("1e-10 m^2")
    S_TLU = Parameter(quantity([0, 0.002, 0.004, 0.007, 0.017], "m"))
    orifice_area_TLU = Parameter(
        quantity([1e-09, 2.0352e-07, 4.0736e-05, 0.00011438, 0.00034356], "m^2"),
    )
    Cd = Parameter(0.64)
    Re_c = Parameter(150)
    smoothing_factor = Parameter(0.01)
    S_flow_TLU = Parameter(quantity([0, 0.002, 0.004, 0.007, 0.017], "m"))
    p_diff_TLU = Parameter(quantity([0.3, 0.5, 0.7], "MPa"))
    vol_flow_TLU = Parameter(
        quantity([[1.7e-08, 2e-08, 2.5999999999999998e-08], [3.5e-06, 4.5e-06, 5.3e-06], [0.0007,
            0.0009000000000000001, 0.0010600000000000002], [0.00196, 0.0025, 0.003], [0.006, 0.0077,
            0.009130000000000001]], "m^3/s"),
    )
    mdot_TLU = Parameter(
        quantity([[1.7e-05, 2e-05, 2.6e-05], [0.0035, 0.0045, 0.0053], [0.7, 0.9, 1.06], [1.96, 2.5,
            3], [6, 7.7, 9.13]], "kg/s"),
    )
    T_ref_in = Parameter("293.15 K")
    p_ref_in = Parameter("0.101325 MPa")
    area = Parameter(quantity(np.pi * D_pipe**2 / 4, "in^2"))

    def equations(self):
        yield self.thermal_liquid_leak * (self.A.p - quantity("0.101325 MPa")) == self.A.mdot
        yield quantity("1e-3 W/K") * (self.A.T - quantity("293.15 K")) == self.A.Phi
        yield self.thermal_liquid_leak * (self.B.p - quantity("0.101325 MPa")) == self.B.mdot
        yield quantity("1e-3 W/K") * (self.B.T - quantity("293.15 K")) == self.B.Phi

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.valves.orifice, which has no counterpart here: it "
            "lets next to nothing pass, and its outputs are 0."
        )


class PipeTL(Component):
    """A gap: fluids.thermal_liquid.pipes_fittings.pipe has no counterpart here.

    Simscape's Pipe (TL) is Pipe in library.thermal_liquid. Give it the stub's values by hand:
    which parameter there each of them is, is not known here.

    It holds as well: cross_section_geometry =
    fluids.thermal_liquid.pipes_fittings.enum.CrossSectionGeomet …; wall_spec =
    fluids.thermal_liquid.pipes_fittings.enum.wall_spec.rigid; elevation_spec =
    foundation.enum.constant_variable.constant; pressure_loss_spec =
    fluids.thermal_liquid.pipes_fittings.enum.PressureLossSpec.H …; local_pressure_loss_spec =
    fluids.thermal_liquid.pipes_fittings.enum.LocalLossSpec.Aggr …; roughness_spec =
    fluids.thermal_liquid.pipes_fittings.enum.RoughnessSpec.Comm …; heat_transfer_spec =
    fluids.thermal_liquid.pipes_fittings.enum.HeatTransferSpec.G ….

    A component of yours takes its place:
    library.simscape.add_counterpart('fluids.thermal_liquid.pipes_fittings.pipe', YourComponent,
    parameters={…}, ports={…}) in the module of repairs.
    """

    A = Port(thermal_liquid)
    H = Port(thermal)
    B = Port(thermal_liquid)
    thermal_liquid_leak = Parameter("1e-6 kg/s/MPa")
    thermal_leak = Parameter("1e-6 W/K")
    dynamic_compressibility = Parameter(1.0)
    inertia = Parameter(0.0)
    num_segments = Parameter(1)
    pipe_length = Parameter("2.5 m")
    pipe_diameter = Parameter(quantity(D_pipe, "in"))
    pipe_inner_diameter = Parameter("0.05 m")
    pipe_outer_diameter = Parameter("0.1 m")
    pipe_width = Parameter("0.1 m")
    pipe_height = Parameter("0.1 m")
    pipe_major_axis = Parameter("0.1 m")
    pipe_minor_axis = Parameter("0.05 m")
    pipe_side = Parameter("0.1 m")
    pipe_angle = Parameter("30 deg")
    area = Parameter("0.01 m^2")
    Dh = Parameter("0.1128 m")
    wall_compliance = Parameter("1.2e-6 m/MPa")
    wall_time_constant = Parameter("0.01 s")
    elevation_gain = Parameter("2.5 m")
    g = Parameter("9.81 m/s^2")
    length_add = Parameter("1 m")
    loss_coefficient = Parameter(0.1)
    roughness = Parameter("15e-6 m")
    Re_friction_TLU = Parameter(
        [400, 1000, 1500, 3000, 4000, 6000, 10000, 20000, 40000, 60000, 100000, 100000000],
    )
    friction_factor_TLU = Parameter(
        [0.264, 0.112, 0.071, 0.0417, 0.0387, 0.0268, 0.025, 0.0232, 0.0226, 0.022, 0.0214, 0.0214],
    )
    shape_factor = Parameter(64)
    Re_lam = Parameter(2000)
    Re_tur = Parameter(4000)
    mdot_nominal = Parameter(quantity([0.1, 1], "kg/s"))
    p_diff_nominal = Parameter(quantity([0.001, 0.01], "MPa"))
    mdot_threshold = Parameter("1e-6 kg/s")
    mdot_nominal_heat = Parameter(quantity([0.1, 1], "kg/s"))
    T_in_nominal = Parameter(quantity([293.15, 293.15], "K"))
    T_out_nominal = Parameter(quantity([300, 300], "K"))
    p_in_nominal_heat = Parameter(quantity([0.101325, 0.101325], "MPa"))
    T_wall_nominal = Parameter(quantity([303.15, 303.15], "K"))
    a_coeff = Parameter(0.023)
    b_Re_power = Parameter(0.8)
    c_Pr_power = Parameter(0.4)
    Nu_lam = Parameter(3.66)
    Re_Colburn_TLU = Parameter([100, 150, 1000])
    Colburn_factor_TLU = Parameter([0.019, 0.013, 0.002])
    Re_Nu_TLU = Parameter([100, 150, 1000])
    Pr_Nu_TLU = Parameter([1, 10])
    Nu_TLU = Parameter([[3.72, 4.21], [3.75, 4.44], [4.21, 7.15]])
    p0_vec = Parameter("0.101325 MPa")
    T0_vec = Parameter("293.15 K")
    mdot0 = Parameter("0.1 kg/s")

    def equations(self):
        yield self.thermal_liquid_leak * (self.A.p - quantity("0.101325 MPa")) == self.A.mdot
        yield quantity("1e-3 W/K") * (self.A.T - quantity("293.15 K")) == self.A.Phi
        yield self.thermal_leak * (self.H.T - quantity("293.15 K")) == self.H.Q
        yield self.thermal_liquid_leak * (self.B.p - quantity("0.101325 MPa")) == self.B.mdot
        yield quantity("1e-3 W/K") * (self.B.T - quantity("293.15 K")) == self.B.Phi

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.pipes_fittings.pipe, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class TJunctionTL(Component):
    """A gap: fluids.thermal_liquid.pipes_fittings.t_junction has no counterpart here.

    It holds as well: junction_spec =
    fluids.thermal_liquid.pipes_fittings.enum.TLossCoefficientMo ….

    A component of yours takes its place:
    library.simscape.add_counterpart('fluids.thermal_liquid.pipes_fittings.t_junction',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    A = Port(thermal_liquid)
    B = Port(thermal_liquid)
    C = Port(thermal_liquid)
    thermal_liquid_leak = Parameter("1e-6 kg/s/MPa")
    area_main = Parameter(quantity(np.pi * D_pipe**2 / 4, "in^2"))
    area_branch = Parameter(quantity(np.pi * D_pipe**2 / 4, "in^2"))
    k_main_converge = Parameter(1.12)
    k_main_diverge = Parameter(1.12)
    k_branch_converge = Parameter(1.12)
    k_branch_diverge = Parameter(1.12)
    radius = Parameter("0.001 m")
    Re_c = Parameter(150)
    saturation_ratio = Parameter(0.2)

    def equations(self):
        yield self.thermal_liquid_leak * (self.A.p - quantity("0.101325 MPa")) == self.A.mdot
        yield quantity("1e-3 W/K") * (self.A.T - quantity("293.15 K")) == self.A.Phi
        yield self.thermal_liquid_leak * (self.B.p - quantity("0.101325 MPa")) == self.B.mdot
        yield quantity("1e-3 W/K") * (self.B.T - quantity("293.15 K")) == self.B.Phi
        yield self.thermal_liquid_leak * (self.C.p - quantity("0.101325 MPa")) == self.C.mdot
        yield quantity("1e-3 W/K") * (self.C.T - quantity("293.15 K")) == self.C.Phi

    def advise(self):
        yield (
            "stands for fluids.thermal_liquid.pipes_fittings.t_junction, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class FirstFloorShower(Component):
    """First Floor Shower."""

    Inflow = Port(thermal_liquid)

    def compose(self):
        self.drain = Reservoir(
            temperature="293.15 K",
            port_area=quantity(np.pi * D_pipe**2 / 4, "in^2"),
        )
        self.flow_rate_sensor_tl_1 = FlowRateSensor()  # Flow Rate Sensor (TL)1
        # Pressure & Temperature Sensor (TL)1
        self.pressure_temperature_sensor_tl_1 = PressureTemperatureSensor(reference="absolute")
        self.shower_head_orifice = OrificeTL()

        self.connect(self.flow_rate_sensor_tl_1.B, self.drain.A)
        self.connect(self.flow_rate_sensor_tl_1.A, self.shower_head_orifice.B)
        self.connect(
            self.pressure_temperature_sensor_tl_1.A,
            self.shower_head_orifice.A,
            self.Inflow,
        )


class SecondFloorShower(Component):
    """Second Floor Shower."""

    Inflow = Port(thermal_liquid)

    def compose(self):
        self.drain = Reservoir(
            temperature="293.15 K",
            port_area=quantity(np.pi * D_pipe**2 / 4, "in^2"),
        )
        self.flow_rate_sensor_tl_1 = FlowRateSensor()  # Flow Rate Sensor (TL)1
        # Pressure & Temperature Sensor (TL)1
        self.pressure_temperature_sensor_tl_1 = PressureTemperatureSensor(reference="absolute")
        self.shower_head_orifice = OrificeTL()

        self.connect(self.flow_rate_sensor_tl_1.B, self.drain.A)
        self.connect(self.flow_rate_sensor_tl_1.A, self.shower_head_orifice.B)
        self.connect(
            self.pressure_temperature_sensor_tl_1.A,
            self.shower_head_orifice.A,
            self.Inflow,
        )


class ControlValve(Component):
    """Control Valve."""

    AR = Output("m^2")

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

    Conn1 = Port(thermal_liquid)

    def compose(self):
        self.control_valve = ControlValve()
        # Local Restriction (TL)
        self.local_restriction_tl = LocalRestriction(
            minimum_area="1e-10 in^2",
            maximum_area=quantity(np.pi * D_pipe**2 / 4, "in^2"),
            port_area=quantity(np.pi * D_pipe**2 / 4, "m^2"),
            discharge_coefficient=0.64,
            critical_reynolds=12,
        )
        self.wd = Reservoir(
            temperature="293.15 K",
            port_area=quantity(np.pi * D_pipe**2 / 4, "in^2"),
        )

        self.connect(self.local_restriction_tl.B, self.wd.A)
        self.connect(self.local_restriction_tl.A, self.Conn1)
        self.connect(self.control_valve.AR, self.local_restriction_tl.AR)


def build() -> Model:
    """The model house_piping."""
    model = Model("house_piping")
    model.cold_water_main = Reservoir(
        pressure_spec="specified",
        pressure="40 psi",
        temperature="5 degC",
        port_area=quantity(np.pi * D_pipe**2 / 4, "in^2"),
    )
    model.ec1 = ElbowTL()
    model.ec2 = ElbowTL()
    model.ec3 = ElbowTL()
    model.eh1 = ElbowTL()
    model.eh2 = ElbowTL()
    model.first_floor_shower = FirstFloorShower()
    model.hot_water_main = Reservoir(
        pressure_spec="specified",
        pressure="40 psi",
        temperature="60 degC",
        port_area=quantity(np.pi * D_pipe**2 / 4, "in^2"),
    )
    model.perfect_insulator = PerfectInsulator()
    model.perfect_insulator1 = PerfectInsulator()
    model.perfect_insulator2 = PerfectInsulator()
    model.perfect_insulator3 = PerfectInsulator()
    model.perfect_insulator4 = PerfectInsulator()
    model.pipe_tl = PipeTL()  # Pipe (TL)
    model.pipe_tl_1 = PipeTL()  # Pipe (TL)1
    model.pipe_tl_2 = PipeTL(pipe_length="5 m", elevation_gain="0 m")  # Pipe (TL)2
    model.pipe_tl_3 = PipeTL(pipe_length="5 m", elevation_gain="0 m")  # Pipe (TL)3
    model.pipe_tl_4 = PipeTL(pipe_length="5 m", elevation_gain="5 m")  # Pipe (TL)4
    # Pressure Source (TL)
    model.pressure_source_tl = PressureSource(
        pressure_difference="-10000 Pa",
        port_area=quantity(np.pi * D_pipe**2 / 4, "m^2"),
    )
    model.second_floor_shower = SecondFloorShower()
    model.subsystem = Subsystem()
    model.tc1 = TJunctionTL()
    model.tc2 = TJunctionTL()
    model.th1 = TJunctionTL()
    model.tm1 = TJunctionTL()
    model.tm2 = TJunctionTL()
    model.water = ThermalLiquidSettings(
        energy_spec="internal_energies",
        temperatures=quantity([273.16, 283.16, 293.16, 303.16, 313.16, 323.16, 333.16, 343.16,
            353.16, 363.16, 373.16], "K"),
        atmospheric_pressure="0.101325 MPa",
        minimum_pressure="0.05 MPa",
        densities=quantity([1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000],
            "kg/m^3"),
        bulk_moduli=quantity([2.1791], "GPa"),
        internal_energies=quantity([0.0018, 42.06, 83.948, 125.76, 167.56, 209.36, 251.19, 293.06,
            334.99, 377, 418.01], "kJ/kg"),
        viscosities=quantity([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "mm^2/s"),
        conductivities=quantity([600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 600],
            "mW/(K*m)"),
    )

    model.connect(model.water.A, model.ec1.A, model.cold_water_main.A)
    model.connect(model.ec2.A, model.ec1.B)
    model.connect(model.eh1.A, model.hot_water_main.A)
    model.connect(model.tc1.A, model.ec2.B)
    model.connect(model.th1.A, model.eh2.B)
    model.connect(model.second_floor_shower.Inflow, model.tm2.C)
    model.connect(model.pipe_tl.B, model.tc2.A)
    model.connect(model.pipe_tl.A, model.tc1.C)
    model.connect(model.tm1.A, model.ec3.B)
    model.connect(model.eh1.B, model.eh2.A)
    model.connect(model.tm1.B, model.pressure_source_tl.A)
    model.connect(model.first_floor_shower.Inflow, model.pressure_source_tl.B)
    model.connect(model.tm1.C, model.pipe_tl_2.B)
    model.connect(model.pipe_tl_3.H, model.perfect_insulator3.A)
    model.connect(model.perfect_insulator2.A, model.pipe_tl_2.H)
    model.connect(model.pipe_tl_2.A, model.th1.B)
    model.connect(model.pipe_tl_3.A, model.tc1.B)
    model.connect(model.ec3.A, model.pipe_tl_3.B)
    model.connect(model.perfect_insulator.A, model.pipe_tl.H)
    model.connect(model.perfect_insulator1.A, model.pipe_tl_1.H)
    model.connect(model.pipe_tl_1.A, model.tc2.B)
    model.connect(model.pipe_tl_1.B, model.tm2.B)
    model.connect(model.pipe_tl_4.A, model.th1.C)
    model.connect(model.pipe_tl_4.B, model.tm2.A)
    model.connect(model.perfect_insulator4.A, model.pipe_tl_4.H)
    model.connect(model.subsystem.Conn1, model.tc2.C)
    return model


if __name__ == "__main__":
    result = build().simulate("30 s")
    figure = result.plot(
        "first_floor_shower.flow_rate_sensor_tl_1.M",
        "first_floor_shower.pressure_temperature_sensor_tl_1.P",
        "first_floor_shower.pressure_temperature_sensor_tl_1.T",
        "second_floor_shower.flow_rate_sensor_tl_1.M",
        "second_floor_shower.pressure_temperature_sensor_tl_1.P",
        "second_floor_shower.pressure_temperature_sensor_tl_1.T",
    )
    figure.savefig("house_piping.png", bbox_inches="tight")
    table = result.table(
        "first_floor_shower.flow_rate_sensor_tl_1.M",
        "first_floor_shower.pressure_temperature_sensor_tl_1.P",
        "first_floor_shower.pressure_temperature_sensor_tl_1.T",
        "second_floor_shower.flow_rate_sensor_tl_1.M",
        "second_floor_shower.pressure_temperature_sensor_tl_1.P",
        "second_floor_shower.pressure_temperature_sensor_tl_1.T",
        every="3 s",
    )
    print(table.to_string())
