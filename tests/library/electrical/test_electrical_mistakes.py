"""Mistakes in circuits are found before a run, in words of the circuit."""

from __future__ import annotations

import pytest
from electrical_bench import across, circuit, ring

from blocks.exceptions import BlocksError, MissingUnit, UnknownName, UnknownUnit, WrongDimension
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    DCCurrentSource,
    DCVoltageSource,
    ElectricalReference,
    Inductor,
    OpAmp,
    Resistor,
)


@pytest.mark.parametrize(("make", "error", "said"), [
    (lambda: Resistor(resistance="1 kN"), WrongDimension, "takes ohm or any unit convertible"),
    (lambda: Resistor(resistance="1 S"), WrongDimension, "one over a resistance"),
    (lambda: Resistor(resistance="1 uF"), WrongDimension, r"Capacitor\(capacitance=…\)"),
    (lambda: Capacitor(capacitance="1 mH"), WrongDimension, r"Inductor\(inductance=…\)"),
    (lambda: Inductor(inductance="1 kohm"), WrongDimension, r"Resistor\(resistance=…\)"),
    (lambda: DCVoltageSource(voltage="1 A"), WrongDimension, r"DCCurrentSource\(current=…\)"),
    (lambda: Resistor(resistance=1000), MissingUnit, "Write '1000 ohm'"),
    (lambda: Resistor(resistance="1 KOhm"), UnknownUnit, "Did you mean 'kohm'"),
    (lambda: Resistor(R="1 kohm"), UnknownName, "R is resistance here"),
    (lambda: Inductor(l="1 mH"), UnknownName, "l is inductance here"),
    (lambda: ACVoltageSource(amp="5 V"), UnknownName, "amp is amplitude here"),
    (lambda: Capacitor(v_start="1 V"), UnknownName, "v"),
], ids=lambda value: "" if callable(value) else value)  # fmt: skip
def test_a_wrong_value_or_word_is_answered_with_the_right_one(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_ohm_may_be_written_as_a_name():
    assert Resistor(resistance="1.5 kOhm").resistance.to("ohm").magnitude == 1500
    assert Resistor(resistance="2 Ohm").resistance.to("ohm").magnitude == 2


def shorted_source():
    model = circuit(source=DCVoltageSource())
    model.connect(model.source.p, model.source.n, model.ground.V)
    return model


def two_sources():
    return across(DCVoltageSource(voltage="2 V"), "1 V")


def two_current_sources():
    model = circuit(a=DCCurrentSource(), b=DCCurrentSource(current="2 A"))
    model.connect(model.a.n, model.b.p)
    model.connect(model.b.n, model.a.p, model.ground.V)
    return model


def no_reference():
    model = ring(DCVoltageSource(), Resistor())
    del model.ground
    return model


def a_reference_at_either_end_of_a_source():
    model = ring(DCVoltageSource(), Resistor())
    model.other = ElectricalReference()
    model.connect(model.other.V, model.part1.p)
    return model


def no_resistance():
    return across(Resistor(resistance="0 ohm"), "1 V")


def no_feedback():
    model = circuit(source=DCVoltageSource(), amp=OpAmp(), load=Resistor())
    model.connect(model.source.p, model.amp.p)
    model.connect(model.amp.out, model.load.p)
    model.connect(model.source.n, model.load.n, model.ground.V)
    return model


@pytest.mark.parametrize(("make", "code", "said"), [
    (shorted_source, "conflict.across", "source prescribes the voltage between its ports p and n"),
    (two_sources, "conflict.across", "both prescribe the voltage between the same two nodes"),
    (two_current_sources, "conflict.through", "both prescribe the current at one node"),
    (no_reference, "reference.missing", "has no ElectricalReference"),
    (a_reference_at_either_end_of_a_source, "conflict.across", "part1 prescribes the voltage"),
    (no_resistance, "initial.dependent", "part.resistance a value other than zero"),
    (no_feedback, "network.floating", "the voltage at the node of amp.n"),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_a_circuit_without_a_solution_is_refused_by_name(make, code, said):
    model = make()
    errors = model.check().errors
    assert code in [e.code for e in errors]
    assert any(said in f"{e.problem} {e.advice}" for e in errors), errors
    with pytest.raises(BlocksError):
        model.simulate("1 ms")
