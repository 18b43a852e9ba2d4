"""Converted from dc_motor.slx, R2024a.

Simscape
Simulink
"""

from blocks import Model, quantity
from library.electrical import (
    ControlledVoltageSource,
    CurrentSensor,
    ElectricalReference,
    Inductor,
    Resistor,
    VoltageSensor,
)
from library.electromechanical import RotationalElectromechanicalConverter
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalMotionSensor,
    RotationalReference,
)
from library.signal import Gain, Step, Sum, TransferFunction

# values: init.m
m = 0.1
r = 0.05
J = 0.5 * m * r**2
b = 0.0000095
kt = 0.0187
R = 0.6
L = 0.35 / 1000
ke = 0.0191


def build() -> Model:
    """The model dc_motor."""
    model = Model("dc_motor")
    model.controlled_voltage_source = ControlledVoltageSource()
    model.current_sensor = CurrentSensor()
    model.electrical_reference = ElectricalReference()
    model.ideal_rotational_motion_sensor = RotationalMotionSensor(angle_port=False)
    model.inductor = Inductor(
        parasitic=True,
        inductance=quantity(L, "H"),
        parallel_conductance="1e-9 1/Ohm",
    )
    model.inertia = Inertia(inertia=quantity(J, "kg*m^2"))
    model.mechanical_rotational_reference = RotationalReference()
    model.resistor = Resistor(resistance=quantity(R, "Ohm"))
    model.rotational_electromechanical_converter = RotationalElectromechanicalConverter(
        constant=quantity(ke, "V*s/rad"),
    )
    model.rotational_damper = RotationalDamper(damping=quantity(b, "N*m*s/rad"))
    model.voltage_sensor = VoltageSensor()
    model.add_2 = Sum(signs="+-")  # Add
    model.add1 = Sum(signs="+--")
    model.gain = Gain(gain=1 / J)
    model.gain1 = Gain(gain=kt)
    model.gain2 = Gain(gain=b)
    model.gain3 = Gain(gain=1 / L)
    model.gain4 = Gain(gain=R)
    model.gain5 = Gain(gain=ke)
    model.integrator = TransferFunction(numerator=[1], denominator=[1, 0])
    model.integrator2 = TransferFunction(numerator=[1], denominator=[1, 0])
    model.step = Step(final=12, start="1 s")
    model.simulink_ps_converter = Gain(gain="1 V")

    model.connect(
        model.electrical_reference.V,
        model.voltage_sensor.n,
        model.controlled_voltage_source.n,
        model.rotational_electromechanical_converter.n,
    )
    model.connect(model.controlled_voltage_source.p, model.voltage_sensor.p, model.current_sensor.p)
    model.connect(model.inductor.p, model.resistor.n)
    model.connect(model.inductor.n, model.rotational_electromechanical_converter.p)
    model.connect(
        model.mechanical_rotational_reference.W,
        model.ideal_rotational_motion_sensor.C,
        model.rotational_electromechanical_converter.C,
        model.rotational_damper.R,
    )
    model.connect(model.current_sensor.n, model.resistor.p)
    model.connect(
        model.rotational_damper.C,
        model.ideal_rotational_motion_sensor.R,
        model.rotational_electromechanical_converter.R,
        model.inertia.I,
    )
    model.connect(model.simulink_ps_converter.y, model.controlled_voltage_source.vT)
    model.connect(model.gain2.y, model.add_2.u2)
    model.connect(model.add1.y, model.gain3.u)
    model.connect(model.step.y, model.add1.u1, model.simulink_ps_converter.u)
    model.connect(model.integrator2.y, model.gain4.u, model.gain1.u)
    model.connect(model.gain.y, model.integrator.u)
    model.connect(model.gain3.y, model.integrator2.u)
    model.connect(model.add_2.y, model.gain.u)
    model.connect(model.gain4.y, model.add1.u3)
    model.connect(model.gain5.y, model.add1.u2)
    model.connect(model.integrator.y, model.gain5.u, model.gain2.u)
    model.connect(model.gain1.y, model.add_2.u1)
    return model


if __name__ == "__main__":
    result = build().simulate("2.5 s")
    figure = result.plot("voltage_sensor.V", "current_sensor.I", "ideal_rotational_motion_sensor.W")
    figure.savefig("dc_motor.png", bbox_inches="tight")
    table = result.table(
        "voltage_sensor.V",
        "current_sensor.I",
        "ideal_rotational_motion_sensor.W",
        every="0.25 s",
    )
    print(table.to_string())
