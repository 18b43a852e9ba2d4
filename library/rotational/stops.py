"""Stops and backlash: torques that act in a range of angles only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Option, Parameter, Variable, contact, der

from .. import symbols
from ..contact import STOP_MODELS, gap_law, start_beyond, stop_law
from ..heat import Dissipative, Struck
from .domain import TwoPort

__all__ = ["ElastoBacklash", "RotationalHardStop"]


def _rigid(stop: Any) -> bool:
    return stop.model == "restitution"


def _elastic(stop: Any) -> bool:
    return not _rigid(stop)


class RotationalHardStop(Struck, TwoPort):
    """Elastic stops that keep R between two bounds relative to C.

    Equations: dphi/dt = w; with p the penetration of a bound, K its stiffness and D
    its damping, the torque of the upper bound is

    * ``model="full"``: K p + D w. Damping jumps in at the bound and pulls on the
      rebound.
    * ``model="undamped rebound"``: K p + D max(w, 0).
    * ``model="smooth"`` (default): s (K p + D w) with s = l² (3 - 2 l) and
      l = min(p/transition, 1): stiffness and damping rise smoothly from the bound
      over the transition region; the rebound is damped.

    With ``model="restitution"`` the stop is rigid: at a bound the speed is reversed
    and multiplied by the coefficient of restitution, by an impulse carried through
    the network, and after the last rebound the stop holds with whatever torque is
    needed. Both sides of it need inertia.

    The lower bound mirrors it. Between the bounds t = 0. Contact and the end of the
    transition region are located events. Neglects the inertia of the stops.

    Parameters: upper_bound (rad), lower_bound (rad), upper_stiffness (N*m/rad),
    lower_stiffness (N*m/rad), upper_damping (N*m*s/rad), lower_damping (N*m*s/rad),
    transition (rad), restitution (1), release_time (ms).
    Ports: R, C. Initial target: phi (high, 0 rad), the place of R between the
    bounds; t > 0 at the upper bound.
    With ``thermal_port=True`` the heat leaves at the port H; that of impacts collects in
    impact_heat (high, 0 J) and leaves with the time constant ``release_time``.
    """

    symbol = symbols.STOP

    model = Option("smooth", (*STOP_MODELS, "restitution"), doc="how the stops act")
    upper_bound = Parameter("0.1 rad", doc="Gap of the upper bound, seen from phi = 0")
    lower_bound = Parameter("-0.1 rad", doc="Gap of the lower bound, seen from phi = 0")
    upper_stiffness = Parameter("1e6 N*m/rad", above=0, when=_elastic,
        doc="Contact stiffness, upper bound")  # fmt: skip
    lower_stiffness = Parameter("1e6 N*m/rad", above=0, when=_elastic,
        doc="Contact stiffness, lower bound")  # fmt: skip
    upper_damping = Parameter("0.01 N*m*s/rad", minimum=0, when=_elastic,
        doc="Contact damping, upper bound")  # fmt: skip
    lower_damping = Parameter("0.01 N*m*s/rad", minimum=0, when=_elastic,
        doc="Contact damping, lower bound")  # fmt: skip
    transition = Parameter("0.001 rad", above=0, when=lambda c: c.model == "smooth",
                           doc="Depth of the transition region")  # fmt: skip
    restitution = Parameter(0.7, minimum=0, maximum=1, when=_rigid,
                            doc="Coefficient of restitution")  # fmt: skip
    upper_torque = Variable("N*m", when=_rigid, doc="torque of the upper stop, pressing back")
    lower_torque = Variable("N*m", when=_rigid, doc="torque of the lower stop, pressing back")
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")
    energy_stored = Variable("J", doc="elastic energy of the stops, or heat of impacts")

    @property
    def rigid(self) -> bool:
        return _rigid(self)

    def verify(self) -> Iterator[str]:
        if np.any(self.upper_bound <= self.lower_bound):
            yield (f"upper_bound is {self.upper_bound:~P} and lower_bound {self.lower_bound:~P}. "
                   "The upper bound must be above the lower one.")  # fmt: skip

    def advise(self) -> Iterator[str]:
        if not self.rigid:  # told with how far the sides overlap
            yield from start_beyond(self.phi, self.lower_bound, self.upper_bound)

    def equations(self) -> Iterator[Any]:
        yield der(self.phi) == self.w
        if self.model == "restitution":
            yield contact(self.upper_torque, self.upper_bound - self.phi, self.w,
                          restitution=self.restitution)  # fmt: skip
            yield contact(self.lower_torque, self.phi - self.lower_bound, -self.w,
                          restitution=self.restitution)  # fmt: skip
            yield self.t == self.upper_torque - self.lower_torque
            yield from self.heat_of_impacts(self.t * self.w)
            return
        how = (self.model, self.transition)
        upper = stop_law(self.phi - self.upper_bound, self.w, self.upper_stiffness,
                         self.upper_damping, *how)  # fmt: skip
        lower = stop_law(self.lower_bound - self.phi, -self.w, self.lower_stiffness,
                         self.lower_damping, *how)  # fmt: skip
        yield self.t == upper[0] - lower[0]
        yield self.energy_stored == upper[1] + lower[1]
        yield self.power_dissipated == upper[2] + lower[2]


class ElastoBacklash(Dissipative, TwoPort):
    """Play with elastic, damped flanks that push and never pull.

    Equations: dphi/dt = w. For |phi| <= backlash/2, t = 0. Beyond it, with the
    deformation p of the flank in contact, t = stiffness p + damping w, where the
    damping part is limited to the elastic one: the torque is continuous at first
    contact and never pulls when the flanks part.

    Parameters: stiffness (N*m/rad), damping (N*m*s/rad), backlash (rad).
    Ports: R, C. Initial target: phi (high, 0 rad), the middle of the play.
    With ``thermal_port=True`` the heat leaves at the port H.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.ElastoBacklash``
    (b is backlash; phi_rel0 = 0; R is flange_b).
    """

    symbol = symbols.GAP

    stiffness = Parameter("1e5 N*m/rad", above=0, doc="Stiffness of the flanks")
    damping = Parameter("0 N*m*s/rad", minimum=0, doc="Damping of the flanks")
    backlash = Parameter("0.1 rad", minimum=0, doc="Total play")
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")
    energy_stored = Variable("J", doc="elastic energy")

    def equations(self) -> Iterator[Any]:
        half = self.backlash / 2
        upper = gap_law(self.phi - half, self.w, self.stiffness, self.damping)
        lower = gap_law(-self.phi - half, -self.w, self.stiffness, self.damping)
        yield der(self.phi) == self.w
        yield self.t == upper[0] - lower[0]
        yield self.energy_stored == upper[1] + lower[1]
        yield self.power_dissipated == upper[2] + lower[2]
