"""Stops and backlash: torques that act in a range of angles only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Option, Parameter, Variable, der

from ..contact import STOP_MODELS, gap_law, stop_law
from .domain import TwoPort

__all__ = ["ElastoBacklash", "RotationalHardStop"]


class RotationalHardStop(TwoPort):
    """Elastic stops that keep R between two bounds relative to C.

    Equations: dphi/dt = w; with p the penetration of a bound, K its stiffness and D
    its damping, the torque of the upper bound is

    * ``model="full"``: K p + D w. Damping jumps in at the bound and pulls on the
      rebound.
    * ``model="undamped rebound"``: K p + D max(w, 0).
    * ``model="smooth"`` (default): s (K p + D w) with s = l² (3 - 2 l) and
      l = min(p/transition, 1): stiffness and damping rise smoothly from the bound
      over the transition region; the rebound is damped.

    The lower bound mirrors it. Between the bounds t = 0. Contact and the end of the
    transition region are located events. Neglects the inertia of the stops.

    Ports: R, C. Initial target: phi (high, 0 rad), the place of R between the
    bounds; t > 0 at the upper bound.
    """

    model = Option("smooth", STOP_MODELS, doc="how stiffness and damping set in")
    upper_bound = Parameter("0.1 rad", doc="Gap of the upper bound, seen from phi = 0")
    lower_bound = Parameter("-0.1 rad", doc="Gap of the lower bound, seen from phi = 0")
    upper_stiffness = Parameter("1 MN*m/rad", above=0, doc="Contact stiffness, upper bound")
    lower_stiffness = Parameter("1 MN*m/rad", above=0, doc="Contact stiffness, lower bound")
    upper_damping = Parameter("0.01 N*m*s/rad", minimum=0, doc="Contact damping, upper bound")
    lower_damping = Parameter("0.01 N*m*s/rad", minimum=0, doc="Contact damping, lower bound")
    transition = Parameter("0.001 rad", above=0, when=lambda c: c.model == "smooth",
                           doc="Depth of the transition region")  # fmt: skip
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")
    energy_stored = Variable("J", doc="elastic energy of the stops")
    power_dissipated = Variable("W", doc="heat")

    def verify(self) -> Iterator[str]:
        if np.any(self.upper_bound <= self.lower_bound):
            yield (f"upper_bound is {self.upper_bound:~P} and lower_bound {self.lower_bound:~P}. "
                   "The upper bound must be above the lower one.")  # fmt: skip

    def equations(self) -> Iterator[Any]:
        how = (self.model, self.transition)
        upper = stop_law(self.phi - self.upper_bound, self.w, self.upper_stiffness,
                         self.upper_damping, *how)  # fmt: skip
        lower = stop_law(self.lower_bound - self.phi, -self.w, self.lower_stiffness,
                         self.lower_damping, *how)  # fmt: skip
        yield der(self.phi) == self.w
        yield self.t == upper[0] - lower[0]
        yield self.energy_stored == upper[1] + lower[1]
        yield self.power_dissipated == upper[2] + lower[2]


class ElastoBacklash(TwoPort):
    """Play with elastic, damped flanks that push and never pull.

    Equations: dphi/dt = w. For |phi| <= backlash/2, t = 0. Beyond it, with the
    deformation p of the flank in contact, t = stiffness p + damping w, where the
    damping part is limited to the elastic one: the torque is continuous at first
    contact and never pulls when the flanks part.

    Ports: R, C. Initial target: phi (high, 0 rad), the middle of the play.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.ElastoBacklash``
    (b is backlash; phi_rel0 = 0; R is flange_b).
    """

    stiffness = Parameter("100 kN*m/rad", above=0, doc="Stiffness of the flanks")
    damping = Parameter("0 N*m*s/rad", minimum=0, doc="Damping of the flanks")
    backlash = Parameter("0.1 rad", minimum=0, doc="Total play")
    phi = Variable("rad", "0 rad", priority="high", doc="angle of R against C")
    energy_stored = Variable("J", doc="elastic energy")
    power_dissipated = Variable("W", doc="heat")

    def equations(self) -> Iterator[Any]:
        half = self.backlash / 2
        upper = gap_law(self.phi - half, self.w, self.stiffness, self.damping)
        lower = gap_law(-self.phi - half, -self.w, self.stiffness, self.damping)
        yield der(self.phi) == self.w
        yield self.t == upper[0] - lower[0]
        yield self.energy_stored == upper[1] + lower[1]
        yield self.power_dissipated == upper[2] + lower[2]
