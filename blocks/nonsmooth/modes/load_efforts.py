"""What effort does a law of the load give, where elements feel each other?

With efforts lambda as inputs and flows gamma as outputs, d gamma/dt = b - D lambda, and

    P_i = lambda_i + (d gamma_i/dt) / D_ii,      lambda_i = L_i(P_i, gamma_i, ...)

are solved together by Newton's method. Set-valued elements of the network follow along: with S the
change of their efforts per effort, D becomes D + D_s S.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ...exceptions import SimulationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    CLEAR,
    LAST_STEP,
    NOTHING_AT_ALL,
    SAME_AS_BEFORE,
    TINY,
    UNIT_PIVOT,
)
from ...system import AlgebraicFailure, Evaluator, Problem, System
from ..complementarity import solve
from .delassus import through_loops
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .load_functions import ENDLESS, CoupledFunctions, LoadFunctions

__all__ = ["LoadEfforts"]

ROUNDS, HALVINGS = 10, 60
SAMPLES = 257  # loads, up to four times the strength of a law
HARDLY = 1e-9  # m/s or rad/s
NEWTON = 2  # rounds of Newton's method, after which efforts are sought within their bounds


class _Driven(NamedTuple):
    """Rates at a point, D with what follows, its own diagonal, and who moves nothing: there 1."""

    rate: Array
    d: Array
    own: Array
    dead: Flags
    follow: Array  # S


class LoadEfforts:
    """Efforts and loads at the present point.

    ``set_valued`` are the exact laws of the same network, which may have no elements.
    """

    def __init__(self, system: System, functions: LoadFunctions, set_valued: SetValuedLaws) -> None:
        self.system, self.functions, self.set_valued = system, functions, set_valued
        self.elements, self.beside = functions.elements, set_valued.elements

    def refuse_several(self, problem: Problem, t: float) -> None:
        """Stop by name where several motions may obey the laws, or none.

        With D of bodies on which all exact friction sticks, one motion obeys laws that rise by up
        to r times their loads if D - (1 - 1/r) D_ii is positive: always, if no r exceeds 1. Where
        D is singular, exact friction bears what it likes; only if it lets go to less, that matters.
        """
        if (coupled := self.functions.coupled) is None:
            return
        self.set_valued.modes = np.where(self.beside.contact, -1, 0)
        at, rises = self._driven(problem, t, coupled), self._rises(problem, t, coupled)
        falls, rise = rises.min(axis=0) < -CLEAR, np.maximum(rises.max(axis=0), 0.5)
        weak = np.where(falls, 1.0, 1 - 1 / rise)
        now = self.set_valued.evaluation.values(problem, t)
        lets_go = (now.forth < now.high) | (now.back > now.low)
        weak[(np.abs(at.follow[lets_go]) > CLEAR).any(axis=0)] += CLEAR
        d = at.d / np.sqrt(np.outer(at.own, at.own)) - np.diag(np.where(at.dead, -1.0, weak))
        least, share = np.linalg.eigh((d + d.T) / 2)
        lost = np.abs(share[:, least < -SAME_AS_BEFORE]) > CLEAR
        who = np.flatnonzero((weak > 0) & lost.any(axis=1))
        if not len(who):
            return
        why = "their force falls where the load on them grows" if falls[who].any() else (
            f"their force grows up to {rise[who].max():.3g} times as fast as the load on them"
        ) if weak[who].max() > 2 * CLEAR else "friction beside them lets go to less than it held"
        names = self._names(who)
        raise SimulationError(
            ", ".join(names[:3]), "several motions obey these laws of the load, or none: other "
            f"friction acts on their bodies, too, and {why}.",
            "Take law='quinn' or law='kikuuwe', and equal breakaway and Coulomb strengths for all "
            "friction there, or exact friction alone: law='coulomb'.",
            code="simulation.paradox", time=t, variables=tuple(names),
        )  # fmt: skip

    def _rises(self, problem: Problem, t: float, coupled: CoupledFunctions) -> Array:
        """By what shares of their loads laws rise, (loads, elements), where all hardly move."""
        with put_back(problem.u):
            self.elements.put(problem.u, np.full(self.elements.size, HARDLY))  # in place of efforts
            strength = np.abs(self._under(coupled.apart, problem, t, ENDLESS))
            loads = np.outer(np.linspace(-4, 4, SAMPLES), np.maximum(strength, TINY))
            laws = [self._under(coupled.apart, problem, t, load) for load in loads]
        return np.asarray(np.diff(laws, axis=0) / np.diff(loads, axis=0))

    def _under(self, law: Evaluator, problem: Problem, t: float, load: Array | float) -> Array:
        """What laws, or their slopes, come to under other loads."""
        problem.u[self.elements.load_at] = load * self.elements.load_sign
        return law(*problem.arguments(t))

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
            problem.u[self.elements.load_at] = self.elements.load_sign * np.where(
                at.dead, np.sign(at.rate) * ENDLESS, effort + at.rate / at.own)
            wrong = effort - coupled.law(*problem.arguments(t))
            missing = np.abs(wrong).max()
            largest = np.abs([*effort, *self.beside.efforts_of(problem.u)]).max()
            rough = SAME_AS_BEFORE if k + 1 < ROUNDS else CLEAR  # where several hold one motion
            if missing <= LAST_STEP * largest or k > NEWTON and missing <= rough * (
                    (np.abs(at.rate) + np.abs(at.d) @ np.abs(effort)) / at.own).max():
                return
            if np.isnan(missing):
                break
            step = self._within_bounds(problem, t, coupled, at, effort) - effort if (
                k >= NEWTON) else -np.linalg.lstsq(
                    self._matrix(problem, t, coupled, at), wrong, rcond=UNIT_PIVOT)[0]
            self.elements.put(problem.u, effort + step)
        raise AlgebraicFailure(
            t, self._names(np.arange(self.elements.size)[:3]), "no efforts agree with the laws "
            "of the load", advice="Take exact friction there: law='coulomb'.")

    def jacobian(self, problem: Problem, t: float) -> sp.csc_matrix:
        """(d slope / d effort) (d effort / d x)."""
        args = problem.arguments(t)
        if (coupled := self.functions.coupled) is None:
            assert self.functions.through is not None
            return self.functions.through.sparse(*args)
        at = self._driven(problem, t, coupled)
        by_load = np.where(at.dead, 0.0, coupled.law_load(*args) / at.own)[:, None]
        held = self.set_valued.sensitivities.efforts_by_states(problem, t).toarray()
        rate_x = through_loops(coupled.rate_x, coupled.rate_z, self.system.residual_x, problem,
                               t).toarray()
        rate_x += self.beside.columns_of(_rates_by_inputs(coupled, problem, t)) @ held
        law_x = coupled.law_x.dense(*args) + self.beside.columns_of(
            coupled.law_u.dense(*args)) @ held
        by_x = np.linalg.lstsq(self._matrix(problem, t, coupled, at), law_x + by_load * rate_x,
                               rcond=UNIT_PIVOT)[0]
        push = through_loops(self.system.slope_u, self.system.slope_z if self.system.nz else None,
                             self.system.residual_u, problem, t).toarray()
        held += at.follow @ by_x
        return sp.csc_matrix(self.elements.columns_of(push) @ by_x
                             + self.beside.columns_of(push) @ held)

    # -- rates and what follows ------------------------------------------------------------
    def _driven(self, problem: Problem, t: float, coupled: CoupledFunctions) -> _Driven:
        """What drives the elements, with all that follows them brought up to date."""
        problem.solve_algebraic(t)
        self.set_valued.apply(problem, t)
        fall, follow = -_rates_by_inputs(coupled, problem, t), self._following(problem, t)
        own = np.diag(d := self.elements.columns_of(fall))
        d, dead = d + self.beside.columns_of(fall) @ follow, own <= NOTHING_AT_ALL * own.max()
        rate = coupled.rate(*problem.arguments(t))
        return _Driven(rate, d, np.where(dead, 1.0, own), dead, follow)

    def _following(self, problem: Problem, t: float) -> Array:
        """S: the change of the set-valued efforts per effort; what sticks holds against it."""
        out, laws = np.zeros((self.beside.size, self.elements.size)), self.set_valued
        if (stuck := laws.modes == 0).any():
            push = self.elements.columns_of(_rates_by_inputs(laws.functions, problem, t))
            out[stuck] = laws.delassus.solve(sp.dense(laws.delassus.matrix(problem, t)), stuck,
                                             push[stuck])
        return out

    # -- the search ------------------------------------------------------------------------
    def _within_bounds(self, problem: Problem, t: float, coupled: CoupledFunctions, at: _Driven,
                       effort: Array) -> Array:
        """Efforts, with a line for each law, between its efforts under endless loads.

        The line is the tangent at the present load; where there the law does not rise, halfway up.
        """
        law, rises = (partial(self._under, of, problem, t) for of in (
            coupled.law, coupled.law_load))
        load, endless = self.elements.loads_of(problem.u), np.full(self.elements.size, ENDLESS)
        here = law(load)
        low, high = (np.where(at.dead, here, np.where(rises(end) > 0, np.sign(end) * np.inf,
                                                      law(end))) for end in (-endless, endless))
        size = max(np.abs(x[np.isfinite(x)]).max(initial=TINY) for x in (effort, low, high))
        halfway = (np.clip(low, -size, size) + np.clip(high, -size, size)) / 2
        left, right = -endless, endless
        for _ in range(HALVINGS):
            here, rise = law(load), rises(load)
            flat = (rise <= 0) & (low < high)
            if not flat.any():
                break
            above = here > halfway
            left, right = np.where(above, left, load), np.where(above, load, right)
            middle = (np.arcsinh(left / size) + np.arcsinh(right / size)) / 2
            load = np.where(flat, size * np.sinh(middle), load)
        bent = np.where(rise > 0, at.own / np.maximum(rise, TINY) - at.own, 0.0)
        drive = at.rate + at.d @ effort - at.own * (load - here) + bent * here
        drive[low == high] = 0.0
        return solve(at.d + np.diag(bent), drive, low, high, guess=effort).effort

    def _matrix(self, problem: Problem, t: float, coupled: CoupledFunctions, at: _Driven) -> Array:
        """d (effort - law) / d effort."""
        args, n = problem.arguments(t), self.elements.size
        by_load = np.where(at.dead, 0.0, coupled.law_load(*args))
        others = np.eye(n) - at.d / at.own[:, None]
        by_u = coupled.law_u.dense(*args)  # by a normal force, say
        direct = self.elements.columns_of(by_u) + self.beside.columns_of(by_u) @ at.follow
        return np.eye(n) - by_load[:, None] * others - direct


def _rates_by_inputs(functions: CoupledFunctions | LawFunctions, problem: Problem, t: float
                     ) -> Array:
    """How rates follow all inputs, dense; torn unknowns follow along."""
    return np.asarray(through_loops(functions.rate_u, functions.rate_z, problem.system.residual_u,
                                    problem, t).toarray())
