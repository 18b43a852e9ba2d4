"""Ideal sensors of a fluid: they let pass what they measure, and take nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Output, Variable, partial

from .chambers import FluidPart
from .flows import closed, species

__all__ = ["FlowRateSensor", "PressureTemperatureSensor", "ThermodynamicPropertiesSensor",
           "difference"]  # fmt: skip


def difference(c: Any) -> bool:
    """Whether what is at A is measured against B."""
    return bool(c.reference == "difference")


class PressureTemperatureSensor(FluidPart):
    """Pressure and temperature at A, against B or absolute.

    Equations: P = p_A - p_B, T = T_A - T_B, or with ``reference="absolute"`` P = p_A and T = T_A;
    nothing flows.

    Ports: A, and B with ``reference="difference"``.
    """

    reference = Option("difference", ("difference", "absolute"), doc="what A is measured against")
    P = Output("MPa", doc="pressure")
    T = Output("K", doc="temperature")

    def equations(self) -> Iterator[Any]:
        A: Any = self.A  # type: ignore[attr-defined]
        yield from closed(self.fluid, A)
        if not difference(self):
            yield self.P == A.p
            yield self.T == A.T
            return
        B: Any = self.B  # type: ignore[attr-defined]
        yield from closed(self.fluid, B)
        yield self.P == A.p - B.p
        yield self.T == A.T - B.T


class FlowRateSensor(FluidPart):
    """Flow of mass, volume and energy from A to B.

    Equations: A and B have the same pressure, and temperature or internal energy; M = mdot,
    V = mdot/rho, PHI = Phi, the energy that the flow carries: mdot times the specific enthalpy.
    """

    mdot = Variable("kg/s", nominal="0.1 kg/s", doc="mass flow from A to B")
    M = Output("kg/s", doc="mass flow")
    V = Output("m^3/s", doc="volume flow")
    PHI = Output("W", doc="energy flow")

    def equations(self) -> Iterator[Any]:
        A, B = self.A, self.B  # type: ignore[attr-defined]
        yield A.mdot == self.mdot
        yield B.mdot == -self.mdot
        yield self.fluid.state(A) == self.fluid.state(B)
        yield A.Phi + B.Phi == 0
        for flow, share in species(self.fluid):
            yield getattr(A, flow) + getattr(B, flow) == 0
            yield getattr(A, share) == getattr(B, share)
        yield A.p == B.p
        yield self.M == self.mdot
        yield self.V == self.mdot / self.fluid.density(A, A.p, self.fluid.state(A))
        yield self.PHI == A.Phi


class ThermodynamicPropertiesSensor(FluidPart):
    """Base of sensors of what a fluid is at A."""

    U = Output("J/kg", doc="specific internal energy")
    H = Output("J/kg", doc="specific enthalpy")
    RHO = Output("kg/m^3", doc="density")
    CP = Output("J/(kg*K)", doc="specific heat capacity at constant pressure")

    def equations(self) -> Iterator[Any]:
        fluid, A = self.fluid, self.A  # type: ignore[attr-defined]
        yield from closed(fluid, A)
        rho, h = fluid.density_and_enthalpy(A, A.p, A.T)
        yield self.RHO == rho
        yield self.H == h
        yield self.U == h - A.p / rho
        yield self.CP == partial(h, A.T)
