"""What becomes of small changes at an event, whose instant moves as well?

With a guard ``g`` that is zero at the event and a jump ``x+ = R(x-)``, the instant moves by
``dt = -dg / (dg/dt)`` and changes of states become ``R' (dx- + f- dt) + dR - f+ dt``: the saltation
matrix [Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, ch. 7].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..simulation.relations import Relations
from .sensitivity_equations import SensitivityEquations
from .sensitivity_grazing import touches
from .sensitivity_jumps import Changes, Jumps

if TYPE_CHECKING:
    from ..simulation.recording import RunRecording
    from ..system.points import Points

__all__ = ["Saltation"]

NEAR = 1e-6  # of the run, that a guard may be away from zero at its event
TOGETHER = 1e-9  # of the run, within which two guards are zero at once
GRAZES = 1e-4  # of its largest rate at events, below which a guard is touched and not crossed


class Saltation:
    """Carries small changes over the events of a run.

    Parameters
    ----------
    recording : of the run
    equations : their derivatives
    dp : change of the parameter vector per parameter

    Attributes
    ----------
    times : of the events
    moved : change of every event's instant per parameter
    notes : where derivatives do not exist, or are those of one side
    """

    def __init__(self, recording: RunRecording, equations: SensitivityEquations, dp: Array,
                 paths: list[str]) -> None:
        self.recording, self.equations, self.dp, self.paths = recording, equations, dp, paths
        self.system, episodes = recording.system, recording.episodes
        self.starts, self.ends = episodes.starts, episodes.ends
        self.span = float(self.ends[-1] - self.starts[0])
        self.times = self.starts[1:]
        self.moved = np.zeros((len(self.times), dp.shape[1]))
        self.notes: list[str] = []
        self._caused: Indices = np.zeros(0, dtype=int)  # guards that are zero at the present event
        self.jumps = Jumps(recording, equations, dp)
        self.sides = self.jumps.sides
        self.m = episodes.m
        self.modes = episodes.modes if equations.elements is not None else np.zeros(
            (len(self.starts), 0), dtype=int)

    def look_at_start(self, changes: Changes) -> None:
        """Tell where the run starts at the end of a mode: the next value decides otherwise."""
        elements = self.equations.elements
        if elements is None:
            return
        guards = self.sides.start
        change = guards.along(0, changes.x, self.dp, changes.d)[self.system.nm :]
        value = guards.value[0][self.system.nm :]
        low, high, moving = (slice(k * elements.size, (k + 1) * elements.size) for k in range(3))
        stuck = self.modes[0] == 0
        free = stuck & ~elements.contact
        leaves = np.where(free[:, None], change[moving], 0.0)
        zero = (value[moving] == 0) & ~stuck & ~elements.contact
        leaves = np.where(zero[:, None], change[moving], leaves)
        bound = np.abs(value[low] + value[high])
        for room in (low, high):
            full = stuck & (np.abs(value[room]) <= 1e-12 * bound)
            leaves = np.where(full[:, None], change[room], leaves)
        for e, p in zip(*np.nonzero(leaves), strict=True):
            self.notes.append(f"At the start {elements.name(int(e))} is at the end of its mode: a "
                              f"little more or less of {self.paths[p]} makes it stick or slide, so "
                              "derivatives by it hold for one side only.")

    # -- one event -------------------------------------------------------------------------
    def over(self, k: int, changes: Changes) -> Changes:
        """Changes after the k-th event, from those before."""
        before, after = self.sides.slopes
        dt = self.moved[k] = self._instant(k, changes)
        arrived = Changes(changes.x + before.value[k][:, None] * dt, changes.d)
        new = self.jumps.over(k, arrived, dt, self._caused)
        return Changes(new.x - after.value[k][:, None] * dt, new.d)

    def _instant(self, k: int, changes: Changes) -> Array:
        """How the instant of an event moves."""
        guards = self.sides.guards
        which = self._candidates(k)
        self._caused = np.zeros(0, dtype=int)
        if not len(which):
            return np.zeros(self.dp.shape[1])
        value, rate = guards.value[k][which], self._rates[k][which]
        with np.errstate(divide="ignore", invalid="ignore"):
            away = np.where(value == 0, 0.0, np.abs(value / rate))
        zero = np.abs(value) <= 1e-9 * (1e-9 + self._largest[which])
        touched = np.isfinite(value) & (rate == 0) & zero
        if touched.any():
            self._tell_grazing(k, int(which[np.argmax(touched)]))
            return np.zeros(self.dp.shape[1])
        cause = np.flatnonzero(np.isfinite(away) & (away <= NEAR * self.span) & (rate != 0))
        if not len(cause):
            return np.zeros(self.dp.shape[1])
        first = cause[np.argmin(away[cause])]
        moved = -guards.along(k, changes.x, self.dp, changes.d, which) / np.where(
            rate == 0, 1.0, rate)[:, None]
        self._caused = which[cause[away[cause] <= away[first] + TOGETHER * self.span]]
        others = np.flatnonzero(np.isin(which, self._caused))
        apart = np.abs(moved[others] - moved[first]) > 1e-6 * (1e-12 + np.abs(moved[first]))
        if apart.any():
            self.notes.append(
                f"t = {self.times[k]:.9g} s: {self._name(which[others])} happen at once, and in "
                "another order with other values: derivatives hold for one side only.")
        self._tell_if_grazing(k, int(which[first]), float(rate[first]))
        return np.asarray(moved[first])

    def _candidates(self, k: int) -> Indices:
        """Guards of what has changed at an event."""
        nm = self.system.nm
        changed = list(np.flatnonzero(self.m[k] != self.m[k + 1]))
        if self.equations.elements is not None:
            size = self.equations.elements.size
            moved = (self.modes[k] != self.modes[k + 1]) | self.jumps.struck(k)
            for e in np.flatnonzero(moved):
                stuck = self.modes[k, e] == 0
                changed += [nm + e, nm + size + e] if stuck else [nm + 2 * size + e]
        return np.array(changed, dtype=int)

    @cached_property
    def _rates(self) -> Array:
        """How fast guards move just before events, (events, guards)."""
        guards = self.sides.guards
        return np.asarray((guards.x @ self.sides.slopes[0].value[:, :, None])[..., 0] + guards.t)

    @cached_property
    def _largest(self) -> Array:
        """Values of guards at events, the largest of each."""
        value = np.abs(self.sides.guards.value)
        return np.asarray(value.max(axis=0, initial=0.0, where=np.isfinite(value)))

    def _tell_if_grazing(self, k: int, guard: int, rate: float) -> None:
        """Say so where a guard is touched and hardly crossed."""
        g, f = self.sides.guards, self.sides.slopes[0]
        terms = np.abs(g.x[k][guard] * f.value[k]).sum() + abs(g.t[k][guard])
        along = np.abs(self._rates[:, guard])
        scale = max(float(along[np.isfinite(along)].max(initial=0.0)),
                    float(self._typical_rate(guard)))
        if abs(rate) <= GRAZES * max(scale, 1e-300) or abs(rate) <= 1e-13 * terms:
            self._tell_grazing(k, guard)

    def _typical_rate(self, guard: int) -> float:
        """How fast a guard moves over the whole run, about."""
        value = self.sides.guards.value[:, guard]
        finite = value[np.isfinite(value)]
        return float(np.ptp(finite)) / self.span if len(finite) > 1 else 0.0

    def _tell_grazing(self, k: int, guard: int) -> None:
        self.notes.append(f"t = {self.times[k]:.9g} s: {self._name(np.array([guard]))} is touched "
                          "without speed: not differentiable from this side.")

    def _name(self, guards: Indices) -> str:
        """What guards are about."""
        names, nm = [], self.system.nm
        for guard in guards:
            if guard < nm:
                names.append("the condition " + Relations(self.system).condition(int(guard)))
            else:
                elements = self.equations.elements
                assert elements is not None
                names.append(elements.name(int((guard - nm) % elements.size)))
        return " and ".join(dict.fromkeys(names))

    # -- between events --------------------------------------------------------------------
    def look_between(self, times: Array, which: Indices,
                     points: Callable[[Array, Indices], Points]) -> None:
        """Tell where the run comes to the end of a mode and turns back."""
        def guards(t: Array, w: Indices) -> Array:
            value = self.equations.guard_values(points(t, w))
            return np.where(self._watched(w), value, np.inf)

        if self.system.nm or self.equations.elements is not None:
            for t, guard in touches(times, which, guards):
                self.notes.append(f"t = {t:.9g} s: {self._name(np.array([guard]))} is touched "
                                  "without speed: not differentiable from this side.")

    def _watched(self, which: Indices) -> Flags:
        """Guards that end the modes held in episodes."""
        relations = np.ones((self.system.nm, len(which)), dtype=bool)
        relations[self.jumps.samplings.time_events.timed] = False
        if self.equations.elements is None:
            return relations
        stuck = self.modes[which].T == 0
        contact = self.equations.elements.contact[:, None]
        return np.concatenate([relations, stuck & ~contact, stuck, ~stuck])
