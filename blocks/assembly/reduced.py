"""What does index reduction take of set-valued laws, what does it give, or why does it fail?"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..numerics.arrays import Flags, Indices
from .flatten import Flat

__all__ = ["Cluster", "Reduced", "SetValuedElements", "Singular", "set_valued_elements"]


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
    """A system of index one: what is integrated and what is solved for."""

    flat: Flat  # with the differentiated equations added
    states: Indices  # classes that are known when derivatives are evaluated
    unknowns: Indices  # classes to be solved for
    equations: Indices  # those that determine them
    clusters: list[Cluster] = field(default_factory=list)  # constraints resolved during the run
    index: int = 0  # structural, of the flat system
    gives_flow: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    inputs: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))


@dataclass(frozen=True)
class SetValuedElements:
    """Set-valued laws as the structure sees them: each ties one effort to one flow.

    An element normally gives its effort and takes its flow. Where a node without
    mass makes that impossible (friction in series with a spring or with another
    friction), it takes the effort and gives the flow.
    """

    efforts: Indices  # class of each element's effort
    flows: Indices  # class of its flow, -1 where that is no variable of its own

    @property
    def size(self) -> int:
        return len(self.efforts)

    def incidence(self, first: int) -> tuple[Indices, Indices]:
        """(row, class) pairs, rows counted from ``first``."""
        rows = np.arange(first, first + self.size)
        own = self.flows >= 0
        return (np.concatenate([rows, rows[own]]), np.concatenate([self.efforts, self.flows[own]]))


def set_valued_elements(flat: Flat) -> SetValuedElements:
    """Effort and flow classes of all set-valued laws."""
    efforts, flows = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for f, family, law in flat.network.set_valued:
        every = np.arange(family.size)
        efforts.append(flat.class_of[flat.base[f][law.effort, 0] + every])
        key = family.kernel.key_of(law.flow) if law.flow.is_symbolic() else None
        classes = np.full(family.size, -1) if key is None or key[1] else (
            flat.class_of[flat.base[f][key] + every])
        flows.append(np.where(flat.derivative[classes] < 0, classes, -1))
    for f, family in enumerate(flat.network.families):  # these come last: see SetValuedLaws
        for load_law in family.kernel.load_laws:
            for i in (load_law.effort, load_law.load):
                efforts.append(flat.class_of[flat.base[f][i, 0] + np.arange(family.size)])
                flows.append(np.full(family.size, -1))
    return SetValuedElements(np.concatenate(efforts), np.concatenate(flows))
