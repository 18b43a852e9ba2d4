"""From a consistent start to the end time, event by event.

Advances a method step by step, locates zero crossings on its dense output,
switches relations to a fixpoint, applies state changes, steps onto known
discontinuity times and records. Knows no component by name except to say which
one chatters.
"""

from __future__ import annotations

import time as clock
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from .exceptions import ParameterError, SimulationError
from .expression import TIME
from .readable import readable
from .recording import Episode, RunRecording
from .results.recording import EventRecord
from .solvers import Method, Step, Trajectory
from .system import AlgebraicFailure, Evaluator, Problem, System

__all__ = ["Driver", "Settings"]

INTERIOR = np.array([0.25, 0.5, 0.75, 1.0])  # where a step is looked at for double crossings
MOST_ROUNDS = 50  # of the mode fixpoint at one instant
JUMPS = {ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_SIGN, ca.OP_LT, ca.OP_LE,
         ca.OP_EQ, ca.OP_NE}  # fmt: skip
LOOKS = 20_000  # times at which relations of time alone are looked at before the run
STANDSTILL = 1000  # episodes in a row that do not advance
CHATTER = 200  # events of one relation within a thousandth of the run


@dataclass(frozen=True)
class Settings:
    """How a run is made; all in SI units."""

    t_start: float
    t_end: float
    method: type[Method]
    rtol: float
    atol: np.ndarray  # per scaled unknown, made for the present choice of states by `tolerances`
    max_step: float
    first_step: float | None
    step: float | None
    why: str = ""


