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
    """Base of restrictions of a gas, after Saint-Venant and Wantzel."""

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
