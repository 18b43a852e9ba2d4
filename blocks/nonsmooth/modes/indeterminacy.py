"""Stuck efforts that the motion leaves open: who, how far from breaking away, which split is shown.

Where the Delassus matrix of what sticks is singular (brakes in parallel, four legs, a loop),
internal stress can be added without any effect on the motion. Elements hold as long as any
split holds: who is at its bound is held there by others
(:mod:`blocks.nonsmooth.complementarity.islands_at_rest`), which is a state of the run. Where bounds
depend on efforts, what slides beside them takes part: its efforts follow those at rest. Bounds are
linearised at the present efforts; pieces are found by repetition.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.cache import Cache
from ...numerics.copies import put_back
from ...numerics.tolerances import BLOCK_SINGULAR, RATE_UNHELD, ROUNDING, SAME_AS_BEFORE
from ...system import AlgebraicFailure, Problem
from ...system.points import Points
from ..complementarity import Island, Shares, kept, share_of, shares_at_times, undetermined_groups
from ..complementarity.islands_at_rest import PRESSED
from ..complementarity.scaling import dense_block
from ..contract import IndeterminateGroup
from .delassus import CROWD, DENSE, Components, Matrix, is_singular
from .efforts import ROUNDS
from .elements import LawValues
from .evaluation import Evaluation
from .load_dependence import LoadDependence

__all__ = ["Indeterminacy"]

MOST_KNOWN = 100  # matrices


class Indeterminacy:
    """Static indeterminacy of the elements that stick."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation, self.load = evaluation, evaluation.load
        self.elements, self.state = evaluation.elements, evaluation.state
        self.delassus, self.memory = evaluation.delassus, evaluation.memory
        self._shares: Cache[bytes, Shares] = Cache(MOST_KNOWN)
        self._near: dict[bytes, Array] = {}  # the last efforts of islands

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
        if self.load is not None:
            stuck = stuck & ~self._unloaded(problem, t, self.load)
        islands = self.evaluation.components(problem, t)
        crowd = _crowds(islands, stuck & ~dead)
        out: list[Indices] = []
        for island in np.flatnonzero(crowd):
            index = np.flatnonzero(stuck & ~dead & (islands == island))
            if self._is_singular(d, index):
                out.append(index)
        open_ = np.sort(np.concatenate([np.zeros(0, dtype=int), *out]))
        return np.flatnonzero(stuck & dead), open_

    def _unloaded(self, problem: Problem, t: float, load: LoadDependence) -> Flags:
        """Elements that only open contacts could load: their effort is known, it is zero."""
        contact = self.elements.contact
        acting = ~(contact & (self.state.modes < 0))
        now, out = self.evaluation.values(problem, t), load.dependent & ~contact
        out &= now.high - now.low <= 0
        for slopes in load.slopes(problem, t)[:2]:
            out &= np.ravel((slopes[:, acting] != 0).sum(axis=1)) == 0
        return out

    def felt(self, problem: Problem, t: float, stuck: Flags) -> tuple[Indices, Indices]:
        """Undetermined elements that need a search: none at rest for good."""
        if stuck.any():
            stuck = stuck & ~self.delassus.at_rest_for_good(problem, t)
        return self.elements_of(problem, t, stuck)

    def _is_singular(self, d: Matrix, index: Indices) -> bool:
        return self.memory.once(("singular", index.tobytes()), lambda: _is_singular(d, index))

    # -- how far from breaking away ------------------------------------------------------
    def rooms(self, problem: Problem, t: float, index: Indices, now: LawValues) -> Array:
        """Margins of elements that share what they hold, as long as those that others hold at
        their bounds are the same."""
        out = np.full(self.elements.size, np.inf)
        effort = self.evaluation.efforts(problem)
        for island, found, inside, (low, high), unheld in self._present(problem, t, index, now):
            room = np.where(inside, np.minimum(high - found, found - low), np.inf)
            out[island] = np.where(unheld != 0, -np.abs(effort[island]), room)
        return out

    def take_shares(self, problem: Problem, t: float) -> None:
        """Let efforts be as they are shared, where what slides follows them, or conditions of the
        model look at them."""
        stuck, load = self.state.modes == 0, self.load
        felt = self.evaluation.functions.are_felt if load is None else (
            load.pieces and (load.dependent & ~stuck).any())
        if not felt or not stuck.any():
            return
        open_ = self.elements_of(problem, t, stuck)[1]
        if len(open_) and load is not None:
            self.split(problem, t)
        elif len(open_):
            effort = self.evaluation.efforts(problem)
            now = self.evaluation.values(problem, t)
            for island, found, *_ in self._present(problem, t, open_, now):
                effort[island] = found
            self.elements.put(problem.u, effort)

    def _present(self, problem: Problem, t: float, index: Indices, now: LawValues
                 ) -> Iterator[tuple[Indices, Array, Flags, tuple[Array, Array], Array]]:
        """Yield of each island its elements, efforts, who is inside, bounds, and rates that
        no effort holds."""
        ends, unheld = self.ends(problem, t), self._unheld(problem, t, index, now)
        for rests, slides in self._islands(problem, t, index):
            island = self._posed_near(problem, t, rests, slides, now)
            bound, by = kept(island, ends[rests], island.weights)
            found = bound + by @ island.rate
            yield rests, found, ends[rests] == 0, island.bounds(found), unheld[rests]

    def _unheld(self, problem: Problem, t: float, index: Indices, now: LawValues) -> Array:
        """Rates of elements at rest that no effort holds."""
        own = np.asarray(self.delassus.matrix(problem, t).diagonal())
        rate = np.zeros(len(own))
        rate[index] = self.evaluation.values(problem, t).rate[index]
        range_ = now.high - now.low
        width = np.where(np.isfinite(range_), range_, 0.0)
        width = np.maximum(width, np.abs(self.evaluation.efforts(problem)))
        return np.where(np.abs(rate) > RATE_UNHELD * own * width[index].max(), rate, 0.0)

    def posed(self, problem: Problem, t: float, rests: Indices, slides: Indices, now: LawValues
               ) -> tuple[Island, Array]:
        """What some elements at rest share, by the present efforts, and how efforts of what slides
        follow theirs."""
        d, effort = self.delassus.matrix(problem, t), self.evaluation.efforts(problem)[rests]
        block, low, high = dense_block(d, rests, rests), now.low[rests], now.high[rests]
        none, back = np.zeros(block.shape), np.zeros((len(slides), len(rests)))
        if self.load is None:
            return Island(block, block @ effort, low, high, none, none), back
        if len(slides):
            back = self.load.following(self.load.kinetic(problem, t), slides, rests)
            block = block + dense_block(d, rests, slides) @ back
        L, H = (dense_block(s, rests, rests) + dense_block(s, rests, slides) @ back
                for s in self.load.slopes(problem, t)[:2])
        return _island(block, block @ effort, low - L @ effort, high - H @ effort, L, H), back

    def _posed_near(self, problem: Problem, t: float, rests: Indices, slides: Indices,
                    now: LawValues) -> Island:
        """What some elements at rest share, in the pieces of bounds in which the last split was."""
        near, effort = self._near.get(rests.tobytes()), self.evaluation.efforts(problem)
        if self.load is None or not self.load.pieces or near is None:
            return self.posed(problem, t, rests, slides, now)[0]
        held = effort[rests]
        with put_back(problem.u, problem.z):
            effort[rests] = near
            self.elements.put(problem.u, effort)
            problem.solve_algebraic(t)
            island, _ = self.posed(problem, t, rests, slides, self.evaluation.values(problem, t))
        return island._replace(rate=island.D @ held)

    def loose(self, problem: Problem, t: float, index: Indices) -> Flags:
        """Which elements that share what they hold no split holds any longer."""
        out = np.zeros(self.elements.size, dtype=bool)
        for one, found in self._shared(problem, t, index, self.evaluation.values(problem, t)):
            out[one] = found.loose
        return out[index]

    def ends(self, problem: Problem, t: float) -> Indices:
        """Who is held by others at its bound."""
        if self.state.ends is None:
            self.update_ends(problem, t)
        assert self.state.ends is not None
        return self.state.ends

    def update_ends(self, problem: Problem, t: float) -> bool:
        """Take note of who is held by others at its bound; whether that has changed."""
        before, stuck = self.state.ends, self.state.modes == 0
        self.state.ends = ends = np.zeros(self.elements.size, dtype=int)
        if stuck.any():
            open_ = self.elements_of(problem, t, stuck)[1]
            now = self.evaluation.values(problem, t)
            for island, found in self._shared(problem, t, open_, now) if len(open_) else ():
                ends[island] = found.ends
        return before is None or not np.array_equal(before, ends)

    def _shared(self, problem: Problem, t: float, index: Indices, now: LawValues,
                shown: bool = False) -> list[tuple[Indices, Shares]]:
        """Return of each island its elements and shares.

        Where bounds follow efforts and they are to be ``shown``, the problem is left at these.
        """
        out = []
        for rests, slides in self._islands(problem, t, index):
            with put_back(*() if shown else (problem.u, problem.z)):
                out.append((rests, self._split(problem, t, rests, slides, now)))
        return out

    def _split(self, problem: Problem, t: float, rests: Indices, slides: Indices,
               now: LawValues) -> Shares:
        """How an island shares what it holds, in the piece of its bounds that creeping leads to."""
        key, pieces, load = rests.tobytes(), list[Array](), self.load
        for _ in range(ROUNDS):
            island, back = self.posed(problem, t, rests, slides, now)
            unheld = self._unheld(problem, t, rests, now)[rests]  # by what does not hold all yet
            island = island._replace(rate=island.rate + unheld)
            levers = [island.D, island.L, island.H]
            if pieces and np.allclose(levers, pieces, rtol=SAME_AS_BEFORE, atol=ROUNDING):
                break
            found, pieces = self.shared_by(island, self._near.get(key)), levers
            self._near[key] = found.effort
            if load is None or load.affine and not load.pieces:
                break
            self._put(problem, t, (rests, slides), back, found.crept)
            now = self.evaluation.values(problem, t)
        if load is not None:
            self._put(problem, t, (rests, slides), back, found.effort)
        return found

    def _put(self, problem: Problem, t: float, who: tuple[Indices, Indices], back: Array,
             to: Array) -> None:
        """Bring what rests to efforts, and what slides beside it to its law."""
        (rests, slides), load, effort = who, self.load, self.evaluation.efforts(problem)
        assert load is not None
        effort[slides] += back @ (to - effort[rests])
        effort[rests] = to
        self.elements.put(problem.u, effort)
        problem.solve_algebraic(t)
        if not load.affine or load.pieces:
            self._follow(problem, t, slides, load)

    def _follow(self, problem: Problem, t: float, slides: Indices, load: LoadDependence) -> None:
        """Bring what slides to its law, in the piece of it that efforts have come to."""
        effort, loops = self.evaluation.efforts(problem), np.eye(len(slides)) - dense_block(
            load.kinetic(problem, t), slides, slides)
        missing = self.evaluation.values(problem, t).sliding(self.state.modes) - effort
        effort[slides] += np.linalg.solve(loops, missing[slides])
        self.elements.put(problem.u, effort)
        problem.solve_algebraic(t)

    def shared_by(self, island: Island, near: Array | None = None) -> Shares:
        """How some elements share rates; remembered, as several ask."""
        key = b"".join(a.tobytes() for a in island if a is not None)
        return self._shares.once(key, lambda: share_of(island, near))

    def _islands(self, problem: Problem, t: float, index: Indices
                 ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the islands of some elements, each with who slides beside them and has an
        effort that follows those of others."""
        islands = self.evaluation.components(problem, t)
        slides = np.zeros(0, dtype=int) if self.load is None else np.flatnonzero(
            (self.state.modes != 0) & self.load.dependent)
        for island in grouped(islands[index]):
            yield index[island], slides[islands[slides] == islands[index[island[0]]]]

    # -- which split is shown --------------------------------------------------------------
    def split(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, take those that are shown."""
        stuck = self.state.modes == 0
        if not stuck.any():
            return
        dead, open_ = self.elements_of(problem, t, stuck)
        if not len(dead) and not len(open_):
            return
        if self.load is not None and len(open_):
            self._shared(problem, t, open_, self.evaluation.values(problem, t), shown=True)
            open_ = open_[:0]
        now = self.evaluation.values(problem, t)
        effort = self.evaluation.efforts(problem)
        effort[dead] = np.clip(0.0, now.low[dead], now.high[dead])
        for island, found in self._shared(problem, t, open_, now) if len(open_) else ():
            effort[island] = found.effort
        self.elements.put(problem.u, effort)

    def split_at(self, problem: Problem, points: Points) -> None:
        """Change efforts at many times of a run to these, where D never moves and bounds depend on
        no effort."""
        d, effort = self.delassus.matrix(problem, 0.0), self.elements.efforts_of(points.u)
        for modes, columns in points.modes:
            dead, open_ = self.elements_of(problem, 0.0, modes == 0)
            if not len(dead) and not len(open_):
                continue
            low, high = points.some(columns).values(self.evaluation.functions.values).reshape(
                7, len(modes), -1)[1:3]
            effort[np.ix_(dead, columns)] = np.clip(0.0, low[dead], high[dead])
            for rests, _ in self._islands(problem, 0.0, open_):
                block, at = dense_block(d, rests, rests), np.ix_(rests, columns)
                none = np.zeros(block.shape)
                effort[at] = shares_at_times(
                    Island(block, block @ effort[at], low[rests], high[rests], none, none))
        points.u[:] = self.elements.inputs_of(effort, len(points.u))

    def open_at(self, problem: Problem, points: Points) -> Flags:
        """Where the motion leaves efforts open, as told by the first point with the same modes."""
        out = np.ones(len(points), dtype=bool)
        for modes, columns in points.modes:
            t, self.state.modes = points.put(columns[0], problem), modes
            with suppress(AlgebraicFailure):
                problem.solve_algebraic(t)
                out[columns] = len(self.elements_of(problem, t, modes == 0)[1]) > 0
        return out

    def groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        dead, open_ = self.elements_of(problem, t, self.state.modes == 0)
        effort, labels = self.evaluation.efforts(problem), self.elements.labels
        out = [(labels(one), effort[one]) for one in dead[:, None]]
        if self.load is not None and len(open_):
            out += [(labels(island), found.effort) for island, found in self._shared(
                problem, t, open_, self.evaluation.values(problem, t), shown=True)]
        elif len(open_):
            out += [(labels(members), effort[members])
                    for members in self._groups(problem, t, open_, effort)]
        return out

    def _groups(self, problem: Problem, t: float, open_: Indices, effort: Array) -> list[Indices]:
        """Members of the groups among undetermined elements; large islands are told as they are."""
        now, d = self.evaluation.values(problem, t), self.delassus.matrix(problem, t)
        groups = undetermined_groups(d[open_][:, open_], now.low[open_], now.high[open_],
                                     effort[open_], np.arange(len(open_)))
        crowds = [island for island, _ in self._islands(problem, t, open_) if len(island) > CROWD]
        return [*(open_[members] for members in groups), *crowds]


def _crowds(islands: Components, stuck: Flags) -> Flags:
    """Islands in which several are stuck."""
    return np.bincount(islands[stuck], minlength=islands.max(initial=0) + 1) > 1


def _is_singular(d: Matrix, index: Indices) -> bool:
    """Whether some elements share internal stress."""
    if sp.issparse(d) and len(index) > DENSE:
        return is_singular(d[index][:, index].tocsc())
    block = sp.dense(d[index][:, index])
    scale = np.sqrt(np.diag(block))
    rank = np.linalg.matrix_rank(block / np.outer(scale, scale), tol=BLOCK_SINGULAR)
    return bool(rank < len(block))


def _island(D: Array, rate: Array, low: Array, high: Array, L: Array, H: Array) -> Island:
    """Elements of which contacts that friction follows press on each other by about the load."""
    followed = (L.any(axis=0) | H.any(axis=0)) & ~(L.any(axis=1) | H.any(axis=1))
    followed &= ~np.isfinite((high - low).reshape(len(D), -1)).any(axis=1)
    largest = PRESSED * np.abs(rate).max(axis=0, initial=0.0)
    return Island(D, rate, low, high, L, H, np.multiply.outer(followed, largest))
