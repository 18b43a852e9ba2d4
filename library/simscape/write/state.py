"""What is known of a conversion while its blocks become components?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..file.diagram import Block, Diagram, End
from ..file.nodes import inner_port
from ..file.workspace import Workspace
from ..matlab.syntax import NotUnderstood
from ..physical.node_units import NodeUnits
from ..simulink.block_parameters import BlockParameters, Texts
from .gaps import Gaps, Writes
from .plan import Entry, PortRef, SystemContext, Written

__all__ = ["ConversionState"]

LONGEST = 100  # numbers of one value that a gap holds


class ConversionState:
    """A diagram, and what has become of it so far."""

    units: NodeUnits

    def __init__(self, diagram: Diagram, workspace: Workspace) -> None:
        self.diagram, self.workspace, self.texts = diagram, workspace, Texts(workspace)
        self.gaps, self.remarks = Gaps(workspace.python), list[str]()
        self.entries, self.plots = list[Entry](), list[str]()
        # signals by the name of their line or of what shows them, with their unit
        self.named: dict[str, tuple[str, str]] = {}
        self.inputs: set[str] = set()  # of subsystems
        self.fed: dict[str, str] = {}  # by input of a subsystem, what drives it
        self.open: list[str] = []  # inputs that nothing gives a signal
        self.ended: list[str] = []  # signals that end in a terminator: shown where nothing is

    def enter(self, level: SystemContext, block: Block, outcome: str, component: str = "",
              notes: Iterable[str] = ()) -> None:
        self.entries.append(Entry(f"{level.path}/{block.name}", block.kind, outcome, component,
                                  list(notes)))

    def parameters_of(self, level: SystemContext, block: Block) -> BlockParameters:
        return BlockParameters(self.texts, self.diagram, self.units.of, level.scope, block,
                               level.path)

    def writes(self, level: SystemContext, block: Block) -> Writes:
        """What writes the numbers of a gap; None for what is no number, or has no value."""
        def written(name: str, text: str, unit: str) -> Written | None:
            where = f"{level.path}/{block.name}.{name}"
            try:
                known = Texts(self.workspace).of(text, level.scope, where, unit)
                if known.value is None or isinstance(known.value, (str, list, Mapping)) or \
                        np.size(known.value) > LONGEST or not np.all(np.isfinite(known.value)):
                    return None
                return self.texts.of(text, level.scope, where, unit)
            except NotUnderstood:
                return None

        return written

    def ref(self, level: SystemContext, end: End) -> PortRef | None:
        """What an end of a physical line has become; None where it has become nothing."""
        block = level.block(end)
        if block is None:
            return None
        known = level.refs.get((end.sid, end.name))
        if known is not None or block.sid not in level.inner:
            return known
        inside, inner = inner_port(block, end), level.inner[block.sid]
        port = inner.ports.get(inside.sid) if inside is not None else None
        return None if port is None else port.ref(f"{level.owner}.{inner.name}")

    def is_port(self, level: SystemContext, block: Block) -> bool:
        """Whether it is a port of a subsystem; those of the whole model are open."""
        if block.block_type != "PMIOPort":
            return False
        if level.owner == "model":
            self.enter(level, block, "left out", notes=["A port of the whole, which is open."])
        return level.owner != "model"
