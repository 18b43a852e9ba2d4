"""What a component source says of its parts, ports and starts is so in the class, or is told."""

import math

import pytest
from benches import meets, wired
from benches.electrical import across
from test_sources import COUNTER, found_in, written

from blocks import BlocksError, FileError, Target
from library.signal import Constant, Gain
from library.simscape import source_text
from library.thermal import ThermalMass
from library.translational import Mass

SPRING = """component spring
    outputs y = {0, '1'}; end
    parameters stiffness = {2, 'N/m'}; end
    equations
        assert(stiffness > {3, 'N/m'}, 'The stiffness (of the spring, in "N/m") between wheel and body must be large');
        y == 1; end
end"""  # noqa: E501


def test_a_long_message_stays_whole(tmp_path):
    model = wired("spring", spring=written(SPRING, tmp_path, "spring")())
    with pytest.raises(BlocksError, match=r"The stiffness \(of the spring, in \"N/m\"\) between "
                                          "wheel and body must be large"):
        model.simulate("1 s")


TANK = """domain tank
    parameters density = {1000, 'kg/m^3'}; end
    variables p = {0, 'Pa'}; end
    variables (Balancing = true) q = {0, 'm^3/s'}; end
end"""
OF_TANKS = """component NAME
    nodes A = my.tank; end
    variables q = {0, 'm^3/s'}; h = {value = {3, 'm'}, priority = priority.NAMED}; end
    branches q : A.q -> *; end
    equations LAW end
end"""


def test_sources_that_are_converted_one_by_one_share_their_domain(tmp_path):
    (tmp_path / "tank.ssc").write_text(TANK)
    volume = written(OF_TANKS.replace("NAMED", "high").replace("NAME", "volume").replace(
        "LAW", "{2, 'm^2'}*h.der == q; A.p == {9810, 'Pa/m'}*h;"), tmp_path, "volume")
    orifice = written(OF_TANKS.replace("NAMED", "none").replace("NAME", "orifice").replace(
        "LAW", "q == {1e-5, 'm^3/s/Pa'}*A.p; h == {0, 'm'};"), tmp_path, "orifice")
    model = wired("tanks", "volume.A orifice.A", volume=volume(), orifice=orifice())
    run = model.simulate("10 s", rtol=1e-9)
    assert run["volume.h"].final.m == pytest.approx(3 * math.exp(-9810e-5 / 2 * 10), rel=1e-7)


WARM = """component warm
    nodes p = foundation.electrical.electrical; n = foundation.electrical.electrical; end
    parameters thermal_port = simscape.enum.onoff.off; shunt = simscape.enum.onoff.off; end
    variables i = {0, 'A'}; v = {0, 'V'}; end
    branches i : p.i -> n.i; end
    equations v == p.v - n.v; v == {2, 'Ohm'}*i; end
    if thermal_port == simscape.enum.onoff.on
        nodes H = foundation.thermal.thermal; end
        variables Q = {0, 'W'}; end
        branches Q : * -> H.Q; end
        equations Q == v*i; end
    end
    if shunt == simscape.enum.onoff.on
        variables beside = {0, 'A'}; end
        branches beside : p.i -> n.i; end
        equations v == {4, 'Ohm'}*beside; end
    end end"""


@pytest.mark.parametrize("shunt", ["off", "on"])
@pytest.mark.parametrize("heat", ["off", "on"])
def test_branches_are_there_under_their_conditions(heat, shunt, tmp_path):
    model = across(written(WARM, tmp_path, "warm")(thermal_port=heat, shunt=shunt), "6 V")
    if heat == "on":
        model.mass = ThermalMass(mass="1 kg", specific_heat="3 J/(kg*K)", T="300 K")
        model.connect(model.part.H, model.mass.M)
    run = model.simulate("1 s")
    assert run["source.i"].final.to("A").m == pytest.approx(-3 - 1.5 * (shunt == "on"))
    if heat == "on":
        assert run["mass.T"].final.to("K").m == pytest.approx(300 + 6 * 3 / 3)


def test_what_is_declared_twice_is_refused(tmp_path):
    source = WARM.replace("beside = {0, 'A'};", "beside = {0, 'A'};\n            v = {1, 'V'};")
    with pytest.raises(BlocksError, match=r"line 15.*: v is declared twice\. Declare it once"):
        written(source, tmp_path, "warm")


