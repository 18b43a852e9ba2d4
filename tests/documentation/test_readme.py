"""Does the documentation do what it says?

Python blocks of a page run one after another in one namespace. A ``text`` block right
after a Python block is what that block prints; ``...`` stands for anything, and runs of
blanks (or of rules) are equal. Shell blocks are not run, but compared with what continuous
integration calls.
"""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

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
