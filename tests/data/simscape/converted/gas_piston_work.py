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

from blocks import Component, Model, Output, Parameter, Port, quantity
from library.signal import Abs, Constant, Divide, Gain, Sine, Sum, TransferFunction
from library.thermal import PerfectInsulator, thermal
from library.translational import MotionSensor, Reference, VelocitySource, translational


class ConstantVolumeChamberG(Component):
    """A gap: foundation.gas.elements.constant_volume_chamber has no counterpart here.

    It holds as well: num_ports = foundation.enum.num_ports.one.

    A component of yours takes its place:
    library.simscape.add_counterpart('foundation.gas.elements.constant_volume_chamber',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    H = Port(thermal)
    thermal_leak = Parameter("1e-6 W/K")
    volume = Parameter("0.005 m^3")
    area_A = Parameter("0.01 m^2")
    area_B = Parameter("0.01 m^2")
    area_C = Parameter("0.01 m^2")
    area_D = Parameter("0.01 m^2")

    def equations(self):
        yield self.thermal_leak * (self.H.T - quantity("293.15 K")) == self.H.Q

    def advise(self):
        yield (
            "stands for foundation.gas.elements.constant_volume_chamber, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class GasPropertiesG(Component):
    """A gap: foundation.gas.utilities.gas_properties has no counterpart here.

    It holds as well: gas_spec = foundation.enum.gas_spec.perfect_gas; rho_TLU2 =
    [.0232262435294122, .116159536418799, .232389928446798, .465 … kg/m^3; s_TLU2 =
    [4.51795188269071, 4.05581817155212, 3.85666832168988, 3.657 … kJ/(K*kg); h_TLU2 =
    [276.08088424589, 276.048494255671, 276.007989595737, 275.92 … kJ/kg; cp_TLU2 =
    [1.00234082589656, 1.00272486727657, 1.00320557010184, 1.004 … kJ/(K*kg); mu_TLU2 =
    [10.3589401268092, 10.3596215490306, 10.3604759816291, 10.36 … s*uPa; k_TLU2 =
    [14.0836394676256, 14.0862942007498, 14.0896194596466, 14.09 … mW/(K*m); beta_TLU2 =
    [.000999939063271047, .00499847620325299, .00999390291790365 … MPa; alpha_TLU2 =
    [.00666792026017809, .00667293852525301, .00667922012518017, … 1/K; T_max_perfect = inf K;
    p_max_perfect = inf MPa; T_range_flag = foundation.enum.T_range_G.from_props;
    p_max_semiperfect = inf MPa; pT_region_flag = foundation.enum.pT_region_G.from_props;
    pT_validity_TLU2 = ones(24, 20).

    A component of yours takes its place:
    library.simscape.add_counterpart('foundation.gas.utilities.gas_properties', YourComponent,
    parameters={…}, ports={…}) in the module of repairs.
    """

    R = Parameter("0.287 kJ/(K*kg)")
    Z = Parameter(1)
    T_ref = Parameter("293.15 K")
    h_ref = Parameter("420 kJ/kg")
    cp_ref = Parameter("1 kJ/(K*kg)")
    mu_ref = Parameter("18 s*uPa")
    k_ref = Parameter("26 mW/(K*m)")
    T_TLU1 = Parameter(
        quantity([150, 160, 170, 180, 190, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700,
            750, 800, 850, 900, 950, 1000, 1500, 2000], "K"),
    )
    h_TLU1 = Parameter(
        quantity([275.264783730547, 285.377054177734, 295.474578903607, 305.560871069627,
            315.638490783961, 325.709373787179, 376.008033649461, 426.297784741196,
            476.678788323875, 527.253890684429, 578.12722735187, 629.395040865183, 681.137690131207,
            733.415442873049, 786.267894376777, 839.715851152006, 893.764459999509,
            948.406676876931, 1003.62653219711, 1059.40193232821, 1115.70691941005,
            1172.51341226958, 1762.18512007361, 2377.14064127409], "kJ/kg"),
    )
    cp_TLU1 = Parameter(
        quantity([1.01211492398124, 1.01042105529234, 1.00914159006373, 1.00815898273273,
            1.00739688341918, 1.00680484569075, 1.00554191216852, 1.00637389921747, 1.0092105862442,
            1.01414404435034, 1.02111299587909, 1.02986878923959, 1.04003820504128,
            1.05120320041448, 1.06296312852444, 1.07497111709439, 1.08694865668905, 1.0986858495625,
            1.11003396604319, 1.12089493621399, 1.13121051694521, 1.14095251451866, 1.21001953144,
            1.24628356718428], "kJ/(K*kg)"),
    )
    mu_TLU1 = Parameter(
        quantity([10.3766056544352, 10.9908682444892, 11.5932000841352, 12.1841060353213,
            12.764067709023, 13.3335437107148, 16.038149065057, 18.5373404836509, 20.8671495114253,
            23.0554226800681, 25.1239717991959, 27.0901379793485, 28.96790749834, 30.7687111230031,
            32.5020036481173, 34.17569027566, 35.7964450415303, 37.3699520751368, 38.9010908824946,
            40.3940804368247, 41.8525925389218, 43.279841956487, 56.3254722619962, 68.068290080945],
            "s*uPa"),
    )
    k_TLU1 = Parameter(
        quantity([14.1517155766309, 15.0474512994325, 15.9300520513026, 16.7998749295306,
            17.6573089963228, 18.5027588910197, 22.5644026699512, 26.384465676638, 30.0032801168886,
            33.4532006033488, 36.7600619429332, 39.9446251241844, 43.0237448740114,
            46.0112537033799, 48.9186234516389, 51.7554617696538, 54.5298878921773,
            57.2488200454925, 59.9181976996146, 62.5431553064749, 65.128159527924, 67.6771186900213,
            91.7815514375552, 114.486299090693], "mW/(K*m)"),
    )
    T_TLU2 = Parameter(
        quantity([150, 160, 170, 180, 190, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700,
            750, 800, 850, 900, 950, 1000, 1500, 2000], "K"),
    )
    p_TLU2 = Parameter(
        quantity([0.001, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.060000000000000005,
            0.06999999999999999, 0.08, 0.09, 0.09999999999999999, 0.12, 0.15, 0.2, 0.5, 1, 2, 5,
            10], "MPa"),
    )
    T_min_perfect = Parameter("1 K")
    p_min_perfect = Parameter("1 Pa")
    T_min_semiperfect = Parameter("150 K")
    T_max_semiperfect = Parameter("2000 K")
    p_min_semiperfect = Parameter("1 Pa")
    T_min_real = Parameter("150 K")
    T_max_real = Parameter("2000 K")
    p_min_real = Parameter("0.001 MPa")
    p_max_real = Parameter("10 MPa")
    p_atm = Parameter("0.101325 MPa")
    Mach_rev = Parameter(0.001)

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for foundation.gas.utilities.gas_properties, which has no counterpart here: "
            "it lets next to nothing pass, and its outputs are 0."
        )


class AbsoluteReferenceG(Component):
    """A gap: foundation.gas.elements.absolute_reference has no counterpart here.

    A component of yours takes its place:
    library.simscape.add_counterpart('foundation.gas.elements.absolute_reference',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    def equations(self):
        return iter(())

    def advise(self):
        yield (
            "stands for foundation.gas.elements.absolute_reference, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0."
        )


class MassEnergyFlowRateSensorG(Component):
    """A gap: foundation.gas.sensors.mass_flow_energy_flow_sensor has no counterpart here.

    A component of yours takes its place:
    library.simscape.add_counterpart('foundation.gas.sensors.mass_flow_energy_flow_sensor',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    M = Output("kg/s")
    PHI = Output("")

    def equations(self):
        yield self.M == 0
        yield self.PHI == 0

    def advise(self):
        yield (
            "stands for foundation.gas.sensors.mass_flow_energy_flow_sensor, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class PressureTemperatureSensorG(Component):
    """A gap: foundation.gas.sensors.pressure_temperature_sensor has no counterpart here.

    A component of yours takes its place:
    library.simscape.add_counterpart('foundation.gas.sensors.pressure_temperature_sensor',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    P = Output("Pa")
    T = Output("")

    def equations(self):
        yield self.P == 0
        yield self.T == 0

    def advise(self):
        yield (
            "stands for foundation.gas.sensors.pressure_temperature_sensor, which has no "
            "counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


class ThermodynamicPropertiesSensorG(Component):
    """A gap: foundation.gas.sensors.thermodynamic_sensor has no counterpart here.

    A component of yours takes its place:
    library.simscape.add_counterpart('foundation.gas.sensors.thermodynamic_sensor',
    YourComponent, parameters={…}, ports={…}) in the module of repairs.
    """

    H = Output("")
    RHO = Output("kg/m^3")
    CP = Output("")
    S = Output("")
    s_std = Parameter("3.8635 kJ/(K*kg)")
    p_std = Parameter("0.101325 MPa")
    T_std = Parameter("293.15 K")

    def equations(self):
        yield self.H == 0
        yield self.RHO == quantity("1 kg/m^3")
        yield self.CP == 0
        yield self.S == 0

    def advise(self):
        yield (
            "stands for foundation.gas.sensors.thermodynamic_sensor, which has no counterpart "
            "here: it lets next to nothing pass, and its outputs are 0, or 1 as divisors."
        )


class TranslationalMechanicalConverterG(Component):
    """A gap: foundation.gas.elements.translational_mechanical_converter has no counterpart here.

    It holds as well: mech_orientation = foundation.enum.MechOrientationTranslational.Positive;
    displacement_spec = foundation.enum.DisplacementSpec.Calculate; environment_spec =
    foundation.enum.pressure_spec.atmospheric.

    A component of yours takes its place: library.simscape.add_counterpart('foundation.gas.eleme
    nts.translational_mechanical_converter', YourComponent, parameters={…}, ports={…}) in the
    module of repairs.
    """

    C = Port(translational)
    H = Port(thermal)
    R = Port(translational)
    translational_leak = Parameter("1e-9 N*s/m")
    thermal_leak = Parameter("1e-6 W/K")
    length_init = Parameter("0 m")
    interface_area = Parameter("0.01 m^2")
    dead_volume = Parameter("1e-5 m^3")
    area_A = Parameter("0.01 m^2")
    environment_pressure = Parameter("0.101325 MPa")

    def equations(self):
        yield self.translational_leak * self.C.v == self.C.f
        yield self.thermal_leak * (self.H.T - quantity("293.15 K")) == self.H.Q
        yield self.translational_leak * self.R.v == self.R.f

    def advise(self):
        yield (
            "stands for foundation.gas.elements.translational_mechanical_converter, which has "
            "no counterpart here: it lets next to nothing pass, and its outputs are 0."
        )


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

    Press_Out = Output("")
    Vol_Out = Output("")

    def compose(self):
        self.absolute_reference_g = AbsoluteReferenceG()  # Absolute Reference (G)
        # Mass & Energy Flow Rate Sensor (G)
        self.mass_energy_flow_rate_sensor_g = MassEnergyFlowRateSensorG()
        # Pressure & Temperature Sensor (G)
        self.pressure_temperature_sensor_g = PressureTemperatureSensorG()
        # Thermodynamic Properties Sensor (G)
        self.thermodynamic_properties_sensor_g = ThermodynamicPropertiesSensorG()
        self.abs_ = Abs()
        self.constant = Constant(value=0.00501)
        self.divide1 = Divide()
        self.integrator = TransferFunction(numerator=[1], denominator=[1, 0])
        self.plus = Sum(signs="++")
        self.ps_simulink_converter = Gain(input="Pa", gain="1 1/Pa")
        self.ps_simulink_converter3 = Gain(input="kg/s", gain="1 1/(kg/s)")
        self.ps_simulink_converter4 = Gain(input="kg/m^3", gain="1 1/(kg/m^3)")

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
    model.constant_volume_chamber_g = ConstantVolumeChamberG()  # Constant Volume Chamber (G)
    model.gas_properties_g = GasPropertiesG()  # Gas Properties (G)
    model.ideal_translational_velocity_source = VelocitySource()
    model.mech_measurements = MechMeasurements()
    model.mechanical_translational_reference = Reference()
    model.mechanical_translational_reference1 = Reference()
    model.perfect_insulator = PerfectInsulator()
    model.thermo_measurements = ThermoMeasurements()
    # Translational Mechanical Converter (G)
    model.translational_mechanical_converter_g = TranslationalMechanicalConverterG()
    model.sine_wave = Sine(amplitude="1 m/s", frequency="0.25 Hz")

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
