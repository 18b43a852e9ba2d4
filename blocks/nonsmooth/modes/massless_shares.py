"""How do elements at rest share a load that no motion tells, where bounds follow how they do?

Beside ideal elements what a gear with losses can hold follows what a brake on its shaft bears. Of
one motion each is at the same share of the way between its bounds, as of bodies
(:mod:`blocks.nonsmooth.modes.one_motion`); of several the split has the most room.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics.arrays import Array, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    EFFORTS_SETTLED,
    EFFORTS_STALLED,
    LEAST_CHANGE_LOADED,
    PIECE_SLOPE,
    PIECE_SLOPE_NONE,
    SUM_ROUNDING,
)
from ...system import Problem
from ..complementarity import loaded_split, ranges_end
from ..complementarity.scaling import dense_block
from .bound_functions import BoundFunctions, bounds_by_taken
from .massless_efforts import MasslessEfforts
from .one_motion import FAR, ROUNDS, share_equations

__all__ = ["MasslessShares", "StressGroup"]


@dataclass(frozen=True)
class StressGroup:
    """Elements that share internal stress: efforts, and the inputs that change them."""

    members: Indices
    efforts: Array
    inputs: Array

    def alike(self, other: StressGroup) -> bool:
        """Whether another group has the same elements and directions."""
        return np.array_equal(self.members, other.members) and (
            self.efforts.shape == other.efforts.shape
            and np.allclose(self.efforts, other.efforts, rtol=0.0, atol=SUM_ROUNDING)
            and np.allclose(self.inputs, other.inputs, rtol=SUM_ROUNDING))


class MasslessShares:
    """Shares of a load that bounds follow."""

    def __init__(self, efforts: MasslessEfforts) -> None:
        self.efforts, self.equations, self.system = efforts, efforts.equations, efforts.system

    @cached_property
    def functions(self) -> BoundFunctions:
        """How bounds follow what elements take."""
        return bounds_by_taken(self.system)

    def follow(self, group: StressGroup) -> bool:
        """Whether bounds of a group follow anything that elements take."""
        return bool(self.functions.dependent[group.members].any())

    def least(self, problem: Problem, t: float, group: StressGroup) -> float:
        """The smallest share of bounds that a group can take: 1 at its end."""
        with put_back(problem.u, problem.z):
            return self.take(problem, t, group)

    def take(self, problem: Problem, t: float, group: StressGroup) -> float:
        """Leave the problem at the split of a group that is shown; returns its share of bounds."""
        _, _, low, high = self._at(problem, t, group)[:4]
        if group.efforts.shape[1] == len(group.members) - 1 and ranges_end(
                low, high).all():
            share = self._even(problem, t, group)
            if share is not None:
                return share
        return self._with_most_room(problem, t, group)

    def _at(self, problem: Problem, t: float, group: StressGroup) -> Array:
        return self.equations.values(problem, t)[:, group.members]

    def _slopes(self, problem: Problem, t: float, group: StressGroup) -> tuple[Array, Array]:
        """Of lower and upper bounds by how much there is of each of the group's directions."""
        every = np.arange(self.efforts.elements.size)
        low, high = (dense_block(s, group.members, every) @ group.inputs
                     for s in self.functions.slopes(problem, t)[:2])
        return low, high

    def _change(self, problem: Problem, t: float, change: Array) -> None:
        self.efforts.change(problem, change)
        problem.solve_algebraic(t)

    def _even(self, problem: Problem, t: float, group: StressGroup) -> float | None:
        """Each at the same share of its range; None, and as it was, where that is not found."""
        u, z, share = problem.u.copy(), problem.z.copy(), 0.5
        forth = np.linalg.svd(group.efforts.T)[2][-1] > 0
        for _ in range(ROUNDS):
            _, effort, low, high, *_ = self._at(problem, t, group)
            wrong, matrix = share_equations(forth, share, effort, group.efforts, (low, high),
                                            self._slopes(problem, t, group))
            step = np.linalg.lstsq(matrix, -wrong, rcond=LEAST_CHANGE_LOADED)[0]
            self._change(problem, t, group.inputs @ step[:-1])
            share += float(step[-1])
            if not abs(share) <= FAR:
                break
            if np.abs(group.efforts @ step[:-1]).max() <= EFFORTS_STALLED * np.abs(effort).max():
                return abs(2.0 * share - 1.0)
        problem.u[:], problem.z[:] = u, z
        return None

    def _with_most_room(self, problem: Problem, t: float, group: StressGroup) -> float:
        """The split with the most room, sought from the least efforts, which know of no past; from
        the present ones where laws with kinks hold in another piece."""
        u, z = problem.u.copy(), problem.z.copy()
        effort = self._at(problem, t, group)[1]
        self._change(problem, t, -group.inputs @ np.linalg.lstsq(group.efforts, effort)[0])
        room = self._most_room(problem, t, group)
        if room < -EFFORTS_SETTLED:
            problem.u[:], problem.z[:] = u, z
            room = self._most_room(problem, t, group)
        return 1.0 - room

    def _most_room(self, problem: Problem, t: float, group: StressGroup) -> float:
        """The room of the best split, by bounds linearised at the present one, repeatedly."""
        basis, pieces, room = group.efforts, None, np.inf
        orthonormal = np.linalg.qr(basis)[0]
        felt = np.eye(len(basis)) - orthonormal @ orthonormal.T  # what a split may not change
        for _ in range(ROUNDS):
            _, effort, low, high, *_ = self._at(problem, t, group)
            slopes = np.stack(self._slopes(problem, t, group)) @ np.linalg.pinv(basis)
            if pieces is not None and np.allclose(slopes, pieces, PIECE_SLOPE, PIECE_SLOPE_NONE):
                break
            pieces = slopes
            found = loaded_split(felt, effort, low - slopes[0] @ effort, high - slopes[1] @ effort,
                                 *slopes)
            room = found.room
            self._change(problem, t, group.inputs @ np.linalg.lstsq(
                basis, found.effort - effort, rcond=None)[0])
        return room
