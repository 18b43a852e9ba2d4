"""Which dry-friction elements stick, and with what effort?

The reduced network has every set-valued effort lambda as an input and its flow
gamma as an output. Where the network has inertia, ``rate = d gamma/dt = b - D
lambda``; sticking efforts follow from ``rate == 0``, modes from one
box-constrained problem for the whole network (:mod:`blocks.nonsmooth`).

Modes: 0 stuck, +1 sliding forward, -1 sliding backward. Within an episode they
are held; sliding elements watch their flow, stuck ones their margin. Every
decision is taken on flows and efforts of the element's own convention.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, issparse

from .exceptions import StructureError
from .expression import TIME
from .system import Problem, System

__all__ = ["Change", "SetValuedLaws"]

DENSE = 80
LOOKS_AHEAD = 1e-7  # of the time scale of an element, for loads exactly at the bound


@dataclass(frozen=True)
class Change:
    """An element changed its mode."""

    element: int
    before: int
    after: int


class SetValuedLaws:
    """All dry-friction elements of a system and their present modes.

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
        flows, statics, kinetics = [], [], []
        at = {int(c): k for k, c in enumerate(tape.writer.inputs)}
        for f, family in enumerate(flat.network.families):
            for effort, flow, static, kinetic in family.kernel.frictions:
                slots = flat.base[f][effort, 0] + np.arange(family.size)
                column += [at[int(c)] for c in flat.class_of[slots]]
                sign += flat.sign_of[slots].tolist()
                self.owners += [(f, i) for i in range(family.size)]
                flows.append(tape.writer.kernel_row(f, flow).T)
                statics.append(tape.writer.kernel_row(f, static).T)
                kinetics.append(tape.writer.kernel_row(f, kinetic).T)
        self.size = len(column)
        self.column, self.sign = np.array(column, dtype=int), np.array(sign)
        self.modes = np.zeros(self.size, dtype=int)
        if not self.size:
            return
        self._compile(ca.vertcat(*flows), ca.vertcat(*statics), ca.vertcat(*kinetics))

    def _compile(self, flow: Any, static: Any, kinetic: Any) -> None:
        system, tape = self.system, self.system.tape
        if tape.u.numel() < self.size:
            self._refuse_shared()
        touched = ca.which_depends(flow, ca.vertcat(tape.u, tape.z), 1, True)
        if any(touched):
            k = next(i for i, t in enumerate(touched) if t)
            raise StructureError(
                self.name(k),
                "its flow is not determined by states: the node it acts on has no mass.",
                "Give that node a (small) mass, or a law that is not set-valued.",
                code="structure.massless",
            )
        rate = ca.jtimes(flow, tape.x, tape.slope) + ca.jacobian(flow, TIME)
        by_u = ca.jacobian(rate, tape.u)
        self._laws = system.function("laws", ca.vertcat(flow, static, kinetic, rate))
        self._by_u = system.function("rate_u", by_u)
        self._slope_u = system.jacobian(tape.slope, tape.u)
        self._flow_x = system.jacobian(flow, tape.x)
        self._rate_x = system.jacobian(rate, tape.x)
        self._kinetic_x = system.jacobian(kinetic, tape.x)
        if system.nz:
            self._rate_z = system.jacobian(rate, tape.z)
            self._residual_u = system.jacobian(
                ca.vertcat(tape.residual, tape.constraints), tape.u)
        moving = {s.__hash__() for s in ca.symvar(by_u)} - {s.__hash__() for s in ca.symvar(tape.p)}
        self.constant = not moving and not system.nz
        self._cache: dict[Any, Any] = {}

    def _refuse_shared(self) -> None:
        seen: dict[int, int] = {}
        for k, c in enumerate(self.column):
            if c in seen:
                a, b = self.name(seen[c]), self.name(k)
                raise StructureError(
                    f"{a} and {b}",
                    "these set-valued frictions carry the same force: the node between them has "
                    "no mass, so only the weaker one ever slides.",
                    "Give the node a mass, or keep the weaker friction only.",
                    code="structure.massless",
                )
            seen[int(c)] = k

    # -- names -------------------------------------------------------------------------
    def name(self, element: int) -> str:
        """Path of the component an element belongs to."""
        f, i = self.owners[element]
        return self.system.network.families[f].path(i)

    # -- evaluation --------------------------------------------------------------------
    def look(self, problem: Problem, t: float) -> tuple[np.ndarray, ...]:
        """Flow, static and kinetic bound, and rate at the problem's present efforts."""
        values = self._laws(*problem._arguments(t))
        return tuple(values.reshape(4, self.size))

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
        flow, static, kinetic, rate = self.look(problem, t)
        stuck = self.modes == 0
        effort = self.efforts_of(problem.u)
        new = np.where(stuck, effort, self.modes * kinetic)
        if stuck.any():
            d = self.delassus(problem, t)
            change = np.where(stuck, 0.0, new - effort)
            wanted = rate - d @ change if change.any() else rate
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
            pins = []
            if not hasattr(self, "_rows"):
                self._rows = self._flow_x.sparse(*problem._arguments(t)).tocsr()
                varying = ca.which_depends(self._flow_expression_time(), TIME, 1, True)
                self._drifts = np.array(varying, dtype=bool)
            for i in np.flatnonzero((self.modes == 0) & ~self._drifts):
                row = self._rows[i]
                if row.nnz == 1:
                    pins.append(int(row.indices[0]))
            self._cache[key] = np.array(sorted(set(pins)), dtype=int)
        return self._cache[key]

    def _flow_expression_time(self) -> Any:
        rows = []
        for f, family in enumerate(self.system.network.families):
            for _, flow, _, _ in family.kernel.frictions:
                rows.append(self.system.tape.writer.kernel_row(f, flow).T)
        return ca.vertcat(*rows)

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds: sliding backwards, or over the bound."""
        flow, static, _, _ = self.look(problem, t)
        effort = self.efforts_of(problem.u)
        margin = np.where(self.modes == 0, static - np.abs(effort), self.modes * flow)
        stuck = self.modes == 0
        if stuck.any() and self._is_singular(problem, t, stuck):
            margin[stuck] = self._joint_margins(problem, t, stuck, static)
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

    def _joint_margins(self, problem: Problem, t: float, stuck: np.ndarray, static: np.ndarray
                       ) -> np.ndarray:
        """Margins where stuck efforts are not unique: the best split decides, not any split."""
        from .nonsmooth import MarginProblem

        d = self.delassus(problem, t)
        effort = self.efforts_of(problem.u)
        _, _, _, rate = self.look(problem, t)
        b = rate + d @ effort
        full = effort.copy()
        m = MarginProblem(d, -static, static, np.flatnonzero(stuck))
        values = m.value(b, full)
        out = np.full(self.size, np.inf)
        for part, value in zip(m.parts, values, strict=True):
            out[part] = 1.0 - value
        return out[stuck]

    # -- decisions -----------------------------------------------------------------------
    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event (or the start).

        Parameters
        ----------
        touched : elements whose margin has just become negative
        """
        if not self.size:
            return []
        before = self.modes.copy()
        flow, static, kinetic, _ = self.look(problem, t)
        still = self.modes == 0
        crossed = np.zeros(self.size, dtype=bool)
        crossed[touched] = True
        arriving = crossed & ~still
        size = np.maximum(np.abs(flow).max(initial=0.0), 1e-6)
        still |= arriving | (np.abs(flow) <= 1e-12 * size)
        leaving = crossed & (before == 0)
        direction = np.sign(self.efforts_of(problem.u)).astype(int)
        self.modes[still] = 0
        self._stop(problem, t, still & (before != 0))
        self._choose(problem, t, still, leaving, direction)
        self._look_ahead(problem, t, still, leaving | (self.modes != 0))
        self.apply(problem, t)
        changed = np.flatnonzero(self.modes != before)
        return [Change(int(i), int(before[i]), int(self.modes[i])) for i in changed]

    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from flows and loads."""
        if not self.size:
            return
        flow, _, _, _ = self.look(problem, t)
        self.modes = np.sign(flow).astype(int)
        none = np.zeros(self.size, dtype=bool)
        still = flow == 0
        self.modes[still] = 0
        self._choose(problem, t, still, none, np.zeros(self.size, dtype=int))
        self._look_ahead(problem, t, still, self.modes != 0)
        self.apply(problem, t)

    def _stop(self, problem: Problem, t: float, stopping: np.ndarray) -> None:
        """Bring the flows of elements that come to rest to zero exactly."""
        if not stopping.any():
            return
        args = problem._arguments(t)
        rows = self._flow_x.sparse(*args)[stopping]
        flow = self.look(problem, t)[0][stopping]
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

    def _choose(self, problem: Problem, t: float, still: np.ndarray, leaving: np.ndarray,
                direction: np.ndarray) -> None:
        """Solve the box problem at rest; elements that start to move slide with kinetic effort."""
        from .nonsmooth import solve_box

        self.modes[leaving] = direction[leaving]
        for _ in range(self.size + 2):
            _, static, kinetic, rate = self.look(problem, t)
            d = self.delassus(problem, t)
            effort = self.efforts_of(problem.u)
            b = rate + d @ effort
            fixed = self.modes * kinetic
            resting = still & (self.modes == 0)
            lower = np.where(resting, -static, fixed)
            upper = np.where(resting, static, fixed)
            solution = solve_box(d, b, lower, upper)
            problem.u[self.column] = solution.effort * self.sign
            if problem.algebraic:
                problem.solve_algebraic(t)
            moving = resting & (solution.state != 0) & ~solution.grazing
            if not moving.any():
                return
            self.modes[moving] = solution.state[moving]
            if np.allclose(kinetic[moving], static[moving], rtol=1e-14, atol=0.0):
                return

    def _look_ahead(self, problem: Problem, t: float, still: np.ndarray, decided: np.ndarray) -> None:
        """Loads exactly at the bound: does the next instant break them loose?"""
        _, static, _, _ = self.look(problem, t)
        effort = self.efforts_of(problem.u)
        at_bound = still & ~decided & (self.modes == 0) & (static > 0)
        at_bound &= np.abs(effort) >= static * (1 - 1e-9)
        if not at_bound.any():
            return
        x, u = problem.x.copy(), problem.u.copy()
        slope = self.system.slope(*problem._arguments(t))
        scale = np.abs(slope).max(initial=0.0)
        h = LOOKS_AHEAD * (np.abs(x).max(initial=0.0) / scale if scale > 0 else 1.0)
        h = min(max(h, 1e-12), 1e-6)
        problem.x += h * slope
        self.apply(problem, t + h)
        ahead = np.abs(self.efforts_of(problem.u))
        _, later, _, _ = self.look(problem, t + h)
        problem.x[:], problem.u[:] = x, u
        loose = at_bound & (ahead - later > (np.abs(effort) - static))
        self.modes[loose] = np.sign(effort[loose]).astype(int)

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        """(d slope / d effort) (d effort / d x) at the present modes."""
        args = problem._arguments(t)
        slope_u = self._slope_u.sparse(*args).toarray()[:, self.column] * self.sign
        by_x = np.zeros((self.size, self.system.nx))
        sliding = self.modes != 0
        kinetic = self._kinetic_x.sparse(*args).toarray()
        by_x[sliding] = self.modes[sliding, None] * kinetic[sliding]
        stuck = ~sliding
        if stuck.any():
            d = self.delassus(problem, t)
            d = d.toarray() if issparse(d) else d
            rate = self._rate_x.sparse(*args).toarray()[stuck]
            rate = rate - d[np.ix_(stuck, sliding)] @ by_x[sliding]
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


