"""Values of scripts, masks and units keep their meaning in the text, and names do not clash."""

import io

import numpy as np
import pytest
import scipy.io
from numpy.testing import assert_allclose
from simscape_corpus import built, parts_of, zipped
from slx_writer import Drawn, constant, converted, simulink, solver, to_ps, write

from blocks import FileError, ParameterError, quantity
from library.simscape import convert
from library.simscape.matlab.syntax import parse
from library.simscape.matlab.values import evaluate
from library.simscape.physical.units import unit_here

TR = "foundation.mechanical.translational."
PS = "foundation.signal."


def weighed(mass):
    return [Drawn(f"{TR}mass", "sledge", {"M": "g"}, {"mass": (mass, "kg")}),
            Drawn(f"{TR}reference", "ground", {"V": "g"}), solver()]  # fmt: skip


def pushed(*signals):
    """A mass of 2 kg under a force that signals give: the force in N follows from its velocity."""
    return [Drawn(f"{TR}mass", "sledge", {"M": "a"}, {"mass": ("2", "kg")}),
            Drawn("foundation.mechanical.sources.force", "push", {"R": "a", "S": "s", "C": "g"}),
            Drawn(f"{TR}reference", "ground", {"V": "g"}), solver(), *signals]  # fmt: skip


def mass_of(script, mass, folder, **given):
    file = write(folder / "model.slx", weighed(mass), "R2022b",
                 {"StopTime": "1", "PreLoadFcn": script})
    return built(convert(file, **given).text, folder).sledge.mass.to("kg").m


def force_of(file, folder):
    return 2 * built(convert(file).text, folder).simulate("1 s")["sledge.v"].to("m/s").m[-1]


@pytest.mark.parametrize(("text", "value"), [
    ("max([1 5; 3 4])", [3, 5]), ("sum([1 2; 3 4])", [4, 6]), ("sum([1 2; 3 4], 2)", [3, 7]),
    ("cumsum([1 2; 3 4])", [[1, 2], [4, 6]]), ("mean([1; 3])", 2), ("round(2.5)", 3),
    ("round(-2.5)", -3), ("round(3.14159, 2)", 3.14), ("a(end)", 6), ("a(end-1:end)", [5, 6]),
    ("m(end, 1)", 3), ("zeros(2, 1)", [0, 0]), ("size(m)", [2, 2]), ("cosd(60)", 0.5),
    ("nthroot(-8, 3)", -2), ("interp1([0 1], [2 4], 0.25)", 2.5), ("reshape(1:4, [], 2)",
    [[1, 3], [2, 4]]), ("fliplr([1 2])", [2, 1]), ("norm([3 4])", 5)])
def test_functions_give_what_they_give_there(text, value):
    names = {"a": np.array([[4.0, 5.0, 6.0]]), "m": np.array([[1.0, 2.0], [3.0, 4.0]])}
    assert_allclose(np.squeeze(evaluate(parse(text), names)), value, rtol=1e-14)


@pytest.mark.parametrize(("script", "mass", "kilograms"), [
    ("m = 3000; m = m/1000;", "m", 3), ("g = 2; m = g; g = 5;", "m", 2),
    ("x = [1 2]; y = x*2;", "y(2)", 4), ("x = [1 2]; y = [x x];", "y(4)", 2),
    ("x = [1 2; 3 4];", "x(2)", 3), ("x = [1 2]; m = sum(x*3);", "m", 9),
    ("s = struct('m', 2, 'L', [1 2]); m = s.m*s.L(2);", "m", 4), ("p.m = 3; q = p;", "q.m", 3),
    ("x = linspace(0, 1);", "100*length(x)", 1e4), ("m = 3 && 2;", "m", 1),
    ("Mass = 3;", "Mass", 3), ("stop = 4;", "stop", 4), ("m = round(2.5);", "m", 3),
    ("a = 3;", "a == 3", 1), ("a = 3; m = a > 2;", "m", 1), ("a = 3;", "2*(a > 2) + 1", 3),
    ("a = 3; x = [a > 5, a < 5];", "x(2)", 1), ("a = 3;", "max(a > 2, 0)", 1),
    ("a = 3;", "[a - 2]", 1), ("a = 3;", "[[a]]", 3), ("x = [1 4];", "diff(x)", 3),
    ("a = 3;", "cumsum(a)", 3), ("a = 3;", "flip(a)", 3), ("a = 3;", "a:a", 3),
    ("", "linspace(1, 2, 1)", 2), ("m = int32(2.7);", "m", 3), ("m = uint8(300);", "m", 255),
    ("m = logical(5);", "m", 1), ("m = double(5);", "m", 5)])
