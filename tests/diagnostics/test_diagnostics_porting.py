"""Mistakes of somebody who rebuilds a model of another tool, in circuits, heat, iron and liquid."""

import pytest

from blocks import BlocksError, Model
from blocks.exceptions import ConnectionRefused
from library import electrical as e
from library import isothermal_liquid as liquid
from library import magnetic as g
from library import thermal as h
from library.electromechanical import DCMotor
from library.rotational import Inertia
from library.signal import Constant


def circuit(source):
    model = Model("circuit")
    model.ground, model.s = e.ElectricalReference(), source
    model.connect(model.s.n, model.ground.V)
    return model


def loaded(source):
    model = circuit(source)
    model.r = e.Resistor()
    model.connect(model.s.p, model.r.p)
    model.connect(model.r.n, model.ground.V)
    return model


@pytest.mark.parametrize(("make", "meant"), [
    (lambda: e.Resistor(resistance="10k"), "'10 kohm'"),
    (lambda: e.Resistor(resistance="4k7"), "'4.7 kohm'"),
    (lambda: e.Resistor(resistance="1meg"), "'1 Mohm'"),
    (lambda: e.Resistor(resistance="10 K"), "'10 kohm'"),
    (lambda: e.Capacitor(capacitance="100n"), "'100 nF'"),
    (lambda: e.Capacitor(capacitance="10 UF"), "'uF'"),
    (lambda: h.ThermalMass(specific_heat="447 J/kgK"), "'J/(kg*K)'"),
    (lambda: h.ConductiveHeatTransfer(thermal_conductivity="401 W/mK"), "'W/(m*K)'"),
    (lambda: h.ConvectiveHeatTransfer(heat_transfer_coefficient="20 W/m2K"), "'W/(m^2*K)'"),
    (lambda: h.TemperatureSource(temperature="20 deg"), "'degC'"),
    (lambda: liquid.FlowRateSource(flow_type="volumetric", volume_flow="10 lpm"), "'l/min'"),
])  # fmt: skip
def test_a_value_as_it_is_written_elsewhere_is_answered_with_what_is_meant(make, meant):
    with pytest.raises(BlocksError) as caught:
        make()
    assert caught.value.advice.endswith(f"Did you mean {meant}?")


def test_a_length_is_not_taken_for_a_milliohm():
    with pytest.raises(BlocksError) as caught:
        e.Resistor(resistance="10 m")
    assert caught.value.advice == "Give it in ohm."


def test_a_port_that_an_option_shows_is_answered_with_the_option():
    model = loaded(e.DCVoltageSource())
    model.body = h.ThermalMass()
    with pytest.raises(ConnectionRefused) as caught:
        model.connect(model.r.H, model.body.M)
    assert caught.value.advice == "Make it with Resistor(thermal_port=True)."


def test_a_signal_without_unit_is_told_apart_from_one_in_another():
    model = loaded(e.ControlledVoltageSource(voltage="1 V"))
    model.k = Constant(value=5)
    with pytest.raises(ConnectionRefused) as caught:
        model.connect(model.k.y, model.s.vT)
    assert caught.value.problem == "k.y has no unit, s.vT is in V."


def test_a_source_without_its_signal_is_told_of_unless_its_value_was_given():
    (finding,) = loaded(e.ControlledVoltageSource()).check().filter("signal")
    assert (finding.code, finding.severity, finding.where) == ("signal.default", "info", ("s.vT",))
    assert "voltage was not given, so it stays at 0 V" in finding.problem
    assert not loaded(e.ControlledVoltageSource(voltage="0 V")).check().filter("signal")


def test_liquid_whose_pressure_nothing_fixes_is_told_of_in_its_words():
    model = Model("loop")
    model.p, model.r = liquid.PressureSource(pressure_difference="1 MPa"), liquid.FlowResistance()
    model.connect(model.p.A, model.r.B)
    model.connect(model.p.B, model.r.A)
    (finding,) = model.check().errors
    assert finding.code == "reference.missing"
    assert "has no Reservoir" in finding.problem
    assert "model.ground = Reservoir()" in finding.advice


def test_a_motor_whose_case_is_left_open_is_told_of_by_that_port():
    model = circuit(e.DCVoltageSource())
    model.motor, model.rotor = DCMotor(), Inertia()
    model.connect(model.s.p, model.motor.p)
    model.connect(model.motor.n, model.ground.V)
    model.connect(model.motor.R, model.rotor.I)
    (finding,) = model.check().errors
    assert finding.problem.startswith("motor.C is connected to nothing, so an equation of motor")
    assert finding.advice.startswith("Connect motor.C:")


def test_a_magnetic_short_of_an_actuator_with_rigid_stops_is_no_contact_with_itself():
    model = Model("actuator")
    model.pole, model.act = g.MagneticReference(), g.ReluctanceForceActuator(model="restitution",
                                                                             least_gap="0.1 mm")
    model.connect(model.act.N, model.act.S, model.pole.M)
    findings = model.check()
    assert "contact.rigid" not in findings
    (finding,) = findings.filter("network.shorted")
    assert "(N and S) are connected to the same node" in finding.problem
