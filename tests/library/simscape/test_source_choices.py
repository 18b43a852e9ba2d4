"""What enumerations and exclusive branches of component sources choose; sources beside a model."""

import runpy

import numpy as np
import pytest
from benches import meets, wired
from slx_writer import Drawn, coasting, solver, write
from test_source_loops import CHAIN

from blocks import BlocksError, UnknownName
from library.electrical import DCVoltageSource, ElectricalReference
from library.simscape import source_text
from library.simscape.__main__ import main
from library.simscape.matlab.syntax import NotUnderstood

MODE = """classdef mode < int32
    % How the part conducts.
    enumeration
        weak (1)   % 1 S
        strong (3), shorted (7)
    end
    methods (Static)
        function map = displayText()
            map = containers.Map;
            map('weak') = 'Weak';
        end
    end
end
"""
PART = """component part < foundation.electrical.branch
parameters m = {enum}.weak; s = {{2, '1/Ohm'}}; end
equations
    if m == {enum}.strong
        i == 3*s*v;
    elseif {other}
        i == 7*s*v;
    else
        i == s*v;
    end
end
end
"""


def part_of(folder, enumeration=MODE, source=PART, enum="mode", other="m == 7", place="mode.m"):
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(enumeration, encoding="utf-8")
    home = folder / "+pack" / "+parts"
    home = home if enum != "mode" else folder
    home.mkdir(parents=True, exist_ok=True)
    (home / "part.ssc").write_text(source.format(enum=enum, other=other), encoding="utf-8")
    module = folder / "part.py"
    module.write_text(source_text(home / "part.ssc"), encoding="utf-8")
    return runpy.run_path(str(module))["Part"]


@pytest.mark.parametrize(("enum", "place"), [("mode", "mode.m"),
                                             ("pack.kinds.mode", "+pack/+kinds/mode.m")])
@pytest.mark.parametrize("other", ["m == 7", "7 == m", "m == mode.shorted",
                                   "~(m == mode.weak || m == 3)"])
def test_words_choose_the_equations(enum, place, other, tmp_path):
    made = part_of(tmp_path, enum=enum, place=place, other=other.replace("mode.", f"{enum}."))
    assert made().m == "weak"
    for word, conductance in (("weak", 2), ("strong", 6), ("shorted", 14)):
        model = wired("circuit", "source.p part.p", "source.n part.n ground.V",
                      source=DCVoltageSource(voltage="1 V"), part=made(m=word),
                      ground=ElectricalReference())
        assert model.operating_point()["part.i"].to("A").m == pytest.approx(conductance)


def test_a_word_that_is_no_member_is_refused_where_it_is_given(tmp_path):
    with pytest.raises(UnknownName, match="The choices are: shorted, strong, weak"):
        part_of(tmp_path)(m="loose")


@pytest.mark.parametrize(("old", "new", "other", "said"), [
    ("< int32", "< handle", "m == 7", "mode.m (line 1): mode is no enumeration of whole numbers"),
    ("weak (1)", "weak", "m == 7", "mode.m (line 4): 'weak' is no member with a number"),
    ("strong (3)", "strong (1)", "m == 7", "mode.m (line 5): strong or its number is there twice"),
    ("", "", "m == mode.loose", "part.ssc (line 4): loose is no member of the enumeration of m"),
    ("", "", "m == 5", "part.ssc (line 4): 5 is no member of the enumeration of m"),
    ("    enumeration\n", "    properties\n", "m == 7", "mode.m: it has no enumeration")])
def test_what_is_no_enumeration_is_refused_by_its_line(old, new, other, said, tmp_path):
    with pytest.raises(NotUnderstood) as caught:
        part_of(tmp_path, MODE.replace(old, new, 1), other=other)
    assert said in str(caught.value)


# -- exclusive branches, and arrays that functions make --------------------------------------------
HEAD = """component leaky
% Leaky resistor
nodes
  p = foundation.electrical.electrical; % +:left
  n = foundation.electrical.electrical; % -:right
end
parameters
  loss = true; % loss
  R = {MAKER, 'Ohm'};
end
variables i = {0, 'A'}; v = {0, 'V'}; end
branches i : p.i -> n.i; end
if loss
  variables q = {0, 'W'}; end
  equations q == v*i; v == R(2)*i; end
else
  variables q = {START, 'W'}; end
  equations q == 0; v == 2*R(2)*i; end
end
equations v == p.v - n.v; end
end
"""


def leaky(folder, maker="ones(1,3)*2.5", start="0"):
    file = folder / "leaky.ssc"
    file.write_text(HEAD.replace("MAKER", maker).replace("START", start), encoding="utf-8")
    return source_text(file)


