"""Who made a run slow: short steps, events, iterations, and what would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .sheet import ByComponent, Sheet

__all__ = ["Bottleneck", "Bottlenecks", "StepShares"]


@dataclass(frozen=True)
class Bottleneck:
    """What one component did to the pace of a run.

    Attributes
    ----------
    component
    steps : share of all steps whose length it decided, by its variables or what it does to others
    length : median length of these steps in s; nan where there are none
    variable : the state in which it decided most of them
    events : how many its relations and modes made
    iterations : share of the Newton iterations of algebraic loops that its unknowns needed
    advice : what would help
    """

    component: str
    steps: float = 0.0
    length: float = float("nan")
    variable: str = ""
    events: int = 0
    iterations: float = 0.0
    advice: str = ""


@dataclass(frozen=True)
class StepShares:
    """The steps that no component decided, as shares of all.

    Attributes
    ----------
    taken : number of all steps
    restarts : the first steps after a start, an event, or a pause of a program that drives the run
    limits : steps that accuracy would have let be longer: the stability of an explicit method,
        ``max_step``, an instant that is known beforehand or a driving program decided them
    """

    taken: int
    restarts: float
    limits: float


class Bottlenecks(ByComponent[Bottleneck]):
    """The components that made a run slow, the worst first; by position or path."""

    def __init__(self, terms: Sequence[Bottleneck], shares: StepShares, name: str = "") -> None:
        super().__init__(terms, "bottlenecks")
        self.shares, self._name = shares, name

    def _sheet(self) -> Sheet:
        t, shares = self._terms, self.shares
        iterated = any(x.iterations for x in t)
        loops = {"share of iterations": [_percent(x.iterations) for x in t]} if iterated else {}
        return Sheet(f"What made {self._name} slow", {
            "component": [x.component for x in t],
            "share of steps": [_percent(x.steps) for x in t],
            "their length [s]": [f"{x.length:.3g}" if x.steps else "" for x in t],
            "seen in": [x.variable for x in t],
            "events": [x.events or "" for x in t],
            **loops,
            "what would help": [x.advice for x in t],
        }, f"{shares.taken:,} steps; {_percent(shares.restarts) or '0 %'} of them the first after "
           f"a start or an event, {_percent(shares.limits) or '0 %'} not decided by accuracy (but "
           "stability, max_step, known instants, a program that drives the run).")  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share else ""
