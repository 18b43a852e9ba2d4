"""Where are the source of a component and of what it extends, and what does it inherit?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from blocks import FileError

from .mapping import counterpart_of
from .physical_signals import SIGNALS
from .source import Function, Source, made_of, read_function, read_source

__all__ = ["file_of", "read_component", "read_file", "read_function_file", "read_parts",
           "source_beside"]  # fmt: skip

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

    Raises
    ------
    FileError
        For a file that cannot be read.
    NotUnderstood
        Naming file and line.
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
    """Where a source finds ``"mypackage.part"``: beside it, or in the package above it.

    Where it is neither, the place beside it.
    """
    *packages, name = path.split(".")
    inside = Path(*(f"+{package}" for package in packages), f"{name}{suffix}")
    beside = source.with_name(inside.name)
    return next((found for found in (beside, *(
        folder / inside for folder in source.resolve().parents)) if found.is_file()), beside)


def read_component(path: Path) -> Source:
    """The same with what it inherits; bases of the user's are looked for beside the file.

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
        if twice := _declared(source) & _declared(base):
            raise FileError(str(path), f"it declares {', '.join(sorted(twice))}, which "
                            f"{source.base} does, too.", "Give it another name.",
                            code="simscape.base")
        extended.add(name)
        source = _extended(source, base)
    return source


def read_parts(path: Path) -> dict[str, Source]:
    """The same with the sources beside the file that it has parts of, and that these have.

    By name of the file; each stands behind those that it needs. It raises as
    :func:`read_component`, and a FileError for a component that is a part of itself.
    """
    found: dict[str, Source] = {}
    _read_parts(path, found, ())
    return found


def _read_parts(path: Path, found: dict[str, Source], within: tuple[str, ...]) -> None:
    source = read_component(path)
    for declared in source.sections.get("components", []):
        name = source_beside(made_of(declared)[0])
        beside = path.with_name(f"{name}.ssc")
        if not name or name in found or not beside.is_file():
            continue
        if name in (*within, path.stem):
            raise FileError(str(path), f"its part {declared.name} is of {beside.name}, which it is "
                            "a part of itself.", "Take another component there.",
                            code="simscape.part")
        _read_parts(beside, found, (*within, path.stem))
    found[path.stem] = source


def source_beside(path: str) -> str:
    """The file that the source of a part is in; empty for what there is here anyway."""
    counterpart = counterpart_of(path)
    is_here = counterpart is not None and counterpart.component is not None or \
        path.removeprefix("foundation.signal.") in SIGNALS
    return "" if is_here else path.rpartition(".")[2]


def _declared(source: Source) -> set[str]:
    return {declared.name for section in source.sections.values() for declared in section}


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
