"""Friction between two bodies that turn against each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from blocks import Parameter, Variable, abs_, dry_friction, interpolate

from ..friction import Rubbing, needs
from ..tables import table_faults
from .domain import TwoPort

__all__ = ["BearingFriction", "RotationalFriction"]


class RotationalFriction(Rubbing, TwoPort):
    """Friction between the bodies at R and C.

    With ``law="simscape"`` a continuous function of the angular velocity w,

    t = sqrt(2e) (T_brk - T_C) exp(-(w/w_St)²) w/w_St + T_C tanh(w/w_Coul) + c w,

    with w_St = sqrt(2) w_brk, w_Coul = w_brk/10, breakaway torque T_brk, breakaway
    velocity w_brk, Coulomb torque T_C and viscous coefficient c. It never sticks: a
    load below T_brk creeps.

    The other laws stick exactly, with any |t| <= T_brk at w = 0. While sliding,

    * ``law="coulomb"``: t = (T_C + c |w|) sign(w);
    * ``law="stribeck"``: t = (T_C + (T_brk - T_C) exp(-(w/w_brk)²) + c |w|) sign(w).

    Their viscous coefficient is 0 unless given. Dissipates t w >= 0.

    Parameters: breakaway_torque (N*m), breakaway_velocity (rad/s), coulomb_torque
    (N*m), viscous_coefficient (N*m*s/rad).
    Ports: R, C; t > 0 for w > 0.

    Raises
    ------
    ModelError
        If the breakaway torque is below the Coulomb torque.

    References
    ----------
    B. Armstrong, C. Canudas de Wit, "Friction Modeling and Compensation", The
    Control Handbook, CRC Press, 1995.
    """

    units: ClassVar[dict[str, str]] = {
        "force": "N*m", "velocity": "rad/s", "shift": "rad", "strength": "torque"
    }  # fmt: skip

    breakaway_torque = Parameter("25 N*m", minimum=0, when=needs("breakaway", normal=False),
                                 doc="Breakaway torque")  # fmt: skip
    breakaway_velocity = Parameter("0.1 rad/s", above=0, when=needs("breakaway_velocity"),
                                   doc="Velocity of largest friction, or decay")  # fmt: skip
    coulomb_torque = Parameter("20 N*m", minimum=0, when=needs("coulomb", normal=False),
                               doc="Coulomb torque")  # fmt: skip
    viscous_coefficient = Parameter(
        lambda c: "0.001 N*m*s/rad" if c.law == "simscape" else "0 N*m*s/rad", "N*m*s/rad",
        minimum=0, when=needs("viscous"), doc="Viscous coefficient",
    )  # fmt: skip
    radius = Parameter("0.1 m", above=0, when="normal", doc="Radius at which the friction acts")

    @property
    def effort(self) -> Any:
        return self.t

    @property
    def flow(self) -> Any:
        return self.w

    def strength(self, name: str) -> Any:
        if self.normal:
            return self.radius * self.by_normal_force(name)
        return getattr(self, f"{name}_torque")


class BearingFriction(TwoPort):
    """Bearing friction from a table of measured torques over speeds; sticks exactly.

    While sliding, t = T(|w|) sign(w), with T interpolated linearly in the table,
    which its last segment continues. At w = 0 it sticks with any |t| up to peak
    T(0). Dissipates t w >= 0.

    Parameters: speeds (rad/s), torques (N*m), peak (1).
    Ports: R (shaft), C (housing).

    Raises
    ------
    ModelError
        If speeds do not increase from 0 on, or a torque is negative.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.BearingFriction``
    (tau_pos is the table, R is flange_a, C is the support).
    """

    speeds = Parameter(["0 rad/s", "1 rad/s"], minimum=0, doc="Speeds of the table, from 0 on")
    torques = Parameter(["1 N*m", "1 N*m"], minimum=0, doc="Friction torques at the speeds")
    peak = Parameter(1.0, minimum=1, doc="Largest sticking torque over T(0)")
    power_dissipated = Variable("W", doc="heat")

    def verify(self) -> Iterator[str]:
        yield from table_faults(("speeds", self.speeds), torques=self.torques)
        if np.any(np.atleast_2d(self.speeds.magnitude)[:, 0] != 0):
            yield (f"speeds starts at {self.speeds[0]:~P}. The first speed must be 0 rad/s: its "
                   "torque is that of the bearing about to move.")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        kinetic = interpolate(abs_(self.w), self.speeds, self.torques)
        yield dry_friction(self.t, self.w, static=self.peak * self.torques[0], kinetic=kinetic)
        yield self.power_dissipated == self.t * self.w
