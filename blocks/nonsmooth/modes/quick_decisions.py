"""Does the mode follow that nearly always follows? Decisions that need no joint problem.

An element that no other one feels has a box problem of one unknown. Of several, the next mode is
nearly always one of few: what slid sticks or slides back, what stuck slides where it was pushed,
what was closed opens. Such an active set is predicted, and taken where it is known to be the only
solution: it meets all conditions with room to spare, and whatever rows one takes, of an element
that sticks or of one that slides either way, their determinant is positive. Then the equations
have one solution for every load, as a vertical linear complementarity problem whose representative
matrices all have positive determinants (R. W. Cottle, G. B. Dantzig, "A generalization of the
linear complementarity problem", J. Comb. Theory 8, 1970). Else nothing is changed, and the joint
problem of :mod:`blocks.nonsmooth.modes.decisions` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import (
    CLEAR_ROOM,
    EQUAL_BOUNDS,
    FAR_FROM_PARADOX,
    FLOW_TURNED,
    NEAR_GAP,
)
from .elements import LawValues
from .evaluation import Evaluation
from .margins import Margins
from .mode_of_one import MOST_PREDICTED, NOT_SURE, mode_of_one
from .rounding import largest_position
from .solved_modes import SolvedModes

if TYPE_CHECKING:
    from ...system import Problem

__all__ = ["QuickDecisions"]

EQUAL = 1 - EQUAL_BOUNDS  # of a bound at rest: no smaller one in motion is the same


class QuickDecisions:
    """Decisions on one element whose mode has ended, while all others are well within theirs."""

    def __init__(self, evaluation: Evaluation, margins: Margins) -> None:
        self.evaluation, self.margins = evaluation, margins
        self.elements, self.state = evaluation.elements, evaluation.state

    def decide_uncoupled(self, problem: Problem, t: float, touched: Indices) -> bool:
        """Decide on the one element touched, where no other feels it or is in doubt.

        Its box problem has one unknown; what the joint problem would do about it, in
        plain numbers. False, with all modes as they were, where there is more to think about.
        """
        evaluation, state, delassus = self.evaluation, self.state, self.evaluation.delassus
        functions = evaluation.functions
        if len(touched) != 1 or not functions.simple or functions.nonlinear:
            return False
        e, d = int(touched[0]), delassus.matrix(problem, t)
        own = float(delassus.uncoupled(d)[e])
        if self.elements.contact[e] or not own > 0:
            return False
        now, before = evaluation.values(problem, t), int(state.modes[e])
        low, high = float(now.low[e]), float(now.high[e])
        state.notice_flow(now.flow)
        if not low < high or self._others_in_doubt(
                problem, now, e, lambda: self.margins.present(problem, t)):
            return False
        flow = float(now.flow[e])
        if before and flow:
            push = delassus.slope_by_efforts(problem, t, np.array([e]))
            problem.x += push[:, 0] * (flow / own)
            now = evaluation.values(problem, t)
        drive = float(now.rate[e]) + own * float(
            problem.u[self.elements.column[e]] * self.elements.sign[e])
        rests = low + CLEAR_ROOM * (high - low) < drive / own < high - CLEAR_ROOM * (high - low)
        mode: int | None = 0
        if before == 0 or not rests:
            mode = self._mode_of_one(problem, t, e, own, drive, (low, high), now)
        if mode is not None:
            state.modes[e] = mode
        return mode is not None

    def _mode_of_one(self, problem: Problem, t: float, e: int, own: float, drive: float,
                     static: tuple[float, float], now: LawValues) -> int | None:
        """The sense in which an element moves under its load; None where it does not for sure."""
        mode = mode_of_one(own, drive, *static, float(now.back[e]), float(now.forth[e]),
                           bool(self.state.modes[e]),
                           float(self.evaluation.rounding.of_rates(problem, t)[e]))
        return None if mode == NOT_SURE else mode

    def predict(self, problem: Problem, t: float, touched: Indices) -> bool:
        """Take the mode that nearly always follows for the one element touched, with a proof.

        Only where efforts are solved for at every point and are affine in each other. False,
        with everything as it was, where it takes more to decide.
        """
        evaluation, held = self.evaluation, self.evaluation.held_modes
        if len(touched) != 1 or not isinstance(held, SolvedModes) or not held.affine:
            return False
        now, e = evaluation.present(problem, t), int(touched[0])
        self.state.notice_flow(now.flow)
        return not self._others_in_doubt(  # efforts that could be solved for are not open
            problem, now, e, lambda: self.margins.of_determined(now, evaluation.efforts(problem))
        ) and self._follows(problem, t, e, held)

    def _others_in_doubt(self, problem: Problem, now: LawValues, e: int,
                         margins: Callable[[], Array]) -> bool:
        """Whether any other element may be near the end of its mode, or ``e`` is far beyond."""
        modes, slow = self.state.modes, FLOW_TURNED * self.state.speed
        if modes[e] * now.flow[e] < -slow:
            return True
        if self.elements.size == 1:
            return False
        far = largest_position(problem)
        reserve = np.where(self.elements.contact, now.gap - NEAR_GAP * far, modes * now.flow - slow)
        if np.count_nonzero(modes) < self.elements.size:
            reserve = np.where(modes == 0, margins(), reserve)
        reserve[e] = 0.0
        return bool(reserve.min() < 0.0)

    def _follows(self, problem: Problem, t: float, e: int, held: SolvedModes) -> bool:
        """Set the mode that follows for the one element whose mode has ended, if it is proved."""
        modes, size = self.state.modes, self.elements.size
        before = int(modes[e])
        index = np.arange(size)
        if size > MOST_PREDICTED:
            parts = self.evaluation.components(problem, t)
            index = np.flatnonzero(parts == parts[e])
        if len(index) > MOST_PREDICTED or (self.elements.contact[e] and before):
            return False
        prediction = _Prediction(self.evaluation, held, problem, t, e, index)
        if not prediction.is_only():
            return False
        x, u = problem.x.copy(), problem.u.copy()
        if prediction.arrives() if before else prediction.leaves():
            return True
        modes[e] = before
        problem.x[:], problem.u[:] = x, u
        return False


class _Prediction:
    """A mode for one element, while the others of its connected part keep theirs."""

    def __init__(self, evaluation: Evaluation, held: SolvedModes, problem: Problem, t: float,
                 e: int, index: Indices) -> None:
        self.evaluation, self.held, self.modes = evaluation, held, evaluation.state.modes
        self.problem, self.t, self.e, self.index = problem, t, e, index
        self.resting = index[(index != e) & (self.modes[index] == 0)]
        self.now, self.effort = evaluation.present(problem, t), evaluation.efforts(problem)
        self.d = evaluation.delassus.matrix(problem, t)
        self.enough = 0.0  # room that counts, at the last efforts solved for

    def is_only(self) -> bool:
        """Whether all choices of rows have determinants well above zero."""
        load, now, n = self.evaluation.load, self.now, len(self.index)
        block = np.ix_(self.index, self.index)
        d = self.d[block]
        own = d.diagonal()
        if not (own > 0).all():
            return False
        slopes = np.zeros((4, n, n)) if load is None else np.array(
            [s[block] for s in load.slopes(self.problem, self.t)])
        choices = []
        for k, i in enumerate(self.index):
            low, high, back, forth = np.eye(n)[k] - slopes[:, k]
            mode = 0 if i == self.e else self.modes[i]
            below, above = (back, forth) if mode or i == self.e else (low, high)
            rows = [row for row, bound in ((below, now.low[i]), (above, now.high[i]))
                    if np.isfinite(bound)]
            choices.append([below if mode < 0 else above] if mode else [d[k] / own[k], *rows])
        determinants = np.linalg.det(np.array(list(product(*choices))))
        return bool((determinants > FAR_FROM_PARADOX).all())

    def arrives(self) -> bool:
        """What slid has come to rest: it sticks, or is not held and slides the other way."""
        e = self.e
        rests = np.append(self.resting, e)
        stop = np.linalg.solve(self.d[np.ix_(rests, rests)], self.now.flow[rests])
        self.problem.x += self.evaluation.delassus.slope_by_efforts(
            self.problem, self.t, rests) @ stop
        if not self._solves(0):
            return False
        now, effort = self.now, float(self.effort[e])
        room = min(float(now.high[e]) - effort, effort - float(now.low[e]))
        if room > self.enough:
            return self._keeps()
        sense = 1 if effort > now.high[e] else -1
        # beside others at rest, less effort in motion may allow several modes
        return room < -self.enough and (not len(self.resting) or self._is_same(sense)) \
            and self._solves(sense) and self._moves(sense) and self._keeps()

    def leaves(self) -> bool:
        """What stuck was pushed over a bound: it slides that way; a contact opens."""
        now, effort, e = self.now, self.effort, self.e
        if now.high[e] - now.low[e] <= CLEAR_ROOM * np.abs(effort).max():
            return False
        sense = 1 if now.high[e] - effort[e] < effort[e] - now.low[e] else -1
        return self._solves(sense) and self._keeps() and (
            self._is_same(sense) or self._moves(sense))

    def _solves(self, sense: int) -> bool:
        """Whether there are efforts of the mode; they are in the problem then."""
        evaluation, problem = self.evaluation, self.problem
        self.modes[self.e] = sense
        if not self.held.apply(problem, self.t, self.modes, evaluation.delassus):
            return False
        self.now, self.effort = evaluation.present(problem, self.t), evaluation.efforts(problem)
        self.enough = CLEAR_ROOM * float(np.abs(self.effort[self.index]).max())
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
        return bool(sense * self.now.rate[self.e] > CLEAR_ROOM * drive)
