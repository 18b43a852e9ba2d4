"""Which set-valued elements stick or touch, and with what effort?

The reduced network has every set-valued effort lambda as an input and its flow
gamma as an output. Where the network has inertia, ``rate = d gamma/dt = b - D
lambda``; sticking efforts follow from ``rate == 0``, modes from one
box-constrained problem for the whole network (:mod:`blocks.nonsmooth.complementarity`).

Modes: 0 stuck (or closed), +1 sliding forward, -1 sliding backward (or open). Within an episode
they are held; sliding elements watch their flow, stuck ones their margin, open contacts their gap.
Every decision is taken on flows and efforts of the element's own convention. Decisions are taken
in :mod:`blocks.nonsmooth.modes.decisions`, the ends of modes are watched by
:mod:`blocks.nonsmooth.modes.margins`, efforts that the motion leaves open are the business of
:mod:`blocks.nonsmooth.modes.indeterminacy`, bounds that depend on other efforts that of
:mod:`blocks.nonsmooth.modes.load_dependence`.
"""

from __future__ import annotations

import copy
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags_array, issparse

from ...language.expression import TIME
from ...system.problem import Problem
from ...system.system import System
from ..unsettled import SETTLED
from .decisions import Change, Decisions
from .delassus import solver as _solver
from .held_modes import MOST, HeldModes
from .indeterminacy import OpenEfforts
from .load_dependence import LoadDependence
from .margins import Look, Margins
from .solved_modes import SolvedModes

__all__ = ["Change", "SetValuedLaws"]

DENSE = 80
ROUNDS = 25  # for efforts that depend on each other nonlinearly
KEPT = 200_000  # entries up to which constant matrices are kept
RECALLED = 1000  # combinations of modes up to which the next run takes over what is known


