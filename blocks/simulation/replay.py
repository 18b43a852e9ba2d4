"""Where was a run at any time?

What the trajectory of an episode holds is interpolated; what it does not hold (tied states, torn
unknowns, set-valued efforts) is solved for again, and only if it is asked for. All of it happens
on a problem of its own: looking at a run changes neither the run nor what a later look gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.blas_threads import threads_for
from ..system.failure import AlgebraicFailure
from ..system.points import Points, modes_in
from ..system.problem import Problem
from .episode import Episode
from .episode_list import EpisodeList
from .wanted import Wanted

if TYPE_CHECKING:
    from ..native.equations import Equations, HeldConstants
    from ..nonsmooth.contract import IndeterminateGroup
    from ..nonsmooth.modes.drift_correction import Contacts
    from .passed_events import PassedEpisodes

__all__ = ["READING", "Replay"]

MOST_NUMBERS = 1 << 24  # at all points that are looked at together, and of states that are kept
MOST_ELEMENTS = 24  # whose efforts are solved for together, by a matrix per point

#: Compiled functions of a system keep their arguments: one look at a time.
READING = RLock()


class Replay:
    """Points of a run, brought back from what its episodes have kept.

    Parameters
    ----------
    problem : of the run; it is copied, and never changed
    p : parameters of the run
    episodes : of the run, in the order of time
    """

    def __init__(self, problem: Problem, p: Array, episodes: EpisodeList) -> None:
        self._of_run, self.p, self.system, self.episodes = problem, p, problem.system, episodes
        #: Looks at the times that were looked at lately, as for the mean of another variable.
        self._readings: dict[tuple[bytes, bytes], _Reading] = {}
        self._room = MOST_NUMBERS  # for more of their numbers

    @cached_property
    def problem(self) -> Problem:
        """A copy of the run's problem, whose point may be moved."""
        return self._of_run.copy_for_reading()

    @cached_property
    def most_points(self) -> int:
        """Points that are looked at together, by their memory."""
        system = self.system
        elements = 0 if self._of_run.laws is None else self._of_run.laws.size
        matrix = elements**2 if elements <= MOST_ELEMENTS else elements
        return max(1, MOST_NUMBERS // (
            system.nx + system.nz + system.nm + system.nd + system.nu + 8 * elements + matrix + 1))

    # -- points ----------------------------------------------------------------------------
    def points(self, t: Array, which: Indices, wanted: Wanted) -> Points:
        """What is wanted of a run at some times.

        Parameters
        ----------
        t : (k,) times, in order within each episode
        which : (k,) number of the episode of every time; those of an episode stand together
        wanted : what has to be solved for
        """
        reading = self._reading(t, which)
        if not len(t) or not self.must_solve(reading.incomplete, wanted):
            return reading.states
        reading.states = self.with_modes(reading.states, which)
        split = bool(wanted.split and wanted.inputs.any()) and not self._of_run.laws.recorded
        if split not in reading.solved:
            with threads_for(max(self.system.nu, self.problem.algebraic)):
                found = self.solved(reading.states, which, reading.incomplete, split)
            self._take_room(found)
            reading.solved[split] = found
        return reading.solved[split]

    def interpolated(self, t: Array, which: Indices) -> tuple[Points, Flags]:
        """What trajectories hold: integrated states, and what was carried along with them.

        Inputs that were not are as at the start of their episode. Also where tied states or
        torn unknowns are missing: one method may carry them, and another of the run not.
        """
        reading = self._reading(t, which)
        return reading.states, reading.incomplete

    def _reading(self, t: Array, which: Indices) -> _Reading:
        """A look at some times, which may have been lately."""
        key = t.tobytes(), which.tobytes()
        if key not in self._readings:
            reading = _Reading(*self._interpolated(t, which))
            self._take_room(reading.states)
            self._readings[key] = reading
        return self._readings[key]

    def _take_room(self, points: Points) -> None:
        """Make room for points that are kept; where there is none, all before are given up."""
        self._room -= sum(a.size for a in (points.x, points.z, points.m, points.d, points.u))
        if self._room < 0:
            self.forget()

    def forget(self) -> None:
        """Forget what was looked at: the run has become another one, or needs the room."""
        self._readings.clear()
        self._room = MOST_NUMBERS

    def _interpolated(self, t: Array, which: Indices) -> tuple[Points, Flags]:
        system, k = self.system, len(t)
        x, z = np.zeros((system.nx, k)), np.zeros((system.nz, k))
        d, u = np.zeros((system.nd, k)), np.zeros((system.nu, k))
        m = np.zeros((system.nm, k))
        incomplete = np.zeros(k, dtype=bool)
        last = self._last_values is not None and system.has_linear_loops
        for part, columns, number in self.episodes.parts(which):
            times = t[columns]
            u[:, columns] = part.u[:, None]
            m[:, columns] = np.atleast_2d(part.m)[number].T
            d[:, columns] = self._discrete_values(
                part.discrete_values(number), np.atleast_1d(part.start)[number], times)
            rows = part.courses.states(times, number)
            if rows is not None:
                x[:, columns], carried = np.split(rows.T, [system.nx])
                self._put_carried(carried, z, u, columns)
                incomplete[columns] = bool(system.nz) and (not len(carried) or last)
                continue
            assert isinstance(part, Episode)
            free = np.delete(np.arange(system.nx), part.tied)
            y = part.trajectory(times)[: len(free)]
            x[free, columns] = y * self._of_run.scale_x[free][:, None]
            incomplete[columns] = bool(len(part.tied) or system.nz) or self._carries_inputs
        return Points(t, x, z, self.p, m, d, u), incomplete

    @property
    def _carries_inputs(self) -> bool:
        """Whether machine code carries inputs along with the states, and other steps know none."""
        laws = self._of_run.laws
        return laws is not None and laws.carries_inputs

    def _put_carried(self, carried: Array, z: Array, u: Array, columns: slice) -> None:
        """Put what was carried along where it belongs: torn unknowns, and inputs behind them."""
        torn, inputs = np.split(carried, [self.system.nz])
        if len(carried):
            z[:, columns] = torn
        if len(inputs):
            u[:, columns] = self._of_run.laws.elements.inputs_of(inputs, self.system.nu)

    def with_modes(self, points: Points, which: Indices) -> Points:
        """Points with the modes that were held there, where anything is solved for."""
        if self._of_run.laws is None or points.modes:
            return points
        return replace(points, modes=modes_in(self.episodes.modes, which) if len(which) else ())

    def whole(self, t: Array, which: Indices) -> Points:
        """Points with all that is known there, and the modes that were held."""
        return self.with_modes(self.points(t, which, Wanted.all_of(self.system)), which)

    def solved(self, points: Points, which: Indices, incomplete: Flags, split: bool = True
               ) -> Points:
        """Points, whose modes are known, with all that is solved for."""
        laws = self._of_run.laws
        if laws is not None and laws.recorded:
            u = np.concatenate([laws.efforts_at(points.t[columns], e.start)
                                for e, columns in self._parts(which)], axis=1)
            return replace(points, u=u)
        x, z, u = points.x.copy(), points.z.copy(), points.u.copy()
        missing = np.ones(len(points), dtype=bool)
        if laws is None:
            missing = incomplete
        elif not incomplete.all():
            complete = np.flatnonzero(~incomplete)
            x[:, complete], u[:, complete], known = self._efforts_at(
                points.some(complete), which[complete], split)
            missing[complete] = ~known
        left = np.flatnonzero(missing)
        for e, columns in self._parts(which[left]):
            some = left[columns]
            x[:, some], z[:, some], u[:, some] = self._one_by_one(
                e, points.t[some], x[:, some], z[:, some], split)
            if self._last_values is not None:
                z[:, some] = self._last_values.kept(int(which[some[0]]), points.t[some], z[:, some])
        return replace(points, x=x, z=z, u=u)

    def _efforts_at(self, points: Points, which: Indices, split: bool
                    ) -> tuple[Array, Array, Flags]:
        """States with closed contacts, inputs, and where machine code finds these."""
        laws, equations = self.problem.laws, self._equations
        x, u = points.x.copy(), points.u.copy()
        if not laws.carries_inputs:
            u[:] = np.nan
        if equations is not None:
            for part, columns, number in self.episodes.parts(which):
                if (given := self._constants(part, number, equations)) is not None:
                    x[:, columns], u[:, columns] = equations.held_at(
                        points.t[columns], x[:, columns], points.z[:, columns], given)
        known = np.asarray(np.isfinite(u).all(axis=0))
        some = np.flatnonzero(known)
        if split and len(some):
            few = replace(points, x=x, u=u).some(some)
            known[some] = laws.split_at(self._at_parameters(), few)
            u[:, some] = few.u
        return x, u, known

    @cached_property
    def _equations(self) -> Equations | None:
        """The machine code of held modes, where inputs are solved for by it."""
        from .. import native
        from ..native.equations import equations_of

        laws = self._of_run.laws
        if laws.held_modes is None or laws.carries_inputs or not native.is_installed() or (
                native.unwritable(self._of_run)):
            return None
        return equations_of(self.system, laws)

    def _constants(self, part: Episode | PassedEpisodes, number: Indices, equations: Equations
                   ) -> HeldConstants | None:
        """What machine code reads at points in episodes; None where it has not these modes."""
        from ..native.courses import Course
        from ..native.equations import HeldConstants

        if isinstance(part.courses, Course):
            return part.courses.constants(number)
        assert isinstance(part, Episode)
        problem = self._restored(part)
        if not problem.laws.runs_compiled(problem, part.start):
            return None
        first = equations.constants(problem, part.start)
        return HeldConstants(first, np.zeros_like(number), first[None, :0], problem.p)

    def must_solve(self, incomplete: Flags, wanted: Wanted) -> bool:
        """Whether more is wanted than what trajectories hold."""
        laws = self._of_run.laws
        if wanted.closed and laws is not None and not laws.recorded:
            return True
        return bool(wanted.inputs.any()) or (bool(incomplete.any()) and wanted.unknowns)

    def indeterminate_groups(self, t: Array, which: Indices) -> list[list[IndeterminateGroup]]:
        """Per time the groups of stuck elements whose split the motion leaves open."""
        at = self.whole(t, which)
        out: list[list[IndeterminateGroup]] = [[] for _ in which]
        may = self.problem.laws.are_open(self._at_parameters(), at)
        may &= (self.episodes.modes[which] == 0).any(axis=1)
        for k, number in zip(np.flatnonzero(may), which[may], strict=True):
            problem = self._restored(self.episodes[number])
            problem.x[:], problem.z[:], problem.u[:] = at.x[:, k], at.z[:, k], at.u[:, k]
            with threads_for(max(self.system.nu, self.problem.algebraic)):
                out[k] = problem.laws.indeterminate_groups(problem, float(t[k]))
        return out

    def _parts(self, which: Indices) -> list[tuple[Episode, slice]]:
        """Episodes, and the columns of their times."""
        cuts = np.flatnonzero(np.diff(which)) + 1
        starts, ends = np.append(0, cuts), np.append(cuts, len(which))
        return [(self.episodes[int(which[a])], slice(int(a), int(b)))
                for a, b in zip(starts, ends, strict=True) if b > a]

    def _discrete_values(self, d: Array, start: Array, t: Array) -> Array:
        """Discrete values, and delayed signals among them, at times of episodes from ``start``."""
        if self._of_run.delays is None:
            return d
        delays = self.problem.delays
        assert delays is not None
        return delays.discrete_values(d, start, t)

    # -- solved for at one time after the other ---------------------------------------------
    def at_start(self) -> Problem:
        """A problem where the run starts, to read or to change."""
        return self._restored(self.episodes[0]).copy_for_reading()

    def _at_parameters(self) -> Problem:
        """The problem with the parameters of the run, for what depends on nothing else."""
        problem = self.problem
        problem.p = self.p
        return problem

    def _restored(self, episode: Episode) -> Problem:
        """The problem at the start of an episode, whatever was looked at before."""
        problem = self._at_parameters()
        problem.m, problem.d = episode.m, episode.d.copy()
        if not np.array_equal(problem.tied, episode.tied):
            problem.tie(episode.tied)
        problem.unknowns.forget()
        if problem.laws is not None:
            problem.laws.modes = episode.modes
        if problem.delays is not None:
            problem.delays.select(episode.start)
        problem.x[:], problem.z[:], problem.u[:] = episode.x, episode.z, episode.u
        return problem

    def _one_by_one(self, episode: Episode, t: Array, x: Array, z: Array, split: bool
                    ) -> tuple[Array, Array, Array]:
        """Points of an episode, solved for at one time after the other; nan where that fails."""
        problem, system = self._restored(episode), self.system
        laws, free = problem.laws, problem.free
        carried = episode.trajectory.carries
        contacts = self._contacts if laws is not None else None
        u = np.empty((system.nu, len(t)))
        for k, at in enumerate(t):
            try:
                if carried:
                    problem.x[:] = x[:, k]
                elif episode.marks is not None:
                    problem.solved_for = episode.expected(float(at))
                problem.x[free] = x[free, k]
                if contacts is None or problem.algebraic:
                    problem.update(at)
                if contacts is not None and not contacts.close(problem, at):  # as at ends of steps
                    problem.update(at)
                if laws is not None and split:
                    laws.split_internal_stress(problem, at)
                x[:, k], z[:, k], u[:, k] = problem.x, problem.z, problem.u
            except AlgebraicFailure:
                x[:, k], z[:, k], u[:, k] = np.nan, np.nan, np.nan
        return x, z, u

    @cached_property
    def _last_values(self) -> LastValues | None:
        """What flows carried last, where they carry anything."""
        if not self.system.tape.carried.any():
            return None
        return LastValues(self)

    def solved_at(self, number: int, t: float, z: Array | None = None) -> Problem:
        """The problem at a time of an episode, unknowns sought from ``z`` or where it began."""
        problem = self._restored(self.episodes[number])
        at, _ = self.interpolated(np.array([t]), np.array([number]))
        problem.x[:] = at.x[:, 0]
        if z is not None:
            problem.z[:] = z
        problem.update(t)
        return problem

    @cached_property
    def _contacts(self) -> Contacts | None:
        """What keeps closed contacts closed, where there are any."""
        from ..nonsmooth.modes.drift_correction import contacts_of

        return contacts_of(self.problem.laws)


