"""What were signals in a stretch of time in which they are smooth?

Polynomials, one after the other, in arrays that grow: Python evaluates them at many times at once,
machine code is told where they stand.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..solvers.interpolation import basis, unit_interval
from ..solvers.pieces import Growing

__all__ = ["COUNT", "BORDERS", "SHOWN", "VALUES", "Past"]

COUNT, BORDERS, VALUES = 0, 1, 2  # entries of what machine code is told
SHOWN = 3


class Past:
    """Signals from an instant on.

    Parameters
    ----------
    t, values : the start
    nodes : of a polynomial, at the Chebyshev-Lobatto points of its step

    Attributes
    ----------
    shown : number of steps, address of their borders and of the values (steps, nodes, signals);
        stays where it is

    Examples
    --------
    >>> import numpy as np
    >>> parabola = Past(0.0, np.zeros(1), 3)
    >>> parabola.extend(np.array([2.0]), np.array([[[0.0], [1.0], [4.0]]]))
    >>> parabola(np.array([1.5]))
    array([[2.25]])
    """

    def __init__(self, t: float, values: Array, nodes: int) -> None:
        self.start, self.nodes, self._first = float(t), nodes, np.array(values)
        self._borders, self._values = Growing(np.float64), Growing(np.float64)
        self._borders.extend(np.array([self.start]))
        self.shown = np.zeros(SHOWN, dtype=np.int64)

    @property
    def end(self) -> float:
        return float(self._borders.values[-1])

    def extend(self, ends: Array, values: Array) -> None:
        """Add steps, (k,) ends and (k, nodes, signals) values."""
        self._borders.extend(ends)
        self._values.extend(values.ravel())
        self.shown[:] = (self._borders.count - 1, self._borders.values.ctypes.data,
                         self._values.values.ctypes.data)

    def __call__(self, t: Array) -> Array:
        """(signals, k) values at times, which are moved to the ends where they lie beyond them."""
        borders = self._borders.values
        if len(borders) == 1:
            return np.repeat(self._first[:, None], len(t), axis=1)
        t = np.clip(t, self.start, self.end)
        step = np.clip(np.searchsorted(borders, t, side="right") - 1, 0, len(borders) - 2)
        weights = basis(unit_interval(t, borders[step], borders[step + 1]), self.nodes)
        values = self._values.values.reshape(-1, self.nodes, len(self._first))
        out: Array = np.einsum("kj,kjn->nk", weights, values[step])
        return out
