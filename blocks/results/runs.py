"""Which run does a series belong to, and how are series of several runs put side by side?

A series knows its run. Where several meet, one of them says the times, and every other is
read at these by the interpolant of its own run; where it does not cover them, or where there
is no time to go by, they are refused. A part of a run is a recording of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from .recording import EnergyTerm, EventRecord, Instant, Recording, VariableInfo
from .shown import SECOND, number
from .times import grid, seconds_of, within_run

__all__ = ["Part", "along", "by_time", "covered", "headings", "limits", "own_times", "part",
           "refuse_mixture", "run_of"]  # fmt: skip


def run_of(recording: Any) -> Any:
    """The run that a recording is of, or is a part of."""
    return getattr(recording, "run", recording)


def own_times(a: Any, b: Any) -> bool:
    """Whether two recordings are of one run, with the same samples."""
    a, b = (getattr(r, "recording", r) for r in (a, b))
    return a is b or (run_of(a) is run_of(b) and np.array_equal(a.times, b.times))


def limits(recording: Recording, indices: Sequence[int], times: np.ndarray) -> np.ndarray:
    """Values at times; of two equal ones, the first is before an event and the second after."""
    rows = np.array(recording.values(indices, times), dtype=float)
    first = np.append(times[1:] == times[:-1], False)[: len(times)]
    if first.any():
        rows[:, first] = recording.values(indices, times[first], "left")
    return rows


def along(series: Any, times: np.ndarray, beside: str, side: str | None = None) -> np.ndarray:
    """Rows of a series at the times of something else, by the interpolant of its own run.

    Without a side, two equal times are the sides of an event.
    """
    inside = covered(series, times, beside)
    recording, indices = series._recording, [i.index for i in series.infos]
    return limits(recording, indices, inside) if side is None else np.asarray(
        recording.values(indices, inside, side), dtype=float)


def covered(series: Any, times: np.ndarray, beside: str) -> np.ndarray:
    """The times at which a series of another run is wanted, refused where it has none."""
    if series.kind == "time":
        raise ParameterError(
            f"{beside} and time", "belong to different runs, and the sample times of one say "
            "nothing of the other.", "Take the time of the same run.", code="result.runs",
        )  # fmt: skip
    try:
        return within_run(series._recording.times, times, series.path)
    except ParameterError as error:
        covers = " to ".join(number(t, SECOND, 9) for t in error.data.get("bound", ()))
        raise ParameterError(
            f"{beside} and {series.path}", "belong to different runs or parts of one: "
            f"{series.path} is wanted at {number(error.data.get('given', np.nan), SECOND, 9)}, "
            f"but covers {covers or 'nothing'}.",
            "Take the part of time that both cover, such as series['0 s':'1 s'].",
            code="result.runs", **{k: error.data.get(k) for k in ("given", "bound")},
        ) from None  # fmt: skip


def refuse_mixture(found: Sequence[Any], what: str) -> None:
    """Refuse series that do not share their samples where nothing says how to align them."""
    for other in found[1:]:
        if not own_times(found[0]._recording, other._recording):
            raise ParameterError(
                f"{found[0].path} and {other.path}", "belong to different runs or parts of one, "
                f"and {what} does not say how their samples belong together.",
                "Read them at common times first, a.at(times) and b.at(times), or give their "
                "quantities as they are: a.quantity, b.quantity.", code="result.runs",
            )  # fmt: skip


def headings(recording: Any, chosen: Sequence[Any]) -> list[str]:
    """What every series is called beside others: its path, and its run if that is another.

    Runs are named by their model, and where that does not tell them apart they are counted:
    the run asked is the first.
    """
    runs = [run_of(recording)]
    for series in chosen:
        run = run_of(series._recording)
        if not any(run is other for other in runs):
            runs.append(run)
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [f"run {k + 1}" for k in range(len(runs))]
    named = zip(runs[1:], names[1:], strict=True)
    of = {id(run): f" ({name})" for run, name in named}
    return [s.path + of.get(id(run_of(s._recording)), "") for s in chosen]


# -- parts of a run ---------------------------------------------------------------------------
def by_time(index: Any) -> bool:
    """Whether what stands between brackets is a time, or a slice of time, and no number."""
    if isinstance(index, slice):
        return any(by_time(part) for part in (index.start, index.stop, index.step))
    return isinstance(index, (str, Instant)) or hasattr(index, "units")


def part(recording: Any, index: slice, where: str) -> Part:
    """The part of a recording in a slice of time."""
    times = np.asarray(recording.times)
    ends = [None if given is None else
            float(within_run(times, seconds_of(given, where), where))
            for given in (index.start, index.stop)]  # fmt: skip
    if not len(times):
        within_run(times, times, where)
    start, end = (float(times[k]) if t is None else t for k, t in zip((0, -1), ends, strict=True))
    if start > end:
        raise ParameterError(where, f"begins at {number(start, SECOND, 9)}, after its end at "
                             f"{number(end, SECOND, 9)}.", "Give the earlier time first.",
                             given=index)  # fmt: skip
    if index.step is not None:
        return Part(recording, grid(np.array([start, end]), index.step, None))
    inside = times[(times > start) & (times < end)]
    return Part(recording, np.concatenate([[start], inside, [end]]))


class Part:
    """A stretch of a recording: from the right limit at its start to the left one at its end."""

    def __init__(self, recording: Any, times: Any) -> None:
        self.whole, self.run, self.times = recording, run_of(recording), times
        self.name, self.status, self.message = recording.name, recording.status, recording.message
        self.catalog: Mapping[str, VariableInfo] = recording.catalog
        self.statistics: Mapping[str, Any] = recording.statistics
        self.events: Sequence[EventRecord] = [
            e for e in recording.events if times[0] <= e.time <= times[-1]]
        self.stops = times[-1] < recording.times[-1] and times[0] < times[-1]

    def values(
        self, indices: Sequence[int], times: np.ndarray | None = None, side: str = "right"
    ) -> np.ndarray:
        if times is not None:
            return self.whole.values(indices, times, side)
        rows = limits(self.whole, indices, self.times)
        if self.stops:
            rows[:, -1:] = self.whole.values(indices, self.times[-1:], "left")
        return rows

    def energy_terms(self) -> Sequence[EnergyTerm]:
        return ()
