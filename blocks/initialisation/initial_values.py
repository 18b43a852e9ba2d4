"""Which consistent state does the run start from?

Initial targets are met in the order: user's high, user's low, classes' default high, default low;
each level as closely as the levels before and the equations leave it free (least squares in nominal
units). A conflict among the user's high targets is a warning with a compromise, as in Simscape;
equations always hold.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..exceptions import InitialisationError, warn_user
from ..numerics import sparse as sp
from ..numerics.arrays import Array
from ..numerics.blas_threads import threads_for
from ..numerics.tolerances import FULFILLED, LAST_STEP
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System
from .lexicographic import lexicographic_step
from .nominal_values import Nominals
from .start import Start, reached_start
from .targets import (
    LEVELS,
    NO_TARGET,
    TargetFunctions,
    Targets,
    Trials,
    class_values,
    collect_targets,
    idle_targets,
    target_sizes,
)
from .unmet_constraints import refuse_dependent, unclosed_constraints

__all__ = ["InitialWarning", "initialise", "take_targets", "unsolved_start", "warn_of_compromises"]

ATTEMPTS = 5  # starting points that are tried with the same relations
MOST_STEPS = 60  # of an attempt
LEAST_RELAXATION = 0.02  # of a step along the constraints
TURNED = 0.5  # part of the constraints' derivatives by which a step may change them
HALVINGS = 8  # of a step that changes them by more


class InitialWarning(UserWarning):
    """Initial targets that could not all be met."""


def initialise(system: System, problem: Problem, nominals: Nominals, t: float,
               near: tuple[Array, Array] | None = None, trials: Trials | None = None,
               attempts: int = ATTEMPTS) -> Start:
    """Find states that meet the targets and the equations.

    Sought ``near`` states and torn unknowns, or else near the targets; with so many ``trials`` in
    so many ``attempts``.
    """
    targets = take_targets(system, problem)
    problem.tie(np.zeros(0, dtype=int))
    problem.preferred = np.isin(system.tape.reduced.states, system.flat.class_of[
        targets.slots[targets.levels == 0]])
    if near is not None:
        problem.x[:], problem.z[:] = near
    with threads_for(system.nx + system.nz):
        _meet(system, problem, targets, nominals, t, near is None, trials or Trials(), attempts)
        refuse_dependent(system, problem, t)
    return reached_start(system, problem, targets, nominals, t)


def take_targets(system: System, problem: Problem) -> Targets:
    """Go to the values of targets and guesses, consistent or not; returns these."""
    targets = collect_targets(system)
    values = class_values(system, targets)
    problem.x[:] = values[system.tape.reduced.states]
    problem.z[:] = values[system.tape.z_classes]
    return targets


def warn_of_compromises(start: Start) -> None:
    """Warn of targets that could not all be met, or count for nothing."""
    for _, problem, advice in (*idle_targets(start.system), *start.compromises()):
        warn_user(f"{problem} {advice}", InitialWarning)


def _meet(system: System, problem: Problem, targets: Targets, nominals: Nominals, t: float,
          anew: bool, trials: Trials, attempts: int) -> None:
    """Meet constraints and targets, level by level (Gauss-Newton); ``anew`` from the targets."""
    given = targets.given
    size = target_sizes(system, given.slots, nominals)
    outputs = TargetFunctions.of(system, given.slots)
    constrained = bool(system.nc)
    if constrained and anew:
        _near_targets(system, problem, targets, nominals, t)
        left = np.abs(system.residual(*problem.arguments(t))[system.nz:])
        if left.max() <= FULFILLED * max(1.0, float(np.abs(problem.x).max(initial=0.0))):
            refuse_dependent(system, problem, t)  # before it leads astray
    guess_x, guess_z = problem.x.copy(), problem.z.copy()
    attempt, tries, most_found = 0, attempts, 0
    while tries and (trials.left > 0 or not attempt):
        if attempt:  # away from a point where the constraints are singular
            random = np.random.default_rng(attempt)
            problem.x[:] = guess_x + random.uniform(-1, 1, system.nx) * problem.scale_x
            problem.z[:] = guess_z + random.uniform(-1, 1, system.nz) * problem.scale_z
            problem.unknowns.take_found(problem.z)
        attempt, tries = attempt + 1, tries - 1
        try:
            worst = _approach(system, problem, outputs, given, size, t, trials)
        except InitialisationError:
            found = problem.unknowns.count_found()
            if found > most_found:  # the others are tried as often as if they were alone
                most_found, tries = found, attempts
            else:
                trials.refused()
            if not (constrained or (tries and trials.left > 0)):
                problem.x[:], problem.z[:] = guess_x, guess_z
                raise
            continue
        except np.linalg.LinAlgError:
            refuse_dependent(system, problem, t)
            raise
        if worst <= FULFILLED * max(1.0, float(np.max(np.abs(problem.x), initial=0.0))):
            return
    problem.x[:], problem.z[:] = guess_x, guess_z
    raise unclosed_constraints(system, problem, t)


def _near_targets(system: System, problem: Problem, targets: Targets, nominals: Nominals, t: float
                  ) -> None:
    """Go where targets and guesses are met, constraints or not: their branch is the one meant.

    Those count that are linear in the states (angles of joints): they cannot lead astray.
    """
    if not len(targets.slots):
        return
    outputs = TargetFunctions.of(system, targets.slots)
    size = target_sizes(system, targets.slots, nominals)
    linear = ~np.array(ca.which_depends(outputs.expression, system.tape.x, 2, True), dtype=bool)
    if system.nz:
        linear &= ~np.array(ca.which_depends(outputs.expression, system.tape.z, 1, True),
                            dtype=bool)  # fmt: skip
    order = [(targets.levels == k) & linear for k in (0, 1, NO_TARGET, 2, 3)]
    r = (outputs.values(problem, t) - targets.values) / size
    j = sp.diags_array(1 / size) @ outputs.by_x.sparse(*problem.arguments(t)).tocsr() @ (
        sp.diags_array(problem.scale_x))
    _, step = lexicographic_step([None, *(j[k] if k.any() else None for k in order)],
                                 [r[:0], *(r[k] for k in order)], system.nx)
    if np.isfinite(step).all():
        problem.x += step * problem.scale_x


def _approach(system: System, problem: Problem, outputs: TargetFunctions, targets: Targets,
              size: Array, t: float, trials: Trials) -> float:
    """Gauss-Newton from the problem's point; the largest residual of a constraint that is left.

    Steps along the constraints are relaxed as Aitken's extrapolation says: where a
    target lies far off a curved constraint, full steps would overshoot.
    """
    scale, nc = problem.scale_x, system.nc
    levels = [targets.levels == k for k in range(len(LEVELS))]
    relaxation, last = 1.0, None
    for _ in range(MOST_STEPS):
        trials.left -= 1
        if outputs.need_torn or not nc:  # before a mechanism is put together they may have none
            _solve_torn(problem, t)
        r = (outputs.values(problem, t) - targets.values) / size
        _refuse_lost(system, outputs, r)
        if not nc and np.all(np.abs(r) <= FULFILLED):
            return 0.0
        slopes = outputs.slopes(problem, t)
        _refuse_lost(system, outputs, np.asarray(slopes.sum(axis=1)).ravel())
        back, step = outputs.step(problem, t, slopes, r, size, levels)
        tangential = step - back
        if last is not None and (change := last - tangential) @ change > 0:
            relaxation = float(np.clip(
                relaxation * (last @ change) / (change @ change), LEAST_RELAXATION, 1.0))
        last = tangential
        step = back + relaxation * tangential
        if nc:
            step *= _straight(problem, step * scale, t)
        problem.x += step * scale
        reach = np.max(np.abs(problem.x / scale), initial=0.0)
        if np.max(np.abs(step), initial=0.0) <= LAST_STEP * (1 + reach):
            break
    _solve_torn(problem, t)
    c = problem.system.residual(*problem.arguments(t))[system.nz :]
    return float(np.max(np.abs(c), initial=0.0))


def _straight(problem: Problem, step: Array, t: float) -> float:
    """The part of a step along which constraints stay about as they are linearised.

    Of joints in a loop: what turns by more than a fraction of a turn leads anywhere.
    """
    start, part, slopes = problem.x.copy(), 1.0, problem.system.residual_x
    mine = np.array(slopes.function.sparsity_out(0).row()) >= problem.system.nz
    here = slopes(*problem.arguments(t))[mine]
    for _ in range(HALVINGS):
        problem.x[:] = start + part * step
        change = np.abs(slopes(*problem.arguments(t))[mine] - here)
        if change.max(initial=0.0) <= TURNED * np.abs(here).max(initial=0.0):
            break
        part /= 2
    problem.x[:] = start
    return part


def _refuse_lost(system: System, outputs: TargetFunctions, values: Array) -> None:
    """Raise where a variable with a target has no finite value, or no slope, to meet it by."""
    lost = outputs.classes[~np.isfinite(values)]
    if len(lost):
        path = system.class_names[int(lost[0])]
        raise InitialisationError(
            "", f"no consistent start was found: {path}, which has an initial target, has no "
            "finite value, or does not follow from the states, where it is looked for.",
            "At a dead point start a little beside it; give targets closer to a possible state.",
            variables=(path,))


def _solve_torn(problem: Problem, t: float) -> None:
    if not problem.system.nz:
        return
    try:
        problem.solve_algebraic(t)  # no states are tied yet: constraints are met through them
    except AlgebraicFailure as failure:
        raise unsolved_start(failure) from failure


def unsolved_start(failure: AlgebraicFailure) -> InitialisationError:
    """The error for algebraic unknowns that have no solution at the start."""
    return InitialisationError(
        failure.worst[0] if failure.worst else "",
        f"no consistent start was found: {failure}.",
        "Give initial targets (or guesses with priority='none') closer to a possible state.",
        variables=failure.worst,
    )
