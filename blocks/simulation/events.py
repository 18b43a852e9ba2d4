"""What happens at an event, and what is decided at the start of a run before it moves?

Relations first, with state changes and samplings; then what sticks and touches; then what is
required of the run.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..native.own_events import EventRules
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Array, Indices
from ..numerics.instants import MOST_ROUNDS
from ..system.problem import Problem
from .actions import EFFORTS, Requirements, Resets, Samplings
from .episode import Episode
from .event_log import EventLog
from .forced_jumps import ForcedJumps
from .passed_events import PassedEpisodes
from .recording import RunRecording
from .switching import Switching
from .time_events import TimeEvents
from .zero_crossings import ZeroCrossings

if TYPE_CHECKING:
    from ..native.courses import PassedCourses
    from ..nonsmooth.contract import Laws
    from ..nonsmooth.modes.decisions import Change
    from ..nonsmooth.modes.drift_correction import Contacts
    from .driven_steps import DrivenSteps

__all__ = ["MOMENT", "Events", "Opening", "TrialStart"]

MOMENT = 1e-9  # s of a run that are prepared where only its start is asked for


class Events:
    """Carries out the events of a run, and tells them.

    ``contacts`` keep closed contacts closed, where the laws do not do that themselves.
    """

    def __init__(self, recording: RunRecording, time_events: TimeEvents, crossings: ZeroCrossings,
                 contacts: Contacts | None, t_end: float) -> None:
        self.recording, self.problem = recording, recording.problem
        self.contacts = contacts
        system = recording.system
        self.log = EventLog(recording, time_events)
        self.requirements = Requirements.of(system)
        self.jumps = ForcedJumps.of(system)
        self.time_events = time_events
        self.switching = Switching(self.problem, time_events, Resets.of(system),
                                   Samplings.of(system, time_events), crossings, self.log, t_end)
        # struck: (family, instance) of contacts struck at the last event
        self.struck: tuple[tuple[int, int], ...] = ()

    def rules(self, t: float, driven: bool = False, told: DrivenSteps | None = None
              ) -> EventRules | None:
        """What a method may carry out itself; None where it takes more than it knows.

        In a ``driven`` run what a program has ``told`` is an event too.
        """
        problem, switching, times = self.problem, self.switching, self.time_events
        samplings, laws = switching.samplings, problem.laws
        delayed = problem.delays is not None
        happens = driven or samplings.active or len(times.times) or problem.system.nm or (
            len(problem.system.tables.slots) or delayed)
        parts = None if laws is None else laws.decision_data(problem, t)
        known = parts is not None
        samplers, resets = samplings.rules(known), switching.resets.rules(known)
        required = None if self.requirements.values is None else self.requirements.values.function
        if (self.jumps.are_possible(problem, times, switching.t_end)
                or switching.resets.noted and (driven or resets is None)):
            return None
        if parts is None and (not happens or laws is not None and (
                laws.elements.switch.any()  # what their conditions tell changes modes
                or driven and laws.watched  # others decide what follows on what is told
                or self._follows_efforts)):
            return None
        acting = np.zeros_like(times.timed)
        if resets is not None and isinstance(parts, NetworkModes):
            asked = switching.resets.relations()  # and decided on after what is assigned
            acting = parts.joint if asked is None else parts.joint & asked
        return EventRules(times.relations.at_zero, times.timed, times.relations.loops,
                          times.duration, acting, (told or times).ahead, samplers, resets,
                          parts, required, switching.indirect, switching.resting)

    @cached_property
    def _follows_efforts(self) -> bool:
        """Whether what is required or assigned depends on efforts of set-valued laws."""
        every = (self.requirements.values, self.switching.samplings.values,
                 self.switching.resets.assigned)
        return any(one is not None and one.function.jac_sparsity(0, EFFORTS).nnz() for one in every)

    def passed(self, courses: PassedCourses) -> Episode:
        """Take note of events that the method has carried out; the episode that begins then."""
        problem, recording, events = self.problem, self.recording, courses.events
        before = recording.episodes[-1]
        passed = PassedEpisodes(courses, before, self.time_events.relations, recording.catalog,
                                problem.laws, self.switching.resets, problem.scale_x)
        recording.episodes.append(passed)  # first: it may be found that they chatter
        self.log.remember_passed(passed)
        problem.m[:], problem.d[:] = passed.last.m, passed.last.d
        if problem.delays is not None:
            problem.delays.select(float(events.times[-1]))
        if events.modes is not None:
            problem.laws.take_over(events.modes[-1], events.fast)
        return passed.last

    def begin(self, t: float) -> None:
        """Bring relations and modes in line with the start; refuse a start that cannot be."""
        laws = self.problem.laws
        self.switching.begin(t, modes_known=laws is None)
        if laws is not None:
            if self.contacts is not None:
                self.contacts.refuse_impossible(self.problem, t)
            laws.begin(self.problem, t)
            if self._close_contacts(t):
                laws.begin(self.problem, t)
            self.switching.begin(t)  # relations may look at the sticking efforts
        self.require(t)

    def switch(self, t: float, which: Indices) -> bool:
        """Switch relations and modes, as they are numbered by :class:`ZeroCrossings`.

        Returns whether it was in vain: modes were to end, and all of them go on.
        """
        problem, nm = self.problem, self.problem.system.nm
        m, d = problem.m.copy(), problem.d.copy()
        problem.system.tables.fill(problem.d, self.time_events.just_after(t))
        if problem.delays is not None:
            problem.delays.select(t)
        self.switching.flip(t, which[which < nm], bool((which >= nm).any()))
        self._refuse_jumps(t, m, d)
        in_vain, touched = False, which[which >= nm] - nm
        if problem.laws is not None:
            changes = problem.laws.decide(problem, t, touched)
            self.tell_modes(t, changes)
            in_vain = len(which) > 0 and bool((which >= nm).all()) and all(
                c.before == c.after and not c.impact for c in changes)
            for k in range(MOST_ROUNDS):
                if not self.switching.follow(t, k + 1 == MOST_ROUNDS):
                    break
                self._refuse_jumps(t, m, d)
                struck = self.struck
                self.tell_modes(t, problem.laws.decide(problem, t, touched[:0]))
                self.struck = struck + self.struck
                in_vain = False
            self._close_contacts(t)
        self.require(t)
        problem.failure = None
        problem.choose_states(t)
        return in_vain

    def _close_contacts(self, t: float) -> bool:
        """Close gaps of closed contacts; whether anything moved. What stiff parts bear would be
        another from the first step on, and no error tells."""
        return self.contacts is not None and self.contacts.close(self.problem, t)

    def take_struck(self) -> tuple[tuple[int, int], ...]:
        """Who was struck at the last event; told once."""
        struck, self.struck = self.struck, ()
        return struck

    def tell_modes(self, t: float, changes: list[Change]) -> None:
        """Tell that elements stick, slide, touch or part."""
        elements = self.problem.laws.elements
        self.struck = tuple(elements.owners[c.element] for c in changes if c.impact)
        for change in changes:
            if change.impact and change.before == change.after == 0:
                continue  # closed, it passes on the blow of another contact
            if change.before == change.after and not change.impact:
                self.log.suspect(t, elements.name(change.element))
                continue
            told = self.recording.catalog.elements.told(change.element, change.before, change.after)
            self.log.remember(t, elements.name(change.element), elements.words(change),
                              not self.struck, **told)
        self.log.refuse_chatter(t)

    def _refuse_jumps(self, t: float, m: Array, d: Array) -> None:
        """``m`` and ``d``: relations and discrete values before the event."""
        flipped = np.flatnonzero(self.problem.m != m)
        causes = [self.time_events.relations.describe(int(r), True)[0] for r in flipped[:1]]
        self.jumps.refuse(self.problem, t, m, d, *causes)

    def require(self, t: float) -> None:
        """End the run where something that is required of it does not hold."""
        self.requirements.check(self.problem, t, fixed_step=self.recording.accuracy is None)


class Opening:
    """What decides on relations and modes of a run; at the start once, for check and run.

    The ``recording`` is of a problem at its consistent start; ``seen``: up to when known instants
    are looked for at once; to the end, unless given.
    """

    def __init__(self, recording: RunRecording, t_start: float, t_end: float,
                 seen: float | None = None) -> None:
        self.recording, self.problem = recording, recording.problem
        self.t_start = t_start
        # time_events, crossings, events: what happens in the run, and when
        self.time_events = TimeEvents(recording.system, self.problem.p, t_start, t_end, seen)
        self.crossings = ZeroCrossings(self.problem, self.time_events)
        # what keeps closed contacts closed, where the laws do not do that themselves
        self.contacts = _contacts_of(self.problem)
        self.events = Events(recording, self.time_events, self.crossings, self.contacts, t_end)
        self.begun = False

    def begin(self) -> None:
        """Bring relations and modes in line with the start; refuse a start that cannot be."""
        if not self.begun:
            self.events.begin(self.t_start)
            self.begun = True


class TrialStart:
    """A copy of a problem whose relations, samples, modes and efforts a run decides at any states.

    The problem is at a consistent start.
    """

    def __init__(self, problem: Problem, laws: Laws | None, t: float) -> None:
        self.problem, self._laws, self._t = problem.copy_for_reading(), laws, t
        # unknowns: torn unknowns there, before efforts are decided
        self._before_samples, self.unknowns = problem.d.copy(), problem.z.copy()

    def decide(self) -> None:
        """Decide at the problem's states as a run that begins there would.

        Raises what a run refuses: BlocksError, AlgebraicFailure or LinAlgError.
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


def _contacts_of(problem: Problem) -> Contacts | None:
    """What keeps closed contacts closed, where there are any and the laws do not do it."""
    laws = problem.laws
    if laws is None or laws.recorded:
        return None
    from ..nonsmooth.modes.drift_correction import contacts_of

    return contacts_of(laws)
