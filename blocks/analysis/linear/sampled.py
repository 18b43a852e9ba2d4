"""What do sampled values come to at rest, and what passes through them?

At rest a sampler assigns what there is: a hold shows its input, what a sampled integrator adds up
is zero. Between samples its output is constant, so to a linear model nothing passes through it.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csr_matrix

from ...numerics.arrays import Array, Flags, Indices
from ...simulation.actions import Samplings
from ...simulation.time_events import TimeEvents
from ...system.evaluator import Evaluator
from ...system.system import System

__all__ = ["SampledValues", "some_of"]

MOST_SAMPLES = 5000  # until values are called those that do not come to rest
AT_REST = 1e-13  # of a value: its change by a sample


def some_of(column: ca.SX, places: Any) -> ca.SX:
    """Some entries of a column, and a column again where these are none."""
    places = np.asarray(places, dtype=int).tolist()
    return column[places] if places else ca.SX(0, 1)


class SampledValues:
    """The discrete values that ``every`` assigns, periodically."""

    def __init__(self, system: System) -> None:
        tape, self.system = system.tape, system
        samplings = Samplings.of(system, TimeEvents(system, system.parameters(), 0.0, 0.0))
        periodic = np.flatnonzero(np.isfinite(samplings.start)[samplings.owner])
        # among the discrete values, one for each assignment
        self.places: Indices = samplings.target[periodic]
        value = ca.SX(0, 1)
        if samplings.values is not None:
            value = some_of(samplings.values.function(*system.arguments, tape.d), periodic)
        # the values less what is assigned, zero at rest
        self.rows = some_of(tape.d, self.places) - value
        # whether a function in Python works them out, by discrete value
        self.in_python = np.zeros(system.nd, dtype=bool)
        self.sampled = np.zeros(system.nd, dtype=bool)  # whether a discrete value is one of them
        self.sampled[self.places] = True
        self._value, self._feeds = value, self._follows(value, tape.d)
        for k in range(len(samplings.in_python)):
            places = samplings.in_python.places(k)
            self.in_python[places] = True
            self._feeds[np.ix_(places, places)] = True
        self._assigned = Evaluator(ca.Function("assigned", system.arguments, [ca.densify(value)]))

    @classmethod
    def of(cls, system: System) -> SampledValues:
        """Return the sampled values of a system, made once."""
        return system.once("sampled values", lambda: cls(system))

    def _follows(self, value: ca.SX, by: ca.SX) -> Any:
        """Which discrete values are assigned by what: a sparse matrix."""
        row, column = ca.jacobian_sparsity(value, by).get_triplet()
        return csr_matrix((np.ones(len(row), dtype=bool), (self.places[row], column)),
                          (self.system.nd, by.numel())).tolil()

    def used(self, rows: ca.SX) -> Flags:
        """Return which discrete values the rows depend on, at once or through others."""
        found = np.zeros(self.system.nd, dtype=bool)
        if not self.sampled.any():
            return found
        found[ca.jacobian_sparsity(rows, self.system.tape.d).get_triplet()[1]] = True
        return self._closed(found, self._feeds.T) & self.sampled

    def moving(self, inputs: list[int]) -> Flags:
        """Return which discrete values follow states, unknowns, relations or inputs."""
        tape = self.system.tape
        by = self._follows(self._value, ca.vertcat(tape.x, tape.z, tape.u, tape.m,
                                                   some_of(tape.p, inputs)))
        found = np.asarray(by.sum(axis=1)).ravel() > 0
        return self._closed(found, self._feeds) & self.sampled

    @staticmethod
    def _closed(flags: Flags, feeds: Any) -> Flags:
        """Flags of these values and of all that they feed, at once or through others."""
        feeds = feeds.tocsr()
        while True:
            more = flags | (feeds @ flags)
            if np.array_equal(more, flags):
                return flags
            flags = more

    def at_rest(self, arguments: Any, which: Flags) -> tuple[Array, Flags]:
        """Discrete values after so many samples that some of them rest, while all else stays.

        And which of these do not come to rest: they are left as they are.
        """
        *others, given, u = arguments
        mine, d, restless = which[self.places], given.copy(), np.zeros(len(given), dtype=bool)
        places = self.places[mine]
        for _ in range(MOST_SAMPLES if len(places) else 0):
            found = self._assigned(*others, d, u)[mine]
            restless[places] = ~(np.abs(found - d[places]) <= AT_REST * np.abs(found))
            d[places] = found
            if not restless.any():
                break
        return np.where(restless, given, d), restless

    def components(self, which: Flags) -> list[str]:
        """Components of some of the discrete values."""
        names = (self.system.discrete_name(int(k)) for k in np.flatnonzero(which))
        return list(dict.fromkeys(name.rpartition(".")[0] for name in names))
