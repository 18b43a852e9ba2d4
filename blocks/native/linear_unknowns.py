"""How do algebraic unknowns that are linear in their equations read as machine code?

Functions ``f(t, x, p, q, out)`` that first solve for the unknowns, block by block
(:mod:`~blocks.native.sparse_factors`), and then write slopes, derivatives or margins; ``q`` holds
the unknowns, and room for the matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from .derivatives import SolvedText, Unknowns
from .expressions import Writer
from .sparse_factors import SparseFactors

if TYPE_CHECKING:
    from ..system import System

__all__ = ["LoopCode"]


class LoopCode(SolvedText):
    """Text of functions of a system whose algebraic unknowns are linear in their equations.

    ``places`` are those of its arguments; algebraic unknowns stand in ``q``, of which ``first`` is
    the first free entry.
    """

    def __init__(self, system: System, places: dict[int, tuple[str, int]], first: int) -> None:
        self.arguments, self.places, self.tape = system.arguments, places, system.tape
        n = self.n = system.nz
        self.first = self.right = first
        carried, self.carried_at = system.tape.carried, places[2]
        self.factors = SparseFactors(
            ca.jacobian_sparsity(system.tape.residual, system.tape.z), first + n,
            carried=(carried, carried) if carried.any() else None)
        self.end = self.factors.end

    def _unknowns(self, w: Writer) -> tuple[ca.SX, list[Any], int]:
        self._solve_all(w)
        tape, nx = self.tape, self.tape.x.numel()
        return ca.vertcat(tape.x, tape.z), [Unknowns(
            tape.residual, np.arange(nx, nx + self.n), self.factors)], nx

    def _solve_all(self, w: Writer) -> str:
        """The unknowns come to where they stand in ``q``, and the factors to theirs."""
        tape = self.tape
        found, values = self.places[2], [w.constant(0.0)] * self.n
        if self.factors.carried is not None:  # what is left open stays
            values = [w.or_zero(w.load(found[0], found[1] + i)) for i in range(self.n)]
        self._put(w, values, *found)
        matrix, residual = ca.jacobian(tape.residual, tape.z), ca.densify(tape.residual)
        self._fill(w, matrix.nz[:], self.factors.values)
        missed = self._matrix(residual)
        for again in (False, True):  # the second time, what rounding has left
            self._write(w, missed, self.right)
            bad = self._solve(w, self.factors, again)
            for i in range(self.n):
                step = w.load("%q", self.right + i)
                step = w.select(bad, w.constant(float("nan")), step)
                values[i] = w.binary("fsub", values[i], step)
            self._put(w, values, *found)
        return "true"  # they are no numbers where there are none
