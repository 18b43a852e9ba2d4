"""What happened during a run, episode by episode?

An episode is the time between two events: relations, discrete values and the choice of integrated
states are constant in it. Variables are evaluated from the stored trajectory when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..exceptions import ParameterError
from ..initialisation.start import Start
from ..numerics.arrays import Array, Indices
from ..results.parameters import MadeWith, versions
from ..results.recording import EnergyTerm, EventRecord
from ..system.evaluator import Evaluator
from ..system.problem import Problem
from ..system.system import System
from .catalog import Catalog
from .chosen_variables import ChosenVariables
from .episode_list import EpisodeList
from .given_values import GivenValues
from .passed_events import PassedEpisodes
from .record_memory import WholeRecord
from .replay import READING, Replay
from .settings import RecordOptions
from .tolerances import Tolerances
from .unresolved_motion import warn_of_unresolved_motion
from .wanted import VariableFunctions, Wanted

if TYPE_CHECKING:
    from ..nonsmooth.contract import IndeterminateGroup
    from ..results.bottlenecks import Bottleneck, StepShares
    from ..results.schematic.parts import Net, Part
    from ..results.sticking import SharedLoad, StickTerm

__all__ = ["RunRecording"]

T = TypeVar("T")

EXPLICIT = "dopri5", "DOP853", "RK45", "RK23", "ode45"
LISTED = 1000  # states that are named


class _Told(Sequence[EventRecord]):
    """The events of a log, which are written out when somebody looks at one."""

    def __init__(self, log: list[EventRecord | PassedEpisodes]) -> None:
        self._log = log

    def __len__(self) -> int:
        return sum(1 if isinstance(one, EventRecord) else one.count for one in self._log)

    @cached_property
    def _written(self) -> list[EventRecord]:
        self._log[:] = [event for one in self._log for event in (
            [one] if isinstance(one, EventRecord) else one.records())]
        return self._log  # type: ignore[return-value]

    def __getitem__(self, index: Any) -> Any:
        return self._written[index]


@dataclass
class RunRecording:
    """What is kept of one run, its values at any time, and what it tells.

    As :mod:`blocks.results` reads it.
    """

    name: str
    system: System
    problem: Problem
    p: Array
    episodes: EpisodeList = field(default_factory=EpisodeList)
    log: list[EventRecord | PassedEpisodes] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: str = "finished"
    message: str = ""
    samples: Array | None = None
    #: Relative residual of the energy balance that the accuracy of the run explains.
    energy_tolerance: float = 1e-4
    #: Relative tolerance, and absolute ones; None for a fixed step.
    accuracy: tuple[float, Tolerances] | None = None
    start: Start | None = None  # what became of the initial targets
    given: GivenValues | None = None  # to the model and the run, when it began
    findings: Sequence[Any] = ()  # about the model, then

    def __post_init__(self) -> None:
        self.catalog = Catalog.of(self.system)
        self.functions = VariableFunctions.of(self.system, self.catalog)
        self.replay = Replay(self.problem, self.p, self.episodes)
        self.chosen: ChosenVariables | None = None  # where others are not kept
        self.keeper: WholeRecord | ChosenVariables = WholeRecord()
        self._scaled = False  # whether anybody has seen how far states move
        self._found: dict[str, tuple[object, Any]] = {}  # by looks, and when that was

    @property
    def is_explicit(self) -> bool:
        """Whether the method that the run takes at last is one that stability holds back."""
        return str(self.statistics.get("method", "")).rpartition(", then ")[2] in EXPLICIT

    @property
    def events(self) -> Sequence[EventRecord]:
        """What has happened, in the order of time."""
        return _Told(self.log)

    def keep_only(self, options: RecordOptions, rtol: float) -> None:
        """Keep some variables of the run instead of all steps."""
        self.keeper = self.chosen = ChosenVariables(self, options, rtol)

    def fail(self, message: str) -> None:
        """The run has failed, and why."""
        self.status, self.message = "failed", message

    def forget_found(self) -> None:
        """Forget what was found of the record, which is another one now."""
        self._found.clear()
        self.replay.forget()

    def __reduce__(self) -> tuple[Any, ...]:
        raise ParameterError(
            "result", "cannot be pickled: it is read by the compiled equations of its model, which "
            "Python's pickle cannot store.",
            "Save it, result.save('run.nc') and load('run.nc'), or pickle the model and run it "
            "again; a sweep keeps outputs of many runs.", code="result.pickle",
        )  # fmt: skip

    # -- times -------------------------------------------------------------------------
    @property
    def times(self) -> Array:
        if self.chosen is None:
            return self._own_times()[0]
        return self.chosen.polynomials.times if self.samples is None else self.samples

    @property
    def close_times(self) -> Array:
        """Times of steps and some between, whatever samples were asked for."""
        if self.chosen is not None:
            return self.chosen.polynomials.times
        return self._times_of_steps()[0]

    @property
    def knots(self) -> Array:
        """Ends of steps, and times between in long ones."""
        if self.chosen is not None:
            return self.chosen.polynomials.times
        return self.episodes.steps.shown(
            np.zeros(1, dtype=int), bool(self.system.nx), fewest_in_step=1)[0]

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what makes the numbers of a run."""
        return versions()

    def _own_times(self) -> tuple[Array, Indices]:
        """The times at which a run is shown if none are asked for, and their episodes."""
        samples = self.samples
        return self._times_of_steps() if samples is None else self._once("shown", lambda: (
            samples, self._episode_numbers(samples, "right")))

    def _times_of_steps(self) -> tuple[Array, Indices]:
        """Ends of all steps and some times between, and their episodes."""
        return self._once("steps", lambda: self.episodes.steps.shown(
            np.zeros(1, dtype=int), bool(self.system.nx)))

    def _once(self, what: str, make: Callable[[], T]) -> T:
        """What a look has found, as long as the run has not gone on since."""
        state = len(self.episodes), self.episodes[-1].end, id(self.samples)
        if what not in self._found or self._found[what][0] != state:
            self._found[what] = state, make()
        found: T = self._found[what][1]
        return found

    def _episode_numbers(self, times: Array, side: str) -> Indices:
        """Numbers of the episodes that times are in."""
        starts = self.episodes.starts
        which = np.searchsorted(starts, times, side="left" if side == "left" else "right") - 1
        return np.clip(which, 0, len(self.episodes) - 1)

    # -- values ------------------------------------------------------------------------
    def values(self, indices: Sequence[int], times: Array | None = None, side: str = "right"
               ) -> Array:
        """SI values of variables, (variables, times)."""
        indices = [int(i) for i in indices]
        if self.chosen is not None:
            return self.chosen.values(indices, self.samples if times is None else times, side)
        if any(i >= self.catalog.count for i in indices):
            return self._with_modes(indices, times, side)
        function, wanted = self.functions.function(tuple(indices))
        if times is None:
            return self._own_values(function, wanted)
        times = np.asarray(times, dtype=float)
        order = np.argsort(times, kind="stable")
        which = self._episode_numbers(times[order], side)
        out = np.empty((len(indices), len(times)))
        out[:, order] = self.evaluate(function, wanted, times[order], which)
        return out

    def _with_modes(self, indices: list[int], times: Array | None, side: str) -> Array:
        """Values of variables, modes among them: constant in every episode."""
        count = self.catalog.count
        which = self._own_times()[1] if times is None else self._episode_numbers(
            np.asarray(times, dtype=float), side)
        is_mode = np.array([i >= count for i in indices])
        out = np.empty((len(indices), len(which)))
        if not is_mode.all():
            others = [i for i in indices if i < count]
            out[~is_mode] = self.values(others, times, side)
        modes = self.episodes.modes
        for row in np.flatnonzero(is_mode):
            out[row] = modes[which, indices[row] - count]
        return out

    def _own_values(self, function: Evaluator, wanted: Wanted) -> Array:
        t, which = self._own_times()
        if not self._scaled and len(t) <= self.replay.most_points:
            self._scaled = True
            with READING:
                warn_of_unresolved_motion(self, self.replay.interpolated(t, which)[0].x)
        return self.evaluate(function, wanted, t, which)

    def evaluate(self, function: Evaluator, wanted: Wanted, t: Array, which: Indices) -> Array:
        """A function of what the system's functions take, (rows, times).

        Parameters
        ----------
        function, wanted : and what it needs that trajectories do not hold
        t, which : times, in order, and the numbers of the episodes that they are in
        """
        most = self.replay.most_points
        with READING:
            parts = [self.replay.points(t[k : k + most], which[k : k + most], wanted).values(
                function) for k in range(0, len(t), most)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts, axis=1) if parts else np.zeros(
            (function.function.size1_out(0), 0))

    def evaluate_states(self, function: Evaluator, t: Array, which: Indices) -> Array:
        """A function of states, time and parameters alone at times of episodes."""
        return self.evaluate(function, Wanted.nothing(self.system), t, which)

    def indeterminate_groups(self, t: Array) -> list[list[IndeterminateGroup]]:
        """Stuck elements whose split the motion leaves open, at a time in every episode."""
        with READING:
            return self.replay.indeterminate_groups(t, np.arange(len(self.episodes)))

    def evaluate_unsplit(self, function: Evaluator, t: Array, which: Indices) -> Array:
        """A function to which any split of open efforts is the same, at times of episodes."""
        return self.evaluate(function, Wanted.all_of(self.system, split=False), t, which)

    # -- what it tells -----------------------------------------------------------------
    def energy_terms(self) -> Sequence[EnergyTerm]:
        """Energy per component; see :mod:`blocks.simulation.energy`."""
        from .energy import energy_terms

        self._refuse_without_all("energy")
        return self._once("energy", lambda: energy_terms(self))

    def sticking_terms(self) -> list[StickTerm]:
        """Sticking per component; see :mod:`blocks.simulation.sticking`."""
        from .sticking import sticking_terms

        self._refuse_without_all("sticking")
        return sticking_terms(self, self.energy_terms())

    def bottleneck_terms(self) -> tuple[list[Bottleneck], StepShares]:
        """What made the run slow; see :mod:`blocks.simulation.bottlenecks`."""
        from .bottlenecks import bottleneck_terms

        self._refuse_without_all("bottlenecks")
        return bottleneck_terms(self)

    def shared_loads(self) -> list[SharedLoad]:
        """Efforts at rest that the motion does not determine."""
        from .sticking import shared_loads

        self._refuse_without_all("sticking")
        return shared_loads(self)

    def _refuse_without_all(self, what: str) -> None:
        if self.chosen is not None:
            self.chosen.refuse_all(what)

    def drawn(self, opened: Any = ()) -> tuple[list[Part], dict[int, Net], Sequence[Any]]:
        """Parts, nets and findings of the model, as they were when the run began."""
        from ..drawing.network import drawn_network

        return *drawn_network(self.system.network, self.model_then(), opened), self.findings

    def shapes(self) -> list[Any]:
        """Shapes of all components; see :mod:`blocks.simulation.recorded_shapes`."""
        from .recorded_shapes import recorded_shapes

        return recorded_shapes(self)

    # -- people ------------------------------------------------------------------------
    def made_with(self) -> MadeWith:
        """Parameters, initial targets and options of the run, as they were when it began."""
        return MadeWith() if self.given is None else self.given.made_with()

    def model_then(self) -> Any:
        """The model with its parts and values as they were when the run began, for reading."""
        assert self.given is not None  # of every run that is handed out
        return self.given.model()

    def start_rows(self) -> Sequence[Any]:
        """What became of every initial target."""
        return [] if self.start is None else self.start.rows

    @property
    def states(self) -> list[str]:
        """Paths of the integrated variables, for a plot without names."""
        names = [self.system.state_name(i) for i in range(min(self.system.nx, LISTED))] \
            if self.chosen is None else [info.path for info in self.chosen.infos[:LISTED]]
        return [name for name in names if "(" not in name]
