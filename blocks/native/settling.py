"""Relations, samples and resets at the events of steps that Python takes, or hands over.

They agree by the plain loops that carry events out in machine code (:mod:`.switches`), which call
back what they ask of a model.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

import numpy as np

from ..machine.functions import Kept, MachineCode, empty
from ..numerics.arrays import Array, Flags, Indices
from ..system.evaluator import Evaluator
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .callbacks import Callbacks
from .next_branch import Switches
from .resets import Resets, resets_of
from .samples import (
    CHANGED,
    FAILED,
    Samples,
    assign_due,
    assigned_in_python,
    begin_samples,
    count_samples,
    samples_of,
)
from .stages import ATOL
from .steps import RUNGE_KUTTA, Code, known_of, workspace
from .switches import follow_modes, look_back, settle_relations
from .zero_crossings import LARGEST, relations_of

if TYPE_CHECKING:
    from ..simulation.actions import Resets as Assigned
    from ..simulation.actions import Samplings
    from ..simulation.zero_crossings import ZeroCrossings

__all__ = ["Settling"]

NOMINAL = 1e-6  # of a state: its tolerance where steps know none


class Settling:
    """Relations, samples and resets of a run that agree with each other.

    ``crossings`` tell what relations may be below zero by, and how large they have been; relations
    that are ``indirect`` or ``resting`` wait for modes, as in
    :class:`~blocks.native.own_events.EventRules`; ``samplings`` and ``assigned`` are what is
    sampled and assigned.
    """

    def __init__(self, problem: Problem, crossings: ZeroCrossings, indirect: Flags, resting: Flags,
                 samplings: Samplings, assigned: Assigned) -> None:
        n, nm, times = problem.system.nx, problem.system.nm, crossings.time_events
        self.problem, self.crossings, self._behind = problem, crossings, times.behind_jumps
        self.calls, self.work, self.x, self._t = Callbacks(), workspace(n), np.zeros(n), np.nan
        self.relations, self._holds = relations_of(problem, nm, 1, 0), np.zeros((1, nm))
        nobody, room, flags = np.zeros(nm, dtype=bool), np.empty((3, nm)), np.empty((2, nm), bool)
        self.switches = empty(Switches)._replace(
            m=problem.m, at_zero=times.relations.at_zero, timed=times.timed, joint=nobody,
            indirect=indirect, resting=resting, loops=times.relations.loops,
            duration=times.duration, holds=self._holds, d=problem.d,
            rows=np.zeros((1, 0)), before=room[0], first=room[1], now=room[2], frozen=flags[0],
            turns=flags[1])
        self._samplings, self.samples = samplings, empty(Samples)
        if samplings.active:
            known, sampled = samplings.rules(efforts=True), samplings.values
            assert sampled is not None
            self.samples = samples_of(known, problem.d, self._at_point(
                lambda t: sampled(*problem.arguments(t), self.before), len(known.owner)))
            if known.in_python is not None:
                self.samples = self.samples._replace(in_python=self.calls.address(
                    assigned_in_python(known, self.samples), (1, None, None, None), 1))
        self.resets = empty(Resets)
        if assigned.active:
            rules = assigned.rules(efforts=True)
            own = Evaluator(rules.assigned)
            self.resets = resets_of(rules, n, problem.d, self._at_point(
                lambda t: own(*problem.arguments(t)), rules.assigned.nnz_out(0)))
        self.code = empty(Code)._replace(
            kind=RUNGE_KUTTA, crossings=self._at_point(self._crossed, nm, settled=False),
            slope=self._at_point(self._slope, n),
            project=self._at_point(lambda t: problem.x, n) if problem.system.clusters else 0)
        self._given = [Kept(one) for one in (
            self.code, self.work, self.relations, self.switches, self.samples, self.resets)]

    def _at_point(self, function: Callable[[float], Array | list[float]], size: int,
                  settled: bool = True) -> int:
        """The address of a function of the problem at a point; nan where that has no solution."""
        def called(at: Array, x: Array) -> Array | list[float]:
            t = float(at[0])
            self.problem.x[:] = x
            try:
                if settled:
                    self.problem.update_anew(t)
                return function(t)
            except AlgebraicFailure:
                return np.full(size, np.nan)

        return self.calls.address(called, (1, len(self.x), None, None), size)

    def _crossed(self, t: float) -> Array:
        """Crossing functions; at the event behind what jumps there."""
        behind = self._behind(t) if t == self._t else t
        return self.problem.crossings_here(t, behind)

    def _slope(self, t: float) -> Array:
        problem = self.problem
        out = np.zeros_like(self.x)
        out[problem.free] = problem.slope(t, problem.solver_vector()) * problem.scale
        return out

    # -- samples ---------------------------------------------------------------------------
    @property
    def before(self) -> Array:
        """Discrete values before the instant."""
        return self.samples.values[self.samples.owner.size :]

    def begin_samples(self, t: float, first: bool = False) -> None:
        """Find who samples at ``t``, the ``first`` instant of a run or another one."""
        samples = self._given[4]
        begin_samples(samples, t)
        count_samples(samples, t)
        if first:
            self.samples.due[np.isnan(self.samples.start)] = True

    def assign_due(self, t: float) -> bool:
        """Assign what is due with the present values of all else; whether that has changed any."""
        self.x[:] = self.problem.x
        found = assign_due.knowing(known_of(self.code))(
            self._given[0], self._given[1], self._given[4], t, self.x)
        self.calls.check()
        if found == FAILED:
            self._samplings.refuse_clashes(self.problem, t, self.samples.due, self.before)
        return bool(found == CHANGED)

    # -- at an event -----------------------------------------------------------------------
    def look_back(self, t: float, which: Indices) -> Indices:
        """Note what is just before an event; those of the relations ``which`` that still cross."""
        self.relations.wrong[:] = False
        self.relations.wrong[which] = True
        self._run(look_back, t)
        return np.flatnonzero(self.relations.wrong)

    def flip(self, t: float, which: Indices, holds: Array, step: float, again: bool) -> bool:
        """Switch the relations ``which``, and those of time as they hold from here on, until all
        agree; whether they do."""
        self.relations.wrong[:] = False
        self.relations.wrong[which] = True
        self._holds[0] = holds
        for room in (self.resets.done, self.resets.changed):
            room[:] = False
        return bool(self._run(settle_relations, t, step, 0, again, False))

    def follow(self, t: float, step: float) -> int:
        """Bring what follows efforts in line with modes: 1 if anything has changed, 0, or -1 where
        it does not settle."""
        return int(self._run(follow_modes, t, step))

    def _run(self, loops: MachineCode, t: float, *more: float) -> int:
        problem, crossings, relations = self.problem, self.crossings, self.relations
        allowed, atol = crossings.relation_tolerance, self.work.k[ATOL]
        atol[:] = np.inf  # what is tied follows from the others
        atol[problem.free] = problem.scale * (crossings.atol if crossings.atol.size else NOMINAL)
        relations.slack[:], relations.looks[LARGEST] = allowed, crossings.largest
        self.x[:], self._t = problem.x, t
        found = loops.knowing(known_of(self.code))(*self._given, t, self.x, *more)
        self.calls.check()
        allowed[:], problem.x[:] = relations.slack, self.x
        failed = found == FAILED or loops is settle_relations and not found
        with suppress(AlgebraicFailure) if failed else nullcontext():
            problem.update_anew(t)
        return int(found)
