"""What is wrong with a model file, or with what was asked, is said in the user's words; words of a
file never become code of the text that is written."""

import ast
import runpy
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm
from simscape_corpus import DATA, built
from slx_writer import Drawn, coasting, converted, from_ps, simulink, solver, to_ps, write

from blocks import BlocksError, FileError, Parameter
from library.simscape import add_counterpart, convert, source_text
from library.simscape.__main__ import main
from library.simscape.matlab.syntax import NotUnderstood
from library.simscape.matlab.words import refuse_foreign_code
from library.simscape.write.report import report_text
from library.translational import TwoPort

TR = "foundation.mechanical.translational."


def feedback(filtering):
    """A force that is fed back by way of numbers, which run in a circle."""
    return [*coasting(),
            Drawn("foundation.mechanical.sources.force", "push", {"R": "a", "S": "s", "C": "g"}),
            Drawn("foundation.mechanical.sensors.force", "cell", {"R": "a", "C": "b", "F": "f"}),
            Drawn(f"{TR}damper", "brake", {"R": "b", "C": "g"}, {"D": ("1", "N*s/m")}),
            from_ps("f", "n", Unit="N"), simulink("Sum", "sum", "n k", "e", Inputs="+-"),
            simulink("Gain", "K", "e", "k", Gain="-0.5"), to_ps("k", "s", Unit="N", **filtering)]


def test_a_name_without_a_value_is_asked_for_by_name(tmp_path):
    file = write(tmp_path / "model.slx", coasting(("m0*k", "kg")), "R2022b")
    with pytest.raises(FileError) as caught:
        convert(file)
    assert "these names have no value: k in /sledge.mass; m0 in /sledge.mass" in str(caught.value)
    assert "--set k=… --set m0=…" in caught.value.advice
    text = convert(file, values={"m0": "4/2", "k": "3"}).text
    assert "m0 = 4 / 2\nk = 3\n" in text
    assert "M0 was given a value, but nothing in this text uses it." in convert(
        file, values={"m0": "2", "k": "3", "M0": "2"}).text
    assert 'Mass(mass=quantity(m0 * k, "kg"), v="1 m/s")' in text
    with pytest.raises(BlocksError, match="q has no value"):
        convert(file, values={"m0": "2*q", "k": "3"})


@pytest.mark.parametrize(("blocks", "release", "said", "gaps"), [
    (coasting(("2", "kgg")), "R2022b",
     ["/sledge.mass = 2 kgg: 'kgg' is no unit that is known here"], 1),
    (coasting(), "R2031a", ["The file is of R2031a; files up to R2026a are known."], 0),
    ([*coasting(), Drawn("my_parts/Brakes/Disc", "disc")], "R2022b",
     ["/disc is a block of the library my_parts, whose file was not found", "--path"], 1),
    ([*coasting(), Drawn(solver().kind, "second", {"P": "a"})], "R2022b",
     ["/second and /solver are Solver Configuration blocks of one network"], 0)])
def test_what_is_odd_in_a_file_is_said_in_the_text(blocks, release, said, gaps, tmp_path):
    result = converted(tmp_path, blocks, release)
    assert all(words in " ".join(result.text.split()) for words in said)
    assert [e.outcome for e in result.entries].count("missing") == gaps


def test_two_solver_blocks_of_two_networks_are_fine(tmp_path):
    apart = [*coasting(), Drawn(solver().kind, "second", {"P": "b"}),
             Drawn(f"{TR}mass", "other", {"M": "b"}, {"mass": ("1", "kg")})]
    assert "one network" not in converted(tmp_path, apart, "R2022b").text


def test_a_loop_of_numbers_is_a_finding_and_a_filter_is_a_lag(tmp_path):
    file = write(tmp_path / "model.slx", feedback({}), "R2022b")
    assert "signal.loop" in {f.code for f in built(convert(file).text, tmp_path).check()}
    lag = {"FilteringAndDerivatives": "filter", "SimscapeFilterOrder": "1",
           "InputFilterTimeConstant": "0.05"}
    result = converted(tmp_path, feedback(lag), "R2022b")
    assert ["Its filter is a lag of the same order."] in [e.notes for e in result.entries]
    run = built(result.text, tmp_path).simulate("3 s", rtol=1e-9)
    # e = f - k, k = -0.5 e: k = -f, with f = v; 2 v' = -4 v + s, 0.05 s' = -v - s
    expected = (expm(3 * np.array([[-2.0, 0.5], [-20.0, -20.0]])) @ [1.0, 0.0])[0]
    assert_allclose(run["sledge.v"].final.to("m/s").m, expected, rtol=1e-6)


