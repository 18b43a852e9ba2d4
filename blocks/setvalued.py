"""Which set-valued elements stick or touch, and with what effort?

The reduced network has every set-valued effort lambda as an input and its flow
gamma as an output. Where the network has inertia, ``rate = d gamma/dt = b - D
lambda``; sticking efforts follow from ``rate == 0``, modes from one
box-constrained problem for the whole network (:mod:`blocks.nonsmooth`).

Modes: 0 stuck (or closed), +1 sliding forward, -1 sliding backward (or open).
Within an episode they are held; sliding elements watch their flow, stuck ones
their margin, open contacts their gap. Every decision is taken on flows and
efforts of the element's own convention.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, issparse

from .expression import TIME
from .system import Problem, System

__all__ = ["Change", "SetValuedLaws", "set_valued_laws"]

DENSE = 80
RESTS = 1e-9  # of the fastest impact: a slower rebound is none
LOOKS_AHEAD = 1e-7  # of the time scale of an element, for loads exactly at the bound


@dataclass(frozen=True)
class Change:
    """An element changed its mode."""

    element: int
    before: int
    after: int
    impact: bool = False


@dataclass(frozen=True)
class Look:
    """Flows, static bounds, kinetic efforts, rates and gaps of all elements."""

    flow: np.ndarray
    low: np.ndarray
    high: np.ndarray
    back: np.ndarray
    forth: np.ndarray
    rate: np.ndarray
    gap: np.ndarray

    def sliding(self, modes: np.ndarray) -> np.ndarray:
        """Efforts while sliding (0 where stuck)."""
        return np.where(modes > 0, self.forth, np.where(modes < 0, self.back, 0.0))


def set_valued_laws(system: System) -> SetValuedLaws:
    """The laws of a system: the plain ones where every flow is determined by states."""
    from .massless import MixedLaws

    return (SetValuedLaws if _is_plain(system) else MixedLaws)(system)


def _is_plain(system: System) -> bool:
    tape = system.tape
    if tape.reduced.gives_flow.any():
        return False
    fast = ca.vertcat(tape.u, tape.z)
    return not any(
        any(ca.which_depends(tape.writer.kernel_row(f, flow), fast, 1, True))
        for f, family in enumerate(system.network.families)
        for _, flow, *_ in family.kernel.set_valued
    )


class SetValuedLaws:
    """All set-valued elements of a system and their present modes.

    Parameters
    ----------
    system : System
        Its inputs ``u`` are the efforts' classes.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        tape, flat = system.tape, system.flat
        self.owners: list[tuple[int, int]] = []  # family, instance
        column: list[int] = []
        sign: list[float] = []
        rows: list[list[Any]] = [[] for _ in range(7)]
        contact: list[bool] = []
        gives_flow = tape.reduced.gives_flow
        self._effort_rows: list[Any] = []
        at = {int(c): k for k, c in enumerate(tape.writer.inputs)}
        for f, family in enumerate(flat.network.families):
            for effort, flow, *bounds, gap, restitution in family.kernel.set_valued:
                slots = flat.base[f][effort, 0] + np.arange(family.size)
                swapped = gives_flow[len(column) : len(column) + family.size]
                if swapped.any():
                    i, order = family.kernel.key_of(flow)
                    slots = np.where(swapped, flat.base[f][i, order] + np.arange(family.size), slots)
                column += [at[int(c)] for c in flat.class_of[slots]]
                sign += flat.sign_of[slots].tolist()
                self._effort_rows.append(tape.writer.kernel_row(f, family.kernel.symbols[effort, 0]).T)
                self.owners += [(f, i) for i in range(family.size)]
                contact += [gap is not None] * family.size
                zero = ca.SX(0)
                everything = [flow, *bounds, zero if gap is None else gap,
                              zero if restitution is None else restitution]
                for row, sx in zip(rows, everything, strict=True):
                    row.append(tape.writer.kernel_row(f, sx).T)
        self.size = len(column)
        self.column, self.sign = np.array(column, dtype=int), np.array(sign)
        self.contact = np.array(contact, dtype=bool)
        self.gives_flow = gives_flow
        self.modes = np.zeros(self.size, dtype=int)
        if self.size:
            self._compile(*(ca.vertcat(*row) for row in rows))

    def _compile(self, flow: Any, low: Any, high: Any, back: Any, forth: Any, gap: Any,
                 restitution: Any) -> None:
        system, tape = self.system, self.system.tape
        rate = ca.jtimes(flow, tape.x, tape.slope) + ca.jacobian(flow, TIME)
        by_u = ca.jacobian(rate, tape.u)
        everything = ca.vertcat(flow, low, high, back, forth, rate, gap)
        self._laws = system.function("laws", ca.densify(everything))
        self._restitution = system.function("restitution", ca.densify(restitution))
        self._forward = system.jacobian(forth, tape.x)
        self._backward = system.jacobian(back, tape.x)
        self._drifts = np.array(ca.which_depends(flow, TIME, 1, True), dtype=bool)
        self._by_u = system.function("rate_u", by_u)
        self._slope_u = system.jacobian(tape.slope, tape.u)
        self._flow_x = system.jacobian(flow, tape.x)
        self._rate_x = system.jacobian(rate, tape.x)
        if system.nz:
            self._rate_z = system.jacobian(rate, tape.z)
            self._residual_u = system.jacobian(
                ca.vertcat(tape.residual, tape.constraints), tape.u)
        moving = {s.__hash__() for s in ca.symvar(by_u)} - {s.__hash__() for s in ca.symvar(tape.p)}
        self.constant = not moving and not system.nz
        self._cache: dict[Any, Any] = {}

    # -- names -------------------------------------------------------------------------
    def name(self, element: int) -> str:
        """Path of the component an element belongs to."""
        f, i = self.owners[element]
        return self.system.network.families[f].path(i)

    def words(self, change: Change) -> str:
        """What a change is called."""
        if self.contact[change.element]:
            return {0: "closes", -1: "rebounds" if change.impact else "opens"}[change.after]
        return {0: "sticks", 1: "slides forward", -1: "slides backward"}[change.after]

    # -- evaluation --------------------------------------------------------------------
    def look(self, problem: Problem, t: float) -> Look:
        """Flows, bounds and rates at the problem's present efforts."""
        return Look(*self._laws(*problem._arguments(t)).reshape(7, self.size))

    def efforts_of(self, u: np.ndarray) -> np.ndarray:
        """Element efforts from inputs."""
        return u[self.column] * self.sign

    def delassus(self, problem: Problem, t: float) -> Any:
        """D = -d rate / d effort: dense for few elements, sparse for many."""
        if self.constant and "D" in self._cache and self._cache["p"] is problem.p:
            return self._cache["D"]
        args = problem._arguments(t)
        by_u = self._by_u.sparse(*args)
        if problem.system.nz:
            by_u = by_u.toarray() + self._through_algebraic(problem, args)
        d = -(by_u[:, self.column] * self.sign if not issparse(by_u)
              else by_u[:, self.column].multiply(self.sign[None, :]).tocsc())
        if issparse(d) and self.size <= DENSE:
            d = d.toarray()
        if self.constant:
            self._cache = {"D": d, "p": problem.p}
        return d

    def _through_algebraic(self, problem: Problem, args: Any) -> np.ndarray:
        n = problem.system.nz
        gz = problem.system.residual_z.sparse(*args).toarray()[:n]
        gu = self._residual_u.sparse(*args).toarray()[:n]
        return -self._rate_z.sparse(*args).toarray() @ np.linalg.solve(gz, gu)

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's efforts to those of the present modes."""
        if not self.size:
            return
        now = self.look(problem, t)
        stuck = self.modes == 0
        effort = self.efforts_of(problem.u)
        new = np.where(stuck, effort, now.sliding(self.modes))
        if stuck.any():
            d = self.delassus(problem, t)
            change = np.where(stuck, 0.0, new - effort)
            wanted = now.rate - d @ change if change.any() else now.rate
            new[stuck] += self._solve_stuck(d, stuck, wanted[stuck])
        problem.u[self.column] = new * self.sign
        if problem.algebraic:
            problem.solve_algebraic(t)

    def _solve_stuck(self, d: Any, stuck: np.ndarray, rate: np.ndarray) -> np.ndarray:
        key = stuck.tobytes()
        solve = self._cache.get(key) if self.constant else None
        if solve is None:
            solve = _solver(d[np.ix_(stuck, stuck)] if not issparse(d)
                            else d[stuck][:, stuck].tocsc())
            if self.constant:
                self._cache[key] = solve
        return solve(rate)

    def correct(self, slope: np.ndarray, problem: Problem, t: float) -> np.ndarray:
        """Slopes with the rounding of stuck elements removed: what sticks does not creep."""
        pins = self._pins(problem, t)
        if len(pins):
            slope[pins] = 0.0
        return slope

    def _pins(self, problem: Problem, t: float) -> np.ndarray:
        """States that a stuck element alone holds at a constant value."""
        key = ("pins", self.modes.tobytes())
        if key not in self._cache:
            if not hasattr(self, "_rows"):
                self._rows = self._flow_x.sparse(*problem._arguments(t)).tocsr()
            alone = np.diff(self._rows.indptr) == 1
            held = np.flatnonzero((self.modes == 0) & ~self._drifts & alone)
            self._cache[key] = np.unique(self._rows.indices[self._rows.indptr[held]])
        return self._cache[key]

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds: sliding backwards, over a bound, gap closed."""
        now = self.look(problem, t)
        effort = self.efforts_of(problem.u)
        room = np.minimum(now.high - effort, effort - now.low)
        parting = (now.gap < 0) & (now.flow <= 0)  # by rounding, just after a rebound
        open_gap = np.where(parting, np.finfo(float).tiny, now.gap)
        moving = np.where(self.contact, open_gap, self.modes * now.flow)
        margin = np.where(self.modes == 0, room, moving)
        stuck = self.modes == 0
        if stuck.any() and self._is_singular(problem, t, stuck):
            margin[stuck] = self._joint_margins(problem, t, stuck, now)[0][stuck]
        return margin

    # -- degenerate networks -------------------------------------------------------------
    def _is_singular(self, problem: Problem, t: float, stuck: np.ndarray) -> bool:
        key = ("singular", stuck.tobytes())
        if not self.constant or key not in self._cache:
            d = self.delassus(problem, t)
            if issparse(d):
                diagonal = (d - csc_matrix((d.diagonal(), (range(self.size),) * 2), d.shape)).nnz == 0
                value = False if diagonal else _sparse_singular(d[stuck][:, stuck].tocsc())
            else:
                block = d[np.ix_(stuck, stuck)]
                scale = np.sqrt(np.maximum(np.diag(block), 1e-300))
                value = bool(np.linalg.matrix_rank(block / np.outer(scale, scale), tol=1e-10)
                             < len(block)) if (np.diag(block) > 0).all() else True
            if not self.constant:
                return value
            self._cache[key] = value
        return self._cache[key]

    def _joint_margins(self, problem: Problem, t: float, stuck: np.ndarray, now: Look
                       ) -> tuple[np.ndarray, np.ndarray]:
        """Where stuck efforts are not unique the best split decides: margins, first to leave."""
        from .nonsmooth import MarginProblem

        d = self.delassus(problem, t)
        effort = self.efforts_of(problem.u)
        m = MarginProblem(d, now.low, now.high, np.flatnonzero(stuck))
        found = m.margin(now.rate + d @ effort, effort)
        out = np.full(self.size, np.inf)
        first = np.zeros(self.size, dtype=bool)
        for part, value, leading in zip(m.parts, found.value, found.first, strict=True):
            out[part] = 1.0 - value
            first[leading] = True
        return out, first

    # -- decisions -----------------------------------------------------------------------
    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event.

        Parameters
        ----------
        touched : elements whose margin has just become negative
        """
        before = self.modes.copy()
        crossed = np.zeros(self.size, dtype=bool)
        crossed[touched] = True
        struck = self._impacts(problem, t, crossed & self.contact & (before != 0))
        now = self.look(problem, t)
        size = max(float(np.abs(now.flow).max(initial=0.0)), 1e-9)
        leaving = crossed & (before == 0)
        if leaving.any() and self._is_singular(problem, t, before == 0):
            leaving &= self._joint_margins(problem, t, before == 0, now)[1]
        still = np.where(self.contact, (before == 0) | struck, before == 0)
        still |= ~self.contact & (crossed | (np.abs(now.flow) <= 1e-12 * size))
        if struck.any():  # velocities have jumped: what was at rest may slide now
            jumped = np.abs(now.flow) > 1e-9 * size
            self.modes = np.where(jumped & ~self.contact, np.sign(now.flow).astype(int), self.modes)
            still &= ~jumped
            leaving &= still
            self.modes[self.contact & jumped] = -1
        self.modes[still] = 0
        self._stop(problem, t, still & (before != 0))
        self._choose(problem, t, still, leaving)
        self._look_ahead(problem, t, still, leaving | (self.modes != 0))
        self.apply(problem, t)
        changed = np.flatnonzero((self.modes != before) | struck)
        return [Change(int(i), int(before[i]), int(self.modes[i]), bool(struck[i]))
                for i in changed]

    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from flows, gaps and loads."""
        now = self.look(problem, t)
        closed = now.gap <= 1e-12 * max(1.0, float(np.abs(problem.x).max(initial=0.0)))
        self.modes = np.where(self.contact, np.where(closed, 0, -1), np.sign(now.flow)).astype(int)
        self._impacts(problem, t, self.contact & closed & (now.flow > 0))
        now = self.look(problem, t)
        still = np.where(self.contact, closed & (now.flow == 0), now.flow == 0)
        self.modes[self.contact & ~still] = -1
        self.modes[still] = 0
        self._choose(problem, t, still, np.zeros(self.size, dtype=bool))
        self._look_ahead(problem, t, still, self.modes != 0)
        self.apply(problem, t)

    def _impacts(self, problem: Problem, t: float, closing: np.ndarray) -> np.ndarray:
        """Newton impacts of contacts that close, through the network; who took part."""
        struck = np.zeros(self.size, dtype=bool)
        if not closing.any():
            return struck
        from .nonsmooth import sequential_impact

        now = self.look(problem, t)
        near = 1e-9 * max(1e-9, float(np.abs(problem.x).max(initial=0.0)))
        group = self.contact & (closing | (self.modes == 0) | (now.gap <= near))
        index = np.flatnonzero(group)
        e = self._restitution(*problem._arguments(t))
        d = self.delassus(problem, t)
        d = d.toarray() if issparse(d) else d
        impact = sequential_impact(d[np.ix_(index, index)], now.flow[index], e[index])
        push = self._slope_u.sparse(*problem._arguments(t)).toarray()
        push = push[:, self.column[index]] * self.sign[index]
        slow = RESTS * np.maximum(np.abs(now.flow[index]).max(), self._fastest(problem))
        problem.x += push @ impact.impulse
        after = self.look(problem, t).flow
        rest = np.zeros(self.size, dtype=bool)
        rest[index] = np.abs(after[index]) <= slow
        self._stop(problem, t, rest)
        struck[index[impact.impulse > 0]] = True
        return struck

    def _fastest(self, problem: Problem) -> float:
        """The largest speed an element has had: what is a 1e-9 of it has come to rest."""
        now = float(np.abs(self.look(problem, 0.0).flow).max(initial=0.0))
        self._speed = max(getattr(self, "_speed", 0.0), now)
        return self._speed

    def _stop(self, problem: Problem, t: float, stopping: np.ndarray) -> None:
        """Bring the flows of elements that come to rest to zero exactly."""
        if not stopping.any():
            return
        args = problem._arguments(t)
        rows = self._flow_x.sparse(*args)[stopping]
        flow = self.look(problem, t).flow[stopping]
        push = self._slope_u.sparse(*args).toarray()[:, self.column[stopping]] * self.sign[stopping]
        d = -(rows @ push)
        step = push @ (np.linalg.pinv(d) @ flow) if d.any() else np.zeros(self.system.nx)
        problem.x += step
        plain = rows.tocsr()
        for i in range(plain.shape[0]):  # a velocity against ground: exactly zero
            row = plain[i]
            if row.nnz == 1 and abs(problem.x[row.indices[0]]) <= 1e-9 * max(1e-300, abs(flow).max()):
                problem.x[row.indices[0]] = 0.0
        if problem.algebraic:
            problem.solve_algebraic(t)

    def _choose(self, problem: Problem, t: float, still: np.ndarray, leaving: np.ndarray) -> None:
        """Solve the box problem at rest; elements that start to move slide with kinetic effort."""
        from .nonsmooth import solve_box

        if leaving.any():
            solution = self._box(problem, t, still, solve_box)
            now = self.look(problem, t)
            middle = (np.clip(now.low, -1e300, 1e300) + np.clip(now.high, -1e300, 1e300)) / 2
            up = np.where(np.isinf(now.high), False, np.isinf(now.low) | (solution.effort > middle))
            self.modes[leaving] = np.where(up, 1, -1)[leaving]
        for _ in range(self.size + 2):
            solution = self._box(problem, t, still, solve_box)
            problem.u[self.column] = solution.effort * self.sign
            if problem.algebraic:
                problem.solve_algebraic(t)
            resting = still & (self.modes == 0)
            moving = resting & (solution.state != 0) & ~solution.grazing
            if not moving.any():
                return
            self.modes[moving] = solution.state[moving]

    def _box(self, problem: Problem, t: float, still: np.ndarray, solve_box: Any) -> Any:
        now = self.look(problem, t)
        d = self.delassus(problem, t)
        b = now.rate + d @ self.efforts_of(problem.u)
        fixed = now.sliding(self.modes)
        resting = still & (self.modes == 0)
        return solve_box(d, b, np.where(resting, now.low, fixed), np.where(resting, now.high, fixed))

    def _look_ahead(self, problem: Problem, t: float, still: np.ndarray, decided: np.ndarray) -> None:
        """Loads exactly at the bound: does the next instant break them loose?"""
        now = self.look(problem, t)
        effort = self.efforts_of(problem.u)
        width = np.where(np.isfinite(now.high - now.low), now.high - now.low, np.abs(effort))
        room = np.minimum(now.high - effort, effort - now.low)
        at_bound = still & ~decided & (self.modes == 0) & (width > 0) & (room <= 1e-9 * width)
        if not at_bound.any():
            return
        x, u, z = problem.x.copy(), problem.u.copy(), problem.z.copy()
        slope = self.system.slope(*problem._arguments(t))
        scale = np.abs(slope).max(initial=0.0)
        h = LOOKS_AHEAD * (np.abs(x).max(initial=0.0) / scale if scale > 0 else 1.0)
        h = min(max(h, 1e-12), 1e-6)
        problem.x += h * slope
        self.apply(problem, t + h)
        ahead = self.efforts_of(problem.u)
        later = self.look(problem, t + h)
        problem.x[:], problem.u[:], problem.z[:] = x, u, z
        up = at_bound & (now.high - effort <= effort - now.low) & (
            ahead - later.high > effort - now.high)
        down = at_bound & ~up & (later.low - ahead > now.low - effort)
        self.modes[up] = 1
        self.modes[down] = -1

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        """(d slope / d effort) (d effort / d x) at the present modes."""
        args = problem._arguments(t)
        slope_u = self._slope_u.sparse(*args).toarray()[:, self.column] * self.sign
        by_x = np.zeros((self.size, self.system.nx))
        forward, backward = self.modes > 0, self.modes < 0
        by_x[forward] = self._forward.sparse(*args).toarray()[forward]
        by_x[backward] = self._backward.sparse(*args).toarray()[backward]
        stuck = self.modes == 0
        if stuck.any():
            d = self.delassus(problem, t)
            d = d.toarray() if issparse(d) else d
            rate = self._rate_x.sparse(*args).toarray()[stuck]
            rate = rate - d[np.ix_(stuck, ~stuck)] @ by_x[~stuck]
            by_x[stuck] = np.linalg.lstsq(d[np.ix_(stuck, stuck)], rate, rcond=1e-12)[0]
        return csc_matrix(slope_u @ by_x)


def _solver(d: Any) -> Any:
    """Efforts that cancel given rates; least norm where they are not determined."""
    if issparse(d):
        diagonal = d.diagonal()
        off = d.copy()
        off.setdiag(0.0)
        off.eliminate_zeros()
        if off.nnz == 0:
            inverse = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
            return lambda r: inverse * r
        if not _sparse_singular(d):
            from scipy.sparse.linalg import splu

            return splu(d).solve
        d = d.toarray()
    matrix = np.linalg.pinv(d, rcond=1e-11) if np.linalg.matrix_rank(d, tol=1e-11 * max(
        1e-300, np.abs(d).max())) < len(d) else np.linalg.inv(d)
    return lambda r: matrix @ r


def _sparse_singular(d: csc_matrix) -> bool:
    from scipy.sparse.linalg import splu

    try:
        u = np.abs(splu(d).U.diagonal())
    except RuntimeError:
        return True
    return bool(u.min() <= 1e-11 * u.max())


