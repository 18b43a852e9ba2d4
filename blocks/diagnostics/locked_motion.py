"""Which motions do constraints alone hold at zero?

A loop of equations that only zero fulfils, whatever the values of states, inputs and time, leaves
what is integrated in it nothing to do: two racks of different radii on one shaft and one rod.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..system.system import System
from .findings import Finding, found
from .words import listed

__all__ = ["locked_findings"]


def locked_findings(system: System) -> Iterator[Finding]:
    """Loops that have no solution but zero, though a component integrates one of their unknowns."""
    flat, values, names = system.flat, system.tape.values, system.class_names
    for step in system.tape.steps:
        if step.block is None or len(step.unknowns) < 2:
            continue
        still = [names[c] for c in step.unknowns.tolist()
                 if flat.derivative[c] >= 0 and values[c].is_zero()]
        if still:
            rows = [flat.group_of(e) for e in step.equations.tolist()]
            parts = dict.fromkeys(flat.network.families[group.family].path(int(
                group.instances[row])) for group, row in rows if group.law is not None)
            yield found(
                "network.locked", list(parts)[:20],
                f"{listed(still, 4)} can only be zero: {listed(list(parts), 8)} hold each other, "
                "as where gears of different ratios join the same two shafts.",
                "Nothing to do if that is meant; otherwise remove one of the constraints (a gear, "
                "a rod), or let one of them yield.")
