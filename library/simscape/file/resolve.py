"""What stands elsewhere is put in its place: variants, referenced files, linked blocks, tags.

After this a diagram holds all it is made of, and every signal and line stays within one system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from blocks import FileError

from ..matlab.syntax import NotUnderstood, parse
from ..matlab.values import Unknown, evaluate, free_names
from ..simulink.sample_times import inherit_sample_times
from ..simulink.vector_crossings import carry_vectors
from ..simulink.vectors import dissolve_physical_vectors
from .diagram import Block, Diagram, End, Signal, System, read_diagram
from .signal_files import read_signals

__all__ = ["resolve"]

# libraries whose blocks are known by their path, not by their content
_KNOWN = ("fl_lib", "nesl_utility", "sdl_lib", "ee_lib", "fluids_lib", "sh_lib",
          "batt_lib", "sm_lib", "powerlib", "spsSwitchingDevicesLib",
          "dashboard_blocks")  # fmt: skip
# others of theirs, whose blocks are not known
_OF_OTHERS = re.compile(r"powerlib_\w+|(sps|ee)[A-Z]\w*|(sps|mcb)\w+Lib|cstblocks|"
                        r"(ee_lib|nesl_utility|simscape)_\w+")
_DEEPEST = 40


@dataclass
class _Resolver:
    folders: list[Path]
    names: Mapping[str, Any]
    remarks: list[str] = field(default_factory=list)
    conditions: dict[str, str] = field(default_factory=dict)  # names in them, with a place
    absent: dict[str, list[str]] = field(default_factory=dict)  # libraries, and their blocks here
    files: dict[Path, Diagram] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)

    def system(self, system: System, path: str) -> None:
        for block in list(system.blocks.values()):
            self.block(block, f"{path}/{block.name}")
        read_signals(system, self._found, path, self.remarks)

    def _found(self, *names: str) -> Path | None:
        return next((found for folder in self.folders for name in names
                     if (found := folder / name).is_file()), None)

    def block(self, block: Block, path: str) -> None:
        if len(self.stack) > _DEEPEST:
            raise FileError(path, f"its subsystems are more than {_DEEPEST} deep.",
                            "A subsystem may refer to itself: look for a circle of references.",
                            code="simscape.size")
        stem = block.options.get("ReferencedSubsystem")
        if stem and block.system is None:
            found = self._file(stem)
            if found is not None:
                block.system = _own(found.root, f"{block.sid}.")
            else:
                self.remarks.append(f"{path} stands in the file {stem}.slx, which was not found "
                                    "(--path says where to look).")
        elif block.block_type == "Reference" and "/" in block.kind and block.system is None:
            self._link(block, path)
        if block.system is None:
            return
        if block.options.get("Variant") == "on":
            self._choose(block, path)
        if any(inner.signals for inner in block.system.blocks.values()):
            block.mask = None  # of a Signal Builder, which sets what its block reads
        self.stack.append(path)
        self.system(block.system, path)
        self.stack.pop()

    def _file(self, stem: str) -> Diagram | None:
        found = self._found(*(f"{Path(stem).name}{ending}" for ending in (".slx", ".mdl")))
        if found is not None and found not in self.files:
            self.files[found] = read_diagram(found)
        return None if found is None else self.files[found]

    def _link(self, block: Block, path: str) -> None:
        """A block of a private library: its content is that of the library's block."""
        library, _, inside = block.kind.partition("/")
        if library in _KNOWN or block.simulink_name:
            return
        found = self._file(library)
        if found is None:
            if not _OF_OTHERS.fullmatch(library):
                self.absent.setdefault(library, []).append(path)
            return
        block.kind, original = inside, _inside(found.root, inside)
        if original is None:
            self.remarks.append(f"{path} is the block {inside!r} of the library {library}, which "
                                "has no such block.")
            return
        block.block_type, block.kind = original.block_type, original.kind
        if original.system is not None:
            block.system = _own(original.system, f"{block.sid}.")
        block.values = {**original.values, **block.values}
        if original.mask is not None:
            given = {k: v for k, v in block.options.items() if k in original.mask.values}
            block.mask = replace(original.mask, values={**original.mask.values, **given})

    # -- variants --------------------------------------------------------------------
    def _choose(self, block: Block, path: str) -> None:
        assert block.system is not None
        choices = [b for b in block.system.blocks.values() if b.system is not None
                   or b.options.get("ReferencedSubsystem") or b.block_type == "Reference"]
        active = self._active(block, choices, path)
        if active is None:
            self.remarks.append(f"{path} is a variant subsystem, and none of its choices is "
                                "active: it is left out.")
            block.system = System()
            return
        self.block(active, f"{path}/{active.name}")
        if active.system is None:
            return
        outer = {b.name: b.options for b in block.system.blocks.values() if _is_port(b)}
        for port in active.system.blocks.values():
            if _is_port(port) and port.name in outer:
                said = outer[port.name]
                port.options.pop("Port", None)
                port.options |= {k: said[k] for k in ("Port", "Side") if k in said}
        block.system = active.system
        self.remarks.append(f"{path} is a variant subsystem; its choice {active.name!r} is taken.")

    def _active(self, block: Block, choices: list[Block], path: str) -> Block | None:
        label = next(filter(None, map(block.options.get, (
            "LabelModeActiveChoice", "LabelModeActivechoice", "OverrideUsingVariant"))), None)
        said = [(choice, choice.options.get("VariantControl", "")) for choice in choices]
        for choice, condition in said:
            if label and condition == label:
                return choice
        unknown: list[str] = []
        for choice, condition in said:
            if condition in ("", "(default)") or condition.startswith("%"):
                continue
            try:
                if self._holds(condition, path):
                    return choice
            except Unknown as error:
                unknown.append(str(error.data["name"]))
            except NotUnderstood:
                continue
        default = [choice for choice, condition in said if condition == "(default)"]
        if not default and len(choices) > 1:
            self.conditions |= dict.fromkeys(unknown, path)
        return next(iter(default), choices[0] if len(choices) == 1 else None)

    def _holds(self, condition: str, path: str) -> Any:
        """Whether a condition holds; that of a ``Simulink.Variant`` is a text."""
        tree = parse(condition)
        value = evaluate(tree, self.names)
        self.conditions |= dict.fromkeys(free_names(tree), path)
        return self._holds(value, path) if isinstance(value, str) else value


