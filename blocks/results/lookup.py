"""Which recorded variables does a path name?

A path names one variable (``"block.v"``), all instances of an array
(``"masses.v"``), or some of them (``"masses[::10].v"``). The catalogue is only
asked by key; it is iterated for the message about a name that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeAlias

from ..exceptions import (
    LONGEST_NAME,
    MOST_COMPARED,
    ParameterError,
    UnknownName,
    brief,
    unknown_name,
)
from ..reading.foreign_words import variable_elsewhere
from ..reading.paths import steps_of
from .recording import VariableInfo

__all__ = ["collapsed", "exists", "find", "find_all", "find_one", "grouped"]

Catalog: TypeAlias = Mapping[str, VariableInfo]

_INSTANCE = re.compile(r"\[-?\d+\]")


def find(catalog: Catalog, path: str, where: str) -> tuple[VariableInfo, ...] | VariableInfo:
    """The variable of a path, or a tuple of the instances of an array; an UnknownName tells the
    nearest existing paths.

    ``where`` is what a message calls the whole, such as the name of the model.
    """
    if isinstance(path, str) and len(path) <= LONGEST_NAME:
        found = catalog.get(path) or _instances(catalog, path)
        if found is not None:
            return found
    if not isinstance(path, str):
        example = next((p for p in path if isinstance(p, str)), "") if isinstance(
            path, (tuple, list)) else ""
        raise UnknownName(
            where, f"variables are named by their path, but was given {brief(path)}.",
            f"Take one at a time, such as result[{example or next(iter(catalog), '')!r}]; "
            "table() and plot() take several.", name=str(path), known=[], nearest=[])
    raise _unknown(catalog, path[:LONGEST_NAME], where)


def find_all(catalog: Catalog, path: str, where: str) -> tuple[VariableInfo, ...]:
    """Return the variables of a path: one, or the instances of an array."""
    found = find(catalog, path, where)
    return found if isinstance(found, tuple) else (found,)


def find_one(catalog: Catalog, path: str, where: str) -> VariableInfo:
    """Return the variable of a path, which must not be an array."""
    found = find(catalog, path, where)
    if isinstance(found, tuple):
        raise ParameterError(path, "is an array.", f"Name one instance, {found[0].path!r}.")
    return found


def exists(catalog: Catalog, path: object) -> bool:
    """Whether :func:`find` would find it."""
    if not isinstance(path, str) or len(path) > LONGEST_NAME:
        return False
    if path in catalog:
        return True
    found = _instances(catalog, path)
    several = (found,) if isinstance(found, VariableInfo) else found or ()
    return bool(several) and len(_listed(catalog, several)) == len(several)


def _instances(catalog: Catalog, path: str) -> tuple[VariableInfo, ...] | VariableInfo | None:
    texts = path.split(".")
    with suppress(UnknownName):  # of brackets without a number
        for k, (name, instances) in enumerate(steps_of(path)):
            if isinstance(instances, slice) or instances is not None and instances < 0:
                every = _numbered(catalog, ".".join([*texts[:k], name]),
                                  "".join(f".{t}" for t in texts[k + 1 :]))
                with suppress(IndexError):
                    return every[instances] or None
                return None
    ends = [m.start() for m in re.finditer(r"\.", path)] + [len(path)]
    for end in ends:
        if catalog.get(f"{path[:end]}[0]{path[end:]}") is not None:
            return _numbered(catalog, path[:end], path[end:])
    return None


def _numbered(catalog: Catalog, head: str, tail: str) -> tuple[VariableInfo, ...]:
    found: list[VariableInfo] = []
    while (info := catalog.get(f"{head}[{len(found)}]{tail}")) is not None:
        found.append(info)
    return tuple(found)


def _listed(catalog: Catalog, infos: tuple[VariableInfo, ...]) -> tuple[VariableInfo, ...]:
    """Return those variables that a catalogue lists; it may find more than it lists (``kept``)."""
    kept = getattr(catalog, "kept", None)
    return infos if kept is None else tuple(i for i in infos if i.path in kept)


def collapsed(path: str) -> str:
    """A path without instance numbers: ``"masses[3].v"`` -> ``"masses.v"``."""
    return _INSTANCE.sub("", path) if "[" in path else path


def grouped(catalog: Catalog,
            paths: Iterable[str]) -> Iterator[tuple[str, VariableInfo | tuple[VariableInfo, ...]]]:
    """Path and variables of each single variable, and of each array as a whole."""
    arrays: set[str] = set()
    for path in paths:
        short = collapsed(path)
        if short == path:
            yield path, catalog[path]
        elif short not in arrays:
            whole = _instances(catalog, short)
            if not isinstance(whole, tuple):
                yield path, catalog[path]
                continue
            arrays.add(short)
            yield short, _listed(catalog, whole)


def _unknown(catalog: Catalog, path: str, where: str) -> UnknownName:
    if path in ("time", "t"):
        return UnknownName(where, f"there is no variable {path!r}.", "Time is result.time; a run "
                           "ends after its duration.", name=path, known=[], nearest=[])
    known = list(dict.fromkeys(map(collapsed, catalog)))
    if path.endswith(".mode") and any(k.startswith(f"{collapsed(path)[:-4]}") for k in known):
        modes = [k for k in known if k.endswith("mode")]
        return UnknownName(
            where, f"there is no {path!r}: this component has no law with a mode, or "
            "several.", f"The modes are: {', '.join(modes[:12])}." if modes else
            "Exact friction (law='coulomb', 'stribeck', 'table') and contacts have modes.",
            name=path, known=modes, nearest=modes[:3])
    inside = [k for k in known if k.startswith(f"{collapsed(path)}.")]
    if inside:
        shown = ", ".join(inside[:12]) + (", …" if len(inside) > 12 else "")
        return UnknownName(where, f"{path!r} is a component, not a variable.",
                           f"Its variables are: {shown}.", name=path, known=inside,
                           nearest=inside[:3])
    same = _INSTANCE.search(path) and _instances(catalog, collapsed(path))
    if isinstance(same, tuple):
        return UnknownName(where, f"there is no {brief(path, 200)}.",
                           f"The instances are {same[0].path} to {same[-1].path}.", name=path,
                           known=[i.path for i in same], nearest=[same[0].path, same[-1].path])
    if len(known) > MOST_COMPARED:
        first, last = path.partition(".")[0], path.rpartition(".")[2]
        known = [k for k in known if k.startswith(first) or k.endswith(f".{last}")] or known
    owner, _, name = path.rpartition(".")
    own = [k.rpartition(".")[2] for k in known if k.rpartition(".")[0] == owner]
    return unknown_name(where, path, known, "variables", variable_elsewhere(own, name))
