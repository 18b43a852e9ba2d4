"""Newton's method for tied states and torn unknowns, in machine code.

Full steps may go round in a circle for ever, from one piece of a law to another and back. So much
is taken that the next step by the same matrix is shorter [the natural monotonicity test, P.
Deuflhard, "Newton Methods for Nonlinear Problems", Springer 2004, sec. 3.3.1]: for each block of
equations as much as it allows, whatever others need.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, run_code, vector_at
from ..numerics.arrays import Indices, Vector
from ..numerics.tolerances import (
    CANCELLATION,
    CEASED_FLOW,
    FULFILLED,
    LAST_BITS,
    NEWTON_CONVERGES,
    NEWTON_STALLED,
    NO_SHORTER,
)
from ..system.block_factors import factorize_blocks, solve_blocks
from ..system.newton import MOST_HALVINGS

__all__ = ["find_unknowns", "is_taken"]

SHORTEST = 2.0**-MOST_HALVINGS  # of a step, that is tried
ROUNDS = 60  # down an exponential it goes by a thermal voltage a round
FULL = 6  # rounds with full steps; then no more is taken of one than shortens the next
HUGE = 1e300  # what is larger is no number
HEAD = 6  # numbers before the lists that it is told


@machine_code
def find_unknowns(t: int, x: int, p: int, q: int, steady: int, equations: int, residual: int,
                  values: int, plan: int, room: int, here: int, told: int) -> int:
    """Solve for unknowns from the values at ``x``; where full steps lead nowhere, by shorter ones.

    Parameters
    ----------
    t, x, p, q : addresses, as of every function of a model
    steady, equations, residual : addresses of code that fills in what no round changes, the matrix
        and residuals (if it is factored once, it alone), and residuals
    values, plan, room : of :class:`~.sparse_factors.SparseFactors`
    here : address of which values are unknowns, their nominal values, a number, all values,
        residuals and then steps, room for three numbers per unknown and one per state, and whether
        there is a solution
    told : address of the numbers of unknowns, states, torn unknowns and derivatives; whether the
        matrix is factored once, and if it has been; the block of each unknown, the row of each
        derivative and what it is by, and which rows are of what flows carry
    """
    head = indices_at(told, HEAD)
    n, nx, entries, linear, again = head[0], head[1], head[3], head[4], head[5]
    count = nx + head[2]
    a, lists = vector_at(here, 6 * n + nx + count + 2), indices_at(
        told, HEAD + 2 * n + 2 * entries)[HEAD:]
    at, nominal, value, right = indices_at(here, n), a[n:], a[2 * n + 1:], a[2 * n + 1 + count:]
    left, step, fraction, rows = right[n:], right[2 * n:], right[3 * n:], lists[n:]
    start, pivots, slopes = vector_at(x, count), vector_at(room, 7 * n + 2), vector_at(
        values, entries)
    solution, carried = here + 8 * (2 * n + 1 + count), rows[2 * entries:]
    for i in range(0 if again != 0 else count):
        value[i] = start[i]
    run_code(steady, t, x, p, q, q)
    singular, factored = 0, linear != 0 or again != 0
    if factored and again == 0:
        run_code(equations, t, x, p, q, q)
        singular = factorize_blocks(values, plan, room)
    rounds, last, damped, found, bad, going = 0, np.inf, False, False, False, True
    while going:
        if factored:
            run_code(residual, t, x, p, q, q)
        else:
            run_code(equations, t, x, p, q, q)
            singular = factorize_blocks(values, plan, room)
        left[:n] = right[:n]
        solve_blocks(values, plan, room, solution)
        allowed = FULFILLED
        for i in range(n):
            if carried[i] != 0:
                allowed += CEASED_FLOW * abs(value[nx + i])
        bad = singular != 0 or not (factored or pivots[7 * n + 1] <= allowed)
        norm, whole = 0.0, 0.0
        for j in range(n):
            new = value[at[j]] - right[j]
            value[at[j]] = new
            part = abs(right[j]) / (abs(new) + nominal[j])
            norm = max(norm, part)
            whole += part + 0.0 * pivots[j]  # parts are numbers, pivots finite
        no_shorter, little, finite = norm > NO_SHORTER * last, norm <= NEWTON_STALLED, whole < HUGE
        # where a slope is steep at first, as of a root, a step tells nothing; then also of the next
        exact = (norm <= NEWTON_CONVERGES and (factored or rounds > 0) or no_shorter and little
                 or not factored and rounds > 0 and norm**3 <= CANCELLATION * last**2)
        if no_shorter and finite and not little:
            exact = exact or _are_last_bits(left, slopes, value, step, rows, n, entries)
        found = exact and finite
        rounds, last = rounds + 1, norm
        if rounds >= ROUNDS or bad or not finite or found:
            going, flat = not (damped or found), rounds == 1 and (bad or not finite)
            damped, rounds, last = True, 0, np.inf
            for i in range(count if going else 0):
                value[i] = start[i]
            for j in range(head[2] if going and flat else 0):  # a law may be flat where it begins
                value[at[j]] = nominal[j]
        elif damped or rounds >= FULL:
            step[:n] = right[:n]
            fraction[:n] = 1.0
            shorter = True
            while shorter:
                run_code(residual, t, x, p, q, q)
                solve_blocks(values, plan, room, solution)
                shorter = _take_back(step, right, fraction, value, at, nominal, lists, n)
    a[6 * n + nx + count + 1] = 1.0 if found and not bad else 0.0
    return 0


@machine_code
def _take_back(step: Vector, following: Vector, fraction: Vector, here: Vector, at: Indices,
               nominal: Vector, block: Indices, size: int) -> bool:
    """Halve the steps of blocks that the next ones would not be shorter after; whether there are.

    ``step`` has been taken, ``following`` is the next one; ``fraction`` is how much of that,
    per unknown; ``here``, ``at`` and ``nominal`` are all values, which of them are unknowns, and
    the nominal values of these; ``block`` is the number of the block of each unknown, ascending.
    """
    begin, any_ = 0, False
    while begin < size:
        end, taken = begin, fraction[begin]
        now = then = 0.0
        while end < size and block[end] == block[begin]:
            before = here[at[end]] + taken * step[end]
            whole = abs(before) + nominal[end]
            now += abs(step[end]) / whole
            then += abs(following[end]) / whole
            end += 1
        less = taken if is_taken(now, then, taken) else 0.5 * taken
        for j in range(begin, end):
            fraction[j] = less
            here[at[j]] += (taken - less) * step[j]
        any_ |= less < taken
        begin = end
    return any_


@machine_code
def is_taken(now: float, then: float, share: float) -> bool:
    """Whether so much of a step of the length ``now`` is taken, after which the next one by the
    same matrix has the length ``then``; not where that is no number."""
    little = now <= NEWTON_CONVERGES and then < np.inf
    return little or then <= (1.0 - 0.5 * share) * now or share <= SHORTEST


@machine_code
def _are_last_bits(left: Vector, slopes: Vector, here: Vector, bound: Vector, told: Indices,
                   rows: int, entries: int) -> bool:
    """Whether residuals are what the last bits of the unknowns make of them.

    A voltage that follows from the difference of two currents may be known to 1e-6 only. ``left``
    and ``slopes`` are residuals and their derivatives, ``here`` is all values, ``bound`` room for a
    number per residual; ``told`` is the row of each derivative, what it is by, and which rows are
    of what flows carry.
    """
    bound[:rows] = 0.0
    for e in range(entries):
        bound[told[e]] += abs(slopes[e] * here[told[entries + e]])
    most = 0.0  # small flows are differences of large ones, and known as these are
    for i in range(rows):
        if told[2 * entries + i] != 0:
            most = max(most, bound[i])
    for i in range(rows):
        allowed = most if told[2 * entries + i] != 0 else bound[i]
        if not abs(left[i]) <= LAST_BITS * allowed:
            return False
    return True
