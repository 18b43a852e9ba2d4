"""Every component accounts for the work done on it, and semiconductors warm what they lie on."""

import numpy as np
import pytest
from benches import values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose

import library.electrical as el
from blocks import SimulationError, cos, quantity, sin
from library.signal import Constant
from library.thermal import ThermalMass


# -- work: to 1e-9 of what is turned over ----------------------------------------------------------
def swing(unit, mean=0.0, size=1.0):
    return lambda t: quantity(mean, unit) + quantity(size, unit) * sin(quantity("300 rad/s") * t)


PARTS = {
    "resistor": el.Resistor(resistance="30 ohm"),
    "negative resistor": el.Resistor(resistance="-200 ohm"),
    "variable resistor": el.VariableResistor(resistance=swing("ohm", 30, 20)),
    "gap": el.InfiniteResistance(),
    "capacitor": el.Capacitor(capacitance="50 uF", parallel_conductance="2 mS", vc="3 V"),
    "parasitic capacitor": el.Capacitor(parasitic=True, capacitance="50 uF",
                                        series_resistance="2 ohm", vc="3 V"),
    "variable capacitor": el.VariableCapacitor(capacitance=swing("F", 50e-6, 20e-6)),
    "inductor": el.Inductor(inductance="20 mH", series_resistance="3 ohm", i_L="0.1 A"),
    "parasitic inductor": el.Inductor(parasitic=True, inductance="20 mH",
                                      parallel_conductance="0.1 S"),
    "variable inductor": el.VariableInductor(inductance=swing("H", 20e-3, 5e-3)),
    "saturating inductor": el.SaturatingInductor(inductance="50 mH", saturated_inductance="5 mH",
                                                 saturation_current="50 mA"),
    "memristor": el.Memristor(transition_charge="1 mC"),
    "transformer": el.IdealTransformer(ratio=-2), "gyrator": el.Gyrator(conductance="30 mS"),
    "coupled windings": el.MutualInductor(inductance_1="40 mH", inductance_2="10 mH", i1="0.1 A"),
    "perfectly coupled windings": el.MutualInductor(leakage=False, inductance_1="40 mH",
                                                    inductance_2="10 mH"),
    "VCVS": el.VoltageControlledVoltageSource(gain=1.5),
    "VCCS": el.VoltageControlledCurrentSource(gain="20 mS"),
    "CCVS": el.CurrentControlledVoltageSource(gain="15 ohm"),
    "CCCS": el.CurrentControlledCurrentSource(gain=0.7), "op-amp": el.OpAmp(),
    "limited op-amp": el.LimitedOpAmp(upper_voltage="8 V", lower_voltage="-6 V"),
    "ammeter": el.CurrentSensor(), "voltmeter": el.VoltageSensor(),
    "direct voltage": el.DCVoltageSource(voltage="3 V"),
    "sinusoidal voltage": el.ACVoltageSource(amplitude="3 V"),
    "voltage": el.ControlledVoltageSource(voltage=swing("V")),
    "direct current": el.DCCurrentSource(current="50 mA"),
    "sinusoidal current": el.ACCurrentSource(amplitude="50 mA"),
    "current": el.ControlledCurrentSource(current=swing("A", 0, 0.05))}


def connected(part):
    """The part between two circuits with memory, the first one driven."""
    if isinstance(part, (el.OpAmp, el.LimitedOpAmp)):  # a follower
        nets = ["near.p part.p", "part.n part.out far.p"]
    elif hasattr(part, "p1"):
        ends = ("head", "tail") if hasattr(part, "head") else ("p2", "n2")
        nets = ["near.p part.p1", "ground.V part.n1", f"far.p part.{ends[0]}",
                f"other.V part.{ends[1]}"]
    else:
        ports = ("head", "tail") if hasattr(part, "head") else ("p", "n")
        nets = [f"near.p part.{ports[0]}", f"far.p part.{ports[1]}"]
    return circuit("circuit", "drive.p series.p", "series.n near.p", "far.p leak.p", *nets,
                   "drive.n near.n ground.V", "far.n leak.n other.V", part=part,
                   other=el.ElectricalReference(), series=el.Resistor(resistance="20 ohm"),
                   near=el.Capacitor(capacitance="20 uF"), far=el.Inductor(inductance="30 mH"),
                   leak=el.Resistor(resistance="50 ohm"), drive=el.ControlledVoltageSource(
                       voltage=lambda t: quantity("10 V") * cos(quantity("500 rad/s") * t)))


@pytest.mark.parametrize("name", PARTS)
def test_energy_of_a_part_between_two_circuits_adds_up(name):
    model = connected(PARTS[name])
    energy = model.simulate("20 ms", rtol=1e-12, method="DOP853").energy()
    del model.part
    assert energy.throughput.to("J").magnitude > 1e-3
    assert energy.relative_residual < 1e-9, energy


# -- heat of diodes, transistors and switches ------------------------------------------------------
CAPACITY = 0.1 * 447  # J/K: 100 g of iron
OPEN = {"forward_voltage": "0.7 V", "on_resistance": "0.1 ohm"}


def warming(temperature):
    return quantity("0.1 ohm") * (1 + quantity("2e-3 1/K") * (temperature - quantity("300 K")))


WARMER = (np.exp(2e-3 * 0.4 * 50 / CAPACITY) - 1) / 2e-3  # dT/dt = 0.4 W (1 + T/500 K)/C


