"""Did the condition of a ``when`` hold for good although what it assigned had turned it back?

The first bouncing ball that everybody writes, ``when(h < 0, {v: -0.75 * v})``, acts where its
condition becomes true. Once its flights are too short for the digits of a run, it is above the
floor at no instant that can be told apart, its condition never becomes false again, and it falls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..exceptions import SimulationError, warn_user
from ..language.expression import TIME
from ..numerics.arrays import Indices
from ..system.evaluator import Evaluator
from ..system.system import System
from .failures import TURN_BACK
from .recording import RunRecording

if TYPE_CHECKING:
    from .actions import Resets
    from .relations import Relations

__all__ = ["LastingWarning", "refuse_lasting"]

BEYOND = ("its condition stays true to the end of the run, so that it acts no more. Assign a value "
          "at which it is false; what shall act once says so by a Discrete that it sets: "
          "when((u > limit) & (done < 1), {u: …, done: 1}).")
GONE = 1e-6  # nominal values past a crossing from which on it is no rounding


class LastingWarning(UserWarning):
    """The condition of a ``when`` has stayed true, though it stopped what had made it true."""


def refuse_lasting(recording: RunRecording, resets: Resets, relations: Relations) -> None:
    """Raise where the motion that a ``when`` turned back went on through its condition.

    Where it was only stopped, as by ``{v: 0}``, what goes on may be meant: that is a warning; or is
    meant, where nothing integrated is assigned, as by a valve that closes. A SimulationError names
    the component and the instant from which on its condition lasted. One that was put beyond what
    made it true, and never came back, is told, too: it could not act again.
    """
    system, (which, of_states, moved_by) = recording.system, resets.turning()
    if not len(which):
        return
    assert resets.conditions is not None
    margins, rates = system.once("lasting conditions", lambda: _functions(system, which))
    episodes = recording.episodes
    m, starts, ends = episodes.m > 0.5, episodes.starts, episodes.ends
    look = recording.evaluate_unsplit if system.clusters else recording.evaluate_states
    holds = recording.evaluate_unsplit(resets.conditions, ends[-1:], np.array([len(m) - 1])) > 0.5
    for i, r in enumerate(which.tolist()):
        begun = np.flatnonzero(m[1:, r] != m[:-1, r]) + 1  # episodes in which it has just turned
        if not len(begun):
            continue
        last = np.append(begun[1:], len(m)) - 1  # before it turns again
        side = np.where(m[begun, r], 1.0, -1.0)
        later = look(margins, ends[last], last)
        gone = np.flatnonzero(side * later[i] > GONE * later[len(which) + i])
        if not len(gone):
            continue
        first = begun[gone]
        here = recording.evaluate_unsplit(margins, starts[first], first)
        before, after = (side[gone] * recording.evaluate_unsplit(rates, starts[first], k)[i]
                         for k in (first - 1, first))
        passed = np.abs(here[i]) <= GONE * here[len(which) + i]  # and not put beyond it
        if len(begun) == 1 and not passed[0] and moved_by[r] >= 0 and holds[moved_by[r], 0]:
            there = recording.evaluate_unsplit(margins, ends[first - 1], first - 1)
            if abs(there[i, 0]) <= GONE * there[len(which) + i, 0]:
                component, text = relations.describe(r, bool(m[-1, r]))
                warn_user(f"{component}: {text} at t = {starts[first[0]]:.9g} s, and what its "
                          f"`when` assigns is beyond that: {BEYOND}", LastingWarning)
        back = np.minimum(before, after) <= 0.0 if of_states[r] else after < -GONE * np.abs(before)
        for k in np.flatnonzero(passed & back)[:1].tolist():
            _tell(recording, relations, r, bool(m[first[k], r]), float(starts[first[k]]),
                  bool(after[k] != 0.0))


def _functions(system: System, which: Indices) -> tuple[Evaluator, Evaluator]:
    """Margins of some relations with their sizes at nominal values of 1, and their rates."""
    t = system.tape
    margins = t.crossings[which.tolist()]
    sizes = ca.sum2(ca.fabs(ca.densify(ca.jacobian(margins, t.x))))
    rates = ca.jtimes(margins, t.x, t.slope) + ca.jacobian(margins, TIME)
    return (system.function("margins", ca.vertcat(ca.densify(margins), sizes)),
            system.function("rates", ca.densify(rates)))


def _tell(recording: RunRecording, relations: Relations, r: int, holds: bool, t: float,
          turned: bool) -> None:
    component, text = relations.describe(r, holds)
    told = (f"{text} at t = {t:.9g} s, and its `when` {'turned' if turned else 'stopped'} the "
            "motion there; yet that went on, and the condition stayed true: it acts once, where "
            "it becomes true.")
    if not turned:
        warn_user(f"{component}: {told} {TURN_BACK}", LastingWarning)
        return
    recording.fail(f"the condition of {component} lasts")
    raise SimulationError(component, f"{told} Its last flights were too short to be told apart.",
                          TURN_BACK, code="simulation.lasting", time=t, variables=(component,))
