"""How are tied states and torn unknowns solved for?

By Newton's method, from their present values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.sparse_solves import factored
from ..numerics.tolerances import NEWTON_CONVERGES, NEWTON_EXACT
from .evaluator import Arguments
from .failure import AlgebraicFailure
from .system import System

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["DENSE", "MANY", "AlgebraicUnknowns"]

DENSE = 60  # unknowns up to which matrices are dense
MANY = 500  # algebraic unknowns from which full matrices of their size are avoided
MOST_STEPS = 40
SLOWER = 0.1  # of the step before: steps that do not get smaller by more are rounding
TOLD = 3  # unknowns that a failure names


class AlgebraicUnknowns:
    """The states that constraints tie, then the torn unknowns: what makes the residuals zero.

    Parameters
    ----------
    system : System
    tied : states that are solved for
    scale : nominal values of all that is solved for
    """

    def __init__(self, system: System, tied: Indices, scale: Array) -> None:
        self.system, self.tied, self.scale = system, tied, scale
        self.size = len(tied) + system.nz
        #: The matrix depends on parameters alone: once factored, it serves for all points.
        self.constant = system.linear and not len(tied)
        self._columns = np.concatenate([tied, system.nx + np.arange(system.nz)])
        self._solver: Callable[[Array], Array] | None = None

    def forget(self) -> None:
        """Factor the matrix anew with the next solution: relations may have changed."""
        self._solver = None

    def solve(self, arguments: Arguments) -> None:
        """Change tied states and torn unknowns among the arguments to the solution.

        Raises
        ------
        AlgebraicFailure
            Naming the unknowns with the largest residuals; the arguments are as they were.
        """
        t, x, z, *_ = arguments
        n, nt = self.size, len(self.tied)
        start = np.concatenate([x[self.tied], z])
        last, singular = np.inf, False
        r = np.zeros(n)
        for iteration in range(MOST_STEPS):
            r = self.system.residual(*arguments)[:n]
            if not np.isfinite(r).all():
                break
            if self._solver is None or not self.constant:
                self._solver = self._factored(arguments)
            step = self._solver(r)
            if not np.isfinite(step).all():
                singular = True
                break
            x[self.tied] -= step[:nt]
            z -= step[nt:]
            size = np.abs(np.concatenate([x[self.tied], z])) + self.scale
            norm = float(np.max(np.abs(step) / size))
            if self.constant and n > MANY:  # exact but for rounding
                return
            if norm <= NEWTON_CONVERGES and (
                    norm <= NEWTON_EXACT or norm > SLOWER * last or iteration > 2
                    or (self.constant and iteration > 0)):
                return
            last = norm
        x[self.tied], z[:] = start[:nt], start[nt:]
        self._solver = None
        raise self._failure(t, r, singular)

    def _failure(self, t: float, residual: Array, singular: bool) -> AlgebraicFailure:
        worst = np.argsort(-np.nan_to_num(np.abs(residual), nan=np.inf))[:TOLD]
        if singular:
            reason = "no equation determines them there"
        elif np.isfinite(residual).all():
            reason = "Newton's method does not converge"
        else:
            reason = "the equations have no finite value there"
        return AlgebraicFailure(t, [self._name(int(i)) for i in worst], reason, singular)

    def _name(self, equation: int) -> str:
        """The unknown that an equation is counted for: torn ones first, then tied states."""
        nz = self.system.nz
        if equation < nz:
            return self.system.torn_name(equation)
        return self.system.state_name(int(self.tied[equation - nz]))

    def _factored(self, arguments: Arguments) -> Callable[[Array], Array]:
        """What solves the linear equations at a point; where they are singular it gives nan."""
        system = self.system
        try:
            if self.size <= DENSE:
                rows = system.nz + system.tape.constraints.numel()
                full = system.residual_w(*arguments).reshape(-1, rows)
                inverse = np.linalg.inv(full[self._columns, : self.size])
                return lambda r: r @ inverse  # columns of the Jacobian are rows here
            return factored(self.matrix(arguments))
        except (RuntimeError, np.linalg.LinAlgError):  # singular here
            return lambda r: np.full(len(r), np.nan)

    def matrix(self, arguments: Arguments) -> csc_matrix:
        """d residual / d (tied states, torn unknowns)."""
        system = self.system
        if system.linear and not system.clusters and self.size > MANY:
            return system.compressed_residual_z.sparse(*arguments)
        by_z = system.residual_z.sparse(*arguments)[: self.size]
        if not len(self.tied):
            return by_z
        from scipy.sparse import hstack

        return hstack([system.residual_x.sparse(*arguments)[:, self.tied], by_z]).tocsc()
