"""Where do values of a network stand in the arrays that machine code is given?"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from .expressions import Unwritable
from .loop_text import Operand

__all__ = ["OUT", "P", "Q", "ROOM", "T", "X", "Places"]

X, Q, P, OUT, T, ROOM = range(6)  # the arrays, see ``loop_text.BASES``


class Places:
    """Per class of unknowns, the array and entry in which its value stands, and a factor.

    There are so many ``classes``; those without a place are read from ``zero``, an entry of ``q``
    that is zero. ``in_time``: whether values are changes in time, which equations may follow, too.
    """

    def __init__(self, classes: int, zero: int = -1, in_time: bool = False) -> None:
        self.in_time = in_time
        self._base = np.full(classes, -1 if zero < 0 else Q)
        self._entry = np.full(classes, zero)
        self._factor = np.ones(classes)
        self.known: Flags = np.zeros(classes, dtype=bool)
        #: Of changes: derivatives that have been written, by function and family: of which
        #: instances, and by the number of the argument.
        self.slopes: dict[Hashable, list[tuple[Indices, dict[int, Indices | float]]]] = {}

    def copy(self) -> Places:
        """Return a copy, to which places may be added."""
        new = Places(0, in_time=self.in_time)
        new._base, new._entry = self._base.copy(), self._entry.copy()
        new._factor, new.known = self._factor.copy(), self.known.copy()
        return new

    def put(self, classes: Indices, base: int, entries: Indices, factors: Array | float = 1.0
            ) -> None:
        """Give classes their places."""
        self._base[classes], self._entry[classes] = base, entries
        self._factor[classes], self.known[classes] = factors, True

    def operand(self, classes: Indices, factors: Array | float = 1.0) -> Operand:
        """Values of classes times factors."""
        if (self._base[classes] < 0).any():
            raise Unwritable("a value is needed before it is known")
        return Operand(self._base[classes], self._entry[classes], self._factor[classes] * factors)
