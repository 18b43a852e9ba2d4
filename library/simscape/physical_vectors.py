"""Which lines do a PS Concatenate and the PS Selectors behind it stand for?

Physical signals are scalars here: an element that is joined and picked again within one system
becomes a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .diagram import Block, End, System
from .matlab_values import numbers_of

__all__ = ["JOIN", "dissolve_physical_vectors", "joining_here", "width", "wire_at"]

JOIN = "foundation.signal.functions.concatenate"
_PICK = "foundation.signal.nonlinear.selector"
_ADD = "foundation.signal.functions.sum_of_elements"
_WIDEST = 1000  # elements of a vector


def dissolve_physical_vectors(system: System, names: Mapping[str, Any]) -> None:
    """Replace selectors and sums of a vector that is joined in the same system, in place.

    ``names`` are values that an index may use.
    """
    for block in list(system.blocks.values()):
        if block.kind == _PICK:
            chosen = _element(system, block, names)
            if chosen is not None:
                system.wires.append([End(block.sid, "rconn", 1), chosen])
                del system.blocks[block.sid]
        elif block.kind == _ADD:
            _add(system, block)
    for block in list(system.blocks.values()):
        used = {end.sid for end in wire_at(system, End(block.sid, "rconn", 1))} - {block.sid}
        if block.kind == JOIN and not used & system.blocks.keys():
            del system.blocks[block.sid]


def _add(system: System, block: Block) -> None:
    """Give a sum of the elements of a vector an input for each."""
    whole = _elements(system, End(block.sid, "lconn", 1))
    if len(whole) < 2:
        return
    system.wires = [[e for e in wire if e != End(block.sid, "lconn", 1)] for wire in system.wires]
    names = [f"I{k}" for k in range(1, len(whole) + 1)]
    block.ports = {f"lconn{k}": name for k, name in enumerate(names, start=1)} | {"rconn1": "O"}
    block.types = dict.fromkeys(names, "input") | {"O": "output"}
    system.wires += [[end, End(block.sid, "lconn", k)] for k, end in enumerate(whole, start=1)]


def wire_at(system: System, end: End) -> list[End]:
    """All ends of the lines at a port."""
    return [e for wire in system.wires if end in wire for e in wire]


def _element(system: System, block: Block, names: Mapping[str, Any]) -> End | None:
    """The end that a selector's output stands for, where its index is one number."""
    index = np.ravel(numbers_of(block.values["ix"].text, names) if "ix" in block.values else [])
    whole = _elements(system, End(block.sid, "lconn", 1))
    if len(index) != 1 or not 1 <= index[0] <= len(whole):
        return None
    return whole[int(index[0]) - 1]


def _elements(system: System, end: End, known: dict[str, list[End]] | None = None) -> list[End]:
    """The scalar signals of a vector that is joined here, each line followed once."""
    known, block = {} if known is None else known, joining_here(system, end)
    if block is None:
        return [end]
    if block.sid not in known:
        known[block.sid] = []  # of a circle of joined lines
        known[block.sid] = [e for k in range(1, width(block) + 1) for e in _elements(
            system, End(block.sid, "lconn", k), known)][:_WIDEST]
    return known[block.sid]


def joining_here(system: System, end: End) -> Block | None:
    """The block that joins the physical vector at an end."""
    for other in wire_at(system, end):
        block = system.blocks.get(other.sid)
        if block is not None and block.kind == JOIN and other.port == "rconn":
            return block
    return None


def width(block: Block) -> int:
    return block.counts.get("lconn") or 2
