"""What is a converted model made of, before it is written as text?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["ClassPlan", "Entry", "Part", "PortPlan", "Script", "Stub", "Written"]


@dataclass
class Written:
    """A value: as Python text, as a number where all its names have one, and in its unit."""

    python: str
    value: Any
    literal: bool
    unit: str = ""

    @property
    def argument(self) -> str:
        """As the value of a keyword: ``"60 kg"``, or a quantity of an expression."""
        if not self.unit:
            return self.python
        if self.literal:
            return f'"{self.python} {self.unit}"'
        return f'quantity({self.python}, "{self.unit}")'

    def times(self, unit: str) -> Written:
        """Return the number with a unit."""
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
