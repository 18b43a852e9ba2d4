"""How do signals of a diagram reach what they drive?

Numbers of Simulink get a unit where a converter gives them one: a source that drives only
converters of one unit is written with that unit, any other signal passes a gain. What only
shows a signal disappears, and the signal is plotted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from blocks import declarations

from ..file.diagram import Block, End
from ..matlab.syntax import NotUnderstood
from ..physical.blocks import PhysicalBlocks
from ..physical.converters import Converters
from ..physical.mapping import counterpart_of
from ..tables import content_of
from ..write.plan import Part, PortRef, SystemContext
from ..write.state import ConversionState
from .block_parameters import BlockParameters
from .dynamics import DYNAMICS
from .functions import FUNCTIONS
from .sampled import SAMPLED
from .signal_lines import SignalLines, is_shown, is_signal_block
from .signal_part import SignalPart, Unmapped
from .sources import SOURCES
from .vectors import JOINING, SPLITTING, elements

__all__ = ["Placed", "SignalsOfLevel"]

# by type; masked blocks of Simulink's own library by the last part of their path
_BLOCKS = {**SOURCES, **FUNCTIONS, **DYNAMICS, **SAMPLED}


@dataclass
class Placed:
    """What a signal block has become: its part, what that is, and its ports in the script."""

    part: Part
    made: SignalPart
    places: dict[str, str]

    def port(self, names: tuple[str, ...], index: int) -> str:
        """The place of the port of an index; empty where there is none."""
        return self.places[names[index - 1]] if 0 < index <= len(names) else ""


@dataclass
class SignalsOfLevel:
    """The signals of one system."""

    conversion: ConversionState
    level: SystemContext
    blocks: PhysicalBlocks
    physical: list[tuple[list[End], list[PortRef]]] = field(default_factory=list)  # nodes
    placed: dict[str, Placed] = field(default_factory=dict)  # by block

    def __post_init__(self) -> None:
        self.lines = SignalLines(self.level)

    # -- the order of work -----------------------------------------------------------
    def convert(self, live: list[Block]) -> None:
        for block in live:
            if block.block_type == "Inport" and self.level.owner == "model":
                self._open_input(block)
            elif block.block_type == "Inport":
                port = self.level.add_port(block, "Input", "")
                self.conversion.inputs.add(f"{self.level.within}{port.name}")
        for block in live:
            if is_signal_block(block):
                self._make(block)
        for ends, refs in self.physical:
            Converters(self).node(ends, refs)
        for signal in self.level.system.signals:
            self._signal(signal.source, signal.targets)
        self._ground()

    def _ground(self) -> None:
        """Signals that nothing gives are 0, as in Simulink."""
        level = self.level
        driven = {text for texts in level.plan.connections for text in texts}
        units = {known.places[port]: "" for known in self.placed.values()
                 for port in known.made.inputs if port in known.places}
        for inner in level.inner.values():
            units |= {f"{level.owner}.{inner.name}.{port.name}": port.argument
                      for port in inner.ports.values() if port.kind == "Input"}
        units |= {ref.text: ref.unit for (sid, _), ref in level.refs.items()
                  if ref.kind == "input"
                  and (counterpart_of(level.system.blocks[sid].kind) is None
                       or sid in self.blocks.stubs)}
        for unit in sorted(set(units.values())):
            open_inputs = [text for text in units if units[text] == unit and text not in driven]
            if not open_inputs:
                continue
            part = level.add(None, "signal.Constant",
                             {"value": f'"0 {unit}"' if unit else "0"}, "unconnected")
            self.connect(PortRef(f"{level.owner}.{part.name}.y", "output", unit), open_inputs)
            self.conversion.open += map(level.path_of, open_inputs)

    def _make(self, block: Block) -> None:
        level, conversion = self.level, self.conversion
        try:
            asks = conversion.parameters_of(level, block)
            made = signal_part(block, asks)
            _refuse_sizes(made, asks.given)
            unmapped = [f"{option} = {text} is not mapped." for option, text in asks.unread()]
            notes = [made.note] * bool(made.note) + unmapped
            conversion.remarks += [f"{level.path}/{block.name}: {said}" for said in unmapped]
            outcome = "approximated" if notes else "mapped"
        except (Unmapped, NotUnderstood, ValueError) as error:
            options = conversion.parameters_of(level, block).unread()
            made = conversion.gaps.signal(block, *self.lines.used_ports(block), str(error), options,
                                          conversion.writes(level, block))
            outcome = "missing"
            notes = [f"{error} A stub with its ports and values stands for it."]
        part, places = self.blocks.place(level, block, made)
        conversion.enter(level, block, outcome, made.component, notes)
        self.placed[block.sid] = Placed(part, made, places)

    def _open_input(self, block: Block) -> None:
        """An input of the whole model: a constant that the user sets."""
        part = self.level.add(block, "signal.Constant", {"value": "0"})
        self.placed[block.sid] = Placed(part, SignalPart("signal.Constant", {}, ()),
                                        {"y": f"model.{part.name}.y"})
        self.conversion.enter(self.level, block, "approximated", "signal.Constant",
                              ["An input of the model: set its value, or connect a source."])

    # -- ends of signals ---------------------------------------------------------------
    def source(self, end: End) -> PortRef | None:
        """The output that a signal line begins at."""
        block = self.level.block(end)
        if block is None:
            return None
        if (known := self.placed.get(block.sid)) is not None:
            return PortRef(known.port(known.made.outputs, end.index), "output")
        if block.sid in self.level.ports:
            return PortRef(f"{self.level.owner}.{self.level.ports[block.sid].name}", "output")
        if block.block_type == "From":
            gotos = self.level.system.of_type("Goto", block.tag)
            begin = self.level.system.driver_of(*(goto.sid for goto in gotos))
            why = f"No Goto block sets the tag {block.tag!r}; connect it by hand."
        elif block.block_type in SPLITTING:
            found = elements(self.level.system, end)
            begin = found[0] if len(found) == 1 else None
            why = ("Signals are scalars here, and the elements of this vector are not known: "
                   "connect them by hand.")
        else:
            return self.conversion.ref(self.level, end)
        if begin is not None:
            return self.source(begin)
        self.conversion.enter(self.level, block, "missing", notes=[why])
        return None

    def target(self, end: End) -> PortRef | None:
        """The input that a signal line ends at."""
        block = self.level.block(end)
        if block is None:
            return None
        if (known := self.placed.get(block.sid)) is not None:
            text = known.port(known.made.inputs, end.index) if end.port == "in" else ""
            return PortRef(text, "input") if text else None
        if block.block_type == "Outport":
            if self.level.owner == "model":
                return None
            port = self.level.add_port(block, "Output", "")
            return PortRef(f"{self.level.owner}.{port.name}", "input")
        return self.conversion.ref(self.level, end)

    def _signal(self, source: End, targets: list[End]) -> None:
        begin = self.level.block(source)
        if begin is None or begin.block_type == "From" and not any(map(self.target, targets)):
            return
        parts = elements(self.level.system, source)
        if begin.block_type in JOINING or begin.block_type in SPLITTING and len(parts) > 1:
            self._vector(parts, targets)
            return
        ref = self.source(source)
        if ref is None:
            return
        if self.lines.consumers(source)[1]:
            self.plot(ref)
        self.remember(ref, source)
        ends = [found.text for t in targets if (found := self.target(t)) is not None and found.text]
        for target in targets:
            if target.sid in self.level.ports:
                self.level.driven[self.level.ports[target.sid].name] = self.path_of(ref)
        if ends and ref.text:
            self.connect(ref, ends)

    def remember(self, ref: PortRef, source: End, unit: str = "") -> None:
        """What a signal is called in the model: by its line, and by what shows or keeps it."""
        for signal in self.level.system.signals:
            if signal.source != source:
                continue
            blocks = [b for t in signal.targets if (b := self.level.block(t)) is not None
                      and (is_shown(b) or b.block_type == "Outport")]
            names = [signal.name, *(b.options.get("VariableName", b.name) for b in blocks)]
            self.conversion.named |= dict.fromkeys(filter(None, names), (self.path_of(ref), unit))

    def connect(self, ref: PortRef, ends: list[str]) -> None:
        self.level.plan.connections.append([ref.text, *ends])
        for end in ends:
            self.conversion.fed.setdefault(self.level.path_of(end), self.path_of(ref))

    def _vector(self, parts: list[End], targets: list[End]) -> None:
        """Connect the elements of a vector with the inputs of a block that has as many."""
        shown = any(b is not None and is_shown(b) for b in map(self.level.block, targets))
        refs = [self.source(part) for part in parts]
        for ref in refs if shown else ():
            if ref is not None:
                self.plot(ref)
        for target in targets:
            known, block = self.placed.get(target.sid), self.level.block(target)
            if known is None or block is None or target.port != "in":
                continue
            lines = set(self.lines.used_ports(block)[0])
            if len(refs) > 1 and (lines != {1} or len(known.made.inputs) != len(refs)):
                self.conversion.enter(self.level, block, "missing", notes=[
                    f"A vector of {len(refs)} elements enters it, which is taken as a scalar "
                    "here: connect its elements by hand."])
                continue
            for ref, port in zip(refs, known.made.inputs[target.index - 1:], strict=False):
                if ref is not None:
                    self.connect(ref, [known.places[port]])

    def plot(self, ref: PortRef) -> None:
        self.conversion.plots.append(self.path_of(ref))

    def path_of(self, ref: PortRef) -> str:
        """Where a signal is found in a result: an output of a subsystem at what drives it.

        Empty for an output that nothing drives.
        """
        level = self.level
        part, _, port = ref.text.removeprefix(f"{level.owner}.").partition(".")
        for inner in level.inner.values():
            if inner.within == f"{level.within}{part}." and any(
                    own.name == port and own.kind == "Output" for own in inner.ports.values()):
                return inner.driven.get(port, "")
        return f"{level.within}{part}.{port}".removesuffix(".")


def _refuse_sizes(made: SignalPart, given: Mapping[str, tuple[str, bool]]) -> None:
    """Raise for a vector where what stands for the block takes a number, and the reverse.

    ``given`` says of each text of which parameter it is, and whether it is a vector.
    """
    for part in (made, *(before for _, _, before in made.before)):
        declared: Any = {}
        if part.component:
            module, _, name = part.component.rpartition(".")
            declared = declarations(getattr(import_module(f"library.{module}"), name))
        for word, text in [*part.keywords.items(), ("", part.equation)]:
            many = np.ndim(getattr(declared.get(word), "default", 0.0)) > 0
            for written, (name, vector) in given.items():
                own = re.escape(written)
                if vector and not many and re.search(rf"(?<![\w.]){own}(?![\w.\[])", text):
                    raise Unmapped(f"Its {name} is a vector; signals are scalars here.")
                if many and not vector and re.fullmatch(rf'(quantity\()?{own}(, "[^"]*"\))?', text):
                    raise Unmapped(f"Its {name} is one number, and takes a list of them.")


def signal_part(block: Block, asks: BlockParameters) -> SignalPart:
    """The counterpart of a Simulink block; Unmapped says why there is none."""
    if block.block_type in ("EnablePort", "TriggerPort", "ActionPort"):
        raise Unmapped("The subsystem is always on here, whatever switches it in the model: put a "
                       "Switch of library.signal behind its outputs where that matters.")
    if block.block_type == "Probe":
        raise Unmapped(f"It reads {asks.written('Variables', 'variables')} of a component by name, "
                       "without a line: connect a sensor instead.")
    made = _BLOCKS.get(block.block_type) or _BLOCKS.get(block.simulink_name)
    if made is None:
        # what exists here for blocks of libraries whose laws no file tells
        near = content_of("signal_blocks.json")["near"].get(block.kind.rpartition("/")[2], "")
        raise Unmapped(f"It has no counterpart here. {near}".rstrip())
    return made(asks)
