"""When do events happen, and how do their instants follow states and parameters?

With a guard ``g`` that is zero at the event, the instant moves by ``dt = -dg / (dg/dt)``. Which
guard it is does not depend on what is varied, so it is found for all events of a run at once.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...system import System
from .equations import Derivatives

__all__ = ["GRAZES", "SQUARED", "TOGETHER", "Instants", "relations_of_end"]

NEAR = 1e-6  # of the run, that a guard may be away from zero at its event
TOGETHER = 1e-9  # of the run, within which two guards are zero at once
GRAZES = 1e-4  # of its largest rate at events, below which a guard is touched and not crossed
SQUARED = 9.0  # times the root of the tolerance: so slow is what falls by as much as is not known


class Instants:
    """The guards of all events of a run, and how fast these are crossed.

    ``guards`` are those before all events, ``slope`` is of the states there, and ``start`` the
    guards where the run starts, of a length ``span``; ``changed``, (events, guards), are those of
    what an event changes.
    """

    def __init__(self, guards: Derivatives, slope: Array, changed: Flags, span: float,
                 start: Array, rtol: float) -> None:
        self._guards = guards
        value = guards.value
        self._rates = guards.in_time(slope)
        finite = np.isfinite(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.where(value == 0, 0.0, np.abs(value / self._rates))
            away[~changed | ~np.isfinite(away) | (self._rates == 0)] = np.inf
        largest = np.abs(value).max(axis=0, initial=0.0, where=finite)
        still = changed & finite & (self._rates == 0) & (
            np.abs(np.where(finite, value, 0.0)) <= 1e-9 * (1e-9 + largest))
        none = np.full(len(still), -1)
        # (events,) the guard that is touched and not crossed, where one is; negative otherwise
        self.touched: Indices = np.where(still.any(axis=1), still.argmax(axis=1), none) \
            if still.size else none
        away[self.touched >= 0] = np.inf
        nearest = away.min(axis=1, initial=np.inf)
        here = nearest <= NEAR * span
        # (events, guards) those that are zero at the event
        self.caused: Flags = here[:, None] & (away <= (nearest + TOGETHER * span)[:, None])
        # of these the first; negative for an event whose instant does not move
        self.first: Indices = np.where(here, away.argmin(axis=1) if away.size else 0, -1)
        self._find_grazing(slope, span, start, max(GRAZES, SQUARED * np.sqrt(rtol)))

    def _find_grazing(self, slope: Array, span: float, start: Array, slow: float) -> None:
        """Where a guard is hardly crossed."""
        k = np.flatnonzero(self.first >= 0)
        if not len(k):
            return
        guards, guard = self._guards, self.first[k]
        terms = np.abs(guards.x[k, guard] * slope[k]).sum(axis=1) + np.abs(guards.t[k, guard])
        rates = np.abs(np.where(np.isfinite(self._rates), self._rates, 0.0))
        value = np.vstack([guards.value, np.resize(start, guards.value.shape[1])])
        finite = np.isfinite(value)
        high = value.max(axis=0, initial=-np.inf, where=finite)
        low = value.min(axis=0, initial=np.inf, where=finite)
        typical = np.where(finite.sum(axis=0) > 1, high - low, 0.0) / span
        scale = np.maximum(rates.max(axis=0), typical)[guard]
        rate = np.abs(self._rates[k, guard])
        grazes = (rate <= slow * np.maximum(scale, 1e-300)) | (rate <= 1e-13 * terms)
        self.touched[k[grazes]] = guard[grazes]

    def join(self, k: int, guards: Indices, weights: Array) -> None:
        """Let a sum of guards say when the k-th event happens, in place of each of them."""
        mine = self._guards
        for of in (mine.x, mine.p, mine.d, mine.t, self._rates):
            of[k, guards] = weights @ of[k, guards]

    def follow(self, k: int, guard: int) -> tuple[Array, Array, Array]:
        """The instant of the k-th event by states, parameters and discrete values, by one guard."""
        g, rate = self._guards, self._rates[k, guard]
        return -g.x[k, guard] / rate, -g.p[k, guard] / rate, -g.d[k, guard] / rate


def relations_of_end(system: System) -> Indices:
    """Relations at which a run given ``until`` ends: those of what reads variables."""
    reading = {mine[0] for mine, _ in system.network.reads}
    return np.array([k for f, _, k in system.tape.relation_layout if f in reading], dtype=int)
