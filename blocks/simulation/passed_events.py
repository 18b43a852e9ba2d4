"""What has happened at events that a method has carried out itself?

Told when it is asked for: a run of ten thousand such events makes neither records nor episodes of
them as it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..results.recording import EventRecord, Instant
from .actions import Resets
from .catalog import Catalog
from .episode import Episode
from .relations import Relations

if TYPE_CHECKING:
    from ..native.courses import Course, PassedCourses
    from ..nonsmooth.contract import Laws

__all__ = ["PassedEpisodes"]


class PassedEpisodes:
    """Episodes that begin at events which a method has carried out itself.

    Parameters
    ----------
    courses : of the method, with what held in each
    before : the episode that ended at the first of these events
    relations, catalog, laws, resets : what events are called
    scale : nominal values of the states
    """

    def __init__(self, courses: PassedCourses, before: Episode, relations: Relations,
                 catalog: Catalog, laws: Laws | None, resets: Resets, scale: Array) -> None:
        self.courses, self.before, self.scale = courses, before, scale
        self.elements = None if laws is None else laws.elements
        self.relations, self.catalog, self.resets = relations, catalog, resets
        events = courses.events
        self.times = events.times
        self.last = self._episode(len(self.times) - 1, courses.last)

    # -- episodes that ended at the next event ---------------------------------------------
    def __len__(self) -> int:
        return len(self.times) - 1

    @property
    def start(self) -> Array:
        return self.times[:-1]

    @property
    def end(self) -> Array:
        return self.times[1:]

    @property
    def m(self) -> Flags:
        return self.courses.events.m[:-1]

    @property
    def modes(self) -> Indices:
        modes = self.courses.events.modes
        if modes is None:
            modes = np.repeat(np.atleast_2d(np.asarray(self.before.modes)), len(self) + 1, axis=0)
        return modes[:-1]

    @property
    def struck(self) -> list[tuple[tuple[int, int], ...]]:
        return [self._struck(number) for number in range(len(self))]

    @property
    def u(self) -> Array:
        """Inputs near those of the episodes, as a guess."""
        return self.before.u

    @property
    def arrays(self) -> list[Array | Indices]:
        """What is kept beside the trajectory."""
        return [self.u]

    def episode(self, number: int) -> Episode:
        """The episode between an event and the next one."""
        return self._episode(number, self.courses.finished(number))

    def _episode(self, number: int, course: Course) -> Episode:
        events = self.courses.events
        modes = self.before.modes if events.modes is None else events.modes[number]
        before, x = self.before, events.x[number]
        n = len(before.x)
        z = x[n : n + len(before.z)] if len(x) > n else before.z
        d = events.constants(number)[events.equations.span_of("discrete values")]
        return Episode(course, events.m[number].astype(float), d, before.tied, x[:n], z, before.u,
                       modes, self._struck(number))

    def _struck(self, number: int) -> tuple[tuple[int, int], ...]:
        """Family and instance of contacts that were struck at an event."""
        if self.elements is None:
            return ()
        return tuple(self.elements.owners[e]
                     for e in np.flatnonzero(self.courses.events.struck[number]))

    def discrete_values(self, number: Indices) -> Array:
        """Discrete values in episodes, a column for each."""
        return self.courses.events.d(number).T

    # -- events ----------------------------------------------------------------------------
    @cached_property
    def _switched(self) -> Flags:
        """Which relations have changed at each."""
        return _changed(self.before.m, self.courses.events.m)

    @cached_property
    def _decided(self) -> Flags:
        """Which modes have changed at each, or were struck."""
        events, before = self.courses.events, self.before.modes
        if events.modes is None or before is None:
            return np.zeros((len(self.times), 0), dtype=bool)
        # closed, a contact passes on the blow of another one
        return _changed(before, events.modes) | events.struck & (events.modes != 0)

    @cached_property
    def count(self) -> int:
        """How many of them are told."""
        acted, told = self._acted, self._switched & self.relations.told
        for condition in np.flatnonzero(acted.any(axis=0)).tolist():
            same = self.relations.of(*self.resets.owners[condition])
            told[np.ix_(acted[:, condition], same)] = False
        return int(np.count_nonzero(told) + np.count_nonzero(acted)
                   + np.count_nonzero(self._decided))

    @cached_property
    def _acted(self) -> Flags:
        """(events, conditions) where ``when`` has changed something."""
        out = np.zeros((len(self.times), len(self.resets.before)), dtype=bool)
        number, assignment = self.courses.events.acted
        out[number, self.resets.owner[assignment]] = True
        return out

    @property
    def most_switches(self) -> int:
        """No more relations, modes and actions than this can change at one of them."""
        return len(self.before.m) + len(self.resets.before) + self._decided.shape[1]

    @property
    def switches(self) -> Indices:
        """How often something has switched at each, or acted; at an impact, no modes."""
        changes: Indices = np.add.reduce(self._switched, axis=1, dtype=int) + np.add.reduce(
            self._acted, axis=1, dtype=int)
        return changes + np.where(self.courses.events.struck.any(axis=1), 0,
                                  np.add.reduce(self._decided, axis=1, dtype=int))

    def moved(self, first: int) -> Array:
        """How far any state has moved, in nominal values, halfway to each event from one on; 0 to
        the first of all."""
        events, scale = self.courses.events, self.scale
        later = np.arange(max(first, 1), len(self.times))
        x = self.courses.values((self.times[later - 1] + self.times[later]) / 2, later - 1)
        away = np.abs(x - events.x[later - 1])[:, : len(scale)] / scale
        return np.append(np.zeros(int(first == 0)), away.max(axis=1, initial=0.0))

    def who(self, number: int) -> list[str]:
        """Whose relations and modes have changed at one of them, and who has acted."""
        switched, decided = map(np.flatnonzero, (self._switched[number], self._decided[number]))
        names = [self.relations.describe(r, True)[0] for r in switched.tolist()]
        names += [component for component, _ in self._news(number)]
        if self.elements is None or self._struck(number):
            return names
        return names + [self.elements.name(e) for e in decided.tolist()]

    def records(self) -> Iterator[EventRecord]:
        """All that is told of them."""
        some = (self._switched.any(axis=1) | self._decided.any(axis=1) | self._acted.any(axis=1))
        for number in np.flatnonzero(some).tolist():
            yield from self.told(number)

    def told(self, number: int) -> Iterator[EventRecord]:
        """What is told of one of them."""
        events, t = self.courses.events, Instant(self.times[number])
        news = self._news(number)
        for r in np.flatnonzero(self._switched[number]).tolist():
            component, text = self.relations.describe(r, bool(events.m[number, r]))
            if self.relations.told[r] and component not in dict(news):
                yield EventRecord(t, component, text)
        for component, text in news:
            yield EventRecord(t, component, text)
        if not self._decided[number].any():
            return
        assert self.elements is not None and events.modes is not None
        before = events.modes[number - 1] if number else self.before.modes
        assert before is not None
        for change in self.elements.changes(before, events.modes[number], events.struck[number]):
            if not self._decided[number, change.element]:
                continue
            yield EventRecord(t, self.elements.name(change.element), self.elements.words(change),
                              **self.catalog.elements.told(change.element, change.before,
                                                           change.after))

    def _news(self, number: int) -> list[tuple[str, str]]:
        """Who has acted at one of them, and what its variables became."""
        events = self.courses.events
        here = slice(*np.searchsorted(events.acted[0], [number, number + 1]))
        return self.resets.words(events.acted[1][here], events.changed[here], events.given[here])


def _changed(before: Array | Indices, rows: Flags | Indices) -> Flags:
    """Where rows differ from the ones before them, the first of which is given by itself."""
    changed = np.empty(rows.shape, dtype=bool)
    changed[:1], changed[1:] = rows[:1] != before, rows[1:] != rows[:-1]
    return changed
