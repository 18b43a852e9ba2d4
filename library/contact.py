"""Laws of stops and one-sided contacts, for forces and torques alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from blocks import Option, Parameter, Variable, contact, maximum, minimum, where

from .heat import Struck

__all__ = ["STOP_MODELS", "Bounded", "gap_law", "is_elastic", "is_rigid", "opposed", "start_beyond",
           "stop_law"]  # fmt: skip

STOP_MODELS = ("smooth", "full", "undamped rebound")


def is_rigid(stop):
    return bool(stop.model == "restitution")


def is_elastic(stop):
    return not is_rigid(stop)


class Bounded(Struck):
    """Base of hard stops: what is ``held`` between an upper and a lower bound.

    A subclass declares bounds, stiffnesses, dampings and the transition in its units.
    """

    model = Option("smooth", (*STOP_MODELS, "restitution"), doc="how the stops act")
    restitution = Parameter(0.7, minimum=0, maximum=1, when=is_rigid,
                            doc="Coefficient of restitution")  # fmt: skip
    energy_stored = Variable("J", doc="elastic energy of the stops, or heat of impacts")

    @property
    def rigid(self):
        return is_rigid(self)

    @property
    def place(self):
        """What is bounded."""
        raise NotImplementedError

    def verify(self):
        if np.any(self.upper_bound <= self.lower_bound):
            yield (f"upper_bound is {self.upper_bound:~P} and lower_bound {self.lower_bound:~P}. "
                   "The upper bound must be above the lower one.")  # fmt: skip

    def advise(self):
        if not self.rigid:  # told with how far the sides overlap
            yield from start_beyond(self.place, self.lower_bound, self.upper_bound)

    def held(self, effort, flow, upper, lower):
        """The law of the effort over the flow; ``upper`` and ``lower`` are those of rigid stops."""
        x = self.place
        if self.rigid:
            yield contact(upper, self.upper_bound - x, flow, restitution=self.restitution)
            yield contact(lower, x - self.lower_bound, -flow, restitution=self.restitution)
            yield effort == upper - lower
            yield from self.heat_of_impacts(effort * flow)
            return
        how = self.model, self.transition
        force, energy, heat = opposed(
            stop_law(x - self.upper_bound, flow, self.upper_stiffness, self.upper_damping, *how),
            stop_law(self.lower_bound - x, -flow, self.lower_stiffness, self.lower_damping, *how))
        yield effort == force
        yield self.energy_stored == energy
        yield self.power_dissipated == heat


def opposed(upper, lower):
    """Effort, stored energy and dissipated power of two bounds that press against each other."""
    return upper[0] - lower[0], upper[1] + lower[1], upper[2] + lower[2]


def stop_law(depth, flow, stiffness, damping, model, transition=None):
    """Effort, stored energy and dissipated power of one bound.

    ``depth`` is the penetration (negative outside), ``flow`` its rate. The three
    models are described at the hard stops, which all use this law.
    """
    p = maximum(depth, 0)
    if model == "undamped rebound":
        flow = maximum(flow, 0)
    share: Any = 1.0
    energy = stiffness * p**2 / 2
    if model == "smooth":
        # limited twice: an event at the end, and no cubic growth in a trial step beyond
        l = minimum(where(depth < transition, p / transition, 1), 1)
        share = l**2 * (3 - 2 * l)
        # integral of s K p up to the end of the transition, then that of K p
        l = minimum(p / transition, 1)
        square = minimum(p, transition) ** 2  # that of the transition alone may overflow
        energy = stiffness * (square * (3 * l**2 / 4 - 2 * l**3 / 5) + (p**2 - square) / 2)
    effort = where(depth > 0, share * (stiffness * p + damping * flow), 0)
    return effort, energy, where(depth > 0, share * damping * flow**2, 0)


def start_beyond(variable, lower, upper, bounds="lower_bound and upper_bound"):
    """A word about an initial target of a position beyond its stops, for ``advise()``."""
    start = variable.initial
    if np.ndim(start.magnitude) == 0 and not lower <= start <= upper:
        yield (f"{variable.variable.name} starts at {start:~P}, beyond {bounds}, {lower:~P} and "
               f"{upper:~P}: the stop pushes back at once. Give an initial target between them.")


def gap_law(depth, flow, stiffness, damping):
    """Effort, stored energy and dissipated power of a contact that never pulls.

    ``depth`` is the penetration, ``flow`` its rate; the damping effort is limited
    to the elastic one, so that the sum neither jumps at contact nor pulls.
    """
    elastic = stiffness * maximum(depth, 0)
    viscous = maximum(minimum(damping * flow, elastic), -elastic)
    effort = where(depth > 0, elastic + viscous, 0)
    return effort, elastic * maximum(depth, 0) / 2, viscous * flow
