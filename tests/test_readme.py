"""Does the documentation do what it says?

Python blocks of a page run one after another in one namespace. A ``text`` block right
after a Python block is what that block prints; ``...`` stands for anything, and runs of
blanks (or of rules) are equal. Shell blocks are not run, but compared with what continuous
integration calls.
"""

from __future__ import annotations

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *(
    ROOT / "docs" / f"{name}.md" for name in (
        "getting_started", "how_to_write_a_component", "how_to_choose_a_solver", "units",
        "initial_values_and_nominals", "architecture", "sweeps", "friction_laws",
        "components_signal", "coming_from_simscape", "comparing_keeping_and_driving_runs",
        "estimation", "at_the_prompt", "coming_from_modelica", "coming_from_scipy",
        "analysis", "components_isothermal_liquid", "components_planar", "components_thermal", "components_thermal_liquid", "components_gas",
        "messages",
    )
)]  # fmt: skip
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", re.M | re.S)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def blocks(page: Path) -> list[tuple[str, str, str | None, int]]:
    """Language, code, what it prints, and line of every fenced block of a page."""
    text = page.read_text()
    return [(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 2) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_code_of_a_page_runs_and_prints_what_is_shown(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    same = doctest.OutputChecker().check_output
    for language, code, expected, line in blocks(page):
        if language != "python":
            continue
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        if expected is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            found, shown = (re.sub("─+", "─", text.replace("\N{DOT OPERATOR}", "·"))
                            for text in (printed, expected))  # a dot of Pint from 0.26 on
            assert same(shown, found, flags), f"{page.name}:{line} prints\n{printed}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


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
