"""Ideal amplifiers whose output does not act back on the inverting input."""

from __future__ import annotations

import pytest
from benches.electrical import circuit

from blocks import StructureError
from library.electrical import Capacitor, DCVoltageSource, OpAmp, Resistor


def amplifier(**parts):
    m = circuit("amplifier", source=DCVoltageSource(voltage="1 V"), amp=OpAmp(), load=Resistor(),
                **parts)
    m.connect(m.source.n, m.load.n, m.ground.V)
    m.connect(m.amp.out, m.load.p)
    return m


def codes(m):
    return [f.code for f in m.check() if f.code.startswith("network.")]


def follower():
    m = amplifier()
    m.connect(m.source.p, m.amp.p)
    m.connect(m.amp.out, m.amp.n)
    return m


def inverting():
    m = amplifier(a=Resistor(), b=Capacitor(), hold=Resistor())
    m.connect(m.source.p, m.a.p)
    m.connect(m.a.n, m.b.p, m.hold.p, m.amp.n)
    m.connect(m.amp.out, m.b.n, m.hold.n)
    m.connect(m.amp.p, m.ground.V)
    return m


def through_a_second_one():
    """Positive around the first alone, negative with the inverting one in the way."""
    m = amplifier(a=Resistor(), b=Resistor(), c=Resistor(), second=OpAmp(), d=Resistor())
    m.connect(m.source.p, m.a.p)
    m.connect(m.a.n, m.b.p, m.amp.p)
    m.connect(m.amp.out, m.c.p)
    m.connect(m.c.n, m.d.p, m.second.n)
    m.connect(m.second.out, m.d.n, m.b.n)
    m.connect(m.amp.n, m.second.p, m.ground.V)
    return m


@pytest.mark.parametrize("made", [follower, inverting, through_a_second_one])
def test_negative_feedback_is_seen(made):
    assert codes(made()) == []


def test_an_amplifier_without_feedback_is_named():
    m = amplifier(r=Resistor(), c=Capacitor())
    m.connect(m.source.p, m.r.p)
    m.connect(m.r.n, m.c.p, m.amp.p)
    m.connect(m.c.n, m.amp.n, m.ground.V)
    with pytest.raises(StructureError, match=r"^amp has no feedback: no way leads from amp.out "
                                             r"back to amp.n.* Connect amp.out to amp.n"):
        m.simulate("1 ms")
    assert codes(m) == ["network.feedback"]


def test_a_source_over_the_inputs_is_no_conflict_of_its_own():
    m = amplifier()
    m.connect(m.source.p, m.amp.p)
    m.connect(m.amp.n, m.ground.V)
    assert [f.code for f in m.check() if f.severity == "error"] == ["network.feedback"]


def test_positive_feedback_alone_is_warned_of():
    m = amplifier(a=Resistor(), b=Resistor())
    m.connect(m.source.p, m.amp.n)
    m.connect(m.amp.out, m.a.p)
    m.connect(m.a.n, m.b.p, m.amp.p)
    m.connect(m.b.n, m.ground.V)
    assert codes(m) == ["network.positive"]
