"""What does index reduction give, or why does it fail?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..numerics.arrays import Flags, Indices
from .flatten import Flat

__all__ = ["Cluster", "Reduced", "Singular"]


class Singular(Exception):
    """The system has no unique solution; equations and classes of the parts at fault."""

    def __init__(self, over_equations: Indices, over_classes: Indices,
                 under_equations: Indices, under_classes: Indices, reason: str) -> None:
        super().__init__(over_equations, over_classes, under_equations, under_classes, reason)
        self.over_equations, self.over_classes = over_equations, over_classes
        self.under_equations, self.under_classes = under_equations, under_classes
        self.reason = reason


@dataclass
class Cluster:
    """Constraints between states whose coefficients change during the run.

    ``levels[0]`` are the equations closest to the accelerations (velocity
    level) with their candidate classes, ``levels[1]`` the level below, …
    """

    levels: list[tuple[Indices, Indices]]


@dataclass
class Reduced:
    """A system of index one: what is integrated and what is solved for.

    Attributes
    ----------
    flat : Flat
        With the differentiated equations added.
    states : classes that are known when derivatives are evaluated
    unknowns : classes to be solved for
    equations : equations that determine them
    clusters : constraints that are resolved during the run
    index : structural index of the flat system
    """

    flat: Flat
    states: Indices
    unknowns: Indices
    equations: Indices
    clusters: list[Cluster] = field(default_factory=list)
    index: int = 0
    gives_flow: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    inputs: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
