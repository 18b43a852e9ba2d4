"""By which equations is a split held, where efforts at rest press the friction of others?

A box on two feet rests in many ways. Of its equations as many are left out as the others imply,
and instead of them stand those of how they share what they carry: who is at its bound stays there,
and of what the others bear the weighted squares are least
(:func:`blocks.nonsmooth.complementarity.given_rows`). Machine code solves them as it does all
others, and watches that what is left out is implied still.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import BLOCK_SINGULAR, RATE_OF_STRESS
from ...system import Problem
from ..complementarity import given_rows
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
        self.evaluation = indeterminacy.evaluation

    @property
    def none(self) -> Array:
        """Of modes that need no row."""
        return np.zeros(sum(2 * len(block) + len(block) ** 2 for block in self.held.shared))

    def rows(self, problem: Problem, t: float, modes: Indices) -> tuple[Array, Array] | None:
        """Determinants, and what machine code is given; None where no split is known to hold."""
        from scipy.linalg import qr

        held = self.held
        ends = self.indeterminacy.ends(problem, t)
        dead, open_ = self.indeterminacy.felt(problem, t, modes == 0)
        blocks = [block for block in held.shared if np.isin(open_, block).any()]
        if len(dead) or not blocks or not np.isin(open_, np.concatenate(blocks)).all():
            return None
        matrix, own = held.equations(problem, t, modes)
        is_given, right, rows = np.zeros(held.size), np.zeros(held.size), np.zeros_like(matrix)
        now, effort = self.evaluation.present(problem, t), self.evaluation.efforts(problem)
        rate = self.evaluation.values(problem, t).rate
        for block in blocks:
            rests, slides = block[modes[block] == 0], block[modes[block] != 0]
            part, _ = self.indeterminacy.posed(problem, t, rests, slides, now)
            noise = RATE_OF_STRESS * np.abs(part.D.diagonal()) * np.abs(effort).sum()
            if not (own[rests] > 0).all() or (np.abs(rate[rests]) > noise).any():
                return None
            values, given = given_rows(part, ends[rests])
            left, singular, _ = np.linalg.svd(part.D / own[rests, None])
            if np.count_nonzero(singular < BLOCK_SINGULAR * singular[0]) != len(given):
                return None
            implied = rests[qr(left[:, -len(given):].T, mode="r", pivoting=True)[1][:len(given)]]
            is_given[implied], right[implied] = 1.0, given
            rows[np.ix_(implied, rests)] = values
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