def test_a_package_of_ones_own_gives_counterparts_on_the_command_line(
        tmp_path, capsys, monkeypatch):
    (tmp_path / "my_snow.py").write_text(
        "from blocks import Parameter\nfrom library.simscape import add_counterpart\n"
        "from library.translational import TwoPort\n\n\n"
        "class Drift(TwoPort):\n    k = Parameter('1 N*s/m')\n\n"
        "    def equations(self):\n        yield self.f == self.k * self.v\n\n\n"
        "add_counterpart('my_snow.drift', Drift, ports={'lconn1': 'R', 'rconn1': 'C'})\n",
        encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    blocks = [b for b in coasting() if b.name != "snow"]
    blocks.append(Drawn("my_snow.drift", "drift", {}, {"k": ("2", "N*s/m")}))
    file = write(tmp_path / "model.slx", blocks, "R2022b")
    assert main([str(file), "--with", "my_snow", "--report"]) == 0
    assert "from my_snow import Drift\n" in (tmp_path / "model.py").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main([str(file), "--with", "nowhere"])
    assert "--with nowhere: No module named 'nowhere'" in capsys.readouterr().err


def test_a_component_of_ones_own_may_be_a_counterpart(tmp_path):
    add_counterpart("my_parts.snow", Snow, parameters={"k": "stickiness"},
                    ports={"lconn1": "R", "rconn1": "C"})
    blocks = [b for b in coasting() if b.name != "snow"]
    blocks.append(Drawn("my_parts.snow", "drift", {}, {"k": ("2", "N*s/m")}))
    assert 'model.drift = Snow(stickiness="2 N*s/m")' in converted(tmp_path, blocks, "R2022b").text


class Snow(TwoPort):
    stickiness = Parameter("1 N*s/m")

    def equations(self):
        yield self.f == self.stickiness * self.v


def test_the_command_line_writes_reports_and_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "sledge.slx", coasting(), "R2022b")
    assert main([str(file), "--report", "--run"]) == 0
    said = capsys.readouterr().out
    assert "sledge.py: builds, checks, runs.\n4 blocks, 0 without a counterpart" in said
    assert "\nThe text builds, checks, runs.\n" in said
    assert "/sledge (foundation.mechanical.translational.mass) -> translational.Mass" in said
    page = (tmp_path / "sledge.html").read_text(encoding="utf-8")
    assert "<svg" in page and "translational.Mass" in page
    assert main([str(DATA / "ssc" / "lumpedTES.ssc"), "-o", str(tmp_path / "sand.py")]) == 0
    assert "  airDuct takes the defaults here of condensation_time." in capsys.readouterr().out


def test_what_is_changed_by_hand_survives_a_new_conversion(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "sled.slx", coasting(("m0", "kg")), "R2022b")
    assert main([str(file), "--set", "m0=3"]) == 0
    repairs = tmp_path / "sled_repairs.py"
    assert "sled_repairs.py: for what you change by hand" in capsys.readouterr().out
    repairs.write_text('VALUES = {"m0": "5"}\n\n\ndef repair(model):\n'
                       '    model.snow.damping = "7 N*s/m"\n    return model\n', encoding="utf-8")
    assert main([str(file)]) == 0
    assert "by hand" not in capsys.readouterr().out
    text = (tmp_path / "sled.py").read_text(encoding="utf-8")
    assert "from sled_repairs import repair\n" in text
    assert "    return repair(model)\n" in text
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sled_repairs", raising=False)
    model = runpy.run_path(str(tmp_path / "sled.py"))["build"]()
    assert model.sledge.mass.to("kg").m == 5
    assert model.snow.damping.to("N*s/m").m == 7
    repairs.write_text("VALUES = 3\n", encoding="utf-8")
    assert main([str(file)]) == 1
    assert "VALUES is 3" in capsys.readouterr().err
    repairs.write_text("import nowhere_at_all\n", encoding="utf-8")
    assert main([str(file)]) == 1
    assert "this module cannot be imported: ModuleNotFoundError" in capsys.readouterr().err


def test_a_text_that_does_not_build_is_a_failure(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "lost.slx", coasting(), "R2022b")
    (tmp_path / "lost_repairs.py").write_text(
        "def repair(model):\n    raise ValueError('no')\n", encoding="utf-8")
    assert main([str(file), "--report"]) == 1
    assert "lost.py: does not build: ValueError: no" in capsys.readouterr().out


def test_a_source_that_is_a_gap_is_said_to_move_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = [*coasting(), Drawn("mine.sources.rocket", "rocket", {"R": "a", "C": "g"},
                                 sides=(["R"], ["C"]))]
    assert main([str(write(tmp_path / "flight.slx", blocks, "R2022b"))]) == 0
    assert "It will not move as in the model: /rocket is a gap." in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "said"), [
    (["nothing.slx"], "it cannot be read: No such file"),
    (["notes.txt"], "it is no Simulink model"),
    (["sledge.slx", "-o", "nowhere/model.py"], "cannot be written")])
def test_the_command_line_says_what_is_wrong(arguments, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("some notes", encoding="utf-8")
    write(tmp_path / "sledge.slx", coasting(), "R2022b")
    assert main(arguments) == 1
    assert said in capsys.readouterr().err


def test_a_value_that_is_no_assignment_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["model.slx", "--set", "mass"])
    assert "--set takes NAME=VALUE, but was given 'mass'" in capsys.readouterr().err


