"""What were signals so far?

Polynomials, one after the other, in arrays that grow: Python evaluates them at many times at once,
machine code is told where they stand, and adds to them while there is room. In a piece of them,
whose numbers stand one after the other, signals are smooth.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import LAST_BITS
from ..solvers.interpolation import basis, unit_interval

__all__ = ["BEGINS", "COUNT", "ENDS", "FIRSTS", "LEVELS", "ROOM", "ROOM_OF_STEPS", "SHOWN",
           "STARTS", "STEPS", "VALUES", "Past", "may_miss"]  # fmt: skip

#: Entries of what machine code is told: how many pieces and steps there are, and there is room
#: for; addresses of the starts of pieces, of their levels and first steps, of where steps begin
#: and end, and of the values (steps, nodes, signals).
COUNT, STEPS, ROOM, ROOM_OF_STEPS, STARTS, LEVELS, FIRSTS, BEGINS, ENDS, VALUES = range(10)
SHOWN = 10
FIRST = 64, 256  # pieces and steps there is room for at first, unless signals are many
FIRST_NUMBERS = 1 << 20  # of which there is room for no more at first


def may_miss(off: float, largest: float, spread: float, start: float, end: float) -> float:
    """How far the polynomial of a step may be off: a part of the largest value, and what times
    between its ends, which are rounded, leave unknown of a signal that changes by ``spread``."""
    return off * largest + LAST_BITS * (abs(start) + abs(end)) / (end - start) * spread


class Past:
    """Signals from an instant on.

    There are so many ``signals``; ``nodes`` are those of a polynomial, at the Chebyshev-Lobatto
    points of its step.

    Examples
    --------
    >>> import numpy as np
    >>> parabola = Past(1, 3)
    >>> parabola.begin(0.0, 0)
    >>> parabola.extend(np.array([2.0]), np.array([[[0.0], [1.0], [4.0]]]))
    >>> one = np.array([0])
    >>> parabola.signals(0, np.array([[1.5]]), one, one)
    array([[2.25]])
    """

    def __init__(self, signals: int, nodes: int) -> None:
        self.nodes = nodes
        self.shown = np.zeros(SHOWN, dtype=np.int64)  # what machine code is told; stays where it is
        self._starts, self._levels, self._firsts = np.empty(0), *np.empty((2, 0), dtype=np.int64)
        self._begins, self._ends = np.empty((2, 0))
        self._values = np.empty((0, nodes, signals))
        pieces, steps = FIRST
        self.make_room(pieces, min(steps, 1 + FIRST_NUMBERS // (nodes * max(signals, 1))))

    def __len__(self) -> int:
        return int(self.shown[COUNT])

    @property
    def starts(self) -> Array:
        """When pieces begin."""
        return self._starts[: len(self)]

    @property
    def levels(self) -> Indices:
        """How often what bends at the starts of pieces has been delayed already."""
        return self._levels[: len(self)]

    @property
    def ends(self) -> Array:
        """When steps end."""
        return self._ends[: self.shown[STEPS]]

    @property
    def end(self) -> float:
        """Up to when signals are known."""
        return float(max([self.starts[-1], *self.ends[-1:]]))

    @property
    def last(self) -> Array:
        """(signals,) values there."""
        out: Array = self._values[self.shown[STEPS] - 1, -1]
        return out

    def arrays(self) -> list[Array | Indices]:
        """All that machine code is told."""
        return [self.shown, self._starts, self._levels, self._firsts, self._begins, self._ends,
                self._values]

    def make_room(self, pieces: int, steps: int) -> None:
        """See to it that there is room for so many more pieces and steps."""
        for least, count, names in (
                (len(self) + pieces, len(self), ("_starts", "_levels", "_firsts")),
                (len(self.ends) + steps, len(self.ends), ("_begins", "_ends", "_values"))):
            for name in names:
                old = getattr(self, name)
                if least > len(old):  # what nobody has written to yet takes no memory
                    new = np.zeros((max(least, 2 * count), *old.shape[1:]), dtype=old.dtype)
                    new[:count] = old[:count]
                    setattr(self, name, new)
        self.shown[ROOM:] = len(self._starts), len(self._ends), *(
            a.ctypes.data for a in self.arrays()[1:])

    def begin(self, t: float, level: int) -> None:
        """Begin a piece at a time."""
        self.make_room(1, 0)
        place = len(self)
        self._starts[place], self._levels[place] = t, level
        self._firsts[place] = self.shown[STEPS]
        self.shown[COUNT] += 1

    def extend(self, ends: Array, values: Array) -> None:
        """Add steps to the last piece, (k,) ends and (k, nodes, signals) values."""
        self.make_room(0, len(ends))
        first = int(self.shown[STEPS])
        last = first + len(ends)
        self._begins[first:last] = self.end, *ends[:-1]
        self._ends[first:last], self._values[first:last] = ends, values
        self.shown[STEPS] = last

    def signals(self, piece: int, t: Array, which: Indices, row: Indices) -> Array:
        """(n, k) values of ``which`` signals in a piece, each at the times of its own ``row`` of
        ``t``, which are moved to the ends of the piece where they lie beyond them."""
        first = int(self._firsts[piece])
        last = int(self._firsts[piece + 1] if piece + 1 < len(self) else self.shown[STEPS])
        start, ends = self._starts[piece], self._ends[first:last]
        t = np.clip(t, start, ends[-1] if len(ends) else start)
        step = np.minimum(ends.searchsorted(t, side="right"), last - first - 1)
        begins = np.where(step > 0, self._ends[first + step - 1], start)
        weights = basis(unit_interval(t, begins, self._ends[first + step]).ravel(), self.nodes)
        weights = weights.reshape(*t.shape, self.nodes)
        out: Array = np.einsum("nkj,nkj->nk", weights[row],
                               self._values[first + step[row], :, which[:, None]])
        return out
