"""Does the mode follow that nearly always follows?

At the end of one mode the next is nearly always one of few: what slid sticks or slides back,
what stuck slides where it was pushed, what was closed opens. Such a guess is taken where it
is known to be the only solution: it meets all conditions with room to spare, and whatever
rows one takes, of an element that sticks or of one that slides either way, their determinant
is positive. Then the equations have one solution for every load, as a vertical linear
complementarity problem whose representative matrices all have positive determinants
(R. W. Cottle, G. B. Dantzig, "A generalization of the linear complementarity problem",
J. Comb. Theory 8, 1970). Else nothing is changed, and the joint problem of
:mod:`blocks.nonsmooth.modes.decisions` decides.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ...system.problem import Problem
from .solved_modes import FAR

__all__ = ["follows"]

MOST = 4  # elements that act on each other: up to 3^4 determinants
ROOM = 1e-6  # of the largest effort: one that is clear of its bound
EQUAL = 1 - 1e-9  # of a bound at rest: no smaller one in motion is the same


def follows(laws: Any, problem: Problem, t: float, e: int) -> bool:
    """Set the mode that follows for the one element whose mode has ended.

    Parameters
    ----------
    laws : SetValuedLaws
        Their efforts are solved for at every point
        (:class:`~blocks.nonsmooth.modes.solved_modes.SolvedModes`) and are affine in each other.
    e : the element; all others are well within their modes

    Returns
    -------
    bool
        False, with everything as it was, where it takes more to decide.
    """
    before = int(laws.modes[e])
    index = np.arange(laws.size)
    if laws.size > MOST:
        parts = laws._parts(problem, t)
        index = np.flatnonzero(parts == parts[e])
    if len(index) > MOST or (laws.contact[e] and before):
        return False
    guess = _Guess(laws, problem, t, e, index)
    if not guess.is_only():
        return False
    x, u = problem.x.copy(), problem.u.copy()
    if guess.arrives() if before else guess.leaves():
        return True
    laws.modes[e] = before
    problem.x[:], problem.u[:] = x, u
    return False


class _Guess:
    """A mode for one element, while the others of its connected part keep theirs."""

    def __init__(self, laws: Any, problem: Problem, t: float, e: int, index: np.ndarray) -> None:
        self.laws, self.problem, self.t, self.e, self.index = laws, problem, t, e, index
        self.resting = index[(index != e) & (laws.modes[index] == 0)]
        self.now, self.effort = laws._present(problem, t), laws.efforts_of(problem.u)
        self.d = laws.delassus(problem, t)

    def is_only(self) -> bool:
        """Whether all choices of rows have determinants well above zero."""
        laws, now, n = self.laws, self.now, len(self.index)
        block = np.ix_(self.index, self.index)
        d = self.d[block]
        own = d.diagonal()
        if not (own > 0).all():
            return False
        slopes = np.zeros((4, n, n)) if laws.load is None else np.array(
            [s[block] for s in laws.load.slopes(self.problem, self.t)])
        choices = []
        for k, i in enumerate(self.index):
            low, high, back, forth = np.eye(n)[k] - slopes[:, k]
            mode = 0 if i == self.e else laws.modes[i]
            below, above = (back, forth) if mode or i == self.e else (low, high)
            rows = [row for row, bound in ((below, now.low[i]), (above, now.high[i]))
                    if np.isfinite(bound)]
            choices.append([below if mode < 0 else above] if mode else [d[k] / own[k], *rows])
        return bool((np.linalg.det(np.array(list(product(*choices)))) > FAR).all())

    def arrives(self) -> bool:
        """What slid has come to rest: it sticks, or is not held and slides the other way."""
        laws, e = self.laws, self.e
        rests = np.append(self.resting, e)
        stop = np.linalg.solve(self.d[np.ix_(rests, rests)], self.now.flow[rests])
        self.problem.x += laws._push(self.problem, self.t, rests) @ stop
        if not self._solves(0):
            return False
        now, effort = self.now, float(self.effort[e])
        room = min(float(now.high[e]) - effort, effort - float(now.low[e]))
        if room > self.enough:
            return self._keeps()
        sense = 1 if effort > now.high[e] else -1
        return room < -self.enough and self._is_same(sense) and self._solves(sense) \
            and self._moves(sense) and self._keeps()

    def leaves(self) -> bool:
        """What stuck was pushed over a bound: it slides that way; a contact opens."""
        now, effort, e = self.now, self.effort, self.e
        if now.high[e] - now.low[e] <= ROOM * np.abs(effort).max():
            return False
        sense = 1 if now.high[e] - effort[e] < effort[e] - now.low[e] else -1
        return self._solves(sense) and self._keeps() and (
            self._is_same(sense) or self._moves(sense))

    def _solves(self, sense: int) -> bool:
        laws, problem = self.laws, self.problem
        laws.modes[self.e] = sense
        if not laws.together(problem, self.t, laws.modes):
            return False
        self.now, self.effort = laws._present(problem, self.t), laws.efforts_of(problem.u)
        self.enough = ROOM * float(np.abs(self.effort[self.index]).max())
        return True

    def _keeps(self) -> bool:
        """Whether what rests besides is well within its bounds."""
        now, effort, rests = self.now, self.effort[self.resting], self.resting
        room = np.minimum(now.high[rests] - effort, effort - now.low[rests])
        return bool((room > self.enough).all())

    def _is_same(self, sense: int) -> bool:
        """Whether motion takes no less effort than was needed to begin it."""
        now, e = self.now, self.e
        rest, motion = (now.high, now.forth) if sense > 0 else (now.low, now.back)
        return bool(sense * motion[e] >= sense * rest[e] - (1 - EQUAL) * abs(rest[e]))

    def _moves(self, sense: int) -> bool:
        """Whether it is driven that way, by more than rounding of the other efforts."""
        drive = float(np.abs(self.d[self.e]) @ np.abs(self.effort))
        return bool(sense * self.now.rate[self.e] > ROOM * drive)
