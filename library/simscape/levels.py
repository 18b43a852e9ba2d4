"""What is known of one system of a diagram while it is converted?"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .diagram import Block, End, System
from .plan import ClassPlan, Part, PortPlan
from .python_text import PythonNames, python_name, said

__all__ = ["Joint", "Level", "Scope"]


@dataclass
class Scope:
    """Names that have values at one place; those of a mask with their Python names."""

    values: Mapping[str, Any]
    local: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Joint:
    """A port in the script: its text, what it is and in which unit."""

    text: str  # "model.mass.M"
    kind: str  # "input", "output", or the name of a domain; empty where it is not known
    unit: str = ""  # of a signal


@dataclass
class Level:
    """One system, and what its blocks have become."""

    system: System
    path: str
    within: str  # path of the instance in results, "motor.rotor."
    owner: str  # "model", or "self" within a class
    scope: Scope
    plan: ClassPlan
    names: PythonNames
    joints: dict[tuple[str, str], Joint] = field(default_factory=dict)  # by block and end
    inner: dict[str, Level] = field(default_factory=dict)  # subsystems, by block
    ports: dict[str, PortPlan] = field(default_factory=dict)  # by port block
    # where in results the signal is that drives an output
    driven: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the system is called in the one around it."""
        return self.within.rstrip(".").rpartition(".")[2]

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
