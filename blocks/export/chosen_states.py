"""How are states chosen anew once a run has left Python?

Where constraints tie states and their coefficients change, a run watches how good the choice of
states is. Each choice has a plan, of what is solved for in which order: here all of them are
written down, and machine code takes another one as :mod:`blocks.system.state_selection` does.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..native.events import Passed
from ..native.next_branch import Switches
from ..native.one_step import FULL, LAST_ERROR, LEAST_ERROR, TIME, UNSURE, Limits, Record
from ..native.one_step import advance as steps_of_choice
from ..native.resets import Resets
from ..native.samples import Samples
from ..native.set_valued_elements import SetValuedElements
from ..native.stages import ATOL
from ..native.steps import Code, Workspace, project_in_place
from ..native.tied_states import LEAST_DETERMINANT
from ..native.zero_crossings import LARGEST, Relations
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Indices, Matrix, Vector
from ..system.state_selection import exchange

__all__ = ["advance", "choice_of", "constraints_of", "may_leave"]

MOST = 64  # choices that are written down
LOG_LEAST = float(np.log(LEAST_DETERMINANT))


class Choice(NamedTuple):
    """Choices of states, and what stands in ``q`` for each."""

    due: Indices  # (1,) whether the next call begins with choosing
    present: Indices  # (1,) the present choice
    jacobian: int  # address of derivatives of the constraints by the columns, row by row
    matrix: Matrix  # filled with these, and their coordinates by the chosen columns
    chosen: Indices  # column by row of it
    columns: Indices  # states that may be tied
    dimension: Indices  # of all states
    sizes: Vector  # their nominal values
    largest: Vector  # of each dimension, filled with the largest size now
    rank: Indices  # how often each column was given up, less 1 for those that are preferred
    tied: Matrix  # of each choice 1 where a column is tied
    at: Indices  # places of q that know of it
    words: Matrix  # what stands there for each choice
    atol: Matrix  # tolerances for each
    margins: Vector  # room for crossing functions
    whole: int  # place in q of the determinant's logarithm that others are measured against


def _choose(choice: Choice, code: Code, work: Workspace, q: Vector, x: Vector) -> bool:
    """Take the choice that is best at a point; False where there is none."""
    n, m, before = choice.matrix.shape[0], choice.matrix.shape[1], choice.present[0]
    run_code(choice.jacobian, work.at, x, code.p, code.q, choice.matrix[0])
    choice.largest[:] = 0.0
    for i in range(choice.sizes.size):
        k = choice.dimension[i]
        choice.largest[k] = max(choice.largest[k], max(choice.sizes[i], abs(x[i])))
    for j in range(m):
        for i in range(n):
            choice.matrix[i, j] *= choice.largest[choice.dimension[choice.columns[j]]]
    if not exchange(choice.matrix, choice.tied[before], choice.rank, choice.chosen):
        return False
    for r in range(choice.tied.shape[0]):
        same = True
        for k in range(n):
            same &= choice.tied[r, choice.chosen[k]] > 0.0
        if same:
            choice.present[0] = r
    for k in range(n):
        if choice.tied[before, choice.chosen[k]] == 0.0:
            choice.rank[choice.chosen[k]] += 1
    for i in range(choice.at.size):
        q[choice.at[i]] = choice.words[choice.present[0], i]
    work.k[ATOL, :] = choice.atol[choice.present[0]]
    q[choice.whole] = 0.0
    run_code(code.crossings, work.at, x, code.p, code.q, choice.margins)
    q[choice.whole] = choice.margins[choice.margins.size - 1] + LOG_LEAST
    return True


@machine_code
def advance(code: Code, work: Workspace, relations: Relations, limits: Limits, record: Record,
            switches: Switches, samples: Samples, resets: Resets,
            set_valued: SetValuedElements, network: NetworkModes, passed: Passed, x: Vector,
            state: Vector, counts: Indices, begun: Indices, choice: Choice, q: Vector
            ) -> tuple[int, int, int]:
    """Steps as of :func:`blocks.native.one_step.advance`; a call ends where states are to be
    chosen, which the next one begins with: what reads a step needs the choice of then."""
    if choice.due[0] != 0:
        project_in_place(code, work, state[TIME], x)
        work.at[0] = state[TIME]
        if not _choose(choice, code, work, q, x):
            return UNSURE, begun[0], begun[1]
        choice.due[0] = 0
        state[1:] = 0.0
        state[LAST_ERROR] = LEAST_ERROR
        relations.looks[LARGEST, :] = 0.0
    status, taken, events = steps_of_choice(
        code, work, relations, limits, record, switches, samples, resets, set_valued, network,
        passed, x, state, counts, begun)
    if status > FULL and taken > begun[0]:
        choice.due[0] = 1
        return FULL, taken, events
    return status, taken, events


def may_leave(driver: Any) -> bool:
    """Whether all that Python would do in a run is to choose the states of one cluster."""
    system, problem, method = driver.recording.system, driver.problem, driver.integration.method
    if not method.looks_itself or problem.laws is not None or (
            len(system.clusters) != 1 or system.nm or driver.events.time_events.expected
            or method.branch.size):
        return False
    equations, classes = system.clusters[0].levels[0]
    return comb(len(classes), len(equations)) <= MOST


def constraints_of(system: Any) -> ca.Function:
    """Derivatives of the constraints by which states are chosen, row by row."""
    equations, classes = system.clusters[0].levels[0]
    whole = ca.densify(system.residual_x.function.call(system.arguments)[0])
    part = whole[system.nz : system.nz + len(equations), _places(system, classes).tolist()]
    return ca.Function("chosen_by", system.arguments, [ca.vec(part.T)])


def _places(system: Any, classes: Indices) -> Indices:
    """Where classes stand among the states."""
    return np.searchsorted(system.tape.reduced.states, classes).astype(np.int64)


def choice_of(driver: Any, jacobian: int) -> Choice:
    """All choices that a run can come to."""
    system, problem, method = driver.recording.system, driver.problem, driver.integration.method
    carried, ((equations, classes), *below) = method.equations.carried, system.clusters[0].levels
    columns, n, m = _places(system, classes), len(equations), len(classes)
    tied, words, atol = [], [], []
    for some in map(list, combinations(range(m), n)):
        chosen, other = [classes[some]], problem.copy_for_reading()
        for _, more in below:  # levels below follow
            chosen.append(np.intersect1d(more, system.flat.antiderivatives(chosen[-1])))
        other.tie(np.sort(_places(system, np.concatenate(chosen))))
        tied.append(np.isin(np.arange(m), some).astype(float))
        words.append(method.q.copy())
        carried.fill(words[-1], other)
        near = driver.running.tolerances(other)
        atol.append(np.full(len(method.x), np.inf))
        atol[-1][: system.nx] = np.max(near) * other.scale_x
        atol[-1][other.free] = near * other.scale
    kept, (dimension, _) = np.array(words), system.of_dimension
    at = np.flatnonzero((kept.view(np.int64) != kept[0].view(np.int64)).any(axis=0))
    present = [k for k, row in enumerate(tied)
               if np.array_equal(row > 0, np.isin(columns, problem.tied))]
    return Choice(
        np.zeros(1, dtype=np.int64), np.array(present), jacobian, np.zeros((n, m)),
        np.zeros(n, dtype=np.int64), columns, dimension.astype(np.int64),
        problem.scale_x.copy(), np.zeros(dimension.max() + 1),
        (problem.given_up.astype(np.int64) - problem.preferred)[columns], np.array(tied), at,
        np.ascontiguousarray(kept[:, at]), np.array(atol), np.zeros(method.equations.relations),
        carried.whole)
