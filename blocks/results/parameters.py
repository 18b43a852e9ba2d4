"""Which values and versions was a run made with, and in what do the values of several differ?

Parameters and options of all components, where their variables start, and the options of
``simulate``: read off the model when the run begins, so that later changes of the model do
not change what is said of the run.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ..exceptions import WrongCall, brief, unknown_name
from ..reading.unit import of_pint
from ..units import is_quantity
from .formatting import number, pretty
from .sheet import ByName, Sheet

__all__ = ["MANY", "MadeWith", "Parameters", "differences", "differences_sheet",
           "in_few_words", "said", "versions"]  # fmt: skip

PACKAGES = "blocks-toolkit", "numpy", "scipy", "casadi", "llvmlite"
MANY = 20  # runs that stand side by side; what differs among more is told below each other
SAME = 1e-12  # relative difference of two numbers that were written in different units
FEW = 2  # differences that are said in a legend
LONG = 60  # characters that these may take
LISTED = 3  # numbers of an array that are said


@dataclass(frozen=True)
class MadeWith:
    """What a run was made with, by path."""

    parameters: Mapping[str, Any] = field(default_factory=dict)  # quantities, values of options
    starts: Mapping[str, tuple[Any, str]] = field(default_factory=dict)  # given; with priority
    types: Mapping[str, str] = field(default_factory=dict)  # the class of every component
    settings: Mapping[str, Any] = field(default_factory=dict)  # options of ``simulate``, by name


class Parameters(ByName):
    """Parameters and options of a run by path, as they were when it began.

    Parameters are quantities, options what they were set to. ``starts`` and ``settings`` hold
    the initial targets and the options of ``simulate``.
    """

    def __init__(self, made: MadeWith, name: str = "") -> None:
        self._made, self._named, self._name = made, made.parameters, name

    def __getitem__(self, path: str) -> Any:
        if path not in self:
            raise unknown_name(self._name or "parameters", path, self._named, "parameters")
        return self._named[path]

    def __setitem__(self, path: str, value: Any) -> None:
        raise WrongCall("result.parameters[…]", "are those that the run was made with.",
                        f"Change the model, model.{path} = …, and run it anew.")

    @property
    def starts(self) -> dict[str, Any]:
        """Initial targets that were given, by path of the variable."""
        return {path: value for path, (value, _) in self._made.starts.items()}

    @property
    def settings(self) -> dict[str, Any]:
        """Options of ``simulate``."""
        return dict(self._made.settings)

    def _sheet(self) -> Sheet:
        rows = [(path, said(value)) for path, value in self.items()]
        rows += [(f"{path} at the start", said(value)) for path, value in self.starts.items()]
        return Sheet(f"Parameters of {self._name}".strip(), {
            "parameter": [path for path, _ in rows], "value": [text for _, text in rows]})


def differences(runs: Sequence[MadeWith]) -> dict[str, tuple[Any, ...]]:
    """What is not equal in all of some runs; parts of composites after these.

    By what it is, a path such as ``"friction.coulomb_force"`` or an option of ``simulate``: its
    value in each run, None where there is no such thing.
    """
    found: dict[str, tuple[Any, ...]] = {}
    for kind, what in (("types", "{}"), ("parameters", "{}"), ("starts", "{} at the start"),
                       ("settings", "simulate({}=…)")):
        tables: list[Mapping[str, Any]] = [getattr(run, kind) for run in runs]
        for name in dict.fromkeys(name for table in tables for name in table):
            values = [table.get(name) for table in tables]
            owner = name.rpartition(".")[0]
            if kind == "parameters" and owner and any(owner not in run.types for run in runs):
                continue  # that a component is missing, or of another class, is said once
            if not all(_same(values[0], value) for value in values[1:]):
                found[what.format(name)] = tuple(values) if kind != "starts" else tuple(
                    None if v is None else v[0] if v[1] == "high" else v for v in values)
    return found


def _same(a: Any, b: Any) -> bool:
    """Whether two values say the same, in whatever unit."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if is_quantity(a) and is_quantity(b):
        if a.dimensionality != b.dimensionality or np.shape(a.magnitude) != np.shape(b.magnitude):
            return False
        x, y = (np.asarray(q.to_base_units().magnitude) for q in (a, b))
        size = np.maximum(np.abs(x), np.abs(y))
        return bool(np.all(np.abs(x - y) <= SAME * size))
    if is_quantity(a) or is_quantity(b):
        return False
    if callable(a) and callable(b):
        return _same_function(a, b)
    return type(a) is type(b) and bool(np.all(a == b))


def _same_function(a: Any, b: Any) -> bool:
    """Whether two functions are one, or were made by the same lines from the same values."""
    code, other = getattr(a, "__code__", None), getattr(b, "__code__", None)
    if a is b or code is None or other is None:
        return bool(a == b)
    cells = [tuple(cell.cell_contents for cell in f.__closure__ or ()) for f in (a, b)]
    return bool(code == other and a.__defaults__ == b.__defaults__ and cells[0] == cells[1])


def said(value: Any) -> str:
    """A value as people read it: ``"20 N"``, ``"stribeck"``, ``"1, 2, …, 9 kg"``."""
    if value is None:
        return "—"
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
        return f"{said(value[0])} ({value[1]})"
    if is_quantity(value):
        shown = of_pint(value.units)
        if np.ndim(value.magnitude) == 0:
            return number(value.magnitude, shown, 6)
        texts = [number(v, None, 6) for v in np.ravel(value.magnitude)]
        short = texts if len(texts) <= 2 * LISTED else [*texts[:LISTED], "…", texts[-1]]
        return f"{', '.join(short)} {pretty(shown)}".strip()
    if callable(value):
        name = getattr(value, "__name__", "")
        if not name:
            return brief(value)
        return "a function" if name == "<lambda>" else name if isinstance(value, type) else (
            f"function {name}")
    return number(value, None, 6) if isinstance(value, float) else str(value)


def in_few_words(found: Mapping[str, Sequence[Any]], run: int) -> str:
    """What sets a run apart from the others, for a legend: ``"friction.coulomb = 20 N"``."""
    outer = [what for what in found if not what.startswith("simulate(")] or list(found)
    composites = [f"{what.rpartition('.')[0]}." for what in outer]
    own = [what for what in outer  # what a composite passes on is said with the composite
           if not any(what.startswith(c) and "." in what[len(c):] for c in composites)]
    text = ", ".join(f"{what} = {said(found[what][run])}" for what in own)
    return text if own and len(own) <= FEW and len(text) <= LONG else ""


def differences_sheet(names: Sequence[str], made: Sequence[MadeWith]) -> Sheet:
    """What differs among runs, one column for each; of many runs one row."""
    found = differences(made)
    if len(names) > MANY > len(found):
        return Sheet("What differs", {"run": list(names), **{
            what: list(map(said, values)) for what, values in found.items()}} if found else {})
    taken = [f"{name} " if name == "what" else name for name in names]
    return Sheet("What differs", {"what": list(found), **{
        name: [said(values[k]) for values in found.values()] for k, name in enumerate(taken)}})


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a run's numbers depend on."""
    from importlib import metadata  # which loads thirty modules, for e-mail among others

    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # not installed, or run from a folder
            continue
    return found
