"""What were signals in a stretch of time in which they are smooth?

Polynomials, one after the other, in arrays that grow: Python evaluates them at many times at once,
machine code is told where they stand, and adds to them while there is room.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import LAST_BITS
from ..solvers.interpolation import basis, unit_interval

__all__ = ["COUNT", "BORDERS", "LEVELS", "PLACES", "ROOM", "SHOWN", "STARTS", "VALUES", "Past",
           "Pieces", "may_miss"]  # fmt: skip

COUNT, BORDERS, VALUES, ROOM = range(4)  # entries of what machine code is told of a piece
STARTS, LEVELS, PLACES = 1, 2, 4  # and, beside COUNT and ROOM, of all pieces
SHOWN = 5
FIRST = 16  # steps there is room for at first
FEW_PIECES = 16  # there is room for at first
MORE_PIECES, MORE_NUMBERS = 256, 1 << 20  # for no more of them, and of their numbers, at a time


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
        self.nodes, self._first = nodes, np.array(values)
        self._borders, self._values = np.array([float(t)]), np.empty((0, nodes, len(values)))
        self.shown = np.zeros(SHOWN, dtype=np.int64)
        self.address = self.shown.ctypes.data
        self.make_room(FIRST)

    @property
    def count(self) -> int:
        return int(self.shown[COUNT])

    @property
    def start(self) -> float:
        return float(self._borders[0])

    @property
    def end(self) -> float:
        return float(self._borders[self.count])

    def begin(self, t: float, values: Array) -> None:
        """Let it start at a time, where it has no steps yet."""
        self._borders[0], self._first[:] = t, values

    def make_room(self, steps: int) -> None:
        """See to it that there is room for so many more steps."""
        count, least = self.count, self.count + steps
        if least <= self.shown[ROOM]:
            return
        room = max(least, 2 * int(self.shown[ROOM]))
        borders, values = np.empty(room + 1), np.empty((room, *self._values.shape[1:]))
        borders[: count + 1], values[:count] = self._borders[: count + 1], self._values[:count]
        self._borders, self._values = borders, values
        self.shown[BORDERS : ROOM + 1] = borders.ctypes.data, values.ctypes.data, room

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


class Pieces:
    """Stretches in which signals are smooth, one after the other, and some to come, which machine
    code may begin.

    Parameters
    ----------
    signals, nodes : how many there are, and nodes of a polynomial

    Attributes
    ----------
    shown : number of pieces; addresses of their starts, of their levels (how often what bends
        there has been delayed already); room; and the address of what is told of each; stays
        where it is
    """

    def __init__(self, signals: int, nodes: int) -> None:
        self._none, self._nodes = np.zeros(signals), nodes
        self._most = max(1, min(MORE_PIECES, MORE_NUMBERS // (signals * nodes * FIRST)))
        self._pasts: list[Past] = []
        self._starts, self._levels, self._places = np.empty(0), *np.empty((2, 0), dtype=np.int64)
        self.shown = np.zeros(SHOWN, dtype=np.int64)

    def __len__(self) -> int:
        return int(self.shown[COUNT])

    def __getitem__(self, number: int) -> Past:
        return self._pasts[number]

    @property
    def last(self) -> Past:
        return self._pasts[len(self) - 1]

    @property
    def starts(self) -> Array:
        return self._starts[: len(self)]

    @property
    def levels(self) -> Indices:
        return self._levels[: len(self)]

    def begin(self, t: float, values: Array, level: int) -> None:
        """Begin a piece at a time."""
        if len(self) == len(self._pasts):
            self._make_room()
        self._starts[len(self)], self._levels[len(self)] = t, level
        self._pasts[len(self)].begin(t, values)
        self.shown[COUNT] += 1

    def _make_room(self) -> None:
        more = min(max(len(self), FEW_PIECES), self._most)
        self._pasts += [Past(0.0, self._none, self._nodes) for _ in range(more)]
        self._starts, self._levels = (np.concatenate([a, np.zeros(more, dtype=a.dtype)])
                                      for a in (self._starts, self._levels))
        self._places = np.array([p.address for p in self._pasts])
        self.shown[STARTS:] = (self._starts.ctypes.data, self._levels.ctypes.data,
                               len(self._pasts), self._places.ctypes.data)
