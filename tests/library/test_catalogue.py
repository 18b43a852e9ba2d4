"""Are components named and preset as users of Simscape expect, documented and tested?

Names, defaults and ports: ``tests/data/simscape_blocks.csv``, which says where they are from.
"""

import csv
import importlib
import inspect
import re
from pathlib import Path

import pytest
from benches.axis import ROTATIONAL, TRANSLATIONAL

from blocks import BlocksError, Component, Input, Option, Output, Parameter, Port, Variable
from blocks.units import to_si
from blocks.units import unit as to_unit
from library import (
    electrical,
    electromechanical,
    gas,
    isothermal_liquid,
    magnetic,
    mechanisms,
    moist_air,
    planar,
    rotational,
    signal,
    thermal,
    thermal_liquid,
    translational,
    two_phase,
)

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs"
MODULES = (translational, rotational, mechanisms, signal, electrical, magnetic, electromechanical,
           thermal, isothermal_liquid, thermal_liquid, gas, two_phase, moist_air)
BASES = {"TwoPort", "TwoFrame", "PressedFriction"}
LINES = (TESTS / "data" / "simscape_blocks.csv").read_text().splitlines()
ROWS = list(csv.DictReader(line for line in LINES if not line.startswith("#")))

# ports: conserving and signals, as Simscape draws them
PORTS = {
    translational.Mass: "M", translational.Reference: "V", translational.FreeEnd: "V",
    translational.Spring: "R C", translational.Damper: "R C", translational.Inerter: "R C",
    translational.TranslationalFriction: "R C", translational.HardStop: "R C",
    translational.ForceSource: "R C S", translational.VelocitySource: "R C S",
    translational.ForceSensor: "R C F", translational.MotionSensor: "R C V P",
    rotational.Inertia: "I", rotational.RotationalReference: "W", rotational.RotationalFreeEnd: "W",
    rotational.RotationalSpring: "R C", rotational.RotationalDamper: "R C",
    rotational.RotationalFriction: "R C", rotational.RotationalHardStop: "R C",
    rotational.TorqueSource: "R C S", rotational.AngularVelocitySource: "R C S",
    rotational.TorqueSensor: "R C T", rotational.RotationalMotionSensor: "R C W A",
    magnetic.MagneticReference: "M", magnetic.FundamentalReluctance: "N S",
    magnetic.Reluctance: "N S", magnetic.VariableReluctance: "N S X",
    magnetic.PermanentMagnet: "N S", magnetic.EddyCurrent: "N S",
    magnetic.ElectromagneticConverter: "p n N S", magnetic.ReluctanceForceActuator: "N S R C",
    electromechanical.RotationalElectromechanicalConverter: "p n R C",
    electromechanical.TranslationalElectromechanicalConverter: "p n R C",
    electromechanical.DCMotor: "p n R C", electromechanical.ThermalDCMotor: "p n R C H",
    electromechanical.PWMVoltage: "p1 n1 p2 n2",
    electromechanical.BridgeDriver: "PWM REF REV BRK a b",
    rotational.RotationalNonlinearDamper: "R C", rotational.QuadraticSpeedDependentTorque: "R C",
    translational.NonlinearDamper: "R C", translational.QuadraticSpeedDependentForce: "R C",
    signal.Terminator: "u", signal.VectorNorm: "u1 u2 u3 y", signal.DiscretePID: "u y",
    signal.PythonFunction: "u1 y1",
    signal.MultiportSwitch: "u1 u2 u3 control y", signal.DiscreteIntegrator: "u y",
    signal.DiscreteTransferFunction: "u y", signal.DiscreteStateSpace: "u1 y1",
    signal.HarmonicEstimator: "u amplitude phase real imaginary",
    thermal.ThermalReference: "H", thermal.ThermalMass: "M", thermal.PerfectInsulator: "A",
    thermal.ConductiveHeatTransfer: "A B", thermal.ConvectiveHeatTransfer: "A B",
    thermal.RadiativeHeatTransfer: "A B", thermal.ThermalResistance: "A B",
    thermal.VariableThermalResistance: "A B R", thermal.TemperatureSource: "A S",
    thermal.HeatFlowRateSource: "A B S", thermal.ControlledTemperatureSource: "A B S",
    thermal.TemperatureSensor: "A B T", thermal.HeatFlowRateSensor: "A B H",
    isothermal_liquid.IsothermalLiquidProperties: "A", isothermal_liquid.Reservoir: "A",
    isothermal_liquid.Cap: "A", isothermal_liquid.ConstantVolumeChamber: "A",
    isothermal_liquid.LocalRestriction: "A B AR", isothermal_liquid.LaminarLeakage: "A B",
    isothermal_liquid.Pipe: "A B", isothermal_liquid.PressureSource: "A B P",
    isothermal_liquid.PressureSensor: "A B P", isothermal_liquid.FlowRateSensor: "A B M V",
    isothermal_liquid.TranslationalMechanicalConverter: "A C R",
    isothermal_liquid.RotationalMechanicalConverter: "A C R",
    isothermal_liquid.CheckValve: "A B", isothermal_liquid.PressureReliefValve: "A B",
    isothermal_liquid.DirectionalValve: "S A B P T", isothermal_liquid.VariableOrifice: "S A B",
    isothermal_liquid.FixedDisplacementPump: "B R C A", isothermal_liquid.Tank: "A V L",
    isothermal_liquid.VariableDisplacementPump: "D B R C A",
    isothermal_liquid.DoubleActingActuator: "C A p_out R B",
    isothermal_liquid.GasChargedAccumulator: "A",
    thermal_liquid.AbsoluteReference: "A", thermal_liquid.Cap: "A",
    thermal_liquid.ConstantVolumeChamber: "A H", thermal_liquid.FlowResistance: "A B",
    thermal_liquid.LocalRestriction: "A B AR", thermal_liquid.Pipe: "A B H",
    thermal_liquid.Reservoir: "A T", thermal_liquid.PressureSource: "A B P",
    thermal_liquid.FlowRateSource: "A B M", thermal_liquid.FlowRateSensor: "A B M V PHI",
    thermal_liquid.PressureTemperatureSensor: "A B P T",
    thermal_liquid.ThermodynamicPropertiesSensor: "A U H RHO CP",
    thermal_liquid.TranslationalMechanicalConverter: "A C H R",
    thermal_liquid.RotationalMechanicalConverter: "A C H R",
    gas.AbsoluteReference: "A", gas.Cap: "A", gas.ConstantVolumeChamber: "A H",
    gas.FlowResistance: "A B", gas.LocalRestriction: "A B AR", gas.Pipe: "A B H",
    gas.PressureSource: "A B P", gas.FlowRateSource: "A B M", gas.FlowRateSensor: "A B M V PHI",
    gas.PressureTemperatureSensor: "A B P T", gas.TranslationalMechanicalConverter: "A C H R",
    gas.RotationalMechanicalConverter: "A C H R", gas.GasProperties: "A",
    two_phase.AbsoluteReference: "A", two_phase.Cap: "A", two_phase.ConstantVolumeChamber: "A H",
    two_phase.FlowResistance: "A B", two_phase.LocalRestriction: "A B AR",
    two_phase.Pipe: "A B H", two_phase.Reservoir: "A T", two_phase.PressureSource: "A B P",
    two_phase.FlowRateSource: "A B M", two_phase.FlowRateSensor: "A B M V PHI",
    two_phase.TwoPhaseFluidProperties: "A",
    moist_air.AbsoluteReference: "A", moist_air.ConstantVolumeChamber: "A F H S W",
    moist_air.FlowResistance: "A B", moist_air.LocalRestriction: "A B AR",
    moist_air.Pipe: "A B F H S W", moist_air.Reservoir: "A T W G",
    moist_air.PressureSource: "A B P", moist_air.FlowRateSource: "A B M",
    moist_air.FlowRateSensor: "A B M V PHI W G",
    moist_air.PressureTemperatureSensor: "A B P T", moist_air.HumiditySensor: "A W G",
    moist_air.MeasurementSelector: "F P T W G", moist_air.MoistureSource: "S M T",
    moist_air.TraceGasSource: "S M T", moist_air.TranslationalMechanicalConverter: "A C F H R S W",
    moist_air.RotationalMechanicalConverter: "A C F H R S W", moist_air.MoistAirProperties: "A",
    mechanisms.GearBox: "S O", mechanisms.WheelAndAxle: "A P", mechanisms.Lever: "A B C",
    electrical.ElectricalReference: "V", electrical.OpenCircuit: "V",
    electrical.Diode: "p n", electrical.Switch: "p vT n", electrical.MOSFET: "G D S",
    electrical.IGBT: "G C E", electrical.Thyristor: "G A K", electrical.Resistor: "p n",
    electrical.VariableResistor: "R p n",
    electrical.Capacitor: "p n", electrical.Inductor: "p n", electrical.ThermalResistor: "H p n",
    electrical.IdealTransformer: "p1 n1 p2 n2", electrical.OpAmp: "p n out",
    electrical.DCVoltageSource: "p n", electrical.ACVoltageSource: "p n",
    electrical.ControlledVoltageSource: "p vT n",
    electrical.ControlledCurrentSource: "head iT tail",
    electrical.VoltageControlledVoltageSource: "p1 n1 p2 n2",
    electrical.CurrentControlledCurrentSource: "p1 n1 head tail",
    electrical.VoltageSensor: "p V n", electrical.CurrentSensor: "p I n"}

