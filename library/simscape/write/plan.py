"""What is a converted model made of before it is written, and what is known while it is made?"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..file.diagram import Block, End, System
from ..matlab.python_text import PythonNames, python_name, said

__all__ = ["ClassPlan", "Entry", "Part", "PortPlan", "PortRef", "Scope", "Script", "Stub",
           "SystemContext", "Written"]  # fmt: skip


@dataclass
class Written:
    """A value: as Python text, as a number where all its names have one, and in its unit."""

    python: str
    value: Any
    literal: bool
    unit: str = ""
    whole: str = ""  # text with the unit, of one that follows from parameters

    @property
    def argument(self) -> str:
        """As the value of a keyword: ``"60 kg"``, or a quantity of an expression."""
        if self.whole or not self.unit:
            return self.whole or self.python
        if self.literal:
            return f'"{self.python} {self.unit}"'
        return f'quantity({self.python}, "{self.unit}")'

    def times(self, unit: str) -> Written:
        return Written(self.python, self.value, self.literal, unit)


@dataclass
class Part:
    """``model.name = Component(keyword=text, …)``; ``original`` is its name in the diagram."""

    name: str
    component: str  # "translational.Mass", or the name of a class of the script
    keywords: dict[str, str] = field(default_factory=dict)
    original: str = ""
    note: str = ""
    own: bool = False  # whether the user's: its module is not one of ``library``

    @property
    def home(self) -> str:
        """The module that it is imported from; empty for a class of the script."""
        module = self.component.rpartition(".")[0]
        return module if self.own or not module else f"library.{module}"


@dataclass
class PortPlan:
    """A port of a class: ``name = Port(domain)``, ``Input(unit)`` or ``Output(unit)``."""

    name: str
    kind: str  # "Port", "Input", "Output"
    argument: str  # name of the domain, or the unit
    original: str = ""  # its name in the diagram, where it is another

    @property
    def text(self) -> str:
        argument = self.argument if self.kind == "Port" else f'"{self.argument}"'
        return f"{self.kind}({argument})"

    def ref(self, part: str) -> PortRef:
        kinds = (self.argument, "") if self.kind == "Port" else (self.kind.lower(), self.argument)
        return PortRef(f"{part}.{self.name}", *kinds)


@dataclass
class ClassPlan:
    """A composite, or the model itself."""

    name: str
    title: str
    ports: list[PortPlan] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    connections: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def content(self) -> tuple[object, ...]:
        """How it is called, but for a number behind it, and what it holds, in whatever order."""
        return (self.title.rstrip("0123456789 "), {*map(repr, self.ports)},
                {*map(repr, self.parts)}, {*map(frozenset, self.connections)})


@dataclass
class Stub:
    """A class for a block without a counterpart, or for a function written in the diagram."""

    name: str
    doc: str
    ports: list[PortPlan]
    equations: list[str]
    missing: str = ""  # what check() says of it
    parameters: dict[str, str] = field(default_factory=dict)  # names and texts of defaults


@dataclass
class Entry:
    """What became of one block."""

    path: str
    kind: str
    outcome: str  # "mapped", "approximated", "left out" or "missing"
    component: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Script:
    """A whole converted model."""

    title: str
    source: str
    release: str
    values: list[tuple[str, str, str, str]]  # name, text, comment, where it is from
    classes: list[ClassPlan]
    stubs: list[Stub]
    root: ClassPlan
    stop: str  # the stop time as it is written in the model
    times: dict[str, Written]  # stop time, largest step and tolerance, where they are numbers
    solver: dict[str, str]  # keywords of simulate() that a local solver gives
    plots: list[str]
    shown: dict[str, tuple[str, str]] = field(default_factory=dict)  # names: where, and its unit
    remarks: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


# -- while it is made -----------------------------------------------------------------------------
@dataclass
class Scope:
    """Names that have values at one place; those of a mask with their Python names."""

    values: Mapping[str, Any]
    local: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PortRef:
    """A port in the script: its text, what it is and in which unit."""

    text: str  # "model.mass.M"
    kind: str  # "input", "output", or the name of a domain; empty where it is not known
    unit: str = ""  # of a signal


@dataclass
class SystemContext:
    """One system, and what its blocks have become."""

    system: System
    path: str
    within: str  # path of the instance in results, "motor.rotor."
    owner: str  # "model", or "self" within a class
    scope: Scope
    plan: ClassPlan
    names: PythonNames
    refs: dict[tuple[str, str], PortRef] = field(default_factory=dict)  # by block and end
    inner: dict[str, SystemContext] = field(default_factory=dict)  # subsystems, by block
    ports: dict[str, PortPlan] = field(default_factory=dict)  # by port block
    # where in results the signal is that drives an output
    driven: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the system is called in the one around it."""
        return self.within.rstrip(".").rpartition(".")[2]

    def path_of(self, text: str) -> str:
        return f"{self.within}{text.removeprefix(f'{self.owner}.')}"

    def block(self, end: End) -> Block | None:
        return self.system.blocks.get(end.sid)

    def add(self, block: Block | None, component: str, keywords: dict[str, str], name: str = "",
            own: bool = False) -> Part:
        """A new part, called as its block where it has no other ``name``."""
        name = self.names.make(name or python_name(block.name if block is not None else ""))
        part = Part(name, component, keywords, "" if block is None else said(block.name, name),
                    own=own)
        self.plan.parts.append(part)
        return part

    def through(self, before: str, component: str, keywords: dict[str, str], name: str) -> str:
        """A new part that a signal passes; its output."""
        place = f"{self.owner}.{self.add(None, component, keywords, name).name}"
        self.plan.connections.append([before, f"{place}.u"])
        return f"{place}.y"

    def add_port(self, block: Block, kind: str, argument: str) -> PortPlan:
        """The port of the class that a port block stands for."""
        if block.sid not in self.ports:
            name = re.sub(r"[\W_]+", "_", block.name).strip("_") or "port"
            name = f"port_{name}" if name[0].isdigit() else name
            name = self.names.make(f"{name}_" if keyword.iskeyword(name) else name)
            port = PortPlan(name, kind, argument, said(block.name, name.lower()))
            self.ports[block.sid] = port
            self.plan.ports.append(port)
        return self.ports[block.sid]
