"""Converted from opamp_noninverting.slx, R2024a.

Input magnitude (V)
Source type
Instructions
1. What value of the resistor R2 will produce a gain of 10 in the noninverting amplifier with R1
= 1 kΩ? Set R2 to this value.
2. Run the model. Verify that the noninverting amplifer model produces a gain of 10.
3. This model simulates an ideal op amp that does not account for the supply limits of a real op
amp. Suppose that the real system had a voltage supply of Vs+ = 10 V and Vs- = -10 V.
• At what value of the input voltage would this model become invalid?
• Instead of displaying saturating behavior, what is simulated by the model?
Source Controls
Measurements
Simscape model
Input voltage (V)
Output voltage (V)
t (s)
Vout (V)
V+ (V)
"""

from blocks import Component, Input, Model, Output, Port, where
from library.electrical import (
    ControlledVoltageSource,
    ElectricalReference,
    OpAmp,
    Resistor,
    VoltageSensor,
    electrical,
)
from library.signal import Constant, Gain, Product, Sine, TransferFunction


class MultiPortSwitch(Component):
    """The block Multiport Switch of the model."""

    control = Input("")
    u1 = Input("")
    u2 = Input("")
    u3 = Input("")
    y = Output("")

    def equations(self):
        yield self.y == (
            where(self.control < 0.5, self.u1, where(self.control < 1.5, self.u2, self.u3))
        )


class OutputMeasurement(Component):
    """Output measurement."""

    Vout = Port(electrical)

    def compose(self):
        self.electrical_reference2 = ElectricalReference()
        self.voltage_sensor1 = VoltageSensor()

        self.connect(self.voltage_sensor1.p, self.Vout)
        self.connect(self.voltage_sensor1.n, self.electrical_reference2.V)


class SourceGenerator(Component):
    """Source generator."""

    Source = Port(electrical)

    def compose(self):
        self.controlled_voltage_source = ControlledVoltageSource()
        self.electrical_reference3 = ElectricalReference()
        self.voltage_sensor2 = VoltageSensor()
        self.constant2 = Constant(value=0)
        self.multiport_switch = MultiPortSwitch()
        self.product = Product()
        self.sine_wave = Sine(amplitude=1, frequency="60 Hz")
        self.transfer_fcn = TransferFunction(numerator=[1], denominator=[1e-6, 1])
        self.magnitude = Constant(value=0)
        self.switch_value = Constant(value=0)
        self.simulink_ps_converter = Gain(gain="1 V")

        self.connect(
            self.electrical_reference3.V,
            self.controlled_voltage_source.n,
            self.voltage_sensor2.n,
        )
        self.connect(self.controlled_voltage_source.p, self.voltage_sensor2.p, self.Source)
        self.connect(self.simulink_ps_converter.y, self.controlled_voltage_source.vT)
        self.connect(self.sine_wave.y, self.product.u2)
        self.connect(self.magnitude.y, self.multiport_switch.u2, self.product.u1)
        self.connect(self.product.y, self.multiport_switch.u3)
        self.connect(self.multiport_switch.y, self.transfer_fcn.u)
        self.connect(self.switch_value.y, self.multiport_switch.control)
        self.connect(self.constant2.y, self.multiport_switch.u1)
        self.connect(self.transfer_fcn.y, self.simulink_ps_converter.u)


def build() -> Model:
    """The model opamp_noninverting."""
    model = Model("opamp_noninverting")
    model.electrical_reference1 = ElectricalReference()
    model.ideal_op_amp = OpAmp()
    model.output_measurement = OutputMeasurement()
    model.r1 = Resistor(resistance="1 kOhm")
    model.r2 = Resistor(resistance="9 kOhm")
    model.source_generator = SourceGenerator()

    model.connect(model.ideal_op_amp.p, model.source_generator.Source)
    model.connect(model.ideal_op_amp.out, model.r2.p, model.output_measurement.Vout)
    model.connect(model.r1.n, model.electrical_reference1.V)
    model.connect(model.r2.n, model.ideal_op_amp.n, model.r1.p)
    return model


if __name__ == "__main__":
    # the model runs until inf; the first 0.1 s are shown
    result = build().simulate("0.1 s", max_step="1e-4 s")
    figure = result.plot(
        "output_measurement.voltage_sensor1.V",
        "source_generator.voltage_sensor2.V",
    )
    figure.savefig("opamp_noninverting.png", bbox_inches="tight")
    table = result.table(
        "output_measurement.voltage_sensor1.V",
        "source_generator.voltage_sensor2.V",
        every="0.01 s",
    )
    print(table.to_string())
