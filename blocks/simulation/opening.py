"""What is decided at the start of a run before it moves, and by whom at its events later on?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..system.problem import Problem
from .events import Events
from .recording import RunRecording
from .time_events import TimeEvents
from .zero_crossings import ZeroCrossings

if TYPE_CHECKING:
    from ..nonsmooth.contract import Laws
    from ..nonsmooth.modes.drift_correction import Contacts

__all__ = ["MOMENT", "Opening", "TrialStart"]

MOMENT = 1e-9  # s of a run that are prepared where only its start is asked for


class Opening:
    """Those who decide on relations and modes of a run; at the start once, for check and run.

    Parameters
    ----------
    recording : of a problem at its consistent start
    t_start, t_end : of the run
    seen : up to when known instants are looked for at once; to the end, unless given

    Attributes
    ----------
    time_events, crossings, events : what happens in the run, and when
    contacts : what keeps closed contacts closed, where the laws do not do that themselves
    """

    def __init__(self, recording: RunRecording, t_start: float, t_end: float,
                 seen: float | None = None) -> None:
        self.recording, self.problem = recording, recording.problem
        self.t_start = t_start
        self.time_events = TimeEvents(recording.system, self.problem.p, t_start, t_end, seen)
        self.crossings = ZeroCrossings(self.problem, self.time_events)
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


def _contacts_of(problem: Problem) -> Contacts | None:
    """What keeps closed contacts closed, where there are any and the laws do not do it."""
    laws = problem.laws
    if laws is None or laws.recorded:
        return None
    from ..nonsmooth.modes.drift_correction import contacts_of

    return contacts_of(laws)
