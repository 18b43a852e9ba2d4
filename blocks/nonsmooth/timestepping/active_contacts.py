"""Of all contacts, which can touch in a step, and what do they come to?

Gaps of all contacts are evaluated kind by kind
(:mod:`blocks.nonsmooth.timestepping.contact_kinds`); only elements that can act within a step
enter the velocity problem, with a sparse matrix made of what the bodies between them do under
forces (:mod:`blocks.nonsmooth.timestepping.free_bodies`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from ...numerics.arrays import Array, Flags, Indices
from ...system.problem import Problem
from ..complementarity.scaling import Matrix
from .contact_kinds import Kind, Point, Values
from .free_bodies import FreeBodies

__all__ = ["Active", "ActiveContacts"]


@dataclass(frozen=True)
class Active:
    """The elements that can act in a step, in the order of ``elements``."""

    elements: Indices
    values: list[Values]  # of every kind's instances
    flow: Array
    bounds: Array  # (low, high, back, forth), element: at no effort where affine
    by_effort: list[np.ndarray]  # bound, element, effort, and derivative of the one by the other
    restitution: Array

    @property
    def loaded(self) -> bool:
        """Whether bounds depend on efforts."""
        return len(self.by_effort[0]) > 0

    def slopes(self, rests: Flags, static: int, kinetic: int, dense: bool) -> Matrix:
        """Derivatives of a bound by the efforts: the static one for what is at rest."""
        bound, element, effort, value = self.by_effort
        mine = bound == np.where(rests[element], static, kinetic)
        n = len(self.elements)
        if dense:
            out = np.zeros((n, n))
            out[element[mine], effort[mine]] = value[mine]
            return out
        return csr_matrix((value[mine], (element[mine], effort[mine])), shape=(n, n))


class ActiveContacts:
    """The components with set-valued laws, of which a few take part in a step.

    Parameters
    ----------
    kinds : list of Kind
    bodies : FreeBodies
        What they act on.
    seen : classes that they look at

    Attributes
    ----------
    point : the point looked at
    """

    point: Point

    def __init__(self, kinds: list[Kind], bodies: FreeBodies, seen: Indices) -> None:
        self.kinds, self.bodies = kinds, bodies
        for kind in kinds:
            kind.seen_at = np.searchsorted(seen, kind.seen)
        self.bent = any(kind.bent for kind in kinds)
        self._parameters: Array | None = None  # of the tables of arguments

    def fresh(self) -> ActiveContacts:
        """The same for another run."""
        new = copy.copy(self)
        new._parameters = None
        return new

    def look_at(self, problem: Problem, t: float, y: Array) -> None:
        """Go to a point: what all instances see there."""
        if self._parameters is not problem.p:
            for kind in self.kinds:
                kind.start(problem.p)
            self._parameters = problem.p
        self.point = Point(t, self.bodies.seen(problem, t, y), problem.m, problem.d)

    def gaps(self) -> list[Array]:
        """Gaps at the point looked at, kind by kind, (instance, contact)."""
        return [kind.gaps(self.point) for kind in self.kinds]

    def gaps_and_flows(self, size: int) -> tuple[Array, Array]:
        """Gaps (0 where there is none) and flows of all elements, in their order."""
        gaps, flow = np.zeros(size), np.zeros(size)
        for kind, values in zip(self.kinds, self.gaps(), strict=True):
            gaps[kind.elements[:, kind.contact]] = values
            flow[kind.elements] = kind.values(
                self.point, np.arange(len(kind.instances))).flow
        return gaps, flow

    def gaps_of(self, which: list[Indices]) -> Array:
        """Gaps of the elements of some instances; 0 for those that have none."""
        out = []
        for kind, rows in zip(self.kinds, which, strict=True):
            gaps = np.zeros((len(rows), kind.elements.shape[1]))
            gaps[:, kind.contact] = kind.gaps(self.point, rows)
            out.append(gaps.ravel())
        return np.concatenate(out)

    def acting(self, touching: list[Flags]) -> list[Indices]:
        """Per kind, the instances of which some law can have an effort.

        ``touching`` are the contacts that may close, (instance, contact).
        """
        out = []
        for kind, touch in zip(self.kinds, touching, strict=True):
            alone = (~kind.contact & ~kind.follows).any()  # friction that nothing presses
            rows = np.arange(len(kind.instances)) if alone else np.flatnonzero(touch.any(axis=1))
            out.append(rows)
        return out

    def elements_of(self, which: list[Indices]) -> Indices:
        """Their elements, kind by kind."""
        return np.concatenate([k.elements[w].ravel() for k, w in zip(
            self.kinds, which, strict=True)])  # fmt: skip

    def active(self, which: list[Indices], efforts: Array | None = None) -> Active:
        """What some instances of every kind come to at the point looked at."""
        values, flows, bounds, restitution = [], [], [], []
        by: list[list[np.ndarray]] = [[], [], [], []]
        for kind, rows, mine in self._numbered(which):
            own = None if efforts is None else efforts[mine]
            now = kind.values(self.point, rows, own)
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

    def flow_by_velocity(self, problem: Problem, t: float, y: Array, which: list[Indices],
                         now: Active) -> Matrix:
        """Derivatives of the flows by the velocities; how normals turn is left to the next step.
        """
        rows, columns, values = [], [], []
        for (kind, its, mine), at in zip(self._numbered(which), now.values, strict=True):
            i, law, s = np.nonzero(at.by_seen)
            rows.append(mine[i, law])
            columns.append(kind.seen_at[its[i], s])
            values.append(at.by_seen[i, law, s] * kind.seen_sign[its[i], s])
        shape = len(now.elements), self.bodies.size_of_seen
        by_seen = self.bodies.matrix(rows, columns, values, shape)
        return self.bodies.by_velocity(problem, t, y, by_seen)

    def push(self, problem: Problem, t: float, y: Array, which: list[Indices]) -> Matrix:
        """Change of the states' slopes by the efforts of some instances, at a point."""
        self.look_at(problem, t, y)
        rows, columns, values = [], [], []
        count = 0
        for kind, its, mine in self._numbered(which):
            force = kind.values(self.point, its).force_by_effort
            i, c, e = np.nonzero(force)
            rows.append(kind.forces[its[i], c])
            columns.append(mine[i, e])
            values.append(force[i, c, e] * kind.force_sign[its[i], c])
            count += mine.size
        forces = self.bodies.matrix(rows, columns, values, (self.bodies.classes, count))
        return self.bodies.push(problem, t, y, forces)

    def _numbered(self, which: list[Indices]) -> Iterator[tuple[Kind, Indices, Indices]]:
        """Kinds, the instances of each that act, and the numbers of their elements."""
        first = 0
        for kind, rows in zip(self.kinds, which, strict=True):
            shape = len(rows), kind.elements.shape[1]
            count = shape[0] * shape[1]
            yield kind, rows, first + np.arange(count).reshape(shape)
            first += count