def test_values_that_choose_sections_are_held(tmp_path):
    source = WARM.replace("shunt = simscape.enum.onoff.off", "shunt = 1").replace(
        "shunt == simscape.enum.onoff.on", "shunt > 2")
    warm = written(source, tmp_path, "warm")
    assert not hasattr(warm, "beside")
    with pytest.raises(BlocksError, match="shunt is 1 here.*--set shunt="):
        across(warm(shunt=3), "6 V").simulate("1 s")


DECAY = """component decay
    parameters x0 = {2, '1'}; still = my.choice.no; end
    variables x = START; y = {0, '1'}; end
    equations x.der == -x*{1, '1/s'} + y*{1, '1/s'}; y.der == -y*{1, '1/s'}; end
    INITIAL
end"""
CHOICE = "if still == my.choice.yes\nx == 8;\nelse\nx == x0;\nend"


def decay(folder, start, initial):
    initial = f"equations (Initial = true)\n{initial};\nend" if initial else ""
    source = DECAY.replace("START", start).replace("INITIAL", initial)
    return written(source, folder, "decay")


@pytest.mark.parametrize(("start", "initial", "given", "begins"), [
    ("{value = {3, '1'}, priority = priority.high}", "", {}, (3, 0)),
    ("{value = x0, priority = priority.high}", "", {}, (2, 0)),
    ("{value = {3*x0, '1'}, priority = priority.high}", "", {"x0": 5}, (15, 0)),
    ("{value = x0, priority = priority.low}", "", {"x0": 5}, (5, 0)),
    ("{value = x0, priority = priority.high}", "", {"x": 9}, (9, 0)),
    ("{0, '1'}", "x == {3, '1'}", {}, (3, 0)), ("{0, '1'}", "2*x0 == x", {"x0": 5}, (10, 0)),
    ("{0, '1'}", "x.der == 0; y == x0", {"x0": 5}, (5, 5)),
    ("{0, '1'}", "x + y == 6; x - y == x0", {}, (4, 2)), ("{0, '1'}", CHOICE, {}, (2, 0)),
    ("{0, '1'}", CHOICE, {"still": "yes"}, (8, 0))])
def test_a_run_starts_as_the_source_says(start, initial, given, begins, tmp_path):
    model = wired("decay", part=decay(tmp_path, start, initial)(**given))
    assert not model.check().warnings
    run = model.simulate("1 s")
    assert [run[f"part.{name}"].initial.m for name in "xy"] == pytest.approx(begins)


def test_a_variable_has_the_unit_of_its_start(tmp_path):
    made = written("""component decay
    parameters x0 = {2, 'm'}; end
    variables x = {value = 3*x0, priority = priority.high}; end
    equations x.der == -x*{1, '1/s'}; end
end""", tmp_path, "decay")
    run = wired("decay", part=made(x0="5 cm")).simulate("1 s")
    assert run["part.x"].initial.to("m").m == pytest.approx(0.15)


def test_a_counter_starts_from_a_parameter(tmp_path):
    source = COUNTER.replace("ups = {0, '1'}", "ups = {first, '1'}").replace(
        "    inputs", "    parameters\n        first = {4, '1'};\n    end\n    inputs", 1)
    model = wired("count", "wave.y counter.u",
                  wave=Constant(value=2), counter=written(source, tmp_path, "counter")(first=7))
    run = model.simulate("1 s")  # x = 2 t passes 1 at 0.5 s
    assert [run["counter.y"].at(t).m for t in ("0.4 s", "0.6 s")] == [7, 8]


@pytest.mark.parametrize(("start", "initial", "said"), [
    ("{value = x0, priority = priority.none}", "", "x is sought at the start is computed there"),
    ("{0, '1'}", "assert(x0 > 0, 'x0 is positive')", "Not checked here, at the start: x0 is pos")])
def test_what_a_start_lacks_is_told(start, initial, said, tmp_path):
    assert said in " ".join(decay(tmp_path, start, initial).__doc__.split())


# -- parts of composites ---------------------------------------------------------------------------
PAIR = """component NAME
    nodes p = foundation.electrical.electrical; n = foundation.electrical.electrical; end
    parameters leak = simscape.enum.onoff.off; strands = {1, '1'}; R0 = {1, 'Ohm'}; end
    components PART r = foundation.electrical.elements.resistor(R = R0); end
    connections connect(p, q.p); connect(q.n, r.p); connect(r.n, n); end
    MORE
end"""
ONE_OHM = "q = foundation.electrical.elements.resistor(R = {1, 'Ohm'});"


