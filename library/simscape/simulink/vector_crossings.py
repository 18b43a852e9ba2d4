"""How does a vector of signals get through a border? Element by element.

Signals are scalars here. A vector that is joined on one side of a subsystem's border, of a
converter or of a block that works on every element, is joined again on the other side: its
elements cross. What joins them is then dissolved within one system.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from ..file.diagram import Block, End, Signal, System
from ..file.nodes import inner_port
from ..tables import content_of
from . import elementwise, vectors
from .signal_lines import TO_PHYSICAL, TO_SIMULINK
from .vectors import inputs_of, new_port, rewire

__all__ = ["carry_vectors"]

_MOST_PASSES = 50  # borders that one vector crosses
_MOST_NEW = 500  # blocks that are made in one system: what would be more stays a vector, a gap
# blocks that do the same to every element
_ELEMENTWISE = {*content_of("signal_blocks.json")["elementwise"]}
_STATE_SPACES = ("StateSpace", "DiscreteStateSpace")


def carry_vectors(root: System, names: Mapping[str, Any]) -> None:
    """Take every vector of a diagram apart, in place, at the borders it crosses.

    ``names`` are values that sources may use.
    """
    systems = [(system, len(system.blocks) + _MOST_NEW) for system in root.systems()]
    for system, most in systems:
        for block in list(system.blocks.values()):
            if len(system.blocks) < most and block.block_type in elementwise.SOURCES:
                elementwise.each(system, block, names)
            elif block.block_type == "DotProduct":
                elementwise.dot_product(system, block)
    joins = any(b.block_type in {*vectors.JOINING, *_STATE_SPACES} or b.kind == vectors.JOIN
                or elementwise.is_matrix(b, names) for b in root.walk())
    for _ in range(_MOST_PASSES if joins else 0):
        steps = [step for system, most in systems for step in _pass(system, most, names)]
        if not any(steps):
            return


def _pass(system: System, most: int, names: Mapping[str, Any]) -> Iterator[bool]:
    for block in list(system.blocks.values()):
        if len(system.blocks) >= most:
            return
        if block.system is not None:
            for kind, carry, inward in (("Outport", _signals, False), ("Inport", _signals, True),
                                        ("PMIOPort", _physical, False),
                                        ("PMIOPort", _physical, True)):
                yield from (carry(system, block, p, inward) for p in block.system.of_type(kind))
        elif elementwise.is_matrix(block, names):
            yield elementwise.weighted(system, block, names)
        elif block.block_type in _STATE_SPACES:
            yield elementwise.state_space(system, block, names)
        elif block.block_type in ("Sum", "MinMax", "Product") and elementwise.added(system, block):
            yield True
        elif block.kind == TO_PHYSICAL or block.block_type in _ELEMENTWISE:
            yield elementwise.each(system, block, names)
        elif block.kind == TO_SIMULINK:
            yield elementwise.each_number(system, block)


def _signals(outer: System, holder: Block, port: Block, inward: bool) -> bool:
    """Take a vector apart that is joined outside a border, or inside of it."""
    inner, number = holder.system, port.number
    assert inner is not None
    here, there = (outer, inner) if inward else (inner, outer)
    into, out = (End(holder.sid, "in", number), End(port.sid, "out")) if inward else (
        End(port.sid, "in"), End(holder.sid, "out", number))
    mux = vectors.joining(here, into.sid, into.index)
    if mux is None:
        return False
    vectors.unplug(here, into)
    drivers = []
    for k, (source, name) in enumerate(inputs_of(here, mux), start=1):
        made, further = new_port(inner, port, k, name)
        ends = End(holder.sid, into.port if inward else out.port, further), End(
            made.sid, out.port if inward else into.port)
        here.signals.append(Signal(source, [ends[not inward]], name))
        drivers.append((ends[inward], name))
    del inner.blocks[port.sid]
    joined = f"{port.sid}.join" if inward else f"{holder.sid}.{port.sid}"
    vectors.move(there, out, vectors.join(there, mux, joined, drivers))
    return True


def _ends_of(holder: Block, port: Block) -> tuple[End, End]:
    """The ends inside and outside of a subsystem that a physical port block is."""
    side = {"Left": "lconn", "Right": "rconn"}[port.options.get("Side", "Left")]
    outside = (End(holder.sid, side, k) for k in count(1))
    return End(port.sid, "rconn", 1), next(e for e in outside if inner_port(holder, e) is port)


def _physical(outer: System, holder: Block, port: Block, inward: bool) -> bool:
    """Take a physical vector apart that is joined outside a border, or inside of it."""
    inner = holder.system
    assert inner is not None
    own = _ends_of(holder, port)
    here, there = (outer, inner) if inward else (inner, outer)
    mux = vectors.joining_here(here, own[inward])
    if mux is None:
        return False
    made = [new_port(inner, port, k, "")[0] for k in range(1, vectors.width(mux) + 1)]
    ends = [_ends_of(holder, one) for one in made]  # the old one keeps its number
    here.wires += [[pair[inward], End(mux.sid, "lconn", k)] for k, pair in enumerate(ends, start=1)]
    rewire(here, own[inward], None)
    joined = f"{port.sid}.join" if inward else f"{holder.sid}.{port.sid}"
    rewire(there, own[not inward],
           vectors.join_physical(there, joined, [pair[not inward] for pair in ends]))
    return True
