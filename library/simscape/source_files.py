"""Where are the source of a component and of what it extends, and what does it inherit?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from blocks import FileError

from .mapping import counterpart_of
from .physical_signals import SIGNALS
from .source import Function, Source, read_function, read_source

__all__ = ["file_of", "is_source", "read_component", "read_file", "read_function_file"]

_BRANCHES = {  # ports, across and through variable of Simscape's own bases
    "foundation.electrical.branch": ("p", "n", "v", "V", "i", "A"),
    "foundation.magnetic.branch": ("N", "S", "mmf", "A", "phi", "Wb"),
    "foundation.mechanical.rotational.branch": ("R", "C", "w", "rad/s", "t", "N*m"),
    "foundation.mechanical.translational.branch": ("R", "C", "v", "m/s", "f", "N"),
    "foundation.thermal.branch": ("A", "B", "T", "K", "Q", "W"),
}
_BRANCH = """
component branch
nodes
    {a} = {domain};
    {b} = {domain};
end
variables
    {across} = {{0, '{across_unit}'}};
    {through} = {{0, '{through_unit}'}};
end
branches
    {through} : {a}.{through} -> {b}.{through};
end
equations
    {across} == {a}.{across} - {b}.{across};
end
end
"""


def read_file(path: Path) -> Source:
    """What a file declares and states itself.

    FileError is raised for a file that cannot be read, and NotUnderstood names file and line.
    """
    return read_source(_text(path), path.name)


def read_function_file(path: Path) -> Function | None:
    """The function of a file; None for one of something else. It raises as :func:`read_file`."""
    return read_function(_text(path), path.name)


def _text(path: Path) -> str:
    try:
        return path.read_bytes()[: 1 << 22].decode("utf-8", "replace")
    except OSError as error:
        raise FileError(str(path), f"it cannot be read: {error.strerror or error}.",
                        "Give the path of an .ssc file.", code="simscape.file") from error


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
    a, b, across, across_unit, through, through_unit = _BRANCHES[path]
    home = path.removesuffix(".branch")
    return read_source(_BRANCH.format(
        domain=f"{home}.{home.rpartition('.')[2]}", a=a, b=b, across=across,
        across_unit=across_unit, through=through, through_unit=through_unit), path)


def _extended(source: Source, base: Source) -> Source:
    """A component with all of its base, and the base of that one."""
    return replace(
        source, base=base.base,
        sections={name: base.sections.get(name, []) + source.sections.get(name, [])
                  for name in {**base.sections, **source.sections}},
        **{name: getattr(base, name) + getattr(source, name) for name in (
            "branches", "equations", "initial", "events", "connections", "skipped")})
