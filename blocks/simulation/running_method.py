"""Which method takes the next episode of a run, how far may it go, and when is it given up?"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import SimulationError, warn_user
from ..numerics.arrays import Array
from ..numerics.tolerances import LAST_DIGITS, TINY
from ..solvers import METHODS, Method, Step, Work
from ..system.problem import Problem
from ..system.time_functions import ACROSS
from .auto import SLOWER, Auto, fastest_rate, implicit_method
from .failures import refuse_corner, refuse_wiggling, tell_many_steps
from .method_choice import in_python, running_method
from .settings import Settings
from .time_events import TimeEvents
from .zero_crossings import ZeroCrossings

if TYPE_CHECKING:
    from ..native.own_events import EventRules

__all__ = ["RunningMethod"]

PARTS = 200  # of a run without states, one a step at least, but for fixed steps
GROWS = 1.5  # a step that takes up another one, against that
MOST_TRIED = 200  # steps of a trial that need not be long
FEW_STATES = 100  # whose rates are looked at in every new combination of modes and relations
ENDLESS = 1e9  # fastest rate times the time left: no explicit method gets through
SOME_EVENTS = 20  # decided in Python: fewer take no time that is worth a word
COUNTED = ("steps", "rejected", "residuals", "jacobians", "factorizations")


class RunningMethod:
    """The method of a run, made or restarted for every episode.

    ``tolerances`` are absolute ones of a problem's unknowns, for its present choice of states;
    ``time_events`` and ``crossings`` are what a method is told that looks for crossings itself,
    ``statistics`` those of the run's recording; ``rules`` are what a method may carry out itself at
    events.
    """

    def __init__(self, problem: Problem, settings: Settings,
                 tolerances: Callable[[Problem], Array], time_events: TimeEvents,
                 crossings: ZeroCrossings, statistics: dict[str, Any],
                 rules: Callable[[float], EventRules | None]) -> None:
        self.rules = rules
        self.problem, self.settings, self.tolerances = problem, settings, tolerances
        self.time_events, self.crossings, self.statistics = time_events, crossings, statistics
        kind, reason = running_method(settings.method, problem, settings.rtol)
        self.kind: Any = kind  # the class of the method
        if reason:
            statistics["method"] = kind.name
            statistics["why"] += f"; in Python, as {reason}"
        elif kind.looks_itself or kind is not settings.method:
            statistics["why"] += ", in machine code"
        #: To a method of another kind, where one that was not chosen by the user stops.
        self.may_replace = settings.may_switch and bool(problem.size)
        #: Likewise, where its steps are cheaper on the way.
        self.may_switch = self.may_replace and not settings.method.fixed_step
        self.current: Any = None  # the method of the present episode
        self.longest = settings.max_step if problem.size or settings.method.fixed_step else min(
            settings.max_step, (settings.t_end - settings.t_start) / PARTS)
        self.first_step = settings.first_step  # the step that the next episode begins with
        self.work: dict[str, int] = {}  # work: what all episodes have cost
        self.episodes = 0  # how many have begun
        self.driven = False  # whether a program drives the run step by step
        self._auto = Auto(settings.method, problem, settings.t_start)
        # whether an event ended the last trial of another kind, or its first step
        self.cut_short = self.cut_at_once = False
        self._begun: Any = None  # the class that the episode began with
        self._frees_signs = False
        self._seen: set[bytes] = set()  # modes and relations whose rates were looked at
        self._pace = Pace(settings.t_start, time_events)

    def begin(self, t: float, y: Array) -> Method:
        """The method for the episode from here on."""
        self._refuse_stiff_modes(t, y)
        if self._frees_signs:
            self.problem.m[self.time_events.relations.signs] = 1.0
        self.episodes += 1
        return self._started(t, y)

    def _started(self, t: float, y: Array) -> Method:
        """The method at a point, from where it finds again itself how long steps are."""
        self.current, self._begun = self._made_or_restarted(t, y), self.kind
        self.first_step = None
        method: Method = self.current
        return method

    def _made_or_restarted(self, t: float, y: Array) -> Any:
        s, problem, old = self.settings, self.problem, self.current
        kind = self.kind
        if not kind.fits(problem, t):
            kind = in_python(kind)
            self.work["stretches in Python"] = self.work.get("stretches in Python", 0) + 1
        if type(old) is kind and kind.looks_itself and np.array_equal(
                old.free, problem.free):  # made to be started again
            old.first_step, old.max_step = self.first_step, self.longest
            self._tell_relations(old, t)
            old.restart(t, y)
            return old
        self.rest()
        share = kind.beside_bends if (self.time_events.functions.steep
                                      or problem.system.state_tables.bend(problem.p)) else 1.0
        method = kind.for_run(
            problem, t, y, t_end=s.t_end, rtol=share * s.rtol,
            atol=share * self.tolerances(problem), first_step=self.first_step,
            max_step=self.longest, step=s.step,
        )  # fmt: skip
        if kind.looks_itself:
            self._tell_relations(method, t)
            if kind.carries_out_events and (rules := self.rules(t)):
                method.carry_out(rules)
        return method

    def _tell_relations(self, method: Any, t: float) -> None:
        """What a method that looks for crossings itself must know of the relations."""
        events = self.time_events
        slack, laws = self.crossings.relation_tolerance, self.problem.laws
        if laws is not None:
            slack = np.append(slack, laws.slack(self.problem, t, self.crossings.nothing))
        method.watch(events.straight, events.curved, ~events.relations.told, slack,
                     events.known_from(t))

    def tread_carefully(self, t: float, reach: float) -> None:
        """Begin again with a step that reaches hardly farther than the last one did.

        A mode was to end there and goes on: the flow had not turned, it was within the error of a
        step far longer than the time in which it grows clear of that.
        """
        self.begin_with(max(reach, self.time_events.tiny(t)), t)

    def begin_again(self, t: float, y: Array, step: float) -> Method:
        """Restart the method at a point that it has been at, with a first step of this length."""
        self.count()
        self.first_step = step
        return self._started(t, y)

    def keep_step(self) -> None:
        """What is known to happen now is decided in Python, where machine code could not: it would
        have gone on with the step that it had."""
        if self.current.own_events is not None:
            self.first_step = self.current.following or None

    def begin_with(self, last: float, t: float) -> None:
        """The next episode begins with a step hardly longer than the last one."""
        self.first_step = min(GROWS * last, self.settings.t_end - t) or None

    def advance(self, t: float, stop: float) -> Step:
        """A step of the method, as far as it may go before it is asked again."""
        if self.may_switch and self.current.looks_itself:
            self.current.review = self._auto.steps_to_go(self)
        step: Step = self.current.advance(self.limit(t, stop))
        return step

    def limit(self, t: float, stop: float) -> float:
        """How far the method may go before it is asked again."""
        delays, functions = self.problem.delays, self.time_events.functions
        if delays is not None and not self.current.keeps_past:
            stop = min(stop, t + delays.shortest)
        if self.kind.fixed_step:
            return stop
        if self.current.looks_itself:  # it looks at the pieces itself
            self.current.pieces = functions.around(t)
            return min(stop, functions.end)
        return min(stop, functions.limit(t))

    def rest(self) -> None:
        """The run has come to its end, or another method goes on."""
        if self.current is not None:
            self.current.rest()

    def leave_event(self) -> None:
        """Count an event that is decided in Python, if the method carries out others itself."""
        if self.current.carries_out_events:
            self.work["events in Python"] = self.work.get("events in Python", 0) + 1

    def tell_events(self) -> None:
        """Say where a method in machine code has left most events of a run to Python."""
        left = self.work.get("events in Python", 0)
        if left >= SOME_EVENTS and 2 * left > self.episodes:
            self.statistics["why"] += "; most events are decided in Python"

    def count(self) -> None:
        """Add what the method has cost since it was counted last."""
        for name in COUNTED:
            self.work[name] = self.work.get(name, 0) + getattr(self.current.work, name)
        self.current.work = Work()

    # -- giving it up ----------------------------------------------------------------------
    def _refuse_stiff_modes(self, t: float, y: Array) -> None:
        """Raise where modes are so stiff that explicit steps, which the user has chosen, end
        nowhere, as the current of a coil that an open switch leaves to a parasitic conductance."""
        problem, laws = self.problem, self.problem.laws
        if laws is None or self.settings.may_switch or self.kind.implicit or (
                self.kind.fixed_step or not laws.elements.valve.any()):
            return
        held = laws.modes.tobytes() + problem.m.tobytes()  # the present modes and relations
        if not 0 < problem.size <= FEW_STATES or held in self._seen:
            return
        self._seen.add(held)
        rate, left = fastest_rate(problem, t, y), self.settings.t_end - t
        if ENDLESS < rate * left < np.inf:
            values, vectors = np.linalg.eig(problem.slope_jacobian(t, y).toarray())
            fastest = problem.name_of(int(  # what moves most where something settles fastest
                np.abs(vectors[:, np.abs(values).argmax()]).argmax()))
            raise SimulationError(
                fastest.rpartition(".")[0], f"from t = {t:.6g} s on {fastest} settles within "
                f"{1 / rate:.2g} s, which holds the steps of {self.kind.name} to that: it would "
                f"need {rate * left / 3:.1g} of them to the end of the run.",
                "Take method='auto' or 'rodas4', whose steps this does not hold up. Where a "
                "parasitic resistance or conductance makes it so fast, leave that out.",
                says_where=True, code="simulation.stiff", time=float(t), variables=(fastest,))

    def given_up(self, step: Step) -> bool:
        """Whether another method had better go on from the end of a step."""
        self._refuse_stiff_modes(step.t, step.y)  # machine code may have entered new ones
        if self.kind is not self._begun:
            return True
        if not self.driven:
            self._pace.observe(step, self.steps, self.current, self.problem)
        if self.current.goes_nowhere and not self.may_switch:
            warn_user(f"At t = {step.t:.4g} s steps of {self.kind.name} stay at a point that is no "
                      "solution: states are within their tolerance, but what flows there may be "
                      "thousands of times that. Take method='auto' or 'rodas4'.")
        # where a program drives machine code, when it looks must change nothing
        asked = self.may_switch and not (self.driven and self.current.own_events is not None)
        return asked and self._changes_over(step)

    def relieves(self, t: float) -> bool:
        """Whether something helps where a run chatters: from the next step on signs of what is
        rooted are those of every point, and no events, or an implicit method goes on where explicit
        steps wiggle about a switch."""
        if self.time_events.relations.signs.any() and not self._frees_signs:
            self._frees_signs, self._begun = True, None
            return True
        if not self.may_switch or self.driven or self.kind.implicit:
            return False
        self.may_switch = False
        self._take(implicit_method(self.problem), f"steps switched back and forth at t = {t:.4g} s")
        return True

    def takes_another(self, step: Step) -> bool:
        """Whether a method of another kind tries what one has stopped at.

        As stages of a one-step method may lie where a root has no value, and points of a multistep
        method do not, or the other way round.
        """
        if not (self.may_replace and step.by_numbers):
            return False
        kind = METHODS["BDF"] if self.kind.implicit else implicit_method(self.problem)
        self.may_replace = self.may_switch = False
        self._take(kind, f"{self.kind.name} did not get beyond t = {step.t:.4g} s")
        return True

    @property
    def steps(self) -> int:
        """How many steps of the run there have been."""
        count: int = self.work.get("steps", 0) + self.current.work.steps
        return count

    def _changes_over(self, step: Step) -> bool:
        """Whether a method of the other kind goes on from the end of a step."""
        kind = self._auto.other(self, step)
        if kind is not None:
            rate, t = fastest_rate(self.problem, step.t, step.y), self.current.t
            self._take(kind, (
                f"it became stiff at t = {t:.4g} s (fastest rate {rate:.3g} 1/s)" if kind.implicit
                else "its steps are hardly longer than explicit ones, up to "
                     f"t = {t:.4g} s, with all that happens"))
        return kind is not None

    def go_back(self, steps: int, first: float) -> float:
        """Take so many of the last steps again, if nobody has seen them; the time that it is.

        Where somebody has, the next step is as long as the ``first`` of the method that was tried.
        """
        again = self.current.looks_itself and not self.driven and self.problem.delays is None
        if again:
            self.current.go_back(steps)
        self.first_step = None if again else first
        t: float = self.current.t
        return t

    def tried(self, kind: Any, step: Step, far: float, least: float, first: float | None = None
              ) -> float:
        """How long steps of another kind are from the end of a step on; 0 where they fail.

        They begin with the ``first``, and go ``far``, unless they turn out to be shorter than the
        ``least`` before.
        """
        copy, end = self.problem.copy_for_reading(), min(step.t + far, self.settings.t_end)
        if copy.laws is not None:
            copy.slope(step.t, step.y)
        if not kind.fits(copy, step.t):
            kind = in_python(kind)
        trial = kind.for_run(copy, step.t, step.y, t_end=self.settings.t_end,
                             rtol=self.settings.rtol, atol=self.tolerances(self.problem),
                             first_step=first, max_step=self.longest)  # fmt: skip
        most = int(far / least) + 1 if least else MOST_TRIED
        if kind.looks_itself:
            self._tell_relations(trial, step.t)
            trial.pieces, trial.review = self.time_events.functions.around(step.t), (most, 0.0)
        reached = trial.advance(end)
        while not (kind.looks_itself or reached.failure or trial.t >= end) and (
                trial.work.steps < most):
            reached = trial.advance(end)
        length = (trial.t - step.t) / max(trial.work.steps + trial.work.rejected, 1)
        self.cut_short = trial.t < end and trial.work.steps < most
        self.cut_at_once = self.cut_short and trial.work.steps <= 1
        trial.rest()
        return 0.0 if reached.failure else length

    def _take(self, kind: type[Method], why: str) -> None:
        before = self.statistics["method"]
        self.kind, _ = running_method(kind, self.problem, self.settings.rtol)
        name = f"{before}, then {kind.name}" if self.episodes else kind.name
        self.statistics.update({"method": name, "why": why})


STUCK = 1e10  # steps left, each as long as the last ones: no run ends so
MANY, LONG = 1e6, 60.0  # steps left, and seconds that they will take: told where there are more
PACE, PACE_COMPILED = 5_000, 100_000  # steps in between: a second; a transient
RESTS, RESTS_COMPILED = 20, 100  # steps in which nothing has moved, with many times as many left
WIGGLES, WITHIN = 10, 10.0  # times, tolerances a state stays within
ENDURED = 2e7  # such steps, times those that are left: the more there are, the fewer tell


class Pace:
    """How fast a run comes forward."""

    def __init__(self, start: float, time_events: TimeEvents) -> None:
        self.end, self.time_events = time_events.t_end, time_events
        self._steps, self._t = 0, start  # when it was observed last
        self._clock, self._told = np.nan, False  # then, too; before the first time code is written
        # steps, when and where, at the last corner asked for, and from where on states wiggle
        self._rested = 0, start, np.zeros(0), np.zeros(0)
        self._wiggles = 0  # times in a row at which they were within their tolerances of that

    def observe(self, step: Step, steps: int, method: Any, problem: Problem) -> None:
        """Look at the last of so many steps of a method, if there were many since the last time.

        Raises SimulationError if so many are left that the end is out of reach, or the run rests
        where nothing determines how it moves.
        """
        t, taken, kind = step.t, steps - self._steps, type(method)
        before, since, y, place = self._rested
        every = RESTS_COMPILED if kind.looks_itself else RESTS
        if steps - before >= every:
            here, wiggled = np.array(step.y), False
            slow = method.holds_itself and not kind.looks_itself
            left = (self.end - t) * (SLOWER if slow else 1.0)
            if RESTS_COMPILED * (t - since) < left and y.shape == step.y.shape:
                moved = np.abs(step.y - y)
                refuse_corner(problem, t, np.asarray(step.y),
                              moved <= LAST_DIGITS * (1.0 + np.abs(y)))
                alone = method.holds_itself or not kind.looks_itself and moved.any()
                wiggled = bool(kind.implicit and alone and np.all(
                    np.abs(step.y - place) <= WITHIN * (method.atol + method.rtol * np.abs(y))))
                self._wiggles = self._wiggles + 1 if wiggled else 0
                many = self._wiggles * every**2 * left > ENDURED * (t - since)
                if many and self._wiggles > WIGGLES:
                    refuse_wiggling(problem, method, step)
            self._rested = steps, t, here, place if wiggled else here
        if taken < (PACE_COMPILED if kind.looks_itself else PACE):
            return
        length = max((t - self._t) / taken, TINY)
        self._steps, self._t = steps, t
        left = max((self.end - t) / length, self.time_events.functions.pieces_left(t) / ACROSS)
        seconds = (perf_counter() - self._clock) / taken * left
        self._clock = perf_counter()
        if left > STUCK or left > MANY and seconds > LONG and not self._told:
            self._told = True
            tell_many_steps(problem, self.time_events.functions, method, step,
                            (left, np.inf if left > STUCK else seconds), length)
