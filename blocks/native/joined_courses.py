"""Courses of several runs of one system, one after the other, read as those of one run.

The start of a run is an event like others, at which its parameters become those that machine code
reads: they stand before what is constant between two events.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..machine.signatures import address_of
from ..numerics.arrays import Array, Indices
from .courses import PassedCourses, Retaken, WholeRun

__all__ = ["JoinedCourses"]


class _JoinedEvents:
    """The starts and events of runs, and the end of the last one."""

    def __init__(self, runs: Sequence[WholeRun]) -> None:
        before = np.cumsum([0] + [len(run.ends) for run in runs])
        last = runs[-1]
        self.times = np.concatenate([*((np.append(r.t, r.times)) for r in runs), [last.ends[-1]]])
        self.marks = np.concatenate([
            *(np.append(0, r.marks) + k for r, k in zip(runs, before, strict=False)), before[-1:]])
        self.x = np.concatenate([*(a for r in runs for a in (r.x[None, :], r.values)),
                                 last.rows[-1:]])
        #: Parameters, and what is constant.
        self.q = np.concatenate([*(np.hstack([np.tile(r.p, (1 + len(r.times), 1)),
                                              np.vstack([r.q, r.held])]) for r in runs),
                                 [np.append(last.p, last.q)]])

    def __len__(self) -> int:
        return len(self.times)


class JoinedCourses(PassedCourses):
    """Courses of several runs; pieces are numbered from the start of the first run on.

    Parameters
    ----------
    runs : at least one, each of some steps; all steps of the same kind

    Attributes
    ----------
    run : (pieces,) which run each is of
    """

    def __init__(self, runs: Sequence[WholeRun]) -> None:
        form, code, *_ = runs[-1]
        super().__init__(form, code, _JoinedEvents(runs), *(
            np.concatenate([getattr(run, name) for run in runs])
            for name in ("ends", "sizes", "rows")))
        self.run = np.repeat(np.arange(len(runs)), [1 + len(run.times) for run in runs])
        self._parameters = len(runs[0].p)
        self._room = form.equations.with_room(self.events.q[0])

    def constants(self, which: str) -> Array:
        """A part of what is constant between two events, a row per piece."""
        part = self.form.equations.part_of_constants(which)
        found: Array = self.events.q[:-1, self._parameters :][:, part]
        return found

    def _first_end(self, times: Array, number: Indices) -> Indices:
        # times begin anew with each run: complex numbers are ordered by their real parts first
        return np.searchsorted(self._steps.event + 1j * self._ends, number + 1j * times)

    def retaken(self) -> Retaken:
        at = address_of(self._room)
        return self._taken_again(self._code._replace(
            p=at, q=at + self._room.itemsize * self._parameters), self._room)
