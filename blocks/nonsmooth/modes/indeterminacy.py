"""Stuck efforts that the motion leaves open: who, how far from breaking away, which split is shown.

Where the Delassus matrix of what sticks is singular (brakes in parallel, four legs, a loop),
internal stress can be added without any effect on the motion. Elements hold as long as any
split holds: who is at its bound is held there by others
(:mod:`blocks.nonsmooth.complementarity.shares`), which is a state of the run. Where bounds depend
on the split, that is shown which is the smallest one well within them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.cache import Cache
from ...numerics.tolerances import AT_BOUND, BLOCK_SINGULAR, RATE_UNHELD, TINY
from ...system import Problem
from ...system.points import Points
from ..complementarity import (
    Shares,
    at_ends,
    ranges_end,
    shares,
    shares_at_times,
    undetermined_groups,
    weights,
    within,
)
from ..complementarity.scaling import dense_block
from ..contract import IndeterminateGroup
from .delassus import CROWD, Components, Matrix, is_singular
from .elements import LawValues
from .evaluation import Evaluation
from .kept_factors import MOST
from .loaded_splits import LoadedSplits
from .solved_modes import SolvedModes

__all__ = ["Indeterminacy"]

MOST_KNOWN = 100  # matrices
DENSE = 80  # elements up to which singularity is told by the rank of a dense matrix


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
        self._shares: Cache[bytes, Shares] = Cache(MOST_KNOWN)
        #: By who is at which bound: efforts there, and by others what is inside its bounds holds.
        self._known: Cache[bytes, tuple[Array, Array]] = Cache(MOST_KNOWN)
        self._near: dict[bytes, Array] = {}  # the last efforts of parts

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
    def rooms(self, problem: Problem, t: float, index: Indices, now: LawValues) -> Array:
        """Margins of elements that share what they hold, as long as those that others hold at
        their bounds are the same."""
        if self.loaded is not None:
            return self.loaded.margins(problem, t, index)[0]
        out = np.full(self.elements.size, np.inf)
        effort, unheld = self.evaluation.efforts(problem), self._unheld(problem, t, index, now)
        for part, found, inside in self._present(problem, t, index, now):
            room = np.where(inside, np.minimum(now.high[part] - found, found - now.low[part]),
                            np.inf)
            out[part] = np.where(unheld[part] != 0, -np.abs(effort[part]), room)
            if len(part) > MOST:  # too many for an event each: all go where the load is clear
                left = self.margins(problem, t, part, now)[0][part]
                out[part] = np.where(left < 0, left + 2 * AT_BOUND, left)
        return out

    def take_shares(self, problem: Problem, t: float) -> None:
        """Let efforts be as they are shared, where conditions of the model look at them."""
        stuck = self.state.modes == 0
        if not self._are_felt or self.loaded is not None or not stuck.any():
            return
        open_ = self.elements_of(problem, t, stuck)[1]
        if len(open_):
            effort = self.evaluation.efforts(problem)
            now = self.evaluation.present(problem, t)
            for part, found, _ in self._present(problem, t, open_, now):
                effort[part] = found
            self.elements.put(problem.u, effort)

    @cached_property
    def _are_felt(self) -> bool:
        """Whether conditions of the model look at efforts."""
        tape = self.evaluation.system.tape
        return bool(ca.jacobian_sparsity(ca.vertcat(tape.crossings, tape.exponents), tape.u).nnz())

    def _present(self, problem: Problem, t: float, index: Indices, now: LawValues
                 ) -> Iterator[tuple[Indices, Array, Flags]]:
        """Of every connected part: who, efforts, and who is inside its bounds."""
        if self.state.ends is None:
            self.settle(problem, t)
        d, ends = self.delassus.matrix(problem, t), self.state.ends
        assert ends is not None
        effort = self.evaluation.efforts(problem)
        for part in self._parts(problem, t, index):
            if len(part) > MOST:
                (_, found, _), = self._shared(problem, t, part, now)
                yield part, found.effort, found.ends == 0
                continue
            bound, by = self._at_ends(d, part, ends[part], now.low[part], now.high[part])
            yield part, bound + by @ (effort[part] - bound), ends[part] == 0

    def _unheld(self, problem: Problem, t: float, index: Indices, now: LawValues) -> Array:
        """Rates of elements at rest that no effort holds."""
        own = np.asarray(self.delassus.matrix(problem, t).diagonal())
        rate = np.where(np.isin(np.arange(len(own)), index), self.evaluation.values(
            problem, t).rate, 0.0)
        range_ = now.high - now.low
        width = np.where(np.isfinite(range_), range_, 0.0)
        width = np.maximum(width, np.abs(self.evaluation.efforts(problem)))
        return np.where(np.abs(rate) > RATE_UNHELD * own * width[index].max(), rate, 0.0)

    def _at_ends(self, d: Matrix, part: Indices, ends: Indices, low: Array, high: Array
                 ) -> tuple[Array, Array]:
        """Efforts of what is at its bounds, and by those of others what is inside holds of them."""
        moves = () if self.delassus.constant else (dense_block(d, part, part),)
        key = b"".join(a.tobytes() for a in (part, ends, low, high, *moves))
        known = self._known.get(key)
        if known is None:
            block = dense_block(d, part, part)
            by = within(block, weights(block, low, high), ends == 0) @ block
            known = self._known.keep(key, (at_ends(ends, low, high), by))
        return known

    def margins(self, problem: Problem, t: float, index: Indices, now: LawValues
                ) -> tuple[Array, Flags]:
        """Shares of half the range that are left, whoever is at a bound; and who is to move.

        Where nothing holds any longer it is what is missing, negative.
        """
        if self.loaded is not None:
            return self.loaded.margins(problem, t, index)
        out, first = np.full(self.elements.size, np.inf), np.zeros(self.elements.size, dtype=bool)
        for part, found, missing in self._shared(problem, t, index, now):
            low, high = now.low[part], now.high[part]
            closed = np.isfinite(high - low)
            half = np.where(closed, (high - low) / 2, np.abs(found.effort).max())
            room = np.minimum(high - found.effort, found.effort - low)[found.ends == 0]
            size = np.maximum(half[found.ends == 0], TINY)
            out[part] = -missing if found.loose.any() else (room / size).min(initial=np.inf)
            first[part] = found.loose
        return out, first

    def holds(self, problem: Problem, t: float, index: Indices) -> Flags:
        """Of elements that share what they hold, which are held by some split, clear of all bounds.
        """
        now = self.evaluation.present(problem, t)
        if self.loaded is not None:
            waits = np.broadcast_to(self.state.slack, self.elements.size)[index] > 0
            margin = self.loaded.margins(problem, t, index)[0][index]
            return np.asarray(margin > AT_BOUND * (1 + 2 * waits))
        out = np.zeros(self.elements.size, dtype=bool)
        for part, found, _ in self._shared(problem, t, index, now):
            out[part] = not found.loose.any()
        return out[index]

    def settle(self, problem: Problem, t: float) -> bool:
        """Take note of who is held by others at its bound; whether that has changed."""
        before, stuck = self.state.ends, self.state.modes == 0
        self.state.ends = ends = np.zeros(self.elements.size, dtype=int)
        if stuck.any() and self.loaded is None:
            open_ = self.elements_of(problem, t, stuck)[1]
            now = self.evaluation.present(problem, t)
            for part, found, _ in self._shared(problem, t, open_, now) if len(open_) else ():
                ends[part] = found.ends if len(part) <= MOST else 0
        return before is None or not np.array_equal(before, ends)

    def _shared(self, problem: Problem, t: float, index: Indices, now: LawValues
                ) -> list[tuple[Indices, Shares, float]]:
        """Of every connected part: who, what each holds, and what they miss to hold all, as a
        share of what each one's range may hold."""
        d, effort = self.delassus.matrix(problem, t), self.evaluation.efforts(problem)
        unheld, out = self._unheld(problem, t, index, now), []
        for part in self._parts(problem, t, index):
            block, low, high = dense_block(d, part, part), now.low[part], now.high[part]
            rate = block @ effort[part] + unheld[part]
            found = self.shared_by(block, rate, low, high, self._near.get(part.tobytes()))
            self._near[part.tobytes()] = found.effort
            width = np.where(np.isfinite(high - low), high - low, np.abs(effort[part]).max())
            left = np.abs(rate - block @ found.effort)
            out.append((part, found, float((left / np.maximum(
                block.diagonal() * width.max(), TINY)).max())))
        return out

    def shared_by(self, block: Matrix, rate: Array, low: Array, high: Array,
                  near: Array | None = None) -> Shares:
        """How some elements share rates; remembered, as several ask."""
        key = b"".join(a.tobytes() for a in (block, rate, low, high))
        known = self._shares.get(key)
        return self._shares.keep(key, shares(block, rate, low, high, near)) if (
            known is None) else known

    def _parts(self, problem: Problem, t: float, index: Indices) -> list[Indices]:
        """Connected parts among some elements."""
        return [index[part] for part in grouped(self.evaluation.components(problem, t)[index])]

    def leading(self, problem: Problem, t: float, group: Indices) -> Indices | None:
        """Modes of a group of one motion at rest in the way that is nearest to begin, if known."""
        if self.loaded is None:
            return None
        return self.loaded.one_motion.leading(problem, t, group)

    # -- which split is shown --------------------------------------------------------------
    def split(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, take those that are shown."""
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
        """Efforts of the elements ``open_`` as these share them.

        ``effort`` has a column for every time at which these are the bounds.
        """
        d, out = self.delassus.matrix(problem, t), effort.copy()
        for part in self._parts(problem, t, open_):
            at, block = np.searchsorted(open_, part), dense_block(d, part, part)
            out[at] = shares_at_times(block, block @ effort[at], low[at], high[at])
        return out

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