class Driver:
    """Runs one problem and fills a recording."""

    def __init__(self, system: System, problem: Problem, recording: RunRecording,
                 settings: Settings, tolerances: Callable[[Problem], np.ndarray],
                 progress: Callable[[float], None] | None = None) -> None:
        self.system, self.problem, self.recording = system, problem, recording
        self.settings, self.tolerances, self.progress = settings, tolerances, progress
        self.stops = _Stops(system, problem.p, settings.t_start, settings.t_end)
        self.resets = _Resets(system)
        self.requirements = _Requirements(system)
        self.samples = _Samples(system, self.stops)
        self.standing = 0
        self.struck: tuple[tuple[int, int], ...] = ()
        self.watched = bool(system.nm or problem.laws is not None)
        self.recent: list[tuple[float, str]] = []
        self.work: dict[str, int] = {}
        self.seen: list[tuple[float, np.ndarray]] = []  # the last look at the margins

    # -- the loop ------------------------------------------------------------------------
    def run(self) -> None:
        """Integrate to the end; the recording always holds what was computed."""
        started = clock.perf_counter()
        t = self.settings.t_start
        try:
            self._switch_initially(t)
            if self.problem.laws is not None:
                self.problem.laws.start(self.problem, t)
                self._switch_initially(t)  # relations may look at the sticking efforts
            self._require(t)
            self.problem.choose_states(t)
            while t < self.settings.t_end:
                before, t = t, self._episode(t)
                self._refuse_standstill(before, t)
            if not self.recording.episodes:
                self._open(t)
        except AlgebraicFailure as failure:  # at an event
            self.problem.failure = failure
            self._fail(Step.failed(failure.t, self.problem.start_vector(), str(failure)))
        except KeyboardInterrupt:
            self.recording.status = "interrupted"
            self.recording.message = f"interrupted at t = {self._reached():.6g} s"
        finally:
            self.recording.statistics.update(self.work)
            self.recording.statistics["events"] = len(self.recording.events)
            self.recording.statistics["time integrating"] = clock.perf_counter() - started

    def _refuse_standstill(self, before: float, t: float) -> None:
        """Episode after episode without progress in time is a fault of ours; do not go on for ever."""
        moved = t - before > 1e-12 * (self.settings.t_end - self.settings.t_start)
        self.standing = 0 if moved else self.standing + 1
        if self.standing > STANDSTILL:
            self.recording.status, self.recording.message = "failed", "no progress in time"
            names = list(dict.fromkeys(e.component for e in self.recording.events[-20:]))
            raise SimulationError(
                "", f"the run makes no progress at t = {t:.12g} s: {STANDSTILL} events in a row "
                f"at one instant{', the last of ' + ', '.join(names) if names else ''}.",
                "A condition that switches the quantity it looks at needs a hysteresis.",
                time=t, variables=tuple(names),
            )  # fmt: skip

    def _reached(self) -> float:
        return self.recording.episodes[-1].end if self.recording.episodes else self.settings.t_start

    def _open(self, t: float) -> tuple[Method | None, Trajectory]:
        problem = self.problem
        y = problem.start_vector()
        trajectory = Trajectory(t, y, order=self.settings.method.order)
        self.recording.episodes.append(Episode(
            trajectory, problem.m.copy(), problem.d.copy(), problem.tied.copy(),
            problem.x.copy(), problem.z.copy(),
            None if problem.laws is None else problem.laws.modes.copy(), self.struck,
        ))  # fmt: skip
        self.struck = ()
        return None, trajectory

    def _episode(self, t: float) -> float:
        """Integrate until the next event; returns the time reached."""
        s, problem = self.settings, self.problem
        _, trajectory = self._open(t)
        y = problem.start_vector()
        if problem.size == 0:
            method: Any = Quasistatic(problem, t, y, t_end=s.t_end, max_step=s.max_step)
        else:
            method = s.method(
                problem, t, y, t_end=s.t_end, rtol=s.rtol, atol=self.tolerances(problem),
                first_step=s.first_step, max_step=s.max_step, step=s.step,
            )  # fmt: skip
        stop = self.stops.after(t)
        method_steps_over = problem.laws is not None and getattr(method, "steps_over_events", False)
        modes = problem.laws.modes.copy() if method_steps_over else None
        self.seen = []
        try:
            while t < stop:
                step = method.advance(stop)
                if step.failure:
                    self._fail(step)
                if method_steps_over:
                    trajectory.append(step)
                    t = step.t
                    if not np.array_equal(problem.laws.modes, modes):
                        self._enter(t, step.y)
                        self._note_modes(t, problem.laws.changes(modes))
                        return t
                    continue
                found = self._first_crossing(step) if self.watched else None
                if found is not None:
                    at, which = found
                    trajectory.append(step, until=at)
                    self._enter(at, trajectory(at, side="left"))
                    self._switch(at, which)
                    return at
                trajectory.append(step)
                t = step.t
                if self.progress is not None:
                    self.progress(t)
                if self.system.clusters and self._worth_reselecting(t, step.y):
                    return t
        finally:
            self._count(method)
        self._enter(t, trajectory(t, side="left"))
        if t < s.t_end:
            self._switch(t, self.stops.at(t))
        return t

    def _count(self, method: Any) -> None:
        for name in ("steps", "rejected", "residuals", "jacobians", "factorizations"):
            self.work[name] = self.work.get(name, 0) + getattr(method.work, name)

    def _enter(self, t: float, y: np.ndarray) -> None:
        """Make the problem's point the given one."""
        self.problem.solve(t, np.asarray(y))

    def _worth_reselecting(self, t: float, y: np.ndarray) -> bool:
        self._enter(t, y)
        return self.problem.choose_states(t)

    def _fail(self, step: Step) -> None:
        problem, system = self.problem, self.system
        names: list[str] = [problem.name_of(i) for i in step.worst[:3]]
        reason = step.failure
        if problem.failure is not None:
            names = list(problem.failure.worst)
            reason = str(problem.failure)
        if not names:
            names = self._suspects(step)
        self.recording.status = "failed"
        self.recording.message = reason
        owners = ", ".join(dict.fromkeys(n.rpartition(".")[0].removeprefix("der(") for n in names))
        raise SimulationError(
            "",
            f"the run stopped at t = {step.t:.9g} s: {reason.rstrip('.')}. "
            f"Unsolved: {', '.join(names)} (of {owners}).",
            "Everything before is in error.result. Look for a value that grows without bound "
            "there; a smaller max_step, a looser rtol or nominal values that fit may help.",
            time=step.t, variables=tuple(names), system=system.network.root._name,
        ) from step.cause  # fmt: skip

    def _suspects(self, step: Step) -> list[str]:
        slope = np.abs(self.problem.slope(step.t, step.y))
        order = np.argsort(-np.nan_to_num(slope, nan=np.inf, posinf=np.inf))
        return [self.problem.name_of(int(i)) for i in order[:3]]

    # -- crossings -----------------------------------------------------------------------
    def _violated(self, t: float, y: np.ndarray) -> np.ndarray:
        """Margins of the held relations: negative where one no longer holds as assumed."""
        g = self.problem.crossings(t, y)
        margin = np.where(self.problem.m > 0.5, g, -g)
        margin[self.stops.stepped_onto(t)] = 1.0  # known instants are not searched for
        if self.problem.laws is not None:
            margin = np.concatenate([margin, self.problem.laws.margins(self.problem, t)])
        return margin

    def _first_crossing(self, step: Step) -> tuple[float, np.ndarray] | None:
        before = step.t_old
        seen = [p for p in self.seen if p[0] == step.t_old]  # times and margins, oldest first
        for fraction in INTERIOR:
            t = step.t_old + fraction * (step.t - step.t_old)
            y = step.y if fraction == 1.0 else step.dense(t)
            margin = self._violated(t, y)
            if np.any(margin < 0):
                return self._crossing_between(step, before, t, margin)
            seen.append((t, margin))
            before = t
        for left, middle, right in zip(seen, seen[1:], seen[2:], strict=False):
            for t in _dips(left, middle, right, self.system.nm):
                margin = self._violated(t, step.dense(t))
                if np.any(margin < 0):
                    return self._crossing_between(step, left[0], t, margin)
        self.seen = seen[-1:]
        return None

    def _crossing_between(self, step: Step, low: float, high: float, margin: np.ndarray
                          ) -> tuple[float, np.ndarray]:
        """The first crossing of the relations that are violated at ``high``."""
        wrong = np.flatnonzero(margin < 0)
        at = self._locate(step, low, high, wrong)
        close = self._violated(at, step.dense(at))
        size = np.abs(margin) + 1e-300
        which = wrong[close[wrong] <= 1e-6 * size[wrong]]
        if not len(which):
            which = wrong[[int(np.argmin(close[wrong] / size[wrong]))]]
        return at, which

    def _locate(self, step: Step, low: float, high: float, wrong: np.ndarray) -> float:
        def margin(t: float) -> float:
            return float(np.min(self._violated(t, step.dense(t))[wrong]))

        ends = {low: margin(low), high: margin(high)}  # another evaluation may round otherwise
        if ends[high] >= 0:
            return high
        at = low
        if ends[low] > 0:
            from scipy.optimize import brentq

            at = brentq(lambda t: ends[t] if t in ends else margin(t), low, high,
                        xtol=4e-16 * max(abs(low), abs(high)), rtol=8.9e-16)
        # go to the far side of the crossing, so that rounding cannot undo the switch
        nudge = np.spacing(max(abs(low), abs(high)))
        while at < high and (at <= step.t_old or margin(at) >= 0):
            at, nudge = min(at + nudge, high), 2 * nudge
        return at

    # -- events --------------------------------------------------------------------------
    def _switch_initially(self, t: float) -> None:
        problem = self.problem
        if not self.system.nm and not self.samples.active:
            return
        self.samples.begin(t, first=True)
        problem.settle(t)
        for _ in range(MOST_ROUNDS):
            changed = self.samples.apply(problem, t)
            g = self.problem.crossings_here(t)
            new = self._holds(g, t)
            restless = np.flatnonzero(new != problem.m)
            if not len(restless) and not changed:
                self.resets.remember(problem, t)
                return
            problem.m[:] = new
        self._no_fixpoint(t, restless)

    def _holds(self, g: np.ndarray, t: float) -> np.ndarray:
        held = np.where(self.stops.at_zero, g >= 0, g > 0).astype(float)
        later = self.stops.right_limits(t)
        held[self.stops.timed] = later[self.stops.timed]
        return held

    def _switch(self, t: float, which: np.ndarray) -> None:
        """Flip relations at an event and iterate until all agree."""
        problem = self.problem
        touched, which = which[which >= self.system.nm] - self.system.nm, which[which < self.system.nm]
        before = problem.m.copy()
        timed = self.stops.timed
        if self.system.nm or self.samples.active:
            self.samples.begin(t)
            later = self.stops.right_limits(t)
            problem.m[timed] = later[timed]
            flips = which[~timed[which]]
            problem.m[flips] = 1.0 - problem.m[flips]
            g0 = problem.crossings_here(t)
            size = np.abs(g0) + 1e-300
            frozen = set(flips.tolist())
            acted = False
            for _ in range(MOST_ROUNDS):
                changed = self.samples.apply(problem, t)
                if changed:
                    problem.settle(t)
                if self.resets.apply(problem, t):
                    changed = True
                    frozen.clear()  # the state has moved: every relation is judged anew
                    problem.settle(t)
                g = problem.crossings_here(t)
                wrong = np.where(problem.m > 0.5, g, -g) < -1e-12 * size
                wrong |= (g == 0) & ((problem.m > 0.5) != self.stops.at_zero)  # discrete values
                wrong[timed] = False
                wrong[[i for i in frozen if abs(g[i]) <= 1e-9 * max(1e-9, abs(g0[i]))]] = False
                todo = np.flatnonzero(wrong)
                acted |= changed
                if not len(todo) and not changed:
                    break
                problem.m[todo] = 1.0 - problem.m[todo]
            else:
                self._no_fixpoint(t, todo)
            if len(flips) and not acted and np.array_equal(problem.m, before):
                self._no_fixpoint(t, flips)  # neither side of the crossing agrees with itself
        for r in which[problem.m[which] == before[which]]:  # switched, and back again at once
            self.recent.append((t, self.stops.describe(int(r), True)[0]))
        self._note(t, np.flatnonzero(problem.m != before))
        if problem.laws is not None:
            self._note_modes(t, problem.laws.decide(problem, t, touched))
        self._require(t)
        problem.failure = None
        problem.choose_states(t)

    def _require(self, t: float) -> None:
        try:
            self.requirements.check(self.problem, t)
        except SimulationError as error:
            self.recording.status, self.recording.message = "failed", str(error)
            if not self.recording.episodes:
                self._open(t)
            raise

    def _note(self, t: float, changed: np.ndarray) -> None:
        for r in changed:
            component, text = self.stops.describe(int(r), bool(self.problem.m[r] > 0.5))
            self._remember(t, component, text)
        self._refuse_chatter(t)

    def _note_modes(self, t: float, changes: list[Any]) -> None:
        laws = self.problem.laws
        self.struck = tuple(laws.owners[c.element] for c in changes if c.impact)
        for change in changes:
            self._remember(t, laws.name(change.element), laws.words(change))
        self._refuse_chatter(t)

    def _remember(self, t: float, component: str, text: str) -> None:
        self.recording.events.append(EventRecord(float(t), component, text))
        self.recent.append((t, component))

    def _refuse_chatter(self, t: float) -> None:
        window = 1e-3 * (self.settings.t_end - self.settings.t_start)
        while self.recent and self.recent[0][0] < t - window:
            self.recent.pop(0)
        if len(self.recent) > CHATTER:
            crowd = Counter(component for _, component in self.recent)
            component, n = crowd.most_common(1)[0]
            if n > CHATTER // 2:
                self._chatter(t, component, n, len(self.recent), self.recent[0][0])

    def _chatter(self, t: float, component: str, n: int, total: int, since: float) -> None:
        self.recording.status = "failed"
        self.recording.message = f"chattering of {component}"
        raise SimulationError(
            component,
            f"switches back and forth: {n:,} of {total:,} crossings between {since:.6g} s and "
            f"{t:.6g} s are its own.",
            "Give the condition a hysteresis, or state the law as dry friction or contact.",
            time=t, variables=(component,),
        )  # fmt: skip

    def _no_fixpoint(self, t: float, which: np.ndarray) -> None:
        names = [": ".join(self.stops.describe(int(r), True)) for r in which[:3]]
        names = names or self.samples.restless(self.problem, t)
        self.recording.status = "failed"
        self.recording.message = "relations without a fixpoint"
        raise SimulationError(
            "", f"at t = {t:.9g} s "
            + (f"the condition {names[0]} contradicts itself: the equations undo it wherever it "
               "holds." if len(names) == 1 else
               f"the conditions {', '.join(names)} contradict each other: each switches the other "
               f"within {MOST_ROUNDS} rounds."),
            "Give one of them a hysteresis or a Discrete variable to remember its state.",
            time=t, variables=tuple(names),
        )  # fmt: skip


