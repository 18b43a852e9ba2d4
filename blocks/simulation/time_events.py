"""What happens at instants: known times, state changes, samplings, requirements.

Each class gathers one kind of statement of all components into functions of the
whole system: relations of time alone and breakpoints (:class:`Stops`), ``when``
(:class:`Resets`), ``every`` and ``initially`` (:class:`Samples`), ``require``
(:class:`Requirements`). Knows no method and no recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..exceptions import ParameterError, SimulationError
from ..language.expression import TIME
from ..language.readable import crossing, readable
from ..system.evaluator import Evaluator
from ..system.problem import Problem
from ..system.system import System
from ..system.time_functions import TimeFunctions
from ..units import from_si

__all__ = ["Requirements", "Resets", "Samples", "Stops"]

JUMPS = {ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_SIGN, ca.OP_LT, ca.OP_LE,
         ca.OP_EQ, ca.OP_NE}  # fmt: skip
TOUCHES = 0.2  # of its change between looks, by which a relation may miss zero between them
MOST_INSTANTS = 2_000_000  # of one component in a run


class Stops:
    """Instants that are known before they are reached, and what switches there."""

    def __init__(self, system: System, p: np.ndarray, t_start: float, t_end: float) -> None:
        self.system, self.p = system, p
        tape = system.tape
        nm = system.nm
        self.timed = np.zeros(nm, dtype=bool)
        self.curved = np.zeros(nm, dtype=bool)  # of time alone, but not linear in it
        self.at_zero = np.zeros(nm, dtype=bool)
        families = system.network.families
        self.rows: list[tuple[int, int, int]] = tape.relation_layout
        instants: dict[float, list[int]] = {}
        linear: list[int] = []
        for f, r, offset in self.rows:
            crossing, at_zero = families[f].kernel.relations[r]
            n = families[f].size
            self.at_zero[offset : offset + n] = at_zero
            allowed = families[f].kernel.parameter_hashes | {TIME.__hash__()}
            if {s.__hash__() for s in ca.symvar(crossing)} <= allowed:
                slope = ca.jacobian(crossing, TIME)
                if TIME.__hash__() not in {s.__hash__() for s in ca.symvar(slope)} \
                        and not _jumps(crossing):
                    linear += range(offset, offset + n)
                self.timed[offset : offset + n] = True
        self.timed_function = ca.Function("timed", [TIME, tape.p], [
            tape.crossings[np.flatnonzero(self.timed).tolist()]
        ]) if self.timed.any() else None
        self.timed_index = np.flatnonzero(self.timed)
        if self.timed_function is not None:
            g0 = np.array(self.timed_function(0.0, p)).ravel()
            g1 = np.array(self.timed_function(1.0, p)).ravel()
            straight = np.isin(self.timed_index, linear)
            self.curved[self.timed_index[~straight]] = True
            with np.errstate(divide="ignore", invalid="ignore"):
                at = -g0 / (g1 - g0)
            for k in np.flatnonzero(straight & np.isfinite(at) & (at > t_start) & (at < t_end)):
                instants.setdefault(float(at[k]), []).append(int(self.timed_index[k]))
        for t in self._breakpoints(t_start, t_end):
            instants.setdefault(t, [])
        self.t_end = t_end
        self.tiny = 1e-12 * max(abs(t_end), abs(t_start), t_end - t_start)
        #: How finely the run must be looked at.
        self.functions = TimeFunctions(system, p, t_start, t_end, np.array(sorted(instants)))
        for t in self._curved_instants(np.array(sorted(instants)), t_start, t_end):
            instants.setdefault(t, [])
        self.times = np.array(sorted(instants))
        self.which = instants

    def _breakpoints(self, t_start: float, t_end: float) -> list[float]:
        out: set[float] = set()
        for f, family in enumerate(self.system.network.families):
            sampled = [(s, p) for s, p, _ in family.kernel.samplings if s is not None]
            for start, period in [*family.kernel.breaks, *sampled]:
                first = self.constant(f, start)
                if period is None:
                    out.update(first.tolist())
                    continue
                for i, (a, step) in enumerate(
                        zip(first, self.constant(f, period), strict=True)):
                    if step > 0 and a <= t_end:
                        _refuse_too_many(family.path(i), step, (t_end - max(a, t_start)) / step)
                        k0 = max(0, int(np.floor((t_start - a) / step)))
                        count = int((t_end - a) / step - k0 + 2)
                        out.update((a + step * np.arange(k0, k0 + max(count, 0))).tolist())
        return [t for t in out if t_start < t < t_end]

    def _curved_instants(self, known: np.ndarray, t_start: float, t_end: float) -> list[float]:
        """Crossings of relations such as sin(w t) > 0, looked for in pieces of time."""
        if not self.curved.any() or not t_end > t_start:
            return []
        from scipy.optimize import brentq, minimize_scalar

        rows = np.flatnonzero(self.curved[self.timed_index])
        function: Any = self.timed_function

        def value(t: float, row: int) -> float:
            return float(function(t, self.p)[row])

        found = []
        for times in self.functions.looks():
            g = np.array(function(times[None, :], self.p))[rows]
            places = [(row, float(times[k]), float(times[k + 1])) for row, k in
                      zip(*np.nonzero((g[:, 1:] > 0) != (g[:, :-1] > 0)), strict=True)]
            for row, k in _touches(g):
                side = 1.0 if g[row, k] > 0 else -1.0
                top = float(minimize_scalar(
                    lambda t, row=row, side=side: side * value(t, int(rows[row])),
                    method="bounded", bounds=times[[k - 1, k + 1]],
                    options={"xatol": self.tiny}).x)
                if (value(top, int(rows[row])) > 0) != (g[row, k] > 0):
                    places += [(row, float(times[k - 1]), top), (row, top, float(times[k + 1]))]
            for row, low, high in places:
                at = brentq(value, low, high, args=(int(rows[row]),), rtol=8.9e-16,
                            xtol=4e-16 * max(abs(low), abs(high)))
                near = known[np.searchsorted(known, at - 1e3 * self.tiny):][:1]
                if not len(near) or near[0] > at + 1e3 * self.tiny:  # no breakpoint announces it
                    found.append(float(at))
        return [t for t in found if t_start < t < t_end - 4 * self.tiny]

    def stepped_onto(self, t: float) -> np.ndarray:
        """Relations that need not be searched for up to ``t``."""
        if not self.curved.any():
            return self.timed
        k = int(np.searchsorted(self.times, t - 4 * self.tiny))
        if t >= self.t_end - 4 * self.tiny or (
            k < len(self.times) and self.times[k] <= t + 4 * self.tiny
        ):
            return self.timed
        return self.timed & ~self.curved

    def constant(self, f: int, sx: Any) -> np.ndarray:
        """What an expression of parameters comes to, for all instances of a family."""
        kept = self.system.cache.setdefault("constants", {})
        if (f, id(sx)) not in kept:  # kept with the expression, whose identity is the key
            row = self.system.tape.writer.kernel_row(f, sx)
            kept[f, id(sx)] = Evaluator(ca.Function(
                "constant", [self.system.tape.p], [ca.densify(row)])), sx
        return kept[f, id(sx)][0](self.p)

    def after(self, t: float) -> float:
        k = int(np.searchsorted(self.times, t + self.tiny, side="right"))
        return float(self.times[k]) if k < len(self.times) else self.t_end

    def at(self, t: float) -> np.ndarray:
        return np.array(self.which.get(t, []), dtype=int)

    def right_limits(self, t: float) -> np.ndarray:
        """Relations of time alone just after ``t``."""
        out = np.zeros(len(self.timed))
        if self.timed_function is not None:
            later = np.array(self.timed_function(t + 4 * self.tiny, self.p)).ravel()
            out[self.timed_index] = later > 0
        return out

    def describe(self, relation: int, holds: bool) -> tuple[str, str]:
        """(component, what happened) of a relation that switched."""
        family, instance, sx = self._find(relation)
        return family.path(instance), crossing(sx, holds, family.kernel.parameter_hashes)

    def condition(self, relation: int) -> str:
        """Component and text of a relation."""
        family, instance, sx = self._find(relation)
        return f"{family.path(instance)}: {readable(sx)} > 0"

    def _find(self, relation: int) -> tuple[Any, int, Any]:
        for f, r, offset in self.rows:
            family = self.system.network.families[f]
            if offset <= relation < offset + family.size:
                return family, relation - offset, family.kernel.relations[r][0]
        raise IndexError(relation)

    @cached_property
    def told(self) -> np.ndarray:
        """Relations whose switching is an event by itself.

        Not those of discrete values, which tell what an event has done already, nor those
        of ``when`` alone: what such a statement assigns is told where it acts.
        """
        told = np.ones(self.system.nm, dtype=bool)
        for f, r, offset in self.rows:
            family = self.system.network.families[f]
            kernel = family.kernel
            past = {i for i, *_ in kernel.delays}
            held = {kernel.symbols[i, 0].__hash__() for i in kernel.discrete if i not in past}
            free = {s.__hash__() for s in ca.symvar(kernel.relations[r][0])}
            mine = kernel.relation_symbols[r].__hash__()
            used = {s.__hash__() for sx in _laws_of(kernel) for s in ca.symvar(sx)}
            asked = {s.__hash__() for condition, _ in kernel.resets for s in ca.symvar(condition)}
            consequence = bool(free & held) and free <= held | kernel.parameter_hashes
            told[offset : offset + family.size] = not consequence and (
                mine in used or mine not in asked)
        return told


def _touches(g: np.ndarray) -> list[tuple[int, int]]:
    """Rows, and looks next to which they may reach zero without another sign at a look."""
    a, b, c = np.abs(g[:, :-2]), np.abs(g[:, 1:-1]), np.abs(g[:, 2:])
    same = ((g[:, 1:-1] > 0) == (g[:, :-2] > 0)) & ((g[:, 1:-1] > 0) == (g[:, 2:] > 0))
    low = same & (b <= a) & (b <= c) & (b < TOUCHES * (np.maximum(a, c) - b))
    return [(int(row), int(k) + 1) for row, k in zip(*np.nonzero(low), strict=True)]


def _refuse_too_many(path: str, period: float, count: float) -> None:
    """A period so short that the run would be nothing but its instants."""
    if count > MOST_INSTANTS:
        raise ParameterError(
            path, f"acts every {period:.4g} s, which is {count:.3g} times in the run; at most "
            f"{MOST_INSTANTS:,} such instants are carried out.",
            "Give it a longer period, or simulate a shorter time.", code="parameter.instants",
            period=period, count=count,
        )  # fmt: skip


def _laws_of(kernel: Any) -> Iterator[Any]:
    """All expressions of a kernel that act between events."""
    yield from (law.residual for law in kernel.laws)
    yield from kernel.observed.values()
    yield from (value for *_, pairs in kernel.samplings for _, value in pairs)
    yield from (sx for law in kernel.set_valued for sx in law.given)
    yield from (condition for condition, _ in kernel.requirements)
    yield from (value for _, value, *_ in kernel.delays)


def _jumps(sx: Any) -> bool:
    """Whether an expression has jumps, which its derivative does not show."""
    function = ca.Function("crossing", ca.symvar(sx), [sx])
    kinds = {function.instruction_id(k) for k in range(function.n_instructions())}
    return bool(kinds & JUMPS)


class Requirements:
    """Conditions that must hold throughout the run."""

    def __init__(self, system: System) -> None:
        rows, self.messages = [], []
        for f, family in enumerate(system.network.families):
            for condition, message in family.kernel.requirements:
                rows.append(system.tape.writer.kernel_row(f, condition).T)
                self.messages += [(family, i, message) for i in range(family.size)]
        self.values = system.function("required", ca.densify(ca.vertcat(*rows))) if rows else None

    def check(self, problem: Problem, t: float) -> None:
        """Raise for the first one that does not hold."""
        if self.values is None:
            return
        broken = np.flatnonzero(self.values(*problem.arguments(t)) < 0.5)
        if len(broken):
            family, instance, message = self.messages[int(broken[0])]
            path = family.path(instance)
            raise SimulationError(path, f"at t = {t:.9g} s {message}", code="simulation.required",
                                  time=t, variables=(path,))


class Resets:
    """State changes of ``when`` statements."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.items: list[tuple[int, Any, list[tuple[Any, Any]]]] = []
        flat, tape = system.flat, system.tape
        at = {int(c): k for k, c in enumerate(tape.reduced.states)}
        conditions, values = [], []
        self.targets: list[list[tuple[str, int, float]]] = []
        self.names: list[tuple[Any, int, list[int]]] = []
        for f, family in enumerate(system.network.families):
            for condition, pairs in family.kernel.resets:
                row = tape.writer.kernel_row(f, condition)
                new = [tape.writer.kernel_row(f, value) for _, value in pairs]
                for instance in range(family.size):
                    conditions.append(row[0, instance])
                    targets = []
                    for (i, _), value in zip(pairs, new, strict=True):
                        values.append(value[0, instance])
                        targets.append(self._target(f, i, instance, at, flat))
                    self.targets.append(targets)
                    self.names.append((family, instance, [i for i, _ in pairs]))
        self.active = bool(conditions)
        if self.active:
            self.conditions = system.function("conditions", ca.vertcat(*conditions))
            self.values = system.function("assigned", ca.vertcat(*values))
        self.before = np.zeros(len(conditions))
        self.acted: list[tuple[str, str]] = []  # component and what it did, since `told`

    def told(self) -> list[tuple[str, str]]:
        """What has been done since the last call: component, and what its variables became."""
        acted, self.acted = self.acted, []
        return acted

    def _target(self, f: int, i: int, instance: int, at: dict[int, int], flat: Any
                ) -> tuple[str, int, float]:
        local = flat.network.families[f].kernel.variables[i]
        if local.kind == "discrete":
            offset = next(o for g, j, o in self.system.tape.discrete_layout if (g, j) == (f, i))
            return "d", offset + instance, 1.0
        slot = flat.base[f][i, 0] + instance
        c = int(flat.class_of[slot])
        if c not in at:
            path = f"{flat.network.families[f].path(instance)}.{local.name}"
            raise SimulationError(
                path, "is assigned at an event, but it is not integrated in this network.",
                "Assign a Discrete variable, or a state such as the velocity of a mass.",
                time=0.0, variables=(path,),
            )  # fmt: skip
        return "x", at[c], float(flat.sign_of[slot])

    def remember(self, problem: Problem, t: float) -> None:
        if self.active:
            self.before = self.conditions(*problem.arguments(t))

    def apply(self, problem: Problem, t: float) -> bool:
        """Assign where a condition has just become true; True if anything changed."""
        if not self.active:
            return False
        now = self.conditions(*problem.arguments(t))
        rising = (now > 0.5) & (self.before <= 0.5)
        self.before = now
        if not rising.any():
            return False
        values = self.values(*problem.arguments(t))
        k = 0
        for fired, targets, (family, instance, variables) in zip(
            rising, self.targets, self.names, strict=True
        ):
            news = []
            for (kind, index, sign), i in zip(targets, variables, strict=True):
                if fired:
                    place = problem.d if kind == "d" else problem.x
                    if place[index] != sign * values[k]:
                        local = family.kernel.variables[i]
                        shown = from_si(float(values[k]), local.unit)
                        news.append(f"{local.name} becomes {shown.magnitude:.6g} "
                                    f"{local.unit.text}".rstrip())
                    place[index] = sign * values[k]
                k += 1
            if news:
                self.acted.append((family.path(instance), ", ".join(news)))
        return True


