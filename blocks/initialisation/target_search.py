"""Where are targets met that hang on what a run decides first, or have no slope where it is sought?

A force beside exact friction has a value once the run has decided what sticks; a quadratic drag
cannot be set to work by its slope at rest. So at every point that is tried relations, modes and
efforts are those of a run that starts there, steps are shortened where they lead away, and where a
target is still missed the states that it follows from are tried elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import casadi as ca
import numpy as np

from ..exceptions import BlocksError
from ..numerics.arrays import Array, Flags
from ..numerics.tolerances import FULFILLED, LAST_STEP, TARGET_MET
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .nominal_values import Nominals
from .targets import LEVELS, USERS, TargetFunctions, Targets, Trials, target_sizes
from .unmet_constraints import refuse_dependent

__all__ = ["REFUSED", "Trial", "search_targets"]

MOST_STEPS = 30  # from one point
QUARTERINGS = 15  # of a step that leads away
CLOSER = 0.9  # times a miss: by so much it has become less
PLAY = 1e-2  # of a target's size: so much farther off a step may lead, where laws bend
ASIDE = 1.0, -1.0, 1e-3, -1e-3  # of nominal values: guesses beside the first
AT_RANDOM = 4  # more of them

#: What a run, or what is solved for, raises where it cannot begin.
REFUSED = BlocksError, AlgebraicFailure, np.linalg.LinAlgError


class Trial(Protocol):
    """What a run decides at the states of a problem."""

    problem: Problem

    def decide(self) -> None:
        """Decide on relations, modes and efforts at the problem's states, or refuse these."""
        ...


@dataclass(frozen=True)
class _Point:
    """A point that was tried, with what a run decides there."""

    x: Array  # states
    z: Array  # torn unknowns
    m: Array  # relations
    missed: Array  # by what targets are missed, in their sizes
    # what constraints and each level of targets miss, zero where they are met
    off: tuple[float, ...]
    unmet: Flags  # which of the user's targets are not met


def search_targets(trial: Trial, targets: Targets, nominals: Nominals, t: float,
                   origins: Sequence[tuple[Array, Array]], aside: bool) -> None:
    """Take a trial to where the targets are met, weighed by nominals, as nearly as is found.

    It begins from ``origins``, states and torn unknowns, and tries elsewhere, too, by ``aside``.
    What a run refuses is raised where it can begin nowhere that is tried.
    """
    with np.errstate(all="ignore"):
        _Search(trial, targets.given, nominals, t).run(origins, aside)


