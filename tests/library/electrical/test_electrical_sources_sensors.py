"""Sources, controlled and dependent, and sensors: values, directions and powers."""

import numpy as np
import pytest
from benches import seconds, signal, values, wire
from benches.electrical import across, circuit
from numpy.testing import assert_allclose

from blocks import ParameterError, quantity, sin
from blocks.exceptions import AngleFrequencyError
from library.electrical import (
    ACCurrentSource,
    ACVoltageSource,
    ControlledCurrentSource,
    ControlledVoltageSource,
    CurrentControlledCurrentSource,
    CurrentControlledVoltageSource,
    CurrentSensor,
    DCCurrentSource,
    DCVoltageSource,
    PowerSensor,
    Resistor,
    VoltageControlledCurrentSource,
    VoltageControlledVoltageSource,
    VoltageSensor,
    table,
)


def loaded(source, first="p", second="n"):
    """A source with a resistor of 2 ohm from its first port to its second, which is grounded."""
    model = circuit(source=source, load=Resistor(resistance="2 ohm"))
    model.connect(getattr(model.source, first), model.load.p)
    model.connect(getattr(model.source, second), model.load.n, model.ground.V)
    return model


# -- voltages and currents -------------------------------------------------------------------------
def test_a_constant_voltage_delivers_with_a_negative_current():
    run = loaded(DCVoltageSource(voltage="6 V")).simulate("1 ms")
    assert run["source.i"].final.m == -3 and run["source.power_supplied"].final.m == 18


def test_a_constant_current_leaves_at_n():
    run = loaded(DCCurrentSource(current="3 A"), "n", "p").simulate("1 ms")
    assert run["load.i"].final.m == 3 and run["load.v"].final.m == 6
    assert run["source.i"].final.m == 3 and run["source.power_supplied"].final.m == 18


def test_a_controlled_current_leaves_at_the_head_of_the_arrow():
    model = loaded(ControlledCurrentSource(current="3 A"), "head", "tail")
    run = model.simulate("1 ms")
    assert run["load.i"].final.m == 3 and run["source.power_supplied"].final.m == 18
    wire(model, "signal.y source.iT", signal=signal("A", "-1 A"))
    assert model.simulate("1 ms")["load.v"].final.m == -2


@pytest.mark.parametrize(("source", "ports", "unit"), [
    (ACVoltageSource(amplitude="3 V", frequency="50 Hz", phase="30 deg"), "pn", "V"),
    (ACCurrentSource(amplitude="1.5 A", frequency="50 Hz", phase="30 deg"), "np", "A"),
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_a_sine_has_peak_frequency_and_phase(source, ports, unit):
    run = loaded(source, *ports).simulate("40 ms", max_step="1 ms")
    assert_allclose(values(run, "load.v", "V"), 3 * np.sin(100 * np.pi * seconds(run) + np.pi / 6),
                    atol=1e-13)  # fmt: skip
    assert unit in ("V", "A")


def test_a_frequency_is_given_in_turns():
    with pytest.raises(AngleFrequencyError, match="is a frequency in Hz"):
        ACVoltageSource(frequency="100 rad/s")


def test_a_voltage_from_a_signal_a_function_and_a_table():
    points = table(["0 s", "1 s", "1 s", "3 s"], ["0 V", "4 V", "1 V", "3 V"])
    run = loaded(ControlledVoltageSource(voltage=points)).simulate("3 s")
    assert_allclose(values(run, "load.v", "V", [0.5, 2.0, 3.0]), [2, 2, 3], rtol=1e-14)
    run = loaded(ControlledVoltageSource(voltage=lambda t: quantity("2 V/s") * t)).simulate("3 s")
    assert_allclose(values(run, "load.v", "V", [0.5, 3.0]), [1, 6], rtol=1e-14)
    model = loaded(ControlledVoltageSource())
    model.signal = signal("V", lambda t: quantity("2 V") * sin(quantity("1 rad/s") * t))
    model.connect(model.signal.y, model.source.vT)
    run = model.simulate("2 s")
    assert_allclose(values(run, "load.v", "V"), 2 * np.sin(seconds(run)), rtol=1e-13)


def test_a_constant_source_refuses_a_function_of_time():
    with pytest.raises(ParameterError, match="sources whose value may vary"):
        DCVoltageSource(voltage=lambda t: quantity("1 V/s") * t)


# -- dependent sources: gain, what the control draws, power ----------------------------------------
def dependent(source, output):
    """A control loop of 4 V over 3 ohm (and the control), and an output with a load of 2 ohm."""
    model = circuit(source=source, drive=DCVoltageSource(voltage="4 V"),
                    series=Resistor(resistance="3 ohm"), load=Resistor(resistance="2 ohm"))
    wire(model, "drive.p series.p", "series.n source.p1", "drive.n source.n1 ground.V")
    model.connect(getattr(model.source, output[0]), model.load.p)
    model.connect(getattr(model.source, output[1]), model.load.n, model.ground.V)
    return model.simulate("1 ms")


@pytest.mark.parametrize(("source", "output", "current", "power"), [
    (VoltageControlledVoltageSource(gain=5.0), ("p2", "n2"), 10, 200),
    (VoltageControlledCurrentSource(gain="0.5 S"), ("head", "tail"), 2, 8),
    (CurrentControlledVoltageSource(gain="6 ohm"), ("p2", "n2"), 4, 32),
    (CurrentControlledCurrentSource(gain=-3.0), ("head", "tail"), -4, 32),
], ids=lambda x: type(x).__name__)  # fmt: skip
def test_a_dependent_source_follows_its_control_and_supplies_the_power(source, output, current,
                                                                       power):
    run = dependent(source, output)
    assert_allclose(run["load.i"].final.m, current, rtol=1e-15)
    assert_allclose(run["source.power_supplied"].final.m, power, rtol=1e-15)
    draws = isinstance(source, (CurrentControlledVoltageSource, CurrentControlledCurrentSource))
    assert_allclose(run["drive.power_supplied"].final.m, 16 / 3 if draws else 0, rtol=1e-15)
    assert run.energy().relative_residual < 1e-12


# -- sensors ---------------------------------------------------------------------------------------
def test_meters_read_voltage_current_and_power_without_a_trace():
    model = circuit(source=DCVoltageSource(voltage="12 V"), a=Resistor(resistance="1 ohm"),
                    load=Resistor(resistance="5 ohm"), volt=VoltageSensor(), ampere=CurrentSensor(),
                    watt=PowerSensor())
    wire(model, "source.p ampere.p", "ampere.n a.p", "a.n watt.pc", "watt.nc watt.pv load.p volt.n",
         "load.n watt.nv volt.p source.n ground.V")
    run = model.simulate("1 ms")
    read = [run[p].final.m for p in ("volt.V", "ampere.I", "watt.P")]
    assert_allclose(read, [-10, 2, 20], rtol=1e-15)
    assert_allclose(run["load.power_dissipated"].final.m, 20, rtol=1e-15)
    assert run.energy().relative_residual < 1e-12


def test_a_source_over_nothing_but_a_meter():
    run = across(VoltageSensor(), "7 V").simulate("1 ms")
    assert run["part.V"].final.m == 7 and run["source.power_supplied"].final.m == 0
