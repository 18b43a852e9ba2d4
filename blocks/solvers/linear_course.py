"""What values did the unknowns take in steps of constant velocity?"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from .base import Step
from .trajectory import KeptCourse, refuse_outside

__all__ = ["LinearCourse"]


class LinearCourse(KeptCourse):
    """Ends of steps, with straight lines between them.

    Parameters
    ----------
    t, y : the start

    Examples
    --------
    >>> import numpy as np
    >>> run = LinearCourse(0.0, np.array([0.0]))
    >>> run.extend(np.array([1.0, 2.0]), np.array([[2.0], [3.0]]))
    >>> run([0.5, 1.5])
    array([[1. , 2.5]])
    """

    def __init__(self, t: float, y: Array) -> None:
        self.start = self.end = float(t)
        self._times, self._rows = [np.array([self.start])], [np.array(y, dtype=float)[None, :]]
        self.nbytes = self._rows[0].nbytes

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self._rows[0].shape[1])

    @property
    def t(self) -> Array:
        """Start and the end of every step."""
        return self._gathered()[0]

    def _gathered(self) -> tuple[Array, Array]:
        if len(self._times) > 1:
            self._keep(np.concatenate(self._times), np.concatenate(self._rows))
        return self._times[0], self._rows[0]

    def _keep(self, times: Array, rows: Array) -> None:
        self._times, self._rows = [times], [rows]
        self.nbytes = times.nbytes + rows.nbytes

    def extend(self, ends: Array, rows: Array) -> None:
        """Add steps: their ends, and a row of values for each."""
        self._times.append(np.array(ends))
        self._rows.append(np.array(rows))
        self.end = float(ends[-1])
        self.nbytes += self._times[-1].nbytes + self._rows[-1].nbytes

    def append(self, step: Step, until: float | None = None) -> None:
        """End the course inside its last step, if ``until`` is given; the step stands in it."""
        self._refuse_failed(step)
        if until is not None and until != self.end:
            last = self(float(until))
            times, rows = self._gathered()
            self._keep(np.append(times[:-1], float(until)), np.vstack([rows[:-1], last]))
            self.end = float(until)

    def _values_at(self, at: Array) -> Array:
        times, rows = self._gathered()
        refuse_outside(at, float(times[0]), self.end)
        if len(times) == 1:
            return np.repeat(rows, len(at), axis=0)
        k = np.clip(np.searchsorted(times, at, "right"), 1, len(times) - 1)
        part = (at - times[k - 1]) / (times[k] - times[k - 1])
        found = rows[k - 1] + (rows[k] - rows[k - 1]) * part[:, None]
        found[at == times[k]] = rows[k[at == times[k]]]
        return found

    def thin(self) -> float:
        """Give up every second step; returns by how much values are off from then on."""
        times, rows = self._gathered()
        kept = np.arange(len(times)) % 2 == 0
        kept[-1] = True
        self._keep(times[kept], rows[kept])
        return float(np.abs(self(times[~kept]) - rows[~kept].T).max(initial=0.0))

    def forget(self) -> None:
        """Keep the end alone: steps go on from there."""
        times, rows = self._gathered()
        self._keep(times[-1:].copy(), rows[-1:].copy())
