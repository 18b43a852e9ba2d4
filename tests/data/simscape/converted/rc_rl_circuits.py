"""Converted from rc_rl_circuits.slx, R2024a.

Manual Switch
RC Circuit
Instructions
1. Run the model.
2. Flip the switch to engage the voltage source in the RC circuit.
• How does the current vary as the capacitor charges?
3. Flip the switch to discharge the capacitor.
• How does the current vary as the capacitor discharges?
4. Flip the switch in the RL circuit to engage the voltage source.
• How do the current and voltage vary as the inductor charges?
5. Flip the switch in the RL circuit to discharge the inductor.
• How do the current and voltage vary as the inductor discharges?
6. What relationship do you notice between the capacitor and inductor voltage/current patterns?
time (s)
vC (V)
iC (A)
iL (A)
RL Circuit
Manual Switch
time (s)
vL (V)
"""

from blocks import Component, Model, Port
from library.electrical import (
    Capacitor,
    CurrentSensor,
    DCVoltageSource,
    ElectricalReference,
    Inductor,
    Resistor,
    SPDTSwitch,
    VoltageSensor,
    electrical,
)
from library.signal import Constant, Gain, Not


class ManualSwitch(Component):
    """manual switch.

    This system switches between out1 and out2 when switch value is toggled
    """

    in_ = Port(electrical)
    out2 = Port(electrical)
    out1 = Port(electrical)

    def compose(self):
        self.spdt_switch = SPDTSwitch(
            closed_resistance="0.01 Ohm",
            open_conductance="1e-6 S",
            threshold="0.5 V",
        )
        self.logical_operator = Not()
        self.switch_value = Constant(value=0)
        self.simulink_ps_converter = Gain(gain="1 V")

        self.connect(self.spdt_switch.p, self.in_)
        self.connect(self.spdt_switch.n2, self.out2)
        self.connect(self.spdt_switch.n1, self.out1)
        self.connect(self.simulink_ps_converter.y, self.spdt_switch.vT)
        self.connect(self.switch_value.y, self.logical_operator.u)
        self.connect(self.logical_operator.y, self.simulink_ps_converter.u)


class ManualSwitch1(Component):
    """manual switch1.

    This system switches between out1 and out2 when switch value is toggled
    """

    in_ = Port(electrical)
    out2 = Port(electrical)
    out1 = Port(electrical)

    def compose(self):
        self.spdt_switch = SPDTSwitch(
            closed_resistance="0.01 Ohm",
            open_conductance="1e-6 S",
            threshold="0.5 V",
        )
        self.logical_operator1 = Not()
        self.switch_value = Constant(value=0)
        self.simulink_ps_converter2 = Gain(gain="1 V")

        self.connect(self.spdt_switch.p, self.in_)
        self.connect(self.spdt_switch.n2, self.out2)
        self.connect(self.spdt_switch.n1, self.out1)
        self.connect(self.simulink_ps_converter2.y, self.spdt_switch.vT)
        self.connect(self.switch_value.y, self.logical_operator1.u)
        self.connect(self.logical_operator1.y, self.simulink_ps_converter2.u)


class Measurement(Component):
    """measurement."""

    positive = Port(electrical)
    reference = Port(electrical)

    def compose(self):
        self.voltage_sensor = VoltageSensor()

        self.connect(self.voltage_sensor.p, self.positive)
        self.connect(self.voltage_sensor.n, self.reference)


class Measurement1(Component):
    """measurement1."""

    positive = Port(electrical)
    reference = Port(electrical)

    def compose(self):
        self.current_sensor = CurrentSensor()

        self.connect(self.current_sensor.p, self.positive)
        self.connect(self.current_sensor.n, self.reference)


def build() -> Model:
    """The model rc_rl_circuits."""
    model = Model("rc_rl_circuits")
    model.c1 = Capacitor(parasitic=True, capacitance="1 uF", series_resistance="1e-6 Ohm")
    model.electrical_reference = ElectricalReference()
    model.electrical_reference1 = ElectricalReference()
    model.l2 = Inductor(parasitic=True, inductance="1e-3 H", parallel_conductance="1e-9 1/Ohm")
    model.r1 = Resistor(resistance="50 Ohm")
    model.r2 = Resistor(resistance="10 Ohm")
    model.v1 = DCVoltageSource(voltage="12 V")
    model.v2 = DCVoltageSource(voltage="12 V")
    model.manual_switch = ManualSwitch()
    model.manual_switch1 = ManualSwitch1()
    model.measurement = Measurement()
    model.measurement1 = Measurement1()
    model.measurement2 = Measurement()
    model.measurement3 = Measurement1()

    model.connect(
        model.measurement.reference,
        model.manual_switch.out2,
        model.electrical_reference.V,
        model.v1.n,
        model.c1.n,
    )
    model.connect(model.measurement.positive, model.measurement3.reference, model.c1.p)
    model.connect(model.manual_switch.in_, model.r1.p)
    model.connect(model.manual_switch.out1, model.v1.p)
    model.connect(
        model.v2.n,
        model.electrical_reference1.V,
        model.measurement2.reference,
        model.l2.n,
        model.manual_switch1.out2,
    )
    model.connect(model.manual_switch1.out1, model.v2.p)
    model.connect(model.manual_switch1.in_, model.r2.p)
    model.connect(model.measurement1.reference, model.measurement2.positive, model.l2.p)
    model.connect(model.measurement1.positive, model.r2.n)
    model.connect(model.measurement3.positive, model.r1.n)
    return model


if __name__ == "__main__":
    # the model runs until inf; the first 0.01 s are shown
    result = build().simulate("0.01 s", max_step="1e-5 s")
    figure = result.plot(
        "measurement.voltage_sensor.V",
        "measurement1.current_sensor.I",
        "measurement2.voltage_sensor.V",
        "measurement3.current_sensor.I",
    )
    figure.savefig("rc_rl_circuits.png", bbox_inches="tight")
    table = result.table(
        "measurement.voltage_sensor.V",
        "measurement1.current_sensor.I",
        "measurement2.voltage_sensor.V",
        "measurement3.current_sensor.I",
        every="0.001 s",
    )
    print(table.to_string())