CHOICES = [
    (translational.HardStop, "model", "smooth"), (rotational.RotationalHardStop, "model", "smooth"),
    (translational.MotionSensor, "reference", "difference"),
    (translational.MotionSensor, "velocity_port", True),
    (translational.MotionSensor, "position_port", True),
    (translational.MotionSensor, "acceleration_port", False),
    (rotational.RotationalMotionSensor, "reference", "difference"),
    (rotational.RotationalMotionSensor, "wrap_angle", False),
    (mechanisms.WheelAndAxle, "direction", "positive"),
    (thermal.ConductiveHeatTransfer, "geometry", "planar"),
    (thermal.TemperatureSensor, "reference", "difference"),
    (isothermal_liquid.Reservoir, "pressure_spec", "atmospheric"),
    (isothermal_liquid.LocalRestriction, "restriction_type", "variable"),
    (isothermal_liquid.LocalRestriction, "pressure_recovery", False),
    (isothermal_liquid.LaminarLeakage, "cross_section_geometry", "circular"),
    (isothermal_liquid.Pipe, "dynamic_compressibility", True),
    (isothermal_liquid.Pipe, "inertia", False),
    (isothermal_liquid.PressureSensor, "measure", "difference"),
    (thermal_liquid.Reservoir, "pressure_spec", "atmospheric"),
    (thermal_liquid.LocalRestriction, "restriction_type", "variable"),
    (thermal_liquid.LocalRestriction, "pressure_recovery", True),
    (thermal_liquid.Pipe, "dynamic_compressibility", True), (thermal_liquid.Pipe, "inertia", False),
    (thermal_liquid.FlowRateSource, "power_spec", "isentropic"),
    (gas.GasProperties, "gas_spec", "perfect"), (gas.Pipe, "inertia", False),
    (gas.LocalRestriction, "restriction_type", "variable"),
    (two_phase.LocalRestriction, "restriction_type", "variable"),
    (two_phase.FlowRateSource, "power_spec", "isentropic"),
    (moist_air.Reservoir, "humidity_spec", "relative"),
    (moist_air.MoistureSource, "moisture_source_spec", "vapour"),
    (signal.Table1D, "interpolation", "linear"), (signal.Table1D, "extrapolation", "linear"),
    (signal.Table2D, "interpolation", "linear"), (signal.Table3D, "extrapolation", "linear"),
    (signal.DiscreteIntegrator, "method", "forward"), (signal.DiscretePID, "method", "forward"),
    (signal.Integrator, "limited", False), (signal.Integrator, "external_reset", False)]


