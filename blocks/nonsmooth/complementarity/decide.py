"""Who sticks, slides, touches, opens, with what effort? The active set, found in plain loops.

Rest is tried first, or the modes that efforts come from. Then all modes change that are wrong;
where that goes round, one at a time (block principal pivoting), which ends where all principal
minors are positive. Where that does not lead to the end, and of hundreds of elements, efforts are
sought by laws that are smooth at first (:mod:`.smoothing`). They are taken where their residual
proves them.

References
----------
Júdice, Pires, Computers & Operations Research 21 (1994) 587-596.
"""

from __future__ import annotations

from math import isfinite

from ...machine.functions import machine_code
from ...numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    CLEAR_RATE,
    FULFILLED,
    SAME_RATES,
    SETTLED,
    STEP_RESIDUAL,
    TERMS_ROUNDING,
    TINY,
)
from .problem import (
    FEW,
    INFINITE,
    Problem,
    at_efforts,
    follows,
    newton,
    piece,
    residual,
    rounding,
    weigh,
)
from .smoothing import by_smoothing
from .sparse_lu import Factors

__all__ = ["ENUMERATED", "FOUND", "NONE", "NOT_FOUND", "SEVERAL", "count_answers", "decide",
           "proved"]  # fmt: skip

FOUND, SEVERAL, NONE, NOT_FOUND = 1, 2, 0, -1
ENUMERATED = 6  # elements up to which all combinations of modes are tried
AT_ONCE = 12  # linear systems after which many elements are sought another way,
SOON = 3  # or after so many,
HOPELESS = 1e-2  # where the residual is so large
PATIENCE = 3  # rounds that all wrong modes change without fewer being wrong
SINGLY = 2  # rounds more for each of few elements


def _change(problem: Problem, tol: float, n: int) -> int:
    """The pieces that efforts ask for, in ``wanted``; how many change."""
    x, wrong = problem.x, 0
    for i in range(n):
        z, old = x[i] + problem.rate[i], problem.pieces[i]
        band = 0.01 * tol * problem.top[problem.group[i]] + problem.floor[i]  # less is nothing
        new = 0
        if z > problem.up[i] + band or old > 0 and z >= problem.up[i] - band:
            new = 1
        elif z < problem.down[i] - band or old < 0 and z <= problem.down[i] + band:
            new = -1
        problem.wanted[i] = new
        wrong += 1 if new != old else 0
    return wrong


