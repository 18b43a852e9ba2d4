"""What drives an element, and what effort does a law of that load give?

Some friction laws look at the load P, the effort with which everything else drives
the element. It is not a quantity of any one body. With efforts lambda as inputs and
flows gamma as outputs of the reduced network, d gamma/dt = b - D lambda, and

    P_i = lambda_i + (d gamma_i/dt) / D_ii,      lambda_i = L_i(P_i, gamma_i, ...)

Alone in its part of the network an element has P = b / D whatever its effort: the
law is explicit. Elements that feel each other are solved together by Newton's method,
and by relaxation where a kink stops that. Set-valued elements of the network follow
along: with S the change of their efforts per effort, D becomes D + D_s S.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from ...exceptions import StructureError
from ...language.expression import TIME
from ...system.failure import AlgebraicFailure
from ...system.problem import Problem
from ...system.system import System
from .laws import Change, SetValuedLaws
from .massless_nodes import without_mass

__all__ = ["Loads", "refuse_loads_without_mass", "with_loads"]

DEAD = 1e-14  # of the largest D_ii: an element that moves nothing
ENDLESS = 1e100  # the load on such an element
NEWTON, CUTS, SWEEPS = 60, 8, 200
EXACT = 1e-13  # of the largest effort


def refuse_loads_without_mass(system: System) -> None:
    """Stop where a law of the load, or exact friction beside one, acts on a node without mass.

    Raises
    ------
    StructureError
        Naming an element.
    """
    laws = [(f, family, law) for f, family in enumerate(system.network.families)
            for law in family.kernel.load_laws]  # fmt: skip
    if not laws:
        return
    light = without_mass(system)
    if light:
        raise StructureError(
            light[0], "exact friction acts on a node without mass, in one network with a law "
            "that looks at the load.", "Give that node a mass.", code="structure.massless",
        )  # fmt: skip
    fast = ca.vertcat(system.tape.u, system.tape.z)
    for f, family, (_, _, flow, *_) in laws:
        free = ca.which_depends(system.tape.writer.kernel_row(f, flow).T, fast, 1, True)
        for i in np.flatnonzero(free):
            raise StructureError(
                family.path(int(i)),
                "a friction law that looks at the load acts on a node without mass.",
                "Give both sides a mass, or take exact friction (law='coulomb').",
                code="structure.massless",
            )  # fmt: skip


def with_loads(system: System, laws: SetValuedLaws) -> Any:
    """The laws of a system: set-valued ones, and those of the load where there are any."""
    if not any(family.kernel.load_laws for family in system.network.families):
        return laws
    refuse_loads_without_mass(system)
    return Loads(system, laws)


class Loads:
    """Laws of the load, around the set-valued ones of the same network.

    To the outside one set of laws: modes of the set-valued elements come first, then
    those of elements that are held at rest by a band of velocity (0 held, else moving).
    """

    together = None  # loads are not known before the efforts are
    recorded = False

    def __init__(self, system: System, laws: SetValuedLaws) -> None:
        self.system, self.laws = system, laws
        self.plain = laws
        tape, flat = system.tape, system.flat
        at = {int(c): k for k, c in enumerate(tape.writer.inputs)}
        places: list[tuple[int, int]] = []
        columns: list[list[int]] = [[], []]
        signs: list[list[float]] = [[], []]
        rows: list[list[Any]] = [[] for _ in range(4)]
        held: list[bool] = []
        for f, family in enumerate(flat.network.families):
            for effort, load, flow, law, band, strength in family.kernel.load_laws:
                places += [(f, i) for i in range(family.size)]
                for k, i in enumerate((effort, load)):
                    slots = flat.base[f][i, 0] + np.arange(family.size)
                    columns[k] += [at[int(c)] for c in flat.class_of[slots]]
                    signs[k] += flat.sign_of[slots].tolist()
                held += [band is not None] * family.size
                for row, sx in zip(rows, (flow, law, band, strength), strict=True):
                    row.append(tape.writer.kernel_row(f, ca.SX(0) if sx is None else sx).T)
        self.places = places
        self.effort_at, self.load_at = (np.array(c, dtype=int) for c in columns)
        self.effort_sign, self.load_sign = (np.array(s) for s in signs)
        self.resting = np.flatnonzero(held)
        self.held = np.zeros(len(self.resting), dtype=bool)
        self._way = np.ones(len(self.resting), dtype=int)  # in which they moved off
        self.owners = [*laws.owners, *(places[i] for i in self.resting)]
        self.gives_flow = laws.gives_flow
        self._compile(*(ca.vertcat(*row) for row in rows))

    def _compile(self, flow: Any, law: Any, band: Any, strength: Any) -> None:
        system, tape = self.system, self.system.tape
        fast = ca.vertcat(tape.u, tape.z)
        rate = ca.jtimes(flow, tape.x, tape.slope) + ca.jacobian(flow, TIME)
        effort, load = tape.u[self.effort_at.tolist()], tape.u[self.load_at.tolist()]
        self._flow = system.function("flow", ca.densify(ca.vertcat(flow, band, strength)))
        self._flow_x = system.jacobian(flow, tape.x)
        self._slope_u = system.jacobian(tape.slope, tape.u)
        d = -ca.jacobian(rate, effort) @ ca.diag(ca.SX(self.effort_sign))
        rows, columns = d.sparsity().get_triplet()
        affine = not any(ca.which_depends(rate, fast, 2, True)) and not system.nz
        own = not any(ca.which_depends(law, effort, 1, True))
        self.alone = affine and own and not self.laws.size and all(
            r == c for r, c in zip(rows, columns, strict=True))
        if self.alone:
            self._compile_alone(rate, law, ca.diag(d), effort, load)
        else:
            self._compile_coupled(rate, law, load)

    def _compile_alone(self, rate: Any, law: Any, d: Any, effort: Any, load: Any) -> None:
        """Every effort as an expression of the states and the set-valued efforts."""
        system, tape = self.system, self.system.tape
        free = ca.substitute(rate, effort, ca.SX.zeros(len(self.places)))
        size = ca.mmax(ca.densify(d))
        driven = ca.densify(ca.if_else(d > DEAD * size, free / d, ca.sign(free) * ENDLESS))
        given = ca.substitute(law, load, driven * ca.SX(self.load_sign))
        inputs = ca.SX(tape.u)
        inputs[self.effort_at.tolist()] = given * ca.SX(self.effort_sign)
        inputs[self.load_at.tolist()] = driven * ca.SX(self.load_sign)
        self._inputs = system.function("inputs", ca.densify(inputs))
        self._inputs_x = system.jacobian(inputs, tape.x)

    def _compile_coupled(self, rate: Any, law: Any, load: Any) -> None:
        system, tape = self.system, self.system.tape
        self._rate = system.function("rate", ca.densify(rate))
        self._law = system.function("law", ca.densify(law))
        self._rate_u = system.jacobian(rate, tape.u)
        by_load = ca.diag(ca.jacobian(law, load))
        self._law_load = system.function("law_load", ca.densify(by_load))
        self._law_u = system.jacobian(law, tape.u)
        self._law_x = system.jacobian(law, tape.x)
        self._rate_x = system.jacobian(rate, tape.x)
        if system.nz:
            self._rate_z = system.jacobian(rate, tape.z)
            self._residual_u = system.jacobian(
                ca.vertcat(tape.residual, tape.constraints), tape.u)

    # -- what the outside sees -------------------------------------------------------------
    @property
    def size(self) -> int:
        return self.laws.size + len(self.resting)

    @property
    def watched(self) -> bool:
        """Whether there is anything to watch during a step."""
        return self.size > 0

    @property
    def modes(self) -> np.ndarray:
        return np.concatenate([self.laws.modes, np.where(self.held, 0, self._way)])

    @modes.setter
    def modes(self, value: np.ndarray) -> None:
        self.laws.modes = value[: self.laws.size]
        own = value[self.laws.size :]
        self.held, self._way = own == 0, np.where(own == 0, self._way, own)

    @property
    def nonlinear(self) -> bool:
        return True

    def _place(self, element: int) -> str:
        f, i = self.places[element]
        return self.system.network.families[f].path(i)

    def name(self, element: int) -> str:
        """Path of the component an element belongs to."""
        f, i = self.owners[element]
        return self.system.network.families[f].path(i)

    def words(self, change: Change) -> str:
        """What a change is called."""
        if change.element < self.laws.size:
            return self.laws.words(change)
        return {0: "sticks", 1: "slides forward", -1: "slides backward"}[change.after]

    def changes(self, before: np.ndarray) -> list[Change]:
        """What has changed since the modes were ``before``."""
        now = self.modes
        return [Change(int(i), int(before[i]), int(now[i])) for i in np.flatnonzero(now != before)]

    def share(self, problem: Problem, t: float) -> None:
        """Where the motion leaves set-valued efforts open, take the documented split."""
        if self.laws.size:
            self.laws.share(problem, t)

    def shared(self, problem: Problem, t: float) -> list[Any]:
        """Groups of stuck elements whose split the motion leaves open."""
        return self.laws.shared(problem, t) if self.laws.size else []

    # -- efforts ---------------------------------------------------------------------------
    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's efforts and loads to those of the present state."""
        if self.alone:
            problem.u[:] = self._inputs(*problem.arguments(t))
            return
        effort = problem.u[self.effort_at].copy()
        if self._newton(problem, t) or self._relax(problem, t):
            return
        for share in (0.0, 1.0, -1.0, 0.5, -0.5):  # more than one answer: where none is near
            problem.u[self.effort_at] = share * np.abs(effort)
            if self._newton(problem, t):
                return
        raise AlgebraicFailure(t, [f"{self._place(i)}" for i in range(min(3, len(self.places)))],
                               "no efforts agree with the laws of the load")

    def _look(self, problem: Problem, t: float
              ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rates, how they fall with the efforts, own D and which elements move nothing."""
        if problem.algebraic:
            problem.solve_algebraic(t)
        if self.laws.size:
            self.laws.apply(problem, t)
        args = problem.arguments(t)
        fall = self._fall(problem, t)
        d = fall[:, self.effort_at] * self.effort_sign
        own = np.diag(d).copy()
        if self.laws.size:
            d = d + self._by_others(fall) @ self._following(problem, t)
        return self._rate(*args), d, own, own <= DEAD * own.max(initial=0.0)

    def _fall(self, problem: Problem, t: float) -> np.ndarray:
        """How the rates fall with all inputs."""
        args = problem.arguments(t)
        fall = -self._rate_u.sparse(*args).toarray()
        if problem.system.nz:
            fall -= self._rate_z.sparse(*args) @ self._algebraic_by_u(problem, t)
        return fall

    def _by_others(self, by_u: np.ndarray) -> np.ndarray:
        """The columns of the set-valued efforts."""
        return by_u[:, self.laws.column] * self.laws.sign

    def _following(self, problem: Problem, t: float) -> np.ndarray:
        """S: the change of the set-valued efforts per effort; those that stick hold against it."""
        laws, args = self.laws, problem.arguments(t)
        out = np.zeros((laws.size, len(self.places)))
        stuck = np.flatnonzero(laws.modes == 0)
        if len(stuck):
            by_u = laws._by_u.sparse(*args).toarray()
            if problem.system.nz:
                by_u = by_u + laws._rate_z.sparse(*args) @ self._algebraic_by_u(problem, t)
            push = by_u[:, self.effort_at] * self.effort_sign
            d = -by_u[:, laws.column] * laws.sign
            out[stuck] = np.linalg.lstsq(d[np.ix_(stuck, stuck)], push[stuck], rcond=1e-12)[0]
        return out

    def _algebraic_by_u(self, problem: Problem, t: float) -> np.ndarray:
        from scipy.sparse.linalg import splu

        args, n = problem.arguments(t), problem.system.nz
        by_u = self._residual_u.sparse(*args)[:n].toarray()
        return -splu(problem.system.residual_z.sparse(*args)[:n].tocsc()).solve(by_u)

    def _put(self, problem: Problem, effort: np.ndarray, rate: np.ndarray, own: np.ndarray,
             dead: np.ndarray) -> None:
        """Efforts, and the loads that follow from the rates they leave."""
        load = np.where(dead, np.sign(rate) * ENDLESS, effort + rate / np.where(dead, 1.0, own))
        problem.u[self.effort_at] = effort * self.effort_sign
        problem.u[self.load_at] = load * self.load_sign

    def _newton(self, problem: Problem, t: float) -> bool:
        """From the present efforts, with steps cut until they bring an improvement."""
        before, step, cut = np.inf, np.zeros(len(self.places)), 0
        for _ in range(NEWTON):
            effort = problem.u[self.effort_at] * self.effort_sign
            rate, d, own, dead = self._look(problem, t)
            self._put(problem, effort, rate, own, dead)
            wrong = effort - self._law(*problem.arguments(t))
            size = float(np.abs(wrong).max())
            if size <= EXACT * max(np.abs(effort).max(), 1e-300):
                return True
            if size >= before and cut < CUTS:
                step, cut = step / 2, cut + 1
                self._put(problem, effort + step, rate - d @ step, own, dead)
                continue
            before, cut = size, 0
            step = np.linalg.lstsq(self._matrix(problem, t, d, own, dead), wrong, rcond=1e-13)[0]
            self._put(problem, effort - step, rate + d @ step, own, dead)
        return False

    def _matrix(self, problem: Problem, t: float, d: np.ndarray, own: np.ndarray,
                dead: np.ndarray) -> np.ndarray:
        """d (effort - law) / d effort."""
        args, n = problem.arguments(t), len(self.places)
        by_load = np.where(dead, 0.0, self._law_load(*args) * self.load_sign)
        others = np.eye(n) - d / np.where(dead, 1.0, own)[:, None]
        by_u = self._law_u.sparse(*args).toarray()
        direct = by_u[:, self.effort_at] * self.effort_sign
        if self.laws.size:  # a normal force, say
            direct = direct + self._by_others(by_u) @ self._following(problem, t)
        return np.eye(n) - by_load[:, None] * others - direct

    def _relax(self, problem: Problem, t: float) -> bool:
        """One element after the other, the loads following at once."""
        for _ in range(SWEEPS):
            effort = problem.u[self.effort_at] * self.effort_sign
            rate, d, own, dead = self._look(problem, t)
            start = effort.copy()
            for i in range(len(effort)):
                self._put(problem, effort, rate, own, dead)
                step = self._law(*problem.arguments(t))[i] - effort[i]
                effort[i] += step
                rate = rate - d[:, i] * step
            self._put(problem, effort, rate, own, dead)
            if np.abs(effort - start).max() <= EXACT * max(np.abs(effort).max(), 1e-300):
                return True
        return False

    def correct(self, slope: np.ndarray, problem: Problem, t: float) -> np.ndarray:
        """Slopes with the rounding of elements at rest removed."""
        if self.laws.size:
            slope = self.laws.correct(slope, problem, t)
        if self.held.any():
            slope[self._pins(problem, t)] = 0.0
        return slope

    def _pins(self, problem: Problem, t: float) -> np.ndarray:
        """States that are, alone, the flow of an element that is held."""
        rows = self._flow_x.sparse(*problem.arguments(t)).tocsr()[self.resting[self.held]]
        single = np.flatnonzero(np.diff(rows.indptr) == 1)
        return rows.indices[rows.indptr[single]]

    def along(self, problem: Problem, t: np.ndarray, x: np.ndarray, share: bool
              ) -> np.ndarray | None:
        """Inputs at many times of one episode at once, or None where that is not possible."""
        if not self.alone or self.laws.size:
            return None
        nothing = np.zeros((self.system.nz, len(t)))
        zero = np.zeros((self.system.nu, len(t)))
        out = self._inputs.function(t[None, :], x, nothing, problem.p, problem.m, problem.d, zero)
        return np.asarray(out).reshape(self.system.nu, len(t))

    # -- rest ------------------------------------------------------------------------------
    def _at_rest(self, problem: Problem, t: float) -> tuple[np.ndarray, ...]:
        """Flows, loads, bands and strengths of the elements with a band of rest."""
        flow, band, strength = self._flow(*problem.arguments(t)).reshape(3, -1)
        load = problem.u[self.load_at] * self.load_sign
        return tuple(v[self.resting] for v in (flow, load, band, strength))

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds."""
        inner = self.laws.margins(problem, t) if self.laws.size else np.zeros(0)
        if not len(self.resting):
            return inner
        flow, load, band, strength = self._at_rest(problem, t)
        room = strength - np.abs(load)
        return np.concatenate([inner, np.where(self.held, room,
                                               np.maximum(np.abs(flow) - band, -room))])

    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run."""
        if self.laws.size:
            self.laws.start(problem, t)
        self.apply(problem, t)
        if len(self.resting):
            flow, load, band, strength = self._at_rest(problem, t)
            self._rest(problem, t, (np.abs(flow) <= band) & (np.abs(load) < strength))
            self._way = np.where(self.held, 1, np.where(flow < 0, -1, 1))
        self.apply(problem, t)

    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event."""
        before, n = self.modes, self.laws.size
        changes = self.laws.decide(problem, t, touched[touched < n]) if n else []
        if len(self.resting):
            own = np.zeros(len(self.resting), dtype=bool)
            own[touched[touched >= n] - n] = True
            load = self._at_rest(problem, t)[1]
            self._way = np.where(self.held & own, np.where(load < 0, -1, 1), self._way)
            self._rest(problem, t, self.held ^ own)
        self.apply(problem, t)
        return changes + [c for c in self.changes(before) if c.element >= n]

    def _rest(self, problem: Problem, t: float, held: np.ndarray) -> None:
        """Hold these elements; flows of those that were not held before are set to zero."""
        new, self.held = bool(np.any(held & ~self.held)), held
        if not new:
            return
        index = self.resting[held]
        args = problem.arguments(t)
        d = -(self._flow_x.sparse(*args) @ self._push(args))[index][:, index].toarray()
        flow = self._flow(*args)[index]
        problem.x += self._push(args)[:, index] @ np.linalg.lstsq(d, flow, rcond=1e-13)[0]
        problem.x[self._pins(problem, t)] = 0.0
        if problem.algebraic:
            problem.solve_algebraic(t)

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        """(d slope / d effort) (d effort / d x)."""
        args = problem.arguments(t)
        if self.alone:
            return csc_matrix(self._slope_u.sparse(*args) @ self._inputs_x.sparse(*args))
        _, d, own, dead = self._look(problem, t)
        by_load = np.where(dead, 0.0, self._law_load(*args) * self.load_sign
                           / np.where(dead, 1.0, own))
        rate_x = self._rate_x.sparse(*args).toarray()
        if problem.system.nz:
            rate_x += self._rate_z.sparse(*args) @ self._algebraic_by_x(problem, t)
        if self.laws.size:
            others = self.laws.efforts_by_x(problem, t).toarray()
            rate_x -= self._by_others(self._fall(problem, t)) @ others
        right = self._law_x.sparse(*args).toarray() + by_load[:, None] * rate_x
        if self.laws.size:
            right += self._by_others(self._law_u.sparse(*args).toarray()) @ others
        by_x = np.linalg.lstsq(self._matrix(problem, t, d, own, dead), right, rcond=1e-13)[0]
        out = self._push(args) @ by_x
        if self.laws.size:
            others += self._following(problem, t) @ by_x
            push = csc_matrix(self.laws._push(problem, t, np.arange(self.laws.size)))
            out += push @ others
        return csc_matrix(out)

    def _algebraic_by_x(self, problem: Problem, t: float) -> np.ndarray:
        from scipy.sparse.linalg import splu

        args, n = problem.arguments(t), problem.system.nz
        by_x = problem.system.residual_x.sparse(*args)[:n].toarray()
        return -splu(problem.system.residual_z.sparse(*args)[:n].tocsc()).solve(by_x)

    def _push(self, args: Any) -> csc_matrix:
        """Change of the states' slopes per effort."""
        by_u = self._slope_u.sparse(*args)[:, self.effort_at]
        return csc_matrix(by_u.multiply(self.effort_sign[None, :]))
