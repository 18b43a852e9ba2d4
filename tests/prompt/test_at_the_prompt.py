"""``python -m blocks``: what each command does, writes, prints and returns."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import blocks
from blocks.prompt import main
from blocks.prompt.new_component import DOMAINS

OSCILLATOR = """
from blocks import Model
from library.translational import Mass, Reference, Spring

def build(name="oscillator"):
    made = Model(name)
    made.block, made.spring, made.wall = Mass(mass="2 kg", v="1 m/s"), Spring(), Reference()
    made.spring.stiffness = "8 N/m"
    made.connect(made.block.M, made.spring.R)
    made.connect(made.spring.C, made.wall.V)
    return made
"""


@pytest.fixture
def prompt(tmp_path, monkeypatch, capsys):
    """Run a command in a folder of its own: exit code, what it printed, what it complained of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("swing.py").write_text(OSCILLATOR)

    def forget():
        """The files of this folder, which are read anew by each command."""
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or "/").parent == tmp_path:
                del sys.modules[name]

    def run(*arguments):
        forget()
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    yield run
    forget()


@pytest.mark.parametrize(("given", "text", "title"), [
    ("swing.py", "", "oscillator"),  # build()
    ("swing.py", "model, other = build('first'), build('second')", "first"),
    ("swing.py", "only = build('only')", "only"),
    ("swing.py:other", "model, other = build('first'), build('second')", "second"),
    ("swing.py", "class Drive(Model):\n    pass\ndel build", "model"),
    ("swing.json", "build().save('swing.json')", "oscillator")])
def test_the_model_of_a_file(given, text, title, prompt):
    Path("swing.py").write_text(f"{OSCILLATOR}\n{text}\n")
    if given.endswith(".json"):
        assert prompt("check", "swing.py")[0] == 0
    code, out, _ = prompt("check", given)
    assert out.startswith(f"{title}: ")
    assert code == (1 if title == "model" else 0)  # an empty model is a mistake


@pytest.mark.parametrize(("arguments", "told"), [
    (("check", "swung.py"), "swung.py: there is no such file. Name a file that holds a model"),
    (("check", "empty.py"), "empty.py: holds no model. Call the model 'model', write a function "),
    (("check", "several.py"), "several.py: holds several models: a, b. Say which one, such as "
     "several.py:a."),
    (("check", "swing.py:biuld"), "there is no 'biuld' in it. Did you mean 'build'?"),
    (("check", "typo.py"), "typo.py, line 2: '(' was never closed: x = ("),
    (("check", "index.py"), "IndexError: list index out of range\nindex.py, line 1: [][1]"),
    (("run", "swing.py", "--stop", "5kg"), "--stop: takes s or any unit convertible to it"),
    (("run", "swing.py", "--stop", "5s", "--set", "block.mas=3kg"), "--set: there is no "
     "'block.mas' among its parameters, options and initial targets. Did you mean 'block.mass'"),
    (("run", "swing.py", "--stop", "5s", "--set", "block.mass"), "--set: takes PATH=VALUE"),
    (("run", "swing.py", "--stop", "5s", "--plot", "block.w", "-o", "x.png"),
     "there is no 'block.w' among its variables. Did you mean 'block.v'"),
    (("run", "swing.py", "--stop", "5s", "-o", "x.doc"), "has the ending '.doc', but what is "),
    (("draw", "swing.py", "-o", "nowhere/x.svg"), "there is no folder 'nowhere'."),
    (("new", "component", "3D"), "3D: cannot be the name of a class.")])  # fmt: skip
