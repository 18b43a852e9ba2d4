"""What is forced to jump at an event, though it can only change by degrees?

A capacitor on a voltage that steps, a mass on a velocity that steps, an inductor behind a current
that steps: index reduction lets them follow at once, and their differentiated constraint leaves
out the impulse that this would take. So they are looked at, and named.

Points of a continuous table are let pass: its straight lines stand for a course without kinks.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..diagnostics.words import quantity_word
from ..exceptions import SimulationError
from ..language.kernel import Kernel, Local
from ..numerics.arrays import Array, Flags
from ..numerics.copies import put_back
from ..numerics.tolerances import MODE_MISSED, SAME_AS_BEFORE
from ..system.problem import Problem
from ..system.system import System
from ..system.time_functions import relations_of_time
from ..units import from_si
from .time_events import TimeEvents

__all__ = ["ForcedJumps"]


@dataclass(frozen=True)
class _Watched:
    """A variable whose derivative counts, and that is no free state."""

    path: str  # of its component
    local: Local
    sign: int
    column: int  # its class
    stores: bool  # whether it is what an element remembers
    partner: str  # what an impulse is one of: "current" where it is a voltage; else empty
    held_by_force: bool  # whether it is a force or a current, and no velocity or voltage
    soft: str  # what would give way: "a resistor"


class ForcedJumps:
    """Variables that follow from constraints, and that relations or discrete values can move."""

    @classmethod
    def of(cls, system: System) -> ForcedJumps:
        """Return the forced jumps of a system, shared by its runs."""
        return system.once("forced jumps", lambda: cls(system))

    def __init__(self, system: System) -> None:
        self.system = system
        found = _followers(system)
        self.watched = [w for w, moved in zip(found, _movable(system, found), strict=True) if moved]
        columns = [w.column for w in self.watched]
        self.nominal = np.array([getattr(w.local.declared, "nominal", None) or 1.0
                                 for w in self.watched])  # fmt: skip
        self.values = system.function(
            "followers", ca.densify(system.tape.values[columns])) if columns else None
        tape, timed = system.tape, relations_of_time(system).timed
        others = np.delete(np.arange(tape.d.numel()), system.tables.slots).tolist()
        self._follow_time = bool(columns) and not ca.depends_on(tape.values[columns], ca.vertcat(
            tape.x, tape.z, tape.u, tape.m[np.flatnonzero(~timed).tolist()], tape.d[others]))

    def are_possible(self, problem: Problem, times: TimeEvents, t_end: float) -> bool:
        """Whether anything may jump up to ``t_end``, as far as is known beforehand.

        What follows time alone jumps at known instants or never.
        """
        if self.values is None or not self._follow_time or times.t_end < t_end and times.expected:
            return self.values is not None
        start, ahead = times.t_start, times.ahead(times.t_start, times.t_end, len(times.times) + 1)
        if not len(ahead.times):
            return False
        tables, count = self.system.tables, len(ahead.times)
        m = np.vstack([times.right_limits(start), ahead.holds]).T
        d = np.repeat(problem.d[:, None], count + 1, axis=1)
        d[tables.slots] = np.hstack([
            tables.rows(np.array([times.just_after(start)])), ahead.rows.T])
        passed = d[:, :-1].copy()
        passed[tables.continuous] = d[tables.continuous, 1:]
        before, after = (self.values.at_columns(
            ahead.times[None, :], problem.x, problem.z, problem.p, *held, problem.u)
            for held in ((m[:, :-1], passed), (m[:, 1:], d[:, 1:])))
        return bool(self._jumped(before.T, after.T).any())

    def _jumped(self, before: Array, after: Array) -> Flags:
        return np.abs(after - before) > (
            SAME_AS_BEFORE * self.nominal + MODE_MISSED * np.maximum(np.abs(before), np.abs(after)))

    def now(self, problem: Problem, t: float) -> Array:
        """Values of what is watched."""
        return np.zeros(0) if self.values is None else self.values(*problem.arguments(t))

    def refuse(self, problem: Problem, t: float, m: Array, d: Array, cause: str = "") -> None:
        """Raise where something has jumped, the states being equal.

        The problem is as it goes on, all solved, ``t`` the time of the event; ``m`` and ``d`` are
        relations and discrete values before it; ``cause`` is the component that switched; empty
        where none did.
        """
        if self.values is None:
            return
        after = self.now(problem, t)
        passed, points = d.copy(), self.system.tables.continuous
        passed[points] = problem.d[points]
        before = self._with(problem, t, m, passed)
        jumped = np.flatnonzero(self._jumped(before, after))
        if len(jumped):
            # what remembers is told of first: it is what gives no way
            which = min(jumped, key=lambda k: not self.watched[int(k)].stores)
            raise self._error(int(which), before, after, t, cause)

    def _with(self, problem: Problem, t: float, m: Array, d: Array) -> Array:
        """The values with the relations and discrete values that were."""
        try:
            with put_back(problem.x, problem.z, problem.u, problem.m, problem.d):
                problem.m[:], problem.d[:] = m, d
                if problem.algebraic:
                    problem.unknowns.forget()
                    problem.solve_algebraic(t)
                return self.now(problem, t)
        finally:
            problem.unknowns.forget()

    def _error(self, k: int, before: Array, after: Array, t: float, cause: str) -> SimulationError:
        it = self.watched[k]
        name = f"{it.path}.{it.local.name}"
        old, new = (from_si(float(it.sign * v[k]), it.local.unit).magnitude
                    for v in (before, after))
        others = self._others(it)
        shared = f" (or {' and '.join(others)} a part of it)" if others else ""
        giver, led = (self._driven(cause), "") if cause != it.path else ("", "")
        if giver != cause and giver:
            led = f", which {cause} drives,"
        text = (f"at t = {t:.9g} s {name}{shared} would have to"
                f"{f' follow {giver}{led} and' if giver else ''} jump from {old:.6g} to {new:.6g} "
                f"{it.local.unit}".rstrip()
                + (f", which takes an endless {it.partner}: nothing gives way." if it.partner else
                   ": its rate would be endless."))
        ramp = "prescribe a ramp instead of a step"
        if not it.stores:
            advice = f"{ramp[0].upper()}{ramp[1:]}, or a smooth table."
        elif it.held_by_force:
            advice = f"Put {it.soft} in parallel with {it.path}, or {ramp}."
        else:
            advice = (f"Put {it.soft} between {it.path} and {giver or 'what prescribes it'}, or "
                      f"{ramp}.")
        return SimulationError(it.path, text, advice, code="simulation.jump", time=t,
                               variables=(name,))

    def _driven(self, cause: str) -> str:
        """The component between nodes that a block's signals lead to; else the one given."""
        network = self.system.network
        places = {family.path(i): (f, i) for f, family in enumerate(network.families)
                  for i in range(family.size)} if cause else {}  # fmt: skip
        seen, todo = {cause}, [cause]
        while todo:
            path = todo.pop(0)
            f, i = places.get(path, (-1, 0))
            if f < 0 or network.families[f].kernel.ports:
                return path if f >= 0 else cause
            led = {int(network.node_of[network.port_numbers(f, v.name)][i])
                   for v in network.families[f].kernel.variables if v.kind == "output"}
            todo += [path for f, family in enumerate(network.families)  # with an input there
                     for v in family.kernel.variables if v.kind == "input"
                     for i in np.flatnonzero(np.isin(
                         network.node_of[network.port_numbers(f, v.name)], list(led))).tolist()
                     if (path := family.path(i)) not in seen]
            seen.update(todo)
        return cause

    def _others(self, it: _Watched) -> list[str]:
        """States in one loop or cut with it, by name."""
        system = self.system
        pattern = ca.jacobian_sparsity(system.tape.values[it.column], system.tape.x)
        named = (system.state_name(k) for k in dict.fromkeys(pattern.get_triplet()[1]))
        return list(named)[:2]


