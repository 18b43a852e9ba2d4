"""Open inputs, lines with two outputs and circles of signals are told by name."""

import pytest
from wrong_models import Gain, Lag, Memory, Shell, says

from blocks import Model
from library.electrical import DCVoltageSource, ElectricalReference, HalfBridge, Resistor


def only(model):
    findings = model.check()
    assert len(findings) == 1, str(findings)
    return findings[0]


def test_an_open_input_without_default_is_an_error():
    model = Model("signals")
    model.a, model.b = Gain(), Gain()
    model.connect(model.a.y, model.b.u)
    finding = only(model)
    assert finding.severity == "error"
    says(finding, "signal.unconnected", ["a.u"],
         "input a.u is connected to nothing … an output in N to it: model.connect(…, model.a.u).")


def test_an_open_input_of_a_composite_is_named_as_its_user_sees_it():
    model = Model("signals")
    model.shell = Shell()
    finding = only(model)
    assert (finding.code, finding.where) == ("signal.unconnected", ("shell.u",))


def test_an_input_of_a_composite_that_a_part_has_a_value_for_is_told():
    model = Model("signals")
    model.leg, model.source = HalfBridge(), DCVoltageSource(voltage="5 V")
    model.load, model.ground = Resistor(), ElectricalReference()
    model.connect(model.source.p, model.leg.P)
    model.connect(model.leg.A, model.load.p)
    model.connect(model.source.n, model.leg.N, model.load.n, model.ground.V)
    upper, lower = model.check()
    assert (upper.code, upper.severity) == ("signal.assumed", "warning")
    assert (upper.where, lower.where) == (("leg.upper",), ("leg.lower",))
    assert "gate of leg.high stands in for it" in str(upper)


def test_a_line_takes_one_output_only():
    model = Model("signals")
    model.a, model.b, model.c = Lag(), Lag(), Lag()
    model.connect(model.a.y, model.b.u)
    model.connect(model.b.y, model.c.u, model.a.u)
    model.connect(model.c.y, model.a.u)
    says(only(model), "signal.outputs", ["b.y", "c.y", "a.u", "c.u"],
         "a.u and c.u are connected to 2 outputs at once: b.y and c.y. Keep one of them")


def test_signals_in_a_circle_are_named_in_order():
    model = Model("signals")
    model.a, model.b, model.c = Gain(), Gain(), Gain()
    model.connect(model.a.y, model.b.u)
    model.connect(model.b.y, model.c.u)
    model.connect(model.c.y, model.a.u)
    finding = only(model)
    assert (finding.code, finding.severity) == ("signal.loop", "warning")
    assert finding.where == ("a", "b", "c")
    assert "a -> b -> c -> a. " in finding.problem and "break the circle with" in finding.advice


@pytest.mark.parametrize("Delay", [Lag, Memory])
def test_a_lag_in_the_circle_breaks_it(Delay):
    model = Model("signals")
    model.a, model.b = Gain(), Delay()
    model.connect(model.a.y, model.b.u)
    model.connect(model.b.y, model.a.u)
    assert len(model.check()) == 0
