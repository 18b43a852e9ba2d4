"""How does a block that a vector enters work on its elements?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .diagram import Block, End, Signal, System
from .matlab_values import numbers_of
from .signal_lines import TO_PHYSICAL
from .vector_edits import (
    WIDEST,
    copies,
    join,
    join_physical,
    joining,
    joining_here,
    move,
    rewire,
    unplug,
    width,
)
from .vectors import inputs_of

__all__ = ["added", "each", "each_number", "is_matrix", "sources", "weighted"]


def each(system: System, block: Block) -> bool:
    """A block of one input that a vector enters: one for every element."""
    mux = joining(system, block.sid, 1)
    if mux is None:
        return False
    drivers = inputs_of(system, mux)
    unplug(system, End(block.sid, "in", 1))
    made = copies(system, block, len(drivers))
    system.signals += [Signal(source, [End(one.sid, "in", 1)], name)
                       for one, (source, name) in zip(made, drivers, strict=True)]
    if block.kind == TO_PHYSICAL:
        whole = join_physical(system, f"{block.sid}.join",
                               [End(one.sid, "rconn", 1) for one in made])
        rewire(system, End(block.sid, "rconn", 1), whole)
    else:
        move(system, End(block.sid, "out", 1), join(
            system, mux, f"{block.sid}.join",
            [(End(one.sid, "out", 1), name) for one, (_, name) in zip(made, drivers,
                                                                      strict=True)]))
    return True


def each_number(system: System, block: Block) -> bool:
    """A converter to numbers that a physical vector enters: one for every element."""
    mux = joining_here(system, End(block.sid, "lconn", 1))
    if mux is None:
        return False
    made = copies(system, block, width(mux))
    system.wires += [[End(one.sid, "lconn", 1), End(mux.sid, "lconn", k)]
                     for k, one in enumerate(made, start=1)]
    rewire(system, End(block.sid, "lconn", 1), None)
    mux = Block(f"{block.sid}.join", "joined", "Mux", "Mux")
    move(system, End(block.sid, "out", 1), join(
        system, mux, mux.sid, [(End(one.sid, "out", 1), "") for one in made]))
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
    system.signals += [Signal(source, [End(block.sid, "in", k)], name)
                       for k, (source, name) in enumerate(drivers, start=1)]
    return True


def is_matrix(block: Block, names: Mapping[str, Any]) -> bool:
    """Whether a gain is a vector or a matrix."""
    return block.block_type == "Gain" and np.size(_gains(block, names)) > 1


def _gains(block: Block, names: Mapping[str, Any]) -> Any:
    """The gains of a block by output and input, as numbers; empty where they are not known."""
    gains = np.atleast_2d(numbers_of(block.options.get("Gain", "1"), names))
    if _takes_each(block):
        return np.diag(gains.ravel()) if gains.size > 1 else gains
    return gains.T if "u*K" in block.options["Multiplication"] else gains


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
    ends = [_row(system, block, k, row, [source for source, _ in drivers],
                 "" if len(gains) == 1 else f" {k}") for k, row in enumerate(gains, 1)]
    if len(ends) == 1:
        move(system, End(block.sid, "out", 1), ends[0])
        return True
    mux = Block(f"{block.sid}.join", "joined", "Mux", "Mux")
    move(system, End(block.sid, "out", 1), join(system, mux, mux.sid, [(e, "") for e in ends]))
    return True


def _row(system: System, block: Block, k: int, row: Any, drivers: list[End], number: str) -> End:
    """One output of a matrix of gains; its end."""
    text = block.options.get("Gain", "1")
    made = []
    for j, (gain, driver) in enumerate(zip(row, drivers, strict=True), 1):
        if gain == 0 and np.any(row):
            continue
        sid = f"{block.sid}.{k}.{j}"
        named = text.isidentifier() and not number
        options = {"Gain": f"{text}({j})" if named else f"{gain:.15g}"}
        system.blocks[sid] = Block(sid, f"{block.name}{number} {j}", "Gain", "Gain",
                                   options=options)
        system.signals.append(Signal(driver, [End(sid, "in", 1)]))
        made.append(End(sid, "out", 1))
    if len(made) == 1:
        return made[0]
    sid = f"{block.sid}.{k}"
    system.blocks[sid] = Block(sid, f"{block.name}{number}", "Sum", "Sum",
                               options={"Inputs": "+" * len(made)})
    system.signals += [Signal(end, [End(sid, "in", n)]) for n, end in enumerate(made, 1)]
    return End(sid, "out", 1)


_SOURCES = {  # which parameters of a source may be vectors
    "Constant": ("Value",), "Sin": ("Amplitude", "Bias", "Frequency", "Phase"),
    "Step": ("Time", "Before", "After"),
    "DiscretePulseGenerator": ("Amplitude", "Period", "PulseWidth", "PhaseDelay"),
}  # fmt: skip


def sources(system: System, block: Block, names: Mapping[str, Any]) -> None:
    """A source of a vector, as its parameters are vectors: one for every element."""
    values = {word: numbers_of(block.options[word], names)
              for word in _SOURCES.get(block.block_type, ()) if word in block.options}
    vectors = {word: value for word, value in values.items() if value.size > 1}
    sizes = {value.size for value in vectors.values()}
    if not all(v.size for v in values.values()) or len(sizes) != 1 or max(sizes) > WIDEST or any(
            v.size != max(v.shape) for v in vectors.values()):
        return
    made = copies(system, block, sizes.pop())
    for word, value in vectors.items():
        for one, number in zip(made, value.ravel(), strict=True):
            one.options[word] = f"{number:.15g}"
    mux = Block(f"{block.sid}.join", "joined", "Mux", "Mux")
    move(system, End(block.sid, "out", 1), join(
        system, mux, mux.sid, [(End(one.sid, "out", 1), "") for one in made]))
