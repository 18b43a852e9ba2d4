"""Converted from gas_piston_work.slx, R2022b.

Run the model
1) Double-click on the Scope block.
2) Click "Run" in the Simulate section of the Toolstrip.
3) Observe the output in the scope. Does the piston position,
volume, and pressure match what you expect?
Explore the model
1) Find the Perfect Insulator block.
2) Find the Gas Properties block.
3) Find the Translational Mechanical Converter block.
4) Find the Ideal Translational Velocity Source block.
5) Find two Mechanical Translational Reference blocks
6) Find the Constant Volume Chamber block.
7) Find the Scope block.
Change the model
1) Replace the Sine wave input with XXX.
2) Create an output on the scope for Temperature.
3) Add...
"""

from blocks import Component, Model, Output, Port
from library.gas import (
    AbsoluteReference,
    ConstantVolumeChamber,
    FlowRateSensor,
    GasProperties,
    PressureTemperatureSensor,
    ThermodynamicPropertiesSensor,
    TranslationalMechanicalConverter,
    gas,
)
from library.signal import Abs, Constant, Divide, Gain, Sine, Sum, TransferFunction
from library.thermal import PerfectInsulator
from library.translational import MotionSensor, Reference, VelocitySource, translational


class MechMeasurements(Component):
    """Mech Measurements."""

    To_Piston = Port(translational)
    Position_m = Output("")  # Position (m)

    def compose(self):
        self.ideal_translational_motion_sensor = MotionSensor()
        self.mechanical_translational_reference2 = Reference()
        self.ps_simulink_converter4 = Gain(input="m", gain="1 1/m")

        self.connect(
            self.mechanical_translational_reference2.V,
            self.ideal_translational_motion_sensor.C,
        )
        self.connect(self.ideal_translational_motion_sensor.R, self.To_Piston)
        self.connect(self.ideal_translational_motion_sensor.P, self.ps_simulink_converter4.u)
        self.connect(self.ps_simulink_converter4.y, self.Position_m)


class ThermoMeasurements(Component):
    """Thermo Measurements."""

    To_Piston_Chamber = Port(gas)
    To_Control_Volume = Port(gas)
    Press_Out = Output("")
    Vol_Out = Output("")

    def compose(self):
        self.absolute_reference_g = AbsoluteReference()  # Absolute Reference (G)
        self.mass_energy_flow_rate_sensor_g = FlowRateSensor()  # Mass & Energy Flow Rate Sensor (G)
        # Pressure & Temperature Sensor (G)
        self.pressure_temperature_sensor_g = PressureTemperatureSensor()
        # Thermodynamic Properties Sensor (G)
        self.thermodynamic_properties_sensor_g = ThermodynamicPropertiesSensor(
            reference_entropy="3.8635 kJ/(K*kg)",
            reference_pressure="0.101325 MPa",
            reference_temperature="293.15 K",
        )
        self.abs_ = Abs()
        self.constant = Constant(value=0.00501)
        self.divide1 = Divide()
        self.integrator = TransferFunction(numerator=[1], denominator=[1, 0])
        self.plus = Sum(signs="++")
        self.ps_simulink_converter = Gain(input="Pa", gain="1 1/Pa")
        self.ps_simulink_converter3 = Gain(input="kg/s", gain="1 1/(kg/s)")
        self.ps_simulink_converter4 = Gain(input="kg/m^3", gain="1 1/(kg/m^3)")

        self.connect(
            self.mass_energy_flow_rate_sensor_g.A,
            self.thermodynamic_properties_sensor_g.A,
            self.pressure_temperature_sensor_g.A,
            self.To_Piston_Chamber,
        )
        self.connect(self.absolute_reference_g.A, self.pressure_temperature_sensor_g.B)
        self.connect(self.mass_energy_flow_rate_sensor_g.B, self.To_Control_Volume)
        self.connect(self.pressure_temperature_sensor_g.P, self.ps_simulink_converter.u)
        self.connect(self.mass_energy_flow_rate_sensor_g.M, self.ps_simulink_converter3.u)
        self.connect(self.thermodynamic_properties_sensor_g.RHO, self.ps_simulink_converter4.u)
        self.connect(self.integrator.y, self.abs_.u)
        self.connect(self.ps_simulink_converter3.y, self.integrator.u)
        self.connect(self.abs_.y, self.divide1.u1)
        self.connect(self.ps_simulink_converter4.y, self.divide1.u2)
        self.connect(self.ps_simulink_converter.y, self.Press_Out)
        self.connect(self.divide1.y, self.plus.u1)
        self.connect(self.plus.y, self.Vol_Out)
        self.connect(self.constant.y, self.plus.u2)


def build() -> Model:
    """The model gas_piston_work."""
    model = Model("gas_piston_work")
    # Constant Volume Chamber (G)
    model.constant_volume_chamber_g = ConstantVolumeChamber(
        volume="0.005 m^3",
        port_area="0.01 m^2",
    )
    # Gas Properties (G)
    model.gas_properties_g = GasProperties(
        gas_constant="0.287 kJ/(K*kg)",
        compressibility_factor=1,
        reference_temperature="293.15 K",
        reference_enthalpy="420 kJ/kg",
        specific_heat="1 kJ/(K*kg)",
        viscosity="18 s*uPa",
        conductivity="26 mW/(K*m)",
        minimum_pressure="1 Pa",
        atmospheric_pressure="0.101325 MPa",
    )
    model.ideal_translational_velocity_source = VelocitySource()
    model.mech_measurements = MechMeasurements()
    model.mechanical_translational_reference = Reference()
    model.mechanical_translational_reference1 = Reference()
    model.perfect_insulator = PerfectInsulator()
    model.thermo_measurements = ThermoMeasurements()
    # Translational Mechanical Converter (G)
    model.translational_mechanical_converter_g = TranslationalMechanicalConverter(
        interface_area="0.01 m^2",
        dead_volume="1e-5 m^3",
        port_area="0.01 m^2",
    )
    model.sine_wave = Sine(amplitude="1 m/s", frequency="0.25 Hz")

    model.connect(
        model.thermo_measurements.To_Piston_Chamber,
        model.translational_mechanical_converter_g.A,
        model.gas_properties_g.A,
    )
    model.connect(
        model.perfect_insulator.A,
        model.translational_mechanical_converter_g.H,
        model.constant_volume_chamber_g.H,
    )
    model.connect(
        model.mechanical_translational_reference.V,
        model.translational_mechanical_converter_g.C,
    )
    model.connect(
        model.mechanical_translational_reference1.V,
        model.ideal_translational_velocity_source.C,
    )
    model.connect(
        model.ideal_translational_velocity_source.R,
        model.mech_measurements.To_Piston,
        model.translational_mechanical_converter_g.R,
    )
    model.connect(model.thermo_measurements.To_Control_Volume, model.constant_volume_chamber_g.A)
    model.connect(model.sine_wave.y, model.ideal_translational_velocity_source.S)
    return model


if __name__ == "__main__":
    result = build().simulate("10.0 s")
    figure = result.plot(
        "thermo_measurements.pressure_temperature_sensor_g.P",
        "thermo_measurements.ps_simulink_converter.y",
        "thermo_measurements.plus.y",
        "mech_measurements.ps_simulink_converter4.y",
    )
    figure.savefig("gas_piston_work.png", bbox_inches="tight")
    table = result.table(
        "thermo_measurements.pressure_temperature_sensor_g.P",
        "thermo_measurements.ps_simulink_converter.y",
        "thermo_measurements.plus.y",
        "mech_measurements.ps_simulink_converter4.y",
        every="1 s",
    )
    print(table.to_string())
