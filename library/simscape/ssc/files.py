"""Where are the source of a component and of what it extends, and what does it inherit?

An enumeration of its own is a class of MATLAB's in a file beside it, or in the package that its
path says: ``classdef mode < int32`` with members and their numbers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from blocks import FileError

from ..file.archive import text_of
from ..matlab.syntax import NotUnderstood
from ..physical.mapping import counterpart_of
from ..physical.signals import SIGNALS
from ..tables import filled
from .source import Function, Source, read_function, read_source

__all__ = ["enumeration_beside", "file_of", "is_source", "read_component", "read_file",
           "read_function_file"]  # fmt: skip

SOURCE = "an .ssc file"
_CLASS = re.compile(r"\s*classdef\s*(\([^)]*\))?\s*(\w+)\s*(<\s*([\w.]+))?\s*$")
_MEMBER = re.compile(r"([A-Za-z]\w*)\s*\(\s*([+-]?\d+)\s*\)")
_BRANCHES = {  # ports, across and through variable of Simscape's own bases
    "foundation.electrical.branch": ("p", "n", "v", "V", "i", "A"),
    "foundation.magnetic.branch": ("N", "S", "mmf", "A", "phi", "Wb"),
    "foundation.mechanical.rotational.branch": ("R", "C", "w", "rad/s", "t", "N*m"),
    "foundation.mechanical.translational.branch": ("R", "C", "v", "m/s", "f", "N"),
    "foundation.thermal.branch": ("A", "B", "T", "K", "Q", "W"),
}


def read_file(path: Path) -> Source:
    """What a file declares and states itself.

    FileError is raised for a file that cannot be read, and NotUnderstood names file and line.
    """
    return read_source(text_of(path, SOURCE), path.name)


def read_function_file(path: Path) -> Function | None:
    """The function of a file; None for one of something else. It raises as :func:`read_file`."""
    return read_function(text_of(path, SOURCE), path.name)


def file_of(path: str, source: Path, suffix: str = ".ssc") -> Path:
    """Where a source finds ``"mypackage.part"``: in the package above it, or beside it.

    Where it is neither, the place beside it.
    """
    *packages, name = path.split(".")
    inside = Path(*(f"+{package}" for package in packages), f"{name}{suffix}")
    beside = source.with_name(inside.name)
    above = source.resolve().parents if packages else ()
    return next((found for folder in above if (found := folder / inside).is_file()), beside)


def read_component(path: Path) -> Source:
    """Return the source of a file with what it inherits; a user's bases are looked for beside it.

    It raises as :func:`read_file`, and a FileError for a base that is missing or the file itself.
    """
    source, extended = read_file(path), {path.stem}
    while source.base:
        name = source.base.rpartition(".")[2]
        beside = file_of(source.base, path)
        if beside.is_file() and name not in extended:
            base = read_file(beside)
        elif source.base in _BRANCHES:
            base = _branch(source.base)
        else:
            raise FileError(str(path), f"it extends {source.base}, and {beside.name} is not "
                            "beside the file.", "Put the base's source beside it.",
                            code="simscape.base")
        if twice := {*source.names} & {*base.names}:
            raise FileError(str(path), f"it declares {', '.join(sorted(twice))}, which "
                            f"{source.base} does, too.", "Give it another name.",
                            code="simscape.base")
        extended.add(name)
        source = _extended(source, base)
    return source


def is_source(path: str) -> bool:
    """Whether a part is of a source of the user's, and not of what there is here anyway."""
    counterpart = counterpart_of(path)
    return not (counterpart is not None and counterpart.component is not None
                or path.removeprefix("foundation.signal.") in SIGNALS)


def _branch(path: str) -> Source:
    home = path.removesuffix(".branch")
    words = dict(zip(("a", "b", "across", "across_unit", "through", "through_unit"),
                     _BRANCHES[path], strict=True))
    return read_source(filled("branch.ssc", domain=f"{home}.{home.rpartition('.')[2]}", **words),
                       path)


def _extended(source: Source, base: Source) -> Source:
    """A component with all of its base, and the base of that one."""
    return replace(
        source, base=base.base,
        sections={name: base.sections.get(name, []) + source.sections.get(name, [])
                  for name in {**base.sections, **source.sections}},
        **{name: getattr(base, name) + getattr(source, name) for name in (
            "branches", "equations", "initial", "events", "connections", "skipped")})


# -- enumerations ---------------------------------------------------------------------------------
def enumeration_beside(path: str, source: Path) -> dict[str, int] | None:
    """Names and numbers of the members of an enumeration, ``"mypackage.mode"``; None without file.

    NotUnderstood is raised for a file that holds something else, by its line.
    """
    file = file_of(path, source, ".m")
    if not file.is_file():
        return None
    text = re.sub(r"(?ms)^\s*%\{\s*$.*?^\s*%\}\s*$", lambda m: "\n" * m[0].count("\n"),
                  file.read_bytes()[:1 << 20].decode("utf-8", "replace"))
    lines = [re.sub(r"%.*|\.\.\.\s*$", "", line).rstrip() for line in text.splitlines()]
    found: dict[str, int] = {}
    within = False
    for number, line in enumerate(lines, 1):
        place, words = f"{file.name} (line {number})", line.strip()
        if head := _CLASS.match(line):
            if head[4] not in ("int32", "simscape.enum.Enumeration"):
                raise NotUnderstood(place, f"{head[2]} is no enumeration of whole numbers.",
                                    f"Declare it as 'classdef {head[2]} < int32'.")
        elif words.rstrip(",") == "enumeration":
            within = True
        elif within and words == "end":
            within = False
        elif within and words:
            members = _MEMBER.findall(words)
            if not members or _MEMBER.sub("", words).strip(" ,;"):
                raise NotUnderstood(place, f"{words!r} is no member with a number.",
                                    "Write it as 'name (1)'.")
            for name, value in members:
                if name in found or int(value) in found.values():
                    raise NotUnderstood(place, f"{name} or its number is there twice.",
                                        "Give every member a name and a number of its own.")
                found[name] = int(value)
    if not found:
        raise NotUnderstood(file.name, "it has no enumeration.",
                            "Give it 'enumeration', members with numbers, 'end'.")
    return found
