"""Which equations solved together leave an unknown open where nothing flows?

What a flow carries (an enthalpy, a concentration, the temperature of a mixture) meets its equations
with a flow as its coefficient: ``H == m * h``. Where nothing flows these equations say nothing of
it, and nothing depends on it. Such blocks are not solved once for all flows, but anew at every
point, where an unknown that is left open keeps its value (:mod:`blocks.system.block_factors`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..language.kernel import Law
from ..numerics.arrays import Flags, Indices, Vector, distinct
from ..numerics.rewriting import symbols_in
from ..numerics.tolerances import DEPENDENT_EXACTLY, TINY
from .algebraic_loops import Block, coefficients_at
from .flatten import Flat, Parameters

__all__ = ["StreamVariables"]

PRODUCTS = {"variable", "nonlinear"}  # slopes of a law that may hold a flow
GOLDEN = 0.6180339887498949  # its multiples modulo 1 fill the interval evenly
TRIALS = 4  # choices of relations: one that leaves nothing open without a flow is enough


class StreamVariables:
    """Asks of blocks whether they leave something open where nothing flows."""

    def __init__(self, flat: Flat, parameters: Parameters) -> None:
        self.flat, self._parameters = flat, parameters
        self._flows = self._flowing()
        #: Every class has a value of its own, and flows have none.
        self._values = 0.5 + np.modf(GOLDEN * np.arange(1, flat.classes + 1))[0]
        self._values[self._flows] = 0.0
        self._products: dict[Law, bool] = {}
        self._known: dict[tuple[int, int], tuple[Indices, Indices, Vector]] = {}  # coefficients

    def leaves_open(self, block: Block) -> bool:
        """Whether a block no longer determines its unknowns where nothing flows."""
        groups = [self.flat.groups[int(g)] for g in self.flat.groups_of(block.equations)]
        if not any(group.law is not None and self._may_vanish(group.law) for group in groups):
            return False
        switched = any(g.law is not None and g.law.kernel.relation_symbols for g in groups)
        for trial in range(TRIALS if switched else 1):
            # of every unknown, what those before it do not say of it already
            apart = ca.diag(ca.qr_sparse(self._matrix(block, trial), True)[1]).full()
            if not np.isfinite(apart).all() or (np.abs(apart) > DEPENDENT_EXACTLY).all():
                return False
        return True

    def _flowing(self) -> Flags:
        """Classes of through variables, and of variables in the unit of one."""
        flat = self.flat
        out = np.zeros(flat.classes, dtype=bool)
        units = {v.unit.dimension for f in flat.network.families for v in f.kernel.variables
                 if v.kind == "through"}  # fmt: skip
        for base, size, f, (i, order) in flat.slot_runs:
            variable = flat.network.families[f].kernel.variables[i]
            if order == 0 and (variable.kind == "through" or variable.unit.dimension in units):
                out[flat.class_of[base : base + size]] = True
        return out

    def _may_vanish(self, law: Law) -> bool:
        """Whether a flow may be the coefficient of another argument."""
        if law not in self._products:
            kernel = law.kernel
            if all(domain.power is None for domain, _ in kernel.ports.values()):
                self._products[law] = False  # all across variables are conjugate to a flow
                return False
            units = {v.unit.dimension for v in kernel.variables if v.kind == "through"}
            flows = {s.__hash__() for (i, order), s in kernel.symbols.items() if order == 0
                     and kernel.variables[i].unit.dimension in units}  # fmt: skip
            self._products[law] = any(
                slope in PRODUCTS and flows & symbols_in(partial)
                for slope, partial in zip(law.slopes, law.partials, strict=True))
        return self._products[law]

    def _matrix(self, block: Block, trial: int) -> ca.DM:
        """Coefficients of a block's unknowns where nothing flows, for a choice of relations: those
        of every equation per its largest."""
        n, whose, parts = len(block.equations), self.flat.groups_of(block.equations), []
        for g in distinct(whose).tolist():
            starts, classes, values = self._coefficients(g, trial)
            mine = np.flatnonzero(whose == g)
            rows = block.equations[mine] - self.flat.groups[g].first
            counts = starts[rows + 1] - starts[rows]
            before = counts.cumsum() - counts
            at = np.arange(counts.sum()) + np.repeat(starts[rows] - before, counts)
            parts.append((np.repeat(mine, counts), classes[at], values[at]))
        row, classes, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        column = np.searchsorted(block.unknowns, classes)
        inside = block.unknowns[np.minimum(column, n - 1)] == classes
        row, column, values, largest = row[inside], column[inside], values[inside], np.full(n, TINY)
        with np.errstate(invalid="ignore"):  # what is no number determines nothing
            np.maximum.at(largest, row, np.abs(values))
            values = values / largest[row]
        places, which = np.unique(column * n + row, return_inverse=True)
        pattern = ca.Sparsity.triplet(n, n, (places % n).tolist(), (places // n).tolist())
        return ca.DM(pattern, np.bincount(which, values).tolist())

    def _coefficients(self, number: int, trial: int) -> tuple[Indices, Indices, Vector]:
        """Coefficients in a group for a choice of relations: where those of its equations begin,
        classes, and values."""
        if (number, trial) not in self._known:
            group = self.flat.groups[number]
            equations, classes, values = coefficients_at(
                self.flat, group, np.arange(group.size), self._parameters, self._values, trial,
                np.random.default_rng(trial), alike=True)
            order = np.argsort(equations, kind="stable")
            starts = np.searchsorted(equations[order], group.first + np.arange(group.size + 1))
            self._known[number, trial] = starts, classes[order], values[order]
        return self._known[number, trial]
