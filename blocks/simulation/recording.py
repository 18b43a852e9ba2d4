"""What does the recording of a run tell of energy, sticking, slow steps and shapes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..numerics.arrays import Array
from ..results.recording import EnergyTerm
from ..system.evaluator import Evaluator
from .chosen_variables import ChosenVariables
from .record_memory import WholeRecord
from .recorded_run import RecordedRun
from .replay import READING
from .settings import RecordOptions
from .unresolved_motion import warn_of_unresolved_motion
from .wanted import Wanted

if TYPE_CHECKING:
    from ..results.bottlenecks import Bottleneck, StepShares
    from ..results.schematic.parts import Net, Part
    from ..results.sticking import SharedLoad, StickTerm

__all__ = ["RunRecording"]


@dataclass
class RunRecording(RecordedRun):
    """The engine's recording of one run, as :mod:`blocks.results` reads it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.keeper: WholeRecord | ChosenVariables = WholeRecord()
        self._scaled = False  # whether anybody has seen how far states move

    def keep_only(self, options: RecordOptions, rtol: float) -> None:
        """Keep some variables of the run instead of all steps."""
        self.keeper = self.chosen = ChosenVariables(self, options, rtol)

    def _own_values(self, function: Evaluator, wanted: Wanted) -> Array:
        t, which = self._own_times()
        if not self._scaled and len(t) <= self.replay.most_points:
            self._scaled = True
            with READING:
                warn_of_unresolved_motion(self, self.replay.interpolated(t, which)[0].x)
        return super()._own_values(function, wanted)

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