def test_the_text_has_the_value_that_the_script_gives(script, mass, kilograms, tmp_path):
    assert_allclose(mass_of(script, mass, tmp_path), kilograms, rtol=1e-15)


@pytest.mark.parametrize(("unit", "factor", "base"), [
    ("lbm", 0.45359237, "kg"), ("HP_DIN", 735.49875, "W"), ("Btu_IT", 1055.05585262, "J"),
    ("Btu_IT/(ft^2*hr*deltaF)", 1055.05585262 / (0.3048**2 * 3600) * 1.8, "W/(m^2*K)"),
    ("fpm", 0.3048 / 60, "m/s"), ("bar/gpm", 1e5 / (231 * 0.0254**3 / 60), "Pa*s/m^3"),
    ("G", 1e-4, "T"), ("c", 1, "A*s"), ("igal", 4.54609e-3, "m^3"), ("Poise", 0.1, "Pa*s"),
    ("deltaR", 5 / 9, "K"), ("lpm", 1e-3 / 60, "m^3/s"), ("cSt", 1e-6, "m^2/s"),
    ("W/(m^2 * deltaC)", 1, "W/(m^2*K)"), ("slug", 0.45359237 * 9.80665 / 0.3048, "kg")])
def test_a_unit_of_simscape_is_what_it_is_there(unit, factor, base):
    """Pound 0.45359237 kg, foot 0.3048 m, US gallon 231 cubic inches, as they are defined."""
    assert_allclose(quantity(1.0, unit_here(unit)).to(base).m, factor, rtol=1e-9)


@pytest.mark.parametrize("change", ["m = measured('a');", "m(2) = 5;", "if wet, m = 3; end",
                                    "[m, n] = deal(1, 2);", "m = sqrt(-1);"])
def test_a_value_that_a_statement_may_have_changed_is_asked_for(change, tmp_path):
    with pytest.raises(FileError, match="m in /sledge.mass .*--set m=…"):
        mass_of(f"m = 1;\n{change}", "m", tmp_path)
    assert mass_of(f"m = 1;\n{change}", "m", tmp_path, values={"m": "7"}) == 7


def test_a_script_that_nothing_calls_gives_no_value_unless_it_is_named(tmp_path):
    (tmp_path / "parameters.m").write_text("m = 3;\nf = 2;\n")
    with pytest.raises(FileError, match="--script parameters.m, or --set f=… --set m=…"):
        mass_of("", "m*f", tmp_path)
    script = tmp_path / "parameters.m"
    assert mass_of("", "m*f", tmp_path, scripts=[script]) == 6
    assert mass_of("", "m*f", tmp_path, scripts=[script], values={"m": 7}) == 14
    with pytest.raises(FileError, match=r"nowhere.m: it cannot be read"):
        mass_of("", "m", tmp_path, scripts=[tmp_path / "nowhere.m"])


def workspace_part(**values):
    """A binary workspace: a file of one structure without its header, behind eight bytes."""
    file = io.BytesIO()
    scipy.io.savemat(file, {"s": values}, do_compression=False)
    element = file.getvalue()[128:]
    nameless = element.replace(b"\x01\x00\x01\x00s\x00\x00\x00", b"\x01\x00\x00\x00" + bytes(4))
    assert len(nameless) == len(element)
    return b"\x00\x01IM\x00\x00\x00\x00" + nameless