@dataclass(eq=False)
class _Reading:
    """What was found of a run at some times: what trajectories hold, and points that were solved
    for, by whether undetermined efforts are split."""

    states: Points
    incomplete: Flags
    solved: dict[bool, Points] = field(default_factory=dict)


LOOKS = 1 - np.array([1e-9, 1e-6, 1e-3, 0.5, 1 - 1e-9])  # of an episode, the last one first
HALVINGS = 40  # until a flow has ceased
EPISODES_BACK = 1000


class LastValues:
    """What flows carried when they flowed last, in the episodes of a run."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self._searched: tuple[int, Array] = -1, np.zeros(0)  # where it was last, and what it found

    def kept(self, number: int, times: Array, found: Array) -> Array:
        """Unknowns at times of an episode, what is left open there with its last value.

        Parameters
        ----------
        number : of the episode
        times : (k,)
        found : (unknowns, k) solutions there
        """
        replay, z, last = self.replay, found.copy(), None
        for k, t in enumerate(times.tolist()):
            try:
                problem = replay.solved_at(number, t, z[:, k])
                if not problem.unknowns.left_open:
                    last = None
                    continue
                if last is None:
                    last = self._before(number, t)
                    self._searched = number, last
                z[:, k] = replay.solved_at(number, t, last).z
            except AlgebraicFailure:
                last = None
        return z

    def _before(self, number: int, t: float) -> Array:
        """Unknowns when all of them were last determined; as the run began, if they never were."""
        for k in range(number, max(number - EPISODES_BACK, -1), -1):
            episode = self.replay.episodes[k]
            end = t if k == number else episode.end
            later = end
            for at in (episode.start + LOOKS * (end - episode.start)).tolist():
                if self._is_determined(k, at):
                    return self._until_ceased(k, at, later)
                later = at
            if k == self._searched[0]:
                return self._searched[1]
        return np.array(self.replay.episodes[0].z)

    def _until_ceased(self, number: int, low: float, high: float) -> Array:
        """Unknowns at the last time before ``high`` at which all of them are determined."""
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            low, high = (middle, high) if self._is_determined(number, middle) else (low, middle)
        return self.replay.solved_at(number, low).z.copy()

    def _is_determined(self, number: int, t: float) -> bool:
        try:
            return not self.replay.solved_at(number, t).unknowns.left_open
        except AlgebraicFailure:
            return False
