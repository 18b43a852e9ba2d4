"""What happened during a run, episode by episode?

An episode is the time between two events: relations, discrete values and the
choice of integrated states are constant in it. Variables are evaluated from the
stored trajectory when they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..exceptions import ParameterError
from ..initialisation.start import Start
from ..numerics.arrays import Array, Indices
from ..results.recording import EnergyTerm, EventRecord
from ..system.problem import Problem
from ..system.system import System
from .catalog import Catalog
from .episode import Episode
from .replay import Replay
from .variable_functions import VariableFunctions

if TYPE_CHECKING:
    from ..results.sticking import SharedLoad, StickTerm

__all__ = ["RunRecording"]

FEWEST_SAMPLES = 200
FEWEST_IN_STEP = 6
MANY_STEPS = 2000
MOST_INPUTS = 4_000_000  # efforts that are kept at once while variables are evaluated


@dataclass
class RunRecording:
    """The engine's recording of one run, as :mod:`blocks.results` reads it."""

    name: str
    system: System
    problem: Problem
    p: Array
    episodes: list[Episode] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: str = "finished"
    message: str = ""
    samples: Array | None = None
    #: Relative residual of the energy ledger that the accuracy of the run explains.
    energy_tolerance: float = 1e-4
    start: Start | None = None  # what became of the initial targets

    def __post_init__(self) -> None:
        self.catalog = Catalog(self.system)
        self.functions = VariableFunctions(self.system, self.catalog)
        self.replay = Replay(self.problem, self.p)

    def fail(self, message: str) -> None:
        """The run has failed, and why."""
        self.status, self.message = "failed", message

    def __reduce__(self) -> tuple[Any, ...]:
        raise ParameterError(
            "result", "cannot be pickled: it is read by the compiled equations of its model, which "
            "Python's pickle cannot store.",
            "Save values, result.to_netcdf('run.nc') or result.table(…), or pickle the model and "
            "run it again; a sweep keeps outputs of many runs.", code="result.pickle",
        )  # fmt: skip

    # -- times -------------------------------------------------------------------------
    @property
    def times(self) -> Array:
        return np.concatenate([t for _, t in self._own_times()])

    def _own_times(self) -> list[tuple[Episode, Array]]:
        """The times at which a run is shown if none are asked for, by episode."""
        if self.samples is not None:
            return self._split(self.samples, "right")
        steps = sum(len(e.trajectory.t) - 1 for e in self.episodes)
        parts = max(FEWEST_IN_STEP, int(np.ceil(FEWEST_SAMPLES / max(steps, 1))))
        # high-order methods take long steps; the curve between is known
        short = 0.0
        if steps >= MANY_STEPS:
            short = (self.episodes[-1].end - self.episodes[0].start) / MANY_STEPS
        out = []
        for e in self.episodes:
            t = e.trajectory.t
            if len(t) > 1:
                inside = np.linspace(t[:-1], t[1:], parts, endpoint=False, axis=1)
                some = np.arange(parts) * (np.diff(t) > short)[:, None] == np.arange(parts)
                t = np.append(inside[some], t[-1])
            out.append((e, t))
        return out

    def _split(self, times: Array, side: str) -> list[tuple[Episode, Array]]:
        """Times that do not decrease, by the episodes that they are in."""
        which = self._episode_numbers(times, side)
        cuts = np.flatnonzero(np.diff(which)) + 1  # times do not decrease
        return [(self.episodes[int(which[part[0]])], times[part])
                for part in np.split(np.arange(len(times)), cuts) if len(part)]

    def _episode_numbers(self, times: Array, side: str) -> Indices:
        """Numbers of the episodes that times are in."""
        starts = np.array([e.start for e in self.episodes])
        which = np.searchsorted(starts, times, side="left" if side == "left" else "right") - 1
        return np.clip(which, 0, len(self.episodes) - 1)

    # -- values ------------------------------------------------------------------------
    def values(self, indices: Sequence[int], times: Array | None = None, side: str = "right"
               ) -> Array:
        """SI values of variables, (variables, times)."""
        indices = [int(i) for i in indices]
        if any(i >= self.catalog.count for i in indices):
            return self._with_modes(indices, times, side)
        if times is None:
            parts = self._own_times()
            order = None
        else:
            times = np.asarray(times, dtype=float)
            order = np.argsort(times, kind="stable")
            parts = self._split(times[order], side)
        function = self.functions.function(tuple(indices))
        columns = [self.evaluate(function, episode, t) for episode, t in parts]
        out = np.concatenate(columns, axis=1) if columns else np.zeros((len(indices), 0))
        if order is not None:
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            out = out[:, back]
        return out

    def _with_modes(self, indices: list[int], times: Array | None, side: str) -> Array:
        """The same with modes among the variables: constant in every episode."""
        count = self.catalog.count
        chosen = self.samples if times is None else np.asarray(times, dtype=float)
        if chosen is None:
            lengths = [len(t) for _, t in self._own_times()]
            which = np.repeat(np.arange(len(lengths)), lengths)
        else:
            which = self._episode_numbers(chosen, "right" if times is None else side)
        is_mode = np.array([i >= count for i in indices])
        out = np.empty((len(indices), len(which)))
        if not is_mode.all():
            others = [i for i in indices if i < count]
            out[~is_mode] = self.values(others, times, side)
        modes = np.array([e.modes for e in self.episodes])
        for row in np.flatnonzero(is_mode):
            out[row] = modes[which, indices[row] - count]
        return out

    def evaluate(self, function: ca.Function, episode: Episode, t: Array, share: bool = True
                  ) -> Array:
        """A function of what the system's functions take, at times within an episode.

        With ``share``, efforts that the motion leaves open take their documented split.
        """
        if len(t) * self.system.nu > MOST_INPUTS and len(t) > 1:
            half = len(t) // 2
            return np.concatenate([self.evaluate(function, episode, part, share)
                                   for part in (t[:half], t[half:])], axis=1)
        x, z, u = self.replay.points(episode, t, share)
        if not len(t):
            return np.zeros((function.size1_out(0), 0))
        delays = self.problem.delays
        d = episode.d if delays is None else delays.discrete_values(episode.d, episode.start, t)
        out = function(t[None, :], x, z, self.p, episode.m, d, u)
        return np.asarray(out, dtype=float).reshape(function.size1_out(0), len(t))

    # -- energy ------------------------------------------------------------------------
    def energy_terms(self) -> Sequence[EnergyTerm]:
        """Energy per component; see :mod:`blocks.simulation.energy`."""
        from .energy import energy_terms

        return energy_terms(self)

    def sticking_terms(self) -> list[StickTerm]:
        """Sticking per component; see :mod:`blocks.simulation.sticking`."""
        from .sticking import sticking_terms

        return sticking_terms(self)

    def shared_loads(self) -> list[SharedLoad]:
        """Efforts at rest that the motion does not determine."""
        from .sticking import shared_loads

        return shared_loads(self)

    # -- people ------------------------------------------------------------------------
    def shapes(self) -> list[Any]:
        """Shapes of all components; see :mod:`blocks.simulation.recorded_shapes`."""
        from .recorded_shapes import recorded_shapes

        return recorded_shapes(self)

    @property
    def states(self) -> list[str]:
        """Paths of the integrated variables, for a plot without names."""
        names = (self.system.state_name(i) for i in range(min(self.system.nx, 12)))
        return [n for n in names if "(" not in n][:8]