def test_the_workspace_of_the_model_holds_before_every_script(tmp_path):
    (tmp_path / "parameters.m").write_text("m = 3;\np.f = 2;\n")
    file = write(tmp_path / "model.slx", weighed("m*p.f"), "R2022b",
                 {"StopTime": "1", "PreLoadFcn": "parameters"})
    parts = parts_of(file)
    parts["simulink/modelWorkspace.mxarray"] = workspace_part(m=5.0, p={"f": 4.0, "name": "x"})
    result = convert(zipped(parts, file))
    assert built(result.text, tmp_path).sledge.mass.to("kg").m == 20
    said = " ".join(result.script.remarks)
    assert "m is 3 in parameters.m and 5 in model workspace, which holds." in said
    assert "p.f is 2 in parameters.m and 4 in model workspace, which holds." in said
    parts["simulink/modelWorkspace.mxarray"] = b"\x00\x01IM" + bytes(40)
    assert "model workspace could not be read" in " ".join(
        convert(zipped(parts, file)).script.remarks)


def test_a_value_that_is_folded_into_another_is_used(tmp_path):
    blocks = [*weighed("1"), simulink("Constant", "c", "", "u", Value="1"),
              simulink("TransferFcn", "f", "u", "y", Numerator="[1]", Denominator="[1 2]*K")]
    result = converted(tmp_path, blocks, "R2022b", values={"K": 3.0, "L": "1"})
    said = " ".join(result.script.remarks)
    assert "L was given a value" in said
    assert "K was given a value" not in said
    with pytest.raises(ParameterError, match="Give a number, or a text"):
        convert(tmp_path / "model.slx", values={"K": [1, 2]})


def test_the_stop_time_may_be_an_expression(tmp_path):
    file = write(tmp_path / "model.slx", weighed("1"), "R2022b",
                 {"StopTime": "2*T_end", "PreLoadFcn": "T_end = 3;", "MaxStep": "T_end/10"})
    text = convert(file).text
    assert 'stop = quantity(2 * T_end, "s")' in text
    assert 'simulate(stop, max_step=quantity(T_end / 10, "s"))' in text


def test_names_of_parts_may_be_words_of_a_model(tmp_path):
    blocks = weighed("1")
    blocks[0].name, blocks[1].name, blocks[0].within = "simulate", "count", "Output"
    text = converted(tmp_path, blocks, "R2022b").text
    assert "class Output2(Component)" in text
    assert "model.count_2 = Reference()  # count" in text
    built(text, tmp_path)


@pytest.mark.parametrize(("parameter", "kilograms"), [
    ('<MaskParameter Name="m" Type="popup"><TypeOptions><Option>light</Option><Option>heavy'
     "</Option></TypeOptions><Value>heavy</Value></MaskParameter>", 2),
    ('<MaskParameter Name="m" Type="checkbox"><Value>on</Value></MaskParameter>', 1),
    ('<MaskParameter Name="L" Type="edit"><Value>3</Value></MaskParameter>'
     "<Initialization>m = L^2; % area</Initialization>", 9)])
def test_a_mask_gives_values_by_menus_boxes_and_code(parameter, kilograms, tmp_path):
    blocks = [Drawn(f"{TR}mass", "sledge", {"M": "a"}, {"mass": ("m", "kg")}, within="box"),
              Drawn(f"{TR}reference", "ground", {"V": "a"}), solver("a")]
    parts = parts_of(write(tmp_path / "model.slx", blocks, "R2016b"))
    name = "simulink/blockdiagram.xml"
    parts[name] = parts[name].replace(b'Name="box" SID="1000">', b'Name="box" SID="1000"><Mask>'
                                      + parameter.encode() + b"</Mask>")
    text = convert(zipped(parts, tmp_path / "masked.slx")).text
    assert built(text, tmp_path).box.sledge.mass.to("kg").m == kilograms


