"""How much of a step of Newton's method is taken, in machine code?

Full steps may go round in a circle for ever, from one piece of a law to another and back. So much
is taken that the next step by the same matrix is shorter [the natural monotonicity test, P.
Deuflhard, "Newton Methods for Nonlinear Problems", Springer 2004, sec. 3.3.1]: for each block of
equations as much as it allows, whatever others need.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.tolerances import TIED_SOLVED
from ..system.newton import MOST_HALVINGS

__all__ = ["SHORTEST", "take_back"]

SHORTEST = 2.0**-MOST_HALVINGS  # of a step, that is tried


@machine_code
def take_back(step: int, following: int, shares: int, here: int, entries: int, magnitudes: int,
              blocks: int, size: int, values: int, first: int) -> int:
    """Halve the steps of blocks that the next ones would not be shorter after; 1 if there are any.

    Parameters
    ----------
    step, following : addresses of the step that has been taken, and of the next one
    shares : address of what has been taken of it, per unknown, filled the ``first`` time
    here : address of all values, of which ``entries`` are unknowns
    magnitudes : address of the nominal values of unknowns
    blocks : address of the number of the block of each unknown, ascending
    size, values : how many unknowns there are, and values at ``here``
    """
    steps, ahead = vector_at(step, size), vector_at(following, size)
    share, nominal = vector_at(shares, size), vector_at(magnitudes, size)
    x, at, block = vector_at(here, values), indices_at(entries, size), indices_at(blocks, size)
    begin, answer = 0, 0
    while begin < size:
        end = begin
        taken = 1.0 if first != 0 else share[begin]
        now = then = 0.0
        while end < size and block[end] == block[begin]:
            before = x[at[end]] + taken * steps[end]
            whole = abs(before) + nominal[end]
            now += abs(steps[end]) / whole
            then += abs(ahead[end]) / whole
            end += 1
        little = now <= TIED_SOLVED and then < np.inf
        shorter = little or then <= (1.0 - 0.5 * taken) * now  # not of what is no number
        less = taken if shorter or taken <= SHORTEST else 0.5 * taken
        for j in range(begin, end):
            share[j] = less
            x[at[j]] += (taken - less) * steps[j]
        if less < taken:
            answer = 1
        begin = end
    return answer