def pair(folder, part=ONE_OHM, more="", name="couple"):
    """Two parts in series, the second a resistor of 1 ohm."""
    source = PAIR.replace("NAME", name).replace("PART", part).replace("MORE", more)
    return written(source, folder, name)


def current(part, voltage):
    return -across(part, voltage).simulate("1 s")["source.i"].final.to("A").m


BESIDE = """
if CONDITION
    components s = foundation.electrical.elements.resistor(R = {1, 'Ohm'}); end
    connections connect(p, s.p); connect(n, s.n); end
else
    components s = foundation.electrical.elements.resistor(R = {3, 'Ohm'}); end
    connections connect(p, s.p); connect(n, s.n); end
end"""


@pytest.mark.parametrize(("condition", "given", "expected"), [
    ("leak == simscape.enum.onoff.on", {}, 3 + 2), ("strands > 1", {}, 3 + 2),
    ("leak == simscape.enum.onoff.on", {"leak": "on"}, 3 + 6),
    ("strands > 1", {"strands": 2}, 3 + 6)])
def test_parts_and_connections_are_there_under_their_conditions(condition, given, expected,
                                                                tmp_path):
    made = pair(tmp_path, more=BESIDE.replace("CONDITION", condition))
    assert current(made(**given), "6 V") == pytest.approx(expected)


@pytest.mark.parametrize(("part", "expected"), [
    ("pwl_diode(Vf = {2, 'V'}, Ron = {3, 'Ohm'}, Goff = {1e-9, '1/Ohm'})",
     {"forward_voltage": (2, "V"), "on_resistance": (3, "ohm"), "off_conductance": (1e-9, "S")}),
    ("inductor(l = {2, 'mH'}, g = {0.5, '1/Ohm'}, r = R0)",
     {"inductance": (2e-3, "H"), "parallel_conductance": (0.5, "S"),
      "series_resistance": (1, "ohm")}),
    ("capacitor(c = {2, 'mF'}, r = {3, 'Ohm'})",
     {"capacitance": (2e-3, "F"), "series_resistance": (3, "ohm")})])
def test_a_part_has_the_values_that_it_is_given(part, expected, tmp_path):
    made = pair(tmp_path, f"q = foundation.electrical.elements.{part};")()
    for name, (value, unit) in expected.items():
        assert getattr(made.q, name).to(unit).m == pytest.approx(value)


def test_values_of_a_part_act(tmp_path):
    """10 V through a diode of 2 V and 3 ohm, and 1 ohm."""
    made = pair(tmp_path, "q = foundation.electrical.elements.pwl_diode(Vf = {2, 'V'}, "
                "Ron = {3, 'Ohm'}, Goff = {0, '1/Ohm'});")
    assert current(made(), "10 V") == pytest.approx(2)


def test_parameters_of_a_law_are_given(tmp_path):
    friction = written("""component brake
    nodes R = foundation.mechanical.translational.translational; end
    components f = foundation.mechanical.translational.friction(brkwy_frc = {9, 'N'},
        Col_frc = {7, 'N'}, visc_coef = {3, 'N*s/m'}, brkwy_vel = {0.2, 'm/s'}); end
    connections connect(f.R, R); connect(f.C, *); end
end""", tmp_path, "brake")().f
    assert [friction[name].m for name in ("breakaway_force", "coulomb_force", "viscous_coefficient",
                                          "breakaway_velocity")] == [9, 7, 3, 0.2]


RESISTOR = "q = foundation.electrical.elements.resistor"


@pytest.mark.parametrize(("part", "more", "said"), [
    (f"{RESISTOR}(R = {{1, 'Ohm'}}, wire = {{3, 'mm'}});", "", "q: wire = 3 mm has no counterpart"),
    (f"{RESISTOR}(R = {{1, 'Ohm'}}, i.nominal = {{3, 'A'}});", "",
     "q.i.nominal is left out: give it here."),
    ("q = fluids.moist_air.turbomachinery.fan(area_A = {5, 'm^2'});", "", "Its part q is left out "
     "(fluids.moist_air.turbomachinery.fan). It has no counterpart here"),
    (ONE_OHM, "nodes H = foundation.thermal.thermal; end connections connect(H, r.B); end",
     "What is connected to r.B is left out: it has no such port here."),
    (ONE_OHM, "equations\nlet a = q.v; in\na == {2, 'V'};\nend\nend",
     "A composite here has parts only: equations beside them are left out."),
    *((ONE_OHM, "variables s = {0, 'A'}; end\nequations\ns == r.i;\n"
       f"assert({what} < {{9, 'A'}}, 'It is too hot');\nend", "Not checked here: It is too hot.")
      for what in ("q.i", "s", "time*{1, 'A/s'}")),
    (ONE_OHM, "equations\nassert(strands > 2, 'Two are a crowd', Warn = true);\nend",
     "Two are a crowd"),
    (ONE_OHM, "equations\nassert(strands < 2, 'Two are a crowd', Warn = true);\nend", None)])
