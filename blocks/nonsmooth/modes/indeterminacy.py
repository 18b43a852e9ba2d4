"""Stuck efforts that the motion leaves open: who, how far from breaking away, which split is shown.

Where the Delassus matrix of what sticks is singular (brakes in parallel, four legs, a loop),
internal stress can be added without any effect on the motion. Elements hold as long as any
split holds; the split that is shown takes the smallest largest share of the bounds, or, where
bounds depend on the split, is the smallest one well within them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_matrix, diags_array, issparse

from ...system.problem import Problem
from ...system.system import System
from .delassus import CROWD, singular
from .delassus import solver as _solver

if TYPE_CHECKING:
    from .laws import Look
    from .load_dependence import LoadDependence

__all__ = ["OpenEfforts"]

DENSE = 80
NEAR = 1e-6  # share of the bounds that proves nothing
MANY = 40  # coupled elements up to which margins of undetermined efforts are prepared


class OpenEfforts:
    """The part of :class:`blocks.nonsmooth.modes.laws.SetValuedLaws` that knows undetermined
    efforts."""

    size: int
    system: System
    modes: np.ndarray
    column: np.ndarray
    sign: np.ndarray
    constant: bool
    load: LoadDependence | None
    _cache: dict[Any, Any]
    _reach: Any
    _flow_x: Any
    _few: bool
    _speed: float
    look: Any
    efforts_of: Any
    delassus: Any
    label: Any
    _parts: Any
    _present: Any
    _solve_open: Any

    def _undetermined(self, problem: Problem, t: float, stuck: np.ndarray
                      ) -> tuple[np.ndarray, np.ndarray]:
        """Elements without influence on their own flow, and those that share internal stress."""
        d = self.delassus(problem, t)
        key = ("undetermined", stuck.tobytes())
        if self.constant and key in self._cache:
            return self._cache[key]
        if self.load is not None:
            stuck = stuck & ~self.load.unpressed(problem, t)
        dead = self._dead(d)
        parts = self._parts(problem, t)
        crowd = np.bincount(parts[stuck & ~dead], minlength=parts.max(initial=0) + 1) > 1
        out: list[np.ndarray] = []
        for part in np.flatnonzero(crowd):
            index = np.flatnonzero(stuck & ~dead & (parts == part))
            known = ("singular", index.tobytes())
            singular = self._cache.get(known) if self.constant else None
            if singular is None:
                singular = self._is_singular(d, index)
                if self.constant:
                    self._cache[known] = singular
            if singular:
                out.append(index)
        open_ = np.sort(np.concatenate([np.zeros(0, dtype=int), *out]))
        value = np.flatnonzero(stuck & dead), open_
        if self.constant:
            self._cache[key] = value
        return value

    @staticmethod
    def _dead(d: Any) -> np.ndarray:
        """Elements across a rigid path or a prescribed motion: their effort moves nothing."""
        diagonal = np.asarray(d.diagonal())
        return diagonal <= 1e-14 * diagonal.max(initial=0.0)

    def _is_singular(self, d: Any, index: np.ndarray) -> bool:
        if issparse(d) and len(index) > DENSE:
            return singular(d[index][:, index].tocsc())
        block = d[index][:, index]
        block = block.toarray() if issparse(block) else block
        scale = np.sqrt(np.diag(block))
        return bool(np.linalg.matrix_rank(block / np.outer(scale, scale), tol=1e-10) < len(block))

    def _noise(self, problem: Problem, t: float) -> np.ndarray:
        """Rates that are rounding only."""
        slope = np.abs(self.system.slope(*problem.arguments(t)))
        noise = 1e-12 * self._reach(problem, t, slope)
        if self.constant or not self.system.nx:
            return noise
        # a normal has its rounding in either direction, and it turns
        if self._few:
            by_x = np.abs(self._flow_x.dense(*problem.arguments(t)))
            largest, seen = by_x.max(axis=1, initial=0.0), self._flow_x.mask
        else:
            by_x = abs(self._flow_x.sparse(*problem.arguments(t)))
            largest, seen = by_x.max(axis=1).toarray().ravel(), by_x
            seen.data[:] = 1.0
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        return noise + 1e-15 * largest * (seen @ slope) + 1e-14 * self._speed**2 / far

    def _joint_margins(self, problem: Problem, t: float, index: np.ndarray, now: Look
                       ) -> tuple[np.ndarray, np.ndarray]:
        """Where stuck efforts are not unique the best split decides: margins, first to leave."""
        from ..complementarity import MarginProblem

        if self.load is not None:
            return self._loaded_margins(problem, t, index)
        d = self.delassus(problem, t)
        large = self._large(problem, t, index, MANY)
        if large:
            return self._crowd_margins(problem, t, index, large, now)
        out, first = np.full(self.size, np.inf), np.zeros(self.size, dtype=bool)
        effort, rate = self.efforts_of(problem.u), self.look(problem, t).rate
        width = np.where(np.isfinite(now.high - now.low), now.high - now.low, np.abs(effort))
        real = np.abs(rate) > 1e-11 * np.asarray(d.diagonal()) * width  # one that no effort holds
        worst = float(_ratios(effort[index], now.low[index], now.high[index]).max())
        if worst < 1 - NEAR and not real[index].any():  # a split within the bounds is proof
            out[index] = 1.0 - worst
            return out, first
        key = ("joint", index.tobytes())
        kept = self._cache.get(key) if self.constant else None
        bounds = np.array([now.low, now.high])
        if kept is None or not np.array_equal(kept[2], bounds):
            m = MarginProblem(d, now.low, now.high, index)
            blocks = [d[part][:, part] for part in m.parts]
            kept = m, [(b, _solver(b)) for b in blocks], bounds
            if self.constant:
                self._cache[key] = kept
        m, solvers, _ = kept
        # what they carry, without the internal stress and its rounding
        load = np.zeros(self.size)
        for part, (block, solve) in zip(m.parts, solvers, strict=True):
            load[part] = block @ solve(block @ effort[part]) + np.where(real, rate, 0.0)[part]
        found = m.margin(load, np.zeros(self.size))
        for part, value, leading in zip(m.parts, found.value, found.first, strict=True):
            out[part] = 1.0 - value
            first[leading] = True
        return out, first

    def _loaded_margins(self, problem: Problem, t: float, index: np.ndarray
                        ) -> tuple[np.ndarray, np.ndarray]:
        """The same where bounds depend on the split."""
        assert self.load is not None
        out, first = np.full(self.size, np.inf), np.zeros(self.size, dtype=bool)
        now, effort = self.look(problem, t), self.efforts_of(problem.u)
        room = np.minimum(now.high - effort, effort - now.low)[index]
        least = float(room.min())
        if least > 1e-6 * np.abs(effort).max():  # a split within the bounds is proof
            out[index] = least
            return out, first
        for part, found in self.load.splits(problem, t, index):
            out[part] = found.room
            first[part[found.first]] = True
        return out, first

    def _large(self, problem: Problem, t: float, index: np.ndarray, size: int) -> list[np.ndarray]:
        """Connected parts among some elements, if one has more than ``size``."""
        parts = self._parts(problem, t)[index]
        groups = [index[parts == part] for part in np.unique(parts)]
        return groups if max(map(len, groups), default=0) > size else []

    def _crowd_margins(self, problem: Problem, t: float, index: np.ndarray,
                       groups: list[np.ndarray], now: Look) -> tuple[np.ndarray, np.ndarray]:
        """Margins of large groups: a split within the bounds is proof, or else it is sought."""
        d = self.delassus(problem, t)
        effort = self.efforts_of(problem.u)
        out = np.full(self.size, np.inf)
        first = np.zeros(self.size, dtype=bool)
        for part in groups:
            low, high = now.low[part], now.high[part]
            ratio = _ratios(effort[part], low, high)
            if ratio.max() < 1 - 1e-6:
                out[part] = 1.0 - ratio.max()
                continue
            least, split, tight = _best_split(d[part][:, part], effort[part], low, high)
            out[part] = 1.0 - least
            first[part[tight]] = True
            if least < 1:  # go on with a split that holds
                effort[part] = split
        problem.u[self.column] = effort * self.sign
        return out, first

    def share(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, take the smallest largest share of the bounds."""
        stuck = self.modes == 0
        if not stuck.any():
            return
        dead, open_ = self._undetermined(problem, t, stuck)
        if not len(dead) and not len(open_):
            return
        if self.load is not None:
            self.load.splits(problem, t, open_)
            open_ = open_[:0]
        from ..complementarity import minimal_split

        now = self._present(problem, t)
        effort = self.efforts_of(problem.u)
        effort[dead] = np.clip(0.0, now.low[dead], now.high[dead])
        if len(open_):
            d = self.delassus(problem, t)
            for part in self._large(problem, t, open_, CROWD):
                if len(part) > CROWD:
                    _, effort[part], _ = _best_split(d[part][:, part], effort[part],
                                                     now.low[part], now.high[part])
            block, held = d[open_][:, open_], effort[open_]
            effort[open_] = minimal_split(block, now.low[open_], now.high[open_], held,
                                          np.arange(len(open_)))
            # searches for the best split are less exact than what they must keep
            kept = self.efforts_of(problem.u)[open_] - effort[open_]
            effort[open_] += self._solve_open(block, open_, block @ kept)
        problem.u[self.column] = effort * self.sign

    def shared(self, problem: Problem, t: float) -> list[tuple[list[str], np.ndarray]]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        stuck = self.modes == 0
        dead, open_ = self._undetermined(problem, t, stuck)
        effort = self.efforts_of(problem.u)
        out = [([self.label(int(i))], effort[[i]]) for i in dead]
        if self.load is not None:
            for members, found in self.load.splits(problem, t, open_):
                if found.free:
                    out.append(([self.label(int(i)) for i in members], found.effort))
        elif len(open_):
            from ..complementarity import undetermined_groups

            now = self._present(problem, t)
            d = self.delassus(problem, t)
            groups = undetermined_groups(d[open_][:, open_], now.low[open_], now.high[open_],
                                         effort[open_], np.arange(len(open_)))
            crowds = [p for p in self._large(problem, t, open_, CROWD) if len(p) > CROWD]
            for members in [*(open_[g.members] for g in groups), *crowds]:
                out.append(([self.label(int(i)) for i in members], effort[members]))
        return out


