"""The wings of ``blocks`` stand on floors: imports go down, and no files import in a circle."""

import ast
import importlib
import sys
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
#: From the ground up. What a wing imports stands on a floor below its own.
FLOORS = [
    ["renamed"],
    ["exceptions", "shapes", "numerics"],
    ["reading"],
    ["units", "solvers"],
    ["results"],
    ["language"],
    ["assembly"],
    ["machine"],
    ["drawing", "system"],
    ["initialisation", "nonsmooth.complementarity"],
    ["nonsmooth"],  # what is shared by the two below
    ["nonsmooth.modes"],
    ["nonsmooth.timestepping"],
    ["diagnostics", "native"],
    ["simulation"],
    ["export", "studies"],
    ["analysis"],
    ["model"],
    ["analysis.describing", "prompt"],
    ["blocks"]]
FLOOR = {wing: k for k, wings in enumerate(FLOORS) for wing in wings}
ALL = {".".join(f.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): f
       for root in ("blocks", "library") for f in sorted((ROOT / root).rglob("*.py"))
       if f.name != "__main__.py"}  # fmt: skip
FILES = {name: file for name, file in ALL.items() if name.startswith("blocks")}


def wing(name):
    parts = name.split(".")[1:] or ["blocks"]
    inner = ".".join(parts[:2])
    return inner if inner in FLOOR else parts[0]


@cache
def imported(name, types=False):
    """Modules that a file imports when it runs, at its top or in a function; or also for types."""
    file, found = ALL[name], []
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(ast.parse(file.read_text(encoding="utf-8")).body, types):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found += (f"{source}.{alias.name}" if f"{source}.{alias.name}" in ALL else source
                      for alias in node.names)
    return found


def statements(body, types=False):
    """All that run, inner ones too; no expressions, which import nothing."""
    for node in body:
        yield node
        only_types = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
            if types or not (only_types and inner == "body"):
                yield from statements(getattr(node, inner, ()), types)


@cache
def arrows(files=tuple(FILES), types=False):
    found = nx.DiGraph([(a, b) for a in files for b in imported(a, types) if b in files and b != a])
    assert len(found.edges) > 2500
    return found


def test_no_files_import_in_a_circle():
    assert list(nx.simple_cycles(arrows())) == []


def test_names_in_annotations_bind_few_files_in_circles():
    circles = [c for c in nx.strongly_connected_components(arrows(tuple(ALL), True)) if len(c) > 1]
    assert sum(map(len, circles)) <= 18  # of 646 files


def test_no_import_runs_upward():
    upward = [(a, b) for a, b in arrows().edges
              if wing(a) != wing(b) and FLOOR[wing(b)] >= FLOOR[wing(a)]]  # fmt: skip
    assert upward == []


def test_every_file_has_a_wing_and_flat_are_only_those_a_user_imports():
    flat = {name for name in FILES if name.count(".") == 1 and FILES[name].name != "__init__.py"}
    assert flat == {"blocks.model", "blocks.units", "blocks.exceptions", "blocks.renamed",
                    "blocks.shapes"}
    assert {wing(name) for name in FILES} == set(FLOOR)


def test_every_file_imports_what_there_is():
    wrong = []
    for name in FILES:
        for source in (name, *imported(name)):  # in functions, too
            try:
                if source.startswith("blocks"):
                    importlib.import_module(source)
            except ImportError as missing:
                wrong.append((name, source, missing))
        wrong += [(name, known) for known in getattr(sys.modules.get(name), "__all__", ())
                  if not hasattr(sys.modules[name], known)]
    assert wrong == []
