"""Rigid contacts between bodies, in a network that has set-valued laws at nodes without mass, too.

A contact that is closed holds a velocity, as friction on a body does, and one that is open bears
nothing: the equations of modes know both. What is its own is the end of its mode, where its gap
closes, and the impact there, which goes through the bodies alone: what has no mass takes no
impulse, and friction between bodies as much as impulses of others load it with.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import NEAR_GAP, SAME_AS_BEFORE
from ...system import Evaluator, Problem, System
from ..complementarity import Impact
from ..unsettled import unsettled
from .bound_functions import bounds_by_taken, followed_efforts
from .elements import elements_of, lack_mass
from .gaps import gap_function, largest_position, refuse_overlap
from .impacts import impact_of, push
from .law_expressions import expressions_of
from .massless_efforts import MasslessEfforts

__all__ = ["MasslessContacts", "bear_impulses", "follow_impulses", "followed"]


def bear_impulses(system: System) -> Flags:
    """Elements on bodies that bear impulses: contacts, what holds whatever comes, and friction
    whose bounds follow such."""
    laws, elements, follows = expressions_of(system), elements_of(system), followed(system)
    bodies = ~lack_mass(system)
    bears = elements.contact | bodies & laws.endless & ~elements.valve
    for _ in range(elements.size):
        more = bears | bodies & follows[:, bears].any(axis=1)
        if np.array_equal(more, bears):
            break
        bears = more
    return bears


def follow_impulses(system: System) -> Flags:
    """Elements at nodes without mass whose bounds follow what bears impulses."""
    return lack_mass(system) & followed(system)[:, bear_impulses(system)].any(axis=1)


def followed(system: System) -> Flags:
    """(elements, elements) whose bounds follow whose efforts."""
    return system.once("efforts that bounds follow", lambda: followed_efforts(
        system, elements_of(system), expressions_of(system).bounds))


class MasslessContacts:
    """The contacts among the elements of a network."""

    def __init__(self, efforts: MasslessEfforts) -> None:
        self.efforts, self.equations = efforts, efforts.equations
        self.elements, self.state = efforts.elements, efforts.state
        self.contact, system = efforts.elements.contact, efforts.system
        #: Elements that bear impulses but are no contacts.
        self.beside: Flags = system.once(
            "beside contacts", lambda: bear_impulses(system) & ~self.contact)

    @cached_property
    def restitution(self) -> Evaluator:
        """Restitution of all elements as a compiled function."""
        system = self.efforts.system
        return system.once("restitution", lambda: system.function(
            "restitution", ca.densify(expressions_of(system).restitution)))

    def refuse_overlap(self, problem: Problem, t: float) -> None:
        """Stop at contacts of parts that overlap at the start."""
        index, system = np.flatnonzero(self.contact), self.efforts.system
        if len(index):
            refuse_overlap(system, self.elements, self._gap(problem, t)[index], index,
                           largest_position(problem))  # fmt: skip

    def apart(self, problem: Problem, t: float) -> Flags:
        """Contacts that can only be open."""
        if not self.contact.any():
            return self.contact
        return self.contact & (self._gap(problem, t) > NEAR_GAP * largest_position(problem))

    def separating(self, problem: Problem, t: float) -> Flags:
        """Open contacts whose sides move apart: nothing ends their mode."""
        if not self.contact.any():
            return self.contact
        return self.contact & (self.state.modes != 0) & (self.equations.given(problem, t)[0] <= 0)

    def possible(self, problem: Problem, t: float, modes: Indices) -> Indices:
        """Modes with contacts that are apart open."""
        return np.where(self.apart(problem, t) | self.contact & (modes > 0), -1, modes)

    def strike(self, problem: Problem, t: float, touched: Indices) -> tuple[Flags, Indices]:
        """Let open contacts whose gaps have closed strike; returns who took part, and modes then.

        Which contacts were struck is noted in the state.
        """
        state, touching = self.state, self.contact & ~self.apart(problem, t)
        state.struck = np.zeros(self.elements.size, dtype=bool)
        approach = self.equations.given(problem, t)[0]
        closing = np.zeros(self.elements.size, dtype=bool)
        closing[touched] = True
        closing &= touching & (state.modes != 0) & (approach > 0)
        if not closing.any():
            return closing, state.modes
        state.approach = max(state.approach, float(approach[closing].max()))
        index, impact = self._impact(problem, t, touching, approach)
        if not impact.converged:
            raise unsettled(self.elements.names(index), t, "impulses")
        push(problem, t, lambda: np.asarray(
            self.equations.slope_by_taken(problem, t)[:, index] @ impact.impulse))
        problem.update_anew(t)
        after = self.equations.given(problem, t)[0]
        hit = np.zeros(self.elements.size, dtype=bool)
        hit[index[impact.impulse != 0]] = True
        state.struck = hit & self.contact
        rests = np.abs(after) <= SAME_AS_BEFORE * np.where(self.contact, state.approach, state.fast)
        modes = np.where(rests, 0, np.where(self.contact, -1, np.sign(after))).astype(int)
        low, high = self.equations.values(problem, t)[2:4]
        closed = state.struck & rests | self.contact & (state.modes == 0)
        holds = (low < high) | followed(self.efforts.system)[:, closed].any(axis=1)
        return hit & ((modes != 0) | holds), modes

    def _impact(self, problem: Problem, t: float, touching: Flags, flow: Array
                ) -> tuple[Indices, Impact]:
        """Who takes part in an impact, and their impulses."""
        beside, bounds = self.beside, bounds_by_taken(self.efforts.system)
        rests = self.state.modes == 0
        index = np.flatnonzero(touching | beside & (bounds.dependent | rests))
        d = -self.equations.by_inputs(problem, t)[3][np.ix_(index, index)]
        return index, impact_of(
            problem, t, self.elements, bounds if beside.any() else None, rests, index, d,
            (flow, *self.equations.values(problem, t)[2:]),
            self.restitution(*problem.arguments(t)), self.elements.efforts_of(problem.u))

    def _gap(self, problem: Problem, t: float) -> Array:
        """Gaps of all elements, 0 of others than contacts; negative in overlap, though parting."""
        out = np.zeros(self.elements.size)
        out[self.contact] = gap_function(self.efforts.system)(*problem.arguments(t))
        return out
