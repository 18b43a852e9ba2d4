"""Which ends of lines are one node, and what is the port called that a line ends at?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from networkx.utils import UnionFind

from .data import content_of
from .diagram import Block, End, System
from .mapping import word_of

__all__ = ["inner_port", "name_ports", "nodes_of"]


def port_table() -> dict[str, Any]:
    """Names of ports by component path, as public models have them."""
    found: dict[str, Any] = content_of("ports.json")
    return found


@cache
def _paths_in_library() -> dict[str, str]:
    return {row["library"]: path for path, row in port_table().items()}


def name_ports(block: Block) -> None:
    """Give a physical block the names of its ports, and the domains, from the table."""
    if block.kind not in port_table() and block.library in _paths_in_library():
        block.kind = _paths_in_library()[block.library]  # an old file that names no component
    row = port_table().get(block.kind)
    if row is None:
        return
    for name, domain in row["types"].items():
        block.types.setdefault(name, domain)
    if block.ports:
        return
    counts = tuple(block.counts.get(side, 0) for side in ("lconn", "rconn"))
    for layout in _layouts(block, row["layouts"]):
        sides = [side.split() for side in layout]
        if tuple(map(len, sides)) == counts or not any(counts):
            for side, names in zip(("lconn", "rconn"), sides, strict=True):
                block.ports |= {f"{side}{k}": name for k, name in enumerate(names, start=1)}
            block.ports_from = "table"
            return


def _layouts(block: Block, layouts: list[list[str]]) -> list[list[str]]:
    """Return the layouts of ports, those first that the block's choices suggest."""
    chosen = {name: word_of(block.values[name])
              for name in ("reference", "velocity_port", "position_port") if name in block.values}
    if not chosen:
        return layouts
    on = ("1", "true", "on")

    def fits(layout: list[str]) -> int:
        right = layout[1].split()
        score = int(("C" in right) == (chosen.get("reference") not in ("1", "absolute", "base")))
        score += bool({"W", "V"} & set(right)) == (chosen.get("velocity_port", "1") in on)
        score += bool({"A", "P"} & set(right)) == (chosen.get("position_port", "1") in on)
        return score

    return sorted(layouts, key=fits, reverse=True)


def inner_port(block: Block, end: End) -> Block | None:
    """The port block inside a subsystem that one of its ends belongs to."""
    if block.system is None:
        return None
    return next((inside for inside, number in _numbered(block.system, end.port)
                 if number == end.index), None)


_INSIDE = {"in": "Inport", "out": "Outport"}


def _numbered(system: System, port: str) -> Iterator[tuple[Block, int]]:
    """Port blocks of one kind in a subsystem, and which index each has outside."""
    if port in _INSIDE:
        yield from ((block, block.number) for block in system.of_type(_INSIDE[port]))
        return
    side = {"lconn": "Left", "rconn": "Right"}.get(port)
    found = sorted((b.number, b.sid) for b in system.of_type("PMIOPort")
                   if b.options.get("Side", "Left") == side)
    for k, (_, sid) in enumerate(found, start=1):
        yield system.blocks[sid], k


def nodes_of(system: System) -> list[list[End]]:
    """The physical nodes of one level: ends at its blocks, labels and shared ports dissolved."""
    groups, found = UnionFind(), dict[Any, list[End]]()
    for wire in system.wires:
        groups.union(*wire)
    label = {b.sid: b.options.get("Label", "") for b in system.of_type("ConnectionLabel")}
    for text in dict.fromkeys(label.values()):
        groups.union(*(e for wire in system.wires for e in wire if label.get(e.sid) == text))
    for end in groups:
        if end.sid not in label:
            found.setdefault(groups[end], []).append(end)
    return list(found.values())
