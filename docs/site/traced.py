"""What a component class declares and says, read off a component with its default options."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import library
from blocks import Component, Domain
from blocks.language.readable import readable
from blocks.language.tracing import kernel_of

__all__ = ["Traced", "packages", "traced"]

LONGEST = 2500  # characters of an equation: what is longer is not typeset
_LEAVE = {"library.simscape", "library.symbols", "library.othernames"}


@cache
def packages() -> dict[str, list[type[Component]]]:
    """Public component classes by package; one that several packages show is in the first."""
    found: dict[str, list[type[Component]]] = {}
    seen: set[type] = set()
    for module in pkgutil.iter_modules(library.__path__, "library."):
        if not module.ispkg or module.name in _LEAVE:
            continue
        package = importlib.import_module(module.name)
        public = [getattr(package, name) for name in package.__all__]
        classes = [c for c in public
                   if inspect.isclass(c) and issubclass(c, Component) and c not in seen
                   and c.__module__.startswith(module.name)]  # fmt: skip
        seen.update(classes)
        if classes:
            found[module.name] = sorted(classes, key=lambda c: c.__name__)
    return found


@dataclass
class Traced:
    """Ports, signals and equations of a component."""

    ports: dict[str, Domain] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    laws: list[str] = field(default_factory=list)
    computed: list[str] = field(default_factory=list)
    held: list[tuple[str, str, str, str]] = field(default_factory=list)  # kind, effort, flow, gap


@cache
def traced(cls: type[Component], **options: Any) -> Traced:
    """Ports and equations of a class with given options."""
    kernel = kernel_of(cls(**options))
    names = [v.name for v in kernel.variables]
    kinds = {kind: [v.name for v in kernel.variables if v.kind == kind]
             for kind in ("input", "output")}  # fmt: skip
    laws = [law.wording(LONGEST) for law in kernel.laws]
    laws += [f"{names[law.effort]} == {_friction(law)}" for law in kernel.set_valued
             if law.kind == "friction"]  # fmt: skip
    laws += [f"{names[law.effort]} == {_said(law.law)}" for law in kernel.load_laws]
    made = {v.name: v.declared.doc for v in kernel.variables if v.kind == "discrete"
            and v.declared.doc.startswith("floor(")}
    made |= {names[i]: f"delayed({_said(value)}, {_said(by)})" for i, value, by, _ in kernel.delays}

    def calls(text: str) -> str:
        """With the calls that the equations are written with, not what stands for them."""
        return re.sub(r"\w+", lambda name: made.get(name[0], name[0]), text)

    return Traced(
        {name: domain for name, (domain, _) in kernel.ports.items()}, kinds["input"],
        kinds["output"], [n for n in names if "." not in n],
        [calls(law) for law in laws],
        [calls(f"{names[i]} == {_said(sx)}") for i, sx in kernel.observed.items()],
        [(law.kind, names[law.effort], _said(law.flow), "" if law.gap is None else _said(law.gap))
         for law in kernel.set_valued],
    )  # fmt: skip


def _said(sx: Any) -> str:
    return readable(sx, LONGEST)


def _friction(law: Any) -> str:
    """Either way of sliding, and the bounds of what holds at rest."""
    flow, held = _said(law.flow), f"between({_said(law.low)}, {_said(law.high)})"
    return f"where({flow} > 0, {_said(law.forth)}, where({flow} < 0, {_said(law.back)}, {held}))"
