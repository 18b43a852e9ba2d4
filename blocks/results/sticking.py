"""Which dry frictions stuck, for how long, and how often did they break away?

Laws that only come near to sticking report what they did where exact friction would have
stuck. Such a component declares ``strength_at_rest`` and ``band_of_rest``, and ``load``
where it knows it; its effort and flow are those of its ports R and C.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .formatting import number
from .sheet import ByComponent, Sheet

__all__ = ["SharedLoad", "StickTerm", "Sticking"]


@dataclass(frozen=True)
class StickTerm:
    """Sticking of one component over a run.

    A component with several frictions is at rest while all of them stick, one with contacts alone
    while one of these touches; the modes of single elements are variables of the result. For a law
    that does not stick, at rest means within its band of velocity and under less than its strength,
    or springing on its bristles by no more than they give way.

    Attributes
    ----------
    component
    fraction : share of the time it stuck (or touched), 0 to 1
    breakaways : how often it went from rest to motion
    longest : longest time at rest in s
    dissipated : energy lost in its component in J, also where a port carries it away as heat
    crept : way made at rest, in m or rad; None for exact laws, which make none
    gave : energy in J that the friction gave to the motion at rest, acting along it
    """

    component: str
    fraction: float
    breakaways: int
    longest: float
    dissipated: float
    crept: float | None = None
    gave: float = 0.0


@dataclass(frozen=True)
class SharedLoad:
    """Elements at rest whose efforts the motion does not determine, only their joint effect.

    The efforts a run shows are those as if all crept a little up to their bounds: brakes in
    parallel carry in proportion to what they can hold.
    """

    components: tuple[str, ...]
    start: float  # in s
    end: float
    time: float  # an instant between these
    efforts: tuple[float, ...]  # as shown at that instant, in N or N m

    def __str__(self) -> str:
        *others, last = self.components
        shown = ", ".join(f"{e:.6g}" for e in self.efforts)
        span = f"from {self.start:.6g} s to {self.end:.6g} s"
        if not others:
            return f"{last} has no influence on its own motion {span}; shown is {shown}."
        return (f"{', '.join(others)} and {last} share a load {span}; the motion does not "
                f"determine the split. Shown at {self.time:.6g} s: {shown}.")  # fmt: skip


class Sticking(ByComponent[StickTerm]):
    """The sticking report of a run: a sequence of :class:`StickTerm`, by position or path."""

    def __init__(self, terms: list[StickTerm], name: str = "",
                 shared: Iterable[SharedLoad] = ()) -> None:
        super().__init__(terms, "sticking")
        self._name, self._shared = name, tuple(shared)

    @property
    def undetermined(self) -> tuple[SharedLoad, ...]:
        """Loads at rest that several elements share in a way that the motion leaves open."""
        return self._shared

    def _sheet(self) -> Sheet:
        t = self._terms
        more = {
            "crept at rest [m or rad]": [
                "exact" if x.crept is None else number(x.crept, digits=4) for x in t],
            "given at rest [J]": [number(x.gave, digits=4) for x in t],
        } if any(x.crept is not None for x in t) else {}  # fmt: skip
        return Sheet(f"Sticking in {self._name}".removesuffix(" in "),
                     {"component": [x.component for x in t],
                      "share of time stuck": [f"{100 * x.fraction:.2f} %" for x in t],
                      "break-aways": [x.breakaways for x in t],
                      "longest stick [s]": [x.longest for x in t],
                      "dissipated [J]": [x.dissipated for x in t], **more})

    @property
    def notes(self) -> list[str]:
        """Who shares loads, a sentence each, however often they do."""
        by_who: dict[tuple[str, ...], list[SharedLoad]] = {}
        for load in self._shared:
            by_who.setdefault(load.components, []).append(load)
        return [_told(loads) for loads in by_who.values()]

    def __repr__(self) -> str:
        return "\n".join([repr(self._sheet()), *self.notes])


def _told(loads: list[SharedLoad]) -> str:
    """What the same elements share: the longest time in full, and how many others there are."""
    longest = max(loads, key=lambda load: load.end - load.start)
    others = len(loads) - 1
    return f"{longest} So do they in {others} shorter time{'s' * (others > 1)} of the run." \
        if others else str(longest)