def resolve(diagram: Diagram, folders: Iterable[Path], names: Mapping[str, Any]
            ) -> tuple[list[str], dict[str, str]]:
    """Complete a diagram in place.

    Returns what a person should know of it, and the names that choose its variants, each with a
    place; those without a value only where no choice is active. Libraries and referenced subsystems
    are looked for in ``folders``; conditions of variants may use ``names``.
    """
    resolver = _Resolver([diagram.path.parent, *folders], names)
    resolver.system(diagram.root, "")
    _carry_tags(diagram.root)
    for system in diagram.root.systems():
        _pass_through(system)
    carry_vectors(diagram.root, names)
    inherit_sample_times(diagram, names)
    for system in diagram.root.systems():
        dissolve_physical_vectors(system, names)
    for library, paths in resolver.absent.items():
        said = f"is a block of the library {library}" if len(paths) == 1 else \
            f"and {len(paths) - 1} more are blocks of the library {library}"
        resolver.remarks.append(f"{paths[0]} {said}, whose file was not found (--path says where "
                                "to look).")
    return resolver.remarks, resolver.conditions


def _is_port(block: Block) -> bool:
    return block.block_type in ("PMIOPort", "Inport", "Outport")


def _own(system: System, prefix: str) -> System:
    """A copy whose blocks have names of their own."""
    made = System(notes=list(system.notes))
    for sid, block in system.blocks.items():
        inner = block.system and _own(block.system, prefix)
        made.blocks[f"{prefix}{sid}"] = replace(
            block, sid=f"{prefix}{sid}", options=dict(block.options), values=dict(block.values),
            system=inner)

    def own(end: End) -> End:
        return replace(end, sid=f"{prefix}{end.sid}")

    made.wires = [[*map(own, wire)] for wire in system.wires]
    made.signals = [Signal(own(s.source), [*map(own, s.targets)], s.name) for s in system.signals]
    return made


