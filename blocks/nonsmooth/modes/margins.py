"""How far are set-valued elements from the end of their modes?

Sliding elements watch their flow, stuck ones the room to their bounds, open contacts their gap;
friction that loads itself, how far it is from jamming. In Python at one time or at several, and as
expressions for machine code. Modes are decided in :mod:`blocks.nonsmooth.modes.decisions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...system.problem import Problem
from ...system.system import System
from .delassus import solver as _solver
from .gaps import allowed_gap
from .held_modes import HeldModes
from .load_dependence import LoadDependence
from .solved_modes import SolvedModes

__all__ = ["Look", "Margins"]

PARTING = 1e-9  # m or rad that a contact which parts may overlap by: rounding, after a rebound


@dataclass(frozen=True)
class Look:
    """Flows, static bounds, kinetic efforts, rates and gaps of all elements."""

    flow: np.ndarray
    low: np.ndarray
    high: np.ndarray
    back: np.ndarray
    forth: np.ndarray
    rate: np.ndarray
    gap: np.ndarray

    @property
    def idle(self) -> np.ndarray:
        """Elements without a choice: the same effort at rest and in both directions."""
        return (self.low == self.high) & (self.back == self.forth)

    def sliding(self, modes: np.ndarray) -> np.ndarray:
        """Efforts while sliding (0 where stuck)."""
        return np.where(modes > 0, self.forth, np.where(modes < 0, self.back, 0.0))


class Margins:
    """The part of :class:`blocks.nonsmooth.modes.laws.SetValuedLaws` that watches modes."""

    size: int
    system: System
    modes: np.ndarray
    contact: np.ndarray
    column: np.ndarray
    sign: np.ndarray
    load: LoadDependence | None
    #: All in one or two evaluations, where the network is simple enough.
    together: HeldModes | SolvedModes | None = None
    _speed: float
    _slack: Any = 0.0  # efforts that closed contacts may pull with, by rounding
    _seen: Any
    look: Any
    efforts_of: Any
    delassus: Any
    _joint_margins: Any
    _noise: Any
    _pins: Any
    _undetermined: Any

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds: sliding backwards, over a bound, gap closed."""
        now = self._present(problem, t)
        self._speed = max(self._speed, float(np.abs(now.flow).max(initial=0.0)))
        margin = self._plain_margins(now, self.efforts_of(problem.u))
        stuck = self.modes == 0
        if isinstance(self.together, SolvedModes) and self.together.holds(now.flow):
            reserve = self.together.reserve(self.modes)
            if reserve > 0:
                return self._with_reserve(margin, reserve)
        if stuck.any():
            dead, open_ = self._undetermined(problem, t, stuck)
            if len(dead):
                noise = self._noise(problem, t)[dead]
                rate = self.look(problem, t).rate[dead]
                margin[dead] = np.where(np.abs(rate) <= noise, np.inf, -1.0)
            if len(open_):
                margin[open_] = self._joint_margins(problem, t, open_, now)[0][open_]
        if self.load is not None:
            margin = np.minimum(margin, self.load.hold(problem, t))
        return margin

    def _plain_margins(self, now: Look, effort: np.ndarray) -> np.ndarray:
        """Margins of elements whose effort is determined, at one time or at several."""
        shape = (self.size, *[1] * (effort.ndim - 1))
        modes, contact = self.modes.reshape(shape), self.contact.reshape(shape)
        stuck = modes == 0
        slack = self._slack if np.ndim(self._slack) == 0 else self._slack.reshape(shape)
        room = np.minimum(now.high - effort, effort - now.low) + slack
        parting = (now.gap <= 0) & (now.gap > -PARTING) & (now.flow <= 0)
        open_gap = np.where(parting, np.maximum(-now.gap, np.finfo(float).tiny), now.gap)
        moving = np.where(contact, open_gap, modes * now.flow)
        margin = np.where(stuck, room, moving)
        margin[now.idle & ~contact & ~stuck] = np.inf  # stuck with no effort lets go
        return margin

    def _with_reserve(self, margin: np.ndarray, reserve: Any) -> np.ndarray:
        """Margins of elements that a jam would concern, no larger than the reserve."""
        if self.load is None:
            return margin
        loaded = (self.modes == 0) | self.load.dependent
        loaded = loaded.reshape(self.size, *[1] * (margin.ndim - 1))
        return np.where(loaded, np.minimum(margin, reserve), margin)

    def margin_expressions(self) -> Any:
        """Margins of elements whose effort is determined, as functions of modes and states.

        The same as :meth:`_plain_margins`, but for what is allowed to rounding.
        """
        assert self.together is not None
        e, modes = self.together.expressions, self.together.symbols[-2]
        effort = e["effort"]
        contact = ca.DM(self.contact.astype(float))
        stuck = modes == 0
        touching = ca.logic_and(e["gap"] <= 0, e["gap"] > -PARTING)
        parting = ca.logic_and(touching, e["flow"] <= 0)
        open_gap = ca.if_else(parting, ca.fmax(-e["gap"], np.finfo(float).tiny), e["gap"])
        moving = ca.if_else(contact, open_gap, modes * e["flow"])
        idle = ca.logic_and(e["low"] == e["high"], e["back"] == e["forth"])
        moving = ca.if_else(ca.logic_and(idle, ca.logic_not(contact)), np.inf, moving)
        room = ca.fmin(e["high"] - effort, effort - e["low"])
        return ca.if_else(stuck, room, moving)

    def notice(self, margins: np.ndarray) -> None:
        """Take note of the largest margins of an episode: the speeds of what slid in it."""
        speeds = margins[(self.modes != 0) & ~self.contact & np.isfinite(margins)]
        self._speed = max(self._speed, float(speeds.max(initial=0.0)))

    def runs_compiled(self, problem: Problem, t: float) -> bool:
        """Whether slopes and margins of the present modes are those of `together`."""
        if self.together is None or problem.delays is not None:
            return False
        if isinstance(self.together, SolvedModes):
            if self.together.looks(problem, t, self.modes) is None and not self.together(
                    problem, t, self.modes):
                return False
            if self.load is not None or self.together.reserve(self.modes) > 0:
                return self.together.reserve(self.modes) > 0
        stuck = self.modes == 0
        return not (stuck.any() and any(map(len, self._undetermined(problem, t, stuck))))

    def held_constants(self, problem: Problem, t: float) -> np.ndarray:
        """What is constant in machine code: modes, K, and 0 for states that stuck elements hold.

        Where the efforts are solved for: modes, the present efforts, those states,
        determinants, the gap that closed contacts may have, and what they may pull with.
        """
        assert self.together is not None
        free = np.ones(self.system.nx)
        free[self._pins(problem, t)] = 0.0
        if isinstance(self.together, SolvedModes):
            gap = allowed_gap(problem, self.together.positions)
            return np.concatenate([self.modes, self.efforts_of(problem.u), free,
                                   *self.together.determinants(self.modes), [gap],
                                   np.broadcast_to(self._slack, self.size)])
        d = self.delassus(problem, t)
        return np.concatenate([self.together.constants(self.modes, _solver, d), free])

    def several_margins(self, problem: Problem, t: np.ndarray, y: np.ndarray
                        ) -> tuple[np.ndarray, np.ndarray] | None:
        """Crossing functions and margins at several times, or None where they need more care."""
        if self.together is None or problem.delays is not None or problem.algebraic:
            return None
        if isinstance(self.together, SolvedModes):
            at = self.together.at(problem, t, y * problem.scale_x[:, None], self.modes)
            if at is None:
                return None
            effort, looks, crossings, reserves = at
            now = Look(*looks)
            self._speed = max(self._speed, float(np.abs(now.flow).max(initial=0.0)))
            return crossings, self._with_reserve(self._plain_margins(now, effort), reserves)
        d, stuck = self.delassus(problem, float(t[0])), self.modes == 0
        if stuck.any() and any(len(i) for i in self._undetermined(problem, float(t[0]), stuck)):
            return None
        u, looks, crossings = self.together.at(
            problem, t, y * problem.scale_x[:, None], self.modes, _solver, d)
        now = Look(*looks)
        self._speed = max(self._speed, float(np.abs(now.flow).max(initial=0.0)))
        return crossings, self._plain_margins(now, u[self.column] * self.sign[:, None])

    def _present(self, problem: Problem, t: float) -> Look:
        """Flows, bounds and gaps at the present point, of the last look where it was there."""
        if self.together is not None:
            looks = self.together.looks(problem, t, self.modes)
            return self.look(problem, t) if looks is None else Look(*looks)
        if self._seen is not None:
            now, at, p, x, m, d = self._seen
            if at == t and p is problem.p and np.array_equal(x, problem.x) \
                    and np.array_equal(m, problem.m) and np.array_equal(d, problem.d):
                return now
        return self.look(problem, t)
