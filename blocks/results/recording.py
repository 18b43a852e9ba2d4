"""What does a run hand over to be looked at?

The seam between the engine and this wing: records, and the two protocols that everything
here reads from. Knows no solver, model or component class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..exceptions import ParameterError, brief
from ..numerics.arrays import Array
from ..units import SECOND, Quantity, Unit, conversion, from_si

if TYPE_CHECKING:

    from ..shapes import Shape
    from .bottlenecks import Bottleneck, StepShares
    from .parameters import MadeWith
    from .schematic.parts import Net, Part
    from .sticking import SharedLoad, StickTerm

__all__ = ["Curves", "EnergyTerm", "EnergyWarning", "EventRecord", "Instant", "NominalWarning",
           "RecordWarning", "Recording", "VariableInfo", "refuse_no_result"]  # fmt: skip


class Instant(float):
    """A time in s that knows it: ``series.at(event.time)`` needs no unit."""

    def to(self, units: str | Unit) -> Quantity:
        """Return the time as a quantity in other units."""
        return from_si(float(self), conversion(SECOND, units, "event.time"))


@dataclass(frozen=True)
class VariableInfo:
    """One recorded scalar variable.

    Attributes
    ----------
    path : ``"block.v"``, ``"masses[3].v"``, ``"spring.R.f"``
    component : ``"block"``, ``"masses[3]"``, ``"spring"``
    name : name within the component: ``"v"``, ``"R.f"``
    unit : declared unit, the one values are shown in
    kind : ``"variable"``, ``"across"``, ``"through"``, ``"input"``, ``"output"``, ``"discrete"``,
        ``"parameter"``, ``"mode"``
    doc : the declaration's line for people
    index : handle to be given back to :meth:`Recording.values`
    words : what the values of a mode mean
    """

    path: str
    component: str
    name: str
    unit: Unit
    kind: str
    doc: str
    index: int
    words: Mapping[int, str] | None = field(default=None, hash=False)


@dataclass(frozen=True)
class EventRecord:
    """Something that happened at one instant.

    Attributes
    ----------
    time : in s; may be given to ``series.at``
    component, description : whose event it is, and what happened
    element : path of the mode that has changed, ``"friction.mode"``; empty for other events
    mode, previous : what it is from now on and was before: ``"stuck"``, ``"slides forward"``, …
    """

    time: Instant
    component: str
    description: str
    element: str = ""
    mode: str = ""
    previous: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", Instant(self.time))

    def __str__(self) -> str:
        return f"{self.time:.7g} s: {self.component} {self.description}"


class EnergyWarning(UserWarning):
    """The energy of a run does not close to its accuracy."""


class NominalWarning(UserWarning):
    """A motion is not resolved, as its nominal value is far larger."""


class RecordWarning(UserWarning):
    """The record of a run is thinned, as it would take too much memory."""


@dataclass(frozen=True)
class EnergyTerm:
    """Energy of one leaf component over the run, in J.

    Attributes
    ----------
    component, type : path and class name
    work_in : integral of the power that its conserving ports carry, as their domains state it,
        positive into the component
    stored : change of its stored energy
    dissipated : energy that left the model as heat
    supplied : energy that it brought into the model
    exchanged : integral of the *magnitude* of the power at its ports; 0 where unknown. Tells a
        balance of large flows from one where nothing ever moved.
    held : largest magnitude of a term of its stored energy (kinetic, gravitational, ...) at start,
        events and end; 0 where unknown. Energy may go to and fro between them without passing a
        port.
    uncertainty : how far the integrals over time may be off; 0 where unknown
    carried : what it lost and a port carried away as heat: part of the work, not of what it
        dissipated
    """

    component: str
    type: str
    work_in: float
    stored: float
    dissipated: float
    supplied: float
    exchanged: float = 0.0
    held: float = 0.0
    uncertainty: float = 0.0
    carried: float = 0.0

    @property
    def violation(self) -> float:
        """How far the balance is from closing, in J."""
        return self.work_in + self.supplied - self.stored - self.dissipated


class Curves(Protocol):
    """Values over time that can be asked for: of a run, of a part of it, or made of them."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def times(self) -> Array:
        """Default sample times in s; two equal ones mark an event, before and after it."""

    @property
    def close_times(self) -> Array:
        """Times from start to end at which the curves are known best, such as the ends of steps and
        some between; those of ``times``, unless these were asked for. Two equal ones mark an event.
        """

    @property
    def knots(self) -> Array:
        """Times from start to end between which the curves are smooth: the ends of steps, say."""

    @property
    def events(self) -> Sequence[EventRecord]: ...

    def values(self, indices: Sequence[int], times: Array | None = None,
               side: str = "right") -> Array:
        """SI values, one row per index and one column per time.

        ``times`` None means the recording's own times, with both limits at
        events; otherwise ``side`` chooses the limit at a time of an event.
        """


@runtime_checkable
class Recording(Curves, Protocol):
    """What a run has recorded: curves, and all else that a result shows."""

    @property
    def catalog(self) -> Mapping[str, VariableInfo]:
        """By path, in order. May be lazy and hold a million entries: it is asked by key, and
        iterated only where all of it is asked for.
        """

    @property
    def statistics(self) -> Mapping[str, Any]:
        """Counters, the method and why it was taken, times of the phases in s."""

    @property
    def status(self) -> str:
        """``"finished"``, ``"until …"`` where a condition was met, "failed" or "interrupted"."""

    @property
    def message(self) -> str: ...

    @property
    def states(self) -> Sequence[str]:
        """Paths that ``Result.plot()`` draws when it is given no names; may be empty."""

    @property
    def versions(self) -> Mapping[str, str]:
        """With which it was made, by package."""

    @property
    def energy_tolerance(self) -> float | None:
        """Relative residual of the energy balance that the run's accuracy explains."""

    def energy_terms(self) -> Sequence[EnergyTerm]:
        """One term per leaf component."""

    def sticking_terms(self) -> list[StickTerm]:
        """One term per component that rubs or touches."""

    def bottleneck_terms(self) -> tuple[list[Bottleneck], StepShares] | None:
        """Return what made the run slow; None where its steps are not known."""

    def shared_loads(self) -> list[SharedLoad]:
        """Efforts at rest that the motion leaves open."""

    def made_with(self) -> MadeWith:
        """Parameters, initial targets and options of the run, as they were when it began."""

    def drawn(self, opened: Any = ()
              ) -> tuple[Sequence[Part], dict[int, Net], Sequence[Any]] | None:
        """Parts, nets and findings of the model; None where a file holds them not."""

    def start_rows(self) -> Sequence[Any]:
        """Return what became of every initial target, one row each."""

    def shapes(self) -> Sequence[Shape]:
        """Return what components look like, with handles of variables in place of names."""


def refuse_no_result(given: Any, where: str) -> None:
    """Refuse what knows nothing of a run."""
    if not isinstance(getattr(given, "recording", None), Recording):
        raise ParameterError(where, f"compares results of runs, but was given {brief(given)}.",
                             "Give what model.simulate(…) or load(…) has returned.",
                             given=given, code="result.compare")  # fmt: skip
