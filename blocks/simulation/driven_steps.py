"""How does a driven run get from one look of the program to the next?

Machine code takes the steps and what the program tells it between them, as long as Python has
nothing to judge: what it has done becomes part of the record when somebody looks. All else is as
in any run: episodes, and events between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..native.short_calls import ShortCalls
from ..numerics.arrays import Array, Indices
from ..system.evaluator import Evaluator
from .driver import Driver
from .integration import Ending
from .wanted import Wanted

__all__ = ["DrivenSteps"]

NOTHING = np.zeros(0, dtype=int)  # relations that switch
#: Steps of the program that are looked over at once, at most: functions of time and known instants
#: are found in parts of that, so what a step can show does not depend on how long a run may go on.
MOST_STEPS = 1000


class DrivenSteps:
    """The time that passes in a driven run.

    The ``driver`` is of a run that has begun; ``slots`` are places of what is told among the
    discrete values.
    """

    def __init__(self, driver: Driver, slots: Indices) -> None:
        self.driver, self.slots = driver, slots
        self.problem, self.integration = driver.problem, driver.integration
        self.time_events = driver.events.time_events
        self.t = driver.settings.t_start  # time reached
        self.tables = tables = self.problem.system.tables
        self._slots = np.append(tables.slots, slots)  # of what changes at instants
        self._rows = rows = self.problem.d[self._slots]
        # told: values at these places that the program wants
        self._of_tables, self.told = rows[: len(tables.slots)], rows[len(tables.slots) :]
        self.changed = False  # whether they are new
        #: Steps of the present episode, where machine code carries out what it is told.
        self._bound: ShortCalls | None = None
        self._kept: ShortCalls | None = None  # for episodes of the same method
        self._limit = -np.inf  # before this time nothing is known to happen
        self._passable = False  # whether machine code carries out what happens then
        self._due = False  # whether Python has to
        self._seen = -np.inf  # up to when known instants have been looked for

    def tell(self, place: int | slice, number: Any) -> None:
        """Take note of what the program wants at a place, or places, among ``told``."""
        now = self.told[place]
        if now != number if isinstance(place, int) else np.any(now != number):
            self.told[place] = number
            self.changed = True

    def advance(self, until: float) -> None:
        """Go on to a time, and past what is known to happen there."""
        if until > self._seen and self._seen < self.driver.settings.t_end:
            self._find_instants(until)
        if self._bound is None or not self._goes(until):
            self._with_python(until)

    def _find_instants(self, until: float) -> None:
        """Find what is known to happen in the next part of the run: as much as has passed, but
        this step and no more than so many of them."""
        if self.time_events.expected:
            self.pause()
        settings, step = self.driver.settings, until - self.t
        part = max(min(self.t - settings.t_start, MOST_STEPS * step), 2 * step)
        self.time_events.find(self.t, min(self.t + part, settings.t_end))
        #: Nothing at the end of a part is known, so the next one is looked for before.
        self._seen = self.t + part - step / 2
        if self._bound is not None:
            self._limit = self._free_until()

    def apply_changes(self) -> None:
        """Bring everything in line with what was told."""
        if self.changed and not (self._bound is not None and self._goes(self.t)):
            self._with_python(self.t)

    def read(self, function: Evaluator, wanted: Wanted) -> Array:
        """What a function of the present point comes to; it changes with the next look."""
        if self.changed:
            self.apply_changes()
        if self._bound is not None and not wanted.unknowns and (
                reader := self._bound.reader(function, wanted.of_efforts)) is not None:
            return reader()
        self.catch_up()
        return function(*self.problem.arguments(self.t))

    def catch_up(self) -> None:
        """Make the record, and the problem, what they are at the present time."""
        if self._bound is not None:
            if (step := self._bound.taken()) is not None:
                self.integration.observe(step)
            self.driver.running.count()
            self.problem.solve(self.t, self.integration.y)

    def pause(self) -> None:
        """Bring record and problem to the present time, and begin anew when the run goes on."""
        self.catch_up()
        self._bound, self._limit = None, -np.inf
        self._note_unbroken(self.t)

    def _note_unbroken(self, unbroken: float = -np.inf) -> None:
        """Note the time, if any, at which the run begins anew though nothing has happened."""
        if self.problem.delays is not None:
            self.problem.delays.unbroken = unbroken

    # -- where Python judges -----------------------------------------------------------------
    @np.errstate(invalid="ignore", over="ignore", divide="ignore")
    def _with_python(self, until: float) -> None:
        """Go on episode by episode."""
        times = self.time_events
        k = int(np.searchsorted(times.times, until - times.tiny(until)))
        if k < len(times.times) and times.times[k] <= until + times.tiny(until):
            until = float(times.times[k])
        with self.driver.failures():
            while self._due or self.changed or self.t < until:
                ending = self._take_up() if self._bound is not None else None
                if ending is None and self._bound is None:
                    if self.changed:  # by what was told
                        self._note_unbroken()
                        self.driver.events.switching.look_back(self.t, NOTHING)
                        self.problem.d[self.slots] = self.told
                        self.changed = False
                        self.driver.events.switch(self.t, NOTHING)
                    if self.t >= until:
                        return
                    self._begin(until)
                if ending is None and self.t < until:
                    ending = self._go_on(until)
                if ending is not None:
                    self._bound, self._limit = None, -np.inf
                    self.t = self.driver.carry_out(self.integration.trajectory.start, ending)

    def _begin(self, until: float) -> None:
        """Begin an episode, in machine code if that carries out what it is told, up to then."""
        self.integration.begin(self.t, self.driver.events.take_struck())
        self._note_unbroken()
        method, times = self.integration.method, self.time_events
        if method.own_events is None:
            return
        method.pieces = times.functions.around(self.t)
        limit = self._free_until()
        if self._is_due(until, limit) and not self._passable:
            return
        if self._kept is None or not self._kept.serves(method):
            self._kept = ShortCalls(method, self._slots, self._rows, self.problem.laws)
        self._bound = self._kept
        self._of_tables[:] = self.problem.d[self.tables.slots]
        self._bound.begin(times.known_from(self.t))
        self._limit = limit

    def _take_up(self) -> Ending | None:
        """Let Python judge what machine code has left to it."""
        assert self._bound is not None
        full = self._bound.full
        step = self._bound.taken()
        self.driver.running.count()
        ending = None if step is None else self.integration.taken(step)
        self.t = self.integration.t
        if self._due or (ending is None and self.changed and not full):
            self.problem.solve(self.t, self.integration.y)
            ending = Ending(self.t, self.time_events.at(self.t) if self._due else None)
        self._due = False
        return ending

    def _go_on(self, until: float) -> Ending | None:
        """Go on in the episode that has begun."""
        if self._bound is not None and (self._passable or not self._is_due(until, self._limit)):
            self._goes(until)
            return None
        self.integration.until = until
        return self.integration.go_on()

    def _goes(self, until: float) -> bool:
        """Whether machine code gets there; else the next one to ask is :meth:`_take_up`."""
        while until > self.t and self._is_due(until, self._limit):
            if not (self._passable and self._goes_on(self._limit) and self._passes_instant()):
                return False
        if not self.changed and until - self.t <= self.time_events.tiny(until):
            return True  # it is the same instant
        return self._goes_on(max(until, self.t))

    def _goes_on(self, until: float) -> bool:
        """Whether machine code gets there, where nothing is known to happen on the way."""
        assert self._bound is not None
        done = self._bound.go(until, self.changed)
        self.changed = self._bound.waiting
        if done:
            self.t = until
        return done

    def _passes_instant(self) -> bool:
        """Whether machine code carries out what is known to happen now."""
        assert self._bound is not None
        times = self.time_events
        self._of_tables[:] = self.tables.rows(np.array([times.just_after(self.t)]))[:, 0]
        self._due = not self._bound.pass_instant(
            self.t, times.right_limits(self.t), times.known_from(self.t))
        self._limit = self._free_until()
        return not self._due

    def _is_due(self, until: float, limit: float) -> bool:
        """Whether what is known to happen at a limit comes up to a time, or is one with it."""
        return until >= limit - self.time_events.tiny(until)

    def _free_until(self) -> float:
        """Before which time nothing is known to happen."""
        times = self.time_events
        instant = times.after(self.t)
        limit = min(instant, times.functions.end)
        self._passable = instant == limit < times.t_end
        return limit
