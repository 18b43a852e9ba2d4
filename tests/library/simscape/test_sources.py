"""Component sources become classes with the same equations and the same results.

The sources are public ones with their licences, ``tests/data/simscape/corpus/licences``; the
hand-written ones state laws of this library's components in the other language.
"""

import math
import runpy

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from simscape_corpus import DATA

import library.electrical as el
from blocks import BlocksError, Component, Domain, FileError
from library.magnetic import MagneticReference, MMFSource
from library.moist_air import FlowRateSource, Reservoir
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Sine
from library.simscape import source_text
from library.thermal import ControlledTemperatureSource, TemperatureSource
from library.translational import Reference, VelocitySource

SOURCES = sorted((DATA / "ssc").glob("*.ssc"))


def classes_of(path, folder):
    """The components and domains of a source's text."""
    file = folder / f"{path.stem}.py"
    file.write_text(source_text(path), encoding="utf-8")
    return {k: v for k, v in runpy.run_path(str(file)).items()
            if isinstance(v, Domain) or isinstance(v, type) and v.__module__ == "<run_path>"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_a_public_source_becomes_a_class(path, tmp_path):
    found = classes_of(path, tmp_path)
    assert source_text(path) == source_text(path)
    assert any(isinstance(v, Domain) or issubclass(v, Component) for v in found.values())
    for made in found.values():
        if not isinstance(made, Domain):
            made()


def test_a_source_with_a_duct_of_air_warms_what_is_blown_through_it(tmp_path):
    made = classes_of(DATA / "ssc" / "lumpedTES.ssc", tmp_path)["LumpedTES"]
    model = wired("storage", sand=made(coilShape="UshapedCoil"))
    area = model.sand.HTcond2.area.to("m^2").m
    assert_allclose(area, 7.04 / 4 * 0.2 * 0.02, rtol=1e-12)  # the law of this shape, by hand
    wire(model, "inlet.A fan.A", "fan.B sand.A", "sand.B outlet.A", "supply.p sand.p",
         "supply.n sand.n earth.V", inlet=Reservoir(), outlet=Reservoir(),
         fan=FlowRateSource(mass_flow="10 g/s", power_spec="none"),
         supply=el.DCVoltageSource(voltage="24 V"), earth=el.ElectricalReference())
    energy = model.simulate("60 s").energy()
    assert energy.relative_residual < 1e-7
    gained = energy["outlet"].supplied + energy["inlet"].supplied  # by the air, from the sand
    lost = energy["sand.coldSand"].stored + energy["sand.airDuct"].stored
    assert -gained == pytest.approx(-lost, rel=0.01)  # the rest is of the hot sand


def test_a_wall_between_two_rooms_warms_as_its_closed_form_says(tmp_path):
    model = wired("wall", wall=classes_of(DATA / "ssc" / "Wall.ssc", tmp_path)["Wall"]())
    model.outside, model.inside = (TemperatureSource(temperature=t) for t in ("270 K", "295 K"))
    wire(model, "outside.A wall.EXT", "inside.A wall.INT")
    run = model.simulate("400 hour", rtol=1e-9, every="40 hour")
    one = 1 / (1 / (5 * 70) + 0.3 / (2 * 70))  # a film and the wall, on either side
    tau = 50400 * 1870 / (2 * one)
    t = run.time.to("s").m
    expected = 282.5 + (300 - 282.5) * np.exp(-t / tau)
    assert_allclose(run["wall.SolidWall.T"].to("K").m, expected, rtol=1e-8)


# -- laws of this library, written in the other language ----------------------------------------
CAPACITOR = """component leaky_capacitor
% Capacitor with leak and series resistance
    nodes
        p = foundation.electrical.electrical; % +:left
        n = foundation.electrical.electrical; % -:right
    end
    parameters
        capacitance = {1e-6, 'F'};           % Capacitance
        parallel_conductance = {0, '1/Ohm'}; series_resistance = {1e-6, 'Ohm'};
    end
    variables
        v = {0, 'V'}; i = {0, 'A'};
        vc = {value = {0, 'V'}, priority = priority.high}; % Voltage inside
    end
    branches i : p.i -> n.i; end
    equations
        v == p.v - n.v;
        i == capacitance*vc.der + parallel_conductance*vc;
        v == vc + series_resistance*i;
    end end"""
DIODE = """component valve
% Diode : of two straight lines
    nodes p = foundation.electrical.electrical; n = foundation.electrical.electrical; end
    parameters Vf = {0.6, 'V'}; Ron = {0.3, 'Ohm'}; Goff = {1e-8, '1/Ohm'}; end
    variables v = {0, 'V'}; i = {0, 'A'}; end
    branches i : p.i -> n.i; end
    equations
        let knee = Goff*Vf; in
            v == p.v - n.v;
            if v > Vf
                i == (v - Vf)/Ron + knee;
            else
                i == Goff*v;
            end end
    end end"""


def found_in(folder, **texts):
    """The classes of the last of sources that are beside each other."""
    for name, text in texts.items():
        (folder / f"{name}.ssc").write_text(text, encoding="utf-8")
    return classes_of(folder / f"{name}.ssc", folder)


def written(text, folder, name):
    found = found_in(folder, **{name: text})
    return next(v for v in found.values() if not isinstance(v, Domain))


def circuit(part, amplitude="5 V"):
    return wired("circuit", "source.p resistor.p", "resistor.n part.p sensor.p",
                 "part.n sensor.n source.n ground.V",
                 part=part, resistor=el.Resistor(resistance="10 ohm"),
                 source=el.ACVoltageSource(amplitude=amplitude, frequency="50 Hz"),
                 ground=el.ElectricalReference(), sensor=el.VoltageSensor())


def laws_of(model):
    """The equations that a network is reduced to, each once."""
    text = str(model.equations())
    return sorted(text[text.index("Reduced"):].splitlines())


def test_a_law_written_in_the_other_language_is_the_same_law(tmp_path):
    values = {"capacitance": "100 uF", "parallel_conductance": "1 mS", "series_resistance": "2 ohm",
              "vc": "3 V"}
    theirs = circuit(written(CAPACITOR, tmp_path, "leaky_capacitor")(**values))
    ours = circuit(el.Capacitor(parasitic=True, **values))
    assert laws_of(theirs) == laws_of(ours)
    runs = [m.simulate("40 ms", rtol=1e-9, every="1 ms") for m in (theirs, ours)]
    assert_allclose(*(r["sensor.V"].to("V").m for r in runs), rtol=1e-12, atol=1e-12)


def test_a_condition_among_equations_is_the_same_condition(tmp_path):
    theirs = circuit(written(DIODE, tmp_path, "valve")()).simulate("40 ms", rtol=1e-9, every="1 ms")
    ours = circuit(el.Diode()).simulate("40 ms", rtol=1e-9, every="1 ms")
    assert_allclose(theirs["sensor.V"].to("V").m, ours["sensor.V"].to("V").m, atol=1e-8)
    assert math.isclose(theirs["sensor.V"].max().to("V").m, 0.6 + 0.3 * 4.4 / 10.3, rel_tol=1e-4)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("foundation.electrical.electrical; % +:left", "own.domain;", "domain.ssc is not beside"),
    ("component leaky", "library leaky", "component or domain"),
    ("v == vc + ", "v + vc; % ", "left == right"), ("'1/Ohm'", "'zorg'", "zorg"),
    ("priority.high}; %", "priority.high; %", "leaky.ssc")])