def _dips(left: tuple[float, np.ndarray], middle: tuple[float, np.ndarray],
          right: tuple[float, np.ndarray], count: int) -> list[float]:
    """Times between three looks where a parabola through a margin comes near zero."""
    (t0, a), (t1, b), (t2, c) = left, middle, right
    a, b, c = a[:count], b[:count], c[:count]
    with np.errstate(all="ignore"):
        rise, last = (b - a) / (t1 - t0), (c - b) / (t2 - t1)
        bend = (last - rise) / (t2 - t0)
        at = (t0 + t1) / 2 - rise / (2 * bend)
        lowest = a + (at - t0) * rise + (at - t0) * (at - t1) * bend
        near = lowest < 0.25 * (np.maximum(np.maximum(a, b), c) - lowest)
        good = (bend > 0) & (at > t0) & (at < t2) & near & np.isfinite(at)
    return sorted(set(at[good].tolist()))


class Quasistatic:
    """A model without states: walks through time in equal parts."""

    def __init__(self, problem: Problem, t: float, y: np.ndarray, *, t_end: float, max_step: float
                 ) -> None:
        from .solvers import Work

        self.problem, self.t, self.y = problem, t, y
        self.h = min(max_step, (t_end - t) / 200) or np.inf
        self.work = Work()

    def advance(self, t_stop: float) -> Step:
        old, self.t = self.t, t_stop if self.t + 1.5 * self.h >= t_stop else self.t + self.h
        self.work.steps += 1
        try:
            self.problem.solve(self.t, self.y)
        except AlgebraicFailure as failure:
            self.problem.failure = failure
            return Step.failed(old, self.y, str(failure))
        return Step(old, self.t, self.y, lambda t: np.zeros((0, *np.shape(t))))


