"""Are components named and preset as users of Simscape expect, documented and tested?

Names, defaults and ports: ``tests/data/simscape_blocks.csv``, which says where they are from.
"""

import csv
import importlib
import inspect
import re
from pathlib import Path

import pytest
from benches import declared
from benches.axis import ROTATIONAL, TRANSLATIONAL

import library.electrical as el
import library.electromechanical as em
import library.isothermal_liquid as il
import library.magnetic as ma
import library.mechanisms as me
import library.moist_air as air
import library.planar as pl
import library.rotational as ro
import library.signal as si
import library.thermal as th
import library.thermal_liquid as tl
import library.translational as tr
import library.two_phase as tp
from blocks import BlocksError, Component, Input, Option, Output, Parameter, Port, Variable
from blocks.units import to_si
from blocks.units import unit as to_unit
from library import gas

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs"
MODULES = (tr, ro, me, si, el, ma, em, th, il, tl, gas, tp, air)
BASES = {"TwoPort", "TwoFrame", "PressedFriction"}
LINES = (TESTS / "data" / "simscape_blocks.csv").read_text().splitlines()
ROWS = list(csv.DictReader(line for line in LINES if not line.startswith("#")))

# ports: conserving and signals, as Simscape draws them
PORTS = {
    tr.Mass: "M", tr.Reference: "V", tr.FreeEnd: "V", tr.Spring: "R C", tr.Damper: "R C",
    tr.Inerter: "R C", tr.TranslationalFriction: "R C", tr.HardStop: "R C", tr.ForceSource: "R C S",
    tr.VelocitySource: "R C S", tr.ForceSensor: "R C F", tr.MotionSensor: "R C V P",
    ro.Inertia: "I", ro.RotationalReference: "W", ro.RotationalFreeEnd: "W",
    ro.RotationalSpring: "R C", ro.RotationalDamper: "R C", ro.RotationalFriction: "R C",
    ro.RotationalHardStop: "R C", ro.TorqueSource: "R C S", ro.AngularVelocitySource: "R C S",
    ro.TorqueSensor: "R C T", ro.RotationalMotionSensor: "R C W A", ma.MagneticReference: "M",
    ma.FundamentalReluctance: "N S", ma.Reluctance: "N S", ma.VariableReluctance: "N S X",
    ma.PermanentMagnet: "N S", ma.EddyCurrent: "N S", ma.ElectromagneticConverter: "p n N S",
    ma.ReluctanceForceActuator: "N S R C", em.RotationalElectromechanicalConverter: "p n R C",
    em.TranslationalElectromechanicalConverter: "p n R C", em.DCMotor: "p n R C",
    em.ThermalDCMotor: "p n R C H", em.PWMVoltage: "p1 n1 p2 n2",
    em.BridgeDriver: "PWM REF REV BRK a b", ro.RotationalNonlinearDamper: "R C",
    ro.QuadraticSpeedDependentTorque: "R C", tr.NonlinearDamper: "R C",
    tr.QuadraticSpeedDependentForce: "R C", si.Terminator: "u", si.VectorNorm: "u1 u2 u3 y",
    si.DiscretePID: "u y", si.PythonFunction: "u1 y1", si.MultiportSwitch: "u1 u2 u3 control y",
    si.DiscreteIntegrator: "u y", si.DiscreteTransferFunction: "u y",
    si.DiscreteStateSpace: "u1 y1", si.HarmonicEstimator: "u amplitude phase real imaginary",
    th.ThermalReference: "H", th.ThermalMass: "M", th.PerfectInsulator: "A",
    th.ConductiveHeatTransfer: "A B", th.ConvectiveHeatTransfer: "A B",
    th.RadiativeHeatTransfer: "A B", th.ThermalResistance: "A B",
    th.VariableThermalResistance: "A B R", th.TemperatureSource: "A S",
    th.HeatFlowRateSource: "A B S", th.ControlledTemperatureSource: "A B S",
    th.TemperatureSensor: "A B T", th.HeatFlowRateSensor: "A B H",
    il.IsothermalLiquidProperties: "A", il.Reservoir: "A", il.Cap: "A",
    il.ConstantVolumeChamber: "A", il.LocalRestriction: "A B AR", il.LaminarLeakage: "A B",
    il.Pipe: "A B", il.PressureSource: "A B P", il.PressureSensor: "A B P",
    il.FlowRateSensor: "A B M V", il.TranslationalMechanicalConverter: "A C R",
    il.RotationalMechanicalConverter: "A C R", il.CheckValve: "A B", il.PressureReliefValve: "A B",
    il.DirectionalValve: "S A B P T", il.VariableOrifice: "S A B",
    il.FixedDisplacementPump: "B R C A", il.Tank: "A V L", il.VariableDisplacementPump: "D B R C A",
    il.DoubleActingActuator: "C A p_out R B", il.GasChargedAccumulator: "A",
    tl.AbsoluteReference: "A", tl.Cap: "A", tl.ConstantVolumeChamber: "A H",
    tl.FlowResistance: "A B", tl.LocalRestriction: "A B AR", tl.Pipe: "A B H", tl.Reservoir: "A T",
    tl.PressureSource: "A B P", tl.FlowRateSource: "A B M", tl.FlowRateSensor: "A B M V PHI",
    tl.PressureTemperatureSensor: "A B P T", tl.ThermodynamicPropertiesSensor: "A U H RHO CP",
    tl.TranslationalMechanicalConverter: "A C H R", tl.RotationalMechanicalConverter: "A C H R",
    gas.AbsoluteReference: "A", gas.Cap: "A", gas.ConstantVolumeChamber: "A H",
    gas.FlowResistance: "A B", gas.LocalRestriction: "A B AR", gas.Pipe: "A B H",
    gas.PressureSource: "A B P", gas.FlowRateSource: "A B M", gas.FlowRateSensor: "A B M V PHI",
    gas.PressureTemperatureSensor: "A B P T", gas.TranslationalMechanicalConverter: "A C H R",
    gas.RotationalMechanicalConverter: "A C H R", gas.GasProperties: "A", tp.AbsoluteReference: "A",
    tp.Cap: "A", tp.ConstantVolumeChamber: "A H", tp.FlowResistance: "A B",
    tp.LocalRestriction: "A B AR", tp.Pipe: "A B H", tp.Reservoir: "A T",
    tp.PressureSource: "A B P", tp.FlowRateSource: "A B M", tp.FlowRateSensor: "A B M V PHI",
    tp.TwoPhaseFluidProperties: "A", air.AbsoluteReference: "A",
    air.ConstantVolumeChamber: "A F H S W", air.FlowResistance: "A B",
    air.LocalRestriction: "A B AR", air.Pipe: "A B F H S W", air.Reservoir: "A T W G",
    air.PressureSource: "A B P", air.FlowRateSource: "A B M", air.FlowRateSensor: "A B M V PHI W G",
    air.PressureTemperatureSensor: "A B P T", air.HumiditySensor: "A W G",
    air.MeasurementSelector: "F P T W G", air.MoistureSource: "S M T", air.TraceGasSource: "S M T",
    air.TranslationalMechanicalConverter: "A C F H R S W",
    air.RotationalMechanicalConverter: "A C F H R S W", air.MoistAirProperties: "A",
    me.GearBox: "S O", me.WheelAndAxle: "A P", me.Lever: "A B C", el.ElectricalReference: "V",
    el.OpenCircuit: "V", el.Diode: "p n", el.Switch: "p vT n", el.MOSFET: "G D S", el.IGBT: "G C E",
    el.Thyristor: "G A K", el.Resistor: "p n", el.VariableResistor: "R p n", el.Capacitor: "p n",
    el.Inductor: "p n", el.ThermalResistor: "H p n", el.IdealTransformer: "p1 n1 p2 n2",
    el.OpAmp: "p n out", el.DCVoltageSource: "p n", el.ACVoltageSource: "p n",
    el.ControlledVoltageSource: "p vT n", el.ControlledCurrentSource: "head iT tail",
    el.VoltageControlledVoltageSource: "p1 n1 p2 n2",
    el.CurrentControlledCurrentSource: "p1 n1 head tail", el.VoltageSensor: "p V n",
    el.CurrentSensor: "p I n"}

