"""How do signals of a diagram reach what they drive?

Numbers of Simulink get a unit where a converter gives them one: a source that drives only
converters of one unit is written with that unit, any other signal passes a gain. What only
shows a signal disappears, and the signal is plotted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .asked import Asked
from .converters import TO_PHYSICAL, TO_SIMULINK, Converters
from .diagram import Block, End, folded
from .levels import Joint, Level
from .matlab import NotUnderstood, parse
from .plan import Part, PortPlan, Stub
from .python_text import class_name, python_name, python_of, said
from .signal_part import SignalPart, law, many
from .simulink import SINKS, UNSEEN, signal_part
from .vectors import JOINING, SPLITTING, elements

if TYPE_CHECKING:
    from .convert import Conversion

__all__ = ["SignalsOfLevel"]

_VECTORS = (*JOINING, *SPLITTING)


@dataclass
class SignalsOfLevel:
    """The signals of one system."""

    conversion: Conversion
    level: Level
    physical: list[tuple[list[End], list[Joint]]] = field(default_factory=list)
    parts: dict[str, tuple[Part, SignalPart]] = field(default_factory=dict)  # by block

    def is_converter(self, end: End) -> bool:
        block = self.level.block(end)
        return block is not None and block.kind in (TO_PHYSICAL, TO_SIMULINK)

    def add_node(self, ends: list[End], joints: list[Joint]) -> None:
        """A node of physical signals."""
        self.physical.append((ends, joints))

    # -- the order of work -----------------------------------------------------------
    def convert(self, live: list[Block]) -> None:
        """Make the parts of signal blocks and connect them."""
        for block in live:
            if block.block_type == "Inport" and self.level.owner == "model":
                self._open_input(block)
            elif block.block_type == "Inport":
                self.level.add_port(block, "Input", "")
        for block in live:
            if self._is_signal_block(block):
                self._make(block)
        for ends, joints in self.physical:
            Converters(self).node(ends, joints)
        for signal in self.level.system.signals:
            self._signal(signal.source, signal.targets)

    def _is_signal_block(self, block: Block) -> bool:
        return block.system is None and not self._is_shown(block) and block.block_type not in (
            "Inport", "Outport", "PMIOPort", "ConnectionLabel", "Goto", "From",
            "GotoTagVisibility", *_VECTORS) and (
            "." not in block.kind and (not block.kind.startswith("nesl_utility")))

    @staticmethod
    def _is_shown(block: Block) -> bool:
        return block.block_type in SINKS or block.block_type in UNSEEN

    # -- consumers -------------------------------------------------------------------
    def consumers(self, source: End) -> tuple[list[End], bool]:
        """Inputs that a signal drives, and whether something shows it; tags are followed."""
        found: list[End] = []
        shown = False
        for signal in self.level.system.signals:
            if signal.source != source:
                continue
            for target in signal.targets:
                block = self.level.block(target)
                if block is None:
                    continue
                if block.block_type == "Outport" and self.level.owner == "model":
                    shown = True
                elif self._is_shown(block):
                    shown = shown or block.block_type != "Terminator"
                elif block.block_type == "Goto":
                    for inner in self._from(block.options.get("GotoTag", "A")):
                        more, seen = self.consumers(End(inner.sid, "out", 1))
                        found += more
                        shown |= seen
                elif block.block_type in _VECTORS:
                    more, seen = self._behind(block)
                    shown |= seen
                    found += [target] * bool(more)
                else:
                    found.append(target)
        return found, shown

    def _behind(self, block: Block) -> tuple[list[End], bool]:
        """What a vector, or any of its elements, drives."""
        found: list[End] = []
        shown = False
        for end in {s.source for s in self.level.system.signals if s.source.sid == block.sid}:
            more, seen = self.consumers(end)
            found += more
            shown |= seen
        return found, shown

    def _from(self, tag: str) -> list[Block]:
        return [b for b in self.level.system.blocks.values()
                if b.block_type == "From" and b.options.get("GotoTag", "A") == tag]

    # -- Simulink blocks ---------------------------------------------------------------
    def _make(self, block: Block) -> None:
        level, conversion = self.level, self.conversion
        asked = conversion.asked(level, block)
        name = level.names.make(python_name(block.name))
        try:
            made = self._function(block, asked) if block.block_type == "Fcn" else \
                signal_part(block, asked)
        except (NotUnderstood, ValueError) as error:
            made = None
            conversion.remarks.append(f"{level.path}/{block.name}: {error}")
        if made is None:
            made = self._stub(block)
            conversion.enter(level, block, "missing", made.component,
                             ["No counterpart for its settings: a stub with its ports."])
        else:
            if made.equation:
                made.component = self._class_of(block, made)
            conversion.enter(level, block, "approximated" if made.note else "mapped",
                             made.component, [made.note] if made.note else [])
        part = Part(name, made.component, dict(made.keywords), said(block.name, name))
        level.plan.parts.append(part)
        if made.before:
            rate = Part(level.names.make(f"{name}_rate"), "signal.Gain", {"gain": made.before})
            level.plan.parts.append(rate)
            level.plan.connections.append([f"{level.owner}.{rate.name}.y",
                                           f"{level.owner}.{name}.{made.inputs[0]}"])
            made.inputs = (f"{rate.name}.u", *made.inputs[1:])
        self.parts[block.sid] = part, made

    def _open_input(self, block: Block) -> None:
        """An input of the whole model: a constant that the user sets."""
        name = self.level.names.make(python_name(block.name))
        part = Part(name, "signal.Constant", {"value": "0"}, said(block.name, name))
        self.level.plan.parts.append(part)
        self.parts[block.sid] = part, SignalPart("signal.Constant", {}, ())
        self.conversion.enter(self.level, block, "approximated", "signal.Constant",
                              ["An input of the model: set its value, or connect a source."])

    def _function(self, block: Block, asked: Asked) -> SignalPart | None:
        """A block whose law is written in it, of one signal or of the elements of a vector."""
        text = re.sub(r"u\[(\d+)\]", r"u(\1)", asked.written("Expr", "sin(u[1])"))
        used = [int(n) for n in re.findall(r"\bu\((\d+)\)", text)] or [1]
        inputs = ("u",) if max(used) == 1 else many("u", max(used))
        text = re.sub(r"\bu\((\d+)\)", lambda m: inputs[int(m[1]) - 1], text)
        tree = parse(text, block.name)
        written = python_of(tree, lambda path: f"self.{path}" if path in inputs else
                            self._known(path))
        written = written.replace("np.pi", repr(3.141592653589793)).replace(
            "np.abs(", "abs_(").replace("np.", "")
        return law(written, inputs)

    def _class_of(self, block: Block, made: SignalPart) -> str:
        """The class of a block with a law, one for all blocks with the same one."""
        conversion = self.conversion
        key = f"{block.kind}: {made.equation}", made.inputs
        if key not in conversion.gaps:
            name = conversion.class_names.make(class_name(block.title or block.kind.rpartition(
                "/")[2]))
            conversion.gaps[key] = name
            conversion.stubs[name] = Stub(
                name, f"The block {folded(block.name)} of the model.",
                [*(PortPlan(p, "Input", "") for p in made.inputs), PortPlan("y", "Output", "")],
                [made.equation])
        return conversion.gaps[key]

    def _known(self, path: str) -> str:
        self.conversion.texts.used.add(path)
        return self.conversion.workspace.python.variable(path)

    def _stub(self, block: Block) -> SignalPart:
        inputs = sorted({t.index for s in self.level.system.signals for t in s.targets
                         if t.sid == block.sid and t.port == "in"})
        outputs = sorted({s.source.index for s in self.level.system.signals
                          if s.source.sid == block.sid})
        ins = {k: f"u{k}" if len(inputs) > 1 else "u" for k in inputs}
        outs = {k: f"y{k}" if len(outputs) > 1 else "y" for k in outputs}
        name = self.conversion.class_names.make(class_name(block.name))
        self.conversion.stubs[name] = Stub(
            name, f"A gap: the Simulink block {block.kind} has no counterpart here.",
            [*(PortPlan(p, "Input", "") for p in ins.values()),
             *(PortPlan(p, "Output", "") for p in outs.values())],
            [f"self.{p} == 0" for p in outs.values()],
            f"stands for the Simulink block {block.kind}, which has no counterpart here: its "
            "outputs are 0.")
        return SignalPart(name, {}, tuple(ins.values()) or (), tuple(outs.values()) or ())

    # -- ends of signals ---------------------------------------------------------------
    def source(self, end: End) -> Joint | None:
        """The output that a signal line begins at."""
        block = self.level.block(end)
        if block is None:
            return None
        if block.sid in self.parts:
            part, made = self.parts[block.sid]
            port = made.outputs[min(end.index, len(made.outputs)) - 1]
            return Joint(f"{self.level.owner}.{part.name}.{port}", "output")
        if block.sid in self.level.ports:
            return Joint(f"{self.level.owner}.{self.level.ports[block.sid].name}", "output")
        if block.block_type == "From":
            return self._tagged(block)
        if block.block_type in SPLITTING:
            return self._element(block, end)
        return self.conversion.joint(self.level, end)

    def _element(self, block: Block, end: End) -> Joint | None:
        """What an output of a block that takes a vector apart stands for."""
        found = elements(self.level.system, end)
        if len(found) == 1:
            return self.source(found[0])
        self.conversion.enter(self.level, block, "missing", notes=[
            "Signals are scalars here, and this vector comes from another level of the diagram: "
            "connect its elements by hand."])
        return None

    def _tagged(self, block: Block) -> Joint | None:
        tag = block.options.get("GotoTag", "A")
        for signal in self.level.system.signals:
            for target in signal.targets:
                other = self.level.block(target)
                if other is not None and other.block_type == "Goto" and other.options.get(
                        "GotoTag", "A") == tag:
                    return self.source(signal.source)
        self.conversion.enter(self.level, block, "missing", notes=[
            f"The tag {tag!r} is set on another level of the diagram; connect it by hand."])
        return None

    def target(self, end: End) -> Joint | None:
        """The input that a signal line ends at."""
        block = self.level.block(end)
        if block is None:
            return None
        if block.sid in self.parts:
            part, made = self.parts[block.sid]
            if end.port != "in" or end.index > len(made.inputs):
                return None
            name = made.inputs[end.index - 1]
            within = name if "." in name else f"{part.name}.{name}"
            return Joint(f"{self.level.owner}.{within}", "input")
        if block.block_type == "Outport" and self.level.owner == "model":
            return None
        if block.block_type == "Outport":
            port = self.level.add_port(block, "Output", "")
            return Joint(f"{self.level.owner}.{port.name}", "input")
        return self.conversion.joint(self.level, end)

    def _signal(self, source: End, targets: list[End]) -> None:
        begin = self.level.block(source)
        if begin is None or begin.block_type == "From" and not any(map(self.target, targets)):
            return
        if begin.block_type in JOINING:
            self._vector(source, targets)
            return
        joint = self.source(source)
        _, shown = self.consumers(source)
        if joint is None:
            return
        if shown:
            self.plot(joint)
        ends = [found.text for t in targets
                if (found := self.target(t)) is not None and found.text]
        for target in targets:
            if target.sid in self.level.ports:
                self.level.driven[self.level.ports[target.sid].name] = self.path_of(joint)
        if ends and joint.text:
            self.level.plan.connections.append([joint.text, *ends])

    def _vector(self, source: End, targets: list[End]) -> None:
        """Connect the elements of a vector with the inputs of a block that has as many."""
        parts = elements(self.level.system, source)
        for target in targets:
            known = self.parts.get(target.sid)
            block = self.level.block(target)
            if known is None or block is None or target.port != "in":
                if block is not None and block.system is not None:
                    self.conversion.enter(self.level, block, "missing", notes=[
                        "A vector enters this subsystem; signals are scalars here: connect its "
                        "elements by hand."])
                continue
            for part, port in zip(parts, known[1].inputs[target.index - 1:], strict=False):
                joint = self.source(part)
                if joint is not None:
                    self.level.plan.connections.append([
                        joint.text, f"{self.level.owner}.{known[0].name}.{port}"])

    def plot(self, joint: Joint) -> None:
        """Let a signal be plotted."""
        self.conversion.plots.append(self.path_of(joint))

    def path_of(self, joint: Joint) -> str:
        """Where a signal is found in a result: an output of a subsystem at what drives it."""
        level = self.level
        part, _, port = joint.text.removeprefix(f"{level.owner}.").partition(".")
        for inner in level.inner.values():
            if inner.within == f"{level.within}{part}." and port in inner.driven:
                return inner.driven[port]
        return f"{level.within}{part}.{port}".removesuffix(".")
