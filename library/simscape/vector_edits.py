"""How is a system changed where a vector of signals is taken apart?

The edits that all rules share: of signal lines, of lines for physical signals, and of blocks.
"""

from __future__ import annotations

import copy

from .diagram import Block, End, Signal, System
from .physical_vectors import JOIN
from .vectors import JOINING, inputs_of, origin

__all__ = ["WIDEST", "copies", "join", "join_physical", "joining", "move", "new_port", "rewire",
           "unplug"]  # fmt: skip

WIDEST = 200  # elements


def copies(system: System, block: Block, count: int) -> list[Block]:
    made = []
    for k in range(1, count + 1):
        one = copy.copy(block)
        one.sid, one.name = f"{block.sid}.{k}", f"{block.name} {k}"
        one.options = dict(block.options)
        system.blocks[one.sid] = one
        made.append(one)
    del system.blocks[block.sid]
    return made


def new_port(system: System, like: Block, k: int, name: str) -> tuple[Block, int]:
    """A further port block; its number is the next."""
    number = 1 + max(block.number for block in system.of_type(like.block_type))
    made = copy.copy(like)
    made.sid, made.name = f"{like.sid}.{k}", name or f"{like.name} {k}"
    made.options = {**like.options, "Port": str(number)}
    system.blocks[made.sid] = made
    return made, number


# -- signals --------------------------------------------------------------------------------------
def joining(system: System, sid: str, index: int) -> Block | None:
    """The block that joins the vector at an input."""
    driver = next((s.source for s in system.signals for t in s.targets
                   if (t.sid, t.port, t.index) == (sid, "in", index)), None)
    found = None if driver is None else origin(system, driver)
    block = None if found is None else system.blocks.get(found.sid)
    if block is None or block.block_type not in JOINING:
        return None
    return block if 1 < len(inputs_of(system, block)) <= WIDEST else None


def join(system: System, like: Block, sid: str, drivers: list[tuple[End, str]]) -> End:
    """A block that joins signals as another one does; its output."""
    made = copy.copy(like)
    made.sid, made.options = sid, dict(like.options)
    system.blocks[sid] = made
    system.signals += [Signal(source, [End(sid, "in", k)], name)
                       for k, (source, name) in enumerate(drivers, start=1)]
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


# -- physical signals -----------------------------------------------------------------------------
def join_physical(system: System, sid: str, ends: list[End]) -> End:
    ports = {f"lconn{k}": f"I{k}" for k in range(1, len(ends) + 1)} | {"rconn1": "O"}
    types = {name: "output" if name == "O" else "input" for name in ports.values()}
    system.blocks[sid] = Block(sid, "joined", JOIN, "Reference", ports=ports, types=types,
                               counts={"lconn": len(ends), "rconn": 1})
    system.wires += [[end, End(sid, "lconn", k)] for k, end in enumerate(ends, start=1)]
    return End(sid, "rconn", 1)


def rewire(system: System, end: End, to: End | None) -> None:
    """Let the lines at one end be at another, or at none."""
    instead = [] if to is None else [to]
    system.wires = [[e for one in wire for e in (instead if one == end else [one])]
                    for wire in system.wires]