@pytest.mark.parametrize(("signals", "newtons"), [
    ([constant("c", "s", "4")], 4),
    ([constant("c", "x", "4"), Drawn(f"{PS}functions.gain", "k", {"I": "x", "O": "s"},
                                     {"gain": ("2", "1")})], 8),
    ([constant("c", "x", "1"), constant("d", "y", "3"),
      Drawn(f"{PS}functions.add", "sum", {"I1": "x", "I2": "y", "O": "s"})], 4),
    ([constant("c", "x", "0.5"),
      Drawn(f"{PS}lookup_tables.two_dimensional", "map", {"I1": "x", "I2": "x", "O": "s"},
            {"x1": ("[0 1]", "1"), "x2": ("[0 1]", "1"), "f": ("[0 4; 2 6]", "1")})], 3),
    # kinds of units that the legacy blocks do not know
    ([Drawn(f"{PS}sources.constant", "c", {"O": "x"}, {"constant": ("7", "V")}),
      Drawn(f"{PS}nonlinear.saturation", "limit", {"I": "x", "O": "s"},
            {"upper_limit": ("5", "1"), "lower_limit": ("0", "1")})], 5),
    ([Drawn(f"{PS}sources.constant", "c", {"O": "x"}, {"constant": ("7", "s")}),
      constant("d", "y", "3"),
      Drawn(f"{PS}functions.subtract", "sum", {"I1": "x", "I2": "y", "O": "s"})], 4)])
def test_a_number_without_unit_is_taken_in_the_unit_of_the_port(signals, newtons, tmp_path):
    file = write(tmp_path / "model.slx", pushed(*signals), "R2020b")
    assert_allclose(force_of(file, tmp_path), newtons, rtol=1e-9)


@pytest.mark.parametrize("variable", ["F", "[G(:,1), G(:,2)]"])
def test_a_measured_signal_may_be_a_structure_with_time(variable, tmp_path):
    t = np.linspace(0, 1, 5)[:, None]
    scipy.io.savemat(tmp_path / "force.mat", {
        "F": {"time": t, "signals": {"values": 6 * t, "dimensions": 1.0}},
        "G": np.hstack([t, 6 * t])})  # fmt: skip
    file = write(tmp_path / "model.slx", pushed(
        simulink("FromWorkspace", "measured", "", "f", VariableName=variable),
        to_ps("f", "s", Unit="N")), "R2022b", {"StopTime": "1", "PreLoadFcn": "load force.mat"})
    assert_allclose(force_of(file, tmp_path), 3, rtol=1e-6)


def test_a_long_line_is_broken_within_brackets_alone(tmp_path):
    long = "initial_values_of_the_measured_voltage_of_the_positive_sequence"
    script = f"{long} = [1 30]; m = {long}(1)*cos(pi/180*{long}(2)) + {long}(1);"
    assert mass_of(script, "m", tmp_path) == pytest.approx(1 + np.sqrt(0.75))


def test_a_formula_asks_for_the_values_that_it_names(tmp_path):
    formula = simulink("Fcn", "law", "t", "y", Expr="u(1)/Lift.Gain + 50")
    file = write(tmp_path / "model.slx", [simulink("Clock", "clock", "", "t"), formula,
                                          simulink("Scope", "scope", "y")], "R2022b")
    with pytest.raises(FileError, match=r"Lift in /law.*--set Lift"):
        convert(file)
    assert "Lift_Gain = 4" in convert(file, values={"Lift.Gain": "4"}).text


def test_gaps_leave_no_node_without_a_value(tmp_path):
    blocks = [Drawn("ee.electromech.dc_motor", "motor", {"p": "u", "n": "g", "R": "w", "C": "h"}),
              Drawn("foundation.electrical.elements.resistor", "wire", {"p": "u", "n": "v"},
                    {"R": ("1", "Ohm")}), Drawn("ee.sources.battery", "cell", {"p": "v", "n": "g"}),
              Drawn("foundation.electrical.elements.reference", "earth", {"V": "g"}),
              Drawn("foundation.mechanical.rotational.inertia", "rotor", {"I": "w"},
                    {"inertia": ("1", "kg*m^2")}),
              Drawn("foundation.mechanical.rotational.reference", "frame", {"W": "h"}), solver()]
    for release in ("R2016b", "R2026a"):  # the first names no ports of a gap, the second no types
        model = built(converted(tmp_path, blocks, release).text, tmp_path)
        assert model.simulate("1 s").time.to("s").m[-1] == 1, release


