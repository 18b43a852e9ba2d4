"""What happens in a stretch of time without events, and what ends it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array, Indices
from ..solvers import Step, Trajectory
from ..solvers.looks import BEYOND, SEEN
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .episode import Episode
from .events import Events
from .failures import stop_at_failed_step
from .next_branch import GOES_ON, beyond_fold
from .recording import RunRecording
from .running_method import RunningMethod
from .zero_crossings import ZeroCrossings

if TYPE_CHECKING:
    from ..native.courses import PassedCourses
    from ..nonsmooth.modes.decisions import Change
    from ..nonsmooth.modes.drift_correction import Contacts

__all__ = ["Ending", "Integration"]

LAST_STEPS = 5  # and one less: a dead point is near within the longest of these
FARTHER = 16  # times that: after an event steps are short


class Ending(NamedTuple):
    """How an episode has ended; the problem is at its end.

    Attributes
    ----------
    t : time reached
    switched : relations and modes that switch there; None where nothing does
    changes : of modes, that a method which steps over events has made; None of others
    reach : how far into a step a crossing was found
    """

    t: float
    switched: Indices | None = None
    changes: list[Change] | None = None
    reach: float = 0.0


class Integration:
    """Integrates one episode after the other.

    Parameters
    ----------
    recording : gets the episodes
    running : RunningMethod
    events, crossings : what ends an episode
    contacts : what keeps closed contacts closed, where there are laws that need it
    progress : is told the time reached
    """

    def __init__(self, recording: RunRecording, running: RunningMethod, events: Events,
                 crossings: ZeroCrossings, contacts: Contacts | None) -> None:
        self.recording, self.problem, self.system = recording, recording.problem, recording.system
        self.running, self.events, self.crossings = running, events, crossings
        self.time_events = events.time_events
        self.contacts = contacts
        self.progress: Callable[[float], None] | None = None
        self.until = np.inf  # where a program wants to look that drives the run step by step
        laws, system = self.problem.laws, self.system
        self.watched = bool(system.nm or (laws is not None and laws.watched))
        # of the present episode
        self.t = self.stop = running.settings.t_start
        self.y: Array = np.zeros(0)
        self.method: Any = None
        self.trajectory: Any = None
        #: Tied states and unknowns of nonlinear loops at ends of its steps, where others keep none.
        self.marks: list[tuple[float, Array]] | None = None
        self.retaken = False  # its first step
        self.looked_into = False  # steps, for pulses and places where functions of states bend
        self.decided_in_steps = False  # by a method that steps over events
        self.modes: Any = None  # at the start, where they are

    def open(self, t: float, struck: tuple[tuple[int, int], ...] = (), trajectory: Any = None
             ) -> None:
        """Begin an episode at the present point, with the record of its steps."""
        problem = self.problem
        if problem.delays is not None:
            problem.delays.begin(problem, t)
        if trajectory is None:
            trajectory = Trajectory(t, problem.solver_vector())
        self.recording.episodes.append(Episode.begun(problem, trajectory, struck))

    def go_on(self) -> Ending:
        """Integrate to the end of the episode that has begun."""
        self.stop = min(self.stop, self.until)
        try:
            while self.t < self.stop:
                ending = self.taken(self.running.advance(self.t, self.stop))
                if ending is not None:
                    return ending
            self.problem.solve(self.t, self.y)
        finally:
            self.running.count()
        # an instant at which an episode has begun was carried out by the method itself
        passed = self.trajectory.start == self.t or not self.time_events.is_known(self.t)
        if (self.t >= self.until and passed) or self.t >= self.time_events.t_end:
            self.problem.choose_states(self.t)  # a program's steps may all be as short as one
            return Ending(self.t)
        self.running.keep_step()
        return Ending(self.t, self.time_events.at(self.t))

    def begin(self, t: float, struck: tuple[tuple[int, int], ...]) -> None:
        """Begin an episode at the present point."""
        problem, laws = self.problem, self.problem.laws
        self.t, self.y = t, problem.solver_vector()
        self.method = self.running.begin(t, self.y)
        self.trajectory = self.method.course
        if self.trajectory is None:
            self.trajectory = Trajectory(t, self.y, order=self.method.order)
        self.open(t, struck, self.trajectory)
        self.marks = self.recording.episodes[-1].marks = problem.guess = None
        if _follows_branches(problem) and not self.method.looks_itself:
            self.marks = self.recording.episodes[-1].marks = []
            self._mark(t)
        self.stop = self.time_events.after(t, self.method.own_events is not None)
        if problem.delays is not None and self.method.own_events is None:
            self.stop = min(self.stop, problem.delays.after(t))
        self.decided_in_steps = laws is not None and self.method.steps_over_events
        self.modes = laws.modes.copy() if self.decided_in_steps else None
        self.crossings.begin(t)
        self.retaken, bends = False, self.system.state_tables
        self.looked_into = not (self.method.looks_itself or self.method.fixed_step) and bool(
            self.system.tape.exponents.numel() or bends.tables
            or bends.places.numel() and not self.method.as_published)

    def taken(self, step: Step) -> Ending | None:
        """The method has taken a step, or many; tell the ending if that was the last."""
        if self.method.passed is not None:
            self._go_on_from_events(self.method.passed, step)
        if self.method.waits:
            self.stop = step.t
        if step.failure:
            ending = self._gone_on(step.t, np.asarray(step.y))
            if ending is not None:
                return ending
            if self.running.takes_another(step):
                self.problem.solve(step.t, np.asarray(step.y))
                return Ending(step.t)
            stop_at_failed_step(self.recording, step, self.running.settings.t_start)
        if self.decided_in_steps:
            return self._take_decisions(step)
        try:
            return self._take_step(step)
        except AlgebraicFailure as failure:  # at a point within it
            t, y = (step.t, step.y) if self.method.looks_itself else (self.t, self.y)
            self.problem.failure = failure
            if (ending := self._gone_on(t, np.asarray(y))) is not None:
                return ending
            stop_at_failed_step(self.recording, Step.failed(t, y, str(self.problem.failure)),
                                self.running.settings.t_start)

    def _take_step(self, step: Step) -> Ending | None:
        """Take what a step is good for; tell the ending if that was the last."""
        if self.looked_into:
            length = self.crossings.length(step, self.method.atol, self.method.rtol)
            if length < step.t - step.t_old:
                self.method = self.running.begin_again(self.t, self.y, length)
                return None
        crossing = self._crossing(step, self._unseen(step))
        if crossing is not None:
            at, which, early, y = crossing
            if early:
                self.retaken = True
                self.method = self.running.begin_again(self.t, self.y, BEYOND * (at - self.t))
                return None
            return self._end_at_crossing(step, at, which, y)
        if self.marks is not None:
            self.problem.solve(step.t, np.asarray(step.y))
            self._mark(step.t)
        self._keep(step, step.t)
        if self.t >= self.stop:
            return None  # what is known to happen now comes first
        return self._over_dead_point(step.t, np.asarray(step.y)) or (
            Ending(self.t) if self._is_over(step) else None)

    def _mark(self, t: float) -> None:
        """Note what is solved for at the present point: from there tied states go on along their
        slopes, and torn unknowns are expected to stay."""
        problem, slope = self.problem, np.zeros(self.problem.algebraic)
        if len(problem.tied):
            slope[: len(problem.tied)] = self.system.slope(*problem.arguments(t))[problem.tied]
        known = problem.solved_for
        problem.guess = lambda at: known + (at - t) * slope
        assert self.marks is not None
        self.marks.append((t, known))

    def _gone_on(self, t: float, y: Array) -> Ending | None:
        """Go on where steps come to no end: over a dead point, or with another solution of loops;
        None if neither is there."""
        return self._over_dead_point(t, y) or self._beyond_end(t, y)

    def _beyond_end(self, t: float, y: Array) -> Ending | None:
        """Go on with another solution of nonlinear loops where the one so far ends; None if none.

        Such a solution is no relation that switches, but an event all the same.
        """
        problem, system = self.problem, self.system
        if not system.nz or system.has_linear_loops or system.clusters or (
                problem.laws is not None and problem.laws.massless):
            return None
        if self.marks is not None:
            z = self.marks[-1][1]
        elif self.trajectory.carries:
            z = self.trajectory.states(np.array([t]), np.zeros(1, dtype=int))[0, system.nx :]
        else:
            z = problem.z.copy()
        settings = self.running.settings
        problem.guess = None
        problem.x[problem.free] = y[: len(problem.free)] * problem.scale_x[problem.free]
        problem.z[:] = z
        if problem.laws is not None:  # efforts at a point beyond were none
            problem.u[:] = self.recording.episodes[-1].u
            problem.laws.apply(problem, t)
        try:
            beyond = beyond_fold(problem, t, settings.t_end - settings.t_start)
        except AlgebraicFailure as failure:
            problem.failure, beyond = failure, None
        if beyond is None:
            return None
        problem.z[:], self.t, self.y = beyond, t, y
        problem.update_anew(t)
        name = system.torn_name(int(np.argmax(np.abs(beyond - z) / problem.scale_z)))
        component, _, variable = name.rpartition(".")
        self.events.log.remember(t, component, f"{variable} {GOES_ON}")
        return Ending(t, np.zeros(0, dtype=int))

    def _over_dead_point(self, t: float, y: Array) -> Ending | None:
        """Go over a dead point within the next step, in an episode of its own; None if none is."""
        if not self.system.clusters:
            return None
        problem, last = self.problem, np.diff(self.trajectory.t[-LAST_STEPS:])
        if not len(last):
            return None
        try:
            problem.solve(t, y)
        except AlgebraicFailure:
            return None
        # machine code asks where the choice of states turns bad; after an event steps are short
        longest = last.max() * (FARTHER if self.method.looks_itself else 1)
        from .dead_point import STAGES, steps_over, time_to_dead_point

        ahead, tied = time_to_dead_point(problem, t), problem.tied
        if not -longest < ahead <= longest:
            return None
        guess, problem.guess = problem.guess, None
        steps = steps_over(problem, t, ahead, longest, self.stop, self.running.settings.rtol)
        if not steps:
            problem.guess = guess
            return None
        problem.failure, at, which = None, t, None
        problem.tie(np.zeros(0, dtype=int))
        self.open(t, trajectory=Trajectory(t, problem.solver_vector(), order=STAGES))
        self.trajectory = self.recording.episodes[-1].trajectory
        self.crossings.begin(t)
        for step in steps:
            at, which = (self._crossing(step) or (step.t, None))[:2]
            self._keep(step, at)
            if which is not None:
                break
        problem.solve(at, self.trajectory(at))
        problem.tie(tied)
        problem.solve(at, problem.solver_vector())
        problem.choose_states(at)
        self.running.begin_with(at - step.t_old, at)
        return Ending(at, which, reach=at - step.t_old)

    def _go_on_from_events(self, passed: PassedCourses, step: Step) -> None:
        """Go on from the last event that the method has carried out."""
        following = self.events.passed(passed)
        self.running.episodes += len(passed)
        self.crossings.relation_tolerance[:] = self.method.slack[: self.system.nm]
        self.crossings.begin(float(passed.events.times[-1]))
        self.method.passed = None
        if passed.events.broken:
            self.problem.solve(step.t, np.asarray(step.y))
            self.events.require(step.t)
        self.recording.episodes.append(following)
        self.trajectory = self.method.course

    def _is_over(self, step: Step) -> bool:
        """Whether the episode ends after a step, though nothing switches; the problem is at the
        end then. The first reason counts."""
        if self.contacts is not None and self._closed_contacts(step):
            return True
        if self.method.unsure:  # it may be no method for what comes
            return self._choose_states(step) or True
        if self.system.clusters and self._choose_states(step):
            return True
        if not self.running.given_up(step):
            return False
        self.t, self.y = self.method.t, self.method.y  # it may have gone back
        self.problem.solve(self.t, np.asarray(self.y))  # a method may have looked between
        return True

    # -- crossings -------------------------------------------------------------------------
    def _crossing(self, step: Step, early: float = 0.0
                  ) -> tuple[float, Indices, bool, Array] | None:
        """The first crossing in a step, what has crossed, and whether it is ``early``, less than so
        far from the start; and the unknowns there."""
        if step.crossed is not None:
            return step.t, step.crossed, False, step.y
        self.crossings.atol = self.method.atol
        return None if step.clear or not self.watched else self.crossings.first(step, early)

    def _unseen(self, step: Step) -> float:
        """How far the first step of an episode may have strode over what holds up to a crossing.

        It has the length of one before the event; no error tells of what its stages have not seen.
        """
        first = step.t_old == self.t == self.trajectory.start and not self.retaken
        return SEEN * (step.t - step.t_old) if first and not self.method.fixed_step else 0.0

    def _end_at_crossing(self, step: Step, at: float, which: Indices, y: Array) -> Ending:
        laws = self.problem.laws
        self._keep(step, at)
        crossings, nm = self.crossings, self.system.nm
        crossings.step, crossings.atol = step.t - step.t_old, self.method.atol
        if self.method.looks_itself:
            crossings.relation_tolerance[:] = self.method.slack[:nm]
            crossings.largest[:] = self.method.largest[:nm]
            if laws is not None:
                laws.notice(self.method.largest[nm:])
        self.problem.solve(at, y)
        return Ending(at, which, reach=at - step.t_old)

    def _take_decisions(self, step: Step) -> Ending | None:
        """What a method that steps over events has decided in a step."""
        laws = self.problem.laws
        self._keep(step, step.t)
        turned = self._turned_relations()
        if not len(turned) and np.array_equal(laws.modes, self.modes):
            return None
        self.problem.solve(step.t, np.asarray(step.y))
        return Ending(step.t, turned if len(turned) else None,
                      laws.elements.changes(self.modes, laws.modes))

    def _turned_relations(self) -> Indices:
        """Relations that no longer hold at the end of a step, known instants apart."""
        if not self.system.nm or self.t >= self.stop:
            return np.zeros(0, dtype=int)
        g = self.problem.crossings(self.t, self.y)
        wrong = np.where(self.problem.m > 0.5, g, -g) < 0
        return np.flatnonzero(wrong & ~self.time_events.timed)

    # -- ends of steps ---------------------------------------------------------------------
    def observe(self, step: Step) -> None:
        """The method has got as far as this, and goes on."""
        if self.method.passed is not None:
            self._go_on_from_events(self.method.passed, step)
        self._keep(step, step.t)

    def _keep(self, step: Step, until: float) -> None:
        self.trajectory.append(step, until=until)
        if (delays := self.problem.delays) is not None:
            whole = self.method.looks_itself  # a call takes many steps, and keeps what it can
            delays.keep(self.problem, self.trajectory if whole else step.dense,
                        self.trajectory.t if whole and until > delays.past.end
                        else np.array([until]))
        self.t, self.y = step.t, step.y
        self.recording.keeper.observe(self.recording)
        if self.progress is not None:
            self.progress(until)

    def _choose_states(self, step: Step) -> bool:
        """Make the end of a step the present point; whether other states are integrated now."""
        self.problem.solve(step.t, np.asarray(step.y))
        return self.problem.choose_states(step.t)

    def _closed_contacts(self, step: Step) -> bool:
        """Whether closed contacts had drifted apart by the end of a step, and were closed anew."""
        self.problem.solve(step.t, np.asarray(step.y))
        assert self.contacts is not None
        if not self.contacts.close(self.problem, step.t):
            return False
        self.problem.choose_states(step.t)
        self.running.begin_with(step.t - step.t_old, step.t)
        return True


def _follows_branches(problem: Problem) -> bool:
    """Whether tied states, or unknowns of nonlinear loops, are solved for at every point."""
    system, laws = problem.system, problem.laws
    return bool(system.clusters) or (
        bool(system.tape.followed.any()) and problem.size == len(problem.free)
        and (laws is None or not laws.massless))
