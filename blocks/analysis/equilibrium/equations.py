"""Which states, unknowns, efforts and free inputs meet equations, rest and targets, in a mode?

Newton's method on all of it at once, with the least change from where it starts: what nothing
determines stays as it was. Where equations conflict, the least squares are a witness of it, from
which a minimal set of conflicting targets is filtered.

References
----------
J. W. Chinneck, E. W. Dravnieks, Locating minimal infeasible constraint sets in linear programs,
ORSA Journal on Computing 3(2), 1991 (deletion filter).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dgetrs

from ...numerics.arrays import Array, Flags, Indices, all_finite
from ...numerics.continuation import curve, passes
from ...numerics.sparse_solves import factors_if_regular
from ...system.system import System
from ..linear.derivatives import Derivatives, DerivativesAt, derivatives_of, elements_of_system
from ..linear.linearise import relations_on_edge
from ..linear.point import Point
from ..linear.reduction import positional_states
from ..linear.sampled import SampledValues
from .solve_in_mode import held_rows, mode_rows
from .targets import OperatingSpec

__all__ = ["Equations", "Solution"]

RANK = 1e-9  # of the largest, below which a row says nothing new
SAME = 1e-7  # by which directions may differ that are the same
MOST_STEPS = 60
MOST_HALVINGS = 8
MET = 1e-9  # of what a row is made of
STEP_DONE = 1e-14
NO_COLUMN = 1e-13  # of the largest entries of its rows: derivatives that are rounding
OPEN = 1e-9  # of a direction: an unknown that takes no part in it
SINGULAR = 1e-10
REPEATED = 1e-6  # share of a row in a sum of rows that is zero
BESIDE = 1e-2  # of nominal values: a point beside another
MOST_ROUNDS = 12  # of relations that switch
SURELY_CONTRACTS = 0.1  # of the first step: Newton's second one, with the first one's matrix
MOST_POINTS = 200  # of a way from a guess

_RowsOf = Callable[[Point], tuple[Array, Array]]  # values and derivatives of rows at a point


@dataclass(frozen=True, eq=False)
class Solution:
    """Where Newton's method has ended."""

    point: Point
    met: bool  # whether all rows are met
    missed: Array  # per soft requirement, by how much it is missed, 0 where it is met
    open: Array  # directions (columns) of all unknowns that nothing determines
    # soft requirements that say the same as others
    repeated: list[str] = field(default_factory=list)


