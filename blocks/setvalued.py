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
from scipy.sparse import csc_matrix, csr_matrix, diags_array, issparse
from scipy.sparse.csgraph import connected_components

from .expression import TIME
from .loaddependent import LoadDependence
from .system import Problem, System

__all__ = ["Change", "SetValuedLaws", "set_valued_laws"]

DENSE = 80
RESTS = 1e-9  # of the fastest impact: a slower rebound is none
ROUNDS = 25  # for efforts that depend on each other nonlinearly
MANY = 40  # coupled elements up to which margins of undetermined efforts are prepared
CROWD = 256  # and up to which the split that is shown is of least norm, too
FRUITLESS = 20  # decisions without any change that are still no reason to worry
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

    @property
    def idle(self) -> np.ndarray:
        """Elements without a choice: the same effort at rest and in both directions."""
        return (self.low == self.high) & (self.back == self.forth)

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
            for effort, flow, *bounds, gap, restitution in family.kernel.set_valued:
                slots = flat.base[f][effort, 0] + np.arange(family.size)
                swapped = gives_flow[len(column) : len(column) + family.size]
                if swapped.any():
                    key = family.kernel.key_of(flow)
                    assert key is not None  # else the index reduction had not swapped it
                    other = flat.base[f][key] + np.arange(family.size)
                    slots = np.where(swapped, other, slots)
                column += [at[int(c)] for c in flat.class_of[slots]]
                sign += flat.sign_of[slots].tolist()
                own = family.kernel.symbols[effort, 0]
                self._effort_rows.append(tape.writer.kernel_row(f, own).T)
                self.owners += [(f, i) for i in range(family.size)]
                self.effort_names += [family.kernel.variables[effort].name] * family.size
                kind = [other[-2] is None for other in family.kernel.set_valued]
                self._twins += [kind.count(gap is None) > 1] * family.size
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
        self._fruitless = 0  # decisions in a row that changed nothing
        self._speed = 0.0  # the largest flow so far
        if self.size:
            self._compile(*(ca.vertcat(*row) for row in rows))

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
        self._slope_u = system.jacobian(tape.slope, tape.u)
        self._flow_x = system.jacobian(flow, tape.x)
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
        moving = {s.__hash__() for s in ca.symvar(by_u)} - {s.__hash__() for s in ca.symvar(tape.p)}
        self.constant = not moving and not system.nz and (self.load is None or self.load.constant)
        self._cache: dict[Any, Any] = {}
        self._seen: Any = None

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
        return Look(*self._laws(*problem._arguments(t)).reshape(7, self.size))

    def efforts_of(self, u: np.ndarray) -> np.ndarray:
        """Element efforts from inputs."""
        return u[self.column] * self.sign

    def delassus(self, problem: Problem, t: float) -> Any:
        """D = -d rate / d effort: dense for few elements, sparse for many."""
        if self.constant:
            if self._cache.get("p") is not problem.p:
                self._cache = {"p": problem.p}
            elif "D" in self._cache:
                return self._cache["D"]
        args = problem._arguments(t)
        if self.size <= DENSE and not problem.system.nz:
            d = self._dense(*args).reshape(self.size, self.size)
            if self.constant:
                self._cache["D"] = d
            return d
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

    def _algebraic_by_u(self, problem: Problem, t: float) -> csc_matrix:
        """How the torn unknowns follow the inputs."""
        from scipy.sparse.linalg import splu

        args, n = problem._arguments(t), problem.system.nz
        by_u = self._residual_u.sparse(*args)[:n].toarray()
        return csc_matrix(-splu(problem.system.residual_z.sparse(*args)[:n].tocsc()).solve(by_u))

    def _push(self, problem: Problem, t: float, elements: np.ndarray) -> csc_matrix:
        """Change of the states' slopes per effort of some elements."""
        args = problem._arguments(t)
        by_u = self._slope_u.sparse(*args)
        if problem.system.nz:
            by_u = csc_matrix(
                by_u + problem.system.slope_z.sparse(*args) @ self._algebraic_by_u(problem, t))
        return by_u[:, self.column[elements]].multiply(self.sign[elements][None, :]).tocsc()

    def _parts(self, problem: Problem, t: float) -> np.ndarray:
        """Number of the connected part of every element: efforts act within a part only."""
        if self.load is not None:
            return self.load.linked(problem, t)
        d = self.delassus(problem, t)
        if self.constant and "parts" in self._cache:
            return self._cache["parts"]
        parts = connected_components(csc_matrix(d), directed=False)[1]
        if self.constant:
            self._cache["parts"] = parts
        return parts

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's efforts to those of the present modes."""
        if not self.size:
            return
        stuck = self.modes == 0
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
        if not self.coupled and not problem.algebraic:
            self._seen = (now, t, problem.p, problem.x.copy(), problem.m.copy(), problem.d.copy())

    def along(self, problem: Problem, t: np.ndarray, x: np.ndarray, share: bool
              ) -> np.ndarray | None:
        """Inputs at many times of one episode at once, or None where that is not possible."""
        if self.nonlinear or not self.constant or problem.algebraic:
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
        key = ("pins", self.modes.tobytes())
        if key not in self._cache:
            if not hasattr(self, "_rows"):
                self._rows = self._flow_x.sparse(*problem._arguments(t)).tocsr()
            dead = self._dead(self.delassus(problem, t))
            rows = self._rows[np.flatnonzero((self.modes == 0) & ~self._varies & ~dead)]
            element = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
            free, pins = np.ones(self.system.nx, dtype=bool), 0
            while True:
                open_ = np.bincount(element[free[rows.indices]], minlength=rows.shape[0]) == 1
                free[rows.indices[open_[element]]] = False
                if np.count_nonzero(~free) == pins:
                    break
                pins = int(np.count_nonzero(~free))
            self._cache[key] = np.flatnonzero(~free)
        return self._cache[key]

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds: sliding backwards, over a bound, gap closed."""
        now = self._present(problem, t)
        self._speed = max(self._speed, float(np.abs(now.flow).max(initial=0.0)))
        effort = self.efforts_of(problem.u)
        stuck = self.modes == 0
        room = np.minimum(now.high - effort, effort - now.low)
        parting = (now.gap <= 0) & (now.flow <= 0)  # by rounding, just after a rebound
        open_gap = np.where(parting, np.maximum(-now.gap, np.finfo(float).tiny), now.gap)
        moving = np.where(self.contact, open_gap, self.modes * now.flow)
        margin = np.where(stuck, room, moving)
        margin[now.idle & ~self.contact & ~stuck] = np.inf  # stuck with no effort lets go
        if stuck.any():
            dead, open_ = self._undetermined(problem, t, stuck)
            if len(dead):
                noise = self._noise(problem, t)[dead]
                rate = self.look(problem, t).rate[dead]
                margin[dead] = np.where(np.abs(rate) <= noise, np.inf, -1.0)
            if len(open_):
                margin[open_] = self._joint_margins(problem, t, open_, now)[0][open_]
        if self.load is not None:
            margin = np.minimum(margin, self.load.hold(problem, t))
        return margin

    def _present(self, problem: Problem, t: float) -> Look:
        """Flows, bounds and gaps at the present point, of the last look where it was there."""
        if self._seen is not None:
            now, at, p, x, m, d = self._seen
            if at == t and p is problem.p and np.array_equal(x, problem.x) \
                    and np.array_equal(m, problem.m) and np.array_equal(d, problem.d):
                return now
        return self.look(problem, t)

    # -- degenerate networks -------------------------------------------------------------
    def _undetermined(self, problem: Problem, t: float, stuck: np.ndarray
                      ) -> tuple[np.ndarray, np.ndarray]:
        """Elements without influence on their own flow, and those that share internal stress."""
        d = self.delassus(problem, t)
        key = ("undetermined", stuck.tobytes())
        if self.constant and key in self._cache:
            return self._cache[key]
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
            return _sparse_singular(d[index][:, index].tocsc())
        block = d[index][:, index]
        block = block.toarray() if issparse(block) else block
        scale = np.sqrt(np.diag(block))
        return bool(np.linalg.matrix_rank(block / np.outer(scale, scale), tol=1e-10) < len(block))

    def _noise(self, problem: Problem, t: float) -> np.ndarray:
        """Rates that are rounding only."""
        args = problem._arguments(t)
        slope = np.abs(self.system.slope(*args))
        return 1e-12 * (abs(self._flow_x.sparse(*args)) @ slope)

    def _joint_margins(self, problem: Problem, t: float, index: np.ndarray, now: Look
                       ) -> tuple[np.ndarray, np.ndarray]:
        """Where stuck efforts are not unique the best split decides: margins, first to leave."""
        from .nonsmooth import MarginProblem

        if self.load is not None:
            return self._loaded_margins(problem, t, index)
        d = self.delassus(problem, t)
        large = self._large(problem, t, index, MANY)
        if large:
            return self._crowd_margins(problem, t, index, large, now)
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
        effort = self.efforts_of(problem.u)
        # What they carry, without the internal stress and its rounding; a rate that is
        # left is one that no effort holds.
        load, rate = np.zeros(self.size), self.look(problem, t).rate
        width = np.where(np.isfinite(now.high - now.low), now.high - now.low, np.abs(effort))
        real = np.abs(rate) > 1e-11 * np.asarray(d.diagonal()) * width
        for part, (block, solve) in zip(m.parts, solvers, strict=True):
            load[part] = block @ solve(block @ effort[part]) + np.where(real, rate, 0.0)[part]
        found = m.margin(load, np.zeros(self.size))
        out = np.full(self.size, np.inf)
        first = np.zeros(self.size, dtype=bool)
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
        from .nonsmooth import minimal_split

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
            from .nonsmooth import undetermined_groups

            now = self._present(problem, t)
            d = self.delassus(problem, t)
            groups = undetermined_groups(d[open_][:, open_], now.low[open_], now.high[open_],
                                         effort[open_], np.arange(len(open_)))
            crowds = [p for p in self._large(problem, t, open_, CROWD) if len(p) > CROWD]
            for members in [*(open_[g.members] for g in groups), *crowds]:
                out.append(([self.label(int(i)) for i in members], effort[members]))
        return out

    # -- decisions -----------------------------------------------------------------------
    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event.

        Parameters
        ----------
        touched : elements whose margin has just become negative
        """
        before = self.modes.copy()
        margin = self.margins(problem, t)
        crossed = self._crossed(problem, t, touched, margin)
        if self.load is not None:
            self.load.refuse_jam(problem, t, crossed)
        struck = self._impacts(problem, t, crossed & self.contact & (before != 0))
        now = self.look(problem, t)
        pace = max(self._speed, float(np.abs(now.flow).max(initial=0.0)))
        leaving = crossed & (before == 0)
        if leaving.any():
            open_ = self._undetermined(problem, t, before == 0)[1]
            if len(open_) and leaving[open_].any():
                leaving[open_] &= self._joint_margins(problem, t, open_, now)[1][open_]
        free = ~self.contact
        turned = free & (before * now.flow < -1e-6 * pace)  # has changed sign while idle
        arrived = free & (before != 0) & ~turned & (crossed | (
            (np.abs(now.flow) <= 1e-12 * pace) & (struck.any() | (before * now.rate <= 0))))
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        touching = self.contact & (np.abs(now.flow) <= RESTS * pace) & (now.gap <= 1e-12 * far)
        still = (before == 0) | arrived | (struck & self.contact) | touching
        self.modes[turned] = np.sign(now.flow[turned]).astype(int)
        if struck.any():  # velocities have jumped: what was at rest may slide now
            jumped = np.abs(now.flow) > RESTS * pace
            slides = jumped & free
            self.modes[slides] = np.sign(now.flow[slides]).astype(int)
            self.modes[self.contact & jumped] = -1
            still &= ~jumped
            leaving &= still
        self.modes[still] = 0
        if struck.any():
            active = np.ones(self.size, dtype=bool)
        else:
            parts = self._parts(problem, t)
            doubt = crossed | arrived | turned | ((before == 0) & (margin < 0))
            active = np.isin(parts, parts[doubt])
        self._stop(problem, t, active & still, still & (before != 0))
        self._choose(problem, t, active & still, leaving)
        self._look_ahead(problem, t, active & still & ~leaving)
        powerless = crossed & free & (self.modes == 0) & self._present(problem, t).idle
        self.modes[powerless] = 1  # friction without strength holds nothing, not even by rounding
        pins = self._pins(problem, t)
        problem.x[pins[np.abs(problem.x[pins]) <= 1e-12 * self._speed]] = 0.0
        self.apply(problem, t)
        if self.load is not None:
            self.load.refuse_several(problem, t)
        changed = np.flatnonzero((self.modes != before) | struck)
        self._fruitless = 0 if len(changed) or not len(touched) else self._fruitless + 1
        if self._fruitless > FRUITLESS:  # so that whoever counts events can see it
            changed = touched
        return [Change(int(i), int(before[i]), int(self.modes[i]), bool(struck[i]))
                for i in changed]

    def _crossed(self, problem: Problem, t: float, touched: np.ndarray, margin: np.ndarray
                 ) -> np.ndarray:
        """Of the elements announced, those that are at the end of their mode at this instant."""
        crossed = np.zeros(self.size, dtype=bool)
        if not len(touched):
            return crossed
        now = self._present(problem, t)
        width = now.high - now.low
        width = np.where(np.isfinite(width), width, np.abs(self.efforts_of(problem.u)))
        pace = self._speed
        far = max(float(np.abs(problem.x).max(initial=0.0)), 1e-9)
        size = np.where(self.modes == 0, width, np.where(self.contact, far, pace))
        crossed[touched] = margin[touched] <= 1e-11 * size[touched]
        if not crossed.any():
            crossed[touched[np.argmin(margin[touched] / np.maximum(size[touched], 1e-300))]] = True
        return crossed

    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from flows, gaps and loads."""
        now = self.look(problem, t)
        self._speed = float(np.abs(now.flow).max())
        noise = 1e-13 * (abs(self._flow_x.sparse(*problem._arguments(t))) @ np.abs(problem.x))
        rest = np.abs(now.flow) <= noise
        closed = now.gap <= 1e-12 * max(1.0, float(np.abs(problem.x).max(initial=0.0)))
        self.modes = np.where(self.contact, np.where(closed, 0, -1),
                              np.where(rest, 0, np.sign(now.flow))).astype(int)
        self._impacts(problem, t, self.contact & closed & (now.flow > 0))
        now = self.look(problem, t)
        rest = np.abs(now.flow) <= noise
        still = np.where(self.contact, closed & rest, rest)
        self.modes = np.where(still, 0, np.where(self.contact, -1, np.sign(now.flow))).astype(int)
        self._choose(problem, t, still, np.zeros(self.size, dtype=bool))
        self._look_ahead(problem, t, still)
        self.apply(problem, t)
        if self.load is not None:
            self.load.refuse_jam(problem, t, np.ones(self.size, dtype=bool))
            self.load.refuse_several(problem, t)

    def _impacts(self, problem: Problem, t: float, closing: np.ndarray) -> np.ndarray:
        """Newton impacts of contacts that close, through the network; who took part."""
        struck = np.zeros(self.size, dtype=bool)
        if not closing.any():
            return struck
        from .nonsmooth import sequential_impact

        now = self.look(problem, t)
        near = 1e-9 * max(1e-9, float(np.abs(problem.x).max(initial=0.0)))
        group = self.contact & (closing | (self.modes == 0) | (now.gap <= near))
        e = self._restitution(*problem._arguments(t))
        if self.load is not None:
            index, impact = self.load.strike(problem, t, group, now, e)
        else:
            index = np.flatnonzero(group)
            d = self.delassus(problem, t)[index][:, index]
            d = d.toarray() if issparse(d) else d
            impact = sequential_impact(d, now.flow[index], e[index])
        self._speed = max(self._speed, float(np.abs(now.flow).max()))
        slow = RESTS * self._speed
        problem.x += self._push(problem, t, index) @ impact.impulse
        if problem.algebraic:
            problem.solve_algebraic(t)
        after = self.look(problem, t).flow
        rest = np.zeros(self.size, dtype=bool)
        rest[index] = np.abs(after[index]) <= slow
        self._stop(problem, t, rest, rest)
        struck[index[(impact.impulse > 0) & self.contact[index]]] = True
        return struck

    def _stop(self, problem: Problem, t: float, resting: np.ndarray, stopping: np.ndarray) -> None:
        """Bring the flows of elements at rest to zero exactly, if any come to rest."""
        if not stopping.any():
            return
        index = np.flatnonzero(resting)
        flow = self.look(problem, t).flow[index]
        d = self.delassus(problem, t)[index][:, index]
        problem.x += self._push(problem, t, index) @ _solver(
            csc_matrix(d) if issparse(d) else d)(flow)
        if problem.algebraic:
            problem.solve_algebraic(t)

    def _choose(self, problem: Problem, t: float, still: np.ndarray, leaving: np.ndarray) -> None:
        """Solve the box problem at rest; elements that start to move do so with kinetic bounds.

        Friction is larger at rest than in motion, so the search is repeated with the
        kinetic bounds of all that have moved, until no other one moves.
        """
        index = np.flatnonzero(still)
        if not len(index):
            return
        moved = leaving[index]
        for _ in range(len(index) + 1):
            solution, bounds = self._box(problem, t, index, moved)
            moving = (solution.state != 0) & ~solution.grazing
            if not np.any(moving & ~moved):
                break
            moved = moved | moving
        state = np.where(moving, solution.state, 0)
        # Friction that is no smaller in motion: it goes with the effort it has reached.
        (low, high), now = bounds, self._present(problem, t)
        loose = leaving[index] & ~moving
        slack = 1e-9 * np.where(np.isfinite(high - low), high - low, 0.0)
        up = loose & (solution.effort >= high - slack)
        down = loose & (solution.effort <= low + slack) & ~(up & (
            high - solution.effort <= solution.effort - low))
        largest = np.abs(solution.effort).max()
        unsaid = loose & (high - low <= 1e-7 * largest) & (now.forth >= now.back)[index]
        if unsaid.any():  # no width to tell the sense from: the next instant does
            self.modes[index] = state
            state[unsaid] = self._sense_ahead(problem, t, index, moved | loose)[unsaid]
            up, down = up & ~unsaid, down & ~unsaid
        no_less = 1 - 1e-9
        state[up & ~down & (now.forth >= now.high * no_less)[index]] = 1
        state[down & (now.back <= now.low * no_less)[index]] = -1
        self.modes[index] = state

    def _box(self, problem: Problem, t: float, index: np.ndarray, moved: np.ndarray
             ) -> tuple[Any, tuple[np.ndarray, np.ndarray]]:
        """Efforts of the elements at rest; those that moved have their kinetic bounds."""
        from .nonsmooth import solve_box

        if self.load is not None:
            return self.load.solve(problem, t, index, moved, self._noise(problem, t))
        d = self.delassus(problem, t)[index][:, index]
        noise = self._noise(problem, t)[index]
        previous = np.inf
        for _ in range(ROUNDS if self.nonlinear else 1):
            now = self.look(problem, t)
            effort = self.efforts_of(problem.u)
            others = self.modes != 0
            change = np.where(others, now.sliding(self.modes) - effort, 0.0)
            b = now.rate - self.delassus(problem, t) @ change if change.any() else now.rate
            b = b[index] + d @ effort[index]
            low, high = now.low[index], now.high[index]
            low = np.where(moved & np.isfinite(low), now.back[index], low)
            high = np.where(moved & np.isfinite(high), now.forth[index], high)
            low = np.minimum(low, high)
            solution = solve_box(d, b, low, high, rate_floor=noise)
            effort = effort + change
            effort[index] = solution.effort
            step = np.abs(effort - self.efforts_of(problem.u)).max()
            problem.u[self.column] = effort * self.sign
            if problem.algebraic:
                problem.solve_algebraic(t)
            if step <= 1e-12 * np.abs(effort).max() or step > 2 * previous:
                break
            previous = step
        return solution, (low, high)

    def _look_ahead(self, problem: Problem, t: float, still: np.ndarray) -> None:
        """Loads exactly at the bound: does the next instant break them loose?"""
        still = still & (self.modes == 0)
        if not still.any():
            return
        self.apply(problem, t)
        margin, sign = self._reserve(problem, t)
        at_bound = still & (margin <= 1e-9) & (sign != 0)
        if not at_bound.any():
            return
        x, u, z = problem.x.copy(), problem.u.copy(), problem.z.copy()
        h = self._step_ahead(problem, t)
        later, _ = self._reserve(problem, t + h)
        problem.x[:], problem.u[:], problem.z[:] = x, u, z
        leaves = at_bound & (later < margin)
        self.modes[leaves] = sign[leaves]

    def _step_ahead(self, problem: Problem, t: float) -> float:
        """Move on by an instant, with the present modes; returns how long it is."""
        slope = self.system.slope(*problem._arguments(t))
        scale = np.abs(slope).max(initial=0.0)
        far = np.abs(problem.x).max(initial=0.0)
        h = min(max(LOOKS_AHEAD * (far / scale if scale > 0 else 1.0), 1e-12), 1e-6)
        problem.x += h * slope
        problem.update(t + h)
        return h

    def _sense_ahead(self, problem: Problem, t: float, index: np.ndarray, moved: np.ndarray
                     ) -> np.ndarray:
        """Senses in which elements at rest would start to move an instant later."""
        kept = problem.x.copy(), problem.u.copy(), problem.z.copy()
        self.apply(problem, t)
        h = self._step_ahead(problem, t)
        state = self._box(problem, t + h, index, moved)[0].state
        problem.x[:], problem.u[:], problem.z[:] = kept
        return state

    def _reserve(self, problem: Problem, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Share of the bounds that stuck elements have left, and the direction they would go."""
        now = self.look(problem, t)
        effort = self.efforts_of(problem.u)
        width = now.high - now.low
        width = np.where(np.isfinite(width), width, np.maximum(np.abs(effort), 1e-300))
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = (now.high - effort) / width, (effort - now.low) / width
        margin, sign = np.minimum(up, down), np.where(up <= down, 1, -1)
        margin[now.idle] = np.inf
        stuck = self.modes == 0
        dead, open_ = self._undetermined(problem, t, stuck)
        margin[dead] = np.inf
        if len(open_):
            joint, first = self._joint_margins(problem, t, open_, now)
            margin[open_] = joint[open_]
            sign[open_[~first[open_]]] = 0
            if (margin[open_] <= 1e-9).any():
                self.share(problem, t)
                effort = self.efforts_of(problem.u)
                up = now.high - effort <= effort - now.low
                sign[open_] = np.where(sign == 0, 0, np.where(up, 1, -1))[open_]
        return margin, sign

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        """(d slope / d effort) (d effort / d x) at the present modes."""
        args = problem._arguments(t)
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
        return csc_matrix(self._push(problem, t, np.arange(n)) @ by_x)

    def _loaded_by_x(self, problem: Problem, t: float, kinetic: csr_matrix) -> csc_matrix:
        """The same where the efforts of sliding elements depend on others."""
        assert self.load is not None
        args = problem._arguments(t)
        rate = self._rate_x.sparse(*args)
        if problem.system.nz:
            z_by_x = self._algebraic_by_x(problem, t)
            rate = rate + self._rate_z.sparse(*args) @ z_by_x
            kinetic = csr_matrix(kinetic + self._kinetic_z.sparse(*args) @ z_by_x)
        ahead, back = (diags_array((self.modes == m).astype(float)) for m in (1, -1))
        sliding = (ahead @ kinetic[self.size:] + back @ kinetic[: self.size]).toarray()
        right = np.where((self.modes == 0)[:, None], rate.toarray(), sliding)
        by_x = self.load.newton(problem, t, right)
        return csc_matrix(self._push(problem, t, np.arange(self.size)) @ csr_matrix(by_x))

    def _algebraic_by_x(self, problem: Problem, t: float) -> csc_matrix:
        from scipy.sparse.linalg import splu

        args, n = problem._arguments(t), problem.system.nz
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


