"""Mistakes in circuits are found before a run, in words of the circuit."""

import numpy as np
import pytest
from benches import wire, wired
from benches.electrical import across, circuit, ring

import library.electrical as el
from blocks.exceptions import BlocksError, MissingUnit, UnknownName, UnknownUnit, WrongDimension


@pytest.mark.parametrize(("make", "error", "said"), [
    (lambda: el.Resistor(resistance="1 kN"), WrongDimension, "a thousand ohm are '1 kohm'"),
    (lambda: el.Resistor(resistance="1 S"), WrongDimension, "one over a resistance"),
    (lambda: el.Resistor(resistance="1 uF"), WrongDimension, r"Capacitor\(capacitance=…\)"),
    (lambda: el.Capacitor(capacitance="1 mH"), WrongDimension, r"Inductor\(inductance=…\)"),
    (lambda: el.Inductor(inductance="1 kohm"), WrongDimension, r"Resistor\(resistance=…\)"),
    (lambda: el.DCVoltageSource(voltage="1 A"), WrongDimension, r"DCCurrentSource\(current=…\)"),
    (lambda: el.Resistor(resistance=1000), MissingUnit, "Write '1000 ohm'"),
    (lambda: el.Resistor(resistance="1 KOhm"), UnknownUnit, "Did you mean 'kohm'"),
    (lambda: el.Resistor(R="1 kohm"), UnknownName, "R is resistance here"),
    (lambda: el.Inductor(l="1 mH"), UnknownName, "l is inductance here"),
    (lambda: el.ACVoltageSource(amp="5 V"), UnknownName, "amp is amplitude here"),
    (lambda: el.Capacitor(v_start="1 V"), UnknownName, "v"),
], ids=lambda value: "" if callable(value) else value)  # fmt: skip
def test_a_wrong_value_or_word_is_answered_with_the_right_one(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_ohm_may_be_written_as_a_name():
    assert el.Resistor(resistance="1.5 kOhm").resistance.to("ohm").magnitude == 1500
    assert el.Resistor(resistance="2 Ohm").resistance.to("ohm").magnitude == 2


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [(lambda: circuit("circuit", "source.p source.n ground.V", source=el.DCVoltageSource()),
      "conflict.across", "source prescribes the voltage between its ports p and n"),
     (lambda: across(el.DCVoltageSource(voltage="2 V"), "1 V"), "conflict.across",
      "both prescribe the voltage between the same two nodes"),
     (lambda: circuit("circuit", "a.n b.p", "b.n a.p ground.V", a=el.DCCurrentSource(),
                      b=el.DCCurrentSource(current="2 A")), "conflict.through",
      "both prescribe the current at one node"),
     (lambda: wired("circuit", "source.p load.p", "source.n load.n", source=el.DCVoltageSource(),
                    load=el.Resistor()), "reference.missing", "has no ElectricalReference"),
     (lambda: circuit("circuit", "source.p load.p other.V", "source.n load.n ground.V",
                      source=el.DCVoltageSource(), load=el.Resistor(),
                      other=el.ElectricalReference()),
      "conflict.across", "source prescribes the voltage"),
     (lambda: across(el.Resistor(resistance="0 ohm"), "1 V"), "initial.dependent",
      "part.resistance a value other than zero"),
     (lambda: circuit("circuit", "source.p amp.p", "amp.out load.p", "source.n load.n ground.V",
                      source=el.DCVoltageSource(), amp=el.OpAmp(), load=el.Resistor()),
      "network.floating", "the voltage at the node of amp.n")],
    ids=["shorted source", "two sources", "two current sources", "no reference",
         "a reference at either end", "no resistance", "no feedback"])  # fmt: skip
def test_a_circuit_without_a_solution_is_refused_by_name(make, code, said):
    model = make()
    errors = model.check().errors
    assert code in [e.code for e in errors]
    assert any(said in f"{e.problem} {e.advice}" for e in errors), errors
    with pytest.raises(BlocksError):
        model.simulate("1 ms")


def transformer():
    return circuit("circuit", "source.p t.p1", "t.n1 source.n ground.V", "t.p2 load.p",
                   source=el.DCVoltageSource(), t=el.IdealTransformer(), load=el.Resistor())


def test_the_far_side_of_a_transformer_needs_a_reference_of_its_own():
    model = transformer()
    model.connect(model.t.n2, model.load.n)
    (finding,) = model.check().errors
    assert finding.code == "reference.missing"
    assert finding.problem.startswith("The electrical circuit of t and load has no Electrical")


def test_an_autotransformer_is_no_short():
    model = transformer()
    model.connect(model.t.n1, model.load.n, model.t.n2)
    assert not model.check()
    model = circuit(source=el.DCVoltageSource(voltage="2 V"), t=el.IdealTransformer(),
                    load=el.Resistor())
    wire(model, "source.p t.p1", "t.n1 t.p2 load.p", "t.n2 load.n source.n ground.V")
    assert not model.check()
    assert model.simulate("1 s")["load.v"].final.to("V").magnitude == pytest.approx(1)