class Equations:
    """All rows of an operating point: hard ones of the model, soft ones of rest and targets."""

    def __init__(self, system: System, spec: OperatingSpec, at_rest: bool) -> None:
        self.system, self.spec, self.samples = system, spec, SampledValues.of(system)
        self.at_rest = at_rest  # whether anything shall rest
        outputs = [w.signal for w in spec.values]
        self.derivatives: Derivatives = derivatives_of(system, spec.free, outputs, sampled=at_rest)
        # discrete values whose next samples shall be the same
        self.sampled = self.derivatives.sampled
        # whether discrete values are sampled and rest
        self.samples_at_rest = at_rest & self.samples.sampled & ~self.samples.in_python
        # whether discrete values are sampled, and follow nothing else
        self.sources: Flags = self.samples_at_rest & ~self.derivatives.moving
        self.restless: list[str] = []  # components of those that never rest
        # components whose samples are worked out in Python
        self.in_python = self.samples.components(at_rest & self.samples.in_python)
        pattern = self.derivatives.pattern[:, : system.nx]
        used = (np.asarray(pattern.sum(axis=0)).ravel() > 0) | ~positional_states(system)
        # numbers of the states that shall rest
        self.resting: Indices = np.flatnonzero(used) if at_rest else np.zeros(0, dtype=int)
        # numbers of states whose motion nothing depends on
        self.drifting: Indices = np.flatnonzero(~used)
        # what may be given up: ``"rest of block.v"``, ``"car.v = 90 km/h"``
        self.soft = [f"rest of {system.state_name(int(i))}" for i in self.resting]
        self.soft += [f"rest of {system.discrete_name(int(i))}" for i in self.derivatives.assigned]
        self.soft += [w.text for w in spec.values]
        self.values = np.array([w.value for w in spec.values])

    def with_sources(self, point: Point) -> Point:
        """A point with the samples that follow nothing else as they are at rest."""
        d, restless = self.samples.at_rest(point.arguments, self.sources)
        self.restless = self.samples.components(restless)
        self.samples_at_rest &= ~restless
        return replace(point, d=d)

    def with_meters(self, solution: Solution) -> Solution:
        """A solution with the samples on which nothing depends as they are at rest."""
        meters = self.samples_at_rest & self.derivatives.moving & ~self.derivatives.used
        d, restless = self.samples.at_rest(solution.point.arguments, meters)
        self.samples_at_rest &= ~restless
        return replace(solution, point=replace(solution.point, d=d))

    def solve(self, guess: Point, kept: Flags | None = None) -> Solution:
        """The solution next to a point, in its modes; ``kept`` are the soft rows that count.

        What is frozen stays where it is, if a solution leaves it there.
        """
        fixed, frozen = self._lasting(guess)
        solution = self._solve(guess, kept, np.concatenate([fixed, frozen]))
        if len(frozen) and not solution.met:
            solution = self._solve(guess, kept, fixed)
        return solution

    def _lasting(self, guess: Point) -> tuple[Array, Array]:
        """Sums of states that never change, and states that do not in these modes, as rows.

        Those that are the same beside the point: what rests only because of where it is, as a
        crank at its dead point does, is free to move. What ties states whatever efforts are holds
        in all modes; a contact that is closed may have been open at the guess. So with the sums are
        samples that never change, as of an integral with the gain zero.
        """
        nx, rng, scale = self.system.nx, np.random.default_rng(0), self._scale(guess)
        width, sampled = len(scale), nx + self.system.nz + self.system.nu + np.arange(
            len(self.sampled))
        step = np.zeros(width)
        step[:nx] = BESIDE * scale[:nx] * rng.uniform(-1, 1, nx)
        step[sampled] = BESIDE * scale[sampled] * rng.uniform(-1, 1, len(sampled))
        held = ~elements_of_system(self.system).contact
        none = np.zeros_like(held)
        idle, found = np.ones(len(self.sampled), dtype=bool), []
        for point in (guess, self._moved(guess, step)):
            at = self.derivatives.at(point)
            idle &= ~np.isin(self.sampled, self.derivatives.assigned[
                at.whole("sampled").any(axis=1)])
            found.append([linear_invariants(point, at, scale, some)
                          for some in ([none, held] if held.any() else [none])])
        parts = [split_off_axes(intersection(*pair)) for pair in zip(*found, strict=True)]
        return (np.concatenate([*(sums / scale for sums, _ in parts),
                                np.eye(width)[sampled[idle]]]), np.eye(width)[parts[-1][1]])

    def judged(self, solution: Solution, guess: Point) -> Solution:
        """Add to a solution the directions that nothing determines, and what is asked twice."""
        point, (fixed, _) = solution.point, self._lasting(guess)
        scale = self._scale(point)
        _, matrix, _ = self._rows(point, partial(
            self._as_they_are, scale=scale, kept=None, lasting=fixed, held=self._unknowns(point)))
        if not np.isfinite(matrix).all():
            return solution
        parts = _Directions.of(matrix)
        twice = parts.rows[:, len(parts.sizes) :]
        says = np.abs(twice[len(twice) - len(self.soft) :]).max(axis=1, initial=0.0)
        return replace(solution, open=parts.open * scale[:, None],
                       repeated=[self.soft[k] for k in np.flatnonzero(says > REPEATED)])

    def up_to_fold(self, guess: Point, end: Point) -> tuple[Point, float] | None:
        """Where solutions end on the way from a guess, as what they miss there is taken away; and
        which share of it is gone by then. None where the way leads to the end, as far as is known.

        That is a homotopy, followed where Newton's method does not contract at once towards the
        end, which proves that it leads there (Kantorovich).
        """
        scale, held = self._scale(guess), self._unknowns(guess)
        of = partial(self._as_they_are, scale=scale, kept=None, held=held,
                     lasting=np.concatenate(self._lasting(guess)))
        missed, matrix, sizes = self._rows(guess, of)
        if not (all_finite(missed) and matrix.shape[0] == matrix.shape[1]):
            return None

        def rows(y: Array) -> tuple[Array, Array]:
            value, whole = of(self._moved(guess, y[:-1] * scale))
            return value / sizes - (2.0 - y[-1]) * missed, np.column_stack(
                [whole / sizes[:, None], missed])

        try:
            step = np.linalg.solve(matrix, -missed)
            second = np.linalg.solve(matrix, rows(np.append(step, 2.0))[0])
        except np.linalg.LinAlgError:
            return None
        last = ahead = np.append(np.zeros(len(missed)), 1.0)  # its last entry is the share, and 1
        place, rising = np.append((self._unknowns(end) - held) / scale, 2.0), 1.0
        near = SURELY_CONTRACTS * (np.linalg.norm(step) + SAME)
        if max(np.linalg.norm(second), 0.5 * np.linalg.norm(place[:-1] - step)) <= near:
            return None
        of_curve = lambda y: rows(y)[0], lambda y: rows(y)[1]  # noqa: E731
        for y, tangent in islice(curve(*of_curve, last, ahead), MOST_POINTS):
            if tangent[-1] < 0.0:  # the fold is where it is zero
                if passes(*of_curve, last, y, place):
                    return None  # just before it
                part = rising / (rising - tangent[-1])
                share = last[-1] - 1.0 + 0.5 * part * rising * float(np.linalg.norm(y - last))
                fold = last + part * (y - last)
                return self._moved(guess, fold[:-1] * scale), share
            if y[-1] >= 2.0:
                return None
            last, rising = y, tangent[-1]
        return None

    def _solve(self, guess: Point, kept: Flags | None, lasting: Array) -> Solution:
        point = guess
        for _ in range(MOST_ROUNDS):
            solution = self._newton(point, kept, lasting, self._unknowns(guess))
            switched = _relations(solution.point)
            if switched is None or not solution.met:
                break
            point = replace(solution.point, m=switched)
        else:  # they go on switching
            return replace(solution, met=False)
        return solution

    def _newton(self, point: Point, kept: Flags | None, lasting: Array, held: Array) -> Solution:
        scale, last, begun = self._scale(point), np.inf, point.p
        of = partial(self._as_they_are, scale=scale, kept=kept, lasting=lasting, held=held)
        for _ in range(MOST_STEPS):
            value, matrix, sizes = self._rows(point, of)
            if not (all_finite(value) and np.isfinite(matrix).all()):
                break  # modes that cannot be, as past what bears any load, or a step far out
            factors = None
            if matrix.shape[0] == matrix.shape[1]:
                unit = _unit_of_columns(matrix)
                factors = factors_if_regular(matrix * unit, SINGULAR)
            step = _Directions.of(matrix).step(-value) if factors is None else \
                dgetrs(*factors, -value)[0] * unit
            before = float(np.linalg.norm(value))
            point, norm = self._stepped(point, step * scale, before, of, sizes)
            reach = np.abs(self._unknowns(point) / scale).max(initial=0.0)
            small = np.abs(step).max(initial=0.0) <= STEP_DONE * (1 + reach)
            stands = norm >= before  # at a bend, where no part of the step leads on
            if small or stands or (norm >= 0.9 * last and norm <= MET) or norm == 0:
                break
            last = norm
        # states and free inputs that are rounding are 0: a run would take it for the size of speeds
        p, places = point.p.copy(), self._places
        p[places] = np.where(np.abs(p[places]) <= STEP_DONE * np.abs(begun[places]), 0.0, p[places])
        x = np.where(np.abs(point.x) <= STEP_DONE * point.scale_x, 0.0, point.x)
        point = replace(point, p=p, x=x)
        value, *_ = self._rows(point, of)
        met = bool(np.abs(value).max(initial=0.0) <= MET * 10)
        soft = np.zeros(len(self.soft))
        some = np.ones(len(self.soft), dtype=bool) if kept is None else kept
        if some.any():
            tail = value[len(value) - int(some.sum()):]
            soft[some] = np.where(np.abs(tail) > MET * 10, tail, 0.0)
        return Solution(point, met, soft, np.zeros((len(scale), 0)))

    def _scale(self, point: Point) -> Array:
        others = np.abs(self._unknowns(point)[self.system.nx + self.system.nz :])
        return np.concatenate([point.scale_x, point.scale_z, np.maximum(others, 1.0)])

    @property
    def _places(self) -> list[int]:
        return [s.place for s in self.spec.free]

    def _unknowns(self, point: Point) -> Array:
        return np.concatenate([point.x, point.z, point.u, point.d[self.sampled],
                               point.p[self._places]])

    def _stepped(self, point: Point, step: Array, norm: float, of: _RowsOf, sizes: Array
                 ) -> tuple[Point, float]:
        """After a step, halved where it leads away; and how large the rows are there.

        That is in parts of what they are made of before the step, ``sizes``: a force that grows
        with the square of a flux would look the larger the smaller its slope is after it.
        """
        factor = 1.0
        for _ in range(MOST_HALVINGS):
            moved = self._moved(point, factor * step)
            with np.errstate(all="ignore"):
                size = float(np.linalg.norm(of(moved)[0] / sizes))
            if np.isfinite(size) and (size <= norm * (1 - 1e-4 * factor) or size <= MET):
                return moved, size
            factor /= 2
        return self._moved(point, factor * step), norm

    def _moved(self, point: Point, step: Array) -> Point:
        x, z, u, d, of_inputs = np.split(step, np.cumsum([
            self.system.nx, self.system.nz, self.system.nu, len(self.sampled)]))
        p, discrete = point.p.copy(), point.d.copy()
        for change, signal in zip(of_inputs, self.spec.free, strict=True):
            p[signal.place] += signal.sign * change
        discrete[self.sampled] += d
        return replace(point, x=point.x + x, z=point.z + z, u=point.u + u, d=discrete, p=p)

    # -- rows ------------------------------------------------------------------------------
    def _rows(self, point: Point, of: _RowsOf) -> tuple[Array, Array, Array]:
        """Scaled values and derivatives of all rows, the soft ones last, and what scales them.

        Where a law is infinitely steep, as a root where it begins, derivatives are those beside.
        """
        v, whole = of(point)
        for side in (BESIDE, -BESIDE):
            if np.isfinite(whole).all():
                break
            _, whole = of(replace(point, x=point.x + side * point.scale_x,
                                  z=point.z + side * point.scale_z))
        size = np.abs(whole).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        return v / size, whole / size[:, None], size

    def _as_they_are(self, point: Point, scale: Array, kept: Flags | None, lasting: Array,
                     held: Array) -> tuple[Array, Array]:
        """Return values and derivatives of the rows as they are, unknowns in units of ``scale``."""
        at = self.derivatives.at(point)
        rows, by = mode_rows(point, at)
        stay, by_stay = held_rows(point, at, np.ones(len(rows), dtype=bool))
        mine = np.ones(len(self.soft), dtype=bool) if kept is None else kept
        rest, sampled, wished = np.split(mine, np.cumsum([
            len(self.resting), len(self.derivatives.assigned)]))
        value = [at.value["residual"], at.value["constraints"], rows, stay,
                 lasting @ (self._unknowns(point) - held), at.value["slope"][self.resting[rest]],
                 at.value["sampled"][sampled], (at.value["outputs"] - self.values)[wished]]
        matrix = [at.whole("residual"), at.whole("constraints"), by, by_stay, lasting,
                  at.whole("slope")[self.resting[rest]], at.whole("sampled")[sampled],
                  at.whole("outputs")[wished]]
        return np.concatenate(value), np.concatenate(matrix) * scale

    # -- conflicts -------------------------------------------------------------------------
    def conflict(self, guess: Point, solution: Solution) -> list[int]:
        """A smallest set of soft rows that cannot be met together (deletion filter)."""
        kept = np.ones(len(self.soft), dtype=bool)
        without = kept & (np.abs(solution.missed) > 0)
        if not self.solve(guess, without).met:
            kept = without
        for k in np.flatnonzero(kept):
            kept[k] = False
            if self.solve(guess, kept).met:
                kept[k] = True
        return np.flatnonzero(kept).tolist()