@pytest.mark.parametrize("maker", ["ones(1,3)*2.5", "2.5+zeros(1,2)", "repmat(2.5,1,2)",
                                   "linspace(2,3,3)"])
@pytest.mark.parametrize("loss", [True, False])
def test_a_variable_of_exclusive_branches_is_one(maker, loss, tmp_path):
    text = leaky(tmp_path, maker)
    assert text.count("    q = Variable(") == 1
    space: dict = {"__name__": "leaky"}
    exec(compile(text, "leaky.py", "exec"), space)
    model = wired("circuit", "source.p part.p", "source.n part.n ground.V",
                  source=DCVoltageSource(voltage="5 V"), ground=ElectricalReference(),
                  part=space["Leaky"](loss=loss))
    run = model.simulate("1 ms")
    meets(run, {"part.i A": (2 if loss else 1, 1e-6), "part.q W": (10 if loss else 0, 1e-6)})


def test_two_start_values_in_exclusive_branches_are_refused_by_their_line(tmp_path):
    with pytest.raises(BlocksError, match=r"line 17\): q is declared twice.*all branches of an if"):
        leaky(tmp_path, start="1")


# -- sources that lie beside a model stand in place of gaps ----------------------------------------
SLED = """component drag
% Drag of snow
nodes
  R = foundation.mechanical.translational.translational; % R:left
  C = foundation.mechanical.translational.translational; % C:right
end
parameters
  k = {2, 'N*s/m'}; % stickiness
end
variables f = {0, 'N'}; end
branches f : R.f -> C.f; end
equations f == k*(R.v - C.v); end
end
"""


@pytest.mark.parametrize("place", ["beside", "--path"])
def test_a_source_beside_the_model_takes_the_place_of_a_gap(place, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "lib" if place == "--path" else tmp_path
    (home / "+snowy" / "+parts").mkdir(parents=True)
    source = home / "+snowy" / "+parts" / "drag.ssc"
    source.write_text(SLED, encoding="utf-8")
    file = write(tmp_path / "sled.slx", [
        *(b for b in coasting(name="mass") if b.name != "snow"),
        Drawn("snowy.parts.drag", "drag", {"R": "a", "C": "g"}, {"k": ("3", "N*s/m")},
              sides=(["R"], ["C"])),], "R2022b")
    more = ["--path", str(home)] if place == "--path" else []
    for _ in range(2):  # also when it is converted again
        assert main([str(file), *more]) == 0
        assert "builds, checks, runs." in capsys.readouterr().out
        assert (tmp_path / "snowy_parts_drag.py").is_file()
    run = runpy.run_path(str(tmp_path / "sled.py"))["build"]().simulate("1 s", rtol=1e-9)
    assert run["mass.v"].final.to("m/s").m == pytest.approx(np.exp(-1.5), rel=1e-6)
    source.write_text(SLED.replace("f == k", "f == ) k"), encoding="utf-8")
    assert main([str(file), *more, "--report"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "snowy.parts.drag has a source beside the model that is not read: drag.ssc" in said
    part = ("components(ExternalAccess=none)\n  d = foundation.mechanical.translational.damper(D = "
            "R.rho);\nend\nconnections\n  connect(R, d.R);\n  connect(C, d.C);\nend\nend\n")
    source.write_text(SLED.split("parameters")[0] + part, encoding="utf-8")  # no port has a rho
    assert main([str(file), *more, "--report"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 missing" in said
    assert "snowy.parts.drag has a source beside the model that is not read" in said


def test_every_number_of_parts_that_blocks_ask_for_has_its_class(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "+my").mkdir()
    (tmp_path / "+my" / "chain.ssc").write_text(CHAIN, encoding="utf-8")
    E = "foundation.electrical."
    for numbers in (("6", "3"), ("n", "3"), ("4", "4")):
        chains = [Drawn("my.chain", f"chain{k}", {"p": "a", "n": "g"}, {
            "N": (number, "1"), "R0": ("1", "Ohm")}, sides=(["p"], ["n"]))
            for k, number in enumerate(numbers)]
        file = write(tmp_path / "chains.slx", [
            *chains, Drawn(f"{E}sources.dc_voltage", "source", {"p": "a", "n": "g"},
                           {"v0": ("12", "V")}),
            Drawn(f"{E}elements.reference", "ground", {"V": "g"}), solver()],
            "R2022b", {"StopTime": "1", "InitFcn": "n = 5;"})
        assert main([str(file)]) == 0
        assert "builds, checks, runs." in capsys.readouterr().out
        run = runpy.run_path(str(tmp_path / "chains.py"))["build"]().simulate("1 s")
        counts = [5 if number == "n" else int(number) for number in numbers]
        assert abs(run["source.i"].final.to("A").m) == pytest.approx(
            sum(12 / (n * (n + 1) / 2) for n in counts))
