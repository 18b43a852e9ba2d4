"""How does a start follow parameters and targets, by the equations that it was found from?

Constraints come first, then the levels of targets, each within what those before leave free. Where
all targets that have a say are met, a small change of these equations moves the start by the step
that solves them again to first order.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...initialisation.lexicographic import lexicographic_step
from ...initialisation.nominal_values import Nominals
from ...initialisation.targets import LEVELS, TargetFunctions, collect_targets, target_sizes
from ...numerics.arrays import Array
from ...numerics.tolerances import CONSTRAINT_MET, RANK_OF_TARGETS
from ...system.evaluator import Evaluator
from ...system.problem import Problem

__all__ = ["StartEquations"]


class StartEquations:
    """Constraints and targets at a start, to first order.

    Parameters
    ----------
    problem : at the start
    t : when
    nominals : which weigh targets against each other

    Attributes
    ----------
    met : whether all targets that have a say are met: a compromise follows otherwise
    """

    def __init__(self, problem: Problem, t: float, nominals: Nominals) -> None:
        self._system, self._scale = problem.system, problem.scale_x
        system, targets = self._system, collect_targets(problem.system).given
        outputs = TargetFunctions.of(system, targets.slots)
        self._size = target_sizes(system, targets.slots, nominals)
        self._levels = [targets.levels == k for k in range(len(LEVELS))]
        self._by_p, self._constraints_by_p = self._by_parameters(problem, t, outputs)
        of_targets = outputs.slopes(problem, t).toarray() * self._scale / self._size[:, None]
        missed = (outputs.values(problem, t) - targets.values) / self._size
        constrained = bool(system.tape.constraints.numel())
        self._jacobians = [
            outputs.constraint_slopes(problem, t).toarray() * self._scale if constrained else None,
            *(of_targets[mine] if mine.any() else None for mine in self._levels)]
        self.met = self._are_met([np.zeros(0), *(missed[mine] for mine in self._levels)])

    def _by_parameters(self, problem: Problem, t: float, outputs: TargetFunctions
                       ) -> tuple[Array, Array]:
        """Derivatives of targets and of constraints by all parameters, torn unknowns following."""
        system, at = self._system, problem.arguments(t)

        def made() -> Evaluator:
            return system.jacobian(ca.vertcat(outputs.expression, system.tape.residual,
                                              system.tape.constraints), system.tape.p)

        count, nz = len(outputs.classes), system.nz
        rows = system.once(f"start by parameters {outputs.classes.tolist()}", made).sparse(*at)
        by_p: Array = rows[:count].toarray()
        if nz:
            by_p -= outputs.by_z.sparse(*at).toarray() @ outputs.torn_for(
                problem, t, rows[count : count + nz].toarray())
        return by_p, rows[count + nz :].toarray()

    def _are_met(self, missed: list[Array]) -> bool:
        """Whether no target is off that could move the start."""
        null = np.eye(self._system.nx)
        for j, r in zip(self._jacobians, missed, strict=True):
            if j is None or not null.shape[1]:
                continue
            reduced = j @ null
            moves = np.abs(reduced).max(axis=1) > np.sqrt(RANK_OF_TARGETS)
            if len(r) and (np.abs(r[moves]) > 10 * CONSTRAINT_MET).any():
                return False
            _, s, vt = np.linalg.svd(reduced)
            null = null @ vt[int(np.sum(s > RANK_OF_TARGETS * max(1.0, s.max(initial=0.0)))) :].T
        return True

    def moved(self, p: Array, targets: Array) -> Array:
        """Change of the states with small changes of the parameters and of what targets ask."""
        off = (self._by_p @ p - targets) / self._size
        _, step = lexicographic_step(
            self._jacobians, [self._constraints_by_p @ p, *(off[mine] for mine in self._levels)],
            self._system.nx)
        return step * self._scale
