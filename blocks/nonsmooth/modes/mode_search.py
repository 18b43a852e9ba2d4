"""Which modes of elements at nodes without mass hold, now and an instant later?

Proposals are taken only if they hold; of few elements in doubt all combinations are tried. Where
none holds the run stops: a guess is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import product

import numpy as np

from ...exceptions import SimulationError
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import (
    ENDED_MARGIN,
    INSTANT,
    LATER_MARGIN,
    LEAST_SIZE,
    MODE_MARGIN_CLEAR,
    MODE_MISSED,
    SHORT_TIME,
    TERMS_ROUNDING,
)
from ...system import AlgebraicFailure, Problem
from .jumps import Jumps
from .massless_contacts import MasslessContacts
from .massless_efforts import MasslessEfforts
from .massless_margins import MasslessMargins

__all__ = ["ModeSearch"]

MOST_IN_DOUBT = 5  # elements whose combinations are all tried, where no better way led on


class ModeSearch:
    """A search for modes that hold."""

    def __init__(self, efforts: MasslessEfforts, margins: MasslessMargins, jumps: Jumps,
                 contacts: MasslessContacts) -> None:
        self.jumps, self.contacts = jumps, contacts
        self.efforts, self.margins, self.equations = efforts, margins, efforts.equations
        self.elements, self.state, self.system = efforts.elements, efforts.state, efforts.system
        #: Elements whose modes have ended; they go on only where they lead away from their end.
        self.ended: Flags = np.zeros(self.elements.size, dtype=bool)
        #: Frictions that slide in these, but do not move, nor begin to.
        self.idle: Flags = np.zeros(self.elements.size, dtype=bool)

    def take_first(self, problem: Problem, t: float, doubt: Flags,
                   proposals: Iterable[Indices]) -> None:
        """Take the first modes that hold now and an instant later.

        Raises SimulationError if none do.
        """
        tried: list[Indices] = []
        noted = self._noted(problem, t, proposals, tried)
        for brief, trials, off in ((False, noted, MODE_MISSED), (True, tried, MODE_MISSED),
                                   (False, self._combinations(problem, t, doubt), MODE_MISSED),
                                   (True, tried, self.state.drift)):
            for trial in trials:
                leaves = self._leaves(problem, t, trial, brief, off)
                if leaves is not None and not leaves.any():
                    self._adopt(problem, t, self._at_rest(problem, t, trial, brief))
                    return
        raise self.jumps.found(problem, t) or self._undecided(problem, t, doubt)

    def leaving(self, problem: Problem, t: float, modes: Indices) -> Flags | None:
        """Which elements an instant ends the mode of; None where not all laws hold even now."""
        return self._leaves(problem, t, modes, brief=False)

    def _noted(self, problem: Problem, t: float, proposals: Iterable[Indices],
               tried: list[Indices]) -> Iterator[Indices]:
        """Proposals with switches as their conditions say, each once; ``tried`` is filled."""
        for proposal in proposals:
            trial = self._possible(problem, t, proposal)
            if not any(np.array_equal(trial, other) for other in tried):
                tried.append(trial)
                yield trial

    def _combinations(self, problem: Problem, t: float, doubt: Flags) -> Iterator[Indices]:
        """All modes of few elements in doubt."""
        index = np.flatnonzero(doubt)
        for modes in product((0, 1, -1), repeat=len(index) if len(index) <= MOST_IN_DOUBT else 0):
            trial = self.state.modes.copy()
            trial[index[: len(modes)]] = modes
            yield self._possible(problem, t, trial)

    def _possible(self, problem: Problem, t: float, modes: Indices) -> Indices:
        """Modes with those of switches as told, and contacts that are apart open."""
        return self.contacts.possible(problem, t, self.equations.switched(problem, t, modes))

    def _at_rest(self, problem: Problem, t: float, modes: Indices, brief: bool) -> Indices:
        """Modes that hold, with friction that others keep from moving at rest, if that holds too.

        Another one that moves with it has come to rest: both carry the load then.
        """
        if not self.idle.any():
            return modes
        trial = np.where(self.idle, 0, modes)
        leaves = self._leaves(problem, t, trial, brief)
        return modes if leaves is None or leaves.any() else trial

    def _adopt(self, problem: Problem, t: float, trial: Indices) -> None:
        """Take modes, and note what rounding makes of their margins."""
        self.state.modes, self.state.decided = trial, True
        self.efforts.project(problem, t)
        self.efforts.apply(problem, t)
        self.margins.present(problem, t)  # notices what is large
        self.state.grain = noise = self.margins.noise(problem, t)
        of_mode = np.stack([trial == 0, trial != 0])
        self.state.noise = np.maximum(self.state.noise, np.where(of_mode, noise, 0.0))

    def _leaves(self, problem: Problem, t: float, modes: Indices, brief: bool,
                off: float = MODE_MISSED) -> Flags | None:
        """Which elements an instant ends the mode of; None where not all laws hold even now.

        With ``brief``, those that hold clearly, though for less than an instant, go on: another one
        ends right behind this event, but not with it.
        Where what the modes hold constant is ``off`` by no more than such a share of its size, now,
        or by the step, they are judged with that brought to its value.
        """
        state, x, z, u = self.state, problem.x.copy(), problem.z.copy(), problem.u.copy()
        before = state.modes, state.largest
        try:
            state.modes = modes
            self.efforts.apply(problem, t, modes)
            held = self.equations.at(problem, t, modes)
            null = held.made.null
            if null.shape[1] and not self.efforts.is_internal_stress(problem, t, null):
                return None
            missed = self.margins.missed(problem, t)
            if missed > off:
                return None
            if missed > TERMS_ROUNDING:
                self.efforts.project(problem, t)
                self.efforts.apply(problem, t)
            size = self.margins.sizes(problem, t)[0]
            margin = self.margins.present(problem, t)
            least = -MODE_MARGIN_CLEAR * size
            if not (np.all(margin >= least)
                    or np.all(margin + self.margins.noise(problem, t) >= least)):
                return None
            close = margin <= (self.margins.noise(problem, t) if brief
                               else self.margins.at_end(size))
            h = self._step(problem, t)
            if not self.equations.constant:  # straight on, it leaves the curves that modes hold
                self.efforts.project(problem, t + h)
            self.efforts.apply(problem, t + h)
            later = self.margins.present(problem, t + h)
            noise = self.margins.noise(problem, t + h)
            close &= ~self.contacts.separating(problem, t + h)  # how far they overlap shrinks
            _, _, low, high, *_ = self.equations.values(problem, t + h)
            friction = ~(self.elements.valve | self.elements.switch | self.elements.contact)
            self.idle = friction & (modes != 0) & (low < high) & close & (
                np.abs(later - margin) <= ENDED_MARGIN * h * size + noise)
            least = np.where(self.ended & (modes == before[0]), ENDED_MARGIN, LATER_MARGIN)
            return np.array(close & (later - margin < -least * h * size - noise))
        except AlgebraicFailure:
            return None
        finally:
            problem.x[:], problem.z[:], problem.u[:] = x, z, u
            state.modes, state.largest = before

    def _step(self, problem: Problem, t: float) -> float:
        """Move the states on by an instant; returns how long it is."""
        slope = self.system.slope(*problem.arguments(t))
        fast = float(np.abs(slope).max(initial=0.0))
        far = max(LEAST_SIZE, float(np.abs(problem.x).max(initial=0.0)))
        h = min(INSTANT * far / fast if fast > 0 else 1.0, SHORT_TIME)
        problem.x += h * slope
        return h

    # -- what is said where none holds -----------------------------------------------------
    def _undecided(self, problem: Problem, t: float, doubt: Flags) -> SimulationError:
        """The error where no modes obey the laws: who is pulled harder than it can hold."""
        _, effort, low, high, back, forth, *_ = self._all_at_rest(problem, t)
        jumps = (effort > high + MODE_MISSED * np.abs(high)) | (
            effort < low - MODE_MISSED * np.abs(low))
        drops = (forth < high * (1 - MODE_MISSED)) | (back > low * (1 - MODE_MISSED))
        index = np.flatnonzero(self.elements.gives_flow & jumps)
        if not len(index):
            index = np.flatnonzero(doubt & drops) if (doubt & drops).any() else np.flatnonzero(
                doubt if doubt.any() else np.ones(self.elements.size, dtype=bool))
            what = ("no combination of sticking and sliding obeys the laws of dry friction: "
                    "with no mass at a node between, its velocity, or the force of a spring "
                    "there, would have to jump" + (
                        ", as friction that breaks away is at once smaller than before."
                        if drops[index].any() else "."))
        else:
            what = ("a spring, or another part that cannot give way at once, pulls at a node "
                    "without mass harder than the dry friction there can hold: the node would "
                    "have to jump.")
        return self.elements.error(
            t, index, what, "Give the nodes beside it a (small) mass, or put a damper in parallel"
            + (": what friction cannot hold must accelerate something." if jumps.any() else "."),
            code="simulation.massless", most=5)

    def _all_at_rest(self, problem: Problem, t: float) -> Array:
        """What elements would come to if all of them stuck, as far as they can."""
        modes = self.state.modes
        self.state.modes = np.zeros(self.elements.size, dtype=int)
        with suppress(AlgebraicFailure):
            self.efforts.apply(problem, t)
        self.state.modes = modes
        return self.equations.values(problem, t)
