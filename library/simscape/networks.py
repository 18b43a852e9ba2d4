"""Which blocks belong to one physical network?"""

from __future__ import annotations

from .diagram import System
from .node_units import NodeUnits
from .nodes import Groups

__all__ = ["networks_of"]

Key = tuple[str, str]


def networks_of(root: System, nodes: NodeUnits) -> Groups[Key]:
    """Ends by network: what a component's conserving ports join is one.

    Parameters
    ----------
    root : System
    nodes : NodeUnits
        The nodes over all levels.
    """
    found: Groups[Key] = Groups()
    for block in root.walk():
        ends = [(block.sid, end) for end, name in block.ports.items()
                if block.types.get(name, "") not in ("input", "output")]
        solver = block.kind == "nesl_utility/Solver Configuration"
        for end in [(block.sid, "rconn1")] if solver else ends:
            found.join([end, nodes.groups.find(end)])
        found.join(ends)
    return found
