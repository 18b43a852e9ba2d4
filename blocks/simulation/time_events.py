"""Which instants of a run are known before they are reached, and what switches there?

Breakpoints that components announce, instants at which they sample, and relations of time alone.
Knows no method and no recording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..exceptions import ParameterError
from ..language.expression import TIME
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..numerics.copies import shallow_copy
from ..numerics.instants import same_instant, same_instants
from ..numerics.tolerances import SAME_INSTANT, TIME_GRAIN
from ..system.evaluator import Evaluator
from ..system.system import System
from ..system.time_crossings import crossings_of_time
from ..system.time_functions import (
    MOST_INSTANTS,
    TimeFunctions,
    driven_by_time,
    floor_jumps,
    in_blocks,
    relations_of_time,
    together,
)
from .relations import Relations

if TYPE_CHECKING:
    from ..native.own_events import Ahead

__all__ = ["TimeEvents"]

MOST_KEPT = 1 << 18  # numbers of the instants that one call is given: so many are kept for later
MOST_PARTS = 16  # of a run
WITHIN = 4  # times what makes two times one instant: just before or after a time event


@dataclass(frozen=True)
class _Instants:
    """What was found for a run, kept for the next one over the same time and parameters."""

    asked: tuple[bytes, float, float, float]  # parameters, start, end, what is one instant at 0
    times: Array
    switching: dict[float, list[int]]
    apart: Array
    functions: TimeFunctions  # as they are at the start
    ahead: dict[tuple[int, int], Ahead]  # what comes of a range of ``apart``


class TimeEvents:
    """The instants of a run that are known beforehand.

    ``seen``: up to when they are looked for at once; to the end, unless given.
    """

    def __init__(self, system: System, p: Array, t_start: float, t_end: float,
                 seen: float | None = None) -> None:
        self.system, self.p = system, p
        self.relations = system.once("relations", lambda: Relations(system))
        self.longest = max(abs(t_end), abs(t_start), t_end - t_start)
        # times about zero that differ by less are one instant, s: from such they are computed
        self.least = TIME_GRAIN * (t_end - t_start)
        # timed: relations of time and parameters alone; straight, curved: those among them that are
        # linear in time, and the others
        self.timed, self.straight = relations_of_time(system)
        self.curved, self._index = system.once("curved relations of time", lambda: (
            self.timed & ~self.straight, np.flatnonzero(self.timed)))
        tape, index = system.tape, self._index.tolist()
        self._function = system.once("function of relations of time", lambda: Evaluator(
            ca.Function("timed", [TIME, tape.p], [ca.densify(tape.crossings[index])]))
        ) if index else None
        self._switch_at, self._slope = self._straight_lines()
        self.find(t_start, t_end if seen is None else seen)

    def find(self, t_start: float, t_end: float) -> None:
        """Find the instants of a part of the run; those of the last one are forgotten."""
        system = self.system
        self.t_start, self.t_end = t_start, t_end  # of the part of the run that has been looked at
        asked = self.p.tobytes(), t_start, t_end, self.least
        place = "instants" if t_end > t_start else "instants of a moment"
        known = system.cache.get(place)
        if known is None or known.asked != asked or system.tables.slots.size:
            known = system.cache[place] = self._found(asked)
        # all instants, ascending; relations that switch at an instant, by its time; of times that
        # are one instant the first, ascending
        self.times, self.switching, self.apart = known.times, known.switching, known.apart
        # how finely the run must be looked at, which goes on from part to part
        self.functions = shallow_copy(known.functions)
        self._ahead = known.ahead

    @property
    def expected(self) -> bool:
        """Whether anything may be known beforehand, in any part of a run."""
        system = self.system
        return bool(driven_by_time(system)) or system.once("announces instants", lambda: any(
            kernel.breaks or any(start is not None for start, _, _ in kernel.samplings)
            for kernel in (family.kernel for family in system.network.families)))

    @property
    def duration(self) -> float:
        """How long the part is that has been looked at."""
        return self.t_end - self.t_start

    # -- what is known ---------------------------------------------------------------------
    def tiny(self, t: float) -> float:
        """Times about ``t`` that differ by less are one instant."""
        return same_instant(t, self.least)

    def after(self, t: float, carried_out: bool = False) -> float:
        """The next instant after ``t``; the end of the run after the last, or where the method
        carries all of them out."""
        if carried_out or not len(self.times):
            return self.t_end
        k = int(self.times.searchsorted(t + self.tiny(t), side="right"))
        return self.t_end if k == len(self.times) else float(self.times[k])

    def ahead(self, t: float, stop: float, most: int) -> Ahead:
        """Instants after ``t``, up to ``stop``, that a method may carry out."""
        first, last = (int(self.apart.searchsorted(end + self.tiny(end), side="right"))
                       for end in (t, stop)) if len(self.apart) else (0, 0)
        part = (first, min(last, first + most)) if first < last else (0, 0)
        if part not in self._ahead:
            from ..native.own_events import Ahead

            times = self.apart[slice(*part)]
            holds = np.zeros((len(times), len(self.timed)))
            if self._function is not None and len(times):
                holds[:, self._index] = self._hold_after(times).T
            following = np.append(times[1:], self.after(times[-1])) if len(times) else times
            rows = np.ascontiguousarray(self.system.tables.rows(self.just_after(times)).T)
            found = Ahead(times, holds, self.system.tables.slots, rows,
                          self._just_before(following))
            if holds.size + rows.size > MOST_KEPT or len(self._ahead) == MOST_PARTS:
                return found
            self._ahead[part] = found
        return self._ahead[part]

    def known_from(self, t: float) -> float:
        """When the next instant after ``t`` is reached: no relation of time is searched there."""
        return float(self._just_before(self.after(t)))

    def at(self, t: float) -> Indices:
        """Relations that switch at an instant."""
        return np.array(self.switching.get(t, []), dtype=int)

    def is_known(self, t: float) -> bool:
        """Whether a time is one of the instants."""
        k = int(self.times.searchsorted(self._just_before(t)))
        return k < len(self.times) and bool(self.times[k] <= self.just_after(t))

    def just_after(self, t: Any) -> Any:
        """A time after ``t`` that is the same instant."""
        return t + WITHIN * same_instant(t, self.least)

    def _just_before(self, t: Any) -> Any:
        """A time before ``t`` that is the same instant."""
        return t - WITHIN * same_instant(t, self.least)

    def behind_jumps(self, t: float) -> float:
        """Where relations are judged at an event: behind what jumps at a known instant, so far
        that what moves away from zero there has left it by more than rounding."""
        if not self.is_known(t):
            return t
        far = min(WITHIN * SAME_INSTANT * self.longest, (self.after(t) - t) / 4)
        return max(float(self.just_after(t)), t + far)

    def right_limits(self, t: float) -> Array:
        """Which relations of time alone hold (1.0) just after ``t``."""
        out = np.zeros(len(self.timed))
        if self._function is not None:
            out[self._index] = self._hold_after(np.array([t]))[:, 0]
        return out

    def _hold_after(self, times: Array) -> Flags:
        """Which relations of time alone hold just after some times, (relations, times)."""
        assert self._function is not None  # else there are none
        later, known = self.just_after(times), np.isfinite(self._switch_at)
        g = self._function.at_columns(later[None, :], self.p)
        # near its instant a relation is nothing but rounding
        g[known] = self._slope[known, None] * (later - self._switch_at[known, None])
        at_zero = self.relations.at_zero[self._index, None]  # those of parameters may be for good
        return np.where(at_zero, g >= 0, g > 0)

    def holding(self, g: Array, t: float) -> Array:
        """Which relations hold (1.0) just after ``t``, where their crossing functions are ``g``."""
        held = np.where(self.relations.at_zero, g >= 0, g > 0).astype(float)
        held[self.timed] = self.right_limits(t)[self.timed]
        return held

    def constant(self, f: int, sx: ca.SX) -> Array:
        """What an expression of parameters comes to, for all instances of a family."""
        made = self.system.cache.setdefault("constants", {})
        if (f, id(sx)) not in made:  # kept with the expression, whose identity is the key
            row = self.system.tape.writer.kernel_row(f, sx)
            made[f, id(sx)] = Evaluator(ca.Function(
                "constant", [self.system.tape.p], [ca.densify(row)])), sx
        value: Array = made[f, id(sx)][0](self.p)
        return value

    # -- how it is found -------------------------------------------------------------------
    def _found(self, asked: tuple[bytes, float, float, float]) -> _Instants:
        system, t_start, t_end = self.system, self.t_start, self.t_end
        switching: dict[float, list[int]] = {}  # by crossings of what is linear in time
        at = self._switch_at
        for k in np.flatnonzero((at > t_start) & (at < t_end)):
            switching.setdefault(float(at[k]), []).append(int(self._index[k]))
        announced = distinct(np.concatenate([
            np.array(list(switching), dtype=float), self._breakpoints(t_start, t_end),
            system.tables.instants(t_start, t_end),
            floor_jumps(system, ~self.timed, self.p, t_start, t_end)]))
        announced = announced[announced < t_end - self.tiny(t_end)]  # others are the end itself
        self.functions = functions = TimeFunctions(system, self.p, t_start, t_end, announced)
        found = [announced]
        found.append(functions.with_kinks())
        found.append(self._curved_instants(announced, t_start, t_end))
        times = distinct(np.concatenate(found))
        apart = times[np.diff(times, prepend=-np.inf) > same_instants(times, self.least)]
        return _Instants(asked, times, switching, apart, shallow_copy(functions), {})

    def _straight_lines(self) -> tuple[Array, Array]:
        """When relations linear in time switch, nan of others of time alone; slopes of all."""
        def lines() -> Evaluator:
            g = self.system.tape.crossings[self._index.tolist()]
            both = ca.vertcat(g, ca.jtimes(g, TIME, ca.SX(1)))
            return Evaluator(ca.Function("lines", [TIME, self.system.tape.p], [ca.densify(both)]))

        if self._function is None:
            return np.zeros(0), np.zeros(0)
        g, slope = self.system.once("lines of time", lines)(0.0, self.p).reshape(2, -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(self.straight[self._index], -g / slope, np.nan)
        return np.where(np.isfinite(at), at, np.nan), slope

    def _breakpoints(self, t_start: float, t_end: float) -> Array:
        """Instants within the run that components announce, and those at which they sample."""
        out = [np.zeros(0)]
        for f, family in enumerate(self.system.network.families):
            samplings = [(s, p) for s, p, _ in family.kernel.samplings if s is not None]
            for start, period in [*family.kernel.breaks, *samplings]:
                first = self.constant(f, start)
                if period is None:
                    out.append(first)
                    continue
                for i, (a, step) in enumerate(zip(first, self.constant(f, period), strict=True)):
                    if step > 0 and a <= t_end:
                        _refuse_too_many(family.path(i), step, (t_end - max(a, t_start)) / step)
                        k0 = max(0, int(np.floor((t_start - a) / step)))
                        count = int((t_end - a) / step - k0 + 2)
                        out.append(a + step * np.arange(k0, k0 + max(count, 0)))
        times = np.concatenate(out)
        return times[(times > t_start) & (times < t_end)]

    def _curved_instants(self, known: Array, t_start: float, t_end: float) -> Array:
        """Crossings of relations such as sin(w t) > 0, looked for in pieces of time."""
        if not self.curved.any() or not t_end > t_start:
            return np.zeros(0)
        system, rows, functions = self.system, np.flatnonzero(self.curved), self.functions
        curved = system.once("curved relations", lambda: in_blocks(
            system, system.tape.crossings[rows.tolist()]))
        at = together(functions, crossings_of_time(
            [*map(functions.at, curved)], functions.looks(), known, self.least))
        return at[(at > t_start) & (at < self._just_before(t_end))]


def _refuse_too_many(path: str, period: float, count: float) -> None:
    """A period so short that the run would be nothing but its instants."""
    if count > MOST_INSTANTS:
        raise ParameterError(
            path, f"acts every {period:.4g} s, which is {count:.3g} times in the run; at most "
            f"{MOST_INSTANTS:,} such instants are carried out.",
            "Give it a longer period, or simulate a shorter time.", code="parameter.instants",
            period=period, count=count,
        )  # fmt: skip
