"""Rigid contacts between bodies, in a network that has set-valued laws at nodes without mass, too.

A contact that is closed holds a velocity, as friction on a body does, and one that is open bears
nothing: the equations of modes know both. What is its own is the end of its mode, where its gap
closes, and the impact there, which goes through the bodies alone: what has no mass takes no
impulse, and friction no more than its bounds let it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import NEAR_GAP, REBOUND_RESTS
from ..unsettled import unsettled
from .gaps import gaps_of, largest_position, refuse_overlap
from .massless_efforts import MasslessEfforts

if TYPE_CHECKING:
    from ...system import Evaluator, Problem

__all__ = ["MasslessContacts"]


class MasslessContacts:
    """The contacts among the elements of a network.

    Parameters
    ----------
    efforts : in the present modes
    restitution : of all elements
    """

    def __init__(self, efforts: MasslessEfforts, restitution: Evaluator) -> None:
        self.efforts, self.equations = efforts, efforts.equations
        self.elements, self.state = efforts.elements, efforts.state
        self.contact, self.restitution = efforts.elements.contact, restitution

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

    def part(self, problem: Problem, t: float) -> Flags:
        """Open contacts whose sides move apart: nothing ends their mode."""
        if not self.contact.any():
            return self.contact
        return self.contact & (self.state.modes != 0) & (self.equations.given(problem, t)[0] <= 0)

    def possible(self, problem: Problem, t: float, modes: Indices) -> Indices:
        """Modes with contacts that are apart open."""
        return np.where(self.apart(problem, t) | self.contact & (modes > 0), -1, modes)

    def strike(self, problem: Problem, t: float, touched: Indices) -> Flags:
        """Let open contacts whose gaps have closed strike; returns which of them come to rest.

        Who was struck is noted in the state.
        """
        from ..complementarity import sequential_impact

        state, touching = self.state, self.contact & ~self.apart(problem, t)
        state.struck = np.zeros(self.elements.size, dtype=bool)
        approach = self.equations.given(problem, t)[0]
        closing = np.zeros(self.elements.size, dtype=bool)
        closing[touched] = True
        closing &= touching & (state.modes != 0) & (approach > 0)
        if not closing.any():
            return closing
        state.approach = max(state.approach, float(approach[closing].max()))
        index = np.flatnonzero(touching)
        by_inputs = self.equations.by_inputs(problem, t)[3]
        impact = sequential_impact(-by_inputs[np.ix_(index, index)], approach[index],
                                   self.restitution(*problem.arguments(t))[index])
        if not impact.converged:
            raise unsettled((self.elements.name(int(i)) for i in index), t, "impulses")
        self._push(problem, t, index, impact.impulse)
        after = self.equations.given(problem, t)[0]
        state.struck[index[impact.impulse > 0]] = True
        return touching & (np.abs(after) <= REBOUND_RESTS * state.approach)

    def _push(self, problem: Problem, t: float, index: Indices, impulse: Array) -> None:
        """Change the states as impulses do; what follows work does so at the mean of the flows."""
        before = problem.x.copy()
        for share in (0.5, 1.0):
            change = self.equations.slope_by_taken(problem, t)[:, index] @ impulse
            problem.x[:] = before + share * change
        problem.settle(t)

    def _gap(self, problem: Problem, t: float) -> Array:
        """Of all elements, 0 of those that are none; what overlaps is negative, though it parts."""
        system = self.efforts.system
        gaps: Evaluator = system.once("gaps of contacts", lambda: system.function(
            "gaps", ca.densify(gaps_of(system))))
        out = np.zeros(self.elements.size)
        out[self.contact] = gaps(*problem.arguments(t))
        return out