def _unit_of_columns(matrix: Array) -> Array:
    """Factors that make columns of even size of those that are not rounding."""
    size = np.abs(matrix).max(axis=0, initial=0.0)
    return np.asarray(1.0 / np.where(size > NO_COLUMN, size, 1.0))


@dataclass(frozen=True)
class _Directions:
    """What rows determine of the unknowns, which columns of even size tell.

    The heat of a shaft changes by megawatts with its speed, and by microwatts with a temperature
    that nothing else determines: beside the speed that would count as nothing.
    """

    # of the matrix with such columns; first come those that are not zero, then what rows say twice
    rows: Array  # singular vectors, as ``columns``
    sizes: Array  # singular values
    columns: Array
    unit: Array  # of the unknowns, in which columns are
    open: Array  # (unknowns, directions) orthonormal directions that nothing determines

    @classmethod
    def of(cls, matrix: Array) -> _Directions:
        """Return the directions of a matrix whose rows are about as large as 1."""
        unit = _unit_of_columns(matrix)
        u, s, vt = np.linalg.svd(matrix * unit)
        rank = int(np.count_nonzero(s > SINGULAR * s.max(initial=0.0)))
        free = np.where(np.abs(vt[rank:]) > OPEN, vt[rank:], 0.0).T * unit[:, None]
        free = free / np.linalg.norm(free, axis=0)
        return cls(u, s[:rank], vt[:rank].T, unit, np.linalg.qr(free)[0])

    def step(self, value: Array) -> Array:
        """The least change of the unknowns that comes next to values of the rows."""
        told = self.rows[:, : len(self.sizes)].T @ value / self.sizes
        step = (self.columns @ told) * self.unit
        return np.asarray(step - self.open @ (self.open.T @ step))


