"""Which split of indeterminate efforts has the most room, where bounds depend on the split?

Efforts at rest that the motion leaves open may press the friction of others at rest, and of what
slides beside them. Bounds are linearised at the present efforts; pieces are found by repetition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import CLEAR_ROOM, EFFORTS_SETTLED, PIECE_SLOPE, PIECE_SLOPE_NONE
from ...system import Evaluator, Problem
from ...system.points import Points
from ..complementarity import (
    LoadedSplit,
    components,
    least_efforts,
    loaded_split,
    loaded_splits,
    ranges_end,
)
from ..complementarity.scaling import dense_block
from ..unsettled import unsettled
from .delassus import is_singular
from .dense_blocks import count_nonzero
from .evaluation import Evaluation
from .load_dependence import LoadDependence
from .one_motion import ROUNDS, OneMotion

__all__ = ["LoadedSplits"]


class LoadedSplits:
    """Internal stress among elements whose bounds depend on it.

    Parameters
    ----------
    evaluation : the laws at the present point
    load : its bounds that depend on efforts
    """

    def __init__(self, evaluation: Evaluation, load: LoadDependence) -> None:
        self.evaluation, self.load = evaluation, load
        self.elements, self.state = evaluation.elements, evaluation.state
        self.one_motion = OneMotion(evaluation, load)

    def unloaded(self, problem: Problem, t: float) -> Flags:
        """Elements that only open contacts could load: their effort is known, it is zero."""
        contact = self.elements.contact
        acting = ~(contact & (self.state.modes < 0))
        now, out = self.evaluation.values(problem, t), self.load.dependent & ~contact
        out &= now.high - now.low <= 0
        for slopes in self.load.slopes(problem, t)[:2]:
            out &= count_nonzero(slopes[:, acting], None, 1) == 0
        return out

    def margins(self, problem: Problem, t: float, index: Indices) -> tuple[Array, Flags]:
        """Room of the best split per indeterminate element, and which are first to leave."""
        size = self.elements.size
        out, first = np.full(size, np.inf), np.zeros(size, dtype=bool)
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        room = np.minimum(now.high - effort, effort - now.low) + self.state.slack
        least = float(room[index].min())
        if least > CLEAR_ROOM * np.abs(effort).max():  # a split within the bounds is proof
            out[index] = least
            return out, first
        for rests, part in self._parts(problem, t, index):
            alike = self.one_motion.room(problem, t, rests) if len(rests) == len(part) else None
            if alike is not None:
                out[rests], first[rests] = alike, True
                continue
            found = self._best_of(problem, t, rests, part, holds=False)
            out[rests] = found.room
            first[rests[found.first]] = True
        return out, first

    def best(self, problem: Problem, t: float, index: Indices) -> list[tuple[Indices, Array]]:
        """Per connected part of indeterminate elements with a choice: who, and the split shown.

        Leaves the problem at those splits, of one motion the even one where all ranges end, else
        that with the most room, the same whatever split the run has come with. One that does not
        hold is refused.
        """
        out, now = [], self.evaluation.values(problem, t)
        for rests, part in self._parts(problem, t, index):
            alike = len(rests) == len(part) and bool(
                ranges_end(now.low[rests], now.high[rests]))
            even = self.one_motion.split(problem, t, rests) if alike else None
            if even is None:
                found = self._shown(problem, t, rests, part)
                even = found.effort if found.free else None
            if even is not None:
                out.append((rests, even))
        return out

    def split_at_points(self, points: Points, effort: Array, columns: Indices) -> Flags:
        """The splits shown at many times, put into columns of ``effort``, and where they are found:
        at times with the same levers, of parts that rest on contacts and of which nothing slides.
        """
        functions, n, k = self.evaluation.functions, self.elements.size, len(points)
        found = np.zeros(k, dtype=bool)
        of_rates, bounds = functions.delassus, functions.bounds
        of_bounds = None if bounds is None else bounds.dense
        if of_rates is None or of_bounds is None:
            return found
        by_effort: Evaluator = self.evaluation.system.once(
            "levers", lambda: _as_column(of_rates, of_bounds))
        inputs = self.elements.inputs_of(effort[:, columns], points.u.shape[0])
        levers = points.values(by_effort, inputs).reshape(5, n, n, k)[:3]  # D, low, high
        low, high = points.values(functions.values, inputs).reshape(7, n, k)[1:3]
        for modes, mine in points.modes:
            first = levers[..., mine[:1]]
            same = np.abs(levers[..., mine] - first) <= PIECE_SLOPE_NONE + PIECE_SLOPE * abs(first)
            mine = mine[same.all(axis=(0, 1, 2))]
            found[mine] = True
            first = first[..., 0]
            _, parts = components(np.abs(first).sum(axis=0))
            for part in np.unique(parts[modes == 0]):
                members = parts == part
                who, others = np.flatnonzero(members & (modes == 0)), members & (modes != 0)
                d, by_low, by_high = first[:, who[:, None], who]
                if not is_singular(sp.csc_matrix(d)):
                    continue
                at, here = np.ix_(who, columns[mine]), np.ix_(who, mine)
                clear = self.elements.contact[who].any() and (high[here] > low[here]).all() and (
                    not effort[np.ix_(others, columns[mine])].any())
                effort[at], done = loaded_splits(
                    d, effort[at], low[here] - by_low @ effort[at],
                    high[here] - by_high @ effort[at], by_low, by_high, first[0][others][:, who])
                found[mine] &= done & bool(clear)
        return found

    def _parts(self, problem: Problem, t: float, index: Indices
               ) -> Iterator[tuple[Indices, Indices]]:
        """Of every connected part of some elements, those of them, and all that belong to it."""
        parts = self.load.components(problem, t)
        for part in np.unique(parts[index]):
            yield index[parts[index] == part], np.flatnonzero(parts == part)

    def _shown(self, problem: Problem, t: float, rests: Indices, part: Indices) -> LoadedSplit:
        """That of one connected part, sought from the least efforts, which know of no past."""
        u, z = problem.u.copy(), problem.z.copy()
        slides = part[self.state.modes[part] != 0]
        back, moved, others = self._moved(problem, t, rests, slides, part)
        effort = self.evaluation.efforts(problem)
        self._take(problem, t, rests, slides, back,
                   least_efforts(moved, effort[rests], others) - effort[rests])
        found = self._best_of(problem, t, rests, part, holds=False)
        if found.room >= -EFFORTS_SETTLED:
            return found
        problem.u[:], problem.z[:] = u, z  # laws with kinks may hold in several pieces
        return self._best_of(problem, t, rests, part, holds=True)

    def _best_of(self, problem: Problem, t: float, rests: Indices, part: Indices, holds: bool
                 ) -> LoadedSplit:
        """That of the elements at rest of one connected part."""
        slides = part[self.state.modes[part] != 0]
        found: LoadedSplit | None = None
        pieces: list[Array] = []
        for _ in range(ROUNDS):
            held = self._bounds(problem, t, rests, slides)
            if found is not None and np.allclose(held, pieces, rtol=PIECE_SLOPE,
                                                     atol=PIECE_SLOPE_NONE):
                return found
            pieces = held
            found = self._linearised(problem, t, rests, slides, part, held)
        # it goes to and fro between pieces of the laws: the room of this split tells if it holds
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        room = float(np.minimum(now.high - effort, effort - now.low)[rests].min())
        if holds and room < -EFFORTS_SETTLED * np.abs(effort).max():
            raise unsettled(self.elements.names(rests), t, "efforts at rest")
        assert found is not None
        return replace(found, room=room)

    def _linearised(self, problem: Problem, t: float, rests: Indices, slides: Indices,
                    part: Indices, held: list[Array]) -> LoadedSplit:
        """The best split for bounds with the present slopes, which the problem is left at."""
        now, effort = self.evaluation.values(problem, t), self.evaluation.efforts(problem)
        back, moved, others = self._moved(problem, t, rests, slides, part)
        slack = np.broadcast_to(self.state.slack, len(effort))[rests]
        lower, upper = (s[:, : len(rests)] + s[:, len(rests):] @ back for s in held)
        found = loaded_split(
            moved, effort[rests], now.low[rests] - slack - lower @ effort[rests],
            now.high[rests] + slack - upper @ effort[rests], lower, upper, others)
        self._take(problem, t, rests, slides, back, found.effort - effort[rests])
        return found

    def followed(self, problem: Problem, t: float, rests: Indices, slides: Indices
                 ) -> tuple[list[Array], Array, Array]:
        """How bounds of what rests follow its efforts, and their rates and those of what slides."""
        part = np.sort(np.concatenate([rests, slides]))
        back, moved, others = self._moved(problem, t, rests, slides, part)
        return [s[:, : len(rests)] + s[:, len(rests):] @ back for s in self._bounds(
            problem, t, rests, slides)], moved, others

    def _bounds(self, problem: Problem, t: float, rests: Indices, slides: Indices) -> list[Array]:
        """Changes of lower and upper bounds of what rests, by efforts of both."""
        return [dense_block(s, rests, np.append(rests, slides))
                for s in self.load.slopes(problem, t)[:2]]

    def _moved(self, problem: Problem, t: float, rests: Indices, slides: Indices, part: Indices
               ) -> tuple[Array, Array, Array]:
        """What efforts at rest do: to the efforts of what slides, to their rates, to other rates.
        """
        d, kinetic = self.evaluation.delassus.matrix(problem, t), self.load.kinetic(problem, t)
        back = self.load.following(kinetic, slides, rests)
        moved = dense_block(d, part, rests) + dense_block(d, part, slides) @ back
        at = np.searchsorted(part, rests)
        return back, moved[at], np.delete(moved, at, axis=0)

    def _take(self, problem: Problem, t: float, rests: Indices, slides: Indices, back: Array,
              step: Array) -> None:
        """Leave the problem at efforts at rest that are changed, and those that follow."""
        effort = self.evaluation.efforts(problem)
        effort[rests] += step
        effort[slides] += back @ step
        self.elements.put(problem.u, effort)
        problem.solve_algebraic(t)


def _as_column(*matrices: Evaluator) -> Evaluator:
    """The same functions as one, with their entries in one column, row by row."""
    symbols = matrices[0].function.sx_in()
    return Evaluator(ca.Function("column", symbols, [ca.vertcat(*(
        ca.vec(one.function.call(symbols)[0]) for one in matrices))]))