def test_a_source_that_cannot_be_read_is_named(old, new, said, tmp_path):
    (tmp_path / "leaky.ssc").write_text(CAPACITOR.replace(old, new), encoding="utf-8")
    with pytest.raises((FileError, BlocksError)) as caught:
        source_text(tmp_path / "leaky.ssc")
    assert said in str(caught.value) or said in str(caught.value.where)


@pytest.mark.parametrize("beside", [False, True])
def test_what_a_base_gives_is_inherited(beside, tmp_path):
    """The capacitor above without ports, voltage and current: its base has them."""
    base, own = "foundation.electrical.branch", CAPACITOR
    for begin, end in (("    nodes", "    parameters"), ("        v = {0", "        vc"),
                       ("    branches", "    equations"), ("        v == p.v", "        i ==")):
        own = own[:own.index(begin)] + own[own.index(end):]
    if beside:
        (tmp_path / "pair.ssc").write_text(f"component pair < {base}\nend\n", encoding="utf-8")
        base = "mine.pair"
    own = own.replace("leaky_capacitor", f"leaky_capacitor < {base}")
    theirs, explicit = (written(text, tmp_path, "own") for text in (own, CAPACITOR))
    assert laws_of(circuit(theirs())) == laws_of(circuit(explicit()))


@pytest.mark.parametrize(("base", "ports", "law", "flow", "source", "ground"), [
    ("electrical", "pnV", "i == {2,'1/Ohm'}*v", "i", el.DCVoltageSource(voltage="3 V"),
     el.ElectricalReference()),
    ("magnetic", "NSM", "phi == {2,'Wb/A'}*mmf", "phi", MMFSource(magnetomotive_force="3 A"),
     MagneticReference()),
    ("mechanical.translational", "RCV", "f == {2,'N*s/m'}*v", "f", VelocitySource(velocity="3 m/s"),
     Reference()),
    ("mechanical.rotational", "RCW", "t == {2,'N*m*s/rad'}*w", "t",
     AngularVelocitySource(velocity="3 rad/s"), RotationalReference()),
    ("thermal", "ABA", "Q == {2,'W/K'}*T", "Q",
     ControlledTemperatureSource(difference="-3 K"), TemperatureSource())])
