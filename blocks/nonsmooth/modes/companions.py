"""Which frictions need no decision of their own? Those that rub along with another, or never move.

A seal and a guide on one rod have one flow: they stick together and slide together, and at rest
the motion tells the sum of their efforts only. One of them, the first, stands for all, with the
sum of their bounds; while they stick, each takes the same share of its range, which keeps within
its bounds as long as any split does. A friction whose flow is always zero (between gears in a
loop) has no influence on anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...numerics.arrays import Flags, Indices, Matrix
from ...numerics.tolerances import TINY

if TYPE_CHECKING:
    from ...system import Evaluator
    from .elements import Elements
    from .law_functions import LawExpressions

__all__ = ["Companions", "companions_of"]

SAME = 10  # digits in which flows at points without any meaning agree
POINTS = 3
LEAST = 1e-100  # no flow


@dataclass(frozen=True, eq=False)
class Companions:
    """Frictions that move as others do.

    Attributes
    ----------
    leader : (elements,) who decides: an element itself, or another one with the same flow
    sense : (elements,) 1, or -1 where the flow is the other's with its sign turned
    moves : (elements,) not those whose flow is always zero
    groups : elements with the same flow, the leader first
    """

    leader: Indices
    sense: Indices
    moves: Flags
    groups: list[Indices]

    @property
    def decides(self) -> Flags:
        """Elements whose modes are decided on."""
        return self.moves & (self.leader == np.arange(len(self.leader)))

    def join(self, modes: Indices, idle: Flags) -> None:
        """Let those that move together have one mode, where one of them has moved.

        Parameters
        ----------
        idle : elements that have no strength at present, whose mode says nothing
        """
        for group in self.groups:
            able = group[~idle[group]]
            tell = able if len(able) else group[:1]
            moved = tell[modes[tell] != 0]
            mode = self.sense[moved[0]] * modes[moved[0]] if len(moved) else 0
            modes[group] = self.sense[group] * mode

    @property
    def leading(self) -> Indices:
        """Who decides on each; -1 where nothing moves."""
        return np.where(self.moves, self.leader, -1)

    # -- as expressions --------------------------------------------------------------------
    def modes(self, modes: ca.SX) -> ca.SX:
        """Modes of all elements, by those that decide."""
        joined = modes[self.leader.tolist()] * ca.DM(self.sense.astype(float))
        return joined * ca.DM(self.moves.astype(float))

    def together(self, low: ca.SX, high: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Bounds (or twice the effort), a leader's being those of the sum of all efforts."""
        first, last = self._along(low, high)
        whole = ca.SX(low), ca.SX(high)
        for group in self.groups:
            for out, all_ in zip(whole, (first, last), strict=True):
                out[int(group[0])] = ca.sum1(all_[group.tolist()])
        return whole

    def split(self, effort: ca.SX, modes: ca.SX, low: ca.SX, high: ca.SX) -> ca.SX:
        """Efforts of what rests, 0 for others; a leader's ``effort`` is the sum of all."""
        first, last = self._along(low, high)
        out = ca.SX(effort)
        for group in self.groups:
            members, e = group.tolist(), int(group[0])
            least, width = ca.sum1(first[members]), (last - first)[members]
            whole = ca.sum1(width)
            share = ca.if_else(whole > 0, width / whole, 1 / len(members))
            own = first[members] + share * (effort[e] - least)
            out[members] = ca.if_else(modes[e] == 0, own * ca.DM(self.sense[group].tolist()), 0)
        for e in np.flatnonzero(~self.moves).tolist():
            out[e] = ca.fmin(ca.fmax(0, low[e]), high[e])
        return out

    def _along(self, low: ca.SX, high: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Bounds in the sense of the leaders."""
        first, last = ca.SX(low), ca.SX(high)
        for e in np.flatnonzero(self.sense < 0).tolist():
            first[e], last[e] = -high[e], -low[e]
        return first, last


def companions_of(elements: Elements, laws: LawExpressions, values: Evaluator, varies: Flags
                  ) -> Companions:
    """Those of a system.

    Parameters
    ----------
    values : what the laws come to, compiled
    varies : elements whose flow is no constant combination of states
    """
    n, tape = elements.size, laws.system.tape
    leader, sense, moves = np.arange(n), np.ones(n, dtype=int), np.ones(n, dtype=bool)
    fast = ca.vertcat(tape.u, tape.z)
    if any(ca.which_depends(laws.bounds, fast, 1, True)):  # a split has effects
        return Companions(leader, sense, moves, [])
    friction = ~elements.contact
    for e in np.flatnonzero(friction).tolist():
        moves[e] = not laws.flow[e].is_zero()
    friction &= moves & ~varies & ~np.array(
        ca.which_depends(laws.flow, fast, 1, True), dtype=bool)
    if np.count_nonzero(friction) < 2:
        return Companions(leader, sense, moves, [])
    known: dict[tuple[float, ...], int] = {}
    flows, bounded = _samples(laws, values)
    for e in np.flatnonzero(friction & bounded).tolist():
        flow = flows[e]
        turned = -1 if flow[np.argmax(flow != 0)] < 0 else 1
        leader[e] = first = known.setdefault(tuple(turned * flow), e)
        sense[e] = 1 if flow[0] == flows[first][0] else -1
    groups = [np.flatnonzero(leader == e) for e in np.unique(leader[leader != np.arange(n)])]
    return Companions(leader, sense, moves, groups)


def _samples(laws: LawExpressions, values: Evaluator) -> tuple[Matrix, Flags]:
    """Flows at some points, a row per element; which elements are bounded there."""
    draw = np.random.default_rng(0)
    found = np.array([values(*(draw.uniform(0.5, 1.5, a.numel()) for a in laws.system.arguments))
                      for _ in range(POINTS)]).reshape(POINTS, 7, -1)
    flow, bounds = found[:, 0].T, found[:, 1:5]
    digits = SAME - 1 - np.floor(np.log10(np.abs(flow) + TINY))
    scale = 10.0 ** np.minimum(digits, SAME - 1 - np.log10(LEAST))
    bounded = ~np.isinf(bounds).any(axis=(0, 1)) & np.isfinite(flow).all(axis=1)
    return np.round(flow * scale) / scale, bounded
