"""Ideal amplifiers whose output does not act back on the inverting input."""

import pytest
from benches import wire
from benches.electrical import circuit

from blocks import StructureError
from library.electrical import Capacitor, DCVoltageSource, OpAmp, Resistor


def amplifier(**parts):
    return circuit("amplifier", "source.n load.n ground.V", "amp.out load.p",
                   source=DCVoltageSource(voltage="1 V"), amp=OpAmp(), load=Resistor(), **parts)


def codes(m):
    return [f.code for f in m.check() if f.code.startswith("network.")]


def follower():
    m = amplifier()
    wire(m, "source.p amp.p", "amp.out amp.n")
    return m


def inverting():
    m = amplifier(a=Resistor(), b=Capacitor(), hold=Resistor())
    wire(m, "source.p a.p", "a.n b.p hold.p amp.n", "amp.out b.n hold.n", "amp.p ground.V")
    return m


def through_a_second_one():
    """Positive around the first alone, negative with the inverting one in the way."""
    m = amplifier(a=Resistor(), b=Resistor(), c=Resistor(), second=OpAmp(), d=Resistor())
    wire(m, "source.p a.p", "a.n b.p amp.p", "amp.out c.p", "c.n d.p second.n",
         "second.out d.n b.n", "amp.n second.p ground.V")
    return m


@pytest.mark.parametrize("made", [follower, inverting, through_a_second_one])
def test_negative_feedback_is_seen(made):
    assert codes(made()) == []


def test_an_amplifier_without_feedback_is_named():
    m = amplifier(r=Resistor(), c=Capacitor())
    wire(m, "source.p r.p", "r.n c.p amp.p", "c.n amp.n ground.V")
    with pytest.raises(StructureError, match=r"^amp has no feedback: no way leads from amp.out "
                                             r"back to amp.n.* Connect amp.out to amp.n"):
        m.simulate("1 ms")
    assert codes(m) == ["network.feedback"]


def test_a_source_over_the_inputs_is_no_conflict_of_its_own():
    m = amplifier()
    wire(m, "source.p amp.p", "amp.n ground.V")
    assert [f.code for f in m.check() if f.severity == "error"] == ["network.feedback"]


def test_positive_feedback_alone_is_warned_of():
    m = amplifier(a=Resistor(), b=Resistor())
    wire(m, "source.p amp.n", "amp.out a.p", "a.n b.p amp.p", "b.n ground.V")
    assert codes(m) == ["network.positive"]