def _relations(point: Point) -> Array | None:
    """Relations as they hold at a point; None where they are as assumed."""
    system = point.system
    if not system.nm:
        return None
    g = system.crossings(*point.arguments)
    wrong = ((g > 0) != (point.m > 0.5)) & ~relations_on_edge(point)
    return np.where(wrong, 1.0 - point.m, point.m) if wrong.any() else None


def linear_invariants(point: Point, at: DerivativesAt, scale: Array, held: Flags) -> Array:
    """Sums of states that do not change next to a point, as orthonormal rows over all unknowns.

    Rows are in parts of ``scale``, that of the unknowns; the elements that are ``held`` keep their
    modes, of the others efforts are anything.
    """
    position = positional_states(point.system)
    slope = at.whole("slope")[position] * scale
    whole = np.concatenate([at.whole("residual"), at.whole("constraints"), mode_rows(
        point, at)[1][held], held_rows(point, at, held)[1]]) * scale
    found, last = np.zeros((0, len(scale))), -1
    if not np.isfinite(np.concatenate([whole, slope])).all():  # beyond what a law is made for
        return found
    met, places = _rows_of(whole), np.flatnonzero(position)
    while len(found) > last:  # what follows from sums that do not change may not change, either
        last = len(found)
        left = slope - slope @ met.T @ met
        size = np.abs(slope).max(axis=1, initial=0.0)
        left = left / np.where(size > 0, size, 1.0)[:, None]
        u, s, _ = np.linalg.svd(qr(left.T, mode="r")[0].T)
        rank = int(np.count_nonzero(s > RANK))
        sums = np.zeros((len(places) - rank, len(scale)))
        sums[:, places] = u[:, rank:].T / np.where(size > 0, size, 1.0) * scale[places]
        found = _rows_of(sums)
        met = _rows_of(np.concatenate([met, found]))
    return found


def intersection(one: Array, other: Array) -> Array:
    """The directions that two sets of orthonormal rows share."""
    u, s, _ = np.linalg.svd(one - one @ other.T @ other)
    return np.asarray(u[:, int(np.count_nonzero(s > SAME)) :].T @ one)


def split_off_axes(rows: Array) -> tuple[Array, Flags]:
    """Orthonormal rows without the unknowns that they contain by themselves, and these."""
    single = np.asarray((rows**2).sum(axis=0) > 1 - SAME)
    _, _, vt = np.linalg.svd(np.where(single, 0.0, rows), full_matrices=False)
    return vt[: len(rows) - int(single.sum())], single


def _rows_of(matrix: Array) -> Array:
    """Orthonormal rows that span those of a matrix."""
    size = np.abs(matrix).max(axis=1, initial=0.0)
    if not size.any():
        return matrix[:0]
    q, r, _ = qr((matrix[size > 0] / size[size > 0, None]).T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(r))
    return np.asarray(q[:, : int(np.count_nonzero(sizes > RANK * sizes.max()))].T)
