"""What are chosen variables as functions of the states, and what has to be solved for them?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..numerics.arrays import Flags
from ..system.evaluator import Evaluator
from ..system.system import System
from .catalog import Catalog

__all__ = ["VariableFunctions", "Wanted"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is solved for at the points of a run, beside what its trajectories hold."""

    inputs: Flags  # which of the system's inputs, the set-valued efforts
    unknowns: bool  # whether tied states and torn unknowns
    closed: bool  # whether positions at which contacts have drifted apart are closed anew
    split: bool = True  # whether efforts that the motion leaves open take their documented split

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


class VariableFunctions:
    """Chosen variables as functions of what the system's functions take, each made once."""

    @classmethod
    def of(cls, system: System, catalog: Catalog) -> VariableFunctions:
        """Return the variable functions of a system, shared by its runs."""
        return system.once("variables", lambda: cls(system, catalog))

    def __init__(self, system: System, catalog: Catalog) -> None:
        self.system, self.catalog = system, catalog
        self._made: dict[tuple[int, ...], tuple[Evaluator, Wanted]] = {}

    def function(self, indices: tuple[int, ...]) -> tuple[Evaluator, Wanted]:
        """The variables with these handles, as a column, and what they need."""
        if indices not in self._made:
            sx = self.expression(indices)
            self._made[indices] = (self.system.function("output", sx), Wanted.by(self.system, sx))
        return self._made[indices]

    def expression(self, indices: tuple[int, ...]) -> ca.SX:
        """The variables with these handles as an expression, a column."""
        system, flat = self.system, self.system.flat
        rows = []
        for index in indices:
            f, i, instance = self.catalog.locate(index)
            kernel = flat.network.families[f].kernel
            if i in kernel.observed:
                one = np.array([instance])
                rows.append(system.tape.writer.kernel_row(f, kernel.observed[i], one))
            elif kernel.variables[i].kind == "discrete":
                rows.append(system.tape.writer.d_blocks[f][i][0, instance])
            else:
                slot = flat.base[f][i, 0] + instance
                rows.append(flat.sign_of[slot] * system.tape.values[int(flat.class_of[slot])])
        return ca.vertcat(*rows) if rows else ca.SX(0, 1)