@pytest.mark.parametrize(("part", "ends", "rise"), [
    (el.Diode(thermal_port=True), "pn", 2 * (0.6 + 0.3 * (2 - 0.6e-8)) * 50 / CAPACITY),
    (el.Diode(model="ideal", thermal_port=True, **OPEN), "pn", 1.8 * 50 / CAPACITY),
    (el.MOSFET(thermal_port=True, gate=1, on_resistance="0.1 ohm"), "DS", 0.4 * 50 / CAPACITY),
    (el.MOSFET(thermal_port=True, diode_forward_voltage="0.8 V"), "SD", 1.6 * 50 / CAPACITY),
    (el.IGBT(thermal_port=True, gate=1, **OPEN), "CE", 1.8 * 50 / CAPACITY),
    (el.Switch(thermal_port=True, gate=1, closed_resistance="0.1 ohm"), "pn", 0.4 * 50 / CAPACITY),
    (el.MOSFET(thermal_port=True, gate=1, on_resistance=warming), "DS", WARMER),
    (el.IGBT(thermal_port=True, gate=1, on_resistance=warming), "CE", WARMER),
], ids=["diode", "ideal diode", "MOSFET", "body diode", "IGBT", "switch", "warmer MOSFET",
        "warmer IGBT"])  # fmt: skip
def test_what_conducts_two_amperes_warms(part, ends, rise):
    model = circuit("circuit", f"source.n part.{ends[0]}", f"source.p part.{ends[1]} ground.V",
                    "part.H lump.M", source=el.DCCurrentSource(current="2 A"), part=part,
                    lump=ThermalMass(mass="0.1 kg"))
    run = model.simulate("50 s", rtol=1e-10)
    assert_allclose(run["lump.T"].final.to("K").m, 300 + rise, rtol=1e-10)
    assert run.energy().relative_residual < 1e-9


def test_the_heat_of_a_rectifier_is_what_the_source_gives_less_the_load():
    model = circuit(source=el.ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                    diode=el.Diode(model="ideal", thermal_port=True, **OPEN),
                    load=el.Resistor(resistance="5 ohm"), lump=ThermalMass(mass="1 mg"))
    wire(model, "source.p diode.p", "diode.n load.p", "load.n source.n ground.V", "diode.H lump.M")
    run = model.simulate("40 ms", rtol=1e-10)
    t = np.linspace(0, 0.04, 200_001)
    i = np.maximum(10 * np.sin(100 * np.pi * t) - 0.7, 0) / 5.1
    heat = np.trapezoid(i * (0.7 + 0.1 * i), t)
    assert_allclose(values(run, "lump.T", "K")[-1] - 300, 1e5 * heat / CAPACITY, rtol=1e-8)
    assert run.energy().relative_residual < 1e-9


def test_a_resistance_that_heat_takes_to_zero_stops_the_run_there():
    model = circuit(source=el.DCVoltageSource(voltage="10 V"), lump=ThermalMass(mass="10 g"),
                    part=el.Resistor(thermal_port=True, resistance=lambda temperature: quantity(
                        "1 ohm") - quantity("10 mohm/K") * (temperature - quantity("300 K"))))
    wire(model, "source.p part.p", "source.n part.n ground.V", "part.H lump.M")
    with pytest.raises(SimulationError, match="part: .* the resistance is negative") as stopped:
        model.simulate("1000 s", rtol=1e-8)
    # 100 W/(1 - T/100 K) heats 4.47 J/K: a rise of 100 K takes half the time it would at 100 W
    assert_allclose(stopped.value.result.time[-1].to("s").m, 4.47 * 50 / 100, rtol=1e-7)


@pytest.mark.parametrize(("bridge", "drop"), [
    (el.FullBridge(devices="diode", thermal_port=True, **OPEN), 0.7),
    (el.ThreePhaseBridge(devices="thyristor", thermal_port=True, **OPEN), 0.7),
    (el.FullBridge(devices="MOSFET", thermal_port=True, on_resistance="0.1 ohm"), 0.0),
], ids=["diodes", "thyristors", "MOSFETs"])  # fmt: skip
def test_the_devices_of_a_bridge_warm_one_body(bridge, drop):
    rectifies = bridge.devices in ("diode", "thyristor")
    fed, feeds = (("A", "B"), ("P", "N"))[::1 if rectifies else -1]
    model = circuit("bridge", f"source.p bridge.{fed[0]}", f"source.n bridge.{fed[1]} ground.V",
                    f"load.p bridge.{feeds[0]}", f"load.n bridge.{feeds[1]}",
                    source=el.DCVoltageSource(voltage="100 V"),
                    load=el.Resistor(resistance="10 ohm"),
                    bridge=bridge, lump=ThermalMass(mass="0.1 kg"))
    if bridge.devices != "diode":
        wire(model, "on.y bridge.upper_A bridge.lower_B", on=Constant(value=1))
    assert [f.problem for f in model.check().errors] == [
        "The thermal port bridge.H is joined to nothing that takes it up: the heat of bridge has "
        "nowhere to go."]
    wire(model, "bridge.H lump.M")
    run = model.simulate("10 s")
    current = (100 - 2 * drop) / (10 + 2 * 0.1)
    watts = 2 * (drop + 0.1 * current) * current
    assert_allclose(run["lump.T"].final.to("K").m, 300 + watts * 10 / CAPACITY, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9
