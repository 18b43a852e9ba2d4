"""Who is in the way from an input to an output, where a gain is zero?

A component is in the way where one of its equations contains a variable whose slope is zero at
this point: a saturation beyond its limit, a product with zero, a clearance, v |v| at rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from .point import Point

__all__ = ["zero_gain_causes"]

MOST_TOLD = 3


def zero_gain_causes(point: Point) -> list[str]:
    """Components that let nothing through at this point, in words."""
    found = dict.fromkeys(_without_slope(point))
    return [f"{path} lets nothing through at this point" for path in list(found)[:MOST_TOLD]]


def _without_slope(point: Point) -> Iterator[str]:
    """Components with an equation in which some variable has no slope at this point."""
    system = point.system
    flat, writer = system.flat, system.tape.writer
    for group in flat.groups:
        law = group.law
        if law is None or law.order or not law.arguments:
            continue
        for k, kind in enumerate(law.slopes):
            if kind == "constant" or kind == "parameter":
                continue
            function = law.kernel.function("slope", law.symbols, law.partials[k])
            row = writer.call(function, group.family, law.arguments, group.instances)
            value = system.function("slope", ca.densify(row.T))(*point.arguments)
            for instance in group.instances[np.flatnonzero(value == 0)]:
                yield system.network.families[group.family].path(int(instance))
