"""Which events does a run tell, and when are they too many?"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..exceptions import SimulationError
from ..numerics.arrays import Array
from ..results.recording import EventRecord, Instant
from ..system.failure import STEEP
from .failures import TURN_BACK, has_roots, on_switching
from .passed_events import PassedEpisodes
from .recording import RunRecording
from .time_events import TimeEvents

__all__ = ["EventLog", "are_crowded"]

CHATTER = 200  # events within a short time of the run, and no known instant between
WINDOW = 1e-4  # part of the run, without which it gets to its end,
SLOWER = 100  # times that where no method passes events itself: each takes as much longer
STILL = 1e-4  # nominal values: what chatters comes back before any state has moved that far


def are_crowded(times: Array, duration: float, instants: Array, way: Array | None = None) -> bool:
    """Whether so much switches within a short time of a run that it may be chatter.

    ``times`` are those of what switches, ascending, ``instants`` known beforehand, ascending;
    ``duration`` is of the run, ``way`` of the states up to each, in nominal values, where it is
    known.
    """
    close = times[CHATTER:] - times[:-CHATTER] <= WINDOW * duration
    if way is not None:
        close &= way[CHATTER:] - way[:-CHATTER] <= STILL
    piece = np.searchsorted(instants, times, "right")
    return bool((close & (piece[CHATTER:] == piece[:-CHATTER])).any())


class _Switch(NamedTuple):
    """What has switched, when, and after which way of the states."""

    t: float
    component: str
    way: float


class EventLog:
    """Events of a run, and what has lately switched in it.

    Much that switches in a short time of a run is chatter if nothing moves meanwhile: neither a
    state nor a function of time. A long run is not to be told from chatter by the time alone. What
    ``time_events``, known beforehand, make switch is no chatter, however fast.
    """

    def __init__(self, recording: RunRecording, time_events: TimeEvents) -> None:
        self.recording, self.time_events = recording, time_events
        self.recent: deque[_Switch] = deque()
        self.way = 0.0  # of the states, in nominal values: halfway from each event to the next
        self._seen = -np.inf  # the instant up to which it is known
        #: Events that a method has carried out, whose switches are not counted yet.
        self._uncounted: PassedEpisodes | None = None
        #: Asked for help against chatter; whether there is some.
        self.relief: Callable[[float], bool] = lambda t: False
        self._relieved = self._passed_until = -np.inf  # what switched up to then is of the old one

    def remember(self, t: float, component: str, text: str, suspicious: bool = True,
                  **mode: str) -> None:
        """Record an event; a series of ever smaller bounces is no chatter."""
        self.recording.log.append(EventRecord(Instant(t), component, text, **mode))
        if suspicious:
            self.suspect(t, component)

    def remember_passed(self, passed: PassedEpisodes) -> None:
        """Record events that a method has carried out itself."""
        times = passed.times
        self._count_passed(float(times[0]))
        self._passed_until = float(times[-1])
        if not self._are_crowded(passed):
            self.recording.log.append(passed)
            self._uncounted = passed
            return
        moved = passed.moved(0)
        for k in range(len(times)):
            t = float(times[k])
            self._move(t, float(moved[k]))
            for name in passed.who(k):
                self.suspect(t, name)
            self.recording.log.extend(passed.told(k))
            self.refuse_chatter(t)

    def _count_passed(self, now: float) -> None:
        """Count what of the events that were recorded last has switched shortly before now."""
        passed, self._uncounted = self._uncounted, None
        if passed is None or passed.times[-1] < (since := self._since(now)):
            return
        first = max(int(np.searchsorted(passed.times, since)), len(passed.times) - 2 * CHATTER)
        for k, moved in enumerate(passed.moved(first).tolist(), first):
            t = float(passed.times[k])
            self._move(t, moved)
            for name in passed.who(k):
                self.suspect(t, name)

    def _are_crowded(self, passed: PassedEpisodes) -> bool:
        """Whether so much has switched within a short time, with hardly a state moving."""
        times, few = passed.times, (CHATTER - len(self.recent)) // max(passed.most_switches, 1)
        if few >= len(times) or few > 0 and (times[few:] - times[:-few] > self._window).all():
            return False
        often = passed.switches
        switched = np.append([switch.t for switch in self.recent], np.repeat(times, often))
        duration = self.time_events.duration
        borders = np.sort(np.append(self.time_events.apart, self.time_events.functions.pieces))
        return are_crowded(switched, duration, borders) and are_crowded(
            switched, duration, borders, np.append(
                [switch.way for switch in self.recent],
                np.repeat(self.way + np.cumsum(passed.moved(0)), often)))

    def suspect(self, t: float, component: str) -> None:
        """Count a switch, of which there may be too many."""
        self._count_passed(t)
        if t <= self._relieved:
            return
        if t > self._seen:
            self._move(t, self._last_episode_moved(t))
        self.recent.append(_Switch(t, component, self.way))

    def refuse_chatter(self, t: float) -> None:
        """Stop a run in which one component switches for ever."""
        self._count_passed(t)
        since = self._since(t)
        while self.recent and self.recent[0].t < since:
            self.recent.popleft()
        while len(self.recent) > CHATTER and self.way - self.recent[0].way > STILL:
            self.recent.popleft()
        if len(self.recent) > CHATTER:
            counts = Counter(sorted(switch.component for switch in self.recent))
            (component, often), = counts.most_common(1)
            if often > CHATTER // 2:
                self._chatter(t, component, often, len(self.recent), self.recent[0].t)

    def _move(self, t: float, moved: float) -> None:
        """Add to the way of the states what they have moved up to an event."""
        self._seen, self.way = t, self.way + moved

    def _last_episode_moved(self, t: float) -> float:
        """How far any state has moved, in nominal values, halfway through the last episode."""
        if len(self.recent) < CHATTER // 2 or not self.recording.episodes:
            return 0.0
        course = self.recording.episodes[-1].trajectory
        moved = np.abs(course((course.start + min(t, course.end)) / 2) - course(course.start))
        return float(moved.max(initial=0.0))

    def _since(self, t: float) -> float:
        """From when on what has switched is remembered at a time: no longer than the window, or
        the last instant that is known, or by which a function of time has moved."""
        return max(t - self._window, *(float(instants[k - 1]) if k else -np.inf for instants, k in (
            (instants, int(np.searchsorted(instants, t, "right"))) for instants in (
                self.time_events.apart, self.time_events.functions.pieces))))

    @property
    def _window(self) -> float:
        """How long what switches is remembered, s."""
        slower = SLOWER if self._passed_until == -np.inf else 1
        return WINDOW * slower * self.time_events.duration

    def _chatter(self, t: float, component: str, n: int, total: int, since: float) -> None:
        if self.relief(t):
            self.recent.clear()
            self._relieved = self._passed_until
            return
        self.recording.fail(f"chattering of {component}")
        advice = on_switching(self.recording, [component], "Give the condition a hysteresis, or "
                              "state the law as dry friction or contact."
                              + f" {STEEP}" * has_roots(self.recording.system, component))
        if self.recording.is_explicit and advice is not TURN_BACK:
            advice = ("Where something settles fast there, steps of an explicit method wiggle "
                      f"about it: take method='rodas4'. Otherwise {advice[0].lower()}{advice[1:]}")
        raise SimulationError(
            component,
            f"switches back and forth: {n:,} of {total:,} crossings between {since:.6g} s and "
            f"{t:.6g} s are its own.",
            advice, time=t, variables=(component,),
        )  # fmt: skip
