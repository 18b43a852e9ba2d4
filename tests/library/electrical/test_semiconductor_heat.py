"""What diodes, transistors and switches lose warms a body, and warms them."""

import numpy as np
import pytest
from benches import values, wire
from benches.electrical import circuit
from numpy.testing import assert_allclose

from blocks import SimulationError, quantity
from library.electrical import (
    IGBT,
    MOSFET,
    ACVoltageSource,
    DCCurrentSource,
    DCVoltageSource,
    Diode,
    FullBridge,
    Resistor,
    Switch,
    ThreePhaseBridge,
)
from library.signal import Constant
from library.thermal import ThermalMass

CAPACITY = 0.1 * 447  # J/K: 100 g of iron
OPEN = {"forward_voltage": "0.7 V", "on_resistance": "0.1 ohm"}


def warming(temperature):
    return quantity("0.1 ohm") * (1 + quantity("2e-3 1/K") * (temperature - quantity("300 K")))


def heated(part, ends, source):
    model = circuit(source=source, part=part, lump=ThermalMass(mass="0.1 kg"))
    model.connect(model.source.n, getattr(model.part, ends[0]))
    model.connect(model.source.p, getattr(model.part, ends[1]), model.ground.V)
    model.connect(model.part.H, model.lump.M)
    return model


@pytest.mark.parametrize(("part", "ends", "watts"), [
    (Diode(thermal_port=True), "pn", 2 * (0.6 + 0.3 * (2 - 0.6e-8))),
    (Diode(model="ideal", thermal_port=True, **OPEN), "pn", 1.8),
    (MOSFET(thermal_port=True, gate=1, on_resistance="0.1 ohm"), "DS", 0.4),
    (MOSFET(thermal_port=True, diode_forward_voltage="0.8 V"), "SD", 1.6),
    (IGBT(thermal_port=True, gate=1, **OPEN), "CE", 1.8),
    (Switch(thermal_port=True, gate=1, closed_resistance="0.1 ohm"), "pn", 0.4),
], ids=["diode", "ideal diode", "MOSFET", "body diode", "IGBT", "switch"])  # fmt: skip
def test_what_conducts_two_amperes_warms_steadily(part, ends, watts):
    run = heated(part, ends, DCCurrentSource(current="2 A")).simulate("50 s", rtol=1e-10)
    assert_allclose(run["lump.T"].final.to("K").m, 300 + watts * 50 / CAPACITY, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9


@pytest.mark.parametrize(("part", "ends"), [
    (MOSFET(thermal_port=True, gate=1, on_resistance=lambda temperature: warming(temperature)),
     "DS"),
    (IGBT(thermal_port=True, gate=1, on_resistance=lambda temperature: warming(temperature)),
     "CE"),
], ids=["MOSFET", "IGBT"])  # fmt: skip
def test_a_channel_that_warms_resists_more(part, ends):
    run = heated(part, ends, DCCurrentSource(current="2 A")).simulate("50 s", rtol=1e-10)
    warmer = (np.exp(2e-3 * 0.4 * 50 / CAPACITY) - 1) / 2e-3  # dT/dt = 0.4 W (1 + T/500 K)/C
    assert_allclose(run["lump.T"].final.to("K").m, 300 + warmer, rtol=1e-10)


def test_the_heat_of_a_rectifier_is_what_the_source_gives_less_the_load():
    model = circuit(source=ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                    diode=Diode(model="ideal", thermal_port=True, **OPEN),
                    load=Resistor(resistance="5 ohm"), lump=ThermalMass(mass="1 mg"))
    wire(model, "source.p diode.p", "diode.n load.p", "load.n source.n ground.V", "diode.H lump.M")
    run = model.simulate("40 ms", rtol=1e-10)
    t = np.linspace(0, 0.04, 200_001)
    i = np.maximum(10 * np.sin(100 * np.pi * t) - 0.7, 0) / 5.1
    heat = np.trapezoid(i * (0.7 + 0.1 * i), t)
    assert_allclose(values(run, "lump.T", "K")[-1] - 300, 1e5 * heat / CAPACITY, rtol=1e-8)
    assert run.energy().relative_residual < 1e-9


def test_a_resistance_that_heat_takes_to_zero_stops_the_run_there():
    model = circuit(source=DCVoltageSource(voltage="10 V"), lump=ThermalMass(mass="10 g"),
                    part=Resistor(thermal_port=True, resistance=lambda temperature: quantity(
                        "1 ohm") - quantity("10 mohm/K") * (temperature - quantity("300 K"))))
    wire(model, "source.p part.p", "source.n part.n ground.V", "part.H lump.M")
    with pytest.raises(SimulationError, match="part: .* the resistance is negative") as stopped:
        model.simulate("1000 s", rtol=1e-8)
    # 100 W/(1 - T/100 K) heats 4.47 J/K: a rise of 100 K takes half the time it would at 100 W
    end = stopped.value.result.time[-1].to("s").m
    assert_allclose(end, 4.47 * 50 / 100, rtol=1e-7)


@pytest.mark.parametrize(("bridge", "drop"), [
    (FullBridge(devices="diode", thermal_port=True, **OPEN), 0.7),
    (ThreePhaseBridge(devices="thyristor", thermal_port=True, **OPEN), 0.7),
    (FullBridge(devices="MOSFET", thermal_port=True, on_resistance="0.1 ohm"), 0.0),
], ids=["diodes", "thyristors", "MOSFETs"])  # fmt: skip
def test_the_devices_of_a_bridge_warm_one_body(bridge, drop):
    rectifies = bridge.devices in ("diode", "thyristor")
    model = circuit(source=DCVoltageSource(voltage="100 V"), load=Resistor(resistance="10 ohm"),
                    bridge=bridge, lump=ThermalMass(mass="0.1 kg"))
    fed, feeds = ("A", "B"), ("P", "N")
    for part, ends in ((model.source, fed if rectifies else feeds),
                       (model.load, feeds if rectifies else fed)):
        model.connect(part.p, getattr(bridge, ends[0]))
        model.connect(part.n, getattr(bridge, ends[1]))
    model.connect(model.source.n, model.ground.V)
    if bridge.devices != "diode":
        model.on = Constant(value=1)
        model.connect(model.on.y, bridge.upper_A, bridge.lower_B)
    assert [f.problem for f in model.check().errors] == [
        "The thermal port bridge.H is joined to nothing that takes it up: the heat of bridge has "
        "nowhere to go."]
    model.connect(bridge.H, model.lump.M)
    run = model.simulate("10 s")
    current = (100 - 2 * drop) / (10 + 2 * 0.1)
    watts = 2 * (drop + 0.1 * current) * current
    assert_allclose(run["lump.T"].final.to("K").m, 300 + watts * 10 / CAPACITY, rtol=1e-9)
    assert run.energy().relative_residual < 1e-9
