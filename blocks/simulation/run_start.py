"""Where does a run start, and what does it decide there before it moves?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import BlocksError, InitialisationError
from ..initialisation.initial_values import initialise, take_targets, unsolved_start
from ..initialisation.nominal_values import Nominals, find_nominals
from ..initialisation.start import Start, reached_start
from ..initialisation.target_search import REFUSED, search_targets
from ..initialisation.targets import USERS, TargetFunctions, Trials
from ..numerics.arrays import Array, Indices, distinct
from ..numerics.cache import Cache
from ..numerics.rewriting import dependent_pairs
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System
from .actions import Requirements
from .events import MOMENT, Opening, TrialStart
from .given_values import GivenValues
from .recording import RunRecording
from .settings import Settings
from .time_events import TimeEvents
from .tolerances import Tolerances

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel

__all__ = ["Decided", "KeptStart", "RunStart", "consistent_start", "given_discrete_values"]

GUESSES = 4  # rounds in which all else follows unknowns that have a guess
MOST_TRIALS = 500  # for relations and initial values that depend on each other
MOST_DECIDED = 4  # runs from one start: each holds a copy of all values given


@dataclass(frozen=True)
class Decided:
    """What a start and the options of a run come to, beside what is solved for."""

    settings: Settings  # settings, tolerances: of the run
    why: str  # its method
    tolerances: Tolerances
    given: GivenValues  # to the model and the run
    findings: Sequence[Any]  # about the model


@dataclass(frozen=True)
class KeptStart:
    """A start that was found, for the next run of a model in which nothing has changed since."""

    state: tuple[object, ...]  # of the model
    t: float  # when
    problem: Problem  # problem, start: there, and what became of the initial targets
    start: Start
    # for runs from there, by what was asked of them
    decided: Cache[Hashable, Decided] = field(default_factory=lambda: Cache(MOST_DECIDED))

    def copy(self, system: System, state: tuple[object, ...], t: float
             ) -> tuple[Problem, Start] | None:
        """A copy of it; None where the model or the time are others now."""
        mine, p = self.problem, system.parameters()
        if self.state != state or self.t != t or mine.system is not system or (
                mine.p.tobytes() != p.tobytes()):
            return None
        problem = mine.copy_for_reading()
        problem.p = p
        return problem, self.start


class RunStart:
    """The start of a model's run: solved for and decided once, for the check and for the run.

    Where ``t_end`` is not given, only the start is asked for. ``laws`` gives the set-valued laws of
    a system, where a method has its own; ``at`` are states, torn unknowns, relations and discrete
    values to start from, in place of the initial targets; those are kept where a discrete value is
    nan. ``near`` are states and torn unknowns near which a consistent start is sought.
    """

    driven = False  # whether a program drives the run, which is looked at part by part

    def __init__(self, model: CompiledModel, t: float = 0.0, t_end: float | None = None,
                 laws: Callable[[System], Any] | None = None,
                 at: tuple[Array, Array, Array, Array] | None = None,
                 near: tuple[Array, Array] | None = None) -> None:
        self.model, self.t, self._near = model, t, near
        self.t_end = t + MOMENT if t_end is None else t_end
        self._laws, self._at = laws, at
        self._found: tuple[Problem, Start] | None = None
        self._opening: Opening | None = None
        self._unknowns = np.zeros(0)  # as they were solved for at the start
        self._keeps: KeptStart | None = None  # of which this one is a copy

    def consistent(self) -> tuple[Problem, Start]:
        """The problem at its consistent start, and what became of the initial targets.

        Raises InitialisationError if the equations alone have no solution near the targets.
        """
        if self._found is None:
            system = self.model.compile()
            plain = not system.clusters and not any(
                f.kernel.delays for f in system.network.families)
            if plain and (self._laws is None or not system.nm) and self._near is None:
                self._found = self._kept(system)
            else:
                self._found = self._solved(system)
            if self._at is not None:
                problem, _ = self._found
                problem.x[:], problem.z[:], problem.m[:], d = self._at
                problem.d[:] = np.where(np.isnan(d), problem.d, d)
                if problem.algebraic and problem.system.nu:  # efforts are decided anew
                    problem.solve_algebraic(self.t)
            self._unknowns = self._found[0].z.copy()
        return self._found

    def forget_trials(self) -> None:
        """Take back what looks at the start have changed: the last bits of what is solved for.

        The next run from here is not looked at again, and is to give the same.
        """
        problem, _ = self.consistent()
        problem.z[:] = self._unknowns

    def _kept(self, system: System) -> tuple[Problem, Start]:
        """A copy of the last start that was found, where the model and the time are the same."""
        made, state = self.model.compiled, self.model.compiled.state()
        found = None if made.start is None else made.start.copy(system, state, self.t)
        if found is None:
            made.start = KeptStart(state, self.t, *self._solved(system))
            found = made.start.copy(system, state, self.t)
            assert found is not None
        self._keeps = made.start
        return found

    @classmethod
    def known(cls, model: CompiledModel, asked: Hashable) -> tuple[RunStart, Decided] | None:
        """The start of a run that is asked what an earlier one was, and what was decided then;
        None where the model is not what it was."""
        kept, state = model.compiled.start, model.compiled.state()
        decided = None if kept is None or kept.state != state else kept.decided.get(asked)
        if kept is None or decided is None:
            return None
        settings = decided.settings
        starting = cls(model, settings.t_start, settings.t_end, settings.method.laws_of)
        starting._found = kept.copy(model.compiled.system, state, starting.t)
        starting._keeps = kept
        return None if starting._found is None else (starting, decided)

    def keep(self, asked: Hashable, decided: Decided) -> None:
        """Remember what was decided for a run from here, where the start is kept."""
        if self._keeps is not None:
            self._keeps.decided.keep(asked, decided)

    def _solved(self, system: System) -> tuple[Problem, Start]:
        return consistent_start(
            system, find_nominals(system, self.model.compiled.nominal_table), self.t,
            self._laws if system.nm else lambda _: None, self._near)  # no relation looks at efforts

    def moving_off(self) -> Problem:
        """The problem as it moves off: with relations, samples and modes decided, where they can
        be. What cannot be the run refuses itself, with all that it has."""
        system = self.problem().system
        if system.nu or system.nm or system.nd:
            with suppress(BlocksError, AlgebraicFailure, np.linalg.LinAlgError), \
                    np.errstate(all="ignore"):
                self.decided()
        return self.problem()

    def problem(self) -> Problem:
        """The problem there, with its set-valued laws."""
        problem, _ = self.consistent()
        if problem.laws is None and problem.system.nu:
            problem.laws = (self._laws or laws_at_events)(problem.system)
        return problem

    def opening(self) -> Opening:
        """Return what decides on relations and modes at the start, and has not done so yet."""
        if self._opening is None:
            self._opening = self._made(self.t_end)
        return self._opening

    def decided(self) -> tuple[Problem, Array]:
        """The problem with relations and modes decided, and the slopes of all states there.

        Raises what a run refuses of its start: BlocksError or AlgebraicFailure.
        """
        problem = self.problem()
        try:
            opening = self.opening()
        except BlocksError:  # of its time events: the run says so, and no later one is refused
            opening = self._made(self.t + MOMENT)
        try:
            if not opening.begun:
                opening.begin()
                self._unknowns = problem.z.copy()  # before anyone looks
            if problem.system.clusters:
                problem.choose_states(self.t)
            slope = np.zeros(problem.system.nx)
            slope[problem.free] = problem.slope(self.t, problem.solver_vector())
        except BaseException:  # nobody goes on from a point where that has stopped
            self._found = self._opening = None
            raise
        if problem.failure is not None or problem.delays is not None:  # the run begins by itself
            self._found = self._opening = None
        return problem, slope

    def refuse_broken(self) -> None:
        """Raise for what components require of the run and does not hold there."""
        problem, _ = self.consistent()
        Requirements.of(problem.system).check(problem, self.t)

    def _made(self, t_end: float) -> Opening:
        problem = self.problem()
        recording = RunRecording(self.model.name, problem.system, problem, problem.p)
        seen = self.t + MOMENT if self.driven else None
        return Opening(recording, self.t, t_end, seen)


def consistent_start(system: System, nominals: Nominals, t: float,
                     laws: Callable[[System], Any] | None = None,
                     near: tuple[Array, Array] | None = None) -> tuple[Problem, Start]:
    """A problem at its consistent start, and what became of the initial targets.

    ``laws`` gives the set-valued laws of a system; those that are decided at events, if none are
    given. ``near`` are states and torn unknowns from which it is sought, in place of the initial
    targets. Raises InitialisationError if the equations alone have no solution near the targets.
    """
    problem = Problem(system, system.parameters(),
                      nominals.power_of_two(system.tape.reduced.states),
                      nominals.power_of_two(system.tape.z_classes))
    problem.scale_u[:] = nominals.power_of_two(system.tape.reduced.inputs)
    problem.d[:] = given_discrete_values(system)
    system.tables.fill(problem.d, t)
    if system.nu:
        problem.laws = (laws or laws_at_events)(system)
    start = (_with_relations if system.nm else initialise)(system, problem, nominals, t, near)
    return problem, _as_it_begins(problem, start, nominals, t, near)


def _as_it_begins(problem: Problem, start: Start, nominals: Nominals, t: float,
                  near: tuple[Array, Array] | None) -> Start:
    """The start whose targets are met by what the run decides there, and nothing else.

    Until then efforts were zero, and relations those that were assumed.
    """
    system, targets = problem.system, start.targets
    if not (system.nu or start.missed_by_user.any()):
        return start
    functions = TargetFunctions.of(system, targets.slots)
    of_user = targets.levels < USERS
    searched = bool((functions.see_efforts & of_user).any()) or bool(
        start.missed_by_user.any() and (functions.nonlinear & of_user).any())
    if not (searched or functions.see_efforts.any()):
        return start
    with suppress(*REFUSED):  # the run says why
        trial = TrialStart(problem, laws_at_events(system) if system.nu else None, t)
        found = trial.problem
        if not searched:
            trial.decide()
        else:
            origins = []
            if near is None and not system.nc:
                take_targets(system, found)
                origins.append((found.x.copy(), found.z.copy()))
            origins.append((start.x, start.z))
            search_targets(trial, targets, nominals, t, origins, near is None)
            problem.x[:], problem.z[:], problem.m[:] = found.x, trial.unknowns, found.m
        reached = reached_start(system, found, targets, nominals, t, decided=True)
        return replace(reached, searched=searched)
    return start


def _with_relations(system: System, problem: Problem, nominals: Nominals, t: float,
                    near: tuple[Array, Array] | None) -> Start:
    """A start at which relations and initial values agree: they depend on each other.

    Where the equations have no solution with the relations that are assumed, those that do not
    depend on these are solved, and say which relations hold. All that disagree are switched; where
    these have been tried before, the first that has not been. Raises InitialisationError if there
    is no solution with any of the relations tried.
    """
    time_events = TimeEvents(system, problem.p, t, t)
    _hold_as_guessed(system, problem, time_events, t)
    trials, tried = Trials(MOST_TRIALS), set[bytes]()
    start: Start | None = None
    failure: BlocksError | AlgebraicFailure | None = None

    hold = partial(_hold, problem, time_events, t)

    def start_there(assumed: Array) -> Start | None:
        """The start near a point, if relations hold there: a piece may have another root beyond
        its end. Else relations are those that were assumed before."""
        with np.errstate(all="ignore"):
            holding = time_events.holding(system.crossings(*problem.arguments(t)), t)
        if np.array_equal(holding, problem.m):
            with suppress(InitialisationError, AlgebraicFailure):
                found = initialise(system, problem, nominals, t,
                                   (problem.x.copy(), problem.z.copy()), trials)
                if np.array_equal(time_events.holding(problem.crossings_here(t), t), holding):
                    return found
        problem.m[:] = assumed
        return None

    while trials.left > 0:
        tried.add(problem.m.tobytes())
        try:
            start = initialise(system, problem, nominals, t, near, trials, attempts=1)
            crossings = problem.crossings_here(t)
        except (InitialisationError, AlgebraicFailure) as error:
            start, failure = None, failure or error  # the first one says most
            assumed = problem.m.copy()
            with np.errstate(all="ignore"):
                problem.unknowns.solve_in_order(problem.arguments(t), hold)
                crossings = system.crossings(*problem.arguments(t))
            if (found := start_there(assumed)) is not None:
                return found
            with suppress(InitialisationError, AlgebraicFailure):
                start = initialise(system, problem, nominals, t, near, trials)
                crossings = problem.crossings_here(t)
        holding = time_events.holding(crossings, t)
        if start is not None and np.array_equal(holding, problem.m):
            return start
        if start is not None and holding.tobytes() in tried:  # round in a circle
            assumed = problem.m.copy()
            problem.unknowns.solve_in_order(problem.arguments(t), hold, whole=False)
            if (found := start_there(assumed)) is not None:
                return found
        following = next((m for m in _switched(problem.m, holding) if m.tobytes() not in tried),
                         None)
        if following is None:
            break
        problem.m[:] = following
    if isinstance(failure, AlgebraicFailure):
        raise unsolved_start(failure) from failure
    if failure is not None:
        raise failure
    assert start is not None
    return start


def _hold_as_guessed(system: System, problem: Problem, time_events: TimeEvents, t: float) -> None:
    """Relations in algebraic loops hold first as they would at the values to start from.

    Where such a loop has several solutions, that is the one which is meant.
    """
    switched, relations = map(distinct, dependent_pairs(system.tape.residual, system.tape.m))
    if not len(relations):
        return
    targets = take_targets(system, problem)
    given = np.isin(system.tape.z_classes, system.flat.class_of[targets.slots])
    with np.errstate(all="ignore"):
        _follow_guesses(problem, t, np.flatnonzero(~given),
                        np.setdiff1d(np.arange(system.nz), switched))
        _hold(problem, time_events, t, relations)


def _hold(problem: Problem, time_events: TimeEvents, t: float, which: Any = slice(None)) -> None:
    """Let relations hold as they would at the present point."""
    for _ in range(GUESSES):  # one may be within the piece that another chooses
        before, g = problem.m.copy(), problem.system.crossings(*problem.arguments(t))
        problem.m[which] = time_events.holding(g, t)[which]
        if np.array_equal(problem.m, before):
            break


def _follow_guesses(problem: Problem, t: float, unknowns: Indices, equations: Indices) -> None:
    """Bring unknowns without a guess in line with those that have one, by equations that hold
    whatever the relations: with the least change, in units of nominal values."""
    system, scale = problem.system, problem.scale_z[unknowns]
    for _ in range(GUESSES):
        r = system.residual(*problem.arguments(t))[equations]
        matrix = system.residual_z.sparse(*problem.arguments(t))[equations][:, unknowns].toarray()
        if not (len(r) and len(unknowns) and np.isfinite(r).all() and np.isfinite(matrix).all()):
            return
        problem.z[unknowns] -= scale * np.linalg.lstsq(matrix * scale, r, rcond=None)[0]


def _switched(m: Array, holding: Array) -> Iterator[Array]:
    """Relations as they hold, then as assumed but for one of them."""
    yield holding
    for r in np.flatnonzero(holding != m):
        one = m.copy()
        one[r] = holding[r]
        yield one


def given_discrete_values(system: System) -> Array:
    """Discrete variables start at their targets, or at what is declared."""
    out = np.zeros(system.nd)
    for (f, i), offset in system.tape.discrete_layout.items():
        family = system.network.families[f]
        local = family.kernel.variables[i]
        for first, m in zip(family.firsts, family.members, strict=True):
            value = m._targets.get(local.name, (local.declared.initial_of(m), ""))[0]  # type: ignore[attr-defined]
            if value is not None:
                out[offset + first : offset + first + m.size] = value
    return out


def laws_at_events(system: System) -> Any:
    """Set-valued laws that are decided at events."""
    from ..nonsmooth.modes.load_laws import laws_of

    return laws_of(system)
