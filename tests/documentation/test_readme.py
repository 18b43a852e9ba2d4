"""Does the documentation do what it says, in pages, notebooks and for type checkers?"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_path
from typing import get_args

import pytest

from blocks.simulation.method_choice import NAMES
from blocks.solvers import MethodName

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def blocks(page: Path) -> list[tuple[str, str, str | None, int]]:
    """Language, code, what it prints, and line of every fenced block of a page."""
    text = page.read_text()
    return [(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 2) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [
    page for page in PAGES if "```python" in page.read_text()], ids=lambda p: p.stem)  # fmt: skip
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page, monkeypatch, tmp_path, capsys):
    if page.stem == "handing_on_a_model":
        pytest.importorskip("fmpy", reason="FMPy runs FMUs: pip install FMPy")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    same = doctest.OutputChecker().check_output
    codes = [block[1:] for block in blocks(page) if block[0] == "python"]
    assert len(codes) == page.read_text().count("```python\n")
    for code, expected, line in codes:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        if expected is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            found, shown = (re.sub("─+", "─", text.replace("\N{DOT OPERATOR}", "·"))
                            for text in (printed, expected))  # a dot of Pint from 0.26 on
            assert same(shown, found, flags), f"{page.name}:{line} prints\n{printed}"


def test_links_lead_somewhere():
    reference = sorted((ROOT / "docs" / "reference").glob("*.md"))
    assert len(reference) > 9
    links = [(page, target)
             for page in (*PAGES, *reference, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")
             for target in LINK.findall(page.read_text()) if "://" not in target]  # fmt: skip
    assert len(links) > 450
    assert [f"{page.name} links to {target}" for page, target in links
            if not (page.parent / target).exists()] == []


def test_what_a_page_shows_as_printed_is_printed_by_the_block_above_it():
    loose = []
    for page in PAGES:
        if page.stem == "coming_from_simscape":  # its counts are compared in test_coverage.py
            continue
        bare = BLOCK.sub(lambda m: "" if m[1] == "python" else m[0], page.read_text())
        loose += [f"{page.name}: {m[2][:60]}" for m in BLOCK.finditer(bare) if m[1] == "text"]
    assert loose == []


def test_the_readme_is_read_to_the_end():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 160
    figures = text.partition("## How fast it is")[2].partition("\n## ")[0]
    rows = [line for line in figures.splitlines() if line.startswith("| ")]
    assert 2 < len(rows) <= 12  # with the head


def test_figures_of_the_readme_are_those_of_the_page_that_has_all():
    """Ranges contain what each machine took, and nothing is faster than C on some of them only."""
    def rows(text):
        cells = [[c.strip() for c in line.strip("| ").split(" | ")]
                 for line in text.splitlines() if line.startswith("| ")]  # fmt: skip
        return {row[0].partition(", ")[0]: row for row in cells}

    readme = rows((ROOT / "README.md").read_text().partition("## How fast it is")[2])
    page = (ROOT / "docs" / "performance.md").read_text()
    whole = rows(page.partition("## On three machines")[2].partition("## The whole table")[0])
    assert len(whole) > 8
    for name, row in whole.items():
        if name.startswith(("|", "---", "AMD")) or not re.match(r"[\d–]", row[1]):
            continue  # the head
        measured = [float(cell) for cell in row[1:4] if cell != "–"]
        low, high = map(float, row[4].split(" to "))
        assert min(measured) == pytest.approx(low, abs=0.051), name
        assert max(measured) == pytest.approx(high, abs=0.051), name
        if len(measured) > 1 and not name.startswith("cold"):
            assert readme[name][2:4] == [row[4], str(len(measured))]


def shell(page: Path) -> list[str]:
    """Commands of the shell blocks, those joined by && apart."""
    scripts = [code for language, code, _, _ in blocks(page) if language == "sh"]
    return [c.strip() for code in scripts for line in code.splitlines() for c in line.split("&&")]


def test_continuous_integration_calls_the_test_command_of_the_readme():
    (command,) = [c for c in shell(ROOT / "README.md") if "pytest" in c]
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()
    (install,) = [c for c in shell(ROOT / "README.md") if "[test]" in c]
    (called,) = [s for s in (ROOT / ".ci" / "run").read_text().splitlines() if s.startswith("pip")]
    assert set(shlex.split(install)) <= set(shlex.split(called))


def test_commands_of_the_readme_name_what_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    commands = shell(ROOT / "README.md")
    for command in commands:
        for word in shlex.split(command):
            if word.endswith(".py"):
                assert (ROOT / word).is_file()
            for extra in re.findall(r"\[([\w,]+)\]", word):
                assert set(extra.split(",")) <= set(extras)
    assert sum(c.startswith("python examples/") for c in commands) == 1


def test_the_readme_example_is_ten_lines():
    code = next(b[1] for b in blocks(ROOT / "README.md") if b[0] == "python")
    lines = [line for line in code.splitlines() if line and not line.startswith(("from", "print"))]
    assert len(lines) <= 10


def test_the_architecture_names_modules_that_exist():
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert len(text.splitlines()) <= 150
    named = {n for n in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", text) if not n.endswith(".py")}
    assert len(named) > 30
    for name in named:
        top, *inner = name.split(".")
        path = ROOT.joinpath(*(() if top in ("blocks", "library") else ("blocks",)), top, *inner)
        there = path.is_dir() or path.with_suffix(".py").is_file()
        assert there or f"def {inner[-1]}(" in path.parent.with_suffix(".py").read_text(), name


# -- notebooks --------------------------------------------------------------------------------
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def executed():
    """The cells with code of all notebooks, run one notebook after the other in one kernel."""
    nbclient, nbformat = (pytest.importorskip(name) for name in ("nbclient", "nbformat"))
    pytest.importorskip("ipykernel")
    books = {f.stem: nbformat.read(f, as_version=4) for f in sorted(EXAMPLES.glob("*.ipynb"))}
    cells = [cell for book in books.values() for cell in book.cells]
    for k, cell in enumerate(cells):
        cell.id = f"cell-{k}"
    whole = nbformat.v4.new_notebook(cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MPLBACKEND", raising=False)  # the kernel has one of its own
        nbclient.NotebookClient(whole, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    return {name: {"".join(c.source): c.outputs for c in book.cells if c.cell_type == "code"}
            for name, book in books.items()}  # fmt: skip


def shown(cells, code):
    """What the cell that ends with some code shows, by kind."""
    (outputs,) = [found for source, found in cells.items() if source.rstrip().endswith(code)]
    (one,) = outputs  # once
    return one.data


def test_a_notebook_shows_schematic_tables_pictures_and_the_page_of_a_run(executed):
    cells = executed["first_look"]
    drawing = shown(cells, "model.draw()")["text/html"]
    assert "<title>spring: Spring\nstiffness = 200 N/m" in drawing  # where one points
    assert "no mistakes found" in shown(cells, "model.check()")["text/html"]
    tables = {"\nrun": "finished", "run.energy()": "dissipated",
              "run.sticking()": "break-aways", "\nboth": "coulomb_force"}  # fmt: skip
    for code, words in tables.items():
        data = shown(cells, code)
        assert words in data["text/html"] and words in data["text/plain"]
    for code in ('run.plot("block.v", "spring.x")', "both.plot()"):
        assert len(shown(cells, code)["image/png"]) > 5000
    assert shown(cells, "run.report()")["text/html"].startswith("<iframe")


def test_a_controller_holds_the_speed_that_was_worked_out_by_hand(executed):
    shows = shown(executed["controller"], "~P}\"")["text/plain"]
    volts, amperes = map(float, re.fullmatch(r"'([\d.]+) V and ([\d.]+) A'", shows).groups())
    assert volts == pytest.approx(2.2, abs=1e-3) and amperes == pytest.approx(0.2, abs=1e-3)


# -- types ------------------------------------------------------------------------------------
TYPES = {  # what is revealed of each expression
    'model.simulate("1 s")': "Result",
    'result["spring.x"]': "Series",
    'result["spring.x"].at("1 s").to("mm")': "Quantity",
    "result.table()": "DataFrame",
    "result.report()": "Page",
    "model.check()": "Findings",
    "model.draw()": "Schematic",
    'model.linearise("push.force", "spring.x")': "LinearModel",
    'model.linearise(modes="all")': "LinearModels",
    "model.operating_point()": "OperatingPoint",
    'model.sweep({"block.mass": ["1 kg"]}, "1 s", outputs="max(spring.f)")': "Dataset",
    "model.stepper()": "SteppedRun",
    "model.limit_cycle(result)": "LimitCycle",
    'result.events[0].time.to("ms")': "Quantity",
    '-(result["spring.x"] * 2 - result["spring.x"])': "Series",
    'result["spring.x"]["1 s":"2 s"]': "Series",
    'result["spring.x"]["1 s"]': "Quantity",
    'model.operating_point()["block.v"]': "Quantity",
    'model.linearise(modes="all")[0]': "LinearModel",
    "model.linearise().step_response()": "FromControl",
    "result.energy().to_pandas()": "DataFrame"}
CHECKERS = (  # the second, which editors use, where it is installed: CONTRIBUTING.md says how
    ("mypy", "--ignore-missing-imports", "--cache-dir", str(ROOT / ".mypy_cache"),
     "--python-executable"), ("pyright", "--pythonpath"))
SCRIPT = """
from blocks import Model
from library.translational import ForceSource, Mass, Spring

