"""Which sample time does a block take that inherits it?

That of the blocks that drive it, over all levels of the diagram; of several the shortest, as
Simulink does where the others are multiples of it. Where none has one, the fixed step of the
model's solver is it, as in Simulink. In a triggered subsystem a block without one
samples at every trigger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..file.diagram import Block, Diagram, End, System
from ..file.nodes import inner_port
from ..matlab.values import value_of
from .block_parameters import defaults_of
from .dynamics import PID_BLOCKS, samples
from .sampled import SAMPLED, TRIGGERED
from .solver import FIXED

__all__ = ["inherit_sample_times"]

Place = tuple[System, Block]
_CONTINUOUS = {"Integrator", "TransferFcn", "StateSpace", "Derivative", "TransportDelay"}


def inherit_sample_times(diagram: Diagram, names: Mapping[str, Any]) -> None:
    """Write the inherited sample time, in place, into every sampled block that has none of its own.

    Sample times may use the values of ``names``.
    """
    flow = _Flow(diagram.root)
    own = {id(block): _own(diagram, block, names) for block in diagram.root.walk()}
    sources: dict[tuple[str, float], list[Place]] = {}
    for place in flow.places:
        said = own[id(place[1])]
        if said is not None and 0 < said[1] < float("inf"):
            sources.setdefault(said, []).append(place)
    done: set[int] = set()
    for text, value in sorted(sources, key=lambda said: said[1]):  # the shortest first
        waiting, seen = list(sources[text, value]), set[int]()
        while waiting:
            for system, block in flow.behind(*waiting.pop()):
                if id(block) in seen or own[id(block)] is not None or _is_continuous(block):
                    continue
                seen.add(id(block))
                waiting.append((system, block))
                if _samples(block) and id(block) not in done:
                    block.options["SampleTime"] = text
                    done.add(id(block))
    triggered = {id(block) for system in diagram.root.systems() if system.of_type("TriggerPort")
                 for block in system.walk()}
    step = diagram.settings.get("FixedStep", "auto")
    solver = diagram.settings.get("SolverName", diagram.settings.get("Solver", ""))
    size = value_of(step, names) if solver in FIXED or solver.startswith("FixedStep") else None
    if not isinstance(size, (int, float)) or size <= 0:
        step = ""  # of a solver whose steps vary
    for _, block in flow.places:
        given = TRIGGERED if id(block) in triggered else step
        if given and _samples(block) and own[id(block)] is None and id(block) not in done:
            block.options["SampleTime"] = given


def _samples(block: Block) -> bool:
    return block.block_type in SAMPLED or samples(block)


def _is_continuous(block: Block) -> bool:
    return block.block_type in _CONTINUOUS or (
        block.simulink_name in PID_BLOCKS and not samples(block))


def _own(diagram: Diagram, block: Block, names: Mapping[str, Any]) -> tuple[str, float] | None:
    """The sample time that a block says itself; None where it inherits it, or is a subsystem."""
    file = diagram.defaults.get(block.block_type, {})
    text = ({"SampleTime": "-1"} | defaults_of(block.block_type) | file | block.options)[
        "SampleTime"]
    if text == "-1" or block.system is not None or _is_continuous(block):
        return None
    value = value_of(text, names)
    if not isinstance(value, (int, float)):
        return text, float("inf")
    return None if value == -1 else (text, float(value))


class _Flow:
    """Which blocks do the outputs of a block drive, over all levels?"""

    def __init__(self, root: System) -> None:
        self.places: list[Place] = []
        self.holders: dict[int, Place] = {}  # by inner system
        self.targets: dict[tuple[int, str], list[tuple[int, End]]] = {}  # by block: output, end
        for system in root.systems():
            for block in system.blocks.values():
                self.places.append((system, block))
                if block.system is not None:
                    self.holders[id(block.system)] = system, block
            for signal in system.signals:
                self.targets.setdefault((id(system), signal.source.sid), []).extend(
                    (signal.source.index, target) for target in signal.targets)

    def behind(self, system: System, block: Block) -> Iterator[Place]:
        if block.block_type == "Outport" and id(system) in self.holders:
            outer, holder = self.holders[id(system)]
            yield from self._ends(outer, holder.sid, block.number)
        elif block.block_type == "Goto":
            yield from ((system, other) for other in system.of_type("From", block.tag))
        else:
            yield from self._ends(system, block.sid)

    def _ends(self, system: System, sid: str, output: int = 0) -> Iterator[Place]:
        for index, end in self.targets.get((id(system), sid), ()):
            block = system.blocks.get(end.sid)
            if block is None or output not in (0, index):
                continue
            inside = inner_port(block, end)
            if inside is not None and block.system is not None:
                yield block.system, inside
            elif block.system is None:
                yield system, block
