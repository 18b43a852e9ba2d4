"""What stands in a model file: systems, blocks, lines, masks, settings?

Facts of the format were read in public models of the releases R2013b to R2026a. Nothing is
evaluated here: values are the texts of the file.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

from blocks import FileError

from ..tables import content_of
from .archive import Package, open_package

__all__ = ["Block", "Diagram", "End", "Mask", "Signal", "System", "Value", "folded",
           "read_diagram"]  # fmt: skip

# keys of a block's data that say nothing of its physics
_BESIDE = {*content_of("drawing.json")}
_OLD_PATHS = (
    ("foundation.physical_signal.", "foundation.signal."),
    ("elec.actuators.rotational.dc_motor", "ee.electromech.brushed.dc_motor"),
)
_SIDES = (("lconn", ("Left", "Top")), ("rconn", ("Right", "Bottom")))
_COUNTS = ("in", "out", "enable", "trigger", "state", "lconn", "rconn", "ifaction")


def folded(name: str) -> str:
    """A name with every run of white space as one blank."""
    return re.sub(r"\s+", " ", name)


@dataclass
class Value:
    """A parameter or a variable of a component, as written."""

    text: str
    unit: str = ""
    # whether the user has set the target of a variable; None of a parameter
    specify: bool | None = None
    priority: str = ""


@dataclass(frozen=True)
class End:
    """The end of a line at a port: ``End("12", "rconn", 1)``."""

    sid: str
    port: str
    index: int = 1

    @property
    def name(self) -> str:
        return f"{self.port}{self.index}"


@dataclass
class Signal:
    """A signal line from an output to inputs."""

    source: End
    targets: list[End]
    name: str = ""


# of Simulink's libraries that are not called simulink…, and generators of signals
_OF_SIMULINK = ("slpidlib", "pid_lib", "eePwmGenerator", "SignalEditorBlockLib")
_OF_SOURCES = ("SimscapeBlock", "SimscapeComponentBlock")


@dataclass
class Mask:
    """Parameters of a masked subsystem: texts by name, and those that are not evaluated."""

    values: dict[str, str]
    literal: set[str]
    initialisation: str = ""
    # of a menu or check box: what its choices are
    numbers: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass
class Block:
    """A block of a diagram.

    ``kind`` is the component's path (``foundation.mechanical.translational.mass``), of a utility
    block its path in the library, else the type of the Simulink block.
    """

    sid: str
    name: str
    kind: str
    block_type: str
    title: str = ""
    library: str = ""
    # parameters and variables of a component
    values: dict[str, Value] = field(default_factory=dict)
    # what else it has: parameters of Simulink blocks
    options: dict[str, str] = field(default_factory=dict)
    # names by place, {"lconn1": "R"}, where the file says them
    ports: dict[str, str] = field(default_factory=dict)
    # domains of these ports by name, or ``input`` and ``output``
    types: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # ports of each kind
    system: System | None = None
    mask: Mask | None = None
    commented: str = ""
    signals: bytes = field(default=b"", repr=False)  # what a Signal Builder keeps

    @property
    def simulink_name(self) -> str:
        """The name of a block of one of Simulink's own libraries; empty of any other."""
        library, _, inside = self.kind.partition("/")
        ours = library.startswith("simulink") or library in _OF_SIMULINK
        return inside.rpartition("/")[2] if ours else ""

    @property
    def number(self) -> int:
        """Which one of its kind a port block is."""
        return int(self.options.get("Port") or 1)

    @property
    def tag(self) -> str:
        """What joins a Goto and its From blocks."""
        return self.options.get("GotoTag", "A")

    @property
    def is_component(self) -> bool:
        """Whether it is of a component source, or of a library that is not here but physical."""
        if self.block_type in _OF_SOURCES or "." in self.kind and "/" not in self.kind:
            return True
        return self.block_type in ("Reference", "SubSystem") and self.system is None and \
            not self.kind.startswith("nesl_utility") and bool({"lconn", "rconn"} & {*self.counts})


@dataclass
class System:
    """One level of a diagram."""

    blocks: dict[str, Block] = field(default_factory=dict)  # by SID
    wires: list[list[End]] = field(default_factory=list)  # ends that one physical line joins
    signals: list[Signal] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # annotations

    def of_type(self, kind: str, tag: str = "") -> list[Block]:
        """Blocks of one type at this level, with a tag if one is given."""
        return [b for b in self.blocks.values() if b.block_type == kind and tag in ("", b.tag)]

    def driver_of(self, *sids: str) -> End | None:
        """What drives a block, of several inputs the first, of several blocks the first driven."""
        return next((s.source for sid in sids for s in self.signals for t in s.targets
                     if t.sid == sid), None)

    def walk(self) -> Iterator[Block]:
        """All blocks, those of subsystems after their own."""
        for block in self.blocks.values():
            yield block
            if block.system is not None:
                yield from block.system.walk()

    def systems(self) -> list[System]:
        """This system, and all systems in it."""
        return [self, *(block.system for block in self.walk() if block.system is not None)]


