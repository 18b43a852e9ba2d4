"""Friction whose strength depends on other efforts: what the joint problem needs.

A bound such as ``mu N`` is linearised in the efforts, at the present ones, with the
algebraic unknowns following; pieces (``abs_(N)``, ``maximum``) are found by repetition.
The joint problem itself is :func:`blocks.nonsmooth.complementarity.solve_coupled`.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags_array, identity, issparse

from ...exceptions import SimulationError
from ...system.problem import Problem
from ..unsettled import SETTLED, unsettled

__all__ = ["LoadDependence"]

DENSE = 80
ROUNDS = 25
PARADOX = 1e-6  # share of its value without friction at which a matrix counts as singular
FULL = 1e9  # of the impulses, as forces: those of an impact are large beside all others


class LoadDependence:
    """Bounds of set-valued elements as functions of efforts.

    Parameters
    ----------
    laws : SetValuedLaws
    bounds : expressions of lower and upper static, lower and upper kinetic bounds
    """

    def __init__(self, laws: Any, bounds: Any) -> None:
        system, tape = laws.system, laws.system.tape
        self.laws, self.size = laws, laws.size
        self._by_u = system.jacobian(bounds, tape.u)
        self._few = laws.size <= DENSE
        if self._few:
            own = ca.jacobian(bounds, tape.u)[:, laws.column.tolist()]
            own = own * ca.repmat(ca.DM(laws.sign).T, own.shape[0], 1)
            self._dense = system.function("bounds_u", ca.densify(own).T)  # row by row
        self._by_z = system.jacobian(bounds, tape.z) if system.nz else None
        fast = ca.vertcat(tape.u, tape.z)
        moving = {s.__hash__() for s in ca.symvar(ca.jacobian(bounds, fast))}
        self.constant = moving <= {s.__hash__() for s in ca.symvar(tape.p)} and not system.nz
        self._cache: dict[Any, Any] = {}
        self._here: Any = None  # what the values kept belong to: a point, or parameters
        self.pieces = any(ca.which_depends(bounds, fast, 2, True))  # abs_(N) and the like
        pattern = ca.jacobian(bounds, fast).sparsity()
        rows = np.array(pattern.row(), dtype=int) % max(self.size, 1)
        self.dependent = np.zeros(self.size, dtype=bool)  # bounds move with some effort
        self.dependent[rows] = True
        self.in_a_circle = self._in_a_circle(bounds)

    def fresh(self, laws: Any) -> LoadDependence:
        """The same for the laws of another run."""
        new = copy.copy(self)
        new.laws, new._cache, new._here = laws, {}, None
        return new

    def _in_a_circle(self, bounds: Any) -> bool:
        """Whether what slides may load itself, by way of others that slide; not sought in many."""
        if not self._few:
            return True
        pattern = ca.jacobian(bounds, self.laws.system.tape.u).sparsity()
        rows, columns = (np.array(a, dtype=int) for a in (pattern.row(), pattern.get_col()))
        element = np.full(self.laws.system.nu, -1)
        element[self.laws.column] = np.arange(self.size)
        reach = np.zeros((self.size, self.size), dtype=bool)
        reach[rows % max(self.size, 1), element[columns]] = True
        for _ in range(self.size.bit_length()):
            reach |= reach @ reach
        return bool(reach.diagonal().any())

    # -- linearisation -------------------------------------------------------------------
    def slopes(self, problem: Problem, t: float) -> list[Any]:
        """d bound / d effort of lower, upper static, lower, upper kinetic bounds.

        Dense for few elements, sparse for many.
        """
        return self._kept(problem, t, "slopes", lambda: self._slopes(problem, t))

    def _slopes(self, problem: Problem, t: float) -> list[Any]:
        laws, args, n = self.laws, problem.arguments(t), self.size
        if self._few and self._by_z is None:
            return list(self._dense(*args).reshape(4, n, n))
        by_u = self._by_u.sparse(*args)
        if self._by_z is not None:
            by_u = by_u + self._by_z.sparse(*args) @ laws._algebraic_by_u(problem, t)
        by_effort = csr_matrix(by_u)[:, laws.column].multiply(laws.sign[None, :]).tocsr()
        parts = [by_effort[k * n : (k + 1) * n] for k in range(4)]
        return [part.toarray() for part in parts] if self._few else parts

    def _kept(self, problem: Problem, t: float, key: Any, make: Any) -> Any:
        """A value that is made once, as long as nothing moves that it depends on."""
        here: tuple[Any, ...] = (id(problem.p),)
        if not (self.constant and self.laws.constant):
            moving = [problem.x, problem.z, problem.m, problem.d]
            moving += [] if self._is_affine else [problem.u]
            here = (t, *(a.tobytes() for a in moving))
        if self._here != here:
            self._here, self._cache = here, {}
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    @property
    def _is_affine(self) -> bool:
        """Whether rates and bounds are known to be linear in the efforts."""
        return getattr(self.laws.together, "affine", False)

    def bounds(self, problem: Problem, t: float, resting: np.ndarray) -> tuple[Any, Any]:
        """Slopes of lower and upper bounds, static for elements at rest."""
        low, high, back, forth = self.slopes(problem, t)
        return (_rows(resting, low) + _rows(~resting, back),
                _rows(resting, high) + _rows(~resting, forth))

    def kinetic(self, problem: Problem, t: float) -> Any:
        """d sliding effort / d effort at the present modes, 0 for elements at rest."""
        back, forth = self.slopes(problem, t)[2:]
        return _rows(self.laws.modes > 0, forth) + _rows(self.laws.modes < 0, back)

    def matrix(self, problem: Problem, t: float) -> Any:
        """Rows: rates of elements at rest, efforts of sliding ones less what they slide with."""
        rests = self.laws.modes == 0
        own = np.eye(self.size) if self._few else identity(self.size, format="csr")
        return _rows(rests, self.laws.delassus(problem, t)) + _rows(
            ~rests, own - self.kinetic(problem, t))

    def newton(self, problem: Problem, t: float, residual: np.ndarray) -> np.ndarray:
        """Solve with :meth:`matrix`; least change where it is singular."""
        key = ("solve", self.laws.modes.tobytes())
        return self._kept(problem, t, key, lambda: self._solver(problem, t))(residual)

    def _solver(self, problem: Problem, t: float) -> Any:
        matrix = self.matrix(problem, t)
        if self._few:
            return lambda r: np.linalg.lstsq(matrix, r, rcond=1e-13)[0]
        from scipy.sparse.linalg import splu

        matrix = csr_matrix(matrix)
        modes, number = self.laws.modes, self.linked(problem, t)
        order = np.argsort(number, kind="stable")
        rows, columns, values = [], [], []
        large = np.zeros(self.size, dtype=bool)
        for part in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
            if len(part) > DENSE:
                large[part] = True
                continue
            key = ("inverse", part.tobytes(), modes[part].tobytes())
            inverse = self._kept(problem, t, key, lambda p=part: np.linalg.pinv(
                _cut(matrix, p, p), rcond=1e-13))
            rows.append(np.repeat(part, len(part)))
            columns.append(np.tile(part, len(part)))
            values.append(inverse.ravel())
        own = csr_matrix((np.concatenate([[0.0], *values]), (np.concatenate([[0], *rows]),
                          np.concatenate([[0], *columns]))), shape=(self.size, self.size))
        if not large.any():
            return lambda r: own @ r
        rest = np.flatnonzero(large)
        solve = splu(csc_matrix(matrix[rest][:, rest])).solve

        def solved(r: np.ndarray) -> np.ndarray:
            out = own @ r
            out[rest] = solve(r[rest])
            return out

        return solved

    def linked(self, problem: Problem, t: float) -> np.ndarray:
        """Number of the connected part of every element, links by bounds included."""
        return self._kept(problem, t, "linked", lambda: self._linked(problem, t))

    def _linked(self, problem: Problem, t: float) -> np.ndarray:
        links = abs(self.laws.delassus(problem, t))
        for slopes in self.slopes(problem, t):
            links = links + abs(slopes)
        from ..complementarity import components

        return components(links)[1]

    # -- decisions ---------------------------------------------------------------------
    def solve(self, problem: Problem, t: float, index: np.ndarray, moved: np.ndarray,
              noise: np.ndarray) -> tuple[Any, tuple[np.ndarray, np.ndarray]]:
        """The joint problem of elements at rest, and their bounds at its solution.

        Raises
        ------
        SimulationError
            If no motion, or more than one, obeys the laws (Painlevé).
        """
        from ..complementarity import solve_coupled

        laws = self.laws
        parts = self.linked(problem, t)
        here = np.flatnonzero(np.isin(parts, parts[index]))
        at = np.searchsorted(here, index)
        known = np.ones(len(here), dtype=bool)
        known[at] = False
        loose = np.zeros(len(here), dtype=bool)
        loose[at] = moved
        modes = laws.modes[here]
        previous = np.inf
        for _ in range(ROUNDS):
            now = laws.look(problem, t)
            slopes = [_cut(s, here, here) for s in self.slopes(problem, t)]
            effort = laws.efforts_of(problem.u)[here]
            values = [v[here] for v in (now.low, now.high, now.back, now.forth)]
            constant = [v - s @ effort for v, s in zip(values, slopes, strict=True)]
            held = known & (modes == 0)  # at rest elsewhere, in no doubt
            low = _choose(loose & np.isfinite(values[0]) | (known & (modes < 0)), constant[2],
                          constant[0])
            by_low = _choose(loose & np.isfinite(values[0]) | (known & (modes < 0)), slopes[2],
                             slopes[0])
            high = _choose(loose & np.isfinite(values[1]), constant[3], constant[1])
            by_high = _choose(loose & np.isfinite(values[1]), slopes[3], slopes[1])
            ahead = known & (modes > 0)
            low, by_low = _choose(ahead, constant[3], low), _choose(ahead, slopes[3], by_low)
            low, by_low = np.where(held, effort, low), np.where(held[:, None], 0.0, by_low)
            high, by_high = _choose(known, low, high), _choose(known, by_low, by_high)
            d = _cut(laws.delassus(problem, t), here, here)
            solution = solve_coupled(d, now.rate[here] + d @ effort, low, high, by_low, by_high,
                                     known=known, start=effort, rate_floor=noise[here])
            change = np.abs(solution.effort - effort).max()
            full = laws.efforts_of(problem.u)
            full[here] = solution.effort
            problem.u[laws.column] = full * laws.sign
            if problem.algebraic:
                problem.solve_algebraic(t)
            if self._is_affine or change > 2 * previous \
                    or change <= 1e-12 * np.abs(solution.effort).max():
                break
            previous = change
        self.refuse(t, solution, here)
        if not self._is_affine and change > SETTLED * np.abs(solution.effort).max():
            raise unsettled((laws.name(int(i)) for i in here), t, "efforts")
        bounds = (low + by_low @ solution.effort)[at], (high + by_high @ solution.effort)[at]
        part = replace(solution, effort=solution.effort[at], rate=solution.rate[at],
                       state=solution.state[at], fixed=solution.fixed[at],
                       grazing=solution.grazing[at])  # fmt: skip
        return part, bounds

    def strike(self, problem: Problem, t: float, group: np.ndarray, now: Any, e: np.ndarray
               ) -> tuple[np.ndarray, Any]:
        """Impact of contacts and the friction they load; who took part, and the impulses.

        Bounds of impulses are the bounds' slopes at very large efforts in proportion to
        the impulses themselves, which are found by repetition.
        """
        from ..complementarity import rough_impact

        laws = self.laws
        bottom = np.where(laws.modes == 0, now.low, now.back)
        top = np.where(laws.modes == 0, now.high, now.forth)
        endless = ~np.isfinite(top - bottom) & ~laws.contact & (laws.modes == 0)
        index = np.flatnonzero(group | (self.dependent & ~laws.contact) | endless)
        d = _cut(laws.delassus(problem, t), index, index)
        low = np.where(np.isfinite(bottom), 0.0, bottom)[index]
        high = np.where(laws.contact, np.inf, np.where(np.isfinite(top), 0.0, top))[index]
        kept, z = problem.u.copy(), problem.z.copy()
        impulse = laws.contact[index].astype(float)
        try:
            for _ in range(ROUNDS):
                effort = np.zeros(self.size)
                effort[index] = FULL * impulse
                problem.u[laws.column] = effort * laws.sign
                if problem.algebraic:
                    problem.solve_algebraic(t)
                slopes = [_cut(s, index, index) for s in self.slopes(problem, t)]
                resting = (laws.modes == 0)[index, None]
                by_low = np.where(resting, slopes[0], slopes[2])
                by_high = np.where(resting, slopes[1], slopes[3])
                impact = rough_impact(d, now.flow[index], e[index], laws.contact[index], low, high,
                                      by_low, by_high)  # fmt: skip
                change = np.abs(impact.impulse - impulse).max()
                impulse = impact.impulse
                if change <= 1e-12 * np.abs(impulse).max():
                    break
            if change > SETTLED * np.abs(impulse).max():
                raise unsettled((laws.name(int(i)) for i in index), t, "impulses")
        finally:
            problem.u[:], problem.z[:] = kept, z
        return index, impact

    # -- efforts that the motion leaves open -----------------------------------------------
    def unpressed(self, problem: Problem, t: float) -> np.ndarray:
        """Elements that only open contacts could load: their effort is known, it is zero."""
        laws = self.laws
        acting = ~(laws.contact & (laws.modes < 0))
        now, out = laws.look(problem, t), self.dependent & ~laws.contact
        out &= now.high - now.low <= 0
        for slopes in self.slopes(problem, t)[:2]:
            out &= _nonzero(slopes[:, acting], None, 1) == 0
        return out

    def splits(self, problem: Problem, t: float, index: np.ndarray
               ) -> list[tuple[np.ndarray, Any]]:
        """Per connected part of undetermined elements: who, and the split with the most room.

        Leaves the problem at those splits.
        """
        from ..complementarity import loaded_split

        laws = self.laws
        out = []
        parts = self.linked(problem, t)
        for part in np.unique(parts[index]):
            rests = index[parts[index] == part]
            slides = np.flatnonzero((laws.modes != 0) & (parts == part))
            pieces = None
            for _ in range(ROUNDS):
                slopes = self.slopes(problem, t)
                held = [_cut(s, rests, np.append(rests, slides)) for s in slopes[:2]]
                if pieces is not None and np.allclose(held, pieces, rtol=1e-9, atol=1e-12):
                    break
                pieces, now = held, laws.look(problem, t)
                effort = laws.efforts_of(problem.u)
                d = laws.delassus(problem, t)
                # what slides follows: d effort[slides] / d effort[rests]
                kinetic = self.kinetic(problem, t)
                back = np.linalg.solve(np.eye(len(slides)) - _cut(kinetic, slides, slides),
                                       _cut(kinetic, slides, rests))
                lower, upper = (s[:, : len(rests)] + s[:, len(rests):] @ back for s in held)
                mine = np.flatnonzero(parts == part)
                moved = _cut(d, mine, rests) + _cut(d, mine, slides) @ back
                at = np.searchsorted(mine, rests)
                found = loaded_split(
                    moved[at], effort[rests], now.low[rests] - lower @ effort[rests],
                    now.high[rests] - upper @ effort[rests], lower, upper,
                    np.delete(moved, at, axis=0))
                step = found.effort - effort[rests]
                effort[rests] += step
                effort[slides] += back @ step
                problem.u[laws.column] = effort * laws.sign
                if problem.algebraic:
                    problem.solve_algebraic(t)
            else:  # it goes to and fro between pieces of the laws: a split that holds will do
                now, effort = laws.look(problem, t), laws.efforts_of(problem.u)
                room = float(np.minimum(now.high - effort, effort - now.low)[rests].min())
                if room < -SETTLED * np.abs(effort).max():
                    raise unsettled((laws.name(int(i)) for i in rests), t, "efforts at rest")
                found = replace(found, room=room)
            out.append((rests, found))
        return out

    # -- Painlevé ------------------------------------------------------------------------
    def refuse(self, t: float, solution: Any, here: np.ndarray) -> None:
        """Stop where no efforts, or several, solve the problem of the elements ``here``."""
        from ..complementarity import BoxStatus

        if solution.status is BoxStatus.SOLVED:
            return
        several = solution.status is BoxStatus.NOT_UNIQUE
        raise self._error(t, here[solution.suspects], "several motions obey" if several else
                          "no motion obeys")

    def _wedged(self, t: float, elements: np.ndarray) -> SimulationError:
        return self._paradox(
            t, elements, "several motions obey the laws of rigid contact and dry friction: these "
            "contacts are wedged, any force that they press with against each other obeys the "
            "laws, and the friction of what slides depends on it.",
            "Leave some play between the bodies, or let one of the contacts yield: a spring with a "
            "damper in its place says how hard it is pressed.",
        )  # fmt: skip

    def _error(self, t: float, elements: np.ndarray, found: str) -> SimulationError:
        return self._paradox(
            t, elements, f"{found} the laws of rigid contact and dry friction: sliding "
            "friction presses its own contact together as fast as the contact can push back, or "
            "faster (Painlevé's paradox: the body jams), or what presses it is not determined.",
            "Lower the coefficient of friction or change the angle at which the friction acts; or "
            "let the contact yield: a spring with a damper in place of the rigid contact or guide.",
        )  # fmt: skip

    def _paradox(self, t: float, elements: np.ndarray, what: str, advice: str) -> SimulationError:
        names = tuple(dict.fromkeys(self.laws.label(int(i)) for i in elements))
        return SimulationError(
            ", ".join(dict.fromkeys(self.laws.name(int(i)) for i in elements)),
            f"at t = {t:.9g} s {what}", advice, code="simulation.paradox", time=float(t),
            variables=names,
        )  # fmt: skip

    def hold(self, problem: Problem, t: float) -> np.ndarray:
        """Share of its friction-free value that the matrix of a part that slides has left.

        Infinite where nothing slides with a friction that depends on efforts. At 0
        efforts become infinite; below, they have the wrong sign.
        """
        key = ("hold", self.laws.modes.tobytes())
        return self._kept(problem, t, key, lambda: self._hold(problem, t))

    def _hold(self, problem: Problem, t: float) -> np.ndarray:
        laws = self.laws
        out = np.full(self.size, np.inf)
        sliding = (laws.modes != 0) & self.dependent
        if not sliding.any():
            return out
        kinetic, d = self.kinetic(problem, t), laws.delassus(problem, t)
        parts = self.linked(problem, t)
        moves = np.flatnonzero(sliding)
        drives = np.flatnonzero((laws.modes == 0) & (_nonzero(kinetic, moves, 0) > 0))
        # only parts whose friction acts on what it depends on
        acts = np.concatenate([drives[_nonzero(d[drives][:, moves], None, 1) > 0],
                               moves[_nonzero(kinetic[moves][:, moves], None, 1) > 0]])
        sliding &= np.isin(parts, parts[acts])
        if not sliding.any():
            return out
        for part in np.unique(parts[sliding]):
            slides = np.flatnonzero((laws.modes != 0) & self.dependent & (parts == part))
            own = np.eye(len(slides)) - _cut(kinetic, slides, slides)
            left = float(np.linalg.det(own))
            rests = np.flatnonzero((laws.modes == 0) & (parts == part))
            rests = rests[_cut(kinetic, slides, rests).any(axis=0)]
            if len(rests) and left > PARADOX:
                block = _cut(d, rests, rests)
                back = np.linalg.solve(own, _cut(kinetic, slides, rests))
                left = min(left, _volume(block + _cut(d, rests, slides) @ back, block))
            out[slides] = left - PARADOX
            out[rests] = left - PARADOX
        return out

    def refuse_several(self, problem: Problem, t: float) -> None:
        """Stop where what slides would do so as well with a guide that presses the other way."""
        laws = self.laws
        sliding = (laws.modes != 0) & self.dependent
        if not sliding.any():
            return
        self._refuse_open_load(problem, t, sliding)
        if not self.pieces:
            return
        u, z = problem.u.copy(), problem.z.copy()
        args = problem.arguments(t)
        slope = laws.system.slope(*args)
        size = np.abs(slope) + abs(laws._slope_u.sparse(*args)) @ np.abs(u)
        big = 1e3 * max(float(np.abs(u).max()), 1e-3)
        try:
            for sign in (1, -1):
                effort = laws.efforts_of(u)
                effort[sliding] = sign * big
                problem.u[laws.column] = effort * laws.sign
                if problem.algebraic:
                    problem.solve_algebraic(t)
                laws.apply(problem, t)
                now, effort = laws.look(problem, t), laws.efforts_of(problem.u)
                near = 1e-6 * np.abs(effort).max()
                holds = np.where(laws.modes == 0, (effort >= now.low - near)
                                 & (effort <= now.high + near),
                                 np.abs(now.sliding(laws.modes) - effort) <= near)  # fmt: skip
                other = laws.system.slope(*problem.arguments(t))
                if holds.all() and np.any(np.abs(other - slope) > 1e-6 * size.max(initial=0.0)):
                    raise self._error(t, np.flatnonzero(sliding), "several motions obey")
        finally:
            problem.u[:], problem.z[:] = u, z

    def _refuse_open_load(self, problem: Problem, t: float, sliding: np.ndarray) -> None:
        """Stop where what slides is pressed by efforts at rest that could be others as well."""
        from ..complementarity import open_load

        laws = self.laws
        kinetic, d, parts = self.kinetic(problem, t), laws.delassus(problem, t), self.linked(
            problem, t)
        now, rest = laws._present(problem, t), laws.modes == 0
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        touching = laws.contact & ~rest & (now.gap <= 1e-12 * far) & (
            np.abs(now.flow) <= 1e-12 * laws._speed)
        if touching.any():  # open by rounding only
            rest |= touching & (np.abs(now.rate) <= laws._noise(problem, t))
        for part in np.unique(parts[sliding]):
            mine = np.flatnonzero(parts == part)
            slides, rests = mine[~rest[mine]], mine[rest[mine]]
            drives = rests[_cut(kinetic, slides, rests).any(axis=0)]
            if len(drives) == 0 or len(rests) < 2:
                continue
            back = np.linalg.solve(np.eye(len(slides)) - _cut(kinetic, slides, slides),
                                   _cut(kinetic, slides, rests))
            if open_load(_cut(d, rests, rests), _cut(d, rests, slides) @ back,
                         _cut(d, slides, rests) + _cut(d, slides, slides) @ back):
                raise self._wedged(t, np.concatenate([drives, slides]))

    def refuse_jam(self, problem: Problem, t: float, elements: np.ndarray) -> None:
        """Stop where the efforts of what slides have no bound."""
        jams = elements & (self.hold(problem, t) <= 0)
        if jams.any():
            raise self._error(t, np.flatnonzero(jams), "no unique motion obeys")


def _cut(matrix: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """A block of a dense or sparse matrix, dense."""
    if issparse(matrix):
        return matrix.tocsr()[rows][:, columns].toarray()
    return matrix[np.ix_(rows, columns)]


def _nonzero(matrix: Any, rows: np.ndarray | None, axis: int) -> np.ndarray:
    """How many entries of every column (axis 0) or row (1), of some rows, are not zero."""
    part = matrix if rows is None else matrix[rows]
    return np.asarray((part != 0).sum(axis=axis)).ravel()


def _rows(mask: np.ndarray, matrix: Any) -> Any:
    """The rows of a mask, zero elsewhere."""
    if issparse(matrix):
        return diags_array(mask.astype(float)).tocsr() @ matrix
    return np.where(mask[:, None], matrix, 0.0)


def _choose(mask: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.where(mask if one.ndim == 1 else mask[:, None], one, other)


def _volume(loaded: np.ndarray, block: np.ndarray) -> float:
    """det(loaded)/det(block), of the rank of the block where that is singular."""
    size = np.sqrt(np.maximum(np.diag(block), 1e-300))
    loaded, block = loaded / np.outer(size, size), block / np.outer(size, size)
    values, vectors = np.linalg.eigh(block)
    real = values > 1e-10
    q = vectors[:, real]
    return float(np.linalg.det(q.T @ loaded @ q) / np.prod(values[real]))
