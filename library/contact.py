"""Laws of elastic stops and one-sided contacts, for forces and torques alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import maximum, minimum, where

__all__ = ["STOP_MODELS", "gap_law", "start_beyond", "stop_law"]

STOP_MODELS = ("smooth", "full", "undamped rebound")


def stop_law(
    depth: Any, flow: Any, stiffness: Any, damping: Any, model: str, transition: Any = None
) -> tuple[Any, Any, Any]:
    """Effort, stored energy and dissipated power of one bound.

    ``depth`` is the penetration (negative outside), ``flow`` its rate. The three
    models are described at the hard stops, which all use this law.
    """
    p = maximum(depth, 0)
    if model == "undamped rebound":
        flow = maximum(flow, 0)
    share: Any = 1.0
    energy = stiffness * p**2 / 2
    if model == "smooth":
        # limited twice: an event at the end, and no cubic growth in a trial step beyond
        l = minimum(where(depth < transition, p / transition, 1), 1)
        share = l**2 * (3 - 2 * l)
        # integral of s K p up to the end of the transition, then that of K p
        l = minimum(p / transition, 1)
        within = stiffness * transition**2 * (3 * l**4 / 4 - 2 * l**5 / 5)
        energy = within + stiffness * (p**2 - minimum(p, transition) ** 2) / 2
    effort = where(depth > 0, share * (stiffness * p + damping * flow), 0)
    return effort, energy, where(depth > 0, share * damping * flow**2, 0)


def start_beyond(variable: Any, lower: Any, upper: Any) -> Iterator[str]:
    """A word about an initial target of a position beyond its stops, for ``advise()``."""
    start = variable.initial
    if np.ndim(start.magnitude) == 0 and not lower <= start <= upper:
        yield (f"{variable.variable.name} starts at {start:~P}, beyond the stops at {lower:~P} and "
               f"{upper:~P}, which push back at once. Give an initial target between them.")


def gap_law(depth: Any, flow: Any, stiffness: Any, damping: Any) -> tuple[Any, Any, Any]:
    """Effort, stored energy and dissipated power of a contact that never pulls.

    ``depth`` is the penetration, ``flow`` its rate; the damping effort is limited
    to the elastic one, so that the sum neither jumps at contact nor pulls.
    """
    elastic = stiffness * maximum(depth, 0)
    viscous = maximum(minimum(damping * flow, elastic), -elastic)
    effort = where(depth > 0, elastic + viscous, 0)
    return effort, elastic * maximum(depth, 0) / 2, viscous * flow
