"""What is kept of a run of which only some variables are to be recorded?

Their values, as polynomials over time. They are evaluated as they would be from a whole record,
when the steps of some episodes, or enough steps of a long one, have been taken; then these steps
are forgotten. Where a polynomial does not follow a variable within a step to a part of the run's
tolerance, the step is halved: at points between the nodes both are compared. A corner, as of what
is limited, is closed in on so, and what lies before and after it in the step is one piece again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..exceptions import ParameterError
from ..numerics.arrays import Array
from ..results.lookup import find_all
from ..results.recording import VariableInfo
from ..solvers.interpolation import basis, chebyshev_nodes, places_between
from ..solvers.polynomials import Polynomials
from ..system.finite_values import FiniteValues
from .catalog import Catalog
from .record_memory import MemoryBound
from .settings import RecordOptions

if TYPE_CHECKING:
    from .recording import RunRecording

__all__ = ["ChosenVariables", "KeptCatalog"]

NODES = 6  # of a polynomial, as of a step of order 5
PROBES = np.array([-0.57, 0.02, 0.58])  # of [-1, 1], between the nodes
AGREES = 0.1  # of the tolerance of the run, relative to the largest value of a variable
MOST_HALVINGS = 36  # of a step, until polynomials follow what is kept
STAYS = 0.6  # part of a difference that is left in both halves where values are noisy
SHORTEST = 1e-13  # stretch, in parts of the time
DEEP = 5  # halvings of a step from which it is one corner that was closed in on
MANY = 1 << 22  # numbers that steps may hold before they are looked at
FEW_EPISODES = 256  # the same of episodes
CHUNK = 1 << 20  # numbers that are looked at together


class KeptCatalog(Catalog):
    """All variables by path; those are listed that are kept."""

    def __init__(self, catalog: Catalog, kept: list[VariableInfo]) -> None:
        self.__dict__.update(catalog.__dict__)
        self.kept = {info.path: info for info in kept}

    def __contains__(self, path: object) -> bool:
        return path in self.kept

    def __iter__(self) -> Iterator[str]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)


#: Stretches of time that become pieces: from when to when, their episodes among those that are
#: looked at, the steps that they stand for, of which stretch each is a part, and how often halved.
SPAN = np.dtype([("start", float), ("end", float), ("episode", int), ("steps", int),
                 ("origin", int), ("halvings", int)])  # fmt: skip


def _halves(spans: np.ndarray) -> np.ndarray:
    halves = np.repeat(spans, 2)
    halves["end"][::2] = halves["start"][1::2] = (spans["start"] + spans["end"]) / 2
    halves["steps"] = 1
    halves["halvings"] += 1
    return halves


def _around_corners(spans: np.ndarray) -> np.ndarray:
    """Join the smallest parts of every stretch into one, and all before and after them likewise."""
    cut = np.flatnonzero(np.diff(spans["origin"], prepend=-1))  # the first of each stretch
    deepest = np.maximum.reduceat(spans["halvings"], cut)
    number = np.searchsorted(cut, np.arange(len(spans)), side="right") - 1
    smallest = np.flatnonzero(spans["halvings"] == deepest[number])
    _, first = np.unique(spans["origin"][smallest], return_index=True)
    a, b = smallest[first], smallest[np.append(first[1:], len(smallest)) - 1]
    last = np.append(cut[1:], len(spans)) - 1
    edges = np.stack([spans["start"][cut], spans["start"][a], spans["end"][b], spans["end"][last]])
    parts = np.repeat(spans[cut], 3).reshape(-1, 3)
    parts["start"], parts["end"], parts["steps"] = edges[:-1].T, edges[1:].T, 1
    return parts[parts["end"] > parts["start"]]


class ChosenVariables:
    """Keeps some variables of a run, from before it begins, and forgets its steps."""

    def __init__(self, recording: RunRecording, options: RecordOptions, rtol: float) -> None:
        self.tolerance = AGREES * rtol
        self.steps = options.every
        self.infos = list({info.index: info for path in options.variables for info in find_all(
            recording.catalog, path, recording.name)}.values())  # each once
        self.place = {info.index: k for k, info in enumerate(self.infos)}
        count = recording.catalog.count
        self.is_mode = np.array([info.index >= count for info in self.infos])
        indices = np.array([info.index for info in self.infos])
        self.modes = indices[self.is_mode] - count
        self.function, self.wanted = recording.functions.function(
            tuple(indices[~self.is_mode].tolist()))
        self.catalog = recording.catalog
        recording.catalog = KeptCatalog(recording.catalog, self.infos)
        self.file = None
        if options.file is not None:
            from ..results.files.parquet_rows import ParquetRows

            self.file = ParquetRows(options.file, self.infos)
        self.polynomials = Polynomials(len(self.infos), NODES, self.file)
        self.bound = MemoryBound()
        self.largest, self.off = np.zeros((2, len(self.infos)))
        self._last_episode = -1  # that of the last piece, among those that are there
        self._together = 1
        #: Time stepping tells in the end which rests were reversals: its steps are kept until then.
        self._waits = recording.problem.laws is not None and recording.problem.laws.recorded

    # -- during the run ----------------------------------------------------------------------
    def observe(self, recording: RunRecording) -> None:
        """Called after every step, or as many as a method takes at once."""
        episodes = recording.episodes
        if not self._waits and (len(episodes) > FEW_EPISODES
                                or episodes[-1].trajectory.nbytes > 8 * MANY):
            FiniteValues.of(recording.system).refuse_lost(recording)
            guess = self._end(recording)
            self._take(recording)
            recording.episodes[-1].x, recording.episodes[-1].z, recording.episodes[-1].u = guess

    def finish(self, recording: RunRecording) -> None:
        """The run is over."""
        try:
            self._take(recording)
        finally:
            if self.file is not None:
                self.file.close()
        statistics = recording.statistics
        statistics["record bytes"] = self.polynomials.nbytes
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = np.where(self.off > 0, self.off / self.largest, 0.0)
        statistics["record error"] = float(np.nan_to_num(relative).max(initial=0.0))

    def _take(self, recording: RunRecording) -> None:
        """Keep the variables over all steps that are there, and forget these."""
        spans = self._spans(recording)
        length = max(1, CHUNK // (max(self.polynomials.width, 1) * (NODES + len(PROBES))))
        for k in range(0, len(spans), length):
            self._add(recording, spans[k : k + length])
        recording.episodes[-1].trajectory.forget()
        self._last_episode -= len(recording.episodes) - 1  # negative unless it goes on
        recording.episodes.forget()
        recording.replay.forget()
        if self.polynomials.nbytes > self.bound.allowed:
            self.bound.keep(recording, self._thin, lambda: self.polynomials.nbytes)

    def _end(self, recording: RunRecording) -> tuple[Array, Array, Array]:
        """Full states, unknowns and inputs at the end so far: a first guess for what follows."""
        last = recording.episodes[-1]
        if not (self.wanted.unknowns or self.wanted.inputs.any()):
            return last.x, last.z, last.u
        here = recording.replay.points(
            np.array([last.end]), np.array([len(recording.episodes) - 1]), self.wanted)
        return here.x[:, 0], here.z[:, 0], here.u[:, 0]

    def _spans(self, recording: RunRecording) -> np.ndarray:
        """The steps, so many together as are to be one piece."""
        table = recording.episodes.steps
        moving = np.flatnonzero(table.ends > table.starts)
        which = table.which[moving]
        number = np.arange(len(which)) - np.searchsorted(which, which)  # within the episode
        first = np.flatnonzero(number % (self.steps or 1) == 0)
        last = np.append(first, len(which))[1:] - 1
        spans = np.zeros(len(first), SPAN)
        spans["start"], spans["end"] = table.starts[moving][first], table.ends[moving][last]
        spans["episode"], spans["steps"] = which[first], last - first + 1
        spans["origin"] = np.arange(len(first))
        return spans

    def _add(self, recording: RunRecording, spans: np.ndarray) -> None:
        """Find polynomials over stretches of time, halved where these do not follow."""
        spans, values, off = self._halved(recording, spans)
        deepest = np.zeros(int(spans["origin"].max(initial=-1)) + 1, dtype=int)
        np.maximum.at(deepest, spans["origin"], spans["halvings"])
        mine = deepest[spans["origin"]] >= DEEP
        if mine.any():
            spans, values, off = self._in_order([
                (spans[~mine], values[~mine], off[~mine]),
                self._halved(recording, _around_corners(spans[mine]))])
        self.off = np.fmax(self.off, off.max(axis=0, initial=0.0))
        episode = spans["episode"]
        joined = np.diff(episode, prepend=-1) == 0
        joined[:1] = episode[:1] == self._last_episode
        joined &= not self._waits  # efforts jump from step to step
        self.polynomials.append(spans["start"], spans["end"], values, joined, spans["steps"])
        self._last_episode = int(episode[-1])

    def _halved(self, recording: RunRecording, spans: np.ndarray
                ) -> tuple[np.ndarray, Array, Array]:
        """Stretches halved until polynomials follow; values at nodes, how far off between."""
        found: list[tuple[np.ndarray, Array, Array]] = []
        before = np.full(len(spans), np.inf)
        for halvings in range(MOST_HALVINGS + 1):
            values, off = self._at_nodes(recording, spans)
            self.largest = np.fmax(self.largest, np.abs(values).max(axis=(0, 1), initial=0.0))
            size = self.tolerance * self.largest
            with np.errstate(invalid="ignore", divide="ignore"):
                over = np.nan_to_num(np.where(off > size, off / size, 0.0), posinf=np.inf)
            worst = over.max(axis=1, initial=0.0)  # in parts of what is allowed
            stays = worst > STAYS * before
            if halvings:
                stays = np.repeat(stays.reshape(-1, 2).all(axis=1), 2)
            short = spans["end"] - spans["start"] <= SHORTEST * np.abs(spans["end"])
            fine = (worst <= 1.0) | stays | short | bool(self.steps)
            if halvings == MOST_HALVINGS:
                fine[:] = True
            found.append((spans[fine], values[fine], off[fine]))
            if fine.all():
                break
            before = np.repeat(worst[~fine], 2)
            spans = _halves(spans[~fine])
        return self._in_order(found)

    @staticmethod
    def _in_order(found: list[tuple[np.ndarray, Array, Array]]) -> tuple[np.ndarray, Array, Array]:
        """Several in the order of time."""
        spans, values, off = (np.concatenate([one[k] for one in found]) for k in range(3))
        order = np.lexsort([spans["start"], spans["episode"]])
        return spans[order], values[order], off[order]

    def _at_nodes(self, recording: RunRecording, spans: np.ndarray) -> tuple[Array, Array]:
        """Values at the nodes, (k, K, n), and how far off polynomials are between, (k, n)."""
        nodes = chebyshev_nodes(NODES)
        places = np.sort(np.concatenate([nodes, PROBES]))
        probe = np.isin(places, PROBES)
        starts, ends = spans["start"], spans["end"]
        at = places_between(starts, ends, places)
        if self._waits:  # there the efforts are still those of the step before
            at[:, 0] = np.nextafter(starts, ends)
        which = np.repeat(spans["episode"], len(places))
        rows = np.empty((at.size, len(self.infos)))
        if not self.is_mode.all():
            rows[:, ~self.is_mode] = recording.evaluate(
                self.function, self.wanted, at.ravel(), which).T
        if self.is_mode.any():
            rows[:, self.is_mode] = recording.episodes.modes[which][:, self.modes]
        rows = rows.reshape(*at.shape, -1)
        values = rows[:, ~probe]
        off = np.abs(np.einsum("pj,kjn->kpn", basis(PROBES, NODES), values) - rows[:, probe])
        return values, off.max(axis=1, initial=0.0)

    def _thin(self) -> float:
        self._together *= 2
        self.polynomials, off = self.polynomials.thinned(self._together * (self.steps or 1))
        self.off = self.off + off
        return float((off / np.where(self.largest > 0, self.largest, 1.0)).max(initial=0.0))

    # -- afterwards --------------------------------------------------------------------------
    def values(self, indices: list[int], times: Array | None, side: str) -> Array:
        """SI values of variables, (variables, times).

        Raises
        ------
        ParameterError
            For a variable that was not kept.
        """
        for index in indices:
            if index not in self.place:
                self._refuse(index)
        columns = np.array([self.place[i] for i in indices], dtype=int)
        if times is None:
            rows = self.polynomials.rows.take(np.arange(len(self.polynomials.times)), columns)
        else:
            rows = self.polynomials(np.asarray(times, dtype=float), side, columns)
        modes = self.is_mode[columns]
        rows[:, modes] = np.rint(rows[:, modes])
        return rows.T

    def _refuse(self, index: int) -> NoReturn:
        catalog = self.catalog
        path = (catalog.elements.path_of(index - catalog.count) if index >= catalog.count
                else catalog.info(*catalog.locate(index)).path)
        raise ParameterError(
            path, "was not kept: record= has named other variables of the run.",
            f"Run it again with record=[…, {path!r}], or without record=.",
            code="result.not_kept")  # fmt: skip

    def refuse_all(self, what: str) -> NoReturn:
        """Refuse what needs variables all over the model."""
        raise ParameterError(
            f"result.{what}()", "needs variables of the whole model, of which record= has kept "
            f"{len(self.infos):,}.", "Run it again without record=.", code="result.not_kept")
