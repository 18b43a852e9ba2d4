"""What were signals in a stretch of time in which they are smooth?

Polynomials, one after the other, in arrays that grow: Python evaluates them at many times at once,
machine code is told where they stand, and adds to them while there is room.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import LAST_BITS
from ..solvers.interpolation import basis, unit_interval

__all__ = ["COUNT", "BORDERS", "ROOM", "SHOWN", "VALUES", "Past", "may_miss"]

COUNT, BORDERS, VALUES, ROOM = range(4)  # entries of what machine code is told
SHOWN = 4
FIRST = 64  # steps there is room for at first


def may_miss(off: float, largest: float, spread: float, start: float, end: float) -> float:
    """How far the polynomial of a step may be off: a part of the largest value, and what times
    between its ends, which are rounded, leave unknown of a signal that changes by ``spread``."""
    return off * largest + LAST_BITS * (abs(start) + abs(end)) / (end - start) * spread


class Past:
    """Signals from an instant on.

    Parameters
    ----------
    t, values : the start
    nodes : of a polynomial, at the Chebyshev-Lobatto points of its step

    Attributes
    ----------
    shown : number of steps, address of their borders and of the values (steps, nodes, signals),
        and how many steps there is room for; stays where it is
    address : of these

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
        self._borders, self._values = np.array([self.start]), np.empty((0, nodes, len(values)))
        self.shown = np.zeros(SHOWN, dtype=np.int64)
        self.address = self.shown.ctypes.data
        self.make_room(FIRST)

    @property
    def count(self) -> int:
        return int(self.shown[COUNT])

    @property
    def end(self) -> float:
        return float(self._borders[self.count])

    def make_room(self, steps: int) -> None:
        """See to it that there is room for so many more steps."""
        count, least = self.count, self.count + steps
        if least <= self.shown[ROOM]:
            return
        room = max(least, 2 * int(self.shown[ROOM]))
        borders, values = np.empty(room + 1), np.empty((room, *self._values.shape[1:]))
        borders[: count + 1], values[:count] = self._borders[: count + 1], self._values[:count]
        self._borders, self._values = borders, values
        self.shown[BORDERS:] = borders.ctypes.data, values.ctypes.data, room

    def extend(self, ends: Array, values: Array) -> None:
        """Add steps, (k,) ends and (k, nodes, signals) values."""
        first, last = self.count, self.count + len(ends)
        self.make_room(len(ends))
        self._borders[first + 1 : last + 1], self._values[first:last] = ends, values
        self.shown[COUNT] = last

    def __call__(self, t: Array) -> Array:
        """(signals, k) values at times, which are moved to the ends where they lie beyond them."""
        which = np.arange(len(self._first))
        return self.signals(t[None, :], which, np.zeros_like(which))

    def signals(self, t: Array, which: Indices, row: Indices) -> Array:
        """(n, k) values of ``which`` signals, each at the times of its own ``row`` of ``t``."""
        borders = self._borders[: self.count + 1]
        if len(borders) == 1:
            return np.repeat(self._first[which, None], t.shape[1], axis=1)
        t = np.clip(t, self.start, self.end)
        step = np.clip(np.searchsorted(borders, t, side="right") - 1, 0, len(borders) - 2)
        weights = basis(unit_interval(t, borders[step], borders[step + 1]).ravel(), self.nodes)
        weights = weights.reshape(*t.shape, self.nodes)
        out: Array = np.einsum("nkj,nkj->nk", weights[row],
                               self._values[step[row], :, which[:, None]])
        return out