@dataclass
class Diagram:
    """A model, library or referenced subsystem as it stands in its file."""

    path: Path
    form: str  # "Model", "Library" or "Subsystem"
    release: str
    root: System
    settings: dict[str, str]  # of the solver: StopTime, SolverName, MaxStep …
    callbacks: dict[str, str]
    workspace: dict[str, str]  # WSDataSource and what belongs to it
    # values of Simulink blocks that the file does not repeat, by type
    defaults: dict[str, dict[str, str]]
    workspace_data: bytes = b""  # the model's own workspace where it is binary

    @property
    def name(self) -> str:
        return self.path.stem


def read_diagram(path: str | Path) -> Diagram:
    """Read a model file as it stands.

    Raises
    ------
    FileError
        Naming the part of the file that is damaged or missing.
    """
    package = open_package(path)
    document = package.xml("simulink/blockdiagram.xml")
    model = next((e for e in document.iter() if e.tag in ("Model", "Library", "Subsystem")
                  and e.find("System") is not None), None)  # fmt: skip
    if model is None:
        raise FileError(str(package.path), "its block diagram holds no model.",
                        "Take another copy, or save the model again.", code="simscape.part")
    own = _texts(model)
    root = model.find("System")
    assert root is not None
    reader = _Reader(package)
    return Diagram(
        path=package.path, form=model.tag, release=next((
            (e.text or "").strip() for name in ("mwcoreProperties", "coreProperties")
            if (part := package.named(f"metadata/{name}.xml")) is not None for e in part.iter()
            if e.tag.rpartition("}")[2] in ("matlabRelease", "version")), ""),
        root=reader.system(root), settings=_settings(package, own, document),
        callbacks={k: v for k, v in own.items() if k.endswith("Fcn") and v.strip()},
        workspace={k: v for k, v in _texts(next(model.iter("ModelWorkspace"), model)).items()
                   if k.startswith("WS")},
        defaults={block.get("BlockType", ""): _texts(block) for place in (
            model.find("BlockParameterDefaults"), package.named("simulink/bddefaults.xml"))
            if place is not None for block in place.iter("Block")},
        workspace_data=package.parts.get("simulink/modelWorkspace.mxarray", b""),
    )  # fmt: skip


def _texts(element: Element) -> dict[str, str]:
    """The ``P`` elements directly below one."""
    return {p.get("Name", ""): p.text or "" for p in element.findall("P")}


_RUN = ("StartTime", "StopTime", "SolverName", "Solver", "RelTol", "AbsTol", "MaxStep", "FixedStep")


def _settings(package: Package, own: dict[str, str], document: Element) -> dict[str, str]:
    """Solver settings: of their own part, or among those of the model."""
    found: dict[str, str] = {}
    part = package.named("simulink/configSet0.xml")
    first, last = ([(p.get("Name", ""), p.text or "") for p in place.iter("P")]
                   if place is not None else [] for place in (part, document))
    for name, text in [*first, *own.items(), *last]:
        if name in _RUN:
            found.setdefault(name, text)
    return found


