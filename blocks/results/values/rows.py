"""What are the bare numbers of some variables of a run?

In SI units, one row per variable: what is read, and what is found from more than the samples.
Units, and whether one variable or an array is meant, are known above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...exceptions import ParameterError
from ...numerics.arrays import Array
from ..recording import Curves
from .times import check_side, within_run
from .views import both_limits

__all__ = ["Rows", "smooth_intervals"]

MANY = 1000  # variables of which single samples are read by themselves


def smooth_intervals(knots: Array) -> tuple[Array, Array]:
    """Starts and ends of what lies between knots, of which two equal ones are an event."""
    times = np.asarray(knots, dtype=float)
    apart = np.diff(times) > 0
    return times[:-1][apart], times[1:][apart]


class Rows:
    """Values of variables of one run, (variables, times), read from a source by their handles;
    messages call them by ``path``."""

    def __init__(self, source: Curves, indices: Sequence[int], path: str) -> None:
        self.source, self.indices, self.path = source, list(indices), path
        self._samples: Array | None = None

    @property
    def times(self) -> Array:
        """Sample times in s."""
        return np.asarray(self.source.times, dtype=float)

    def samples(self) -> Array:
        """All samples, read once."""
        if self._samples is None:
            self._samples = np.asarray(self.source.values(self.indices), dtype=float)
        return self._samples

    def some_samples(self) -> Array:
        """All samples, refused where there are none."""
        if not len(self.source.times):
            raise ParameterError(self.path, "has no samples: the run ended before its first one.",
                                 "See result.message.", code="result.empty")  # fmt: skip
        return self.samples()

    def curve(self) -> tuple[Array, Array]:
        """Times at which the curves are known best, whatever samples were asked for, and values.

        Of two equal times, the first is before an event and the second after it.
        """
        times = np.asarray(self.source.close_times, dtype=float)
        if np.array_equal(times, self.times):
            return times, self.some_samples()
        return times, both_limits(self.source, self.indices, times)

    def sample(self, k: int) -> Array:
        """The k-th sample; the last one, and any of very many variables, without the others."""
        if self._samples is not None or not len(self.times) or (
                k != -1 and len(self.indices) < MANY):
            return self.some_samples()[:, k]
        return self.source.values(self.indices, self.times[[k]])[:, 0]

    def at(self, seconds: Array, side: str, where: str) -> Array:
        """Values at any times within the run, (variables, *shape of times)."""
        check_side(side, where)
        inside = within_run(self.source.close_times, seconds, where).ravel()
        rows = self.in_any_order(self.indices, inside, side)
        return rows.reshape(len(self.indices), *seconds.shape)

    def in_any_order(self, indices: Sequence[int], times: Array, side: str = "right") -> Array:
        """Values of some of the variables at times that may decrease."""
        order = np.argsort(times, kind="stable")
        rows = np.empty((len(indices), len(times)))
        rows[:, order] = self.source.values(indices, times[order], side)
        return rows

    def average(self, function: Callable[[Array], Array]) -> Array:
        """Time average of a function of the values."""
        span = np.ptp(self.source.knots) if len(self.source.knots) else 0.0
        return self.integral(function) / span if span else function(self.curve()[1][:, -1])

    def integral(self, function: Callable[[Array], Array]) -> Array:
        """Integral over time of a function of the values, by adaptive quadrature between knots."""
        from .quadrature import integrals

        starts, ends = smooth_intervals(self.source.knots)
        if not len(starts):
            return np.zeros(len(self.indices))
        return integrals(lambda at: function(np.asarray(self.source.values(self.indices, at))),
                         starts, ends)[0]
