"""How do states that constraints tie to others follow small changes of these?

The changes of a mechanism's states obey its constraints, so only those of its degrees of freedom
are integrated: a four-bar has two states instead of fourteen. Which these are is what the run
itself has chosen, in each of its episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array, Indices
from .stages import Coefficients

if TYPE_CHECKING:
    from ...system.points import Points
    from .equations import Derivatives, SensitivityEquations
    from .events import Saltation

__all__ = ["Constraints"]


@dataclass(frozen=True)
class TiedStates:
    """Changes of tied states at points by those of free states, parameters, discrete values."""

    free: Array
    p: Array
    d: Array


class Constraints:
    """Goes from all states of a run to the free ones, and back.

    Parameters
    ----------
    saltation : of the run
    """

    def __init__(self, saltation: Saltation) -> None:
        self._saltation, self._dp = saltation, saltation.dp
        self._equations: SensitivityEquations = saltation.equations
        nx = saltation.system.nx
        self._tied: Indices = np.array([e.tied for e in saltation.recording.episodes])
        self._free: Indices = np.array([np.delete(np.arange(nx), tied) for tied in self._tied])

    def free(self, episode: int, x: Array) -> Array:
        """Return the changes of the states that are integrated in an episode."""
        return x[self._free[episode]]

    def coefficients(self, points: Points, which: Indices, slopes: Derivatives) -> Coefficients:
        """What the changes of free states obey."""
        tied, free = self._through(points, which), self._free[which]
        x, p, d = (np.take_along_axis(one, free[:, :, None], axis=1)
                   for one in (slopes.x, slopes.p, slopes.d))
        by_free, by_tied = (np.take_along_axis(x, of[which][:, None, :], axis=2)
                            for of in (self._free, self._tied))
        return Coefficients(by_free + by_tied @ tied.free, (p + by_tied @ tied.p) @ self._dp,
                            d + by_tied @ tied.d)

    def all(self, points: Points, which: Indices, free: Array, d: Array) -> Array:
        """Changes of all states at points by those of the free ones, (points, states, …)."""
        return self._all(self._through(points, which), which, free, d)

    def before(self, event: int, free: Array, d: Array) -> Array:
        """Return the changes of all states just before an event, from those of the free ones."""
        tied = self._before
        at = TiedStates(*(getattr(tied, name)[[event]] for name in ("free", "p", "d")))
        return self._all(at, np.array([event]), free[None], d[None])[0]

    @cached_property
    def _before(self) -> TiedStates:
        """How tied states follow just before every event."""
        events = np.arange(len(self._saltation.times))
        return self._through(self._saltation.sides.before(*events), events)

    def _all(self, tied: TiedStates, which: Indices, free: Array, d: Array) -> Array:
        out = np.empty((len(free), self._saltation.system.nx, free.shape[2]))
        np.put_along_axis(out, self._free[which][:, :, None], free, axis=1)
        np.put_along_axis(out, self._tied[which][:, :, None],
                          tied.free @ free + tied.p @ self._dp + tied.d @ d, axis=1)
        return out

    def _through(self, points: Points, which: Indices) -> TiedStates:
        """By the implicit function theorem."""
        system = self._saltation.system
        by = self._equations.rows("constraints", system.tape.constraints, points)
        of_tied, of_free = (np.take_along_axis(by.x, of[which][:, None, :], axis=2)
                            for of in (self._tied, self._free))
        right = np.concatenate([of_free, by.p, by.d], axis=2)
        cuts = np.cumsum([of_free.shape[2], by.p.shape[2]])
        return TiedStates(*np.split(-np.linalg.solve(of_tied, right), cuts, axis=2))