def test_a_branch_carries_its_flow_from_the_first_port_to_the_second(
        base, ports, law, flow, source, ground, tmp_path):
    made = written(f"component law < foundation.{base}.branch\nequations\n{law};\nend\nend\n",
                   tmp_path, "law")
    first, second, grounded = ports
    run = wired("law", f"part.{first} source.{first}",
                f"part.{second} source.{second} ground.{grounded}",
                part=made(), source=source, ground=ground).simulate("1 s")
    assert [run[f"{of}.{flow}"].si[-1] for of in ("part", f"part.{first}")] == pytest.approx([6, 6])


def test_a_missing_base_and_a_name_it_has_are_told(tmp_path):
    for base, own, said in (("mine.pair", "", "it extends mine.pair, and pair.ssc is not beside"),
                            ("mine.law", "", "it extends mine.law, and law.ssc is not beside"),
                            ("foundation.electrical.branch", "parameters\nn = 3;\nend",
                             "it declares n, which foundation.electrical.branch does, too")):
        (tmp_path / "law.ssc").write_text(f"component law < {base}\n{own}\nend\n")
        with pytest.raises(FileError, match=said):
            source_text(tmp_path / "law.ssc")


COUNTER = """component counter
    inputs u = {0, '1'}; end
    outputs y = {0, '1'}; end
    variables x = {value = {0, '1'}, priority = priority.high}; end
    variables (Event = true) ups = {0, '1'}; end
    events
        when edge(x > 1)
            ups = ups + 1;
        end end
    equations
        x.der == u*{1, '1/s'};
        y == ups;
    end end"""


def counted(text, folder, duration):
    """A run in which x is 1 - cos(t)."""
    return wired("count", "wave.y counter.u", wave=Sine(frequency=f"{1 / (2 * np.pi)} Hz"),
                 counter=written(text, folder, "counter")()).simulate(duration)


def test_events_are_counted(tmp_path):
    run = counted(COUNTER, tmp_path, "20 s")
    for k in range(3):  # x rises through 1 at pi/2 + 2 pi k
        at = np.pi / 2 + 2 * np.pi * k
        assert [run["counter.y"].at(f"{at + d} s").m for d in (-1e-3, 1e-3)] == [k, k + 1]


@pytest.mark.parametrize(("latch", "steps"), [("true", (5, 6, 5, 6, 5)), ("false", (0,) * 5)])
def test_events_have_cases_conditions_and_a_start(latch, steps, tmp_path):
    events = COUNTER[COUNTER.index("    events"):COUNTER.index("    equations")]
    run = counted(COUNTER.replace(events, f"""    parameters latch = {latch}; end
    if latch
        events
            when initialevent
                ups = 5;
            end
            when edge(x > 1)
                ups = ups + 1;
            elsewhen edge(x < 1)
                ups = ups - 1;
            end end end
"""), tmp_path, "14 s")
    assert tuple(run["counter.y"].at(f"{k * np.pi} s").m for k in range(5)) == steps


SIMULTANEOUS = """component two
    outputs y = {0, '1'}; z = {0, '1'}; end
    variables (Event = true) n = {value = {0, '1'}, priority = priority.high};
        m = {value = {0, '1'}, priority = priority.high}; end
    events
        when edge(time > {1, 's'})
            n = n + 1;
        elsewhen edge(time > {0.5, 's'})
            n = n + 10;
        elsewhen edge(2*time > {2, 's'})
            n = n + 100;
            m = 1;
        end
        when edge(time > {1.5, 's'})
            m = m + 5;
        end end
    equations y == n; z == m; end
end"""


def test_of_cases_at_one_instant_the_first_acts_alone(tmp_path):
    """The first and the third are both at 1 s."""
    run = wired("events", two=written(SIMULTANEOUS, tmp_path, "two")()).simulate("2 s")
    assert [(run["two.y"].at(t).m, run["two.z"].at(t).m)
            for t in ("0.2 s", "0.7 s", "1.2 s", "1.7 s")] == [(0, 0), (10, 0), (11, 0), (11, 5)]


