"""Which words may a parameter of a component source be, that names an enumeration of its own?

The enumeration is a class of MATLAB's in a file beside the source, or in the package that its path
says: ``classdef mode < int32`` with members and their numbers.
"""

from __future__ import annotations

import re
from pathlib import Path

from .matlab import NotUnderstood
from .source_files import file_of

__all__ = ["enumeration_beside"]

_CLASS = re.compile(r"\s*classdef\s*(\([^)]*\))?\s*(\w+)\s*(<\s*([\w.]+))?\s*$")
_MEMBER = re.compile(r"([A-Za-z]\w*)\s*\(\s*([+-]?\d+)\s*\)")


def enumeration_beside(path: str, source: Path) -> dict[str, int] | None:
    """Names and numbers of the members of an enumeration, ``"mypackage.mode"``; None without file.

    NotUnderstood is raised for a file that holds something else, by its line.
    """
    file = file_of(path, source, ".m")
    return _members(file) if file.is_file() else None


def _members(file: Path) -> dict[str, int]:
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
