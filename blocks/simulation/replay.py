"""Where was a problem at any time of a finished run?

What the trajectory of an episode does not hold (tied states, torn unknowns, set-valued efforts)
is solved for again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array
from ..solvers.interpolation import Hermite
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem, Tangent
from .episode import Episode

if TYPE_CHECKING:
    from ..nonsmooth.modes.drift_correction import Contacts

__all__ = ["Replay"]

SMALL_STEPS = 64  # between two instants, where unknowns change too much to be solved for at once


class Replay:
    """The problem of a finished run, brought back to where it was.

    Parameters
    ----------
    problem : of the run; its point is moved
    p : parameters of the run
    """

    def __init__(self, problem: Problem, p: Array) -> None:
        self.problem, self.p, self.system = problem, p, problem.system

    def points(self, episode: Episode, t: Array, share: bool = True) -> tuple[Array, Array, Array]:
        """Full states, torn unknowns and set-valued efforts at times within an episode.

        With ``share``, efforts that the motion leaves open take their documented split.
        """
        problem = self.problem
        self._restore(episode)
        laws, free, nothing = problem.laws, problem.free, np.zeros((0, len(t)))
        solved = episode.trajectory.solved
        carried = None if solved is None else solved(t)
        if carried is not None and laws is None:
            x, z = np.split(carried, [self.system.nx])
            return x, z, nothing
        y = episode.trajectory(t)[: len(free)] if len(t) else np.zeros((len(free), 0))
        integrated = y * problem.scale_x[free][:, None]
        if laws is None:
            if not problem.algebraic:
                return integrated, nothing, nothing
        elif laws.recorded:
            return integrated, nothing, laws.efforts_at(t, episode.start)
        elif len(t) and not problem.algebraic:
            efforts = laws.inputs_at(problem, t, integrated, share)
            if efforts is not None:
                return integrated, nothing, efforts
        return self._one_by_one(episode, t, integrated, carried, share)

    def _restore(self, episode: Episode) -> None:
        """What is constant in an episode."""
        problem = self.problem
        problem.p, problem.m, problem.d = self.p, episode.m, episode.d
        if not np.array_equal(problem.tied, episode.tied):
            problem.tie(episode.tied)
        if problem.laws is not None:
            problem.laws.modes = episode.modes
        if problem.delays is not None:
            problem.delays.select(episode.start)

    def _one_by_one(self, episode: Episode, t: Array, integrated: Array, carried: Array | None,
                    share: bool) -> tuple[Array, Array, Array]:
        """The same, solved for at one time after the other, from where it was at the last."""
        problem, system = self.problem, self.system
        laws, free = problem.laws, problem.free
        problem.x[:], problem.z[:] = episode.x, episode.z
        contacts = self._contacts if laws is not None else None
        x, z, u = (np.empty((n, len(t))) for n in (system.nx, system.nz, system.nu))
        branch: _Branch | None = None
        before = episode.start
        for k, at in enumerate(t):
            try:
                if carried is not None:
                    problem.x[:] = carried[:, k]
                elif system.clusters:
                    branch = branch or _Branch(problem, episode)
                    problem.x[problem.tied] = branch.near(at)
                problem.x[free] = integrated[:, k]
                if contacts is None or problem.algebraic:
                    self._follow(episode, before, at)
                if contacts is not None and not contacts.close(problem, at):  # as at ends of steps
                    problem.update(at)
                if laws is not None and share:
                    laws.split_internal_stress(problem, at)
                x[:, k], z[:, k], u[:, k] = problem.x, problem.z, problem.u
                before = at
            except AlgebraicFailure:
                x[:, k], z[:, k], u[:, k] = np.nan, np.nan, np.nan
        return x, z, u

    def _follow(self, episode: Episode, before: float, at: float) -> None:
        """Solve at the present point; in small steps from the last one, where that is far away."""
        problem = self.problem
        try:
            problem.update(at)
        except AlgebraicFailure:
            if self.system.clusters or problem.laws is not None:
                raise
            free = problem.free
            for between in np.linspace(before, at, SMALL_STEPS + 1)[1:]:
                y = episode.trajectory(float(between))[: len(free)]
                problem.x[free] = y * problem.scale_x[free]
                problem.update(float(between))

    @cached_property
    def _contacts(self) -> Contacts | None:
        """What keeps closed contacts closed, where there are any."""
        laws = self.problem.laws.set_valued
        if not laws.contact.any():
            return None
        from ..nonsmooth.modes.drift_correction import Contacts

        return Contacts(laws)


class _Branch:
    """Where Newton's method is to start from for the tied states of an episode.

    They are followed from step to step as the run has followed them; inside a step they are
    near a cubic through its ends.
    """

    def __init__(self, problem: Problem, episode: Episode) -> None:
        self.problem, self.trajectory = problem, episode.trajectory
        self.steps = episode.trajectory.t
        self.reached = 0  # the step end
        self.left = self.right = self._end(episode.x[problem.tied])

    def near(self, at: float) -> Array:
        """A guess at a time not before that of the last call."""
        while self.steps[self.reached] < at and self.reached + 1 < len(self.steps):
            self.reached += 1
            self.left, self.right = self.right, self._end(self.right(self.steps[self.reached]))
        a, b = self.left, self.right
        return b.x if a.t == b.t else Hermite(a.t, b.t, a.x, b.x, a.slope, b.slope)(at)

    def _end(self, guess: Array) -> Tangent:
        """Tied states and their slopes at a step's end."""
        problem, at = self.problem, float(self.steps[self.reached])
        tied, free = problem.tied, problem.free
        problem.x[tied] = guess
        problem.x[free] = self.trajectory(at)[: len(free)] * problem.scale_x[free]
        problem.update(at)
        return problem.tangent(at)