CHOICES = ((tr.HardStop, "model", "smooth"), (ro.RotationalHardStop, "model", "smooth"),
    (tr.MotionSensor, "reference", "difference"), (tr.MotionSensor, "velocity_port", True),
    (tr.MotionSensor, "position_port", True), (tr.MotionSensor, "acceleration_port", False),
    (ro.RotationalMotionSensor, "reference", "difference"),
    (ro.RotationalMotionSensor, "wrap_angle", False), (me.WheelAndAxle, "direction", "positive"),
    (th.ConductiveHeatTransfer, "geometry", "planar"),
    (th.TemperatureSensor, "reference", "difference"),
    (il.Reservoir, "pressure_spec", "atmospheric"),
    (il.LocalRestriction, "restriction_type", "variable"),
    (il.LocalRestriction, "pressure_recovery", False),
    (il.LaminarLeakage, "cross_section_geometry", "circular"),
    (il.Pipe, "dynamic_compressibility", True), (il.Pipe, "inertia", False),
    (il.PressureSensor, "measure", "difference"), (tl.Reservoir, "pressure_spec", "atmospheric"),
    (tl.LocalRestriction, "restriction_type", "variable"),
    (tl.LocalRestriction, "pressure_recovery", True), (tl.Pipe, "dynamic_compressibility", True),
    (tl.Pipe, "inertia", False), (tl.FlowRateSource, "power_spec", "isentropic"),
    (gas.GasProperties, "gas_spec", "perfect"), (gas.Pipe, "inertia", False),
    (gas.LocalRestriction, "restriction_type", "variable"),
    (tp.LocalRestriction, "restriction_type", "variable"),
    (tp.FlowRateSource, "power_spec", "isentropic"), (air.Reservoir, "humidity_spec", "relative"),
    (air.MoistureSource, "moisture_source_spec", "vapour"), (si.Table1D, "interpolation", "linear"),
    (si.Table1D, "extrapolation", "linear"), (si.Table2D, "interpolation", "linear"),
    (si.Table3D, "extrapolation", "linear"), (si.DiscreteIntegrator, "method", "forward"),
    (si.DiscretePID, "method", "forward"), (si.Integrator, "limited", False),
    (si.Integrator, "external_reset", False))


