"""What does a study belong to?

A description that is equal for equal studies, in any process: the swept axes,
outputs and options as plain data, and a fingerprint of the model (its classes,
equations, values, targets and connections).
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

import casadi as ca
import numpy as np

from ..language.captured_names import CapturedNames
from ..language.compiled_model import CompiledModel
from ..system import System
from ..units import is_quantity
from .axes import Plan
from .outputs import Output

__all__ = ["FORMAT", "checksum", "describe", "difference", "fingerprint"]

FORMAT = "blocks study 1"


def describe(model: CompiledModel, system: System, plan: Plan, outputs: Iterable[Output],
             options: dict[str, Any]) -> dict[str, Any]:
    """The study as plain data (what ``json`` reads back unchanged)."""
    return {
        "format": FORMAT,
        "name": model.name,
        "model": fingerprint(model, system, {a.path for a in plan.axes}),
        "dimensions": dict(plan.shape),
        "axes": [
            {"path": a.path, "dim": a.dim, "values": list(a.values), "unit": a.unit, "doc": a.doc}
            for a in plan.axes
        ],
        "outputs": [
            {"name": o.name, "reduction": o.reduction, "path": o.path, "times": list(o.times),
             "unit": o.unit, "doc": o.doc, "dims": list(o.dims), "shape": list(o.shape),
             "coords": {k: list(v) for k, v in (o.coords or {}).items()},
             "function": _function(o.function)}
            for o in outputs
        ],
        "options": {name: _as_json(value) for name, value in sorted(options.items())}}


def checksum(study: Mapping[str, Any]) -> int:
    """Return the CRC-32 of what a study is described by, its own ``checksum`` apart."""
    said = {key: value for key, value in study.items() if key != "checksum"}
    return zlib.crc32(json.dumps(said, sort_keys=True).encode())


def difference(kept: dict[str, Any], now: dict[str, Any]) -> str:
    """In which way a study differs from the one that is kept, in words; empty where they agree."""
    if kept.get("format") != now["format"]:
        return f"its format is {kept.get('format')!r}, not {now['format']!r}"
    for key, word in (("axes", "axis"), ("outputs", "output")):
        old, new = ({x.get("path") if key == "axes" else x["name"]: x for x in d[key]}
                    for d in (kept, now))  # fmt: skip
        for name in [*old, *new]:
            if name not in new:
                return f"this study has no {word} {name!r}, the one kept there has"
            if name not in old:
                return f"this study has the {word} {name!r}, the one kept there has not"
            if old[name] != new[name]:
                part = next(k for k in new[name] if old[name].get(k) != new[name][k])
                if part == "function":
                    return (f"its {word} {name!r} was computed by a function that said, or used, "
                            "something else")
                return (f"the {word} {name!r} of this study has {part} {_short(new[name][part])}, "
                        f"of the one kept there {_short(old[name].get(part))}")
        if list(old) != list(new):
            return f"the {key} of the one kept there are in another order"
    if kept["options"] != now["options"]:
        keys = sorted({*kept["options"], *now["options"]})
        key = next(k for k in keys if kept["options"].get(k) != now["options"].get(k))
        here, there = (f"no {key}=" if d["options"].get(key) is None else
                       f"{key}={_short(d['options'][key])}" for d in (now, kept))
        return f"this study has {here}, the one kept there {there}"
    if kept["model"] != now["model"]:
        return (f"the model {kept['name']!r} was another one there (a value, a connection or an "
                "equation)")  # fmt: skip
    return ""


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 60 else text[:57] + "…"


def fingerprint(model: CompiledModel, system: System, varied: set[str]) -> str:
    """A number that changes with anything that a run depends on, varied values apart."""
    digest = hashlib.sha256()
    for line in _lines(model, system, varied):
        digest.update(line.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _lines(model: CompiledModel, system: System, varied: set[str]) -> Iterator[str]:
    parts = {"": model, **model.parts}
    where = {id(part): path for path, part in parts.items()}
    for path, part in parts.items():
        kind = type(part)
        yield f"{path}: {kind.__module__ if path else ''}.{kind.__qualname__} {part._count}"
        for table, values in part._value_tables().items():
            for name, value in sorted(values.items()):
                if f"{path}.{name}".lstrip(".") not in varied:
                    yield f"  {table} {name} {_text(value)}"
        for refs in part._connections:
            yield "  " + " ".join(
                f"{where[id(r.component)]}.{r.port.name}"
                + ("" if r.index is None else str(np.asarray(r.index).tolist())) for r in refs
            )
    for dimension, value in model.compiled.nominal_table.items():
        yield f"nominal {dimension} {_text(value)}"
    for family in system.network.families:
        kernel = family.kernel
        said = list(_expressions([
            [law.residual for law in kernel.laws], kernel.observed, kernel.defaults,
            kernel.relations, kernel.resets, kernel.breaks, kernel.samplings, kernel.previous,
            [(law.effort, *law.expressions) for law in kernel.set_valued], kernel.load_laws,
            [ca.SX(ca.DM(a)) for table in kernel.tables for a in (table.starts, table.rows)]]))
        if said:
            column = ca.vertcat(*said)
            function = ca.Function("laws", [ca.vertcat(*ca.symvar(column))], [column])
            yield f"{kernel.name} {function.serialize()}"


def _expressions(thing: Any) -> Iterator[Any]:
    """All expressions and numbers in a kernel's lists, in order."""
    if isinstance(thing, ca.SX):
        yield ca.vec(thing)
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from _expressions((key, value))
    elif isinstance(thing, (list, tuple)):
        for value in thing:
            yield from _expressions(value)
    elif isinstance(thing, (int, float)):
        yield ca.SX(float(thing))


def _text(value: Any) -> str:
    if callable(value):
        return "function of time"  # what it says is in the equations
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    if isinstance(value, (float, np.ndarray, np.floating)):
        return repr(np.asarray(value, dtype=float).tolist())
    return repr(value)


def _function(function: Any) -> str | None:
    """Name of an output function and what it computes, so that another is noticed."""
    if function is None:
        return None
    inner = getattr(function, "func", function)  # of a partial
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    lines = (f"{_told(name)} {_told(value)}" for name, value in CapturedNames(function).noted())
    said = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return f"{named.__module__}.{named.__qualname__} {said}"


def _told(value: Any) -> str:
    """A value or function as a text that is the same in every process; of what is noted by itself,
    or cannot be looked into, its class."""
    if isinstance(value, FunctionType):
        value = value.__code__
    if isinstance(value, CodeType):
        value = value.co_code, value.co_names, value.co_consts
    if isinstance(value, (tuple, set, frozenset)):
        inside = map(_told, value)
        return f"({', '.join(inside if isinstance(value, tuple) else sorted(inside))})"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_quantity(value):
        return [np.asarray(value.magnitude, dtype=float).tolist(), f"{value.units:~C}"]
    if isinstance(value, (list, tuple)):
        return [_as_json(v) for v in value]
    return repr(value)