def test_a_gap_lets_next_to_nothing_pass(tmp_path):
    blocks = [*coasting(), Drawn("my_parts.unknown", "strange", {}, {"k": ("2", "1")})]
    result = converted(tmp_path, blocks, "R2022b")
    assert [e.outcome for e in result.entries].count("missing") == 1
    assert built(result.text, tmp_path).simulate("1 s")["sledge.v"].final.to("m/s").m < 0.3


def test_a_report_says_once_what_several_gaps_have_in_common(tmp_path):
    """Three blocks of a library that is not here, and of them two that are alike."""
    blocks = [*coasting(), *(Drawn(f"my_parts/{kind}", name, {"a": "g"})
                             for kind, name in (("Disc", "a"), ("Disc", "b"), ("Ring", "c")))]
    blocks = [b for b in blocks if b.name != "snow"]
    text = report_text(converted(tmp_path, blocks, "R2022b").script)
    assert "/a and 2 more are blocks of the library my_parts" in text
    assert text.count("A stub with its ports and values stands for it.") == 2
    assert "repair(model)" in text
    assert max(map(len, text.splitlines())) <= 100


# -- words of a file that would be code ------------------------------------------------------------
WORDS = ['" + __import__("os").system("x") + "', "' + __import__('os').system('x') + '", 'a"""',
         "a\\", '"', '"""\n__import__("os")\n"""', "x\r__import__('os')", "x\n    __import__('os')",
         "x\u2028__import__('os')", "\x85__import__('os')", "{__import__('os')}",
         'a\\"+__import__("os")+"', 'lib/__import__("os")', "import os; __import__"]


def model(place, word):
    """A small model with a word of somebody's at one place, and its settings."""
    sledge, snow, ground, _ = coasting()
    level = simulink("Constant", "level", "", "n", Value="1")
    gain = simulink("Gain", "K", "n", "m", Gain="2")
    blocks, settings = [sledge, snow, ground, level, gain], {"StopTime": "1"}
    if place == "name":
        sledge.name = word
    elif place == "subsystem":
        snow.within = ground.within = word
    elif place == "value":
        sledge.values["mass"] = (word, "kg")
    elif place == "unit":
        sledge.values["mass"] = ("2", word)
    elif place == "gain":
        gain.options = {"Gain": word}
    elif place == "kind":
        blocks.append(simulink(f"other_lib/{word}", "odd", "", "q"))
    elif place == "function":
        blocks.append(simulink("Fcn", "odd", "n", "q", Expr=word))
    elif place == "tag":
        blocks += [simulink("Goto", "to", "m", GotoTag=word),
                   simulink("From", "from", "", "z", GotoTag=word)]
    elif place == "stop":
        settings = {"StopTime": word}
    else:  # of a callback
        settings["PreLoadFcn"] = f"q = 3; % {word}" if place == "comment" else f"q = '{word}';"
        sledge.values["mass"] = ("q", "kg")
    return blocks, settings


def names_in(text):
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("place", ["name", "subsystem", "value", "unit", "gain", "kind", "function",
                                   "tag", "stop", "comment", "text"])  # fmt: skip
def test_words_of_a_model_are_no_code(tmp_path, place):
    written = 0
    for word in WORDS:
        blocks, settings = model(place, word)
        try:
            text = convert(write(tmp_path / "model.slx", blocks, "R2022b", settings)).text
        except BlocksError:
            continue  # refused by name
        assert "__import__" not in names_in(text)
        written += 1
    assert written or place in ("value", "gain", "function", "text")  # others are words only


SOURCE = """component thing
% TITLE
nodes
 R = foundation.mechanical.translational.translational; % LABEL
end
parameters
 d = {1,'N'}; % LABEL
end
variables
 f = {0,'N'};
end
branches
 f : R.f -> *;
end
equations
 assert(d > 0, 'MESSAGE')
 f == d;
end
end
"""


@pytest.mark.parametrize("place", ["TITLE", "LABEL", "MESSAGE"])
def test_words_of_a_component_source_are_no_code(tmp_path, place):
    file, written = tmp_path / "thing.ssc", 0
    for word in WORDS:
        file.write_text(SOURCE.replace(place, word), encoding="utf-8")
        try:
            text = source_text(file)
        except BlocksError:
            continue
        assert "__import__" not in names_in(text)
        written += 1
    assert written > 5


@pytest.mark.parametrize("text", [
    "import os", "from subprocess import run", "x = eval('1')", "print(open('f'))",
    "x = ().__class__", "__import__('os')", "x = (", "def f():\n    return exec('1')"])
def test_a_text_with_other_code_is_not_given_away(text):
    with pytest.raises(NotUnderstood):
        refuse_foreign_code(text, "model.slx")
