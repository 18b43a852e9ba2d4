"""Which lines do a PS Concatenate and the PS Selectors behind it stand for?

Physical signals are scalars here: an element that is joined and picked again within one system
becomes a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .diagram import Block, End, System
from .matlab import NotUnderstood, parse
from .matlab_values import Unknown, evaluate

__all__ = ["dissolve_physical_vectors"]

_JOIN = "foundation.signal.functions.concatenate"
_PICK = "foundation.signal.nonlinear.selector"
_DEEPEST = 30


def dissolve_physical_vectors(system: System, names: Mapping[str, Any]) -> list[str]:
    """Replace selectors whose vector is joined in the same system; returns their names.

    Parameters
    ----------
    system : System
        Changed in place.
    names : mapping
        Values that an index may use.
    """
    done = []
    for block in list(system.blocks.values()):
        if block.kind == _PICK:
            chosen = _element(system, block, names)
            if chosen is not None:
                _short(system, End(block.sid, "rconn", 1), chosen)
                _remove(system, block)
                done.append(block.name)
    for block in list(system.blocks.values()):
        used = {end.sid for end in _wire(system, End(block.sid, "rconn", 1))} - {block.sid}
        if block.kind == _JOIN and done and not used & system.blocks.keys():
            _remove(system, block)
            done.append(block.name)
    return done


def _wire(system: System, end: End) -> list[End]:
    """All ends of the lines at a port."""
    return [e for wire in system.wires if end in wire for e in wire]


def _element(system: System, block: Block, names: Mapping[str, Any]) -> End | None:
    """The end that a selector's output stands for, where its index is one number."""
    try:
        index = np.ravel(evaluate(parse(block.values["ix"].text), names))
    except (KeyError, NotUnderstood, Unknown):
        return None
    whole = _elements(system, End(block.sid, "lconn", 1), 0)
    if len(index) != 1 or not 1 <= index[0] <= len(whole):
        return None
    return whole[int(index[0]) - 1]


def _elements(system: System, end: End, depth: int) -> list[End]:
    """The scalar signals of a vector that is joined here."""
    for other in _wire(system, end):
        block = system.blocks.get(other.sid)
        if block is not None and block.kind == _JOIN and other.port == "rconn" \
                and depth < _DEEPEST:
            count = block.counts.get("lconn") or 2
            return [e for k in range(1, count + 1)
                    for e in _elements(system, End(block.sid, "lconn", k), depth + 1)]
    return [end]


def _short(system: System, end: End, other: End) -> None:
    system.wires.append([end, other])


def _remove(system: System, block: Block) -> None:
    """Take a block out; the lines at one of its outputs and at an input stay lines."""
    del system.blocks[block.sid]
