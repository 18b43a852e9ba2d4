"""Which elements slide, where nodes without mass let velocities jump?

Over an instant h all flows and efforts are affine in the inputs: what has mass resists a jump of
its velocity by m/h, a spring by h k, a damper as always. With M the matrix of what the elements
give by what they take, and R that of its rates, it is M + h R; in a network that makes no power of
its own it is that of one convex problem on velocity level
(:func:`blocks.nonsmooth.complementarity.solve_velocity`), whose flows say who sticks and who
slides. Friction is larger at rest than in motion, so the search is repeated with the kinetic
bounds of all that move, until no other one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import (
    FLOW_NONE,
    RECIPROCAL,
    TINY,
    TRIAL_INSTANTS,
    TRIAL_LOOKS_AHEAD,
    TRIAL_RESISTANCES,
    UNCHANGED_FLOW,
    YIELDING,
)
from ..complementarity import solve_velocity
from .massless_efforts import MasslessEfforts

if TYPE_CHECKING:
    from ...system import Problem
    from ..complementarity import Hybrid

__all__ = ["NodeVelocities"]

PARASITIC = 1e-6  # in SI units, such as ohm and siemens
ENDLESS = 1e4  # times the largest force: as good as no bound


class NodeVelocities:
    """Proposals of modes for nodes without mass, from the efforts of the present ones."""

    def __init__(self, efforts: MasslessEfforts) -> None:
        self.efforts, self.equations = efforts, efforts.equations
        self.elements, self.state = efforts.elements, efforts.state

    def modes(self, problem: Problem, t: float, moved: Indices) -> Iterator[Indices]:
        """Modes to try, the most trustworthy first.

        Parameters
        ----------
        moved : senses of what is known to move, 0 of what is at rest
        """
        slope = self.efforts.system.slope(*problem.arguments(t))
        _, _, low, high, *_ = self.equations.values(problem, t)
        one_sided = bool(np.any(np.isinf(low) | np.isinf(high)))
        balanced = bool(np.any(np.isfinite(low) & np.isfinite(high) & (low < high)))
        # a load exactly at a bound is decided by the next instant
        for ahead in (0.0, *TRIAL_LOOKS_AHEAD):
            for h in TRIAL_INSTANTS:
                x = problem.x.copy()
                problem.x += ahead * slope
                flow = self._flows(problem, t + ahead, h, moved) if balanced else None
                found = self._complementary(problem, t + ahead, h) if one_sided else []
                problem.x[:] = x
                for one in found:
                    yield from self._without_redundant(problem, t, one)
                if flow is not None:
                    yield self._regular(problem, t, flow)

    def _complementary(self, problem: Problem, t: float, h: float) -> list[Hybrid]:
        """What one complementarity problem gives an instant later; none where it is not solved.

        Where nobody determines a share (a diode beside a closed switch), its solver may not find
        an end; a little of what limits efforts and flows everywhere then gives one.
        """
        found = self._decided(problem, t, *self._network(problem, t, h)) \
            or self._with_parasitics(problem, t, h)
        return [] if found is None else [found]

    def _without_redundant(self, problem: Problem, t: float, found: Hybrid) -> Iterator[Indices]:
        """Modes of an answer; first with those open that would only share the effort of others.

        Of what has neither effort nor flow both modes may hold. Closed beside something that is
        closed as well it would be given a part of its effort; so is a diode at a transistor that
        conducts, whatever part the answer gives it.
        """
        modes, before = self._regular(problem, t, found.flow), self.state.modes
        _, _, low, high, *_ = self.equations.values(problem, t)
        idle = (modes == 0) & (np.isinf(low) != np.isinf(high))
        if idle.any():
            null = self.equations.open_inputs(
                problem, t, self.equations.switched(problem, t, modes))
            shared = np.abs(self.equations.by_taken(problem, t, null)[0]) > (
                UNCHANGED_FLOW * np.abs(null).max(initial=0.0))
            told = np.any(self.equations.told(problem, t), axis=0)
            by_switches = shared[:, shared[told].any(axis=0)].any(axis=1)
            idle &= by_switches | shared.any(axis=1) & (found.effort == 0)
            if idle.any():
                sense = np.where(np.isinf(high), -TINY, TINY)
                yield self._regular(problem, t, np.where(idle, sense, found.flow))
        self.state.modes = before
        yield modes

    def with_parasitics(self, problem: Problem, t: float, h: float) -> Indices | None:
        """Modes an instant later, with a little of what limits efforts and flows everywhere."""
        found = self._with_parasitics(problem, t, h)
        return None if found is None else np.sign(found.flow).astype(int)

    def _with_parasitics(self, problem: Problem, t: float, h: float) -> Hybrid | None:
        offset, matrix = self._network(problem, t, h)
        return self._decided(problem, t, offset, matrix - PARASITIC * np.eye(len(offset)))

    def _decided(self, problem: Problem, t: float, offset: Array, matrix: Array) -> Hybrid | None:
        from ..complementarity import solve_hybrid

        if not (np.isfinite(offset).all() and np.isfinite(matrix).all()):
            return None
        _, _, low, high, *_ = self.equations.values(problem, t)
        found = solve_hybrid(matrix, offset, self.elements.gives_flow, low, high)
        return found if found.converged else None

    def _flows(self, problem: Problem, t: float, h: float, moved: Indices
               ) -> Array | None:
        """Flows an instant later; None where there is no such problem, or it is not solved."""
        kinetic = moved != 0
        for _ in range(len(moved) + 1):
            flow = self._solved(problem, t, h, kinetic)
            if flow is None or not np.any((flow != 0) & ~kinetic):
                return flow
            kinetic = kinetic | (flow != 0)
        return None

    def _solved(self, problem: Problem, t: float, h: float, kinetic: Flags
                ) -> Array | None:
        offset, matrix = self._network(problem, t, h)
        if not (np.isfinite(offset).all() and np.isfinite(matrix).all()):
            return None
        gives = self.elements.gives_flow
        taken, given = np.flatnonzero(~gives), np.flatnonzero(gives)
        across, back = matrix[np.ix_(taken, given)], matrix[np.ix_(given, taken)]
        mobility = -matrix[np.ix_(taken, taken)]
        damping = -matrix[np.ix_(given, given)]
        if not (_equal(across, -back.T) and _equal(mobility, mobility.T)
                and _equal(damping, damping.T)):
            return None
        values, vectors = np.linalg.eigh((mobility + mobility.T) / 2)
        yielding = values > YIELDING * np.abs(values).max(initial=0.0)
        ease = vectors[:, yielding] * np.sqrt(values[yielding])
        n, m, extra = len(gives), len(given), ease.shape[1]
        W, C = np.zeros((n, m + extra)), np.eye(m + extra)
        W[taken, :m], W[taken, m:], W[given, :m] = across, -ease, np.eye(m)
        C[:m, :m] = (damping + damping.T) / 2
        c, g = np.zeros(n), np.zeros(m + extra)
        c[taken], g[:m] = offset[taken], offset[given]
        low, high, viscous = self._bounds(problem, t, kinetic)
        C += W.T @ (viscous[:, None] * W)
        g -= W.T @ (viscous * c)
        largest = np.abs(np.concatenate([low, high, g]))
        endless = ENDLESS * max(float(largest[np.isfinite(largest)].max(initial=0.0)), TINY)
        found = solve_velocity(W, c, np.maximum(low, -endless), np.minimum(high, endless),
                               damping=C, force=g, judge=False,
                               shares=TRIAL_RESISTANCES)  # fmt: skip
        if not found.converged:
            return None
        pace = max(float((np.abs(W) @ np.abs(found.velocity)).max()), float(np.abs(c).max()))
        return np.where(np.abs(found.flow) > FLOW_NONE * pace, found.flow, 0.0)

    def _network(self, problem: Problem, t: float, h: float) -> tuple[Array, Array]:
        """What the elements give an instant later: without what they take, and by it."""
        by_inputs = self.equations.by_inputs(problem, t)
        matrix = by_inputs[0] + h * by_inputs[3]
        given, rate = self.equations.given(problem, t)
        return given + h * rate - matrix @ self.elements.efforts_of(problem.u), matrix

    def _bounds(self, problem: Problem, t: float, kinetic: Flags
                ) -> tuple[Array, Array, Array]:
        """Bounds at no flow, and the slope of kinetic ones by the own flow."""
        elements, n = self.elements, self.elements.size
        flow, _, low, high, back, forth = self.equations.values(problem, t)
        output_u, back_u, forth_u = self.equations.by_inputs(problem, t)[:3]
        own = np.where(elements.gives_flow[:, None], np.eye(n), output_u)
        size = np.maximum((own**2).sum(axis=1), TINY)
        slopes = [np.maximum((k * own).sum(axis=1) / size, 0.0) for k in (back_u, forth_u)]
        slope = np.where(kinetic, np.where(flow > 0, slopes[1], slopes[0]), 0.0)
        bottom = np.where(kinetic & np.isfinite(low), back - slopes[0] * flow, low)
        top = np.where(kinetic & np.isfinite(high), forth - slopes[1] * flow, high)
        return np.minimum(bottom, top), top, slope

    def _regular(self, problem: Problem, t: float, flow: Array) -> Indices:
        """Modes of given flows, with so many at rest that all velocities are determined.

        Equally strong frictions in series slide in any share, diodes in series that block share
        their voltage in any way: flows are changed along what is open until one of them rests.
        """
        modes, flow = self.state.modes, flow.copy()
        told = np.any(self.equations.told(problem, t), axis=0)
        try:
            for _ in range(self.elements.size):
                self.state.modes = self.equations.switched(problem, t, np.sign(flow).astype(int))
                free = self.efforts.open_flows(problem, t)
                if free is None:
                    break
                slides = ~told & (flow != 0) & (np.abs(free) > UNCHANGED_FLOW * np.abs(free).max())
                if not slides.any():
                    break
                part = np.full(len(flow), np.inf)
                part[slides] = -flow[slides] / free[slides]
                first = int(np.argmin(np.abs(part)))
                flow = np.where(np.sign(flow + part[first] * free) == np.sign(flow),
                                flow + part[first] * free, 0.0)  # fmt: skip
                flow[first] = 0.0
            return np.sign(flow).astype(int)
        finally:
            self.state.modes = modes


def _equal(one: Array, other: Array) -> bool:
    size = max(float(np.abs(one).max(initial=0.0)), float(np.abs(other).max(initial=0.0)))
    return bool(np.all(np.abs(one - other) <= RECIPROCAL * size))
