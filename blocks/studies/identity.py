"""What does a study belong to?

A description that is equal for equal studies, in any process: the swept axes,
outputs and options as plain data, and a fingerprint of the model (its classes,
equations, values, targets and connections).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import casadi as ca
import numpy as np

from .axes import Plan
from .outputs import Output

__all__ = ["describe", "difference", "fingerprint"]

FORMAT = "blocks study 1"


def describe(model: Any, system: Any, plan: Plan, outputs: Iterable[Output],
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
        "options": {name: _plain(value) for name, value in sorted(options.items())},
    }  # fmt: skip


def difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """In which way two studies differ, in words; empty where they are the same."""
    if before.get("format") != now["format"]:
        return f"its format is {before.get('format')!r}, not {now['format']!r}"
    for key, word in (("axes", "axis"), ("outputs", "output")):
        old, new = ({x.get("path") if key == "axes" else x["name"]: x for x in d[key]}
                    for d in (before, now))  # fmt: skip
        for name in [*old, *new]:
            if name not in new:
                return f"it has the {word} {name!r}, which this sweep has not"
            if name not in old:
                return f"it does not have the {word} {name!r}"
            if old[name] != new[name]:
                part = next(k for k in new[name] if old[name].get(k) != new[name][k])
                return (f"its {word} {name!r} has {part} {_short(old[name].get(part))} instead of "
                        f"{_short(new[name][part])}")  # fmt: skip
        if list(old) != list(new):
            return f"its {key} are in another order"
    if before["options"] != now["options"]:
        keys = sorted({*before["options"], *now["options"]})
        key = next(k for k in keys if before["options"].get(k) != now["options"].get(k))
        return (f"{key} was {_short(before['options'].get(key))} instead of "
                f"{_short(now['options'].get(key))}")  # fmt: skip
    if before["model"] != now["model"]:
        return (f"the model {before['name']!r} was another one (a value, a connection or an "
                "equation)")  # fmt: skip
    return ""


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) < 60 else text[:57] + "…"


def fingerprint(model: Any, system: Any, varied: set[str]) -> str:
    """A number that changes with anything that a run depends on, varied values apart."""
    digest = hashlib.sha256()
    for line in _lines(model, system, varied):
        digest.update(line.encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _lines(model: Any, system: Any, varied: set[str]) -> Iterator[str]:
    parts = {"": model, **model._parts()}
    where = {id(part): path for path, part in parts.items()}
    for path, part in parts.items():
        kind = type(part)
        yield f"{path}: {kind.__module__ if path else ''}.{kind.__qualname__} {part._count}"
        for table in ("_values", "_targets", "_nominals"):
            for name, value in sorted(part.__dict__[table].items()):
                if f"{path}.{name}".lstrip(".") not in varied:
                    yield f"  {table} {name} {_text(value)}"
        for refs in part._connections:
            yield "  " + " ".join(
                f"{where[id(r.component)]}.{r.port.name}"
                + ("" if r.index is None else str(np.asarray(r.index).tolist())) for r in refs
            )
    for dimension, value in model._nominal_table.items():
        yield f"nominal {dimension} {_text(value)}"
    for family in system.network.families:
        kernel = family.kernel
        said = list(_expressions([
            [law.residual for law in kernel.laws], kernel.observed, kernel.defaults,
            kernel.relations, kernel.resets, kernel.breaks, kernel.samplings, kernel.set_valued,
            kernel.load_laws,
        ]))  # fmt: skip
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
    """Name and code of an output function, so that another of the same name is noticed."""
    if function is None:
        return None
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"
    code = getattr(function, "__code__", None)
    return name if code is None else f"{name} {hashlib.sha256(_code(code).encode()).hexdigest()}"


def _code(code: Any) -> str:
    constants = [_code(c) if hasattr(c, "co_code") else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "magnitude"):
        return [np.asarray(value.magnitude, dtype=float).tolist(), f"{value.units:~C}"]
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return repr(value)
