"""Which elements stick and which move, within constant bounds?

Part by part of the graph of D, and in units in which all elements weigh the same
(:mod:`.scaling`).

References
----------
Acary, Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008.
Pfeiffer, Glocker, Multibody Dynamics with Unilateral Contacts, 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import CANCELLATION
from .active_set import Trial, active_set, proximal, sides
from .lemke import lemke_box
from .linear_solves import is_convex
from .p_matrix import is_p_matrix
from .scaling import Matrix, MatrixLike, ScaledBox, as_bounds, as_matrix, block, scale
from .solution import Solution, Status

__all__ = ["within_box"]

STEPS = 60
"""Bound on the steps of one descent method, per connected part."""
LEMKE_LIMIT = 400
"""Largest part that is given to pivoting (each pivot factorises a dense matrix)."""
MANY_PARTS = 16
"""From this many parts on, all are tried in one sparse problem first."""


@dataclass
class _Work:
    """What a search has found so far, in scaled units."""

    x: Array
    iterations: int = 0


def within_box(D: MatrixLike, b: ArrayLike, lower: ArrayLike, upper: ArrayLike, *,
               start: ArrayLike | None = None, tol: float, noise: ArrayLike = 0.0) -> Solution:
    """The problem of :func:`.solving.solve` for constant bounds.

    A part of D's graph of one element has a closed form. Others go through the primal-dual
    active set, then proximal points with projected Newton steps (symmetric semi-definite D),
    then Lemke's pivoting (any D, up to 400 elements a part). All are bounded in work. A rate
    below ``tol`` times the largest rate of its part counts as zero.

    The rates are unique for symmetric semi-definite D and for P-matrices. A single element
    with D_ii < 0 takes the solution of least effort.
    """
    load = np.array(b, dtype=float).reshape(-1)
    n = len(load)
    if not np.all(np.isfinite(load)):
        raise ValueError(f"rate {int(np.flatnonzero(~np.isfinite(load))[0])} of b is not finite")
    matrix = as_matrix(D, n)
    low, high = as_bounds(lower, upper, n)
    floor = np.broadcast_to(np.asarray(noise, dtype=float), (n,))
    undecided = np.flatnonzero(low != high)
    box, d = _without_fixed(matrix, load, low, high, floor, undecided)
    guess = None
    if start is not None:
        guess = np.asarray(start, dtype=float)[undecided] / d
    work = _Work(np.zeros(box.size))
    verdicts = _search(box, guess, tol, work)
    return _solution(matrix, load, low, high, undecided, box, d, work, verdicts, tol)


def _without_fixed(matrix: Matrix, load: Array, low: Array, high: Array, noise: Array,
                   undecided: Indices) -> tuple[ScaledBox, Array]:
    """The problem of elements whose bounds differ, in equal units, and these units."""
    reduced, drag = matrix, load
    if len(undecided) < len(load):
        pull = matrix @ np.where(low == high, low, 0.0)
        drag = (load - pull)[undecided]
        # Cancellation with known efforts leaves noise of this size in b.
        size = (np.abs(load) + np.abs(pull))[undecided]
        noise = noise[undecided] + CANCELLATION * size
        reduced = block(matrix, undecided, undecided)
    return scale(reduced, drag, low[undecided], high[undecided], noise)


def _solution(matrix: Matrix, load: Array, low: Array, high: Array, undecided: Indices,
              box: ScaledBox, d: Array, work: _Work, verdicts: list[_Verdict], tol: float
              ) -> Solution:
    """What the scaled efforts that were found mean for all elements."""
    effort = np.where(low == high, low, 0.0)
    w = box.rate(work.x)
    moving = np.abs(w) > tol * box.unit(w) + box.floor
    top, bottom = work.x >= box.upper, work.x <= box.lower
    bottom_of, top_of = low[undecided], high[undecided]
    effort[undecided] = np.where(
        top, top_of, np.where(bottom, bottom_of, np.clip(work.x * d, bottom_of, top_of)))
    rate = load - matrix @ effort
    state = np.sign(rate).astype(np.int8)
    state[undecided] = np.where(top & moving & (w > 0), 1,
                                np.where(bottom & moving & (w < 0), -1, 0))
    failed = box.residual(work.x, w, tol) > tol
    rest = np.zeros(len(load), dtype=bool)
    rest[undecided] = (state[undecided] == 0) & ~failed
    rate[rest] = 0.0
    grazing = rest.copy()
    grazing[undecided] &= top | bottom

    bad = np.zeros(box.groups, dtype=bool)
    bad[box.group[failed]] = True
    several, unbounded = np.array(verdicts, dtype=bool).reshape(-1, 2).T
    if not bad.any():
        status = Status.NOT_UNIQUE if several.any() else Status.SOLVED
    else:
        status = Status.NO_SOLUTION if (unbounded & bad).any() else Status.WORK_BOUND
    return Solution(effort, rate, state, grazing, status,
                    undecided[(bad | several)[box.group]], work.iterations)


class _Verdict(NamedTuple):
    """Whether rates of a part may be others, and whether an effort would have to be infinite."""

    several: bool = False
    unbounded: bool = False


def _search(box: ScaledBox, guess: Array | None, tol: float, work: _Work) -> list[_Verdict]:
    """Solve every connected part into ``work``; one verdict per part."""
    members = np.bincount(box.group, minlength=box.groups)
    verdicts = [_Verdict()] * box.groups
    alone = members[box.group] == 1
    if alone.any():
        _solve_alone(box, np.flatnonzero(alone), verdicts, work)
    parts = np.flatnonzero(members > 1)
    if not len(parts):
        return verdicts
    todo = np.ones(box.groups, dtype=bool)
    if len(parts) >= MANY_PARTS and box.symmetric:
        todo = _solve_as_one(box, np.flatnonzero(~alone), guess, tol, work)
    if todo[parts].any():
        order = np.argsort(box.group, kind="stable")
        ends = np.cumsum(members)
        for k in parts[todo[parts]]:
            index = order[ends[k] - members[k] : ends[k]]
            part = box if box.groups == 1 else box.part(index)
            at = None if guess is None else guess[index]
            work.x[index], verdicts[k] = _solve_part(part, at, tol, work)
    return verdicts


def _solve_as_one(
    box: ScaledBox, index: Indices, guess: Array | None, tol: float, work: _Work
) -> Flags:
    """Try all parts as one sparse problem; says which are still to be solved."""
    todo = np.ones(box.groups, dtype=bool)
    part = box.part(index)
    if not is_convex(part.D):
        return todo
    trial = active_set(part, sides(part, None if guess is None else guess[index]), tol, STEPS)
    work.iterations += trial.iterations
    work.x[index] = trial.x
    todo[:] = False
    todo[box.group[index[part.residual(trial.x, part.rate(trial.x), tol) > tol]]] = True
    return todo


def _solve_part(
    box: ScaledBox, guess: Array | None, tol: float, work: _Work
) -> tuple[Array, _Verdict]:
    """One connected part of two or more elements."""
    if box.size <= LEMKE_LIMIT:
        box = box.dense()
    convex = box.symmetric and is_convex(box.D)
    several = not convex and is_p_matrix(box.D) is False

    def error(x: Array) -> float:
        return float(box.residual(x, box.rate(x), tol).max())

    best, least = np.clip(np.zeros(box.size), box.lower, box.upper), np.inf

    def attempt(trial: Trial) -> bool:
        nonlocal best, least
        work.iterations += trial.iterations
        here = error(trial.x)
        if here < least:
            best, least = trial.x, here
        return here <= tol

    if attempt(active_set(box, sides(box, guess), tol, STEPS)):
        return best, _Verdict(several)
    if convex and attempt(proximal(box, best, tol, STEPS)):
        return best, _Verdict(several)
    unbounded = False
    if box.size <= LEMKE_LIMIT:
        trial = lemke_box(box, 100 + 20 * box.size)
        unbounded = trial.unbounded
        if not attempt(trial) and not unbounded:
            attempt(active_set(box, sides(box, trial.x), tol, 4))
    return best, _Verdict(several, unbounded)


def _solve_alone(box: ScaledBox, index: Indices, verdicts: list[_Verdict], work: _Work) -> None:
    """Closed form for all elements that are coupled to no other."""
    work.iterations += 1
    D, b = np.asarray(box.D.diagonal())[index], box.b[index]
    low, high = box.lower[index], box.upper[index]
    quiet = np.abs(b) <= box.floor[index]
    rest = np.clip(0.0, low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        regular = np.clip(b / D, low, high)
    toward = np.where(quiet, rest, np.where(b > 0, high, low))
    endless = (D == 0) & ~np.isfinite(toward)
    x = np.where(D > 0, regular, np.where(endless, rest, toward))
    work.x[index] = x
    for k in np.flatnonzero(endless):
        verdicts[box.group[index[k]]] = _Verdict(unbounded=True)
    for k in np.flatnonzero(D < 0):
        # The rate grows with the effort: up to three answers. Least effort first,
        # so that a contact which can open does not jam.
        inner = b[k] / D[k]
        answers = [inner] if low[k] < inner < high[k] else []
        answers += [high[k]] if np.isfinite(high[k]) and b[k] - D[k] * high[k] >= 0 else []
        answers += [low[k]] if np.isfinite(low[k]) and b[k] - D[k] * low[k] <= 0 else []
        work.x[index[k]] = min(answers, key=abs, default=rest[k])
        verdicts[box.group[index[k]]] = _Verdict(len(answers) != 1, unbounded=not answers)