def test_a_node_that_is_connected_with_the_reference_has_its_voltage(tmp_path):
    (tmp_path / "+mine" / "+parts").mkdir(parents=True)
    (tmp_path / "+mine" / "sound.ssc").write_text(
        "domain sound\nvariables p = {0, 'Pa'}; end\n"
        "variables(Balancing = true) q = {0, 'm^3/s'}; end\nend", encoding="utf-8")
    made = written("component ends\nnodes\na = foundation.electrical.electrical;\n"
                   "b = mine.sound;\nend\nconnections\nconnect(a, *);\nconnect(b, *);\nend\nend\n",
                   tmp_path / "+mine" / "+parts", "ends")
    run = wired("grounded", "source.n ends.a", "source.p resistor.p", "resistor.n ends.a",
                ends=made(), source=el.DCVoltageSource(voltage="5 V"),
                resistor=el.Resistor(resistance="10 ohm")).simulate("1 ms")
    assert run["ends.a.v"].final.m == run["ends.b.p"].final.m == 0
    assert run["resistor.i"].final.m == pytest.approx(0.5)


@pytest.mark.parametrize("connection", ["connect(a, b);", "connect(c, *);"])
def test_other_connections_of_own_nodes_are_refused_by_their_line(connection, tmp_path):
    text = ("component ends\nnodes\na = foundation.electrical.electrical;\n"
            "b = foundation.electrical.electrical;\nc = foundation.electrical.electrical;\nend\n"
            "variables\ni = {0, 'A'};\nend\nbranches\ni : c.i -> *;\nend\nconnections\n"
            f"{connection}\nend\nequations\ni == {{1, 'A'}};\nend\nend\n")
    with pytest.raises(BlocksError, match=r"line 14.*connect\(p, \*\) alone"):
        written(text, tmp_path, "ends")


def test_names_that_are_taken_here_are_others(tmp_path):
    made = written("""component decay
    parameters lambda = {2, '1/s'}; size = {3, '1'}; end
    variables path = {value = {1, '1'}, priority = priority.high}; count = {0, '1'}; end
    equations
        let sin = size*path; in
            path.der == -lambda*path;
            count == sin + cos(0);
        end end end""", tmp_path, "decay")
    said = " ".join(made.__doc__.split())
    for name in ("lambda", "size", "path", "count", "sin"):
        assert f"{name} is called {name}_ here." in said
    run = wired("decay", decay=made(lambda_="3 1/s")).simulate("1 s", rtol=1e-9)
    assert run["decay.count_"].final.m == pytest.approx(3 * np.exp(-3) + 1, rel=1e-7)


def test_what_follows_a_section_that_is_not_read_is_read(tmp_path):
    section = ("modecharts\nm = modechart\nmodes\nmode ON\nequations\nx.der == 0;\nend\nend\nend\n"
               "transitions\nON -> ON : x > 1;\nend\ninitial\nON : true;\nend\nend\nend\n")
    begin, end = COUNTER.index("    events"), COUNTER.index("    equations")
    made = written(COUNTER[:begin] + section + COUNTER[end:].replace("y == ups", "y == x"),
                   tmp_path, "counter")
    text = (tmp_path / "counter.py").read_text()
    assert 'yield der(self.x) == self.u * quantity(1, "1/s")' in text
    assert "yield self.y == self.x" in text
    assert "Its section modecharts is not read." in made.__doc__


@pytest.mark.parametrize(("old", "new", "said"), [
    ("    equations", "    end\n    equations", "ends before this line, by an 'end' too many"),
    ("when edge(x > 1)", "when initialevent\n if x > 1", r"line 8\): 'if' among values"),
    ("when edge(x > 1)", "when x > 1", r"line 7\): an event is written when edge\(condition\)"),
    ("y == ups;\n    end end", "y == ups;\n", "'end' is missing")])
def test_ends_that_do_not_fit_are_told(old, new, said, tmp_path):
    (tmp_path / "counter.ssc").write_text(COUNTER.replace(old, new), encoding="utf-8")
    with pytest.raises(BlocksError, match=said):
        source_text(tmp_path / "counter.ssc")


def test_an_old_setup_is_told(tmp_path):
    old = CAPACITOR.replace("    branches", "function setup\nif capacitance <= 0\npm_error('x');\n"
                                            "end\nend\nbranches")
    assert "function setup, of the old form" in written(old, tmp_path, "old").__doc__
