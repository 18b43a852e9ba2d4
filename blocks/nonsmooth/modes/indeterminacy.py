"""Stuck efforts that the motion leaves open: who, how far from breaking away, which split is shown.

Where the Delassus matrix of what sticks is singular (brakes in parallel, four legs, a loop),
internal stress can be added without any effect on the motion. Elements hold as long as any
split holds; the split that is shown takes the smallest largest share of the bounds, or, where
bounds depend on the split, is the smallest one well within them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.cache import Cache
from ...numerics.tolerances import (
    AT_BOUND,
    BLOCK_SINGULAR,
    CLEAR_ROOM,
    RATE_UNHELD,
)
from ...system import Problem
from ...system.points import Points
from ..complementarity import MarginProblem, minimal_splits, ranges_end, undetermined_groups
from ..complementarity.scaling import dense_block
from ..contract import IndeterminateGroup
from .delassus import CROWD, Components, Matrix, is_singular, pseudo_inverse
from .elements import LawValues
from .evaluation import Evaluation
from .loaded_splits import LoadedSplits
from .solved_modes import SolvedModes
from .split_program import SplitProgram, shares

__all__ = ["Indeterminacy"]

DENSE = 80  # elements up to which singularity is told by the rank of a dense matrix
MOST_PROGRAMS = 100  # that are kept
MANY = 40  # coupled elements up to which margins of undetermined efforts are prepared


class Indeterminacy:
    """Static indeterminacy of the elements that stick.

    Parameters
    ----------
    evaluation : the laws at the present point
    loaded : the same question where bounds depend on efforts
    """

    def __init__(self, evaluation: Evaluation, loaded: LoadedSplits | None) -> None:
        self.evaluation, self.loaded = evaluation, loaded
        self.elements, self.state = evaluation.elements, evaluation.state
        self.delassus, self.memory = evaluation.delassus, evaluation.memory
        #: Of this run, by who is stuck.
        self._programs: Cache[bytes, SplitProgram] = Cache(MOST_PROGRAMS)

    # -- who -----------------------------------------------------------------------------
    def elements_of(self, problem: Problem, t: float, stuck: Flags) -> tuple[Indices, Indices]:
        """Elements without influence on their own flow, and those that share internal stress."""
        d = self.delassus.matrix(problem, t)
        return self.memory.once(("undetermined", stuck.tobytes()),
                                lambda: self._elements_of(problem, t, stuck, d))

    def _elements_of(self, problem: Problem, t: float, stuck: Flags, d: Matrix
                     ) -> tuple[Indices, Indices]:
        dead = self.delassus.immovable(problem, t)
        if not (stuck & dead).any() and not _crowds(
                self.delassus.components(problem, t), stuck).any():
            return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
        if self.loaded is not None:
            stuck = stuck & ~self.loaded.unloaded(problem, t)
        parts = self.evaluation.components(problem, t)
        crowd = _crowds(parts, stuck & ~dead)
        out: list[Indices] = []
        for part in np.flatnonzero(crowd):
            index = np.flatnonzero(stuck & ~dead & (parts == part))
            if self._is_singular(d, index):
                out.append(index)
        open_ = np.sort(np.concatenate([np.zeros(0, dtype=int), *out]))
        return np.flatnonzero(stuck & dead), open_

    def felt(self, problem: Problem, t: float, stuck: Flags) -> tuple[Indices, Indices]:
        """The same of those that need a search: not where elements have one flow, or none."""
        if stuck.any():
            stuck = stuck & self.evaluation.functions.companions.decides
            stuck &= ~self.delassus.at_rest_for_good(problem, t)
        return self.elements_of(problem, t, stuck)

    def _is_singular(self, d: Matrix, index: Indices) -> bool:
        return self.memory.once(("singular", index.tobytes()), lambda: _is_singular(d, index))

    # -- how far from breaking away ------------------------------------------------------
    def margins(self, problem: Problem, t: float, index: Indices, now: LawValues,
                sign: bool = False) -> tuple[Array, Flags]:
        """Where stuck efforts are not unique the best split decides: margins, first to leave.

        Of large groups only the ``sign`` of margins counts where that is all that is asked for.
        """
        if self.loaded is not None:
            return self.loaded.margins(problem, t, index)
        d = self.delassus.matrix(problem, t)
        size = self.elements.size
        out, first = np.full(size, np.inf), np.zeros(size, dtype=bool)
        effort = self.evaluation.efforts(problem)
        bare = index[now.low[index] == now.high[index]]
        if len(bare):  # others carry what these took
            effort, out[bare] = self._unburdened(d, index, bare, effort, now)
            first[bare] = out[bare] < 0
            index = np.setdiff1d(index, bare)
            if first.any() or not len(index):
                return out, first
        parts = self._parts(problem, t, index)
        if max(map(len, parts)) > MANY:
            return self._margins_of_many(problem, d, parts, now, effort, sign)
        rate, own = self.evaluation.values(problem, t).rate, np.asarray(d.diagonal())
        for part in parts:
            first[self._margins_of_part(d, part, now, effort, rate, own, out)] = True
        return out, first

    def _margins_of_part(self, d: Matrix, index: Indices, now: LawValues, effort: Array,
                         rate: Array, own: Array, out: Array) -> Indices:
        """Margins of elements that act on each other, put in ``out``; who is first to leave."""
        low, high, ranges = now.low[index], now.high[index], (now.high - now.low)[index]
        closed = np.isfinite(ranges)
        width = np.where(closed, ranges, max(  # what bears anything is measured by the others
            np.abs(effort[index]).max(), ranges[closed].max(initial=0.0)))
        # rates that no effort holds
        real = np.abs(rate[index]) > RATE_UNHELD * own[index] * width
        worst = float(shares(effort[index], low, high).max())
        if worst < 1 - CLEAR_ROOM and not real.any():  # a split within the bounds is proof
            out[index] = 1.0 - worst
            return index[:0]
        prepared = self._prepared(d, index, low, high)
        # what they carry, without the internal stress and its rounding
        load = np.where(real, rate[index], 0.0)
        for at, block, solve in prepared.parts:
            load[at] += block @ solve(block @ effort[index[at]])
        found = prepared.problem.margin(load)
        for (at, *_), value in zip(prepared.parts, found.value, strict=True):
            out[index[at]] = 1.0 - value
        return index[np.concatenate([np.zeros(0, dtype=int), *found.first])]

    def _unburdened(self, d: Matrix, index: Indices, bare: Indices, effort: Array, now: LawValues
                    ) -> tuple[Array, Array]:
        """Efforts of the same effect with those of elements without any range, and their margins.

        These hold nothing, as an open clutch: where no internal stress takes their efforts to
        what they have to be, they are over their bounds by the difference.
        """
        block = dense_block(d, index, index)
        wanted = np.zeros(len(index))
        at = np.searchsorted(index, bare)
        wanted[at] = now.low[bare] - effort[bare]
        others = np.setdiff1d(np.arange(len(index)), at)
        scale = np.sqrt(np.diag(block))
        block = block / np.outer(scale, scale)
        missing = block[:, at] @ (scale * wanted)[at]
        wanted[others] = -np.linalg.lstsq(block[:, others], missing, rcond=BLOCK_SINGULAR)[
            0] / scale[others]
        left = block @ (scale * wanted)
        beyond = np.abs(left[at]) / scale[at]
        allowed = AT_BOUND * np.abs(effort[index]).max()
        effort = effort.copy()
        effort[index] += wanted
        return effort, np.where(beyond > allowed, -beyond, np.inf)

    def _prepared(self, d: Matrix, index: Indices, low: Array, high: Array) -> _PreparedMargins:
        """The minimax problem of some elements, made anew where their bounds have moved."""
        key, known = ("joint", index.tobytes()), self.memory.known if self.memory.constant else {}
        prepared: _PreparedMargins | None = known.get(key)
        if prepared is None or not prepared.fits(low, high):
            prepared = known[key] = _PreparedMargins(dense_block(d, index, index), low, high)
        return prepared

    def _parts(self, problem: Problem, t: float, index: Indices) -> list[Indices]:
        """Connected parts among some elements."""
        return [index[part] for part in grouped(self.evaluation.components(problem, t)[index])]

    def _margins_of_many(self, problem: Problem, d: Matrix, groups: list[Indices],
                         now: LawValues, effort: Array, sign: bool) -> tuple[Array, Flags]:
        """Margins of large groups: a split within the bounds is proof, or else it is sought.

        What internal stress the last one found had, and what bounds shares from below, is tried
        first.
        """
        out = np.full(self.elements.size, np.inf)
        first = np.zeros(self.elements.size, dtype=bool)
        for part in groups:
            low, high = now.low[part], now.high[part]
            share = float(shares(effort[part], low, high).max())
            if share < 1 - CLEAR_ROOM:
                out[part] = 1.0 - share
                continue
            program = self._program(d, part, low, high)
            share, split = program.known(effort[part]) if sign else (np.nan, effort[part])
            if np.isnan(share):
                share, split = program.best(effort[part])
                first[part[program.tight]] = True
            out[part] = 1.0 - share
            if share < 1:  # go on with a split that holds
                effort[part] = split
        self.elements.put(problem.u, effort)
        return out, first

    def _program(self, d: Matrix, part: Indices, low: Array, high: Array) -> SplitProgram:
        """The program of a part, made anew where its bounds have moved."""
        key = part.tobytes()
        known = self._programs.get(key) if self.memory.constant else None
        if known is None or not known.fits(low, high):
            return self._programs.keep(key, SplitProgram(d[part][:, part], low, high))
        return known

    def leading(self, problem: Problem, t: float, group: Indices) -> Indices | None:
        """Modes of a group of one motion at rest in the way that is nearest to begin, if known."""
        if self.loaded is None:
            return None
        return self.loaded.one_motion.leading(problem, t, group)

    # -- which split is shown --------------------------------------------------------------
    def split(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, take the smallest largest share of the bounds."""
        stuck = self.state.modes == 0
        if not stuck.any():
            return
        dead, open_ = self.elements_of(problem, t, stuck)
        if not len(dead) and not len(open_):
            return
        if self.loaded is not None:
            if self._even_groups(problem, t) is None:
                self.loaded.best(problem, t, open_)
            open_ = open_[:0]
        now = self.evaluation.present(problem, t)
        effort = self.evaluation.efforts(problem)
        effort[dead] = np.clip(0.0, now.low[dead], now.high[dead])
        if len(open_):
            effort[open_] = self._best_of_parts(problem, t, open_, now.low[open_],
                                                now.high[open_], effort[open_, None])[:, 0]
        self.elements.put(problem.u, effort)

    def _even_groups(self, problem: Problem, t: float) -> list[tuple[Indices, Array]] | None:
        """Groups at rest of one motion each, and their efforts, where nothing else is open.

        Their split is part of the equations of held modes. What bears as good as anything one way
        (a one-way clutch) has no range to share: there the split with the most room is shown.
        """
        held, modes = self.evaluation.held_modes, self.state.modes
        if not isinstance(held, SolvedModes) or held.kept or not held.apply(
                problem, t, modes, self.delassus) or not held.reserve(modes) > 0:
            return None
        effort, now = self.evaluation.efforts(problem), self.evaluation.values(problem, t)
        groups = [group for group in self.evaluation.functions.companions.groups
                  if modes[group[0]] == 0]
        if not all(ranges_end(now.low[group], now.high[group]).all() for group in groups):
            return None
        return [(group, effort[group]) for group in groups]

    def _best_of_parts(self, problem: Problem, t: float, open_: Indices, low: Array, high: Array,
                       effort: Array) -> Array:
        """Efforts of the elements ``open_`` with the smallest largest share of their bounds.

        ``effort`` has a column for every time at which these are the bounds.
        """
        d, held = self.delassus.matrix(problem, t), effort.copy()
        for part in self._parts(problem, t, open_):
            if len(part) > CROWD:
                at = np.searchsorted(open_, part)
                block = d[part][:, part]
                program = SplitProgram(block, low[at], high[at])
                for column in held.T:
                    column[at] = program.best(column[at])[1]
        block = d[open_][:, open_]
        found = minimal_splits(block, low, high, held, np.arange(len(open_)))
        # searches for the best split are less exact than what they must keep
        return found + self.delassus.solve_block(block, open_, block @ (effort - found))

    def split_at_points(self, problem: Problem, points: Points, bounds: tuple[Array, Array],
                        effort: Array) -> None:
        """The same at many times of a run, where D never moves and bounds depend on no effort.

        Changes ``effort``; instants with the same modes and bounds are looked at together.
        """
        low, high = bounds
        for modes, columns in points.modes:
            dead, open_ = self.elements_of(problem, 0.0, modes == 0)
            at = np.ix_(dead, columns)
            effort[at] = np.clip(0.0, low[at], high[at])
            if not len(open_):
                continue
            held = np.ix_(open_, columns)
            both = np.concatenate([low[held], high[held]])
            if (both == both[:, :1]).all():
                whose = [np.arange(len(columns))]
            else:
                _, place = np.unique(both, axis=1, return_inverse=True)
                whose = grouped(place.ravel())
            for mine in whose:
                at = np.ix_(open_, columns[mine])
                effort[at] = self._best_of_parts(
                    problem, 0.0, open_, low[at][:, 0], high[at][:, 0], effort[at])

    def groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        dead, open_ = self.elements_of(problem, t, self.state.modes == 0)
        effort, labels = self.evaluation.efforts(problem), self.elements.labels
        out = [(labels(one), effort[one]) for one in dead[:, None]]
        shared = None if self.loaded is None else self._even_groups(problem, t)
        if shared is None and self.loaded is not None and len(open_):
            shared = self.loaded.best(problem, t, open_)
        if shared is not None:
            out += [(labels(members), efforts) for members, efforts in shared]
        elif len(open_):
            out += [(labels(members), effort[members])
                    for members in self._groups(problem, t, open_, effort)]
        return out

    def _groups(self, problem: Problem, t: float, open_: Indices, effort: Array) -> list[Indices]:
        """Members of the groups among undetermined elements; large parts are told as they are."""
        now, d = self.evaluation.present(problem, t), self.delassus.matrix(problem, t)
        groups = undetermined_groups(d[open_][:, open_], now.low[open_], now.high[open_],
                                     effort[open_], np.arange(len(open_)))
        crowds = [part for part in self._parts(problem, t, open_) if len(part) > CROWD]
        return [*(open_[members] for members in groups), *crowds]


