"""Dampers of shafts whose torque is no multiple of the speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Parameter, abs_, interpolate, maximum, minimum, quantity

from .. import symbols
from ..heat import Dissipative
from ..tables import table_faults
from .domain import TwoPort

__all__ = ["RotationalNonlinearDamper"]


class RotationalNonlinearDamper(Dissipative, TwoPort):
    """Damper whose coefficient depends on direction or speed, or with a torque table.

    Equations: with ``law="asymmetric"`` t = damping_forward w for w > 0 and
    damping_backward w for w < 0; with ``law="table"`` t interpolated linearly in
    a table of torques over speeds, which its end segments continue; with
    ``law="polynomial"`` t = w (c1 + c2 s + c3 s² + …), the same both ways, with s the
    magnitude of w in rad/s.
    Dissipates t w; the signs in a table and of coefficients are the user's.

    Parameters: damping_forward (N*m*s/rad), damping_backward (N*m*s/rad), speeds (rad/s),
    torques (N*m), coefficients (N*m*s/rad).
    Ports: R, C, H (heat, with ``thermal_port=True``).
    """

    symbol = symbols.DAMPER

    law = Option("asymmetric", ("asymmetric", "table", "polynomial"),
                 doc="how the torque follows from w")
    damping_forward = Parameter("0.001 N*m*s/rad", minimum=0, doc="Coefficient for w > 0",
                                when=lambda c: c.law == "asymmetric")  # fmt: skip
    damping_backward = Parameter("0.001 N*m*s/rad", minimum=0, doc="Coefficient for w < 0",
                                 when=lambda c: c.law == "asymmetric")  # fmt: skip
    speeds = Parameter(["-1 rad/s", "1 rad/s"], when=lambda c: c.law == "table",
                       doc="Speeds of the table, increasing")  # fmt: skip
    torques = Parameter(["-0.001 N*m", "0.001 N*m"], when=lambda c: c.law == "table",
                        doc="Torques of the table")  # fmt: skip
    coefficients = Parameter(["0.001 N*m*s/rad"], when=lambda c: c.law == "polynomial",
                             doc="Coefficients c1, c2, … of rising powers of the speed")

    def verify(self) -> Iterator[str]:
        if self.law == "table":
            yield from table_faults(("speeds", self.speeds), torques=self.torques)

    def equations(self) -> Iterator[Any]:
        w = self.w
        if self.law == "table":
            yield self.t == interpolate(w, self.speeds, self.torques)
        elif self.law == "polynomial":
            speed = abs_(w) / quantity("1 rad/s")
            coefficients = self.coefficients
            yield self.t == w * sum(coefficients[k] * speed**k for k in range(len(coefficients)))
        else:
            forward, backward = maximum(w, 0), minimum(w, 0)
            yield self.t == self.damping_forward * forward + self.damping_backward * backward
        yield self.power_dissipated == self.t * self.w
