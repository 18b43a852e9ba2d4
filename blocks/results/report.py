"""What happened in a run, besides its curves: events, counters, variables."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from ..exceptions import WrongCall
from .formatting import SECOND, label, number
from .lookup import collapsed, find_one
from .recording import EventRecord, Recording, VariableInfo
from .sheet import SHOWN, ByName, DataFrame, Sheet, Tabulated, pandas

__all__ = ["Events", "Statistics", "Variables"]


class Events(Tabulated, Sequence[EventRecord]):
    """The events of a run in order of time; iterates over :class:`EventRecord`."""

    def __init__(self, records: Sequence[EventRecord]) -> None:
        self._records = records

    @overload
    def __getitem__(self, index: int) -> EventRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Events: ...
    def __getitem__(self, index: int | slice) -> EventRecord | Events:
        if isinstance(index, str):
            raise WrongCall("events[…]", f"takes numbers and slices, but was given {index!r}.",
                            f"Those of a component are result.events.of({index!r}).")
        if isinstance(index, slice):
            return Events(self._records[index])
        try:
            return self._records[index]
        except IndexError:  # their number is counted each time
            raise IndexError(f"there is no event {index}: the run has {len(self)}.") from None

    def __len__(self) -> int:
        return len(self._records)

    def of(self, component: str) -> Events:
        """Events of one component, of its parts, or of the instances of an array."""
        return Events([
            e for e in self._records if component in (e.component, collapsed(e.component))
            or collapsed(e.component).startswith(f"{component}.")])

    def to_pandas(self) -> DataFrame:
        """A DataFrame with the columns time [s], component and what, element, mode and previous."""
        columns = self._sheet().columns | {name: [getattr(e, name) for e in self._records]
                                           for name in ("element", "mode", "previous")}
        columns[label("time", SECOND)] = [float(e.time) for e in self._records]
        return pandas("A table of events").DataFrame(columns)

    def _sheet(self) -> Sheet:
        span = max((abs(e.time) for e in self._records), default=0.0)
        return Sheet(f"{len(self):,} events" if len(self) != 1 else "1 event", {
            label("time", SECOND): [number(e.time, digits=7, scale=span) for e in self._records],
            "component": [e.component for e in self._records],
            "what": [e.description for e in self._records]})

    def __repr__(self) -> str:
        return repr(self._sheet()) if len(self) else "no events"

    def _repr_html_(self) -> str:
        return self._sheet()._repr_html_() if len(self) else "<p>no events</p>"


class Statistics(ByName):
    """What a run has cost, and which method was taken and why.

    A plain mapping; counters are also attributes (``result.statistics.steps``).
    """

    method: str
    why: str
    states: int
    steps: int
    rejected: int
    residuals: int
    jacobians: int
    factorizations: int
    events: int

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._named = dict(values)

    if not TYPE_CHECKING:  # which would take every name for one
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return self[name]

    def _sheet(self) -> Sheet:
        rows: list[tuple[str, Any]] = []
        for name, value in self._named.items():
            if isinstance(value, Mapping):
                rows += [(f"{name}: {part}", _cost(v, timed=True)) for part, v in value.items()]
            else:
                rows.append((name.replace("_", " "), _cost(value, timed="time" in name)))
        return Sheet.of_facts("Statistics", rows)


def _cost(value: Any, timed: bool) -> str:
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return str(value)
    if float(value).is_integer() and not (timed and isinstance(value, float)):
        return f"{int(value):,}"
    return number(value, SECOND if timed else None, 4)


class Variables(Tabulated, Sequence[VariableInfo]):
    """The recorded variables: path, unit, kind and description.

    ``matching("friction*")`` narrows them. Printing a long list shows the
    instances of an array as one line.
    """

    def __init__(self, recording: Recording, pattern: str | None = None) -> None:
        self._recording = recording
        self._infos: Collection[VariableInfo] = recording.catalog.values()
        if pattern is not None:
            self._infos = [info for info in self._infos if any(
                fnmatch.fnmatchcase(path, pattern) for path in (info.path, collapsed(info.path)))]

    def matching(self, pattern: str) -> Variables:
        """Return variables whose path, with or without instance number, matches ``*`` and ``?``."""
        return Variables(self._recording, pattern)

    def __len__(self) -> int:
        return len(self._infos)

    def __iter__(self) -> Iterator[VariableInfo]:
        return iter(self._infos)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return find_one(self._recording.catalog, index, self._recording.name)
        return list(self)[index]

    def to_pandas(self) -> DataFrame:
        """A DataFrame by path."""
        pd = pandas("A table of variables")
        infos = list(self)
        return pd.DataFrame({"unit": [str(i.unit) for i in infos], "kind": [i.kind for i in infos],
                             "component": [i.component for i in infos],
                             "doc": [i.doc for i in infos]},
                            index=pd.Index([i.path for i in infos], name="path"))

    def _sheet(self) -> Sheet:
        first: dict[str, VariableInfo] = {}
        for info in islice(self, 200_000):
            first.setdefault(collapsed(info.path), info)
        shown = dict(islice(first.items(), 10 * SHOWN))
        note = f"{len(self):,} variables" if len(self) > len(first) else ""
        return Sheet("Variables", {
            "path": list(shown), "unit": [str(i.unit) for i in shown.values()],
            "kind": [i.kind for i in shown.values()], "meaning": [i.doc for i in shown.values()],
        }, note, total=len(first))


def summary(recording: Recording) -> Sheet:
    """Name, span, status and counts of a run as a small table."""
    rows: list[tuple[str, str]] = [("status", recording.status)]
    if recording.message:
        rows.append(("message", recording.message))
    times, statistics = recording.times, recording.statistics
    if len(times):
        start, end = recording.close_times[[0, -1]]
        rows.append(("time", f"{number(start, SECOND)} to {number(end, SECOND)}"))
    rows += [("variables", f"{len(recording.catalog):,}"), ("samples", f"{len(times):,}")]
    if "method" in statistics:
        rows.append(("method", str(statistics["method"])))
    if statistics.get("steps") is not None:
        rejected = statistics.get("rejected") or 0
        tail = f" ({rejected:,} rejected)" if rejected else ""
        rows.append(("steps", f"{statistics['steps']:,}{tail}"))
    rows.append(("events", f"{len(recording.events):,}"))
    return Sheet.of_facts(f"Result of {recording.name}".removesuffix(" of "), rows)