class _Reader:
    """Reads systems, wherever in the package they stand."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.open: list[str] = []  # parts that are being read, each inside the last

    def system(self, element: Element) -> System:
        reference = element.get("Ref")
        if reference is not None:
            part = f"simulink/systems/{reference}.xml"
            if part in self.open:
                raise FileError(f"{self.package.path} ({part})", "this system contains itself.",
                                "The file is damaged.", code="simscape.damaged")
            self.open.append(part)
            made = self.system(self.package.xml(part))
            self.open.pop()
            return made
        made = System()
        for child in element:
            if child.tag == "Block":
                block = self._block(child)
                made.blocks[block.sid] = block
            elif child.tag == "Line":
                self._line(child, made)
            elif child.tag == "Annotation":
                text = _plain(_texts(child).get("Name") or child.get("Name") or "")
                made.notes += [text] if text else []
        return made

    def _line(self, line: Element, system: System) -> None:
        ends = [(p.get("Name"), end) for p in line.iter("P") if p.get("Name") in ("Src", "Dst")
                and (end := _end(p.text or "")) is not None]  # fmt: skip
        if line.get("LineType") == "Connection":
            system.wires += [[end for _, end in ends]] if len(ends) > 1 else []
            return
        sources = [end for word, end in ends if word == "Src"]
        targets = [end for word, end in ends if word == "Dst"]
        if sources and targets:
            system.signals.append(Signal(sources[0], targets, _texts(line).get("Name", "")))

    def _block(self, element: Element) -> Block:
        own = _texts(element)
        instance = element.find("InstanceData")
        data = {**own, **_texts(instance)} if instance is not None else own
        block_type = element.get("BlockType", "")
        block = Block(
            sid=element.get("SID", ""), name=folded(element.get("Name", "")),
            kind=_kind(block_type, data), block_type=block_type,
            title=folded(data.get("SourceType", "")), library=folded(data.get("SourceBlock", "")),
            counts=_counts(element, own), commented=own.get("Commented", "").replace("off", ""),
        )  # fmt: skip
        self._read_values(block, own, {} if instance is None else _texts(instance))
        _read_ports(block, element, data)
        kept = next((p.get("Ref", "") for p in element.findall("P")
                     if p.get("Name") == "SigBuilderData"), "").rpartition(":")[2]
        block.signals = self.package.parts.get(f"simulink/bdmxdata/{kept}.mxarray", b"")
        system, mask = element.find("System"), element.find("Mask")
        if system is not None:
            block.system = self.system(system)
        if mask is not None:
            block.mask = _mask(mask)
        return block

    def _read_values(self, block: Block, own: dict[str, str], instance: dict[str, str]) -> None:
        kept = {k: v for k, v in {**own, **instance}.items()
                if k not in _BESIDE and not k.startswith("SimscapeInstrumentation")}  # fmt: skip
        if block.block_type not in _OF_SOURCES and "." not in block.kind:
            block.options = kept
            return
        for name in filter(partial(_is_value, names=kept), kept):
            specify = kept.get(f"{name}_specify")
            block.values[name] = Value(
                kept[name], kept.get(f"{name}_unit", ""),
                None if specify is None else specify == "on", kept.get(f"{name}_priority", ""))


def _is_value(name: str, names: dict[str, str]) -> bool:
    """Whether this names a parameter or variable, rather than a property of one."""
    endings = ("_nominal_specify", "_nominal_value", "_nominal_unit", "_specify", "_priority",
               "_unit", "_conf")  # fmt: skip
    return not any(name.endswith(e) and name.removesuffix(e) in names for e in endings) and any(
        f"{name}{e}" in names for e in ("_unit", "_conf", "_specify"))


def _end(text: str) -> End | None:
    """``"12:4#rconn:1"`` as an end of a line."""
    sid, _, port = text.rpartition("#")
    name, _, index = port.partition(":")
    return End(sid, name, int(index) if index.isdigit() else 1) if sid and name else None


def _kind(block_type: str, data: dict[str, str]) -> str:
    path = data.get("ComponentPath") or data.get("SourceFile") or ""
    if block_type in ("Reference", "SimscapeBlock", "SimscapeComponentBlock") or path:
        for old, new in _OLD_PATHS:
            path = path.replace(old, new, 1) if path.startswith(old) else path
        return path or folded(data.get("SourceBlock", "")) or block_type
    return block_type


def _counts(element: Element, own: dict[str, str]) -> dict[str, int]:
    written = element.find("PortCounts")
    if written is not None:
        return {k: int(v) for k, v in written.attrib.items() if v.isdigit()}
    numbers = re.findall(r"\d+", own.get("Ports", ""))
    return {k: int(n) for k, n in zip(_COUNTS, numbers, strict=False) if int(n)}


def _read_ports(block: Block, element: Element, data: dict[str, str]) -> None:
    text = data.get("InternalSimscapePortConfiguration", "")
    with suppress(ValueError):
        sides = json.loads(text) if text.strip().startswith("{") else {}
        for place, names in _SIDES:
            found = [port for side in names for port in sides.get(side, ())]
            for k, port in enumerate(found, start=1):
                block.ports[f"{place}{k}"] = str(port.get("id", ""))
                block.types[str(port.get("id", ""))] = str(port.get("type", ""))
    properties = element.find("PortProperties")
    if properties is not None and not block.ports:
        block.ports |= {f"{port.get('Type')}{port.get('Index', '1')}": name
                        for port in properties.findall("Port")
                        if (name := _texts(port).get("PortId"))}


def _mask(element: Element) -> Mask:
    code = element.find("Initialization")
    mask = Mask({}, set(), (code.text or "") if code is not None else "")
    for parameter in element.iter("MaskParameter"):
        name = parameter.get("Name", "")
        value = parameter.find("Value")
        mask.values[name] = (value.text or "") if value is not None else ""
        if parameter.get("Evaluate") == "off":
            mask.literal.add(name)
        elif parameter.get("Type") == "checkbox":
            mask.numbers[name] = {"off": "0", "on": "1"}
        elif parameter.get("Type") == "popup":
            mask.numbers[name] = {option.text or "": str(k) for k, option in enumerate(
                parameter.iter("Option"), 1)}
    return mask


def _plain(text: str) -> str:
    """The words of an annotation, which may be HTML."""
    if "<" in text and ">" in text:
        text = re.sub(r"(?is)<(style|head|script)\b.*?</\1>", "", text)
        text = re.sub(r"(?i)<br\s*/?>|</p>", "\n", text)
        text = html.unescape(re.sub(r"<[^>]+>", "", text))
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
