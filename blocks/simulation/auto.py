"""Which method takes a run where none was asked for? The rules of ``auto``, all of them.

========  ===================================================================  ========
so far    where                                                                goes on
========  ===================================================================  ========
none      more than ``PLAINLY`` explicit steps would only follow the fastest   implicit
          rate at the start, and no modes or ties decide on it
none      anywhere else                                                        explicit
explicit  ``WORTH`` steps are left, as long as stability allows, and implicit  implicit
          ones are ``FARTHER`` times as long
explicit  steps stay at a point that is no solution                            implicit
explicit  steps switch back and forth at one time                              implicit
implicit  explicit ones are more than a third, by ``FARTHER``, as long         explicit
either    it cannot go on, by what numbers come to                             another
========  ===================================================================  ========

Explicit is ``dopri5``, or ``DOP853`` at tight tolerances; implicit is ``rodas4``. Where machine
code cannot run a model, these are ``ode45`` and ``Radau``.

It is asked after ``REVIEW`` steps, and again whenever there are ``AGAIN`` times as many; after
``SURE`` of implicit ones, or fewer where they are dear; and sooner where an event cut a trial of
explicit steps short, as many steps are beside events. How long steps of the other kind are is
counted: some are taken on a copy, from the present point on. The fastest rate only says whether
that may be worth it: beside the root of a law like a square root an explicit method can stay for
good at a point that is no solution, where the rate is a fraction of the one it strides over. Where
implicit steps win, those that stability has held since it was asked last are taken again: states
are within their tolerance there, but flows wiggle or stay, and what they carry in all, as an energy
balance does, would be less exact.

Nothing but counts decides, never seconds or what ran before: a run is always the same.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array
from ..numerics.cache import Cache
from ..solvers import Method, Step
from ..system.problem import Problem
from .method_choice import explicit_steps, implicit_steps, is_full_jacobian_hopeless, running_method

if TYPE_CHECKING:
    from .running_method import RunningMethod

__all__ = ["PLAINLY", "REACH", "SLOWER", "Auto", "begins_with", "explicit_method",
           "fastest_rate", "implicit_method"]  # fmt: skip

REVIEW, AGAIN = 80, 5  # steps until it is asked first, and times as many until then again
SURE = 2000  # steps of either kind that tell how long those to come are
WORTH, PLAINLY = 10_000, 30_000  # steps left for which others are made and tried; before that
DEAR, WORTH_DEAR = 40, 200  # or where so many unknowns are solved for at each point, or in Python
SLOWER = 20.0  # times as slow are steps in Python
HELD = 1.0  # step times fastest rate of steps that stability may hold; the rate differs within one
FARTHER = 3.0  # times an explicit step, that implicit ones must reach to be worth their price
TRIED = 200  # explicit steps, over which implicit ones are tried,
BOLD = 10.0  # and that the first of them is long; implicit ones, over which explicit ones are
REACH = 3.3  # step times fastest rate at the stability bound of the pair
MOST_RATES = 1000  # that are kept of a system


def begins_with(problem: Problem, t0: float, t1: float, rtol: float) -> tuple[type[Method], str]:
    """The method that a run begins with, and why."""
    kind, system = explicit_steps(rtol), problem.system
    if not system.nx:
        return kind, "nothing is integrated: steps follow the waves of the sources"
    if system.nu or system.clusters or not problem.size:  # the rate at the start says little
        return kind, "explicit, one-step: cheap to restart after events"
    rate = fastest_rate(problem, t0, problem.solver_vector())
    if rate == np.inf:
        return kind, "explicit: something is infinitely steep at the start, as a root that begins"
    steps = rate * (t1 - t0) / REACH
    if steps > _worth(problem, explicit_method(problem, rtol), 0, steps):
        return implicit_steps(), (
            f"implicit, one-step: {steps:.2g} explicit steps would follow what is fastest at the "
            f"start ({rate:.3g} 1/s)")
    return kind, (f"explicit: about {steps:.2g} steps follow the start (fastest rate "
                  f"{rate:.3g} 1/s)")


def _is_dear(problem: Problem, kind: type[Method]) -> bool:
    """Whether steps cost so much that little is lost by asking soon."""
    return not kind.looks_itself or problem.algebraic >= DEAR


def _patience(problem: Problem, implicit: type[Method]) -> int:
    """Implicit steps until it is asked whether explicit ones go on."""
    return AGAIN * REVIEW if _is_dear(problem, implicit) else SURE


def _worth(problem: Problem, explicit: type[Method], taken: int, left: float) -> float:
    """Explicit steps left for which implicit ones are tried, after so many.

    Their price is asked for where that many are left: of a large model it takes as long as a run.
    """
    if is_full_jacobian_hopeless(problem) and not implicit_method(problem).looks_itself:
        return np.inf
    if _is_dear(problem, explicit):
        return WORTH_DEAR
    plain = WORTH if taken >= SURE else PLAINLY
    return plain * _price(problem, explicit) if left >= plain else plain


def _price(problem: Problem, explicit: type[Method]) -> float:
    """How much more an implicit step costs than where both are in one language."""
    in_python = explicit.looks_itself and not implicit_method(problem).looks_itself
    return SLOWER if in_python else 1.0


def explicit_method(problem: Problem, rtol: float) -> type[Method]:
    """What takes explicit steps of a problem."""
    return running_method(explicit_steps(rtol), problem, rtol)[0]


def implicit_method(problem: Problem) -> type[Method]:
    """What takes implicit ones."""
    return running_method(implicit_steps(), problem, 0.0)[0]


def fastest_rate(problem: Problem, t: float, y: Array) -> float:
    """The fastest rate; kept for a run that comes to the same point."""
    known: Cache[bytes, float] = problem.system.once("fastest rates", lambda: Cache(MOST_RATES))
    modes = () if problem.laws is None else problem.laws.modes
    here = b"|".join(np.asarray(a).tobytes() for a in (
        t, y, problem.z, problem.p, problem.m, problem.d, modes))
    return known.once(blake2b(here).digest(), lambda: problem.fastest_rate(t, y))


class Auto:
    """Asks from time to time whether a method of the other kind goes on."""

    def __init__(self, kind: type[Method], problem: Problem, start: float) -> None:
        self._last = 0, start, 0  # steps, time and episodes when it was asked last
        # steps when it is asked again
        self._next = _patience(problem, kind) if kind.implicit else REVIEW

    def steps_to_go(self, running: RunningMethod) -> tuple[int, float]:
        """After how many steps it is asked again, if more than so many are left then."""
        steps, kind = running.steps, type(running.current)
        left = 0.0 if kind.implicit else _worth(running.problem, kind, steps, 0.0)
        return max(self._next - steps, 1), left

    def other(self, running: RunningMethod, step: Step) -> type[Method] | None:
        """The method that goes on from the end of a step, where it is another one."""
        steps, (before, since, began) = running.steps, self._last
        nowhere = running.current.goes_nowhere
        if steps < self._next and not nowhere:
            return None
        self._last, self._next = (steps, step.t, running.episodes), AGAIN * steps
        if running.kind.implicit:
            explicit = explicit_method(running.problem, running.settings.rtol)
            usual = (step.t - since) / (steps - before)  # with all that happens
            least = usual / FARTHER
            if running.tried(explicit, step, BOLD * usual, least) > least:
                return explicit
        elif nowhere or self._may_be_held(running, step):
            usual = running.current.usual_step(step)
            price = _price(running.problem, type(running.current))
            least = 0.0 if nowhere else FARTHER * price * usual
            implicit = implicit_method(running.problem)
            reached = running.tried(implicit, step, TRIED * usual, least, BOLD * usual)
            between = (steps - before) / max(running.episodes - began, 1)
            crowded = running.cut_at_once and FARTHER * price <= between <= BOLD * price
            if crowded or reached and reached >= least:
                self._next = steps + _patience(running.problem, implicit)
                since = running.go_back(steps - before, BOLD * usual)
                self._last = steps, since, running.episodes
                return implicit
        else:
            return None
        if running.cut_short:
            self._next = steps + steps // AGAIN
        return None

    @staticmethod
    def _may_be_held(running: RunningMethod, step: Step) -> bool:
        """Whether stability may hold explicit steps, of which many are left."""
        problem, usual = running.problem, running.current.usual_step(step)
        left = (running.settings.t_end - step.t) / usual if usual else np.inf
        return bool(left >= _worth(problem, type(running.current), running.steps, left)
                    and usual * fastest_rate(problem, step.t, step.y) >= HELD)
