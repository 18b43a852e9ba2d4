"""What of a run has to be solved for, so that some variables can be read?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..numerics.arrays import Flags
from ..system.system import System

__all__ = ["Wanted"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is solved for at the points of a run, beside what its trajectories hold.

    Attributes
    ----------
    inputs : which of the system's inputs, the set-valued efforts
    unknowns : whether tied states and torn unknowns
    closed : whether positions at which contacts have drifted apart are closed anew
    split : whether efforts that the motion leaves open take their documented split
    """

    inputs: Flags
    unknowns: bool
    closed: bool
    split: bool = True

    @cached_property
    def of_efforts(self) -> bool:
        """Whether any of the inputs."""
        return bool(self.inputs.any())

    @classmethod
    def all_of(cls, system: System, split: bool = True) -> Wanted:
        """Everything."""
        return cls(np.ones(system.nu, dtype=bool), True, True, split)

    @classmethod
    def nothing(cls, system: System) -> Wanted:
        """Nothing: what trajectories hold will do."""
        return cls(np.zeros(system.nu, dtype=bool), False, False)

    @classmethod
    def by(cls, system: System, expression: ca.SX) -> Wanted:
        """What an expression depends on.

        Tied states are not told from others where there are any: they change in a run.
        """
        places = system.once("input places", lambda: {
            s.__hash__(): i for i, s in enumerate(ca.symvar(system.tape.u))})
        inputs = np.zeros(system.nu, dtype=bool)
        inputs[[places[h] for s in ca.symvar(expression) if (h := s.__hash__()) in places]] = True
        torn = bool(system.nz) and ca.depends_on(expression, system.tape.z)
        return cls(inputs, torn or bool(system.clusters), bool(system.network.contacts)
                   and ca.depends_on(expression, system.tape.x))

