"""Open inputs, lines with two outputs and circles of signals are told by name."""

import pytest
from benches import wired
from benches.wrong_models import Gain, Lag, Memory, Shell, says

from library.electrical import DCVoltageSource, ElectricalReference, HalfBridge, Resistor


def only(model):
    findings = model.check()
    assert len(findings) == 1, str(findings)
    return findings[0]


def test_an_open_input_without_default_is_an_error():
    model = wired("signals", "a.y b.u", a=Gain(), b=Gain())
    finding = only(model)
    assert finding.severity == "error"
    says(finding, "signal.unconnected", ["a.u"],
         "input a.u is connected to nothing … an output in N to it: model.connect(…, model.a.u).")


def test_an_open_input_of_a_composite_is_named_as_its_user_sees_it():
    model = wired("signals", shell=Shell())
    finding = only(model)
    assert (finding.code, finding.where) == ("signal.unconnected", ("shell.u",))


def test_an_input_of_a_composite_that_a_part_has_a_value_for_is_told():
    model = wired("signals", "source.p leg.P", "leg.A load.p", "source.n leg.N load.n ground.V",
                  leg=HalfBridge(), source=DCVoltageSource(voltage="5 V"), load=Resistor(),
                  ground=ElectricalReference())
    upper, lower = model.check()
    assert (upper.code, upper.severity) == ("signal.assumed", "warning")
    assert (upper.where, lower.where) == (("leg.upper",), ("leg.lower",))
    assert "gate of leg.high stands in for it" in str(upper)


def test_a_line_takes_one_output_only():
    model = wired("signals", "a.y b.u", "b.y c.u a.u", "c.y a.u", a=Lag(), b=Lag(), c=Lag())
    says(only(model), "signal.outputs", ["b.y", "c.y", "a.u", "c.u"],
         "a.u and c.u are connected to 2 outputs at once: b.y and c.y. Keep one of them")


def test_signals_in_a_circle_are_named_in_order():
    model = wired("signals", "a.y b.u", "b.y c.u", "c.y a.u", a=Gain(), b=Gain(), c=Gain())
    finding = only(model)
    assert (finding.code, finding.severity) == ("signal.loop", "warning")
    assert finding.where == ("a", "b", "c")
    assert "a -> b -> c -> a. " in finding.problem and "break the circle with" in finding.advice


@pytest.mark.parametrize("Delay", [Lag, Memory])
def test_a_lag_in_the_circle_breaks_it(Delay):
    model = wired("signals", "a.y b.u", "b.y a.u", a=Gain(), b=Delay())
    assert len(model.check()) == 0
