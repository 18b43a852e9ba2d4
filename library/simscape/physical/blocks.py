"""What does a physical block become, and which ports of the script are its ends?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from blocks import Input, Output, Port, declarations

from ...othernames import WORDS
from ..file.diagram import Block, End
from ..file.nodes import nodes_of
from ..matlab.syntax import NotUnderstood
from ..simulink.signal_lines import TO_PHYSICAL, TO_SIMULINK
from ..simulink.signal_part import SignalPart, Unmapped
from ..write.gaps import Gaps, title_of
from ..write.plan import Part, PortRef, SystemContext
from ..write.state import ConversionState
from .converters import number_taken, other_units
from .keywords import is_off, keywords_of, port_kind, said_of_what_is_off
from .mapping import DOMAINS, Counterpart, counterpart_of, is_verified, why_none
from .signals import is_physical_signal, physical_signal_part

__all__ = ["PhysicalBlocks", "lacks_ports"]


@dataclass
class PhysicalBlocks:
    """The components of a diagram, and its blocks for physical signals."""

    conversion: ConversionState
    gaps: Gaps
    dampings: dict[str, Any] = field(default_factory=dict)  # of hard stops, by block
    stubs: set[str] = field(default_factory=set)  # blocks that a stub stands for

    def make(self, level: SystemContext, block: Block) -> None:
        """The part of a block, or a gap."""
        counterpart = counterpart_of(block.kind, block.values)
        if is_physical_signal(block):
            self._signal(level, block)
        elif counterpart is not None and counterpart.component is not None:
            self._component(level, block, counterpart)
        elif counterpart is None and _tells_ports(block) and (law := self.gaps.physical_law(
                block, self.conversion.writes(level, block))) is not None:
            self._law(level, block, *law)
        else:
            self._gap(level, block)

    def _law(self, level: SystemContext, block: Block, made: str, ports: dict[str, str],
             keywords: dict[str, str]) -> None:
        """A part whose class, with the law of the block, stands in the text."""
        self._add(level, block, made, ports, keywords)
        read = {*self.gaps.classes[made].parameters, *said_of_what_is_off(block)}
        left = [f"{n} = {v.text} is not read." for n, v in block.values.items()
                if v.specify is not False and n not in read and not is_off(v)]
        notes = [*left, *(self._direction(level, block))]
        self.conversion.enter(level, block, "approximated" if left else "mapped", made, notes)

    def _add(self, level: SystemContext, block: Block, made: str, ports: dict[str, str],
             keywords: dict[str, str]) -> None:
        part = f"{level.owner}.{level.add(block, made, keywords).name}"
        plans = {port.name: port for port in self.gaps.classes[made].ports}
        level.refs |= {(block.sid, end): plans[port].ref(part) for end, port in ports.items()}

    def _direction(self, level: SystemContext, block: Block) -> list[str]:
        """What is to be said of a block whose direction nothing proves."""
        if is_verified(block.kind):
            return []
        note = "Direction not verified: compare one sign with a run of Simscape."
        self.conversion.remarks.append(f"{level.path}/{block.name}: {note}")
        return [note]

    def _component(self, level: SystemContext, block: Block, counterpart: Counterpart) -> None:
        conversion, where = self.conversion, f"{level.path}/{block.name}"
        component = counterpart.component
        assert component is not None
        keywords = keywords_of(block, counterpart, conversion.texts, level.scope, where)
        instance = keywords.instance(component) or component
        lost = " ".join([*keywords.unknown, _lost_ports(level, block, counterpart, instance)])
        if lost.strip():
            self._gap(level, block, " ".join([*keywords.notes, lost]).strip(), "in this form")
            return
        self.dampings[block.sid] = keywords.values.get("upper_damping")
        notes = keywords.notes + ([f"Not in the file, so the default here holds: "
                                   f"{', '.join(keywords.defaults)}."] if keywords.defaults else [])
        notes += self._direction(level, block)
        full = f"{counterpart.module.removeprefix('library.')}.{counterpart.name}"
        name = level.add(block, full, keywords.texts,
                         own=not counterpart.module.startswith("library.")).name
        conversion.enter(level, block, "missing" if keywords.lost else "approximated"
                         if keywords.notes else "mapped", full, keywords.lost + notes)
        conversion.remarks += keywords.lost
        conversion.remarks += [f"{where}: {note}" for note in keywords.told]
        for end, written in (block.ports or counterpart.ports).items():
            port = counterpart.port(written)
            level.refs[block.sid, end] = PortRef(
                f"{level.owner}.{name}.{port}", *port_kind(instance, port))

    def _signal(self, level: SystemContext, block: Block) -> None:
        """A block for physical signals, in the units of what it is connected to."""
        conversion = self.conversion
        try:
            made = physical_signal_part(block, conversion.parameters_of(level, block))
        except (Unmapped, NotUnderstood) as error:
            self._gap(level, block, str(error))
            return
        part = made.part
        other = other_units(block, made, conversion.units)
        placed, places = self.place(level, block, part)
        for port, unit in other.items():
            places[port] = number_taken(level, placed.name, places[port], made.unit, unit)
            if made.unit:
                part.note = (f"{part.note} Its output is in {made.unit}, and what it enters is in "
                             f"{unit}: the number is taken over.").strip()
        conversion.enter(level, block, "approximated" if part.note else "mapped", part.component,
                         [part.note] if part.note else [])
        for end, written in block.ports.items():
            if written in places:
                kind = "output" if written in part.outputs else "input"
                level.refs[block.sid, end] = PortRef(places[written], kind,
                                                     conversion.units.of(block.sid, end) or "")

    def place(self, level: SystemContext, block: Block, made: SignalPart, name: str = ""
              ) -> tuple[Part, dict[str, str]]:
        """Put a signal block and what stands before it; its part, and its ports by their names."""
        if made.equation:
            made.component = self.gaps.law(block, made)
        part = level.add(block, made.component, dict(made.keywords), name)
        places = {port: f"{level.owner}.{part.name}.{here}" for port, here in made.here.items()}
        for index, word, before in made.before:
            first, inner = self.place(level, block, before, f"{part.name}_{word}")
            first.original = ""
            port = made.inputs[index]
            level.plan.connections.append([inner[before.outputs[0]], places[port]])
            if before.inputs:
                places[port] = inner[before.inputs[0]]
            else:
                del places[port]
        return part, places

    def _gap(self, level: SystemContext, block: Block, why: str = "", form: str = "here") -> None:
        """A stub with the ports of a component that has no counterpart."""
        units = self.conversion.units
        if not _tells_ports(block):
            self._ports_of_nodes(level, block)
        why = why or _what_to_take(block)
        made, ports, keywords = self.gaps.physical(
            block, lambda end: units.of(block.sid, end) or "", self._divisors(level, block), why,
            self.conversion.writes(level, block), form)
        self.stubs.add(block.sid)
        self._add(level, block, made, ports, keywords)
        self.conversion.enter(level, block, "missing", made,
                              [f"{why} A stub with its ports and values stands for it."])

    def _ports_of_nodes(self, level: SystemContext, block: Block) -> None:
        """What the ports are that the file does not name or tell: as what they are joined to."""
        for node in nodes_of(level.system):
            kind = next(filter(None, (self._joined_kind(level, end) for end in node
                                      if end.sid != block.sid)), "")
            for end in node:
                if end.sid == block.sid and kind:
                    port = block.ports.setdefault(end.name, end.name)
                    block.types[port] = block.types.get(port) or kind
        for signal in level.system.signals:
            for end in (signal.source, *signal.targets):
                if end.sid == block.sid and end.port in ("in", "out"):
                    block.ports[end.name] = end.name
                    block.types[end.name] = f"{end.port}put"

    def _joined_kind(self, level: SystemContext, end: End) -> str:
        """What a port is that is joined to an end: its domain, ``input`` or ``output``."""
        other, ref = level.block(end), self.conversion.ref(level, end)
        kinds = {TO_SIMULINK: "output", TO_PHYSICAL: "input"}
        if other is not None and other.kind in kinds:
            return kinds[other.kind]
        domains = {domain: path for path, domain in DOMAINS.items()}
        return "" if ref is None else (
            {"input": "output", "output": "input"} | domains).get(ref.kind, "")

    @staticmethod
    def _divisors(level: SystemContext, block: Block) -> set[str]:
        """Ends of outputs that something of this system is divided by, through a converter too."""
        found = set()
        for node in nodes_of(level.system):
            own = [end for end in node if end.sid == block.sid]
            behind = [t for end in node if (b := level.block(end)) is not None
                      and b.kind == TO_SIMULINK for s in level.system.signals
                      if s.source.sid == b.sid for t in s.targets]
            if own and any(_divides(level.block(end), end.name) for end in (*node, *behind)):
                found |= {end.name for end in own}
        return found


def lacks_ports(block: Block) -> bool:
    """Whether the file does not tell all ports of a component, or any of one with counterpart."""
    counterpart = counterpart_of(block.kind)
    if counterpart is not None:
        return not (block.ports or counterpart.ports)
    return block.is_component and not _tells_ports(block)


def _tells_ports(block: Block) -> bool:
    return bool(block.ports) and all(block.types.get(port) for port in block.ports.values())


def _lost_ports(level: SystemContext, block: Block, counterpart: Counterpart, instance: Any) -> str:
    """Which ports are joined to something, but not known or not there here; empty where all are."""
    ports = block.ports or counterpart.ports

    def is_there(end: str) -> bool:
        declared = declarations(instance).get(counterpart.port(ports.get(end, "")))
        return isinstance(declared, (Port, Input, Output)) and (
            isinstance(instance, type) or declared.exists(instance))

    joined = {end.name for wire in level.system.wires for end in wire if end.sid == block.sid}
    lost = [ports.get(end, "") for end in sorted(joined) if not is_there(end)]
    if not lost or block.ports and all(map(is_there, block.ports)):
        return ""
    if not all(lost):
        return (f"It is {counterpart.name} here, but neither the file nor another that was seen "
                "says which of its ports are which. Say it by add_counterpart(…, "
                "ports={'lconn1': …}), or put it in by hand.")
    return (f"{counterpart.name} here has no port {' or '.join(lost)}: put other components in "
            "its place.")


def _what_to_take(block: Block) -> str:
    """Why a block is not converted, and which component is the same here, if any."""
    why = why_none(block.kind, block.values)
    if why:
        return why
    row = WORDS.component(title_of(block), "", "Simscape")
    if row is None:
        return "It has no counterpart here."
    return row.sentence() if row.note else (
        f"{row.sentence()} Give it the stub's values by hand: which parameter there each of them "
        "is, is not known here.")


def _divides(block: Block | None, end: str) -> bool:
    if block is None:
        return False
    if block.kind == "foundation.signal.functions.divide":
        return block.ports.get(end) == "I2"
    signs = block.options.get("Inputs", "").replace("|", "")
    return block.block_type == "Product" and "/" in signs and signs.startswith(
        ("*", "/")) and end in {f"in{k}" for k, sign in enumerate(signs, 1) if sign == "/"}