def test_a_shorted_winding_is_told_from_what_has_no_effect():
    """The short-circuit test of a transformer measures its leakage (1 - k^2) L_1."""
    model = circuit(source=el.ACVoltageSource(amplitude="10 V", frequency="50 Hz", phase="90 deg"),
                    t=el.MutualInductor(inductance_1="0.2 H", inductance_2="0.05 H", coupling=0.8))
    wire(model, "source.p t.p1", "source.n t.n1 t.p2 t.n2 ground.V")
    (finding,) = model.check()
    assert finding.problem == "p2 and n2 of t are connected to the same node: it is shorted there."
    peak = model.simulate("20 ms", rtol=1e-9)["t.i1"].at("5 ms").to("A").magnitude
    assert peak == pytest.approx(10 / (100 * np.pi * 0.36 * 0.2), rel=1e-6)


def test_two_references_that_short_an_element_are_hinted_at():
    model = ring(el.DCVoltageSource(), el.Resistor(), el.Capacitor())
    wire(model, "other.V part3.p", "ground.V part3.n", other=el.ElectricalReference())
    (finding,) = model.check().warnings
    assert finding.code == "network.shorted"
    assert "Both ports of part3 are held by references" in finding.problem


# -- diodes the wrong way round ---------------------------------------------------------------
def hints(model):
    """Codes of the hints on one-way elements, and whom they name."""
    return [(f.code, *f.where) for f in model.check() if f.code in ("network.short",
                                                                      "network.barred")]


def lamp(kind, swapped, voltage="5 V", source=None, **load):
    """A source, a resistor and a diode in a ring; the diode as meant, or with p and n swapped."""
    first, last = "np" if swapped else "pn"
    rest = [f"{name}.{port}" for name in load for port in "pn"]
    ends = ["source.p", "r.p", "r.n", *rest, f"d.{first}", f"d.{last}", "source.n"]
    return circuit("circuit", *map(" ".join, zip(ends[::2], ends[1::2], strict=True)),
                   "source.n ground.V", source=source or el.DCVoltageSource(voltage=voltage),
                   r=el.Resistor(), d=el.Diode(model=kind), **load)


@pytest.mark.parametrize("kind", ["piecewise linear", "ideal", "exponential"])
def test_a_diode_that_lets_no_current_of_the_only_source_pass_is_hinted_at(kind):
    for voltage, swapped in (("5 V", True), ("-5 V", False)):
        model = lamp(kind, swapped, voltage)
        assert hints(model) == [("network.barred", "d")]
        assert not model.check().errors
        assert abs(model.simulate("1 ms")["r.i"].final.to("A").m) < 1e-5  # nothing flows indeed
    assert not hints(lamp(kind, False)) and not hints(lamp(kind, True, "-5 V"))


def test_the_hint_on_a_diode_says_what_to_do():
    (finding,) = lamp("ideal", True).check()
    assert "source.p round to source.n: every way leads backward through d" in finding.problem
    assert "exchange the ports of d, or the sign of source" in finding.advice


def test_no_hint_where_something_else_may_drive_the_diode():
    assert not hints(lamp("ideal", True, source=el.ACVoltageSource()))
    assert not hints(lamp("ideal", True, battery=el.DCVoltageSource(voltage="12 V")))
    assert not hints(lamp("ideal", True, c=el.Capacitor(vc="9 V")))
    assert hints(lamp("ideal", True, c=el.Capacitor())) == [("network.barred", "d")]


def beside_a_coil(swapped):
    """A diode beside a coil: freewheeling, or a short where it is the wrong way round."""
    p, n = "pn" if swapped else "np"
    return circuit("coil", f"source.p coil.p d.{p}", "coil.n r.p", f"r.n d.{n} source.n ground.V",
                   source=el.DCVoltageSource(voltage="5 V"), coil=el.Inductor(), r=el.Resistor(),
                   d=el.Diode())


def test_a_diode_that_shorts_a_source_is_hinted_at_and_a_freewheeling_one_is_not():
    assert not hints(beside_a_coil(False))
    assert hints(beside_a_coil(True)) == [("network.short", "d")]
    assert abs(beside_a_coil(True).simulate("1 ms")["source.i"].final.to("A").m) > 10


def test_of_a_bridge_the_diode_the_wrong_way_round_is_hinted_at():
    for p, n in ("pn", "np"):
        model = circuit("circuit", f"source.p d0.{p} d1.n", "source.n d2.p d3.n ground.V",
                        f"d0.{n} d2.n load.p", "d1.p d3.p load.n",
                        source=el.DCVoltageSource(voltage="5 V"), load=el.Resistor(),
                        **{f"d{k}": el.Diode() for k in range(4)})
        assert hints(model) == ([("network.barred", "d0", "d1")] if p == "n" else [])
