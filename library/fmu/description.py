"""What does an FMU say of itself: inputs, outputs, parameters and states, in which units?

An FMU's variables are in the units that its description defines by powers of SI units, a factor and
an offset. Where blocks knows a unit of that name and the same meaning, it is named so here; else by
its SI unit.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from blocks import quantity
from blocks.exceptions import BlocksError, ParameterError, optional_package

__all__ = ["Description", "Scalar", "described"]

BASES = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
NUMBERS = {"Real", "Float64", "Float32"}
WHOLE = {"Integer", "Enumeration", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64",
         "UInt64"}  # fmt: skip
SAME = 1e-9  # relative difference of factors that are meant to be the same
KINDS = {"model exchange": "modelExchange", "co-simulation": "coSimulation"}


@dataclass(frozen=True)
class Scalar:
    """A number of an FMU."""

    name: str  # in the FMU
    word: str  # here
    reference: int
    kind: str  # type, as FMPy calls it
    unit: str = "1"  # as it is read here
    factor: float = 1.0  # SI value = factor * value + offset
    offset: float = 0.0
    start: float | None = None
    nominal: float = 1.0
    least: float | None = None
    most: float | None = None
    is_discrete: bool = False
    doc: str = ""
    # words of inputs that it depends on at once; None for all
    depends: frozenset[str] | None = None

    def si(self, value: float) -> float:
        return float(self.factor * value + self.offset)

    def own(self, value: float) -> float:
        """The value in the FMU's unit of one in SI units; whole where the FMU's are."""
        own = (value - self.offset) / self.factor
        return own if self.kind in NUMBERS else round(own)

    def text(self, value: float) -> str:
        """A value of the FMU with its unit here."""
        here = self.si(value) / quantity(1.0, self.unit).to_base_units().magnitude \
            if self.offset == 0.0 else value
        return f"{here!r} {'' if self.unit == '1' else self.unit}".strip()


@dataclass(frozen=True)
class Description:
    """What is known of an FMU before it runs."""

    file: Path
    name: str
    kind: str  # "model exchange" or "co-simulation"
    version: int
    fmi: Any  # FMPy's description
    inputs: list[Scalar] = field(default_factory=list)
    outputs: list[Scalar] = field(default_factory=list)
    parameters: list[Scalar] = field(default_factory=list)
    states: list[Scalar] = field(default_factory=list)
    slopes: list[Scalar] = field(default_factory=list)
    margins: int = 0
    step: float = 1e-3  # s, between communication points

    @property
    def means(self) -> Any:
        """What the FMU can, for the kind that is taken."""
        return getattr(self.fmi, KINDS[self.kind])


def described(file: Path, kind: str | None) -> Description:
    """Read the description of an FMU.

    Raises
    ------
    ParameterError
        Where it is no FMU of version 2.0 or 3.0, or has what cannot be taken.
    """
    fmpy, where = optional_package("fmpy", "An FMU", "export"), f"FMU({file.name!r})"
    if not file.is_file():
        raise ParameterError(where, f"has no file {file}.", "Give the path of an FMU.")
    try:
        fmi = fmpy.read_model_description(str(file))
    except Exception as error:  # of whatever kind: it is someone else's file
        raise ParameterError(where, f"cannot be read: {error}",
                             "Give the path of an FMU of version 2.0 or 3.0.") from error
    version = int(fmi.fmiVersion[0])
    if version not in (2, 3):
        raise ParameterError(where, f"is of version {fmi.fmiVersion} of FMI.",
                             "Export it as FMI 2.0 or 3.0.")
    offered = [name for name, means in KINDS.items() if getattr(fmi, means) is not None]
    if kind is not None and kind not in KINDS:
        raise ParameterError(f"{where}(kind=…)", f"is {kind!r}.",
                             f"Write kind={' or kind='.join(map(repr, offered))}.")
    if not offered or kind not in (None, *offered):
        raise ParameterError(where, f"is no FMU for {kind or 'model exchange or co-simulation'}.",
                             f"It offers {' and '.join(offered)}." if offered else "")
    numbers = [v for v in fmi.modelVariables
               if v.type in NUMBERS | WHOLE | {"Boolean"} and v.alias is None]
    for v in numbers:
        if v.dimensions and v.causality in ("input", "output", "parameter"):
            raise ParameterError(where, f"has the array {v.name}.",
                                 "Export it with scalars: arrays are not taken yet.")
    words = _words(v.name for v in numbers)
    needs = {u.variable.name: u.dependencies for u in (*fmi.outputs, *fmi.derivatives)}
    taken = {v.name for v in numbers if v.causality == "input"}

    def scalar(v: Any) -> Scalar:
        unit, factor, offset = _unit(fmi, v)
        depends = needs.get(v.name)
        return Scalar(
            v.name, words[v.name], v.valueReference,
            v.type if v.type != "Enumeration" else "Integer" if version == 2 else "Int64",
            unit, factor, offset,
            _number(v.start), _number(_typed(v, "nominal")) or 1.0, _number(_typed(v, "min")),
            _number(_typed(v, "max")), v.variability == "discrete" or v.type not in NUMBERS,
            v.description or "", None if depends is None else frozenset(
                words[d.name] for d in depends if d.name in taken))

    slopes = [u.variable for u in fmi.derivatives]
    states = [scalar(v.derivative) for v in slopes]
    rates = [replace(scalar(v), unit="1", factor=x.factor, offset=0.0)  # of x in a second
             for v, x in zip(slopes, states, strict=True)]
    experiment = fmi.defaultExperiment
    chosen = kind or offered[0]
    step = chosen == "co-simulation" and fmi.coSimulation.fixedInternalStepSize or (
        experiment.stepSize if experiment is not None else None)
    inputs, outputs, parameters = ([scalar(v) for v in numbers if v.causality == causality]
                                   for causality in ("input", "output", "parameter"))
    return Description(
        file, fmi.modelName, chosen, version, fmi, inputs, outputs, parameters, states, rates,
        len(fmi.eventIndicators) if version == 3 else int(fmi.numberOfEventIndicators),
        float(step or 1e-3))


def _words(names: Iterable[str]) -> dict[str, str]:
    """Names as Python takes them, by those of the FMU."""
    found: dict[str, str] = {}
    for name in names:
        word = re.sub(r"\W+", "_", name).strip("_")
        word = f"{word}_" if keyword.iskeyword(word) or word in RESERVED else word
        word = f"v_{word}" if not word[:1].isalpha() else word
        while word in found.values():
            word += "_"
        found[name] = word
    return found


#: Names of a component's own.
RESERVED = {"count", "time", "path", "name", "equations", "compose", "verify", "advise", "shapes",
            "structure", "symbol", "communication_step"}  # fmt: skip


def _typed(v: Any, name: str) -> Any:
    """An attribute of a variable, else of its type."""
    own = getattr(v, name)
    return own if own is not None or v.declaredType is None else getattr(v.declaredType, name)


def _number(text: Any) -> float | None:
    if text in (None, ""):
        return None
    word = str(text).split()[0].lower()
    return float({"true": "1", "false": "0"}.get(word, word))


def _unit(fmi: Any, v: Any) -> tuple[str, float, float]:
    """The unit of a variable here, and what makes SI values of its own."""
    name = _typed(v, "unit")
    if not name or v.type not in NUMBERS:
        return "1", 1.0, 0.0
    defined = {u.name: u.baseUnit for u in fmi.unitDefinitions}.get(name)
    known = _conversion(name)
    if defined is None:
        return (name, *known) if known else ("1", 1.0, 0.0)
    factor, offset = float(defined.factor), float(defined.offset)
    powers = {base: int(getattr(defined, base)) for base in BASES if int(getattr(defined, base))}
    si = "*".join(f"{base}**{power}" if power != 1 else base
                  for base, power in powers.items()) or "1"
    same = known and _dimension(name) == _dimension(si) and np.allclose(
        known, (factor, offset), SAME, 0.0)
    return name if same else si, factor, offset


@cache
def _conversion(name: str) -> tuple[float, float] | None:
    """Factor and offset of a unit that blocks knows."""
    try:
        zero, one = (quantity(value, name).to_base_units().magnitude for value in (0.0, 1.0))
    except (BlocksError, ValueError, AttributeError):
        return None
    return float(one - zero), float(zero)


def _dimension(name: str) -> Any:
    return quantity(1.0, name).dimensionality
