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
    """No pressure, and nothing else that a port knows, for sensors to measure against.

    Equations: p = 0, T = 0 (u = 0 of two phases), x_w = 0 and x_g = 0 of moist air. Connect sensors
    only: at zero pressure there is no fluid.
    """

    grounds = True

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield A.p == 0
        yield self.fluid.state(A) == 0
        for _, share in species(self.fluid):
            yield getattr(A, share) == 0


class Cap(FluidPart):
    """A closed end: nothing flows, whatever the pressure.

    Equations: mdot_A = 0, Phi_A = 0, and of moist air mdot_w_A = 0, mdot_g_A = 0. An unconnected
    port means the same; this component says that it is meant, and shows what stands there.
    """

    shown: tuple[str, ...] = ("p", "T")
    p = Variable("MPa", nominal="0.1 MPa", doc="absolute pressure")
    T = Variable(ABSOLUTE, nominal="300 K", when=lambda c: "T" in c.shown, doc="temperature")

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield from closed(self.fluid, A)
        for name in self.shown:
            yield getattr(self, name) == getattr(A, name)


class InfiniteFlowResistance(FluidPart):
    """Nothing passes between A and B, no fluid and no heat.

    Equations: mdot = 0, Phi = 0 at both ends, and of moist air mdot_w = 0, mdot_g = 0.
    """

    def equations(self) -> Iterator[Any]:
        for port in (self.A, self.B):  # type: ignore[attr-defined]
            yield from closed(self.fluid, port)
