"""How much may the record of a run hold, and what becomes of it beyond?

A record that would pass a share of the memory is thinned: all over the run, of the steps of the
compiled one-step methods fewer ends are kept (nothing is lost, reading takes the steps between
again), of all other methods pairs of steps become one polynomial. What thinning cannot make
smaller, such as the starts of very many episodes of a large model, ends the run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ..exceptions import SimulationError, warn_user
from ..results.recording import RecordWarning

if TYPE_CHECKING:
    from .recording import RunRecording

__all__ = ["MemoryBound", "WholeRecord", "allowed_bytes"]

SHARE = 0.25  # of the memory of the machine
UNKNOWN = 8 << 30  # bytes of a machine that does not tell
ENOUGH = 0.7  # of what is allowed: a record is thinned down to it
WORTH = 0.95  # of what was held before: thinning that leaves more is none
GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
ADVICE = ("Name what is to be kept, simulate(…, record=['spring.x']), and a file for what does not "
          "fit either: record_to='run.parquet'.")  # fmt: skip


@cache
def allowed_bytes() -> int:
    """What the record of a run may hold: a share of the memory that this process may use."""
    found = [_physical_memory()]
    for file in map(Path, GROUPS):  # of a container
        try:
            found.append(int(file.read_text()))
        except (OSError, ValueError):
            continue
    return int(SHARE * min(found))


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _windows_memory()


def _windows_memory() -> int:
    import ctypes

    try:
        kilobytes = ctypes.c_ulonglong()
        ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return UNKNOWN
    return 1024 * kilobytes.value or UNKNOWN


class MemoryBound:
    """Thins a record where it passes what is allowed, and says so once."""

    def __init__(self) -> None:
        self.allowed = allowed_bytes()
        self.thinned = 0  # how often
        self.off = 0.0  # by how much values are off for that

    def keep(self, recording: RunRecording, thin: Callable[[], float], count: Callable[[], int]
             ) -> None:
        """Thin what a recording holds.

        Statistics and status of the ``recording`` tell of it; ``thin`` gives up about half, and
        tells by how much values are off for it; ``count`` gives the bytes that are held. Raises
        SimulationError where it cannot be thinned any more.
        """
        held = count()
        while held > ENOUGH * self.allowed:
            before = held
            self.off += thin()
            self.thinned += 1
            held = count()
            if held > WORTH * before:
                if held > self.allowed:
                    self._stop(recording)
                break
        if "record thinned" not in recording.statistics:
            what = ("Values between steps are off by up to 'record error' in the statistics, "
                    "relative to nominal values." if self.off else
                    "Nothing is lost: steps are taken again where values between them are asked "
                    "for, which takes time.")  # fmt: skip
            warn_user(
                f"{recording.name}: all variables at all steps would take more than "
                f"{self.allowed / 1e9:.3g} GB, {SHARE:.0%} of the memory: fewer steps are kept. "
                f"{what} {ADVICE}", RecordWarning)
        recording.statistics.update({"record thinned": self.thinned, "record error": self.off})

    def _stop(self, recording: RunRecording) -> NoReturn:
        recording.fail("the record does not fit into the memory")
        raise SimulationError(
            "", f"the record of the run passes {self.allowed / 1e9:.3g} GB, {SHARE:.0%} of the "
            f"memory, at t = {recording.episodes[-1].end:.6g} s with {len(recording.events)} "
            "events, and cannot be made smaller.", f"{ADVICE} Everything before is in "
            "error.result.", code="simulation.memory", time=recording.episodes[-1].end,
        )  # fmt: skip


class WholeRecord:
    """Everything is kept: all states of all steps, from which any variable follows."""

    def __init__(self) -> None:
        self.bound = MemoryBound()

    def observe(self, recording: RunRecording) -> None:
        """Called after every step, or as many as a method takes at once."""
        episodes = recording.episodes
        if episodes.nbytes > self.bound.allowed:
            self.bound.keep(recording, episodes.thin, lambda: episodes.nbytes)

    def finish(self, recording: RunRecording) -> None:
        """The run is over."""
        recording.statistics["record bytes"] = recording.episodes.nbytes
