"""How do states and discrete values jump at an event, and small changes of them with these?

Impacts turn one flow round, ``when`` statements assign states, samples discrete values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np
from scipy.sparse import csr_matrix

from ...exceptions import BlocksError
from ...nonsmooth.modes.law_expressions import expressions_of
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.instants import same_instants
from ...numerics.sparse_solves import inverse_by_parts
from ...simulation.actions import Resets, Samplings
from ...simulation.recording import RunRecording
from ...simulation.run_start import given_discrete_values
from ...simulation.time_events import TimeEvents
from ...system.evaluator import Evaluator
from ...system.failure import AlgebraicFailure
from ...system.points import Points
from ...system.problem import Problem
from .equations import Derivatives, SensitivityEquations
from .start_derivatives import StartDerivatives

__all__ = ["NEAR", "Changes", "Jumps"]

MOST_ROUNDS = 20  # of ``when`` statements that act on each other
NEAR = 1e-6  # of a value, within which it is the one of the run
SAME = 1e-9  # of a value: what a sample changes by less is as it was


@dataclass
class Changes:
    """Small changes per parameter: of states and of discrete values."""

    x: Array
    d: Array


class Jumps:
    """What jumps at the events of a run.

    ``dp`` is the change of the parameter vector per parameter.
    """

    def __init__(self, recording: RunRecording, equations: SensitivityEquations, dp: Array) -> None:
        self.recording, self.equations, self.dp = recording, equations, dp
        self.system, episodes = recording.system, recording.episodes
        starts, ends = episodes.starts, episodes.ends
        self.start, self.end = float(starts[0]), float(ends[-1])
        self.times, self.notes = starts[1:], list[str]()  # of what is not differentiated
        self.resets = Resets.of(self.system)
        self.samplings = Samplings(self.system, TimeEvents(
            self.system, recording.p, self.start, self.end))
        # when discrete values are assigned
        self.samples = SampleInstants(self.samplings, equations, recording.p)
        self._flows: dict[tuple[int, ...], Derivatives] = {}
        self._check_sides()

    def _check_sides(self) -> None:
        count = len(self.times)
        which = np.repeat(np.arange(count + 1), 2)  # 0, 0, 1, 1, 2, …
        times = np.concatenate([[self.start], np.repeat(self.times, 2), [self.end]])
        before = 2 * np.arange(count) + 1
        both = self.recording.replay.whole(times, which)
        rates = both.values(self.system.slope).T
        looked_at = np.array([0, *before, 2 * count + 1])  # in all modes of the run
        guards = self.equations.guards(both.some(looked_at))
        # at the start, before and after each event in turn, and at the end
        self.points, self.sizes = both, np.abs(rates).max(axis=0)
        self.rates = rates[before], rates[before + 1]  # of the states before, and after
        self.guards, self.first_guards = guards.some(slice(1, -1)), guards.some([0])

    @property
    def first_flows(self) -> Derivatives:
        """Flows of all elements where the run starts."""
        first = self.points.some(np.zeros(1, dtype=int))
        return self.equations.rows("flows", lambda: expressions_of(self.system).flow, first)

    def before(self, *events: int) -> Points:
        """The points before events."""
        return self.points.some(2 * np.array(events, dtype=int) + 1)

    def after(self, *events: int) -> Points:
        """The points after them."""
        return self.points.some(2 * np.array(events, dtype=int) + 2)

    def held(self, episode: int, time: float, m: Array, modes: Indices, x: Array | None = None
             ) -> Problem | None:
        """The problem at a time of an episode as if other relations and modes held, maybe at other
        states; None where it has no solution."""
        problem = self.recording.replay.solved_at(episode, time)
        problem.m = m
        if x is not None:
            problem.x[:] = x
        if problem.laws is not None:
            problem.laws.modes = modes
        try:
            problem.update_anew(time)
        except (BlocksError, AlgebraicFailure):
            return None
        return problem

    @cached_property
    def impacts(self) -> Flags:
        """Elements of contacts struck at events, (events, elements)."""
        elements, count = self.equations.elements, len(self.times)
        impacts = np.zeros((count, elements.size), dtype=bool)
        if not elements.contact.any():
            return impacts
        gaps = np.abs(self.guards.value[:, self.system.nm + 2 * elements.size :])
        for k, owners in enumerate(self.recording.episodes.struck[1:]):
            for owner in owners:  # of two stops in one component, the one that is closed
                mine = np.flatnonzero([o == owner for o in elements.owners] & elements.contact)
                impacts[k, mine[np.argmin(gaps[k, mine])]] = True
        modes = self.recording.episodes.modes  # what comes to rest at a bound is struck, too
        return impacts | elements.contact & (modes[:-1] != 0) & (modes[1:] == 0)

    @property
    def may_jump(self) -> Flags:
        """Events at which states may jump."""
        if self.resets.active:
            return np.ones(len(self.times), dtype=bool)
        return np.asarray(self.impacts.any(axis=1))

    def apply(self, k: int, arrived: Changes, dt: Array, crossed: Indices) -> Changes:
        """Changes after the jump, at the moved instant; ``crossed`` are relations that cause it."""
        out = Changes(arrived.x.copy(), arrived.d.copy())
        if self.impacts[k].any():
            self._strike(k, out, dt)
        if self.resets.active:
            self._reset(k, arrived, out, dt, crossed)
        if self.samplings.active:
            out.d[:] = self._sample(k, out, dt)
        return out

    def _sample(self, k: int, changes: Changes, dt: Array) -> Array:
        """Changes of discrete values by what is sampled."""
        return np.asarray(self.assigned[k] @ np.concatenate([
            changes.x, self.dp, changes.d, dt[None]]))

    def _strike(self, k: int, out: Changes, dt: Array) -> None:
        """Impacts: states jump along one direction each, so that flows are turned round."""
        elements, which = self.equations.elements, np.flatnonzero(self.impacts[k])
        jump = self.points.x[:, 2 * k + 2] - self.points.x[:, 2 * k + 1]
        alike = np.flatnonzero((self.impacts == self.impacts[k]).all(axis=1))
        flow = self._flow(which, alike).some([int((alike < k).sum())])
        c, n, value = len(which), self.system.nx, flow.value[0]
        along, by = np.split(value[2 * c :].reshape(c, -1).T, [n])  # flows by impulses
        impulses = np.linalg.lstsq(along, jump)[0]
        left, before = by @ impulses + value[:c], np.abs(value[:c])
        holds = np.asarray(self.recording.episodes[k + 1].modes)[which] == 0
        rests = holds | (np.abs(left) <= SAME * before)
        sticky, idle = value[c : 2 * c] == 0, np.zeros(c, dtype=bool)
        if sticky.any():  # any more of it parts what nothing presses
            presses = self.equations.guards(self.after(k)).rows(
                self.system.nm + elements.size + which)
            idle = holds & (presses.value[0] <= SAME * np.abs(impulses))
            rests &= ~sticky | holds & ~idle
        bounce = np.where(rests, 0.0, value[c : 2 * c])
        dust = SAME * np.abs(self.points.x).max(axis=1)  # the last of many ever smaller impacts
        apart = np.abs(jump - along @ impulses) > dust + NEAR * np.abs(jump).max(initial=0.0)
        if apart.any() or c > 1 and np.any(
                np.abs(left + bounce * value[:c]) > NEAR * before.max() + SAME * np.abs(by) @ (
                    np.abs(impulses))):
            names = " and ".join(dict.fromkeys(elements.name(int(e)) for e in which))
            changed = flow.along(0, out.x, self.dp, out.d) + flow.t[0][:, None] * dt
            out.x[:, changed.any(axis=0)] = np.nan
            self.notes.append(f"t = {self.times[k]:.9g} s: {names} strikes, and others "
                              "with it; how their impulses change is not known.")
            return
        out.x += self.turned(flow, impulses, rests, (out.x, self.dp, out.d), dt)
        if idle.any() and presses.along(0, out.x, self.dp, out.d)[idle].any():
            names = " and ".join(dict.fromkeys(elements.name(int(e)) for e in which[idle]))
            self.notes.append(f"t = {self.times[k]:.9g} s: nothing presses {names} after its "
                              "impact: derivatives by what would press or lift it hold for one "
                              "side only.")

    def turned(self, flow: Derivatives, impulses: Array, rests: Flags,
               changes: tuple[Array, Array, Array], dt: Array) -> Array:
        """Changes of states by an impact that turns flows round, from those before: of states,
        parameters and discrete values, and of its instant."""
        c, n, value = len(rests), self.system.nx, flow.value[0]
        changed = flow.along(0, *changes) + np.multiply.outer(flow.t[0], dt)
        along, by = np.split(value[2 * c :].reshape(c, -1).T, [n])
        dalong, dby = np.split(changed[2 * c :].reshape(c, n + c, *changed.shape[1:]).swapaxes(
            0, 1), [n])
        bounce, dbounce = (np.where(rests, 0.0, of.T).T for of in (value[c : 2 * c],
                                                                   changed[c : 2 * c]))
        turned = ((1 + bounce) * changed[:c].T + (dbounce.T * value[:c])).T
        dimpulses = -np.linalg.lstsq(by, turned + np.einsum("ij...,j->i...", dby, impulses))[0]
        return np.asarray(along @ dimpulses + np.einsum("ij...,j->i...", dalong, impulses))

    def flow_at(self, which: tuple[int, ...], points: Points) -> Derivatives:
        """Flows of contacts, restitutions, and for each the direction of its push, and the flows
        this gives, at points."""
        def rows() -> ca.SX:
            elements, tape, mine = self.equations.elements, self.system.tape, list(which)
            laws = expressions_of(self.system)
            push = ca.jacobian(tape.slope, tape.u)[:, elements.column[mine].tolist()] @ ca.diag(
                elements.unit[mine])
            flows = laws.flow[mine]
            return ca.vertcat(flows, laws.restitution[mine], ca.vec(ca.densify(ca.vertcat(
                push, ca.mtimes(ca.jacobian(flows, tape.x), push)))))

        return self.equations.rows(f"flows {which}", rows, points)

    def _flow(self, which: Indices, events: Indices) -> Derivatives:
        """The same before all events at which these contacts are struck."""
        key = tuple(which.tolist())
        if key not in self._flows:
            self._flows[key] = self.flow_at(key, self.before(*events))
        return self._flows[key]

    def _reset(self, k: int, arrived: Changes, out: Changes, dt: Array, crossed: Indices) -> None:
        """State changes of ``when`` statements, in rounds: some act on what others assign."""
        resets, events = self.resets, self.samplings.time_events
        assert resets.conditions is not None and resets.values is not None
        held, after = self.before(k), self.after(k)
        point = replace(held, x=held.x.copy(), d=held.d.copy(), m=held.m.copy())
        point.m[crossed] = 1.0 - point.m[crossed]
        point.m[events.timed] = after.m[events.timed]
        changes, g = Changes(arrived.x.copy(), arrived.d.copy()), held.values(self.system.crossings)
        sampled = self.samplings.target[self._triggered[k][self.samplings.owner]]
        if len(sampled):  # samples come first
            point.d[sampled] = after.d[sampled]
            changes.d[sampled] = self._sample(k, arrived, dt)[sampled]
        if resets.previous is not None:
            noted = self.equations.rows("previous", resets.previous.function(
                *self.system.arguments), held)
            point.d[resets.noted, 0] = noted.value[0]
            changes.d[resets.noted] = out.d[resets.noted] = noted.along(
                0, arrived.x, self.dp, arrived.d) + noted.t[0][:, None] * dt
        acted = held.values(resets.conditions)[:, 0] > 0.5
        function = resets.values.function
        for _ in range(MOST_ROUNDS):
            g, last = point.values(self.system.crossings), g
            moved = np.abs(g - last) > 0  # by what has been assigned: others stay as they are
            point.m[moved] = np.where(events.relations.at_zero[:, None], g >= 0, g > 0)[moved]
            now = point.values(resets.conditions)[:, 0] > 0.5
            fired, acted = now & ~acted, now
            if not fired.any():
                break
            values = self.equations.rows("resets", function(*self.system.arguments), point)
            changed = values.along(0, changes.x, self.dp, changes.d) + values.t[0][:, None] * dt
            for row in np.flatnonzero(fired[resets.owner]).tolist():
                kind, index, sign = resets.places[row]
                getattr(point, kind)[index] = sign * values.value[0, row]
                for of in (changes, out):
                    getattr(of, kind)[index] = sign * changed[row]
        assigned = [[getattr(of, kind)[index, 0] for of in (point, after)]
                    for kind, index, _ in resets.places if kind != "d" or index not in sampled]
        if any(abs(a - b) > NEAR * (abs(a) + abs(b)) for a, b in assigned):
            self.notes.append(f"t = {self.times[k]:.9g} s: several when() act on each other; what "
                              "they assign is not differentiated.")

    @cached_property
    def _triggered(self) -> Flags:
        """Who takes a sample at events, (events, samplers)."""
        return self.samples.triggered(self.times)

    @cached_property
    def assigned(self) -> Array:
        """Discrete values after events by states, parameters, discrete values before, and time.

        Of shape (events, discrete values, …); empty where nothing is sampled.
        """
        count, nd, samplings = len(self.times), self.system.nd, self.samplings
        if samplings.values is None or not samplings.active:
            return np.zeros((count, 0, 0))
        triggered = self._triggered
        some = np.flatnonzero(triggered.any(axis=1))
        by = self._assigned(self.after(*some), self.points.d[:, 2 * some + 1], triggered[some])
        out = np.zeros((count, nd, by.shape[2]))
        out[:, :, -nd - 1 : -1] = np.eye(nd)
        out[some] = by
        return out

    def at_start(self, start: StartDerivatives) -> tuple[Changes, Flags]:
        """Changes where the run starts, after what is assigned there.

        And the parameters that move samples from there, where that is no small change: one that is
        taken later moves what follows, one that is taken earlier is left out.
        """
        if self.samplings.values is None:
            return Changes(start.x, start.d), np.zeros(self.dp.shape[1], dtype=bool)
        times, given = np.array([self.start]), given_discrete_values(self.system)
        triggered = self.samples.triggered(times)
        point = self.points.some(np.zeros(1, dtype=int))
        (by,) = self._assigned(point, given[:, None], triggered | np.isnan(self.samplings.start))
        dt = self.samples.moved(self.start, self.dp)
        target = self.samplings.target[triggered[0, self.samplings.owner]]
        before = point.d[:, 0].copy()
        before[target] = given[target]
        was, now = self._slopes(before) if dt.any() else np.zeros((2, self.system.nx))
        d = start.d
        if start.sampled:
            d = by @ np.concatenate([start.x, self.dp, start.d, 0 * dt[None]])
        d = d + (by[:, : self.system.nx] @ was + by[:, -1])[:, None] * dt
        jumps = bool(np.any(before != point.d[:, 0])) | np.any((d != start.d)[target], axis=0)
        return Changes(start.x + (was - now)[:, None] * dt, d), (dt != 0) & jumps

    def would_act(self, relation: int, episode: int) -> bool:
        """Whether a ``when`` would act where a relation changes within an episode."""
        here, conditions = self.points.some(np.array([2 * episode])), self.resets.conditions
        there = replace(here, m=here.m.copy())
        there.m[relation] = 1.0 - there.m[relation]
        return conditions is not None and bool(np.any(
            here.values(conditions) != there.values(conditions)))

    def bring_to_rest(self, changes: Changes, stuck: Flags) -> Array:
        """Let what sticks or touches where the run starts do so with changes, too: what they make
        slide comes to rest at once, and what they lift falls back, by impulses of the elements.
        Return how large the terms are of which changes of states have come to be sums."""
        elements, e, terms = self.equations.elements, np.flatnonzero(stuck), np.abs(changes.x)
        if not len(e):
            return terms
        tape, start, nx = self.system.tape, self.first_guards, self.system.nx
        first, closed = self.points.some(np.zeros(1, int)), elements.contact[e]
        moving = self.system.nm + 2 * elements.size + e
        by = self.equations.partial("pushes at rest", ca.vertcat(tape.slope, tape.residual), first)
        loops, push = np.split(np.arange(nx, by.shape[1]), [self.system.nz])
        pushed, loops = by[:, push[elements.column[e]]], by[:, loops]
        push = pushed[:nx] - loops[:nx] @ (inverse_by_parts(loops[nx:], SAME) @ pushed[nx:])
        rest = [(start, moving, push)]
        if closed.any():  # what was lifted falls back first
            ways = self.equations.slopes(first).x[0] @ push[:, closed]
            rest = [(start, moving[closed], csr_matrix(ways)), (self.first_flows, e, push)]
        for of, rows, by in rest:
            change = of.along(0, changes.x, self.dp, changes.d, rows)
            impulses = inverse_by_parts(csr_matrix(of.x[0][rows] @ by), SAME) @ change
            changes.x -= by @ impulses
            terms += abs(by) @ np.abs(impulses)
        return terms

    def _slopes(self, before: Array) -> tuple[Array, Array]:
        """Slopes at the start with discrete values as they were before, and as they are."""
        problem, found = self.recording.replay.at_start(), []
        for d in (before, problem.d.copy()):
            problem.d[:] = d
            problem.update_anew(self.start)
            found.append(self.system.slope(*problem.arguments(self.start)))
        return found[0], found[1]

    def moves_at_end(self) -> Flags:
        """The parameters that move samples from beyond the end into the run, and these change
        something."""
        dt = self.samples.moved(self.end, self.dp)
        if not dt.any():
            return dt != 0
        triggered = self.samples.triggered(np.array([self.end]))[0]
        point = self.points.some(np.array([-1]))
        values, mine = self._values(point, point.d), triggered[self.samplings.owner]
        found, known = values.value[0, mine], point.d[self.samplings.target[mine], 0]
        return (dt != 0) & bool(np.any(np.abs(found - known) > SAME * (abs(found) + abs(known))))

    def _values(self, after: Points, before: Array) -> Derivatives:
        """What samplers assign, where discrete values were others before."""
        system, memory = self.system, ca.SX.sym("memory", self.system.nd)
        assert self.samplings.values is not None
        function = self.samplings.values.function
        return self.equations.rows("samples", lambda: function(*system.arguments, memory), after,
                                   (memory, before))

    def _assigned(self, after: Points, before: Array, triggered: Flags) -> Array:
        """Discrete values after some events, as :attr:`assigned`."""
        system, samplings, by = self.system, self.samplings, self._values(after, before)
        given = np.concatenate([by.x, by.p, by.past, by.t[:, :, None]], axis=2)
        out = np.zeros((len(triggered), system.nd, given.shape[2]))
        out[:, :, -system.nd - 1 : -1] = np.eye(system.nd)
        event, assignment = np.nonzero(triggered[:, samplings.owner])
        target = samplings.target[assignment]
        out[event, target] = given[event, assignment]
        if not by.d.any():
            return out
        matrix = np.repeat(np.eye(system.nd)[None], len(triggered), axis=0)  # new values see others
        matrix[event, target] -= by.d[event, assignment]
        try:
            return np.asarray(np.linalg.solve(matrix, out))
        except np.linalg.LinAlgError:  # a value that is its own, as of a hold of itself
            return np.asarray(np.linalg.pinv(matrix) @ out)


class SampleInstants:
    """The instants of all samplers of a run, by the parameters.

    Samplers whose instants are and move the same count as one, and so do all that do not move.
    """

    def __init__(self, samplings: Samplings, equations: SensitivityEquations, p: Array) -> None:
        self.samplings, self.equations = samplings, equations
        first, step = self._by_parameters(p)
        moving = np.any(first != 0, axis=1) | np.any(step != 0, axis=1)
        known = np.column_stack([samplings.start, samplings.period, first, step])
        _, lead, self._group = np.unique(np.where(moving[:, None], known, 0.0), axis=0,
                                         return_index=True, return_inverse=True)
        self._lead, self._first, self._step = lead, first[lead], step[lead]

    def _by_parameters(self, p: Array) -> tuple[Array, Array]:
        """First instants and periods of all samplers by parameters, (samplers, parameters)."""
        system, entries = self.equations.system, self.equations.entries
        count = len(self.samplings.start)

        def made() -> Evaluator:
            rows = []
            for which in (0, 1):
                for f, *times in self.samplings.statements:
                    sx = times[which]
                    rows.append(ca.SX(system.network.families[f].size, 1) if sx is None
                                else system.tape.writer.kernel_row(f, sx).T)
            by = ca.jacobian(ca.vertcat(*rows), system.tape.p[entries.tolist()])
            return Evaluator(ca.Function("instants", [system.tape.p], [ca.densify(ca.vec(by))]))

        if not count:
            return np.zeros((0, len(entries))), np.zeros((0, len(entries)))
        function = system.once(f"instants of samples by {entries.tolist()}", made)
        out = function(p).reshape(2 * count, len(entries), order="F")
        return out[:count], out[count:]

    def triggered(self, times: Array) -> Flags:
        """Who takes a sample, (times, samplers)."""
        samplings = self.samplings
        number = self._numbers(times)
        with np.errstate(invalid="ignore"):
            away = np.abs(times[:, None] - samplings.start - number * samplings.period)
            near = 4 * same_instants(times[:, None], samplings.time_events.least)
            return np.asarray((away <= near) & (number >= 0))

    def _numbers(self, times: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.round((times[:, None] - self.samplings.start) / self.samplings.period)

    def guards(self, times: Array) -> tuple[Derivatives, Flags]:
        """The time since the samples at these times, and which are taken, (times, groups)."""
        triggered, count, system = self.triggered(times), len(times), self.equations.system
        taken = np.zeros((count, len(self._lead)), dtype=bool)
        for sampler, group in enumerate(self._group):
            taken[:, group] |= triggered[:, sampler]
        number = np.nan_to_num(self._numbers(times)[:, self._lead])
        moved = self._first + number[:, :, None] * self._step
        nothing = [np.zeros((*taken.shape, n)) for n in (system.nx, system.nd, 0)]
        return Derivatives(np.zeros(taken.shape), nothing[0], -moved, nothing[1],
                           np.ones(taken.shape), nothing[2]), taken

    def moved(self, time: float, dp: Array) -> Array:
        """How the samples at a time move, per parameter; the first of those that do."""
        guards, taken = self.guards(np.array([time]))
        dt = np.append(-guards.p[0][taken[0]] @ dp, np.zeros((1, dp.shape[1])), axis=0)
        return np.asarray(dt[(dt != 0).argmax(axis=0), np.arange(dp.shape[1])])

    def names(self, group: int, time: float) -> list[str]:
        """Components whose samples of a group are taken at a time."""
        triggered = self.triggered(np.array([time]))[0] & (self._group == group)
        return [self.samplings.name(int(k)) for k in np.flatnonzero(triggered)]
