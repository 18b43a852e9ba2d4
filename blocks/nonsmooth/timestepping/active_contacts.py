"""Set-valued laws as time stepping needs them: of all contacts, only those that can touch.

Gaps of all contacts are evaluated kind by kind
(:mod:`blocks.nonsmooth.timestepping.contact_kinds`); only elements that can act within a step
enter the velocity problem, with a sparse matrix made of what the bodies between them do under
forces (:mod:`blocks.nonsmooth.timestepping.bare_network`). Efforts of a run are those of its
steps: constant over a step, and kept for the results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, csr_matrix, diags_array

from ...language.expression import TIME
from ...numerics.arrays import Indices
from ...system.system import Evaluator, Problem, System
from ..contract import Laws
from ..modes.elements import Change, elements_of
from ..modes.gaps import refuse_overlap
from .bare_network import bare_network
from .contact_kinds import Kind, Values, kinds_of

__all__ = ["Active", "StepLaws", "step_laws"]

SMALL = 300  # classes up to which matrices of a network are dense
TOUCHES = 1e-9  # of the largest position: a gap that is none at the start


@dataclass(frozen=True)
class Active:
    """The elements that can act in a step, in the order of ``elements``."""

    elements: np.ndarray
    values: list[Values]  # of every kind's instances
    flow: np.ndarray
    bounds: np.ndarray  # (low, high, back, forth), element: at no effort where affine
    by_effort: list[np.ndarray]  # bound, element, effort, and derivative of the one by the other
    restitution: np.ndarray

    @property
    def loaded(self) -> bool:
        """Whether bounds depend on efforts."""
        return len(self.by_effort[0]) > 0

    def slopes(self, rests: np.ndarray, static: int, kinetic: int, dense: bool) -> Any:
        """Derivatives of a bound by the efforts: the static one for what is at rest."""
        bound, element, effort, value = self.by_effort
        mine = bound == np.where(rests[element], static, kinetic)
        n = len(self.elements)
        if dense:
            out = np.zeros((n, n))
            out[element[mine], effort[mine]] = value[mine]
            return out
        return csr_matrix((value[mine], (element[mine], effort[mine])), shape=(n, n))


def step_laws(system: System) -> StepLaws | None:
    """The laws of a system with contacts for time stepping; None where they need the general way.
    """
    kept = system.cache
    if "step_laws" not in kept:
        kept["step_laws"] = StepLaws.of(system)
    made: StepLaws | None = kept["step_laws"]
    return None if made is None else made.fresh()


class StepLaws(Laws):
    """All set-valued elements of a system, for
    :class:`blocks.nonsmooth.timestepping.moreau_jean.MoreauJean`."""

    watched = False
    recorded = True  # its efforts are those of the run's steps
    ends: list[float]  # of every step
    steps: list[tuple[np.ndarray, np.ndarray]]  # elements with an effort, and the efforts
    begun: Any  # parameters of the tables of arguments

    def __init__(self, system: System, kinds: list[Kind], bare: Any) -> None:
        super().__init__(system, elements_of(system))
        self.kinds = kinds
        tape, flat = system.tape, system.flat
        self.small = max(bare.gathers.shape) <= SMALL
        self.gathers = bare.gathers.toarray() if self.small else bare.gathers
        w0 = ca.SX.zeros(bare.w.numel())
        free = [TIME, tape.x, tape.p, tape.m, tape.d]
        slope = ca.substitute(bare.slope, bare.w, w0)
        self._slope = Evaluator(ca.Function("slope", free, [ca.densify(slope)]))
        self._slope_x = _sparse(free, ca.jacobian(slope, tape.x))
        by_w = ca.substitute(ca.jacobian(bare.slope, bare.w), bare.w, w0)
        self._slope_w = _sparse(free, by_w)
        pushed = np.zeros(system.nx)
        pushed[np.array(by_w.sparsity().row(), dtype=int)] = 1.0
        self._pushed = pushed  # velocities: what forces change at once
        seen = np.unique(np.concatenate([k.seen.ravel() for k in kinds]))
        values = tape.values[seen.tolist()]
        self._outside = Evaluator(ca.Function("seen", free, [ca.densify(values)]))
        self._outside_x = _sparse(free, ca.jacobian(values, tape.x))
        for kind in kinds:
            kind.seen_at = np.searchsorted(seen, kind.seen)
        self.classes = flat.classes
        self.size_of_seen = len(seen)
        self.bent = any(kind.bent for kind in kinds)

    @classmethod
    def of(cls, system: System) -> StepLaws | None:
        kernels = [family.kernel for family in system.network.families]
        touches = any(law.is_contact for k in kernels for law in k.set_valued)
        if not touches or system.nz or system.clusters or system.tape.reduced.gives_flow.any() \
                or any(k.load_laws for k in kernels):
            return None
        kinds = kinds_of(system)
        if kinds is None:
            return None
        tape = system.tape
        seen = np.unique(np.concatenate([k.seen.ravel() for k in kinds]))
        if ca.depends_on(tape.values[seen.tolist()], tape.u):
            return None
        bare = bare_network(tape, sorted({k.family for k in kinds}))
        return None if bare is None else cls(system, kinds, bare)

    @property
    def modes(self) -> Indices:
        return self._modes

    @modes.setter
    def modes(self, value: Indices) -> None:
        self._modes = value

    def fresh(self) -> StepLaws:
        """The same laws at the start of another run."""
        import copy

        new = copy.copy(self)
        new.modes = np.where(self.contact, -1, 0).astype(np.int8)
        new.ends, new.steps = [], []
        new.begun = None
        return new

    # -- the network without efforts ----------------------------------------------------
    def free_slope(self, problem: Problem, t: float, y: np.ndarray) -> np.ndarray:
        """Slopes without any set-valued effort, scaled."""
        return self._slope(*self._at(problem, t, y)) / problem.scale

    def free_jacobian(self, problem: Problem, t: float, y: np.ndarray) -> csc_matrix:
        j = self._slope_x.sparse(*self._at(problem, t, y))
        data = j.data * np.repeat(problem.scale, np.diff(j.indptr)) / problem.scale[j.indices]
        return csc_matrix((data, j.indices, j.indptr), shape=j.shape)

    def _at(self, problem: Problem, t: float, y: np.ndarray) -> tuple[Any, ...]:
        if problem.delays is not None:
            problem.delays.fill(problem.d, t)
        return t, y * problem.scale, problem.p, problem.m, problem.d

    # -- who acts -----------------------------------------------------------------------
    def look_at(self, problem: Problem, t: float, y: np.ndarray) -> None:
        """Go to a point: what all instances see there."""
        if self.begun is not problem.p:
            for kind in self.kinds:
                kind.start(problem.p)
            self.begun = problem.p
        args = self._at(problem, t, y)
        seen = self._outside(*args)
        for kind in self.kinds:
            kind.look(t, seen, problem.m, problem.d)

    def gaps(self) -> list[np.ndarray]:
        """Gaps at the point looked at, kind by kind, (instance, contact)."""
        return [kind.gaps() for kind in self.kinds]

    def gaps_of(self, which: list[np.ndarray]) -> np.ndarray:
        """Gaps of the elements of some instances; 0 for those that have none."""
        out = []
        for kind, rows in zip(self.kinds, which, strict=True):
            gaps = np.zeros((len(rows), kind.elements.shape[1]))
            gaps[:, kind.contact] = kind.gaps(rows)
            out.append(gaps.ravel())
        return np.concatenate(out)

    def acting(self, touching: list[np.ndarray]) -> list[np.ndarray]:
        """Per kind, the instances of which some law can have an effort.

        ``touching`` are the contacts that may close, (instance, contact).
        """
        out = []
        for kind, touch in zip(self.kinds, touching, strict=True):
            alone = (~kind.contact & ~kind.follows).any()  # friction that nothing presses
            rows = np.arange(len(kind.instances)) if alone else np.flatnonzero(touch.any(axis=1))
            out.append(rows)
        return out

    def elements_of(self, which: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([k.elements[w].ravel() for k, w in zip(
            self.kinds, which, strict=True)])  # fmt: skip

    def active(self, which: list[np.ndarray], efforts: np.ndarray | None = None) -> Active:
        """What some instances of every kind come to at the point looked at."""
        values, flows, bounds, restitution = [], [], [], []
        by: list[list[np.ndarray]] = [[], [], [], []]
        for kind, rows, mine in self._numbered(which):
            own = None if efforts is None else efforts[mine]
            now = kind.values(rows, own)
            values.append(now)
            flows.append(now.flow.ravel())
            restitution.append(now.restitution.ravel())
            at = now.bounds
            if own is not None:  # the affine function's value at no effort
                at = at - np.einsum("ible,ie->ibl", now.by_effort, own)
            bounds.append(at.transpose(1, 0, 2).reshape(4, -1))
            i, b, law, e = np.nonzero(now.by_effort)
            parts = b, mine[i, law], mine[i, e], now.by_effort[i, b, law, e]
            for column, part in zip(by, parts, strict=True):
                column.append(part)
        return Active(self.elements_of(which), values, np.concatenate(flows),
                      np.concatenate(bounds, axis=1), [np.concatenate(x) for x in by],
                      np.concatenate(restitution))  # fmt: skip

    def flow_by_velocity(self, problem: Problem, t: float, y: np.ndarray,
                         which: list[np.ndarray], now: Active) -> Any:
        """Derivatives of the flows by the velocities; how normals turn is left to the next step.
        """
        rows, columns, values = [], [], []
        for (kind, its, mine), at in zip(self._numbered(which), now.values, strict=True):
            i, law, s = np.nonzero(at.by_seen)
            rows.append(mine[i, law])
            columns.append(kind.seen_at[its[i], s])
            values.append(at.by_seen[i, law, s] * kind.seen_sign[its[i], s])
        by_seen = self._matrix(rows, columns, values, (len(now.elements), self.size_of_seen))
        return by_seen @ self._known(self._outside_x, problem, t, y) * self._pushed[None, :] \
            if self.small else csr_matrix(by_seen @ self._known(self._outside_x, problem, t, y)
                                          @ diags_array(self._pushed))

    def push(self, problem: Problem, t: float, y: np.ndarray, which: list[np.ndarray]) -> Any:
        """Change of the states' slopes by the efforts of some instances, at a point."""
        self.look_at(problem, t, y)
        rows, columns, values = [], [], []
        count = 0
        for kind, its, mine in self._numbered(which):
            force = kind.values(its).force_by_effort
            i, c, e = np.nonzero(force)
            rows.append(kind.forces[its[i], c])
            columns.append(mine[i, e])
            values.append(force[i, c, e] * kind.force_sign[its[i], c])
            count += mine.size
        forces = self._matrix(rows, columns, values, (self.classes, count))
        return self._known(self._slope_w, problem, t, y) @ (self.gathers @ forces)

    def _numbered(self, which: list[np.ndarray]) -> Iterator[tuple[Kind, np.ndarray, np.ndarray]]:
        """Kinds, the instances of each that act, and the numbers of their elements."""
        first = 0
        for kind, rows in zip(self.kinds, which, strict=True):
            shape = len(rows), kind.elements.shape[1]
            count = shape[0] * shape[1]
            yield kind, rows, first + np.arange(count).reshape(shape)
            first += count

    def _known(self, evaluator: Evaluator, problem: Problem, t: float, y: np.ndarray) -> Any:
        args = self._at(problem, t, y)
        return evaluator.dense(*args) if self.small else evaluator.sparse(*args)

    def _matrix(self, rows: list[np.ndarray], columns: list[np.ndarray],
                values: list[np.ndarray], shape: tuple[int, int]) -> Any:
        """Entries that are added, dense where the system is small."""
        at, entry = (np.concatenate(rows), np.concatenate(columns)), np.concatenate(values)
        if not self.small:
            return csc_matrix((entry, at), shape=shape)
        out = np.zeros(shape)
        np.add.at(out, at, entry)
        return out

    # -- efforts of the run --------------------------------------------------------------
    def keep(self, problem: Problem, t: float, elements: np.ndarray, efforts: np.ndarray) -> None:
        """Efforts of the step that ends at ``t``."""
        some = efforts != 0
        self.ends.append(t)
        self.steps.append((elements[some], efforts[some]))
        problem.u[:] = 0.0
        problem.u[self.elements.column[elements]] = efforts * self.elements.sign[elements]

    def last_efforts(self) -> np.ndarray:
        """Efforts of the last step, of all elements."""
        out = np.zeros(self.size)
        if self.steps:
            elements, efforts = self.steps[-1]
            out[elements] = efforts
        return out

    def efforts_at(self, t: np.ndarray, start: float) -> np.ndarray:
        """Inputs at times of an episode: those of the steps they are in."""
        u = np.zeros((self.system.nu, len(t)))
        if not self.ends:
            return u
        k = np.searchsorted(self.ends, np.maximum(t, np.nextafter(start, np.inf)))
        for column, step in enumerate(np.minimum(k, len(self.ends) - 1)):
            elements, efforts = self.steps[step]
            u[self.elements.column[elements], column] = efforts * self.elements.sign[elements]
        return u

    def acted(self) -> dict[int, np.ndarray]:
        """Per family with such laws, the instances that had an effort in some step."""
        ever = np.zeros(self.size, dtype=bool)
        for elements, _ in self.steps:
            ever[elements] = True
        out: dict[int, np.ndarray] = {}
        for kind in self.kinds:
            size = self.system.network.families[kind.family].size
            mine = out.setdefault(kind.family, np.zeros(size, dtype=bool))
            mine[kind.instances] = ever[kind.elements].any(axis=1)
        return out

    # -- what the driver and the results ask for --------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start, from flows; contacts that touch and do not part are closed."""
        self.look_at(problem, t, problem.start_vector())
        gaps = np.zeros(self.size)
        for kind, values in zip(self.kinds, self.gaps(), strict=True):
            gaps[kind.elements[:, kind.contact]] = values
        far = float(np.maximum(np.abs(problem.x), problem.scale_x).max(initial=0.0))
        refuse_overlap(self.system, self.elements, gaps[self.contact],
                       np.flatnonzero(self.contact), far)  # fmt: skip
        flow = np.zeros(self.size)
        for kind in self.kinds:
            flow[kind.elements] = kind.values(np.arange(len(kind.instances))).flow
        small = 1e-12 * max(float(np.abs(flow).max()), 1e-300)
        rests = np.abs(flow) <= small
        touches = (gaps <= TOUCHES * far) & (flow >= -small)
        self.modes = np.where(self.contact, np.where(touches, 0, -1),
                              np.where(rests, 0, np.sign(flow))).astype(np.int8)

    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """At known instants the next step decides."""
        return []

    def apply(self, problem: Problem, t: float) -> None:
        """Efforts are those of the step; nothing follows from the present point."""


def _sparse(arguments: list[Any], expression: Any) -> Evaluator:
    return Evaluator(ca.Function("jacobian", arguments, [expression]))
