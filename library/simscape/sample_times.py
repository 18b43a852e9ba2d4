"""Which sample time does a block take that inherits it?

That of the blocks that drive it, over all levels of the diagram; of several the shortest, as
Simulink does where the others are multiples of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .diagram import Block, Diagram, End, System
from .matlab import NotUnderstood, parse
from .matlab_values import Unknown, evaluate
from .nodes import inner_port
from .simulink import defaults_of
from .simulink_sampled import SAMPLED
from .vectors import origin

__all__ = ["inherit_sample_times"]

_CONTINUOUS = {"Integrator", "TransferFcn", "StateSpace", "Derivative", "TransportDelay"}


def inherit_sample_times(diagram: Diagram, names: Mapping[str, Any]) -> None:
    """Write the inherited sample time into every sampled block that has none of its own.

    Parameters
    ----------
    diagram : Diagram
        Changed in place.
    names : mapping
        Values that sample times may use.
    """
    rates = _Rates(diagram, names)
    for system in (diagram.root, *(b.system for b in diagram.root.walk())):
        for block in system.blocks.values() if system is not None else ():
            if block.block_type in SAMPLED and system is not None \
                    and rates.own(block) is None:
                found = rates.of(system, block, set())
                if found:
                    block.options["SampleTime"] = min(found, key=lambda text: found[text])


@dataclass
class _Rates:
    diagram: Diagram
    names: Mapping[str, Any]
    holders: dict[int, tuple[System, Block]] = field(default_factory=dict)  # by inner system
    drivers: dict[tuple[int, str], dict[int, End]] = field(default_factory=dict)  # by input

    def __post_init__(self) -> None:
        for system in (self.diagram.root, *(b.system for b in self.diagram.root.walk())):
            if system is None:
                continue
            for block in system.blocks.values():
                if block.system is not None:
                    self.holders[id(block.system)] = system, block
            for signal in system.signals:
                for target in signal.targets:
                    if target.port == "in":
                        self.drivers.setdefault((id(system), target.sid), {})[
                            target.index] = signal.source

    def own(self, block: Block) -> tuple[str, float] | None:
        """The sample time that a block says itself; None where it inherits it."""
        file = self.diagram.defaults.get(block.block_type, {})
        text = block.options.get("SampleTime", file.get(
            "SampleTime", defaults_of(block.block_type).get("SampleTime", "-1")))
        try:
            value = evaluate(parse(text), self.names)
        except (NotUnderstood, Unknown):
            return text, float("inf")
        if not isinstance(value, (int, float)):
            return text, float("inf")
        return None if value == -1 else (text, float(value))

    def of(self, system: System, block: Block, seen: set[tuple[int, str]]) -> dict[str, float]:
        """Sample times that reach a block, by text; none from what is continuous."""
        if (id(system), block.sid) in seen or block.block_type in _CONTINUOUS:
            return {}
        seen.add((id(system), block.sid))
        own = self.own(block) if block.system is None else None
        if own is not None:
            return {own[0]: own[1]} if 0 < own[1] < float("inf") else {}
        found: dict[str, float] = {}
        for where, driver in self._behind(system, block):
            found |= self.of(where, driver, seen)
        return found

    def _behind(self, system: System, block: Block) -> Iterator[tuple[System, Block]]:
        """The blocks that drive the inputs of a block."""
        if block.block_type == "Inport":
            outside = self.holders.get(id(system))
            if outside is not None:
                ends = self.drivers.get((id(outside[0]), outside[1].sid), {})
                yield from self._source(outside[0], ends.get(int(block.options.get("Port") or 1)))
            return
        for source in self.drivers.get((id(system), block.sid), {}).values():
            yield from self._source(system, source)

    def _source(self, system: System, end: End | None) -> Iterator[tuple[System, Block]]:
        end = None if end is None else origin(system, end)
        block = None if end is None else system.blocks.get(end.sid)
        if end is None or block is None:
            return
        inside = inner_port(block, end)
        if inside is not None and block.system is not None:
            yield block.system, inside
        else:
            yield system, block
