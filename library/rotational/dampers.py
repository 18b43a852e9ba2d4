"""Dampers of shafts whose torque is no multiple of the speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blocks import Option, Parameter, Variable, interpolate, maximum, minimum

from ..tables import table_faults
from .domain import TwoPort

__all__ = ["RotationalNonlinearDamper"]


class RotationalNonlinearDamper(TwoPort):
    """Damper whose coefficient depends on direction, or with a torque table.

    Equations: with ``law="asymmetric"`` t = damping_forward w for w > 0 and
    damping_backward w for w < 0; with ``law="table"`` t interpolated linearly in
    a table of torques over speeds, which its end segments continue.
    Dissipates t w; the signs in a table are the user's.

    Parameters: damping_forward (N*m*s/rad), damping_backward (N*m*s/rad), speeds (rad/s),
    torques (N*m).
    Ports: R, C.
    """

    law = Option("asymmetric", ("asymmetric", "table"), doc="how the torque follows from w")
    damping_forward = Parameter("0.001 N*m*s/rad", minimum=0, doc="Coefficient for w > 0",
                                when=lambda c: c.law == "asymmetric")  # fmt: skip
    damping_backward = Parameter("0.001 N*m*s/rad", minimum=0, doc="Coefficient for w < 0",
                                 when=lambda c: c.law == "asymmetric")  # fmt: skip
    speeds = Parameter(["-1 rad/s", "1 rad/s"], when=lambda c: c.law == "table",
                       doc="Speeds of the table, increasing")  # fmt: skip
    torques = Parameter(["-0.001 N*m", "0.001 N*m"], when=lambda c: c.law == "table",
                        doc="Torques of the table")  # fmt: skip
    power_dissipated = Variable("W", doc="heat")

    def verify(self) -> Iterator[str]:
        if self.law == "table":
            yield from table_faults(("speeds", self.speeds), torques=self.torques)

    def equations(self) -> Iterator[Any]:
        w = self.w
        if self.law == "table":
            yield self.t == interpolate(w, self.speeds, self.torques)
        else:
            forward, backward = maximum(w, 0), minimum(w, 0)
            yield self.t == self.damping_forward * forward + self.damping_backward * backward
        yield self.power_dissipated == self.t * self.w
