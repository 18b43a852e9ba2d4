"""What effort does a law of the load give, where elements feel each other?

With efforts lambda as inputs and flows gamma as outputs, d gamma/dt = b - D lambda, and

    P_i = lambda_i + (d gamma_i/dt) / D_ii,      lambda_i = L_i(P_i, gamma_i, ...)

are solved together by Newton's method. Set-valued elements of the network follow along: with S the
change of their efforts per effort, D becomes D + D_s S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import LAST_STEP, NOTHING_AT_ALL, PIVOT_NONE, TINY, UNIT_PIVOT
from ...system import AlgebraicFailure, Problem, System
from .delassus import through_loops, torn_by
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .load_functions import ENDLESS, CoupledFunctions, LoadFunctions

__all__ = ["LoadEfforts"]

NEWTON, CUTS = 60, 8


@dataclass(frozen=True)
class _Driven:
    """Rates at a point, D with what follows, its own diagonal, and who moves nothing."""

    rate: Array
    d: Array
    own: Array
    dead: Flags

    @property
    def divisor(self) -> Array:
        """The diagonal, with 1 where an element moves nothing."""
        return np.where(self.dead, 1.0, self.own)


class LoadEfforts:
    """Efforts and loads at the present point.

    ``set_valued`` are laws in the same network, if there are any.
    """

    def __init__(self, system: System, functions: LoadFunctions, set_valued: SetValuedLaws | None
                 ) -> None:
        self.system, self.functions, self.set_valued = system, functions, set_valued
        self.elements = functions.elements
        beside = [] if set_valued is None else set_valued.elements.column.tolist()
        self._columns: Indices = np.append(self.elements.column, beside).astype(int)  # all efforts

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's efforts and loads to those of the present state."""
        functions, at = self.functions, self.elements.column
        if functions.coupled is None:
            assert functions.inputs is not None
            problem.u[:] = functions.inputs(*problem.arguments(t))
            return
        effort = problem.u[at].copy()
        for start in (effort, *np.outer((0.0, 1.0, -1.0, 0.5, -0.5), np.abs(effort))):
            problem.u[at] = start  # more than one answer: from afar where none is near
            if self._newton(problem, t, functions.coupled):
                return
        owners, families = self.elements.owners[:3], self.system.network.families
        raise AlgebraicFailure(t, [families[f].path(i) for f, i in owners],
                               "no efforts agree with the laws of the load",
                               advice="Where several frictions hold one motion, such a law takes "
                               "the efforts of the others for its load: put one in their place, "
                               "with the sum of their strengths, or take law='coulomb'.")

    def jacobian(self, problem: Problem, t: float) -> sp.csc_matrix:
        """(d slope / d effort) (d effort / d x)."""
        functions, args = self.functions, problem.arguments(t)
        if functions.coupled is None:
            assert functions.inputs_x is not None
            by_u = self.system.slope_u.sparse(*args)
            return sp.csc_matrix(by_u @ functions.inputs_x.sparse(*args))
        coupled, set_valued = functions.coupled, self.set_valued
        at = self._driven(problem, t, coupled)
        by_load = np.where(at.dead, 0.0, coupled.law_load(*args) * self.elements.load_sign
                           / at.divisor)
        rate_x = through_loops(coupled.rate_x, coupled.rate_z, self.system.residual_x, problem,
                               t).toarray()
        if set_valued is not None:
            others = set_valued.sensitivities.efforts_by_states(problem, t).toarray()
            rate_x += set_valued.elements.columns_of(_rates_by_inputs(coupled, problem, t)) @ others
        right = coupled.law_x.dense(*args) + by_load[:, None] * rate_x
        if set_valued is not None:
            right += set_valued.elements.columns_of(coupled.law_u.dense(*args)) @ others
        by_x = np.linalg.lstsq(self._matrix(problem, t, coupled, at), right, rcond=UNIT_PIVOT)[0]
        out = self.elements.columns_of(self.system.slope_u.dense(*args)) @ by_x
        if set_valued is not None:
            others += self._following(problem, t, set_valued) @ by_x
            push = sp.csc_matrix(set_valued.delassus.slope_by_efforts(
                problem, t, np.arange(set_valued.size)))
            out += push @ others
        return sp.csc_matrix(out)

    # -- rates and what follows ------------------------------------------------------------
    def _driven(self, problem: Problem, t: float, coupled: CoupledFunctions) -> _Driven:
        """What drives the elements, with all that follows them brought up to date."""
        problem.solve_algebraic(t)
        if self.set_valued is not None:
            self.set_valued.apply(problem, t)
        args = problem.arguments(t)
        fall = -_rates_by_inputs(coupled, problem, t)
        d = self.elements.columns_of(fall)
        own = np.diag(d).copy()
        if self.set_valued is not None:
            d = d + self.set_valued.elements.columns_of(fall) @ self._following(
                problem, t, self.set_valued)
        return _Driven(coupled.rate(*args), d, own, own <= NOTHING_AT_ALL * own.max(initial=0.0))

    def _following(self, problem: Problem, t: float, laws: SetValuedLaws) -> Array:
        """S: the change of the set-valued efforts per effort; what sticks holds against it."""
        out = np.zeros((laws.size, self.elements.size))
        stuck = np.flatnonzero(laws.modes == 0)
        if len(stuck):
            by_u = _rates_by_inputs(laws.functions, problem, t)
            push = self.elements.columns_of(by_u)
            d = -laws.elements.columns_of(by_u)
            out[stuck] = np.linalg.lstsq(d[np.ix_(stuck, stuck)], push[stuck], rcond=PIVOT_NONE)[0]
        return out

    # -- the search ------------------------------------------------------------------------
    def _put(self, problem: Problem, effort: Array, rate: Array, at: _Driven) -> None:
        """Efforts, and the loads that follow from the rates they leave."""
        load = np.where(at.dead, np.sign(rate) * ENDLESS, effort + rate / at.divisor)
        self.elements.put(problem.u, effort)
        problem.u[self.elements.load_at] = load * self.elements.load_sign

    def _newton(self, problem: Problem, t: float, coupled: CoupledFunctions) -> bool:
        """Use Newton's method from present efforts; steps are cut until they bring improvement."""
        before, cut = np.inf, 0
        step: Array = np.zeros(self.elements.size)
        for _ in range(NEWTON):
            effort = self.elements.efforts_of(problem.u)
            at = self._driven(problem, t, coupled)
            self._put(problem, effort, at.rate, at)
            wrong = effort - coupled.law(*problem.arguments(t))
            size = float(np.abs(wrong).max())
            if size <= LAST_STEP * max(np.abs(problem.u[self._columns]).max(), TINY):
                return True
            if np.isnan(size):  # nor in shorter steps: what they find may be one of rounding
                self.elements.put(problem.u, np.full_like(effort, np.nan))
                return False
            if size >= before and cut < CUTS:
                step, cut = step / 2, cut + 1
                self._put(problem, effort + step, at.rate - at.d @ step, at)
                continue
            before, cut = size, 0
            step = np.asarray(np.linalg.lstsq(self._matrix(problem, t, coupled, at), wrong,
                                              rcond=UNIT_PIVOT)[0], dtype=float)
            self._put(problem, effort - step, at.rate + at.d @ step, at)
        return False

    def _matrix(self, problem: Problem, t: float, coupled: CoupledFunctions, at: _Driven) -> Array:
        """d (effort - law) / d effort."""
        args, n = problem.arguments(t), self.elements.size
        by_load = np.where(at.dead, 0.0, coupled.law_load(*args) * self.elements.load_sign)
        others = np.eye(n) - at.d / at.divisor[:, None]
        by_u = coupled.law_u.dense(*args)
        direct = self.elements.columns_of(by_u)
        if self.set_valued is not None:  # a normal force, say
            direct = direct + self.set_valued.elements.columns_of(by_u) @ self._following(
                problem, t, self.set_valued)
        return np.eye(n) - by_load[:, None] * others - direct


def _rates_by_inputs(functions: CoupledFunctions | LawFunctions, problem: Problem, t: float
                     ) -> Array:
    """How rates follow all inputs, dense; torn unknowns follow along."""
    by_u, by_z = functions.rate_u.dense(*problem.arguments(t)), functions.rate_z
    if by_z is not None:
        by_u += by_z.dense(*problem.arguments(t)) @ torn_by(problem.system.residual_u, problem, t)
    return by_u
