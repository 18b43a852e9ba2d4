"""By which equations is a split held, where efforts at rest press the friction of others?

A box on two feet rests in many ways. Of its equations as many are left out as the others imply,
and instead of them stand those of the split with the most room, as a linear function of what is
carried: machine code solves them as it does all others, and watches that what is left out is
implied still. Where a foot comes to a bound, another split may hold: it is sought anew.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import BLOCK_SINGULAR, MODE_ENDED, RATE_OF_STRESS
from ...system import Problem
from ..complementarity import LinearSplit, loaded_linear_split
from ..complementarity.scaling import dense_block
from .indeterminacy import Indeterminacy
from .solved_modes import SolvedModes

__all__ = ["GivenRows"]


class GivenRows:
    """Equations of the elements that stick in the present modes.

    Parameters
    ----------
    held : the equations that are solved at every point
    indeterminacy : who shares internal stress
    """

    def __init__(self, held: SolvedModes, indeterminacy: Indeterminacy) -> None:
        self.held, self.indeterminacy = held, indeterminacy
        self.evaluation, self.delassus = indeterminacy.evaluation, indeterminacy.delassus

    @property
    def none(self) -> Array:
        """Of modes that need no row."""
        return np.zeros(sum(2 * len(block) + len(block) ** 2 for block in self.held.shared))

    def rows(self, problem: Problem, t: float, modes: Indices) -> tuple[Array, Array] | None:
        """Determinants, and what machine code is given; None where no split is known to hold."""
        from scipy.linalg import qr

        held = self.held
        dead, open_ = self.indeterminacy.felt(problem, t, modes == 0)
        blocks = [block for block in held.shared if np.isin(open_, block).any()]
        if len(dead) or not blocks or not np.isin(open_, np.concatenate(blocks)).all():
            return None
        matrix, own = held.equations(problem, t, modes)
        is_given, right, rows = np.zeros(held.size), np.zeros(held.size), np.zeros_like(matrix)
        for block in blocks:
            rests, slides = block[modes[block] == 0], block[modes[block] != 0]
            found = self._split(problem, t, rests, slides) if (own[rests] > 0).all() else None
            if found is None:
                return None
            split, basis, moved = found
            left, singular, _ = np.linalg.svd(moved / own[rests, None])
            count = basis.shape[1]
            if np.count_nonzero(singular < BLOCK_SINGULAR * singular[0]) != count:
                return None
            implied = rests[qr(left[:, -count:].T, mode="r", pivoting=True)[1][:count]]
            inverse = np.linalg.pinv(basis)
            is_given[implied], right[implied] = 1.0, -inverse @ split.level
            rows[np.ix_(implied, rests)] = inverse @ split.change
            matrix[implied] = rows[implied]
            if np.linalg.det(matrix[np.ix_(rests, rests)]) < 0:  # or else it seems to jam
                for one in (right, rows, matrix):
                    one[implied[0]] *= -1
        if not held.reserves(matrix[None], own[None], modes)[0] > 0:
            return None
        who = np.concatenate(held.shared)
        return np.concatenate(held.determinants(modes, matrix)), np.concatenate([
            is_given[who], right[who],
            *(rows[np.ix_(block, block)].T.ravel() for block in held.shared)])

    def _split(self, problem: Problem, t: float, rests: Indices, slides: Indices
               ) -> tuple[LinearSplit, Array, Array] | None:
        """The split of what rests in a block, a basis of efforts without effect, and how rates
        follow those of what rests, with their sign turned; None if none is known to hold."""
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        loaded, d = self.indeterminacy.loaded, self.delassus.matrix(problem, t)
        own = np.abs(np.asarray(d.diagonal())[rests])
        if (np.abs(now.rate[rests]) > RATE_OF_STRESS * own * np.abs(effort).sum()).any():
            return None
        if loaded is None:
            moved, others = dense_block(d, rests, rests), dense_block(d, slides, rests)
            low, high = np.zeros((2, len(rests), len(rests)))
        else:
            (low, high), moved, others = loaded.followed(problem, t, rests, slides)
        slack = np.broadcast_to(self.indeterminacy.state.slack, self.held.size)[rests]
        split, basis = loaded_linear_split(
            moved, effort[rests], now.low[rests] - slack - low @ effort[rests],
            now.high[rests] + slack - high @ effort[rests], low, high, others)
        clear = split.room > (0.0 if slack.any() else MODE_ENDED)
        return (split, basis, moved) if clear and basis.shape[1] else None
