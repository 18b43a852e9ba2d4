"""How do the efforts of the present modes follow the states?"""

from __future__ import annotations

import numpy as np

from ...numerics import sparse as sp
from ...system import Problem
from .delassus import Matrix, pseudo_inverse, through_loops
from .evaluation import Evaluation
from .load_dependence import LoadDependence

__all__ = ["Sensitivities"]


class Sensitivities:
    """Derivatives of efforts by states while modes are held."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.functions = evaluation, evaluation.functions
        self.state, self.delassus, self.size = evaluation.state, evaluation.delassus, \
            evaluation.size

    def jacobian_through_efforts(self, problem: Problem, t: float) -> sp.csc_matrix:
        """(d slope / d effort) (d effort / d x) at the present modes."""
        by_x = self.efforts_by_states(problem, t)
        push = self.delassus.slope_by_efforts(problem, t, np.arange(self.size))
        return sp.csc_matrix(push @ by_x)

    def efforts_by_states(self, problem: Problem, t: float) -> sp.csr_matrix:
        """d effort / d x at the present modes."""
        kinetic = through_loops(self.functions.kinetic_x, self.functions.kinetic_z,
                                problem.system.residual_x, problem, t).tocsr()
        if self.evaluation.load is not None:
            return self._loaded(problem, t, kinetic, self.evaluation.load)
        by_x = sp.csr_matrix(self._sliding(kinetic))
        if (self.state.modes == 0).any():
            d = self.delassus.matrix(problem, t)
            rate = sp.csr_matrix(self._rate_by_states(problem, t)) - sp.csr_matrix(d) @ by_x
            by_x = by_x + self._held(d, sp.csr_matrix(rate))
        return sp.csr_matrix(by_x)

    def _sliding(self, kinetic: sp.csr_matrix) -> sp.csr_matrix:
        """Kinetic efforts by states, forward or backward by mode; 0 where stuck."""
        ahead, back = (sp.diags_array((self.state.modes == m).astype(float)) for m in (1, -1))
        return ahead @ kinetic[self.size:] + back @ kinetic[: self.size]

    def _rate_by_states(self, problem: Problem, t: float) -> Matrix:
        """d rate / d x, the torn unknowns following."""
        return through_loops(self.functions.rate_x, self.functions.rate_z,
                             problem.system.residual_x, problem, t)

    def _loaded(self, problem: Problem, t: float, kinetic: sp.csr_matrix, load: LoadDependence
                ) -> sp.csr_matrix:
        """d effort / d x where the efforts of sliding elements depend on those of others."""
        rate = self._rate_by_states(problem, t)
        sliding = self._sliding(kinetic).toarray()
        right = np.where((self.state.modes == 0)[:, None], rate.toarray(), sliding)
        return sp.csr_matrix(load.newton(problem, t, right))

    def _held(self, d: Matrix, rate: sp.csr_matrix) -> sp.csr_matrix:
        """d effort / d x of the stuck elements: what cancels their rates."""
        index = np.flatnonzero(self.state.modes == 0)
        block = d[index][:, index]
        diagonal = np.asarray(block.diagonal())
        entries = np.count_nonzero(block.data if sp.issparse(block) else block)
        if entries == np.count_nonzero(diagonal):
            inverse = np.divide(1.0, diagonal, out=np.zeros(len(index)), where=diagonal > 0)
            held = sp.csr_matrix(sp.diags_array(inverse) @ rate[index])
        else:
            held = sp.csr_matrix(pseudo_inverse(block)(rate[index].toarray()))
        lift = sp.csr_matrix((np.ones(len(index)), (index, range(len(index)))),
                          shape=(self.size, len(index)))
        return sp.csr_matrix(lift @ held)