def presets(row):
    """What is preset here and in Simscape, in SI; an error in place of both."""
    module, name = row["component"].split(".")
    try:
        cls = getattr(importlib.import_module(f"library.{module}"), name)
        declared = cls()._declared[row["name"]]  # with the options' own presets
        given = declared.default if isinstance(declared, Parameter) else declared.initial
        unit = "" if row["unit"] == "1" else row["unit"]
        written = f"{row['default']} {unit}".strip()
        if declared.unit.dimension != to_unit(unit).dimension:  # takes the unit of its value
            written = f"{row['default']} {declared.unit.text}"
        return given, pytest.approx(to_si(written, declared.unit), rel=1e-12)
    except (AttributeError, ImportError, KeyError, BlocksError) as wrong:
        return wrong, row["default"]


def test_a_component_presets_what_its_simscape_block_presets():
    assert len(ROWS) > 150
    rows = ((row["component"], row["name"], *presets(row)) for row in ROWS)
    assert [row for row in rows if row[2] != row[3]] == []


def test_a_component_has_the_ports_of_its_simscape_block():
    assert [(cls, [*cls().ports], ports) for cls, ports in PORTS.items()
            if set(cls().ports) != set(ports.split())] == []


def test_an_option_is_preset_as_in_simscape():
    assert [(cls, option) for cls, option, value in CHOICES if not isinstance(
        cls._declared[option], Option) or cls._declared[option].default != value] == []