def _inside(system: System, path: str) -> Block | None:
    name, _, inside = path.partition("/")
    block = next((b for b in system.blocks.values() if b.name == name), None)
    if block is None or not inside:
        return block
    return None if block.system is None else _inside(block.system, inside)


def _pass_through(system: System) -> None:
    """Blocks that are commented through are lines from each port to the one on the other side."""
    for block in system.blocks.values():
        if block.commented != "through":
            continue
        before = {t.index: s.source for s in system.signals for t in s.targets
                  if t.sid == block.sid and t.port == "in"}
        system.signals = [Signal(before.get(s.source.index, s.source), s.targets, s.name)
                          if s.source.sid == block.sid else s for s in system.signals]
        count = min(block.counts.get("lconn", 1), block.counts.get("rconn", 1))
        system.wires += [[End(block.sid, "lconn", k), End(block.sid, "rconn", k)]
                         for k in range(1, count + 1)]


# -- tags that cross levels ---------------------------------------------------------------------
def _carry_tags(root: System) -> None:
    """Give every From whose Goto stands on another level the signal through ports."""
    chains = list(_chains(root, []))
    goto: dict[str, tuple[list[System], Block]] = {}
    for chain in chains:
        for block in chain[-1].of_type("Goto"):
            if block.options.get("TagVisibility", "local") != "local":
                goto[block.tag] = chain, block
    for chain in chains:
        system = chain[-1]
        local = {block.tag for block in system.of_type("Goto")}
        for block in system.of_type("From"):
            if block.tag not in local and block.tag in goto:
                _carry(block.tag, *goto[block.tag], chain, block)


def _chains(system: System, above: list[System]) -> Iterator[list[System]]:
    chain = [*above, system]
    yield chain
    for block in system.blocks.values():
        if block.system is not None:
            yield from _chains(block.system, chain)


def _carry(tag: str, origin: list[System], goto: Block, chain: list[System], use: Block) -> None:
    common = sum(one is other for one, other in zip(origin, chain, strict=False))
    source = origin[-1].driver_of(goto.sid)
    if source is None:
        return
    for outer, inner in reversed([*pairwise(origin)][common - 1:]):  # up to where both stand in
        source = _pass(tag, "out", outer, inner, source)
    for outer, inner in [*pairwise(chain)][common - 1:]:
        source = _pass(tag, "in", outer, inner, source)
    for signal in chain[-1].signals:
        if signal.source.sid == use.sid:
            signal.source = source
    del chain[-1].blocks[use.sid]


def _pass(tag: str, way: str, outer: System, inner: System, source: End) -> End:
    """Lead a signal out of a subsystem, or in, by a port of its own; what it is there."""
    sid, kind = f"goto {tag} {way}", "Outport" if way == "out" else "Inport"
    new = sid not in inner.blocks
    if new:
        number = 1 + max((block.number for block in inner.of_type(kind)), default=0)
        inner.blocks[sid] = Block(sid, tag, kind, kind, options={"Port": str(number)})
    holder = next(b.sid for b in outer.blocks.values() if b.system is inner)
    outside = End(holder, way, inner.blocks[sid].number)
    if way == "out":
        before, into, behind = inner, End(sid, "in", 1), outside
    else:
        before, into, behind = outer, outside, End(sid, "out", 1)
    if new:
        before.signals.append(Signal(source, [into]))
    return behind