class Samples:
    """Assignments of ``every`` and ``initially`` statements at their instants.

    Values are evaluated anew until they agree with each other; a component's own
    discrete variables count with what they were before the instant.
    """

    def __init__(self, system: System, stops: Stops) -> None:
        self.system, self.stops = system, stops
        self.active = any(f.kernel.samplings for f in system.network.families)
        if not self.active:
            return
        start: list[float] = []
        period: list[float] = []
        owner: list[np.ndarray] = []
        target: list[np.ndarray] = []
        values: list[Any] = []
        offset_of = {(f, i): o for f, i, o in system.tape.discrete_layout}
        before = ca.SX.sym("before", system.nd)
        for f, family in enumerate(system.network.families):
            memory = {i: before[o : o + family.size].T for (g, i), o in offset_of.items() if g == f}
            every = np.arange(family.size)
            for first, step, pairs in family.kernel.samplings:
                items = len(start) + every
                start += self._instants(f, first)
                period += self._instants(f, step)
                for i, value in pairs:
                    values.append(system.tape.writer.kernel_row(f, value, memory=memory).T)
                    owner.append(items)
                    target.append(offset_of[f, i] + every)
        self.active = bool(values)
        self.start, self.period = np.array(start), np.array(period)
        if not self.active:
            return
        self.owner, self.target = np.concatenate(owner), np.concatenate(target)
        self.values = Evaluator(ca.Function(
            "sampled", [*system.arguments, before], [ca.vertcat(*values)]))
        self.last = np.full(len(start), -np.inf)  # number of the last sample taken
        self.due = np.zeros(len(start), dtype=bool)
        self.before = np.zeros(system.nd)
        bad = np.flatnonzero(~(self.period > 0) & np.isfinite(self.start))
        if len(bad):
            name = self._name(int(bad[0]))
            raise ParameterError(name, f"samples every {self.period[bad[0]]:g} s.",
                                 "The period of every() must be positive.")

    def _instants(self, f: int, sx: Any) -> list[float]:
        if sx is None:
            return [np.nan] * self.system.network.families[f].size
        return self.stops.constant(f, sx).tolist()

    def begin(self, t: float, first: bool = False) -> None:
        """Find who samples at ``t`` and remember the values before."""
        if not self.active:
            return
        with np.errstate(invalid="ignore"):
            k = np.round((t - self.start) / self.period)
            on_time = np.abs(self.start + k * self.period - t) <= self.stops.tiny
            self.due = on_time & (k >= 0) & (k > self.last)
        self.last[self.due] = k[self.due]
        if first:
            self.due |= np.isnan(self.start)
        self.fresh = True

    def apply(self, problem: Problem, t: float) -> bool:
        """Assign with the present values of everything else; True if anything changed."""
        if not self.active or not self.due.any():
            return False
        if self.fresh:
            self.before, self.fresh = problem.d.copy(), False
        new = problem.d.copy()
        mine = self.due[self.owner]
        new[self.target[mine]] = self.values(*problem.arguments(t), self.before)[mine]
        if np.array_equal(new, problem.d, equal_nan=True):
            return False
        problem.d[:] = new
        return True

    def restless(self, problem: Problem, t: float) -> list[str]:
        """Names of the samplers whose values do not settle."""
        if not self.active:
            return []
        old = problem.d.copy()
        self.apply(problem, t)
        moving = np.flatnonzero(np.isin(self.target, np.flatnonzero(problem.d != old)))
        return [self._name(int(i)) for i in self.owner[moving][:3]]

    def _name(self, item: int) -> str:
        for family in self.system.network.families:
            count = len(family.kernel.samplings) * family.size
            if item < count:
                return family.path(item % family.size)
            item -= count
        raise IndexError(item)
