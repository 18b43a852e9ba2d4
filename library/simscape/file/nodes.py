"""Which ends of lines are one node, and what is the port called that a line ends at?

A spring in series with a hard stop leaves the node between them open: in the gap no equation
determines its velocity. Simscape's implicit steps find one; here a very small damper in parallel
with the stop does, and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from networkx.utils import UnionFind

from ..matlab.python_text import number_text
from ..physical.mapping import word_of
from ..tables import content_of
from .diagram import Block, End, System

__all__ = ["NOTE", "inner_port", "loose_stop", "name_ports", "nodes_of", "small_damper"]

_STOPS = {"foundation.mechanical.translational.hardstop": ("translational.Damper", "N*s/m", 1e-3),
          "foundation.mechanical.rotational.hardstop": ("rotational.RotationalDamper",
                                                        "N*m*s/rad", 1e-5)}  # fmt: skip
_ELASTIC = {*_STOPS, "foundation.mechanical.translational.spring",
            "foundation.mechanical.rotational.spring"}  # fmt: skip
_UNSEEN = "nesl_utility/Solver Configuration"
_SHARE = 0.01  # of the stop's own damping

NOTE = ("Nothing but springs and stops hangs on one side of it, whose velocity nothing determines "
        "while the stop is open: a damper of a hundredth of its damping stands in parallel.")


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
    counts = [block.counts.get(side, 0) for side in ("lconn", "rconn")]
    for layout in _layouts(block, row["layouts"]):
        sides = [side.split() for side in layout]
        if [*map(len, sides)] == counts or not any(counts):
            block.ports = {f"{side}{k}": name for side, names in zip(
                ("lconn", "rconn"), sides, strict=True) for k, name in enumerate(names, start=1)}
            return


def _layouts(block: Block, layouts: list[list[str]]) -> list[list[str]]:
    """Return the layouts of ports, those first that the block's choices suggest."""
    chosen = {name: word_of(block.values[name])
              for name in ("reference", "velocity_port", "position_port") if name in block.values}
    if not chosen:
        return layouts
    on = ("1", "true", "on")

    def fits(layout: list[str]) -> int:
        right = {*layout[1].split()}
        return sum((("C" in right) == (chosen.get("reference") not in ("1", "absolute", "base")),
                    bool({"W", "V"} & right) == (chosen.get("velocity_port", "1") in on),
                    bool({"A", "P"} & right) == (chosen.get("position_port", "1") in on)))

    return sorted(layouts, key=fits, reverse=True)


def inner_port(block: Block, end: End) -> Block | None:
    """The port block inside a subsystem that one of its ends belongs to."""
    if block.system is None:
        return None
    inside = {"in": "Inport", "out": "Outport"}.get(end.port)
    if inside is not None:
        numbered = [(port.number, port) for port in block.system.of_type(inside)]
    else:
        side = {"lconn": "Left", "rconn": "Right"}.get(end.port)
        ports = [port for port in block.system.of_type("PMIOPort")
                 if port.options.get("Side", "Left") == side]
        numbered = [*enumerate(sorted(ports, key=lambda port: (port.number, port.sid)), start=1)]
    return next((port for number, port in numbered if number == end.index), None)


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


def loose_stop(blocks: Iterable[Block]) -> Block | None:
    """The stop of a node that only springs and stops are connected to."""
    found = [b for b in blocks if b.kind != _UNSEEN]
    stops = [b for b in found if b.kind in _STOPS]
    return stops[0] if stops and all(b.kind in _ELASTIC for b in found) else None


def small_damper(block: Block, damping: Any) -> tuple[str, dict[str, str]]:
    """Component and keywords of the damper for a stop, whose own damping may be told."""
    component, unit, least = _STOPS[block.kind]
    own = 0.0 if damping is None else float(damping.to(unit).magnitude)
    return component, {"damping": f'"{number_text(own * _SHARE or least)} {unit}"'}