def choice_of_masses(conditions):
    """A variant subsystem of a mass of 2 kg and one of 8 kg."""
    choices = [Drawn("SubSystem", name, {"a": "x"}, options={"VariantControl": condition}, inner=[
        Drawn(f"{TR}mass", "sledge", {"M": "y"}, {"mass": (mass, "kg")}),
        Drawn("PMIOPort", "a", {"p": "y"}, options={"Side": "Left"})])
        for name, mass, condition in zip(("light", "heavy"), "28", conditions, strict=True)]
    port = Drawn("PMIOPort", "a", {"p": "x"}, options={"Side": "Left"})
    return [Drawn("SubSystem", "box", {"a": "g"}, options={"Variant": "on"},
                  inner=[*choices, port]), *weighed("1")[1:]]


@pytest.mark.parametrize(("conditions", "script"), [
    (("W == 1", "W == 2"), "W = 2;"), (("W == 1", "(default)"), "W = 2;"),
    (("V1", "V2"), "W = 2; V1 = Simulink.Variant('W == 1'); V2 = Simulink.Variant('W == 2');"),
    (("V1", "V2"), "V1 = 0; V2 = Simulink.Parameter(1); V2.CoderInfo.Alias = 'v';")])
def test_a_condition_chooses_a_variant(conditions, script, tmp_path):
    file = write(tmp_path / "model.slx", choice_of_masses(conditions), "R2016b",
                 {"StopTime": "1", "PreLoadFcn": script})
    assert built(convert(file).text, tmp_path).box.sledge.mass.to("kg").m == 8


def test_what_chooses_a_variant_is_asked_for(tmp_path):
    file = write(tmp_path / "model.slx", choice_of_masses(("W == 1", "W == 2")), "R2016b")
    with pytest.raises(FileError, match="W in the choices of /box.*--set W=…"):
        convert(file)
    assert "nothing in this text uses" not in convert(file, values={"W": "2"}).text


def test_a_block_of_an_absent_library_is_a_gap_with_its_ports(tmp_path):
    blocks = [*weighed("1"), Drawn("mylib/Sledge", "mine", {"a": "g"}, inputs=("u",)),
              simulink("Constant", "given", "", "u")]
    text = converted(tmp_path, blocks, "R2022b").text
    assert '    lconn1 = Port(translational)\n    in1 = Input("")\n' in text
    assert "model.connect(model.given.y, model.mine.in1)" in text
    assert built(text, tmp_path).simulate("1 s").time.to("s").m[-1] == 1


E = "foundation.electrical."
SWITCHED = [  # 5 V over 2 ohm and a switch of 0.5 ohm
    Drawn(f"{E}elements.controlled_switch", "switch", {"p": "p", "vT": "s", "n": "q"},
          {"Threshold": ("0.5", "1"), "R_closed": ("0.5", "Ohm")}),
    Drawn(f"{E}sources.dc_voltage", "source", {"p": "p", "n": "g"}, {"v0": ("5", "V")}),
    Drawn(f"{E}elements.resistor", "load", {"p": "q", "n": "g"}, {"R": ("2", "Ohm")}),
    Drawn(f"{E}elements.reference", "ground", {"V": "g"}), solver()]


def test_a_number_in_a_unit_that_the_port_does_not_take_is_taken_over_and_told(tmp_path):
    blocks = [simulink("Step", "up", "", "n", Time="0.5", After="1"), to_ps("n", "s", Unit="V"),
              *SWITCHED]
    text = converted(tmp_path, blocks, "R2022b").text
    assert "switch.vT takes 1 and is given V: the number is taken over." in text
    assert built(text, tmp_path).simulate("1 s")["load.i"].final.to("A").m == pytest.approx(2)


