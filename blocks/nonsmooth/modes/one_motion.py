"""How far are elements that all move alike from moving, where bounds depend on efforts?

Brakes and gears with losses on shafts of one train share one motion, which leaves open how they
share a load. Both ways of moving are tried, with every effort at the bound that resists: the train
rests as long as both would slow down at once, whatever the split. The one that is shown has each at
the same share of the way from one of its bounds to the other.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    EFFORTS_STALLED,
    LEAST_CHANGE_LOADED,
    PIECE_SLOPE,
    PIECE_SLOPE_NONE,
    SYMMETRIC,
)
from ...system import Problem
from ..complementarity import signed_pivot
from ..complementarity.scaling import dense_block
from .evaluation import Evaluation
from .load_dependence import LoadDependence

__all__ = ["FAR", "ROUNDS", "OneMotion", "share_equations"]

Way: TypeAlias = tuple[Indices, float, Array]

ROUNDS = 25  # until bounds no longer change their pieces
FAR = 100.0  # times the range: a search for a split is lost


class OneMotion:
    """Elements of connected parts that have one motion.

    Parameters
    ----------
    evaluation : the laws at the present point
    load : its bounds that depend on efforts
    """

    def __init__(self, evaluation: Evaluation, load: LoadDependence) -> None:
        self.evaluation, self.load, self.elements = evaluation, load, evaluation.elements

    def room(self, problem: Problem, t: float, part: Indices) -> float | None:
        """The effort, of the first of a part at rest, that it lacks to move; None if unknown.

        That is where its elements have motions of their own, or friction carries itself.
        """
        ways = self._looked_at(problem, t, part)
        return min(-drive for _, drive, _ in ways) if ways else None

    def leading(self, problem: Problem, t: float, part: Indices) -> Indices | None:
        """Modes in the motion that is nearest to begin; None if unknown."""
        ways = self._looked_at(problem, t, part)
        return max(ways, key=lambda way: way[1])[0] if ways else None

    def _looked_at(self, problem: Problem, t: float, part: Indices) -> list[Way]:
        """Both motions; the problem stays where it is."""
        with put_back(problem.u, problem.z):
            return self._ways(problem, t, part)

    def decide(self, problem: Problem, t: float, part: Indices) -> tuple[Indices, Array] | None:
        """Modes and efforts of a part that was at rest, in the problem, too; None if unknown."""
        ways = self._ways(problem, t, part)
        moves = [way for way in ways if way[1] > 0]
        if moves:
            modes, _, effort = moves[0]
            full = self.evaluation.efforts(problem)
            full[part] = effort
            self.elements.put(problem.u, full)
            problem.solve_algebraic(t)
        else:
            modes, shared = np.zeros(len(part), dtype=int), self.split(problem, t, part)
            if shared is None:
                return None
            effort = shared
        return (modes, effort) if ways and len(moves) < len(ways) else None

    def _ways(self, problem: Problem, t: float, part: Indices) -> list[Way]:
        """Both motions: modes, what drives them on, and efforts; none if one is unknown."""
        senses, out = self._senses(problem, t, part), list[Way]()
        for modes in (senses, -senses) if senses is not None else ():
            drive = self._drive(problem, t, part, modes)
            if drive is None:
                return []
            out.append((modes, drive, self.evaluation.efforts(problem)[part]))
        return out

    def split(self, problem: Problem, t: float, part: Indices) -> Array | None:
        """Efforts of a part at rest, each at the same share of its range, in the problem, too."""
        senses = self._senses(problem, t, part)
        if senses is None:
            return None
        u, z = problem.u.copy(), problem.z.copy()
        n, first, share, forth = len(part), part[0], 0.5, senses > 0
        d = dense_block(self.evaluation.delassus.matrix(problem, t), part[:1], part)[0]
        for _ in range(ROUNDS):
            now, full = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
            low, high = (dense_block(s, part, part) for s in self.load.slopes(problem, t)[:2])
            wrong, matrix = share_equations(forth, share, full[part], np.eye(n), (
                now.low[part], now.high[part]), (low, high))
            matrix = np.vstack([matrix, np.append(d / d[0], 0.0)])
            step = np.linalg.lstsq(matrix, np.append(-wrong, now.rate[first] / d[0]),
                                   rcond=LEAST_CHANGE_LOADED)[0]
            full[part] += step[:n]
            share += step[n]
            self.elements.put(problem.u, full)
            problem.solve_algebraic(t)
            if not abs(share) <= FAR:
                break
            if np.abs(step[:n]).max() <= EFFORTS_STALLED * np.abs(full[part]).max():
                return full[part]
        problem.u[:], problem.z[:] = u, z
        return None

    def _senses(self, problem: Problem, t: float, part: Indices) -> Indices | None:
        """In which sense each of the elements moves where the first moves forward."""
        if self.elements.contact[part].any():
            return None
        d = dense_block(self.evaluation.delassus.matrix(problem, t), part, part)
        size = np.sqrt(d.diagonal())
        alike = d / np.outer(size, size)
        same = np.abs(np.abs(alike) - 1).max() <= SYMMETRIC
        return np.sign(alike[0]).astype(int) if same else None

    def _drive(self, problem: Problem, t: float, part: Indices, modes: Indices) -> float | None:
        """What drives a motion on, in efforts of the first element, against all friction."""
        pieces: Array | None = None
        for _ in range(ROUNDS):
            now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
            low, high = (dense_block(s, part, part) for s in self.load.slopes(problem, t)[:2])
            matrix = np.eye(len(part)) - np.where((modes > 0)[:, None], high, low)
            if pieces is not None and np.allclose(matrix, pieces, PIECE_SLOPE, PIECE_SLOPE_NONE):
                own = self.evaluation.delassus.matrix(problem, t)[part[0], part[0]]
                return float(modes[0] * now.rate[part[0]] / own)
            pieces = matrix
            if signed_pivot(matrix) <= 0:
                return None
            bound = np.where(modes > 0, now.high[part], now.low[part])
            effort[part] += np.linalg.solve(matrix, bound - effort[part])
            self.elements.put(problem.u, effort)
            problem.solve_algebraic(t)
        return None


def share_equations(forth: Flags, share: float, effort: Array, by: Array,
                    bounds: tuple[Array, Array], slopes: tuple[Array, Array]
                    ) -> tuple[Array, Array]:
    """What efforts miss of a share of the way from one bound to the other, and its derivatives.

    Parameters
    ----------
    forth : elements that move forward where the first motion does
    effort, by : of them, and their derivatives by what is sought beside the share
    bounds, slopes : lower and upper ones, and their derivatives
    """
    one, other = _turned(forth, *bounds)
    by_one, by_other = _turned(forth, *slopes)
    return effort - one - share * (other - one), np.column_stack([
        by - by_one - share * (by_other - by_one), one - other])


def _turned(forth: Flags, low: Array, high: Array) -> tuple[Array, Array]:
    """Bounds that resist the motion backward and forward, or their slopes."""
    turn = forth if low.ndim == 1 else forth[:, None]
    return np.where(turn, low, high), np.where(turn, high, low)