def _solver(d: Any) -> Any:
    """Efforts that cancel given rates; least norm where they are not determined."""
    if issparse(d):
        diagonal = d.diagonal()
        if d.count_nonzero() == np.count_nonzero(diagonal):
            inverse = np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0)
            return lambda r: (inverse * r.T).T
        from scipy.sparse.linalg import splu

        if not _sparse_singular(d):
            return splu(d).solve
        if len(diagonal) > CROWD:
            near = splu(csc_matrix(d + 1e-8 * diags_array(diagonal + (diagonal == 0))))

            def proximal(rate: np.ndarray) -> np.ndarray:
                x = near.solve(rate)
                for _ in range(3):
                    x += near.solve(rate - d @ x)
                return x

            return proximal
        d = d.toarray()
    size = np.sqrt(np.maximum(np.diag(d), 0.0))
    size = np.where(size > 1e-7 * size.max(initial=0.0), size, np.inf)
    scaled = d / np.outer(size, size)
    matrix = np.linalg.pinv(scaled, rcond=1e-11) if np.linalg.matrix_rank(scaled, tol=1e-11) < len(
        d) else np.linalg.inv(scaled)
    matrix = matrix / np.outer(size, size)
    return lambda r: matrix @ r


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


def _sparse_singular(d: csc_matrix) -> bool:
    from scipy.sparse.linalg import splu

    try:
        u = np.abs(splu(d).U.diagonal())
    except RuntimeError:
        return True
    return bool(u.min() <= 1e-11 * u.max())
