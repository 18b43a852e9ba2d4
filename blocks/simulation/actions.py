"""What do components do at events: ``when``, ``every`` and ``initially``, ``require``?

Each class gathers one kind of statement of all components into functions of the whole system.
Knows no method and no recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..assembly.network import Family
from ..exceptions import BlocksError, ParameterError, SimulationError
from ..language.component import Component
from ..language.expression import TIME
from ..language.kernel import Local
from ..native.resets import ResetRules
from ..native.samples import Samplers
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.copies import shallow_copy
from ..system.evaluator import Arguments, Evaluator
from ..system.problem import Problem
from ..system.system import System
from ..units import from_si
from .time_events import TimeEvents

__all__ = ["EFFORTS", "EndOfRun", "Requirements", "RunEnds", "Resets", "Samplings"]


PARAMETERS, HELD, EFFORTS = 3, 4, 6  # arguments of a system's functions: also relations


class EndOfRun(str):
    """What a condition is called that ends a run where it is met, in place of a message."""


class RunEnds(ParameterError):
    """A run has come to where it shall end; a mistake where it has not begun to move."""

    @classmethod
    def at(cls, t: float, told: str) -> RunEnds:
        return cls("simulate(until=…)", f"is met at the start already: {told}.",
                   "Let the run start before it is, or look for the opposite.", time=t, told=told)


class Requirements:
    """Conditions that must hold throughout the run."""

    def __init__(self, system: System) -> None:
        self.system = system
        rows: list[ca.SX] = []
        self.messages: list[tuple[Family, int, str]] = []
        for f, family in enumerate(system.network.families):
            for condition, message in family.kernel.requirements:
                rows.append(system.tape.writer.kernel_row(f, condition).T)
                self.messages += [(family, i, message) for i in range(family.size)]
        self.values = system.function("required", ca.densify(ca.vertcat(*rows))) if rows else None

    @classmethod
    def of(cls, system: System) -> Requirements:
        """Return the requirements of a system, made once."""
        return system.once("requirements", lambda: cls(system))

    def broken(self, arguments: Arguments) -> tuple[str, str] | None:
        """The component of the first that does not hold, and what it says; None where all do."""
        if self.values is None:
            return None
        rows = np.flatnonzero(self.values(*arguments) < 0.5)
        if not len(rows):
            return None
        family, instance, message = self.messages[int(rows[0])]
        return family.path(instance), message

    def check(self, problem: Problem, t: float, fixed_step: bool = False) -> None:
        """Raise for the first one that does not hold.

        With steps of constant length, which no error shortens, these may be to blame.
        """
        broken = self.broken(problem.arguments(t))
        if broken is not None:
            path, message = broken
            if isinstance(message, EndOfRun):
                raise RunEnds.at(t, message)
            advice = ("If that cannot be, the steps are too long for what happens there: try "
                      "shorter ones, or method='auto'.") if fixed_step else ""
            raise SimulationError(path, f"at t = {t:.9g} s {message}", advice,
                                  code="simulation.required", time=t, variables=(path,))


class Resets:
    """State changes of ``when`` statements."""

    def __init__(self, system: System) -> None:
        self.system = system
        tape = system.tape
        some = any(family.kernel.resets for family in system.network.families)
        at = {int(c): k for k, c in enumerate(tape.reduced.states)} if some else {}
        conditions, values, before = [], [], list[ca.SX]()
        self.noted: list[int] = []  # discrete values that hold what something was before an event
        self.targets: list[list[tuple[str, int, float]]] = []
        self.owners: list[tuple[Family, int]] = []  # of conditions
        self.variables: list[Local] = []  # that are assigned
        for f, family in enumerate(system.network.families):
            for i, value in family.kernel.previous:
                before.append(tape.writer.kernel_row(f, value).T)
                self.noted += (tape.discrete_layout[f, i] + np.arange(family.size)).tolist()
            for condition, pairs in family.kernel.resets:
                row = tape.writer.kernel_row(f, condition)
                new = [tape.writer.kernel_row(f, value) for _, value in pairs]
                for instance in range(family.size):
                    conditions.append(row[0, instance])
                    targets = []
                    for (i, _), value in zip(pairs, new, strict=True):
                        values.append(value[0, instance])
                        targets.append(self._target(f, i, instance, at))
                    self.targets.append(targets)
                    self.owners.append((family, instance))
                    self.variables += [family.kernel.variables[i] for i, _ in pairs]
        self.active = bool(conditions)
        self.owner = np.repeat(np.arange(len(self.targets)), [len(t) for t in self.targets])
        self.places = [target for targets in self.targets for target in targets]
        self.conditions = self.values = self.previous = self.assigned = None
        if before:
            self.previous = system.function("previous", ca.densify(ca.vertcat(*before)))
        #: Conditions that follow efforts, or assign what does.
        self.late = np.zeros(len(conditions), dtype=bool)
        if self.active:
            self.conditions = system.function("conditions", ca.vertcat(*conditions))
            self.values = system.function("assigned", ca.vertcat(*values))
            both = ca.densify(ca.vertcat(*conditions, *values, *before))
            self.assigned = system.function("resets", both)
            late = _follow_efforts(both, system)
            own = np.bincount(self.owner, late[len(conditions) :][: len(values)],
                              len(conditions)) > 0
            self.late = late[: len(conditions)] | own
        self.before = np.zeros(len(conditions))  # each run has its own, and what follows

    @classmethod
    def of(cls, system: System) -> Resets:
        """Return the resets of a system for a run: what they are is found once."""
        made = system.once("resets", lambda: cls(system))
        if not made.active:
            return made
        new = shallow_copy(made)
        new.before = np.zeros_like(new.before)
        return new

    def relations(self) -> Flags | None:
        """The relations that conditions look at; None where they look at more than these."""
        if self.conditions is None:
            return np.zeros(self.system.nm, dtype=bool)
        function = self.conditions.function
        patterns = [function.jac_sparsity(0, k) for k in range(function.n_in())]
        if any(p.nnz() for k, p in enumerate(patterns) if k not in (PARAMETERS, HELD)):
            return None
        return np.bincount(np.repeat(np.arange(self.system.nm), np.diff(patterns[HELD].colind())),
                           minlength=self.system.nm) > 0

    def turning(self) -> tuple[Indices, Flags, Indices]:
        """Relations of states, time and held values that conditions look at, where these assign a
        state, and the condition that assigns one that the relation is of; -1 for none."""
        asked, tape = self.relations(), self.system.tape
        of_states, moved_by = np.zeros(self.system.nm, dtype=bool), np.full(self.system.nm, -1)
        if asked is None or self.conditions is None:
            return np.zeros(0, dtype=int), of_states, moved_by
        of = ca.jacobian_sparsity(tape.crossings, tape.x)
        for condition, relation in zip(
                *self.conditions.function.jac_sparsity(0, HELD).get_triplet(), strict=True):
            states = [k for kind, k, _ in self.targets[condition] if kind == "x"]
            of_states[relation] |= bool(states)
            if any(of.has_nz(relation, k) for k in states):
                moved_by[relation] = condition
        moves, solved = (np.array(ca.which_depends(tape.crossings, ca.vertcat(*of), 1, True),
                                  dtype=bool) for of in ((tape.x, TIME, tape.z), (tape.u,)))
        return np.flatnonzero(asked & moves & ~solved), of_states, moved_by

    def rules(self, efforts: bool = True) -> ResetRules | None:
        """What is assigned, if anything; of what follows ``efforts`` conditions wait, where these
        are known."""
        if self.assigned is None:
            return None
        nx, places = self.system.nx, self.places
        return ResetRules(
            self.before, self.late & efforts, self.owner,
            np.array([k if kind == "x" else nx + k for kind, k, _ in places], dtype=int),
            np.array([sign for *_, sign in places]), np.array(self.noted, dtype=int),
            self.assigned.function)

    def refuse_clashes(self, problem: Problem, t: float) -> None:
        """Raise where conditions that have just become true give one state two values."""
        if self.conditions is None or self.values is None:
            return
        given: dict[int, float] = {}
        rising = (self.conditions(*problem.arguments(t)) > 0.5) & (self.before <= 0.5)
        values = self.values(*problem.arguments(t))
        for k in np.flatnonzero(rising[self.owner]).tolist():
            (kind, index, sign), local = self.places[k], self.variables[k]
            if kind == "x" and (value := given.setdefault(
                    index, sign * float(values[k]))) != sign * values[k]:
                raise _two_values(f"{self.name(int(self.owner[k]))}.{local.name}", "when", t, *(
                    from_si(one, local.unit) for one in (sign * value, float(values[k]))))

    def _target(self, f: int, i: int, instance: int, at: dict[int, int]) -> tuple[str, int, float]:
        """What is assigned: "d" or "x", the place in it, and the sign of the variable there."""
        flat = self.system.flat
        local = flat.network.families[f].kernel.variables[i]
        if local.kind == "discrete":
            return "d", self.system.tape.discrete_layout[f, i] + instance, 1.0
        slot = flat.base[f][i, 0] + instance
        c = int(flat.class_of[slot])
        if c not in at:
            path = f"{flat.network.families[f].path(instance)}.{local.name}"
            raise SimulationError(
                path, "is assigned at an event, but it is not integrated in this network.",
                "Assign a Discrete variable, or a state such as the velocity of a mass.",
                time=0.0, variables=(path,))
        return "x", at[c], float(flat.sign_of[slot])

    def note(self, problem: Problem, t: float) -> None:
        """Keep what `before` is asked of, before anything happens at an event."""
        if self.previous is not None:
            problem.update_anew(t)
            problem.d[self.noted] = self.previous(*problem.arguments(t))

    def remember(self, problem: Problem, t: float) -> None:
        if self.conditions is not None:
            self.before[:] = self.conditions(*problem.arguments(t))

    def words(self, some: Indices, changed: Array, given: Array) -> list[tuple[str, str]]:
        """Components, and what their variables became.

        ``changed`` is in which rounds some assignments were another value; ``given`` that value, as
        it stands in its place.
        """
        told: dict[int, list[str]] = {}
        order = np.argsort(changed, kind="stable")
        for k, value in zip(some[order].tolist(), given[order].tolist(), strict=True):
            local = self.variables[k]
            shown = from_si(self.places[k][-1] * value, local.unit)
            told.setdefault(int(self.owner[k]), []).append(
                f"{local.name} becomes {shown.magnitude:.6g} {local.unit.text}".rstrip())
        return [(self.name(condition), ", ".join(news)) for condition, news in told.items()]

    def name(self, condition: int) -> str:
        """The component of a condition."""
        family, instance = self.owners[condition]
        return family.path(instance)


class _Sampled:
    """What the samplings of a system assign."""

    def __init__(self, system: System) -> None:
        self.system = system
        # family, first instant and period of each
        self.statements: list[tuple[int, ca.SX | None, ca.SX | None]] = []
        # by family, the number of its first sampler; a statement has one for each instance
        self.first: dict[int, int] = {}
        owner, target, values, count = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], [], 0
        offset_of = system.tape.discrete_layout
        before = ca.SX.sym("before", system.nd)
        for f, family in enumerate(system.network.families):
            if not family.kernel.samplings:
                continue
            memory = {i: before[o : o + family.size].T for i in family.kernel.discrete
                      for o in [offset_of[f, i]]}
            every = np.arange(family.size)
            self.first[f] = count
            for first, step, pairs in family.kernel.samplings:
                self.statements.append((f, first, step))
                for i, value in pairs:
                    values.append(system.tape.writer.kernel_row(f, value, memory=memory).T)
                    owner.append(count + every)
                    target.append(offset_of[f, i] + every)
                count += family.size
        # numbers of the samplers, and places among the discrete values
        self.owner, self.target = np.concatenate(owner), np.concatenate(target)
        order = np.argsort(self.target, kind="stable")
        same = np.flatnonzero(np.diff(self.target[order]) == 0)
        #: Of each assignment the one before of the same variable, negative if there is none.
        self.rival = np.full(len(order), -1)
        self.rival[order[same + 1]] = order[same]
        # what is assigned, a function of what there is and of what was before
        self.values = Evaluator(ca.Function("sampled", [*system.arguments, before], [
            ca.densify(ca.vertcat(*values))])) if values else None
        #: Assignments that follow efforts.
        self.late = _follow_efforts(ca.vertcat(*values), system)


def _sampled(system: System) -> _Sampled:
    return system.once("samplings", lambda: _Sampled(system))


class Samplings(_Sampled):
    """Assignments of ``every`` and ``initially`` statements at their instants.

    How values come to agree with each other is said by :mod:`blocks.native.samples`.
    """

    def __init__(self, system: System, time_events: TimeEvents) -> None:
        vars(self).update(vars(_sampled(system)))  # found once, the same for all runs of a system
        self.time_events = time_events
        self.start, self.period = (np.concatenate([np.zeros(0), *(
            self._instants(f, times[k]) for f, *times in self.statements)]) for k in range(2))
        self.active = self.values is not None
        self.in_python = PythonSamples(system, self.first)
        self.last = np.full(len(self.start), -np.inf)  # number of the last sample taken
        bad = np.flatnonzero(~(self.period > 0) & np.isfinite(self.start))
        if len(bad):
            name = self.name(int(bad[0]))
            raise ParameterError(name, f"samples every {self.period[bad[0]]:g} s.",
                                 "The period of every() must be positive.")

    @classmethod
    def of(cls, system: System, time_events: TimeEvents) -> Samplings:
        """Return the samplings of a system for a run; where nothing samples, one for all runs."""
        if _sampled(system).values is None:
            return system.once("no samplings", lambda: cls(system, time_events))
        return cls(system, time_events)

    def _instants(self, f: int, sx: ca.SX | None) -> Array:
        if sx is None:
            return np.full(self.system.network.families[f].size, np.nan)
        return self.time_events.constant(f, sx)

    def refuse_clashes(self, problem: Problem, t: float, due: Flags, before: Array) -> None:
        """Raise where two regular samplers of those ``due`` give one variable other values."""
        if self.values is None:
            return
        found = self.values(*problem.arguments(t), before)
        regular = (due & ~np.isnan(self.start))[self.owner]
        for k in np.flatnonzero(regular & (self.rival >= 0)).tolist():
            other = int(self.rival[k])
            while other >= 0 and not regular[other]:
                other = int(self.rival[other])
            if other >= 0 and found[other] != found[k]:
                place = int(self.target[k])
                *_, local = self.system.discrete_place(place)
                raise _two_values(self.system.discrete_name(place), "every", t, *(
                    from_si(float(found[j]), local.unit) for j in (other, k)))

    def rules(self, efforts: bool = True) -> Samplers | None:
        """What is assigned, if anything; what follows ``efforts`` waits, where these are known."""
        if self.values is None:
            return None
        return Samplers(self.start, self.period, self.last, self.late & efforts, self.owner,
                        self.target, self.rival, self.values.function, self.time_events.least,
                        self.in_python.assign if self.in_python else None)

    def unsettled(self, problem: Problem, t: float, due: Flags, before: Array, restless: Indices
                  ) -> list[str]:
        """Names of the samplers ``due`` whose values do not settle, or follow ``restless``
        relations."""
        if self.values is None:
            return []
        found, new = self.values(*problem.arguments(t), before), problem.d.copy()
        new[self.target[due[self.owner]]] = found[due[self.owner]]
        self.in_python.assign(t, due, before, new)
        follow = self.values.function.jac_sparsity(0, HELD)
        moving = np.isin(self.target, np.flatnonzero(problem.d != new))
        entries = np.array(follow.get_triplet(), dtype=int)
        moving[entries[0, np.isin(entries[1], restless)]] = True
        moving &= due[self.owner]
        return [self.name(int(i)) for i in self.owner[moving][:3]]

    def name(self, item: int) -> str:
        """The component of a sampler."""
        first, f = max((first, f) for f, first in self.first.items() if first <= item)
        family = self.system.network.families[f]
        return family.path((item - first) % family.size)


class PythonSamples:
    """Components that work out their Discrete variables themselves, see ``at_samples``.

    ``first_item`` is, of every family that samples, the number of its first sampler.
    """

    def __init__(self, system: System, first_item: Mapping[int, int]) -> None:
        self._callers: list[tuple[Component, int, str, int, dict[str, int]]] = []
        for f, item in first_item.items():
            family = system.network.families[f]
            own = {family.kernel.variables[i].name: system.tape.discrete_layout[f, i]
                   for i in family.kernel.discrete}
            for first, member in zip(family.firsts, family.members, strict=True):
                if type(member).at_samples is Component.at_samples:
                    continue
                for k in range(first, first + member.size):
                    places = {name: offset + k for name, offset in own.items()}
                    self._callers.append((member, k - first, family.path(k), item + k, places))
        #: What each was asked last, and has given: while that is the same, it is not asked anew.
        self._known: list[tuple[Any, dict[str, float]]] = [(None, {})] * len(self._callers)
        self._stopped: KeyboardInterrupt | None = None

    def __len__(self) -> int:
        return len(self._callers)

    def places(self, number: int) -> list[int]:
        """Where the discrete values of a component stand."""
        return list(self._callers[number][-1].values())

    def assign(self, t: float, due: Flags, before: Array, new: Array) -> None:
        """Write what the functions give over ``new``; ``before`` is what was before the instant.

        Ctrl-C that machine code could not pass on is raised when this is asked for anew.
        """
        if self._stopped:
            raise self._stopped
        for number, (component, k, path, item, places) in enumerate(self._callers):
            if not due[item]:
                continue
            asked = (t, k, {name: float(new[p]) for name, p in places.items()},
                     {name: float(before[p]) for name, p in places.items()})
            known, given = self._known[number]
            try:
                if asked != known:
                    given = component.at_samples(*asked)
            except BlocksError:
                raise
            except KeyboardInterrupt as stopped:
                self._stopped = stopped
                raise
            except Exception as error:  # of whatever kind: it is the user's function
                raise SimulationError(
                    path, f"at t = {t:.9g} s its function failed with {type(error).__name__}: "
                    f"{error}.", "The error above says where in the function.", time=t,
                    variables=(path,), code="simulation.function") from error  # fmt: skip
            for name, value in given.items():
                if not np.isfinite(value):
                    raise SimulationError(path, f"at t = {t:.9g} s its function gave {value} for "
                                          f"{name}.", "It has to give finite numbers.", time=t,
                                          variables=(f"{path}.{name}",),
                                          code="simulation.function")  # fmt: skip
                new[places[name]] = value
            self._known[number] = asked, given


def _two_values(path: str, statement: str, t: float, one: Any, other: Any) -> SimulationError:
    return SimulationError(
        path, f"is given two values at t = {t:.9g} s by two {statement}() statements: "
        f"{one:.6g~P} and {other:.6g~P}.",
        "Which of them is meant is open: let one statement assign it.",
        code="simulation.two_values", time=t, variables=(path,))


def _follow_efforts(expressions: ca.SX, system: System) -> Flags:
    """Which expressions follow set-valued efforts, at once or through loops."""
    solved = ca.vertcat(system.tape.u, system.tape.z)
    return np.array(ca.which_depends(expressions, solved, 1, True), dtype=bool)