def _by_pieces(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Change pieces until they fit efforts, near those that there are; whether they are found."""
    pieces, wanted = problem.pieces, problem.wanted
    problem.error[:n] = problem.x[:n]
    fewest, patience = n + 1, PATIENCE
    for tried in range(AT_ONCE + SINGLY * min(n, FEW) if n <= FEW or problem.faint == 0.0
                       else AT_ONCE):
        problem.x[:n] = problem.error[:n]
        if not newton(problem, factors, n):
            return False
        problem.x[:n] = problem.new[:n]
        left = residual(problem, problem.x, tol, n)
        if n > FEW and tried + 1 >= SOON and left > HOPELESS and problem.faint > 0.0:
            return False
        wrong = _change(problem, tol, n)
        patience = PATIENCE if wrong < fewest else patience - 1
        if wrong == 0 or left <= tol and (problem.faint > 0.0 or patience < PATIENCE):
            return left <= tol
        fewest = min(fewest, wrong)
        for i in range(n - 1, -1, -1):
            if wanted[i] != pieces[i]:
                if patience < 0 and pieces[i] != 0:
                    pieces[i] = 0
                else:
                    pieces[i] = wanted[i]
                if patience < 0:
                    break
    return False


def _from_kept(problem: Problem, factors: Factors, tol: float, n: int) -> bool:
    """Whether modes told by efforts ``kept`` lead to better ones; else these are restored."""
    for near in range(2):
        problem.x[:n] = problem.kept[:n]
        residual(problem, problem.x, tol, n)
        for i in range(n):
            band = max(CLEAR_RATE * problem.top[problem.group[i]], TINY)
            x, rate = problem.x[i], problem.rate[i]
            problem.pieces[i] = 0
            if x >= problem.up[i] - band and rate > band:
                problem.pieces[i] = 1
            elif x <= problem.down[i] + band and rate < -band:
                problem.pieces[i] = -1
            if near == 1:
                problem.pieces[i] = piece(problem, problem.x, i)
        if _by_pieces(problem, factors, tol, n):
            return True
    problem.x[:n] = problem.kept[:n]
    return False


@machine_code
def decide(problem: Problem, factors: Factors, tol: float, n: int, rests: bool) -> int:
    """Efforts ``x`` that their residual proves: FOUND, or NONE or NOT_FOUND, with the best ones.

    The problem is posed, connected, with efforts to begin with in ``new`` and noise of rates in
    ``floor``; ``rests``: whether rest is tried first; else what the first efforts ask for.
    """
    loaded = False
    for i in range(n):
        loaded |= follows(problem, i)
    rounding(problem, n)
    weigh(problem, n)
    at_efforts(problem, problem.new, n)
    for i in range(n):
        problem.x[i] = min(max(problem.new[i], problem.down[i]), problem.up[i])
        problem.begun[i] = problem.x[i]
    problem.least[0], problem.systems[0], problem.systems[1] = INFINITE, 0, n
    if residual(problem, problem.x, tol, n) <= tol and not rests:
        return FOUND
    for i in range(n):
        problem.pieces[i] = 0 if rests else piece(problem, problem.x, i)
    if _by_pieces(problem, factors, tol, n):
        return FOUND
    if by_smoothing(problem, factors, tol, n):
        problem.kept[:n] = problem.x[:n]
        if problem.faint == 0.0:
            _from_kept(problem, factors, tol, n)  # which are more exact
        return FOUND
    problem.kept[:n] = problem.best[:n]
    if n <= FEW and _from_kept(problem, factors, tol, n):
        return FOUND
    problem.x[:n] = problem.best[:n]
    return NONE if loaded else NOT_FOUND


@machine_code
def proved(problem: Problem, factors: Factors, n: int, loose: bool) -> bool:
    """Efforts near ``new`` that end a step, in ``x``; whether they are found.

    ``loose``: a larger residual is accepted, as nothing better will be found.
    """
    tol = SETTLED if n <= FEW else STEP_RESIDUAL
    problem.floor[:n] = 0.0
    return decide(problem, factors, tol, n, False) == FOUND or loose and residual(
        problem, problem.x, tol, n) <= ACCEPTED_RESIDUAL


@machine_code
def count_answers(problem: Problem, factors: Factors, tol: float, n: int) -> int:
    """All combinations of modes of few elements: NONE, FOUND (in ``x``), or SEVERAL motions; of
    more NOT_FOUND. What slides for sure has no modes to try."""
    combinations, free = 1, 0
    for i in range(n):
        problem.held[i] = problem.low[i] == problem.high[i]
        for q in range(problem.starts[i], problem.starts[i + 1]):
            problem.held[i] = problem.held[i] and problem.L[q] == problem.H[q]
        if not problem.held[i]:
            combinations, free = 3 * combinations, free + 1
        if free > ENUMERATED:
            return NOT_FOUND
    answers = NONE
    for number in range(combinations):
        rest, possible = number, True
        for i in range(n):
            problem.pieces[i], problem.x[i] = 1, 0.0
            if problem.held[i]:
                continue
            problem.pieces[i] = rest % 3 if rest % 3 < 2 else -1
            rest = rest // 3
            bound = problem.low[i] if problem.pieces[i] < 0 else problem.high[i]
            possible = possible and (problem.pieces[i] == 0 or isfinite(bound))
        if not possible or not newton(problem, factors, n) or not residual(
                problem, problem.new, tol, n) <= max(tol, FULFILLED):
            continue
        differs = answers == NONE
        for i in range(n):
            same, size = problem.floor[i] + TINY, problem.top[problem.group[i]]
            for q in range(problem.starts[i], problem.starts[i + 1]):
                same += TERMS_ROUNDING * abs(problem.D[q] * problem.new[problem.columns[q]])
            differs = differs or abs(problem.rate[i] - problem.error[i]) > same + SAME_RATES * size
        if differs and answers == FOUND:
            answers = SEVERAL
            break
        if answers == NONE:
            answers = FOUND
            problem.error[:n], problem.kept[:n] = problem.rate[:n], problem.new[:n]
    if answers != NONE:
        problem.x[:n] = problem.kept[:n]
    return answers
