"""What becomes of small changes where several things happen at once, which then happen in turn?

Which of them comes first depends on the change. Between them the run has the modes of both sides,
which it never had: such points are solved for here.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...system.points import Points
from .equations import Derivatives
from .saltation import NEAR, Jumps

__all__ = ["InTurn"]


class Between(NamedTuple):
    """A run when some of what happens at once has happened."""

    point: Points
    slope: Array
    guards: Derivatives


class InTurn:
    """What the guards ``caused`` do at the k-th event of a run, one after the other."""

    def __init__(self, jumps: Jumps, k: int, caused: Indices) -> None:
        self.jumps, self.k, self.caused = jumps, k, caused
        self.nm, self.size = jumps.system.nm, jumps.equations.elements.size
        self._between = cache(self._solved)

    def after(self, x: Array, p: Array, d: Array) -> Array:
        """Changes of states when all has happened, from those before, by one parameter.

        They are nan where the run would go on otherwise: what happens depends on the order.
        """
        jumps, left, nowhere = self.jumps, self.caused.tolist(), np.full(len(x), np.nan)
        done: tuple[int, ...] = ()
        at = self._between(done)
        while at is not None and left:
            rates = at.guards.in_time(at.slope[None])[0, left]
            dt = -at.guards.along(0, x, p, d, left) / rates
            first = int(np.argmin(dt))
            x, guard = x + at.slope * dt[first], left.pop(first)
            if self._strikes(guard):
                flow = jumps.flow_at((self._element(guard),), at.point)
                x = x + jumps.turned(flow, *self._impulse(flow, guard), (x, p, d), dt[first])
            done += (guard,)
            at = self._between(done)
            x = x - dt[first] * (nowhere if at is None else at.slope)
        end = jumps.after(self.k)
        if at is None or np.abs(at.point.x - end.x).max() > NEAR * np.abs(
                end.x - jumps.before(self.k).x).max() or np.any(
                np.abs(at.slope - jumps.rates[1][self.k]) > NEAR * jumps.sizes):
            return nowhere
        return x

    def _element(self, guard: int) -> int:
        return (guard - self.nm) % self.size

    def _strikes(self, guard: int) -> bool:
        return guard >= self.nm and bool(self.jumps.impacts[self.k, self._element(guard)])

    def _impulse(self, flow: Derivatives, guard: int) -> tuple[Array, Flags]:
        """The impulse of a contact that is struck alone, and whether it rests after that."""
        speed, restitution, by = flow.value[0, [0, 1, -1]]
        after = self.jumps.recording.episodes[self.k + 1]
        rests = np.asarray(after.modes)[self._element(guard)] == 0
        return np.array([-(1 + (not rests) * restitution) * speed / by]), np.array([rests])

    def _solved(self, done: tuple[int, ...]) -> Between | None:
        """The run when some have happened; None where it has no such state."""
        jumps, k, time = self.jumps, self.k, float(self.jumps.times[self.k])
        (m, modes), after = ((e.m.copy(), np.array(e.modes, ndmin=1)) for e in (
            jumps.recording.episodes[k], jumps.recording.episodes[k + 1]))
        x = None
        for guard in done:
            if guard < self.nm:
                m[guard] = after[0][guard]
            else:
                modes[self._element(guard)] = after[1][self._element(guard)]
        if done:
            before = self._between(done[:-1])
            if before is None:
                return None
            x = before.point.x[:, 0].copy()
            if self._strikes(done[-1]):
                flow = jumps.flow_at((self._element(done[-1]),), before.point)
                x += flow.value[0, 2:-1] * self._impulse(flow, done[-1])[0]
        problem, held = jumps.held(k, time, m, modes, x), jumps.before(k)
        if problem is None:
            return None
        point = replace(held, **{name: getattr(problem, name)[:, None].copy() for name in "xzmu"},
                        modes=tuple((modes, columns) for _, columns in held.modes))
        slope = np.array(jumps.system.slope(*problem.arguments(time)))
        return Between(point, slope, jumps.equations.guards(point))
