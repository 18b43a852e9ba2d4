"""The law of a narrow place in what expands: from laminar to sonic flow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Parameter, log, sqrt, where

from .flows import upstream
from .passages import Restriction
from .polynomials import E

__all__ = ["SonicRestriction"]


class SonicRestriction(Restriction):
    """A sudden narrow place, of fixed area or one given by a signal: from laminar to sonic flow.

    Equation, after Saint-Venant and Wantzel, with p_1, rho_1 where it comes from and
    r = p_2/p_1, but no less than the critical ratio (2/(gamma + 1))^(gamma/(gamma - 1)):
    mdot = Cd S_R sqrt(2 gamma/(gamma - 1) p_1 rho_1 (r^(2/gamma) - r^((gamma + 1)/gamma))). At
    and below the critical ratio the speed in it is that of sound, and the flow no longer depends
    on p_2. Near r = 1, for 1 - r below ``laminar_share``, it is proportional to the difference of
    pressure. gamma is that of the temperature and mixture at the inlet. Energy and what is mixed in
    pass as they are; the approach velocity and the recovery of pressure are left out.

    Parameters: area (m^2) (``restriction_type="fixed"``), minimum_area (m^2), maximum_area (m^2)
    (``"variable"``), port_area (m^2), discharge_coefficient (1), laminar_share (1).
    Inputs: AR in m², limited to minimum_area and maximum_area.
    """

    approach = False

    discharge_coefficient = Parameter(0.64, above=0, maximum=1,
                                      doc="Flow over that without contraction")  # fmt: skip
    laminar_share = Parameter(1e-3, above=0, below=0.5,
                              doc="Fall of pressure, of all of it, up to which flow is laminar")

    def equations(self) -> Iterator[Any]:
        fluid, A, B = self.fluid, self.A, self.B  # type: ignore[attr-defined]
        area = self.opening()
        forth = A.p > B.p
        p_1, p_2, T_1 = (where(forth, here, there, events=False) for here, there in (
            (A.p, B.p), (B.p, A.p), (A.T, B.T)))  # fmt: skip
        inlet = upstream(fluid, A, B, forth)
        k = fluid.isentropic_power(inlet, T_1)  # (gamma - 1)/gamma
        # smoothly above zero for trial steps; y = ln r
        share = where(p_2 > 1e-6 * p_1, p_2 / p_1, 1e-6, events=False)
        critical = log((2 - 2 * k) / (2 - k)) / k  # 2/(gamma + 1) = (2 - 2 k)/(2 - k)
        y = log(share)
        y = where(y > critical, y, critical, events=False)
        fall = 1 - E**y
        # (r^(2/gamma) - r^((gamma + 1)/gamma)) gamma/(gamma - 1)/(1 - r), without 0/0 at r = 1
        near = fall < 1e-6
        safe = where(near, -1e-6, y, events=False)
        curve = where(near, 1, E ** (2 * (1 - k) * safe) * (1 - E ** (k * safe)) / k / (
            1 - E**safe), events=False)  # fmt: skip
        root = fall / sqrt(sqrt(fall**2 + self.laminar_share**2))
        flow = self.discharge_coefficient * area * p_1 * sqrt(
            2 * curve / (fluid.gas_constant(inlet) * T_1)) * root  # fmt: skip
        yield self.mdot == where(forth, flow, -flow, events=False)
        yield from self.passing()
