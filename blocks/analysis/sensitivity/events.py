"""What becomes of small changes at an event, whose instant moves as well?

With a guard ``g`` that is zero at the event and a jump ``x+ = R(x-)``, the instant moves by
``dt = -dg / (dg/dt)`` and changes of states become ``R' (dx- + f- dt) + dR - f+ dt``: the saltation
matrix [Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, ch. 7].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import casadi as ca
import numpy as np
from scipy.optimize import minimize_scalar

from ...language.expression import TIME
from ...nonsmooth.modes.law_expressions import expressions_of
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.rewriting import kinds, rewritten
from ...numerics.tolerances import TINY
from ...simulation.recording import RunRecording
from ...simulation.relations import Relations
from .equations import Derivatives, SensitivityEquations
from .in_turn import InTurn
from .instants import GRAZES, SQUARED, TOGETHER, Instants, relations_of_end
from .saltation import Changes, Jumps
from .start_derivatives import StartDerivatives

__all__ = ["Saltation"]

TOUCHED = 1e-9  # of its largest value, below which a guard is zero in any run
NEAR = 0.2  # of its neighbours, below which a least value is looked at
ROUNDS, NEARLY = 20, 1e-6  # of looking for a least value; to which part of the looks around it
WHOLE = 1e-6  # that what jumps may be away from a whole number at its event
SAME = 1e-6  # of the largest slopes of a run: what moves with an instant by less is none
SHORT = 1e-9  # step, in parts of the run
LOOKS, MOST_LOOKS = 8, 2000  # in every episode, at least; of very many episodes
HARD = 1e3  # times these, by all that states move: a bend as hard is a jump to any small change
NO_SPEED = "is touched without speed: derivatives hold for one side only."


class Saltation:
    """Carries small changes over the events of a run.

    ``dp`` is the change of the parameter vector per parameter.
    """

    def __init__(self, recording: RunRecording, equations: SensitivityEquations, dp: Array,
                 paths: list[str]) -> None:
        self.recording, self.equations, self.dp, self.paths = recording, equations, dp, paths
        self.system, episodes = recording.system, recording.episodes
        self.starts, self.ends = episodes.starts, episodes.ends
        self.span = float(self.ends[-1] - self.starts[0])
        self.times = self.starts[1:]  # of the events
        # change of every event's instant per parameter
        self.moved = np.zeros((len(self.times), dp.shape[1]))
        self._at_start: list[str] = []
        self._rtol = recording.accuracy[0] if recording.accuracy else 0.0
        self._told: list[tuple[float, str]] = []
        self.jumps = Jumps(recording, equations, dp)
        self.m, self.modes = episodes.m, episodes.modes[:, : equations.elements.size].astype(int)
        changed = self._changed()
        sampled, taken = self.jumps.samples.guards(self.times)
        read, self._readers = self.system.once(
            "floors in conditions", lambda: _floors_of_time(self.system.tape.crossings))
        floors = equations.rows("floors", read, self.jumps.before(*range(len(self.times))))
        floors = floors._replace(value=floors.value - np.round(floors.value))
        jump = changed[:, self._readers] & (np.abs(floors.value) <= WHOLE)
        self._sampled = changed.shape[1]  # first of the guards of samples,
        self._floored = self._sampled + taken.shape[1]  # and of floors
        # the guards of all events
        self.instants = Instants(self.jumps.guards.beside(sampled).beside(floors),
                                 self.jumps.rates[0],
                                 np.concatenate([changed, taken, jump], axis=1), self.span,
                                 self.jumps.first_guards.value[0], self._rtol)
        if equations.singular:
            # what share what they hold let go together, when the sum is too much: how they share
            # it, which nothing determines, does not count
            shared = self.instants.caused[:, : self._sampled]
            for k in np.flatnonzero(shared.sum(axis=1) > 1).tolist():
                caused = np.flatnonzero(shared[k])
                shares = self.equations.guards_by_shares(self.jumps.before(k))[caused]
                u, s, _ = np.linalg.svd(shares)
                rank = int(np.count_nonzero(s > 1e-9 * s.max(initial=0.0)))
                if len(caused) - rank == 1:
                    self.instants.join(k, caused, u[:, -1])
        for k in np.flatnonzero(self.instants.touched >= 0).tolist():
            time, mine = float(self.times[k]), self.instants.touched[[k]]
            if not self._change_nothing(k, mine) if mine[0] >= self.system.nm else (
                    self._may_act(k, mine) or self._counts(time, k, int(mine[0]))):
                self._told.append((time, f"{self._names(mine, time)} {NO_SPEED}"))

    def at_start(self, start: StartDerivatives) -> Changes:
        """Changes where the run starts; tells if that is at the end of a mode, or at a sample."""
        changes, moves = self.jumps.at_start(start)
        for p in np.flatnonzero(moves):
            self._at_start.append(
                "The run starts with a sample, which is left out where it is earlier: derivatives "
                f"by {self.paths[p]} hold where it is later.")
        self._check_relations(changes)
        self._check_modes(changes)
        return changes

    def _check_relations(self, changes: Changes) -> None:
        """Tell where the run starts at the edge of a condition that slopes or ``when`` look at."""
        guards, nm = self.jumps.first_guards, self.system.nm
        change = np.abs(guards.along(0, changes.x, self.dp, changes.d)[:nm])
        edge = guards.value[0, :nm] == 0
        for guard, p in zip(*np.nonzero((change > 0) & edge[:, None]), strict=True):
            if not self._is_smooth(float(self.starts[0]), 0, int(guard)):
                self._at_start.append(
                    f"The run starts just where {self._names(np.array([guard]), 0.0)} changes: "
                    f"derivatives by {self.paths[p]} hold for one side only.")

    def _check_modes(self, changes: Changes) -> None:
        """Tell where the run starts at the end of a mode: the next value decides otherwise."""
        elements, guards = self.equations.elements, self.jumps.first_guards
        stuck = self.modes[0] == 0
        free, touching = stuck & ~elements.contact, stuck & elements.contact & ~elements.valve
        low, high, moving = (slice(k * elements.size, (k + 1) * elements.size) for k in range(3))
        lifted = guards.along(0, changes.x, self.dp, changes.d)[self.system.nm :][moving]
        terms = (np.abs(guards.x[0]) @ self.jumps.bring_to_rest(changes, free | touching)
                 + np.abs(guards.p[0]) @ np.abs(self.dp)
                 + np.abs(guards.d[0]) @ np.abs(changes.d))[self.system.nm :]
        change = guards.along(0, changes.x, self.dp, changes.d)[self.system.nm :]
        change[-elements.size :][touching] = lifted[touching]
        change = np.where(np.abs(change) > SHORT * terms, change, 0.0)
        value = guards.value[0][self.system.nm :]
        moves = free | touching | (value[moving] == 0) & ~stuck & ~elements.contact
        leaves = np.where(moves[:, None], change[moving], 0.0)
        let_go = (np.abs(value[moving]) <= TOUCHED) & ~stuck & elements.contact & ~elements.valve
        if let_go.any():  # what leaves a stop from rest strikes it with a little speed
            flows = self.jumps.first_flows
            let_go &= np.abs(flows.value[0]) <= TOUCHED
            leaves[let_go] = flows.along(0, changes.x, self.dp, changes.d)[let_go]
        bound = np.abs(value[low] + value[high])
        bound[~np.isfinite(bound)] = 0.0  # of contacts and diodes
        for room in (low, high):
            full = stuck & (np.abs(value[room]) <= 1e-12 * bound)
            leaves = np.where(full[:, None], change[room], leaves)
        moved = np.where((free & ~elements.valve)[:, None], lifted, 0.0)
        held = np.where(self._hold_more(), moved.T, 0.0).T if moved.any() else moved
        for ends, why in ((leaves, "is at the end of its mode: a little more or less of"),
                          (held, "holds more than where it slides: a motion begun by a little of")):
            for e, p in zip(*np.nonzero(ends), strict=True):
                self._at_start.append(
                    f"At the start {elements.name(int(e))} {why} {self.paths[p]} ends it, so "
                    "derivatives by it hold for one side only.")

    def _hold_more(self) -> Flags:
        """Elements that hold at the start what would keep them sliding."""
        laws, first = expressions_of(self.system), self.jumps.points.some(np.zeros(1, dtype=int))
        beyond = ca.fmax(laws.effort - laws.forth, laws.back - laws.effort)
        more, effort = np.split(self.equations.rows(
            "kinetic", ca.vertcat(beyond, laws.effort), first).value[0], 2)
        return np.asarray(more > SAME * np.abs(effort))

    # -- one event -------------------------------------------------------------------------
    def apply(self, k: int, changes: Changes) -> Changes:
        """Changes after the k-th event, from those before."""
        before, after = self.jumps.rates
        dt = self.moved[k] = self._moved(int(self.instants.first[k]), k, changes)
        caused = np.flatnonzero(self.instants.caused[k])
        arrived = Changes(changes.x + before[k][:, None] * dt, changes.d)
        new = self.jumps.apply(k, arrived, dt, self._relations(caused))
        out = Changes(new.x - after[k][:, None] * dt, new.d)
        apart = np.zeros(len(dt), dtype=bool)
        for guard in caused[1:] if len(caused) > 1 else ():
            apart |= np.abs(self._moved(int(guard), k, changes) - self._moved(
                int(caused[0]), k, changes)) > 1e-6 * (1e-12 + np.abs(dt))
        if apart.any() and not self._change_nothing(k, caused):
            self._take_in_turn(k, caused, np.flatnonzero(apart), changes, out)
        return out

    def _take_in_turn(self, k: int, caused: Indices, apart: Indices, changes: Changes,
                      out: Changes) -> None:
        """What happens at once happens in turn with other values of some parameters."""
        time, in_turn = float(self.times[k]), InTurn(self.jumps, k, caused)
        assigned = self.jumps.resets.active or (caused >= self._sampled).any()
        one_sided = []
        for p in apart.tolist():
            sides = [np.full(len(out.x), np.nan) if assigned else side * in_turn.after(
                side * changes.x[:, p], side * self.dp[:, p], side * changes.d[:, p])
                for side in (1.0, -1.0)]
            out.x[:, p] = sides[0]
            out.d[:, p] *= np.nan if assigned else 1.0  # the order decides
            if not np.ptp(sides, axis=0).max() <= 1e-6 * np.abs(sides).max():
                one_sided.append(self.paths[p])
        if one_sided:
            lost = np.isnan(out.x[:, apart]).any()
            self._told.append((time, f"{self._names(caused, time)} happen at once, and in another "
                               f"order with other values: derivatives by {', '.join(one_sided)} "
                               f"{'are nan from there on' if lost else 'hold for one side only'}."))

    def _relations(self, guards: Indices) -> Indices:
        """The relations among guards, and those that read floors among them."""
        floors = guards[guards >= self._floored] - self._floored
        return np.union1d(guards[guards < self.system.nm], self._readers[floors])

    def _moved(self, guard: int, k: int, changes: Changes) -> Array:
        """How the instant of an event moves, with one guard."""
        if guard < 0:
            return np.zeros(self.dp.shape[1])
        x, p, d = self.instants.follow(k, guard)
        return np.asarray(x @ changes.x + p @ self.dp + d @ changes.d)

    def _changed(self) -> Flags:
        """Guards of what an event changes, (events, guards)."""
        switched = self.m[:-1] != self.m[1:]
        if self.jumps.resets.active:
            switched = switched | self._taken_back()
        moved = (self.modes[:-1] != self.modes[1:]) | self.jumps.impacts
        stuck = self.modes[:-1] == 0
        return np.concatenate([switched, moved & stuck, moved & stuck, moved & ~stuck], axis=1)

    def _taken_back(self) -> Flags:
        """Relations that cross at an event whose `when` takes them back at once: they are about to
        change before it, and no more after it."""
        side = np.where(self.m > 0.5, 1.0, -1.0)
        slopes, nm = self.jumps.rates, slice(self.system.nm)
        out = self._about_to_change(self.jumps.guards.rows(nm), slopes[0], side[:-1])
        out &= side[:-1] == side[1:]
        some = np.flatnonzero(out.any(axis=1))
        after = self.equations.guards(self.jumps.after(*some)).rows(nm)
        out[some] &= ~self._about_to_change(after, slopes[1][some], side[1:][some])
        return out

    def _about_to_change(self, guards: Derivatives, slope: Array, side: Array) -> Flags:
        """Which guards come from a side of zero, and leave it now."""
        away = -side * guards.in_time(slope)
        fast = away > GRAZES * np.fmax.reduce(np.abs(away), axis=0, initial=0.0)
        return np.asarray(fast & (np.abs(guards.value) <= TOGETHER * self.span * away))

    @property
    def notes(self) -> list[str]:
        """Where derivatives do not exist, or are those of one side; what comes again, once."""
        told: dict[str, list[float]] = {}
        for t, text in sorted(self._told):
            told.setdefault(text, []).append(t)
        return self._at_start + [
            f"t = {t:.9g} s{f', and {len(on)} more up to {on[-1]:.9g} s' if on else ''}: {text}"
            for text, (t, *on) in told.items()]

    def _names(self, guards: Indices, time: float) -> str:
        """What guards are about that are zero at a time."""
        names, nm = [], self.system.nm
        for guard in guards:
            if (floored := guard >= self._floored) or guard < nm:
                names.append("the condition " + Relations(self.system).condition(int(
                    self._readers[guard - self._floored] if floored else guard)))
            elif guard >= self._sampled:
                owners = self.jumps.samples.names(int(guard) - self._sampled, time)
                names.append("samples of " + ", ".join(owners))
            else:
                elements = self.equations.elements
                names.append(elements.name(int((guard - nm) % elements.size)))
        return " and ".join(dict.fromkeys(names))

    # -- between events --------------------------------------------------------------------
    def check_between(self, guards: Callable[[Array, Indices], Array]) -> None:
        """Tell where the run comes to the end of a mode and turns back."""
        def watched(t: Array, w: Indices) -> Array:
            return np.where(self._watched(w), guards(t, w), np.inf)

        for p in np.flatnonzero(self.jumps.moves_at_end()):
            self._told.append((float(self.ends[-1]), "a sample would be taken just where the run "
                               f"ends: derivatives by {self.paths[p]} hold where it is later."))
        if self.system.nm or self.equations.elements.size:
            times, which = self._sample_times()
            if not len(times):
                return
            before = max(self.ends[-1] - 1e3 * SHORT * self.span, times[-1])
            times = np.append(times, [before, self.ends[-1]])
            which = np.append(which, [len(self.ends) - 1] * 2)
            values = watched(times, which)
            inner = np.arange(len(times)) != len(times) - 2
            for t, guard, episode in touches(times[inner], which[inner], values[:, inner],
                                             watched, self._rtol):
                if self._counts(t, episode, guard):
                    self._told.append((t, f"{self._names(np.array([guard]), t)} {NO_SPEED}"))
            for guard in self._at_end(times, which, values):
                name = self._names(np.array([guard]), float(self.ends[-1]))
                self._told.append((float(self.ends[-1]), f"{name} changes just where the run "
                                   "ends: derivatives of what this moves hold for one side only."))

    def _at_end(self, times: Array, which: Indices, values: Array) -> Indices:
        """Guards that are crossed at the end of the run but for rounding, by the last looks."""
        last, end = len(self.ends) - 1, float(self.ends[-1])
        if last and end - self.starts[-1] <= SHORT * self.span:
            return np.flatnonzero(self.instants.caused[-1])
        first = int(np.searchsorted(which, last))
        values = np.abs(values[:, [first, -2, -1]])
        values = np.where(np.isfinite(values), values, 0.0)
        near = (end - times[-2]) * values[:, 2] <= SHORT * self.span * values[:, 1]
        near[relations_of_end(self.system)] = False  # the end moves with them
        return np.flatnonzero(near & (values[:, 1] > SHORT * values[:, 0]) & (values[:, 1] > 0))

    def _sample_times(self) -> tuple[Array, Indices]:
        """Times in all steps of the run, several where an episode has few, and their episodes."""
        table = self.recording.episodes.steps
        length = table.ends - table.starts
        long = length > SHORT * self.span  # others lie between two events at one instant
        start, length, which = table.starts[long], length[long], table.which[long]
        if not len(which):
            return start, which
        looks = max(3, min(LOOKS, MOST_LOOKS // len(self.starts)))
        parts = np.maximum(-(-looks // np.bincount(which)[which]),
                           1 + (2 * len(which) <= MOST_LOOKS))  # steps differ in length
        number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        times = np.repeat(start, parts) + np.repeat(length / parts, parts) * number
        return times, np.repeat(which, parts)

    def _watched(self, which: Indices) -> Flags:
        """Guards that end the modes held in episodes."""
        relations = np.ones((self.system.nm, len(which)), dtype=bool)
        relations[self.jumps.samplings.time_events.timed] = False
        stuck = self.modes[which].T == 0
        contact = self.equations.elements.contact[:, None]
        return np.concatenate([relations, stuck & ~contact, stuck, ~stuck])

    # -- what depends on guards ------------------------------------------------------------
    def _may_act(self, k: int, guards: Indices) -> bool:
        """Whether states may jump at the k-th event, or samples are taken."""
        jumps = self.jumps
        return bool(jumps.may_jump[k] or (guards >= self._sampled).any()
                    or jumps.samplings.active and jumps.samples.triggered(jumps.times[[k]]).any())

    def _change_nothing(self, k: int, guards: Indices) -> bool:
        """Whether nothing depends on when each of some guards is crossed at the k-th event."""
        before, after = (rates[k] for rates in self.jumps.rates)
        if self._may_act(k, guards) or not self._are_same(before, after):
            return False
        # set-valued laws give the same slopes on both sides however many of them change
        time = float(self.times[k])
        return all(self._are_same(before, self._slopes(time, k, int(guard)))
                   for guard in guards[guards < self.system.nm])

    def _is_smooth(self, time: float, episode: int, guard: int, bends: Array | float = 0.0) -> bool:
        """Whether nothing would depend on a guard that is zero in an episode, but what ``bends``
        say."""
        slopes, beyond = (self._slopes(time, episode, one) for one in (-1, guard))
        if self._is_diode(guard) and not np.isfinite(beyond).all():
            return True  # others keep it from conducting, or from opening: it takes no part
        acts = guard < self.system.nm and self.jumps.would_act(guard, episode)
        return not acts and self._are_same(slopes, beyond, bends)

    def _counts(self, time: float, episode: int, guard: int) -> bool:
        """Whether something depends on a guard that is touched without speed.

        Slopes that only bend there follow all small changes, unless they bend as hard as a stop.
        The place where it is touched is known to the root of what its least value is known to.
        """
        if guard >= self.system.nm:
            return not self._is_smooth(time, episode, guard)
        here = self.recording.replay.whole(np.array([time]), np.array([episode]))
        guards, reach = self.equations.guards(here), np.abs(self.jumps.points.x).max(axis=1)
        way, m = guards.x[0, guard], here.m.copy()
        beyond = TOUCHED * (np.abs(way) @ reach) * (1.0 - 2.0 * m[guard]) - guards.value[0, guard]
        m[guard] = 1.0 - m[guard]
        way = way * reach**2 / max(way**2 @ reach**2, TINY)
        there = replace(here, m=m, x=here.x + way[:, None] * beyond)
        one, other = (self.equations.slopes(at).x[0] for at in (here, there))
        bends = np.abs(one - other) @ reach
        known = np.sqrt(max(TOUCHED, self._rtol))
        return bool(np.any(bends > HARD * self.jumps.sizes)) or not self._is_smooth(
            time, episode, guard, known * bends)

    def _is_diode(self, guard: int) -> bool:
        of, nm = self.equations.elements, self.system.nm
        return guard >= nm and bool((of.valve & ~of.switch)[(guard - nm) % of.size])

    def _are_same(self, one: Array, other: Array, known: Array | float = 0.0) -> bool:
        size = np.maximum(self.jumps.sizes, np.abs(one))
        return bool(np.all(np.abs(one - other) <= np.maximum(SAME * size, known)))

    def _slopes(self, time: float, episode: int, guard: int) -> Array:
        """Slopes behind a guard, or before it if it is negative; nan where there are none."""
        m, modes = self.m[episode].copy(), self.modes[episode].copy()
        if 0 <= guard < self.system.nm:
            m[guard] = 1.0 - m[guard]
        elif guard >= 0:  # room to the upper and to the lower bound, and what moves
            bound, element = divmod(guard - self.system.nm, len(modes))
            of = self.equations.elements
            slides = not (of.contact[element] or of.valve[element])  # turned round it is told
            modes[element] = (1, -1, -modes[element] if slides else 0)[bound]
        problem = self.jumps.held(episode, time, m, modes)
        if problem is None:
            return np.full(self.system.nx, np.nan)
        return np.array(self.system.slope(*problem.arguments(time)))


def _floors_of_time(crossings: ca.SX) -> tuple[ca.SX, Indices]:
    """What floors of time in crossing functions are taken of, and whose these are."""
    taken, reader = [ca.SX(0, 1)], list[int]()

    def note(operation: int, operands: list[ca.SX]) -> None:
        if operation == ca.OP_FLOOR and ca.depends_on(operands[0], TIME):
            taken.append(operands[0])

    for row in range(crossings.numel() if _has_floors(crossings) else 0):
        if _has_floors(crossings[row]):
            rewritten(crossings[row], note)
            reader += [row] * (len(taken) - 1 - len(reader))
    return ca.vertcat(*taken), np.array(reader, dtype=int)


def _has_floors(sx: ca.SX) -> bool:
    return ca.OP_FLOOR in kinds(ca.Function("floors", ca.symvar(sx), [sx]))


def touches(times: Array, which: Indices, values: Array,
            guards: Callable[[Array, Indices], Array], rtol: float
            ) -> Iterator[tuple[float, int, int]]:
    """Instants at which a guard comes to zero and turns back, which one does, and the episode.

    ``times`` are ascending looks in the episodes ``which``, ``values`` the guards there, (guards,
    times), inf for those that are not watched; ``guards`` gives them at other times. They are known
    of their largest values to what errors of a run to ``rtol`` add up to: what is crossed so slowly
    that it might as well not be is touched, too.
    """
    value, touched = np.abs(values), max(TOUCHED, SQUARED**2 / 2 * rtol)
    if len(times) < 3 or not value.size:
        return
    largest = np.where(np.isfinite(value), value, 0.0).max(axis=1)
    beside = np.minimum(value[:, :-2], value[:, 2:])
    least = (which[:-2] == which[2:]) & (value[:, 1:-1] <= beside)
    with np.errstate(invalid="ignore"):
        bottom = value[:, 1:-1] - np.abs(value[:, 2:] - value[:, :-2])
        close = least & (bottom <= NEAR * np.maximum(beside, TOUCHED)) & (beside > 0)
    for g, k in zip(*np.nonzero(close & np.isfinite(beside)), strict=True):
        def size(t: float, g: int = g, episode: Indices = which[[k]]) -> float:
            return float(np.abs(guards(np.array([t]), episode))[g, 0])

        found = minimize_scalar(size, bounds=(times[k], times[k + 2]), method="bounded",
                                options={"maxiter": ROUNDS, "xatol": NEARLY * (
                                    times[k + 2] - times[k])})
        if found.fun <= touched * largest[g]:
            yield float(found.x), int(g), int(which[k])