class _Stops:
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
                for a, step in zip(first, self.constant(f, period), strict=True):
                    if step > 0:
                        k0 = max(0, int(np.floor((t_start - a) / step)))
                        count = int(min((t_end - a) / step - k0 + 2, 2_000_000))
                        out.update((a + step * np.arange(k0, k0 + max(count, 0))).tolist())
        return [t for t in out if t_start < t < t_end]

    def _curved_instants(self, known: np.ndarray, t_start: float, t_end: float) -> list[float]:
        """Crossings of relations such as sin(w t) > 0, from a look at many times."""
        if not self.curved.any() or not t_end > t_start:
            return []
        from scipy.optimize import brentq

        rows = np.flatnonzero(self.curved[self.timed_index])
        function = self.timed_function

        def value(t: float, row: int) -> float:
            return float(function(t, self.p)[row])

        times = np.linspace(t_start, t_end, LOOKS + 1)
        g = np.array(function(times[None, :], self.p))[rows]
        found = []
        for row, k in zip(*np.nonzero((g[:, 1:] > 0) != (g[:, :-1] > 0)), strict=True):
            low, high = times[k], times[k + 1]

            at = brentq(value, low, high, args=(int(rows[row]),), rtol=8.9e-16,
                        xtol=4e-16 * max(abs(low), abs(high)))
            near = known[np.searchsorted(known, at - 1e3 * self.tiny):][:1]
            if not len(near) or near[0] > at + 1e3 * self.tiny:  # no breakpoint is announced there
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
        row = self.system.tape.writer.kernel_row(f, sx)
        function = ca.Function("constant", [TIME, self.system.tape.p], [row])
        return np.array(function(0.0, self.p)).ravel()

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
        """(component, text) of a relation that switched."""
        for f, r, offset in self.rows:
            family = self.system.network.families[f]
            if offset <= relation < offset + family.size:
                crossing, _ = family.kernel.relations[r]
                return family.path(relation - offset), (
                    f"{readable(crossing)} {'> 0' if holds else '<= 0'}")
        raise IndexError(relation)