class SetValuedLaws(Decisions, Margins, OpenEfforts):
    """All set-valued elements of a system and their present modes.

    Parameters
    ----------
    system : System
        Its inputs ``u`` are the efforts' classes.
    """

    watched = True  # during a step, for the end of a mode
    recorded = False  # whether efforts are those of the run's steps
    restless = ""  # an element, where efforts that depend on each other did not settle

    def __init__(self, system: System) -> None:
        self.system = system
        tape, flat = system.tape, system.flat
        self.owners: list[tuple[int, int]] = []  # family, instance
        self.effort_names: list[str] = []
        self._twins: list[bool] = []  # whether its component has another law of the kind
        column: list[int] = []
        sign: list[float] = []
        rows: list[list[Any]] = [[] for _ in range(7)]
        contact: list[bool] = []
        gives_flow = tape.reduced.gives_flow
        self._effort_rows: list[Any] = []
        at = {int(c): k for k, c in enumerate(tape.writer.inputs)}
        for f, family in enumerate(flat.network.families):
            for law in family.kernel.set_valued:
                slots = flat.base[f][law.effort, 0] + np.arange(family.size)
                swapped = gives_flow[len(column) : len(column) + family.size]
                if swapped.any():
                    key = family.kernel.key_of(law.flow)
                    assert key is not None  # else the index reduction had not swapped it
                    other = flat.base[f][key] + np.arange(family.size)
                    slots = np.where(swapped, other, slots)
                column += [at[int(c)] for c in flat.class_of[slots]]
                sign += flat.sign_of[slots].tolist()
                own = family.kernel.symbols[law.effort, 0]
                self._effort_rows.append(tape.writer.kernel_row(f, own).T)
                self.owners += [(f, i) for i in range(family.size)]
                self.effort_names += [family.kernel.variables[law.effort].name] * family.size
                kind = [other.is_contact for other in family.kernel.set_valued]
                self._twins += [kind.count(law.is_contact) > 1] * family.size
                contact += [law.is_contact] * family.size
                for row, sx in zip(rows, law.expressions, strict=True):
                    row.append(tape.writer.kernel_row(f, ca.SX(0) if sx is None else sx).T)
        self.size = len(column)
        self.column, self.sign = np.array(column, dtype=int), np.array(sign)
        self.contact = np.array(contact, dtype=bool)
        self.gives_flow = gives_flow[: len(column)]  # those of the laws of the load come after
        self.modes = np.zeros(self.size, dtype=int)
        self._fruitless = 0  # decisions in a row that changed nothing
        self._speed = 0.0  # the largest flow so far
        if self.size:
            self._compile(*(ca.vertcat(*row) for row in rows))

    def fresh(self) -> SetValuedLaws:
        """The same laws at the start of another run."""
        new = copy.copy(self)
        new.modes = np.zeros(self.size, dtype=int)
        new._cache, new._home, new._p = {}, self, None
        if self.together is not None:
            new.together = self.together.fresh()
        if self.load is not None:
            new.load = self.load.fresh(new)
        return new

    def _compile(self, flow: Any, low: Any, high: Any, back: Any, forth: Any, gap: Any,
                 restitution: Any) -> None:
        system, tape = self.system, self.system.tape
        rate = ca.jtimes(flow, tape.x, tape.slope) + ca.jacobian(flow, TIME)
        bounds = ca.vertcat(low, high, back, forth)
        by_u = ca.jacobian(rate, tape.u)
        everything = ca.vertcat(flow, low, high, back, forth, rate, gap)
        self._laws = system.function("laws", ca.densify(everything))
        self._restitution = system.function("restitution", ca.densify(restitution))
        self._kinetic_x = system.jacobian(ca.vertcat(back, forth), tape.x)
        self._varies = np.array(ca.which_depends(flow, tape.x, 2, True), dtype=bool)
        for other in (TIME, ca.vertcat(tape.m, tape.d)):
            if other.numel():
                self._varies |= np.array(ca.which_depends(flow, other, 1, True), dtype=bool)
        if self.size <= DENSE:
            own = by_u[:, self.column.tolist()] * ca.repmat(ca.DM(self.sign).T, self.size, 1)
            self._dense = system.function("delassus", ca.densify(-own).T)  # row by row
        self._by_u = system.function("rate_u", by_u)
        slope_u, flow_x = ca.jacobian(tape.slope, tape.u), ca.jacobian(flow, tape.x)
        self._slope_u = system.function("jacobian", slope_u)
        self._flow_x = system.function("jacobian", flow_x)
        self._rate_x = system.jacobian(rate, tape.x)
        if system.nz:
            self._rate_z = system.jacobian(rate, tape.z)
            self._kinetic_z = system.jacobian(ca.vertcat(back, forth), tape.z)
            self._residual_u = system.jacobian(
                ca.vertcat(tape.residual, tape.constraints), tape.u)
        fast = ca.vertcat(tape.u, tape.z)
        self.coupled = any(ca.which_depends(bounds, fast, 1, True))  # normal forces
        self.load = LoadDependence(self, bounds) if self.coupled else None
        self.nonlinear = self.coupled or bool(system.nz and not system.linear) \
            or any(ca.which_depends(rate, fast, 2, True))
        known = {s.__hash__() for s in ca.symvar(tape.p)}

        def fixed(sx: Any) -> bool:
            return not system.nz and {s.__hash__() for s in ca.symvar(sx)} <= known

        self.constant = fixed(by_u) and (self.load is None or self.load.constant)
        self._few = not system.nz and self.size * system.nx <= KEPT
        # what efforts push, and flows follow, is kept
        self._is_simple = self._few and self.constant and fixed(slope_u) and fixed(flow_x)
        self._cache: dict[Any, Any] = {}
        self._home: SetValuedLaws = self  # whose knowledge the next run takes over
        self._p: Any = None  # the parameters it belongs to
        self._seen: Any = None
        if self.size <= MOST and not system.nz and self.size == system.nu and not any(
                ca.which_depends(tape.constraints, tape.u, 1, True)):
            looks = flow, low, high, back, forth, rate, gap
            if self.constant and not self.nonlinear and not system.clusters:
                self.together = HeldModes(system, self.column, self.sign, *looks)
            else:
                self.together = SolvedModes(system, self.column, self.sign, self.load, *looks)

    # -- names -------------------------------------------------------------------------
    def name(self, element: int) -> str:
        """Path of the component an element belongs to."""
        f, i = self.owners[element]
        return self.system.network.families[f].path(i)

    def label(self, element: int) -> str:
        """Path of an element: of its component, or of its effort where that has several."""
        f, _ = self.owners[element]
        several = len(self.system.network.families[f].kernel.set_valued) > 1
        return self.name(element) + f".{self.effort_names[element]}" * several

    def words(self, change: Change) -> str:
        """What a change is called."""
        if self.contact[change.element]:
            word = {0: "closes", -1: "rebounds" if change.impact else "opens"}[change.after]
        else:
            word = {0: "sticks", 1: "slides forward", -1: "slides backward"}[change.after]
        return f"{word} ({self.effort_names[change.element]})" if self._twins[change.element] \
            else word

    @property
    def plain(self) -> SetValuedLaws:
        """The laws without those of the load, which may be around them."""
        return self

    @property
    def open_contacts(self) -> np.ndarray:
        """Contacts whose gap is watched."""
        return np.flatnonzero(self.contact & (self.modes != 0))

    def changes(self, before: np.ndarray) -> list[Change]:
        """What has changed since the modes were ``before``."""
        changed = np.flatnonzero(self.modes != before)
        return [Change(int(i), int(before[i]), int(self.modes[i])) for i in changed]

    # -- evaluation --------------------------------------------------------------------
    def look(self, problem: Problem, t: float) -> Look:
        """Flows, bounds and rates at the problem's present efforts."""
        return Look(*self._laws(*problem.arguments(t)).reshape(7, self.size))

    def efforts_of(self, u: np.ndarray) -> np.ndarray:
        """Element efforts from inputs."""
        return u[self.column] * self.sign

    def delassus(self, problem: Problem, t: float) -> Any:
        """D = -d rate / d effort: dense for few elements, sparse for many."""
        if self.constant:
            self._recall(problem.p)
            if "D" in self._cache:
                return self._cache["D"]
        args = problem.arguments(t)
        if self.size <= DENSE and not problem.system.nz:
            d = self._dense(*args).reshape(self.size, self.size)
            if self.constant:
                self._cache["D"] = d
            return d
        if self.size <= DENSE and problem.system.nz <= DENSE:
            by_u = self._by_u.dense(*args) + (
                self._rate_z.dense(*args) @ self._algebraic_by_u(problem, t))
            return -by_u[:, self.column] * self.sign
        by_u = self._by_u.sparse(*args)
        if problem.system.nz:
            by_u = csc_matrix(by_u + self._rate_z.sparse(*args) @ self._algebraic_by_u(problem, t))
        d = -by_u[:, self.column].multiply(self.sign[None, :]).tocsc()
        d.eliminate_zeros()
        if self.size <= DENSE:
            d = d.toarray()
        if self.constant:
            self._cache["D"] = d
        return d

    def _recall(self, p: np.ndarray) -> None:
        """Take what is known for these parameters, where D is constant: also of the last run."""
        if self._p is p:
            return
        self._p, self._cache = p, self._home._cache
        known = self._cache.get("p")
        if len(self._cache) > RECALLED or known is None or not np.array_equal(known, p):
            self._cache = {"p": p.copy()}
            if self.size <= DENSE:
                self._home._cache = self._cache

    def _algebraic_by_u(self, problem: Problem, t: float) -> Any:
        """How the torn unknowns follow the inputs."""
        args, n = problem.arguments(t), problem.system.nz
        if n <= DENSE:
            return np.linalg.solve(problem.system.residual_z.dense(*args)[:n],
                                   -self._residual_u.dense(*args)[:n])
        from scipy.sparse.linalg import splu

        by_u = self._residual_u.sparse(*args)[:n].toarray()
        return csc_matrix(-splu(problem.system.residual_z.sparse(*args)[:n].tocsc()).solve(by_u))

    def _push(self, problem: Problem, t: float, elements: np.ndarray) -> Any:
        """Change of the states' slopes per effort of some elements."""
        if self._few:
            return self._steady(problem, "push", lambda: self._slope_u.dense(
                *problem.arguments(t))[:, self.column] * self.sign)[:, elements]
        args = problem.arguments(t)
        by_u = self._slope_u.sparse(*args)
        if problem.system.nz:
            by_u = csc_matrix(
                by_u + problem.system.slope_z.sparse(*args) @ self._algebraic_by_u(problem, t))
        return by_u[:, self.column[elements]].multiply(self.sign[elements][None, :]).tocsc()

    def _steady(self, problem: Problem, key: str, make: Any) -> np.ndarray:
        """A matrix that is made once where nothing in it moves."""
        if not self._is_simple:
            return make()
        self._recall(problem.p)
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def _reach(self, problem: Problem, t: float, size: np.ndarray) -> np.ndarray:
        """Flows of states of a size, each counted with its magnitude."""
        if self._few:
            return self._steady(problem, "reach", lambda: np.abs(
                self._flow_x.dense(*problem.arguments(t)))) @ size
        return abs(self._flow_x.sparse(*problem.arguments(t))) @ size

    def grain(self, problem: Problem, t: float) -> np.ndarray:
        """Flows that rounding alone may give to elements, near the present point."""
        if not self.size:
            return np.zeros(0)
        return 4 * np.finfo(float).eps * self._reach(problem, t, problem.scale_x)

    def _parts(self, problem: Problem, t: float) -> np.ndarray:
        """Number of the connected part of every element: efforts act within a part only."""
        if self.load is not None:
            return self.load.linked(problem, t)
        d = self.delassus(problem, t)
        if self.constant and "parts" in self._cache:
            return self._cache["parts"]
        from ..complementarity import components

        parts = components(d)[1]
        if self.constant:
            self._cache["parts"] = parts
        return parts

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's efforts to those of the present modes."""
        if not self.size:
            return
        if isinstance(self.together, HeldModes):
            self.together(problem, t, self.modes, _solver, self.delassus(problem, t))
            return
        if self.together is not None and self.together(problem, t, self.modes):
            self.restless = ""
            return
        stuck, self.restless = self.modes == 0, ""
        last = np.inf
        for _ in range(ROUNDS if self.nonlinear else 1):
            now = self.look(problem, t)
            effort = self.efforts_of(problem.u)
            if self.coupled:
                step = self._newton(problem, t, now, effort, stuck)
            else:
                step = np.where(stuck, 0.0, now.sliding(self.modes) - effort)
                if stuck.any():
                    d = self.delassus(problem, t)
                    rate = now.rate - d @ step if step.any() else now.rate
                    step[stuck] = self._solve_stuck(d, stuck, rate[stuck])
            problem.u[self.column] = (effort + step) * self.sign
            if problem.algebraic:
                problem.solve_algebraic(t)
            size = np.abs(step).max()
            if size <= 1e-12 * np.abs(effort).max() or (size > 0.5 * last and size < 1e-9 * np.abs(
                    effort).max()):
                break
            last = size
        else:
            if self.nonlinear and size > SETTLED * np.abs(effort).max():
                self.restless = self.label(int(np.abs(step).argmax()))
        if self.together is not None:
            self.together.slope = self.system.slope(*problem.arguments(t))
        elif not self.coupled and not problem.algebraic:
            self._seen = (now, t, problem.p, problem.x.copy(), problem.m.copy(), problem.d.copy())

    def along(self, problem: Problem, t: np.ndarray, x: np.ndarray, share: bool
              ) -> np.ndarray | None:
        """Inputs at many times of one episode at once, or None where that is not possible."""
        if self.nonlinear or not self.constant or problem.algebraic or problem.delays:
            return None
        d, stuck = self.delassus(problem, t[0] if len(t) else 0.0), self.modes == 0
        nothing, held = np.zeros(self.system.nu), (problem.p, problem.m, problem.d)
        rates = np.zeros((self.size, len(t)))
        effort = np.zeros((self.size, len(t)))
        for k, at in enumerate(t):
            now = Look(*self._laws(at, x[:, k], problem.z, *held, nothing).reshape(7, self.size))
            rates[:, k], effort[:, k] = now.rate, now.sliding(self.modes)
        if stuck.any():
            effort[stuck] = self._solve_stuck(d, stuck, (rates - d @ effort)[stuck])
        u = np.zeros((self.system.nu, len(t)))
        u[self.column] = effort * self.sign[:, None]
        if share and any(len(i) for i in self._undetermined(problem, 0.0, stuck)):
            for k, at in enumerate(t):
                problem.x[:], problem.u[:] = x[:, k], u[:, k]
                self.share(problem, at)
                u[:, k] = problem.u
        return u

    def _newton(self, problem: Problem, t: float, now: Look, effort: np.ndarray,
                stuck: np.ndarray) -> np.ndarray:
        """Change of efforts where kinetic efforts depend on other efforts."""
        assert self.load is not None
        residual = np.where(stuck, now.rate, now.sliding(self.modes) - effort)
        step = self.load.newton(problem, t, residual)
        plain = ~stuck & ~self.load.dependent  # such as no effort of an open contact, exactly
        return np.where(plain, residual, step)

    def _solve_stuck(self, d: Any, stuck: np.ndarray, rate: np.ndarray) -> np.ndarray:
        if self.constant:
            own = self._alone_with(d)[stuck]
            if (own > 0).all():
                return (rate.T / own).T
        key = ("solve", stuck.tobytes())
        solve = self._cache.get(key) if self.constant else None
        if solve is None:
            solve = _solver(d[np.ix_(stuck, stuck)] if not issparse(d)
                            else d[stuck][:, stuck].tocsc())
            if self.constant:
                self._cache[key] = solve
        return solve(rate)

    def _solve_open(self, block: Any, index: np.ndarray, rate: np.ndarray) -> np.ndarray:
        key = ("open", index.tobytes())
        solve = self._cache.get(key) if self.constant else None
        if solve is None:
            solve = _solver(csc_matrix(block) if issparse(block) else block)
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
        """States that stuck elements hold at a constant value: alone, or from one to the next."""
        if self.constant:
            self._recall(problem.p)
        key = ("pins", self.modes.tobytes())
        if key not in self._cache:
            if not hasattr(self, "_entries"):
                rows = self._flow_x.sparse(*problem.arguments(t)).tocsr()
                self._entries = np.repeat(np.arange(self.size), np.diff(rows.indptr)), rows.indices
            dead = self._dead(self.delassus(problem, t))
            held = ((self.modes == 0) & ~self._varies & ~dead)[self._entries[0]]
            element, state = (entries[held] for entries in self._entries)
            free, pins = np.ones(self.system.nx, dtype=bool), 0
            while True:
                open_ = np.bincount(element[free[state]], minlength=self.size) == 1
                free[state[open_[element]]] = False
                if np.count_nonzero(~free) == pins:
                    break
                pins = int(np.count_nonzero(~free))
            self._cache[key] = np.flatnonzero(~free)
        return self._cache[key]

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        """(d slope / d effort) (d effort / d x) at the present modes."""
        by_x = self.efforts_by_x(problem, t)
        return csc_matrix(self._push(problem, t, np.arange(self.size)) @ by_x)

    def efforts_by_x(self, problem: Problem, t: float) -> csr_matrix:
        """d effort / d x at the present modes."""
        args = problem.arguments(t)
        n = self.size
        kinetic = self._kinetic_x.sparse(*args).tocsr()
        ahead, back = (diags_array((self.modes == m).astype(float)) for m in (1, -1))
        if self.load is not None:
            return self._loaded_by_x(problem, t, kinetic)
        by_x = csr_matrix(ahead @ kinetic[n:] + back @ kinetic[:n])
        if (self.modes == 0).any():
            d = self.delassus(problem, t)
            rate = self._rate_x.sparse(*args)
            if problem.system.nz:
                rate = rate + self._rate_z.sparse(*args) @ self._algebraic_by_x(problem, t)
            rate = csr_matrix(rate) - csr_matrix(d) @ by_x
            by_x = by_x + self._held_by_x(d, csr_matrix(rate))
        return csr_matrix(by_x)

    def _loaded_by_x(self, problem: Problem, t: float, kinetic: csr_matrix) -> csr_matrix:
        """The same where the efforts of sliding elements depend on others."""
        assert self.load is not None
        args = problem.arguments(t)
        rate = self._rate_x.sparse(*args)
        if problem.system.nz:
            z_by_x = self._algebraic_by_x(problem, t)
            rate = rate + self._rate_z.sparse(*args) @ z_by_x
            kinetic = csr_matrix(kinetic + self._kinetic_z.sparse(*args) @ z_by_x)
        ahead, back = (diags_array((self.modes == m).astype(float)) for m in (1, -1))
        sliding = (ahead @ kinetic[self.size:] + back @ kinetic[: self.size]).toarray()
        right = np.where((self.modes == 0)[:, None], rate.toarray(), sliding)
        by_x = self.load.newton(problem, t, right)
        return csr_matrix(by_x)

    def _algebraic_by_x(self, problem: Problem, t: float) -> csc_matrix:
        from scipy.sparse.linalg import splu

        args, n = problem.arguments(t), problem.system.nz
        by_x = problem.system.residual_x.sparse(*args)[:n].toarray()
        return csc_matrix(-splu(problem.system.residual_z.sparse(*args)[:n].tocsc()).solve(by_x))

    def _held_by_x(self, d: Any, rate: csr_matrix) -> csr_matrix:
        """d effort / d x of the stuck elements: what cancels their rates."""
        index = np.flatnonzero(self.modes == 0)
        block = d[index][:, index]
        diagonal = np.asarray(block.diagonal())
        if np.count_nonzero(block.data if issparse(block) else block) == np.count_nonzero(diagonal):
            inverse = np.divide(1.0, diagonal, out=np.zeros(len(index)), where=diagonal > 0)
            held = csr_matrix(diags_array(inverse) @ rate[index])
        else:
            solve = _solver(csc_matrix(block) if issparse(block) else block)
            held = csr_matrix(solve(rate[index].toarray()))
        lift = csr_matrix((np.ones(len(index)), (index, range(len(index)))),
                          shape=(self.size, len(index)))
        return csr_matrix(lift @ held)