def test_what_is_not_taken_of_a_composite_is_told_by_the_check(part, more, said, tmp_path):
    warnings = across(pair(tmp_path, part, more)(), "1 V").check().warnings
    assert [said in f.problem and "part" in f.problem for f in warnings] == [True] * bool(said)


@pytest.mark.parametrize(("given", "more", "expected"), [
    ("vc.value = {5, 'V'}, vc.priority = priority.high", "", 5),
    ("vc = {value = {5, 'V'}, priority = priority.high}", "", 5),
    ("vc = {value = {5*strands, 'V'}, priority = priority.high}", "", 5),
    ("", "variables\nu = {value = {4, 'V'}, priority = priority.high};\nend\n"
     "equations\nu == q.vc;\nend", 4),
    ("", "equations (Initial = true)\nq.vc == {3, 'V'};\nend", 3),
    ("vc.priority = priority.none", "", 2),  # as the resistor wants it
])  # fmt: skip
def test_a_part_starts_as_it_is_told(given, more, expected, tmp_path):
    """A capacitor beside a resistor whose voltage may say the start, too."""
    values = "c = {1, 'F'}, r = {0, 'Ohm'}, g = {0, '1/Ohm'}"
    made = pair(tmp_path, "q = foundation.electrical.elements.capacitor("
                f"{values}{', ' if given else ''}{given});", more)
    model = across(made(R0="1 kohm"), "6 V")
    if given.endswith("none"):
        model.part.r.v = Target("4 V", priority="low")
    assert model.simulate("1 s")["part.q.v"].initial.to("V").m == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("leak", ["off", "on"])
def test_a_part_follows_an_option_of_the_composite(leak, tmp_path):
    """A resistor of 1 ohm that heats 3 J/K, or none."""
    made = pair(tmp_path, f"{RESISTOR}(R = {{1, 'Ohm'}}, thermal_port = leak);", """
if leak == simscape.enum.onoff.on
    nodes H = foundation.thermal.thermal; end
    connections connect(H, q.H); end
end""")(leak=leak)
    model = across(made, "6 V")
    if leak == "on":
        model.mass = ThermalMass(mass="1 kg", specific_heat="3 J/(kg*K)", T="300 K")
        model.connect(model.mass.M, made.H)
    run = model.simulate("1 s", rtol=1e-9)
    assert run["source.i"].final.to("A").m == pytest.approx(-3)
    if leak == "on":
        assert run["mass.T"].final.to("K").m == pytest.approx(300 + 9 / 3)


@pytest.mark.parametrize(("given", "holds"), [
    ({}, True), ({"R0": "12 ohm"}, False), ({"R0": "12 ohm", "strands": 2}, True),
    ({"R0": "12 ohm", "strands": 2, "leak": "on"}, False)])
def test_what_a_composite_asserts_of_its_parameters_is_checked(given, holds, tmp_path):
    made = pair(tmp_path, more="""
    parameters (Access = private) single = R0/strands; end
    equations assert(single < {7, 'Ohm'}, 'A strand carries too little'); end
    if leak == simscape.enum.onoff.on
        equations assert(single < {5, 'Ohm'}, 'A strand carries too little'); end
    end
""")
    found = [finding.problem for finding in across(made(**given), "6 V").check().errors]
    assert found == [] if holds else "part: A strand carries too little." in found


def test_a_component_may_be_called_as_what_it_holds(tmp_path):
    made = pair(tmp_path, name="resistor")
    assert made.__name__ == "Resistor"
    assert current(made(), "6 V") == pytest.approx(3)
    assert pair(tmp_path, name="target").__name__ == "Target2"


