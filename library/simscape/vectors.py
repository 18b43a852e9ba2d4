"""Which scalar signals is a vector of Simulink's made of?

Signals of this toolkit are scalars: what is joined by a Mux or a bus and taken apart again by a
Demux, a Selector or a Bus Selector becomes a connection of each element, within one system.
"""

from __future__ import annotations

import re

import numpy as np

from .diagram import Block, End, System
from .matlab_values import numbers_of

__all__ = ["JOINING", "SPLITTING", "elements", "inputs_of", "origin"]

JOINING = {"Mux", "BusCreator", "VectorConcatenate", "Concatenate"}
SPLITTING = {"Demux", "BusSelector", "Selector"}
_DEEPEST = 30
_WIDEST = 1000  # elements of a vector


def elements(system: System, source: End, known: dict[End, list[End]] | None = None
             ) -> list[End]:
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
        if block.block_type == "From":
            ends = system.of_type("Goto", block.tag)
        elif block.block_type == "SignalConversion":
            ends = [block]
        else:
            break
        driver = next(filter(None, (system.driver_of(end.sid) for end in ends)), None)
        if driver is None:
            break
        source = driver
    return source


def inputs_of(system: System, block: Block) -> list[tuple[End, str]]:
    """What drives the inputs of a block, in their order, and how the lines are called."""
    found = [(target.index, signal.source, signal.name) for signal in system.signals
             for target in signal.targets if target.sid == block.sid and target.port == "in"]
    return [(source, name) for _, source, name in sorted(found, key=lambda row: row[0])]


def _taken(system: System, block: Block, index: int, known: dict[End, list[End]]
           ) -> list[End]:
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
    inside = None if block is None or block.system is None else next(
        (b for b in block.system.of_type("Outport") if b.number == driver.index), None)
    return "" if inside is None else inside.name


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
