"""Every component accounts for the work done on it, to 1e-9 of what is turned over."""

import pytest
from benches import wire
from benches.electrical import circuit

from blocks import cos, quantity, sin
from library.electrical import (
    ACCurrentSource,
    ACVoltageSource,
    Capacitor,
    ControlledCurrentSource,
    ControlledVoltageSource,
    CurrentControlledCurrentSource,
    CurrentControlledVoltageSource,
    CurrentSensor,
    DCCurrentSource,
    DCVoltageSource,
    ElectricalReference,
    Gyrator,
    IdealTransformer,
    Inductor,
    InfiniteResistance,
    LimitedOpAmp,
    Memristor,
    MutualInductor,
    OpAmp,
    Resistor,
    SaturatingInductor,
    VariableCapacitor,
    VariableInductor,
    VariableResistor,
    VoltageControlledCurrentSource,
    VoltageControlledVoltageSource,
    VoltageSensor,
)

FOUR = ("p1", "n1", "p2", "n2")
ARROW = ("p1", "n1", "head", "tail")


def swing(unit, mean=0.0, size=1.0):
    return lambda t: quantity(mean, unit) + quantity(size, unit) * sin(quantity("300 rad/s") * t)


PARTS = {
    "resistor": Resistor(resistance="30 ohm"),
    "negative resistor": Resistor(resistance="-200 ohm"),
    "variable resistor": VariableResistor(resistance=swing("ohm", 30, 20)),
    "gap": InfiniteResistance(),
    "capacitor": Capacitor(capacitance="50 uF", parallel_conductance="2 mS", vc="3 V"),
    "parasitic capacitor": Capacitor(parasitic=True, capacitance="50 uF", series_resistance="2 ohm",
                                     vc="3 V"),
    "variable capacitor": VariableCapacitor(capacitance=swing("F", 50e-6, 20e-6)),
    "inductor": Inductor(inductance="20 mH", series_resistance="3 ohm", i_L="0.1 A"),
    "parasitic inductor": Inductor(parasitic=True, inductance="20 mH",
                                   parallel_conductance="0.1 S"),
    "variable inductor": VariableInductor(inductance=swing("H", 20e-3, 5e-3)),
    "saturating inductor": SaturatingInductor(inductance="50 mH", saturated_inductance="5 mH",
                                              saturation_current="50 mA"),
    "memristor": Memristor(transition_charge="1 mC"),
    "transformer": IdealTransformer(ratio=-2),
    "gyrator": Gyrator(conductance="30 mS"),
    "coupled windings": MutualInductor(inductance_1="40 mH", inductance_2="10 mH", i1="0.1 A"),
    "perfectly coupled windings": MutualInductor(leakage=False, inductance_1="40 mH",
                                                 inductance_2="10 mH"),
    "VCVS": VoltageControlledVoltageSource(gain=1.5),
    "VCCS": VoltageControlledCurrentSource(gain="20 mS"),
    "CCVS": CurrentControlledVoltageSource(gain="15 ohm"),
    "CCCS": CurrentControlledCurrentSource(gain=0.7),
    "op-amp": OpAmp(),
    "limited op-amp": LimitedOpAmp(upper_voltage="8 V", lower_voltage="-6 V"),
    "ammeter": CurrentSensor(),
    "voltmeter": VoltageSensor(),
    "direct voltage": DCVoltageSource(voltage="3 V"),
    "sinusoidal voltage": ACVoltageSource(amplitude="3 V"),
    "voltage": ControlledVoltageSource(voltage=swing("V")),
    "direct current": DCCurrentSource(current="50 mA"),
    "sinusoidal current": ACCurrentSource(amplitude="50 mA"),
    "current": ControlledCurrentSource(current=swing("A", 0, 0.05)),
}  # fmt: skip


def connected(part):
    """The part between two circuits with memory, the first one driven."""
    model = circuit(part=part, other=ElectricalReference(), series=Resistor(resistance="20 ohm"),
                    near=Capacitor(capacitance="20 uF"), far=Inductor(inductance="30 mH"),
                    leak=Resistor(resistance="50 ohm"),
                    drive=ControlledVoltageSource(
                        voltage=lambda t: quantity("10 V") * cos(quantity("500 rad/s") * t)))
    wire(model, "drive.p series.p", "far.p leak.p")
    first = [model.series.n, model.near.p]
    if isinstance(part, (OpAmp, LimitedOpAmp)):  # a follower
        model.connect(*first, model.part.p)
        model.connect(model.part.n, model.part.out, model.far.p)
    else:
        ports = ARROW if hasattr(part, "head") and hasattr(part, "p1") else \
            FOUR if hasattr(part, "p1") else ("head", "tail") if hasattr(part, "head") \
            else ("p", "n")  # fmt: skip
        ends = [getattr(model.part, p) for p in ports]
        model.connect(*first, ends[0])
        if len(ends) == 4:
            model.connect(ends[1], model.ground.V)
            model.connect(ends[3], model.other.V)
        model.connect(ends[2] if len(ends) == 4 else ends[1], model.far.p)
    wire(model, "drive.n near.n ground.V", "far.n leak.n other.V")
    return model


@pytest.mark.parametrize("name", PARTS)
def test_energy_of_a_part_between_two_circuits_adds_up(name):
    model = connected(PARTS[name])
    energy = model.simulate("20 ms", rtol=1e-12, method="DOP853").energy()
    del model.part
    assert energy.turned_over.to("J").magnitude > 1e-3
    assert energy.relative_residual < 1e-9, energy
