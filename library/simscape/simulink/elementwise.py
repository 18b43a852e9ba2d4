"""How does a block that a vector enters work on its elements?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..file.diagram import Block, End, Signal, System
from ..matlab.values import numbers_of
from ..tables import content_of
from . import vectors
from .signal_lines import TO_PHYSICAL
from .vectors import MUX, WIDEST, copies, feed, inputs_of, join, joining, move, unplug

__all__ = ["SOURCES", "added", "dot_product", "each", "each_number", "is_matrix", "state_space",
           "weighted"]  # fmt: skip

SOURCES = ("Constant", "Sin", "Step", "DiscretePulseGenerator")
_EACH = content_of("signal_blocks.json")["values that may be vectors"]


def each(system: System, block: Block, names: Mapping[str, Any]) -> bool:
    """A block that does the same to every element of its vectors: one for each of them.

    Vectors are inputs, and values that are read so; a scalar input stands beside every element,
    and so does an element each of one that turns out to be a vector, as in a feedback.
    """
    ends = sorted({t.index for s in system.signals for t in s.targets
                   if (t.sid, t.port) == (block.sid, "in")})
    joins = {k: joining(system, block.sid, k) for k in ends}
    values = _vectors(block, names)
    drivers = {k: inputs_of(system, mux) for k, mux in joins.items() if mux is not None}
    widths = {*map(len, drivers.values()), *(value.size for value in values.values())}
    others = [text for word, text in block.options.items() if word not in values]
    if len(widths) != 1 or max(widths) > WIDEST or any("[" in text for text in others):
        return False  # another value is an array
    beside = dict(zip(ends, inputs_of(system, block), strict=True))
    for k in ends:
        unplug(system, End(block.sid, "in", k))
    made = copies(system, block, widths.pop())
    for k in set(ends) - drivers.keys():
        drivers[k] = _spread(system, f"{block.sid}.in{k}", *beside[k], len(made))
    for n, one in enumerate(made):
        one.options |= {word: f"{value[n]:.15g}" for word, value in values.items()}
        for k in ends:
            source, name = drivers[k][n]
            system.signals.append(Signal(source, [End(one.sid, "in", k)], name))
    if block.kind == TO_PHYSICAL:
        whole = vectors.join_physical(system, f"{block.sid}.join",
                               [End(one.sid, "rconn", 1) for one in made])
        vectors.rewire(system, End(block.sid, "rconn", 1), whole)
    else:
        first, mux = next(((k, mux) for k, mux in joins.items() if mux is not None), (0, MUX))
        called = drivers[first] if first else [(End("", "", 0), "")] * len(made)
        move(system, End(block.sid, "out", 1), join(
            system, mux, f"{block.sid}.join",
            [(End(one.sid, "out", 1), name) for one, (_, name) in zip(made, called, strict=True)]))
    return True


def _spread(system: System, sid: str, source: End, name: str, count: int) -> list[tuple[End, str]]:
    """An element each of what may be a vector, or the scalar each time."""
    system.blocks[sid] = Block(sid, "apart", "Demux", "Demux",
                               options={"Outputs": str(count), "Spread": "on"})
    feed(system, sid, [(source, name)])
    return [(End(sid, "out", k), name) for k in range(1, count + 1)]


def _vectors(block: Block, names: Mapping[str, Any]) -> dict[str, Any]:
    """Which values of a block are vectors, of those that may be so."""
    values = {word: numbers_of(block.options[word], names)
              for word in _EACH.get(block.block_type, ()) if word in block.options}
    return {word: value.ravel() for word, value in values.items()
            if value.size > 1 and value.size == max(value.shape)}


def state_space(system: System, block: Block, names: Mapping[str, Any]) -> bool:
    """A state space of several inputs or outputs: a port for each."""
    b, c = (np.atleast_2d(numbers_of(block.options.get(name, "1"), names)) for name in "BC")
    inputs, outputs = min(b.shape[1], WIDEST), min(c.shape[0], WIDEST)
    mux, changed = joining(system, block.sid, 1), False
    if inputs > 1 and mux is not None and len(drivers := inputs_of(system, mux)) == inputs:
        unplug(system, End(block.sid, "in", 1))
        feed(system, block.sid, drivers)
        changed = True
    joined = f"{block.sid}.join"
    if outputs > 1 and joined not in system.blocks:
        move(system, End(block.sid, "out", 1), End(joined, "out", 1))
        join(system, MUX, joined, [(End(block.sid, "out", k), "") for k in range(1, outputs + 1)])
        changed = True
    return changed


def dot_product(system: System, block: Block) -> None:
    """The sum of the products of the elements of two vectors."""
    product = _put(system, f"{block.sid}.p", f"{block.name} product", "Product", {"Inputs": "2"},
                   [])
    for signal in system.signals:
        signal.targets = [End(product.sid, t.port, t.index) if t.sid == block.sid else t
                          for t in signal.targets]
    feed(system, block.sid, [(product, "")])
    block.block_type = block.kind = "Sum"
    block.options = {"Inputs": "+"}


def each_number(system: System, block: Block) -> bool:
    """A converter to numbers that a physical vector enters: one for every element."""
    mux = vectors.joining_here(system, End(block.sid, "lconn", 1))
    if mux is None:
        return False
    made = copies(system, block, vectors.width(mux))
    system.wires += [[End(one.sid, "lconn", 1), End(mux.sid, "lconn", k)]
                     for k, one in enumerate(made, start=1)]
    vectors.rewire(system, End(block.sid, "lconn", 1), None)
    move(system, End(block.sid, "out", 1), join(
        system, MUX, f"{block.sid}.join", [(End(one.sid, "out", 1), "") for one in made]))
    return True


def added(system: System, block: Block) -> bool:
    """A sum, product or extremum of one input takes the elements of a vector."""
    signs = block.options.get("Inputs", "1" if block.block_type == "MinMax" else "++")
    signs = signs.replace("|", "")
    mux = joining(system, block.sid, 1) if signs in ("1", "+", "-", "*") else None
    if mux is None:
        return False
    drivers = inputs_of(system, mux)
    unplug(system, End(block.sid, "in", 1))
    block.options["Inputs"] = "-" * len(drivers) if signs == "-" else str(len(drivers))
    feed(system, block.sid, drivers)
    return True


def is_matrix(block: Block, names: Mapping[str, Any]) -> bool:
    """Whether a gain is a vector or a matrix."""
    return block.block_type == "Gain" and np.size(_gains(block, names)) > 1


def _gains(block: Block, names: Mapping[str, Any]) -> Any:
    """The gains of a block by output and input, as numbers; empty where they are not known."""
    gains = np.atleast_2d(numbers_of(block.options.get("Gain", "1"), names))
    if _takes_each(block) and gains.size > 1:
        return np.diag(gains.ravel())
    return gains.T if "u*K" in block.options.get("Multiplication", "") else gains


def _takes_each(block: Block) -> bool:
    return block.options.get("Multiplication", "Element-wise").startswith("Element-wise")


def weighted(system: System, block: Block, names: Mapping[str, Any]) -> bool:
    """A gain that is a vector or a matrix: a sum of gains for every output."""
    gains, whole = _gains(block, names), joining(system, block.sid, 1)
    drivers = inputs_of(system, block if whole is None else whole)
    if len(drivers) == 1 and whole is None and _takes_each(block):  # a gain for every output
        gains = np.diag(gains).reshape(-1, 1)
    if gains.size < 2 or gains.shape[1] != len(drivers) or gains.size > WIDEST:
        return False
    unplug(system, End(block.sid, "in", 1))
    del system.blocks[block.sid]
    ends, text = [], block.options.get("Gain", "1")
    for k, row in enumerate(gains, 1):
        number, parts = "" if len(gains) == 1 else f" {k}", []
        for j, (gain, (driver, _)) in enumerate(zip(row, drivers, strict=True), 1):
            if gain != 0 or not np.any(row):
                written = f"{text}({j})" if text.isidentifier() and not number else f"{gain:.15g}"
                parts.append(_put(system, f"{block.sid}.{k}.{j}", f"{block.name}{number} {j}",
                                  "Gain", {"Gain": written}, [driver]))
        ends += parts if len(parts) == 1 else [_put(
            system, f"{block.sid}.{k}", f"{block.name}{number}", "Sum",
            {"Inputs": "+" * len(parts)}, parts)]
    move(system, End(block.sid, "out", 1), ends[0] if len(ends) == 1 else join(
        system, MUX, f"{block.sid}.join", [(e, "") for e in ends]))
    return True


def _put(system: System, sid: str, name: str, kind: str, options: dict[str, str],
         drivers: list[End]) -> End:
    """A new block with what drives it; its output."""
    system.blocks[sid] = Block(sid, name, kind, kind, options=options)
    feed(system, sid, [(driver, "") for driver in drivers])
    return End(sid, "out", 1)