def test_two_classes_of_one_name_are_imported_under_names_of_their_own(tmp_path):
    """A switch of circuits lets a current through, one of signals a number."""
    blocks = [simulink("Constant", "a", "", "a", Value="2"),
              simulink("Constant", "b", "", "b", Value="5"),
              simulink("Switch", "pick", "a b a", "n"), to_ps("n", "s"), *SWITCHED]
    text = converted(tmp_path, blocks, "R2022b").text
    assert "Switch as ElectricalSwitch" in text
    run = built(text, tmp_path).simulate("1 ms")
    assert run["load.i"].final.to("A").m == pytest.approx(2)
    assert run["pick.y"].final.m == 2


def test_long_values_are_broken_and_those_that_nothing_uses_are_not_written(tmp_path):
    long = [f"the_{word}_of_the_first_of_the_sledges_here" for word in ("mass", "load", "rest")]
    script = (f"{long[0]} = 3; {long[1]} = 4; {long[2]} = 1; idle = 8; words = ['a', 'b'];"
              f"m = {long[0]} * {long[1]} - {long[2]} + {long[0]} * {long[1]} - {long[2]};")
    file = write(tmp_path / "model.slx", weighed("m"), "R2016b", {
        "StopTime": "1", "PreLoadFcn": script})
    text = convert(file).text
    assert max(map(len, text.splitlines())) <= 100
    assert "idle" not in text
    assert "words" not in text
    assert built(text, tmp_path).sledge.mass.to("kg").m == 22


def test_a_script_beside_the_model_is_found_by_its_name(tmp_path):
    home = tmp_path / "scripts"
    home.mkdir()
    (home / "values.m").write_text("m = 7;", encoding="utf-8")
    file = write(tmp_path / "model.slx", weighed("m"), "R2016b")
    with pytest.raises(FileError, match=r"--script values\.m"):
        convert(file, folders=[home])
    text = convert(file, folders=[home], scripts=["values.m"]).text
    assert built(text, tmp_path).sledge.mass.to("kg").m == 7


def test_an_output_that_nothing_drives_is_not_plotted(tmp_path):
    inner = [simulink("From", "lost", "", "x", GotoTag="nowhere"), simulink("Outport", "out", "x")]
    blocks = [*weighed("1"), Drawn("SubSystem", "box", {}, outputs=("y",), inner=inner),
              simulink("Scope", "scope", "y")]
    text = converted(tmp_path, blocks, "R2022b").text
    assert "box.out" not in text
    built(text, tmp_path).simulate("1 ms")


def test_a_function_with_a_block_of_arguments_gives_no_name_a_value(tmp_path):
    script = "m = 6;\nfunction y = twice(x)\narguments\nx (1,1) double\nend\ny = 2*x;\nm = 8;\nend"
    assert mass_of(script, "m", tmp_path) == 6


def test_two_boxes_that_hold_the_same_in_another_order_are_one_class(tmp_path):
    """Each makes a + 2 b."""
    def box(name, out, turned):
        inner = [simulink("Inport", "a", "", "a"), simulink("Inport", "b", "", "b", Port="2"),
                 simulink("Gain", "twice", "b", "c", Gain="2"), simulink("Sum", "both", "a c", "y"),
                 simulink("Outport", "out", "y")]
        inner = [*inner[:2], inner[3], inner[2], inner[4]] if turned else inner
        return Drawn("SubSystem", name, {}, inputs=("p", "q"), outputs=(out,), inner=inner)

    blocks = [*weighed("1"), simulink("Constant", "p", "", "p", Value="3"),
              simulink("Constant", "q", "", "q", Value="4"),
              box("box 1", "y", False), box("box 2", "z", True),
              simulink("Scope", "scope", "y"), simulink("Scope", "scope 2", "z")]
    text = converted(tmp_path, blocks, "R2022b").text
    assert text.count("class ") == 1
    run = built(text, tmp_path).simulate("1 ms")
    assert [run[f"box_{k}.both.y"].final.m for k in (1, 2)] == [11, 11]