model = Model("oscillator")
model.block, model.spring = Mass(mass="2 kg"), Spring(stiffness="200 N/m")
model.push = ForceSource(force="1 N")
model.connect(model.block.M, model.spring.R, model.push.R)
model.block.mass = "3 kg"
model["block.mass"] = "4 kg"
result = model.simulate("1 s")
number = result["spring.x"].at("1 s").to("mm").m + 1.0
first, pole = result["spring.x"].at(["0 s", "1 s"]).to("mm")[0], model.linearise().poles()[0].imag
"""
#: A mistake in each line.
MISSPELT = """\
from blocks import Modell
from library.translational import Masss
from blocks.analysis import linearize
result.statuss
result["spring.x"].finall
model.linearise().dampings
model.simulate("1 s", untill="spring.x > 1 m")
model.sweep({}, "1 s", outputs="max(spring.x)", rtoll=1e-6)
model.simulate("1 s", "1 ms")
model.simulate("1 s", method="rk5")
result.plot("spring.x", svae="x.png")
result.table("spring.x", evry="1 ms")
result.to_csv("x.csv", sdie="left")
result["spring.x"].plot(svae="x.png")
result.statistics.stepz
result.energy().foo
result.events[0].tme
"""


def test_scripts_of_users_have_types(tmp_path):
    (tmp_path / "readme.py").write_text("\n".join(
        code for language, code, *_ in blocks(ROOT / "README.md") if language == "python"))
    for example in (ROOT / "examples").glob("*.py"):
        shutil.copy(example, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text('{"reportMissingImports": false}')
    (tmp_path / "script.py").write_text(
        SCRIPT + "".join(f"reveal_type({expression})\n" for expression in TYPES))
    (tmp_path / "wrong.py").write_text(SCRIPT + MISSPELT)
    assert set(get_args(MethodName)) == set(NAMES)
    python = as_installed(tmp_path.with_name("env"))
    for checker in CHECKERS:
        if checker[0] == "mypy" or find_spec(checker[0]):
            told = told_by((*checker, python), tmp_path)
            check_types(told)
            check_misspelt(told)


def as_installed(folder):
    """A Python that finds this checkout by what the installation has left, and by nothing else."""
    assert all(Path(file.locate().read_text().strip()).is_dir()  # no import hook: none follows it
               for file in distribution("blocks-toolkit").files if file.suffix == ".pth")
    venv.create(folder)
    next(folder.glob("**/site-packages")).joinpath("checkout.pth").write_text(
        f"{ROOT}\n{get_path('purelib')}\n")
    return str(next(folder.glob("[bS]*/python*")))


def told_by(checker, folder):
    run = subprocess.run([sys.executable, "-m", *checker, "."], cwd=folder, check=False,
                         capture_output=True, text=True, env={
                             name: value for name, value in os.environ.items()
                             if name not in ("MYPYPATH", "PYTHONPATH")})
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


def check_misspelt(told):
    found = set(re.findall(r"(\w+\.py):(\d+)\S* (?:- )?error", told))
    first = SCRIPT.count("\n") + 1
    assert found == {("wrong.py", str(line)) for line in range(
        first, first + MISSPELT.count("\n"))}, told


def check_types(told):
    told = [line for line in told.splitlines() if "Revealed type" in line or "Type of" in line]
    for line, wanted in zip(told, TYPES.values(), strict=True):
        assert wanted in line.rpartition(" is ")[2], line
