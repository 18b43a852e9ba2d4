"""Which modes follow? At the start, at the end of a mode, at an impact.

Flows at rest are told from flows that pass through zero, impacts go through the network, and
one problem for all elements in doubt says who sticks, slides, touches or lets go. Friction
that was overcome acts with its kinetic bounds while the others are decided; what would slide
with exactly no acceleration then, stays at rest. Loads exactly at a bound are decided by the
next instant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import diags_array, issparse

from ...exceptions import SimulationError
from ...system.problem import Problem
from ...system.system import System
from ..unsettled import SETTLED, unsettled

if TYPE_CHECKING:
    from .laws import Look
    from .load_dependence import LoadDependence

__all__ = ["Change", "Decisions"]

RESTS = 1e-9  # of the fastest impact: a slower rebound is none
ROUNDS = 25  # for efforts that depend on each other nonlinearly
FRUITLESS = 20  # decisions without any change that are still no reason to worry
TURNED = 1e-6  # of the fastest flow: one that is no rounding
AGAIN = 1e-9  # of the time: decisions in so quick a succession are about rounding
ROUNDED = 1e-12  # of the largest effort: one that is none
IDLE = 1e3  # times the rounding of an effort: a contact that carries nothing
NEAR = 1e-6  # of its range: an effort that is close to a bound
LOOKS_AHEAD = 1e-7  # of the time scale of an element, for loads exactly at the bound


@dataclass(frozen=True)
class Change:
    """An element changed its mode."""

    element: int
    before: int
    after: int
    impact: bool = False


class Decisions:
    """The part of :class:`blocks.nonsmooth.modes.laws.SetValuedLaws` that decides."""

    size: int
    system: System
    modes: np.ndarray
    contact: np.ndarray
    column: np.ndarray
    sign: np.ndarray
    nonlinear: bool
    load: LoadDependence | None
    _fruitless: int
    name: Any
    restless: str
    _slack: Any
    _decided: float = -np.inf  # when
    _speed: float
    _restitution: Any
    _cache: dict[Any, Any]
    _dead: Any
    _is_simple: bool
    together: Any
    _reach: Any
    _solve_stuck: Any
    constant: bool
    look: Any
    efforts_of: Any
    delassus: Any
    margins: Any
    _plain_margins: Any
    apply: Any
    share: Any
    _push: Any
    _parts: Any
    _pins: Any
    _present: Any
    _noise: Any
    _undetermined: Any
    _joint_margins: Any

    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event.

        Parameters
        ----------
        touched : elements whose margin has just become negative
        """
        before, struck = self.modes.copy(), np.zeros(self.size, dtype=bool)
        guessed = self._decide_by_guess(problem, t, touched)
        joint = not guessed and not self._decide_alone(problem, t, touched)
        if joint:
            struck = self._decide_jointly(problem, t, touched)
        pins = self._pins(problem, t)
        creeps = pins[(problem.x[pins] != 0) & (np.abs(problem.x[pins]) <= 1e-12 * self._speed)]
        problem.x[creeps] = 0.0
        if len(creeps) or not guessed:  # a guess leaves its efforts behind
            self.apply(problem, t)
        if joint and self.load is not None:
            self.load.refuse_several(problem, t)
        if self.restless:
            raise unsettled([self.restless], t, "efforts")
        self._allow_rounding(problem, t)
        changed = np.flatnonzero((self.modes != before) | struck)
        self._fruitless = 0 if len(changed) or not len(touched) else self._fruitless + 1
        if self._fruitless > FRUITLESS:  # so that whoever counts events can see it
            changed = touched
        return [Change(int(i), int(before[i]), int(self.modes[i]), bool(struck[i]))
                for i in changed]

    def _decide_alone(self, problem: Problem, t: float, touched: np.ndarray) -> bool:
        """Decide on the one element touched, where no other feels it or is in doubt.

        Its box problem has one unknown; what :meth:`_decide_jointly` would do about it, in
        plain numbers. False, with all modes as they were, where there is more to think about.
        """
        if len(touched) != 1 or not self._is_simple or self.load is not None or self.nonlinear:
            return False
        e, d = int(touched[0]), self.delassus(problem, t)
        own = float(self._alone_with(d)[e])
        if self.contact[e] or not own > 0:
            return False
        now, before = self.look(problem, t), int(self.modes[e])
        low, high = float(now.low[e]), float(now.high[e])
        self._speed = max(self._speed, float(np.abs(now.flow).max()))
        if not low < high or self._others_in_doubt(
                problem, now, e, lambda: self.margins(problem, t)):
            return False
        flow = float(now.flow[e])
        if before and flow:
            problem.x += self._push(problem, t, np.array([e]))[:, 0] * (flow / own)
            now = self.look(problem, t)
        drive = float(now.rate[e]) + own * float(problem.u[self.column[e]] * self.sign[e])
        rests = low + NEAR * (high - low) < drive / own < high - NEAR * (high - low)
        state = 0
        if before == 0 or not rests:
            from ..complementarity import one_element

            noise = float(self._noise(problem, t)[e])
            back = float(now.back[e]) if np.isfinite(low) else low
            forth = float(now.forth[e]) if np.isfinite(high) else high
            kinetic = min(back, forth), forth
            # once it moves, less holds it
            for bounds in [(low, high), kinetic] if before else [kinetic]:
                found = one_element(own, drive, *bounds, noise)
                if found is None or found.state == 0:
                    return False
                state = found.state
        self.modes[e] = state
        return True

    def _decide_by_guess(self, problem: Problem, t: float, touched: np.ndarray) -> bool:
        """Decide on the one element touched, where what nearly always follows does follow."""
        from .quick_decisions import follows
        from .solved_modes import SolvedModes

        if len(touched) != 1 or not isinstance(self.together, SolvedModes) \
                or not self.together.affine:
            return False
        now, e = self._present(problem, t), int(touched[0])
        self._speed = max(self._speed, float(np.abs(now.flow).max()))
        return not self._others_in_doubt(  # efforts that could be solved for are not open
            problem, now, e, lambda: self._plain_margins(now, self.efforts_of(problem.u))
        ) and follows(self, problem, t, e)

    def _alone_with(self, d: Any) -> np.ndarray:
        """D of the elements that act on their own flow and on no other, 0 for the others."""
        if "alone" not in self._cache:
            linked = abs(d - diags_array(d.diagonal()))
            others = np.ravel(linked.sum(axis=0)) + np.ravel(linked.sum(axis=1))
            self._cache["alone"] = np.where(self._dead(d) | (others > 0), 0.0, d.diagonal())
        return self._cache["alone"]

    def _others_in_doubt(self, problem: Problem, now: Look, e: int,
                         margins: Callable[[], np.ndarray]) -> bool:
        """Whether any other element may be near the end of its mode, or ``e`` is far beyond."""
        slow = TURNED * self._speed
        if self.modes[e] * now.flow[e] < -slow:
            return True
        if self.size == 1:
            return False
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        reserve = np.where(self.contact, now.gap - 1e-9 * far, self.modes * now.flow - slow)
        if np.count_nonzero(self.modes) < self.size:
            reserve = np.where(self.modes == 0, margins(), reserve)
        reserve[e] = 0.0
        return bool(reserve.min() < 0.0)

    def _decide_jointly(self, problem: Problem, t: float, touched: np.ndarray) -> np.ndarray:
        """Choose the modes of all elements in doubt; returns which ones an impact struck."""
        before, margin = self.modes.copy(), self.margins(problem, t)
        crossed = self._crossed(problem, t, touched, margin)
        if self.load is not None:
            self.load.refuse_jam(problem, t, crossed)
        struck = self._impacts(problem, t, crossed & self.contact & (before != 0))
        now = self.look(problem, t)
        pace = max(self._speed, float(np.abs(now.flow).max(initial=0.0)))
        leaving = crossed & (before == 0)
        if leaving.any():
            open_ = self._undetermined(problem, t, before == 0)[1]
            if len(open_) and leaving[open_].any():
                leaving[open_] &= self._joint_margins(problem, t, open_, now)[1][open_]
        free = ~self.contact
        turned = free & (before * now.flow < -TURNED * pace)  # has changed sign while idle
        arrived = free & (before != 0) & ~turned & (crossed | (
            (np.abs(now.flow) <= 1e-12 * pace) & (before * now.rate <= 0)) | (
            struck.any() & (np.abs(now.flow) <= RESTS * pace)))
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        touching = self.contact & (np.abs(now.flow) <= RESTS * pace) & (now.gap <= 1e-12 * far)
        still = (before == 0) | arrived | (struck & self.contact) | touching
        self.modes[turned] = np.sign(now.flow[turned]).astype(int)
        if struck.any():  # velocities have jumped: what was at rest may slide now
            jumped = np.abs(now.flow) > RESTS * pace
            slides = jumped & free
            self.modes[slides] = np.sign(now.flow[slides]).astype(int)
            self.modes[self.contact & jumped] = -1
            still &= ~jumped
            leaving &= still
        self.modes[still] = 0
        if struck.any():
            active = np.ones(self.size, dtype=bool)
        else:
            parts = self._parts(problem, t)
            doubt = crossed | arrived | turned | ((before == 0) & (margin < 0))
            concerned = np.zeros(parts.max(initial=0) + 1, dtype=bool)
            concerned[parts[doubt]] = True
            active = concerned[parts]
        self._stop(problem, t, active & still, still & (before != 0))
        self._choose(problem, t, active & still, leaving)
        self._look_ahead(problem, t, active & still & ~leaving)
        loaded = False if self.load is None else self.load.dependent & active
        powerless = (crossed | loaded) & free & (self.modes == 0)
        # friction without strength holds nothing, not even by rounding
        self.modes[powerless & self._present(problem, t).idle] = 1
        return struck

    def _crossed(self, problem: Problem, t: float, touched: np.ndarray, margin: np.ndarray
                 ) -> np.ndarray:
        """Of the elements announced, those that are at the end of their mode at this instant."""
        crossed = np.zeros(self.size, dtype=bool)
        if not len(touched):
            return crossed
        now = self._present(problem, t)
        width = now.high - now.low
        width = np.where(np.isfinite(width), width, np.abs(self.efforts_of(problem.u)))
        pace = self._speed
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        size = np.where(self.modes == 0, width, np.where(self.contact, far, pace))
        crossed[touched] = margin[touched] <= 1e-11 * size[touched]
        if not crossed.any():
            crossed[touched[np.argmin(margin[touched] / np.maximum(size[touched], 1e-300))]] = True
        return crossed

    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from flows, gaps and loads."""
        now = self.look(problem, t)
        self._speed, self._slack, self._decided = float(np.abs(now.flow).max()), 0.0, -np.inf
        # of velocities that come out of equations, rounding is measured against nominal ones too
        noise = 1e-13 * self._reach(
            problem, t, np.maximum(np.abs(problem.x), 1e-3 * problem.scale_x))
        rest = np.abs(now.flow) <= noise
        closed = now.gap <= 1e-12 * max(1.0, float(np.abs(problem.x).max(initial=0.0)))
        self.modes = np.where(self.contact, np.where(closed, 0, -1),
                              np.where(rest, 0, np.sign(now.flow))).astype(int)
        self._impacts(problem, t, self.contact & closed & (now.flow > 0))
        now = self.look(problem, t)
        rest = np.abs(now.flow) <= noise
        still = np.where(self.contact, closed & rest, rest)
        self.modes = np.where(still, 0, np.where(self.contact, -1, np.sign(now.flow))).astype(int)
        self._choose(problem, t, still, np.zeros(self.size, dtype=bool))
        self._look_ahead(problem, t, still)
        self.apply(problem, t)
        if self.load is not None:
            self.load.refuse_jam(problem, t, np.ones(self.size, dtype=bool))
            self.load.refuse_several(problem, t)
            effort = np.abs(self.efforts_of(problem.u)).max(initial=0.0)
            idle = self._present(problem, t).idle & ~self.contact & (self.modes == 0)
            if idle.any():  # friction without strength lets go of a load, not of rounding
                self._slack = np.where(idle, ROUNDED * effort, 0.0)

    def _allow_rounding(self, problem: Problem, t: float) -> None:
        """Closed contacts that carry nothing open when they would pull, not again by rounding."""
        again, self._decided = t - self._decided <= AGAIN * max(abs(t), 1e-6), t
        self._slack = 0.0
        if self.constant or not again:
            return
        closed = self.contact & (self.modes == 0)
        if closed.any():
            own = np.asarray(self.delassus(problem, t).diagonal())
            noise = self._noise(problem, t)
            slack = np.divide(noise, own, out=np.zeros(self.size), where=closed & (own > 0))
            slack[np.abs(self.efforts_of(problem.u)) > IDLE * slack] = 0.0
            self._slack = slack if slack.any() else 0.0

    def _impacts(self, problem: Problem, t: float, closing: np.ndarray) -> np.ndarray:
        """Newton impacts of contacts that close, through the network; who took part."""
        struck = np.zeros(self.size, dtype=bool)
        if not closing.any():
            return struck
        from ..complementarity import sequential_impact

        now = self.look(problem, t)
        near = 1e-9 * max(1e-9, float(np.abs(problem.x).max(initial=0.0)))
        group = self.contact & (closing | (self.modes == 0) | (now.gap <= near))
        e = self._restitution(*problem.arguments(t))
        if self.load is not None:
            index, impact = self.load.strike(problem, t, group, now, e)
        else:
            index = np.flatnonzero(group)
            d = self.delassus(problem, t)[index][:, index]
            d = d.toarray() if issparse(d) else d
            impact = sequential_impact(d, now.flow[index], e[index])
        if not impact.converged:
            raise unsettled((self.name(int(i)) for i in index), t, "impulses")
        self._speed = max(self._speed, float(np.abs(now.flow).max()))
        slow = RESTS * self._speed
        problem.x += self._push(problem, t, index) @ impact.impulse
        if problem.algebraic:
            problem.solve_algebraic(t)
        after = self.look(problem, t).flow
        rest = np.zeros(self.size, dtype=bool)
        rest[index] = np.abs(after[index]) <= slow
        self._stop(problem, t, rest, rest)
        struck[index[(impact.impulse > 0) & self.contact[index]]] = True
        return struck

    def _stop(self, problem: Problem, t: float, resting: np.ndarray, stopping: np.ndarray) -> None:
        """Bring the flows of elements at rest to zero exactly, if any come to rest."""
        if not stopping.any():
            return
        flow = self.look(problem, t).flow[resting]
        effort = self._solve_stuck(self.delassus(problem, t), resting, flow)
        problem.x += self._push(problem, t, np.flatnonzero(resting)) @ effort
        if problem.algebraic:
            problem.solve_algebraic(t)

    def _choose(self, problem: Problem, t: float, still: np.ndarray, leaving: np.ndarray) -> None:
        """Solve the box problem at rest; elements that start to move do so with kinetic bounds.

        Friction is larger at rest than in motion, so the search is repeated with the
        kinetic bounds of all that have moved, until no other one moves.
        """
        index = np.flatnonzero(still)
        if not len(index):
            return
        self._refuse_no_bounds(problem, t)
        moved = leaving[index]
        for _ in range(len(index) + 1):
            solution, bounds = self._box(problem, t, index, moved)
            moving = (solution.state != 0) & ~solution.grazing
            if not np.any(moving & ~moved):
                break
            moved = moved | moving
        state = np.where(moving, solution.state, 0)
        loose = leaving[index] & ~moving
        if not loose.any():
            self.modes[index] = state
            return
        # Friction that is no smaller in motion: it goes with the effort it has reached.
        (low, high), now = bounds, self._present(problem, t)
        slack = 1e-9 * np.where(np.isfinite(high - low), high - low, 0.0)
        up = loose & (solution.effort >= high - slack)
        down = loose & (solution.effort <= low + slack) & ~(up & (
            high - solution.effort <= solution.effort - low))
        largest = np.abs(solution.effort).max()
        unsaid = loose & (high - low <= 1e-7 * largest) & (now.forth >= now.back)[index]
        if unsaid.any():  # no width to tell the sense from: the next instant does
            self.modes[index] = state
            state[unsaid] = self._sense_ahead(problem, t, index, moved | loose)[unsaid]
            up, down = up & ~unsaid, down & ~unsaid
        no_less = 1 - 1e-9
        state[up & ~down & (now.forth >= now.high * no_less)[index]] = 1
        state[down & (now.back <= now.low * no_less)[index]] = -1
        self.modes[index] = state

    def _refuse_no_bounds(self, problem: Problem, t: float) -> None:
        """A law whose bounds are no numbers, such as a strength that overflows."""
        now = self.look(problem, t)
        bounds = np.stack([now.low, now.high, now.back, now.forth])
        wrong = np.flatnonzero(np.isnan(bounds).any(axis=0))
        if len(wrong):
            path = self.name(int(wrong[0]))
            raise SimulationError(
                path, f"the bounds of its law have no value at t = {t:.9g} s.",
                "Look for a strength that grows without bound, a division by zero, or a root or "
                "logarithm of a negative number in them.", time=t, variables=(path,),
                code="simulation.value",
            )  # fmt: skip

    def _box(self, problem: Problem, t: float, index: np.ndarray, moved: np.ndarray
             ) -> tuple[Any, tuple[np.ndarray, np.ndarray]]:
        """Efforts of the elements at rest; those that moved have their kinetic bounds."""
        from ..complementarity import solve_box

        if self.load is not None:
            return self.load.solve(problem, t, index, moved, self._noise(problem, t))
        d = self.delassus(problem, t)[index][:, index]
        noise = self._noise(problem, t)[index]
        previous = np.inf
        for _ in range(ROUNDS if self.nonlinear else 1):
            now = self.look(problem, t)
            effort = self.efforts_of(problem.u)
            others = self.modes != 0
            change = np.where(others, now.sliding(self.modes) - effort, 0.0)
            b = now.rate - self.delassus(problem, t) @ change if change.any() else now.rate
            b = b[index] + d @ effort[index]
            low, high = now.low[index], now.high[index]
            low = np.where(moved & np.isfinite(low), now.back[index], low)
            high = np.where(moved & np.isfinite(high), now.forth[index], high)
            low = np.minimum(low, high)
            solution = solve_box(d, b, low, high, rate_floor=noise)
            effort = effort + change
            effort[index] = solution.effort
            step = np.abs(effort - self.efforts_of(problem.u)).max()
            problem.u[self.column] = effort * self.sign
            if problem.algebraic:
                problem.solve_algebraic(t)
            largest = np.abs(effort).max()
            if step <= 1e-12 * largest or step > 2 * previous:
                break
            previous = step
        if not solution.converged:
            raise unsettled((self.name(int(index[i])) for i in solution.suspects), t, "efforts")
        if self.nonlinear and step > SETTLED * largest:
            raise unsettled((self.name(int(i)) for i in index), t, "efforts")
        return solution, (low, high)

    def _look_ahead(self, problem: Problem, t: float, still: np.ndarray) -> None:
        """Loads exactly at the bound: does the next instant break them loose?"""
        still = still & (self.modes == 0)
        if not still.any():
            return
        self.apply(problem, t)
        margin, sign = self._reserve(problem, t)
        at_bound = still & (margin <= 1e-9) & (sign != 0)
        if not at_bound.any():
            return
        x, u, z = problem.x.copy(), problem.u.copy(), problem.z.copy()
        h = self._step_ahead(problem, t)
        later, _ = self._reserve(problem, t + h)
        problem.x[:], problem.u[:], problem.z[:] = x, u, z
        leaves = at_bound & (later < margin)
        self.modes[leaves] = sign[leaves]

    def _step_ahead(self, problem: Problem, t: float) -> float:
        """Move on by an instant, with the present modes; returns how long it is."""
        slope = self.system.slope(*problem.arguments(t))
        scale = np.abs(slope).max(initial=0.0)
        far = np.abs(problem.x).max(initial=0.0)
        h = min(max(LOOKS_AHEAD * (far / scale if scale > 0 else 1.0), 1e-12), 1e-6)
        problem.x += h * slope
        problem.update(t + h)
        return h

    def _sense_ahead(self, problem: Problem, t: float, index: np.ndarray, moved: np.ndarray
                     ) -> np.ndarray:
        """Senses in which elements at rest would start to move an instant later."""
        kept = problem.x.copy(), problem.u.copy(), problem.z.copy()
        self.apply(problem, t)
        h = self._step_ahead(problem, t)
        state = self._box(problem, t + h, index, moved)[0].state
        problem.x[:], problem.u[:], problem.z[:] = kept
        return state

    def _reserve(self, problem: Problem, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Share of the bounds that stuck elements have left, and the direction they would go."""
        now = self._present(problem, t)
        effort = self.efforts_of(problem.u)
        width = now.high - now.low
        width = np.where(np.isfinite(width), width, np.maximum(np.abs(effort), 1e-300))
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = (now.high - effort) / width, (effort - now.low) / width
        margin, sign = np.minimum(up, down), np.where(up <= down, 1, -1)
        margin[now.idle] = np.inf
        stuck = self.modes == 0
        dead, open_ = self._undetermined(problem, t, stuck)
        margin[dead] = np.inf
        if len(open_):
            joint, first = self._joint_margins(problem, t, open_, now)
            margin[open_] = joint[open_]
            sign[open_[~first[open_]]] = 0
            if (margin[open_] <= 1e-9).any():
                self.share(problem, t)
                effort = self.efforts_of(problem.u)
                up = now.high - effort <= effort - now.low
                sign[open_] = np.where(sign == 0, 0, np.where(up, 1, -1))[open_]
        return margin, sign