def components():
    return [(m, n) for m in MODULES for n in m.__all__ if n not in BASES
            and isinstance(getattr(m, n), type) and issubclass(getattr(m, n), Component)]


def test_a_component_is_documented_and_has_a_test_of_its_own():
    documented, tested, for_both = described(), with_tests(), made_for_both_axes()
    assert len(components()) > 300
    assert [name for _, name in components() if name not in documented] == []
    assert [name for module, name in components()
            if name not in tested and getattr(module, name) not in for_both] == []


def described():
    """Words in the first cells of tables of the docs."""
    rows = (row for page in DOCS.glob("components_*.md") for row in page.read_text().splitlines())
    return {word for row in rows if row.startswith("|")
            for word in re.findall(r"\w+", row[1:].partition("|")[0])}


def with_tests():
    """Words that tests call, list or index with."""
    files = [*TESTS.glob("library/**/*.py"), *TESTS.glob("closed_forms/*.py")]
    return {word for file in files for word in re.findall(r"\b(\w+)[(,\]]", file.read_text())}


def made_for_both_axes():
    """Components that tests make along and about an axis, by one name."""
    texts = (p.read_text() for p in TESTS.glob("library/test_*_an_axis.py"))
    words = {word for text in texts for word in re.findall(r'"([A-Z]\w+)"', text)}
    return {axis.kind(word) for axis in (TRANSLATIONAL, ROTATIONAL) for word in words}


# -- what a component declares is what help() says of it -------------------------------------------
SIGNALS = {getattr(signal, name) for name in signal.__all__}
SAID = [(package, component) for package in (*MODULES, planar)
        for component in (getattr(package, name) for name in package.__all__)
        if inspect.isclass(component) and issubclass(component, Component)
        and component.__name__ not in BASES
        and component.__bases__[0] not in SIGNALS and component is not signal.Or]  # as those


def is_said(text, name, declared, of_signals):
    """Whether help() has a line of it, with its unit and start, and words below that.

    Inputs and outputs of blocks for signals need no words: they are u and y.
    """
    if isinstance(declared, Variable) and declared.initial is None and not isinstance(
            declared, (Input, Output)):
        return True
    words = "" if of_signals and isinstance(declared, (Input, Output)) else r"\n    \S"
    line = re.search(rf"^{name} : (.*){words}", text, re.M)
    unit = str(declared.unit) if isinstance(declared, Parameter) else ""
    return line is not None and (unit if unit != "1" else "") in line[1]


def test_help_says_all_that_is_declared_with_units_and_starts():
    assert len(SAID) > 300
    assert [f"{component.__name__}.{name}" for package, component in SAID
            for name, declared in component._declared.items()
            if isinstance(declared, (Parameter, Port, Variable))
            and not is_said(component.__doc__, name, declared, package is signal)] == []


def test_a_docstring_says_what_no_declaration_does():
    """Equations, signs, what is neglected; help() adds parameters, ports and starts to that."""
    assert [component.__name__ for _, component in SAID
            if len(component.__doc__.partition("Keywords\n---")[0].split()) < 10] == []


def test_every_component_stands_in_the_guide_of_its_package():
    assert [component.__name__ for package, component in SAID if package is not signal
            and f"``{component.__name__}``" not in package.__doc__] == []
