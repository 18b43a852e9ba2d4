"""Which scalar signals is a vector made of, and how is a system changed that takes it apart?

Signals of this toolkit are scalars: what is joined by a Mux or a bus and taken apart again by a
Demux, a Selector or a Bus Selector becomes a connection of each element, within one system; and so
does what a PS Concatenate joins and PS Selectors pick of physical signals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..file.diagram import Block, End, Signal, System
from ..matlab.values import numbers_of
from .signal_part import many

__all__ = [
    "JOIN", "JOINING", "MUX", "SPLITTING", "WIDEST", "copies", "dissolve_physical_vectors",
    "elements", "feed", "inputs_of", "join", "join_physical", "joining", "joining_here", "move",
    "new_port", "origin", "rewire", "unplug", "width"]  # fmt: skip

JOINING = {"Mux", "BusCreator", "VectorConcatenate", "Concatenate"}
SPLITTING = {"Demux", "BusSelector", "Selector"}
JOIN = "foundation.signal.functions.concatenate"
MUX = Block("", "joined", "Mux", "Mux")
WIDEST = 200  # elements of a vector that crosses a border
_DEEPEST = 30
_WIDEST = 1000  # elements of a vector


def elements(system: System, source: End, known: dict[End, list[End]] | None = None) -> list[End]:
    """The scalar outputs that a signal is made of; itself where it is no vector.

    ``known`` holds what has been followed: a vector may be joined with itself again and again.
    """
    source = origin(system, source)
    known = {} if known is None else known
    if source not in known:
        known[source] = []  # of a circle of joined lines
        known[source] = _elements(system, source, known)[:_WIDEST]
    return known[source]


def _elements(system: System, source: End, known: dict[End, list[End]]) -> list[End]:
    block = system.blocks.get(source.sid)
    if block is None:
        return []
    if block.block_type in JOINING:
        return [e for driver, _ in inputs_of(system, block)
                for e in elements(system, driver, known)]
    if block.block_type in SPLITTING:
        return _taken(system, block, source.index, known)
    return [source]


def origin(system: System, source: End) -> End:
    """What a signal is taken from unchanged: tags and conversions of its type are followed."""
    for _ in range(_DEEPEST):
        block = system.blocks.get(source.sid)
        if block is None:
            break
        ends = system.of_type("Goto", block.tag) if block.block_type == "From" else \
            [block] * (block.block_type == "SignalConversion")
        driver = system.driver_of(*(end.sid for end in ends))
        if driver is None:
            break
        source = driver
    return source


def inputs_of(system: System, block: Block) -> list[tuple[End, str]]:
    """What drives the inputs of a block, in their order, and how the lines are called."""
    found = [(target.index, signal.source, signal.name) for signal in system.signals
             for target in signal.targets if target.sid == block.sid and target.port == "in"]
    return [(source, name) for _, source, name in sorted(found, key=lambda row: row[0])]


def _taken(system: System, block: Block, index: int, known: dict[End, list[End]]) -> list[End]:
    """What an output of a Demux, a Selector or a Bus Selector takes out of its input."""
    drivers = inputs_of(system, block)
    if not drivers:
        return []
    if block.block_type == "BusSelector":
        wanted = block.options.get("OutputSignals", "signal1,signal2,signal3").split(",")
        return _named(system, drivers[0][0], wanted[index - 1].strip()) \
            if index <= len(wanted) else []
    whole = elements(system, drivers[0][0], known)
    if len(whole) == 1 and "Spread" in block.options:
        return whole
    if block.block_type == "Selector":
        base = 0 if block.options.get("IndexMode", "One-based") == "Zero-based" else 1
        return [whole[n - base] for n in _picked(block) if 0 <= n - base < len(whole)]
    written = re.findall(r"\d+", block.options.get("Outputs", "4"))
    widths = list(map(int, written)) if len(written) > 1 else [
        max(len(whole) // int(n), 1) for n in written for _ in range(int(n))]
    begin = sum(widths[:index - 1])
    return whole[begin:begin + widths[index - 1]] if index <= len(widths) else []


def _picked(block: Block) -> list[int]:
    """The numbers of the elements that a Selector takes; none where a signal says them."""
    way = block.options.get("IndexOptions", "Index vector (dialog)")
    if way not in ("Index vector (dialog)", "Starting index (dialog)") or block.options.get(
            "NumberOfDimensions", "1") != "1":
        return []
    first, size = (np.ravel(numbers_of(block.options.get(name, "1"), {})).astype(int)
                   for name in ("Indices", "OutputSizes"))
    if not first.size or not size.size:
        return []
    return [int(n) for n in (first if way.startswith("Index") else
                             np.arange(first[0], first[0] + min(size[0], _WIDEST)))]


def _passed_name(system: System, driver: End) -> str:
    """What a line without a name is called after: an input, or the block of a tag."""
    block = system.blocks.get(driver.sid)
    if block is not None and block.block_type in ("Inport", "From"):
        return block.options.get("GotoTag", "") or block.name
    inside = [] if block is None or block.system is None else block.system.of_type("Outport")
    return next((port.name for port in inside if port.number == driver.index), "")


def _named(system: System, source: End, path: str) -> list[End]:
    """The element of a bus by its path, ``"motor.speed"``."""
    source = origin(system, source)
    block = system.blocks.get(source.sid)
    if block is None or block.block_type != "BusCreator":
        return []
    first, _, rest = path.partition(".")
    said = re.findall(r"'([^']*)'", block.options.get("Inputs", ""))
    for k, (driver, name) in enumerate(inputs_of(system, block), start=1):
        passed = _passed_name(system, driver)
        own = said[k - 1] if k <= len(said) else ""
        if first in (name, own, passed, f"signal{k}"):
            return _named(system, driver, rest) if rest else elements(system, driver)
    return []


# -- physical signals -----------------------------------------------------------------------------
def dissolve_physical_vectors(system: System, names: Mapping[str, Any]) -> None:
    """Replace selectors and sums of a vector that is joined in the same system, in place.

    ``names`` are values that an index may use.
    """
    for block in list(system.blocks.values()):
        if block.kind == "foundation.signal.nonlinear.selector":
            index = np.ravel(
                numbers_of(block.values["ix"].text, names) if "ix" in block.values else [])
            whole = _joined(system, End(block.sid, "lconn", 1))
            if len(index) == 1 and 1 <= index[0] <= len(whole):
                system.wires.append([End(block.sid, "rconn", 1), whole[int(index[0]) - 1]])
                del system.blocks[block.sid]
        elif block.kind == "foundation.signal.functions.sum_of_elements":
            whole = _joined(system, End(block.sid, "lconn", 1))
            if len(whole) > 1:
                rewire(system, End(block.sid, "lconn", 1), None)
                _wire(system, block, whole)
    for block in list(system.blocks.values()):
        used = {end.sid for end in _wire_at(system, End(block.sid, "rconn", 1))} - {block.sid}
        if block.kind == JOIN and not used & system.blocks.keys():
            del system.blocks[block.sid]


def _wire(system: System, block: Block, ends: list[End]) -> None:
    """Give a block as many inputs, and one output."""
    names = many("I", len(ends))
    block.ports = {f"lconn{k}": name for k, name in enumerate(names, start=1)} | {"rconn1": "O"}
    block.types = dict.fromkeys(names, "input") | {"O": "output"}
    system.wires += [[end, End(block.sid, "lconn", k)] for k, end in enumerate(ends, start=1)]


def _wire_at(system: System, end: End) -> list[End]:
    return [e for wire in system.wires if end in wire for e in wire]


def _joined(system: System, end: End, known: dict[str, list[End]] | None = None) -> list[End]:
    """The scalar signals of a vector that is joined here, each line followed once."""
    known, block = {} if known is None else known, joining_here(system, end)
    if block is None:
        return [end]
    if block.sid not in known:
        known[block.sid] = []  # of a circle of joined lines
        known[block.sid] = [e for k in range(1, width(block) + 1) for e in _joined(
            system, End(block.sid, "lconn", k), known)][:_WIDEST]
    return known[block.sid]


def joining_here(system: System, end: End) -> Block | None:
    for other in _wire_at(system, end):
        block = system.blocks.get(other.sid)
        if block is not None and block.kind == JOIN and other.port == "rconn":
            return block
    return None


def width(block: Block) -> int:
    return block.counts.get("lconn") or 2


# -- edits ----------------------------------------------------------------------------------------
def copies(system: System, block: Block, count: int) -> list[Block]:
    made = [replace(block, sid=f"{block.sid}.{k}", name=f"{block.name} {k}",
                    options=dict(block.options)) for k in range(1, count + 1)]
    system.blocks |= {one.sid: one for one in made}
    del system.blocks[block.sid]
    return made


def new_port(system: System, like: Block, k: int, name: str) -> tuple[Block, int]:
    """A further port block; its number is the next."""
    number = 1 + max(block.number for block in system.of_type(like.block_type))
    made = replace(like, sid=f"{like.sid}.{k}", name=name or f"{like.name} {k}",
                   options={**like.options, "Port": str(number)})
    system.blocks[made.sid] = made
    return made, number


def joining(system: System, sid: str, index: int) -> Block | None:
    driver = next((s.source for s in system.signals for t in s.targets
                   if (t.sid, t.port, t.index) == (sid, "in", index)), None)
    block = None if driver is None else system.blocks.get(origin(system, driver).sid)
    if block is None or block.block_type not in JOINING:
        return None
    return block if 1 < len(inputs_of(system, block)) <= WIDEST else None


def feed(system: System, sid: str, drivers: Iterable[tuple[End, str]]) -> None:
    """Let signals, each with the name of its line, drive the inputs of a block."""
    system.signals += [Signal(source, [End(sid, "in", k)], name)
                       for k, (source, name) in enumerate(drivers, start=1)]


def join(system: System, like: Block, sid: str, drivers: Iterable[tuple[End, str]]) -> End:
    """A block that joins signals as another one does; its output."""
    system.blocks[sid] = replace(like, sid=sid, options=dict(like.options))
    feed(system, sid, drivers)
    return End(sid, "out", 1)


def unplug(system: System, end: End) -> None:
    for signal in system.signals:
        signal.targets = [t for t in signal.targets if t != end]
    system.signals = [s for s in system.signals if s.targets]


def move(system: System, source: End, to: End) -> None:
    """Let another output drive what one drives."""
    for signal in system.signals:
        if signal.source == source:
            signal.source = to


def join_physical(system: System, sid: str, ends: list[End]) -> End:
    system.blocks[sid] = Block(sid, "joined", JOIN, "Reference",
                               counts={"lconn": len(ends), "rconn": 1})
    _wire(system, system.blocks[sid], ends)
    return End(sid, "rconn", 1)


def rewire(system: System, end: End, to: End | None) -> None:
    """Let the lines at one end be at another, or at none."""
    instead = [] if to is None else [to]
    system.wires = [[e for one in wire for e in (instead if one == end else [one])]
                    for wire in system.wires]
