"""Does no motion, or more than one, obey the laws of contact and friction? Then a run stops.

Sliding friction that presses its own contact together as fast as the contact can push back has no
bounded force (Painlevé's paradox); contacts at rest that press against each other with any force
leave the friction of what slides open.
"""

from __future__ import annotations

import numpy as np

from ...exceptions import SimulationError
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    ANOTHER_SOLUTION,
    BLOCK_SINGULAR,
    FLOW_NONE,
    PARADOX,
    ROUNDING,
    TINY,
)
from ...system import Problem
from ..complementarity import Solution, Status, open_load, signed_pivot
from ..complementarity.scaling import dense_block
from .delassus import Matrix
from .efforts import Efforts
from .evaluation import Evaluation
from .gaps import largest_position
from .load_dependence import LoadDependence

__all__ = ["Painleve"]

DENSE = 1000  # elements up to which a matrix that many blocks are taken of is dense, of 8 MB
BY_IMPULSE = ("Contacts of bodies that nothing else jams go on by method='moreau_jean' with a "
              "step, which ends the jam by an impulse within one.")


class Painleve:
    """What is refused of friction that depends on efforts.

    ``load`` are its bounds that depend on efforts, ``efforts`` those of the present modes.
    """

    def __init__(self, evaluation: Evaluation, load: LoadDependence, efforts: Efforts) -> None:
        self.evaluation, self.load, self.efforts = evaluation, load, efforts
        self.elements, self.state = evaluation.elements, evaluation.state

    # -- how far from a jam ----------------------------------------------------------------
    def reserve(self, problem: Problem, t: float) -> Array:
        """Share of its friction-free value that the matrix of an island that slides has left.

        Infinite where nothing slides with a friction that depends on efforts. At 0
        efforts become infinite; below, they have the wrong sign.
        """
        key = ("reserve", self.state.modes.tobytes())
        return self.load.once_here(problem, t, key, lambda: self._reserve(problem, t))

    def _reserve(self, problem: Problem, t: float) -> Array:
        modes, load = self.state.modes, self.load
        out = np.full(self.elements.size, np.inf)
        sliding = (modes != 0) & load.dependent
        if not sliding.any():
            return out
        kinetic, d = map(_at_hand, (load.kinetic(problem, t),
                                   self.evaluation.delassus.matrix(problem, t)))
        islands = load.components(problem, t)
        moves = np.flatnonzero(sliding)
        drives = np.flatnonzero((modes == 0) & _acts(kinetic[moves], 0))
        # only islands whose friction acts on what it depends on
        acts = np.concatenate([drives[_acts(d[drives][:, moves], 1)],
                               moves[_acts(kinetic[moves][:, moves], 1)]])
        sliding &= self.evaluation.connected_with(problem, t, acts)
        if not sliding.any():
            return out
        for island in np.unique(islands[sliding]):
            slides = np.flatnonzero((modes != 0) & load.dependent & (islands == island))
            left = signed_pivot(np.eye(len(slides)) - dense_block(kinetic, slides, slides))
            rests = np.flatnonzero((modes == 0) & (islands == island))
            rests = rests[dense_block(kinetic, slides, rests).any(axis=0)]
            if len(rests) and left > PARADOX:
                block = dense_block(d, rests, rests)
                through = dense_block(d, rests, slides) @ load.following(kinetic, slides, rests)
                left = min(left, signed_pivot(_of_its_rank(block + through, block)))
            out[slides] = left - PARADOX
            out[rests] = left - PARADOX
        return out

    # -- what is refused -------------------------------------------------------------------
    def refuse(self, t: float, solution: Solution, index: Indices) -> None:
        """Stop where no efforts, or several, solve the problem of the elements ``index``."""
        if solution.status is Status.SOLVED:
            return
        told = "several motions obey" if solution.status is Status.NOT_UNIQUE else "no motion obeys"
        raise self._jammed(t, index[solution.suspects], told)

    def refuse_jam(self, problem: Problem, t: float, elements: Flags) -> None:
        """Stop where the efforts of what slides have no bound, or go from piece to piece."""
        restless = (self.state.modes != 0) & self.load.dependent & bool(self.efforts.restless)
        jams = elements & ((self.reserve(problem, t) <= 0) | restless)
        if jams.any():
            raise self._jammed(t, np.flatnonzero(jams), "no unique motion obeys")

    def refuse_several(self, problem: Problem, t: float) -> None:
        """Stop where what slides would do so as well with a guide that presses the other way."""
        sliding = (self.state.modes != 0) & self.load.dependent
        if not sliding.any():
            return
        self._refuse_wedged(problem, t, sliding)
        if not self.load.pieces:
            return
        system, effort = self.evaluation.system, self.evaluation.efforts(problem)
        slope = system.slope(*problem.arguments(t))
        push = self.evaluation.delassus.slope_by_efforts(problem, t, np.arange(self.elements.size))
        size = np.abs(slope) + abs(push) @ np.abs(effort)
        big = 1e3 * max(float(np.abs(problem.u).max()), 1e-3)
        other_motion = ANOTHER_SOLUTION * size.max(initial=0.0) + ROUNDING * big * float(
            (abs(push) @ sliding).max(initial=0.0))  # what is left of efforts so large
        with put_back(problem.u, problem.z):
            for sign in (1, -1):
                holds = self._holds_from(problem, t, np.where(sliding, sign * big, effort))
                other = system.slope(*problem.arguments(t))
                if holds and np.any(np.abs(other - slope) > other_motion):
                    raise self._jammed(t, np.flatnonzero(sliding), "several motions obey")

    def _holds_from(self, problem: Problem, t: float, effort: Array) -> bool:
        """Whether the modes hold at the efforts that are found from these."""
        modes = self.state.modes
        self.elements.put(problem.u, effort)
        problem.solve_algebraic(t)
        self.efforts.apply(problem, t)
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        near = ANOTHER_SOLUTION * np.abs(effort).max()
        holds = np.where(modes == 0, (effort >= now.low - near) & (effort <= now.high + near),
                         np.abs(now.sliding(modes) - effort) <= near)  # fmt: skip
        return bool(holds.all())

    def _refuse_wedged(self, problem: Problem, t: float, sliding: Flags) -> None:
        """Stop where what slides is pressed by efforts at rest that could be others as well."""
        load = self.load
        kinetic, d = map(_at_hand, (load.kinetic(problem, t),
                                   self.evaluation.delassus.matrix(problem, t)))
        islands, rest = load.components(problem, t), self._at_rest(problem, t)
        several = np.bincount(islands[rest], minlength=islands.max() + 1) > 1
        for island in np.unique(islands[sliding & several[islands]]):
            mine = np.flatnonzero(islands == island)
            slides, rests = mine[~rest[mine]], mine[rest[mine]]
            drives = rests[dense_block(kinetic, slides, rests).any(axis=0)]
            if len(drives) == 0:
                continue
            back = load.following(kinetic, slides, rests)
            if open_load(dense_block(d, rests, rests), dense_block(d, rests, slides) @ back,
                         dense_block(d, slides, rests) + dense_block(d, slides, slides) @ back):
                raise self.elements.error(
                    t, np.concatenate([drives, slides]), "several motions obey the laws of rigid "
                    "contact and dry friction: what is at rest is wedged, it may bear its load in "
                    "many ways, and the friction of what slides depends on how it does.", "Leave "
                    "some play between the bodies, or let a contact or friction yield: a spring "
                    "with a damper in its place, or behind it, says how hard it is pressed.",
                    code="simulation.paradox")

    def _at_rest(self, problem: Problem, t: float) -> Flags:
        """Elements that are stuck or closed, or contacts that are open by rounding only."""
        now, rest = self.evaluation.values(problem, t), self.state.modes == 0
        far = largest_position(problem)
        touching = self.elements.contact & ~rest & (now.gap <= ROUNDING * far) & (
            np.abs(now.flow) <= FLOW_NONE * self.state.fast)
        if touching.any():
            rest |= touching & (np.abs(now.rate) <= self.evaluation.rounding.of_rates(problem, t))
        return rest

    # -- what is said ----------------------------------------------------------------------
    def _jammed(self, t: float, elements: Indices, found: str) -> SimulationError:
        return self.elements.error(
            t, elements, f"{found} the laws of rigid contact and dry friction: sliding "
            "friction presses its own contact together as fast as the contact can push back, or "
            "faster (Painlevé's paradox: the body jams), or what presses it is not determined.",
            "Lower the coefficient of friction or change the angle at which the friction acts; or "
            "let the contact yield: a spring with a damper in place of the rigid contact or guide."
            + f" {BY_IMPULSE}" * bool(self.elements.contact[elements].any()),
            code="simulation.paradox")


def _at_hand(matrix: Matrix) -> Matrix:
    """A matrix that many blocks are taken of: dense, unless it is large."""
    return matrix.toarray() if sp.issparse(matrix) and matrix.shape[0] <= DENSE else matrix


def _acts(matrix: Matrix, axis: int) -> Flags:
    """Which columns (axis 0) or rows (1) have entries."""
    return np.ravel((matrix != 0).sum(axis=axis)) > 0


def _of_its_rank(loaded: Array, block: Array) -> Array:
    """A matrix in units in which the block, without what is open in it, is the identity."""
    size = np.sqrt(np.maximum(np.diag(block), TINY))
    loaded, block = loaded / np.outer(size, size), block / np.outer(size, size)
    values, vectors = np.linalg.eigh(block)
    real = values > BLOCK_SINGULAR
    q = vectors[:, real] / np.sqrt(values[real])
    return q.T @ loaded @ q
