"""Which unit has every physical signal of a diagram, and which blocks are one network?

Physical signals carry units that the file does not say: they follow from the ports and
converters that a signal touches, over all levels of the diagram.
"""

from __future__ import annotations

from collections.abc import Callable

from networkx.utils import UnionFind

from blocks import BlocksError

from ..file.diagram import Block, System
from ..file.nodes import inner_port, name_ports, nodes_of
from ..simulink.block_parameters import BlockParameters
from ..simulink.signal_lines import TO_PHYSICAL, TO_SIMULINK
from ..simulink.signal_part import Unmapped
from .keywords import signal_unit
from .mapping import counterpart_of, law_of
from .signals import is_physical_signal, physical_signal_part, unit_expected
from .units import TEMPERATURES, unit_here

__all__ = ["NodeUnits", "networks_of"]

Key = tuple[str, str]


class NodeUnits:
    """The unit of every physical signal of a diagram."""

    def __init__(self, root: System) -> None:
        self.groups = UnionFind()  # ends by node
        self.units: dict[Key, str] = {}  # by one of a node
        self.blocks: list[Block] = []
        for system in root.systems():
            self._join(system)
        self._known_units(root)

    def of(self, sid: str, end: str) -> str | None:
        """The unit of the node at an end; None where nothing says it."""
        return self.units.get(self.groups[sid, end])

    def _join(self, system: System) -> None:
        for block in system.blocks.values():
            name_ports(block)
        for node in nodes_of(system):
            self.groups.union(*((end.sid, end.name) for end in node))
            for end in node:
                outer = system.blocks.get(end.sid)
                inside = inner_port(outer, end) if outer is not None else None
                if inside is not None:
                    self.groups.union((end.sid, end.name), (inside.sid, "rconn1"))

    def know(self, key: Key, unit: str) -> None:
        """Say the unit of the node at an end, where nothing else has."""
        self.units.setdefault(self.groups[key], unit)

    def _known_units(self, root: System) -> None:
        inputs: list[tuple[Key, str]] = []
        for block in root.walk():
            if is_physical_signal(block):
                self.blocks.append(block)
            elif block.kind in (TO_PHYSICAL, TO_SIMULINK):
                written = block.options.get("Unit", "1")
                if written in ("1", "", "inherit"):
                    continue
                unit = unit_here(written, block.name)
                unit = TEMPERATURES.get(unit, unit)
                if block.kind == TO_PHYSICAL:
                    self.know((block.sid, "rconn1"), unit)
                else:
                    inputs.append(((block.sid, "lconn1"), unit))
            else:
                inputs += self._of_component(block)
        for key, unit in inputs:
            self.know(key, unit)

    def _of_component(self, block: Block) -> list[tuple[Key, str]]:
        counterpart = counterpart_of(block.kind, block.values)
        component = counterpart.component if counterpart is not None else None
        law, inputs = law_of(block.kind).get("units", {}), []
        if law and counterpart is None or component is not None:
            for end, written in block.ports.items():
                kind, unit = (block.types.get(written, ""), law.get(written, "")) \
                    if counterpart is None or component is None else \
                    signal_unit(component, counterpart.port(written))
                if kind == "output":
                    self.know((block.sid, end), unit)
                elif kind == "input":
                    inputs.append(((block.sid, end), unit or unit_expected(block, written)))
        return inputs

    def follow(self, parameters_of: Callable[[Block], BlockParameters]) -> None:
        """Find units of outputs from those of inputs, until nothing more follows.

        ``parameters_of`` gives the parameters of a block.
        """
        waiting = list(self.blocks)
        while waiting:
            rest = []
            for block in waiting:
                if any(self.of(block.sid, end) is None for end, port in block.ports.items()
                       if block.types.get(port) == "input"):
                    rest.append(block)
                    continue
                try:
                    made = physical_signal_part(block, parameters_of(block))
                except (Unmapped, BlocksError):
                    made = None
                for end, port in block.ports.items():
                    if block.types.get(port) == "output":
                        self.know((block.sid, end), "" if made is None else
                                  made.units.get(port, made.unit))
            if len(rest) == len(waiting):  # a loop, or nothing says it
                self._guess(rest)
            waiting = rest

    def _guess(self, blocks: list[Block]) -> None:
        """Take a unit from a parameter of a block that waits for one, else none."""
        units = {(block.sid, end): unit_expected(block, port) for block in blocks
                 for end, port in block.ports.items()
                 if block.types.get(port) == "input" and self.of(block.sid, end) is None}
        said = [(key, unit) for key, unit in units.items() if unit]
        for key, unit in said or [*units.items()][:1]:
            self.know(key, unit)


def networks_of(root: System, nodes: NodeUnits) -> UnionFind:
    """Ends by network over all levels: what a component's conserving ports join is one."""
    found = UnionFind()
    for block in root.walk():
        ends = [(block.sid, end) for end, name in block.ports.items()
                if block.types.get(name, "") not in ("input", "output")]
        solver = block.kind == "nesl_utility/Solver Configuration"
        for end in [(block.sid, "rconn1")] if solver else ends:
            found.union(end, nodes.groups[end])
        found.union(*ends)
    return found
