"""What would a run decide if it began at these states?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..system.problem import Problem
from .opening import Opening
from .recording import RunRecording

if TYPE_CHECKING:
    from ..nonsmooth.contract import Laws

__all__ = ["MOMENT", "TrialStart"]

MOMENT = 1e-9  # s of a run that are prepared where only its start is asked for


class TrialStart:
    """A copy of a problem whose relations, samples, modes and efforts a run decides at any states.

    Parameters
    ----------
    problem : at a consistent start
    laws : its set-valued laws; None where there are none
    t : when

    Attributes
    ----------
    unknowns : torn unknowns there, before efforts are decided
    """

    def __init__(self, problem: Problem, laws: Laws | None, t: float) -> None:
        self.problem, self._laws, self._t = problem.copy_for_reading(), laws, t
        self._before_samples, self.unknowns = problem.d.copy(), problem.z.copy()

    def decide(self) -> None:
        """Decide at the problem's states as a run that begins there would.

        Raises
        ------
        BlocksError, AlgebraicFailure, LinAlgError
            What a run refuses.
        """
        problem, t = self.problem, self._t
        states = problem.x.copy()
        problem.d[:], problem.u[:] = self._before_samples, 0.0
        problem.laws = None if self._laws is None else self._laws.fresh()
        problem.solve_algebraic(t)
        self.unknowns = problem.z.copy()
        recording = RunRecording("", problem.system, problem, problem.p)
        Opening(recording, t, t + MOMENT).begin()
        problem.x[:] = states  # an impact comes after the start
        problem.update(t)
        if problem.laws is not None:
            problem.laws.split_internal_stress(problem, t)  # as results show it