HALF = """component half
    nodes R = foundation.mechanical.translational.translational; end
    inputs size = {1, '1'}; end
    parameters damping = {2, 'N*s/m'}; way = my.ways.plain; end
    variables f = {0, 'N'}; x = {value = {0, 'm'}, priority = priority.high}; end
    branches f : R.f -> *; end
    equations
        x.der == R.v;
        if way == my.ways.plain
            f == damping*R.v;
        else
            f == size*damping*R.v;
        end end end"""
SERVO = """component servo
    nodes R = foundation.mechanical.translational.translational; end
    inputs S = {0, '1'}; end
    outputs F = {0, 'N'}; end
    parameters way = my.ways.plain; gain = {2, 'N'}; end
    components k = foundation.signal.functions.gain(gain = gain);
        c = foundation.signal.sources.constant(constant = {1.5, 'N'});
        a = foundation.signal.functions.add; s = foundation.mechanical.sources.force;
        w = foundation.mechanical.translational.reference;
        h = my.half(damping = {3, 'N*s/m'}, way = way, x = {value = {7, 'm'}, priority = priority.high});
        end
    connections connect(S, k.I, h.size); connect(k.O, a.I1); connect(c.O, a.I2);
        connect(a.O, s.S, F); connect(s.C, w.V); connect(s.R, h.R, R); end
end"""  # noqa: E501


@pytest.mark.parametrize("way", ["plain", "scaled"])
def test_signals_and_components_of_the_folder_are_parts(way, tmp_path):
    """A mass of 1 kg that a force of 2 N * 0.25 + 1.5 N drives against a damper."""
    half = HALF.replace("else", "elseif way == my.ways.scaled")
    made = found_in(tmp_path, half=half, servo=SERVO)["Servo"]
    model = wired("drive", "servo.R mass.M", "servo.F seen.u", "command.y servo.S",
                  servo=made(way=way), mass=Mass(mass="1 kg"), command=Constant(value=0.25),
                  seen=Gain(input="N", gain="3 1/N"))
    assert not model.check().warnings
    run = model.simulate("1 s", rtol=1e-9)
    damping = 3 if way == "plain" else 0.75
    meets(run, {"seen.y": (6, 1e-6), "mass.v m/s": (2 / damping * (1 - math.exp(-damping)), 1e-7)})
    assert run["servo.h.x"].initial.to("m").m == 7


def test_a_number_has_the_unit_of_what_it_enters(tmp_path):
    source = SERVO.replace("connect(a.O, s.S, F)", "connect(c.O, s.S)").replace("{1.5, 'N'}", "4")
    made = found_in(tmp_path, half=HALF, servo=source)["Servo"]
    assert made().c.value.to("N").m == 4


@pytest.mark.parametrize(("part", "more", "said"), [
    (f"{RESISTOR}({{1, 'Ohm'}});", "", "line 4.*: a value of a part is written name = value"),
    (f"{RESISTOR}(R = {{1, 'zorg'}});", "", "line 4.*: .*'zorg' is no unit"),
    (f"{RESISTOR}(R = foo(1));", "", r"line 4.*: foo\(…\) is not known here"),
    (f"{RESISTOR};", "connections\nconnect(p, z.p);\nend", "z.p is no port that can be connected"),
    (f"{RESISTOR};", "connections\nconnect(p, R0);\nend", "R0 is no port that can be connected"),
    ("q(3) = foundation.electrical.elements.resistor;", "", "not every entry of q is declared"),
    (f"{RESISTOR};", "for k = 1:j\ncomponents\nq(k) = a;\nend\nend",
     "line 8.*: how often a loop repeats follows from j, which has no number"),
    (f"{RESISTOR};", "equations (Initial = true)\nlet a = R0; in q.v == a; end\nend",
     "line 7.*: let among equations of the start")])
def test_what_cannot_be_read_of_parts_is_refused(part, more, said, tmp_path):
    with pytest.raises(BlocksError, match=said):
        pair(tmp_path, part, more)


def test_a_part_of_itself_is_refused(tmp_path):
    for name, other in (("couple", "ring"), ("ring", "couple")):
        (tmp_path / f"{name}.ssc").write_text(PAIR.replace("NAME", name).replace(
            "PART", f"q = my.{other};").replace("MORE", ""))
    with pytest.raises(FileError, match="of couple.ssc, which it is a part of itself"):
        source_text(tmp_path / "couple.ssc")
