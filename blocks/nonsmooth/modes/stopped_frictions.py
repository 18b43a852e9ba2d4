"""Which contacts stop the motion that a friction brakes?

A cylinder with a seal that lies at its end has one motion, which friction and stop hold together:
how they share the load is left open, and does not matter. Together they hold whatever one of them
may bear: the friction's bounds with those of the contact added, as :mod:`companions` adds bounds
of frictions. So the friction tells for both whether they stay or let go, here and where machine
code decides; the contact alone never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...numerics import sparse as sp
from ...numerics.arrays import Flags, Indices
from ...numerics.tolerances import SYMMETRIC
from .companions import SAME, Companions
from .elements import Elements
from .law_expressions import LawExpressions

__all__ = ["StoppedFrictions", "stopped_frictions"]

POINTS = 2  # in the space of parameters, at which they are looked at


@dataclass(frozen=True, eq=False)
class StoppedFrictions:
    """Pairs of a friction that decides and a contact of the same motion.

    Attributes
    ----------
    friction, contact : elements, pair by pair
    ratio : of the contact's flow to the friction's, functions of the parameters
    """

    friction: Indices
    contact: Indices
    ratio: ca.SX

    def alone(self, stuck: Flags) -> Flags:
        """Of what is stuck, what has a margin of its own."""
        out = stuck.copy()
        out[self.contact[stuck[self.friction]]] = False
        return out

    def told_by(self, count: int) -> Indices:
        """Of each of that many elements the friction that tells for it; -1 for none."""
        out = np.full(count, -1)
        out[self.contact] = self.friction
        return out

    def together(self, modes: ca.SX, effort: ca.SX, low: ca.SX, high: ca.SX
                 ) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Efforts and bounds, those of a friction being what both of a pair at rest come to."""
        out = ca.SX(effort), ca.SX(low), ca.SX(high)
        for k, (f, c) in enumerate(zip(self.friction.tolist(), self.contact.tolist(),
                                       strict=True)):
            both = ca.logic_and(modes[f] == 0, modes[c] == 0)
            own, *ends = (self.ratio[k] * of[c] for of in (effort, low, high))
            for total, added in zip(out, (own, ca.fmin(*ends), ca.fmax(*ends)), strict=True):
                total[f] = total[f] + ca.if_else(both, added, 0)
            for bound, none in zip(out[1:], (-np.inf, np.inf), strict=True):
                bound[c] = ca.if_else(both, none, bound[c])
        return out


def stopped_frictions(elements: Elements, laws: LawExpressions, companions: Companions,
                      fixed: bool) -> StoppedFrictions:
    """The pairs of a system; none where its flows are not ``fixed`` combinations of states."""
    nobody = StoppedFrictions(*(np.zeros(0, dtype=int),) * 2, ca.SX(0, 1))
    contact = np.flatnonzero(elements.contact)
    friction = np.flatnonzero(companions.decides & ~elements.contact)
    if not fixed or not len(contact) or not len(friction):
        return nobody
    p, flow_x = laws.system.tape.p, laws.flow_x
    function = ca.Function("acting", [p], [flow_x, elements.pushed(laws.slope_u)])
    points = [_At(*(sp.csr_array(a.sparse()) for a in function.call([values])))
              for values in np.random.default_rng(0).uniform(0.5, 1.5, (POINTS, p.numel()))]
    moved = np.diff(points[0].flow.indptr) > 0  # by states, not by a source alone
    first = {_direction(points, f): f for f in friction[::-1].tolist() if moved[f]}
    pairs = [(first[direction], c) for c in contact.tolist()
             if (direction := _direction(points, c)) in first]
    pairs = [(f, c) for f, c in pairs if all(at.pushes_alike(f, c) for at in points)]
    if not pairs:
        return nobody
    friction, contact = np.array(pairs).T
    flow = points[0].flow
    state = flow.indices[flow.indptr[friction]].tolist()  # one that each flow is made of
    ratio = [flow_x[c, k] / flow_x[f, k] for (f, c), k in zip(pairs, state, strict=True)]
    return StoppedFrictions(friction, contact, ca.vertcat(*ratio))


def _direction(points: list[_At], e: int) -> bytes:
    """Which states a flow is made of, and in what proportion, at all points."""
    rows = [at.flow[[e]].tocoo() for at in points]
    return np.concatenate([np.append(row.coords[1], np.round(row.data / row.data[:1], SAME) + 0.0)
                           for row in rows]).tobytes()


class _At(NamedTuple):
    """Flows by states and slopes by efforts, at a point."""

    flow: sp.csr_array
    push: sp.csr_array

    def pushes_alike(self, f: int, c: int) -> bool:
        """Whether efforts of two elements of one motion have one effect."""
        ratio = self.flow[[c]].tocoo().data[0] / self.flow[[f]].tocoo().data[0]
        own, other = (self.push[:, [e]].toarray() for e in (f, c))
        return bool(np.abs(other - ratio * own).max() <= SYMMETRIC * np.abs(other).max())