def _ratios(effort: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Share of the bounds that efforts take: 1 at a bound, 0 in the middle."""
    closed = np.isfinite(high - low)
    half = np.where(closed, (high - low) / 2, 1.0)
    return 1 - np.minimum(high - effort, effort - low) / half


def _best_split(d: Any, effort: np.ndarray, low: np.ndarray, high: np.ndarray
                ) -> tuple[float, np.ndarray, np.ndarray]:
    """Efforts with the same effect and the smallest largest share of the bounds.

    Returns that share, the efforts, and which are at it in every such split: a sparse
    linear program, for parts too large for the prepared margins.
    """
    from scipy.optimize import linprog
    from scipy.sparse import hstack, vstack

    n = len(effort)
    d = csc_matrix(d)
    closed = np.isfinite(high - low)
    half = np.where(closed, (high - low) / 2, 1.0)
    size = 1 / np.sqrt(d.diagonal())
    up, down = np.isfinite(high), np.isfinite(low)
    eye = diags_array(np.ones(n)).tocsr()
    # change y in units of half the range: d half y == 0, share of every bound <= s
    same = hstack([diags_array(size) @ d @ diags_array(half), csc_matrix((n, 1))])
    rows = vstack([hstack([eye[up], -np.ones((up.sum(), 1))]),
                   hstack([-eye[down], -np.ones((down.sum(), 1))])])  # fmt: skip
    right = np.concatenate([((high - effort) / half - 1)[up], ((effort - low) / half - 1)[down]])
    cost = np.append(np.zeros(n), 1.0)
    found = linprog(cost, rows.tocsr(), right, same.tocsr(), np.zeros(n), bounds=(None, None),
                    method="highs", options={"primal_feasibility_tolerance": 1e-10,
                                             "dual_feasibility_tolerance": 1e-10})  # fmt: skip
    if found.x is None:
        return float(_ratios(effort, low, high).max()), effort, np.ones(n, dtype=bool)
    owner = np.concatenate([np.flatnonzero(up), np.flatnonzero(down)])
    tight = np.zeros(n, dtype=bool)
    tight[owner[np.abs(found.ineqlin.marginals) > 1e-9]] = True
    return float(found.x[-1]), effort + half * found.x[:-1], tight
