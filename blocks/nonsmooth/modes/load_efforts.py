"""What effort does a law of the load give, where elements feel each other?

With efforts lambda as inputs and flows gamma as outputs, d gamma/dt = b - D lambda, and

    P_i = lambda_i + (d gamma_i/dt) / D_ii,      lambda_i = L_i(P_i, gamma_i, ...)

are solved together by Newton's method. Set-valued elements of the network follow along: with S the
change of their efforts per effort, D becomes D + D_s S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exceptions import SimulationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import (
    CLEAR,
    LAST_STEP,
    NOTHING_AT_ALL,
    PIVOT_NONE,
    SAME_AS_BEFORE,
    TINY,
    UNIT_PIVOT,
)
from ...system import AlgebraicFailure, Problem, System
from ..complementarity import solve
from .delassus import through_loops, torn_by
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .load_functions import ENDLESS, CoupledFunctions, LoadFunctions

__all__ = ["LoadEfforts"]

ROUNDS, HALVINGS = 20, 60
SAMPLES = 257  # loads, up to four times the strength of a law
HARDLY = 1e-9  # m/s or rad/s
TOLD = 3  # elements
NEWTON = 8  # rounds of Newton's method, after which efforts are sought within their bounds


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

    def refuse_several(self, problem: Problem, t: float) -> None:
        """Stop by name where no motion obeys the laws at some time, or several may.

        With D of bodies on which all friction sticks that there is, one motion obeys laws that rise
        by up to r times their loads if D - (1 - 1/r) D_ii is positive: always, if no r exceeds 1.
        """
        if (coupled := self.functions.coupled) is None:
            return
        at, rises = self._driven(problem, t, coupled, every=True), self._rises(problem, t, coupled)
        scale = np.sqrt(at.divisor)
        d = np.where(at.dead, np.eye(len(scale)), at.d / scale / scale[:, None])
        weak = 1 - 1 / np.maximum(rises.max(axis=0), 1)
        value, vector = np.linalg.eigh((d + d.T) / 2 - np.diag(weak))
        several = (weak > 0) & (np.abs(vector[:, 0]) > CLEAR) & (value[0] < -SAME_AS_BEFORE)
        none = (rises.min(axis=0) < -CLEAR) & (np.abs(d - np.eye(len(d))).max(axis=1) > CLEAR)
        for who, what, advice in (
            (several, "several motions obey its law, as its force grows up to "
             f"{rises.max():.3g} times as fast as the load on it",
             "Take law='quinn' or law='kikuuwe', which do not creep, or exact friction: "
             "law='coulomb'."),
            (none, "no motion obeys its law at times, as its force falls where the load grows",
             "Give it a breakaway strength that is no larger than the Coulomb one, or exact "
             "friction: law='coulomb'."),
        ):  # fmt: skip
            if who.any():
                names = self._names(np.flatnonzero(who))
                raise SimulationError(
                    ", ".join(names[:TOLD]), f"{what}, and bodies that it acts on rub on others, "
                    "too.", advice, code="simulation.paradox", time=t, variables=tuple(names))

    def _rises(self, problem: Problem, t: float, coupled: CoupledFunctions) -> Array:
        """By what shares of their loads laws rise, (loads, elements), at rest and hardly moving."""
        before, elements, found = problem.u.copy(), self.elements, []
        for flow in (0.0, HARDLY):
            elements.put(problem.u, np.full(elements.size, flow))  # flows in place of efforts
            problem.u[elements.load_at] = ENDLESS * elements.load_sign
            strength = np.abs(coupled.apart(*problem.arguments(t)))
            loads = np.outer(np.linspace(-4, 4, SAMPLES), np.maximum(strength, TINY))
            laws = []
            for load in loads:
                problem.u[elements.load_at] = load * elements.load_sign
                laws.append(coupled.apart(*problem.arguments(t)))
            found.append(np.diff(laws, axis=0) / np.diff(loads, axis=0))
        problem.u[:] = before
        return np.concatenate(found)

    def _names(self, some: Indices) -> list[str]:
        """Paths of elements."""
        families = self.system.network.families
        return [families[f].path(i) for f, i in (self.elements.owners[k] for k in some)]

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's efforts and loads to those of the present state."""
        if (coupled := self.functions.coupled) is None:
            assert self.functions.inputs is not None
            problem.u[:] = self.functions.inputs(*problem.arguments(t))
            return
        problem.u[~np.isfinite(problem.u)] = 0.0  # of a trial point without finite values
        for k in range(ROUNDS):
            effort = self.elements.efforts_of(problem.u)
            at = self._driven(problem, t, coupled)
            self._put(problem, effort, at.rate, at)
            wrong = effort - coupled.law(*problem.arguments(t))
            enough = LAST_STEP if k <= NEWTON else SAME_AS_BEFORE  # where rates contradict by so much
            if np.abs(wrong).max() <= enough * max(np.abs(problem.u[self._columns]).max(), TINY):
                return
            if np.isnan(wrong).any():
                break
            if k < NEWTON:
                step = -np.linalg.lstsq(self._matrix(problem, t, coupled, at), wrong,
                                        rcond=UNIT_PIVOT)[0]
            else:
                step = self._within_bounds(problem, t, coupled, at, effort) - effort
            self._put(problem, effort + step, at.rate - at.d @ step, at)
        names = self._names(np.arange(min(self.elements.size, TOLD)))
        raise AlgebraicFailure(t, names, "no efforts agree with the laws of the load",
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
    def _driven(self, problem: Problem, t: float, coupled: CoupledFunctions,
                every: bool = False) -> _Driven:
        """What drives the elements, with all that follows them brought up to date.

        ``every``: D as if every set-valued friction stuck.
        """
        problem.solve_algebraic(t)
        if self.set_valued is not None:
            self.set_valued.apply(problem, t)
        args = problem.arguments(t)
        fall = -_rates_by_inputs(coupled, problem, t)
        d = self.elements.columns_of(fall)
        own = np.diag(d).copy()
        if self.set_valued is not None:
            d = d + self.set_valued.elements.columns_of(fall) @ self._following(
                problem, t, self.set_valued, every)
        return _Driven(coupled.rate(*args), d, own, own <= NOTHING_AT_ALL * own.max(initial=0.0))

    def _following(self, problem: Problem, t: float, laws: SetValuedLaws, every: bool = False
                   ) -> Array:
        """S: the change of the set-valued efforts per effort; what sticks holds against it."""
        out = np.zeros((laws.size, self.elements.size))
        stuck = np.flatnonzero(~laws.elements.contact if every else laws.modes == 0)
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

    def _within_bounds(self, problem: Problem, t: float, coupled: CoupledFunctions, at: _Driven,
                       effort: Array) -> Array:
        """Efforts, with a line for each law, between its efforts under endless loads.

        The line is the tangent at the present load; where there the law does not rise, halfway up.
        """
        def under(load: Array) -> tuple[Array, Array]:
            problem.u[self.elements.load_at] = load * self.elements.load_sign
            args = problem.arguments(t)
            return coupled.law(*args), coupled.law_load(*args) * self.elements.load_sign

        load, endless = self.elements.loads_of(problem.u), np.full(self.elements.size, ENDLESS)
        here, rise = under(load)
        low, high = (np.where(at.dead, here, np.where(more > 0, end, value)) for end, (
            value, more) in ((-np.inf, under(-endless)), (np.inf, under(endless))))
        size = max(np.abs(x[np.isfinite(x)]).max(initial=TINY) for x in (effort, low, high))
        left, right = np.full((2, len(load)), np.arcsinh([[-ENDLESS], [ENDLESS]]))
        halfway = (np.clip(low, -size, size) + np.clip(high, -size, size)) / 2
        for _ in range(HALVINGS):
            middle = (left + right) / 2
            above = under(size * np.sinh(middle))[0] > halfway
            left, right = np.where(above, left, middle), np.where(above, middle, right)
        load = np.where(rise > 0, load, size * np.sinh(middle))
        here, rise = under(load)
        bent = np.where(rise > 0, at.own / np.maximum(rise, TINY) - at.own, 0.0)
        drive = at.rate + at.d @ effort - at.own * (load - here) + bent * here
        drive[low == high] = 0.0
        return solve(at.d + np.diag(bent), drive, low, high, guess=effort).effort

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