def test_what_is_wrong_is_told_without_a_traceback(arguments, told, prompt):
    Path("empty.py").write_text("x = 1\n")
    Path("several.py").write_text("from swing import build\na, b = build(), build()\n")
    Path("typo.py").write_text("y = 1\nx = (\n")
    Path("index.py").write_text("[][1]\n")
    code, out, err = prompt(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert told in err.replace(f"{Path.cwd()}/", "")
    assert "Traceback" not in err
    assert "Traceback" in prompt(*arguments, "--traceback")[2]


def test_an_example_is_no_program_where_it_is_checked(prompt):
    code, out, _ = prompt("check", str(Path(__file__).parents[2] / "examples" / "stick_slip.py"))
    assert code == 0 and out.endswith("stick-slip: no mistakes found\n")


def test_mistakes_of_a_model_are_told_and_are_the_exit_code(prompt):
    Path("none.py").write_text("from blocks import Model\nmodel = Model('nothing')\n")
    assert prompt("check", "none.py")[:2] == (1, str(blocks.Model("nothing").check()) + "\n")
    code, _, err = prompt("run", "none.py", "--stop", "1s")
    assert code == 1
    assert err.startswith("error: ")


def test_a_run_takes_values_and_writes_what_the_endings_say(prompt):
    code, out, _ = prompt("run", "swing.py", "--stop", "2s", "--set", "block.mass=8kg", "--set",
                          "spring.x = 1 mm", "--method", "BDF", "--rtol", "1e-9", "--plot",
                          "block.v, spring.x", "-o", "run.svg", "-o", "run.nc")
    assert code == 0
    assert "method      BDF" in out
    assert out.endswith("run.svg\nrun.nc\n")
    assert Path("run.svg").read_text().count("<svg") == 1
    kept = blocks.load("run.nc")
    assert kept.parameters["block.mass"].m_as("kg") == 8
    assert kept["spring.x"].at("0 s").m_as("mm") == pytest.approx(1)
    assert f"block.v     ends at {kept['block.v'].final.m:.5g} m/s" in out


def test_the_schematic_and_the_report_are_called_like_the_model(prompt):
    assert prompt("draw", "swing.py:build", "--values") == (0, "build.svg\n", "")
    assert "8 N/m" in Path("build.svg").read_text()
    assert prompt("report", "swing.py", "--stop", "1s") == (0, "swing.html\n", "")
    assert "<html" in Path("swing.html").read_text()


def test_a_page_has_the_sliders_that_are_named(prompt):
    pytest.importorskip("ziglang", reason="pages are compiled by ziglang")
    made = prompt("page", "swing.py", "--stop", "1s", "--plot", "block.v", "--slider",
                  "spring.stiffness = 4 N/m .. 12 N/m")
    assert made == (0, "swing.html\n", "")
    assert '"path":"spring.stiffness"' in Path("swing.html").read_text()
    code, _, err = prompt("page", "swing.py", "--stop", "1s", "--slider", "spring.stiffness=4N/m")
    assert code == 1 and "PATH=LOW..HIGH" in err


def test_what_is_done_is_logged_on_request(prompt, caplog):
    with caplog.at_level(logging.INFO, "blocks"):
        prompt("run", "swing.py", "--stop", "1s")
    (said,) = [r for r in caplog.records if r.name == "blocks.simulation"]
    assert said.getMessage().startswith("oscillator: finished, ")


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_new_component_runs_and_passes_its_test(domain, prompt):
    code, out, _ = prompt("new", "component", "QuickDrag", "--domain", domain)
    assert (code, out.split()) == (0, ["quick_drag.py", "test_quick_drag.py"])
    assert prompt("check", "quick_drag.py")[0] == 0
    names = {"__name__": "test"}
    exec(Path("test_quick_drag.py").read_text(), names)
    result = sys.modules["quick_drag"].build().simulate("2 s", rtol=1e-8)
    names["test_it_follows_the_closed_form"](result)
    names["test_energy_is_kept"](result)
    assert "is there already" in prompt("new", "component", "QuickDrag", "--domain", domain)[2]


def test_it_is_called_as_a_module(prompt):
    done = subprocess.run([sys.executable, "-m", "blocks", "run", "swing.py"],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 2
    assert "required: --stop" in done.stderr


def test_without_a_command_those_that_there_are_are_listed(prompt):
    code, _, told = prompt()
    assert code == 2 and all(word in told for word in ("check", "run", "draw", "report", "new"))


def test_an_option_that_there_is_not_is_answered_by_those_that_there_are(prompt, capsys):
    with pytest.raises(SystemExit, match="2"):
        prompt("run", "swing.py", "--stop", "1s", "--path", "block.v")
    assert "--path is not understood. Did you mean '--plot'" in capsys.readouterr().err