def _jumps(sx: Any) -> bool:
    """Whether an expression has jumps, which its derivative does not show."""
    function = ca.Function("crossing", ca.symvar(sx), [sx])
    kinds = {function.instruction_id(k) for k in range(function.n_instructions())}
    return bool(kinds & JUMPS)


class _Requirements:
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
        broken = np.flatnonzero(self.values(*problem._arguments(t)) < 0.5)
        if len(broken):
            family, instance, message = self.messages[int(broken[0])]
            path = family.path(instance)
            raise SimulationError(path, f"at t = {t:.9g} s {message}", code="simulation.required",
                                  time=t, variables=(path,))


class _Resets:
    """State changes of ``when`` statements."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.items: list[tuple[int, Any, list[tuple[Any, Any]]]] = []
        flat, tape = system.flat, system.tape
        at = {int(c): k for k, c in enumerate(tape.reduced.states)}
        conditions, values = [], []
        self.targets: list[list[tuple[str, int, float]]] = []
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
        self.active = bool(conditions)
        if self.active:
            self.conditions = system.function("conditions", ca.vertcat(*conditions))
            self.values = system.function("assigned", ca.vertcat(*values))
        self.before = np.zeros(len(conditions))

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
            self.before = self.conditions(*problem._arguments(t))

    def apply(self, problem: Problem, t: float) -> bool:
        """Assign where a condition has just become true; True if anything changed."""
        if not self.active:
            return False
        now = self.conditions(*problem._arguments(t))
        rising = (now > 0.5) & (self.before <= 0.5)
        self.before = now
        if not rising.any():
            return False
        values = self.values(*problem._arguments(t))
        k = 0
        for fired, targets in zip(rising, self.targets, strict=True):
            for kind, index, sign in targets:
                if fired:
                    (problem.d if kind == "d" else problem.x)[index] = sign * values[k]
                k += 1
        return True


class _Samples:
    """Assignments of ``every`` and ``initially`` statements at their instants.

    Values are evaluated anew until they agree with each other; a component's own
    discrete variables count with what they were before the instant.
    """

    def __init__(self, system: System, stops: _Stops) -> None:
        self.system, self.stops = system, stops
        start, period, owner, target, values = [], [], [], [], []
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
        new[self.target[mine]] = self.values(*problem._arguments(t), self.before)[mine]
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
