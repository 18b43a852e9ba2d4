"""Which events does a run tell, and when are they too many?"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..exceptions import SimulationError
from ..numerics.arrays import Array
from ..results.recording import EventRecord
from .passed_events import PassedEpisodes
from .recording import RunRecording

__all__ = ["EventLog"]

CHATTER = 200  # events of one relation within a thousandth of the run, and no known instant between
WINDOW = 1e-3  # part of the run


class EventLog:
    """Events of a run, and what has lately switched in it.

    Parameters
    ----------
    recording : of the run
    duration : of the run, s
    instants : known beforehand, ascending: what they make switch is no chatter, however fast
    """

    def __init__(self, recording: RunRecording, duration: float, instants: Array) -> None:
        self.recording, self.duration, self.instants = recording, duration, instants
        self.recent: list[tuple[float, str]] = []

    def remember(self, t: float, component: str, text: str, suspicious: bool = True,
                  **mode: str) -> None:
        """Record an event; a series of ever smaller bounces is no chatter."""
        self.recording.log.append(EventRecord(float(t), component, text, **mode))
        if suspicious:
            self.recent.append((t, component))

    def remember_passed(self, passed: PassedEpisodes) -> None:
        """Record events that a method has carried out itself."""
        window, switches = WINDOW * self.duration, passed.switches
        times = np.concatenate([np.array([t for t, _ in self.recent]),
                                np.repeat(passed.times, switches)])
        since = max(passed.times[-1] - window, self._last_instant(passed.times[-1]))
        first = times[: max(len(times) - CHATTER, 0)]
        last = times[CHATTER:]
        crowded = (last - first <= window) & (np.searchsorted(
            self.instants, first, "right") == np.searchsorted(self.instants, last, "right"))
        if crowded.any():
            since = -np.inf
        else:
            self.recording.log.append(passed)
        for k in np.flatnonzero((passed.times >= since) & (switches > 0)).tolist():
            t = float(passed.times[k])
            self.recent += [(t, name) for name in passed.who(k)]
            if crowded.any():
                self.recording.log.extend(passed.told(k))
                self.refuse_chatter(t)

    def suspect(self, t: float, component: str) -> None:
        """Count a switch that is no event."""
        self.recent.append((t, component))

    def refuse_chatter(self, t: float) -> None:
        """Stop a run in which one component switches for ever."""
        since = max(t - WINDOW * self.duration, self._last_instant(t))
        while self.recent and self.recent[0][0] < since:
            self.recent.pop(0)
        if len(self.recent) > CHATTER:
            crowd = Counter(component for _, component in self.recent)
            component, n = crowd.most_common(1)[0]
            if n > CHATTER // 2:
                self._chatter(t, component, n, len(self.recent), self.recent[0][0])

    def _last_instant(self, t: float) -> float:
        """The last known instant up to a time."""
        k = int(np.searchsorted(self.instants, t, "right"))
        return float(self.instants[k - 1]) if k else -np.inf

    def _chatter(self, t: float, component: str, n: int, total: int, since: float) -> None:
        self.recording.status = "failed"
        self.recording.message = f"chattering of {component}"
        raise SimulationError(
            component,
            f"switches back and forth: {n:,} of {total:,} crossings between {since:.6g} s and "
            f"{t:.6g} s are its own.",
            "Give the condition a hysteresis, or state the law as dry friction or contact.",
            time=t, variables=(component,),
        )  # fmt: skip