def _followers(system: System) -> list[_Watched]:
    """All variables whose rate acts on a network, and that are not integrated freely."""
    flat = system.flat
    integrated = np.zeros(flat.classes, dtype=bool)
    integrated[system.tape.reduced.states] = not system.clusters
    found: dict[int, _Watched] = {}
    for _, count, f, (k, order) in flat.slot_runs:
        family = flat.network.families[f]
        if order != 1 or not _acts(family.kernel, k):
            continue
        local = family.kernel.variables[k]
        stores = getattr(local.declared, "priority", "") == "high"
        slots = flat.base[f][k, 0] + np.arange(count)
        for i in np.flatnonzero(~integrated[flat.class_of[slots]]).tolist():
            c = int(flat.class_of[slots[i]])
            if c not in found or stores > found[c].stores:
                found[c] = _Watched(family.path(i), local, int(flat.sign_of[slots[i]]), c, stores,
                                    *_partner(family.kernel, local))
    return list(found.values())


def _acts(kernel: Kernel, k: int) -> bool:
    """Whether a component between nodes says more with a variable's rate than what it reads."""
    if kernel.variables[k].kind in ("input", "output") or not kernel.ports:
        return False
    beside = (kernel.variables[i].kind for law in kernel.laws if (k, 1) in law.arguments
              for i, _ in law.arguments if i != k)
    return any(kind not in ("input", "output", "discrete") for kind in beside)


def _partner(kernel: Kernel, local: Local) -> tuple[str, bool, str]:
    """What an impulse is one of, if known, whether the variable is counted through, what gives."""
    for domain, _ in kernel.ports.values():
        for (across, u), (through, w) in zip(domain.across.items(), domain.through.items(),
                                             strict=False):
            if u.dimension == local.unit.dimension:
                return quantity_word(through, w), False, domain.resistance
            if w.dimension == local.unit.dimension:
                return quantity_word(across, u), True, domain.resistance
    return "", False, "something that gives way"


def _movable(system: System, found: list[_Watched]) -> Flags:
    """Per variable, whether relations or discrete values move it at given free states."""
    tape = system.tape
    moving = np.ones(tape.d.numel(), dtype=bool)
    moving[system.tables.continuous] = False
    switched = ca.vertcat(tape.m, tape.d[np.flatnonzero(moving).tolist()])
    # what is solved for moves, too, where its equations look at what does
    z = tape.z if ca.depends_on(tape.residual, switched) else ca.SX(0, 1)
    x = tape.x if system.clusters and ca.depends_on(
        tape.constraints, ca.vertcat(switched, z)) else ca.SX(0, 1)
    if ca.depends_on(tape.residual, x):
        z = tape.z
    moved = ca.vertcat(switched, z, x)
    return np.array([ca.depends_on(tape.values[it.column], moved) for it in found], dtype=bool)