def presets(row):
    """What is preset here and in Simscape, in SI; an error in place of both."""
    module, name = row["component"].split(".")
    try:
        cls = getattr(importlib.import_module(f"library.{module}"), name)
        made = cls()  # with the options' own presets
        one, entry = (found.get(row["name"]) for found in (
            declared(cls), {**made.parameters, **made.variables}))
        unit = "" if row["unit"] == "1" else row["unit"]
        own = to_unit(entry.unit) if entry else one.unit
        given = to_si(entry.default, own) if entry else getattr(
            one, "default" if isinstance(one, Parameter) else "initial")
        written = f"{row['default']} {unit}".strip()
        if own.dimension != to_unit(unit).dimension:  # takes the unit of its value
            written = f"{row['default']} {own.text}"
        return given, pytest.approx(to_si(written, own), rel=1e-12)
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
        one := declared(cls)[option], Option) or one.default != value] == []


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
SIGNALS = {getattr(si, name) for name in si.__all__}
SAID = [(package, component) for package in (*MODULES, pl)
        for component in (getattr(package, name) for name in package.__all__)
        if inspect.isclass(component) and issubclass(component, Component)
        and component.__name__ not in BASES
        and component.__bases__[0] not in SIGNALS and component is not si.Or]  # as those


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
    assert [f"{component.__name__}.{name}" for package, component in SAID for name,
            one in declared(component).items() if isinstance(one, (Parameter, Port, Variable))
            and not is_said(component.__doc__, name, one, package is si)] == []


def test_a_docstring_says_what_no_declaration_does():
    """Equations, signs, what is neglected; help() adds parameters, ports and starts to that."""
    assert [component.__name__ for _, component in SAID
            if len(component.__doc__.partition("Keywords\n---")[0].split()) < 10] == []


def test_every_component_stands_in_the_guide_of_its_package():
    assert [component.__name__ for package, component in SAID if package is not si
            and f"``{component.__name__}``" not in package.__doc__] == []
