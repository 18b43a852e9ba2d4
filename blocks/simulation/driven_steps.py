"""How does a driven run get from one look of the program to the next?

As any run does: in episodes, and events between them. Where machine code carries out what it is
told, and all that happens on the way, an episode goes on over many of the program's steps; what it
has done becomes part of the record when somebody looks, or Python has to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Array, Indices
from ..system.evaluator import Evaluator
from .driver import Driver
from .integration import Ending
from .wanted import Wanted

if TYPE_CHECKING:
    from ..native.own_events import Ahead

__all__ = ["DrivenSteps"]

NOTHING = np.zeros(0, dtype=int)  # relations that switch
#: Steps of the program that are looked over at once, at most: functions of time and known instants
#: are found in parts of that, so what a step can show does not depend on how long a run may go on.
MOST_STEPS = 1000


class DrivenSteps:
    """The time that passes in a driven run.

    The ``driver`` is of a run that begins; ``inputs`` are places of what is told among the
    discrete values.
    """

    def __init__(self, driver: Driver, inputs: Indices) -> None:
        self.driver, self.inputs = driver, inputs
        self.problem, self.integration = driver.problem, driver.integration
        self.time_events = driver.events.time_events
        self.t = driver.settings.t_start  # time reached
        driver.begin_steps(self)
        from ..native.own_events import Ahead

        #: The present, as an instant at which something is known to happen.
        self.now = Ahead(np.zeros(1), np.zeros((1, len(self.time_events.timed))), inputs,
                         self.problem.d[None, inputs], np.zeros(1))
        self.told = self.now.rows[0]  # what the program wants there
        self.changed = False  # whether that is new
        self._open = False  # whether an episode goes on, in which machine code carries that out
        self._seen = -np.inf  # up to when known instants have been looked for

    def tell(self, place: int | slice, number: Any) -> None:
        """Take note of what the program wants at a place, or places, among ``told``."""
        now = self.told[place]
        if now != number if isinstance(place, int) else np.any(now != number):
            self.told[place] = number
            self.changed = True

    def ahead(self, t: float, stop: float, most: int) -> Ahead:
        """Instants up to ``stop`` that are known; the present one alone, where something was
        told."""
        now, times = self.now, self.time_events
        if not self.changed:
            return times.ahead(t, stop, most)
        now.times[0], now.holds[0], now.until[0] = t, times.right_limits(t), times.known_from(t)
        return now

    def advance(self, until: float) -> None:
        """Go on to a time, and past what is known to happen there."""
        end = self.driver.settings.t_end
        part = until > self._seen or until >= end  # of which it is looked what has lasted
        if part and self._seen < end:
            self._find_instants(until)
        times, tiny = self.time_events.times, self.time_events.tiny(until)
        k = int(times.searchsorted(until - tiny))
        if k < len(times) and times[k] <= until + tiny:
            until = float(times[k])
        self._go_on(until)
        if part:
            self.catch_up()
            self.driver.refuse_lasting()

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
        if self._open:
            self.integration.stop = self.time_events.t_end

    def apply_changes(self) -> None:
        """Bring everything in line with what was told."""
        self._go_on(self.t)

    def read(self, function: Evaluator, wanted: Wanted) -> Array:
        """What a function of the present point comes to; it changes with the next look."""
        if self.changed:
            self.apply_changes()
        if self._open and not wanted.unknowns and (reader := self.integration.method.reader(
                function, wanted.of_efforts)) is not None:
            return reader()  # type: ignore[no-any-return]
        self.catch_up()
        return function(*self.problem.arguments(self.t))

    def catch_up(self) -> None:
        """Make the record, and the problem, what they are at the present time."""
        if self._open:
            self.integration.observe(self.integration.method.reached())
            self.driver.running.count()
            self.problem.solve(self.t, self.integration.y)

    def pause(self) -> None:
        """Bring record and problem to the present time, and begin anew when the run goes on."""
        self.catch_up()
        self._open = False
        self._note_unbroken(self.t)

    def _note_unbroken(self, unbroken: float = -np.inf) -> None:
        """Note the time, if any, at which the run begins anew though nothing has happened."""
        if self.problem.delays is not None:
            self.problem.delays.unbroken = unbroken

    def _go_on(self, until: float) -> None:
        """Go on to a time; Python judges what machine code does not."""
        if not (self._open and self._goes(until)):
            with self.driver.failures(), np.errstate(
                    invalid="ignore", over="ignore", divide="ignore"):
                self._with_python(until)

    def _goes(self, until: float) -> bool:
        """Whether machine code gets there by itself."""
        method: Any = self.integration.method
        while self.changed or until - self.t > self.time_events.tiny(until):
            limit, events = self.driver.running.limit(self.t, until), method.begun.item(1)
            if self.changed and self.time_events.after(self.t) <= limit:
                limit = self.t  # what was told comes first
            done = method.go(limit, self.changed)
            self.changed &= method.begun.item(1) == events
            if not done:
                return False
            self.t = method.time
        return True

    def _with_python(self, until: float) -> None:
        """Go on episode by episode."""
        while self._open or self.changed or self.t < until:
            ending = None
            if self._open:
                ending = self._take_up()
            elif self.changed:  # by what was told
                self._note_unbroken()
                self.driver.events.switching.look_back(self.t, NOTHING)
                self.problem.d[self.inputs] = self.told
                self.changed = False
                self.driver.events.switch(self.t, NOTHING)
                continue
            else:
                self.integration.begin(self.t, self.driver.events.take_struck())
                self._note_unbroken()
                self._open = self.integration.method.own_events is not None
            if not self._open:
                self.integration.until = until
                ending = self.integration.go_on()
            elif ending is None and self._goes(until):
                return
            if ending is not None:
                self._open = False
                self.t = self.driver.carry_out(self.integration.trajectory.start, ending)

    def _take_up(self) -> Ending | None:
        """Let Python judge what machine code has left to it."""
        integration, method = self.integration, self.integration.method
        full, step = method.full, method.reached()
        self.driver.running.count()
        ending = integration.taken(step)
        self.t = integration.t
        if ending is None and not full and (self.changed or method.waits):
            self.problem.solve(self.t, integration.y)
            ending = Ending(self.t, None if self.changed else self.time_events.at(self.t))
        return ending
