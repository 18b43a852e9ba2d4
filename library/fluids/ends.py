"""Where nothing flows: closed ends, walls between two circuits, and nothing to measure against."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Variable

from ..thermal.domain import ABSOLUTE
from .chambers import FluidPart
from .flows import closed, species

__all__ = ["AbsoluteReference", "Cap", "InfiniteFlowResistance"]


class AbsoluteReference(FluidPart):
    """Base of references: every across variable is zero."""

    grounds = True

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield A.p == 0
        yield self.fluid.state(A) == 0
        for _, share in species(self.fluid):
            yield getattr(A, share) == 0


class Cap(FluidPart):
    """Base of closed ends, which show what stands there; ``shown`` says what."""

    shown: tuple[str, ...] = ("p", "T")
    p = Variable("MPa", nominal="0.1 MPa", doc="absolute pressure")
    T = Variable(ABSOLUTE, nominal="300 K", when=lambda c: "T" in c.shown, doc="temperature")

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield from closed(self.fluid, A)
        for name in self.shown:
            yield getattr(self, name) == getattr(A, name)


class InfiniteFlowResistance(FluidPart):
    """Base of walls between A and B."""

    def equations(self) -> Iterator[Any]:
        for port in (self.A, self.B):  # type: ignore[attr-defined]
            yield from closed(self.fluid, port)