class _Search:
    """Steps of Gauss and Newton along which all that is decided follows."""

    def __init__(self, trial: Trial, targets: Targets, nominals: Nominals, t: float) -> None:
        self.trial, self.problem, self.t = trial, trial.problem, t
        self.system, self.targets = trial.problem.system, targets
        self.outputs = TargetFunctions.of(self.system, targets.slots)
        self.size = target_sizes(self.system, targets.slots, nominals)
        self.levels = [targets.levels == k for k in range(len(LEVELS))]
        self.trials = Trials()

    def run(self, origins: Sequence[tuple[Array, Array]], aside: bool) -> None:
        """Take the trial to the best point that is found."""
        best: _Point | None = None
        for x, z in origins:
            found = self._from(x, z)
            if found is not None and (best is None or _less(found.off, best.off)):
                best = found
        if best is None:
            self.problem.x[:], self.problem.z[:] = origins[0]
            self.trial.decide()
            return
        elsewhere = np.random.default_rng(0).uniform(-1, 1, (AT_RANDOM, self.system.nx))
        for shift in (*ASIDE, *elsewhere) if aside else ():  # in nominal values
            if not best.unmet.any() or self.trials.left < 0:
                break
            seen, strongest = self._states_seen(best.unmet), self.targets.levels[best.unmet].min()
            # what matters less would hold it back, and has its way from there
            found = self._from(best.x + np.where(seen, shift, 0.0) * self.problem.scale_x, best.z,
                               strongest + 1)
            found = found and self._from(found.x, found.z)
            if found is not None and self._meets_more(found, best):
                best = found
        self.problem.x[:], self.problem.z[:], self.problem.m[:] = best.x, best.z, best.m
        self.trial.decide()

    def _meets_more(self, found: _Point, best: _Point) -> bool:
        """Whether a point meets targets that another one misses, and gives up none as important:
        that would be another start altogether."""
        for mine in self.levels[:USERS]:
            now, before = found.unmet & mine, best.unmet & mine
            if (now != before).any():
                return bool((now <= before).all())
        return False

    def _states_seen(self, rows: Flags) -> Flags:
        """States that some of the targets follow from."""
        wanted, tape = self.outputs.expression[np.flatnonzero(rows).tolist()], self.system.tape
        seen = np.zeros(self.system.nx, dtype=bool)
        if ca.depends_on(wanted, ca.vertcat(tape.z, tape.u)):
            return ~seen
        seen[ca.jacobian_sparsity(wanted, tape.x).get_triplet()[1]] = True
        return seen

    def _from(self, x: Array, z: Array, levels: int = len(LEVELS)) -> _Point | None:
        """The point to which steps from another one lead; None where no run starts there.

        Only so many levels have a say.
        """
        problem = self.problem
        problem.x[:], problem.z[:] = x, z
        problem.unknowns.forget()
        self.shortened = 0  # times: with what the last step went on, or one time less
        if (now := self._tried()) is None:
            return None
        mark = now
        for _ in range(MOST_STEPS):
            step = self._step(now, levels)
            ahead = None if step is None else self._ahead(now, step, mark, levels)
            if ahead is None:
                break
            mark = ahead if _goes_on(ahead, mark, levels) else mark
            tiny = LAST_STEP * (1 + np.abs(ahead.x / problem.scale_x).max(initial=0.0))
            moved = np.abs((ahead.x - now.x) / problem.scale_x).max(initial=0.0)
            now = ahead
            if moved <= tiny:
                break
        best = min(now, mark, key=lambda point: point.off[: 1 + levels])
        if best.off[0]:
            return None
        if self.system.nc:
            problem.x[:], problem.z[:], problem.m[:] = best.x, best.z, best.m
            with suppress(*REFUSED):
                refuse_dependent(self.system, problem, self.t)
                return best
            return None
        return best

    def _ahead(self, now: _Point, step: Array, mark: _Point, levels: int) -> _Point | None:
        """The point after as much of a step as does not lead away."""
        for shortened in range(self.shortened, QUARTERINGS if self.trials.left > 0 else 0):
            self.problem.x[:] = now.x + step / 4**shortened
            self.problem.z[:], self.problem.m[:] = now.z, now.m
            ahead = self._tried()
            if ahead is not None and _goes_on(ahead, mark, levels) is not False:
                self.shortened = max(shortened - 1, 0)
                return ahead
        return None

    def _tried(self) -> _Point | None:
        """The present point as a run that starts there would have it; None where none could."""
        problem, t = self.problem, self.t
        self.trials.left -= 1
        try:
            self.trial.decide()
        except REFUSED:
            self.trials.refused()
            return None
        missed = (self.outputs.values(problem, t) - self.targets.values) / self.size
        open_by = self.system.residual(*problem.arguments(t))[self.system.nz:]
        if not (np.isfinite(missed).all() and np.isfinite(open_by).all()):
            return None
        closed = open_by / max(1.0, np.abs(problem.x).max(initial=0.0))
        off = tuple(float(np.linalg.norm(r)) if (np.abs(r) > FULFILLED).any() else 0.0
                    for r in (closed, *(missed[mine] for mine in self.levels)))
        met = TARGET_MET * np.maximum(1.0, np.abs(self.targets.values) / self.size)
        unmet = (np.abs(missed) > met) & (self.targets.levels < USERS)
        return _Point(problem.x.copy(), problem.z.copy(), problem.m.copy(), missed, off, unmet)

    def _step(self, now: _Point, levels: int) -> Array | None:
        """The step to meet the targets if all were linear; None where slopes are not finite."""
        try:
            slopes = self.outputs.slopes(self.problem, self.t, decided=True)
            _, step = self.outputs.step(self.problem, self.t, slopes, now.missed, self.size,
                                        self.levels[:levels])
        except REFUSED:
            return None
        return step * self.problem.scale_x if np.isfinite(step).all() else None


def _goes_on(point: _Point, mark: _Point, levels: int) -> bool | None:
    """Whether a point is nearer than another one; None where it is about as near.

    The first level says so that is missed by clearly less or more.
    """
    for here, before in islice(zip(point.off, mark.off, strict=True), 1 + levels):
        if here < CLOSER * before:
            return True
        if here > before + PLAY:
            return False
    return None


def _less(off: tuple[float, ...], best: tuple[float, ...]) -> bool:
    """Whether one point misses less than the best so far, by the first level that clearly says."""
    for here, before in zip(off, best, strict=True):
        if min(here, before) < CLOSER * max(here, before):
            return here < before
    return False
