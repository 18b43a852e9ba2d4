"""How does a run go through a dead point of a linkage?

There constraints depend on each other, as those of a parallelogram that lies flat: they leave
forces open, and tell two ways on, of which the velocities choose one. Close to it what follows from
constraints is lost in rounding, the more the higher its derivative. So one step goes over it, by
collocation at an even number of Gauss's points, none of which is near the middle, where it is
[E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", 2nd ed., sec. II.1.3]. All
states are integrated in it, as polynomials: so those that are tied stay on their branch, and have
values at the dead point, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..initialisation.unmet_constraints import constraints_of_velocities
from ..numerics.arrays import Array, length
from ..numerics.copies import put_back
from ..numerics.sparse_solves import factored
from ..numerics.tolerances import ABSOLUTE_SHARE, DIRECTION_STEP
from ..solvers import Step
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem

if TYPE_CHECKING:
    from numpy.polynomial import Polynomial
    from scipy.sparse import csr_matrix  # imported with the first matrix, not with the package

__all__ = ["STAGES", "steps_over", "time_to_dead_point"]

STAGES, FEWER = 6, 4  # Gauss's points, and those by which the error is known
MOST_BEFORE = 6  # steps that come nearer, each by half
MOST_BEYOND = 4  # and that lead away, each to twice as far
LONGER = 60, 600, 6000  # times as long a step as a dead point is close: before its first point
ROUGH = 0.02  # of the tolerance: what the step by fewer points may miss
SETTLED = 0.01  # of the tolerance: a change of values that is none
MOST_ROUNDS = 20  # in which values at its points come to rest
TURNS = 6  # of inverse iteration


def time_to_dead_point(problem: Problem, t: float) -> float:
    """When constraints will depend on each other, as they are going now; infinite if they do not.

    Negative where they have been. The problem is at the present point, solved.
    """
    system, found = problem.system, np.inf
    slope = system.slope(*problem.arguments(t))
    pace = float(np.max(np.abs(slope) / np.maximum(np.abs(problem.x), problem.scale_x),
                        initial=0.0))
    if not 0.0 < pace < np.inf:
        return np.inf
    ahead = DIRECTION_STEP / pace
    here = system.residual_x.sparse(*problem.arguments(t))
    with put_back(problem.x):
        problem.x += ahead * slope
        there = system.residual_x.sparse(*problem.arguments(t + ahead))
    for _, rows, columns in constraints_of_velocities(system):
        matrix, moved = (j[rows][:, columns].multiply(problem.scale_x[columns]).tocsr()
                         for j in (here, there))
        found = min(found, _time_to_zero(matrix, (moved - matrix) / ahead), key=abs)
    return found


def _time_to_zero(matrix: csr_matrix, rate: csr_matrix) -> float:
    """When the least singular value of a matrix becomes zero, or was, as it moves now."""
    from scipy.sparse import csc_matrix

    try:
        solve = factored(csc_matrix(matrix @ matrix.T))
    except RuntimeError:
        return np.inf  # they depend on each other here
    left = np.ones(matrix.shape[0])
    for _ in range(TURNS):
        left = solve(left)
        left /= length(left)
    right = matrix.T @ left  # the least singular value times the other vector
    falls = -float(left @ (rate @ right))
    size = float(right @ right)
    return size / falls if falls else np.inf


def steps_over(problem: Problem, t: float, ahead: float, longest: float, stop: float, rtol: float
               ) -> list[Step]:
    """Steps of all states over a dead point that is ``ahead``, or a little behind; or none.

    One of them has it in its middle, and is as short as the tolerance asks for, but no shorter:
    others lead there, each by half, and out of it. Where a run has come so close to it that nothing
    is certain in the middle, it is near the start of a longer step. The problem is at the present
    point, which it comes back to; ``longest`` is a step that the method would take here, ``stop``
    what no step goes up to.
    """
    steps: list[Step] = []

    def taken(*lengths: float) -> bool:
        start = steps[-1].t if steps else t
        step = next(filter(None, (_within(problem, start, start + length, rtol)
                                  for length in lengths if start + length < stop)), None)
        if step is not None:
            steps.append(step)
            problem.x[:] = step.y * problem.scale_x
            problem.solve(step.t, problem.solver_vector())
        return step is not None

    with put_back(problem.x, problem.z):
        try:
            while not taken(*[2 * ahead] * (ahead > 0), *(
                    k * abs(ahead) for k in LONGER if k * abs(ahead) <= longest)):
                if ahead < 0 or len(steps) == MOST_BEFORE or not taken(ahead / 2):
                    return []
                ahead = time_to_dead_point(problem, steps[-1].t)
            behind = steps[-1].t - steps[-1].t_old - ahead
            for k in range(MOST_BEYOND):  # to where a choice of states can be told from a bad one
                if not taken(2**k * behind):
                    break
        except AlgebraicFailure:
            return []
    return steps


def _within(problem: Problem, t: float, end: float, rtol: float) -> Step | None:
    """A step of all states; None where those that are integrated are not within the tolerance."""
    rough = _collocated(problem, t, end, FEWER, rtol)
    fine = rough and _collocated(problem, t, end, STAGES, rtol)
    if not rough or not fine:
        return None
    off = _largest_change(problem, fine.y, rough.y)
    return fine if off <= ROUGH * rtol else None


def _largest_change(problem: Problem, new: Array, old: Array) -> float:
    """Largest change of integrated states, relative to their size; others follow from these."""
    size = np.abs(new) + ABSOLUTE_SHARE
    return float(np.max((np.abs(new - old) / size)[problem.free], initial=0.0))


def _collocated(problem: Problem, t: float, end: float, stages: int, rtol: float) -> Step | None:
    """The step by so many points; None where no values are found for them."""
    nodes, weights = _gauss(stages)
    h = end - t
    start = problem.x / problem.scale_x
    values, last = np.zeros((len(start), stages)), np.inf
    with put_back(problem.x, problem.z):
        slopes = np.repeat(_slope(problem, t, start)[:, None], stages, axis=1)
        for _ in range(MOST_ROUNDS):
            now = start[:, None] + h * slopes @ np.array([w(nodes) for w in weights])
            change = _largest_change(problem, now, values)
            if not change < last:
                break
            values, last = now, change
            slopes = np.array([_slope(problem, t + h * node, states)
                               for node, states in zip(nodes, now.T, strict=True)]).T
    if not last <= SETTLED * rtol:
        return None

    def dense(times: ArrayLike) -> Array:
        shares = (np.asarray(times) - t) / h
        moved = np.tensordot(h * slopes, np.array([w(shares) for w in weights]), 1)
        return start.reshape(-1, *[1] * shares.ndim) + moved

    return Step(t, end, dense(end), dense)


def _slope(problem: Problem, t: float, states: Array) -> Array:
    """Slopes of all states near these, where tied ones meet the constraints; scaled."""
    problem.x[:] = states * problem.scale_x
    free = problem.slope(t, states[problem.free])
    every: Array = problem.system.slope(*problem.arguments(t)) / problem.scale_x
    every[problem.free] = free
    return every


def _gauss(stages: int) -> tuple[Array, list[Polynomial]]:
    """Gauss's points of the interval from 0 to 1, and for each what its slope adds up to."""
    from numpy.polynomial import Polynomial
    from numpy.polynomial.legendre import leggauss

    nodes = (leggauss(stages)[0] + 1) / 2
    weights = []
    for k, node in enumerate(nodes):
        others = Polynomial.fromroots(np.delete(nodes, k))
        weights.append((others / others(node)).integ())
    return nodes, weights
