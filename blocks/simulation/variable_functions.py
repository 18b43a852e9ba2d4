"""How do chosen variables follow from states, algebraic unknowns and efforts?"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..system.evaluator import Evaluator
from ..system.system import System
from .catalog import Catalog
from .wanted import Wanted

__all__ = ["VariableFunctions"]


class VariableFunctions:
    """Chosen variables as functions of what the system's functions take, each made once."""

    @classmethod
    def of(cls, system: System, catalog: Catalog) -> VariableFunctions:
        """Those of a system, shared by its runs."""
        return system.once("variables", lambda: cls(system, catalog))

    def __init__(self, system: System, catalog: Catalog) -> None:
        self.system, self.catalog = system, catalog
        self._made: dict[tuple[int, ...], tuple[Evaluator, Wanted]] = {}

    def function(self, indices: tuple[int, ...]) -> tuple[Evaluator, Wanted]:
        """The variables with these handles, as a column, and what they need."""
        if indices not in self._made:
            sx = self.expression(indices)
            self._made[indices] = (self.system.function("output", sx),
                                   Wanted.by(self.system, sx))
        return self._made[indices]

    def expression(self, indices: tuple[int, ...]) -> ca.SX:
        """The same as an expression."""
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