class _PreparedMargins:
    """The distance of some elements, with their D, from breaking away, for their present bounds.

    Attributes
    ----------
    problem : MarginProblem
    parts : of its connected parts the elements, the block of D, and what that solves
    """

    def __init__(self, d: Matrix, low: Array, high: Array) -> None:
        self.bounds = np.array([low, high])
        self.problem: MarginProblem = MarginProblem(d, low, high, np.arange(len(d)))
        self.parts: list[tuple[Indices, Matrix, Callable[[Array], Array]]] = []
        for part in self.problem.parts:
            block = d[np.ix_(part, part)]
            self.parts.append((part, block, pseudo_inverse(block)))

    def fits(self, low: Array, high: Array) -> bool:
        """Whether the bounds are the same."""
        return np.array_equal(self.bounds, [low, high])


def _crowds(parts: Components, stuck: Flags) -> Flags:
    """Parts in which several are stuck."""
    return np.bincount(parts[stuck], minlength=parts.max(initial=0) + 1) > 1


def _is_singular(d: Matrix, index: Indices) -> bool:
    """Whether some elements share internal stress."""
    if sp.issparse(d) and len(index) > DENSE:
        return is_singular(d[index][:, index].tocsc())
    block = sp.dense(d[index][:, index])
    scale = np.sqrt(np.diag(block))
    rank = np.linalg.matrix_rank(block / np.outer(scale, scale), tol=BLOCK_SINGULAR)
    return bool(rank < len(block))
