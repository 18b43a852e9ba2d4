"""Which efforts and flows do elements at nodes without mass take, while their modes are held?

Some take the effort and give the flow, some the other way round; what they take, and so the
inputs of the reduced system, solves the equations of their modes
(:mod:`blocks.nonsmooth.modes.mode_equations`) by Newton's method. Nonlinear loops take part in it:
solved for at every trial of what elements take, they would answer a current that a diode cannot
carry with the voltage of its leakage.
"""

from __future__ import annotations

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import (
    CANCELLATION,
    FALLS_NO_MORE,
    FULFILLED,
    LAST_BITS,
    NEWTON_STALLED,
    NOTHING_AT_ALL,
    ROUNDING,
    SAME_AS_BEFORE,
    TINY,
)
from ...system import AlgebraicFailure, Problem, System
from ..mode_state import ModeState
from .elements import Elements
from .mode_equations import ModeEquations

__all__ = ["MasslessEfforts"]

ROUNDS = 60  # of Newton's method: down an exponential it goes by a thermal voltage a round
FARTHEST = 1e6  # sizes of unknowns of loops, that a round leads to


class MasslessEfforts:
    """What elements take in the present modes."""

    def __init__(self, system: System, elements: Elements, equations: ModeEquations,
                 state: ModeState) -> None:
        self.system, self.elements = system, elements
        self.equations, self.state = equations, state

    def apply(self, problem: Problem, t: float, modes: Indices | None = None) -> None:
        """Set the problem's inputs to those of some modes; of the present ones, if not said.

        These are with switches as they stand now, though nobody may have decided since: what
        contradicts itself then is solved as well as can be. Raises AlgebraicFailure if they have no
        solution there, or Newton's method does not find it; the problem is as it was.
        """
        equations, last, first, decided = self.equations, np.inf, 0.0, True
        missed = np.inf
        problem.solve_algebraic(t)
        start = problem.x.copy(), problem.z.copy(), problem.u.copy()
        nothing = CANCELLATION * self.elements.efforts_of(problem.scale_u)
        if modes is None:
            modes = equations.switched(problem, t, self.state.modes)
            decided = self.state.decided and np.array_equal(modes, self.state.modes)
        for k in range(ROUNDS):
            held = equations.at(problem, t, modes)
            step = held.step()
            if step is None:
                break
            first = max(first, held.error())
            if equations.loops is None or problem.system.linear:
                self.change(problem, -step)
                problem.solve_algebraic(t)
            else:
                follows = equations.loops.at(problem, t)
                self.change(problem, -step)
                moved = follows.missed - follows.by_taken @ step
                if (np.abs(moved) <= FARTHEST * (np.abs(problem.z) + problem.scale_z)).all():
                    problem.z += moved
                else:  # from where a law is flat
                    try:
                        problem.solve_algebraic(t)
                    except AlgebraicFailure:
                        break
            size = np.abs(step).max(initial=0.0) / max(np.abs(problem.u).max(initial=0.0), TINY)
            before, missed = missed, np.abs(held.residual).max(initial=0.0)
            if k and equations.constant and not held.made.null.shape[1]:
                return  # coefficients may be small differences, which the first step does not know
            # down an exponential a voltage falls evenly, with currents that hardly change
            stalled = missed >= FALLS_NO_MORE * before and (
                size < NEWTON_STALLED and size > 0.5 * last) or (
                held.error() <= NOTHING_AT_ALL * first)
            exact = size <= NOTHING_AT_ALL or (np.abs(step) <= nothing).all()
            tells = k > 0 or equations.affine  # laws may be flat or steep where it begins
            if exact and tells or (equations.affine and k) or stalled:
                problem.solve_algebraic(t)
                some_open = decided and held.made.null.shape[1]
                if not some_open or self._agrees(problem, t, modes, first):
                    return
                break
            last = size
        problem.x[:], problem.z[:], problem.u[:] = start
        worst = np.argsort(-np.abs(held.residual))[:3]
        reason, advice = "nodes without mass do not come to a balance", ""
        if self.elements.valve.all():
            reason = "nothing balances what the ideal elements open and close"
            advice = ("Give them a small resistance, or the nodes beside them a small "
                      "capacitance.")
        elif not equations.affine:
            reason += (": no velocity near the last one makes it. Where friction falls as velocity "
                       "rises, and nothing else resists, velocity would have to jump there")
            advice = ("Give the node beside it a (small) mass, or put a damper in parallel that "
                      "rises faster than the friction falls.")
        raise AlgebraicFailure(t, self.elements.labels(worst), reason, advice=advice)

    def _agrees(self, problem: Problem, t: float, modes: Indices, first: float) -> bool:
        """Whether equations that leave inputs open are fulfilled, beside errors of ``first`` and
        rounding of the largest flow, effort and bound, and of what cancels in them.

        Where they are affine that is asked of what no further step would make smaller: all else is
        rounding, such as of voltages over a tiny resistance.
        """
        taken = float(np.abs(problem.u).max(initial=0.0))
        nothing = CANCELLATION * self.elements.efforts_of(problem.scale_u).min()
        values = np.abs(self.equations.values(problem, t))
        largest = max(float(a.max(initial=0.0)) for a in (
            values[np.isfinite(values)], self.state.fast, self.state.strong))
        held = self.equations.at(problem, t, modes)
        rounding = ROUNDING * self.equations.sizes(problem, t, modes)
        error = held.error(rounding, lasting=self.equations.affine)
        return error <= FULFILLED * (first + taken) + ROUNDING * largest + nothing

    def change(self, problem: Problem, change: Array) -> None:
        """Change what the elements take."""
        problem.u[self.elements.column] += change * self.elements.unit

    def project(self, problem: Problem, t: float) -> None:
        """Bring what the modes hold constant onto its value exactly."""
        modes, everyone = self.state.modes, np.arange(self.elements.size)
        self.apply(problem, t, modes)
        held = self.equations.at(problem, t, modes)
        if not np.any(held.violation):
            return
        missed_x = self.equations.by_x(problem, t, modes)[1]
        if (np.abs(held.violation) <= LAST_BITS * np.abs(missed_x) @ np.abs(problem.x)).all():
            return  # rounding, which would only be another one: samples at an event see no end
        (_, move), = self.equations.projections(problem, t, modes, [everyone])
        problem.x -= move @ held.violation

    # -- what the modes leave open ---------------------------------------------------------
    def is_internal_stress(self, problem: Problem, t: float, null: Array) -> bool:
        """Whether inputs that the modes leave open change efforts at rest, but no motion.

        The share of open switches in a flow that several of them interrupt is none.
        """
        opened, _ = self.equations.told(problem, t)
        nobody = np.zeros(self.elements.size, dtype=bool)
        return self.equations.changes_nothing(problem, t, null, nobody, ~opened)

    def open_flows(self, problem: Problem, t: float) -> Array | None:
        """Flows that the present modes leave open, one way to change them; None if none are."""
        null = self.equations.open_inputs(problem, t, self.state.modes)
        if not null.shape[1]:
            return None
        flows = self.equations.by_taken(problem, t, null)[1]
        size = np.abs(flows).max(axis=0, initial=0.0)
        k = int(np.argmax(size / np.abs(null).max(axis=0)))
        return flows[:, k] if size[k] > SAME_AS_BEFORE * np.abs(null[:, k]).max() else None

    # -- derivatives -----------------------------------------------------------------------
    def jacobian(self, problem: Problem, t: float) -> sp.csc_matrix:
        """(d slope / d what is taken) (d what is taken / d x)."""
        push = self.equations.slope_by_taken(problem, t)
        return sp.csc_matrix(push @ self._taken_by_states(problem, t))

    def by_states(self, problem: Problem, t: float) -> Array:
        """Size of the change of efforts per change of the states, in the present modes."""
        taken = self._taken_by_states(problem, t)
        given = self.equations.given_by_states(problem, t, taken)
        return np.abs(np.where(self.elements.gives_flow[:, None], given, taken))

    def _taken_by_states(self, problem: Problem, t: float) -> Array:
        held = self.equations.at(problem, t, self.state.modes)
        return -held.solved(self.equations.by_x(problem, t, self.state.modes)[0])
