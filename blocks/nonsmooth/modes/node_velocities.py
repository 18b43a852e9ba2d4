"""Which elements slide, where nodes without mass let velocities jump?

Over an instant h all flows and efforts are affine in the inputs: what has mass resists a jump of
its velocity by m/h, a spring by h k, a damper as always. With M the matrix of what the elements
give by what they take, and R that of its rates, it is M + h R; in a network that makes no power of
its own it is that of one complementarity problem
(:func:`blocks.nonsmooth.complementarity.solve_mixed`), whose flows say who sticks and who
slides. Friction is larger at rest than in motion, so the search is repeated with the kinetic
bounds of all that move, until no other one does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    FLOW_NONE,
    SAME_AS_BEFORE,
    TINY,
    TRIAL_INSTANTS,
    TRIAL_LOOKS_AHEAD,
)
from ...system import Problem
from ..complementarity import Mixed, solve_mixed
from .massless_contacts import MasslessContacts
from .massless_efforts import MasslessEfforts

__all__ = ["NodeVelocities"]

PARASITIC = 1e-6  # in SI units, such as ohm and siemens


class NodeVelocities:
    """Proposals of modes for nodes without mass, from the efforts of the present ones."""

    def __init__(self, efforts: MasslessEfforts, contacts: MasslessContacts) -> None:
        self.efforts, self.equations = efforts, efforts.equations
        self.elements, self.state = efforts.elements, efforts.state
        self.contacts = contacts

    def modes(self, problem: Problem, t: float, moved: Indices, asked: Flags | None = None
              ) -> Iterator[Indices]:
        """Modes to try, the most trustworthy first.

        ``moved`` are senses of what is known to move, 0 of what is at rest; ``asked``: whose modes
        may change; all others take what they do now. None for everyone.
        """
        asked = np.ones(self.elements.size, dtype=bool) if asked is None else asked
        slope = self.efforts.system.slope(*problem.arguments(t))
        # a load exactly at a bound is decided by the next instant
        for ahead in (0.0, *TRIAL_LOOKS_AHEAD):
            for h in TRIAL_INSTANTS:
                with put_back(problem.x):
                    problem.x += ahead * slope
                    found = self._found(problem, t + ahead, h, moved != 0, asked)
                if found is not None:
                    yield from self._with_spare_open(problem, t, found, asked)

    def _found(self, problem: Problem, t: float, h: float, kinetic: Flags, asked: Flags
               ) -> Mixed | None:
        """Efforts and flows an instant later; None where they are not found.

        Where nobody determines a share (a diode beside a closed switch), the solver may not find
        an end; a little of what limits efforts and flows everywhere then gives one.
        """
        for _ in range(len(kinetic) + 1):
            found = self._decided(problem, t, h, kinetic, asked) or self._decided(
                problem, t, h, kinetic, asked, PARASITIC)
            if found is None or not np.any((found.flow != 0) & ~kinetic & asked):
                return found
            kinetic = kinetic | (found.flow != 0) & asked
        return None

    def _with_spare_open(self, problem: Problem, t: float, found: Mixed, asked: Flags
                         ) -> Iterator[Indices]:
        """Modes of an answer; first with so many open of those that have neither effort nor flow,
        that the others have one way of sharing what they bear.

        Both modes may hold of these. Closed beside something that is closed as well they would be
        given a part of its effort; so is a diode at a transistor that conducts.
        """
        flow, modes = found.flow.copy(), self._regular(problem, t, found.flow, asked)
        _, _, low, high, *_ = self.equations.values(problem, t)
        null = self.equations.open_inputs(
            problem, t, self.equations.switched(problem, t, modes))
        shared = self.equations.by_taken(problem, t, null)[0]
        least = SAME_AS_BEFORE * np.abs(null).max(initial=0.0)
        none = SAME_AS_BEFORE * np.abs(found.effort).max(initial=0.0)
        spare = asked & (modes == 0) & (np.isinf(low) != np.isinf(high)) & (
            np.where(np.isinf(high), found.effort - low, high - found.effort) <= none)
        for e in np.flatnonzero(spare):
            if np.abs(shared[e]).max(initial=0.0) > least:
                way = int(np.argmax(np.abs(shared[e])))
                flow[e] = -TINY if np.isinf(high[e]) else TINY
                shared = shared - np.outer(shared[:, way] / shared[e, way], shared[e])
        yield self._regular(problem, t, flow, asked)
        yield modes

    def with_parasitics(self, problem: Problem, t: float, h: float) -> Indices | None:
        """Modes an instant later, with a little of what limits efforts and flows everywhere."""
        everyone = np.ones(self.elements.size, dtype=bool)
        found = self._decided(problem, t, h, self.state.modes != 0, everyone, PARASITIC)
        return None if found is None else np.sign(found.flow).astype(int)

    def _decided(self, problem: Problem, t: float, h: float, kinetic: Flags, asked: Flags,
                 parasitic: float = 0.0) -> Mixed | None:
        """Efforts and flows of who is asked, beside what all others do now."""
        offset, matrix = self._network(problem, t, h, asked)
        matrix = matrix - parasitic * np.eye(len(offset))
        if not (np.isfinite(offset).all() and np.isfinite(matrix).all()):
            return None
        low, high = (side[asked] for side in self._bounds(problem, t, kinetic))
        high = np.where(self.contacts.apart(problem, t)[asked], low, high)
        gives = self.elements.gives_flow[asked]
        found = solve_mixed(matrix, offset, gives, low, high)
        if not found.converged:
            return None
        effort, flow = np.zeros(len(asked)), self.state.modes.astype(float)
        given = np.zeros(len(asked))
        given[asked] = np.maximum(np.abs(found.flow), np.where(gives, 0.0, np.abs(offset)))
        fastest = self.state.largest_of_kinds(given)[asked]
        effort[asked] = found.effort
        flow[asked] = np.where(np.abs(found.flow) > FLOW_NONE * fastest, found.flow, 0.0)
        return Mixed(effort, flow, True)

    def _network(self, problem: Problem, t: float, h: float, asked: Flags) -> tuple[Array, Array]:
        """What those asked give an instant later: without what they take, and by it."""
        by_inputs, both = self.equations.by_inputs(problem, t), np.ix_(asked, asked)
        matrix = by_inputs[0][both] + h * by_inputs[3][both]
        given, rate = (row[asked] for row in self.equations.given(problem, t))
        return given + h * rate - matrix @ self.elements.efforts_of(problem.u)[asked], matrix

    def _bounds(self, problem: Problem, t: float, kinetic: Flags) -> tuple[Array, Array]:
        """Bounds of efforts: kinetic ones of what moves, as fast as it does now."""
        _, _, low, high, back, forth = self.equations.values(problem, t)
        kinetic = kinetic & np.isfinite(low) & np.isfinite(high) & (low < high)  # frictions alone
        bottom, top = np.where(kinetic, back, low), np.where(kinetic, forth, high)
        return np.minimum(bottom, top), top

    def _regular(self, problem: Problem, t: float, flow: Array, asked: Flags) -> Indices:
        """Modes of given flows, with so many at rest that all velocities are determined.

        Equally strong frictions in series slide in any share, diodes in series that block share
        their voltage in any way: flows are changed along what is open until one of them rests.
        """
        modes, flow = self.state.modes, flow.copy()
        told = np.any(self.equations.told(problem, t), axis=0)
        try:
            for _ in range(self.elements.size):
                self.state.modes = self.equations.switched(problem, t, np.sign(flow).astype(int))
                free = self.efforts.open_flows(problem, t)
                if free is None:
                    break
                slides = asked & ~told & (flow != 0) & (
                    np.abs(free) > SAME_AS_BEFORE * np.abs(free).max())
                if not slides.any():
                    break
                part = np.full(len(flow), np.inf)
                part[slides] = -flow[slides] / free[slides]
                first = int(np.argmin(np.abs(part)))
                flow = np.where(np.sign(flow + part[first] * free) == np.sign(flow),
                                flow + part[first] * free, 0.0)  # fmt: skip
                flow[first] = 0.0
            return np.sign(flow).astype(int)
        finally:
            self.state.modes = modes

